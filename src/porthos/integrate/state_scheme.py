"""One-step methods over the states of descriptor systems, and what a step of them gives.

Of most a step solves equations for increments W_i of its stages, X_i = x0 + sum_j a_ij W_j, x1 = x0 + sum_i b_i W_i;
what the stages have to fulfil is the method's own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from porthos.errors import PorthosError, Status
from porthos.integrate.newton import Iterate, newton
from porthos.integrate.scheme import VELOCITY, Iterated, Needs
from porthos.integrate.tableaus import Tableau, lobatto_iiia
from porthos.kernels.change import largest, relative_change
from porthos.notation import Array
from porthos.steps import Adaptive
from porthos.system.constrained import Constrained
from porthos.system.descriptor import ANALYTIC, Descriptor, Matrix
from porthos.system.lagrangian_system import LagrangianSystem
from porthos.system.mechanical import MechanicalSystem

NEGLIGIBLE = 1e-3  # a state smaller than this part of the largest one is measured against it, not against itself
ASTRAY = 1e-2  # gap of constraints, relative to positions, that is no drift: joints do not allow a motion of drives
INSTEAD = "Use a Runge-Kutta method such as ph.RadauIIA(3)."  # where there are no positions and velocities
Equations = tuple[Callable[[Array], Array], Callable[[Array], Matrix]]


@dataclass(frozen=True)
class Begin:
    """Where a step of h begins: x0 at time t of a system, inputs u (s, m) at its stages, and the step before."""

    system: Any
    h: float
    x0: Array
    u: Array
    t: float
    before: Any


@dataclass(frozen=True)
class Step:
    """One step: the state at its end, stages X_i (s, n), and the unknowns found, from which the next step may start."""

    x: Array
    stages: Array
    found: Iterate

    @property
    def iterations(self) -> int:
        """Of Newton's method."""
        return self.found.iterations

    @property
    def converged(self) -> bool:
        """Whether the equations were solved."""
        return self.found.converged

    @property
    def increments(self) -> Array:
        """W_i (s, n) for dense output; empty if there is none."""
        return np.empty(0)

    @property
    def failure(self) -> Status:
        """How it ended if the equations were not solved."""
        return Status.NEWTON_STALLED

    def resized(self, ratio: float) -> Self:
        """What a step of another size may start from: its unknowns grow with it."""
        return replace(self, found=replace(self.found, value=ratio * self.found.value))

    @property
    def remembered(self) -> Self:
        """All of it that the next step may need."""
        return self


@dataclass(frozen=True)
class RememberingStep(Step):
    """A step without which the next one has no begin; what it remembers belongs to steps of one `size`."""

    size: float


class IncrementStep(Step):
    """A step whose unknowns are the increments of its stages."""

    @property
    def increments(self) -> Array:
        """W_i (s, n)."""
        return self.found.value.reshape(self.stages.shape)


@dataclass(frozen=True)
class EmbeddedStep(Step):
    """A step that estimates its error (n,) by a second result of lower order."""

    error: Array

    @classmethod
    def explicit(cls, x: Array, stages: Array, error: Array, met: bool) -> Self:
        """One without unknowns; it failed if its end is not finite, or did not meet the constraints."""
        return cls(x, stages, Iterate(np.empty(0), None, 0, bool(np.isfinite(x).all()) and met), error)


