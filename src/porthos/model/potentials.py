"""Potentials of the user's: V(s) of a distance, an angle or a displacement, and V(x, y, z) of a point, by expressions.

The force dV/ds becomes a table, straight lines between knots, fine enough that it differs by FINE of its largest value
at most. The scheme keeps the integral of that table to round-off, and so V itself as well as the table follows it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import ModelError
from porthos.model.bodies import Ground
from porthos.model.element_base import Element, Joints, Law, Pull, known_joint, turning_rows
from porthos.model.expressions import formula, parts, rates
from porthos.model.joints import Cylindrical, Prismatic, Revolute
from porthos.model.rows import InPlane
from porthos.model.signals import Numbers
from porthos.notation import Array, positive, vector

FINE = 1e-7  # of the largest force in the range: how far straight lines may be off
COARSE = 61  # pieces to begin with; a prime, so that what repeats itself is not met at equal phases
HALVINGS = 12  # of each of them at most
PLACES = (0.5, 0.19, 0.83)  # of a piece, where lines are compared with the force
MOST_KNOTS = 200_000
AXES = ("x", "y", "z")


def force_table(where: str, text: str, variable: str, least: float, most: float) -> Array:
    """Knots (x, F), x = s - least, of the derivative of an expression in s."""
    force = _checked(where, text, variable)
    s = np.linspace(least, most, COARSE + 1)
    F = [force(float(at)) for at in s]
    between = [force(float(a + share * (b - a))) for a, b in pairwise(s) for share in PLACES]
    limit = FINE * max(1e-300, float(np.abs([*F, *between]).max()))
    knots = [(float(s[0]), F[0])]
    for k in range(COARSE):
        knots += _halved(force, (float(s[k]), F[k]), (float(s[k + 1]), F[k + 1]), limit, HALVINGS)
        if len(knots) > MOST_KNOTS:
            raise ModelError(
                f"{where}: energy: expected a smooth expression, found that {text!r} needs more than {MOST_KNOTS} "
                f"straight lines for its derivative between {least:g} and {most:g}. Give a shorter range, or a "
                "smoother expression."
            )
    return np.array(knots) - [least, 0.0]


def _halved(
    force: Callable[[float], float], a: tuple[float, float], b: tuple[float, float], limit: float, halvings: int
) -> list[tuple[float, float]]:
    """The knots behind a up to b between which straight lines are near enough to the force."""
    s = 0.5 * (a[0] + b[0])
    middle = (s, force(s))
    places = ((share, a[0] + share * (b[0] - a[0])) for share in PLACES)
    if halvings == 0 or all(abs(force(x) - a[1] - share * (b[1] - a[1])) <= limit for share, x in places):
        return [b]
    return _halved(force, a, middle, limit, halvings - 1) + _halved(force, middle, b, limit, halvings - 1)


def _checked(where: str, text: str, variable: str) -> Callable[[float], float]:
    """The derivative of an expression, which complains where it has no value."""
    try:
        V, slope = formula(text, variable), rates(text, variable)[0]
    except ModelError as error:
        raise ModelError(f"{where}: energy: {error}") from error

    def force(s: float) -> float:
        try:
            energy, value = float(V(s)), float(slope(s))
        except (ArithmeticError, ValueError):
            energy = value = math.nan
        if not math.isfinite(energy + value):
            raise ModelError(
                f"{where}: energy: expected a finite value and slope in the whole range, found none of {text!r} "
                f"at {variable} = {s:.6g}. Choose a smaller range."
            )
        return value

    return force


def _range(where: str, between: ArrayLike) -> tuple[float, float]:
    """The two ends of a range, in order."""
    least, most = vector(between, f"{where}: between", length=2, example=(0.5, 3.0)).tolist()
    if not least < most:
        raise ModelError(f"{where}: between: expected two numbers, the smaller one first, found {between!r}.")
    return least, most


@dataclass(frozen=True, kw_only=True)
class Potential(Pull):
    """A potential V(s) of the distance s of two points, in joules: an expression such as "4*(1/s**12 - 1/s**6)".

    `between` is the range of s for which it is made; beyond its ends the force goes on along straight lines. The energy
    counts from the lower end.
    """

    energy: str
    between: Numbers
    kind: ClassVar[str] = "potential"
    _table: Array = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        least, most = _range(self.where, self.between)
        if least <= 0.0:
            raise ModelError(f"{self.where}: between: expected distances > 0, found {self.between!r}.")
        object.__setattr__(self, "between", (least, most))
        object.__setattr__(self, "_table", force_table(self.where, self.energy, "s", least, most))

    def laws(self, joints: Joints) -> tuple[Law, ...]:
        """One law of the distance."""
        return (Law("length", self._line, rest=self.between[0], table=self._table, energy=self.energy),)


@dataclass(frozen=True, kw_only=True)
class JointPotential(Element):
    """A potential V(s) of the angle of a revolute or cylindrical joint, or of the displacement of a prismatic one.

    s counts from the placement, angles within half a turn to either side; `between` is as for potentials of a distance.
    """

    joint: str
    energy: str
    between: Numbers = (-math.pi, math.pi)
    kind: ClassVar[str] = "joint_potential"
    _table: Array = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        least, most = _range(self.where, self.between)
        object.__setattr__(self, "between", (least, most))
        object.__setattr__(self, "_table", force_table(self.where, self.energy, "s", least, most))

    def sides(self, joints: Joints) -> tuple[str, str]:
        """The parts of the joint."""
        joint = self._moving(joints)
        return joint.a, joint.b

    def points(self, joints: Joints) -> tuple[Array, Array]:
        """The points of the joint."""
        return self._moving(joints).points

    def laws(self, joints: Joints) -> tuple[Law, ...]:
        """One law of the angle or of the displacement."""
        joint, least = self._moving(joints), float(self.between[0])
        if isinstance(joint, Prismatic):
            row = InPlane(np.asarray(joint.axis), *joint.points)
            return (Law("value", (row,), rest=least, table=self._table, energy=self.energy),)
        return (Law("turn", turning_rows(joint), rest=least, table=self._table, energy=self.energy),)

    def _moving(self, joints: Joints) -> Revolute | Cylindrical | Prismatic:
        joint = known_joint(self, joints)
        if not isinstance(joint, Revolute | Cylindrical | Prismatic):
            raise ModelError(
                f"{self.where}: joint: expected a revolute, cylindrical or prismatic joint, found the {joint.where}. "
                "Use a potential of the distance of two points, or a field."
            )
        return joint


@dataclass(frozen=True, kw_only=True)
class Field(Element):
    """A potential V(x, y, z) of the world coordinates of a point of a body: a sum of terms in one coordinate each.

    `at` is the point at the placement; `within` is how far it may go along each axis before the force goes on along
    straight lines. The energy counts from the lower ends.
    """

    body: str
    at: ArrayLike
    energy: str
    within: float
    kind: ClassVar[str] = "field"
    _tables: tuple[tuple[int, str, Array], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        at = vector(self.at, f"{self.where}: at")
        object.__setattr__(self, "at", at)
        object.__setattr__(self, "within", positive(self.within, f"{self.where}: within"))
        try:
            terms = parts(self.energy, AXES)
        except ModelError as error:
            raise ModelError(f"{self.where}: energy: {error}") from error
        if not terms:
            raise ModelError(f"{self.where}: energy: expected an expression in x, y and z, found {self.energy!r}.")
        tables = tuple(
            (AXES.index(name), text, force_table(self.where, text, name, at[k] - self.within, at[k] + self.within))
            for name, text in terms.items()
            for k in [AXES.index(name)]
        )
        object.__setattr__(self, "_tables", tables)

    def sides(self, joints: Joints) -> tuple[str, str]:
        """The ground, in which the field is, and the body."""
        return Ground().name, self.body

    def points(self, joints: Joints) -> tuple[Array, Array]:
        """The point, in both."""
        return np.asarray(self.at), np.asarray(self.at)

    def laws(self, joints: Joints) -> tuple[Law, ...]:
        """One law for each coordinate."""
        at = np.asarray(self.at)
        return tuple(
            Law("value", (InPlane(np.eye(3)[k], np.zeros(3), at),), rest=float(at[k]) - self.within, table=table,
                energy=text)
            for k, text, table in self._tables
        )  # fmt: skip


POTENTIALS: tuple[type[Element], ...] = (Potential, JointPotential, Field)
