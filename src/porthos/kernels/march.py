"""Many steps in one compiled loop, for each scheme that has a reduced step."""

from __future__ import annotations

from typing import NamedTuple

from porthos.kernels import reduced_ggl, reduced_midpoint
from porthos.kernels.compile import inner, loop
from porthos.kernels.feedback import NOBODY, STOPPED, Feedback, asked
from porthos.kernels.newton import CONVERGED, Memory, Newton
from porthos.kernels.reduced_midpoint import Workspace
from porthos.kernels.tables import Layout, Mechanism
from porthos.kernels.velocity_level import Levels
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


@loop
def march_midpoint(
    mech: Mechanism, layout: Layout, h: float, wrench: Array, every: int, newton: Newton, memory: Memory, ws: Workspace,
    q: Array, v: Array, record: Record,
) -> tuple[int, int]:  # fmt: skip
    """Make wrench.shape[0] steps of PH-MP from (q, v), which become the last state; record every `every`-th of them.

    Returns (how it ended, steps made). The state before a failed step stays in (q, v).
    """
    ended, n = CONVERGED, 0
    while ended == CONVERGED and n < wrench.shape[0]:
        if record.feedback.terminal.size > 0 and not asked(mech, n, wrench, q, v, record.feedback):
            return STOPPED, n
        ended, spent = reduced_midpoint.step(mech, layout, h, q, v, wrench, n, newton, memory, ws)
        if ended == CONVERGED:
            accept(mech, h, wrench, n, every, spent, memory, ws, q, v, record)
            n += 1
    return ended, n


@loop
def march_ggl(
    mech: Mechanism, layout: Layout, h: float, wrench: Array, every: int, newton: Newton, memory: Memory, ws: Workspace,
    q: Array, v: Array, record: Record, lv: Levels,
) -> tuple[int, int]:  # fmt: skip
    """The same with PH-MP-GGL. (A step passed as an argument would be compiled anew in every process.)"""
    ended, n = CONVERGED, 0
    while ended == CONVERGED and n < wrench.shape[0]:
        if record.feedback.terminal.size > 0 and not asked(mech, n, wrench, q, v, record.feedback):
            return STOPPED, n
        ended, spent = reduced_ggl.step(mech, layout, h, q, v, wrench, n, newton, memory, ws, lv)
        if ended == CONVERGED:
            accept(mech, h, wrench, n, every, spent, memory, ws, q, v, record)
            n += 1
    return ended, n


@inner
def accept(
    mech: Mechanism, h: float, wrench: Array, n: int, every: int, spent: int, memory: Memory, ws: Workspace,
    q: Array, v: Array, record: Record,
) -> None:  # fmt: skip
    """Make the end of step n the present state and write it into the record."""
    k, due = n // every, (n + 1) % every == 0
    for b in range(mech.mass.size):
        for i in range(4):
            for c in range(3):
                q[b, i, c] = ws.q1[b, i, c]
                v[b, i, c] = ws.v1[b, i, c]
                if due:
                    record.q[k, b, i, c] = ws.q1[b, i, c]
                    record.v[k, b, i, c] = ws.v1[b, i, c]
    record.iterations[k] += spent
    for load in range(mech.load_body.size):
        for c in range(6):
            record.work[k, load] += h * ws.y[load, c] * wrench[n, load, c]
            if due:
                record.y[k, load, c] = ws.y[load, c]
    if due:
        for r in range(mech.c.size):
            record.lam[k, r] = memory.lam[r]
