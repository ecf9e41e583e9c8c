"""A small mechanism for tests of results: a bar on a hinge, pushed at its end, and a bob on a string below it."""

from __future__ import annotations

from typing import Any

import porthos as ph


def swing(
    name: str = "swing", bar: str = "bar", loads: bool = True, scheme: Any = None, **options: Any
) -> ph.Trajectory:
    """It falls for half a second in steps of 0.01 s."""
    model = ph.Model(name, gravity=(0, 0, -9.81))
    model.body(bar, ph.Box(1, (1, 0.1, 0.1)), position=(0.5, 0, 0))
    model.point_mass("bob", 0.5, position=(1, 0, -1))
    model.revolute("hinge", model.ground, bar, at=(0, 0, 0), axis=(0, 1, 0))
    model.distance("string", bar, "bob", point_a=(1, 0, 0), point_b=(1, 0, -1))
    if loads:
        model.load("push", bar, force=lambda t: (0, 0, 2 * t), at=(1, 0, 0))
    return ph.simulate(model, scheme or ph.MidpointGGL(), **{"step": 0.01, "end": 0.5, **options})
