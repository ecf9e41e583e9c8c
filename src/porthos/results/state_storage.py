"""Runs over states as an xarray Dataset and as a NetCDF4 file; names are labels of its dimensions."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from porthos.errors import ResultError
from porthos.notation import file_path
from porthos.results.seal import seal_file
from porthos.results.state_quantities import CONNECTIONS, OF_CONNECTIONS, WHOLE, Series, series
from porthos.results.states import StateTrajectory
from porthos.results.storage import attributes, labels, unfilled
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
    happened = np.array([one.t for one in run.events], dtype=np.float64)
    states = np.array([one.x for one in run.events], dtype=np.float64).reshape(-1, system.dimension)
    variables["event_time"] = ("event", happened, {"long_name": "time at which the event happened"})
    variables["event_x"] = (("event", "state"), states, {"long_name": "state at the event"})
    variables["iterations"] = ("time", run.iterations, {"long_name": "Newton iterations since the time before"})
    for attribute in OF_CONNECTIONS:
        columns = [one.values for one in links if one.name.endswith(f".{attribute}")]
        name = f"{attribute} into the system of the port, through the connection"
        variables[f"link_{attribute}"] = (("time", "link"), _beside(run, columns), {"long_name": name})
    for one in found.values():
        if one.group == WHOLE:
            variables[one.name] = ("time", one.values, {"long_name": _long(one)})
    more = {"system": repr(system), PLACES: places_of(run, list(dict.fromkeys(one.owner for one in links)))}
    return unfilled(xarray.Dataset(variables, coordinates, attributes(run) | more))


def save(run: StateTrajectory, path: str | Path) -> Path:
    """Write the Dataset to a NetCDF4 file: it appears complete or not at all, and takes the place of an older one."""
    target = file_path(path)
    if target.is_dir():
        raise ResultError(f"'{path}': expected the name of a file to write, found a folder. Try '{target / 'run.nc'}'.")
    place = target.parent / f".porthos-{secrets.token_hex(8)}.part"
    try:
        to_dataset(run).to_netcdf(place, engine="h5netcdf")
        seal_file(place)
        os.replace(place, target)
    except OSError as error:
        raise ResultError(f"'{path}': cannot be written: {error.strerror or error}. Try another place.") from error
    finally:
        place.unlink(missing_ok=True)
    return target


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
