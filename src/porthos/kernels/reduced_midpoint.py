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

from porthos.kernels.arrival import arrived, count_turns
from porthos.kernels.blocks import OFFSET, add_turning
from porthos.kernels.bodies import turn, turn_markers
from porthos.kernels.compile import frame, inner, loop, stage
from porthos.kernels.drives import aim_drives, drive_outputs, drive_rows
from porthos.kernels.elements import add_losses, set_grips
from porthos.kernels.elimination import Factors, clear, factorise, substitute
from porthos.kernels.feedback import STOPPED
from porthos.kernels.forces import add_loads, outputs
from porthos.kernels.gears import aim_wheels, gear_rows
from porthos.kernels.joints import add_compliance, condense, expand, joint_rows
from porthos.kernels.light import light_changes, loudness
from porthos.kernels.newton import (
    ACCEPTED,
    CONVERGED,
    EXACT_STEPS,
    FEEDBACK,
    LARGEST_TURN,
    NOISE,
    PATIENCE,
    ROUND_OFF,
    RUNNING,
    SINGULAR,
    SMALLEST_MOTION,
    STALLED,
    STUCK,
    Habit,
    Memory,
    Newton,
    best_order,
    finished,
    guess,
    remember,
    turned,
)
from porthos.kernels.pose import Pose, row_vectors
from porthos.kernels.record import Record, Sums, add_substep, begin_step, copy_state, write
from porthos.kernels.tables import ANGLE, COINCIDE, GENERAL, Layout, Mechanism
from porthos.kernels.vectors import dot3, row3
from porthos.notation import Array


class Workspace(NamedTuple):
    """Memory for one step; nothing is allocated inside a run."""

    z: Array  # (6 (N + 1) + R,) unknowns: (u, a) of each body and of the ground (0), scaled multipliers
    x: Array  # the same: residual, then update; and scratch of `substitute`
    mid: Pose
    end: Pose
    feedback: Array  # (R,) kappa g(q^0) of constraints, g(q^0) of elements
    lam: Array  # (R,) multipliers of the step
    y: Array  # (L+D, 6) outputs at the midpoint; of drives their force and power
    aim: Array  # (D, AIMS) what drives aim at
    grip: Array  # (F,) mu N of laws with friction, else 0
    give: Array  # (R, 4) slopes of light elements, and axes of their torques
    echo: Array  # as x: what light elements answer to an update


@stage
def move_body(mech: Mechanism, b: int, q0: Array, z: Array, mid: Pose, end: Pose) -> None:
    """Midpoint and end of body b, and its markers at the midpoint."""
    at = 6 * b
    for k in range(3):
        mid.q[b, 0, k] = q0[b, 0, k] + z[at + k]
        end.q[b, 0, k] = q0[b, 0, k] + 2.0 * z[at + k]
    a0, a1, a2 = z[at + 3], z[at + 4], z[at + 5]
    nu = 1.0 / (1.0 + a0 * a0 + a1 * a1 + a2 * a2)
    for i in range(1, 4):
        turn(a0, a1, a2, nu, q0, b, i, mid.q, end.q)
    turn_markers(mech, b, mid.q, mid.marker)


