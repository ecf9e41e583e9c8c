"""The motion of a mechanism that is part of a connected system, as a run of its own with bodies, joints and ports."""

from __future__ import annotations

import numpy as np

from porthos.errors import PorthosError, is_among, nearest
from porthos.integrate.recording import States, as_march
from porthos.notation import Array
from porthos.results.states import StateTrajectory
from porthos.results.trajectory import Trajectory
from porthos.system.elements import wound
from porthos.system.interconnect import Interconnection
from porthos.system.mechanical import MechanicalSystem


def mechanisms(run: StateTrajectory) -> list[str]:
    """Which parts of a run are mechanisms."""
    return [name for name, part in run.parts.items() if isinstance(part, MechanicalSystem)]


def part_of(run: StateTrajectory, name: str) -> Trajectory:
    """The run of a part; what its connected ports got is in `run.part(...).port(...)`, as if it had been given."""
    whole, known = run.system, mechanisms(run)
    if not (isinstance(whole, Interconnection) and is_among(name, known)):
        hint = nearest(name, known) if known else "States of other systems are run['name'], or run['part: name']."
        raise PorthosError(f"'{whole.name}' has no mechanism '{name}' among its parts. {hint}")
    part, raw, place = whole.parts[name], run.raw, whole.part_place(name)
    assert isinstance(part, MechanicalSystem)
    x, u = raw.x[:, place], _inputs(run, whole, name)
    y = np.array([part.y(*each) for each in zip(x, np.nan_to_num(u), raw.t.tolist(), strict=True)])
    mean_y = np.vstack([np.full_like(y[:1], np.nan), (y[1:] + y[:-1]) / 2])
    supply = np.zeros_like(u)
    for own, called in whole.part_ports(name).items():
        columns = part.ports[own]
        if called in whole.ports:
            supply[:, columns] = raw.supply[:, whole.ports[called]]
            mean_y[:, columns] = raw.mean_y[:, whole.ports[called]]
        else:  # the energy of all inputs of a port is known, not that of each
            supply[:, columns.start] = raw.exchange[:, whole.inner_ports.index(called)]
    states = States(
        t=raw.t, x=x, u=u, y=y, mean_x=raw.mean_x[:, place], mean_y=mean_y, supply=supply,
        exchange=raw.exchange[:, _within(whole, name)], dissipated=np.zeros(raw.t.size), iterations=raw.iterations,
        increments=raw.increments[:, :, place], tableau=raw.tableau, status=raw.status, message=raw.message,
        angles=_angles(part, x),
    )  # fmt: skip
    return Trajectory(part, as_march(part, states), run.scheme)


def _angles(part: MechanicalSystem, x: Array) -> Array:
    """Angles (T, F) of force elements of a part, which turn by less than half a turn between recorded states."""
    own, found = wound(part, part.moving.law.about), np.zeros((len(x), part.moving.law.size))
    for k, each in enumerate(x if part.element_names else ()):
        own.elements.count_turns(own.to_kernel(each[: own.n]))
        found[k] = own.elements.mech.law.about
    return found


def _inputs(run: StateTrajectory, whole: Interconnection, name: str) -> Array:
    """What the part got at the recorded times (T, m)."""
    k = list(whole.parts).index(name)
    each = zip(run.x, run.u, run.t.tolist(), strict=True)
    return np.array([whole.inputs(*state)[k] for state in each]).reshape(run.t.size, -1)


def _within(whole: Interconnection, name: str) -> slice:
    """Which of the inner ports of the whole lie within a part: they come last, part after part."""
    counts = {part: len(system.inner_ports) for part, system in whole.parts.items()}
    later = list(counts)[list(counts).index(name) + 1 :]
    end = len(whole.inner_ports) - sum(counts[part] for part in later)
    return slice(end - counts[name], end)
