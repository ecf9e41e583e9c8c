"""What Newton's method starts from: unknowns extrapolated from those of the last steps.

With B z the z of the step before, (1 - B)^(k + 1) z is what a polynomial of order k misses. Velocities of PH-MP
alternate in sign beside the motion, and so do its increments, which differences double. Guesses that miss
(1 - B)^k (1 + B) z instead do without what alternates. Both compete, in all orders: the one is taken that would have
predicted the last steps best.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np

from porthos.kernels.blocks import OFFSET
from porthos.kernels.compile import algebra, inner, stage
from porthos.kernels.crew import ERRORS, Crew
from porthos.notation import Array, IntArray

ORDERS = 9  # of extrapolation: 0 .. ORDERS - 1
KEPT = 16  # steps of which unknowns are kept: a power of 2; ORDERS + 1 tell what the highest order misses
GUESSES = 2 * ORDERS  # the orders, then those that do without what alternates, numbered by k
PLAINEST = 4  # how often orders are halved where steps fail, at most: then the last step is repeated
LOOK = 7  # steps after which guesses are judged again; odd, as errors alternate


class Memory(NamedTuple):
    """What a step hands to the next one for its starting guess.

    The substeps of a composed step differ in size, but each of them changes smoothly from step to step: the S substeps
    remember their own course.
    """

    past: Array  # (S, KEPT, unknowns) of the last steps, that of step n at n % KEPT
    errors: Array  # (S, 2 GUESSES) sum of squares of what each guess missed lately, of bodies and of multipliers
    steps: IntArray  # (S,) steps made
    best: IntArray  # (S, 2) the guesses that predicted bodies and multipliers best


def _weights() -> Array:
    """What the last steps contribute to each guess (GUESSES, ORDERS), the last one first."""
    result = np.zeros((GUESSES, ORDERS))
    for k in range(ORDERS):
        for j in range(k + 1):
            result[k, j] = (-1) ** j * comb(k + 1, j + 1)
            result[ORDERS + k, j] = result[k, j] - 2 * (-1) ** j * comb(k, j)
    return result


WEIGHTS = _weights()


def latest(memory: Memory) -> Array:
    """The unknowns (S, unknowns) of the last step."""
    return memory.past[np.arange(memory.steps.size), memory.steps % KEPT]


@stage
def place(steps: int, back: int) -> int:
    """Where the unknowns of so many steps ago are after `steps` steps, 0 being the last one."""
    return (steps - back) & (KEPT - 1)


@stage
def guess(past: Array, steps: int, s: int, number: int, first: int, last: int, z: Array) -> None:
    """Extrapolate a range of the unknowns of substep s from the last steps."""
    first, last = first & OFFSET, last & OFFSET
    a, b, c, d, e = place(steps, 0), place(steps, 1), place(steps, 2), place(steps, 3), place(steps, 4)
    u, v, w, x, y = WEIGHTS[number, 0], WEIGHTS[number, 1], WEIGHTS[number, 2], WEIGHTS[number, 3], WEIGHTS[number, 4]
    for i in range(first, last):
        z[i] = u * past[s, a, i] + v * past[s, b, i] + w * past[s, c, i] + x * past[s, d, i] + y * past[s, e, i]
    if number % ORDERS > 4:
        a, b, c, d = place(steps, 5), place(steps, 6), place(steps, 7), place(steps, 8)
        u, v, w, x = WEIGHTS[number, 5], WEIGHTS[number, 6], WEIGHTS[number, 7], WEIGHTS[number, 8]
        for i in range(first, last):
            z[i] += u * past[s, a, i] + v * past[s, b, i] + w * past[s, c, i] + x * past[s, d, i]


@stage
def choose(memory: Memory, s: int, plainness: int) -> tuple[int, int]:
    """The best guesses for bodies and for multipliers, or plain ones of their orders halved so often."""
    bodies, rows = memory.best[s, 0], memory.best[s, 1]
    if plainness > 0:
        bodies, rows = bodies % ORDERS >> plainness, rows % ORDERS >> plainness
    return bodies, rows


@stage
def guess_all(memory: Memory, s: int, bodies: int, rows: int, bounds: IntArray, z: Array) -> None:
    """`guess` of the unknowns of bodies and of multipliers that a thread has."""
    for part in range(2):
        number = bodies if part == 0 else rows
        guess(memory.past, memory.steps[s], s, number, bounds[part, 0], bounds[part, 1], z)


@inner
def best_guess(memory: Memory, s: int, part: int, orders: int, guesses: int) -> int:
    """The guess that predicted bodies (0) or multipliers (1) in substep s best, among the first `guesses`."""
    best, first, orders = 0, GUESSES * part, min(orders, memory.steps[s])
    for number in range(1, guesses):
        if 0 < number % ORDERS < orders and memory.errors[s, first + number] < memory.errors[s, first + best]:
            best = number
    return best


@stage
def keep(past: Array, steps: int, s: int, z: Array, first: int, last: int) -> None:
    """Keep a range of the unknowns of a substep s that is accepted, before it is counted."""
    at, first, last = place(steps, -1), first & OFFSET, last & OFFSET
    for i in range(first, last):
        past[s, at, i] = z[i]


@algebra
def look_back(memory: Memory, s: int, first: int, last: int, told: Array, me: int, at: int) -> None:
    """What each guess would have missed in the last step, of a range of the unknowns, goes to told[me, at ...]."""
    past, n, first, last = memory.past, memory.steps[s], first & OFFSET, last & OFFSET
    A, B, C, D, E = place(n, 0), place(n, 1), place(n, 2), place(n, 3), place(n, 4)
    F, G, H, K, L = place(n, 5), place(n, 6), place(n, 7), place(n, 8), place(n, 9)
    p0 = p1 = p2 = p3 = p4 = p5 = p6 = p7 = p8 = q1 = q2 = q3 = q4 = q5 = q6 = q7 = q8 = 0.0
    for m in range(first, last):
        a, b, c, d, e = past[s, A, m], past[s, B, m], past[s, C, m], past[s, D, m], past[s, E, m]
        f, g, h, i, j = past[s, F, m], past[s, G, m], past[s, H, m], past[s, K, m], past[s, L, m]
        a, b, c, d, e, f, g, h, i = a - b, b - c, c - d, d - e, e - f, f - g, g - h, h - i, i - j
        p0, q1 = p0 + a * a, q1 + (a + b) * (a + b)
        a, b, c, d, e, f, g, h = a - b, b - c, c - d, d - e, e - f, f - g, g - h, h - i
        p1, q2 = p1 + a * a, q2 + (a + b) * (a + b)
        a, b, c, d, e, f, g = a - b, b - c, c - d, d - e, e - f, f - g, g - h
        p2, q3 = p2 + a * a, q3 + (a + b) * (a + b)
        a, b, c, d, e, f = a - b, b - c, c - d, d - e, e - f, f - g
        p3, q4 = p3 + a * a, q4 + (a + b) * (a + b)
        a, b, c, d, e = a - b, b - c, c - d, d - e, e - f
        p4, q5 = p4 + a * a, q5 + (a + b) * (a + b)
        a, b, c, d = a - b, b - c, c - d, d - e
        p5, q6 = p5 + a * a, q6 + (a + b) * (a + b)
        a, b, c = a - b, b - c, c - d
        p6, q7 = p6 + a * a, q7 + (a + b) * (a + b)
        a, b = a - b, b - c
        p7, q8 = p7 + a * a, q8 + (a + b) * (a + b)
        p8 += (a - b) * (a - b)
    for k, square in enumerate((p0, p1, p2, p3, p4, p5, p6, p7, p8, 0.0, q1, q2, q3, q4, q5, q6, q7, q8)):
        told[me, at + k] = square


@stage
def looks(memory: Memory, s: int) -> bool:
    """Whether guesses are judged after this step: always, until all orders are known, then now and then."""
    return memory.steps[s] <= ORDERS + 1 or memory.steps[s] % LOOK == 0


@stage
def keep_all(memory: Memory, s: int, z: Array, bounds: IntArray) -> None:
    """`keep` the unknowns of bodies and of multipliers that a thread has."""
    for part in range(2):
        keep(memory.past, memory.steps[s], s, z, bounds[part, 0], bounds[part, 1])
    memory.steps[s] += 1


@stage
def judge_guesses(crew: Crew, memory: Memory, s: int, bounds: IntArray) -> None:
    """`look_back` at the unknowns that a thread has."""
    if looks(memory, s):
        for part in range(2):
            look_back(memory, s, bounds[part, 0], bounds[part, 1], crew.told, crew.me, ERRORS + GUESSES * part)


@stage
def note_errors(crew: Crew, memory: Memory, s: int) -> None:
    """Note what guesses would have missed, after all threads told, and which are the best ones."""
    if looks(memory, s):
        for k in range(2 * GUESSES):
            memory.errors[s, k] = crew.told[0, ERRORS + k] + crew.told[1, ERRORS + k]
        for part in range(2):
            memory.best[s, part] = best_guess(memory, s, part, ORDERS, GUESSES)
