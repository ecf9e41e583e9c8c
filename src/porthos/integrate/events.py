"""Events: where a function of time and state crosses zero, located to round-off by steps of the scheme itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np

from porthos.errors import InputError, PorthosError, Status
from porthos.notation import Array, flag, positive

EPS = float(np.finfo(np.float64).eps)
DIRECTIONS = (-1, 0, 1)


@dataclass(frozen=True)
class Event:
    """A function(t, x) whose zeros are wanted: where it rises (direction 1), falls (-1) or both (0).

    `terminal` ends the run there. Two zeros within one step cancel and are not seen. A function that jumps by a
    `period`, such as an angle between -pi and pi by 2 pi, is not zero there.
    """

    function: Callable[[float, Array], float]
    direction: int = 0
    terminal: bool = False
    period: float | None = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise PorthosError(f"Event: expected a function of (t, x), found {self.function!r}.")
        if not isinstance(self.direction, Real) or self.direction not in DIRECTIONS:
            raise PorthosError(f"Event: direction must be -1, 0 or 1, found {self.direction!r}.")
        flag(self.terminal, "Event: terminal")
        if self.period is not None:
            positive(self.period, "Event: period")

    def crossed(self, before: float, after: float) -> bool:
        """Whether the function is zero between two values, or at the second, in the direction that is wanted."""
        if self.period is not None and abs(after - before) > 0.5 * self.period:
            return False
        rises = 1 if before < 0.0 else -1
        return (before * after < 0.0 or (after == 0.0 and before != 0.0)) and self.direction in (0, rises)


@dataclass(frozen=True)
class Occurrence:
    """An event that happened: its name, the time and the state there."""

    name: str
    t: float
    x: Array


class Watch:
    """Looks at the ends of all steps for changes of sign."""

    def __init__(self, given: Mapping[str, Any] | None, t: float, x: Array) -> None:
        for name, each in (given or {}).items():
            if not (isinstance(each, Event) or callable(each)):
                raise PorthosError(f"simulate: events: '{name}': expected a function of (t, x), found {each!r}.")
        events = {name: each if isinstance(each, Event) else Event(each) for name, each in (given or {}).items()}
        self.events, self.happened = events, list[Occurrence]()
        self.values = self.at(t, x)  # at the last end of a step

    def at(self, t: float, x: Array) -> dict[str, float]:
        """The functions of all events at a state."""
        return {name: self._value(name, t, x) for name in self.events}

    def go_to(self, t: float, x: Array, values: Mapping[str, float], proof: Mapping[str, float]) -> None:
        """Go on with values at the end of a step; `proof` are those at (t, x), where t may have rounded otherwise."""
        found = self.at(t, x)
        for name in {*found, *proof}:
            if found.get(name) != proof.get(name):
                raise InputError(
                    f"event '{name}' at t = {t:.6g}: expected the events of the run that is to be resumed, of which it "
                    f"was {proof.get(name, 'none')}, found {found.get(name, 'none')}. Give the same functions."
                )
        self.values = dict(values)

    def ended(self) -> tuple[Status, str]:
        """How a run ends at the last event."""
        event = self.happened[-1]
        return Status.EVENT, f"{Status.EVENT.value} It was '{event.name}' at t = {event.t:.9g}."

    def _value(self, name: str, t: float, x: Array) -> float:
        """The function of an event, or an InputError with its name and the time."""
        try:
            value = float(self.events[name].function(t, x))
        except Exception as error:  # a user's function may raise anything; the run so far must survive it
            raise InputError(
                f"event '{name}' at t = {t:.6g}: its function failed with {type(error).__name__}: {error}."
            ) from error
        if not isfinite(value):
            raise InputError(f"event '{name}' at t = {t:.6g}: its function returned {value}; expected a finite number.")
        return value

    def look(self, t: float, h: float, x1: Array, state: Callable[[float], Array]) -> float | None:
        """Note what happens in a step of h from t to x1; `state(s)` is the end of one of s h, 0 < s < 1.

        Returns the part s of the step after which a terminal event ends the run, if one does.
        """
        crossings = []
        for name, event in self.events.items():
            before, after = self.values[name], self._value(name, t + h, x1)
            self.values[name] = after
            if event.crossed(before, after):
                crossings.append((self._locate(name, t, h, before, after, state), name))
        for s, name in sorted(crossings):
            self.happened.append(Occurrence(name, t + s * h, x1 if s == 1.0 else state(s)))
            if self.events[name].terminal:
                return s
        return None

    def _locate(
        self, name: str, t: float, h: float, before: float, after: float, state: Callable[[float], Array]
    ) -> float:
        """The part of the step after which the function is zero."""
        known = {0.0: before, 1.0: after}

        def value(s: float) -> float:
            return known[s] if s in known else self._value(name, t + s * h, state(s))

        if after == 0.0:
            return 1.0
        from scipy.optimize import brentq  # a quarter of a second that runs without events do not need

        return float(brentq(value, 0.0, 1.0, xtol=4 * EPS, rtol=4 * EPS))
