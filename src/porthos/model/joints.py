"""Joints as lists of rows. A row is one scalar (or three) constraint that is at most quadratic in the directors:

Coincide  x_B - x_A = 0                InPlane   n_A . (x_B - x_A) = 0
Angle     a_A . b_B = 0                Distance  (|x_B - x_A|^2 - l^2)/2 = 0

All points and vectors are world coordinates at the initial placement; the index says in which body they are fixed.
A new joint is one class in this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import ModelError
from porthos.model.bodies import PointMass
from porthos.notation import ROUND_OFF, Array, normals, positive, unit, vector

# Points given for the two bodies of a joint may lie this far apart, relative to their distance from the
# origin of the joint's lever arms; a small gap is closed by the projection of the initial values.
GAP_LIMIT = 1e-2
PERPENDICULAR_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Coincide:
    """x_B - x_A = 0: three rows."""

    point_a: Array
    point_b: Array
    count: ClassVar[int] = 3

    def gap(self) -> float:
        """Distance by which the row is violated at the placement, in metres."""
        return float(np.linalg.norm(self.point_b - self.point_a))


@dataclass(frozen=True)
class InPlane:
    """n_A . (x_B - x_A) = 0."""

    normal_a: Array
    point_a: Array
    point_b: Array
    count: ClassVar[int] = 1

    def gap(self) -> float:
        """Distance by which the row is violated at the placement, in metres."""
        return float(abs(self.normal_a @ (self.point_b - self.point_a)))


@dataclass(frozen=True)
class Angle:
    """a_A . b_B = 0 for unit vectors a fixed in A and b fixed in B."""

    vector_a: Array
    vector_b: Array
    count: ClassVar[int] = 1

    def gap(self) -> float:
        """Angles are made consistent by construction."""
        return 0.0


@dataclass(frozen=True)
class Distance:
    """(|x_B - x_A|^2 - length^2)/2 = 0."""

    point_a: Array
    point_b: Array
    length: float
    count: ClassVar[int] = 1

    def gap(self) -> float:
        """Distance by which the row is violated at the placement, in metres."""
        return abs(float(np.linalg.norm(self.point_b - self.point_a)) - self.length)


Row = Coincide | InPlane | Angle | Distance


@dataclass(frozen=True, kw_only=True)
class Joint:
    """What all joints have: a name, two parts, and rows; `kind` is the name of the joint in the literature."""

    name: str
    a: str
    b: str
    kind: ClassVar[str] = ""

    @property
    def rows(self) -> tuple[Row, ...]:
        """The constraints of this joint."""
        raise TypeError("Joint is the common base; use Revolute, Spherical, ...")

    @property
    def where(self) -> str:
        """How messages call this joint."""
        return f"{self.kind} joint '{self.name}'"

    @property
    def points(self) -> tuple[Array, Array]:
        """The points of A and B at which the reaction force is reported."""
        raise TypeError("Joint is the common base; use Revolute, Spherical, ...")


@dataclass(frozen=True, kw_only=True)
class _PointJoint(Joint):
    """A joint given by one point, or by one point for each body if they are not exactly the same."""

    at: ArrayLike
    at_b: ArrayLike | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", vector(self.at, f"{self.where}: at"))
        point_b = self.at if self.at_b is None else self.at_b
        object.__setattr__(self, "at_b", vector(point_b, f"{self.where}: at_b"))

    @property
    def points(self) -> tuple[Array, Array]:
        """The points of A and B that the joint brings together."""
        return np.asarray(self.at), np.asarray(self.at_b)


@dataclass(frozen=True, kw_only=True)
class Spherical(_PointJoint):
    """A point of A and a point of B coincide: 3 rows, 3 degrees of freedom."""

    kind: ClassVar[str] = "spherical"

    @property
    def rows(self) -> tuple[Row, ...]:
        """x_B = x_A."""
        return (Coincide(*self.points),)


@dataclass(frozen=True, kw_only=True)
class _AxisJoint(_PointJoint):
    """A joint given by a point and an axis that both bodies share."""

    axis: ArrayLike

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "axis", unit(self.axis, f"{self.where}: axis"))

    @property
    def _aligned(self) -> tuple[Row, ...]:
        """The axis fixed in A stays parallel to the axis fixed in B: two vectors of B normal to it."""
        n = np.asarray(self.axis)
        m1, m2 = normals(n)
        return Angle(n, m1), Angle(n, m2)

    @property
    def _on_axis(self) -> tuple[Row, ...]:
        """The point of B stays on the axis of A."""
        m1, m2 = normals(np.asarray(self.axis))
        return InPlane(m1, *self.points), InPlane(m2, *self.points)

    @property
    def _unturned(self) -> tuple[Row, ...]:
        """No relative rotation about the axis."""
        return (Angle(*normals(np.asarray(self.axis))),)


@dataclass(frozen=True, kw_only=True)
class Revolute(_AxisJoint):
    """Rotation about a common axis: 5 rows, 1 degree of freedom."""

    kind: ClassVar[str] = "revolute"

    @property
    def rows(self) -> tuple[Row, ...]:
        """x_B = x_A, axes aligned."""
        return (Coincide(*self.points), *self._aligned)


@dataclass(frozen=True, kw_only=True)
class Cylindrical(_AxisJoint):
    """Rotation about and translation along a common axis: 4 rows, 2 degrees of freedom; eq. (37) of 001."""

    kind: ClassVar[str] = "cylindrical"

    @property
    def rows(self) -> tuple[Row, ...]:
        """x_B on the axis of A, axes aligned."""
        return (*self._on_axis, *self._aligned)


@dataclass(frozen=True, kw_only=True)
class Prismatic(_AxisJoint):
    """Translation along a common axis: 5 rows, 1 degree of freedom."""

    kind: ClassVar[str] = "prismatic"

    @property
    def rows(self) -> tuple[Row, ...]:
        """x_B on the axis of A, no relative rotation."""
        return (*self._on_axis, *self._aligned, *self._unturned)


@dataclass(frozen=True, kw_only=True)
class PointOnLine(_AxisJoint):
    """A point of B stays on a line fixed in A: 2 rows, 4 degrees of freedom."""

    kind: ClassVar[str] = "point_on_line"

    @property
    def rows(self) -> tuple[Row, ...]:
        """x_B on the axis of A."""
        return self._on_axis


@dataclass(frozen=True, kw_only=True)
class Fixed(_PointJoint):
    """No relative motion: 6 rows."""

    kind: ClassVar[str] = "fixed"

    @property
    def rows(self) -> tuple[Row, ...]:
        """x_B = x_A, no relative rotation."""
        e1, e2, e3 = np.eye(3)
        return (Coincide(*self.points), Angle(e1, e2), Angle(e1, e3), Angle(e2, e3))


@dataclass(frozen=True, kw_only=True)
class Universal(_PointJoint):
    """Hooke's joint: an axis fixed in A stays perpendicular to an axis fixed in B: 4 rows, 2 degrees of freedom."""

    axis_a: ArrayLike
    axis_b: ArrayLike
    kind: ClassVar[str] = "universal"

    def __post_init__(self) -> None:
        super().__post_init__()
        a = unit(self.axis_a, f"{self.where}: axis_a")
        b = unit(self.axis_b, f"{self.where}: axis_b")
        if abs(a @ b) > PERPENDICULAR_TOLERANCE:
            angle = np.degrees(np.arccos(np.clip(a @ b, -1, 1)))
            raise ModelError(
                f"{self.where}: its two axes must be perpendicular, found an angle of {angle:.4f} degrees. "
                "axis_b = cross(axis_a, direction of the shaft) is a usual choice."
            )
        object.__setattr__(self, "axis_a", a)
        normal = b if abs(a @ b) <= ROUND_OFF else unit(b - a * (a @ b), f"{self.where}: axis_b")
        object.__setattr__(self, "axis_b", normal)

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
    """B glides on a plane of A: 3 rows, 3 degrees of freedom."""

    kind: ClassVar[str] = "planar"

    @property
    def rows(self) -> tuple[Row, ...]:
        """x_B in the plane of A, normals aligned."""
        n = np.asarray(self.normal)
        m1, m2 = normals(n)
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


