"""A Lagrangian in symbols: L(q, v), constraints g(t, q), Rayleigh's F = v.D v/2, inputs B~, and their derivatives.

SymPy is imported when a Lagrangian is made, not before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import NoneType
from typing import Any

from porthos.errors import ModelError, nearest

Expr = Any  # a SymPy expression; its classes are not imported for annotations alone
SymbolicMatrix = Any


@dataclass(frozen=True)
class SymbolicLagrangian:
    """The expressions that were given, with every symbol known, and the derivatives that the forms need."""

    name: str
    t: Expr
    q: SymbolicMatrix  # (n, 1)
    v: SymbolicMatrix  # (n, 1)
    L: Expr
    g: SymbolicMatrix  # (m, 1)
    D: SymbolicMatrix  # (n, n)
    Bt: SymbolicMatrix  # (n, k)
    parameters: Mapping[Expr, float]
    ports: Mapping[str, int]

    @cached_property
    def Lq(self) -> SymbolicMatrix:
        """dL/dq (n, 1)."""
        return _gradient(self.L, self.q)

    @cached_property
    def Lv(self) -> SymbolicMatrix:
        """dL/dv (n, 1), the momenta."""
        return _gradient(self.L, self.v)

    @cached_property
    def Lqq(self) -> SymbolicMatrix:
        """d2L/dq dq."""
        return _jacobian(self.Lq, self.q)

    @cached_property
    def Lqv(self) -> SymbolicMatrix:
        """d2L/dq_i dv_j, eq. (3) of 001."""
        return _jacobian(self.Lq, self.v)

    @cached_property
    def M(self) -> SymbolicMatrix:
        """d2L/dv dv, the mass matrix."""
        return _jacobian(self.Lv, self.v)

    @cached_property
    def H(self) -> Expr:
        """Lv.v - L, eq. (11)."""
        return (self.Lv.T * self.v)[0] - self.L

    @cached_property
    def G(self) -> SymbolicMatrix:
        """dg/dq (m, n)."""
        return _jacobian(self.g, self.q)

    @cached_property
    def g_t(self) -> SymbolicMatrix:
        """dg/dt (m, 1)."""
        return self.g.diff(self.t)

    @cached_property
    def rate(self) -> SymbolicMatrix:
        """G v + g_t (m, 1), the constraints on velocity level."""
        return self.G * self.v + self.g_t

    @property
    def rheonomic(self) -> bool:
        """Whether the constraints depend on time."""
        return bool(self.g.has(self.t))

    @cached_property
    def quadratic(self) -> bool:
        """Whether L is at most quadratic in v."""
        return not self.M.has(*self.v)

    def tangent_of(self, a: SymbolicMatrix, u: SymbolicMatrix) -> tuple[SymbolicMatrix, SymbolicMatrix]:
        """The derivatives of Lvv a + Lvq v - Lq + D v - B~ u with respect to q and v."""
        balance = self.M * a + self.Lqv.T * self.v - self.Lq + self.D * self.v - self.Bt * u
        return _jacobian(balance, self.q), _jacobian(balance, self.v)


def symbolise(
    name: str,
    L: Any,
    coordinates: Sequence[Any],
    velocities: Sequence[Any] | None,
    constraints: Any,
    dissipation: Any,
    inputs: Mapping[str, Any] | Any,
    parameters: Mapping[Any, float] | None,
    time: Any,
) -> SymbolicLagrangian:
    """The expressions of a user, examined: coordinates may be symbols or functions of time such as theta(t)."""
    import sympy as sp

    t = sp.Symbol("t") if time is None else time
    if not isinstance(t, sp.Symbol):
        raise ModelError(f"Lagrangian '{name}': time: expected a symbol such as sympy.Symbol('t'), found {time!r}.")
    rows = [constraints] if isinstance(constraints, sp.Expr | sp.Eq) else constraints
    _require_lists(name, coordinates=coordinates, velocities=() if velocities is None else velocities, constraints=rows)
    plain = _plain_symbols(name, list(coordinates), velocities, t)
    q, v = (sp.Matrix(symbols) if symbols else sp.zeros(0, 1) for symbols in plain.symbols)
    constants = _constants(name, parameters)

    def read(what: str, given: Any, known: Iterable[Any]) -> Any:
        expression = plain.replace(f"Lagrangian '{name}': {what}", given)
        return _examined(name, what, expression, {*known, *constants}, plain)

    energy = read("L", L, [*q, *v])
    g = [read(f"constraint {i}", _difference(row), [*q, t]) for i, row in enumerate(rows)]
    for i, row in enumerate(g):
        if not row.has(*q):
            raise ModelError(
                f"Lagrangian '{name}': constraint {i} depends on no coordinate, found {row}. Expected an expression in "
                f"{', '.join(map(str, q))} that is zero."
            )
    loss = read("dissipation", dissipation, [*q, *v, t])
    D = sp.hessian(loss, list(v))
    if D.has(*v) or sp.simplify(loss - (v.T * D * v)[0] / 2) != 0:
        raise ModelError(
            f"Lagrangian '{name}': dissipation must be a quadratic form of the velocities, v.D(q) v/2, found {loss}. "
            "Give other forces as an input with u(t, y)."
        )
    ports, columns = {}, []
    named = inputs if isinstance(inputs, Mapping) else {"u": inputs} if inputs is not None else {}
    for port, column in named.items():
        B = _column(name, port, column)
        if B.rows != len(q):
            raise ModelError(
                f"Lagrangian '{name}': input '{port}': expected {len(q)} rows, one generalised force for each of "
                f"{', '.join(map(str, q))}, found shape {B.shape}."
            )
        columns.append(B.applyfunc(lambda entry, port=port: read(f"input '{port}'", entry, [*q, *v, t])))
        ports[port] = B.cols
    Bt = sp.Matrix.hstack(sp.zeros(len(q), 0), *columns)
    return SymbolicLagrangian(name, t, q, v, energy, sp.Matrix(len(g), 1, g), D, Bt, constants, ports)


def _require_lists(name: str, **given: Any) -> None:
    import sympy as sp

    for what, value in given.items():
        if not isinstance(value, list | tuple | sp.MatrixBase):
            raise ModelError(f"Lagrangian '{name}': {what}: expected a list of SymPy expressions, found {value!r}.")


def _column(name: str, port: str, given: Any) -> SymbolicMatrix:
    """The generalised forces per unit of an input."""
    import sympy as sp

    try:
        return sp.Matrix([given] if isinstance(given, sp.Expr | int | float) else given)
    except Exception as error:  # SymPy asks objects of other classes, which may raise anything
        raise ModelError(
            f"Lagrangian '{name}': inputs: '{port}': expected a generalised force for each coordinate, found {given!r}."
        ) from error


@dataclass(frozen=True)
class _Plain:
    """Plain symbols in the place of functions of time."""

    symbols: tuple[list[Any], list[Any]]
    velocities: Mapping[Any, Any]
    coordinates: Mapping[Any, Any]

    def replace(self, where: str, given: Any) -> Any:
        import sympy as sp

        if not isinstance(given, sp.Expr | int | float) or isinstance(given, bool):
            raise ModelError(
                f"{where}: expected a SymPy expression, found {given!r}. Make one with sympy.symbols, or from text "
                "with sympy.sympify."
            )
        return sp.sympify(given).xreplace(dict(self.velocities)).xreplace(dict(self.coordinates))


def _plain_symbols(name: str, coordinates: list[Any], velocities: Sequence[Any] | None, t: Any) -> _Plain:
    import sympy as sp
    from sympy.core.function import AppliedUndef

    if velocities is None:
        still = [q for q in coordinates if not isinstance(q, AppliedUndef)]
        if still:
            raise ModelError(
                f"Lagrangian '{name}': no velocities given for {', '.join(map(str, still))}. Give one symbol for each "
                "coordinate, or make coordinates functions of time, sympy.Function('x')(t)."
            )
        velocities = [q.diff(t) for q in coordinates]
    if len(velocities) != len(coordinates) or not coordinates:
        raise ModelError(
            f"Lagrangian '{name}': expected a velocity for each coordinate, found {len(coordinates)} coordinates "
            f"({', '.join(map(str, coordinates))}) and {len(velocities)} velocities "
            f"({', '.join(map(str, velocities))})."
        )
    pairs = []
    for given, rate in zip(coordinates, velocities, strict=True):
        for symbol in (given, rate):
            if not isinstance(symbol, sp.Symbol | AppliedUndef | sp.Derivative):
                raise ModelError(
                    f"Lagrangian '{name}': expected symbols as coordinates and velocities, found {symbol!r}. Make "
                    "them with sympy.symbols('x v', real=True)."
                )
        q = sp.Symbol(given.func.__name__, real=True) if isinstance(given, AppliedUndef) else given
        v = rate
        if isinstance(rate, sp.Derivative):
            v = sp.Symbol(f"{q.name}dot", real=True)
        elif isinstance(rate, AppliedUndef):
            v = sp.Symbol(rate.func.__name__, real=True)
        pairs.append((q, v))
    symbols = [q for q, _ in pairs], [v for _, v in pairs]
    positions, rates = (dict(zip(*both, strict=True)) for both in ((coordinates, symbols[0]), (velocities, symbols[1])))
    return _Plain(symbols, rates, positions)


def _constants(name: str, parameters: Mapping[Any, float] | None) -> dict[Any, float]:
    import sympy as sp

    if not isinstance(parameters, Mapping | NoneType):
        raise ModelError(
            f"Lagrangian '{name}': parameters: expected numbers by symbols or names, such as {{'m': 1.0}}, found "
            f"{parameters!r}."
        )
    constants = {}
    for symbol, value in (parameters or {}).items():
        try:
            constants[sp.Symbol(symbol) if isinstance(symbol, str) else symbol] = float(value)
        except Exception as error:  # of an object of another class
            raise ModelError(
                f"Lagrangian '{name}': parameter '{symbol}': expected a number, found {value!r}."
            ) from error
    return constants


def _examined(name: str, what: str, expression: Any, known: set[Any], plain: _Plain) -> Any:
    """The expression, or an error that names the first symbol or function that it should not contain."""
    from sympy.core.function import AppliedUndef

    strange = sorted((expression.free_symbols | expression.atoms(AppliedUndef)) - known, key=str)
    if not strange:
        return expression
    found = strange[0]
    names = sorted({str(symbol) for symbol in known})
    if found in plain.symbols[1]:
        hint = f"'{found}' is a velocity; {what} may depend on coordinates only."
    elif what == "L" and str(found) == "t":
        hint = "L must not depend on time; prescribe a motion by a constraint g(t, q) = 0, a force by an input."
    elif str(found) in names:
        hint = "It has the name of a symbol that was given, but other assumptions, such as real=True: use one of them."
    else:
        hint = f"Give its value, parameters={{'{found}': ...}}, if it is a constant. {nearest(str(found), names)}"
    kind = "function" if isinstance(found, AppliedUndef) else "symbol"
    raise ModelError(f"Lagrangian '{name}': {what} contains the unknown {kind} '{found}'. {hint}")


def _difference(row: Any) -> Any:
    """What is zero: an equation counts as left minus right side."""
    import sympy as sp

    return row.lhs - row.rhs if isinstance(row, sp.Eq) else row


def _gradient(f: Expr, x: SymbolicMatrix) -> SymbolicMatrix:
    return x.applyfunc(lambda each: f.diff(each))


def _jacobian(f: SymbolicMatrix, x: SymbolicMatrix) -> SymbolicMatrix:
    import sympy as sp

    return sp.Matrix(len(f), len(x), lambda i, j: f[i].diff(x[j]))
