"""Block elimination with a fixed pattern: K x = b, symbolic once, numeric without allocation.

Pivot k (a body or a joint) with later neighbours N(k):  W_kj = K_kk^-1 K_kj,  K_ij -= K_ik W_kj  (i, j in N(k)).
Pivoting happens inside a diagonal block; across blocks the order is fixed by `system/pattern.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from porthos.kernels.compile import kernel
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


@kernel
def swap(data: Array, at: int, i: int, j: int, step: int, count: int) -> None:
    """Exchange two rows (or columns) of a block: entries at + i + c step and at + j + c step."""
    for c in range(count):
        x = data[at + i + c * step]
        data[at + i + c * step] = data[at + j + c * step]
        data[at + j + c * step] = x


@kernel
def eliminate_column(data: Array, at: int, n: int, k: int) -> None:
    """One step of Gaussian elimination of an n x n block with the pivot (k, k)."""
    inverse = 1.0 / data[at + k * n + k]
    for i in range(k + 1, n):
        f = data[at + i * n + k] * inverse
        data[at + i * n + k] = f
        if f != 0.0:
            for c in range(k + 1, n):
                data[at + i * n + c] -= f * data[at + k * n + c]


@kernel
def factor_body(data: Array, at: int, n: int, pivots: IntArray, p: int, scale: Array, floor: float) -> bool:
    """LU with row pivoting of a body's block, in place; False if it is singular."""
    for k in range(n):
        r = k
        for i in range(k + 1, n):
            if abs(data[at + i * n + k]) > abs(data[at + r * n + k]):
                r = i
        if not abs(data[at + r * n + k]) > floor * scale[p + k]:
            return False
        pivots[p + k] = r
        if r != k:
            swap(data, at, k * n, r * n, 1, n)
        eliminate_column(data, at, n, k)
    return True


@kernel
def factor_joint(data: Array, at: int, n: int, pivots: IntArray, p: int, scale: Array, floor: float) -> int:
    """LU with diagonal pivoting of a joint's block, in place; returns how many rows are redundant.

    The block is close to a symmetric definite one. Where no diagonal entry is left above the floor, the rows that
    remain repeat what is constrained already: their pivots become 0 and `solve_block` gives them the multiplier 0.
    """
    for k in range(n):
        r, best = k, -1.0
        for i in range(k, n):
            if abs(data[at + i * n + i]) > best * scale[p + i]:
                r, best = i, abs(data[at + i * n + i]) / scale[p + i]
        if not best > floor:
            for i in range(k, n):
                pivots[p + i] = i
                for c in range(k, n):
                    data[at + i * n + c] = 0.0
            return n - k
        pivots[p + k] = r
        if r != k:
            swap(data, at, k * n, r * n, 1, n)
            swap(data, at, k, r, n, n)
            swap(scale, p, k, r, 1, 1)
        eliminate_column(data, at, n, k)
    return 0


@kernel
def solve_block(
    data: Array, at: int, n: int, pivots: IntArray, p: int, joint: bool, rhs: Array, b: int, m: int
) -> None:
    """K_kk^-1 times the n x m block at rhs[b:], in place."""
    for k in range(n):  # all exchanges first: they moved the rows of the factors, too
        if pivots[p + k] != k:
            swap(rhs, b, k * m, pivots[p + k] * m, 1, m)
    for k in range(n):
        subtract_column(data, at, n, k, k + 1, n, rhs, b, m)
    for k in range(n - 1, -1, -1):
        pivot = data[at + k * n + k]
        inverse = 1.0 / pivot if pivot != 0.0 else 0.0
        for c in range(m):
            rhs[b + k * m + c] *= inverse
        subtract_column(data, at, n, k, 0, k, rhs, b, m)
    if joint:
        for k in range(n - 1, -1, -1):
            if pivots[p + k] != k:
                swap(rhs, b, k * m, pivots[p + k] * m, 1, m)


@kernel
def subtract_column(data: Array, at: int, n: int, k: int, first: int, last: int, rhs: Array, b: int, m: int) -> None:
    """Subtract K_ik times row k of rhs from rows i = first .. last-1."""
    for i in range(first, last):
        f = data[at + i * n + k]
        if f != 0.0:
            for c in range(m):
                rhs[b + i * m + c] -= f * rhs[b + k * m + c]


