"""Joints in a step of PH-MP: constraint rows, joint forces, and the slopes of both.

Side s of a row moves by (delta phi, theta). Three coinciding rows have u = e_k, w = x_B - x_A, so with the arms rw_s
their forces are (-+lam, rw_s x lam) and their stiffness is that of lam alone; an angle row has only torques +-u x w.
Blocks are addressed by their offset in the flat matrix; no vector is copied.
"""

from __future__ import annotations

from porthos.kernels.compile import inner, stage
from porthos.kernels.tables import ANGLE, COINCIDE, GENERAL, Layout, Mechanism, RowVectors
from porthos.notation import Array


@inner
def evaluate_arms(mech: Mechanism, layout: Layout, q: Array, rows: RowVectors) -> None:
    """The row vectors that a step needs at q: of three coinciding rows only the arms of the first."""
    cu, cw, u, w, ru, rw = mech.cu, mech.cw, rows.u, rows.w, rows.ru, rows.rw
    for r in range(mech.c.size):
        kind = layout.row_kind[r]
        a, b = mech.row_body[r, 0], mech.row_body[r, 1]
        if kind == COINCIDE:
            for k in range(3):
                rw[r, 0, k] = cw[r, 0, 1] * q[a, 1, k] + cw[r, 0, 2] * q[a, 2, k] + cw[r, 0, 3] * q[a, 3, k]
                rw[r, 1, k] = cw[r, 1, 1] * q[b, 1, k] + cw[r, 1, 2] * q[b, 2, k] + cw[r, 1, 3] * q[b, 3, k]
        elif kind == ANGLE:
            for k in range(3):
                u[r, k] = cu[r, 0, 1] * q[a, 1, k] + cu[r, 0, 2] * q[a, 2, k] + cu[r, 0, 3] * q[a, 3, k]
                w[r, k] = cw[r, 1, 1] * q[b, 1, k] + cw[r, 1, 2] * q[b, 2, k] + cw[r, 1, 3] * q[b, 3, k]
        elif kind == GENERAL:
            for k in range(3):
                u[r, k], w[r, k] = mech.u0[r, k], mech.w0[r, k]
                for s in range(2):
                    e = mech.row_body[r, s]
                    x = cu[r, s, 1] * q[e, 1, k] + cu[r, s, 2] * q[e, 2, k] + cu[r, s, 3] * q[e, 3, k]
                    y = cw[r, s, 1] * q[e, 1, k] + cw[r, s, 2] * q[e, 2, k] + cw[r, s, 3] * q[e, 3, k]
                    ru[r, s, k], rw[r, s, k] = x, y
                    u[r, k] += x + cu[r, s, 0] * q[e, 0, k]
                    w[r, k] += y + cw[r, s, 0] * q[e, 0, k]


@inner
def add_turning(data: Array, at: int, n: int, f: float, v0: float, v1: float, v2: float, r0: float, r1: float,
                r2: float) -> None:  # fmt: skip
    """Add f (r v^T - (v . r) I), the matrix of f (theta x r) x v, to the 3 x 3 block at `at` with rows of length n."""
    trace = v0 * r0 + v1 * r1 + v2 * r2
    data[at] += f * (r0 * v0 - trace)
    data[at + 1] += f * r0 * v1
    data[at + 2] += f * r0 * v2
    data[at + n] += f * r1 * v0
    data[at + n + 1] += f * (r1 * v1 - trace)
    data[at + n + 2] += f * r1 * v2
    data[at + 2 * n] += f * r2 * v0
    data[at + 2 * n + 1] += f * r2 * v1
    data[at + 2 * n + 2] += f * (r2 * v2 - trace)


