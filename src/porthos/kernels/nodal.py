"""Solves with the matrix [P^T M P, (G P)^T; G P, 0] at one configuration: for accelerations, reactions, projections.

The acceleration of a body is v_i' = omega' x d_i - sum_j (v_i . v_j) d^j: the second part keeps the rigidity rows.
"""

from __future__ import annotations

import numpy as np

from porthos.kernels.bodies import add_spin, inertia_about_axes
from porthos.kernels.compile import entry, kernel
from porthos.kernels.elimination import Factors, add_block, clear, factorise, substitute
from porthos.kernels.forces import lever
from porthos.kernels.newton import PIVOT_FLOOR
from porthos.kernels.rows import cross, dot, evaluate, reduced_row
from porthos.kernels.tables import Layout, Mechanism, RowVectors
from porthos.kernels.vectors import cross3
from porthos.notation import Array

REFINEMENTS = 3  # solves that undo the spin stiffness of rods without thickness


@kernel
def factorise_nodal(mech: Mechanism, layout: Layout, q: Array, rows: RowVectors, factors: Factors) -> int:
    """Assemble and factorise the matrix at q; returns what `factorise` returns."""
    evaluate(mech, q, 1.0, rows)
    clear(factors.data)
    A, row = np.empty((3, 3)), np.empty(6)
    for b in range(mech.body.size):
        n = layout.body[b].stride
        for k in range(3):
            factors.data[layout.body[b].block + k * n + k] = mech.body[b].mass
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
    return factorise(layout.pattern, factors.data, factors.scale, PIVOT_FLOOR)


@kernel
def solve_nodal(mech: Mechanism, layout: Layout, q: Array, factors: Factors, rhs: Array) -> Array:
    """x with K x = rhs for the factorised matrix, without the spin stiffness that only keeps it regular."""
    x = rhs.copy()
    substitute(layout.pattern, factors.data, x)
    for _ in range(REFINEMENTS):
        again = rhs.copy()
        changed = False
        for b in range(mech.body.size):
            s = 6 * b
            for i in range(3):
                if mech.body[b].rigid and mech.body[b].spin[i] > 0.0:
                    changed = True
                    d = q[b, i + 1]
                    f = mech.body[b].spin[i] * (d[0] * x[s + 3] + d[1] * x[s + 4] + d[2] * x[s + 5])
                    for k in range(3):
                        again[s + 3 + k] += f * d[k]
        if not changed:
            break
        substitute(layout.pattern, factors.data, again)
        x = again
    return x


@entry
def solve_at(mech: Mechanism, layout: Layout, q: Array, rhs: Array, rows: RowVectors, factors: Factors) -> Array:
    """Assemble the matrix at q and solve with rhs (right_side)."""
    factorise_nodal(mech, layout, q, rows, factors)
    return solve_nodal(mech, layout, q, factors, rhs)


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
        b = mech.load[load].body
        for k in range(3):
            x[6 * b + k] += wrench[load, k]
        if mech.body[b].rigid:
            force = (wrench[load, 0], wrench[load, 1], wrench[load, 2])
            torque = cross3(lever(mech.load[load].point, q, b), force)
            for k in range(3):
                x[6 * b + 3 + k] += torque[k] + wrench[load, 3 + k]


@entry
def acceleration_side(
    mech: Mechanism, q: Array, v: Array, wrench: Array, rows: RowVectors, rates: RowVectors, acceleration: Array,
    x: Array,
) -> None:  # fmt: skip
    """The right-hand side x for (v_phi', omega') and the multipliers, and the centripetal part of the accelerations.

    M v' + G^T lam = f and d/dt (G v) = 0, in the reduced unknowns.
    """
    first = 6 * (mech.body.size + 1)
    clear(x)
    centripetal(mech, q, v, acceleration)
    applied_forces(mech, q, wrench, acceleration, x)
    evaluate(mech, v, 0.0, rates)
    for r in range(mech.row.size):  # d/dt (G v) = 2 u(v).w(v) + G v'
        x[first + r] = -2.0 * dot(rates.u[r], rates.w[r])
    evaluate(mech, q, 1.0, rows)
    evaluate(mech, acceleration, 0.0, rates)
    for r in range(mech.row.size):
        x[first + r] -= dot(rows.u[r], rates.w[r]) + dot(rows.w[r], rates.u[r])
