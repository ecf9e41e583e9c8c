"""Solves with the matrix [P^T M P, (G P)^T; G P, 0] at one configuration: for accelerations, reactions, projections.

The acceleration of a body is v_i' = omega' x d_i - sum_j (v_i . v_j) d^j: the second part keeps the rigidity rows.
"""

from __future__ import annotations

import numpy as np

from porthos.kernels.bodies import add_spin, inertia_about_axes
from porthos.kernels.compile import entry, kernel
from porthos.kernels.elimination import Factors, add_block, clear, factorise, substitute
from porthos.kernels.forces import lever, push_pair, spread
from porthos.kernels.rows import cross, dot, evaluate, reduced_row
from porthos.kernels.tables import Layout, Mechanism, RowVectors
from porthos.kernels.vectors import cross3, part3
from porthos.notation import Array, IntArray

REFINEMENTS = 3  # solves that undo what is wrong in the factors


@kernel
def factorise_nodal(mech: Mechanism, layout: Layout, q: Array, rows: RowVectors, factors: Factors) -> int:
    """Assemble and factorise the matrix at q; returns what `factorise` returns."""
    evaluate(mech, q, 1.0, rows)
    clear(factors.data, 0, factors.data.size)
    A, row = np.empty((3, 3)), np.empty(6)
    for b in range(mech.body.size):
        n = layout.body[b].stride
        for k in range(3):
            factors.data[layout.body[b].block + k * n + k] = mech.body[b].mass + mech.body[b].ghost
        if mech.body[b].rigid:
            inertia_about_axes(mech.body[b].euler, q[b, 1:], q[b, 1:], A)
            add_spin(mech.body[b].spin, q[b, 1:], A)
            add_block(factors.data, layout.body[b].corner, n, A)
    for j in range(mech.joint.size):
        first, m = mech.joint[j].first, mech.joint[j].last - mech.joint[j].first
        for i in range(m):
            for s in range(2):
                n = layout.body[mech.row[first + i].body[s]].stride
                reduced_row(mech, rows, first + i, s, row)
                for k in range(3):
                    factors.data[layout.joint[j].shift_rows[s] + k * m + i] += row[k]
                    factors.data[layout.joint[j].shift_columns[s] + i * n + k] += row[k]
                    factors.data[layout.joint[j].turn_rows[s] + k * m + i] += row[3 + k]
                    factors.data[layout.joint[j].turn_columns[s] + i * n + k] += row[3 + k]
    return factorise(layout.pattern, 0, layout.pattern.pivot.size, factors.data, factors.scale, layout.floor)


@kernel
def nodal_residual(mech: Mechanism, q: Array, rows: RowVectors, rhs: Array, x: Array, out: Array) -> None:
    """out = rhs - K x with the matrix as it is, without ghosts of inertia and round-off of factors."""
    first, A, row = 6 * (mech.body.size + 1), np.empty((3, 3)), np.empty(6)
    for i in range(out.size):
        out[i] = rhs[i]
    for b in range(mech.body.size):
        for k in range(3):
            out[6 * b + k] -= mech.body[b].mass * x[6 * b + k]
        if mech.body[b].rigid:
            inertia_about_axes(mech.body[b].euler, q[b, 1:], q[b, 1:], A)
            for r in range(3):
                for c in range(3):
                    out[6 * b + 3 + r] -= A[r, c] * x[6 * b + 3 + c]
    for r in range(mech.row.size):
        for s in range(2):
            at = 6 * mech.row[r].body[s]
            if at < first - 6:
                reduced_row(mech, rows, r, s, row)
                for k in range(6):
                    out[at + k] -= row[k] * x[first + r]
                    out[first + r] -= row[k] * x[at + k]


@kernel
def needs_refinement(mech: Mechanism, redundant: int) -> bool:
    """Whether the factors are not those of the matrix: ghosts of inertia, or rows that repeat others."""
    found = redundant > 0
    for b in range(mech.body.size):
        found = found or mech.body[b].ghost > 0.0
        for i in range(3):
            found = found or mech.body[b].spin[i] > 0.0
    return found


@entry
def solve_at(
    mech: Mechanism, layout: Layout, q: Array, rhs: Array, rows: RowVectors, factors: Factors
) -> tuple[int, Array]:
    """Assemble the matrix at q and solve with rhs (right_side); returns what `factorise` returns, and the solution.

    A row that repeats others may leave a pivot of round-off just above the floor: refinement makes up for it.
    """
    redundant = factorise_nodal(mech, layout, q, rows, factors)
    x, again = rhs.copy(), rhs.copy()
    substitute(layout.pattern, factors.data, x)
    if needs_refinement(mech, redundant):
        for _ in range(REFINEMENTS):
            nodal_residual(mech, q, rows, rhs, x, again)
            substitute(layout.pattern, factors.data, again)
            for i in range(x.size):
                x[i] += again[i]
    return redundant, x


