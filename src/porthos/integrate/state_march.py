"""The march of a one-step method over the states of a descriptor system, with its discrete power balance:

H(x1) - H(x0) = h sum_i b_i (y_i . u_i - d_i) + defect,   d_i = (z_i, u_i)^T W (z_i, u_i)        (000, section 5.3.2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from porthos.errors import InputError, Status, StrayedError
from porthos.integrate.events import Occurrence, Watch
from porthos.integrate.march import March, of_drives
from porthos.integrate.signals import Signals
from porthos.integrate.state_scheme import StateScheme, Step
from porthos.integrate.tableaus import Tableau
from porthos.notation import Array, IntArray
from porthos.system.dead_points import dead_point
from porthos.system.descriptor import Descriptor
from porthos.system.elements import wound
from porthos.system.mechanical import MechanicalSystem
from porthos.system.watching import FunctionError, place_in_time, watching


@dataclass(frozen=True)
class States:
    """The raw result: states at the recorded nodes, and what happened in the interval before each of them."""

    t: Array  # (K,)
    x: Array  # (K, n)
    u: Array  # (K, m) inputs at the nodes, NaN where a user's function fails
    y: Array  # (K, m) outputs at the nodes, NaN where the inputs are
    mean_x: Array  # (K, n) means of the stages of the last step, weighted by b; NaN at the start
    mean_y: Array  # (K, m) the same of the outputs
    supply: Array  # (K, m) energy that came in through each input during the interval; 0 at the start
    exchange: Array  # (K, i) energy that went into parts through each of `inner_ports` during the interval
    dissipated: Array  # (K,) energy lost during the interval; 0 at the start
    iterations: IntArray  # (K,)
    increments: Array  # (K - 1, s, n) of all steps, for dense output; empty unless every step was recorded
    tableau: Tableau
    status: Status
    message: str
    events: tuple[Occurrence, ...] = field(default=(), kw_only=True)
    angles: Array = field(default_factory=lambda: np.zeros((0, 0)), kw_only=True)  # (K, F) of force elements


@dataclass(frozen=True)
class Piece:
    """One step of a march: where it begins, its size, the inputs at its stages, and what came out."""

    t: float
    h: float
    x0: Array
    u: Array
    step: Step


def outputs_at(system: Descriptor, x: Array, u: Array, t: float) -> Array:
    """y (m,) at a node; NaN where a user's function fails, as the step that follows will say, or no input is known."""
    if u.size and np.isfinite(u).all():
        with suppress(FunctionError):
            return system.y(x, u, t)
    return np.full(u.size, np.nan)


class Recorder:
    """Collects what happens in the steps, and closes an interval at each node; `dense` keeps increments too."""

    def __init__(self, system: Descriptor, scheme: StateScheme, dense: bool) -> None:
        self.system, self.scheme, self.dense = system, scheme, dense
        self.tableau = scheme.tableau
        self.rows: list[tuple[float | Array, ...]] = []
        self.increments: list[Array] = []
        self._last: tuple[Array, Array] = (np.full(system.dimension, np.nan), np.full(system.width, np.nan))
        self.angles: list[Array] = []
        self._first: float | None = None  # energy before the first step
        self._now = (np.zeros(0), 0.0)  # state and time behind the last one
        self._gained = 0.0  # what came in and was not lost, in all steps
        self._begin()

    def _begin(self) -> None:
        self._supply, self._lost, self._iterations = np.zeros(self.system.width), 0.0, 0
        self._exchange = np.zeros(len(self.system.inner_ports))

    def step(self, piece: Piece) -> None:
        """Add a step to the interval: work and losses at its stages."""
        b, h, step = self.tableau.b, piece.h, piece.step
        y, lost, inner = self.scheme.powers(self.system, h, piece.t, piece.x0, piece.u, step)
        supply, loss = h * (b @ (y * piece.u)), h * float(b @ lost)
        self._supply += supply
        self._lost += loss
        self._gained += float(supply.sum()) - loss
        self._went(piece)
        self._exchange += h * (b @ inner)
        self._iterations += step.iterations
        self._last = (b @ step.stages, b @ y)
        if self.dense:
            self.increments.append(step.increments)

    def defect(self) -> float:
        """What the energy balance misses up to the last step."""
        return 0.0 if self._first is None else self._energy(*self._now) - self._first - self._gained

    def _went(self, piece: Piece) -> None:
        """Note where a step began and ended; angles of force elements are counted on."""
        if self._first is None:
            self._first = self._energy(piece.x0, piece.t)
        self._now = (piece.step.x, piece.t + piece.h)
        self._count_turns(piece)

    def _energy(self, x: Array, t: float) -> float:
        return self.system.H(x, t)

    def _count_turns(self, piece: Piece) -> None:
        """In the system, which is one of this run if it has angles: states know them up to whole turns."""
        if isinstance(self.system, MechanicalSystem) and self.system.element_names:
            self.system.elements.count_turns(self.system.to_kernel(piece.step.x[: self.system.n]))

    def angles_now(self) -> Array:
        """Those (F,) of force elements behind the last step."""
        if isinstance(self.system, MechanicalSystem) and self.system.element_names:
            return self.system.elements.mech.law.about.copy()
        return np.zeros(0)

    def node(self, t: float, x: Array, u: Array) -> None:
        """Record a state and close the interval before it."""
        y = outputs_at(self.system, x, u, t)
        happened = (self._supply, self._exchange, self._lost, self._iterations)
        self.rows.append((t, x, u, y, *self._last, *happened))
        self.angles.append(self.angles_now())
        self._begin()

    def states(self, status: Status, message: str, events: Sequence[Occurrence]) -> States:
        """All that was recorded."""
        names = [one.name for one in fields(States)][: len(self.rows[0])]
        arrays: dict[str, Any] = dict(zip(names, map(np.array, zip(*self.rows, strict=True)), strict=True))
        steps = np.array(self.increments).reshape(-1, self.tableau.stages, self.system.dimension)
        return States(
            **arrays, increments=steps, tableau=self.tableau, status=status, message=message, events=tuple(events),
            angles=np.array(self.angles),
        )  # fmt: skip


