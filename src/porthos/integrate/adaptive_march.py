"""The march with steps that adapt themselves to a tolerance.

The error of a step is estimated by a second result of lower order where the method has one, else by step doubling:
e = (x_(h/2, h/2) - x_h)/(2^p - 1), and the run goes on from the two halves. e is of order h^(p+1); it may use the part
h/end of the tolerance, so that errors of all steps together stay within it. A second result of order p - 1 is off by
d, of order h^p, as a part of the state; for the first, from which the run goes on, d^(1 + 1/p) times a number of the
scheme stands, of order h^(p+1) too. States without a rate, such as multipliers, are left out: their errors do not
grow, and their orders are lower.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from porthos.errors import Status
from porthos.integrate.recording import Piece, States
from porthos.integrate.signals import Signals
from porthos.integrate.state_scheme import EmbeddedStep, RememberingStep, Step
from porthos.integrate.walk import Route, Walk
from porthos.notation import Array
from porthos.steps import Adaptive
from porthos.system.descriptor import Descriptor

ROUND_OFF = 1e-12  # part of a step by which it may miss a time and still end there
SMALLEST = 1e-14  # step, as a part of the run, that no longer moves time
LEAST = 1e-4  # part of the tolerance that every step may use: a jump within a step has an error of order h at any size
FAILED = 0.25  # the next step after one whose equations were not solved


@dataclass(frozen=True)
class Trial:
    """Steps from one time to another, and their error in units of the tolerance; infinite if they failed."""

    pieces: tuple[Piece, ...]
    error: float


def with_rate(system: Descriptor, x: Array) -> NDArray[np.bool_]:
    """Which states have a rate: their columns of E are not zero."""
    return np.asarray(abs(sparse.csc_array(system.E(x, 0.0))).sum(axis=0)).ravel() > 0.0


class _Control:
    """Tries steps, and measures their errors."""

    def __init__(self, walk: Walk, adaptive: Adaptive, end: float, held: Array) -> None:
        self.walk, self.adaptive, self.end, self.held = walk, adaptive, end, held
        self.weights = walk.system.weights
        self.measured, self.order = with_rate(walk.system, walk.start), walk.scheme.order
        self.size = np.abs(walk.start)
        self.before: dict[str, tuple[float, Step]] = {}  # the last whole step and the last half, with their sizes

    def _step(self, kind: str, t: float, h: float, x: Array, until: float | None) -> Piece:
        size, before = self.before.get(kind, (h, None))
        resized = None if before is None else before.resized(h / size)
        return self.walk.piece(t, h, x, self.held, resized, until)

    def attempt(self, t: float, h: float, x: Array, until: float | None) -> Trial:
        """A step of h from x at t, as one or as two halves."""
        whole = self._step("whole", t, h, x, until)
        if not whole.step.converged:
            return Trial((whole,), np.inf)
        if isinstance(whole.step, EmbeddedStep):
            error = self._measure(whole.step.error, x, whole.step.x, h)
            return Trial((whole,), self._of_higher_order(error, whole.step.x, h))
        first = self._step("half", t, h / 2, x, None)
        if not first.step.converged:
            return Trial((first,), np.inf)
        second = self.walk.piece(t + h / 2, h / 2, first.step.x, self.held, first.step, until)
        if not second.step.converged:
            return Trial((second,), np.inf)
        difference = self.walk.scheme.error_of(second.step.x - whole.step.x, t + h, second.step.x)
        error = difference / (2**self.order - 1)
        self._tried = whole
        return Trial((first, second), self._measure(error, x, second.step.x, h) / self._share(h))

    def _share(self, h: float) -> float:
        """The part of the tolerance that a step of h may use."""
        return max(h / self.end, LEAST)

    def _of_higher_order(self, error: float, x: Array, h: float) -> float:
        """The error of a step of h to x, in units of its share, whose embedded result is off by `error` tolerances."""
        size = max(self.size.max(initial=0.0), np.abs(x).max(initial=0.0)) or 1.0
        part = (self.adaptive.rtol + self.adaptive.atol / size) * error
        growth = part ** (1 / self.order)  # with h, the time that the motion takes as the unit
        return self.walk.scheme.embedded_ratio * growth * error / self._share(h)

    def _measure(self, error: Array, x0: Array, x1: Array, h: float) -> float:
        """The largest error of a step of h in units of the tolerance."""
        size = np.maximum(self.size, np.maximum(np.abs(x0), np.abs(x1)))
        scaled = self.weights(h / self.end) * np.abs(error) / (self.adaptive.atol + self.adaptive.rtol * size)
        largest = float(scaled[self.measured].max(initial=0.0))
        return largest if np.isfinite(largest) else np.inf

    def accept(self, trial: Trial) -> None:
        """Remember what the next steps start from, and how large states were."""
        last = trial.pieces[-1]
        if len(trial.pieces) > 1:
            half = (last.h, last.step.remembered)
            own = not isinstance(last.step, RememberingStep)  # it goes on from the halves in any case
            self.before = {"whole": (self._tried.h, self._tried.step.remembered) if own else half, "half": half}
        else:
            self.before = {"whole": (last.h, last.step.remembered)}
        for piece in trial.pieces:
            self.size = np.maximum(self.size, np.abs(piece.step.x))


class _Adaptive(Route):
    """Steps that follow a tolerance: h is tried next, after `good` ones that met it and `tried` attempts in all."""

    remembered: ClassVar[tuple[str, ...]] = ("t", "x", "held", "h", "good", "tried", "size", "before")

    def __init__(self, walk: Walk, adaptive: Adaptive, end: float, times: Sequence[float] | None) -> None:
        super().__init__(walk)
        self.adaptive, self.end, self.all = adaptive, end, times is None
        self.held = walk.signals.held(0, 0.0, walk.start)
        self.control = _Control(walk, adaptive, end, self.held)
        self.jumps, self.kept, self.targets = landings(walk.signals, adaptive, end, times)
        self.h, self.good, self.tried = adaptive.first(end), 0, 0
        if not self.resume():
            walk.node(self.t, self.x, self.held)

    @property
    def size(self) -> Array:
        """How large states were."""
        return self.control.size

    @size.setter
    def size(self, size: Array) -> None:
        self.control.size = size

    @property
    def before(self) -> dict[str, tuple[float, Step]]:
        """The steps from which the next ones start."""
        return self.control.before

    @before.setter
    def before(self, before: dict[str, tuple[float, Step]]) -> None:
        self.control.before = before

    def attempt(self) -> None:
        """Try one step; take it if it meets the tolerance, else try a smaller one next."""
        self.tried += 1
        target = self.targets[bisect_right(self.targets, self.t)]
        size, lands = _towards(target - self.t, self.h)
        trial = self.control.attempt(self.t, size, self.x, target if lands and target in self.jumps else None)
        met = trial.error <= 1.0
        self.good = self.good + 1 if met else 0
        if trial.error == np.inf:
            proposal = size * FAILED
        else:
            proposal = self.adaptive.next(size, trial.error, self.control.order, self.good)
        if met:
            self.good = 0 if proposal > size else self.good
            self.h = max(self.h, proposal) if size < self.h else proposal
            self._take(trial, target if lands else None)
        else:
            self.h = proposal
            if self.h < max(self.adaptive.minimum, SMALLEST * self.end):
                self.outcome = self._too_small(trial)
        if self.outcome is None and self.tried >= self.adaptive.max_steps:
            self.outcome = Status.TOO_MANY_STEPS, Status.TOO_MANY_STEPS.value

    def _take(self, trial: Trial, target: float | None) -> None:
        """Record the steps of an attempt, of which the last ends at `target` if it is given."""
        self.control.accept(trial)
        for piece in trial.pieces:
            last = self.walk.last(piece, self.held)
            if last is not None:
                self.outcome = self.walk.end(last, self.held)
                return
            self.walk.recorder.step(piece)
            lands = target is not None and piece is trial.pieces[-1]
            self.t, self.x = target if lands and target is not None else piece.t + piece.h, piece.step.x
            if self.all or (lands and target in self.kept):
                self.walk.node(self.t, self.x, self.held)
        if target in self.jumps:
            self.control.before = {}  # accelerations before a jump are none to go on from
        if self.t == self.end:
            self.outcome = Status.OK, Status.OK.value

    def _too_small(self, trial: Trial) -> tuple[Status, str]:
        """Why a run cannot go on with smaller steps."""
        if trial.error == np.inf:
            return self.walk.stalled(trial.pieces[-1], self.held)
        status, details = self.walk.reason(trial.pieces[0], Status.STEP_TOO_SMALL)
        return status, f"{status.value} At t = {self.t:.6g} it was {self.h:.3g}.{details}"


def march_adaptively(
    walk: Walk, adaptive: Adaptive, end: float, times: Sequence[float] | None
) -> States:  # fmt: skip
    """Step from 0 to `end`; keep the ends of all steps, or only `times` and the end. A failure keeps what there is."""
    return _Adaptive(walk, adaptive, end, times).states()


def landings(
    signals: Signals, adaptive: Adaptive, end: float, times: Sequence[float] | None
) -> tuple[set[float], set[float], list[float]]:
    """Where inputs jump, which times are kept, and all of these times, on which steps have to end."""
    jumps = {t for t in (*signals.breakpoints, *adaptive.breakpoints) if 0.0 < t < end}
    kept = {end, *(times if times is not None else ())}
    return jumps, kept, sorted(jumps | kept)


def _towards(room: float, h: float) -> tuple[float, bool]:
    """The next step if there is `room` until a time to land on, and whether it lands: no tiny step is left over."""
    if h >= room * (1 - ROUND_OFF):
        return room, True
    return (room / 2, False) if h > room / 2 else (h, False)
