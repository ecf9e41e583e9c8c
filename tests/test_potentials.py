"""Potentials by expressions: against gravity, attraction and SciPy; energy is kept to round-off."""

import numpy as np
import pytest
from catalogue import MIDPOINTS, by_name
from scipy.integrate import solve_ivp

import porthos as ph
from porthos.model.potentials import force_table
from porthos.show.report import page

schemes = pytest.mark.parametrize("scheme", MIDPOINTS, ids=by_name)


def moon(pull):
    model = ph.Model("moon")
    model.point_mass("moon", 1.0, position=(1, 0, 0), velocity=(0, 1.2, 0))
    pull(model, "ground", "moon", (0, 0, 0), (1, 0, 0))
    return model


@schemes
def test_attraction_as_a_potential(scheme):
    """V = -1/s is the attraction of strength 1."""
    expected = ph.simulate(moon(lambda m, *ends: m.attraction("pull", *ends, strength=1.0)), scheme, 0.01, 10.0)
    run = ph.simulate(moon(lambda m, *ends: m.potential("pull", *ends, "-1/s", (0.9, 3.0))), scheme, 0.01, 10.0)
    np.testing.assert_allclose(run["moon"].position, expected["moon"].position, atol=3e-6)
    assert np.ptp(run.energy) < 1e-11
    pull = run.element("pull")
    np.testing.assert_allclose(pull.energy, 1 / 0.9 - 1 / pull.measure, atol=1e-7)
    np.testing.assert_allclose(pull.force, 1 / pull.measure**2, atol=2e-7)


@schemes
def test_gravity_as_a_potential_of_the_angle(scheme):
    """A pendulum that swings by V = -m g l cos s in its hinge."""

    def pendulum(g):
        model = ph.Model("pendulum", gravity=(0, 0, -g))
        model.body("bar", ph.Box(1.5, (0.1, 0.1, 0.6)), position=(0, 0, -0.3), angular_velocity=(0, 4, 0))
        model.revolute("hinge", "ground", "bar", (0, 0, 0), (0, 1, 0))
        return model

    held = pendulum(0.0)
    held.joint_potential("weight", "hinge", f"-{1.5 * 9.81 * 0.3}*cos(s)")
    expected, run = (ph.simulate(model, scheme, 0.002, 2.0) for model in (pendulum(9.81), held))
    # the weight is taken at the midpoint, the potential by its mean: both of order 2
    np.testing.assert_allclose(run["bar"].position, expected["bar"].position, atol=2e-5)
    assert np.ptp(run.energy) < 1e-11


@schemes
def test_field_of_a_point(scheme):
    """m g z is gravity to round-off; a bead in x**2 + 3 cos(2 y) - 2 z moves as SciPy says."""

    def bead(*gravity):
        model = ph.Model("bead", gravity=(0, 0, *gravity))
        model.point_mass("bead", 2.0, position=(0.3, 0.2, 1.0), velocity=(0, 1, 0))
        return model

    weighed = bead(0.0)
    weighed.field("weight", "bead", (0.3, 0.2, 1.0), "2*9.81*z", within=10.0)
    expected, run = (ph.simulate(model, scheme, 0.01, 1.0) for model in (bead(-9.81), weighed))
    np.testing.assert_allclose(run["bead"].position, expected["bead"].position, atol=1e-11)

    model = bead(0.0)
    model.field("trap", "bead", (0.3, 0.2, 1.0), "x**2 + 3*cos(2*y) - 2*z + 7", within=4.0)
    run = ph.simulate(model, ph.Composition(scheme, order=4), 0.01, 2.0)

    def rate(t, y):
        return [*y[3:], -2 * y[0] / 2, 6 * np.sin(2 * y[1]) / 2, 2 / 2]

    exact = solve_ivp(rate, (0, 2), [0.3, 0.2, 1, 0, 1, 0], rtol=1e-11, atol=1e-12).y[:3, -1]
    np.testing.assert_allclose(run["bead"].position[-1], exact, atol=2e-6)
    assert np.ptp(run.energy) < 1e-11


