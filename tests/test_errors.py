"""Every mistake a user can make gets a sentence: which part, what was found, what was expected, what to try."""

import logging
import re

import numpy as np
import pytest

import porthos as ph
from porthos.model.bodies import rotation_matrix
from porthos.steps import count_steps

NAN = float("nan")
BOX = ph.Box(mass=1.0, size=(0.1, 0.2, 0.3))


def sentence(error, action, *words):
    """The message of the error that `action` raises; it must be of this very class and contain all words."""
    with pytest.raises(error) as caught:
        action()
    assert type(caught.value) is error
    for word in words:
        assert word in str(caught.value)
    return str(caught.value)


def pendulum(**body):
    """A box on a hinge, with a load and two ports."""
    model = ph.Model("pendulum", gravity=(0, 0, -9.81))
    box = model.body("box", BOX, **{"position": (1, 0, 0), **body})
    model.revolute("hinge", model.ground, box, at=(0, 0, 0), axis=(0, 1, 0))
    model.port("motor", box, kind="torque", direction=(0, 1, 0))
    model.port("hand", box, kind="force")
    return model


def beads():
    """A model with a rigid body and a point mass."""
    model = ph.Model("beads")
    model.body("box", BOX, position=(1, 0, 0))
    model.point_mass("bead", 0.5, position=(0, 0, 2))
    return model


# --- names


def test_unknown_body():
    model = pendulum()
    words = ("model 'pendulum'", "found no body 'bxo'", "expected a body", "Did you mean 'box'?", "'ground', 'box'")
    sentence(ph.ModelError, lambda: model.spherical("B", "bxo", "ground", at=(0, 0, 0)), *words)
    sentence(ph.ModelError, lambda: model.load("push", "bxo", force=(1, 0, 0)), *words)
    sentence(ph.ModelError, lambda: model.port("push", "bxo"), *words)
    found = ("model 'pendulum'", "expected a body or its name", "found 7", "'box'")
    sentence(ph.ModelError, lambda: model.spherical("B", 7, "box", at=(0, 0, 0)), *found)


@pytest.mark.parametrize("name", ["box", "hinge", "motor", "ground"])
def test_duplicate_name(name):
    model = pendulum()
    adders = (
        lambda: model.body(name, BOX),
        lambda: model.point_mass(name, 1.0),
        lambda: model.spherical(name, "ground", "box", at=(0, 0, 0)),
        lambda: model.load(name, "box", force=(1, 0, 0)),
        lambda: model.port(name, "box"),
    )
    for add in adders:
        words = ("model 'pendulum'", f"the name '{name}' is taken", "Expected a new name", f"try '{name}_2'")
        sentence(ph.ModelError, add, *words)
    assert (len(model.bodies), len(model.joints), len(model.loads), len(model.ports)) == (1, 1, 0, 2)


@pytest.mark.parametrize("name", ["", "  ", None, 3])
def test_part_without_a_name(name):
    words = ("model 'pendulum'", "expected a name", f"found {name!r}", "such as 'crank'")
    sentence(ph.ModelError, lambda: pendulum().body(name, BOX), *words)


def test_body_of_another_model():
    box = pendulum().bodies[0]
    other = pendulum()
    words = (
        "model 'pendulum'",
        "expected a body of this model",
        "'box', which belongs to another model",
        "Add it here",
    )
    sentence(ph.ModelError, lambda: other.spherical("B", box, "ground", at=(0, 0, 0)), *words)
    sentence(ph.ModelError, lambda: other.load("push", box, force=(1, 0, 0)), *words)
    assert pendulum().spherical("B", ph.Model().ground, "box", at=(0, 0, 0)).a == "ground"  # there is only one ground


def test_load_on_the_ground():
    words = ("model 'pendulum'", "expected a body", "found the ground", "Known: 'box'")
    sentence(ph.ModelError, lambda: pendulum().load("push", "ground", force=(1, 0, 0)), *words)


def test_model_without_bodies():
    sentence(ph.ModelError, lambda: ph.Model("empty").assemble(), "model 'empty'", "no body", "Add one with model.body")


# --- masses and inertias


