"""Rows: one scalar (or three) constraint that is at most quadratic in the directors, of joints and elements.

Coincide  x_B - x_A = 0                InPlane   n_A . (x_B - x_A) = 0
Angle     a_A . b_B = 0                Distance  (|x_B - x_A|^2 - l^2)/2 = 0

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


Row = Coincide | InPlane | Angle | Distance


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
