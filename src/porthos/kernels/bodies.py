"""Kinematics of rigid bodies in directors: the Cayley map that the midpoint rule with rigidity rows amounts to.

dbar_i = nu (d_i^0 + a x d_i^0 + a (a . d_i^0)),  nu = 1/(1 + |a|^2),  d_i^1 = 2 dbar_i - d_i^0,  phi^1 = phi^0 + 2 u.
"""

from __future__ import annotations

from porthos.kernels.compile import kernel, stage
from porthos.kernels.pose import Pose
from porthos.kernels.rows import dot
from porthos.kernels.tables import Mechanism
from porthos.notation import Array


@stage
def turn(a0: float, a1: float, a2: float, nu: float, q0: Array, b: int, i: int, mid: Array, end: Array) -> None:
    """Director i of body b at the midpoint and at the end."""
    x, y, z = q0[b, i, 0], q0[b, i, 1], q0[b, i, 2]
    along = a0 * x + a1 * y + a2 * z
    d0 = nu * (x + a1 * z - a2 * y + a0 * along)
    d1 = nu * (y + a2 * x - a0 * z + a1 * along)
    d2 = nu * (z + a0 * y - a1 * x + a2 * along)
    mid[b, i, 0], mid[b, i, 1], mid[b, i, 2] = d0, d1, d2
    end[b, i, 0], end[b, i, 1], end[b, i, 2] = 2.0 * d0 - x, 2.0 * d1 - y, 2.0 * d2 - z


@stage
def turn_markers(mech: Mechanism, b: int, q: Array, marker: Array) -> None:
    """The markers of body b at the configuration q."""
    for k in range(mech.body[b].markers[0], mech.body[b].markers[1]):
        X, Y, Z = mech.marker[k, 0], mech.marker[k, 1], mech.marker[k, 2]
        marker[k, 0] = X * q[b, 1, 0] + Y * q[b, 2, 0] + Z * q[b, 3, 0]
        marker[k, 1] = X * q[b, 1, 1] + Y * q[b, 2, 1] + Z * q[b, 3, 1]
        marker[k, 2] = X * q[b, 1, 2] + Y * q[b, 2, 2] + Z * q[b, 3, 2]


@stage
def move_body(mech: Mechanism, b: int, q0: Array, z: Array, mid: Pose, end: Pose) -> None:
    """Midpoint and end of body b, and its markers at the midpoint."""
    at = 6 * b
    for k in range(3):
        mid.q[b, 0, k] = q0[b, 0, k] + z[at + k]
        end.q[b, 0, k] = q0[b, 0, k] + 2.0 * z[at + k]
    a0, a1, a2 = z[at + 3], z[at + 4], z[at + 5]
    nu = 1.0 / (1.0 + a0 * a0 + a1 * a1 + a2 * a2)
    for i in range(1, 4):
        turn(a0, a1, a2, nu, q0, b, i, mid.q, end.q)
    turn_markers(mech, b, mid.q, mid.marker)


@kernel
def inertia_about_axes(euler: Array, d: Array, e: Array, out: Array) -> None:
    """out (3, 3) = sum E_i ((d_i . e_i) I - e_i d_i^T), the matrix of sum E_i d_i x (theta x e_i); d, e (3, 3)."""
    for r in range(3):
        for c in range(3):
            out[r, c] = 0.0
    for i in range(3):
        s = euler[i] * dot(d[i], e[i])
        for r in range(3):
            for c in range(3):
                out[r, c] -= euler[i] * e[i, r] * d[i, c]
            out[r, r] += s


@kernel
def add_spin(spin: Array, d: Array, out: Array) -> None:
    """Add sum spin_i d_i d_i^T: keeps the block of a rod without thickness regular; its residual is untouched."""
    for i in range(3):
        if spin[i] > 0.0:
            for r in range(3):
                for c in range(3):
                    out[r, c] += spin[i] * d[i, r] * d[i, c]
