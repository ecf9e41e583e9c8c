"""Radau, BDF and LSODA of SciPy: errors as requested, forms, SciPy itself, landing, events, failures, messages."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from test_adaptive import PROBLEMS
from test_sundials import BOB, model

import porthos as ph

METHODS = ("Radau", "BDF", "LSODA")
methods = pytest.mark.parametrize("method", METHODS)


@pytest.mark.parametrize(
    ("problem", "method"),
    [("two masses", "Radau"), ("two masses", "LSODA"), ("two masses", "BDF"), ("pendulum", "Radau")],
)
def test_errors_are_at_most_ten_times_the_request(problem, method):
    """They may be smaller, Radau is cautious. Without algebraic states, and a Lagrangian with a constraint."""
    make, _, end, states, exact, inputs = PROBLEMS[problem]
    run = ph.simulate(make(), ph.SciPy(method), ph.Adaptive(1e-5, atol=1e-8), end, inputs=inputs)
    places = list(states)
    error = np.abs(run.x[-1, places] - exact()) / np.abs(run.x[:, places]).max(axis=0)
    assert run.t[-1] == end
    assert 0.0 < error.max() < 1e-4, error.max()


@methods
def test_the_steps_are_those_of_scipy(method):
    """x' = -K x with K = E^-1 (R - J) by hand gives the same states, at the same times."""
    system = ph.LinearPHDAE("damped", J=[[0, 1], [-1, 0]], R=[[0, 0], [0, 0.3]], Q=[[2, 0], [0, 1]], initial=[1.0, 0.0])
    run = ph.simulate(system, ph.SciPy(method), ph.Adaptive(1e-5, atol=1e-8), 5.0)
    local = 1.0 if method == "Radau" else 0.01
    K = np.array([[0.0, 1.0], [-2.0, -0.3]])
    theirs = solve_ivp(
        lambda t, x: K @ x, (0, 5), [1.0, 0.0], method, rtol=local * 1e-5, atol=local * 1e-8, jac=lambda t, x: K
    )
    assert run.t == pytest.approx(theirs.t, abs=1e-9)
    assert run.x == pytest.approx(theirs.y.T, abs=1e-9)


@pytest.mark.parametrize("form", ["index 2", "index 1", "Baumgarte, index 1"])
def test_forms_of_a_mechanism(form):
    """The mechanism itself by its accelerations, the form (61) with two kinds of multipliers, and Baumgarte's."""
    system = model().assemble().formulation(form)
    run = ph.simulate(system, ph.SciPy("Radau"), ph.Adaptive(1e-4, 1e-7), 1.0)
    states = np.hstack([run.q, run.v, run.multipliers]) if isinstance(run, ph.Trajectory) else run.x
    q, v, tension = states[-1, :3], states[-1, 3:6], states[-1, 6]
    assert q == pytest.approx(BOB, abs=1e-4)
    assert abs(tension) == pytest.approx(v @ v - 9.81 * q[2], rel=1e-3)


def test_alpha_keeps_constraints_and_redundant_rows_do_no_harm():
    steps = ph.Adaptive(1e-2, 1e-5)
    gaps = [ph.simulate(model(), ph.SciPy("BDF", alpha), steps, 2.0).position_error.max() for alpha in (0.0, 5.0)]
    assert gaps[1] < gaps[0] / 3
    double = model()
    double.distance("again", double.ground, "bob", point_a=(0, 0, 0), point_b=(-1, 0, 0))
    run = ph.simulate(double, ph.SciPy(), ph.Adaptive(1e-4, 1e-7), 1.0)
    assert run["bob"].position[-1] == pytest.approx(BOB, abs=1e-4)


def test_jumps_times_and_events():
    """Against Radau IIA of ours; work is that of the load to the tolerance."""
    push = ph.Step(0.5, after=(0.0, 0, 7.0), before=(0.0, 0, 0.0))
    system, steps = model(force=push).assemble(), ph.Adaptive(1e-5, 1e-8)
    run = ph.simulate(system, ph.SciPy(), steps, 1.0, times=[0.25, 0.7], events={"noon": lambda t, x: t - 1 / 3})
    assert run.t.tolist() == [0.0, 0.25, 0.7, 1.0]
    assert run.events[0].t == pytest.approx(1 / 3, abs=1e-12)
    assert run.port("push").work[-1] == pytest.approx(run.energy[-1] - run.energy[0], abs=1e-3)
    radau = ph.simulate(system, ph.RadauIIA(3), ph.Adaptive(1e-5, 1e-8), 1.0)
    assert run["bob"].position[-1] == pytest.approx(radau["bob"].position[-1], abs=1e-4)
    ends = ph.simulate(system, ph.SciPy(), steps, 1.0, events={"low": ph.Event(lambda t, x: x[0], terminal=True)})
    assert ends.status is ph.Status.EVENT
    assert ends["bob"].position[-1, 0] == pytest.approx(0.0, abs=1e-12)


def test_failures_keep_what_was_computed():
    few = ph.simulate(model(), ph.SciPy(), ph.Adaptive(1e-6, max_steps=5), 1.0, on_failure="return")
    assert few.status is ph.Status.TOO_MANY_STEPS
    assert few.t.size == 6
    wide = ph.simulate(model(), ph.SciPy(), ph.Adaptive(1e-8, minimum=0.1), 1.0, on_failure="return")
    assert wide.status is ph.Status.STEP_TOO_SMALL
    assert "SciPy, Radau, said: a step of" in wide.message


def test_messages():
    with pytest.raises(ph.PorthosError, match=r"found no method 'Raadau'. Did you mean 'Radau'"):
        ph.SciPy("Raadau")
    with pytest.raises(ph.PorthosError, match="expected a rate alpha >= 0, found -1"):
        ph.SciPy("BDF", -1.0)
    with pytest.raises(ph.PorthosError, match=r"expected a system of index 1.* has index 2\. Use ph\.IDA"):
        ph.simulate(model().assemble().formulation("GGL"), ph.SciPy(), ph.Adaptive(), 1.0)
    with pytest.raises(ph.PorthosError, match=r"chooses its steps itself: give step=ph\.Adaptive"):
        ph.simulate(model(), ph.SciPy(), 0.1, 1.0)
