"""The midpoint rule (49) on any pH-DAE with constant E, written as in the paper: the reference for the fast schemes.

E (x^1 - x^0) = h (J(xbar) - R(xbar)) z(xbar) + h B(xbar) u.
States without a row in E (multipliers) enter only through their midpoint values, which are the unknowns here, scaled
by h; their rows are not multiplied by h, so that the condition of the Newton matrix does not depend on h. The matrix
comes from differences at the start of the step and is kept (chord Newton).
"""

from __future__ import annotations

import numpy as np

from porthos.errors import PorthosError
from porthos.notation import Array
from porthos.system.check import difference_jacobian
from porthos.system.phdae import PHDAE


def full_midpoint_step(
    system: PHDAE, h: float, x0: Array, u: Array | None = None, tolerance: float = 1e-15, iterations: int = 60
) -> Array:
    """x^1; its algebraic entries are the values at the midpoint. The algebraic entries of x0 are the first guess."""
    E = system.E(x0).toarray()
    algebraic = ~np.any(E, axis=1)
    unit = np.where(algebraic, 1.0 / h, 1.0)
    inputs = np.zeros(system.B(x0).shape[1]) if u is None else np.asarray(u, dtype=np.float64)

    def state(s: Array) -> tuple[Array, Array]:
        """End and midpoint values from the scaled unknowns."""
        x1 = s * unit
        return x1, np.where(algebraic, x1, (x0 + x1) / 2)

    def residual(s: Array) -> Array:
        x1, xbar = state(s)
        flow = (system.J(xbar) - system.R(xbar)) @ system.z(xbar) + system.B(xbar) @ inputs
        return np.where(algebraic, flow, E @ (x1 - x0) - h * flow)

    s = x0 / unit
    inverse = np.linalg.pinv(difference_jacobian(residual, s), rcond=1e-13)  # least squares where rows repeat others
    last = np.inf
    for _ in range(iterations):
        update = inverse @ residual(s)
        s = s - update
        size = float(np.abs(update).max()) / max(1.0, float(np.abs(s).max()))
        if size < tolerance or (size < 1e-11 and size > 0.5 * last):
            return state(s)[0]
        last = size
    raise PorthosError(f"full midpoint step: Newton did not converge, last update {last:.2e}. Halve the step.")
