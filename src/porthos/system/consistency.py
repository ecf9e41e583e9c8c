"""Index of a descriptor system at a state, and states that meet its algebraic and its hidden equations.

With null spaces E N = 0, L^T E = 0:  algebraic 0 = a(x) = L^T f;  where a_x N is singular, Q^T a_x N = 0, hidden
0 = Q^T (a_x E^+ f + a_t).  Index 0: no N;  1: no hidden equations;  2: they determine what a does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from porthos.errors import InconsistentStateError
from porthos.notation import Array
from porthos.system.descriptor import NO_RATE, Descriptor, dense

NO_SLOPE = 1e-12  # derivative that counts as zero
RANK = 1e-8  # singular value of scaled rows that counts as zero: derivatives may come from differences
MET = 1e-8  # gap that counts as round-off
SLOW = 0.1  # ratio of gaps above which they no longer shrink
TIME_STEP = 1e-5  # of the difference behind a_t
ITERATIONS = 12


@dataclass(frozen=True)
class IndexReport:
    """What kind of descriptor system it is at a state, and how well the state fits."""

    system: str
    index: int  # 3 stands for three or more
    states: int
    algebraic: int  # states without a rate of their own
    hidden: int  # equations whose derivative determines algebraic states
    redundant: int  # equations that repeat others: as many algebraic states are not unique
    algebraic_gap: float
    hidden_gap: float
    where: str  # the part of the state in whose equation the larger gap is

    @property
    def freedom(self) -> int:
        """How many numbers of a state can be chosen."""
        return self.states - self.algebraic - self.hidden + self.redundant

    @property
    def consistent(self) -> bool:
        """Whether both gaps are at round-off."""
        return max(self.algebraic_gap, self.hidden_gap) <= MET

    def __str__(self) -> str:
        number = "3 or more" if self.index == 3 else str(self.index)
        fits = "consistent" if self.consistent else f"NOT consistent, most in {self.where}"
        return (
            f"'{self.system}': index {number}; {self.states} states, {self.algebraic} of them algebraic, {self.hidden} "
            f"hidden equations, {self.redundant} redundant, {self.freedom} free\n"
            f"  the state is {fits}: gap {self.algebraic_gap:.2e} of algebraic, {self.hidden_gap:.2e} of hidden ones"
        )


class AlgebraicEquations:
    """The algebraic equations of a system at a state, scaled to gradients of length one, and their derivatives."""

    def __init__(self, system: Descriptor, x: Array, u: Array, t: float) -> None:
        self.system, self.u, self.t = system, u, t
        left, values, right = np.linalg.svd(dense(system.E(x, t)))
        rank = int(np.sum(values > NO_RATE * values.max(initial=0.0)))
        self.L, self.N = left[:, rank:], right[rank:].T
        self.inverse = right[:rank].T @ (left[:, :rank].T / values[:rank, None])  # E^+
        self.f_x = -dense(system.tangent(x, np.zeros(x.size), u, t))
        self.scale = _reciprocal(np.linalg.norm(self.L.T @ self.f_x, axis=1))
        self.a_x = self.scale[:, None] * (self.L.T @ self.f_x)
        columns, values, _ = np.linalg.svd(self.a_x @ self.N)
        rank = int(np.sum(values > RANK))
        self.regular, self.Q = columns[:, :rank], columns[:, rank:]  # Q: combinations without algebraic states
        self.impulse = self.inverse @ self.f_x @ self.N  # dx of an impulse dw of algebraic states
        hidden = self.Q.T @ self.a_x @ self.impulse
        self.weight = _reciprocal(np.linalg.norm(hidden))
        self.hidden_slope = self.weight * hidden
        self.slope = np.vstack([self.regular.T @ self.a_x @ self.N, self.hidden_slope])

    def a(self, x: Array, t: float | None = None) -> Array:
        """L^T f, scaled."""
        return self.scale * (self.L.T @ self.system.flow(x, self.u, self.t if t is None else t))

    def hidden(self, x: Array) -> Array:
        """Q^T (a_x E^+ f + a_t)."""
        a_t = (self.a(x, self.t + TIME_STEP) - self.a(x, self.t - TIME_STEP)) / (2 * TIME_STEP)
        return self.Q.T @ (self.a_x @ (self.inverse @ self.system.flow(x, self.u, self.t)) + a_t)

    def gaps(self, x: Array) -> tuple[float, float]:
        """How far a state is off, in the unit of its states and of their rates."""
        return float(np.abs(self.a(x)).max(initial=0.0)), float(np.abs(self.hidden(x)).max(initial=0.0))


def index_report(system: Descriptor, x: Array, u: Array, t: float) -> IndexReport:
    """The index of a system at a state, and the gaps of the state."""
    at = AlgebraicEquations(system, x, u, t)
    algebraic, hidden = at.N.shape[1], at.Q.shape[1]
    redundant = algebraic - _rank(at.a_x)
    known = _rank(at.slope) >= algebraic - redundant
    index = 0 if algebraic == 0 else 1 if hidden == redundant else 2 if known else 3
    off = np.abs(at.L @ at.a(x)) + np.abs(at.L @ (at.Q @ at.hidden(x)))
    where = system.block_of(int(np.argmax(off))) if algebraic else ""
    return IndexReport(system.name, index, x.size, algebraic, hidden, redundant, *at.gaps(x), where)


def consistent_state(system: Descriptor, x: Array, u: Array, t: float) -> Array:
    """The state next to x that meets the algebraic and the hidden equations.

    Equations without algebraic states are met by an impulse of these, E dx = f_x N dw: with masses in E it is the
    projection in the metric of the kinetic energy. Then the algebraic states are determined. Inputs count as constant.
    """
    before = np.inf
    for _ in range(ITERATIONS):
        at = AlgebraicEquations(system, x, u, t)
        gap = max(at.gaps(x), default=0.0)
        if gap == 0.0 or (gap <= MET and gap > SLOW * before):  # at round-off, and no longer shrinking
            return x
        before = gap
        impulse = np.linalg.lstsq(at.hidden_slope, -at.weight * (at.Q.T @ at.a(x)), rcond=RANK)[0]
        x = x + at.impulse @ impulse
        gaps = np.concatenate([at.regular.T @ at.a(x), at.weight * at.hidden(x)])
        x = x - at.N @ np.linalg.lstsq(at.slope, gaps, rcond=RANK)[0]
    raise InconsistentStateError(
        f"no state next to the one given meets the algebraic equations: {index_report(system, x, u, t)}"
    )


def _reciprocal(norm: Any) -> Any:
    """1/norm, and 1 where there is nothing to scale."""
    return 1.0 / np.where(norm > NO_SLOPE, norm, 1.0)


def _rank(A: Array) -> int:
    return int(np.sum(np.linalg.svd(A, compute_uv=False) > RANK)) if A.size else 0
