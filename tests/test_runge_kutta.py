"""Gauss, Radau IIA and Lobatto IIIC on pH-DAEs and mechanical systems: what they declare, and the numbers of 000."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from catalogue import RUNGE_KUTTA, STATE_SCHEMES
from hypothesis import example, given
from random_systems import linear, nonlinear, seeds
from scipy.integrate import solve_ivp
from test_schemes import driven_model
from two_rods import double_pendulum

import porthos as ph
from gallery import two_masses
from porthos.integrate import scheme as claims

schemes = pytest.mark.parametrize("scheme", RUNGE_KUTTA, ids=lambda s: f"{type(s).__name__}({s.stages})")
all_schemes = pytest.mark.parametrize("scheme", STATE_SCHEMES, ids=lambda s: f"{type(s).__name__}({s.tableau.stages})")


# --- power balance


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
def test_power_balance_of_gauss_with_damping_and_input(stages):
    """000, section 7.2.2: dH = -h sum b (d1 V1^2 + d2 V2^2) + h sum b alpha V1."""
    run = two_masses.driven(ph.Gauss(stages))
    assert run.supplied[-1] > 10
    assert run.dissipated[-1] > 40
    assert np.abs(run.power_balance).max() < 1e-13
    assert run.port("push").work[-1] == run.supplied[-1]
    assert run.port("push").input[5] == two_masses.PUSH
    assert run.port("push").output[:, 0] == pytest.approx(run["v1"], abs=1e-12)


def test_power_balance_of_gauss_over_t_2000():
    """The same in each of 20000 steps; 000, section 7.2.2."""
    run = two_masses.driven(ph.Gauss(3), 0.1, 2000.0)
    assert run.t.size == 20001
    assert np.abs(run.power_balance).max() < 1e-13
    assert run.H[-1] == pytest.approx(two_masses.PUSH**2 / 3, abs=1e-12)  # at rest under the push: f^2 (K^-1)_11 / 2


@schemes
def test_power_balance_of_every_method_has_a_known_defect(scheme):
    """-h^2/2 sum_ij m_ij X_i'^T Q X_j' for quadratic H and constant E, also with P, S and N."""
    system, h = linear(5, 4, 2, dissipation=0.1), 0.05
    run = ph.simulate(system, scheme, h, 1.0, inputs={"u0": np.sin, "u1": 0.3}, start=[1.0, -0.5, 0.3, 0.2])
    m, K = scheme.tableau.algebraic_stability, system.E(run.x[0]).T @ system.Q
    W = run.raw.increments
    expected = -0.5 * np.einsum("ij,nik,kl,njl->n", m, W, K, W)
    assert run.power_balance[1:] == pytest.approx(expected, abs=1e-13 * max(1.0, run.H.max()))
    assert expected.max() < 1e-15
    assert (np.abs(expected).max() < 1e-15) == (claims.QUADRATIC in scheme.preserves)


@given(seed=seeds)
def test_power_balance_of_random_systems(seed):
    system = linear(seed, 4, 2)
    run = ph.simulate(system, ph.Gauss(2), 0.02, 0.2, inputs={"u0": np.cos}, start=np.ones(4))
    assert np.abs(run.power_balance).max() < 1e-12 * max(1.0, run.H.max(), run.dissipated[-1])


# --- orders


def duffing() -> ph.GeneralPHDAE:
    """E(x), r(x, t), a damper and a port: q' = p/m, in the variable s = q + q^3/3, with a support that moves."""
    m, k, d = 2.0, 3.0, 0.1
    return ph.GeneralPHDAE(
        "Duffing",
        states=["q", "p"],
        ports=["force"],
        H=lambda x, t: x[1] ** 2 / (2 * m) + k / 4 * (x[0] - np.sin(t)) ** 4,
        z=lambda x, t: [k * (x[0] - np.sin(t)) ** 3 / (1 + x[0] ** 2), x[1] / m],
        r=lambda x, t: [-np.cos(t) * (1 + x[0] ** 2), 0.0],
        E=lambda x: [[1 + x[0] ** 2, 0], [0, 1]],
        J=[[0, 1], [-1, 0]],
        R=[[0, 0], [0, d]],
        B=[[0], [1]],
        initial=[1.0, 0.5],
    )


