"""Loads at the midpoint: force F at a body-fixed point and torque tau, through the exact or the printed torque map.

exact:                       m = r x F + tau =: m'
printed, eq. (32) of 001:    m = (nu/2) [(2 + s) m' - a (a . m')],  s = |a|^2.
"""

from __future__ import annotations

import numpy as np

from porthos.kernels.compile import kernel
from porthos.kernels.elimination import add_block
from porthos.kernels.rows import add_turned, cross, dot
from porthos.kernels.tables import Layout, Mechanism
from porthos.notation import Array


@kernel
def lever(point: Array, d: Array, out: Array) -> None:
    """Set out = sum X_i d_i for a body-fixed point X and directors d (4, 3)."""
    for k in range(3):
        out[k] = point[0] * d[1, k] + point[1] * d[2, k] + point[2] * d[3, k]


@kernel
def printed_map(a: Array, m: Array, out: Array) -> None:
    """Set out = (nu/2) [(2 + s) m - a (a . m)]."""
    s = dot(a, a)
    half_nu, am = 0.5 / (1.0 + s), dot(a, m)
    for k in range(3):
        out[k] = half_nu * ((2.0 + s) * m[k] - a[k] * am)


@kernel
def printed_slope(a: Array, m: Array, x: Array, r1: Array, F: Array, out: Array) -> None:
    """Derivative of `printed_map` for theta = x: the directors and a = tan(angle/2) move together."""
    nu = 1.0 / (1.0 + dot(a, a))
    da, dr, dm, part = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    cross(a, x, da)
    ax = dot(a, x)
    for k in range(3):
        da[k] = 0.5 * (x[k] - da[k] + a[k] * ax)
    cross(x, r1, dr)
    for k in range(3):
        dr[k] *= 0.5
    cross(dr, F, dm)
    printed_map(a, dm, out)
    printed_map(a, m, part)
    ada, am, dam = dot(a, da), dot(a, m), dot(da, m)
    for k in range(3):
        out[k] += -2.0 * nu * ada * part[k] + 0.5 * nu * (2.0 * ada * m[k] - da[k] * am - a[k] * dam)


@kernel
def add_loads(
    mech: Mechanism, layout: Layout, wrench: Array, mid: Array, end: Array, ua: Array, f: float,
    second_half: bool, slopes: bool, residual: Array, data: Array,
) -> None:  # fmt: skip
    """Subtract f times all loads from the momentum rows and, if `slopes`, their slope from the matrix.

    The momentum rows of a body are all its rows, or the second half of them.
    """
    r, r1, m, effective = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    slope = np.zeros((3, 3))
    for load in range(mech.load_body.size):
        b = mech.load_body[load]
        size = layout.pattern.size[b]
        row = size // 2 if second_half else 0
        at = layout.pattern.start[b] + row
        F, tau = wrench[load, :3], wrench[load, 3:]
        for k in range(3):
            residual[at + k] -= f * F[k]
        if not mech.rigid[b]:
            continue
        lever(mech.load_point[load], mid[b], r)
        lever(mech.load_point[load], end[b], r1)
        cross(r, F, m)
        for k in range(3):
            m[k] += tau[k]
            effective[k] = m[k]
        if mech.load_printed[load]:
            printed_map(ua[b, 3:], m, effective)
        for k in range(3):
            residual[at + 3 + k] -= f * effective[k]
        if slopes:
            load_slope(mech, load, ua[b, 3:], m, r1, F, f, slope)
            add_block(data, layout.pattern.diagonal[b], size, row + 3, 3, slope)


@kernel
def load_slope(mech: Mechanism, load: int, a: Array, m: Array, r1: Array, F: Array, f: float, slope: Array) -> None:
    """Set slope (3, 3): derivative of -f times the torque of a load for theta."""
    slope[:, :] = 0.0
    if not mech.load_printed[load]:  # -f/2 (theta x r1) x F
        add_turned(slope, 0, 0, 0.5 * f, F, r1)
        return
    x, y = np.zeros(3), np.empty(3)
    for c in range(3):
        x[c] = 1.0
        printed_slope(a, m, x, r1, F, y)
        x[c] = 0.0
        for k in range(3):
            slope[k, c] = -f * y[k]


@kernel
def outputs(mech: Mechanism, ua: Array, mid: Array, h: float, y: Array) -> None:
    """Conjugate outputs y (L, 6) = B(qbar)^T (q^1 - q^0)/h: velocity of the point of action and angular velocity."""
    r, spin, part, rate = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for load in range(mech.load_body.size):
        b = mech.load_body[load]
        for k in range(3):
            y[load, k] = 2.0 * ua[b, k] / h
            y[load, 3 + k] = 0.0
        if not mech.rigid[b]:
            continue
        lever(mech.load_point[load], mid[b], r)
        for k in range(3):
            spin[k] = 2.0 * ua[b, 3 + k] / h
        if mech.load_printed[load]:  # 1/2 sum dbar_i x (w x dbar_i)
            rate[:] = spin
            printed_map(ua[b, 3:], rate, spin)
        cross(spin, r, part)
        for k in range(3):
            y[load, k] += part[k]
            y[load, 3 + k] = spin[k]
