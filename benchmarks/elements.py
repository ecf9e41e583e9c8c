"""What force elements add to a step: processor time with and without them, in turn, the least of several rounds.

`python -m benchmarks.elements` prints the table that docs/performance.md quotes; it fails above LIMIT.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

import porthos as ph
from benchmarks.models import car, chain
from benchmarks.porthos_adapter import model

STEP, STEPS, ROUNDS, BARS = 1e-3, 1000, 40, 16
LIMIT = 0.3  # microseconds an element and step
Maker = Callable[[], ph.Model]


def bars(kind: str, elements: str = "") -> ph.Model:
    """A chain of bars, each with a spring, a damper or both to a point above it, or a torsion spring in its hinge."""
    result = model(chain(BARS, kind, STEPS))
    for k in range(BARS if elements else 0):
        x = 0.1 * k + 0.05
        ends = ("ground", str(k), (x, 0.0, 0.3), (x, 0.0, 0.0))
        if elements == "springs":
            result.spring(f"spring {k}", *ends, stiffness=50.0, damping=0.1)
        elif elements == "dampers":
            result.damper(f"damper {k}", *ends, damping=0.1)
        else:
            result.torsion_spring(f"spring {k}", f"joint {k}", stiffness=1.0)
    return result


CASES: dict[str, tuple[Maker, Maker]] = {
    "16 bars, ball joints, 16 spring-dampers": (lambda: bars("spherical"), lambda: bars("spherical", "springs")),
    "16 bars, ball joints, 16 dampers": (lambda: bars("spherical"), lambda: bars("spherical", "dampers")),
    "16 bars, hinges, 16 spring-dampers": (lambda: bars("revolute"), lambda: bars("revolute", "springs")),
    "16 bars, hinges, 16 torsion springs": (lambda: bars("revolute"), lambda: bars("revolute", "torsion")),
    "car, 8 springs (without: it falls)": (lambda: model(replace(car(), springs=())), lambda: model(car())),
}


def main() -> int:
    """Print the table; 1 if an element costs too much."""
    print("| mechanism | scheme | without [us] | with [us] | iterations | added by an element [us] |")
    print("| --- | --- | --- | --- | --- | --- |")
    worst = 0.0
    for name, makers in CASES.items():
        systems = [make().assemble() for make in makers]
        count = len(systems[1].element_names)
        for scheme in (ph.Midpoint(), ph.MidpointGGL()):
            best, iterations = np.full((2, 2), np.inf), 0.0
            for _ in range(ROUNDS):
                for k, system in enumerate(systems):
                    for n, steps in enumerate((1, STEPS)):
                        began = time.process_time()
                        run = ph.simulate(system, scheme, STEP, steps * STEP, every=steps, progress=False)
                        best[k, n] = min(best[k, n], time.process_time() - began)
                iterations = run.iterations.sum() / STEPS
            bare, full = (best[:, 1] - best[:, 0]) / (STEPS - 1) * 1e6
            added = (full - bare) / count
            worst = max(worst, added)
            print(
                f"| {name} | `{type(scheme).__name__}` | {bare:.1f} | {full:.1f} | {iterations:.2f} | {added:.2f} |",
                flush=True,
            )
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
