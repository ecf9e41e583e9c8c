"""Joints as solids, by their kind: pins, balls, crosses, rails with sleeves, plates, welds; a foot on the ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from porthos.notation import Array, normals
from porthos.results.trajectory import Trajectory
from porthos.show.solids import GROUND, LINKS, Solid, joint_point, turned

SMALLEST, LARGEST = 0.003, 0.016  # radius of a joint, relative to the scene
SNUG = 0.7  # radius of a joint, relative to the thinner of its bodies
SHORT = 0.5  # largest radius of a joint, relative to half the length of the shorter of its bodies
GLASS = 0.35  # opacity of a plate
TOOTHED = ("gear", "rack")


@dataclass(frozen=True)
class Link:
    """What lies between points of two parts, each (part, point), and follows them.

    A rod, a coil (`more` is the radius of its wire), a sleeve of the length `more` at its first end, or a piece of a
    beam with the corners x1, y1, x2, y2, ... of its cross-section as `outline`.
    """

    a: tuple[int, Array]
    b: tuple[int, Array]
    radius: float
    form: str = "rod"
    colour: str = "joint"
    group: str = "joints"
    more: float = 0.0
    outline: tuple[float, ...] = ()


@dataclass(frozen=True)
class _Site:
    """Where a joint is: its parts, its points on them, what turns there, and how large it is drawn."""

    parts: tuple[int, int]
    points: tuple[Array, Array]
    frames: tuple[Array, Array]  # rotations of both parts at the start
    travel: Array  # (T, 3) point of B in the frame of A
    r: float

    def piece(self, side: int, kind: str, size: Sequence[float], axis: Array | None = None) -> Solid:
        """A solid at the joint's point on one side; `axis` is in world coordinates at the start."""
        turn = np.eye(3) if axis is None else turned(self.frames[side].T @ axis)
        lengths = tuple(self.r * float(s) for s in size)
        return Solid(self.parts[side], kind, lengths, self.points[side], turn, "joint", "joints")

    def rail(self, kind: str, width: float, axis: Array) -> list[Solid]:
        """A rail on A as long as the way of B."""
        n = self.frames[0].T @ axis
        way = (self.travel - self.points[0]) @ n
        low, high = float(way.min()) - 5 * self.r, float(way.max()) + 5 * self.r
        size = (width * self.r, width * self.r, high - low) if kind == "box" else (width * self.r, high - low)
        middle = self.points[0] + n * (low + high) / 2
        return [Solid(self.parts[0], kind, size, middle, turned(n), "rail", "joints")]

    def plate(self, normal: Array) -> list[Solid]:
        """A plate on A under all the way of B."""
        n = self.frames[0].T @ normal
        across = np.column_stack(normals(n))
        way = (self.travel - self.points[0]) @ across
        low, high = way.min(axis=0) - 6 * self.r, way.max(axis=0) + 6 * self.r
        middle = self.points[0] + across @ (low + high) / 2
        size = (*map(float, high - low), 0.15 * self.r)
        turn = np.column_stack([across, n])
        return [Solid(self.parts[0], "box", size, middle, turn, "rail", "joints", GLASS)]


def joint_solids(run: Trajectory, bodies: list[Solid], size: float, up: Array) -> tuple[list[Solid], list[Link]]:
    """Solids of all joints of a run, and the rods and ropes between two points; `bodies` are those of its bodies."""
    solids, links = [], []
    for index, joint in enumerate(run.system.description["joints"]):
        site = _site(run, index, bodies, size)
        if joint["kind"] in LINKS:
            links.append(Link((site.parts[0], site.points[0]), (site.parts[1], site.points[1]), 0.4 * site.r))
        solids += (_toothed if joint["kind"] in TOOTHED else _pieces)(site, joint)
        solids += [foot(point, site.r, up) for point in _held(site, joint)]
    return solids, links


def _site(run: Trajectory, index: int, bodies: list[Solid], size: float) -> _Site:
    (a, point_a), (b, point_b) = joint_point(run, index, 0), joint_point(run, index, 1)
    rotations = [_rotation(run, part) for part in (a, b)]
    place_a = run[run.system.body_names[a]].position if a != GROUND else np.zeros(3)
    place_b = run[run.system.body_names[b]].position if b != GROUND else np.zeros(3)
    world = place_b + rotations[1] @ point_b
    travel = np.einsum("tkj,tk->tj", rotations[0], world - place_a)
    widths = [float(np.sort(bodies[part].half)[1]) for part in (a, b) if part != GROUND]
    lengths = [float(bodies[part].half.max()) for part in (a, b) if part != GROUND]
    r = min(float(np.clip(SNUG * min(widths), SMALLEST * size, LARGEST * size)), SHORT * min(lengths))
    return _Site((a, b), (point_a, point_b), (rotations[0][0], rotations[1][0]), travel, r)


