"""Runs that go to a file on the way: the same bits as in memory, bounded memory, and a whole file whatever happens."""

import fcntl
import os
import pickle
import signal
import subprocess
import sys
import threading
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray
from catalogue import MIDPOINTS, by_name
from test_storage import assert_identical, files, mechanism, same, single

import porthos as ph
from porthos.integrate import march
from porthos.integrate.inputs import Inputs
from porthos.integrate.interrupt import interruptible
from porthos.results import journal, loading, writing
from porthos.results.loading import Stored

schemes = pytest.mark.parametrize("scheme", MIDPOINTS, ids=by_name)


def motor():
    """A controller with a memory: it counts on being asked once for each step."""
    total = [0.0]

    def control(t, y):
        total[0] += 0.01 * y
        return 0.3 - 0.1 * y - total[0]

    return control


def drive():
    wind = np.random.default_rng(1).normal(size=(60, 3))
    return {"motor": motor(), "wind": wind}


@pytest.fixture
def small_blocks(monkeypatch):
    """Seven states a block, compiled chunks of five steps, and no wait for the disk."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    monkeypatch.setattr(march, "rows_of_a_block", lambda *sizes: 7)
    monkeypatch.setattr(march, "CHUNK", 5)


def assert_stored(run, path, whole):
    """The run is `whole` bit by bit: as returned, as loaded both ways, and as a dataset."""
    assert isinstance(run.raw.q, Stored)
    assert_identical(whole, run)
    for lazy in (True, False, None):
        again = ph.load(path, lazy)
        assert isinstance(again.raw.q, Stored) is bool(lazy)
        assert_identical(whole, again)
    with xarray.open_dataset(path, engine="h5netcdf") as data:
        xarray.testing.assert_identical(data.load(), whole.to_xarray())


@schemes
@pytest.mark.parametrize("every", [1, 3])
def test_streamed_run_has_the_bits_of_one_in_memory(scheme, every, tmp_path, small_blocks):
    path = tmp_path / "run.nc"
    run = ph.simulate(mechanism(), scheme, 0.005, 0.3, inputs=drive(), every=every, out=path)
    whole = ph.simulate(mechanism(), scheme, 0.005, 0.3, inputs=drive(), every=every)
    assert files(tmp_path) == ["run.nc"]
    assert run.t.size == 60 // every + 1 > 2 * 7
    assert run.system.terminals[0].source is not None  # it is the system that ran, not one from the file
    assert_stored(run, path, whole)


def test_size_of_blocks_changes_nothing(tmp_path, monkeypatch):
    whole = ph.simulate(mechanism(), ph.Midpoint(), 0.005, 0.3, inputs=drive(), every=6)
    with monkeypatch.context() as patched:
        patched.setattr(march, "rows_of_a_block", lambda *sizes: 1)
        patched.setattr(march, "BLOCK", 100)  # multipliers are solved for block by block, too
        run = ph.simulate(mechanism(), ph.Midpoint(), 0.005, 0.3, inputs=drive(), every=6, out=tmp_path / "one.nc")
        assert_stored(run, tmp_path / "one.nc", whole)
    options = {"inputs": {"motor": 0.1}, "every": 2}
    whole = ph.simulate(mechanism(), ph.Midpoint(), 0.005, 0.3, **options)
    with monkeypatch.context() as patched:
        patched.setattr(march, "CHUNK", 10)
        patched.setattr(march, "PATIENCE", 0.0)  # each chunk is a block
        run = ph.simulate(mechanism(), ph.Midpoint(), 0.005, 0.3, **options, out=tmp_path / "now.nc")
    assert_stored(run, tmp_path / "now.nc", whole)


def test_save_of_a_streamed_run_is_a_copy(tmp_path, small_blocks):
    run = ph.simulate(mechanism(), ph.Midpoint(), 0.005, 0.3, inputs=drive(), out=tmp_path / "run.nc")
    run.save(tmp_path / "copy.nc")
    assert_identical(run, ph.load(tmp_path / "copy.nc", lazy=True))
    run.save(tmp_path / "run.nc")  # onto itself
    assert_identical(ph.load(tmp_path / "copy.nc"), ph.load(tmp_path / "run.nc"))


def test_bare_body_and_one_step(tmp_path):
    model = ph.Model("top")
    model.body("top", ph.Box(mass=1, size=(0.1, 0.2, 0.3)), angular_velocity=(5, 0.1, 0))
    for end in (0.01, 0.1):
        run = ph.simulate(model, ph.MidpointGGL(), 0.01, end, out=str(tmp_path / "run.nc"))
        assert_stored(run, tmp_path / "run.nc", ph.simulate(model, ph.MidpointGGL(), 0.01, end))


def test_stored_arrays_read_what_is_asked(tmp_path):
    run = ph.simulate(mechanism(), ph.Midpoint(), 0.005, 0.3, out=tmp_path / "run.nc")
    assert run.raw.q.shape == (61, 3, 4, 3)
    assert len(run.raw.q) == 61
    same(run.raw.q[5:9], np.asarray(run.raw.q)[5:9])
    same(run.raw.q[-1], np.asarray(run.raw.q)[-1])
    again = pickle.loads(pickle.dumps(run.raw.v))
    same(again[:], run.raw.v[:])
    with h5py.File(tmp_path / "run.nc", "a"):  # nobody keeps the file open
        pass


def test_large_files_stay_where_they_are(tmp_path, monkeypatch):
    path = single().save(tmp_path / "run.nc")
    monkeypatch.setattr(loading, "LARGE", 1000)
    run = ph.load(path)
    assert isinstance(run.raw.q, Stored)
    assert_identical(single(), run)
    assert isinstance(ph.load(path, lazy=False).raw.q, np.ndarray)


# --- failures of the run


def falling(bad, kind="nan"):
    """A body with a load that goes wrong at the time `bad`."""
    model = ph.Model("blown")

    def fan(t):
        if t > bad and kind == "raise":
            raise RuntimeError("no wind")
        return (0.0, 0.0, np.nan if t > bad else 1.0)

    model.load("fan", model.body("box", ph.Box(1, (1, 2, 3))), force=fan)
    return model


@pytest.mark.parametrize(
    ("bad", "kind"), [(0.0, "nan"), (0.061, "raise"), (0.07, "nan"), (0.2, "raise"), (0.354, "nan")]
)
def test_failed_run_leaves_all_that_was_computed(bad, kind, tmp_path, small_blocks):
    path = tmp_path / "run.nc"
    with pytest.raises(ph.SimulationError, match="stopped at t =") as caught:
        ph.simulate(falling(bad, kind), ph.Midpoint(), 0.01, 0.6, every=3, out=path)
    whole = ph.simulate(falling(bad, kind), ph.Midpoint(), 0.01, 0.6, every=3, on_failure="return")
    assert whole.status is ph.Status.BAD_INPUT
    assert whole.t[-1] == pytest.approx(np.ceil(round(bad / 0.01, 6) - 0.5) * 0.01)
    assert_stored(caught.value.trajectory, path, whole)


def test_newton_failure_leaves_all_that_was_computed(tmp_path, small_blocks):
    model = ph.Model("wheel")
    model.load("motor", model.body("wheel", ph.Sphere(1.0, 0.5)), torque=lambda t: (0, 0, 4 * t**4))
    options = {"every": 2, "on_failure": "return"}
    run = ph.simulate(model, ph.Midpoint(), 0.1, 4.0, out=tmp_path / "run.nc", **options)
    assert run.status is ph.Status.NEWTON_STALLED
    assert_stored(run, tmp_path / "run.nc", ph.simulate(model, ph.Midpoint(), 0.1, 4.0, **options))


def child(code, *arguments, **options):
    """A process that simulates a pendulum of two bodies with small blocks."""
    setup = """
