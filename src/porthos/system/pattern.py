"""The order of block elimination and the place of every block, found once for a graph of bodies and joints.

A joint has no diagonal block of its own. Its pivot is regular if its rows are independent of those eliminated before
on the bodies eliminated before, the others counting as fixed. So it may be eliminated, provided that no joint
eliminated before ties its cluster of eliminated parts to a body that is still there,
- after all its bodies (the rows then keep all their columns of a Jacobian of full rank), or
- after one of them, if the cluster of that body is not tied to the ground either: its rows are independent on the six
  motions of that cluster.
Among the nodes allowed, the one goes first whose neighbours get the fewest new neighbours by it, in the mean; on trees
they get none, and the work is O(N). Among those with equally many it is the one with the fewest neighbouring unknowns,
then the one that has waited longest: a net is taken off at many places in turn, and a chain from both ends.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping

import numpy as np

from porthos.kernels.elimination import LARGEST, NEIGHBOUR, PIVOT, SCRATCH, Pattern
from porthos.notation import records

GROUND = -1
CROWD = 64  # neighbours from which on all of them count as strangers to each other: to count is quadratic
Rank = tuple[float, int]
Sides = list[tuple[int, int]]
Places = dict[tuple[int, int], int]
Order = list[tuple[int, list[int]]]  # nodes in order of elimination, each with its later neighbours


class _Clusters:
    """Connected sets of eliminated nodes; `ties` counts their joints to bodies that are still there."""

    def __init__(self, count: int) -> None:
        self.parent = list(range(count))
        self.ties = [0] * count
        self.grounded = [False] * count

    def find(self, k: int) -> int:
        while self.parent[k] != k:
            self.parent[k] = self.parent[self.parent[k]]
            k = self.parent[k]
        return k

    def merge(self, a: int, b: int) -> None:
        ra, rb = self.find(a), self.find(b)
        if ra != rb:
            self.parent[rb] = ra
            self.ties[ra] += self.ties[rb]
            self.grounded[ra] |= self.grounded[rb]


class _Ordering:
    """Greedy elimination of bodies 0..N-1 and joints N..N+J-1; `sides` are the two bodies of each joint."""

    def __init__(self, sizes: list[int], sides: Sides, graph: list[set[int]], first: set[int]) -> None:
        self.sizes, self.sides, self.graph, self.first = sizes, sides, graph, first
        self.bodies = len(sizes) - len(sides)
        self.done = [False] * len(sizes)
        self.clusters = _Clusters(len(sizes))
        self.holding: dict[int, list[int]] = {}  # body still there -> eliminated joints that hold it

    def allowed(self, k: int) -> bool:
        if k < self.bodies:
            return True
        bodies = [b for b in self.sides[k - self.bodies] if b != GROUND]
        clusters = [self.clusters.find(b) for b in bodies if self.done[b]]
        if not clusters or any(self.clusters.ties[c] for c in clusters):
            return False
        return len(clusters) == len(bodies) or not self.clusters.grounded[clusters[0]]

    def rank(self, k: int) -> Rank:
        """How many new neighbours the neighbours of k would get by its elimination, and how many unknowns they have."""
        near = self.graph[k]
        if k in self.first or not near:
            return -1.0, 0
        known = 0 if len(near) > CROWD else sum(len(near & self.graph[n]) for n in near)
        return len(near) - 1 - known / len(near), sum(self.sizes[n] for n in near)

    def eliminate(self, k: int) -> list[int]:
        """Remove k from the graph, join its neighbours with each other, and return them."""
        neighbours = sorted(self.graph[k])
        for i in neighbours:
            self.graph[i].discard(k)
            self.graph[i].update(neighbours)
            self.graph[i].discard(i)
        self.done[k] = True
        if k < self.bodies:
            for joint in self.holding.pop(k, []):
                self.clusters.merge(joint, k)
                self.clusters.ties[self.clusters.find(k)] -= 1
            return neighbours
        for body in self.sides[k - self.bodies]:
            if body == GROUND:
                self.clusters.grounded[self.clusters.find(k)] = True
            elif self.done[body]:
                self.clusters.merge(k, body)
            else:
                self.clusters.ties[self.clusters.find(k)] += 1
                self.holding.setdefault(body, []).append(k)
        return neighbours

    def run(self) -> Order:
        """Nodes in order of elimination, each with its later neighbours.

        A joint becomes allowed only when a body next to it is eliminated (the boundary of an eliminated cluster is
        a clique), so it is enough to look at the neighbours of what was eliminated last.
        """
        ranks = [self.rank(k) for k in range(len(self.sizes))]
        arrival = [-k for k in range(len(self.sizes))]  # when a node got its rank; at first leaves before roots
        heap = [(ranks[k], arrival[k], k) for k in range(self.bodies)]
        heapq.heapify(heap)
        result: Order = []
        while heap:
            rank, _, k = heapq.heappop(heap)
            if self.done[k] or rank != ranks[k] or not self.allowed(k):
                continue
            neighbours = self.eliminate(k)
            result.append((k, neighbours))
            for n in neighbours:  # ranks of those around them may have changed as well: 5 % less work, twice the time
                if (now := self.rank(n)) != ranks[n]:
                    ranks[n], arrival[n] = now, len(result)
                heapq.heappush(heap, (ranks[n], arrival[n], n))
        assert len(result) == len(self.sizes), "every body and joint must be eliminated"
        return result


def elimination_order(
    body_sizes: list[int], joint_sizes: list[int], sides: Sides, coupled: list[bool], first: set[int]
) -> Order:
    """Bodies and joints in order of elimination, each with its later neighbours; bodies in `first` come first.

    `coupled` joints have rows that couple their two bodies directly.
    """
    n = len(body_sizes)
    graph: list[set[int]] = [set() for _ in range(n + len(sides))]
    for j, (pair, direct) in enumerate(zip(sides, coupled, strict=True)):
        bodies = [b for b in pair if b != GROUND]
        for b in bodies:
            graph[b].add(n + j)
            graph[n + j].add(b)
        if direct and len(bodies) == 2:
            graph[bodies[0]].add(bodies[1])
            graph[bodies[1]].add(bodies[0])
    return _Ordering([*body_sizes, *joint_sizes], sides, graph, first).run()


def place_blocks(order: Order, sizes: list[int]) -> tuple[Places, int]:
    """Offsets of all blocks of the eliminated matrix, fill included, in the order in which they are used; their end."""
    place: Places = {}
    length = 0
    for k, neighbours in order:
        for i, j in [(k, k), *((k, n) for n in neighbours), *((n, k) for n in neighbours)]:
            place[i, j] = length
            length += sizes[i] * sizes[j]
    return place, length


def make_pattern(
    order: Order, sizes: list[int], start: list[int], place: Mapping[tuple[int, int], int],
    bodies: int, length: int, unknowns: int, turn: int = 0,
) -> Pattern:  # fmt: skip
    """The pattern of an elimination, or of a part of one; `start` has the places of nodes in right-hand sides.

    Threads have scratch memory of their own: this one in its turn.
    """
    pairs = [(k, n) for k, neighbours in order for n in neighbours]
    nodes, later = [k for k, _ in order], [n for _, n in pairs]
    counts = np.array([len(neighbours) for _, neighbours in order], dtype=np.int64)
    last, filled = np.cumsum(counts), np.cumsum(counts**2)
    return Pattern(
        pivot=records(
            PIVOT,
            node=nodes,
            unknowns=[sizes[k] for k in nodes],
            start=[start[k] for k in nodes],
            block=[place[k, k] for k in nodes],
            first=last - counts,
            last=last,
            updates=filled - counts**2,
        ),
        neighbour=records(
            NEIGHBOUR,
            unknowns=[sizes[n] for n in later],
            start=[start[n] for n in later],
            upper=[place[k, n] for k, n in pairs],
            lower=[place[n, k] for k, n in pairs],
            joint=[n >= bodies for n in later],
        ),
        fill=np.array([place[i, j] for _, neighbours in order for i in neighbours for j in neighbours], dtype=np.int64),
        length=length,
        unknowns=unknowns,
        spare=length + turn * SCRATCH,
        spare_row=unknowns + turn * LARGEST,
        bodies=bodies,
    )
