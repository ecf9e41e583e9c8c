"""Joint reactions at second order: multipliers from a KKT solve at each state, then forces in world coordinates.

The generalized force of joint rows on side s is -lambda (cu_si w + cw_si u); its resultant is F, its moment about the
joint's point is sum_i d_i x f_i - r x F.
"""

from __future__ import annotations

import numpy as np

from porthos.kernels.tables import Mechanism
from porthos.notation import Array
from porthos.system.drives import frozen
from porthos.system.elements import wound
from porthos.system.gears import meshed
from porthos.system.mechanical import MechanicalSystem
from porthos.system.nodal import NodalMatrix


def nodal_multipliers(system: MechanicalSystem, q: Array, v: Array, wrench: Array, angle: Array) -> Array:
    """Joint multipliers (T, R) that belong to the accelerations at states q, v (T, N, 4, 3), angles near `angle`."""
    result, matrix = np.zeros((q.shape[0], system.mech.row.size)), NodalMatrix(system)
    config, rate = system.still.copy(), np.zeros_like(system.still)
    for k in range(q.shape[0]):
        config[:-1], rate[:-1] = q[k], v[k]
        matrix.system = frozen(wound(system, angle[k]), wrench[k])
        result[k] = matrix.accelerations(config, rate, wrench[k])[1]
    return result


def joint_reaction(
    system: MechanicalSystem, joint: int, q: Array, multipliers: Array, wrench: Array, side: int = 1
) -> tuple[Array, Array]:
    """Force and torque (T, 3) that a joint exerts on its second body, or the first (side 0), at its point there."""
    ground = np.broadcast_to(system.still[-1], (q.shape[0], 1, 4, 3))
    config, mech = np.concatenate([q, ground], axis=1), system.mech
    changing = np.append(mech.drive.row, mech.gear.row)
    if not np.isin(changing, np.arange(*mech.joint[joint].tolist()[:2])).any():
        return _reaction(system, mech, joint, config, multipliers, side)
    nodes = [meshed(frozen(system, u).mech, at) for u, at in zip(wrench, config, strict=True)]
    parts = [_reaction(system, at, joint, config[[k]], multipliers[[k]], side) for k, at in enumerate(nodes)]
    force, torque = (np.concatenate(part) for part in zip(*parts, strict=True))
    return force, torque


def _reaction(
    system: MechanicalSystem, mech: Mechanism, joint: int, config: Array, multipliers: Array, side: int
) -> tuple[Array, Array]:
    """The same where the rows of the joint are those of `mech` at all configurations (T, N+1, 4, 3)."""
    rows = slice(int(mech.joint[joint].first), int(mech.joint[joint].last))
    sides = config[:, mech.row.body[rows]]  # (T, r, 2, 4, 3)
    u = mech.form.u0[rows] + np.einsum("rsi,trsik->trk", mech.form.cu[rows], sides)
    w = mech.form.w0[rows] + np.einsum("rsi,trsik->trk", mech.form.cw[rows], sides)
    lam = multipliers[:, rows]
    f = -np.einsum("tr,ri,trk->tik", lam, mech.form.cu[rows, side], w)
    f -= np.einsum("tr,ri,trk->tik", lam, mech.form.cw[rows, side], u)
    body = config[:, mech.joint[joint].body[side]]
    arm = np.einsum("i,tik->tk", system.joint_points[joint, side], body[:, 1:])
    torque = np.cross(body[:, 1:], f[:, 1:]).sum(axis=1) - np.cross(arm, f[:, 0])
    return f[:, 0], torque
