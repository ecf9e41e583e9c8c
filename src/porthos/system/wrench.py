"""How a wrench (F, tau) acts on the directors of a body: f_i = X_i F + 1/2 tau x d^i, or eq. (32) of 001 as printed."""

from __future__ import annotations

import numpy as np

from porthos.notation import Array, skew


def torque_rows(d: Array, point: Array, printed: bool) -> Array:
    """Rows (9, 6) of B~ for the directors d (3, 3): forces on d_1, d_2, d_3 from (F, tau) at `point`."""
    rows = np.zeros((9, 6))
    if printed:
        arm = skew(point @ d)
        for i in range(3):
            rows[3 * i : 3 * i + 3] = -0.5 * skew(d[i]) @ np.hstack([arm, np.eye(3)])
        return rows
    reciprocal = np.linalg.inv(d).T
    for i in range(3):
        rows[3 * i : 3 * i + 3] = np.hstack([point[i] * np.eye(3), -0.5 * skew(reciprocal[i])])
    return rows


def torque_rows_slope(d: Array, point: Array, printed: bool) -> Array:
    """Derivative (9, 6, 3, 3) of `torque_rows` with respect to the directors."""
    slope = np.zeros((9, 6, 3, 3))
    directions = np.eye(9).reshape(3, 3, 3, 3)
    if printed:  # quadratic in d, so that central differences are exact
        for j, k in np.ndindex(3, 3):
            e = directions[j, k]
            slope[:, :, j, k] = (torque_rows(d + e, point, True) - torque_rows(d - e, point, True)) / 2
        return slope
    reciprocal: Array = np.asarray(
        np.linalg.inv(d).T, dtype=np.float64
    )  # its variation is -reciprocal (delta d)^T reciprocal
    for j, k in np.ndindex(3, 3):
        slope[:, 3:, j, k] = np.einsum("i,ab->iab", 0.5 * reciprocal[:, k], skew(reciprocal[j])).reshape(9, 3)
    return slope
