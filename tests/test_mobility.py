"""Degrees of freedom from the model alone, held against the assembled system and against textbooks."""

from __future__ import annotations

import subprocess
import sys
from time import process_time

import mechanisms
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import porthos as ph
from gallery import four_bars
from porthos.system.mobility import Jacobian, Mobility, mobility


def rank_of_system(model):
    """The rank of G of the assembled pH-DAE at the placement as given, rigidity rows included."""
    system = model.assemble()
    G = system.G(system.split(system.initial_state())[0]).toarray()
    return int(np.linalg.matrix_rank(G / np.linalg.norm(G, axis=1, keepdims=True), tol=1e-9))


@settings(max_examples=15)
@given(st.one_of(mechanisms.trees(), mechanisms.loops()))
def test_rank_is_that_of_the_system(model):
    found = mobility(model)
    assert found.rank == rank_of_system(model) - 6 * found.bodies
    system = model.assemble()
    assert found.coordinates - found.rows == system.n - system.m
    assert found.redundant == found.rows - found.rank


@settings(max_examples=15)
@given(mechanisms.trees(grounded=True))
def test_violations_are_those_of_the_system(model):
    """Joints whose initial values are refused by assembly are those that are found to be off."""
    found = [violation.joint for violation in mobility(model).violations]
    try:
        model.assemble("refuse")
    except ph.InconsistentStateError as error:
        assert found
        assert all(f"joint '{name}'" in str(error) for name in found)
    else:
        assert not found


def four_bar(kinds, turn=0.0):
    """A plane four-bar linkage with hinges: three bars and the ground."""
    points = np.array([[0.0, 0, 0], [0, 0, 1], [2, 0, 1.5], [2, 0, 0]])
    rotate = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
    points, axis = points @ rotate.T, rotate @ (0.0, 1.0, 0.0)
    model = ph.Model("four-bar")
    for k in range(3):
        model.body(f"bar {k}", ph.Sphere(1, 0.1), position=(points[k] + points[k + 1]) / 2)
    names = ["ground", "bar 0", "bar 1", "bar 2", "ground"]
    for k, kind in enumerate(kinds):
        geometry = {"axis": axis} if kind != "spherical" else {}
        getattr(model, kind)(f"joint {k}", names[k], names[k + 1], at=points[k], **geometry)
    return model


@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_four_bar_of_hinges_is_overconstrained(turn):
    """Gruebler counts 18 - 20 = -2, but it moves: three rows repeat others."""
    found = mobility(four_bar(["revolute"] * 4, turn))
    assert (found.counted, found.freedom, found.redundant, found.rank) == (-2, 1, 3, 17)
    assert set(found.redundant_joints) == {f"joint {k}" for k in range(4)}


def test_four_bar_with_fitting_joints_is_not():
    found = mobility(four_bar(["revolute", "spherical", "cylindrical", "revolute"]))
    assert (found.counted, found.freedom, found.redundant, found.redundant_joints) == (1, 1, 0, ())


def test_velocities_off_a_joint_are_measured():
    model = ph.Model("m")
    model.body("b", ph.Sphere(1, 0.1), position=(2, 0, 0), velocity=(0, 0, 3), angular_velocity=(0, -1, 0))
    model.revolute("hinge", "ground", "b", at=(0, 0, 0), axis=(0, 1, 0))
    (violation,) = mobility(model).violations
    assert (violation.joint, violation.position) == ("hinge", 0.0)
    assert violation.velocity == pytest.approx(1.0)  # v_z = -omega_y x = 2 would fit


def test_a_gap_is_measured():
    model = ph.Model("m")
    model.body("b", ph.Sphere(1, 0.1), position=(1, 0, 0))
    model.spherical("pivot", "ground", "b", at=(0, 0, 0), at_b=(0.001, 0, 0))
    (violation,) = mobility(model).violations
    assert (violation.position, violation.velocity) == (pytest.approx(1e-3), 0.0)


def test_free_bodies_and_empty_models():
    model = ph.Model("m")
    with pytest.raises(ph.ModelError, match="there is no body"):
        mobility(model)
    model.body("b", ph.Sphere(1, 0.1))
    model.point_mass("p", 1.0)
    assert mobility(model) == Mobility(1, 1, 0, 0, 0, (), ())
    assert mobility(model).freedom == 9


