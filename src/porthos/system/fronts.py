"""Rank and left null space of rows that each concern few bodies, by eliminating one body after the other.

With the columns A of a body and B of its neighbours, and A = U_1 S V^T, U = [U_1 U_2],

rank [A B; 0 C] = rank A + rank [U_2^T B; C].

Rows at one body at a time are transformed, by orthogonal matrices: a body of a long mechanism costs as much as one of a
short mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from porthos.notation import Array, IntArray
from porthos.system.ranks import RANK_TOLERANCE

WIDTH = 6  # columns of a body
DEPENDENT = 1e-8  # share of a row of length one from which it takes part in a dependence
NOISE = 1e-14  # of orthonormal combinations


@dataclass(frozen=True, eq=False)
class Front:
    """Rows (m, 6 k) at the columns of k bodies."""

    bodies: tuple[int, ...]
    rows: Array
    first: int = 0  # number of the first row, if they are given ones; else they are
    mix: Array | None = None  # combinations (r, m) of the r rows
    parts: tuple[Front, ...] = ()  # of these fronts

    def spread(self, out: Array) -> None:
        """Write these rows as combinations of the given rows into out (R, m)."""
        waiting = [(self, np.eye(len(self.rows)))]
        while waiting:
            front, x = waiting.pop()
            if front.mix is None:
                out[front.first : front.first + len(x)] = x
                continue
            x, at = front.mix @ x, 0
            for part in front.parts:
                waiting.append((part, x[at : at + len(part.rows)]))
                at += len(part.rows)


def rank_and_null_space(
    groups: Sequence[tuple[tuple[int, ...], Array]], bodies: int, tolerance: float = RANK_TOLERANCE
) -> tuple[int, Array]:
    """Rank of the rows of all groups, taken with length one, and an orthonormal basis (R, R - rank) of what vanishes.

    A group has the numbers of its k bodies and its rows (m, 6 k). What is below `tolerance` counts as zero.
    """
    at: list[dict[int, Front]] = [{} for _ in range(bodies)]
    count, rank, vanishing = 0, 0, []
    for names, rows in groups:
        length = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
        _place(at, Front(names, rows / length, count))
        count += len(rows)
    queue = [(_neighbours(at[body]), body) for body in range(bodies)]
    heapify(queue)
    while queue:  # bodies with few neighbours first, so that fronts stay small
        known, body = heappop(queue)
        now = _neighbours(at[body])
        if now > known:
            heappush(queue, (now, body))
            continue
        parts = tuple(at[body].values())
        for part in parts:
            for name in part.bodies:
                del at[name][id(part)]
        found, left, null = _eliminated(body, parts, tolerance)
        rank += found
        _place(at, left)
        if len(null.rows):
            vanishing.append(null)
    null_space, column = np.zeros((count, count - rank)), 0
    for null in vanishing:
        null.spread(null_space[:, column : column + len(null.rows)])
        column += len(null.rows)
    return rank, null_space


def last_rows(null_space: Array) -> IntArray:
    """The last rows of combinations (R, d) that vanish: each lies in the span of those before it, no other row does."""
    left, found = null_space.copy(), []
    for r in reversed(range(len(left))):
        here = np.flatnonzero(np.abs(left[r]) > NOISE)
        x = left[r, here]
        size = np.linalg.norm(x)
        if size <= DEPENDENT:
            continue
        found.append(r)  # Householder: afterwards only the first of these combinations has this row, and is done with
        x[0] += np.copysign(size, x[0])
        turned = left[:, here]
        left[:, here] = turned - np.outer(turned @ x, 2 * x / (x @ x))
        left[:, here[0]] = 0.0
    return np.array(found[::-1], dtype=np.int64)


def _place(at: list[dict[int, Front]], front: Front) -> None:
    if len(front.rows):
        for name in front.bodies:
            at[name][id(front)] = front


def _neighbours(fronts: dict[int, Front]) -> int:
    return sum(len(front.bodies) - 1 for front in fronts.values())


def _eliminated(body: int, parts: tuple[Front, ...], tolerance: float) -> tuple[int, Front, Front]:
    """The rank of the columns of a body, and of its rows those left at its neighbours and those that vanish."""
    names = tuple(dict.fromkeys([body, *(name for part in parts for name in part.bodies)]))
    place = {name: slice(WIDTH * k, WIDTH * (k + 1)) for k, name in enumerate(names)}
    rows = np.zeros((sum(len(part.rows) for part in parts), WIDTH * len(names)))
    first = 0
    for part in parts:
        last = first + len(part.rows)
        for k, name in enumerate(part.bodies):
            rows[first:last, place[name]] = part.rows[:, WIDTH * k : WIDTH * (k + 1)]
        first = last
    used, free = _split(rows[:, :WIDTH], tolerance)
    rest = free.T @ rows[:, WIDTH:]
    kept, gone = _split(rest, tolerance)
    left = Front(names[1:], kept.T @ rest, mix=free @ kept, parts=parts)
    return used.shape[1], left, Front((), gone.T @ rest, mix=free @ gone, parts=parts)


def _split(A: Array, tolerance: float) -> tuple[Array, Array]:
    """Orthonormal bases of the range of A and of what is normal to it."""
    if 0 in A.shape:
        return np.zeros((len(A), 0)), np.eye(len(A))
    U, singular, _ = np.linalg.svd(A)
    rank = int(np.sum(singular > tolerance))
    return U[:, :rank], U[:, rank:]
