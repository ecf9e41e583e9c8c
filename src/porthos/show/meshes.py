"""Triangles of solids, for programs and pictures that know no other shapes; their normals point outwards."""

from __future__ import annotations

from functools import cache

import numpy as np

from porthos.notation import Array, IntArray
from porthos.results.trajectory import Trajectory
from porthos.show.beam_solids import bent
from porthos.show.joint_solids import Link
from porthos.show.scene import Scene
from porthos.show.solids import GROUND, Solid, turned

SIDES = 24  # of a circle
PIECES = 4  # of a segment of a beam
TURNS, ROUND, LEAD = 8, 6, 0.12  # of a coil: turns, sides of its wire, share of its length that is straight at each end


@cache
def mesh(kind: str, size: tuple[float, ...]) -> tuple[Array, IntArray]:
    """Points (n, 3) and triangles (m, 3) of a solid about its centre, its long axis along z."""
    half = size[-1] / 2
    match kind:
        case "beam":
            return _prism(np.array(size[:-1]).reshape(-1, 2), size[-1])
        case "box":
            return _box(np.array(size) / 2)
        case "ellipsoid":
            points, triangles = _turned(_arc(1.0, -np.pi / 2, np.pi / 2))
            return points * np.array(size), triangles
        case "cylinder":
            return _turned(np.array([(0, -half), (size[0], -half), (size[0], half), (0, half)]))
        case "cone":
            return _turned(np.array([(0, -half), (size[0], -half), (0, half)]))
        case "rod":
            low, high = _arc(size[0], -np.pi / 2, 0.0), _arc(size[0], 0.0, np.pi / 2)
            return _turned(np.concatenate([low - np.array([0.0, half]), high + np.array([0.0, half])]))
        case "tube":
            outer, inner, _ = size
            ring = [(inner, -half), (outer, -half), (outer, half), (inner, half), (inner, -half)]
            return _turned(np.array(ring))
        case "coil":
            return _coil(*size)
    raise ValueError(f"no mesh for a solid of kind '{kind}'")


def _prism(corners: Array, length: float) -> tuple[Array, IntArray]:
    """A prism in PIECES with caps at both ends, of which the outline is convex and counterclockwise."""
    n, height = len(corners), np.linspace(-length / 2, length / 2, PIECES + 1)
    points = np.concatenate([np.column_stack([corners, np.full(n, z)]) for z in height])
    i, j = (part.ravel() for part in np.meshgrid(np.arange(PIECES), np.arange(n), indexing="ij"))
    here, there = i * n + j, i * n + (j + 1) % n
    sides = [np.column_stack([here, there, there + n]), np.column_stack([here, there + n, here + n])]
    fan = np.column_stack([np.zeros(n - 2, dtype=int), np.arange(1, n - 1), np.arange(2, n)])
    return points, np.concatenate([*sides, fan[:, ::-1], fan + PIECES * n])


def _arc(radius: float, start: float, end: float) -> Array:
    """Points (r, z) of an arc about the origin."""
    angle = np.linspace(start, end, 1 + round(SIDES * (end - start) / (2 * np.pi)))
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def _turned(profile: Array) -> tuple[Array, IntArray]:
    """The surface that a profile of (r, z), with the inside on its left, makes when it is turned about z."""
    angle = 2 * np.pi * np.arange(SIDES) / SIDES
    r, z = profile[:, 0].copy(), profile[:, 1]
    r[r < 1e-12 * np.abs(profile).max()] = 0.0
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    points = np.concatenate([r[:, None, None] * circle, np.broadcast_to(z[:, None, None], (r.size, SIDES, 1))], axis=2)
    i, j = np.meshgrid(np.arange(r.size - 1), np.arange(SIDES), indexing="ij")
    here, there = i * SIDES + j, i * SIDES + (j + 1) % SIDES
    lower = np.stack([here, there, there + SIDES], axis=-1)[r[:-1] > 0.0]  # of each square; a line on the axis is none
    upper = np.stack([here, there + SIDES, here + SIDES], axis=-1)[r[1:] > 0.0]
    return points.reshape(-1, 3), np.concatenate([lower.reshape(-1, 3), upper.reshape(-1, 3)])


def _coil(radius: float, wire: float, length: float) -> tuple[Array, IntArray]:
    """A wire that goes to its radius within half a turn at both ends; as in the player."""
    share = np.linspace(0.0, 1.0, TURNS * SIDES + 1)
    wound = np.clip((share - LEAD) / (1 - 2 * LEAD), 0.0, 1.0)
    angle, width = 2 * np.pi * TURNS * wound, radius * np.clip(2 * TURNS * np.minimum(wound, 1 - wound), 0.0, 1.0)
    out = np.column_stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)])
    line = width[:, None] * out + np.outer(length * (share - 0.5), [0.0, 0.0, 1.0])
    along = np.gradient(line, axis=0)
    along /= np.linalg.norm(along, axis=1)[:, None]
    out -= along * np.sum(out * along, axis=1)[:, None]
    out /= np.linalg.norm(out, axis=1)[:, None]
    across = np.cross(along, out)
    turn = 2 * np.pi * np.arange(ROUND) / ROUND
    points = line[:, None] + wire * (out[:, None] * np.cos(turn)[:, None] + across[:, None] * np.sin(turn)[:, None])
    i, j = np.meshgrid(np.arange(share.size - 1), np.arange(ROUND), indexing="ij")
    here, there = (i * ROUND + j).ravel(), (i * ROUND + (j + 1) % ROUND).ravel()
    lower, upper = (here, there, there + ROUND), (here, there + ROUND, here + ROUND)
    return points.reshape(-1, 3), np.concatenate([np.column_stack(lower), np.column_stack(upper)])


