"""Controllers see angles of joints over all turns: exact motions, all kinds of steps, samples, resumed runs."""

import numpy as np
import pytest
from test_storage import assert_identical
from test_streaming import small_blocks

import porthos as ph
from porthos.integrate.sensing import Sensed, Turns

__all__ = ["small_blocks"]  # a fixture
INERTIA, SPEED = 0.5, 30.0
STIFFNESS, DAMPING, TARGET = 20.0, 4.0, 27.0  # 4.3 turns


def wheels(speed=0.0):
    """One wheel on the ground and one on it, which turns the other way; a motor in each axle."""
    model = ph.Model("wheels")
    for name, sign in (("first", 1), ("second", -1)):
        model.body(name, ph.Cylinder(4.0, 0.5, 0.1), angular_velocity=(0, 0, sign * speed))
    for joint, below, above in (("axle", "ground", "first"), ("between", "first", "second")):
        model.revolute(joint, below, above, (0, 0, 0), (0, 0, 1))
        model.joint_port(f"motor of {joint}", joint)
    return model


def pd(joint, target):
    return ph.PD(joint=joint, stiffness=STIFFNESS, damping=DAMPING, target=target)


INPUTS = {"motor of axle": pd("axle", TARGET), "motor of between": pd("between", -TARGET)}


def exact(h, steps):
    """Angles (steps + 1, 2) of both joints: torques are held during steps, so each step is a parabola."""
    s, v, path = np.zeros(2), np.zeros(2), [np.zeros(2)]
    for _ in range(steps):
        u = STIFFNESS * (np.array([TARGET, -TARGET]) - s) - DAMPING * v
        first, second = (u[0] - u[1]) / INERTIA, u[1] / INERTIA
        a = np.array([first, second - first])
        s, v = s + h * v + h * h / 2 * a, v + h * a
        path.append(s)
    return np.array(path)


@pytest.mark.parametrize(
    ("scheme", "error"),
    [(ph.Composition(ph.MidpointGGL(), order=8), 3e-9), (ph.Composition(ph.Midpoint(), order=4), 4e-4),
     (ph.MidpointGGL(), 0.2), (ph.Gauss(3), 6e-7), (ph.LobattoPair(4), 8e-7)],
    ids=repr,
)  # fmt: skip
def test_pd_control_goes_over_turns_as_in_joint_coordinates(scheme, error):
    """The wheels turn by up to 0.4 rad in a step; what is left is the error of the scheme there."""
    run = ph.simulate(wheels(), scheme, 0.005, 2.0, inputs=INPUTS)
    found = np.column_stack([run.joint(name).angle for name in ("axle", "between")])
    path = exact(0.005, 400)
    assert np.abs(found - path).max() < error
    assert path[:, 0].max() > 4.3 * 2 * np.pi and path[:, 1].min() < -4.3 * 2 * np.pi
    assert np.abs(path[-1] - [TARGET, -TARGET]).max() < 1.0


def watching(seen, joint="between"):
    """A controller that notes what it sees."""

    def look(t, y, state):
        seen.append((state.angle(joint), state.quantity(f"{joint}.angle"), state.coordinate(joint)))
        return 0.1

    return look


@pytest.mark.parametrize(
    ("scheme", "more"),
    [(ph.Midpoint(), {}), (ph.Composition(ph.MidpointGGL(), order=4), {}), (ph.Gauss(2), {}),
     (ph.GeneralizedAlpha(), {}),
     (ph.MidpointGGL(), {"events": {"turn": ph.Crossing("axle.angle", 1.0)}}),
     (ph.Gauss(2), {"events": {"turn": ph.Crossing("axle.angle", 1.0)}})],
    ids=["compiled", "composition", "over states", "multistep", "compiled, events", "over states, events"],
)  # fmt: skip
def test_what_controllers_see_is_what_the_run_tells(scheme, more):
    seen = []
    run = ph.simulate(wheels(SPEED), scheme, 0.01, 1.0, inputs={"motor of axle": watching(seen)}, **more)
    told = run.joint("between").angle
    assert told[-1] < -8 * 2 * np.pi
    assert np.abs(np.array(seen) - told[:-1, None]).max() < 1e-10
    assert len(run.events) == (5 if more else 0)  # functions of events see single states: once in each turn


def test_more_than_half_a_turn_in_a_step_is_counted():
    """Substeps of a composition turn far; the angle is expected to go on as before, at first by its rate."""
    seen, h = [], 0.1
    model = ph.Model("wheel")
    model.body("wheel", ph.Cylinder(4.0, 0.5, 0.1), angular_velocity=(0, 0, 40.0))
    model.revolute("axle", "ground", "wheel", (0, 0, 0), (0, 0, 1))
    model.joint_port("motor", "axle")
    scheme = ph.Composition(ph.MidpointGGL(), order=8)
    ph.simulate(model, scheme, h, 2.0, inputs={"motor": watching(seen, "axle")})
    steps = np.diff([angle for angle, *_ in seen])
    assert np.abs(steps / h / 40.0 - 1.0).max() < 0.05 and steps.min() > np.pi


