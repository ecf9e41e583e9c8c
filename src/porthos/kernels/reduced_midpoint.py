"""One step of PH-MP, eq. (50) of 001, with 6 unknowns a body and the multipliers of the joints.

The rigidity rows make the directors move by the Cayley map (`kernels/bodies.py`), so that with unknowns
(u, a) = h/2 (vbar_phi, w) and lam' = h^2/2 lam the step is, scaled by h^2/2,
  0 = m (2 u - h v_phi^0) - h^2/2 f + (G^T lam')_phi
  0 = sum_i E_i dbar_i x (2 a x dbar_i - h v_i^0) - h^2/2 m_ext + sum_i dbar_i x (G^T lam')_i
  0 = 2 (G P)(qbar) (u, a) + kappa g(q^0)   ( = g(q^1) - (1 - kappa) g(q^0), rows being at most quadratic).
"""

from __future__ import annotations

import numpy as np

from porthos.kernels.awake import ASLEEP, SLIGHT, falls_asleep, wake
from porthos.kernels.blocks import OFFSET, add_turning
from porthos.kernels.bodies import move_body, turn, turn_markers
from porthos.kernels.compile import act, frame, loop, stage
from porthos.kernels.crew import Crew, Portion, meet
from porthos.kernels.drives import drive_outputs
from porthos.kernels.elements import set_grips
from porthos.kernels.elimination import Factors
from porthos.kernels.feedback import STOPPED
from porthos.kernels.forces import add_loads, outputs
from porthos.kernels.gears import aim_wheels
from porthos.kernels.guess import PLAINEST, Memory, choose, guess_all, judge_guesses, keep_all, note_errors
from porthos.kernels.joints import joint_rows
from porthos.kernels.marching import Place, arrive, book, known, note_attempt, patience, step_into, wants_first
from porthos.kernels.newton import (
    ACCEPTED,
    CONVERGED,
    LARGEST_TURN,
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
from porthos.kernels.pose import Pose
from porthos.kernels.record import Record, Sums
from porthos.kernels.repeating import hold, stay_closed
from porthos.kernels.solution import eliminate, find_update, judge, open_matrix, reduce
from porthos.kernels.tables import Layout, Mechanism
from porthos.kernels.update import take_update, wants_matrix
from porthos.kernels.workspace import Workspace
from porthos.notation import Array


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
    return judge(crew, mech, layout, redundant, broken, iteration, habit, factors) if slopes else RUNNING


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
        everywhere = slopes or not fresh or layout.crowded == 0
        if ended == RUNNING and not everywhere:
            anew = falls_asleep(made, size, first, newton.floor)
            wake(crew, mech, layout, anew, ws.x, SLIGHT * newton.floor * change.motion, habit, ws.awake)
        previous = size
    if ended == RUNNING:
        ended = turned(mech, ws.z) if previous < ACCEPTED and iteration == newton.iterations else STALLED
    if ended == CONVERGED and fresh:
        note_left(habit, s, hoped, first, second)
    return ended, iteration, not slopes


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


@frame
def attempt(
    crew: Crew, mech: Mechanism, layout: Layout, surely: bool, at: Place, s: int, h: float, wrench: Array,
    newton: Newton, memory: Memory, habit: Habit, ws: Workspace, factors: Factors, q: Array, v: Array,
) -> tuple[int, Place]:  # fmt: skip
    """Solve the equations of substep s with guesses that become plainer, OTHER where the other matrix has its turn."""
    ended, spent, plainness = STALLED, at.spent, at.plainness
    while ended != CONVERGED and plainness <= PLAINEST:
        bodies, rows = choose(memory, s, plainness)
        guess_all(memory, s, bodies, rows, layout.portion.bounds, ws.z)
        if habit.redundant[0] > 0:
            hold(mech, layout, habit, memory.past, memory.steps[s], s, ws.z)
        meet(crew)
        ended, iterations, good = solve(
            crew, mech, layout, h, q, v, wrench, at.n, newton, patience(PATIENCE, layout, surely, newton),
            surely or wants_first(layout, habit), habit, ws, s, factors,
        )  # fmt: skip
        meet(crew)
        if ended == CONVERGED and habit.redundant[0] > 0:
            ended = stay_closed(crew, mech, layout, surely, newton.length, q, ws, factors.data)
        spent += iterations
        note_attempt(habit, ended, good, surely)
        if ended != CONVERGED and not surely:
            return OTHER, Place(at.n, spent, plainness)
        plainness += 1
    return ended, Place(at.n, spent, 0)


@act
def march_on(
    crew: Crew, mech: Mechanism, layout: Layout, surely: bool, at: Place, sizes: Array, wrench: Array, every: int,
    newton: Newton, memory: Memory, habit: Habit, ws: Workspace, sums: Sums, factors: Factors, q: Array, v: Array,
    record: Record,
) -> tuple[int, Place]:  # fmt: skip
    """March on from a place with one of the two matrices; returns how it ended, OTHER for the other one, and where."""
    portion, first = layout.portion, 6 * (mech.body.size + 1)
    if not known(mech, q, v, ws):
        return STALLED, at
    for n in range(at.n, wrench.shape[0]):
        s = n % sizes.size
        h = sizes[s]
        if surely != (habit.exact[0] > 0):
            return OTHER, at
        if not step_into(crew, mech, portion, at, sizes, wrench, q, v, ws, sums, record):
            return STOPPED, at
        ended, at = attempt(crew, mech, layout, surely, at, s, h, wrench, newton, memory, habit, ws, factors, q, v)
        if ended == OTHER:
            return ended, at
        ended = arrive(crew, mech, ended, s, q, v, habit, ws, sums)
        if ended != CONVERGED:
            return ended, at
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
            book(mech, at, sizes, wrench, every, q, v, ws, sums, record)
        at = Place(n + 1, 0, 0)
    return CONVERGED, at


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
