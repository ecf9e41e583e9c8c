"""Joints as lists of rows, see `rows.py`.

All points and vectors are world coordinates at the initial placement. Where bodies are placed roughly, what both bodies
share is given twice: `at` and `at_b`, `axis` and `axis_b`, ... A new joint is one class in this file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import ModelError
from porthos.model.bodies import Rotation, least_turn, rotation_matrix
from porthos.model.joint_base import Joint, Rate, check_rate, check_rotation, given_rates
from porthos.model.rows import Angle, Coincide, Distance, InPlane, Row
from porthos.notation import ROUND_OFF, Array, normals, positive, unit, vector

PERPENDICULAR_TOLERANCE = 1e-6


@dataclass(frozen=True, kw_only=True)
class _PointJoint(Joint):
    """A joint given by one point, or by one point for each body if they are not exactly the same."""

    at: ArrayLike
    at_b: ArrayLike | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "at", vector(self.at, f"{self.where}: at"))
        if self.at_b is None and self.frame == "body":
            raise ModelError(
                f"{self.where}: at_b: expected the point of the joint in the frame of '{self.b}', found none. With "
                "frame='body' `at` is a point of the first part only."
            )
        point_b = self.at if self.at_b is None else self.at_b
        object.__setattr__(self, "at_b", vector(point_b, f"{self.where}: at_b"))

    @property
    def points(self) -> tuple[Array, Array]:
        """The points of A and B that the joint brings together."""
        return np.asarray(self.at), np.asarray(self.at_b)


@dataclass(frozen=True, kw_only=True)
class Spherical(_PointJoint):
    """A point of A and a point of B coincide: 3 rows, 3 degrees of freedom."""

    angular_velocity: ArrayLike | None = None  # of B against A at the start, in rad/s
    kind: ClassVar[str] = "spherical"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rate(self, "angular_velocity", 3)

    @property
    def rates(self) -> tuple[Rate, ...]:
        """Along three axes."""
        return given_rates(self, "angular_velocity", *np.eye(3))

    @property
    def rows(self) -> tuple[Row, ...]:
        """x_B = x_A."""
        return (Coincide(*self.points),)


@dataclass(frozen=True, kw_only=True)
class AxisJoint(_PointJoint):
    """A joint given by a point and an axis fixed in A."""

    axis: ArrayLike

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "axis", unit(self.axis, f"{self.where}: axis"))

    @property
    def turn_b(self) -> Array:
        """The rotation from vectors of A to those of B that are the same where the joint is closed."""
        return np.eye(3)

    @property
    def pairs(self) -> tuple[tuple[Array, Array], ...]:
        """The axis."""
        n = np.asarray(self.axis)
        return ((n, self.turn_b @ n),)

    @property
    def _aligned(self) -> tuple[Row, ...]:
        """The axis fixed in A stays parallel to the axis fixed in B: two vectors of B normal to it."""
        n = np.asarray(self.axis)
        m1, m2 = normals(n)
        return Angle(n, self.turn_b @ m1), Angle(n, self.turn_b @ m2)

    @property
    def _on_axis(self) -> tuple[Row, ...]:
        """The point of B stays on the axis of A."""
        m1, m2 = normals(np.asarray(self.axis))
        return InPlane(m1, *self.points), InPlane(m2, *self.points)


@dataclass(frozen=True, kw_only=True)
class SharedAxisJoint(AxisJoint):
    """A joint about an axis that both bodies share."""

    axis_b: ArrayLike | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        axis = self.axis if self.axis_b is None else self.axis_b
        object.__setattr__(self, "axis_b", unit(axis, f"{self.where}: axis_b"))

    @property
    def turn_b(self) -> Array:
        """The least rotation from the axis of A to that of B."""
        return least_turn(np.asarray(self.axis), np.asarray(self.axis_b))


@dataclass(frozen=True, kw_only=True)
class _TurningJoint(SharedAxisJoint):
    """A joint that turns about a shared axis; `rate` is the turning of B against A in rad/s at the start."""

    rate: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rate(self, "rate")

    @property
    def rates(self) -> tuple[Rate, ...]:
        """About the axis."""
        return given_rates(self, "rate", np.asarray(self.axis))


@dataclass(frozen=True, kw_only=True)
class Revolute(_TurningJoint):
    """Rotation about a common axis: 5 rows, 1 degree of freedom; `rate` in rad/s at the start."""

    kind: ClassVar[str] = "revolute"

    @property
    def rows(self) -> tuple[Row, ...]:
        """x_B = x_A, axes aligned."""
        return (Coincide(*self.points), *self._aligned)


@dataclass(frozen=True, kw_only=True)
class Cylindrical(_TurningJoint):
    """Rotation about and translation along a common axis: 4 rows, 2 degrees of freedom; eq. (37) of 001."""

    slide_rate: float | None = None  # of B along the axis of A at the start, in m/s
    kind: ClassVar[str] = "cylindrical"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rate(self, "slide_rate")

    @property
    def rates(self) -> tuple[Rate, ...]:
        """About the axis and along it."""
        return (*super().rates, *given_rates(self, "slide_rate", np.asarray(self.axis), slides=True))

    @property
    def rows(self) -> tuple[Row, ...]:
        """x_B on the axis of A, axes aligned."""
        return (*self._on_axis, *self._aligned)


@dataclass(frozen=True, kw_only=True)
class Prismatic(AxisJoint):
    """Translation along a common axis: 5 rows, 1 degree of freedom; `rate` in m/s at the start.

    `rotation_b` turns vectors of the first part into the same vectors of the second, such as the axis.
    """

    rotation_b: Rotation = None
    rate: float | None = None
    kind: ClassVar[str] = "prismatic"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rotation(self, self.rotation_b)
        check_rate(self, "rate")

    @property
    def rates(self) -> tuple[Rate, ...]:
        """Along the axis."""
        return given_rates(self, "rate", np.asarray(self.axis), slides=True)

    @property
    def turn_b(self) -> Array:
        """`rotation_b` as a matrix."""
        return rotation_matrix(self.rotation_b)

    @property
    def pairs(self) -> tuple[tuple[Array, Array], ...]:
        """The axis and two normals of it."""
        n = np.asarray(self.axis)
        return tuple((m, self.turn_b @ m) for m in (n, *normals(n)))

    @property
    def rows(self) -> tuple[Row, ...]:
        """x_B on the axis of A, no relative rotation."""
        m1, m2 = normals(np.asarray(self.axis))
        return (*self._on_axis, *self._aligned, Angle(m1, self.turn_b @ m2))


@dataclass(frozen=True, kw_only=True)
class PointOnLine(AxisJoint):
    """A point of B stays on a line fixed in A: 2 rows, 4 degrees of freedom."""

    kind: ClassVar[str] = "point_on_line"

    @property
    def pairs(self) -> tuple[tuple[Array, Array], ...]:
        """None: B may turn."""
        return ()

    @property
    def rows(self) -> tuple[Row, ...]:
        """x_B on the axis of A."""
        return self._on_axis


@dataclass(frozen=True, kw_only=True)
class Fixed(_PointJoint):
    """No relative motion: 6 rows. `rotation_b` turns vectors of the first part into the same vectors of the second."""

    rotation_b: Rotation = None
    kind: ClassVar[str] = "fixed"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rotation(self, self.rotation_b)

    @property
    def pairs(self) -> tuple[tuple[Array, Array], ...]:
        """Three axes."""
        return tuple(zip(np.eye(3), rotation_matrix(self.rotation_b).T, strict=True))

    @property
    def rows(self) -> tuple[Row, ...]:
        """x_B = x_A, no relative rotation."""
        (e1, _), (e2, f2), (_, f3) = self.pairs
        return (Coincide(*self.points), Angle(e1, f2), Angle(e1, f3), Angle(e2, f3))


@dataclass(frozen=True, kw_only=True)
class Universal(_PointJoint):
    """Hooke's joint: an axis fixed in A stays perpendicular to an axis fixed in B: 4 rows, 2 degrees of freedom."""

    axis_a: ArrayLike
    axis_b: ArrayLike
    turn_rates: tuple[float, ...] | None = None  # of B against A about both axes at the start, in rad/s
    kind: ClassVar[str] = "universal"

    def __post_init__(self) -> None:
        super().__post_init__()
        a = unit(self.axis_a, f"{self.where}: axis_a")
        b = unit(self.axis_b, f"{self.where}: axis_b")
        if abs(a @ b) > PERPENDICULAR_TOLERANCE and not self.rough:
            angle = np.degrees(np.arccos(np.clip(a @ b, -1, 1)))
            raise ModelError(
                f"{self.where}: its two axes must be perpendicular, found an angle of {angle:.4f} degrees. "
                "axis_b = cross(axis_a, direction of the shaft) is a usual choice."
            )
        object.__setattr__(self, "axis_a", a)
        normal = b if abs(a @ b) <= ROUND_OFF or self.rough else unit(b - a * (a @ b), f"{self.where}: axis_b")
        object.__setattr__(self, "axis_b", normal)
        check_rate(self, "turn_rates", 2)

    @property
    def rates(self) -> tuple[Rate, ...]:
        """About both axes; the second is fixed in B."""
        both = given_rates(self, "turn_rates", np.asarray(self.axis_a), np.asarray(self.axis_b))
        return (*both[:1], *(replace(rate, in_b=True) for rate in both[1:]))

    @property
    def rows(self) -> tuple[Row, ...]:
        """x_B = x_A, axes perpendicular."""
        return Coincide(*self.points), Angle(np.asarray(self.axis_a), np.asarray(self.axis_b))