def _box(half: Array) -> tuple[Array, IntArray]:
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])  # corner 4 x + 2 y + z
    squares = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [three for a, b, c, d in squares for three in ((a, b, c), (a, c, d))]
    return signs * half, np.array(triangles)


def refined(points: Array, triangles: IntArray, longest: float) -> tuple[Array, IntArray]:
    """The same surface with edges no longer than `longest`: the longest edge of a triangle is halved until it is."""
    while True:
        corners = points[triangles]
        lengths = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)  # of edges 01, 12, 20
        edge, large = lengths.argmax(axis=1), lengths.max(axis=1) > longest
        if not large.any():
            return points, triangles
        places = (edge[large, None] + np.arange(3)) % 3
        a, b, c = np.take_along_axis(triangles[large], places, axis=1).T
        middle = len(points) + np.arange(a.size)
        points = np.concatenate([points, (points[a] + points[b]) / 2])
        halves = [np.column_stack([a, middle, c]), np.column_stack([middle, b, c])]
        triangles = np.concatenate([triangles[~large], *halves])


class Surface:
    """All triangles of a scene, and where their points are at each recorded state; no edge is longer than `longest`."""

    def __init__(self, run: Trajectory, scene: Scene, longest: float = np.inf) -> None:
        self._run, self._links = run, scene.links
        self.solids: list[Solid] = [*scene.solids, *(self._link_solid(k, 0) for k in range(len(scene.links)))]
        meshes = [refined(*mesh(solid.kind, solid.size), longest) for solid in self.solids]
        self._local = [points for points, _ in meshes]
        self._bounds = np.cumsum([0, *map(len, self._local)])
        starts = self._bounds[:-1]
        self.triangles = np.concatenate([tri + start for (_, tri), start in zip(meshes, starts, strict=True)])
        self.solid_of_triangle = np.repeat(np.arange(len(meshes)), [len(tri) for _, tri in meshes])

    def points(self, frame: int) -> Array:
        """World coordinates (n, 3) at a recorded state."""
        fixed = len(self.solids) - len(self._links)
        solids = [*self.solids[:fixed], *(self._link_solid(k, frame) for k in range(len(self._links)))]
        stretch = [now.size[-1] / (old.size[-1] or 1.0) for now, old in zip(solids, self.solids, strict=True)]
        placed = [
            local * (1.0, 1.0, longer) @ solid.turn.T + solid.at
            for local, solid, longer in zip(self._local, solids, stretch, strict=True)
        ]
        for k, link in enumerate(self._links, fixed):
            if link.form == "beam":
                placed[k] = self._bent(link, self._local[k], self.solids[k].size[-1], frame)
        return np.concatenate([place(self._run, s.part, p, frame) for s, p in zip(solids, placed, strict=True)])

    def _bent(self, link: Link, local: Array, length: float, frame: int) -> Array:
        """A piece of a beam between its nodes."""
        a, b = (self._run[self._run.system.body_names[part]] for part, _ in (link.a, link.b))
        return bent(local, length, (a.position[frame], b.position[frame]), (a.rotation[frame], b.rotation[frame]))

    def velocities(self, frame: int) -> Array:
        """Velocities (n, 3) of the points; those of links are zero, since they belong to no body."""
        points, result = self.points(frame), np.zeros((self._bounds[-1], 3))
        for k, solid in enumerate(self.solids):
            if solid.part != GROUND:
                body, some = self._run[self._run.system.body_names[solid.part]], slice(*self._bounds[k : k + 2])
                arm = points[some] - body.position[frame]
                result[some] = body.velocity[frame] + np.cross(body.angular_velocity[frame], arm)
        return result

    def _link_solid(self, index: int, frame: int) -> Solid:
        """A link as a solid that stands still for a moment."""
        link = self._links[index]
        start, end = (place(self._run, part, at[None], frame)[0] for part, at in (link.a, link.b))
        along = end - start
        length = float(np.linalg.norm(along))
        turn = turned(along) if length > 0.0 else np.eye(3)
        if link.form == "sleeve":
            length, end = link.more, start + link.more * turn[:, 2]
        if link.form == "beam":
            return Solid(GROUND, "beam", (*link.outline, length), (start + end) / 2, turn, link.colour, link.group)
        kind, size = ("coil", (link.more,)) if link.form == "coil" else ("cylinder", ())
        return Solid(GROUND, kind, (link.radius, *size, length), (start + end) / 2, turn, link.colour, link.group)


def place(run: Trajectory, part: int, local: Array, frame: int) -> Array:
    """World coordinates (n, 3) of points of a part at a recorded state."""
    if part == GROUND:
        return local
    body = run[run.system.body_names[part]]
    rigid = run.system.description["bodies"][part]["kind"] == "rigid"
    return body.position[frame] + (local @ body.rotation[frame].T if rigid else local)
