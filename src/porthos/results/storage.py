"""Results as NetCDF4 files: a dataset for xarray users in the root, and the tables behind it in the group "porthos".

load(save(run, path)) = run: the group holds every array of the run and of its system, bit by bit; balances, reactions
and the order of elimination are computed from them again.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from porthos.errors import ResultError, Status, nearest
from porthos.integrate.march import March
from porthos.kernels.tables import Mechanism
from porthos.notation import Array
from porthos.results.trajectory import Trajectory
from porthos.system.assemble import layouts
from porthos.system.mechanical import Adjustment, MechanicalSystem, Terminal

if TYPE_CHECKING:
    import xarray

FORMAT = 1  # raised whenever an older Porthos could not read the group any more
GROUP = "porthos"
SIGNATURE = b"\x89HDF\r\n\x1a\n"
CLASSIC = b"CDF"

# Variables of the root: dimensions, units, long name.
BODY, JOINT = ("time", "body", "axis"), ("time", "joint", "axis")
QUANTITIES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "position": (BODY, "m", "position of the centre of mass"),
    "rotation": ((*BODY, "body_axis"), "1", "rotation matrix; its columns are the axes of the body frame"),
    "velocity": (BODY, "m s-1", "velocity of the centre of mass"),
    "angular_velocity": (BODY, "rad s-1", "angular velocity in world axes"),
    "kinetic_energy": (("time",), "J", "kinetic energy"),
    "potential_energy": (("time",), "J", "potential energy"),
    "energy": (("time",), "J", "Hamiltonian: kinetic plus potential energy"),
    "linear_momentum": (("time", "axis"), "kg m s-1", "linear momentum"),
    "angular_momentum": (("time", "axis"), "kg m2 s-1", "angular momentum about the origin"),
    "position_error": (("time",), "1", "largest |g(q)|; in m, m2 or 1 by the kind of its row"),
    "velocity_error": (("time",), "s-1", "largest |G(q) v|; in m/s, m2/s or 1/s by the kind of its row"),
    "power_balance": (("time",), "J", "change of energy minus work of all loads and ports, since the time before"),
    "joint_force": (JOINT, "N", "force of the joint on its second body, in world axes"),
    "joint_torque": (JOINT, "N m", "torque of the joint on its second body about the joint's point, in world axes"),
    "work": (("time", "port"), "J", "energy that entered through the load or port since the start"),
}

# Tables of the group and their dimensions: the fields of Mechanism, of March, and the rest of a system.
MECHANISM: dict[str, tuple[str, ...]] = {
    "mass": ("n_body",),
    "euler": ("n_body", "xyz"),
    "spin": ("n_body", "xyz"),
    "rigid": ("n_body",),
    "gravity": ("xyz",),
    "row_body": ("n_row", "side"),
    "cu": ("n_row", "side", "slot"),
    "cw": ("n_row", "side", "slot"),
    "u0": ("n_row", "xyz"),
    "w0": ("n_row", "xyz"),
    "c": ("n_row",),
    "joint_row": ("n_joint_edge",),
    "joint_body": ("n_joint", "side"),
    "load_body": ("n_port",),
    "load_point": ("n_port", "xyz"),
    "load_printed": ("n_port",),
}
MARCH: dict[str, tuple[str, ...]] = {
    "t": ("n_time",),
    "q": ("n_time", "n_body", "slot", "xyz"),
    "v": ("n_time", "n_body", "slot", "xyz"),
    "wrench": ("n_time", "n_port", "wrench_component"),
    "multipliers": ("n_time", "n_row"),
    "outputs": ("n_time", "n_port", "wrench_component"),
    "work": ("n_time", "n_port"),
    "iterations": ("n_time",),
}
SYSTEM: dict[str, tuple[str, ...]] = {
    "body_name": ("n_body",),
    "joint_name": ("n_joint",),
    "port_name": ("n_port",),
    "port_body": ("n_port",),
    "port_inputs": ("n_port",),  # how many inputs each of them has
    "port_basis": ("n_input", "wrench_component"),  # the wrench of each input
    "principal": ("n_body", "xyz", "xyz_body"),
    "joint_points": ("n_joint", "side", "xyz"),
    "initial_q": ("n_body_ground", "slot", "xyz"),
    "initial_v": ("n_body_ground", "slot", "xyz"),
    "moved_body": ("n_moved",),
    "moved_by": ("n_moved", "kind"),  # position, rotation, velocity, angular velocity
}
TABLES = MECHANISM | MARCH | SYSTEM
SIZES = {"xyz": 3, "xyz_body": 3, "side": 2, "slot": 4, "wrench_component": 6, "kind": 4}


def to_dataset(run: Trajectory) -> xarray.Dataset:
    """All named quantities of a run as an xarray Dataset, with units and long names."""
    import xarray

    axes = ["x", "y", "z"]
    ports = [terminal.name for terminal in run.system.terminals]
    coordinates = {
        "time": ("time", run.t, {"units": "s", "long_name": "time"}),
        "body": ("body", _text(run.system.body_names), {"long_name": "name of the body"}),
        "joint": ("joint", _text(run.system.joint_names), {"long_name": "name of the joint"}),
        "port": ("port", _text(ports), {"long_name": "name of the load or port"}),
        "axis": ("axis", axes, {"long_name": "axis of the world"}),
        "body_axis": ("body_axis", axes, {"long_name": "axis of the body frame"}),
    }
    values = _values(run)
    variables = {
        name: (dimensions, values[name], {"units": units, "long_name": long_name})
        for name, (dimensions, units, long_name) in QUANTITIES.items()
    }
    return _unfilled(xarray.Dataset(variables, coordinates, _attributes(run)))


def _values(run: Trajectory) -> dict[str, Array]:
    """The arrays of all QUANTITIES."""
    bodies = [run[name] for name in run.system.body_names]
    joints = [run.joint(name) for name in run.system.joint_names]
    ports = [run.port(terminal.name) for terminal in run.system.terminals]

    def beside(columns: list[Array], *shape: int) -> Array:
        return np.stack(columns, axis=1) if columns else np.zeros((run.t.size, 0, *shape))

    return {
        "position": beside([body.position for body in bodies]),
        "rotation": beside([body.rotation for body in bodies]),
        "velocity": beside([body.velocity for body in bodies]),
        "angular_velocity": beside([body.angular_velocity for body in bodies]),
        "kinetic_energy": run.kinetic_energy,
        "potential_energy": run.potential_energy,
        "energy": run.energy,
        "linear_momentum": run.linear_momentum,
        "angular_momentum": run.angular_momentum,
        "position_error": run.position_error,
        "velocity_error": run.velocity_error,
        "power_balance": run.power_balance,
        "joint_force": beside([joint.force for joint in joints], 3),
        "joint_torque": beside([joint.torque for joint in joints], 3),
        "work": beside([port.work for port in ports]),
    }


def _attributes(run: Trajectory) -> dict[str, str]:
    release = version("porthos")
    return {
        "title": run.system.name,
        "porthos_version": release,
        "created_by": f"Porthos {release}",
        "scheme": run.scheme,
        "status": run.status.name,
        "message": run.message,
        "model": json.dumps(run.system.description),
    }


def _text(names: Iterable[str]) -> NDArray[np.str_]:
    return np.array(list(names), dtype=np.str_)


def _unfilled(dataset: xarray.Dataset) -> xarray.Dataset:
    """Without fill values: a NaN in a result is a NaN, not a gap."""
    for variable in dataset.variables.values():
        variable.encoding["_FillValue"] = None
    return dataset


def save(run: Trajectory, path: str | Path) -> Path:
    """Write a run to a NetCDF4 file: it appears complete or not at all, and takes the place of an older one."""
    path = Path(path)
    if path.is_dir():
        raise ResultError(f"'{path}': expected the name of a file to write, found a folder. Try '{path / 'run.nc'}'.")
    dataset, tables = to_dataset(run), _tables(run)
    part = path.parent / f".porthos-{secrets.token_hex(8)}.part"
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        dataset.to_netcdf(part, engine="h5netcdf")
        tables.to_netcdf(part, engine="h5netcdf", mode="a", group=GROUP)
        _flush(part)
        os.replace(part, path)
    except (OSError, RuntimeError) as error:  # HDF5 reports a full disk as either of them
        reason = getattr(error, "strerror", None) or str(error)
        raise ResultError(
            f"'{path}': the result could not be written to '{path.parent.absolute()}': {reason}. Expected a folder "
            "that exists, that you may write to and that has room. Save it elsewhere; the run is still in memory."
        ) from error
    finally:
        with suppress(OSError):
            part.unlink()
    return path


def _flush(path: Path) -> None:
    """Wait until the file is on the disk."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _tables(run: Trajectory) -> xarray.Dataset:
    """The group: all from which `load` makes the run again."""
    import xarray

    system = run.system
    q0, v0 = system.initial_arrays()
    moved = [(a.position, a.rotation, a.velocity, a.angular_velocity) for a in system.adjustments]
    values: dict[str, Any] = {
        **system.mech._asdict(),
        **{name: getattr(run.raw, name) for name in MARCH},
        "body_name": _text(system.body_names),
        "joint_name": _text(system.joint_names),
        "port_name": _text(terminal.name for terminal in system.terminals),
        "port_body": np.array([terminal.body for terminal in system.terminals], dtype=np.int64),
        "port_inputs": np.array([terminal.basis.shape[1] for terminal in system.terminals], dtype=np.int64),
        "port_basis": np.concatenate([np.zeros((0, 6)), *(terminal.basis.T for terminal in system.terminals)]),
        "principal": system.principal,
        "joint_points": system.joint_points,
        "initial_q": q0,
        "initial_v": v0,
        "moved_body": _text(a.body for a in system.adjustments),
        "moved_by": np.array(moved, dtype=np.float64).reshape(-1, 4),
    }
    tables = {name: (dimensions, values[name]) for name, dimensions in TABLES.items()}
    attributes = {"format": FORMAT, "name": system.name, "length": system.length, **_attributes(run)}
    return _unfilled(xarray.Dataset(tables, attrs=attributes))


