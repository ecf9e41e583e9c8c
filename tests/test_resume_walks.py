"""Runs step by step go on from their files too: schemes over states, adaptive and reversible steps, and events."""

import signal
from contextlib import contextmanager

import numpy as np
import pytest
import sympy as sp
import xarray
from test_state_results import carriage, oscillator, second_spring
from test_storage import files, same
from test_streaming import child
from typer.testing import CliRunner

import porthos as ph
from porthos import walking
from porthos.cli.app import app
from porthos.integrate.freezing import freeze, thaw
from porthos.integrate.recording import Recorder
from porthos.results import writing
from porthos.results.loading import Stored


def pendulum(force=None):
    """One rod with a load and a port, so that all steps are cheap."""
    model = ph.Model("pendulum", gravity=(0, 0, -9.81))
    model.body("rod", ph.Box(1, (1, 0.1, 0.2)), position=(0.5, 0, 0))
    model.revolute("pin", model.ground, "rod", at=(0, 0, 0), axis=(0, 1, 0.1))
    model.load("blow", "rod", force=ph.Sine((0, 1, 0.3), 2.0) if force is None else force, at=(1, 0, 0))
    model.torsion_spring("coil", "pin", stiffness=1.0, damping=0.1)
    model.port("motor", "rod", kind="torque", direction=(0, 1, 0.3))
    return model


def height(t, x):
    """That of the rod."""
    return x[2] + 0.02


def soon(t, x):
    return t - 0.19


def density(q):
    return 1.0 + q[2] ** 2


class Motor:
    """A controller with a memory in the open."""

    def __init__(self):
        self.state = 0.0

    def __call__(self, t, y):
        self.state += 0.01 * y
        return 0.3 - 0.1 * y - self.state


class Watcher(Motor):
    """One that looks at the whole mechanism too."""

    def __call__(self, t, y, state):
        return super().__call__(t, y + state["rod"].position[2])


ADAPTIVE = ph.Adaptive(rtol=1e-5, initial=0.01, maximum=0.012)
CASES = {
    "RadauIIA": (ph.RadauIIA(2), 0.01, {"inputs": {"motor": Motor}}),
    "LobattoPair": (ph.LobattoPair(2), 0.01, {"inputs": {"motor": Watcher}}),
    "GeneralizedAlpha": (ph.GeneralizedAlpha(), 0.01, {"every": 3, "end": 0.24, "events": {"low": height}}),
    "GeneralizedAlpha adaptive": (
        ph.GeneralizedAlpha(),
        ph.Adaptive(rtol=1e-2, initial=0.01, maximum=0.02),
        {"events": {"low": height}},
    ),
    "BDF": (ph.BDF(3), 0.01, {"events": {"end": ph.Event(soon, terminal=True)}}),
    "MidpointGGL adaptive": (
        ph.MidpointGGL(),
        ph.Adaptive(rtol=0.1, atol=0.1, initial=0.01, maximum=0.012),
        {"events": {"low": height}},
    ),
    "MidpointGGL reversible": (ph.MidpointGGL(), ph.Reversible(0.01, density), {}),
}


@pytest.fixture
def small_blocks(monkeypatch):
    """Five states a block."""
    monkeypatch.setattr(writing.os, "fsync", lambda handle: None)
    monkeypatch.setattr(Recorder, "enough", property(lambda self: self.fresh >= 5))


@contextmanager
def pressed(monkeypatch, after, told="porthos resume"):
    """Ctrl-C after some steps."""

    @contextmanager
    def interruptible():
        looks = iter(range(1000))
        yield lambda: next(looks) >= after

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt, match=told):
        patched.setattr(walking, "interruptible", interruptible)
        yield


@contextmanager
def killed(monkeypatch, after):
    """An end in the middle of a block, as if the process were gone."""

    class GoneError(Exception):
        pass

    def append(self, *block):
        if self._count > after:
            raise GoneError
        write(self, *block)

    write = writing.Writer.append
    with monkeypatch.context() as patched, pytest.raises(GoneError):
        patched.setattr(writing.Writer, "append", append)
        yield


