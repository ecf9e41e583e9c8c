"""How a model is to be run: what the section `simulation` of a model file says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeAlias

from porthos.errors import ModelError
from porthos.model.crossings import Crossing
from porthos.model.signals import Input, Numbers
from porthos.notation import names
from porthos.steps import Adaptive, Reversible, check_steps

DEFAULT = "MidpointGGL"
StepChoice: TypeAlias = float | Adaptive


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
    """What `simulate` is told about a run: scheme, step, end, which states to keep, inputs of ports, events, outputs.

    `outputs` are the quantities that plots, tables and reports of the run show where nothing else is asked for.
    """

    step: StepChoice
    end: float
    scheme: SchemeChoice = field(default_factory=SchemeChoice)
    every: int = 1
    inputs: Mapping[str, Input] = field(default_factory=dict)
    times: Numbers | None = None
    events: Mapping[str, Crossing] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "scheme", SchemeChoice.of(self.scheme))
        if not isinstance(self.inputs, Mapping):
            raise ModelError(
                f"inputs: expected values by the names of ports, such as {{'motor': 1}}, found {self.inputs!r}."
            )
        object.__setattr__(self, "inputs", dict(self.inputs))
        if not isinstance(self.events, Mapping):
            raise ModelError(f"events: expected crossings by their names, found {self.events!r}.")
        object.__setattr__(self, "events", dict(self.events))
        for name, event in self.events.items():
            if not isinstance(event, Crossing):
                raise ModelError(
                    f"events: '{name}': a file holds no function, found one of the type {type(event).__name__}. Use "
                    "ph.Crossing('bob.position.x'), or give it to ph.simulate itself."
                )
        object.__setattr__(self, "outputs", names(self.outputs, "outputs"))
        if isinstance(self.step, Reversible):
            raise ModelError(f"step: a file holds no function, found {self.step!r}. Give it to ph.simulate itself.")
        object.__setattr__(self, "times", check_steps(self.step, self.end, self.every, self.times))
