"""One list of names for figures, reports, tables, events and controllers; angles count turns; outputs of files."""

from __future__ import annotations

import json
import os

import jsonschema
import numpy as np
import pandas
import pytest
import xarray
import yaml
from scipy.integrate import solve_ivp
from test_cli import ask, refused

import porthos as ph
from porthos.integrate import march
from porthos.integrate.catalogue import SCHEMES, scheme_class
from porthos.integrate.sensing import Sensed
from porthos.model.modelfile import ModelFile
from porthos.model.schema import json_schema
from porthos.quantities import momentary
from porthos.results.exchange import columns
from porthos.show.quantities import curves
from porthos.show.stage import Stage

SPEED = 7.0  # rad/s of a wheel


def workshop():
    """A part of every group: bodies, joints of all kinds with axes, elements, a beam, a load, a port and a drive."""
    model = ph.Model("workshop", gravity=(0, 0, -9.81))
    model.body("wheel", ph.Cylinder(1, 0.1, 0.2), angular_velocity=(0, 0, SPEED))
    model.revolute("pin", model.ground, "wheel", at=(0, 0, 0), axis=(0, 0, 1))
    model.friction("rub", "pin", coefficient=0.0, radius=0.01)
    model.body("block", ph.Box(1, (0.1, 0.1, 0.1)), position=(2, 0, 0), velocity=(1, 0, 0))
    model.prismatic("guide", model.ground, "block", at=(2, 0, 0), axis=(1, 0, 0))
    model.spring("strut", model.ground, "block", point_a=(0, 0, 0), point_b=(2, 0, 0), stiffness=4.0)
    model.body("sleeve", ph.Cylinder(1, 0.1, 0.2), position=(5, 0, 0), angular_velocity=(0, 0, -3))
    model.cylindrical("shaft", model.ground, "sleeve", at=(5, 0, 0), axis=(0, 0, 1))
    model.torsion_spring("coil", "shaft", stiffness=0.1)
    model.point_mass("bob", 1.0, position=(8, 0, -1))
    model.distance("rod", model.ground, "bob", point_a=(8, 0, 0), point_b=(8, 0, -1))
    model.load("push", "bob", force=(1, 0, 0))
    model.port("motor", "wheel", kind="torque", direction=(0, 0, 1))
    model.body("table", ph.Cylinder(1, 0.1, 0.2), position=(11, 0, 0), angular_velocity=(0, 0, 2))
    model.revolute("hub", model.ground, "table", at=(11, 0, 0), axis=(0, 0, 1))
    model.turn_drive("crank", model.ground, "table", at=(11, 0, 0), axis=(0, 0, 1), angle=ph.Expression("2*t"))
    section = ph.RectangularSection(young=1e7, poisson=0.3, density=1000, width=0.05, height=0.05)
    model.beam("bar", section, start=(14, 0, 0), end=(15, 0, 0), a=model.ground, elements=2)
    return model


@pytest.fixture(scope="module")
def run():
    return ph.simulate(workshop(), ph.MidpointGGL(), 0.01, 0.2, inputs={"motor": 0.1})


def test_all_who_know_names_know_the_same(run):
    """What a model says before it is assembled, what its system says, figures, tables, and menus of reports."""
    known = run.system.quantities
    assert list(workshop().quantities) == list(known)
    table = columns(run)
    for name, meant in known.items():
        drawn = curves(run, name)
        ends = meant.quantity.components or ("",)
        assert len(drawn) == len(ends)
        for curve, end in zip(drawn, ends, strict=True):
            np.testing.assert_array_equal(curve.values, table[f"{name}{end}"], err_msg=name)
            np.testing.assert_array_equal(curves(run, f"{name}{end}")[0].values, curve.values)
    assert len(table) == sum(len(meant.quantity.components or ("",)) for meant in known.values())
    menus = {one["name"].partition("/")[2] for one in Stage(run).description["quantities"]} - {""}
    parts = {name for name, meant in known.items() if meant.part.group}
    inner = {name for name in parts if known[name].part.kind == "segment" or known[name].part.name == "bar.1"}
    hidden = {name for name in parts if name.endswith(".rotation")} | inner
    assert menus == parts - hidden
    assert {"bar.energy", "crank.motion", "coil.measure", "pin.angle", "guide.displacement_rate"} <= menus


