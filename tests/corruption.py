"""Public calls that are right, and values that make them wrong: from these come calls that nobody foresaw."""

import math
import re
import shutil
from contextlib import suppress
from unittest import mock

import numpy as np
import sympy as sp
from fuzzed_models import BLADE, OSCILLATOR, ROLL, SPOOL, STEEL, hanging, model, workshop
from fuzzed_runs import OF_RUNS

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


def method(name, of=model):
    return lambda **given: getattr(of(), name)(**given)


def paired(a, b, joint, name):
    """Two bodies in space, joined at their ends."""
    ends = [ph.Model(each) for each in ("one", "two")]
    for x, each in enumerate(ends):
        each.body(each.name, ph.Box(1.0, (1.0, 0.1, 0.2)), position=(x, 0, 0))
        each.port(f"end of {each.name}", each.name)
    return ph.interconnect(*(each.assemble() for each in ends), through=ph.KinematicPair(a, b, joint, name))


def make_files():
    """In this folder: a model file, and the result of a run that was interrupted after two of its three steps."""
    workshop().save("model.yaml", ph.Simulation(0.01, 0.03))
    append = Writer.append

    def last(writer, block, checkpoint):
        append(writer, block, checkpoint)
        raise KeyboardInterrupt

    small = mock.patch.object(march, "rows_of_a_block", lambda *sizes: 2)
    with suppress(KeyboardInterrupt), small, mock.patch.object(Writer, "append", last):
        ph.simulate(workshop(), ph.Midpoint(), 0.01, 0.03, out="part.nc")


def resumed(**given):
    """Resume a copy of the run."""
    shutil.copy("part.nc", "copy.nc")
    return ph.resume(**given)


