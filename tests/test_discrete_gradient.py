"""The discrete gradient: exact power balance for any smooth Hamiltonian, and convergence to the right solution."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_systems import linear, nonlinear, seeds
from scipy.integrate import solve_ivp

import porthos as ph
from gallery import pendulum

SCHEME = ph.DiscreteGradient()
TIGHT = {"rtol": 1e-12, "atol": 1e-13, "method": "DOP853"}
DRIVE = {"u0": np.sin, "u1": lambda t: np.cos(3 * t)}


def duffing(d=0.0, initial=(1.0, 0.0), **more):
    """H = p^2/2m + k/4 q^4 with damping and a port."""
    m, k = 2.0, 3.0
    return ph.GeneralPHDAE(
        "Duffing", states=["q", "p"], ports=["force"], H=lambda x: x[1] ** 2 / (2 * m) + k / 4 * x[0] ** 4,
        z=lambda x: [k * x[0] ** 3, x[1] / m], J=[[0, 1], [-1, 0]], R=[[0, 0], [0, d]], B=[[0], [1]], initial=initial,
        **more,
    )  # fmt: skip


def swing():
    """A pendulum in its angle: H = p^2/2 - cos(a), no polynomial."""
    return ph.GeneralPHDAE(
        "swing", states=["a", "p"], ports=["torque"], H=lambda x: x[1] ** 2 / 2 - np.cos(x[0]),
        z=lambda x: [np.sin(x[0]), x[1]], J=[[0, 1], [-1, 0]], B=[[0], [1]], initial=[2.5, 0.0],
    )  # fmt: skip


def test_energies_that_are_said_to_be_quadratic_are():
    """z in the middle is a discrete gradient of them, for states as far apart as one likes; of a spring it is none."""
    rng, bar = np.random.default_rng(6), pendulum.model()
    sprung = pendulum.model()
    body = sprung.bodies[0]
    sprung.spring("spring", sprung.ground, body, (0, 0, 3), body.position, stiffness=5.0)
    for system, said in ((bar.assemble(), True), (linear(6, 5, 2), True), (sprung.assemble(), False)):
        x0, x1 = rng.normal(size=(2, system.dimension))
        middle = (x0 + x1) / 2
        gap = system.H(x1) - system.H(x0) - system.z(middle) @ (system.E(middle) @ (x1 - x0))
        assert system.quadratic is said
        assert bool(abs(gap) < 1e-12 * (abs(system.H(x0)) + abs(system.H(x1)))) is said


def resolved(system, x, h):
    """Whether E is far from singular, and steps of size h resolve the motion at x, h |E^-1 df/dx| < 1.

    Far beyond that equations have no root.
    """
    u, E = np.array([drive(0.0) for drive in DRIVE.values()]), system.E(x)
    slope = system.tangent(x, np.zeros(x.size), u, 0.0)
    return np.linalg.norm(E, -2) > 1e-2 and h * np.linalg.norm(np.linalg.solve(E, slope), 2) < 1


def halved_until_solved(system, x, h):
    """A run to 0.1, with the step halved up to three times, as the status of one that stalls advises; and the step."""
    for _ in range(4):
        run = ph.simulate(system, SCHEME, h, 0.1, inputs=DRIVE, start=x, on_failure="return")
        if run.status is ph.Status.OK:
            break
        h /= 2
    return run, h


def test_a_step_in_which_only_time_changes_the_energy_has_no_solution():
    """w = E x' + r passes through zero at 0.085: no costate along it gives H1 - H0 there. Other steps pass it by."""
    system, x = nonlinear(3444486387, 1, 2), 0.3 * np.random.default_rng(3444486387).normal(size=1)
    stalls = ph.simulate(system, SCHEME, 0.002, 0.1, inputs=DRIVE, start=x, on_failure="return")
    assert (stalls.status, stalls.t[-1]) == (ph.Status.NEWTON_STALLED, pytest.approx(0.084))
    fine = ph.simulate(system, SCHEME, 0.001, 0.1, inputs=DRIVE, start=x)
    rate = np.gradient(fine.x[:, 0], fine.t)
    w = [(system.E(x, t) * v + system.r(x, t)).item() for t, x, v in zip(fine.t, fine.x, rate, strict=True)]
    assert np.interp(0.0, w[1:-1], fine.t[1:-1]) == pytest.approx(0.085, abs=1e-3)
    assert np.abs(fine.power_balance).max() < 1e-12


