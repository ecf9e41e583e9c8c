"""PD control and energy shaping of joints: their laws, files, and runs that go on."""

import signal

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from test_streaming import small_blocks

import porthos as ph
from porthos.errors import ModelError, ModelFileError

__all__ = ["small_blocks"]  # a fixture
G, M, L = 9.81, 2.0, 1.0
J = M * (L**2 + 0.01) / 12 + M * L**2 / 4


def pendulum():
    """A bar that hangs, with a motor in its hinge."""
    model = ph.Model("pendulum", gravity=(0, 0, -G))
    model.body("bar", ph.Box(M, (0.1, 0.1, L)), position=(0, 0, -L / 2))
    model.revolute("hinge", "ground", "bar", at=(0, 0, 0), axis=(1, 0, 0))
    model.joint_port("motor", "hinge")
    return model


def angle(run):
    _, y, z = run["bar"].position.T
    return np.unwrap(np.arctan2(y, -z))


LAWS = {
    "pd": (
        ph.PD(joint="hinge", stiffness=60.0, damping=8.0, target=ph.Sine(0.5, 0.5), target_rate=ph.Expression("t")),
        lambda t, a, w: 60 * (0.5 * np.sin(np.pi * t) - a) + 8 * (t - w),
    ),
    "energy shaping": (
        ph.EnergyShaping(joint="hinge", energy="9.81*cos(s) + 8*(s - 3)**2", damping=6.0, around=1.5),
        lambda t, a, w: 9.81 * np.sin(a) - 16 * (a - 3) - 6 * w,
    ),
}


@pytest.mark.parametrize("law", LAWS)
def test_the_motion_is_that_of_the_law(law):
    """Asked at the begin of each step and held during it: first order towards the law in continuous time."""
    controller, torque = LAWS[law]
    rhs = lambda t, s: [s[1], (torque(t, *s) - M * G * L / 2 * np.sin(s[0])) / J]  # noqa: E731
    exact = solve_ivp(rhs, (0, 1), [0, 0], rtol=1e-11, atol=1e-12).y[0, -1]
    errors = []
    for h in (0.002, 0.001):
        run = ph.simulate(pendulum(), ph.MidpointGGL(), h, 1.0, inputs={"motor": controller})
        errors.append(abs(angle(run)[-1] - exact))
        assert np.abs(run.energy - run.energy[0] - run.port("motor").work).max() < 1e-11 * np.ptp(run.energy)
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.15)
    assert errors[1] < 2e-3


def test_energy_shaping_makes_a_pendulum_stand():
    run = ph.simulate(pendulum(), ph.Midpoint(), 0.01, 8.0, inputs={"motor": LAWS["energy shaping"][0]})
    assert angle(run)[-1] == pytest.approx(3.0, abs=1e-6)  # where the weight, taken away, does not pull


def test_pd_control_follows_a_target_over_turns():
    """A target that turns round and round is followed; one beyond half a turn is reached from this side."""
    ramp = ph.Ramp(0.0, 4.0, after=8 * np.pi)
    control = ph.PD(joint="hinge", stiffness=900.0, damping=60.0, target=ramp, target_rate=lambda t: 2 * np.pi)
    run = ph.simulate(pendulum(), ph.Midpoint(), 0.005, 4.0, inputs={"motor": control}, every=10)
    assert np.abs(angle(run) - 2 * np.pi * run.t)[20:].max() < 0.1
    for target in (5.0, -17.0):
        control = ph.PD(joint="hinge", stiffness=900.0, damping=60.0, target=target)
        run = ph.simulate(pendulum(), ph.Midpoint(), 0.005, 4.0, inputs={"motor": control})
        assert angle(run)[-1] == pytest.approx(target, abs=0.02)


def test_energy_shaping_counts_turns_or_stays_around_an_angle():
    """V = 8 (s - 9)^2 - weight ends at 9 rad; told of the angle around 3 rad the bar ends where that is 9 - 2 pi."""
    shaped = {"joint": "hinge", "energy": "9.81*cos(s) + 8*(s - 9)**2", "damping": 12.0}
    run = ph.simulate(pendulum(), ph.Midpoint(), 0.01, 12.0, inputs={"motor": ph.EnergyShaping(**shaped)})
    assert angle(run)[-1] == pytest.approx(9.0, abs=1e-6)
    shaped = {"joint": "hinge", "energy": "9.81*cos(s) + 8*(s - 9 + 2*pi)**2", "damping": 12.0, "around": 3.0}
    run = ph.simulate(pendulum(), ph.Midpoint(), 0.01, 12.0, inputs={"motor": ph.EnergyShaping(**shaped)})
    assert angle(run)[-1] == pytest.approx(9.0 - 2 * np.pi, abs=1e-6)


