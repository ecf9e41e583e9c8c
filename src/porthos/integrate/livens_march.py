"""The march of `Livens` over a Lagrangian system, compiled where its terms are generated and steps have no substeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from porthos.errors import InputError, Status
from porthos.integrate.events import Watch
from porthos.integrate.livens import Livens, LivensStep, plain_step
from porthos.integrate.newton import Solver
from porthos.integrate.recording import States, outputs_at
from porthos.integrate.signals import Signals
from porthos.integrate.tableaus import gauss
from porthos.kernels.guess import GUESSES, KEPT
from porthos.kernels.livens_choices import GONZALEZ, ITOH_ABE, MEAN_VALUE
from porthos.kernels.newton import CONVERGED, SINGULAR, STALLED
from porthos.notation import Array
from porthos.system.generated import GeneratedTerms
from porthos.system.lagrangian_system import LagrangianSystem
from porthos.system.watching import FunctionError, place_in_time, watching

KINDS = {"gonzalez": GONZALEZ, "mean value": MEAN_VALUE, "itoh-abe": ITOH_ABE}
CHUNK = 4096  # steps between looks at Ctrl-C and the progress bar
GENERATED = ("L", "Lq", "Lv", "second", "g", "G", "curvature", "D", "Bt")


@dataclass(frozen=True)
class LivensStates(States):
    """States and the momenta p, which are unknowns of their own."""

    p: Array  # (K, n)


class _Tape:
    """What is recorded: row k belongs to step k `every`; work and losses are those of the interval before it."""

    def __init__(self, system: LagrangianSystem, rows: int) -> None:
        n, m, width = system.n, system.m, system.width
        self.q, self.v, self.p = (np.zeros((rows, n)) for _ in range(3))
        self.lam = np.full((rows, 2, m), np.nan)  # of the steps before and after
        self.supply, self.lost = np.zeros((rows, width)), np.zeros(rows)
        self.iterations = np.zeros(rows, dtype=np.int64)

    def interval(self, row: int) -> tuple[Array, float, int]:
        """Work, losses and iterations of the interval before a row, so far."""
        return self.supply[row].copy(), float(self.lost[row]), int(self.iterations[row])


class _March:
    """The state of a run, and how it goes on."""

    def __init__(
        self,
        system: LagrangianSystem,
        scheme: Livens,
        h: float,
        rows: int,
        every: int,
        start: Array,
        fractions: tuple[float, ...],
    ) -> None:
        self.system, self.scheme, self.h, self.every = system, scheme, h, every
        self.sizes = h * np.array(fractions)
        self.tape = _Tape(system, rows)
        q, v, lam = system.split(start)
        self.q, self.v, self.p = q.copy(), v.copy(), system.terms.Lv(q, v)
        self.lam, self.mu = lam, h**2 / 2 * lam
        acceleration = system.accelerations(q, v)[0]
        first = h * v + h**2 / 2 * acceleration
        # rates d/h of the last steps, for the guess of plain substeps; compiled ones have a table
        self.before = [3 * [v + size / 2 * acceleration] for size in self.sizes.tolist()]
        self.past, self.errors = np.zeros((1, KEPT, 6 * -(-system.n // 6))), np.zeros((1, GUESSES))
        self.past[0, 0, : system.n], self.steps = first, np.zeros(1, dtype=np.int64)
        self.scale = np.zeros(system.n)
        self.solvers: list[Solver | None] = [None for _ in fractions]
        self.tape.q[0], self.tape.v[0], self.tape.p[0] = self.q, self.v, self.p

    def advance(self, first: int, U: Array) -> tuple[int, int]:
        """Make steps with inputs U at the middles of their substeps; (how it ended, steps made)."""
        if isinstance(self.system.terms, GeneratedTerms) and self.sizes.size == 1:
            return self._compiled(self.system.terms, first, U)
        parts = U.reshape(len(U) // self.sizes.size, self.sizes.size, U.shape[1])
        for step, inputs in enumerate(parts):
            try:
                if not self._plain(first + step, inputs):
                    return STALLED, step
            except FunctionError:  # it will be met again when the reason is looked for
                return STALLED, step
        return CONVERGED, len(parts)

    @property
    def place(self) -> tuple[Array, Array, Array]:
        """q, v and p, to keep."""
        return self.q.copy(), self.v.copy(), self.p.copy()

    def state(self, t: float, u: Array, place: tuple[Array, Array, Array]) -> Array:
        """x with the multipliers of the accelerations."""
        q, v, _ = place
        return np.concatenate([q, v, self.system.accelerations(q, v, u, t)[1]])

    def part(self, s: float, t: float, at: tuple[Array, Array, Array], inputs: Array) -> list[LivensStep]:
        """The substeps of a step of s h from a place at t."""
        made = list[LivensStep]()
        for h, u in zip((s * self.sizes).tolist(), inputs, strict=True):
            guess = np.concatenate([h * at[1], h**2 / 2 * self.lam])
            step = plain_step(self.scheme, self.system.terms, h, t, *at, u, guess)
            made.append(step)
            t, at = t + h, (step.q, step.v, step.p)
        return made

    def end_with(self, n: int, before: tuple[Array, float, int], made: list[LivensStep]) -> None:
        """Let step n be these substeps; its interval had `before`."""
        tape, row, last = self.tape, n // self.every + 1, made[-1]
        tape.q[row], tape.v[row], tape.p[row] = self.q, self.v, self.p = last.q, last.v, last.p
        tape.supply[row], tape.lost[row], tape.iterations[row] = before
        for step in made:
            tape.supply[row] += step.work
            tape.lost[row] += step.lost
            tape.iterations[row] += step.iterations

    def failed(self, ended: int, done: int, u: Array) -> tuple[Status, str]:
        """Why the step after `done` others was not made: a function of the user's, or the equations."""
        t, guess = done * self.h, np.concatenate([self.h * self.v, self.mu])
        try:
            with watching():
                plain_step(self.scheme, self.system.terms, self.h, t, self.q, self.v, self.p, u, guess)
        except FunctionError as error:
            return Status.BAD_INPUT, str(error.within(t, self.h))
        status = Status.SINGULAR if ended == SINGULAR else Status.NEWTON_STALLED
        return status, f"{status.value} {place_in_time(t, self.h)}"

    def _compiled(self, terms: GeneratedTerms, first: int, U: Array) -> tuple[int, int]:
        from porthos.kernels.livens import march_livens  # compiled when it is imported

        scheme, tape = self.scheme, self.tape
        functions = [terms.function(name) for name in GENERATED]
        status, made = march_livens(
            *functions, terms.parameters, terms.active, KINDS[scheme.derivative], scheme.symmetric, terms.quadratic,
            scheme.max_iterations, scheme.tolerance, self.h, first, self.every, np.ascontiguousarray(U[:, : terms.k]),
            self.q, self.v, self.p, self.mu, self.past, self.errors, self.steps, self.scale,
            tape.q, tape.v, tape.p, tape.lam, tape.supply, tape.lost, tape.iterations,
        )  # fmt: skip
        return int(status), int(made)

    def _plain(self, n: int, inputs: Array) -> bool:
        tape, row, made, at = self.tape, n // self.every, list[LivensStep](), (self.q, self.v, self.p)
        begins = n * self.h + np.cumsum(self.sizes) - self.sizes
        for k, (h, t, u) in enumerate(zip(self.sizes.tolist(), begins.tolist(), inputs, strict=True)):
            last, other, third = self.before[k]
            lam = made[-1].lam if made else self.lam
            guess = np.concatenate([h * (3 * (last - other) + third), h**2 / 2 * lam])
            step = plain_step(self.scheme, self.system.terms, h, t, *at, u, guess, self.solvers[k])
            if not step.converged:
                return False
            made.append(step)
            self.solvers[k], self.before[k] = step.solver, [(step.q - at[0]) / h, last, other]
            at = (step.q, step.v, step.p)
        lam = sum(size / self.h * step.lam for size, step in zip(self.sizes.tolist(), made, strict=True))
        (self.q, self.v, self.p), self.lam, self.mu = at, made[-1].lam, self.h**2 / 2 * lam
        tape.q[row + 1], tape.v[row + 1], tape.p[row + 1] = at
        if n % self.every == 0:
            tape.lam[row, 1] = lam
        tape.lam[row + 1, 0] = lam
        for step in made:
            tape.supply[row + 1] += step.work
            tape.lost[row + 1] += step.lost
            tape.iterations[row + 1] += step.iterations
        return True


