"""Constraint rows in full coordinates q (n,), where each is u . w - c with few entries of q:

u = u0 + sum_e cu_e q_e,   w = w0 + sum_e cw_e q_e,   q_e = (q_at, q_at+1, q_at+2),   G_re = cu_e w + cw_e u.

All of them work on several states at once, such as the stages of a step: Q (s, n), L (s, m).
"""

from __future__ import annotations

from typing import NamedTuple

from porthos.kernels.compile import loop, stage
from porthos.kernels.vectors import Triple, dot3
from porthos.notation import Array, IntArray


class Forms(NamedTuple):
    """The rows; entries of one row follow each other, by place."""

    first: IntArray  # (m+1,) the entries of row r are first[r] to first[r + 1]
    at: IntArray  # (E,) place of the vector q_e
    cu: Array  # (E,)
    cw: Array  # (E,)
    u0: Array  # (m, 3)
    w0: Array  # (m, 3)
    c: Array  # (m,)


@stage
def vectors_of(forms: Forms, r: int, constant: float, q: Array) -> tuple[Triple, Triple]:
    """u and w of row r at q; `constant` = 1 at a configuration, 0 for their linear parts at a velocity."""
    u0, u1, u2 = constant * forms.u0[r, 0], constant * forms.u0[r, 1], constant * forms.u0[r, 2]
    w0, w1, w2 = constant * forms.w0[r, 0], constant * forms.w0[r, 1], constant * forms.w0[r, 2]
    for e in range(forms.first[r], forms.first[r + 1]):
        at, a, b = forms.at[e], forms.cu[e], forms.cw[e]
        x, y, z = q[at], q[at + 1], q[at + 2]
        u0, u1, u2 = u0 + a * x, u1 + a * y, u2 + a * z
        w0, w1, w2 = w0 + b * x, w1 + b * y, w2 + b * z
    return (u0, u1, u2), (w0, w1, w2)


@loop
def gaps(forms: Forms, Q: Array, out: Array) -> None:
    """g(Q_i) (s, m)."""
    for i in range(Q.shape[0]):
        for r in range(forms.c.size):
            u, w = vectors_of(forms, r, 1.0, Q[i])
            out[i, r] = dot3(u, w) - forms.c[r]


@loop
def rates(forms: Forms, Q: Array, V: Array, out: Array) -> None:
    """G(Q_i) V_i (s, m)."""
    for i in range(Q.shape[0]):
        for r in range(forms.c.size):
            (u, w), (du, dw) = vectors_of(forms, r, 1.0, Q[i]), vectors_of(forms, r, 0.0, V[i])
            out[i, r] = dot3(u, dw) + dot3(du, w)


@loop
def pulls(forms: Forms, Q: Array, L: Array, out: Array) -> None:
    """Add G(Q_i)^T L_i to out (s, n)."""
    for i in range(Q.shape[0]):
        for r in range(forms.c.size):
            u, w = vectors_of(forms, r, 1.0, Q[i])
            for e in range(forms.first[r], forms.first[r + 1]):
                a, b = L[i, r] * forms.cu[e], L[i, r] * forms.cw[e]
                for k in range(3):
                    out[i, forms.at[e] + k] += a * w[k] + b * u[k]


@loop
def slopes(forms: Forms, Q: Array, constant: float, out: Array) -> None:
    """The entries of G(Q_i) (s, 3 E), row by row; with constant = 0 those of its linear part at Q_i."""
    for i in range(Q.shape[0]):
        for r in range(forms.c.size):
            u, w = vectors_of(forms, r, constant, Q[i])
            for e in range(forms.first[r], forms.first[r + 1]):
                for k in range(3):
                    out[i, 3 * e + k] = forms.cu[e] * w[k] + forms.cw[e] * u[k]
