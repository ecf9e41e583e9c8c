"""The march of a one-step method over the states of a descriptor system, with its discrete power balance:

H(x1) - H(x0) = h sum_i b_i (y_i . u_i - d_i) + defect,   d_i = (z_i, u_i)^T W (z_i, u_i)        (000, section 5.3.2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from porthos.errors import InputError, Status
from porthos.integrate.march import March
from porthos.integrate.signals import Signals
from porthos.integrate.state_scheme import StateScheme, Step
from porthos.integrate.tableaus import Tableau
from porthos.notation import Array, IntArray
from porthos.system.descriptor import Descriptor
from porthos.system.mechanical import MechanicalSystem


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


class _Recorder:
    """Collects what happens in the steps, and closes an interval at each node."""

    def __init__(self, system: Descriptor, scheme: StateScheme, h: float, every: int) -> None:
        self.system, self.scheme, self.h, self.every = system, scheme, h, every
        self.tableau = scheme.tableau
        self.rows: list[tuple[float | Array, ...]] = []
        self.increments: list[Array] = []
        self._last: tuple[Array, Array] = (np.full(system.dimension, np.nan), np.full(system.width, np.nan))
        self._begin()

    def _begin(self) -> None:
        self._supply, self._lost, self._iterations = np.zeros(self.system.width), 0.0, 0
        self._exchange = np.zeros(len(self.system.inner_ports))

    def step(self, n: int, x0: Array, u: Array, step: Step) -> None:
        """Add a step to the interval: work and losses at its stages."""
        b = self.tableau.b
        y, lost, inner = self.scheme.powers(self.system, self.h, n * self.h, x0, u, step)
        self._supply += self.h * (b @ (y * u))
        self._lost += self.h * float(b @ lost)
        self._exchange += self.h * (b @ inner)
        self._iterations += step.iterations
        self._last = (b @ step.stages, b @ y)
        if self.every == 1:
            self.increments.append(step.increments)

    def node(self, n: int, x: Array, u: Array) -> None:
        """Record a state and close the interval before it."""
        y = self.system.y(x, u, n * self.h) if np.isfinite(u).all() else np.full(u.size, np.nan)
        happened = (self._supply, self._exchange, self._lost, self._iterations)
        self.rows.append((n * self.h, x, u, y, *self._last, *happened))
        self._begin()

    def states(self, status: Status, message: str) -> States:
        """All that was recorded."""
        names = [field.name for field in fields(States)][: len(self.rows[0])]
        arrays: dict[str, Any] = dict(zip(names, map(np.array, zip(*self.rows, strict=True)), strict=True))
        steps = np.array(self.increments).reshape(-1, self.tableau.stages, self.system.dimension)
        return States(**arrays, increments=steps, tableau=self.tableau, status=status, message=message)


def march_states(
    system: Descriptor,
    scheme: StateScheme,
    h: float,
    steps: int,
    every: int,
    signals: Signals,
    start: Array,
    progress: Callable[[int], None] = lambda done: None,
    interrupted: Callable[[], bool] = lambda: False,
) -> States:
    """Make `steps` steps of size h from `start` and keep every `every`-th state; a failure keeps what was computed."""
    recorder, c = _Recorder(system, scheme, h, every), scheme.tableau.c
    x, before, held = start.copy(), None, np.zeros(system.width)
    for n in range(steps + 1):
        status, message = Status.OK, Status.OK.value
        try:
            held = signals.held(n, h, x) if n < steps else held
            u = np.array([signals.at((n + ci) * h, held) for ci in c])
            step = scheme.step(system, h, x, u, n * h, before) if n < steps else None
        except InputError as error:
            status, message, step = Status.BAD_INPUT, str(error), None
        if step is not None and not step.converged:
            place = f"It happened in the step from t = {n * h:.6g} to {(n + 1) * h:.6g}."
            status, message = Status.NEWTON_STALLED, f"{Status.NEWTON_STALLED.value} {place}"
        elif n < steps and interrupted():
            status = Status.INTERRUPTED
            message = status.value
        if n % every == 0 or status is not Status.OK:
            recorder.node(n, x, signals.at_node(n * h, held))
        if status is not Status.OK or step is None:
            break
        recorder.step(n, x, u, step)
        x, before = step.x, step
        progress(n + 1)
    return recorder.states(status, message)


def as_march(system: MechanicalSystem, states: States) -> March:
    """States of a mechanical system in the form (24) as the raw result that trajectories of mechanisms are made of."""
    split = [system.split(x) for x in states.x]
    q = np.array([system.to_kernel(q) for q, _, _ in split])
    v = np.array([system.to_kernel(v, rate=True) for _, v, _ in split])
    joints = slice(2 * system.n + 6 * system.rigid.size, None)
    of_elements = [system.elements.multipliers(*pair) for pair in zip(q, v, strict=True)]
    multipliers = np.hstack([np.nan_to_num(states.mean_x[:, joints]), np.array(of_elements)])
    loads = list(zip(system.terminals, system.ports.values(), strict=True))
    wrench, outputs = (np.zeros((len(states.t), len(loads), 6)) for _ in range(2))
    work = np.zeros((len(states.t), len(loads)))
    for k, (terminal, place) in enumerate(loads):
        wrench[:, k] = states.u[:, place] @ terminal.basis.T
        outputs[:, k] = np.nan_to_num(states.mean_y[:, place]) @ np.linalg.pinv(terminal.basis)
        work[:, k] = states.supply[:, place].sum(axis=1)
    return March(
        states.t, q[:, :-1], v[:, :-1], wrench, multipliers, outputs, work, states.exchange, states.iterations,
        states.status, states.message,
    )  # fmt: skip
