"""Curves of named quantities of a run: symbol, axis with unit, values over time."""

from __future__ import annotations

import numpy as np

from porthos.quantities import named
from porthos.results.quantities import values_of
from porthos.results.run import Run
from porthos.results.states import StateTrajectory
from porthos.results.trajectory import Trajectory
from porthos.show.curve import Curve
from porthos.show.state_curves import BALANCE, energies, state_curves


def curves(run: Run, name: str) -> list[Curve]:
    """The curves that a name stands for: one, or its components."""
    if isinstance(run, StateTrajectory):
        return state_curves(run, name)
    assert isinstance(run, Trajectory)
    meant = named(name, run.system.quantities)
    what, owner, values = meant.quantity, meant.part.name, values_of(run, meant)
    if not what.components:
        return [Curve(owner, what.symbol, what.axis, what.log, values)]
    table = values.reshape(len(values), -1)
    return [
        Curve(owner, what.symbol.format(end.lstrip(".")), what.axis, what.log, np.asarray(table[:, k]))
        for k, end in enumerate(what.components)
        if meant.component in (None, k)
    ]


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
