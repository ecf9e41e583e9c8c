"""One step of PH-MP-GGL, eq. (61) of 001 at the midpoint, reduced to 12 unknowns a body and two sets of multipliers.

Same Cayley kinematics as PH-MP; the velocity at the end is rigid, V^1 = h v^1 = P(q^1) tau. With V = h v,
Vbar = (V^0 + V^1)/2, gam' = h gam, lam' = h^2 lam and the vectors Y, X of `velocity_level.py`,
  Pbar^T Y = 0,   Pbar^T (X - h^2 f) = 0,   g(q^1) = (1 - kappa) g(q^0),   G(q^1) V^1 = 0.
The forces L Y_i in X are those of the internal multipliers Gam of the velocity level: Y_i = sum_j Gam_ij dbar_j.
The Newton matrix neglects only terms that are O(h^3) beside those kept (those multiplied by Y or gam').
"""

from __future__ import annotations

import numpy as np

from porthos.kernels.bodies import move, update_increment
from porthos.kernels.compile import inner, stage
from porthos.kernels.elimination import factorise, substitute
from porthos.kernels.forces import add_loads, outputs
from porthos.kernels.joints import general_stiffness, reduced_entry
from porthos.kernels.newton import (
    ACCEPTED,
    CONVERGED,
    LARGEST_TURN,
    PIVOT_FLOOR,
    RUNNING,
    SINGULAR,
    STALLED,
    Memory,
    Newton,
    best_order,
    finished,
    guess,
    motion,
    remember,
    update_size,
)  # fmt: skip
from porthos.kernels.reduced_midpoint import Workspace, clear, position_feedback, turned
from porthos.kernels.rows import evaluate
from porthos.kernels.tables import Layout, Mechanism
from porthos.kernels.vectors import Triple, axis3, combine3, cross3, dot3, row3, row33
from porthos.kernels.velocity_level import Levels, add_momenta, joint_forces, mean_velocity, rigid_velocity, stretched
from porthos.notation import Array


@inner
def body_rows(mech: Mechanism, layout: Layout, h: float, ws: Workspace, lv: Levels) -> None:
    """Rows Pbar^T Y (first) and Pbar^T X of all bodies with their slopes for (delta phi^1, theta) and delta tau."""
    data, x = ws.factors.data, ws.x
    for b in range(mech.mass.size):
        s, n, at = layout.pattern.start[b], layout.pattern.size[b], layout.pattern.diagonal[b]
        half, m = n // 2, mech.mass[b]
        for k in range(3):
            x[s + k] = lv.Y[b, 0, k]
            x[s + half + k] = lv.X[b, 0, k] - h * h * m * mech.gravity[k]
            data[at + k * n + k] += m
            data[at + k * n + half + k] -= 0.5 * m
            data[at + (half + k) * n + half + k] += m
        if not mech.rigid[b]:
            continue
        for k in range(3):
            x[s + 3 + k] = 0.0
            x[s + 9 + k] = 0.0
        for i in range(1, 4):
            d = row33(ws.mid, b, i)
            y, z = cross3(d, row33(lv.Y, b, i)), cross3(d, row33(lv.X, b, i))
            for k in range(3):
                x[s + 3 + k] += y[k]
                x[s + 9 + k] += z[k]
            for c in range(3):
                director_slopes(mech, b, i, c, at, d, ws, lv)


@stage
def director_slopes(mech: Mechanism, b: int, i: int, c: int, at: int, d: Triple, ws: Workspace, lv: Levels) -> None:
    """Slopes of the rotational rows of director i for theta = e_c and delta omega = e_c.

    With t = e_c x d_i^1:  delta Y_i = E (t - omega x t / 2) and -E t / 2,  delta X_i = E omega x t and E t, plus
    L delta Y_i each; and the director itself turns by t/2 in dbar_i x X_i.
    """
    data, E = ws.factors.data, mech.euler[b, i - 1]
    t = cross3(axis3(c), row33(ws.end, b, i))
    spun = cross3((lv.tau[b, 3], lv.tau[b, 4], lv.tau[b, 5]), t)
    by_theta, by_tau = combine3(E, t, -0.5 * E, spun), combine3(-0.5 * E, t, 0.0, t)
    y_theta, y_tau = cross3(d, by_theta), cross3(d, by_tau)
    x_theta = cross3(d, combine3(E, spun, 1.0, stretched(lv.L, b, by_theta)))
    x_tau = cross3(d, combine3(E, t, 1.0, stretched(lv.L, b, by_tau)))
    turned_arm = cross3(t, row33(lv.X, b, i))
    for k in range(3):
        data[at + (3 + k) * 12 + 3 + c] += y_theta[k]
        data[at + (3 + k) * 12 + 9 + c] += y_tau[k]
        data[at + (9 + k) * 12 + 3 + c] += x_theta[k] + 0.5 * turned_arm[k]
        data[at + (9 + k) * 12 + 9 + c] += x_tau[k]


