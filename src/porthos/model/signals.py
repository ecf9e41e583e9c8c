"""Functions of time that a model file can hold: tables, ramps, steps, sines and expressions, as numbers or vectors.

Each is a callable u(t) that loads and inputs take like any other, and knows its `breakpoints`: the times at which it or
its slope jumps. A step of a simulation that ends there keeps its order.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import ModelError
from porthos.model.expressions import Formula, formula, rates
from porthos.notation import Array, number, numbers, positive

Level: TypeAlias = Annotated[Any, "a number, or a vector"]
Numbers: TypeAlias = Annotated[Any, "a list of numbers"]
Rows: TypeAlias = Annotated[Any, "a list of numbers, or of vectors"]
Formulas: TypeAlias = Annotated[str | tuple[Any, ...], "an expression in t, or one for each component"]
Rate: TypeAlias = Callable[[float], Any]
# What a load or an input may be: a constant, or a function of time.
Signal: TypeAlias = Annotated[Any, "a constant, or a function of time"]
Input: TypeAlias = Annotated[Any, "a constant, a function of time, or a controller"]


def _level(value: ArrayLike, what: str) -> float | Array:
    """A number or a vector of finite numbers."""
    a = numbers(value, what)
    if a.ndim > 1:
        raise ModelError(f"{what}: expected a number or a vector, found an array of shape {a.shape}.")
    return float(a) if a.ndim == 0 else a


class TimeSignal:
    """What all functions of time have."""

    def __call__(self, t: float) -> float | Array:
        """The value at time t."""
        raise TypeError("TimeSignal is the common base; use Table, Ramp, Step, Sine or Expression")

    @property
    def size(self) -> int | None:
        """How many components a value has; None for a plain number."""
        value = self(0.0)
        return None if isinstance(value, float) else len(value)

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Times at which the function or its slope jumps."""
        return ()

    @property
    def rates(self) -> tuple[Rate, Rate] | None:
        """Its first and its second derivative, if they are known as functions."""
        return None

    def _same_size(self, *keys: str) -> None:
        """Store the levels named, or say which two of them do not fit together."""
        levels = {key: _level(getattr(self, key), f"{type(self).__name__}: {key}") for key in keys}
        vectors = {key: len(value) for key, value in levels.items() if not isinstance(value, float)}
        if len(set(vectors.values())) > 1:
            raise ModelError(f"{type(self).__name__}: expected vectors of one length, found {vectors}.")
        for key, level in levels.items():
            object.__setattr__(self, key, level)


@dataclass(frozen=True)
class Table(TimeSignal):
    """Straight lines between given points; the first value before them, the last one after them."""

    times: Numbers
    values: Rows

    def __post_init__(self) -> None:
        times, values = numbers(self.times, "Table: times"), numbers(self.values, "Table: values")
        if times.ndim != 1 or times.size == 0 or np.any(np.diff(times) <= 0.0):
            raise ModelError(f"Table: times: expected numbers that increase, found {np.asarray(self.times).tolist()}.")
        if values.ndim not in (1, 2) or len(values) != times.size:
            raise ModelError(
                f"Table: values: expected a number or a vector for each of the {times.size} times, found an array of "
                f"shape {values.shape}."
            )
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", values)

    def __call__(self, t: float) -> float | Array:
        """Linear interpolation."""
        times, values = np.asarray(self.times), np.asarray(self.values)
        k = bisect_right(times, t)
        if k in (0, times.size):
            value = values[min(k, times.size - 1)]
        else:
            share = (t - times[k - 1]) / (times[k] - times[k - 1])
            value = (1.0 - share) * values[k - 1] + share * values[k]
        return float(value) if values.ndim == 1 else value

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """All times of the table."""
        return tuple(np.asarray(self.times).tolist())


