"""One step of PH-MP-GGL, eq. (61) of 001 at the midpoint, reduced to 12 unknowns a body and two sets of multipliers.

Same Cayley kinematics as PH-MP; the velocity at the end is rigid, V^1 = h v^1 = P(q^1) tau. With V = h v,
Vbar = (V^0 + V^1)/2, gam' = h gam, lam' = h^2 lam and L = sum_j Vbar_j dbar^j (dbar^j: reciprocal directors),
  Y_i = M_i (q^1 - q^0 - Vbar)_i - (Gbar^T gam')_i,                                                  Pbar^T Y = 0
  X_i = M_i (V^1 - V^0)_i - h^2 f_i + (Gbar^T lam')_i + (G(Vbar)^T gam')_i + [L Y_i]_directors,      Pbar^T X = 0
  g(q^1) = (1 - kappa) g(q^0),   G(q^1) V^1 = 0.
L Y_i are the forces of the internal multipliers Gam of the velocity level: Y_i = sum_j Gam_ij dbar_j.
The Newton matrix neglects only terms that are O(h^3) beside those kept (those multiplied by Y or gam').
"""

from __future__ import annotations

import numpy as np

from porthos.kernels.bodies import inertia_about_axes, move, update_increment
from porthos.kernels.compile import kernel, stage
from porthos.kernels.elimination import add_block, factorise, substitute
from porthos.kernels.forces import add_loads, outputs
from porthos.kernels.joints import general_stiffness
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
from porthos.kernels.reduced_midpoint import Workspace, position_feedback, turned
from porthos.kernels.rows import cross, dot, evaluate_rows, reduced_row
from porthos.kernels.tables import Layout, Mechanism
from porthos.kernels.velocity_level import (
    add_momenta,
    apply,
    joint_forces,
    rigid_velocity,
    row_forces,
    velocity_gradient,
)
from porthos.notation import Array


@kernel
def body_rows(mech: Mechanism, layout: Layout, h: float, V0: Array, V1: Array, Y: Array, X: Array,
              ws: Workspace) -> None:  # fmt: skip
    """Rows Pbar^T Y (first) and Pbar^T X of all bodies with their slopes for (delta phi^1, theta) and delta tau."""
    N, Q, part = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
    for b in range(mech.mass.size):
        s, n, at = layout.pattern.start[b], layout.pattern.size[b], layout.pattern.diagonal[b]
        half, m, data = n // 2, mech.mass[b], ws.factors.data
        for k in range(3):
            ws.x[s + k] = Y[b, 0, k]
            ws.x[s + half + k] = X[b, 0, k] - h * h * m * mech.gravity[k]
            data[at + k * n + k] += m
            data[at + k * n + half + k] -= 0.5 * m
            data[at + (half + k) * n + half + k] += m
        if not mech.rigid[b]:
            continue
        for k in range(3):
            ws.x[s + 3 + k] = 0.0
            ws.x[s + 9 + k] = 0.0
        for i in range(1, 4):
            cross(ws.mid[b, i], Y[b, i], part)
            ws.x[s + 3 : s + 6] += part
            cross(ws.mid[b, i], X[b, i], part)
            ws.x[s + 9 : s + 12] += part
        mid, end = ws.mid[b, 1:], ws.end[b, 1:]
        inertia_about_axes(mech.euler[b], mid, end, N)
        turning_slope(mech.euler[b], mid, end, ws.tau[b, 3:], Q)
        add_block(data, at, n, 3, 3, N - 0.5 * Q)
        add_block(data, at, n, 3, 9, -0.5 * N)
        gradient_slopes(mech, layout, b, V0, V1, X, ws, N, Q)


@kernel
def turning_slope(euler: Array, mid: Array, end: Array, omega: Array, out: Array) -> None:
    """out = matrix of  sum E_i dbar_i x (omega x (theta x d_i^1)): the velocity at the end turns with the body."""
    x, y, z = np.zeros(3), np.empty(3), np.empty(3)
    out[:, :] = 0.0
    for c in range(3):
        x[c] = 1.0
        for i in range(3):
            cross(x, end[i], y)
            cross(omega, y, z)
            cross(mid[i], z, y)
            for k in range(3):
                out[k, c] += euler[i] * y[k]
        x[c] = 0.0


