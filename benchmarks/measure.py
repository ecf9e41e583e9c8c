"""Choice of settings, agreement, time per step and energy drift of one mechanism in all codes.

With T(n) the least wall time of several runs of n steps, the time per step is (T(n) - T(1)) / (n - 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from benchmarks.case import Case, Code, CodeFailedError
from benchmarks.models import Entry, Mechanism, Vector
from porthos.study.timing import wall_time

SLOWEST = 0.2  # s per step; peers that need more are skipped
FEWEST = 3  # steps of a run, however slow
SHORTLIST = 3  # settings of a code that are timed in full length
CARRIED = 6  # settings tried on a large mechanism: the best ones of the next smaller size
LARGE = 200  # bodies
TRIAL, LONGEST_TRIAL = 0.03, 0.5  # s, the repetitions of a trial run, and about the longest one
MARKS = 10  # times at which solutions are compared
RECORDED = 20  # states for the energy drift
# Codes agree if they differ by less than this multiple of Porthos' own error at the same step.
AGREEMENT = 10.0
FLOOR = 1e-9  # m, round-off and Newton tolerances
SOFT = 1e-4  # of the size of the mechanism: what MuJoCo's stiff springs may yield in loops


@dataclass(frozen=True)
class Budget:
    """How much time a measurement may take."""

    sweeps: int  # through all mechanisms: what a slow spell of the machine met in one of them is right in another
    rounds: int  # in a sweep all codes are timed in turn, this often: a slow spell meets all of them
    repeat: float  # s, the repetitions of a run in one round
    longest: float  # s, about the longest run; a slow peer makes fewer steps


@dataclass
class Row:
    """What was measured of one code on one mechanism; `note` says why there is no time."""

    mechanism: str
    bodies: int
    h: float
    label: str
    setting: str = ""
    per_step: float | None = None  # s
    steps: int = 0
    drift: float | None = None
    tight_drift: float | None = None  # with the default tolerance of the code; infinite if that run failed
    iterations: float | None = None
    deviation: float | None = None  # m
    tolerance: float = 0.0  # m
    note: str = ""
    chosen: object = None  # the setting itself

    @property
    def agrees(self) -> bool:
        """False only where a deviation was measured and is too large."""
        return self.deviation is None or self.deviation <= self.tolerance


@dataclass(frozen=True)
class Truth:
    """What the codes are compared with: Porthos' Midpoint at the same step, at MARKS times up to mechanism.check."""

    positions: Vector  # (MARKS + 1, N, 3)
    errors: Vector  # (MARKS + 1,) of these positions, m
    size: float  # m, of the mechanism
    kinetic: float  # J, the largest one of the timed run

    def tolerance(self, code: Code, mechanism: Mechanism, mark: int) -> float:
        """How far a code may be from Porthos."""
        soft = SOFT * self.size if code.soft_loops and mechanism.loops else 0.0
        return AGREEMENT * float(self.errors[mark]) + FLOOR + soft


@dataclass
class Trial:
    """A case that was tried: seconds per step, roughly, and distance from Porthos; then timed with care."""

    setting: object
    case: Case
    cost: float
    deviation: float
    tolerance: float
    steps: int = 0
    one: float = field(default=np.inf)  # s, the least T(1)
    all: float = field(default=np.inf)  # s, the least T(steps)

    def time(self, h: float, budget: Budget) -> None:
        """A round of runs more."""
        self.one = min(self.one, wall_time(lambda: self.case.run(h, 1), 0.1 * budget.repeat))
        self.all = min(self.all, wall_time(lambda: self.case.run(h, self.steps), budget.repeat))

    @property
    def per_step(self) -> float:
        """Seconds."""
        return (self.all - self.one) / (self.steps - 1)


def distance(a: Vector, b: Vector) -> float:
    """The largest distance between the places of a body in two solutions (N, 3)."""
    return float(np.linalg.norm(a - b, axis=-1).max())


