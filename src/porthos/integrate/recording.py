"""What is recorded of steps over the states of a descriptor system, with their discrete power balance:

H(x1) - H(x0) = h sum_i b_i (y_i . u_i - d_i) + defect,   d_i = (z_i, u_i)^T W (z_i, u_i)        (000, section 5.3.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porthos.errors import Status
from porthos.integrate import march
from porthos.integrate.events import Occurrence
from porthos.integrate.march import March
from porthos.integrate.state_scheme import StateScheme, Step
from porthos.integrate.tableaus import Tableau
from porthos.notation import Array, IntArray
from porthos.system.descriptor import Descriptor
from porthos.system.elements import wound
from porthos.system.mechanical import MechanicalSystem
from porthos.system.watching import FunctionError


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
    angles: Array = field(
        default_factory=lambda: np.zeros((0, 0)), kw_only=True
    )  # (K, F) of force elements; else (K, 0)

    def __post_init__(self) -> None:
        if not self.angles.size:
            object.__setattr__(self, "angles", np.zeros((len(self.t), 0)))

    def followed_by(self, later: States) -> States:
        """Both as one, without increments, with the status of the later one."""
        both: dict[str, Any] = {name: np.concatenate([getattr(self, name), getattr(later, name)]) for name in AT_NODES}
        return replace(later, **both, increments=later.increments[:0])

    @property
    def last(self) -> States:
        """The last state alone."""
        ends: dict[str, Any] = {name: getattr(self, name)[-1:].copy() for name in AT_NODES}
        return replace(self, **ends, increments=self.increments[:0], events=())


AT_NODES = (*[one.name for one in fields(States)][:10], "angles")  # the arrays with a row for each node


@dataclass(frozen=True)
class Piece:
    """One step of a march: where it begins, its size, the inputs at its stages, what came out, and the step before."""

    t: float
    h: float
    x0: Array
    u: Array
    step: Step
    before: Step | None = None


def outputs_at(system: Descriptor, x: Array, u: Array, t: float) -> Array:
    """y (m,) at a node; NaN where a user's function fails, as the step that follows will say, or no input is known."""
    if u.size and np.isfinite(u).all():
        with suppress(FunctionError):
            return system.y(x, u, t)
    return np.full(u.size, np.nan)


OPEN = (
    "_last", "_first", "_now", "_gained", "_supply", "_exchange", "_lost", "_iterations", "count", "latest"
)  # fmt: skip # what a recorder knows of the interval that is open, and of all before it


class Recorder:
    """Collects what happens in the steps, and closes an interval at each node; `dense` keeps increments too."""

    def __init__(self, system: Descriptor, scheme: StateScheme, dense: bool) -> None:
        self.system, self.scheme, self.dense = system, scheme, dense
        self.tableau = scheme.tableau
        self.rows: list[tuple[float | Array, ...]] = []
        self.increments: list[Array] = []
        self.count, self.latest = 0, -np.inf  # how many nodes there were, and the time of the last one
        self._handed = 0  # rows that are in a block already
        self._last: tuple[Array, Array] = (np.full(system.dimension, np.nan), np.full(system.width, np.nan))
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

    def _turn_to(self, angles: Array) -> None:
        """Go on from these angles."""
        if isinstance(self.system, MechanicalSystem) and self.system.element_names and self.system.elements.turns:
            self.system.elements.mech.law.about[:] = angles

    def node(self, t: float, x: Array, u: Array) -> None:
        """Record a state and close the interval before it."""
        y = outputs_at(self.system, x, u, t)
        happened = (self._supply, self._exchange, self._lost, self._iterations)
        self.rows.append((t, x, u, y, *self._last, *happened, self.angles_now()))
        self.count, self.latest = self.count + 1, t
        self._begin()

    def memory(self) -> dict[str, Any]:
        """What the next nodes depend on: the interval that is open."""
        return {name: getattr(self, name) for name in OPEN} | {"angles": self.angles_now()}

    def recall(self, memory: dict[str, Any]) -> None:
        """Go on in that interval."""
        vars(self).update({name: memory[name] for name in OPEN})
        self._turn_to(memory["angles"])

    @property
    def fresh(self) -> int:
        """How many nodes are in no block yet."""
        return len(self.rows) - self._handed

    @property
    def enough(self) -> bool:
        """Whether they fill one."""
        width = 2 * self.system.dimension + 4 * self.system.width + len(self.system.inner_ports) + 3
        return 8 * width * self.fresh >= march.BLOCK

    def block(self, status: Status, message: str) -> States | March:
        """The nodes since the last block, as files keep them. Those of mechanisms are then forgotten, but the last."""
        block = self.raw(self._states(self.rows[self._handed :], [], status, message, ()))
        if isinstance(self.system, MechanicalSystem):
            self.rows, self.increments = self.rows[-1:], []
        self._handed = len(self.rows)
        return block

    def raw(self, states: States) -> States | March:
        """States as results are made of them: those of mechanisms in their own form."""
        return as_march(self.system, states) if isinstance(self.system, MechanicalSystem) else states

    def states(self, status: Status, message: str, events: Sequence[Occurrence]) -> States:
        """All that was recorded and not forgotten."""
        return self._states(self.rows, self.increments, status, message, events)

    def _states(
        self, rows: list[Any], increments: list[Array], status: Status, message: str, events: Sequence[Occurrence]
    ) -> States:
        arrays: dict[str, Any] = dict(zip(AT_NODES, map(np.array, zip(*rows, strict=True)), strict=True))
        steps = np.array(increments).reshape(-1, self.tableau.stages, self.system.dimension)
        return States(
            **arrays, increments=steps, tableau=self.tableau, status=status, message=message, events=tuple(events)
        )  # fmt: skip


def nodal_inputs(system: MechanicalSystem, t: Array, u: Array) -> Array:
    """(K, L+D, 6): wrenches of inputs u (K, m) at nodes, and s, s', s'' of drives there."""
    wrench = np.zeros((t.size, len(system.channel_names), 6))
    for k, (terminal, place) in enumerate(zip(system.terminals, system.loads.ports.values(), strict=True)):
        wrench[:, k] = each_times(u[:, place], terminal.basis.T)
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
        outputs[:, k] = each_times(mean[:, place], np.linalg.pinv(bases[k]) if k < len(bases) else np.eye(1, 6))
        work[:, k] = states.supply[:, place].sum(axis=1)
    return March(
        states.t, q[:, :-1], v[:, :-1], nodal_inputs(system, states.t, states.u), multipliers, outputs, work,
        states.exchange, states.angles, states.iterations, states.status, states.message,
    )  # fmt: skip


def each_times(rows: Array, matrix: NDArray[np.floating[Any]]) -> Array:
    """Rows times a matrix, one by one: a product of all of them rounds by their number, which blocks would change."""
    return np.array([row @ matrix for row in rows]).reshape(len(rows), matrix.shape[1])
