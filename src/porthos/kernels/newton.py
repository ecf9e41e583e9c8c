"""When to stop Newton's method."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from porthos.kernels.compile import inner
from porthos.kernels.tables import Mechanism
from porthos.notation import Array, IntArray

# How a step ended; `integrate/march.py` translates to errors.Status.
CONVERGED, STALLED, SINGULAR, TURNED_TOO_FAR, STRAYED = 0, 1, 2, 3, 5
RUNNING = -1
OTHER = -2  # not ended: the steps that follow are for the other matrix

ROUND_OFF = 1e-15
FEW = 4.0  # root of the number of bodies up to which updates are held to round-off one by one
NOISE = 1e-11  # updates below this that stop shrinking have reached the round-off floor
ACCEPTED = 1e-9  # so have updates that stay below this up to the last iteration
STUCK = 0.5  # ratio of updates at the round-off floor
SMALLEST_MOTION = 1e-4  # motion of one step below which updates are measured against this instead
LARGEST_TURN = 0.5  # rad, limit of one Newton update
LARGEST_CAYLEY = 2.0  # |a| = tan(angle/2) of one step: 127 degrees
FEEDBACK = 0.1  # share of the position error of the last step that is removed in this one
# By which a row may open in a step, in units of the length; more means that it was left out by mistake. The first
# number is for the condensed matrix, after which there is the exact one to try, the second one for that; OPENED is a
# share of the motion of the step that is allowed there: rows repeat others only as well as axes were given.
OPENS, OPENED = (1e-12, 1e-8), 1e-4
PATIENCE = 8  # iterations of PH-MP with the condensed matrix before the exact one is tried
EXACT_STEPS = 100  # steps with the exact matrix after the condensed one failed
MARGIN, FORGETTING = 3.0, 1.1  # what was seen of updates in earlier steps is believed times a margin that grows
HOPE = 3.0  # excess of an update that hopes to be the only one
TRUST, CURIOSITY = 0.1, 0.9  # by which what is believed may shrink in one step, and does without being tested


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
    redundant: IntArray  # (1 + islands,) 1: some rows repeat others, in all and in each island of joints
    matrix: IntArray  # (1,) 1: the factors of the condensed matrix at hand are good for another step
    left: Array  # (S, 3) what the first update of a substep leaves of itself, how large it was when that was seen, and
    # 1 if it was, 0 if it is hoped for only, -1 if it was never tried


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


@inner
def excess(size: float, newton: Newton, habit: Habit, s: int) -> float:
    """What the first update of substep s leaves, as earlier steps show, beside what may be left.

    An update leaves a constant part of itself where terms are left out of the matrix, else one proportional to it.
    """
    ratio = max(newton.slowest, habit.left[s, 0]) * max(1.0, size / habit.left[s, 1])
    return size * ratio / max(newton.floor, 0.1 * newton.tolerance)


@inner
def enough(size: float, newton: Newton, habit: Habit, s: int) -> bool:
    """Whether the first update of substep s is the last one needed; what is hoped for only is to be seen first."""
    return habit.left[s, 2] > 0.0 and excess(size, newton, habit, s) < 1.0


@inner
def note_left(habit: Habit, s: int, hoped: bool, first: float, second: float) -> None:
    """Note what the first update of substep s left; nothing is seen of it (0) where it was the only one.

    That it left less than before is believed step by step. One that could not hope to be the only one had not all that
    makes it so: then hope grows, until another one is tried.
    """
    if not hoped:
        habit.left[s, 0] *= TRUST if habit.left[s, 2] < 0.0 else CURIOSITY
        habit.left[s, 2] = min(habit.left[s, 2], 0.0)
    elif second > 0.0:
        habit.left[s, 2] = 1.0
        habit.left[s, 0], habit.left[s, 1] = max(MARGIN * second / first, TRUST * habit.left[s, 0]), first
    else:
        habit.left[s, 0] *= FORGETTING


@inner
def turned(mech: Mechanism, z: Array) -> int:
    """CONVERGED, unless a body turned so far that the Cayley map is close to its pole."""
    limit = LARGEST_CAYLEY * LARGEST_CAYLEY
    for b in range(mech.body.size):
        a0, a1, a2 = z[6 * b + 3], z[6 * b + 4], z[6 * b + 5]
        if a0 * a0 + a1 * a1 + a2 * a2 > limit:
            return TURNED_TOO_FAR
    return CONVERGED