@pytest.mark.parametrize("scheme", [ph.Midpoint(), ph.Gauss(2)], ids=repr)
def test_samples_may_be_turns_apart(scheme):
    """The run counts in every step, not only where a sampled controller looks."""
    seen = []
    run = ph.simulate(wheels(SPEED), scheme, 0.01, 2.0, inputs={"motor of axle": ph.Sampled(watching(seen), 0.5)})
    told = run.joint("between").angle[:-1:50]
    assert np.abs(np.array(seen)[:, 0] - told).max() < 1e-10
    assert np.abs(np.diff(told)).min() > 4 * 2 * np.pi


class Late:
    """Looks at the angle from some time on only, and may be interrupted, before it looks or after."""

    def __init__(self, stop=np.inf, before=False):
        self.stop, self.before = stop, before

    def __call__(self, t, y, state):
        stops = t > self.stop
        if stops:
            self.stop = np.inf
        if stops and self.before:
            raise KeyboardInterrupt
        torque = 0.3 * (state.angle("between") + 40.0) if t > 0.5 else 0.0
        if stops:
            raise KeyboardInterrupt
        return torque


@pytest.mark.parametrize("scheme", [ph.MidpointGGL(), ph.Composition(ph.Midpoint(), order=4)], ids=repr)
@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("stop", [0.3, 0.7])
def test_a_resumed_run_knows_the_turns_that_controllers_saw(scheme, before, stop, tmp_path, small_blocks):
    given = {"scheme": scheme, "step": 0.01, "end": 1.0}
    whole = ph.simulate(wheels(SPEED), **given, inputs={"motor of axle": Late()})
    with pytest.raises(KeyboardInterrupt):
        ph.simulate(wheels(SPEED), **given, inputs={"motor of axle": Late(stop, before)}, out=tmp_path / "run.nc")
    assert ph.load(tmp_path / "run.nc").joint("between").angle[-1] < -2 * 2 * np.pi
    run = ph.resume(tmp_path / "run.nc", wheels(SPEED), inputs={"motor of axle": Late()})
    assert_identical(whole, run)


@pytest.mark.parametrize("scheme", [ph.Midpoint(), ph.Gauss(2)], ids=repr)
def test_pd_control_goes_on_from_its_file_alone(scheme, tmp_path, small_blocks):
    """Stopped at two turns and more, the file tells how many there were."""
    from test_joint_controllers import Stopper

    def stopped(at):
        model = wheels()
        model.load("stop", "first", force=Stopper(at))
        return model

    given = {"scheme": scheme, "step": 0.01, "end": 1.5, "inputs": INPUTS}
    whole = ph.simulate(stopped(np.inf), **given)
    with pytest.raises(KeyboardInterrupt):
        ph.simulate(stopped(0.8), **given, out=tmp_path / "run.nc")
    assert ph.load(tmp_path / "run.nc").joint("axle").angle[-1] > 2 * 2 * np.pi
    run = ph.resume(tmp_path / "run.nc", stopped(np.inf))
    assert_identical(whole, run)
    assert run.joint("axle").angle[-1] > 3 * 2 * np.pi


def test_a_look_that_is_not_kept_changes_nothing():
    """States of two wheels at random, counted as the words say it; `Turns` of a file go on as those that wrote it."""
    system, rng, h = wheels().assemble(), np.random.default_rng(7), 0.1
    joints = [system.joint_coordinates(name) for name in ("axle", "between")]
    turns, states, expected, before = Turns(system), [], [], None
    assert turns.memory is None
    for n in range(40):
        q, v = system.still.copy(), np.zeros_like(system.still)
        angles, speeds = rng.uniform(-np.pi, np.pi, 2), rng.uniform(-60, 60, 2)
        for k, (angle, speed) in enumerate(zip(angles, speeds, strict=True)):
            c, s = np.cos(angle), np.sin(angle)
            q[k, 1:] = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) @ q[k, 1:]
            v[k, 1:] = np.cross([0, 0, speed], q[k, 1:])
        memory = turns.memory
        turns.look(Sensed(system, np.ascontiguousarray(q[::-1]), v), h)
        assert turns.memory == memory
        states.append(turns.look(Sensed(system, q, v), h))
        turns.keep()
        now = np.array([joint.angle(q) for joint in joints])
        rates = np.array([joint.angle_rate(q, v) for joint in joints])
        if before is None:
            before = np.array([now, now - h * rates])
        else:
            now = now + 2 * np.pi * np.rint((2 * before[0] - before[1] - now) / (2 * np.pi))
            before = np.array([now, before[0]])
        np.testing.assert_allclose(turns.memory, before, rtol=1e-14, atol=1e-11)
        expected.append(before[0])
        if n % 7 == 3:
            memory, turns = turns.memory, Turns(system)
            turns.memory = memory
    assert np.abs(expected).max() > 20 * 2 * np.pi
    found = [[state.angle("axle"), state.angle("between")] for state in states]  # each one still knows its own
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-11)


@pytest.mark.parametrize("scheme", [ph.Midpoint(), ph.Gauss(2)], ids=repr)
def test_a_mechanism_in_which_nothing_turns_has_nothing_to_count(scheme, tmp_path, small_blocks):
    model = ph.Model("bead")
    model.port("push", model.point_mass("bead", 2.0), kind="force", direction=(1, 0, 0))
    push = {"push": lambda t, y, state: 1.0 + state["bead"].position[0]}
    run = ph.simulate(model, scheme, 0.01, 0.3, inputs=push, out=tmp_path / "run.nc")
    assert run["bead"].position[-1, 0] == pytest.approx(0.3**2 / 4, rel=0.02)
