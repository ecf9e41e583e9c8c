"""Mechanisms and Lagrangians by their accelerations, and both forms that are stabilised after Baumgarte (002, 4.2).

index 1:             q' = v,   M v' = f - G^T lambda,   G v' = -b - 2 alpha (G v + g_t) - alpha^2 g,   g'' = G v' + b
index 2, eq. (87):   q' = v,   M v' = f - G^T lambda,   0 = G v + g_t + alpha g

With alpha = 0 nothing is stabilised: g drifts like t^2 in the first form and like t in the second.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from porthos.errors import PorthosError
from porthos.notation import Array
from porthos.system.descriptor import ANALYTIC, Matrix, dense
from porthos.system.formulations import MechanicalForm
from porthos.system.lagrangian_system import LagrangianSystem
from porthos.system.mechanical import MechanicalSystem
from porthos.system.motion import Motion, OfLagrangian, motion_of

RATE = 3.0  # alpha, if it is not given: 2 to 5 did best in experiments


def pull(motion: Motion, alpha: float, t: float, q: Array, v: Array) -> Array:
    """What G v' has to be, so that g'' + 2 alpha g' + alpha^2 g = 0."""
    value = -motion.bend(t, q, v)
    return value if alpha == 0.0 else value - 2 * alpha * motion.rate(t, q, v) - alpha**2 * motion.gap(t, q)


class BaumgarteForm(MechanicalForm):
    """x = (q, v, lambda) of a mechanism or a Lagrangian with 0 = G v + g_t + alpha g, (87) of 002, of index 2."""

    title, index_of_equations = "Baumgarte, index 2", 2

    def __init__(self, system: MechanicalSystem | LagrangianSystem, alpha: float = RATE) -> None:
        if not 0.0 <= alpha < np.inf:
            raise PorthosError(f"system '{system.name}', {self.title}: expected a rate alpha >= 0, found {alpha!r}.")
        super().__init__(system)
        self.motion, self.alpha = motion_of(system), alpha

    def _parts(self, x: Array) -> tuple[Array, Array, Array]:
        q, v, lam, _ = self.split(x)
        return q, v, lam

    def E(self, x: Array, t: float = 0.0) -> Matrix:
        """diag(I, M, 0)."""
        return self.system.E(x, t)

    def flow(self, x: Array, u: Array, t: float = 0.0) -> Array:
        """(v, f - G^T lambda, G v + g_t + alpha g)."""
        q, v, _ = self._parts(x)
        return np.concatenate([v, self._force(x, u, t), self.motion.rate(t, q, v) + self.alpha * self.motion.gap(t, q)])

    def _force(self, x: Array, u: Array, t: float) -> Array:
        """f - G^T lambda."""
        q, v, lam = self._parts(x)
        return self.motion.force(t, q, v, u) - np.asarray(self.motion.G(t, q).T @ lam)

    def y(self, x: Array, u: Array | None = None, t: float = 0.0) -> Array:
        """Those of the system."""
        return np.asarray(self.system.y(x, u, t))

    def dissipation(self, x: Array, u: Array, t: float = 0.0) -> float:
        """That of the system."""
        return float(self.system.dissipation(x, u, t))

    @property
    def tangent_cost(self) -> int:
        """Few evaluations of `residual` on mechanisms, whose derivatives are known."""
        return super().tangent_cost if isinstance(self.motion, OfLagrangian) else ANALYTIC

    def tangent(self, x: Array, rate: Array, u: Array, t: float = 0.0) -> Matrix:
        """The derivative of `residual`; by differences on Lagrangians."""
        if isinstance(self.motion, OfLagrangian):
            return super().tangent(x, rate, u, t)
        motion, (q, v, lam), n = self.motion, self._parts(x), self.motion.n
        by_q, by_v, _ = motion.impulse_tangent(1.0, t, q, v, rate[n : 2 * n], u)
        rows = [
            [None, -sparse.eye_array(n), None],
            [sparse.csr_array(motion.stiffness(t, q, lam) + by_q), sparse.csr_array(by_v), _rows(motion.G(t, q)).T],
            [*self._last_row(t, q, v, rate[n : 2 * n]), None],
        ]
        return sparse.block_array(rows if motion.m else [row[:2] for row in rows[:2]], format="csr")

    def _last_row(self, t: float, q: Array, v: Array, acceleration: Array) -> list[Matrix]:
        """Derivatives of the last rows of `residual` with respect to q and v."""
        G = _rows(self.motion.G(t, q))
        return [-_rows(self.motion.rate_slope(t, q, v)) - self.alpha * G, -G]


class AccelerationForm(BaumgarteForm):
    """x = (q, v, lambda) with g'' + 2 alpha g' + alpha^2 g = 0, of index 1: one linear system gives v' and lambda."""

    title, index_of_equations = "Baumgarte, index 1", 1

    def E(self, x: Array, t: float = 0.0) -> Matrix:
        """[I 0 0; 0 M 0; 0 G 0]."""
        (q, v, _), n = self._parts(x), self.system.n
        E = np.zeros((self.dimension, self.dimension))
        E[:n, :n] = np.eye(n)
        E[n:, n : 2 * n] = dense(self.motion.kkt(t, q, v))[:, :n]
        return E

    def flow(self, x: Array, u: Array, t: float = 0.0) -> Array:
        """(v, f - G^T lambda, -b - 2 alpha (G v + g_t) - alpha^2 g)."""
        q, v, _ = self._parts(x)
        return np.concatenate([v, self._force(x, u, t), pull(self.motion, self.alpha, t, q, v)])

    def _last_row(self, t: float, q: Array, v: Array, acceleration: Array) -> list[Matrix]:
        alpha, G = self.alpha, _rows(self.motion.G(t, q))
        turned, bent = (_rows(self.motion.rate_slope(t, q, each)) for each in (v, acceleration))
        return [bent + 2 * alpha * turned + alpha**2 * G, 2 * turned + 2 * alpha * G]


def _rows(matrix: Matrix) -> sparse.csr_array:
    return sparse.csr_array(matrix)
