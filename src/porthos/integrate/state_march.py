"""The march of a method over the states of a descriptor system with steps of one size."""

from __future__ import annotations

from typing import ClassVar

from porthos.errors import Status
from porthos.integrate.recording import States
from porthos.integrate.state_scheme import Step
from porthos.integrate.walk import Route, Walk


class _Fixed(Route):
    """After n steps of size h, of which every `every`-th is kept."""

    remembered: ClassVar[tuple[str, ...]] = ("n", "t", "x", "held", "before")

    def __init__(self, walk: Walk, h: float, steps: int, every: int) -> None:
        super().__init__(walk)
        self.h, self.steps, self.every = h, steps, every
        self.n = 0
        self.before: Step | None = None
        self.resume()

    def attempt(self) -> None:
        """One step. A state is recorded when it is known what controllers hold in the step that follows it."""
        walk = self.walk
        self.held = walk.signals.held(self.n, self.h, self.x)
        piece = walk.piece(self.t, self.h, self.x, self.held, self.before)
        last = walk.last(piece, self.held)
        if not piece.step.converged:
            self.outcome = walk.stalled(piece, self.held)
            return
        if self.n % self.every == 0:
            walk.node(self.t, self.x, self.held)
        if last is not None:
            self.outcome = walk.end(last, self.held)
            return
        walk.recorder.step(piece)
        self.n, self.x, self.before = self.n + 1, piece.step.x, piece.step.remembered
        self.t = self.n * self.h
        if self.n == self.steps:
            walk.node(self.t, self.x, self.held)
            self.outcome = Status.OK, Status.OK.value


def march_states(walk: Walk, h: float, steps: int, every: int = 1) -> States:
    """Make `steps` steps of size h and keep every `every`-th state; a failure keeps what was computed."""
    return _Fixed(walk, h, steps, every).states()
