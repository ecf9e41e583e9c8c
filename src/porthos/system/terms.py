"""What a Lagrangian system is made of, as numbers: L(q, v), constraints g(t, q), damping D, inputs B~, and derivatives.

Derivatives of plain functions come from complex steps, f'(x) = Im f(x + i e)/e, which is exact to round-off; second
ones from differences of first ones.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from porthos.errors import ModelError
from porthos.notation import Array, finite, numbers
from porthos.system.check import difference_gradient, difference_jacobian
from porthos.system.watching import FunctionError, called

TINY = 1e-20  # the complex step; nothing is subtracted, so it can be as small as that
REAL, COMPLEX = "biuf", "c"  # kinds of numbers
WRONG = 1e-6  # relative gap between complex steps and differences that means a function does not go with them


class Terms(ABC):
    """L and its derivatives at (q, v), constraints at (t, q), damping and inputs. Lqv[i, j] = d2L/dq_i dv_j."""

    n: int  # coordinates
    m: int  # constraints
    k: int  # inputs
    rheonomic: bool  # whether the constraints depend on time
    quadratic: bool  # whether L is known to be quadratic in v
    analytic: bool = False  # whether `tangent` is known
    active: Array  # (1 + m, n) 1 where L and each constraint depend on a coordinate, 0 where it is cyclic

    @abstractmethod
    def L(self, q: Array, v: Array) -> float:
        """The Lagrangian."""

    @abstractmethod
    def Lq(self, q: Array, v: Array) -> Array:
        """dL/dq."""

    @abstractmethod
    def Lv(self, q: Array, v: Array) -> Array:
        """dL/dv, the momenta."""

    @abstractmethod
    def second(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """Lqq, Lqv, Lvv."""

    def momentum_rate(self, q: Array, v: Array, a: Array) -> Array:
        """d/dt Lv = Lvv a + Lqv^T v along q' = v, v' = a."""
        _, Lqv, Lvv = self.second(q, v)
        return Lvv @ a + Lqv.T @ v

    @abstractmethod
    def g(self, t: float, q: Array) -> Array:
        """The constraints (m,)."""

    @abstractmethod
    def G(self, t: float, q: Array) -> Array:
        """dg/dq (m, n)."""

    @abstractmethod
    def g_t(self, t: float, q: Array) -> Array:
        """dg/dt (m,)."""

    @abstractmethod
    def curvature(self, t: float, q: Array, v: Array, lam: Array) -> tuple[Array, Array, Array]:
        """d(G v + g_t)/dq (m, n), d(G^T lambda)/dq (n, n) and d(G v + g_t)/dt (m,)."""

    @abstractmethod
    def D(self, t: float, q: Array, v: Array) -> Array:
        """The damping matrix (n, n); its force is -D v."""

    @abstractmethod
    def Bt(self, t: float, q: Array, v: Array) -> Array:
        """The input matrix (n, k); its force is B~ u."""

    def tangent(self, t: float, q: Array, v: Array, a: Array, u: Array) -> tuple[Array, Array] | None:
        """The derivatives of Lvv a + Lvq v - Lq + D v - B~ u with respect to q and v (n, n), where they are known."""
        return None


class FunctionTerms(Terms):
    """The terms of plain functions, which must accept complex numbers unless their derivatives are given."""

    def __init__(
        self,
        name: str,
        n: int,
        L: Callable[..., Any],
        gradient: Callable[..., Any] | None,
        constraints: Callable[..., Any] | None,
        jacobian: Callable[..., Any] | None,
        dissipation: Any,
        inputs: list[Any],
        quadratic: bool,
    ) -> None:
        self._name, self.n, self.quadratic = name, n, quadratic
        self._L = self._named("L", L, 1)
        self._gradient = None if gradient is None else self._named("gradient", gradient, 2 * n)
        self.rheonomic = constraints is not None and self._takes("constraints", constraints) == 2
        at = 0.1 + 0.8 * np.arange(n) / max(1, n)
        self._g = self._of_time("constraints", (lambda t, q: np.zeros(0)) if constraints is None else constraints)
        self.m = finite(self._g(0.0, at), self._where("constraints")).size
        if constraints is not None:
            self._g = self._of_time("constraints", constraints, self.m)
        self._G = None if jacobian is None else self._of_time("jacobian", jacobian, self.m * n)
        self._D = self._of_q("dissipation", np.zeros((n, n)) if dissipation is None else dissipation, n * n)
        self._columns = [self._of_q("inputs", column) for column in inputs]
        self.widths = [self._width(column(at)) for column in self._columns]
        self.active = np.ones((1 + self.m, n))
        self.k = sum(self.widths)
        self._examine(at, at[::-1].copy())

    def _where(self, what: str) -> str:
        return f"Lagrangian '{self._name}': {what}"

    def _named(self, what: str, function: Callable[..., Any], count: int | None = None) -> Callable[..., Array]:
        """A function of the user's whose errors have a name, and which gives so many numbers."""
        where = self._where(what)

        def found(*arguments: Any) -> Any:
            value = called(where, function, *arguments)
            kinds = REAL + COMPLEX if any(np.iscomplexobj(each) for each in arguments) else REAL
            return _as_numbers(where, value, kinds, count)

        return found

    def _takes(self, what: str, function: Any) -> int:
        """How many arguments a function has."""
        try:
            return len(inspect.signature(function).parameters)
        except Exception as error:  # of another class, it may raise anything
            raise ModelError(
                f"{self._where(what)}: expected a function of q or of (t, q), found {function!r}."
            ) from error

    def _of_time(self, what: str, function: Callable[..., Any], count: int | None = None) -> Callable[..., Array]:
        """A function of (t, q) from one of q or of (t, q)."""
        named = self._named(what, function, count)
        return named if self._takes(what, function) == 2 else lambda t, q: named(q)

    def _of_q(self, what: str, given: Any, count: int | None = None) -> Callable[[Array], Array]:
        """A function of q from one, or from numbers."""
        if callable(given):
            return self._named(what, given, count)
        constant = _as_numbers(self._where(what), numbers(given, self._where(what)), REAL, count)
        return lambda q: constant

    def _width(self, column: Array) -> int:
        """How many inputs a port has whose matrix this is."""
        if column.size == 0 or column.size % self.n:
            raise ModelError(
                f"{self._where('inputs')}: expected {self.n} generalised forces for each input, found "
                f"{column.tolist()}."
            )
        return column.size // self.n

    def _examine(self, q: Array, v: Array) -> None:
        """Refuse functions whose derivatives, given or by complex steps, disagree with differences."""
        first = {
            "L": (self.Lq(q, v), difference_gradient(lambda at: self.L(at, v), q), "gradient"),
            "L (velocities)": (self.Lv(q, v), difference_gradient(lambda at: self.L(q, at), v), "gradient"),
            "constraints": (self.G(0.3, q), _smooth(lambda at: self.g(0.3, at), q), "jacobian"),
        }
        for what, (found, expected, argument) in first.items():
            scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
            if found.shape != expected.shape or not np.abs(found - expected).max(initial=0.0) <= WRONG * scale:
                raise ModelError(
                    f"Lagrangian '{self._name}': {what}: derivatives {found.tolist()} do not agree with differences "
                    f"{expected.tolist()}. Functions such as abs and norm break complex steps: use sqrt(x @ x), or "
                    f"give the derivatives as `{argument}` and check them."
                )

    def L(self, q: Array, v: Array) -> float:
        """The Lagrangian."""
        return float(self._L(q, v)[0])

    def Lq(self, q: Array, v: Array) -> Array:
        """dL/dq."""
        if self._gradient is not None:
            return self._gradient(q, v)[: self.n]
        return _complex_step(lambda at: self._L(at, v)[0], q)

    def Lv(self, q: Array, v: Array) -> Array:
        """dL/dv."""
        if self._gradient is not None:
            return self._gradient(q, v)[self.n :]
        return _complex_step(lambda at: self._L(q, at)[0], v)

    def second(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """Lqq, Lqv, Lvv, the first and the last made symmetric."""
        Lqq, Lvv = _smooth(lambda at: self.Lq(at, v), q), _smooth(lambda at: self.Lv(q, at), v)
        return (Lqq + Lqq.T) / 2, _smooth(lambda at: self.Lq(q, at), v), (Lvv + Lvv.T) / 2

    def momentum_rate(self, q: Array, v: Array, a: Array) -> Array:
        """Differences of Lv along the motion, for which few evaluations do."""
        return _smooth(lambda s: self.Lv(q + s[0] * v, v + s[0] * a), np.zeros(1))[:, 0]

    def g(self, t: float, q: Array) -> Array:
        """The constraints."""
        return self._g(t, q)

    def G(self, t: float, q: Array) -> Array:
        """dg/dq."""
        if self._G is not None:
            return self._G(t, q).reshape(self.m, self.n)
        return _complex_step(lambda at: self._g(t, at), q).T.reshape(self.m, self.n)

    def g_t(self, t: float, q: Array) -> Array:
        """dg/dt."""
        return self._rate(t, q, np.zeros(self.n))

    def _rate(self, t: float, q: Array, v: Array) -> Array:
        """G v + g_t: one complex step along the motion."""
        if self._G is not None and not self.rheonomic:
            return self.G(t, q) @ v
        moved = self._g(t + 1j * TINY if self.rheonomic else t, q + 1j * TINY * v)
        return _derivative(moved)

    def curvature(self, t: float, q: Array, v: Array, lam: Array) -> tuple[Array, Array, Array]:
        """Differences of G v + g_t and G^T lambda."""
        K = _smooth(lambda at: self.G(t, at).T @ lam, q)
        in_time = _smooth(lambda at: self._rate(float(at[0]), q, v), np.array([t]))
        return _smooth(lambda at: self._rate(t, at, v), q).reshape(self.m, self.n), (K + K.T) / 2, in_time[:, 0]

    def D(self, t: float, q: Array, v: Array) -> Array:
        """The damping matrix."""
        return self._D(q).reshape(self.n, self.n)

    def Bt(self, t: float, q: Array, v: Array) -> Array:
        """The input matrix."""
        columns = [column(q).reshape(self.n, width) for column, width in zip(self._columns, self.widths, strict=True)]
        return np.hstack([np.zeros((self.n, 0)), *columns])


def _as_numbers(where: str, value: Any, kinds: str, count: int | None) -> Array:
    """What a function gave as a flat array, if it is numbers of such kinds, and so many."""
    try:
        found = np.asarray(value)
    except Exception:  # noqa: BLE001 - an object of another class may raise anything
        found = np.asarray(None)
    if found.dtype.kind not in kinds or count not in (None, found.size):
        expected = "numbers" if count is None else "a number" if count == 1 else f"{count} numbers"
        raise FunctionError(f"{where}: expected {expected}, found {value!r}.")
    return found.reshape(-1) if found.dtype.kind in COMPLEX else found.reshape(-1).astype(np.float64, copy=False)


def _complex_step(f: Callable[[Any], Any], x: Array) -> Array:
    """df/dx_k in row k."""
    return np.array([_derivative(f(x + 1j * TINY * e)) for e in np.eye(x.size)])


def _derivative(value: Any) -> Any:
    """That of a function at a complex step; a NaN without an imaginary part is none."""
    with np.errstate(invalid="ignore"):
        return np.imag(value) / TINY + 0.0 * np.real(value)


def _smooth(f: Callable[[Array], Array], x: Array) -> Array:
    """df/dx by central differences with one Richardson step."""
    return (4 * difference_jacobian(f, x, 5e-4) - difference_jacobian(f, x, 1e-3)) / 3
