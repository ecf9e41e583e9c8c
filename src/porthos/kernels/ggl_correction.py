"""What PH-MP-GGL adds to the momentum rows of PH-MP: 1/2 Pbar^T [G(Vbar)^T gam' + L Y], see `reduced_ggl.py`."""

from __future__ import annotations

from typing import NamedTuple

from porthos.kernels.awake import asleep
from porthos.kernels.blocks import OFFSET
from porthos.kernels.compile import stage
from porthos.kernels.crew import Portion
from porthos.kernels.elimination import Factors
from porthos.kernels.pose import Pose, reduced_side, row_vectors
from porthos.kernels.tables import ANGLE, COINCIDE, GENERAL, Mechanism
from porthos.kernels.vectors import Triple, combine3, cross3, dot3, part3, row3, row33
from porthos.kernels.workspace import Workspace
from porthos.notation import Array


class Levels(NamedTuple):
    """Memory for a step of PH-MP-GGL beside that of PH-MP."""

    z: Array  # unknowns (t_phi, t_omega) = h/2 (v_phi^1, omega^1) of each body, gam'
    last: Array  # (6 (N + 1),) (t_phi, t_omega) where the step begins
    past: Array  # (S, KEPT, unknowns) of gam' and of the difference of the velocities from those of PH-MP
    # (S, 4) by which updates of positions and of velocities shrank in the last steps, rho of `take_velocities`, and
    # what an update of the positions leaves to the velocities
    rate: Array
    L: Array  # (N+1, 3, 3) velocity gradients
    end: Pose  # that of PH-MP; if there are elements, with shifts of its own
    fast: Factors  # of the matrix without elements, condensed; those of PH-MP if there are none
    sure: Factors  # the same, exact


@stage
def gradient(b: int, z: Array, lv: Levels) -> tuple[Triple, Triple, Triple]:
    """The rows of L of body b: skew(t^0 + t) + skew(t - t^0) skew(a)."""
    a, t0, t1 = part3(z, 6 * b + 3), part3(lv.last, 6 * b + 3), part3(lv.z, 6 * b + 3)
    w, s = combine3(1.0, t1, 1.0, t0), combine3(1.0, t1, -1.0, t0)
    trace = dot3(a, s)
    return (
        (a[0] * s[0] - trace, a[0] * s[1] - w[2], a[0] * s[2] + w[1]),
        (a[1] * s[0] + w[2], a[1] * s[1] - trace, a[1] * s[2] - w[0]),
        (a[2] * s[0] - w[1], a[2] * s[1] + w[0], a[2] * s[2] - trace),
    )


@stage
def carried(L: Array, b: int, r: Triple) -> Triple:
    """L_b r: the rate of a vector of body b that is r at the midpoint."""
    return dot3(row33(L, b, 0), r), dot3(row33(L, b, 1), r), dot3(row33(L, b, 2), r)


@stage
def add_vector(x: Array, at: int, f: float, a: Triple) -> None:
    """x[at:] += f a."""
    x[at] += f * a[0]
    x[at + 1] += f * a[1]
    x[at + 2] += f * a[2]


@stage
def correct_body(mech: Mechanism, b: int, z: Array, mid: Pose, lv: Levels, x: Array) -> None:
    """L, and 1/2 sum_i dbar_i x L Y_i with the part M (q^1 - q^0 - Vbar) = E_i (2 a x dbar_i - L dbar_i) of Y_i."""
    a, total = part3(z, 6 * b + 3), (0.0, 0.0, 0.0)
    X, Y, Z = gradient(b, z, lv)
    for k in range(3):
        lv.L[b, 0, k], lv.L[b, 1, k], lv.L[b, 2, k] = X[k], Y[k], Z[k]
    for i in range(1, 4):
        d = row33(mid.q, b, i)
        y = combine3(2.0, cross3(a, d), -1.0, (dot3(X, d), dot3(Y, d), dot3(Z, d)))
        total = combine3(1.0, total, mech.body[b].euler[i - 1], cross3(d, (dot3(X, y), dot3(Y, y), dot3(Z, y))))
    add_vector(x, 6 * b + 3, 0.5, total)


