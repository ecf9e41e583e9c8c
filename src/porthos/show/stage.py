"""What the player of a report shows: solids that move, arrows, paths and curves, with all numbers in one block.

Numbers are 32-bit floats, a table of (frames, width) after the other. A page has a bounded number of frames; the curves
of errors keep the largest value between two of them.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from porthos.notation import Array, IntArray, vector
from porthos.results.trajectory import Trajectory
from porthos.show.quantities import (
    OF_BODIES,
    OF_JOINTS,
    OF_PORTS,
    Curve,
    balance,
    curves,
    drive_quantities,
    element_quantities,
    energy_parts,
)
from porthos.show.scene import scene_of
from porthos.show.solids import Solid, joint_point

MOST_FRAMES = 1000
FEWEST_FRAMES = 120
MOST_NUMBERS = 1_000_000  # in a page; frames are left out down to the fewest, then curves of bodies and joints
MANY = 4  # bodies of which paths are shown from the start
BESIDE = 2  # panels beside the picture
NEGLIGIBLE = 1e-9  # arrows smaller than this, relative to those of their kind, are none

Points = Mapping[str, tuple[str, ArrayLike]]
GREEK = {r"\omega": "ω", r"\tau": "τ", r"\Delta": "Δ", r"\max": "max ", r"\,": " ", "$": "", "-": "\N{MINUS SIGN}"}


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


class Stage:
    """The description and the numbers of one page."""

    def __init__(self, run: Trajectory, points: Points | None = None) -> None:
        self._whole = run
        self.kept = kept_frames(run)
        self._run = run.thinned(self.kept)
        self._numbers = Numbers()
        self._detailed = _width(run) * self.kept.size <= MOST_NUMBERS
        self._motion = [self._numbers.add(self._placed(k)) for k in range(len(run.system.body_names))]
        self.description = self._described(points or {})

    @property
    def numbers(self) -> str:
        """The block of numbers."""
        return self._numbers.encoded()

    def _described(self, points: Points) -> dict[str, Any]:
        run, scene = self._run, scene_of(self._run)
        quantities = self._quantities()
        return {
            "frames": run.t.size,
            "time": self._numbers.add(run.t[:, None]),
            "up": scene.up.tolist(),
            "view": scene.view.tolist(),
            "size": scene.size,
            "low": scene.low.tolist(),
            "high": scene.high.tolist(),
            "outermost": scene.outermost.tolist(),
            "bodies": [
                {"name": name, "motion": at} for name, at in zip(run.system.body_names, self._motion, strict=True)
            ],
            "solids": [_written(solid) for solid in scene.solids],
            "links": [{**asdict(link), "a": _end(*link.a), "b": _end(*link.b)} for link in scene.links],
            "arrows": self._arrows(),
            "paths": self._paths(points),
            "quantities": quantities,
            "panels": self._panels([quantity["name"] for quantity in quantities]),
            "beside": BESIDE,
        }

    def _placed(self, body: int) -> Array:
        """Position and quaternion (x, y, z, w) of a body (T, 7)."""
        view = self._run[self._run.system.body_names[body]]
        turns = np.tile([0.0, 0.0, 0.0, 1.0], (self._run.t.size, 1))
        if self._run.system.description["bodies"][body]["kind"] == "rigid":
            turns = Rotation.from_matrix(view.rotation).as_quat()
        return np.concatenate([view.position, turns], axis=1)

    # --- arrows and paths

    def _arrows(self) -> list[dict[str, Any]]:
        run, system = self._run, self._run.system
        arrows = []
        for k, terminal in enumerate(system.terminals):
            at = system.principal[terminal.body] @ system.mech.load[k].point
            arrows += self._pair("loads", terminal.name, run.port(terminal.name), terminal.body, at)
        for k, name in enumerate(system.joint_names if self._detailed else ()):
            arrows += self._pair("reactions", name, run.joint(name), *joint_point(run, k, 1))
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
        names = self._run.system.body_names
        shown = not points and len(names) <= MANY
        paths = []
        for label, (body, at) in points.items():
            index = self._run.system.body_index(body)
            values = self._run[body].point(vector(at, f"report: points: '{label}'"))
            place = {"values": self._numbers.add(values), "width": 3}
            paths.append({"name": label, "colour": index % 7, "shown": True, **place})
        for k, name in enumerate(names):
            paths.append({"name": name, "colour": k % 7, "shown": shown, "values": self._motion[k], "width": 7})
        return paths

    # --- curves

    def _quantities(self) -> list[dict[str, Any]]:
        """Everything that the menus of the plots offer."""
        run, system = self._run, self._run.system
        found = [
            self._system("energy", "energy and its parts", energy_parts(run)),
            self._extremes("energy_error", "energy error"),
            self._extremes("power_balance", "power balance of each step"),
            self._extremes("constraints", "constraint errors"),
            self._system("angular_momentum", "angular momentum", ["angular_momentum"]),
            self._system("linear_momentum", "linear momentum", ["linear_momentum"]),
        ]
        ports = [terminal.name for terminal in system.terminals]
        owners = [("bodies", system.body_names, OF_BODIES)] if self._detailed else []
        owners += [("joints", system.joint_names, OF_JOINTS)] if self._detailed else []
        if self._detailed:
            owners += [("springs and dampers", (name,), table) for name, table in element_quantities(run).items()]
        owners += [("drives", (name,), table) for name, table in drive_quantities(run).items()]
        for group, names, table in (*owners, ("loads and ports", ports, OF_PORTS)):
            for owner in names:
                for attribute in table:
                    name = f"{owner}.{attribute}"
                    title = f"{owner}: {attribute.replace('_', ' ')}"
                    found.append(self._written(f"{group}/{name}", group, title, curves(run, name)))
        return found

    def _system(self, name: str, title: str, parts: list[str]) -> dict[str, Any]:
        return self._written(name, "whole system", title, [c for part in parts for c in curves(self._run, part)])

    def _extremes(self, name: str, title: str) -> dict[str, Any]:
        """Errors of the whole run: between two frames the largest of them."""
        run = self._whole
        if name == "energy_error":
            lines = [Curve("", balance(run), "energy error [J]", False, np.cumsum(run.power_balance))]
        elif name == "power_balance":
            lines = curves(run, name)
        else:
            lines = [*curves(run, "position_error"), *curves(run, "velocity_error")]
        thin = [Curve(c.owner, c.symbol, c.axis, c.log, extremes(c.values, self.kept)) for c in lines]
        return self._written(name, "whole system", title, thin)

    def _written(self, name: str, group: str, title: str, lines: list[Curve]) -> dict[str, Any]:
        drawn = [{"symbol": plain(line.symbol), "values": self._numbers.add(line.values[:, None])} for line in lines]
        axis, log = lines[0].axis, lines[0].log
        return {"name": name, "group": group, "title": title, "axis": axis, "log": log, "curves": drawn}

    def _panels(self, names: list[str]) -> list[str]:
        """What the plots show at first: the balances, and the last body, which often is the one that works."""
        last = f"bodies/{self._run.system.body_names[-1]}.position"
        wanted = ["energy", last, "energy_error", "constraints", "angular_momentum", "linear_momentum"]
        return [name for name in wanted if name in names]


def kept_frames(run: Trajectory) -> IntArray:
    """The states that a page shows, evenly spread, the first and the last among them."""
    wanted = int(np.clip(MOST_NUMBERS // _width(run), FEWEST_FRAMES, MOST_FRAMES))
    return spread(run.t.size, wanted)


def spread(count: int, wanted: int) -> IntArray:
    """At most `wanted` numbers from 0 to count - 1, evenly spread, both ends among them if there are two."""
    return np.unique(np.linspace(0, count - 1, min(count, wanted)).round().astype(np.int64))


def _width(run: Trajectory) -> int:
    """Numbers of a frame with everything in it."""
    system = run.system
    pairs = len(system.joint_names) + len(system.terminals)
    return 22 + 16 * len(system.body_names) + 12 * pairs + 4 * len(system.elements)


def extremes(values: Array, kept: IntArray) -> Array:
    """At each kept state the value of largest size since the one before."""
    parts = np.split(values, kept[:-1] + 1)[: kept.size]
    return np.array([part[np.abs(part).argmax()] for part in parts])


def plain(symbol: str) -> str:
    """A symbol without the marks of TeX."""
    for mark, letter in GREEK.items():
        symbol = symbol.replace(mark, letter)
    return symbol.strip()


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
