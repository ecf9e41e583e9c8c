"""Loads at the midpoint: force F at a body-fixed point and torque tau, through the exact or the printed torque map.

exact:                       m = r x F + tau =: m'
printed, eq. (32) of 001:    m = (nu/2) [(2 + s) m' - a (a . m')],  s = |a|^2,  nu = 1/(1 + s).
"""

from __future__ import annotations

from porthos.kernels.compile import inner, stage
from porthos.kernels.tables import Layout, Mechanism
from porthos.kernels.vectors import Triple, axis3, cross3
from porthos.notation import Array


@inner
def lever(point: Array, q: Array, b: int) -> Triple:
    """sum X_i d_i for the point of action of a load, in a configuration q (N+1, 4, 3)."""
    X, Y, Z = point[0], point[1], point[2]
    return (
        X * q[b, 1, 0] + Y * q[b, 2, 0] + Z * q[b, 3, 0],
        X * q[b, 1, 1] + Y * q[b, 2, 1] + Z * q[b, 3, 1],
        X * q[b, 1, 2] + Y * q[b, 2, 2] + Z * q[b, 3, 2],
    )


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


@stage
def add_loads(
    mech: Mechanism, layout: Layout, wrench: Array, n: int, mid: Array, end: Array, z: Array, f: float, slopes: bool,
    x: Array, data: Array,
) -> None:  # fmt: skip
    """Subtract f times all loads of step n from the momentum rows and, if `slopes`, their slope from the matrix."""
    for load in range(mech.load.size):
        b = mech.load[load].body
        at = 6 * b
        F = (wrench[n, load, 0], wrench[n, load, 1], wrench[n, load, 2])
        for k in range(3):
            x[at + k] -= f * wrench[n, load, k]
        if not mech.body[b].rigid:
            continue
        m = cross3(lever(mech.load[load].point, mid, b), F)
        m = (m[0] + wrench[n, load, 3], m[1] + wrench[n, load, 4], m[2] + wrench[n, load, 5])
        a, printed = (z[at + 3], z[at + 4], z[at + 5]), mech.load[load].printed == 1
        effective = printed_map(a, m) if printed else m
        for k in range(3):
            x[at + 3 + k] -= f * effective[k]
        if slopes:
            r1, corner, size = lever(mech.load[load].point, end, b), layout.body[b].corner, layout.body[b].stride
            for c in range(3):
                e = axis3(c)
                slope = printed_slope(a, m, e, r1, F) if printed else exact_slope(e, r1, F)
                for k in range(3):
                    data[corner + k * size + c] -= f * slope[k]


@stage
def outputs(mech: Mechanism, z: Array, mid: Array, h: float, y: Array) -> None:
    """Conjugate outputs y (L, 6) = B(qbar)^T (q^1 - q^0)/h: velocity of the point of action and angular velocity."""
    for load in range(mech.load.size):
        b = mech.load[load].body
        for k in range(3):
            y[load, k] = 2.0 * z[6 * b + k] / h
            y[load, 3 + k] = 0.0
        if mech.body[b].rigid:
            spin = (2.0 * z[6 * b + 3] / h, 2.0 * z[6 * b + 4] / h, 2.0 * z[6 * b + 5] / h)
            if mech.load[load].printed:  # 1/2 sum dbar_i x (w x dbar_i)
                spin = printed_map((z[6 * b + 3], z[6 * b + 4], z[6 * b + 5]), spin)
            arm = cross3(spin, lever(mech.load[load].point, mid, b))
            for k in range(3):
                y[load, k] += arm[k]
                y[load, 3 + k] = spin[k]
