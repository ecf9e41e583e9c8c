"""Constraint rows g = u . w - c: their values, reduced Jacobians and geometric stiffness.

With delta phi, delta d_i = theta x d_i:   delta u = sum_s cu_s0 delta phi_s + theta_s x ru_s,   the same for w.
"""

from __future__ import annotations

from porthos.kernels.compile import entry, kernel
from porthos.kernels.tables import Mechanism, RowVectors
from porthos.notation import Array


@kernel
def cross(a: Array, b: Array, out: Array) -> None:
    """Set out = a x b."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@kernel
def dot(a: Array, b: Array) -> float:
    """The scalar product a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@entry
def evaluate_rows(mech: Mechanism, q: Array, constant: float, rows: RowVectors) -> None:
    """All row vectors at q; `constant` = 1 for a configuration, 0 for the linear part at a velocity."""
    for r in range(mech.c.size):
        for k in range(3):
            u, w = constant * mech.u0[r, k], constant * mech.w0[r, k]
            for s in range(2):
                b = mech.row_body[r, s]
                x = mech.cu[r, s, 1] * q[b, 1, k] + mech.cu[r, s, 2] * q[b, 2, k] + mech.cu[r, s, 3] * q[b, 3, k]
                y = mech.cw[r, s, 1] * q[b, 1, k] + mech.cw[r, s, 2] * q[b, 2, k] + mech.cw[r, s, 3] * q[b, 3, k]
                rows.ru[r, s, k] = x
                rows.rw[r, s, k] = y
                u += x + mech.cu[r, s, 0] * q[b, 0, k]
                w += y + mech.cw[r, s, 0] * q[b, 0, k]
            rows.u[r, k] = u
            rows.w[r, k] = w


@kernel
def reduced_row(mech: Mechanism, rows: RowVectors, r: int, s: int, out: Array) -> None:
    """out (6,) = row r of G P for side s: (cu_0 w + cw_0 u, ru x w + rw x u)."""
    u, w, x, y = rows.u[r], rows.w[r], rows.ru[r, s], rows.rw[r, s]
    a, b = mech.cu[r, s, 0], mech.cw[r, s, 0]
    for k in range(3):
        out[k] = a * w[k] + b * u[k]
    out[3] = x[1] * w[2] - x[2] * w[1] + y[1] * u[2] - y[2] * u[1]
    out[4] = x[2] * w[0] - x[0] * w[2] + y[2] * u[0] - y[0] * u[2]
    out[5] = x[0] * w[1] - x[1] * w[0] + y[0] * u[1] - y[1] * u[0]


@kernel
def add_turned(m: Array, row: int, col: int, f: float, a: Array, b: Array) -> None:
    """Add f ((a . b) I - b a^T), the matrix of  f a x (theta x b)."""
    d = f * dot(a, b)
    for i in range(3):
        for k in range(3):
            m[row + i, col + k] -= f * b[i] * a[k]
        m[row + i, col + i] += d


@kernel
def add_skew(m: Array, row: int, col: int, f: float, a: Array) -> None:
    """Add f skew(a)."""
    m[row, col + 1] -= f * a[2]
    m[row, col + 2] += f * a[1]
    m[row + 1, col] += f * a[2]
    m[row + 1, col + 2] -= f * a[0]
    m[row + 2, col] -= f * a[1]
    m[row + 2, col + 1] += f * a[0]


@kernel
def row_stiffness(
    mech: Mechanism,
    mid: RowVectors,
    end: RowVectors,
    r: int,
    s: int,
    t: int,
    f: float,
    turn: bool,
    out: Array,
) -> None:
    """out (6, 6): derivative of f times the reduced row of side s at the midpoint, for motions of side t at the end.

    The midpoint moves by half of (delta phi^1, theta x d^1); f already contains this half. The torque
    ru x w + rw x u changes with u and w, and if `turn`, with the arms ru and rw of side s itself.
    """
    out[:, :] = 0.0
    a, b = mech.cu[r, s, 0], mech.cw[r, s, 0]
    p, q = mech.cu[r, t, 0], mech.cw[r, t, 0]
    direct = f * (a * q + b * p)
    for k in range(3):
        out[k, k] += direct
    add_skew(out, 0, 3, -f * a, end.rw[r, t])
    add_skew(out, 0, 3, -f * b, end.ru[r, t])
    add_skew(out, 3, 0, f * q, mid.ru[r, s])
    add_skew(out, 3, 0, f * p, mid.rw[r, s])
    add_turned(out, 3, 3, f, mid.ru[r, s], end.rw[r, t])
    add_turned(out, 3, 3, f, mid.rw[r, s], end.ru[r, t])
    if turn:  # (theta x ru) x w = -(w x (theta x ru))
        add_turned(out, 3, 3, -f, mid.w[r], end.ru[r, s])
        add_turned(out, 3, 3, -f, mid.u[r], end.rw[r, s])
