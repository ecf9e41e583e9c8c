"""Force elements: springs, dampers and other laws between two parts, made of the same rows as joints.

A law is a force F(x) + c x' for one measure of its rows: the distance of two points, the row itself, or an angle.
A new element is one class in this file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import ModelError, nearest
from porthos.model.joint_base import Joint
from porthos.model.joints import Cylindrical, Prismatic, Revolute
from porthos.model.rows import Angle, Distance, InPlane, Row, Strain
from porthos.model.signals import Level, Rows
from porthos.notation import Array, normals, number, numbers, positive, vector

MOST_TERMS = 5  # coefficients of a stiffness
NOWHERE = 1e-9  # points closer than this, relative to their distance from the origin, have no direction between them

Joints = Mapping[str, Joint]


@dataclass(frozen=True)
class Law:
    """Rows, what is measured of them, and the force: sum of force[k] x^k with x = s - rest, a table, or inverse/s^2."""

    measure: Literal["length", "value", "turn"]
    rows: tuple[Row | Strain, ...]
    force: tuple[float, ...] = ()
    rest: float = 0.0
    damping: float = 0.0
    inverse: float = 0.0
    table: Array | None = None
    friction: float = 0.0  # mu of mu N s'/sqrt(s'^2 + speed^2); N is the size of the force of a joint's first rows
    speed: float = 0.0
    pressed_by: str = ""
    energy: str = ""  # the expression from which a table was made
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


@dataclass(frozen=True, kw_only=True)
class Pull(Element):
    """An element along the line between a point of A and a point of B."""

    a: str
    b: str
    point_a: ArrayLike
    point_b: ArrayLike

    def __post_init__(self) -> None:
        for key in ("point_a", "point_b"):
            object.__setattr__(self, key, vector(getattr(self, key), f"{self.where}: {key}"))
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


@dataclass(frozen=True, kw_only=True)
class Spring(Pull):
    """A spring, and a damper beside it: they pull with F = force + k_1 x + k_2 x^2 + ... + c x', x = distance - length.

    `stiffness` is k_1 in N/m, or the list k_1, k_2, ...; `length` is the distance of the points at rest, that of the
    placement if it is not given; `table` is a list of pairs (x, F) instead of a stiffness.
    """

    stiffness: Level = 0.0
    damping: float = 0.0
    length: float | None = None
    force: float = 0.0
    table: Rows | None = None
    kind: ClassVar[str] = "spring"

    def __post_init__(self) -> None:
        super().__post_init__()
        length = self.distance if self.length is None else number(self.length, f"{self.where}: length", least=0.0)
        object.__setattr__(self, "length", length)
        _read_force(self, "force")

    def laws(self, joints: Joints) -> tuple[Law, ...]:
        """One law of the distance."""
        assert self.length is not None
        return (_law(self, "length", self._line, self.length, self.force),)


@dataclass(frozen=True, kw_only=True)
class Damper(Pull):
    """A damper: a force c times the rate of the distance of two points against its change; `damping` is c in N s/m."""

    damping: float
    kind: ClassVar[str] = "damper"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "damping", number(self.damping, f"{self.where}: damping", least=0.0))

    def laws(self, joints: Joints) -> tuple[Law, ...]:
        """One law of the distance."""
        return (Law("length", self._line, damping=self.damping),)


@dataclass(frozen=True, kw_only=True)
class Attraction(Pull):
    """Gravitation or charge: the points pull at each other with strength/distance^2; negative strength pushes."""

    strength: float
    kind: ClassVar[str] = "attraction"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "strength", number(self.strength, f"{self.where}: strength"))

    def laws(self, joints: Joints) -> tuple[Law, ...]:
        """One law of the distance."""
        return (Law("length", self._line, inverse=self.strength),)


@dataclass(frozen=True, kw_only=True)
class TorsionSpring(Element):
    """A spring, and a damper beside it, in a revolute or cylindrical joint: torque = torque + k_1 x + ... + c x'.

    x = turn of the second body against the first since the placement - angle, within half a turn to either side;
    `stiffness` is k_1 in N m/rad or a list, `damping` in N m s, `table` a list of pairs (x, torque).
    """

    joint: str
    stiffness: Level = 0.0
    damping: float = 0.0
    angle: float = 0.0
    torque: float = 0.0
    table: Rows | None = None
    kind: ClassVar[str] = "torsion_spring"

    def __post_init__(self) -> None:
        object.__setattr__(self, "angle", number(self.angle, f"{self.where}: angle"))
        _read_force(self, "torque")

    def sides(self, joints: Joints) -> tuple[str, str]:
        """The parts of the joint."""
        joint = self._hinge(joints)
        return joint.a, joint.b

    def points(self, joints: Joints) -> tuple[Array, Array]:
        """The points of the joint."""
        return self._hinge(joints).points

    def laws(self, joints: Joints) -> tuple[Law, ...]:
        """One law of the angle, by its cosine and sine."""
        return (_law(self, "turn", turning_rows(self._hinge(joints)), self.angle, self.torque),)

    def _hinge(self, joints: Joints) -> Revolute | Cylindrical:
        joint = known_joint(self, joints)
        if not isinstance(joint, Revolute | Cylindrical):
            raise ModelError(
                f"{self.where}: joint: expected a revolute or cylindrical joint, which has an axis to turn about, "
                f"found the {joint.where}. Use a bushing for other rotations."
            )
        return joint


@dataclass(frozen=True, kw_only=True)
class Bushing(Element):
    """Springs and dampers along and about the three world axes at the placement, which stay fixed in the first body.

    `at` is the point of the second body that is held near that of the first. Forces are k x + c x' for each axis in
    N/m and N s/m; torques k sin x + ... for the turn x about each axis in N m/rad and N m s.
    """

    a: str
    b: str
    at: ArrayLike
    stiffness: ArrayLike = (0.0, 0.0, 0.0)
    damping: ArrayLike = (0.0, 0.0, 0.0)
    turning_stiffness: ArrayLike = (0.0, 0.0, 0.0)
    turning_damping: ArrayLike = (0.0, 0.0, 0.0)
    kind: ClassVar[str] = "bushing"

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", vector(self.at, f"{self.where}: at"))
        for key in ("stiffness", "damping", "turning_stiffness", "turning_damping"):
            values = vector(getattr(self, key), f"{self.where}: {key}")
            if np.any(values < 0.0):
                raise ModelError(f"{self.where}: {key}: expected numbers >= 0, found {values.tolist()}.")
            object.__setattr__(self, key, values)
        if not self.laws({}):
            raise ModelError(
                f"{self.where}: expected a stiffness or a damping, found none. Try stiffness=(1e5, 1e5, 1e5)."
            )

    def sides(self, joints: Joints) -> tuple[str, str]:
        """A and B."""
        return self.a, self.b

    def points(self, joints: Joints) -> tuple[Array, Array]:
        """The point, in both bodies."""
        return np.asarray(self.at), np.asarray(self.at)

    def laws(self, joints: Joints) -> tuple[Law, ...]:
        """A law for each axis along and about which there is something; e_i . e_j = -+ sin of the turn about e_k."""
        at, e = np.asarray(self.at), np.eye(3)
        rows: list[Row] = [InPlane(e[k], at, at) for k in range(3)]
        rows += [Angle(e[k - 1], e[k - 2]) for k in range(3)]
        K = [*np.asarray(self.stiffness).tolist(), *np.asarray(self.turning_stiffness).tolist()]
        C = [*np.asarray(self.damping).tolist(), *np.asarray(self.turning_damping).tolist()]
        used = [(row, k, c) for row, k, c in zip(rows, K, C, strict=True) if k > 0.0 or c > 0.0]
        return tuple(Law("value", (row,), (0.0, k), damping=c) for row, k, c in used)


@dataclass(frozen=True, kw_only=True)
class Friction(Element):
    """Dry friction in a revolute or prismatic joint: coefficient times the force N of the joint, against its motion.

    In a revolute joint it is a torque with the `radius` of the pin, and N the whole force of the joint; in a prismatic
    one N is the force across its axis. Below `speed`, in m/s where the parts rub, it falls to zero with the speed, so
    that what it holds creeps: coefficient N v/sqrt(v^2 + speed^2).
    """

    joint: str
    coefficient: float
    radius: float | None = None
    speed: float = 1e-3
    kind: ClassVar[str] = "friction"

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficient", number(self.coefficient, f"{self.where}: coefficient", least=0.0))
        object.__setattr__(self, "speed", positive(self.speed, f"{self.where}: speed"))
        if self.radius is not None:
            object.__setattr__(self, "radius", positive(self.radius, f"{self.where}: radius"))

    def sides(self, joints: Joints) -> tuple[str, str]:
        """The parts of the joint."""
        joint = self._rubbing(joints)
        return joint.a, joint.b

    def points(self, joints: Joints) -> tuple[Array, Array]:
        """The points of the joint."""
        return self._rubbing(joints).points

    def laws(self, joints: Joints) -> tuple[Law, ...]:
        """One law of the angle or of the displacement."""
        joint = self._rubbing(joints)
        if isinstance(joint, Prismatic):
            along: tuple[Row, ...] = (InPlane(np.asarray(joint.axis), *joint.points),)
            return (Law("value", along, friction=self.coefficient, speed=self.speed, pressed_by=joint.name,
                        pressing_rows=2),)  # fmt: skip
        assert self.radius is not None
        r, mu = self.radius, self.coefficient
        return (Law("turn", turning_rows(joint), friction=mu * r, speed=self.speed / r, pressed_by=joint.name,
                    pressing_rows=3),)  # fmt: skip

    def _rubbing(self, joints: Joints) -> Revolute | Prismatic:
        joint = known_joint(self, joints)
        if not isinstance(joint, Revolute | Prismatic):
            raise ModelError(
                f"{self.where}: joint: expected a revolute or prismatic joint, found the {joint.where}. Dampers and "
                "bushings take energy from other joints."
            )
        if isinstance(joint, Revolute) and self.radius is None:
            raise ModelError(
                f"{self.where}: radius: expected the radius of the pin of the {joint.where} in m, on which it acts, "
                "found none. Try radius=0.01."
            )
        return joint


ELEMENTS: tuple[type[Element], ...] = (Spring, Damper, Attraction, TorsionSpring, Bushing, Friction)


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


def _read_force(element: Any, constant: str) -> None:
    """Check the fields from which the force of a spring is made."""
    where = element.where
    object.__setattr__(element, "damping", number(element.damping, f"{where}: damping", least=0.0))
    object.__setattr__(element, constant, number(getattr(element, constant), f"{where}: {constant}"))
    k = numbers(element.stiffness, f"{where}: stiffness")
    if k.ndim > 1 or not 1 <= k.size <= MOST_TERMS:
        raise ModelError(
            f"{where}: stiffness: expected a number, or up to {MOST_TERMS} for powers of x, found "
            f"{element.stiffness!r}."
        )
    object.__setattr__(element, "stiffness", k if k.ndim else float(k))
    if element.table is not None:
        object.__setattr__(element, "table", _knots(element, k))
    if not (k.any() or element.damping or getattr(element, constant) or element.table is not None):
        raise ModelError(
            f"{where}: expected a stiffness, a damping, a table or a constant {constant}, found none. "
            "Try stiffness=100.0."
        )


def _knots(element: Any, stiffness: Array) -> Array:
    """The pairs of a table, sorted as they must be."""
    where, knots = f"{element.where}: table", numbers(element.table, f"{element.where}: table")
    if knots.ndim != 2 or knots.shape[1] != 2 or len(knots) < 2:
        raise ModelError(
            f"{where}: expected pairs such as [[-0.1, -20], [0.1, 20]], two at least, found {element.table!r}."
        )
    if not np.all(np.diff(knots[:, 0]) > 0.0):
        raise ModelError(
            f"{where}: expected values of x that increase from pair to pair, found {knots[:, 0].tolist()}."
        )
    if stiffness.any():
        raise ModelError(f"{where}: expected either a table or a stiffness, found both. Leave one of them out.")
    return knots


def _law(element: Any, measure: Literal["length", "turn"], rows: tuple[Row, ...], rest: float, constant: float) -> Law:
    """The law of a spring: a polynomial, or a table to which the constant is added."""
    if element.table is not None:
        knots = np.asarray(element.table) + np.array([0.0, constant])
        return Law(measure, rows, rest=rest, damping=element.damping, table=knots)
    force = (constant, *np.atleast_1d(element.stiffness).tolist())
    force = force if any(force) else ()
    return Law(measure, rows, force, rest, element.damping)