def test_each_loop_of_a_row_is_named_by_its_own_joints():
    found = mobility(four_bars.model(4))
    assert (found.rows, found.rank, found.freedom) == (65, 53, 1)
    assert [str(one) for one in found.repeats] == [
        f"revolute 'right {k}': 1 translation row and 2 rotation rows repeat what foot {k - 1}, foot {k}, left {k} fix "
        "already"
        for k in range(1, 5)
    ]
    assert len(found.redundant_joints) == found.joints


@settings(max_examples=15)
@given(mechanisms.loops())
def test_rows_are_counted_where_they_add_nothing_to_the_rank(model):
    """Against dense ranks of the joints so far."""
    jacobian = Jacobian(model, None)
    names = list(jacobian.position)
    repeated = dict.fromkeys((joint.name for joint in model.joints), 0)
    repeated |= {one.joint: one.translations + one.rotations for one in mobility(model).repeats}
    rows, before = np.zeros((0, 6 * len(names))), 0
    for joint, sides in zip(model.joints, jacobian.sides, strict=True):
        new = np.hstack([sides.get(name, np.zeros((len(sides[joint.a]), 6))) for name in names])
        rows = np.vstack([rows, new / np.linalg.norm(new, axis=1, keepdims=True)])
        rank = int(np.linalg.matrix_rank(rows, tol=1e-9))
        assert len(new) - (rank - before) == repeated[joint.name]
        before = rank


def test_of_several_hinges_one_is_named():
    """Each further hinge of a door repeats what the first one fixes, whatever the others do."""
    model = ph.Model("door")
    model.body("door", ph.Sphere(1, 0.1), position=(1, 0, 0))
    for k in range(3):
        model.revolute(f"hinge {k}", "ground", "door", at=(0, 0, k), axis=(0, 0, 1))
    second, third = mobility(model).repeats
    assert (second.others, third.others) == (("hinge 0",), ("hinge 0",))


def test_long_rows_of_loops_cost_as_much_a_loop_as_short_ones():
    """No limit of size: 30 and 60 four-bars; dense matrices took eight times as long for the double."""
    models, times = [four_bars.model(count) for count in (30, 60)], []
    for model in models:
        trials = []
        for _ in range(3):
            begin = process_time()
            found = mobility(model)
            trials.append(process_time() - begin)
        times.append(min(trials))
        assert (found.freedom, found.redundant) == (1, 3 * len(found.repeats))
    assert len(found.repeats) == 60
    assert times[1] < 4 * times[0]


def test_a_tree_at_a_loop_does_not_hide_what_repeats():
    """Two hinges of a door repeat each other; what hangs on the door does not."""
    model = ph.Model("door")
    model.body("door", ph.Sphere(1, 0.1), position=(1, 0, 0))
    for k, z in enumerate((0.0, 1.0)):
        model.revolute(f"hinge {k}", "ground", "door", at=(0, 0, z), axis=(0, 0, 1))
    model.body("handle", ph.Sphere(1, 0.1), position=(2, 0, 0))
    model.revolute("pin", "door", "handle", at=(1.9, 0, 0), axis=(0, 1, 0))
    found = mobility(model)
    assert (found.freedom, found.counted, found.redundant) == (2, -3, 5)
    assert found.redundant_joints == ("hinge 0", "hinge 1")


