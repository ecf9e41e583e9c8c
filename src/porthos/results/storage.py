"""What a result file holds: a dataset for xarray users in the root, and the tables behind it in the group "porthos".

load(save(run, path)) = run: the group holds every array of the run and of its system, bit by bit; balances, reactions
and the order of elimination are computed from them again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from porthos.integrate.events import Occurrence
from porthos.kernels.tables import FACTORS, PIECE_TERMS, TERMS
from porthos.notation import Array
from porthos.results.run import Run
from porthos.results.trajectory import Trajectory
from porthos.system.joint_coordinates import joints_with
from porthos.system.mechanical import MechanicalSystem
from porthos.system.tables import plain

if TYPE_CHECKING:
    import xarray

FORMAT = 6  # raised whenever an older Porthos could not read the group any more; files have seals since 4
GROUP = "porthos"
NETCDF = (".nc", ".nc4", ".h5")  # endings of its names: a NetCDF4 file is an HDF5 file

# Variables of the root: dimensions, units, long name.
BODY, JOINT = ("time", "body", "axis"), ("time", "joint", "axis")
TURNING, SLIDING = ("time", "turning_joint"), ("time", "sliding_joint")
TURNS, SLIDES = "name of the joint that turns about an axis", "name of the joint that slides along an axis"
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
    "power_balance": (("time",), "J", "change of energy minus work plus losses, since the time before"),
    "joint_force": (JOINT, "N", "force of the joint on its second body, in world axes"),
    "joint_torque": (JOINT, "N m", "torque of the joint on its second body about the joint's point, in world axes"),
    "joint_angle": (TURNING, "rad", "angle of the joint since the start, with all turns"),
    "joint_angle_rate": (TURNING, "rad s-1", "rate of the angle"),
    "joint_displacement": (SLIDING, "m", "displacement of the second body along the axis of the joint"),
    "joint_displacement_rate": (SLIDING, "m s-1", "rate of the displacement"),
    "element_energy": (("time", "element"), "J", "energy that the force element stores"),
    "dissipated": (("time", "element"), "J", "energy that the force element has taken since the start"),
    "work": (("time", "port"), "J", "energy that entered through the load, port or drive since the start"),
}

# Tables of the group and their dimensions: the fields of Plain, of March, and the rest of a system.
MECHANISM: dict[str, tuple[str, ...]] = {
    "mass": ("n_body",),
    "euler": ("n_body", "xyz"),
    "ghost": ("n_body",),
    "spin": ("n_body", "xyz"),
    "rigid": ("n_body",),
    "gravity": ("xyz",),
    "row_body": ("n_row", "side"),
    "cu": ("n_row", "side", "slot"),
    "cw": ("n_row", "side", "slot"),
    "u0": ("n_row", "xyz"),
    "w0": ("n_row", "xyz"),
    "c": ("n_row",),
    "joint_row": ("n_link_edge",),  # links are joints, then force elements
    "joint_body": ("n_link", "side"),
    "load_body": ("n_port",),
    "load_point": ("n_port", "xyz"),
    "load_axis": ("n_port", "xyz"),
    "load_other": ("n_port",),
    "load_turning": ("n_port",),
    "load_printed": ("n_port",),
    "row_law": ("n_row",),
    "law_rest": ("n_law",),
    "law_about": ("n_law",),
    "law_force": ("n_law", "term"),
    "law_damping": ("n_law",),
    "law_friction": ("n_law",),
    "law_speed": ("n_law",),
    "law_measure": ("n_law",),
    "law_form": ("n_law",),
    "law_terms": ("n_law",),
    "law_pieces": ("n_law", "edge"),
    "law_pressing": ("n_law", "edge"),
    "piece": ("n_piece", "piece_column"),
    "drive_row": ("n_drive",),
    "drive_measure": ("n_drive",),
    "drive_rest": ("n_drive",),
    "drive_ahead": ("n_drive", "xyz"),
    "drive_across": ("n_drive", "xyz"),
    "gear_row": ("n_gear",),
    "gear_pitch": ("n_gear",),
    "wheel_row": ("n_wheel",),
    "wheel_side": ("n_wheel",),
    "wheel_part": ("n_wheel",),
    "wheel_radius": ("n_wheel",),
    "wheel_ahead": ("n_wheel", "xyz"),
    "wheel_across": ("n_wheel", "xyz"),
    "wheel_held": ("n_wheel", "xyz"),
}
MARCH: dict[str, tuple[str, ...]] = {
    "t": ("n_time",),
    "q": ("n_time", "n_body", "slot", "xyz"),
    "v": ("n_time", "n_body", "slot", "xyz"),
    "wrench": ("n_time", "n_channel", "wrench_component"),  # loads and ports, then drives
    "multipliers": ("n_time", "n_row"),
    "outputs": ("n_time", "n_channel", "wrench_component"),
    "work": ("n_time", "n_channel"),
    "loss": ("n_time", "n_element"),
    "angle": ("n_time", "n_law"),
    "iterations": ("n_time",),
}
SYSTEM: dict[str, tuple[str, ...]] = {
    "body_name": ("n_body",),
    "joint_name": ("n_joint",),
    "element_name": ("n_element",),
    "port_name": ("n_port",),
    "port_body": ("n_port",),
    "port_inputs": ("n_port",),  # how many inputs each of them has
    "port_basis": ("n_input", "wrench_component"),  # the wrench of each input
    "drive_name": ("n_drive",),
    "drive_start": ("n_drive", "xyz"),  # motion, rate and acceleration
    "principal": ("n_body", "xyz", "xyz_body"),
    "joint_points": ("n_joint", "side", "xyz"),
    "initial_q": ("n_body_ground", "slot", "xyz"),
    "initial_v": ("n_body_ground", "slot", "xyz"),
    "moved_body": ("n_moved",),
    "moved_by": ("n_moved", "kind"),  # position, rotation, velocity, angular velocity
}
EVENTS: dict[str, tuple[str, ...]] = {
    "event_name": ("n_event",),
    "event_t": ("n_event",),
    "event_x": ("n_event", "n_state"),
}
TABLES = MECHANISM | MARCH | SYSTEM | EVENTS
SIZES = {
    "xyz": 3,
    "xyz_body": 3,
    "side": 2,
    "slot": 4,
    "wrench_component": 6,
    "kind": 4,
    "term": TERMS,
    "edge": 2,
    "piece_column": FACTORS + PIECE_TERMS,
}


def to_dataset(run: Trajectory) -> xarray.Dataset:
    """All named quantities of a run as an xarray Dataset, with units and long names."""
    import xarray

    axes = ["x", "y", "z"]
    coordinates = {
        "time": ("time", run.t, {"units": "s", "long_name": "time"}),
        "body": ("body", labels(run.system.body_names), {"long_name": "name of the body"}),
        "joint": ("joint", labels(run.system.joint_names), {"long_name": "name of the joint"}),
        "turning_joint": ("turning_joint", labels(joints_with(run.system, "angle")), {"long_name": TURNS}),
        "sliding_joint": ("sliding_joint", labels(joints_with(run.system, "displacement")), {"long_name": SLIDES}),
        "element": ("element", labels(run.system.element_names), {"long_name": "name of the force element"}),
        "port": ("port", labels(run.system.channel_names), {"long_name": "name of the load, port or drive"}),
        "axis": ("axis", axes, {"long_name": "axis of the world"}),
        "body_axis": ("body_axis", axes, {"long_name": "axis of the body frame"}),
        "event": ("event", labels(one.name for one in run.events), {"long_name": "name of the event"}),
    }
    values = quantities(run)
    variables = {
        name: (dimensions, values[name], {"units": units, "long_name": long_name})
        for name, (dimensions, units, long_name) in QUANTITIES.items()
    }
    happened = {"units": "s", "long_name": "time at which the event happened"}
    variables["event_time"] = (("event",), event_times(run.events), happened)
    return unfilled(xarray.Dataset(variables, coordinates, attributes(run)))


def attribute_of(name: str) -> str:
    """What a quantity is called on the view of its body, joint, element or port."""
    return name.removeprefix("joint_").removeprefix("element_")


def quantities(run: Trajectory, names: Iterable[str] = tuple(QUANTITIES)) -> dict[str, Array]:
    """The arrays of some QUANTITIES."""
    return {name: _quantity(run, name) for name in names}


def owners_of(run: Trajectory, dimensions: tuple[str, ...]) -> list[str] | None:
    """Names of the bodies, joints or ports to which a quantity of these dimensions belongs; None if to the run."""
    names = {
        "body": run.system.body_names,
        "joint": run.system.joint_names,
        "turning_joint": joints_with(run.system, "angle"),
        "sliding_joint": joints_with(run.system, "displacement"),
        "element": run.system.element_names,
        "port": run.system.channel_names,
    }
    return list(names[dimensions[1]]) if len(dimensions) > 1 and dimensions[1] in names else None


def _quantity(run: Trajectory, name: str) -> Array:
    """An attribute of the run itself, or those of all its bodies, joints or ports side by side."""
    dimensions = QUANTITIES[name][0]
    owners = owners_of(run, dimensions)
    if owners is None:
        return getattr(run, name)
    views: dict[str, Callable[[str], Any]] = {"body": run.__getitem__, "element": run.element, "port": run.port}
    view = views.get(dimensions[1], run.joint)
    columns = [getattr(view(owner), attribute_of(name)) for owner in owners]
    return np.stack(columns, axis=1) if columns else np.zeros((run.t.size, 0, *(3 for _ in dimensions[2:])))


def attributes(run: Run) -> dict[str, Any]:
    """What a file says about the run as a whole; `model_file` is what `porthos run` would make it from."""
    release = version("porthos")
    return {
        "title": run.system.name,
        "porthos_version": release,
        "created_by": f"Porthos {release}",
        "scheme": run.scheme,
        "status": run.status.name,
        "message": run.message,
        **({"model": json.dumps(run.system.description)} if isinstance(run, Trajectory) else {}),
        **(run.origin.attributes if isinstance(run, Trajectory) and run.origin is not None else {}),
    }


def labels(names: Iterable[str]) -> NDArray[np.str_]:
    """Names as an array."""
    return np.array(list(names), dtype=np.str_)


def unfilled(dataset: xarray.Dataset) -> xarray.Dataset:
    """Without fill values: a NaN in a result is a NaN, not a gap."""
    for variable in dataset.variables.values():
        variable.encoding["_FillValue"] = None
    return dataset


def to_tables(run: Trajectory) -> xarray.Dataset:
    """The group: all from which `load` makes the run again."""
    import xarray

    system = run.system
    values = system_tables(system) | {name: getattr(run.raw, name) for name in MARCH}
    values |= event_tables(run.events, system.dimension)
    tables = {name: (dimensions, values[name]) for name, dimensions in TABLES.items()}
    more = {"format": FORMAT, "name": system.name, "length": system.length}
    return xarray.Dataset(tables, attrs={**more, **attributes(run)})


def event_tables(events: Sequence[Occurrence], dimension: int) -> dict[str, Any]:
    """The part of the group that belongs to the events."""
    return {
        "event_name": labels(one.name for one in events),
        "event_t": event_times(events),
        "event_x": event_states(events, dimension),
    }


def event_times(events: Sequence[Occurrence]) -> Array:
    """When they happened (E,)."""
    return np.array([one.t for one in events], dtype=np.float64)


def event_states(events: Sequence[Occurrence], dimension: int) -> Array:
    """The states there (E, n)."""
    return np.array([one.x for one in events], dtype=np.float64).reshape(-1, dimension)


def system_tables(system: MechanicalSystem) -> dict[str, Any]:
    """The part of the group that belongs to the system."""
    q0, v0 = system.initial_arrays()
    moved = [(a.position, a.rotation, a.velocity, a.angular_velocity) for a in system.adjustments]
    return {
        **plain(system.moving)._asdict(),
        "body_name": labels(system.body_names),
        "joint_name": labels(system.joint_names),
        "element_name": labels(system.element_names),
        "port_name": labels(terminal.name for terminal in system.terminals),
        "port_body": np.array([terminal.body for terminal in system.terminals], dtype=np.int64),
        "port_inputs": np.array([terminal.basis.shape[1] for terminal in system.terminals], dtype=np.int64),
        "port_basis": np.concatenate([np.zeros((0, 6)), *(terminal.basis.T for terminal in system.terminals)]),
        "drive_name": labels(drive.name for drive in system.drives),
        "drive_start": np.array([drive.start for drive in system.drives]).reshape(-1, 3),
        "principal": system.principal,
        "joint_points": system.joint_points,
        "initial_q": q0,
        "initial_v": v0,
        "moved_body": labels(a.body for a in system.adjustments),
        "moved_by": np.array(moved, dtype=np.float64).reshape(-1, 4),
    }
