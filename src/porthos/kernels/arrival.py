"""What laws say of the end of a step: whether a step may end there, and at which angles, counted over many turns.

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
def angle_after(mech: Mechanism, r: int, n: int, q: Array, start: Array) -> float:
    """The angle of law n, which has the rows r and r + 1, at the end q of a step from the rows `start`."""
    g0, k0 = start[r], start[r + 1]
    ds = turned(g0, k0, row_value(mech, q, r), row_value(mech, q, r + 1))
    return nearest_angle(g0, k0, mech.law[n].about) + ds


@stage
def arrived(mech: Mechanism, z: Array, q: Array, start: Array) -> int:
    """CONVERGED if laws hold at the end q of a step from the rows `start` with the unknowns z.

    STRAYED: a potential left its range; TURNED_TOO_FAR: two bodies may have turned against each other by half a turn.
    """
    ended, r = CONVERGED, 0
    while r < mech.row.size:
        n = mech.row[r].law
        if n < 0:
            r += 1
            continue
        law, pair = mech.law[n], mech.law[n].measure == TURN
        if pair and cayley_square(z, mech.row[r].body[0]) * cayley_square(z, mech.row[r].body[1]) >= 1.0:
            ended = TURNED_TOO_FAR
        if law.form == PIECES:
            s = angle_after(mech, r, n, q, start) if pair else measured(mech, n, row_value(mech, q, r), 0.0)
            if beyond_pieces(mech.piece, law.pieces[0], law.pieces[1], s - law.rest):
                ended = STRAYED
        r += 2 if pair else 1
    return ended


@stage
def count_turns(mech: Mechanism, q: Array, start: Array) -> None:
    """Note the angles at the end q of a step from the rows `start`, near which the next step begins."""
    r = 0
    while r < mech.row.size:
        n = mech.row[r].law
        if n >= 0 and mech.law[n].measure == TURN:
            mech.law[n].about = angle_after(mech, r, n, q, start)
            r += 1
        r += 1
