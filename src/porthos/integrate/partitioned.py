"""Partitioned Runge-Kutta methods on mechanisms and Lagrangians: `LobattoPair` after Jay and `Murua` (000, chapter 6).

Q_i = q0 + sum_j a_ij (h V_j + Z_j),   V_i = v0 + sum_j a^_ij W_j,   M(Q_i) W_i = h f(Q_i, V_i, u_i) - G(Q_i)^T L_i,

and constraints at points Q-_k, V-_k that are given by rows of weights in the same way. The unknowns are W_i = h V_i'
and L_i = h Lambda_i, which do not grow where h is small or a mass is zero; with the stabilisation of Gear, Gupta and
Leimkuhler also Z_i = G(Q_i)^T N_i and N_i = h mu_i. The pair steps Lagrangians by their momenta, see `momenta.py`.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from scipy import sparse

from porthos.integrate.momenta import MomentumEquations
from porthos.integrate.newton import factorised
from porthos.integrate.scheme import ANGULAR, CYCLIC, LINEAR, POSITION, VELOCITY
from porthos.integrate.state_scheme import Begin, MechanicalScheme, Step, least_speed, velocity_change
from porthos.integrate.tableaus import MuruaPair, Tableau, lobatto_iiia, lobatto_iiib, murua
from porthos.notation import Array
from porthos.system.blockwise import Term, blockwise
from porthos.system.descriptor import Matrix
from porthos.system.lagrangian_system import LagrangianSystem
from porthos.system.motion import Motion, motion_of

Four = tuple[Array, Array, Array, Array]


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

    @cached_property
    def positions(self) -> Array:
        """A and C (s + r, s)."""
        return np.vstack([self.A, self.C])

    @cached_property
    def velocities(self) -> Array:
        """V and CV (s + r, k)."""
        return np.vstack([self.V, self.CV])


@cache
def _weights_of_lobatto(stages: int) -> Weights:
    A, V = lobatto_iiia(stages).A, lobatto_iiib(stages).A[:, :-1]  # the last stage does not act on others
    return Weights(A, V, A[1:], V[1:])


@cache
def _weights_of_murua(stages: int) -> Weights:
    pair = murua(stages)
    return Weights(pair.gauss.A, pair.gauss.A, pair.A, pair.A)


@dataclass(frozen=True, eq=False)
class _Equations:
    """The equations of one step from time t, and their matrix."""

    motion: Motion
    weights: Weights
    t: float
    h: float
    start: tuple[Array, Array]
    inputs: Array
    position: bool  # g = 0 takes the place of G v + g_t = 0
    ggl: bool  # both hold

    @cached_property
    def times(self) -> Array:
        """Of the stages (s,)."""
        return self.t + self.h * self.weights.A.sum(axis=1)

    @cached_property
    def _point_times(self) -> Array:
        """Of the points with constraints (r,)."""
        return self.t + self.h * self.weights.C.sum(axis=1)

    def parts(self, y: Array) -> Four:
        """W (k, n), L (k, m), Z (s, n), N (s, m)."""
        n, m, (s, k) = self.motion.n, self.motion.m, self.weights.V.shape
        W, L, rest = y[: k * n].reshape(k, n), y[k * n : k * (n + m)].reshape(k, m), y[k * (n + m) :]
        rest = rest if self.ggl else np.zeros(s * (n + m))
        return W, L, rest[: s * n].reshape(s, n), rest[s * n :].reshape(s, m)

    def places(self, W: Array, Z: Array) -> Four:
        """Q_i and V_i (s, n) of the stages, Q-_k and V-_k (r, n) where the constraints hold."""
        (q0, v0), s = self.start, len(self.weights.A)
        V = v0 + self.weights.velocities @ W
        Q = q0 + self.weights.positions @ (self.h * V[:s] + Z)
        return Q[:s], V[:s], Q[s:], V[s:]

    def residual(self, y: Array) -> Array:
        """What should be zero."""
        motion, h, times, there = self.motion, self.h, self.times, self._point_times
        W, L, Z, N = self.parts(y)
        Q, V, at, rate = self.places(W, Z)
        k = len(W)
        rows = [motion.impulses(h, times[:k], Q[:k], V[:k], W, self.inputs[:k]) + motion.pulls(times[:k], Q[:k], L)]
        rows += [motion.gaps(there, at) / h if self.position else motion.rates(there, at, rate)]
        rows += [Z - motion.pulls(times, Q, N), motion.gaps(there, at)] if self.ggl else []
        return np.concatenate([part.ravel() for part in rows])

    def matrix(self, y: Array) -> Matrix:
        """The derivative of the residual; weights stand for sums over stages."""
        motion, h, w, times = self.motion, self.h, self.weights, self.times
        W, L, Z, N = self.parts(y)
        (Q, V, at, rate), (s, k) = self.places(W, Z), w.V.shape
        n, AV, CV, one = motion.n, h * w.A @ w.V, h * w.C @ w.V, np.eye(s)
        mu, z = k * n, k * (n + motion.m)  # columns of L and Z; rows of the constraints and of Z
        stiffness = [motion.stiffness(*each) for each in zip(times[:k], Q[:k], L, strict=True)]
        states = zip(times[:k], Q[:k], V[:k], W, self.inputs[:k], strict=True)
        by_q, by_v, M = zip(*(motion.impulse_tangent(h, *each) for each in states), strict=True)
        G = [motion.G(*each) for each in zip(times, Q, strict=True)]
        there = [motion.G(*each) for each in zip(self._point_times, at, strict=True)]
        terms = [Term(0, 0, one[:k, :k], M), Term(0, 0, w.V[:k], by_v)]
        terms += [Term(0, 0, AV[:k], stiffness), Term(0, 0, AV[:k], by_q)]
        terms += [Term(0, mu, one[:k, :k], G[:k], turned=True)]
        if self.position:
            return blockwise(y.size, [*terms, Term(mu, 0, CV / h, there)])
        change = [motion.rate_slope(*each) for each in zip(self._point_times, at, rate, strict=True)]
        terms += [Term(mu, 0, w.CV, there), Term(mu, 0, CV, change)]
        if self.ggl:
            S = [motion.stiffness(*each) for each in zip(times, Q, N, strict=True)]
            unit, nu = sparse.eye_array(n, format="csr"), z + s * n
            terms += [Term(0, z, w.A[:k], stiffness), Term(0, z, w.A[:k], by_q), Term(mu, z, w.C, change)]
            terms += [Term(z, 0, -AV, S), Term(z, z, one, [unit] * s), Term(z, z, -w.A, S)]
            terms += [Term(z, nu, -one, G, turned=True), Term(nu, 0, CV, there), Term(nu, z, w.C, there)]
        return blockwise(y.size, terms)

    def size_of(self, y: Array, update: Array) -> float:
        """The change of velocities, relative to them."""
        k, n, m = self.weights.V.shape[1], self.motion.n, self.motion.m
        first, z = k * n, k * (n + m)
        return velocity_change(self.h, self._least, y[:first], update[:first], update[z : z + len(self.weights.A) * n])

    @cached_property
    def _least(self) -> float:
        return least_speed(self.h, *self.start)


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
    def _finish(self, equations: _Equations, lam0: Array, parts: Four, places: Four) -> tuple[Array, Array]:
        """The state at the end and Lambda_i (s, m), from the unknowns and what `places` are with them."""

    def advance(self, at: Begin) -> PartitionedStep:
        """All stages at once, then what follows from them."""
        motion, h = motion_of(at.system), at.h
        q0, v0, lam0 = motion.split(at.x0)
        ggl = self._stabilised and motion.m > 0
        position = POSITION in self.preserves and not ggl
        equations = _Equations(motion, self._weights, at.t, h, (q0, v0), at.u, position, ggl)
        if at.before is None:
            (s, k), (n, m) = self._weights.V.shape, (motion.n, motion.m)
            guess = np.concatenate([np.zeros(k * n), np.tile(h * lam0, k), np.zeros(ggl * s * (n + m))])
        else:
            guess = at.before.found.value
        found = self.solved((equations.residual, equations.matrix), equations.size_of, guess, at.before)
        W, L, Z, N = equations.parts(found.value)
        places = equations.places(W, Z)
        end, multipliers = self._finish(equations, lam0, (W, L, Z, N), places)
        X = np.hstack([*places[:2], multipliers])
        return PartitionedStep(end, X, found, N / h)


@dataclass(frozen=True)
class LobattoPair(Partitioned):
    """Lobatto IIIA for positions and IIIB for velocities after Jay, of order 2s - 2; LobattoPair(2) is RATTLE.

    Symplectic and symmetric: no drift of energy, exact momenta and constraints on both levels. Constraints g = 0 hold
    at all stages; the last stage is explicit and puts velocities onto G v = 0, by the solution of least norm where
    masses are zero: positions then have order s - 1 and velocities order 1 at most, so take `Murua` there. Steps are
    limited by h omega <= 2 (s = 2), 2.83 (3), 3.11 (4). Lagrangians are stepped by their momenta dL/dv, so that all
    this holds for M(q) too, and momenta of cyclic coordinates are exact; M must then have an inverse.
    """

    stages: int = 3

    limits = (
        " LobattoPair cannot step over fast oscillations: h omega <= 2, 2.83, 3.11 with 2, 3, 4 stages; a light body"
        " between rods has omega = sqrt(2 force/mass) or so. Take smaller steps, or Murua or RadauIIA."
    )

    @property
    def tableau(self) -> Tableau:
        """Of positions."""
        return lobatto_iiia(self.stages)

    @property
    def preserves(self) -> frozenset[str]:
        """Momenta, and constraints of positions and velocities."""
        return frozenset({LINEAR, ANGULAR, CYCLIC, POSITION, VELOCITY})

    @property
    def _weights(self) -> Weights:
        return _weights_of_lobatto(self.stages)

    def _finish(self, equations: _Equations, lam0: Array, parts: Four, places: Four) -> tuple[Array, Array]:
        """M W_s + G^T L_s = h f_s with G(q1) v1 + g_t = 0, v1 = v0 + sum_i b_i W_i."""
        (W, L, _, _), (Q, V, _, _) = parts, places
        motion, h, b, t = equations.motion, equations.h, self.tableau.b, float(equations.times[-1])
        v = equations.start[1] + b[:-1] @ W
        right = np.append(h * motion.force(t, Q[-1], V[-1], equations.inputs[-1]), -motion.rate(t, Q[-1], v) / b[-1])
        last, pull = np.split(factorised(motion.kkt(t, Q[-1], V[-1]))(right), [motion.n])
        multipliers = np.vstack([L, pull]) / h
        return np.concatenate([Q[-1], v + b[-1] * last, multipliers[-1]]), multipliers

    def advance(self, at: Begin) -> PartitionedStep:
        """With velocities on mechanisms, with momenta on Lagrangians."""
        if not isinstance(at.system, LagrangianSystem):
            return super().advance(at)
        system, h, tableau = at.system, at.h, self.tableau
        q0, v0, lam0 = system.split(at.x0)
        times, B = at.t + h * tableau.c, lobatto_iiib(self.stages).A
        equations = MomentumEquations(system, tableau.A, B, h, times, (q0, v0), at.u)
        start = np.concatenate([np.zeros(self.stages * system.n), np.tile(h * lam0, self.stages - 1)])
        guess = start if at.before is None else at.before.found.value
        found = self.solved((equations.residual, equations.matrix), equations.size_of, guess, at.before)
        change, L = equations.parts(found.value)
        v, pull = equations.last(tableau.b, found.value)
        (Q, V), multipliers = equations.stages(change), np.vstack([L, pull]) / h
        end = np.concatenate([Q[-1], v, multipliers[-1]])
        return PartitionedStep(end, np.hstack([Q, V, multipliers]), found, np.zeros_like(multipliers))


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
        return _weights_of_murua(self.stages)

    def _finish(self, equations: _Equations, lam0: Array, parts: Four, places: Four) -> tuple[Array, Array]:
        """The last point with constraints, and z1 = sum gamma_i Z_i."""
        (_, L, _, _), (_, _, Q, V) = parts, places
        multipliers = L / equations.h
        return np.concatenate([Q[-1], V[-1], self._pair.gamma @ np.vstack([lam0, multipliers])]), multipliers