@kernel
def update(pattern: Pattern, position: int, k: int, data: Array, scale: Array) -> None:
    """K_ij -= K_ik W_kj for all pairs of later neighbours of node k; keep the size of what meets on the diagonal."""
    n = pattern.size[k]
    first, last = pattern.pointer[position], pattern.pointer[position + 1]
    f = pattern.fill_pointer[position]
    for ii in range(first, last):
        i, left = pattern.node[ii], pattern.lower[ii]
        ni, p = pattern.size[i], pattern.start[i]
        for jj in range(first, last):
            right, nj, target = pattern.upper[jj], pattern.size[pattern.node[jj]], pattern.fill[f]
            f += 1
            for r in range(ni):
                for c in range(nj):
                    total = 0.0
                    for x in range(n):
                        total += data[left + r * n + x] * data[right + x * nj + c]
                    data[target + r * nj + c] -= total
                    if ii == jj and r == c:
                        scale[p + r] = max(scale[p + r], abs(total))


@kernel
def factorise(pattern: Pattern, data: Array, pivots: IntArray, scale: Array, floor: float) -> int:
    """Factorise in place; returns the number of redundant rows, or -1 - k if the block of body k is singular."""
    redundant = 0
    for k in range(pattern.size.size):
        n, at = pattern.size[k], pattern.diagonal[k]
        for i in range(n):
            scale[pattern.start[k] + i] = abs(data[at + i * n + i])
    for position in range(pattern.order.size):
        k = pattern.order[position]
        n, at, p = pattern.size[k], pattern.diagonal[k], pattern.start[k]
        if k < pattern.bodies:
            if not factor_body(data, at, n, pivots, p, scale, floor):
                return -1 - k
        else:
            redundant += factor_joint(data, at, n, pivots, p, scale, floor)
        for jj in range(pattern.pointer[position], pattern.pointer[position + 1]):
            right, m = pattern.upper[jj], pattern.size[pattern.node[jj]]
            solve_block(data, at, n, pivots, p, k >= pattern.bodies, data, right, m)
        update(pattern, position, k, data, scale)
    return redundant


@kernel
def substitute(pattern: Pattern, data: Array, pivots: IntArray, b: Array) -> None:
    """Solve with the factors of `factorise`; b becomes x."""
    for position in range(pattern.order.size):
        k = pattern.order[position]
        n, s = pattern.size[k], pattern.start[k]
        solve_block(data, pattern.diagonal[k], n, pivots, s, k >= pattern.bodies, b, s, 1)
        for ii in range(pattern.pointer[position], pattern.pointer[position + 1]):
            i, left = pattern.node[ii], pattern.lower[ii]
            for r in range(pattern.size[i]):
                total = 0.0
                for c in range(n):
                    total += data[left + r * n + c] * b[s + c]
                b[pattern.start[i] + r] -= total
    for position in range(pattern.order.size - 1, -1, -1):
        k = pattern.order[position]
        n, s = pattern.size[k], pattern.start[k]
        for jj in range(pattern.pointer[position], pattern.pointer[position + 1]):
            j, right = pattern.node[jj], pattern.upper[jj]
            m = pattern.size[j]
            for r in range(n):
                total = 0.0
                for c in range(m):
                    total += data[right + r * m + c] * b[pattern.start[j] + c]
                b[s + r] -= total


@kernel
def add_block(data: Array, at: int, columns: int, row: int, column: int, block: Array) -> None:
    """Add a small matrix to the block at `at` (which has `columns` columns), at (row, column)."""
    for r in range(block.shape[0]):
        for c in range(block.shape[1]):
            data[at + (row + r) * columns + column + c] += block[r, c]


class Factors(NamedTuple):
    """Memory for one matrix of a pattern and its factors."""

    data: Array  # (length,) blocks
    pivots: IntArray  # (unknowns,)
    scale: Array  # (unknowns,) largest contribution to each diagonal entry


def factors(pattern: Pattern) -> Factors:
    """Memory for a matrix of this pattern."""
    unknowns = int(pattern.start[-1])
    return Factors(np.zeros(pattern.length), np.zeros(unknowns, dtype=np.int64), np.zeros(unknowns))
