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
from porthos.notation import Array
from porthos.system.check import difference_gradient, difference_jacobian
from porthos.system.watching import called

TINY = 1e-20  # the complex step; nothing is subtracted, so it can be as small as that
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
        self._L, self._gradient = self._named("L", L), None if gradient is None else self._named("gradient", gradient)
        self.rheonomic = constraints is not None and len(inspect.signature(constraints).parameters) == 2
        g, G = (None if each is None else _of_time(each) for each in (constraints, jacobian))
        self._g = (lambda t, q: np.zeros(0)) if g is None else self._named("constraints", g)
        self._G = None if G is None else self._named("jacobian", G)
        self._D = self._named("dissipation", _of_q(np.zeros((n, n)) if dissipation is None else dissipation))
        self._columns = [self._named("inputs", _of_q(column)) for column in inputs]
        at = 0.1 + 0.8 * np.arange(n) / max(1, n)
        self.m = np.size(self._g(0.0, at))
        self.active = np.ones((1 + self.m, n))
        self.k = self.Bt(0.0, at, at).shape[1]
        self._examine(at, at[::-1].copy())

    def _named(self, what: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of the user's whose errors have a name."""
        where = f"Lagrangian '{self._name}': {what}"
        return lambda *arguments: called(where, function, *arguments)

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
        return float(self._L(q, v))

    def Lq(self, q: Array, v: Array) -> Array:
        """dL/dq."""
        if self._gradient is not None:
            return np.asarray(self._gradient(q, v)[0], dtype=np.float64)
        return _complex_step(lambda at: self._L(at, v), q)

    def Lv(self, q: Array, v: Array) -> Array:
        """dL/dv."""
        if self._gradient is not None:
            return np.asarray(self._gradient(q, v)[1], dtype=np.float64)
        return _complex_step(lambda at: self._L(q, at), v)

    def second(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """Lqq, Lqv, Lvv, the first and the last made symmetric."""
        Lqq, Lvv = _smooth(lambda at: self.Lq(at, v), q), _smooth(lambda at: self.Lv(q, at), v)
        return (Lqq + Lqq.T) / 2, _smooth(lambda at: self.Lq(q, at), v), (Lvv + Lvv.T) / 2

    def momentum_rate(self, q: Array, v: Array, a: Array) -> Array:
        """Differences of Lv along the motion, for which few evaluations do."""
        return _smooth(lambda s: self.Lv(q + s[0] * v, v + s[0] * a), np.zeros(1))[:, 0]

    def g(self, t: float, q: Array) -> Array:
        """The constraints."""
        return np.asarray(self._g(t, q), dtype=np.float64).reshape(-1)

    def G(self, t: float, q: Array) -> Array:
        """dg/dq."""
        if self._G is not None:
            return np.asarray(self._G(t, q), dtype=np.float64).reshape(self.m, self.n)
        return _complex_step(lambda at: np.reshape(self._g(t, at), -1), q).T.reshape(self.m, self.n)

    def g_t(self, t: float, q: Array) -> Array:
        """dg/dt."""
        return self._rate(t, q, np.zeros(self.n))

    def _rate(self, t: float, q: Array, v: Array) -> Array:
        """G v + g_t: one complex step along the motion."""
        if self._G is not None and not self.rheonomic:
            return self.G(t, q) @ v
        moved = self._g(t + 1j * TINY if self.rheonomic else t, q + 1j * TINY * v)
        return np.reshape(_derivative(moved), -1)

    def curvature(self, t: float, q: Array, v: Array, lam: Array) -> tuple[Array, Array, Array]:
        """Differences of G v + g_t and G^T lambda."""
        K = _smooth(lambda at: self.G(t, at).T @ lam, q)
        in_time = _smooth(lambda at: self._rate(float(at[0]), q, v), np.array([t]))
        return _smooth(lambda at: self._rate(t, at, v), q).reshape(self.m, self.n), (K + K.T) / 2, in_time[:, 0]

    def D(self, t: float, q: Array, v: Array) -> Array:
        """The damping matrix."""
        return np.asarray(self._D(q), dtype=np.float64)

    def Bt(self, t: float, q: Array, v: Array) -> Array:
        """The input matrix."""
        columns = [np.reshape(np.asarray(column(q), dtype=np.float64), (self.n, -1)) for column in self._columns]
        return np.hstack([np.zeros((self.n, 0)), *columns])


def _of_time(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """A function of (t, q) from one of q or of (t, q)."""
    return function if len(inspect.signature(function).parameters) == 2 else lambda t, q: function(q)


def _of_q(given: Any) -> Callable[[Array], Any]:
    return given if callable(given) else lambda q: given


def _complex_step(f: Callable[[Any], Any], x: Array) -> Array:
    """df/dx_k in row k."""
    return np.array([_derivative(f(x + 1j * TINY * e)) for e in np.eye(x.size)])


def _derivative(value: Any) -> Any:
    """That of a function at a complex step; a NaN without an imaginary part is none."""
    return np.imag(value) / TINY + 0.0 * np.real(value)


def _smooth(f: Callable[[Array], Array], x: Array) -> Array:
    """df/dx by central differences with one Richardson step."""
    return (4 * difference_jacobian(f, x, 5e-4) - difference_jacobian(f, x, 1e-3)) / 3
