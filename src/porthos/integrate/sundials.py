"""Backward differentiation formulas of variable order and step by SUNDIALS: `IDA`, for systems up to index 2.

States without a rate, such as multipliers, are rates of other unknowns, lambda = Lambda' (Gear): E x' = f with
x = (x_d, x_a) becomes F(t, y, y') = 0 for y = (x_d, Lambda) with x_a = Lambda'. This lowers the index by one, and
errors of Lambda enter the control of steps, which fall with the step; those of lambda would not.
"""

from __future__ import annotations

import importlib
import io
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

import numpy as np

from porthos.errors import PorthosError, Status
from porthos.integrate.adaptive_march import with_rate
from porthos.integrate.library_march import Course, Span, StoppedError, march_library
from porthos.integrate.options import HIGHEST_IDA
from porthos.integrate.recording import States
from porthos.integrate.runge_kutta import RadauIIA
from porthos.integrate.scheme import Needs
from porthos.integrate.state_scheme import OwnSteps
from porthos.integrate.walk import Walk
from porthos.notation import Array
from porthos.steps import Adaptive
from porthos.system.descriptor import Matrix, dense

LOCAL = 0.01  # part of the tolerance of a run that IDA, which controls errors of steps, is given
FIRST = 1e-7  # the step, as a part of the run, that finds algebraic states at a start
TOO_SMALL = -3  # of IDA: errors of steps do not meet the tolerance


@dataclass(frozen=True)
class IDA(OwnSteps):
    """Backward differentiation formulas of orders up to `max_order` by SUNDIALS, on systems of index 1 and 2 and GGL.

    Takes step=ph.Adaptive(...) only, of which it obeys rtol, atol, initial, minimum, maximum, max_steps, breakpoints.
    Needs the package scikit-sundae: pip install "porthos[sundials]". Matrices are dense; joints must not repeat rows.
    """

    needs = Needs(instead="Use another form, such as system.formulation('GGL'), or ph.RadauIIA(3).", highest_index=2)
    max_order: int = HIGHEST_IDA

    @property
    def order(self) -> int:
        """The highest that steps may have."""
        return self.max_order

    @property
    def stiffly_accurate(self) -> bool:
        """A step ends on the algebraic equations, as far as the tolerance asks for."""
        return True

    def march(self, walk: Walk, adaptive: Adaptive, end: float, times: Sequence[float] | None) -> States:
        """Step from 0 to `end`, with a new start wherever an input jumps."""
        system, held = walk.system, walk.signals.held(0, 0.0, walk.start)
        if (found := system.index(walk.start, walk.signals.at(0.0, held)).index) > self.needs.highest_index:
            raise PorthosError(
                f"IDA: expected a system of index 1 or 2, found that '{system.name}' has index {found}. "
                f"{self.needs.instead}"
            )
        return march_library(self._spans, walk, adaptive, end, times)

    def _spans(self, course: Course) -> Iterator[Span]:
        """A first small step, after which algebraic states fit, then those of IDA."""
        problem = _Problem(course)
        span, node = problem.start(min(FIRST * course.end, (course.until - course.t) / 2))
        yield span
        solver, done = self._solver(problem), 0
        _quietly(solver.init_step, node.t, node.y, node.rate)
        while node.t < course.until:
            target = course.targets[bisect_right(course.targets, node.t)]
            found = _quietly(solver.step, target, method="onestep", tstop=target)
            if not found.success:
                status = Status.STEP_TOO_SMALL if found.status == TOO_SMALL else Status.NEWTON_STALLED
                raise StoppedError(status, node.t, "IDA", found.message)
            last, node = node, _Node(float(found.t), np.array(found.y), np.array(found.yp))
            yield problem.span(last, node, found.nfev - done)
            done = found.nfev

    def _solver(self, problem: _Problem) -> Any:
        given, end = problem.course.adaptive, problem.course.end
        return _ida().IDA(
            problem.residual, jacfn=problem.matrix, rtol=LOCAL * given.rtol, atol=LOCAL * given.atol,
            max_order=self.max_order, first_step=given.initial or 0.0, min_step=given.minimum,
            max_step=min(given.maximum, max(end, given.minimum)),
        )  # fmt: skip


@dataclass(frozen=True)
class _Node:
    """y and y' at the end of a step."""

    t: float
    y: Array
    rate: Array


class _Problem:
    """A system as IDA sees it until the next jump of an input: F(t, y, y') = 0."""

    def __init__(self, course: Course) -> None:
        self.course, self.system, self.u = course, course.walk.system, course.u
        self.moving = with_rate(self.system, course.walk.start)

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

    def start(self, h: float) -> tuple[Span, _Node]:
        """A first small step, stiffly accurate, after which algebraic states fit; Lambda begins with zero."""
        scheme, system, t, x = RadauIIA(2), self.system, self.course.t, self.course.x
        u = np.array([self.u(t + c * h) for c in scheme.tableau.c])
        step = scheme.step(system, h, x, u, t)
        x1, t1 = step.x, t + h
        E, moving = dense(system.E(x1, t1)), self.moving
        rate = np.linalg.lstsq(E[:, moving], system.flow(x1, self.u(t1), t1), rcond=None)[0]
        derivative = x1.copy()
        derivative[moving] = rate
        span = Span(t, t1, x, x1, lambda time: x + (time - t) / h * (x1 - x), step.iterations)
        return span, _Node(t1, np.where(moving, x1, 0.0), derivative)

    def span(self, last: _Node, node: _Node, evaluations: int) -> Span:
        """A step; in between is the cubic polynomial with the values and rates of its ends."""
        h, d = node.t - last.t, node.y - last.y
        a, b = h * last.rate - d, d - h * node.rate

        def between(t: float) -> Array:
            s = (t - last.t) / h
            y = last.y + s * d + s * (1 - s) * ((1 - s) * a + s * b)
            rate = (d + (1 - 2 * s) * ((1 - s) * a + s * b) + s * (1 - s) * (b - a)) / h
            return self.state(y, rate)

        ends = self.state(last.y, last.rate), self.state(node.y, node.rate)
        return Span(last.t, node.t, *ends, between, evaluations)


def _quietly(call: Callable[..., Any], *given: Any, **more: Any) -> Any:
    """What a function of IDA returns: it prints why it fails, and so do we."""
    with redirect_stdout(io.StringIO()):
        return call(*given, **more)


def _ida() -> Any:
    """The module of the solver, which is optional."""
    try:
        return importlib.import_module("sksundae.ida")
    except ImportError as error:
        raise PorthosError(
            'IDA: expected the package scikit-sundae, found none. Install it: pip install "porthos[sundials]". Or use '
            "ph.RadauIIA(3)."
        ) from error
