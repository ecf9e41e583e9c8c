"""How a wrench (F, tau) acts on the directors of a body: f_i = X_i F + 1/2 tau x d^i, or eq. (32) of 001 as printed."""

from __future__ import annotations

import numpy as np

from porthos.notation import Array, skew


def torque_rows(d: Array, point: Array, printed: bool) -> Array:
    """Rows (9, 6) of B~ for the directors d (3, 3): forces on d_1, d_2, d_3 from (F, tau) at `point`."""
    rows = np.zeros((9, 6))
    arm = skew(point @ d)
    reciprocal = np.linalg.inv(d).T
    for i in range(3):
        if printed:
            rows[3 * i : 3 * i + 3] = -0.5 * skew(d[i]) @ np.hstack([arm, np.eye(3)])
        else:
            rows[3 * i : 3 * i + 3] = np.hstack([point[i] * np.eye(3), -0.5 * skew(reciprocal[i])])
    return rows


def output_slope(d: Array, v: Array, point: Array, printed: bool) -> Array:
    """Derivative (6, 3, 3) of the outputs, rows^T v, with respect to the directors d (3, 3), for director rates v."""
    slope = np.zeros((6, 3, 3))
    if printed:  # the rows are linear in d, apart from the arm, which is linear too
        for i in range(3):
            for k in range(3):
                e = np.zeros((3, 3))
                e[i, k] = 1.0
                both = torque_rows(d + e, point, printed) - torque_rows(d - e, point, printed)
                slope[:, i, k] = 0.5 * both.T @ v.ravel()
        return slope
    reciprocal = np.linalg.inv(d).T  # its variation is -reciprocal (delta d)^T reciprocal
    turned = np.einsum("ib,ja,ic->jbac", reciprocal, reciprocal, v)
    cross = [turned[:, :, 1, 2] - turned[:, :, 2, 1], turned[:, :, 2, 0] - turned[:, :, 0, 2]]
    slope[3:] = -0.5 * np.array([*cross, turned[:, :, 0, 1] - turned[:, :, 1, 0]])
    return slope
