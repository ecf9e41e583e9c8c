"""Runs that were interrupted go on from their files with the bits of a run that was not."""

import json
import signal
from pathlib import Path

import numpy as np
import pytest
import xarray
from catalogue import by_name
from test_cli import ask
from test_storage import assert_identical, files, mechanism, same, single
from test_streaming import child, small_blocks

import porthos as ph
from porthos.results import journal, writing

__all__ = ["small_blocks"]  # a fixture

SCHEMES = [ph.Midpoint(), ph.MidpointGGL(), ph.Composition(order=4), ph.Livens()]


class Motor:
    """A controller with a memory in the open."""

    def __init__(self, form=np.zeros):
        self.state = form(2)

    def __call__(self, t, y):
        self.state = self.state + np.array([0.01 * y, 1.0])
        return 0.3 - 0.1 * y - self.state[0] + 1e-3 * np.sin(self.state[1])


def drive():
    return {"motor": Motor(), "wind": np.random.default_rng(1).normal(size=(60, 3))}


def stopped(at, model=None):
    """A mechanism whose load presses Ctrl-C once, at the time `at`."""
    model = mechanism() if model is None else model
    push, pressed = model.loads[0].force, []

    def press(t):
        if t > at and not pressed:
            pressed.append(t)
            signal.raise_signal(signal.SIGINT)
        return push(t)

    loads = [ph_load(load, press) for load in model.loads]
    model._loads.clear()
    for name, body, options in loads:
        model.load(name, body, **options)
    return model


def ph_load(load, force):
    return load.name, load.body, {"force": force, "torque": load.torque, "at": load.at}


def assert_same_file(path, whole):
    """All that the file holds is that of the run, bit by bit."""
    assert_identical(whole, ph.load(path))
    with xarray.open_dataset(path, engine="h5netcdf") as data:
        found, expected = data.load(), whole.to_xarray()
        xarray.testing.assert_identical(found, expected)
        for name in expected.variables:
            same(found[name].values, expected[name].values)


def interrupt(path, scheme, every, at, inputs):
    with pytest.raises(KeyboardInterrupt, match="stopped at t ="):
        ph.simulate(stopped(at), scheme, 0.005, 0.3, inputs=inputs, every=every, out=path)
    assert ph.load(path).status is ph.Status.INTERRUPTED


@pytest.mark.parametrize("scheme", SCHEMES, ids=by_name)
@pytest.mark.parametrize(("every", "at"), [(1, 0.02), (3, 0.1), (3, 0.29)])
def test_interrupted_run_goes_on(scheme, every, at, tmp_path, small_blocks):
    path = tmp_path / "run.nc"
    inputs = {"motor": 0.2, "wind": drive()["wind"]}
    whole = ph.simulate(mechanism(), scheme, 0.005, 0.3, inputs=inputs, every=every)
    interrupt(path, scheme, every, at, inputs)
    early = ph.load(path, lazy=True)
    run = ph.resume(path, mechanism())
    assert run.status is ph.Status.OK
    assert_identical(whole, run)
    assert_same_file(path, whole)
    assert files(tmp_path) == ["run.nc"]
    same(early.raw.q[:5], whole.raw.q[:5])  # it is the same run


@pytest.mark.parametrize("scheme", SCHEMES[:3], ids=by_name)
@pytest.mark.parametrize("at", [0.02, 0.1, 0.296])
def test_controller_has_its_memory_again(scheme, at, tmp_path, small_blocks):
    path = tmp_path / "run.nc"
    whole = ph.simulate(mechanism(), scheme, 0.005, 0.3, inputs=drive(), every=3)
    interrupt(path, scheme, 3, at, drive())
    assert ph.load(path).t.size < 21
    ph.resume(path, mechanism(), inputs={"motor": Motor()})
    assert_same_file(path, whole)


