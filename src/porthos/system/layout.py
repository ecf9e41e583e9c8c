"""Where assembly finds the blocks of the Newton matrix, for a mechanism given by its tables.

There are two layouts. `exact` has six unknowns of each body and all couplings. `condensed` eliminates the translation
of a body beforehand, which leaves its compliance 1/m between the joints at the body, and leaves out the coupling of
two bodies by the stiffness of a joint: the blocks are half as large, and Newton's method converges nearly as fast
unless the torques of joints are large. A body with many joints keeps its translation, because the compliance would
couple all of them.
"""

from __future__ import annotations

import numpy as np

from porthos.kernels.elimination import LARGEST, Pattern
from porthos.kernels.tables import ANGLE, COINCIDE, COINCIDE_REST, GENERAL, Layout, Markers, Mechanism, Shares
from porthos.notation import IntArray
from porthos.system.pattern import GROUND, Sides, elimination_order, place_blocks

ITERATION = 0.5  # share of a solve in the cost of an iteration
CHEAPEST = 3.0  # iterations that a factorisation costs at least
COSTLY = 8.0  # factors that cost more than so many iterations are kept from step to step
CONDENSED_JOINTS = 6  # a body with more joints keeps its translation


def exact_layout(mech: Mechanism) -> Layout:
    """All unknowns and all couplings."""
    return _layout(mech, np.ones(mech.mass.size, dtype=np.int64), _coupled(mech))


def condensed_layout(mech: Mechanism) -> Layout:
    """Translations eliminated, couplings of two bodies left out."""
    joints = np.bincount(mech.joint_body.ravel(), minlength=mech.mass.size + 1)[:-1]
    kept = (joints > CONDENSED_JOINTS) | (mech.mass == 0.0)
    return _layout(mech, kept.astype(np.int64), [False] * len(mech.joint_body))


def _coupled(mech: Mechanism) -> list[bool]:
    """Which joints have rows whose stiffness couples their bodies, or the translation and rotation of one."""
    quadratic = np.any(mech.cu != 0.0, axis=(1, 2))
    return [bool(quadratic[a:b].any()) for a, b in zip(mech.joint_row[:-1], mech.joint_row[1:], strict=True)]


def _layout(mech: Mechanism, kept: IntArray, coupled: list[bool]) -> Layout:
    bodies, counts = mech.mass.size, np.diff(mech.joint_row).tolist()
    pairs: Sides = [(GROUND if a == bodies else a, GROUND if b == bodies else b) for a, b in mech.joint_body.tolist()]
    turning = 3 * mech.rigid
    body_sizes = (turning + 3 * kept).tolist()
    order = elimination_order(body_sizes, counts, pairs, coupled, first=set(np.flatnonzero(kept == 0).tolist()))
    rows = 6 * (bodies + 1) + mech.joint_row  # unknowns: six of each body, six of the ground as scratch, multipliers
    start = [*(6 * b + (0 if k else 3) for b, k in enumerate(kept)), *rows]
    pattern, place = place_blocks(order, [*body_sizes, *counts], [int(s) for s in start], bodies)
    dump = pattern.length + LARGEST**2  # for what is written to the blocks of the ground

    stride = np.append(np.where(mech.rigid, turning + 3 * kept, 3), 3)
    corner = np.append(np.where(mech.rigid, pattern.diagonal[:bodies] + kept * 21, dump), dump)

    def sides(transposed: bool, rotation: bool) -> IntArray:
        """Offsets (J, 2) of the part of block (body, joint) or (joint, body) that belongs to one kind of motion."""
        result = np.full((len(pairs), 2), dump, dtype=np.int64)
        for j, pair in enumerate(pairs):
            for s, b in enumerate(pair):
                if b != GROUND and (mech.rigid[b] if rotation else kept[b]):
                    cell = place[(bodies + j, b) if transposed else (b, bodies + j)]
                    result[j, s] = cell + (3 * kept[b] * (1 if transposed else counts[j]) if rotation else 0)
        return result

    kinds, (factors, solve) = row_kinds(mech), operations(pattern)
    worth = max(CHEAPEST, ITERATION * factors / max(1.0, solve))
    across = [(place.get((a, b), -1), place.get((b, a), -1)) for a, b in pairs]
    return Layout(
        pattern,
        markers(mech),
        _shares(kept, pairs, place, bodies),
        kept=np.append(kept, 0),
        compliance=np.append(np.where(kept, 0.0, 1.0 / np.where(mech.mass > 0.0, mech.mass, 1.0)), 0.0),
        corner=corner,
        stride=stride,
        turn_rows=sides(False, True),
        turn_columns=sides(True, True),
        shift_rows=sides(False, False),
        shift_columns=sides(True, False),
        body_body=np.array(across, dtype=np.int64).reshape(-1, 2),
        row_kind=kinds,
        point_joint=_point_joints(mech, kinds),
        shifting=_shifting(mech),
        complete=int(not mech.spin.any() and (bool(kept.all()) or not any(_coupled(mech)))),
        worth=worth,
        costly=int(worth > COSTLY),
    )


