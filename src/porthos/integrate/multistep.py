"""Backward differentiation formulas of a fixed order and step on descriptor systems: `BDF(k)`, 1 <= k <= 6.

E(x1, t1) p'(t1) = f(x1, u1, t1) with the polynomial p of degree k through x1 and the k states before it. The first
k - 1 steps are made by Radau IIA of k + 1 stages, exact enough for multipliers on position level too. A step to an
event ends after the part s of the others: the polynomial then has its nodes at s, 0, -1, ..., 1 - k.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from porthos.integrate.runge_kutta import RadauIIA, stage_matrix
from porthos.integrate.scheme import LINEAR, VELOCITY
from porthos.integrate.state_scheme import NEGLIGIBLE, Begin, RememberingStep, StateScheme
from porthos.integrate.tableaus import Tableau, radau_iia
from porthos.kernels.change import relative_change
from porthos.notation import Array
from porthos.system.descriptor import Matrix


@dataclass(frozen=True)
class BackwardStep(RememberingStep):
    """A step, and the states (k, n), `size` apart, that the next one looks back on, the latest first."""

    past: Array


@dataclass(frozen=True)
class BDF(StateScheme):
    """The backward differentiation formula of `steps` steps and as many orders, on every descriptor system.

    On constraints of index 1, 2 and 3 positions, velocities and multipliers have order k. A step ends on the algebraic
    equations and costs one solution of their size. All steps have one size, but one that ends a run at an event.
    """

    free_steps: ClassVar[bool] = False
    steps: int = 2
    tolerance: float = 0.0
    max_iterations: int = 50

    @property
    def order(self) -> int:
        """As many as steps."""
        return self.steps

    @property
    def tableau(self) -> Tableau:
        """That of the first steps; inputs, work and losses are taken at its points, on the polynomial."""
        return radau_iia(self.steps + 1)

    @property
    def preserves(self) -> frozenset[str]:
        """Linear momentum, and velocity constraints: they are the algebraic equations of (24)."""
        return frozenset({LINEAR, VELOCITY})

    @property
    def symmetric(self) -> bool:
        """It looks back."""
        return False

    def advance(self, at: Begin) -> BackwardStep:
        """With fewer than k states known, by Radau IIA; else by the formula."""
        k, x0 = self.steps, at.x0
        past = x0[None] if at.before is None else at.before.past
        if len(past) < k:
            first = RadauIIA(k + 1, self.tolerance, self.max_iterations).step(at.system, at.h, x0, at.u, at.t)
            return BackwardStep(first.x, first.stages, first.found, at.h, np.vstack([first.x, past]))
        rate, stages, ahead = _weights(k, 1.0 if at.before is None else at.h / at.before.size)
        system, h = at.system, at.h
        known = rate[1:] @ past

        weight, room = system.weights(abs(h)), np.empty(x0.size)
        last, part, times = at.u[-1:], np.array([[1.0 / rate[0]]]), np.array([at.t + h])

        def residual(x: Array) -> Array:
            return h / rate[0] * system.residuals(x[None], ((rate[0] * x + known) / h)[None], last, times)[0]

        def matrix(x: Array) -> Matrix:
            return stage_matrix(system, part, h, x[None], (rate[0] * x + known)[None], last, times)

        def size_of(x: Array, update: Array) -> float:
            return relative_change(x0, x, update, weight, NEGLIGIBLE, room)

        own = at.before is not None and at.before.found.value.size == x0.size  # Radau IIA has other unknowns
        found = self.solved(
            (residual, matrix), size_of, ahead @ past, at.before if own else None, system.tangent_cost
        )  # fmt: skip
        points = np.vstack([found.value, past])
        return BackwardStep(found.value, stages @ points, found, at.h, points[:k])


@lru_cache(maxsize=64)  # a run has one s, and some more where it looks for an event
def _weights(k: int, s: float) -> tuple[Array, Array, Array]:
    """Of the values at s, 0, -1, ..., 1 - k: s times the rate of their polynomial at s, and its values within (0, s).

    Then those that continue the polynomial through 0, ..., 1 - k to s.
    """
    nodes = np.append(s, -np.arange(k))
    polynomials = np.linalg.inv(np.vander(nodes, increasing=True))  # columns: coefficients of those of Lagrange
    powers = s ** np.arange(k + 1.0)
    rate = (np.arange(k + 1.0) * powers) @ polynomials
    stages = np.vander(s * radau_iia(k + 1).c, k + 1, increasing=True) @ polynomials
    ahead = powers[:k] @ np.linalg.inv(np.vander(nodes[1:], increasing=True))
    return rate, stages, ahead