def test_units_of_friction_are_those_of_its_joint(run):
    assert curves(run, "rub.measure")[0].axis == "angle [rad]"
    assert curves(run, "rub.force")[0].axis == "torque [N m]"


def test_one_state_tells_the_same_as_the_run(run):
    """Events and controllers see what figures show, but for whole turns."""
    state = Sensed.of(run.system, np.concatenate([run.q[-1], run.v[-1], np.zeros(run.system.m)]))
    names = momentary(run.system.quantities)
    assert {"pin.angle", "shaft.displacement_rate", "bob.velocity.y", "wheel.rotation.xz", "strut.measure"} <= set(
        names
    )
    for name in names:
        expected = curves(run, name)[0].values[-1]
        assert state.quantity(name, around=expected) == pytest.approx(expected, abs=1e-12), name


def test_rates_are_rates(run):
    """Central differences of second order."""
    for name in ("pin.angle", "shaft.angle", "shaft.displacement", "guide.displacement"):
        values, rates = curves(run, name)[0].values, curves(run, f"{name}_rate")[0].values
        slope = (values[2:] - values[:-2]) / (run.t[2:] - run.t[:-2])
        np.testing.assert_allclose(slope, rates[1:-1], atol=2e-3 * np.abs(rates).max(), err_msg=name)


def test_a_pendulum_swings_through_the_angle_of_its_equation():
    """A bar about its end, phi'' = -(3 g / 2 l) sin(phi), over the top and back round: SciPy's DOP853."""
    model = ph.Model("bar", gravity=(0, 0, -9.81))
    model.body("bar", ph.Box(1, (0.02, 0.02, 1.0)), position=(0, 0, -0.5))
    model.revolute("pin", model.ground, "bar", at=(0, 0, 0), axis=(0, 1, 0), rate=12.0)
    found = ph.simulate(model, ph.Composition(order=6), 0.005, 5.0, every=10)
    thick = 1.0 / 3.0 + 0.02**2 / 12.0  # moment of inertia about the pin
    exact = solve_ivp(lambda t, y: [y[1], -0.5 * 9.81 / thick * np.sin(y[0])], (0, 5), [0, 12], method="DOP853",
                      rtol=1e-12, atol=1e-12, t_eval=found.t)  # fmt: skip
    np.testing.assert_allclose(found.joint("pin").angle, exact.y[0], atol=1e-7)
    np.testing.assert_allclose(found.joint("pin").angle_rate, exact.y[1], atol=1e-6)
    assert found.joint("pin").angle[-1] > 6 * np.pi


def spinning(**options):
    """A wheel whose step turns it by 2 atan(h w / 2), the angle of the midpoint rule."""
    model = ph.Model("wheel")
    model.body("wheel", ph.Cylinder(1, 0.1, 0.2), angular_velocity=(0, 0, -SPEED))
    model.revolute("pin", model.ground, "wheel", at=(0, 0, 0), axis=(0, 0, 1))
    return ph.simulate(model, ph.Midpoint(), 0.05, 50.0, **options)


def turned(t):
    return -2 * np.arctan(0.05 * SPEED / 2) * t / 0.05


@pytest.mark.parametrize("every", [1, 10, 100])
def test_angles_count_turns_also_between_recorded_states(every):
    """With 100 steps between two states the wheel turns five times from one to the next."""
    found = spinning(every=every)
    pin = found.joint("pin")
    np.testing.assert_allclose(pin.angle, turned(found.t), rtol=1e-10)
    np.testing.assert_allclose(found.thinned(np.array([0, 3, 7])).joint("pin").angle, pin.angle[[0, 3, 7]])


def test_turns_between_states_and_in_reports():
    found = spinning()
    times = np.array([3.01, 17.42, 49.99])
    np.testing.assert_allclose(found.at(times).joint("pin").angle, turned(times), atol=0.01)
    page = Stage(spinning(every=1, outputs=["pin.angle"]))
    assert page.description["panels"][0] == "outputs/pin.angle"


