"""The mechanisms as plain data, described once and translated for each code by its adapter.

Bodies are given at t = 0 by centre of mass, rotation, velocity and angular velocity in world axes; joints by points and
axes in world coordinates at t = 0. The inertia is diag(moments) in the body frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import porthos as ph
from gallery import closed_loop as gallery_loop
from gallery import slider_crank as gallery_crank

Vector = NDArray[np.float64]

GROUND = -1
GRAVITY = (0.0, 0.0, -9.81)
LENGTH, WIDTH, MASS = 0.1, 0.01, 0.1
E1, E2, E3 = np.eye(3)
ZERO = np.zeros(3)


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body at t = 0."""

    mass: float
    moments: Vector  # (3,)
    position: Vector  # (3,)
    rotation: Vector = field(default_factory=lambda: np.eye(3))  # (3, 3), body to world
    velocity: Vector = field(default_factory=lambda: np.zeros(3))  # (3,)
    angular_velocity: Vector = field(default_factory=lambda: np.zeros(3))  # (3,), world axes


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint between bodies a and b (indices, or GROUND); kind is spherical, revolute, universal or prismatic."""

    kind: str
    a: int
    b: int
    at: Vector
    axis: Vector = field(default_factory=lambda: E3)  # universal: fixed in a
    axis_b: Vector = field(default_factory=lambda: E3)  # universal only: fixed in b


@dataclass(frozen=True, eq=False)
class Spring:
    """A linear spring between points of bodies a and b (indices, or GROUND), in world coordinates at t = 0."""

    a: int
    b: int
    point_a: Vector
    point_b: Vector
    stiffness: float
    length: float


@dataclass(frozen=True, eq=False)
class Mechanism:
    """Bodies and joints, and how it is measured: `steps` of size `h` are timed, `check` of them compared."""

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    gravity: tuple[float, float, float]
    h: float
    steps: int
    check: int = 100
    springs: tuple[Spring, ...] = ()

    @property
    def loops(self) -> bool:
        """Whether some joint closes a loop."""
        return bool(spanning_tree(self)[1])


class Link(NamedTuple):
    """A body of the spanning tree: held by a joint at its parent, or floating (parent GROUND, no joint)."""

    body: int
    parent: int
    joint: Joint | None


def spanning_tree(mechanism: Mechanism) -> tuple[list[Link], list[Joint]]:
    """Bodies in an order in which each follows its parent, breadth first, and the joints that close loops.

    Spherical joints are used last, so that they close the loops.
    """
    joints_of: dict[int, list[int]] = {}
    for k, joint in enumerate(mechanism.joints):
        joints_of.setdefault(joint.a, []).append(k)
        joints_of.setdefault(joint.b, []).append(k)
    links: list[Link] = []
    reached, used = {GROUND}, set()
    for root in range(GROUND, len(mechanism.bodies)):
        if root != GROUND and root in reached:
            continue
        if root != GROUND:
            links.append(Link(root, GROUND, None))
            reached.add(root)
        ahead = [(mechanism.joints[k].kind == "spherical", len(links), k, root) for k in joints_of.get(root, [])]
        heapify(ahead)
        while ahead:
            _, _, k, part = heappop(ahead)
            joint = mechanism.joints[k]
            other = joint.b if joint.a == part else joint.a
            if other in reached:
                continue
            links.append(Link(other, part, joint))
            reached.add(other)
            used.add(k)
            for n in joints_of[other]:
                heappush(ahead, (mechanism.joints[n].kind == "spherical", len(links), n, other))
    return links, [joint for k, joint in enumerate(mechanism.joints) if k not in used]


class Entry(NamedTuple):
    """A mechanism of the catalogue; a code that was too slow on one size of a family skips the larger ones."""

    name: str
    family: str
    build: Callable[[], Mechanism]
    quick: bool  # part of `--quick`


def bar(begin: Vector, end: Vector, velocity: Vector = ZERO, angular_velocity: Vector = ZERO) -> Body:
    """A bar of the standard section from `begin` to `end`, its first body axis along it."""
    along = end - begin
    length = float(np.linalg.norm(along))
    moments = MASS / 12 * np.array([2 * WIDTH**2, length**2 + WIDTH**2, length**2 + WIDTH**2])
    return Body(MASS, moments, (begin + end) / 2, frame(along), velocity, angular_velocity)


def frame(x: Vector) -> Vector:
    """A rotation (3, 3) whose first axis is along x: the identity turned the short way."""
    x = x / np.linalg.norm(x)
    turn = np.cross(E1, x)
    cosine = float(x[0])
    if cosine < -1 + 1e-12:
        return np.diag([-1.0, -1.0, 1.0])
    K = np.array([[0, -turn[2], turn[1]], [turn[2], 0, -turn[0]], [-turn[1], turn[0], 0]])
    return np.eye(3) + K + K @ K / (1 + cosine)


def chain(count: int, kind: str, steps: int, rates: Vector | None = None) -> Mechanism:
    """Bars along x, the first one held at the origin; hinges along y; `rates` (count, 3) are angular velocities."""
    ends = np.outer(np.arange(count + 1), LENGTH * E1)
    rates = np.zeros((count, 3)) if rates is None else rates
    speeds = np.vstack([ZERO, np.cumsum(np.cross(rates, LENGTH * E1), axis=0)])  # of the ends
    bars = tuple(
        bar(ends[k], ends[k + 1], velocity=(speeds[k] + speeds[k + 1]) / 2, angular_velocity=rates[k])
        for k in range(count)
    )
    joints = tuple(Joint(kind, k - 1, k, ends[k], axis=E2) for k in range(count))
    return Mechanism(f"chain-{count} {kind}", bars, joints, GRAVITY, h=1e-3, steps=steps, check=min(100, steps))


def closed_loop() -> Mechanism:
    """The loop of 001, section 7.2, from t = 1 on, when its load has gone; the state comes from a fine run of it."""
    end = gallery_loop.run(ph.MidpointGGL(), step=1e-3, end=1.0)
    bars = tuple(
        Body(
            gallery_loop.MASS,
            np.diag(np.asarray(part.inertia.tensor)),
            end[part.name].position[-1],
            end[part.name].rotation[-1],
            end[part.name].velocity[-1],
            end[part.name].angular_velocity[-1],
        )
        for part in gallery_loop.model().bodies
    )
    half = gallery_loop.LENGTH / 2
    tips = (half * E2, -half * E1, -half * E2, half * E1)  # the corner after each bar, in its own frame
    joints = tuple(Joint("spherical", k, (k + 1) % 4, bars[k].position + bars[k].rotation @ tips[k]) for k in range(4))
    return Mechanism("closed loop", bars, joints, (0.0, 0.0, 0.0), h=1e-2, steps=2000)


def slider_crank() -> Mechanism:
    """The spatial slider-crank of 001, section 7.3, with the inertias of the IFToMM library."""
    c = gallery_crank
    parts = c.model("library").bodies
    bodies = tuple(
        Body(
            p.inertia.mass,
            np.diag(np.asarray(p.inertia.tensor)),
            *(np.asarray(value) for value in (p.position, p.matrix, p.velocity, p.angular_velocity)),
        )
        for p in parts
    )
    joints = (
        Joint("revolute", GROUND, 0, c.A, axis=E1),
        Joint("prismatic", GROUND, 2, c.C, axis=E1),
        Joint("universal", 2, 1, c.C, axis=E1, axis_b=bodies[1].rotation[:, 0]),
        Joint("spherical", 0, 1, c.B),
    )
    return Mechanism("slider-crank", bodies, joints, GRAVITY, h=1e-3, steps=5000)


def binary_tree(levels: int = 8) -> Mechanism:
    """A binary tree of bars in the horizontal plane, spherical joints, its root at the origin."""
    bars: list[Body] = []
    joints: list[Joint] = []

    def grow(parent: int, begin: Vector, angle: float, level: int) -> None:
        end = begin + LENGTH * np.array([np.cos(angle), np.sin(angle), 0.0])
        bars.append(bar(begin, end))
        joints.append(Joint("spherical", parent, len(bars) - 1, begin))
        own, spread = len(bars) - 1, 0.8 * 0.7**level
        if level + 1 < levels:
            for side in (-1, 1):
                grow(own, end, angle + side * spread, level + 1)

    grow(GROUND, ZERO, 0.0, 0)
    return Mechanism(f"tree of {len(bars)}", tuple(bars), tuple(joints), GRAVITY, h=1e-3, steps=200)


def net(size: int = 20) -> Mechanism:
    """size x size nodes in the horizontal plane, bars between neighbours, two opposite corners held.

    At each node every further bar is joined to the first bar of the node.
    """
    bars: list[Body] = []
    at_node: dict[tuple[int, int], list[int]] = {}
    for a, b in _edges(size):
        bars.append(bar(_node(a), _node(b)))
        for n in (a, b):
            at_node.setdefault(n, []).append(len(bars) - 1)
    held = ((0, 0), (size - 1, size - 1))
    joints = [Joint("spherical", GROUND, at_node[n][0], _node(n)) for n in held]
    joints += [Joint("spherical", bs[0], b, _node(n)) for n, bs in at_node.items() for b in bs[1:]]
    return Mechanism(f"net {size} x {size}", tuple(bars), tuple(joints), GRAVITY, h=1e-3, steps=100)


def _node(n: tuple[int, int]) -> Vector:
    return LENGTH * np.array([n[0], n[1], 0.0])


def _edges(size: int) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Bars of the net, row by row."""
    for i in range(size):
        for k in range(size):
            if i + 1 < size:
                yield (i, k), (i + 1, k)
            if k + 1 < size:
                yield (i, k), (i, k + 1)


