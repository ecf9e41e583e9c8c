"""Connections of ports that only pass power on: a relation M y + N u = 0 whose solutions all have y.u = 0.

It has that property exactly if M N^T is skew and [M N] has full rank (a Dirac structure), and can then be written as
u = K y + T lambda,   0 = T^T y,   K skew:   a part that answers at once, and a part that constrains.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import StructureError
from porthos.notation import Array
from porthos.system.phdae import PHDAE

SKEW_TOLERANCE = 1e-12  # of M N^T, relative to its largest entry
RANK_TOLERANCE = 1e-10  # singular value, relative to the largest, that counts as zero
Ratio: TypeAlias = ArrayLike | Callable[[Array, Array], ArrayLike]


@dataclass(frozen=True)
class Law:
    """u = K y + T lambda, 0 = T^T y between p port variables, with `rows` multipliers lambda.

    `at` gives K (p, p) and T (p, rows) at the states of the systems that the ports belong to.
    """

    constant: bool
    rows: int
    at: Callable[[Sequence[Array]], tuple[Array, Array]]


class Connection(ABC):
    """Ports that are joined so that no power is lost between them."""

    name: str

    def __post_init__(self) -> None:
        for key in ("a", "b", "name"):
            given, what = vars(self).get(key, ""), "a text" if key == "name" else "the name of a port such as 'shaft'"
            if not isinstance(given, str):
                raise StructureError(f"{type(self).__name__}: {key}: expected {what}, found {given!r}.")

    @property
    @abstractmethod
    def ports(self) -> tuple[str, ...]:
        """Names of the ports, with the name of their system in front where two systems have the same: 'a: motor'."""

    @abstractmethod
    def law(self, systems: Sequence[PHDAE], widths: Sequence[int]) -> Law:
        """The law between ports of these systems with so many inputs each, or an error that says what does not fit."""

    @property
    def label(self) -> str:
        """Its name, or that of its ports if it has none."""
        return self.name or " - ".join(self.ports)


@dataclass(frozen=True)
class _Pair(Connection):
    """Two ports and a ratio C (k_a, k_b): a number, a matrix, or a function of the states of both systems."""

    a: str
    b: str
    ratio: Ratio = 1.0
    name: str = ""

    @property
    def ports(self) -> tuple[str, ...]:
        """Both ports."""
        return (self.a, self.b)

    def _matrix(self, value: Any, widths: Sequence[int]) -> Array:
        C, shape = _numbers(self.label, "ratio", value), tuple(widths)
        if C.shape == () and shape[0] == shape[1]:
            C = C * np.eye(shape[0])
        if C.shape != shape:
            sizes = f"port '{self.a}' has {shape[0]} inputs, port '{self.b}' has {shape[1]}"
            raise StructureError(
                f"connection '{self.label}': {sizes}; the ratio must be a matrix of shape {shape}"
                f"{' or a number' if shape[0] == shape[1] else ''}, found shape {C.shape}."
            )
        if not np.all(np.isfinite(C)):
            raise StructureError(f"connection '{self.label}': the ratio holds numbers that are not finite.")
        return C

    def _law(self, rows: int, widths: Sequence[int], made: Callable[[Array], tuple[Array, Array]]) -> Law:
        ratio = self.ratio
        if callable(ratio):
            return Law(False, rows, lambda states: made(self._matrix(self._asked(ratio, states), widths)))
        fixed = made(self._matrix(ratio, widths))
        return Law(True, rows, lambda states: fixed)

    def _asked(self, ratio: Callable[..., Any], states: Sequence[Array]) -> Any:
        """What a user's function says."""
        try:
            return ratio(*states)
        except Exception as error:  # it may raise anything
            raise StructureError(
                f"connection '{self.label}': ratio: expected a function of the states of both systems, found that it "
                f"failed with {type(error).__name__}: {error}."
            ) from error


@dataclass(frozen=True)
class Transformer(_Pair):
    """y_b = C^T y_a and u_a = -C u_b (004, 5.1): it ties outputs, such as velocities, by a multiplier lambda = u_b.

    With C = 1 both outputs are equal and both inputs opposite: what is welded together moves together. A gear.
    """

    def law(self, systems: Sequence[PHDAE], widths: Sequence[int]) -> Law:
        """K = 0, T = [-C; 1]."""
        ka, kb = widths
        return self._law(kb, widths, lambda C: (np.zeros((ka + kb, ka + kb)), np.vstack([-C, np.eye(kb)])))