def test_turns_go_on_in_files_that_grow_by_blocks(tmp_path, monkeypatch):
    """Also after an interruption, and for those who read the file by xarray."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    monkeypatch.setattr(march, "rows_of_a_block", lambda *sizes: 7)
    whole = spinning()
    found = spinning(out=tmp_path / "run.nc")
    with xarray.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as data:
        np.testing.assert_array_equal(data.joint_angle.sel(turning_joint="pin"), whole.joint("pin").angle)
        assert data.joint_angle.units == "rad"
        assert data.sizes["sliding_joint"] == 0
    np.testing.assert_array_equal(found.joint("pin").angle, whole.joint("pin").angle)
    np.testing.assert_array_equal(ph.load(tmp_path / "run.nc").joint("pin").angle, whole.joint("pin").angle)


def test_turns_go_on_after_an_interruption(tmp_path, monkeypatch):
    model = ph.Model("wheel")
    model.body("wheel", ph.Cylinder(1, 0.1, 0.2), angular_velocity=(0, 0, SPEED))
    model.revolute("pin", model.ground, "wheel", at=(0, 0, 0), axis=(0, 0, 1))
    model.port("motor", "wheel", kind="torque", direction=(0, 0, 1))
    path = tmp_path / "run.nc"

    def motor(stop):
        def control(t, y):
            if stop and t > 10.0:
                raise KeyboardInterrupt
            return 0.0

        return {"motor": control}

    whole = ph.simulate(model, ph.Midpoint(), 0.05, 20.0, inputs=motor(False))
    with pytest.raises(KeyboardInterrupt):
        ph.simulate(model, ph.Midpoint(), 0.05, 20.0, inputs=motor(True), out=path)
    ph.resume(path, inputs=motor(False))
    with xarray.open_dataset(path, engine="h5netcdf") as data:
        np.testing.assert_array_equal(data.joint_angle[:, 0], whole.joint("pin").angle)


def test_joints_without_an_axis_have_no_angle(run):
    with pytest.raises(ph.PorthosError, match=r"'rod' has no quantity 'angle'\. Known: 'force', 'torque'"):
        run.joint("rod").angle  # noqa: B018
    with pytest.raises(ph.PorthosError, match=r"'pin' has no quantity 'displacement'\. Known: 'angle'"):
        run.joint("pin").displacement  # noqa: B018


# --- outputs

TEXT = """\
name: pendulum
gravity: [0, 0, -9.81]
bodies:
  bob: {shape: box, mass: 1, size: [0.2, 0.2, 0.2], position: [1, 0, 0]}
joints:
  pin: {kind: revolute, a: ground, b: bob, at: [0, 0, 0], axis: [0, 1, 0]}
simulation:
  step: 0.01
  end: 0.5
  outputs:
    - pin.angle
    - bob.position.z
    - energy