def assert_file_of(run, path):
    """All that the file holds for xarray is that of the run, bit by bit."""
    with xarray.open_dataset(path, engine="h5netcdf") as data:
        found, expected = data.load(), run.to_xarray()
    xarray.testing.assert_identical(found, expected)
    for name in expected.variables:
        same(found[name].values, expected[name].values)


def options(given):
    """Those of a run, with controllers as new as at its start."""
    given = dict(given)
    inputs = {name: kind() if callable(kind) else kind for name, kind in given.pop("inputs", {}).items()}
    return {"end": 0.2, "inputs": inputs, **given}


def goes_on(make, scheme, step, given, path, stopping, again=None):
    """The file of a run that was stopped and resumed is that of one that was not."""
    whole = ph.simulate(make(), scheme, step, **options(given))
    with stopping:
        ph.simulate(make(), scheme, step, **options(given), out=path)
    early = ph.load(path)
    assert early.status is ph.Status.INTERRUPTED
    assert 1 < early.t.size < whole.t.size
    more = {"events": given["events"]} if "events" in given else {}
    if isinstance(step, ph.Reversible):
        more["step"] = step
    controllers = {name: value for name, value in options(given)["inputs"].items() if callable(value)}
    resumed = ph.resume(path, again, inputs=controllers, **more)
    assert resumed.status.wanted
    assert_file_of(whole, path)
    assert [each.t for each in resumed.events] == [each.t for each in whole.events]
    assert files(path.parent) == ["run.nc"]
    return whole, resumed


@pytest.mark.parametrize("name", [name for name in CASES if name != "BDF"])
def test_mechanisms_go_on_after_an_interrupt(name, tmp_path, small_blocks, monkeypatch):
    whole, resumed = goes_on(pendulum, *CASES[name], tmp_path / "run.nc", pressed(monkeypatch, 8))
    for part in ("t", "q", "v", "multipliers", "work", "loss", "iterations"):
        same(np.asarray(getattr(resumed.raw, part)), getattr(whole.raw, part))


def test_mechanisms_go_on_after_a_kill(tmp_path, small_blocks, monkeypatch):
    goes_on(pendulum, *CASES["BDF"], tmp_path / "run.nc", killed(monkeypatch, 6))


def test_streamed_run_is_that_in_memory(tmp_path, small_blocks):
    """Of a mechanism it stays in the file; of another system memory has more, such as dense output."""
    path, (scheme, step, given) = tmp_path / "run.nc", CASES["RadauIIA"]
    run = ph.simulate(pendulum(), scheme, step, **options(given), out=path)
    assert isinstance(run.raw.q, Stored)
    assert_file_of(ph.simulate(pendulum(), scheme, step, **options(given)), path)
    run = ph.simulate(oscillator(), ph.Gauss(3), 0.05, 1.0, out=path)
    assert_file_of(run, path)
    assert run.at(0.33)[0] == pytest.approx(np.cos(0.66), abs=1e-6)


def joined():
    return ph.interconnect(carriage(), second_spring(), through=ph.Feedback("lift", "hand", name="grip"), name="both")


OTHERS = {
    "control": (oscillator, ph.Gauss(2), 0.01, {"inputs": {"force": Motor}, "every": 2}),
    "adaptive": (oscillator, ph.RadauIIA(3), ADAPTIVE, {"events": {"one": lambda t, x: x[0] - 1}, "start": [0.9, 3.0]}),
    "reversible": (oscillator, ph.Gauss(2), ph.Reversible(0.01, lambda x: 1.0 + x[0] ** 2), {}),
    "gradient": (oscillator, ph.DiscreteGradient(), 0.01, {"inputs": {"force": lambda: np.sin}}),
    "joined": (joined, ph.RadauIIA(2), 0.01, {}),
}


@pytest.mark.parametrize(("name", "stop"), list(zip(OTHERS, (pressed, killed, pressed, killed, pressed), strict=True)))
def test_other_systems_go_on(name, stop, tmp_path, small_blocks, monkeypatch):
    make, *case = OTHERS[name]
    whole, resumed = goes_on(make, *case, tmp_path / "run.nc", stop(monkeypatch, 8), make())
    same(np.asarray(resumed.x), whole.x)
    same(resumed.H, whole.H)
    assert resumed.supplied[-1] == pytest.approx(whole.supplied[-1], abs=1e-14)


