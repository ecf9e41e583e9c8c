"""How a run was to be made, as text in its file, from which it can go on: step, number of steps, and all inputs.

Constants, tables, and the functions of time, controllers and events that model files hold are written; of a function
or controller in Python it is only noted that there was one.
"""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from porthos.model.controllers import PD, EnergyShaping
from porthos.model.crossings import Crossing
from porthos.model.signals import SIGNALS, TimeSignal
from porthos.steps import Adaptive

KNOWN: dict[str, type] = {cls.__name__: cls for cls in (*SIGNALS, PD, EnergyShaping, Adaptive, Crossing)}


@dataclass(frozen=True)
class Python:
    """A function that a file cannot hold."""

    kind: str  # what it is: "function of time", "controller", "event" or "density of steps"


@dataclass(frozen=True)
class Plan:
    """`inputs` has the value of each port, `loads` the parts of each load: its force, its torque, or both.

    `motions` has what each drive follows, `hold` the bodies that stayed where they were put, `events` what was watched.
    """

    scheme: str  # as `spelled` reads it
    step: float | Adaptive | Python
    end: float
    every: int
    times: tuple[float, ...] | None
    inputs: Mapping[str, Any]
    loads: Mapping[str, tuple[Any, ...]]
    motions: Mapping[str, Any]
    hold: tuple[str, ...]
    events: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The plan as JSON."""
        inputs = {name: _write(value) for name, value in self.inputs.items()}
        loads = {name: [_write(part) for part in parts] for name, parts in self.loads.items()}
        motions = {name: _write(value) for name, value in self.motions.items()}
        events = {name: _write(value) for name, value in self.events.items()}
        told = {"scheme": self.scheme, "step": _write(self.step), "end": self.end, "every": self.every}
        named = {"inputs": inputs, "loads": loads, "motions": motions, "events": events}
        return json.dumps({**told, "times": self.times, **named, "hold": self.hold})

    @classmethod
    def read(cls, text: str) -> Plan:
        """From JSON."""
        data = json.loads(text)
        inputs = {name: _read(value) for name, value in data["inputs"].items()}
        loads = {name: tuple(_read(part) for part in parts) for name, parts in data["loads"].items()}
        motions = {name: _read(value) for name, value in data["motions"].items()}
        events = {name: _read(value) for name, value in data["events"].items()}
        times = None if data["times"] is None else tuple(data["times"])
        told = (data["scheme"], _read(data["step"]), data["end"], data["every"], times)
        return cls(*told, inputs, loads, motions, tuple(data["hold"]), events)

    def missing(self) -> dict[str, str]:
        """Loads, ports and drives whose functions have to be given again, and what they are."""
        parts: Iterable[tuple[str, Any]] = [
            *((name, part) for name, parts in self.loads.items() for part in parts),
            *self.inputs.items(),
            *self.motions.items(),
        ]
        return {name: part.kind for name, part in parts if isinstance(part, Python)}


def writable(value: Any) -> bool:
    """Whether a file can hold a function or controller with all that it is made of."""
    if type(value) not in KNOWN.values():
        return False
    parts = [getattr(value, f.name) for f in dataclasses.fields(value) if f.init]
    return all(writable(part) for part in parts if callable(part))


def _write(value: Any) -> Any:
    """A value as data; arrays as bytes, so that all bits are kept."""
    if isinstance(value, Python):
        return {"python": value.kind}
    if type(value) in KNOWN.values():
        given = {f.name: _write(getattr(value, f.name)) for f in dataclasses.fields(value) if f.init}
        return {"signal": type(value).__name__, **given}
    if isinstance(value, TimeSignal) or callable(value):
        return {"python": "function of time"}
    if isinstance(value, np.ndarray):
        return {"array": value.shape, "bytes": base64.b64encode(value.astype("<f8").tobytes()).decode()}
    return value


def _read(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "python" in value:
        return Python(value["python"])
    if "array" in value:
        return np.frombuffer(base64.b64decode(value["bytes"]), dtype="<f8").reshape(value["array"]).astype(np.float64)
    return KNOWN[value["signal"]](**{key: _read(part) for key, part in value.items() if key != "signal"})