def march_lagrangian(
    system: LagrangianSystem,
    scheme: Livens,
    h: float,
    steps: int,
    every: int,
    signals: Signals,
    start: Array,
    progress: Callable[[int], None] = lambda done: None,
    interrupted: Callable[[], bool] = lambda: False,
    fractions: tuple[float, ...] = (1.0,),
    events: Mapping[str, Any] | None = None,
) -> LivensStates:
    """Make `steps` steps of size h from `start` and keep every `every`-th state; a failure keeps what was computed.

    `fractions` are the substeps of a step. With events steps are made one by one.
    """
    run = _March(system, scheme, h, steps // every + 2, every, start, fractions)
    done, held, middles = 0, np.zeros(system.width), np.cumsum(fractions) - np.array(fractions) / 2
    status, message = Status.OK, Status.OK.value
    nodes: list[Array] = []
    watch = Watch(events, 0.0, start)
    chunk = 1 if signals.feedback or watch.events else CHUNK
    while done < steps and status is Status.OK:
        ahead, S = min(chunk, steps - done), len(fractions)
        U, x = np.zeros((S * ahead, system.width)), np.concatenate([run.q, run.v, 2 / h**2 * run.mu])
        try:
            for n in range(done, done + ahead if system.width else done):
                held = signals.held(n, h, x)
                if n % every == 0:
                    nodes.append(signals.at_node(n * h, held))
                for k, middle in enumerate(middles.tolist(), S * (n - done)):
                    U[k] = signals.at((n + middle) * h, held)
        except InputError as error:
            status, message, U = Status.BAD_INPUT, str(error), U[: S * (n - done)]
        parts = _Parts(run, signals, held, done, middles, run.place, run.tape.interval(done // every + 1))
        ended, made = run.advance(done, U)
        if watch.events and made:
            status, message = parts.look(watch)
        done += made
        progress(done)
        if ended != CONVERGED:
            status, message = run.failed(ended, done, U[made])
        elif status is Status.OK and done < steps and interrupted():
            status, message = Status.INTERRUPTED, Status.INTERRUPTED.value
    until = watch.happened[-1].t if status is Status.EVENT else done * h
    states = _states(run, done, until, nodes, signals.at_node(until, held), status, message)
    return replace(states, events=tuple(watch.happened))


@dataclass(frozen=True)
class _Parts:
    """Parts of step n of a run, which began at a place, with what its interval had before."""

    run: _March
    signals: Signals
    held: Array
    n: int
    middles: Array  # of its substeps, as parts of it
    place: tuple[Array, Array, Array]
    interval: tuple[Array, float, int]

    def look(self, watch: Watch) -> tuple[Status, str]:
        """Note the events of the whole step, which the run has made; one that is terminal ends it with a part."""
        try:
            s = watch.look(self.n * self.run.h, self.run.h, self.end, self.state)
        except InputError as error:
            return Status.BAD_INPUT, str(error)
        if s is None:
            return Status.OK, Status.OK.value
        if s < 1.0:
            self.run.end_with(self.n, self.interval, self.made(s))
        return watch.ended()

    def made(self, s: float) -> list[LivensStep]:
        """The substeps of the part s."""
        h, t = self.run.h, self.n * self.run.h
        u = np.array([self.signals.at(t + s * middle * h, self.held) for middle in self.middles.tolist()])
        return self.run.part(s, t, self.place, u)

    def state(self, s: float) -> Array:
        """The state after the part s."""
        last, t = self.made(s)[-1], (self.n + s) * self.run.h
        return self.run.state(t, np.nan_to_num(self.signals.at_node(t, self.held)), (last.q, last.v, last.p))

    @property
    def end(self) -> Array:
        """The state after the whole step."""
        t = (self.n + 1) * self.run.h
        return self.run.state(t, np.nan_to_num(self.signals.at_node(t, self.held)), self.run.place)


def _states(
    run: _March, done: int, until: float, nodes: list[Array], last: Array, status: Status, message: str
) -> LivensStates:
    """The tape as states: multipliers at the nodes are means of those of the steps around them, of second order."""
    system, tape, h, every = run.system, run.tape, run.h, run.every
    rows = done // every + 1 + (1 if done % every else 0)
    t = np.append(np.arange(0, done, every) * h, until) if done else np.zeros(1)
    inputs = np.array([*nodes[: rows - 1], last]) if system.width else np.zeros((rows, 0))
    q, v, lam = tape.q[:rows], tape.v[:rows], tape.lam[:rows].mean(axis=1)
    for k in {0, rows - 1}:
        with suppress(FunctionError):  # of the run, which has ended there
            lam[k] = system.accelerations(q[k], v[k], np.nan_to_num(inputs[k]), float(t[k]))[1]
    x = np.hstack([q, v, lam])
    y = np.array([outputs_at(system, *each) for each in zip(x, inputs, t.tolist(), strict=True)]).reshape(
        rows, system.width
    )
    means: dict[str, Any] = {
        "mean_x": np.vstack([np.full((1, x.shape[1]), np.nan), (x[1:] + x[:-1]) / 2]),
        "mean_y": np.vstack([np.full((1, y.shape[1]), np.nan), (y[1:] + y[:-1]) / 2]),
        "exchange": np.zeros((rows, 0)),  # nothing is connected within
        "increments": np.diff(x, axis=0)[:, None] if every == 1 else np.zeros((0, 1, x.shape[1])),
    }
    return LivensStates(
        t=t, x=x, u=inputs, y=y, supply=tape.supply[:rows], dissipated=tape.lost[:rows],
        iterations=tape.iterations[:rows], tableau=gauss(1), status=status, message=message, p=tape.p[:rows], **means,
    )  # fmt: skip
