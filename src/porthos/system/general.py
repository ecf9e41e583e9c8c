"""pH-DAEs that users write down: from functions of (x, t), or from constant matrices.

E x' + r = (J - R) z + (B - P) u,   y = (B + P)^T z + (S - N) u        (000, Definition 4.1)
linear:   z = Q (x - x_e),   H = 1/2 (x - x_e)^T E^T Q (x - x_e),   E^T Q = Q^T E.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from porthos.errors import StructureError
from porthos.notation import Array
from porthos.system.check import Report, symmetric_finding
from porthos.system.descriptor import ANALYTIC, Matrix, dense
from porthos.system.phdae import PHDAE
from porthos.system.watching import FunctionError, called

if TYPE_CHECKING:
    from porthos.system.nullspace import ReducedPHDAE

Coefficient: TypeAlias = ArrayLike | Callable[..., Any] | None
Names: TypeAlias = int | Sequence[str] | Mapping[str, int]
MOST = 10**6  # states or inputs
BESIDE = 0.03  # how far from the initial state, relative to it, conditions are tested too
ROUGHLY = 1e-3  # defect that is a mistake there: differences of H may be less exact than at the start


class GeneralPHDAE(PHDAE):
    """A pH-DAE from plain functions of x, or of x and t, and from constant arrays, in any mixture.

    `states` and `ports` are names, names with their sizes, or a number. E is the identity and J, R, B, P, S, N, r are
    zero where they are not given. With an `initial` state all conditions of Definition 4.1 are tested there at once;
    `check()` tests them anywhere. `tangent(x, rate, u, t)`, the derivative of E x' - f with respect to x, makes Newton
    cheaper; without it differences do.
    """

    def __init__(
        self,
        name: str,
        states: Names,
        H: Callable[..., float],
        z: Callable[..., ArrayLike],
        J: Coefficient = None,
        R: Coefficient = None,
        E: Coefficient = None,
        B: Coefficient = None,
        ports: Names = 0,
        P: Coefficient = None,
        S: Coefficient = None,
        N: Coefficient = None,
        r: Coefficient = None,
        initial: ArrayLike | None = None,
        tangent: Callable[..., Matrix] | None = None,
    ) -> None:
        self.name = name
        self._blocks, self._ports = _places(name, "states", states, "x"), _places(name, "ports", ports, "u")
        n, m = self.dimension, self.width
        shapes = {"J": (n, n), "R": (n, n), "E": (n, n), "B": (n, m), "P": (n, m), "S": (m, m), "N": (m, m), "r": (n,)}
        given = {"J": J, "R": R, "E": np.eye(n) if E is None else E, "B": B, "P": P, "S": S, "N": N, "r": r}
        self._at = {k: _coefficient(self, k, given[k], shape) for k, shape in shapes.items()}
        self._at["z"] = _coefficient(self, "z", z, (n,))
        self._at["H"] = _coefficient(self, "H", H, ())
        self._tangent = tangent
        self._initial = None if initial is None else self.as_state(initial, "initial: ")
        if self._initial is not None:
            self.check(self._initial).require()
            self._require_beside(self._initial)

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self.name}': {self.dimension} states, {len(self.ports)} ports)"

    def _require_beside(self, x: Array) -> None:
        """Refuse what holds at x by chance: at zero any gradient may look right, and x^3 is x where x is one."""
        rng = np.random.default_rng(0)
        there = x + BESIDE * np.where(x == 0.0, 1.0, np.abs(x)) * rng.choice([-1.0, 1.0], x.size)
        try:
            with np.errstate(all="ignore"):
                report = self.check(there)
        except (ArithmeticError, ValueError):
            return  # outside of where its functions are defined
        failed = any(finding.defect > max(finding.tolerance, ROUGHLY) for finding in report.findings)  # no NaN
        if failed and report["finite numbers"].ok:
            raise StructureError(f"{report}\nfound at x = {there.tolist()}, near the initial state, where all holds.")

    @property
    def dimension(self) -> int:
        """Number of states."""
        return max((place.stop for place in self._blocks.values()), default=0)

    @property
    def ports(self) -> Mapping[str, slice]:
        """Name of each port and its columns of B."""
        return self._ports

    @property
    def blocks(self) -> Mapping[str, slice]:
        """Name of each part of the state and its place."""
        return self._blocks

    def initial_state(self) -> Array:
        """The state given as `initial`."""
        return super().initial_state() if self._initial is None else self._initial.copy()

    def H(self, x: Array, t: float = 0.0) -> float:
        """The Hamiltonian."""
        return float(self._at["H"](x, t))

    def E(self, x: Array, t: float = 0.0) -> Matrix:
        """The descriptor matrix."""
        return self._at["E"](x, t)

    def J(self, x: Array, t: float = 0.0) -> Matrix:
        """The structure matrix, skew."""
        return self._at["J"](x, t)

    def R(self, x: Array, t: float = 0.0) -> Matrix:
        """The dissipation matrix, symmetric and >= 0."""
        return self._at["R"](x, t)

    def z(self, x: Array, t: float = 0.0) -> Array:
        """The costate, E^T z = grad H."""
        return self._at["z"](x, t)

    def r(self, x: Array, t: float = 0.0) -> Array:
        """The time flow, z^T r = dH/dt."""
        return self._at["r"](x, t)

    def B(self, x: Array, t: float = 0.0) -> Matrix:
        """The port matrix."""
        return self._at["B"](x, t)

    def P(self, x: Array, t: float = 0.0) -> Matrix:
        """The dissipative part of the port matrix."""
        return self._at["P"](x, t)

    def S(self, x: Array, t: float = 0.0) -> Matrix:
        """The dissipative feed-through, symmetric."""
        return self._at["S"](x, t)

    def N(self, x: Array, t: float = 0.0) -> Matrix:
        """The conservative feed-through, skew."""
        return self._at["N"](x, t)

    def tangent(self, x: Array, rate: Array, u: Array, t: float = 0.0) -> Matrix:
        """The derivative of E x' - f with respect to x: as given, or by differences."""
        if self._tangent is None:
            return super().tangent(x, rate, u, t)
        return called(f"system '{self.name}': tangent", self._tangent, x, rate, u, t)

    @property
    def tangent_cost(self) -> int:
        """Few evaluations of `residual` if a tangent was given."""
        return super().tangent_cost if self._tangent is None else ANALYTIC


