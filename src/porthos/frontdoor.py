"""The front door: simulate(model, scheme, step, end) -> Trajectory."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from porthos.errors import PorthosError, SimulationError, Status
from porthos.integrate.catalogue import scheme_named
from porthos.integrate.inputs import Inputs
from porthos.integrate.interrupt import interruptible
from porthos.integrate.march import Memory, Store, march
from porthos.integrate.progress import progress_bar
from porthos.integrate.scheme import Scheme
from porthos.model.model import Model
from porthos.model.modelfile import ModelFile
from porthos.model.simulation import count_steps
from porthos.results.trajectory import Trajectory
from porthos.results.writing import Writer
from porthos.system.mechanical import MechanicalSystem

log = logging.getLogger(__name__)


def simulate(
    model: Model | MechanicalSystem,
    scheme: Scheme,
    step: float,
    end: float,
    inputs: Mapping[str, Any] | None = None,
    every: int = 1,
    initial: Literal["project", "refuse"] = "project",
    on_failure: Literal["raise", "return"] = "raise",
    progress: bool | None = None,
    out: str | Path | None = None,
) -> Trajectory:
    """Run a model from t = 0 to `end` with a fixed `step` and return its trajectory.

    `inputs` maps port names to a constant, an array with a row for each step, a function u(t) or a controller
    u(t, y); `every` keeps each k-th state; a failed run raises SimulationError with the part computed attached,
    or returns it if `on_failure` is "return". `progress` shows a bar; by default on a terminal only.

    `out` names a NetCDF4 file to which the states go while the run goes on, in place of an older one. They stay there
    and the trajectory reads what is asked of it, so a run need not fit into memory. A run that fails or is interrupted
    (Ctrl-C) leaves a whole file with all that was computed.
    """
    if not isinstance(scheme, Scheme):
        hint = f" Did you mean {scheme.__name__}()?" if isinstance(scheme, type) else ""
        raise PorthosError(f"simulate: expected a scheme such as ph.Midpoint(), found {scheme!r}.{hint}")
    steps = count_steps(step, end, every)
    system = model.assemble(initial) if isinstance(model, Model) else model
    for adjustment in system.adjustments:
        log.info("initial values of %s were moved onto the constraints: %s", system.name, adjustment)
    signals = Inputs(system, inputs, steps)
    every = int(every)
    store: Store = Writer(out, system, repr(scheme), steps // every + 1, live=True) if out is not None else Memory()
    try:
        with interruptible() as interrupted, progress_bar(system.name, steps, step, progress) as report:
            raw = march(system, scheme, float(step), steps, every, signals, report, interrupted, store)
    finally:
        if isinstance(store, Writer):
            store.discard()
    run = Trajectory(system, raw, scheme=repr(scheme))
    if raw.status is Status.OK:
        return run
    where = f"'{system.name}' stopped at t = {raw.t[-1]:.6g} of {end:.6g}: {raw.message}"
    if raw.status is Status.INTERRUPTED:
        raise KeyboardInterrupt(f"{where} See '{out}'." if out is not None else where)
    if on_failure == "raise":
        text = f"{where} The part computed is in the attribute `trajectory` of this error."
        raise SimulationError(text, raw.status, run)
    return run


def simulate_file(
    path: str | Path,
    changes: Mapping[str, Any] | None = None,
    on_failure: Literal["raise", "return"] = "raise",
    progress: bool | None = None,
    out: str | Path | None = None,
) -> Trajectory:
    """Run the model of a file as its section `simulation` says; `changes` replace values of the file.

    For example simulate_file("crank.yaml", {"bodies.crank.mass": 0.2, "simulation.step": 0.005}).
    """
    file = ModelFile.read(path, changes)
    plan = file.plan()
    with file.blaming("scheme"):
        scheme = scheme_named(plan.scheme.kind, plan.scheme.options)
    return simulate(
        file.model,
        scheme,
        plan.step,
        plan.end,
        inputs=plan.inputs,
        every=plan.every,
        on_failure=on_failure,
        progress=progress,
        out=out,
    )