@stage
def momentum_rows(
    mech: Mechanism, layout: Layout, b: int, h: float, q0: Array, v0: Array, slopes: bool, z: Array, mid: Pose,
    end: Pose, x: Array, data: Array,
) -> None:  # fmt: skip
    """Set the momentum rows of body b without joints and loads and, if `slopes`, its matrix."""
    at, m = 6 * b, mech.body[b].mass
    corner, n = layout.body[b].corner & OFFSET, layout.body[b].stride & OFFSET
    for k in range(3):
        x[at + k] = m * (2.0 * z[at + k] - h * v0[b, 0, k] - 0.5 * h * h * mech.gravity[k])
    a0, a1, a2 = z[at + 3], z[at + 4], z[at + 5]
    r0, r1, r2 = 0.0, 0.0, 0.0
    for i in range(1, 4):  # sum_i E_i dbar_i x (2 a x dbar_i - h v_i^0), the increment without cancellation
        E = mech.body[b].euler[i - 1]
        d0, d1, d2 = mid.q[b, i, 0], mid.q[b, i, 1], mid.q[b, i, 2]
        w0, w1, w2 = h * v0[b, i, 0], h * v0[b, i, 1], h * v0[b, i, 2]
        y0 = 2.0 * (a1 * d2 - a2 * d1) - w0
        y1 = 2.0 * (a2 * d0 - a0 * d2) - w1
        y2 = 2.0 * (a0 * d1 - a1 * d0) - w2
        r0 += E * (d1 * y2 - d2 * y1)
        r1 += E * (d2 * y0 - d0 * y2)
        r2 += E * (d0 * y1 - d1 * y0)
        if slopes:  # (tr Z) I - Z, Z = sum_i E_i d_i^1 (d_i^0 + h/2 v_i^0)^T
            y0, y1, y2 = q0[b, i, 0] + 0.5 * w0, q0[b, i, 1] + 0.5 * w1, q0[b, i, 2] + 0.5 * w2
            e0, e1, e2 = end.q[b, i, 0], end.q[b, i, 1], end.q[b, i, 2]
            add_turning(data, corner, n, -E, y0, y1, y2, e0, e1, e2)
            spin = mech.body[b].spin[i - 1]
            if spin > 0.0:  # keeps the block of a rod without thickness regular; its residual is untouched
                for r in range(3):
                    for c in range(3):
                        data[corner + n * r + c] += spin * end.q[b, i, r] * end.q[b, i, c]
    x[at + 3], x[at + 4], x[at + 5] = r0, r1, r2
    if slopes and layout.body[b].kept:
        for k in range(3):
            data[layout.body[b].block + k * (n + 1)] += m + mech.body[b].ghost


class Change(NamedTuple):
    """An update of the unknowns, seen from afar. Displacements count in units of the length of the mechanism."""

    largest: float  # displacement or rotation of a body
    size: float  # root mean square over all bodies; NaN if there is one in it
    motion: float  # the same for the motion of the step, SMALLEST_MOTION at least
    turn: float  # largest displacement or rotation of a body in the step


@stage
def update_size(bodies: int, x: Array, unit: float) -> tuple[float, float]:
    """The largest displacement or rotation in the update x, and its root mean square; that keeps NaN, max() does not.

    Energy feels the mean square: what a few bodies still miss matters less in a large mechanism.
    """
    largest, total = 0.0, 0.0
    for i in range(0, 6 * bodies, 6):
        shift = unit * unit * (x[i] * x[i] + x[i + 1] * x[i + 1] + x[i + 2] * x[i + 2])
        turn = x[i + 3] * x[i + 3] + x[i + 4] * x[i + 4] + x[i + 5] * x[i + 5]
        largest = max(largest, shift, turn)
        total += shift + turn
    return np.sqrt(largest), np.sqrt(total / bodies)


@stage
def take_update(bodies: int, x: Array, z: Array, length: float) -> Change:
    """Take the update x = (delta phi^1, theta), dlam from the unknowns z, damped to LARGEST_TURN."""
    unit, furthest, total = 1.0 / length, 0.0, 0.0
    largest, size = update_size(bodies, x, unit)
    damping = min(1.0, LARGEST_TURN / largest) if largest > 0.0 else 1.0
    for i in range(0, 6 * bodies, 6):
        for k in range(i, i + 3):
            z[k] -= 0.5 * damping * x[k]
        a0, a1, a2 = z[i + 3], z[i + 4], z[i + 5]
        t0, t1, t2 = 0.5 * damping * x[i + 3], 0.5 * damping * x[i + 4], 0.5 * damping * x[i + 5]
        along = a0 * t0 + a1 * t1 + a2 * t2
        b0 = a0 - (t0 - (a1 * t2 - a2 * t1) + a0 * along)
        b1 = a1 - (t1 - (a2 * t0 - a0 * t2) + a1 * along)
        b2 = a2 - (t2 - (a0 * t1 - a1 * t0) + a2 * along)
        z[i + 3], z[i + 4], z[i + 5] = b0, b1, b2
        shift = unit * unit * (z[i] * z[i] + z[i + 1] * z[i + 1] + z[i + 2] * z[i + 2])
        turn = b0 * b0 + b1 * b1 + b2 * b2
        furthest = max(furthest, shift, turn)
        total += shift + turn
    for i in range(6 * (bodies + 1), z.size):
        z[i] -= damping * x[i]
    return Change(largest, size, max(SMALLEST_MOTION, 2.0 * np.sqrt(total / bodies)), 2.0 * np.sqrt(furthest))


