"""Bodies without mass or moments of inertia: as the mechanism without them, as limit of small masses, or refused."""

import numpy as np
import pytest
from catalogue import MIDPOINTS, by_name
from hypothesis import given, settings
from mechanisms import loops

import porthos as ph

NO_TENSOR = np.zeros((3, 3))
B, C = np.array([0.0, 0.0, 1.0]), np.array([2.0, 0.0, 1.5])  # ends of the coupler
schemes = pytest.mark.parametrize("scheme", MIDPOINTS, ids=by_name)


def two_arms():
    """Crank and rocker; the crank turns, the rocker is at rest, which the coupler to come does not allow."""
    model = ph.Model("four-bar", gravity=(0, 0, -9.81))
    model.body("crank", ph.Box(1.0, (0.05, 0.05, 1.0)), (0, 0, 0.5), velocity=(1, 0, 0), angular_velocity=(0, 2, 0))
    model.body("rocker", ph.Box(2.0, (0.05, 0.05, 1.5)), (2, 0, 0.75))
    model.revolute("A", "ground", "crank", at=(0, 0, 0), axis=(0, 1, 0))
    model.revolute("D", "ground", "rocker", at=(2, 0, 0), axis=(0, 1, 0))
    return model


def four_bar(mass):
    """With a coupler of this mass, which cannot spin about itself."""
    model = two_arms()
    along = C - B
    turned = ((0, 1, 0), -np.arctan2(along[2], along[0]))
    model.body("rod", ph.Cylinder(mass, 0.02, np.linalg.norm(along), "x"), (B + C) / 2, turned)
    model.universal("B", "crank", "rod", at=B, axis_a=(0, 1, 0), axis_b=np.cross(along, (0, 1, 0)))
    model.spherical("C", "rod", "rocker", at=C)
    return model


@schemes
def test_coupler_without_mass_is_a_distance(scheme):
    model = two_arms()
    model.distance("BC", "crank", "rocker", point_a=B, point_b=C)
    expected, run = (ph.simulate(m, scheme, 0.005, 1.0) for m in (model, four_bar(0.0)))
    for part in ("crank", "rocker"):
        np.testing.assert_allclose(run[part].velocity[0], expected[part].velocity[0], atol=1e-13)
        np.testing.assert_allclose(run[part].position, expected[part].position, atol=1e-11)
        np.testing.assert_allclose(run[part].velocity, expected[part].velocity, atol=1e-10)
    np.testing.assert_allclose(run.energy, expected.energy[0], rtol=1e-12)
    np.testing.assert_allclose(run.joint("C").force, expected.joint("BC").force, atol=1e-7)
    axis = np.cross(run["rod"].position - run["crank"].position, (0, 1, 0))  # not constant, so the rod did turn
    assert np.ptp(axis[:, 0]) > 0.1
    assert run.position_error.max() < 1e-12


@schemes
def test_distance_to_the_limit_is_proportional_to_the_mass(scheme):
    """Also for masses that are lost beside others in the matrix."""
    limit = ph.simulate(four_bar(0.0), scheme, 0.01, 0.5)["rocker"].position
    away = [
        np.abs(ph.simulate(four_bar(m), scheme, 0.01, 0.5)["rocker"].position - limit).max() / m
        for m in (1e-4, 1e-6, 1e-8)
    ]
    assert away[0] > 0.01
    np.testing.assert_allclose(away, away[0], rtol=1e-2)


@schemes
@pytest.mark.parametrize("mass", [1e-9, 1e-10, 1e-12, 1e-14, 1e-20])
def test_joints_of_a_body_far_too_light_stay_closed(scheme, mass):
    """Its compliance is so large that pivots of its joints look like those of rows that repeat others."""
    limit, run = (ph.simulate(four_bar(m), scheme, 0.01, 0.5) for m in (0.0, mass))
    assert np.abs(run["rocker"].position - limit["rocker"].position).max() < mass + 1e-11
    assert run.position_error.max() < 1e-12
    assert np.ptp(run.energy) < 1e-12


