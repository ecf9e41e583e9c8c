"""What a model file may say: its sections, and for each kind of part the keys, taken from the classes of the model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, replace
from inspect import Parameter, signature
from typing import Any, TypeAlias

from porthos.errors import ModelError, ModelFileError, nearest
from porthos.model.beams import Beam, BeamNode, Clamp, Segment
from porthos.model.bodies import PointMass, RigidBody
from porthos.model.drives import DRIVES
from porthos.model.elements import ELEMENTS
from porthos.model.fields import (
    Field,
    blaming,
    expect_mapping,
    fields_of,
    first_sentence,
    object_schema,
    read_fields,
    selected,
    write_fields,
)
from porthos.model.forces import Load
from porthos.model.gears import GEARS
from porthos.model.inertia import Box, Cylinder, HollowCylinder, Inertia, Rod, Sphere
from porthos.model.joints import JOINTS
from porthos.model.model import Model
from porthos.model.nodes import Mapping, Node
from porthos.model.ports import JointPort, Port
from porthos.model.potentials import POTENTIALS
from porthos.model.sections import CROSS_SECTIONS

SHAPES: tuple[type[Inertia], ...] = (Box, Cylinder, HollowCylinder, Sphere, Rod, Inertia)

Values: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Form:
    """One kind of part: its keys, how the model takes it, and how a part of this kind is written."""

    about: str
    keys: Dictionary[str, Field]
    add: Callable[[Model, str, Values], Any]
    write: Callable[[Any], Values]


@dataclass(frozen=True)
class Section:
    """A part of the file with named entries; if they are of several kinds, `selector` is the key that says which.

    Without a selector kinds are keys that only they have.
    """

    singular: str
    example: str
    selector: str
    forms: Dictionary[str, Form]
    parts: Callable[[Model], Iterable[Any]]
    kind: Callable[[Any], str]

    def read(self, model: Model, node: Node, title: str) -> None:
        """Add all parts of the section to the model."""
        for name, entry in expect_mapping(node, title, self.example).entries.items():
            where = f"{self.singular} '{name}'"
            part = expect_mapping(entry, where, self.example.partition(": ")[2])
            kind, part = self._chosen(part, where)
            form = self.forms[kind]
            owner = f"'{kind}'" if self.selector else f"a {self.singular}" + (f" with '{kind}'" if kind else "")
            values = read_fields(part, form.keys, where, owner)
            with blaming(part, where):
                form.add(model, name, values)

    def _chosen(self, part: Mapping, where: str) -> tuple[str, Mapping]:
        """The kind of an entry, and its other keys."""
        if self.selector:
            return selected(part, self.selector, self.forms, where)
        found = [kind for kind in self.forms if kind in part.entries or not kind]
        if not found:
            keys, given = " or ".join(f"'{kind}'" for kind in self.forms), ", ".join(f"'{k}'" for k in part.entries)
            raise ModelFileError(f"{part.place}: {where}: expected the key {keys}, found only {given or 'nothing'}.")
        return found[-1], part

    def write(self, model: Model) -> dict[str, Values]:
        """All parts as plain data."""
        result = {}
        for part in self.parts(model):
            kind = self.kind(part)
            if kind not in self.forms:
                raise ModelError(
                    f"{self.singular} '{part.name}': found a {self.selector} of your own, '{kind}', which files do not "
                    f"know. {nearest(kind, self.forms)}"
                )
            result[part.name] = ({self.selector: kind} if self.selector else {}) | self.forms[kind].write(part)
        return result

    def schema(self) -> dict[str, Any]:
        """The JSON schema of the section."""
        fixed = [{self.selector: name} if self.selector else {} for name in self.forms]
        forms = [
            object_schema(form.keys, form.about, **chosen)
            for form, chosen in zip(self.forms.values(), fixed, strict=True)
        ]
        return {"type": ["object", "null"], "additionalProperties": forms[0] if len(forms) == 1 else {"oneOf": forms}}


def snake(cls: type) -> str:
    """HollowCylinder -> hollow_cylinder."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()


def _composed(cls: type, whole: type, key: str, add: Callable[..., Any]) -> Form:
    """A part with a shape or section `key` of the class `cls`: the keys of both side by side."""
    inner, outer = fields_of(cls), fields_of(whole, "name", key)

    def build(model: Model, name: str, values: Values) -> None:
        shape = cls(**{k: value for k, value in values.items() if k in inner})
        add(model, name, shape, **{k: value for k, value in values.items() if k in outer})

    def write(part: Any) -> Values:
        return {**write_fields(getattr(part, key), inner), **write_fields(part, outer)}

    return Form(first_sentence(cls), {**inner, **outer}, build, write)


def _part(cls: type, add: Callable[..., Any]) -> Form:
    """A part that one method of the model adds; what the method can do without, a file need not say."""
    parameters = signature(add).parameters
    keys = {
        key: replace(field, required=parameters[key].default is Parameter.empty)
        for key, field in fields_of(cls, "name").items()
    }
    return Form(
        first_sentence(cls),
        keys,
        lambda model, name, values: add(model, name, **values),
        lambda part: write_fields(part, keys),
    )


SECTIONS: dict[str, Section] = {
    "bodies": Section(
        "body",
        "crank: {shape: box, mass: 0.12, size: [0.01, 0.01, 0.08]}",
        "shape",
        {snake(cls): _composed(cls, RigidBody, "inertia", Model.body) for cls in SHAPES}
        | {snake(PointMass): _part(PointMass, Model.point_mass)},
        lambda model: [body for body in model.bodies if not isinstance(body, BeamNode)],
        lambda body: snake(type(body.inertia) if isinstance(body, RigidBody) else PointMass),
    ),
    "beams": Section(
        "beam",
        "arm: {section: circle, radius: 0.01, young: 2.1e11, poisson: 0.3, density: 7850, start: [0, 0, 0], "
        "end: [1, 0, 0], a: ground}",
        "section",
        {cls.kind: _composed(cls, Beam, "section", Model.beam) for cls in CROSS_SECTIONS},
        lambda model: model.beams,
        lambda beam: beam.section.kind,
    ),
    "joints": Section(
        "joint",
        "A: {kind: revolute, a: ground, b: crank, at: [0, 0, 0], axis: [1, 0, 0]}",
        "kind",
        {cls.kind: _part(cls, getattr(Model, cls.kind)) for cls in (*JOINTS, *DRIVES, *GEARS)},
        lambda model: [joint for joint in model.joints if not isinstance(joint, Clamp)],
        lambda joint: joint.kind,
    ),
    "elements": Section(
        "element",
        "strut: {kind: spring, a: ground, b: crank, point_a: [0, 0, 1], point_b: [0, 0, 0], stiffness: 100}",
        "kind",
        {cls.kind: _part(cls, getattr(Model, cls.kind)) for cls in (*ELEMENTS, *POTENTIALS)},
        lambda model: [element for element in model.elements if not isinstance(element, Segment)],
        lambda element: element.kind,
    ),
    "loads": Section(
        "load",
        "push: {body: crank, force: [0, 0, 1]}",
        "",
        {"": _part(Load, Model.load)},
        lambda model: model.loads,
        lambda load: "",
    ),
    "ports": Section(
        "port",
        "motor: {body: crank, kind: torque, direction: [1, 0, 0]}",
        "",
        {"body": _part(Port, Model.port), "joint": _part(JointPort, Model.joint_port)},
        lambda model: model.ports,
        lambda port: "joint" if isinstance(port, JointPort) else "body",
    ),
}
