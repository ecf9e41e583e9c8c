"""Force elements: springs, dampers and other laws between two parts, made of the same rows as joints.

A new element is one class in this file; what all of them have is in `element_base.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import ModelError
from porthos.model.bodies import Pose, Rotation, rotation_matrix
from porthos.model.element_base import Element, Joints, Law, Measure, Pull, known_joint, turning_rows
from porthos.model.joint_base import Frame, carried, check_frame
from porthos.model.joints import Cylindrical, Prismatic, Revolute
from porthos.model.rows import Angle, InPlane, Row
from porthos.model.signals import Level, Rows
from porthos.notation import Array, number, numbers, positive, vector

MOST_TERMS = 5  # coefficients of a stiffness


@dataclass(frozen=True, kw_only=True)
class Spring(Pull):
    """A spring, and a damper beside it: they pull with F = force + k_1 x + k_2 x^2 + ... + c x', x = distance - length.

    `stiffness` is k_1 in N/m, or the list k_1, k_2, ...; `length` is the distance of the points at rest, that at the
    start of a run, where joints are closed, if it is not given; `table` is a list of pairs (x, F) instead of a
    stiffness.
    """

    stiffness: Level = 0.0
    damping: float = 0.0
    length: float | None = None
    force: float = 0.0
    table: Rows | None = None
    kind: ClassVar[str] = "spring"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.length is not None:
            object.__setattr__(self, "length", number(self.length, f"{self.where}: length", least=0.0))
        _read_force(self, "force")

    def settled(self, a: Pose, b: Pose) -> Spring:
        """With the length that its points have there, if none was given."""
        super().settled(a, b)
        return self if self.length is not None else replace(self, length=replace(self, **carried(self, a, b)).distance)

    def laws(self, joints: Joints) -> tuple[Law, ...]:
        """One law of the distance."""
        return (_law(self, "length", self._line, self.distance if self.length is None else self.length, self.force),)


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

    x = turn of the second body against the first since the placement - angle, counted over many turns in a run;
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
    """Springs and dampers along and about three axes that are fixed in the first body: world axes at the placement.

    `at` is the point of the second body that is held near that of the first. Forces are k x + c x' for each axis in
    N/m and N s/m; torques k sin x + ... for the turn x about each axis in N m/rad and N m s. With `frame` "body" the
    axes are those of the first body, `at` is its point, `at_b` that of the second, and `rotation_b` turns vectors of
    the first into the same ones of the second, as for fixed joints. `axes` is a rotation of the axes.
    """

    a: str
    b: str
    at: ArrayLike
    stiffness: ArrayLike = (0.0, 0.0, 0.0)
    damping: ArrayLike = (0.0, 0.0, 0.0)
    turning_stiffness: ArrayLike = (0.0, 0.0, 0.0)
    turning_damping: ArrayLike = (0.0, 0.0, 0.0)
    at_b: ArrayLike | None = None
    rotation_b: Rotation = None
    axes: Rotation = None
    frame: Frame = "world"
    kind: ClassVar[str] = "bushing"

    def __post_init__(self) -> None:
        check_frame(self.frame, self.where)
        if self.frame == "body" and self.at_b is None:
            raise ModelError(
                f"{self.where}: at_b: expected its point in the frame of '{self.b}', found none. With frame='body' "
                "`at` is a point of the first part only."
            )
        object.__setattr__(self, "at", vector(self.at, f"{self.where}: at"))
        object.__setattr__(self, "at_b", vector(self.at if self.at_b is None else self.at_b, f"{self.where}: at_b"))
        for key in ("rotation_b", "axes"):
            rotation_matrix(getattr(self, key), f"{self.where}: {key}")
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
        return np.asarray(self.at), np.asarray(self.at_b)

    def placed(self, a: Pose, b: Pose) -> Bushing:
        """In world coordinates."""
        if self.frame == "world":
            return self
        return replace(self, frame="world", axes=a.matrix @ rotation_matrix(self.axes), **carried(self, a, b))

    def laws(self, joints: Joints) -> tuple[Law, ...]:
        """A law for each axis along and about which there is something; e_i . e_j = -+ sin of the turn about e_k."""
        e, turn = rotation_matrix(self.axes).T, rotation_matrix(self.rotation_b)
        rows: list[Row] = [InPlane(e[k], *self.points(joints)) for k in range(3)]
        rows += [Angle(e[k - 1], turn @ e[k - 2]) for k in range(3)]
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


def _law(element: Any, measure: Measure, rows: tuple[Row, ...], rest: float, constant: float) -> Law:
    """The law of a spring: a polynomial, or a table to which the constant is added."""
    if element.table is not None:
        knots = np.asarray(element.table) + np.array([0.0, constant])
        return Law(measure, rows, rest=rest, damping=element.damping, table=knots)
    force = (constant, *np.atleast_1d(element.stiffness).tolist())
    force = force if any(force) else ()
    return Law(measure, rows, force, rest, element.damping)
