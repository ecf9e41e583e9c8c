"""Energies, momenta and constraint errors of many states at once."""

from __future__ import annotations

import numpy as np

from porthos.kernels.compile import entry
from porthos.kernels.rows import cross, dot, evaluate
from porthos.kernels.tables import Mechanism, RowVectors
from porthos.notation import Array


@entry
def energies(mech: Mechanism, q: Array, v: Array) -> tuple[Array, Array]:
    """Kinetic and potential energy (T,) of the states q, v (T, N, 4, 3)."""
    kinetic, potential = np.zeros(q.shape[0]), np.zeros(q.shape[0])
    for t in range(q.shape[0]):
        for b in range(mech.body.size):
            kinetic[t] += 0.5 * mech.body[b].mass * dot(v[t, b, 0], v[t, b, 0])
            potential[t] -= mech.body[b].mass * dot(mech.gravity, q[t, b, 0])
            for i in range(3):
                kinetic[t] += 0.5 * mech.body[b].euler[i] * dot(v[t, b, i + 1], v[t, b, i + 1])
    return kinetic, potential


@entry
def momenta(mech: Mechanism, q: Array, v: Array) -> tuple[Array, Array]:
    """Linear momentum and angular momentum about the origin, (T, 3) each, of the states q, v (T, N, 4, 3)."""
    linear, angular, part = np.zeros((q.shape[0], 3)), np.zeros((q.shape[0], 3)), np.empty(3)
    for t in range(q.shape[0]):
        for b in range(mech.body.size):
            for i in range(4):
                M = mech.body[b].mass if i == 0 else mech.body[b].euler[i - 1]
                cross(q[t, b, i], v[t, b, i], part)
                for k in range(3):
                    angular[t, k] += M * part[k]
                    if i == 0:
                        linear[t, k] += M * v[t, b, i, k]
    return linear, angular


@entry
def constraint_errors(
    mech: Mechanism, q: Array, v: Array, motion: Array, still: Array, rows: RowVectors, rates: RowVectors
) -> tuple[Array, Array]:
    """Largest |g| and |G v - motion| (T,), rows of rigidity included; `still` (N+1, 4, 3) provides the ground."""
    bodies = mech.body.size
    position, velocity = np.zeros(q.shape[0]), np.zeros(q.shape[0])
    config, rate = still.copy(), np.zeros_like(still)
    for t in range(q.shape[0]):
        for b in range(bodies):
            for i in range(4):
                for k in range(3):
                    config[b, i, k], rate[b, i, k] = q[t, b, i, k], v[t, b, i, k]
        evaluate(mech, config, 1.0, rows)
        evaluate(mech, rate, 0.0, rates)
        for r in range(mech.row.size):
            gap = dot(rows.u[r], rows.w[r]) - mech.row[r].c
            rate_of_gap = dot(rows.u[r], rates.w[r]) + dot(rows.w[r], rates.u[r]) - motion[r]
            position[t] = max(position[t], abs(gap))
            velocity[t] = max(velocity[t], abs(rate_of_gap))
        for b in range(bodies):
            if not mech.body[b].rigid:
                continue
            for i in range(1, 4):
                for j in range(i, 4):
                    d, w = (
                        dot(q[t, b, i], q[t, b, j]),
                        dot(q[t, b, i], v[t, b, j]) + dot(q[t, b, j], v[t, b, i]),
                    )
                    if i == j:
                        d, w = 0.5 * (d - 1.0), 0.5 * w
                    position[t] = max(position[t], abs(d))
                    velocity[t] = max(velocity[t], abs(w))
    return position, velocity
