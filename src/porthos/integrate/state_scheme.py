"""One-step methods over the states of descriptor systems, and what a step of them gives.

Of most a step solves equations for increments W_i of its stages, X_i = x0 + sum_j a_ij W_j, x1 = x0 + sum_i b_i W_i;
what the stages have to fulfil is the method's own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from porthos.errors import PorthosError
from porthos.integrate.newton import Solver, newton
from porthos.integrate.scheme import Contract
from porthos.integrate.tableaus import Tableau
from porthos.notation import Array
from porthos.system.constrained import Constrained
from porthos.system.descriptor import Descriptor, Matrix
from porthos.system.mechanical import MechanicalSystem

NEGLIGIBLE = 1e-3  # a state smaller than this part of the largest one is measured against it, not against itself
Equations = tuple[Callable[[Array], Array], Callable[[Array], Matrix]]


@dataclass(frozen=True)
class Step:
    """One step: the state at its end, stages X_i and increments W_i (s, n), and what the next step may start from."""

    x: Array
    stages: Array
    increments: Array  # empty if there is no dense output
    solver: Solver
    iterations: int
    converged: bool

    def resized(self, ratio: float) -> Self:
        """What a step of another size may start from: increments grow with it."""
        return replace(self, increments=ratio * self.increments)


@dataclass(frozen=True)
class EmbeddedStep(Step):
    """A step that estimates its error (n,) by a second result of lower order."""

    error: Array


class StateScheme(Contract):
    """A method that steps the states of descriptor systems.

    `tolerance` is the size of the last Newton update relative to the states; 0 iterates to the round-off floor, which
    exact energy over many steps needs.
    """

    tolerance: float = 0.0
    max_iterations: int = 50
    free_steps: ClassVar[bool] = True  # whether steps may have different sizes

    def __post_init__(self) -> None:
        super().__post_init__()
        name = type(self).__name__
        if not self.tolerance >= 0.0:
            raise PorthosError(f"{name}: tolerance must be >= 0, found {self.tolerance!r}.")
        if not self.max_iterations >= 1:
            raise PorthosError(f"{name}: max_iterations must be >= 1, found {self.max_iterations!r}.")
        _ = self.tableau  # refuses a number of stages that makes no sense

    @property
    @abstractmethod
    def tableau(self) -> Tableau:
        """The coefficients that make stages and the end of a step out of increments."""

    @abstractmethod
    def step(
        self, system: Any, h: float, x0: Array, u: Array | None = None, t: float = 0.0, before: Any = None
    ) -> Step:
        """One step from x0 at time t. `u` are inputs (m,), or one row for each stage; `before` is the step before."""

    def inputs(self, system: Descriptor | Constrained, u: Array | None) -> Array:
        """Inputs (s, m), a row for each stage: all zero, the same at every stage, or as given."""
        return np.broadcast_to(np.zeros(system.width) if u is None else u, (self.tableau.stages, system.width))

    def powers(self, system: Descriptor, h: float, t: float, x0: Array, u: Array, step: Step) -> tuple[Array, ...]:
        """Outputs (s, m), losses (s,) and inner powers (s, i) at the stages of a step from x0 at time t."""
        stages = list(zip(step.stages, u, (t + self.tableau.c * h).tolist(), strict=True))
        y = [system.y(*stage) for stage in stages]
        lost = [system.dissipation(*stage) for stage in stages]
        inner = [system.inner_power(*stage) for stage in stages] if system.inner_ports else np.zeros((len(stages), 0))
        return np.array(y), np.array(lost), np.array(inner)

    def require(self, system: Descriptor) -> None:
        """Refuse a system that lacks what the method needs."""

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
    """A scheme for the states (q, v, lambda) of mechanisms in full coordinates."""

    def require(self, system: Descriptor) -> None:
        """Refuse what is no mechanism."""
        if not isinstance(system, MechanicalSystem):
            raise PorthosError(
                f"simulate: {self!r} steps positions and velocities of mechanisms, and '{system.name}' is none. Use a "
                "Runge-Kutta method such as ph.RadauIIA(3)."
            )


class IncrementScheme(StateScheme):
    """A scheme whose steps solve for the increments of all stages at once."""

    @abstractmethod
    def equations(self, system: Descriptor, h: float, x0: Array, u: Array, times: Array) -> Equations:
        """The residual (s n,) of the increments of a step, with inputs u (s, m) at its stages, and its derivative."""

    def step(
        self,
        system: Descriptor,
        h: float,
        x0: Array,
        u: Array | None = None,
        t: float = 0.0,
        before: Step | None = None,
    ) -> Step:
        """One step from x0 at time t. `u` are inputs (m,), or one row for each stage; `before` is the step before."""
        A, b, c = self.tableau.A, self.tableau.b, self.tableau.c
        s, n = c.size, x0.size
        residual, matrix = self.equations(system, h, x0, self.inputs(system, u), t + c * h)

        def size_of(w: Array, update: Array) -> float:
            scale = np.maximum(np.abs(x0), np.abs(w.reshape(s, n)).max(axis=0))
            scale = np.maximum(scale, NEGLIGIBLE * scale.max(initial=1e-300))
            return float((np.abs(update.reshape(s, n)) / scale).max(initial=0.0))

        guess = np.zeros(s * n) if before is None else before.increments.ravel()
        solver = None if before is None else before.solver
        patience = min(system.tangent_cost, self.max_iterations // 2)
        found = newton(residual, matrix, guess, size_of, solver, self.tolerance, self.max_iterations, patience)
        W = found.value.reshape(s, n)
        X = x0 + A @ W
        end = X[-1].copy() if self.stiffly_accurate else x0 + b @ W
        return Step(end, X, W, found.solver, found.iterations, found.converged)
