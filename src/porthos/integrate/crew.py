"""Runs compiled steps with one thread, or with two that meet in them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any

import numpy as np

from porthos.kernels.crew import PLACES, Crew
from porthos.kernels.ggl_correction import Levels
from porthos.kernels.guess import Memory
from porthos.kernels.newton import Habit
from porthos.kernels.tables import Layout
from porthos.kernels.tiny import flushed
from porthos.notation import Array, IntArray
from porthos.system.layout import idle_layout

ENDLESS = 2**62  # meetings
LINE = 16  # numbers between what two threads write, so that they do not share a line of a cache


def alone() -> Crew:
    """A thread without others."""
    return Crew(0, 1, 0, 0, np.zeros((2, PLACES)))


def together(
    march: Callable[..., tuple[int, int]], arguments: tuple[Any, ...], helping: tuple[Layout, ...], exact: bool
) -> tuple[int, int]:
    """What a compiled march returns; a second thread helps with the layout it has, if there is one.

    `exact`: numbers below 1e-308 keep what they have, for Python code that is called from the march.
    """

    def run(arguments: tuple[Any, ...]) -> tuple[int, int]:
        with nullcontext() if exact else flushed():
            return march(*arguments)

    if not helping:
        return run(arguments)
    meetings, told = np.zeros((2, LINE), dtype=np.int64), np.zeros((2, PLACES))
    leader, helper = (Crew(me, 2, _address(meetings[me]), _address(meetings[1 - me]), told) for me in range(2))

    def come(me: int, *arguments: Any) -> tuple[int, int]:
        """The part of a thread. When it is over, or has failed, the other one does not wait for it any more."""
        try:
            return run(arguments)
        finally:
            meetings[me, 0] = ENDLESS

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(come, 1, *_assisting(helper, helping[0], *arguments[1:]))
        ended = come(0, leader, *arguments[1:])
        other.result()
    return ended


def _address(a: IntArray) -> int:
    return int(a.ctypes.data)


def _assisting(
    crew: Crew, layout: Layout, mech: Any, _: Layout, exact: Layout, sizes: Array, wrench: Array, every: int,
    newton: Any, memory: Memory, habit: Habit, *rest: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """The arguments of the second thread: habits of its own, which become the same; it is idle where all is exact."""
    own = Habit(habit.exact.copy(), habit.redundant.copy(), habit.matrix.copy(), habit.left.copy())
    *workspace, last = rest
    if isinstance(last, Levels):
        last = last._replace(rate=last.rate.copy())
    idle = idle_layout(exact)
    return (crew, mech, layout, idle, sizes, wrench, every, newton, _own(memory), own, *workspace, last)


def _own(memory: Memory) -> Memory:
    return memory._replace(errors=memory.errors.copy(), steps=memory.steps.copy(), best=memory.best.copy())
