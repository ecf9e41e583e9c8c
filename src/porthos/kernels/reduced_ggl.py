"""One step of PH-MP-GGL, eq. (61) of 001 at the midpoint: a step of PH-MP with a correction, and projected velocities.

With V = h v, Vbar = (V^0 + V^1)/2, V^1 = 2 P(q^1) t, gam' = h gam and lam' = h^2 lam the reduced equations are
  Pbar^T Y = 0,              Y = M (q^1 - q^0 - Vbar) - Gbar^T gam'
  Pbar^T (X - h^2 f) = 0,    X = M (V^1 - V^0) + Gbar^T lam' + G(Vbar)^T gam' + L Y
  g(q^1) = (1 - kappa) g(q^0),   G(q^1) V^1 = 0,
where L = sum_j Vbar_j dbar^j makes L Y_i the forces of the internal multipliers Gam: Y_i = sum_j Gam_ij dbar_j. As
d^0 = (I - skew a) dbar and d^1 = (I + skew a) dbar, L = skew(t^0) (I - skew a) + skew(t) (I + skew a) with t^0 of V^0.
In Y + X/2 the velocity V^1 drops out of the momenta: with mu = lam'/2 - gam' this is the residual of PH-MP for
(u, a, mu) and a small correction,
  Pbar^T [M (q^1 - q^0 - V^0) - h^2/2 f + Gbar^T mu] + 1/2 Pbar^T [G(Vbar)^T gam' + L Y] = 0,   g(q^1) = ...,
and what is left is linear in (t, gam') for given q^1:
  Pbar^T M P(q^1) t + Pbar^T Gbar^T gam' = Pbar^T M (q^1 - q^0 - V^0/2),   G(q^1) P(q^1) t = 0.
Rows of gears are u . w with other coefficients for lam than for gam, see `gears.py`.
Both have the matrix of PH-MP up to terms of order h^2, so one factorisation serves both in turn; the correction couples
them with order h^2 too.
"""

from __future__ import annotations

import numpy as np