@pytest.mark.parametrize("mass", [-2.0, NAN, float("inf"), "heavy", None])
@pytest.mark.parametrize(
    ("where", "make"),
    [
        ("Box: mass", lambda m: ph.Box(mass=m, size=(1, 1, 1))),
        ("Sphere: mass", lambda m: ph.Sphere(mass=m, radius=1)),
        ("Cylinder: mass", lambda m: ph.Cylinder(mass=m, radius=1, length=1)),
        ("HollowCylinder: mass", lambda m: ph.HollowCylinder(mass=m, inner_radius=0.5, outer_radius=1, length=1)),
        ("Rod: mass", lambda m: ph.Rod(mass=m, length=1)),
        ("Inertia: mass", lambda m: ph.Inertia(mass=m, tensor=(1, 1, 1))),
        ("point mass 'bead': mass", lambda m: ph.Model().point_mass("bead", m)),
    ],
)
def test_mass_must_not_be_negative(where, make, mass):
    sentence(ph.ModelError, lambda: make(mass), where, f"found {mass!r}", "expected a positive number in SI units")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ph.Box(1, (1, 0, 0)), ("Box: size", "found [1.0, 0.0, 0.0]", "at most one of them zero", "ph.Rod")),
        (lambda: ph.Box(1, (1, -2, 3)), ("Box: size", "found [1.0, -2.0, 3.0]", "expected edges >= 0")),
        (lambda: ph.Box(1, (1, NAN, 3)), ("Box: size", "found [1.0, nan, 3.0]", "finite")),
        (lambda: ph.Sphere(1, -0.1), ("Sphere: radius", "found -0.1", "positive", "sign")),
        (lambda: ph.Rod(1, 0), ("Rod: length", "found 0.0", "positive")),
        (lambda: ph.Rod(1, 2, axis=[1, 0, 0]), ("Rod: axis", "found [1, 0, 0]", "'x', 'y' or 'z'", "rotation")),
        (lambda: ph.Cylinder(1, 0.1, NAN), ("Cylinder: length", "found nan", "positive")),
        (lambda: ph.Cylinder(1, 0.1, 1, axis="w"), ("Cylinder: axis", "found 'w'", "'x', 'y' or 'z'")),
        (lambda: ph.HollowCylinder(1, 0.3, 0.2, 1), ("inner_radius", "found 0.3", "at most the outer radius 0.2")),
        (lambda: ph.HollowCylinder(1, -0.1, 0.2, 1), ("HollowCylinder: inner_radius", "found -0.1", "positive")),
    ],
)
def test_sizes_of_shapes(make, words):
    sentence(ph.ModelError, make, *words)


@pytest.mark.parametrize(
    ("tensor", "words"),
    [
        (
            (1.0, 1.0, 2.1),
            ("triangle inequality", "[1.  1.  2.1]", "expected 2.1 <= 1 + 1", "about the centre of mass"),
        ),
        ((1.0, -1.0, 1.0), ("expected moments >= 0", "[-1.  1.  1.]", "Check the signs")),
        ([[1, 0.2, 0], [0.1, 1, 0], [0, 0, 1]], ("expected a symmetric matrix", "[1.0, 0.2, 0.0]", "(J + J.T)/2")),
        ([[1, 2, 0], [2, 1, 0], [0, 0, 1]], ("expected moments >= 0", "products of inertia")),
        ((1.0, NAN, 1.0), ("expected finite numbers", "nan", "division by zero")),
        ((1.0, 1.0), ("expected 3 principal moments or a symmetric 3 x 3 matrix", "found (1.0, 1.0)")),
        ("round", ("expected 3 principal moments", "found 'round'")),
    ],
)
def test_impossible_inertia(tensor, words):
    sentence(ph.ModelError, lambda: ph.Inertia(1.0, tensor), "Inertia: inertia tensor", *words)


def test_moments_at_the_edge_are_possible():
    """A flat body reaches the triangle inequality; round-off must not refuse it."""
    assert np.array_equal(ph.Inertia(1.0, (1.0, 2.0, 3.0 * (1 + 1e-12))).tensor[2, 2], 3.0 * (1 + 1e-12))


def test_body_without_inertia():
    words = ("body 'b'", "found 1.0", "expected a shape", "Try ph.Box")
    sentence(ph.ModelError, lambda: ph.Model().body("b", 1.0), *words)


# --- NaN, shapes and directions


