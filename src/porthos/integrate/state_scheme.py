"""Schemes that step the states of a system one by one, and what a step of them gives."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from porthos.errors import PorthosError
from porthos.integrate.newton import Solver
from porthos.integrate.scheme import Contract
from porthos.integrate.tableaus import Tableau
from porthos.notation import Array

NEGLIGIBLE = 1e-3  # a state smaller than this part of the largest one is measured against it, not against itself


@dataclass(frozen=True)
class Step:
    """One step: the state at its end, stages X_i and increments W_i (s, n), and what the next step may start from."""

    x: Array
    stages: Array
    increments: Array  # empty if there is no dense output
    solver: Solver
    iterations: int
    converged: bool


class StateScheme(Contract):
    """A scheme with stages: inputs are needed at the nodes of its tableau, and work is summed with its weights."""

    tolerance: float = 0.0
    max_iterations: int = 50

    def __post_init__(self) -> None:
        name = type(self).__name__
        if not self.tolerance >= 0.0:
            raise PorthosError(f"{name}: tolerance must be >= 0, found {self.tolerance!r}.")
        if not self.max_iterations >= 1:
            raise PorthosError(f"{name}: max_iterations must be >= 1, found {self.max_iterations!r}.")
        _ = self.tableau  # refuses a number of stages that makes no sense

    @property
    @abstractmethod
    def tableau(self) -> Tableau:
        """The coefficients."""

    @abstractmethod
    def step(
        self, system: Any, h: float, x0: Array, u: Array | None = None, t: float = 0.0, before: Any = None
    ) -> Step:
        """One step from x0 at time t. `u` are inputs (m,), or one row for each stage; `before` is the step before."""


class MechanicalScheme(StateScheme):
    """A scheme for the states (q, v, lambda) of mechanisms in full coordinates."""