@schemes
@settings(max_examples=4 * settings.default.max_examples)
@given(model=loops(lightest=16))
def test_random_loops_with_a_light_body_stay_closed_or_say_that_they_stop(scheme, model):
    try:
        run = ph.simulate(model, scheme, 2e-3, 0.04)
    except ph.SimulationError:
        assert min(body.mass for body in model.bodies) < 0.01  # then it may whirl as fast as it likes
        return
    assert run.position_error.max() < 1e-11 * max(1.0, run.system.length)
    assert np.ptp(run.energy) < 1e-10 * run.kinetic_energy.max()


@schemes
def test_cross_of_a_cardan_joint_without_mass(scheme):
    """Two hinges with a cross without mass and moments between them are one universal joint."""

    def shafts():
        model = ph.Model("shafts", gravity=(0, 0, -9.81))
        model.body("in", ph.Cylinder(1.0, 0.1, 0.6, "x"), (0.3, 0, 0), angular_velocity=(5, 0, 0))
        model.body("out", ph.Cylinder(1.5, 0.1, 0.8, "x"), (1.0, 0, 0), angular_velocity=(5, 0, 0))
        model.revolute("bearing", "ground", "in", at=(0, 0, 0), axis=(1, 0, 0))
        return model

    joined, crossed = shafts(), shafts()
    joined.universal("cardan", "in", "out", at=(0.6, 0, 0), axis_a=(0, 1, 0), axis_b=(0, 0, 1))
    crossed.body("cross", ph.Inertia(0.0, NO_TENSOR), (0.6, 0, 0))
    crossed.revolute("first", "in", "cross", at=(0.6, 0, 0), axis=(0, 1, 0))
    crossed.revolute("second", "cross", "out", at=(0.6, 0, 0), axis=(0, 0, 1))
    expected, run = (ph.simulate(model, scheme, 0.005, 0.5) for model in (joined, crossed))
    np.testing.assert_allclose(run["out"].rotation, expected["out"].rotation, atol=1e-10)
    np.testing.assert_allclose(run["out"].angular_velocity, expected["out"].angular_velocity, atol=1e-9)
    np.testing.assert_allclose(run.joint("second").force, expected.joint("cardan").force, atol=1e-7)
    assert np.ptp(run.energy) < 1e-11


@schemes
def test_body_without_moments_is_a_point(scheme):
    """On a hinge it is a mathematical pendulum, with a bead without mass at its end that holds another one."""

    def plain(model):
        model.point_mass("bob", 1.0, position=(1, 0, 0))
        model.distance("first", "ground", "bob", point_a=(0, 0, 0), point_b=(1, 0, 0))
        model.distance("rope", "bob", "second", point_a=(1, 0, 0), point_b=(2, 0, 0))

    def hinged(model):
        model.body("bob", ph.Inertia(1.0, NO_TENSOR), position=(1, 0, 0))
        model.point_mass("bead", 0.0, position=(1, 0, 0))
        model.revolute("first", "ground", "bob", at=(0, 0, 0), axis=(0, 1, 0))
        model.spherical("held", "bob", "bead", at=(1, 0, 0))
        model.distance("rope", "bead", "second", point_a=(1, 0, 0), point_b=(2, 0, 0))

    def run(bob):
        model = ph.Model("pendulum", gravity=(0, 0, -9.81))
        model.point_mass("second", 0.5, position=(2, 0, 0))
        bob(model)
        return ph.simulate(model, scheme, 0.005, 0.5)

    expected, found = run(plain), run(hinged)
    for part in ("bob", "second"):
        np.testing.assert_allclose(found[part].position, expected[part].position, atol=1e-11)
    np.testing.assert_allclose(found.joint("rope").force, expected.joint("rope").force, atol=1e-7)


