"""From words to tables: copies a Model into the flat arrays of the kernels and finds a consistent initial state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from porthos.errors import ModelError
from porthos.kernels import ahead
from porthos.kernels.tables import (
    BEGIN,
    ENERGY,
    FACTORS,
    INVERSE,
    LENGTH,
    LINES,
    MIDDLE,
    PIECE_TERMS,
    PIECES,
    POLYNOMIAL,
    TERMS,
    TURN,
    VALUE,
    Mechanism,
)
from porthos.model.bodies import Body, PointMass, RigidBody
from porthos.model.drives import TurnDrive
from porthos.model.element_base import Law
from porthos.model.gears import GearJoint
from porthos.model.model import Model
from porthos.notation import Array, word
from porthos.system.acting import load_columns, terminals_of
from porthos.system.closing import Closing, close, held_bodies, is_open, settled
from porthos.system.coefficients import Placement, Rows
from porthos.system.describe import describe
from porthos.system.drives import Driven
from porthos.system.initial import place
from porthos.system.massless import GHOST, TINY, without_inertia
from porthos.system.mechanical import MechanicalSystem
from porthos.system.mobility import Jacobian
from porthos.system.origin import snapshot
from porthos.system.rates import start_twists
from porthos.system.tables import WHEELS, Plain, mechanism

MEASURES = {"length": LENGTH, "value": VALUE, "turn": TURN}
MOVED = 1e-9  # relative change of a beam from which it was moved
SPIN_FLOOR = 1e-12  # a principal moment below this fraction of the largest one counts as zero


def assemble(
    model: Model, initial: Literal["project", "refuse"] = "project", hold: Iterable[Body | str] = ()
) -> MechanicalSystem:
    """The system of a model, with initial values on the constraints; the bodies to `hold` stay as they were given."""
    word(initial, f"model '{model.name}': initial", ("project", "refuse"))
    if not model.bodies:
        raise ModelError(f"model '{model.name}': there is no body. Add one with model.body(name, shape).")
    for joint in model.joints:
        if isinstance(joint, TurnDrive):
            joint.check_held(model.joints)
    held = held_bodies(model, hold)
    closing = close(model, held) if initial == "project" and (held or is_open(model)) else None
    if any(without_inertia(body).any() for body in model.bodies):
        Jacobian(model, closing).require_held()
    placement = Placement(model)
    system = tabled(model, placement, closing)
    ahead.ready(ahead.ASSEMBLY)
    given = _initial(model, placement)
    q = given[0] if closing is None else closing.q
    twist = start_twists(system, model, placement, q, given[1], held)
    _require_whole_beams(model, placement, (q, given[0]), (twist, given[1]))
    place(system, given, (q, twist), initial)
    system.held = tuple(body.name for body in model.bodies if body.name in held)
    system.model = snapshot(model, held)
    return system


def _require_whole_beams(
    model: Model, placement: Placement, places: tuple[Array, Array], twists: tuple[Array, Array]
) -> None:
    """Refuse to close joints, or to take rates of joints, at an end of a beam: its other nodes would stay behind."""
    rates = any(joint.rates for joint in model.joints)
    for beam in model.beams:
        at = [placement.index[node.name] for node in beam.nodes]
        if np.abs(places[0][at] - places[1][at]).max() > MOVED * max(1.0, float(np.abs(places[1][at]).max())):
            raise ModelError(
                f"{beam.where}: expected joints that are closed where the beam was put, found that closing them moves "
                f"it, and would bend it. Place beam and parts exactly, or hold all its nodes by `hold`."
            )
        if rates and np.abs(twists[0][at] - twists[1][at]).max() > MOVED * max(1.0, float(np.abs(twists[0]).max())):
            raise ModelError(
                f"{beam.where}: expected the velocity that the rate of a joint gives to what holds it, found that the "
                "beam was put with another one. Give the holder, or the beam, its velocity and angular_velocity "
                "instead of the rate of the joint."
            )


def tabled(model: Model, placement: Placement, closing: Closing | None = None) -> MechanicalSystem:
    """The system of a model without initial values: all that needs no compiled kernel."""
    rows = Rows(placement)
    for joint in model.joints:
        if closing is not None and isinstance(joint, GearJoint):  # distances of wheels are those of the closed joints
            rows.place = placement.at(closing.q)
            rows.add_joint(closing.closed(joint))
            rows.place = placement
        else:
            rows.add_joint(joint)
    elements = settled(model, closing)
    for element in elements:
        rows.add_element(element, model.joints_by_name)
    terminals = terminals_of(model, placement)
    heaviest = max((body.mass for body in model.bodies), default=0.0)
    light = [body.name for body in model.bodies if 0.0 < body.mass <= TINY * heaviest]
    mech = _tables(model, placement, rows, Jacobian(model, closing).carried(light) if light else set())
    points, joints = np.array(rows.points).reshape(-1, 2, 3), len(model.joints)
    return MechanicalSystem(
        name=model.name,
        mech=mech,
        body_names=tuple(body.name for body in model.bodies),
        joint_names=tuple(joint.name for joint in model.joints),
        element_names=tuple(element.name for element in elements),
        terminals=terminals,
        drives=tuple(Driven.of(drive.name, drive.motion) for _, drive in rows.drives),
        principal=placement.principal,
        joint_points=points[:joints],
        length=_length(mech, points.reshape(-1, 3), placement, model),
        description=describe(model, elements, closing),
    )


def _tables(model: Model, placement: Placement, rows: Rows, carried: set[str]) -> Mechanism:
    """The arrays; bodies that are `carried` are so light that they count as such without mass."""
    moments = placement.moments
    sides = np.array([[placement.index[name] for name in pair] for pair in rows.sides], dtype=np.int64).reshape(-1, 2)
    largest = moments.max(axis=1, keepdims=True)
    mass = np.array([body.mass for body in model.bodies])
    rigid = np.array([isinstance(body, RigidBody) for body in model.bodies])
    tiny = (mass == 0.0) | np.array([body.name in carried for body in model.bodies])
    light = float(min(mass[mass > TINY * mass.max()], default=1.0))
    bare = rigid & (tiny | (largest[:, 0] == 0.0))
    levers = np.where(bare, light * _levers(rows, placement) ** 2, largest[:, 0])[:, None]
    euler = (moments.sum(axis=1, keepdims=True) - 2 * moments) / 2
    arrays = Plain(
        mass=mass,
        euler=np.where(euler > SPIN_FLOOR * largest, euler, 0.0),
        ghost=np.where(tiny, GHOST * light, 0.0),
        spin=np.where((moments <= SPIN_FLOOR * largest) | bare[:, None], GHOST * levers, 0.0),
        rigid=rigid.astype(np.int64),
        gravity=model.gravity.copy(),
        row_body=np.repeat(sides, rows.counts, axis=0),
        cu=np.array(rows.cu).reshape(-1, 2, 4),
        cw=np.array(rows.cw).reshape(-1, 2, 4),
        u0=np.array(rows.u0).reshape(-1, 3),
        w0=np.zeros((len(rows.c), 3)),
        c=np.array(rows.c, dtype=np.float64),
        joint_row=np.concatenate([[0], np.cumsum(rows.counts)]).astype(np.int64),
        joint_body=sides,
        **load_columns(model, placement),
        row_law=np.array(rows.row_law, dtype=np.int64),
        **_law_columns(rows.laws),
        law_pressing=np.array(rows.pressing, dtype=np.int64).reshape(-1, 2),
        **_drive_columns(rows, placement),
        gear_row=np.array([row for row, _ in rows.gears], dtype=np.int64),
        gear_pitch=np.array([pitch for _, pitch in rows.gears], dtype=np.float64),
        **_wheel_columns(rows),
    )
    return mechanism(arrays)


def _levers(rows: Rows, placement: Placement) -> Array:
    """The longest lever of the joints and elements at each body (N,); where there is none, that of any body, or 1."""
    result = np.zeros(len(placement.index))
    for names, points in zip(rows.sides, rows.points, strict=True):
        for name, point in zip(names, points, strict=True):
            k = placement.index[name]
            result[k] = max(result[k], float(np.linalg.norm(point)))
    levers = result[:-1]
    return np.where(levers > 0.0, levers, levers.max() or 1.0)


def _law_columns(laws: list[Law]) -> dict[str, Any]:
    """The laws of force elements as arrays."""
    force = np.zeros((len(laws), TERMS))
    pieces = [_pieces(law) for law in laws]
    ends = np.cumsum([0, *(len(those) for those in pieces)])
    for k, law in enumerate(laws):
        force[k, : len(law.force)] = law.force
        force[k, 0] += law.inverse
    return {
        "law_rest": np.array([law.rest for law in laws], dtype=np.float64),
        "law_about": np.zeros(len(laws)),
        "law_force": force,
        "law_damping": np.array([law.damping for law in laws], dtype=np.float64),
        "law_friction": np.array([law.friction for law in laws], dtype=np.float64),
        "law_speed": np.array([law.speed for law in laws], dtype=np.float64),
        "law_measure": np.array([MEASURES[law.measure] for law in laws], dtype=np.int64),
        "law_form": np.array([_form(law) for law in laws], dtype=np.int64),
        "law_terms": np.array([_terms(law) for law in laws], dtype=np.int64),
        "law_pieces": np.stack([ends[:-1], ends[1:]], axis=1).astype(np.int64).reshape(-1, 2),
        "piece": np.concatenate([np.zeros((0, FACTORS + PIECE_TERMS)), *pieces]),
    }


def _form(law: Law) -> int:
    if law.pieces is not None:
        return PIECES
    return INVERSE if law.inverse else POLYNOMIAL if law.table is None else LINES


def _terms(law: Law) -> int:
    if law.pieces is not None:
        return law.pieces.shape[1] - FACTORS
    return len(law.force) if law.table is None else 2


def _pieces(law: Law) -> Array:
    """Those of a potential, or the straight lines between the pairs of a table."""
    if law.pieces is not None:
        return law.pieces
    pairs = np.zeros((0, 2)) if law.table is None else law.table
    result = np.zeros((max(0, len(pairs) - 1), FACTORS + PIECE_TERMS))
    result[:, BEGIN] = result[:, MIDDLE] = pairs[:-1, 0]
    result[:, FACTORS], result[:, FACTORS + 1] = pairs[:-1, 1], np.diff(pairs[:, 1]) / np.diff(pairs[:, 0])
    if len(pairs):  # the energy vanishes where x does
        areas = np.diff(pairs[:, 0]) * (pairs[1:, 1] + pairs[:-1, 1]) / 2  # scipy.integrate takes 0.4 s to load
        U = np.append(0.0, np.cumsum(areas))[:-1]
        k = max(0, int(np.searchsorted(result[:, BEGIN], 0.0)) - 1)
        y, (F, slope) = -result[k, MIDDLE], result[k, FACTORS : FACTORS + 2]
        result[:, ENERGY] = U - (U[k] + (F + 0.5 * slope * y) * y)
    return result


def _drive_columns(rows: Rows, placement: Placement) -> dict[str, Any]:
    """The drives as arrays; vectors are in the directors of their first body."""
    ahead, across = np.zeros((len(rows.drives), 3)), np.zeros((len(rows.drives), 3))
    for k, (_, drive) in enumerate(rows.drives):
        if isinstance(drive, TurnDrive):
            ahead[k] = placement.vector(drive.a, drive.ahead(drive.start))
            across[k] = placement.vector(drive.a, drive.ahead(drive.start + np.pi / 2))
    return {
        "drive_row": np.array([row for row, _ in rows.drives], dtype=np.int64),
        "drive_measure": np.array([MEASURES[drive.measure] for _, drive in rows.drives], dtype=np.int64),
        "drive_rest": np.array([drive.start for _, drive in rows.drives], dtype=np.float64),
        "drive_ahead": ahead,
        "drive_across": across,
    }


def _wheel_columns(rows: Rows) -> dict[str, Any]:
    """The wheels of gears as arrays."""
    types = {"row": np.int64, "side": np.int64, "part": np.int64, "radius": np.float64}
    columns = {name: np.array([getattr(wheel, name) for wheel in rows.wheels]) for name in WHEELS}
    return {
        f"wheel_{name}": values.astype(types[name]) if name in types else values.reshape(-1, 3)
        for name, values in columns.items()
    }


def _length(mech: Mechanism, points: Array, placement: Placement, model: Model) -> float:
    """The size of the mechanism: its longest lever arm or beam, or the radius of gyration of a body without joints."""
    arms = [np.linalg.norm(p) for p in points]
    gyration = [np.sqrt(J.max() / m) for J, m in zip(placement.moments, mech.body.mass, strict=True) if m > 0.0]
    return float(max([*arms, *gyration, *(beam.length for beam in model.beams)])) or 1.0


def _initial(model: Model, placement: Placement) -> tuple[Array, Array]:
    """Configuration (N+1, 4, 3) and twists (N, 6) as the user gave them."""
    twist = np.zeros((len(model.bodies), 6))
    for k, body in enumerate(model.bodies):
        twist[k, :3] = np.asarray(body.velocity)
        if not isinstance(body, PointMass):
            twist[k, 3:] = np.asarray(body.angular_velocity)
    return placement.q, twist
