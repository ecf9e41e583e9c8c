"""The front door: simulate(model or system, scheme, step, end) -> Trajectory or StateTrajectory."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from math import tau
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

from numpy.typing import ArrayLike

from porthos.errors import ModelError, PorthosError, SimulationError, Status
from porthos.integrate.catalogue import in_python, scheme_named
from porthos.integrate.checkpoint import Checkpoint
from porthos.integrate.events import Event
from porthos.integrate.inputs import CONTROLLER, Inputs
from porthos.integrate.interrupt import interruptible
from porthos.integrate.march import Memory, Store, march
from porthos.integrate.progress import progress_bar
from porthos.integrate.scheme import Contract, Scheme
from porthos.integrate.sensing import Sensed
from porthos.integrate.signals import Signals
from porthos.integrate.state_scheme import OwnSteps
from porthos.kernels import ahead
from porthos.model.bodies import Body
from porthos.model.crossings import Crossing
from porthos.model.model import Model
from porthos.model.plan import Plan, Python, writable
from porthos.notation import Array, file_path, names
from porthos.quantities import named
from porthos.results.file_layout import Layout, MechanismLayout, StatesLayout
from porthos.results.states import StateTrajectory
from porthos.results.trajectory import Trajectory
from porthos.results.writing import Writer
from porthos.steps import Adaptive, Reversible
from porthos.system.descriptor import Descriptor
from porthos.system.mechanical import MechanicalSystem
from porthos.system.origin import Origin
from porthos.walking import Grid, Journey, livens_of, look_for_kinks, steps_alone

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Request:
    """What a run is made of: a model or system, and what is known of how it runs."""

    model: Model | Descriptor
    step: Any = None
    end: float | None = None
    inputs: Mapping[str, Any] | None = None
    start: ArrayLike | None = None


LISTENER: ContextVar[Callable[[Request], Any] | None] = ContextVar("listener", default=None)  # instead of running
DIRECTIONS = {"rising": 1, "falling": -1, "either": 0}


@overload
def simulate(
    model: Model | MechanicalSystem,
    scheme: Contract,
    step: float | Adaptive | Reversible,
    end: float,
    *more: Any,
    **options: Any,
) -> Trajectory:
    """Mechanisms give trajectories of bodies, joints and ports."""


@overload
def simulate(
    model: Descriptor, scheme: Contract, step: float | Adaptive | Reversible, end: float, *more: Any, **options: Any
) -> StateTrajectory:
    """Other systems give trajectories of states and ports."""


def simulate(
    model: Model | Descriptor,
    scheme: Contract,
    step: float | Adaptive | Reversible,
    end: float,
    inputs: Mapping[str, Any] | None = None,
    every: int = 1,
    initial: Literal["project", "refuse"] = "project",
    on_failure: Literal["raise", "return"] = "raise",
    progress: bool | None = None,
    out: str | Path | None = None,
    start: ArrayLike | None = None,
    times: ArrayLike | None = None,
    events: Mapping[str, Any] | None = None,
    hold: Iterable[Body | str] | None = None,
    outputs: Iterable[str] = (),
) -> Trajectory | StateTrajectory:
    """Run a model from t = 0 to `end` with a fixed `step`, or an `Adaptive` one, and return its trajectory.

    `inputs` maps port names to a constant, an array with a row for each step, a function u(t) or a controller
    u(t, y); `every` keeps each k-th state; a failed run raises SimulationError with the part computed attached,
    or returns it if `on_failure` is "return". `progress` shows a bar; by default on a terminal only. Open joints are
    closed without moving the bodies to `hold`.

    Runge-Kutta methods (`Gauss`, `RadauIIA`, `LobattoIIIC`) and `BDF` run on every descriptor system and
    `DiscreteGradient` on every pH-DAE, from `start` or from the state that the system begins with; the result of one
    that is no mechanism is a StateTrajectory. `LobattoPair`, `Murua`, `GeneralizedAlpha`, `HHT` and `HEDOP5` do the
    same on mechanisms, `MDOP5` and `DOP853` on mechanisms and Lagrangians. `IDA` and `SciPy` are of libraries.

    All schemes but `BDF`, `GeneralizedAlpha`, `HHT` and, on Lagrangians, `Livens` take step=Adaptive(rtol=...), which
    keeps the ends of all its steps, or only `times` and the end, on which it lands exactly; symmetric ones
    step=Reversible(...); and `events`, functions of (t, x) by name or `Event`s, whose zeros become `run.events`, or
    `Crossing`s of quantities of a mechanism. `outputs` names quantities of a mechanism that plots, tables and reports
    of the run show where nothing else is asked for, such as ("bob.position", "pin.angle").

    `out` names a NetCDF4 file to which the states go while the run goes on, in place of an older one. They stay there
    and the trajectory reads what is asked of it, so a run need not fit into memory. A run that fails or is interrupted
    (Ctrl-C) leaves a whole file with all that was computed, from which `resume` goes on. The functions of a system that
    is no mechanism are in no file: its trajectory stays in memory too. `Livens` writes Lagrangians when it ends.
    """
    listener = LISTENER.get()
    if listener is not None:
        listener(Request(model, step, end, inputs, start))
    if not isinstance(scheme, Contract):
        meant = scheme.__name__ if isinstance(scheme, type) else scheme
        hint = f" {in_python(meant)}" if isinstance(meant, str) else ""
        raise PorthosError(f"simulate: expected a scheme such as ph.Midpoint(), found {scheme!r}.{hint}")
    if not isinstance(model, Model | Descriptor):
        raise PorthosError(f"simulate: expected a model or a system, such as ph.Model('crank'), found {model!r}.")
    check_on_failure(on_failure)
    if out is not None:
        out = file_path(out, "simulate: out")
    grid = Grid.of(step, end, every, times)
    if isinstance(scheme, Scheme) and isinstance(model, Model | MechanicalSystem):
        ahead.start(scheme.rule.part)
    system = _assembled(model, initial, hold)
    scheme.require(system)
    if isinstance(system, MechanicalSystem):
        for adjustment in system.adjustments:
            log.info("initial values of %s were moved onto the constraints: %s", system.name, adjustment)
    shown = _outputs(system, outputs, start)
    origin = _origin(system, scheme, step, end, every, inputs, times, events, shown) if start is None else None
    watched = as_functions(system, events)
    if not steps_alone(system, scheme, grid, watched):
        return judged(_reduced(system, scheme, grid, inputs, progress, out, start, origin), end, on_failure, out)
    keep = None if out is None or livens_of(system, scheme) else Paper(out, system, scheme, grid, events, origin)
    run = walked(Journey(system, scheme, grid, inputs, progress, start, watched, keep), origin)
    if out is not None and keep is None:
        run.save(out)
    return judged(run, end, on_failure, out, resumable=keep is not None and keep.resumable)


@dataclass
class Paper:
    """The file of a run step by step, which is opened as soon as the inputs of the run are known."""

    out: str | Path
    system: Descriptor
    scheme: Contract
    grid: Grid
    events: Mapping[str, Any] | None
    origin: Origin | None
    writer: Writer | None = None

    @property
    def resumable(self) -> bool:
        """Whether the run can go on from its file: what a library remembers is in none."""
        return not isinstance(self.scheme, OwnSteps)

    def __call__(self, signals: Signals) -> Store:
        """Open it."""
        grid, layout = self.grid, layout_of(self.system, self.grid.named(self.scheme), self.origin)
        nodes = grid.steps // grid.every + 1
        plan = plan_of(signals, self.scheme, grid, self.events).text
        self.writer = Writer(self.out, layout, nodes, plan, self.resumable)
        return self.writer


def _outputs(system: Descriptor, outputs: Iterable[str], start: ArrayLike | None) -> tuple[str, ...]:
    """The outputs of a run, if its system has them."""
    found = names(outputs, "simulate: outputs")
    if not found:
        return ()
    if start is not None or not isinstance(system, MechanicalSystem):
        raise PorthosError(
            "simulate: outputs: these are for runs of models without `start`; name them in run.plot(...)."
        )
    try:
        for name in found:
            named(name, system.quantities)
    except ModelError as error:
        raise ModelError(f"simulate: outputs: {error}") from error
    return found


def as_functions(system: Descriptor, events: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Events as functions of (t, x): those that files hold are made for the system."""
    if events is None:
        return None
    if not isinstance(events, Mapping):
        raise PorthosError(f"simulate: events: expected functions of (t, x) by names, found {events!r}.")
    return {name: _event(system, name, one) if isinstance(one, Crossing) else one for name, one in events.items()}


