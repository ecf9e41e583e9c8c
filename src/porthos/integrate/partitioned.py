"""Partitioned Runge-Kutta methods on mechanisms: `LobattoPair` after Jay and `Murua` (000, chapter 6).

Q_i = q0 + sum_j a_ij (h V_j + Z_j),   V_i = v0 + sum_j a^_ij W_j,   M W_i = h f(Q_i, V_i, u_i) - G(Q_i)^T L_i,

and constraints at points Q-_k, V-_k that are given by rows of weights in the same way. The unknowns are W_i = h V_i'
and L_i = h Lambda_i, which do not grow where h is small or a mass is zero; with the stabilisation of Gear, Gupta and
Leimkuhler also Z_i = G(Q_i)^T N_i and N_i = h mu_i.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from porthos.integrate.newton import factorised
from porthos.integrate.scheme import ANGULAR, LINEAR, POSITION, VELOCITY
from porthos.integrate.state_scheme import Begin, MechanicalScheme, Step, velocity_change
from porthos.integrate.tableaus import MuruaPair, Tableau, lobatto_iiia, lobatto_iiib, murua
from porthos.notation import Array
from porthos.system.blockwise import Term, blockwise
from porthos.system.constrained import Constrained, kkt_matrix, split_state
from porthos.system.descriptor import Matrix


@dataclass(frozen=True)
class PartitionedStep(Step):
    """A step, and mu_i (s, m) of its stages."""

    mu: Array


@dataclass(frozen=True, eq=False)
class Weights:
    """A (s, s) of positions, V (s, k) of velocities, and rows C (r, s), CV (r, k) of the points with constraints."""

    A: Array
    V: Array
    C: Array
    CV: Array


@dataclass(frozen=True, eq=False)
class _Equations:
    """The equations of one step, and their matrix."""

    system: Constrained
    weights: Weights
    h: float
    start: tuple[Array, Array]
    inputs: Array
    position: bool  # g = 0 takes the place of G v = 0
    ggl: bool  # both hold

    @cached_property
    def _M(self) -> Matrix:
        return self.system.M

    def parts(self, y: Array) -> tuple[Array, Array, Array, Array]:
        """W (k, n), L (k, m), Z (s, n), N (s, m)."""
        n, m, (s, k) = self.system.n, self.system.m, self.weights.V.shape
        W, L, rest = y[: k * n].reshape(k, n), y[k * n : k * (n + m)].reshape(k, m), y[k * (n + m) :]
        rest = rest if self.ggl else np.zeros(s * (n + m))
        return W, L, rest[: s * n].reshape(s, n), rest[s * n :].reshape(s, m)

    def stages(self, W: Array, Z: Array) -> tuple[Array, Array]:
        """Q_i and V_i (s, n)."""
        (q0, v0), (A, V) = self.start, (self.weights.A, self.weights.V)
        velocity = v0 + V @ W
        return q0 + A @ (self.h * velocity + Z), velocity

    def points(self, W: Array, Z: Array) -> tuple[Array, Array]:
        """Q-_k and V-_k (r, n), where the constraints hold."""
        (q0, v0), w = self.start, self.weights
        return q0 + w.C @ (self.h * (v0 + w.V @ W) + Z), v0 + w.CV @ W

    def residual(self, y: Array) -> Array:
        """What should be zero."""
        system, h = self.system, self.h
        W, L, Z, N = self.parts(y)
        (Q, V), (at, rate) = self.stages(W, Z), self.points(W, Z)
        k = len(W)
        rows = [(self._M @ W.T).T - h * system.forces(Q[:k], V[:k], self.inputs[:k]) + system.pulls(Q[:k], L)]
        rows += [system.gaps(at) / h if self.position else system.rates(at, rate)]
        rows += [Z - system.pulls(Q, N), system.gaps(at)] if self.ggl else []
        return np.concatenate([part.ravel() for part in rows])

    def matrix(self, y: Array) -> Matrix:
        """The derivative of the residual; weights stand for sums over stages."""
        system, h, w = self.system, self.h, self.weights
        W, L, Z, N = self.parts(y)
        (Q, V), (at, rate), (s, k) = self.stages(W, Z), self.points(W, Z), w.V.shape
        n, AV, CV, one = system.n, h * w.A @ w.V, h * w.C @ w.V, np.eye(s)
        mu, z = k * n, k * (n + system.m)  # columns of L and Z; rows of the constraints and of Z
        stiffness = [system.G_stiffness(lam) for lam in L]
        tangents = [system.force_tangent(*each) for each in zip(Q[:k], V[:k], self.inputs[:k], strict=True)]
        by_q, by_v = zip(*tangents, strict=True)
        G, there = [system.G(q) for q in Q], [system.G(q) for q in at]
        terms = [Term(0, 0, one[:k, :k], [self._M] * k), Term(0, 0, -h * w.V[:k], by_v)]
        terms += [Term(0, 0, AV[:k], stiffness), Term(0, 0, -h * AV[:k], by_q)]
        terms += [Term(0, mu, one[:k, :k], G[:k], turned=True)]
        if self.position:
            return blockwise(y.size, [*terms, Term(mu, 0, CV / h, there)])
        change = [system.G_rate(v) for v in rate]
        terms += [Term(mu, 0, w.CV, there), Term(mu, 0, CV, change)]
        if self.ggl:
            S, unit, nu = [system.G_stiffness(m) for m in N], sparse.eye_array(n, format="csr"), z + s * n
            terms += [Term(0, z, w.A[:k], stiffness), Term(0, z, -h * w.A[:k], by_q), Term(mu, z, w.C, change)]
            terms += [Term(z, 0, -AV, S), Term(z, z, one, [unit] * s), Term(z, z, -w.A, S)]
            terms += [Term(z, nu, -one, G, turned=True), Term(nu, 0, CV, there), Term(nu, z, w.C, there)]
        return blockwise(y.size, terms)

    def size_of(self, y: Array, update: Array) -> float:
        """The change of velocities, relative to them."""
        dW, _, dZ, _ = self.parts(update)
        return velocity_change(self.h, *self.start, self.parts(y)[0], dW, dZ)


@dataclass(frozen=True)
class Partitioned(MechanicalScheme):
    """A partitioned method with `stages` stages; a step starts from positions and velocities on the constraints."""

    stages: int
    tolerance: float = 0.0
    max_iterations: int = 50

    @property
    def _stabilised(self) -> bool:
        """Whether constraints hold on both levels, with mu."""
        return False

    @property
    @abstractmethod
    def _weights(self) -> Weights:
        """Of stages and of the points with constraints."""

    @abstractmethod
    def _finish(
        self, equations: _Equations, lam0: Array, parts: tuple[Array, Array, Array, Array]
    ) -> tuple[Array, Array]:
        """The state at the end and Lambda_i (s, m), once the equations are solved."""

    def advance(self, at: Begin) -> PartitionedStep:
        """All stages at once, then what follows from them."""
        system, h = at.system, at.h
        q0, v0, lam0 = split_state(system, at.x0)
        ggl = self._stabilised and system.m > 0
        position = POSITION in self.preserves and not ggl
        equations = _Equations(system, self._weights, h, (q0, v0), at.u, position, ggl)
        if at.before is None:
            (s, k), (n, m) = self._weights.V.shape, (system.n, system.m)
            guess = np.concatenate([np.zeros(k * n), np.tile(h * lam0, k), np.zeros(ggl * s * (n + m))])
        else:
            guess = at.before.found.value
        found = self.solved((equations.residual, equations.matrix), equations.size_of, guess, at.before)
        W, L, Z, N = equations.parts(found.value)
        end, multipliers = self._finish(equations, lam0, (W, L, Z, N))
        X = np.hstack([*equations.stages(W, Z), multipliers])
        return PartitionedStep(end, X, found, N / h)


@dataclass(frozen=True)
class LobattoPair(Partitioned):
    """Lobatto IIIA for positions and IIIB for velocities after Jay, of order 2s - 2; LobattoPair(2) is RATTLE.

    Symplectic and symmetric: no drift of energy, exact momenta and constraints on both levels. Constraints g = 0 hold
    at all stages; the last stage is explicit and puts velocities onto G v = 0, by the solution of least norm where
    masses are zero: positions then have order s - 1 and velocities order 1 at most, so take `Murua` there. Steps are
    limited by h omega <= 2 (s = 2), 2.83 (3), 3.11 (4).
    """

    stages: int = 3

    @property
    def tableau(self) -> Tableau:
        """Of positions."""
        return lobatto_iiia(self.stages)

    @property
    def preserves(self) -> frozenset[str]:
        """Momenta, and constraints of positions and velocities."""
        return frozenset({LINEAR, ANGULAR, POSITION, VELOCITY})

    @property
    def _weights(self) -> Weights:
        A, V = self.tableau.A, lobatto_iiib(self.stages).A[:, :-1]  # the last stage does not act on others
        return Weights(A, V, A[1:], V[1:])

    def _finish(
        self, equations: _Equations, lam0: Array, parts: tuple[Array, Array, Array, Array]
    ) -> tuple[Array, Array]:
        """M W_s + G^T L_s = h f_s with G(q1) v1 = 0, v1 = v0 + sum_i b_i W_i."""
        W, L, Z, _ = parts
        system, h, b = equations.system, equations.h, self.tableau.b
        Q, V = equations.stages(W, Z)
        v = equations.start[1] + b[:-1] @ W
        level = system.rates(Q[-1:], v[None])[0]
        right = np.append(h * system.force(Q[-1], V[-1], equations.inputs[-1]), -level / b[-1])
        last, pull = np.split(factorised(kkt_matrix(system, Q[-1]))(right), [system.n])
        multipliers = np.vstack([L, pull]) / h
        return np.concatenate([Q[-1], v + b[-1] * last, multipliers[-1]]), multipliers


@dataclass(frozen=True)
class Murua(Partitioned):
    """Gauss stages with constraints at the Lobatto points, after Murua, of order 2s.

    Constraints of velocities are exact, with `ggl` those of positions too (q' = v + G^T mu). Energy changes by
    -h sum_i b_i Lambda_i . G(Q_i) V_i only. Masses may be zero where the equations still determine the motion.
    """

    stages: int = 2
    tolerance: float = 0.0
    max_iterations: int = 50
    ggl: bool = False

    @property
    def tableau(self) -> Tableau:
        """Of the stages."""
        return self._pair.gauss

    @property
    def preserves(self) -> frozenset[str]:
        """Linear momentum and velocity constraints; with `ggl` position constraints, without it angular momentum."""
        return frozenset({LINEAR, VELOCITY, POSITION if self.ggl else ANGULAR})

    @property
    def _stabilised(self) -> bool:
        return self.ggl

    @property
    def _pair(self) -> MuruaPair:
        return murua(self.stages)

    @property
    def _weights(self) -> Weights:
        A, C = self.tableau.A, self._pair.A
        return Weights(A, A, C, C)

    def _finish(
        self, equations: _Equations, lam0: Array, parts: tuple[Array, Array, Array, Array]
    ) -> tuple[Array, Array]:
        """The last point with constraints, and z1 = sum gamma_i Z_i."""
        W, L, Z, _ = parts
        Q, V = equations.points(W, Z)
        multipliers = L / equations.h
        return np.concatenate([Q[-1], V[-1], self._pair.gamma @ np.vstack([lam0, multipliers])]), multipliers
