"""Compositions: orders 4, 6 and 8 with the invariants of their bases, and what happens within a step."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from catalogue import COMPOSITIONS, by_name
from hypothesis import assume, given, settings
from mechanisms import add_random_body, join, loops, ring
from scipy.integrate import solve_ivp

import porthos as ph
from gallery import heavy_top, slider_crank
from porthos.integrate.catalogue import spelled
from porthos.integrate.inputs import Inputs
from porthos.integrate.march import march
from porthos.integrate.scheme import ENERGIES, POSITION, VELOCITY
from porthos.study.measures import momenta

END = 0.4
GGL = [scheme for scheme in COMPOSITIONS if isinstance(scheme.base, ph.MidpointGGL)]
OF_ORDER_TWO = (ph.LobattoPair(2), ph.Murua(1), ph.Gauss(1), ph.DiscreteGradient())
SMALL, ROUND_OFF = 1e-3, 8e-12  # errors of states, relative to them, between which the order shows
STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
STEADY = 0.2  # orders of two halvings that differ by less are those of small steps
LOOPS = [  # seed, whether over the ground, joints
    (1, True, "point_on_line spherical universal revolute distance"),
    (2, True, "distance prismatic point_on_plane distance planar"),
    (20, True, "point_on_line cylindrical prismatic spherical point_on_line"),
    (23, False, "distance point_on_plane planar point_on_plane"),
    (29, True, "revolute point_on_line point_on_plane spherical point_on_line revolute"),
    (51, False, "spherical revolute cylindrical revolute universal"),
]


def floating_ring() -> ph.Model:
    """A random loop of four bodies that floats: all momenta are kept."""
    rng, model = np.random.default_rng(5), ph.Model("ring")
    angles = np.pi / 2 * np.arange(4)
    places = np.c_[np.cos(angles), np.sin(angles), 0.3 * rng.normal(size=4)]
    for k in range(4):
        add_random_body(model, f"body{k}", rng, places[k])
    for k, kind in enumerate(("spherical", "universal", "spherical", "cylindrical")):
        other = (k + 1) % 4
        join(model, f"joint{k}", kind, f"body{k}", f"body{other}", (places[k] + places[other]) / 2, rng)
    return model


KEPT = {"slider-crank": [], "heavy top": [5], "random loop": [*range(6)]}  # components of p and L
CASES = {  # model, end, coarsest step: the finest one, a quarter of it, is still above round-off
    "slider-crank": (slider_crank.model, END, {4: 0.01, 6: 0.01, 8: 0.0125}),
    "heavy top": (heavy_top.model, END, {4: 0.002, 6: 0.002, 8: 0.004}),
    "random loop": (floating_ring, 3.2, {4: 0.16, 6: 0.16, 8: 0.32}),
}


def test_fractions_are_symmetric_and_their_sums_of_odd_powers_vanish():
    for scheme in GGL:
        gamma = np.array(scheme.fractions)
        assert gamma.sum() == pytest.approx(1.0, abs=1e-15)
        assert np.array_equal(gamma, gamma[::-1])
        for power in range(3, scheme.order, 2):
            assert np.sum(gamma**power) == pytest.approx(0.0, abs=1e-14)


def measured_order(values, quantity):
    """From the differences of three runs, each with half of the step of the one before."""
    first, second = (np.abs(getattr(b, quantity)[-1] - getattr(a, quantity)[-1]).max() for a, b in pairwise(values))
    return np.log2(first / second)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("scheme", GGL, ids=by_name)
def test_order_and_invariants(scheme, case):
    build, end, steps = CASES[case]
    system = build().assemble()
    runs = [ph.simulate(system, scheme, steps[scheme.order] / 2**k, end) for k in range(3)]
    for quantity in ("q", "v"):
        assert measured_order(runs, quantity) == pytest.approx(scheme.order, abs=0.2), quantity
    for run in runs:
        momentum, sizes = momenta(run)
        drift = np.abs(momentum - momentum[0]).max(axis=0) / sizes
        assert [k for k in range(6) if drift[k] < 1e-13] == KEPT[case]
        size = run.kinetic_energy.max()
        assert np.abs(run.energy - run.energy[0]).max() < 4e-13 * size
        assert run.position_error.max() < 2e-13
        assert run.velocity_error.max() < 2e-14 * np.abs(run.v).max()


def by_accelerations(system, end):
    """q and v (2, n) at the end, by SciPy from M v' + G^T lambda = f and G v' = -b: none of our steps."""
    motion, n, u = system.motion, system.n, np.zeros(system.width)

    def rates(t, x):
        q, v = x[:n], x[n:]
        right = np.append(motion.force(t, q, v, u), -motion.bend(t, q, v))
        return np.append(v, np.linalg.solve(motion.kkt(t, q, v).toarray(), right)[:n])

    start = system.initial_state()[: 2 * n]
    return solve_ivp(rates, (0, end), start, "DOP853", rtol=1e-13, atol=1e-13).y[:, -1].reshape(2, n)


def orders_of_halvings(scheme, system, end):
    """Of q and v (k, 2), one for each halving of the step whose errors are small, yet above round-off."""
    exact = by_accelerations(system, end)
    size, errors = np.maximum(1.0, np.linalg.norm(exact, axis=1)), {}
    for steps in STEPS:
        run = ph.simulate(system, scheme, end / steps, end, every=steps, on_failure="return")
        if run.status is ph.Status.OK:  # the first steps may be too large
            errors[steps] = np.linalg.norm([run.q[-1], run.v[-1]] - exact, axis=1) / size
            if errors[steps].min() < ROUND_OFF:
                break
    good = [n for n, error in errors.items() if n / 2 in errors and error.min() > ROUND_OFF]
    return np.array([np.log2(errors[n // 2] / errors[n]) for n in good if errors[n // 2].max() < SMALL])


@pytest.mark.parametrize("scheme", [scheme for scheme in GGL if scheme.order < 8], ids=by_name)
@settings(max_examples=10)
@given(model=loops())
def test_order_on_random_loops(scheme, model):
    """Of the finest halving above round-off, if the one before it already had about the same."""
    orders = orders_of_halvings(scheme, model.assemble(), 0.32)
    assume(len(orders) > 1 and np.abs(orders[-1] - orders[-2]).max() < STEADY)
    assert orders[-1] == pytest.approx(np.full(2, scheme.order), abs=0.3 if scheme.order == 6 else 0.1)


@pytest.mark.parametrize("loop", LOOPS)
def test_order_eight_on_chosen_loops(loop):
    """On most loops terms of h^10 fade only where errors of double precision begin: these are some where h^8 is seen.

    Of 51 random loops 10 had it within 0.3 in their finest halving of at least four steps; others had 5.7 to 10, and
    smaller steps would need more digits.
    """
    seed, over_ground, kinds = loop
    orders = orders_of_halvings(ph.Composition(order=8), ring(seed, kinds.split(), over_ground).assemble(), 0.32)
    assert orders[-1] == pytest.approx([8, 8], abs=0.3)


def test_heavy_top_against_its_published_course():
    run = ph.simulate(heavy_top.model(), ph.Composition(order=8), 0.001, 2.0, every=200)
    for time, place in (
        (0.2, (0.605550561377, 0.598957681795, -0.523983027430)),
        (1.0, (0.173343964098, 0.640088592071, -0.748490791134)),
        (2.0, (-0.150416822746, -0.724165591637, -0.673022269560)),
    ):
        assert run["top"].position[round(time / 0.2)] == pytest.approx(place, abs=2e-10)


def test_projection_gives_velocities_of_midpoint_the_order_of_positions():
    scheme, system = ph.Composition(ph.Midpoint(), 4), slider_crank.model().assemble()
    runs = [ph.simulate(system, scheme, 0.01 / 2**k, 0.2) for k in range(3)]
    projected = [run.projected() for run in runs]
    assert measured_order(runs, "q") == pytest.approx(4, abs=0.1)
    assert measured_order(runs, "v") == pytest.approx(2, abs=0.1)
    assert measured_order(projected, "v") == pytest.approx(4, abs=0.1)
    assert projected[-1].velocity_error.max() < 1e-14
    assert np.array_equal(projected[-1].q, runs[-1].q)


def test_projection_leaves_velocities_on_the_constraints_as_they_are():
    run = ph.simulate(slider_crank.model(), ph.MidpointGGL(), 0.01, END)
    assert np.abs(run.projected().v - run.v).max() < 1e-12


def test_a_failure_within_a_step_leaves_the_state_before_it():
    """A force that is huge in the third substep only, where Newton's method has no chance."""
    model = ph.Model("pushed", gravity=(0, 0, -9.81))
    model.body("bob", ph.Box(1.0, (0.1, 0.1, 0.4)), position=(0, 0, -0.5))
    model.spherical("J", model.ground, "bob", at=(0, 0, 0))
    middle = 0.1 + 0.01 * 0.5
    model.load("push", "bob", force=lambda t: (1e9 if abs(t - middle) < 1e-9 else 0.0, 0, 0))
    scheme = ph.Composition(order=4)
    system = model.assemble()
    raw = march(system, scheme, 0.01, 20, 4, Inputs(system, None, 20))
    assert raw.status is not ph.Status.OK
    assert raw.t == pytest.approx([0.0, 0.04, 0.08, 0.1])
    free = ph.simulate(system, scheme, 0.01, 0.1)
    assert np.array_equal(raw.q[-1], free.raw.q[-1])
    assert raw.work[-1, 0] == 0.0


