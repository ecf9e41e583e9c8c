"""Newton's method to the round-off floor, with a matrix that is kept as long as it serves: W <- W - A^-1 F(W)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from math import isfinite, log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import lapack
from scipy.sparse.linalg import splu

from porthos.kernels.equilibration import Columns, equilibrate
from porthos.notation import Array, IntArray
from porthos.system.blockwise import columns_of
from porthos.system.descriptor import Matrix, dense

Solver = Callable[[Array], Array]

LARGEST_DENSE = 400  # unknowns up to which a matrix may be dense
SMALLEST_SPARSE = 60  # unknowns from which a sparse matrix is better left so
SINGULAR = 1e-14  # reciprocal condition, after scaling, below which rows count as repeating others
FLOOR = 1e-18  # relative update that no iteration can improve
STEADY = 1e-12  # updates below that do not shrink have met round-off
NOISE = 1e-7  # so have those below, if the matrix was made near the solution
NEAR = 1e-3  # an update of this size leads near the solution
SLOW = 0.3  # ratio of updates above which they do not shrink


@dataclass(frozen=True)
class Iterate:
    """Where Newton's method ended: the unknowns, the solver to go on with, and how it went."""

    value: Array
    solver: Solver | None  # None where the next step needs no solver of this one
    iterations: int
    converged: bool


def newton(
    residual: Callable[[Array], Array],
    matrix: Callable[[Array], Matrix],
    guess: Array,
    size_of: Callable[[Array, Array], float],
    solver: Solver | None,
    tolerance: float,
    iterations: int,
    patience: int,
) -> Iterate:
    """Solve residual(W) = 0 from a guess. `size_of(W, update)` measures an update relative to the unknowns.

    The solver of an earlier problem is used unless more iterations than `patience` are to be expected with it; then a
    matrix is made at the iterate, or at the guess if the old one led away from it.
    """
    W, last, sharp, kept = guess, np.nan, False, solver is not None  # nan: no update with this solver yet
    solver = factorised(matrix(W)) if solver is None else solver
    limit = max(tolerance, FLOOR)
    for k in range(1, iterations + 1):
        update = solver(residual(W))
        W = W - update
        size = size_of(W, update)
        ratio = size / last
        if size <= limit or (ratio < 1.0 and size * ratio / (1 - ratio) <= limit):
            return Iterate(W, solver, k, True)
        if ratio > SLOW and (size < STEADY or (size < NOISE and sharp)):
            return Iterate(W, solver, k, True)
        if ratio > SLOW or not isfinite(size) or (kept and log(limit / size) < patience * log(ratio)):
            if kept and not ratio < 1.0:
                W = guess
            elif not isfinite(size):
                return Iterate(W, solver, k, False)
            solver, sharp, kept, last = factorised(matrix(W)), size < NEAR, False, np.nan
            continue
        last = size
    return Iterate(W, solver, iterations, False)


@dataclass(frozen=True, eq=False)
class DenseFactors:
    """Solves with the factors of a matrix whose rows and columns were scaled."""

    row: Array
    column: Array
    factors: Array
    pivots: IntArray

    def __call__(self, b: Array) -> Array:
        """A^-1 b."""
        return self.column * lapack.dgetrs(self.factors, self.pivots, self.row * b)[0]


@dataclass(frozen=True, eq=False)
class PseudoInverse:
    """The same for a matrix whose rows repeat others."""

    row: Array
    column: Array
    inverse: NDArray[np.floating[Any]]

    def __call__(self, b: Array) -> Array:
        """The solution of least norm."""
        return self.column * (self.inverse @ (self.row * b))


@dataclass(frozen=True, eq=False)
class SparseFactors:
    """The same for a sparse matrix. It keeps the scaled matrix, of which the factors can be made again."""

    row: Array
    column: Array
    pointers: IntArray
    rows: IntArray
    entries: Array

    @cached_property
    def lu(self) -> Any:
        """The factors; RuntimeError if there are none."""
        return splu(columns_of(self.pointers, self.rows, self.entries))

    def __call__(self, b: Array) -> Array:
        """A^-1 b."""
        return self.column * self.lu.solve(self.row * b)


@dataclass(frozen=True, eq=False)
class Undefined:
    """What a matrix that is not finite gives."""

    def __call__(self, b: Array) -> Array:
        """Not a number."""
        return np.full(b.shape, np.nan)


def factorised(matrix: Matrix) -> Solver:
    """A function that solves with the matrix, after scaling its rows and columns to largest entries of one.

    Rows that repeat others (redundant joints) are met by the solution of least norm, unless the matrix is large.
    """
    n = matrix.shape[0]
    if n > LARGEST_DENSE or (n > SMALLEST_SPARSE and sparse.issparse(matrix)):
        solver = _sparse_solver(matrix.tocsc() if sparse.issparse(matrix) else sparse.csc_array(matrix))
        if solver is not None:
            return solver
    A = dense(matrix)
    if not np.all(np.isfinite(A)):
        return Undefined()
    row = _reciprocal(np.abs(A).max(axis=1))
    A = row[:, None] * A
    column = _reciprocal(np.abs(A).max(axis=0))
    A = A * column
    factors, pivots, info = lapack.dgetrf(A)
    reciprocal_condition = lapack.dgecon(factors, np.abs(A).sum(axis=0).max())[0] if info == 0 else 0.0
    if reciprocal_condition < SINGULAR:
        return PseudoInverse(row, column, np.linalg.pinv(A, rcond=1e-13))
    return DenseFactors(row, column, factors, pivots)


def _sparse_solver(A: sparse.csc_array) -> Solver | None:
    """The same by sparse factors; None if rows repeat others, and the matrix is small enough to be dense.

    A solve with numbers that follow no pattern tells: what it gives is larger by about the condition.
    """
    n, row, column = A.shape[0], np.empty(A.shape[0]), np.empty(A.shape[0])
    A.sort_indices()
    given, most = Columns(A.indptr, A.indices, A.data), A.data.size + n
    scaled = Columns(np.empty(n + 1, dtype=np.int32), np.empty(most, dtype=np.int32), np.empty(most))
    if not equilibrate(given, scaled, row, column):
        return Undefined()
    pointers, rows, entries = scaled.pointers, scaled.rows[: scaled.pointers[n]], scaled.entries[: scaled.pointers[n]]
    solver = SparseFactors(row, column, pointers, rows, entries)
    try:
        lu = solver.lu
    except RuntimeError:  # exactly singular
        if n > LARGEST_DENSE:
            raise
        return None
    if n <= LARGEST_DENSE:
        probe, norm = _probe(n), np.add.reduceat(np.abs(entries), pointers[:-1]).max()
        if not SINGULAR * norm * np.abs(lu.solve(probe)).sum() < np.abs(probe).sum():
            return None
    return solver


@cache
def _probe(n: int) -> Array:
    """Numbers that follow no pattern."""
    return np.cos(np.arange(n) ** 2)


def _reciprocal(largest: Array) -> Array:
    return 1.0 / np.where(largest > 0.0, largest, 1.0)
