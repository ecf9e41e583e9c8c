"""The waist of Porthos: a port-Hamiltonian descriptor system, evaluated at a state x.

E x' = (J(x) - R(x)) z(x) + B(x) u,   y = B(x)^T z(x),   E^T z = grad H,
J = -J^T,  R = R^T >= 0,  hence  dH/dt = -z^T R z + y^T u <= y^T u.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np
from scipy import sparse

from porthos.errors import PorthosError, nearest
from porthos.notation import Array
from porthos.system.check import Report, check_structure


class PHDAE(ABC):
    """A pH-DAE. Subclasses give the functions; matrices are sparse (CSR), vectors are dense."""

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
        """Name of each part of the state and its place, for messages."""

    @abstractmethod
    def H(self, x: Array) -> float:
        """The Hamiltonian."""

    @abstractmethod
    def E(self, x: Array) -> sparse.csr_array:
        """The descriptor matrix."""

    @abstractmethod
    def J(self, x: Array) -> sparse.csr_array:
        """The structure matrix, skew."""

    @abstractmethod
    def z(self, x: Array) -> Array:
        """The costate, E^T z = grad H."""

    @abstractmethod
    def B(self, x: Array) -> sparse.csr_array:
        """The port matrix."""

    def R(self, x: Array) -> sparse.csr_array:
        """The dissipation matrix, symmetric and >= 0; zero unless a subclass says otherwise."""
        return sparse.csr_array((self.dimension, self.dimension))

    def y(self, x: Array) -> Array:
        """The outputs, y = B^T z."""
        return self.B(x).T @ self.z(x)

    def port(self, name: str) -> slice:
        """The columns of B that belong to a port."""
        if name not in self.ports:
            raise PorthosError(f"system '{self.name}' has no port '{name}'. {nearest(name, self.ports)}")
        return self.ports[name]

    def block_of(self, index: int) -> str:
        """The name of the part of the state to which an index belongs."""
        return next((name for name, place in self.blocks.items() if place.start <= index < place.stop), "?")

    def check(self, x: Array) -> Report:
        """Test every structural property at x; the report names the one that fails, and where."""
        return check_structure(self, self.as_state(x))

    def as_state(self, x: Array) -> Array:
        """x as a vector of the right length, or an error that says what was expected."""
        state = np.asarray(x, dtype=np.float64)
        if state.shape != (self.dimension,):
            raise PorthosError(
                f"system '{self.name}': a state has {self.dimension} numbers ({', '.join(self.blocks)}), "
                f"found shape {state.shape}."
            )
        return state
