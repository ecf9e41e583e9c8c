"""The simple pendulum in four formulations: which constraint holds, which one drifts, and what becomes of energy.

index 3: g(q) = 0.   index 2: G v = 0, the pH-DAE (24).   GGL: both.   index 1: neither, the pH-DAE (61).

Constraints that are among the equations hold to round-off at the ends of steps of Radau IIA (000, sections 4.4 and
7.3). Of the others, G v is wrong by O(h^s) in index 3, and g drifts in index 2 and index 1. Gauss, which is not stiffly
accurate, keeps g and energy on (24) all the same: both are quadratic.

Numbers: the exact solution of `gallery.pendulum`, elliptic functions.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery import pendulum
from gallery._common import Number, write_figures
from porthos.examples import pendulum_forms
from porthos.examples.pendulum_forms import RADAU
from porthos.examples.pendulum_forms import model as model
from porthos.integrate.runge_kutta import RungeKutta
from porthos.notation import Array
from porthos.show.axes import label, legend, new_figure

GAUSS = ph.Gauss(3)
FORMS = ("index 3", "index 2", "GGL", "index 1")
FLOOR = 1e-17  # what is smaller is drawn here


def run(form: str = "GGL", scheme: RungeKutta = RADAU, step: float = 0.05, end: float = 2.0) -> dict[str, Array]:
    """Times t, coordinates q, velocities v, energies H, and largest violations |g| and |G v| at each time."""
    system, result = pendulum.model().assemble(), pendulum_forms.run(form, scheme, step, end)
    if isinstance(result, ph.Trajectory):  # index 2 is the mechanical system itself
        q, v = result.q, result.v
    else:
        q, v = result.x[:, : system.n], result.x[:, system.n : 2 * system.n]
    zero = np.zeros(system.m)
    return {
        "t": result.t,
        "q": q,
        "v": v,
        "H": np.array([system.H(np.concatenate([*pair, zero])) for pair in zip(q, v, strict=True)]),
        "g": np.array([np.abs(system.g(each)).max() for each in q]),
        "Gv": np.array([np.abs(system.G(each) @ rate).max() for each, rate in zip(q, v, strict=True)]),
    }


def number(step: float = 0.05) -> Number:
    """Distance from the exact solution until t = 2, for every formulation with Radau IIA, and Gauss on (24)."""

    def distance(one: dict[str, Array]) -> float:
        return float(np.abs(one["q"][:, [0, 2]] - pendulum.exact(one["t"])).max())

    return {form: distance(run(form, step=step)) for form in FORMS} | {"Gauss": distance(run("index 2", GAUSS, step))}


def figures() -> dict[str, Figure]:
    """Violations of both constraints and the error of energy over time."""
    runs = {form: run(form) for form in FORMS} | {"index 2, Gauss": run("index 2", GAUSS)}
    drawn = {"g": "position level $|g|$ [m$^2$]", "Gv": "velocity level $|Gv|$ [m$^2$/s]", "H": "energy error [J]"}
    result = {}
    for key, text in drawn.items():
        figure, (ax,) = new_figure()
        for name, one in runs.items():
            values = one[key] - (one[key][0] if key == "H" else 0.0)
            ax.plot(one["t"], np.maximum(np.abs(values), FLOOR), label=name)
        label(ax, text, log=True)
        legend(ax, columns=3, outside=True)
        result[{"g": "position", "Gv": "velocity", "H": "energy"}[key]] = figure
    return result


def main() -> None:
    """Print the distances from the exact solution and write the figures."""
    for name, value in number().items():
        print(f"{name:12} largest distance from the exact solution {value:.2e} m")
    for path in write_figures("pendulum_forms", figures()):
        print(f"figure written to {path}")


if __name__ == "__main__":
    main()
