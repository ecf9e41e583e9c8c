"""The step of the pair of Lobatto methods on Lagrangians, with momenta p = Lv(q, v), which make it symplectic for M(q):

Q_i = q0 + h sum_j a_ij V_j,   Lv(Q_i, V_i) = p0 + sum_(j<s) a^_ij I_j,   I_j = h (Lq - D V_j + B~ u_j) - G(Q_j)^T L_j,

g(t_i, Q_i) = 0 for i > 1; then v1 and L_s from Lv(q1, v1) = p0 + sum_i b_i I_i and G v1 + g_t = 0. The unknowns are
V_i - v0 and L_j = h Lambda_j, j < s. For a constant M this is the pair with velocities.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from porthos.integrate.newton import factorised
from porthos.integrate.state_scheme import least_speed, velocity_change
from porthos.notation import Array
from porthos.system.lagrangian_system import LagrangianSystem

SWEEPS = 20  # of the last stage, at most; one does where L is quadratic in v
FLOOR = 1e-15  # change of velocities, relative to their size, that is none


@dataclass(frozen=True, eq=False)
class MomentumEquations:
    """The equations of one step, and their matrix: A of positions, B of momenta (s, s), whose last column is zero."""

    system: LagrangianSystem
    A: Array
    B: Array
    h: float
    times: Array  # (s,) of the stages
    start: tuple[Array, Array]
    inputs: Array  # (s, m)

    @cached_property
    def p0(self) -> Array:
        """The momenta at the begin."""
        return self.system.terms.Lv(*self.start)

    @cached_property
    def _least(self) -> float:
        return least_speed(self.h, *self.start)

    def parts(self, y: Array) -> tuple[Array, Array]:
        """V_i - v0 (s, n) and L_j (s - 1, m)."""
        s, n, m = len(self.A), self.system.n, self.system.m
        return y[: s * n].reshape(s, n), y[s * n :].reshape(s - 1, m)

    def stages(self, change: Array) -> tuple[Array, Array]:
        """Q_i and V_i (s, n)."""
        q0, v0 = self.start
        V = v0 + change
        return q0 + self.h * self.A @ V, V

    def forces(self, Q: Array, V: Array) -> Array:
        """h (Lq - D v + B~ u) (s, n)."""
        terms, rows = self.system.terms, []
        for t, q, v, u in zip(self.times, Q, V, self.inputs, strict=True):
            rows.append(terms.Lq(q, v) - terms.D(t, q, v) @ v + terms.Bt(t, q, v) @ u[: terms.k])
        return self.h * np.array(rows)

    def pulls(self, Q: Array, L: Array) -> Array:
        """G(Q_j)^T L_j of the first stages."""
        first = zip(self.times[: len(L)], Q, L, strict=False)
        return np.array([self.system.terms.G(t, q).T @ lam for t, q, lam in first])

    def residual(self, y: Array) -> Array:
        """What should be zero: momenta of all stages, and g of all but the first."""
        terms, (change, L) = self.system.terms, self.parts(y)
        Q, V = self.stages(change)
        impulses = self.forces(Q, V)[:-1] - self.pulls(Q, L)
        P = np.array([terms.Lv(*state) for state in zip(Q, V, strict=True)])
        gaps = np.array([terms.g(*at) for at in zip(self.times[1:], Q[1:], strict=True)])
        return np.concatenate([(P - self.p0 - self.B[:, :-1] @ impulses).ravel(), gaps.ravel() / self.h])

    def matrix(self, y: Array) -> Array:
        """The derivative of the residual; how D and B~ depend on q is left out."""
        (change, L), terms, h = self.parts(y), self.system.terms, self.h
        (Q, V), (s, n), m = self.stages(change), change.shape, self.system.m
        by_change, by_L = np.zeros((s, n, s, n)), np.zeros((s, n, s - 1, m))
        gaps = np.zeros((s - 1, m, s, n))
        for j, (t, q, v) in enumerate(zip(self.times, Q, V, strict=True)):
            Lqq, Lqv, Lvv = terms.second(q, v)
            by_change[j] += h * np.einsum("k,ab->akb", self.A[j], Lqv.T)
            by_change[j, :, j] += Lvv
            G = terms.G(t, q)
            if j < s - 1:
                slope = h * Lqq - terms.curvature(t, q, v, L[j])[1]
                by_change -= h * np.einsum("i,k,ab->iakb", self.B[:, j], self.A[j], slope)
                by_change[:, :, j] -= h * np.einsum("i,ab->iab", self.B[:, j], Lqv - terms.D(t, q, v))
                by_L[:, :, j] = np.einsum("i,ab->iba", self.B[:, j], G)
            if j > 0:
                gaps[j - 1] = np.einsum("k,ab->akb", self.A[j], G)
        upper = np.hstack([by_change.reshape(s * n, s * n), by_L.reshape(s * n, -1)])
        return np.vstack([upper, np.hstack([gaps.reshape(-1, s * n), np.zeros((by_L[0, 0].size,) * 2)])])

    def last(self, b: Array, y: Array) -> tuple[Array, Array]:
        """v1, and L_s (m,), by Newton's method."""
        change, L = self.parts(y)
        (Q, V), terms, n = self.stages(change), self.system.terms, self.system.n
        forces = self.forces(Q, V)
        momenta = self.p0 + b @ forces - b[:-1] @ self.pulls(Q, L)
        t, q, v, pull = self.times[-1], Q[-1], V[-1].copy(), np.zeros(self.system.m)
        G, drift = terms.G(t, q), terms.g_t(t, q)
        for _ in range(SWEEPS):
            gap = np.append(terms.Lv(q, v) + b[-1] * G.T @ pull - momenta, G @ v + drift)
            M = terms.second(q, v)[2]
            update = factorised(np.block([[M, G.T], [G, np.zeros((len(G), len(G)))]]))(gap)
            v, pull = v - update[:n], pull - update[n:] / b[-1]
            if terms.quadratic or not np.abs(update[:n]).max() > FLOOR * np.abs(v).max():
                break
        return v, pull

    def size_of(self, y: Array, update: Array) -> float:
        """The change of velocities, relative to them."""
        first = self.p0.size * len(self.A)
        return velocity_change(self.h, self._least, y[:first], update[:first], np.zeros(0))
