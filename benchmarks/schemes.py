"""Work-precision of schemes on three kinds of problems, and of compositions: the figures of docs/schemes.md.

`python -m benchmarks.schemes` measures for some minutes and writes docs/images/schemes.png and compositions.png. Errors
are those of positions at the end, against numbers from outside; times are the least wall times of `simulate`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import porthos as ph
from gallery import car_axis, composition, governor, slider_crank
from porthos.errors import PorthosError
from porthos.integrate.scheme import Contract
from porthos.notation import Array
from porthos.results.run import Run
from porthos.show.axes import INK, PALETTE, label, log_abscissa, new_figure
from porthos.study.timing import wall_time
from porthos.system.descriptor import Descriptor

FOLDER = Path("docs") / "images"
SPARE = 1.0  # s, for the repetitions of a run
WORST, FLOOR = 0.1, 1e-12  # errors beyond are not drawn
TOLERANCES = (1e-4, 1e-6, 1e-8)
COARSE, FINE = (25, 50, 100, 200), (100, 200, 400, 800, 1600)  # steps

FAMILIES = (
    "Midpoint", "MidpointGGL", "Composition 4", "Composition 6", "Composition 8", "Livens", "RadauIIA", "LobattoPair",
    "Murua", "GeneralizedAlpha", "DOP853", "HEDOP5", "BDF", "IDA", "Gauss",
)  # fmt: skip
COMPILED = 6  # the first of them

Plans = dict[str, tuple[Contract, tuple[int, ...]]]  # steps of a scheme; none stand for tolerances


def conservative() -> tuple[str, Descriptor, float, Callable[[Run], float], Plans]:
    """The spatial slider-crank: nothing is lost."""
    plans: Plans = {
        "Midpoint": (ph.Midpoint(), FINE),
        "MidpointGGL": (ph.MidpointGGL(), FINE),
        **{f"Composition {order}": (ph.Composition(order=order), COARSE) for order in (4, 6, 8)},
        "LobattoPair(3)": (ph.LobattoPair(3), COARSE[1:]),
        "Murua(3)": (ph.Murua(3), COARSE[:-1]),
        "RadauIIA(3)": (ph.RadauIIA(3), COARSE),
        "HEDOP5": (ph.HEDOP5(), COARSE[1:]),
        "DOP853": (ph.DOP853(), COARSE[:-1]),
        "GeneralizedAlpha": (ph.GeneralizedAlpha(0.9), FINE[:3]),
        "IDA, adaptive": (ph.IDA(), ()),
    }
    exact = slider_crank.REFERENCE["library"][0]
    return "conservative: slider-crank, 1 s", slider_crank.model().assemble(), 1.0, partial(_block, exact), plans


def _block(exact: float, run: Run) -> float:
    assert isinstance(run, ph.Trajectory)
    return abs(float(run["slider"].position[-1, 0]) - exact)


def damped() -> tuple[str, Descriptor, float, Callable[[Run], float], Plans]:
    """The flyball governor: struts that relax in 25 microseconds."""
    plans: Plans = {
        "Midpoint": (ph.Midpoint(), FINE),
        "MidpointGGL": (ph.MidpointGGL(), FINE),
        **{f"Composition {order}": (ph.Composition(order=order), FINE[:-1]) for order in (4, 6)},
        "Murua(2)": (ph.Murua(2), COARSE),
        "RadauIIA(3)": (ph.RadauIIA(3), COARSE),
        "BDF(2)": (ph.BDF(2), FINE[:3]),
        "GeneralizedAlpha": (ph.GeneralizedAlpha(0.5), FINE[:3]),
        "IDA, adaptive": (ph.IDA(), ()),
    }
    return "stiff and damped: governor, 0.5 s", governor.model().assemble(), 0.5, _arm, plans


def _arm(run: Run) -> float:
    assert isinstance(run, ph.Trajectory)
    return float(np.abs(governor.state(run)[-1] - (0.5538654315635, 0.3047906827184)).max())


def lagrangian() -> tuple[str, Descriptor, float, Callable[[Run], float], Plans]:
    """The car axis of the DAE test set: constraints that depend on time."""
    steps = (150, 300, 600)
    plans: Plans = {
        "Livens": (ph.Livens(), FINE[1:]),
        "Gauss(3)": (ph.Gauss(3), steps),
        "RadauIIA(3)": (ph.RadauIIA(3), steps),
        "RadauIIA(5)": (ph.RadauIIA(5), steps[:-1]),
        "DOP853": (ph.DOP853(), steps),
        "BDF(2)": (ph.BDF(2), FINE[1:4]),
        "IDA, adaptive": (ph.IDA(), ()),
        "RadauIIA(3), adaptive": (ph.RadauIIA(3), ()),
    }
    return "Lagrangian: car axis, 3 s", car_axis.model(), 3.0, _ends, plans


def _ends(run: Run) -> float:
    assert isinstance(run, ph.StateTrajectory)
    exact = (0.0493455784275403, 0.496989460230171, 1.04174252488542, 0.373911027265361)
    return float(np.abs(run.x[-1, :4] - exact).max())


def points(
    system: Descriptor, end: float, error: Callable[[Run], float], scheme: Contract, steps: tuple[int, ...]
) -> Array:
    """Wall times and errors (2, runs), of those that reach the end and are worth drawing."""
    found = []
    for step in [end / n for n in steps] or [ph.Adaptive(rtol, rtol / 100) for rtol in TOLERANCES]:
        march = partial(ph.simulate, system, scheme, step, end, progress=False)
        try:
            miss = error(march())
        except PorthosError:
            continue
        if FLOOR < miss < WORST:
            found.append((wall_time(march, SPARE), miss))
    return np.array(found).reshape(-1, 2).T


def style(name: str) -> dict[str, str]:
    """The same colour and marker for a family in all panels; compiled schemes have full lines, others broken ones."""
    family = name.split("(")[0].split(",")[0]
    k = FAMILIES.index(family)
    line = "-" if k < COMPILED else ":" if "adaptive" in name else "--"
    return {"color": PALETTE[k % len(PALETTE)], "marker": "osPX^vD<>*hdp8+"[k], "linestyle": line}


def draw() -> None:
    """Measure, and write both figures."""
    figure, axes = new_figure(columns=3, panel=(4.6, 5.0))
    for ax, problem in zip(axes, (conservative, damped, lagrangian), strict=True):
        title, system, end, error, plans = problem()
        for name, (scheme, steps) in plans.items():
            seconds, miss = points(system, end, error, scheme, steps)
            print(f"{title}: {name}: " + ", ".join(f"{t:.2g} s {e:.1e}" for t, e in zip(seconds, miss, strict=True)))
            ax.plot(seconds, miss, **style(name), label=name, markersize=5)
        ax.set_title(title, fontsize=10, color=INK)
        log_abscissa(ax)
        label(ax, "error of the positions at the end", "wall time [s]", log=True)
        ax.set_ylim(FLOOR, WORST)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=3, frameon=False, fontsize=8, labelcolor=INK)
    for name, one in {"schemes": figure, "compositions": composition.figures()["errors"]}.items():
        one.savefig(FOLDER / f"{name}.png", dpi=150)
        print(f"figure written to {FOLDER / name}.png")


if __name__ == "__main__":
    draw()
