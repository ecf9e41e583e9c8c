"""Runs step by step: schemes over states, and compiled ones whose steps change their size or are watched for events."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import PorthosError
from porthos.integrate.adaptive_march import march_adaptively, with_rate
from porthos.integrate.composition import Composition
from porthos.integrate.inputs import Inputs
from porthos.integrate.interrupt import interruptible
from porthos.integrate.livens import Livens
from porthos.integrate.livens_march import march_lagrangian
from porthos.integrate.newton import LARGEST_DENSE
from porthos.integrate.progress import progress_bar
from porthos.integrate.reduced_steps import ReducedRecorder, ReducedSteps
from porthos.integrate.reversible_march import march_reversibly, require_reversible
from porthos.integrate.scheme import Contract, Scheme
from porthos.integrate.signals import Signals
from porthos.integrate.state_march import Recorder, States, Walk, as_march, march_states
from porthos.integrate.state_scheme import OwnSteps, StateScheme
from porthos.notation import Array
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


def stepwise(
    system: Descriptor,
    scheme: Contract,
    grid: Grid,
    inputs: Mapping[str, Any] | None,
    progress: bool | None,
    start: ArrayLike | None,
    events: Mapping[str, Any] | None,
) -> Trajectory:
    """A run of a mechanism with a compiled scheme, one step at a time: steps of any size, and events."""
    assert isinstance(system, MechanicalSystem) and isinstance(scheme, Scheme)  # it steps nothing else
    if isinstance(grid.adaptive, Adaptive) and scheme.velocity_order < scheme.order and system.m:
        raise PorthosError(
            f"simulate: {scheme!r} leaves velocities off the constraints by an error that alternates, and steps that "
            "change excite it: no estimate is right. Use ph.Composition(ph.MidpointGGL(), ...), or a fixed step."
        )
    steps = ReducedSteps(scheme, system, reacts=bool(events))
    x0, signals = _begin(system, grid, inputs, start)
    _require_adaptable(system, steps, x0, signals, grid)
    recorder = ReducedRecorder(system, steps)
    states = _walked(system, steps, grid, signals, x0, events, progress, recorder)
    return Trajectory(system, recorder.march(states), grid.named(scheme), states.events)


def livens_of(system: Descriptor, scheme: Contract) -> Livens | None:
    """The `Livens` that steps a system, which is no mechanism, alone or as the base of a composition."""
    base = scheme.base if isinstance(scheme, Composition) else scheme
    return base if isinstance(base, Livens) and not isinstance(system, MechanicalSystem) else None


def over_states(
    system: Descriptor,
    scheme: Contract,
    grid: Grid,
    inputs: Mapping[str, Any] | None,
    progress: bool | None,
    start: ArrayLike | None,
    events: Mapping[str, Any] | None,
) -> Trajectory | StateTrajectory:
    """A run of any descriptor system with a method that steps its states, or of a Lagrangian with `Livens`."""
    if isinstance(system, MechanicalSystem):
        refuse_friction(system)
    livens = livens_of(system, scheme)
    if livens is not None:
        return _lagrangian(system, scheme, livens, grid, inputs, progress, start, events)
    assert isinstance(scheme, StateScheme)
    if isinstance(scheme, OwnSteps) and not isinstance(grid.adaptive, Adaptive):
        raise PorthosError(f"simulate: {scheme!r} chooses its steps itself: give step=ph.Adaptive(rtol=..., atol=...).")
    if not scheme.free_steps:
        _require_fixed(scheme, grid, events)
    x0, signals = _begin(system, grid, inputs, start)
    _require_adaptable(system, scheme, x0, signals, grid)
    _look_at(system, scheme, x0, signals, grid.h)
    if not isinstance(system, MechanicalSystem):
        states = _walked(system, scheme, grid, signals, x0, events, progress)
        return StateTrajectory(system, states, scheme=grid.named(scheme))
    own = wound(system, system.moving.law.about)  # the run counts turns in it
    states = _walked(own, scheme, grid, signals, x0, events, progress)
    return Trajectory(system, as_march(system, states), grid.named(scheme), states.events)


def _lagrangian(
    system: Descriptor,
    scheme: Contract,
    livens: Livens,
    grid: Grid,
    inputs: Mapping[str, Any] | None,
    progress: bool | None,
    start: ArrayLike | None,
    events: Mapping[str, Any] | None,
) -> LagrangianTrajectory:
    """A run of a Lagrangian with `Livens`."""
    assert isinstance(system, LagrangianSystem)
    _require_fixed(scheme, grid, events)
    fractions = scheme.fractions if isinstance(scheme, Composition) else (1.0,)
    x0, signals = _begin(system, grid, inputs, start)
    _look_at(system, scheme, x0, signals, grid.h)
    with interruptible() as interrupted, progress_bar(system.name, grid.steps, grid.h, progress) as report:
        states = march_lagrangian(
            system, livens, grid.h, grid.steps, grid.every, signals, x0, report, interrupted, fractions
        )
    return LagrangianTrajectory(system, states, scheme=repr(scheme))


def _begin(
    system: Descriptor, grid: Grid, inputs: Mapping[str, Any] | None, start: ArrayLike | None
) -> tuple[Array, Signals]:
    """The state at t = 0, and the inputs."""
    x0 = system.initial_state() if start is None else system.as_state(start, "start: ")
    signals = Signals(system, inputs, grid.steps if grid.adaptive is None else 0)
    if grid.adaptive is None:
        signals.require_samples(grid.h)
        look_for_kinks(signals, grid)
    return x0, signals


def look_for_kinks(signals: Inputs | Signals, grid: Grid) -> None:
    """Warn of inputs that jump or bend within a step of fixed size, where schemes lose their order."""
    for name, times in signals.kinks.items():
        found = kink(name, times, grid.h, grid.end)
        if found:
            log.warning("%s", found)


def _walked(
    system: Descriptor,
    scheme: StateScheme,
    grid: Grid,
    signals: Signals,
    x0: Array,
    events: Mapping[str, Any] | None,
    progress: bool | None,
    recorder: Recorder | None = None,
) -> States:
    """The march that the steps ask for."""
    h, steps = grid.h, grid.steps
    with interruptible() as interrupted, progress_bar(system.name, steps, h, progress) as report:
        walk = Walk(
            system,
            scheme,
            signals,
            x0,
            grid.every == 1 and grid.times is None and not isinstance(scheme, OwnSteps),
            events,
            lambda t: report(round(t / h), walk.recorder.defect),
            interrupted,
            recorder,
        )
        if grid.adaptive is None:
            return march_states(walk, h, steps, grid.every)
        if isinstance(grid.adaptive, Reversible):
            return march_reversibly(walk, grid.adaptive, grid.end)
        if isinstance(scheme, OwnSteps):
            return scheme.march(walk, grid.adaptive, grid.end, grid.times)
        return march_adaptively(walk, grid.adaptive, grid.end, grid.times)


def _require_fixed(scheme: Contract, grid: Grid, events: Mapping[str, Any] | None) -> None:
    """Refuse adaptive steps and events where a scheme has steps of one size."""
    what = "adaptive steps" if grid.adaptive is not None else "events" if events else None
    if what is not None:
        raise PorthosError(
            f"simulate: {scheme!r} has no {what}: all its steps have one size. Use a one-step scheme such as "
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
