"""Backward differentiation formulas of variable order and step by SUNDIALS: `IDA`, for systems up to index 2.

States without a rate, such as multipliers, are rates of other unknowns, lambda = Lambda' (Gear): E x' = f with
x = (x_d, x_a) becomes F(t, y, y') = 0 for y = (x_d, Lambda) with x_a = Lambda'. This lowers the index by one, and
errors of Lambda enter the control of steps, which fall with the step; those of lambda would not.
"""

from __future__ import annotations

import importlib
import io
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

import numpy as np

from porthos.errors import InputError, PorthosError, Status
from porthos.integrate.adaptive_march import landings, with_rate
from porthos.integrate.newton import Iterate
from porthos.integrate.runge_kutta import RadauIIA
from porthos.integrate.state_march import Piece, States, Walk
from porthos.integrate.state_scheme import OwnSteps, Step
from porthos.integrate.tableaus import Tableau, lobatto_iiia
from porthos.notation import Array
from porthos.steps import Adaptive
from porthos.system.descriptor import Matrix, dense

LOCAL = 0.01  # part of the tolerance of a run that IDA, which controls errors of steps, is given
FIRST = 1e-7  # the step, as a part of the run, that finds algebraic states at a start
HIGHEST = 5  # order of formulas that are stable
TOO_SMALL = -3  # of IDA: errors of steps do not meet the tolerance


@dataclass(frozen=True)
class IDA(OwnSteps):
    """Backward differentiation formulas of orders up to `max_order` by SUNDIALS, on systems of index 1 and 2 and GGL.

    Takes step=ph.Adaptive(...) only, of which it obeys rtol, atol, initial, minimum, maximum, max_steps, breakpoints.
    Needs the package scikit-sundae: pip install "porthos[sundials]". Matrices are dense; joints must not repeat rows.
    """

    max_order: int = HIGHEST

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.max_order <= HIGHEST:
            raise PorthosError(f"IDA: expected 1 <= max_order <= {HIGHEST}, found max_order = {self.max_order!r}.")

    @property
    def order(self) -> int:
        """The highest that steps may have."""
        return self.max_order

    @property
    def tableau(self) -> Tableau:
        """Work and losses are summed at both ends and the middle of a step, found by interpolation."""
        return lobatto_iiia(3)

    @property
    def preserves(self) -> frozenset[str]:
        """Nothing to round-off: all is as exact as the tolerance."""
        return frozenset()

    @property
    def symmetric(self) -> bool:
        """Formulas that look back are not."""
        return False

    @property
    def stiffly_accurate(self) -> bool:
        """A step ends on the algebraic equations, as far as the tolerance asks for."""
        return True

    def march(self, walk: Walk, adaptive: Adaptive, end: float, times: Sequence[float] | None) -> States:
        """Step from 0 to `end`, with a new start wherever an input jumps."""
        system, held = walk.system, walk.signals.held(0, 0.0, walk.start)
        if system.index(walk.start, walk.signals.at(0.0, held)).index > 2:
            raise PorthosError(
                f"IDA: expected a system of index 1 or 2, found that '{system.name}' has index 3. Use another "
                "form of it, system.formulation('GGL'), or ph.RadauIIA(3)."
            )
        return _March(self, walk, adaptive, end, times).states()


@dataclass(frozen=True)
class _Node:
    """y and y' at the end of a step."""

    t: float
    y: Array
    rate: Array


class _Problem:
    """A system as IDA sees it until the next jump of an input: F(t, y, y') = 0."""

    def __init__(self, walk: Walk, held: Array, until: float) -> None:
        self.walk, self.system, self.held = walk, walk.system, held
        self.latest = np.nextafter(until, 0.0)
        self.moving = with_rate(walk.system, walk.start)

    def u(self, t: float) -> Array:
        """The inputs, before a jump at the end."""
        return self.walk.signals.at(min(t, self.latest), self.held)

    def state(self, y: Array, rate: Array) -> Array:
        """x of y and y'."""
        return np.where(self.moving, y, rate)

    def residual(self, t: float, y: Array, rate: Array, out: Array) -> None:
        """E x' - f."""
        out[:] = self.system.residual(self.state(y, rate), np.where(self.moving, rate, 0.0), self.u(t), t)

    def matrix(self, t: float, y: Array, rate: Array, residual: Array, c: float, out: Matrix) -> None:
        """dF/dy + c dF/dy'."""
        del residual
        x, velocity = self.state(y, rate), np.where(self.moving, rate, 0.0)
        T, E = dense(self.system.tangent(x, velocity, self.u(t), t)), dense(self.system.E(x, t))
        out[:] = np.where(self.moving, T + c * E, c * T)

    def start(self, t: float, x: Array, h: float) -> tuple[Piece, _Node]:
        """A first small step, stiffly accurate, after which algebraic states fit; Lambda begins with zero."""
        scheme, system = RadauIIA(2), self.system
        u = np.array([self.u(t + c * h) for c in scheme.tableau.c])
        step = scheme.step(system, h, x, u, t)
        x1, t1 = step.x, t + h
        E, moving = dense(system.E(x1, t1)), self.moving
        rate = np.linalg.lstsq(E[:, moving], system.flow(x1, self.u(t1), t1), rcond=None)[0]
        derivative = x1.copy()
        derivative[moving] = rate
        ends = np.array([x, (x + x1) / 2, x1])
        inputs = np.array([self.u(t), self.u(t + h / 2), self.u(t1)])
        return Piece(t, h, x, inputs, Step(x1, ends, step.found)), _Node(t1, np.where(moving, x1, 0.0), derivative)


