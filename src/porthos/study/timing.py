"""Time on this machine: with T(n) the least wall time of n steps, a step takes (T(n) - T(1))/(n - 1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np

from porthos.frontdoor import simulate
from porthos.integrate.scheme import Contract
from porthos.model.modelfile import ModelFile
from porthos.results.trajectory import Trajectory
from porthos.study.measures import energy_defect

STEP = 1e-3  # s
TRIAL = 1000  # steps of a first run, which compiles and shows the energy balance
BUDGET = 0.4  # s, for the repetitions of a run
OUTWEIGHS = 10  # a run of n steps is long enough when it takes so many times as long as one of a single step


@dataclass(frozen=True)
class Timing:
    """What a step of a scheme costs on a mechanism, and what it leaves of the energy balance."""

    mechanism: str
    bodies: int
    scheme: str
    steps: int
    per_step: float  # s
    defect: float  # of the energy balance over a thousand steps, relative to the energy that moves


def wall_time(run: Callable[[], object], budget: float) -> float:
    """The least time of one call, from as many as fit into the budget, one at least."""
    best, end = np.inf, perf_counter() + budget
    while True:
        start = perf_counter()
        run()
        now = perf_counter()
        best = min(best, now - start)
        if now + (now - start) > end:
            return best


def step_time(march: Callable[[int], object], budget: float) -> tuple[float, int]:
    """Seconds a step, and of how many steps: so many that what a run costs besides its steps hardly counts."""
    one, steps = wall_time(partial(march, 1), 0.1 * budget), TRIAL
    while (many := wall_time(partial(march, steps), budget)) < OUTWEIGHS * one:
        steps *= 4
    return (many - one) / (steps - 1), steps


def time_file(path: Path, scheme: Contract, budget: float = BUDGET) -> Timing:
    """Time a scheme on the mechanism of a file, with its inputs and steps of a millisecond."""
    file = ModelFile.read(path)
    plan, system = file.plan(), file.model.assemble()

    def march(steps: int, every: int) -> Trajectory:
        return simulate(system, scheme, STEP, steps * STEP, inputs=plan.inputs, every=every, progress=False)

    defect = energy_defect(march(TRIAL, 1))
    per_step, steps = step_time(lambda steps: march(steps, steps), budget)
    return Timing(system.name, len(system.body_names), type(scheme).__name__, steps, per_step, defect)
