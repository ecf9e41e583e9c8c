"""What a row g = u . w - c needs of a configuration: its vectors, its gradient, its change and its force.

Side s of a row moves by (delta phi, theta); its gradient there is (cu_s0 w + cw_s0 u, ru_s x w + rw_s x u).
"""

from __future__ import annotations

from typing import NamedTuple

from porthos.kernels.compile import stage
from porthos.kernels.tables import Mechanism
from porthos.kernels.vectors import Triple, combine3, cross3, dot3, part3, row3, row33, triple
from porthos.notation import Array


class Pose(NamedTuple):
    """A configuration and what rows need of it."""

    q: Array  # (N+1, 4, 3)
    marker: Array  # (K+1, 3)
    shift: Array  # (R, 2, 3) translational parts cu_0 w + cw_0 u of the rows; those that are constant are set before


@stage
def vectors_of_bodies(a: Array) -> bool:
    """Whether an array is (N, 4, 3). Behind such a test the compiler knows strides: an address is no product then."""
    return a.shape[1] == 4 and a.shape[2] == 3


@stage
def in_shape(pose: Pose) -> bool:
    """Whether all arrays of a pose are as they should be, see `vectors_of_bodies`."""
    shift = pose.shift
    return vectors_of_bodies(pose.q) and pose.marker.shape[1] == 3 and shift.shape[1] == 2 and shift.shape[2] == 3


@stage
def row_vectors(mech: Mechanism, q: Array, marker: Array, r: int) -> tuple[Triple, Triple]:
    """The vectors u and w of row r."""
    u, w = triple(mech.form[r].u0), triple(mech.form[r].w0)
    for s in range(2):
        phi = row33(q, mech.row[r].body[s], 0)
        ru, rw = row3(marker, mech.row[r].marker[s, 0]), row3(marker, mech.row[r].marker[s, 1])
        u = combine3(1.0, u, 1.0, combine3(1.0, ru, mech.form[r].cu[s, 0], phi))
        w = combine3(1.0, w, 1.0, combine3(1.0, rw, mech.form[r].cw[s, 0], phi))
    return u, w


@stage
def reduced_side(mech: Mechanism, pose: Pose, r: int, s: int, u: Triple, w: Triple) -> tuple[Triple, Triple]:
    """Row r of G P for side s: (cu_0 w + cw_0 u, ru x w + rw x u)."""
    ru, rw = row3(pose.marker, mech.row[r].marker[s, 0]), row3(pose.marker, mech.row[r].marker[s, 1])
    shift = combine3(mech.form[r].cu[s, 0], w, mech.form[r].cw[s, 0], u)
    return shift, combine3(1.0, cross3(ru, w), 1.0, cross3(rw, u))


@stage
def row_change(mech: Mechanism, r: int, mid: Pose, z: Array) -> float:
    """g_r(q^1) - g_r(q^0)."""
    u, w = row_vectors(mech, mid.q, mid.marker, r)
    total = 0.0
    for s in range(2):
        at = 6 * mech.row[r].body[s]
        shift, turn = reduced_side(mech, mid, r, s, u, w)
        total += dot3(shift, part3(z, at)) + dot3(turn, part3(z, at + 3))
    return 2.0 * total


@stage
def add_row_force(mech: Mechanism, r: int, mid: Pose, lam: float, x: Array) -> None:
    """Add lam times row r to the momentum rows."""
    u, w = row_vectors(mech, mid.q, mid.marker, r)
    for s in range(2):
        at = 6 * mech.row[r].body[s]
        shift, turn = reduced_side(mech, mid, r, s, u, w)
        for k in range(3):
            x[at + k] += lam * shift[k]
            x[at + 3 + k] += lam * turn[k]