PLACE = {"frame": "world", "rough": True}
BETWEEN = {"name": "J", "a": "box", "b": "arm", "at": (1.5, 0, 0), "at_b": (1.5, 0, 0), **PLACE}
ALONG, ACROSS = {**BETWEEN, "axis": (0, 1, 0)}, {**BETWEEN, "normal": (0, 1, 0)}
ONE = (1, 1, 1)
NEWTON = {"tolerance": 0.0, "max_iterations": 50}
TURNED = {"axis_b": (0, 1, 0), "rate": 0.1}
PULL = {"name": "E", "a": "sledge", "b": "bead", "point_a": (0, 0, 1), "point_b": (0.3, 0, 2), "frame": "world"}
SLIDE = {"name": "D", "a": "ground", "b": "sledge", "at": (0, 0, 1), "at_b": (0, 0, 1), "axis": (0, 1, 0), **PLACE}
PIN, AXES = {"a": "one", "b": "two", "at": (0.5, 0, 0), "at_b": (0.5, 0, 0)}, {"axis": (0, 1, 0), "axis_b": (0, 1, 0)}
q, qdot, k = sp.symbols("q qdot k")
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
    "body": (method("body"), {"name": "new", "inertia": ph.Sphere(1.0, 0.1), **PLACED, "hold": True}),
    "point_mass": (
        method("point_mass"), {"name": "new", "mass": 1.0, "position": (0, 0, 0), "velocity": (0, 0, 0), "hold": True},
    ),
    "spherical": (method("spherical"), {**BETWEEN, "angular_velocity": (1, 0, 0)}),
    "revolute": (method("revolute"), {**ALONG, **TURNED}),
    "cylindrical": (method("cylindrical"), {**ALONG, **TURNED, "slide_rate": 0.1}),
    "prismatic": (method("prismatic"), {**ALONG, "rotation_b": ((0, 1, 0), 0.1), "rate": 0.1}),
    "universal": (method("universal"), {**BETWEEN, "axis_a": (0, 1, 0), "axis_b": (0, 0, 1), "turn_rates": (0.1, 0.2)}),
    "planar": (method("planar"), {**ACROSS, "normal_b": (0, 1, 0), "rate": 0.1, "velocity": (1, 0, 0)}),
    "fixed": (method("fixed"), {**BETWEEN, "rotation_b": np.eye(3)}),
    "distance": (
        method("distance"),
        {"name": "J", "a": "box", "b": "bead", "point_a": (1, 0, 0), "point_b": (0, 0, 2), "length": 2.2360679775,
         **PLACE},
    ),
    "point_on_line": (method("point_on_line"), ALONG),
    "point_on_plane": (method("point_on_plane"), ACROSS),
    "turn_drive": (
        method("turn_drive", workshop),
        {"name": "D", "a": "ground", "b": "wheel", "at": (0, 0, 0), "axis": (0, 1, 0), "angle": 0.0, "at_b": (0, 0, 0),
         "axis_b": (0, 1, 0), **PLACE},
    ),
    "slide_drive": (method("slide_drive", workshop), {**SLIDE, "displacement": 0.0}),
    "length_drive": (
        method("length_drive", workshop), {**PULL, "length": ph.Sine(0.1, 1.0, offset=1.5), "rough": True},
    ),
    "gear": (
        method("gear", workshop),
        {"name": "G", "a": "wheel", "b": "pinion", "teeth": (30, 60), "at": (0, 0, 0), "at_b": (0.3, 0, 0),
         "axis": (0, 1, 0), "axis_b": (0, 1, 0), "internal": True, **PLACE},
    ),
    "rack": (
        method("rack", workshop),
        {"name": "G", "a": "wheel", "b": "sledge", "at_b": (0, 0, 1), "at": (0, 0, 0), "axis": (0, 1, 0),
         "radius": 1.0, "along": (1, 0, 0), **PLACE},
    ),
    "spring": (
        method("spring", workshop),
        {**PULL, "stiffness": (1.0, 2.0), "damping": 1.0, "length": 1.0, "force": 0.1, "table": None},
    ),
    "spring with a table": (method("spring", workshop), {**PULL, "table": [[-0.1, -1], [0.1, 1]]}),
    "damper": (method("damper", workshop), {**PULL, "damping": 1.0}),
    "attraction": (method("attraction", workshop), {**PULL, "strength": 1.0}),
    "torsion_spring": (
        method("torsion_spring", workshop),
        {"name": "E", "joint": "B", "stiffness": 1.0, "damping": 1.0, "angle": 0.1, "torque": 0.1, "table": None},
    ),
    "bushing": (
        method("bushing", workshop),
        {"name": "E", "a": "sledge", "b": "wheel", "at": (0, 0, 1), "stiffness": ONE, "damping": ONE,
         "turning_stiffness": ONE, "turning_damping": ONE, "at_b": (0, 0, 1), "rotation_b": np.eye(3),
         "axes": np.eye(3), "frame": "world"},
    ),
    "friction": (
        method("friction", workshop),
        {"name": "E", "joint": "A", "coefficient": 0.1, "radius": 0.1, "speed": 1e-3},
    ),
    "potential": (method("potential", workshop), {**PULL, "energy": "s**2", "between": (0.5, 2.0)}),
    "joint_potential": (
        method("joint_potential", workshop), {"name": "E", "joint": "A", "energy": "s**2", "between": (-1, 1)},
    ),
    "field": (
        method("field", workshop), {"name": "E", "body": "sledge", "at": (0, 0, 1), "energy": "x**2", "within": 1.0},
    ),
    "RectangularSection": (ph.RectangularSection, {"width": 0.1, "height": 0.2, **STEEL}),
    "CircularSection": (ph.CircularSection, {"radius": 0.1, **STEEL}),
    "beam": (
        method("beam", workshop),
        {"name": "E", "section": BLADE, "start": (0, 0, 3), "end": (1, 0, 3), "a": "ground", "b": "sledge",
         "elements": 3, "via": (0.5, 0, 3.1), "up": (0, 1, 0), "damping": 0.1, "velocity": (0, 0, 0),
         "angular_velocity": (0, 0, 0)},
    ),
    "load": (
        method("load"),
        {"name": "L", "body": "box", "force": (1, 0, 0), "torque": (0, 0, 1), "at": (1, 0, 0), "torque_map": "exact",
         "frame": "body"},
    ),
    "port": (
        method("port"),
        {"name": "P", "body": "box", "kind": "force", "at": (1, 0, 0), "direction": (0, 0, 1), "torque_map": "exact",
         "frame": "body"},
    ),
    "joint_port": (method("joint_port"), {"name": "P", "joint": "hinge", "kind": "torque"}),
    "save a model": (method("save"), {"path": "saved.yaml", "simulation": ph.Simulation(0.01, 0.03)}),
    "PipeSection": (ph.PipeSection, {"outer_radius": 0.2, "inner_radius": 0.1, **STEEL}),
    "Section": (
        ph.Section,
        {"stiffness": ONE, "turning_stiffness": ONE, "mass_per_length": 1.0, "inertia_per_length": (1, 1, 2)},
    ),
    "Table": (ph.Table, {"times": (0, 1), "values": (0, 1)}),
    "Ramp": (ph.Ramp, {"begin": 0, "end": 1, "after": 1, "before": 0, "smooth": True}),
    "Step": (ph.Step, {"at": 0, "after": 1, "before": 0}),
    "Sine": (ph.Sine, {"amplitude": 1, "frequency": 2, "phase": 0, "offset": 0}),
    "Expression": (ph.Expression, {"formula": "sin(t)", "breakpoints": ()}),
    "Simulation": (
        ph.Simulation,
        {"step": 0.1, "end": 1.0, "scheme": "Midpoint", "every": 1, "inputs": {}, "times": None,
         "events": {"top": ph.Crossing("hinge.angle")}, "outputs": ["energy"]},
    ),
    "Midpoint": (ph.Midpoint, {**NEWTON, "threads": 1}),
    "MidpointGGL": (ph.MidpointGGL, {**NEWTON, "threads": 1}),
    "Composition": (ph.Composition, {"base": ph.MidpointGGL(), "order": 4}),
    "DiscreteGradient": (ph.DiscreteGradient, NEWTON),
    "Livens": (ph.Livens, {"derivative": "gonzalez", "partition": "symmetric", **NEWTON}),
    "Gauss": (ph.Gauss, {"stages": 2, **NEWTON}),
    "LobattoIIIC": (ph.LobattoIIIC, {"stages": 2, **NEWTON}),
    "RadauIIA": (ph.RadauIIA, {"stages": 2, **NEWTON}),
    "BDF": (ph.BDF, {"steps": 2, **NEWTON}),
    "LobattoPair": (ph.LobattoPair, {"stages": 2, **NEWTON}),
    "Murua": (ph.Murua, {"stages": 2, "ggl": False, **NEWTON}),
    "GeneralizedAlpha": (ph.GeneralizedAlpha, {"rho": 0.8, "form": "index 3", "corrected": True, **NEWTON}),
    "HHT": (ph.HHT, {"alpha": -0.1, "form": "index 3", "corrected": True, **NEWTON}),
    "MDOP5": (ph.MDOP5, {"form": "projection", "alpha": 3.0, "recursive": False}),
    "DOP853": (ph.DOP853, {"form": "projection", "alpha": 3.0, "recursive": False}),
    "IDA": (ph.IDA, {"max_order": 5}),
    "SciPy": (ph.SciPy, {"method": "Radau", "alpha": 3.0}),
    "Reversible": (ph.Reversible, {"step": 0.1, "density": lambda q: 1.0, "initial": 0.1, "max_steps": 100}),
    "Adaptive": (
        ph.Adaptive,
        {"rtol": 1e-6, "atol": 1e-9, "initial": 0.1, "minimum": 0.0, "maximum": 1.0, "decrease": 0.2, "increase": 5.0,
         "good_steps": 1, "max_steps": 100, "breakpoints": (0.5,)},
    ),
    "Event": (ph.Event, {"function": lambda t, x: x[0], "direction": 1, "terminal": True, "period": 1.0}),
    "Sampled": (ph.Sampled, {"controller": lambda t, y: 0.1, "period": 0.01}),
    "GeneralPHDAE": (
        ph.GeneralPHDAE,
        {"name": "P", "states": ["q", "p"], "H": lambda x: 0.5 * x @ x, "z": lambda x: x, "J": [[0, 1], [-1, 0]],
         "R": np.zeros((2, 2)), "E": np.eye(2), "B": [[0], [1]], "ports": ["force"], "P": [[0], [0]],
         "S": [[0]], "N": [[0]], "r": np.zeros(2), "initial": [0.3, 0.1], "tangent": None},
    ),
    "LinearPHDAE": (
        ph.LinearPHDAE,
        {"name": "P", **OSCILLATOR, "states": ["q", "p"], "ports": ["force"], "P": [[0], [0]], "S": [[0]], "N": [[0]],
         "rest": [0, 0],
         "initial": [1, 0]},
    ),
    "Lagrangian": (
        ph.Lagrangian,
        {"L": qdot**2 / 2 - k * q**2 / 2, "coordinates": [q], "velocities": [qdot], "constraints": (),
         "dissipation": qdot**2 / 10, "inputs": {"force": 1}, "parameters": {k: 2.0}, "initial": ([1.0], [0.0]),
         "name": "P", "time": sp.Symbol("t")},
    ),
    "NumericLagrangian": (
        ph.NumericLagrangian,
        {"L": lambda q, v: (v @ v - q @ q) / 2, "coordinates": ["q"], "velocities": ["v"], "constraints": None,
         "dissipation": [[0.1]], "inputs": {"force": [1.0]}, "gradient": lambda q, v: (-q, v), "jacobian": None,
         "initial": ([1.0], [0.0]), "name": "P", "quadratic_in_v": True},
    ),
    "interconnect": (
        lambda systems, **given: ph.interconnect(systems, ROLL, **given),
        {"systems": SPOOL, "through": ph.Feedback("shaft", "end"), "name": "drive"},
    ),
    **{
        cls.__name__: (
            lambda cls=cls, **given: ph.interconnect(SPOOL, ROLL, through=cls(**given)),
            {"a": "shaft", "b": "end", "ratio": 1.0, "name": "drive"},
        )
        for cls in (ph.Feedback, ph.Gyrator, ph.Transformer)
    },
    "Relation": (
        lambda **given: ph.interconnect(SPOOL, ROLL, through=ph.Relation(**given)),
        {"joined": ["shaft", "end"], "M": [[0, -1], [1, 0]], "N": np.eye(2), "name": "drive"},
    ),
    "KinematicPair": (
        paired, {"a": "end of one", "b": "end of two", "joint": ph.Spherical(name="J", **PIN), "name": "drive"},
    ),
    **{
        cls.__name__: (cls, {**PIN, **PLACE, "name": "J", **more})
        for cls, more in (
            (ph.Spherical, {"angular_velocity": (1, 0, 0)}), (ph.Revolute, {**AXES, "rate": 0.1}),
            (ph.Cylindrical, {**AXES, "rate": 0.1, "slide_rate": 0.1}),
            (ph.Prismatic, {"axis": (0, 1, 0), "rotation_b": np.eye(3), "rate": 0.1}),
            (ph.Universal, {"axis_a": (0, 1, 0), "axis_b": (0, 0, 1), "turn_rates": (0.1, 0.2)}),
            (ph.Planar, {"normal": (0, 1, 0), "normal_b": (0, 1, 0), "rate": 0.1, "velocity": (1, 0, 0)}),
            (ph.Fixed, {"rotation_b": np.eye(3)}), (ph.PointOnLine, {"axis": (0, 1, 0)}),
            (ph.PointOnPlane, {"normal": (0, 1, 0)}),
        )
    },
    "RigidLink": (
        ph.RigidLink,
        {**PLACE, "name": "J", "a": "one", "b": "two", "point_a": (0, 0, 0), "point_b": (1, 0, 0), "length": 1.0},
    ),
    "Crossing": (ph.Crossing, {"quantity": "hinge.angle", "value": 1.0, "direction": "rising", "terminal": False}),
    "simulate a workshop": (
        lambda **given: ph.simulate(workshop(), ph.Midpoint(), 0.01, 0.03, **given),
        {"inputs": {"motor": 0.1}, "every": 3, "hold": ["wheel"], "progress": False, "out": "run.nc",
         "outputs": ["energy"], "events": {"top": ph.Crossing("A.angle")}, "start": None, "times": None},
    ),
    "simulate a system": (
        lambda **given: ph.simulate(SPOOL, ph.RadauIIA(2), **given),
        {"step": ph.Adaptive(), "end": 0.1, "start": [0, 1], "times": [0.05], "events": {"zero": lambda t, x: x[0]},
         "inputs": {"shaft": 0.1}, "progress": False, "out": "system.nc"},
    ),
    "simulate": (lambda **given: ph.simulate(**{"model": model(), **given}), {"scheme": ph.Midpoint(), **RUN}),
    "simulate GGL": (lambda **given: ph.simulate(**{"model": model(), **given}), {"scheme": ph.MidpointGGL(), **RUN}),
    "simulate a model": (ph.simulate, {"model": model(), "scheme": ph.Midpoint(), "step": 0.01, "end": 0.03}),
    "motor": (lambda input: ph.simulate(model(), ph.Midpoint(), 0.01, 0.03, inputs={"motor": input}), {"input": 0.1}),
    "hand": (lambda input: ph.simulate(model(), ph.MidpointGGL(), 0.01, 0.03, inputs={"hand": input}), {"input": ONE}),
    "assemble": (method("assemble"), {"initial": "project", "hold": ["box"]}),
    "load a result": (ph.load, {"path": "part.nc", "lazy": None}),
    "resume": (
        resumed,
        {"path": "copy.nc", "model": None, "inputs": None, "on_failure": "raise", "progress": False, "step": None,
         "events": None},
    ),
    "load_model": (ph.load_model, {"path": "model.yaml", "changes": {"bodies.wheel.mass": 2}}),
    "simulate_file": (
        ph.simulate_file,
        {"path": "model.yaml", "changes": {}, "on_failure": "raise", "progress": False, "out": "run.nc"},
    ),
    "compare": (
        ph.compare,
        {"model": SPOOL, "schemes": [ph.Gauss(1)], "steps": [0.1], "end": 0.1, "inputs": {"shaft": 0.1},
         "reference": ph.simulate(SPOOL, ph.RadauIIA(3), 0.05, 0.1)},
    ),
    **OF_RUNS,
    "modes": (ph.modes, {"model": hanging(), "state": None, "inputs": None, "time": 0.0}),
    "PD": (
        ph.PD,
        {"joint": "hinge", "stiffness": 1.0, "damping": 0.1, "target": 2.0, "target_rate": 0.0, "motion": "turn"},
    ),
    "EnergyShaping": (
        ph.EnergyShaping,
        {"joint": "hinge", "energy": "s**2", "damping": 0.1, "around": 1.0, "motion": "turn"},
    ),
    "Maxwell": (ph.Maxwell, {"name": "P", "stiffness": 10.0, "damping": 2.0, "elongation": 0.1}),
    "FirstOrderActuator": (
        ph.FirstOrderActuator,
        {"name": "P", "gain": 1.0, "droop": 0.5, "time_constant": 0.1, "force": 0.2},
    ),
}  # fmt: skip


