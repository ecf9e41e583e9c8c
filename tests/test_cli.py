"""The command line as a user meets it: real processes, exit codes, one sentence for every mistake, and its speed."""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import time
from importlib.metadata import entry_points
from pathlib import Path
from typing import Literal, get_origin, get_type_hints

import jsonschema
import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

import porthos as ph
from docs.site.gallery import MODULES
from gallery import alpha_start
from porthos.cli import benching, doctor
from porthos.cli.app import app, main
from porthos.cli.examples import catalogue
from porthos.examples import dc_motor
from porthos.integrate.catalogue import SCHEMES, scheme_class
from porthos.integrate.options import OPTIONS
from porthos.integrate.scheme import Contract
from porthos.kernels import ahead
from porthos.model.schema import json_schema
from porthos.study.timing import step_time

SLOWEST = ("bricard", "flexible-arm", "governor", "car")  # to check, among the examples
EXAMPLES = {name: Path(str(entry)) for name, entry in catalogue().items()}
FILES = {name: path for name, path in EXAMPLES.items() if path.suffix == ".yaml"}
CODE = {name: path for name, path in EXAMPLES.items() if path.suffix == ".py"}


def porthos(*args, **options):
    """A real process."""
    command = [sys.executable, "-m", "porthos", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def ask(*args):
    """The same within this process, which has loaded everything already."""
    return CliRunner().invoke(app, [str(arg) for arg in args])


def refused(answer, code, *words):
    """One line on stderr, no traceback, nothing on stdout."""
    told = answer.stderr
    assert (answer.exit_code if hasattr(answer, "exit_code") else answer.returncode) == code, told
    assert answer.stdout == ""
    assert "Traceback" not in told
    for word in words:
        assert word in told, told


# --- examples: one for each of the gallery, with the same numbers


def module_of(name):
    return importlib.import_module(f"gallery.{name.replace('-', '_')}")


def test_every_example_of_the_gallery_has_a_file():
    assert {path.stem for path in EXAMPLES.values()} == set(MODULES)


@pytest.mark.parametrize("name", FILES)
def test_examples_give_the_numbers_of_the_gallery(name):
    from_file, from_gallery = ph.simulate_file(FILES[name]), module_of(name).run()
    if name == "alpha-start":  # the gallery shows multipliers as the method gives them
        from_gallery = ph.simulate(alpha_start.model(), alpha_start.SCHEMES["index 3"], 0.02, 1.0)
    assert from_file.scheme == from_gallery.scheme
    assert from_file.system.body_names == from_gallery.system.body_names
    assert from_file.system.joint_names == from_gallery.system.joint_names
    size = np.abs(from_gallery.q).max()
    np.testing.assert_allclose(from_file.q, from_gallery.q, rtol=0, atol=1e-10 * size)  # the double pendulum is chaotic
    np.testing.assert_allclose(from_file.energy, from_gallery.energy, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", CODE)
def test_examples_in_python_are_those_of_the_gallery_and_stand_alone(name):
    """The gallery takes model and run from the file, and a copy of it needs Porthos and nothing else."""
    example = importlib.import_module(f"porthos.examples.{CODE[name].stem}")
    assert module_of(name).model is example.model
    assert module_of(name).run is example.run or name == "pendulum-forms"
    assert "gallery" not in CODE[name].read_text().split('"""')[2]
    assert callable(example.model) and callable(example.run)


def test_examples_in_python_run_as_files_do(tmp_path):
    """With options, a report and a result; a copy runs, and a model alone with scheme, step and end."""
    page, out = tmp_path / "x.html", tmp_path / "x.nc"
    answer = ask("examples", "run", "dc-motor", "--end", "0.1", "--report", page, "--out", out, "--json")
    data = json.loads(answer.stdout)
    assert (data["model"], data["status"], data["recorded_steps"]) == ("DC motor", "OK", 10)
    assert data["files"] == {"out": str(out), "report": str(page)}
    assert data["power_balance"] < 1e-12 and "DC motor" in page.read_text(encoding="utf-8")
    run = dc_motor.run(end=0.1)
    assert data["state"]["winding: flux"] == [run["winding: flux"][-1]]
    assert data["supplied"] == run.supplied[-1]
    assert ask("examples", "copy", "lorenz", tmp_path).stdout == f"copied to {tmp_path / 'lorenz.py'}\n"
    copy = tmp_path / "lorenz.py"
    told = ask("run", copy, "--step", "0.02", "--end", "0.1").stdout
    assert told.startswith("Lorenz: ") and "5 recorded steps" in told
    told = ask("run", f"{copy}:model", "--scheme", "Gauss(2)", "--step", "0.01", "--end", "0.1").stdout
    assert "Gauss(stages=2" in told
    refused(ask("run", f"{copy}:model"), 1, "nothing says how to run it: expected --scheme, --step, --end")
    refused(ask("run", copy, "--every", "2"), 1, "lorenz.py: run() takes no every")
    refused(ask("run", copy, "-p", "body.x.mass=1"), 1, "--param changes model files")
    refused(ask("run", f"{copy}:modle"), 1, "Did you mean 'model'?")
    refused(ask("run", copy, "--step", "soon"), 1, "--step", "expected a number")


def test_examples_are_listed_and_copied(tmp_path):
    listed = ask("examples", "list")
    assert [line.split()[0] for line in listed.stdout.splitlines()] == sorted(EXAMPLES)
    assert ask("examples").stdout == listed.stdout
    assert set(json.loads(ask("examples", "list", "--json").stdout)) == set(EXAMPLES)
    copied = json.loads(ask("examples", "copy", "heavy_top", tmp_path, "--json").stdout)
    assert copied == {"files": [str(tmp_path / "heavy_top.yaml")]}
    target = tmp_path / "heavy_top.yaml"
    assert target.read_text() == FILES["heavy-top"].read_text()
    target.write_text("mine")
    refused(ask("examples", "copy", "heavy-top", tmp_path), 1, "is there already")
    assert target.read_text() == "mine"
    assert ask("examples", "copy", "heavy-top", tmp_path / "other.yaml").exit_code == 0
    refused(ask("examples", "copy", "heavy-tap"), 1, "found no example 'heavy-tap'. Did you mean 'heavy-top'?")
    refused(ask("examples", "copy", "heavy-top", tmp_path / "no" / "x.yaml"), 1, "No such file or directory")


def test_schema_accepts_the_examples_and_refuses_mistakes(tmp_path):
    schema = json_schema({name: scheme_class(name) for name in SCHEMES})
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for path in FILES.values():
        validator.validate(yaml.safe_load(path.read_text()))
    data = yaml.safe_load(FILES["closed-loop"].read_text())
    for change in (
        lambda d: d.update(jonts={}),
        lambda d: d["bodies"]["bar 1"].update(masss=1),
        lambda d: d["bodies"]["bar 1"].pop("size"),
        lambda d: d["bodies"]["bar 1"].update(size=[1, 2]),
        lambda d: d["joints"]["corner 1"].update(kind="revolut"),
        lambda d: d["loads"]["push"]["force"].update(kind="tabel"),
        lambda d: d["simulation"].update(scheme="Midpont"),
        lambda d: d["simulation"].update(scheme={"kind": "Midpoint", "tolernce": 1}),
        lambda d: d["simulation"].pop("step"),
    ):
        wrong = json.loads(json.dumps(data))
        change(wrong)
        assert not validator.is_valid(wrong)
    data["joints"]["corner 1"]["at_b"] = None
    data["ports"] = None
    data["simulation"]["scheme"] = {"kind": "MidpointGGL", "tolerance": 1e-10, "max_iterations": 9}
    validator.validate(data)
    assert json.loads(ask("schema").stdout) == schema
    assert ask("schema", "--out", tmp_path / "schema.json").stdout == ""
    assert json.loads((tmp_path / "schema.json").read_text()) == schema


# --- run


def compiled():
    """Kernels are in the cache, so that nothing is said about them."""
    for part in (ahead.ASSEMBLY, *ahead.MARCHES):
        ahead.ready(part)


def test_run_writes_what_was_asked_for(tmp_path):
    """One real process from a file to states and a report; another one draws them."""
    file, out, page = FILES["slider-crank"], tmp_path / "run.nc", tmp_path / "run.html"
    compiled()
    done = porthos(
        "run", file, "--end", "0.5", "--step=0.005", "-p", "body.crank.mass=0.2", "-o", out, "--report", page
    )
    assert (done.returncode, done.stderr) == (0, "")  # quiet when piped: no progress bar
    assert done.stdout.startswith(
        "spatial slider-crank: 3 bodies, 4 joints, 100 recorded steps to t = 0.5 s with MidpointGGL"
    )
    assert str(out) in done.stdout
    run = ph.load(out)
    assert (run.t.size, run.t[-1]) == (101, pytest.approx(0.5))
    assert run.system.mech.body[0].mass == 0.2
    assert "spatial slider-crank" in page.read_text(encoding="utf-8")
    drawn = ask("plot", out, "slider.position.x", "energy")
    assert drawn.stdout == f"figure written to {tmp_path / 'run.png'}\n", drawn.stderr
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    page.unlink()
    assert ask("report", out).stdout == f"report written to {page}\n"
    assert page.exists()
    for end, command in (("png", ["plot"]), ("html", ["report"]), ("csv", ["export", "--to", tmp_path / "run.csv"])):
        files = json.loads(ask(command[0], out, *command[1:], "--json").stdout)["files"]
        assert files == [str(tmp_path / f"run.{end}")]
    assert ask("export", out, "--to", tmp_path / "run.h5").exit_code == 0
    assert ph.load(tmp_path / "run.h5").compare(run).to_pandas()["largest"].max() == 0


def test_run_answers_in_json():
    answer = ask("run", FILES["pendulum"], "--end", "1", "--scheme", "Midpoint", "--every", "10", "--json")
    data = json.loads(answer.stdout)
    assert (data["status"], data["recorded_steps"], data["end"]) == ("OK", 100, 1.0)
    assert data["scheme"].startswith("Midpoint(")
    assert data["power_balance"] < 1e-13
    np.testing.assert_allclose(data["position"]["bob"], (0.98629, 0, -0.16501), atol=1e-4)
    assert data["files"] == {}


@pytest.mark.parametrize("scheme", ["Composition(Midpoint, order=4)", "{kind: Composition, base: Midpoint, order: 4}"])
def test_all_commands_take_the_same_texts_for_schemes(scheme, tmp_path):
    """Model files and Python files, run, compared and checked; a wrong text is refused by all."""
    model = ph.load_model(FILES["pendulum"])
    code = tmp_path / "made.py"
    code.write_text(f"import porthos as ph\nmodel = ph.load_model({str(FILES['pendulum'])!r})\n")
    given = ("--step", "0.1", "--end", "0.2")
    expected = ph.simulate(model, ph.Composition(ph.Midpoint(), 4), 0.1, 0.2)
    for file in (FILES["pendulum"], code):
        data = json.loads(ask("run", file, "--scheme", scheme, *given, "--every", "1", "--json").stdout)
        assert data["scheme"] == expected.scheme
        assert data["position"]["bob"] == expected["bob"].position[-1].tolist()
        refused(ask("run", file, "--scheme", "Composition(odrer=6)", *given), 1, "Did you mean 'order'?")
    data = json.loads(ask("compare", FILES["pendulum"], "--scheme", scheme, *given, "--json").stdout)
    assert [trial["scheme"] for trial in data["trials"]] == ["Composition(base=Midpoint)"]
    refused(ask("compare", FILES["pendulum"], "--scheme", "Composition(odrer=6)"), 1, "Did you mean 'order'?")
    param = f"simulation.scheme={scheme}"
    told = ask("check", FILES["pendulum"], "-p", param)
    assert "Composition, " in told.stdout, told.stderr
    assert (
        json.loads(ask("run", FILES["pendulum"], "-p", param, "--end", "0.01", "--json").stdout)["recorded_steps"] == 10
    )


def test_run_with_adaptive_steps(tmp_path):
    """A01 of REFERENCES, with the error that was asked for, from a file that has a fixed step; saved and loaded."""
    out = tmp_path / "run.nc"
    given = ("run", FILES["pendulum"], "--end", "1", "--scheme", "{kind: RadauIIA, stages: 3}", "--rtol", "1e-7")
    answer = ask(*given, "--atol", "1e-10", "--json", "--out", out)
    data = json.loads(answer.stdout)
    assert data["scheme"].endswith("Adaptive(rtol=1e-07, atol=1e-10)")
    error = np.abs(np.array(data["position"]["bob"]) - (0.9862917511318753, 0, -0.1650108531255412)).max()
    assert 1e-10 < error < 1e-6
    run = ph.load(out)
    assert run.t.size == data["recorded_steps"] + 1
    assert np.diff(run.t).min() < 0.8 * np.diff(run.t).max()
    assert run["bob"].position[-1].tolist() == data["position"]["bob"]
    both = ask(*given, "--step", "0.1")
    assert (both.exit_code, "found both" in both.stderr) == (2, True)
    refused(ask("run", FILES["pendulum"], "--scheme", "BDF", "--rtol", "1e-3"), 1, "BDF", "has no adaptive steps")


def test_example_runs_by_its_name_and_quiet_means_quiet(tmp_path):
    compiled()
    answer = ask("examples", "run", "heavy_top", "--end", "0.01", "--quiet", "--out", tmp_path / "x.nc")
    assert (answer.exit_code, answer.stdout, answer.stderr) == (0, "", "")
    assert ph.load(tmp_path / "x.nc").t.size == 11


def test_a_run_that_fails_keeps_what_was_computed(tmp_path):
    """At 150 rad/s a step of 0.05 s is too large."""
    out = tmp_path / "x.nc"
    answer = ask("examples", "run", "heavy-top", "--step", "0.05", "--out", out)
    assert answer.exit_code == 3
    assert "the step is too large for the motion" in answer.stdout
    assert ph.load(out).status is ph.Status.STEP_TOO_LARGE
    data = json.loads(ask("examples", "run", "heavy-top", "--step", "0.05", "--json").stdout)
    assert data["status"] == "STEP_TOO_LARGE"
    quiet = ask("examples", "run", "heavy-top", "--step", "0.05", "--quiet")
    refused(quiet, 3, "the step is too large")


def test_ctrl_c_keeps_the_file_written_so_far(tmp_path):
    out = tmp_path / "long.nc"
    command = [sys.executable, "-m", "porthos", "run", str(FILES["pendulum"]), "-o", str(out)]
    options = ["--step", "1e-5", "--end", "1000", "--every", "1000"]
    process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".porthos-*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    told, complaint = process.communicate(timeout=60)
    assert process.returncode == 130, complaint
    assert told == ""
    assert "stopped at t = " in complaint
    assert str(out) in complaint
    assert "Traceback" not in complaint
    run = ph.load(out)
    assert run.status is ph.Status.INTERRUPTED
    assert np.ptp(run.energy) < 1e-9


def test_ctrl_c_without_a_file_says_how_to_keep_states(monkeypatch, tmp_path):
    def stopped(*args, **options):
        raise KeyboardInterrupt("'x' stopped at t = 1.")

    monkeypatch.setattr("porthos.cli.running.simulate_file", stopped)
    refused(ask("run", FILES["pendulum"]), 130, "nothing is kept. Use --out")
    refused(ask("run", FILES["pendulum"], "--out", tmp_path / "x.nc"), 130, "porthos: 'x' stopped at t = 1.")


def test_progress_on_a_terminal():
    """Steps, simulated time, energy error and time left go to the terminal while the answer goes to a pipe."""
    ours, theirs = pty.openpty()
    options = ["--step=1e-5", "--end=10", "--every=100", "--param", "name='[/b]pendulum'"]  # like markup of rich
    command = [sys.executable, "-m", "porthos", "run", str(FILES["pendulum"]), *options]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, text=True, env=environment)
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:  # the other side was closed
        pass
    told = process.communicate(timeout=60)[0]
    os.close(ours)
    assert process.returncode == 0
    assert told.startswith("[/b]pendulum: ")
    text = shown.decode()
    assert "of 10 s," in text
    assert "left" in text
    assert "/1000000" in text
    shown_errors = [abs(float(found)) for found in re.findall(r"energy error (\S+) J,", text)]
    assert shown_errors
    assert max(shown_errors) < 1e-8  # of the order of what is left in the end


# --- check


def test_check_says_what_is_there():
    told = ask("check", FILES["closed-loop"]).stdout
    assert told.startswith("closed loop: 4 bodies, 4 joints, 1 load\n")
    assert "12 by the rank of the constraints, 12 by Gruebler's count (24 - 12)" in told
    assert "consistent with all joints" in told
    assert "Midpoint, 100 steps of 0.1 s to t = 10 s" in told
    assert "note" not in told


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("suspension", "3 bodies, 5 joints, 2 force elements"),
        ("crane", "2 bodies, 1 point mass, 2 joints, 3 drives"),
        ("planetary-gear", "6 bodies, 6 joints, 6 gears, 2 force elements, 1 load"),
        ("flexible-arm", "1 beam, 1 joint, 1 drive"),
    ],
)
def test_check_counts_every_kind_of_part(name, parts):
    assert ask("check", FILES[name]).stdout.partition("\n")[0].endswith(f": {parts}")
    data = json.loads(ask("check", FILES[name], "--json").stdout)
    assert (data["gears"], data["elements"]) == {"suspension": (0, 2), "planetary-gear": (6, 2)}.get(name, (0, 0))