def _event(system: Descriptor, name: str, crossing: Crossing) -> Event:
    """The event of a crossing."""
    where, value = f"simulate: events: '{name}'", crossing.value
    if not isinstance(system, MechanicalSystem):
        raise PorthosError(f"{where}: ph.Crossing is for mechanisms. Give '{system.name}' a function of (t, x).")
    try:
        meant = crossing.meant(system.quantities)
    except ModelError as error:
        raise ModelError(f"{where}: {error}") from error

    def distance(t: float, x: Array) -> float:
        return Sensed.of(system, x).value(meant, around=value) - value

    period = tau if meant.attribute == "angle" else None
    return Event(distance, DIRECTIONS[crossing.direction], crossing.terminal, period)


def layout_of(system: Descriptor, scheme: str, origin: Origin | None) -> Layout:
    """How the run of a system lies in a file."""
    if isinstance(system, MechanicalSystem):
        return MechanismLayout(system, scheme, origin)
    return StatesLayout(system, scheme)


def walked(journey: Journey, origin: Origin | None) -> Trajectory | StateTrajectory:
    """A run step by step."""
    try:
        run = journey.made()
    finally:
        writer = getattr(journey.keep, "writer", None)
        if writer is not None:
            writer.discard()
    if isinstance(run, Trajectory):
        run.origin = origin
    return run


