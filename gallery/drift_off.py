"""How constraints that are not among the equations drift away, and what stops it (002, section 4.2).

Two masses of 1 kg on rods of 1 m swing by 5 degrees for 200 s. Errors of the steps push positions off g = 0:

index 1, g'' = 0: |g| grows like t^2, |G v| like t.   index 2, G v = 0: |g| grows like t.

Baumgarte's g'' + 2 a g' + a^2 g = 0 keeps both bounded. The rate a has to be of the size of the motion, 2 to 5 per
second here; the tempting a = 1/h makes the equations stiff for the step, and |g| hundreds of times larger. Putting
positions back alone leaves G v drifting; the projection of `MDOP5()` moves both and leaves round-off.

Numbers: exponents of the growth of means over 10 s; how many decades a = 1/h is worse than a = 3.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery._common import Number, write_figures
from porthos.notation import Array
from porthos.show.axes import INK, label, legend, log_abscissa, new_figure

GRAVITY, AMPLITUDE = 9.81, np.radians(5.0)
STEP, END = 0.08, 200.0
FINE, SHORT = 0.05, 20.0  # of the stabilised forms, which do not drift
INDEX_1, INDEX_2 = ph.MDOP5("index 1"), ph.HEDOP5()
RATES = (1.0, 3.0, 5.0, 1 / FINE)  # of Baumgarte
FLOOR = 1e-17  # what is smaller is drawn here


def model() -> ph.Model:
    """Both rods in one line, at rest."""
    along = np.array([np.sin(AMPLITUDE), 0.0, -np.cos(AMPLITUDE)])
    pendulum = ph.Model("double pendulum", gravity=(0, 0, -GRAVITY))
    for k, (name, rod) in enumerate((("first", "upper rod"), ("second", "lower rod"))):
        pendulum.point_mass(name, 1.0, position=(k + 1) * along)
        pendulum.distance(rod, ("ground", "first")[k], name, point_a=k * along, point_b=(k + 1) * along)
    return pendulum


@cache
def run(
    scheme: ph.MDOP5 | ph.HEDOP5 = INDEX_1, step: float = STEP, end: float = END
) -> ph.Trajectory:  # fmt: skip
    """Simulate the pendulum."""
    return ph.simulate(model(), scheme, step=step, end=end)


@cache
def positions_only(step: float = STEP, end: float = 100.0) -> tuple[Array, Array, Array]:
    """Times, g and G v of index 1, with positions put back onto g = 0 after each step and velocities left alone."""
    system = model().assemble()
    x, gaps = system.initial_state(), [np.zeros((2, 2))]
    for k in range(round(end / step)):
        x = INDEX_1.step(system, step, x, t=k * step).x
        q, v = x[: system.n], x[system.n : 2 * system.n]
        G = system.G(q).toarray()
        q -= G.T @ np.linalg.solve(G @ G.T, system.g(q))  # all masses are 1
        gaps.append(np.array([system.g(q), system.G(q) @ v]))
    return step * np.arange(len(gaps)), *np.array(gaps).transpose(1, 0, 2)


def gaps(one: ph.Trajectory) -> tuple[Array, Array, Array]:
    """Times, g and G v (T, 2) of a run."""
    system = one.system
    rates = [system.G(q) @ v for q, v in zip(one.q, one.v, strict=True)]
    return one.t, np.array([system.g(q) for q in one.q]), np.array(rates)


def largest(rate: float) -> float:
    """The largest |g| with Baumgarte's rate."""
    return float(run(ph.MDOP5("Baumgarte", alpha=rate), FINE, SHORT).position_error.max())


def exponent(t: Array, values: Array, window: float = 10.0) -> float:
    """p of values ~ t^p, from their means over windows: what oscillates with the pendulum does not drift."""
    ends = np.searchsorted(t, np.arange(window, t[-1] + window / 2, window))
    means = [np.abs(values[i:k].mean(axis=0)).max() for i, k in pairwise([0, *ends])]
    middle = [t[i:k].mean() for i, k in pairwise([0, *ends])]
    return float(np.polyfit(np.log(middle[1:]), np.log(means[1:]), 1)[0])


def number() -> Number:
    """Exponents of g (index 1, 2) and of G v (index 1, positions put back), and by how many decades 1/h is worse."""
    (t, g, rate), second, back = gaps(run()), gaps(run(INDEX_2)), positions_only()
    best, tempting = (largest(a) for a in (3.0, 1 / FINE))
    return {
        "positions": np.array([exponent(t, g), exponent(*second[:2])]),
        "velocities": np.array([exponent(t, rate), exponent(back[0], back[2])]),
        "worse": float(np.log10(tempting / best)),
    }


def figures() -> dict[str, Figure]:
    """Both levels of the constraints over time in all forms, and the choice of Baumgarte's rate."""
    runs: dict[str, tuple[Array, Array, Array]] = {
        name: gaps(one)
        for name, one in {
            "index 1": run(),
            "index 2": run(INDEX_2),
            "Baumgarte, $a = 3$": run(ph.MDOP5("Baumgarte", alpha=3.0), FINE, SHORT),
            "projection of both": run(ph.MDOP5(), FINE, SHORT),
        }.items()
    }
    runs["positions put back"] = positions_only()
    result = {}
    for k, (name, text) in enumerate({"positions": "$|g|$ [m$^2$]", "velocities": "$|Gv|$ [m$^2$/s]"}.items(), 1):
        figure, (ax,) = new_figure()
        for kind, one in runs.items():
            ax.plot(one[0][1:], np.maximum(np.abs(one[k][1:]).max(axis=1), FLOOR), label=kind, linewidth=1.0)
        t = np.array([5.0, END])
        for power in (2, 1) if k == 1 else (1,):
            ax.plot(t, {1: 3e-8, 2: 3e-9}[power] * t**power, "--", color=INK, linewidth=0.8)
            ax.annotate(f"$t^{power}$", (END, {1: 3e-8, 2: 3e-9}[power] * END**power), fontsize=9, color=INK)
        log_abscissa(ax)
        label(ax, text, log=True)
        legend(ax, columns=2, outside=True)
        result[name] = figure
    rate, (ax,) = new_figure()
    worst = [largest(a) for a in RATES]
    ax.plot(RATES, worst, "o-")
    log_abscissa(ax)
    ax.annotate("$a = 1/h$", (RATES[-1], worst[-1]), xytext=(-38, -4), textcoords="offset points", fontsize=9)
    label(ax, "largest $|g|$ until 20 s [m$^2$]", "Baumgarte's rate $a$ [1/s]", log=True)
    return result | {"rate": rate}


def main() -> None:
    """Print the exponents and write the figures."""
    for name, value in number().items():
        print(f"{name:11} {value}")
    for path in write_figures("drift_off", figures()):
        print(f"figure written to {path}")


if __name__ == "__main__":
    main()
