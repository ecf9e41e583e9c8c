"""Joints in a step of PH-MP: constraint rows, joint forces, and the slopes of both.

Side s of a row moves by (delta phi, theta). Three coinciding rows have u = e_k, w = x_B - x_A, so with the markers rw_s
their forces are (-+lam, rw_s x lam) and their stiffness is that of lam alone; an angle row has only torques +-u x w.
Unknowns, residuals and updates lie in one vector: six of each body, six of the ground (scratch), then multipliers.
Blocks are addressed by their offset in the flat matrix; what belongs to the ground falls into scratch memory there.
"""

from __future__ import annotations

from porthos.kernels.awake import asleep
from porthos.kernels.blocks import OFFSET, add_cross, add_turning
from porthos.kernels.compile import frame, stage
from porthos.kernels.elements import soften
from porthos.kernels.elimination import clear
from porthos.kernels.light import light_rows
from porthos.kernels.pose import Pose, reduced_side, row_vectors
from porthos.kernels.tables import ANGLE, COINCIDE, GENERAL, Layout, Mechanism
from porthos.kernels.vectors import Triple, row3
from porthos.notation import Array, Flags


@stage
def coincide_side(
    mech: Mechanism, layout: Layout, j: int, r: int, s: int, i: int, m: int, slopes: bool, mid: Pose, end: Pose,
    z: Array, x: Array, data: Array,
) -> None:  # fmt: skip
    """Three coinciding rows r, r+1, r+2 (rows i.. of joint j, which has m) on side s: forces, gap and slopes."""
    b, k = mech.row[r].body[s] & OFFSET, mech.row[r].marker[s, 1] & OFFSET
    at, row = 6 * b, (6 * (mech.body.size + 1) + r) & OFFSET
    sign = 2.0 * s - 1.0
    l0, l1, l2 = z[row], z[row + 1], z[row + 2]
    r0, r1, r2 = mid.marker[k, 0], mid.marker[k, 1], mid.marker[k, 2]
    a0, a1, a2 = z[at + 3], z[at + 4], z[at + 5]
    x[row] += 2.0 * (sign * z[at] + a1 * r2 - a2 * r1)
    x[row + 1] += 2.0 * (sign * z[at + 1] + a2 * r0 - a0 * r2)
    x[row + 2] += 2.0 * (sign * z[at + 2] + a0 * r1 - a1 * r0)
    x[at] += sign * l0
    x[at + 1] += sign * l1
    x[at + 2] += sign * l2
    x[at + 3] += r1 * l2 - r2 * l1
    x[at + 4] += r2 * l0 - r0 * l2
    x[at + 5] += r0 * l1 - r1 * l0
    if not slopes:
        return
    n = layout.body[b].stride & OFFSET
    e0, e1, e2 = end.marker[k, 0], end.marker[k, 1], end.marker[k, 2]
    below, beside = (layout.joint[j].turn_rows[s] + i) & OFFSET, (layout.joint[j].turn_columns[s] + i * n) & OFFSET
    data[below + 1], data[below + 2] = -r2, r1  # skew(rw) in the rows of theta
    data[below + m], data[below + m + 2] = r2, -r0
    data[below + 2 * m], data[below + 2 * m + 1] = -r1, r0
    data[beside + 1], data[beside + 2] = e2, -e1  # its transpose at the end of the step
    data[beside + n], data[beside + n + 2] = -e2, e0
    data[beside + 2 * n], data[beside + 2 * n + 1] = e1, -e0
    add_turning(data, layout.body[b].corner & OFFSET, n, 0.5, l0, l1, l2, e0, e1, e2)
    if layout.body[b].kept:
        for c in range(3):
            data[layout.joint[j].shift_rows[s] + i + c * m + c] = sign
            data[layout.joint[j].shift_columns[s] + (i + c) * n + c] = sign


