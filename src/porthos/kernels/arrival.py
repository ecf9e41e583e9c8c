"""What laws say of both ends of a step: at which angles it begins, counted over many turns, and whether it may end.

Rows know an angle s up to whole turns: (g, k) = (cos s, sin s). A run knows it, as s^1 = s^0 + ds with |ds| < pi.
"""

from __future__ import annotations

from porthos.kernels.compile import stage
from porthos.kernels.elements import measured, nearest_angle, row_value, turned
from porthos.kernels.newton import CONVERGED, STRAYED, TURNED_TOO_FAR
from porthos.kernels.pieces import beyond_pieces
from porthos.kernels.tables import PIECES, TURN, Mechanism
from porthos.notation import Array


@stage
def cayley_square(z: Array, b: int) -> float:
    """tan^2 of half the turn of body b in a step."""
    return z[6 * b + 3] ** 2 + z[6 * b + 4] ** 2 + z[6 * b + 5] ** 2


@stage
def count_turns(mech: Mechanism, start: Array) -> None:
    """Note the angles at the begin of a step, where rows are `start`: those nearest to the ones at the last begin."""
    for n in range(mech.law.size):
        if mech.law[n].measure == TURN:
            r = mech.law[n].row
            mech.law[n].about = nearest_angle(start[r], start[r + 1], mech.law[n].about)


@stage
def arrived(mech: Mechanism, z: Array, q: Array, start: Array) -> int:
    """CONVERGED if laws hold at the end q of a step from the rows `start` with the unknowns z.

    STRAYED: a potential left its range; TURNED_TOO_FAR: two bodies may have turned against each other by half a turn.
    """
    ended = CONVERGED
    for n in range(mech.law.size):
        law, r, pair = mech.law[n], mech.law[n].row, mech.law[n].measure == TURN
        if pair and cayley_square(z, mech.row[r].body[0]) * cayley_square(z, mech.row[r].body[1]) >= 1.0:
            ended = TURNED_TOO_FAR
        if law.form == PIECES:
            g = row_value(mech, q, r)
            if pair:
                s = law.about + turned(start[r], start[r + 1], g, row_value(mech, q, r + 1))
            else:
                s = measured(mech, n, g, 0.0)
            if beyond_pieces(mech.piece, law.pieces[0], law.pieces[1], s - law.rest):
                ended = STRAYED
    return ended