# --- what is refused


def interrupted(path, monkeypatch, make=oscillator, scheme=None, step=0.01, **given):
    with pressed(monkeypatch, 8):
        ph.simulate(make(), scheme or ph.Gauss(2), step, 0.2, out=path, **given)
    return path


def refused(path, *words, **given):
    before = path.read_bytes()
    with pytest.raises(ph.PorthosError) as caught:
        ph.resume(path, **given)
    for word in words:
        assert word in str(caught.value)
    assert path.read_bytes() == before


def test_functions_have_to_be_given_again(tmp_path, small_blocks, monkeypatch):
    path = interrupted(tmp_path / "run.nc", monkeypatch, inputs={"force": np.sin})
    refused(path, "'oscillator', which is no mechanism", "model=...", "porthos.load", inputs={"force": np.sin})
    refused(path, "port 'force' had a function of time in Python", model=oscillator())
    refused(path, "'force' at t = 0.09", "found others", model=oscillator(), inputs={"force": np.cos})
    refused(path, "with states ['q', 'p']", model=second_spring(), inputs={"force": np.sin})
    other = ph.LinearPHDAE(
        "oscillator", J=[[0, 1], [-1, 0]], Q=[[8.1, 0], [0, 1 / 2]], B=[[0], [1]],
        states=["q", "p"], ports=["force"], initial=[1.0, 0.0],
    )  # fmt: skip
    refused(path, "whose functions give other numbers", model=other, inputs={"force": np.sin})
    refused(path, "expected no `step`", model=oscillator(), step=ph.Reversible(0.01, density))
    rate = ph.Reversible(0.01, lambda x: 1.0)
    path = interrupted(tmp_path / "run.nc", monkeypatch, step=rate, events={"zero": soon})
    refused(path, "reversible steps", "step=ph.Reversible(...)", model=oscillator())
    refused(path, "event 'zero' was a function in Python", "events={'zero': ...}", model=oscillator(), step=rate)
    late = {"zero": lambda t, x: t - 0.2}
    refused(path, "event 'zero' at t = ", "the same functions", model=oscillator(), step=rate, events=late)


def test_what_a_library_remembers_is_in_no_file(tmp_path, small_blocks, monkeypatch):
    """The file has all states, and the answer says why there are no more."""
    path, step = tmp_path / "run.nc", ph.Adaptive(rtol=1e-9)
    with killed(monkeypatch, 6):
        ph.simulate(oscillator(), ph.SciPy(), step, 2.0, out=path)
    run = ph.load(path)
    assert run.t.size > 5
    assert run["q"] == pytest.approx(np.cos(2 * run.t), abs=1e-6)
    refused(path, "one with SciPy, whose memory is within a library", f"up to t = {run.t[-1]:.6g}", model=oscillator())


def test_memory_of_a_file_makes_nothing_but_numbers():
    """Matrices keep the order of their numbers, and no name of a file reaches other code."""
    turned = np.arange(6.0).reshape(2, 3).T
    again = thaw(freeze({"a": turned, "b": (1, 0.1, None, True, "x"), "c": [np.inf, np.float64(np.nan)]}))
    assert again["a"].flags.f_contiguous
    same(again["a"], turned)
    assert again["b"] == (1, 0.1, None, True, "x")
    for name in ("os:system", "newton:factorised", "..errors:Status", "newton:LARGEST_DENSE"):
        words = b'{"object": "%s", "parts": []}' % name.encode()
        content = np.frombuffer(len(words).to_bytes(8, "little") + words, dtype=np.uint8)
        with pytest.raises((ph.ResultError, ModuleNotFoundError)):
            thaw(content)