class LinearPHDAE(GeneralPHDAE):
    """A pH-DAE with constant matrices, z = Q (x - rest) and H = 1/2 (x - rest)^T E^T Q (x - rest).

    Everything that makes it one is tested at once: J and N skew, W >= 0, E^T Q symmetric.
    """

    tangent_cost = 1
    quadratic = True

    def __init__(
        self,
        name: str,
        J: ArrayLike,
        Q: ArrayLike,
        R: ArrayLike | None = None,
        E: ArrayLike | None = None,
        B: ArrayLike | None = None,
        states: Names | None = None,
        ports: Names | None = None,
        P: ArrayLike | None = None,
        S: ArrayLike | None = None,
        N: ArrayLike | None = None,
        rest: ArrayLike | None = None,
        initial: ArrayLike | None = None,
    ) -> None:
        self.Q = Q = _numbers(name, "Q", Q)
        n = len(np.atleast_1d(Q))
        E = np.eye(n) if E is None else _numbers(name, "E", E)
        self.rest = rest = np.zeros(n) if rest is None else _numbers(name, "rest", rest)
        if not (Q.shape == E.shape == (n, n) and rest.shape == (n,)):
            raise StructureError(
                f"system '{name}': E, Q and rest do not fit: found shapes {E.shape}, {Q.shape} and {rest.shape}, "
                "expected (n, n), (n, n) and (n,)."
            )
        energy = E.T @ Q
        super().__init__(
            name,
            n if states is None else states,
            H=lambda x: 0.5 * (x - rest) @ (energy @ (x - rest)),
            z=lambda x: Q @ (x - rest),
            ports=(0 if B is None else np.shape(B)[-1]) if ports is None else ports,
            J=J, R=R, E=E, B=B, P=P, S=S, N=N,
        )  # fmt: skip
        J, R, E, B, P, S, N = (dense(self._at[letter](rest, 0.0)) for letter in "JREBPSN")
        self._matrices = E, (J - R) @ Q, B - P, (B + P).T @ Q, S - N
        self._loss = np.block([[Q.T @ R @ Q, Q.T @ P], [P.T @ Q, S]])
        self.check(samples=1).require()
        self._initial = None if initial is None else self.as_state(initial, "initial: ")

    def reduced(self) -> ReducedPHDAE:
        """The same system without multipliers, in the null space of its constraints (004, eq. (33))."""
        from porthos.system.nullspace import ReducedPHDAE  # it needs this module

        return ReducedPHDAE(self)

    def structure(self, x: Array, t: float = 0.0) -> Report:
        """The conditions of Definition 4.1, and that E^T Q is symmetric, without which z = Q x has no energy."""
        symmetry = symmetric_finding("E^T Q symmetric", dense(self.E(x)).T @ self.Q, self.block_of)
        return Report(self.name, (symmetry, *super().structure(x, t).findings))

    def residual(self, x: Array, rate: Array, u: Array, t: float = 0.0) -> Array:
        """E x' - (J - R) Q (x - rest) - (B - P) u."""
        E, A, B, _, _ = self._matrices
        return E @ rate - A @ (x - self.rest) - B @ u

    def residuals(self, X: Array, rates: Array, U: Array, times: Array) -> Array:
        """The same for several states at once."""
        E, A, B, _, _ = self._matrices
        return rates @ E.T - (X - self.rest) @ A.T - U @ B.T

    def dissipation(self, x: Array, u: Array, t: float = 0.0) -> float:
        """The power (z, u)^T W (z, u) that is lost."""
        v = np.concatenate([x - self.rest, u])
        return float(v @ (self._loss @ v))

    def y(self, x: Array, u: Array | None = None, t: float = 0.0) -> Array:
        """(B + P)^T Q (x - rest) + (S - N) u."""
        _, _, _, C, D = self._matrices
        return C @ (x - self.rest) if u is None else C @ (x - self.rest) + D @ u

    def tangent(self, x: Array, rate: Array, u: Array, t: float = 0.0) -> Matrix:
        """-(J - R) Q."""
        return -self._matrices[1]

    def output_slope(self, x: Array, u: Array, t: float = 0.0) -> Array:
        """(B + P)^T Q."""
        return self._matrices[3]


