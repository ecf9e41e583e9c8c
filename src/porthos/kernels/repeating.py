"""Rows that were taken for repetitions of others: their multipliers stay, and whether they stay closed is looked at.

A pivot that is round-off leaves zeros in the inverse of the block of its joint. Concerned are the multipliers of the
island of the joint, the part of the mechanism that hangs together without the ground, and its bodies, which do not
sleep (`awake.py`); the rest of a mechanism goes on as if there were none.
"""

from __future__ import annotations

from porthos.kernels.blocks import OFFSET
from porthos.kernels.bodies import move_body, turn_markers
from porthos.kernels.compile import inner, stage
from porthos.kernels.crew import OPEN, Crew, meet, tell, total
from porthos.kernels.drives import BEGIN, END
from porthos.kernels.gears import gear_rows
from porthos.kernels.guess import place
from porthos.kernels.marching import begin_rows
from porthos.kernels.newton import CONVERGED, FEEDBACK, OPENED, OPENS, STALLED, Habit
from porthos.kernels.tables import ANGLE, Layout, Mechanism
from porthos.kernels.workspace import Workspace
from porthos.notation import Array


@stage
def repeats(mech: Mechanism, layout: Layout, j: int, data: Array) -> bool:
    """Whether the last matrix skipped rows of joint j."""
    n, at, found = mech.joint[j].last - mech.joint[j].first, layout.joint[j].diagonal, False
    for k in range(n):
        found = found or data[at + k * (n + 1)] == 0.0
    return found and layout.joint[j].light == 0


@inner
def note_islands(mech: Mechanism, layout: Layout, data: Array, habit: Habit) -> None:
    """Note where rows repeat others, behind habit.redundant[0], which says that some do."""
    for k in range(1, habit.redundant.size):
        habit.redundant[k] = 0
    for j in range(mech.joint.size):
        if repeats(mech, layout, j, data):
            habit.redundant[1 + layout.joint[j].island] = 1


@inner
def hold(mech: Mechanism, layout: Layout, habit: Habit, past: Array, steps: int, s: int, z: Array) -> None:
    """Take the multipliers of such islands as they were in the last step: extrapolated they would run away.

    Of a joint another row may be skipped in the next step, so that nothing determines what was extrapolated of it.
    """
    first = 6 * (mech.body.size + 1)
    for n in range(layout.portion.joint.size):
        j = layout.portion.joint[n] & OFFSET
        if habit.redundant[1 + layout.joint[j].island] > 0:
            for i in range(first + mech.joint[j].first, first + mech.joint[j].last):
                z[i] = past[s, place(steps, 0), i]


@stage
def opens(mech: Mechanism, j: int, length: float, limit: float, ws: Workspace) -> bool:
    """Whether a row of a joint is by too much further from zero in ws.echo than in ws.feedback (kappa g both)."""
    found = False
    for r in range(mech.joint[j].first, mech.joint[j].last):
        start, end = ws.feedback[r], ws.echo[r]
        for d in range(mech.drive.size):  # of its row the gap itself, without what it moves
            if mech.drive[d].row == r:
                start, end = start + ws.aim[d, END] - ws.aim[d, BEGIN], end - FEEDBACK * ws.aim[d, END]
        unit = 1.0 if mech.row[r].kind == ANGLE else max(length, length * length)
        found = found or (mech.row[r].law < 0 and not abs(end) - abs(start) <= FEEDBACK * limit * unit)
    return found


@stage
def move_joint(mech: Mechanism, j: int, q0: Array, ws: Workspace) -> None:
    """Let both bodies of a joint follow the unknowns; its rows go to ws.echo."""
    for s in range(2):
        b = mech.joint[j].body[s]
        if b < mech.body.size:
            move_body(mech, b, q0, ws.z, ws.mid, ws.end)
            turn_markers(mech, b, ws.end.q, ws.end.marker)
    begin_rows(mech, j, ws.end.q, ws.end.marker, ws.echo)


@inner
def stay_closed(
    crew: Crew, mech: Mechanism, layout: Layout, surely: bool, length: float, q0: Array, ws: Workspace, data: Array
) -> int:
    """CONVERGED, but STALLED if rows that were taken for repetitions of others opened. All threads meet.

    The pivot of a row can be small for another reason: a light body beside heavy ones.
    """
    portion, most, found = layout.portion, 0.0, False
    for n in range(portion.joint.size):
        j = portion.joint[n] & OFFSET
        if repeats(mech, layout, j, data):
            move_joint(mech, j, q0, ws)
    if mech.gear.size > 0:
        for n in range(portion.body.size):
            move_body(mech, portion.body[n] & OFFSET, q0, ws.z, ws.mid, ws.end)
    meet(crew)
    if crew.me == 0:
        gear_rows(mech, ws.end.q, ws.echo)
    meet(crew)
    for i in range(6 * mech.body.size):
        most = max(most, abs(ws.z[i]) / (length if i % 6 < 3 else 1.0))
    limit = max(OPENS[1], OPENED * most) if surely else OPENS[0]
    for n in range(portion.joint.size):
        j = portion.joint[n] & OFFSET
        found = found or (repeats(mech, layout, j, data) and opens(mech, j, length, limit, ws))
    tell(crew, OPEN, 1.0 if found else 0.0)
    meet(crew)
    return STALLED if total(crew, OPEN) > 0.0 else CONVERGED
