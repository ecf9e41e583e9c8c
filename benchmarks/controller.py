"""What a controller in Python costs: `python -m benchmarks.controller`.

A run whose port has a controller that answers (0, 0, 0) against the same run with a constant input, on a pendulum of
one body, on the spatial slider-crank and on a chain of 64 hinges. The controllers are `u(t, y)`, `u(t, y, state)` that
asks nothing, and one that asks for the angle of the last joint. The overhead of a step is the difference, less the
function itself. It does not depend on the scheme; with the fastest one it is seen best.
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
from porthos.system.joint_coordinates import joints_with

STEP, STEPS, REPEATS = 1e-3, 5000, 15
HINGES = 64
NOTHING = (0, 0, 0)
Controller = Callable[..., tuple[int, int, int]]


def still(t: float, y: Any) -> tuple[int, int, int]:
    """A controller that does nothing."""
    del t, y
    return NOTHING


def seeing(t: float, y: Any, state: Any) -> tuple[int, int, int]:
    """One that could see the whole mechanism, and asks nothing."""
    del t, y, state
    return NOTHING


def asking(joint: str) -> Controller:
    """One that asks for the angle of a joint."""

    def ask(t: float, y: Any, state: Any) -> tuple[int, int, int]:
        del t, y
        state.angle(joint)
        return NOTHING

    return ask


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


def chain() -> ph.Model:
    model, held = ph.Model(f"chain of {HINGES} hinges", gravity=(0, 0, -9.81)), "ground"
    for k in range(HINGES):
        bar = model.body(f"bar {k}", ph.Box(1, (1, 0.1, 0.1)), position=(k + 0.5, 0, 0))
        model.revolute(f"hinge {k}", held, bar, at=(k, 0, 0), axis=(0, 1, 0))
        held = bar.name
    model.port("hand", held, kind="force")
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


def compare(
    system: ph.MechanicalSystem, scheme: Scheme, every: int, controllers: dict[str, Controller]
) -> tuple[float, dict[str, float]]:
    """Seconds a step with a constant and with each controller; the best of several, taken in turn."""
    inputs = [Inputs(system, {"hand": given}, STEPS) for given in ((0.0, 0.0, 0.0), *controllers.values())]
    times = [
        [seconds(lambda given=given: march(system, scheme, STEP, STEPS, every, given)) for given in inputs]
        for _ in range(REPEATS + 1)
    ]
    constant, *controlled = (np.min(times[1:], axis=0) / STEPS).tolist()  # the first one compiles
    return constant, dict(zip(controllers, controlled, strict=True))


def main() -> None:
    alone = function_alone()
    print(f"the function alone: {1e6 * alone:.2f} us a call")
    head = f"{'constant':>10}{'controller':>12}{'overhead':>10}"
    print(f"{'mechanism':<24}{'controller':<18}{'recorded':<18}{head}   us a step")
    for model in (pendulum(), crank(), chain()):
        system = model.assemble()
        ask = asking(joints_with(system, "angle")[-1])
        controllers = {"u(t, y)": still, "u(t, y, state)": seeing, "asks an angle": ask}
        for every in (STEPS, 1):
            constant, controlled = compare(system, ph.Midpoint(), every, controllers)
            recorded = "every state" if every == 1 else "the last state"
            for name, taken in controlled.items():
                numbers = f"{1e6 * constant:>10.1f}{1e6 * taken:>12.1f}{1e6 * (taken - constant - alone):>10.1f}"
                print(f"{system.name:<24}{name:<18}{recorded:<18}{numbers}")


if __name__ == "__main__":
    main()
