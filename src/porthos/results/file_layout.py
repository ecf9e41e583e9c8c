"""How both kinds of runs lie in a file: what of them goes to its root, for users of xarray, and what to its group.

A file grows by blocks of states. A balance compares with the state before, and work is counted from the start: so each
block is evaluated together with the last state before it, and with the sums until there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from porthos.errors import Status
from porthos.integrate.events import Occurrence
from porthos.integrate.march import UNFINISHED, March, joined
from porthos.integrate.recording import States
from porthos.integrate.tableaus import gauss
from porthos.notation import Array
from porthos.results.loading import opened, stored
from porthos.results.state_storage import to_dataset as states_to_dataset
from porthos.results.states import StateTrajectory
from porthos.results.storage import (
    FORMAT,
    MARCH,
    attributes,
    event_states,
    event_tables,
    event_times,
    labels,
    quantities,
    to_dataset,
    to_tables,
)
from porthos.results.trajectory import Trajectory
from porthos.system.descriptor import Descriptor
from porthos.system.interconnect import Interconnection
from porthos.system.joint_coordinates import TURN, joints_with
from porthos.system.mechanical import MechanicalSystem
from porthos.system.origin import Origin

if TYPE_CHECKING:
    import xarray

SUMS = ("supplied", "dissipated", "work", "link_work")  # variables that count from the start of a run
Rows = dict[str, Any]  # of variables that grow, by name


class Layout(ABC):
    """The datasets of a first block, the further rows of others, and those of events."""

    state_bytes: int  # of a state, as it lies in the file
    t: float  # of the last state

    @abstractmethod
    def first(self, block: Any, events: Sequence[Occurrence]) -> tuple[xarray.Dataset, xarray.Dataset]:
        """Root and group of a file that holds one block."""

    @abstractmethod
    def further(self, block: Any) -> tuple[Rows, Rows]:
        """What a further block adds to them."""

    @abstractmethod
    def happened(self, events: Sequence[Occurrence]) -> tuple[Rows, Rows]:
        """What events add to them."""

    @abstractmethod
    def reopen(self, path: Path, rows: int) -> None:
        """Go on after the first states of a file."""

    @abstractmethod
    def raw(self, path: Path) -> Any:
        """All that a file holds; it stays there if it can."""


class MechanismLayout(Layout):
    """A run of a mechanism: all its tables are in the group."""

    def __init__(self, system: MechanicalSystem, scheme: str, origin: Origin | None) -> None:
        self.system, self.scheme, self._origin = system, scheme, origin
        self.state_bytes = 96 * len(system.body_names)
        self._last: March | None = None  # the last state, with the work of the whole run so far
        self._turns: dict[int, int] = {}  # whole turns of joints there

    @property
    def t(self) -> float:  # type: ignore[override]
        """Of the last state."""
        assert self._last is not None
        return float(self._last.t[0])

    def first(self, block: March, events: Sequence[Occurrence]) -> tuple[xarray.Dataset, xarray.Dataset]:
        """Quantities in the root, tables in the group."""
        run = Trajectory(self.system, block, self.scheme, tuple(events), self._origin)
        root = to_dataset(run)
        self._remember(run, root["joint_angle"].values)
        return root, to_tables(run)

    def further(self, block: March) -> tuple[Rows, Rows]:
        """Their next rows."""
        assert self._last is not None
        both, before = joined([self._last, block]), self._turns
        since = Trajectory(self.system, both, self.scheme)
        run = Trajectory(self.system, both, self.scheme).turning(lambda joint: since.turns(joint) + before[joint])
        values = quantities(run)
        self._remember(run, values["joint_angle"])
        further = {name: array[1:] for name, array in values.items()}
        return {"time": block.t, **further}, {name: getattr(block, name) for name in MARCH}

    def happened(self, events: Sequence[Occurrence]) -> tuple[Rows, Rows]:
        """Names and times in the root, with states in the group."""
        names = labels(one.name for one in events)
        return {"event": names, "event_time": event_times(events)}, event_tables(events, self.system.dimension)

    def reopen(self, path: Path, rows: int) -> None:
        """Sums are in the root."""
        with opened(path) as file:
            work, loss, angles = (file[name][rows - 1 : rows] for name in ("work", "dissipated", "joint_angle"))
        self._last = replace(stored(path).part(slice(rows - 1, rows)), work=work, loss=loss)
        self._count_turns(angles[-1])

    def raw(self, path: Path) -> March:
        """The tables, left in the file."""
        return stored(path)

    def _remember(self, run: Trajectory, angles: Array) -> None:
        """Keep the last state of a run, with the angles (T, J) of joints that turn."""
        last = run.raw.part(slice(len(run.raw.t) - 1, None))
        work, loss = (np.cumsum(part, axis=0)[-1:] for part in (run.raw.work, run.raw.loss))
        self._last = joined([replace(last, work=work, loss=loss)])  # a copy, which does not hold the whole block
        self._count_turns(angles[-1])

    def _count_turns(self, angles: Array) -> None:
        """What angles have beyond those that the last state tells."""
        assert self._last is not None
        for name, angle in zip(joints_with(self.system, "angle"), angles, strict=True):
            within = float(self.system.joint_coordinates(name).angle(self._last.q[-1]))
            self._turns[self.system.joint_index(name)] = round((float(angle) - within) / TURN)


class StatesLayout(Layout):
    """A run over states: all is in the root. `whole` is a run that is saved at once, whatever its kind."""

    def __init__(self, system: Descriptor, scheme: str, whole: StateTrajectory | None = None) -> None:
        self.system, self.scheme, self._whole = system, scheme, whole
        self.state_bytes = 8 * system.dimension
        self._last: States | None = None
        self._until: dict[str, float] = {}  # the sums up to the last state

    @property
    def t(self) -> float:  # type: ignore[override]
        """Of the last state."""
        assert self._last is not None
        return float(self._last.t[0])

    def first(self, block: States, events: Sequence[Occurrence]) -> tuple[xarray.Dataset, xarray.Dataset]:
        """All in the root; the group says how the run stands."""
        import xarray

        run = self._whole or StateTrajectory(self.system, replace(block, events=tuple(events)), self.scheme)
        found, told = states_to_dataset(run), {"format": FORMAT, "name": self.system.name, **attributes(run)}
        self._remember(block.last, {name: found[name].values[-1] for name in SUMS})
        return found, xarray.Dataset(attrs=told)

    def further(self, block: States) -> tuple[Rows, Rows]:
        """The next rows of all that has times."""
        assert self._last is not None
        run = StateTrajectory(self.system, self._last.followed_by(block), self.scheme, self._until)
        found = states_to_dataset(run)
        rows = {str(name): v.values[1:] for name, v in found.variables.items() if v.dims[:1] == ("time",)}
        self._remember(block.last, {name: rows[name][-1] for name in SUMS})
        return rows, {}

    def happened(self, events: Sequence[Occurrence]) -> tuple[Rows, Rows]:
        """Names, times and states."""
        names, states = labels(one.name for one in events), event_states(events, self.system.dimension)
        return {"event": names, "event_time": event_times(events), "event_x": states}, {}

    def reopen(self, path: Path, rows: int) -> None:
        """Sums are in the root; of the last state no more is asked than its time and energy."""
        with opened(path) as file:
            t, x, u, *sums = (file[name][rows - 1 : rows] for name in ("time", "x", "u", *SUMS))
        none, exchange = np.zeros(1), np.zeros((1, len(self.system.inner_ports)))
        count, steps, tableau = np.zeros(1, dtype=np.int64), np.zeros((0, 1, x.shape[1])), gauss(1)
        last = States(t, x, u, u, x, u, 0.0 * u, exchange, none, count, steps, tableau, Status.INTERRUPTED, UNFINISHED)
        self._remember(last, {name: values[0] for name, values in zip(SUMS, sums, strict=True)})

    def raw(self, path: Path) -> Any:
        """Nothing: a run over states keeps its own."""
        del path

    def _remember(self, last: States, sums: Mapping[str, Any]) -> None:
        """Keep the last state, and the sums until there by the names that a run has for them."""
        links = self.system.connections if isinstance(self.system, Interconnection) else {}
        inner = [port for ports in links.values() for port in ports]
        self._last = last
        self._until = {name: float(sums[name]) for name in ("supplied", "dissipated")}
        self._until |= {f"work of {port}": float(sums["work"][k]) for k, port in enumerate(self.system.ports)}
        self._until |= {f"exchange of {port}": float(sums["link_work"][k]) for k, port in enumerate(inner)}
