"""Potentials by expressions: against gravity, attraction and SciPy; their energy is that of the expression."""

import numpy as np
import pytest
from catalogue import MIDPOINTS, by_name
from scipy.integrate import solve_ivp

import porthos as ph
from porthos.model.expressions import formula
from porthos.model.potentials import fit
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
    np.testing.assert_allclose(run["moon"].position, expected["moon"].position, atol=1e-12)
    np.testing.assert_allclose(run.energy, expected.energy, atol=1e-13)
    pull = run.element("pull")
    np.testing.assert_allclose(pull.energy, -1 / pull.measure, rtol=1e-14)
    np.testing.assert_allclose(pull.force, 1 / pull.measure**2, rtol=1e-13)


BONDS = {  # V(s) as users write it, and dV/ds for SciPy
    "Lennard-Jones": ("4*(1/s**12 - 1/s**6)", lambda s: 4 * (1 / s**12 - 1 / s**6), lambda s: 24 / s**7 - 48 / s**13),
    "Morse": ("2*(1 - exp(-1.5*(s - 1)))**2", lambda s: 2 * (1 - np.exp(-1.5 * (s - 1))) ** 2,
              lambda s: 6 * (1 - np.exp(-1.5 * (s - 1))) * np.exp(-1.5 * (s - 1))),
    "quartic": ("3*(s**2 - 1)**2", lambda s: 3 * (s**2 - 1) ** 2, lambda s: 12 * s * (s**2 - 1)),
}  # fmt: skip


