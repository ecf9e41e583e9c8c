"""Changes of a pH-DAE that keep its structure: time as a state, other variables, other combinations of the equations.

autonomous, 000, 4.2.3:   [E r; 0 1] (x, t)' = ([J 0; 0 0] - [R 0; 0 0]) (z, 0) + ([B 0; 0 1] - [P 0; 0 0]) (u, 1);
transformed, 000, 4.2.2:  x = phi(w, t),  U^T E phi_w w' + U^T (r + E phi_t) = U^T (J - R) U (U^-1 z) + U^T (B - P) u.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from porthos.errors import StructureError
from porthos.notation import Array
from porthos.system.check import precise_jacobian
from porthos.system.descriptor import Matrix, dense
from porthos.system.phdae import PHDAE

CLOCK = "time"  # the port and the state that an autonomous form adds


class AutonomousForm(PHDAE):
    """A pH-DAE with time as its last state; a port 'time', fed with 1, makes it run.

    The second 1 that 000 prints in P~ = diag(P, 1) is a misprint: t' would be 0 and W~ would not be >= 0.
    """

    def __init__(self, system: PHDAE) -> None:
        for place in (system.blocks, system.ports):
            if CLOCK in place:
                raise StructureError(f"system '{system.name}' has a part named '{CLOCK}' already; rename it.")
        self.system = system
        self.name = f"{system.name} (autonomous)"

    @property
    def dimension(self) -> int:
        """Number of states (x, t)."""
        return self.system.dimension + 1

    @property
    def blocks(self) -> Mapping[str, slice]:
        """The parts of the system, and time."""
        return {**self.system.blocks, CLOCK: slice(self.dimension - 1, self.dimension)}

    @property
    def ports(self) -> Mapping[str, slice]:
        """The ports of the system, and that of the clock."""
        return {**self.system.ports, CLOCK: slice(self.system.width, self.system.width + 1)}

    @property
    def sources(self) -> Mapping[str, Callable[[float], Any]]:
        """What the system feeds itself, and the 1 that drives the clock."""
        return {**self.system.sources, CLOCK: lambda t: 1.0}

    def initial_state(self) -> Array:
        """The initial state of the system, at time 0."""
        return np.append(self.system.initial_state(), 0.0)

    def _at(self, x: Array) -> tuple[Array, float]:
        state = self.as_state(x)
        return state[:-1], float(state[-1])

    def H(self, x: Array, t: float = 0.0) -> float:
        """The Hamiltonian."""
        return self.system.H(*self._at(x))

    def E(self, x: Array, t: float = 0.0) -> Matrix:
        """[E r; 0 1]."""
        at = self._at(x)
        E = np.eye(self.dimension)
        E[:-1, :-1], E[:-1, -1] = dense(self.system.E(*at)), self.system.r(*at)
        return E

    def z(self, x: Array, t: float = 0.0) -> Array:
        """(z, 0)."""
        return np.append(self.system.z(*self._at(x)), 0.0)

    def J(self, x: Array, t: float = 0.0) -> Matrix:
        """diag(J, 0)."""
        return _with(self.system.J(*self._at(x)), 0.0)

    def R(self, x: Array, t: float = 0.0) -> Matrix:
        """diag(R, 0)."""
        return _with(self.system.R(*self._at(x)), 0.0)

    def B(self, x: Array, t: float = 0.0) -> Matrix:
        """diag(B, 1)."""
        return _with(self.system.B(*self._at(x)), 1.0)

    def P(self, x: Array, t: float = 0.0) -> Matrix:
        """diag(P, 0)."""
        return _with(self.system.P(*self._at(x)), 0.0)

    def S(self, x: Array, t: float = 0.0) -> Matrix:
        """diag(S, 0)."""
        return _with(self.system.S(*self._at(x)), 0.0)

    def N(self, x: Array, t: float = 0.0) -> Matrix:
        """diag(N, 0)."""
        return _with(self.system.N(*self._at(x)), 0.0)


class TransformedPHDAE(PHDAE):
    """A pH-DAE in other variables w, x = phi(w, t), its equations multiplied by U(w, t)^T from the left.

    `phi` is a matrix, x = phi w, or a function of w and t; `slope` is d phi/dw and `drift` d phi/dt, by differences if
    they are not given. `U` is a regular matrix or a function of w and t, the identity if it is not given.
    """

    def __init__(
        self,
        system: PHDAE,
        phi: Array | Callable[[Array, float], Array],
        slope: Callable[[Array, float], Array] | None = None,
        drift: Callable[[Array, float], Array] | None = None,
        U: Array | Callable[[Array, float], Array] | None = None,
    ) -> None:
        self.system = system
        self.name = f"{system.name} (transformed)"
        n = system.dimension
        if not callable(phi):
            V = _square("phi", phi, system)
            self.phi: Callable[[Array, float], Array] = lambda w, t: V @ w
            self.slope: Callable[[Array, float], Array] = lambda w, t: V
            self.drift: Callable[[Array, float], Array] = lambda w, t: np.zeros(n)
        else:
            self.phi = phi
            self.slope = slope or (lambda w, t: precise_jacobian(lambda at: phi(at, t), w))
            self.drift = drift or (lambda w, t: precise_jacobian(lambda at: phi(w, at[0]), np.array([t]))[:, 0])
        if U is None or not callable(U):
            left = np.eye(n) if U is None else _square("U", U, system)
            self.U: Callable[[Array, float], Array] = lambda w, t: left
        else:
            self.U = lambda w, t: _square("U", U(w, t), system)

    @property
    def dimension(self) -> int:
        """Number of states w."""
        return self.system.dimension

    @property
    def blocks(self) -> Mapping[str, slice]:
        """The new variables, without names of their own."""
        return {f"w{k}": slice(k, k + 1) for k in range(self.dimension)}

    @property
    def ports(self) -> Mapping[str, slice]:
        """The ports of the system: power through them does not change."""
        return self.system.ports

    @property
    def sources(self) -> Mapping[str, Callable[[float], Any]]:
        """What the system feeds itself."""
        return self.system.sources

    def H(self, x: Array, t: float = 0.0) -> float:
        """H(phi(w, t), t)."""
        return self.system.H(self.phi(self.as_state(x), t), t)

    def E(self, x: Array, t: float = 0.0) -> Matrix:
        """U^T E phi_w."""
        return self.U(x, t).T @ (self.system.E(self.phi(x, t), t) @ self.slope(x, t))

    def z(self, x: Array, t: float = 0.0) -> Array:
        """U^-1 z."""
        return np.asarray(np.linalg.solve(self.U(x, t), self.system.z(self.phi(x, t), t)), dtype=np.float64)

    def r(self, x: Array, t: float = 0.0) -> Array:
        """U^T (r + E phi_t)."""
        at = self.phi(x, t)
        return self.U(x, t).T @ (self.system.r(at, t) + self.system.E(at, t) @ self.drift(x, t))

    def J(self, x: Array, t: float = 0.0) -> Matrix:
        """U^T J U."""
        return self._congruent(self.system.J(self.phi(x, t), t), x, t)

    def R(self, x: Array, t: float = 0.0) -> Matrix:
        """U^T R U."""
        return self._congruent(self.system.R(self.phi(x, t), t), x, t)

    def B(self, x: Array, t: float = 0.0) -> Matrix:
        """U^T B."""
        return self.U(x, t).T @ dense(self.system.B(self.phi(x, t), t))

    def P(self, x: Array, t: float = 0.0) -> Matrix:
        """U^T P."""
        return self.U(x, t).T @ dense(self.system.P(self.phi(x, t), t))

    def S(self, x: Array, t: float = 0.0) -> Matrix:
        """S."""
        return self.system.S(self.phi(x, t), t)

    def N(self, x: Array, t: float = 0.0) -> Matrix:
        """N."""
        return self.system.N(self.phi(x, t), t)

    def _congruent(self, A: Matrix, x: Array, t: float) -> Array:
        U = self.U(x, t)
        return U.T @ (dense(A) @ U)


def _with(A: Matrix, corner: float) -> Array:
    """diag(A, corner)."""
    result = np.zeros((A.shape[0] + 1, A.shape[1] + 1))
    result[:-1, :-1], result[-1, -1] = dense(A), corner
    return result


def _square(letter: str, given: Any, system: PHDAE) -> Array:
    matrix = np.asarray(given, dtype=np.float64)
    n = system.dimension
    if matrix.shape != (n, n):
        raise StructureError(f"'{system.name}' transformed: {letter} must be {n} x {n}, found shape {matrix.shape}.")
    condition = float(np.linalg.cond(matrix))
    if not condition < 1e14:
        raise StructureError(
            f"'{system.name}' transformed: {letter} must be regular, found a matrix of condition {condition:.1e}."
        )
    return matrix
