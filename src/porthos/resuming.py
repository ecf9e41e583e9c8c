"""resume("run.nc"): a run that was interrupted goes on from its file, bit by bit as if nothing had happened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import NoneType
from typing import Any, Literal

import numpy as np

from porthos.errors import InputError, PorthosError, ResultError, nearest
from porthos.frontdoor import as_functions, check_on_failure, judged, layout_of, marched, walked
from porthos.integrate.catalogue import spelled
from porthos.integrate.checkpoint import ask_again
from porthos.integrate.inputs import Inputs, known_ports
from porthos.integrate.scheme import Contract, Scheme
from porthos.model.drives import Motion
from porthos.model.model import Model
from porthos.model.plan import Plan, Python
from porthos.notation import file_path
from porthos.results.loading import Unfinished, load, unfinished
from porthos.results.states import StateTrajectory
from porthos.results.storage import system_tables
from porthos.results.trajectory import Trajectory
from porthos.results.writing import Writer
from porthos.steps import Adaptive, Reversible
from porthos.system.acting import Source
from porthos.system.descriptor import Descriptor
from porthos.system.loads import Terminal
from porthos.system.mechanical import MechanicalSystem
from porthos.walking import Grid, Journey, steps_alone


def resume(
    path: str | Path,
    model: Model | Descriptor | None = None,
    inputs: Mapping[str, Any] | None = None,
    on_failure: Literal["raise", "return"] = "raise",
    progress: bool | None = None,
    step: Reversible | None = None,
    events: Mapping[str, Any] | None = None,
) -> Trajectory | StateTrajectory:
    """Go on with a run that `simulate(..., out=path)` began and that was interrupted, killed, or met a full disk.

    All that was computed after the last states in the file is computed again; the finished file has the bits of a run
    without an interruption. It holds all that is needed, except functions in Python: give the `model` again if a load
    or drive is one, or if it is a system that is no mechanism; `inputs` for ports that had one; reversible steps as
    `step`, and `events` that are no `Crossing`s. A controller with a memory keeps it, as numbers, in its attribute
    `state`. Functions that are not those of the run are refused. The run of a system that is no mechanism comes back as
    `load` reads it.
    """
    place = file_path(path)
    check_on_failure(on_failure)
    if not isinstance(model, Model | Descriptor | NoneType):
        raise PorthosError(f"resume: model: expected the model or system of the run, or none, found {model!r}.")
    found = unfinished(place)
    plan = Plan.read(found.plan)
    scheme = _scheme(place, plan.scheme)
    grid = Grid.of(_step(place, plan, step), plan.end, plan.every, plan.times)
    given = _given(place, plan, known_ports(found.run.system.name, _terminals(found), inputs), model is not None)
    again = _events(place, plan, events)
    system = _system(place, model, found, plan)
    watched = as_functions(system, again)
    writer = partial(_reopened, place, found, system, grid)
    if not steps_alone(system, scheme, grid, watched):
        assert isinstance(system, MechanicalSystem) and isinstance(scheme, Scheme)
        signals = Inputs(system, given, grid.steps)
        ask_again(signals, found.checkpoint, grid.h * np.array(scheme.fractions))
        steps = (grid.h, grid.steps, grid.every)
        origin = found.run.origin if isinstance(found.run, Trajectory) else None
        run: Any = marched(system, scheme, *steps, signals, progress, writer(), found.checkpoint, origin)
    else:
        happened = found.run.events[: found.checkpoint.events]
        journey = Journey(
            system, scheme, grid, given, progress, None, watched, lambda _: writer(), found.checkpoint, happened
        )
        run = walked(journey, found.run.origin if isinstance(found.run, Trajectory) else None)
        run = run if isinstance(run, Trajectory) else load(place)
    return judged(run, plan.end, on_failure, place)


def _reopened(path: Path, found: Unfinished, system: Descriptor, grid: Grid) -> Writer:
    """The file, to go on with."""
    origin = found.run.origin if isinstance(found.run, Trajectory) else None
    nodes = grid.steps // grid.every + 1
    return Writer.reopened(path, layout_of(system, found.run.scheme, origin), nodes, found.plan, found.checkpoint)


def _scheme(path: Path, text: str) -> Contract:
    """The scheme of the run."""
    try:
        return spelled(text)
    except PorthosError as error:
        raise ResultError(f"'{path}': expected a scheme of Porthos, found '{text}'.") from error


def _step(path: Path, plan: Plan, given: Reversible | None) -> float | Adaptive | Reversible:
    """The steps of the run."""
    if isinstance(plan.step, Python):
        if not isinstance(given, Reversible):
            raise InputError(
                f"'{path}': the run had reversible steps, whose density is a function in Python, which the file does "
                "not hold. Give them again: porthos.resume(path, step=ph.Reversible(...))."
            )
        return given
    if given is not None:
        raise InputError(f"'{path}': expected no `step`, for the file knows it: {plan.step!r}; found {given!r}.")
    return plan.step


def _events(path: Path, plan: Plan, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """The events of the run, with those that have to be given again."""
    if not isinstance(given, Mapping | NoneType):
        raise InputError(f"'{path}': events: expected functions of (t, x) by names, found {given!r}.")
    missing = [name for name, event in plan.events.items() if isinstance(event, Python) and name not in (given or {})]
    if missing:
        raise InputError(
            f"'{path}': event '{missing[0]}' was a function in Python, which the file does not hold. Give the same one "
            f"again: porthos.resume(path, events={{'{missing[0]}': ...}})."
        )
    for name in given or {}:
        if name not in plan.events:
            raise InputError(f"'{path}': events: the run had no event '{name}'. {nearest(name, plan.events)}")
    return dict(plan.events) | dict(given or {})


def _terminals(found: Unfinished) -> list[Terminal]:
    """The ports to which inputs may be given."""
    system = found.run.system
    if isinstance(system, MechanicalSystem):
        return list(system.terminals)
    return [Terminal(name, -1, np.eye(place.stop - place.start), None) for name, place in system.ports.items()]


def _system(path: Path, model: Model | Descriptor | None, found: Unfinished, plan: Plan) -> Descriptor:
    """The system of the run: that of the file, or what was given if it is the same."""
    kept = found.run.system
    if isinstance(kept, MechanicalSystem):
        return _sourced(kept, plan) if model is None else _same(path, model, found, plan.hold)
    if model is None:
        raise InputError(
            f"'{path}': the functions of '{kept.name}', which is no mechanism, are in no file. Give the system of the "
            "run again: porthos.resume(path, model=...). What was computed opens with porthos.load."
        )
    if isinstance(model, Model | MechanicalSystem) or (model.blocks, model.ports) != (kept.blocks, kept.ports):
        raise ResultError(
            f"'{path}': expected the system of the run that is to be resumed, with states {list(kept.blocks)} and "
            f"ports {list(kept.ports)}, found {model!r}. Give the same one, or run the new one to a file of its own."
        )
    return model


def _given(path: Path, plan: Plan, inputs: dict[str, Any], with_model: bool) -> dict[str, Any]:
    """The inputs of the run, with those that have to be given again."""
    for name, kind in plan.missing().items():
        if (name in plan.loads or name in plan.motions) and not with_model:
            part = "load" if name in plan.loads else "drive"
            raise InputError(
                f"'{path}': {part} '{name}' is a function in Python, which the file does not hold. Give the model of "
                "the run again: porthos.resume(path, model=...)."
            )
        if name in plan.inputs and name not in inputs:
            raise InputError(
                f"'{path}': port '{name}' had a {kind} in Python, which the file does not hold. Give the same one "
                f"again: porthos.resume(path, inputs={{'{name}': ...}})."
            )
    kept = {name: value for name, value in plan.inputs.items() if not isinstance(value, Python)}
    return kept | inputs


def _sourced(system: MechanicalSystem, plan: Plan) -> MechanicalSystem:
    """The system of a file with the loads and drives of its run."""
    system.drives = tuple(
        replace(drive, motion=Motion(plan.motions[drive.name], drive.name)) for drive in system.drives
    )
    system.terminals = tuple(
        replace(terminal, source=Source(plan.loads[terminal.name])) if terminal.name in plan.loads else terminal
        for terminal in system.terminals
    )
    return system


def _same(path: Path, model: Model | Descriptor, found: Unfinished, hold: tuple[str, ...]) -> MechanicalSystem:
    """The system of a model, if it is that of the run."""
    system = model.assemble(hold=hold) if isinstance(model, Model) else model
    if not isinstance(system, MechanicalSystem):
        raise ResultError(f"'{path}': expected the mechanism of the run that is to be resumed, found {model!r}.")
    for name, values in system_tables(system).items():
        if np.shape(values) != found.tables[name].shape or not np.array_equal(values, found.tables[name]):
            raise ResultError(
                f"'{path}': expected the model of the run that is to be resumed, found one with another '{name}'. "
                "Give the same model, or run the new one to a file of its own."
            )
    return system
