"""Rows: one scalar (or three) constraint of joints and elements, at most quadratic in the directors but for gears.

Coincide  x_B - x_A = 0                InPlane   n_A . (x_B - x_A) = 0
Angle     a_A . b_B = 0                Distance  (|x_B - x_A|^2 - l^2)/2 = 0
Mesh      r_A psi_A + r_B psi_B = 0    Roll      r psi_A + t_B . (x_B - x_A) = c

and two that only laws of beams use:

Stretch   n . (x_B - x_A - l n), n = (n_A + n_B)/2         Bend  (a_A + a_B)/2 . (b_B - b_A)

All points and vectors are world coordinates at the initial placement; the index says in which body they are fixed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from porthos.errors import ModelError
from porthos.model.bodies import PointMass
from porthos.notation import Array

PARALLEL = 1e-2  # rad: axes of wheels that differ by more are those of bevel gears


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
        """Angle by which the row is violated at the placement, in radians."""
        return float(abs(np.arcsin(np.clip(self.vector_a @ self.vector_b, -1.0, 1.0))))


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


@dataclass(frozen=True)
class Wheel:
    """What a row says of a wheel on side 0 (A) or 1 (B): r psi, psi the angle that a vector y has made about its axis.

    `faced` is y at the placement, where psi = 0; the wheel turns against y by -psi.
    """

    side: int
    axis: Array
    faced: Array
    radius: float  # negative where the angle counts backwards

    @property
    def across(self) -> Array:
        """The vector of the wheel a quarter turn ahead of y, over |y|^2 in its plane: the slope of psi with y."""
        normal = np.cross(self.axis, self.faced)
        return normal / float(normal @ normal)

    @property
    def ahead(self) -> Array:
        """The unit vector of the wheel along y."""
        along = np.cross(self.across, self.axis)
        return along / float(np.linalg.norm(along))


@dataclass(frozen=True)
class Mesh:
    """r_A psi_A + r_B psi_B = 0: two wheels seen from the line between their centres, or from each other's axis.

    Those with parallel axes face x_B - x_A: whatever carries both turns this line. Bevel gears face each other's axis,
    and their radii are relative to that of A.
    """

    point_a: Array
    point_b: Array
    axis_a: Array
    axis_b: Array
    teeth: tuple[int, int]
    internal: bool
    count: ClassVar[int] = 1

    @property
    def bevel(self) -> bool:
        """Whether the axes are not parallel."""
        return float(np.linalg.norm(np.cross(self.axis_a, self.axis_b))) > PARALLEL

    @property
    def wheels(self) -> tuple[Wheel, ...]:
        """Both wheels."""
        (z_A, z_B), sign = self.teeth, -1.0 if self.internal else 1.0
        if self.bevel:
            a, b = self._outward
            return Wheel(0, a, b, 1.0), Wheel(1, b, a, z_B / z_A)
        a, line = self.axis_a, self.point_b - self.point_a
        b = self.axis_b if a @ self.axis_b > 0.0 else -self.axis_b
        r = float(np.linalg.norm(np.cross(a, line))) / abs(z_A + sign * z_B)
        return Wheel(0, a, line, z_A * r), Wheel(1, b, line, sign * z_B * r)

    @property
    def _outward(self) -> tuple[Array, Array]:
        """The axes from where they come nearest to each other to the wheels; as given where a wheel is there."""
        a, b, line = self.axis_a, self.axis_b, self.point_b - self.point_a
        to_a, to_b = np.linalg.lstsq(np.column_stack([a, -b]), line, rcond=None)[0]  # x_A + to_a a = x_B + to_b b
        far = PARALLEL * float(np.linalg.norm(line))
        return (-a if to_a > far else a), (-b if to_b > far else b)

    @property
    def pitch(self) -> float:
        """How far apart values of the row are that belong to the same configuration: one tooth."""
        return float(2.0 * np.pi * abs(self.wheels[0].radius) / self.teeth[0])

    def gap(self) -> float:
        """None: teeth mesh as they are placed."""
        return 0.0


@dataclass(frozen=True)
class Roll:
    """r psi_A + t_B . (x_B - x_A) = c: a wheel of A rolls along a rack in B; c is the value at the placement."""

    point_a: Array
    point_b: Array
    axis_a: Array
    along_b: Array
    radius: float
    count: ClassVar[int] = 1

    @property
    def wheels(self) -> tuple[Wheel, ...]:
        """The pinion, which faces the direction of the rack."""
        return (Wheel(0, self.axis_a, self.along_b, self.radius),)

    @property
    def pitch(self) -> float:
        """What a full turn changes."""
        return 2.0 * np.pi * self.radius

    def gap(self) -> float:
        """None: teeth mesh as they are placed."""
        return 0.0


Row = Coincide | InPlane | Angle | Distance | Mesh | Roll


@dataclass(frozen=True)
class Stretch:
    """n . (x_B - x_A - length n) with the mean n = (n_A + n_B)/2."""

    normal_a: Array
    normal_b: Array
    point_a: Array
    point_b: Array
    length: float
    count: ClassVar[int] = 1

    @property
    def value(self) -> float:
        """At the placement."""
        n = (self.normal_a + self.normal_b) / 2
        return float(n @ (self.point_b - self.point_a - self.length * n))


@dataclass(frozen=True)
class Bend:
    """(a_A + a_B)/2 . (b_B - b_A), the sine of the turn about b x a if B turns against A; a and b are perpendicular."""

    first_a: Array
    first_b: Array
    second_a: Array
    second_b: Array
    count: ClassVar[int] = 1

    @property
    def value(self) -> float:
        """At the placement."""
        return float((self.first_a + self.first_b) @ (self.second_b - self.second_a) / 2)


Strain = Stretch | Bend


def check_held(where: str, mass: PointMass, side: int, point: Array, rows: tuple[Row | Strain, ...]) -> None:
    """Refuse what rows cannot do to a point mass on side 0 (A) or 1 (B): hold a rotation, a plane or a lever."""
    if any(isinstance(row, Angle | Mesh | Roll) for row in rows):
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
