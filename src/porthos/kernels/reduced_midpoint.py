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
from porthos.kernels.awake import ASLEEP, SLIGHT, falls_asleep, wake
from porthos.kernels.blocks import OFFSET, add_turning
from porthos.kernels.bodies import turn, turn_markers
from porthos.kernels.compile import act, frame, inner, loop, stage
from porthos.kernels.crew import GOES, OPEN, Crew, Portion, meet, tell, total
from porthos.kernels.drives import BEGIN, END, aim_drives, drive_outputs, drive_rows
from porthos.kernels.elements import add_losses, set_grips
from porthos.kernels.elimination import Factors
from porthos.kernels.feedback import STOPPED
from porthos.kernels.forces import add_loads, outputs
from porthos.kernels.gears import aim_wheels, gear_rows
from porthos.kernels.guess import PLAINEST, Memory, choose, guess_all, judge_guesses, keep_all, note_errors
from porthos.kernels.joints import joint_rows
from porthos.kernels.light import line
from porthos.kernels.newton import (
    ACCEPTED,
    CONVERGED,
    EXACT_STEPS,
    FEEDBACK,
    LARGEST_TURN,
    OPENED,
    OPENS,
    OTHER,
    PATIENCE,
    RUNNING,
    STALLED,
    STUCK,
    Habit,
    Newton,
    enough,
    finished,
    note_left,
    turned,
)
from porthos.kernels.pose import Pose, in_shape, row_vectors, vectors_of_bodies
from porthos.kernels.record import Record, Sums, add_substep, begin_step, copy_state, write
from porthos.kernels.solution import eliminate, find_update, judge, open_matrix, reduce
from porthos.kernels.tables import ANGLE, COINCIDE, GENERAL, LENGTH, Layout, Mechanism
from porthos.kernels.update import take_update, wants_matrix
from porthos.kernels.vectors import dot3, row3
from porthos.kernels.workspace import Workspace
from porthos.notation import Array


class Place(NamedTuple):
    """Where a march is: in the n-th substep, after some iterations; 0: it has not begun yet."""

    n: int
    spent: int
    plainness: int  # how plain the next guess is


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


@frame
def sweep(
    crew: Crew, mech: Mechanism, layout: Layout, h: float, q0: Array, v0: Array, wrench: Array, n: int, slopes: bool,
    everywhere: bool, iteration: int, habit: Habit, ws: Workspace, factors: Factors,
) -> int:  # fmt: skip
    """Set all rows of ws.x and reduce them, with a new matrix if `slopes`; says whether to go on.

    If not `everywhere`, the rows of bodies that sleep are zero.
    """
    portion, redundant, broken = layout.portion, 0, False
    for leg in range(portion.leg.size):
        if slopes and leg == 0:
            open_matrix(crew, portion, factors)
        for i in range(portion.leg[leg].body[0] & OFFSET, portion.leg[leg].body[1] & OFFSET):
            b = portion.body[i] & OFFSET
            if not everywhere and ws.awake[b] == ASLEEP:
                continue
            move_body(mech, b, q0, ws.z, ws.mid, ws.end)
            if slopes:
                turn_markers(mech, b, ws.end.q, ws.end.marker)
            momentum_rows(mech, layout, b, h, q0, v0, slopes, ws.z, ws.mid, ws.end, ws.x, factors.data)
        if leg == 0:
            meet(crew)
            if crew.me == 0:
                set_grips(mech, h, ws.z, 0.0, ws.z, ws.grip)
                aim_wheels(mech, q0, False, ws.mid, ws.end)
        add_loads(mech, layout, leg, wrench, n, ws.mid.q, ws.end.q, ws.z, 0.5 * h * h, slopes, ws.x, factors.data)
        joint_rows(
            mech, layout, leg, h, slopes, everywhere, ws.awake, ws.mid, ws.end, ws.feedback, ws.grip, ws.give, ws.z,
            ws.x, factors.data,
        )  # fmt: skip
        if leg == 0:
            meet(crew)
        if slopes:
            more, singular = eliminate(crew, mech, layout, leg, ws.mid, ws.end, factors)
            redundant, broken = redundant + more, broken or singular
        reduce(crew, mech, layout, leg, everywhere, ws.awake, ws.end, factors, ws.x)
    return judge(crew, redundant, broken, iteration, habit) if slopes else RUNNING


