"""Mechanisms of any number of bodies for tests, and how closely two runs of them agree."""

from __future__ import annotations

import numpy as np

import porthos as ph


def chain(count: int, joint: str = "spherical") -> ph.Model:
    """Bars in a row, the first one held."""
    model = ph.Model("chain", gravity=(0, 0, -9.81))
    before = model.ground
    for k in range(count):
        bar = model.body(f"bar{k}", ph.Box(0.1, (0.1, 0.01, 0.01)), (0.1 * k + 0.05, 0, 0))
        axis = {} if joint == "spherical" else {"axis": (0, 1, 0.2)}
        getattr(model, joint)(f"joint{k}", before, bar, at=(0.1 * k, 0, 0), **axis)
        before = bar
    return model


def comb(teeth: int) -> ph.Model:
    """Pendulums of two bars at one long row of hinges, some of them on springs; a load, a motor and a drive."""
    model = chain(teeth, "revolute")
    for k in range(teeth):
        for i, name in enumerate((f"upper{k}", f"lower{k}")):
            model.body(name, ph.Box(0.05, (0.01, 0.01, 0.1)), (0.1 * k + 0.05, 0, -0.05 - 0.1 * i))
            over = f"bar{k}" if i == 0 else f"upper{k}"
            model.spherical(f"hang {name}", over, name, at=(0.1 * k + 0.05, 0, -0.1 * i))
        if k % 3 == 0 and k > 0:
            a, b = f"lower{k - 1}", f"lower{k}"
            model.spring(f"spring{k}", a, b, (0.1 * k - 0.05, 0, -0.2), (0.1 * k + 0.05, 0, -0.2), stiffness=5.0)
    model.load("pull", f"lower{teeth - 1}", force=(0.0, 0.2, 0.0))
    model.joint_port("motor", f"joint{teeth // 2}")
    model.turn_drive("drive", "ground", "bar0", at=(0, 0, 0), axis=(0, 1, 0.2), angle=ph.Sine(0.1, 2.0))
    return model


def net(size: int) -> ph.Model:
    """Point masses on a grid with rods between them: bodies with up to four joints, many loops."""
    model = ph.Model("net", gravity=(0, 0, -9.81))
    for i in range(size):
        for k in range(size):
            model.body(f"ball{i},{k}", ph.Sphere(0.1, 0.01), (0.1 * i, 0.1 * k, 0))
            for a, b in ((i - 1, k), (i, k - 1)):
                if min(a, b) >= 0:
                    ends = (0.1 * a, 0.1 * b, 0), (0.1 * i, 0.1 * k, 0)
                    model.distance(f"rod{a},{b}-{i},{k}", f"ball{a},{b}", f"ball{i},{k}", *ends)
    model.spherical("held", model.ground, "ball0,0", at=(0, 0, 0))
    return model


def pendulums(count: int, alike: bool = False) -> ph.Model:
    """Bars side by side at the ground, with nothing in common; a drive turns one of them, or all swing alike."""
    model = ph.Model("pendulums", gravity=(2.9, 0, -9.4) if alike else (0, 0, -9.81))
    rate = 5.0 if alike else None
    for k in range(count):
        model.body(f"bar{k}", ph.Box(0.1, (0.01, 0.01, 0.1)), (0.05, 0.1 * k, -0.05))
        model.revolute(f"hinge{k}", model.ground, f"bar{k}", at=(0, 0.1 * k, 0), axis=(0, 1, 0), rate=rate)
    if not alike:
        model.turn_drive("drive", "ground", "bar3", at=(0, 0.3, 0), axis=(0, 1, 0), angle=ph.Sine(0.2, 3.0))
    return model


def ladder(count: int) -> ph.Model:
    """Four-bars side by side: cranks on hinges, couplers between their ends; the first crank is kicked."""
    model = ph.Model("ladder", gravity=(0, 0, -9.81))
    for k in range(count + 1):
        spin = (0, 5.0, 0) if k == 0 else (0, 0, 0)
        model.body(f"crank{k}", ph.Box(0.1, (0.01, 0.01, 0.1)), (0.1 * k, 0, -0.05), angular_velocity=spin)
        model.revolute(f"hinge{k}", model.ground, f"crank{k}", at=(0.1 * k, 0, 0), axis=(0, 1, 0))
    for k in range(count):
        model.body(f"coupler{k}", ph.Box(0.1, (0.1, 0.01, 0.01)), (0.1 * k + 0.05, 0, -0.1))
        model.spherical(f"left{k}", f"crank{k}", f"coupler{k}", at=(0.1 * k, 0, -0.1))
        model.spherical(f"right{k}", f"coupler{k}", f"crank{k + 1}", at=(0.1 * k + 0.1, 0, -0.1))
    return model


def close(a: ph.Trajectory, b: ph.Trajectory) -> None:
    """Two runs agree up to round-off."""
    assert a.status is b.status is ph.Status.OK, (a.message, b.message)
    length, speed = max(1.0, a.system.length), max(1.0, np.abs(a.v).max())
    np.testing.assert_allclose(a.q, b.q, rtol=0.0, atol=1e-12 * length)
    np.testing.assert_allclose(a.v, b.v, rtol=0.0, atol=1e-10 * speed)
    np.testing.assert_allclose(a.energy, b.energy, rtol=0.0, atol=1e-11 * max(1.0, np.abs(a.energy).max()))
