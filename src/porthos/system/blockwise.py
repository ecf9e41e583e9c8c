"""Sparse matrices put together from blocks with weights, whose places in the result are found once for each pattern.

Newton's method asks for the same matrix with other numbers again and again: what a matrix of blocks costs is then one
product of weights and entries, and one sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from porthos.kernels.products import add_products
from porthos.notation import Array, IntArray
from porthos.system.descriptor import Matrix

PATTERNS = 32  # that are remembered


class Term(NamedTuple):
    """Blocks (i, j) = weights_ij B_i, or weights_ij B_i^T if `turned`; the first is at the row `top`, column `left`."""

    top: int
    left: int
    weights: Array | float  # (r, c), or the weight of a single block
    blocks: Sequence[Matrix]  # (r,) matrices of one shape
    turned: bool = False


class _Pattern(NamedTuple):
    """Where the entries of a compressed matrix are; equal ones are the same key."""

    major: bytes
    minor: bytes
    shape: tuple[int, int]
    by_columns: bool

    @property
    def entries(self) -> int:
        """How many entries there are."""
        return len(self.minor) // np.dtype(np.int32).itemsize

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
    shape: tuple[int, int]  # of the weights
    used: bytes  # which of them are not zero
    patterns: tuple[_Pattern, ...]

    def places(self, i: int, j: int) -> tuple[IntArray, IntArray]:
        """Rows and columns of all entries of the block (i, j)."""
        (row, column), (height, width) = self.patterns[i].places(), self.patterns[i].shape
        if self.turned:
            row, column, height, width = column, row, width, height
        return self.top + i * height + row, self.left + j * width + column

    def summands(self, weight: int, entry: int) -> Iterator[tuple[IntArray, ...]]:
        """Of each block that counts: places of weights and entries, which begin at these ones, rows and columns."""
        first = entry + np.cumsum([0, *(pattern.entries for pattern in self.patterns)])
        for k in np.flatnonzero(np.frombuffer(self.used, dtype=bool)).tolist():
            i, j = divmod(k, self.shape[1])
            count = self.patterns[i].entries
            yield np.full(count, weight + k), first[i] + np.arange(count), *self.places(i, j)


class _Plan(NamedTuple):
    """How entries of blocks, one block after the other, become those of the result: sums of weights times entries."""

    weight: IntArray  # (e,) place of the weight of each summand among all weights
    entry: IntArray  # (e,) place of its entry among those of all blocks
    target: IntArray  # (e,) place of the sum
    places: sparse.csc_array


def blockwise(size: int, terms: Sequence[Term]) -> sparse.csc_array:
    """The sum of all terms as a matrix (size, size)."""
    frames, entries, weights = list[_Frame](), list[Array](), list[float]()
    for top, left, weight, given, turned in terms:
        blocks = [_compressed(block) for block in given]
        numbers = [block.data for block in blocks]
        if not sum(map(len, numbers)):  # forces that are not there have blocks without entries
            continue
        if isinstance(weight, float):
            shape, used = (1, 1), b"\1"
            weights.append(weight)
        else:
            shape, used = weight.shape, (weight != 0.0).tobytes()
            weights += weight.ravel().tolist()
        frames.append(_Frame(top, left, turned, shape, used, tuple([_pattern_of(block) for block in blocks])))
        entries += numbers
    plan = _plan(size, tuple(frames))
    return _summed(plan.places, plan.target, np.array(weights), plan.weight, np.concatenate(entries), plan.entry)


def times_turned(A: Matrix, B: Matrix) -> sparse.csr_array:
    """A B^T of two sparse matrices by rows."""
    A, B = _compressed(A), _compressed(B)
    left, right, target, places = _pairing(_pattern_of(A), _pattern_of(B))
    return _summed(places, target, A.data, left, B.data, right)


def turned(block: sparse.csr_array) -> sparse.csc_array:
    """The transpose of a matrix by rows, with the same entries."""
    return refilled(_turned(_pattern_of(block)), block.data)


@lru_cache(maxsize=PATTERNS)
def _turned(places: _Pattern) -> sparse.csc_array:
    pointers, indices = (np.frombuffer(x, dtype=np.int32).astype(np.int64) for x in (places.major, places.minor))
    return pattern(sparse.csc_array, indices, pointers, places.shape[::-1])


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
    return fixed(kind((np.zeros(indices.size), indices.astype(np.int32), pointers.astype(np.int32)), shape=shape))


def fixed(matrix: Any) -> Any:
    """A compressed matrix whose places stay what they are from now on."""
    matrix.indices, matrix.indptr = (np.asarray(x, dtype=np.int32) for x in (matrix.indices, matrix.indptr))
    matrix.places = _pattern_of(matrix)
    for shared in (matrix.indices, matrix.indptr):  # by all matrices that are filled from it
        shared.setflags(write=False)
    return matrix


def refilled(places: Matrix, data: Array) -> Any:
    """A matrix with the pattern of another one and its own entries; SciPy would check the pattern again."""
    result = object.__new__(type(places))
    vars(result).update(vars(places))
    result.data = data
    return result


def columns_of(pointers: IntArray, rows: IntArray, entries: Array) -> sparse.csc_array:
    """A square matrix of sorted columns, each without an entry twice, which SciPy would check."""
    result = refilled(_empty(pointers.size - 1), entries)
    result.indptr, result.indices = pointers, rows
    return result


@lru_cache(maxsize=PATTERNS)
def _empty(size: int) -> sparse.csc_array:
    result = sparse.csc_array((size, size))
    result.has_canonical_format = True
    return result


def _summed(places: Matrix, target: IntArray, a: Array, left: IntArray, b: Array, right: IntArray) -> Any:
    sums = np.zeros(places.data.size)
    add_products(a, left, b, right, target, sums)
    return refilled(places, sums)


def _pattern_of(block: Matrix) -> _Pattern:
    if "places" in vars(block):
        known: _Pattern = block.places
        return known
    pointers, indices = (np.asarray(x, dtype=np.int32) for x in (block.indptr, block.indices))
    return _Pattern(pointers.tobytes(), indices.tobytes(), block.shape, block.format == "csc")


@lru_cache(maxsize=PATTERNS)
def _plan(size: int, frames: tuple[_Frame, ...]) -> _Plan:
    """The place of every summand in the data of the result, and its pattern."""
    summands: list[tuple[IntArray, ...]] = []
    weight, entry = 0, 0
    for frame in frames:
        summands += frame.summands(weight, entry)
        weight, entry = weight + len(frame.used), entry + sum(pattern.entries for pattern in frame.patterns)
    weights, entries, rows, columns = (np.concatenate(parts) for parts in zip(*summands, strict=True))
    used, target = np.unique(columns.astype(np.int64) * size + rows, return_inverse=True)
    column, row = np.divmod(used, size)
    pointers = np.searchsorted(column, np.arange(size + 1))
    return _Plan(weights, entries, target.ravel(), pattern(sparse.csc_array, row, pointers, (size, size)))


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