def _rotation(run: Trajectory, part: int) -> Array:
    """Rotations (T, 3, 3) of a part; those of the ground and of point masses are none."""
    if part == GROUND or run.system.description["bodies"][part]["kind"] == "point":
        return np.broadcast_to(np.eye(3), (run.t.size, 3, 3))
    return run[run.system.body_names[part]].rotation


def _pieces(site: _Site, joint: dict[str, Any]) -> list[Solid]:
    """What a joint of some kind looks like, in multiples of its radius."""
    axis, normal = (np.asarray(joint.get(key, (0, 0, 1)), dtype=np.float64) for key in ("axis", "normal"))
    ball = site.piece(1, "ellipsoid", (1.2, 1.2, 1.2))
    match joint["kind"]:
        case "revolute":
            return [site.piece(1, "cylinder", (1.1, 3.6), axis), site.piece(1, "cylinder", (0.5, 4.6), axis)]
        case "spherical":
            return [site.piece(1, "ellipsoid", (1.5, 1.5, 1.5))]
        case "universal":
            axes = [np.asarray(joint[key], dtype=np.float64) for key in ("axis_a", "axis_b")]
            return [site.piece(side, "cylinder", (0.6, 4.4), axes[side]) for side in (0, 1)] + [ball]
        case "cylindrical":
            return [*site.rail("cylinder", 0.5, axis), site.piece(1, "tube", (1.4, 0.6, 4.0), axis)]
        case "prismatic":
            return [*site.rail("box", 0.8, axis), site.piece(1, "box", (2.4, 2.4, 4.0), axis)]
        case "point_on_line":
            return [*site.rail("cylinder", 0.3, axis), ball]
        case "planar":
            return [*site.plate(normal), site.piece(1, "cylinder", (1.8, 0.6), normal)]
        case "point_on_plane":
            return [*site.plate(normal), ball]
        case "turn_drive":
            return [site.piece(0, "cylinder", (1.8, 1.6), axis)]
        case "slide_drive":
            return [site.piece(1, "cylinder", (2.1, 1.2), axis)]
        case "fixed":
            return [site.piece(1, "box", (2.4, 2.4, 2.4))]
        case _:
            return [site.piece(side, "ellipsoid", (0.9, 0.9, 0.9)) for side in (0, 1)]


def _toothed(site: _Site, joint: dict[str, Any]) -> list[Solid]:
    """Wheels with their pitch circles, the larger one of internal gears a ring; bevel gears are small discs."""
    other = "along" if joint["kind"] == "rack" else "axis_b"
    axes = [np.asarray(joint[key], dtype=np.float64) for key in ("axis", other)]
    if joint["kind"] == "rack":
        radius = joint["radius"] / site.r
        return [
            site.piece(0, "cylinder", (radius, 0.6), axes[0]),
            site.piece(1, "box", (0.6, 0.6, 2 * np.pi * radius), axes[1]),
        ]
    radii = [radius / site.r for radius in joint["radii"]] or [1.8, 1.8]
    ring = radii.index(max(radii)) if joint["internal"] else -1
    return [
        site.piece(side, "tube", (radii[side] + 1.0, radii[side], 0.6), axes[side])
        if side == ring
        else site.piece(side, "cylinder", (radii[side], 0.6), axes[side])
        for side in (0, 1)
    ]


def _held(site: _Site, joint: dict[str, Any]) -> list[Array]:
    """Points at which the ground holds a joint: the ends of a rail, or its point."""
    if GROUND not in site.parts or joint["kind"] in ("turn_drive", "slide_drive", *TOOTHED):
        return []
    side = site.parts.index(GROUND)
    if side == 0 and joint["kind"] in ("cylindrical", "prismatic", "point_on_line"):
        rail = site.rail("cylinder", 0.5, np.asarray(joint["axis"], dtype=np.float64))[0]
        along = rail.turn[:, 2] * (rail.size[-1] / 2 - 1.5 * site.r)
        return [rail.at - along, rail.at + along]
    return [] if joint["kind"] in ("planar", "point_on_plane") else [site.points[side]]


def foot(point: Array, r: float, up: Array, group: str = "joints") -> Solid:
    """A cone under a point that the ground holds."""
    return Solid(GROUND, "cone", (2.0 * r, 3.2 * r), point - 1.6 * r * up, turned(up), "ground", group)
