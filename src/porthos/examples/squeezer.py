"""Andrews' squeezer: seven bars in the plane in three closed loops, driven by a constant torque.

Seven angles q = (beta, Theta, gamma, Phi, delta, Omega, epsilon) and six constraints, three times that two ways to a
point agree; a spring of stiffness c0 and length l0 pulls the bar that turns with gamma. The crank beta starts at rest,
makes two and a half turns in 0.03 s and reaches 1140 rad/s: the problem of the DAE test set with index 3.

The work of the motor is torque (beta - beta0), so energy is checked too. L is given by the positions of the centres of
mass; SymPy finds the full mass matrix.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import sympy as sp

import porthos as ph
from porthos.integrate.state_scheme import StateScheme

NAMES = ("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon")
START = (
    -0.0617138900142764496,
    0.0,
    0.455279819163070380,
    0.222668390165885885,
    0.487364979543842550,
    -0.222668390165885885,
    1.23054744454982119,
)
MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)  # [kg]
INERTIAS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)  # [kg m^2]
A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)  # bearings, and the fixed end of the spring [m]
STIFFNESS, REST = 4530.0, 0.07785  # of the spring [N/m], [m]
TORQUE = 0.033  # [N m]
# lengths [m]
d, da, e, ea, rr, ra, ss = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092, 0.035
sa, sb, sc, sd, ta, tb = 0.01874, 0.01043, 0.018, 0.02, 0.02308, 0.00916
u, ua, ub, zf, zt, fa = 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421
SCHEME = ph.RadauIIA(4)


@cache
def model() -> ph.Lagrangian:
    """The Lagrangian, with the torque of the motor on beta as its port."""
    q, v = (sp.Matrix(sp.symbols(" ".join(f"{sign}{name}" for name in NAMES), real=True)) for sign in ("", "v_"))
    beta, theta, gamma, phi, delta, omega, epsilon = q

    def along(angle: Any) -> Any:
        return sp.Matrix([sp.cos(angle), sp.sin(angle)])

    def across(angle: Any) -> Any:
        return sp.Matrix([sp.sin(angle), -sp.cos(angle)])

    at_a, at_b, at_c = (sp.Matrix(point) for point in (A, B, C))
    crank = rr * along(beta)
    centres = (
        ra * along(beta),
        crank - da * along(beta + theta),
        at_b + sa * across(gamma) + sb * along(gamma),
        at_a + zt * along(delta) + (e - ea) * across(phi + delta),
        at_a + ta * across(delta) - tb * along(delta),
        at_a + u * across(epsilon) + (zf - fa) * along(omega + epsilon),
        at_a + ua * across(epsilon) - ub * along(epsilon),
    )
    turns = (beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon)
    T = 0
    for m, J, centre, turn in zip(MASSES, INERTIAS, centres, turns, strict=True):
        velocity, (rate,) = centre.jacobian(q) * v, sp.Matrix([turn]).jacobian(q) * v
        T += (m * sp.trigsimp(velocity.dot(velocity)) + J * rate**2) / 2
    spring = at_b + sd * along(gamma) + sc * across(gamma) - at_c
    V = STIFFNESS * (sp.sqrt(spring.dot(spring)) - REST) ** 2 / 2
    joint = crank - d * along(beta + theta)
    ways = (
        at_b + ss * across(gamma),
        at_a + zt * along(delta) + e * across(phi + delta),
        at_a + u * across(epsilon) + zf * along(omega + epsilon),
    )
    constraints = [row for way in ways for row in joint - way]
    return ph.Lagrangian(
        T - V,
        list(q),
        list(v),
        constraints=constraints,
        inputs={"motor": [1, 0, 0, 0, 0, 0, 0]},
        initial=(START, np.zeros(7)),
        name="squeezer",
    )


def run(scheme: StateScheme = SCHEME, step: float = 5e-5, end: float = 0.03) -> ph.StateTrajectory:
    """From rest with the full torque."""
    return ph.simulate(model(), scheme, step=step, end=end, inputs={"motor": TORQUE})