from porthos.kernels.arrival import arrived
from porthos.kernels.bodies import turn, turn_markers
from porthos.kernels.compile import frame, loop, stage
from porthos.kernels.drives import add_velocity_work, drive_outputs, drive_rates
from porthos.kernels.elements import add_losses, set_grips
from porthos.kernels.elimination import Factors, clear
from porthos.kernels.feedback import STOPPED
from porthos.kernels.forces import add_loads, outputs
from porthos.kernels.gears import aim_wheels, pass_gears
from porthos.kernels.ggl_correction import Levels, add_vector, correct_body, correct_joints
from porthos.kernels.joints import joint_rows
from porthos.kernels.newton import (
    ACCEPTED,
    CONVERGED,
    LARGEST_TURN,
    NOISE,
    ROUND_OFF,
    RUNNING,
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
from porthos.kernels.pose import Pose, reduced_side, row_vectors
from porthos.kernels.record import Record, Sums, add_substep, begin_step, copy_state, write
from porthos.kernels.reduced_midpoint import (
    Workspace,
    back_solve,
    begin,
    find_update,
    make_factors,
    momentum_rows,
    move_body,
    next_attempt,
    patience,
    take_update,
    update_size,
    wants_first,
    wants_matrix,
)
from porthos.kernels.tables import ANGLE, COINCIDE, GENERAL, Layout, Mechanism
from porthos.kernels.vectors import combine3, cross3, row3, row33
from porthos.notation import Array

COUPLING = 4.0  # errors of positions and velocities shrink by this times the square of the turn of a step, at worst
MARGIN, FORGETTING = 3.0, 1.1  # what was seen of that in earlier steps is believed times a margin that grows
LAG = 0.25  # positions miss a change of the velocities by this times the turn of a step
WAITING = 0.9  # ratio of updates of the positions at the round-off floor; below it they may wait for the velocities
POLISH = 8  # sweeps at most for velocities whose positions have converged


@stage
def velocity_body(mech: Mechanism, b: int, h: float, v0: Array, z: Array, mid: Pose, end: Pose, t: Array, x: Array
                  ) -> None:  # fmt: skip
    """Pbar^T M (P(q^1) t + V^0/2 - (q^1 - q^0)) of body b."""
    at, m = 6 * b, mech.body[b].mass
    for k in range(3):
        x[at + k] = m * (t[at + k] + 0.5 * h * v0[b, 0, k] - 2.0 * z[at + k])
    a, omega, total = (z[at + 3], z[at + 4], z[at + 5]), (t[at + 3], t[at + 4], t[at + 5]), (0.0, 0.0, 0.0)
    for i in range(1, 4):
        d, w = row33(mid.q, b, i), row33(v0, b, i)
        rate, moved = cross3(omega, row33(end.q, b, i)), cross3(a, d)
        y = combine3(1.0, combine3(1.0, rate, 0.5 * h, w), -2.0, moved)
        total = combine3(1.0, total, mech.body[b].euler[i - 1], cross3(d, y))
    x[at + 3], x[at + 4], x[at + 5] = total


@stage
def velocity_joints(mech: Mechanism, mid: Pose, end: Pose, t: Array, x: Array) -> None:
    """Add Pbar^T Gbar^T gam' to the rows of the bodies and set those of the joints, G(q^1) P(q^1) t."""
    first = 6 * (mech.body.size + 1)
    for r in range(mech.row.size):
        kind, row = mech.row[r].kind, first + r
        if mech.row[r].law >= 0:
            x[row] = 0.0
        elif kind == COINCIDE:
            gam, gap = (t[row], t[row + 1], t[row + 2]), (0.0, 0.0, 0.0)
            for s in range(2):
                at, k, sign = 6 * mech.row[r].body[s], mech.row[r].marker[s, 1], 2.0 * s - 1.0
                add_vector(x, at, sign, gam)
                add_vector(x, at + 3, 1.0, cross3(row3(mid.marker, k), gam))
                rate = cross3((t[at + 3], t[at + 4], t[at + 5]), row3(end.marker, k))
                gap = combine3(1.0, gap, 1.0, combine3(sign, (t[at], t[at + 1], t[at + 2]), 1.0, rate))
            x[row], x[row + 1], x[row + 2] = gap
        elif kind == ANGLE:
            a, b = 6 * mech.row[r].body[0] + 3, 6 * mech.row[r].body[1] + 3
            ku, kw = mech.row[r].marker[0, 0], mech.row[r].marker[1, 1]
            torque = cross3(row3(mid.marker, ku), row3(mid.marker, kw))
            add_vector(x, a, t[row], torque)
            add_vector(x, b, -t[row], torque)
            axis = cross3(row3(end.marker, ku), row3(end.marker, kw))
            x[row] = axis[0] * (t[a] - t[b]) + axis[1] * (t[a + 1] - t[b + 1]) + axis[2] * (t[a + 2] - t[b + 2])
        elif kind == GENERAL:
            u, w = row_vectors(mech, mid.q, mid.marker, r)
            u1, w1 = row_vectors(mech, end.q, end.marker, r)
            x[row] = 0.0
            for s in range(2):
                at = 6 * mech.row[r].body[s]
                shift, torque = reduced_side(mech, mid, r, s, u, w)
                add_vector(x, at, t[row], shift)
                add_vector(x, at + 3, t[row], torque)
                shift, torque = reduced_side(mech, end, r, s, u1, w1)
                for k in range(3):
                    x[row] += shift[k] * t[at + k] + torque[k] * t[at + 3 + k]


@stage
def release_shifts(mech: Mechanism, shift: Array, free: Array) -> None:
    """The translational parts of the rows at the end, without those of elements."""
    for r in range(mech.row.size):
        for s in range(2):
            for k in range(3):
                free[r, s, k] = shift[r, s, k] if mech.row[r].law < 0 else 0.0


@stage
def release(mech: Mechanism, layout: Layout, data: Array, free: Array) -> None:
    """The matrix of the velocities, before it is completed: that of the positions, without what elements hold."""
    for i in range(layout.pattern.length):
        free[i] = data[i]
    for j in range(mech.joint.size):
        if not mech.joint[j].soft or layout.joint[j].light:
            continue
        for i in range(mech.joint[j].last - mech.joint[j].first):
            for s in range(2):
                n = layout.body[mech.joint[j].body[s]].stride
                for k in range(3):
                    free[layout.joint[j].turn_columns[s] + i * n + k] = 0.0
                    free[layout.joint[j].shift_columns[s] + i * n + k] = 0.0


@frame
def make_both(
    mech: Mechanism, layout: Layout, iteration: int, habit: Habit, ws: Workspace, lv: Levels, factors: Factors,
    free: Factors,
) -> int:  # fmt: skip
    """Complete and factorise the matrix of the positions and, if there are elements in it, that of the velocities."""
    if layout.stiff:
        release(mech, layout, factors.data, free.data)
        release_shifts(mech, ws.end.shift, lv.end.shift)
        make_factors(mech, layout, ws.mid, lv.end, iteration, habit, free)
    return make_factors(mech, layout, ws.mid, ws.end, iteration, habit, factors)


@stage
def guess_velocities(bodies: int, z: Array, lv: Levels) -> None:
    """Add where PH-MP would take the velocities, 2 (u, a) - last, to the extrapolated difference from it.

    The difference is small and smooth, and with it velocities go with the positions of the guess.
    """
    for i in range(6 * bodies):
        lv.z[i] += 2.0 * z[i] - lv.last[i]


@stage
def take_velocity_update(bodies: int, x: Array, t: Array, length: float) -> float:
    """Take the update x from the velocities and multipliers t; returns its root mean square."""
    for i in range(6 * bodies):
        t[i] -= x[i]
    for i in range(6 * (bodies + 1), t.size):
        t[i] -= x[i]
    return update_size(bodies, x, 1.0 / length)[1]


@frame
def solve_velocities(
    mech: Mechanism, layout: Layout, h: float, v0: Array, newton: Newton, sweeps: int, motion: float,
    previous: float, slowest: float, notice: float, ws: Workspace, lv: Levels, factors: Factors,
) -> tuple[float, float, float, bool]:  # fmt: skip
    """Velocities and gam' for the present q^1, with the matrix of the positions, without elements.

    The rows of bodies are in ws.x.

    Stops when they have converged, after a number of sweeps or, if positions are to follow, when these would not notice
    another one: they would miss `notice` times the last update. Returns the first and the last update as fractions of
    the motion of the step, the ratio of the last two, and whether they have converged.
    """
    done, first, rate = False, 0.0, 0.0
    for sweep in range(sweeps):
        if sweep > 0:
            for b in range(mech.body.size):
                velocity_body(mech, b, h, v0, ws.z, ws.mid, ws.end, lv.z, ws.x)
        velocity_joints(mech, ws.mid, ws.end, lv.z, ws.x)
        drive_rates(mech, h, ws.aim, ws.x)
        back_solve(mech, layout, ws.mid, lv.end, factors, ws.x)
        change = take_velocity_update(mech.body.size, ws.x, lv.z, newton.length) / motion
        done = finished(change, previous, newton.tolerance, False, slowest, STUCK if sweep > 0 else np.inf)
        first = change if sweep == 0 else first
        rate = change / previous if previous > 0.0 else rate
        previous = change
        if done or (sweeps < POLISH and notice * change < ROUND_OFF):
            break
    return first, previous, rate, done


@stage
def follow(mech: Mechanism, h: float, q0: Array, v0: Array, ws: Workspace, lv: Levels) -> None:
    """Let bodies and velocities follow the update ws.x of the positions; the rows of velocities take its place."""
    for b in range(mech.body.size):
        for i in range(6 * b, 6 * b + 6):
            lv.z[i] -= ws.x[i]
        move_body(mech, b, q0, ws.z, ws.mid, ws.end)
        turn_markers(mech, b, ws.end.q, ws.end.marker)
        velocity_body(mech, b, h, v0, ws.z, ws.mid, ws.end, lv.z, ws.x)
    aim_wheels(mech, q0, True, ws.mid, ws.end)


@frame
def solve(
    mech: Mechanism, layout: Layout, h: float, q0: Array, v0: Array, wrench: Array, n: int, newton: Newton,
    iterations: int, slopes: bool, habit: Habit, ws: Workspace, lv: Levels, s: int, factors: Factors, free: Factors,
) -> tuple[int, int, bool]:  # fmt: skip
    """Positions and velocities in turn from the guess in ws.z, lv.z; the rest as in `reduced_midpoint.solve`."""
    bodies, size, change, ended, iteration, rate, velocity_rate = mech.body.size, 0.0, 0.0, RUNNING, 0, 0.0, 0.0
    for b in range(bodies):
        move_body(mech, b, q0, ws.z, ws.mid, ws.end)
        turn_markers(mech, b, ws.end.q, ws.end.marker)
    while ended == RUNNING and iteration < iterations:
        iteration += 1
        if slopes:
            clear(factors.data)
        for b in range(bodies):
            momentum_rows(mech, layout, b, h, q0, v0, slopes, ws.z, ws.mid, ws.end, ws.x, factors.data)
            correct_body(mech, b, ws.z, ws.mid, lv, ws.x)
        add_loads(mech, layout, wrench, n, ws.mid.q, ws.end.q, ws.z, 0.5 * h * h, slopes, ws.x, factors.data)
        set_grips(mech, h, ws.z, 1.0, lv.z, ws.grip)
        aim_wheels(mech, q0, False, ws.mid, ws.end)
        joint_rows(mech, layout, h, slopes, ws.mid, ws.end, ws.feedback, ws.grip, ws.give, ws.z, ws.x, factors.data)
        pass_gears(mech, q0, lv.z, ws.mid, ws.end, ws.x)
        correct_joints(mech, ws.mid, lv, ws.x)
        if slopes:
            ended = make_both(mech, layout, iteration, habit, ws, lv, factors, free)
        left = find_update(mech, layout, newton, iteration == 1, ws, factors)
        previous = size
        update = take_update(bodies, ws.x, ws.z, newton.length)
        size, damped = update.size / update.motion, update.largest > LARGEST_TURN
        follow(mech, h, q0, v0, ws, lv)
        rate = max(rate, size / previous) if iteration > 2 else rate
        slowest = max(newton.slowest, left, min(max(rate, lv.rate[s, 0]), COUPLING * update.turn * update.turn))
        settled = not damped and finished(size, previous, newton.tolerance, False, slowest, WAITING)
        last = change
        sweeps, notice = POLISH if settled else (2 if iteration == 1 else 1), LAG * update.turn * lv.rate[s, 1]
        first, change, ratio, done = solve_velocities(
            mech, layout, h, v0, newton, sweeps, update.motion, last, slowest, notice, ws, lv, free
        )
        velocity_rate = ratio if velocity_rate == 0.0 else velocity_rate
        if not np.isfinite(size + change):
            ended = STALLED if ended == RUNNING else ended
        unmoved = LAG * first * update.turn < ROUND_OFF or (first < NOISE and first > STUCK * last)
        if ended == RUNNING and settled and done and unmoved:  # positions belong to the velocities before the sweeps
            ended = turned(mech, ws.z)
        slopes = wants_matrix(layout, damped, max(size, change), max(previous, last), newton.slowest)
    if ended == RUNNING:
        ended = turned(mech, ws.z) if max(size, change) < ACCEPTED and iteration == newton.iterations else STALLED
    if ended == CONVERGED:
        lv.rate[s, 0] = MARGIN * rate if iteration > 2 else FORGETTING * lv.rate[s, 0]
        lv.rate[s, 1] = velocity_rate
    return ended, iteration, not slopes


@stage
def accept(mech: Mechanism, h: float, ws: Workspace, lv: Levels, q: Array, v: Array) -> None:
    """Make the end of the step the present state: v^1 = 2/h P(q^1) t; and the multipliers lam = 2/h^2 (mu + gam').

    Divided by h at the end, because h (1/h) != 1 in floating point: that would change the energy a little in the same
    direction in every step.
    """
    for b in range(mech.body.size):
        at = 6 * b
        a0, a1, a2 = ws.z[at + 3], ws.z[at + 4], ws.z[at + 5]
        nu = 1.0 / (1.0 + a0 * a0 + a1 * a1 + a2 * a2)
        for k in range(3):
            q[b, 0, k] += 2.0 * ws.z[at + k]
            v[b, 0, k] = 2.0 * lv.z[at + k] / h
        if mech.body[b].rigid:
            for i in range(1, 4):
                turn(a0, a1, a2, nu, q, b, i, ws.mid.q, q)
                rate = cross3((lv.z[at + 3], lv.z[at + 4], lv.z[at + 5]), row33(q, b, i))
                v[b, i, 0], v[b, i, 1], v[b, i, 2] = 2.0 * rate[0] / h, 2.0 * rate[1] / h, 2.0 * rate[2] / h
    first = 6 * (mech.body.size + 1)
    for r in range(mech.row.size):
        ws.lam[r] = 2.0 / (h * h) * (ws.z[first + r] + lv.z[first + r])


@stage
def keep_velocities(bodies: int, s: int, growth: float, ws: Workspace, lv: Levels) -> None:
    """Store what the next guess of the velocities needs, with a step of another size; they are not needed any more."""
    for i in range(6 * bodies):
        velocity = lv.z[i]
        lv.z[i] -= 2.0 * ws.z[i] - lv.last[i]
        lv.last[i] = growth * velocity
    remember(lv.memory, s, lv.z, bodies, ws.x)


@loop
def march_ggl(
    mech: Mechanism, condensed: Layout, exact: Layout, sizes: Array, wrench: Array, every: int, newton: Newton,
    memory: Memory, habit: Habit, ws: Workspace, sums: Sums, fast: Factors, sure: Factors, q: Array, v: Array,
    record: Record, lv: Levels,
) -> tuple[int, int]:  # fmt: skip
    """The same as `march_midpoint` with PH-MP-GGL."""
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
            guess(lv.memory, s, order, habit, mech.body.size, lv.z)
            guess_velocities(mech.body.size, ws.z, lv)
            layout, factors, free = (exact, sure, lv.sure) if surely else (condensed, fast, lv.fast)
            ended, iterations, good = solve(
                mech, layout, h, q, v, wrench, n, newton, patience(layout, surely, newton),
                surely or wants_first(layout, habit), habit, ws, lv, s, factors, free,
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
        accept(mech, h, ws, lv, q, v)
        outputs(mech, ws.z, ws.mid.q, h, ws.y)
        drive_outputs(mech, h, ws.aim, ws.lam, ws.y)
        add_velocity_work(mech, h, ws.aim, lv.z, ws.y)
        remember(memory, s, ws.z, mech.body.size, ws.x)
        keep_velocities(mech.body.size, s, sizes[(s + 1) % substeps] / h, ws, lv)
        add_substep(mech, sizes, s, wrench, n, spent, ws.lam, ws.y, sums)
        add_losses(mech, h, q, ws.feedback, ws.lam, sums.loss)
        if s == substeps - 1:
            write(mech, step, every, sums, q, v, record)
    return CONVERGED, wrench.shape[0] // substeps
