"""A mass on a nonlinear spring in spherical coordinates: M(q) = m diag(1, r^2, r^2 sin^2 theta).

V = EA e^2/2,   e = (r^2 - l0^2)/(2 l0^2),   m = 1,  EA = 300,  l0 = 1;  q = (1.05, pi/2, 0) and v = (0, 1, 1) at t = 0.

The generalised energy p.v - L is exact, the energy only as good as p = M v: 2.9e-4 with h = 0.01. The angle phi is
cyclic and its momentum exact, because corrections are restricted to the coordinates on which L depends.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

import porthos as ph

SCHEME = ph.Livens()
PARAMETERS = {"m": 1.0, "EA": 300.0, "l_0": 1.0}


def model() -> ph.Lagrangian:
    """The Lagrangian with coordinates (r, theta, phi)."""
    r, theta, phi, vr, vt, vp = sp.symbols("r theta phi v_r v_theta v_phi", real=True)
    m, EA, rest = (sp.Symbol(name) for name in PARAMETERS)
    T = m * (vr**2 + r**2 * vt**2 + r**2 * sp.sin(theta) ** 2 * vp**2) / 2
    V = EA * ((r**2 - rest**2) / (2 * rest**2)) ** 2 / 2
    start = ([1.05, np.pi / 2, 0.0], [0.0, 1.0, 1.0])
    return ph.Lagrangian(
        T - V, [r, theta, phi], [vr, vt, vp], parameters=PARAMETERS, initial=start, name="spring pendulum"
    )


def run(scheme: ph.Livens = SCHEME, step: float = 0.01, end: float = 1.0) -> ph.LagrangianTrajectory:
    """The motion of 003, with its step."""
    result = ph.simulate(model(), scheme, step=step, end=end)
    assert isinstance(result, ph.LagrangianTrajectory)
    return result
