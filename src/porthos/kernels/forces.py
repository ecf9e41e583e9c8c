"""Loads at the midpoint: force F at a body-fixed point and torque tau, through the exact or the printed torque map.

exact:                       m = r x F + tau =: m'
printed, eq. (32) of 001:    m = (nu/2) [(2 + s) m' - a (a . m')],  s = |a|^2,  nu = 1/(1 + s).

A port in a joint acts on B and back on A, with the mean axis n of A. Its wrench is (F, 0, 0, tau, 0, 0), its output the
change of the joint's displacement and angle over h, for bodies that share the axis at both ends of the step:
  slide   n . (change of x_B - x_A, as seen from A),    turn   2 (atan b - atan c),  b = n . a_B,  c = n . a_A.
So the torque in the step is tau n (atan b - atan c)/(b - c), and its work tau times the change of the angle, exactly.
"""

from __future__ import annotations

import numpy as np

from porthos.kernels.blocks import OFFSET
from porthos.kernels.compile import inner, stage
from porthos.kernels.tables import Layout, Mechanism
from porthos.kernels.vectors import Triple, axis3, combine3, cross3, dot3, part3, row33, triple
from porthos.notation import Array

NEAR = 1e-2  # difference of b and c below which the mean slope of atan is a series


@inner
def spread(X: Triple, q: Array, b: int) -> Triple:
    """sum X_i d_i of a body in a configuration q (N+1, 4, 3)."""
    return (
        X[0] * q[b, 1, 0] + X[1] * q[b, 2, 0] + X[2] * q[b, 3, 0],
        X[0] * q[b, 1, 1] + X[1] * q[b, 2, 1] + X[2] * q[b, 3, 1],
        X[0] * q[b, 1, 2] + X[1] * q[b, 2, 2] + X[2] * q[b, 3, 2],
    )


@inner
def lever(point: Array, q: Array, b: int) -> Triple:
    """sum X_i d_i for the point of action of a load."""
    return spread(triple(point), q, b)


@inner
def printed_map(a: Triple, m: Triple) -> Triple:
    """(nu/2) [(2 + s) m - a (a . m)]."""
    s = a[0] * a[0] + a[1] * a[1] + a[2] * a[2]
    f, am = 0.5 / (1.0 + s), a[0] * m[0] + a[1] * m[1] + a[2] * m[2]
    return (
        f * ((2.0 + s) * m[0] - a[0] * am),
        f * ((2.0 + s) * m[1] - a[1] * am),
        f * ((2.0 + s) * m[2] - a[2] * am),
    )


@inner
def printed_slope(a: Triple, m: Triple, x: Triple, r1: Triple, F: Triple) -> Triple:
    """Derivative of `printed_map` for theta = x: the lever moves by x x r1 / 2, and a = tan(angle/2) with it."""
    nu = 1.0 / (1.0 + a[0] * a[0] + a[1] * a[1] + a[2] * a[2])
    c, ax = cross3(a, x), a[0] * x[0] + a[1] * x[1] + a[2] * x[2]
    d0, d1, d2 = 0.5 * (x[0] - c[0] + a[0] * ax), 0.5 * (x[1] - c[1] + a[1] * ax), 0.5 * (x[2] - c[2] + a[2] * ax)
    c = cross3(x, r1)
    by_arm = printed_map(a, cross3((0.5 * c[0], 0.5 * c[1], 0.5 * c[2]), F))
    part = printed_map(a, m)
    ada, am = a[0] * d0 + a[1] * d1 + a[2] * d2, a[0] * m[0] + a[1] * m[1] + a[2] * m[2]
    dam = d0 * m[0] + d1 * m[1] + d2 * m[2]
    f, g = -2.0 * nu * ada, 0.5 * nu
    return (
        by_arm[0] + f * part[0] + g * (2.0 * ada * m[0] - d0 * am - a[0] * dam),
        by_arm[1] + f * part[1] + g * (2.0 * ada * m[1] - d1 * am - a[1] * dam),
        by_arm[2] + f * part[2] + g * (2.0 * ada * m[2] - d2 * am - a[2] * dam),
    )


@inner
def exact_slope(x: Triple, r1: Triple, F: Triple) -> Triple:
    """Derivative of r x F for theta = x: (x x r1) x F / 2."""
    y = cross3(cross3(x, r1), F)
    return 0.5 * y[0], 0.5 * y[1], 0.5 * y[2]


@inner
def between(mech: Mechanism, load: int, q: Array) -> tuple[Triple, Triple, Triple]:
    """The axis of a port in a joint, and its point of action from the centres of B and of A."""
    a, b = mech.load[load].other, mech.load[load].body
    r = lever(mech.load[load].point, q, b)
    apart = combine3(1.0, row33(q, b, 0), -1.0, row33(q, a, 0))
    return lever(mech.load[load].axis, q, a), r, combine3(1.0, r, 1.0, apart)