def test_params_name_elements_and_drives_as_bodies():
    for param in ("element.tyre.stiffness=1e5", "elements.tyre.stiffness=1e5"):
        assert ask("check", FILES["suspension"], "-p", param).exit_code == 0
    assert ph.load_model(FILES["suspension"], {"element.tyre.stiffness": 1e5}).elements[1].stiffness == 1e5
    assert ask("check", FILES["crane"], "-p", "joint.travel.axis=[0, 1, 0]").exit_code == 0


def test_check_says_what_drives_take(tmp_path):
    told = ask("check", FILES["crane"]).stdout
    assert "2 by the rank of the constraints, 2 by Gruebler's count (15 - 13)" in told
    assert "travel, cross and winch take one degree of freedom each" in told
    assert json.loads(ask("check", FILES["crane"], "--json").stdout)["drives"] == ["travel", "cross", "winch"]
    model = ph.Model("crank")
    model.body("bar", ph.Box(1.0, (1.0, 0.1, 0.1)), position=(0.5, 0, 0))
    model.revolute("hinge", "ground", "bar", at=(0, 0, 0), axis=(0, 1, 0))
    model.turn_drive("motor", "ground", "bar", at=(0, 0, 0), axis=(0, 1, 0), angle=ph.Expression("t**2"))
    told = ask("check", model.save(tmp_path / "crank.yaml")).stdout
    assert "note: its drives prescribe the whole motion" in told and "cannot move" not in told


