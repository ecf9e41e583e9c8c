"""Whether rows that were taken for repetitions of others stay closed in a step."""

from __future__ import annotations

from porthos.kernels.blocks import OFFSET
from porthos.kernels.bodies import move_body, turn_markers
from porthos.kernels.compile import inner, stage
from porthos.kernels.crew import OPEN, Crew, Portion, meet, tell, total
from porthos.kernels.drives import BEGIN, END
from porthos.kernels.gears import gear_rows
from porthos.kernels.marching import begin_rows
from porthos.kernels.newton import CONVERGED, FEEDBACK, OPENED, OPENS, STALLED
from porthos.kernels.tables import ANGLE, Mechanism
from porthos.kernels.workspace import Workspace
from porthos.notation import Array


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
