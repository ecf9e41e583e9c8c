"""Potentials of the user's: V(s) of a distance, an angle or a displacement, and V(x, y, z) of a point, by expressions.

The force dV/ds becomes polynomials in pieces (`fitting.py`) that differ from it by round-off, as their integral, which
the scheme keeps, does from V.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import ModelError
from porthos.model.bodies import Ground
from porthos.model.element_base import Element, Joints, Law, Measure, Pull, known_joint, turning_rows
from porthos.model.expressions import Formula, formula, parts, rates
from porthos.model.fitting import fitted
from porthos.model.joints import Cylindrical, Prismatic, Revolute
from porthos.model.ridges import AXES, ridges
from porthos.model.rows import InPlane, Row
from porthos.model.signals import Numbers
from porthos.notation import Array, positive, vector


def fit(where: str, text: str, variable: str, least: float, most: float) -> Array:
    """The pieces of an expression in one variable between two places, x = s - least."""
    try:
        energy, slope = formula(text, variable), rates(text, variable)[0]
    except ModelError as error:
        raise ModelError(f"{where}: energy: {error}") from error
    V, force = (_checked(where, text, variable, function) for function in (energy, slope))
    return fitted(where, V, force, least, most)


def _checked(where: str, text: str, variable: str, function: Formula) -> Formula:
    """A function that complains where it has no value."""

    def value(s: float) -> float:
        try:
            result = float(function(s))
        except (ArithmeticError, ValueError):
            result = math.nan
        if not math.isfinite(result):
            raise ModelError(
                f"{where}: energy: expected a finite value and slope in the whole range, found none of {text!r} "
                f"at {variable} = {s:.6g}. Choose a smaller range."
            )
        return result

    return value


def _range(where: str, between: ArrayLike) -> tuple[float, float]:
    """The two ends of a range, in order."""
    least, most = vector(between, f"{where}: between", length=2, example=(0.5, 3.0)).tolist()
    if not least < most:
        raise ModelError(f"{where}: between: expected two numbers, the smaller one first, found {between!r}.")
    return least, most


@dataclass(frozen=True, kw_only=True)
class Potential(Pull):
    """A potential V(s) of the distance s of two points, in joules: an expression such as "4*(1/s**12 - 1/s**6)".

    `between` is the range of s for which it is made; a run that leaves it stops.
    """

    energy: str
    between: Numbers
    kind: ClassVar[str] = "potential"
    _pieces: Array = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        least, most = _range(self.where, self.between)
        if least <= 0.0:
            raise ModelError(f"{self.where}: between: expected distances > 0, found {self.between!r}.")
        object.__setattr__(self, "between", (least, most))
        object.__setattr__(self, "_pieces", fit(self.where, self.energy, "s", least, most))

    def laws(self, joints: Joints) -> tuple[Law, ...]:
        """One law of the distance."""
        return (_law("length", self._line, self.between[0], self._pieces, self.energy),)


@dataclass(frozen=True, kw_only=True)
class JointPotential(Element):
    """A potential V(s) of the angle of a revolute or cylindrical joint, or of the displacement of a prismatic one.

    s counts from the placement, angles over many turns in a run; `between` is as for potentials of a distance.
    """

    joint: str
    energy: str
    between: Numbers = (-math.pi, math.pi)
    kind: ClassVar[str] = "joint_potential"
    _pieces: Array = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        least, most = _range(self.where, self.between)
        object.__setattr__(self, "between", (least, most))
        object.__setattr__(self, "_pieces", fit(self.where, self.energy, "s", least, most))

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
            return (_law("value", (row,), least, self._pieces, self.energy),)
        return (_law("turn", turning_rows(joint), least, self._pieces, self.energy),)

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
    """A potential V(x, y, z) of the world coordinates of a point of a body.

    It is a sum of terms in one coordinate each, of polynomials in several, and of functions of a linear combination.
    `at` is the point at the placement; `within` is how far it may go along each axis: a run stops where a coordinate,
    or a linear combination, leaves the values that it has in this box.
    """

    body: str
    at: ArrayLike
    energy: str
    within: float
    kind: ClassVar[str] = "field"
    _fits: tuple[tuple[Row, float, str, Array], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        at = vector(self.at, f"{self.where}: at")
        object.__setattr__(self, "at", at)
        object.__setattr__(self, "within", positive(self.within, f"{self.where}: within"))
        try:
            terms, coupled = parts(self.energy, AXES)
            several = [ridge for term in coupled for ridge in ridges(term, at)]
        except ModelError as error:
            raise ModelError(f"{self.where}: energy: {error}") from error
        except RecursionError as error:
            raise ModelError(f"{self.where}: energy: expected an expression that is nested less deeply.") from error
        if not terms and not several:
            raise ModelError(f"{self.where}: energy: expected an expression in x, y and z, found {self.energy!r}.")
        fits = [
            self._fit(InPlane(np.eye(3)[k], np.zeros(3), at), text, name, float(at[k]), self.within)
            for name, text in terms.items()
            for k in [AXES.index(name)]
        ]
        for ridge in several:
            far = self.within * float(np.abs(ridge.direction).sum())
            fits.append(self._fit(InPlane(ridge.direction, at, at), ridge.text, "s", 0.0, far))
        object.__setattr__(self, "_fits", tuple(fits))

    def _fit(self, row: Row, text: str, variable: str, middle: float, far: float) -> tuple[Row, float, str, Array]:
        return row, middle - far, text, fit(self.where, text, variable, middle - far, middle + far)

    def sides(self, joints: Joints) -> tuple[str, str]:
        """The ground, in which the field is, and the body."""
        return Ground().name, self.body

    def points(self, joints: Joints) -> tuple[Array, Array]:
        """The point, in both."""
        return np.asarray(self.at), np.asarray(self.at)

    def laws(self, joints: Joints) -> tuple[Law, ...]:
        """One law for each coordinate, and for each direction of terms in several."""
        return tuple(_law("value", (row,), least, pieces, text) for row, least, text, pieces in self._fits)


POTENTIALS: tuple[type[Element], ...] = (Potential, JointPotential, Field)


def _law(measure: Measure, rows: tuple[Row, ...], least: float, pieces: Array, text: str) -> Law:
    return Law(measure, rows, rest=least, pieces=pieces, energy=text)
