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


def torque_rows_slope(d: Array, point: Array, printed: bool) -> Array:
    """Derivative (9, 6, 3, 3) of `torque_rows` with respect to the directors."""
    slope = np.zeros((9, 6, 3, 3))
    reciprocal = np.linalg.inv(d).T  # its variation is -reciprocal (delta d)^T reciprocal
    for j in range(3):
        for k in range(3):
            if printed:  # quadratic in d, so that central differences are exact
                e = np.zeros((3, 3))
                e[j, k] = 1.0
                slope[:, :, j, k] = (torque_rows(d + e, point, True) - torque_rows(d - e, point, True)) / 2
            else:
                slope[:, 3:, j, k] = np.kron(0.5 * reciprocal[:, k : k + 1], skew(reciprocal[j]))
    return slope
