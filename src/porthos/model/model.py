"""The description of a mechanism in words: parts are added one by one, `assemble` turns them into a system."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import ModelError, nearest
from porthos.model import joints as j
from porthos.model.bodies import Body, Ground, Part, PointMass, RigidBody
from porthos.model.forces import Load, TorqueMap
from porthos.model.inertia import Inertia
from porthos.model.ports import Port, PortKind
from porthos.notation import Array, vector

if TYPE_CHECKING:
    from porthos.model.simulation import Simulation
    from porthos.system.mechanical import MechanicalSystem

Side = Part | str

AT_MASS = 1e-9  # a point this close to a point mass, relative to its position, counts as being there


class Model:
    """A mechanism: bodies, joints, loads and ports, each under a name of its own. SI units."""

    def __init__(self, name: str = "model", gravity: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        self.name = name
        self.gravity = vector(gravity, f"model '{name}': gravity")
        self.ground = Ground()
        self._bodies: dict[str, Body] = {}
        self._joints: dict[str, j.Joint] = {}
        self._loads: dict[str, Load] = {}
        self._ports: dict[str, Port] = {}

    def __repr__(self) -> str:
        return (
            f"Model('{self.name}': {len(self._bodies)} bodies, {len(self._joints)} joints, "
            f"{len(self._loads)} loads, {len(self._ports)} ports)"
        )

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Rigid bodies and point masses in the order in which they were added."""
        return tuple(self._bodies.values())

    @property
    def joints(self) -> tuple[j.Joint, ...]:
        """Joints in the order in which they were added."""
        return tuple(self._joints.values())

    @property
    def loads(self) -> tuple[Load, ...]:
        """Loads in the order in which they were added."""
        return tuple(self._loads.values())

    @property
    def ports(self) -> tuple[Port, ...]:
        """Named ports in the order in which they were added."""
        return tuple(self._ports.values())

    # --- bodies

    def body(
        self,
        name: str,
        inertia: Inertia,
        position: ArrayLike = (0.0, 0.0, 0.0),
        rotation: Any = None,
        velocity: ArrayLike = (0.0, 0.0, 0.0),
        angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
    ) -> RigidBody:
        """Add a rigid body. `position` is its centre of mass; `angular_velocity` is in world axes.

        `rotation` is a 3 x 3 matrix, a quaternion (w, x, y, z) or a pair (axis, angle).
        """
        part = RigidBody(self._new(name), inertia, position, rotation, velocity, angular_velocity)
        self._bodies[name] = part
        return part

    def point_mass(
        self,
        name: str,
        mass: float,
        position: ArrayLike = (0.0, 0.0, 0.0),
        velocity: ArrayLike = (0.0, 0.0, 0.0),
    ) -> PointMass:
        """Add a particle. Joints may hold it by spherical, distance, point_on_line and point_on_plane."""
        part = PointMass(self._new(name), mass, position, velocity)
        self._bodies[name] = part
        return part

    # --- joints: points and axes in world coordinates at the initial placement

    def spherical(self, name: str, a: Side, b: Side, at: ArrayLike, at_b: ArrayLike | None = None) -> j.Joint:
        """A point of `a` and a point of `b` coincide (3 rows)."""
        return self._join(j.Spherical(name=name, a=self._name(a), b=self._name(b), at=at, at_b=at_b))

    def revolute(
        self, name: str, a: Side, b: Side, at: ArrayLike, axis: ArrayLike, at_b: ArrayLike | None = None
    ) -> j.Joint:
        """Rotation about a common axis (5 rows)."""
        return self._join(j.Revolute(name=name, a=self._name(a), b=self._name(b), at=at, axis=axis, at_b=at_b))

    def cylindrical(
        self, name: str, a: Side, b: Side, at: ArrayLike, axis: ArrayLike, at_b: ArrayLike | None = None
    ) -> j.Joint:
        """Rotation about and translation along a common axis (4 rows)."""
        return self._join(j.Cylindrical(name=name, a=self._name(a), b=self._name(b), at=at, axis=axis, at_b=at_b))

    def prismatic(
        self, name: str, a: Side, b: Side, at: ArrayLike, axis: ArrayLike, at_b: ArrayLike | None = None
    ) -> j.Joint:
        """Translation along a common axis (5 rows)."""
        return self._join(j.Prismatic(name=name, a=self._name(a), b=self._name(b), at=at, axis=axis, at_b=at_b))

    def universal(
        self,
        name: str,
        a: Side,
        b: Side,
        at: ArrayLike,
        axis_a: ArrayLike,
        axis_b: ArrayLike,
        at_b: ArrayLike | None = None,
    ) -> j.Joint:
        """Hooke's joint: `axis_a` fixed in `a` stays perpendicular to `axis_b` fixed in `b` (4 rows)."""
        a_name, b_name = self._name(a), self._name(b)
        return self._join(j.Universal(name=name, a=a_name, b=b_name, at=at, axis_a=axis_a, axis_b=axis_b, at_b=at_b))

    def planar(
        self, name: str, a: Side, b: Side, at: ArrayLike, normal: ArrayLike, at_b: ArrayLike | None = None
    ) -> j.Joint:
        """`b` glides on a plane fixed in `a` (3 rows)."""
        return self._join(j.Planar(name=name, a=self._name(a), b=self._name(b), at=at, normal=normal, at_b=at_b))

    def fixed(self, name: str, a: Side, b: Side, at: ArrayLike, at_b: ArrayLike | None = None) -> j.Joint:
        """No relative motion (6 rows)."""
        return self._join(j.Fixed(name=name, a=self._name(a), b=self._name(b), at=at, at_b=at_b))

    def distance(
        self,
        name: str,
        a: Side,
        b: Side,
        point_a: ArrayLike,
        point_b: ArrayLike,
        length: float | None = None,
    ) -> j.Joint:
        """A massless rod between a point of `a` and a point of `b` (1 row)."""
        a_name, b_name = self._name(a), self._name(b)
        return self._join(j.RigidLink(name=name, a=a_name, b=b_name, point_a=point_a, point_b=point_b, length=length))

    def point_on_line(
        self, name: str, a: Side, b: Side, at: ArrayLike, axis: ArrayLike, at_b: ArrayLike | None = None
    ) -> j.Joint:
        """The point `at` of `b` stays on the line through `at` along `axis`, fixed in `a` (2 rows)."""
        return self._join(j.PointOnLine(name=name, a=self._name(a), b=self._name(b), at=at, axis=axis, at_b=at_b))

    def point_on_plane(
        self, name: str, a: Side, b: Side, at: ArrayLike, normal: ArrayLike, at_b: ArrayLike | None = None
    ) -> j.Joint:
        """The point `at` of `b` stays in the plane through `at` with `normal`, fixed in `a` (1 row)."""
        return self._join(j.PointOnPlane(name=name, a=self._name(a), b=self._name(b), at=at, normal=normal, at_b=at_b))

    # --- loads and ports

    def load(
        self,
        name: str,
        body: Body | str,
        force: Any = None,
        torque: Any = None,
        at: ArrayLike | None = None,
        torque_map: TorqueMap = "exact",
    ) -> Load:
        """A force at the body-fixed point `at` (default: centre of mass) and a torque, in world axes.

        Each is a constant vector or a function of time.
        """
        load = Load(self._new(name), self._body_name(body), force, torque, at, torque_map)
        self._check_acting(f"load '{name}'", load.body, load.at, torque is not None)
        self._loads[name] = load
        return load

    def port(
        self,
        name: str,
        body: Body | str,
        kind: PortKind = "wrench",
        at: ArrayLike | None = None,
        direction: ArrayLike | None = None,
        torque_map: TorqueMap = "exact",
    ) -> Port:
        """A port whose input is given to `simulate(..., inputs={name: u})`; its output is the conjugate velocity."""
        port = Port(self._new(name), self._body_name(body), kind, at, direction, torque_map)
        self._check_acting(f"port '{name}'", port.body, port.at, kind != "force")
        self._ports[name] = port
        return port

    def assemble(self, initial: Literal["project", "refuse"] = "project") -> MechanicalSystem:
        """The pH-DAE of this mechanism; `initial` says what to do with initial values off the constraints."""
        from porthos.system.assemble import (
            assemble,  # a door that opens to the right, see tests/test_rooms.py
        )

        return assemble(self, initial)

    def save(self, path: str | Path, simulation: Simulation | None = None) -> Path:
        """Write a YAML file that `load_model` turns into this model again; `simulation` says how to run it."""
        from porthos.model.modelfile import save_model  # it needs this module

        return save_model(self, path, simulation)

    # --- names

    def _new(self, name: str) -> str:
        if not isinstance(name, str) or not name.strip():
            raise ModelError(
                f"model '{self.name}': expected a name for each part, a text such as 'crank', found {name!r}."
            )
        if name == "ground" or any(name in parts for parts in (self._bodies, self._joints, self._loads, self._ports)):
            raise ModelError(
                f"model '{self.name}': the name '{name}' is taken already. Expected a new name for each part; "
                f"try '{name}_2'."
            )
        return name

    def _name(self, part: Side) -> str:
        """The name of a part of this model, given the part or its name."""
        name = part if isinstance(part, str) else getattr(part, "name", None)
        if not isinstance(name, str):
            known = nearest("", [self.ground.name, *self._bodies])
            raise ModelError(f"model '{self.name}': expected a body or its name, found {part!r}. {known}")
        if name != self.ground.name and name not in self._bodies:
            known = nearest(name, [self.ground.name, *self._bodies])
            raise ModelError(
                f"model '{self.name}': expected a body that was added before, found no body '{name}'. {known}"
            )
        if not isinstance(part, str | Ground) and part is not self._bodies.get(name):
            raise ModelError(
                f"model '{self.name}': expected a body of this model, found '{name}', which belongs to another model. "
                f"Add it here with model.body('{name}', ...), or give the name of a body of this model."
            )
        return name

    def _body_name(self, part: Body | str) -> str:
        name = self._name(part)
        if name == self.ground.name:
            raise ModelError(
                f"model '{self.name}': expected a body for a load or port to act on, found the ground, which nothing "
                f"moves. {nearest('', self._bodies)}"
            )
        return name

    def _join(self, joint: j.Joint) -> j.Joint:
        self._new(joint.name)
        if joint.a == joint.b:
            raise ModelError(
                f"{joint.where}: expected two different parts, found '{joint.a}' connected with itself. "
                "Use model.ground as one of them to hold it in space."
            )
        for side, name in enumerate((joint.a, joint.b)):
            part = self._bodies.get(name)
            if isinstance(part, PointMass):
                _check_held(joint, part, side)
        parts = [self._bodies[n] for n in (joint.a, joint.b) if n != self.ground.name]
        arms = [float(np.linalg.norm(p - np.asarray(part.position))) for part in parts for p in joint.points]
        j.check_gap(joint, max(arms))
        self._joints[joint.name] = joint
        return joint

    def _check_acting(self, where: str, body: str, at: ArrayLike | None, turns: bool) -> None:
        """Refuse a torque on a point mass, or a force beside it."""
        part = self._bodies[body]
        if not isinstance(part, PointMass):
            return
        if turns:
            raise ModelError(
                f"{where}: expected a force, found a torque on the point mass '{body}', which has no rotation. "
                "Give a force only (for a port: kind='force'), or use a rigid body."
            )
        if at is not None:
            _check_at_mass(where, part, np.asarray(at))


