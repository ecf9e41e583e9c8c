"""How result files are read: small ones at once, large ones piece by piece when something of them is asked for."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porthos.errors import ResultError, Status, nearest
from porthos.integrate.catalogue import SCHEMES, scheme_class
from porthos.integrate.checkpoint import Checkpoint
from porthos.integrate.events import Occurrence
from porthos.integrate.march import March
from porthos.integrate.scheme import Scheme
from porthos.kernels.tables import LENGTH, PIECE_TERMS, PIECES, TURN, VALUE
from porthos.notation import file_path, flag
from porthos.results.journal import at_rest, recover
from porthos.results.states import StateTrajectory
from porthos.results.storage import FORMAT, GROUP, MARCH, MECHANISM, SIZES, TABLES
from porthos.results.stored_states import PLACES, read_states
from porthos.results.trajectory import Trajectory
from porthos.system.drives import Driven
from porthos.system.initial import Adjustment
from porthos.system.loads import Terminal
from porthos.system.mechanical import MechanicalSystem
from porthos.system.origin import Origin
from porthos.system.tables import Plain, mechanism

SIGNATURE = b"\x89HDF\r\n\x1a\n"
CLASSIC = b"CDF"
MODEL_FILES = (".yaml", ".yml")
DAMAGE = (ArithmeticError, AttributeError, LookupError, MemoryError, OSError, RuntimeError, TypeError, ValueError)
LARGE = 2**28  # bytes of states from which a run stays in its file unless asked otherwise


@dataclass(frozen=True)
class Stored:
    """An array that stays in a file: only what is asked for is read. The file is open only while it is read."""

    path: Path
    name: str
    identity: str | None  # of the run that the array belongs to
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> NDArray[Any]:
        import h5py

        with explained(self.path), h5py.File(self.path, "r") as file:
            if file[GROUP].attrs.get("identity") != self.identity:
                raise ResultError(
                    f"'{self.path}': expected the run that was opened from this file, found another one, written later "
                    "to the same place. Open the file again with porthos.load, and give each run a file of its own."
                )
            return file[GROUP][self.name][key]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        del copy
        return np.asarray(self[:], dtype=dtype)


def load(path: str | Path, lazy: bool | None = None) -> Trajectory | StateTrajectory:
    """Read a run that `simulate` or `save` wrote.

    Its loads are history: they have inputs and work, but no function. A run over states has all that was recorded, and
    a system without functions: it plots, reports, exports and compares. A `lazy` run leaves its states in the file and
    reads what is needed when it is needed; by default, one of more than 256 MB does.
    """
    path = file_path(path)
    if lazy is not None:
        flag(lazy, "load: lazy")
    _look(path)
    with explained(path), _sound(path), _opened(path) as file:
        if GROUP not in file and PLACES in file.attrs:
            return read_states(_attributes(file), {name: _all(file[name]) for name in file})
        return _trajectory(*_read(path, file, lazy))


@dataclass(frozen=True)
class Unfinished:
    """A run in a file that can go on."""

    system: MechanicalSystem
    scheme: str
    plan: str
    checkpoint: Checkpoint
    tables: dict[str, Any]
    origin: Origin | None


def unfinished(path: Path) -> Unfinished:
    """The run of a file from where it can go on, or an error that says why it cannot."""
    _look(path)
    with explained(path), _sound(path), _opened(path) as file:
        attributes, tables = _read(path, file, lazy=True)
        group = file[GROUP]
        _refuse(path, attributes, "plan" in group, float(group["t"][-1]))
        plan, memory = group["plan"][...].tobytes().decode(), group["memory"][...]
        kept = json.loads(attributes["checkpoint"])
        if kept.pop("checks") != checks(plan, memory):
            raise ValueError("the checkpoint has changed since it was written")
        run = _trajectory(attributes, tables)
        return Unfinished(run.system, run.scheme, plan, Checkpoint.read(kept, memory), tables, run.origin)


def checks(plan: str, memory: NDArray[np.uint8]) -> list[int]:
    """Sums that show whether what a run goes on from was changed."""
    return [zlib.crc32(plan.encode()), zlib.crc32(memory.tobytes())]


def _refuse(path: Path, attributes: dict[str, Any], planned: bool, end: float) -> None:
    """Say why a run cannot go on."""
    status, found = Status[attributes["status"]], ""
    if status is Status.OK:
        found = "one that reached its end. There is nothing left to do; open it with porthos.load."
    elif status is not Status.INTERRUPTED:
        found = f"one that failed: {attributes['message']} It would fail there again; mend the cause and run it anew."
    elif not planned and not _steps_in_reduced_form(attributes["scheme"]):
        found = (
            f"one with {attributes['scheme'].partition('(')[0]}, a scheme over states, whose runs cannot go on from a "
            f"file. It holds all states up to t = {end:.6g}: open it with porthos.load. Run it anew, to that time or "
            "further; runs with ph.Midpoint, ph.MidpointGGL and their compositions can be resumed."
        )
    elif not planned:
        found = "a copy that was saved. Resume the file that simulate(..., out=...) wrote, or run it anew."
    elif "checkpoint" not in attributes:
        found = "one that had not made its first steps. Run it anew."
    elif attributes["porthos_version"] != version("porthos"):
        found = (
            f"one of Porthos {attributes['porthos_version']}, and this is {version('porthos')}, which may round "
            "differently. Resume it with the same version, or run it anew."
        )
    if found:
        raise ResultError(f"'{path}': expected a run that was interrupted, found {found}")


def _steps_in_reduced_form(scheme: str) -> bool:
    """Whether runs of a scheme are written while they go on."""
    name = scheme.partition("(")[0]
    return name in SCHEMES and issubclass(scheme_class(name), Scheme)


def stored(path: Path) -> March:
    """The states of a run in a file, left there."""
    with _opened(path) as file:
        group = file[GROUP]
        return _march(_attributes(group), {name: _stored(path, group, name) for name in MARCH})


def _march(attributes: dict[str, Any], tables: dict[str, Any]) -> March:
    return March(
        **{name: tables[name] for name in MARCH}, status=Status[attributes["status"]], message=attributes["message"]
    )


def _stored(path: Path, group: Any, name: str) -> Stored:
    variable = group[name]
    return Stored(path.absolute(), name, group.attrs.get("identity"), tuple(variable.shape), np.dtype(variable.dtype))


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    import h5py  # h5netcdf would leave a damaged file open, and locked

    with explained(path), h5py.File(path, "r") as file:
        yield file


@contextmanager
def _sound(path: Path) -> Iterator[None]:
    """A file with all changes in it and no damage."""
    recover(path)
    with at_rest(path):
        yield


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn errors of HDF5 into a sentence."""
    try:
        yield
    except FileNotFoundError as error:
        raise ResultError(
            f"'{path}': expected the file of this run, found none. "
            "Put it back, or open it with porthos.load where it is now."
        ) from error
    except BlockingIOError as error:
        raise ResultError(
            f"'{path}': expected a file at rest, found one that a run is writing to at this moment. Try again soon."
        ) from error
    except ResultError:
        raise
    except DAMAGE as error:
        raise ResultError(
            f"'{path}': expected a complete NetCDF4 file, found one that is truncated or damaged ({error}). "
            "Copy it again, or repeat the run."
        ) from error