KILLED = """
import os, random
from test_resume_walks import CASES, Motor, pendulum
from porthos.integrate.recording import Recorder

os.fsync = lambda handle: None
Recorder.enough = property(lambda self: self.fresh >= 20)
scheme, step, _ = CASES[sys.argv[2]]
ph.simulate(pendulum(), scheme, step, 0.02, inputs={"motor": Motor()}, out=sys.argv[1])  # loads what is needed
Path(sys.argv[1]).unlink()
path, moments, kills = Path(sys.argv[1]), random.Random(3), 0


def stamp():
    return path.stat().st_mtime_ns if path.exists() else None


def ended(process):
    return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


while True:
    before, process = stamp(), os.fork()
    if process == 0:
        if path.exists():
            ph.resume(path, inputs={"motor": Motor()}, progress=False)
        else:
            ph.simulate(pendulum(), scheme, step, 1.5, every=2, inputs={"motor": Motor()}, out=path, progress=False)
        os._exit(0)
    while kills < 3 and stamp() == before and not ended(process):  # each time the run comes further
        time.sleep(0.01)
    if kills < 3:
        time.sleep(moments.uniform(0.0, 0.3))
        os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    if not os.WIFSIGNALED(status):
        break
    kills += 1
print(kills, status)
"""


@pytest.mark.parametrize("name", ["GeneralizedAlpha"])
def test_killed_at_random_moments(name, tmp_path):
    """SIGKILL cannot be caught: the process is gone between any two instructions."""
    path = tmp_path / "run.nc"
    with child(KILLED, path, name) as process:
        out, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    kills, status = map(int, out.split())
    assert 1 <= kills <= 3
    assert status == 0
    scheme, step, _ = CASES[name]
    assert_file_of(ph.simulate(pendulum(), scheme, step, 1.5, every=2, inputs={"motor": Motor()}), path)


def test_control_c_of_a_real_process(tmp_path):
    """The first Ctrl-C ends the run after its step, with a file that can go on."""
    code = """
from test_resume_walks import pendulum
def press(t):
    if t > 0.5 and not done:
        done.append(t)
        os.kill(os.getpid(), signal.SIGINT)
    return (0.0, 0.0, 0.0)
import os
done = []
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    ph.simulate(pendulum(press), ph.Gauss(1), 0.01, 1.0, out=sys.argv[1])
except KeyboardInterrupt as stop:
    print(stop)
"""
    path = tmp_path / "run.nc"
    with child(code, path) as process:
        out, error = process.communicate(timeout=120)
    assert "To go on: porthos resume" in out, error

    def still(t):
        return (0.0, 0.0, 0.0)

    assert 0.5 < ph.load(path).t[-1] < 0.6
    resumed = ph.resume(path, pendulum(still))
    whole = ph.simulate(pendulum(still), ph.Gauss(1), 0.01, 1.0)
    same(np.asarray(resumed.raw.q), whole.raw.q)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_command_line_takes_the_model_again(tmp_path, monkeypatch, small_blocks):
    code = tmp_path / "machine.py"
    code.write_text(
        "import porthos as ph\n\ndef model():\n    made = ph.Model('stone')\n    made.point_mass('stone', 2.0)\n"
        "    made.load('push', 'stone', force=lambda t: (t, 0, 0))\n    return made\n"
    )
    stone = ph.Model("stone")
    stone.point_mass("stone", 2.0)
    stone.load("push", "stone", force=lambda t: (t, 0, 0))
    with pressed(monkeypatch, 5):
        ph.simulate(stone, ph.Gauss(2), 0.1, 1.0, out=tmp_path / "run.nc")
    alone = CliRunner().invoke(app, ["resume", str(tmp_path / "run.nc")])
    assert alone.exit_code == 1
    assert "load 'push' is a function in Python" in alone.stderr
    answer = CliRunner().invoke(app, ["resume", str(tmp_path / "run.nc"), "--model", f"{code}:model"])
    assert answer.exit_code == 0, answer.stderr
    assert ph.load(tmp_path / "run.nc")["stone"].position[-1, 0] == pytest.approx(1 / 12, abs=1e-14)  # t^3/6/m


def test_a_run_of_livens_says_that_it_cannot_go_on(tmp_path, monkeypatch):
    y, v = sp.symbols("y v", real=True)
    stone = ph.Lagrangian(v**2 / 2 - 9.81 * y, [y], [v], initial=([1.0], [2.0]), name="stone")

    with pressed(monkeypatch, 0, told="'stone' stopped at t = "):
        ph.simulate(stone, ph.Livens(), 1e-4, 1.0, out=tmp_path / "run.nc")
    with pytest.raises(ph.ResultError, match="or a run of Livens on a Lagrangian, which writes its file when it ends"):
        ph.resume(tmp_path / "run.nc", stone)