@cache
def duffing_end() -> np.ndarray:
    def rate(t, x):
        q, p = x
        return [(p / 2) / (1 + q**2) + np.cos(t), -3 * (q - np.sin(t)) ** 3 / (1 + q**2) - 0.05 * p + np.cos(3 * t)]

    return solve_ivp(rate, (0, 1), [1.0, 0.5], rtol=1e-13, atol=1e-14, method="DOP853").y[:, -1]


@all_schemes
def test_order_on_a_system_with_everything(scheme):
    """State-dependent E, time flow r, damping, a varying input: the order is the one declared."""
    counts = (4, 8) if scheme.order > 4 else (16, 32) if scheme.order > 2 else (64, 128)
    runs = [ph.simulate(duffing(), scheme, 1 / n, 1.0, inputs={"force": lambda t: np.cos(3 * t)}) for n in counts]
    errors = [np.abs(run.x[-1] - duffing_end()).max() for run in runs]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(scheme.order, abs=0.35), errors


def test_index_1_form_has_full_order_in_all_states():
    """(61) of a simple pendulum that swings: q, v and lambda; gamma is zero."""
    model = ph.Model("pendulum", gravity=(0, 0, -9.81))
    model.point_mass("bob", 1.0, position=(1, 0, 0), velocity=(0, 0, 2))
    model.distance("rod", model.ground, "bob", point_a=(0, 0, 0), point_b=(1, 0, 0))
    form = model.assemble().formulation("index 1")
    ends = [ph.simulate(form, ph.RadauIIA(2), 0.4 / n, 0.4).x[-1] for n in (4, 8, 16)]
    gaps = np.abs(np.diff(ends, axis=0))
    errors = [[gap[:3].max(), gap[3:6].max(), gap[6]] for gap in gaps]
    assert np.log2(np.divide(*errors)) == pytest.approx([3, 3, 3], abs=0.4), errors


# --- mechanical systems


def test_gauss_on_a_mechanism_is_as_exact_as_the_midpoint_rule_and_of_higher_order():
    drive = {"motor": lambda t: np.sin(5 * t)}
    system = driven_model().assemble()
    fine = ph.simulate(system, ph.MidpointGGL(), 1e-4, 0.1, inputs=drive, every=1000)
    errors = []
    for steps in (3, 6):
        run = ph.simulate(system, ph.Gauss(2), 0.1 / steps, 0.1, inputs=drive)
        assert isinstance(run, ph.Trajectory)
        assert np.abs(run.power_balance).max() < 1e-13
        assert run.position_error.max() < 1e-13
        errors.append(np.abs(run["b"].position[-1] - fine["b"].position[-1]).max())
    assert errors[1] < 2e-6
    assert np.log2(errors[0] / errors[1]) > 3.3
    total = sum(run.port(name).work[-1] for name in ("wind", "stir", "pull", "motor"))
    assert run.energy[-1] - run.energy[0] == pytest.approx(total, abs=1e-13)


def test_redundant_joints_do_not_matter():
    def swing(*more):
        model = ph.Model("pendulum", gravity=(0, 0, -9.81))
        model.body("bob", ph.Box(1.0, (0.2, 0.1, 0.3)), position=(0.5, 0, 0))
        model.revolute("hinge", model.ground, "bob", at=(0, 0, 0), axis=(0, 1, 0))
        for name in more:
            model.spherical(name, "ground", "bob", at=(0, 0.1, 0))
        return ph.simulate(model, ph.RadauIIA(2), 0.02, 0.2)["bob"].position

    assert swing("again") == pytest.approx(swing(), abs=1e-12)


# --- time, dense output, recording