def test_check_tells_which_joints_are_left_to_close(tmp_path):
    model = ph.Model("bar")
    model.body("bar", ph.Box(1.0, (1.0, 0.1, 0.1)))
    model.revolute(
        "pin", "ground", "bar", at=(0, 0, 2), at_b=(-0.5, 0, 0), axis=(0, 1, 0), axis_b=(0, 0, 1), frame="body"
    )
    file = model.save(tmp_path / "bar.yaml")
    assert "assembly            closes 'pin' (2.06 m, 1.57 rad)" in ask("check", file).stdout
    (gap,) = json.loads(ask("check", file, "--json").stdout)["closed"]
    assert gap["joint"] == "pin" and gap["distance"] == pytest.approx(np.sqrt(4.25)) and gap["distance_left"] < 1e-12
    assert json.loads(ask("check", FILES["closed-loop"], "--json").stdout)["closed"] == []


def test_check_notes(tmp_path):
    model = ph.Model("four-bar")
    corners = [(0, 0, 0), (0, 0, 1), (2, 0, 1), (2, 0, 0)]
    for k in range(3):
        position = np.mean(corners[k : k + 2], axis=0)
        model.body(f"bar {k}", ph.Sphere(1, 0.1), position=position, velocity=(k, 0, 0))
    for k, at in enumerate(corners):
        sides = ["ground", "bar 0", "bar 1", "bar 2", "ground"][k : k + 2]
        model.revolute(f"hinge {k}", *sides, at=at, axis=(0, 1, 0))
    model.load("push", "bar 0", force=ph.Step(0.25, after=(1, 0, 0)))
    model.save(tmp_path / "m.yaml", ph.Simulation(step=0.1, end=1.0))
    told = ask("check", tmp_path / "m.yaml").stdout
    assert "1 by the rank of the constraints, -2 by Gruebler's count (18 - 20)" in told
    assert "note: 3 of 20 rows repeat others, among those of 'hinge 0'" in told
    assert "note: the initial values are off joint 'hinge 1'" in told
    assert "note: 'push' jumps or bends at t = 0.25, within a step of 0.1 s" in told
    data = json.loads(ask("check", tmp_path / "m.yaml", "--json", "-p", "simulation.step=0.05").stdout)
    assert (data["freedom"], data["counted"], data["redundant"], data["rank"]) == (1, -2, 3, 17)
    assert {one["joint"] for one in data["violations"]} == {"hinge 1", "hinge 2", "hinge 3"}
    assert len(data["notes"]) == 4
    bare = tmp_path / "bare.yaml"
    model.save(bare)
    assert "not described; give --step and --end" in ask("check", bare).stdout


