"""A row of thirty four-bars with hinges everywhere: 90 rows too many, and twice in each turn a singular position.

31 rods stand upright on the ground, 30 couplers like them join their upper ends, which start with 1 m/s.
"""

from __future__ import annotations

import numpy as np

import porthos as ph
from porthos.integrate.scheme import Contract

SCHEME = ph.Composition(ph.MidpointGGL(), order=6)
COUNT, LENGTH, WIDTH, SPEED = 30, 1.0, 0.1, 1.0
AXIS = (0.0, 1.0, 0.0)


def model(count: int = COUNT) -> ph.Model:
    """The first rod, then a coupler and a rod for each four-bar."""
    row = ph.Model(f"row of {count} four-bars", gravity=(0, 0, -9.81))
    rod, coupler = ph.Box(1.0, (WIDTH, WIDTH, LENGTH)), ph.Box(1.0, (LENGTH, WIDTH, WIDTH))
    for k in range(count + 1):
        foot, tip = np.array([k * LENGTH, 0.0, 0.0]), np.array([k * LENGTH, 0.0, LENGTH])
        turn = (0.0, SPEED / LENGTH, 0.0)
        row.body(f"rod {k}", rod, position=(foot + tip) / 2, velocity=(SPEED / 2, 0, 0), angular_velocity=turn)
        row.revolute(f"foot {k}", row.ground, f"rod {k}", at=foot, axis=AXIS)
        if k:
            before = tip - (LENGTH, 0, 0)
            row.body(f"coupler {k}", coupler, position=(before + tip) / 2, velocity=(SPEED, 0, 0))
            row.revolute(f"left {k}", f"rod {k - 1}", f"coupler {k}", at=before, axis=AXIS)
            row.revolute(f"right {k}", f"coupler {k}", f"rod {k}", at=tip, axis=AXIS)
    return row


def run(scheme: Contract = SCHEME, step: float = 0.02, end: float = 2.0, count: int = COUNT) -> ph.Trajectory:
    """A full turn."""
    return ph.simulate(model(count), scheme, step=step, end=end)
