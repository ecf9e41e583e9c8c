"""Controllers u(t, y): what they see, when they are asked, what they may return, and how they fail."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from catalogue import MIDPOINTS, by_name

import porthos as ph
from porthos.integrate import march

schemes = pytest.mark.parametrize("scheme", MIDPOINTS, ids=by_name)
H, STEPS = 0.01, 40


def machine():
    """Ports of all kinds on two bodies, off the centres of mass, and a load that varies."""
    model = ph.Model("machine", gravity=(0.3, 0.2, -9.81))
    model.body("a", ph.Box(1.0, (0.1, 0.2, 0.3)), position=(0.1, 0.1, 0.5), rotation=((1, 2, 3), 0.7))
    model.body("b", ph.Cylinder(2.0, 0.1, 0.4), position=(0, 0.4, 0.5), rotation=((1, -2, 3), 0.7))
    model.spherical("J", model.ground, "a", at=(0, 0, 0.5))
    model.revolute("K", "a", "b", at=(0, 0.2, 0.5), axis=(1, 1, 0.2))
    model.port("spin", "a", kind="torque", direction=(0, 1, 1))
    model.load("wind", "b", force=lambda t: (np.sin(9 * t), 2, 3 * t), torque=(0.1, 0.2, 0.3), at=(0, 0.3, 0.6))
    model.port("hand", "b", kind="force", at=(0.05, 0.5, 0.6))
    model.port("push", "b", kind="force", direction=(1, 2, 3), at=(0.1, 0.5, 0.4))
    model.port("twist", "a", kind="torque")
    return model


def watched(seen, name, gain):
    def control(t, y):
        seen.append((name, t, y))
        return gain * np.asarray(y)

    return control


@schemes
def test_outputs_are_conjugate_velocities_at_the_begin_of_the_step(scheme):
    """y = B^T v at the state before the step, t in its middle; asked once for each step, in the order of the ports."""
    seen, gains = [], {"spin": -0.3, "hand": -0.2, "push": 0.1, "twist": -0.05}
    system = machine().assemble()
    inputs = {name: watched(seen, name, gain) for name, gain in gains.items()}
    run = ph.simulate(system, scheme, H, STEPS * H, inputs=inputs)
    assert [name for name, _, _ in seen] == STEPS * list(gains)
    for n in range(STEPS):
        y = system.Bt(run.q[n]).T @ run.v[n]
        for name, t, found in seen[4 * n : 4 * (n + 1)]:
            assert t == pytest.approx((n + 0.5) * H, abs=1e-14)
            expected = y[system.ports[name]]
            assert isinstance(found, float if expected.size == 1 else np.ndarray)
            assert np.abs(found - expected).max() < 1e-13
    for name, gain in gains.items():
        held = gain * np.array([y for port, _, y in seen if port == name]).reshape(STEPS, -1)
        assert np.abs(run.port(name).input - held[[*range(STEPS), -1]]).max() < 1e-14
    assert np.abs(run.power_balance).max() < 1e-13


class Counter:
    """A controller that only counts how often it was asked."""

    def __init__(self):
        self.state = 0

    def __call__(self, t, y):
        self.state += 1
        return float(self.state)


@pytest.mark.parametrize("hold", [1, 2])
@pytest.mark.parametrize("scheme", [*MIDPOINTS, ph.Composition(order=4), ph.Gauss(1)], ids=by_name)
@pytest.mark.parametrize("every", [1, 4])
def test_recorded_inputs_are_those_that_acted(scheme, hold, every, monkeypatch):
    """Of the step that begins at a state; at the last state those of the step before it. Blocks are of three states."""
    monkeypatch.setattr(march, "rows_of_a_block", lambda *sizes: 3)
    controller = ph.Sampled(Counter(), hold * H) if hold > 1 else Counter()
    run = ph.simulate(machine(), scheme, H, STEPS * H, inputs={"spin": controller}, every=every)
    steps = np.arange(STEPS) // hold + 1.0
    assert run.port("spin").input[:, 0] == pytest.approx(np.append(steps, steps[-1])[::every], rel=1e-14)
    if every == 1 and isinstance(scheme, ph.Midpoint | ph.MidpointGGL):
        work = H * run.port("spin").output[1:, 0] * steps
        total = run.port("spin").work  # a sum, whose round-off is that of all of it
        assert np.diff(total) == pytest.approx(work, abs=1e-15 * total[-1])


def test_inputs_of_a_run_that_failed():
    """At its last state: of the step that failed if controllers were asked for it, else of the one before."""
    count = Counter()
    run = ph.simulate(machine(), ph.Midpoint(), H, STEPS * H, on_failure="return",
                      inputs={"spin": count, "hand": lambda t, y: (0, 0, 0 if t < 5 * H else 1e12)})  # fmt: skip
    assert run.status in (ph.Status.STEP_TOO_LARGE, ph.Status.NEWTON_STALLED)
    assert run.port("spin").input[:, 0] == pytest.approx([1, 2, 3, 4, 5, 6])
    assert run.port("hand").input[-1, 2] == 1e12
    run = ph.simulate(machine(), ph.Midpoint(), H, STEPS * H, on_failure="return",
                      inputs={"spin": Counter(), "hand": raising(ValueError("no"), 5 * H)})  # fmt: skip
    assert run.status is ph.Status.BAD_INPUT
    assert run.port("spin").input[:, 0] == pytest.approx([1, 2, 3, 4, 5, 5])
    run = ph.simulate(
        machine(), ph.Midpoint(), H, H, inputs={"hand": raising(ValueError("no"), 0.0)}, on_failure="return"
    )
    assert np.isnan(run.port("hand").input).all()


@schemes
def test_controllers_act_like_a_table_of_their_values(scheme):
    values = []

    def control(t, y):
        values.append(np.sin(20 * t) - 0.1 * y)
        return values[-1]

    system = machine().assemble()
    first = ph.simulate(system, scheme, H, STEPS * H, inputs={"hand": control, "push": 0.3}, every=8)
    table = np.array(values)
    again = ph.simulate(system, scheme, H, STEPS * H, inputs={"hand": table, "push": 0.3}, every=8)
    assert np.abs(first.q - again.q).max() < 1e-13  # first guesses of the multipliers differ, no more
    assert np.abs(first.v - again.v).max() < 1e-11
    assert np.abs(first.raw.work - again.raw.work).max() < 1e-12
    assert np.array_equal(first.t, again.t)


@pytest.mark.parametrize(
    ("port", "value"),
    [
        ("spin", 2), ("spin", 2.0), ("spin", np.float64(2)), ("spin", np.float32(2)), ("spin", np.array(2)),
        ("spin", [2.0]), ("spin", np.array([[2.0]])), ("spin", True + 1),
        ("hand", (1, 2, 3)), ("hand", [1.0, 2, 3]), ("hand", np.array([1, 2, 3])), ("hand", np.array([[1.0, 2, 3]])),
        ("hand", [[1], [2], [3]]), ("hand", np.array([1, 2, 3], dtype=np.float32)), ("hand", range(1, 4)),
        ("hand", tuple(np.array([[1.0], [2.0], [3.0]]))),
    ],
)  # fmt: skip
def test_what_a_controller_may_return(port, value):
    run = ph.simulate(machine(), ph.Midpoint(), H, 3 * H, inputs={port: lambda t, y: value})
    same = ph.simulate(machine(), ph.Midpoint(), H, 3 * H, inputs={port: (1, 2, 3) if port == "hand" else 2})
    assert np.abs(run.q - same.q).max() < 1e-14  # the first guess knows constants, but asks no controller


@pytest.mark.parametrize(
    ("port", "value", "found"),
    [
        ("hand", 1.0, "expected 3 number(s) from its function, found 1: [1.0]"),
        ("hand", (1.0, 2.0), "found 2: [1.0, 2.0]"),
        ("hand", "123", "expected 3 number(s) from its function, found 1: [123.0]"),
        ("hand", [[1, 2], [3, 4], [5, 6]], "found 6"),
        ("hand", [1, [2], 3], "failed with ValueError"),
        ("hand", (1, None, 2), "its function returned [1.0, nan, 2.0]; expected finite numbers"),
        ("hand", None, "found 1: [nan]"),
        ("hand", np.array([1, np.inf, 2]), "its function returned [1.0, inf, 2.0]"),
        ("spin", float("nan"), "its function returned [nan]"),
        ("spin", (1.0, 2.0), "expected 1 number(s) from its function, found 2"),
        ("spin", 1j, "failed with TypeError"),
    ],
)
def test_what_a_controller_may_not_return(port, value, found):
    good = (0, 0, 0) if port == "hand" else 0
    inputs = {port: lambda t, y: good if t < 0.1 else value}
    run = ph.simulate(machine(), ph.Midpoint(), H, STEPS * H, inputs=inputs, every=4, on_failure="return")
    assert run.status is ph.Status.BAD_INPUT
    assert f"'{port}' at t = 0.105: " in run.message
    assert found in run.message
    assert np.allclose(run.t, [0.0, 0.04, 0.08, 0.1], rtol=0, atol=1e-14)
    whole = ph.simulate(machine(), ph.Midpoint(), H, 10 * H)
    assert np.array_equal(run.q, whole.q[[0, 4, 8, 10]])


def raising(error, after=0.1):
    def control(t, y):
        if t > after:
            raise error
        return (0, 0, 0)

    return control


def test_exception_of_a_controller_is_reported_with_name_and_time():
    inputs = {"hand": raising(KeyError("valve"))}
    with pytest.raises(ph.SimulationError) as caught:
        ph.simulate(machine(), ph.MidpointGGL(), H, STEPS * H, inputs=inputs)
    assert "'hand' at t = 0.105: its function failed with KeyError: 'valve'" in str(caught.value)
    assert caught.value.trajectory.t.size == 11


def test_load_that_fails_before_or_after_a_controller():
    def model():
        result = ph.Model("blown")
        box = result.body("box", ph.Box(1, (1, 2, 3)))
        result.load("fan", box, force=lambda t: (0.0, 0.0, np.nan if t > 0.2 else 1.0))
        result.port("hand", box, kind="force")
        return result

    for after, name, size in ((0.1, "hand", 11), (0.3, "fan", 21)):
        inputs = {"hand": raising(RuntimeError("stuck"), after)}
        run = ph.simulate(model(), ph.Midpoint(), H, STEPS * H, inputs=inputs, on_failure="return")
        assert f"'{name}' at t = " in run.message
        assert run.t.size == size


def test_interrupt_of_a_controller_keeps_all_steps(tmp_path):
    """Raised by the controller itself, or by Ctrl-C while it thinks: then the step before is the last one."""
    for k, what in enumerate((raising(KeyboardInterrupt()), lambda t, y: press(t))):
        path = tmp_path / f"{k}.nc"
        with pytest.raises(KeyboardInterrupt, match=r"'machine' stopped at t = "):
            ph.simulate(machine(), ph.Midpoint(), H, 100.0, inputs={"hand": what}, out=path)
        run = ph.load(path)
        assert run.status is ph.Status.INTERRUPTED
        assert run.t.size == 11 + k
        assert np.array_equal(run.q, ph.simulate(machine(), ph.Midpoint(), H, (10 + k) * H).q)


def press(t):
    if 0.1 < t < 0.11:
        signal.raise_signal(signal.SIGINT)
    return (0, 0, 0)


def test_other_exceptions_pass():
    with pytest.raises(SystemExit, match="enough"):
        ph.simulate(machine(), ph.Midpoint(), H, 1.0, inputs={"hand": raising(SystemExit("enough"))})


def test_controllers_with_and_without_compile_nothing_anew():
    """The address of a controller differs from process to process; compiled code does not depend on it."""
    code = """
import porthos as ph
from test_controllers import machine
from porthos.kernels.reduced_ggl import march_ggl
from porthos.kernels.reduced_midpoint import march_midpoint
for scheme in (ph.Midpoint(), ph.MidpointGGL()):
    for inputs in ({}, {"hand": lambda t, y: -y}, {"hand": lambda t, y: -y, "spin": lambda t, y: -y}):
        ph.simulate(machine(), scheme, 0.01, 0.1, inputs=inputs)
for march in (march_midpoint, march_ggl):
    print(len(march.signatures), sum(march.stats.cache_misses.values()))
"""
    folders = [str(Path(__file__).parent), str(Path(__file__).parents[1]), str(Path(ph.__file__).parents[1])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    for scheme in MIDPOINTS:  # they are in the cache from now on
        ph.simulate(machine(), scheme, H, 2 * H)
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
    assert done.stdout.split() == ["1", "0", "1", "0"]