@frame
def solve(
    crew: Crew, mech: Mechanism, layout: Layout, h: float, q0: Array, v0: Array, wrench: Array, n: int, newton: Newton,
    iterations: int, slopes: bool, habit: Habit, ws: Workspace, s: int, factors: Factors,
) -> tuple[int, int, bool]:  # fmt: skip
    """Newton's method from the guess in ws.z; returns (how it ended, iterations, whether the matrix is still good).

    The matrix is kept as long as the updates shrink fast enough with it; the first one is made if `slopes`.
    """
    previous, first, second, ended, iteration, fresh, hoped = 0.0, 0.0, 0.0, RUNNING, 0, slopes, False
    everywhere = True
    while ended == RUNNING and iteration < iterations:
        iteration += 1
        ended = sweep(crew, mech, layout, h, q0, v0, wrench, n, slopes, everywhere, iteration, habit, ws, factors)
        single = fresh and iteration == 1
        ratio, single = find_update(crew, mech, layout, newton, iteration == 1, single, habit, s, ws, factors)
        change = take_update(crew, mech.body.size, layout.portion, ws.x, ws.z, newton.length)
        size, damped = change.size / change.motion, change.largest > LARGEST_TURN
        slowest = max(newton.slowest, ratio)
        if not np.isfinite(size):
            ended = STALLED if ended == RUNNING else ended
        first, second = size if iteration == 1 else first, size if iteration == 2 else second
        last = finished(size, previous, newton, slopes and layout.complete, slowest, STUCK)
        last = last or (single and enough(size, newton, habit, s))
        hoped = single if iteration == 1 else hoped
        if ended == RUNNING and last and not damped:
            ended = turned(mech, ws.z)
        made, slopes = slopes, wants_matrix(layout, damped, size, previous, newton)
        everywhere = slopes or not fresh or layout.crowded == 0 or habit.redundant[0] > 0
        if ended == RUNNING and not everywhere:
            anew = falls_asleep(made, size, first, newton.floor)
            wake(crew, mech, layout, anew, ws.x, SLIGHT * newton.floor * change.motion, ws.awake)
        previous = size
    if ended == RUNNING:
        ended = turned(mech, ws.z) if previous < ACCEPTED and iteration == newton.iterations else STALLED
    if ended == CONVERGED and fresh:
        note_left(habit, s, hoped, first, second)
    return ended, iteration, not slopes


@stage
def begin_rows(mech: Mechanism, j: int, q0: Array, marker: Array, feedback: Array) -> None:
    """kappa g(q^0) of the rows of a joint, g(q^0) of those of an element."""
    for r in range(mech.joint[j].first & OFFSET, mech.joint[j].last & OFFSET):
        row = mech.row[r]
        a, b, share = row.body[0], row.body[1], FEEDBACK if row.law < 0 else 1.0
        if row.kind == COINCIDE:
            i, k = row.marker[0, 1], row.marker[1, 1]
            for c in range(3):
                feedback[r + c] = share * (q0[b, 0, c] + marker[k, c] - q0[a, 0, c] + marker[i, c])
        elif row.kind == ANGLE:
            feedback[r] = share * (dot3(row3(marker, row.marker[0, 0]), row3(marker, row.marker[1, 1])) - row.c)
        elif row.law >= 0 and mech.law[row.law].measure == LENGTH:
            w = line(mech, r, q0, marker)[0]
            feedback[r] = 0.5 * dot3(w, w)
        elif row.kind == GENERAL:
            u, w = row_vectors(mech, q0, marker, r)
            feedback[r] = share * (dot3(u, w) - row.c)


@stage
def begin(crew: Crew, mech: Mechanism, portion: Portion, wrench: Array, n: int, q0: Array, ws: Workspace) -> None:
    """feedback = kappa g(q^0), which removes round-off that would add up over many steps; g(q^0) of elements.

    Drives turn their markers before that, and then say how far they go in the step.
    """
    if mech.drive.size > 0:
        if crew.me == 0:
            aim_drives(mech, wrench, n, ws.mid, ws.end, ws.aim)
        meet(crew)
    for i in range(portion.body.size):
        turn_markers(mech, portion.body[i] & OFFSET, q0, ws.mid.marker)
    meet(crew)
    for i in range(portion.joint.size):
        begin_rows(mech, portion.joint[i] & OFFSET, q0, ws.mid.marker, ws.feedback)
    meet(crew)
    if crew.me == 0:
        gear_rows(mech, q0, ws.feedback)
        drive_rows(mech, ws.aim, ws.feedback)
        count_turns(mech, ws.feedback)


