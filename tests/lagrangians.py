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


def singular_masses(stiffness: float = 0.25) -> ph.Lagrangian:
    """003, 6.1: two masses on nonlinear springs in redundant coordinates with a singular mass matrix."""
    x1, q2, x2, v1, v2, v3 = sp.symbols("x1 q2 x2 v1 v2 v3", real=True)
    T = v1**2 + (v2 + v3) ** 2 / 2
    V = stiffness * ((x1**2 + x1**4) + 3 * (x2**2 + x2**4))
    g = ((q2 - x1) ** 2 - sp.Rational(11, 10) ** 2) / 2
    start = ([0.0, 1.1, 0.0], [1.0, 1.0, -1.0])
    return ph.Lagrangian(T - V, [x1, q2, x2], [v1, v2, v3], constraints=[g], initial=start, name="singular masses")


def spring_pendulum() -> ph.Lagrangian:
    """003, 6.2: a mass on a nonlinear spring in spherical coordinates; the angle phi is cyclic."""
    r, theta, phi, vr, vt, vp = sp.symbols("r theta phi v_r v_theta v_phi", real=True)
    T = (vr**2 + r**2 * vt**2 + r**2 * sp.sin(theta) ** 2 * vp**2) / 2
    V = 150 * ((r**2 - 1) / 2) ** 2
    start = ([1.05, np.pi / 2, 0.0], [0.0, 1.0, 1.0])
    return ph.Lagrangian(T - V, [r, theta, phi], [vr, vt, vp], initial=start, name="spring pendulum")


def cartesian(q: np.ndarray) -> np.ndarray:
    """The place of the spring pendulum."""
    r, theta, phi = q
    return r * np.array([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)])