@pytest.mark.parametrize("bond", BONDS)
@schemes
def test_a_particle_in_a_bond(scheme, bond):
    """Its motion against SciPy, and its energy against the user's own function, evaluated on the trajectory."""
    text, V, slope = BONDS[bond]
    model = ph.Model(bond)
    model.point_mass("atom", 1.0, position=(1.1, 0, 0), velocity=(0.3, 0.4, 0))
    model.potential("bond", "ground", "atom", (0, 0, 0), (1.1, 0, 0), text, (0.6, 3.0))
    run = ph.simulate(model, ph.Composition(scheme, order=4), 2e-3, 3.0)
    at, v = run["atom"].position, run["atom"].velocity
    s = np.linalg.norm(at, axis=1)
    total = V(s) + (v**2).sum(axis=1) / 2
    np.testing.assert_allclose(run.element("bond").energy, V(s), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(run.energy, total, rtol=1e-13)
    np.testing.assert_allclose(total, total[0], rtol=2e-12)
    assert np.ptp(s) > 0.1

    def rate(t, y):
        return [*y[2:], *(-slope(np.hypot(*y[:2])) / np.hypot(*y[:2]) * y[:2])]

    exact = solve_ivp(rate, (0, 3), [1.1, 0, 0.3, 0.4], method="DOP853", rtol=1e-12, atol=1e-12).y[:2, -1]
    np.testing.assert_allclose(at[-1, :2], exact, atol=1e-6)


@pytest.mark.parametrize(
    ("scheme", "step"),
    [(ph.Midpoint(), 0.01), (ph.RadauIIA(2), 0.01), (ph.MidpointGGL(), ph.Adaptive(rtol=1e-3)),
     (ph.HEDOP5(), ph.Adaptive(rtol=1e-6)), (ph.SciPy("LSODA"), ph.Adaptive(rtol=1e-6))],
)  # fmt: skip
def test_a_run_stops_where_a_potential_ends(scheme, step):
    model = moon(lambda m, *ends: m.potential("pull", *ends, "-1/s", (0.9, 2.0)))
    with pytest.raises(ph.SimulationError) as caught:
        ph.simulate(model, scheme, step, 10.0)
    for word in ("potential left the range", "'pull' is made for 0.9 <= s <= 2", "has s = 2.0", "`between`"):
        assert word.replace("2.0", "") in str(caught.value)
    run = caught.value.trajectory
    assert run.status is ph.Status.STRAYED
    assert 3.2 < run.t[-1] < 4.2
    assert np.linalg.norm(run["moon"].position[-2]) < 2.0


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


COUPLED = {  # V(x, y, z) as users write it, and its gradient for SciPy
    "Henon-Heiles": (
        "(x**2 + y**2)/2 + x**2*y - y**3/3",
        lambda x, y, z: (x**2 + y**2) / 2 + x**2 * y - y**3 / 3,
        lambda x, y, z: [x + 2 * x * y, y + x**2 - y**2, 0.0],
    ),
    "ring": (
        "3*((x - 0.1)**2 + z**2 - 0.2)**2 + x*y/2 - 1",
        lambda x, y, z: 3 * ((x - 0.1) ** 2 + z**2 - 0.2) ** 2 + x * y / 2 - 1,
        lambda x, y, z: [
            12 * (x - 0.1) * ((x - 0.1) ** 2 + z**2 - 0.2) + y / 2,
            x / 2,
            12 * z * ((x - 0.1) ** 2 + z**2 - 0.2),
        ],
    ),
    "space": (
        "2*x*y*z + (x**2 + y**2 + z**2)**2",
        lambda x, y, z: 2 * x * y * z + (x**2 + y**2 + z**2) ** 2,
        lambda x, y, z: [
            2 * y * z + 4 * x * (x**2 + y**2 + z**2),
            2 * x * z + 4 * y * (x**2 + y**2 + z**2),
            2 * x * y + 4 * z * (x**2 + y**2 + z**2),
        ],
    ),
    "wave": (
        "0.3*cos(5*(x - 2*y) + 1)*exp((4*y - 2*x)/3) + z**2",
        lambda x, y, z: 0.3 * np.cos(5 * (x - 2 * y) + 1) * np.exp((4 * y - 2 * x) / 3) + z**2,
        lambda x, y, z: (
            [
                -0.3
                * np.exp((4 * y - 2 * x) / 3)
                * (5 * np.sin(5 * (x - 2 * y) + 1) + 2 / 3 * np.cos(5 * (x - 2 * y) + 1))
                * factor
                for factor in (1, -2)
            ]
            + [2 * z]
        ),
    ),
}


@pytest.mark.parametrize("which", COUPLED)
@schemes
def test_field_of_coordinates_together(scheme, which):
    """The motion is that of SciPy, the energy that of the user's function on the trajectory, and it stays."""
    text, V, gradient = COUPLED[which]
    start = [0.3, -0.2, 0.1, 0.2, 0.3, 0.4]
    model = ph.Model(which)
    model.point_mass("bead", 2.0, position=start[:3], velocity=start[3:])
    model.field("trap", "bead", start[:3], text, within=4.0)
    run = ph.simulate(model, ph.Composition(scheme, order=4), 5e-3, 3.0)
    at, v = run["bead"].position, run["bead"].velocity
    stored = run.element("trap").energy
    np.testing.assert_allclose(stored, V(*at.T), atol=2e-13)
    total = (v**2).sum(axis=1) + V(*at.T)
    np.testing.assert_allclose(total, total[0], atol=1e-12)

    def rate(t, y):
        return [*y[3:], *(-np.array(gradient(*y[:3])) / 2)]

    exact = solve_ivp(rate, (0, 3), start, rtol=1e-11, atol=1e-12).y[:3, -1]
    np.testing.assert_allclose(at[-1], exact, atol=2e-7)
    assert np.ptp(stored) > 0.05


def test_a_field_of_coordinates_together_on_a_point_of_a_body(tmp_path):
    """A rod whose ends are in xy: the same from a file, energy to round-off, and a run that leaves the box stops."""
    model = ph.Model("rod")
    model.body("rod", ph.Box(1.0, (1.0, 0.1, 0.1)), velocity=(0.1, 0.2, 0), angular_velocity=(0, 0, 3))
    for name, x in (("left", -0.5), ("right", 0.5)):
        model.field(name, "rod", (x, 0, 0), "2*x**2 + 2*y**2 + x*y", within=3.0)
    run = ph.simulate(model, ph.MidpointGGL(), 0.01, 5.0)
    assert np.ptp(run.energy) < 1e-12
    for name, x in (("left", -0.5), ("right", 0.5)):
        X, Y, _ = run["rod"].point((x, 0, 0)).T
        np.testing.assert_allclose(run.element(name).energy, 2 * X**2 + 2 * Y**2 + X * Y, atol=1e-14)
    again = ph.simulate_file(model.save(tmp_path / "rod.yaml", ph.Simulation(step=0.01, end=5.0, scheme="MidpointGGL")))
    np.testing.assert_array_equal(again.raw.q, run.raw.q)
    saddle = ph.Model("saddle")
    saddle.point_mass("bead", 1.0, position=(0.1, 0, 0), velocity=(0, 0.1, 0))
    saddle.field("saddle", "bead", (0.1, 0, 0), "-x*y", within=1.0)
    with pytest.raises(ph.SimulationError, match="'saddle' is made for -1 <= s <= 1") as caught:
        ph.simulate(saddle, ph.Midpoint(), 0.01, 10.0)
    left = caught.value.trajectory
    assert left.status is ph.Status.STRAYED
    assert 0.95 < np.abs(left["bead"].position[-1] - [0.1, 0, 0]).max() < 1.0


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
    np.testing.assert_allclose(v**2 / 2 + V, 0.02 + 5 * 0.04**2, rtol=1e-12)
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
        (lambda m: m.field("p", "bar", (1, 0, 0), "x + sin(x)*y", 1.0), ("'sin(x) * y'", "polynomials in several")),
        (lambda m: m.field("p", "bar", (1, 0, 0), "sqrt(x**2 + y**2)", 1.0), ("potential of a distance",)),
        (lambda m: m.field("p", "bar", (1, 0, 0), "x**5*y**4", 1.0), ("degree 8 at most in 2", "of degree 9")),
        (lambda m: m.field("p", "bar", (1, 0, 0), "x*y*z**5", 1.0), ("degree 6 at most in 3", "of degree 7")),
        (lambda m: m.field("p", "bar", (1, 0, 0), "x*y*t", 1.0), ("changes with time t",)),
        (lambda m: m.field("p", "bar", (1, 0, 0), "1e200*x*(1e200*y)", 1.0), ("one is too large",)),
        (lambda m: m.field("p", "bar", (1, 0, 0), "-" * 900 + "x*y", 1.0), ("nested less deeply",)),
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


def energies(pieces, x):
    """V at x, by the powers of the pieces."""
    k = np.searchsorted(pieces[:, 0], x) - 1
    y, powers = x - pieces[k, 1], np.arange(1, pieces.shape[1] - 2)
    return pieces[k, 2] + (pieces[k, 3:] * y[:, None] ** powers / powers).sum(axis=1)


@pytest.mark.parametrize(
    ("text", "least", "most", "pieces"),
    [
        ("4*(1/s**12 - 1/s**6)", 0.9, 5.0, 100),
        ("-1/s", 1e-3, 1e3, 300),  # six decades
        ("-0.2*cos(61*s) + s**2", -np.pi, np.pi, 2000),  # not lost between samples
        ("-0.2*cos(64*s) + s**2", -np.pi, np.pi, 2000),
        ("abs(s - 0.3)", -1.0, 1.0, 200),  # a force that jumps
        ("100*max(0, s - 0.1)**2", -1.0, 1.0, 200),  # one with a kink
        ("1e-20*s**4 + 1e-20", -2.0, 2.0, 100),
    ],
)
def test_pieces_are_the_expression(text, least, most, pieces):
    found = fit("here", text, "s", least, most)
    s = np.random.default_rng(0).uniform(least, most, 4000)
    V = np.array([formula(text, "s")(at) for at in s.tolist()])
    assert len(found) < pieces
    np.testing.assert_allclose(energies(found, s - least), V, rtol=1e-12, atol=1e-14 * np.abs(V).max())
    edges = np.append(found[1:, 0], most - least)[1:-1]  # the integral of the force leads from one piece to the next
    ends = [energies(found[k : k + 1], np.array([x])) for k, x in enumerate(edges, 1)]
    begins = [energies(found[k : k + 1], np.array([x])) for k, x in enumerate(edges, 2)]
    np.testing.assert_allclose(ends, begins, rtol=1e-14, atol=2e-14 * np.abs(V).max())


@pytest.mark.parametrize("text", ["floor(3*s)", "s if s < 0.2 else s + 1", "(1 - cos(1e-3*s))/(1e-3*s)**2"])
def test_what_jumps_is_refused(text):
    with pytest.raises(ph.ModelError, match=r"jumps by .* or loses its digits there"):
        fit("here", text, "s", -1.0, 1.01)


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
