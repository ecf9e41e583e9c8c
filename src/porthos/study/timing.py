"""Time on this machine: with T(n) the least wall time of n steps, a step takes (T(n) - T(1))/(n - 1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from porthos.frontdoor import simulate
from porthos.integrate.scheme import Contract
from porthos.model.modelfile import ModelFile
from porthos.study.schemes import energy_defect

WARM_UP = 10  # steps of a first run, which compiles
STEPS = 2000
BUDGET = 0.2  # s, for the repetitions of a run


@dataclass(frozen=True)
class Timing:
    """What a step of a scheme costs on a mechanism, and what it leaves of the energy balance."""

    mechanism: str
    bodies: int
    scheme: str
    per_step: float  # s
    defect: float  # of the energy balance over the run, relative to the energy that moves


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


def time_file(path: Path, scheme: Contract, steps: int = STEPS, budget: float = BUDGET) -> Timing:
    """Time a scheme on the mechanism of a file, with the step and the inputs that the file says."""
    file = ModelFile.read(path)
    plan, system = file.plan(), file.model.assemble()
    options: Mapping[str, Any] = {"inputs": plan.inputs, "progress": False}

    def march(count: int, every: int) -> Any:
        return simulate(system, scheme, plan.step, count * plan.step, every=every, **options)

    march(WARM_UP, WARM_UP)
    one = wall_time(lambda: march(1, 1), 0.1 * budget)
    many = wall_time(lambda: march(steps, steps), budget)
    defect = energy_defect(march(steps, 1))
    return Timing(system.name, len(system.body_names), type(scheme).__name__, (many - one) / (steps - 1), defect)