@dataclass(frozen=True)
class Ramp(TimeSignal):
    """From `before` to `after` along a straight line between the times `begin` and `end`.

    If it is `smooth`, along the curve x^3 (10 - 15 x + 6 x^2), which begins and ends at rest and without acceleration.
    """

    begin: float
    end: float
    after: Level
    before: Level = 0.0
    smooth: bool = False

    def __post_init__(self) -> None:
        for key in ("begin", "end"):
            object.__setattr__(self, key, number(getattr(self, key), f"Ramp: {key}"))
        if not self.end > self.begin:
            raise ModelError(f"Ramp: end: expected a time after begin = {self.begin}, found {self.end}.")
        if not isinstance(self.smooth, bool):
            raise ModelError(f"Ramp: smooth: expected True or False, found {self.smooth!r}.")
        self._same_size("after", "before")

    def __call__(self, t: float) -> float | Array:
        """before + (after - before) s, with s from 0 to 1."""
        s = self._share(t)
        s = s * s * s * (10.0 - 15.0 * s + 6.0 * s * s) if self.smooth else s
        return (1.0 - s) * self.before + s * self.after

    def _share(self, t: float) -> float:
        return min(1.0, max(0.0, (t - self.begin) / (self.end - self.begin)))

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Where it begins and ends."""
        return (self.begin, self.end)

    @property
    def rates(self) -> tuple[Rate, Rate] | None:
        """Those of the curve; the straight line has a jump in its first one."""
        if not self.smooth:
            return None
        height, length = self.after - self.before, self.end - self.begin

        def rate(t: float) -> Any:
            x = self._share(t)
            return height * (30.0 * (x * (1.0 - x)) ** 2 / length)

        def second(t: float) -> Any:
            x = self._share(t)
            return height * (60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / length**2)

        return rate, second


@dataclass(frozen=True)
class Step(TimeSignal):
    """`before` until the time `at`, `after` from then on."""

    at: float
    after: Level
    before: Level = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", number(self.at, "Step: at"))
        self._same_size("after", "before")

    def __call__(self, t: float) -> float | Array:
        """One of the two levels."""
        on = float(t >= self.at)
        return (1.0 - on) * self.before + on * self.after

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """The time of the jump."""
        return (self.at,)


@dataclass(frozen=True)
class Sine(TimeSignal):
    """offset + amplitude sin(2 pi frequency t + phase); frequency in hertz, phase in radians."""

    amplitude: Level
    frequency: float
    phase: float = 0.0
    offset: Level = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "frequency", positive(self.frequency, "Sine: frequency"))
        object.__setattr__(self, "phase", number(self.phase, "Sine: phase"))
        self._same_size("amplitude", "offset")

    def __call__(self, t: float) -> float | Array:
        """The value at time t."""
        wave = float(np.sin(2 * np.pi * self.frequency * t + self.phase))
        return self.offset + wave * self.amplitude

    @property
    def rates(self) -> tuple[Rate, Rate]:
        """A cosine, and minus the sine."""
        w = 2 * np.pi * self.frequency
        return (
            lambda t: w * float(np.cos(w * t + self.phase)) * self.amplitude,
            lambda t: -w * w * float(np.sin(w * t + self.phase)) * self.amplitude,
        )


@dataclass(frozen=True)
class Expression(TimeSignal):
    """Arithmetic in t, such as "3*sin(2*pi*t)", or a list with one expression or number for each component.

    `breakpoints` are the times at which it or its slope jumps, if you know them.
    """

    formula: Formulas
    breakpoints: Numbers = ()
    _parts: tuple[Formula, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        several = isinstance(self.formula, list | tuple)
        texts = tuple(str(part) for part in self.formula) if several else (str(self.formula),)
        try:
            object.__setattr__(self, "_parts", tuple(formula(text) for text in texts))
        except ModelError as error:
            raise ModelError(f"Expression: formula: {error}") from error
        object.__setattr__(self, "formula", texts if several else texts[0])
        times = numbers(self.breakpoints, "Expression: breakpoints").reshape(-1)
        object.__setattr__(self, "breakpoints", tuple(times.tolist()))

    def __call__(self, t: float) -> float | Array:
        """The value at time t."""
        if isinstance(self.formula, str):
            return float(self._parts[0](t))
        return np.array([part(t) for part in self._parts])

    @property
    def rates(self) -> tuple[Rate, Rate] | None:
        """Those of the formula, if it is one."""
        if not isinstance(self.formula, str):
            return None
        first, second = rates(self.formula)
        return first, second

    @property
    def size(self) -> int | None:
        """How many components a value has; the formulas need not have a value at t = 0 for that."""
        return None if isinstance(self.formula, str) else len(self.formula)


SIGNALS: tuple[type[TimeSignal], ...] = (Table, Ramp, Step, Sine, Expression)
