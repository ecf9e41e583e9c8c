"""What the player of a report shows of a mechanism: a moving picture, and curves for its plots.

A page has a bounded number of frames; the curves of errors keep the largest value between two of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from porthos.notation import Array, IntArray
from porthos.quantities import AXES
from porthos.results.trajectory import Trajectory
from porthos.show.beam_solids import inner_nodes
from porthos.show.curve import Curve
from porthos.show.picture import Numbers, Picture, Points
from porthos.show.quantities import balance, curves, energy_parts

MOST_FRAMES = 1001  # a thousand steps
FEWEST_FRAMES = 120
MOST_NUMBERS = 1_000_000  # in a page; frames are left out down to the fewest, then curves of bodies and joints
STILL = 1e-6  # relative to the length of a mechanism: a centre that moves less rests
BESIDE = 2  # panels beside the picture
PANELS = 6  # that are shown at first
ERRORS = ("power_balance", "position_error", "velocity_error")  # of which the largest between two frames is shown
MENUS = {  # groups of quantities in menus
    "bodies": "bodies",
    "beams": "beams",
    "joints": "joints",
    "springs and dampers": "elements",
    "drives": "drives",
    "loads and ports": "ports",
}
ALWAYS = ("drives", "ports")  # also on pages with so many bodies that there is no room for each of them
GREEK = {
    r"\dot\varphi": "φ\N{COMBINING DOT ABOVE}",
    r"\varphi": "φ",
    r"\dot s": "ṡ",
    r"\omega": "ω",
    r"\tau": "τ",
    r"\Delta": "Δ",
    r"\max": "max ",
    r"\,": " ",
    "$": "",
    "-": "\N{MINUS SIGN}",
}


class Stage:
    """The description and the numbers of one page."""

    def __init__(self, run: Trajectory, points: Points | None = None) -> None:
        self._whole = run
        self.kept = kept_frames(run)
        self._run = run.thinned(self.kept)
        self._numbers = Numbers()
        self._detailed = width(run) * self.kept.size <= MOST_NUMBERS
        picture = Picture([self._run], self._numbers, self._detailed).described(points or {})
        quantities = self._quantities()
        self.description = {
            "frames": self._run.t.size,
            "time": self._numbers.add(self._run.t[:, None]),
            "unit": "s",
            **picture,
            "quantities": quantities,
            "panels": self._panels([quantity["name"] for quantity in quantities]),
            "beside": BESIDE,
        }

    @property
    def numbers(self) -> str:
        """The block of numbers."""
        return self._numbers.encoded()

    def _quantities(self) -> list[dict[str, Any]]:
        """Everything that the menus of the plots offer."""
        return [
            *(self._output(name) for name in self._whole.outputs),
            self._system("energy", "energy and its parts", energy_parts(self._run)),
            self._extremes("energy_error", "energy error"),
            self._extremes("power_balance", "power balance of each step"),
            self._extremes("constraints", "constraint errors"),
            self._system("angular_momentum", "angular momentum", ["angular_momentum"]),
            self._system("linear_momentum", "linear momentum", ["linear_momentum"]),
            *offered(self._run, self._numbers, self._detailed),
        ]

    def _system(self, name: str, title: str, parts: list[str]) -> dict[str, Any]:
        lines = [c for part in parts for c in curves(self._run, part)]
        return written(self._numbers, name, "whole system", title, lines)

    def _output(self, name: str) -> dict[str, Any]:
        """What the run was told to put out."""
        lines = self._thin(curves(self._whole, name)) if name in ERRORS else curves(self._run, name)
        stem, _, last = name.rpartition(".")
        title = f"{stem}: {last}" if stem else last
        return written(self._numbers, f"outputs/{name}", "outputs", title.replace("_", " "), lines)

    def _thin(self, lines: list[Curve]) -> list[Curve]:
        return [Curve(c.owner, c.symbol, c.axis, c.log, extremes(c.values, self.kept)) for c in lines]

    def _extremes(self, name: str, title: str) -> dict[str, Any]:
        """Errors of the whole run: between two frames the largest of them."""
        run = self._whole
        if name == "energy_error":
            lines = [Curve("", balance(run), "energy error [J]", False, np.cumsum(run.power_balance))]
        elif name == "power_balance":
            lines = curves(run, name)
        else:
            lines = [*curves(run, "position_error"), *curves(run, "velocity_error")]
        return written(self._numbers, name, "whole system", title, self._thin(lines))

    def _panels(self, names: list[str]) -> list[str]:
        """What the plots show at first: the outputs, or the last body, which often is the one that works; balances."""
        outputs = [f"outputs/{name}" for name in self._whole.outputs]
        balances = ["energy", "energy_error", "constraints", "angular_momentum", "linear_momentum"]
        if "energy" in self._whole.outputs:
            balances.remove("energy")
        wanted = [*outputs, *balances] if outputs else ["energy", f"bodies/{telling(self._run)}", *balances[1:]]
        return [name for name in wanted if name in names][: max(PANELS, len(outputs) + 2)]


def telling(run: Trajectory) -> str:
    """What tells most of the last body: its position, or how it turns if its centre rests."""
    name = run.system.body_names[-1]
    rests = float(np.ptp(run[name].position, axis=0).max()) < STILL * run.system.length
    turns = run.system.description["bodies"][-1]["kind"] == "rigid"
    return f"{name}.{'angular_velocity' if rests and turns else 'position'}"


def offered(run: Trajectory, numbers: Numbers, detailed: bool, whole: str = "") -> Iterator[dict[str, Any]]:
    """What plots offer of single bodies, joints, force elements, loads and ports; `whole` ends the names of groups."""
    hidden = inner_nodes(run)
    for title, group in MENUS.items():
        for name, meant in run.system.quantities.items():
            owner, attribute = meant.part.name, meant.attribute
            left_out = owner in hidden or meant.part.kind == "segment" or len(meant.quantity.components) > len(AXES)
            if meant.part.group == group and not left_out and (detailed or group in ALWAYS):
                said = f"{owner}: {attribute.replace('_', ' ')}"
                yield written(numbers, f"{title}{whole}/{name}", f"{title}{whole}", said, curves(run, name))


def written(numbers: Numbers, name: str, group: str, title: str, lines: Sequence[Curve]) -> dict[str, Any]:
    """A quantity for the menus of the plots; curves without a symbol are called as their owner."""
    drawn = [
        {"symbol": plain(line.symbol) if line.symbol else line.owner, "values": numbers.add(line.values[:, None])}
        for line in lines
    ]
    return {"name": name, "group": group, "title": title, "axis": lines[0].axis, "log": lines[0].log, "curves": drawn}


def kept_frames(run: Trajectory) -> IntArray:
    """The states that a page shows, evenly spread, the first and the last among them."""
    wanted = int(np.clip(MOST_NUMBERS // width(run), FEWEST_FRAMES, MOST_FRAMES))
    return spread(run.t.size, wanted)


def spread(count: int, wanted: int) -> IntArray:
    """At most `wanted` numbers from 0 to count - 1, evenly spread, both ends among them if there are two."""
    return np.unique(np.linspace(0, count - 1, min(count, wanted)).round().astype(np.int64))


def width(run: Trajectory) -> int:
    """Numbers of a frame with everything in it."""
    system = run.system
    pairs = len(system.joint_names) + len(system.terminals)
    moving = sum(one.part.group == "joints" and one.quantity.momentary for one in system.quantities.values())
    return 22 + 16 * len(system.body_names) + 12 * pairs + moving + 4 * len(system.elements)


def extremes(values: Array, kept: IntArray) -> Array:
    """At each kept state the value of largest size since the one before."""
    parts = np.split(values, kept[:-1] + 1)[: kept.size]
    return np.array([part[np.abs(part).argmax()] for part in parts])


def plain(symbol: str) -> str:
    """A symbol without the marks of TeX."""
    for mark, letter in GREEK.items():
        symbol = symbol.replace(mark, letter)
    return symbol.strip()
