"""Implicit methods of SciPy with variable steps, `SciPy("Radau")`, `SciPy("BDF")` and `SciPy("LSODA")`, up to index 1.

They solve y' = rate(t, y). Of E x' = f with x = (y, a), where y are the states that have a rate, one solves

E_y y' = f(y, a)   for (y', a),   with the matrix [E_y, -df/da], regular for index 1 and where all states have a rate.

Mechanisms and Lagrangians take part by their accelerations: y = (q, v), a = lambda (002, section 4.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import integrate

from porthos.errors import PorthosError, Status
from porthos.integrate.adaptive_march import with_rate
from porthos.integrate.library_march import Course, Span, StoppedError, march_library
from porthos.integrate.newton import Solver, factorised
from porthos.integrate.recording import States
from porthos.integrate.scheme import Needs
from porthos.integrate.state_scheme import OwnSteps
from porthos.integrate.walk import Walk
from porthos.notation import Array
from porthos.steps import Adaptive
from porthos.system.accelerations import RATE, AccelerationForm, pull
from porthos.system.descriptor import Descriptor, dense
from porthos.system.lagrangian_system import LagrangianSystem
from porthos.system.mechanical import MechanicalSystem


class _Method(NamedTuple):
    solver: Any
    order: int  # the highest
    local: float  # part of the tolerance of a run that it is given: it controls errors of steps


METHODS = {
    "Radau": _Method(integrate.Radau, 5, 1.0),  # its estimate is of order 3, its result of order 5
    "BDF": _Method(integrate.BDF, 5, 0.01),
    "LSODA": _Method(integrate.LSODA, 12, 0.01),
}
REGULAR = 1e12  # condition, after scaling, up to which rates and algebraic states follow from the others
ITERATIONS = 20  # of Newton's method for algebraic states, at most
SLOW = 0.1  # ratio of updates above which a new matrix is made
ACCEPTED = 1e-8  # the same after the last one
SETTLED = 1e-13  # update of algebraic states, relative to their size, that ends it


@dataclass(frozen=True)
class SciPy(OwnSteps):
    """A method of SciPy for stiff equations, on systems without algebraic states or of index 1.

    `method` is "Radau", "BDF" or "LSODA". Mechanisms and Lagrangians are taken by their accelerations with
    g'' + 2 alpha g' + alpha^2 g = 0; with alpha = 0 constraints drift. Takes step=ph.Adaptive(...) only, of which it
    obeys rtol, atol, initial, minimum, maximum, max_steps, breakpoints.
    """

    needs = Needs(highest_index=1)
    method: str = "Radau"
    alpha: float = RATE

    @property
    def order(self) -> int:
        """The highest that steps may have."""
        return METHODS[self.method].order

    @property
    def stiffly_accurate(self) -> bool:
        """Constraints of mechanisms are not among the equations that are solved."""
        return False

    def march(self, walk: Walk, adaptive: Adaptive, end: float, times: Sequence[float] | None) -> States:
        """Step from 0 to `end`, with a new start wherever an input jumps."""
        held = walk.signals.held(0, 0.0, walk.start)
        self._solved(walk.system, walk.start).require(walk.signals.at(0.0, held))
        return march_library(self._spans, walk, adaptive, end, times)

    def _solved(self, system: Descriptor, x: Array) -> _Solved:
        if isinstance(system, MechanicalSystem | LagrangianSystem):
            system = AccelerationForm(system, self.alpha)
        return _Accelerations(system, x) if isinstance(system, AccelerationForm) else _Solved(system, x)

    def _spans(self, course: Course) -> Iterator[Span]:
        """The steps of SciPy; algebraic states are found again at every time that is asked for."""
        given, solved = course.adaptive, self._solved(course.walk.system, course.x)

        def rate(t: float, y: Array) -> Array:
            return solved.at(t, y, course.u(t))[0]

        def slope(t: float, y: Array) -> Array:
            return solved.slope(t, y, course.u(t))

        room, (solver_class, _, local) = course.until - course.t, METHODS[self.method]
        solver = solver_class(
            rate, course.t, course.x[solved.moving], course.until, rtol=local * given.rtol, atol=local * given.atol,
            first_step=None if given.initial is None else min(given.initial, room), max_step=given.maximum, jac=slope,
        )  # fmt: skip
        x, done = course.x, 0
        while solver.status == "running":
            t = float(solver.t)
            message = solver.step()
            if solver.status == "failed":
                raise StoppedError(Status.STEP_TOO_SMALL, t, f"SciPy, {self.method},", str(message))
            if solver.t - t < given.minimum and solver.status == "running":
                raise StoppedError(Status.STEP_TOO_SMALL, t, f"SciPy, {self.method},", f"a step of {solver.t - t:.3g}.")
            inner, end = solver.dense_output(), float(solver.t)

            def between(time: float, inner: Any = inner) -> Array:
                return solved.at(time, inner(time), course.u(time))[1]

            x1 = solved.at(end, solver.y, course.u(end))[1]
            yield Span(t, end, x, x1, between, solver.nfev - done)
            x, done = x1, solver.nfev


class _Solved:
    """A descriptor system solved for the rates of y and for algebraic states."""

    def __init__(self, system: Descriptor, x: Array) -> None:
        self.system, self.moving, self.x = system, with_rate(system, x), x.copy()
        self._solver: Solver | None = None

    def _matrices(self, t: float, x: Array, rate: Array, u: Array) -> tuple[Array, Array]:
        """dF/d(y', a) and dF/dx of F = E x' - f."""
        T = dense(self.system.tangent(x, rate, u, t))
        return np.where(self.moving, dense(self.system.E(x, t)), T), T

    def require(self, u: Array) -> None:
        """Refuse a system of higher index."""
        A, _ = self._matrices(0.0, self.x, np.zeros(self.x.size), u)
        sizes = np.abs(A).max(axis=1, keepdims=True)
        if not np.linalg.cond(A / np.where(sizes > 0.0, sizes, 1.0)) < REGULAR:
            raise PorthosError(
                "SciPy: expected a system of index 1, or one without algebraic states, whose rates stand in equations "
                f"of their own; found that '{self.system.name}' has index {self.system.index(self.x, u).index}. Use "
                "ph.IDA() or ph.RadauIIA(3), or another form, such as system.formulation('Baumgarte, index 1')."
            )

    def at(self, t: float, y: Array, u: Array) -> tuple[Array, Array]:
        """y' and x, by Newton's method from the algebraic states found last, with a matrix that is kept."""
        x, rate, moving, last = self.x.copy(), np.zeros(self.x.size), self.moving, np.inf
        x[moving] = y
        for _ in range(ITERATIONS):
            if self._solver is None:
                self._solver = factorised(self._matrices(t, x, rate, u)[0])
            change = self._solver(self.system.residual(x, rate, u, t))
            rate[moving] -= change[moving]
            x[~moving] -= change[~moving]
            scale = max(1.0, np.abs(rate).max(), np.abs(x[~moving]).max(initial=0.0))
            size = np.abs(change).max() / scale
            if not size > SETTLED:
                break
            self._solver = None if size > SLOW * last else self._solver
            last = size
        if not size <= ACCEPTED:
            who, what = "SciPy", f"the algebraic states of '{self.system.name}' were not found."
            raise StoppedError(Status.NEWTON_STALLED, t, who, what)
        self.x = x if np.isfinite(x).all() else self.x
        return rate[moving], x

    def slope(self, t: float, y: Array, u: Array) -> Array:
        """dy'/dy = -(dF/d(y', a))^-1 dF/dy, the rows of y'."""
        rates, x = self.at(t, y, u)
        rate = np.zeros(x.size)
        rate[self.moving] = rates
        A, T = self._matrices(t, x, rate, u)
        solve = factorised(A)
        return -np.array([solve(column) for column in T.T[self.moving]]).T[self.moving]


class _Accelerations(_Solved):
    """A mechanism or Lagrangian: one linear system gives accelerations and multipliers."""

    system: AccelerationForm

    def require(self, u: Array) -> None:
        """Rows that repeat others are met by multipliers of least norm."""

    def at(self, t: float, y: Array, u: Array) -> tuple[Array, Array]:
        """(v, v') and (q, v, lambda)."""
        motion, (q, v) = self.system.motion, np.split(y, 2)
        known = np.append(motion.force(t, q, v, u), pull(motion, self.system.alpha, t, q, v))
        found = factorised(motion.kkt(t, q, v))(known)
        return np.append(v, found[: q.size]), np.append(y, found[q.size :])