def load(path: str | Path) -> Trajectory:
    """Read a run that `Trajectory.save` wrote. Its loads are history: they have inputs and work, but no function."""
    path = Path(path)
    _look(path)
    import h5netcdf

    try:
        with h5netcdf.File(path, "r", decode_vlen_strings=True) as file:
            return _trajectory(*_read(path, file))
    except (OSError, RuntimeError, KeyError, ValueError) as error:
        if isinstance(error, ResultError):
            raise
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
    if start != SIGNATURE:
        other = "a NetCDF file of the classic format" if start.startswith(CLASSIC) else "no NetCDF file"
        found = other if start else "an empty file"
        raise ResultError(
            f"'{path}': expected a NetCDF4 file written by Trajectory.save, found {found}. Check the name of the file."
        )


def _read(path: Path, file: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Attributes and tables of the group; refuses files of others, of a newer Porthos, and incomplete ones."""
    if GROUP not in file.groups or "format" not in file.groups[GROUP].attrs:
        raise ResultError(
            f"'{path}': expected a result written by Trajectory.save, found a NetCDF4 file of another program. "
            "Open it with xarray.open_dataset."
        )
    group = file.groups[GROUP]
    attributes = dict(group.attrs)
    if attributes["format"] > FORMAT:
        raise ResultError(
            f"'{path}': expected format {FORMAT} or older, found format {attributes['format']}, written by Porthos "
            f"{attributes.get('porthos_version')}. Update Porthos (pip install -U porthos), or open the file with "
            "xarray.open_dataset."
        )
    tables, sizes = {}, dict(SIZES)
    for name, dimensions in TABLES.items():
        values = tables[name] = group.variables[name][...]
        if values.ndim != len(dimensions) or any(
            sizes.setdefault(d, n) != n for d, n in zip(dimensions, values.shape, strict=True)
        ):
            raise ValueError(f"table '{name}' has shape {values.shape}, expected {dimensions} of {sizes}")
    _check_places(tables, sizes)
    return attributes, tables


def _check_places(tables: dict[str, Any], sizes: dict[str, int]) -> None:
    """Compiled code trusts the tables, so no number of a body or row may point outside them."""
    bodies, rows, ports = sizes["n_body"], sizes["n_row"], sizes["n_port"]
    edges = tables["joint_row"]
    if sizes["n_body_ground"] != bodies + 1 or sizes["n_joint_edge"] != sizes["n_joint"] + 1:
        raise ValueError("tables of different systems")
    if edges[0] != 0 or edges[-1] != rows or np.any(np.diff(edges) < 0):
        raise ValueError("table 'joint_row' does not divide the rows among the joints")
    for name, limit in (("row_body", bodies + 1), ("joint_body", bodies + 1), ("load_body", bodies)):
        if np.any(tables[name] < 0) or np.any(tables[name] >= limit):
            raise ValueError(f"table '{name}' names a body that does not exist")
    if np.any(tables["port_body"] != tables["load_body"]) or tables["port_inputs"].sum() != sizes["n_input"]:
        raise ValueError(f"the tables of the {ports} loads and ports contradict each other")


def _trajectory(attributes: dict[str, Any], tables: dict[str, Any]) -> Trajectory:
    """A run from what `_read` gives."""
    mech = Mechanism(**{name: tables[name] for name in MECHANISM})
    single, doubled = layouts(mech)
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
        layout=single,
        doubled=doubled,
        body_names=tuple(tables["body_name"]),
        joint_names=tuple(tables["joint_name"]),
        terminals=terminals,
        principal=tables["principal"],
        joint_points=tables["joint_points"],
        length=float(attributes["length"]),
        description=json.loads(attributes["model"]),
    )
    system._q0, system._v0 = tables["initial_q"], tables["initial_v"]
    system.adjustments = tuple(
        Adjustment(name, *map(float, by)) for name, by in zip(tables["moved_body"], tables["moved_by"], strict=True)
    )
    raw = March(
        **{name: tables[name] for name in MARCH}, status=Status[attributes["status"]], message=attributes["message"]
    )
    return Trajectory(system, raw, attributes["scheme"])
