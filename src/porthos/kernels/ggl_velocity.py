"""The equations of the velocities in PH-MP-GGL, linear in (t, gam') for given q^1, see `reduced_ggl.py`."""

from __future__ import annotations

import numpy as np

from porthos.kernels.awake import asleep
from porthos.kernels.blocks import OFFSET
from porthos.kernels.compile import stage
from porthos.kernels.crew import COMMON, RATES, TOTAL, Crew, Portion, meet, tell, total
from porthos.kernels.elimination import Factors, clear
from porthos.kernels.ggl_correction import Levels, add_vector
from porthos.kernels.guess import Memory, guess, keep
from porthos.kernels.pose import Pose, reduced_side, row_vectors
from porthos.kernels.tables import ANGLE, COINCIDE, GENERAL, Layout, Mechanism
from porthos.kernels.update import subtract, told_loudness
from porthos.kernels.vectors import combine3, cross3, row3, row33
from porthos.kernels.workspace import Workspace
from porthos.notation import Array, IntArray

LOUDEST = 0.4  # rho that is believed


@stage
def velocity_body(mech: Mechanism, b: int, h: float, v0: Array, z: Array, mid: Pose, end: Pose, t: Array, x: Array
                  ) -> None:  # fmt: skip
    """Pbar^T M (P(q^1) t + V^0/2 - (q^1 - q^0)) of body b."""
    at, m = 6 * b, mech.body[b].mass
    for k in range(3):
        x[at + k] = m * (t[at + k] + 0.5 * h * v0[b, 0, k] - 2.0 * z[at + k])
    a, omega, total = (z[at + 3], z[at + 4], z[at + 5]), (t[at + 3], t[at + 4], t[at + 5]), (0.0, 0.0, 0.0)
    for i in range(1, 4):
        d, w = row33(mid.q, b, i), row33(v0, b, i)
        rate, moved = cross3(omega, row33(end.q, b, i)), cross3(a, d)
        y = combine3(1.0, combine3(1.0, rate, 0.5 * h, w), -2.0, moved)
        total = combine3(1.0, total, mech.body[b].euler[i - 1], cross3(d, y))
    x[at + 3], x[at + 4], x[at + 5] = total


@stage
def velocity_joint(mech: Mechanism, j: int, mid: Pose, end: Pose, t: Array, x: Array) -> None:
    """Add Pbar^T Gbar^T gam' to the rows of the bodies and set those of a joint, G(q^1) P(q^1) t."""
    ground, first = 6 * mech.body.size, 6 * (mech.body.size + 1)
    for r in range(mech.joint[j].first & OFFSET, mech.joint[j].last & OFFSET):
        kind, row = mech.row[r].kind, first + r
        if mech.row[r].law >= 0:
            x[row] = 0.0
        elif kind == COINCIDE:
            gam, gap = (t[row], t[row + 1], t[row + 2]), (0.0, 0.0, 0.0)
            for s in range(2):
                at, k, sign = 6 * mech.row[r].body[s], mech.row[r].marker[s, 1], 2.0 * s - 1.0
                if at == ground:
                    continue
                add_vector(x, at, sign, gam)
                add_vector(x, at + 3, 1.0, cross3(row3(mid.marker, k), gam))
                rate = cross3((t[at + 3], t[at + 4], t[at + 5]), row3(end.marker, k))
                gap = combine3(1.0, gap, 1.0, combine3(sign, (t[at], t[at + 1], t[at + 2]), 1.0, rate))
            x[row], x[row + 1], x[row + 2] = gap
        elif kind == ANGLE:
            a, b = 6 * mech.row[r].body[0] + 3, 6 * mech.row[r].body[1] + 3
            ku, kw = mech.row[r].marker[0, 0], mech.row[r].marker[1, 1]
            torque = cross3(row3(mid.marker, ku), row3(mid.marker, kw))
            if a < ground:
                add_vector(x, a, t[row], torque)
            if b < ground:
                add_vector(x, b, -t[row], torque)
            axis = cross3(row3(end.marker, ku), row3(end.marker, kw))
            x[row] = axis[0] * (t[a] - t[b]) + axis[1] * (t[a + 1] - t[b + 1]) + axis[2] * (t[a + 2] - t[b + 2])
        elif kind == GENERAL:
            velocity_general_row(mech, r, mid, end, t, x)


@stage
def velocity_general_row(mech: Mechanism, r: int, mid: Pose, end: Pose, t: Array, x: Array) -> None:
    """`velocity_joint` for any row."""
    ground, row = mech.body.size, 6 * (mech.body.size + 1) + r
    u, w = row_vectors(mech, mid.q, mid.marker, r)
    u1, w1 = row_vectors(mech, end.q, end.marker, r)
    x[row] = 0.0
    for s in range(2):
        if mech.row[r].body[s] == ground:
            continue
        at = 6 * mech.row[r].body[s]
        shift, torque = reduced_side(mech, mid, r, s, u, w)
        add_vector(x, at, t[row], shift)
        add_vector(x, at + 3, t[row], torque)
        shift, torque = reduced_side(mech, end, r, s, u1, w1)
        for k in range(3):
            x[row] += shift[k] * t[at + k] + torque[k] * t[at + 3 + k]


