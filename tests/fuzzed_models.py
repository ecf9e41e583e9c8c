"""Mechanisms and systems with a part of each kind, for calls that are then corrupted."""

import numpy as np

import porthos as ph

STEEL = {"young": 2e11, "poisson": 0.3, "density": 7850.0}
BLADE = ph.RectangularSection(width=0.02, height=0.01, **STEEL)
OSCILLATOR = {"J": [[0, 1], [-1, 0]], "Q": np.eye(2), "R": np.diag([0.0, 0.1]), "E": np.eye(2), "B": [[0], [1]]}
SPOOL = ph.LinearPHDAE("spool", **OSCILLATOR, ports=["shaft"], initial=[1, 0])
ROLL = ph.LinearPHDAE("roll", **OSCILLATOR, ports=["end"], initial=[0, 1])


def model():
    """Two boxes and a bead, with a hinge, a load and two ports."""
    result = ph.Model("fuzzed", gravity=(0, 0, -9.81))
    box = result.body("box", ph.Box(1.0, (0.1, 0.2, 0.3)), position=(1, 0, 0))
    result.body("arm", ph.Cylinder(2.0, 0.1, 0.5), position=(2, 0, 0))
    result.point_mass("bead", 0.5, position=(0, 0, 2))
    result.revolute("hinge", result.ground, box, at=(0, 0, 0), axis=(0, 1, 0))
    result.load("push", box, force=(0, 0, 1))
    result.port("motor", box, kind="torque", direction=(0, 1, 0))
    result.port("hand", "arm", kind="force")
    return result


def workshop():
    """A wheel that drives another, a sledge that is driven, a blade that bends, and force elements of all kinds."""
    result = ph.Model("fuzzed", gravity=(0, 0, -9.81))
    result.body("wheel", ph.Cylinder(1.0, 0.1, 0.05, axis="y"), angular_velocity=(0, 1, 0))
    result.body("pinion", ph.Cylinder(0.5, 0.05, 0.05, axis="y"), position=(0.3, 0, 0))
    result.body("sledge", ph.Box(1.0, (0.1, 0.2, 0.3)), position=(0, 0, 1))
    result.point_mass("bead", 0.5, position=(0.3, 0, 2))
    result.revolute("A", "ground", "wheel", at=(0, 0, 0), axis=(0, 1, 0))
    result.revolute("B", "ground", "pinion", at=(0.3, 0, 0), axis=(0, 1, 0))
    result.prismatic("rail", "ground", "sledge", at=(0, 0, 1), axis=(1, 0, 0))
    result.gear("mesh", "wheel", "pinion", teeth=(40, 20))
    result.slide_drive("feed", "ground", "sledge", at=(0, 0, 1), axis=(1, 0, 0), displacement=ph.Sine(0.1, 2.0))
    result.beam("blade", BLADE, (1, 0, 0), (1.5, 0, 0), a="ground", elements=1, damping=1e-3)
    result.spring("coil", "sledge", "bead", (0, 0, 1), (0.3, 0, 2), stiffness=(100, 5), damping=1.0)
    result.torsion_spring("clock", "A", stiffness=3.0)
    result.friction("rub", "B", 0.2, radius=0.01)
    result.bushing("rubber", "pinion", "bead", (0.3, 0, 2), stiffness=(9, 9, 9))
    result.field("bowl", "bead", (0.3, 0, 2), "3*x**2", within=1.0)
    result.port("motor", "wheel", kind="torque", direction=(0, 1, 0))
    return result


def hanging():
    """A pendulum at rest."""
    result = ph.Model("hanging", gravity=(0, 0, -9.81))
    result.body("bob", ph.Sphere(1.0, 0.1), position=(0, 0, -1))
    result.revolute("hinge", "ground", "bob", at=(0, 0, 0), axis=(0, 1, 0))
    return result
