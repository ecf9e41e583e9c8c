"""A model as plain data (numbers, strings, lists): what results carry along to draw and name things."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from porthos.model.beams import Beam, Segment
from porthos.model.bodies import Body, RigidBody
from porthos.model.drives import Drive
from porthos.model.element_base import Element
from porthos.model.gears import Gear, GearJoint
from porthos.model.joint_base import Joint
from porthos.model.model import Model
from porthos.notation import Array
from porthos.system.acting import body_of
from porthos.system.closing import Closing


def describe(model: Model, elements: list[Element], closing: Closing | None = None) -> dict[str, Any]:
    """Name, gravity, bodies with shapes, joints and elements with points, loads and ports, as data for JSON.

    Points and axes are those at the start, where the assembly has closed the joints.
    """
    bodies = {body.name: body for body in model.bodies}
    return {
        "name": model.name,
        "gravity": model.gravity.tolist(),
        "bodies": [
            {
                "name": body.name,
                "kind": "rigid" if isinstance(body, RigidBody) else "point",
                "mass": body.mass,
                "shape": _shape(body.inertia) if isinstance(body, RigidBody) else {"type": "PointMass"},
            }
            for body in bodies.values()
        ],
        "joints": [_joint(joint if closing is None else closing.closed(joint)) for joint in model.joints],
        "elements": [{**_element(element), **_ends(element, model.joints_by_name, bodies)} for element in elements],
        "beams": [_beam(beam) for beam in model.beams],
        "loads": [{"name": load.name, "body": load.body} for load in model.loads],
        "ports": [{"name": port.name, "body": body_of(port, model), "kind": port.kind} for port in model.ports],
    }


def _joint(joint: Joint) -> dict[str, Any]:
    """A joint where it is closed: what both bodies share is there once."""
    left = {
        "frame",
        "rough",
        "normal_b",
        "rotation_b",
        "rate",
        "slide_rate",
        "turn_rates",
        "velocity",
        "angular_velocity",
    }
    if hasattr(joint, "axis") and not isinstance(joint, GearJoint):
        left.add("axis_b")
    more: dict[str, Any] = {}
    if isinstance(joint, Drive):
        left.add(joint.prescribed)
        more["motion"] = joint.motion.text
    if isinstance(joint, Gear):
        more["radii"] = [abs(wheel.radius) for wheel in joint.mesh.wheels if not joint.mesh.bevel]
    return {"kind": joint.kind, **{key: value for key, value in _plain(joint).items() if key not in left}, **more}


def _element(element: Element) -> dict[str, Any]:
    """An element; what a segment is made of stands in its beam."""
    if isinstance(element, Segment):
        return {"kind": element.kind, "name": element.name, "damping": element.damping}
    return {"kind": element.kind, **_plain(element)}


def _beam(beam: Beam) -> dict[str, Any]:
    """A beam, and of what it is made."""
    return {
        "name": beam.name,
        "length": beam.length,
        "section": _shape(beam.section),
        "nodes": [node.name for node in beam.nodes],
        "segments": [segment.name for segment in beam.segments],
        "rest": [[law.rest for law in segment.laws({})] for segment in beam.segments],
    }


def _ends(element: Element, joints: Mapping[str, Joint], bodies: Mapping[str, Body]) -> dict[str, Any]:
    """The parts and points between which an element is drawn; points are in the frames of their parts."""
    sides, points = element.sides(joints), element.points(joints)

    def local(side: str, point: Array) -> list[float]:
        body = bodies.get(side)
        if body is None:
            return [float(x) for x in point]
        arm = point - np.asarray(body.position)
        return [float(x) for x in (body.matrix.T @ arm if isinstance(body, RigidBody) else arm)]

    return {"a": sides[0], "b": sides[1], "points": [local(*end) for end in zip(sides, points, strict=True)]}


def _shape(shape: Any) -> dict[str, Any]:
    return {"type": type(shape).__name__, **_plain(shape)}


def _plain(part: Any) -> dict[str, Any]:
    values = {f.name: getattr(part, f.name) for f in dataclasses.fields(part) if not f.name.startswith("_")}
    return {k: np.asarray(v).tolist() if isinstance(v, np.ndarray | tuple) else v for k, v in values.items()}
