"""A walk over the states of a system, step by step, and how it goes on from a file: bit by bit as if never stopped."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from porthos.errors import InputError, ResultError, Status, StrayedError
from porthos.integrate import march
from porthos.integrate.checkpoint import Checkpoint
from porthos.integrate.events import Occurrence, Watch
from porthos.integrate.freezing import freeze, thaw
from porthos.integrate.march import Store, of_drives
from porthos.integrate.recording import Piece, Recorder, States
from porthos.integrate.signals import Signals
from porthos.integrate.state_scheme import Begin, StateScheme, Step
from porthos.notation import Array
from porthos.system.dead_points import dead_point
from porthos.system.descriptor import Descriptor
from porthos.system.mechanical import MechanicalSystem
from porthos.system.watching import FunctionError, place_in_time, watching

Advance = Callable[[Begin], Step]


class Walk:
    """Steps of a scheme on a system with its inputs, what is recorded of them, and the events that they meet.

    `dense` keeps increments, `progress` is told the time after each step, and `interrupted` asked whether to stop. What
    is recorded also goes to the store that `keep` opens, block by block; after a checkpoint it goes on from there.
    """

    def __init__(
        self,
        system: Descriptor,
        scheme: StateScheme,
        signals: Signals,
        start: Array,
        dense: bool = True,
        events: Mapping[str, Any] | None = None,
        progress: Callable[[float], None] = lambda t: None,
        interrupted: Callable[[], bool] = lambda: False,
        recorder: Recorder | None = None,
        keep: Callable[[], Store] | None = None,
        checkpoint: Checkpoint | None = None,
        happened: Sequence[Occurrence] = (),
    ) -> None:
        self.system, self.scheme, self.signals, self.start = system, scheme, signals, start
        self.progress, self.interrupted = progress, interrupted
        self.memory = None if checkpoint is None else thaw(checkpoint.memory)
        if checkpoint is not None and signals.turns is not None:
            signals.turns.memory = checkpoint.turns
        if self.memory is not None:
            self.start = self.memory["start"]
        signals.remembers = keep is not None
        self._since, self._told = time.monotonic(), len(happened)
        self.recorder = Recorder(system, scheme, dense) if recorder is None else recorder
        self.watch = Watch(events, 0.0, self.start)
        self.watch.happened += happened
        self._keep, self.store = keep, keep() if keep is not None and checkpoint is None else None

    def piece(
        self, t: float, h: float, x: Array, held: Array, before: Step | None, until: float | None = None
    ) -> Piece:
        """A step of h from x at time t; `until` is its end if inputs jump there, so that its stages do not see it."""
        return self._piece(t, h, x, held, before, self.scheme.advance, np.inf if until is None else until)

    def _piece(
        self, t: float, h: float, x: Array, held: Array, before: Step | None, advance: Advance, until: float = np.inf
    ) -> Piece:  # fmt: skip
        self.look_at(t, x)
        latest = np.nextafter(until, t)
        u = np.array([self.signals.at(min(t + ci * h, latest), held) for ci in self.scheme.tableau.c])
        try:
            return Piece(t, h, x, u, advance(Begin(self.system, h, x, u, t, before)), before)
        except FunctionError as error:
            raise error.within(t, h) from error

    def look_at(self, t: float, x: Array) -> None:
        """Refuse to go on from a state that is beyond the range of a potential."""
        if isinstance(self.system, MechanicalSystem) and self.system.element_names:
            q = self.system.to_kernel(x[: self.system.n])
            if self.system.elements.strayed(q):
                where = self.system.elements.near_its_end(q, np.zeros_like(q), 0.0)
                raise StrayedError(f"{Status.STRAYED.value} It happened at t = {t:.6g}. {where}")

    def stalled(self, piece: Piece, held: Array) -> tuple[Status, str]:
        """The status and message of a step whose equations were not solved: a function that gave no numbers, or not."""
        try:
            with watching():
                self.piece(piece.t, piece.h, piece.x0, held, None)
        except FunctionError as error:
            return Status.BAD_INPUT, str(error)
        failure, details = self.reason(piece, piece.step.failure)
        if failure is Status.NEWTON_STALLED:
            details += self.scheme.limits
        return failure, f"{failure.value} {place_in_time(piece.t, piece.h)}{details}"

    def reason(self, piece: Piece, failure: Status) -> tuple[Status, str]:
        """Why a mechanism did not come further than the begin of a step, as far as that state tells."""
        if not isinstance(self.system, MechanicalSystem):
            return failure, ""
        q, v, _ = self.system.split(piece.x0)
        arrays = self.system.to_kernel(q), self.system.to_kernel(v, rate=True)
        if failure is Status.STRAYED:
            return failure, f" {self.system.elements.near_its_end(*arrays, piece.h, self.recorder.angles_now())}"
        singular = dead_point(self.system, *arrays, piece.t, piece.h)
        return (Status.SINGULAR, f" {singular}") if singular else (failure, of_drives(self.system))

    def last(self, piece: Piece, held: Array) -> Piece | None:
        """Note the events of a step; the part of it that leads to one which ends the run, if there is one."""
        if not (self.watch.events and piece.step.converged):
            return None

        def part(s: float) -> Piece:
            advance = partial(self.scheme.part, whole=piece.step.resized(s))
            return self._piece(piece.t, s * piece.h, piece.x0, held, piece.before, advance)

        s = self.watch.look(piece.t, piece.h, piece.step.x, lambda s: part(s).step.x)
        return None if s is None else part(s)

    def node(self, t: float, x: Array, held: Array) -> None:
        """Record a state."""
        self.recorder.node(t, x, self.signals.at_node(t, held))

    def end(self, piece: Piece, held: Array) -> tuple[Status, str]:
        """End the run with a part of a step."""
        self.recorder.step(piece)
        self.node(piece.t + piece.h, piece.step.x, held)
        return self.watch.ended()

    # --- files

    @property
    def due(self) -> bool:
        """Whether it is time to hand on what was recorded."""
        waited = time.monotonic() - self._since > march.PATIENCE
        return self.store is not None and self.recorder.fresh > 0 and (waited or self.recorder.enough)

    def hand_on(self, status: Status, message: str, checkpoint: Checkpoint | None) -> None:
        """Give the store what was recorded since the last time."""
        assert self.store is not None
        happened, self._told = self.watch.happened[self._told :], len(self.watch.happened)
        if self.recorder.fresh:
            self.store.append(self.recorder.block(status, message), checkpoint, happened)
        else:
            self.store.end(status, message)
        self._since = time.monotonic()

    def states(self, status: Status, message: str, checkpoint: Checkpoint | None = None) -> States:
        """All that was recorded, but what only a store keeps."""
        if self.store is not None:
            self.hand_on(status, message, checkpoint)
        return self.recorder.states(status, message, self.watch.happened)

    def resume(self, t: float, x: Array, held: Array) -> None:
        """Go to where a checkpoint was made; refuse functions that are not those of the run, then open the store."""
        assert self.memory is not None
        proof = self.memory["proof"]
        self.recorder.recall(self.memory["recorder"])
        self.watch.go_to(t, x, self.memory["events"], proof["events"])
        found = self._proof(t, x, held)
        for name, place in self.system.ports.items():
            if not np.array_equal(found["u"][place], proof["u"][place]):
                raise InputError(
                    f"'{name}' at t = {t:.6g}: expected the function or numbers of the run that is to be resumed, "
                    f"which gave {proof['u'][place].tolist()}, found others: {found['u'][place].tolist()}."
                )
        if not np.array_equal(found["flow"], proof["flow"]):
            raise ResultError(
                f"'{self.system.name}' at t = {t:.6g}: expected the system of the run that is to be resumed, found one "
                "whose functions give other numbers there. Give the same one, or run the new one to a file of its own."
            )
        self.store = None if self._keep is None else self._keep()

    def checkpoint(self, t: float, x: Array, held: Array, steps: dict[str, Any]) -> Checkpoint:
        """From where the walk can go on, with what its `steps` remember."""
        memory = {
            "start": self.start,
            "recorder": self.recorder.memory(),
            "events": self.watch.values,
            "proof": self._proof(t, x, held),
            "steps": steps,
        }
        happened = len(self.watch.happened)
        turns = None if self.signals.turns is None else self.signals.turns.memory
        return Checkpoint(0, freeze(memory), [], self.signals.questions, self.recorder.count, happened, turns)

    def _proof(self, t: float, x: Array, held: Array) -> dict[str, Any]:
        """Numbers by which functions of users prove to be those of the run."""
        u = self.signals.at_node(t, held)
        try:
            flow = self.system.flow(x, np.nan_to_num(u), t)
        except FunctionError:  # the next step will say it
            flow = np.empty(0)
        return {"u": np.nan_to_num(u), "flow": np.nan_to_num(flow), "events": self.watch.at(t, x)}


class Route(ABC):
    """Where a run along a walk is, and how it goes on: one attempt at a time.

    `remembered` names what the next attempt depends on: with the same values it gives the same bits.
    """

    remembered: ClassVar[tuple[str, ...]]

    def __init__(self, walk: Walk) -> None:
        self.walk, self.t, self.x = walk, 0.0, walk.start.copy()
        self.held = np.zeros(walk.system.width)
        self.outcome: tuple[Status, str] | None = None

    @abstractmethod
    def attempt(self) -> None:
        """Try a step, and record it; or set the outcome."""

    def resume(self) -> bool:
        """Go to the checkpoint of the walk, if there is one."""
        if self.walk.memory is None:
            return False
        for name in self.remembered:
            setattr(self, name, self.walk.memory["steps"][name])
        self.walk.resume(self.t, self.x, self.held)
        return True

    def _checkpoint(self) -> Checkpoint | None:
        """From where the run can go on, if that is kept."""
        if self.walk.store is None or not self.walk.store.resumable:
            return None
        steps = {name: getattr(self, name) for name in self.remembered}
        return self.walk.checkpoint(self.t, self.x, self.held, steps)

    def states(self) -> States:
        """Go on until the run ends, and give all that was recorded; a failure keeps what there is."""
        walk = self.walk
        while self.outcome is None:
            try:
                self.attempt()
            except InputError as error:
                self.outcome = error.status, str(error)
            if self.outcome is None or self.outcome[0] is Status.OK:
                walk.progress(self.t)
            if self.outcome is None and walk.interrupted():
                self.outcome = Status.INTERRUPTED, Status.INTERRUPTED.value
            if self.outcome is None and walk.due:
                walk.hand_on(Status.INTERRUPTED, march.UNFINISHED, self._checkpoint())
        status, message = self.outcome
        reached = self._checkpoint() if status is Status.INTERRUPTED else None
        if not status.wanted and walk.recorder.latest != self.t:
            walk.node(self.t, self.x, self.held)
        return walk.states(status, message, reached)
