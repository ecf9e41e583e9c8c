"""Updates of the unknowns (u, a), lam' of a step: how large they are, and how they are taken."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from porthos.kernels.blocks import OFFSET
from porthos.kernels.compile import stage
from porthos.kernels.crew import COMMON, GONE, TAKEN, TOTAL, Crew, Portion, largest, meet, tell, total
from porthos.kernels.newton import LARGEST_TURN, NOISE, SMALLEST_MOTION, Newton
from porthos.kernels.tables import Layout
from porthos.notation import Array


class Change(NamedTuple):
    """An update of the unknowns, seen from afar. Displacements count in units of the length of the mechanism."""

    largest: float  # displacement or rotation of a body
    size: float  # root mean square over all bodies; NaN if there is one in it
    motion: float  # the same for the motion of the step, SMALLEST_MOTION at least
    turn: float  # largest displacement or rotation of a body in the step


@stage
def update_size(crew: Crew, place: int, portion: Portion, bodies: int, x: Array, unit: float) -> tuple[float, float]:
    """The largest displacement or rotation in the update x, and its root mean square; that keeps NaN, max() does not.

    Energy feels the mean square: what a few bodies still miss matters less in a large mechanism.
    """
    most, squares = 0.0, 0.0
    for b in range(portion.body.size):
        i = 6 * (portion.body[b] & OFFSET)
        shift = unit * unit * (x[i] * x[i] + x[i + 1] * x[i + 1] + x[i + 2] * x[i + 2])
        turn = x[i + 3] * x[i + 3] + x[i + 4] * x[i + 4] + x[i + 5] * x[i + 5]
        most = max(most, shift, turn)
        squares += shift + turn
    tell(crew, place, most)
    tell(crew, place + 1, squares)
    meet(crew)
    return np.sqrt(largest(crew, place)), np.sqrt(total(crew, place + 1) / bodies)


@stage
def loudness(crew: Crew, portion: Portion, x: Array, echo: Array, unit: float) -> float:
    """rho of the echo of x, as far as it is rho x; within bounds, also where an iteration diverges."""
    common, whole = 0.0, 0.0
    for b in range(portion.body.size):
        i = 6 * (portion.body[b] & OFFSET)
        for k in range(i, i + 3):
            common += unit * unit * x[k] * echo[k] + x[k + 3] * echo[k + 3]
            whole += unit * unit * x[k] * x[k] + x[k + 3] * x[k + 3]
    tell(crew, COMMON, common)
    tell(crew, TOTAL, whole)
    meet(crew)
    return told_loudness(crew)


@stage
def told_loudness(crew: Crew) -> float:
    """rho from what all threads told."""
    return max(-0.5, min(0.5, total(crew, COMMON) / total(crew, TOTAL)))


@stage
def subtract(a: Array, f: float, b: Array, first: int, last: int) -> None:
    """a -= f b in a range."""
    for i in range(first & OFFSET, last & OFFSET):
        a[i] -= f * b[i]


@stage
def take_update(crew: Crew, bodies: int, portion: Portion, x: Array, z: Array, length: float) -> Change:
    """Take the update x = (delta phi^1, theta), dlam from the unknowns z, damped to LARGEST_TURN."""
    unit, furthest, squares = 1.0 / length, 0.0, 0.0
    most, size = update_size(crew, TAKEN, portion, bodies, x, unit)
    damping = 1.0
    if most > LARGEST_TURN:  # seldom: the division is not waited for
        damping = LARGEST_TURN / most
    for b in range(portion.body.size):
        i = 6 * (portion.body[b] & OFFSET)
        for k in range(i, i + 3):
            z[k] -= 0.5 * damping * x[k]
        a0, a1, a2 = z[i + 3], z[i + 4], z[i + 5]
        t0, t1, t2 = 0.5 * damping * x[i + 3], 0.5 * damping * x[i + 4], 0.5 * damping * x[i + 5]
        along = a0 * t0 + a1 * t1 + a2 * t2
        b0 = a0 - (t0 - (a1 * t2 - a2 * t1) + a0 * along)
        b1 = a1 - (t1 - (a2 * t0 - a0 * t2) + a1 * along)
        b2 = a2 - (t2 - (a0 * t1 - a1 * t0) + a2 * along)
        z[i + 3], z[i + 4], z[i + 5] = b0, b1, b2
        shift = unit * unit * (z[i] * z[i] + z[i + 1] * z[i + 1] + z[i + 2] * z[i + 2])
        turn = b0 * b0 + b1 * b1 + b2 * b2
        furthest = max(furthest, shift, turn)
        squares += shift + turn
    subtract(z, damping, x, portion.bounds[1, 0], portion.bounds[1, 1])
    tell(crew, GONE, furthest)
    tell(crew, GONE + 1, squares)
    meet(crew)
    motion = max(SMALLEST_MOTION, 2.0 * np.sqrt(total(crew, GONE + 1) / bodies))
    return Change(most, size, motion, 2.0 * np.sqrt(largest(crew, GONE)))


@stage
def wants_matrix(layout: Layout, damped: bool, size: float, previous: float, newton: Newton) -> bool:
    """Whether the updates still to come with the present matrix cost more than a new one.

    Their number follows from the ratio of the last two; the first one is compared with the motion of the step. A ratio
    below the slowest expected, or that of light elements, is due to what every matrix leaves out.
    """
    slowest = max(newton.slowest, layout.lightness)
    ratio = size / previous if previous > 0.0 else size
    if not damped and previous > 0.0 and ratio < slowest:
        return False
    if damped or (size > NOISE and not ratio < 0.5):
        return True
    return size > NOISE and np.log(newton.floor / size) < layout.worth * np.log(ratio)
