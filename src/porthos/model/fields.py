"""From nodes to the fields of a dataclass and back: allowed keys and their types are those of the dataclass itself."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from collections.abc import Mapping as Dictionary
from contextlib import contextmanager
from dataclasses import MISSING, dataclass
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from porthos.errors import ModelError, ModelFileError, PorthosError, nearest
from porthos.model.controllers import PD, EnergyShaping, JointController
from porthos.model.crossings import Crossing
from porthos.model.nodes import List, Mapping, Node, Scalar, shown
from porthos.model.signals import SIGNALS, Expression, Input, Signal, TimeSignal
from porthos.model.simulation import SchemeChoice, StepChoice
from porthos.model.values import (
    KINDS,
    NUMBER,
    WHOLE,
    Kind,
    Misfit,
    choice,
    read_number,
    read_text,
    write_array,
    write_number,
)
from porthos.steps import Adaptive


@dataclass(frozen=True)
class Field:
    """A key that a part may have."""

    kind: Kind
    required: bool
    optional: bool  # whether it may be null

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its values."""
        return {"anyOf": [self.kind.schema, {"type": "null"}]} if self.optional else self.kind.schema


def fields_of(cls: type, *without: str) -> dict[str, Field]:
    """The keys of a dataclass, from its fields."""
    hints = get_type_hints(cls, include_extras=True)
    return {
        f.name: Field(
            kind_of(hints[f.name]),
            required=f.default is MISSING and f.default_factory is MISSING,
            optional=NoneType in get_args(hints[f.name]),
        )
        for f in dataclasses.fields(cls)
        if f.init and f.name not in without
    }


def kind_of(hint: Any) -> Kind:
    """How values of a type stand in a file."""
    if get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint):
        rest = tuple(part for part in get_args(hint) if part is not NoneType)
        return kind_of(Union[rest])  # noqa: UP007 - made from a tuple
    if get_origin(hint) is Literal:
        return choice(get_args(hint))
    if get_origin(hint) is Dictionary:
        return _named(kind_of(get_args(hint)[1]))
    if hint is SchemeChoice:
        return SCHEME
    if hint is Crossing:
        return EVENT
    if hint == StepChoice:
        return STEP
    if hint == Signal:
        return SIGNAL
    if hint == Input:
        return INPUT
    return KINDS[hint]


def first_sentence(cls: type) -> str:
    """What a class is, from its docstring."""
    return (cls.__doc__ or "").split("\n")[0]


# --- reading


def expect_mapping(node: Node, where: str, example: str) -> Mapping:
    """The node as a mapping; a section may also be left empty."""
    if isinstance(node, Scalar) and node.empty:
        return Mapping(node.place, {}, {})
    if not isinstance(node, Mapping):
        raise ModelFileError(f"{node.place}: {where}: expected keys and values such as {example}, found {shown(node)}.")
    return node


def read_fields(node: Mapping, allowed: Dictionary[str, Field], where: str, owner: str) -> dict[str, Any]:
    """The values of a mapping, or an error that names the key, its line and the nearest right key."""
    for key in node.entries:
        if key not in allowed:
            raise ModelFileError(f"{node.place_of(key)}: {where}: {owner} has no key '{key}'. {nearest(key, allowed)}")
    for key, entry in allowed.items():
        if entry.required and key not in node.entries:
            given = ", ".join(f"'{k}'" for k in node.entries) or "nothing"
            raise ModelFileError(f"{node.place}: {where}: {owner} needs the key '{key}', found only {given}.")
    values = {}
    for key, value in node.entries.items():
        if isinstance(value, Scalar) and value.empty and allowed[key].optional:
            continue
        with misfits(f"{where}: {key}"):
            values[key] = allowed[key].kind.read(value)
    return values


@contextmanager
def misfits(where: str) -> Iterator[None]:
    """Turn a misfit into an error that says where it is."""
    try:
        yield
    except Misfit as misfit:
        raise ModelFileError(f"{misfit.place}: {where}: {misfit}") from misfit


@contextmanager
def blaming(node: Mapping, where: str) -> Iterator[None]:
    """Turn what a dataclass or the model refuses into an error with the line of the key that is to blame."""
    try:
        yield
    except ModelFileError:
        raise
    except PorthosError as error:
        text = str(error) if where in str(error) else f"{where}: {error}"
        raise ModelFileError(f"{node.place_of(_blamed(node, str(error)))}: {text}") from error


def _blamed(node: Mapping, message: str) -> str | None:
    """The first key that a message names, or else one whose value it quotes."""
    found = [(re.search(rf"\b{re.escape(key)}(:| =| must)", message), key) for key in node.entries]
    named = sorted((place.start(), key) for place, key in found if place)
    quoted = [key for key, v in node.entries.items() if isinstance(v, Scalar) and f"'{v.text}'" in message]
    return next(iter([*(key for _, key in named), *quoted]), None)