import resource, signal, sys, time
from pathlib import Path
import numpy as np
import porthos as ph
from porthos.integrate import march
from test_streaming import pendulum
"""
    folders = [str(Path(__file__).parent), str(Path(__file__).parents[1]), str(Path(ph.__file__).parents[1])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    command = [sys.executable, "-c", setup + code, *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, **options
    )


def pendulum(on_step=lambda t: None):
    """Two bodies with a load that tells somebody the time."""
    model = ph.Model("pendulum", gravity=(0, 0, -9.81))
    model.body("upper", ph.Box(1, (1, 0.1, 0.1)), position=(0.5, 0, 0))
    model.body("lower", ph.Box(1, (1, 0.1, 0.1)), position=(1.5, 0, 0))
    model.spherical("A", model.ground, "upper", at=(0, 0, 0))
    model.revolute("B", "upper", "lower", at=(1, 0, 0), axis=(0, 1, 0.2))

    def push(t):
        on_step(t)
        return (0.0, np.sin(t), 0.1)

    model.load("push", "lower", force=push)
    return model


INTERRUPTED = """
march.BLOCK = 2**17
asked = 0
def tell(t):
    global asked
    asked += round(2 * t / 1e-3) % 2  # at the midpoints, not at the nodes
    if asked == 2500:
        print("ready", flush=True)
