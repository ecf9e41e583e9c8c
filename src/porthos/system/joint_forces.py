"""Forces and torques of joints in world axes, from their multipliers.

The generalized force of joint rows on side s is -lambda (cu_si w + cw_si u); its resultant is F, its moment about the
joint's point is sum_i d_i x f_i - r x F.
"""

from __future__ import annotations

import numpy as np

from porthos.kernels.tables import Mechanism
from porthos.notation import Array
from porthos.system.drives import moved_rows
from porthos.system.gears import meshed
from porthos.system.mechanical import MechanicalSystem


def joint_reaction(
    system: MechanicalSystem, joint: int, q: Array, multipliers: Array, wrench: Array, side: int = 1
) -> tuple[Array, Array]:
    """Force and torque (T, 3) that a joint exerts on its second body, or the first (side 0), at its point there."""
    ground = np.broadcast_to(system.still[-1], (q.shape[0], 1, 4, 3))
    config, record = np.concatenate([q, ground], axis=1), system.mech.joint[joint]
    rows = slice(int(record.first), int(record.last))
    u0, w0, cu, cw = _forms(system.mech, rows, config, wrench)
    sides = config[:, system.mech.row.body[rows]]  # (T, r, 2, 4, 3)
    u = u0 + np.einsum("trsi,trsik->trk", cu, sides)
    w = w0 + np.einsum("trsi,trsik->trk", cw, sides)
    lam = multipliers[:, rows]
    f = -np.einsum("tr,tri,trk->tik", lam, cu[:, :, side], w)
    f -= np.einsum("tr,tri,trk->tik", lam, cw[:, :, side], u)
    body = config[:, record.body[side]]
    arm = np.einsum("i,tik->tk", system.joint_points[joint, side], body[:, 1:])
    torque = np.cross(body[:, 1:], f[:, 1:]).sum(axis=1) - np.cross(arm, f[:, 0])
    return f[:, 0], torque


def _forms(mech: Mechanism, rows: slice, config: Array, wrench: Array) -> tuple[Array, Array, Array, Array]:
    """u0, w0, cu and cw of some rows: one for all configurations (1, r, ...) or, of drives and gears, (T, r, ...)."""
    some, form = np.arange(rows.start, rows.stop), mech.form[rows]
    if np.isin(mech.gear.row, some).any():
        nodes = [meshed(mech, at).form[rows] for at in config]
        return tuple(np.stack([getattr(one, name) for one in nodes]) for name in ("u0", "w0", "cu", "cw"))  # type: ignore[return-value]
    moving = np.isin(mech.drive.row, some).any()
    cu = moved_rows(mech, wrench[:, mech.load.size :, 0], rows)[0] if moving else form.cu[None]
    return form.u0[None], form.w0[None], cu, form.cw[None]
