"""The flat tables on which all kernels work. q and v are arrays (N+1, 4, 3): phi, d_1, d_2, d_3 of each body.

The last slot is the ground: phi = 0, d_i = e_i, at rest. A point mass keeps d_i = e_i and has no rotational unknowns.
Every constraint row is one bilinear form of two vectors that are affine in the coordinates of at most two bodies:

g_r = u . w - c,   u = u0 + sum_s (cu_s0 phi_s + cu_si d_si),   w = w0 + sum_s (cw_s0 phi_s + cw_si d_si).
"""

from __future__ import annotations

from typing import NamedTuple

from porthos.kernels.elimination import Pattern
from porthos.notation import Array, IntArray


class Mechanism(NamedTuple):
    """Constants of an assembled multibody system."""

    mass: Array  # (N,)
    euler: Array  # (N, 3) Euler values E_i
    spin: Array  # (N, 3) stiffness put in the place of a vanishing moment of inertia, in the matrix only
    rigid: IntArray  # (N,) 1: rigid body, 0: point mass
    gravity: Array  # (3,)
    row_body: IntArray  # (R, 2) bodies of the two sides; N is the ground
    cu: Array  # (R, 2, 4) coefficients of u
    cw: Array  # (R, 2, 4) coefficients of w
    u0: Array  # (R, 3)
    w0: Array  # (R, 3)
    c: Array  # (R,)
    joint_row: IntArray  # (J+1,) range of rows of each joint
    joint_body: IntArray  # (J, 2) bodies of the two sides; N is the ground
    load_body: IntArray  # (L,)
    load_point: Array  # (L, 3) X_i of the point of action
    load_printed: IntArray  # (L,) 1: torque map (32) as printed, 0: exact map


# What is special about a row, for speed: nothing; the first of three rows x_B - x_A = 0; one of the other two of
# them; an angle a_A . b_B = c.
GENERAL, COINCIDE, COINCIDE_REST, ANGLE = 0, 1, 2, 3


class Markers(NamedTuple):
    """Body-fixed vectors sum_i X_i d_i, sorted by body, the ground last; one more, at the end, is zero."""

    pointer: IntArray  # (N+2,) range of markers of each body
    vector: Array  # (K+1, 3) X
    row: IntArray  # (R, 2, 2) markers ru and rw that each side of a row contributes to its vectors u and w


class Shares(NamedTuple):
    """The joints at each body whose translation is eliminated, and the blocks between any two of them."""

    pointer: IntArray  # (N+1,) range of joints
    joint: IntArray
    side: IntArray
    block: IntArray  # offsets of the blocks (j, k) for all pairs at a body, j major


class Layout(NamedTuple):
    """A pattern of elimination, and where assembly finds what it fills. See `system/layout.py`."""

    pattern: Pattern
    markers: Markers
    shares: Shares
    kept: IntArray  # (N+1,) 1: the translation of the body is among the unknowns of the pattern
    compliance: Array  # (N+1,) 1/m of the other bodies; 0 for these and for the ground
    corner: IntArray  # (N+1,) offset of the block of rotations
    stride: IntArray  # (N+1,) length of its rows
    turn_rows: IntArray  # (J, 2) offset of the rows of block (body, joint) that belong to rotations
    turn_columns: IntArray  # (J, 2) offset of the columns of block (joint, body) that belong to rotations
    shift_rows: IntArray  # (J, 2) the same for translations
    shift_columns: IntArray  # (J, 2)
    body_body: IntArray  # (J, 2) offsets of blocks (a, b) and (b, a); -1: none
    row_kind: IntArray  # (R,) GENERAL, COINCIDE, COINCIDE_REST or ANGLE
    point_joint: IntArray  # (J,) 1: three coinciding rows, then angles only
    shifting: IntArray  # (J,) rows up to the last one that depends on translations
    complete: int  # 1: nothing is left out of the matrix, so that Newton's method converges quadratically
    worth: float  # iterations that a factorisation costs
    costly: int  # 1: so many that the matrix is kept from step to step


class RowVectors(NamedTuple):
    """The vectors of all rows at one configuration; r_u[s], r_w[s] are the rotating parts that side s contributes."""

    u: Array  # (R, 3)
    w: Array  # (R, 3)
    ru: Array  # (R, 2, 3)
    rw: Array  # (R, 2, 3)
