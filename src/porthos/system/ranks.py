"""The rank of constraint rows, and which of them repeat others, by the singular values of rows of length one."""

from __future__ import annotations

import numpy as np

from porthos.notation import Array, IntArray

RANK_TOLERANCE = 1e-9
LARGEST_DENSE = 3000  # rows up to which ranks and eigenvalues are computed with dense matrices
INVOLVED = 0.1  # share of the strongest row from which a row counts as part of a dependence


def dependent_rows(G: Array) -> tuple[int, IntArray]:
    """Rank of G (R, n), and the numbers of the rows that take part in a dependence."""
    if G.shape[0] == 0:
        return 0, np.zeros(0, dtype=np.int64)
    scaled = G / np.maximum(np.linalg.norm(G, axis=1, keepdims=True), 1e-300)
    singular = np.linalg.svd(scaled, compute_uv=False)
    rank = int(np.sum(singular > RANK_TOLERANCE * singular[0]))
    if rank == G.shape[0]:
        return rank, np.zeros(0, dtype=np.int64)
    left = np.linalg.svd(scaled, full_matrices=len(scaled) > scaled.shape[1])[0][:, rank:]
    strongest = np.linalg.norm(left, axis=1)
    return rank, np.flatnonzero(strongest > INVOLVED * strongest.max())


def left_null_space(G: Array, tolerance: float = RANK_TOLERANCE) -> Array:
    """An orthonormal basis (R, R - rank) of the combinations of rows of G that vanish."""
    length = np.maximum(np.linalg.norm(G, axis=1, keepdims=True), 1e-300)
    left, singular, _ = np.linalg.svd(G / length, full_matrices=True)
    rank = int(np.sum(singular > tolerance * singular.max(initial=0.0)))
    return np.linalg.qr(left[:, rank:] / length)[0]