@dataclass(frozen=True)
class Gyrator(_Pair):
    """u_a = -C y_b and u_b = C^T y_a (004, 5.1): each input answers to the other output, without a multiplier.

    A DC motor: its current makes the torque, its speed the counter voltage.
    """

    def law(self, systems: Sequence[PHDAE], widths: Sequence[int]) -> Law:
        """K = [0 -C; C^T 0], no multipliers."""
        ka, kb = widths
        zero_a, zero_b, none = np.zeros((ka, ka)), np.zeros((kb, kb)), np.zeros((ka + kb, 0))
        return self._law(0, widths, lambda C: (np.block([[zero_a, -C], [C.T, zero_b]]), none))


@dataclass(frozen=True)
class Feedback(Gyrator):
    """Negative feedback of a plant with port `a` by a controller with port `b`: u_a = -y_b, u_b = y_a.

    A controller that is itself a pH system can only give back what it took in before.
    """


@dataclass(frozen=True)
class Relation(Connection):
    """M y + N u = 0 between any number of ports; M and N (p, p) act on their p outputs and inputs, in this order."""

    joined: Sequence[str]
    M: ArrayLike
    N: ArrayLike
    name: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.joined
        if not isinstance(given, list | tuple) or not given or not all(isinstance(port, str) for port in given):
            raise StructureError(f"Relation: joined: expected names of ports in a list, found {given!r}.")

    @property
    def ports(self) -> tuple[str, ...]:
        """All ports."""
        return tuple(self.joined)

    def law(self, systems: Sequence[PHDAE], widths: Sequence[int]) -> Law:
        """K and T from M and N, after both conditions are tested."""
        M, N = (self._square(letter, given, widths) for letter, given in (("M", self.M), ("N", self.N)))
        self._require_power_preserved(M, N)
        K, T = input_form(M, N)
        return Law(True, T.shape[1], lambda states: (K, T))

    def _square(self, letter: str, given: ArrayLike, widths: Sequence[int]) -> Array:
        A, p = _numbers(self.label, letter, given), sum(widths)
        if A.shape != (p, p):
            sizes = ", ".join(f"'{port}' {width}" for port, width in zip(self.ports, widths, strict=True))
            raise StructureError(
                f"connection '{self.label}': {letter} must have shape {(p, p)} for ports with inputs {sizes}; found "
                f"shape {A.shape}."
            )
        return A

    def _require_power_preserved(self, M: Array, N: Array) -> None:
        """Refuse a relation that lets power through."""
        gap = M @ N.T + N @ M.T
        i, j = np.unravel_index(int(np.argmax(np.abs(gap))), gap.shape)
        if not abs(gap[i, j]) <= SKEW_TOLERANCE * max(1.0, float(np.abs(M).max() * np.abs(N).max())):
            raise StructureError(
                f"connection '{self.label}' is not power-preserving: M N^T + N M^T must be zero, found {gap[i, j]:.6g} "
                f"in entry ({i}, {j}), from equations {i} and {j} of M y + N u = 0. Check their signs."
            )
        values = np.linalg.svd(np.hstack([M, N]), compute_uv=False)
        rank = int(np.sum(values > RANK_TOLERANCE * values.max(initial=0.0)))
        if rank < len(M):
            raise StructureError(
                f"connection '{self.label}' is not power-preserving: {len(M)} inputs need {len(M)} independent "
                f"equations, found {rank}; what is left open lets power through."
            )


def _numbers(label: str, what: str, given: Any) -> Array:
    try:
        return np.asarray(given, dtype=np.float64)
    except Exception as error:  # NumPy asks objects of other classes, which may raise anything
        raise StructureError(f"connection '{label}': {what}: expected numbers, found {given!r}.") from error


def input_form(M: Array, N: Array) -> tuple[Array, Array]:
    """K and T of u = K y + T lambda, 0 = T^T y, for a power-preserving relation M y + N u = 0.

    u lies in the range of M^T: with M = U diag(s) V^T of rank m, u = V a, V^T y + S a = 0, S skew. Where S is regular,
    a follows from y; the null space of S is left for lambda.
    """
    U, s, Vt = np.linalg.svd(M)
    m = int(np.sum(s > RANK_TOLERANCE * max(1e-300, float(np.linalg.norm(np.hstack([M, N]), 2)))))
    V = Vt[:m].T
    S = (U[:, :m].T @ N @ V) / s[:m, None]
    S = (S - S.T) / 2
    _, size, Wt = np.linalg.svd(S)
    r = int(np.sum(size > RANK_TOLERANCE * max(1.0, float(size.max(initial=0.0)))))
    at_once = V @ Wt[:r].T
    K = -at_once @ np.linalg.inv(Wt[:r] @ S @ Wt[:r].T) @ at_once.T
    return (K - K.T) / 2, V @ Wt[r:].T
