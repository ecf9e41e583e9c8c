"""The pH-DAE (24) of a model written out: E x' = (J - R) z + B u with all masses, rows, laws and inputs by name.

Rows are g = u . w - c, where u and w are combinations of the vectors phi, d_1, d_2, d_3 of bodies, and so are the
blocks of G = dg/dq. From the model alone: no tables, no compiled code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from porthos.model.bodies import RigidBody
from porthos.model.drives import Drive
from porthos.model.element_base import Law
from porthos.model.forces import Load
from porthos.model.model import Model
from porthos.model.ports import JointPort, Port
from porthos.notation import Array
from porthos.system.acting import acting, body_of, load_columns, terminals_of
from porthos.system.coefficients import Placement, Rows
from porthos.system.writing import LATEX, TEXT, Combination, Hand, Vector


@dataclass(frozen=True)
class Part:
    """A body: where its coordinates begin in x, and its diagonal of M, one number for each vector."""

    name: str
    first: int
    masses: tuple[float, ...]

    @property
    def rigid(self) -> bool:
        """Whether it has directors."""
        return len(self.masses) > 1

    @property
    def size(self) -> int:
        """Number of its coordinates."""
        return 3 * len(self.masses)


@dataclass(frozen=True)
class Turn:
    """r times the angle of y against a wheel: r atan2(across . y, ahead . y)."""

    radius: float
    ahead: Combination
    across: Combination
    y: Combination

    def written(self, hand: Hand, names: Sequence[str]) -> str:
        """The term of the row."""
        sine, cosine = (hand.product(vector, self.y, names) for vector in (self.across, self.ahead))
        return hand.scaled(self.radius, hand.angle % (sine, cosine))


@dataclass(frozen=True)
class RowEquation:
    """g = u . w - c, or three rows w = 0 at once if there is no u; of a gear the one with its slopes at t = 0."""

    u: Combination | None
    w: Combination
    c: float
    turns: tuple[Turn, ...] = ()  # of the wheels of a gear
    rest: Combination | None = None  # what u has as a factor beside them: a rack

    def written(self, hand: Hand, names: Sequence[str]) -> str:
        """The equation; u = w/2 is half of a square."""
        w = hand.sum(self.w, names)
        if self.u is None:
            return f"{w} = 0"
        if self.turns:
            parts = [turn.written(hand, names) for turn in self.turns]
            parts += [hand.product(self.u, self.rest, names)] if self.rest else []
            return f"{hand.added(parts)} = {hand.number(self.c)}"
        if self.c:  # of all rows only distances have one
            return f"{hand.half % (hand.norm % w)}^2 = {hand.number(self.c)}"
        return f"{hand.product(self.u, self.w, names)} = 0"

    def block(self, hand: Hand, vector: Vector, names: Sequence[str]) -> str:
        """dg/d(vector)."""
        if self.u is None:
            return hand.scaled(self.w.of(vector), hand.bold("I"))
        slope = hand.sum(self.u.of(vector) * self.w + self.w.of(vector) * self.u, names)
        return hand.transposed(slope)


@dataclass(frozen=True)
class Link:
    """A joint with its rows and the place of its multipliers in x, or a force element with its laws."""

    name: str
    kind: str
    sides: tuple[str, str]
    rows: tuple[RowEquation, ...]
    first: int = 0
    laws: tuple[Law, ...] = ()
    motion: str = ""  # of a drive

    @property
    def size(self) -> int:
        """Number of its rows."""
        return sum(1 if row.u is not None else 3 for row in self.rows)


@dataclass(frozen=True)
class Input:
    """A load or port: (F, tau) = basis u at the point X of a body, in world axes, its directors, or along an axis."""

    part: Load | Port | JointPort
    body: str
    rigid: bool
    point: Array
    axis: Array
    basis: Array  # (6, k)


@dataclass(frozen=True)
class Equations:
    """Print it, or take `latex` for a paper (it needs amsmath); a notebook shows its formulas."""

    name: str
    gravity: Array
    parts: tuple[Part, ...]
    joints: tuple[Link, ...]
    elements: tuple[Link, ...]
    inputs: tuple[Input, ...]

    def __str__(self) -> str:
        paragraphs = ("\n  ".join([sentence, *formulas]) for sentence, formulas in self._paragraphs(TEXT))
        return "\n\n".join(paragraphs)

    @property
    def latex(self) -> str:
        """Sentences, each with its formulas displayed below."""
        return self._displayed(r"\[", r"\]")

    def _repr_markdown_(self) -> str:
        return self._displayed("$$", "$$")

    def _displayed(self, left: str, right: str) -> str:
        lines = []
        for sentence, formulas in self._paragraphs(LATEX):
            lines += [sentence, *(f"{left} {formula} {right}" for formula in formulas), ""]
        return "\n".join(lines[:-1])

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return sum(part.size for part in self.parts)

    @property
    def m(self) -> int:
        """Number of constraints."""
        return 6 * sum(part.rigid for part in self.parts) + sum(joint.size for joint in self.joints)

    @property
    def p(self) -> int:
        """Number of inputs."""
        return sum(one.basis.shape[1] for one in self.inputs)

    @property
    def _names(self) -> list[str]:
        return [part.name for part in self.parts]

    def _paragraphs(self, hand: Hand) -> Iterator[tuple[str, list[str]]]:
        """Sentences with the formulas that belong to them."""
        n, m, p = self.n, self.m, self.p
        sizes = ", ".join(_counted(*size) for size in ((n, "coordinate"), (m, "multiplier"), (p, "input")))
        yield (
            f"{hand.name(self.name)}: eq. (24) with x = (q, v, lambda): {sizes}.",
            [self._whole(hand), self._energy(hand)],
        )
        for part in self.parts:
            q, v = part.first, n + part.first
            vectors = hand.apart.join(hand.vector((0, i), [part.name]) for i in range(len(part.masses)))
            masses = hand.apart.join(hand.scaled(mass, hand.bold("I")) for mass in part.masses)
            yield (
                f"{'Rigid body' if part.rigid else 'Point mass'} '{hand.name(part.name)}', q at x[{q}:{q + part.size}] "
                f"and v at x[{v}:{v + part.size}].",
                [
                    f"{hand.of % (hand.bold('q'), hand.name(part.name))} = {hand.listed % vectors}",
                    f"{hand.of % (hand.bold('M'), hand.name(part.name))} = {hand.diagonal % masses}",
                ],
            )
        rigid = [hand.name(part.name) for part in self.parts if part.rigid]
        if rigid:
            names = ", ".join(f"'{name}'" for name in rigid)
            yield (
                f"Rigidity, 6 rows for each of {names}, multipliers at x[{2 * n}:{2 * n + 6 * len(rigid)}].",
                [hand.rigidity],
            )
        yield from (self._joint(hand, joint) for joint in self.joints)
        yield from (self._element(hand, element) for element in self.elements)
        yield from (self._input(hand, one) for one in self.inputs)

    def _whole(self, hand: Hand) -> str:
        q, v, lam, B, u = map(hand.bold, ("q", "v", "lambda", "B", "u"))
        one, M, G = map(hand.bold, ("I", "M", "G"))
        damped = any(law.damping for element in self.elements for law in element.laws)
        C = f"-{hand.bold('C')}" if damped else "0"
        E = [[one, "0", "0"], ["0", M, "0"], ["0", "0", "0"]]
        J = [["0", one, "0"], [f"-{one}", C, f"-{hand.transpose % G}"], ["0", G, "0"]]
        size = 3 if self.m else 2
        E, J = ([row[:size] for row in matrix[:size]] for matrix in (E, J))
        rates = [[hand.rate % each] for each in (q, v, lam)[:size]]
        z = [[each] for each in (hand.gradient % "V", v, lam)[:size]]
        whole = f"{hand.blocks(E)} {hand.blocks(rates)} = {hand.blocks(J)} {hand.blocks(z)}"
        if self.p:
            whole += f" + {hand.blocks([['0'], [B], ['0']][:size])} {u}{hand.apart}{hand.bold('y')} = "
            whole += f"{hand.transpose % B} {v}"
        if damped:
            slope = hand.ratio % (hand.change % "s", hand.change % q)
            whole += f"{hand.apart}{hand.bold('C')} = {hand.damping % (hand.transpose % f'({slope})', slope)}"
        return whole

    def _energy(self, hand: Hand) -> str:
        v, M = hand.bold("v"), hand.bold("M")
        parts, where = [], []
        if self.gravity.any():
            parts.append(hand.weight)
            where.append(f"{hand.bold('g')} = {hand.triple(self.gravity)}")
        if self.elements:
            parts.append(hand.stored)
            where.append(hand.law)
        kinetic = hand.half % f"{hand.transpose % v} {M} {v}"
        return hand.apart.join([f"H = {kinetic} + V", f"V = {hand.added(parts)}", *where])

    def _joint(self, hand: Hand, joint: Link) -> tuple[str, list[str]]:
        sentence = f"{self._called(hand, joint)}, multipliers at x[{joint.first}:{joint.first + joint.size}]."
        if joint.motion:
            sentence += f" At t = 0; it follows {hand.name(joint.motion)}."
        if any(row.turns for row in joint.rows):
            sentence += " Slopes are those at t = 0."
        formulas = [row.written(hand, self._names) for row in joint.rows]
        for b, part in enumerate(self.parts):
            if part.name in joint.sides:
                vectors = [(b, i) for i in range(len(part.masses))]
                G = hand.blocks([[row.block(hand, vector, self._names) for vector in vectors] for row in joint.rows])
                q = hand.of % (hand.bold("q"), hand.name(part.name))
                formulas.append(f"{hand.ratio % (hand.change % hand.bold('g'), hand.change % q)} = {G}")
        return sentence, formulas

    def _element(self, hand: Hand, element: Link) -> tuple[str, list[str]]:
        rows, formulas = iter(element.rows), []
        for law in element.laws:
            row = next(rows)
            assert row.u is not None  # rows of elements are not joined into vectors
            measure = hand.norm % hand.sum(row.w, self._names)
            if law.measure != "length":
                measure = hand.product(row.u, row.w, self._names)
            if law.measure == "turn":
                other = next(rows)
                assert other.u is not None
                measure = hand.angle % (hand.product(other.u, other.w, self._names), measure)
            pressed = sum(joint.first for joint in self.joints if joint.name == law.pressed_by)
            formulas += [f"s = {measure}", _force(hand, law, pressed)]
        return f"{self._called(hand, element)}.", formulas

    def _called(self, hand: Hand, link: Link) -> str:
        kind, (a, b) = link.kind.replace("_", " ").capitalize(), map(hand.name, link.sides)
        return f"{kind} '{hand.name(link.name)}' between '{a}' and '{b}'"

    def _input(self, hand: Hand, one: Input) -> tuple[str, list[str]]:
        part, basis = one.part, one.basis
        kind = "Load" if isinstance(part, Load) else "Port"
        given = ", u(t) is given" if kind == "Load" else ""
        where = f"on '{hand.name(one.body)}'"
        if isinstance(part, JointPort):
            where = f"in the joint '{hand.name(part.joint)}', on '{hand.name(one.body)}' and back"
        sentence = f"{kind} '{hand.name(part.name)}' {where}, {_counted(basis.shape[1], 'input')}{given}."
        if isinstance(part, JointPort):
            pushed = hand.bold("F" if part.kind == "force" else "tau")
            return sentence, [f"{pushed} = {hand.along % hand.triple(one.axis)}", hand.exact % hand.triple(one.point)]
        formulas = []
        for letter, rows in (("F", basis[:3]), ("tau", basis[3:])):
            used = rows.any(axis=0)
            value = "0"
            if used.any():
                value = hand.bold("u") if used.all() else hand.part % (used.argmax(), used.argmax() + 3)
                value = f"{hand.triple(rows[:, 0])} u" if used.size == 1 else value
            value = hand.turned % value if part.frame == "body" and used.any() else value
            formulas.append(f"{hand.bold(letter)} = {value}")
        acts = hand.acting
        if one.rigid:
            acts = (hand.printed if part.torque_map == "printed" else hand.exact) % hand.triple(one.point)
        return sentence, [hand.apart.join(formulas), acts]


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _force(hand: Hand, law: Law, pressed: int) -> str:
    """F of a law as a function of its measure s and x = s - rest; friction by the multipliers from `pressed` on."""
    parts = [hand.polynomial(law.force, "x")] if any(law.force) else []
    if law.inverse:
        parts.append(hand.ratio % (hand.number(law.inverse), "s^2"))
    if law.energy:
        parts.append(hand.slope % law.energy)
    elif law.table is not None:
        pairs = ", ".join(f"({hand.number(x)}, {hand.number(F)})" for x, F in law.table.tolist())
        parts.append(hand.table % pairs)
    if law.damping:
        parts.append(hand.scaled(law.damping, hand.rate % "s"))
    if law.friction:
        rubbing = hand.friction % (pressed, pressed + law.pressing_rows, hand.number(law.speed))
        parts.append(hand.scaled(law.friction, rubbing))
    force = f"F = {hand.added(parts)}"
    if law.energy or (not any(law.force) and law.table is None):
        return force
    return f"{force}{hand.apart}x = {hand.added(['s', hand.number(-law.rest)] if law.rest else ['s'])}"


def equations(model: Model) -> Equations:
    """The equations of a model."""
    placement, joints = Placement(model), model.joints_by_name
    parts: list[Part] = []
    for body, J in zip(model.bodies, placement.moments, strict=True):
        euler = ((J.sum() - 2 * J) / 2).tolist() if isinstance(body, RigidBody) else []
        parts.append(Part(body.name, sum(part.size for part in parts), (body.mass, *euler)))
    rigid = [part.rigid for part in parts]
    first, held = 2 * sum(part.size for part in parts) + 6 * sum(rigid), []
    for joint in model.joints:
        rows = Rows(placement)
        rows.add_joint(joint)
        motion = joint.motion.text if isinstance(joint, Drive) else ""
        sides = joint.a, joint.b
        held.append(Link(joint.name, joint.kind, sides, _rows(rows, rigid, True), first, motion=motion))
        first += held[-1].size
    giving = []
    for element in model.elements:
        rows = Rows(placement)
        rows.add_element(element, joints)
        laws, ends = tuple(rows.laws), element.sides(joints)
        giving.append(Link(element.name, element.kind, ends, _rows(rows, rigid, False), laws=laws))
    inputs, table = [], load_columns(model, placement)
    for one, body, point, axis, terminal in zip(
        acting(model), table["load_body"], table["load_point"], table["load_axis"], terminals_of(model, placement),
        strict=True,
    ):  # fmt: skip
        inputs.append(Input(one, body_of(one, model), [*rigid, True][body], point, axis, terminal.basis))
    return Equations(model.name, model.gravity, tuple(parts), tuple(held), tuple(giving), tuple(inputs))


def _rows(rows: Rows, rigid: list[bool], joined: bool) -> tuple[RowEquation, ...]:
    """Rows as combinations; three that let points coincide are one equation if they are to be joined."""
    sides, result, r = [rows.place.index[name] for name in rows.sides[0]], [], 0
    while r < len(rows.c):
        u, w = (_combination(c[r], sides, rigid) for c in (rows.cu, rows.cw))
        u = u + Combination(constant=rows.u0[r])
        vector = joined and np.array_equal(rows.u0[r], (1.0, 0.0, 0.0))
        turns, rest = _turns(rows, r, sides, rigid, (u.tidy(), w.tidy()))
        result.append(RowEquation(None if vector else u.tidy(), w.tidy(), rows.c[r], turns, rest))
        r += 3 if vector else 1
    return tuple(result)


def _turns(
    rows: Rows, r: int, sides: list[int], rigid: list[bool], vectors: tuple[Combination, Combination]
) -> tuple[tuple[Turn, ...], Combination | None]:
    """The wheels of row r, and what a rack has as a factor beside them."""
    turns, rest = [], None
    for wheel in (one for one in rows.wheels if one.row == r):
        ahead, across = np.zeros((2, 4)), np.zeros((2, 4))
        ahead[wheel.side, 1:], across[wheel.side, 1:] = wheel.ahead, wheel.across
        parts = [_combination(c, sides, rigid).tidy() for c in (ahead, across)]
        turns.append(Turn(wheel.radius, parts[0], parts[1], vectors[1 - wheel.part]))
        if wheel.part == 1:
            held = rows.cw[r].copy()
            held[wheel.side, 1:] = wheel.held
            rest = _combination(held, sides, rigid).tidy()
    return tuple(turns), rest


def _combination(coefficients: Array, sides: list[int], rigid: list[bool]) -> Combination:
    """A combination of the vectors of two sides; those of the ground, the last one, are constant."""
    total = Combination()
    for side, c in zip(sides, coefficients, strict=True):
        if side == len(rigid):
            total = total + Combination(constant=c[1:])
        else:
            total = total + Combination({(side, i): float(c[i]) for i in range(4 if rigid[side] else 1)})
    return total