@stage
def coincide_side(
    mech: Mechanism, layout: Layout, j: int, r: int, s: int, i: int, m: int, slopes: bool, mid: RowVectors,
    end: RowVectors, ua: Array, lam: Array, x: Array, data: Array, gap: int,
) -> None:  # fmt: skip
    """Three coinciding rows r, r+1, r+2 (rows i.. of joint j, which has m) on side s: forces, gap and slopes."""
    b = mech.row_body[r, s]
    n, start = layout.pattern.size[b], layout.pattern.start[b]
    sign = 2.0 * s - 1.0
    l0, l1, l2 = lam[r], lam[r + 1], lam[r + 2]
    r0, r1, r2 = mid.rw[r, s, 0], mid.rw[r, s, 1], mid.rw[r, s, 2]
    for k in range(3):
        x[start + k] += sign * lam[r + k]
        x[gap + k] += 2.0 * sign * ua[b, k]
    if n == 6:
        x[start + 3] += r1 * l2 - r2 * l1
        x[start + 4] += r2 * l0 - r0 * l2
        x[start + 5] += r0 * l1 - r1 * l0
        a0, a1, a2 = ua[b, 3], ua[b, 4], ua[b, 5]
        x[gap] += 2.0 * (a1 * r2 - a2 * r1)
        x[gap + 1] += 2.0 * (a2 * r0 - a0 * r2)
        x[gap + 2] += 2.0 * (a0 * r1 - a1 * r0)
    if not slopes:
        return
    column, row = layout.body_joint[j, s] + i, layout.joint_body[j, s] + i * n
    for k in range(3):
        data[column + k * m + k] = sign
        data[row + k * n + k] = sign
    if n == 6:
        e0, e1, e2 = end.rw[r, s, 0], end.rw[r, s, 1], end.rw[r, s, 2]
        below = column + 3 * m  # skew(rw) in the rows of theta
        data[below + 1], data[below + 2] = -r2, r1
        data[below + m], data[below + m + 2] = r2, -r0
        data[below + 2 * m], data[below + 2 * m + 1] = -r1, r0
        beside = row + 3  # its transpose at the end of the step
        data[beside + 1], data[beside + 2] = e2, -e1
        data[beside + n], data[beside + n + 2] = -e2, e0
        data[beside + 2 * n], data[beside + 2 * n + 1] = e1, -e0
        add_turning(data, layout.pattern.diagonal[b] + 3 * n + 3, n, 0.5, l0, l1, l2, e0, e1, e2)


@stage
def angle_row(
    mech: Mechanism, layout: Layout, j: int, r: int, i: int, m: int, slopes: bool, mid: RowVectors, end: RowVectors,
    ua: Array, lam: Array, x: Array, data: Array, gap: int,
) -> None:  # fmt: skip
    """Row r (row i of joint j, which has m): torque lam u x w on side 0, its opposite on side 1; gap and slopes."""
    bodies, start, diagonal = mech.mass.size, layout.pattern.start, layout.pattern.diagonal
    u0, u1, u2 = mid.u[r, 0], mid.u[r, 1], mid.u[r, 2]
    w0, w1, w2 = mid.w[r, 0], mid.w[r, 1], mid.w[r, 2]
    c0, c1, c2 = u1 * w2 - u2 * w1, u2 * w0 - u0 * w2, u0 * w1 - u1 * w0
    p0, p1, p2 = end.u[r, 0], end.u[r, 1], end.u[r, 2]
    q0, q1, q2 = end.w[r, 0], end.w[r, 1], end.w[r, 2]
    f = 0.5 * lam[r]
    for s in range(2):
        b = mech.row_body[r, s]
        if b == bodies:
            continue
        sign = 1.0 - 2.0 * s
        x[start[b] + 3] += sign * lam[r] * c0
        x[start[b] + 4] += sign * lam[r] * c1
        x[start[b] + 5] += sign * lam[r] * c2
        x[gap] += 2.0 * sign * (c0 * ua[b, 3] + c1 * ua[b, 4] + c2 * ua[b, 5])
        if not slopes:
            continue
        column, row = layout.body_joint[j, s] + 3 * m + i, layout.joint_body[j, s] + 6 * i + 3
        data[column], data[column + m], data[column + 2 * m] = sign * c0, sign * c1, sign * c2
        data[row] = sign * (p1 * q2 - p2 * q1)
        data[row + 1] = sign * (p2 * q0 - p0 * q2)
        data[row + 2] = sign * (p0 * q1 - p1 * q0)
        across = layout.body_body[j, s]
        if s == 0:
            add_turning(data, diagonal[b] + 21, 6, f, w0, w1, w2, p0, p1, p2)
            if across >= 0:
                add_turning(data, across + 21, 6, -f, u0, u1, u2, q0, q1, q2)
        else:
            add_turning(data, diagonal[b] + 21, 6, f, u0, u1, u2, q0, q1, q2)
            if across >= 0:
                add_turning(data, across + 21, 6, -f, w0, w1, w2, p0, p1, p2)


@inner
def add_cross(data: Array, at: int, n: int, f: float, a0: float, a1: float, a2: float) -> None:
    """Add f skew(a) to the 3 x 3 block at `at` with rows of length n."""
    data[at + 1] -= f * a2
    data[at + 2] += f * a1
    data[at + n] += f * a2
    data[at + n + 2] -= f * a0
    data[at + 2 * n] -= f * a1
    data[at + 2 * n + 1] += f * a0


@stage
def reduced_entry(mech: Mechanism, rows: RowVectors, r: int, s: int, k: int) -> float:
    """Entry k of row r of G P for side s: (cu_0 w + cw_0 u, ru x w + rw x u)."""
    i, j = (k + 1) % 3, (k + 2) % 3
    if k < 3:
        entry = mech.cu[r, s, 0] * rows.w[r, k] + mech.cw[r, s, 0] * rows.u[r, k]
    else:
        entry = rows.ru[r, s, i] * rows.w[r, j] - rows.ru[r, s, j] * rows.w[r, i]
        entry += rows.rw[r, s, i] * rows.u[r, j] - rows.rw[r, s, j] * rows.u[r, i]
    return entry


