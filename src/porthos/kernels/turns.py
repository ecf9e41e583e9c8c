"""Angles of joints over all turns, counted on from those of the step before; see `system/joint_coordinates.py`.

Only runs whose controllers see the whole mechanism count them so, and only these compile this.
"""

from __future__ import annotations

import math

import numpy as np

from porthos.kernels.compile import inner, loop
from porthos.notation import Array, IntArray

TURN = 2.0 * math.pi


@inner
def cosine_and_sine(frames: Array, j: int, a: Array, b: Array) -> tuple[float, float]:
    """m_1 . m and m_2 . m of joint j, with m_1 and m_2 turned by the directors in a (4, 3) and m by those in b."""
    c, s = 0.0, 0.0
    for i in range(3):
        x, y, z = 0.0, 0.0, 0.0
        for k in range(3):
            x += frames[j, 0, k] * a[1 + k, i]
            y += frames[j, 1, k] * a[1 + k, i]
            z += frames[j, 2, k] * b[1 + k, i]
        c += x * z
        s += y * z
    return c, s


@loop
def count_turns(sides: IntArray, frames: Array, q: Array, v: Array, h: float, before: Array, now: Array) -> None:
    """Angles now and h before into `now` (2, J), from those of then and of h before that, at first from none (0, J).

    sides (J, 2) are the parts of the joints, frames (J, 3, 3) m_1 and m_2 in the first and m in the second, q and v
    (N + 1, 4, 3) of all bodies and the ground. An angle is expected to go on as in the step before, at first by its
    rate, and is the nearest one to that.
    """
    for j in range(sides.shape[0]):
        a, b = sides[j, 0], sides[j, 1]
        c, s = cosine_and_sine(frames, j, q[a], q[b])
        angle = math.atan2(s, c)
        if before.shape[0] == 0:
            ca, sa = cosine_and_sine(frames, j, v[a], q[b])
            cb, sb = cosine_and_sine(frames, j, q[a], v[b])
            now[0, j] = angle
            now[1, j] = angle - h * (c * (sa + sb) - s * (ca + cb)) / (c * c + s * s)
        else:
            expected = 2.0 * before[0, j] - before[1, j]
            now[0, j] = angle + TURN * np.rint((expected - angle) / TURN)
            now[1, j] = before[0, j]
