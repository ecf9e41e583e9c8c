"""Inputs of loads and ports at the midpoints of substeps: constants, tables, u(t), or controllers u(t, y)."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from math import isfinite
from types import NoneType
from typing import Any

import numpy as np

from porthos.errors import InputError, nearest
from porthos.notation import Array, IntArray
from porthos.system.drives import Driven
from porthos.system.loads import Terminal
from porthos.system.mechanical import MechanicalSystem

CONTROLLER = "controller"
PLAIN = (tuple, list)


class Inputs:
    """The wrench of every terminal at any time; `answered` are those with controllers, `feedback` if there are any."""

    def __init__(self, system: MechanicalSystem, given: Mapping[str, Any] | None, steps: int) -> None:
        self.system = system
        self._terminals = system.terminals
        given = known_ports(system.name, self._terminals, given)
        for drive in system.drives:
            if drive.motion is None:
                raise InputError(
                    f"system '{system.name}': expected a motion for the drive '{drive.name}', found none: the system "
                    "was read from a result, which holds what happened and no functions. Assemble the model again."
                )
        self._signals = [signal_of(t, given.get(t.name), steps) for t in self._terminals]
        self.answered = np.array([k for k, _, _ in self.controllers()], dtype=np.int64)
        self.feedback = self.answered.size > 0

    @property
    def signals(self) -> list[tuple[Terminal, str, Any]]:
        """(terminal, kind, source) of all of them; kinds are 'constant', 'table', 'time' and 'controller'."""
        return [(t, kind, source) for t, (kind, source) in zip(self._terminals, self._signals, strict=True)]

    @property
    def kinks(self) -> dict[str, tuple[float, ...]]:
        """Times at which inputs and motions or their slopes are known to jump, by name."""
        known = {t.name: getattr(source, "breakpoints", ()) for t, _, source in self.signals}
        return known | {d.name: d.motion.breakpoints for d in self.system.drives if d.motion is not None}

    def controllers(self) -> list[tuple[int, Terminal, Any]]:
        """(number, terminal, function) of all terminals with a controller."""
        return [(k, self._terminals[k], source) for k, (kind, source) in enumerate(self._signals) if kind == CONTROLLER]

    def wrenches(self, first: int, count: int, sizes: Array) -> tuple[Array, InputError | None]:
        """Wrenches (S count, L+D, 6) at the midpoints of all S substeps of the steps first .. first + count - 1.

        Rows of a table hold for a whole step; controllers get zero. Of drives the motion at both ends of each substep,
        see `kernels/drives.py`. If a function fails on the way, those of the steps before, and its error.
        """
        substeps, h = sizes.size, float(sizes.sum())
        middle = (np.cumsum(sizes) - sizes / 2) / h
        times = ((np.arange(first, first + count)[:, None] + middle) * h).ravel()
        result, good, failure = np.zeros((times.size, len(self.system.channel_names), 6)), times.size, None
        for k, ((kind, source), terminal) in enumerate(zip(self._signals, self._terminals, strict=True)):
            if kind == "constant":
                result[:, k] = terminal.basis @ source
            elif kind == "table":
                result[:, k] = np.repeat(source[first : first + count] @ terminal.basis.T, substeps, axis=0)
            elif kind == "time":
                u = np.zeros((times.size, terminal.basis.shape[1]))
                for n, t in enumerate(times[:good].tolist()):
                    try:
                        evaluate(terminal, u[n], source, t)
                    except InputError as error:
                        good, failure = n - n % substeps, error
                        break
                result[:good, k] = u[:good] @ terminal.basis.T
        begin = (np.arange(first, first + count)[:, None] + np.append(0.0, np.cumsum(sizes)[:-1]) / h) * h
        ends = np.append(begin.ravel(), (first + count) * h)
        for k, drive in enumerate(self.system.drives, len(self._signals)):
            known, broken = _motion(drive, ends[: good + 1])
            if broken is not None:
                good, failure = (known.shape[0] - 1) // substeps * substeps if known.size else 0, broken
            result[:good, k, :4] = np.stack([known[:good, 0], known[1 : good + 1, 0], known[:good, 1],
                                             known[1 : good + 1, 1]], axis=1)  # fmt: skip
        return result[:good], failure

    def at_start(self) -> Array:
        """Inputs (L+D, 6) at t = 0, or the InputError of a function that fails there; of controllers zero."""
        return self._at_nodes(np.zeros(1), np.zeros(1, dtype=np.int64), refuse=True)[0]

    def at_nodes(self, nodes: IntArray, h: float) -> Array:
        """Inputs (K, L+D, 6) after the steps `nodes`; NaN where a user's function fails, of controllers zero.

        A controller may have a memory: it is asked before each step, by the march, and at no other time.
        """
        return self._at_nodes(np.asarray(nodes * h, dtype=np.float64), nodes, refuse=False)

    def _at_nodes(self, t: Array, rows: IntArray, refuse: bool) -> Array:
        result, called = np.zeros((t.size, len(self.system.channel_names), 6)), []
        for k, ((kind, source), terminal) in enumerate(zip(self._signals, self._terminals, strict=True)):
            if kind == "constant":
                result[:, k] = terminal.basis @ source
            elif kind == "table":
                result[:, k] = source[np.minimum(rows, len(source) - 1)] @ terminal.basis.T
            elif kind == "time":
                called.append((k, terminal, source, np.zeros((t.size, terminal.basis.shape[1]))))
        good = np.ones(t.size, dtype=np.bool_)
        for n, time in enumerate(t.tolist() if called else ()):
            try:
                for _, terminal, function, u in called:
                    evaluate(terminal, u[n], function, time)
            except InputError:
                if refuse:
                    raise
                good[n] = False
        for k, terminal, _, u in called:
            result[good, k] = u[good] @ terminal.basis.T
        result[~good] = np.nan
        return self._with_motions(t, result)

    def _with_motions(self, t: Array, result: Array) -> Array:
        for k, drive in enumerate(self.system.drives, len(self._signals)):
            result[:, k], result[:, k, :3] = 0.0, drive.at(t)
        return result


def _motion(drive: Driven, t: Array) -> tuple[Array, InputError | None]:
    """s and s' (T, 2) at increasing times; if the function fails at one of them, at those before, and its error."""
    try:
        return np.stack([drive.values(t), drive.rates(t)], axis=1), None
    except InputError as error:
        good = 0
        while good < t.size:
            try:
                drive.at(t[good : good + 1])
            except InputError:
                break
            good += 1
        if good == t.size:
            raise
        return (np.stack([drive.values(t[:good]), drive.rates(t[:good])], axis=1) if good else np.zeros((0, 2))), error