def _assembled(
    model: Model | Descriptor, initial: Literal["project", "refuse"], hold: Iterable[Body | str] | None
) -> Descriptor:
    """The system of a model; those that are assembled have their places already."""
    if isinstance(model, Model):
        return model.assemble(initial, () if hold is None else hold)
    if hold is not None:
        raise PorthosError(f"simulate: hold: expected a model to assemble, found {model!r}. Give `hold` to assemble.")
    return model


def _origin(system: Descriptor, *more: Any) -> Origin | None:
    """What files say of how a run was made, if its system comes from a model."""
    if not isinstance(system, MechanicalSystem) or system.model is None:
        return None
    return Origin.of(system.model, *more)


AnyRun = TypeVar("AnyRun", Trajectory, StateTrajectory, Trajectory | StateTrajectory)


def judged(run: AnyRun, end: float, on_failure: str, out: str | Path | None, resumable: bool = True) -> AnyRun:
    """A run that reached its end, or what `simulate` promises of one that did not."""
    if run.status.wanted:
        return run
    where = f"'{run.system.name}' stopped at t = {run.t[-1]:.6g} of {end:.6g}: {run.message}"
    if run.status is Status.INTERRUPTED:
        file = "" if out is None else f" See '{out}'."
        raise KeyboardInterrupt(f"{where}{file}{f' To go on: porthos resume {out}' if resumable and file else ''}")
    if on_failure == "raise":
        text = f"{where} The part computed is in the attribute `trajectory` of this error."
        raise SimulationError(text, run.status, run)
    return run


def check_on_failure(on_failure: Any) -> None:
    """Refuse a misspelt choice before a run, not after it."""
    if not isinstance(on_failure, str) or on_failure not in ("raise", "return"):
        raise PorthosError(f"simulate: on_failure: expected 'raise' or 'return', found {on_failure!r}.")


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
    from porthos.model.modelfile import ModelFile  # as in `system/origin.py`

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
        times=plan.times,
        events=plan.events,
        outputs=plan.outputs,
        on_failure=on_failure,
        progress=progress,
        out=out,
    )


def _reduced(
    system: Descriptor,
    scheme: Contract,
    grid: Grid,
    inputs: Mapping[str, Any] | None,
    progress: bool | None,
    out: str | Path | None,
    start: ArrayLike | None,
    origin: Origin | None,
) -> Trajectory:
    """A run of a mechanism with a scheme that steps its reduced form."""
    assert isinstance(system, MechanicalSystem) and isinstance(scheme, Scheme)  # it steps nothing else
    if start is not None:
        raise PorthosError(f"simulate: {scheme!r} starts where the bodies of the model were put; leave `start` away.")
    h, steps, every = grid.h, grid.steps, grid.every
    signals = Inputs(system, inputs, steps)
    look_for_kinks(signals, grid)
    store: Store = Memory()
    if out is not None:
        plan = plan_of(signals, scheme, grid, None).text
        store = Writer(out, layout_of(system, repr(scheme), origin), steps // every + 1, plan)
    return marched(system, scheme, h, steps, every, signals, progress, store, origin=origin)


def plan_of(signals: Inputs | Signals, scheme: Contract, grid: Grid, events: Mapping[str, Any] | None) -> Plan:
    """What has to be known beside the system to go on with a run."""
    system = signals.system
    inputs = {
        terminal.name: Python("controller") if kind == CONTROLLER and not writable(source) else source
        for terminal, kind, source in signals.signals
        if terminal.source is None
    }
    loads = {
        terminal.name: getattr(terminal.source, "parts", (terminal.source,))
        for terminal, _, _ in signals.signals
        if terminal.source is not None
    }
    drives, held = (system.drives, system.held) if isinstance(system, MechanicalSystem) else ((), ())
    motions = {drive.name: drive.motion.source for drive in drives if drive.motion is not None}
    step = grid.h if grid.adaptive is None else grid.adaptive
    return Plan(
        repr(scheme), Python("density of steps") if isinstance(step, Reversible) else step, grid.end, grid.every,
        grid.times, inputs, loads, motions, held,
        {name: one if isinstance(one, Crossing) else Python("event") for name, one in (events or {}).items()},
    )  # fmt: skip


def marched(
    system: MechanicalSystem,
    scheme: Scheme,
    h: float,
    steps: int,
    every: int,
    signals: Inputs,
    progress: bool | None,
    store: Store,
    checkpoint: Checkpoint | None = None,
    origin: Origin | None = None,
) -> Trajectory:
    """A run into a store, from its begin or from a checkpoint."""
    try:
        with interruptible() as interrupted, progress_bar(system.name, steps, h, progress) as report:
            raw = march(system, scheme, h, steps, every, signals, report, interrupted, store, checkpoint)
    finally:
        if isinstance(store, Writer):
            store.discard()
    return Trajectory(system, raw, scheme=repr(scheme), origin=origin)