@stage
def wants_matrix(layout: Layout, damped: bool, size: float, previous: float, slowest: float) -> bool:
    """Whether the updates still to come with the present matrix cost more than a new one.

    Their number follows from the ratio of the last two; the first one is compared with the motion of the step. A ratio
    below `slowest`, or that of light elements, is due to what every matrix leaves out.
    """
    slowest = max(slowest, layout.lightness)
    ratio = size / previous if previous > 0.0 else size
    if not damped and previous > 0.0 and ratio < slowest:
        return False
    if damped or (size > NOISE and not ratio < 0.5):
        return True
    return size > NOISE and np.log(ROUND_OFF / size) < layout.worth * np.log(ratio)


@frame
def make_factors(
    mech: Mechanism, layout: Layout, mid: Pose, end: Pose, iteration: int, habit: Habit, factors: Factors
) -> int:
    """Complete the matrix and factorise it; a singular block after the first iteration is a sign of divergence."""
    add_compliance(mech, layout, mid, end, factors.data)
    redundant = factorise(layout.pattern, factors.data, factors.scale, layout.floor)
    if redundant > 0:
        habit.redundant[0] = 1
    if redundant < 0:
        return SINGULAR if iteration == 1 else STALLED
    return RUNNING


@frame
def back_solve(mech: Mechanism, layout: Layout, mid: Pose, end: Pose, factors: Factors, x: Array) -> None:
    """Turn the residual x of all rows into the update of all unknowns."""
    condense(mech, layout, end, x)
    substitute(layout.pattern, factors.data, x)
    expand(mech, layout, mid, x)


@frame
def find_update(mech: Mechanism, layout: Layout, newton: Newton, first: bool, ws: Workspace, factors: Factors) -> float:
    """The update of all unknowns from the residual in ws.x; by which ratio the next one is smaller for light elements.

    It is refined by their echo if the next one would be needed for what they leave of this one; after the first there
    is another in any case.
    """
    back_solve(mech, layout, ws.mid, ws.end, factors, ws.x)
    if layout.lightness == 0.0:
        return 0.0
    bodies, unit, ratio = mech.body.size, 1.0 / newton.length, layout.lightness
    motion = max(SMALLEST_MOTION, 2.0 * update_size(bodies, ws.z, unit)[1])
    left = ratio * update_size(bodies, ws.x, unit)[1] / motion
    if not (ratio * left if first else left) > ROUND_OFF:
        return ratio
    light_changes(mech, layout, ws.mid, ws.give, ws.z, ws.x, ws.echo)
    back_solve(mech, layout, ws.mid, ws.end, factors, ws.echo)
    share = 1.0 / (1.0 + loudness(bodies, ws.x, ws.echo, unit))
    for i in range(layout.pattern.unknowns):
        ws.x[i] -= share * ws.echo[i]
    return ratio * ratio


