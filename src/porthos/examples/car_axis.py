"""Car axis: a bar on two stiff springs, one end of the ground below it goes up and down.

The gallery has its equations, figures and numbers.
"""

from __future__ import annotations

from functools import cache

import sympy as sp

import porthos as ph
from porthos.integrate.state_scheme import StateScheme

EPS, MASS, LENGTH, REST = 1e-2, 10.0, 1.0, 0.5
HEIGHT, FREQUENCY, GRAVITY = 0.1, 10.0, 1.0  # of the ground below the right wheel; of the earth
INERTIA = MASS * EPS**2 / 2
SCHEME = ph.RadauIIA(5)


@cache
def model() -> ph.Lagrangian:
    """The Lagrangian with coordinates of both ends of the bar and of the foot of the right spring."""
    names = ("x_l", "y_l", "x_r", "y_r", "x_b", "y_b")
    q, v = (sp.symbols([f"{sign}{name}" for name in names], real=True) for sign in ("", "v_"))
    xl, yl, xr, yr, xb, yb = q
    T = INERTIA * sum(rate**2 for rate in v[:4]) / 2
    stretches = (sp.sqrt(xl**2 + yl**2) - REST, sp.sqrt((xr - xb) ** 2 + (yr - yb) ** 2) - REST)
    V = INERTIA * GRAVITY * (yl + yr) + sum(each**2 for each in stretches) / 2
    t = sp.Symbol("t")
    height = HEIGHT * sp.sin(FREQUENCY * t)
    constraints = [
        xl * xb + yl * yb,
        (xl - xr) ** 2 + (yl - yr) ** 2 - LENGTH**2,
        xb - sp.sqrt(LENGTH**2 - height**2),
        yb - height,
    ]
    start = ([0.0, 0.5, 1.0, 0.5, 1.0, 0.0], [-0.5, 0.0, -0.5, 0.0, 0.0, HEIGHT * FREQUENCY])
    return ph.Lagrangian(T - V, q, v, constraints=constraints, initial=start, name="car axis", time=t)


def run(scheme: StateScheme = SCHEME, step: float = 1e-2, end: float = 3.0) -> ph.StateTrajectory:
    """The motion of the test set."""
    return ph.simulate(model(), scheme, step=step, end=end)