class Walk:
    """Steps of a scheme on a system with its inputs, what is recorded of them, and the events that they meet.

    `dense` keeps increments, `progress` is told the time after each step, and `interrupted` asked whether to stop.
    """

    def __init__(
        self,
        system: Descriptor,
        scheme: StateScheme,
        signals: Signals,
        start: Array,
        dense: bool = True,
        events: Mapping[str, Any] | None = None,
        progress: Callable[[float], None] = lambda t: None,
        interrupted: Callable[[], bool] = lambda: False,
        recorder: Recorder | None = None,
    ) -> None:
        self.system, self.scheme, self.signals, self.start = system, scheme, signals, start
        self.progress, self.interrupted = progress, interrupted
        self.recorder = Recorder(system, scheme, dense) if recorder is None else recorder
        self.watch = Watch(events, 0.0, start)

    def piece(
        self, t: float, h: float, x: Array, held: Array, before: Step | None, until: float | None = None
    ) -> Piece:
        """A step of h from x at time t; `until` is its end if inputs jump there, so that its stages do not see it."""
        self.look_at(t, x)
        latest = np.inf if until is None else np.nextafter(until, t)
        u = np.array([self.signals.at(min(t + ci * h, latest), held) for ci in self.scheme.tableau.c])
        try:
            return Piece(t, h, x, u, self.scheme.step(self.system, h, x, u, t, before))
        except FunctionError as error:
            raise error.within(t, h) from error

    def look_at(self, t: float, x: Array) -> None:
        """Refuse to go on from a state that is beyond the range of a potential."""
        if isinstance(self.system, MechanicalSystem) and self.system.element_names:
            q = self.system.to_kernel(x[: self.system.n])
            if self.system.elements.strayed(q):
                where = self.system.elements.near_its_end(q, np.zeros_like(q), 0.0)
                raise StrayedError(f"{Status.STRAYED.value} It happened at t = {t:.6g}. {where}")

    def stalled(self, piece: Piece, held: Array) -> tuple[Status, str]:
        """The status and message of a step whose equations were not solved: a function that gave no numbers, or not."""
        try:
            with watching():
                self.piece(piece.t, piece.h, piece.x0, held, None)
        except FunctionError as error:
            return Status.BAD_INPUT, str(error)
        failure, details = self.reason(piece, piece.step.failure)
        return failure, f"{failure.value} {place_in_time(piece.t, piece.h)}{details}"

    def reason(self, piece: Piece, failure: Status) -> tuple[Status, str]:
        """Why a mechanism did not come further than the begin of a step, as far as that state tells."""
        if not isinstance(self.system, MechanicalSystem):
            return failure, ""
        q, v, _ = self.system.split(piece.x0)
        arrays = self.system.to_kernel(q), self.system.to_kernel(v, rate=True)
        if failure is Status.STRAYED:
            return failure, f" {self.system.elements.near_its_end(*arrays, piece.h, self.recorder.angles_now())}"
        singular = dead_point(self.system, *arrays, piece.t, piece.h)
        return (Status.SINGULAR, f" {singular}") if singular else (failure, of_drives(self.system))

    def last(self, piece: Piece, held: Array) -> Piece | None:
        """Note the events of a step; the part of it that leads to one which ends the run, if there is one."""
        if not (self.watch.events and piece.step.converged):
            return None

        def part(s: float) -> Piece:
            return self.piece(piece.t, s * piece.h, piece.x0, held, piece.step.resized(s))

        s = self.watch.look(piece.t, piece.h, piece.step.x, lambda s: part(s).step.x)
        return None if s is None else part(s)

    def node(self, t: float, x: Array, held: Array) -> None:
        """Record a state."""
        self.recorder.node(t, x, self.signals.at_node(t, held))

    def end(self, piece: Piece, held: Array) -> tuple[Status, str]:
        """End the run with a part of a step."""
        self.recorder.step(piece)
        self.node(piece.t + piece.h, piece.step.x, held)
        event = self.watch.happened[-1]
        return Status.EVENT, f"{Status.EVENT.value} It was '{event.name}' at t = {event.t:.9g}."

    def states(self, status: Status, message: str) -> States:
        """All that was recorded."""
        return self.recorder.states(status, message, self.watch.happened)


