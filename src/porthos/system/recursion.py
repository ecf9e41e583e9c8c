"""Accelerations of trees in O(N), the explicit formalism of 002, Table 1, for any right-hand side.

[M G^T; G 0] (a, lambda) = (f, c) is solved body by body. Rigidity leaves a = a0 + P t with a twist t of each body. A
joint to the parent p, C t + D t_p = c, leaves t = C^+ (c - D t_p) + N s with the joint accelerations s, C N = 0. From
leaves to roots each body hands over its articulated inertia and force,

A_p <- A_p + D^T X^T A X D,   b_p <- b_p - D^T X^T (b - A X c),   X = (I - N (N^T A N)^-1 N^T A) C^+,

and from roots to leaves twists and multipliers follow, lambda = X^T b - X^T A X (c - D t_p).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np

from porthos.errors import PorthosError
from porthos.notation import Array, IntArray
from porthos.system.mechanical import MechanicalSystem

SIZE = 12  # coordinates of a rigid body; a point mass has the first three


@dataclass(frozen=True)
class _Link:
    """A body: its coordinates, its rigidity rows, and the rows of its joint, whose other side is the parent."""

    body: int
    parent: int  # -1 for none or the ground
    places: slice
    inner: slice
    rows: IntArray
    side: int  # of the joint, on which the body is

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return self.places.stop - self.places.start


@dataclass(frozen=True)
class _Articulated:
    """What is known of a body once all bodies that hang on it are eliminated."""

    fit: Array  # the accelerations of least norm that meet rigidity rows are fit @ c
    P: Array
    A: Array
    D: Array
    X: Array
    Y: Array  # N (N^T A N)^-1 N^T


def _split(C: Array) -> tuple[Array, Array]:
    """C^+ and an orthonormal N with C N = 0, for rows that do not repeat each other."""
    Q, R = np.linalg.qr(C.T, mode="complete")
    r = len(C)
    return Q[:, :r] @ np.linalg.inv(R[:r]).T, Q[:, r:]


class Tree:
    """The bodies of a mechanism without closed loops, sorted from leaves to roots."""

    def __init__(self, system: MechanicalSystem) -> None:
        self.system = system
        self.links = tuple(self._links())

    def _links(self) -> list[_Link]:
        """Walk from the ground, then from any body that is left; each body is met once in a tree."""
        mech, count = self.system.mech, len(self.system.body_names)
        starts = np.concatenate([[0], np.cumsum(np.where(mech.body.rigid, SIZE, 3))])
        places = [slice(int(a), int(b)) for a, b in pairwise(starts)]
        order = np.cumsum(mech.body.rigid) - 1
        inner = [slice(6 * int(k), 6 * int(k) + 6 * int(r)) for k, r in zip(order, mech.body.rigid, strict=True)]
        joints: dict[int, list[tuple[int, int, int]]] = {}
        for j, first in enumerate(mech.joint.first.tolist()):
            a, b = (int(each) for each in mech.row.body[first])
            joints.setdefault(a, []).append((j, b, 1))
            joints.setdefault(b, []).append((j, a, 0))
        found, met, used = list[_Link](), {count}, set[int]()
        stack = [count, *reversed(range(count))]
        while stack:
            body = stack.pop(0)
            if body not in met:  # floats: it hangs on nothing
                met.add(body)
                found.append(_Link(body, -1, places[body], inner[body], np.zeros(0, dtype=np.int64), 0))
            for j, other, side in joints.get(body, []):
                if j in used:
                    continue
                if other in met:
                    raise PorthosError(
                        f"system '{self.system.name}': expected a tree, found that joint "
                        f"'{self.system.joint_names[j]}' closes a loop. Take recursive=False."
                    )
                rows = 6 * self.system.rigid.size + np.arange(mech.joint.first[j], mech.joint.last[j])
                parent = -1 if body == count else body
                found.append(_Link(other, parent, places[other], inner[other], rows, side))
                met.add(other)
                used.add(j)
                stack.insert(0, other)
        return found[::-1]

    @cached_property
    def _places(self) -> dict[int, slice]:
        """The coordinates of each body."""
        return {link.body: link.places for link in self.links}

    @cached_property
    def _sides(self) -> IntArray:
        """The bodies on both sides of each row (m, 2)."""
        rigid = self.system.rigid
        return np.vstack([np.repeat(np.c_[rigid, -np.ones_like(rigid)], 6, axis=0), self.system.mech.row.body])

    def _blocks(self, q: Array) -> Array:
        """G by rows and the two bodies of each (m, 2, 12)."""
        G = self.system.G(q).tocoo()
        body, place = np.divmod(self.system.slots[G.col], SIZE)
        blocks = np.zeros((self.system.m, 2, SIZE))
        blocks[G.row, (body != self._sides[G.row, 0]).astype(np.int64), place] = G.data
        return blocks

    def solver(self, q: Array) -> Callable[[Array], Array]:
        """A function that solves with [M G^T; G 0] at q."""
        blocks, mass, A = self._blocks(q), self.system.mass_diagonal, dict[int, Array]()
        split = {link.body: _split(blocks[link.inner, 0, : link.width]) for link in self.links}
        for link in self.links:
            P = split[link.body][1]
            A[link.body] = P.T @ (mass[link.places, None] * P)
        known: dict[int, _Articulated] = {}
        for link in self.links:
            b, p, (fit, P) = link.body, link.parent, split[link.body]
            back, N = _split(blocks[link.rows, link.side, : link.width] @ P)
            Y = N @ np.linalg.solve(N.T @ A[b] @ N, N.T)
            X = back - Y @ (A[b] @ back)
            D = np.zeros((link.rows.size, 0))
            if p >= 0:
                D = blocks[link.rows, 1 - link.side, : split[p][1].shape[0]] @ split[p][1]
                A[p] = A[p] + D.T @ (X.T @ A[b] @ X) @ D
            known[b] = _Articulated(fit, P, A[b], D, X, Y)
        return lambda right: self._solve(blocks, known, right)

    def _solve(self, blocks: Array, known: dict[int, _Articulated], right: Array) -> Array:
        """Forces from leaves to roots, then twists and multipliers from roots to leaves."""
        n, mass = self.system.n, self.system.mass_diagonal
        f, c = right[:n], right[n:].copy()
        a, lam = np.zeros(n), np.zeros(self.system.m)
        for link in self.links:  # a0, which meets the rigidity rows
            a[link.places] = known[link.body].fit @ c[link.inner]
        start = {link.body: a[link.places].copy() for link in self.links}
        b = {link.body: known[link.body].P.T @ (f - mass * a)[link.places] for link in self.links}
        for link in self.links:
            one = known[link.body]
            c[link.rows] -= blocks[link.rows, link.side, : link.width] @ start[link.body]
            if link.parent >= 0:
                above = start[link.parent]
                c[link.rows] -= blocks[link.rows, 1 - link.side, : above.size] @ above
                handed = one.X.T @ (b[link.body] - one.A @ (one.X @ c[link.rows]))
                b[link.parent] = b[link.parent] - one.D.T @ handed
        twist: dict[int, Array] = {}
        for link in reversed(self.links):
            one = known[link.body]
            gap = c[link.rows] - (one.D @ twist[link.parent] if link.parent >= 0 else 0.0)
            twist[link.body] = one.X @ gap + one.Y @ b[link.body]
            lam[link.rows] = one.X.T @ (b[link.body] - one.A @ (one.X @ gap))
            a[link.places] += one.P @ twist[link.body]
        rest = f - mass * a  # what is left for G^T lambda
        for link in self.links:
            rest[link.places] -= lam[link.rows] @ blocks[link.rows, link.side, : link.width]
            if link.parent >= 0:
                base = self._places[link.parent]
                rest[base] -= lam[link.rows] @ blocks[link.rows, 1 - link.side, : base.stop - base.start]
        for link in self.links:
            lam[link.inner] = known[link.body].fit.T @ rest[link.places]
        return np.append(a, lam)


@lru_cache(maxsize=4)
def tree_of(system: MechanicalSystem) -> Tree:
    """The tree of a system; it is asked for at every stage of every step."""
    return Tree(system)