def test_state_keeps_its_form(tmp_path, small_blocks):
    """A list stays a list, a number a number."""

    class Lists(Motor):
        def __init__(self):
            self.state = [0.0, 0.0]

        def __call__(self, t, y):
            self.state += [self.state.pop(0) + 0.01 * y]
            return self.state[0]

    class Number(Motor):
        def __init__(self):
            self.state = 0

        def __call__(self, t, y):
            assert isinstance(self.state, int)
            self.state += 1
            return 1e-3 * self.state

    for kind in (Lists, Number):
        path = tmp_path / "run.nc"
        whole = ph.simulate(mechanism(), ph.Midpoint(), 0.005, 0.3, inputs={"motor": kind()})
        interrupt(path, ph.Midpoint(), 1, 0.1, {"motor": kind()})
        ph.resume(path, mechanism(), inputs={"motor": kind()})
        assert_same_file(path, whole)


def test_bodies_are_held_again(tmp_path, small_blocks):
    """The model that is given again is assembled with the bodies that the run held."""

    def heap():
        model = ph.Model("heap", gravity=(0, 0, -9.81))
        for name, place in (("upper", (0.2, 0, 0)), ("lower", (1.3, 0, -0.6))):
            model.body(name, ph.Box(1, (1, 0.1, 0.1)), position=place)
        model.revolute("A", "ground", "upper", at=(0, 0, 0), at_b=(-0.5, 0, 0), axis=(0, 1, 0), frame="body")
        model.revolute("B", "upper", "lower", at=(0.5, 0, 0), at_b=(-0.5, 0, 0), axis=(0, 1, 0), frame="body")
        model.load("push", "upper", force=lambda t: (0, 0, t), at=(0.2, 0, 0))
        return model

    path, given = tmp_path / "run.nc", (ph.Midpoint(), 0.005, 0.3)
    whole = ph.simulate(heap(), *given, hold=["lower"])
    assert whole["lower"].position[0] == pytest.approx([1.3, 0, -0.6], abs=1e-12)
    assert np.abs(heap().assemble().initial_arrays()[0][1, 0] - whole["lower"].position[0]).max() > 0.01
    with pytest.raises(KeyboardInterrupt):
        ph.simulate(stopped(0.1, heap()), *given, hold=["lower"], out=path)
    assert_identical(whole, ph.resume(path, heap()))


def two_bodies(power=None):
    """Loads and ports that a file can hold entirely."""
    model = ph.Model("pair", gravity=(0, 0, -9.81))
    model.body("upper", ph.Box(1, (1, 0.1, 0.1)), position=(0.5, 0, 0))
    model.body("lower", ph.Box(1, (1, 0.1, 0.1)), position=(1.5, 0, 0))
    model.spherical("A", model.ground, "upper", at=(0, 0, 0))
    model.revolute("B", "upper", "lower", at=(1, 0, 0), axis=(0, 1, 0.2))
    model.load("weight", "lower", force=(0.1, 0.2, 0.3))
    model.load("blow", "upper", force=ph.Sine((0, 1, 0), 2.0), torque=(0, 0, 0.1))
    model.load("gust", "upper", torque=ph.Expression(("sin(t)", "0.1", "t**2")))
    model.load("ramp", "lower", force=ph.Ramp(0.1, 0.2, (1, 0, 0)), torque=ph.Step(0.1, (0, 0, 1)))
    model.port("fan", "lower", kind="force")
    model.port("motor", "upper", kind="torque", direction=(0, 1, 0.3))
    return model


def cut(path, inputs, every, monkeypatch):
    """A run that stops after three blocks as if the process had died."""

    class GoneError(Exception):
        pass

    append, blocks = writing.Writer.append, []

    def some(self, block, checkpoint):
        if len(blocks) == 3:
            raise GoneError
        blocks.append(block)
        append(self, block, checkpoint)

    with monkeypatch.context() as patched, pytest.raises(GoneError):
        patched.setattr(writing.Writer, "append", some)
        ph.simulate(two_bodies(), ph.MidpointGGL(), 0.005, 0.3, inputs=inputs, every=every, out=path)
    assert ph.load(path).t.size == 3 * 7 + 1


