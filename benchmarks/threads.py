"""What a second thread gains on large mechanisms: wall times with one and with two, in turn, in several rounds.

`python -m benchmarks.threads` prints the table that docs/performance.md quotes. It needs two idle cores: a thread that
waits for the other one does not give its core away.
"""

from __future__ import annotations

from statistics import median

import numpy as np

import porthos as ph
from benchmarks.models import Mechanism, binary_tree, chain, ladder, net
from benchmarks.porthos_adapter import model
from porthos.study.timing import wall_time

STEP, ROUNDS, BODY_STEPS = 1e-3, 9, 100_000
CASES: tuple[Mechanism, ...] = (
    *(chain(count, kind, 1) for kind in ("spherical", "revolute") for count in (128, 256, 1024, 4096)),
    binary_tree(),
    ladder(256, 1),
    net(),
)


def spent(system: ph.MechanicalSystem, scheme: ph.Scheme, steps: int) -> float:
    """Seconds of a run."""
    return wall_time(lambda: ph.simulate(system, scheme, STEP, steps * STEP, every=steps, progress=False), 0.0)


def main() -> None:
    """Print the table."""
    print("| mechanism | scheme | one thread [us] | two threads [us] | gain | median gain of all rounds |")
    print("| --- | --- | --- | --- | --- | --- |")
    for mechanism in CASES:
        system = model(mechanism).assemble()
        steps = max(20, BODY_STEPS // len(system.body_names))
        for kind in (ph.Midpoint, ph.MidpointGGL):
            schemes = [kind(threads=threads) for threads in (1, 2)]
            times = np.array([[[spent(system, s, n) for s in schemes] for n in (1, steps)] for _ in range(ROUNDS)])
            first = times[:, 0].min(axis=0)
            one, two = (times[:, 1].min(axis=0) - first) / (steps - 1) * 1e6
            rounds = times[:, 1] - first
            middle = median(rounds[:, 0] / rounds[:, 1])
            print(
                f"| {mechanism.name} | {kind.__name__} | {one:.0f} | {two:.0f} | {one / two:.2f} | {middle:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