@stage
def take_velocities(
    crew: Crew, bodies: int, portion: Portion, stretched: bool, plain: bool, again: bool, share: float, unit: float,
    x: Array, last: Array, s: int, rate: Array, t: Array,
) -> tuple[float, float]:  # fmt: skip
    """Take the update x, or a factor of it, from the velocities and multipliers t; its root mean square, the factor.

    The factor 1/(1 - rho) takes with it what the matrix leaves over, as far as that is rho x. The matrix has what
    forces in joints do when bodies turn, of which velocities know nothing: of an error e a sweep leaves E e. If the one
    before took `share` of the update `last`, x = (1 - share) last + share E last tells rho. It is asked `again` where
    both are above round-off. A `plain` update is taken as it is.
    """
    squares, common, whole = 0.0, 0.0, 0.0
    for i in range(portion.body.size):
        b = portion.body[i] & OFFSET
        for k in range(6 * b, 6 * b + 3):
            v, w = unit * x[k], x[k + 3]
            squares += v * v + w * w
            if stretched:
                p, q = unit * last[k], last[k + 3]
                common += p * v + q * w
                whole += p * p + q * q
                last[k], last[k + 3] = x[k], x[k + 3]
    tell(crew, RATES, squares)
    tell(crew, COMMON, common)
    tell(crew, TOTAL, whole)
    meet(crew)
    if again:
        rho = (told_loudness(crew) - 1.0 + share) / share
        rate[s, 2] = rho if abs(rho) < LOUDEST else 0.0  # also where an iteration diverges
    share = 1.0 / (1.0 - rate[s, 2]) if stretched and not plain else 1.0
    for i in range(portion.body.size):
        b = portion.body[i] & OFFSET
        for k in range(6 * b, 6 * b + 6):
            t[k] -= share * x[k]
    subtract(t, share, x, portion.bounds[1, 0], portion.bounds[1, 1])
    return np.sqrt(total(crew, RATES) / bodies), share


@stage
def velocity_joints(mech: Mechanism, portion: Portion, n: int, everywhere: bool, ws: Workspace, lv: Levels) -> None:
    """The rows of velocities of joints in leg n, `everywhere` or where a body is awake; those of others are zero."""
    first = 6 * (mech.body.size + 1)
    for i in range(portion.leg[n].joint[0] & OFFSET, portion.leg[n].joint[1] & OFFSET):
        j = portion.joint[i] & OFFSET
        if everywhere or not asleep(mech, j, ws.awake):
            velocity_joint(mech, j, ws.mid, ws.end, lv.z, ws.x)
        else:
            clear(ws.x, first + mech.joint[j].first, first + mech.joint[j].last)


@stage
def release_shifts(mech: Mechanism, shift: Array, free: Array) -> None:
    """The translational parts of the rows at the end, without those of elements."""
    for r in range(mech.row.size):
        for s in range(2):
            for k in range(3):
                free[r, s, k] = shift[r, s, k] if mech.row[r].law < 0 else 0.0


@stage
def release(mech: Mechanism, layout: Layout, data: Array, free: Factors) -> None:
    """The matrix of the velocities, before it is completed: that of the positions, without what elements hold."""
    for i in range(layout.pattern.length):
        free.data[i] = data[i]
    clear(free.scale, 0, free.scale.size)
    for j in range(mech.joint.size):
        if not mech.joint[j].soft or layout.joint[j].light:
            continue
        for i in range(mech.joint[j].last - mech.joint[j].first):
            for s in range(2):
                n = layout.body[mech.joint[j].body[s]].stride
                for k in range(3):
                    free.data[layout.joint[j].turn_columns[s] + i * n + k] = 0.0
                    free.data[layout.joint[j].shift_columns[s] + i * n + k] = 0.0


@stage
def guess_levels(memory: Memory, s: int, bodies: int, rows: int, bounds: IntArray, z: Array, lv: Levels) -> None:
    """`guess_all` of both levels; gam' and velocities have the order of the bodies at most.

    What is extrapolated of the velocities is their difference from where PH-MP would take them, 2 (u, a) - last. It is
    small and smooth, and with it velocities go with the positions of the guess.
    """
    for k in range(4):
        part, velocities = k & 1, k > 1
        past, to = lv.past if velocities else memory.past, lv.z if velocities else z
        number = bodies if part == 0 else min(bodies, rows) if velocities else rows
        guess(past, memory.steps[s], s, number, bounds[part, 0], bounds[part, 1], to)
    for i in range(bounds[0, 0] & OFFSET, bounds[0, 1] & OFFSET):
        lv.z[i] += 2.0 * z[i] - lv.last[i]


@stage
def keep_levels(memory: Memory, s: int, growth: float, bounds: IntArray, z: Array, lv: Levels) -> None:
    """`keep_all` of both levels; the next step has another size. The velocities are not needed any more."""
    for i in range(bounds[0, 0] & OFFSET, bounds[0, 1] & OFFSET):
        velocity = lv.z[i]
        lv.z[i] -= 2.0 * z[i] - lv.last[i]
        lv.last[i] = growth * velocity
    for k in range(4):
        part, velocities = k & 1, k > 1
        past, of = lv.past if velocities else memory.past, lv.z if velocities else z
        keep(past, memory.steps[s], s, of, bounds[part, 0], bounds[part, 1])
    memory.steps[s] += 1
