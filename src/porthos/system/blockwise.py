"""Sparse matrices put together from blocks with weights, whose places in the result are found once for each pattern.

Newton's method asks for the same matrix with other numbers again and again: what a matrix of blocks costs is then one
product of weights and entries, and one sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from porthos.notation import Array, IntArray
from porthos.system.descriptor import Matrix

PATTERNS = 32  # that are remembered


class Term(NamedTuple):
    """Blocks (i, j) = weights_ij B_i, or weights_ij B_i^T if `turned`; the first is at the row `top`, column `left`."""

    top: int
    left: int
    weights: Array  # (r, c)
    blocks: Sequence[Matrix]  # (r,) matrices of one shape
    turned: bool = False


class _Pattern(NamedTuple):
    """Where the entries of a compressed matrix are; equal ones are the same key."""

    major: bytes
    minor: bytes
    shape: tuple[int, int]
    by_columns: bool

    def places(self) -> tuple[IntArray, IntArray]:
        """Rows and columns of all entries."""
        pointers, minor = (np.frombuffer(x, dtype=np.int32).astype(np.int64) for x in (self.major, self.minor))
        major = np.repeat(np.arange(pointers.size - 1, dtype=np.int64), np.diff(pointers))
        return (minor, major) if self.by_columns else (major, minor)


class _Frame(NamedTuple):
    """The places of a term, without its numbers."""

    top: int
    left: int
    turned: bool
    nonzero: tuple[tuple[int, int], ...]
    patterns: tuple[_Pattern, ...]

    def places(self) -> tuple[IntArray, IntArray]:
        """Rows and columns of all entries of all blocks."""
        rows, columns = [], []
        for i, j in self.nonzero:
            row, column = self.patterns[i].places()
            height, width = self.patterns[i].shape
            if self.turned:
                row, column, height, width = column, row, width, height
            rows.append(self.top + i * height + row)
            columns.append(self.left + j * width + column)
        return np.concatenate(rows), np.concatenate(columns)


def blockwise(size: int, terms: Sequence[Term]) -> sparse.csc_array:
    """The sum of all terms as a matrix (size, size)."""
    frames, values = [], []
    for term in terms:
        blocks = [_compressed(block) for block in term.blocks]
        weights = {(i, j): w for i, row in enumerate(term.weights.tolist()) for j, w in enumerate(row) if w != 0.0}
        if weights:
            frames.append(_Frame(term.top, term.left, term.turned, tuple(weights), tuple(map(_pattern_of, blocks))))
            values += [w * blocks[i].data for (i, _), w in weights.items()]
    target, places = _target(size, tuple(frames))
    return _summed(places, target, np.concatenate(values))


def times_turned(A: Matrix, B: Matrix) -> sparse.csr_array:
    """A B^T of two sparse matrices by rows."""
    A, B = _compressed(A), _compressed(B)
    left, right, target, places = _pairing(_pattern_of(A), _pattern_of(B))
    return _summed(places, target, A.data[left] * B.data[right])


def scaled(factor: float, block: Matrix) -> Any:
    """A block times a number, with the pattern that it has."""
    return refilled(block, factor * block.data) if sparse.issparse(block) else factor * block


def filled(block: Array) -> sparse.csr_array:
    """A dense block with all its entries, zeros too, so that its pattern is always the same."""
    return refilled(_full(*block.shape), np.asarray(block, dtype=np.float64).ravel())


@lru_cache(maxsize=PATTERNS)
def _full(rows: int, columns: int) -> sparse.csr_array:
    indices, pointers = np.tile(np.arange(columns), rows), columns * np.arange(rows + 1)
    return pattern(sparse.csr_array, indices, pointers, (rows, columns))


def _compressed(block: Matrix) -> Any:
    """A block by rows or by columns, as it may be already."""
    return block if getattr(block, "format", "") in ("csr", "csc") else sparse.csr_array(block)


def pattern(kind: type, indices: IntArray, pointers: IntArray, shape: tuple[int, int]) -> Any:
    """A compressed matrix of a kind without entries, only their places; sparse solvers need short integers.

    It carries its key, and so do all matrices that are filled from it, whose places must stay what they are.
    """
    result = kind((np.zeros(indices.size), indices.astype(np.int32), pointers.astype(np.int32)), shape=shape)
    result.places = _pattern_of(result)
    for shared in (result.indices, result.indptr):  # by all matrices that are filled from it
        shared.setflags(write=False)
    return result


def refilled(places: Matrix, data: Array) -> Any:
    """A matrix with the pattern of another one and its own entries; SciPy would check the pattern again."""
    result = copy(places)
    result.data = data
    return result


def _summed(places: Matrix, target: IntArray, values: Array) -> Any:
    return refilled(places, np.asarray(np.bincount(target, values, minlength=places.nnz), dtype=np.float64))


def _pattern_of(block: Matrix) -> _Pattern:
    known: _Pattern | None = getattr(block, "places", None)
    if known is not None:
        return known
    pointers, indices = (np.asarray(x, dtype=np.int32) for x in (block.indptr, block.indices))
    return _Pattern(pointers.tobytes(), indices.tobytes(), block.shape, block.format == "csc")


@lru_cache(maxsize=PATTERNS)
def _target(size: int, frames: tuple[_Frame, ...]) -> tuple[IntArray, sparse.csc_array]:
    """The place of every entry in the data of the result, and its pattern."""
    rows, columns = (np.concatenate(parts) for parts in zip(*(frame.places() for frame in frames), strict=True))
    used, target = np.unique(columns.astype(np.int64) * size + rows, return_inverse=True)
    column, row = np.divmod(used, size)
    pointers = np.searchsorted(column, np.arange(size + 1))
    return target.ravel(), pattern(sparse.csc_array, row, pointers, (size, size))


@lru_cache(maxsize=PATTERNS)
def _pairing(A: _Pattern, B: _Pattern) -> tuple[IntArray, IntArray, IntArray, sparse.csr_array]:
    """The entries of A and B whose products A B^T sums, the place of each in its data, and its pattern."""
    (row, through), (column, other) = A.places(), B.places()
    order = np.argsort(other, kind="stable")
    begin, end = (np.searchsorted(other[order], through, side=side) for side in ("left", "right"))
    count = end - begin  # partners of each entry of A
    left = np.repeat(np.arange(through.size), count)
    right = order[np.arange(left.size) + np.repeat(begin - np.cumsum(count) + count, count)]
    used, target = np.unique(row[left].astype(np.int64) * B.shape[0] + column[right], return_inverse=True)
    major, minor = np.divmod(used, B.shape[0])
    pointers = np.searchsorted(major, np.arange(A.shape[0] + 1))
    return left, right, target.ravel(), pattern(sparse.csr_array, minor, pointers, (A.shape[0], B.shape[0]))
