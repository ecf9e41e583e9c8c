"""Runs step by step: schemes over states, and compiled ones whose steps change their size or are watched for events."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import PorthosError
from porthos.integrate.adaptive_march import march_adaptively, with_rate
from porthos.integrate.checkpoint import Checkpoint, ask_controller
from porthos.integrate.composition import Composition
from porthos.integrate.events import Occurrence
from porthos.integrate.inputs import Inputs
from porthos.integrate.interrupt import interruptible
from porthos.integrate.livens import Livens
from porthos.integrate.livens_march import march_lagrangian
from porthos.integrate.march import March, Store
from porthos.integrate.newton import LARGEST_DENSE
from porthos.integrate.progress import progress_bar
from porthos.integrate.recording import Recorder, States
from porthos.integrate.reduced_steps import ReducedRecorder, ReducedSteps
from porthos.integrate.reversible_march import march_reversibly, require_reversible
from porthos.integrate.runge_kutta import Gauss, RadauIIA
from porthos.integrate.scheme import Contract, Scheme
from porthos.integrate.signals import Signals
from porthos.integrate.state_march import march_states
from porthos.integrate.state_scheme import OwnSteps, StateScheme
from porthos.integrate.walk import Walk
from porthos.notation import Array
from porthos.results.between import Collocation
from porthos.results.lagrangian import LagrangianTrajectory
from porthos.results.states import StateTrajectory
from porthos.results.trajectory import Trajectory
from porthos.steps import Adaptive, Reversible, check_steps, count_steps, kink
from porthos.system.descriptor import Descriptor
from porthos.system.drives import refuse_friction
from porthos.system.elements import wound
from porthos.system.lagrangian_system import LagrangianSystem
from porthos.system.mechanical import MechanicalSystem

log = logging.getLogger(__name__)
MISSED = 1e-6  # relative gap of an algebraic equation that is worth a warning
CUBIC = 2  # stages up to which cubic interpolation is as good as the polynomial of a collocation method
SHOWN = 1000  # parts in which a bar shows the progress of adaptive steps


@dataclass(frozen=True)
class Grid:
    """The steps of a run: `steps` of size h, each `every`-th of which is kept; or adaptive ones, which keep `times`."""

    end: float
    h: float
    steps: int
    every: int
    adaptive: Adaptive | Reversible | None = None
    times: tuple[float, ...] | None = None

    @classmethod
    def of(cls, step: float | Adaptive | Reversible, end: float, every: int, times: ArrayLike | None) -> Grid:
        """The steps, or an error that says what does not fit together."""
        wanted = check_steps(step, end, every, times)
        if isinstance(step, Adaptive | Reversible):
            return cls(float(end), end / SHOWN, SHOWN, 1, step, wanted)
        return cls(float(end), float(step), count_steps(step, end, every), int(every))

    def named(self, scheme: Contract) -> str:
        """The name of a scheme with these steps."""
        return repr(scheme) if self.adaptive is None else f"{scheme!r}, {self.adaptive!r}"


@dataclass(frozen=True)
class Journey:
    """A run step by step that is to be made, from its start or from a checkpoint; `keep` opens a store for it."""

    system: Descriptor
    scheme: Contract
    grid: Grid
    inputs: Mapping[str, Any] | None = None
    progress: bool | None = None
    start: ArrayLike | None = None
    events: Mapping[str, Any] | None = None
    keep: Callable[[Signals], Store] | None = None
    checkpoint: Checkpoint | None = None
    happened: tuple[Occurrence, ...] = ()  # until the checkpoint

    @property
    def named(self) -> str:
        """What results call the scheme."""
        return self.grid.named(self.scheme)

    def made(self) -> Trajectory | StateTrajectory:
        """The run."""
        livens = livens_of(self.system, self.scheme)
        if livens is not None:
            return _lagrangian(self, livens)
        return over_states(self) if isinstance(self.scheme, StateScheme) else stepwise(self)


def steps_alone(system: Descriptor, scheme: Contract, grid: Grid, events: Mapping[str, Any] | None) -> bool:
    """Whether a run is made step by step, and not in blocks of compiled ones."""
    over = isinstance(scheme, StateScheme) or livens_of(system, scheme) is not None
    return over or grid.adaptive is not None or bool(events)


def stepwise(journey: Journey) -> Trajectory | StateTrajectory:
    """A run of a mechanism with a compiled scheme, one step at a time: steps of any size, and events."""
    system, scheme, grid = journey.system, journey.scheme, journey.grid
    assert isinstance(system, MechanicalSystem) and isinstance(scheme, Scheme)  # it steps nothing else
    if isinstance(grid.adaptive, Adaptive) and scheme.velocity_order < scheme.order and system.m:
        raise PorthosError(
            f"simulate: {scheme!r} leaves velocities off the constraints by an error that alternates, and steps that "
            "change excite it: no estimate is right. Use ph.Composition(ph.MidpointGGL(), ...), or a fixed step."
        )
    steps = ReducedSteps(scheme, system, reacts=bool(journey.events))
    x0, signals = _begin(journey)
    _require_adaptable(system, steps, x0, signals, grid)
    return _walked(journey, steps, signals, x0, ReducedRecorder(system, steps))


def livens_of(system: Descriptor, scheme: Contract) -> Livens | None:
    """The `Livens` that steps a system, which is no mechanism, alone or as the base of a composition."""
    base = scheme.base if isinstance(scheme, Composition) else scheme
    return base if isinstance(base, Livens) and not isinstance(system, MechanicalSystem) else None


def over_states(journey: Journey) -> Trajectory | StateTrajectory:
    """A run of any descriptor system with a method that steps its states."""
    system, scheme, grid = journey.system, journey.scheme, journey.grid
    if isinstance(system, MechanicalSystem):
        refuse_friction(system)
    assert isinstance(scheme, StateScheme)
    if isinstance(scheme, OwnSteps) and not isinstance(grid.adaptive, Adaptive):
        raise PorthosError(f"simulate: {scheme!r} chooses its steps itself: give step=ph.Adaptive(rtol=..., atol=...).")
    if not scheme.free_steps:
        _require_fixed(scheme, grid)
    x0, signals = _begin(journey)
    _require_adaptable(system, scheme, x0, signals, grid)
    if journey.checkpoint is None:
        _look_at(system, scheme, x0, signals, grid.h)
    return _walked(journey, scheme, signals, x0)


def _lagrangian(journey: Journey, livens: Livens) -> LagrangianTrajectory:
    """A run of a Lagrangian with `Livens`."""
    system, scheme, grid = journey.system, journey.scheme, journey.grid
    assert isinstance(system, LagrangianSystem)
    _require_fixed(scheme, grid)
    fractions = scheme.fractions if isinstance(scheme, Composition) else (1.0,)
    x0, signals = _begin(journey)
    _look_at(system, scheme, x0, signals, grid.h)
    with interruptible() as interrupted, progress_bar(system.name, grid.steps, grid.h, journey.progress) as report:
        states = march_lagrangian(
            system,
            livens,
            grid.h,
            grid.steps,
            grid.every,
            signals,
            x0,
            report,
            interrupted,
            fractions,
            journey.events,
        )
    return LagrangianTrajectory(system, states, scheme=repr(scheme))


def _begin(journey: Journey) -> tuple[Array, Signals]:
    """The state at t = 0, and the inputs."""
    system, grid, start = journey.system, journey.grid, journey.start
    x0 = system.initial_state() if start is None else system.as_state(start, "start: ")
    signals = Signals(system, journey.inputs, grid.steps if grid.adaptive is None else 0)
    if grid.adaptive is None:
        signals.require_samples(grid.h)
        if journey.checkpoint is None:
            look_for_kinks(signals, grid)
    return x0, signals


def look_for_kinks(signals: Inputs | Signals, grid: Grid) -> None:
    """Warn of inputs that jump or bend within a step of fixed size, where schemes lose their order."""
    for name, times in signals.kinks.items():
        found = kink(name, times, grid.h, grid.end)
        if found:
            log.warning("%s", found)


def _walked(
    journey: Journey, scheme: StateScheme, signals: Signals, x0: Array, recorder: Recorder | None = None
) -> Trajectory | StateTrajectory:  # fmt: skip
    """The run that the steps ask for; of a mechanism that goes to a store, the store has all of it."""
    system, grid, checkpoint = journey.system, journey.grid, journey.checkpoint
    if checkpoint is not None:
        for terminal, controller in signals.controllers():
            ask_controller(terminal, controller, checkpoint.questions)
    keep = None if journey.keep is None else partial(journey.keep, signals)
    dense = grid.every == 1 and grid.times is None and not isinstance(scheme, OwnSteps)
    own = system
    if isinstance(system, MechanicalSystem) and recorder is None:
        own = wound(system, system.moving.law.about)  # the run counts turns in it
    with interruptible() as interrupted, progress_bar(system.name, grid.steps, grid.h, journey.progress) as report:
        walk = Walk(
            own, scheme, signals, x0, dense, journey.events,
            lambda t: report(round(t / grid.h), walk.recorder.defect), interrupted, recorder, keep, checkpoint,
            journey.happened,
        )  # fmt: skip
        states = _marched(walk, grid)
    if not isinstance(system, MechanicalSystem):
        return StateTrajectory(system, states, scheme=journey.named)
    raw = walk.recorder.raw(states) if walk.store is None else walk.store.raw()
    assert isinstance(raw, March)
    run = Trajectory(system, raw, journey.named, states.events)
    if isinstance(scheme, Gauss | RadauIIA) and scheme.stages > CUBIC and len(states.increments) == len(states.t) - 1:
        positions, velocities = states.increments[..., : system.n], states.increments[..., system.n : 2 * system.n]
        run.collocation = Collocation(states.tableau, positions, velocities, system.slots)
    return run


def _marched(walk: Walk, grid: Grid) -> States:
    """The march that the steps ask for."""
    if grid.adaptive is None:
        return march_states(walk, grid.h, grid.steps, grid.every)
    if isinstance(grid.adaptive, Reversible):
        return march_reversibly(walk, grid.adaptive, grid.end)
    if isinstance(walk.scheme, OwnSteps):
        return walk.scheme.march(walk, grid.adaptive, grid.end, grid.times)
    return march_adaptively(walk, grid.adaptive, grid.end, grid.times)


def _require_fixed(scheme: Contract, grid: Grid) -> None:
    """Refuse adaptive steps where a scheme has steps of one size."""
    if grid.adaptive is not None:
        raise PorthosError(
            f"simulate: {scheme!r} has no adaptive steps: all its steps have one size. Use a one-step scheme such as "
            "ph.RadauIIA(3), ph.Gauss(3) or, on mechanisms, ph.MidpointGGL()."
        )


def _require_adaptable(system: Descriptor, scheme: StateScheme, x0: Array, signals: Signals, grid: Grid) -> None:
    """Refuse inputs and methods that steps of other than a fixed size do not suit."""
    if grid.adaptive is None:
        return
    if signals.feedback:
        raise PorthosError(
            "simulate: a controller u(t, y) holds its answer during a step, so it needs steps of a fixed size. Or make "
            "it a system of its own and connect it, ph.interconnect(...)."
        )
    if not (scheme.renews_algebraic or with_rate(system, x0).all()):
        raise PorthosError(
            f"simulate: {scheme!r} does not damp errors of algebraic states, such as multipliers of '{system.name}', "
            "and steps that change excite them: no estimate is right. Use ph.RadauIIA(3), or on mechanisms "
            "ph.MidpointGGL(), ph.LobattoPair(3), ph.Murua(2) or ph.HEDOP5(); or a fixed step."
        )
    if isinstance(grid.adaptive, Reversible):
        require_reversible(system, scheme, x0)


def _look_at(system: Descriptor, scheme: Contract, x: Array, signals: Signals, h: float) -> None:
    """Warn if a start misses the algebraic equations."""
    if system.dimension > LARGEST_DENSE or signals.feedback:  # a controller is asked once for each step
        return
    u = signals.at_node(0.0, signals.held(0, h, x))
    gap = np.abs(system.algebraic_gap(x, u))
    k = int(np.argmax(gap))
    if gap[k] > MISSED * max(1.0, float(np.abs(system.flow(x, u)).max())):
        carried = f"{type(scheme).__name__} carries it on: start on the equation, or take a stiffly accurate method."
        log.warning(
            "the start of '%s' misses an algebraic equation by %.3g, in row %d (%s). %s",
            system.name,
            gap[k],
            k,
            system.block_of(k),
            "The first step will jump onto it." if scheme.stiffly_accurate else carried,
        )