@dataclass(frozen=True, kw_only=True)
class _PlaneJoint(_PointJoint):
    """A joint given by a point and the normal of a plane fixed in A."""

    normal: ArrayLike

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "normal", unit(self.normal, f"{self.where}: normal"))


@dataclass(frozen=True, kw_only=True)
class Planar(_PlaneJoint):
    """B glides on a plane of A: 3 rows, 3 degrees of freedom.

    At the start B turns about the normal with `rate`, in rad/s, and its point has the `velocity` against A, in m/s.
    """

    normal_b: ArrayLike | None = None
    rate: float | None = None
    velocity: ArrayLike | None = None
    kind: ClassVar[str] = "planar"

    def __post_init__(self) -> None:
        super().__post_init__()
        normal = self.normal if self.normal_b is None else self.normal_b
        object.__setattr__(self, "normal_b", unit(normal, f"{self.where}: normal_b"))
        check_rate(self, "rate")
        check_rate(self, "velocity", 3)

    @property
    def rates(self) -> tuple[Rate, ...]:
        """About the normal, and along three axes: a velocity out of the plane does not fit the joint."""
        about = given_rates(self, "rate", np.asarray(self.normal))
        return (*about, *given_rates(self, "velocity", *np.eye(3), slides=True))

    @property
    def pairs(self) -> tuple[tuple[Array, Array], ...]:
        """The normal."""
        return ((np.asarray(self.normal), np.asarray(self.normal_b)),)

    @property
    def rows(self) -> tuple[Row, ...]:
        """x_B in the plane of A, normals aligned."""
        n = np.asarray(self.normal)
        m1, m2 = normals(np.asarray(self.normal_b))
        return InPlane(n, *self.points), Angle(n, m1), Angle(n, m2)


