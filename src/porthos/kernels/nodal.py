"""Solves with the matrix [P^T M P, (G P)^T; G P, 0] at one configuration: for accelerations, reactions, projections.

The acceleration of a body is v_i' = omega' x d_i - sum_j (v_i . v_j) d^j: the second part keeps the rigidity rows.
"""

from __future__ import annotations

import numpy as np

from porthos.kernels.bodies import add_spin, inertia_about_axes
from porthos.kernels.compile import entry, kernel
from porthos.kernels.elimination import LARGEST, Factors, add_block, factorise, substitute
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
    factors.data[:] = 0.0
    A, row = np.empty((3, 3)), np.empty(6)
    for b in range(mech.mass.size):
        n = layout.stride[b]
        for k in range(3):
            factors.data[layout.pattern.diagonal[b] + k * n + k] = mech.mass[b]
        if mech.rigid[b]:
            inertia_about_axes(mech.euler[b], q[b, 1:], q[b, 1:], A)
            add_spin(mech.spin[b], q[b, 1:], A)
            add_block(factors.data, layout.corner[b], n, A)
    for j in range(mech.joint_body.shape[0]):
        first, m = mech.joint_row[j], mech.joint_row[j + 1] - mech.joint_row[j]
        for i in range(m):
            for s in range(2):
                n = layout.stride[mech.row_body[first + i, s]]
                reduced_row(mech, rows, first + i, s, row)
                for k in range(3):
                    factors.data[layout.shift_rows[j, s] + k * m + i] += row[k]
                    factors.data[layout.shift_columns[j, s] + i * n + k] += row[k]
                    factors.data[layout.turn_rows[j, s] + k * m + i] += row[3 + k]
                    factors.data[layout.turn_columns[j, s] + i * n + k] += row[3 + k]
    return factorise(layout.pattern, factors.data, factors.scale, PIVOT_FLOOR)


@kernel
def solve_nodal(mech: Mechanism, layout: Layout, q: Array, factors: Factors, rhs: Array) -> Array:
    """x with K x = rhs for the factorised matrix, without the spin stiffness that only keeps it regular."""
    x = rhs.copy()
    substitute(layout.pattern, factors.data, x)
    for _ in range(REFINEMENTS):
        again = rhs.copy()
        changed = False
        for b in range(mech.mass.size):
            s = layout.pattern.start[b]
            for i in range(3):
                if mech.rigid[b] and mech.spin[b, i] > 0.0:
                    changed = True
                    d = q[b, i + 1]
                    f = mech.spin[b, i] * (d[0] * x[s + 3] + d[1] * x[s + 4] + d[2] * x[s + 5])
                    for k in range(3):
                        again[s + 3 + k] += f * d[k]
        if not changed:
            break
        substitute(layout.pattern, factors.data, again)
        x = again
    return x


@entry
def constraint_values(mech: Mechanism, rows: RowVectors, out: Array) -> None:
    """out (R,) = g at the configuration of the rows."""
    for r in range(mech.c.size):
        out[r] = dot(rows.u[r], rows.w[r]) - mech.c[r]


@entry
def constraint_rates(mech: Mechanism, rows: RowVectors, rates: RowVectors, out: Array) -> None:
    """out (R,) = G(q) v from the rows at q and their linear parts at v."""
    for r in range(mech.c.size):
        out[r] = dot(rows.u[r], rates.w[r]) + dot(rows.w[r], rates.u[r])


@entry
def solve_at(
    mech: Mechanism, layout: Layout, q: Array, rhs: Array, rows: RowVectors, factors: Factors
) -> tuple[int, Array]:
    """Assemble the matrix at q and solve with rhs (right_side); returns what `factorise` returns, and the solution."""
    ended = factorise_nodal(mech, layout, q, rows, factors)
    return ended, solve_nodal(mech, layout, q, factors, rhs)


@kernel
def centripetal(mech: Mechanism, q: Array, v: Array, out: Array) -> None:
    """out (N+1, 4, 3): the part -sum_j (v_i . v_j) d_j of the accelerations of the directors."""
    out[:, :, :] = 0.0
    for b in range(mech.mass.size):
        if mech.rigid[b]:
            for i in range(1, 4):
                for j in range(1, 4):
                    f = dot(v[b, i], v[b, j])
                    for k in range(3):
                        out[b, i, k] -= f * q[b, j, k]


@kernel
def applied_forces(mech: Mechanism, layout: Layout, q: Array, wrench: Array, acceleration: Array, x: Array) -> None:
    """Set the momentum rows of x to weights, loads and the inertia of the centripetal accelerations."""
    part, start = np.empty(3), layout.pattern.start
    for b in range(mech.mass.size):
        for k in range(3):
            x[start[b] + k] = mech.mass[b] * mech.gravity[k]
        if mech.rigid[b]:
            for i in range(1, 4):
                cross(q[b, i], acceleration[b, i], part)
                for k in range(3):
                    x[start[b] + 3 + k] -= mech.euler[b, i - 1] * part[k]
    for load in range(mech.load_body.size):
        b = mech.load_body[load]
        for k in range(3):
            x[start[b] + k] += wrench[load, k]
        if mech.rigid[b]:
            force = (wrench[load, 0], wrench[load, 1], wrench[load, 2])
            torque = cross3(lever(mech.load_point, load, q, b), force)
            for k in range(3):
                x[start[b] + 3 + k] += torque[k] + wrench[load, 3 + k]


@entry
def accelerations(mech: Mechanism, layout: Layout, q: Array, v: Array, wrench: Array, rows: RowVectors,
                  rates: RowVectors, factors: Factors, acceleration: Array, lam: Array) -> int:  # fmt: skip
    """v' (N+1, 4, 3) and the joint multipliers (R,) at (q, v); returns what `factorise` returns.

    M v' + G^T lam = f and d/dt (G v) = 0, solved in the reduced unknowns.
    """
    bodies, start = mech.mass.size, layout.pattern.start
    ended = factorise_nodal(mech, layout, q, rows, factors)
    centripetal(mech, q, v, acceleration)
    x, part = np.zeros(start[-1] + LARGEST), np.empty(3)
    applied_forces(mech, layout, q, wrench, acceleration, x)
    evaluate(mech, v, 0.0, rates)
    for r in range(mech.c.size):  # d/dt (G v) = 2 u(v).w(v) + G v'
        x[start[bodies] + r] = -2.0 * dot(rates.u[r], rates.w[r])
    evaluate(mech, acceleration, 0.0, rates)
    for r in range(mech.c.size):
        x[start[bodies] + r] -= dot(rows.u[r], rates.w[r]) + dot(rows.w[r], rates.u[r])
    x = solve_nodal(mech, layout, q, factors, x)
    for b in range(bodies):
        for k in range(3):
            acceleration[b, 0, k] = x[start[b] + k]
        if mech.rigid[b]:
            for i in range(1, 4):
                cross(x[start[b] + 3 : start[b] + 6], q[b, i], part)
                for k in range(3):
                    acceleration[b, i, k] += part[k]
    for r in range(lam.size):
        lam[r] = x[start[bodies] + r]
    return ended
