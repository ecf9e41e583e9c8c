"""The flat tables on which all kernels work. q and v are arrays (N+1, 4, 3): phi, d_1, d_2, d_3 of each body.

The last slot is the ground: phi = 0, d_i = e_i, at rest. A point mass keeps d_i = e_i and has no rotational unknowns.
Every constraint row is one bilinear form of two vectors that are affine in the coordinates of at most two bodies:

g_r = u . w - c,   u = u0 + sum_s (cu_s0 phi_s + cu_si d_si),   w = w0 + sum_s (cw_s0 phi_s + cw_si d_si).

Rows of drives and gears are such forms in one step or at one time: some of their coefficients change from one to the
next, see `drives.py` and `gears.py`.

What belongs to one body, joint or row lies together in one record of a table: kernels read `mech.body[b].mass`, NumPy
`mech.body.mass`. Few tables are fewer arguments of every kernel, which is most of what compiling one costs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from porthos.kernels.crew import Portion
from porthos.kernels.elimination import Pattern
from porthos.notation import Array, IntArray, Records

BODY = np.dtype(
    [
        ("mass", "f8"),
        ("euler", "f8", 3),  # Euler values E_i
        ("ghost", "f8"),  # mass put in the place of none, in the matrix only
        ("spin", "f8", 3),  # stiffness put in the place of a vanishing moment of inertia, in the matrix only
        ("rigid", "i4"),  # 1: rigid body, 0: point mass
        ("markers", "i4", 2),  # range of its markers
    ],
    align=True,
)
ROW = np.dtype(
    [
        ("c", "f8"),
        ("body", "i4", 2),  # of the two sides; N is the ground
        ("marker", "i4", (2, 2)),  # ru and rw that each side contributes to the vectors u and w
        ("kind", "i4"),  # GENERAL, COINCIDE, COINCIDE_REST or ANGLE
        ("law", "i4"),  # the law of its multiplier; -1: a constraint
    ],
    align=True,
)
FORM = np.dtype([("cu", "f8", (2, 4)), ("cw", "f8", (2, 4)), ("u0", "f8", 3), ("w0", "f8", 3)], align=True)
JOINT = np.dtype(
    [
        ("first", "i4"),  # range of its rows
        ("last", "i4"),
        ("body", "i4", 2),  # of the two sides; N is the ground
        ("point", "i4"),  # 1: three coinciding rows, then angles only
        ("shifting", "i4"),  # rows up to the last one that depends on translations
        ("soft", "i4"),  # 1: a force element, whose rows have laws
    ],
    align=True,
)
LOAD = np.dtype(
    [
        ("point", "f8", 3),  # X_i of the point of action
        ("axis", "f8", 3),  # of a port in a joint, in the directors of the first body
        ("body", "i4"),  # N, the ground, only of a port in a joint
        ("other", "i4"),  # the first body of the joint, which gets the reaction; -1: a load or port on one body
        ("turning", "i4"),  # 1: the wrench has components along the directors of the body, 0: along world axes
        ("printed", "i4"),  # 1: torque map (32) as printed, 0: exact map
    ],
    align=True,
)

TERMS = 6  # coefficients of a polynomial
PIECE_TERMS = 10  # of that of a piece
LAW = np.dtype(
    [
        ("rest", "f8"),  # the measure at which x = s - rest vanishes
        ("about", "f8"),  # TURN: an angle less than half a turn away; in a step the one at its begin
        ("force", "f8", TERMS),  # coefficients of F = sum_k force_k x^k; of F = force_0/s^2 if it is INVERSE
        ("damping", "f8"),  # c of the force c s'
        ("friction", "f8"),  # mu of the force mu N s'/sqrt(s'^2 + speed^2), N the size of the force of some rows
        ("speed", "f8"),
        ("row", "i4"),  # the first of its rows
        ("element", "i4"),  # to which it belongs
        ("measure", "i4"),  # LENGTH, VALUE or TURN
        ("form", "i4"),  # POLYNOMIAL, INVERSE, LINES or PIECES
        ("terms", "i4"),  # of the polynomial, or of each piece
        ("pieces", "i4", 2),  # range of its pieces
        ("pressing", "i4", 2),  # range of the rows whose force is N
    ],
    align=True,
)

DRIVE = np.dtype(
    [
        ("rest", "f8"),  # what it prescribes at t = 0, where its row is that of the tables
        ("ahead", "f8", 3),  # TURN: the vector of A that meets the one of B at t = 0
        ("across", "f8", 3),  # TURN: the same a quarter turn later, the vector u of the row
        ("row", "i4"),
        ("marker", "i4"),  # TURN: the place of u among the markers, which no other row uses
        ("measure", "i4"),  # LENGTH, VALUE or TURN
    ],
    align=True,
)

WHEEL = np.dtype(
    [
        ("ahead", "f8", 3),  # the vector of its body along the vector y that it faces, where its angle psi is 0
        ("across", "f8", 3),  # the same a quarter turn later
        ("held", "f8", 3),  # what its marker has beside the vector that turns
        ("radius", "f8"),  # r of its share r psi
        ("row", "i4"),
        ("side", "i4"),
        ("part", "i4"),  # 0: it is in the vector u of the row and faces w; 1: the other way round
        ("marker", "i4"),  # its place among the markers, which no other row uses
    ],
    align=True,
)
GEAR = np.dtype(
    [
        ("pitch", "f8"),  # values of the row that differ by this belong to the same configuration
        ("row", "i4"),
        ("wheels", "i4", 2),  # range of its wheels
    ],
    align=True,
)

# What a law or a drive measures: the distance s of two points by the row g = s^2/2; the row itself, s = g; an angle s,
# which a law has by two rows g = cos s and sin s. The force F(s) of a law is a polynomial, F = force_0/s^2, or pieces:
# straight lines, or polynomials of a potential between two lines, which are beyond its range.
LENGTH, VALUE, TURN = 0, 1, 2
POLYNOMIAL, INVERSE, LINES, PIECES = 0, 1, 2, 3
BEGIN, MIDDLE, ENERGY, FACTORS = 0, 1, 2, 3  # of a piece: its begin, where its powers vanish, U there, their factors

# What is special about a row, for speed: nothing; the first of three rows x_B - x_A = 0; one of the other two of
# them; an angle a_A . b_B = c.
GENERAL, COINCIDE, COINCIDE_REST, ANGLE = 0, 1, 2, 3


class Mechanism(NamedTuple):
    """Constants of an assembled multibody system."""

    body: Records  # (N,) BODY
    row: Records  # (R,) ROW
    form: Records  # (R,) FORM, coefficients of the rows
    joint: Records  # (J,) JOINT
    load: Records  # (L,) LOAD
    drive: Records  # (D,) DRIVE, of the rows that follow a motion
    gear: Records  # GEAR, of the rows with wheels
    wheel: Records  # WHEEL, of the gears one behind the other
    law: Records  # LAW, of the rows of force elements
    piece: Array  # (T, 13) pieces of all laws that have them
    marker: Array  # (K+1, 3) body-fixed vectors sum_i X_i d_i, sorted by body, the ground last; the last one is zero
    gravity: Array  # (3,)


BODY_PLACE = np.dtype(
    [
        ("compliance", "f8"),  # 1/m if the translation is eliminated beforehand; else 0, as for the ground
        ("kept", "i4"),  # 1: the translation of the body is among the unknowns of the pattern
        ("block", "i4"),  # offset of its diagonal block
        ("corner", "i4"),  # offset of the part of it that belongs to rotations
        ("stride", "i4"),  # length of its rows
        ("shares", "i4", 2),  # range of its shares
        ("between", "i4"),  # the first of the blocks between them
        ("restless", "i4"),  # 1: its rows may change although it does not turn, see `awake.py`
    ],
    align=True,
)
JOINT_PLACE = np.dtype(
    [
        ("turn_rows", "i4", 2),  # offset of the rows of block (body, joint) that belong to rotations, for each side
        ("turn_columns", "i4", 2),  # offset of the columns of block (joint, body) that belong to rotations
        ("shift_rows", "i4", 2),  # the same for translations
        ("shift_columns", "i4", 2),
        ("body_body", "i4", 2),  # offsets of blocks (a, b) and (b, a); -1: none
        ("diagonal", "i4"),  # offset of its own block
        ("light", "i4"),  # 1: a force element that is left out of the matrix, and has no places there
        ("island", "i4"),  # number of the part of the mechanism that hangs together without the ground
    ],
    align=True,
)
SHARE = np.dtype([("joint", "i4"), ("side", "i4"), ("row", "i4")], align=True)  # row: of the right-hand side


class Layout(NamedTuple):
    """A pattern of elimination, and where assembly finds what it fills. See `system/layout.py`."""

    pattern: Pattern
    body: Records  # (N+1,) BODY_PLACE
    joint: Records  # (J,) JOINT_PLACE
    share: Records  # SHARE: the joints at each body whose translation is eliminated
    between: IntArray  # offsets of the blocks (j, k) between any two joints at such a body, j major
    complete: int  # 1: nothing is left out of the matrix, so that Newton's method converges quadratically
    worth: float  # iterations that a factorisation costs
    costly: int  # 1: so many that the matrix is kept from step to step
    crowded: int  # 1: so many bodies that it pays to know which of them sleep
    stiff: int  # 1: there are force elements in the pattern
    lightness: float  # by which updates shrink in an iteration although light elements are left out; 0: there are none
    floor: float  # a pivot below this fraction of what was subtracted from it belongs to a row that repeats others
    portion: Portion  # what the thread that has this layout does


class RowVectors(NamedTuple):
    """The vectors of all rows at one configuration; r_u[s], r_w[s] are the rotating parts that side s contributes."""

    u: Array  # (R, 3)
    w: Array  # (R, 3)
    ru: Array  # (R, 2, 3)
    rw: Array  # (R, 2, 3)
