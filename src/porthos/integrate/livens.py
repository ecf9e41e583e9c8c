"""The energy-consistent scheme of Livens' principle, 003, eqs. (28) and (30):

q1 - q0 = h vm,   p1 - p0 = h (D1 L - sum_k lambda_k Dg_k - D vm + B~ u),   pm = D2 L,   g(t1, q1) = 0,

with vm = (v0 + v1)/2, pm = (p0 + p1)/2 and discrete derivatives D1, D2 of L with respect to q and v:
D1 L.(q1 - q0) + D2 L.(v1 - v0) = L1 - L0. Hence E = p.v - L changes by h vm.B~ u - h vm.D vm, exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from porthos.integrate.discrete_derivatives import gonzalez, itoh_abe, mean_value
from porthos.integrate.midpoint import Midpoint
from porthos.integrate.newton import Solver, newton
from porthos.integrate.options import Derivative, Partition
from porthos.integrate.scheme import ANGULAR, CYCLIC, GENERALISED, LINEAR, POSITION, Needs, Scheme
from porthos.notation import Array
from porthos.system.lagrangian_system import LagrangianSystem
from porthos.system.mechanical import MechanicalSystem
from porthos.system.terms import Terms

DERIVATIVES: dict[str, Callable[..., Array]] = {
    "gonzalez": gonzalez, "mean value": mean_value, "itoh-abe": itoh_abe,
}  # fmt: skip
PATIENCE = 12  # iterations that a matrix is worth
NEGLIGIBLE = 1e-3  # a coordinate that moves less than this part of the fastest is measured against that


@dataclass(frozen=True)
class Livens(Scheme):
    """The energy-consistent scheme of Livens' principle: no inverse of M(q), no Hamiltonian, any potential.

    Runs on Lagrangians; M may depend on coordinates and may be singular, constraints may be of any degree. The
    generalised energy E = p.v - L, position constraints and momenta of cyclic coordinates are exact. E is the energy H
    as far as p = dL/dv holds, which it does for constant M and to second order otherwise: `momentum_gap` of a run
    says how far. On mechanisms, whose M is constant and diagonal and whose constraints are quadratic, all discrete
    derivatives are those of the midpoint rule with the means of force elements, and `Midpoint` makes the steps.

    `derivative` is "gonzalez", "mean value" or "itoh-abe". With `partition` "symmetric", q moves before v in one half
    and after it in the other: order 2; "sequential" is one half alone, and of order 1 where L couples q and v.
    """

    needs = Needs(
        (MechanicalSystem, LagrangianSystem),
        "mechanisms and Lagrangians",
        "Make it a ph.Lagrangian, or use a Runge-Kutta method such as ph.Gauss(2).",
    )
    derivative: Derivative = "gonzalez"
    partition: Partition = "symmetric"
    tolerance: float = 0.0
    max_iterations: int = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.rule  # refuses what makes no sense

    @property
    def order(self) -> int:
        """2, or 1 for the sequential partition where L couples q and v."""
        return 2 if self.symmetric else 1

    @property
    def preserves(self) -> frozenset[str]:
        """E = p.v - L, position constraints, momenta of cyclic coordinates; on mechanisms what `Midpoint` does."""
        return frozenset({GENERALISED, LINEAR, ANGULAR, POSITION, CYCLIC})

    @property
    def symmetric(self) -> bool:
        """Whether a step back undoes a step."""
        return self.partition == "symmetric"

    @property
    def rule(self) -> Midpoint:
        """The midpoint rule, which on mechanisms is this scheme: all terms are at most quadratic."""
        return Midpoint(self.tolerance, self.max_iterations)


@dataclass(frozen=True)
class LivensStep:
    """One step of the scheme: its end, the multipliers of its middle, and what the ports and dampers did."""

    q: Array
    v: Array
    p: Array
    lam: Array
    work: Array  # (k,) through inputs, then through constraints that depend on time
    lost: float
    iterations: int
    converged: bool
    solver: Solver | None  # for the next step


def plain_step(
    scheme: Livens,
    terms: Terms,
    h: float,
    t: float,
    q0: Array,
    v0: Array,
    p0: Array,
    u: Array,
    guess: Array,
    solver: Solver | None = None,
) -> LivensStep:
    """A step in NumPy, for Lagrangians of plain functions; `guess` holds d = q1 - q0 and mu = h^2 lambda/2.

    The equations are those of `porthos.kernels.livens`, which makes the steps of generated Lagrangians.
    """
    n, m, k, tm = terms.n, terms.m, terms.k, t + h / 2

    discrete = DERIVATIVES[scheme.derivative]

    def parts(d: Array) -> tuple[Array, Array, Array]:
        """D1 L, D2 L and Dg."""
        q1, v1 = q0 + d, 2 * d / h - v0

        def of_q(v: Array) -> Array:
            value, slope = (lambda q: np.array([terms.L(q, v)])), (lambda q: terms.Lq(q, v)[None])
            return discrete(value, slope, q0, q1, terms.active[:1])[0]

        def of_v(q: Array) -> Array:
            if terms.quadratic:
                return terms.Lv(q, (v0 + v1) / 2)
            value, slope = (lambda v: np.array([terms.L(q, v)])), (lambda v: terms.Lv(q, v)[None])
            return discrete(value, slope, v0, v1, np.ones((1, n)))[0]

        Dq, Dv = of_q(v0), of_v(q1)
        if scheme.symmetric:
            Dq, Dv = (Dq + of_q(v1)) / 2, (Dv + of_v(q0)) / 2
        return Dq, Dv, discrete(lambda q: terms.g(tm, q), lambda q: terms.G(tm, q), q0, q1, terms.active[1:])

    def residual(x: Array) -> Array:
        d, mu = x[:n], x[n:]
        qm, vm, (Dq, Dv, Dg) = q0 + d / 2, d / h, parts(d)
        force = terms.Bt(tm, qm, vm) @ u[:k] - terms.D(tm, qm, vm) @ vm
        return np.concatenate([h * (Dv - p0) - h**2 / 2 * (Dq + force) + Dg.T @ mu, terms.g(t + h, q0 + d)])

    def matrix(x: Array) -> Array:
        d, mu = x[:n], x[n:]
        qm, vm = q0 + d / 2, d / h
        Lqq, Lqv, M = terms.second(qm, vm)
        K = terms.curvature(tm, qm, vm, 2 * mu / h**2)[1]
        A = M + h / 2 * (Lqv.T - Lqv + terms.D(tm, qm, vm)) - h**2 / 4 * (Lqq - K)
        return np.block([[A, terms.G(tm, qm).T], [terms.G(t + h, q0 + d), np.zeros((m, m))]])

    def size_of(x: Array, update: Array) -> float:
        scale = np.maximum(np.abs(x[:n]), abs(h) * np.abs(v0))
        return float((np.abs(update[:n]) / np.maximum(scale, NEGLIGIBLE * scale.max(initial=1e-300))).max())

    found = newton(residual, matrix, guess, size_of, solver, scheme.tolerance, scheme.max_iterations, PATIENCE)
    d, lam = found.value[:n], 2 * found.value[n:] / h**2
    qm, vm, (_, Dv, Dg) = q0 + d / 2, d / h, parts(d)
    work = h * (terms.Bt(tm, qm, vm).T @ vm) * u[:k]
    if terms.rheonomic:
        work = np.append(work, -lam @ (Dg @ d))
    lost = float(h * vm @ (terms.D(tm, qm, vm) @ vm))
    return LivensStep(
        q0 + d, 2 * vm - v0, 2 * Dv - p0, lam, work, lost, found.iterations, found.converged, found.solver
    )
