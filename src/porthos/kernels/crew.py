"""Threads that make the steps of one run together: all of them run the same loop, each on its portion of a mechanism.

What a thread decides follows from numbers that all of them share, so all decide alike; they meet wherever one needs
what another one has done. The leader also does what cannot be divided. Threads wait by looking again and again: a step
of a large mechanism takes a millisecond and has some twenty meetings, far too many to sleep in between.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from porthos.kernels.compile import stage
from porthos.kernels.tiny import X86
from porthos.notation import Array, IntArray, Records

POSIX = os.name == "posix"
LOOKS = 4096  # how often a thread looks before it lets others have the processor

# Places of what threads tell each other; each is told anew only after all have read it and met again. An update has
# two: how large it is at most, and the sum of squares (velocities only that); errors have as many as there are guesses.
WENT, LEFT, TAKEN, GONE, RATES, COMMON, TOTAL, REDUNDANT, BROKEN, GOES, OPEN = 0, 2, 4, 6, 8, 10, 11, 12, 13, 14, 15
ERRORS, PLACES = 16, 56


class Crew(NamedTuple):
    """The threads of a run as seen by one of them."""

    me: int  # 0: the leader
    threads: int  # 1: alone, or 2
    mine: int  # address of the number of meetings that this thread came to
    other: int  # the same of the other one
    told: Array  # (2, PLACES) what each of them tells


LEG = np.dtype(
    [
        ("body", "i4", 2),  # range of the bodies that are moved
        ("load", "i4", 2),  # range of the loads on these and earlier ones
        ("joint", "i4", 2),  # range of the joints and elements between these and earlier ones
        ("settled", "i4", 2),  # range of the bodies on which nothing else acts
        ("pivot", "i4", 2),  # range of the pivots that are eliminated
    ],
    align=True,
)


class Portion(NamedTuple):
    """What one thread does of an iteration. Alone it does all in one leg, two threads have three legs.

    They meet in the first one, when the bodies at the seam of their portions are moved, and again when the leader has
    evaluated the joints there; then before the last one, in which the leader eliminates what they have in common.
    """

    leg: Records  # LEG
    body: IntArray
    load: IntArray
    joint: IntArray
    span: IntArray  # (2,) range of its blocks in the flat array
    bounds: IntArray  # (2, 2) ranges of unknowns of bodies and of multipliers, for what is done one by one
    seam: IntArray  # (K, 3) copies of blocks of the leader that the other thread fills: place, place there, length
    edge: IntArray  # (K, 3) the same for right-hand sides


def _at(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, ir.IntType(64).as_pointer())


def _seen(context: Any, address: Any) -> Any:
    """The number at an address, with all that was written before it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_at(builder, arguments[0]), "acquire", 8)

    return types.int64(types.int64), generate


def _shown(context: Any, address: Any, number: Any) -> Any:
    """Write a number behind all that was written before it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store_atomic(arguments[1], _at(builder, arguments[0]), "release", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


def _rested(context: Any, long: Any) -> Any:
    """Wait a moment; if `long`, let others have the processor."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        with builder.if_else(arguments[0]) as (then, otherwise):
            with then:
                if POSIX:
                    give = cgutils.get_or_insert_function(
                        builder.module, ir.FunctionType(ir.IntType(32), []), "sched_yield"
                    )
                    builder.call(give, [])
            with otherwise:
                if X86:
                    pause = ir.FunctionType(ir.VoidType(), [])
                    builder.call(cgutils.get_or_insert_function(builder.module, pause, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(types.boolean), generate


seen: Any = intrinsic(_seen)
shown: Any = intrinsic(_shown)
rested: Any = intrinsic(_rested)


@stage
def meet(crew: Crew) -> None:
    """Go on when all threads are here; what they wrote before can be read after."""
    if crew.threads > 1:
        number = seen(crew.mine) + 1
        shown(crew.mine, number)
        looks = 0
        while seen(crew.other) < number:
            looks += 1
            rested(looks % LOOKS == 0)


@stage
def tell(crew: Crew, place: int, value: float) -> None:
    """Leave a number for all threads to read after they met."""
    crew.told[crew.me, place] = value


@stage
def total(crew: Crew, place: int) -> float:
    """The sum of what all threads told; NaN if there is one in it."""
    return crew.told[0, place] + crew.told[1, place]


@stage
def largest(crew: Crew, place: int) -> float:
    """The largest of what all threads told, which is not negative."""
    return max(crew.told[0, place], crew.told[1, place])