@frame
def solve(
    mech: Mechanism, layout: Layout, h: float, q0: Array, v0: Array, wrench: Array, n: int, newton: Newton,
    iterations: int, slopes: bool, habit: Habit, ws: Workspace, factors: Factors,
) -> tuple[int, int, bool]:  # fmt: skip
    """Newton's method from the guess in ws.z; returns (how it ended, iterations, whether the matrix is still good).

    The matrix is kept as long as the updates shrink fast enough with it; the first one is made if `slopes`.
    """
    previous, ended, iteration = 0.0, RUNNING, 0
    while ended == RUNNING and iteration < iterations:
        iteration += 1
        if slopes:
            clear(factors.data)
        for b in range(mech.body.size):
            move_body(mech, b, q0, ws.z, ws.mid, ws.end)
            if slopes:
                turn_markers(mech, b, ws.end.q, ws.end.marker)
            momentum_rows(mech, layout, b, h, q0, v0, slopes, ws.z, ws.mid, ws.end, ws.x, factors.data)
        add_loads(mech, layout, wrench, n, ws.mid.q, ws.end.q, ws.z, 0.5 * h * h, slopes, ws.x, factors.data)
        set_grips(mech, h, ws.z, 0.0, ws.z, ws.grip)
        aim_wheels(mech, q0, False, ws.mid, ws.end)
        joint_rows(mech, layout, h, slopes, ws.mid, ws.end, ws.feedback, ws.grip, ws.give, ws.z, ws.x, factors.data)
        if slopes:
            ended = make_factors(mech, layout, ws.mid, ws.end, iteration, habit, factors)
        ratio = find_update(mech, layout, newton, iteration == 1, ws, factors)
        change = take_update(mech.body.size, ws.x, ws.z, newton.length)
        size, damped = change.size / change.motion, change.largest > LARGEST_TURN
        slowest = max(newton.slowest, ratio)
        if not np.isfinite(size):
            ended = STALLED if ended == RUNNING else ended
        if (
            ended == RUNNING
            and not damped
            and finished(size, previous, newton.tolerance, slopes and layout.complete, slowest, STUCK)
        ):
            ended = turned(mech, ws.z)
        slopes = wants_matrix(layout, damped, size, previous, newton.slowest)
        previous = size
    if ended == RUNNING:
        ended = turned(mech, ws.z) if previous < ACCEPTED and iteration == newton.iterations else STALLED
    return ended, iteration, not slopes


@stage
def begin(mech: Mechanism, wrench: Array, n: int, q0: Array, ws: Workspace) -> None:
    """feedback = kappa g(q^0), which removes round-off that would add up over many steps; g(q^0) of elements.

    Drives turn their markers before that, and then say how far they go in the step.
    """
    aim_drives(mech, wrench, n, ws.mid, ws.end, ws.aim)
    marker, feedback = ws.mid.marker, ws.feedback
    for b in range(mech.body.size):
        turn_markers(mech, b, q0, marker)
    for r in range(mech.row.size):
        row = mech.row[r]
        a, b, share = row.body[0], row.body[1], FEEDBACK if row.law < 0 else 1.0
        if row.kind == COINCIDE:
            i, j = row.marker[0, 1], row.marker[1, 1]
            for k in range(3):
                feedback[r + k] = share * (q0[b, 0, k] + marker[j, k] - q0[a, 0, k] + marker[i, k])
        elif row.kind == ANGLE:
            feedback[r] = share * (dot3(row3(marker, row.marker[0, 0]), row3(marker, row.marker[1, 1])) - row.c)
        elif row.kind == GENERAL:
            u, w = row_vectors(mech, q0, marker, r)
            feedback[r] = share * (dot3(u, w) - row.c)
    gear_rows(mech, q0, feedback)
    drive_rows(mech, ws.aim, feedback)
    count_turns(mech, feedback)


@stage
def accept(mech: Mechanism, h: float, z: Array, q: Array, v: Array, mid: Pose) -> None:
    """Make the end of the step the present state: v^1 = 2 vbar - v^0 with vbar = 2/h (u, a x dbar_i)."""
    for b in range(mech.body.size):
        a0, a1, a2 = z[6 * b + 3], z[6 * b + 4], z[6 * b + 5]
        nu = 1.0 / (1.0 + a0 * a0 + a1 * a1 + a2 * a2)
        for k in range(3):
            q[b, 0, k] += 2.0 * z[6 * b + k]
            v[b, 0, k] = 4.0 * z[6 * b + k] / h - v[b, 0, k]
        if mech.body[b].rigid:
            for i in range(1, 4):
                turn(a0, a1, a2, nu, q, b, i, mid.q, q)
                d0, d1, d2 = mid.q[b, i, 0], mid.q[b, i, 1], mid.q[b, i, 2]
                v[b, i, 0] = 4.0 * (a1 * d2 - a2 * d1) / h - v[b, i, 0]
                v[b, i, 1] = 4.0 * (a2 * d0 - a0 * d2) / h - v[b, i, 1]
                v[b, i, 2] = 4.0 * (a0 * d1 - a1 * d0) / h - v[b, i, 2]


