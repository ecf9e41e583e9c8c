"""Inputs of loads and ports, evaluated at the midpoints of steps: constants, tables, u(t), or controllers u(t, y)."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from porthos.errors import InputError, nearest
from porthos.notation import Array
from porthos.system.mechanical import MechanicalSystem, Terminal


class Inputs:
    """The wrench of every terminal at any time; `feedback` says whether a controller looks at the outputs."""

    def __init__(self, system: MechanicalSystem, given: Mapping[str, Any] | None, steps: int) -> None:
        self.system = system
        given = dict(given or {})
        open_ports = [t.name for t in system.terminals if t.source is None]
        for name in given:
            if name not in open_ports:
                raise InputError(
                    f"system '{system.name}' has no port '{name}' to give an input to. {nearest(name, open_ports)}"
                )
        self._terminals = system.terminals
        self._signals = [_signal(t, given.get(t.name), steps) for t in self._terminals]
        self.feedback = any(kind == "controller" for kind, _ in self._signals)

    def wrenches(self, first: int, count: int, h: float) -> tuple[Array, InputError | None]:
        """Wrenches (count, L, 6) at the midpoints of the steps first .. first + count - 1, without feedback.

        If a function fails on the way, those of the steps before, and its error.
        """
        result, good, failure = np.zeros((count, len(self._signals), 6)), count, None
        for k, ((kind, source), terminal) in enumerate(zip(self._signals, self._terminals, strict=True)):
            if kind == "constant":
                result[:, k] = terminal.basis @ source
            elif kind == "table":
                result[:, k] = source[first : first + count] @ terminal.basis.T
            else:
                for n in range(good):
                    t = (first + n + 0.5) * h
                    try:
                        result[n, k] = terminal.basis @ _called(terminal, t, source, t)
                    except InputError as error:
                        good, failure = n, error
                        break
        return result[:good], failure

    def at(self, t: float, row: int, q: Array, v: Array) -> Array:
        """Wrench (L, 6) at time t in the state (q, v); tables give their row, controllers see the outputs there."""
        result = np.zeros((len(self._signals), 6))
        for k, ((kind, source), terminal) in enumerate(zip(self._signals, self._terminals, strict=True)):
            if kind == "constant":
                u = source
            elif kind == "table":
                u = source[min(row, len(source) - 1)]
            elif kind == "time":
                u = _called(terminal, t, source, t)
            else:
                y = terminal.basis.T @ twist_at(self.system, k, q, v)
                u = _called(terminal, t, source, t, y if y.size > 1 else float(y[0]))
            result[k] = terminal.basis @ u
        return result


def twist_at(system: MechanicalSystem, k: int, q: Array, v: Array) -> Array:
    """(v_P, omega) of the point of action of terminal k."""
    b, X = system.terminals[k].body, system.mech.load_point[k]
    omega = 0.5 * np.cross(q[b, 1:], v[b, 1:]).sum(axis=0)
    return np.concatenate([v[b, 0] + X @ v[b, 1:], omega])


def _signal(terminal: Terminal, given: Any, steps: int) -> tuple[str, Any]:
    """(kind, source) of a terminal: 'constant', 'table', 'time' or 'controller'."""
    size = terminal.basis.shape[1]
    if terminal.source is not None:
        return "time", terminal.source
    if given is None:
        return "constant", np.zeros(size)
    if callable(given):
        return ("controller" if _arguments(given) >= 2 else "time"), given
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"port '{terminal.name}': expected numbers or a function, found {given!r}.") from error
    if not np.all(np.isfinite(values)):
        raise InputError(f"port '{terminal.name}': its input holds numbers that are not finite.")
    if values.shape == (size,) or (size == 1 and values.shape == ()):
        return "constant", values.reshape(size)
    if values.shape == (steps, size) or (size == 1 and values.shape == (steps,)):
        return "table", values.reshape(steps, size)
    raise InputError(
        f"port '{terminal.name}': expected {size} number(s), an array of shape ({steps}, {size}) with one row for each "
        f"step, a function u(t) or a controller u(t, y); found shape {values.shape}."
    )


def _arguments(function: Any) -> int:
    """How many positional arguments a callable takes."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in kinds and p.default is inspect.Parameter.empty for p in parameters)


def _called(terminal: Terminal, t: float, function: Any, *arguments: Any) -> Array:
    """The value of a user's function as a vector, or an InputError with name and time, whatever went wrong in it."""
    size, where = terminal.basis.shape[1], f"'{terminal.name}' at t = {t:.6g}"
    try:
        u = np.asarray(function(*arguments), dtype=np.float64).reshape(-1)
    except Exception as error:  # a user's function may raise anything; the run so far must survive it
        raise InputError(f"{where}: its function failed with {type(error).__name__}: {error}") from error
    if u.size != size:
        raise InputError(f"{where}: expected {size} number(s) from its function, found {u.size}: {u.tolist()}.")
    if not np.all(np.isfinite(u)):
        raise InputError(f"{where}: its function returned {u.tolist()}; expected finite numbers.")
    return u
