"""Two masses between walls, three springs, dampers and a push, as a linear pH-DAE.

H = (m1 v1^2 + m2 v2^2)/2 + [k (p1 - 10)^2 + kc (p2 - p1 - 10)^2 + k (20 - p2)^2]/2,   k = 1,  kc = 1,  m1 = 1.

Gauss keeps the energy and the power balance, Lobatto IIIC and Radau IIA lose a little in every step; where m2 tends to
zero it is the other way round: they follow the algebraic equation that is left, Gauss does not. (000 prints forces of a
middle spring twice as stiff as its energy says; kc = 2 gives its motion.)
"""

from __future__ import annotations

from functools import cache

import numpy as np

import porthos as ph
from porthos.integrate.runge_kutta import RungeKutta

SCHEME = ph.Gauss(3)


def model(
    middle: float = 1.0,
    m2: float = 1.0,
    damping: tuple[float, float] = (0.0, 0.0),
    start: tuple[float, float, float, float] = (6.0, 24.0, 0.0, 0.0),
) -> ph.LinearPHDAE:
    """States (p1, p2, v1, v2); `middle` is the stiffness kc; the port 'push' acts on the first mass."""
    K = np.array([[1 + middle, -middle], [-middle, 1 + middle]])
    one, zero = np.eye(2), np.zeros((2, 2))
    return ph.LinearPHDAE(
        "two masses",
        J=np.block([[zero, one], [-one, zero]]),
        R=np.diag([0, 0, *damping]),
        Q=np.block([[K, zero], [zero, one]]),
        E=np.diag([1, 1, 1, m2]),
        B=[[0], [0], [1], [0]],
        states=["p1", "p2", "v1", "v2"],
        ports=["push"],
        rest=[10, 20, 0, 0],
        initial=start,
    )


@cache
def run(scheme: RungeKutta = SCHEME, step: float = 0.1, end: float = 200.0, every: int = 1) -> ph.StateTrajectory:
    """The free motion, without damping and push."""
    return ph.simulate(model(), scheme, step=step, end=end, every=every)