@pytest.mark.parametrize("motor", [0.3, ph.Table((0, 0.2), (0, 0.1)), np.linspace(0, 1, 60) ** 3], ids=["n", "t", "a"])
def test_file_holds_all_that_is_no_function_in_python(motor, tmp_path, small_blocks, monkeypatch):
    path = tmp_path / "run.nc"
    inputs = {"motor": motor, "fan": (0.1, 0.2, 1 / 3)}
    whole = ph.simulate(two_bodies(), ph.MidpointGGL(), 0.005, 0.3, inputs=inputs, every=2)
    cut(path, inputs, 2, monkeypatch)
    ph.resume(str(path))
    assert_same_file(path, whole)


def test_command_line(tmp_path, small_blocks, monkeypatch):
    path, page = tmp_path / "run.nc", tmp_path / "run.html"
    cut(path, {"motor": 0.2}, 1, monkeypatch)
    answer = ask("resume", path, "--report", page, "--quiet", "--json")
    assert answer.exit_code == 0, answer.stderr
    told = json.loads(answer.stdout)
    assert (told["status"], told["recorded_steps"], told["files"]["report"]) == ("OK", 60, str(page))
    assert page.exists()
    assert_same_file(path, ph.simulate(two_bodies(), ph.MidpointGGL(), 0.005, 0.3, inputs={"motor": 0.2}))
    again = ask("resume", path)
    assert again.exit_code == 1
    assert "reached its end" in again.stderr


# --- what is refused


def refused(error, path, *words, **options):
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(error) as caught:
        ph.resume(path, **options)
    for word in words:
        assert word in str(caught.value)
    assert (path.read_bytes() if path.is_file() else b"") == before  # nothing is lost


@pytest.fixture
def interrupted(tmp_path, small_blocks):
    interrupt(tmp_path / "run.nc", ph.Midpoint(), 3, 0.1, drive())
    return tmp_path / "run.nc"


def test_functions_have_to_be_given_again(interrupted):
    refused(ph.InputError, interrupted, "load 'push' is a function in Python", "model=...")
    refused(ph.InputError, interrupted, "port 'motor' had a controller in Python", "'motor': ...", model=mechanism())
    ph.resume(interrupted, mechanism(), inputs={"motor": Motor()})


def test_other_functions_are_refused(interrupted):
    other = {"inputs": {"motor": lambda t, y: 0.3}, "model": mechanism()}
    refused(ph.InputError, interrupted, "port 'motor' at t = ", "found one that answers [0.3]", "'state'", **other)
    model = stopped(0.0, mechanism())
    force = model.loads[0].force
    model._loads.clear()
    options = {"torque": (0.01, 0.02, 0.0), "at": (1.0, 0.0, 0.1)}
    model.load("push", "arm 2", force=lambda t: 1.001 * np.array(mechanism().loads[0].force(t)), **options)
    assert force is not None
    refused(
        ph.InputError, interrupted, "'push' at t = ", "expected the function", model=model, inputs={"motor": Motor()}
    )
    wind = {"motor": Motor(), "wind": np.ones((60, 3))}
    refused(ph.InputError, interrupted, "'wind' at t = ", "found others", model=mechanism(), inputs=wind)
    no_port = {"motor": Motor(), "mtor": 1.0}
    refused(ph.InputError, interrupted, "no port 'mtor'", model=mechanism(), inputs=no_port)


def test_hidden_memory_is_noticed(tmp_path, small_blocks):
    from test_streaming import motor

    path = tmp_path / "run.nc"
    interrupt(path, ph.Midpoint(), 3, 0.1, {"motor": motor()})
    words = ("port 'motor' at t = ", "If it has a memory, keep it as numbers in an attribute 'state'")
    refused(ph.InputError, path, *words, model=mechanism(), inputs={"motor": motor()})