try:
    ph.simulate(pendulum(tell), ph.Midpoint(), 1e-3, 1e5, out=sys.argv[1])
except KeyboardInterrupt as error:
    print(asked, error)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    raise
"""


def test_control_c_leaves_all_that_was_computed(tmp_path):
    path = tmp_path / "run.nc"
    with child(INTERRUPTED, path) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "KeyboardInterrupt: 'pendulum' stopped at t = " in error
    assert f"See '{path}'." in error
    run = ph.load(path)
    steps = int(out.split()[0])
    assert run.t.size == steps + 1 >= 2501
    assert run.status is ph.Status.INTERRUPTED
    assert run.message == ph.Status.INTERRUPTED.value
    whole = ph.simulate(pendulum(), ph.Midpoint(), 1e-3, steps * 1e-3)
    for name in ("t", "q", "v", "energy", "power_balance", "multipliers", "iterations"):
        same(getattr(run, name), getattr(whole, name))
    assert files(tmp_path) == ["run.nc"]


KILLED = """
march.BLOCK = 2**17
def wait(t):
    if t > 3.5:
        print("ready", flush=True)
        time.sleep(600)
ph.simulate(pendulum(wait), ph.Midpoint(), 1e-3, 1e5, out=sys.argv[1])
"""


def test_killed_run_leaves_its_blocks(tmp_path):
    """A process that dies at once, as in a power failure; before that, others may look at the run while it goes on."""
    path = tmp_path / "run.nc"
    with child(KILLED, path) as process:
        assert process.stdout.readline() == "ready\n"
        looked = ph.load(path)
        process.kill()
        process.communicate(timeout=60)
    run = ph.load(path)
    assert run.status is looked.status is ph.Status.INTERRUPTED
    assert run.message == march.UNFINISHED
    same(looked.q, run.q)
    rows = run.t.size
    assert 2500 < rows < 3500
    whole = ph.simulate(pendulum(), ph.Midpoint(), 1e-3, 3.5)
    same(run.q, whole.q[:rows])
    same(run.energy, whole.energy[:rows])
    same(run.joint("B").force, whole.joint("B").force[:rows])


def test_first_interrupt_is_noted_and_second_one_raised():
    with pytest.raises(KeyboardInterrupt), interruptible() as interrupted:
        assert not interrupted()
        signal.raise_signal(signal.SIGINT)
        assert interrupted()
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_handlers_of_others_are_respected():
    seen = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        with interruptible() as interrupted:
            signal.raise_signal(signal.SIGINT)
            assert seen == [signal.SIGINT]
            assert not interrupted()
    finally:
        signal.signal(signal.SIGINT, before)


def test_runs_outside_the_main_thread(tmp_path):
    runs = []
    work = threading.Thread(
        target=lambda: runs.append(ph.simulate(pendulum(), ph.Midpoint(), 0.01, 0.1, out=tmp_path / "run.nc"))
    )
    work.start()
    work.join()
    assert_identical(ph.simulate(pendulum(), ph.Midpoint(), 0.01, 0.1), runs[0])


def test_interrupt_in_memory_says_where(monkeypatch):
    monkeypatch.setattr(march, "CHUNK", 5)

    def press(t):
        if 0.1 < t < 0.11:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt, match=r"'pendulum' stopped at t = 0\.15 of 1: The run was stopped"):
        ph.simulate(pendulum(press), ph.Midpoint(), 0.01, 1.0)


# --- memory

LARGE = """
model = ph.Model("swarm")
for k in range(200):
    model.body(f"body {k}", ph.Box(1, (0.1, 0.2, 0.3)), position=(k, 0, 0), angular_velocity=(1, 2, 3))