def test_a_slide_is_held():
    model = ph.Model("pump")
    model.body("rod", ph.Cylinder(1.0, 0.1, 0.5))
    model.cylindrical("sleeve", "ground", "rod", at=(0, 0, 0), axis=(0, 0, 1))
    model.joint_port("push", "sleeve", kind="force")
    model.joint_port("twist", "sleeve", kind="torque")
    inputs = {
        "push": ph.PD(joint="sleeve", stiffness=20, damping=9, target=0.3, motion="slide"),
        "twist": ph.PD(joint="sleeve", stiffness=2, damping=0.2, target=-1.0, motion="turn"),
    }
    run = ph.simulate(model, ph.MidpointGGL(), 0.01, 8.0, inputs=inputs)
    assert run["rod"].position[-1] == pytest.approx([0, 0, 0.3], abs=1e-5)
    assert run["rod"].rotation[-1, 1, 0] == pytest.approx(-np.sin(1.0), abs=1e-4)
    assert np.abs(run.power_balance).max() < 1e-13


def test_files_hold_controllers(tmp_path):
    inputs = {"motor": LAWS["pd"][0]}
    plan = ph.Simulation(step=0.01, end=0.2, inputs=inputs)
    run = ph.simulate_file(pendulum().save(tmp_path / "pd.yaml", plan))
    assert "kind: pd" in (tmp_path / "pd.yaml").read_text()
    assert np.array_equal(run.q, ph.simulate(pendulum(), ph.MidpointGGL(), 0.01, 0.2, inputs=inputs).q)
    shaping = ph.Simulation(step=0.01, end=0.1, inputs={"motor": LAWS["energy shaping"][0]})
    file = ph.ModelFile.read(pendulum().save(tmp_path / "shaping.yaml", shaping))
    assert file.simulation.inputs["motor"] == LAWS["energy shaping"][0]
    text = (tmp_path / "pd.yaml").read_text().replace("joint: hinge, s", "joint: hing, s")
    text = text.replace("      joint: hinge\n", "      joint: hing\n")
    (tmp_path / "wrong.yaml").write_text(text)
    with pytest.raises(ModelFileError, match=r"found no joint 'hing'\. Did you mean 'hinge'"):
        ph.ModelFile.read(tmp_path / "wrong.yaml")


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("law", LAWS)
def test_a_run_goes_on_from_its_file_alone(law, tmp_path):
    """The file holds the controller: nothing has to be given again."""
    controller, given = LAWS[law][0], {"scheme": ph.MidpointGGL(), "step": 0.01, "end": 2.0}
    whole = ph.simulate(pendulum(), **given, inputs={"motor": controller})
    model = pendulum()
    model.load("stop", "bar", force=Stopper(1.0))
    with pytest.raises(KeyboardInterrupt):
        ph.simulate(model, **given, inputs={"motor": controller}, out=tmp_path / "run.nc")
    run = ph.resume(tmp_path / "run.nc", model=model)
    assert np.abs(run.q - whole.q).max() < 1e-12
    assert np.array_equal(run.q, ph.simulate(model, **given, inputs={"motor": controller}).q)


class Stopper:
    """A force of zero that interrupts the run once."""

    def __init__(self, t):
        self.t = t

    def __call__(self, t):
        if t > self.t:
            self.t = np.inf
            signal.raise_signal(signal.SIGINT)
        return (0.0, 0.0, 0.0)


def test_what_is_no_controller_is_refused():
    with pytest.raises(ModelError, match="PD: stiffness: expected a number >= 0"):
        ph.PD(joint="hinge", stiffness=-1.0)
    with pytest.raises(ModelError, match="PD: target: expected a number, or a function of time that gives one"):
        ph.PD(joint="hinge", stiffness=1.0, target=ph.Sine((1, 2), 1.0))
    with pytest.raises(ModelError, match="PD: motion: expected 'turn' or 'slide', found 'up'"):
        ph.PD(joint="hinge", stiffness=1.0, motion="up")
    with pytest.raises(ModelError, match="EnergyShaping: energy: "):
        ph.EnergyShaping(joint="hinge", energy="cos(x)")