@stage
def general_stiffness(
    mech: Mechanism, mid: RowVectors, end: RowVectors, r: int, s: int, t: int, f: float, turn: bool, data: Array,
    at: int, rows: int, columns: int,
) -> None:  # fmt: skip
    """Add the derivative of f times the reduced row of side s for motions of side t to the block at `at`.

    The midpoint moves by half of (delta phi^1, theta x d^1); f contains this half. The torque ru x w + rw x u of side
    s changes with u and w and, if `turn`, with its own arms.
    """
    a, b, p, q = mech.cu[r, s, 0], mech.cw[r, s, 0], mech.cu[r, t, 0], mech.cw[r, t, 0]
    for k in range(3):
        data[at + k * columns + k] += f * (a * q + b * p)
    e0, e1, e2 = end.ru[r, t, 0], end.ru[r, t, 1], end.ru[r, t, 2]
    g0, g1, g2 = end.rw[r, t, 0], end.rw[r, t, 1], end.rw[r, t, 2]
    x0, x1, x2 = mid.ru[r, s, 0], mid.ru[r, s, 1], mid.ru[r, s, 2]
    y0, y1, y2 = mid.rw[r, s, 0], mid.rw[r, s, 1], mid.rw[r, s, 2]
    if columns % 6 == 0:
        add_cross(data, at + 3, columns, -f, a * g0 + b * e0, a * g1 + b * e1, a * g2 + b * e2)
    if rows % 6 == 0:
        add_cross(data, at + 3 * columns, columns, f, q * x0 + p * y0, q * x1 + p * y1, q * x2 + p * y2)
    if columns % 6 == 0 and rows % 6 == 0:
        corner = at + 3 * columns + 3
        add_turning(data, corner, columns, -f, x0, x1, x2, g0, g1, g2)
        add_turning(data, corner, columns, -f, y0, y1, y2, e0, e1, e2)
        if turn:
            add_turning(data, corner, columns, f, mid.w[r, 0], mid.w[r, 1], mid.w[r, 2], e0, e1, e2)
            add_turning(data, corner, columns, f, mid.u[r, 0], mid.u[r, 1], mid.u[r, 2], g0, g1, g2)


@stage
def general_row(
    mech: Mechanism, layout: Layout, j: int, r: int, i: int, m: int, slopes: bool, mid: RowVectors, end: RowVectors,
    ua: Array, lam: Array, x: Array, data: Array, gap: int,
) -> None:  # fmt: skip
    """Any row r (row i of joint j, which has m): forces, gap and slopes."""
    bodies, start, size = mech.mass.size, layout.pattern.start, layout.pattern.size
    for s in range(2):
        b = mech.row_body[r, s]
        if b == bodies:
            continue
        n = size[b]
        for k in range(n):
            entry = reduced_entry(mech, mid, r, s, k)
            x[start[b] + k] += lam[r] * entry
            x[gap] += 2.0 * entry * ua[b, k]
            if slopes:
                data[layout.body_joint[j, s] + k * m + i] = entry
                data[layout.joint_body[j, s] + i * n + k] = reduced_entry(mech, end, r, s, k)
        if not slopes:
            continue
        for t in range(2):
            other = mech.row_body[r, t]
            at = layout.pattern.diagonal[b] if s == t else layout.body_body[j, s]
            if other != bodies and at >= 0:
                general_stiffness(mech, mid, end, r, s, t, 0.5 * lam[r], s == t, data, at, n, size[other])


@inner
def joint_rows(
    mech: Mechanism, layout: Layout, slopes: bool, mid: RowVectors, end: RowVectors, feedback: Array, ua: Array,
    lam: Array, x: Array, data: Array,
) -> None:  # fmt: skip
    """Set the constraint rows of x, add joint forces to its momentum rows and, if `slopes`, fill the matrix."""
    bodies = mech.mass.size
    for j in range(mech.joint_body.shape[0]):
        first, last = mech.joint_row[j], mech.joint_row[j + 1]
        m, start = last - first, layout.pattern.start[bodies + j]
        for r in range(first, last):
            i = r - first
            gap, kind = start + i, layout.row_kind[r]
            if kind == COINCIDE:
                for k in range(3):
                    x[gap + k] = feedback[r + k]
                for s in range(2):
                    if mech.row_body[r, s] != bodies:
                        coincide_side(mech, layout, j, r, s, i, m, slopes, mid, end, ua, lam, x, data, gap)
            elif kind == ANGLE:
                x[gap] = feedback[r]
                angle_row(mech, layout, j, r, i, m, slopes, mid, end, ua, lam, x, data, gap)
            elif kind == GENERAL:
                x[gap] = feedback[r]
                general_row(mech, layout, j, r, i, m, slopes, mid, end, ua, lam, x, data, gap)