def test_memory_that_a_file_cannot_hold(tmp_path):
    def control(t, y):
        return 0.1

    control.state = {"sum": 1.0}
    with pytest.raises(ph.SimulationError, match="'motor': expected numbers in the attribute 'state'"):
        ph.simulate(mechanism(), ph.Midpoint(), 0.005, 0.3, inputs={"motor": control}, out=tmp_path / "run.nc")


def test_other_models_are_refused(interrupted):
    options = {"inputs": {"motor": Motor()}}
    model = mechanism()
    model.gravity = np.array([0.0, 0.0, -9.8])
    refused(ph.ResultError, interrupted, "another 'gravity'", "the same model", model=model, **options)
    refused(ph.ResultError, interrupted, "another 'mass'", model=two_bodies(), **options)


def test_runs_that_have_nothing_left_to_do(tmp_path, interrupted):
    path = tmp_path / "other.nc"
    ph.simulate(two_bodies(), ph.Midpoint(), 0.005, 0.1, out=path)
    refused(ph.ResultError, path, "reached its end", "open it with porthos.load")
    single("fails").save(path)
    refused(ph.ResultError, path, "one that failed", "finite", "run it anew")
    ph.load(interrupted).save(path)
    refused(ph.ResultError, path, "a copy that was saved", "run it anew")
    refused(ph.ResultError, tmp_path / "runn.nc", "found no such file", "Did you mean 'run.nc'?")
    refused(ph.ResultError, tmp_path, "found a folder")


def test_other_versions_are_refused(interrupted):
    with writing._opened(interrupted) as file:
        file["porthos"].attrs["porthos_version"] = "0.0.9"
    refused(ph.ResultError, interrupted, "one of Porthos 0.0.9, and this is", "same version")
    with writing._opened(interrupted) as file:
        del file["porthos"].attrs["checkpoint"]
    refused(ph.ResultError, interrupted, "had not made its first steps", "Run it anew")


def test_two_processes_do_not_write_to_one_run(interrupted, monkeypatch):
    """The second one takes over, the first one stops at its next block."""
    append, second = writing.Writer.append, []

    def late(self, block, reached):
        if not second:
            second.append(True)
            second.append(ph.resume(interrupted, mechanism(), inputs={"motor": Motor()}))
        append(self, block, reached)

    monkeypatch.setattr(writing.Writer, "append", late)
    with pytest.raises(ph.ResultError, match="another process writes its run to it"):
        ph.resume(interrupted, mechanism(), inputs={"motor": Motor()})
    monkeypatch.undo()
    assert_same_file(interrupted, ph.simulate(mechanism(), ph.Midpoint(), 0.005, 0.3, inputs=drive(), every=3))


# --- killed at any moment


