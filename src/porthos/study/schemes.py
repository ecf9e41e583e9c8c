"""Schemes side by side: errors, orders, invariants and cost of several schemes with several steps on one problem."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from porthos.errors import PorthosError, ResultError, SimulationError, Status, is_among, nearest
from porthos.frontdoor import simulate
from porthos.integrate.catalogue import spelled
from porthos.integrate.composition import Composition
from porthos.integrate.runge_kutta import RadauIIA
from porthos.integrate.scheme import Contract
from porthos.model.model import Model
from porthos.notation import Array
from porthos.results.run import Run
from porthos.results.verdict import TINY
from porthos.steps import Adaptive, count_steps
from porthos.study.measures import AnyRun, End, end_of, energy_defect, gaps, kept_momenta, momentum_drift
from porthos.system.descriptor import Descriptor
from porthos.system.mechanical import MechanicalSystem

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

REPEATS = 3  # runs of which the fastest one counts
FLOOR = 1e-12  # errors below this part of the solution are round-off: no order is taken from them
FINER = 4  # the reference has steps smaller by this factor than the smallest one compared
CHECKED = 2  # and a second one by this factor, which shows how much of the first is round-off
SURE = 4  # errors are told from round-off where they are so many times as large as the two are apart
STRICTER = 1e-2  # and, if all steps are adaptive, this part of the smallest tolerance
LEAST = 1e-13  # but not less
ERRORS = ("position_error", "velocity_error", "multiplier_error")  # in the order of `End`


@dataclass(frozen=True)
class Trial:
    """One scheme with one step. Errors are at the end, the largest of all coordinates; NaN where a run failed.

    What a system does not have is NaN: velocities, multipliers, constraints, momenta that stay.
    """

    scheme: str
    step: float  # the mean of adaptive ones
    tolerance: float  # rtol of adaptive steps
    position_error: float  # of all states with a rate, where there are no positions
    velocity_error: float
    multiplier_error: float  # of all algebraic states, where there are no positions
    energy_defect: float  # largest |H - H(0) - supply + losses|, relative to the kinetic energy or the change of H
    momentum_drift: float  # largest change of momenta that the reference keeps, relative to what they can be
    constraint: float  # largest |g|; of algebraic equations, where there are no positions
    constraint_rate: float  # largest |G v|
    iterations: float  # of Newton's method, for each step
    seconds: float
    message: str

    @property
    def steps(self) -> str:
        """Its step, or the tolerance of its steps."""
        return f"{self.step:g}" if np.isnan(self.tolerance) else f"rtol {self.tolerance:g}"


@dataclass(frozen=True)
class SchemeStudy:
    """What `compare` found; prints as a table."""

    name: str
    end: float
    reference: str
    trials: tuple[Trial, ...]
    floors: Mapping[str, float]  # of each error: what is smaller may be round-off, of a run or of the reference

    @property
    def schemes(self) -> list[str]:
        """Their names, in the order given."""
        return list(dict.fromkeys(trial.scheme for trial in self.trials))

    def of(self, scheme: Contract | str) -> list[Trial]:
        """The trials of a scheme, from the largest step to the smallest, then those with tolerances.

        It is named as in the table, or as `compare` was told it.
        """
        name = self._name(scheme)
        found = [t for t in self.trials if t.scheme == name]
        fixed, adaptive = ([t for t in found if np.isnan(t.tolerance) == flag] for flag in (True, False))
        return [*sorted(fixed, key=lambda t: -t.step), *sorted(adaptive, key=lambda t: -t.tolerance)]

    def order(self, scheme: Contract | str, quantity: str = "position_error") -> float:
        """The order measured with the two smallest fixed steps whose errors are above round-off; NaN if none are."""
        if not is_among(quantity, ERRORS):
            raise ResultError(f"order: quantity: found no error '{quantity}'. {nearest(quantity, ERRORS)}")
        floor = self.floors[quantity]
        good = [t for t in self.of(scheme) if getattr(t, quantity) > floor and np.isnan(t.tolerance)]
        if len(good) < 2:
            return np.nan
        (a, b) = good[-2:]
        return float(np.log(getattr(a, quantity) / getattr(b, quantity)) / np.log(a.step / b.step))

    def _name(self, scheme: Any) -> str:
        """The name of a scheme in the table."""
        known = self.schemes
        if is_among(scheme, known):
            return scheme
        try:
            name = _short(spelled(scheme) if isinstance(scheme, str) else scheme)
        except PorthosError:
            name = scheme
        if name not in known:
            raise ResultError(f"the study of '{self.name}' has no scheme '{scheme}'. {nearest(scheme, known)}")
        return name

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each trial."""
        import pandas

        return pandas.DataFrame([asdict(trial) for trial in self.trials])

    def plot(self, ax: Sequence[Axes] | None = None) -> Figure:
        """Errors of positions over the step, and over the time that a run took; into two axes of yours, if given."""
        from porthos.show.studies import scheme_study

        groups = {name: self.of(name) for name in self.schemes}
        columns = ("step", "seconds", "position_error")
        found = {n: {c: np.array([getattr(t, c) for t in g]) for c in columns} for n, g in groups.items()}
        return scheme_study(found, ax)

    def __str__(self) -> str:
        columns = [column for column in self._columns() if any(cell not in ("", "-") for cell in column[1:])]
        widths = [max(map(len, column)) for column in columns]
        rows = zip(*columns, strict=True)
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        title = f"'{self.name}' at t = {self.end:g} against {self.reference}; orders of the two smallest steps"
        return "\n".join([title, *lines, *self._failures()])

    def _columns(self) -> list[list[str]]:
        """The cells of the table, with a head each; "-" stands for NaN."""
        table = [(name, k == 0, t) for name in self.schemes for k, t in enumerate(self.of(name))]

        def numbers(head: str, quantity: str, form: str, factor: float = 1.0) -> list[str]:
            values = [factor * getattr(t, quantity) for _, _, t in table]
            return [head, *("-" if np.isnan(value) else format(value, form) for value in values)]

        def orders(quantity: str) -> list[str]:
            found = [self.order(name, quantity) if first else None for name, first, _ in table]
            return ["order", *("" if p is None else "-" if np.isnan(p) else f"{p:.2f}" for p in found)]

        columns = [["scheme", *(name if first else "" for name, first, _ in table)]]
        columns += [["step", *(t.steps for _, _, t in table)]]
        for head, quantity in zip(("error q", "error v", "error lambda"), ERRORS, strict=True):
            columns += [numbers(head, quantity, ".2e"), orders(quantity)]
        columns += [numbers("energy", "energy_defect", ".0e"), numbers("momenta", "momentum_drift", ".0e")]
        columns += [numbers("|g|", "constraint", ".0e"), numbers("|G v|", "constraint_rate", ".0e")]
        return [*columns, numbers("iterations", "iterations", ".1f"), numbers("ms", "seconds", ".3g", 1e3)]

    def _failures(self) -> list[str]:
        """Why runs failed; schemes that do not suit the problem say so once."""
        found: dict[tuple[str, str], list[str]] = {}
        for t in self.trials:
            if np.isnan(t.position_error):
                found.setdefault((t.scheme, t.message), []).append(t.steps)
        return [f"  {name}, step {', '.join(steps)}: {message}" for (name, message), steps in found.items()]


