"""Files: everything comes back bit by bit, and what cannot be read is refused with a sentence that helps."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import xarray

import porthos as ph
from porthos.results import storage, writing
from porthos.results.writing import _opened

BALANCES = (
    "t", "q", "v", "multipliers", "iterations", "kinetic_energy", "potential_energy", "energy", "linear_momentum",
    "angular_momentum", "position_error", "velocity_error", "power_balance",
)  # fmt: skip
OF_BODIES = ("position", "rotation", "velocity", "angular_velocity")
OF_JOINTS = ("force", "torque", "multipliers")
OF_PORTS = ("input", "output", "work")


def mechanism(driven=True):
    """A crank with a tensor, a rod, a bead, a drive; a function of time, a constant, a table and a controller."""
    model = ph.Model("Kurbel mit Öse", gravity=(0.0, 0.3, -9.81))
    tensor = [[0.03, 0.004, -0.002], [0.004, 0.05, 0.003], [-0.002, 0.003, 0.04]]
    crank = model.body(
        "crank", ph.Inertia(1.2, tensor), position=(0.3, 0.0, 0.1), rotation=((1, 2, 3), 0.7),
        velocity=(0.0, 0.1, 0.0), angular_velocity=(0.0, 1.5, 0.2),
    )  # fmt: skip
    arm = model.body("arm 2", ph.Box(mass=0.7, size=(0.4, 0.05, 0.06)), position=(0.9, 0.0, 0.1))
    bead = model.point_mass("bead", 0.2, position=(1.2, 0.0, 0.4))
    model.revolute("A", model.ground, crank, at=(0.0, 0.0, 0.0), axis=(0.1, 1.0, 0.0))
    model.spherical("B", crank, arm, at=(0.6, 0.0, 0.1))
    model.distance("C", arm, bead, point_a=(1.2, 0.0, 0.1), point_b=(1.2, 0.0, 0.4))
    if driven:
        model.slide_drive("D", model.ground, arm, at=(0.9, 0.0, 0.1), axis=(0, 0, 1), displacement=ph.Sine(0.05, 2.0))
    model.load("push", arm, force=lambda t: (np.sin(9 * t), 0.0, 2 * t), torque=(0.01, 0.02, 0.0), at=(1.0, 0.0, 0.1))
    model.port("motor", crank, kind="torque", direction=(0.1, 1.0, 0.0), torque_map="printed")
    model.port("wind", bead, kind="force")
    return model


@pytest.fixture(scope="module")
def run():
    def motor(t, y):
        return 0.3 - 0.1 * y

    wind = np.random.default_rng(1).normal(size=(60, 3))
    return ph.simulate(mechanism(), ph.Midpoint(), step=0.005, end=0.3, every=3, inputs={"motor": motor, "wind": wind})


def single(status="run"):
    """One free body, without joints, loads or ports; or one that fails on the way."""
    model = ph.Model("top")
    top = model.body("top", ph.Box(mass=1, size=(0.1, 0.2, 0.3)), angular_velocity=(5, 0.1, 0))
    if status == "fails":
        model.load("bad", top, force=lambda t: (0, 0, np.nan if t > 0.05 else 1.0))
    return ph.simulate(model, ph.MidpointGGL(), step=0.01, end=0.1, on_failure="return")


def same(a, b):
    """Equal bits, dtype and shape, also of tables of tables; a NaN equals a NaN."""
    if isinstance(a, tuple):
        for x, y in zip(a, b, strict=True):
            same(x, y)
        return
    a, b = np.asarray(a), np.asarray(b)
    assert (a.dtype, a.shape) == (b.dtype, b.shape)
    assert a.tobytes() == b.tobytes()


def assert_identical(run, again):
    for name in BALANCES:
        same(getattr(run, name), getattr(again, name))
    assert again.system.body_names == run.system.body_names
    assert again.system.joint_names == run.system.joint_names
    assert [x.name for x in again.system.terminals] == [x.name for x in run.system.terminals]
    for body in run.system.body_names:
        for name in OF_BODIES:
            same(getattr(run[body], name), getattr(again[body], name))
    for joint in run.system.joint_names:
        for name in OF_JOINTS:
            same(getattr(run.joint(joint), name), getattr(again.joint(joint), name))
    for terminal in run.system.terminals:
        for name in OF_PORTS:
            same(getattr(run.port(terminal.name), name), getattr(again.port(terminal.name), name))
    assert again.summary() == run.summary()
    assert repr(again) == repr(run)
    assert (again.status, again.message, again.scheme) == (run.status, run.message, run.scheme)
    assert again.system.adjustments == run.system.adjustments
    assert again.system.description == json.loads(json.dumps(run.system.description))
    assert repr(again.system) == repr(run.system)
    assert again.system.length == run.system.length
    for a, b in zip(again.system.initial_arrays(), run.system.initial_arrays(), strict=True):
        same(a, b)
    for a, b in zip(again.system.mech, run.system.mech, strict=True):
        same(a, b)
    for a, b in ((again.system.layout, run.system.layout), (again.system.condensed, run.system.condensed)):
        for x, y in zip([*a.pattern, *a[1:]], [*b.pattern, *b[1:]], strict=True):
            same(x, y)


def files(folder: Path):
    return sorted(p.name for p in folder.iterdir())


def test_run_comes_back_bit_by_bit(run, tmp_path):
    path = run.save(tmp_path / "run.nc")
    assert path == tmp_path / "run.nc"
    assert files(tmp_path) == ["run.nc"]
    again = ph.load(path)
    assert_identical(run, again)
    assert run.system.adjustments  # the model is inconsistent on purpose, so that this table is tested
    assert all(terminal.source is None for terminal in again.system.terminals)
    again.save(tmp_path / "copy.nc")
    assert_identical(run, ph.load(str(tmp_path / "copy.nc")))
    xarray.testing.assert_identical(again.to_xarray(), run.to_xarray())


@pytest.mark.parametrize("status", ["run", "fails"])
def test_bare_and_failed_runs_come_back(status, tmp_path):
    run = single(status)
    assert run.status is (ph.Status.OK if status == "run" else ph.Status.BAD_INPUT)
    again = ph.load(run.save(tmp_path / "run.nc"))
    assert_identical(run, again)
    xarray.testing.assert_identical(again.to_xarray(), run.to_xarray())


def test_a_loaded_system_runs_again(run, tmp_path):
    """Its loads have become ports: with the same inputs, the same numbers come out. Drives have lost their motion."""
    with pytest.raises(ph.InputError, match="expected a motion for the drive 'D', found none"):
        ph.simulate(ph.load(run.save(tmp_path / "run.nc")).system, ph.Midpoint(), 0.01, 0.1)
    free = ph.simulate(mechanism(driven=False), ph.Midpoint(), 0.01, 0.1)
    again = ph.load(free.save(tmp_path / "run.nc")).system
    inputs = {"push": (1.0, 0.0, 0.5, 0.0, 0.1, 0.0), "motor": 0.2, "wind": (0.0, 0.1, 0.0)}
    model = mechanism(driven=False)
    model._loads.clear()
    model.load("push", "arm 2", force=(1.0, 0.0, 0.5), torque=(0.0, 0.1, 0.0), at=(1.0, 0.0, 0.1))
    first = ph.simulate(model, ph.MidpointGGL(), 0.01, 0.1, inputs={k: inputs[k] for k in ("motor", "wind")})
    second = ph.simulate(again, ph.MidpointGGL(), 0.01, 0.1, inputs=inputs)
    same(first.q, second.q)
    same(first.v, second.v)


def test_dataset_is_made_for_xarray_users(run, tmp_path):
    path = run.save(tmp_path / "run.nc")
    with xarray.open_dataset(path, engine="h5netcdf") as data:
        data.load()
    sizes = {"time": 21, "body": 3, "joint": 4, "element": 0, "port": 4, "axis": 3, "body_axis": 3, "event": 0}
    assert dict(data.sizes) == {**sizes, "turning_joint": 1, "sliding_joint": 0}
    assert data.time.dtype == np.float64  # not decoded to dates
    for name, variable in {**data.data_vars, "time": data.time}.items():
        assert variable.attrs["units"], name
        assert variable.attrs["long_name"], name
    assert list(data.data_vars) == [*storage.QUANTITIES, "event_time"]
    same(data.position.sel(body="bead").values, run["bead"].position)
    same(data.rotation.sel(body="crank").transpose("time", "axis", "body_axis").values, run["crank"].rotation)
    same(data.joint_force.sel(joint="B", axis="z").values, run.joint("B").force[:, 2])
    same(data.joint_torque.sel(joint="A").values, run.joint("A").torque)
    same(data.work.sel(port="wind").values, run.port("wind").work)
    same(data.work.sel(port="D").values, run.port("D").work)
    same(data.energy.values, run.energy)
    assert data.energy.attrs["units"] == "J"
    assert data.joint_torque.attrs["units"] == "N m"
    assert data.attrs["porthos_version"] == ph.__version__
    assert data.attrs["created_by"] == f"Porthos {ph.__version__}"
    assert data.attrs["scheme"] == "Midpoint(tolerance=0.0, max_iterations=50, threads=1)"
    assert (data.attrs["status"], data.attrs["message"]) == ("OK", ph.Status.OK.value)
    model = json.loads(data.attrs["model"])
    assert model["name"] == "Kurbel mit Öse"
    assert [body["mass"] for body in model["bodies"]] == [1.2, 0.7, 0.2]


def test_shapes_of_the_dataset_without_joints_and_ports():
    data = single().to_xarray()
    none = dict.fromkeys(("joint", "turning_joint", "sliding_joint", "element", "port", "event"), 0)
    assert dict(data.sizes) == {"time": 11, "body": 1, "axis": 3, "body_axis": 3, **none}
    assert data.joint_force.shape == (11, 0, 3)
    assert data.work.shape == (11, 0)


def test_save_replaces_an_older_file_at_once(run, tmp_path):
    path = tmp_path / "run.nc"
    single().save(path)
    run.save(path)
    assert files(tmp_path) == ["run.nc"]
    assert_identical(run, ph.load(path))


def test_permissions_follow_the_mask_of_the_user(tmp_path):
    before = os.umask(0o027)
    try:
        path = single().save(tmp_path / "run.nc")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640


def test_long_descriptions_fit(tmp_path):
    """HDF5 keeps short attributes in 64 kB; the description of a large model is longer."""
    model = ph.Model("many")
    for k in range(400):
        model.body(f"body {k} " + 200 * "x", ph.Sphere(mass=1, radius=0.1), position=(k, 0, 0))
    run = ph.simulate(model, ph.Midpoint(), 0.1, 0.1)
    again = ph.load(run.save(tmp_path / "run.nc"))
    assert len(json.dumps(again.system.description)) > 2**16
    assert again.system.description == run.system.description
    assert again.system.body_names == run.system.body_names


# --- what goes wrong


def refused(path, *words):
    with pytest.raises(ph.ResultError) as caught:
        ph.load(path)
    assert f"'{path}'" in str(caught.value)
    for word in words:
        assert word in str(caught.value)


def test_missing_file_names_the_nearest_one(tmp_path):
    single().save(tmp_path / "slider_crank.nc")
    refused(tmp_path / "slider_krank.nc", "found no such file", "Did you mean 'slider_crank.nc'?")
    refused(tmp_path / "nowhere" / "run.nc", "found no such file", "There are none")


def test_folder_is_no_file(tmp_path):
    refused(tmp_path, "found a folder", "Name a file in it")


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"time,energy\n0,1\n", "found no NetCDF file"),
        (b"", "found an empty file"),
        (b"CDF\x01" + 40 * b"\0", "found a NetCDF file of the classic format"),
    ],
)
def test_other_formats(content, found, tmp_path):
    path = tmp_path / "run.nc"
    path.write_bytes(content)
    refused(path, found, "expected a NetCDF4 file written by Trajectory.save", "Check the name")


@pytest.mark.parametrize("part", [0.001, 0.1, 0.5, 0.9, 0.999])
def test_truncated_file(run, part, tmp_path):
    path = run.save(tmp_path / "run.nc")
    content = path.read_bytes()
    path.write_bytes(content[: max(9, int(part * len(content)))])
    refused(path, "truncated or damaged", "Copy it again, or repeat the run")


def test_file_of_another_program(tmp_path):
    path = tmp_path / "weather.nc"
    xarray.Dataset({"rain": ("time", np.zeros(3))}).to_netcdf(path, engine="h5netcdf")
    refused(path, "of another program", "xarray.open_dataset")


def test_file_of_a_newer_porthos(run, tmp_path):
    path = run.save(tmp_path / "run.nc")
    with _opened(path) as file:
        file["porthos"].attrs["format"] = storage.FORMAT + 1
        file["porthos"].attrs["porthos_version"] = "9.9.9"
    refused(path, "expected format 6, found format 7", "9.9.9", "Update Porthos")


@pytest.mark.parametrize(
    ("table", "place", "value", "word"),
    [
        ("row_body", (0, 1), 99, "'row_body' names a body that does not exist"),
        ("load_body", (0,), -1, "'load_body' or 'load_other' names a body that does not exist"),
        ("joint_row", (1,), 10**6, "'joint_row' does not divide the rows"),
        ("port_inputs", (0,), 5, "contradict each other"),
    ],
)
def test_tables_that_would_lead_compiled_code_astray(run, table, place, value, word, tmp_path):
    path = run.save(tmp_path / "run.nc")
    with _opened(path) as file:
        file["porthos"][table][place] = value
    refused(path, "damaged", word)


def test_missing_table_and_wrong_shape(run, tmp_path):
    path = run.save(tmp_path / "run.nc")
    with _opened(path) as file:
        file.move("porthos/multipliers", "porthos/other")
    refused(path, "damaged", "multipliers")
    with _opened(path) as file:
        file["porthos"]["multipliers"] = np.zeros((21, 3))
    refused(path, "damaged", "table 'multipliers' has shape (21, 3)")


def fails_to_save(run, path, *words):
    with pytest.raises(ph.ResultError) as caught:
        run.save(path)
    for word in (f"'{path}'", *words):
        assert word in str(caught.value)


def test_folders_that_cannot_be_written_to(run, tmp_path):
    fails_to_save(run, tmp_path / "nowhere" / "run.nc", "No such file or directory", "Save it elsewhere")
    (tmp_path / "file").write_text("not a folder")
    fails_to_save(run, tmp_path / "file" / "run.nc", "Not a directory", str(tmp_path / "file"))
    fails_to_save(run, tmp_path, "found a folder", "run.nc")
    assert files(tmp_path) == ["file"]


@pytest.mark.parametrize("call", ["open", "fsync", "replace"])
@pytest.mark.parametrize(("number", "sentence"), [(13, "Permission denied"), (28, "No space left on device")])
def test_failure_at_each_stage_leaves_the_older_file(run, call, number, sentence, tmp_path, monkeypatch):
    path = tmp_path / "run.nc"
    path.write_bytes(b"older result")

    def fail(*arguments, **options):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(writing.os, call, fail)
    fails_to_save(run, path, sentence, "the run itself is not lost")
    monkeypatch.undo()
    assert files(tmp_path) == ["run.nc"]
    assert path.read_bytes() == b"older result"


def test_interruption_leaves_nothing_behind(run, tmp_path, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(writing, "_flush", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run.save(tmp_path / "run.nc")
    assert files(tmp_path) == []


def test_views_of_states_are_no_copies(run):
    """So that a long run is not kept twice because somebody looked at a body of it."""
    assert np.shares_memory(run["crank"].position, run.raw.q)
    assert np.shares_memory(run["bead"].velocity, run.raw.v)
    assert np.shares_memory(run.port("D").motion, run.raw.wrench)
    assert np.shares_memory(run.t, run.raw.t)


# --- the model file inside


def _text_of(path):
    """What a file says of how a run was made, and the run of that text."""
    attributes = xarray.load_dataset(path, engine="h5netcdf").attrs
    (path.parent / "again.yaml").write_text(attributes["model_file"], encoding="utf-8")
    return attributes, ph.simulate_file(path.parent / "again.yaml")


@pytest.mark.parametrize("streamed", [True, False])
def test_files_hold_the_text_from_which_the_run_can_be_repeated(tmp_path, streamed):
    """Bit by bit, with the load, the scheme and the input of the run, and without what came to the model later."""
    model = ph.Model("lift", gravity=(0, 0, -9.81))
    model.body("bar", ph.Box(2.0, (1.0, 0.1, 0.1)), position=(0.5, 0, 0))
    model.revolute("hinge", "ground", "bar", at=(0, 0, 0), axis=(0, 1, 0))
    model.load("push", "bar", force=ph.Sine((0, 0, 3.0), 2.0))
    model.port("motor", "bar", kind="torque", direction=(0, 1, 0))
    system, path = model.assemble(), tmp_path / "run.nc"
    model.body("late", ph.Sphere(1.0, 0.1))
    options = {"inputs": {"motor": ph.Ramp(0, 0.1, after=1.0)}, "every": 2}
    run = ph.simulate(system, ph.Midpoint(tolerance=1e-12), 0.01, 0.2, **options, out=path if streamed else None)
    if not streamed:
        run.save(path)
    attributes, again = _text_of(path)
    assert (attributes["step"], attributes["end_time"]) == ("0.01", 0.2)
    np.testing.assert_array_equal(again.q, run.q)
    assert again.scheme == run.scheme
    back = ph.load(path)
    assert back.model_file == run.model_file == attributes["model_file"]
    assert [body.name for body in back.model.bodies] == ["bar"]
    assert ph.load(back.save(tmp_path / "copy.nc")).model_file == run.model_file


def test_functions_in_python_are_in_no_file_and_the_text_says_so(tmp_path):
    def push(t):
        return (0.0, 0.0, t)

    model = ph.Model("ball")
    model.point_mass("ball", 1.0)
    model.port("hand", "ball", kind="force", direction=(0, 0, 1))
    run = ph.simulate(model, ph.Midpoint(), 0.1, 0.2, inputs={"hand": lambda t: t})
    assert run.model_file.startswith("# Without the section 'simulation', because a file holds no functions in Python")
    assert run.model.bodies[0].name == "ball"
    rows = ph.simulate(model, ph.Midpoint(), 0.1, 0.2, inputs={"hand": np.ones((2, 1))})
    assert "'hand' has a row for each step" in rows.model_file
    model.load("push", "ball", force=push)
    run = ph.simulate(model, ph.Midpoint(), 0.1, 0.2)
    loaded = ph.load(run.save(tmp_path / "x.nc"))
    with pytest.raises(ph.ResultError, match=r"is in no file\. Not written, because.*'push': force: .*ph\.Table"):
        _ = loaded.model
