"""Loads and ports of a model as tables: where they act, along which axes, and what they are given.

(F, tau) = W u in world axes, in the directors of the body, or along the axis of a joint.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from porthos.model.forces import Load
from porthos.model.model import Model
from porthos.model.ports import JointPort, Port
from porthos.notation import Array
from porthos.system.coefficients import Placement
from porthos.system.loads import Terminal


def acting(model: Model) -> list[Load | Port | JointPort]:
    """Everything that has an input and an output: loads first, then ports."""
    return [*model.loads, *model.ports]


def terminals_of(model: Model, placement: Placement) -> tuple[Terminal, ...]:
    """Name, body, inputs and source of all of them."""
    return tuple(_terminal(part, model, placement) for part in acting(model))


def load_columns(model: Model, placement: Placement) -> dict[str, Any]:
    """Loads and ports as arrays; points and axes are in the directors of their bodies."""
    parts, count = acting(model), len(acting(model))
    joints = model.joints_by_name
    points, axes, other = np.zeros((count, 3)), np.zeros((count, 3)), np.full(count, -1, dtype=np.int64)
    for k, part in enumerate(parts):
        if isinstance(part, JointPort):
            joint = part.driven(joints)
            points[k] = placement.point(joint.b, joint.points[1])
            axes[k], other[k] = placement.vector(joint.a, np.asarray(joint.axis)), placement.index[joint.a]
        else:
            points[k] = acting_point(part, placement)
    return {
        "load_body": np.array([placement.index[body_of(part, model)] for part in parts], dtype=np.int64),
        "load_point": points,
        "load_axis": axes,
        "load_other": other,
        "load_turning": np.array([getattr(part, "frame", "world") == "body" for part in parts], dtype=np.int64),
        "load_printed": np.array([getattr(part, "torque_map", "") == "printed" for part in parts], dtype=np.int64),
    }


def body_of(part: Load | Port | JointPort, model: Model) -> str:
    """The part on which it acts; in a joint the second one."""
    return part.driven(model.joints_by_name).b if isinstance(part, JointPort) else part.body


def acting_point(part: Load | Port, placement: Placement) -> Array:
    """Where it acts, in the directors of its body."""
    if part.at is None:
        return np.zeros(3)
    at, k = np.asarray(part.at), placement.index[part.body]
    return placement.principal[k].T @ at if part.frame == "body" else placement.point(part.body, at)


def _terminal(part: Load | Port | JointPort, model: Model, placement: Placement) -> Terminal:
    basis, k = part.wrench_basis(), placement.index[body_of(part, model)]
    if getattr(part, "frame", "world") == "body":  # from the axes of the body to its directors
        basis = np.kron(np.eye(2), placement.principal[k].T) @ basis
    source = Source(tuple(p for p in (part.force, part.torque) if p is not None)) if isinstance(part, Load) else None
    return Terminal(part.name, k, basis, source)


class Source:
    """The function u(t) of a load: force and torque, as far as it has them, one behind the other."""

    def __init__(self, parts: tuple[Any, ...]) -> None:
        self.parts = parts
        self.breakpoints = tuple(t for p in parts for t in getattr(p, "breakpoints", ()))
        self._constant = None if any(callable(p) for p in parts) else np.concatenate(parts)

    def __call__(self, t: float) -> Array:
        """The values at time t."""
        if self._constant is not None:
            return self._constant
        return np.concatenate([_three(p(t)) if callable(p) else p for p in self.parts])


def _three(value: Any) -> Array:
    """What a function of time gave as a vector, or a ValueError; the march adds the name of the load and the time."""
    a = np.asarray(value, dtype=np.float64)
    if a.shape != (3,):
        raise ValueError(f"expected 3 numbers, found {value!r}")
    return a
