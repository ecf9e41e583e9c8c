"""Bodies as solids: boxes, cylinders, tubes, ellipsoids, rods, each placed in the frame of the part that carries it.

A body that is given by numbers is drawn as the homogeneous ellipsoid of the same inertia: E_i = m a_i^2/5 with its
Euler values E_i and semi-axes a_i; smaller but of this form if it would reach over the joints of the body.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from porthos.notation import Array, normals
from porthos.results.trajectory import Trajectory

GROUND = -1  # the part that does not move
LINKS = ("distance", "length_drive")  # joints that are rods or ropes between two points
AXES = {"x": 0, "y": 1, "z": 2}
THIN = 0.02  # of a box without thickness, relative to its longest edge
SLENDER = 0.012  # radius of a rod, relative to its length
BALL = 0.022  # radius of the largest point mass, relative to the scene
AT_ONE_POINT = ("torsion_spring", "bushing", "joint_potential")  # kinds of force elements that are no lines
STICK = 0.005  # radius of a stick from a body to a joint outside of it, relative to the scene
OUTSIDE = 1.02  # a point further out than this, relative to the half lengths of a body, needs a stick
CLEAR = 0.6  # opacity of a stand-in
MODEST = 0.5  # largest semi-axis of a stand-in, relative to the reach of its joints
COMPACT = 0.06  # the same, relative to the scene, where all joints are near its centre


@dataclass(frozen=True)
class Solid:
    """A shape at a place of a part; its long axis is the third column of `turn`. Half lengths bound it in its frame."""

    part: int
    kind: (
        str  # box (edges), ellipsoid (semi-axes), cylinder, cone or rod (radius, length), tube (outer, inner, length),
    )
    # coil (radius, radius of its wire, length)
    size: tuple[float, ...]
    at: Array
    turn: Array  # (3, 3)
    colour: str
    group: str = "bodies"
    opacity: float = 1.0

    @property
    def half(self) -> Array:
        """Half lengths of the box around it."""
        if self.kind == "box":
            return np.array(self.size) / 2
        if self.kind == "ellipsoid":
            return np.array(self.size)
        return np.array([self.size[0], self.size[0], self.size[-1] / 2])

    @property
    def corners(self) -> Array:
        """Corners (8, 3) of the box around it, in the frame of its part."""
        signs = np.array([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)])
        return self.at + (signs * self.half) @ self.turn.T


def turned(axis: Array) -> Array:
    """A rotation that takes z to `axis`."""
    n = axis / np.linalg.norm(axis)
    return np.column_stack([*normals(n), n])


def stick(part: int, start: Array, end: Array, radius: float, colour: str, group: str = "bodies") -> Solid:
    """A rod between two points of a part."""
    along = end - start
    return Solid(part, "rod", (radius, float(np.linalg.norm(along))), (start + end) / 2, turned(along), colour, group)


def joint_point(run: Trajectory, joint: int, side: int) -> tuple[int, Array]:
    """The part on one side of a joint, and the joint's point in the frame of that part that the user gave."""
    return _in_frame(run, int(run.system.mech.joint[joint].body[side]), run.system.joint_points[joint, side])


def load_point(run: Trajectory, load: int) -> tuple[int, Array]:
    """The same for a load or port."""
    return _in_frame(run, int(run.system.mech.load[load].body), run.system.mech.load[load].point)


def _in_frame(run: Trajectory, body: int, point: Array) -> tuple[int, Array]:
    if body == len(run.system.body_names):
        return GROUND, point
    return body, run.system.principal[body] @ point


def element_point(run: Trajectory, element: int, side: int) -> tuple[int, Array]:
    """The same for a force element."""
    about = run.system.description["elements"][element]
    name, point = about["ab"[side]], np.asarray(about["points"][side], dtype=np.float64)
    return GROUND if name == "ground" else run.system.body_names.index(name), point


def ends(run: Trajectory) -> list[tuple[int, Array]]:
    """The points of all joints and force elements on both sides."""
    elements = range(len(run.system.description.get("elements", [])))
    found = [joint_point(run, joint, side) for joint in range(len(run.system.joint_names)) for side in (0, 1)]
    return found + [element_point(run, element, side) for element in elements for side in (0, 1)]


def body_solids(run: Trajectory, size: float) -> list[Solid]:
    """All bodies of a run by their shapes, with sticks to ends outside of them; `size` is that of the scene."""
    bodies = run.system.description["bodies"]
    heaviest = max((body["mass"] for body in bodies if body["kind"] == "point"), default=0.0) or 1.0
    points = ends(run)
    reach: dict[int, float] = {}  # of the joints and force elements of each body from its centre
    for part, point in points:
        reach[part] = max(reach.get(part, 0.0), float(np.linalg.norm(point)))
    solids: list[Solid] = []
    for k, body in enumerate(bodies):
        colour = f"c{k % 7}"
        if body["kind"] == "point":
            radius = BALL * size * max(0.5, (body["mass"] / heaviest) ** (1 / 3))
            solids.append(Solid(k, "ellipsoid", (radius,) * 3, np.zeros(3), np.eye(3), colour))
        else:
            room = max(MODEST * reach[k], COMPACT * size) if k in reach else np.inf
            solids.append(_solid(run, k, body["shape"], colour, room))
    for part, point in points:
        if part != GROUND and bodies[part]["kind"] != "point" and _is_outside(point, solids[part]):
            solids.append(stick(part, np.zeros(3), point, STICK * size, f"c{part % 7}"))
    return solids


def _is_outside(point: Array, solid: Solid) -> bool:
    reach = np.abs(solid.turn.T @ point) / np.maximum(solid.half, 1e-300)
    return bool(np.any(reach > OUTSIDE) if solid.kind != "ellipsoid" else np.linalg.norm(reach) > OUTSIDE)


def _ellipsoid(run: Trajectory, k: int, room: float) -> Array:
    """Semi-axes of the stand-in for a body given by its inertia, none longer than `room`."""
    record = run.system.mech.body[k]
    axes = np.sqrt(5.0 * np.asarray(record.euler) / record.mass)
    return np.maximum(axes, THIN * axes.max()) * min(1.0, room / axes.max())


def _solid(run: Trajectory, k: int, shape: dict[str, Any], colour: str, room: float) -> Solid:
    """The solid of one rigid body; `room` is what its joints leave to a stand-in."""
    turn = turned(np.eye(3)[AXES[shape["axis"]]]) if "axis" in shape else np.eye(3)
    opacity = 1.0
    sizes: Any
    match shape["type"]:
        case "Box":
            edges = np.asarray(shape["size"], dtype=np.float64)
            kind, sizes = "box", np.maximum(edges, THIN * edges.max())
        case "Cylinder":
            kind, sizes = "cylinder", (shape["radius"], shape["length"])
        case "HollowCylinder" if shape["inner_radius"] > 0.0:
            kind, sizes = "tube", (shape["outer_radius"], shape["inner_radius"], shape["length"])
        case "HollowCylinder":
            kind, sizes = "cylinder", (shape["outer_radius"], shape["length"])
        case "Sphere":
            kind, sizes = "ellipsoid", (shape["radius"],) * 3
        case "Rod":
            kind, sizes = "rod", (SLENDER * shape["length"], shape["length"])
        case _:
            kind, sizes, turn, opacity = "ellipsoid", _ellipsoid(run, k, room), run.system.principal[k], CLEAR
    return Solid(k, kind, tuple(map(float, sizes)), np.zeros(3), turn, colour, opacity=opacity)
