"""Events in model files: quantities by name cross values, located to round-off, and runs with them go on from files."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pytest
import yaml
from scipy.special import ellipk
from test_cli import ask, refused
from test_resume_walks import pressed
from test_state_results import oscillator

import porthos as ph
from porthos.integrate.catalogue import SCHEMES, scheme_class
from porthos.integrate.sensing import Sensed
from porthos.model.modelfile import ModelFile
from porthos.model.schema import json_schema
from porthos.show.quantities import curves

QUARTER = ellipk(0.5) / np.sqrt(9.81)  # of the period of a pendulum that is let go when horizontal
TEXT = """\
name: pendulum
gravity: [0, 0, -9.81]
bodies:
  bob: {shape: point_mass, mass: 1, position: [-1, 0, 0]}
joints:
  rod: {kind: distance, a: ground, b: bob, point_a: [0, 0, 0], point_b: [-1, 0, 0]}
simulation:
  scheme: {kind: RadauIIA, stages: 3}
  step: 0.01
  end: 2
  events:
    vertical: {quantity: bob.position.x, direction: rising}
    back: {quantity: bob.position.x, direction: falling}
    right: {quantity: bob.velocity.x, terminal: true, direction: falling}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "pendulum.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def times(run, name):
    return [one.t for one in run.events if one.name == name]


@pytest.mark.parametrize(
    ("scheme", "accuracy"),
    [
        ("{kind: RadauIIA, stages: 3}", 1e-9),
        ("{kind: Composition, order: 6}", 1e-9),
        ("MidpointGGL", 1e-4),
        ("HHT", 4e-4),
    ],
)
def test_a_pendulum_crosses_the_vertical_after_a_quarter_of_its_period(file, scheme, accuracy):
    run = ph.simulate_file(file, {"simulation.scheme": scheme})
    assert times(run, "vertical") == pytest.approx([QUARTER], abs=accuracy)
    assert times(run, "back") == []  # the terminal event, at half of the period, comes before
    assert times(run, "right") == [run.t[-1]] == pytest.approx([2 * QUARTER], abs=2 * accuracy)
    assert run.status is ph.Status.EVENT
    assert run["bob"].position[-1] == pytest.approx([1, 0, 0], abs=2 * accuracy)


def test_values_and_what_the_command_line_tells(file, tmp_path):
    answer = ask("run", file, "--out", tmp_path / "run.nc", "-p", "simulation.events.vertical.value=-0.5", "--json")
    data = json.loads(answer.stdout)
    assert [event["name"] for event in data["events"]] == ["vertical", "right"]
    assert data["status"] == "EVENT"
    early = ph.load(tmp_path / "run.nc").events[0]
    assert early.x[0] == pytest.approx(-0.5, abs=1e-13)
    assert "events            2: 'vertical' at t = 0.5919" in ask("run", file).stdout


def test_check_tells_the_events(file):
    answer = ask("check", file)
    assert "event 'vertical'    bob.position.x = 0 rising" in answer.stdout
    assert "bob.velocity.x = 0 falling, which ends the run" in answer.stdout
    told = {"quantity": "bob.velocity.x", "value": 0.0, "direction": "falling", "terminal": True}
    assert json.loads(ask("check", file, "--json").stdout)["events"]["right"] == told
    refused(ask("check", file, "-p", "simulation.events.back.quantity=bop.position.x"), 1, "Did you mean 'bob'?")


def test_files_come_back_as_they_were_also_from_results(file, tmp_path):
    first = ModelFile.read(file)
    plan = ModelFile.read(first.model.save(tmp_path / "again.yaml", first.simulation)).simulation
    assert plan == first.simulation
    assert plan.events["right"] == ph.Crossing("bob.velocity.x", direction="falling", terminal=True)
    ph.simulate_file(file, {"simulation.end": 0.5}, out=tmp_path / "run.nc")
    (tmp_path / "from_result.yaml").write_text(ph.load(tmp_path / "run.nc").model_file)
    assert ModelFile.read(tmp_path / "from_result.yaml").simulation.events == plan.events


def test_the_schema_knows_events():
    schema = json_schema({name: scheme_class(name) for name in SCHEMES})
    validator, data = jsonschema.Draft202012Validator(schema), yaml.safe_load(TEXT)
    assert validator.is_valid(data)
    for wrong in ({"quantty": "bob.position.x"}, {"quantity": "a", "direction": "up"}, {"terminal": True}):
        data["simulation"]["events"] = {"one": wrong}
        assert not validator.is_valid(data), wrong