def march_states(walk: Walk, h: float, steps: int, every: int = 1) -> States:
    """Make `steps` steps of size h and keep every `every`-th state; a failure keeps what was computed."""
    signals, x, before, held = walk.signals, walk.start.copy(), None, np.zeros(walk.system.width)
    for n in range(steps + 1):
        status, message, piece, last = Status.OK, Status.OK.value, None, None
        try:
            held = signals.held(n, h, x) if n < steps else held
            piece = walk.piece(n * h, h, x, held, before) if n < steps else None
            last = walk.last(piece, held) if piece is not None else None
        except InputError as error:
            status, message, piece = error.status, str(error), None
        if piece is not None and not piece.step.converged:
            status, message = walk.stalled(piece, held)
        elif n < steps and walk.interrupted():
            status = Status.INTERRUPTED
            message = status.value
        if n % every == 0 or status is not Status.OK:
            walk.node(n * h, x, held)
        if status is not Status.OK or piece is None:
            break
        if last is not None:
            status, message = walk.end(last, held)
            break
        walk.recorder.step(piece)
        x, before = piece.step.x, piece.step
        walk.progress((n + 1) * h)
    return walk.states(status, message)


def nodal_inputs(system: MechanicalSystem, t: Array, u: Array) -> Array:
    """(K, L+D, 6): wrenches of inputs u (K, m) at nodes, and s, s', s'' of drives there."""
    wrench = np.zeros((t.size, len(system.channel_names), 6))
    for k, (terminal, place) in enumerate(zip(system.terminals, system.loads.ports.values(), strict=True)):
        wrench[:, k] = u[:, place] @ terminal.basis.T
    for k, drive in enumerate(system.drives, len(system.terminals)):
        wrench[:, k, :3] = drive.at(t)
    return wrench


def as_march(system: MechanicalSystem, states: States) -> March:
    """States of a mechanical system in the form (24) as the raw result that trajectories of mechanisms are made of."""
    split = [system.split(x) for x in states.x]
    q = np.array([system.to_kernel(q) for q, _, _ in split])
    v = np.array([system.to_kernel(v, rate=True) for _, v, _ in split])
    joints = slice(2 * system.n + 6 * system.rigid.size, None)
    of_elements = [wound(system, a).elements.multipliers(*pair) for a, *pair in zip(states.angles, q, v, strict=True)]
    multipliers = np.hstack([np.nan_to_num(states.mean_x[:, joints]), np.array(of_elements)])
    mean, bases = np.nan_to_num(states.mean_y), [terminal.basis for terminal in system.terminals]
    outputs = np.zeros((len(states.t), len(system.channel_names), 6))
    work = np.zeros(outputs.shape[:2])
    for k, place in enumerate(system.ports.values()):
        outputs[:, k] = mean[:, place] @ (np.linalg.pinv(bases[k]) if k < len(bases) else np.eye(1, 6))
        work[:, k] = states.supply[:, place].sum(axis=1)
    return March(
        states.t, q[:, :-1], v[:, :-1], nodal_inputs(system, states.t, states.u), multipliers, outputs, work,
        states.exchange, states.angles, states.iterations, states.status, states.message,
    )  # fmt: skip