def test_show():
    example = FILES["bricard"]
    told = ask("show", example).stdout
    assert "rank of rows      29, so 1 degree of freedom" in told
    assert "revolute 'hinge 5': 1 rotation row repeats what hinge 0, hinge 1, hinge 2, hinge 3, hinge 4 fix" in told
    assert ask("show", example, "--as", "mermaid").stdout.startswith("flowchart LR")
    assert ask("show", example, "--as", "dot").stdout.startswith('graph "Bricard" {')
    data = json.loads(ask("show", example, "--json").stdout)
    assert (len(data["joints"]), len(data["loops"]), data["mobility"]["rank"]) == (6, 1, 29)
    refused(ask("show", example, "--as", "svg"), 1, "found no form 'svg'")


# --- mistakes


def test_mistakes_are_answered_with_a_sentence(tmp_path):
    file = FILES["pendulum"]
    here = "pendulum.yaml, line "
    refused(ask("run", tmp_path / "no.yaml"), 1, "no.yaml: cannot be read: No such file or directory. There are none.")
    refused(ask("check", file.parent / "pendulm.yaml"), 1, "Did you mean 'pendulum.yaml'?")
    refused(ask("run", file, "--scheme", "Midpont"), 1, "found no scheme 'Midpont'. Did you mean 'Midpoint'?")
    refused(ask("check", file, "-p", "simulation.scheme=Midpont"), 1, "Did you mean 'Midpoint'?")
    option = "simulation.scheme={kind: Midpoint, tolernce: 1}"
    for command in ("run", "check"):
        refused(ask(command, file, "-p", option), 1, "Midpoint has no option 'tolernce'. Did you mean 'tolerance'?")
    refused(ask("check", file, "-p", option.replace("tolernce: 1", "tolerance: x")), 1, "tolerance: expected a number")
    refused(ask("check", file, "-p", option.replace("tolernce: 1", "tolerance: -1")), 1, "tolerance must be >= 0")
    refused(ask("run", file, "--step", "0.3"), 1, "not a whole number of steps", "Try step")
    refused(ask("run", file, "--param", "body.bbo.mass=1"), 1, "found no 'bbo'", "Did you mean 'bob'?")
    refused(ask("run", file, "--report", "x.pdf"), 1, "--report: expected a file name that ends in .html")
    refused(ask("run", file, "--out", tmp_path / "no" / "x.nc", "--end", "0.1"), 1, "Expected a folder that exists")
    refused(ask("run", file, "--out", "x.csv"), 1, "states go to NetCDF4", "porthos export x.nc --to x.csv")
    refused(ask("run", file, "--scheme", "midpointggl"), 1, "Did you mean 'MidpointGGL'?")
    refused(ask("plot", file), 1, "expected the result of a run, found a model file")
    refused(ask("report", tmp_path / "no.nc"), 1, "found no such file")
    refused(ask("run", file, "--param", "mass"), 2, "expected PATH=VALUE such as body.crank.mass=0.2, found 'mass'")
    refused(ask("rnu", file), 2, "No such command 'rnu'")
    copy = tmp_path / "pendulum.yaml"
    copy.write_text(file.read_text().replace("mass: 1", "mas: 1"))
    refused(
        porthos("run", copy), 1, f"porthos: {here}6: body 'bob': 'point_mass' has no key 'mas'. Did you mean 'mass'?"
    )
    copy.write_text(file.read_text().partition("simulation")[0])
    refused(ask("run", copy), 1, "expected a section 'simulation' with step and end")
    assert ask("run", copy, "--step", "0.01", "--end", "0.1").exit_code == 0
    copy.write_text(file.read_text() + "  inputs: {rod: 3}\n")
    refused(ask("check", copy), 1, "simulation: inputs: found no port 'rod'. There are none.")