@stage
def velocity_torque(mech: Mechanism, b: int, r: int, s: int, ws: Workspace, lv: Levels) -> Triple:
    """Slope of the rotational part of Pbar^T X for gam'_r:  sum_i dbar_i x (G(Vbar)^T e_r - L Gbar^T e_r)_i."""
    u, w, du, dw = row3(ws.rows_mid.u, r), row3(ws.rows_mid.w, r), row3(lv.rate.u, r), row3(lv.rate.w, r)
    total = (0.0, 0.0, 0.0)
    for i in range(1, 4):
        p, q = mech.cu[r, s, i], mech.cw[r, s, i]
        if p != 0.0 or q != 0.0:
            f = combine3(1.0, combine3(p, dw, q, du), -1.0, stretched(lv.L, b, combine3(p, w, q, u)))
            total = combine3(1.0, total, 1.0, cross3(row33(ws.mid, b, i), f))
    return total


@inner
def joint_rows(mech: Mechanism, layout: Layout, ws: Workspace, lv: Levels) -> None:
    """Constraint rows on position level and the slopes of the joint forces. Unknowns of a joint: (gam', lam')."""
    data, start, size = ws.factors.data, layout.pattern.start, layout.pattern.size
    bodies = mech.mass.size
    for j in range(mech.joint_body.shape[0]):
        first, m = mech.joint_row[j], mech.joint_row[j + 1] - mech.joint_row[j]
        for i in range(m):
            r = first + i
            gap = start[bodies + j] + i
            ws.x[gap] = ws.feedback[r]
            for s in range(2):
                b = mech.row_body[r, s]
                if b == bodies:
                    continue
                half = size[b] // 2
                column, row = layout.body_joint[j, s] + i, layout.joint_body[j, s] + i * size[b]
                for k in range(half):
                    entry, at_end = reduced_entry(mech, ws.rows_mid, r, s, k), reduced_entry(mech, ws.rows_end, r, s, k)
                    ws.x[gap] += 2.0 * entry * ws.ua[b, k]
                    data[column + k * 2 * m] -= entry
                    data[column + (half + k) * 2 * m + m] += entry
                    data[row + k] += at_end
                    data[row + m * size[b] + half + k] += at_end
                    if k < 3:
                        rate = mech.cu[r, s, 0] * lv.rate.w[r, k] + mech.cw[r, s, 0] * lv.rate.u[r, k]
                        data[column + (half + k) * 2 * m] += rate
                if half == 6:
                    torque = velocity_torque(mech, b, r, s, ws, lv)
                    for k in range(3):
                        data[column + (9 + k) * 2 * m] += torque[k]
                for t in range(2):
                    other = mech.row_body[r, t]
                    at = layout.pattern.diagonal[b] if s == t else layout.body_body[j, s]
                    if other != bodies and at >= 0:  # director_slopes turns the arms of side s together with all of X
                        momentum_rows = at + half * size[other]
                        general_stiffness(
                            mech, ws.rows_mid, ws.rows_end, r, s, t, 0.5 * ws.lam[r], False, data, momentum_rows,
                            half, size[other],
                        )  # fmt: skip


@inner
def velocity_rows(mech: Mechanism, layout: Layout, ws: Workspace, lv: Levels) -> None:
    """The rows G(q^1) V^1 = 0 and their slope for the position; lv.rate must hold V^1.

    delta (u.w(V) + w.u(V)) = du.w(V) + dw.u(V) + u.dw(V) + w.du(V), where du(V) = omega x (theta x ru).
    """
    bodies = mech.mass.size
    for j in range(mech.joint_body.shape[0]):
        first, m = mech.joint_row[j], mech.joint_row[j + 1] - mech.joint_row[j]
        for i in range(m):
            r = first + i
            u, w, U, W = row3(ws.rows_end.u, r), row3(ws.rows_end.w, r), row3(lv.rate.u, r), row3(lv.rate.w, r)
            ws.x[layout.pattern.start[bodies + j] + m + i] = dot3(u, W) + dot3(w, U)
            for s in range(2):
                b = mech.row_body[r, s]
                if b == bodies:
                    continue
                n = layout.pattern.size[b]
                row = layout.joint_body[j, s] + (m + i) * n
                for k in range(3):
                    ws.factors.data[row + k] += mech.cu[r, s, 0] * W[k] + mech.cw[r, s, 0] * U[k]
                if n == 12:  # u . (omega x (theta x r)) = theta . (r x (u x omega))
                    omega = (lv.tau[b, 3], lv.tau[b, 4], lv.tau[b, 5])
                    ru, rw = row33(ws.rows_end.ru, r, s), row33(ws.rows_end.rw, r, s)
                    by_u = cross3(ru, combine3(1.0, W, 1.0, cross3(w, omega)))
                    by_w = cross3(rw, combine3(1.0, U, 1.0, cross3(u, omega)))
                    for k in range(3):
                        ws.factors.data[row + 3 + k] += by_u[k] + by_w[k]