@stage
def opening(mech: Mechanism, length: float, surely: bool, ws: Workspace) -> bool:
    """Whether a row of a joint is further from zero in ws.echo than in ws.feedback, both times kappa, by too much."""
    most, start = 0.0, ws.second
    for i in range(6 * mech.body.size):
        most = max(most, abs(ws.z[i]) / (length if i % 6 < 3 else 1.0))
    limit = max(OPENS[1], OPENED * most) if surely else OPENS[0]
    for r in range(mech.row.size):
        start[r] = ws.feedback[r]
    for d in range(mech.drive.size):  # of their rows the gap itself, without what they move
        r = mech.drive[d].row
        ws.echo[r] -= FEEDBACK * ws.aim[d, END]
        start[r] += ws.aim[d, END] - ws.aim[d, BEGIN]
    for r in range(mech.row.size):
        unit = 1.0 if mech.row[r].kind == ANGLE else max(length, length * length)
        if mech.row[r].law < 0 and not abs(ws.echo[r]) - abs(start[r]) <= FEEDBACK * limit * unit:
            return True
    return False


@inner
def stay_closed(
    crew: Crew, mech: Mechanism, portion: Portion, surely: bool, length: float, q0: Array, ws: Workspace
) -> int:
    """CONVERGED, but STALLED if rows that were taken for repetitions of others opened. All threads meet.

    The pivot of a row can be small for another reason: a light body beside heavy ones.
    """
    for i in range(portion.body.size):
        b = portion.body[i] & OFFSET
        move_body(mech, b, q0, ws.z, ws.mid, ws.end)
        turn_markers(mech, b, ws.end.q, ws.end.marker)
    meet(crew)
    for i in range(portion.joint.size):
        begin_rows(mech, portion.joint[i] & OFFSET, ws.end.q, ws.end.marker, ws.echo)
    meet(crew)
    if crew.me == 0:
        gear_rows(mech, ws.end.q, ws.echo)
        tell(crew, OPEN, 1.0 if opening(mech, length, surely, ws) else 0.0)
    meet(crew)
    return STALLED if total(crew, OPEN) > 0.0 else CONVERGED


@stage
def accept(mech: Mechanism, portion: Portion, h: float, z: Array, q: Array, v: Array, mid: Pose) -> None:
    """Make the end of the step the present state: v^1 = 2 vbar - v^0 with vbar = 2/h (u, a x dbar_i)."""
    for n in range(portion.body.size):
        b = portion.body[n] & OFFSET
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


@stage
def begin_together(
    crew: Crew, mech: Mechanism, step: int, substeps: int, wrench: Array, q: Array, v: Array, sums: Sums, record: Record
) -> bool:
    """`begin_step` of the leader; all threads know what came of it."""
    if crew.me == 0:
        goes = begin_step(mech, step, substeps, wrench, q, v, sums, record)
        tell(crew, GOES, 1.0 if goes else 0.0)
    meet(crew)
    return total(crew, GOES) > 0.0


@stage
def wants_first(layout: Layout, habit: Habit) -> bool:
    """Whether a step begins with a new matrix: always, unless it is costly and the one at hand is still good."""
    return layout.costly == 0 or habit.matrix[0] == 0


@stage
def patience(usual: int, layout: Layout, surely: bool, newton: Newton) -> int:
    """Iterations after which an attempt is given up, twice the usual ones where a matrix is costly."""
    return newton.iterations if surely else min(usual * (1 + layout.costly), newton.iterations)


@stage
def note_attempt(habit: Habit, ended: int, good: bool, surely: bool) -> None:
    """Remember whether the condensed matrix can be kept for the next step, or is no good for a while."""
    if not surely:
        habit.matrix[0] = 1 if ended == CONVERGED and good else 0
        if ended != CONVERGED:
            habit.exact[0] = EXACT_STEPS


@stage
def known(mech: Mechanism, q: Array, v: Array, ws: Workspace) -> bool:
    """Whether all that belongs to a configuration is in shape."""
    shaped = vectors_of_bodies(q) and vectors_of_bodies(v) and mech.marker.shape[1] == 3
    return shaped and in_shape(ws.mid) and in_shape(ws.end)


