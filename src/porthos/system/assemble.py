"""From words to tables: copies a Model into the flat arrays of the kernels and finds a consistent initial state."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from porthos.errors import ModelError
from porthos.kernels.tables import INVERSE, LENGTH, POLYNOMIAL, TABLE, TERMS, TURN, VALUE, Mechanism
from porthos.model import joints as j
from porthos.model.bodies import PointMass, RigidBody
from porthos.model.elements import Element, Law
from porthos.model.forces import Load
from porthos.model.model import Model
from porthos.model.ports import Port
from porthos.notation import Array
from porthos.system.describe import describe
from porthos.system.initial import place
from porthos.system.loads import Terminal
from porthos.system.mechanical import MechanicalSystem
from porthos.system.tables import Plain, mechanism

SPIN_FLOOR = 1e-12  # a principal moment below this fraction of the largest one counts as zero
SPIN_STIFFNESS = 1e-4  # of the largest moment: what stands for it in the matrix; errors shrink by this in an iteration


class _Placement:
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

    def point(self, body: str, world: Array) -> Array:
        """X with world = phi + sum X_i d_i."""
        k = self.index[body]
        return self.directors[k] @ (world - self.position[k])

    def vector(self, body: str, world: Array) -> Array:
        """n with world = sum n_i d_i."""
        return self.directors[self.index[body]] @ world


class _Rows:
    """Collects the coefficients of the rows of all joints and force elements, and the laws of the latter."""

    def __init__(self, placement: _Placement) -> None:
        self.place = placement
        self.sides: list[tuple[str, str]] = []
        self.counts: list[int] = []
        self.points: list[tuple[Array, Array]] = []
        self.row_law: list[int] = []
        self.laws: list[Law] = []
        self.cu: list[Array] = []
        self.cw: list[Array] = []
        self.u0: list[Array] = []
        self.c: list[float] = []

    def add(self, cu: Array, cw: Array, u0: Array | None = None, c: float = 0.0) -> None:
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

    def add_row(self, sides: tuple[str, str], row: j.Row, law: int = -1) -> None:
        """Add one row, which may have three coefficients."""
        match row:
            case j.Coincide(point_a, point_b):
                for e in np.eye(3):
                    self.add(np.zeros((2, 4)), self.gap(sides, point_a, point_b), u0=e)
            case j.InPlane(normal, point_a, point_b):
                self.add(self.on(sides, 0, normal), self.gap(sides, point_a, point_b))
            case j.Angle(vector_a, vector_b):
                self.add(self.on(sides, 0, vector_a), self.on(sides, 1, vector_b))
            case j.Distance(point_a, point_b, length):
                gap = self.gap(sides, point_a, point_b)
                self.add(gap / 2, gap, c=length**2 / 2)
        self.row_law += [law] * (len(self.c) - len(self.row_law))

    def add_joint(self, joint: j.Joint) -> None:
        """Add the rows of a joint."""
        sides = joint.a, joint.b
        for row in joint.rows:
            self.add_row(sides, row)
        self._close(sides, joint.points)

    def add_element(self, element: Element, joints: dict[str, j.Joint]) -> None:
        """Add the rows of a force element, and their laws."""
        sides = element.sides(joints)
        for law in element.laws(joints):
            for row in law.rows:
                self.add_row(sides, row, len(self.laws))
            self.laws.append(law)
        self._close(sides, element.points(joints))

    def _close(self, sides: tuple[str, str], points: tuple[Array, Array]) -> None:
        self.sides.append(sides)
        self.counts.append(len(self.c) - sum(self.counts))
        self.points.append((self.place.point(sides[0], points[0]), self.place.point(sides[1], points[1])))


def assemble(model: Model, initial: Literal["project", "refuse"] = "project") -> MechanicalSystem:
    """The system of a model, with initial values on the constraints."""
    if not model.bodies:
        raise ModelError(f"model '{model.name}': there is no body. Add one with model.body(name, shape).")
    placement = _Placement(model)
    rows = _Rows(placement)
    for joint in model.joints:
        rows.add_joint(joint)
    for element in model.elements:
        rows.add_element(element, {joint.name: joint for joint in model.joints})
    terminals = tuple(_terminal(part, placement) for part in _acting(model))
    mech = _tables(model, placement, rows)
    points, joints = np.array(rows.points).reshape(-1, 2, 3), len(model.joints)
    system = MechanicalSystem(
        name=model.name,
        mech=mech,
        body_names=tuple(body.name for body in model.bodies),
        joint_names=tuple(joint.name for joint in model.joints),
        element_names=tuple(element.name for element in model.elements),
        terminals=terminals,
        principal=placement.principal,
        joint_points=points[:joints],
        length=_length(mech, points.reshape(-1, 3), placement),
        description=describe(model),
    )
    place(system, *_initial(model, placement), initial)
    return system


def _tables(model: Model, placement: _Placement, rows: _Rows) -> Mechanism:
    moments = placement.moments
    acting = _acting(model)
    sides = np.array([[placement.index[name] for name in pair] for pair in rows.sides], dtype=np.int64).reshape(-1, 2)
    largest = moments.max(axis=1, keepdims=True)
    euler = (moments.sum(axis=1, keepdims=True) - 2 * moments) / 2
    arrays = Plain(
        mass=np.array([body.mass for body in model.bodies]),
        euler=np.where(euler > SPIN_FLOOR * largest, euler, 0.0),
        spin=np.where((moments <= SPIN_FLOOR * largest) & (largest > 0.0), SPIN_STIFFNESS * largest, 0.0),
        rigid=np.array([isinstance(body, RigidBody) for body in model.bodies], dtype=np.int64),
        gravity=model.gravity.copy(),
        row_body=np.repeat(sides, rows.counts, axis=0),
        cu=np.array(rows.cu).reshape(-1, 2, 4),
        cw=np.array(rows.cw).reshape(-1, 2, 4),
        u0=np.array(rows.u0).reshape(-1, 3),
        w0=np.zeros((len(rows.c), 3)),
        c=np.array(rows.c, dtype=np.float64),
        joint_row=np.concatenate([[0], np.cumsum(rows.counts)]).astype(np.int64),
        joint_body=sides,
        load_body=np.array([placement.index[x.body] for x in acting], dtype=np.int64),
        load_point=np.array([_acting_point(x, placement) for x in acting]).reshape(-1, 3),
        load_printed=np.array([x.torque_map == "printed" for x in acting], dtype=np.int64),
        row_law=np.array(rows.row_law, dtype=np.int64),
        **_law_columns(rows.laws),
    )
    return mechanism(arrays)


def _law_columns(laws: list[Law]) -> dict[str, Any]:
    """The laws of force elements as arrays."""
    force = np.zeros((len(laws), TERMS))
    tables = [np.zeros((0, 2)) if law.table is None else law.table for law in laws]
    ends = np.cumsum([0, *(len(table) for table in tables)])
    measures = {"length": LENGTH, "value": VALUE, "turn": TURN}
    for k, law in enumerate(laws):
        force[k, : len(law.force)] = law.force
        force[k, 0] += law.inverse
    forms = [INVERSE if law.inverse else POLYNOMIAL if law.table is None else TABLE for law in laws]
    return {
        "law_rest": np.array([law.rest for law in laws], dtype=np.float64),
        "law_force": force,
        "law_damping": np.array([law.damping for law in laws], dtype=np.float64),
        "law_measure": np.array([measures[law.measure] for law in laws], dtype=np.int64),
        "law_form": np.array(forms, dtype=np.int64),
        "law_terms": np.array([len(law.force) for law in laws], dtype=np.int64),
        "law_knots": np.stack([ends[:-1], ends[1:]], axis=1).astype(np.int64).reshape(-1, 2),
        "knot": np.concatenate([np.zeros((0, 2)), *tables]),
    }


def _acting(model: Model) -> list[Load | Port]:
    """Everything that has an input and an output: loads first, then ports."""
    return [*model.loads, *model.ports]


def _acting_point(part: Load | Port, placement: _Placement) -> Array:
    return np.zeros(3) if part.at is None else placement.point(part.body, np.asarray(part.at))


def _terminal(part: Load | Port, placement: _Placement) -> Terminal:
    basis = part.wrench_basis()
    source = Source(tuple(p for p in (part.force, part.torque) if p is not None)) if isinstance(part, Load) else None
    return Terminal(part.name, placement.index[part.body], basis, source)


class Source:
    """The function u(t) of a load: force and torque, as far as it has them, one behind the other."""

    def __init__(self, parts: tuple[Any, ...]) -> None:
        self.parts = parts
        self.breakpoints = tuple(t for p in parts for t in getattr(p, "breakpoints", ()))
        self._constant = None if any(callable(p) for p in parts) else np.concatenate(parts)

    def __call__(self, t: float) -> Array:
        """The values at time t."""
        if self._constant is not None:
            return self._constant
        return np.concatenate([_three(p(t)) if callable(p) else p for p in self.parts])


def _three(value: Any) -> Array:
    """What a function of time gave as a vector, or a ValueError; the march adds the name of the load and the time."""
    a = np.asarray(value, dtype=np.float64)
    if a.shape != (3,):
        raise ValueError(f"expected 3 numbers, found {value!r}")
    return a


def _length(mech: Mechanism, points: Array, placement: _Placement) -> float:
    """The size of the mechanism: its longest lever arm, or the radius of gyration of a body without joints."""
    arms = [np.linalg.norm(p) for p in points]
    gyration = [np.sqrt(J.max() / m) for J, m in zip(placement.moments, mech.body.mass, strict=True)]
    return float(max([*arms, *gyration])) or 1.0


def _initial(model: Model, placement: _Placement) -> tuple[Array, Array]:
    """Configuration (N+1, 4, 3) and twists (N, 6) as the user gave them."""
    q = np.concatenate([placement.position[:, None], placement.directors], axis=1)
    twist = np.zeros((len(model.bodies), 6))
    for k, body in enumerate(model.bodies):
        twist[k, :3] = np.asarray(body.velocity)
        if not isinstance(body, PointMass):
            twist[k, 3:] = np.asarray(body.angular_velocity)
    return q, twist
