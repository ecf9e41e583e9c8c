"""Rigid velocities, and the vectors Y and X of PH-MP-GGL that collect forces on both levels.

Y_i = M_i (q^1 - q^0 - Vbar)_i - (Gbar^T gam')_i
X_i = M_i (V^1 - V^0)_i + (Gbar^T lam')_i + (G(Vbar)^T gam')_i + L Y_i,
with V = h v and L = sum_j Vbar_j dbar^j; see `reduced_ggl.py`.
"""

from __future__ import annotations

import numpy as np

from porthos.kernels.compile import entry, kernel
from porthos.kernels.reduced_midpoint import Workspace
from porthos.kernels.rows import cross, dot
from porthos.kernels.tables import Mechanism
from porthos.notation import Array


@entry
def rigid_velocity(mech: Mechanism, q: Array, tau: Array, out: Array) -> None:
    """out (N+1, 4, 3) = P(q) tau: (tau_phi, tau_omega x d_i)."""
    for b in range(mech.mass.size):
        for k in range(3):
            out[b, 0, k] = tau[b, k]
        if mech.rigid[b]:
            for i in range(1, 4):
                cross(tau[b, 3:], q[b, i], out[b, i])


@kernel
def apply(A: Array, x: Array, out: Array) -> None:
    """Set out = A x for a 3 x 3 matrix."""
    for k in range(3):
        out[k] = dot(A[k], x)


@kernel
def velocity_gradient(mid: Array, V: Array, L: Array) -> None:
    """L (3, 3) = sum_j V_j dbar^j with the reciprocal directors of mid (4, 3): dbar^1 = dbar_2 x dbar_3 / det, ..."""
    c = np.empty(3)
    L[:, :] = 0.0
    cross(mid[2], mid[3], c)
    det = dot(mid[1], c)
    for j in range(3):
        cross(mid[1 + (j + 1) % 3], mid[1 + (j + 2) % 3], c)
        for r in range(3):
            for k in range(3):
                L[r, k] += V[j + 1, r] * c[k] / det


@kernel
def row_forces(mech: Mechanism, r: int, s: int, u: Array, w: Array, i: int, out: Array) -> None:
    """out (3,) = cu_si w + cw_si u: the entry of G^T of row r for coordinate i of side s."""
    for k in range(3):
        out[k] = mech.cu[r, s, i] * w[k] + mech.cw[r, s, i] * u[k]


@kernel
def joint_forces(mech: Mechanism, ws: Workspace, Y: Array, X: Array) -> None:
    """Set Y and X to the forces of the joints; the rows must have been evaluated."""
    Y[:, :, :] = 0.0
    X[:, :, :] = 0.0
    part = np.empty(3)
    for r in range(mech.c.size):
        for s in range(2):
            b = mech.row_body[r, s]
            if b == mech.mass.size:
                continue
            for i in range(4):
                if mech.cu[r, s, i] == 0.0 and mech.cw[r, s, i] == 0.0:
                    continue
                row_forces(mech, r, s, ws.rows_mid.u[r], ws.rows_mid.w[r], i, part)
                for k in range(3):
                    Y[b, i, k] -= ws.gam[r] * part[k]
                    X[b, i, k] += ws.lam[r] * part[k]
                row_forces(mech, r, s, ws.rows_rate.u[r], ws.rows_rate.w[r], i, part)
                for k in range(3):
                    X[b, i, k] += ws.gam[r] * part[k]


@kernel
def add_momenta(mech: Mechanism, V0: Array, ws: Workspace, V1: Array, Y: Array, X: Array) -> None:
    """Add M (q^1 - q^0 - Vbar) to Y, M (V^1 - V^0) and the forces L Y_i of the internal multipliers to X."""
    L, part = np.empty((3, 3)), np.empty(3)
    for b in range(mech.mass.size):
        for i in range(4 if mech.rigid[b] else 1):
            M = mech.mass[b] if i == 0 else mech.euler[b, i - 1]
            if i == 0:
                part[:] = 2.0 * ws.ua[b, :3]
            else:
                cross(ws.ua[b, 3:], ws.mid[b, i], part)
                part *= 2.0
            for k in range(3):
                Y[b, i, k] += M * (part[k] - 0.5 * (V0[b, i, k] + V1[b, i, k]))
                X[b, i, k] += M * (V1[b, i, k] - V0[b, i, k])
        if mech.rigid[b]:
            velocity_gradient(ws.mid[b], 0.5 * (V0[b] + V1[b]), L)
            for i in range(1, 4):
                for k in range(3):
                    X[b, i, k] += dot(L[k], Y[b, i])
