"""Two masses on nonlinear springs in redundant coordinates, with a singular mass matrix.

q = (x1, q2, x2): the first mass at x1, the second at q2 + x2, where q2 = x1 + l + w holds by a constraint.

T = m1 v1^2/2 + m2 (v2 + v3)^2/2,   V = k1 (x1^2 + x1^4)/4 + k2 (x2^2 + x2^4)/4,   g = ((q2 - x1)^2 - (l + w)^2)/2.

M has rank two, so there is no Hamiltonian; Livens' principle needs none. (41) prints k/4; the authors' data use k/2.
"""

from __future__ import annotations

import sympy as sp

import porthos as ph

SCHEME = ph.Livens()
PARAMETERS = {"m1": 2.0, "m2": 1.0, "k1": 1.0, "k2": 3.0, "l": 1.0, "w": 0.1}


def model(share: float = 0.25) -> ph.Lagrangian:
    """The Lagrangian; `share` is 1/4 as printed, 1/2 in the authors' data."""
    x1, q2, x2, v1, v2, v3 = sp.symbols("x1 q2 x2 v1 v2 v3")
    m1, m2, k1, k2, length, w = sp.symbols(list(PARAMETERS))
    T = m1 * v1**2 / 2 + m2 * (v2 + v3) ** 2 / 2
    V = share * (k1 * (x1**2 + x1**4) + k2 * (x2**2 + x2**4))
    return ph.Lagrangian(
        T - V,
        [x1, q2, x2],
        [v1, v2, v3],
        constraints=[((q2 - x1) ** 2 - (length + w) ** 2) / 2],
        parameters=PARAMETERS,
        initial=([0.0, 1.1, 0.0], [1.0, 1.0, -1.0]),
        name="redundant masses",
    )


def run(scheme: ph.Livens = SCHEME, step: float = 0.1, end: float = 10.0) -> ph.LagrangianTrajectory:
    """The motion of 003, with its step."""
    result = ph.simulate(model(), scheme, step=step, end=end)
    assert isinstance(result, ph.LagrangianTrajectory)
    return result
