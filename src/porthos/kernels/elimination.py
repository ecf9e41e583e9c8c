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
from porthos.kernels.compile import algebra, inner, kernel, stage
from porthos.notation import Array, IntArray, Records

LARGEST = 6  # unknowns of a node
SCRATCH = 3 * LARGEST**2  # numbers behind the blocks for one thread: a block, and what is written for the ground
THREADS = 2  # at most


PIVOT = np.dtype(
    [
        ("node", "i4"),
        ("unknowns", "i4"),  # how many it has
        ("start", "i4"),  # the first of them
        ("block", "i4"),  # offset of block (k, k)
        ("first", "i4"),  # range of its later neighbours
        ("last", "i4"),
        ("updates", "i4"),  # first of the blocks that it changes
    ],
    align=True,
)
NEIGHBOUR = np.dtype(
    [
        ("unknowns", "i4"),  # of node j
        ("start", "i4"),
        ("upper", "i4"),  # offset of block (k, j)
        ("lower", "i4"),  # offset of block (j, k)
        ("joint", "i4"),  # 1: j is a joint, 0: a body
    ],
    align=True,
)


class Pattern(NamedTuple):
    """Where the blocks of a matrix lie in a flat array, and in which order they are eliminated."""

    pivot: Records  # (K,) PIVOT, in order of elimination
    neighbour: Records  # (P,) NEIGHBOUR
    fill: IntArray  # (F,) offset of block (i, j), i major, for all pairs of neighbours
    length: int  # numbers in the flat array
    unknowns: int
    spare: int  # offset of scratch in the flat array
    spare_row: int  # and in a right-hand side
    bodies: int  # nodes 0 .. bodies-1 are bodies, the rest are joints


@stage
def eliminate_3(pattern: Pattern, position: int, data: Array, scale: Array) -> None:
    """`eliminate` for a node of size 3; its inverse stays in registers."""
    pivot = pattern.pivot[position]
    at = pivot.block & OFFSET
    a, b, c = data[at], data[at + 1], data[at + 2]
    d, e, f = data[at + 3], data[at + 4], data[at + 5]
    g, h, i = data[at + 6], data[at + 7], data[at + 8]
    for jj in range(pivot.first, pivot.last):
        right, m = pattern.neighbour[jj].upper & OFFSET, pattern.neighbour[jj].unknowns & OFFSET
        for column in range(right, right + m):
            x, y, z = data[column], data[column + m], data[column + 2 * m]
            data[column] = a * x + b * y + c * z
            data[column + m] = d * x + e * y + f * z
            data[column + 2 * m] = g * x + h * y + i * z
    p = pivot.updates
    for ii in range(pivot.first, pivot.last):
        row = pattern.neighbour[ii]
        left, rows = row.lower & OFFSET, row.unknowns & OFFSET
        for jj in range(pivot.first, pivot.last):
            right, columns = pattern.neighbour[jj].upper & OFFSET, pattern.neighbour[jj].unknowns & OFFSET
            if columns == 3:
                product_33(data, pattern.fill[p], left, right, rows)
            elif columns == 4:
                product_34(data, pattern.fill[p], left, right, rows)
            elif columns == 5:
                product_35(data, pattern.fill[p], left, right, rows)
            else:
                product_any(data, pattern.fill[p], left, right, rows, pivot.unknowns & OFFSET, columns)
            if ii == jj and row.joint and pivot.node < pattern.bodies:
                remember_pivots(data, pattern.fill[p], rows, scale, row.start)
            p += 1


@stage
def eliminate(pattern: Pattern, position: int, data: Array, scale: Array) -> None:
    """W_kj = K_kk^-1 K_kj and K_ij -= K_ik W_kj for the later neighbours of node k."""
    pivot, work = pattern.pivot[position], pattern.spare
    n, at = pivot.unknowns & OFFSET, pivot.block & OFFSET
    for jj in range(pivot.first, pivot.last):
        right, m = pattern.neighbour[jj].upper & OFFSET, pattern.neighbour[jj].unknowns & OFFSET
        for e in range(n * m):
            data[work + e] = -data[right + e]
            data[right + e] = 0.0
        subtract_product(data, right, at, work, n, n, m)
    p = pivot.updates
    for ii in range(pivot.first, pivot.last):
        row = pattern.neighbour[ii]
        left, rows = row.lower & OFFSET, row.unknowns & OFFSET
        for jj in range(pivot.first, pivot.last):
            right, columns = pattern.neighbour[jj].upper & OFFSET, pattern.neighbour[jj].unknowns & OFFSET
            subtract_product(data, pattern.fill[p], left, right, rows, n, columns)
            if ii == jj and row.joint and pivot.node < pattern.bodies:
                remember_pivots(data, pattern.fill[p], rows, scale, row.start)
            p += 1


