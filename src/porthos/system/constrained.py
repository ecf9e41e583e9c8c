"""Constrained motion, M v' = f(q, v, u) - G(q)^T lambda with g(q) = 0, as methods for mechanics see it.

Rows of g are at most quadratic, as those of all joints are: then G is affine in q.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy import sparse

from porthos.notation import Array
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


def split_state(system: Constrained, x: Array) -> tuple[Array, Array, Array]:
    """(q, v, lambda) of a state."""
    q, v, lam = np.split(x, [system.n, 2 * system.n])
    return q, v, lam


def kkt_matrix(system: Constrained, q: Array) -> Matrix:
    """[M G^T; G 0], the matrix of accelerations and multipliers."""
    G = sparse.csr_array(system.G(q))
    if system.m == 0:
        return sparse.csr_array(system.M)
    return sparse.block_array([[sparse.csr_array(system.M), G.T], [G, None]], format="csr")
