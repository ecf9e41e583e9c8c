"""What there is to see of a run: solids of bodies and joints, how large it all is, and from where to look at it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from porthos.errors import PorthosError
from porthos.notation import Array
from porthos.results.trajectory import Trajectory
from porthos.show.beam_solids import beam_links, slices
from porthos.show.element_solids import element_solids
from porthos.show.joint_solids import Link, joint_solids
from porthos.show.solids import GROUND, Solid, body_solids, ends

OUTLINE = 20_000  # places of solids from which the outline of the scene is taken
FLAT = 0.15  # a scene thinner than this, relative to its length, is seen from the side


@dataclass(frozen=True)
class Scene:
    """Solids on parts, and the space that they fill during the run."""

    solids: tuple[Solid, ...]
    links: tuple[Link, ...]
    low: Array  # (3,) corners of the space
    high: Array
    outermost: Array  # (n, 3) points that lie furthest out in some direction
    up: Array  # against gravity
    view: Array  # direction from which to look

    @property
    def size(self) -> float:
        """The length of the diagonal; 1 for a single point."""
        return float(np.linalg.norm(self.high - self.low)) or 1.0


def scene_of(run: Trajectory) -> Scene:
    """The scene of a run, over all its recorded states."""
    up, rough = _upward(run), _rough_size(run) or 1.0  # a single point that rests has no size
    thin = slices(run)
    bodies = body_solids(run, rough)
    bodies[: len(run.system.body_names)] = [thin.get(k, bodies[k]) for k in range(len(run.system.body_names))]
    pieces, links = joint_solids(run, bodies, rough, up)
    springs, between = element_solids(run, rough, up)
    corners = _corners(run, [*bodies, *pieces, *springs])
    solids = [*(solid for solid in bodies if solid is not thin.get(solid.part)), *pieces, *springs]
    low, high = corners.min(axis=0), corners.max(axis=0)
    outermost = corners[np.unique((corners @ _directions().T).argmax(axis=0))]
    links += [*between, *beam_links(run, rough)]
    return Scene(tuple(solids), tuple(links), low, high, outermost, up, _view(high - low, up))


def together(scenes: Sequence[Scene], bodies: Sequence[int]) -> Scene:
    """Several mechanisms in one space; `bodies` says how many each has, and they are numbered one after the other."""
    if len(scenes) == 1:
        return scenes[0]
    first = np.concatenate([[0], np.cumsum(bodies)])[: len(scenes)].tolist()

    def moved(part: int, by: int) -> int:
        return part if part == GROUND else part + by

    solids = [
        replace(one, part=moved(one.part, k)) for each, k in zip(scenes, first, strict=True) for one in each.solids
    ]
    links = [
        replace(one, a=(moved(one.a[0], k), one.a[1]), b=(moved(one.b[0], k), one.b[1]))
        for each, k in zip(scenes, first, strict=True)
        for one in each.links
    ]
    low = np.min([one.low for one in scenes], axis=0)
    high = np.max([one.high for one in scenes], axis=0)
    outermost = np.concatenate([one.outermost for one in scenes])
    return Scene(tuple(solids), tuple(links), low, high, outermost, scenes[0].up, _view(high - low, scenes[0].up))


def _corners(run: Trajectory, solids: list[Solid]) -> Array:
    """Corners of all solids in world coordinates, at some times that cover the run (n, 3)."""
    some = np.unique(np.linspace(0, run.t.size - 1, max(OUTLINE // max(1, len(solids)), 8)).astype(np.int64))
    found = []
    for solid in solids:
        if solid.part == GROUND:
            found.append(solid.corners)
            continue
        view = run[run.system.body_names[solid.part]]
        rigid = run.system.description["bodies"][solid.part]["kind"] == "rigid"
        turned = np.einsum("tkj,cj->tck", view.rotation[some], solid.corners) if rigid else solid.corners[None]
        found.append((view.position[some, None] + turned).reshape(-1, 3))
    corners = np.concatenate(found)
    if not np.isfinite(corners).all():
        raise PorthosError("report: the run holds states that are no finite numbers; nothing can be drawn of it.")
    return corners


def _directions(count: int = 100) -> Array:
    """Unit vectors (count, 3) spread evenly over the sphere, along a spiral of golden angles."""
    z = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    angle, radius = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(count), np.sqrt(1.0 - z**2)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), z])


def _rough_size(run: Trajectory) -> float:
    """The size of the scene before anything in it has one: that of paths and ends, and not far below its bodies."""
    paths = [run[name].position for name in run.system.body_names]
    marks = [Solid(part, "box", (0.0,) * 3, point, np.eye(3), "") for part, point in ends(run)]
    arms = [_corners(run, marks)] if marks else []
    return max(_extent(np.concatenate([*paths, *arms])), 0.3 * _extent(_corners(run, body_solids(run, 0.0))))


def _extent(corners: Array) -> float:
    """The length of the diagonal of a scene."""
    return float(np.linalg.norm(np.ptp(corners, axis=0)))


def _upward(run: Trajectory) -> Array:
    """Against gravity; z where there is none."""
    g = np.asarray(run.system.mech.gravity, dtype=np.float64)
    length = float(np.linalg.norm(g))
    return -g / length + 0.0 if length > 0.0 else np.array([0.0, 0.0, 1.0])


def _view(spans: Array, up: Array) -> Array:
    """The direction from which to look: from the side at what is flat, else from a corner, a little from above."""
    thin, steep = int(np.argmin(spans)), int(np.argmax(np.abs(up)))
    right = np.eye(3)[0] if steep != 0 else np.eye(3)[1]
    right = right - up * (right @ up)
    right /= np.linalg.norm(right)
    ahead = np.cross(up, right)
    if spans[thin] >= FLAT * spans.max():
        return 0.65 * right - ahead + 0.5 * up
    if thin == steep:
        return 1.2 * up - 0.6 * ahead + 0.1 * right
    side = np.eye(3)[thin]
    towards = side if side @ (0.65 * right - ahead) > 0.0 else -side
    return towards + 0.12 * np.cross(up, towards) + 0.15 * up
