"""Rigid velocities, and the vectors Y and X of PH-MP-GGL that collect forces on both levels.

Y_i = M_i (q^1 - q^0 - Vbar)_i - (Gbar^T gam')_i
X_i = M_i (V^1 - V^0)_i + (Gbar^T lam')_i + (G(Vbar)^T gam')_i + L Y_i
with V = h v and L = sum_j Vbar_j dbar^j, dbar^j the reciprocal directors; see `reduced_ggl.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from porthos.kernels.compile import inner
from porthos.kernels.reduced_midpoint import Workspace
from porthos.kernels.tables import Mechanism, RowVectors
from porthos.kernels.vectors import Triple, cross3, dot3, row33
from porthos.notation import Array


class Levels(NamedTuple):
    """Memory for a step of PH-MP-GGL beside that of PH-MP."""

    tau: Array  # (N, 6) unknown twists h (v_phi^1, omega^1)
    gam: Array  # (R,) scaled multipliers of the velocity level
    rate: RowVectors  # linear parts of the rows at a velocity
    V0: Array  # (N+1, 4, 3) h v^0
    V1: Array  # (N+1, 4, 3) h v^1
    Vm: Array  # (N+1, 4, 3) their mean
    Y: Array  # (N+1, 4, 3)
    X: Array  # (N+1, 4, 3)
    L: Array  # (N, 3, 3)


@inner
def rigid_velocity(mech: Mechanism, q: Array, tau: Array, d: float, out: Array) -> None:
    """out (N+1, 4, 3) = P(q) tau / d: (tau_phi, tau_omega x d_i) / d.

    A division, because h (1/h) != 1 in floating point: that would change the energy a little in the same direction in
    every step.
    """
    for b in range(mech.mass.size):
        for k in range(3):
            out[b, 0, k] = tau[b, k] / d
        if mech.rigid[b]:
            omega = (tau[b, 3], tau[b, 4], tau[b, 5])
            for i in range(1, 4):
                v = cross3(omega, row33(q, b, i))
                for k in range(3):
                    out[b, i, k] = v[k] / d


@inner
def mean_velocity(mech: Mechanism, mid: Array, lv: Levels) -> None:
    """Vm = (V0 + V1)/2 and the velocity gradients L = sum_j Vm_j dbar^j of all rigid bodies."""
    for b in range(mech.mass.size):
        for i in range(4):
            for k in range(3):
                lv.Vm[b, i, k] = 0.5 * (lv.V0[b, i, k] + lv.V1[b, i, k])
        if mech.rigid[b]:
            d1, d2, d3 = row33(mid, b, 1), row33(mid, b, 2), row33(mid, b, 3)
            c1, c2, c3 = cross3(d2, d3), cross3(d3, d1), cross3(d1, d2)
            inverse = 1.0 / dot3(d1, c1)
            for r in range(3):
                for k in range(3):
                    total = lv.Vm[b, 1, r] * c1[k] + lv.Vm[b, 2, r] * c2[k] + lv.Vm[b, 3, r] * c3[k]
                    lv.L[b, r, k] = inverse * total


@inner
def stretched(L: Array, b: int, x: Triple) -> Triple:
    """L_b x."""
    return dot3(row33(L, b, 0), x), dot3(row33(L, b, 1), x), dot3(row33(L, b, 2), x)


@inner
def joint_forces(mech: Mechanism, ws: Workspace, lv: Levels) -> None:
    """Set Y and X to the forces of the joints; the rows must have been evaluated."""
    for b in range(mech.mass.size):
        for i in range(4):
            for k in range(3):
                lv.Y[b, i, k] = 0.0
                lv.X[b, i, k] = 0.0
    u, w, du, dw = ws.rows_mid.u, ws.rows_mid.w, lv.rate.u, lv.rate.w
    for r in range(mech.c.size):
        lam, gam = ws.lam[r], lv.gam[r]
        for s in range(2):
            b = mech.row_body[r, s]
            if b == mech.mass.size:
                continue
            for i in range(4):
                p, q = mech.cu[r, s, i], mech.cw[r, s, i]
                if p != 0.0 or q != 0.0:
                    for k in range(3):
                        f = p * w[r, k] + q * u[r, k]
                        lv.Y[b, i, k] -= gam * f
                        lv.X[b, i, k] += lam * f + gam * (p * dw[r, k] + q * du[r, k])


@inner
def add_momenta(mech: Mechanism, ws: Workspace, lv: Levels) -> None:
    """Add M (q^1 - q^0 - Vm) to Y, M (V^1 - V^0) and the forces L Y_i of the internal multipliers to X."""
    for b in range(mech.mass.size):
        for k in range(3):
            lv.Y[b, 0, k] += mech.mass[b] * (2.0 * ws.ua[b, k] - lv.Vm[b, 0, k])
            lv.X[b, 0, k] += mech.mass[b] * (lv.V1[b, 0, k] - lv.V0[b, 0, k])
        if mech.rigid[b]:
            a = (ws.ua[b, 3], ws.ua[b, 4], ws.ua[b, 5])
            for i in range(1, 4):
                E, turn = mech.euler[b, i - 1], cross3(a, row33(ws.mid, b, i))
                for k in range(3):
                    lv.Y[b, i, k] += E * (2.0 * turn[k] - lv.Vm[b, i, k])
                internal = stretched(lv.L, b, row33(lv.Y, b, i))
                for k in range(3):
                    lv.X[b, i, k] += E * (lv.V1[b, i, k] - lv.V0[b, i, k]) + internal[k]
