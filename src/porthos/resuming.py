"""resume("run.nc"): a run that was interrupted goes on from its file, bit by bit as if nothing had happened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import NoneType
from typing import Any, Literal

import numpy as np

from porthos.errors import InputError, PorthosError, ResultError
from porthos.frontdoor import check_on_failure, judged, marched
from porthos.integrate.catalogue import spelled
from porthos.integrate.checkpoint import ask_again
from porthos.integrate.inputs import Inputs, known_ports
from porthos.integrate.scheme import Scheme
from porthos.model.drives import Motion
from porthos.model.model import Model
from porthos.model.plan import Plan, Python
from porthos.notation import file_path
from porthos.results.loading import Unfinished, unfinished
from porthos.results.storage import system_tables
from porthos.results.trajectory import Trajectory
from porthos.results.writing import Writer
from porthos.system.acting import Source
from porthos.system.mechanical import MechanicalSystem


def resume(
    path: str | Path,
    model: Model | MechanicalSystem | None = None,
    inputs: Mapping[str, Any] | None = None,
    on_failure: Literal["raise", "return"] = "raise",
    progress: bool | None = None,
) -> Trajectory:
    """Go on with a run that `simulate(..., out=path)` began and that was interrupted, killed, or met a full disk.

    All that was computed after the last states in the file is computed again; the finished file has the bits of a run
    without an interruption. It holds all that is needed, except functions in Python: give the `model` again if a load
    or drive is one, and `inputs` for ports that had one. A controller with a memory keeps it, as numbers, in its
    attribute `state`. Functions that are not those of the run are refused.
    """
    place = file_path(path)
    check_on_failure(on_failure)
    if not isinstance(model, Model | MechanicalSystem | NoneType):
        raise PorthosError(f"resume: model: expected the model of the run, or none, found {model!r}.")
    found = unfinished(place)
    plan, scheme = Plan.read(found.plan), _scheme(place, found.scheme)
    given = _given(place, plan, known_ports(found.system.name, found.system.terminals, inputs), model is not None)
    system = _sourced(found.system, plan) if model is None else _same(place, model, found, plan.hold)
    signals = Inputs(system, given, plan.steps)
    ask_again(signals, found.checkpoint, plan.step * np.array(scheme.fractions))
    rows, nodes = found.checkpoint.done // plan.every + 1, plan.steps // plan.every + 1
    writer = Writer.reopened(place, system, found.scheme, nodes, found.plan, rows)
    steps = (plan.step, plan.steps, plan.every)
    run = marched(system, scheme, *steps, signals, progress, writer, found.checkpoint, found.origin)
    return judged(run, plan.step * plan.steps, on_failure, place)


def _scheme(path: Path, text: str) -> Scheme:
    """The scheme of the run."""
    try:
        scheme = spelled(text)
    except PorthosError as error:
        raise ResultError(f"'{path}': expected a scheme of Porthos, found '{text}'.") from error
    assert isinstance(scheme, Scheme)  # others do not write to files
    return scheme


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


def _same(path: Path, model: Model | MechanicalSystem, found: Unfinished, hold: tuple[str, ...]) -> MechanicalSystem:
    """The system of a model, if it is that of the run."""
    system = model.assemble(hold=hold) if isinstance(model, Model) else model
    for name, values in system_tables(system).items():
        if np.shape(values) != found.tables[name].shape or not np.array_equal(values, found.tables[name]):
            raise ResultError(
                f"'{path}': expected the model of the run that is to be resumed, found one with another '{name}'. "
                "Give the same model, or run the new one to a file of its own."
            )
    return system
