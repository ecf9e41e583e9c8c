"""Constraint rows g = u . w - c: their values, reduced Jacobians and geometric stiffness.

With delta phi, delta d_i = theta x d_i:   delta u = sum_s cu_s0 delta phi_s + theta_s x ru_s,   the same for w.
"""

from __future__ import annotations

from porthos.kernels.compile import inner, kernel
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


@inner
def evaluate(mech: Mechanism, q: Array, constant: float, rows: RowVectors) -> None:
    """All row vectors at q; `constant` = 1 for a configuration, 0 for the linear part at a velocity."""
    for r in range(mech.row.size):
        form = mech.form[r]
        for k in range(3):
            u, w = constant * form.u0[k], constant * form.w0[k]
            for s in range(2):
                b = mech.row[r].body[s]
                x = form.cu[s, 1] * q[b, 1, k] + form.cu[s, 2] * q[b, 2, k] + form.cu[s, 3] * q[b, 3, k]
                y = form.cw[s, 1] * q[b, 1, k] + form.cw[s, 2] * q[b, 2, k] + form.cw[s, 3] * q[b, 3, k]
                rows.ru[r, s, k] = x
                rows.rw[r, s, k] = y
                u += x + form.cu[s, 0] * q[b, 0, k]
                w += y + form.cw[s, 0] * q[b, 0, k]
            rows.u[r, k] = u
            rows.w[r, k] = w


@kernel
def reduced_row(mech: Mechanism, rows: RowVectors, r: int, s: int, out: Array) -> None:
    """out (6,) = row r of G P for side s: (cu_0 w + cw_0 u, ru x w + rw x u)."""
    u, w, x, y = rows.u[r], rows.w[r], rows.ru[r, s], rows.rw[r, s]
    a, b = mech.form[r].cu[s, 0], mech.form[r].cw[s, 0]
    for k in range(3):
        out[k] = a * w[k] + b * u[k]
    out[3] = x[1] * w[2] - x[2] * w[1] + y[1] * u[2] - y[2] * u[1]
    out[4] = x[2] * w[0] - x[0] * w[2] + y[2] * u[0] - y[0] * u[2]
    out[5] = x[0] * w[1] - x[1] * w[0] + y[0] * u[1] - y[1] * u[0]