@pytest.mark.parametrize(
    ("where", "add"),
    [
        ("body 'b': position", lambda m, x: m.body("b", BOX, position=x)),
        ("body 'b': velocity", lambda m, x: m.body("b", BOX, velocity=x)),
        ("body 'b': angular_velocity", lambda m, x: m.body("b", BOX, angular_velocity=x)),
        ("body 'b': rotation: axis", lambda m, x: m.body("b", BOX, rotation=(x, 0.1))),
        ("point mass 'p': position", lambda m, x: m.point_mass("p", 1, position=x)),
        ("point mass 'p': velocity", lambda m, x: m.point_mass("p", 1, velocity=x)),
        ("model 'm': gravity", lambda m, x: ph.Model("m", gravity=x)),
        ("spherical joint 'J': at", lambda m, x: m.spherical("J", "ground", "box", at=x)),
        ("spherical joint 'J': at_b", lambda m, x: m.spherical("J", "ground", "box", at=(0, 0, 0), at_b=x)),
        ("revolute joint 'J': axis", lambda m, x: m.revolute("J", "ground", "box", at=(0, 0, 0), axis=x)),
        ("cylindrical joint 'J': axis", lambda m, x: m.cylindrical("J", "ground", "box", at=(0, 0, 0), axis=x)),
        ("prismatic joint 'J': axis", lambda m, x: m.prismatic("J", "ground", "box", at=(0, 0, 0), axis=x)),
        ("point_on_line joint 'J': axis", lambda m, x: m.point_on_line("J", "ground", "box", at=(0, 0, 0), axis=x)),
        ("planar joint 'J': normal", lambda m, x: m.planar("J", "ground", "box", at=(0, 0, 0), normal=x)),
        ("point_on_plane joint 'J': normal", lambda m, x: m.point_on_plane("J", "ground", "box", (0, 0, 0), normal=x)),
        ("universal joint 'J': axis_a", lambda m, x: m.universal("J", "ground", "box", (0, 0, 0), x, (0, 0, 1))),
        ("universal joint 'J': axis_b", lambda m, x: m.universal("J", "ground", "box", (0, 0, 0), (0, 0, 1), x)),
        ("fixed joint 'J': at", lambda m, x: m.fixed("J", "ground", "box", at=x)),
        ("distance joint 'J': point_a", lambda m, x: m.distance("J", "ground", "box", x, (1, 0, 0))),
        ("distance joint 'J': point_b", lambda m, x: m.distance("J", "ground", "box", (0, 0, 0), x)),
        ("load 'L': force", lambda m, x: m.load("L", "box", force=x)),
        ("load 'L': torque", lambda m, x: m.load("L", "box", torque=x)),
        ("load 'L': at", lambda m, x: m.load("L", "box", force=(1, 0, 0), at=x)),
        ("port 'P': at", lambda m, x: m.port("P", "box", at=x)),
        ("port 'P': direction", lambda m, x: m.port("P", "box", kind="force", direction=x)),
    ],
)
def test_vectors(where, add):
    """Every vector argument: not a number, infinite, too short, no numbers at all."""
    model = beads()
    hint = ("expected finite numbers", "division by zero")
    sentence(ph.ModelError, lambda: add(model, (1.0, NAN, 0.0)), f"{where}: ", "found [1.0, nan, 0.0]", *hint)
    sentence(ph.ModelError, lambda: add(model, (0, 0, float("inf"))), f"{where}: ", "found [0.0, 0.0, inf]", *hint)
    short = (
        f"expected 3 numbers such as {'(0, 0, -9.81)' if 'gravity' in where else '(1, 2, 3)'}",
        "shape (2,): (0, 1)",
    )
    sentence(ph.ModelError, lambda: add(model, (0, 1)), f"{where}: ", *short)
    sentence(ph.ModelError, lambda: add(model, "up"), f"{where}: ", "expected 3 numbers", "'up'")
    if "axis" in where or "normal" in where or "direction" in where:
        nowhere = ("expected a direction", "found [0.0, 0.0, 0.0]", "length zero", "such as (0, 0, 1)")
        sentence(ph.ModelError, lambda: add(model, (0, 0, 0)), f"{where}: ", *nowhere)
    assert (len(model.bodies), len(model.joints), len(model.loads), len(model.ports)) == (2, 0, 0, 0)


@pytest.mark.parametrize(
    ("rotation", "words"),
    [
        (np.diag([1.0, 1.0, -1.0]), ("expected a rotation", "found a reflection (determinant -1)", "change the sign")),
        (np.diag([1.0, 1.0, 1.1]), ("expected an orthonormal matrix", "|R^T R - I| = 2.10e-01", "quaternion instead")),
        (np.full((3, 3), NAN), ("expected finite numbers", "nan")),
        ((1.0, NAN, 0.0, 0.0), ("expected finite numbers", "[1.0, nan, 0.0, 0.0]")),
        ((0.0, 0.0, 0.0, 0.0), ("(0, 0, 0, 0) is no rotation", "(1, 0, 0, 0)")),
        (((0, 0, 1), NAN), ("expected a finite angle in radians", "found nan", "math.pi / 2")),
        (((0, 0, 1), "90°"), ("expected a finite angle in radians", "found '90°'")),
        ((1.0, 2.0, 3.0), ("expected a 3 x 3 matrix, a quaternion", "(axis, angle)", "found (1.0, 2.0, 3.0)")),
    ],
)
def test_rotations(rotation, words):
    sentence(ph.ModelError, lambda: beads().body("b", BOX, rotation=rotation), "body 'b': rotation: ", *words)


def test_sloppy_rotations_are_made_orthonormal():
    R = rotation_matrix(((1, 2, 3), 0.4))
    sloppy = rotation_matrix(np.round(R, 7))
    assert np.abs(sloppy.T @ sloppy - np.eye(3)).max() < 1e-15
    assert np.abs(sloppy - R).max() < 1e-7


# --- joints


def test_joint_of_a_body_with_itself():
    words = ("spherical joint 'B'", "expected two different parts", "found 'box' connected with itself", "model.ground")
    sentence(ph.ModelError, lambda: pendulum().spherical("B", "box", "box", at=(0, 0, 0)), *words)


def test_points_that_do_not_coincide():
    model = beads()
    model.body("rod", ph.Rod(1, 2, axis="x"), position=(3, 0, 0))
    words = ("spherical joint 'B'", "on 'box' [2.0, 0.0, 0.0]", "on 'rod' [2.0, 0.0, 0.5]", "miss each other by 0.5")
    hint = ("Expected world coordinates at the initial placement", "check the positions")
    sentence(ph.ModelError, lambda: model.spherical("B", "box", "rod", (2, 0, 0), at_b=(2, 0, 0.5)), *words, *hint)
    link = ("distance joint 'C'", "miss each other by 1")
    sentence(ph.ModelError, lambda: model.distance("C", "box", "rod", (1, 0, 0), (3, 0, 0), length=3.0), *link, *hint)
    beside = ("point_on_line joint 'D'", "miss each other by 0.5")

    def on_line(at_b):
        return model.point_on_line("D", "box", "rod", (2, 0, 0), axis=(1, 0, 0), at_b=at_b)

    sentence(ph.ModelError, lambda: on_line((3, 0, 0.5)), *beside, *hint)
    assert on_line((5, 0, 0)).points[1].tolist() == [5, 0, 0]  # along the line is allowed