@given(seed=seeds)
@example(seed=643)  # updates that shrink by turns fast and slowly
def test_time_as_a_state_changes_nothing(seed):
    """Collocation integrates t' = 1 exactly, so the autonomous form makes the same steps (000, 4.2.3)."""
    system, start = nonlinear(seed, 3, 1), np.array([0.3, -0.2, 0.1])
    if np.linalg.cond(system.E(start)) > 1e3:
        return
    one = ph.Gauss(2).step(system, 0.01, start, np.array([0.4]), t=0.5)
    other = ph.Gauss(2).step(system.autonomous(), 0.01, np.append(start, 0.5), np.array([0.4, 1.0]))
    assert one.converged and other.converged
    assert other.x == pytest.approx(np.append(one.x, 0.51), abs=1e-11 * max(1.0, np.abs(one.x).max()))


def test_the_autonomous_form_runs_by_itself():
    run = ph.simulate(duffing().autonomous(), ph.Gauss(2), 0.05, 1.0, inputs={"force": lambda t: np.cos(3 * t)})
    assert run["time"] == pytest.approx(run.t, abs=1e-14)
    assert run.x[-1, :2] == pytest.approx(duffing_end(), abs=1e-6)


@pytest.mark.parametrize(("scheme", "order"), [(ph.Gauss(3), 4), (ph.RadauIIA(3), 4), (ph.LobattoIIIC(3), 3)])
def test_dense_output(scheme, order):
    exact = ph.simulate(duffing(), ph.Gauss(6), 1 / 32, 1.0)
    times = np.linspace(0, 1, 57)
    errors = []
    for steps in (8, 16):
        run = ph.simulate(duffing(), scheme, 1 / steps, 1.0)
        assert np.array_equal(run.at(run.t), run.x) or np.abs(run.at(run.t) - run.x).max() < 1e-15
        errors.append(np.abs(run.at(times) - exact.at(times)).max())
    assert np.log2(errors[0] / errors[1]) > order - 0.3, errors
    assert run.at(0.37).shape == (2,)
    with pytest.raises(ph.PorthosError, match=r"the run covers t = 0 to 1, asked for -0.1 to 2"):
        run.at([-0.1, 2.0])


def test_recording_every_kth_step_changes_nothing():
    inputs = {"force": lambda t, y: -0.3 * y}
    fine, coarse = (ph.simulate(duffing(), ph.RadauIIA(2), 0.05, 1.0, inputs=inputs, every=k) for k in (1, 5))
    assert np.array_equal(fine.x[::5], coarse.x)
    assert np.array_equal(fine.u[::5], coarse.u)
    assert coarse.supplied == pytest.approx(fine.supplied[::5], abs=1e-15)
    assert coarse.dissipated == pytest.approx(fine.dissipated[::5], abs=1e-15)
    assert coarse.iterations.sum() == fine.iterations.sum()
    with pytest.raises(ph.PorthosError, match="dense output needs every step"):
        coarse.at(0.5)


# --- inputs, failures, messages


def test_inputs_as_constant_table_function_and_controller_agree():
    forms = (0.7, np.full(10, 0.7), lambda t: 0.7, lambda t, y: [0.7])
    runs = [ph.simulate(duffing(), ph.Gauss(2), 0.1, 1.0, inputs={"force": form}) for form in forms]
    for run in runs[1:]:
        assert np.array_equal(run.x, runs[0].x)
        assert np.array_equal(run.u, runs[0].u)


def test_gauss_1_asks_a_controller_as_the_midpoint_scheme_does():
    model = ph.Model("damped")
    model.port("damper", model.point_mass("bead", 2.0, velocity=(1, 0, 0)), kind="force", direction=(1, 0, 0))
    seen: dict[str, list] = {"Midpoint": [], "Gauss": []}
    for scheme in (ph.Midpoint(), ph.Gauss(1)):
        log = seen[type(scheme).__name__]

        def damper(t, y, log=log):
            log.append((t, y))
            return -0.3 * y

        run = ph.simulate(model, scheme, 0.1, 1.0, inputs={"damper": damper})
        assert run["bead"].velocity[:, 0] == pytest.approx((1 - 0.015) ** np.arange(11), abs=1e-15)
    assert np.array(seen["Gauss"]) == pytest.approx(np.array(seen["Midpoint"]), abs=1e-15)