@inner
def wants_first(layout: Layout, habit: Habit) -> bool:
    """Whether a step begins with a new matrix: always, unless it is costly and the one at hand is still good."""
    return layout.costly == 0 or habit.matrix[0] == 0


@inner
def patience(layout: Layout, surely: bool, newton: Newton) -> int:
    """Iterations after which an attempt is given up."""
    return newton.iterations if surely else min(PATIENCE * (1 + layout.costly), newton.iterations)


@inner
def next_attempt(habit: Habit, ended: int, good: bool, order: int, surely: bool) -> tuple[int, bool]:
    """The order of extrapolation and whether to take the exact matrix for the attempt after this one; -1: give up.

    Remembers whether the condensed matrix can be kept for the next step, or is no good for a while.
    """
    if not surely:
        habit.matrix[0] = 1 if ended == CONVERGED and good else 0
        if ended != CONVERGED:
            habit.exact[0] = EXACT_STEPS
        return order, True
    return order // 2 if order > 0 else -1, True


@loop
def march_midpoint(
    mech: Mechanism, condensed: Layout, exact: Layout, sizes: Array, wrench: Array, every: int, newton: Newton,
    memory: Memory, habit: Habit, ws: Workspace, sums: Sums, fast: Factors, sure: Factors, q: Array, v: Array,
    record: Record,
) -> tuple[int, int]:  # fmt: skip
    """Make wrench.shape[0] substeps of PH-MP from (q, v), which become the last state; record every `every`-th step.

    A step has the substeps `sizes`, plain PH-MP one. Returns (how it ended, steps made). The state before a failed step
    stays in (q, v). A substep tries the best extrapolation first, then plainer guesses; each with the condensed matrix,
    which may leave light elements out, then with the exact one.
    """
    substeps = sizes.size
    for n in range(wrench.shape[0]):
        step, s = n // substeps, n % substeps
        h = sizes[s]
        if s == 0 and not begin_step(mech, step, substeps, wrench, q, v, sums, record):
            return STOPPED, step
        begin(mech, wrench, n, q, ws)
        spent, ended, order, surely = 0, STALLED, best_order(memory, s), habit.exact[0] > 0
        while ended != CONVERGED and order >= 0:
            guess(memory, s, order, habit, mech.body.size, ws.z)
            layout, factors = (exact, sure) if surely else (condensed, fast)
            ended, iterations, good = solve(
                mech, layout, h, q, v, wrench, n, newton, patience(layout, surely, newton),
                surely or wants_first(layout, habit), habit, ws, factors,
            )  # fmt: skip
            spent += iterations
            order, surely = next_attempt(habit, ended, good, order, surely)
        if ended == CONVERGED and mech.law.size > 0:
            ended = arrived(mech, ws.z, ws.end.q, ws.feedback)
        if ended != CONVERGED:
            if s > 0:
                copy_state(sums.q, sums.v, q, v)
            return ended, step
        habit.exact[0] = max(0, habit.exact[0] - 1)
        accept(mech, h, ws.z, q, v, ws.mid)
        outputs(mech, ws.z, ws.mid.q, h, ws.y)
        remember(memory, s, ws.z, mech.body.size, ws.x)
        first = 6 * (mech.body.size + 1)
        for r in range(mech.row.size):
            ws.lam[r] = 2.0 / (h * h) * ws.z[first + r]
        drive_outputs(mech, h, ws.aim, ws.lam, ws.y)
        add_substep(mech, sizes, s, wrench, n, spent, ws.lam, ws.y, sums)
        add_losses(mech, h, q, ws.feedback, ws.lam, sums.loss)
        if s == substeps - 1:
            write(mech, step, every, sums, q, v, record)
    return CONVERGED, wrench.shape[0] // substeps