@kernel
def gradient_slopes(mech: Mechanism, layout: Layout, b: int, V0: Array, V1: Array, X: Array, ws: Workspace,
                    N: Array, Q: Array) -> None:  # fmt: skip
    """Slopes of the rotational part of Pbar^T X: N for tau, Q and the moving directors for theta, and those of L Y."""
    n, at, data = layout.pattern.size[b], layout.pattern.diagonal[b], ws.factors.data
    L = np.empty((3, 3))
    velocity_gradient(ws.mid[b], 0.5 * (V0[b] + V1[b]), L)
    by_theta, by_tau = Q.copy(), N.copy()
    x, turn, part, dY = np.zeros(3), np.empty(3), np.empty(3), np.empty(3)
    for c in range(3):
        x[c] = 1.0
        for i in range(1, 4):
            E = mech.euler[b, i - 1]
            cross(x, ws.end[b, i], turn)  # theta x d_i^1, and omega x d_i^1 as well
            cross(ws.tau[b, 3:], turn, dY)
            for k in range(3):
                dY[k] = E * (turn[k] - 0.5 * dY[k])
            apply(L, dY, part)
            cross(ws.mid[b, i], part, dY)
            cross(turn, X[b, i], part)
            for k in range(3):
                by_theta[k, c] += dY[k] + 0.5 * part[k]
                dY[k] = -0.5 * E * turn[k]
            apply(L, dY, part)
            cross(ws.mid[b, i], part, dY)
            for k in range(3):
                by_tau[k, c] += dY[k]
        x[c] = 0.0
    add_block(data, at, n, 9, 3, by_theta)
    add_block(data, at, n, 9, 9, by_tau)


@kernel
def velocity_level_column(mech: Mechanism, b: int, r: int, s: int, V0: Array, V1: Array, ws: Workspace,
                          out: Array) -> None:  # fmt: skip
    """out (6,): slope of Pbar^T X for gam'_r:  Pbar^T (G(Vbar)^T e_r - L Gbar^T e_r)."""
    f, part = np.empty(3), np.empty(3)
    row_forces(mech, r, s, ws.rows_rate.u[r], ws.rows_rate.w[r], 0, f)
    out[:3] = f
    out[3:] = 0.0
    if not mech.rigid[b]:
        return
    L = np.empty((3, 3))
    velocity_gradient(ws.mid[b], 0.5 * (V0[b] + V1[b]), L)
    for i in range(1, 4):
        row_forces(mech, r, s, ws.rows_mid.u[r], ws.rows_mid.w[r], i, part)
        apply(L, part, f)
        row_forces(mech, r, s, ws.rows_rate.u[r], ws.rows_rate.w[r], i, part)
        part -= f
        cross(ws.mid[b, i], part, f)
        out[3:] += f


@kernel
def velocity_row_slope(mech: Mechanism, r: int, s: int, tau: Array, ws: Workspace, out: Array) -> None:
    """out (6,): slope of G(q^1) V^1 for (delta phi^1, theta) of side s; rows_rate must hold V^1.

    delta (u.w(V) + w.u(V)) = du.w(V) + dw.u(V) + u.dw(V) + w.du(V), where du(V) = omega x (theta x ru).
    """
    u, w = ws.rows_end.u[r], ws.rows_end.w[r]
    U, W = ws.rows_rate.u[r], ws.rows_rate.w[r]
    ru, rw = ws.rows_end.ru[r, s], ws.rows_end.rw[r, s]
    a, b = mech.cu[r, s, 0], mech.cw[r, s, 0]
    x, y = np.empty(3), np.empty(3)
    for k in range(3):
        out[k] = a * W[k] + b * U[k]
    cross(ru, W, x)
    cross(rw, U, y)
    for k in range(3):
        out[3 + k] = x[k] + y[k]
    cross(u, tau, x)  # u . (omega x (theta x r)) = theta . (r x (u x omega))
    cross(rw, x, y)
    for k in range(3):
        out[3 + k] += y[k]
    cross(w, tau, x)
    cross(ru, x, y)
    for k in range(3):
        out[3 + k] += y[k]


