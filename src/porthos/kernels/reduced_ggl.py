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

from porthos.kernels.awake import ASLEEP, SLIGHT, catch_up, falls_asleep, wake, wake_velocities
from porthos.kernels.blocks import OFFSET
from porthos.kernels.bodies import move_body, turn_markers
from porthos.kernels.compile import act, frame, loop, stage
from porthos.kernels.crew import Crew, Portion, meet
from porthos.kernels.drives import add_velocity_work, drive_outputs, drive_rates
from porthos.kernels.elements import set_grips
from porthos.kernels.elimination import Factors
from porthos.kernels.feedback import STOPPED
from porthos.kernels.forces import add_loads, outputs
from porthos.kernels.gears import aim_wheels, pass_gears
from porthos.kernels.ggl_correction import Levels, correct_body, correct_joints
from porthos.kernels.ggl_velocity import (
    guess_levels,
    keep_levels,
    release,
    release_shifts,
    take_velocities,
    velocity_body,
    velocity_joints,
)
from porthos.kernels.guess import PLAINEST, Memory, choose, judge_guesses, note_errors
from porthos.kernels.joints import joint_rows
from porthos.kernels.marching import Place, arrive, book, known, note_attempt, patience, step_into, wants_first
from porthos.kernels.newton import (
    ACCEPTED,
    CONVERGED,
    FORGETTING,
    LARGEST_TURN,
    MARGIN,
    NOISE,
    OTHER,
    RUNNING,
    STALLED,
    STUCK,
    TRUST,
    Habit,
    Newton,
    finished,
    turned,
)
from porthos.kernels.pose import in_shape
from porthos.kernels.record import Record, Sums
from porthos.kernels.reduced_midpoint import momentum_rows
from porthos.kernels.repeating import hold, stay_closed
from porthos.kernels.solution import eliminate, find_update, judge, open_matrix, reduce, resolve
from porthos.kernels.tables import Layout, Mechanism
from porthos.kernels.update import take_update, wants_matrix
from porthos.kernels.vectors import cross3, row33
from porthos.kernels.workspace import Workspace
from porthos.notation import Array

COUPLING = 4.0  # errors of positions and velocities shrink by this times the square of the turn of a step, at worst
LAG = 0.25  # positions miss a change of the velocities by this times the turn of a step
WAITING = 0.9  # ratio of updates of the positions at the round-off floor; below it they may wait for the velocities
HEARD, FAR = 0.004, 0.3  # ratio of updates of the velocities above which they are stretched; turn of a step up to which
CLEAR = 1000.0  # floors above which an update tells something of the next one
PATIENT = 32  # iterations with the condensed matrix before the exact one is tried: it cures no coupling of levels
POLISH = 8  # sweeps at most for velocities whose positions have converged
SPARING = 5.0  # times what earlier steps let expect of the last sweep over the velocities: it is spared below a floor


@frame
def sweep_positions(
    crew: Crew, mech: Mechanism, layout: Layout, h: float, q0: Array, v0: Array, wrench: Array, n: int, slopes: bool,
    everywhere: bool, iteration: int, habit: Habit, ws: Workspace, lv: Levels, factors: Factors, free: Factors,
) -> int:  # fmt: skip
    """As `reduced_midpoint.sweep`, for bodies that are moved already, with the correction.

    If there are elements in the matrix, also the one of the velocities is made; then there is one leg.
    """
    portion, redundant, broken = layout.portion, 0, False
    for leg in range(portion.leg.size):
        now = portion.leg[leg]
        if slopes and leg == 0:
            open_matrix(crew, portion, factors)
        for i in range(now.body[0] & OFFSET, now.body[1] & OFFSET):
            b = portion.body[i] & OFFSET
            if not everywhere and ws.awake[b] == ASLEEP:
                continue
            momentum_rows(mech, layout, b, h, q0, v0, slopes, ws.z, ws.mid, ws.end, ws.x, factors.data)
            correct_body(mech, b, ws.z, ws.mid, lv, ws.x)
        if leg == 0:
            meet(crew)
            if crew.me == 0:
                set_grips(mech, h, ws.z, 1.0, lv.z, ws.grip)
                aim_wheels(mech, q0, False, ws.mid, ws.end)
        add_loads(mech, layout, leg, wrench, n, ws.mid.q, ws.end.q, ws.z, 0.5 * h * h, slopes, ws.x, factors.data)
        joint_rows(
            mech, layout, leg, h, slopes, everywhere, ws.awake, ws.mid, ws.end, ws.feedback, ws.grip, ws.give, ws.z,
            ws.x, factors.data,
        )  # fmt: skip
        if leg == 0 and crew.me == 0:
            pass_gears(mech, q0, lv.z, ws.mid, ws.end, ws.x)
        correct_joints(mech, portion, leg, everywhere, ws, lv)
        if leg == 0:
            meet(crew)
        if slopes and layout.stiff:
            release(mech, layout, factors.data, free)
            release_shifts(mech, ws.end.shift, lv.end.shift)
            redundant += eliminate(crew, mech, layout, leg, ws.mid, lv.end, free)[0]
        if slopes:
            more, singular = eliminate(crew, mech, layout, leg, ws.mid, ws.end, factors)
            redundant, broken = redundant + more, broken or singular
        reduce(crew, mech, layout, leg, everywhere, ws.awake, ws.end, factors, ws.x)
    return judge(crew, mech, layout, redundant, broken, iteration, habit, factors) if slopes else RUNNING


