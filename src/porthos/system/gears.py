"""Gears of a mechanism at one configuration: rows u . w - c with coefficients of this configuration.

They have the value, the slope and, along what the joints allow, the second derivative of the row with angles.
"""

from __future__ import annotations

import numpy as np

from porthos.kernels.gears import mesh
from porthos.kernels.tables import Mechanism
from porthos.notation import Array
from porthos.system.constraints import row_vectors


def meshed(mech: Mechanism, q: Array) -> Mechanism:
    """The tables with the rows of gears as they are at q (N+1, 4, 3)."""
    if mech.gear.size == 0:
        return mech
    row, form = mech.row.copy(), mech.form.copy()
    mesh(mech, q, row, form)
    return mech._replace(row=row, form=form)


def gear_joints(mech: Mechanism) -> list[int]:
    """The numbers of the joints that are gears."""
    return [int(j) for j in np.searchsorted(mech.joint.last, mech.gear.row, side="right")]


def looseness(mech: Mechanism, q: Array, v: Array, omega: Array) -> Array:
    """For each gear how fast what its wheels face changes beside turning, in rad/s, at velocities v and omega (N+1, 3).

    Axes may not tilt against each other, those of bevel gears not change their angle; the centres of wheels may not
    change their distance, that of a pinion not its distance from the rack.
    """
    at, result = meshed(mech, q), np.zeros(mech.gear.size)
    (u, w), (_, dw) = row_vectors(at, q, constant=1.0), row_vectors(at, v, constant=0.0)
    for k, (r, (first, last)) in enumerate(zip(mech.gear.row, mech.gear.wheels, strict=True)):
        a, b = mech.row.body[r]
        wheels = mech.wheel[first:last]
        n, *other = (np.cross(x.ahead, x.across) @ q[mech.row.body[r, x.side], 1:] for x in wheels)
        turn = omega[a] - omega[b]
        if wheels.part[0] == 1:
            apart = np.cross(n, u[r]) @ (dw[r] - np.cross(omega[b], w[r])) / wheels.radius[0]
        elif mech.form.cw[r, :, 0].any():
            y = w[r] - n * (n @ w[r])
            apart = y @ (dw[r] - np.cross(omega[a], w[r])) / (y @ y)
        else:
            result[k] = abs(turn @ np.cross(n, other[0]))
            continue
        result[k] = max(abs(apart), float(np.linalg.norm(np.cross(turn, n))))
    return result
