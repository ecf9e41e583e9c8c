"""What a step of a scheme over states costs beside its linear algebra: factorisations and solves timed within a run.

Run by `python -m benchmarks.families`; prints the tables that docs/performance.md quotes, and fails if a step of some
scheme takes more than three times its linear algebra. With the word `compiled` it prints only the rows of `Midpoint`,
`MidpointGGL`, their compositions and `Livens`, which are compiled on mechanisms, and so is their meter
(`benchmarks.compiled`).

Not in it are `IDA` and `SciPy`, whose steps are inside a library, and `Livens` on Lagrangians, whose work is to
evaluate the functions of L (`benchmarks.lagrangian`). A composition of a scheme over states is steps of that scheme.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from unittest.mock import patch

import porthos as ph
from benchmarks.compiled import Cost, compiled_costs
from benchmarks.models import chain
from benchmarks.porthos_adapter import model
from porthos.integrate import generalized_alpha, half_explicit, index_one, newton, partitioned
from porthos.integrate.newton import Solver
from porthos.integrate.state_scheme import StateScheme
from porthos.notation import Array
from porthos.system.descriptor import Matrix
from porthos.system.mechanical import MechanicalSystem

SIZES = (4, 16, 64)  # bars of a chain with ball joints
STEP, STEPS, ROUNDS = 1e-3, 10, 5
ALLOWED = 3.0  # times the linear algebra
SCHEMES: tuple[StateScheme, ...] = (
    ph.Gauss(2), ph.RadauIIA(3), ph.LobattoIIIC(3), ph.DiscreteGradient(), ph.LobattoPair(3), ph.Murua(2),
    ph.Murua(2, ggl=True), ph.GeneralizedAlpha(), ph.HHT(), ph.BDF(2), ph.HEDOP5(), ph.MDOP5(),
    ph.DOP853(),
)  # fmt: skip


@dataclass
class Meter:
    """Seconds in linear algebra, the number of solves, and the unknowns of each factorisation."""

    seconds: float = 0.0
    solves: int = 0
    unknowns: list[int] = field(default_factory=list)

    def factorised(self, matrix: Matrix) -> Solver:
        """`newton.factorised`, timed; so is what it gives."""
        begin = time.process_time()
        solver = ORIGINAL(matrix)
        self.seconds += time.process_time() - begin
        self.unknowns.append(matrix.shape[0])

        def timed(b: Array) -> Array:
            begin = time.process_time()
            x = solver(b)
            self.seconds += time.process_time() - begin
            self.solves += 1
            return x

        return timed


ORIGINAL = newton.factorised
USERS = (newton, half_explicit, index_one, partitioned, generalized_alpha)


@contextmanager
def metered() -> Iterator[Meter]:
    """Linear algebra of all schemes over states goes through a meter."""
    meter = Meter()
    with ExitStack() as stack:
        for module in USERS:
            stack.enter_context(patch.object(module, "factorised", meter.factorised))
        yield meter


def seconds(system: MechanicalSystem, scheme: StateScheme, steps: int) -> float:
    """Processor time of a run, which other work on the machine does not lengthen much."""
    begin = time.process_time()
    ph.simulate(system, scheme, STEP, steps * STEP, every=steps, progress=False)
    return time.process_time() - begin


def metered_run(system: MechanicalSystem, scheme: StateScheme, steps: int) -> tuple[float, Meter]:
    """The cheapest of several runs through a meter."""
    runs = []
    for _ in range(ROUNDS):
        with metered() as meter:
            runs.append((seconds(system, scheme, steps), meter))
    return min(runs, key=lambda run: run[0])


def measured(system: MechanicalSystem, scheme: StateScheme) -> Cost:
    """A run of 3 n steps less one of n."""
    seconds(system, scheme, 1)  # compiles
    (short, first), (long, second) = (metered_run(system, scheme, steps) for steps in (STEPS, 3 * STEPS))
    later = second.unknowns[len(first.unknowns) :]  # without first steps, which BDF makes by another method
    return Cost(
        (long - short) / (2 * STEPS),
        (second.seconds - first.seconds) / (2 * STEPS),
        len(later) / (2 * STEPS),
        (second.solves - first.solves) / (2 * STEPS),
        max(later),
    )


def name_of(scheme: StateScheme) -> str:
    """With its stages or steps."""
    stages = getattr(scheme, "stages", getattr(scheme, "steps", ""))
    return f"{type(scheme).__name__}({stages}{', ggl=True' if getattr(scheme, 'ggl', False) else ''})"


def line(name: str, cost: Cost) -> bool:
    """Print the row of a scheme; returns whether it takes too long."""
    us, ratio = 1e6, cost.total / cost.algebra
    each = f"{us * cost.total:.3g} | {us * cost.total / cost.unknowns:.2g}"
    counts = f"{cost.factorisations:.2g}, {cost.solves:.3g}"
    print(f"| {name} | {cost.unknowns} | {each} | {counts} | {us * cost.algebra:.3g} | {ratio:.1f} |", flush=True)
    return ratio > ALLOWED


def main() -> None:
    """Print a table for each size."""
    missed, all_of_them = [], sys.argv[1:] != ["compiled"]
    for size, compiled in zip(SIZES, compiled_costs(SIZES), strict=True):
        system = model(chain(size, "spherical", 1)).assemble()
        print(f"\n| chain-{size}, ball joints | unknowns | us a step | us a step and unknown |", end="")
        print(" matrices, solves a step | us of linear algebra | step/algebra |\n|" + " --- |" * 7)
        for scheme in SCHEMES if all_of_them else ():
            if line(name_of(scheme), measured(system, scheme)):
                missed.append(f"{name_of(scheme)} on {size} bars")
        missed += [f"{name} on {size} bars" for name, cost in compiled.items() if line(name, cost)]
    if missed:
        sys.exit(f"More than {ALLOWED:g} times the linear algebra: {', '.join(missed)}.")


if __name__ == "__main__":
    main()