def compare(
    model: Model | Descriptor,
    schemes: Sequence[Contract | str],
    steps: Sequence[float | Adaptive],
    end: float,
    inputs: Mapping[str, Any] | None = None,
    reference: AnyRun | None = None,
) -> SchemeStudy:
    """Run all schemes with all steps and measure errors, orders, invariants and cost.

    Schemes are objects or names such as "Gauss(2)" or "Composition(order=6)". `steps` are numbers, or `Adaptive` ones
    for schemes that follow a tolerance; where a scheme and a step or the system do not suit each other, the study says
    why. The `reference` is a run to the same end; by default Composition(order=8) on mechanisms, RadauIIA(5) on other
    systems, with a quarter of the smallest step. A second one, with half of it, shows which errors are round-off, of
    which no order is told. Wall times are the least of three runs that record the end alone.
    """
    system = model.assemble() if isinstance(model, Model) else model
    if not isinstance(system, Descriptor):
        raise PorthosError(f"compare: model: expected a model or a system, found {model!r}.")
    chosen, steps = _chosen(schemes), _some("steps", steps, "numbers or ph.Adaptive(...)")
    for h in steps:
        if not isinstance(h, Adaptive):
            count_steps(h, end, 1)
    _once("steps", [repr(h) if isinstance(h, Adaptive) else float(h) for h in steps], steps)
    if not isinstance(reference, Run | None):
        raise PorthosError(f"compare: reference: expected a run to the same end, or none, found {reference!r}.")
    exact = _reference(system, steps, end, inputs) if reference is None else reference
    if abs(exact.t[-1] - end) > 1e-9 * end:
        raise PorthosError(f"compare: expected a reference to end = {end:g}, found one to t = {exact.t[-1]:g}.")
    problem = _Problem(system, end, inputs, end_of(exact), kept_momenta(exact))
    trials = tuple(problem.trial(scheme, h) for scheme in chosen for h in steps)
    second = _second(system, steps, end, inputs) if reference is None else None
    floors = dict(zip(ERRORS, map(_floor, problem.exact, second or problem.exact), strict=True))
    return SchemeStudy(system.name, end, exact.scheme, trials, floors)


def _some(what: str, given: Any, expected: str) -> list[Any]:
    """A list with one value at least."""
    listed = given.ndim > 0 if isinstance(given, np.ndarray) else isinstance(given, Sequence)
    found = list(given) if listed and not isinstance(given, str | bytes) else []
    if not found:
        raise PorthosError(f"compare: {what}: expected a list of {expected}, at least one, found {given!r}.")
    return found


