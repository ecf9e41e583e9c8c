"""Mechanisms and Lagrangians by their accelerations, and both forms that are stabilised after Baumgarte (002, 4.2).

index 1:             q' = v,   M v' = f - G^T lambda,   G v' = -b - 2 alpha (G v + g_t) - alpha^2 g,   g'' = G v' + b
index 2, eq. (87):   q' = v,   M v' = f - G^T lambda,   0 = G v + g_t + alpha g

With alpha = 0 nothing is stabilised: g drifts like t^2 in the first form and like t in the second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import sparse

from porthos.errors import PorthosError
from porthos.notation import Array
from porthos.system.constrained import Constrained, kkt_matrix
from porthos.system.descriptor import ANALYTIC, Matrix, dense
from porthos.system.formulations import MechanicalForm
from porthos.system.lagrangian_system import LagrangianSystem
from porthos.system.mechanical import MechanicalSystem

RATE = 3.0  # alpha, if it is not given: 2 to 5 did best in experiments


class Motion(Protocol):
    """A constrained motion as accelerations see it."""

    def kkt(self, t: float, q: Array, v: Array) -> Matrix:
        """[M G^T; G 0]."""

    def G(self, t: float, q: Array) -> Matrix:
        """dg/dq."""

    def force(self, t: float, q: Array, v: Array, u: Array) -> Array:
        """All forces but those of the constraints."""

    def gap(self, t: float, q: Array) -> Array:
        """g."""

    def rate(self, t: float, q: Array, v: Array) -> Array:
        """G v + g_t."""

    def bend(self, t: float, q: Array, v: Array) -> Array:
        """The part of g'' without accelerations."""


@dataclass(frozen=True)
class OfMechanism:
    """The motion of a mechanism."""

    system: Constrained

    def kkt(self, t: float, q: Array, v: Array) -> Matrix:
        """[M G^T; G 0]."""
        return kkt_matrix(self.system, q)

    def G(self, t: float, q: Array) -> Matrix:
        """dg/dq."""
        return self.system.G(q)

    def force(self, t: float, q: Array, v: Array, u: Array) -> Array:
        """All forces but those of the constraints."""
        return self.system.force(q, v, u)

    def gap(self, t: float, q: Array) -> Array:
        """g."""
        return self.system.g(q)

    def rate(self, t: float, q: Array, v: Array) -> Array:
        """G v."""
        return self.system.rates(q[None], v[None])[0]

    def bend(self, t: float, q: Array, v: Array) -> Array:
        """d(G v)/dq v."""
        return np.asarray(self.system.G_rate(v) @ v)


@dataclass(frozen=True)
class OfLagrangian:
    """The motion of a Lagrangian, with M(q) and constraints that may depend on time."""

    system: LagrangianSystem

    def kkt(self, t: float, q: Array, v: Array) -> Matrix:
        """[M G^T; G 0]."""
        M, G = self.system.terms.second(q, v)[2], self.system.terms.G(t, q)
        return np.block([[M, G.T], [G, np.zeros((self.system.m, self.system.m))]])

    def G(self, t: float, q: Array) -> Matrix:
        """dg/dq."""
        return self.system.terms.G(t, q)

    def force(self, t: float, q: Array, v: Array, u: Array) -> Array:
        """Lq - Lvq v - D v + B~ u."""
        terms = self.system.terms
        inner = terms.Lq(q, v) - terms.second(q, v)[1].T @ v - terms.D(t, q, v) @ v
        return inner + terms.Bt(t, q, v) @ u[: terms.k]

    def gap(self, t: float, q: Array) -> Array:
        """g."""
        return self.system.terms.g(t, q)

    def rate(self, t: float, q: Array, v: Array) -> Array:
        """G v + g_t."""
        return self.system.terms.G(t, q) @ v + self.system.terms.g_t(t, q)

    def bend(self, t: float, q: Array, v: Array) -> Array:
        """The part of d(G v + g_t)/dt without accelerations."""
        N, _, drift = self.system.terms.curvature(t, q, v, np.zeros(self.system.m))
        return N @ v + drift


def motion_of(system: Constrained | LagrangianSystem) -> OfMechanism | OfLagrangian:
    """How accelerations see a system."""
    return OfLagrangian(system) if isinstance(system, LagrangianSystem) else OfMechanism(system)


def pull(motion: Motion, alpha: float, t: float, q: Array, v: Array) -> Array:
    """What G v' has to be, so that g'' + 2 alpha g' + alpha^2 g = 0."""
    value = -motion.bend(t, q, v)
    return value if alpha == 0.0 else value - 2 * alpha * motion.rate(t, q, v) - alpha**2 * motion.gap(t, q)


class BaumgarteForm(MechanicalForm):
    """x = (q, v, lambda) of a mechanism or a Lagrangian with 0 = G v + g_t + alpha g, (87) of 002, of index 2."""

    title = "Baumgarte, index 2"

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
        return ANALYTIC if isinstance(self.motion, OfMechanism) else super().tangent_cost

    def tangent(self, x: Array, rate: Array, u: Array, t: float = 0.0) -> Matrix:
        """The derivative of `residual`; by differences on Lagrangians."""
        if not isinstance(self.motion, OfMechanism):
            return super().tangent(x, rate, u, t)
        system, (q, v, lam) = self.motion.system, self._parts(x)
        by_q, by_v = system.force_tangent(q, v, u)
        K, D = sparse.csr_array(system.G_stiffness(lam) - by_q), sparse.csr_array(-by_v)
        rows = [
            [None, -sparse.eye_array(system.n), None],
            [K, D, sparse.csr_array(system.G(q)).T],
            [*self._last_row(system, q, v, rate[system.n : 2 * system.n]), None],
        ]
        return sparse.block_array(rows if system.m else [row[:2] for row in rows[:2]], format="csr")

    def _last_row(self, system: Constrained, q: Array, v: Array, acceleration: Array) -> list[Matrix]:
        """Derivatives of the last rows of `residual` with respect to q and v."""
        G = sparse.csr_array(system.G(q))
        return [-sparse.csr_array(system.G_rate(v)) - self.alpha * G, -G]


class AccelerationForm(BaumgarteForm):
    """x = (q, v, lambda) with g'' + 2 alpha g' + alpha^2 g = 0, of index 1: one linear system gives v' and lambda."""

    title = "Baumgarte, index 1"

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

    def _last_row(self, system: Constrained, q: Array, v: Array, acceleration: Array) -> list[Matrix]:
        alpha, G = self.alpha, sparse.csr_array(system.G(q))
        turned, bent = sparse.csr_array(system.G_rate(v)), sparse.csr_array(system.G_rate(acceleration))
        return [bent + 2 * alpha * turned + alpha**2 * G, 2 * turned + 2 * alpha * G]
