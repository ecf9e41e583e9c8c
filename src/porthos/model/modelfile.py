"""Model files: Model -> YAML -> Model is the identity, and reading a file executes nothing.

    name: pendulum
    gravity: [0, 0, -9.81]
    bodies:
      bob: {shape: point_mass, mass: 1, position: [1, 0, 0]}
    joints:
      rod: {kind: distance, a: ground, b: bob, point_a: [0, 0, 0], point_b: [1, 0, 0]}
    simulation: {step: 0.01, end: 10}

Keys and types are those of the model's own classes, so a new joint or shape is in the files as soon as it is there.
Numbers may be expressions such as pi/2. Every error names the file, the line, and what to try.
"""

from __future__ import annotations

from collections.abc import Mapping as Dictionary
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path
from types import NoneType
from typing import Any, get_type_hints

import yaml

from porthos.errors import ModelError, ModelFileError, nearest
from porthos.model.changes import changed
from porthos.model.controllers import JointController
from porthos.model.fields import Field, blaming, expect_mapping, fields_of, kind_of, read_fields, write_fields
from porthos.model.forms import SECTIONS
from porthos.model.model import Model
from porthos.model.nodes import List, Mapping, read_nodes
from porthos.model.signals import TimeSignal
from porthos.model.simulation import Simulation
from porthos.model.values import vector_such_as
from porthos.notation import file_path
from porthos.quantities import named

SIMULATION = "simulation"


def heading() -> dict[str, Field]:
    """The keys of the model itself, from the arguments of Model."""
    hints = get_type_hints(Model.__init__, include_extras=True)
    kinds = {name: kind_of(hints[name]) for name in signature(Model).parameters}
    kinds["gravity"] = vector_such_as("0, 0, -9.81")  # a single number is the usual mistake
    return {name: Field(kind, required=False, optional=False) for name, kind in kinds.items()}


@dataclass(frozen=True)
class ModelFile:
    """What a file says: a model and, if it has that section, how to run it."""

    path: Path
    model: Model
    simulation: Simulation | None
    _node: Mapping = field(repr=False)

    @classmethod
    def read(cls, path: str | Path, changes: Dictionary[str, Any] | None = None) -> ModelFile:
        """Read a file; `changes` replace values of it, such as {"bodies.crank.mass": 0.2, "simulation.step": 1e-3}."""
        path = file_path(path)
        if not isinstance(changes, Dictionary | NoneType):
            raise ModelError(f"{path.name}: changes: expected values by paths of keys, found {changes!r}.")
        return cls.of(changed(read_nodes(path), changes or {}), path)

    @classmethod
    def of(cls, node: Mapping, path: Path) -> ModelFile:
        """What the tree of a file says; `path` is where it was read."""
        own, known = heading(), [*heading(), *SECTIONS, SIMULATION]
        for key in node.entries:
            if key not in known:
                raise ModelFileError(f"{node.place_of(key)}: a model file has no key '{key}'. {nearest(key, known)}")
        top = Mapping(node.place, {k: v for k, v in node.entries.items() if k in own}, node.places)
        with blaming(top, "model"):
            model = Model(**{"name": path.stem, **read_fields(top, own, "model", "a model")})
        for title, section in SECTIONS.items():
            if title in node.entries:
                section.read(model, node.entries[title], title)
        simulation = _read_simulation(node, model) if SIMULATION in node.entries else None
        return cls(path, model, simulation, node)

    def plan(self) -> Simulation:
        """How to run the model, or an error that says what is missing."""
        if self.simulation is None:
            raise ModelFileError(
                f"{self.path.name}: expected a section 'simulation' with step and end, found none. "
                "Add it, such as simulation: {step: 0.01, end: 5}."
            )
        return self.simulation

    def blaming(self, key: str) -> AbstractContextManager[None]:
        """Turn what is refused later about a key of `simulation` into an error with its line."""
        node = self._node.entries[SIMULATION]
        assert isinstance(node, Mapping)
        here = Mapping(node.place_of(key), {}, {})
        return blaming(here, SIMULATION)


def _read_simulation(node: Mapping, model: Model) -> Simulation:
    here = expect_mapping(node.entries[SIMULATION], SIMULATION, "{step: 0.01, end: 5}")
    values = read_fields(here, fields_of(Simulation), SIMULATION, SIMULATION)
    with blaming(here, SIMULATION):
        plan = Simulation(**values)
        given = here.entries.get("inputs")
    if isinstance(given, Mapping):
        for name in plan.inputs:
            with blaming(Mapping(given.place_of(name), {}, {}), f"{SIMULATION}: inputs"):
                _check_input(model, name, plan.inputs[name])
    watched = here.entries.get("events")
    if isinstance(watched, Mapping):
        known = model.quantities
        for name, event in plan.events.items():
            node_of = watched.entries[name]
            assert isinstance(node_of, Mapping)
            with blaming(node_of, f"{SIMULATION}: events: '{name}'"):
                event.meant(known)
    outputs = here.entries.get("outputs")
    if isinstance(outputs, List):
        known = model.quantities
        for item, name in zip(outputs.items, plan.outputs, strict=True):
            with blaming(Mapping(item.place, {}, {}), f"{SIMULATION}: outputs"):
                named(name, known)
    return plan


def _check_input(model: Model, name: str, value: Any) -> None:
    """An input belongs to a port and has as many components as it."""
    ports = {port.name: port for port in model.ports}
    if name not in ports:
        raise ModelError(f"found no port '{name}'. {nearest(name, ports)}")
    if isinstance(value, JointController):
        joints = model.joints_by_name
        if value.joint not in joints:
            raise ModelError(f"port '{name}': joint: found no joint '{value.joint}'. {nearest(value.joint, joints)}")
    expected = ports[name].wrench_basis().shape[1]
    size = value.size if isinstance(value, TimeSignal) else (len(value) if isinstance(value, tuple) else None)
    if (size or 1) != expected:
        raise ModelError(f"port '{name}': expected {expected} component(s), found {size or 1}.")


def load_model(path: str | Path, changes: Dictionary[str, Any] | None = None) -> Model:
    """The model of a file; `changes` replace values of it, such as {"bodies.crank.mass": 0.2}."""
    return ModelFile.read(path, changes).model


def save_model(model: Model, path: str | Path, simulation: Simulation | None = None) -> Path:
    """Write a model, and how to run it, as a YAML file that `load_model` turns into the same model again."""
    target = file_path(path)
    if not isinstance(simulation, Simulation | NoneType):
        raise ModelError(f"save: simulation: expected ph.Simulation(...), or none, found {simulation!r}.")
    text = to_yaml(model, simulation)
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ModelError(
            f"'{target}': the model could not be written: {error.strerror}. Choose another place."
        ) from error
    return target


def to_yaml(model: Model, simulation: Simulation | None = None) -> str:
    """The text of a model file."""
    own = {key: entry.kind.write(getattr(model, key)) for key, entry in heading().items()}
    sections = {title: section.write(model) for title, section in SECTIONS.items()}
    data = own | {title: parts for title, parts in sections.items() if parts}
    if simulation is not None:
        data[SIMULATION] = write_fields(simulation, fields_of(Simulation))
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=118)


class _Dumper(yaml.SafeDumper):
    """Writes values, never references to values that stand elsewhere in the file."""

    def ignore_aliases(self, data: Any) -> bool:
        """Equal lists are written out each time."""
        del data
        return True

    def text(self, data: str) -> yaml.ScalarNode:
        """Texts as they are; with quotes and escapes if they have characters that one cannot see."""
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=None if data.isprintable() else '"')


_Dumper.add_representer(str, _Dumper.text)
