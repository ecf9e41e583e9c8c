"""Many steps in one compiled loop, for each scheme that has a reduced step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from porthos.kernels import reduced_ggl, reduced_midpoint
from porthos.kernels.compile import entry
from porthos.kernels.newton import CONVERGED, Memory, Newton
from porthos.kernels.reduced_midpoint import Workspace
from porthos.kernels.tables import Layout, Mechanism
from porthos.notation import Array, IntArray

MIDPOINT, MIDPOINT_GGL = 0, 1


class Record(NamedTuple):
    """What is kept of a run: a state at every k-th step, and what happened in the interval before it."""

    q: Array  # (K, N, 4, 3)
    v: Array  # (K, N, 4, 3)
    lam: Array  # (K, R) multipliers at the midpoint of the last step of the interval
    y: Array  # (K, L, 6) outputs at that midpoint
    work: Array  # (K, L) work that each load did on the system during the interval
    iterations: IntArray  # (K,) Newton iterations spent in the interval


@entry
def march(scheme: int, mech: Mechanism, layout: Layout, h: float, wrench: Array, every: int, newton: Newton,
          memory: Memory, ws: Workspace, q: Array, v: Array, record: Record) -> tuple[int, int]:  # fmt: skip
    """Make wrench.shape[0] steps from (q, v), which become the last state; record every `every`-th of them.

    Returns (how it ended, steps made). The state before a failed step stays in (q, v).
    """
    bodies = mech.mass.size
    q1, v1 = q.copy(), v.copy()
    for n in range(wrench.shape[0]):
        if scheme == MIDPOINT:
            ended, spent = reduced_midpoint.step(mech, layout, h, q, v, wrench[n], newton, memory, ws, q1, v1)
        else:
            ended, spent = reduced_ggl.step(mech, layout, h, q, v, wrench[n], newton, memory, ws, q1, v1)
        if ended != CONVERGED:
            return ended, n
        q[:] = q1
        v[:] = v1
        k = n // every
        record.iterations[k] += spent
        for load in range(mech.load_body.size):
            record.work[k, load] += h * np.dot(ws.y[load], wrench[n, load])
        if (n + 1) % every == 0:
            record.q[k] = q[:bodies]
            record.v[k] = v[:bodies]
            record.lam[k] = memory.lam
            record.y[k] = ws.y
    return CONVERGED, wrench.shape[0]
