"""The solution of the linear equations of an iteration, by one thread or by two.

Each thread eliminates the pivots of its own portion. What the second one changes in pivots of the leader it fills into
copies at the seam, which the leader adds up before it goes on.
"""

from __future__ import annotations

from porthos.kernels.awake import ASLEEP
from porthos.kernels.blocks import OFFSET
from porthos.kernels.compile import frame, stage
from porthos.kernels.crew import BROKEN, LEFT, REDUNDANT, WENT, Crew, Portion, meet, tell, total
from porthos.kernels.elimination import Factors, backward, clear, factorise, fold, forward
from porthos.kernels.joints import add_compliance, condense, expand
from porthos.kernels.light import light_changes
from porthos.kernels.newton import HOPE, RUNNING, SINGULAR, SMALLEST_MOTION, STALLED, Habit, Newton, excess
from porthos.kernels.pose import Pose
from porthos.kernels.repeating import note_islands
from porthos.kernels.tables import Layout, Mechanism
from porthos.kernels.update import loudness, subtract, update_size
from porthos.kernels.workspace import Workspace
from porthos.notation import Array, Flags, IntArray


@stage
def clear_copies(crew: Crew, copies: IntArray, a: Array) -> None:
    """Nothing has come to the copies at the seam yet."""
    if crew.me > 0:
        for k in range(copies.shape[0]):
            clear(a, copies[k, 0], copies[k, 0] + copies[k, 2])


@stage
def open_matrix(crew: Crew, portion: Portion, factors: Factors) -> None:
    """Clear the blocks of a portion."""
    clear(factors.data, portion.span[0], portion.span[1])
    clear_copies(crew, portion.seam, factors.data)
    clear_copies(crew, portion.edge, factors.scale)


@frame
def eliminate(
    crew: Crew, mech: Mechanism, layout: Layout, n: int, mid: Pose, end: Pose, factors: Factors
) -> tuple[int, bool]:
    """Complete the matrix in leg n and factorise it; returns the number of redundant rows, and whether it is singular.

    All threads meet before the last leg.
    """
    portion, leg = layout.portion, layout.portion.leg[n]
    for i in range(leg.settled[0] & OFFSET, leg.settled[1] & OFFSET):
        add_compliance(mech, layout, portion.body[i] & OFFSET, mid, end, factors.data)
    if n == portion.leg.size - 1:
        meet(crew)
        if crew.me == 0:
            fold(portion.seam, factors.data)
            fold(portion.edge, factors.scale)
    found = factorise(layout.pattern, leg.pivot[0], leg.pivot[1], factors.data, factors.scale, layout.floor)
    return max(0, found), found < 0


@stage
def judge(
    crew: Crew, mech: Mechanism, layout: Layout, redundant: int, broken: bool, iteration: int, habit: Habit,
    factors: Factors,
) -> int:  # fmt: skip
    """Whether to go on with all factors: a singular one after the first iteration is a sign of divergence.

    All threads meet.
    """
    tell(crew, REDUNDANT, 1.0 * redundant)
    tell(crew, BROKEN, 1.0 if broken else 0.0)
    meet(crew)
    habit.redundant[0] = 1 if total(crew, REDUNDANT) > 0.0 else 0
    if habit.redundant[0] > 0:
        note_islands(mech, layout, factors.data, habit)
    if total(crew, BROKEN) > 0.0:
        return SINGULAR if iteration == 1 else STALLED
    return RUNNING


@frame
def reduce(
    crew: Crew, mech: Mechanism, layout: Layout, n: int, everywhere: bool, awake: Flags, end: Pose, factors: Factors,
    x: Array,
) -> None:  # fmt: skip
    """Condense the right-hand side in leg n, and substitute forward. All threads meet before the last leg.

    If not `everywhere`, the rows of bodies that sleep are zero.
    """
    portion, leg = layout.portion, layout.portion.leg[n]
    if n == 0:
        clear_copies(crew, portion.edge, x)
    for i in range(leg.settled[0] & OFFSET, leg.settled[1] & OFFSET):
        b = portion.body[i] & OFFSET
        if everywhere or awake[b] != ASLEEP:
            condense(mech, layout, b, end, x)
        else:
            clear(x, 6 * b, 6 * b + 6)
    if n == portion.leg.size - 1:
        meet(crew)
        if crew.me == 0:
            fold(portion.edge, x)
    forward(layout.pattern, leg.pivot[0], leg.pivot[1], factors.data, x)