@frame
def solve_velocities(
    crew: Crew, mech: Mechanism, layout: Layout, h: float, v0: Array, newton: Newton, sweeps: int, motion: float,
    previous: float, slowest: float, notice: float, stretched: bool, everywhere: bool, watched: bool, ws: Workspace,
    lv: Levels, s: int, factors: Factors,
) -> tuple[float, float, float, bool]:  # fmt: skip
    """Velocities and gam' for the present q^1, with the matrix of the positions, without elements.

    The rows of bodies are in ws.x. If bodies are `watched`, only those that are awake go on after the first sweep,
    which is taken as it is then: what it leaves of the others is zero.

    Stops when they have converged, after a number of sweeps or, if positions are to follow, when these would not notice
    another one: they would miss `notice` times the last update. Returns the first and the last update as fractions of
    the motion of the step, the ratio of the last two, and whether they have converged.
    """
    portion, done, first, rate, share = layout.portion, False, 0.0, 0.0, 1.0
    for sweep in range(sweeps):
        for leg in range(portion.leg.size):
            now = portion.leg[leg]
            if sweep > 0:
                for i in range(now.body[0] & OFFSET, now.body[1] & OFFSET):
                    b = portion.body[i] & OFFSET
                    if everywhere or ws.awake[b] != ASLEEP:
                        velocity_body(mech, b, h, v0, ws.z, ws.mid, ws.end, lv.z, ws.x)
            if leg == 0:
                meet(crew)
            velocity_joints(mech, portion, leg, everywhere, ws, lv)
            if leg == 0:
                if crew.me == 0:
                    drive_rates(mech, h, ws.aim, ws.x)
                meet(crew)
            reduce(crew, mech, layout, leg, everywhere, ws.awake, lv.end, factors, ws.x)
        resolve(crew, mech, layout, ws.mid, factors, ws.x)
        again = stretched and sweep > 0 and previous > CLEAR * newton.floor
        size, share = take_velocities(
            crew, mech.body.size, portion, stretched, everywhere and watched, again, share, 1.0 / newton.length, ws.x,
            ws.echo, s, lv.rate, lv.z,
        )  # fmt: skip
        if watched:
            wake_velocities(crew, mech, layout, ws.x, lv.z, SLIGHT * newton.floor * motion, newton.length, ws.awake)
            everywhere = False
        change = size / motion
        done = finished(change, previous, newton, False, slowest, STUCK if sweep > 0 else np.inf)
        first = change if sweep == 0 else first
        rate = change / previous if previous > 0.0 else rate
        previous = change
        if done or (sweeps < POLISH and notice * change < newton.floor):
            break
    return first, previous, rate, done


@stage
def move(mech: Mechanism, portion: Portion, q0: Array, ws: Workspace) -> None:
    """Let bodies follow the unknowns."""
    for i in range(portion.body.size):
        b = portion.body[i] & OFFSET
        move_body(mech, b, q0, ws.z, ws.mid, ws.end)
        turn_markers(mech, b, ws.end.q, ws.end.marker)


@stage
def follow(
    crew: Crew, mech: Mechanism, portion: Portion, h: float, q0: Array, v0: Array, everywhere: bool, spared: bool,
    ws: Workspace, lv: Levels,
) -> None:  # fmt: skip
    """Let bodies and velocities follow the update ws.x of the positions; the rows of velocities take its place.

    If they are `spared`, they are not needed. Bodies that sleep are only moved, in ws.z and lv.z, if not `everywhere`.
    """
    for n in range(portion.body.size):
        b = portion.body[n] & OFFSET
        for i in range(6 * b, 6 * b + 6):
            lv.z[i] -= ws.x[i]
        if not everywhere and ws.awake[b] == ASLEEP:
            continue
        move_body(mech, b, q0, ws.z, ws.mid, ws.end)
        turn_markers(mech, b, ws.end.q, ws.end.marker)
        if not spared:
            velocity_body(mech, b, h, v0, ws.z, ws.mid, ws.end, lv.z, ws.x)
    if crew.me == 0:
        aim_wheels(mech, q0, True, ws.mid, ws.end)


