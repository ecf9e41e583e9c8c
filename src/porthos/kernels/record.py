"""What goes out of a compiled march."""

from __future__ import annotations

from typing import NamedTuple

from porthos.kernels.compile import stage
from porthos.kernels.feedback import NOBODY, Feedback, asked
from porthos.kernels.tables import Mechanism
from porthos.notation import Array, IntArray


class Record(NamedTuple):
    """What goes out of a march: a state at every k-th step, what happened in the interval before it, and questions."""

    q: Array  # (K, N, 4, 3)
    v: Array  # (K, N, 4, 3)
    lam: Array  # (K, R) multipliers at the midpoint of the last step of the interval; means, if it has substeps
    y: Array  # (K, L+D, 6) outputs, the same; of drives their force and power
    work: Array  # (K, L+D) work that each load and drive did on the system during the interval
    loss: Array  # (K, E) energy that each force element took from it
    angle: Array  # (K, F) of laws that measure one: at the begin of the step, over many turns; it is nearest at its end
    iterations: IntArray  # (K,) Newton iterations spent in the interval
    feedback: Feedback = NOBODY  # who is asked for inputs before a step


class Sums(NamedTuple):
    """What happens in the substeps of a step: a failure in one of them must leave no trace."""

    q: Array  # (N+1, 4, 3) where the step began
    v: Array
    lam: Array  # (R,) means of multipliers and outputs
    y: Array  # (L+D, 6)
    work: Array  # (L+D,)
    loss: Array  # (E,)
    spent: IntArray  # (1,) iterations


@stage
def begin_step(
    mech: Mechanism, step: int, substeps: int, wrench: Array, q: Array, v: Array, sums: Sums, record: Record
) -> bool:
    """Ask the controllers, forget the last step, remember where this one begins; False if the march shall stop."""
    if record.feedback.terminal.size > 0 and not asked(mech, step, substeps, wrench, q, v, record.feedback):
        return False
    sums.spent[0] = 0
    for r in range(sums.lam.size):
        sums.lam[r] = 0.0
    for load in range(sums.work.size):
        sums.work[load] = 0.0
        for c in range(6):
            sums.y[load, c] = 0.0
    for e in range(sums.loss.size):
        sums.loss[e] = 0.0
    if substeps > 1:
        copy_state(q, v, sums.q, sums.v)
    return True


@stage
def copy_state(q: Array, v: Array, to_q: Array, to_v: Array) -> None:
    """Copy a state."""
    for b in range(q.shape[0]):
        for i in range(4):
            for c in range(3):
                to_q[b, i, c] = q[b, i, c]
                to_v[b, i, c] = v[b, i, c]


@stage
def add_substep(
    mech: Mechanism, sizes: Array, s: int, wrench: Array, n: int, spent: int, lam: Array, y: Array, sums: Sums
) -> None:
    """Add substep s, the n-th of the march."""
    h, share = sizes[s], sizes[s] / sizes.sum()
    sums.spent[0] += spent
    for r in range(sums.lam.size):
        sums.lam[r] += share * lam[r]
    for load in range(sums.work.size):
        for c in range(6):
            sums.y[load, c] += share * y[load, c]
            if load < mech.load.size:
                sums.work[load] += h * y[load, c] * wrench[n, load, c]
    for load in range(mech.load.size, sums.work.size):
        sums.work[load] += h * y[load, 1]


@stage
def write(mech: Mechanism, n: int, every: int, sums: Sums, q: Array, v: Array, record: Record) -> None:
    """Write the end of step n into the record."""
    k, due = n // every, (n + 1) % every == 0
    record.iterations[k] += sums.spent[0]
    for load in range(sums.work.size):
        record.work[k, load] += sums.work[load]
        if due:
            for c in range(6):
                record.y[k, load, c] = sums.y[load, c]
    for e in range(sums.loss.size):
        record.loss[k, e] += sums.loss[e]
    if due:
        for b in range(mech.body.size):
            for i in range(4):
                for c in range(3):
                    record.q[k, b, i, c] = q[b, i, c]
                    record.v[k, b, i, c] = v[b, i, c]
        for r in range(mech.row.size):
            record.lam[k, r] = sums.lam[r]
        for law in range(mech.law.size):
            record.angle[k, law] = mech.law[law].about
