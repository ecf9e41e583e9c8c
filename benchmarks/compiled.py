"""What a compiled step costs beside its linear algebra: its factorisations and solves, each timed alone on its pattern.

No meter can be put into compiled code, so the calls of a step are counted in the same code as plain Python, in a
process of its own (`python -m benchmarks.compiled SIZE` with NUMBA_DISABLE_JIT=1), and multiplied by what `phases`
measures. `benchmarks.families` prints the rows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np

import porthos as ph
from benchmarks.models import chain
from benchmarks.phases import phases
from benchmarks.porthos_adapter import model
from porthos.integrate.scheme import Scheme
from porthos.kernels import reduced_ggl, reduced_midpoint, solution
from porthos.system.mechanical import MechanicalSystem

STEP, ROUNDS = 1e-3, 25
COUNTED, TIMED = (40, 60), (100, 400)  # steps behind which a window begins and ends: as plain Python, and compiled
SCHEMES: dict[str, tuple[Scheme, int]] = {  # and its substeps
    "Midpoint()": (ph.Midpoint(), 1),
    "MidpointGGL()": (ph.MidpointGGL(), 1),
    "Composition(Midpoint(), 4), a substep": (ph.Composition(ph.Midpoint(), 4), 5),
    "Composition(MidpointGGL(), 4), a substep": (ph.Composition(ph.MidpointGGL(), 4), 5),
    "Livens(), as on mechanisms": (ph.Livens(), 1),
}


@dataclass(frozen=True)
class Cost:
    """Of one step: seconds in all and in linear algebra, factorisations, solves, unknowns of the largest matrix."""

    total: float
    algebra: float
    factorisations: float
    solves: float
    unknowns: int


def run(system: MechanicalSystem, scheme: Scheme, steps: int) -> tuple[float, int]:
    """Processor time, and Newton's iterations of all steps."""
    begin = time.process_time()
    result = ph.simulate(system, scheme, STEP, steps * STEP, every=steps, progress=False)
    return time.process_time() - begin, int(np.sum(result.iterations))


def calls(system: MechanicalSystem, scheme: Scheme) -> tuple[float, float, float]:
    """Factorisations, solves and iterations a step within `COUNTED`; needs kernels that are not compiled."""
    counts = {"eliminate": 0, "resolve": 0}

    def counting(name: str) -> Callable[..., Any]:
        original = getattr(solution, name)

        def counted(*arguments: Any) -> Any:
            counts[name] += 1
            return original(*arguments)

        return counted

    found = []
    with ExitStack() as stack:
        for name, users in {"eliminate": (reduced_midpoint, reduced_ggl), "resolve": (solution, reduced_ggl)}.items():
            replacement = counting(name)
            for module in users:
                stack.enter_context(patch.object(module, name, replacement))
        for steps in COUNTED:
            counts.update(dict.fromkeys(counts, 0))
            iterations = run(system, scheme, steps)[1]
            found.append((counts["eliminate"] / system.condensed.portion.leg.size, counts["resolve"], iterations))
    made = (np.subtract(*found[::-1]) / (COUNTED[1] - COUNTED[0])).tolist()
    return made[0], made[1], made[2]


def counted(size: int) -> dict[str, tuple[float, float, float]]:
    """`calls` of all schemes on a chain, from a process without compilation."""
    command = [sys.executable, "-m", "benchmarks.compiled", str(size)]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return dict(json.loads(answer.stdout.splitlines()[-1]))


def compiled_costs(size: int) -> dict[str, Cost]:
    """Costs a substep on a chain with ball joints, by name of the scheme, within `TIMED`."""
    system, numbers, costs = model(chain(size, "spherical", 1)).assemble(), counted(size), {}
    alone = {name: 1e-6 * spent for name, _, spent, _ in phases(system)}
    for name, (scheme, substeps) in SCHEMES.items():
        run(system, scheme, 1)  # compiles
        windows = [min(run(system, scheme, steps) for _ in range(ROUNDS)) for steps in TIMED]
        seconds, iterations = np.subtract(*windows[::-1]) / ((TIMED[1] - TIMED[0]) * substeps)
        factorisations, solves, needed = (number / substeps for number in numbers[name])
        solves *= iterations / needed  # those of an iteration stay the same
        made = alone["compliance"] + alone["factorisation"]  # the first eliminates translations
        algebra = factorisations * made + solves * alone["solve"]
        costs[name] = Cost(float(seconds), float(algebra), factorisations, solves, system.condensed.pattern.unknowns)
    return costs


def main() -> None:
    """Print the calls of a step as JSON."""
    system = model(chain(int(sys.argv[1]), "spherical", 1)).assemble()
    print(json.dumps({name: calls(system, scheme) for name, (scheme, _) in SCHEMES.items()}))


if __name__ == "__main__":
    main()