@pytest.mark.parametrize("scheme", ["MidpointGGL", "{kind: RadauIIA, stages: 2}"])
def test_a_run_goes_on_from_its_file_alone(file, tmp_path, monkeypatch, scheme):
    whole = ph.simulate_file(file, {"simulation.scheme": scheme})
    with pressed(monkeypatch, after=30):
        ph.simulate_file(file, {"simulation.scheme": scheme}, out=tmp_path / "run.nc")
    assert ph.load(tmp_path / "run.nc").events == ()
    answer = ask("resume", tmp_path / "run.nc", "--json")
    assert [event["t"] for event in json.loads(answer.stdout)["events"]] == [one.t for one in whole.events]
    assert len(whole.events) == 2
    resumed = ph.load(tmp_path / "run.nc")
    assert np.array_equal(resumed["bob"].position, whole["bob"].position)
    assert all(np.array_equal(a.x, b.x) for a, b in zip(resumed.events, whole.events, strict=True))


def machine():
    """A wheel that spins freely, and a block on a guide with a spring."""
    model = ph.Model("machine")
    model.body("wheel", ph.Cylinder(1, 0.1, 0.2), angular_velocity=(0, 0, 5))
    model.revolute("pin", model.ground, "wheel", at=(0, 0, 0), axis=(0, 0, 1))
    model.body("block", ph.Box(1, (0.1, 0.1, 0.1)), position=(2, 0, 0), velocity=(1, 0, 0))
    model.prismatic("guide", model.ground, "block", at=(2, 0, 0), axis=(1, 0, 0))
    model.spring("strut", model.ground, "block", point_a=(0, 0, 0), point_b=(2, 0, 0), stiffness=4.0)
    return model


def test_angles_displacements_and_lengths():
    """The wheel has 5 t, once in each turn and not where the angle jumps; the block sin(2 t)/2 beyond its rest."""
    events = {
        "turn": ph.Crossing("pin.angle"),
        "one": ph.Crossing("pin.angle", 1.0, "rising"),
        "seven": ph.Crossing("pin.angle", 7.0),
        "never": ph.Crossing("pin.angle", direction="falling"),
        "slide": ph.Crossing("guide.displacement", 0.25, "falling"),
        "length": ph.Crossing("strut.measure", 2.25, "rising"),
        "fast": ph.Crossing("block.velocity.x", direction="falling"),
        "spin": ph.Crossing("wheel.angular_velocity.z", 4.0),
    }
    run = ph.simulate(machine(), ph.Composition(order=8), 0.05, 4.0, events=events)
    assert times(run, "turn") == pytest.approx(2 * np.pi * np.arange(1, 4) / 5, abs=1e-9)
    assert times(run, "one") == pytest.approx((1 + 2 * np.pi * np.arange(4)) / 5, abs=1e-9)
    assert times(run, "seven") == pytest.approx((7 - 2 * np.pi + 2 * np.pi * np.arange(4)) / 5, abs=1e-9)
    assert times(run, "never") == times(run, "spin") == []
    assert times(run, "slide") == pytest.approx([5 * np.pi / 12], abs=1e-9)
    assert times(run, "length") == pytest.approx([np.pi / 12, 13 * np.pi / 12], abs=1e-9)
    assert times(run, "fast") == pytest.approx([np.pi / 4, 5 * np.pi / 4], abs=1e-9)


def test_names_are_those_of_figures():
    """A quantity that both know is the same number."""
    model = machine()
    events = {"now": lambda t, x: t - 0.3}
    for name in ("block.position.x", "block.velocity.x", "wheel.angular_velocity.z", "strut.measure"):
        events[name] = ph.Crossing(name, -1e9)
    run = ph.simulate(model, ph.RadauIIA(2), 0.1, 0.3, events=events)
    (now,) = run.events
    for name in list(events)[1:]:
        assert Sensed.of(run.system, now.x).quantity(name) == pytest.approx(curves(run, name)[0].values[-1], abs=1e-14)


def test_what_is_no_crossing():
    for wrong, words in [
        ({"quantity": 3}, "quantity: expected a name"),
        ({"quantity": "a", "value": "b"}, "value: expected a number"),
        ({"quantity": "a", "direction": 1}, "direction: expected 'rising', 'falling' or 'either', found 1"),
        ({"quantity": "a", "terminal": 1}, "terminal: expected True or False"),
    ]:
        with pytest.raises(ph.ModelError, match=words):
            ph.Crossing(**wrong)
    with pytest.raises(ph.ModelError, match="simulate: events: 'x': quantity: 'block' has no quantity 'angle'"):
        ph.simulate(machine(), ph.MidpointGGL(), 0.1, 1.0, events={"x": ph.Crossing("block.angle")})
    with pytest.raises(ph.ModelError, match="events: 'x': a file holds no function, found one of the type function"):
        ph.Simulation(0.1, 1.0, events={"x": lambda t, x: t})
    with pytest.raises(ph.PorthosError, match=r"ph\.Crossing is for mechanisms\. Give 'oscillator' a function"):
        ph.simulate(oscillator(), ph.Gauss(1), 0.1, 1.0, events={"x": ph.Crossing("a.angle")})