@act
def march_on(
    crew: Crew, mech: Mechanism, layout: Layout, surely: bool, at: Place, sizes: Array, wrench: Array, every: int,
    newton: Newton, memory: Memory, habit: Habit, ws: Workspace, sums: Sums, factors: Factors, q: Array, v: Array,
    record: Record,
) -> tuple[int, Place]:  # fmt: skip
    """March on from a place with one of the two matrices; returns how it ended, OTHER for the other one, and where."""
    substeps, portion, first = sizes.size, layout.portion, 6 * (mech.body.size + 1)
    spent, plainness = at.spent, at.plainness
    if not known(mech, q, v, ws):
        return STALLED, at
    for n in range(at.n, wrench.shape[0]):
        step, s = n // substeps, n % substeps
        h = sizes[s]
        if surely != (habit.exact[0] > 0):
            return OTHER, Place(n, spent, plainness)
        if spent == 0:
            if s == 0 and not begin_together(crew, mech, step, substeps, wrench, q, v, sums, record):
                return STOPPED, Place(n, 0, 0)
            begin(crew, mech, portion, wrench, n, q, ws)
        ended = STALLED
        while ended != CONVERGED and plainness <= PLAINEST:
            bodies, rows = choose(memory, s, plainness, habit)
            guess_all(memory, s, bodies, rows, portion.bounds, ws.z)
            meet(crew)
            ended, iterations, good = solve(
                crew, mech, layout, h, q, v, wrench, n, newton, patience(PATIENCE, layout, surely, newton),
                surely or wants_first(layout, habit), habit, ws, s, factors,
            )  # fmt: skip
            meet(crew)
            if ended == CONVERGED and habit.redundant[0] > 0:
                ended = stay_closed(crew, mech, portion, surely, newton.length, q, ws)
            spent += iterations
            note_attempt(habit, ended, good, surely)
            if ended != CONVERGED and not surely:
                return OTHER, Place(n, spent, plainness)
            plainness += 1
        if ended == CONVERGED and mech.law.size > 0:
            ended = arrived(mech, ws.z, ws.end.q, ws.feedback)
        if ended != CONVERGED:
            if s > 0 and crew.me == 0:
                copy_state(sums.q, sums.v, q, v)
            return ended, Place(n, 0, 0)
        habit.exact[0] = max(0, habit.exact[0] - 1)
        accept(mech, portion, h, ws.z, q, v, ws.mid)
        keep_all(memory, s, ws.z, portion.bounds)
        judge_guesses(crew, memory, s, portion.bounds)
        for r in range(portion.bounds[1, 0] - first, portion.bounds[1, 1] - first):
            ws.lam[r] = 2.0 / (h * h) * ws.z[first + r]
        meet(crew)
        note_errors(crew, memory, s)
        if crew.me == 0:
            outputs(mech, ws.z, ws.mid.q, h, ws.y)
            drive_outputs(mech, h, ws.aim, ws.lam, ws.y)
            add_substep(mech, sizes, s, wrench, n, spent, ws.lam, ws.y, sums)
            add_losses(mech, h, q, ws.feedback, ws.lam, sums.loss)
            if s == substeps - 1:
                write(mech, step, every, sums, q, v, record)
        spent, plainness = 0, 0
    return CONVERGED, Place(wrench.shape[0], 0, 0)


@loop
def march_midpoint(
    crew: Crew, mech: Mechanism, condensed: Layout, exact: Layout, sizes: Array, wrench: Array, every: int,
    newton: Newton, memory: Memory, habit: Habit, ws: Workspace, sums: Sums, fast: Factors, sure: Factors, q: Array,
    v: Array, record: Record,
) -> tuple[int, int]:  # fmt: skip
    """Make wrench.shape[0] substeps of PH-MP from (q, v), which become the last state; record every `every`-th step.

    A step has the substeps `sizes`, plain PH-MP one. Returns (how it ended, steps made). The state before a failed step
    stays in (q, v). A substep tries the best extrapolation first, then plainer guesses; each with the condensed matrix,
    which may leave light elements out, then with the exact one. All threads of a crew make the same march.
    """
    ended, at = OTHER, Place(0, 0, 0)
    while ended == OTHER:
        surely = habit.exact[0] > 0
        if surely:
            ended, at = march_on(
                crew, mech, exact, surely, at, sizes, wrench, every, newton, memory, habit, ws, sums, sure, q, v, record
            )
        else:
            ended, at = march_on(
                crew, mech, condensed, surely, at, sizes, wrench, every, newton, memory, habit, ws, sums, fast, q, v,
                record,
            )  # fmt: skip
    return ended, at.n // sizes.size