def _check_held(joint: j.Joint, mass: PointMass, side: int) -> None:
    """Refuse what a joint cannot do to a point mass on side 0 (A) or 1 (B): hold a rotation, a plane or a lever."""
    if any(isinstance(row, j.Angle) for row in joint.rows):
        raise ModelError(
            f"{joint.where}: expected rigid bodies, found the point mass '{mass.name}', which has no rotation to hold. "
            "Use a spherical, distance, point_on_line or point_on_plane joint, or a rigid body."
        )
    if side == 0 and any(isinstance(row, j.InPlane) for row in joint.rows):
        raise ModelError(
            f"{joint.where}: expected a rigid body or the ground as its first part, in which its line or plane is "
            f"fixed, found the point mass '{mass.name}', which has no directions. Exchange the two parts."
        )
    _check_at_mass(joint.where, mass, joint.points[side])


def _check_at_mass(where: str, mass: PointMass, point: Array) -> None:
    """A point mass can be touched only where it is."""
    position = np.asarray(mass.position)
    if np.linalg.norm(point - position) > AT_MASS * (np.linalg.norm(position) or 1.0):
        raise ModelError(
            f"{where}: expected a point at the position {position.tolist()} of the point mass '{mass.name}', found "
            f"{point.tolist()}: a point mass has no other points. Give its position, or use a rigid body."
        )
