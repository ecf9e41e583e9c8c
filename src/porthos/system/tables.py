"""The records of a mechanism from plain arrays, and back: what rows have in common and what is special about them.

The tables of a system with force elements hold its joints, then its elements; `constraints_of` and `elements_of` part
them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from porthos.kernels.tables import (
    ANGLE,
    BODY,
    COINCIDE,
    COINCIDE_REST,
    DRIVE,
    FORM,
    GEAR,
    GENERAL,
    JOINT,
    LAW,
    LOAD,
    ROW,
    TURN,
    WHEEL,
    Mechanism,
)
from porthos.notation import Array, IntArray, Records, records

OF_LOADS = ("body", "point", "axis", "other", "turning", "printed")
OF_LAWS = (
    "rest", "about", "force", "damping", "friction", "speed", "measure", "form", "terms", "pieces", "pressing",
)  # fmt: skip
OF_BODIES = ("mass", "euler", "ghost", "spin", "rigid")
DRIVEN = ("row", "measure", "rest", "ahead", "across")
WHEELS = ("row", "side", "part", "radius", "ahead", "across", "held")


class Plain(NamedTuple):
    """All constants of a mechanism, each as an array of its own. Files keep these."""

    mass: Array  # (N,)
    euler: Array  # (N, 3)
    ghost: Array  # (N,)
    spin: Array  # (N, 3)
    rigid: IntArray  # (N,)
    gravity: Array  # (3,)
    row_body: IntArray  # (R, 2)
    cu: Array  # (R, 2, 4)
    cw: Array  # (R, 2, 4)
    u0: Array  # (R, 3)
    w0: Array  # (R, 3)
    c: Array  # (R,)
    joint_row: IntArray  # (J+1,) range of rows of each joint
    joint_body: IntArray  # (J, 2)
    load_body: IntArray  # (L,)
    load_point: Array  # (L, 3)
    load_axis: Array  # (L, 3)
    load_other: IntArray  # (L,)
    load_turning: IntArray  # (L,)
    load_printed: IntArray  # (L,)
    row_law: IntArray  # (R,)
    law_rest: Array  # (F,)
    law_about: Array  # (F,)
    law_force: Array  # (F, 6)
    law_damping: Array  # (F,)
    law_friction: Array  # (F,)
    law_speed: Array  # (F,)
    law_measure: IntArray  # (F,)
    law_form: IntArray  # (F,)
    law_terms: IntArray  # (F,)
    law_pieces: IntArray  # (F, 2)
    law_pressing: IntArray  # (F, 2)
    piece: Array  # (T, 13)
    drive_row: IntArray  # (D,)
    drive_measure: IntArray  # (D,)
    drive_rest: Array  # (D,)
    drive_ahead: Array  # (D, 3)
    drive_across: Array  # (D, 3)
    gear_row: IntArray  # (G,)
    gear_pitch: Array  # (G,)
    wheel_row: IntArray  # (W,)
    wheel_side: IntArray  # (W,)
    wheel_part: IntArray  # (W,)
    wheel_radius: Array  # (W,)
    wheel_ahead: Array  # (W, 3)
    wheel_across: Array  # (W, 3)
    wheel_held: Array  # (W, 3)


def mechanism(plain: Plain) -> Mechanism:
    """The tables of the kernels."""
    form = records(FORM, cu=plain.cu, cw=plain.cw, u0=plain.u0, w0=plain.w0)
    ranges, markers, places = _markers(plain)
    kinds, soft = _row_kinds(form), _soft(plain.joint_row, plain.row_law)
    first = np.searchsorted(plain.row_law, np.arange(plain.law_rest.size))  # of the rows of each law
    return Mechanism(
        body=records(BODY, markers=ranges[:-1], **{name: getattr(plain, name) for name in OF_BODIES}),
        row=records(ROW, c=plain.c, body=plain.row_body, marker=places, kind=kinds, law=plain.row_law),
        form=form,
        joint=records(
            JOINT,
            first=plain.joint_row[:-1],
            last=plain.joint_row[1:],
            body=plain.joint_body,
            point=_point_joints(plain.joint_row, kinds),
            shifting=_shifting(plain.joint_row, form),
            soft=soft,
        ),
        load=records(LOAD, **{name: getattr(plain, f"load_{name}") for name in OF_LOADS}),
        drive=records(
            DRIVE, **{name: getattr(plain, f"drive_{name}") for name in DRIVEN}, marker=places[plain.drive_row, 0, 0]
        ),
        gear=records(
            GEAR,
            row=plain.gear_row,
            pitch=plain.gear_pitch,
            wheels=np.searchsorted(plain.wheel_row, np.stack([plain.gear_row, plain.gear_row + 1], axis=1)),
        ),
        wheel=records(
            WHEEL,
            **{name: getattr(plain, f"wheel_{name}") for name in WHEELS},
            marker=places[plain.wheel_row, plain.wheel_side, plain.wheel_part],
        ),
        law=records(
            LAW,
            **{name: getattr(plain, f"law_{name}") for name in OF_LAWS},
            row=first,
            element=np.searchsorted(plain.joint_row[1:], first, side="right") - np.count_nonzero(soft == 0),
        ),
        piece=plain.piece,
        marker=markers,
        gravity=plain.gravity,
    )


def plain(mech: Mechanism) -> Plain:
    """The arrays from which `mechanism` makes the same tables."""

    def column(table: Records, name: str) -> Any:
        values = table[name]
        return values.astype(np.int64) if values.dtype.kind == "i" else np.ascontiguousarray(values)

    return Plain(
        **{name: column(mech.body, name) for name in OF_BODIES},
        gravity=mech.gravity,
        row_body=column(mech.row, "body"),
        **{name: column(mech.form, name) for name in ("cu", "cw", "u0", "w0")},
        c=column(mech.row, "c"),
        joint_row=np.append(0, column(mech.joint, "last")),
        joint_body=column(mech.joint, "body"),
        **{f"load_{name}": column(mech.load, name) for name in OF_LOADS},
        row_law=column(mech.row, "law"),
        **{f"law_{name}": column(mech.law, name) for name in OF_LAWS},
        piece=mech.piece,
        **{f"drive_{name}": column(mech.drive, name) for name in DRIVEN},
        **{f"gear_{name}": column(mech.gear, name) for name in ("row", "pitch")},
        **{f"wheel_{name}": column(mech.wheel, name) for name in WHEELS},
    )


def constraints_of(mech: Mechanism) -> Mechanism:
    """The mechanism without its force elements."""
    return _part(mech, mech.joint.soft == 0, ("law_", "piece")) if mech.law.size else mech


def elements_of(mech: Mechanism) -> Mechanism:
    """The mechanism without its joints."""
    return _part(mech, mech.joint.soft == 1, ("drive_", "gear_", "wheel_"))


def _part(mech: Mechanism, chosen: NDArray[np.bool_], without: tuple[str, ...]) -> Mechanism:
    """Some joints of a mechanism, without tables whose names begin so; drives and gears are among the first rows."""
    counts = (mech.joint.last - mech.joint.first)[chosen]
    everything, rows = plain(mech), np.repeat(chosen, mech.joint.last - mech.joint.first)
    of_rows = {name: getattr(everything, name)[rows] for name in ("row_body", "cu", "cw", "u0", "w0", "c", "row_law")}
    laws = {name: getattr(everything, name)[:0] for name in everything._fields if name.startswith(without)}
    edges = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return mechanism(everything._replace(**of_rows, **laws, joint_row=edges, joint_body=everything.joint_body[chosen]))


def _markers(plain: Plain) -> tuple[IntArray, Array, IntArray]:
    """The body-fixed vectors that rows are made of, each once, sorted by body, and a zero vector.

    Those that drives turn in their body are not shared with other rows.

    Returns the range of each body and of the ground (N+1, 2), the vectors, and their places in the rows (R, 2, 2).
    """
    vectors = np.stack([plain.cu[:, :, 1:], plain.cw[:, :, 1:]], axis=2)  # (R, 2, 2, 3)
    used: NDArray[np.bool_] = np.any(vectors, axis=3)
    alone = np.zeros(used.shape)  # vectors that turn in the body
    turning = plain.drive_row[plain.drive_measure == TURN]
    alone[turning, 0, 0] = 1.0 + np.arange(turning.size)
    wheels = plain.wheel_row, plain.wheel_side, plain.wheel_part
    alone[wheels] = 1.0 + turning.size + np.arange(plain.wheel_row.size)
    used[wheels] = True
    owner = np.broadcast_to(plain.row_body[:, :, None], used.shape)[used]
    keys = np.column_stack([owner, alone[used], vectors[used] + 0.0])  # no -0.0
    found, place = np.unique(keys, axis=0, return_inverse=True)
    places = np.full(used.shape, len(found), dtype=np.int64)
    places[used] = place.ravel()
    edges = np.searchsorted(found[:, 0], np.arange(plain.mass.size + 2)).astype(np.int64)
    return np.stack([edges[:-1], edges[1:]], axis=1), np.concatenate([found[:, 2:], np.zeros((1, 3))]), places


def _point_joints(edges: IntArray, kinds: IntArray) -> IntArray:
    """1 for joints whose first three rows coincide and whose other rows are angles."""
    result = np.zeros(edges.size - 1, dtype=np.int64)
    for j, (first, last) in enumerate(pairwise(edges)):
        result[j] = last > first and kinds[first] == COINCIDE and bool(np.all(kinds[first + 3 : last] == ANGLE))
    return result


def _soft(edges: IntArray, laws: IntArray) -> IntArray:
    """Which joints are force elements."""
    soft = [last > first and laws[first] >= 0 for first, last in pairwise(edges)]
    return np.array(soft, dtype=np.int64)


def _shifting(edges: IntArray, form: Records) -> IntArray:
    """How many rows of each joint there are up to the last one that depends on translations."""
    moved = np.any(form.cu[:, :, 0] != 0.0, axis=1) | np.any(form.cw[:, :, 0] != 0.0, axis=1)
    parts = (moved[first:last] for first, last in pairwise(edges))
    return np.array([int(np.flatnonzero(part)[-1]) + 1 if part.any() else 0 for part in parts], dtype=np.int64)


def _row_kinds(form: Records) -> IntArray:
    """Recognise the rows for which kernels have a short way, from their coefficients."""
    kinds = np.full(form.size, GENERAL, dtype=np.int64)
    linear = ~np.any(form.cu, axis=(1, 2))
    angle = ~np.any(form.cu[:, 1], axis=1) & ~np.any(form.cw[:, 0], axis=1) & (form.cu[:, 0, 0] == 0.0)
    kinds[angle & (form.cw[:, 1, 0] == 0.0) & ~linear & ~np.any(form.u0, axis=1)] = ANGLE
    r = 0
    while r + 2 < form.size:
        triple = slice(r, r + 3)
        unit_gap = np.array_equal(form.cw[triple, :, 0], [[-1.0, 1.0]] * 3)
        if linear[triple].all() and unit_gap and np.array_equal(form.u0[triple], np.eye(3)):
            kinds[triple] = COINCIDE, COINCIDE_REST, COINCIDE_REST
            r += 3
        else:
            r += 1
    return kinds