def test_no_compiler_is_needed():
    code = """
import sys
import porthos as ph
from porthos.system.mobility import mobility
model = ph.Model("m")
model.body("b", ph.Sphere(1, 0.1), position=(1, 0, 0))
model.spherical("pivot", "ground", "b", at=(0, 0, 0))
assert mobility(model).freedom == 3
assert "numba" not in sys.modules and "scipy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_diagram_shows_parts_loops_and_freedom():
    model = four_bar(["revolute"] * 4)
    model.point_mass("bob", 1.0, position=(5, 0, 0))
    model.point_mass("free", 1.0, position=(6, 0, 0))
    model.distance("string", "bar 1", "bob", point_a=(0, 0, 0), point_b=(5, 0, 0))
    model.spring("strut", "ground", "bob", point_a=(0, 0, 9), point_b=(5, 0, 0), stiffness=1.0)
    model.port("push", "bob", kind="force")
    found = model.diagram()
    assert found.loops == (("joint 1", "joint 0", "joint 3", "joint 2"),)
    text = str(found)
    for line in (
        "four-bar: 5 bodies, 5 joints, 1 loop, 1 force element",
        "  pH-DAE            E x' = (J - R) z + B u, x = (q, v, lambda): 42 + 42 + 39 states, 3 inputs",
        "  Gruebler's count  24 - 21 = 3",
        "  rank of rows      18, so 6 degrees of freedom",
        "  └─ joint 0 (revolute, 5 rows) ── bar 0",
        "     └─ joint 1 (revolute, 5 rows) ── bar 1",
        "        ├─ joint 2 (revolute, 5 rows) ── bar 2",
        "        │  └─ joint 3 (revolute, 5 rows) ── ground  (closes a loop)",
        "        └─ string (distance, 1 row) ── bob",
        "  free (point mass)",
        "  ground ~~ strut (spring) ~~ bob",
    ):
        assert line in text.splitlines(), text
    assert text.count("bar 0") == 1
    assert '  p0 -.-|"strut (spring)"| p4' in found.mermaid and found.mermaid in found._repr_markdown_()
    assert '"bar 1" -- "bob" [label="string (distance, 1 row)", style=solid];' in found.dot
    assert found.dot.count(" -- ") == found.mermaid.count("|") // 2 == 6


def test_a_diagram_shows_what_drives_move():
    model = ph.Model("hoist")
    model.body("drum", ph.Cylinder(1.0, 0.2, 0.3, axis="y"), angular_velocity=(0, 0.5, 0))
    model.point_mass("load", 1.0, position=(0, 0, -2))
    model.revolute("axle", "ground", "drum", at=(0, 0, 0), axis=(0, 1, 0))
    model.turn_drive("motor", "ground", "drum", at=(0, 0, 0), axis=(0, 1, 0), angle=ph.Expression("0.5*t + t**2"))
    alone = model.diagram().mobility
    assert (alone.freedom, alone.driven) == (3, "motor takes one degree of freedom")
    assert alone.violations == ()  # the drum turns as the motor begins
    model.length_drive("rope", "drum", "load", (0, 0, 0), (0, 0, -2), length=2.0)
    found = model.diagram()
    assert found.loops == () and found.mobility.freedom == 2
    for line in (
        "hoist: 2 bodies, 3 joints",
        "  drives            motor and rope take one degree of freedom each",
        "  └─ axle (revolute, 5 rows) ── drum",
        "     ├─ motor (turn drive, 1 row) ── ground  (moves axle)",
        "     └─ rope (length drive, 1 row) ── load",
    ):
        assert line in str(found).splitlines(), str(found)


def test_drives_that_begin_at_another_rate_are_reported():
    model = ph.Model("table")
    model.body("slide", ph.Box(1.0, (0.2, 0.2, 0.1)), velocity=(1.0, 0, 0))
    model.prismatic("guide", "ground", "slide", at=(0, 0, 0), axis=(1, 0, 0))
    model.slide_drive("screw", "ground", "slide", at=(0, 0, 0), axis=(1, 0, 0), displacement=ph.Expression("0.4*t"))
    (violation,) = mobility(model).violations
    assert violation.joint == "screw" and violation.velocity == pytest.approx(0.6, abs=1e-15)


@pytest.mark.parametrize("extra", [0, 1, 2, 3])
def test_loops_are_counted_as_in_graphs(extra):
    """Independent loops of a connected graph: joints - parts + 1."""
    model = ph.Model("net")
    for k in range(4):
        model.body(f"b{k}", ph.Sphere(1, 0.1), position=(k, 0, 0))
        model.spherical(f"chain {k}", f"b{k - 1}" if k else "ground", f"b{k}", at=(k - 0.5, 0, 0))
    for k, (a, b) in enumerate([("ground", "b3"), ("b0", "b2"), ("b1", "b3")][:extra]):
        model.distance(f"extra {k}", a, b, point_a=(0, 1, 0), point_b=(3, 1, k))
    loops = model.diagram().loops
    assert len(loops) == extra
    assert all(loop[-1].startswith(("extra", "chain")) for loop in loops)
