"""One step of PH-MP, eq. (50) of 001, with 6 unknowns a body and the multipliers of the joints.

The rigidity rows make the directors move by the Cayley map (`kernels/bodies.py`), so that with unknowns
(u, a) = h/2 (vbar_phi, w) and lam' = h^2/2 lam the step is, scaled by h^2/2,
  0 = m (2 u - h v_phi^0) - h^2/2 f + (G^T lam')_phi
  0 = sum_i E_i dbar_i x (2 a x dbar_i - h v_i^0) - h^2/2 m_ext + sum_i dbar_i x (G^T lam')_i
  0 = 2 (G P)(qbar) (u, a) + kappa g(q^0)   ( = g(q^1) - (1 - kappa) g(q^0), rows being at most quadratic).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from porthos.kernels.bodies import add_spin, move, update_increment
from porthos.kernels.compile import kernel, stage
from porthos.kernels.elimination import Factors, add_block, factorise, substitute
from porthos.kernels.forces import add_loads, outputs
from porthos.kernels.newton import (
    ACCEPTED,
    CONVERGED,
    FEEDBACK,
    LARGEST_CAYLEY,
    LARGEST_TURN,
    PIVOT_FLOOR,
    SINGULAR,
    STALLED,
    TURNED_TOO_FAR,
    Memory,
    Newton,
    best_order,
    finished,
    guess,
    motion,
    remember,
    update_size,
)  # fmt: skip
from porthos.kernels.rows import cross, dot, evaluate_rows, reduced_row, row_stiffness
from porthos.kernels.tables import Layout, Mechanism, RowVectors
from porthos.notation import Array


class Workspace(NamedTuple):
    """Memory for one step; nothing is allocated inside a run."""

    ua: Array  # (N, 6) unknowns (u, a)
    tau: Array  # (N, 6) unknown twists h (v_phi^1, omega^1); PH-MP-GGL only
    lam: Array  # (R,) scaled multipliers
    gam: Array  # (R,) scaled multipliers of the velocity level; PH-MP-GGL only
    mid: Array  # (N+1, 4, 3)
    end: Array  # (N+1, 4, 3)
    rows0: RowVectors
    rows_mid: RowVectors
    rows_end: RowVectors
    rows_rate: RowVectors  # linear parts at a velocity; PH-MP-GGL only
    feedback: Array  # (R,) kappa g(q^0)
    x: Array  # (unknowns,) residual, then update
    factors: Factors
    y: Array  # (L, 6) outputs at the midpoint


@kernel
def body_rows(mech: Mechanism, layout: Layout, h: float, v0: Array, q0: Array, ws: Workspace) -> None:
    """Momentum rows of all bodies without joints and loads, and their slope."""
    Z = np.empty((3, 3))
    y = np.empty(3)
    for b in range(mech.mass.size):
        s, n, at = layout.pattern.start[b], layout.pattern.size[b], layout.pattern.diagonal[b]
        m = mech.mass[b]
        for k in range(3):
            weight = 0.5 * h * h * m * mech.gravity[k]
            ws.x[s + k] = m * (2.0 * ws.ua[b, k] - h * v0[b, 0, k]) - weight
            ws.factors.data[at + k * n + k] += m
        if not mech.rigid[b]:
            continue
        Z[:, :] = 0.0
        r0, r1, r2, trace = 0.0, 0.0, 0.0, 0.0
        for i in range(3):  # sum_i E_i dbar_i x (d^1 - d^0 - h v^0) and Z = sum_i d_i^1 y_i^T
            E, d0, v, dm, d1 = (
                mech.euler[b, i],
                q0[b, i + 1],
                v0[b, i + 1],
                ws.mid[b, i + 1],
                ws.end[b, i + 1],
            )
            cross(ws.ua[b, 3:], dm, y)  # d^1 - d^0 = 2 a x dbar, without cancellation
            for k in range(3):
                y[k] = 2.0 * y[k] - h * v[k]
            r0 += E * (dm[1] * y[2] - dm[2] * y[1])
            r1 += E * (dm[2] * y[0] - dm[0] * y[2])
            r2 += E * (dm[0] * y[1] - dm[1] * y[0])
            for k in range(3):
                y[k] = E * (d0[k] + 0.5 * h * v[k])
            trace += dot(d1, y)
            for r in range(3):
                for c in range(3):
                    Z[r, c] -= d1[r] * y[c]
        ws.x[s + 3], ws.x[s + 4], ws.x[s + 5] = r0, r1, r2
        for k in range(3):
            Z[k, k] += trace
        add_spin(mech.spin[b], ws.end[b, 1:], Z)
        add_block(ws.factors.data, at, n, 3, 3, Z)


@kernel
def joint_rows(mech: Mechanism, layout: Layout, ws: Workspace) -> None:
    """Constraint rows, joint forces and all slopes that belong to joints."""
    data, start, size = ws.factors.data, layout.pattern.start, layout.pattern.size
    mid, end = np.empty(6), np.empty(6)
    K = np.empty((6, 6))
    bodies = mech.mass.size
    for j in range(mech.joint_body.shape[0]):
        first, m = mech.joint_row[j], mech.joint_row[j + 1] - mech.joint_row[j]
        for i in range(m):
            r = first + i
            gap = 0.0
            for s in range(2):
                b = mech.row_body[r, s]
                if b == bodies:
                    continue
                n, lam = size[b], ws.lam[r]
                reduced_row(mech, ws.rows_mid, r, s, mid)
                reduced_row(mech, ws.rows_end, r, s, end)
                column, row = layout.body_joint[j, s], layout.joint_body[j, s]
                for k in range(n):
                    ws.x[start[b] + k] += lam * mid[k]
                    gap += 2.0 * mid[k] * ws.ua[b, k]
                    data[column + k * m + i] += mid[k]
                    data[row + i * n + k] += end[k]
                for t in range(2):
                    other = mech.row_body[r, t]
                    at = layout.pattern.diagonal[b] if s == t else layout.body_body[j, s]
                    if other == bodies or at < 0:
                        continue
                    row_stiffness(mech, ws.rows_mid, ws.rows_end, r, s, t, 0.5 * lam, s == t, K)
                    add_block(data, at, size[other], 0, 0, K[:n, : size[other]])
            ws.x[start[bodies + j] + i] = gap + ws.feedback[r]


@stage
def solve(mech: Mechanism, layout: Layout, h: float, q0: Array, v0: Array, wrench: Array, newton: Newton,
          ws: Workspace) -> tuple[int, int]:  # fmt: skip
    """Newton's method from the guess in ws.ua and ws.lam; returns (how it ended, iterations)."""
    bodies = mech.mass.size
    previous = 0.0
    for iteration in range(1, newton.iterations + 1):
        move(mech, q0, ws.ua, ws.mid, ws.end)
        evaluate_rows(mech, ws.mid, 1.0, ws.rows_mid)
        evaluate_rows(mech, ws.end, 1.0, ws.rows_end)
        ws.factors.data[:] = 0.0
        body_rows(mech, layout, h, v0, q0, ws)
        add_loads(mech, layout, wrench, ws.mid, ws.end, ws.ua, 0.5 * h * h, False, ws.x, ws.factors.data)
        joint_rows(mech, layout, ws)
        if factorise(layout.pattern, ws.factors.data, ws.factors.pivots, ws.factors.scale, PIVOT_FLOOR) < 0:
            return SINGULAR, iteration
        substitute(layout.pattern, ws.factors.data, ws.factors.pivots, ws.x)
        size = update_size(mech, layout.pattern, ws.x, newton.length)
        if not np.isfinite(size):
            return STALLED, iteration
        damping = min(1.0, LARGEST_TURN / size) if size > 0.0 else 1.0
        if damping < 1.0:
            ws.x[:] = damping * ws.x
        for b in range(bodies):
            update_increment(ws.ua[b], -ws.x[layout.pattern.start[b] :], mech.rigid[b] == 1)
        first = layout.pattern.start[bodies]
        for r in range(mech.c.size):
            ws.lam[r] -= ws.x[first + r]
        size /= motion(ws.ua, newton.length)
        if damping == 1.0 and finished(size, previous, newton.tolerance, True):
            return turned(mech, ws.ua), iteration
        previous = size
    return (turned(mech, ws.ua) if previous < ACCEPTED else STALLED), newton.iterations


