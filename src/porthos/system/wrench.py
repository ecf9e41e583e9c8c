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
