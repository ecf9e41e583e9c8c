"""Gears: joints with one row that adds up turns of wheels. They hold no axes and no distances; other joints do that.

Of each row only the change counts: teeth mesh as the wheels are placed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import ModelError
from porthos.model.joint_base import Joint
from porthos.model.joints import AxisJoint, SharedAxisJoint
from porthos.model.rows import Mesh, Roll, Row
from porthos.notation import Array, flag, positive, unit

MOST_TEETH = 10**6
NEAR = 1e-9  # distance from an axis, relative to that of the points, that counts as none


@dataclass(frozen=True, kw_only=True)
class GearJoint(Joint):
    """What gears and racks have in common."""

    @property
    def where(self) -> str:
        """How messages call it."""
        return f"{self.kind} '{self.name}'"

    @property
    def pairs(self) -> tuple[tuple[Array, Array], ...]:
        """None: it holds no axes."""
        return ()

    @property
    def _size(self) -> float:
        """The length with which distances compare."""
        return max(float(np.linalg.norm(point)) for point in self.points)


@dataclass(frozen=True, kw_only=True)
class Gear(GearJoint, SharedAxisJoint):
    """Two wheels that mesh: 1 row. Turns against what carries both are as -teeth_B : teeth_A, `internal` without minus.

    `at` and `at_b` are the centres. Pitch radii follow from their distance; with `internal` the wheel with more teeth
    is a ring around the other. Axes that are not parallel are those of bevel gears.
    """

    teeth: tuple[float, ...]
    internal: bool = False
    kind: ClassVar[str] = "gear"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "teeth", _whole(self.teeth, f"{self.where}: teeth"))
        object.__setattr__(self, "internal", flag(self.internal, f"{self.where}: internal"))
        if self.internal and self.teeth[0] == self.teeth[1]:
            raise ModelError(
                f"{self.where}: teeth: expected a ring with more teeth than the wheel inside, found {self.teeth}. "
                "Use a fixed joint to couple two wheels with one axis."
            )
        if not self.rough:
            self._check_placed()

    def _check_placed(self) -> None:
        """Refuse centres on one axis, and a ring that is a cone."""
        row = self.mesh
        if row.bevel:
            if self.internal:
                raise ModelError(
                    f"{self.where}: internal: expected parallel axes, found {np.round(row.axis_a, 6).tolist()} and "
                    f"{np.round(row.axis_b, 6).tolist()}. Bevel gears have no ring here; leave `internal` out."
                )
            return
        line = row.point_b - row.point_a
        if np.linalg.norm(np.cross(row.axis_a, line)) <= NEAR * self._size:
            raise ModelError(
                f"{self.where}: at_b: expected centres apart from each other, as their distance is that of the pitch "
                f"circles, found {row.point_a.tolist()} and {row.point_b.tolist()} on one axis."
            )

    @property
    def mesh(self) -> Mesh:
        """Its row."""
        a, b = (int(z) for z in self.teeth)
        return Mesh(*self.points, np.asarray(self.axis), np.asarray(self.axis_b), (a, b), self.internal)

    @property
    def rows(self) -> tuple[Row, ...]:
        """z_A psi_A +- z_B psi_B = 0."""
        return (self.mesh,)


@dataclass(frozen=True, kw_only=True)
class Rack(GearJoint, AxisJoint):
    """A pinion A on a rack B: 1 row. The rack moves by the radius times the turn of the pinion against it.

    `at` is the centre of the pinion, `at_b` the point where it touches the rack: `radius` is its distance from the
    axis, and `along` the direction in which the rack moves if the pinion turns about `axis`.
    """

    radius: float | None = None
    along: ArrayLike | None = None
    kind: ClassVar[str] = "rack"

    def __post_init__(self) -> None:
        super().__post_init__()
        (centre, touch), n = self.points, np.asarray(self.axis)
        if self.frame == "body" and (self.radius is None or self.along is None):
            raise ModelError(
                f"{self.where}: expected radius and along, a vector in the frame of '{self.b}', found none of one of "
                "them. With frame='body' they do not follow from the placement, which may be rough."
            )
        across = np.cross(n, touch - centre)
        if np.linalg.norm(across) <= NEAR * self._size and self.along is None:
            raise ModelError(
                f"{self.where}: at_b: expected the point where the pinion touches the rack, off the axis of the "
                f"pinion, found {touch.tolist()}. Or give radius and along."
            )
        radius = float(np.linalg.norm(across)) if self.radius is None else self.radius
        object.__setattr__(self, "radius", positive(radius, f"{self.where}: radius"))
        along = unit(across if self.along is None else self.along, f"{self.where}: along")
        if not self.rough and abs(along @ n) > NEAR:
            raise ModelError(
                f"{self.where}: along: expected a direction perpendicular to the axis {np.round(n, 6).tolist()} of the "
                f"pinion, found {np.round(along, 6).tolist()}."
            )
        object.__setattr__(self, "along", along)

    @property
    def rows(self) -> tuple[Row, ...]:
        """r psi + t . (x_B - x_A) = c."""
        assert self.radius is not None
        return (Roll(*self.points, np.asarray(self.axis), np.asarray(self.along), self.radius),)


GEARS: tuple[type[GearJoint], ...] = (Gear, Rack)


def _whole(value: object, what: str) -> tuple[int, int]:
    """Two numbers of teeth, or a ModelError: with whole numbers errors of round-off never add up, see decisions."""
    try:
        found = np.array(value, dtype=np.float64)
    except Exception:  # noqa: BLE001 - of an object of another class
        found = np.zeros(0)
    if found.shape != (2,) or not all(1 <= z <= MOST_TEETH and z == np.round(z) for z in found):
        raise ModelError(
            f"{what}: expected two whole numbers from 1 to {MOST_TEETH}, such as (20, 60), found {value!r}. Only their "
            "ratio counts for the motion: a ratio of 2.5 is (10, 25)."
        )
    return int(found[0]), int(found[1])
