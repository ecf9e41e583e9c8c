"""Where the time of a step of Midpoint goes: each phase timed alone, with its arithmetic where it can be counted.

Run by `python -m benchmarks.phases`; prints the table that docs/performance.md quotes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numba import njit

import porthos as ph
from benchmarks.models import chain, net
from benchmarks.porthos_adapter import model
from porthos.integrate.crew import alone
from porthos.kernels import bodies as kinematics
from porthos.kernels import elimination, joints, marching, reduced_midpoint, solution
from porthos.kernels import guess as guesses
from porthos.kernels import update as updates
from porthos.system.layout import operations
from porthos.system.mechanical import MechanicalSystem

STEP, TRIALS, BODY_CALLS = 1e-3, 9, 12800


@njit
def guess(n, memory, portion, z):  # type: ignore[no-untyped-def]
    for _ in range(n):
        guesses.guess_all(memory, 0, *guesses.choose(memory, 0, 0), portion.bounds, z)


@njit
def remember(n, crew, memory, portion, ws):  # type: ignore[no-untyped-def]
    for _ in range(n):
        guesses.keep_all(memory, 0, ws.z, portion.bounds)
        guesses.judge_guesses(crew, memory, 0, portion.bounds)


@njit
def begin(n, crew, mech, portion, wrench, q, ws):  # type: ignore[no-untyped-def]
    for _ in range(n):
        marching.begin(crew, mech, portion, wrench, 0, q, ws)


@njit
def bodies(n, mech, layout, q, v, slopes, ws, data):  # type: ignore[no-untyped-def]
    for _ in range(n):
        for b in range(mech.body.size):
            kinematics.move_body(mech, b, q, ws.z, ws.mid, ws.end)
            if slopes:
                kinematics.turn_markers(mech, b, ws.end.q, ws.end.marker)
            reduced_midpoint.momentum_rows(mech, layout, b, 1e-3, q, v, slopes, ws.z, ws.mid, ws.end, ws.x, data)


@njit
def rows(n, mech, layout, slopes, ws, data):  # type: ignore[no-untyped-def]
    for _ in range(n):
        joints.joint_rows(
            mech, layout, 0, 1e-3, slopes, True, ws.awake, ws.mid, ws.end, ws.feedback, ws.grip, ws.give, ws.z, ws.x,
            data,
        )  # fmt: skip


@njit
def compliance(n, mech, layout, ws, data):  # type: ignore[no-untyped-def]
    for _ in range(n):
        for b in range(mech.body.size):
            joints.add_compliance(mech, layout, b, ws.mid, ws.end, data)


@njit
def copies(n, data, source):  # type: ignore[no-untyped-def]
    for _ in range(n):
        data[:] = source


@njit
def factorise(n, pattern, data, scale, source):  # type: ignore[no-untyped-def]
    for _ in range(n):
        data[:] = source
        elimination.factorise(pattern, 0, pattern.pivot.size, data, scale, 1e-11)


@njit
def solve(n, crew, mech, layout, ws, factors, source):  # type: ignore[no-untyped-def]
    for _ in range(n):
        ws.x[:] = source
        solution.reduce(crew, mech, layout, 0, True, ws.awake, ws.end, factors, ws.x)
        solution.resolve(crew, mech, layout, ws.mid, factors, ws.x)


@njit
def update(n, crew, mech, portion, ws):  # type: ignore[no-untyped-def]
    for _ in range(n):
        updates.take_update(crew, mech.body.size, portion, ws.x, ws.z, 1.0)


@njit
def accept(n, mech, portion, q, v, ws):  # type: ignore[no-untyped-def]
    for _ in range(n):
        reduced_midpoint.accept(mech, portion, 1e-3, ws.z, q, v, ws.mid)


def timed(repeats: int, function: Callable[..., None], *arguments: Any) -> float:
    """Microseconds a call, the least of several trials."""
    function(1, *arguments)
    best = np.inf
    for _ in range(TRIALS):
        begin = time.perf_counter()
        function(repeats, *arguments)
        best = min(best, time.perf_counter() - begin)
    return best / repeats * 1e6


def phases(system: MechanicalSystem) -> Iterator[tuple[str, int, float, float]]:
    """Name, calls a step, microseconds a call, operations a call (0: not counted)."""
    q, v = system.initial_arrays()
    memory = ph.Midpoint().start(system, np.array([STEP]), q, v, np.zeros((0, 6)))
    ws, factors, mech, layout = memory.workspace, memory.fast, system.mech, system.condensed
    data, count, crew, portion = factors.data, mech.body.size, alone(), layout.portion
    measured = partial(timed, max(1, BODY_CALLS // count))
    ws.z[:] = memory.guess.past[0, 0]
    yield "guess", 1, measured(guess, memory.guess, portion, ws.z), 0.0
    yield "position error of the last step", 1, measured(begin, crew, mech, portion, np.zeros((1, 0, 6)), q, ws), 0.0
    yield "bodies: motion, momenta", 1, measured(bodies, mech, layout, q, v, False, ws, data), 0.0
    yield "bodies, with the matrix", 1, measured(bodies, mech, layout, q, v, True, ws, data), 0.0
    yield "joints: rows, forces", 1, measured(rows, mech, layout, False, ws, data), 0.0
    yield "joints, with the matrix", 1, measured(rows, mech, layout, True, ws, data), 0.0
    yield "compliance", 1, measured(compliance, mech, layout, ws, data), 0.0
    data[:] = 0.0
    bodies(1, mech, layout, q, v, True, ws, data)
    rows(1, mech, layout, True, ws, data)
    compliance(1, mech, layout, ws, data)
    source, right = data.copy(), ws.x.copy()
    work, back = (2 * count for count in operations(layout.pattern))
    spent = measured(factorise, layout.pattern, data, factors.scale, source)
    yield "factorisation", 1, spent - measured(copies, data.copy(), source), work
    factorise(1, layout.pattern, data, factors.scale, source)
    yield "solve", 2, measured(solve, crew, mech, layout, ws, factors, right), back
    ws.x[:] = 0.0
    yield "update", 2, measured(update, crew, mech, portion, ws), 0.0
    yield "new state", 1, measured(accept, mech, portion, q.copy(), v.copy(), ws), 0.0
    yield "memory for the next guess", 1, measured(remember, crew, memory.guess, portion, ws), 0.0


def memory_per_body(system: MechanicalSystem) -> float:
    """Bytes that a step of Midpoint touches for each body: tables, state, workspace and factors."""
    q, v = system.initial_arrays()
    memory = ph.Midpoint().start(system, np.array([STEP]), q, v, np.zeros((0, 6)))

    def size(part: Any) -> int:
        if isinstance(part, tuple):
            return sum(size(p) for p in part)
        return part.nbytes if isinstance(part, np.ndarray) else 0

    parts = (system.mech, system.condensed, memory.guess, memory.workspace, memory.fast, q, v)
    return sum(size(part) for part in parts) / system.mech.body.size


def main() -> None:
    """Print a table for balls, for hinges and for a net, where the calls a step are those of a chain."""
    for mechanism in (chain(64, "spherical", 1), chain(64, "revolute", 1), net()):
        system = model(mechanism).assemble()
        total, count = 0.0, system.mech.body.size
        print(f"\n| {mechanism.name} | calls a step | us a body and call | flop a body and call | Gflop/s |")
        print("| --- | --- | --- | --- | --- |")
        for name, calls, spent, work in phases(system):
            total += calls * spent / count
            rate = f"{work / count:.0f} | {work / spent / 1e3:.1f}" if work else "- | -"
            print(f"| {name} | {calls} | {spent / count:.3f} | {rate} |")
        print(f"| sum | | {total:.2f} | | |")
        print(f"\nA step touches {memory_per_body(system) / 1e3:.1f} kB a body.")


if __name__ == "__main__":
    main()