# How messages call what was called where it has no name of its own.
PART = {
    "simulate GGL": ("simulate", "'fuzzed'", "inputs"), "simulate": ("simulate", "'fuzzed'", "inputs"),
    "simulate a model": ("simulate", "'fuzzed'"),
    "simulate a workshop": ("simulate", "'fuzzed'", "inputs"), "simulate a system": ("simulate", "'spool'", "inputs"),
    "motor": ("'motor'",), "hand": ("'hand'",), "assemble": ("'fuzzed'", "assemble"), "load a result": ("load", "path"),
    "resume": ("resume", "path", "simulate", "inputs", "copy.nc", "'fuzzed'"),
    "load_model": ("path", "changes", "a model file"),
    "simulate_file": ("simulate", "path", "changes", "a model file"),
    "interconnect": ("interconnect", "connection"), "Simulation": ("simulate", "scheme", "inputs", "events", "outputs"),
    **{cls: (cls, "connection") for cls in ("Feedback", "Gyrator", "Transformer", "Relation")},
    "KinematicPair": ("KinematicPair", "joint", "connection"), "compare": ("compare", "simulate"),
    "Maxwell": ("P", "'P'"), "FirstOrderActuator": ("P", "'P'"), "modes": ("modes", "'hanging'"),
    "Livens": ("Livens", "Midpoint"),  # of which it is made
}  # fmt: skip