@inner
def mean_slope(b: float, c: float) -> float:
    """(atan b - atan c)/(b - c)."""
    if abs(b - c) > NEAR:
        return (np.arctan(b) - np.arctan(c)) / (b - c)
    e = 1.0 + b * c
    t = (b - c) / e  # tangent of the difference
    return (1.0 - t * t * (1.0 / 3.0 - t * t * (0.2 - t * t / 7.0))) / e


@inner
def push_pair(mech: Mechanism, load: int, F: float, tau: float, q: Array, f: float, x: Array) -> None:
    """Subtract f times force and torque of a port in a joint, and their reactions, from the momentum rows."""
    n, r_b, r_a = between(mech, load, q)
    for side in range(2):
        body, r = (mech.load[load].other, r_a) if side == 0 else (mech.load[load].body, r_b)
        if body < mech.body.size:
            g, arm = -f if side == 0 else f, cross3(r, n)
            for k in range(3):
                x[6 * body + k] -= g * F * n[k]
                x[6 * body + 3 + k] -= g * (F * arm[k] + tau * n[k])


@inner
def pair_slopes(
    mech: Mechanism, layout: Layout, load: int, F: float, tau: float, mid: Array, end: Array, f: float, data: Array
) -> None:
    """Subtract the slopes of `push_pair` for rotations of each body: both turn the axis and the levers alike.

    How forces on translations turn, and how the share of the torque changes, is left out of the matrix.
    """
    (n, r_b, r_a), (n1, s_b, s_a) = between(mech, load, mid), between(mech, load, end)
    for side in range(2):
        body, r, s = mech.load[load].body, r_b, s_b
        if side == 0:
            body, r, s = mech.load[load].other, r_a, s_a
        if body < mech.body.size:
            g, corner, size = 0.5 * (-f if side == 0 else f), layout.body[body].corner, layout.body[body].stride
            for c in range(3):
                e = axis3(c)
                dn = cross3(e, n1)
                arm = combine3(F, cross3(cross3(e, s), n), F, cross3(r, dn))
                for k in range(3):
                    data[corner + k * size + c] -= g * (arm[k] + tau * dn[k])


@inner
def joint_rates(
    mech: Mechanism, load: int, q: Array, v_b: Triple, w_b: Triple, v_a: Triple, w_a: Triple
) -> tuple[float, float, float]:
    """Velocity of B along the axis as seen from A, and the spins of B and of A about it."""
    n, r_b, r_a = between(mech, load, q)
    along = dot3(n, v_b) - dot3(n, v_a) + dot3(n, cross3(w_b, r_b)) - dot3(n, cross3(w_a, r_a))
    return along, dot3(n, w_b), dot3(n, w_a)


@stage
def add_loads(
    mech: Mechanism, layout: Layout, leg: int, wrench: Array, n: int, mid: Array, end: Array, z: Array, f: float,
    slopes: bool, x: Array, data: Array,
) -> None:  # fmt: skip
    """Subtract f times the loads of a leg from the momentum rows of step n, and their slopes from the matrix."""
    if mech.load.size > 0:
        add_all_loads(mech, layout, leg, wrench, n, mid, end, z, f, slopes, x, data)


@inner
def add_all_loads(
    mech: Mechanism, layout: Layout, leg: int, wrench: Array, n: int, mid: Array, end: Array, z: Array, f: float,
    slopes: bool, x: Array, data: Array,
) -> None:  # fmt: skip
    """`add_loads` where there are some."""
    for i in range(layout.portion.leg[leg].load[0] & OFFSET, layout.portion.leg[leg].load[1] & OFFSET):
        load = layout.portion.load[i] & OFFSET
        b = mech.load[load].body
        at = 6 * b
        F, tau = row33(wrench, n, load), (wrench[n, load, 3], wrench[n, load, 4], wrench[n, load, 5])
        if mech.load[load].other >= 0:
            axis, to = lever(mech.load[load].axis, mid, mech.load[load].other), 6 * mech.load[load].other
            share = tau[0] * mean_slope(dot3(axis, part3(z, at + 3)), dot3(axis, part3(z, to + 3)))
            push_pair(mech, load, F[0], share, mid, f, x)
            if slopes:
                pair_slopes(mech, layout, load, F[0], share, mid, end, f, data)
            continue
        F1, tau1 = F, tau
        if mech.load[load].turning == 1:
            F, tau, F1, tau1 = spread(F, mid, b), spread(tau, mid, b), spread(F, end, b), spread(tau, end, b)
        for k in range(3):
            x[at + k] -= f * F[k]
        if not mech.body[b].rigid:
            continue
        r = lever(mech.load[load].point, mid, b)
        m = combine3(1.0, cross3(r, F), 1.0, tau)
        a, printed = (z[at + 3], z[at + 4], z[at + 5]), mech.load[load].printed == 1
        effective = printed_map(a, m) if printed else m
        for k in range(3):
            x[at + 3 + k] -= f * effective[k]
        if slopes:
            r1, corner, size = lever(mech.load[load].point, end, b), layout.body[b].corner, layout.body[b].stride
            for c in range(3):
                e = axis3(c)
                slope = printed_slope(a, m, e, r1, F) if printed else exact_slope(e, r1, F)
                if mech.load[load].turning == 1:  # on rotations; how the force on translations turns is left out
                    turned = combine3(0.5, cross3(r, cross3(e, F1)), 0.5, cross3(e, tau1))
                    slope = combine3(1.0, slope, 1.0, turned)
                for k in range(3):
                    data[corner + k * size + c] -= f * slope[k]


