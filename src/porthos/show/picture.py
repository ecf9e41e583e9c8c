"""The moving picture of a report: bodies of one or several mechanisms, what is on them, arrows and paths.

All numbers of a page are in one block of 32-bit floats, a table of (frames, width) after the other.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from porthos.errors import PorthosError, is_among, nearest
from porthos.notation import Array, vector
from porthos.results.trajectory import Trajectory
from porthos.show.beam_solids import inner_nodes
from porthos.show.scene import scene_of, together
from porthos.show.solids import GROUND, Solid, joint_point, load_point

MANY = 4  # bodies of which paths are shown from the start
NEGLIGIBLE = 1e-9  # arrows smaller than this, relative to those of their kind, are none

Points = Mapping[str, tuple[str, ArrayLike]]


class Numbers:
    """Tables of numbers for a page, one after the other."""

    def __init__(self) -> None:
        self._tables: list[Array] = []
        self._size = 0

    def add(self, table: Array) -> int:
        """Append a table, one row a frame; returns where it begins."""
        place = self._size
        self._tables.append(np.ascontiguousarray(table, dtype="<f4").ravel())
        self._size += self._tables[-1].size
        return place

    def encoded(self) -> str:
        """All of them as text."""
        return base64.b64encode(np.concatenate(self._tables).tobytes()).decode("ascii")


class Picture:
    """What moves. `runs` are of mechanisms at the same times, whose bodies are numbered one after the other."""

    def __init__(self, runs: Sequence[Trajectory], numbers: Numbers, detailed: bool) -> None:
        self._runs, self._numbers, self._detailed = runs, numbers, detailed
        counts = [len(run.system.body_names) for run in runs]
        self._first = [sum(counts[:k]) for k in range(len(runs))]
        self._scene = together([scene_of(run) for run in runs], counts)
        self._bodies: list[dict[str, Any]] = [
            {"name": name, "motion": numbers.add(_placed(run, k))}
            for run in runs
            for k, name in enumerate(run.system.body_names)
        ]

    def described(self, points: Points) -> dict[str, Any]:
        """All that the player draws of it."""
        scene = self._scene
        return {
            "up": scene.up.tolist(),
            "view": scene.view.tolist(),
            "size": scene.size,
            "low": scene.low.tolist(),
            "high": scene.high.tolist(),
            "outermost": scene.outermost.tolist(),
            "bodies": self._bodies,
            "solids": [_written(solid) for solid in scene.solids],
            "links": [{**asdict(link), "a": _end(*link.a), "b": _end(*link.b)} for link in scene.links],
            "arrows": self._arrows(),
            "paths": self._paths(points),
        }

    def _arrows(self) -> list[dict[str, Any]]:
        arrows = []
        for run, first in zip(self._runs, self._first, strict=True):
            system = run.system
            for k, terminal in enumerate(system.terminals):
                part, at = load_point(run, k)
                place = part if part == GROUND else first + part
                arrows += self._pair("loads", terminal.name, run.port(terminal.name), place, at)
            for k, name in enumerate(system.joint_names if self._detailed else ()):
                part, at = joint_point(run, k, 1)
                arrows += self._pair("reactions", name, run.joint(name), part if part == GROUND else first + part, at)
        for group in ("loads", "reactions"):  # one scale for all forces, one for all torques
            for kind in ("force", "torque"):
                alike = [arrow for arrow in arrows if (arrow["group"], arrow["kind"]) == (group, kind)]
                largest = max((arrow["largest"] for arrow in alike), default=0.0)
                for arrow in alike:
                    arrow["faint"] = arrow["largest"] <= NEGLIGIBLE * largest
                    arrow["largest"] = largest
        return [arrow for arrow in arrows if not arrow.pop("faint")]

    def _pair(self, group: str, name: str, view: Any, part: int, at: Array) -> list[dict[str, Any]]:
        """Force and torque of a load, port or joint."""
        place = {"group": group, "name": name, "part": part, "at": at.tolist()}
        found = []
        for kind in ("force", "torque"):
            values = getattr(view, kind)
            largest = float(np.linalg.norm(values, axis=1).max())
            found.append({**place, "kind": kind, "values": self._numbers.add(values), "largest": largest})
        return found

    def _paths(self, points: Points) -> list[dict[str, Any]]:
        names: list[str] = [body["name"] for body in self._bodies]
        shown = not points and len(names) <= MANY
        paths = []
        for label, point in points.items():
            if not isinstance(point, tuple | list) or len(point) != 2:
                raise PorthosError(
                    f"report: points: '{label}': expected a body and a point in its frame, such as "
                    f"('crank', (0.1, 0, 0)), found {point!r}."
                )
            body, at = point
            if not is_among(body, names):
                raise PorthosError(f"report: points: '{label}': there is no body '{body}'. {nearest(body, names)}")
            run = next(run for run in self._runs if body in run.system.body_names)
            values = run[body].point(vector(at, f"report: points: '{label}'"))
            place = {"values": self._numbers.add(values), "width": 3}
            paths.append({"name": label, "colour": names.index(body) % 7, "shown": True, **place})
        hidden = {name for run in self._runs for name in inner_nodes(run)}
        for k, placed in enumerate(self._bodies):
            if placed["name"] in hidden:
                continue
            place = {"values": placed["motion"], "width": 7}
            paths.append({"name": placed["name"], "colour": k % 7, "shown": shown, **place})
        return paths


def _placed(run: Trajectory, body: int) -> Array:
    """Position and quaternion (x, y, z, w) of a body (T, 7)."""
    view = run[run.system.body_names[body]]
    turns = np.tile([0.0, 0.0, 0.0, 1.0], (run.t.size, 1))
    if run.system.description["bodies"][body]["kind"] == "rigid":
        turns = Rotation.from_matrix(view.rotation).as_quat()
    return np.concatenate([view.position, turns], axis=1)


def _written(solid: Solid) -> dict[str, Any]:
    return {
        "part": solid.part,
        "kind": solid.kind,
        "size": [float(f"{s:.6g}") for s in solid.size],
        "at": solid.at.tolist(),
        "turn": Rotation.from_matrix(solid.turn).as_quat().tolist(),
        "colour": solid.colour,
        "group": solid.group,
        "opacity": solid.opacity,
    }


def _end(part: int, at: Array) -> dict[str, Any]:
    return {"part": part, "at": at.tolist()}
