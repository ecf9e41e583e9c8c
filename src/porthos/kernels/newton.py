"""When to stop Newton's method, and what to start it from."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from porthos.kernels.blocks import OFFSET
from porthos.kernels.compile import algebra, inner
from porthos.kernels.crew import Crew
from porthos.kernels.tables import Mechanism
from porthos.notation import Array, IntArray

# How a step ended; `integrate/march.py` translates to errors.Status.
CONVERGED, STALLED, SINGULAR, TURNED_TOO_FAR, STRAYED = 0, 1, 2, 3, 5
RUNNING = -1

ROUND_OFF = 1e-15
FEW = 4.0  # root of the number of bodies up to which updates are held to round-off one by one
NOISE = 1e-11  # updates below this that stop shrinking have reached the round-off floor
ACCEPTED = 1e-9  # so have updates that stay below this up to the last iteration
STUCK = 0.5  # ratio of updates at the round-off floor
SMALLEST_MOTION = 1e-4  # motion of one step below which updates are measured against this instead
LARGEST_TURN = 0.5  # rad, limit of one Newton update
LARGEST_CAYLEY = 2.0  # |a| = tan(angle/2) of one step: 127 degrees
FEEDBACK = 0.1  # share of the position error of the last step that is removed in this one
PATIENCE = 8  # iterations with the condensed matrix before the exact one is tried; twice as many if it is costly
EXACT_STEPS = 100  # steps with the exact matrix after the condensed one failed
ORDERS = 9  # orders of extrapolation that compete for the starting guess: 0 .. ORDERS - 1


class Newton(NamedTuple):
    """Options of Newton's method."""

    tolerance: float  # relative size of the last update; 0: iterate to the round-off floor
    iterations: int
    length: float  # size of the mechanism, the unit of displacements
    slowest: float  # ratio of successive updates that has to be expected although the first ones may shrink faster
    floor: float  # relative size of updates that energy does not feel any more


class Habit(NamedTuple):
    """What the course of earlier steps suggests for the next one."""

    exact: IntArray  # (1,) steps for which the exact matrix is still tried first
    redundant: IntArray  # (1,) 1: some rows repeat others
    matrix: IntArray  # (1,) 1: the factors of the condensed matrix at hand are good for another step


class Memory(NamedTuple):
    """What a step hands to the next one for its starting guess: backward differences of the unknowns.

    The substeps of a composed step differ in size, but each of them changes smoothly from step to step: the S substeps
    remember their own course.
    """

    differences: Array  # (S, orders, unknowns)
    errors: Array  # (S, orders) sum of squares of what each order would have missed in the last step
    steps: IntArray  # (S,) steps made


def floor(bodies: int) -> float:
    """What the root mean square over the bodies of an update may be, relative to the motion, to leave the energy alone.

    Errors of single bodies have no common sign: what they do to the energy is smaller by the root of their number.
    """
    return ROUND_OFF * max(1.0, sqrt(bodies) / FEW)


@inner
def finished(size: float, previous: float, newton: Newton, quadratic: bool, slowest: float, stuck: float) -> bool:
    """Whether the update just made was the last one needed; no iteration is spent to see a vanishing update.

    With ratio = size/previous the next update would be size ratio^2 if convergence is quadratic (exact Newton
    matrix), size ratio if it is linear (matrix with terms left out); but a ratio below `slowest` is not believed. Small
    updates whose ratio is above `stuck` have reached the round-off floor.
    """
    if size <= max(newton.tolerance, newton.floor):
        return True
    if previous <= 0.0:
        return False
    ratio = size / previous
    coming = size * ratio * ratio if quadratic else size * max(ratio, slowest)
    if ratio < 1.0 and coming < max(newton.floor, 0.1 * newton.tolerance):
        return True
    return size < NOISE and ratio > stuck


@algebra
def guess(memory: Memory, s: int, order: int, first: int, last: int, z: Array) -> None:
    """Extrapolate a range of the unknowns of substep s from the last steps by a polynomial.

    z = sum of differences up to `order`.
    """
    D, first, last = memory.differences, first & OFFSET, last & OFFSET
    for i in range(first, last):
        z[i] = D[s, 0, i]
    for k in range(1, order + 1):
        for i in range(first, last):
            z[i] += D[s, k, i]


@inner
def guess_all(memory: Memory, s: int, order: int, habit: Habit, bounds: IntArray, z: Array) -> None:
    """`guess` of the unknowns of bodies and of multipliers that a thread has.

    Multipliers of redundant rows are not determined, so none are extrapolated: they would run away.
    """
    guess(memory, s, order, bounds[0, 0], bounds[0, 1], z)
    guess(memory, s, 0 if habit.redundant[0] else order, bounds[1, 0], bounds[1, 1], z)


@inner
def best_order(memory: Memory, s: int) -> int:
    """The order of extrapolation that would have predicted substep s of the last step best."""
    best = 0
    for order in range(1, min(memory.errors.shape[1], memory.steps[s])):
        if memory.errors[s, order] < memory.errors[s, best]:
            best = order
    return best


@algebra
def remember(memory: Memory, s: int, z: Array, first: int, last: int, x: Array, told: Array, me: int, place: int
             ) -> None:  # fmt: skip
    """Store a range of the unknowns of an accepted substep s; x is scratch.

    What each order of extrapolation would have missed goes to told[me, place ...].
    """
    D, first, last = memory.differences, first & OFFSET, last & OFFSET
    for i in range(first, last):
        x[i] = z[i]
    for k in range(memory.errors.shape[1]):
        squares = 0.0
        for i in range(first, last):
            old = D[s, k, i]
            D[s, k, i] = x[i]
            x[i] -= old
            squares += x[i] * x[i]
        told[me, place + k] = squares


@inner
def remember_all(crew: Crew, place: int, memory: Memory, s: int, z: Array, bounds: IntArray, x: Array) -> None:
    """`remember` the unknowns of bodies and of multipliers that a thread has; errors of multipliers do not count."""
    remember(memory, s, z, bounds[1, 0], bounds[1, 1], x, crew.told, crew.me, place)
    remember(memory, s, z, bounds[0, 0], bounds[0, 1], x, crew.told, crew.me, place)


@inner
def note_errors(crew: Crew, place: int, memory: Memory, s: int) -> None:
    """Note what the orders of extrapolation would have missed, after all threads told."""
    for k in range(memory.errors.shape[1]):
        memory.errors[s, k] = crew.told[0, place + k] + crew.told[1, place + k]
    memory.steps[s] += 1


@inner
def turned(mech: Mechanism, z: Array) -> int:
    """CONVERGED, unless a body turned so far that the Cayley map is close to its pole."""
    limit = LARGEST_CAYLEY * LARGEST_CAYLEY
    for b in range(mech.body.size):
        a0, a1, a2 = z[6 * b + 3], z[6 * b + 4], z[6 * b + 5]
        if a0 * a0 + a1 * a1 + a2 * a2 > limit:
            return TURNED_TOO_FAR
    return CONVERGED
