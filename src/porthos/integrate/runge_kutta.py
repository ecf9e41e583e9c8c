"""Runge-Kutta methods on descriptor systems, 000, section 5.3:

E(X_i, t_i) X_i' = f(X_i, u_i, t_i),   X_i = x0 + h sum_j a_ij X_j',   x1 = x0 + h sum_i b_i X_i',   t_i = t0 + c_i h.

The unknowns are the increments W_i = h X_i', which do not grow where h is small or a mass is zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from porthos.integrate.newton import LARGEST_DENSE
from porthos.integrate.scheme import ANGULAR, LINEAR, POSITION, QUADRATIC, VELOCITY
from porthos.integrate.state_scheme import Equations, IncrementScheme
from porthos.integrate.tableaus import Tableau, gauss, lobatto_iiic, radau_iia
from porthos.notation import Array
from porthos.system.blockwise import Term, blockwise
from porthos.system.descriptor import Descriptor, Matrix, dense


@dataclass(frozen=True)
class RungeKutta(IncrementScheme):
    """An implicit Runge-Kutta method with `stages` stages.

    Runs on every descriptor system: on pH-DAEs of users, on mechanical systems in the form (24) of 001 and on their
    other formulations.
    """

    stages: int
    tolerance: float = 0.0
    max_iterations: int = 50

    def equations(self, system: Descriptor, h: float, x0: Array, u: Array, times: Array) -> Equations:
        """h (E X_i' - f) at all stages."""
        return stage_equations(system, self.tableau.A, h, x0, u, times)


def stage_equations(system: Descriptor, A: Array, h: float, x0: Array, u: Array, times: Array) -> Equations:
    """h (E X_i' - f) of the stages X_i = x0 + sum_j a_ij W_j, X_i' = W_i/h, and the derivative by all W_j."""
    shape = (len(A), x0.size)

    def residual(w: Array) -> Array:
        W = w.reshape(shape)
        return h * system.residuals(x0 + A @ W, W / h, u, times).ravel()

    def matrix(w: Array) -> Matrix:
        W = w.reshape(shape)
        return stage_matrix(system, A, h, x0 + A @ W, W, u, times)

    return residual, matrix


def stage_matrix(system: Descriptor, A: Array, h: float, X: Array, W: Array, inputs: Array, times: Array) -> Matrix:
    """Blocks (i, j): delta_ij E_i + h a_ij T_i, where T_i is the derivative of E x' - f at stage i, X_i' = W_i/h."""
    s, n = X.shape
    E = [system.E(x, t) for x, t in zip(X, times, strict=True)]
    T = [system.tangent(x, w / h, u, t) for x, w, u, t in zip(X, W, inputs, times, strict=True)]
    if s * n > LARGEST_DENSE or all(sparse.issparse(part) for part in T):
        return blockwise(s * n, [Term(0, 0, h * A, T), Term(0, 0, np.eye(s), E)])
    matrix = np.einsum("ij,ikl->ikjl", h * A, np.array([dense(part) for part in T]))
    for i, part in enumerate(E):
        matrix[i, :, i] += dense(part)
    return matrix.reshape(s * n, s * n)


@dataclass(frozen=True)
class Gauss(RungeKutta):
    """Gauss-Legendre collocation of order 2s; Gauss(1) is the midpoint rule.

    The power balance of a quadratic Hamiltonian is exact, and with it energy; so are quadratic invariants such as
    momenta and the position constraints of mechanisms in directors. Algebraic equations hold at the stages, not at the
    end of a step, and errors of algebraic states are not damped: multipliers and velocities of constrained systems lose
    orders (docs/schemes.md).
    """

    stages: int = 2

    @property
    def velocity_order(self) -> int:
        """Of velocities on (24), the index-2 form of mechanisms: s or s + 1, whichever is even."""
        return self.stages + self.stages % 2

    @property
    def tableau(self) -> Tableau:
        """Collocation at the roots of the Legendre polynomial."""
        return gauss(self.stages)

    @property
    def preserves(self) -> frozenset[str]:
        """Quadratic energy, momenta and position constraints: all are quadratic."""
        return frozenset({QUADRATIC, LINEAR, ANGULAR, POSITION})


@dataclass(frozen=True)
class RadauIIA(RungeKutta):
    """Radau IIA collocation of order 2s - 1; RadauIIA(1) is the implicit Euler method.

    Stiffly accurate: a step ends on the algebraic equations. Energy can only fall (algebraic stability), by O(h^2s) a
    step. The method of choice where a mass is very small or zero.
    """

    stages: int = 3

    @property
    def tableau(self) -> Tableau:
        """Collocation at the Radau points."""
        return radau_iia(self.stages)

    @property
    def preserves(self) -> frozenset[str]:
        """Linear momentum, and velocity constraints: they are the algebraic equations of (24)."""
        return frozenset({LINEAR, VELOCITY})


@dataclass(frozen=True)
class LobattoIIIC(RungeKutta):
    """Lobatto IIIC of order 2s - 2, s >= 2: stiffly accurate, energy can only fall."""

    stages: int = 3

    @property
    def tableau(self) -> Tableau:
        """Lobatto points with C(s - 1) and a_i1 = b_1."""
        return lobatto_iiic(self.stages)

    @property
    def preserves(self) -> frozenset[str]:
        """Linear momentum, and velocity constraints: they are the algebraic equations of (24)."""
        return frozenset({LINEAR, VELOCITY})