def find_truth(case: Case, mechanism: Mechanism) -> Truth:
    """The error of a second-order scheme is 4/3 of what halving the step changes."""
    h, n = mechanism.h, mechanism.check
    whole, half = case.record(h, n, n // MARKS).positions, case.record(h / 2, 2 * n, 2 * n // MARKS).positions
    errors = np.array([4 / 3 * distance(a, b) for a, b in zip(whole, half, strict=True)])
    kinetic = case.record(h, *_recording(mechanism.steps)).kinetic
    return Truth(whole, errors, float(np.linalg.norm(np.ptp(whole[0], axis=0))), float(kinetic.max()))


def _recording(steps: int) -> tuple[int, int]:
    """(steps, every) of a run with about RECORDED states kept."""
    every = max(1, steps // RECORDED)
    return steps // every * every, every


class Chooser:
    """Finds the fastest settings of a code, and remembers them for larger mechanisms of the same family."""

    def __init__(self) -> None:
        self._best: dict[tuple[str, str], list[object]] = {}
        self._cost: dict[tuple[str, str], float] = {}  # s per step and body

    def choose(self, code: Code, mechanism: Mechanism, family: str, truth: Truth, limit: float) -> list[Trial]:
        """Trials that agree with Porthos, the fastest first; if none does, the nearest one.

        A code whose steps took longer than `limit`, or would take at linear cost from the next smaller mechanism,
        is not tried.
        """
        key, bodies = (code.label, family), len(mechanism.bodies)
        if self._cost.get(key, 0.0) * bodies > limit:
            raise CodeFailedError(f"more than {limit:g} s per step expected")
        settings = list(code.settings(mechanism))
        if not settings:
            raise CodeFailedError("springs not set up" if mechanism.springs else "trees only")
        if bodies > LARGE and key in self._best:
            settings = self._best[key][:CARRIED]
        trials, reasons = [], set()
        for setting in settings:
            try:
                trials.append(_try(code, mechanism, setting, truth, limit))
            except CodeFailedError as error:
                reasons.add(str(error))
        if not trials:
            self._cost[key] = np.inf
            raise CodeFailedError("; ".join(sorted(reasons)))
        good = [t for t in trials if t.deviation <= t.tolerance]
        if not good:
            return [min(trials, key=lambda t: t.deviation)]
        good.sort(key=lambda t: t.cost)
        self._best[key], self._cost[key] = [t.setting for t in good], good[0].cost / bodies
        return good


def _try(code: Code, mechanism: Mechanism, setting: object, truth: Truth, limit: float) -> Trial:
    """Build a case, see how fast it is and compare its solution at the last mark that it reaches in time."""
    h, stride = mechanism.h, mechanism.check // MARKS
    case = code.build(mechanism, setting)
    one = wall_time(lambda: case.run(h, 1), 0.0)
    rough = (wall_time(lambda: case.run(h, FEWEST), 0.0) - one) / (FEWEST - 1)
    if rough > limit:
        raise CodeFailedError(f"more than {limit:g} s per step")
    mark = int(np.clip(LONGEST_TRIAL / max(rough * stride, 1e-9), 1, MARKS))
    n = mark * stride
    cost = wall_time(lambda: case.run(h, n), TRIAL) / n
    deviation = distance(case.record(h, n, n).positions[-1], truth.positions[mark])
    return Trial(setting, case, cost, deviation, truth.tolerance(code, mechanism, mark))


@dataclass
class Race:
    """All codes on one mechanism, with their fastest settings."""

    mechanism: Mechanism
    truth: Truth
    codes: Sequence[Code]
    rows: list[Row]
    trials: list[list[Trial]]

    def run(self, budget: Budget) -> None:
        """Time all of them in turn."""
        for _ in range(budget.rounds):
            for code, some in zip(self.codes, self.trials, strict=True):
                longest = np.inf if code.ours else budget.longest  # ours are compared with each other: equal steps
                some[:] = [t for t in some if _timed(t, self.mechanism, budget, longest)]

    def result(self) -> list[Row]:
        """A row for each code, with the least times so far."""
        for code, row, some in zip(self.codes, self.rows, self.trials, strict=True):
            if some:
                _fill(row, code, min(some, key=lambda t: t.per_step), self.mechanism, self.truth)
            elif not row.note:
                row.note = "no setting got through the run"
        return self.rows


def prepare(entry: Entry, codes: Sequence[Code], chooser: Chooser) -> Race:
    """Find the settings of each code; the first code is the one that the others are compared with."""
    mechanism = entry.build()
    first = next(iter(codes[0].settings(mechanism)))
    truth = find_truth(codes[0].build(mechanism, first), mechanism)
    rows = [Row(mechanism.name, len(mechanism.bodies), mechanism.h, code.label) for code in codes]
    trials: list[list[Trial]] = []
    for code, row in zip(codes, rows, strict=True):
        limit = np.inf if code.ours else SLOWEST
        try:
            found = chooser.choose(code, mechanism, entry.family, truth, limit)
        except CodeFailedError as error:
            row.note = str(error)
            found = []
        trials.append(found[:SHORTLIST])
    return Race(mechanism, truth, codes, rows, trials)


def _timed(trial: Trial, mechanism: Mechanism, budget: Budget, longest: float) -> bool:
    """Whether a case got through a round of its runs, each of about `longest` seconds at most."""
    trial.steps = trial.steps or int(np.clip(longest / trial.cost, FEWEST, mechanism.steps))
    try:
        trial.time(mechanism.h, budget)
    except CodeFailedError:
        return False
    return True


def _fill(row: Row, code: Code, trial: Trial, mechanism: Mechanism, truth: Truth) -> None:
    """Write down what was found, and the energy drift from a run of the same length."""
    row.setting, row.per_step, row.steps = trial.case.setting, trial.per_step, trial.steps
    row.deviation, row.tolerance = trial.deviation, trial.tolerance
    row.chosen = trial.setting
    row.drift = _drift(trial.case, mechanism, trial.steps, truth)
    row.iterations = trial.case.iterations
    if code.tight is not None:
        try:
            row.tight_drift = _drift(code.build(mechanism, code.tight(trial.setting)), mechanism, trial.steps, truth)
        except CodeFailedError:
            row.tight_drift = np.inf


def _drift(case: Case, mechanism: Mechanism, steps: int, truth: Truth) -> float:
    """The largest change of the energy, relative to the kinetic energy."""
    energy = case.record(mechanism.h, *_recording(steps)).energy
    return float(np.abs(energy - energy[0]).max()) / truth.kinetic


def refined(entry: Entry, codes: Sequence[Code], rows: Sequence[Row], factor: int = 10) -> list[Row]:
    """The codes with the settings found, compared once more at a step smaller by `factor`, to the same time.

    This is about solutions, not about speed: tolerances are the tight ones.
    """
    whole = entry.build()
    mechanism = replace(whole, h=whole.h / factor, check=whole.check * factor, steps=whole.check * factor)
    truth = find_truth(codes[0].build(mechanism, rows[0].chosen), mechanism)
    result = []
    for code, row in zip(codes, rows, strict=True):
        if row.chosen is None:
            continue
        case = code.build(mechanism, row.chosen if code.tight is None else code.tight(row.chosen))
        end = case.record(mechanism.h, mechanism.check, mechanism.check).positions[-1]
        finer = Row(row.mechanism, row.bodies, mechanism.h, row.label, case.setting)
        finer.deviation = distance(end, truth.positions[-1])
        finer.tolerance = truth.tolerance(code, mechanism, MARKS)
        result.append(finer)
    return result