def test_a_step_without_a_solution_is_not_taken_for_one():
    """Updates of 1e-8 that do not shrink are not round-off where w is small; a quarter of the energy was lost there."""
    for seed in (2477282890, 1445555747):
        system, x = nonlinear(seed, 1, 2), 0.3 * np.random.default_rng(seed).normal(size=1)
        run = ph.simulate(system, SCHEME, 0.01, 0.1, inputs=DRIVE, start=x, on_failure="return")
        assert run.status is ph.Status.NEWTON_STALLED
        assert np.abs(run.power_balance).max() < 1e-13  # up to there
        finer = ph.simulate(system, SCHEME, 0.005, 0.1, inputs=DRIVE, start=x)
        assert np.abs(finer.power_balance).max() < 1e-13


@settings(max_examples=20)  # two runs each
@given(seed=seeds, n=st.integers(1, 5))
def test_power_balance_of_random_systems_to_round_off(seed, n):
    """E(x, t), r, J, R, B, P, S, N and a Hamiltonian of degree four that depends on time."""
    system = nonlinear(seed, n, 2)
    x = 0.3 * np.random.default_rng(seed).normal(size=n)
    assume(resolved(system, x, 0.01))
    run, h = halved_until_solved(system, x, 0.01)
    size = max(1.0, np.abs(run.H).max(), np.abs(run.supplied).max(), run.dissipated.max())
    assert run.status is ph.Status.OK
    assert np.abs(run.power_balance).max() < 2e-13 * size
    plain = ph.simulate(system, ph.Gauss(1), h, 0.1, inputs=DRIVE, start=x)
    assert np.abs(run.x - plain.x).max() < 1e-2 * max(1.0, np.abs(plain.x).max())


def test_power_balance_where_the_midpoint_rule_loses_it():
    """The quartic oscillator with damping and a force: 1e-15 a step instead of 1e-5; 4000 steps without drift."""
    system = duffing(d=0.3)
    runs = [ph.simulate(system, s, 0.05, 20.0, inputs={"force": np.sin}) for s in (SCHEME, ph.Gauss(1))]
    exact, plain = (np.abs(run.power_balance).max() for run in runs)
    assert exact < 4e-15  # of energies up to 3
    assert plain > 1e-6
    assert runs[0].port("force").work[-1] > 0.1
    long = ph.simulate(duffing(tangent=duffing_tangent), SCHEME, 0.05, 200.0)
    assert np.abs(long.H - long.H[0]).max() < 1e-13
    loses = ph.simulate(duffing(tangent=duffing_tangent), ph.Gauss(1), 0.05, 200.0)
    assert np.abs(loses.H - loses.H[0]).max() > 1e-4


def duffing_tangent(x, rate, u, t):
    return np.array([[0.0, -0.5], [9.0 * x[0] ** 2, 0.0]])


@pytest.mark.parametrize("system", [duffing(), swing()], ids=lambda s: s.name)
def test_it_converges_to_the_solution(system):
    """Energy is no evidence; SciPy is, and the order is two."""
    port = next(iter(system.ports))
    end = 2.0

    def rates(t, x):
        return system.flow(x, np.array([np.sin(t)]), t)

    exact = solve_ivp(rates, (0, end), system.initial_state(), **TIGHT).y[:, -1]
    errors = [
        np.abs(ph.simulate(system, SCHEME, h, end, inputs={port: np.sin}).x[-1] - exact).max() for h in (0.02, 0.01)
    ]
    assert errors[1] < 1e-3
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.05)


def test_energy_of_a_hamiltonian_that_is_no_polynomial():
    run = ph.simulate(swing(), SCHEME, 0.1, 50.0)
    assert np.abs(run.H - run.H[0]).max() < 1e-14
    assert np.ptp(run["a"]) > 4.9


