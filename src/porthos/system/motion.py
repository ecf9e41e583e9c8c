"""Constrained motion as methods for mechanics see it, of mechanisms and Lagrangians alike:

M(q) v' = f(t, q, v, u) - G(t, q)^T lambda,   g(t, q) = 0,   G v + g_t = 0,   g'' = G v' + b,   g''' = G v'' + j.

Increments of velocities are W = h v', and impulses M W - h f; neither grows where h is small. Plural names evaluate at
several times and states, such as the stages of a step: times (s,), Q, V (s, n).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from porthos.notation import Array
from porthos.system.blockwise import filled, scaled
from porthos.system.check import difference_jacobian
from porthos.system.constrained import Constrained, kkt_matrix
from porthos.system.descriptor import Matrix
from porthos.system.lagrangian_system import LagrangianSystem


class Motion(ABC):
    """What a method needs to know."""

    system: Any

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return int(self.system.n)

    @property
    def m(self) -> int:
        """Number of constraints."""
        return int(self.system.m)

    def split(self, x: Array) -> tuple[Array, Array, Array]:
        """(q, v, lambda) of a state."""
        q, v, lam = np.split(x, [self.n, 2 * self.n])
        return q, v, lam

    # --- masses and forces

    @abstractmethod
    def inertia(self, q: Array, v: Array) -> Matrix:
        """M (n, n), which may be singular."""

    @abstractmethod
    def kkt(self, t: float, q: Array, v: Array) -> Matrix:
        """[M G^T; G 0], the matrix of accelerations and multipliers."""

    @abstractmethod
    def force(self, t: float, q: Array, v: Array, u: Array) -> Array:
        """f, all forces but those of the constraints."""

    @abstractmethod
    def impulses(self, h: float, times: Array, Q: Array, V: Array, W: Array, U: Array) -> Array:
        """M W_i - h f_i (s, n), which the constraints have to balance."""

    @abstractmethod
    def impulse_tangent(
        self, h: float, t: float, q: Array, v: Array, w: Array, u: Array
    ) -> tuple[Matrix, Matrix, Matrix]:
        """Derivatives of M w - h f with respect to q, v and w; terms that are small against M/h^2 may be left out."""

    # --- constraints

    @abstractmethod
    def gap(self, t: float, q: Array) -> Array:
        """g (m,)."""

    @abstractmethod
    def G(self, t: float, q: Array) -> Matrix:
        """dg/dq (m, n)."""

    @abstractmethod
    def rate(self, t: float, q: Array, v: Array) -> Array:
        """G v + g_t (m,)."""

    @abstractmethod
    def rate_slope(self, t: float, q: Array, v: Array) -> Matrix:
        """d(G v + g_t)/dq (m, n)."""

    @abstractmethod
    def stiffness(self, t: float, q: Array, lam: Array) -> Matrix:
        """d(G^T lambda)/dq (n, n)."""

    @abstractmethod
    def bend(self, t: float, q: Array, v: Array) -> Array:
        """b, the part of g'' without accelerations."""

    def jolt(self, h: float, t: float, q: Array, v: Array, a: Array) -> Array:
        """j, the part of g''' without the rate of the accelerations a, with an error O(h)."""
        later, there, faster = t + h, q + h * v + h**2 / 2 * a, v + h * a
        change = self.G(later, there) @ a + self.bend(later, there, faster) - self.G(t, q) @ a - self.bend(t, q, v)
        return np.asarray(change / h)

    def gaps(self, times: Array, Q: Array) -> Array:
        """g (s, m)."""
        return np.array([self.gap(*each) for each in zip(times, Q, strict=True)]).reshape(len(Q), self.m)

    def rates(self, times: Array, Q: Array, V: Array) -> Array:
        """G V_i + g_t (s, m)."""
        return np.array([self.rate(*each) for each in zip(times, Q, V, strict=True)]).reshape(len(Q), self.m)

    def pulls(self, times: Array, Q: Array, L: Array) -> Array:
        """G^T L_i (s, n)."""
        return np.array([self.G(t, q).T @ lam for t, q, lam in zip(times, Q, L, strict=True)]).reshape(Q.shape)


@dataclass(frozen=True)
class OfMechanism(Motion):
    """The motion of a mechanism whose constraints do not depend on time; M is constant."""

    system: Constrained

    @cached_property
    def _M(self) -> Matrix:
        return self.system.M

    def inertia(self, q: Array, v: Array) -> Matrix:
        """M."""
        return self._M

    def kkt(self, t: float, q: Array, v: Array) -> Matrix:
        """[M G^T; G 0]."""
        return kkt_matrix(self.system, q)

    def force(self, t: float, q: Array, v: Array, u: Array) -> Array:
        """f."""
        return self.system.force(q, v, u)

    def impulses(self, h: float, times: Array, Q: Array, V: Array, W: Array, U: Array) -> Array:
        """M W_i - h f_i."""
        return np.asarray((self._M @ W.T).T - h * self.system.forces(Q, V, U))

    def impulse_tangent(
        self, h: float, t: float, q: Array, v: Array, w: Array, u: Array
    ) -> tuple[Matrix, Matrix, Matrix]:
        """-h df/dq, -h df/dv and M."""
        by_q, by_v = self.system.force_tangent(q, v, u)
        return scaled(-h, by_q), scaled(-h, by_v), self._M

    def gap(self, t: float, q: Array) -> Array:
        """g."""
        return self.system.g(q)

    def G(self, t: float, q: Array) -> Matrix:
        """dg/dq."""
        return self.system.G(q)

    def rate(self, t: float, q: Array, v: Array) -> Array:
        """G v."""
        return self.system.rates(q[None], v[None])[0]

    def rate_slope(self, t: float, q: Array, v: Array) -> Matrix:
        """d(G v)/dq."""
        return self.system.G_rate(v)

    def stiffness(self, t: float, q: Array, lam: Array) -> Matrix:
        """d(G^T lambda)/dq."""
        return self.system.G_stiffness(lam)

    def bend(self, t: float, q: Array, v: Array) -> Array:
        """d(G v)/dq v."""
        return np.asarray(self.system.G_rate(v) @ v)

    def jolt(self, h: float, t: float, q: Array, v: Array, a: Array) -> Array:
        """3 d(G v)/dq a, as rows are at most quadratic."""
        return np.asarray(3 * (self.system.G_rate(v) @ a))

    def gaps(self, times: Array, Q: Array) -> Array:
        """g."""
        return self.system.gaps(Q)

    def rates(self, times: Array, Q: Array, V: Array) -> Array:
        """G V_i."""
        return self.system.rates(Q, V)

    def pulls(self, times: Array, Q: Array, L: Array) -> Array:
        """G^T L_i."""
        return self.system.pulls(Q, L)


@dataclass(frozen=True)
class OfLagrangian(Motion):
    """The motion of a Lagrangian: M = Lvv, f = Lq - Lvq v - D v + B~ u."""

    system: LagrangianSystem

    def inertia(self, q: Array, v: Array) -> Matrix:
        """Lvv."""
        return self.system.terms.second(q, v)[2]

    def kkt(self, t: float, q: Array, v: Array) -> Matrix:
        """[M G^T; G 0]."""
        M, G = self.inertia(q, v), self.system.terms.G(t, q)
        return np.block([[M, G.T], [G, np.zeros((self.system.m, self.system.m))]])

    def force(self, t: float, q: Array, v: Array, u: Array) -> Array:
        """Lq - Lvq v - D v + B~ u."""
        return -self._excess(t, q, v, np.zeros(self.n), u)

    def _excess(self, t: float, q: Array, v: Array, a: Array, u: Array) -> Array:
        """d/dt Lv - Lq + D v - B~ u."""
        terms = self.system.terms
        inner = terms.momentum_rate(q, v, a) - terms.Lq(q, v) + terms.D(t, q, v) @ v
        return inner - terms.Bt(t, q, v) @ u[: terms.k]

    def impulses(self, h: float, times: Array, Q: Array, V: Array, W: Array, U: Array) -> Array:
        """h (d/dt Lv - Lq + D v - B~ u) with v' = W_i/h."""
        return h * np.array([self._excess(*each) for each in zip(times, Q, V, W / h, U, strict=True)])

    def impulse_tangent(
        self, h: float, t: float, q: Array, v: Array, w: Array, u: Array
    ) -> tuple[Matrix, Matrix, Matrix]:
        """Known, or by differences."""
        known = self.system.terms.tangent(t, q, v, w / h, u[: self.system.terms.k])
        by_q, by_v = known or (
            difference_jacobian(lambda at: self._excess(t, at, v, w / h, u), q),
            difference_jacobian(lambda at: self._excess(t, q, at, w / h, u), v),
        )
        return filled(h * by_q), filled(h * by_v), filled(self.inertia(q, v))

    def gap(self, t: float, q: Array) -> Array:
        """g."""
        return self.system.terms.g(t, q)

    def G(self, t: float, q: Array) -> Matrix:
        """dg/dq."""
        return filled(self.system.terms.G(t, q))

    def rate(self, t: float, q: Array, v: Array) -> Array:
        """G v + g_t."""
        return self.system.terms.G(t, q) @ v + self.system.terms.g_t(t, q)

    def rate_slope(self, t: float, q: Array, v: Array) -> Matrix:
        """d(G v + g_t)/dq."""
        return filled(self.system.terms.curvature(t, q, v, np.zeros(self.m))[0])

    def stiffness(self, t: float, q: Array, lam: Array) -> Matrix:
        """d(G^T lambda)/dq."""
        return filled(self.system.terms.curvature(t, q, np.zeros(self.n), lam)[1])

    def bend(self, t: float, q: Array, v: Array) -> Array:
        """The part of d(G v + g_t)/dt without accelerations."""
        N, _, drift = self.system.terms.curvature(t, q, v, np.zeros(self.system.m))
        return N @ v + drift

    def pulls(self, times: Array, Q: Array, L: Array) -> Array:
        """G^T L_i."""
        terms = self.system.terms
        return np.array([terms.G(t, q).T @ lam for t, q, lam in zip(times, Q, L, strict=True)])


def motion_of(system: Any) -> Motion:
    """How methods for mechanics see a system."""
    return OfLagrangian(system) if isinstance(system, LagrangianSystem) else OfMechanism(system)