def _look(path: Path) -> None:
    """Refuse what is no NetCDF4 file at all, by its first bytes."""
    if path.is_dir():
        raise ResultError(f"'{path}': expected a NetCDF4 file, found a folder. Name a file in it.")
    try:
        with path.open("rb") as file:
            start = file.read(len(SIGNATURE))
    except FileNotFoundError as error:
        beside = [p.name for p in sorted(path.parent.glob("*.nc"))]
        raise ResultError(
            f"'{path}': expected a result written by Trajectory.save, found no such file in "
            f"'{path.parent.absolute()}'. {nearest(path.name, beside)}"
        ) from error
    except OSError as error:
        raise ResultError(f"'{path}': cannot be read: {error.strerror}. Check its permissions.") from error
    if start != SIGNATURE and path.suffix.lower() in MODEL_FILES:
        raise ResultError(
            f"'{path}': expected the result of a run, found a model file. Run it first: "
            f"porthos run {path} --out {path.with_suffix('.nc')} --report {path.with_suffix('.html')}"
        )
    if start != SIGNATURE:
        other = "a NetCDF file of the classic format" if start.startswith(CLASSIC) else "no NetCDF file"
        found = other if start else "an empty file"
        raise ResultError(
            f"'{path}': expected a NetCDF4 file written by Trajectory.save, found {found}. Check the name of the file."
        )