def operations(pattern: Pattern) -> tuple[float, float]:
    """Multiplications of a factorisation and of a solve with its factors; as many additions come with them."""
    n = pattern.size[pattern.order].astype(float)
    pointer = np.concatenate([[0.0], np.cumsum(pattern.size[pattern.node])])
    m = np.diff(pointer[pattern.pointer])  # unknowns of the later neighbours
    return float(np.sum(n * (n + m) ** 2)), float(np.sum(n * (n + 2 * m)))


def _shares(kept: IntArray, pairs: Sides, place: dict[tuple[int, int], int], bodies: int) -> Shares:
    """The joints at each condensed body, and the blocks between any two of them."""
    at_body: list[list[tuple[int, int]]] = [[] for _ in range(bodies)]
    for j, pair in enumerate(pairs):
        for s, b in enumerate(pair):
            if b != GROUND and not kept[b]:
                at_body[b].append((j, s))
    ends = [end for at in at_body for end in at]
    blocks = [place[bodies + j, bodies + k] for at in at_body for j, _ in at for k, _ in at]
    counts = np.array([len(at) for at in at_body], dtype=np.int64)
    return Shares(
        pointer=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        joint=np.array([j for j, _ in ends], dtype=np.int64),
        side=np.array([s for _, s in ends], dtype=np.int64),
        block=np.array(blocks, dtype=np.int64),
    )


def markers(mech: Mechanism) -> Markers:
    """The body-fixed vectors that the rows are made of, each once, sorted by body."""
    bodies, rows = mech.mass.size, mech.c.size
    vectors = np.stack([mech.cu[:, :, 1:], mech.cw[:, :, 1:]], axis=2)  # (R, 2, 2, 3)
    used = vectors.any(axis=3)
    owner = np.broadcast_to(mech.row_body[:, :, None], used.shape)[used]
    keys = np.column_stack([owner, vectors[used] + 0.0])  # no -0.0
    found, place = np.unique(keys, axis=0, return_inverse=True)
    row = np.full((rows, 2, 2), len(found), dtype=np.int64)
    row[used] = place.ravel()
    pointer = np.searchsorted(found[:, 0], np.arange(bodies + 2)).astype(np.int64)
    return Markers(pointer, np.concatenate([found[:, 1:], np.zeros((1, 3))]), row)


def _point_joints(mech: Mechanism, kinds: IntArray) -> IntArray:
    """1 for joints whose first three rows coincide and whose other rows are angles."""
    result = np.zeros(len(mech.joint_body), dtype=np.int64)
    for j, (first, last) in enumerate(zip(mech.joint_row[:-1], mech.joint_row[1:], strict=True)):
        result[j] = last > first and kinds[first] == COINCIDE and bool(np.all(kinds[first + 3 : last] == ANGLE))
    return result


def _shifting(mech: Mechanism) -> IntArray:
    """How many rows of each joint there are up to the last one that depends on translations."""
    moved = np.any(mech.cu[:, :, 0] != 0.0, axis=1) | np.any(mech.cw[:, :, 0] != 0.0, axis=1)
    parts = (moved[first:last] for first, last in zip(mech.joint_row[:-1], mech.joint_row[1:], strict=True))
    return np.array([int(np.flatnonzero(part)[-1]) + 1 if part.any() else 0 for part in parts], dtype=np.int64)


def row_kinds(mech: Mechanism) -> IntArray:
    """Recognise the rows for which kernels have a short way, from their coefficients."""
    kinds = np.full(mech.c.size, GENERAL, dtype=np.int64)
    linear = ~np.any(mech.cu, axis=(1, 2))
    angle = ~np.any(mech.cu[:, 1], axis=1) & ~np.any(mech.cw[:, 0], axis=1) & (mech.cu[:, 0, 0] == 0.0)
    kinds[angle & (mech.cw[:, 1, 0] == 0.0) & ~linear & ~np.any(mech.u0, axis=1)] = ANGLE
    r = 0
    while r + 2 < mech.c.size:
        triple = slice(r, r + 3)
        unit_gap = np.array_equal(mech.cw[triple, :, 0], [[-1.0, 1.0]] * 3)
        if linear[triple].all() and unit_gap and np.array_equal(mech.u0[triple], np.eye(3)):
            kinds[triple] = COINCIDE, COINCIDE_REST, COINCIDE_REST
            r += 3
        else:
            r += 1
    return kinds
