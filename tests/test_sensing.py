"""Controllers that see the whole mechanism, and controllers that look now and then only."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from test_streaming import small_blocks

import porthos as ph

__all__ = ["small_blocks"]  # a fixture
G, M, C = 9.81, 2.0, 0.5
J = M * (1.0 + 0.01) / 12 + M * C * C


def pendulum(angle=0.0):
    """A bar that hangs, turned by `angle`, with a motor in its hinge."""
    model = ph.Model("pendulum", gravity=(0, 0, -G))
    model.body("bar", ph.Box(M, (0.1, 0.1, 1.0)), position=(0, C * np.sin(angle), -C * np.cos(angle)),
               rotation=((1, 0, 0), angle))  # fmt: skip
    model.revolute("hinge", "ground", "bar", at=(0, 0, 0), axis=(1, 0, 0))
    model.port("motor", "bar", kind="torque", direction=(1, 0, 0))
    return model


def pd(t, rate, state):
    """Holds the bar upright: an angle that the port alone does not tell."""
    return -60.0 * (state.angle("hinge") - 1.0) - 8.0 * rate


def test_pd_control_of_an_angle_follows_its_equation():
    """Asked at the begin of a step and held during it: first order towards the law in continuous time."""
    torque = lambda a, w: -60.0 * (a - 1.0) - 8.0 * w  # noqa: E731
    rhs = lambda t, s: [s[1], (torque(*s) - M * G * C * np.sin(s[0])) / J]  # noqa: E731
    exact = solve_ivp(rhs, (0, 1), [0, 0], rtol=1e-11, atol=1e-12).y[0, -1]
    errors = []
    for h in (0.002, 0.001):
        run = ph.simulate(pendulum(), ph.Midpoint(), h, 1.0, inputs={"motor": pd})
        _, y, z = run["bar"].position[-1]
        errors.append(abs(np.arctan2(y, -z) - exact))
        supplied = run.port("motor").work
        assert np.abs(run.energy - run.energy[0] - supplied).max() < 1e-11 * np.ptp(run.energy)
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 1e-3


def test_what_is_seen_is_what_is_recorded():
    """All that a controller may ask for, against the views of the run."""
    seen = []

    def look(t, rate, state):
        bar = state["bar"]
        seen.append([*bar.position, *bar.velocity, *bar.angular_velocity, *bar.rotation.ravel(),
                     *bar.point((0, 0, -0.5)), state.angle("hinge"), rate])  # fmt: skip
        return 0.3

    run = ph.simulate(pendulum(0.7), ph.MidpointGGL(), 0.01, 1.0, inputs={"motor": look})
    bar = run["bar"]
    y, z = bar.position[:, 1], bar.position[:, 2]
    turns, tip = bar.rotation.reshape(-1, 9), bar.point((0, 0, -0.5))
    angle, rate = np.arctan2(y, -z) - 0.7, bar.angular_velocity[:, 0]
    wanted = np.column_stack([bar.position, bar.velocity, bar.angular_velocity, turns, tip, angle, rate])
    assert np.abs(np.array(seen) - wanted[:-1]).max() < 1e-13


def test_displacement_of_a_joint():
    model = ph.Model("slide")
    model.body("block", ph.Box(1.0, (0.1, 0.1, 0.1)), position=(0, 0, 0), velocity=(0.6, 0.8, 0))
    model.prismatic("rail", "ground", "block", at=(0, 0, 0), axis=(3, 4, 0))
    model.port("push", "block", kind="force", direction=(3, 4, 0))
    seen = []

    def look(t, rate, state):
        seen.append(state.displacement("rail"))
        return 0.0

    run = ph.simulate(model, ph.Midpoint(), 0.1, 1.0, inputs={"push": look})
    assert np.abs(np.array(seen) - run.t[:-1]).max() < 1e-14


def test_names_that_controllers_mistype():
    for ask, words in (
        (lambda s: s.angle("hing"), "no joint 'hing'. Did you mean 'hinge'"),
        (lambda s: s["ba"].position, "no body 'ba'. Did you mean 'bar'"),
    ):
        run = ph.simulate(pendulum(), ph.Midpoint(), 0.01, 0.1, inputs={"motor": lambda t, y, s, ask=ask: ask(s)},
                          on_failure="return")  # fmt: skip
        assert run.status is ph.Status.BAD_INPUT and words in run.message


def test_schemes_over_states_show_mechanisms_to_controllers_and_others_say_that_they_are_none():
    runs = [
        ph.simulate(pendulum(), scheme, 0.005, 0.1, inputs={"motor": pd}) for scheme in (ph.Midpoint(), ph.Gauss(1))
    ]
    assert runs[0].q[-1] == pytest.approx(runs[1].q[-1], abs=1e-10)
    J = np.array([[0.0, 1.0], [-1.0, 0.0]])
    plain = ph.LinearPHDAE("plain", J=J, R=0 * J, Q=np.eye(2), B=[[0.0], [1.0]], ports={"motor": 1}, initial=[1.0, 0.0])
    with pytest.raises(ph.InputError, match=r"port 'motor': expected a controller.*and 'plain' is none"):
        ph.simulate(plain, ph.Gauss(2), 0.01, 0.1, inputs={"motor": pd})


# --- sampling


@pytest.mark.parametrize("scheme", [ph.Midpoint(), ph.MidpointGGL(), ph.Gauss(1)])
def test_sampled_controller_holds_its_answer(scheme):
    """The same as a table of the answers, and as the exact solution of a mass with a force that jumps."""
    model = ph.Model("mass")
    model.point_mass("ball", 2.0, velocity=(1, 0, 0))
    model.port("push", "ball", kind="force", direction=(1, 0, 0))
    asked = []

    def controller(t, y):
        asked.append((t, y))
        return -3.0 * y

    run = ph.simulate(model, scheme, 0.01, 1.0, inputs={"push": ph.Sampled(controller, 0.1)})
    ratio = 1 - 3.0 / 2.0 * 0.1  # of the velocities of two samples
    assert run["ball"].velocity[::10, 0] == pytest.approx(ratio ** np.arange(11), rel=1e-12)
    assert [t for t, _ in asked[:10]] == pytest.approx(0.1 * np.arange(10))
    assert np.abs(run.port("push").input[5:10] - run.port("push").input[5]).max() == 0.0


def test_sampled_run_goes_on_after_an_interruption(tmp_path, small_blocks):
    class Integrator:
        def __init__(self, stop=None):
            self.state, self.stop = [0.0], stop

        def __call__(self, t, rate, state):
            if self.stop is not None and t > self.stop:
                self.stop = None
                raise KeyboardInterrupt
            self.state = [self.state[0] + 0.05 * (state.angle("hinge") - 0.5)]
            return -20.0 * self.state[0] - 3.0 * rate

    whole = ph.simulate(pendulum(), ph.MidpointGGL(), 0.01, 2.0, inputs={"motor": ph.Sampled(Integrator(), 0.05)},
                        out=tmp_path / "whole.nc")  # fmt: skip
    with pytest.raises(KeyboardInterrupt):
        ph.simulate(pendulum(), ph.MidpointGGL(), 0.01, 2.0, out=tmp_path / "part.nc",
                    inputs={"motor": ph.Sampled(Integrator(stop=1.0), 0.05)})  # fmt: skip
    again = ph.resume(tmp_path / "part.nc", inputs={"motor": ph.Sampled(Integrator(), 0.05)})
    assert np.array_equal(np.asarray(again.raw.q), np.asarray(whole.raw.q))


def test_sampled_needs_a_controller_and_a_period():
    with pytest.raises(ph.InputError, match="Sampled: expected a controller"):
        ph.Sampled(3.0, 0.1)
    with pytest.raises(ph.PorthosError, match="Sampled: period"):
        ph.Sampled(lambda t, y: 0.0, 0.0)


@pytest.mark.parametrize("scheme", [ph.Midpoint(), ph.Gauss(1)])
@pytest.mark.parametrize("period", [0.25, 0.05])
def test_samples_within_steps_are_refused(scheme, period, tmp_path):
    """A sample that is told t = 0.25 would act from t = 0.2 on."""
    with pytest.raises(
        ph.InputError, match=r"port 'motor': expected a period of Sampled that is a whole number"
    ) as told:
        ph.simulate(pendulum(), scheme, 0.1, 1.0, inputs={"motor": ph.Sampled(lambda t, y: 0.0, period)},
                    **({"out": tmp_path / "run.nc"} if scheme == ph.Midpoint() else {}))  # fmt: skip
    step = float(str(told.value).split("step = ")[1].rstrip("."))
    ph.simulate(pendulum(), scheme, step, 2 * period, inputs={"motor": ph.Sampled(lambda t, y: 0.0, period)})
    assert not list(tmp_path.iterdir())
