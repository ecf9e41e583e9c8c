"""Lagrangians that several tests use, written as in textbooks."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

import porthos as ph

a, b, da, db = sp.symbols("theta1 theta2 omega1 omega2", real=True)
m1, m2, l1, l2, gravity = sp.symbols("m1 m2 l1 l2 g", positive=True)
DOUBLE = (
    (m1 + m2) * l1**2 * da**2 / 2
    + m2 * l2**2 * db**2 / 2
    + m2 * l1 * l2 * da * db * sp.cos(a - b)
    + (m1 + m2) * gravity * l1 * sp.cos(a)
    + m2 * gravity * l2 * sp.cos(b)
)
NUMBERS = {m1: 1.0, m2: 1.5, l1: 1.0, l2: 2.0, gravity: 9.81}


def double_pendulum(**more: Any) -> ph.Lagrangian:
    """Two point masses on massless rods in absolute angles: M depends on their difference."""
    options: dict[str, Any] = {"inputs": {"motor": [1, 0]}, "initial": ([1.0, 2.0], [0.1, 0.2])} | more
    return ph.Lagrangian(DOUBLE, [a, b], [da, db], parameters=NUMBERS, name="double pendulum", **options)


def crank(**more: Any) -> ph.Lagrangian:
    """The double pendulum with its tip on the vertical axis: a slider-crank with M(q) and a constraint."""
    start = ([np.pi / 6, np.arcsin(-0.25)], [0.0, 0.0])
    guide = l1 * sp.sin(a) + l2 * sp.sin(b)
    return double_pendulum(constraints=[guide], dissipation=da**2 / 10 + (da - db) ** 2 / 20, initial=start, **more)


def bead_on_turning_wire(rate: float = 2.0, radius: float = 0.3) -> ph.Lagrangian:
    """A bead of mass 2 on a straight wire that turns with constant rate: r = r0 cosh(rate t), torque 2 m r r' rate."""
    t, x, y, u, v = sp.symbols("t x y u v", real=True)
    wire = y * sp.cos(rate * t) - x * sp.sin(rate * t)
    start = ([radius, 0.0], [0.0, rate * radius])
    return ph.Lagrangian(u**2 + v**2, [x, y], [u, v], constraints=wire, initial=start, name="bead", time=t)