def test_universal_axes():
    words = ("universal joint 'U'", "must be perpendicular", "found an angle of 45.0000 degrees", "cross(axis_a")
    model = pendulum()
    sentence(ph.ModelError, lambda: model.universal("U", "ground", "box", (0, 0, 0), (1, 0, 0), (1, 1, 0)), *words)


@pytest.mark.parametrize("length", [0.0, -1.0, NAN])
def test_length_of_a_link(length):
    words = ("distance joint 'C': length", f"found {length!r}", "expected a positive number")
    sentence(ph.ModelError, lambda: beads().distance("C", "ground", "box", (0, 0, 0), (1, 0, 0), length), *words)


def test_link_of_no_length():
    words = ("distance joint 'C'", "expected two points", "found [1.0, 0.0, 0.0] twice", "Use a spherical joint")
    sentence(ph.ModelError, lambda: beads().distance("C", "ground", "box", (1, 0, 0), (1, 0, 0)), *words)


@pytest.mark.parametrize(
    ("kind", "add"),
    [
        ("revolute", lambda m, a, b: m.revolute("J", a, b, at=(0, 0, 2), axis=(1, 0, 0))),
        ("cylindrical", lambda m, a, b: m.cylindrical("J", a, b, at=(0, 0, 2), axis=(1, 0, 0))),
        ("prismatic", lambda m, a, b: m.prismatic("J", a, b, at=(0, 0, 2), axis=(1, 0, 0))),
        ("universal", lambda m, a, b: m.universal("J", a, b, (0, 0, 2), (1, 0, 0), (0, 1, 0))),
        ("planar", lambda m, a, b: m.planar("J", a, b, at=(0, 0, 2), normal=(1, 0, 0))),
        ("fixed", lambda m, a, b: m.fixed("J", a, b, at=(0, 0, 2))),
    ],
)
@pytest.mark.parametrize("sides", [("bead", "box"), ("ground", "bead")])
def test_point_mass_has_no_rotation_to_hold(kind, add, sides):
    words = (f"{kind} joint 'J'", "expected rigid bodies", "found the point mass 'bead'", "Use a spherical, distance")
    sentence(ph.ModelError, lambda: add(beads(), *sides), *words)


@pytest.mark.parametrize(
    ("kind", "add"),
    [
        ("point_on_line", lambda m, a, b: m.point_on_line("J", a, b, at=(0, 0, 2), axis=(1, 0, 0))),
        ("point_on_plane", lambda m, a, b: m.point_on_plane("J", a, b, at=(0, 0, 2), normal=(1, 0, 0))),
    ],
)
def test_point_mass_has_no_directions(kind, add):
    words = (f"{kind} joint 'J'", "as its first part", "found the point mass 'bead'", "Exchange the two parts")
    sentence(ph.ModelError, lambda: add(beads(), "bead", "box"), *words)
    assert add(beads(), "box", "bead").b == "bead"


@pytest.mark.parametrize(
    ("where", "add"),
    [
        ("spherical joint 'J'", lambda m, x: m.spherical("J", "box", "bead", at=x)),
        ("spherical joint 'J'", lambda m, x: m.spherical("J", "bead", "box", at=x, at_b=(0, 0, 2))),
        ("distance joint 'J'", lambda m, x: m.distance("J", "box", "bead", (1, 0, 0), x)),
        ("distance joint 'J'", lambda m, x: m.distance("J", "bead", "box", x, (1, 0, 0))),
        ("point_on_line joint 'J'", lambda m, x: m.point_on_line("J", "ground", "bead", at=x, axis=(1, 0, 0))),
        ("point_on_plane joint 'J'", lambda m, x: m.point_on_plane("J", "ground", "bead", (1, 0, 2), (0, 0, 1), x)),
        ("load 'L'", lambda m, x: m.load("L", "bead", force=(1, 0, 0), at=x)),
        ("port 'P'", lambda m, x: m.port("P", "bead", kind="force", at=x)),
    ],
)
def test_point_mass_has_no_other_points(where, add):
    words = ("expected a point at the position [0.0, 0.0, 2.0]", "found [0.0, 0.0, 2.01]", "'bead'", "rigid body")
    sentence(ph.ModelError, lambda: add(beads(), (0, 0, 2.01)), where, *words)
    assert add(beads(), (0, 0, 2.0)).name in "JLP"


@pytest.mark.parametrize(
    ("where", "add"),
    [
        ("load 'L'", lambda m: m.load("L", "bead", torque=(1, 0, 0))),
        ("port 'P'", lambda m: m.port("P", "bead")),
        ("port 'P'", lambda m: m.port("P", "bead", kind="torque")),
    ],
)
def test_torque_on_a_point_mass(where, add):
    words = ("expected a force", "found a torque on the point mass 'bead'", "kind='force'")
    sentence(ph.ModelError, lambda: add(beads()), where, *words)


# --- loads and ports