class StateScheme(Iterated):
    """A method that steps the states of descriptor systems."""

    free_steps: ClassVar[bool] = True  # whether each step may have another size than the one before
    embedded_ratio: ClassVar[float] = 1.0  # error of a step over d^(1 + 1/p), d that of its embedded result; measured
    limits: ClassVar[str] = ""  # a sentence on steps that the method cannot make whatever Newton's method does

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.tableau  # refuses a number of stages that makes no sense

    @property
    @abstractmethod
    def tableau(self) -> Tableau:
        """The coefficients that make stages and the end of a step out of increments."""

    @property
    def order(self) -> int:
        """That of the quadrature, on ordinary differential equations; docs/schemes.md says it for constraints."""
        return self.tableau.claims[0]

    @abstractmethod
    def advance(self, at: Begin) -> Step:
        """The step that begins there."""

    def step(self, system: Any, h: float, x0: Array, u: Array | None = None, t: float = 0.0, before: Any = None) -> Any:
        """One step from x0 at time t. `u` are inputs (m,), or one row for each stage; `before` is the step before."""
        return self.advance(Begin(system, h, x0, self.inputs(system, u), t, before))

    def part(self, at: Begin, whole: Step) -> Step:
        """A step of another size than one that was made from there: a part of it, which leads to an event."""
        if not isinstance(whole, RememberingStep):
            return self.advance(replace(at, before=whole))
        return self.advance(at if at.before is None else replace(at, before=replace(at.before, found=whole.found)))

    def solved(
        self,
        equations: Equations,
        size_of: Callable[[Array, Array], float],
        guess: Array,
        before: Step | None,
        cost: int = ANALYTIC,
    ) -> Iterate:
        """The unknowns by Newton's method, with the solver of the step before while it serves, or a new one."""
        solver, patience = None if before is None else before.found.solver, min(cost, self.max_iterations // 2)
        return newton(*equations, guess, size_of, solver, self.tolerance, self.max_iterations, patience)

    def inputs(self, system: Descriptor | Constrained, u: Array | None) -> Array:
        """Inputs (s, m), a row for each stage: all zero, the same at every stage, or as given."""
        shape = (self.tableau.stages, system.width)
        if u is not None and u.shape == shape:
            return u
        return np.broadcast_to(np.zeros(system.width) if u is None else u, shape)

    def powers(self, system: Descriptor, h: float, t: float, x0: Array, u: Array, step: Step) -> tuple[Array, ...]:
        """Outputs (s, m), losses (s,) and inner powers (s, i) at the stages of a step from x0 at time t."""
        stages = list(zip(step.stages, u, (t + self.tableau.c * h).tolist(), strict=True))
        y = [system.y(*stage) for stage in stages] if system.width else np.zeros((len(stages), 0))
        lost = [system.dissipation(*stage) for stage in stages]
        inner = [system.inner_power(*stage) for stage in stages] if system.inner_ports else np.zeros((len(stages), 0))
        return np.array(y), np.array(lost), np.array(inner)

    def error_of(self, difference: Array, t: float, x: Array) -> Array:
        """What counts as an error of the difference (n,) of two results, of which one is x at time t."""
        return difference

    @property
    def symmetric(self) -> bool:
        """Whether a step back undoes a step."""
        return self.tableau.symmetric

    @property
    def stiffly_accurate(self) -> bool:
        """Whether a step ends on the algebraic equations."""
        return self.tableau.stiffly_accurate

    @property
    def renews_algebraic(self) -> bool:
        """Whether algebraic states at the end of a step do not carry on errors of those at its start."""
        return self.stiffly_accurate


class MechanicalScheme(StateScheme):
    """A scheme for the states (q, v, lambda) of mechanisms in full coordinates and of Lagrangians."""

    needs = Needs(
        (MechanicalSystem, LagrangianSystem),
        "positions and velocities of mechanisms and Lagrangians",
        INSTEAD,
    )

    @property
    def stiffly_accurate(self) -> bool:
        """Whether a step ends on the constraints of velocities."""
        return VELOCITY in self.preserves


def least_speed(h: float, q0: Array, v0: Array) -> float:
    """What velocities of a step of h from q0, v0 are at least measured against."""
    return max(largest(v0), NEGLIGIBLE * largest(q0) / abs(h), 1e-300)


def velocity_change(h: float, least: float, W: Array, dW: Array, dZ: Array) -> float:
    """The size of updates dW of increments W = h v', and dZ of positions, relative to the velocities of a step."""
    return max(largest(dW), largest(dZ) / abs(h)) / max(least, largest(W))


class OwnSteps(StateScheme):
    """A method of a library that chooses its steps itself and looks back on many of them."""

    @abstractmethod
    def march(self, walk: Any, adaptive: Adaptive, end: float, times: Sequence[float] | None) -> Any:
        """A run along a walk from 0 to `end`; it keeps the ends of all steps, or only `times` and the end."""

    def advance(self, at: Begin) -> Step:
        """There is no single step."""
        raise PorthosError(f"{self!r} chooses its steps itself: use simulate(..., step=ph.Adaptive(...)).")

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
        """Steps that follow errors, and formulas that look back, are not."""
        return False

    @property
    def renews_algebraic(self) -> bool:
        """Libraries control their errors."""
        return True


class IncrementScheme(StateScheme):
    """A scheme whose steps solve for the increments of all stages at once."""

    @abstractmethod
    def equations(self, system: Descriptor, h: float, x0: Array, u: Array, times: Array) -> Equations:
        """The residual (s n,) of the increments of a step, with inputs u (s, m) at its stages, and its derivative."""

    def advance(self, at: Begin) -> IncrementStep:
        """X_i = x0 + sum_j a_ij W_j; the last one is the end if the method is stiffly accurate."""
        A, b, c = self.tableau.A, self.tableau.b, self.tableau.c
        x0, s, n = at.x0, c.size, at.x0.size
        equations = self.equations(at.system, at.h, x0, at.u, at.t + c * at.h)

        weight, room = at.system.weights(abs(at.h)), np.empty(n)

        def size_of(w: Array, update: Array) -> float:
            return relative_change(x0, w, update, weight, NEGLIGIBLE, room)

        guess = np.zeros(s * n) if at.before is None else at.before.found.value
        found = self.solved(equations, size_of, guess, at.before, at.system.tangent_cost)
        W = found.value.reshape(s, n)
        X = x0 + A @ W
        return IncrementStep(X[-1].copy() if self.stiffly_accurate else x0 + b @ W, X, found)
