"""A pendulum that is made to stand upright: a controller that is itself a pH system shapes its energy through a port.

plant        J w' = -m g l sin(a) + u,   output w        (a rigid body on a hinge, assembled from words)
controller   xi' = w,   y = dH_c/dxi + d w,   H_c = m g l cos(xi) + k/2 (xi - pi)^2
feedback     u = -y:   with xi = a the sum of both energies is J/2 w^2 + k/2 (a - pi)^2 - m g l + ..., least upright.
"""

from __future__ import annotations

import numpy as np

import porthos as ph
from porthos.system.interconnect import Interconnection

SCHEME = ph.DiscreteGradient()
MASS, ARM, SIZE, GRAVITY = 1.5, 0.4, (0.05, 0.05, 0.8), 9.81
INERTIA = MASS * (SIZE[0] ** 2 + SIZE[2] ** 2) / 12 + MASS * ARM**2
STIFFNESS, DAMPING = 16.0 * INERTIA, 4.0 * INERTIA


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