def test_prismatic_joint_file_and_equations(tmp_path):
    """A slider in V = 5 (s^2 - 0.04)^2, whose speed in the middle follows from its energy; the same from a file."""
    model = ph.Model("double well")
    model.body("slider", ph.Box(1.0, (0.1, 0.1, 0.1)), velocity=(0.2, 0, 0))
    model.prismatic("rail", "ground", "slider", (0, 0, 0), (1, 0, 0))
    model.joint_potential("well", "rail", "5*(s**2 - 0.04)**2", (-1, 1))
    model.save(tmp_path / "well.yaml")
    run = ph.simulate(ph.load_model(tmp_path / "well.yaml"), ph.MidpointGGL(), 0.01, 5.0, out=tmp_path / "well.nc")
    assert ph.load(tmp_path / "well.nc").element("well").energy[-1] == run.element("well").energy[-1]
    s, v = run["slider"].position[:, 0], run["slider"].velocity[:, 0]
    V = 5 * (s**2 - 0.04) ** 2
    np.testing.assert_allclose(v**2 / 2 + V, 0.02 + 5 * 0.04**2, rtol=0, atol=1e-7 * 19.2 * 0.3)  # FINE F_max |s|
    assert np.ptp(s) > 0.2
    assert "d/ds[5*(s**2 - 0.04)**2]" in str(model.equations())
    assert r"\mathrm{d}s" in model.equations().latex
    run.report(tmp_path / "well.html")


# --- what cannot be


def bare():
    model = ph.Model("m")
    model.body("bar", ph.Box(1.0, (1, 1, 1)), position=(1, 0, 0))
    model.spherical("ball", "ground", "bar", (0, 0, 0))
    return model


@pytest.mark.parametrize(
    ("add", "words"),
    [
        (lambda m: m.potential("p", "ground", "bar", (0, 0, 0), (1, 0, 0), "1/q", (1, 2)), ("unknown name 'q'", "'s'")),
        (lambda m: m.potential("p", "ground", "bar", (0, 0, 0), (1, 0, 0), "log(s - 1)", (0.5, 2)),
         ("finite value and slope", "at s = ", "smaller range")),
        (lambda m: m.potential("p", "ground", "bar", (0, 0, 0), (1, 0, 0), "s", (0, 2)), ("between", "distances > 0")),
        (lambda m: m.potential("p", "ground", "bar", (0, 0, 0), (1, 0, 0), "s", (2, 1)), ("smaller one first",)),
        (lambda m: m.joint_potential("p", "ball", "s"), ("expected a revolute, cylindrical or prismatic", "'ball'")),
        (lambda m: m.joint_potential("p", "bal", "s"), ("Did you mean 'ball'",)),
        (lambda m: m.field("p", "bar", (1, 0, 0), "x + x*y", 1.0), ("'x * y'", "depends on x and y")),
        (lambda m: m.field("p", "bar", (1, 0, 0), "3", 1.0), ("expected an expression in x, y and z",)),
        (lambda m: m.field("p", "bar", (1, 0, 0), "x", -1.0), ("within", "positive")),
        (lambda m: m.field("p", "bar", (1, 0, 0), "x + t", 1.0), ("unknown name 't'",)),
    ],
)  # fmt: skip
def test_what_cannot_be(add, words):
    model = bare()
    with pytest.raises(ph.ModelError) as caught:
        add(model)
        model.assemble()
    for word in ("'p'", *words):
        assert word in str(caught.value)


def test_what_repeats_itself_is_not_lost_between_samples():
    """Detents of a switch: equal pieces with samples at their middles would see nothing of 64 a turn."""
    knots = force_table("here", "-0.2*cos(16*s) + s**2", "s", -np.pi, np.pi)
    s = np.linspace(-np.pi, np.pi, 100_001)
    exact = 3.2 * np.sin(16 * s) + 2 * s
    assert np.abs(np.interp(s + np.pi, knots[:, 0], knots[:, 1]) - exact).max() < 3e-7 * np.abs(exact).max()
    for count in (61, 64):
        with pytest.raises(ph.ModelError, match="needs more than 200000 straight lines"):
            force_table("here", f"-0.2*cos({count}*s) + s**2", "s", -np.pi, np.pi)


def test_reports_show_every_kind():
    model = ph.Model("all kinds")
    for k, name in enumerate(("a", "b")):
        model.body(name, ph.Box(1.0, (0.1, 0.2, 0.3)), position=(1.0 + k, 0, 0), velocity=(0, 0.1 * k, 0))
    model.revolute("hinge", "ground", "a", at=(1, 0, 0), axis=(0, 0, 1))
    model.potential("bond", "a", "b", (1, 0, 0), (2, 0, 0), energy="4*(1/s**2 - 1/s)", between=(0.5, 5.0))
    model.joint_potential("detent", "hinge", energy="cos(4*s)")
    model.field("bowl", "b", at=(2, 0, 0), energy="x**2 + y**2 + z**2", within=5.0)
    model.friction("rub", "hinge", coefficient=0.1, radius=0.01)
    assert "all kinds" in page(ph.simulate(model, ph.Midpoint(), step=0.01, end=0.1))