@given(seed=seeds, n=st.integers(1, 5))
def test_quadratic_energy_makes_it_the_midpoint_rule(seed, n):
    system = linear(seed, n, 2)
    x = np.random.default_rng(seed).normal(size=n)
    assume(resolved(system, x, 0.02))
    a, b = (ph.simulate(system, s, 0.02, 0.2, inputs=DRIVE, start=x) for s in (SCHEME, ph.Gauss(1)))
    assert a.x == pytest.approx(b.x, abs=1e-11 * max(1.0, np.abs(b.x).max()))
    assert a.power_balance == pytest.approx(np.zeros(a.t.size), abs=1e-12 * max(1.0, np.abs(a.H).max()))


def test_it_runs_on_mechanisms():
    a, b = (ph.simulate(pendulum.model(), s, 0.02, 0.4) for s in (SCHEME, ph.Gauss(1)))
    assert isinstance(a, ph.Trajectory)
    assert np.abs(a.q - b.q).max() < 1e-11
    assert np.abs(a.energy - a.energy[0]).max() < 1e-12


def test_algebraic_equations_and_a_quartic_energy():
    """A massless point between a quartic spring and a damper: E is singular, the balance is exact all the same."""
    system = ph.GeneralPHDAE(
        "spring and damper", states=["q", "p", "s"], E=np.diag([1.0, 1.0, 0.0]),
        H=lambda x: x[0] ** 4 / 4 + x[1] ** 2 / 2, z=lambda x: [x[0] ** 3, x[1], x[2]],
        J=[[0, 1, -1], [-1, 0, 0], [1, 0, 0]], R=np.diag([0, 0, 0.7]), initial=[1.0, 0.0, 1 / 0.7],
    )  # fmt: skip
    run = ph.simulate(system, SCHEME, 0.05, 5.0)
    assert np.abs(run.power_balance).max() < 1e-15

    def rates(t, x):  # s = q^3/0.7
        return [x[1] - x[0] ** 3 / 0.7, -(x[0] ** 3)]

    exact = solve_ivp(rates, (0, 5.0), [1.0, 0.0], **TIGHT).y[:, -1]
    assert run.x[-1, :2] == pytest.approx(exact, abs=2e-3)


def test_power_through_connections_is_exact_too():
    """Two quartic oscillators behind a gyrator and a gear: what one stores came through its connection."""
    a, b = duffing(), duffing(initial=(0.2, 0.1))
    for through in (
        ph.Gyrator("a: force", "b: force", 0.8, name="link"),
        ph.Transformer("a: force", "b: force", 0.8, name="link"),
    ):
        whole = ph.interconnect({"a": a, "b": b}, through=through)
        run = ph.simulate(whole, SCHEME, 0.05, 1.0)
        stored = np.array([b.H(whole.part_state("b", x)) for x in run.x])
        work = run.connection("link").work
        assert work["b: force"] == pytest.approx(stored - stored[0], abs=1e-12)
        assert work["a: force"] == pytest.approx(-work["b: force"], abs=1e-12)
        assert np.ptp(stored) > 0.01


def test_a_step_back_undoes_a_step():
    system, x = duffing(d=0.1), np.array([1.0, 0.5])
    there = SCHEME.step(system, 0.1, x, np.array([0.3]))
    back = SCHEME.step(system, -0.1, there.x, np.array([0.3]), 0.1)
    assert back.x == pytest.approx(x, abs=1e-14)
    assert SCHEME.symmetric


def test_it_needs_a_costate():
    model = ph.Model("pendulum", gravity=(0, 0, -9.81))
    model.point_mass("bob", 1.0, position=(1, 0, 0))
    model.distance("rod", "ground", "bob", point_a=(0, 0, 0), point_b=(1, 0, 0))
    with pytest.raises(ph.PorthosError, match=r"DiscreteGradient.*steps pH-DAEs, .*and 'pendulum \(index 3\)' is none"):
        ph.simulate(model.assemble().formulation("index 3"), SCHEME, 0.01, 0.1)
    with pytest.raises(ph.PorthosError, match="DiscreteGradient: tolerance must be >= 0"):
        ph.DiscreteGradient(tolerance=-1.0)