def _places(system: str, what: str, names: Names, letter: str) -> dict[str, slice]:
    """Names with their places: from a number, a list of names, or names with their sizes."""
    if isinstance(names, int) and not isinstance(names, bool) and 0 <= names <= MOST:
        sizes: dict[str, int] = {f"{letter}{k}": 1 for k in range(names)}
    elif isinstance(names, Mapping):
        sizes = dict(names)
    elif isinstance(names, Sequence) and all(isinstance(one, str) for one in names):
        sizes = dict.fromkeys(names, 1)
        if len(sizes) != len(names):
            raise StructureError(f"system '{system}': a name stands twice in {what} = {list(names)}.")
    else:
        raise StructureError(
            f"system '{system}': {what}: expected a number up to {MOST}, names, or names with their sizes, such as "
            f"['q', 'p'], found {names!r}."
        )
    if not all(isinstance(name, str) and isinstance(size, int) and 1 <= size <= MOST for name, size in sizes.items()):
        raise StructureError(f"system '{system}': {what} need sizes of 1 or more, found {sizes}.")
    ends = np.cumsum(list(sizes.values()), dtype=int).tolist()
    return {name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends, strict=True)}


def _coefficient(system: PHDAE, letter: str, given: Any, shape: tuple[int, ...]) -> Callable[[Array, float], Any]:
    """A function of (x, t) that gives an array of the right shape, or says what is wrong with it."""
    if not callable(given):
        constant = np.zeros(shape) if given is None else _examined(system, letter, given, shape)
        return lambda x, t: constant
    arguments = [p for p in inspect.signature(given).parameters.values() if p.default is inspect.Parameter.empty]
    names = [p.name for p in arguments if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(names) not in (1, 2) or names[0] == "t":
        raise StructureError(
            f"system '{system.name}': {letter} must be a function of x, or of x and t in this order; found "
            f"{letter}({', '.join(names)})."
        )
    where, of_time = f"system '{system.name}': {letter}", len(names) == 2

    def at(x: Array, t: float) -> Any:
        return _examined(system, letter, called(where, given, x, t) if of_time else called(where, given, x), shape)

    return at


def _examined(system: PHDAE, letter: str, value: Any, shape: tuple[int, ...]) -> Any:
    if sparse.issparse(value):
        array: Any = sparse.csr_array(value)
    else:
        array = _numbers(system.name, letter, value)
    if array.shape != shape:
        sides = f"{system.dimension} states ({', '.join(system.blocks)}) and {system.width} inputs of ports"
        raise FunctionError(
            f"system '{system.name}': {letter} must have shape {shape} for {sides}, found {array.shape}."
        )
    return array


def _numbers(system: str, letter: str, value: Any) -> Array:
    """A dense array of numbers."""
    try:
        return np.asarray(dense(value), dtype=np.float64)
    except Exception as error:  # an object of another class may raise anything
        raise FunctionError(f"system '{system}': {letter} must hold numbers, found {value!r}.") from error
