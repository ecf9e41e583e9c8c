"""Random port-Hamiltonian systems with all of E, r, J, R, B, P, S, N, for Hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import porthos as ph


def skew(rng, n):
    A = rng.normal(size=(n, n))
    return A - A.T


def linear(seed: int, n: int, m: int, rank: int | None = None, dissipation: float = 1.0) -> ph.LinearPHDAE:
    """E^T Q = K symmetric of the given rank, Gamma skew, W = L L^T of less than full rank."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n if rank is None else rank))
    Q = np.eye(n) + 0.3 * rng.normal(size=(n, n)) / np.sqrt(n)
    E = np.linalg.solve(Q.T, root @ root.T)  # E^T Q = root root^T
    gamma = skew(rng, n + m)
    L = rng.normal(size=(n + m, max(1, (n + m) // 2)))
    W = dissipation * L @ L.T
    return ph.LinearPHDAE(
        "random",
        J=gamma[:n, :n], Q=Q, R=W[:n, :n], E=E, B=gamma[:n, n:], P=W[:n, n:], S=W[n:, n:], N=gamma[n:, n:],
        ports=m,
    )  # fmt: skip


def nonlinear(seed: int, n: int, m: int, rank: int | None = None) -> ph.PHDAE:
    """The same in variables that bend and move: H(x, t) is then of degree four, and r is not zero."""
    rng = np.random.default_rng(seed + 1)
    A, b, c = 0.2 * rng.normal(size=(n, n)), 0.3 * rng.normal(size=n), 0.3 * rng.normal(size=n)

    def phi(w, t):
        return w + 0.1 * (A @ w) ** 2 + b * np.sin(t) * w + c * t**2

    def slope(w, t):
        return np.eye(n) + 0.2 * (A @ w)[:, None] * A + np.diag(b * np.sin(t))

    def drift(w, t):
        return b * np.cos(t) * w + 2 * c * t

    def U(w, t):
        return np.eye(n) + 0.1 * np.outer(b, w) + 0.1 * np.cos(t) * A

    return linear(seed, n, m, rank).transformed(phi, slope, drift, U)


seeds = st.integers(0, 2**32 - 2)
sizes = st.integers(1, 6)
widths = st.integers(0, 3)