def read_plain(node: Node) -> Any:
    """Numbers, truth values, texts and lists of them, where no type is known."""
    match node:
        case List(items=items):
            return [read_plain(item) for item in items]
        case Mapping(entries=entries):
            return {key: read_plain(value) for key, value in entries.items()}
    if node.empty:
        return None
    if node.quoted or node.text in ("true", "false"):
        return node.text if node.quoted else node.text == "true"
    if WHOLE.fullmatch(node.text):
        return int(node.text)
    return float(node.text) if NUMBER.fullmatch(node.text) else node.text


# --- functions of time, schemes, inputs, events


def selected(node: Mapping, key: str, forms: Dictionary[str, Any], where: str) -> tuple[str, Mapping]:
    """Which of several forms a mapping chooses by `key`, and the rest of it."""
    if key not in node.entries:
        meant = next((k for k, v in node.entries.items() if _chooses(k, v, key, forms)), None)
        found = "" if meant is None else f", found '{meant}' in its place"
        raise ModelFileError(f"{node.place_of(meant)}: {where}: expected the key '{key}'{found}. {nearest('', forms)}")
    with misfits(f"{where}: {key}"):
        name = read_text(node.entries[key])
    if name not in forms:
        raise ModelFileError(f"{node.place_of(key)}: {where}: found no {key} '{name}'. {nearest(name, forms)}")
    rest = {k: v for k, v in node.entries.items() if k != key}
    return name, Mapping(node.place, rest, node.places)


def _chooses(found: str, value: Node, key: str, forms: Dictionary[str, Any]) -> bool:
    """Whether a wrong key was meant to choose: it looks like the right one, or its value is one of the forms."""
    named = isinstance(value, Scalar) and value.text.lower() in forms
    return named or bool(get_close_matches(found.lower(), [key], n=1))


SIGNAL_NAMES: dict[str, type[TimeSignal]] = {cls.__name__.lower(): cls for cls in SIGNALS}
CONTROLLER_NAMES: dict[str, type[JointController]] = {"pd": PD, "energy_shaping": EnergyShaping}
STEP_NAMES: dict[str, type[Adaptive]] = {"adaptive": Adaptive}


def _chosen(node: Mapping, forms: Dictionary[str, type], where: str) -> Any:
    """An object of the class that the key `kind` names, with the other keys as its options."""
    name, rest = selected(node, "kind", forms, where)
    here = f"{where} '{name}'"
    values = read_fields(rest, fields_of(forms[name]), here, f"'{name}'")
    with blaming(rest, here):
        return forms[name](**values)


def read_signal(node: Node) -> Any:
    """A constant number or vector, expressions in t, or a mapping such as {kind: sine, amplitude: 2, frequency: 1}."""
    if isinstance(node, Mapping):
        return _chosen(node, SIGNAL_NAMES, "function of time")
    parts = node.items if isinstance(node, List) else (node,)
    try:
        numbers = tuple(read_number(part) for part in parts)
    except Misfit:
        texts = tuple(read_text(part) for part in parts)
        try:
            return Expression(texts if isinstance(node, List) else texts[0])
        except ModelError as error:
            raise Misfit(node, str(error)) from error
    return numbers if isinstance(node, List) else numbers[0]


def _read_input(node: Node) -> Any:
    """The same, or a controller such as {kind: pd, joint: elbow, stiffness: 60, damping: 8, target: 1.2}."""
    forms = {**SIGNAL_NAMES, **CONTROLLER_NAMES}
    return _chosen(node, forms, "input") if isinstance(node, Mapping) else read_signal(node)


def _write_input(value: Any) -> Any:
    for name, cls in CONTROLLER_NAMES.items():
        if type(value) is cls:
            return {"kind": name, **write_fields(value, fields_of(cls))}
    return _write_signal(value)


def _write_signal(value: Any) -> Any:
    if isinstance(value, TimeSignal):
        return {"kind": type(value).__name__.lower(), **write_fields(value, fields_of(type(value)))}
    if callable(value):
        raise ModelError(
            f"expected a constant or a function of time that a file can hold, found the Python function {value!r}. "
            "Use ph.Table, ph.Ramp, ph.Step, ph.Sine or ph.Expression."
        )
    return write_array(np.asarray(value))


def _read_scheme(node: Node) -> SchemeChoice:
    if isinstance(node, Mapping):
        options = {key: read_plain(value) for key, value in node.entries.items()}
        if "kind" not in options:
            raise Misfit(node, "expected the key 'kind' with the name of the scheme, such as 'MidpointGGL'.")
        return SchemeChoice(str(options.pop("kind")), options)
    return SchemeChoice(read_text(node))


def _read_step(node: Node) -> StepChoice:
    """A number of seconds, or a mapping such as {kind: adaptive, rtol: 1e-8}."""
    return _chosen(node, STEP_NAMES, "step") if isinstance(node, Mapping) else read_number(node)