def test_loads_and_ports():
    m = beads()
    neither = ("load 'L'", "expected a force, a torque or both", "found neither", "Try force=(0, 0, 1)")
    sentence(ph.ModelError, lambda: m.load("L", "box"), *neither)
    maps = ("load 'L': torque_map", "expected 'exact'", "or 'printed'", "found 'exakt'")
    sentence(ph.ModelError, lambda: m.load("L", "box", torque=(1, 0, 0), torque_map="exakt"), *maps)
    kinds = ("port 'P': kind", "expected 'wrench', 'force' or 'torque'", "found 'power'")
    sentence(ph.ModelError, lambda: m.port("P", "box", kind="power"), *kinds)
    direction = ("port 'P': direction", "expected none for kind='wrench'", "found (1, 0, 0)", "Use kind='force'")
    sentence(ph.ModelError, lambda: m.port("P", "box", direction=(1, 0, 0)), *direction)


# --- initial values


def test_inconsistent_positions_are_refused():
    model = pendulum()
    model.body("rod", ph.Box(1, (2, 0.1, 0.1)), position=(3, 0, 0))
    model.spherical("elbow", "box", "rod", at=(2, 0, 0), at_b=(2, 0, 0.003))
    words = ("model 'pendulum'", "joint 'elbow': the initial positions violate it by 3.000e-03", "initial='project'")
    text = sentence(ph.InconsistentStateError, lambda: model.assemble(initial="refuse"), *words, "Expected positions")
    assert "hinge" not in text
    assert "velocities violate" not in text
    assert model.assemble(initial="project").adjustments


def test_inconsistent_velocities_are_refused():
    model = pendulum(velocity=(0.0, 0.25, 0.0))
    words = ("joint 'hinge': the initial velocities violate it by 2.500e-01", "initial='project'", "Expected positions")
    text = sentence(ph.InconsistentStateError, lambda: model.assemble(initial="refuse"), *words)
    assert "positions violate" not in text
    sentence(ph.InconsistentStateError, lambda: ph.simulate(model, ph.Midpoint(), 0.1, 0.1, initial="refuse"), *words)


def test_consistent_values_are_not_refused():
    system = pendulum(velocity=(0, 0, -2), angular_velocity=(0, 2, 0)).assemble(initial="refuse")
    assert system.adjustments == ()


def test_moved_initial_values_are_logged(caplog):
    with caplog.at_level(logging.INFO, logger="porthos"):
        ph.simulate(pendulum(velocity=(0.0, 0.25, 0.0)), ph.Midpoint(), 0.1, 0.1)
    assert "initial values of pendulum were moved onto the constraints: 'box'" in caplog.text


def test_unknown_treatment_of_initial_values():
    words = ("initial", "expected 'project' or 'refuse'", "found 'ignore'")
    sentence(ph.ModelError, lambda: pendulum().assemble(initial="ignore"), *words)


# --- arguments of simulate


@pytest.mark.parametrize("step", [0.0, -0.1, NAN, float("inf")])
def test_step(step):
    words = ("simulate: step must be a positive number of seconds", f"found {step!r}")
    sentence(ph.PorthosError, lambda: ph.simulate(pendulum(), ph.Midpoint(), step, 1.0), *words)


@pytest.mark.parametrize("end", [0.0, -1.0, NAN, float("inf")])
def test_end(end):
    words = ("simulate: end must be a positive number of seconds", f"found {end!r}")
    sentence(ph.PorthosError, lambda: ph.simulate(pendulum(), ph.Midpoint(), 0.1, end), *words)


@pytest.mark.parametrize(("step", "end"), [(0.3, 1.0), (0.01, 0.995), (2.0, 0.9), (1e-3, 1.0004)])
def test_end_that_is_not_a_multiple_of_the_step(step, end):
    words = ("simulate", f"end = {end!r} is not a whole number of steps of {step!r}")
    text = sentence(ph.PorthosError, lambda: ph.simulate(pendulum(), ph.Midpoint(), step, end), *words)
    other_step, other_end = map(float, re.search(r"Try step = (\S+) or end = (\S+)\.$", text).groups())
    assert count_steps(other_step, end, 1) >= 1  # what the message proposes must be right
    assert count_steps(step, other_end, 1) >= 1


@pytest.mark.parametrize("every", [3, 0, -1, 2.5])
def test_every_that_does_not_divide_the_steps(every):
    words = ("simulate: every must be a whole number that divides the 10 steps", f"found {every!r}")
    sentence(ph.PorthosError, lambda: ph.simulate(pendulum(), ph.Midpoint(), 0.1, 1.0, every=every), *words)


