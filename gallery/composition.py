"""High order without giving anything up: compositions of the midpoint rule on the fast heavy top.

The fast heavy top of `gallery.heavy_top` turns by 150 rad in a second. A step of a composition is 5, 9 or 17 substeps
of PH-MP-GGL, of sizes gamma_i h, some of them backwards in time, so that their errors cancel: order 4, 6 or 8. What a
substep keeps a step keeps: energy, the momentum about the vertical and both levels of the constraints stay at
round-off, with large steps and with small ones, at every order. No tolerance and no projection is involved.

With PH-MP as the base positions gain order 4, but velocities at the ends of steps do not: they leave the constraints by
O(h^2) in every substep. `run.projected()` puts them back, which gives them order 4, too.

Numbers: the centre of mass at t = 0.2 s with order 8; orders of all schemes; the largest change of what is kept,
relative to its size.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery import heavy_top
from gallery._common import Number, present
from porthos.integrate.scheme import Scheme
from porthos.notation import Array
from porthos.show import figures as show
from porthos.show.axes import INK, label, log_abscissa, new_figure
from porthos.study.timing import step_time

SCHEME = ph.Composition(ph.MidpointGGL(), order=8)
SCHEMES: dict[str, Scheme] = {"PH-MP-GGL": ph.MidpointGGL()} | {
    f"composed, order {order}": ph.Composition(ph.MidpointGGL(), order) for order in (4, 6, 8)
}
ORDERS = (2, 4, 6, 8)
PLACE = np.array([0.605550561377, 0.598957681795, -0.523983027430])  # at t = END, of the literature
END, STEPS = 0.2, (4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4)
FLOOR = 2e-12  # the digits of PLACE
BUDGET = 0.05  # s, for the timing of a run


@cache
def run(scheme: Scheme = SCHEME, step: float = 1e-3, end: float = END) -> ph.Trajectory:
    """Simulate the top."""
    return heavy_top.run(scheme, step, end)


def error(scheme: Scheme, step: float) -> float:
    """Distance of the centre of mass from that of the literature at the end."""
    return float(np.linalg.norm(run(scheme, step)["top"].position[-1] - PLACE))


def lost(one: ph.Trajectory) -> Array:
    """Largest changes of energy and of the momentum about the vertical, relative, and of both levels of constraints."""
    kept = one.energy, one.angular_momentum[:, 2]
    speed = np.abs(one.v).max()
    levels = one.position_error.max(), one.velocity_error.max() / speed
    return np.array([*(np.ptp(values) / np.abs(values).max() for values in kept), *levels])


def orders(errors: tuple[float, float]) -> float:
    """The order, from errors with a step and with half of it."""
    return float(np.log2(errors[0] / errors[1]))


def seconds(scheme: Scheme, step: float) -> float:
    """Of the march of a run, without what comes before and after it."""
    system = heavy_top.model().assemble()
    each, _ = step_time(lambda n: ph.simulate(system, scheme, step, n * step, every=n), BUDGET)
    return each * round(END / step)


def velocity_errors(step: float) -> Array:
    """Of compositions of order 4: of PH-MP, the same projected, and of PH-MP-GGL."""
    exact = run(SCHEME, STEPS[-1])["top"].velocity[-1]
    plain, both = (run(ph.Composition(base, 4), step) for base in (ph.Midpoint(), ph.MidpointGGL()))
    return np.array([np.abs(one["top"].velocity[-1] - exact).max() for one in (plain, plain.projected(), both)])


def number() -> Number:
    """Where the top is, orders of positions, orders of velocities by base, and the largest relative change of all."""
    velocities = [velocity_errors(h) for h in STEPS[2:4]]
    return {
        "x": run(SCHEME, 2e-3)["top"].position[-1],
        "orders": np.array([orders((error(one, STEPS[0]), error(one, STEPS[1]))) for one in SCHEMES.values()]),
        "bases": np.log2(np.divide(*velocities)),
        "lost": float(max(lost(run(one, h)).max() for one in SCHEMES.values() for h in STEPS[:3])),
    }


def figures() -> dict[str, Figure]:
    """Errors over step and wall time beside what is kept, velocities by base, and the motion."""
    together, (over_step, over_time, kept) = new_figure(columns=3, panel=(3.6, 3.2))
    for marker, (name, scheme) in zip("osD^", SCHEMES.items(), strict=True):
        errors = np.array([error(scheme, h) for h in STEPS])
        shown = errors > FLOOR
        over_step.plot(1e3 * np.array(STEPS)[shown], errors[shown], marker + "-", label=name, markersize=5)
        times = np.array([seconds(scheme, h) for h in STEPS])
        over_time.plot(1e3 * times[shown], errors[shown], marker + "-", markersize=5)
        kept.plot(1e3 * np.array(STEPS), [lost(run(scheme, h)).max() for h in STEPS], marker + "-", markersize=5)
    label(over_step, "error of the position [m]", "step $h$ [ms]", log=True)
    label(over_time, "error of the position [m]", "time of the march [ms]", log=True)
    label(kept, "largest relative change", "step $h$ [ms]", log=True)
    kept.annotate("energy, momentum, $g$ and $Gv$", (1.0, 1e-11), ha="center", fontsize=9, color=INK)
    for ax in (over_step, over_time, kept):
        log_abscissa(ax)
        ax.set_ylim(1e-16, 1e-1)
    for ax in (over_step, kept):
        ax.set_xticks([1e3 * h for h in STEPS], [f"{1e3 * h:g}" for h in STEPS])
        ax.minorticks_off()
    together.legend(loc="outside upper center", ncols=4, frameon=False, fontsize=9, labelcolor=INK)
    steps = STEPS[1:]
    by_base = np.array([velocity_errors(h) for h in steps]).T
    names = ("PH-MP", "PH-MP, projected", "PH-MP-GGL")
    top = heavy_top.run(SCHEME, 2e-3, 0.4)
    return {
        "errors": together,
        "velocities": show.convergence(steps, dict(zip(names, by_base, strict=True)), order=(2, 4)),
        "motion": show.motion(top, times=(0.0, 0.2, 0.4)),
    }


def main() -> None:
    """Print the summary and write the figures."""
    present("composition", run(), figures())


if __name__ == "__main__":
    main()