@pytest.mark.parametrize("stage", ["draft", "named", "half applied", "applied"])
def test_killed_in_the_middle_of_a_write(stage, tmp_path, small_blocks, monkeypatch):
    """Whatever part of the changes has come into the file, they are finished by whoever opens it next."""
    path = tmp_path / "run.nc"
    whole = ph.simulate(two_bodies(), ph.Midpoint(), 0.005, 0.3)

    class Killed(BaseException):
        pass

    counts = {"writes": 0}
    real_replace, real_redo = journal.os.replace, journal._redo

    def kill(*arguments):
        raise Killed

    def dies(base, file):
        """Brings only some of the changes into the file, or all but the last act."""
        if not journal.journal_of(file).exists():
            return
        counts["writes"] += 1
        if counts["writes"] < 3:
            real_redo(base, file)
            return
        content = journal.journal_of(file).read_bytes()
        if stage != "named":
            with monkeypatch.context() as patched:
                patched.setattr(Path, "unlink", kill)
                if stage == "half applied":
                    _, _, count = journal.HEADER.unpack_from(content)
                    half = content[: journal.HEADER.size + (count // 2) * (journal.NUMBER.size + journal.PAGE)]
                    for at in range(journal.HEADER.size, len(half), journal.NUMBER.size + journal.PAGE):
                        (number,) = journal.NUMBER.unpack_from(half, at)
                        base.seek(number * journal.PAGE)
                        base.write(half[at + journal.NUMBER.size : at + journal.NUMBER.size + journal.PAGE])
                    base.flush()
                    kill()
                real_redo(base, file)
        kill()

    def draft(source, target):
        if str(target).endswith(".journal"):
            counts["writes"] += 1
            if counts["writes"] == 3:
                kill()
        real_replace(source, target)

    with monkeypatch.context() as patched, pytest.raises(Killed):
        if stage == "draft":
            patched.setattr(journal.os, "replace", draft)
        else:
            patched.setattr(journal, "_redo", dies)
        ph.simulate(two_bodies(), ph.Midpoint(), 0.005, 0.3, out=path)
    rows = (3 if stage == "draft" else 4) * 7 + 1
    run = ph.load(path)
    assert run.t.size == rows
    same(run.q, whole.q[:rows])
    assert not journal.journal_of(path).exists()
    ph.resume(path)
    assert_same_file(path, whole)


def test_damaged_journal_is_refused(tmp_path):
    path = single().save(tmp_path / "run.nc")
    journal.journal_of(path).write_bytes(b"porthos1" + 100 * b"x")
    with pytest.raises(
        ph.ResultError, match=r"run.nc.journal': expected the last changes of 'run.nc', found a damaged"
    ):
        ph.load(path)


KILLED = """
import mmap, os, random, struct
from test_resume import Motor, mechanism

march.BLOCK, march.CHUNK = 2**16, 10
os.fsync = lambda handle: None
path, seed = sys.argv[1], int(sys.argv[2])
scheme = ph.MidpointGGL()
ph.simulate(mechanism(), scheme, 1e-3, 0.02, inputs={"motor": Motor()}, out=path)  # loads what is needed
Path(path).unlink()
rng = random.Random(seed)
moments = sorted(rng.uniform(0.0, 0.95 * N * 1e-3) for _ in range(10))  # of the run, not of the clock on the wall
clock, kills, again = mmap.mmap(-1, 8), 0, 0  # the clock is shared with the processes


class Clocked(Motor):
    def __call__(self, t, y):
        clock[:] = struct.pack("d", t)
        return super().__call__(t, y)


for moment in [*moments, np.inf]:
    clock[:] = struct.pack("d", -1.0)
    process = os.fork()
    if process == 0:
        if Path(path).exists():
            ph.resume(path, mechanism(), inputs={"motor": Clocked()}, progress=False)
        else:
            inputs = {"motor": Clocked(), "wind": np.zeros((N, 3))}
            ph.simulate(mechanism(), scheme, 1e-3, N * 1e-3, every=2, inputs=inputs, out=path, progress=False)
        os._exit(0)
    ended, status = 0, 0
    while not ended and struct.unpack("d", clock[:])[0] < moment:
        time.sleep(0.001)
        ended, status = os.waitpid(process, os.WNOHANG)
    if ended:
        break
    time.sleep(rng.uniform(0.0, 0.02))  # also into the middle of what is written
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    kills += os.WIFSIGNALED(status)
    again += Path(path).exists()
print(kills, again, status)
"""
STEPS = 5000


def test_killed_ten_times_at_random_moments(tmp_path):
    """SIGKILL cannot be caught: the process is gone between any two instructions, at moments all over the run."""
    path = tmp_path / "run.nc"
    with child(KILLED.replace("N ", f"{STEPS} ").replace("(N,", f"({STEPS},"), path, 1) as process:
        out, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    kills, again, status = map(int, out.split())
    assert (kills, status) == (10, 0), out
    assert again >= 8
    inputs = {"motor": Motor(), "wind": np.zeros((STEPS, 3))}
    assert_same_file(path, ph.simulate(mechanism(), ph.MidpointGGL(), 1e-3, STEPS * 1e-3, every=2, inputs=inputs))
