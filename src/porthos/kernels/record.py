"""What goes out of a compiled march."""

from __future__ import annotations

from typing import NamedTuple

from porthos.kernels.compile import stage
from porthos.kernels.feedback import NOBODY, Feedback
from porthos.kernels.tables import Mechanism
from porthos.notation import Array, IntArray


class Record(NamedTuple):
    """What goes out of a march: a state at every k-th step, what happened in the interval before it, and questions."""

    q: Array  # (K, N, 4, 3)
    v: Array  # (K, N, 4, 3)
    lam: Array  # (K, R) multipliers at the midpoint of the last step of the interval
    y: Array  # (K, L, 6) outputs at that midpoint
    work: Array  # (K, L) work that each load did on the system during the interval
    iterations: IntArray  # (K,) Newton iterations spent in the interval
    feedback: Feedback = NOBODY  # who is asked for inputs before a step


@stage
def write(
    mech: Mechanism, h: float, wrench: Array, n: int, every: int, spent: int, lam: Array, y: Array, q: Array, v: Array,
    record: Record,
) -> None:  # fmt: skip
    """Write the end of step n into the record."""
    k, due = n // every, (n + 1) % every == 0
    record.iterations[k] += spent
    for load in range(mech.load.size):
        for c in range(6):
            record.work[k, load] += h * y[load, c] * wrench[n, load, c]
            if due:
                record.y[k, load, c] = y[load, c]
    if due:
        for b in range(mech.body.size):
            for i in range(4):
                for c in range(3):
                    record.q[k, b, i, c] = q[b, i, c]
                    record.v[k, b, i, c] = v[b, i, c]
        for r in range(mech.row.size):
            record.lam[k, r] = lam[r]
