"""Where assembly finds the blocks of the Newton matrix, for a mechanism given by its tables.

There are two layouts. `exact` has six unknowns of each body and all couplings. `condensed` eliminates the translation
of a body beforehand, which leaves its compliance 1/m between the joints at the body, and leaves out the coupling of
two bodies by the stiffness of a joint: the blocks are half as large, and Newton's method converges nearly as fast
unless the torques of joints are large. A body with many joints keeps its translation, because the compliance would
couple all of them.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from porthos.kernels.crew import LEG, Portion
from porthos.kernels.elimination import LARGEST, Pattern
from porthos.kernels.tables import BODY_PLACE, GENERAL, JOINT_PLACE, SHARE, Layout, Mechanism
from porthos.notation import IntArray, records
from porthos.system.constraints import loop_rows
from porthos.system.pattern import GROUND, Places, Sides, elimination_order, make_pattern, place_blocks
from porthos.system.portions import Seam, bounds, plans, portion, seam, shares

ITERATION = 0.33  # cost of a multiplication in factors, in those of an iteration for each of a solve
CHEAPEST = 3.0  # iterations that a factorisation costs at least
COSTLY = 5.0  # factors that cost more than so many iterations are kept from step to step
# A pivot below this fraction of what was subtracted from it belongs to a row that repeats others. With a guess off the
# constraints such a pivot is larger than round-off, so the first attempt is rough; the last one takes pivots seriously.
# Without closed loops no row repeats others: small pivots are those of long chains, 4000 hinges have some of 1e-11.
ROUGH_FLOOR, FLOOR, OPEN_FLOOR = 1e-7, 1e-11, 1e-15
CROWD = 32  # bodies from which on it pays to pass over those that sleep
CONDENSED_JOINTS = 6  # a body with more joints keeps its translation


def exact_layout(mech: Mechanism) -> Layout:
    """All unknowns and all couplings."""
    kept, light = np.ones(mech.body.size, dtype=np.int64), np.zeros(mech.joint.size, dtype=bool)
    return _layouts(mech, kept, _coupled(mech), light, FLOOR)[0]


def condensed_layouts(
    mech: Mechanism, light: NDArray[np.bool_] | None = None, lightness: float = 0.0, threads: int = 1
) -> tuple[Layout, ...]:
    """Translations eliminated, couplings of two bodies left out, and `light` force elements, all together so light.

    One layout for each thread; a single one also if two are not worthwhile.
    """
    light = np.zeros(mech.joint.size, dtype=bool) if light is None else light
    joints = np.bincount(mech.joint.body[~light].ravel(), minlength=mech.body.size + 1)[:-1]
    kept = (joints > CONDENSED_JOINTS) | (mech.body.mass == 0.0)
    closed = loop_rows(mech._replace(joint=mech.joint[mech.joint.soft == 0])).size > 0
    floor = ROUGH_FLOOR if closed else OPEN_FLOOR
    uncoupled = np.zeros(mech.joint.size, dtype=bool)
    layouts = _layouts(mech, kept.astype(np.int64), uncoupled, light, floor, threads)
    return tuple(layout._replace(lightness=lightness) for layout in layouts)


def idle_layout(layout: Layout) -> Layout:
    """For a thread that has nothing to do while another one works with a layout."""
    nothing = np.zeros(0, dtype=np.int64)
    ranges, none = (np.zeros(2, dtype=np.int64), np.zeros((2, 2), dtype=np.int64)), np.zeros((0, 3), dtype=np.int64)
    legs = np.zeros(1, dtype=LEG).view(np.recarray)
    return layout._replace(portion=Portion(legs, nothing, nothing, nothing, *ranges, none, none))


def _coupled(mech: Mechanism) -> NDArray[np.bool_]:
    """Which joints have rows whose stiffness couples their bodies, or the translation and rotation of one."""
    quadratic = np.any(mech.form.cu != 0.0, axis=(1, 2))
    return np.array([quadratic[a:b].any() for a, b in zip(mech.joint.first, mech.joint.last, strict=True)], dtype=bool)


def _layouts(
    mech: Mechanism, kept: IntArray, coupled: NDArray[np.bool_], light: NDArray[np.bool_], floor: float,
    threads: int = 1,
) -> tuple[Layout, ...]:  # fmt: skip
    """The layout of all joints and stiff elements for each thread; light ones have no place in the matrix."""
    nodes = np.flatnonzero(~light)
    joint, bodies = mech.joint[nodes], mech.body.size
    counts = (joint.last - joint.first).tolist()
    pairs: Sides = [(GROUND if a == bodies else a, GROUND if b == bodies else b) for a, b in joint.body.tolist()]
    sizes = [*(3 * mech.body.rigid + 3 * kept).tolist(), *counts]
    first = set(np.flatnonzero(kept == 0).tolist())
    order = elimination_order(sizes[:bodies], counts, pairs, coupled[nodes].tolist(), first)
    whole = bool(kept.all() or np.any(joint.soft))  # what is rarely used, or copied as a whole
    owner = shares(order, sizes) if threads > 1 and not whole else None
    parts = plans(mech, order, nodes, owner)
    place, length = place_blocks([node for part in parts for node in part.order], sizes)
    rows = 6 * (bodies + 1) + np.append(joint.first, mech.row.size)  # behind six unknowns of each body and ground
    start = [int(s) for s in (*(6 * b + (0 if k else 3) for b, k in enumerate(kept)), *rows)]
    copies = seam(parts[1].order, owner, sizes, start, length) if owner else Seam({}, start, length, start[-1])
    full = make_pattern(order, sizes, start, place, bodies, length, start[-1])
    factors, solve = operations(full)
    worth = max(CHEAPEST, ITERATION * factors / max(1.0, solve))
    ghosts, spins = mech.body.ghost.any(), mech.body.spin.any()
    followers = np.any((mech.load.other >= 0) | (mech.load.turning == 1))  # loads whose slopes are left out in part
    exact = not (ghosts or spins or mech.law.friction.any() or mech.gear.size or followers)
    coupling = bool(_coupled(mech).any())
    seams, edges = copies.tables(place, start, sizes)
    ranges, begin, result = bounds(mech, parts), 0, []
    for turn, part in enumerate(parts):
        places = ChainMap(copies.place, place) if turn else place
        starts = copies.start if turn else start
        pattern = make_pattern(part.order, sizes, starts, places, bodies, copies.length, copies.unknowns, turn)
        blocks = sum(sizes[k] * (sizes[k] + 2 * sum(sizes[n] for n in later)) for k, later in part.order)
        mine = portion(part, len(parts), begin, begin + blocks, ranges[turn], seams, edges)
        begin += blocks
        tables = _tables(mech, kept, light, nodes, pairs, counts, place, places, starts, pattern.spare + LARGEST**2)
        result.append(
            Layout(
                pattern,
                **tables,
                complete=int(exact and len(nodes) == mech.joint.size and (bool(kept.all()) or not coupling)),
                worth=worth,
                costly=int(worth > COSTLY),
                crowded=int(bodies >= CROWD),
                stiff=int(np.any(joint.soft)),
                lightness=0.0,
                floor=floor,
                portion=mine,
            )
        )
    return tuple(result)


def _islands(mech: Mechanism) -> IntArray:
    """Numbers of the parts of the mechanism that hang together without the ground, for each joint and element."""
    a, b = mech.joint.body.reshape(-1, 2).T
    inside, bodies = (a < mech.body.size) & (b < mech.body.size), mech.body.size + 1
    edges = sparse.coo_array((np.ones(inside.sum()), (a[inside], b[inside])), shape=(bodies, bodies))
    return np.asarray(connected_components(edges, directed=False)[1], dtype=np.int64)[np.minimum(a, b)]


def _tables(
    mech: Mechanism, kept: IntArray, light: NDArray[np.bool_], nodes: IntArray, pairs: Sides, counts: list[int],
    place: Places, places: Mapping[tuple[int, int], int], starts: list[int], dump: int,
) -> dict[str, Any]:  # fmt: skip
    """Where assembly finds what it fills; `dump` is for what is written to the blocks of the ground.

    What eliminated translations leave between joints goes to the `places` and `starts` of this thread.
    """
    bodies, rigid = mech.body.size, mech.body.rigid

    def sides(transposed: bool, rotation: bool) -> IntArray:
        """Offsets (J, 2) of the part of block (body, joint) or (joint, body) that belongs to one kind of motion."""
        result = np.full((len(pairs), 2), dump, dtype=np.int64)
        for j, pair in enumerate(pairs):
            for s, b in enumerate(pair):
                if b != GROUND and (rigid[b] if rotation else kept[b]):
                    cell = place[(bodies + j, b) if transposed else (b, bodies + j)]
                    result[j, s] = cell + (3 * kept[b] * (1 if transposed else counts[j]) if rotation else 0)
        return result

    at_bodies = _shares(kept, pairs)
    offsets = {
        "turn_rows": sides(False, True),
        "turn_columns": sides(True, True),
        "shift_rows": sides(False, False),
        "shift_columns": sides(True, False),
        "body_body": np.reshape([(place.get((a, b), -1), place.get((b, a), -1)) for a, b in pairs], (-1, 2)),
        "diagonal": np.array([place[bodies + j, bodies + j] for j in range(len(pairs))], dtype=np.int64),
    }
    many = np.array([len(at) for at in at_bodies], dtype=np.int64)
    last, squares = np.cumsum(many), np.cumsum(many**2)
    diagonal = np.array([place[b, b] for b in range(bodies)], dtype=np.int64)
    mass = np.where(mech.body.mass > 0.0, mech.body.mass, 1.0)
    return {
        "body": records(
            BODY_PLACE,
            compliance=np.append(np.where(kept, 0.0, 1.0 / mass), 0.0),
            kept=np.append(kept, 0),
            block=np.append(diagonal, dump),
            corner=np.append(np.where(rigid, diagonal + kept * 21, dump), dump),
            stride=np.append(np.where(rigid, 3 * rigid + 3 * kept, 3), 3),
            shares=np.append(np.stack([last - many, last], axis=1), [[0, 0]], axis=0),
            between=np.append(squares - many**2, 0),
            restless=np.append(_restless(mech), 0),
        ),
        "joint": records(
            JOINT_PLACE,
            light=light,
            island=_islands(mech),
            **{name: _spread(part, nodes, mech.joint.size) for name, part in offsets.items()},
        ),
        "share": records(
            SHARE,
            joint=[nodes[j] for at in at_bodies for j, _ in at],
            side=[s for at in at_bodies for _, s in at],
            row=[starts[bodies + j] for at in at_bodies for j, _ in at],
        ),
        "between": np.array(
            [places[bodies + j, bodies + k] for at in at_bodies for j, _ in at for k, _ in at],
            dtype=np.int64,
        ),
    }


def _restless(mech: Mechanism) -> NDArray[np.bool_]:
    """Bodies whose rows may change although they do not turn, or have parts that are added for all rows of a kind.

    Those with positions in products, with elements, gears, drives and loads, and those that ghosts keep regular.
    """
    general = (mech.row.kind == GENERAL) | (mech.row.law >= 0)
    general[mech.gear.row] = general[mech.drive.row] = True
    result = np.append((mech.body.ghost > 0.0) | mech.body.spin.any(axis=1), False)
    for touched in (mech.row.body[general].ravel(), mech.load.body, mech.load.other):
        result[touched] = True  # -1 and the ground are the last one
    return result[:-1]


def _spread(values: IntArray, nodes: IntArray, count: int) -> IntArray:
    """Values of some joints among all of them; those of the others are not used."""
    result = np.zeros((count, *values.shape[1:]), dtype=np.int64)
    result[nodes] = values
    return result


def operations(pattern: Pattern) -> tuple[float, float]:
    """Multiplications of a factorisation and of a solve with its factors; as many additions come with them."""
    n = pattern.pivot.unknowns.astype(float)
    before = np.concatenate([[0.0], np.cumsum(pattern.neighbour.unknowns)])
    m = before[pattern.pivot.last] - before[pattern.pivot.first]  # unknowns of the later neighbours
    return float(np.sum(n * (n + m) ** 2)), float(np.sum(n * (n + 2 * m)))


def _shares(kept: IntArray, pairs: Sides) -> list[list[tuple[int, int]]]:
    """The joints at each body, with the side of the body, if its translation is eliminated."""
    at_body: list[list[tuple[int, int]]] = [[] for _ in kept]
    for j, pair in enumerate(pairs):
        for s, b in enumerate(pair):
            if b != GROUND and not kept[b]:
                at_body[b].append((j, s))
    return at_body