@stage
def angle_row(
    mech: Mechanism, layout: Layout, j: int, r: int, i: int, m: int, slopes: bool, mid: Pose, end: Pose, z: Array,
    x: Array, data: Array,
) -> None:  # fmt: skip
    """Row r (row i of joint j, which has m): torque lam u x w on side 0, its opposite on side 1; gap and slopes."""
    row = (6 * (mech.body.size + 1) + r) & OFFSET
    ku, kw = mech.row[r].marker[0, 0] & OFFSET, mech.row[r].marker[1, 1] & OFFSET
    u0, u1, u2 = mid.marker[ku, 0], mid.marker[ku, 1], mid.marker[ku, 2]
    w0, w1, w2 = mid.marker[kw, 0], mid.marker[kw, 1], mid.marker[kw, 2]
    c0, c1, c2 = u1 * w2 - u2 * w1, u2 * w0 - u0 * w2, u0 * w1 - u1 * w0
    a, b, lam = 6 * (mech.row[r].body[0] & OFFSET) + 3, 6 * (mech.row[r].body[1] & OFFSET) + 3, z[row]
    x[row] += 2.0 * (c0 * (z[a] - z[b]) + c1 * (z[a + 1] - z[b + 1]) + c2 * (z[a + 2] - z[b + 2]))
    ground = 6 * mech.body.size  # it does not move, and threads do not write to what belongs to both
    if a < ground:
        x[a] += lam * c0
        x[a + 1] += lam * c1
        x[a + 2] += lam * c2
    if b < ground:
        x[b] -= lam * c0
        x[b + 1] -= lam * c1
        x[b + 2] -= lam * c2
    if not slopes:
        return
    p0, p1, p2 = end.marker[ku, 0], end.marker[ku, 1], end.marker[ku, 2]
    q0, q1, q2 = end.marker[kw, 0], end.marker[kw, 1], end.marker[kw, 2]
    e0, e1, e2 = p1 * q2 - p2 * q1, p2 * q0 - p0 * q2, p0 * q1 - p1 * q0
    f = 0.5 * lam
    for s in range(2):
        body = mech.row[r].body[s] & OFFSET
        if body == mech.body.size:
            continue
        n, sign = layout.body[body].stride & OFFSET, 1.0 - 2.0 * s
        below, beside = (layout.joint[j].turn_rows[s] + i) & OFFSET, (layout.joint[j].turn_columns[s] + i * n) & OFFSET
        data[below], data[below + m], data[below + 2 * m] = sign * c0, sign * c1, sign * c2
        data[beside], data[beside + 1], data[beside + 2] = sign * e0, sign * e1, sign * e2
        across, columns = layout.joint[j].body_body[s], layout.body[mech.row[r].body[1 - s]].stride & OFFSET
        if s == 0:
            add_turning(data, layout.body[body].corner & OFFSET, n, f, w0, w1, w2, p0, p1, p2)
            if across >= 0:
                add_turning(data, across + 21, columns, -f, u0, u1, u2, q0, q1, q2)
        else:
            add_turning(data, layout.body[body].corner & OFFSET, n, f, u0, u1, u2, q0, q1, q2)
            if across >= 0:
                add_turning(data, across + 21, columns, -f, w0, w1, w2, p0, p1, p2)


@stage
def general_stiffness(
    mech: Mechanism, mid: Pose, end: Pose, r: int, s: int, t: int, f: float, data: Array, at: int, columns: int,
    u: Triple, w: Triple,
) -> None:  # fmt: skip
    """Add the derivative of f times the reduced row of side s for motions of side t to the block at `at`.

    The midpoint moves by half of (delta phi^1, theta x d^1); f contains this half. The torque ru x w + rw x u of side
    s changes with u and w and, if s = t, with its own arms.
    """
    a, b, p, q = mech.form[r].cu[s, 0], mech.form[r].cw[s, 0], mech.form[r].cu[t, 0], mech.form[r].cw[t, 0]
    for k in range(3):
        data[at + k * columns + k] += f * (a * q + b * p)
    e0, e1, e2 = row3(end.marker, mech.row[r].marker[t, 0])
    g0, g1, g2 = row3(end.marker, mech.row[r].marker[t, 1])
    x0, x1, x2 = row3(mid.marker, mech.row[r].marker[s, 0])
    y0, y1, y2 = row3(mid.marker, mech.row[r].marker[s, 1])
    if columns == 6:
        add_cross(data, at + 3, columns, -f, a * g0 + b * e0, a * g1 + b * e1, a * g2 + b * e2)
    if mech.body[mech.row[r].body[s]].rigid:
        add_cross(data, at + 3 * columns, columns, f, q * x0 + p * y0, q * x1 + p * y1, q * x2 + p * y2)
        if columns == 6:
            corner = at + 3 * columns + 3
            add_turning(data, corner, columns, -f, x0, x1, x2, g0, g1, g2)
            add_turning(data, corner, columns, -f, y0, y1, y2, e0, e1, e2)
            if s == t:
                add_turning(data, corner, columns, f, w[0], w[1], w[2], e0, e1, e2)
                add_turning(data, corner, columns, f, u[0], u[1], u[2], g0, g1, g2)