def _write_step(step: StepChoice) -> Any:
    if isinstance(step, Adaptive):
        return {"kind": "adaptive", **write_fields(step, fields_of(Adaptive))}
    return write_number(step)


def _read_event(node: Node) -> Crossing:
    """A mapping such as {quantity: bob.position.x, direction: rising}."""
    here = expect_mapping(node, "event", "{quantity: bob.position.x}")
    values = read_fields(here, fields_of(Crossing), "event", "an event")
    with blaming(here, "event"):
        return Crossing(**values)


def signal_schema() -> dict[str, Any]:
    """Constants, expressions, and every kind of function of time."""
    numbers = KINDS[float].schema
    return {"anyOf": [numbers, {"type": "array", "items": numbers}, *_chosen_schema(SIGNAL_NAMES)]}


def input_schema() -> dict[str, Any]:
    """A function of time, or a controller."""
    return {"anyOf": [{"$ref": "#/$defs/signal"}, *_chosen_schema(CONTROLLER_NAMES)]}


def step_schema() -> dict[str, Any]:
    """A number of seconds, or steps that choose their size."""
    return {"anyOf": [KINDS[float].schema, *_chosen_schema(STEP_NAMES)]}


def event_schema() -> dict[str, Any]:
    """What an event has."""
    return object_schema(fields_of(Crossing), first_sentence(Crossing))


def _chosen_schema(forms: Dictionary[str, type]) -> list[dict[str, Any]]:
    return [object_schema(fields_of(cls), first_sentence(cls), kind=name) for name, cls in forms.items()]


def object_schema(allowed: Dictionary[str, Field], description: str, **fixed: str) -> dict[str, Any]:
    """The JSON schema of a mapping with these keys; `fixed` keys have one value only."""
    constants = {key: {"const": value} for key, value in fixed.items()}
    return {
        "type": "object",
        "description": description,
        "properties": {**constants, **{key: field.schema for key, field in allowed.items()}},
        "required": [*fixed, *(key for key, field in allowed.items() if field.required)],
        "additionalProperties": False,
    }


def _named(kind: Kind) -> Kind:
    """A mapping of names to values of one kind."""

    def read(node: Node) -> dict[str, Any]:
        if not isinstance(node, Mapping):
            raise Misfit(node, f"expected names and values, found {shown(node)}.")
        return {key: kind.read(value) for key, value in node.entries.items()}

    def write(values: Dictionary[str, Any]) -> dict[str, Any]:
        return {key: kind.write(value) for key, value in values.items()}

    return Kind(read, write, {"type": "object", "additionalProperties": kind.schema})


SIGNAL = Kind(read_signal, _write_signal, {"$ref": "#/$defs/signal"})
INPUT = Kind(_read_input, _write_input, {"$ref": "#/$defs/input"})
SCHEME = Kind(_read_scheme, lambda scheme: scheme.plain, {"$ref": "#/$defs/scheme"})
STEP = Kind(_read_step, _write_step, {"$ref": "#/$defs/step"})
EVENT = Kind(_read_event, lambda event: write_fields(event, fields_of(Crossing)), {"$ref": "#/$defs/event"})


# --- writing


def write_fields(part: Any, allowed: Dictionary[str, Field]) -> dict[str, Any]:
    """The keys and plain values of a dataclass; what would be the same if it were left out is left out."""
    result = {}
    for f in dataclasses.fields(part):
        if f.name in allowed and _needed(part, f):
            try:
                result[f.name] = allowed[f.name].kind.write(getattr(part, f.name))
            except ModelError as error:
                raise ModelError(f"'{getattr(part, 'name', type(part).__name__)}': {f.name}: {error}") from error
    return result


def _needed(part: Any, f: dataclasses.Field[Any]) -> bool:
    """Whether a part without this field would be another one, or none."""
    value = getattr(part, f.name)
    if value is None or f.default is f.default_factory is MISSING:
        return value is not None
    default = f.default if f.default_factory is MISSING else f.default_factory()
    try:
        without = dataclasses.replace(part, **{f.name: default})
    except ModelError:
        return True
    return not _same(getattr(without, f.name), value)


def _same(a: Any, b: Any) -> bool:
    """Whether two values of a field are equal; arrays element by element, with the signs of zeros."""
    if isinstance(a, TimeSignal) or isinstance(b, TimeSignal) or callable(a) or callable(b):
        return a is b
    if isinstance(a, str | dict | SchemeChoice | NoneType) or isinstance(b, str | dict | SchemeChoice | NoneType):
        return type(a) is type(b) and bool(a == b)
    x, y = np.asarray(a), np.asarray(b)
    return x.shape == y.shape and x.tobytes() == y.astype(x.dtype).tobytes()