def ladder(count: int, steps: int, speed: float = 1.0) -> Mechanism:
    """`count` four-bars side by side: cranks hang from hinges at the ground, couplers join their lower ends.

    Couplers have spherical joints at both ends, so that no row repeats another. The lower ends start with `speed`,
    too slow for the cranks to come level with the couplers, where the mechanism is singular.
    """
    feet = np.outer(np.arange(count + 1), LENGTH * E1)
    tips = feet - LENGTH * E3
    rate = -speed / LENGTH * E2
    cranks = [bar(p, q, speed / 2 * E1, rate) for p, q in zip(feet, tips, strict=True)]
    couplers = [bar(p, q, speed * E1) for p, q in pairwise(tips)]
    bodies: list[Body] = [cranks[0]]
    joints = [Joint("revolute", GROUND, 0, feet[0], axis=E2)]
    for k in range(count):  # crank k is body 2 k, coupler k is body 2 k + 1
        bodies += [couplers[k], cranks[k + 1]]
        joints += [
            Joint("spherical", 2 * k, 2 * k + 1, tips[k]),
            Joint("revolute", GROUND, 2 * k + 2, feet[k + 1], axis=E2),
            Joint("spherical", 2 * k + 1, 2 * k + 2, tips[k + 1]),
        ]
    return Mechanism(f"ladder of {count}", tuple(bodies), tuple(joints), GRAVITY, h=1e-3, steps=steps)


