"""States of a mechanism between those recorded: the cubic with the positions and velocities at both ends (Hermite).

q = q0 + theta h v0 + theta^2 (3 a - b) + theta^3 (b - 2 a),   a = q1 - q0 - h v0, b = h (v1 - v0), theta = (t - t0)/h,

or, of collocation methods with three stages and more, their polynomials q0 + sum_j b_j(theta) W_j, the same for v.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from porthos.integrate.march import March
from porthos.integrate.tableaus import Tableau
from porthos.notation import Array, IntArray


@dataclass(frozen=True, eq=False)
class Collocation:
    """The polynomials of all steps of a run."""

    tableau: Tableau
    increments: Array  # (T - 1, s, n) of coordinates
    rates: Array  # (T - 1, s, n) of their velocities
    slots: IntArray  # (n,) of the coordinates among those of kernels

    def moved(self, full: Array, increments: Array, steps: IntArray, theta: Array) -> Array:
        """States (K, N, 4, 3) at the beginnings of these steps, moved to the parts theta of them."""
        weights = np.array([self.tableau.weights(part) for part in theta.tolist()])
        there = full.reshape(len(full), -1).copy()
        there[:, self.slots] += np.einsum("ks,ksn->kn", weights, increments[steps])
        return there.reshape(full.shape)


def between(raw: March, times: Array, loads: int, collocation: Collocation | None = None) -> March:
    """States at any times (K,) of a run with `loads` loads and ports before its drives.

    Inputs are interpolated linearly, motions of drives as positions are; work and losses are not known.
    """
    t = raw.t[:]
    first = np.clip(np.searchsorted(t, times, side="right") - 1, 0, max(t.size - 2, 0))
    rows = slice(int(first.min(initial=0)), int(first.max(initial=0)) + 2)
    part, begin = raw.part(rows), first - rows.start
    end = np.minimum(begin + 1, part.t.size - 1)
    h = part.t[end] - part.t[begin]
    h[h == 0.0] = 1.0  # a run of one state
    theta = (times - part.t[begin]) / h
    if collocation is None:
        q, v = _cubic(theta, h, part.q[begin], part.v[begin], part.q[end], part.v[end])
    else:
        steps = np.minimum(first, t.size - 2)
        q = collocation.moved(part.q[begin], collocation.increments, steps, theta)
        v = collocation.moved(part.v[begin], collocation.rates, steps, theta)
    share = theta[:, None, None]
    wrench = (1 - share) * part.wrench[begin] + share * part.wrench[end]
    a, b = part.wrench[begin, loads:], part.wrench[end, loads:]
    wrench[:, loads:, 0], wrench[:, loads:, 1] = _cubic(theta, h, a[..., 0], a[..., 1], b[..., 0], b[..., 1])
    unknown = [np.full((times.size, known.shape[1]), np.nan) for known in (raw.work, raw.loss)]
    return replace(
        raw, t=times, q=q, v=v, wrench=wrench, multipliers=part.multipliers[end], outputs=part.outputs[end],
        iterations=np.zeros(times.size, dtype=np.int64), work=unknown[0], loss=unknown[1],
    )  # fmt: skip


def _cubic(theta: Array, h: Array, q0: Array, v0: Array, q1: Array, v1: Array) -> tuple[Array, Array]:
    """Position and velocity after the part theta of steps h."""
    theta, h = (each.reshape(-1, *(1,) * (q0.ndim - 1)) for each in (theta, h))
    a, b = q1 - q0 - h * v0, h * (v1 - v0)
    square, cube = 3 * a - b, b - 2 * a
    q = q0 + theta * (h * v0 + theta * (square + theta * cube))
    return q, v0 + theta * (2 * square + 3 * theta * cube) / h