def known_ports(system: str, terminals: Iterable[Terminal], given: Mapping[str, Any] | None) -> dict[str, Any]:
    """The inputs given, or an InputError if one of them names a port that is not open."""
    if not isinstance(given, Mapping | NoneType):
        raise InputError(f"inputs: expected values by the names of ports, such as {{'motor': 1.0}}, found {given!r}.")
    given, open_ports = dict(given or {}), [t.name for t in terminals if t.source is None]
    for name in given:
        if name not in open_ports:
            raise InputError(f"system '{system}' has no port '{name}' to give an input to. {nearest(name, open_ports)}")
    return given


def signal_of(terminal: Terminal, given: Any, steps: int) -> tuple[str, Any]:
    """(kind, source) of a terminal: 'constant', 'table', 'time' or 'controller'."""
    size = terminal.basis.shape[1]
    if terminal.source is not None:
        return "time", terminal.source
    if given is None:
        return "constant", np.zeros(size)
    if callable(given):
        return (CONTROLLER if _arguments(given) >= 2 else "time"), given
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"port '{terminal.name}': input: expected numbers or a function, found {given!r}.") from error
    if not np.all(np.isfinite(values)):
        raise InputError(f"port '{terminal.name}': its input holds numbers that are not finite.")
    if values.shape == (size,) or (size == 1 and values.shape == ()):
        return "constant", values.reshape(size)
    if values.shape == (steps, size) or (size == 1 and values.shape == (steps,)):
        return "table", values.reshape(steps, size)
    rows = f"an array of shape ({steps}, {size}) with one row for each step, " if steps else ""
    raise InputError(
        f"port '{terminal.name}': input: expected {size} number(s), {rows}a function u(t) or a "
        f"controller u(t, y) or u(t, y, state); found shape {values.shape}."
    )


def wants_state(controller: Any) -> bool:
    """Whether a controller looks at the whole mechanism: u(t, y, state)."""
    return _arguments(controller) >= 3


def _arguments(function: Any) -> int:
    """How many positional arguments a callable takes."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in kinds and p.default is inspect.Parameter.empty for p in parameters)


def evaluate(terminal: Terminal, place: Array, function: Any, t: float, *more: Any) -> None:
    """Write the value of a user's function into `place`, or raise an InputError with name and time."""
    try:
        value = function(t, *more)
    except Exception as error:  # a user's function may raise anything; the run so far must survive it
        raise InputError(f"{_where(terminal, t)}: its function failed with {type(error).__name__}: {error}.") from error
    # what functions return as a rule goes the short way: this is done once for every step
    if isinstance(value, float):
        value = (value,)
    if (type(value) in PLAIN or (type(value) is np.ndarray and value.ndim)) and len(value) == len(place):
        try:
            place[:] = value
        except (TypeError, ValueError):
            pass
        else:
            if isfinite(sum(place.tolist())):  # a sum of finite numbers that overflows goes the long way too
                return
    place[:] = _examined(terminal, t, value)


def _examined(terminal: Terminal, t: float, value: Any) -> Array:
    """A value as a vector, or an InputError that says what is wrong with it."""
    size = terminal.basis.shape[1]
    try:
        u = np.asarray(value, dtype=np.float64).reshape(-1)
    except Exception as error:  # its conversion may raise anything too
        raise InputError(f"{_where(terminal, t)}: its function failed with {type(error).__name__}: {error}.") from error
    if u.size != size:
        raise InputError(
            f"{_where(terminal, t)}: expected {size} number(s) from its function, found {u.size}: {u.tolist()}."
        )
    if not np.all(np.isfinite(u)):
        raise InputError(f"{_where(terminal, t)}: its function returned {u.tolist()}; expected finite numbers.")
    return u


def _where(terminal: Terminal, t: float) -> str:
    return f"'{terminal.name}' at t = {t:.6g}"