@frame
def solve(
    crew: Crew, mech: Mechanism, layout: Layout, h: float, q0: Array, v0: Array, wrench: Array, n: int, newton: Newton,
    iterations: int, slopes: bool, habit: Habit, ws: Workspace, lv: Levels, s: int, factors: Factors, free: Factors,
) -> tuple[int, int, bool]:  # fmt: skip
    """Positions and velocities in turn from the guess in ws.z, lv.z; the rest as in `reduced_midpoint.solve`."""
    size, largest, change, ended, iteration, rate, velocity_rate = 0.0, 0.0, 0.0, RUNNING, 0, 0.0, 0.0
    fresh, everywhere = slopes, True
    move(mech, layout.portion, q0, ws)
    while ended == RUNNING and iteration < iterations:
        iteration += 1
        ended = sweep_positions(
            crew, mech, layout, h, q0, v0, wrench, n, slopes, everywhere, iteration, habit, ws, lv, factors, free
        )
        left = find_update(crew, mech, layout, newton, iteration == 1, False, habit, s, ws, factors)[0]
        previous = size
        update = take_update(crew, mech.body.size, layout.portion, ws.x, ws.z, newton.length)
        size, damped = update.size / update.motion, update.largest > LARGEST_TURN
        watched = fresh and not damped and layout.crowded > 0
        if watched:
            anew = falls_asleep(everywhere, size, largest, newton.floor)
            wake(crew, mech, layout, anew, ws.x, SLIGHT * newton.floor * update.motion, habit, ws.awake)
        largest = max(largest, size)
        rate = max(rate, size / previous) if iteration > 2 else rate
        slowest = max(newton.slowest, left, min(max(rate, lv.rate[s, 0]), COUPLING * update.turn * update.turn))
        settled = not damped and finished(size, previous, newton, False, slowest, WAITING)
        wanting = max(lv.rate[s, 3], LAG * update.turn) * size + lv.rate[s, 1] * change
        spared = settled and iteration > 1 and SPARING * wanting < newton.floor
        follow(crew, mech, layout.portion, h, q0, v0, everywhere, spared, ws, lv)
        if spared:
            lv.rate[s, 3] *= FORGETTING
            ended = turned(mech, ws.z) if ended == RUNNING else ended
            break
        last = change
        sweeps, notice = POLISH if settled else (2 if iteration == 1 else 1), LAG * update.turn * lv.rate[s, 1]
        stretched = update.turn < FAR and max(lv.rate[s, 1], abs(lv.rate[s, 2])) > HEARD
        first, change, ratio, done = solve_velocities(
            crew, mech, layout, h, v0, newton, sweeps, update.motion, last, slowest, notice, stretched,
            everywhere, watched, ws, lv, s, free,
        )  # fmt: skip
        velocity_rate = ratio if velocity_rate == 0.0 else velocity_rate
        if iteration > 1 and size > 0.0:
            lv.rate[s, 3] = max(first / size, TRUST * lv.rate[s, 3])
        if not np.isfinite(size + change):
            ended = STALLED if ended == RUNNING else ended
        unmoved = LAG * first * update.turn < newton.floor or (first < NOISE and first > STUCK * last)
        if ended == RUNNING and settled and done and unmoved:  # positions belong to the velocities before the sweeps
            ended = turned(mech, ws.z)
        slopes = wants_matrix(layout, damped, max(size, change), max(previous, last), newton)
        everywhere = slopes or not watched
    if ended == RUNNING:
        ended = turned(mech, ws.z) if max(size, change) < ACCEPTED and iteration == newton.iterations else STALLED
    if ended == CONVERGED:
        lv.rate[s, 0] = MARGIN * rate if iteration > 2 else FORGETTING * lv.rate[s, 0]
        lv.rate[s, 1] = velocity_rate if velocity_rate > 0.0 else FORGETTING * lv.rate[s, 1]
    return ended, iteration, not slopes


@stage
def accept(mech: Mechanism, portion: Portion, h: float, ws: Workspace, lv: Levels, q: Array, v: Array) -> None:
    """Make the end of the step the present state: v^1 = 2/h P(q^1) t; and the multipliers lam = 2/h^2 (mu + gam').

    Bodies have followed the last update of the positions.
    Divided by h at the end, because h (1/h) != 1 in floating point: that would change the energy a little in the same
    direction in every step.
    """
    for n in range(portion.body.size):
        b = portion.body[n] & OFFSET
        at = 6 * b
        for k in range(3):
            q[b, 0, k] += 2.0 * ws.z[at + k]
            v[b, 0, k] = 2.0 * lv.z[at + k] / h
        if mech.body[b].rigid:
            for i in range(1, 4):
                d = row33(ws.end.q, b, i)
                q[b, i, 0], q[b, i, 1], q[b, i, 2] = d
                rate = cross3((lv.z[at + 3], lv.z[at + 4], lv.z[at + 5]), d)
                v[b, i, 0], v[b, i, 1], v[b, i, 2] = 2.0 * rate[0] / h, 2.0 * rate[1] / h, 2.0 * rate[2] / h
    first = 6 * (mech.body.size + 1)
    for r in range(portion.bounds[1, 0] - first, portion.bounds[1, 1] - first):
        ws.lam[r] = 2.0 / (h * h) * (ws.z[first + r] + lv.z[first + r])


