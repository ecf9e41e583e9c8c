"""The scheme of Livens' principle: numbers of 003, what it declares, compiled code against plain NumPy."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import lagrangians as given
import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp
from test_lagrangian import numeric_crank

import porthos as ph
from gallery import redundant_masses, spring_pendulum
from porthos.integrate import scheme as claims
from porthos.integrate.discrete_derivatives import gonzalez, itoh_abe, mean_value
from porthos.integrate.livens import plain_step
from porthos.system.check import difference_jacobian
from porthos.system.lagrangian_system import LagrangianSystem

CHOICES = [
    ph.Livens(derivative=derivative, partition=partition)
    for derivative, partition in product(("gonzalez", "mean value", "itoh-abe"), ("symmetric", "sequential"))
]
choices = pytest.mark.parametrize("scheme", CHOICES, ids=lambda s: f"{s.derivative}-{s.partition}")
PENDULUM_END = np.array([0.0213319317, 0.7239137315, -0.7239137315])  # 003, 6.2, t = 1
MASSES_END = np.array([0.1397914709, 1.2397914709, -0.2034579090])  # 003, 6.1 with k/4, t = 10


# --- discrete derivatives


def field(x: np.ndarray) -> np.ndarray:
    """Two functions of three numbers; the second does not depend on the last one."""
    return np.array([np.sin(x[0] * x[1]) + x[2] ** 4 * x[0], np.exp(x[0] / 3) * x[1] ** 2])


def slope(x: np.ndarray) -> np.ndarray:
    return (4 * difference_jacobian(field, x, 5e-4) - difference_jacobian(field, x, 1e-3)) / 3


ACTIVE = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]])


@pytest.mark.parametrize("derivative", [gonzalez, mean_value, itoh_abe])
def test_discrete_derivatives(derivative):
    rng = np.random.default_rng(1)
    x, d = rng.normal(size=(2, 3))
    gaps = []
    for size in (0.1, 0.05):
        D = derivative(field, slope, x, x + size * d, ACTIVE)
        assert D @ (size * d) == pytest.approx(field(x + size * d) - field(x), abs=1e-11)
        assert abs(D[1, 2]) < 1e-12  # cyclic
        gaps.append(np.abs(D - slope(x + size / 2 * d)).max())
    assert np.log2(gaps[0] / gaps[1]) > 1.7
    assert derivative(field, slope, x + d, x, ACTIVE) == pytest.approx(derivative(field, slope, x, x + d, ACTIVE))
    assert derivative(field, slope, x, x, ACTIVE) == pytest.approx(slope(x), abs=1e-12)  # no motion
    tiny = derivative(field, slope, x, x + 1e-9 * d, ACTIVE)
    assert tiny == pytest.approx(slope(x), abs=1e-7)  # round-off is not divided by |d|


def test_without_the_mask_a_correction_leaks_into_cyclic_coordinates():
    x, y = np.array([0.1, 0.4, 0.3]), np.array([0.5, 1.0, 0.9])
    assert abs(gonzalez(field, slope, x, y, np.ones((2, 3)))[1, 2]) > 1e-4


# --- the numbers of 003


def test_spring_pendulum_in_spherical_coordinates():
    """003, 6.2: generalised energy to 1e-14 a step, total energy to 2.9e-4, p_phi exactly."""
    run = ph.simulate(spring_pendulum.model(), ph.Livens(), 0.01, 1.0)
    E = run.generalized_energy
    assert np.abs(np.diff(E)).max() < 1e-14
    assert np.abs(run.H - run.H[0]).max() == pytest.approx(2.9e-4, abs=0.05e-4)
    assert np.ptp(run.p[:, 2]) < 2e-14
    assert 1e-5 < run.momentum_gap.max() < 1e-3
    gap = np.sum(run.v * (momenta(run) - run.p), axis=1)
    assert gap == pytest.approx(run.H - E, abs=1e-14)
    ends = [spring_pendulum.cartesian(ph.simulate(run.system, ph.Livens(), h, 1.0).q[-1]) for h in (2e-3, 1e-3)]
    assert (4 * ends[1] - ends[0]) / 3 == pytest.approx(PENDULUM_END, abs=1e-8)


def momenta(run: ph.LagrangianTrajectory) -> np.ndarray:
    r, theta, _ = run.q.T
    return run.v * np.column_stack([np.ones_like(r), r**2, (r * np.sin(theta)) ** 2])


def test_plain_derivatives_lose_the_momentum_of_cyclic_coordinates():
    """FORMULAS: 5e-5 in 6.2 without the restriction to coordinates on which L depends."""
    system = spring_pendulum.model()
    assert system.terms.active.tolist() == [[1.0, 1.0, 0.0]]
    system.terms.active = np.ones((1, 3))
    run = ph.simulate(system, ph.Livens(), 0.01, 1.0)
    assert np.abs(run.p[:, 2] - run.p[0, 2]).max() == pytest.approx(5e-5, rel=0.2)
    assert np.abs(np.diff(run.generalized_energy)).max() < 1e-14  # energy does not see it


def test_masses_with_a_singular_mass_matrix():
    """003, 6.1: energy and constraint to round-off with h = 0.1; p = M v since M is constant."""
    system = redundant_masses.model()
    run = ph.simulate(system, ph.Livens(), 0.1, 10.0)
    assert np.abs(np.diff(run.H)).max() < 3e-15
    assert run.position_error.max() < 1e-15
    assert run.momentum_gap.max() < 3e-15
    ends = [ph.simulate(system, ph.Livens(), h, 10.0).q[-1] for h in (4e-3, 2e-3)]
    assert (4 * ends[1] - ends[0]) / 3 == pytest.approx(MASSES_END, abs=1e-8)


# --- what is declared


@choices
def test_order(scheme):
    system = spring_pendulum.model()
    ends = [spring_pendulum.cartesian(ph.simulate(system, scheme, h, 1.0).q[-1]) for h in (2e-3, 1e-3)]
    errors = [np.abs(end - PENDULUM_END).max() for end in ends]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(scheme.order, abs=0.05), errors
    assert scheme.order == (2 if scheme.symmetric else 1)


@choices
def test_order_with_a_constraint_damping_and_an_input(scheme):
    """All of q, v, p and the multipliers at the nodes."""
    system = given.crank()
    exact = ph.simulate(system, ph.RadauIIA(5), 0.025, 0.5, inputs={"motor": np.sin})
    errors = []
    for h in (5e-3, 2.5e-3):
        run = ph.simulate(system, scheme, h, 0.5, inputs={"motor": np.sin})
        gap = np.abs(run.x[-1] - exact.x[-1])
        middle = abs(run["lambda"][run.t.size // 2] - exact["lambda"][exact.t.size // 2])
        errors.append([gap[:2].max(), gap[2:4].max(), run.momentum_gap[-1], middle])
    slopes = np.log2(np.divide(*errors))
    assert slopes == pytest.approx(scheme.order, abs=0.25), errors


@choices
def test_what_is_declared_to_be_kept_is_kept(scheme):
    assert {claims.GENERALISED, claims.POSITION, claims.CYCLIC} <= scheme.preserves
    run = ph.simulate(spring_pendulum.model(), scheme, 0.01, 20.0)
    E = run.generalized_energy
    assert np.abs(E / E[0] - 1).max() < 5e-13
    assert np.ptp(run.p[:, 2]) < 5e-13
    constrained = ph.simulate(given.crank(), scheme, 0.01, 2.0, inputs={"motor": np.cos})
    assert constrained.position_error.max() < 1e-15
    assert np.abs(constrained.power_balance).max() < 1e-14 * np.abs(constrained.H).max()
    assert constrained.dissipated[-1] > 0.1
    assert constrained.port("motor").work[-1] == pytest.approx(constrained.supplied[-1])
    assert abs(constrained.supplied[-1]) > 0.1


@choices
def test_a_step_back_undoes_a_step_of_the_symmetric_partition(scheme):
    terms = given.crank().terms
    q, v, _ = given.crank().split(given.crank().initial_state())
    v = v + np.array([1.0, -np.cos(q[0]) / (2 * np.cos(q[1]))])
    u, p = np.array([0.7]), terms.Lv(q, v)
    there = plain_step(scheme, terms, 0.05, 0.0, q, v, p, u, np.append(0.05 * v, 0.0))
    back = plain_step(scheme, terms, -0.05, 0.05, there.q, there.v, there.p, u, np.append(-0.05 * there.v, 0.0))
    gap = max(np.abs(back.q - q).max(), np.abs(back.v - v).max(), np.abs(back.p - p).max())
    assert (gap < 1e-11) == scheme.symmetric, gap


@choices
def test_constraints_of_degree_four(scheme):
    """x^4 + y^4 = 1: the midpoint rule drifts from it, discrete derivatives do not."""
    x, y, u, v = sp.symbols("x y u v", real=True)
    L = (u**2 + v**2) / 2 - y
    bead = ph.Lagrangian(L, [x, y], [u, v], constraints=[x**4 + y**4 - 1], initial=([1, 0], [0, 1]), name="bead")
    run = ph.simulate(bead, scheme, 0.02, 2.0)
    assert run.position_error.max() < 1e-14
    assert np.abs(run.H - run.H[0]).max() < 1e-13
    gauss = ph.simulate(bead, ph.Gauss(1), 0.02, 2.0)
    assert np.abs(np.sum(gauss.x[:, :2] ** 4, axis=1) - 1).max() > 1e-6


@choices
def test_drive_by_a_constraint(scheme):
    """The bead on the turning wire: the energy that the wire supplies is accounted for exactly."""
    run = ph.simulate(given.bead_on_turning_wire(2.0, 0.3), scheme, 0.005, 0.5)
    assert run.q[-1] == pytest.approx(0.3 * np.cosh(1.0) * np.array([np.cos(1.0), np.sin(1.0)]), abs=2e-4)
    assert np.abs(run.power_balance).max() < 1e-14
    assert run.port("constraints").work[-1] == pytest.approx(run.H[-1] - run.H[0], abs=1e-12)
    assert run.port("constraints").work[-1] > 0.9
    assert run.position_error.max() < 1e-15


@choices
def test_pumped_swing(scheme):
    """A rope whose length changes with time, damping and a push: l theta'' + 2 l' theta' + ... with SciPy."""
    t, x, y, u, v = sp.symbols("t x y u v")
    rope = sp.Eq(x**2 + y**2, (1 + sp.sin(5 * t) / 10) ** 2)
    start = np.array([np.sin(0.5), -np.cos(0.5)])
    swing = ph.Lagrangian(
        (u**2 + v**2) / 2 - sp.Float(9.81) * y, [x, y], [u, v], constraints=rope, dissipation=(u**2 + v**2) / 20,
        inputs={"push": [1, 0]}, initial=(start, 0.5 * start), name="swing", time=t,
    )  # fmt: skip

    def angle(s, state):
        length, rate = 1 + np.sin(5 * s) / 10, np.cos(5 * s) / 2
        force = np.sin(2 * s) * np.cos(state[0]) - 9.81 * np.sin(state[0])
        return [state[1], (force - (2 * rate + length / 10) * state[1]) / length]

    theta = solve_ivp(angle, (0, 3), [0.5, 0.0], method="DOP853", rtol=1e-12, atol=1e-13).y[0, -1]
    end = (1 + np.sin(15) / 10) * np.array([np.sin(theta), -np.cos(theta)])
    runs = [ph.simulate(swing, scheme, h, 3.0, inputs={"push": lambda s: np.sin(2 * s)}) for h in (0.02, 0.01)]
    errors = [np.abs(run.q[-1] - end).max() for run in runs]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.3), errors
    assert errors[1] < 2e-6
    run = runs[1]
    work = {port: run.port(port).work[-1] for port in ("push", "constraints")}
    assert run.H[-1] - run.H[0] == pytest.approx(sum(work.values()) - run.dissipated[-1], abs=1e-12)
    assert work["constraints"] < -0.7
    assert np.abs(run.power_balance).max() < 2e-14
    assert run.position_error.max() < 1e-14


# --- compiled and plain


@choices
def test_compiled_steps_are_those_of_plain_functions(scheme):
    drive = {"motor": lambda t: 3 * np.cos(5 * t)}
    compiled, plain = (ph.simulate(each, scheme, 0.01, 0.2, inputs=drive) for each in (given.crank(), numeric_crank()))
    assert isinstance(plain, ph.LagrangianTrajectory)
    for name in ("x", "p", "supplied", "dissipated"):
        assert getattr(compiled, name) == pytest.approx(getattr(plain, name), abs=1e-8 if name == "x" else 1e-11), name
    assert np.abs(plain.power_balance).max() < 1e-13


def test_a_lagrangian_that_is_not_quadratic_in_v():
    """A relativistic oscillator, L = -sqrt(1 - v^2) - x^2/2: its energy is kept, its motion is right."""
    x, v = sp.symbols("x v", real=True)
    fast = ph.Lagrangian(-sp.sqrt(1 - v**2) - x**2 / 2, [x], [v], initial=([1.0], [0.0]), name="fast")
    assert not fast.terms.quadratic
    exact = ph.simulate(fast, ph.Gauss(4), 0.05, 2.0).x[-1]
    plain = ph.NumericLagrangian(
        lambda q, v: -np.sqrt(1 - v[0] ** 2) - q[0] ** 2 / 2, ["x"], ["v"], quadratic_in_v=False, initial=([1.0], [0.0])
    )
    for derivative in ("gonzalez", "mean value", "itoh-abe"):
        scheme = ph.Livens(derivative)
        ends = [ph.simulate(fast, scheme, h, 2.0) for h in (0.02, 0.01)]
        assert np.abs(ends[1].power_balance).max() < 1e-11  # round-off divided by the change of v, where that is small
        errors = [np.abs(run.x[-1] - exact).max() for run in ends]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
        other = ph.simulate(plain, scheme, 0.02, 2.0)
        assert other.x[-1] == pytest.approx(ends[0].x[-1], abs=1e-8)


def test_on_mechanisms_it_is_the_midpoint_rule():
    """A pendulum of a point mass as Model and as Lagrangian in Cartesian coordinates; both as PH-MP."""
    model = ph.Model("pendulum", gravity=(0, 0, -9.81))
    model.point_mass("bob", 2.0, position=(1, 0, 0), velocity=(0, 1.0, 0.5))
    model.distance("rod", model.ground, "bob", point_a=(0, 0, 0), point_b=(1, 0, 0))
    of_model, midpoint = (ph.simulate(model, scheme, 0.01, 2.0) for scheme in (ph.Livens(), ph.Midpoint()))
    assert isinstance(of_model, ph.Trajectory)
    assert np.array_equal(of_model.q, midpoint.q)
    x, y, z, u, v, w = sp.symbols("x y z u v w", real=True)
    L = u**2 + v**2 + w**2 - 2 * sp.Float(9.81) * z
    g = (x**2 + y**2 + z**2 - 1) / 2
    bob = ph.Lagrangian(L, [x, y, z], [u, v, w], constraints=[g], initial=([1, 0, 0], [0, 1.0, 0.5]), name="bob")
    for scheme in CHOICES:
        run = ph.simulate(bob, scheme, 0.01, 2.0)
        assert run.q == pytest.approx(midpoint["bob"].position, abs=1e-11)
        assert run.v == pytest.approx(midpoint["bob"].velocity, abs=1e-10)
    gauss = ph.simulate(bob, ph.Gauss(1), 0.01, 2.0)
    assert gauss.x[:, :3] == pytest.approx(run.q, abs=1e-10)


# --- runs


def test_recording_every_kth_step_changes_nothing():
    system = given.crank()
    for inputs in ({}, {"motor": lambda t, y: -0.3 * y}):
        fine = ph.simulate(system, ph.Livens(), 0.01, 0.6, inputs=inputs)
        coarse = ph.simulate(system, ph.Livens(), 0.01, 0.6, inputs=inputs, every=5)
        assert np.array_equal(fine.x[::5], coarse.x)
        assert np.array_equal(fine.p[::5], coarse.p)
        assert coarse.supplied == pytest.approx(fine.supplied[::5], abs=1e-14)
        assert coarse.dissipated == pytest.approx(fine.dissipated[::5], abs=1e-14)
        assert coarse.iterations.sum() == fine.iterations.sum()
    assert fine.supplied[-1] < 0.0  # the controller brakes
    assert fine.at(0.005) == pytest.approx((fine.x[0] + fine.x[1]) / 2)


def test_inputs_as_constant_table_function_and_controller_agree():
    forms = (0.7, np.full(30, 0.7), lambda t: 0.7, lambda t, y: [0.7])
    for system in (given.crank(), numeric_crank()):
        runs = [ph.simulate(system, ph.Livens(), 0.01, 0.3, inputs={"motor": form}) for form in forms]
        for run in runs[1:]:
            assert run.x == pytest.approx(runs[0].x, abs=1e-13)
            assert run.supplied == pytest.approx(runs[0].supplied, abs=1e-14)
            assert np.array_equal(run.u, runs[0].u)


def test_failures_keep_what_was_computed():
    def force(t):
        return 1.0 / float(t < 0.46)

    for system in (given.crank(), numeric_crank()):
        with pytest.raises(ph.SimulationError, match=r"'motor' at t = 0.465.*ZeroDivisionError") as caught:
            ph.simulate(system, ph.Livens(), 0.01, 1.0, inputs={"motor": force}, every=4)
        part = caught.value.trajectory
        assert part.status is ph.Status.BAD_INPUT
        assert part.t == pytest.approx(np.append(np.arange(0, 0.45, 0.04), 0.46))
        assert np.isfinite(part.x).all()
        stalled = ph.simulate(system, ph.Livens(max_iterations=1), 0.05, 1.0, on_failure="return")
        assert stalled.status is ph.Status.NEWTON_STALLED
        assert stalled.t.tolist() == [0.0]
        assert "in the step from t = 0 to 0.05" in stalled.message


def test_a_singular_start_is_pointed_out():
    """Nothing determines x - y."""
    x, y, u, v = sp.symbols("x y u v", real=True)
    loose = ph.Lagrangian((u + v) ** 2 / 2, [x, y], [u, v], initial=([0, 0], [1, 0]), name="loose")
    run = ph.simulate(loose, ph.Livens(), 0.1, 1.0, on_failure="return")
    assert run.status is ph.Status.SINGULAR


def test_rest_stays_rest_and_free_motion_is_straight():
    x, y, u, v = sp.symbols("x y u v", real=True)
    free = ph.Lagrangian((u**2 + 2 * v**2) / 2, [x, y], [u, v], initial=([0, 0], [1, 0]), name="free")
    run = ph.simulate(free, ph.Livens(), 0.1, 1.0)
    assert run.q == pytest.approx(np.column_stack([run.t, np.zeros(11)]), abs=1e-14)
    still = ph.simulate(free, ph.Livens(), 0.1, 1.0, start=np.zeros(4))
    assert not still.x.any()


def test_summary_and_messages():
    run = ph.simulate(spring_pendulum.model(), ph.Livens(), 0.01, 0.1)
    for part in ("spring pendulum: 6 states", "p.v - L", "|p - dL/dv| at most", "with Livens()"):
        assert part in run.summary()
    with pytest.raises(ph.PorthosError, match=r"found no derivative 'gonzales'. Did you mean 'gonzalez'"):
        ph.Livens(derivative="gonzales")
    with pytest.raises(ph.PorthosError, match=r"found no partition 'both'"):
        replace(ph.Livens(), partition="both")
    with pytest.raises(ph.PorthosError, match="tolerance must be >= 0"):
        ph.Livens(tolerance=-1.0)
    linear = ph.LinearPHDAE("two states", J=[[0, 1], [-1, 0]], Q=np.eye(2), initial=[1, 0])
    with pytest.raises(ph.PorthosError, match="steps mechanisms and Lagrangians, and 'two states' is neither"):
        ph.simulate(linear, ph.Livens(), 0.1, 1.0)
    assert isinstance(run.system, LagrangianSystem)