def check_gap(joint: Joint, size: float) -> None:
    """Refuse points that lie far apart, measured by the `size` of the parts that the joint connects."""
    gap = max(row.gap() for row in joint.rows)
    if gap > GAP_LIMIT * size:
        pa, pb = joint.points
        raise ModelError(
            f"{joint.where}: the points given on '{joint.a}' {np.round(pa, 6).tolist()} and on '{joint.b}' "
            f"{np.round(pb, 6).tolist()} do not fit together; they miss each other by {gap:.4g}. "
            "Expected world coordinates at the initial placement, where the joint is closed; "
            "check the positions of the two parts."
        )


def check_held(where: str, mass: PointMass, side: int, point: Array, rows: tuple[Row, ...]) -> None:
    """Refuse what rows cannot do to a point mass on side 0 (A) or 1 (B): hold a rotation, a plane or a lever."""
    if any(isinstance(row, Angle) for row in rows):
        raise ModelError(
            f"{where}: expected rigid bodies, found the point mass '{mass.name}', which has no rotation to hold. "
            "Use a spherical, distance, point_on_line or point_on_plane joint, or a rigid body."
        )
    if side == 0 and any(isinstance(row, InPlane) for row in rows):
        raise ModelError(
            f"{where}: expected a rigid body or the ground as its first part, in which its line or plane is "
            f"fixed, found the point mass '{mass.name}', which has no directions. Exchange the two parts."
        )
    mass.require_at(where, point)
