"""Rows of joints and force elements as coefficients in the directors of their bodies: each is u . w - c.

u = u0 + sum cu_i q_i and w = sum cw_i q_i over phi, d_1, d_2, d_3 of both sides; configurations are arrays (N+1, 4, 3)
whose last slot is the ground. No tables, no compiled code.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import NamedTuple

import numpy as np

from porthos.model.bodies import RigidBody
from porthos.model.drives import Drive
from porthos.model.element_base import Element, Law
from porthos.model.joint_base import Joint
from porthos.model.model import Model
from porthos.model.rows import (
    Angle,
    Bend,
    Coincide,
    Distance,
    InPlane,
    Mesh,
    Roll,
    Row,
    Strain,
    Stretch,
)
from porthos.notation import Array, IntArray

LEAST = 1e-3  # of the largest moment of a body, or of the mean mass: what stands for none


class Placement:
    """Where bodies are at t = 0, and world points and vectors in their directors."""

    def __init__(self, model: Model) -> None:
        self.index = {body.name: k for k, body in enumerate(model.bodies)}
        self.index[model.ground.name] = len(model.bodies)
        count = len(model.bodies)
        self.principal = np.tile(np.eye(3), (count, 1, 1))
        self.moments = np.zeros((count, 3))
        self.position, self.directors = np.zeros((count + 1, 3)), np.tile(np.eye(3), (count + 1, 1, 1))
        for k, body in enumerate(model.bodies):
            self.position[k] = np.asarray(body.position)
            if isinstance(body, RigidBody):
                self.moments[k], self.principal[k] = body.inertia.principal()
                self.directors[k] = (body.matrix @ self.principal[k]).T  # row i is d_i

    def at(self, q: Array) -> Placement:
        """The same bodies where the configuration is q."""
        result = copy(self)
        result.position, result.directors = q[:, 0], q[:, 1:]
        return result

    @property
    def q(self) -> Array:
        """The configuration (N+1, 4, 3)."""
        return np.concatenate([self.position[:, None], self.directors], axis=1)

    def point(self, body: str, world: Array) -> Array:
        """X with world = phi + sum X_i d_i."""
        k = self.index[body]
        return self.directors[k] @ (world - self.position[k])

    def vector(self, body: str, world: Array) -> Array:
        """n with world = sum n_i d_i."""
        return self.directors[self.index[body]] @ world


class Turning(NamedTuple):
    """A wheel of a gear, see `kernels/gears.py`: vectors are in the directors of its body."""

    row: int
    side: int
    part: int
    radius: float
    ahead: Array
    across: Array
    held: Array


class Rows:
    """Collects the coefficients of the rows of all joints and force elements, and the laws of the latter."""

    def __init__(self, placement: Placement) -> None:
        self.place = placement
        self.sides: list[tuple[str, str]] = []
        self.counts: list[int] = []
        self.points: list[tuple[Array, Array]] = []
        self.row_law: list[int] = []
        self.laws: list[Law] = []
        self.pressing: list[tuple[int, int]] = []  # of each law, the rows whose force makes its friction
        self.first: dict[str, int] = {}  # the first row of each joint
        self.drives: list[tuple[int, Drive]] = []  # with the number of its row
        self.gears: list[tuple[int, float]] = []  # row and pitch
        self.wheels: list[Turning] = []
        self.cu: list[Array] = []
        self.cw: list[Array] = []
        self.u0: list[Array] = []
        self.c: list[float] = []

    def add(self, cu: Array, cw: Array, u0: Array | None = None, c: float = 0.0) -> None:
        """Add one row u . w - c."""
        self.cu.append(cu)
        self.cw.append(cw)
        self.u0.append(np.zeros(3) if u0 is None else u0)
        self.c.append(c)

    def gap(self, sides: tuple[str, str], point_a: Array, point_b: Array) -> Array:
        """Coefficients (2, 4) of x_B - x_A."""
        a, b = self.place.point(sides[0], point_a), self.place.point(sides[1], point_b)
        return np.array([[-1.0, *-a], [1.0, *b]])

    def on(self, sides: tuple[str, str], side: int, world: Array) -> Array:
        """Coefficients (2, 4) of a vector fixed in one side."""
        result = np.zeros((2, 4))
        result[side, 1:] = self.place.vector(sides[side], world)
        return result

    def add_row(self, sides: tuple[str, str], row: Row | Strain, law: int = -1) -> None:
        """Add one row, which may have three coefficients."""
        match row:
            case Coincide(point_a, point_b):
                for e in np.eye(3):
                    self.add(np.zeros((2, 4)), self.gap(sides, point_a, point_b), u0=e)
            case InPlane(normal, point_a, point_b):
                self.add(self.on(sides, 0, normal), self.gap(sides, point_a, point_b))
            case Angle(vector_a, vector_b):
                self.add(self.on(sides, 0, vector_a), self.on(sides, 1, vector_b))
            case Distance(point_a, point_b, length):
                gap = self.gap(sides, point_a, point_b)
                self.add(gap / 2, gap, c=length**2 / 2)
            case Stretch(normal_a, normal_b, point_a, point_b, length):
                mean = (self.on(sides, 0, normal_a) + self.on(sides, 1, normal_b)) / 2
                self.add(mean, self.gap(sides, point_a, point_b) - length * mean)
            case Bend(first_a, first_b, second_a, second_b):
                mean = (self.on(sides, 0, first_a) + self.on(sides, 1, first_b)) / 2
                self.add(mean, self.on(sides, 1, second_b) - self.on(sides, 0, second_a))
            case Mesh(point_a, point_b):
                w = self.gap(sides, point_a, point_b)
                if row.bevel:
                    a, b = row.wheels
                    w = self.on(sides, 0, a.axis) + self.on(sides, 1, b.axis)
                self._add_wheels(sides, row, np.zeros((2, 4)), w, 0)
            case Roll(point_a, point_b, _, along):
                w, c = self.gap(sides, point_a, point_b), float(along @ (point_b - point_a))
                self._add_wheels(sides, row, self.on(sides, 1, along), w, 1, c)
        self.row_law += [law] * (len(self.c) - len(self.row_law))

    def _add_wheels(
        self, sides: tuple[str, str], row: Mesh | Roll, u: Array, w: Array, part: int, c: float = 0.0
    ) -> None:
        """Add a row u . w - c with r psi of its wheels beside it, which are in u (part 0) or in w (1)."""
        self.gears.append((len(self.c), row.pitch))
        for wheel in row.wheels:
            held = (u, w)[part][wheel.side, 1:].copy()
            (u, w)[part][:] += self.on(sides, wheel.side, wheel.radius * wheel.across)
            name = sides[wheel.side]
            ahead, across = (self.place.vector(name, x) for x in (wheel.ahead, np.cross(wheel.axis, wheel.ahead)))
            self.wheels.append(Turning(len(self.c), wheel.side, part, wheel.radius, ahead, across, held))
        self.add(u, w, c=c)

    def add_joint(self, joint: Joint) -> None:
        """Add the rows of a joint."""
        sides = joint.a, joint.b
        self.first[joint.name] = len(self.c)
        if isinstance(joint, Drive):
            self.drives.append((len(self.c), joint))
        for row in joint.rows:
            self.add_row(sides, row)
        self._close(sides, joint.points)

    def add_closing(self, joint: Joint, length: float) -> None:
        """Add rows that vanish where a joint is closed: lengths relative to `length`, axes as differences.

        Unlike the rows of the joint they do not vanish where axes are opposite.
        """
        sides = joint.a, joint.b
        for row in joint.rows:
            if isinstance(row, Mesh | Roll):  # teeth mesh wherever the wheels are
                continue
            scale = 1.0 if isinstance(row, Angle) else 1.0 / length
            scale = scale / row.length if isinstance(row, Distance) else scale
            if not (isinstance(row, Angle) and joint.pairs):
                first = len(self.c)
                self.add_row(sides, row)
                for k in range(first, len(self.c)):
                    self.u0[k], self.cu[k], self.c[k] = scale * self.u0[k], scale * self.cu[k], scale * self.c[k]
        for vector_a, vector_b in joint.pairs:
            for e in np.eye(3):
                self.add(np.zeros((2, 4)), self.on(sides, 1, vector_b) - self.on(sides, 0, vector_a), u0=e)
        self.row_law += [-1] * (len(self.c) - len(self.row_law))
        self._close(sides, joint.points)

    def add_element(self, element: Element, joints: Mapping[str, Joint]) -> None:
        """Add the rows of a force element, and their laws."""
        sides = element.sides(joints)
        for law in element.laws(joints):
            for row in law.rows:
                self.add_row(sides, row, len(self.laws))
            self.laws.append(law)
            first = self.first.get(law.pressed_by, 0)
            self.pressing.append((first, first + law.pressing_rows))
        self._close(sides, element.points(joints))

    def _close(self, sides: tuple[str, str], points: tuple[Array, Array]) -> None:
        self.sides.append(sides)
        self.counts.append(len(self.c) - sum(self.counts))
        self.points.append((self.place.point(sides[0], points[0]), self.place.point(sides[1], points[1])))


def moved(q: Array, increment: Array) -> Array:
    """The configuration after the increments (N, 6) of all bodies: the Cayley map for rotations by 2 atan |theta/2|."""
    d, a = q[:-1, 1:], 0.5 * increment[:, None, 3:]
    nu = 1.0 / (1.0 + np.sum(a * a, axis=-1, keepdims=True))
    middle = nu * (d + np.cross(a, d) + a * np.sum(a * d, axis=-1, keepdims=True))
    result = q.copy()
    result[:-1, 0] += increment[:, :3]
    result[:-1, 1:] = 2.0 * middle - d
    return result


def reduced_blocks(q: Array, sides: IntArray, cu: Array, cw: Array, u: Array, w: Array) -> Array:
    """Rows of G P as blocks (r, 2, 6) of their sides: (cu_0 w + cw_0 u, ru x w + rw x u)."""
    u, w = u[:, None], w[:, None]
    ru, rw = (np.einsum("rsi,rsik->rsk", c[:, :, 1:], q[sides, 1:]) for c in (cu, cw))
    shift = cu[:, :, :1] * w + cw[:, :, :1] * u
    return np.concatenate([shift, np.cross(ru, w) + np.cross(rw, u)], axis=2)


def inverse_root(model: Model, placement: Placement, q: Array, length: float) -> Array:
    """M^(-1/2) as blocks (N+1, 6, 6) relative to the mean mass and `length`; what has no inertia gets a little."""
    mass = np.array([body.mass for body in model.bodies])
    mass = np.maximum(mass, LEAST * (mass.mean() or 1.0))
    moments = np.maximum(placement.moments, LEAST * placement.moments.max(axis=1, keepdims=True))
    moments = np.where(moments > 0.0, moments / length**2, mass[:, None])  # of what has none
    result = np.zeros((mass.size + 1, 6, 6))
    result[:-1, :3, :3] = np.sqrt(mass.mean() / mass)[:, None, None] * np.eye(3) * length
    result[:-1, 3:, 3:] = np.einsum("bi,bik,bil->bkl", np.sqrt(mass.mean() / moments), q[:-1, 1:], q[:-1, 1:])
    return result
