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

from porthos.kernels.bodies import move, update_increment
from porthos.kernels.compile import inner, stage
from porthos.kernels.elimination import Factors, factorise, substitute
from porthos.kernels.forces import add_loads, outputs
from porthos.kernels.joints import add_turning, evaluate_arms, joint_rows
from porthos.kernels.newton import (
    ACCEPTED,
    CONVERGED,
    FEEDBACK,
    KEEP_MATRIX,
    LARGEST_CAYLEY,
    LARGEST_TURN,
    PIVOT_FLOOR,
    RUNNING,
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
from porthos.kernels.tables import Layout, Mechanism, RowVectors
from porthos.notation import Array


class Workspace(NamedTuple):
    """Memory for one step; nothing is allocated inside a run."""

    ua: Array  # (N, 6) unknowns (u, a)
    lam: Array  # (R,) scaled multipliers
    mid: Array  # (N+1, 4, 3)
    end: Array  # (N+1, 4, 3)
    q1: Array  # (N+1, 4, 3) state at the end of the step
    v1: Array  # (N+1, 4, 3)
    rows_mid: RowVectors
    rows_end: RowVectors
    feedback: Array  # (R,) kappa g(q^0)
    x: Array  # (unknowns,) residual, then update
    factors: Factors
    y: Array  # (L, 6) outputs at the midpoint


@inner
def body_rows(
    mech: Mechanism, layout: Layout, h: float, v0: Array, q0: Array, slopes: bool, mid: Array, end: Array, ua: Array,
    x: Array, data: Array,
) -> None:  # fmt: skip
    """Set the momentum rows of all bodies without joints and loads and, if `slopes`, add their matrix."""
    for b in range(mech.mass.size):
        s, n, at = layout.pattern.start[b], layout.pattern.size[b], layout.pattern.diagonal[b]
        m = mech.mass[b]
        for k in range(3):
            x[s + k] = m * (2.0 * ua[b, k] - h * v0[b, 0, k] - 0.5 * h * h * mech.gravity[k])
            if slopes:
                data[at + k * n + k] += m
        if not mech.rigid[b]:
            continue
        a0, a1, a2 = ua[b, 3], ua[b, 4], ua[b, 5]
        r0, r1, r2 = 0.0, 0.0, 0.0
        for i in range(1, 4):  # sum_i E_i dbar_i x (2 a x dbar_i - h v_i^0), the increment without cancellation
            E = mech.euler[b, i - 1]
            d0, d1, d2 = mid[b, i, 0], mid[b, i, 1], mid[b, i, 2]
            w0, w1, w2 = v0[b, i, 0], v0[b, i, 1], v0[b, i, 2]
            y0 = 2.0 * (a1 * d2 - a2 * d1) - h * w0
            y1 = 2.0 * (a2 * d0 - a0 * d2) - h * w1
            y2 = 2.0 * (a0 * d1 - a1 * d0) - h * w2
            r0 += E * (d1 * y2 - d2 * y1)
            r1 += E * (d2 * y0 - d0 * y2)
            r2 += E * (d0 * y1 - d1 * y0)
            if slopes:  # (tr Z) I - Z, Z = sum_i E_i d_i^1 (d_i^0 + h/2 v_i^0)^T
                y0, y1, y2 = q0[b, i, 0] + 0.5 * h * w0, q0[b, i, 1] + 0.5 * h * w1, q0[b, i, 2] + 0.5 * h * w2
                add_turning(data, at + 21, 6, -E, y0, y1, y2, end[b, i, 0], end[b, i, 1], end[b, i, 2])
                spin = mech.spin[b, i - 1]
                if spin > 0.0:  # keeps the block of a rod without thickness regular; its residual is untouched
                    for r in range(3):
                        for c in range(3):
                            data[at + 21 + 6 * r + c] += spin * end[b, i, r] * end[b, i, c]
        x[s + 3], x[s + 4], x[s + 5] = r0, r1, r2


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
    """Newton's method from the guess in ws.ua and ws.lam; returns (how it ended, iterations).

    The matrix is kept as long as the updates shrink fast enough with it.
    """
    bodies = mech.mass.size
    previous, slopes, ended, iteration = 0.0, True, RUNNING, 0
    while ended == RUNNING and iteration < newton.iterations:
        iteration += 1
        move(mech, q0, ws.ua, ws.mid, ws.end)
        evaluate_arms(mech, layout, ws.mid, ws.rows_mid)
        if slopes:
            evaluate_arms(mech, layout, ws.end, ws.rows_end)
            clear(ws.factors.data)
        body_rows(mech, layout, h, v0, q0, slopes, ws.mid, ws.end, ws.ua, ws.x, ws.factors.data)
        add_loads(mech, layout, wrench, n, ws.mid, ws.end, ws.ua, 0.5 * h * h, False, slopes, ws.x, ws.factors.data)
        joint_rows(mech, layout, slopes, ws.rows_mid, ws.rows_end, ws.feedback, ws.ua, ws.lam, ws.x, ws.factors.data)
        if slopes:
            regular = factorise(layout.pattern, ws.factors.data, ws.factors.scale, PIVOT_FLOOR) >= 0
            if not regular:
                ended = SINGULAR
        substitute(layout.pattern, ws.factors.data, ws.x)
        size = update_size(mech, layout.pattern, ws.x, newton.length)
        damping = min(1.0, LARGEST_TURN / size) if size > 0.0 else 1.0
        if damping < 1.0:
            for i in range(ws.x.size):
                ws.x[i] *= damping
        for b in range(bodies):
            update_increment(ws.ua, b, ws.x, layout.pattern.start[b], mech.rigid[b] == 1)
        first = layout.pattern.start[bodies]
        for r in range(mech.c.size):
            ws.lam[r] -= ws.x[first + r]
        if not np.isfinite(size):
            ended = STALLED if ended == RUNNING else ended
        size /= motion(ws.ua, newton.length)
        if ended == RUNNING and damping == 1.0 and finished(size, previous, newton.tolerance, slopes):
            ended = turned(mech, ws.ua)
        slopes = damping < 1.0 or (size / previous if previous > 0.0 else size) > KEEP_MATRIX
        previous = size
    if ended == RUNNING:
        ended = turned(mech, ws.ua) if previous < ACCEPTED else STALLED
    return ended, iteration


@inner
def turned(mech: Mechanism, ua: Array) -> int:
    """CONVERGED, unless a body turned so far that the Cayley map is close to its pole."""
    limit = LARGEST_CAYLEY * LARGEST_CAYLEY
    for b in range(mech.mass.size):
        if ua[b, 3] * ua[b, 3] + ua[b, 4] * ua[b, 4] + ua[b, 5] * ua[b, 5] > limit:
            return TURNED_TOO_FAR
    return CONVERGED


@inner
def clear(a: Array) -> None:
    """Set a vector to zero."""
    for i in range(a.size):
        a[i] = 0.0


@inner
def position_feedback(mech: Mechanism, q0: Array, feedback: Array) -> None:
    """feedback = kappa g(q^0): removes round-off that would add up over many steps."""
    cu, cw = mech.cu, mech.cw
    for r in range(mech.c.size):
        a, b = mech.row_body[r, 0], mech.row_body[r, 1]
        g = -mech.c[r]
        for k in range(3):
            u, w = mech.u0[r, k], mech.w0[r, k]
            for i in range(4):
                u += cu[r, 0, i] * q0[a, i, k] + cu[r, 1, i] * q0[b, i, k]
                w += cw[r, 0, i] * q0[a, i, k] + cw[r, 1, i] * q0[b, i, k]
            g += u * w
        feedback[r] = FEEDBACK * g


@inner
def end_velocity(mech: Mechanism, h: float, v0: Array, ua: Array, mid: Array, end: Array, q1: Array, v1: Array) -> None:
    """v^1 = 2 vbar - v^0 with vbar = 2/h (u, a x dbar_i)."""
    for b in range(mech.mass.size):
        for k in range(3):
            q1[b, 0, k] = end[b, 0, k]
            v1[b, 0, k] = 4.0 * ua[b, k] / h - v0[b, 0, k]
        if mech.rigid[b]:
            a0, a1, a2 = ua[b, 3], ua[b, 4], ua[b, 5]
            for i in range(1, 4):
                d0, d1, d2 = mid[b, i, 0], mid[b, i, 1], mid[b, i, 2]
                v1[b, i, 0] = 4.0 * (a1 * d2 - a2 * d1) / h - v0[b, i, 0]
                v1[b, i, 1] = 4.0 * (a2 * d0 - a0 * d2) / h - v0[b, i, 1]
                v1[b, i, 2] = 4.0 * (a0 * d1 - a1 * d0) / h - v0[b, i, 2]
                for k in range(3):
                    q1[b, i, k] = end[b, i, k]


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
        for r in range(ws.lam.size):
            ws.lam[r] = 0.5 * h * h * memory.lam[r]
        ended, iterations = solve(mech, layout, h, q0, v0, wrench, n, newton, ws)
        spent += iterations
        order -= 1
    if ended == CONVERGED:
        move(mech, q0, ws.ua, ws.mid, ws.end)
        end_velocity(mech, h, v0, ws.ua, ws.mid, ws.end, ws.q1, ws.v1)
        outputs(mech, ws.ua, ws.mid, h, ws.y)
        remember(memory, ws.ua, ws.lam, 2.0 / (h * h), ws.lam, 0.0)
    return ended, spent