@dataclass(frozen=True, kw_only=True)
class PointOnPlane(_PlaneJoint):
    """A point of B stays in a plane fixed in A: 1 row, 5 degrees of freedom."""

    kind: ClassVar[str] = "point_on_plane"

    @property
    def rows(self) -> tuple[Row, ...]:
        """x_B in the plane of A."""
        return (InPlane(np.asarray(self.normal), *self.points),)


@dataclass(frozen=True, kw_only=True)
class RigidLink(Joint):
    """Constant distance between a point of A and a point of B (a massless rod): 1 row, 5 degrees of freedom."""

    point_a: ArrayLike
    point_b: ArrayLike
    length: float | None = None
    kind: ClassVar[str] = "distance"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.length is None and self.frame == "body":
            raise ModelError(
                f"{self.where}: length: expected the distance of the two points, found none. With frame='body' it does "
                "not follow from the placement, which may be rough."
            )
        pa = vector(self.point_a, f"{self.where}: point_a")
        pb = vector(self.point_b, f"{self.where}: point_b")
        length = (
            float(np.linalg.norm(pb - pa)) if self.length is None else positive(self.length, f"{self.where}: length")
        )
        if length == 0.0:
            raise ModelError(
                f"{self.where}: expected two points a positive distance apart, found {pa.tolist()} twice. "
                "Use a spherical joint to make two points coincide."
            )
        object.__setattr__(self, "point_a", pa)
        object.__setattr__(self, "point_b", pb)
        object.__setattr__(self, "length", length)

    @property
    def beginning(self) -> str:
        """Its length, for messages."""
        return f" with length = {self.length:.6g}"

    @property
    def points(self) -> tuple[Array, Array]:
        """The two ends of the link."""
        return np.asarray(self.point_a), np.asarray(self.point_b)

    @property
    def rows(self) -> tuple[Row, ...]:
        """|x_B - x_A| = length."""
        assert self.length is not None
        return (Distance(*self.points, self.length),)


JOINTS: tuple[type[Joint], ...] = (
    Spherical, Cylindrical, Universal, Revolute, Prismatic, Planar, Fixed, RigidLink, PointOnLine, PointOnPlane,
)  # fmt: skip
