"""Which bodies still have something to do after an update, and which sleep until the next step.

Momentum rows are linear in translations and multipliers, and so are the rows of ball joints and hinges. An update with
a matrix made for it leaves a body that it does not turn, and whose neighbours it does not turn, with rows that are
zero: what is not linear in them comes from turning. So later iterations pass these bodies over, until something turns
them again. With the matrix kept, rows of a body that turned by d before miss d times the new update: it falls asleep
as soon as that is nothing. In a long chain a wave needs a second iteration, the rest hangs or falls quietly; it takes
part by the solution of the linear equations alone.
"""

from __future__ import annotations

from porthos.kernels.blocks import OFFSET
from porthos.kernels.bodies import move_body
from porthos.kernels.compile import inner, stage
from porthos.kernels.crew import Crew, Portion, meet
from porthos.kernels.newton import Habit
from porthos.kernels.pose import Pose
from porthos.kernels.tables import Layout, Mechanism
from porthos.notation import Array, Flags

SLIGHT = 300.0  # floors of an update that are too little to wake a body: it leaves a small part of itself
LARGEST = 100.0  # of the updates of single bodies, in units of their root mean square
ASLEEP, WOKEN, TURNING, STIRRED = 0, 1, 2, 3  # WOKEN by a neighbour that turns, STIRRED by the last sweep of velocities


@stage
def turns(x: Array, b: int, limit: float) -> bool:
    """Whether the update x turns body b by more than `limit`; NaN does."""
    i = 6 * b + 3
    return not x[i] * x[i] + x[i + 1] * x[i + 1] + x[i + 2] * x[i + 2] <= limit * limit


@inner
def wake(
    crew: Crew, mech: Mechanism, layout: Layout, anew: bool, x: Array, limit: float, habit: Habit, awake: Flags
) -> None:  # fmt: skip
    """Note the bodies that an update x turns by more than `limit`, those of redundant islands, and their neighbours.

    If `anew` all others sleep, but those that were stirred before x. All threads meet.
    """
    for n in range(layout.portion.body.size):
        b = layout.portion.body[n] & OFFSET
        if turns(x, b, limit) or layout.body[b].restless or awake[b] == STIRRED:
            awake[b] = TURNING
        elif anew:
            awake[b] = ASLEEP
    meet(crew)
    if habit.redundant[0] > 0:
        for n in range(layout.portion.joint.size):
            j = layout.portion.joint[n] & OFFSET
            if habit.redundant[1 + layout.joint[j].island] > 0:
                for k in range(2):
                    if mech.joint[j].body[k] < mech.body.size:
                        awake[mech.joint[j].body[k]] = TURNING
        meet(crew)
    wake_neighbours(mech, layout, awake)
    meet(crew)


@stage
def wake_neighbours(mech: Mechanism, layout: Layout, awake: Flags) -> None:
    """Wake the neighbours of bodies that turn; the ground never does."""
    for n in range(layout.portion.joint.size):
        j = layout.portion.joint[n] & OFFSET
        a, b = mech.joint[j].body[0], mech.joint[j].body[1]
        if awake[a] == ASLEEP and awake[b] >= TURNING and a < mech.body.size:
            awake[a] = WOKEN
        elif awake[b] == ASLEEP and awake[a] >= TURNING and b < mech.body.size:
            awake[b] = WOKEN


@inner
def wake_velocities(
    crew: Crew, mech: Mechanism, layout: Layout, x: Array, t: Array, limit: float, length: float, awake: Flags
) -> None:
    """The same for an update x of the velocities t and of gam' in PH-MP-GGL, whose correction has products of both.

    Bodies that are awake stay so: their positions are to be solved for again. All threads meet.
    """
    portion, first = layout.portion, 6 * (mech.body.size + 1)
    for n in range(portion.body.size):
        b = portion.body[n] & OFFSET
        if turns(x, b, limit):
            awake[b] = STIRRED
        elif awake[b] == STIRRED:
            awake[b] = TURNING
    meet(crew)
    wake_neighbours(mech, layout, awake)
    for n in range(portion.joint.size):
        j = portion.joint[n] & OFFSET
        squares = 0.0
        for r in range(mech.joint[j].first & OFFSET, mech.joint[j].last & OFFSET):
            squares += x[first + r] * x[first + r]
        for s in range(2):
            b = mech.joint[j].body[s]
            if awake[b] == ASLEEP and b < mech.body.size:
                i, inertia = 6 * b + 3, mech.body[b].euler[0] + mech.body[b].euler[1] + mech.body[b].euler[2]
                turn = t[i] * t[i] + t[i + 1] * t[i + 1] + t[i + 2] * t[i + 2]
                if not length * length * squares * turn <= limit * limit * inertia * inertia:
                    awake[b] = WOKEN
    meet(crew)


@inner
def falls_asleep(everywhere: bool, size: float, largest: float, floor: float) -> bool:
    """Whether bodies that an update of this size does not turn have nothing left to do, by the largest before."""
    return everywhere or LARGEST * size * largest < floor


@stage
def asleep(mech: Mechanism, j: int, awake: Flags) -> bool:
    """Whether both bodies of a joint sleep."""
    return awake[mech.joint[j].body[0]] == ASLEEP and awake[mech.joint[j].body[1]] == ASLEEP


@inner
def catch_up(mech: Mechanism, portion: Portion, q0: Array, z: Array, mid: Pose, end: Pose, awake: Flags) -> None:
    """Let bodies that slept follow the updates since then."""
    for n in range(portion.body.size):
        b = portion.body[n] & OFFSET
        if awake[b] == ASLEEP:
            move_body(mech, b, q0, z, mid, end)
