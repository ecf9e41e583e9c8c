"""How a model is to be run: what the section `simulation` of a model file says, n steps of size h with n h = end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from numbers import Integral, Real
from typing import Any

from porthos.errors import ModelError, PorthosError
from porthos.model.signals import Signal
from porthos.notation import LARGEST

WHOLE = 1e-6  # how far end/step may be from a whole number
MOST = 1e12  # steps: with 1 us each they take 12 days
DEFAULT = "MidpointGGL"


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
class SchemeChoice:
    """A scheme by its name, and those of its options that differ from the usual."""

    kind: str = DEFAULT
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, scheme: Any) -> SchemeChoice:
        """From a choice, the name of a scheme, or a scheme such as ph.Midpoint(tolerance=1e-12)."""
        if isinstance(scheme, SchemeChoice):
            return scheme
        if isinstance(scheme, str):
            return cls(scheme)
        if not is_dataclass(scheme) or isinstance(scheme, type):
            raise ModelError(f"scheme: expected the name of a scheme, or one such as ph.Midpoint(), found {scheme!r}.")
        given = {f.name: getattr(scheme, f.name) for f in fields(scheme) if getattr(scheme, f.name) != f.default}
        return cls(type(scheme).__name__, {k: cls.of(v).plain if is_dataclass(v) else v for k, v in given.items()})

    @property
    def plain(self) -> str | dict[str, Any]:
        """As a file says it: the name alone, or with options. An option that is a scheme is kept in this form too."""
        return {"kind": self.kind, **self.options} if self.options else self.kind


@dataclass(frozen=True)
class Simulation:
    """What `simulate` is told about a run: scheme, step, end, which states to keep, and the inputs of ports."""

    step: float
    end: float
    scheme: SchemeChoice = field(default_factory=SchemeChoice)
    every: int = 1
    inputs: Mapping[str, Signal] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "scheme", SchemeChoice.of(self.scheme))
        if not isinstance(self.inputs, Mapping):
            raise ModelError(
                f"inputs: expected values by the names of ports, such as {{'motor': 1}}, found {self.inputs!r}."
            )
        object.__setattr__(self, "inputs", dict(self.inputs))
        count_steps(self.step, self.end, self.every)
