"""What a report shows of a run over states: the mechanisms among the parts of its system, or a phase plane."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from porthos.results.lagrangian import LagrangianTrajectory
from porthos.results.parts import mechanisms
from porthos.results.state_quantities import CONNECTIONS, ERRORS, PORTS, STATES, WHOLE, Series, series
from porthos.results.states import StateTrajectory
from porthos.results.trajectory import Trajectory
from porthos.show.curve import Curve
from porthos.show.picture import Numbers, Picture, Points
from porthos.show.stage import (
    BESIDE,
    FEWEST_FRAMES,
    MOST_FRAMES,
    MOST_NUMBERS,
    PANELS,
    extremes,
    offered,
    spread,
    telling,
    width,
    written,
)
from porthos.show.state_curves import BALANCE, curves_of, energies


class StateStage:
    """The description and the numbers of one page."""

    def __init__(self, run: StateTrajectory, points: Points | None = None) -> None:
        names = mechanisms(run)
        numbers_a_frame = 10 + 2 * run.system.dimension + 4 * run.system.width + 2 * len(run.system.inner_ports)
        frames = int(np.clip(MOST_NUMBERS // numbers_a_frame, FEWEST_FRAMES, MOST_FRAMES))
        self.kept = spread(run.t.size, frames)
        self._whole, self._run, self._numbers = run, run.thinned(self.kept), Numbers()
        self._parts = {name: self._run.part(name) for name in names}
        picture = self._picture(points or {})
        self._quantities = [*self._balances(), *self._moving(), *self._named()]
        self.description: dict[str, Any] = {
            "frames": self.kept.size,
            "time": self._numbers.add(self._run.t[:, None]),
            "unit": "",
            "quantities": self._quantities,
            "panels": self._panels(),
            "beside": BESIDE,
        }
        self.description |= picture or {"phase": self._phase()}

    @property
    def numbers(self) -> str:
        """The block of numbers."""
        return self._numbers.encoded()

    def _detailed(self, part: Trajectory) -> bool:
        return width(part) * self.kept.size <= MOST_NUMBERS

    def _picture(self, points: Points) -> dict[str, Any]:
        """The mechanisms among the parts; nothing if there are none."""
        parts = list(self._parts.values())
        return Picture(parts, self._numbers, all(map(self._detailed, parts))).described(points) if parts else {}

    # --- curves

    def _balances(self) -> Iterator[dict[str, Any]]:
        found, whole = series(self._run), series(self._whole)
        lines = [curve for name in energies(self._run) for curve in curves_of(found[name])]
        yield written(self._numbers, "energy", WHOLE, "energy", lines)
        error = Curve(BALANCE, "", "energy error", False, np.cumsum(self._whole.power_balance))
        yield written(self._numbers, "energy_error", WHOLE, "energy error", [self._thin(error)])
        for one in whole.values():
            if one.group == WHOLE and one.name in ERRORS:
                lines = [self._thin(curve) for curve in curves_of(one)]
                yield written(self._numbers, one.name, WHOLE, one.name.replace("_", " "), lines)
        if "generalized_energy" in found:
            yield self._offer(found["generalized_energy"])

    def _moving(self) -> Iterator[dict[str, Any]]:
        """Bodies and joints of mechanisms among the parts."""
        for name, part in self._parts.items():
            whole = f" of {name}" if len(self._parts) > 1 else ""
            yield from offered(part, self._numbers, self._detailed(part), whole)

    def _named(self) -> Iterator[dict[str, Any]]:
        """States, but for those of mechanisms, which have better names; ports and connections."""
        of_mechanisms = {f"{name}: {block}" for name, part in self._parts.items() for block in part.system.blocks}
        for one in series(self._run).values():
            if one.group in (STATES, PORTS, CONNECTIONS) and one.owner not in of_mechanisms:
                yield self._offer(one)

    def _offer(self, one: Series) -> dict[str, Any]:
        stem, _, attribute = one.name.rpartition(".")
        title = f"{stem}: {attribute}" if one.group in (PORTS, CONNECTIONS) else one.name.replace("_", " ")
        return written(self._numbers, f"{one.group}/{one.name}", one.group, title, curves_of(one))

    def _thin(self, curve: Curve) -> Curve:
        """Errors: between two frames the largest of them."""
        return Curve(curve.owner, curve.symbol, curve.axis, curve.log, extremes(curve.values, self.kept))

    # --- what is shown at first

    def _panels(self) -> list[str]:
        """Energy and its error, then what moves."""
        names = [one["name"] for one in self._quantities]
        moving = [name for part in self._parts.values() for name in names if name.endswith(f"/{telling(part)}")][-1:]
        states = [one["name"] for one in self._quantities if one["group"] == STATES]
        works = [one["name"] for one in self._quantities if one["group"] == PORTS and one["name"].endswith(".work")]
        wanted = ["energy", *(moving or states[:1]), "energy_error", *(states if moving else states[1:]), *works]
        return list(dict.fromkeys(wanted))[:PANELS]

    def _phase(self) -> dict[str, list[Any]]:
        """Two curves against each other, each (quantity, number): a coordinate and its velocity, or the first two."""
        run = self._run
        states = [one for one in self._quantities if one["group"] == STATES]
        curves = [[one["name"], k] for one in states for k in range(len(one["curves"]))]
        if isinstance(run, LagrangianTrajectory) and run.system.n:
            return {"x": curves[0], "y": curves[run.system.n]}
        return {"x": curves[0], "y": curves[1] if len(curves) > 1 else ["energy", 0]}
