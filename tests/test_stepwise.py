"""Compiled schemes one step at a time: adaptive and reversible steps and events on mechanisms."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pytest
from catalogue import by_name
from scipy.integrate import solve_ivp
from test_drives import robot
from test_schemes import driven_model
from two_rods import END, GRID, double_pendulum, reference

import porthos as ph
from gallery import heavy_top, slider_crank
from porthos.integrate.scheme import VELOCITY

GGL4, GGL6, PLAIN4 = ph.Composition(order=4), ph.Composition(order=6), ph.Composition(ph.Midpoint(), 4)
SCHEMES = [ph.Midpoint(), ph.MidpointGGL(), PLAIN4, GGL4]
schemes = pytest.mark.parametrize("scheme", SCHEMES, ids=by_name)
PERIOD = 2.36784194757623745  # of the pendulum A01 of REFERENCES, released where it is level


def spring_pendulum() -> ph.Model:
    """A mass on a spring, in the plane y = 0."""
    model = ph.Model("spring pendulum", gravity=(0, 0, -9.81))
    model.point_mass("bob", 1.0, position=(1.2, 0, 0))
    model.spring("spring", "ground", "bob", point_a=(0, 0, 0), point_b=(1.2, 0, 0), stiffness=60.0, length=1.0)
    return model


@cache
def swung() -> np.ndarray:
    """Where it is at t = 2, by SciPy."""

    def rate(t, x):
        return [*x[2:], *(-60.0 * (1 - 1 / np.hypot(*x[:2])) * x[:2] - [0.0, 9.81])]

    return solve_ivp(rate, (0, 2), [1.2, 0, 0, 0], method="DOP853", rtol=1e-13, atol=1e-13).y[:2, -1]


def pendulum() -> ph.Model:
    """A mass on a rod of 1 m, level at the start."""
    model = ph.Model("pendulum", gravity=(0, 0, -9.81))
    model.point_mass("bob", 1.0, position=(-1, 0, 0))
    model.distance("rod", "ground", "bob", point_a=(0, 0, 0), point_b=(-1, 0, 0))
    return model


@cache
def accelerated(problem: str) -> np.ndarray:
    """Where all bodies are at the end, by accelerations in another program of ours, and one published place."""
    build, end, _ = PROBLEMS[problem]
    run = ph.simulate(build(), ph.DOP853(), ph.Adaptive(1e-11, 1e-11), end, times=[end])
    if problem == "heavy top":
        assert run["top"].position[-1] == pytest.approx((0.605550561377, 0.598957681795, -0.523983027430), abs=1e-9)
    return run.q[-1]


PROBLEMS = {  # model, end, where its bodies are there
    "spring pendulum": (spring_pendulum, 2.0, lambda: np.insert(swung(), 1, 0.0)),
    "slider-crank": (slider_crank.model, 0.2, lambda: accelerated("slider-crank")),
    "heavy top": (heavy_top.model, 0.2, lambda: accelerated("heavy top")),
}
ASKED = [  # problem, scheme, tolerances
    ("spring pendulum", ph.Midpoint(), (1e-2, 1e-3)),
    ("spring pendulum", PLAIN4, (1e-3, 1e-5, 1e-7)),
    ("slider-crank", ph.Midpoint(), (1e-3, 1e-4)),
    ("slider-crank", ph.MidpointGGL(), (1e-3, 1e-4)),
    ("slider-crank", GGL4, (1e-7, 1e-8, 1e-9)),
    ("heavy top", GGL6, (1e-3, 1e-5, 1e-7)),
]


@pytest.mark.parametrize(("problem", "scheme", "tolerances"), ASKED, ids=lambda each: getattr(each, "base", each))
def test_errors_follow_the_tolerance_and_energy_is_exact(problem, scheme, tolerances):
    build, end, truth = PROBLEMS[problem]
    system, missed = build().assemble(), []
    for rtol in tolerances:
        run = ph.simulate(system, scheme, ph.Adaptive(rtol, rtol), end)
        size = 1 + np.abs(run.q).max(axis=0)
        missed.append((np.abs(run.q[-1] - truth()) / (rtol * size)).max())
        assert run.t[-1] == end
        assert np.ptp(run.energy) < 1e-11 * run.kinetic_energy.max()
        assert run.position_error.max() < 1e-12
        if VELOCITY in scheme.preserves:
            assert run.velocity_error.max() < 1e-12 * np.abs(run.v).max()
    assert min(missed) > 0.01, missed
    assert max(missed) < 2.0, missed
    assert max(missed) < 5 * min(missed), missed  # the error goes with the tolerance


@pytest.mark.parametrize("scheme", [ph.Midpoint(), ph.MidpointGGL(), GGL4], ids=by_name)
def test_inputs_and_loads_balance_and_steps_land_on_times_and_jumps(scheme):
    inputs = {"motor": ph.Step(0.13, 3.0)}
    run = ph.simulate(driven_model(), scheme, ph.Adaptive(1e-4, 1e-4), 0.3, inputs=inputs)
    assert 0.13 in run.t
    assert np.diff(run.t).max() > 5 * np.diff(run.t).min()
    size = run.kinetic_energy.max()
    assert np.abs(run.power_balance).max() < 5e-14 * size
    total = sum(run.port(name).work[-1] for name in ("wind", "stir", "pull", "motor"))
    assert run.energy[-1] - run.energy[0] == pytest.approx(total, abs=1e-12 * size)
    assert run.port("motor").work[run.t <= 0.13].max() == 0.0
    times = [0.1, 0.25]
    kept = ph.simulate(driven_model(), scheme, ph.Adaptive(1e-4, 1e-4), 0.3, inputs=inputs, times=times)
    assert kept.t.tolist() == [0.0, 0.1, 0.25, 0.3]
    assert np.abs(kept.q[-1] - run.q[-1]).max() < 1e-3
    assert np.abs(kept.power_balance).max() < 5e-14 * size
    exact = ph.simulate(driven_model(), GGL6, 0.01, 0.13).q[-1]
    assert np.abs(run.q[run.t == 0.13][0] - exact).max() < 1e-3


def driven_pendulum() -> ph.Model:
    """Two bars; a motor turns the first one, the second one swings."""
    model = ph.Model("driven pendulum", gravity=(0, 0, -9.81))
    model.body("upper", ph.Box(2.0, (0.8, 0.1, 0.1)), position=(0.4, 0, 0))
    model.body("lower", ph.Box(1.0, (0.6, 0.1, 0.1)), position=(1.1, 0, 0))
    model.revolute("shoulder", "ground", "upper", at=(0, 0, 0), axis=(0, -1, 0))
    model.revolute("elbow", "upper", "lower", at=(0.8, 0, 0), axis=(0, -1, 0))
    model.turn_drive("motor", "ground", "upper", at=(0, 0, 0), axis=(0, -1, 0), angle=ph.Sine(0.8, 0.5))
    return model


@pytest.mark.parametrize("scheme", [ph.Midpoint(), GGL4], ids=by_name)
def test_drives_are_followed_and_their_work_is_counted(scheme):
    run = ph.simulate(driven_pendulum(), scheme, ph.Adaptive(1e-4, 1e-4), 0.5)
    fine = ph.simulate(driven_pendulum(), GGL6, 0.01, 0.5)
    assert run.position_error.max() < 1e-12
    assert np.abs(run.power_balance).max() < 1e-13 * run.kinetic_energy.max()
    assert run.port("motor").work[-1] == pytest.approx(fine.port("motor").work[-1], rel=2e-3)
    assert np.abs(run.joint("elbow").force[-1] - fine.joint("elbow").force[-1]).max() < 0.05
    assert np.abs(run.q[-1] - fine.q[-1]).max() < 3e-4


def test_friction_runs_with_adaptive_steps():
    """A block on a rail with friction stops after v^2/(2 mu g); the law has a slope of mu m g/speed at rest."""
    model = ph.Model("brake", gravity=(0, 0, -9.81))
    model.body("block", ph.Box(2.0, (0.1, 0.1, 0.1)), velocity=(1.0, 0, 0))
    model.prismatic("rail", "ground", "block", at=(0, 0, 0), axis=(1, 0, 0))
    model.friction("rub", "rail", 0.2, speed=1e-3)
    run = ph.simulate(model, ph.Midpoint(), ph.Adaptive(1e-5, 1e-6), 1.0)
    assert run["block"].position[-1, 0] == pytest.approx(1 / (2 * 0.2 * 9.81), rel=2e-3)
    assert run.dissipated_energy[-1] == pytest.approx(1.0, rel=1e-5)
    assert np.abs(run.power_balance).max() < 1e-12
    with pytest.raises(ph.PorthosError, match="friction cannot be undone"):
        ph.simulate(model, GGL4, ph.Adaptive(), 1.0)
    with pytest.raises(ph.PorthosError, match="velocities off the constraints by an error that alternates"):
        ph.simulate(pendulum(), PLAIN4, ph.Adaptive(), 1.0)


def test_steps_that_fail_are_tried_again_with_smaller_ones():
    """A first step in which the top would turn by 60 rad."""
    first = {"initial": 0.1, "maximum": 0.1}
    run = ph.simulate(heavy_top.model(), GGL6, ph.Adaptive(1e-4, 1e-4, **first), 0.2)
    assert run.status is ph.Status.OK
    assert np.diff(run.t).max() < 0.01
    run = ph.simulate(heavy_top.model(), GGL6, ph.Adaptive(**first, minimum=0.09), 0.2, on_failure="return")
    assert run.status in (ph.Status.STEP_TOO_LARGE, ph.Status.NEWTON_STALLED)
    assert "It happened in the step from t = 0 to" in run.message
    with pytest.raises(ph.SimulationError, match=r"step=ph\.Adaptive\(\.\.\.\)"):
        ph.simulate(heavy_top.model(), ph.Midpoint(), 0.1, 0.2)


@schemes
def test_a_run_with_reversed_velocities_returns_on_the_same_steps(scheme):
    def near(q):
        return float(1 + 5 * np.exp(-10 * q[2] ** 2))

    for build in (pendulum, spring_pendulum):
        system = build().assemble()
        n, rule = system.n, partial(ph.Reversible, 0.05, near)
        there = ph.simulate(system, scheme, rule(), 1.5)
        end, last = there.t[-2], np.diff(there.t)[-2]
        turned = np.concatenate([there.q[-2], -there.v[-2], np.zeros(system.m)])
        back = ph.simulate(system, scheme, rule(initial=last), end, start=turned)
        assert np.abs(np.diff(back.t)[::-1] - np.diff(there.t)[:-1]).max() < 1e-9
        assert np.abs(back.q[-1] - there.q[0]).max() < 1e-9
        assert np.abs(back.v[-1] + there.v[0]).max() < 1e-8
        assert np.diff(there.t).max() > 2 * np.diff(there.t)[:-1].min()
        assert np.ptp(there.energy) < 1e-12 * there.kinetic_energy.max()
        assert there.q.shape == (there.t.size, n)


@pytest.mark.parametrize("step", [0.02, ph.Adaptive(1e-8, 1e-8)], ids=["fixed", "adaptive"])
def test_events_are_located_to_round_off(step, tmp_path):
    system = pendulum().assemble()
    events = {
        "lowest": lambda t, x: system.split(x)[0][0],
        "taut": ph.Event(lambda t, x: abs(system.split(x)[2][0]) - 9.81, direction=1),  # of 3 m g sin(angle)
        "turns": ph.Event(lambda t, x: system.split(x)[1][2], direction=-1, terminal=True),
    }
    run = ph.simulate(system, GGL6, step, 2.0, events=events, out=tmp_path / "run.nc")
    assert [each.name for each in run.events] == ["taut", "lowest", "turns"]
    taut, lowest, turns = run.events
    assert taut.x[2] == pytest.approx(-1 / 3, abs=1e-7)
    assert lowest.t == pytest.approx(PERIOD / 4, abs=1e-7)
    assert abs(lowest.x[0]) < 1e-14
    assert turns.t == pytest.approx(PERIOD / 2, abs=1e-7)
    assert run.status is ph.Status.EVENT
    assert np.ptp(run.energy) < 1e-12
    loaded = ph.load(tmp_path / "run.nc")
    assert loaded.events[-1].t == turns.t
    assert np.array_equal(loaded.q, run.q)


@schemes
def test_steps_one_by_one_are_those_of_the_compiled_loop(scheme):
    """With an event that never happens; the controller sees the output and the mechanism."""

    def brake(t, y, state):
        return -0.3 * y + 0.1 * state["a"].position[0]

    options = {"inputs": {"motor": brake}, "every": 2}
    loop = ph.simulate(driven_model(), scheme, 0.01, 0.2, **options)
    single = ph.simulate(driven_model(), scheme, 0.01, 0.2, **options, events={"never": lambda t, x: 1.0})
    assert np.array_equal(loop.t, single.t)
    assert np.abs(loop.q - single.q).max() < 1e-12
    assert np.abs(loop.v - single.v).max() < 1e-10
    assert np.abs(loop.raw.work - single.raw.work).max() < 1e-11
    assert np.abs(loop.raw.multipliers - single.raw.multipliers)[1:].max() < 1e-6 * np.abs(loop.raw.multipliers).max()
    assert np.abs(loop.raw.outputs - single.raw.outputs)[1:].max() < 1e-9


def test_states_between_recorded_ones_have_orders_four_and_three():
    """On a heavy top, whose state at any time order 8 knows."""
    times, errors = np.linspace(0.011, 0.09, 7), []
    exact = ph.simulate(heavy_top.model(), ph.Composition(order=8), ph.Adaptive(1e-11, 1e-11), 0.1, times=times)
    for every in (4, 2):
        run = ph.simulate(heavy_top.model(), ph.Composition(order=8), 0.0005, 0.1, every=every)
        found = run.at(times)
        errors.append([np.abs(getattr(found, name) - getattr(exact, name)[1:-1]).max() for name in ("q", "v")])
    assert np.log2(np.divide(*errors)) == pytest.approx([4, 3], abs=0.3)
    assert np.array_equal(run.at(run.t[3]).q[0], run.q[3])
    assert np.array_equal(run.at(run.t[-1])["top"].position[0], run["top"].position[-1])
    with pytest.raises(ph.PorthosError, match=r"the run covers t = 0 to 0\.1"):
        run.at([0.05, 0.2])


@pytest.mark.parametrize(
    ("scheme", "orders"), [(ph.RadauIIA(3), (4, 4)), (ph.RadauIIA(4), (5, 5)), (ph.LobattoIIIC(4), (4, 3))], ids=repr
)
def test_collocation_methods_have_their_polynomials_between_states(scheme, orders):
    """Of order s + 1 in positions and velocities; others are cubic. Seen on the double pendulum."""
    exact, times, errors = reference(), END * np.arange(GRID + 1) / GRID, []
    for steps in (8, 16):
        run = ph.simulate(double_pendulum(), scheme, END / steps, END)
        found = run.at(times)
        errors.append([np.abs(found.q - exact[:, :6]).max(), np.abs(found.v - exact[:, 6:12]).max()])
        assert np.abs(run.at(run.t).q - run.q).max() < 1e-13
        assert np.abs(run.at(run.t).v - run.v).max() < 1e-13
    assert np.log2(np.divide(*errors)) == pytest.approx(orders, abs=0.3), errors
    few = ph.simulate(double_pendulum(), scheme, END / 16, END, every=2).at(times)  # without all steps: cubic
    assert np.abs(few.v - exact[:, 6:12]).max() > 1e-4
    assert np.abs(run.thinned(np.arange(0, 17, 2)).at(times).v - few.v).max() < 1e-13


def test_states_between_those_of_a_file_follow_drives(tmp_path):
    run = ph.simulate(robot(), ph.MidpointGGL(), 0.01, 0.2, out=tmp_path / "robot.nc")
    found = run.at([0.105, 0.11, 0.155])
    s = [drive.values(np.array([0.105, 0.11, 0.155])) for drive in robot().assemble().drives]
    assert found.port("one").motion == pytest.approx(s[0], abs=1e-7)
    assert found.position_error.max() < 1e-6
    assert np.isnan(found.power_balance).all()
    assert found["lower"].position.shape == (3, 3)
