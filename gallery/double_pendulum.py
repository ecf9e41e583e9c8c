"""Plane double pendulum of two bars on revolute joints: a chaotic motion in 24 redundant coordinates.

Bars of mass m = 1, length l = 1 and square section 0.05 hang on each other by parallel hinges. With angles a, b from
the vertical and J = m (l^2 + 0.05^2)/12,

T = (J + m l^2/4 + m l^2) a'^2/2 + (J + m l^2/4) b'^2/2 + m l^2/2 a' b' cos(a - b),
V = -m g l (3/2 cos a + 1/2 cos b).

Both bars start at rest and horizontal (a = b = 90 degrees), so the energy is 0.

Numbers, from these equations of motion: free end (x, z) = (-1.662764118133, -1.041247516906) at t = 1 and
(0.309568481192, -1.916211723195) at t = 2.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery._common import SCHEMES, Number, extrapolated, present
from porthos.integrate.scheme import Scheme
from porthos.model.bodies import Part
from porthos.notation import Array
from porthos.show import figures as show
from porthos.show.axes import INK, dress

SCHEME = ph.MidpointGGL()
MASS, LENGTH, WIDTH, GRAVITY = 1.0, 1.0, 0.05, 9.81
TIMES = (1.0, 2.0)


def model(first: float = np.pi / 2, second: float = np.pi / 2) -> ph.Model:
    """Two bars at rest, at angles (radians) from the downward vertical."""
    pendulum = ph.Model("double pendulum", gravity=(0, 0, -GRAVITY))
    e2, hinge = np.array([0.0, 1.0, 0.0]), np.zeros(3)
    before: Part = pendulum.ground
    for name, angle in (("upper bar", first), ("lower bar", second)):
        along = LENGTH * np.array([np.sin(angle), 0.0, -np.cos(angle)])
        shape = ph.Box(MASS, (WIDTH, WIDTH, LENGTH))
        bar = pendulum.body(name, shape, position=hinge + along / 2, rotation=(e2, -angle))
        pendulum.revolute(f"hinge of the {name}", before, bar, at=hinge, axis=e2)
        before, hinge = bar, hinge + along
    return pendulum


def run(scheme: Scheme = SCHEME, step: float = 2e-3, end: float = 5.0) -> ph.Trajectory:
    """Simulate the pendulum; every state is kept."""
    return ph.simulate(model(), scheme, step=step, end=end)


def free_end(run: ph.Trajectory) -> Array:
    """(x, z) of the free end of the lower bar (T, 2)."""
    return run["lower bar"].point(np.array([0.0, 0.0, -LENGTH / 2]))[:, [0, 2]]


def number(scheme: Scheme = SCHEME, step: float = 1e-3) -> Number:
    """(x, z) of the free end at t = 1 and t = 2 (2, 2), extrapolated from two runs, and the energy at the end."""
    coarse, fine = (run(scheme, h, end=TIMES[-1]) for h in (step, step / 2))
    places = [free_end(one)[[round(t / one.t[1]) for t in TIMES]] for one in (coarse, fine)]
    return {"end": extrapolated(*places), "H": float(fine.energy[-1])}


def figures() -> dict[str, Figure]:
    """Path of the free end, motion and balances."""
    runs = {name: run(scheme, step=5e-3) for name, scheme in SCHEMES.items()}
    swing = runs["PH-MP-GGL"]
    return {
        "path": _path(swing),
        "motion": show.motion(swing, times=(0.0, 0.25, 0.5, 0.75), paths=False),
        "energy": show.energy(swing),
        "energy_error": show.energy_error(swing),
        "constraint_errors": show.constraint_errors(runs),
    }


def _path(swing: ph.Trajectory) -> Figure:
    """The path of the free end in the plane of the motion."""
    figure = Figure(figsize=(4.4, 4.0), layout="constrained", dpi=150)
    ax = figure.add_subplot()
    dress(ax)
    ax.plot(*free_end(swing).T, linewidth=1.0)
    ax.plot(0.0, 0.0, "^", color=INK, markersize=6)
    ax.set(xlabel="$x$ [m]", ylabel="$z$ [m]", aspect="equal")
    return figure


def main() -> None:
    """Print the summary and write the figures."""
    present("double_pendulum", run(), figures())


if __name__ == "__main__":
    main()