def test_controllers_are_asked_once_a_step_in_the_order_of_time():
    asked = []

    def brake(t, y):
        asked.append(t)
        return -0.1 * y

    model = ph.Model("braked", gravity=(0, 0, -9.81))
    model.body("bob", ph.Box(1.0, (0.1, 0.1, 0.4)), position=(0.5, 0, 0))
    model.revolute("J", model.ground, "bob", at=(0, 0, 0), axis=(0, 1, 0))
    model.port("hinge", "bob", kind="torque", direction=(0, 1, 0))
    run = ph.simulate(model, ph.Composition(order=6), 0.01, 0.1, inputs={"hinge": brake})
    midpoints = (np.arange(10) + 0.5) * 0.01
    assert asked == pytest.approx(midpoints.tolist())
    assert np.abs(run.power_balance).max() < 1e-14
    assert run.energy[-1] < run.energy[0]


def orders(system, scheme, step, end, quantities):
    """Orders measured with three runs, and the last one of them."""
    runs = [ph.simulate(system, scheme, step / 2**k, end, progress=False) for k in range(3)]
    return [measured_order(runs, quantity) for quantity in quantities], runs[-1]


def planet(eccentricity=0.3):
    """A body on an ellipse about a centre; energy is not quadratic."""
    x, y, u, v = sp.symbols("x y u v", real=True)
    start = ([1 - eccentricity, 0.0], [0.0, np.sqrt((1 + eccentricity) / (1 - eccentricity))])
    return ph.Lagrangian((u**2 + v**2) / 2 + 1 / sp.sqrt(x**2 + y**2), [x, y], [u, v], initial=start, name="planet")


