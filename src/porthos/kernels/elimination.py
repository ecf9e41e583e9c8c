"""Block elimination with a fixed pattern: K x = b, symbolic once, numeric without allocation.

Pivot k (a body or a joint) with later neighbours N(k):  W_kj = K_kk^-1 K_kj,  K_ij -= K_ik W_kj  (i, j in N(k)).
The order is fixed by `system/pattern.py`. Diagonal blocks are inverted explicitly: they are small and well conditioned,
and products with an inverse are faster than substitutions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from porthos.kernels.blocks import (
    OFFSET,
    invert,
    product_33,
    product_34,
    product_35,
    product_any,
    subtract_product,
)
from porthos.kernels.compile import algebra, kernel, stage
from porthos.notation import Array, IntArray

LARGEST = 6  # unknowns of a node


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


@stage
def eliminate_3(pattern: Pattern, position: int, k: int, data: Array, scale: Array) -> None:
    """`eliminate` for a node of size 3; its inverse stays in registers."""
    at = pattern.diagonal[k] & OFFSET
    a, b, c = data[at], data[at + 1], data[at + 2]
    d, e, f = data[at + 3], data[at + 4], data[at + 5]
    g, h, i = data[at + 6], data[at + 7], data[at + 8]
    first, last = pattern.pointer[position], pattern.pointer[position + 1]
    for jj in range(first, last):
        right, m = pattern.upper[jj] & OFFSET, pattern.size[pattern.node[jj]] & OFFSET
        for column in range(right, right + m):
            x, y, z = data[column], data[column + m], data[column + 2 * m]
            data[column] = a * x + b * y + c * z
            data[column + m] = d * x + e * y + f * z
            data[column + 2 * m] = g * x + h * y + i * z
    p = pattern.fill_pointer[position]
    for ii in range(first, last):
        left, row = pattern.lower[ii], pattern.node[ii]
        rows = pattern.size[row]
        for jj in range(first, last):
            columns = pattern.size[pattern.node[jj]]
            if columns == 3:
                product_33(data, pattern.fill[p], left, pattern.upper[jj], rows)
            elif columns == 4:
                product_34(data, pattern.fill[p], left, pattern.upper[jj], rows)
            elif columns == 5:
                product_35(data, pattern.fill[p], left, pattern.upper[jj], rows)
            else:
                product_any(data, pattern.fill[p], left, pattern.upper[jj], rows, 3, columns)
            if ii == jj and k < pattern.bodies <= row:
                remember_pivots(data, pattern.fill[p], rows, scale, pattern.start[row])
            p += 1


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
    p = pattern.fill_pointer[position]
    for ii in range(first, last):
        left, row = pattern.lower[ii], pattern.node[ii]
        rows = pattern.size[row]
        for jj in range(first, last):
            subtract_product(data, pattern.fill[p], left, pattern.upper[jj], rows, n, pattern.size[pattern.node[jj]])
            if ii == jj and k < pattern.bodies <= row:
                remember_pivots(data, pattern.fill[p], rows, scale, pattern.start[row])
            p += 1


@stage
def remember_pivots(data: Array, at: int, n: int, scale: Array, p: int) -> None:
    """Keep the largest values of the diagonal of a block, before joints take from it what repeats other joints."""
    for r in range(n):
        scale[p + r] = max(scale[p + r], abs(data[at + r * n + r]))


@algebra
def factorise(pattern: Pattern, data: Array, scale: Array, floor: float) -> int:
    """Factorise in place; returns the number of redundant rows, or -1 - k if the block of body k is singular."""
    redundant = 0
    for k in range(pattern.size.size):
        n, at, p = pattern.size[k], pattern.diagonal[k], pattern.start[k]
        for i in range(n):
            scale[p + i] = abs(data[at + i * n + i])
    for position in range(pattern.order.size):
        k = pattern.order[position]
        skipped = invert(data, pattern.diagonal[k], pattern.size[k], scale, pattern.start[k], floor)
        if skipped > 0 and k < pattern.bodies:
            return -1 - k
        redundant += skipped
        if pattern.size[k] == 3:
            eliminate_3(pattern, position, k, data, scale)
        else:
            eliminate(pattern, position, k, data, scale, pattern.length)
    return redundant


@stage
def forward_3(pattern: Pattern, position: int, k: int, data: Array, b: Array) -> None:
    """Forward substitution of a node of size 3."""
    at, s = pattern.diagonal[k] & OFFSET, pattern.start[k] & OFFSET
    u, v, w = b[s], b[s + 1], b[s + 2]
    x = data[at] * u + data[at + 1] * v + data[at + 2] * w
    y = data[at + 3] * u + data[at + 4] * v + data[at + 5] * w
    z = data[at + 6] * u + data[at + 7] * v + data[at + 8] * w
    b[s], b[s + 1], b[s + 2] = x, y, z
    for ii in range(pattern.pointer[position], pattern.pointer[position + 1]):
        i, left = pattern.node[ii], pattern.lower[ii] & OFFSET
        t = pattern.start[i] & OFFSET
        for target in range(t, t + pattern.size[i]):
            b[target] -= data[left] * x + data[left + 1] * y + data[left + 2] * z
            left += 3


@stage
def forward_5(pattern: Pattern, position: int, k: int, data: Array, b: Array) -> None:
    """Forward substitution of a node of size 5."""
    at, s = pattern.diagonal[k] & OFFSET, pattern.start[k] & OFFSET
    p, q, r, t, u = b[s], b[s + 1], b[s + 2], b[s + 3], b[s + 4]
    v = data[at] * p + data[at + 1] * q + data[at + 2] * r + data[at + 3] * t + data[at + 4] * u
    w = data[at + 5] * p + data[at + 6] * q + data[at + 7] * r + data[at + 8] * t + data[at + 9] * u
    x = data[at + 10] * p + data[at + 11] * q + data[at + 12] * r + data[at + 13] * t + data[at + 14] * u
    y = data[at + 15] * p + data[at + 16] * q + data[at + 17] * r + data[at + 18] * t + data[at + 19] * u
    z = data[at + 20] * p + data[at + 21] * q + data[at + 22] * r + data[at + 23] * t + data[at + 24] * u
    b[s], b[s + 1], b[s + 2], b[s + 3], b[s + 4] = v, w, x, y, z
    for ii in range(pattern.pointer[position], pattern.pointer[position + 1]):
        i, left = pattern.node[ii], pattern.lower[ii] & OFFSET
        first = pattern.start[i] & OFFSET
        for target in range(first, first + pattern.size[i]):
            total = data[left] * v + data[left + 1] * w + data[left + 2] * x
            b[target] -= total + data[left + 3] * y + data[left + 4] * z
            left += 5


@stage
def forward_any(pattern: Pattern, position: int, k: int, data: Array, b: Array) -> None:
    """Forward substitution of a node of any size."""
    n, at, s = pattern.size[k] & OFFSET, pattern.diagonal[k] & OFFSET, pattern.start[k] & OFFSET
    scratch = pattern.start[-1] & OFFSET
    for r in range(n):
        b[scratch + r] = b[s + r]
    for r in range(n):
        total = 0.0
        for c in range(n):
            total += data[at + c] * b[scratch + c]
        b[s + r] = total
        at += n
    for ii in range(pattern.pointer[position], pattern.pointer[position + 1]):
        i, left = pattern.node[ii], pattern.lower[ii] & OFFSET
        first = pattern.start[i] & OFFSET
        for target in range(first, first + pattern.size[i]):
            total = 0.0
            for c in range(n):
                total += data[left + c] * b[s + c]
            b[target] -= total
            left += n


@stage
def backward(pattern: Pattern, position: int, k: int, data: Array, b: Array) -> None:
    """Backward substitution of a node."""
    n, s = pattern.size[k] & OFFSET, pattern.start[k] & OFFSET
    for jj in range(pattern.pointer[position], pattern.pointer[position + 1]):
        j, at = pattern.node[jj], pattern.upper[jj] & OFFSET
        source, m = pattern.start[j] & OFFSET, pattern.size[j] & OFFSET
        if m == 3:
            x, y, z = b[source], b[source + 1], b[source + 2]
            for target in range(s, s + n):
                b[target] -= data[at] * x + data[at + 1] * y + data[at + 2] * z
                at += 3
        elif m == 5:
            v, w, x, y, z = b[source], b[source + 1], b[source + 2], b[source + 3], b[source + 4]
            for target in range(s, s + n):
                total = data[at] * v + data[at + 1] * w + data[at + 2] * x
                b[target] -= total + data[at + 3] * y + data[at + 4] * z
                at += 5
        else:
            for target in range(s, s + n):
                total = 0.0
                for c in range(m):
                    total += data[at + c] * b[source + c]
                b[target] -= total
                at += m


@algebra
def substitute(pattern: Pattern, data: Array, b: Array) -> None:
    """Solve with the factors of `factorise`; b becomes x. The last entries of b, past the unknowns, are scratch."""
    for position in range(pattern.order.size):
        k = pattern.order[position]
        if pattern.size[k] == 3:
            forward_3(pattern, position, k, data, b)
        elif pattern.size[k] == 5:
            forward_5(pattern, position, k, data, b)
        else:
            forward_any(pattern, position, k, data, b)
    for position in range(pattern.order.size - 1, -1, -1):
        backward(pattern, position, pattern.order[position], data, b)


@kernel
def add_block(data: Array, at: int, columns: int, block: Array) -> None:
    """Add a small matrix to the block at `at`, whose rows have the length `columns`."""
    for r in range(block.shape[0]):
        for c in range(block.shape[1]):
            data[at + r * columns + c] += block[r, c]


class Factors(NamedTuple):
    """Memory for one matrix of a pattern and its factors."""

    data: Array  # (length + scratch,) blocks
    scale: Array  # (unknowns,) largest value that each diagonal entry had


def factors(pattern: Pattern) -> Factors:
    """Memory for a matrix of this pattern; behind it a block of scratch, and what is written for the ground."""
    return Factors(np.zeros(pattern.length + 3 * LARGEST**2), np.zeros(int(pattern.start[-1])))


def right_side(pattern: Pattern) -> Array:
    """Memory for a right-hand side that `substitute` turns into the solution."""
    return np.zeros(int(pattern.start[-1]) + LARGEST)