system = model.assemble()
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
steps = int(sys.argv[2])
ph.simulate(system, ph.Midpoint(tolerance=1e-3), 1e-3, 0.01, out=sys.argv[1]).summary()
before = peak()
run = ph.simulate(system, ph.Midpoint(tolerance=0.5), 1e-3, steps * 1e-3, out=sys.argv[1])
energy, error = run.energy, run.position_error
path = run["body 7"].position
print(run.t.size, energy.size, error.size, path.shape[0], 8 * np.prod(run.raw.q.shape) * 2 // 2**20, peak() - before)
"""


def test_memory_is_bounded(tmp_path):
    """The states take hundreds of megabytes; the run and what is computed from it take a few blocks of 16 MB."""
    with child(LARGE, tmp_path / "run.nc", 10_000) as process:
        out, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    *sizes, states, growth = map(int, out.split())
    assert sizes == [10_001] * 4
    assert states > 360
    assert growth < 130


# --- what goes wrong with files


def fails(path, *words):
    with pytest.raises(ph.ResultError) as caught:
        ph.simulate(pendulum(), ph.Midpoint(), 0.01, 0.1, out=path)
    for word in (f"'{path}'", *words):
        assert word in str(caught.value)


def test_places_that_cannot_be_written_to(tmp_path, monkeypatch):
    def never(*arguments):
        raise AssertionError("the run must not begin")

    monkeypatch.setattr(ph.Midpoint, "start", never)
    fails(tmp_path / "nowhere" / "run.nc", "No such file or directory", "Choose another place")
    (tmp_path / "file").write_text("not a folder")
    fails(tmp_path / "file" / "run.nc", "Not a directory", "a folder that exists")
    fails(tmp_path, "found a folder", "run.nc")
    monkeypatch.setattr(writing.os, "open", lambda *a: (_ for _ in ()).throw(PermissionError(13, "Permission denied")))
    fails(tmp_path / "run.nc", "Permission denied", "that you may write to")
    assert files(tmp_path) == ["file"]


def test_older_file_stays_until_there_is_a_newer_one(tmp_path):
    path = single().save(tmp_path / "run.nc")
    rod = ph.Model("rod")
    rod.body("needle", ph.Rod(1.0, 0.3))
    with pytest.raises(ph.ModelError, match="is a rod without thickness"):
        ph.simulate(rod, ph.MidpointGGL(), 0.01, 0.1, out=path)
    assert_identical(single(), ph.load(path))
    run = ph.simulate(pendulum(), ph.Midpoint(), 0.01, 0.1, out=path)
    assert_identical(run, ph.load(path))
    assert files(tmp_path) == ["run.nc"]


FULL = """
march.BLOCK = 2**17
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (12_000_000, 12_000_000))
try:
    ph.simulate(pendulum(), ph.Midpoint(), 1e-3, 100.0, out=sys.argv[1])
except ph.ResultError as error:
    print(error)