@kernel
def joint_rows(mech: Mechanism, layout: Layout, V0: Array, V1: Array, ws: Workspace) -> None:
    """Constraint rows on both levels and the slopes of the joint forces. Unknowns of a joint: (gam', lam')."""
    data, start, size = ws.factors.data, layout.pattern.start, layout.pattern.size
    mid, end, rate = np.empty(6), np.empty(6), np.empty(6)
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
                n = size[b]
                half = n // 2
                reduced_row(mech, ws.rows_mid, r, s, mid)
                reduced_row(mech, ws.rows_end, r, s, end)
                velocity_level_column(mech, b, r, s, V0, V1, ws, rate)
                column, row = layout.body_joint[j, s], layout.joint_body[j, s]
                for k in range(half):
                    gap += 2.0 * mid[k] * ws.ua[b, k]
                    data[column + k * 2 * m + i] -= mid[k]
                    data[column + (half + k) * 2 * m + i] += rate[k]
                    data[column + (half + k) * 2 * m + m + i] += mid[k]
                    data[row + i * n + k] += end[k]
                    data[row + (m + i) * n + half + k] += end[k]
                for t in range(2):
                    other = mech.row_body[r, t]
                    at = layout.pattern.diagonal[b] if s == t else layout.body_body[j, s]
                    if other == bodies or at < 0:
                        continue
                    # gradient_slopes turns the arms of side s together with all of X
                    start_of_x, wide = at + half * size[other], size[other]
                    general_stiffness(
                        mech, ws.rows_mid, ws.rows_end, r, s, t, 0.5 * ws.lam[r], False, data, start_of_x, half, wide
                    )
            ws.x[start[bodies + j] + i] = gap + ws.feedback[r]