def car() -> Mechanism:
    """A chassis on four wheel carriers, which slide vertically in it, suspension springs, and tyres as springs.

    It starts out of balance: the chassis rolls, pitches and falls; dampers are left out, so that energy shows errors.
    """
    size = np.array([3.6, 1.5, 0.5])
    moments = 1200.0 / 12 * (np.sum(size**2) - size**2)
    rates, centre = np.array([0.3, -0.2, 0.1]), np.array([0.0, 0.0, 0.7])
    bodies, joints, springs = [Body(1200.0, moments, centre, velocity=-0.5 * E3, angular_velocity=rates)], [], []
    for k, (x, y) in enumerate([(1.4, 0.75), (1.4, -0.75), (-1.3, 0.75), (-1.3, -0.75)], start=1):
        hub, top, foot = np.array([x, y, 0.3]), np.array([x, y, 0.8]), np.array([x, y, 0.0])
        speed = -0.5 * E3 + np.cross(rates, hub - centre)
        bodies.append(Body(40.0, np.array([0.9, 1.6, 0.9]), hub, velocity=speed, angular_velocity=rates))
        joints.append(Joint("prismatic", 0, k, hub, axis=E3))
        springs += [Spring(0, k, top, hub, 2.0e4, 0.62), Spring(GROUND, k, foot, hub, 2.0e5, 0.317)]
    return Mechanism("car on springs", tuple(bodies), tuple(joints), GRAVITY, 1e-3, 1000, springs=tuple(springs))


# Steps timed: enough to forget the first ones, few enough for the peers.
# The first ten steps, with little to extrapolate from, take an iteration more: short runs would count them too much.
CHAIN_STEPS = {1: 10000, 4: 5000, 16: 1000, 64: 500, 256: 200, 1024: 200, 4096: 200}


def catalogue() -> list[Entry]:
    """All mechanisms in the order of the table."""
    entries = [
        Entry(f"chain-{n} {kind}", f"chain {kind}", lambda n=n, kind=kind, s=s: chain(n, kind, s), n in (1, 4, 16, 64))
        for kind in ("spherical", "revolute")
        for n, s in CHAIN_STEPS.items()
    ]
    entries += [
        Entry("closed loop", "closed loop", closed_loop, True),
        Entry("slider-crank", "slider-crank", slider_crank, True),
        Entry("tree of 255", "tree", binary_tree, False),
        Entry("net 20 x 20", "net", net, False),
        Entry("ladder of 4", "ladder", lambda: ladder(4, 1000), True),
        Entry("ladder of 64", "ladder", lambda: ladder(64, 200), False),
        Entry("car on springs", "car", car, True),
    ]
    return entries
