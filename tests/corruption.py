"""Public calls that are right, and values that make them wrong: from these come calls that nobody foresaw."""

import math
import shutil
from contextlib import suppress
from functools import cache
from unittest import mock

import numpy as np

import porthos as ph
from porthos.integrate import march
from porthos.results.writing import Writer


class Odd:
    """An object of a class that Porthos does not know."""


def raises(*arguments):
    raise ZeroDivisionError("a function of the user's")


SPOILT = [
    None, True, False, 0, 0.0, -0.0, -1, -1.5, 1, 2, 1e-320, 1e-20, 1e20, 1e300, -1e300, 10**400, math.nan, math.inf,
    -math.inf, 1 + 2j, "", " ", "box", "x", "ground", "naïve ☃", "1", "nan", b"box", [], (), {}, [1], (1, 2), (1, 2, 3),
    (0, 0, 0), (1, 2, 3, 4), (math.nan, 0, 0), (0, math.inf, 0), (1e300, 1e300, 1e300), (1e-320, 0, 0),
    ("a", "b", "c"), (None, 0, 0), [[1, 2], [3]], [[1, 2, 3]], np.eye(3), np.zeros((3, 3)), -np.eye(3), np.eye(4),
    np.zeros(3), np.full(3, np.nan), np.array(["a"]), np.array(5.0), np.array([], dtype=float), {"a": 1}, {1, 2},
    Odd(), Odd, len, raises, lambda: 1, lambda t: None, lambda t: math.nan, lambda t: (1, 2), lambda t: "text",
    lambda t, y: None, lambda t, y: math.inf, range(3), slice(3), iter([1, 2, 3]), ..., ((0, 0, 1), math.nan),
    ((0, 0, 0), 1.0), ("axis", 1), "Midpoint",
]  # fmt: skip


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


def hanging():
    """A pendulum at rest."""
    result = ph.Model("hanging", gravity=(0, 0, -9.81))
    result.body("bob", ph.Sphere(1.0, 0.1), position=(0, 0, -1))
    result.revolute("hinge", "ground", "bob", at=(0, 0, 0), axis=(0, 1, 0))
    return result


def method(name):
    return lambda **given: getattr(model(), name)(**given)


@cache
def finished():
    """One run for all calls that ask it something."""
    return ph.simulate(model(), ph.Midpoint(), 0.01, 0.03)


def make_files():
    """In this folder: a model file, and the result of a run that was interrupted after two of its three steps."""
    model().save("model.yaml", ph.Simulation(0.01, 0.03))
    append = Writer.append

    def last(writer, block, checkpoint):
        append(writer, block, checkpoint)
        raise KeyboardInterrupt

    small = mock.patch.object(march, "rows_of_a_block", lambda *sizes: 2)
    with suppress(KeyboardInterrupt), small, mock.patch.object(Writer, "append", last):
        ph.simulate(model(), ph.Midpoint(), 0.01, 0.03, out="part.nc")


def resumed(**given):
    """Resume a copy of the run."""
    shutil.copy("part.nc", "copy.nc")
    return ph.resume(**given)


BETWEEN = {"name": "J", "a": "box", "b": "arm", "at": (1.5, 0, 0)}
ALONG, ACROSS = {**BETWEEN, "axis": (0, 1, 0)}, {**BETWEEN, "normal": (0, 1, 0)}
ONE = (1, 1, 1)
PLACED = {"position": (0, 0, 0), "rotation": ((0, 0, 1), 0.1), "velocity": (0, 0, 0), "angular_velocity": (0, 0, 1)}
RUN = {"step": 0.01, "end": 0.03, "inputs": {"motor": 0.1}, "every": 1, "initial": "project", "on_failure": "raise"}

