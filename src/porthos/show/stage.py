"""What the player of a report shows of a mechanism: a moving picture, and curves for its plots.

A page has a bounded number of frames; the curves of errors keep the largest value between two of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from porthos.notation import Array, IntArray
from porthos.results.trajectory import Trajectory
from porthos.show.beam_solids import inner_nodes
from porthos.show.curve import Curve
from porthos.show.picture import Numbers, Picture, Points
from porthos.show.quantities import (
    OF_BODIES,
    OF_ELEMENTS,
    OF_JOINTS,
    OF_PORTS,
    Quantity,
    balance,
    beam_names,
    curves,
    drive_quantities,
    element_quantities,
    energy_parts,
)

MOST_FRAMES = 1001  # a thousand steps
FEWEST_FRAMES = 120
MOST_NUMBERS = 1_000_000  # in a page; frames are left out down to the fewest, then curves of bodies and joints
STILL = 1e-6  # relative to the length of a mechanism: a centre that moves less rests
BESIDE = 2  # panels beside the picture
GREEK = {r"\omega": "ω", r"\tau": "τ", r"\Delta": "Δ", r"\max": "max ", r"\,": " ", "$": "", "-": "\N{MINUS SIGN}"}


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
        return written(self._numbers, name, "whole system", title, thin)

    def _panels(self, names: list[str]) -> list[str]:
        """What the plots show at first: the balances, and the last body, which often is the one that works."""
        wanted = [
            "energy",
            f"bodies/{telling(self._run)}",
            "energy_error",
            "constraints",
            "angular_momentum",
            "linear_momentum",
        ]
        return [name for name in wanted if name in names]


def telling(run: Trajectory) -> str:
    """What tells most of the last body: its position, or how it turns if its centre rests."""
    name = run.system.body_names[-1]
    rests = float(np.ptp(run[name].position, axis=0).max()) < STILL * run.system.length
    turns = run.system.description["bodies"][-1]["kind"] == "rigid"
    return f"{name}.{'angular_velocity' if rests and turns else 'position'}"


def offered(run: Trajectory, numbers: Numbers, detailed: bool, whole: str = "") -> Iterator[dict[str, Any]]:
    """What plots offer of single bodies, joints, force elements, loads and ports; `whole` ends the names of groups."""
    system = run.system
    owners: list[tuple[str, Sequence[str], dict[str, Quantity]]] = []
    if detailed:
        bodies = [name for name in system.body_names if name not in inner_nodes(run)]
        owners = [("bodies", bodies, OF_BODIES), ("beams", beam_names(run), OF_ELEMENTS)]
        owners += [("joints", system.joint_names, OF_JOINTS)]
        owners += [("springs and dampers", (name,), table) for name, table in element_quantities(run).items()]
    owners += [("drives", (name,), table) for name, table in drive_quantities(run).items()]
    ports = [terminal.name for terminal in system.terminals]
    for group, names, table in (*owners, ("loads and ports", ports, OF_PORTS)):
        for owner, attribute in product(names, table):
            name, title = f"{owner}.{attribute}", f"{owner}: {attribute.replace('_', ' ')}"
            yield written(numbers, f"{group}{whole}/{name}", f"{group}{whole}", title, curves(run, name))


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
