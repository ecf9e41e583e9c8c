"""The double pendulum on which orders are measured, with and without viscosity, and its exact motion."""

from __future__ import annotations

from functools import cache

import numpy as np

import porthos as ph
from porthos.integrate.newton import factorised
from porthos.integrate.recording import States
from porthos.integrate.signals import Signals
from porthos.integrate.state_march import march_states
from porthos.integrate.state_scheme import StateScheme
from porthos.integrate.walk import Walk
from porthos.notation import Array
from porthos.system.descriptor import Descriptor
from porthos.system.motion import motion_of

END, GRID = 0.4, 128  # of the exact motion: GRID steps


def double_pendulum(kappa: float = 0.0) -> ph.MechanicalSystem:
    """Two point masses on rods; `kappa` is the constant of two dampers, so that forces depend on velocities."""
    model = ph.Model("double pendulum", gravity=(0, 0, -9.81))
    model.point_mass("a", 1.0, position=(1, 0, 0), velocity=(0, 0, 2))
    model.point_mass("b", 1.0, position=(1.8, 0, 0.6), velocity=(-0.6, 0, 2.8))
    model.distance("A", model.ground, "a", point_a=(0, 0, 0), point_b=(1, 0, 0))
    model.distance("B", "a", "b", point_a=(1, 0, 0), point_b=(1.8, 0, 0.6))
    if kappa > 0.0:
        model.damper("C", model.ground, "a", point_a=(1, 0, -3), point_b=(1, 0, 0), damping=kappa)
        model.damper("D", model.ground, "b", point_a=(5, 0, 1), point_b=(1.8, 0, 0.6), damping=kappa)
    return model.assemble()


def marched(system: Descriptor, scheme: StateScheme, steps: int, end: float = END) -> States:
    """States of a run to the end with their own multipliers, which trajectories recompute."""
    walk = Walk(system, scheme, Signals(system, None, steps), system.initial_state())
    return march_states(walk, end / steps, steps)


def recomputed(system: ph.MechanicalSystem, x: Array) -> Array:
    """Multipliers (T, 2) that belong to the accelerations at states (T, ...)."""
    motion, found = motion_of(system), []
    for q, v in zip(x[:, :6], x[:, 6:12], strict=True):
        known = np.append(motion.force(0.0, q, v, np.zeros(system.width)), -motion.bend(0.0, q, v))
        found.append(factorised(motion.kkt(0.0, q, v))(known)[6:])
    return np.array(found)


@cache
def reference(kappa: float = 0.0, steps: int = GRID) -> Array:
    """(q, v, lambda) at steps + 1 times, by Radau IIA of order 9; its error is round-off."""
    system = double_pendulum(kappa)
    x = marched(system, ph.RadauIIA(5), steps).x
    return np.column_stack([x[:, :12], recomputed(system, x)])


def errors(x: Array, exact: Array) -> tuple[float, float, float, float]:
    """Largest errors of q, v, lambda on the grid, and the largest |mu|, which should be zero."""
    gap = np.abs(x[:, :14] - exact[:: (len(exact) - 1) // (len(x) - 1)])
    return gap[:, :6].max(), gap[:, 6:12].max(), gap[:, 12:].max(), np.abs(x[:, 14:]).max(initial=0.0)
