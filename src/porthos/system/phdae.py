"""The waist of Porthos: a port-Hamiltonian descriptor system, evaluated at a state x and a time t.

E x' + r = (J - R) z + (B - P) u,   y = (B + P)^T z + (S - N) u,   E^T z = grad H,   z^T r = dH/dt,
Gamma = [J B; -B^T N] = -Gamma^T,   W = [R P; P^T S] = W^T >= 0                     (000, Definition 4.1)
hence   dH/dt = y^T u - (z, u)^T W (z, u) <= y^T u                                  (000, Theorem 4.2).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy import sparse

from porthos.errors import StructureError
from porthos.notation import Array
from porthos.system.check import Report, check_structure, worst_of
from porthos.system.descriptor import Descriptor, Matrix, dense
from porthos.system.dirac import Bond, DiracStructure

if TYPE_CHECKING:
    from porthos.system.general import LinearPHDAE
    from porthos.system.symbolic_form import SymbolicForm

SPAN = 1.0  # spread of random states and times in `check`


class PHDAE(Descriptor):
    """A pH-DAE. Subclasses give the functions; R, P, S, N and r are zero unless they say otherwise.

    Vectors are dense, matrices dense or sparse. `GeneralPHDAE` and `LinearPHDAE` make one from functions or matrices.
    """

    def __new__(cls, *args: object, **options: object) -> Self:
        """Systems are made by its subclasses."""
        if cls is PHDAE:
            raise StructureError(
                "PHDAE is what all port-Hamiltonian systems have in common. Make one with ph.GeneralPHDAE (functions), "
                "ph.LinearPHDAE (matrices), ph.Lagrangian, or Model.assemble()."
            )
        return super().__new__(cls)

    @abstractmethod
    def J(self, x: Array, t: float = 0.0) -> Matrix:
        """The structure matrix, skew."""

    @abstractmethod
    def z(self, x: Array, t: float = 0.0) -> Array:
        """The costate, E^T z = grad H."""

    @abstractmethod
    def B(self, x: Array, t: float = 0.0) -> Matrix:
        """The port matrix."""

    def R(self, x: Array, t: float = 0.0) -> Matrix:
        """The dissipation matrix, symmetric and >= 0."""
        return sparse.csr_array((self.dimension, self.dimension))

    def r(self, x: Array, t: float = 0.0) -> Array:
        """The time flow, z^T r = dH/dt; zero for systems that do not depend on time."""
        return np.zeros(self.dimension)

    def P(self, x: Array, t: float = 0.0) -> Matrix:
        """The dissipative part of the port matrix."""
        return sparse.csr_array((self.dimension, self.width))

    def S(self, x: Array, t: float = 0.0) -> Matrix:
        """The dissipative feed-through, symmetric."""
        return sparse.csr_array((self.width, self.width))

    def N(self, x: Array, t: float = 0.0) -> Matrix:
        """The conservative feed-through, skew."""
        return sparse.csr_array((self.width, self.width))

    def through(self, x: Array, t: float = 0.0) -> Array:
        """S - N (m, m): outputs that inputs have at once."""
        if type(self).S is PHDAE.S and type(self).N is PHDAE.N:
            return np.zeros((self.width, self.width))
        return dense(self.S(x, t) - self.N(x, t))

    def Gamma(self, x: Array, t: float = 0.0) -> sparse.csr_array:
        """The extended structure matrix [J B; -B^T N], skew."""
        B = sparse.csr_array(self.B(x, t))
        return _blocks(self.J(x, t), B, -B.T, self.N(x, t))

    def W(self, x: Array, t: float = 0.0) -> sparse.csr_array:
        """The extended dissipation matrix [R P; P^T S], symmetric and >= 0."""
        P = sparse.csr_array(self.P(x, t))
        return _blocks(self.R(x, t), P, P.T, self.S(x, t))

    def flow(self, x: Array, u: Array, t: float = 0.0) -> Array:
        """(J - R) z + (B - P) u - r."""
        inner = (self.J(x, t) - self.R(x, t)) @ self.z(x, t)
        return inner + (self.B(x, t) - self.P(x, t)) @ u - self.r(x, t)

    def response(self, x: Array, e: Array, t: float = 0.0) -> Array:
        """(J - R) e for any effort e in the place of z."""
        return self.J(x, t) @ e - self.R(x, t) @ e

    def y(self, x: Array, u: Array | None = None, t: float = 0.0) -> Array:
        """The outputs, y = (B + P)^T z + (S - N) u; u counts as zero if it is not given."""
        return self.output_by(x, self.z(x, t), u, t)

    def output_by(self, x: Array, e: Array, u: Array | None = None, t: float = 0.0) -> Array:
        """(B + P)^T e + (S - N) u for any effort e in the place of z."""
        y = (self.B(x, t) + self.P(x, t)).T @ e
        return y if u is None else y + (self.S(x, t) - self.N(x, t)) @ u

    def dissipation(self, x: Array, u: Array, t: float = 0.0) -> float:
        """The power (z, u)^T W (z, u) that is lost."""
        return self.loss_by(x, self.z(x, t), u, t)

    def loss_by(self, x: Array, e: Array, u: Array, t: float = 0.0) -> float:
        """(e, u)^T W (e, u) for any effort e in the place of z."""
        return float(e @ (self.R(x, t) @ e + 2 * (self.P(x, t) @ u)) + u @ (self.S(x, t) @ u))

    def dirac(self, x: Array, t: float = 0.0) -> DiracStructure:
        """The Dirac structure at x, eq. (4.7) of 000."""
        return DiracStructure(self.Gamma(x, t).toarray(), self.dimension)

    def bond(self, x: Array, rate: Array, u: Array, t: float = 0.0) -> Bond:
        """Flows and efforts of storage, ports and dissipation for a rate x' and an input (000, Theorem 4.7).

        They lie in the Dirac structure exactly if x' solves the system.
        """
        z = self.z(x, t)
        both = np.concatenate([z, u])
        return Bond(
            storage=(-(self.E(x, t) @ rate + self.r(x, t)), z),
            ports=(self.y(x, u, t), np.asarray(u, dtype=np.float64)),
            dissipation=(both, -(self.W(x, t) @ both)),
        )

    @property
    def quadratic(self) -> bool:
        """Whether H has degree 2 and E is constant, as far as is known: z in the middle is a discrete gradient."""
        return False

    @property
    def storages(self) -> tuple[tuple[slice, PHDAE], ...]:
        """Places of the state with a Hamiltonian of their own, whose sum is H, and the systems that have it."""
        return ((slice(0, self.dimension), self),)

    def autonomous(self) -> PHDAE:
        """The same system with time as a state, fed by a port 'time' with 1 (000, 4.2.3)."""
        from porthos.system.transform import AutonomousForm  # it needs this module

        return AutonomousForm(self)

    def transformed(
        self,
        phi: Array | Callable[[Array, float], Array],
        slope: Callable[[Array, float], Array] | None = None,
        drift: Callable[[Array, float], Array] | None = None,
        U: Array | Callable[[Array, float], Array] | None = None,
    ) -> PHDAE:
        """The same system in variables w, x = phi(w, t), with its equations multiplied by U(w, t)^T (000, 4.2.2).

        `phi` and `U` are regular matrices or functions of w and t; `slope` = d phi/dw and `drift` = d phi/dt come from
        differences if they are not given. Ports, power and energy stay what they are.
        """
        from porthos.system.transform import TransformedPHDAE  # it needs this module

        return TransformedPHDAE(self, phi, slope, drift, U)

    def linearised(self, x: Array | None = None, u: Array | None = None, t: float = 0.0) -> LinearPHDAE:
        """The linear pH-DAE of small deviations from a state of rest x (default: the initial state) with inputs u."""
        from porthos.system.linearize import linearised  # it needs this module

        return linearised(self, *self._point(x, u, t), t)

    def equations(self, x: Array | None = None, t: float = 0.0) -> SymbolicForm:
        """The system on paper, with its matrices as they are at a state (default: the initial one); print it."""
        from porthos.system.numeric_form import numeric_form  # it needs this module

        return numeric_form(self, x, t)

    def check(self, x: Array | None = None, t: float | None = None, samples: int = 5, seed: int = 0) -> Report:
        """Test every condition of Definition 4.1; the report names the one that fails, and where.

        At the state x and time t (default 0); without x at random states and times, of which the worst is reported.
        """
        if x is not None:
            return self.structure(self.as_state(x), t or 0.0)
        rng = np.random.default_rng(seed)
        states = [(SPAN * rng.normal(size=self.dimension), SPAN * rng.normal()) for _ in range(samples)]
        return worst_of([self.structure(at, time if t is None else t) for at, time in states])

    def structure(self, x: Array, t: float = 0.0) -> Report:
        """The conditions of Definition 4.1 at one state and time."""
        return check_structure(self, x, t)


def _blocks(A: Matrix, B: Matrix, C: Matrix, D: Matrix) -> sparse.csr_array:
    if B.shape[1] == 0:
        return sparse.csr_array(A)
    rows = [[sparse.csr_array(A), B], [C, sparse.csr_array(D)]]
    return sparse.csr_array(sparse.block_array(rows, format="csr"))
