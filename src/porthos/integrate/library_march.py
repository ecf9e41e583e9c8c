"""The march of methods of libraries, which choose their steps themselves and know the states between their ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from porthos.errors import InputError, Status
from porthos.integrate.adaptive_march import landings
from porthos.integrate.march import UNFINISHED
from porthos.integrate.newton import Iterate
from porthos.integrate.recording import Piece, States
from porthos.integrate.state_scheme import Step
from porthos.integrate.walk import Walk
from porthos.notation import Array
from porthos.steps import Adaptive
from porthos.system.watching import FunctionError, watching


class StoppedError(Exception):
    """A library does not go on."""

    def __init__(self, status: Status, t: float, library: str, message: str) -> None:
        self.status = status
        super().__init__(f"{status.value} At t = {t:.6g} {library} said: {message}")


@dataclass(frozen=True)
class Span:
    """One step of a library, from x0 at t to x1 at `end`, and the states `between`, as a function of time."""

    t: float
    end: float
    x0: Array
    x1: Array
    between: Callable[[float], Array]
    evaluations: int

    def state(self, t: float) -> Array:
        """The state at a time of the span."""
        return self.x0 if t == self.t else self.x1 if t == self.end else self.between(t)


@dataclass(frozen=True)
class Course:
    """A way from (t, x) until the end of a run or the next jump of an input, with times on which to land."""

    walk: Walk
    adaptive: Adaptive
    t: float
    x: Array
    held: Array
    until: float
    end: float
    targets: list[float]

    def u(self, t: float) -> Array:
        """The inputs, before a jump at the end."""
        return self.walk.signals.at(min(t, float(np.nextafter(self.until, 0.0))), self.held)


Spans = Callable[[Course], Iterator[Span]]


def march_library(
    spans: Spans, walk: Walk, adaptive: Adaptive, end: float, times: Sequence[float] | None
) -> States:  # fmt: skip
    """Go from 0 to `end`, with a new start wherever an input jumps; a failure keeps what was computed."""
    return _March(spans, walk, adaptive, end, times).states()


class _March:
    """Where a run is, and how it goes on."""

    def __init__(
        self, spans: Spans, walk: Walk, adaptive: Adaptive, end: float, times: Sequence[float] | None
    ) -> None:  # fmt: skip
        self.spans, self.walk, self.adaptive, self.end, self.all = spans, walk, adaptive, end, times is None
        self.jumps, self.kept, self.targets = landings(walk.signals, adaptive, end, times)
        self.held, self.count = walk.signals.held(0, 0.0, walk.start), 0
        self.t, self.x = 0.0, walk.start.copy()
        walk.node(self.t, self.x, self.held)

    def states(self) -> States:
        """Go on until the run ends, and give all that was recorded."""
        outcome = None
        while outcome is None:
            try:
                outcome = self._until_jump()
            except FunctionError as error:
                outcome = Status.BAD_INPUT, f"{error} It happened after t = {self.t:.6g}."
            except InputError as error:
                outcome = error.status, str(error)
            except StoppedError as error:
                outcome = self._reason(error)
        if not outcome[0].wanted and self.walk.recorder.latest != self.t:
            self.walk.node(self.t, self.x, self.held)
        return self.walk.states(*outcome)

    def _reason(self, stopped: StoppedError) -> tuple[Status, str]:
        """Why the library stopped: a function that gave no numbers, or what it says itself."""
        try:
            with watching():
                self._until_jump()
        except FunctionError as error:
            return Status.BAD_INPUT, f"{error} It happened after t = {self.t:.6g}."
        except StoppedError:
            pass
        return stopped.status, str(stopped)

    def _until_jump(self) -> tuple[Status, str] | None:
        """Make the steps until a jump or the end; None if it was reached and the run goes on."""
        until = next((t for t in self.targets if t > self.t and (t in self.jumps or t == self.end)), self.end)
        course = Course(self.walk, self.adaptive, self.t, self.x, self.held, until, self.end, self.targets)
        for span in self.spans(course):
            outcome = self._take(span)
            if outcome is not None:
                return outcome
            self.count += 1
            if self.t < until and self.count >= self.adaptive.max_steps:
                return Status.TOO_MANY_STEPS, Status.TOO_MANY_STEPS.value
            if self.walk.interrupted():
                return Status.INTERRUPTED, Status.INTERRUPTED.value
            self.walk.progress(self.t)
            if self.walk.due:  # what a library remembers stays in it
                self.walk.hand_on(Status.INTERRUPTED, UNFINISHED, None)
        return (Status.OK, Status.OK.value) if self.t == self.end else None

    def _take(self, span: Span) -> tuple[Status, str] | None:
        """Record a step, cut at the times to keep; how the run ends, if an event on its way ends it."""
        for stop in (*(t for t in self.targets if span.t < t < span.end), span.end):
            self.walk.look_at(self.t, self.x)
            piece = _piece(self.walk, self.held, span, self.t, stop)
            begin, size = piece.t, piece.h
            part = self.walk.watch.look(begin, size, piece.step.x, partial(_part, span, begin, size))
            if part is not None:
                return self.walk.end(_piece(self.walk, self.held, span, begin, begin + part * size), self.held)
            self.walk.recorder.step(piece)
            self.t, self.x = stop, piece.step.x
            if self.all or stop in self.kept:
                self.walk.node(self.t, self.x, self.held)
        return None


def _part(span: Span, t: float, h: float, s: float) -> Array:
    """The state after the part s of a step of h from t."""
    return span.state(t + s * h)


def _piece(walk: Walk, held: Array, span: Span, t: float, end: float) -> Piece:
    """A part of a span, with its middle; inputs there are those before a jump at its end."""
    times = [t, (t + end) / 2, float(np.nextafter(end, t))]
    u = np.array([walk.signals.at(each, held) for each in times])
    stages = np.array([span.state(t), span.state(times[1]), span.state(end)])
    found = Iterate(np.empty(0), None, span.evaluations if end == span.end else 0, True)
    return Piece(t, end - t, stages[0], u, Step(stages[2], stages, found))
