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
from porthos.notation import Array
from porthos.show.axes import label, legend, new_figure
from porthos.system.interconnect import Interconnection

SCHEME = ph.DiscreteGradient()
MASS, ARM, SIZE, GRAVITY = 1.5, 0.4, (0.05, 0.05, 0.8), 9.81
INERTIA = MASS * (SIZE[0] ** 2 + SIZE[2] ** 2) / 12 + MASS * ARM**2
STIFFNESS, DAMPING = 16.0 * INERTIA, 4.0 * INERTIA
TIMES = np.array([0.2, 0.4, 0.8])


def plant() -> ph.Model:
    """A bar that hangs on a hinge, with a torque port about its axis."""
    model = ph.Model("pendulum", gravity=(0, 0, -GRAVITY))
    model.body("bar", ph.Box(MASS, SIZE), position=(0, 0, -ARM))
    model.revolute("hinge", model.ground, "bar", at=(0, 0, 0), axis=(0, 1, 0))
    model.port("torque", "bar", kind="torque", direction=(0, 1, 0))
    return model


def controller() -> ph.GeneralPHDAE:
    """Its energy takes the weight away and puts a spring in its place; the damper is a feed-through."""
    weight = MASS * GRAVITY * ARM
    return ph.GeneralPHDAE(
        "controller",
        states=["angle"],
        ports=["rate"],
        H=lambda x: weight * np.cos(x[0]) + STIFFNESS / 2 * (x[0] - np.pi) ** 2,
        z=lambda x: [-weight * np.sin(x[0]) + STIFFNESS * (x[0] - np.pi)],
        B=[[1]],
        S=[[DAMPING]],
        initial=[0.0],
    )


def model() -> Interconnection:
    """Plant and controller in negative feedback."""
    return ph.interconnect(
        plant().assemble(), controller(), through=ph.Feedback("torque", "rate", name="loop"), name="energy shaping"
    )


def run(step: float = 0.02, end: float = 0.8) -> ph.StateTrajectory:
    """From rest, hanging."""
    return ph.simulate(model(), SCHEME, step=step, end=end)


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