@stage
def general_row(
    mech: Mechanism, layout: Layout, j: int, r: int, i: int, m: int, slopes: bool, mid: Pose, end: Pose, z: Array,
    x: Array, data: Array,
) -> None:  # fmt: skip
    """Any row r (row i of joint j, which has m): forces, gap and slopes."""
    row = (6 * (mech.body.size + 1) + r) & OFFSET
    lam = z[row]
    u, w = row_vectors(mech, mid.q, mid.marker, r)
    u1, w1 = row_vectors(mech, end.q, end.marker, r) if slopes else (u, w)
    for s in range(2):
        b = mech.row[r].body[s] & OFFSET
        if b == mech.body.size:
            continue
        at, n = 6 * b, layout.body[b].stride & OFFSET
        shift, turn = reduced_side(mech, mid, r, s, u, w)
        for k in range(3):
            x[at + k] += lam * shift[k]
            x[at + 3 + k] += lam * turn[k]
            x[row] += 2.0 * (shift[k] * z[at + k] + turn[k] * z[at + 3 + k])
        if not slopes:
            continue
        shift1, turn1 = reduced_side(mech, end, r, s, u1, w1)
        for k in range(3):
            mid.shift[r, s, k] = shift[k]
            end.shift[r, s, k] = shift1[k]
            data[layout.joint[j].turn_rows[s] + k * m + i] = turn[k]
            data[layout.joint[j].turn_columns[s] + i * n + k] = turn1[k]
            if layout.body[b].kept:
                data[layout.joint[j].shift_rows[s] + k * m + i] = shift[k]
                data[layout.joint[j].shift_columns[s] + i * n + k] = shift1[k]
        if layout.body[b].kept:
            for t in range(2):
                other = mech.row[r].body[t]
                block = layout.body[b].block if s == t else layout.joint[j].body_body[s]
                if block >= 0:
                    f = 0.5 * lam
                    columns = layout.body[other].stride & OFFSET
                    general_stiffness(mech, mid, end, r, s, t, f, data, block & OFFSET, columns, u, w)
        else:
            ru, rw = row3(end.marker, mech.row[r].marker[s, 0]), row3(end.marker, mech.row[r].marker[s, 1])
            add_turning(data, layout.body[b].corner & OFFSET, n, 0.5 * lam, w[0], w[1], w[2], ru[0], ru[1], ru[2])
            add_turning(data, layout.body[b].corner & OFFSET, n, 0.5 * lam, u[0], u[1], u[2], rw[0], rw[1], rw[2])


@frame
def joint_rows(
    mech: Mechanism, layout: Layout, n: int, h: float, slopes: bool, everywhere: bool, awake: Flags, mid: Pose,
    end: Pose, feedback: Array, grip: Array, give: Array, z: Array, x: Array, data: Array,
) -> None:  # fmt: skip
    """Set the rows of joints and elements in x, add forces to the momentum rows and, if `slopes`, fill the matrix.

    Those of leg n are meant, `everywhere` or where a body is awake; the rows of others are zero.
    `feedback` has kappa g(q^0) of constraints, g(q^0) of elements; `give` gets the slopes of light elements.
    """
    ground, leg = mech.body.size, layout.portion.leg[n]
    for at in range(leg.joint[0] & OFFSET, leg.joint[1] & OFFSET):
        j = layout.portion.joint[at] & OFFSET
        begin, m = mech.joint[j].first & OFFSET, mech.joint[j].last - mech.joint[j].first
        if not everywhere and asleep(mech, j, awake):
            clear(x, 6 * (ground + 1) + begin, 6 * (ground + 1) + begin + m)
            continue
        for r in range(begin, begin + m):
            x[6 * (ground + 1) + r] = feedback[r]
        if layout.joint[j].light:
            light_rows(mech, j, h, mid, feedback, give, z, x)
            continue
        for i in range(m):
            r = (begin + i) & OFFSET
            kind = mech.row[r].kind
            if kind == COINCIDE:
                for s in range(2):
                    if mech.row[r].body[s] != ground:
                        coincide_side(mech, layout, j, r, s, i, m, slopes, mid, end, z, x, data)
            elif kind == ANGLE:
                angle_row(mech, layout, j, r, i, m, slopes, mid, end, z, x, data)
            elif kind == GENERAL:
                general_row(mech, layout, j, r, i, m, slopes, mid, end, z, x, data)
        if mech.joint[j].soft:
            soften(mech, layout, j, h, slopes, feedback, grip, end.shift, z, x, data)


