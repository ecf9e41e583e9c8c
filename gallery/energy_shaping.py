"""A pendulum that is made to stand upright: a controller that is itself a pH system shapes its energy through a port.

plant        J w' = -m g l sin(a) + u,   output w        (a rigid body on a hinge, assembled from words)
controller   xi' = w,   y = dH_c/dxi + d w,   H_c = m g l cos(xi) + k/2 (xi - pi)^2
feedback     u = -y:   with xi = a the sum of both energies is J/2 w^2 + k/2 (a - pi)^2 - m g l + ..., least upright.

Number: what is left is the linear oscillator J a'' + d a' + k (a - pi) = 0, a(0) = 0, a'(0) = 0.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery._common import Number, extrapolated, present
from porthos.examples.energy_shaping import DAMPING, INERTIA, STIFFNESS, run
from porthos.examples.energy_shaping import model as model
from porthos.notation import Array
from porthos.show.axes import label, legend, new_figure

TIMES = np.array([0.2, 0.4, 0.8])


def angle(run: ph.StateTrajectory) -> Array:
    """The angle of the bar from the downward vertical (T,)."""
    centre = run["pendulum: q of 'bar'"][:, :3]
    return np.unwrap(np.arctan2(-centre[:, 0], -centre[:, 2]))


def exact(t: Array) -> Array:
    """a = pi (1 - exp(-s t) (cos(w t) + s/w sin(w t))), s = d/2J, w^2 = k/J - s^2."""
    s = DAMPING / (2 * INERTIA)
    w = np.sqrt(STIFFNESS / INERTIA - s**2)
    return np.pi * (1 - np.exp(-s * t) * (np.cos(w * t) + s / w * np.sin(w * t)))


def number(step: float = 0.02) -> Number:
    """Angles at three times, extrapolated to a step of zero, and the defect of the power balance."""
    runs = [run(h) for h in (step, step / 2)]
    coarse, fine = (angle(one)[np.rint(TIMES / h).astype(int)] for one, h in zip(runs, (step, step / 2), strict=True))
    return {"angle": extrapolated(coarse, fine), "balance": float(np.abs(runs[0].power_balance).max())}


def figures() -> dict[str, Figure]:
    """The angle, and how the energy of plant and controller together falls."""
    one = run(step=0.04, end=2.0)
    motion, axes = new_figure(2)
    axes[0].plot(one.t, angle(one), label="bar")
    axes[0].plot(one.t, exact(one.t), "--", label="exact")
    label(axes[0], "angle [rad]")
    legend(axes[0])
    for name, part in one.system.parts.items():
        energy = np.array([part.H(one.system.part_state(name, x)) for x in one.x])
        axes[1].plot(one.t, energy - energy[0], label=name)
    axes[1].plot(one.t, one.H - one.H[0], label="sum")
    label(axes[1], "change of energy [J]")
    legend(axes[1])
    return {"motion": motion}


def main() -> None:
    """Print the summary and write the figures."""
    present("energy_shaping", run(), figures())


if __name__ == "__main__":
    main()
