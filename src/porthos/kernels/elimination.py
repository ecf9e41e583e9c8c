"""Block elimination with a fixed pattern: K x = b, symbolic once, numeric without allocation.

Pivot k (a body or a joint) with later neighbours N(k):  W_kj = K_kk^-1 K_kj,  K_ij -= K_ik W_kj  (i, j in N(k)).
The order is fixed by `system/pattern.py`. Diagonal blocks are inverted explicitly: they are small and well conditioned,
and products with an inverse are faster than substitutions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from porthos.kernels.compile import algebra, inner, kernel, stage
from porthos.notation import Array, IntArray


class Pattern(NamedTuple):
    """Where the blocks of a matrix lie in a flat array, and in which order they are eliminated."""

    size: IntArray  # (K,) unknowns of each node
    start: IntArray  # (K+1,) first unknown of each node
    order: IntArray  # (K,) nodes in order of elimination
    diagonal: IntArray  # (K,) offset of block (k, k), by node
    pointer: IntArray  # (K+1,) range of neighbours, by position in the order
    node: IntArray  # (P,) later neighbour j
    upper: IntArray  # (P,) offset of block (k, j)
    lower: IntArray  # (P,) offset of block (j, k)
    fill_pointer: IntArray  # (K+1,) range of updates, by position in the order
    fill: IntArray  # (F,) offset of block (i, j), i major, for all pairs of neighbours
    length: int  # numbers in the flat array
    bodies: int  # nodes 0 .. bodies-1 are bodies, the rest are joints


def _inverter(size: int) -> Any:
    """`invert` for blocks of one size known to the compiler, or for any size (0)."""

    @algebra
    def invert(data: Array, at: int, n: int, scale: Array, p: int, floor: float) -> int:
        """Replace the n x n block at `at` by its inverse, in place (Gauss-Jordan); returns how many rows it skipped.

        The blocks are close to symmetric definite ones, so the diagonal entries serve as pivots in their order. One
        below `floor` times the largest value it ever had is round-off: its row repeats others, and gets a zero inverse.
        """
        if size > 0:
            n = size
        skipped = 0
        for k in range(n):
            row = at + k * n
            pivot = data[row + k]
            if not abs(pivot) > floor * scale[p + k]:
                skipped += 1
                for i in range(n):
                    data[row + i] = 0.0
                    data[at + i * n + k] = 0.0
                continue
            inverse = 1.0 / pivot
            data[row + k] = 1.0
            for c in range(n):
                data[row + c] *= inverse
            for i in range(n):
                if i != k:
                    f = data[at + i * n + k]
                    data[at + i * n + k] = 0.0
                    for c in range(n):
                        data[at + i * n + c] -= f * data[row + c]
        return skipped

    return invert


def _multiplier(inner_size: int, width: int) -> Any:
    """`subtract_product` for sizes known to the compiler, or for any (0)."""

    @algebra
    def subtract_product(data: Array, target: int, left: int, right: int, rows: int, n: int, columns: int) -> None:
        """Block at `target` (rows x columns) -= block at `left` (rows x n) times block at `right` (n x columns)."""
        if inner_size > 0:
            n, columns = inner_size, width
        for r in range(rows):
            for c in range(columns):
                total = 0.0
                for k in range(n):
                    total += data[left + r * n + k] * data[right + k * columns + c]
                data[target + r * columns + c] -= total

    return subtract_product


invert_3, invert_5, invert_6, invert_any = _inverter(3), _inverter(5), _inverter(6), _inverter(0)
product_33, product_36, product_63, product_66 = (_multiplier(a, b) for a in (3, 6) for b in (3, 6))
product_55, product_56, product_65 = _multiplier(5, 5), _multiplier(5, 6), _multiplier(6, 5)
product_any = _multiplier(0, 0)


@stage
def invert(data: Array, at: int, n: int, scale: Array, p: int, floor: float) -> int:
    """Invert a block in place, with code made for the sizes that are common; see `_inverter`."""
    if n == 6:
        skipped = invert_6(data, at, n, scale, p, floor)
    elif n == 3:
        skipped = invert_3(data, at, n, scale, p, floor)
    elif n == 5:
        skipped = invert_5(data, at, n, scale, p, floor)
    else:
        skipped = invert_any(data, at, n, scale, p, floor)
    return skipped


@stage
def subtract_product(data: Array, target: int, left: int, right: int, rows: int, n: int, columns: int) -> None:
    """Subtract a product of blocks, with code made for the sizes that are common; see `_multiplier`."""
    if n == 6 and columns == 3:
        product_63(data, target, left, right, rows, n, columns)
    elif n == 3 and columns == 6:
        product_36(data, target, left, right, rows, n, columns)
    elif n == 6 and columns == 6:
        product_66(data, target, left, right, rows, n, columns)
    elif n == 6 and columns == 5:
        product_65(data, target, left, right, rows, n, columns)
    elif n == 5 and columns == 6:
        product_56(data, target, left, right, rows, n, columns)
    elif n == 3 and columns == 3:
        product_33(data, target, left, right, rows, n, columns)
    elif n == 5 and columns == 5:
        product_55(data, target, left, right, rows, n, columns)
    else:
        product_any(data, target, left, right, rows, n, columns)


@stage
def eliminate(pattern: Pattern, position: int, k: int, data: Array, scale: Array, work: int) -> None:
    """W_kj = K_kk^-1 K_kj and K_ij -= K_ik W_kj for the later neighbours of node k; data[work:] is scratch."""
    n, at = pattern.size[k], pattern.diagonal[k]
    first, last = pattern.pointer[position], pattern.pointer[position + 1]
    for jj in range(first, last):
        right, m = pattern.upper[jj], pattern.size[pattern.node[jj]]
        for e in range(n * m):
            data[work + e] = -data[right + e]
            data[right + e] = 0.0
        subtract_product(data, right, at, work, n, n, m)
    f = pattern.fill_pointer[position]
    for ii in range(first, last):
        i, left = pattern.node[ii], pattern.lower[ii]
        ni, p = pattern.size[i], pattern.start[i]
        for jj in range(first, last):
            target = pattern.fill[f]
            f += 1
            subtract_product(data, target, left, pattern.upper[jj], ni, n, pattern.size[pattern.node[jj]])
            if ii == jj:
                for r in range(ni):
                    scale[p + r] = max(scale[p + r], abs(data[target + r * ni + r]))


@inner
def factorise(pattern: Pattern, data: Array, scale: Array, floor: float) -> int:
    """Factorise in place; returns the number of redundant rows, or -1 - k if the block of body k is singular."""
    redundant = 0
    for k in range(pattern.size.size):
        n, at = pattern.size[k], pattern.diagonal[k]
        for i in range(n):
            scale[pattern.start[k] + i] = abs(data[at + i * n + i])
    for position in range(pattern.order.size):
        k = pattern.order[position]
        skipped = invert(data, pattern.diagonal[k], pattern.size[k], scale, pattern.start[k], floor)
        if skipped > 0 and k < pattern.bodies:
            return -1 - k
        redundant += skipped
        eliminate(pattern, position, k, data, scale, pattern.length)
    return redundant


def _transformer(width: int) -> Any:
    """`subtract_vector` for blocks of one width known to the compiler, or for any (0)."""

    @algebra
    def subtract_vector(data: Array, at: int, rows: int, columns: int, b: Array, source: int, target: int) -> None:
        """b[target:] -= block at `at` (rows x columns) times b[source:]."""
        if width > 0:
            columns = width
        for r in range(rows):
            total = 0.0
            for c in range(columns):
                total += data[at + r * columns + c] * b[source + c]
            b[target + r] -= total

    return subtract_vector


vector_3, vector_5, vector_6, vector_any = _transformer(3), _transformer(5), _transformer(6), _transformer(0)


@stage
def subtract_vector(data: Array, at: int, rows: int, columns: int, b: Array, source: int, target: int) -> None:
    """Subtract block times vector, with code made for the widths that are common; see `_transformer`."""
    if columns == 6:
        vector_6(data, at, rows, columns, b, source, target)
    elif columns == 3:
        vector_3(data, at, rows, columns, b, source, target)
    elif columns == 5:
        vector_5(data, at, rows, columns, b, source, target)
    else:
        vector_any(data, at, rows, columns, b, source, target)


@inner
def substitute(pattern: Pattern, data: Array, b: Array) -> None:
    """Solve with the factors of `factorise`; b becomes x. The last entries of b, past the unknowns, are scratch."""
    scratch = pattern.start[-1]
    for position in range(pattern.order.size):
        k = pattern.order[position]
        n, s = pattern.size[k], pattern.start[k]
        for r in range(n):
            b[scratch + r] = -b[s + r]
            b[s + r] = 0.0
        subtract_vector(data, pattern.diagonal[k], n, n, b, scratch, s)
        for ii in range(pattern.pointer[position], pattern.pointer[position + 1]):
            i = pattern.node[ii]
            subtract_vector(data, pattern.lower[ii], pattern.size[i], n, b, s, pattern.start[i])
    for position in range(pattern.order.size - 1, -1, -1):
        k = pattern.order[position]
        for jj in range(pattern.pointer[position], pattern.pointer[position + 1]):
            j = pattern.node[jj]
            subtract_vector(
                data, pattern.upper[jj], pattern.size[k], pattern.size[j], b, pattern.start[j], pattern.start[k]
            )


@kernel
def add_block(data: Array, at: int, columns: int, row: int, column: int, block: Array) -> None:
    """Add a small matrix to the block at `at` (which has `columns` columns), at (row, column)."""
    for r in range(block.shape[0]):
        for c in range(block.shape[1]):
            data[at + (row + r) * columns + column + c] += block[r, c]


class Factors(NamedTuple):
    """Memory for one matrix of a pattern and its factors."""

    data: Array  # (length + scratch,) blocks
    scale: Array  # (unknowns,) largest value that each diagonal entry had


def factors(pattern: Pattern) -> Factors:
    """Memory for a matrix of this pattern."""
    largest = int(pattern.size.max(initial=0))
    return Factors(np.zeros(pattern.length + largest**2), np.zeros(int(pattern.start[-1])))


def right_side(pattern: Pattern) -> Array:
    """Memory for a right-hand side that `substitute` turns into the solution."""
    return np.zeros(int(pattern.start[-1] + pattern.size.max(initial=0)))
