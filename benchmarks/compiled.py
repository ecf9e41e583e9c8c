"""What a compiled step costs beside its linear algebra: factorisations and solves timed within a run.

As in `benchmarks.families`, but the meter is compiled into the kernels: it reads the counter of the processor before
and after each call. So it needs kernels of its own, in a process of its own (`python -m benchmarks.compiled SIZE ...`),
where they are compiled each time. What an empty call of the meter takes is subtracted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import astuple, dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

import porthos as ph
from benchmarks.models import chain
from benchmarks.porthos_adapter import model
from porthos.integrate.scheme import Scheme
from porthos.kernels import reduced_ggl, reduced_midpoint, solution
from porthos.kernels.ahead import CHILD
from porthos.kernels.compile import frame
from porthos.notation import Array
from porthos.system.mechanical import MechanicalSystem

STEP, ROUNDS = 1e-3, 25
WINDOW = (100, 400)  # the steps behind which it begins and ends
SCHEMES: dict[str, tuple[Scheme, int]] = {  # and its substeps
    "Midpoint()": (ph.Midpoint(), 1),
    "MidpointGGL()": (ph.MidpointGGL(), 1),
    "Composition(Midpoint(), 4), a substep": (ph.Composition(ph.Midpoint(), 4), 5),
    "Composition(MidpointGGL(), 4), a substep": (ph.Composition(ph.MidpointGGL(), 4), 5),
    "Livens(), as on mechanisms": (ph.Livens(), 1),
}
METERED = {  # where the kernels of linear algebra are used
    "eliminate": (reduced_midpoint, reduced_ggl),
    "reduce": (solution, reduced_midpoint, reduced_ggl),
    "resolve": (solution, reduced_ggl),
}
METER = np.zeros((len(METERED), 2), dtype=np.int64)  # ticks and calls of each


@dataclass(frozen=True)
class Cost:
    """Of one step: seconds in all and in linear algebra, factorisations, solves, unknowns of the largest matrix."""

    total: float
    algebra: float
    factorisations: float
    solves: float
    unknowns: int


@intrinsic
def ticks(typing_context):  # type: ignore[no-untyped-def]
    """The counter of the processor, which goes on at a constant rate."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        name = "llvm.readcyclecounter"
        return builder.call(builder.module.declare_intrinsic(name, fnty=ir.FunctionType(ir.IntType(64), [])), [])

    return types.int64(), generate


def booking(row: int) -> Any:
    """A function that books ticks in a row of the meter, at an address that compiled code knows."""
    address = METER[row].ctypes.data

    @intrinsic
    def book(typing_context, spent):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            for offset, more in ((0, arguments[0]), (8, ir.IntType(64)(1))):
                place = builder.inttoptr(ir.IntType(64)(address + offset), ir.IntType(64).as_pointer())
                builder.store(builder.add(builder.load(place), more), place)
            return context.get_dummy_value()

        return types.void(types.int64), generate

    return book


def metered(original: Any, row: int) -> Any:
    """A kernel with a meter around it."""
    book = booking(row)

    @frame
    def timed(*arguments):  # type: ignore[no-untyped-def]
        begin = ticks()
        found = original(*arguments)
        book(ticks() - begin)
        return found

    return timed


@contextmanager
def meters() -> Iterator[None]:
    """All kernels that are compiled within it have meters."""
    with ExitStack() as stack:
        for row, (name, users) in enumerate(METERED.items()):
            replacement = metered(getattr(solution, name), row)
            for module in users:
                stack.enter_context(patch.object(module, name, replacement))
        yield


def empty() -> tuple[float, float]:
    """Ticks that a call of the meter books and takes, with nothing in it."""
    book, count = booking(0), 100_000

    @njit
    def calls():  # type: ignore[no-untyped-def]
        start = ticks()
        for _ in range(count):
            begin = ticks()
            book(ticks() - begin)
        return ticks() - start

    booked, taken = [], []
    for _ in range(ROUNDS):
        METER[:] = 0
        taken.append(calls() / count)
        booked.append(METER[0, 0] / count)
    return min(booked), min(taken)


def run(system: MechanicalSystem, scheme: Scheme, steps: int) -> tuple[float, Array]:
    """Processor time, and what the meter has booked."""
    METER[:] = 0
    begin = time.process_time()
    ph.simulate(system, scheme, STEP, steps * STEP, every=steps, progress=False)
    return time.process_time() - begin, METER.copy()


def rate() -> float:
    """Ticks a second."""
    now = njit(lambda: ticks())
    now()  # compiles
    begin, first = time.perf_counter(), now()
    time.sleep(0.5)
    return float((now() - first) / (time.perf_counter() - begin))


def measured(size: int, per_second: float, booked: float, taken: float) -> dict[str, Cost]:
    """Costs a substep on a chain with ball joints within `WINDOW`, by name of the scheme."""
    system, costs = model(chain(size, "spherical", 1)).assemble(), {}
    for name, (scheme, substeps) in SCHEMES.items():
        run(system, scheme, 1)  # compiles
        ends = []
        for steps in WINDOW:
            runs = [run(system, scheme, steps) for _ in range(ROUNDS)]
            ends.append(min(runs, key=lambda found: found[0]))
        made = (WINDOW[1] - WINDOW[0]) * substeps
        seconds, (spent, calls) = (ends[1][0] - ends[0][0]) / made, ((ends[1][1] - ends[0][1]) / made).T
        algebra = (spent.sum() - booked * calls.sum()) / per_second
        total = seconds - taken * calls.sum() / per_second
        counts = dict(zip(METERED, calls.tolist(), strict=True))
        unknowns = system.condensed.pattern.unknowns
        costs[name] = Cost(total, algebra, counts["eliminate"], counts["resolve"], unknowns)
    return costs


def compiled_costs(sizes: Sequence[int]) -> list[dict[str, Cost]]:
    """Costs of all schemes on chains of these sizes, from a process of their own."""
    with tempfile.TemporaryDirectory() as folder:  # addresses in its kernels are those of the process
        command = [sys.executable, "-m", "benchmarks.compiled", *map(str, sizes)]
        environment = os.environ | {"NUMBA_CACHE_DIR": folder, CHILD: "yes"}
        answer = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(answer.stdout.splitlines()[-1])
    return [{name: Cost(*numbers) for name, numbers in costs.items()} for costs in found]


def main() -> None:
    """Print the costs as JSON."""
    with meters():
        known = rate(), *empty()
        found = [measured(int(size), *known) for size in sys.argv[1:]]
    print(json.dumps([{name: astuple(cost) for name, cost in costs.items()} for costs in found]))


if __name__ == "__main__":
    main()