def _read(path: Path, file: Any, lazy: bool | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Attributes and tables of the group; refuses runs over states, files of a newer Porthos, and incomplete ones."""
    if GROUP not in file:
        raise ResultError(
            f"'{path}': expected a result written by Trajectory.save, found a run over states, whose functions are in "
            "no file: it cannot go on from it. Look at it with porthos.load, or with xarray.open_dataset."
        )
    group = file[GROUP]
    attributes = _attributes(group)
    if attributes["format"] > FORMAT:
        raise ResultError(
            f"'{path}': expected format {FORMAT}, found format {attributes['format']}, written by Porthos "
            f"{attributes.get('porthos_version')}. Update Porthos (pip install -U porthos), or open the file with "
            "xarray.open_dataset."
        )
    left = {name: _stored(path, group, name) for name in MARCH if name in group}
    if lazy is None:
        lazy = sum(values.dtype.itemsize * math.prod(values.shape) for values in left.values()) > LARGE
    tables: dict[str, Any] = {}
    sizes = dict(SIZES)
    for name, dimensions in TABLES.items():
        tables[name] = left[name] if lazy and name in left else _all(group[name])
        values = tables[name]
        if len(values.shape) != len(dimensions) or any(
            sizes.setdefault(d, n) != n for d, n in zip(dimensions, values.shape, strict=True)
        ):
            raise ValueError(f"table '{name}' has shape {values.shape}, expected {dimensions} of {sizes}")
    _check_places(tables, sizes)
    return attributes, tables


def _attributes(group: Any) -> dict[str, Any]:
    """Texts and plain numbers."""
    return {key: value.item() if isinstance(value, np.ndarray) else value for key, value in group.attrs.items()}


def _all(variable: Any) -> NDArray[Any]:
    """The values of a table; texts as str."""
    return variable.asstr()[...] if variable.dtype.kind == "O" else variable[...]


def _check_places(tables: dict[str, Any], sizes: dict[str, int]) -> None:
    """Compiled code trusts the tables, so no number of a body or row may point outside them."""
    bodies, rows, ports = sizes["n_body"], sizes["n_row"], sizes["n_port"]
    edges = tables["joint_row"]
    links = sizes["n_joint"] + sizes["n_element"]
    if sizes["n_body_ground"] != bodies + 1 or (sizes["n_link"], sizes["n_link_edge"]) != (links, links + 1):
        raise ValueError("tables of different systems")
    _check_laws(tables, sizes)
    _check_drives(tables, sizes)
    _check_gears(tables, sizes)
    if edges[0] != 0 or edges[-1] != rows or np.any(np.diff(edges) < 0):
        raise ValueError("table 'joint_row' does not divide the rows among the joints")
    for name, limit in (("row_body", bodies + 1), ("joint_body", bodies + 1)):
        if np.any(tables[name] < 0) or np.any(tables[name] >= limit):
            raise ValueError(f"table '{name}' names a body that does not exist")
    _check_loads(tables, bodies)
    if np.any(tables["port_body"] != tables["load_body"]) or tables["port_inputs"].sum() != sizes["n_input"]:
        raise ValueError(f"the tables of the {ports} loads and ports contradict each other")


def _check_loads(tables: dict[str, Any], bodies: int) -> None:
    """Loads act on bodies; a port in a joint may have the ground on one side."""
    body, other = tables["load_body"], tables["load_other"]
    last = np.where(other >= 0, bodies, bodies - 1)
    if np.any(body < 0) or np.any(body > last) or np.any(other < -1) or np.any(other > bodies) or np.any(body == other):
        raise ValueError("table 'load_body' or 'load_other' names a body that does not exist")
    if not np.all(np.isin(tables["load_turning"], (0, 1))):
        raise ValueError("table 'load_turning' has a number that means nothing")


def _check_laws(tables: dict[str, Any], sizes: dict[str, int]) -> None:
    """Rows of joints have no law, those of force elements one of the table; pieces lie in theirs."""
    laws, first = tables["row_law"], tables["joint_row"][sizes["n_joint"]]
    if np.any(laws[:first] != -1) or np.any(laws[first:] < 0) or np.any(laws[first:] >= sizes["n_law"]):
        raise ValueError("table 'row_law' does not fit the joints and force elements")
    for name, limit in (
        ("law_measure", 2),
        ("law_form", PIECES),
        ("law_terms", PIECE_TERMS),
        ("law_pieces", sizes["n_piece"]),
        ("law_pressing", first),
    ):
        if np.any(tables[name] < 0) or np.any(tables[name] > limit):
            raise ValueError(f"table '{name}' has a number that means nothing")
    counts = np.bincount(laws[first:], minlength=sizes["n_law"])
    if np.any(counts != np.where(tables["law_measure"] == TURN, 2, 1)) or np.any(np.diff(laws[first:]) < 0):
        raise ValueError("table 'row_law' does not give each law its rows")


def _check_drives(tables: dict[str, Any], sizes: dict[str, int]) -> None:
    """Drives follow rows of joints that look as they should."""
    rows, last = tables["drive_row"], tables["joint_row"][sizes["n_joint"]]
    if sizes["n_channel"] != sizes["n_port"] + sizes["n_drive"]:
        raise ValueError("the tables of loads, ports and drives contradict each other")
    if np.any(rows < 0) or np.any(rows >= last) or not np.all(np.isin(tables["drive_measure"], (LENGTH, VALUE, TURN))):
        raise ValueError("table 'drive_row' or 'drive_measure' has a number that means nothing")


def _check_gears(tables: dict[str, Any], sizes: dict[str, int]) -> None:
    """Gears are rows of joints in their order, each with one or two wheels."""
    rows, last = tables["gear_row"], tables["joint_row"][sizes["n_joint"]]
    if np.any(rows < 0) or np.any(rows >= last) or np.any(np.diff(rows) <= 0) or not np.all(tables["gear_pitch"] > 0.0):
        raise ValueError("table 'gear_row' or 'gear_pitch' has a number that means nothing")
    wheels, sides = tables["wheel_row"], np.stack([tables["wheel_side"], tables["wheel_part"]])
    if np.any(np.diff(wheels) < 0) or not np.array_equal(np.unique(wheels), rows) or not np.all(np.isin(sides, (0, 1))):
        raise ValueError("table 'wheel_row', 'wheel_side' or 'wheel_part' has a number that means nothing")


def _trajectory(attributes: dict[str, Any], tables: dict[str, Any]) -> Trajectory:
    """A run from what `_read` gives."""
    mech = mechanism(Plain(**{name: tables[name] for name in MECHANISM}))
    ends = np.cumsum(tables["port_inputs"])
    terminals = tuple(
        Terminal(name, int(body), np.ascontiguousarray(tables["port_basis"][end - count : end].T), None)
        for name, body, count, end in zip(
            tables["port_name"], tables["port_body"], tables["port_inputs"], ends, strict=True
        )
    )
    system = MechanicalSystem(
        name=attributes["name"],
        mech=mech,
        body_names=tuple(tables["body_name"]),
        joint_names=tuple(tables["joint_name"]),
        element_names=tuple(tables["element_name"]),
        terminals=terminals,
        drives=tuple(
            Driven(name, None, start) for name, start in zip(tables["drive_name"], tables["drive_start"], strict=True)
        ),
        principal=tables["principal"],
        joint_points=tables["joint_points"],
        length=float(attributes["length"]),
        description=json.loads(attributes["model"]),
    )
    system._q0, system._v0 = tables["initial_q"], tables["initial_v"]
    system.adjustments = tuple(
        Adjustment(name, *map(float, by)) for name, by in zip(tables["moved_body"], tables["moved_by"], strict=True)
    )
    happened = zip(tables["event_name"], tables["event_t"].tolist(), tables["event_x"], strict=True)
    events = tuple(Occurrence(name, t, x) for name, t, x in happened)
    return Trajectory(system, _march(attributes, tables), attributes["scheme"], events, _origin(attributes))


def _origin(attributes: dict[str, Any]) -> Origin | None:
    """Of what the run was made; files of older versions do not say it."""
    if "model_file" not in attributes:
        return None
    return Origin(lambda: attributes["model_file"], attributes["step"], float(attributes["end_time"]))
