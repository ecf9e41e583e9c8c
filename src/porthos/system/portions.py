"""How the work of an iteration is divided between two threads.

They share the trees of elimination: the top of a tree is what they have in common, and what is below it falls into
parts that know nothing of each other. So do bodies, joints and loads, but for a few at the seam.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from porthos.kernels.crew import LEG, Portion
from porthos.kernels.tables import Mechanism
from porthos.notation import IntArray
from porthos.system.pattern import Order, Places

EVALUATION = 1000.0  # cost of a pivot beside its elimination, in multiplications
EVEN = 0.52  # share of the larger half
PAYS = 0.7  # share of the work of one thread that the leader may have if two are worthwhile
FEWEST = 256  # nodes from which on they are
LEADER, HELPER, COMMON = 0, 1, 2


class _Forest:
    """The trees of an elimination: a node hangs below the first of its later neighbours."""

    def __init__(self, order: Order, sizes: list[int]) -> None:
        position = {k: i for i, (k, _) in enumerate(order)}
        self.children: dict[int, list[int]] = {k: [] for k in position}
        self.cost: dict[int, float] = {}  # of a node and all below it
        self.roots: list[int] = []
        for k, later in order:
            n, m = sizes[k], sum(sizes[i] for i in later)
            self.cost[k] = EVALUATION + n * (n + m) ** 2 + sum(self.cost[c] for c in self.children[k])
            (self.children[min(later, key=position.__getitem__)] if later else self.roots).append(k)

    def halves(self, roots: list[int]) -> tuple[list[int], list[int]]:
        """The trees in two groups that cost about the same."""
        groups, costs = ([], []), [0.0, 0.0]  # type: tuple[list[int], list[int]], list[float]
        for k in sorted(roots, key=self.cost.__getitem__, reverse=True):
            smaller = int(costs[1] < costs[0])
            groups[smaller].append(k)
            costs[smaller] += self.cost[k]
        return groups

    def total(self, roots: list[int]) -> float:
        """The cost of some trees."""
        return sum(self.cost[k] for k in roots)


def shares(order: Order, sizes: list[int]) -> dict[int, int] | None:
    """Which thread eliminates each node, or that they have it in common; None: two threads are not worthwhile.

    The costliest tree gives its root to the common top until what is left falls into halves.
    """
    forest = _Forest(order, sizes)
    whole, top, trees = forest.total(forest.roots), list[int](), [(-forest.cost[k], k) for k in forest.roots]
    heapq.heapify(trees)
    while trees and len(order) >= FEWEST:
        roots = [k for _, k in trees]
        groups, rest = forest.halves(roots), forest.total(roots)
        longer = max(map(forest.total, groups))
        if longer < EVEN * rest:
            if whole - rest + longer > PAYS * whole:
                return None
            owner = dict.fromkeys(top, COMMON)
            for thread, stack in enumerate(groups):
                while stack:
                    owner[stack[-1]] = thread
                    stack.extend(forest.children[stack.pop()])
            return owner
        top.append(heapq.heappop(trees)[1])
        for c in forest.children[top[-1]]:
            heapq.heappush(trees, (-forest.cost[c], c))
    return None


class Plan(NamedTuple):
    """What belongs to one thread; at the seam is what comes first, before the threads go their own ways."""

    order: Order  # its part of the elimination; behind it what is common
    common: int  # nodes of that
    bodies: tuple[list[int], list[int]]  # at the seam, and others
    joints: tuple[list[int], list[int]]
    loads: tuple[list[int], list[int]]


def plans(mech: Mechanism, order: Order, nodes: IntArray, owner: dict[int, int] | None) -> list[Plan]:
    """The parts of one thread, or of two. `nodes` are the joints in the elimination; node N + i is joint nodes[i].

    Joints and loads at the seam act on bodies of both threads, or need what is prepared for all at once.
    """
    bodies = mech.body.size
    if owner is None:
        return [Plan(order, 0, *(([], list(range(n))) for n in (bodies, mech.joint.size, mech.load.size)))]
    place = {int(j): bodies + i for i, j in enumerate(nodes)}
    pairs = [[b for b in pair if b < bodies] for pair in mech.joint.body.tolist()]
    pushed = [[b for b in pair if 0 <= b < bodies] for pair in mech.load[["body", "other"]].tolist()]
    helped = {k for k, who in owner.items() if who == HELPER}

    def who(parts: list[int]) -> int:
        """The thread of some nodes, COMMON if they belong to both."""
        mine = sum(k in helped for k in parts)
        return LEADER if mine == 0 else HELPER if mine == len(parts) else COMMON

    special = set(special_joints(mech).tolist())
    joined = [[*pair, place[j]] if j in place else pair for j, pair in enumerate(pairs)]
    joints = [COMMON if j in special else who(parts) for j, parts in enumerate(joined)]
    loads = [who(pair) for pair in pushed]
    seamed = {b for j, t in enumerate(joints) if t == COMMON for b in pairs[j]}
    seamed |= {b for i, t in enumerate(loads) if t == COMMON for b in pushed[i]}
    result = []
    for thread in (LEADER, HELPER):
        mine = [b for b in range(bodies) if (b in helped) == (thread == HELPER)]
        own = [(k, n) for k, n in order if owner[k] == thread]
        common = [(k, n) for k, n in order if owner[k] == COMMON and thread == LEADER]
        first = [[i for i, t in enumerate(part) if t == COMMON and thread == LEADER] for part in (joints, loads)]
        rest = [[i for i, t in enumerate(part) if t == thread] for part in (joints, loads)]
        at_seam = [b for b in mine if b in seamed], [b for b in mine if b not in seamed]
        result.append(Plan([*own, *common], len(common), at_seam, (first[0], rest[0]), (first[1], rest[1])))
    return result


def special_joints(mech: Mechanism) -> IntArray:
    """Joints and elements for which something is prepared beforehand: gears, drives, friction."""
    rows = np.concatenate([mech.gear.row, mech.drive.row, mech.law.row[mech.law.friction > 0.0]])
    return np.unique(np.searchsorted(mech.joint.first, rows, side="right") - 1)


def portion(
    plan: Plan, threads: int, begin: int, end: int, bounds: IntArray, seam: IntArray, edge: IntArray
) -> Portion:
    """What a thread does, in one leg if it is alone; its blocks are in the range from `begin` to `end`."""
    own, whole = len(plan.order) - plan.common, len(plan.order)
    leg = np.zeros(3, dtype=LEG).view(np.recarray)
    lists = {}
    for name, (first, rest) in (("body", plan.bodies), ("load", plan.loads), ("joint", plan.joints)):
        lists[name] = np.array([*first, *rest], dtype=np.int64)
        ends = np.array([0, len(first), len(lists[name]), len(lists[name])])
        leg[name] = np.stack([ends[:-1], ends[1:]], axis=1)
    leg.settled[1], leg.pivot[1], leg.pivot[2] = (0, len(lists["body"])), (0, own), (own, whole)
    legs, span = leg[1:2] if threads == 1 else leg, np.array([begin, end])
    return Portion(legs, span=span, bounds=bounds, seam=seam, edge=edge, **lists)


class Seam(NamedTuple):
    """Where the second thread finds copies of blocks and right-hand sides of the common top, which the leader adds."""

    place: Places
    start: list[int]  # of all nodes
    length: int  # of all blocks, with copies
    unknowns: int

    def tables(self, place: Places, start: list[int], sizes: list[int]) -> tuple[IntArray, IntArray]:
        """Places of copies, of what they are copies of, and lengths: of blocks and of right-hand sides."""
        blocks = [(at, place[i, j], sizes[i] * sizes[j]) for (i, j), at in self.place.items()]
        rows = [(at, start[k], sizes[k]) for k, at in enumerate(self.start[:-1]) if at != start[k]]
        return np.array(blocks, dtype=np.int64).reshape(-1, 3), np.array(rows, dtype=np.int64).reshape(-1, 3)


def seam(order: Order, owner: dict[int, int], sizes: list[int], start: list[int], length: int) -> Seam:
    """Copies for what the elimination of the second thread changes in the common top."""
    place, starts, unknowns = Places(), list(start), start[-1]
    for _, neighbours in order:
        common = [n for n in neighbours if owner[n] == COMMON]
        for i in common:
            if starts[i] == start[i]:
                starts[i] = unknowns
                unknowns += sizes[i]
            for j in common:
                if (i, j) not in place:
                    place[i, j] = length
                    length += sizes[i] * sizes[j]
    return Seam(place, starts, length, unknowns)


def bounds(mech: Mechanism, parts: list[Plan]) -> list[IntArray]:
    """Ranges of unknowns of bodies and of multipliers for each thread: as many as it has, about where it has them."""
    ground, end = 6 * (mech.body.size + 1), 6 * (mech.body.size + 1) + mech.row.size
    if len(parts) == 1:
        return [np.array([[0, ground], [ground, end]])]
    order = np.argsort([np.mean([*part.bodies[0], *part.bodies[1]]) for part in parts])
    low = parts[order[0]]
    cut = 6 * sum(map(len, low.bodies))
    middle = ground + sum(int(mech.joint[j].last - mech.joint[j].first) for part in low.joints for j in part)
    ranges = [np.array([[0, cut], [ground, middle]]), np.array([[cut, ground], [middle, end]])]
    return [ranges[np.flatnonzero(order == turn)[0]] for turn in range(2)]
