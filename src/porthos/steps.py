"""The steps of a run: n steps of size h with n h = end; `Adaptive` ones, which follow a tolerance with the options of
000, section 7.1; or `Reversible` ones, which follow a function of the positions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from math import inf
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import PorthosError
from porthos.notation import LARGEST, Array, numbers

WHOLE = 1e-6  # how far end/step may be from a whole number
MOST = 1e12  # steps: with 1 us each they take 12 days
SAFETY = 0.9  # part of the step that the estimate allows
WORTH = 1.1  # a step that could grow by less stays as it is, with its Newton matrix
WHOLE_NUMBERS = ("good_steps", "max_steps")
FIRST = 1e-3  # the first step as a part of the run, if it is not given


def positive_time(name: str, value: float) -> None:
    """Refuse what is no time after 0."""
    if not (isinstance(value, Real) and 0 < value < LARGEST):
        raise PorthosError(f"simulate: {name} must be a positive number of seconds, found {value!r}.")


def count_steps(step: float, end: float, every: int) -> int:
    """The number of steps from 0 to end, or an error that says which numbers would fit."""
    positive_time("step", step)
    positive_time("end", end)
    if end > MOST * step:
        raise PorthosError(
            f"simulate: end = {end!r} with step = {step!r} are more than {MOST:.0e} steps. "
            "Check the units: both are in seconds."
        )
    steps = round(end / step)
    if steps < 1 or abs(end / step - steps) > WHOLE:
        below = max(1, int(end / step))
        raise PorthosError(
            f"simulate: end = {end!r} is not a whole number of steps of {step!r}. "
            f"Try step = {end / below:.12g} or end = {below * step:.12g}."
        )
    if not (isinstance(every, Integral) and every >= 1) or steps % every:
        raise PorthosError(f"simulate: every must be a whole number that divides the {steps} steps, found {every!r}.")
    return steps


@dataclass(frozen=True)
class Adaptive:
    """Steps with an error of the whole run of about `rtol` times the size of each state, plus `atol`.

    The size of a state is its largest value so far. `initial`, `minimum` and `maximum` are steps; a step changes at
    most by the factors `decrease` and `increase`, and grows after `good_steps` steps in a row that met the tolerance.
    `max_steps` ends a run that takes too many. Steps end exactly on `breakpoints`, where an input jumps; those of
    `ph.Step`, `ph.Ramp`, `ph.Table` and `ph.Expression` are known.
    """

    rtol: float = 1e-6
    atol: float = 1e-9
    initial: float | None = None
    minimum: float = 0.0
    maximum: float = inf
    decrease: float = 0.2
    increase: float = 5.0
    good_steps: int = 1
    max_steps: int = 100_000
    breakpoints: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        times = numbers(self.breakpoints, "Adaptive: breakpoints", "times in s").reshape(-1)
        object.__setattr__(self, "breakpoints", tuple(times.tolist()))
        for each in fields(self)[:-1]:
            value, kind = getattr(self, each.name), Integral if each.name in WHOLE_NUMBERS else Real
            if not (isinstance(value, kind) and value == value) and (value is not None or each.name != "initial"):
                words = "a whole number" if kind is Integral else "a number"
                raise PorthosError(f"Adaptive: {each.name}: expected {words}, found {value!r}.")
        conditions = {
            "0 < rtol < 1": 0 < self.rtol < 1,
            "atol > 0": 0 < self.atol < LARGEST,
            "0 <= minimum < maximum": 0 <= self.minimum < self.maximum,
            "0 < decrease < 1": 0 < self.decrease < 1,
            "increase > 1": 1 < self.increase < LARGEST,
            "initial between minimum and maximum": self.initial is None
            or (0 < self.initial < LARGEST and self.minimum <= self.initial <= self.maximum),
            "a whole number good_steps >= 1": self.good_steps >= 1,
            "a whole number max_steps >= 1": self.max_steps >= 1,
        }
        for condition, met in conditions.items():
            if not met:
                raise PorthosError(f"Adaptive: expected {condition}, found {self!r}.")

    def __repr__(self) -> str:
        changed = [each for each in fields(self) if getattr(self, each.name) != each.default]
        told = {each.name: getattr(self, each.name) for each in fields(self)[:2] + tuple(changed)}
        return f"Adaptive({', '.join(f'{key}={value!r}' for key, value in told.items())})"

    def first(self, end: float) -> float:
        """The step to begin with in a run of `end` seconds."""
        guess = FIRST * end if self.initial is None else self.initial
        return min(max(guess, self.minimum), self.maximum)

    def next(self, h: float, error: float, order: int, good: int) -> float:
        """The step after one of h whose error, in units of the tolerance, goes with h^order.

        `good` counts the steps in a row that met the tolerance, this one included; 0 means that it did not.
        """
        factor = SAFETY * error ** (-1 / order) if error > 0 else self.increase
        factor = min(max(factor, self.decrease), self.increase)
        if good == 0:
            return h * min(factor, SAFETY)
        if factor >= 1.0 and (factor < WORTH or good < self.good_steps):
            return h
        return min(h * factor, self.maximum)


@dataclass(frozen=True)
class Reversible:
    """Steps of about `step`/density(q) that a run backwards would make too: symmetric schemes keep their symmetry.

    `density` is a positive function of the positions of a mechanism or Lagrangian, or of the states of a system without
    algebraic equations: large where steps shall be small. `initial` is the first step of a run that goes on with
    another, or goes back on it. `max_steps` ends a run that takes too many.
    """

    step: float
    density: Callable[[Array], float]
    initial: float | None = None
    max_steps: int = 1_000_000

    def __post_init__(self) -> None:
        positive_time("Reversible: step", self.step)
        if self.initial is not None:
            positive_time("Reversible: initial", self.initial)
        if not callable(self.density):
            raise PorthosError(f"Reversible: expected a function density(q), found {self.density!r}.")
        if not (isinstance(self.max_steps, Integral) and self.max_steps >= 1):
            raise PorthosError(f"Reversible: expected a whole number max_steps >= 1, found {self.max_steps!r}.")

    def __repr__(self) -> str:
        return f"Reversible(step={self.step!r}, density={getattr(self.density, '__name__', self.density)})"


def check_steps(
    step: float | Adaptive | Reversible, end: float, every: int, times: ArrayLike | None
) -> tuple[float, ...] | None:
    """The times to keep; refuses steps, an end and states to keep that do not fit together."""
    if not isinstance(step, Adaptive | Reversible):
        count_steps(step, end, every)
        if times is not None:
            raise PorthosError("simulate: times are for step=ph.Adaptive(...); a fixed step keeps each every-th state.")
        return None
    positive_time("end", end)
    if every != 1:
        raise PorthosError(f"simulate: adaptive steps keep all states, or times; leave every = {every!r} away.")
    if times is None:
        return None
    if isinstance(step, Reversible):
        raise PorthosError("simulate: times would cut reversible steps; leave them away and use run.at(times).")
    wanted = numbers(times, "simulate: times").reshape(-1)
    if not np.all((wanted == 0.0) | ((wanted >= 1 / LARGEST) & (wanted <= end))):
        raise PorthosError(f"simulate: times: expected numbers between 0 and end = {end!r}, found {wanted.tolist()}.")
    return tuple(wanted.tolist())


def kink(name: str, times: Iterable[float], step: float, end: float) -> str:
    """A sentence about the first of the times, where a function jumps or bends, that is within a step; or nothing."""
    within = [t for t in times if 0.0 < t < end and abs(t / step - round(t / step)) > WHOLE]
    return (
        f"'{name}' jumps or bends at t = {min(within):g}, within a step of {step:g} s. Results are more "
        "accurate with a step of which such times are multiples."
        if within
        else ""
    )
