"""The Lorenz equations as a pH system: what is conserved, what is lost, and what drives them.

x' = sigma (y - x),  y' = rho x - y - x z,  z' = x y - beta z;   with w = z - rho - sigma and H = (x^2 + y^2 + w^2)/2
J = [0 sigma 0; -sigma 0 -x; 0 x 0],   R = diag(sigma, 1, beta),   B = e_3,   u = -beta (rho + sigma).

The convection turns energy over (J), friction and conduction lose it (R), the heating is a port: dH/dt = y u - z.R z.
So H falls wherever it is large, and the attractor is bounded.
"""

from __future__ import annotations

import numpy as np

import porthos as ph

SCHEME = ph.Gauss(4)
SIGMA, RHO, BETA = 10.0, 28.0, 8.0 / 3.0
SHIFT = RHO + SIGMA
START = (1.0, 1.0, 20.0)  # x, y, z


def model() -> ph.GeneralPHDAE:
    """States (x, y, w); the port 'heating' gets -beta (rho + sigma)."""
    return ph.GeneralPHDAE(
        "Lorenz",
        states=["x", "y", "w"],
        ports=["heating"],
        H=lambda x: 0.5 * x @ x,
        z=lambda x: x,
        J=lambda x: [[0, SIGMA, 0], [-SIGMA, 0, -x[0]], [0, x[0], 0]],
        R=np.diag([SIGMA, 1, BETA]),
        B=[[0], [0], [1]],
        initial=(START[0], START[1], START[2] - SHIFT),
    )


def run(step: float = 0.01, end: float = 20.0) -> ph.StateTrajectory:
    """From (1, 1, 20)."""
    return ph.simulate(model(), SCHEME, step=step, end=end, inputs={"heating": -BETA * SHIFT})