@stage
def turned(mech: Mechanism, ua: Array) -> int:
    """CONVERGED, unless a body turned so far that the Cayley map is close to its pole."""
    for b in range(mech.mass.size):
        if dot(ua[b, 3:], ua[b, 3:]) > LARGEST_CAYLEY * LARGEST_CAYLEY:
            return TURNED_TOO_FAR
    return CONVERGED


@stage
def position_feedback(mech: Mechanism, q0: Array, ws: Workspace) -> None:
    """ws.feedback = kappa g(q^0): removes round-off that would add up over many steps."""
    evaluate_rows(mech, q0, 1.0, ws.rows0)
    for r in range(mech.c.size):
        ws.feedback[r] = FEEDBACK * (dot(ws.rows0.u[r], ws.rows0.w[r]) - mech.c[r])


@stage
def step(mech: Mechanism, layout: Layout, h: float, q0: Array, v0: Array, wrench: Array, newton: Newton,
         memory: Memory, ws: Workspace, q1: Array, v1: Array) -> tuple[int, int]:  # fmt: skip
    """One step from (q0, v0) to (q1, v1); tries the best extrapolation first, then plainer guesses."""
    position_feedback(mech, q0, ws)
    spent = 0
    ended = STALLED
    for order in range(best_order(memory), -1, -1):
        guess(memory, order, ws.ua)
        ws.lam[:] = 0.5 * h * h * memory.lam
        ended, iterations = solve(mech, layout, h, q0, v0, wrench, newton, ws)
        spent += iterations
        if ended == CONVERGED:
            break
    if ended != CONVERGED:
        return ended, spent
    move(mech, q0, ws.ua, ws.mid, ws.end)
    part = np.empty(3)
    for b in range(mech.mass.size):
        q1[b] = ws.end[b]
        for k in range(3):
            v1[b, 0, k] = 4.0 * ws.ua[b, k] / h - v0[b, 0, k]
        if mech.rigid[b]:
            for i in range(1, 4):
                cross(ws.ua[b, 3:], ws.mid[b, i], part)
                for k in range(3):
                    v1[b, i, k] = 4.0 * part[k] / h - v0[b, i, k]
    outputs(mech, ws.ua, ws.mid, h, ws.y)
    remember(memory, ws.ua, ws.lam * (2.0 / (h * h)), ws.gam)
    return CONVERGED, spent
