"""Schemes side by side: errors, orders, invariants and cost of several schemes with several steps on one problem."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from porthos.errors import PorthosError, SimulationError, Status
from porthos.frontdoor import simulate
from porthos.integrate.catalogue import spelled
from porthos.integrate.composition import Composition
from porthos.integrate.runge_kutta import Gauss
from porthos.integrate.scheme import Contract
from porthos.model.model import Model
from porthos.notation import Array
from porthos.results.states import StateTrajectory
from porthos.results.trajectory import Trajectory
from porthos.steps import count_steps
from porthos.system.descriptor import Descriptor
from porthos.system.mechanical import MechanicalSystem

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AnyRun = Trajectory | StateTrajectory

REPEATS = 3  # runs of which the fastest one counts
FLOOR = 1e-12  # errors below this part of the solution are round-off: no order is taken from them
FINER = 4  # the reference has steps smaller by this factor than the smallest one compared


@dataclass(frozen=True)
class Trial:
    """One scheme with one step. Errors are at the end, the largest of all coordinates; NaN where a run failed."""

    scheme: str
    step: float
    position_error: float  # or that of the state, where there are no positions
    velocity_error: float  # NaN where there are no velocities
    energy_defect: float  # largest |H - H(0) - supply + losses|, relative to the kinetic energy or the change of H
    constraint: float  # largest |g|
    constraint_rate: float  # largest |G v|
    iterations: float  # of Newton's method, for each step
    seconds: float
    message: str


@dataclass(frozen=True)
class SchemeStudy:
    """What `compare` found; prints as a table."""

    name: str
    end: float
    reference: str
    trials: tuple[Trial, ...]
    scale: float  # size of the solution, for the floor of round-off

    @property
    def schemes(self) -> list[str]:
        """Their names, in the order given."""
        return list(dict.fromkeys(trial.scheme for trial in self.trials))

    def of(self, scheme: str) -> list[Trial]:
        """The trials of a scheme, from the largest step to the smallest."""
        return sorted((t for t in self.trials if t.scheme == scheme), key=lambda t: -t.step)

    def order(self, scheme: str, quantity: str = "position_error") -> float:
        """The order measured with the two smallest steps whose errors are above round-off; NaN if there are none."""
        good = [t for t in self.of(scheme) if getattr(t, quantity) > FLOOR * self.scale]
        if len(good) < 2:
            return np.nan
        (a, b) = good[-2:]
        return float(np.log(getattr(a, quantity) / getattr(b, quantity)) / np.log(a.step / b.step))

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
        head = ("scheme", "step", "error q", "order", "error v", "order", "energy", "|g|", "|G v|", "iterations", "ms")
        rows: list[tuple[str, ...]] = [head]
        for name in self.schemes:
            for k, t in enumerate(self.of(name)):
                orders = [f"{self.order(name, q):.2f}" if k == 0 else "" for q in ("position_error", "velocity_error")]
                numbers = (t.energy_defect, t.constraint, t.constraint_rate)
                rows.append((
                    name if k == 0 else "", f"{t.step:g}", f"{t.position_error:.2e}", orders[0],
                    f"{t.velocity_error:.2e}", orders[1], *(f"{x:.0e}" for x in numbers), f"{t.iterations:.1f}",
                    f"{1e3 * t.seconds:.3g}",
                ))  # fmt: skip
        widths = [max(len(row[c]) for row in rows) for c in range(len(head))]
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        failed = [f"  {t.scheme}, step {t.step:g}: {t.message}" for t in self.trials if np.isnan(t.position_error)]
        title = f"'{self.name}' at t = {self.end:g} against {self.reference}; orders of the two smallest steps"
        return "\n".join([title.replace("nan", "-"), *(line.replace("nan", "-") for line in lines), *failed])


def compare(
    model: Model | Descriptor,
    schemes: Sequence[Contract | str],
    steps: Sequence[float],
    end: float,
    inputs: Mapping[str, Any] | None = None,
    reference: AnyRun | None = None,
) -> SchemeStudy:
    """Run all schemes with all steps and measure errors, orders, invariants and cost.

    Schemes are objects or names such as "Gauss(2)" or "Composition(order=6)". The `reference` is a run to the same end;
    by default one of order 8 with a quarter of the smallest step. Wall times are the least of three runs that record
    the end alone.
    """
    system = model.assemble() if isinstance(model, Model) else model
    chosen = [spelled(scheme) if isinstance(scheme, str) else scheme for scheme in schemes]
    if not chosen or not len(steps):
        raise PorthosError("compare: expected at least one scheme and one step, found none.")
    for h in steps:
        count_steps(h, end, 1)
    exact = _reference(system, min(steps) / FINER, end, inputs) if reference is None else reference
    if abs(exact.t[-1] - end) > 1e-9 * end:
        raise PorthosError(f"compare: expected a reference that ends at t = {end:g}, found t = {exact.t[-1]:g}.")
    trials = tuple(_trial(system, scheme, h, end, inputs, exact) for scheme in chosen for h in steps)
    scale = max(1e-300, float(np.abs(_end(exact)[0]).max()))
    return SchemeStudy(system.name, end, exact.scheme, trials, scale)


def compare_file(path: Path, schemes: Sequence[str], steps: Sequence[float], end: float | None) -> SchemeStudy:
    """The same for a model file; what is not given is taken from it, with steps 1, 1/2 and 1/4 of its own."""
    from porthos.model.modelfile import ModelFile

    file = ModelFile.read(path)
    plan = file.plan()
    names = list(schemes) or ["Midpoint", "MidpointGGL", "Composition(order=4)", "Composition(order=6)"]
    if not steps and not isinstance(plan.step, Real):
        raise PorthosError(f"compare: '{path.name}' has no fixed step to begin with, found {plan.step!r}. Give --step.")
    sizes = list(steps) or [plan.step / k for k in (1, 2, 4)]  # type: ignore[operator] # it is a number
    return compare(file.model, names, sizes, end or plan.end, plan.inputs)


def _reference(system: Descriptor, h: float, end: float, inputs: Mapping[str, Any] | None) -> AnyRun:
    if not isinstance(system, MechanicalSystem):
        return simulate(system, Gauss(4), h, end, inputs=inputs, every=count_steps(h, end, 1), progress=False)
    try:
        return simulate(
            system, Composition(order=8), h, end, inputs=inputs, every=count_steps(h, end, 1), progress=False
        )
    except PorthosError as error:
        raise PorthosError(f"compare: the reference failed: {error} Give a run of your own as `reference`.") from error


def _trial(
    system: Descriptor, scheme: Contract, h: float, end: float, inputs: Mapping[str, Any] | None, exact: AnyRun
) -> Trial:
    name, steps = _short(scheme), count_steps(h, end, 1)
    try:
        run: AnyRun = simulate(system, scheme, h, end, inputs=inputs, progress=False)
    except SimulationError as error:
        blank = dict.fromkeys([f.name for f in fields(Trial)][2:-1], np.nan)
        return Trial(name, h, **blank, message=f"{error.trajectory.message}")
    q, v = (
        float(np.abs(a - b).max(initial=0.0)) if a.size else np.nan for a, b in zip(_end(run), _end(exact), strict=True)
    )
    seconds = np.inf
    for _ in range(REPEATS):
        begin = time.perf_counter()
        simulate(system, scheme, h, end, inputs=inputs, every=steps, progress=False)
        seconds = min(seconds, time.perf_counter() - begin)
    gaps = (np.nan, np.nan)
    if isinstance(run, Trajectory):
        gaps = (float(run.position_error.max()), float(run.velocity_error.max()))
    return Trial(
        name, h, q, v, energy_defect(run), *gaps, float(np.sum(run.iterations)) / steps, seconds, Status.OK.value
    )


def energy_defect(run: AnyRun) -> float:
    """The largest gap of the energy balance, relative to the energy that moves."""
    H, parts = (run.energy, run.kinetic_energy) if isinstance(run, Trajectory) else (run.H, run.H)
    balance = np.cumsum(run.power_balance)
    return float(np.abs(balance).max() / max(1e-300, float(np.abs(parts).max()), float(np.ptp(H))))


def _end(run: AnyRun) -> tuple[Array, Array]:
    """Positions and velocities at the end; the state and nothing where there are none."""
    if isinstance(run, Trajectory):
        return run.q[-1], run.v[-1]
    return run.x[-1], np.zeros(0)


def _short(scheme: Contract) -> str:
    """A scheme with the options that differ from the usual."""
    from porthos.model.simulation import SchemeChoice

    def text(plain: str | dict[str, Any]) -> str:
        if isinstance(plain, str):
            return plain
        options = [f"{k}={text(v) if isinstance(v, (str, dict)) else v}" for k, v in plain.items() if k != "kind"]
        return f"{plain['kind']}({', '.join(options)})"

    return text(SchemeChoice.of(scheme).plain)