@frame
def attempt(
    crew: Crew, mech: Mechanism, layout: Layout, surely: bool, at: Place, s: int, h: float, wrench: Array,
    newton: Newton, memory: Memory, habit: Habit, ws: Workspace, factors: Factors, free: Factors, q: Array, v: Array,
    lv: Levels,
) -> tuple[int, Place]:  # fmt: skip
    """As `reduced_midpoint.attempt`."""
    bounds, ended, spent, plainness = layout.portion.bounds, STALLED, at.spent, at.plainness
    while ended != CONVERGED and plainness <= PLAINEST:
        bodies, rows = choose(memory, s, plainness)
        guess_levels(memory, s, bodies, rows, bounds, ws.z, lv)
        if habit.redundant[0] > 0:
            hold(mech, layout, habit, memory.past, memory.steps[s], s, ws.z)
            hold(mech, layout, habit, lv.past, memory.steps[s], s, lv.z)
        meet(crew)
        ended, iterations, good = solve(
            crew, mech, layout, h, q, v, wrench, at.n, newton, patience(PATIENT, layout, surely, newton),
            surely or wants_first(layout, habit), habit, ws, lv, s, factors, free,
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
    newton: Newton, memory: Memory, habit: Habit, ws: Workspace, sums: Sums, factors: Factors, free: Factors, q: Array,
    v: Array, record: Record, lv: Levels,
) -> tuple[int, Place]:  # fmt: skip
    """As `reduced_midpoint.march_on`."""
    portion = layout.portion
    if not (known(mech, q, v, ws) and in_shape(lv.end) and lv.L.shape[1] == 3 and lv.L.shape[2] == 3):
        return STALLED, at
    for n in range(at.n, wrench.shape[0]):
        s = n % sizes.size
        h = sizes[s]
        if surely != (habit.exact[0] > 0):
            return OTHER, at
        if not step_into(crew, mech, portion, at, sizes, wrench, q, v, ws, sums, record):
            return STOPPED, at
        ended, at = attempt(
            crew, mech, layout, surely, at, s, h, wrench, newton, memory, habit, ws, factors, free, q, v, lv
        )
        if ended == OTHER:
            return ended, at
        ended = arrive(crew, mech, ended, s, q, v, habit, ws, sums)
        if ended != CONVERGED:
            return ended, at
        if layout.crowded:
            catch_up(mech, portion, q, ws.z, ws.mid, ws.end, ws.awake)
        accept(mech, portion, h, ws, lv, q, v)
        meet(crew)
        keep_levels(memory, s, sizes[(s + 1) % sizes.size] / h, portion.bounds, ws.z, lv)
        judge_guesses(crew, memory, s, portion.bounds)
        meet(crew)
        note_errors(crew, memory, s)
        if crew.me == 0:
            outputs(mech, ws.z, ws.mid.q, h, ws.y)
            drive_outputs(mech, h, ws.aim, ws.lam, ws.y)
            add_velocity_work(mech, h, ws.aim, lv.z, ws.y)
            book(mech, at, sizes, wrench, every, q, v, ws, sums, record)
        at = Place(n + 1, 0, 0)
    return CONVERGED, at


@loop
def march_ggl(
    crew: Crew, mech: Mechanism, condensed: Layout, exact: Layout, sizes: Array, wrench: Array, every: int,
    newton: Newton, memory: Memory, habit: Habit, ws: Workspace, sums: Sums, fast: Factors, sure: Factors, q: Array,
    v: Array, record: Record, lv: Levels,
) -> tuple[int, int]:  # fmt: skip
    """The same as `march_midpoint` with PH-MP-GGL."""
    ended, at = OTHER, Place(0, 0, 0)
    while ended == OTHER:
        surely = habit.exact[0] > 0
        if surely:
            ended, at = march_on(
                crew, mech, exact, surely, at, sizes, wrench, every, newton, memory, habit, ws, sums, sure, lv.sure, q,
                v, record, lv,
            )  # fmt: skip
        else:
            ended, at = march_on(
                crew, mech, condensed, surely, at, sizes, wrench, every, newton, memory, habit, ws, sums, fast, lv.fast,
                q, v, record, lv,
            )  # fmt: skip
    return ended, at.n // sizes.size