def test_wrong_figures_are_refused(tmp_path):
    out = tmp_path / "x.nc"
    assert ask("examples", "run", "pendulum", "--end", "0.01", "-q", "-o", out).exit_code == 0
    refused(ask("plot", out, "energie"), 1, "found no quantity 'energie'. Did you mean 'energy'?")
    refused(ask("plot", out, "--out", tmp_path / "x.abc"), 1, "abc", f"Try '{tmp_path / 'x.png'}'")


# --- speed, and what is not loaded


def seconds(*args):
    """Processor time of a command: it waits for nothing, so that is its time where no other process is in the way."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert porthos(*args).returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_help_and_check_answer_at_once():
    """Other processes may be in the way even so, in caches, so one of several attempts counts."""
    assert any(seconds("--help") < 0.3 for _ in range(10))
    for name in SLOWEST:
        assert any(seconds("check", FILES[name]) < 1.0 for _ in range(10)), name


def test_the_command_is_installed():
    (command,) = entry_points(group="console_scripts", name="porthos")
    assert command.load() is main


def test_check_does_not_load_the_compiler():
    """Whatever a file holds: not for its scheme, its options, its beams, gears and drives."""
    code = f"""
import sys
from porthos.cli.app import app, main
for path in {[str(path) for path in FILES.values()]!r}:
    app(["check", path], standalone_mode=False)
    loaded = [name for name in ("numba", "scipy", "matplotlib", "xarray", "rich") if name in sys.modules]
    assert not loaded, (path, loaded)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "spatial slider-crank: 3 bodies" in done.stdout
    assert done.stdout.count("degrees of freedom") == len(FILES)