@kernel
def centripetal(mech: Mechanism, q: Array, v: Array, out: Array) -> None:
    """Add the part -sum_j (v_i . v_j) d_j of the accelerations of the directors to out (N+1, 4, 3)."""
    for b in range(mech.body.size):
        if mech.body[b].rigid:
            for i in range(1, 4):
                for j in range(1, 4):
                    f = dot(v[b, i], v[b, j])
                    for k in range(3):
                        out[b, i, k] -= f * q[b, j, k]


@kernel
def applied_forces(mech: Mechanism, q: Array, wrench: Array, acceleration: Array, x: Array) -> None:
    """Set the momentum rows of x to weights, loads and the inertia of the centripetal accelerations."""
    part = np.empty(3)
    for b in range(mech.body.size):
        for k in range(3):
            x[6 * b + k] = mech.body[b].mass * mech.gravity[k]
        if mech.body[b].rigid:
            for i in range(1, 4):
                cross(q[b, i], acceleration[b, i], part)
                for k in range(3):
                    x[6 * b + 3 + k] -= mech.body[b].euler[i - 1] * part[k]
    for load in range(mech.load.size):
        b, F, tau = mech.load[load].body, part3(wrench[load], 0), part3(wrench[load], 3)
        if mech.load[load].other >= 0:
            push_pair(mech, load, F[0], tau[0], q, -1.0, x)
            continue
        if mech.load[load].turning == 1:
            F, tau = spread(F, q, b), spread(tau, q, b)
        for k in range(3):
            x[6 * b + k] += F[k]
        if mech.body[b].rigid:
            torque = cross3(lever(mech.load[load].point, q, b), F)
            for k in range(3):
                x[6 * b + 3 + k] += torque[k] + tau[k]


@entry
def acceleration_side(
    mech: Mechanism, q: Array, v: Array, wrench: Array, rows: RowVectors, rates: RowVectors, acceleration: Array,
    x: Array,
) -> None:  # fmt: skip
    """The right-hand side x for (v_phi', omega') and the multipliers, and the centripetal part of the accelerations.

    M v' + G^T lam = f and d/dt (G v) = 0, in the reduced unknowns; f without force elements.
    """
    first = 6 * (mech.body.size + 1)
    clear(x, 0, x.size)
    centripetal(mech, q, v, acceleration)
    applied_forces(mech, q, wrench, acceleration, x)
    evaluate(mech, v, 0.0, rates)
    for r in range(mech.row.size):  # d/dt (G v) = 2 u(v).w(v) + G v'
        x[first + r] = -2.0 * dot(rates.u[r], rates.w[r])
    evaluate(mech, q, 1.0, rows)
    evaluate(mech, acceleration, 0.0, rates)
    for r in range(mech.row.size):
        x[first + r] -= dot(rows.u[r], rates.w[r]) + dot(rows.w[r], rates.u[r])


@entry
def slack_rows(
    mech: Mechanism, layout: Layout, q: Array, config: Array, rows: RowVectors, factors: Factors, limit: float,
    found: IntArray,
) -> None:  # fmt: skip
    """Write to found (T,) how many joint rows repeat others, or nearly do, at configurations q (T, N, 4, 3).

    With the inverse P of what is left of a row's block, and the largest value s that its pivot had, P s = 1 where the
    row is like no other; `limit` is what counts as large.
    """
    pattern = layout.pattern
    for t in range(q.shape[0]):
        for b in range(mech.body.size):
            config[b] = q[t, b]
        factorise_nodal(mech, layout, config, rows, factors)
        found[t] = 0
        for position in range(pattern.pivot.size):
            pivot = pattern.pivot[position]
            if pivot.node >= pattern.bodies:
                for i in range(pivot.unknowns):
                    grown = abs(factors.data[pivot.block + i * (pivot.unknowns + 1)]) * factors.scale[pivot.start + i]
                    if grown == 0.0 or not grown < limit:
                        found[t] += 1


@entry
def subtract_reactions(mech: Mechanism, lam: Array, rows: RowVectors, x: Array) -> None:
    """x -= (G P)^T lam: the forces of rows with these multipliers on the bodies; `rows` are evaluated."""
    row = np.empty(6)
    for r in range(mech.row.size):
        for s in range(2):
            b = mech.row[r].body[s]
            if b < mech.body.size:
                reduced_row(mech, rows, r, s, row)
                for k in range(6):
                    x[6 * b + k] -= lam[r] * row[k]


@entry
def row_values(mech: Mechanism, q: Array, v: Array, rows: RowVectors, rates: RowVectors, g: Array, rate: Array) -> None:
    """The vectors of all rows at q and v, their values g and rates G v."""
    evaluate(mech, q, 1.0, rows)
    evaluate(mech, v, 0.0, rates)
    for r in range(mech.row.size):
        g[r] = dot(rows.u[r], rows.w[r]) - mech.row[r].c
        rate[r] = dot(rows.u[r], rates.w[r]) + dot(rows.w[r], rates.u[r])