def _once(what: str, keys: list[Any], given: list[Any]) -> None:
    """Refuse what is there twice, under whatever name: its rows could not be told apart."""
    for k, key in enumerate(keys):
        first = keys.index(key)
        if first < k:
            raise PorthosError(
                f"compare: {what}: found {given[first]!r} and {given[k]!r}, which are the same. Expected each once; "
                "remove one of them."
            )


def _chosen(given: Any) -> list[Contract]:
    """Schemes, some of which may be names."""
    found = _some("schemes", given, "schemes such as ph.Gauss(2), or their names")
    try:
        chosen = [spelled(scheme) if isinstance(scheme, str) else scheme for scheme in found]
    except PorthosError as error:
        raise PorthosError(f"compare: schemes: {error}") from error
    for scheme in chosen:
        if not isinstance(scheme, Contract):
            raise PorthosError(f"compare: schemes: expected a scheme such as ph.Gauss(2), found {scheme!r}.")
    _once("schemes", [_short(scheme) for scheme in chosen], found)
    return chosen


def _reference(
    system: Descriptor,
    steps: Sequence[float | Adaptive],
    end: float,
    inputs: Mapping[str, Any] | None,
    finer: int = FINER,
) -> AnyRun:
    """A run with four states after its start, so that momenta that happen to come back are not taken for kept."""
    sizes = [h for h in steps if not isinstance(h, Adaptive)]
    try:
        if not sizes:
            least = max(LEAST, STRICTER * min(h.rtol for h in steps if isinstance(h, Adaptive)))
            times = end * np.arange(1, FINER) / FINER
            return simulate(system, RadauIIA(5), Adaptive(least, least), end, inputs, times=times, progress=False)
        scheme = Composition(order=8) if isinstance(system, MechanicalSystem) else RadauIIA(5)
        every = count_steps(min(sizes), end, 1)
        return simulate(system, scheme, min(sizes) / finer, end, inputs, every=every, progress=False)
    except PorthosError as error:
        raise PorthosError(f"compare: the reference failed: {error} Give a run of your own as `reference`.") from error


def _second(
    system: Descriptor, steps: Sequence[float | Adaptive], end: float, inputs: Mapping[str, Any] | None
) -> End | None:
    """The end of a reference with other steps; none where it fails, or where no order is asked for."""
    if all(isinstance(h, Adaptive) for h in steps):
        return None
    try:
        return end_of(_reference(system, steps, end, inputs, CHECKED))
    except PorthosError:
        return None


def _floor(exact: Array, second: Array) -> float:
    """Up to which size the errors of a quantity may be round-off."""
    apart = float(np.abs(exact - second).max(initial=0.0)) if exact.size == second.size else 0.0
    return max(FLOOR * float(np.abs(exact).max(initial=TINY)), SURE * apart)


@dataclass(frozen=True)
class _Problem:
    """What all trials have in common: the exact end, and the momenta that stay."""

    system: Descriptor
    end: float
    inputs: Mapping[str, Any] | None
    exact: End
    kept: NDArray[np.bool_]

    def trial(self, scheme: Contract, step: float | Adaptive) -> Trial:
        """A scheme with one step; where it cannot run, why."""
        tolerance, h = (step.rtol, np.nan) if isinstance(step, Adaptive) else (np.nan, step)
        try:
            return self._measured(scheme, step)
        except PorthosError as error:
            why = error.trajectory.message if isinstance(error, SimulationError) else f"{error}"
            blank = dict.fromkeys([f.name for f in fields(Trial)][3:-1], np.nan)
            return Trial(_short(scheme), h, tolerance, **blank, message=why)

    def _measured(self, scheme: Contract, step: float | Adaptive) -> Trial:
        run: AnyRun = simulate(self.system, scheme, step, self.end, self.inputs, progress=False)
        pairs = zip(end_of(run), self.exact, strict=True)
        q, v, lam = (float(np.abs(a - b).max()) if a.size and b.size else np.nan for a, b in pairs)
        steps, seconds, adaptive = run.t.size - 1, np.inf, isinstance(step, Adaptive)
        last: dict[str, Any] = {"times": ()} if adaptive else {"every": steps}
        for _ in range(REPEATS):
            begin = time.perf_counter()
            simulate(self.system, scheme, step, self.end, self.inputs, progress=False, **last)
            seconds = min(seconds, time.perf_counter() - begin)
        g, rate = gaps(run)
        return Trial(
            _short(scheme), self.end / steps, step.rtol if isinstance(step, Adaptive) else np.nan, q, v, lam,
            energy_defect(run), momentum_drift(run, self.kept), g, rate, float(np.sum(run.iterations)) / steps,
            seconds, Status.OK.value,
        )  # fmt: skip


def _short(scheme: Contract) -> str:
    """A scheme with the options that differ from the usual."""
    from porthos.model.simulation import SchemeChoice

    def text(plain: str | dict[str, Any]) -> str:
        if isinstance(plain, str):
            return plain
        options = [f"{k}={text(v) if isinstance(v, (str, dict)) else v}" for k, v in plain.items() if k != "kind"]
        return f"{plain['kind']}({', '.join(options)})"

    return text(SchemeChoice.of(scheme).plain)
