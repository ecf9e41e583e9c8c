"""Two masses in a chain of springs, one of which tends to zero: what is left of it is an algebraic equation.

A small damper holds the light mass. It starts on the equation that is left for m2 = 0 (000, section 7.2.3).
"""

from __future__ import annotations

import porthos as ph
from porthos.examples import two_masses
from porthos.integrate.runge_kutta import RungeKutta

SCHEME = ph.RadauIIA(3)
DAMPING = 1e-4


def model(m2: float = 0.0) -> ph.LinearPHDAE:
    """The chain of `two_masses` with a second mass that is very light, or zero."""
    p1, p2 = 4.275, 15.0
    v2 = ((20 - p2) - (p2 - p1 - 10)) / DAMPING
    return two_masses.model(m2=m2, damping=(0.0, DAMPING), start=(p1, p2, 0.0, v2))


def run(scheme: RungeKutta = SCHEME, m2: float = 0.0, step: float = 0.01, end: float = 1.0) -> ph.StateTrajectory:
    """The free motion."""
    return ph.simulate(model(m2), scheme, step=step, end=end)