class _March:
    """Where a run is, and how it goes on."""

    def __init__(self, scheme: IDA, walk: Walk, adaptive: Adaptive, end: float, times: Sequence[float] | None) -> None:
        self.scheme, self.walk, self.adaptive, self.end, self.all = scheme, walk, adaptive, end, times is None
        self.jumps, self.kept, self.targets = landings(walk.signals, adaptive, end, times)
        self.held, self.count = walk.signals.held(0, 0.0, walk.start), 0
        self.t, self.x = 0.0, walk.start.copy()
        walk.node(self.t, self.x, self.held)

    def states(self) -> States:
        """Go on until the run ends, and give all that was recorded."""
        outcome = None
        while outcome is None:
            until = next((t for t in self.targets if t > self.t and (t in self.jumps or t == self.end)), self.end)
            try:
                with redirect_stdout(io.StringIO()):  # IDA prints why it fails, and so do we
                    outcome = self._until(until)
            except InputError as error:
                outcome = Status.BAD_INPUT, str(error)
        if not outcome[0].wanted and self.walk.recorder.rows[-1][0] != self.t:
            self.walk.node(self.t, self.x, self.held)
        return self.walk.states(*outcome)

    def _until(self, until: float) -> tuple[Status, str] | None:
        """Make the steps until a jump or the end; None if it was reached and the run goes on."""
        problem = _Problem(self.walk, self.held, until)
        piece, node = problem.start(self.t, self.x, min(FIRST * self.end, (until - self.t) / 2))
        outcome = self._take(piece, problem, node, node, None)
        solver, done = self._solver(problem), 0
        solver.init_step(node.t, node.y, node.rate)
        while outcome is None and self.t < until:
            self.count += 1
            if self.count > self.adaptive.max_steps:
                return Status.TOO_MANY_STEPS, Status.TOO_MANY_STEPS.value
            target = self.targets[bisect_right(self.targets, self.t)]
            found = solver.step(target, method="onestep", tstop=target)
            if not found.success:
                status = Status.STEP_TOO_SMALL if found.status == TOO_SMALL else Status.NEWTON_STALLED
                return status, f"{status.value} At t = {self.t:.6g} IDA said: {found.message}"
            last, node = node, _Node(float(found.t), np.array(found.y), np.array(found.yp))
            piece, done = _piece(problem, last, node, found.nfev - done), found.nfev
            outcome = self._take(piece, problem, last, node, target if node.t == target else None)
            if outcome is None and self.walk.interrupted():
                return Status.INTERRUPTED, Status.INTERRUPTED.value
            self.walk.progress(self.t)
        return outcome or ((Status.OK, Status.OK.value) if self.t == self.end else None)

    def _solver(self, problem: _Problem) -> Any:
        given, most = self.adaptive, self.adaptive.maximum
        return _ida().IDA(
            problem.residual, jacfn=problem.matrix, rtol=LOCAL * given.rtol, atol=LOCAL * given.atol,
            max_order=self.scheme.max_order, first_step=given.initial or 0.0, min_step=given.minimum,
            max_step=min(most, max(self.end, given.minimum)),
        )  # fmt: skip

    def _take(
        self, piece: Piece, problem: _Problem, last: _Node, node: _Node, target: float | None
    ) -> tuple[Status, str] | None:
        """Record a step, and the events on its way; how the run ends, if one of them ends it."""
        walk = self.walk
        part = walk.watch.look(piece.t, piece.h, piece.step.x, lambda s: _between(problem, last, node, s)[0])
        if part is not None:
            _, y, rate = _between(problem, last, node, part)
            return walk.end(_piece(problem, last, _Node(piece.t + part * piece.h, y, rate), 0), self.held)
        walk.recorder.step(piece)
        self.t, self.x = piece.t + piece.h if target is None else target, piece.step.x
        if self.all or target in self.kept:
            walk.node(self.t, self.x, self.held)
        return None


def _between(problem: _Problem, last: _Node, node: _Node, s: float) -> tuple[Array, Array, Array]:
    """x, y and y' after the part s of a step, by the cubic polynomial with the values and rates of its ends."""
    h, d = node.t - last.t, node.y - last.y
    if h == 0.0:
        return problem.state(node.y, node.rate), node.y, node.rate
    a, b = h * last.rate - d, d - h * node.rate
    y = last.y + s * d + s * (1 - s) * ((1 - s) * a + s * b)
    rate = (d + (1 - 2 * s) * ((1 - s) * a + s * b) + s * (1 - s) * (b - a)) / h
    return problem.state(y, rate), y, rate


def _piece(problem: _Problem, last: _Node, node: _Node, iterations: int) -> Piece:
    """A step with its middle."""
    t, h = last.t, node.t - last.t
    x0, x1 = problem.state(last.y, last.rate), problem.state(node.y, node.rate)
    stages = np.array([x0, _between(problem, last, node, 0.5)[0], x1])
    u = np.array([problem.u(t + c * h) for c in (0.0, 0.5, 1.0)])
    found = Iterate(np.empty(0), np.copy, iterations, True)
    return Piece(t, h, x0, u, Step(x1, stages, found))


def _ida() -> Any:
    """The module of the solver, which is optional."""
    try:
        return importlib.import_module("sksundae.ida")
    except ImportError as error:
        raise PorthosError(
            'IDA: expected the package scikit-sundae, found none. Install it: pip install "porthos[sundials]". Or use '
            "ph.RadauIIA(3)."
        ) from error
