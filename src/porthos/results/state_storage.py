"""Runs over states as an xarray Dataset; names are labels of its dimensions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from porthos.results.state_quantities import CONNECTIONS, OF_CONNECTIONS, WHOLE, Series, series
from porthos.results.states import StateTrajectory
from porthos.results.storage import attributes, event_states, event_times, labels, unfilled
from porthos.results.stored_states import PLACES, places_of

if TYPE_CHECKING:
    import xarray


def to_dataset(run: StateTrajectory) -> xarray.Dataset:
    """x by state, u and y by input, work by port, power and work of connections by link, H and the other balances."""
    import xarray

    system, found = run.system, series(run)
    links = [one for one in found.values() if one.group == CONNECTIONS]
    coordinates: dict[str, Any] = {
        "time": ("time", run.t, {"long_name": "time"}),
        "state": ("state", labels(_numbered(system.blocks)), {"long_name": "name of the state"}),
        "input": ("input", labels(_numbered(system.ports)), {"long_name": "name of the input and output"}),
        "port": ("port", labels(system.ports), {"long_name": "name of the port"}),
        "event": ("event", labels(one.name for one in run.events), {"long_name": "name of the event"}),
        "link": ("link", labels(dict.fromkeys(one.owner for one in links)), {"long_name": "connection.port"}),
    }
    variables: dict[str, Any] = {
        "x": (("time", "state"), run.x, {"long_name": "state"}),
        "u": (("time", "input"), run.u, {"long_name": "input"}),
        "y": (("time", "input"), run.y, {"long_name": "output"}),
        "work": (("time", "port"), _beside(run, [run.port(name).work for name in system.ports]),
                 {"long_name": "energy that entered through the port since the start"}),
    }  # fmt: skip
    happened = {"long_name": "time at which the event happened"}
    variables["event_time"] = ("event", event_times(run.events), happened)
    variables["event_x"] = (
        ("event", "state"), event_states(run.events, system.dimension), {"long_name": "state at the event"}
    )  # fmt: skip
    variables["iterations"] = ("time", run.iterations, {"long_name": "Newton iterations since the time before"})
    for attribute in OF_CONNECTIONS:
        columns = [one.values for one in links if one.name.endswith(f".{attribute}")]
        name = f"{attribute} into the system of the port, through the connection"
        variables[f"link_{attribute}"] = (("time", "link"), _beside(run, columns), {"long_name": name})
    for one in found.values():
        if one.group == WHOLE:
            variables[one.name] = ("time", one.values, {"long_name": _long(one)})
    if run.recomputes:
        name = "multipliers that belong to the accelerations at the recorded states"
        variables["multipliers"] = (("time", "constraint"), run.multipliers, {"long_name": name})
    more = {"system": repr(system), PLACES: places_of(run, list(dict.fromkeys(one.owner for one in links)))}
    return unfilled(xarray.Dataset(variables, coordinates, attributes(run) | more))


def _numbered(places: Any) -> list[str]:
    """A name for each number: that of its place, with an index where it has several."""
    names = []
    for name, place in places.items():
        count = place.stop - place.start
        names += [name] if count == 1 else [f"{name}.{k}" for k in range(count)]
    return names


def _beside(run: StateTrajectory, columns: Iterable[Any]) -> Any:
    """Columns (T,) side by side; (T, 0) if there are none."""
    return np.column_stack([np.zeros((run.t.size, 0)), *columns])


def _long(one: Series) -> str:
    return one.name.replace("_", " ") if one.name != "H" else "Hamiltonian"