def test_scheme_must_be_an_instance():
    words = ("simulate: expected a scheme such as ph.Midpoint()", "found <class", "Did you mean ph.MidpointGGL()?")
    sentence(ph.PorthosError, lambda: ph.simulate(pendulum(), ph.MidpointGGL, 0.1, 1.0), *words)
    sentence(ph.PorthosError, lambda: ph.simulate(pendulum(), "Midpoint", 0.1, 1.0), words[0], "found 'Midpoint'")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("Gauss(2)", "Did you mean ph.Gauss(2)?"),
        ("Gaus", "Did you mean ph.Gauss()?"),
        ("midpointggl", "Did you mean ph.MidpointGGL()?"),
        ("Gaus(2)", "Did you mean ph.Gauss(2)?"),
        ("Composition(Midpoint, order=4)", "Did you mean ph.Composition(ph.Midpoint(), order=4)?"),
        ("SciPy('BDF')", "Did you mean ph.SciPy('BDF')?"),
        ("Gauss(stagse=2)", "has no option 'stagse'. Did you mean 'stages'?"),
        ("Gauss(2", "expected a name with options"),
        ("euler", "Known: 'Midpoint'"),
        ("", "Known: 'Midpoint'"),
    ],
)
def test_a_scheme_in_words_says_what_to_write(text, hint):
    words = ("simulate: expected a scheme such as ph.Midpoint()", f"found {text!r}", hint)
    sentence(ph.PorthosError, lambda: ph.simulate(pendulum(), text, 0.1, 1.0), *words)


@pytest.mark.parametrize("scheme", [ph.Midpoint, ph.MidpointGGL])
def test_options_of_schemes(scheme):
    name = scheme.__name__
    sentence(ph.PorthosError, lambda: scheme(tolerance=-1e-9), f"{name}: tolerance must be >= 0", "found -1e-09")
    sentence(ph.PorthosError, lambda: scheme(tolerance=NAN), f"{name}: tolerance must be >= 0", "found nan")
    sentence(ph.PorthosError, lambda: scheme(max_iterations=0), f"{name}: max_iterations must be >= 1", "found 0")


def given(**inputs):
    return lambda: ph.simulate(pendulum(), ph.Midpoint(), 0.1, 1.0, inputs=inputs)


def test_unknown_port_in_the_inputs():
    words = ("system 'pendulum' has no port 'moter'", "Did you mean 'motor'?", "Known: 'motor', 'hand'")
    sentence(ph.InputError, given(moter=1.0), *words)


@pytest.mark.parametrize(
    ("port", "value", "size", "shape"),
    [
        ("hand", 1.0, 3, "()"),
        ("hand", (1.0, 2.0), 3, "(2,)"),
        ("hand", np.zeros((9, 3)), 3, "(9, 3)"),
        ("motor", (1.0, 2.0), 1, "(2,)"),
        ("motor", np.zeros((10, 3)), 1, "(10, 3)"),
    ],
)
def test_shape_of_an_input(port, value, size, shape):
    words = (
        f"port '{port}': input: expected {size} number(s)",
        f"array of shape (10, {size})",
        f"found shape {shape}",
        "u(t)",
    )
    sentence(ph.InputError, given(**{port: value}), *words)


def test_input_that_is_not_finite():
    sentence(ph.InputError, given(hand=(0.0, NAN, 0.0)), "port 'hand'", "not finite")


def test_flat_body_has_no_ggl_form():
    model = ph.Model("plates", gravity=(0, 0, -9.81))
    model.body("brick", BOX)
    model.body("plate", ph.Box(1, (0.3, 0.2, 0.0)), position=(1, 0, 0))
    words = ("body 'plate' is flat", "Euler values", "Use ph.MidpointGGL()", "a small thickness")
    text = sentence(ph.ModelError, lambda: model.assemble().ggl, *words)
    assert "brick" not in text
    for scheme in (ph.Midpoint(), ph.MidpointGGL()):
        assert ph.simulate(model, scheme, 0.01, 0.1).status is ph.Status.OK


def test_rod_without_thickness_has_no_inertia_for_ggl():
    model = ph.Model("rods")
    model.body("brick", BOX)
    model.body("needle", ph.Rod(1.0, 0.5), position=(1, 0, 0))
    words = ("body 'needle' is a rod without thickness", "Use ph.Midpoint()", "ph.Cylinder")
    sentence(ph.ModelError, lambda: ph.simulate(model, ph.MidpointGGL(), 0.01, 0.1), *words)
    sentence(ph.ModelError, lambda: ph.simulate(model, ph.Composition(), 0.01, 0.1), *words)


def test_compositions_that_make_no_sense():
    sentence(ph.PorthosError, lambda: ph.Composition(order=5), "Composition: order must be one of [4, 6, 8], found 5")
    sentence(ph.PorthosError, lambda: ph.Composition(ph.Midpoint(), 6), "order 4 at most", "Use ph.MidpointGGL()")
    sentence(ph.PorthosError, lambda: ph.Composition("MidpointGGL"), "base must be a scheme", "found 'MidpointGGL'")
    sentence(ph.PorthosError, lambda: ph.Composition(ph.Composition()), "base must be a scheme")


# --- failures on the way


def wheel(torque):
    """A free sphere, J = 0.1, with a torque about z."""
    model = ph.Model("wheel")
    model.load("motor", model.body("wheel", ph.Sphere(1.0, 0.5)), torque=torque)
    return model