"""
NAMES = ("pin.angle", "bob.position.z", "energy")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "pendulum.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_outputs_are_what_tables_and_plots_have(file, tmp_path):
    assert ask("run", file, "--out", tmp_path / "run.nc", "--report", tmp_path / "run.html").exit_code == 0
    found = ph.load(tmp_path / "run.nc")
    assert found.outputs == NAMES
    assert ask("export", tmp_path / "run.nc", "--to", tmp_path / "run.csv").exit_code == 0
    assert tuple(pandas.read_csv(tmp_path / "run.csv", index_col="time").columns) == NAMES
    assert tuple(found.to_pandas()) == NAMES
    assert tuple(found.to_pandas("pin.angle_rate", "bob.velocity")) == (
        "pin.angle_rate", "bob.velocity.x", "bob.velocity.y", "bob.velocity.z"
    )  # fmt: skip
    assert [ax.get_ylabel().partition(" ")[0] for ax in found.plot().axes] == ["angle", "position", "energy"]
    only = ["export", tmp_path / "run.nc", "--to", tmp_path / "x.csv", "--quantity", "pin.angle_rate"]
    assert ask(*only).exit_code == 0
    assert list(pandas.read_csv(tmp_path / "x.csv", index_col="time")) == ["pin.angle_rate"]
    refused(ask(*only[:-1], "pin.angel"), 1, "'pin' has no quantity 'angel'. Did you mean 'angle'?")


def test_reports_show_outputs_first(file):
    description = Stage(ph.simulate_file(file)).description
    assert description["panels"][:3] == [f"outputs/{name}" for name in NAMES]
    assert "energy" not in description["panels"]  # it is there as an output
    group = [one for one in description["quantities"] if one["group"] == "outputs"]
    assert [one["title"] for one in group] == ["pin: angle", "bob.position: z", "energy"]


def test_errors_among_outputs_keep_the_largest_between_frames():
    names = ["position_error", "power_balance"]
    model = workshop()
    found = ph.simulate(model, ph.Midpoint(), 0.001, 3.0, inputs={"motor": 0.1}, outputs=names)
    page = Stage(found)
    assert page.kept.size < found.t.size
    axes = {one["title"]: one["log"] for one in page.description["quantities"] if one["group"] == "outputs"}
    assert axes == {"position error": True, "power balance": False}


def test_outputs_come_back_as_they_were(file, tmp_path):
    first = ModelFile.read(file)
    assert first.simulation.outputs == NAMES
    again = ModelFile.read(first.model.save(tmp_path / "again.yaml", first.simulation)).simulation
    assert again == first.simulation
    (tmp_path / "from_result.yaml").write_text(ph.simulate_file(file).model_file)
    assert ModelFile.read(tmp_path / "from_result.yaml").simulation.outputs == NAMES


def test_check_and_schema_know_outputs(file):
    assert "outputs             pin.angle, bob.position.z, energy" in ask("check", file).stdout
    assert json.loads(ask("check", file, "--json").stdout)["outputs"] == list(NAMES)
    schema = json_schema({name: scheme_class(name) for name in SCHEMES})
    validator, data = jsonschema.Draft202012Validator(schema), yaml.safe_load(TEXT)
    assert validator.is_valid(data)
    data["simulation"]["outputs"] = "energy"
    assert not validator.is_valid(data)


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("pin.angle", "pin.angel", 11, "'pin' has no quantity 'angel'. Did you mean 'angle'?"),
        ("bob.position.z", "bop.position.z", 12, "found no part 'bop' with quantities. Did you mean 'bob'?"),
        ("bob.position.z", "bob.position.w", 12, "'bob' has no quantity 'position.w'. Did you mean 'position'?"),
        ("bob.position.z", "bob", 12, "'bob' is a part; expected one of its quantities, such as 'bob.position'"),
        ("- energy", "- enrgy", 13, "found no quantity 'enrgy'. Did you mean 'energy'?"),
        ("- energy", "- pin.angle", 10, "found 'pin.angle' 2 times; name it once"),
        ("- energy", "- [energy]", 13, "expected a name, found a list"),
    ],
)
def test_wrong_outputs_are_answered_with_their_line(file, old, new, line, words):
    file.write_text(TEXT.replace(old, new), encoding="utf-8")
    with pytest.raises(ph.ModelFileError) as caught:
        ModelFile.read(file)
    assert str(caught.value).startswith(f"pendulum.yaml, line {line}: simulation: outputs: ")
    assert words in str(caught.value)


def test_outputs_in_python():
    for wrong, words in [
        ("energy", "expected a list of names"),
        ([3], "expected a list of names such as"),
        (3, "expected a list"),
    ]:
        with pytest.raises(ph.ModelError, match=f"outputs: {words}"):
            spinning(outputs=wrong)
    with pytest.raises(ph.ModelError, match="'pin' has no quantity 'angel'"):
        spinning(outputs=["pin.angel"])
    oscillator = ph.LinearPHDAE("oscillator", J=[[0, 1], [-1, 0]], Q=np.eye(2), initial=[1, 0])
    with pytest.raises(ph.PorthosError, match="outputs: these are for runs of models"):
        ph.simulate(oscillator, ph.Gauss(1), 0.1, 1.0, outputs=["H"])


def test_parts_of_a_run_say_what_they_have():
    model = ph.Model("p")
    model.body("bob", ph.Sphere(1.0, 0.1), position=(1, 0, 0), velocity=(0, 0, 1))
    model.revolute("pin", "ground", "bob", at=(0, 0, 0), axis=(0, 1, 0))
    model.joint_port("motor", "pin")
    model.torsion_spring("coil", "pin", stiffness=1.0)
    run = ph.simulate(model, ph.Midpoint(), 0.01, 0.05, progress=False)
    assert repr(run["bob"]) == "<body 'bob' of 'p' at 6 times: angular_velocity, position, rotation, velocity>"
    for part, words in [(run.joint("pin"), "<joint 'pin' of 'p'"), (run.port("motor"), "<port 'motor' of 'p'"),
                        (run.element("coil"), "<element 'coil' of 'p'")]:  # fmt: skip
        assert repr(part).startswith(words)
        assert all(hasattr(type(part), name) for name in repr(part)[:-1].split(": ")[1].split(", "))
