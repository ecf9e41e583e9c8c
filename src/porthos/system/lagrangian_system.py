"""The pH-DAE (8) of 001 of a Lagrangian L(q, v) with constraints g(t, q) = 0, damping D and inputs B~:

diag(I, Lvv, 0) x' = ([0 I 0; -I Lqv - Lqv^T -G^T; 0 G 0] - diag(0, D, 0)) z + [0 0; B~ 0; 0 g_t] u,
x = (q, v, lambda),   z = (-Lq + Lqv v, v, lambda),   H = Lv.v - L.

Lqv - Lqv^T is the gyroscopic matrix; for L = v.M(q) v/2 - V(q) it is M' - 2 C, and (8) is (19). Constraints that depend
on time do work: g_t is the column of a port 'constraints' that is fed with 1, its output lambda.g_t is their power.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import InconsistentStateError, ModelError, StructureError
from porthos.notation import Array
from porthos.system.check import Finding, Report
from porthos.system.constrained import weights_of_motion
from porthos.system.descriptor import ANALYTIC, Descriptor
from porthos.system.phdae import PHDAE
from porthos.system.ranks import dependent_rows
from porthos.system.terms import Terms

CONSTRAINTS = "constraints"  # the port of constraints that depend on time
INCONSISTENT = 1e-9  # by how much an initial state may miss a constraint, relative to its size
SINGULAR = 1e-12  # reciprocal condition of M below which it has no inverse


class LagrangianSystem(PHDAE):
    """The pH-DAE (8) on given terms; `Lagrangian` and `NumericLagrangian` make the terms."""

    def __init__(
        self,
        name: str,
        terms: Terms,
        coordinates: Sequence[str],
        velocities: Sequence[str],
        ports: Mapping[str, int],
        initial: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> None:
        self.name, self.terms = name, terms
        self.coordinates, self.velocities = tuple(coordinates), tuple(velocities)
        names = [*self.coordinates, *self.velocities]
        repeated = next((each for each in names if names.count(each) > 1 or each == "lambda"), None)
        if repeated is not None:
            raise ModelError(f"Lagrangian '{name}': the name '{repeated}' stands for two things; choose another one.")
        self._ports, at = {}, 0
        for port, size in {**ports, **({CONSTRAINTS: 1} if terms.rheonomic else {})}.items():
            self._ports[port] = slice(at, at + size)
            at += size
        self._initial = None if initial is None else self._consistent(*self._pair(initial))

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}('{self.name}': n = {self.n} coordinates ({', '.join(self.coordinates)}), "
            f"m = {self.m} constraints, {len(self.ports)} ports)"
        )

    # --- sizes and places

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.terms.n

    @property
    def m(self) -> int:
        """Number of constraints."""
        return self.terms.m

    @property
    def dimension(self) -> int:
        """Number of states (q, v, lambda)."""
        return 2 * self.n + self.m

    @cached_property
    def blocks(self) -> Mapping[str, slice]:
        """Coordinates and velocities by their names, then all multipliers."""
        places = {name: slice(i, i + 1) for i, name in enumerate((*self.coordinates, *self.velocities))}
        return {**places, "lambda": slice(2 * self.n, self.dimension)} if self.m else places

    @property
    def ports(self) -> Mapping[str, slice]:
        """The inputs, and the port of constraints that depend on time."""
        return self._ports

    @property
    def sources(self) -> Mapping[str, Callable[[float], Any]]:
        """Constraints that depend on time feed themselves."""
        return {CONSTRAINTS: lambda t: 1.0} if self.terms.rheonomic else {}

    @property
    def tangent_cost(self) -> int:
        """Few evaluations of `residual` where derivatives are known."""
        return ANALYTIC if self.terms.analytic else super().tangent_cost

    def weights(self, h: float) -> Array:
        """Multipliers follow from positions and velocities."""
        return weights_of_motion(self.n, self.m, 2, h)

    def split(self, x: Array) -> tuple[Array, Array, Array]:
        """(q, v, lambda) of a state."""
        x, n = self.as_state(x), self.n
        return x[:n], x[n : 2 * n], x[2 * n :]

    # --- initial values

    def initial_state(self) -> Array:
        """(q, v) as given, and the multipliers that belong to their accelerations."""
        return super().initial_state() if self._initial is None else self._initial.copy()

    def _pair(self, initial: Any) -> tuple[ArrayLike, ArrayLike]:
        if not isinstance(initial, tuple | list) or len(initial) != 2:
            raise ModelError(
                f"Lagrangian '{self.name}': initial: expected two lists, coordinates ({', '.join(self.coordinates)}) "
                f"and velocities ({', '.join(self.velocities)}), found {initial!r}."
            )
        return initial[0], initial[1]

    def _consistent(self, q: ArrayLike, v: ArrayLike) -> Array:
        q, v = (self._numbers(part, what) for part, what in ((q, "coordinates"), (v, "velocities")))
        g, G = self.terms.g(0.0, q), self.terms.G(0.0, q)
        for what, gap in (("position", g), ("velocity", G @ v + self.terms.g_t(0.0, q))):
            k = int(np.argmax(np.abs(gap))) if gap.size else 0
            if gap.size and not abs(gap[k]) <= INCONSISTENT * max(1.0, float(np.abs(G).max())):
                raise InconsistentStateError(
                    f"Lagrangian '{self.name}': the initial values miss constraint {k} on {what} level by "
                    f"{gap[k]:.6g}. Give coordinates with g(0, q) = 0 and velocities with G v + g_t = 0."
                )
        return np.concatenate([q, v, self.accelerations(q, v)[1]])

    def _numbers(self, given: ArrayLike, what: str) -> Array:
        try:
            numbers = np.asarray(given, dtype=np.float64)
        except Exception:  # noqa: BLE001 - an object of another class may raise anything
            numbers = np.zeros(0)
        if numbers.shape != (self.n,) or not np.isfinite(numbers).all():
            raise ModelError(
                f"Lagrangian '{self.name}': initial {what}: expected {self.n} finite numbers for "
                f"({', '.join(self.coordinates)}), found {given!r}."
            )
        return numbers

    def accelerations(self, q: Array, v: Array, u: ArrayLike | None = None, t: float = 0.0) -> tuple[Array, Array]:
        """v' and lambda from Lvv v' + G^T lambda = Lq - Lvq v - D v + B~ u and d(G v + g_t)/dt = 0.

        Where M is singular but the constraints make up for it, the solution is unique; else the one of least norm.
        """
        terms = self.terms
        _, Lqv, M = terms.second(q, v)
        G, (N, _, drift) = terms.G(t, q), terms.curvature(t, q, v, np.zeros(self.m))
        force = terms.Lq(q, v) - Lqv.T @ v - terms.D(t, q, v) @ v
        if u is not None:
            force = force + terms.Bt(t, q, v) @ np.asarray(u, dtype=np.float64)[: terms.k]
        A = np.block([[M, G.T], [G, np.zeros((self.m, self.m))]])
        found = np.linalg.lstsq(A, np.concatenate([force, -N @ v - drift]), rcond=1e-13)[0]
        return found[: self.n], found[self.n :]

    # --- the pH-DAE (8)

    def H(self, x: Array, t: float = 0.0) -> float:
        """Lv.v - L, eq. (11)."""
        q, v, _ = self.split(x)
        return float(self.terms.Lv(q, v) @ v) - self.terms.L(q, v)

    def E(self, x: Array, t: float = 0.0) -> Array:
        """diag(I, Lvv, 0)."""
        q, v, _ = self.split(x)
        n, E = self.n, np.zeros((self.dimension, self.dimension))
        E[:n, :n] = np.eye(n)
        E[n : 2 * n, n : 2 * n] = self.terms.second(q, v)[2]
        return E

    def J(self, x: Array, t: float = 0.0) -> Array:
        """[0 I 0; -I Lqv - Lqv^T -G^T; 0 G 0]."""
        q, v, _ = self.split(x)
        n, G, Lqv = self.n, self.terms.G(t, q), self.terms.second(q, v)[1]
        J = np.zeros((self.dimension, self.dimension))
        J[:n, n : 2 * n], J[n : 2 * n, :n] = np.eye(n), -np.eye(n)
        J[n : 2 * n, n : 2 * n] = Lqv - Lqv.T
        J[n : 2 * n, 2 * n :], J[2 * n :, n : 2 * n] = -G.T, G
        return J

    def R(self, x: Array, t: float = 0.0) -> Array:
        """diag(0, D, 0)."""
        q, v, _ = self.split(x)
        R = np.zeros((self.dimension, self.dimension))
        R[self.n : 2 * self.n, self.n : 2 * self.n] = self.terms.D(t, q, v)
        return R

    def z(self, x: Array, t: float = 0.0) -> Array:
        """(-Lq + Lqv v, v, lambda)."""
        q, v, lam = self.split(x)
        return np.concatenate([self.terms.second(q, v)[1] @ v - self.terms.Lq(q, v), v, lam])

    def B(self, x: Array, t: float = 0.0) -> Array:
        """[0 0; B~ 0; 0 g_t]; the last column only where constraints depend on time."""
        q, v, _ = self.split(x)
        B = np.zeros((self.dimension, self.width))
        B[self.n : 2 * self.n, : self.terms.k] = self.terms.Bt(t, q, v)
        if self.terms.rheonomic:
            B[2 * self.n :, -1] = self.terms.g_t(t, q)
        return B

    def y(self, x: Array, u: Array | None = None, t: float = 0.0) -> Array:
        """The outputs; what they need of z, velocities and multipliers, stands in x in the same places."""
        return self.output_by(x, x, u, t)

    def output_by(self, x: Array, e: Array, u: Array | None = None, t: float = 0.0) -> Array:
        """B^T e = (B~^T w, g_t . mu) with the velocities w and multipliers mu of e: inputs are not fed through."""
        del u
        (q, v, _), (_, w, mu) = self.split(x), self.split(e)
        y = self.terms.Bt(t, q, v).T @ w
        return np.append(y, self.terms.g_t(t, q) @ mu) if self.terms.rheonomic else y

    def dissipation(self, x: Array, u: Array, t: float = 0.0) -> float:
        """The power that is lost; its velocities are those of z."""
        return self.loss_by(x, x, u, t)

    def loss_by(self, x: Array, e: Array, u: Array, t: float = 0.0) -> float:
        """w^T D w with the velocities w of e."""
        del u
        (q, v, _), (_, w, _) = self.split(x), self.split(e)
        return float(w @ (self.terms.D(t, q, v) @ w))

    def flow(self, x: Array, u: Array, t: float = 0.0) -> Array:
        """(v, Lq - Lvq v - G^T lambda - D v + B~ u, G v + g_t)."""
        return -self.residual(x, np.zeros(self.dimension), u, t)

    def residual(self, x: Array, rate: Array, u: Array, t: float = 0.0) -> Array:
        """(q' - v, d/dt Lv - Lq + G^T lambda + D v - B~ u, -G v - g_t), d/dt Lv = Lvv v' + Lvq v."""
        (q, v, lam), terms, n = self.split(x), self.terms, self.n
        G = terms.G(t, q)
        force = terms.Lq(q, v) - G.T @ lam - terms.D(t, q, v) @ v + terms.Bt(t, q, v) @ u[: terms.k]
        drift = terms.g_t(t, q) * u[-1] if terms.rheonomic else 0.0
        return np.concatenate([rate[:n] - v, terms.momentum_rate(q, v, rate[n : 2 * n]) - force, -G @ v - drift])

    def tangent(self, x: Array, rate: Array, u: Array, t: float = 0.0) -> Array:
        """The derivative of E x' - f, known or by differences."""
        (q, v, lam), n = self.split(x), self.n
        known = self.terms.tangent(t, q, v, rate[n : 2 * n], u[: self.terms.k])
        if known is None:
            return super().tangent(x, rate, u, t)
        G, (N, K, _) = self.terms.G(t, q), self.terms.curvature(t, q, v, lam)
        T = np.zeros((self.dimension, self.dimension))
        T[:n, n : 2 * n] = -np.eye(n)
        T[n : 2 * n, :n], T[n : 2 * n, n : 2 * n], T[n : 2 * n, 2 * n :] = known[0] + K, known[1], G.T
        T[2 * n :, :n], T[2 * n :, n : 2 * n] = -N, -G
        return T

    # --- checks

    def structure(self, x: Array, t: float = 0.0) -> Report:
        """The conditions of a pH-DAE at x, and that no constraint repeats others."""
        report = super().structure(x, t)
        if self.m == 0:
            return report
        rank, rows = dependent_rows(self.terms.G(t, self.split(x)[0]))
        where = f"rank {rank} of {self.m} constraints; those that repeat others are among {rows.tolist()}"
        return Report(self.name, (*report.findings, Finding("G has full rank", float(self.m - rank), 0.0, where)))

    # --- other forms

    @cached_property
    def ggl(self) -> IndexOneForm:
        """The same system with constraints on both levels, (61) for M(q): x = (q, v, lambda, gamma)."""
        return IndexOneForm(self)

    def formulation(self, name: str, **options: float) -> Descriptor:
        """The formulation named 'index 2', which is (8) itself, 'index 1', (61), or one of Baumgarte's."""
        from porthos.system.formulations import chosen_form  # its forms need this module

        return chosen_form(self, {"index 2": lambda: self, "index 1": lambda: self.ggl}, name, options)


class IndexOneForm(PHDAE):
    """The index-1 form (61) of 001, for M(q), damping, inputs and constraints that depend on time.

    With N = d(G v + g_t)/dq, A = Lqv - Lqv^T and X = N^T - A M^-1 G^T, from d(G v + g_t)/dt = 0 in the last row:

    J = [0 I 0 M^-1 G^T; -I A -G^T -X; 0 G 0 G M^-1 G^T; -G M^-1 X^T -G M^-1 G^T J44],
    J44 = N M^-1 G^T - G M^-1 N^T + G M^-1 A M^-1 G^T.

    Inputs and damping act on q' = v + M^-1 G^T gamma: B = K B~ and R = K D K^T with K = [0; I; 0; G M^-1]. For constant
    M this is (61) as printed.
    """

    def __init__(self, system: LagrangianSystem) -> None:
        self.system = system
        self.name = f"{system.name} (index 1)"

    @property
    def dimension(self) -> int:
        """Number of states (q, v, lambda, gamma)."""
        return self.system.dimension + self.system.m

    @property
    def ports(self) -> Mapping[str, slice]:
        """The ports of (8)."""
        return self.system.ports

    @property
    def blocks(self) -> Mapping[str, slice]:
        """Parts of the state; gamma is one block."""
        m = self.system.m
        return {**self.system.blocks, **({"gamma": slice(self.dimension - m, self.dimension)} if m else {})}

    @property
    def sources(self) -> Mapping[str, Any]:
        """Those of (8)."""
        return self.system.sources

    def initial_state(self) -> Array:
        """The initial state of (8), with gamma = 0."""
        return np.concatenate([self.system.initial_state(), np.zeros(self.system.m)])

    def _parts(self, x: Array, t: float) -> tuple[Any, ...]:
        """q, v, G, N, d(G v + g_t)/dt, M^-1 and A at a state."""
        q, v, _ = self.system.split(self.as_state(x)[: self.system.dimension])
        terms = self.system.terms
        N, _, drift = terms.curvature(t, q, v, np.zeros(self.system.m))
        _, Lqv, M = terms.second(q, v)
        if not np.linalg.cond(M) < 1 / SINGULAR:
            raise StructureError(
                f"system '{self.name}': the mass matrix {M.tolist()} has no inverse at q = {q.tolist()}, which the "
                "index-1 form needs. Use the system itself (index 2), or ph.Livens()."
            )
        return q, v, terms.G(t, q), N, drift, np.linalg.inv(M), Lqv - Lqv.T

    def H(self, x: Array, t: float = 0.0) -> float:
        """The energy of (8)."""
        return self.system.H(self.as_state(x)[: self.system.dimension])

    def E(self, x: Array, t: float = 0.0) -> Array:
        """diag(I, M, 0, 0)."""
        E = np.zeros((self.dimension, self.dimension))
        inner = self.system.dimension
        E[:inner, :inner] = self.system.E(self.as_state(x)[:inner])
        return E

    def J(self, x: Array, t: float = 0.0) -> Array:
        """The skew matrix of (61) with the gyroscopic matrix A."""
        _, _, G, N, _, W, A = self._parts(x, t)
        n, m = self.system.n, self.system.m
        one, GW = np.eye(n), G @ W
        X, J44 = N.T - A @ GW.T, N @ GW.T - GW @ N.T + GW @ A @ GW.T
        rows = [
            [np.zeros((n, n)), one, np.zeros((n, m)), GW.T],
            [-one, A, -G.T, -X],
            [np.zeros((m, n)), G, np.zeros((m, m)), GW @ G.T],
            [-GW, X.T, -GW @ G.T, J44],
        ]
        return np.block(rows)

    def _port(self, x: Array, t: float) -> Array:
        """K = [0; I; 0; G M^-1]."""
        _, _, G, _, _, W, _ = self._parts(x, t)
        n, m = self.system.n, self.system.m
        return np.vstack([np.zeros((n, n)), np.eye(n), np.zeros((m, n)), G @ W])

    def R(self, x: Array, t: float = 0.0) -> Array:
        """K D K^T."""
        q, v, _ = self.system.split(self.as_state(x)[: self.system.dimension])
        K = self._port(x, t)
        return K @ self.system.terms.D(t, q, v) @ K.T

    def z(self, x: Array, t: float = 0.0) -> Array:
        """(dH/dq, v, lambda, gamma)."""
        inner = self.system.dimension
        return np.concatenate([self.system.z(self.as_state(x)[:inner]), x[inner:]])

    def B(self, x: Array, t: float = 0.0) -> Array:
        """K B~, and (0, 0, g_t, d(G v + g_t)/dt) where constraints depend on time."""
        q, v, _, _, drift, _, _ = self._parts(x, t)
        n, terms = self.system.n, self.system.terms
        B = self._port(x, t) @ terms.Bt(t, q, v)
        if not terms.rheonomic:
            return B
        column = np.concatenate([np.zeros(2 * n), terms.g_t(t, q), drift])
        return np.column_stack([B, column])
