"""The equations of a model with its numbers, to read or for LaTeX: the pH-DAE (24) of 001, masses, joints, forces.

A rigid body k has the centre of mass phi(k) and principal axes d1(k), d2(k), d3(k); a point of it is phi + sum X_i d_i.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from porthos.model.bodies import RigidBody
from porthos.model.elements import Law
from porthos.model.model import Model
from porthos.model.rows import Angle, Coincide, Distance, InPlane, Row
from porthos.notation import Array
from porthos.system.rows import Placement

TINY = 1e-12  # coefficients below this, relative to the largest of their vector, are round-off
ZERO = "0"


@dataclass(frozen=True)
class Equations:
    """Print them, or take their `latex`; a notebook shows them."""

    text: str
    latex: str

    def __str__(self) -> str:
        return self.text

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex}$"


class Pen:
    """How formulas are written as plain text."""

    dot, times, rate, stored = " . ", " ", "s'", "sum of F ds"

    def phi(self, k: int) -> str:
        """The centre of mass of body k."""
        return f"phi({k})"

    def director(self, i: int, k: int) -> str:
        """The axis i of body k."""
        return f"d{i}({k})"

    def vector(self, values: Array) -> str:
        """A constant vector."""
        return f"[{', '.join(number(x) for x in values)}]"

    def length(self, inner: str) -> str:
        """The length of a vector."""
        return f"|{inner}|"

    def squared(self, inner: str) -> str:
        """Half the square of its length."""
        return f"|{inner}|^2 / 2"


class TexPen(Pen):
    """The same in LaTeX."""

    dot, times, rate, stored = r" \cdot ", r"\,", r"\dot s", r"\textstyle\sum \int F\, ds"

    def phi(self, k: int) -> str:
        """The centre of mass of body k."""
        return rf"\varphi^{{{k}}}"

    def director(self, i: int, k: int) -> str:
        """The axis i of body k."""
        return f"d_{{{i}}}^{{{k}}}"

    def vector(self, values: Array) -> str:
        """A constant vector."""
        entries = r" \\ ".join(number(x) for x in values)
        return rf"\begin{{bmatrix}} {entries} \end{{bmatrix}}"

    def squared(self, inner: str) -> str:
        """Half the square of its length."""
        return rf"\tfrac12 |{inner}|^2"


def number(value: float) -> str:
    """A number with six digits."""
    return f"{value + 0.0:.6g}"


class Writer:
    """Formulas of one model."""

    def __init__(self, model: Model, pen: Pen) -> None:
        self.model, self.pen, self.place = model, pen, Placement(model)
        self.numbers = {body.name: k for k, body in enumerate(model.bodies, start=1)}

    def point(self, body: str, world: Array) -> list[tuple[float, str]]:
        """A point fixed in a body, as terms; of the ground, where it is."""
        if body not in self.numbers:
            return [(1.0, self.pen.vector(world))] if np.any(world) else []
        k = self.numbers[body]
        return [(1.0, self.pen.phi(k)), *self._axes(k, self.place.point(body, world))]

    def vector(self, body: str, world: Array) -> str:
        """A vector fixed in a body."""
        if body not in self.numbers:
            return self.pen.vector(world)
        terms = self._axes(self.numbers[body], self.place.vector(body, world))
        text = self.sum(terms)
        return text if text in [symbol for _, symbol in terms] else f"({text})"

    def _axes(self, k: int, X: Array) -> list[tuple[float, str]]:
        least = TINY * float(np.abs(X).max(initial=0.0))
        return [(float(x), self.pen.director(i, k)) for i, x in enumerate(X, start=1) if abs(x) > least]

    def sum(self, terms: list[tuple[float, str]]) -> str:
        """Terms with their signs."""
        text = ""
        for factor, symbol in terms:
            size = "" if number(abs(factor)) == "1" else number(abs(factor)) + self.pen.times
            sign = "-" if factor < 0 else "+"
            text += f" {sign} {size}{symbol}" if text else f"{'-' if factor < 0 else ''}{size}{symbol}"
        return text or ZERO

    def gap(self, sides: tuple[str, str], point_a: Array, point_b: Array) -> str:
        """x_B - x_A."""
        a, b = self.point(sides[0], point_a), self.point(sides[1], point_b)
        return self.sum([*b, *((-factor, symbol) for factor, symbol in a)])

    def row(self, sides: tuple[str, str], row: Row) -> str:
        """What vanishes where a row holds."""
        match row:
            case Coincide(point_a, point_b):
                return self.gap(sides, point_a, point_b)
            case InPlane(normal, point_a, point_b):
                return f"{self.vector(sides[0], normal)}{self.pen.dot}({self.gap(sides, point_a, point_b)})"
            case Angle(a, b):
                return f"{self.vector(sides[0], a)}{self.pen.dot}{self.vector(sides[1], b)}"
            case Distance(point_a, point_b, length):
                return f"{self.pen.squared(self.gap(sides, point_a, point_b))} - {number(length**2 / 2)}"

    def law(self, sides: tuple[str, str], law: Law) -> str:
        """What a force element measures, and its force."""
        first = law.rows[0]
        if law.measure == "length" and isinstance(first, Distance):
            measured = self.pen.length(self.gap(sides, first.point_a, first.point_b))
        else:
            measured = ", ".join(self.row(sides, row) for row in law.rows)
            measured = f"angle({measured})" if law.measure == "turn" else measured
        return f"s = {measured},  F = {self._force(law)}"

    def _force(self, law: Law) -> str:
        x = f"(s - {number(law.rest)})" if law.rest else "s"
        powers = [(c, {0: "1", 1: x}.get(k, f"{x}^{k}")) for k, c in enumerate(law.force) if c]
        parts = [self.sum(powers).replace(f"{self.pen.times}1", "")] if powers else []
        parts += [f"table({x})"] if law.table is not None else []
        parts += [f"{number(law.inverse)} / s^2"] if law.inverse else []
        parts += [f"{number(law.damping)}{self.pen.times}{self.pen.rate}"] if law.damping else []
        return " + ".join(parts) or ZERO

    def potential(self) -> str:
        """The energy of gravity, and what force elements store."""
        g = -np.asarray(self.model.gravity)
        masses = [(body.mass, self.pen.phi(k)) for k, body in enumerate(self.model.bodies, start=1)]
        weight = f"{self.pen.vector(g)}{self.pen.dot}({self.sum(masses)})" if g.any() else ""
        springs = self.pen.stored if self.model.elements else ""
        return " + ".join(part for part in (weight, springs) if part) or ZERO

    def joints(self) -> Iterator[tuple[str, list[str]]]:
        """Each joint with what vanishes there."""
        for joint in self.model.joints:
            title = f"{joint.name} ({joint.kind.replace('_', ' ')}, {joint.a} - {joint.b})"
            yield title, [self.row((joint.a, joint.b), row) for row in joint.rows]

    def elements(self) -> Iterator[tuple[str, list[str]]]:
        """Each force element with its laws."""
        known = {joint.name: joint for joint in self.model.joints}
        for one in self.model.elements:
            sides = one.sides(known)
            title = f"{one.name} ({one.kind.replace('_', ' ')}, {sides[0]} - {sides[1]})"
            yield title, [self.law(sides, law) for law in one.laws(known)]

    def masses(self) -> Iterator[tuple[int, str, str]]:
        """Number and name of each body, and the diagonal of its mass matrix: m and the Euler values E_i, or m alone."""
        for k, body in enumerate(self.model.bodies, start=1):
            moments = self.place.moments[k - 1]
            euler = moments.sum() / 2 - moments if isinstance(body, RigidBody) else np.zeros(0)
            yield k, body.name, ", ".join(number(x) for x in (body.mass, *euler))


def equations(model: Model) -> Equations:
    """The equations of a model, as text and for LaTeX."""
    return Equations(_plain(Writer(model, Pen())), _tex(Writer(model, TexPen())))


def _plain(writer: Writer) -> str:
    lines = [
        f"{writer.model.name}: E x' = (J - R) z + B u with x = (q, v, lambda), which is",
        "  q' = v,   M v' = -grad V(q) - R(q) v - G(q)^T lambda + B(q) u,   0 = G(q) v",
        "  H = v^T M v / 2 + V(q),   G = dg/dq",
        "",
        "bodies: q = (phi, d1, d2, d3), the axes of length 1 and perpendicular; M has each number three times",
        *(f"  {k}  {name}: M = diag({values})" for k, name, values in writer.masses()),
        f"  V = {writer.potential()}",
    ]
    for title, found, end in (("joints: g = 0", writer.joints(), " = 0"), ("force elements", writer.elements(), "")):
        parts = [line for name, rows in found for line in (f"  {name}", *(f"    {row}{end}" for row in rows))]
        lines += ["", title, *parts] if parts else []
    return "\n".join(lines)


def _tex(writer: Writer) -> str:
    lines = [
        r"\dot q &= v, \qquad M \dot v = -\nabla V(q) - R(q)\, v - G(q)^\top \lambda + B(q)\, u, \qquad 0 = G(q)\, v",
        r"H &= \tfrac12 v^\top M v + V(q), \qquad G = \partial g / \partial q",
        f"V &= {writer.potential()}",
    ]
    lines += [
        rf"M^{{{k}}} &= \mathrm{{diag}}({values}) \otimes I_3 \qquad \text{{{_escaped(name)}}}"
        for k, name, values in writer.masses()
    ]
    for name, rows in writer.joints():
        lines += [rf"0 &= {row} \qquad \text{{{_escaped(name)}}}" for row in rows]
    for name, laws in writer.elements():
        lines += [rf"{law.replace('s =', 's &=', 1)} \qquad \text{{{_escaped(name)}}}" for law in laws]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def _escaped(name: str) -> str:
    """A name as text of LaTeX."""
    special = {"\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\~{}", **{c: f"\\{c}" for c in "&%$#_{}"}}
    return "".join(special.get(c, c) for c in name)