@stage
def remember_pivots(data: Array, at: int, n: int, scale: Array, p: int) -> None:
    """Keep the largest values of the diagonal of a block, before joints take from it what repeats other joints."""
    for r in range(n):
        scale[p + r] = max(scale[p + r], abs(data[at + r * n + r]))


@algebra
def factorise(pattern: Pattern, first: int, last: int, data: Array, scale: Array, floor: float) -> int:
    """Factorise in place the pivots first .. last - 1, those before them having been.

    Returns the number of redundant rows, or -1 - k if the block of body k is singular.
    """
    redundant = 0
    if first == 0:
        for position in range(pattern.pivot.size):
            pivot = pattern.pivot[position]
            for i in range(pivot.unknowns):
                scale[pivot.start + i] = abs(data[pivot.block + i * (pivot.unknowns + 1)])
    for position in range(first & OFFSET, last & OFFSET):
        pivot = pattern.pivot[position]
        n, at, p = pivot.unknowns & OFFSET, pivot.block & OFFSET, pivot.start & OFFSET
        skipped = invert(data, at, n, scale, p, floor, pivot.node >= pattern.bodies)
        if skipped > 0 and pivot.node < pattern.bodies:
            return -1 - pivot.node
        redundant += skipped
        if pivot.unknowns == 3:
            eliminate_3(pattern, position, data, scale)
        else:
            eliminate(pattern, position, data, scale)
    return redundant


@stage
def forward_3(pattern: Pattern, position: int, data: Array, b: Array) -> None:
    """Forward substitution of a node of size 3; there is nothing to do for a right-hand side of zeros."""
    pivot = pattern.pivot[position]
    at, s = pivot.block & OFFSET, pivot.start & OFFSET
    u, v, w = b[s], b[s + 1], b[s + 2]
    if u == 0.0 and v == 0.0 and w == 0.0:
        return
    x = data[at] * u + data[at + 1] * v + data[at + 2] * w
    y = data[at + 3] * u + data[at + 4] * v + data[at + 5] * w
    z = data[at + 6] * u + data[at + 7] * v + data[at + 8] * w
    b[s], b[s + 1], b[s + 2] = x, y, z
    for ii in range(pivot.first, pivot.last):
        row = pattern.neighbour[ii]
        left, t = row.lower & OFFSET, row.start & OFFSET
        if row.unknowns == 3:
            b[t] -= data[left] * x + data[left + 1] * y + data[left + 2] * z
            b[t + 1] -= data[left + 3] * x + data[left + 4] * y + data[left + 5] * z
            b[t + 2] -= data[left + 6] * x + data[left + 7] * y + data[left + 8] * z
            continue
        for target in range(t, t + row.unknowns):
            b[target] -= data[left] * x + data[left + 1] * y + data[left + 2] * z
            left += 3


@stage
def forward_5(pattern: Pattern, position: int, data: Array, b: Array) -> None:
    """Forward substitution of a node of size 5; there is nothing to do for a right-hand side of zeros."""
    pivot = pattern.pivot[position]
    at, s = pivot.block & OFFSET, pivot.start & OFFSET
    p, q, r, t, u = b[s], b[s + 1], b[s + 2], b[s + 3], b[s + 4]
    if p == 0.0 and q == 0.0 and r == 0.0 and t == 0.0 and u == 0.0:
        return
    v = data[at] * p + data[at + 1] * q + data[at + 2] * r + data[at + 3] * t + data[at + 4] * u
    w = data[at + 5] * p + data[at + 6] * q + data[at + 7] * r + data[at + 8] * t + data[at + 9] * u
    x = data[at + 10] * p + data[at + 11] * q + data[at + 12] * r + data[at + 13] * t + data[at + 14] * u
    y = data[at + 15] * p + data[at + 16] * q + data[at + 17] * r + data[at + 18] * t + data[at + 19] * u
    z = data[at + 20] * p + data[at + 21] * q + data[at + 22] * r + data[at + 23] * t + data[at + 24] * u
    b[s], b[s + 1], b[s + 2], b[s + 3], b[s + 4] = v, w, x, y, z
    for ii in range(pivot.first, pivot.last):
        row = pattern.neighbour[ii]
        left, first = row.lower & OFFSET, row.start & OFFSET
        for target in range(first, first + row.unknowns):
            total = data[left] * v + data[left + 1] * w + data[left + 2] * x
            b[target] -= total + data[left + 3] * y + data[left + 4] * z
            left += 5


@stage
def forward_any(pattern: Pattern, position: int, data: Array, b: Array) -> None:
    """Forward substitution of a node of any size."""
    pivot = pattern.pivot[position]
    n, at, s = pivot.unknowns & OFFSET, pivot.block & OFFSET, pivot.start & OFFSET
    scratch = pattern.spare_row & OFFSET
    for r in range(n):
        b[scratch + r] = b[s + r]
    for r in range(n):
        total = 0.0
        for c in range(n):
            total += data[at + c] * b[scratch + c]
        b[s + r] = total
        at += n
    for ii in range(pivot.first, pivot.last):
        row = pattern.neighbour[ii]
        left, first = row.lower & OFFSET, row.start & OFFSET
        for target in range(first, first + row.unknowns):
            total = 0.0
            for c in range(n):
                total += data[left + c] * b[s + c]
            b[target] -= total
            left += n


