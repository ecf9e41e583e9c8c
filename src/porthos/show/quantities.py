"""Names of quantities over time and what they stand for: symbol, axis with unit, values of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from porthos.errors import PorthosError, nearest
from porthos.notation import Array
from porthos.results.trajectory import Trajectory

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
    "angular_momentum": Quantity("$L_{}$", "angular momentum [kg m²/s]"),
    "linear_momentum": Quantity("$p_{}$", "linear momentum [kg m/s]"),
    "position_error": Quantity(r"$\max|g(q)|$", CONSTRAINT, log=True),
    "velocity_error": Quantity(r"$\max|G(q)\,v|$", CONSTRAINT, log=True),
    "power_balance": Quantity(r"$\Delta H - \Delta W$", "defect of a step [J]"),
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
}


@dataclass(frozen=True)
class Curve:
    """One line of a figure."""

    owner: str  # a body, joint, load or port; empty for the whole system
    symbol: str
    axis: str
    log: bool
    values: Array  # (T,)

    @property
    def label(self) -> str:
        """What a legend says."""
        return f"{self.owner} {self.symbol}".lstrip()


def curves(run: Trajectory, name: str) -> list[Curve]:
    """The curves that a name stands for: one, or three components."""
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
    return [
        ([""], QUANTITIES, lambda _: run),
        (list(run.system.body_names), OF_BODIES, run.__getitem__),
        (list(run.system.joint_names), OF_JOINTS, run.joint),
        (ports, OF_PORTS, run.port),
    ]


def _components(quantity: Quantity, values: Array, owner: str, component: str | None) -> list[Curve]:
    if values.ndim == 1:
        return [Curve(owner, quantity.symbol, quantity.axis, quantity.log, values)]
    return [
        Curve(owner, quantity.symbol.format(c), quantity.axis, quantity.log, np.asarray(values[:, k]))
        for k, c in enumerate(COMPONENTS)
        if component in (None, c)
    ]