"""


def test_full_disk_leaves_what_was_written(tmp_path):
    """A limit on the size of files meets the writer in the same place as a full disk."""
    path = tmp_path / "run.nc"
    with child(FULL, path) as process:
        out, error = process.communicate(timeout=60)
    assert "File too large" in out, error
    assert "that has room" in out
    run = ph.load(path)
    assert f"The file holds the run up to t = {run.t[-1]:.6g}; make room" in out
    assert run.t.size > 1000
    assert path.stat().st_size < 12_000_000
    whole = ph.simulate(pendulum(), ph.Midpoint(), 1e-3, (run.t.size - 1) * 1e-3)
    same(run.q, whole.q)


def test_disk_without_room_where_none_can_be_claimed(tmp_path, monkeypatch, small_blocks):
    monkeypatch.delattr(writing.os, "posix_fallocate", raising=False)
    monkeypatch.setattr(journal.shutil, "disk_usage", lambda folder: type("usage", (), {"free": 900}))
    monkeypatch.setattr(writing, "CHUNK", 1)  # each state lies by itself, so the file has to grow
    fails(tmp_path / "run.nc", "found 0.0 MB free, expected", "MB for the next states", "holds the run up to t = 0.07")
    assert ph.load(tmp_path / "run.nc").t.size == 7 + 1


def test_file_that_changed_or_vanished(tmp_path):
    path = tmp_path / "run.nc"
    run = ph.simulate(pendulum(), ph.Midpoint(), 0.01, 0.1, out=path)
    ph.simulate(pendulum(), ph.Midpoint(), 0.01, 0.2, out=path)
    with pytest.raises(ph.ResultError, match="expected the run that was opened from this file, found another one"):
        _ = run.energy
    path.unlink()
    with pytest.raises(ph.ResultError, match="expected the file of this run, found none"):
        _ = run.energy


def test_file_that_is_being_written(tmp_path):
    path = single().save(tmp_path / "run.nc")
    code = (
        "from porthos.results.journal import changing\n"
        "with changing(Path(sys.argv[1])):\n print('open', flush=True)\n sys.stdin.read()"
    )
    with child(code, path, stdin=subprocess.PIPE) as process:
        assert process.stdout.readline() == "open\n"
        with pytest.raises(ph.ResultError, match="a run is writing to at this moment"):
            ph.load(path)
        process.communicate("", timeout=60)
    assert ph.load(path).t.size == 11


def test_file_that_somebody_holds_open(tmp_path, monkeypatch, small_blocks):
    """A run waits for who reads its file, not for ever; what was written stays, and the run goes on from it."""
    path, append, readers = tmp_path / "run.nc", writing.Writer.append, []

    def hold(writer, *block):
        append(writer, *block)
        if not readers:
            readers.append(path.open("rb"))
            fcntl.flock(readers[0], fcntl.LOCK_SH)

    monkeypatch.setattr(journal, "PATIENCE", 0.0)
    monkeypatch.setattr(writing.Writer, "append", hold)
    words = (
        r"run.nc': expected a file that nobody else has open.*The file holds the run up to t = 0\.07; close it there,"
    )
    with pytest.raises(ph.ResultError, match=words):
        ph.simulate(pendulum(), ph.Midpoint(), 0.01, 0.3, out=path)
    readers[0].close()
    assert ph.load(path).t.size == 7 + 1
    assert_identical(ph.simulate(pendulum(), ph.Midpoint(), 0.01, 0.3), ph.resume(path, pendulum()))


def test_energy_error_on_the_way_is_that_of_the_balance():
    """What a progress bar is told at the end is what the run says afterwards; also with loads, losses and `every`."""
    model = ph.Model("m", gravity=(0, 0, -9.81))
    bob = model.body("bob", ph.Box(1, (0.1, 0.2, 0.3)), position=(0.2, 0, -1))
    model.spring("k", model.ground, bob, (0, 0, 0), (0.2, 0, -0.85), stiffness=50, damping=2.0)
    model.load("push", bob, force=ph.Sine((0, 3.0, 0), 2.0))
    system = model.assemble()
    heard, steps, every = [], 2400, 3

    def hear(done, defect):
        heard.append((done, defect()))

    raw = march.march(system, ph.Midpoint(tolerance=0.5), 1e-3, steps, every, Inputs(system, None, steps), hear)
    run = ph.Trajectory(system, raw, "Midpoint")
    assert [done for done, _ in heard] == [999, 1998, 2400]
    errors = np.cumsum(run.power_balance)
    for done, error in heard:
        assert error == pytest.approx(errors[done // every], rel=1e-6, abs=1e-13)
    assert np.abs(errors).max() > 1e-12  # a loose tolerance leaves an error to compare
    assert run.dissipated_energy[-1] > 0.01
    assert np.abs(run.port("push").work).max() > 1e-3