WORDS = ("a", "b", "at", "end", "name")  # arguments that are words of other sentences too


def names_of(call, key, right, value):
    """Words of the part that was called, and of the argument that was corrupted: a message has one of each."""
    if "." in call:  # of runs, which say what they are asked for or whom they belong to
        part = (call.split()[0].rpartition(".")[2], "'fuzzed'", "'fuzzed + spool'", "quantity", "ax")
    else:
        part = PART.get(call, (f"'{right['name']}'",) if "name" in right else (call.split()[0],))
    found = [f"'{value}'", f"found {value!r}", *(text for text in (repr(value), str(value)) if len(text) > 2)]
    with suppress(TypeError, ValueError, OverflowError):
        found.append(f"found {np.asarray(value, dtype=np.float64).tolist()}")
    found += [f"{value}, line", f"{value}: "] if key == "path" else []
    part = (*part, *(["name", *found] if key == "name" else found if key == "path" else []))
    with suppress(TypeError):
        found += [f"'{each}'" for each in value if isinstance(each, str)]
    found += ["port"] if call in ("interconnect", "Relation") else []
    found += [f"{name}={given!r}" for name, given in value.items()] if isinstance(value, dict) else []
    return part, (*([f"{key}:", f"{key} =", f"{key}="] if key in WORDS else [key, key.removesuffix("s")]), *found)


def named(message, part, argument):
    """Whether a message has one of each, as whole words."""
    return all(any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)" if word[-1:].isalnum() else re.escape(word), message)
                   for word in words) for words in (part, argument))  # fmt: skip
