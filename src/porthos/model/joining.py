"""The part of a Model that adds joints, drives and gears.

Points and axes are world coordinates at the initial placement, or with frame="body" coordinates of each body.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import ModelError
from porthos.model import drives as d
from porthos.model import gears as g
from porthos.model import joints as j
from porthos.model.bodies import Body, Ground, Part
from porthos.model.joint_base import FRAMES, Frame, Joint, check_gap
from porthos.model.rows import Row, Strain
from porthos.model.signals import Signal
from porthos.notation import Array, word

Side = Part | str


class Joining(ABC):
    """Adds joints to a model.

    With frame="body" `at` and `axis` are fixed in `a` and given in its frame, `at_b` and `axis_b` in the frame of `b`.
    Such joints, and those with `rough`, may be open at the placement; `assemble` closes them.
    """

    ground: Ground
    _bodies: dict[str, Body]
    _joints: dict[str, Joint]

    def spherical(
        self, name: str, a: Side, b: Side, at: ArrayLike, at_b: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None, frame: Frame = "world", rough: bool = False,
    ) -> Joint:  # fmt: skip
        """A point of `a` and a point of `b` coincide (3 rows); `angular_velocity` at the start is that against `a`."""
        given = {"at": at, "at_b": at_b, "angular_velocity": angular_velocity}
        return self._join(j.Spherical, name, a, b, **given, frame=frame, rough=rough)

    def revolute(
        self, name: str, a: Side, b: Side, at: ArrayLike, axis: ArrayLike, at_b: ArrayLike | None = None,
        axis_b: ArrayLike | None = None, rate: float | None = None, frame: Frame = "world", rough: bool = False,
    ) -> Joint:  # fmt: skip
        """Rotation about a common axis (5 rows); `rate` is that of `b` against `a` at the start, in rad/s."""
        given = {"at": at, "axis": axis, "at_b": at_b, "axis_b": axis_b, "rate": rate}
        return self._join(j.Revolute, name, a, b, **given, frame=frame, rough=rough)

    def cylindrical(
        self, name: str, a: Side, b: Side, at: ArrayLike, axis: ArrayLike, at_b: ArrayLike | None = None,
        axis_b: ArrayLike | None = None, rate: float | None = None, slide_rate: float | None = None,
        frame: Frame = "world", rough: bool = False,
    ) -> Joint:  # fmt: skip
        """Rotation about and translation along a common axis (4 rows); `rate` in rad/s and `slide_rate` in m/s."""
        given = {"at": at, "axis": axis, "at_b": at_b, "axis_b": axis_b, "rate": rate, "slide_rate": slide_rate}
        return self._join(j.Cylindrical, name, a, b, **given, frame=frame, rough=rough)

    def prismatic(
        self, name: str, a: Side, b: Side, at: ArrayLike, axis: ArrayLike, at_b: ArrayLike | None = None,
        rotation_b: Any = None, rate: float | None = None, frame: Frame = "world", rough: bool = False,
    ) -> Joint:  # fmt: skip
        """Translation along a common axis (5 rows); `rate` is that of `b` along the axis of `a` at the start, in m/s.

        `rotation_b` turns vectors of `a`, such as its axis, into the same ones of `b`; without it they are equal.
        """
        given = {"at": at, "axis": axis, "at_b": at_b, "rotation_b": rotation_b, "rate": rate}
        return self._join(j.Prismatic, name, a, b, **given, frame=frame, rough=rough)

    def universal(
        self, name: str, a: Side, b: Side, at: ArrayLike, axis_a: ArrayLike, axis_b: ArrayLike,
        at_b: ArrayLike | None = None, turn_rates: ArrayLike | None = None, frame: Frame = "world", rough: bool = False,
    ) -> Joint:  # fmt: skip
        """Hooke's joint: `axis_a` fixed in `a` stays perpendicular to `axis_b` fixed in `b` (4 rows).

        `turn_rates` are those of `b` against `a` about the two axes at the start, in rad/s.
        """
        given = {"at": at, "axis_a": axis_a, "axis_b": axis_b, "at_b": at_b, "turn_rates": turn_rates}
        return self._join(j.Universal, name, a, b, **given, frame=frame, rough=rough)

    def planar(
        self, name: str, a: Side, b: Side, at: ArrayLike, normal: ArrayLike, at_b: ArrayLike | None = None,
        normal_b: ArrayLike | None = None, rate: float | None = None, velocity: ArrayLike | None = None,
        frame: Frame = "world", rough: bool = False,
    ) -> Joint:  # fmt: skip
        """`b` glides on a plane fixed in `a` (3 rows), at the start with a `rate` and a `velocity` of its point."""
        given = {"at": at, "normal": normal, "at_b": at_b, "normal_b": normal_b, "rate": rate, "velocity": velocity}
        return self._join(j.Planar, name, a, b, **given, frame=frame, rough=rough)

    def fixed(
        self, name: str, a: Side, b: Side, at: ArrayLike, at_b: ArrayLike | None = None, rotation_b: Any = None,
        frame: Frame = "world", rough: bool = False,
    ) -> Joint:  # fmt: skip
        """No relative motion (6 rows); `rotation_b` turns vectors of `a` into the same ones of `b`."""
        return self._join(j.Fixed, name, a, b, at=at, at_b=at_b, rotation_b=rotation_b, frame=frame, rough=rough)

    def distance(
        self, name: str, a: Side, b: Side, point_a: ArrayLike, point_b: ArrayLike, length: float | None = None,
        frame: Frame = "world", rough: bool = False,
    ) -> Joint:  # fmt: skip
        """A massless rod between a point of `a` and a point of `b` (1 row)."""
        given = {"point_a": point_a, "point_b": point_b, "length": length}
        return self._join(j.RigidLink, name, a, b, **given, frame=frame, rough=rough)

    def point_on_line(
        self, name: str, a: Side, b: Side, at: ArrayLike, axis: ArrayLike, at_b: ArrayLike | None = None,
        frame: Frame = "world", rough: bool = False,
    ) -> Joint:  # fmt: skip
        """The point `at` of `b` stays on the line through `at` along `axis`, fixed in `a` (2 rows)."""
        return self._join(j.PointOnLine, name, a, b, at=at, axis=axis, at_b=at_b, frame=frame, rough=rough)

    def point_on_plane(
        self, name: str, a: Side, b: Side, at: ArrayLike, normal: ArrayLike, at_b: ArrayLike | None = None,
        frame: Frame = "world", rough: bool = False,
    ) -> Joint:  # fmt: skip
        """The point `at` of `b` stays in the plane through `at` with `normal`, fixed in `a` (1 row)."""
        return self._join(j.PointOnPlane, name, a, b, at=at, normal=normal, at_b=at_b, frame=frame, rough=rough)

    # --- drives

    def turn_drive(
        self, name: str, a: Side, b: Side, at: ArrayLike, axis: ArrayLike, angle: Signal, at_b: ArrayLike | None = None,
        axis_b: ArrayLike | None = None, frame: Frame = "world", rough: bool = False,
    ) -> Joint:  # fmt: skip
        """The turn of `b` against `a` about a shared axis since the placement is a function of time, in rad (1 row).

        A joint must hold the axis, such as a revolute one. The torque is found; its work enters the balances.
        """
        given = {"at": at, "axis": axis, "angle": angle, "at_b": at_b, "axis_b": axis_b}
        return self._join(d.TurnDrive, name, a, b, **given, frame=frame, rough=rough)

    def slide_drive(
        self, name: str, a: Side, b: Side, at: ArrayLike, axis: ArrayLike, displacement: Signal,
        at_b: ArrayLike | None = None, frame: Frame = "world", rough: bool = False,
    ) -> Joint:  # fmt: skip
        """The point `at` of `b` moves along an axis of `a` by a function of time, in m since the placement (1 row)."""
        given = {"at": at, "axis": axis, "displacement": displacement, "at_b": at_b}
        return self._join(d.SlideDrive, name, a, b, **given, frame=frame, rough=rough)

    def length_drive(
        self, name: str, a: Side, b: Side, point_a: ArrayLike, point_b: ArrayLike, length: Signal,
        frame: Frame = "world", rough: bool = False,
    ) -> Joint:  # fmt: skip
        """The distance of a point of `a` and a point of `b` is a function of time, in m: a rope on a winch (1 row)."""
        given = {"point_a": point_a, "point_b": point_b, "length": length}
        return self._join(d.LengthDrive, name, a, b, **given, frame=frame, rough=rough)

    # --- gears

    def gear(
        self, name: str, a: Side, b: Side, teeth: tuple[float, ...], at: ArrayLike | None = None,
        at_b: ArrayLike | None = None, axis: ArrayLike | None = None, axis_b: ArrayLike | None = None,
        internal: bool = False, frame: Frame = "world", rough: bool = False,
    ) -> Joint:  # fmt: skip
        """Two wheels mesh (1 row), on the ground or on a carrier that turns; `internal` if one is a ring.

        Centres and axes are those of the revolute or cylindrical joint of each wheel, if they are not given.
        """
        at, axis = self._bearing(f"gear '{name}': at", a, at, axis, frame)
        at_b, axis_b = self._bearing(f"gear '{name}': at_b", b, at_b, axis_b, frame)
        axis = axis_b if axis is None else axis  # that of the other wheel
        given = {"teeth": teeth, "at": at, "at_b": at_b, "axis": axis, "axis_b": axis_b, "internal": internal}
        return self._join(g.Gear, name, a, b, **given, frame=frame, rough=rough)

    def rack(
        self, name: str, a: Side, b: Side, at_b: ArrayLike, at: ArrayLike | None = None, axis: ArrayLike | None = None,
        radius: float | None = None, along: ArrayLike | None = None, frame: Frame = "world", rough: bool = False,
    ) -> Joint:  # fmt: skip
        """The pinion `a` rolls on the rack `b`, which it touches at `at_b` (1 row).

        Centre and axis are those of the revolute or cylindrical joint of the pinion, if they are not given.
        """
        at, axis = self._bearing(f"rack '{name}': at", a, at, axis, frame)
        given = {"at": at, "at_b": at_b, "axis": axis, "radius": radius, "along": along}
        return self._join(g.Rack, name, a, b, **given, frame=frame, rough=rough)

    def _bearing(
        self, where: str, part: Side, at: ArrayLike | None, axis: ArrayLike | None, frame: Frame
    ) -> tuple[ArrayLike | None, ArrayLike | None]:
        """Centre and axis of a wheel: those given, or those of the one joint about which it turns."""
        if at is not None or word(frame, f"{where.rpartition(':')[0]}: frame", FRAMES) == "body":
            return at, axis
        name, turning = self._name(part, where), (j.Revolute, j.Cylindrical)
        found = [one for one in self._joints.values() if isinstance(one, turning) and name in (one.a, one.b)]
        if len(found) != 1:
            names = ", ".join(f"'{one.name}'" for one in found) or "none"
            raise ModelError(
                f"{where}: expected the centre of the wheel '{name}', or one revolute or cylindrical joint that holds "
                f"it, found {names}. Give the point, and the axis if it is not that of the other wheel."
            )
        side = (found[0].a, found[0].b).index(name)
        return found[0].points[side], (found[0].axis, found[0].axis_b)[side] if axis is None else axis

    def _join(self, kind: type[Joint], name: str, a: Side, b: Side, **given: Any) -> Joint:
        """Add a joint in world coordinates, in which all joints are kept."""
        first, second = self._names(f"{kind.kind} '{name}'", a, b)
        joint = kind(name=name, a=first, b=second, **given)
        self._new(joint.name)
        sides = joint.a, joint.b
        parts = [self._bodies.get(n, self.ground) for n in sides]
        if joint.frame == "body":
            joint = joint.moved(parts[0].pose, parts[1].pose)
        self._check_sides(joint.where, sides, joint.points, joint.rows)
        bodies = [part for part in parts if not isinstance(part, Ground)]
        arms = [float(np.linalg.norm(p - np.asarray(part.position))) for part in bodies for p in joint.points]
        check_gap(joint, max(arms))
        self._joints[joint.name] = joint
        return joint

    @abstractmethod
    def _new(self, name: str) -> str:
        """See `Model`."""

    @abstractmethod
    def _name(self, part: Side, where: str) -> str:
        """See `Model`."""

    def _names(self, where: str, a: Side, b: Side) -> tuple[str, str]:
        """The names of the two parts of a joint or element."""
        return self._name(a, f"{where}: a"), self._name(b, f"{where}: b")

    @abstractmethod
    def _check_sides(
        self, where: str, sides: tuple[str, str], points: tuple[Array, Array], rows: tuple[Row | Strain, ...]
    ) -> None:
        """See `Model`."""