def failure(model, scheme, step, end, status, **options):
    """The partial trajectory of a run that fails, by both ways to fail, which must agree."""
    with pytest.raises(ph.SimulationError) as caught:
        ph.simulate(model, scheme, step, end, **options)
    run = caught.value.trajectory
    returned = ph.simulate(model, scheme, step, end, on_failure="return", **options)
    assert caught.value.status is run.status is returned.status is status
    assert run.message == returned.message
    assert np.array_equal(run.q, returned.q)
    assert np.array_equal(run.v, returned.v)
    assert f"'{model.name}' stopped at t = {run.t[-1]:.6g} of {end:.6g}" in str(caught.value)
    assert run.message in str(caught.value)
    assert "`trajectory`" in str(caught.value)
    assert status.name in repr(run)
    for values in (run.t, run.q, run.v, run.energy, run.power_balance, run.position_error, run.iterations):
        assert len(values) == run.t.size > 2
        assert np.all(np.isfinite(values))
    assert 0.0 < run.t[-1] < end
    return run


def test_newton_fails_where_the_step_has_no_solution():
    """For a rotation about a fixed axis the midpoint rule is a quadratic equation for a = tan(angle/2):

    mu a^2 - (4 + 2 B) a + (mu + 2 A) = 0,  mu = h^2 tau/J,  A = h (d x v).n,  B = h d.v  at the begin of the step.
    A torque that grows makes its discriminant negative in the end: then no solver can find a solution.
    """
    h, J = 0.1, 0.1
    run = failure(wheel(lambda t: (0, 0, 4 * t**4)), ph.Midpoint(), h, 4.0, ph.Status.NEWTON_STALLED)
    mu = h * h * 4 * (run.t + h / 2) ** 4 / J
    d, v = run.q[:, 3:6], run.v[:, 3:6]
    A, B = h * np.cross(d, v)[:, 2], h * np.einsum("tk,tk->t", d, v)
    solvable = mu * (mu + 2 * A) < (2 + B) ** 2
    assert np.all(solvable[:-1])
    assert not solvable[-1]
    assert "Halve the step" in run.message
    assert "It happened in the step from t = 1.3 to 1.4." in run.message
    assert np.abs(run.power_balance).max() < 1e-13 * run.energy.max()


def test_step_in_which_a_body_turns_too_far():
    """A constant torque spins the wheel up; |a| = tan(angle/2) of a step must stay below 2, a turn of 127 degrees."""
    run = failure(wheel((0, 0, 3.0)), ph.Midpoint(), 0.1, 4.0, ph.Status.STEP_TOO_LARGE)
    R = run["wheel"].rotation
    cosine = (np.einsum("tij,tij->t", R[1:], R[:-1]) - 1) / 2
    a = np.sqrt((1 - cosine) / (1 + cosine))
    assert np.all(np.diff(a) > 0.0)
    assert a[-1] < 2.0 < a[-1] + 1.01 * (a[-1] - a[-2])
    assert np.degrees(2 * np.arctan(2.0)) == pytest.approx(126.87, abs=0.01)
    assert "127 degrees" in run.message


@pytest.mark.parametrize(
    "scheme", [ph.Midpoint(max_iterations=20), ph.MidpointGGL(max_iterations=20)], ids=["midpoint", "ggl"]
)
def test_newton_fails_in_a_mechanism(scheme):
    """A double pendulum that a growing force whirls around with a step far too large for it."""
    model = ph.Model("whirl", gravity=(0, 0, -9.81))
    model.body("upper", ph.Box(1, (1, 0.1, 0.1)), position=(0.5, 0, 0))
    model.body("lower", ph.Box(1, (1, 0.1, 0.1)), position=(1.5, 0, 0))
    model.spherical("A", model.ground, "upper", at=(0, 0, 0))
    model.spherical("B", "upper", "lower", at=(1, 0, 0))
    model.load("push", "lower", force=lambda t: (0, 100 * t, 0), at=(2, 0, 0))
    run = failure(model, scheme, 0.1, 10.0, ph.Status.NEWTON_STALLED)
    assert run.position_error.max() < 1e-12
    assert np.abs(run.power_balance).max() < 1e-10 * np.abs(run.energy).max()
    fine = ph.simulate(model, scheme, 0.005, round(run.t[-1], 6))  # the way out that the message names
    assert fine.status is ph.Status.OK


def test_failure_between_two_recorded_states():
    """The last good state is kept even if it was not due."""
    model = wheel(lambda t: (0, 0, 4 * t**4))
    run = failure(model, ph.Midpoint(), 0.1, 4.0, ph.Status.NEWTON_STALLED, every=5)
    every = ph.simulate(model, ph.Midpoint(), 0.1, 4.0, on_failure="return")
    assert np.allclose(run.t, [0.0, 0.5, 1.0, 1.3], rtol=0, atol=1e-14)
    kept = [0, 5, 10, 13]
    assert np.array_equal(run.q, every.q[kept])
    assert np.array_equal(run.v, every.v[kept])
    assert np.abs(run.port("motor").work - every.port("motor").work[kept]).max() < 1e-14
    assert np.array_equal(np.cumsum(run.iterations), np.cumsum(every.iterations)[kept])


def bad_after(t_bad, value=NAN):
    return lambda t: (0.0, 0.0, value if t > t_bad else 1.0)