@stage
def correct_joint(mech: Mechanism, j: int, mid: Pose, lv: Levels, x: Array) -> None:
    """1/2 Pbar^T [G(Vbar)^T gam' + L Y] with the part -Gbar^T gam' of Y, of the rows of a joint."""
    ground, first = mech.body.size, 6 * (mech.body.size + 1)
    for r in range(mech.joint[j].first & OFFSET, mech.joint[j].last & OFFSET):
        row, gam = mech.row[r], lv.z[first + r]
        if row.law >= 0:
            continue
        if row.kind == COINCIDE:  # G is constant
            force = (gam, lv.z[first + r + 1], lv.z[first + r + 2])
            for s in range(2):
                arm = row3(mid.marker, row.marker[s, 1])
                if row.body[s] < ground:
                    add_vector(x, 6 * row.body[s] + 3, -0.5, cross3(arm, carried(lv.L, row.body[s], force)))
        elif row.kind == ANGLE:
            a, b = row.body[0], row.body[1]
            u, w = row3(mid.marker, row.marker[0, 0]), row3(mid.marker, row.marker[1, 1])
            dw = combine3(1.0, carried(lv.L, b, w), -1.0, carried(lv.L, a, w))
            du = combine3(1.0, carried(lv.L, a, u), -1.0, carried(lv.L, b, u))
            if a < ground:
                add_vector(x, 6 * a + 3, 0.5 * gam, cross3(u, dw))
            if b < ground:
                add_vector(x, 6 * b + 3, 0.5 * gam, cross3(w, du))
        elif row.kind == GENERAL:
            correct_general_row(mech, mid, lv, r, gam, x)


@stage
def correct_general_row(mech: Mechanism, mid: Pose, lv: Levels, r: int, gam: float, x: Array) -> None:
    """`correct_joint` for any row."""
    u, w = row_vectors(mech, mid.q, mid.marker, r)
    du, dw = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)  # linear parts at Vbar
    for s in range(2):
        b = mech.row[r].body[s]
        ru, rw = row3(mid.marker, mech.row[r].marker[s, 0]), row3(mid.marker, mech.row[r].marker[s, 1])
        V = combine3(1.0, part3(lv.last, 6 * b), 1.0, part3(lv.z, 6 * b))
        du = combine3(1.0, du, 1.0, combine3(mech.form[r].cu[s, 0], V, 1.0, carried(lv.L, b, ru)))
        dw = combine3(1.0, dw, 1.0, combine3(mech.form[r].cw[s, 0], V, 1.0, carried(lv.L, b, rw)))
    for s in range(2):
        b = mech.row[r].body[s]
        ru, rw = row3(mid.marker, mech.row[r].marker[s, 0]), row3(mid.marker, mech.row[r].marker[s, 1])
        shift, torque = reduced_side(mech, mid, r, s, du, dw)
        force = combine3(1.0, cross3(ru, carried(lv.L, b, w)), 1.0, cross3(rw, carried(lv.L, b, u)))
        add_vector(x, 6 * b, 0.5 * gam, shift)
        add_vector(x, 6 * b + 3, 0.5 * gam, combine3(1.0, torque, -1.0, force))


@stage
def correct_joints(mech: Mechanism, portion: Portion, n: int, everywhere: bool, ws: Workspace, lv: Levels) -> None:
    """The corrections of joints in leg n, `everywhere` or where a body is awake."""
    for i in range(portion.leg[n].joint[0] & OFFSET, portion.leg[n].joint[1] & OFFSET):
        j = portion.joint[i] & OFFSET
        if everywhere or not asleep(mech, j, ws.awake):
            correct_joint(mech, j, ws.mid, lv, ws.x)
