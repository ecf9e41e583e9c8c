"""Angles of springs and potentials over many turns: exact solutions, SciPy, files, resumed runs, other steps."""

import signal

import numpy as np
import pytest
from catalogue import MIDPOINTS, by_name
from scipy.integrate import solve_ivp
from test_storage import assert_identical
from test_streaming import small_blocks

import porthos as ph

__all__ = ["small_blocks"]  # a fixture

schemes = pytest.mark.parametrize("scheme", MIDPOINTS, ids=by_name)
STIFFNESS, INERTIA, TURNS = 2.0, 0.5, 3.3
OMEGA, LARGEST = np.sqrt(STIFFNESS / INERTIA), TURNS * 2 * np.pi


def flywheel(wind=lambda m: m.torsion_spring("coil", "axle", stiffness=STIFFNESS)):
    """A wheel that winds up its spring by 3.3 turns, comes back and goes on to the other side."""
    model = ph.Model("flywheel")
    model.body("wheel", ph.Cylinder(4.0, 0.5, 0.1), angular_velocity=(0, 0, LARGEST * OMEGA))
    model.revolute("axle", "ground", "wheel", (0, 0, 0), (0, 0, 1))
    wind(model)
    return model


@schemes
def test_a_flywheel_swings_by_turns(scheme):
    run = ph.simulate(flywheel(), ph.Composition(scheme, order=4), 2e-3, 3.2)
    coil, exact = run.element("coil"), LARGEST * np.sin(OMEGA * run.t)
    np.testing.assert_allclose(coil.measure, exact, atol=2e-5)
    assert np.ptp(coil.measure) > 6.5 * 2 * np.pi
    np.testing.assert_allclose(coil.energy, STIFFNESS * coil.measure**2 / 2, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(coil.force, STIFFNESS * coil.measure, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(run.energy, run.energy[0], rtol=1e-12)
    np.testing.assert_allclose(run.energy[0], STIFFNESS * LARGEST**2 / 2, rtol=1e-12)


@schemes
def test_a_potential_over_turns_is_a_spring(scheme):
    """V = s^2 of the angle between -4 and 4 turns; half that range is left."""
    wide, narrow = ((-turns * np.pi, turns * np.pi) for turns in (8, 4))
    expected = ph.simulate(flywheel(), scheme, 0.01, 2.0)
    run = ph.simulate(flywheel(lambda m: m.joint_potential("coil", "axle", "s**2", wide)), scheme, 0.01, 2.0)
    np.testing.assert_allclose(run.element("coil").measure, expected.element("coil").measure, atol=1e-9)
    with pytest.raises(ph.SimulationError, match=r"'coil' is made for -12\.5664 <= s <= 12\.5664; .* s = 12\.251"):
        ph.simulate(flywheel(lambda m: m.joint_potential("coil", "axle", "s**2", narrow)), scheme, 0.01, 2.0)


@schemes
def test_a_pendulum_on_a_spring(scheme):
    """J s'' = -m g l sin s - k s - c s', over the top several times, against SciPy."""
    model = ph.Model("pendulum", gravity=(0, -9.81, 0))
    model.body("bar", ph.Box(1.5, (0.1, 0.8, 0.1)), position=(0, -0.4, 0), velocity=(14.0, 0, 0),
               angular_velocity=(0, 0, 35.0))  # fmt: skip
    model.revolute("hinge", "ground", "bar", (0, 0, 0), (0, 0, 1))
    model.torsion_spring("coil", "hinge", stiffness=(0.3, 0, 0.001), damping=0.02)
    run = ph.simulate(model, ph.Composition(scheme, order=4), 2e-3, 3.0)
    J = 1.5 * ((0.1**2 + 0.8**2) / 12 + 0.4**2)

    def rate(t, y):
        s, v = y
        return [v, (-1.5 * 9.81 * 0.4 * np.sin(s) - 0.3 * s - 0.001 * s**3 - 0.02 * v) / J]

    exact = solve_ivp(rate, (0, 3), [0.0, 35.0], method="DOP853", rtol=1e-11, atol=1e-11, t_eval=run.t).y[0]
    np.testing.assert_allclose(run.element("coil").measure, exact, atol=1e-4)
    assert exact.max() > 2.5 * 2 * np.pi
    assert np.abs(np.cumsum(run.power_balance)).max() < 1e-11 * run.energy[0]


@schemes
def test_turns_between_recorded_states_are_counted(scheme, tmp_path):
    """Every 100th state only, with more than a turn between them; the same from a file."""
    fine = ph.simulate(flywheel(), scheme, 5e-3, 3.0)
    coarse = ph.simulate(flywheel(), scheme, 5e-3, 3.0, every=100)
    assert np.array_equal(coarse.element("coil").measure, fine.element("coil").measure[::100])
    assert np.abs(np.diff(coarse.element("coil").measure)).max() > 2 * np.pi
    coarse.save(tmp_path / "run.nc")
    assert_identical(coarse, ph.load(tmp_path / "run.nc"))
    assert np.array_equal(ph.load(tmp_path / "run.nc").element("coil").energy, fine.element("coil").energy[::100])


@schemes
def test_a_resumed_run_knows_its_turns(scheme, tmp_path, small_blocks):
    def pushed(at):
        def press(t):
            if t > at and not pressed:
                pressed.append(t)
                signal.raise_signal(signal.SIGINT)
            return (0.0, 0.0, 0.0)

        pressed, model = [], flywheel()
        model.load("push", "wheel", torque=press)
        return model

    path = tmp_path / "run.nc"
    whole = ph.simulate(pushed(np.inf), scheme, 0.02, 1.0)
    with pytest.raises(KeyboardInterrupt, match="stopped at t ="):
        ph.simulate(pushed(0.7), scheme, 0.02, 1.0, out=path)
    assert ph.load(path).element("coil").measure[-1] > 2 * 2 * np.pi
    run = ph.resume(path, pushed(np.inf))
    assert_identical(whole, run)
    assert np.array_equal(run.element("coil").energy, whole.element("coil").energy)


@pytest.mark.parametrize(
    ("scheme", "step", "error"),
    [(ph.MidpointGGL(), ph.Adaptive(rtol=1e-2), 0.5), (ph.RadauIIA(2), 0.01, 0.6), (ph.GeneralizedAlpha(), 0.01, 0.6),
     (ph.SciPy("LSODA"), ph.Adaptive(rtol=1e-3), 0.1)],
)  # fmt: skip
def test_other_steps_count_turns_too(scheme, step, error):
    run = ph.simulate(flywheel(), scheme, step, 0.8)
    coil, exact = run.element("coil"), LARGEST * np.sin(OMEGA * run.t)
    np.testing.assert_allclose(coil.measure, exact, atol=error)
    np.testing.assert_allclose(coil.force, STIFFNESS * coil.measure, rtol=1e-12, atol=1e-12)
    assert coil.measure.max() > 3 * 2 * np.pi
    assert abs(np.sum(run.power_balance)) < 0.05 * run.energy[0]  # a turn lost would be much more


def test_half_a_turn_of_two_wheels_against_each_other_is_too_much_for_a_step():
    model = ph.Model("wheels")
    for name, speed in (("a", 130.0), ("b", -130.0)):
        model.body(name, ph.Cylinder(1.0, 0.5, 0.1), angular_velocity=(0, 0, speed))
    model.revolute("axle", "ground", "a", (0, 0, 0), (0, 0, 1))
    model.revolute("between", "a", "b", (0, 0, 0), (0, 0, 1))
    model.torsion_spring("coil", "between", stiffness=1e-3)
    with pytest.raises(ph.SimulationError, match="by half a turn against each other") as caught:
        ph.simulate(model, ph.Midpoint(), 0.02, 1.0)
    assert caught.value.status is ph.Status.STEP_TOO_LARGE
    run = ph.simulate(model, ph.Midpoint(), 0.01, 1.0)
    turns = -run.element("coil").measure / (2 * np.pi)
    np.testing.assert_allclose(np.diff(turns), 4 * np.arctan(0.65) / (2 * np.pi), rtol=0.01)  # Cayley's map