@pytest.mark.parametrize("name", SCHEMES)
def test_options_are_known_before_schemes_are_loaded(name):
    """The same as their classes have, with the same types; every choice makes a scheme, and nonsense makes none."""
    cls = scheme_class(name)
    hints = {f.name: get_type_hints(cls)[f.name] for f in dataclasses.fields(cls)}
    assert set(OPTIONS[name]) == set(hints)
    for key, option in OPTIONS[name].items():
        hint = hints[key]
        assert option.kind is (str if get_origin(hint) is Literal else None if issubclass(hint, Contract) else hint)
        for choice in option.choices:
            assert cls(**{key: choice}).preserves is not None
            wrong = f"simulation.scheme={{kind: {name}, {key}: no}}"
            refused(ask("check", FILES["pendulum"], "-p", wrong), 1, f"found no {key} 'no'")
        default = getattr(cls(), key)
        assert option.holds(default)
        if option.kind in (int, float):
            assert any(not option.holds(wrong) for wrong in (-1, 0, 2, 1000)), key


def test_help_and_version():
    told = ask("--help").stdout
    for command in ("run", "check", "modes", "plot", "report", "schema", "doctor", "examples"):
        assert f"\n  {command} " in told
    assert "Exit codes: 0 all is well" in told
    assert ask("--version").stdout == f"porthos {ph.__version__}\n"
    assert ask("run", "--help").exit_code == 0