@stage
def linearise(
    mech: Mechanism, layout: Layout, h: float, q0: Array, wrench: Array, n: int, ws: Workspace, lv: Levels
) -> None:
    """Residual ws.x and Newton matrix at the present iterate."""
    move(mech, q0, ws.ua, ws.mid, ws.end)
    rigid_velocity(mech, ws.end, lv.tau, 1.0, lv.V1)
    mean_velocity(mech, ws.mid, lv)
    evaluate(mech, ws.mid, 1.0, ws.rows_mid)
    evaluate(mech, ws.end, 1.0, ws.rows_end)
    evaluate(mech, lv.Vm, 0.0, lv.rate)
    joint_forces(mech, ws, lv)
    add_momenta(mech, ws, lv)
    clear(ws.factors.data)
    body_rows(mech, layout, h, ws, lv)
    joint_rows(mech, layout, ws, lv)
    evaluate(mech, lv.V1, 0.0, lv.rate)
    velocity_rows(mech, layout, ws, lv)
    add_loads(mech, layout, wrench, n, ws.mid, ws.end, ws.ua, h * h, True, True, ws.x, ws.factors.data)


@stage
def solve(
    mech: Mechanism, layout: Layout, h: float, q0: Array, wrench: Array, n: int, newton: Newton, ws: Workspace,
    lv: Levels,
) -> tuple[int, int]:  # fmt: skip
    """Newton's method from the guess in ws.ua, lv.tau, ws.lam, lv.gam; returns (how it ended, iterations)."""
    previous, ended, iteration = 0.0, RUNNING, 0
    while ended == RUNNING and iteration < newton.iterations:
        iteration += 1
        linearise(mech, layout, h, q0, wrench, n, ws, lv)
        regular = factorise(layout.pattern, ws.factors.data, ws.factors.scale, PIVOT_FLOOR) >= 0
        substitute(layout.pattern, ws.factors.data, ws.x)
        size = update_size(mech, layout.pattern, ws.x, newton.length)
        damping = min(1.0, LARGEST_TURN / size) if size > 0.0 else 1.0
        apply_update(mech, layout, damping, ws, lv)
        if not regular:
            ended = SINGULAR
        elif not np.isfinite(size):
            ended = STALLED
        size /= motion(ws.ua, newton.length)
        if ended == RUNNING and damping == 1.0 and finished(size, previous, newton.tolerance, False):
            ended = turned(mech, ws.ua)
        previous = size
    if ended == RUNNING:
        ended = turned(mech, ws.ua) if previous < ACCEPTED else STALLED
    return ended, iteration


@inner
def apply_update(mech: Mechanism, layout: Layout, damping: float, ws: Workspace, lv: Levels) -> None:
    """Take `damping` times the update ws.x from all unknowns."""
    bodies, start = mech.mass.size, layout.pattern.start
    for i in range(ws.x.size):
        ws.x[i] *= damping
    for b in range(bodies):
        half = layout.pattern.size[b] // 2
        update_increment(ws.ua, b, ws.x, start[b], mech.rigid[b] == 1)
        for k in range(half):
            lv.tau[b, k] -= ws.x[start[b] + half + k]
    for j in range(mech.joint_body.shape[0]):
        first, m = mech.joint_row[j], mech.joint_row[j + 1] - mech.joint_row[j]
        for i in range(m):
            lv.gam[first + i] -= ws.x[start[bodies + j] + i]
            ws.lam[first + i] -= ws.x[start[bodies + j] + m + i]


@inner
def begin(mech: Mechanism, h: float, v0: Array, memory: Memory, ws: Workspace, lv: Levels) -> None:
    """Guess of velocities and multipliers that goes with the increments ws.ua, and V0 = h v0."""
    for b in range(mech.mass.size):
        for k in range(6):
            lv.tau[b, k] = 2.0 * ws.ua[b, k]
        for i in range(4):
            for k in range(3):
                lv.V0[b, i, k] = h * v0[b, i, k]
    for r in range(ws.lam.size):
        ws.lam[r] = h * h * memory.lam[r]
        lv.gam[r] = h * memory.gam[r]


@stage
def step(
    mech: Mechanism, layout: Layout, h: float, q0: Array, v0: Array, wrench: Array, n: int, newton: Newton,
    memory: Memory, ws: Workspace, lv: Levels,
) -> tuple[int, int]:  # fmt: skip
    """Step n from (q0, v0) to (ws.q1, ws.v1); tries the best extrapolation first, then plainer guesses."""
    position_feedback(mech, q0, ws.feedback)
    spent, ended, order = 0, STALLED, best_order(memory)
    while order >= 0 and ended != CONVERGED:
        guess(memory, order, ws.ua)
        begin(mech, h, v0, memory, ws, lv)
        ended, iterations = solve(mech, layout, h, q0, wrench, n, newton, ws, lv)
        spent += iterations
        order -= 1
    if ended == CONVERGED:
        move(mech, q0, ws.ua, ws.mid, ws.q1)
        rigid_velocity(mech, ws.q1, lv.tau, h, ws.v1)
        outputs(mech, ws.ua, ws.mid, h, ws.y)
        remember(memory, ws.ua, ws.lam, 1.0 / (h * h), lv.gam, 1.0 / h)
    return ended, spent