@stage
def outputs(mech: Mechanism, z: Array, mid: Array, h: float, y: Array) -> None:
    """Conjugate outputs y (L, 6) = B(qbar)^T (q^1 - q^0)/h: velocity of the point of action and angular velocity."""
    if mech.load.size > 0:
        all_outputs(mech, z, mid, h, y)


@inner
def all_outputs(mech: Mechanism, z: Array, mid: Array, h: float, y: Array) -> None:
    """`outputs` where there are some."""
    for load in range(mech.load.size):
        b = mech.load[load].body
        for k in range(6):
            y[load, k] = 0.0
        if mech.load[load].other >= 0:
            i, j = 6 * b, 6 * mech.load[load].other
            along, to, fro = joint_rates(mech, load, mid, part3(z, i), part3(z, i + 3), part3(z, j), part3(z, j + 3))
            y[load, 0], y[load, 3] = 2.0 * along / h, 2.0 * (to - fro) * mean_slope(to, fro) / h
            continue
        point, spin = (2.0 * z[6 * b] / h, 2.0 * z[6 * b + 1] / h, 2.0 * z[6 * b + 2] / h), (0.0, 0.0, 0.0)
        if mech.body[b].rigid:
            spin = (2.0 * z[6 * b + 3] / h, 2.0 * z[6 * b + 4] / h, 2.0 * z[6 * b + 5] / h)
            if mech.load[load].printed:  # 1/2 sum dbar_i x (w x dbar_i)
                spin = printed_map((z[6 * b + 3], z[6 * b + 4], z[6 * b + 5]), spin)
            point = combine3(1.0, point, 1.0, cross3(spin, lever(mech.load[load].point, mid, b)))
        force_rates, torque_rates = along_axes(mech, load, mid, point, spin)
        for k in range(3):
            y[load, k], y[load, 3 + k] = force_rates[k], torque_rates[k]


@inner
def along_axes(mech: Mechanism, load: int, q: Array, point: Triple, spin: Triple) -> tuple[Triple, Triple]:
    """Velocity of the point and angular velocity along the axes of the wrench: those of the world, or of the body."""
    if mech.load[load].turning == 0:
        return point, spin
    b = mech.load[load].body
    one, two, three = row33(q, b, 1), row33(q, b, 2), row33(q, b, 3)
    return (
        (dot3(one, point), dot3(two, point), dot3(three, point)),
        (dot3(one, spin), dot3(two, spin), dot3(three, spin)),
    )


@inner
def node_outputs(mech: Mechanism, load: int, q: Array, v: Array) -> tuple[Triple, Triple]:
    """Outputs of a load or port in the state (q, v)."""
    b, a = mech.load[load].body, mech.load[load].other
    if a >= 0:
        along, to, fro = joint_rates(mech, load, q, row33(v, b, 0), spin_of(q, v, b), row33(v, a, 0), spin_of(q, v, a))
        return (along, 0.0, 0.0), (to - fro, 0.0, 0.0)
    point = combine3(1.0, row33(v, b, 0), 1.0, lever(mech.load[load].point, v, b))
    return along_axes(mech, load, q, point, spin_of(q, v, b))


@inner
def spin_of(q: Array, v: Array, b: int) -> Triple:
    """omega = 1/2 sum d_i x d_i'."""
    total = combine3(0.5, cross3(row33(q, b, 1), row33(v, b, 1)), 0.5, cross3(row33(q, b, 2), row33(v, b, 2)))
    return combine3(1.0, total, 0.5, cross3(row33(q, b, 3), row33(v, b, 3)))
