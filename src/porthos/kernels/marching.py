"""What the marches of both midpoint schemes have in common: how a substep begins, is tried, and is written down."""

from __future__ import annotations

from typing import NamedTuple

from porthos.kernels.arrival import arrived, count_turns
from porthos.kernels.blocks import OFFSET
from porthos.kernels.bodies import turn_markers
from porthos.kernels.compile import stage
from porthos.kernels.crew import GOES, Crew, Portion, meet, tell, total
from porthos.kernels.drives import aim_drives, drive_rows
from porthos.kernels.elements import add_losses
from porthos.kernels.gears import gear_rows
from porthos.kernels.light import line
from porthos.kernels.newton import CONVERGED, EXACT_STEPS, FEEDBACK, Habit, Newton
from porthos.kernels.pose import in_shape, row_vectors, vectors_of_bodies
from porthos.kernels.record import Record, Sums, add_substep, begin_step, copy_state, write
from porthos.kernels.tables import ANGLE, COINCIDE, GENERAL, LENGTH, Layout, Mechanism
from porthos.kernels.vectors import dot3, row3
from porthos.kernels.workspace import Workspace
from porthos.notation import Array


class Place(NamedTuple):
    """Where a march is: in the n-th substep, after some iterations; 0: it has not begun yet."""

    n: int
    spent: int
    plainness: int  # how plain the next guess is


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
def step_into(
    crew: Crew, mech: Mechanism, portion: Portion, at: Place, sizes: Array, wrench: Array, q: Array, v: Array,
    ws: Workspace, sums: Sums, record: Record,
) -> bool:  # fmt: skip
    """Begin a substep, unless that was done before the other matrix had its turn; False if the march shall stop."""
    if at.spent > 0:
        return True
    step, s = at.n // sizes.size, at.n % sizes.size
    if s == 0 and not begin_together(crew, mech, step, sizes.size, wrench, q, v, sums, record):
        return False
    begin(crew, mech, portion, wrench, at.n, q, ws)
    return True


@stage
def known(mech: Mechanism, q: Array, v: Array, ws: Workspace) -> bool:
    """Whether all that belongs to a configuration is in shape."""
    shaped = vectors_of_bodies(q) and vectors_of_bodies(v) and mech.marker.shape[1] == 3
    return shaped and in_shape(ws.mid) and in_shape(ws.end)


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
def arrive(
    crew: Crew, mech: Mechanism, ended: int, s: int, q: Array, v: Array, habit: Habit, ws: Workspace, sums: Sums
) -> int:
    """How a substep ended, after a look at where laws arrived; if it failed, (q, v) is where the step began."""
    if ended == CONVERGED and mech.law.size > 0:
        ended = arrived(mech, ws.z, ws.end.q, ws.feedback)
    if ended != CONVERGED and s > 0 and crew.me == 0:
        copy_state(sums.q, sums.v, q, v)
    habit.exact[0] = max(0, habit.exact[0] - 1)
    return ended


@stage
def book(
    mech: Mechanism, at: Place, sizes: Array, wrench: Array, every: int, q: Array, v: Array, ws: Workspace, sums: Sums,
    record: Record,
) -> None:  # fmt: skip
    """Note a substep that was made, and write the step if it was the last one of it."""
    s, h = at.n % sizes.size, sizes[at.n % sizes.size]
    add_substep(mech, sizes, s, wrench, at.n, at.spent, ws.lam, ws.y, sums)
    add_losses(mech, h, q, ws.feedback, ws.lam, sums.loss)
    if s == sizes.size - 1:
        write(mech, at.n // sizes.size, every, sums, q, v, record)