def test_files_and_other_schemes(tmp_path):
    """Files keep bodies without mass; stiffly accurate methods and methods on accelerations step them too."""
    four_bar(0.0).save(tmp_path / "four_bar.yaml")
    model = ph.load_model(tmp_path / "four_bar.yaml")
    expected = ph.simulate(model, ph.MidpointGGL(), 1e-3, 0.1, out=tmp_path / "run.nc")
    np.testing.assert_array_equal(ph.load(tmp_path / "run.nc").q, expected.q)
    for scheme in (ph.RadauIIA(3), ph.MDOP5()):
        q = ph.simulate(model, scheme, 0.01, 0.1)["rocker"].position[-1]
        np.testing.assert_allclose(q, expected["rocker"].position[-1], atol=1e-6)
    with pytest.raises(ph.ModelError, match=r"'rod' has no mass, so the mass matrix has no inverse, which the form"):
        _ = model.assemble().ggl


# --- refused by name


def refused(model, *words):
    """By the assembly, and by the check of a file."""
    from porthos.system.mobility import mobility

    for ask in (model.assemble, lambda: mobility(model)):
        with pytest.raises(ph.ModelError) as caught:
            ask()
        for word in (*words, "[M G^T; G 0] is singular", "small mass"):
            assert word in str(caught.value)


def test_point_between_springs_is_refused():
    """Springs in series determine its place, but [M G^T; G 0] does not know of them."""
    model = ph.Model("springs")
    model.point_mass("middle", 0.0, position=(1, 0, 0))
    model.point_mass("end", 1.0, position=(2, 0, 0))
    model.spring("one", "ground", "middle", point_a=(0, 0, 0), point_b=(1, 0, 0), stiffness=10.0)
    model.spring("two", "middle", "end", point_a=(1, 0, 0), point_b=(2, 0, 0), stiffness=20.0)
    refused(model, "point mass 'middle' has no mass", "moving along", "springs, dampers and loads do not count")


def test_rod_without_mass_between_ball_joints_is_refused():
    model = two_arms()
    model.body("rod", ph.Rod(0.0, 2.0, axis="x"), (B + C) / 2)
    model.spherical("B", "crank", "rod", at=B)
    model.spherical("C", "rod", "rocker", at=C)
    along = (C - B) / np.linalg.norm(C - B)
    refused(model, "'rod' has no moments of inertia", f"turning about ({along[0]:.3g}, 0, {along[2]:.3g})", "distance")


def test_chain_without_mass_is_refused_with_all_its_bodies():
    """Two links between two arms can fold; each of them alone would be held."""
    model = ph.Model("folding")
    model.body("heavy", ph.Sphere(1.0, 0.1), (0, 0, 0))
    for name, x in (("left", 0.5), ("right", 1.5)):
        model.body(name, ph.Rod(0.0, 1.0, axis="x"), (x, 0, 0))
    model.revolute("a", "heavy", "left", at=(0, 0, 0), axis=(0, 1, 0))
    model.revolute("b", "left", "right", at=(1, 0, 0), axis=(0, 1, 0))
    model.revolute("c", "right", "ground", at=(2, 0, 0), axis=(0, 1, 0))
    refused(model, "'left' has no", "'right' has no")


def test_negative_mass_is_refused():
    for make in (lambda: ph.Box(-1.0, (1, 1, 1)), lambda: ph.Model("m").point_mass("p", -1e-9)):
        with pytest.raises(ph.ModelError, match="mass: expected a positive number"):
            make()


def test_light_bodies_that_no_joint_holds_keep_their_own_inertia():
    """A small box tumbles beside a heavy body as it does alone."""

    def box(model: ph.Model) -> ph.Trajectory:
        model.body("box", ph.Box(1e-3, (0.01, 0.02, 0.03)), position=(3, 0, 0), angular_velocity=(1.0, 5.0, 0.3))
        return ph.simulate(model, ph.Midpoint(), step=0.01, end=0.5)

    both = ph.Model("both")
    both.body("block", ph.Box(1e4, (1, 1, 1)))
    together, alone = box(both), box(ph.Model("alone"))
    np.testing.assert_allclose(together["box"].rotation, alone["box"].rotation, atol=1e-11)
    assert together.iterations[5:].mean() < 4.0
