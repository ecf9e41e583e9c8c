"""The description of a mechanism in words: parts are added one by one, `assemble` turns them into a system."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import ModelError, nearest
from porthos.model.beams import Beam, BeamNode, Clamp, Segment
from porthos.model.bodies import Body, Ground, PointMass, RigidBody
from porthos.model.element_base import Element
from porthos.model.forces import Load, TorqueMap
from porthos.model.forcing import Forcing
from porthos.model.inertia import Inertia
from porthos.model.joining import Joining, Side
from porthos.model.joint_base import Frame, Joint
from porthos.model.ports import DrivingKind, JointPort, Port, PortKind
from porthos.model.rows import Row, Strain, check_held
from porthos.model.sections import Section
from porthos.notation import Array, vector
from porthos.quantities import Meaning, all_of, parts_of
from porthos.startup import undisturbed

if TYPE_CHECKING:
    from porthos.model.simulation import Simulation
    from porthos.system.diagram import Diagram
    from porthos.system.equations import Equations
    from porthos.system.mechanical import MechanicalSystem


T = TypeVar("T")


class Model(Joining, Forcing):
    """A mechanism: bodies, joints, force elements, loads and ports, each under a name of its own. SI units."""

    def __init__(self, name: str = "model", gravity: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        self.name = name
        self.gravity = vector(gravity, f"model '{name}': gravity", example=(0, 0, -9.81))
        self.ground = Ground()
        self._bodies: dict[str, Body] = {}
        self._joints: dict[str, Joint] = {}
        self._elements: dict[str, Element] = {}
        self._loads: dict[str, Load] = {}
        self._ports: dict[str, Port | JointPort] = {}
        self._beams: dict[str, Beam] = {}

    def __repr__(self) -> str:
        return (
            f"Model('{self.name}': {len(self._bodies)} bodies, {len(self._joints)} joints, "
            f"{len(self._elements)} elements, {len(self._loads)} loads, {len(self._ports)} ports)"
        )

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Rigid bodies and point masses in the order in which they were added, then the nodes of all beams."""
        return _made_last(self._bodies, BeamNode)

    @property
    def joints(self) -> tuple[Joint, ...]:
        """Joints in the order in which they were added, then those that hold beams."""
        return _made_last(self._joints, Clamp)

    @property
    def joints_by_name(self) -> Mapping[str, Joint]:
        """Joints by their names."""
        return MappingProxyType(self._joints)

    @property
    def elements(self) -> tuple[Element, ...]:
        """Springs, dampers and other force elements in the order in which they were added, then segments of beams."""
        return _made_last(self._elements, Segment)

    @property
    def beams(self) -> tuple[Beam, ...]:
        """Flexible beams in the order in which they were added."""
        return tuple(self._beams.values())

    @property
    def loads(self) -> tuple[Load, ...]:
        """Loads in the order in which they were added."""
        return tuple(self._loads.values())

    @property
    def ports(self) -> tuple[Port | JointPort, ...]:
        """Named ports, on bodies and in joints, in the order in which they were added."""
        return tuple(self._ports.values())

    @property
    def quantities(self) -> dict[str, Meaning]:
        """What a run of it will have over time, by name: of vectors without the components."""
        return all_of(
            parts_of(
                ((body.name, "rigid" if isinstance(body, RigidBody) else "point") for body in self.bodies),
                ((joint.name, joint.kind) for joint in self.joints),
                ((element.name, element.kind, getattr(element, "joint", None)) for element in self.elements),
                (beam.name for beam in self.beams),
                (acting.name for acting in (*self.loads, *self.ports)),
            )
        )

    # --- bodies

    def body(
        self,
        name: str,
        inertia: Inertia,
        position: ArrayLike = (0.0, 0.0, 0.0),
        rotation: Any = None,
        velocity: ArrayLike = (0.0, 0.0, 0.0),
        angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
        hold: bool = False,
    ) -> RigidBody:
        """Add a rigid body. `position` is its centre of mass; `angular_velocity` is in world axes.

        `rotation` is a 3 x 3 matrix, a quaternion (w, x, y, z) or a pair (axis, angle). With `hold` the body stays
        where it is put when `assemble` closes joints.
        """
        part = RigidBody(self._new(name), inertia, position, rotation, velocity, angular_velocity, hold)
        self._bodies[name] = part
        return part

    def point_mass(
        self,
        name: str,
        mass: float,
        position: ArrayLike = (0.0, 0.0, 0.0),
        velocity: ArrayLike = (0.0, 0.0, 0.0),
        hold: bool = False,
    ) -> PointMass:
        """Add a particle. Joints may hold it by spherical, distance, point_on_line and point_on_plane."""
        part = PointMass(self._new(name), mass, position, velocity, hold)
        self._bodies[name] = part
        return part

    def beam(
        self,
        name: str,
        section: Section,
        start: ArrayLike,
        end: ArrayLike,
        a: Side | None = None,
        b: Side | None = None,
        elements: int = 10,
        via: ArrayLike | None = None,
        up: ArrayLike | None = None,
        damping: float = 0.0,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
    ) -> Beam:
        """Add a flexible beam from `start`, which `a` may hold, to `end`, which `b` may hold; see `Beam`.

        Other joints, loads and ports reach its ends as the bodies 'name.start' and 'name.end'.
        """
        holders = {
            side: None if part is None else self._name(part, f"beam '{name}': {side}")
            for side, part in (("a", a), ("b", b))
        }
        beam = Beam(
            name=self._new(name), section=section, start=start, end=end, **holders, elements=elements, via=via, up=up,
            damping=damping, velocity=velocity, angular_velocity=angular_velocity,
        )  # fmt: skip
        for holder in (self._bodies.get(held) for held in (beam.b, beam.a) if held is not None):
            beam = beam.carried(holder) if isinstance(holder, RigidBody) else beam
        for made in (*(node.name for node in beam.nodes), *(one.name for one in beam.segments), *beam.clamps):
            self._new(made)
        self._beams[name] = beam
        self._bodies |= {node.name: node for node in beam.nodes}
        for segment in beam.segments:
            self._act(segment)
        for clamp, (part, node, at) in beam.clamps.items():
            self._join(Clamp, clamp, part, node, at=at)
        return beam

    # --- loads and ports

    def load(
        self,
        name: str,
        body: Body | str,
        force: Any = None,
        torque: Any = None,
        at: ArrayLike | None = None,
        torque_map: TorqueMap = "exact",
        frame: Frame = "world",
    ) -> Load:
        """A force at the body-fixed point `at` (default: centre of mass) and a torque, in world axes.

        Each is a constant vector or a function of time. With frame="body" all of it is in the frame of the body, and
        turns with it.
        """
        load = Load(
            self._new(name), self._body_name(body, f"load '{name}': body"), force, torque, at, torque_map, frame
        )
        self._check_acting(f"load '{name}'", load, torque is not None)
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
        frame: Frame = "world",
    ) -> Port:
        """A port whose input is given to `simulate(..., inputs={name: u})`; its output is the conjugate velocity.

        With frame="body" point, direction and input are in the frame of the body, and turn with it.
        """
        port = Port(
            self._new(name), self._body_name(body, f"port '{name}': body"), kind, at, direction, torque_map, frame
        )
        self._check_acting(f"port '{name}'", port, kind != "force")
        self._ports[name] = port
        return port

    def joint_port(self, name: str, joint: Joint | str, kind: DrivingKind | None = None) -> JointPort:
        """A motor in a joint: its input is the torque about the axis or the force along it, its output the rate.

        It acts on the second part of the joint, and back on the first. A cylindrical joint needs the `kind`.
        """
        known = joint if isinstance(joint, str) else getattr(joint, "name", str(joint))
        port = JointPort(self._new(name), known, kind).resolved(self._joints)
        self._ports[name] = port
        return port

    def assemble(
        self, initial: Literal["project", "refuse"] = "project", hold: Iterable[Body | str] = ()
    ) -> MechanicalSystem:
        """The pH-DAE of this mechanism; `initial` says what to do with initial values off the constraints.

        Joints that are open at the placement are closed, without moving the bodies to `hold`; velocities follow from
        those of the bodies and from the rates of joints. `system.assembly` says of each joint how far it was open, and
        what it bears at the start.
        """
        with undisturbed():  # the first one is loading for the most part
            from porthos.system.assemble import assemble  # a door that opens to the right, see tests/test_rooms.py

            return assemble(self, initial, hold)

    def diagram(self) -> Diagram:
        """The graph of bodies, joints and force elements, its loops and degrees of freedom; print it."""
        from porthos.system.diagram import diagram  # a door as well

        return diagram(self)

    def equations(self) -> Equations:
        """The pH-DAE (24) with all masses, rows, laws and inputs written out; print it, or take its `latex`."""
        from porthos.system.equations import equations  # a door as well

        return equations(self)

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
        if name == "ground" or any(name in parts for parts in self._parts):
            raise ModelError(
                f"model '{self.name}': the name '{name}' is taken already. Expected a new name for each part; "
                f"try '{name}_2'."
            )
        return name

    @property
    def _parts(self) -> tuple[dict[str, Any], ...]:
        return self._bodies, self._joints, self._elements, self._loads, self._ports, self._beams

    def _name(self, part: Side, where: str) -> str:
        """The name of a part of this model, given the part or its name."""
        name, place = part if isinstance(part, str) else getattr(part, "name", None), f"model '{self.name}': {where}"
        if not isinstance(name, str):
            known = nearest("", [self.ground.name, *self._bodies])
            raise ModelError(f"{place}: expected a body or its name, found {part!r}. {known}")
        if name != self.ground.name and name not in self._bodies:
            known = nearest(name, [self.ground.name, *self._bodies])
            raise ModelError(f"{place}: expected a body that was added before, found no body '{name}'. {known}")
        if not isinstance(part, str | Ground) and part is not self._bodies.get(name):
            raise ModelError(
                f"{place}: expected a body of this model, found '{name}', which belongs to another model. "
                f"Add it here with model.body('{name}', ...), or give the name of a body of this model."
            )
        return name

    def _body_name(self, part: Body | str, where: str) -> str:
        name = self._name(part, where)
        if name == self.ground.name:
            raise ModelError(
                f"model '{self.name}': {where}: expected a body for it to act on, found the ground, which "
                f"nothing moves. {nearest('', self._bodies)}"
            )
        return name

    def _act(self, element: Element) -> Element:
        self._new(element.name)
        poses = [self._bodies.get(name, self.ground).pose for name in element.sides(self._joints)]
        element = element.placed(*poses)
        rows = tuple(row for law in element.laws(self._joints) for row in law.rows)
        self._check_sides(element.where, element.sides(self._joints), element.points(self._joints), rows)
        self._elements[element.name] = element
        return element

    def _check_sides(
        self, where: str, sides: tuple[str, str], points: tuple[Array, Array], rows: tuple[Row | Strain, ...]
    ) -> None:
        """Refuse a part connected with itself, and what rows cannot do to a point mass."""
        if sides[0] == sides[1]:
            raise ModelError(
                f"{where}: expected two different parts, found '{sides[0]}' connected with itself. "
                "Use model.ground as one of them to hold it in space."
            )
        for side, name in enumerate(sides):
            part = self._bodies.get(name)
            if isinstance(part, PointMass):
                check_held(where, part, side, points[side], rows)

    def _check_acting(self, where: str, acting: Load | Port, turns: bool) -> None:
        """Refuse a torque on a point mass, a force beside it, and its frame, as it has no axes."""
        part = self._bodies[acting.body]
        if not isinstance(part, PointMass):
            return
        if turns:
            raise ModelError(
                f"{where}: expected a force, found a torque on the point mass '{part.name}', which has no rotation. "
                "Give a force only (for a port: kind='force'), or use a rigid body."
            )
        if acting.frame == "body":
            raise ModelError(
                f"{where}: frame: expected 'world' on the point mass '{part.name}', which has no axes of its own, "
                "found 'body'. Leave it away, or use a rigid body."
            )
        if acting.at is not None:
            part.require_at(where, np.asarray(acting.at))


def _made_last(parts: dict[str, T], made: type) -> tuple[T, ...]:
    """Parts in their order, those that beams are made of behind all others: an order that files keep."""
    return tuple(sorted(parts.values(), key=lambda part: isinstance(part, made)))
