"""Partitioned methods on a pendulum and on a double pendulum: what becomes of energy and constraints.

M v' = M g - G^T lambda,   g(q) = 0,   G v = 0.

The double pendulum of 000, section 7.3: rods of 1 m and 5 m with equal masses, the first one thrown upwards with
10 m/s. `LobattoPair(s)` is symplectic: the error of energy does not grow and is O(h^(2s - 2)). Both constraints hold
to round-off. `Murua(s)` keeps G v = 0 at all steps, while g is wrong by O(h^(2s)); with the stabilisation of Gear,
Gupta and Leimkuhler (`ggl=True`) both hold. It is symmetric but not symplectic: the error of energy is O(h^(2s)), and
does not grow on the pendulum, whose motion is periodic.

The long experiment is that of section 7.3.1: three stages, rods of 1 m from rest in a horizontal line, one mass of
1 kg, and masses of 3 and 1 kg, 240 s. There the energy of `LobattoPair` sinks on the pendulum, that of `Murua` rises on
it and sinks on the double pendulum. That is not of the methods: here mean energies stay, and so does the error of
positions of `Murua`; only with GGL, on the chaotic double pendulum, the mean wanders within its bound. With the step of
the document, 0.01 s, the largest errors of energy are 5.7e-8, 8.1e-12 and 7.1e-12 J on the pendulum, 1.7e-5, 3.3e-8 and
3.5e-8 J on the double pendulum (`LobattoPair`, `Murua`, with GGL; its figures show some 1e-8 and 1e-5 J). The steps
below are longer, which takes less time.

Numbers: orders and growth of the error of energy of the pendulum, the largest violations of constraints of both; the
same of the long experiment.
"""

from __future__ import annotations

from functools import cache

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
LONG = {"Lobatto pair": ph.LobattoPair(3), "Murua": ph.Murua(3), "Murua, GGL": ph.Murua(3, ggl=True)}
LONG_MASSES, LONG_STEPS, LONG_END = ((1.0,), (3.0, 1.0)), (0.05, 0.025), 240.0
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


@cache
def long(name: str, bodies: int) -> ph.Trajectory:
    """The experiment of 000, section 7.3.1, with one of the methods of `LONG` on a pendulum of one or two bodies."""
    chain, before = ph.Model(f"pendulum of {bodies}", gravity=(0, 0, -9.81)), "ground"
    for k, mass in enumerate(LONG_MASSES[bodies - 1]):
        chain.point_mass(f"mass{k}", mass, position=(k + 1, 0, 0))
        chain.distance(f"rod{k}", before, f"mass{k}", point_a=(k, 0, 0), point_b=(k + 1, 0, 0))
        before = f"mass{k}"
    return ph.simulate(chain, LONG[name], step=LONG_STEPS[bodies - 1], end=LONG_END)


def quarters(values: Array) -> Array:
    """The last quarter of a run, and its first (2, T/4)."""
    share = values.size // 4
    return np.array([values[-share:], values[1 : share + 1]])


def long_number() -> Number:
    """Of the pendulum and the double pendulum, by all methods of `LONG`."""
    runs = [[long(name, bodies) for name in LONG] for bodies in (1, 2)]
    errors = np.array([[energy_errors(one).max() for one in each] for each in runs])
    means = [[np.subtract(*quarters(one.energy).mean(axis=1)) for one in each] for each in runs]
    growth = [[np.divide(*quarters(energy_errors(one)).max(axis=1)) for one in each] for each in runs]
    return {
        "long_energy": errors,
        "long_drift": np.array(means) / errors,
        "long_growth": np.array(growth),
        "long_gap": np.array([np.divide(*quarters(murua.position_error).max(axis=1)) for _, murua, _ in runs]),
        "long_positions": np.array([one.position_error.max() for pair, _, ggl in runs for one in (pair, ggl)]),
        "long_velocities": np.array([one.velocity_error.max() for each in runs for one in each]),
    }


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
        **long_number(),
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
    return {**result, "long_energy": long_figure()}


def long_figure() -> Figure:
    """Errors of energy of the long experiment: the largest, and the mean, of every 10 s."""
    figure, axes = new_figure(2)
    for ax, bodies, what in zip(axes, (1, 2), ("pendulum", "double pendulum"), strict=True):
        for k, name in enumerate(LONG):
            one = long(name, bodies)
            window = round(10 / LONG_STEPS[bodies - 1])
            spans = energy_errors(one)[1:].reshape(-1, window)
            ax.plot(one.t[window::window], spans.max(axis=1), color=f"C{k}", label=name)
            means = np.abs((one.energy - one.energy[0])[1:].reshape(-1, window).mean(axis=1))
            ax.plot(one.t[window::window], means, ":", color=f"C{k}", label=f"{name}, mean")
        label(ax, f"{what}: $|H - H(0)|$ [J]", log=True)
    legend(axes[0], columns=2, outside=True)
    return figure


def main() -> None:
    """Print the summary and write the figures."""
    present("partitioned_methods", run(), figures())


if __name__ == "__main__":
    main()