@frame
def resolve(crew: Crew, mech: Mechanism, layout: Layout, mid: Pose, factors: Factors, x: Array) -> None:
    """Turn a right-hand side reduced in all legs into the update of all unknowns. All threads meet behind the last."""
    portion, last = layout.portion, layout.portion.leg.size - 1
    for k in range(last + 1):
        leg = portion.leg[last - k]
        backward(layout.pattern, leg.pivot[0], leg.pivot[1], factors.data, x)
        if k == 0:
            meet(crew)
            unfold(crew, portion.edge, x)
        for i in range(leg.settled[0] & OFFSET, leg.settled[1] & OFFSET):
            expand(mech, layout, portion.body[i] & OFFSET, mid, x)


@stage
def unfold(crew: Crew, copies: IntArray, a: Array) -> None:
    """Fill the copies at the seam."""
    if crew.me > 0:
        for k in range(copies.shape[0]):
            for i in range(copies[k, 2]):
                a[copies[k, 0] + i] = a[copies[k, 1] + i]


@frame
def echo(
    crew: Crew, mech: Mechanism, layout: Layout, newton: Newton, ws: Workspace, factors: Factors, source: Array,
    answer: Array,
) -> float:  # fmt: skip
    """answer = A^-1 S source, what light elements answer to an update; returns rho of answer = rho source."""
    portion, bodies = layout.portion, mech.body.size
    for part in range(2):
        clear(answer, portion.bounds[part, 0], portion.bounds[part, 1])
    if crew.me == 0:  # the ground, scratch so far, does not move
        clear(source, 6 * bodies, 6 * bodies + 6)
    meet(crew)
    for n in range(portion.leg.size):
        light_changes(mech, layout, n, ws.mid, ws.give, ws.z, source, answer)
        if n == 0:
            meet(crew)
        reduce(crew, mech, layout, n, True, ws.awake, ws.end, factors, answer)
    resolve(crew, mech, layout, ws.mid, factors, answer)
    return loudness(crew, portion, source, answer, 1.0 / newton.length)


@frame
def find_update(
    crew: Crew, mech: Mechanism, layout: Layout, newton: Newton, first: bool, hopes: bool, habit: Habit, s: int,
    ws: Workspace, factors: Factors,
) -> tuple[float, bool]:  # fmt: skip
    """The update of all unknowns from what `reduce` left in ws.x.

    It is refined by the echo of light elements if the next one would be needed for what they leave of this one; after
    the first there is another in any case, unless that `hopes` to be the only one, as earlier steps show: then it is
    refined until it can be, by the echo of the echo too, which is cheaper than a second one. Returns by which ratio the
    next one is smaller for light elements, and whether this one may be the only one.
    """
    portion, bodies, ratio, unit = layout.portion, mech.body.size, layout.lightness, 1.0 / newton.length
    resolve(crew, mech, layout, ws.mid, factors, ws.x)
    if ratio == 0.0:
        return 0.0, hopes
    motion = max(SMALLEST_MOTION, 2.0 * update_size(crew, WENT, portion, bodies, ws.z, unit)[1])
    size = update_size(crew, LEFT, portion, bodies, ws.x, unit)[1] / motion
    hopes = hopes and excess(size, newton, habit, s) < HOPE
    left = ratio * size
    if not (ratio * left if first and not hopes else left) > newton.floor:
        return ratio, hopes
    share, again = 1.0 / (1.0 + echo(crew, mech, layout, newton, ws, factors, ws.x, ws.echo)), 0.0
    if hopes and ratio * left > newton.floor:
        share, again = 1.0, 1.0 / (1.0 + echo(crew, mech, layout, newton, ws, factors, ws.echo, ws.second))
    for part in range(2):
        subtract(ws.x, share, ws.echo, portion.bounds[part, 0], portion.bounds[part, 1])
        if again > 0.0:
            subtract(ws.x, -again, ws.second, portion.bounds[part, 0], portion.bounds[part, 1])
    meet(crew)
    return ratio**3 if again > 0.0 else ratio**2, hopes
