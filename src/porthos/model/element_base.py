"""What all force elements have in common: two parts, rows as joints have them, and laws for the forces of the rows.

A law is a force F(x) + c x' for one measure of its rows: the distance of two points, the row itself, or an angle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import ModelError, nearest
from porthos.model.bodies import Pose
from porthos.model.joint_base import Frame, Joint, carried, check_frame
from porthos.model.joints import Cylindrical, Revolute
from porthos.model.rows import Angle, Distance, Row, Strain
from porthos.notation import Array, normals, vector

NOWHERE = 1e-9  # points closer than this, relative to their distance from the origin, have no direction between them

Joints = Mapping[str, Joint]
Measure = Literal["length", "value", "turn"]


@dataclass(frozen=True)
class Law:
    """Rows, what is measured of them, and the force: of x = s - rest a polynomial, lines or pieces, or inverse/s^2."""

    measure: Measure
    rows: tuple[Row | Strain, ...]
    force: tuple[float, ...] = ()  # factors of powers of x
    rest: float = 0.0
    damping: float = 0.0
    inverse: float = 0.0
    table: Array | None = None  # pairs (x, F), joined by straight lines
    pieces: Array | None = None  # of a potential, see `fitting.py`
    friction: float = 0.0  # mu of mu N s'/sqrt(s'^2 + speed^2); N is the size of the force of a joint's first rows
    speed: float = 0.0
    pressed_by: str = ""
    energy: str = ""  # the expression from which pieces were made
    pressing_rows: int = 0


@dataclass(frozen=True, kw_only=True)
class Element:
    """What all force elements have: a name, two parts, and laws; `kind` is its name in files."""

    name: str
    kind: ClassVar[str] = ""

    @property
    def where(self) -> str:
        """How messages call this element."""
        return f"{self.kind} '{self.name}'"

    def sides(self, joints: Joints) -> tuple[str, str]:
        """The names of its two parts."""
        raise TypeError("Element is the common base; use Spring, Damper, ...")

    def laws(self, joints: Joints) -> tuple[Law, ...]:
        """What it does."""
        raise TypeError("Element is the common base; use Spring, Damper, ...")

    def points(self, joints: Joints) -> tuple[Array, Array]:
        """The points of A and B between which it is drawn."""
        raise TypeError("Element is the common base; use Spring, Damper, ...")

    def placed(self, a: Pose, b: Pose) -> Self:
        """The element in world coordinates, if it was given in the frames of its parts, which are at `a` and `b`."""
        del a, b
        return self

    def settled(self, a: Pose, b: Pose) -> Self:
        """The element with what it takes from the start of a run; `a` and `b` lead there from the placement."""
        del a, b
        return self


@dataclass(frozen=True, kw_only=True)
class Pull(Element):
    """An element along the line between a point of A and a point of B.

    Points are in world coordinates at the placement; with `frame` "body" each is in the frame of its part.
    """

    a: str
    b: str
    point_a: ArrayLike
    point_b: ArrayLike
    frame: Frame = "world"

    def __post_init__(self) -> None:
        check_frame(self.frame, self.where)
        for key in ("point_a", "point_b"):
            object.__setattr__(self, key, vector(getattr(self, key), f"{self.where}: {key}"))

    def placed(self, a: Pose, b: Pose) -> Self:
        """In world coordinates; points that meet at a rough placement may be apart where the joints are closed."""
        if self.frame == "body":
            return replace(self, frame="world", **carried(self, a, b))
        self._require_apart()
        return self

    def settled(self, a: Pose, b: Pose) -> Self:
        """Where its points are apart."""
        replace(self, **carried(self, a, b))._require_apart()
        return self

    def _require_apart(self) -> None:
        if self.distance <= NOWHERE * max(np.abs(self.point_a).max(), np.abs(self.point_b).max()):
            raise ModelError(
                f"{self.where}: expected two points with a distance, found both at "
                f"{np.asarray(self.point_a).tolist()}: the force would have no direction. Move one of them, or use a "
                "bushing."
            )

    @property
    def distance(self) -> float:
        """How far the points are from each other at the placement."""
        return float(np.linalg.norm(np.asarray(self.point_b) - np.asarray(self.point_a)))

    def sides(self, joints: Joints) -> tuple[str, str]:
        """A and B."""
        return self.a, self.b

    def points(self, joints: Joints) -> tuple[Array, Array]:
        """The points between which it acts."""
        return np.asarray(self.point_a), np.asarray(self.point_b)

    @property
    def _line(self) -> tuple[Row, ...]:
        return (Distance(np.asarray(self.point_a), np.asarray(self.point_b), 0.0),)


def known_joint(element: Any, joints: Joints) -> Joint:
    """The joint that an element names."""
    joint = joints.get(element.joint)
    if joint is None:
        raise ModelError(
            f"{element.where}: joint: expected a joint that was added before, found no '{element.joint}'. "
            f"{nearest(element.joint, joints)}"
        )
    return joint


def turning_rows(hinge: Revolute | Cylindrical) -> tuple[Row, ...]:
    """Cosine and sine of the turn of the second body since the placement."""
    m1, m2 = normals(np.asarray(hinge.axis))
    along = hinge.turn_b @ m1
    return Angle(m1, along), Angle(m2, along)
