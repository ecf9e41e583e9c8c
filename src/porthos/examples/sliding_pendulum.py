"""A pendulum whose support slides along a rail: M(phi) with a gyroscopic term, singular if the support has no mass.

L = (m_s + m) s'^2/2 + m l s' phi' cos phi + m l^2 phi'^2/2 + m g l cos phi,   det M = m l^2 (m_s + m sin^2 phi).

The rail is smooth, so the momentum along it is that of a cyclic coordinate. If the support has no mass, the rod
transmits no force: released at rest, the bob falls freely, l cos phi = l cos phi0 + g t^2/2, and M is singular where
the rod is vertical (000, section 2.2.2 says that M > 0).
"""

from __future__ import annotations

import sympy as sp

import porthos as ph

SCHEME = ph.Livens()
MASS, LENGTH, GRAVITY = 1.0, 0.5, 9.81


def model(support: float = 2.0, angle: float = 2.0) -> ph.Lagrangian:
    """Coordinates (s, phi): the support on the rail, and the angle from the downward vertical; released at rest."""
    s, phi, vs, w = sp.symbols("s phi v omega", real=True)
    ms, m, length, g = sp.symbols("m_s m l g")
    T = (ms + m) * vs**2 / 2 + m * length * vs * w * sp.cos(phi) + m * length**2 * w**2 / 2
    return ph.Lagrangian(
        T + m * g * length * sp.cos(phi),
        [s, phi],
        [vs, w],
        inputs={"push": [1, 0]},
        parameters={ms: support, m: MASS, length: LENGTH, g: GRAVITY},
        initial=([0.0, angle], [0.0, 0.0]),
        name="sliding pendulum",
    )


def run(
    scheme: ph.Livens = SCHEME, step: float = 0.005, end: float = 5.0, support: float = 2.0, angle: float = 2.0
) -> ph.LagrangianTrajectory:
    """A free swing."""
    result = ph.simulate(model(support, angle), scheme, step=step, end=end)
    assert isinstance(result, ph.LagrangianTrajectory)
    return result