@pytest.mark.parametrize(
    ("base", "order", "step"),
    [
        *((base, order, 0.25 if order == 8 else 0.1) for base in OF_ORDER_TWO for order in (4, 6, 8)),
        (ph.Gauss(2), 6, 0.25),
        (ph.Gauss(2), 8, 0.25),
        (ph.Gauss(3), 8, 0.25),
    ],
    ids=repr,
)
def test_schemes_over_states_have_the_order_of_the_composition(base, order, step):
    (found,), run = orders(planet(), ph.Composition(base, order), step, 1.0, ["x"])
    assert found == pytest.approx(order, abs=0.5)
    if isinstance(base, ph.DiscreteGradient):
        assert np.abs(run.power_balance).max() < 1e-14


@pytest.mark.parametrize(
    ("base", "order", "expected", "step"),
    [
        *((base, *row) for base in OF_ORDER_TWO[:2] for row in ((4, 4, 0.04), (6, 6, 0.08), (8, 8, 0.16))),
        *((base, 4, 2, 0.04) for base in OF_ORDER_TWO[2:]),  # velocities leave the constraints
    ],
    ids=repr,
)
def test_schemes_over_states_on_a_constrained_mechanism(base, order, expected, step):
    """Velocities that are projected have the order of positions."""
    system, scheme = top().assemble(), ph.Composition(base, order)
    found, run = orders(system, scheme, step, 0.16, ["q", "v"])
    assert found == pytest.approx([order, expected], abs=0.6 if order == 8 else 0.3)
    runs = [ph.simulate(system, scheme, step / 2**k, 0.16).projected() for k in range(3)]
    assert measured_order(runs, "v") == pytest.approx(order, abs=0.6 if order == 8 else 0.3)
    assert scheme.velocity_order == expected
    assert (run.velocity_error.max() < 1e-12) == (VELOCITY in scheme.preserves)
    assert (np.ptp(run.energy) < 1e-13) == bool(ENERGIES & scheme.preserves)
    assert (run.position_error.max() < 1e-13) == (POSITION in scheme.preserves)


def top() -> ph.Model:
    model = ph.Model("pendulum", gravity=(0, 0, -9.81))
    model.body("bob", ph.Box(1.0, (0.1, 0.2, 0.4)), position=(0.5, 0, 0), angular_velocity=(0, 0, 2.0))
    model.spherical("J", model.ground, "bob", at=(0, 0, 0))
    return model


