"""When to stop Newton's method, and what to start it from."""

from __future__ import annotations

from typing import NamedTuple

from porthos.kernels.compile import inner
from porthos.kernels.elimination import Pattern
from porthos.kernels.tables import Mechanism
from porthos.notation import Array, IntArray

# How a step ended; `integrate/march.py` translates to errors.Status.
CONVERGED, STALLED, SINGULAR, TURNED_TOO_FAR = 0, 1, 2, 3
RUNNING = -1

PIVOT_FLOOR = 1e-11  # a pivot below this fraction of what was subtracted from it is round-off
ROUND_OFF = 1e-15
NOISE = 1e-11  # updates below this that stop shrinking have reached the round-off floor
ACCEPTED = 1e-9  # so have updates that stay below this up to the last iteration
SMALLEST_MOTION = 1e-4  # motion of one step below which updates are measured against this instead
KEEP_MATRIX = 1e-2  # updates that shrink at least by this factor do not need a new matrix
LARGEST_TURN = 0.5  # rad, limit of one Newton update
LARGEST_CAYLEY = 2.0  # |a| = tan(angle/2) of one step: 127 degrees
FEEDBACK = 0.1  # share of the position error of the last step that is removed in this one


class Newton(NamedTuple):
    """Options of Newton's method."""

    tolerance: float  # relative size of the last update; 0: iterate to the round-off floor
    iterations: int
    length: float  # size of the mechanism, the unit of displacements


class Memory(NamedTuple):
    """What a step hands to the next one for its starting guess."""

    ua: Array  # (3, N, 6) increments of the last three steps, latest first
    lam: Array  # (R,) multipliers of the last step
    gam: Array  # (R,) multipliers of the velocity level, if there are any
    steps: IntArray  # (1,) steps made


@inner
def update_size(mech: Mechanism, pattern: Pattern, x: Array, length: float) -> float:
    """The largest displacement (in units of `length`) or rotation in the update x of all bodies."""
    size = 0.0
    for b in range(mech.mass.size):
        level = 6 if mech.rigid[b] else 3
        for k in range(pattern.size[b]):
            unit = length if k % level < 3 else 1.0
            size = max(size, abs(x[pattern.start[b] + k]) / unit)
    return size


@inner
def motion(ua: Array, length: float) -> float:
    """The largest displacement (in units of `length`) or rotation within the step: the unit for updates."""
    size = SMALLEST_MOTION
    for b in range(ua.shape[0]):
        for k in range(3):
            size = max(size, 2.0 * abs(ua[b, k]) / length, 2.0 * abs(ua[b, 3 + k]))
    return size


@inner
def finished(size: float, previous: float, tolerance: float, quadratic: bool) -> bool:
    """Whether the update just made was the last one needed; no iteration is spent to see a vanishing update.

    With ratio = size/previous the next update would be size ratio^2 if convergence is quadratic (exact Newton
    matrix), size ratio if it is linear (matrix with terms left out).
    """
    if size <= max(tolerance, ROUND_OFF):
        return True
    if previous <= 0.0:
        return False
    ratio = size / previous
    coming = size * ratio * ratio if quadratic else size * ratio
    if ratio < 1.0 and coming < max(ROUND_OFF, 0.1 * tolerance):
        return True
    return size < NOISE and ratio > 0.5


@inner
def guess(memory: Memory, order: int, ua: Array) -> None:
    """Extrapolate the increments of the last steps: order 0 repeats, 1 is linear, 2 is quadratic."""
    h = memory.ua
    for b in range(ua.shape[0]):
        for k in range(6):
            x0, x1, x2 = h[0, b, k], h[1, b, k], h[2, b, k]
            if order == 0:
                ua[b, k] = x0
            elif order == 1:
                ua[b, k] = 2.0 * x0 - x1
            else:
                ua[b, k] = 3.0 * x0 - 3.0 * x1 + x2


@inner
def best_order(memory: Memory) -> int:
    """The order of extrapolation that would have predicted the last step best."""
    if memory.steps[0] < 2:
        return 0
    h = memory.ua
    e0, e1 = 0.0, 0.0
    for b in range(h.shape[1]):
        for k in range(6):
            e0 = max(e0, abs(h[0, b, k] - h[1, b, k]))
            e1 = max(e1, abs(h[0, b, k] - 2.0 * h[1, b, k] + h[2, b, k]))
    if e1 < e0:
        return 2 if e1 < 0.2 * e0 and memory.steps[0] > 2 else 1
    return 0


@inner
def remember(memory: Memory, ua: Array, lam: Array, f: float, gam: Array, g: float) -> None:
    """Store an accepted step; multipliers come scaled and are stored as f lam, g gam."""
    h = memory.ua
    for b in range(ua.shape[0]):
        for k in range(6):
            h[2, b, k], h[1, b, k], h[0, b, k] = h[1, b, k], h[0, b, k], ua[b, k]
    for r in range(lam.size):
        memory.lam[r] = f * lam[r]
        memory.gam[r] = g * gam[r]
    memory.steps[0] += 1
