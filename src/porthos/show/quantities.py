"""Names of quantities over time and what they stand for: symbol, axis with unit, values of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from porthos.errors import PorthosError, nearest
from porthos.notation import Array
from porthos.results.run import Run
from porthos.results.states import StateTrajectory
from porthos.results.trajectory import Trajectory
from porthos.show.curve import Curve
from porthos.show.state_curves import BALANCE, energies, state_curves

COMPONENTS = ("x", "y", "z")
CONSTRAINT = "largest constraint error"


@dataclass(frozen=True)
class Quantity:
    """What a name stands for: its symbol in the legend and the axis (with unit) that it belongs on."""

    symbol: str
    axis: str
    log: bool = False


QUANTITIES = {
    "energy": Quantity("$H = T + V$", "energy [J]"),
    "kinetic_energy": Quantity("$T$", "energy [J]"),
    "potential_energy": Quantity("$V$", "energy [J]"),
    "stored_energy": Quantity("$V_e$", "energy [J]"),
    "dissipated_energy": Quantity("$D$", "energy [J]"),
    "angular_momentum": Quantity("$L_{}$", "angular momentum [kg m²/s]"),
    "linear_momentum": Quantity("$p_{}$", "linear momentum [kg m/s]"),
    "position_error": Quantity(r"$\max|g(q)|$", CONSTRAINT, log=True),
    "velocity_error": Quantity(r"$\max|G(q)\,v|$", CONSTRAINT, log=True),
    "power_balance": Quantity(r"$\Delta H - \Delta W + \Delta D$", "defect of a step [J]"),
}
OF_BODIES = {
    "position": Quantity("${}$", "position [m]"),
    "velocity": Quantity("$v_{}$", "velocity [m/s]"),
    "angular_velocity": Quantity(r"$\omega_{}$", "angular velocity [rad/s]"),
}
OF_JOINTS = {
    "force": Quantity("$F_{}$", "reaction force [N]"),
    "torque": Quantity(r"$\tau_{}$", "reaction torque [N m]"),
}
OF_PORTS = {
    "force": Quantity("$F_{}$", "force [N]"),
    "torque": Quantity(r"$\tau_{}$", "torque [N m]"),
    "work": Quantity("$W$", "work [J]"),
    "power": Quantity("$P$", "power [W]"),
}

WORK = {name: OF_PORTS[name] for name in ("work", "power")}
OF_SLIDES = {"motion": Quantity("$s$", "length [m]"), "output": Quantity("$F$", "force [N]"), **WORK}
OF_TURNS = {"motion": Quantity("$s$", "angle [rad]"), "output": Quantity(r"$\tau$", "torque [N m]"), **WORK}
OF_ELEMENTS = {
    "energy": Quantity("$V_e$", "energy [J]"),
    "dissipated": Quantity("$D$", "energy [J]"),
}
OF_LINES = {"measure": Quantity("$s$", "length [m]"), "force": Quantity("$F$", "force [N]"), **OF_ELEMENTS}
OF_HINGES = {"measure": Quantity("$s$", "angle [rad]"), "force": Quantity(r"$\tau$", "torque [N m]"), **OF_ELEMENTS}


def curves(run: Run, name: str) -> list[Curve]:
    """The curves that a name stands for: one, or its components."""
    if isinstance(run, StateTrajectory):
        return state_curves(run, name)
    assert isinstance(run, Trajectory)
    stem, _, last = name.rpartition(".")
    component = last if last in COMPONENTS else None
    whole = name if component is None else stem
    owner, _, attribute = whole.rpartition(".")
    for names, table, view in _owners(run):
        if owner in names and attribute in table:
            values = getattr(view(owner), attribute)
            if component is None or values.ndim > 1:
                return _components(table[attribute], values, owner, component)
    raise PorthosError(f"plot: '{run.system.name}' has no quantity '{name}'. {nearest(name, known(run))}")


def known(run: Trajectory) -> list[str]:
    """All names that `curves` understands, without those of components."""
    return [
        f"{owner}.{attribute}".lstrip(".")
        for owners, table, _ in _owners(run)
        for owner in owners
        for attribute in table
    ]


def _owners(run: Trajectory) -> list[tuple[list[str], dict[str, Quantity], Any]]:
    """Who has quantities, which, and how to get at them."""
    ports = [terminal.name for terminal in run.system.terminals]
    elements = [([name], table, run.element) for name, table in element_quantities(run).items()]
    drives = [([name], table, run.port) for name, table in drive_quantities(run).items()]
    return [
        ([""], QUANTITIES, lambda _: run),
        (list(run.system.body_names), OF_BODIES, run.__getitem__),
        (list(run.system.joint_names), OF_JOINTS, run.joint),
        (ports, OF_PORTS, run.port),
        (beam_names(run), OF_ELEMENTS, run.beam),
        *elements,
        *drives,
    ]


def element_quantities(run: Trajectory) -> dict[str, dict[str, Quantity]]:
    """What each force element has by its name; the forces of a bushing are many and have no curve."""
    tables = {"torsion_spring": OF_HINGES, "bushing": OF_ELEMENTS, "joint_potential": OF_ELEMENTS, "field": OF_ELEMENTS}
    elements = [one for one in run.system.description.get("elements", []) if one["kind"] != "segment"]
    return {one["name"]: tables.get(one["kind"], OF_LINES) for one in elements}


def beam_names(run: Trajectory) -> list[str]:
    """The beams, whose energy has a curve."""
    return [one["name"] for one in run.system.description.get("beams", [])]


def drive_quantities(run: Trajectory) -> dict[str, dict[str, Quantity]]:
    """What each drive has by its name, beside its reaction as a joint."""
    kinds = {one["name"]: one["kind"] for one in run.system.description["joints"]}
    return {drive.name: OF_TURNS if kinds[drive.name] == "turn_drive" else OF_SLIDES for drive in run.system.drives}


def energy_parts(run: Run) -> list[str]:
    """The energy and those of its parts that there are."""
    if isinstance(run, StateTrajectory):
        return energies(run)
    assert isinstance(run, Trajectory)
    names = ["energy"]
    if np.ptp(run.potential_energy) > 0.0:
        names += ["kinetic_energy", "potential_energy"]
    if np.ptp(run.stored_energy) > 0.0:
        names.append("stored_energy")
    return names + (["dissipated_energy"] if run.dissipated_energy[-1] > 0.0 else [])


def balance(run: Run) -> str:
    """What the energy balance adds up to zero."""
    if not isinstance(run, Trajectory):
        return BALANCE
    return "$H - H(0) - W + D$" if run.dissipated_energy[-1] > 0.0 else "$H - H(0) - W$"


def _components(quantity: Quantity, values: Array, owner: str, component: str | None) -> list[Curve]:
    if values.ndim == 1:
        return [Curve(owner, quantity.symbol, quantity.axis, quantity.log, values)]
    return [
        Curve(owner, quantity.symbol.format(c), quantity.axis, quantity.log, np.asarray(values[:, k]))
        for k, c in enumerate(COMPONENTS)
        if component in (None, c)
    ]
