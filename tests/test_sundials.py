"""BDF by SUNDIALS: errors as requested on all forms, jumps, times, events, balances, and messages."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from test_adaptive import PROBLEMS, pendulum

import porthos as ph
from gallery import car_axis
from gallery.references import REFERENCES

FORMS = ("index 2", "GGL", "index 1")


def model(**load) -> ph.Model:
    """A01 of REFERENCES as a mechanism: released at 90 degrees; with a load if it is given."""
    made = ph.Model("pendulum", gravity=(0, 0, -9.81))
    made.point_mass("bob", 1.0, position=(-1, 0, 0))
    made.distance("rod", made.ground, "bob", point_a=(0, 0, 0), point_b=(-1, 0, 0))
    if load:
        made.load("push", "bob", **load)
    return made


BOB = (0.9862917511318753, 0.0, -0.1650108531255412)  # at t = 1


@pytest.mark.parametrize("problem", ["two masses", "planet", "pendulum", "car axis", "squeezer"])
@pytest.mark.parametrize("rtol", [1e-4, 1e-7])
def test_errors_are_as_requested(problem, rtol):
    make, _, end, states, exact, inputs = PROBLEMS[problem]
    run = ph.simulate(make(), ph.IDA(), ph.Adaptive(rtol, atol=1e-3 * rtol), end, inputs=inputs)
    places = list(states)
    error = np.abs(run.x[-1, places] - exact()) / np.abs(run.x[:, places]).max(axis=0)
    assert run.t[-1] == end
    assert 0.01 * rtol < error.max() < 10 * rtol, error.max() / rtol


def test_the_car_axis_to_published_digits():
    run = ph.simulate(car_axis.model(), ph.IDA(), ph.Adaptive(1e-7, 1e-10), 3.0, times=[3.0])
    q, v = (next(r.value for r in REFERENCES if (r.module, r.key) == ("car_axis", key)) for key in "qv")
    assert run.x[-1, [0, 1, 2, 3]] == pytest.approx(np.array(q), abs=1e-6)
    assert run.x[-1, [6, 7, 8, 9]] == pytest.approx(np.array(v), abs=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_a_mechanism(form):
    """Positions, velocities, multipliers and constraints; lambda of rod at t = 1 from m (|v|^2 + g z)/l^2."""
    system = model().assemble().formulation(form)
    run = ph.simulate(system, ph.IDA(), ph.Adaptive(1e-6, 1e-9), 1.0)
    # index 2 is the form of the mechanism itself
    states = np.hstack([run.q, run.v, run.multipliers]) if isinstance(run, ph.Trajectory) else run.x
    q, v, tension = states[-1, :3], states[-1, 3:6], states[-1, 6]
    assert q == pytest.approx(BOB, abs=1e-5)
    assert v @ v == pytest.approx(-2 * 9.81 * q[2], abs=1e-5)
    assert abs(tension) == pytest.approx(v @ v - 9.81 * q[2], rel=1e-4)
    gap = np.abs((states[:, :3] ** 2).sum(axis=1) - 1).max()
    assert gap < (1e-8 if form == "GGL" else 1e-5)


def test_higher_orders_need_fewer_steps():
    steps = [ph.simulate(pendulum(), ph.IDA(k), ph.Adaptive(1e-3), 1.0).t.size for k in (1, 2, 5)]
    assert steps[0] > 4 * steps[1] > 8 * steps[2]


def test_a_jump_of_a_load_is_landed_on_and_multipliers_jump_with_it():
    """Against Radau IIA, which lands on it too; work and energy fit to the tolerance."""
    push = ph.Step(0.5, after=(0.0, 0, 7.0), before=(0.0, 0, 0.0))
    run = ph.simulate(model(force=push), ph.IDA(), ph.Adaptive(1e-6, 1e-9), 1.0)
    assert 0.5 in run.t
    assert run.power_balance.sum() == pytest.approx(0.0, abs=1e-4)
    assert run.port("push").work[-1] == pytest.approx(run.energy[-1] - run.energy[0], abs=1e-4)
    radau = ph.simulate(model(force=push), ph.RadauIIA(3), ph.Adaptive(1e-8, 1e-10), 1.0)
    assert run["bob"].position[-1] == pytest.approx(radau["bob"].position[-1], abs=1e-5)


def test_times_events_and_files(tmp_path):
    system = model().assemble()
    events = {"lowest": ph.Event(lambda t, x: x[0], terminal=True), "noon": lambda t, x: t - 1 / 3}
    steps = ph.Adaptive(1e-6, 1e-9)
    run = ph.simulate(system, ph.IDA(), steps, 2.0, times=[0.1, 0.2], events=events, out=tmp_path / "run.nc")
    assert run.t[:3].tolist() == [0.0, 0.1, 0.2]
    assert [one.name for one in run.events] == ["noon", "lowest"]
    assert run.events[1].t == run.t[-1] == pytest.approx(2.36784194757623745 / 4, abs=1e-5)
    assert ph.load(tmp_path / "run.nc").events[1].t == run.events[1].t
    file = model().save(tmp_path / "model.yaml", ph.Simulation(steps, 1.0, ph.IDA(max_order=4), times=[1.0]))
    assert ph.simulate_file(file)["bob"].position[-1] == pytest.approx(BOB, abs=1e-5)


def test_failures_keep_what_was_computed():
    few = ph.simulate(model(), ph.IDA(), ph.Adaptive(1e-6, max_steps=20), 1.0, on_failure="return")
    assert few.status is ph.Status.TOO_MANY_STEPS
    assert 0.0 < few.t[-1] < 1.0
    wide = ph.Adaptive(1e-8, minimum=0.1, initial=0.1)
    coarse = ph.simulate(model(), ph.IDA(), wide, 1.0, on_failure="return")
    assert coarse.status in (ph.Status.STEP_TOO_SMALL, ph.Status.NEWTON_STALLED)
    assert "IDA said:" in coarse.message
    wrong = model(force=lambda t: (0, 0, 1 / float(t < 0.5)))
    run = ph.simulate(wrong, ph.IDA(), ph.Adaptive(), 1.0, on_failure="return")
    assert run.status is ph.Status.BAD_INPUT
    assert "push" in run.message
    assert 0.1 < run.t[-1] <= 0.5


def test_messages(monkeypatch):
    with pytest.raises(ph.PorthosError, match=r"chooses its steps itself: give step=ph\.Adaptive"):
        ph.simulate(model(), ph.IDA(), 0.1, 1.0)
    with pytest.raises(ph.PorthosError, match=r"chooses its steps itself: use simulate"):
        system = model().assemble()
        ph.IDA().step(system, 0.1, system.initial_state())
    with pytest.raises(ph.PorthosError, match="expected 1 <= max_order <= 5, found max_order = 6"):
        ph.IDA(6)
    with pytest.raises(ph.PorthosError, match=r"expected a system of index 1 or 2, found that .* has index 3"):
        ph.simulate(model().assemble().formulation("index 3"), ph.IDA(), ph.Adaptive(), 1.0)
    monkeypatch.setitem(sys.modules, "sksundae.ida", None)
    with pytest.raises(ph.PorthosError, match=r"expected the package scikit-sundae.*porthos\[sundials\]"):
        ph.simulate(model(), ph.IDA(), ph.Adaptive(), 1.0)
