"""What a controller in Python costs: `python -m benchmarks.controller`.

A run whose port has the controller `lambda t, y: (0, 0, 0)` against the same run with a constant input, on a pendulum
of one body and on the spatial slider-crank. The overhead of a step is the difference, less the function itself. It does
not depend on the scheme; with the fastest one it is seen best.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import porthos as ph
from gallery import slider_crank
from porthos.integrate.inputs import Inputs
from porthos.integrate.march import march
from porthos.integrate.scheme import Scheme

STEP, STEPS, REPEATS = 1e-3, 5000, 15


def still(t: float, y: Any) -> tuple[int, int, int]:
    """A controller that does nothing."""
    del t, y
    return (0, 0, 0)


def pendulum() -> ph.Model:
    model = ph.Model("pendulum", gravity=(0, 0, -9.81))
    model.body("arm", ph.Box(1, (1, 0.1, 0.1)), position=(0.5, 0, 0))
    model.revolute("hinge", model.ground, "arm", at=(0, 0, 0), axis=(0, 1, 0))
    model.port("hand", "arm", kind="force")
    return model


def crank() -> ph.Model:
    model = slider_crank.model()
    model.port("hand", model.assemble().body_names[-1], kind="force")
    return model


def seconds(run: Callable[[], object]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def function_alone() -> float:
    y = np.zeros(3)

    def calls() -> None:
        for _ in range(STEPS):
            still(0.1, y)

    return min(seconds(calls) for _ in range(REPEATS)) / STEPS


def compare(system: ph.MechanicalSystem, scheme: Scheme, every: int) -> tuple[float, float]:
    """Seconds a step with a constant and with a controller; the best of several, taken in turn."""
    inputs = [Inputs(system, {"hand": given}, STEPS) for given in ((0.0, 0.0, 0.0), still)]
    times = [
        [seconds(lambda given=given: march(system, scheme, STEP, STEPS, every, given)) for given in inputs]
        for _ in range(REPEATS + 1)
    ]
    constant, controlled = np.min(times[1:], axis=0) / STEPS  # the first one compiles
    return float(constant), float(controlled)


def main() -> None:
    alone = function_alone()
    print(f"the function alone: {1e6 * alone:.2f} us a call")
    print(f"{'mechanism':<24}{'recorded':<18}{'constant':>10}{'controller':>12}{'overhead':>10}   us a step")
    for model in (pendulum(), crank()):
        system = model.assemble()
        for every in (STEPS, 1):
            constant, controlled = compare(system, ph.Midpoint(), every)
            overhead = controlled - constant - alone
            name = "every state" if every == 1 else "the last state"
            print(f"{system.name:<24}{name:<18}{1e6 * constant:>10.1f}{1e6 * controlled:>12.1f}{1e6 * overhead:>10.1f}")


if __name__ == "__main__":
    main()