@kernel
def velocity_rows(mech: Mechanism, layout: Layout, V1: Array, ws: Workspace) -> None:
    """The rows G(q^1) V^1 = 0 and their slope for the position."""
    slope = np.empty(6)
    evaluate_rows(mech, V1, 0.0, ws.rows_rate)
    bodies = mech.mass.size
    for j in range(mech.joint_body.shape[0]):
        first, m = mech.joint_row[j], mech.joint_row[j + 1] - mech.joint_row[j]
        for i in range(m):
            r = first + i
            at = layout.pattern.start[bodies + j] + m + i
            ws.x[at] = dot(ws.rows_end.u[r], ws.rows_rate.w[r]) + dot(ws.rows_end.w[r], ws.rows_rate.u[r])
            for s in range(2):
                b = mech.row_body[r, s]
                if b == bodies:
                    continue
                n = layout.pattern.size[b]
                velocity_row_slope(mech, r, s, ws.tau[b, 3:], ws, slope)
                for k in range(n // 2):
                    ws.factors.data[layout.joint_body[j, s] + (m + i) * n + k] += slope[k]


@stage
def linearise(
    mech: Mechanism, layout: Layout, h: float, q0: Array, V0: Array, wrench: Array, n: int, ws: Workspace, V1: Array,
    Y: Array, X: Array,
) -> None:  # fmt: skip
    """Residual ws.x and Newton matrix at the present iterate."""
    move(mech, q0, ws.ua, ws.mid, ws.end)
    rigid_velocity(mech, ws.end, ws.tau, V1)
    evaluate_rows(mech, ws.mid, 1.0, ws.rows_mid)
    evaluate_rows(mech, ws.end, 1.0, ws.rows_end)
    evaluate_rows(mech, 0.5 * (V0 + V1), 0.0, ws.rows_rate)
    joint_forces(mech, ws, Y, X)
    add_momenta(mech, V0, ws, V1, Y, X)
    ws.factors.data[:] = 0.0
    body_rows(mech, layout, h, V0, V1, Y, X, ws)
    joint_rows(mech, layout, V0, V1, ws)
    velocity_rows(mech, layout, V1, ws)
    add_loads(mech, layout, wrench, n, ws.mid, ws.end, ws.ua, h * h, True, True, ws.x, ws.factors.data)


@stage
def solve(
    mech: Mechanism,
    layout: Layout,
    h: float,
    q0: Array,
    v0: Array,
    wrench: Array,
    n: int,
    newton: Newton,
    ws: Workspace,
) -> tuple[int, int]:
    """Newton's method from the guess in ws.ua, ws.tau, ws.lam, ws.gam; returns (how it ended, iterations)."""
    V0, V1 = h * v0, np.zeros_like(v0)
    Y, X = np.empty_like(v0), np.empty_like(v0)
    previous, ended, iteration = 0.0, RUNNING, 0
    while ended == RUNNING and iteration < newton.iterations:
        iteration += 1
        linearise(mech, layout, h, q0, V0, wrench, n, ws, V1, Y, X)
        regular = factorise(layout.pattern, ws.factors.data, ws.factors.scale, PIVOT_FLOOR) >= 0
        substitute(layout.pattern, ws.factors.data, ws.x)
        size = update_size(mech, layout.pattern, ws.x, newton.length)
        damping = min(1.0, LARGEST_TURN / size) if size > 0.0 else 1.0
        apply_update(mech, layout, damping, ws)
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


@stage
def apply_update(mech: Mechanism, layout: Layout, damping: float, ws: Workspace) -> None:
    """Take `damping` times the update ws.x from all unknowns."""
    bodies, start = mech.mass.size, layout.pattern.start
    for i in range(ws.x.size):
        ws.x[i] *= damping
    for b in range(bodies):
        half = layout.pattern.size[b] // 2
        update_increment(ws.ua, b, ws.x, start[b], mech.rigid[b] == 1)
        for k in range(half):
            ws.tau[b, k] -= ws.x[start[b] + half + k]
    for j in range(mech.joint_body.shape[0]):
        first, m = mech.joint_row[j], mech.joint_row[j + 1] - mech.joint_row[j]
        for i in range(m):
            ws.gam[first + i] -= ws.x[start[bodies + j] + i]
            ws.lam[first + i] -= ws.x[start[bodies + j] + m + i]


@stage
def step(
    mech: Mechanism, layout: Layout, h: float, q0: Array, v0: Array, wrench: Array, n: int, newton: Newton,
    memory: Memory, ws: Workspace,
) -> tuple[int, int]:  # fmt: skip
    """Step n from (q0, v0) to (ws.q1, ws.v1); tries the best extrapolation first, then plainer guesses."""
    position_feedback(mech, q0, ws.feedback)
    spent, ended, order = 0, STALLED, best_order(memory)
    while order >= 0 and ended != CONVERGED:
        guess(memory, order, ws.ua)
        for b in range(mech.mass.size):
            for k in range(6):
                ws.tau[b, k] = 2.0 * ws.ua[b, k]
        for r in range(ws.lam.size):
            ws.lam[r] = h * h * memory.lam[r]
            ws.gam[r] = h * memory.gam[r]
        ended, iterations = solve(mech, layout, h, q0, v0, wrench, n, newton, ws)
        spent += iterations
        order -= 1
    if ended == CONVERGED:
        move(mech, q0, ws.ua, ws.mid, ws.end)
        ws.q1[: mech.mass.size] = ws.end[: mech.mass.size]
        rigid_velocity(mech, ws.end, ws.tau / h, ws.v1)
        outputs(mech, ws.ua, ws.mid, h, ws.y)
        remember(memory, ws.ua, ws.lam, 1.0 / (h * h), ws.gam, 1.0 / h)
    return ended, spent
