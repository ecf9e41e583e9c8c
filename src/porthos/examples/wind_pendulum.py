"""A pendulum in viscous air that flows: the wind once as a port, once as a potential.

m v' = -m g e_y - kappa v + m alpha e_x - G^T lambda,   0 = G v,   G = (x, y)
port        H = m/2 v.v + m g y,               u = m alpha e_x,  y = v: its work is recorded
potential   H = m/2 v.v + m g y - m alpha x,   no input: the same motion, another energy

(000 prints J with [G 0 0] and the input alpha; it is [0 G 0], and the force of the wind is m alpha.)
"""

from __future__ import annotations

from typing import Literal

import numpy as np

import porthos as ph
from porthos.notation import Array

SCHEME = ph.RadauIIA(3)
MASS, LENGTH, GRAVITY, VISCOSITY, WIND = 2.0, 1.5, 9.81, 0.3, 4.0
Form = Literal["port", "potential"]


def model(form: Form = "port") -> ph.GeneralPHDAE:
    """States: position, velocity and the multiplier of the rod."""
    blown = 0.0 if form == "port" else MASS * WIND  # slope of the potential of the wind

    def J(x: Array) -> Array:
        matrix = np.zeros((5, 5))
        matrix[:2, 2:4], matrix[2:4, :2] = np.eye(2), -np.eye(2)
        matrix[2:4, 4], matrix[4, 2:4] = -x[:2], x[:2]
        return matrix

    start = np.array([LENGTH, 0.0, 0.0, 0.0, 0.0])
    start[4] = MASS * WIND / LENGTH  # x.x'' = 0 at rest
    return ph.GeneralPHDAE(
        f"pendulum in wind ({form})",
        states={"position": 2, "velocity": 2, "rod": 1},
        ports={"wind": 2} if form == "port" else 0,
        H=lambda x: MASS / 2 * x[2:4] @ x[2:4] + MASS * GRAVITY * x[1] - blown * x[0],
        z=lambda x: [-blown, MASS * GRAVITY, x[2], x[3], x[4]],
        E=np.diag([1, 1, MASS, MASS, 0]),
        J=J,
        R=np.diag([0, 0, VISCOSITY, VISCOSITY, 0]),
        B=np.eye(5)[:, 2:4] if form == "port" else None,
        initial=start,
    )


def run(form: Form = "port", step: float = 0.02, end: float = 4.0) -> ph.StateTrajectory:
    """Released at rest with the rod level; the wind blows all the time."""
    inputs = {"wind": (MASS * WIND, 0.0)} if form == "port" else None
    return ph.simulate(model(form), SCHEME, step=step, end=end, inputs=inputs)