@stage
def add_compliance(mech: Mechanism, layout: Layout, b: int, mid: Pose, end: Pose, data: Array) -> None:
    """Eliminate the translation of a body: block (j, k) -= T_j T_k^T / m for all joints j, k there."""
    f, p = layout.body[b].compliance, layout.body[b].between
    for e in range(layout.body[b].shares[0] & OFFSET, layout.body[b].shares[1] & OFFSET):
        j, s = layout.share[e].joint, layout.share[e].side
        for g in range(layout.body[b].shares[0], layout.body[b].shares[1]):
            k, t, at = layout.share[g].joint, layout.share[g].side, layout.between[p]
            p += 1
            first = mech.joint[k].first
            columns = mech.joint[k].last - first
            if mech.joint[j].point and mech.joint[k].point:
                value = f if s == t else -f
                data[at] -= value
                data[at + columns + 1] -= value
                data[at + 2 * columns + 2] -= value
                continue
            for r in range(mech.joint[j].first, mech.joint[j].first + mech.joint[j].shifting):
                x, y, z = f * end.shift[r, s, 0], f * end.shift[r, s, 1], f * end.shift[r, s, 2]
                for c in range(mech.joint[k].shifting):
                    T = mid.shift[first + c, t, 0] * x + mid.shift[first + c, t, 1] * y
                    data[at + c] -= T + mid.shift[first + c, t, 2] * z
                at += columns


@stage
def condense(mech: Mechanism, layout: Layout, b: int, end: Pose, x: Array) -> None:
    """The right-hand sides of the joints at a body after the elimination of its translation: c -= T r_phi / m."""
    f = layout.body[b].compliance
    u, v, w = f * x[6 * b], f * x[6 * b + 1], f * x[6 * b + 2]
    for e in range(layout.body[b].shares[0] & OFFSET, layout.body[b].shares[1] & OFFSET):
        j, s, row = layout.share[e].joint, layout.share[e].side, layout.share[e].row & OFFSET
        if mech.joint[j].point:
            sign = 1.0 - 2.0 * s
            x[row] += sign * u
            x[row + 1] += sign * v
            x[row + 2] += sign * w
            continue
        r = mech.joint[j].first & OFFSET
        for i in range(mech.joint[j].shifting):
            x[row + i] -= end.shift[r + i, s, 0] * u + end.shift[r + i, s, 1] * v + end.shift[r + i, s, 2] * w


@stage
def expand(mech: Mechanism, layout: Layout, b: int, mid: Pose, x: Array) -> None:
    """The update of the eliminated translation of a body from those of the multipliers: x_phi = (r_phi - T^T dlam) / m.

    There are no shares if its translation is kept.
    """
    u, v, w = x[6 * b], x[6 * b + 1], x[6 * b + 2]
    for e in range(layout.body[b].shares[0] & OFFSET, layout.body[b].shares[1] & OFFSET):
        j, s, row = layout.share[e].joint, layout.share[e].side, layout.share[e].row & OFFSET
        if mech.joint[j].point:
            sign = 1.0 - 2.0 * s
            u += sign * x[row]
            v += sign * x[row + 1]
            w += sign * x[row + 2]
            continue
        r = mech.joint[j].first & OFFSET
        for i in range(mech.joint[j].shifting):
            u -= mid.shift[r + i, s, 0] * x[row + i]
            v -= mid.shift[r + i, s, 1] * x[row + i]
            w -= mid.shift[r + i, s, 2] * x[row + i]
    if not layout.body[b].kept:
        f = layout.body[b].compliance
        x[6 * b], x[6 * b + 1], x[6 * b + 2] = f * u, f * v, f * w