# --- doctor


def test_doctor_finds_this_installation_sound(monkeypatch):
    others = {"DiscreteGradient", "GeneralizedAlpha", "HHT", "BDF", "IDA", "SciPy"}  # not compiled, or own steps
    count = 2 * len(set(SCHEMES) - others)
    answer = ask("doctor", "--json")
    assert answer.exit_code == 0, answer.stdout
    data = json.loads(answer.stdout)
    assert data["ok"]
    assert len(data["self_test"]) == count
    assert all(test["error"] < 1e-8 for test in data["self_test"])
    assert "kernels-" in data["compiled_code"]["place"]
    monkeypatch.setattr(doctor, "tested", lambda: ["Midpoint"])
    told = ask("doctor").stdout
    assert "right numbers: 2 comparisons with exact solutions hold" in told
    assert "numba " in told


def test_doctor_finds_wrong_numbers(monkeypatch):
    """A step that is a little too long, as a miscompiled kernel might make it."""
    right = doctor.simulate

    def wrong(model, scheme, step, end, **options):
        return right(model, scheme, step * (1 + 1e-6), end * (1 + 1e-6), **options)

    monkeypatch.setattr(doctor, "simulate", wrong)
    monkeypatch.setattr(doctor, "tested", lambda: ["Midpoint", "Gauss"])
    answer = ask("doctor")
    assert answer.exit_code == 4
    assert "FAIL pendulum" in answer.stdout
    assert "WRONG numbers" in answer.stdout


# --- results for others


