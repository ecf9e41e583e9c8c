"""Partitioned methods on a pendulum and on a double pendulum: what becomes of energy and constraints.

M v' = M g - G^T lambda,   g(q) = 0,   G v = 0.

The double pendulum of 000, section 7.3: rods of 1 m and 5 m with equal masses, the first one thrown upwards with
10 m/s. `LobattoPair(s)` is symplectic: the error of energy does not grow and is O(h^(2s - 2)). Both constraints hold
to round-off. `Murua(s)` keeps G v = 0 at all steps, while g is wrong by O(h^(2s)); with the stabilisation of Gear,
Gupta and Leimkuhler (`ggl=True`) both hold. It is symmetric but not symplectic: the error of energy is O(h^(2s)), and
does not grow on the pendulum, whose motion is periodic.

Numbers: orders and growth of the error of energy of the pendulum, the largest violations of constraints of both.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery import pendulum
from gallery._common import Number, present
from porthos.integrate.scheme import Scheme
from porthos.notation import Array
from porthos.show.axes import label, legend, new_figure

SCHEME = ph.LobattoPair(3)
SCHEMES = {
    "Lobatto pair, s = 2": ph.LobattoPair(2),
    "Lobatto pair, s = 3": SCHEME,
    "Murua, s = 2": ph.Murua(2),
    "Murua, s = 2, GGL": ph.Murua(2, ggl=True),
}
STEP, END = 0.04, 4.8
FLOOR = 1e-17  # what is smaller is drawn here


def model() -> ph.Model:
    """Two equal masses on rods of 1 m and 5 m, in a horizontal line."""
    double = ph.Model("double pendulum of point masses", gravity=(0, 0, -9.81))
    double.point_mass("elbow", 1.0, position=(1, 0, 0), velocity=(0, 0, 10))
    double.point_mass("tip", 1.0, position=(6, 0, 0))
    double.distance("upper rod", "ground", "elbow", point_a=(0, 0, 0), point_b=(1, 0, 0))
    double.distance("lower rod", "elbow", "tip", point_a=(1, 0, 0), point_b=(6, 0, 0))
    return double


def run(scheme: Scheme = SCHEME, step: float = 0.01, end: float = 3.0) -> ph.Trajectory:
    """The double pendulum turns over."""
    return ph.simulate(model(), scheme, step=step, end=end)


def swing(scheme: Scheme, step: float = STEP, end: float = END) -> ph.Trajectory:
    """The pendulum of `gallery.pendulum`, over two periods."""
    return pendulum.run(scheme, step, end)


def energy_errors(one: ph.Trajectory) -> Array:
    """|H - H(0)| at each time."""
    return np.abs(one.energy - one.energy[0])


def number() -> Number:
    """Of all schemes: orders of the error of energy, the second half's over the first's, and what constraints miss."""
    pairs = [(swing(scheme), swing(scheme, STEP / 2)) for scheme in SCHEMES.values()]
    doubles = [run(scheme, step=0.02, end=2.0) for scheme in SCHEMES.values()]
    errors = np.array([[energy_errors(one).max() for one in pair] for pair in pairs])
    fine = np.array([energy_errors(fine) for _, fine in pairs])
    half = fine.shape[1] // 2
    runs = [(coarse, double) for (coarse, _), double in zip(pairs, doubles, strict=True)]
    held = [one for name, both in zip(SCHEMES, runs, strict=True) if name != "Murua, s = 2" for one in both]
    return {
        "orders": np.log2(errors[:, 0] / errors[:, 1]),
        "growth": fine[:, half:].max(axis=1) / fine[:, :half].max(axis=1),
        "positions": np.array([one.position_error.max() for one in held]),
        "velocities": np.array([one.velocity_error.max() for both in runs for one in both]),
    }


def figures() -> dict[str, Figure]:
    """Errors of energy and violations of both constraints: the pendulum above, the double pendulum below."""
    runs = {name: (swing(scheme), run(scheme, step=0.02)) for name, scheme in SCHEMES.items()}
    drawn = {
        "energy": ("energy error [J]", energy_errors),
        "position": ("$|g|$ [m$^2$]", lambda one: one.position_error),
        "velocity": ("$|Gv|$ [m$^2$/s]", lambda one: one.velocity_error),
    }
    result = {}
    for key, (text, values) in drawn.items():
        figure, axes = new_figure(2)
        for ax, of, what in zip(axes, (0, 1), ("pendulum", "double pendulum"), strict=True):
            for name, both in runs.items():
                ax.plot(both[of].t[1:], np.maximum(values(both[of])[1:], FLOOR), label=name)
            label(ax, f"{what}: {text}", log=True)
        legend(axes[0], columns=2, outside=True)
        result[key] = figure
    return result


def main() -> None:
    """Print the summary and write the figures."""
    present("partitioned_methods", run(), figures())


if __name__ == "__main__":
    main()
