"""Constrained motion as methods for mechanics see it, of mechanisms and Lagrangians alike:

M(q) v' = f(t, q, v, u) - G(t, q)^T lambda,   g(t, q) = 0,   G v + g_t = 0,   g'' = G v' + b,   g''' = G v'' + j.

Increments of velocities are W = h v', and impulses M W - h f; neither grows where h is small. Plural names evaluate at
several times and states, such as the stages of a step: times (s,), Q, V (s, n).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from porthos.notation import Array
from porthos.system.blockwise import filled, refilled, scaled
from porthos.system.check import difference_jacobian
from porthos.system.constrained import Constrained, kkt_matrix
from porthos.system.constraints import ConstraintRows
from porthos.system.descriptor import Matrix
from porthos.system.drives import frozen, motions_at, slope_rows
from porthos.system.lagrangian_system import LagrangianSystem

if TYPE_CHECKING:
    from porthos.system.mechanical import MechanicalSystem

REMEMBERED = 64  # times at which rows of drives are kept, such as those of the stages of a step


class Motion(ABC):
    """What a method needs to know."""

    system: Any

    @cached_property
    def n(self) -> int:
        """Number of coordinates."""
        return int(self.system.n)

    @cached_property
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

    def meets(self, t: float, q: Array, tolerance: float) -> bool:
        """Whether no constraint has a gap of more than this part of the positions."""
        return bool(np.abs(self.gap(t, q)).max(initial=0.0) <= tolerance * max(1.0, float(np.abs(q).max())))

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

    @cached_property
    def _masses(self) -> Array | None:
        """The diagonal of M, if there is nothing beside it."""
        M = sparse.coo_array(self._M)
        return self._M.diagonal() if np.array_equal(M.row, M.col) else None

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
        masses = self._masses
        return np.asarray(((self._M @ W.T).T if masses is None else masses * W) - h * self.system.forces(Q, V, U))

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

    def standing_rates(self, times: Array, Q: Array, V: Array) -> Array:
        """G V_i (s, m), as if drives stood still."""
        return self.system.rates(Q, V)

    def pulls(self, times: Array, Q: Array, L: Array) -> Array:
        """G^T L_i."""
        return self.system.pulls(Q, L)


@dataclass(frozen=True, eq=False)
class Moment:
    """Constraints of a mechanism with drives at one time: its rows, and derivatives of those of drives by s."""

    system: MechanicalSystem  # whose drives stand where they are then
    s: Array  # (D,) of the drives
    speed: Array  # (m,) s' in the rows of drives, else 0
    change: Array  # (m,) s''

    @classmethod
    def of(cls, system: MechanicalSystem, t: float) -> Moment:
        """That of a time."""
        inputs = motions_at(system, t)
        s, speeds, changes = inputs[len(system.terminals) :, :3].T
        speed, change = np.zeros(system.m), np.zeros(system.m)
        speed[system.drive_rows], change[system.drive_rows] = speeds, changes
        return cls(frozen(system, inputs), s, speed, change)

    @cached_property
    def first(self) -> ConstraintRows:
        """dg/ds in the rows of drives; others have no meaning."""
        return self.system.rows.of(slope_rows(self.system.mech, self.s, 1))

    @cached_property
    def second(self) -> ConstraintRows:
        """The same of the second derivative."""
        return self.system.rows.of(slope_rows(self.system.mech, self.s, 2))

    def drift(self, q: Array, v: Array) -> Array:
        """2 G_t v + g_tt, what g'' has more than without drives."""
        Q, V, speed = q[None], v[None], self.speed
        slow = 2 * speed * self.first.rates(Q, V)[0] + self.change * self.first.gaps(Q)[0]
        return np.asarray(slow + speed**2 * self.second.gaps(Q)[0])


@dataclass(frozen=True, eq=False)
class OfDriven(OfMechanism):
    """The motion of a mechanism with drives, g(t, q), or gears, whose rows depend on q."""

    system: MechanicalSystem
    _moments: dict[float, Moment] = field(default_factory=dict)  # of the latest times

    def at(self, t: float) -> Moment:
        """The constraints at a time; gears alone are always the same."""
        t = t if self.system.drives else 0.0
        if t not in self._moments:
            if len(self._moments) >= REMEMBERED:
                self._moments.pop(next(iter(self._moments)))
            self._moments[t] = Moment.of(self.system, t)
        return self._moments[t]

    def kkt(self, t: float, q: Array, v: Array) -> Matrix:
        """[M G^T; G 0]."""
        return kkt_matrix(self.at(t).system, q)

    def gap(self, t: float, q: Array) -> Array:
        """g."""
        return self.at(t).system.g(q)

    def G(self, t: float, q: Array) -> Matrix:
        """dg/dq."""
        return self.at(t).system.G(q)

    def rate(self, t: float, q: Array, v: Array) -> Array:
        """G v + g_t."""
        now = self.at(t)
        return np.asarray(now.system.rates(q[None], v[None])[0] + now.speed * now.first.gaps(q[None])[0])

    def rate_slope(self, t: float, q: Array, v: Array) -> Matrix:
        """d(G v + g_t)/dq."""
        now = self.at(t)
        moving = now.first.jacobian(q)
        return now.system.G_rate(v, q) + refilled(moving, np.repeat(now.speed, np.diff(moving.indptr)) * moving.data)

    def stiffness(self, t: float, q: Array, lam: Array) -> Matrix:
        """d(G^T lambda)/dq."""
        return self.at(t).system.G_stiffness(lam, q)

    def bend(self, t: float, q: Array, v: Array) -> Array:
        """d(G v)/dq v + 2 G_t v + g_tt."""
        now = self.at(t)
        return np.asarray(now.system.G_rate(v, q) @ v + now.drift(q, v))

    def standing_rates(self, times: Array, Q: Array, V: Array) -> Array:
        """G V_i."""
        found = [self.at(t).system.rates(q[None], v[None])[0] for t, q, v in zip(times, Q, V, strict=True)]
        return np.array(found)

    def pulls(self, times: Array, Q: Array, L: Array) -> Array:
        """G^T L_i."""
        found = [self.at(t).system.pulls(q[None], lam[None])[0] for t, q, lam in zip(times, Q, L, strict=True)]
        return np.array(found)

    jolt, gaps, rates = Motion.jolt, Motion.gaps, Motion.rates


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
    if isinstance(system, LagrangianSystem):
        return OfLagrangian(system)
    return getattr(system, "motion", None) or OfMechanism(system)