def test_export_and_compare(tmp_path):
    """Both at work on files of the pendulum with two steps."""
    for name, step in (("a", "0.01"), ("b", "0.005")):
        assert (
            ask("run", FILES["pendulum"], "-q", "--end=0.5", f"--step={step}", "-o", tmp_path / f"{name}.nc").exit_code
            == 0
        )
    done = ask("export", tmp_path / "a.nc", "--to", tmp_path / "a.csv", "--to", tmp_path / "a.mat")
    assert done.exit_code == 0
    assert done.stdout.count("written to") == 2
    assert (tmp_path / "a.csv").read_text().startswith("time,")
    refused(ask("export", tmp_path / "a.nc", "--to", tmp_path / "a.xyz"), 1, "'.xyz'", "Known: '.csv'")
    told = ask("compare", tmp_path / "a.nc", tmp_path / "b.nc")
    assert "51 common times" in told.stdout
    data = json.loads(ask("compare", tmp_path / "a.nc", tmp_path / "b.nc", "--json").stdout)
    assert data["common_times"] == 51
    a, b = (ph.load(tmp_path / f"{name}.nc") for name in "ab")
    (bob, *_) = a.system.body_names
    largest = np.linalg.norm(a[bob].position - b[bob].position[::2], axis=1).max()
    assert data["differences"][f"{bob}.position"]["largest"] == pytest.approx(largest)


def test_bench_tells_each_mechanism_and_how_to_compare():
    """Every row has a time, whatever the machine does beside it, and an energy balance that closes."""
    answer = CliRunner().invoke(app, ["bench", "--json"])
    assert answer.exit_code == 0, answer.output
    data = json.loads(answer.stdout)
    assert [(one["mechanism"], one["scheme"]) for one in data["porthos"][:2]] == [
        ("pendulum", "Midpoint"),
        ("pendulum", "MidpointGGL"),
    ]
    assert len(data["porthos"]) == 12
    for one in data["porthos"]:
        assert one["per_step"] > 0 and one["defect"] < 1e-11, one
    assert bool(data["compared"]) != bool(data["not_compared"])
    assert data["compared"] or "pip install exudyn mujoco" in data["not_compared"]


@pytest.mark.parametrize(("start", "step"), [(4e-3, 1e-6), (4e-3, 4e-8), (1e-4, 2e-3)])
def test_times_of_steps_leave_out_what_a_run_costs_besides(monkeypatch, start, step):
    """By a clock of our own: a run takes `start` and each step `step`, and every third run is held up."""
    now, runs = 0.0, 0

    def march(steps: int) -> None:
        nonlocal now, runs
        runs += 1
        now += start + step * steps + 0.05 * (runs % 3 == 0)

    monkeypatch.setattr("porthos.study.timing.perf_counter", lambda: now)
    found, steps = step_time(march, 0.4)
    assert found == pytest.approx(step, rel=1e-9) and steps * step > 5 * start


def test_bench_shows_what_the_benchmark_measured(monkeypatch, tmp_path):
    """A program that took twice as long is shown so, one that failed with its reason."""
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    (folder / "exudyn_adapter.py").touch()
    (folder / "__init__.py").touch()
    row = {"mechanism": "m", "bodies": 1, "label": "Porthos Midpoint", "per_step": 2e-6, "note": "", "agrees": True}
    rows = [
        row,
        row | {"label": "slow", "per_step": 4e-6},
        row | {"label": "none", "per_step": None, "note": "trees only"},
    ]
    rows.append(row | {"label": "wrong", "per_step": 1e-6, "agrees": False})
    (folder / "__main__.py").write_text(f"print('hello'); print({json.dumps(rows)!r})")
    monkeypatch.setattr(benching, "MECHANISMS", ("pendulum",))
    monkeypatch.setattr(benching, "find_spec", lambda name: name)
    answer = CliRunner().invoke(app, ["bench", "--sources", str(tmp_path)])
    lines = [" ".join(line.split()) for line in answer.stdout.splitlines()]
    assert "m slow 4.0 2.0 x" in lines
    assert "m none - trees only" in lines
    assert "m wrong 1.0 0.5 x, SOLUTION DIFFERS" in lines
    (folder / "__main__.py").write_text("raise SystemExit('no licence')")
    answer = CliRunner().invoke(app, ["bench", "--sources", str(tmp_path)])
    assert (answer.exit_code, "failed: no licence" in answer.stderr) == (1, True)
    answer = CliRunner().invoke(app, ["bench", "--sources", str(folder)])
    assert "expected the folder of the sources of Porthos" in answer.stderr
    monkeypatch.setattr(benching, "find_spec", lambda name: None if name == "mujoco" else name)
    assert benching.sources_of(tmp_path)[1].startswith("Not compared with MuJoCo, which is not installed")
