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
from porthos.integrate.state_scheme import OwnSteps
from porthos.notation import file_path, flag
from porthos.results.journal import at_rest, recover
from porthos.results.places import check_places
from porthos.results.states import StateTrajectory
from porthos.results.storage import FORMAT, GROUP, MARCH, MECHANISM, SIZES, TABLES
from porthos.results.stored_states import PLACES, StoredStates, read_states
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
    with explained(path), _sound(path), opened(path) as file:
        if PLACES in file.attrs:
            return _states(path, file)
        return _trajectory(*_read(path, file, lazy))


def _states(path: Path, file: Any) -> StoredStates:
    """A run over states; files of older versions have it in the root alone."""
    if GROUP in file:
        _refuse_newer(path, _attributes(file[GROUP]))
    return read_states(_attributes(file), {name: _all(file[name]) for name in file if name != GROUP})


@dataclass(frozen=True)
class Unfinished:
    """A run in a file that can go on; `tables` has those of a mechanism."""

    run: Trajectory | StoredStates
    plan: str
    checkpoint: Checkpoint
    tables: dict[str, Any]


def unfinished(path: Path) -> Unfinished:
    """The run of a file from where it can go on, or an error that says why it cannot."""
    _look(path)
    with explained(path), _sound(path), opened(path) as file:
        run: Trajectory | StoredStates
        tables: dict[str, Any] = {}
        if PLACES in file.attrs:
            run = _states(path, file)
        else:
            attributes, tables = _read(path, file, lazy=True)
            run = _trajectory(attributes, tables)
        group = file.get(GROUP, {})
        attributes = _attributes(group or file)
        _refuse(path, attributes, "plan" in group, float(run.raw.t[-1]))
        plan, memory = group["plan"][...].tobytes().decode(), group["memory"][...]
        kept = json.loads(attributes["checkpoint"])
        checkpoint = Checkpoint.read(kept, memory)
        if kept["checks"] != checks(plan, checkpoint.memory):
            raise ValueError("the checkpoint has changed since it was written")
        return Unfinished(run, plan, checkpoint, tables)


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
    elif _remembers_elsewhere(attributes["scheme"]):
        found = (
            f"one with {attributes['scheme'].partition('(')[0]}, whose memory is within a library and in no file. It "
            f"holds all states up to t = {end:.6g}: open it with porthos.load. Run it anew, to that time or further; "
            "runs with schemes of Porthos itself, such as ph.RadauIIA(3), can be resumed."
        )
    elif not planned:
        found = (
            "a copy that was saved, or a run of Livens on a Lagrangian, which writes its file when it ends. Resume the "
            "file that simulate(..., out=...) wrote on its way, or run it anew."
        )
    elif "checkpoint" not in attributes:
        found = "one that had not made its first steps. Run it anew."
    elif attributes["porthos_version"] != version("porthos"):
        found = (
            f"one of Porthos {attributes['porthos_version']}, and this is {version('porthos')}, which may round "
            "differently. Resume it with the same version, or run it anew."
        )
    if found:
        raise ResultError(f"'{path}': expected a run that was interrupted, found {found}")


def _remembers_elsewhere(scheme: str) -> bool:
    """Whether what a scheme remembers between steps is in a library."""
    name = scheme.partition("(")[0]
    return name in SCHEMES and issubclass(scheme_class(name), OwnSteps)


def stored(path: Path) -> March:
    """The states of a run in a file, left there."""
    with opened(path) as file:
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
def opened(path: Path) -> Iterator[Any]:
    """A file to read from."""
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
            f"'{path}': expected a result written by Trajectory.save, found a NetCDF4 file of another kind. Look at it "
            "with xarray.open_dataset."
        )
    group = file[GROUP]
    attributes = _attributes(group)
    _refuse_newer(path, attributes)
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
    check_places(tables, sizes)
    return attributes, tables


def _refuse_newer(path: Path, attributes: dict[str, Any]) -> None:
    """Refuse files of a newer Porthos."""
    if attributes["format"] > FORMAT:
        raise ResultError(
            f"'{path}': expected format {FORMAT}, found format {attributes['format']}, written by Porthos "
            f"{attributes.get('porthos_version')}. Update Porthos (pip install -U porthos), or open the file with "
            "xarray.open_dataset."
        )


def _attributes(group: Any) -> dict[str, Any]:
    """Texts and plain numbers."""
    return {key: value.item() if isinstance(value, np.ndarray) else value for key, value in group.attrs.items()}


def _all(variable: Any) -> NDArray[Any]:
    """The values of a table; texts as str."""
    return variable.asstr()[...] if variable.dtype.kind == "O" else variable[...]


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
    outputs = tuple(json.loads(attributes.get("outputs", "[]")))
    return Origin(lambda: attributes["model_file"], attributes["step"], float(attributes["end_time"]), outputs)