def test_a_failing_input_keeps_what_was_computed():
    def force(t):
        return 1.0 / float(t < 0.45)

    with pytest.raises(ph.SimulationError, match=r"'force' at t = 0.478.*ZeroDivisionError") as caught:
        ph.simulate(duffing(), ph.Gauss(2), 0.1, 1.0, inputs={"force": force})
    assert caught.value.status is ph.Status.BAD_INPUT
    assert caught.value.trajectory.t[-1] == pytest.approx(0.4)
    late = ph.simulate(duffing(), ph.Gauss(2), 0.1, 0.3, inputs={"force": lambda t: 1.0 / t})
    assert np.isnan(late.u[0]).all()  # a node is no stage
    assert np.isfinite(late.x).all()


def test_newton_that_fails_returns_the_part_computed():
    run = ph.simulate(duffing(), ph.Gauss(2, max_iterations=1), 0.1, 1.0, on_failure="return", every=5)
    assert run.status is ph.Status.NEWTON_STALLED
    assert "in the step from t = 0 to 0.1" in run.message
    assert run.t.tolist() == [0.0]
    wild = ph.GeneralPHDAE("wild", ["x"], H=lambda x: x[0] ** 2 / 2, z=lambda x: [x[0]], R=lambda x: [[np.nan]])
    broken = ph.simulate(wild, ph.RadauIIA(1), 1.0, 2.0, start=[1.0], on_failure="return")
    assert broken.status is ph.Status.BAD_INPUT
    assert "'wild'" in broken.message and "R: its function returned" in broken.message
    assert "BAD_INPUT" in repr(broken)


@pytest.mark.parametrize(("scheme", "advice"), [(ph.Gauss(2), "Gauss carries it"), (ph.RadauIIA(2), "will jump")])
def test_a_start_off_the_algebraic_equations_is_pointed_out(scheme, advice, caplog):
    massless = two_masses.model(m2=0.0, damping=(0.0, 0.5))
    ph.simulate(massless, scheme, 0.1, 0.1)
    assert caplog.messages[0].startswith("the start of 'two masses' misses an algebraic equation by 12, in row 3 (v2).")
    assert advice in caplog.messages[0]
    caplog.clear()
    ph.simulate(massless, scheme, 0.1, 0.1, start=[6.0, 24.0, 0.0, -24.0])
    assert not caplog.messages


def test_summary_says_what_happened():
    text = ph.simulate(duffing(), ph.RadauIIA(2), 0.1, 1.0).summary()
    for part in ("Duffing: 2 states, 1 ports, 10 recorded steps to t = 1 with RadauIIA(stages=2", "supplied", "defect"):
        assert part in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scheme": ph.Midpoint()}, r"steps mechanisms in a reduced form, and 'Duffing' is none.*ph.Gauss\(1\)"),
        ({"scheme": ph.Gauss}, r"found <class.*Did you mean ph.Gauss\(\)"),
        ({"start": [1.0]}, r"a state has 2 numbers \(q, p\), found shape \(1,\)"),
        ({"inputs": {"forse": 1.0}}, r"no port 'forse' to give an input to. Did you mean 'force'"),
        (
            {"inputs": {"force": [1.0, 2.0]}},
            r"port 'force': input: expected 1 number\(s\), an array of shape",
        ),
    ],
)
def test_messages(arguments, message):
    options = {"scheme": ph.Gauss(2), "step": 0.1, "end": 1.0} | arguments
    with pytest.raises(ph.PorthosError, match=message):
        ph.simulate(duffing(), **options)


def test_more_messages():
    with pytest.raises(ph.PorthosError, match="starts where the bodies of the model were put"):
        ph.simulate(driven_model(), ph.Midpoint(), 0.1, 0.1, start=np.zeros(3))
    with pytest.raises(ph.PorthosError, match=r"no formulation 'index 4'. Did you mean 'index 3'"):
        double_pendulum().formulation("index 4")
    with pytest.raises(ph.PorthosError, match=r"Gauss: tolerance must be >= 0, found -1"):
        ph.Gauss(2, tolerance=-1)
    with pytest.raises(ph.PorthosError, match=r"RadauIIA: max_iterations must be >= 1, found 0"):
        ph.RadauIIA(2, max_iterations=0)
