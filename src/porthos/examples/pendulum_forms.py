"""A pendulum as a descriptor system of index 3, 2 or 1, and in the form of Gear, Gupta and Leimkuhler (GGL)."""

from __future__ import annotations

import porthos as ph
from porthos.integrate.runge_kutta import RungeKutta
from porthos.system.descriptor import Descriptor

RADAU = ph.RadauIIA(3)


def model(form: str = "GGL") -> Descriptor:
    """A point mass on a rod, horizontal and at rest; `form` is "index 3", "index 2", "GGL" or "index 1"."""
    pendulum = ph.Model("pendulum", gravity=(0, 0, -9.81))
    pendulum.point_mass("bob", 1.0, position=(-1, 0, 0))
    pendulum.distance("rod", "ground", "bob", point_a=(0, 0, 0), point_b=(-1, 0, 0))
    return pendulum.assemble().formulation(form)


def run(
    form: str = "GGL", scheme: RungeKutta = RADAU, step: float = 0.05, end: float = 2.0
) -> ph.Trajectory | ph.StateTrajectory:
    """A free swing."""
    return ph.simulate(model(form), scheme, step=step, end=end)
