"""Where the time of a step of Midpoint goes: each phase timed alone, with its arithmetic where it can be counted.

Run by `python -m benchmarks.phases`; prints the table that docs/performance.md quotes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numba import njit

import porthos as ph
from benchmarks.models import chain
from benchmarks.porthos_adapter import model
from porthos.kernels import elimination, joints, newton, reduced_midpoint
from porthos.system.layout import operations
from porthos.system.mechanical import MechanicalSystem

BODIES, STEP, REPEATS, TRIALS = 64, 1e-3, 200, 9


@njit
def guess(n, memory, habit, bodies, z):  # type: ignore[no-untyped-def]
    for _ in range(n):
        newton.guess(memory, 6, habit, bodies, z)


@njit
def remember(n, memory, bodies, ws):  # type: ignore[no-untyped-def]
    for _ in range(n):
        newton.remember(memory, ws.z, bodies, ws.x)


@njit
def begin(n, mech, layout, q, ws):  # type: ignore[no-untyped-def]
    for _ in range(n):
        reduced_midpoint.begin(mech, layout, q, ws.mid, ws.feedback)


@njit
def bodies(n, mech, layout, q, v, slopes, ws, data):  # type: ignore[no-untyped-def]
    for _ in range(n):
        for b in range(mech.body.size):
            reduced_midpoint.move_body(layout, b, q, ws.z, slopes, ws.mid, ws.end)
            reduced_midpoint.momentum_rows(mech, layout, b, 1e-3, q, v, slopes, ws.z, ws.mid, ws.end, ws.x, data)


@njit
def rows(n, mech, layout, slopes, ws, data):  # type: ignore[no-untyped-def]
    for _ in range(n):
        joints.joint_rows(mech, layout, slopes, ws.mid, ws.end, ws.feedback, ws.z, ws.x, data)


@njit
def compliance(n, mech, layout, ws, data):  # type: ignore[no-untyped-def]
    for _ in range(n):
        joints.add_compliance(mech, layout, ws.mid, ws.end, data)


@njit
def copies(n, data, source):  # type: ignore[no-untyped-def]
    for _ in range(n):
        data[:] = source


@njit
def factorise(n, pattern, data, scale, source):  # type: ignore[no-untyped-def]
    for _ in range(n):
        data[:] = source
        elimination.factorise(pattern, data, scale, 1e-11)


@njit
def solve(n, mech, layout, ws, factors, source):  # type: ignore[no-untyped-def]
    for _ in range(n):
        ws.x[:] = source
        reduced_midpoint.back_solve(mech, layout, ws.mid, ws.end, factors, ws.x)


@njit
def update(n, mech, ws):  # type: ignore[no-untyped-def]
    for _ in range(n):
        reduced_midpoint.take_update(mech.body.size, ws.x, ws.z, 1.0)


@njit
def accept(n, mech, q, v, ws):  # type: ignore[no-untyped-def]
    for _ in range(n):
        reduced_midpoint.accept(mech, 1e-3, ws.z, q, v, ws.mid)


def timed(function: Callable[..., None], *arguments: Any) -> float:
    """Microseconds a body and call, the least of several trials."""
    function(1, *arguments)
    best = np.inf
    for _ in range(TRIALS):
        begin = time.perf_counter()
        function(REPEATS, *arguments)
        best = min(best, time.perf_counter() - begin)
    return best / REPEATS / BODIES * 1e6


def phases(system: MechanicalSystem) -> Iterator[tuple[str, int, float, float]]:
    """Name, calls a step, microseconds a body and call, operations a body and call (0: not counted)."""
    q, v = system.initial_arrays()
    memory = ph.Midpoint().start(system, STEP, q, v, np.zeros((0, 6)))
    ws, factors, mech, layout = memory.workspace, memory.fast, system.mech, system.condensed
    ws.z[:] = memory.guess.differences[0]
    yield "guess", 1, timed(guess, memory.guess, memory.habit, BODIES, ws.z), 0.0
    yield "position error of the last step", 1, timed(begin, mech, layout, q, ws), 0.0
    yield "bodies: motion, momenta", 1, timed(bodies, mech, layout, q, v, False, ws, factors.data), 0.0
    yield "bodies, with the matrix", 1, timed(bodies, mech, layout, q, v, True, ws, factors.data), 0.0
    yield "joints: rows, forces", 1, timed(rows, mech, layout, False, ws, factors.data), 0.0
    yield "joints, with the matrix", 1, timed(rows, mech, layout, True, ws, factors.data), 0.0
    yield "compliance", 1, timed(compliance, mech, layout, ws, factors.data), 0.0
    factors.data[:] = 0.0
    bodies(1, mech, layout, q, v, True, ws, factors.data)
    rows(1, mech, layout, True, ws, factors.data)
    compliance(1, mech, layout, ws, factors.data)
    source, right = factors.data.copy(), ws.x.copy()
    work, back = (2 * count for count in operations(layout.pattern))
    spent = timed(factorise, layout.pattern, factors.data, factors.scale, source)
    yield "factorisation", 1, spent - timed(copies, factors.data.copy(), source), work / BODIES
    factorise(1, layout.pattern, factors.data, factors.scale, source)
    yield "solve", 2, timed(solve, mech, layout, ws, factors, right), back / BODIES
    ws.x[:] = 0.0
    yield "update", 2, timed(update, mech, ws), 0.0
    yield "new state", 1, timed(accept, mech, q.copy(), v.copy(), ws), 0.0
    yield "memory for the next guess", 1, timed(remember, memory.guess, BODIES, ws), 0.0


def memory_per_body(system: MechanicalSystem) -> float:
    """Bytes that a step of Midpoint touches for each body: tables, state, workspace and factors."""
    q, v = system.initial_arrays()
    memory = ph.Midpoint().start(system, STEP, q, v, np.zeros((0, 6)))

    def size(part: Any) -> int:
        if isinstance(part, tuple):
            return sum(size(p) for p in part)
        return part.nbytes if isinstance(part, np.ndarray) else 0

    parts = (system.mech, system.condensed, memory.guess, memory.workspace, memory.fast, q, v)
    return sum(size(part) for part in parts) / BODIES


def main() -> None:
    """Print the table for balls and for hinges."""
    for kind in ("spherical", "revolute"):
        system = model(chain(BODIES, kind, 1)).assemble()
        total = 0.0
        print(f"\n| chain-{BODIES} {kind} | calls a step | us a body and call | flop a body and call | Gflop/s |")
        print("| --- | --- | --- | --- | --- |")
        for name, calls, spent, work in phases(system):
            total += calls * spent
            rate = f"{work:.0f} | {work / spent / 1e3:.1f}" if work else "- | -"
            print(f"| {name} | {calls} | {spent:.3f} | {rate} |")
        print(f"| sum | | {total:.2f} | | |")
        print(f"\nA step touches {memory_per_body(system) / 1e3:.1f} kB a body.")


if __name__ == "__main__":
    main()
