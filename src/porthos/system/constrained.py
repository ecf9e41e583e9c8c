"""Constrained motion, M v' = f(q, v, u) - G(q)^T lambda with g(q) = 0, as methods for mechanics see it.

Rows of g are at most quadratic, as those of all joints are: then G is affine in q.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from porthos.notation import Array
from porthos.system.blockwise import Term, blockwise
from porthos.system.descriptor import Matrix


class Constrained(Protocol):
    """What a method needs to know; a mechanical system does. M is constant and may be singular."""

    @property
    def n(self) -> int:
        """Number of coordinates."""

    @property
    def m(self) -> int:
        """Number of constraints."""

    @property
    def width(self) -> int:
        """Number of inputs."""

    @property
    def M(self) -> Matrix:
        """The mass matrix (n, n)."""

    def force(self, q: Array, v: Array, u: Array) -> Array:
        """f(q, v, u), all forces but those of the constraints."""

    def force_tangent(self, q: Array, v: Array, u: Array) -> tuple[Matrix, Matrix]:
        """df/dq and df/dv; terms may be left out where they are small against M/h^2."""

    def g(self, q: Array) -> Array:
        """The constraints (m,)."""

    def G(self, q: Array) -> Matrix:
        """dg/dq (m, n)."""

    def G_rate(self, v: Array) -> Matrix:
        """d(G v)/dq (m, n)."""

    def G_stiffness(self, lam: Array) -> Matrix:
        """d(G^T lambda)/dq (n, n)."""

    def forces(self, Q: Array, V: Array, U: Array) -> Array:
        """f(Q_i, V_i, U_i) (s, n) at several states, such as the stages of a step."""
        return np.array([self.force(*each) for each in zip(Q, V, U, strict=True)])

    def gaps(self, Q: Array) -> Array:
        """g(Q_i) (s, m)."""
        return np.array([self.g(q) for q in Q])

    def rates(self, Q: Array, V: Array) -> Array:
        """G(Q_i) V_i (s, m)."""
        return np.array([self.G(q) @ v for q, v in zip(Q, V, strict=True)])

    def pulls(self, Q: Array, L: Array) -> Array:
        """G(Q_i)^T L_i (s, n)."""
        return np.array([self.G(q).T @ lam for q, lam in zip(Q, L, strict=True)])


def weights_of_motion(n: int, m: int, index: int, h: float) -> Array:
    """`Descriptor.weights` of n positions, n velocities and m multipliers in equations of index 1, 2 or 3."""
    return np.repeat([1.0, h if index == 3 else 1.0, 1.0 if index == 1 else 0.0], [n, n, m])


def kkt_matrix(system: Constrained, q: Array) -> Matrix:
    """[M G^T; G 0], the matrix of accelerations and multipliers."""
    G = system.G(q)
    return saddle_matrix(system.M, G, G)


def saddle_matrix(M: Matrix, G: Matrix, level: Matrix) -> Matrix:
    """[M G^T; level 0]."""
    m, n = G.shape
    return blockwise(n + m, [Term(0, 0, 1.0, [M]), Term(0, n, 1.0, [G], turned=True), Term(n, 0, 1.0, [level])])