# What is called, and with what it works.
CALLS = {
    "Model": (ph.Model, {"name": "m", "gravity": (0, 0, -9.81)}),
    "Box": (ph.Box, {"mass": 1.0, "size": (1, 2, 3)}),
    "Cylinder": (ph.Cylinder, {"mass": 1.0, "radius": 0.1, "length": 1.0, "axis": "z"}),
    "HollowCylinder": (
        ph.HollowCylinder,
        {"mass": 1.0, "inner_radius": 0.1, "outer_radius": 0.2, "length": 1.0, "axis": "z"},
    ),
    "Sphere": (ph.Sphere, {"mass": 1.0, "radius": 0.1}),
    "Rod": (ph.Rod, {"mass": 1.0, "length": 1.0, "axis": "z"}),
    "Inertia": (ph.Inertia, {"mass": 1.0, "tensor": np.diag([1.0, 1.0, 1.5])}),
    "body": (method("body"), {"name": "new", "inertia": ph.Sphere(1.0, 0.1), **PLACED}),
    "point_mass": (method("point_mass"), {"name": "new", "mass": 1.0, "position": (0, 0, 0), "velocity": (0, 0, 0)}),
    "spherical": (method("spherical"), {**BETWEEN, "at_b": (1.5, 0, 0)}),
    "revolute": (method("revolute"), {**ALONG, "at_b": (1.5, 0, 0)}),
    "cylindrical": (method("cylindrical"), ALONG),
    "prismatic": (method("prismatic"), ALONG),
    "universal": (method("universal"), {**BETWEEN, "axis_a": (0, 1, 0), "axis_b": (0, 0, 1)}),
    "planar": (method("planar"), ACROSS),
    "fixed": (method("fixed"), BETWEEN),
    "distance": (
        method("distance"),
        {"name": "J", "a": "box", "b": "bead", "point_a": (1, 0, 0), "point_b": (0, 0, 2), "length": 2.2360679775},
    ),
    "point_on_line": (method("point_on_line"), ALONG),
    "point_on_plane": (method("point_on_plane"), ACROSS),
    "load": (
        method("load"),
        {"name": "L", "body": "box", "force": (1, 0, 0), "torque": (0, 0, 1), "at": (1, 0, 0), "torque_map": "exact"},
    ),
    "port": (
        method("port"),
        {"name": "P", "body": "box", "kind": "force", "at": (1, 0, 0), "direction": (0, 0, 1), "torque_map": "exact"},
    ),
    "Table": (ph.Table, {"times": (0, 1), "values": (0, 1)}),
    "Ramp": (ph.Ramp, {"begin": 0, "end": 1, "after": 1, "before": 0}),
    "Step": (ph.Step, {"at": 0, "after": 1, "before": 0}),
    "Sine": (ph.Sine, {"amplitude": 1, "frequency": 2, "phase": 0, "offset": 0}),
    "Expression": (ph.Expression, {"formula": "sin(t)", "breakpoints": ()}),
    "Simulation": (ph.Simulation, {"step": 0.1, "end": 1.0, "scheme": "Midpoint", "every": 1, "inputs": {}}),
    "Midpoint": (ph.Midpoint, {"tolerance": 0.0, "max_iterations": 50}),
    "MidpointGGL": (ph.MidpointGGL, {"tolerance": 0.0, "max_iterations": 50}),
    "Composition": (ph.Composition, {"base": ph.MidpointGGL(), "order": 4}),
    "Livens": (ph.Livens, {"derivative": "gonzalez", "partition": "symmetric", "tolerance": 0.0, "max_iterations": 50}),
    "Gauss": (ph.Gauss, {"stages": 2}),
    "GeneralizedAlpha": (ph.GeneralizedAlpha, {"rho": 0.8, "form": "index 3"}),
    "simulate": (lambda **given: ph.simulate(**{"model": model(), **given}), {"scheme": ph.Midpoint(), **RUN}),
    "simulate GGL": (lambda **given: ph.simulate(**{"model": model(), **given}), {"scheme": ph.MidpointGGL(), **RUN}),
    "simulate a model": (ph.simulate, {"model": model(), "scheme": ph.Midpoint(), "step": 0.01, "end": 0.03}),
    "motor": (lambda value: ph.simulate(model(), ph.Midpoint(), 0.01, 0.03, inputs={"motor": value}), {"value": 0.1}),
    "hand": (lambda value: ph.simulate(model(), ph.MidpointGGL(), 0.01, 0.03, inputs={"hand": value}), {"value": ONE}),
    "assemble": (method("assemble"), {"initial": "project"}),
    "load a result": (ph.load, {"path": "part.nc", "lazy": None}),
    "resume": (resumed, {"path": "copy.nc", "model": None, "inputs": None, "on_failure": "raise"}),
    "load_model": (ph.load_model, {"path": "model.yaml", "changes": {"bodies.box.mass": 2}}),
    "simulate_file": (ph.simulate_file, {"path": "model.yaml", "changes": {}, "on_failure": "raise"}),
    "body of a run": (lambda name: finished()[name], {"name": "box"}),
    "joint of a run": (lambda name: finished().joint(name), {"name": "hinge"}),
    "port of a run": (lambda name: finished().port(name), {"name": "motor"}),
    "save": (lambda path: finished().save(path), {"path": "saved.nc"}),
    "export": (lambda path: finished().export(path), {"path": "saved.csv"}),
    "report": (lambda path: finished().report(path), {"path": "saved.html"}),
    "modes": (ph.modes, {"model": hanging()}),
}  # fmt: skip