@stage
def backward_3(pattern: Pattern, position: int, data: Array, b: Array) -> None:
    """Backward substitution of a node of size 3; its unknowns stay in registers."""
    pivot = pattern.pivot[position]
    s = pivot.start & OFFSET
    u, v, w = b[s], b[s + 1], b[s + 2]
    for jj in range(pivot.first, pivot.last):
        column = pattern.neighbour[jj]
        at, source, m = column.upper & OFFSET, column.start & OFFSET, column.unknowns & OFFSET
        if m == 3:
            x, y, z = b[source], b[source + 1], b[source + 2]
            u -= data[at] * x + data[at + 1] * y + data[at + 2] * z
            v -= data[at + 3] * x + data[at + 4] * y + data[at + 5] * z
            w -= data[at + 6] * x + data[at + 7] * y + data[at + 8] * z
            continue
        for c in range(m):
            x = b[source + c]
            u -= data[at + c] * x
            v -= data[at + m + c] * x
            w -= data[at + 2 * m + c] * x
    b[s], b[s + 1], b[s + 2] = u, v, w


@stage
def backward_any(pattern: Pattern, position: int, data: Array, b: Array) -> None:
    """Backward substitution of a node of any size."""
    pivot = pattern.pivot[position]
    n, s = pivot.unknowns & OFFSET, pivot.start & OFFSET
    for jj in range(pivot.first, pivot.last):
        column = pattern.neighbour[jj]
        at, source, m = column.upper & OFFSET, column.start & OFFSET, column.unknowns & OFFSET
        if m == 5:
            v, w, x, y, z = b[source], b[source + 1], b[source + 2], b[source + 3], b[source + 4]
            for target in range(s, s + n):
                total = data[at] * v + data[at + 1] * w + data[at + 2] * x
                b[target] -= total + data[at + 3] * y + data[at + 4] * z
                at += 5
            continue
        for target in range(s, s + n):
            total = 0.0
            for c in range(m):
                total += data[at + c] * b[source + c]
            b[target] -= total
            at += m


@algebra
def forward(pattern: Pattern, first: int, last: int, data: Array, b: Array) -> None:
    """Forward substitution of the pivots first .. last - 1."""
    for position in range(first & OFFSET, last & OFFSET):
        size = pattern.pivot[position].unknowns
        if size == 3:
            forward_3(pattern, position, data, b)
        elif size == 5:
            forward_5(pattern, position, data, b)
        else:
            forward_any(pattern, position, data, b)


@algebra
def backward(pattern: Pattern, first: int, last: int, data: Array, b: Array) -> None:
    """Backward substitution of the same, in turn."""
    for k in range(last - first):
        position = (last - 1 - k) & OFFSET
        if pattern.pivot[position].unknowns == 3:
            backward_3(pattern, position, data, b)
        else:
            backward_any(pattern, position, data, b)


@inner
def substitute(pattern: Pattern, data: Array, b: Array) -> None:
    """Solve with the factors of `factorise`; b becomes x. The last entries of b, past the unknowns, are scratch."""
    forward(pattern, 0, pattern.pivot.size, data, b)
    backward(pattern, 0, pattern.pivot.size, data, b)


@stage
def clear(a: Array, first: int, last: int) -> None:
    """Set a part of a vector to zero."""
    for i in range(first & OFFSET, last & OFFSET):
        a[i] = 0.0


@stage
def fold(seam: IntArray, a: Array) -> None:
    """Add parts of a vector to others: place, place there, length."""
    for k in range(seam.shape[0]):
        source, target = seam[k, 0] & OFFSET, seam[k, 1] & OFFSET
        for i in range(seam[k, 2]):
            a[target + i] += a[source + i]


@kernel
def add_block(data: Array, at: int, columns: int, block: Array) -> None:
    """Add a small matrix to the block at `at`, whose rows have the length `columns`."""
    for r in range(block.shape[0]):
        for c in range(block.shape[1]):
            data[at + r * columns + c] += block[r, c]


class Factors(NamedTuple):
    """Memory for one matrix of a pattern and its factors."""

    data: Array  # (length + scratch,) blocks
    scale: Array  # (unknowns + scratch,) largest value that each diagonal entry had


def factors(pattern: Pattern) -> Factors:
    """Memory for a matrix of this pattern; behind it blocks of scratch, and what is written for the ground."""
    return Factors(np.zeros(pattern.length + THREADS * SCRATCH), right_side(pattern))


def right_side(pattern: Pattern) -> Array:
    """Memory for a right-hand side that `substitute` turns into the solution."""
    return np.zeros(pattern.unknowns + THREADS * LARGEST)
