"""A descriptor system with named states and ports: E(x, t) x' = f(x, u, t).

What a one-step method needs to know of a system; the structure that keeps energy comes with `PHDAE`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from porthos.errors import PorthosError, is_among, nearest
from porthos.notation import Array
from porthos.system.check import difference_jacobian

if TYPE_CHECKING:
    from porthos.system.consistency import IndexReport

Matrix: TypeAlias = Any  # a dense array (k, l), or a sparse one for large systems
ANALYTIC = 4  # `tangent_cost` of a derivative that is known
NO_RATE = 1e-13  # singular value of E, relative to the largest, that counts as zero
DIFFERENCE = 1e-5  # relative step of the differences behind `tangent`


class Descriptor(ABC):
    """E(x, t) x' = f(x, u, t). States come first and time last, because most systems do not depend on it."""

    name: str

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Number of states."""

    @property
    @abstractmethod
    def ports(self) -> Mapping[str, slice]:
        """Name of each port and its columns of B."""

    @property
    @abstractmethod
    def blocks(self) -> Mapping[str, slice]:
        """Name of each part of the state and its place."""

    @property
    def sources(self) -> Mapping[str, Callable[[float], Any]]:
        """Ports that the system feeds itself, such as loads, and their u(t)."""
        return {}

    @property
    def inner_ports(self) -> tuple[str, ...]:
        """Ports of parts that are connected within the system, if it has parts."""
        return ()

    def inner_power(self, x: Array, u: Array, t: float = 0.0, z: Array | None = None) -> Array:
        """The power into the parts through each of `inner_ports`; with a costate z in the place of that at x."""
        return np.zeros(0)

    @abstractmethod
    def H(self, x: Array, t: float = 0.0) -> float:
        """The energy."""

    @abstractmethod
    def E(self, x: Array, t: float = 0.0) -> Matrix:
        """The descriptor matrix."""

    @abstractmethod
    def flow(self, x: Array, u: Array, t: float = 0.0) -> Array:
        """The right-hand side f(x, u, t)."""

    @abstractmethod
    def y(self, x: Array, u: Array | None = None, t: float = 0.0) -> Array:
        """The outputs, conjugate to the inputs; u counts as zero if it is not given."""

    @abstractmethod
    def dissipation(self, x: Array, u: Array, t: float = 0.0) -> float:
        """The power that is lost, >= 0."""

    def residual(self, x: Array, rate: Array, u: Array, t: float = 0.0) -> Array:
        """E(x, t) x' - f(x, u, t), zero along solutions."""
        return self.E(x, t) @ rate - self.flow(x, u, t)

    def residuals(self, X: Array, rates: Array, U: Array, times: Array) -> Array:
        """`residual` at several states, such as the stages of a step: one row for each."""
        return np.array([self.residual(*each) for each in zip(X, rates, U, times.tolist(), strict=True)])

    def algebraic_gap(self, x: Array, u: Array, t: float = 0.0) -> Array:
        """By how much x misses the algebraic equations (n,): the part of f outside the range of E."""
        left, values, _ = np.linalg.svd(dense(self.E(x, t)))
        null = left[:, values <= NO_RATE * values.max(initial=0.0)]
        return null @ (null.T @ self.flow(x, u, t))

    def index(self, x: Array | None = None, u: Array | None = None, t: float = 0.0) -> IndexReport:
        """The index at a state (default: the initial one), how many states are free, and how well the state fits."""
        from porthos.system.consistency import index_report  # it needs this module

        return index_report(self, *self._point(x, u, t), t)

    def consistent(self, x: Array | None = None, u: Array | None = None, t: float = 0.0) -> Array:
        """The state next to x that meets the algebraic and the hidden equations; inputs count as constant."""
        from porthos.system.consistency import consistent_state  # it needs this module

        return consistent_state(self, *self._point(x, u, t), t)

    def fed(self, t: float) -> Array:
        """The inputs that the system feeds itself; those of open ports are zero."""
        u = np.zeros(self.width)
        for name, source in self.sources.items():
            u[self.port(name)] = source(t)
        return u

    def _point(self, x: Array | None, u: Array | None, t: float) -> tuple[Array, Array]:
        return self.initial_state() if x is None else self.as_state(x), self.fed(t) if u is None else u

    def tangent(self, x: Array, rate: Array, u: Array, t: float = 0.0) -> Matrix:
        """The derivative of `residual` with respect to x, by central differences unless a subclass knows better."""
        return difference_jacobian(lambda at: self.residual(at, rate, u, t), x, DIFFERENCE)

    def output_slope(self, x: Array, u: Array, t: float = 0.0) -> Array:
        """dy/dx (m, n), by central differences unless a subclass knows better."""
        return difference_jacobian(lambda at: self.y(at, u, t), x, DIFFERENCE)

    def weights(self, h: float) -> Array:
        """How much errors of each state (n,) count in steps of h: 1; h where 1/h enlarges them; 0 if they only follow.

        Constraints that are differentiated to give velocities or multipliers divide errors of others by the step.
        """
        return np.ones(self.dimension)

    @property
    def tangent_cost(self) -> int:
        """How many evaluations of `residual` one of `tangent` is worth, about."""
        return 2 * self.dimension

    def initial_state(self) -> Array:
        """The state at t = 0, where the system knows one."""
        raise PorthosError(
            f"system '{self.name}' has no initial state of its own. Give its {self.dimension} numbers "
            f"({', '.join(self.blocks)}): simulate(..., start=x0)."
        )

    @property
    def width(self) -> int:
        """Number of inputs."""
        return max((place.stop for place in self.ports.values()), default=0)

    def port(self, name: str) -> slice:
        """The columns of B that belong to a port."""
        if not is_among(name, self.ports):
            raise PorthosError(f"system '{self.name}' has no port '{name}'. {nearest(name, self.ports)}")
        return self.ports[name]

    def block(self, name: str) -> slice:
        """The place of a part of the state."""
        if not is_among(name, self.blocks):
            raise PorthosError(f"system '{self.name}' has no state '{name}'. {nearest(name, self.blocks)}")
        return self.blocks[name]

    def block_of(self, index: int) -> str:
        """The name of the part of the state to which an index belongs."""
        return next((name for name, place in self.blocks.items() if place.start <= index < place.stop), "?")

    def port_of(self, index: int) -> str:
        """The name of the port to which an input belongs."""
        return next((name for name, place in self.ports.items() if place.start <= index < place.stop), "?")

    def as_state(self, x: ArrayLike, what: str = "") -> Array:
        """x as a vector of the right length, or an error that says what was expected."""
        expected = f"system '{self.name}': {what}a state has {self.dimension} numbers"
        try:
            state = np.asarray(x, dtype=np.float64)
        except Exception as error:  # an object of another class may raise anything
            raise PorthosError(f"{expected} ({', '.join(self.blocks)}), found {x!r}.") from error
        if state.shape != (self.dimension,):
            raise PorthosError(f"{expected} ({', '.join(self.blocks)}), found shape {state.shape}.")
        return state


def dense(A: Matrix) -> Array:
    """A matrix as a plain array."""
    return A.toarray() if sparse.issparse(A) else np.asarray(A)
