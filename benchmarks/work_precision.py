"""Work-precision: error at t = 0.2 s against wall time, a chain of 16 bars with motion in and out of the plane.

The bars start with w_k = W cos(2 pi k / 16) e3. The error is the largest distance of the centre of mass of any body
from the reference: MuJoCo's RK4 with a very small step, confirmed by Porthos' Composition of order 8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import equal_accuracy, exudyn_adapter, exudyn_tree, mujoco_adapter, porthos_adapter
from benchmarks.case import Case, CodeFailedError
from benchmarks.measure import distance
from benchmarks.models import E3, Mechanism, Vector, chain
from porthos.errors import SimulationError
from porthos.show.axes import INK, legend, new_figure
from porthos.study.timing import wall_time

END, BARS, RATE = 0.2, 16, 5.0
STEPS = (10, 20, 40, 100, 200, 400, 1000, 2000, 4000)
FINE = 20000  # steps of the reference
CONFIRMED = 1e-10  # m, how well two codes have to agree in it
SPARE = 0.1  # s, for the repetitions of a run
WORST = 0.1  # m; errors beyond are not drawn
NEARLY = 1.5  # times the error of the best setting
WANTED = 1e-8  # m, the error at which times are compared
TOLERANCES = (1e-5, 1e-8, 1e-10)  # of Exudyn's Newton


class Point(NamedTuple):
    """A run: steps, wall time and error."""

    steps: int
    seconds: float
    error: float


def mechanism() -> Mechanism:
    """The chain with its initial motion."""
    rates = RATE * np.outer(np.cos(2 * np.pi * np.arange(BARS) / BARS), E3)
    return chain(BARS, "spherical", steps=max(STEPS), rates=rates)


def end_of(case: Case, steps: int) -> Vector:
    """Positions (N, 3) at the end."""
    return case.record(END / steps, steps, steps).positions[-1]


def reference(model: Mechanism) -> tuple[Vector, float]:
    """The solution, and the distance of two codes in it."""
    mujoco = mujoco_adapter.MujocoCase(model, next(mujoco_adapter.settings(model)))
    porthos = porthos_adapter.PorthosCase(model, porthos_adapter.ph.Composition(order=8))
    solution = end_of(mujoco, FINE)
    gap = distance(solution, end_of(porthos, 1000))
    if not gap < CONFIRMED:
        raise CodeFailedError(f"work-precision: MuJoCo and Porthos differ by {gap:.1e} m in the reference.")
    return solution, gap


def curves(model: Mechanism) -> Iterator[tuple[str, str, list[Case]]]:
    """(label, format of the curve, cases of which the fastest one counts)."""
    ph = porthos_adapter.ph
    yield "Porthos Midpoint", "o-", [porthos_adapter.PorthosCase(model, ph.Midpoint())]
    yield "Porthos MidpointGGL", "s-", [porthos_adapter.PorthosCase(model, ph.MidpointGGL())]
    for order, style in ((4, "P-"), (6, "X-")):
        yield f"Porthos Composition {order}", style, [porthos_adapter.PorthosCase(model, ph.Composition(order=order))]
    for name, integrator in (
        (equal_accuracy.ALPHA, exudyn_adapter.GENERALIZED_ALPHA),
        (equal_accuracy.TRAPEZOIDAL, exudyn_adapter.TRAPEZOIDAL),
    ):
        settings = [
            exudyn_adapter.Setting(integrator, newton, node, "EigenSparse", tolerance)
            for newton in (exudyn_adapter.MODIFIED, exudyn_adapter.EACH_STEP)
            for node in exudyn_adapter.NODES
            for tolerance in TOLERANCES
        ]
        yield name, "^--" if name.endswith("alpha") else "v--", [exudyn_adapter.ExudynCase(model, s) for s in settings]
    yield equal_accuracy.TREE, "D:", [exudyn_tree.TreeCase(model, "EigenDense")]
    yield equal_accuracy.MUJOCO, "x:", [mujoco_adapter.MujocoCase(model, next(mujoco_adapter.settings(model)))]


def points(cases: list[Case], solution: Vector, steps: tuple[int, ...]) -> list[Point]:
    """For each number of steps the fastest case among those nearly as accurate as the best one."""
    result = []
    for n in steps:
        errors = [_error(case, n, solution) for case in cases]
        if (best := min(errors)) > WORST:
            continue
        good = [(case, error) for case, error in zip(cases, errors, strict=True) if error <= NEARLY * best]
        times = [wall_time(partial(case.run, END / n, n), SPARE) for case, _ in good]
        result.append(min((Point(n, t, e) for t, (_, e) in zip(times, good, strict=True)), key=lambda p: p.seconds))
    return result


def _error(case: Case, n: int, solution: Vector) -> float:
    """Infinite if the case fails."""
    try:
        error = distance(end_of(case, n), solution)
    except (CodeFailedError, SimulationError):
        return np.inf
    return error if np.isfinite(error) else np.inf


def time_to(found: list[Point], error: float) -> tuple[float, bool]:
    """The wall time of a run with this error, between two measured runs; of the finest one if it has not got it."""
    if found and found[0].error <= error:
        return found[0].seconds, True
    for coarse, fine in pairwise(found):
        if coarse.error >= error >= fine.error:
            share = np.log(coarse.error / error) / np.log(coarse.error / fine.error)
            return float(coarse.seconds * (fine.seconds / coarse.seconds) ** share), True
    return (found[-1].seconds if found else np.nan), False


def draw(path: Path, quick: bool, say: Callable[[str], None]) -> dict[str, tuple[float, bool]]:
    """Measure, and write the figure; returns the times to the error WANTED, see `time_to`."""
    model, times = mechanism(), {}
    solution, gap = reference(model)
    say(f"work-precision: two codes agree in the reference to {gap:.1e} m")
    figure, (ax,) = new_figure(panel=(7.0, 4.6))
    for label, style, cases in curves(model):
        measured = points(cases, solution, STEPS[1:7:2] if quick else STEPS)
        times[label], found = time_to(measured, WANTED), [p for p in measured if p.error > gap]
        say(f"{label}: " + ", ".join(f"{p.steps} steps {1e3 * p.seconds:.3g} ms {p.error:.1e} m" for p in found))
        ax.loglog([p.seconds for p in found], [p.error for p in found], style, label=label, markersize=5)
    ax.set_xlabel("wall time of the run [s]", color=INK)
    ax.set_ylabel("error of the positions at t = 0.2 s [m]", color=INK)
    ax.set_title(f"chain-{BARS}, spherical joints, motion out of the plane", fontsize=10, color=INK, loc="right")
    legend(ax, columns=1)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=200)
    say(f"figure written to {path}")
    return times