def ring_pendulum() -> ph.Lagrangian:
    x, y, u, v = sp.symbols("x y u v", real=True)
    L, start = (u**2 + v**2) / 2 - 9.81 * y, ([0.6, 0.8], [1.6, -1.2])
    return ph.Lagrangian(L, [x, y], [u, v], constraints=[x**2 + y**2 - 1], initial=start, name="pendulum")


@pytest.mark.parametrize(
    ("base", "order"),
    [(ph.Gauss(1), 6), (ph.Gauss(1), 8), (ph.Gauss(2), 6), (ph.Gauss(3), 8), (ph.DiscreteGradient(), 6)],
    ids=repr,
)
def test_orders_that_constraints_do_not_allow_are_refused(base, order):
    """With those bases positions have order 4 at most (`Gauss(3)`: its own, 6), as with `Midpoint`."""
    scheme = ph.Composition(base, order)
    systems = [top().assemble(), ring_pendulum()]
    for system in systems if isinstance(base, ph.DiscreteGradient) else [*systems, systems[0].formulation("GGL")]:
        with pytest.raises(ph.PorthosError, match=rf"order 4 at most.* found order = {order}\. Use .*LobattoPair"):
            ph.simulate(system, scheme, 0.1, 0.1)
    with pytest.raises(ph.PorthosError, match=r"order 4 at most.* Use ph\.MidpointGGL\(\) as base"):
        ph.Composition(ph.Midpoint(), 6)


def test_livens_on_lagrangians():
    """With constant M all has order 4; with M(q), or constraints, velocities keep order 2, as those do."""
    found, run = orders(planet(), ph.Composition(ph.Livens()), 0.1, 1.0, ["q", "v"])
    assert found == pytest.approx([4, 4], abs=0.3)
    assert np.ptp(run.H) < 1e-14
    r, phi, u, w = sp.symbols("r phi u w", real=True)
    L = (u**2 + r**2 * w**2) / 2 + 9.81 * r * sp.cos(phi) - 25 * (r - 1) ** 2
    spring = ph.Lagrangian(L, [r, phi], [u, w], initial=([1.1, 1.0], [0.0, 0.5]), name="spring")
    found, run = orders(spring, ph.Composition(ph.Livens()), 0.02, 0.4, ["q", "v"])
    assert found == pytest.approx([4, 2], abs=0.3)
    assert np.ptp(run.generalized_energy) < 1e-12
    found, run = orders(ring_pendulum(), ph.Composition(ph.Livens()), 0.04, 0.16, ["q", "v"])
    assert found == pytest.approx([4, 2], abs=0.3)


def test_inputs_and_losses_of_substeps_are_those_of_the_power_balance():
    """A damped oscillator with a force: Gauss balances to round-off, and substeps backwards give losses back."""
    J, R = np.array([[0.0, 1.0], [-1.0, 0.0]]), np.diag([0.0, 0.3])
    system = ph.LinearPHDAE("damped", J=J, R=R, Q=np.eye(2), B=[[0.0], [1.0]], ports={"force": 1}, initial=[1.0, 0.0])
    runs = [
        ph.simulate(system, ph.Composition(ph.Gauss(1), 4), h, 2.0, inputs={"force": np.sin}) for h in (0.2, 0.1, 0.05)
    ]
    assert np.abs(runs[0].power_balance).max() < 1e-15
    assert runs[0].dissipated[-1] == pytest.approx(runs[-1].dissipated[-1], rel=1e-3)
    assert measured_order(runs, "x") == pytest.approx(4, abs=0.2)


def test_bases_that_make_no_sense_are_refused_by_name_and_copies_are_equal():
    for base in (ph.RadauIIA(2), ph.LobattoIIIC(3), ph.BDF(2), ph.GeneralizedAlpha(), ph.DOP853(), ph.HEDOP5()):
        with pytest.raises(ph.PorthosError, match=rf"must be symmetric, and {type(base).__name__}.*ph\.LobattoPair"):
            ph.Composition(base)
    with pytest.raises(ph.PorthosError, match=r"order must be above that of the base, found 4, and Gauss\(stages=2"):
        ph.Composition(ph.Gauss(2), 4)
    with pytest.raises(ph.PorthosError, match=r"partition='sequential'.* is not"):
        ph.Composition(ph.Livens(partition="sequential"))
    for scheme in (ph.Composition(ph.Gauss(2), 6), ph.Composition()):
        assert pickle.loads(pickle.dumps(scheme)) == scheme == replace(scheme)
        assert spelled(repr(scheme)) == scheme