def test_load_that_is_not_a_number_on_the_way():
    model = ph.Model("blown")
    model.load("fan", model.body("box", BOX), force=bad_after(1.2))
    run = failure(model, ph.Midpoint(), 0.001, 2.0, ph.Status.BAD_INPUT)
    assert "'fan' at t = 1.2005: its function returned [0.0, 0.0, nan]" in run.message
    assert run.t[-1] == pytest.approx(1.2, abs=1e-12)
    assert np.abs(run["box"].velocity[:, 2] - run.t).max() < 1e-13  # m = 1, F = 1: all that is there is right


def test_all_steps_before_a_bad_load_are_kept():
    model = ph.Model("blown")
    model.load("fan", model.body("box", BOX), force=bad_after(0.5))
    run = ph.simulate(model, ph.Midpoint(), 0.01, 1.0, on_failure="return")
    assert run.t[-1] == pytest.approx(0.5, abs=1e-12)


def test_controller_that_is_not_a_number_on_the_way():
    def controller(t, y):
        return NAN if t > 0.5 else -y

    model = pendulum(velocity=(0, 0, -1), angular_velocity=(0, 1, 0))
    run = failure(model, ph.MidpointGGL(), 0.01, 1.0, ph.Status.BAD_INPUT, inputs={"motor": controller})
    assert "'motor' at t = 0.505: its function returned [nan]" in run.message
    assert run.t[-1] == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize(
    ("value", "found"),
    [((1.0, 2.0), "found 2: [1.0, 2.0]"), ("strong", "failed with ValueError"), (None, "found 1: [nan]")],
)
def test_function_that_returns_something_else(value, found):
    inputs = {"hand": lambda t: value if t > 0.5 else (0.0, 0.0, 0.0)}
    run = ph.simulate(pendulum(), ph.Midpoint(), 0.1, 1.0, inputs=inputs, on_failure="return")
    assert run.status is ph.Status.BAD_INPUT
    assert "'hand' at t = 0.55: " in run.message
    assert found in run.message
    assert run.t[-1] == pytest.approx(0.5)


def test_function_that_raises_keeps_the_run_so_far():
    def broken(t):
        return (1.0, 0.0, 0.0) if t < 0.5 else {}["force"]

    model = ph.Model("broken")
    model.load("fan", model.body("box", BOX), force=broken)
    run = failure(model, ph.Midpoint(), 0.01, 1.0, ph.Status.BAD_INPUT)
    assert "'fan' at t = 0.505: its function failed with KeyError: 'force'" in run.message
    assert run.t[-1] == pytest.approx(0.5, abs=1e-12)


# --- names in results


def test_names_in_a_trajectory():
    run = ph.simulate(pendulum(), ph.Midpoint(), 0.1, 0.1)
    no_body = ("system 'pendulum' has no body 'boxx'", "Did you mean 'box'?", "Known: 'box'")
    sentence(ph.PorthosError, lambda: run["boxx"], *no_body)
    no_joint = ("system 'pendulum' has no joint 'hing'", "Did you mean 'hinge'?", "Known: 'hinge'")
    sentence(ph.PorthosError, lambda: run.joint("hing"), *no_joint)
    no_port = ("'pendulum' has no load, port or drive 'mtor'", "Did you mean 'motor'?", "Known: 'motor', 'hand'")
    sentence(ph.PorthosError, lambda: run.port("mtor"), *no_port)


@pytest.mark.parametrize("length", [1e-6, 1.0, 1e3])
def test_inconsistency_is_judged_by_the_size_of_the_mechanism(length):
    """A gap of a thousandth of the pendulum is refused, or closed by projection, whatever the pendulum's size."""

    def pendulum_with_gap() -> ph.Model:
        model = ph.Model("scaled")
        model.body("bob", ph.Box(1, length * np.array([0.1, 0.2, 0.3])), position=(length, 0, 0))
        model.spherical("J", model.ground, "bob", at=(0, 0, 0), at_b=(1e-3 * length, 0, 0))
        return model

    with pytest.raises(ph.InconsistentStateError, match="joint 'J': the initial positions violate it"):
        pendulum_with_gap().assemble(initial="refuse")
    system = pendulum_with_gap().assemble()
    q = system.split(system.initial_state())[0]
    assert np.abs(system.g(q)).max() < 1e-14 * max(length, 1e-2)
    assert system.adjustments[0].position == pytest.approx(1e-3 * length, rel=1e-9)


def test_what_new_users_try_is_answered_with_what_they_meant(tmp_path):
    """The mistakes of docs/first_use.md."""
    with pytest.raises(ph.PorthosError, match=r"gravity: expected 3 numbers such as \(0, 0, -9\.81\)"):
        ph.Model("m", gravity=9.81)
    for given in ("MidpointGGL", ph.MidpointGGL):
        with pytest.raises(ph.PorthosError, match=r"Did you mean ph\.MidpointGGL\(\)\?"):
            ph.simulate(ph.Model("m"), given, step=0.01, end=1)
    with pytest.raises(ph.PorthosError, match=r"found 'Newmark'\. Known: 'Midpoint', 'MidpointGGL'"):
        ph.simulate(ph.Model("m"), "Newmark", step=0.01, end=1)
    model = tmp_path / "swing.yaml"
    model.write_text("name: swing")
    with pytest.raises(ph.ResultError, match=r"found a model file\. Run it first: porthos run .*swing\.nc --report"):
        ph.load(model)
