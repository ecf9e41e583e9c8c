"""Model files: Model -> file -> Model is the identity; what is wrong is answered with file, line and what to try."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import replace
from pathlib import Path

import mechanisms
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import porthos as ph
from porthos.model.drives import DRIVES
from porthos.model.elements import ELEMENTS
from porthos.model.forms import SECTIONS, SHAPES
from porthos.model.gears import GEARS
from porthos.model.joints import JOINTS
from porthos.model.modelfile import ModelFile, load_model, save_model, to_yaml
from porthos.model.nodes import DEEPEST, LARGEST
from porthos.model.potentials import POTENTIALS
from porthos.model.simulation import SchemeChoice
from porthos.notation import normals

TEXT = """\
name: swing
gravity: [0, 0, -9.81]
bodies:
  arm:
    shape: box
    mass: 1
    size: [1, 0.1, 0.1]
    position: [0.5, 0, 0]
    rotation: {axis: [0, 1, 0], angle: 2*pi}
  bob: {shape: point_mass, mass: 0.5, position: [1, 0, 0]}
joints:
  hinge: {kind: revolute, a: ground, b: arm, at: [0, 0, 0], axis: [0, 3, 0]}
  tip: {kind: spherical, a: arm, b: bob, at: [1, 0, 0]}
loads:
  push: {body: arm, force: [0, 0, "8*sin(t)"]}
  pull:
    body: bob
    force: {kind: table, times: [0, 1], values: [[0, 0, 0], [0, 0, 1]]}
ports:
  motor: {body: arm, kind: torque, direction: [0, 1, 0]}
simulation:
  scheme: {kind: Midpoint, tolerance: 1e-12}
  step: 1e-2
  end: 1
  inputs:
    motor: {kind: sine, amplitude: 2, frequency: 1}
"""


def read(text, tmp_path, changes=None):
    path = tmp_path / "swing.yaml"
    path.write_text(text, encoding="utf-8")
    return ModelFile.read(path, changes)


def same(a, b):
    """Whether two parts say the same, to the last bit."""
    if dataclasses.is_dataclass(a):
        fields = [f.name for f in dataclasses.fields(a) if not f.name.startswith("_") and f.name != "rotation"]
        return type(a) is type(b) and all(same(getattr(a, name), getattr(b, name)) for name in fields)
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if a is None or isinstance(a, str | int):
        return type(a) is type(b) and a == b
    if isinstance(a, tuple) and any(isinstance(part, str) for part in a):
        return a == b
    if isinstance(a, tuple) and any(dataclasses.is_dataclass(part) for part in a):
        return len(a) == len(b) and all(map(same, a, b))
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return x.shape == y.shape and x.tobytes() == y.tobytes()


def same_model(a, b):
    assert (a.name, a.gravity.tobytes()) == (b.name, b.gravity.tobytes())
    for parts in ("bodies", "beams", "joints", "elements", "loads", "ports"):
        mine, others = getattr(a, parts), getattr(b, parts)
        assert [part.name for part in mine] == [part.name for part in others]
        assert all(same(one, other) for one, other in zip(mine, others, strict=True)), parts


# --- reading


def test_what_a_file_says(tmp_path):
    file = read(TEXT, tmp_path)
    model = ph.Model("swing", gravity=(0, 0, -9.81))
    turn = ((0, 1, 0), 2 * np.pi)
    model.body("arm", ph.Box(1, (1, 0.1, 0.1)), position=(0.5, 0, 0), rotation=turn)
    model.point_mass("bob", 0.5, position=(1, 0, 0))
    model.revolute("hinge", "ground", "arm", at=(0, 0, 0), axis=(0, 1, 0))
    model.spherical("tip", "arm", "bob", at=(1, 0, 0))
    model.load("push", "arm", force=ph.Expression(("0", "0", "8*sin(t)")))
    model.load("pull", "bob", force=ph.Table((0, 1), ((0, 0, 0), (0, 0, 1))))
    model.port("motor", "arm", kind="torque", direction=(0, 1, 0))
    same_model(file.model, model)
    plan = ph.Simulation(
        step=0.01, end=1.0, scheme=ph.Midpoint(tolerance=1e-12), inputs={"motor": ph.Sine(amplitude=2, frequency=1)}
    )
    assert same(file.simulation, plan)
    assert file.simulation.scheme == SchemeChoice("Midpoint", {"tolerance": 1e-12})


def test_names_are_texts_whatever_they_look_like(tmp_path):
    text = "bodies:\n" + "".join(f"  {name}: {{shape: sphere, mass: 1, radius: 1}}\n" for name in ("on", "1", "1e3"))
    text += "joints:\n  null: {kind: spherical, a: on, b: 1, at: [0, 0, 0]}\n"
    model = read(text, tmp_path).model
    assert [body.name for body in model.bodies] == ["on", "1", "1e3"]
    assert (model.joints[0].name, model.joints[0].a, model.joints[0].b) == ("null", "on", "1")
    assert model.name == "swing"  # of the file


@pytest.mark.parametrize("text", ["1e-3", "1.e-3", "+.001", "0.1**3", "1/1000", '"1e-3"'])
def test_numbers(tmp_path, text):
    assert read(TEXT.replace("mass: 1\n", f"mass: {text}\n"), tmp_path).model.bodies[0].mass == pytest.approx(1e-3)


def test_empty_sections_and_values(tmp_path):
    text = TEXT.replace("  motor: {body: arm, kind: torque, direction: [0, 1, 0]}\n", "").partition("simulation")[0]
    assert read(text.replace("at: [0, 0, 0]", "at: [0, 0, 0], at_b: null"), tmp_path).model.ports == ()


def test_every_shape_and_joint_of_the_model_has_a_form():
    assert set(SHAPES) == {*ph.Inertia.__subclasses__(), ph.Inertia}
    assert {cls.kind for cls in JOINTS} == set(mechanisms.KINDS)
    assert set(SECTIONS["joints"].forms) == {cls.kind for cls in (*JOINTS, *DRIVES, *GEARS)}
    assert set(SECTIONS["elements"].forms) == {cls.kind for cls in (*ELEMENTS, *POTENTIALS)}


ADAPTIVE = "step: {kind: adaptive, rtol: 1e-8, atol: 1e-12, maximum: pi/10, good_steps: 2, breakpoints: [0.25, 1/2]}"


def test_adaptive_steps(tmp_path):
    text = TEXT.replace("kind: Midpoint, tolerance: 1e-12", "kind: RadauIIA, stages: 2")
    file = read(text.replace("step: 1e-2", f"{ADAPTIVE}\n  times: [0.5, 1]"), tmp_path)
    step = ph.Adaptive(rtol=1e-8, atol=1e-12, maximum=np.pi / 10, good_steps=2, breakpoints=(0.25, 0.5))
    assert (file.simulation.step, file.simulation.times) == (step, (0.5, 1.0))
    assert ModelFile.read(save_model(file.model, tmp_path / "again.yaml", file.simulation)).simulation.step == step
    of_file = ph.simulate_file(tmp_path / "again.yaml", {"simulation.step.rtol": 1e-6})
    given = {"times": (0.5, 1), "inputs": {"motor": ph.Sine(amplitude=2, frequency=1)}}
    run = ph.simulate(file.model, ph.RadauIIA(2), replace(step, rtol=1e-6), 1.0, **given)
    assert of_file.t.tolist() == run.t.tolist() == [0.0, 0.5, 1.0]
    assert np.array_equal(of_file.q, run.q)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("step: {kind: adaptive, rtol: 2}", ("line 23", "step 'adaptive'", "expected 0 < rtol < 1")),
        ("step: {kind: adaptive, rtoll: 1e-3}", ("line 23", "'adaptive' has no key 'rtoll'", "Did you mean 'rtol'?")),
        ("step: {kind: adaptve}", ("line 23", "found no kind 'adaptve'", "Did you mean 'adaptive'?")),
        ("step: {rtol: 1e-3}", ("line 23", "step: expected the key 'kind'")),
        ("step: {kind: adaptive}\n  every: 2", ("leave every = 2 away",)),
        ("step: {kind: adaptive}\n  times: [2]", ("line 24", "times: expected numbers between 0 and end = 1.0")),
        ("step: 1e-2\n  times: [1]", ("times are for step=ph.Adaptive",)),
    ],
)
def test_wrong_adaptive_steps(tmp_path, wrong, words):
    with pytest.raises(ph.ModelFileError) as caught:
        read(TEXT.replace("step: 1e-2", wrong), tmp_path)
    assert all(word in str(caught.value) for word in words), caught.value


# --- changes


def test_changes(tmp_path):
    changes = {
        "body.arm.mass": 2,
        "bodies.bob.velocity": "[0, 1, 0]",
        "gravity.2": "-1.62",
        "joint.hinge.axis": [0, 0, 2],
        "loads.pull.force.values.1.2": "pi",
        "simulation.scheme": "MidpointGGL",
        "simulation.end": 2,
    }
    file = read(TEXT, tmp_path, changes)
    arm, bob = file.model.bodies
    assert (arm.mass, file.model.gravity[2], file.simulation.end) == (2.0, -1.62, 2.0)
    assert bob.velocity.tolist() == [0, 1, 0]
    assert file.model.joints[0].axis.tolist() == [0, 0, 1]
    assert file.model.loads[1].force(1.0)[2] == np.pi
    assert file.simulation.scheme == SchemeChoice("MidpointGGL")


def test_changes_may_bring_the_simulation_and_names_may_have_dots(tmp_path):
    text = "bodies: {a.b: {shape: sphere, mass: 1, radius: 1}, a: {shape: sphere, mass: 1, radius: 1}}\nsimulation:\n"
    for one in (text, text.replace("simulation:\n", "")):
        changes = {"simulation.step": "0.1", "simulation.end": "1", "body.a.b.mass": "3"}
        file = read(one, tmp_path, changes)
        assert (file.model.bodies[0].mass, file.model.bodies[1].mass, file.simulation.step) == (3.0, 1.0, 0.1)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("body.amr.mass", "2", ("body.amr.mass=2: ", "found no 'amr'", "Did you mean 'arm'?")),
        ("body.arm.masss", "2", ("body.arm.masss=2: ", "'box' has no key 'masss'", "Did you mean 'mass'?")),
        ("body.arm.mass", "-2", ("body.arm.mass=-2: ", "expected a positive number")),
        ("body.arm.mass.x", "2", ("expected keys before '.x'", "found '1'")),
        ("gravity.3", "2", ("expected a number from 0 to 2", "found '3'")),
        ("body.arm.size", "[1, 2", ("body.arm.size=[1, 2: ", "not valid YAML")),
        ("bdy.arm.mass", "2", ("found no 'bdy'", "'bodies'")),
        ("body.arm.mass", "!!python/name:os.system", ("the tag",)),
    ],
)
def test_wrong_changes(tmp_path, path, value, words):
    with pytest.raises(ph.ModelFileError) as caught:
        read(TEXT, tmp_path, {path: value})
    assert all(word in str(caught.value) for word in words), caught.value


# --- mistakes: what is replaced, by what, the line, and words of the answer


def watch(event):
    """A change that brings an event, in line 27."""
    return "frequency: 1}\n", f"frequency: 1}}\n  events: {{low: {{{event}}}}}\n"


MISTAKES = [
    ("mass: 1\n", "masss: 1\n", 6, ("body 'arm'", "'box' has no key 'masss'", "Did you mean 'mass'?")),
    ("mass: 1\n", "mass: heavy\n", 6, ("body 'arm': mass: expected a number such as 0.12 or pi/2, found 'heavy'.",)),
    ("mass: 1\n", "mass: 1 kg\n", 6, ("found '1 kg'", "SI")),
    ("mass: 1\n", "mass: -1\n", 6, ("Box: mass: expected a positive number",)),
    ("mass: 1\n", "mass: [1]\n", 6, ("mass: expected a number", "found a list")),
    ("mass: 1\n", "mass: {a: 1}\n", 6, ("mass: expected a number", "found a mapping with 'a'")),
    ("mass: 1\n", "mass:\n", 6, ("mass: expected a number", "found nothing")),
    ("mass: 1\n", "mass: 1/0\n", 6, ("mass: expected a number", "1/0")),
    ("mass: 1\n", "mass: t\n", 6, ("mass: expected a number", "found 't'")),
    ("    size: [1, 0.1, 0.1]\n", "", 5, ("'box' needs the key 'size'", "found only 'mass', 'position'")),
    ("size: [1, 0.1, 0.1]", "size: [1, 0.1]", 7, ("Box: size: expected 3 numbers", "(2,)")),
    ("shape: box", "shape: bxo", 5, ("found no shape 'bxo'", "Did you mean 'box'?", "'point_mass'")),
    ("shape: box", "kind: box", 5, ("body 'arm': expected the key 'shape', found 'kind' in its place.", "'box'")),
    ("shape: box", "Shape: bxo", 5, ("expected the key 'shape', found 'Shape' in its place",)),
    ("shape: box", "shape: Box", 5, ("found no shape 'Box'. Did you mean 'box'?",)),
    ("kind: revolute", "type: Revolute", 12, ("expected the key 'kind', found 'type' in its place. Known: ",)),
    ("mass: 1\n", "MASS: 1\n", 6, ("'box' has no key 'MASS'. Did you mean 'mass'?",)),
    ("angle: 2*pi", "angel: 2*pi", 9, ("rotation: found the key 'angel'", "Did you mean 'angle'?")),
    ("{axis: [0, 1, 0], angle: 2*pi}", "{axis: [0, 1, 0]}", 9, ("found no 'angle'",)),
    ("{axis: [0, 1, 0], angle: 2*pi}", "[1, 2]", 9, ("rotation: expected a 3 x 3 matrix, a quaternion",)),
    ("{axis: [0, 1, 0], angle: 2*pi}", "90", 9, ("rotation: expected {axis: [0, 0, 1], angle: pi/2}", "found '90'")),
    ("b: arm", "b: amr", 12, ("joint 'hinge'", "found no body 'amr'", "Did you mean 'arm'?")),
    ("kind: revolute", "kind: revolut", 12, ("found no kind 'revolut'", "Did you mean 'revolute'?")),
    ("axis: [0, 3, 0]", "axis: [0, 0, 0]", 12, ("revolute joint 'hinge': axis: expected a direction",)),
    ("axis: [0, 3, 0]", "axs: [0, 3, 0]", 12, ("'revolute' has no key 'axs'", "Did you mean 'axis'?")),
    ("at: [1, 0, 0]", "at: [2, 0, 0]", 13, ("spherical joint 'tip'", "point mass 'bob'")),
    ("  tip:", "  arm:", 13, ("the name 'arm' is taken already",)),
    ("8*sin(t)", "8*sin(x)", 15, ("load 'push': force", "unknown name 'x' in '8*sin(x)'")),
    ("8*sin(t)", "8*sine(t)", 15, ("found no function 'sine'", "Did you mean 'sin'?")),
    ("8*sin(t)", "8*sin(t", 15, ("found '8*sin(t'",)),
    ("8*sin(t)", "__import__('os').system('ls')", 15, ("can do arithmetic and nothing else",)),
    ('[0, 0, "8*sin(t)"]', '[0, "8*sin(t)"]', 15, ("load 'push': force: expected 3 components, found 2",)),
    ('[0, 0, "8*sin(t)"]', "5", 15, ("load 'push': force: expected 3 numbers",)),
    ("body: bob", "body: bxb", 17, ("load 'pull'", "found no body 'bxb'")),
    ("kind: table", "kind: tabel", 18, ("found no kind 'tabel'", "Did you mean 'table'?")),
    ("times: [0, 1]", "times: [1, 1]", 18, ("Table: times: expected numbers that increase",)),
    ("kind: torque", "kind: turn", 20, ("port 'motor': kind", "found 'turn'", "'wrench', 'force', 'torque'")),
    ("scheme: {kind: Midpoint", "scheme: {name: Midpoint", 22, ("expected the key 'kind'",)),
    ("step: 1e-2", "step: soon", 23, ("simulation: step: expected a number", "'soon'")),
    ("step: 1e-2", "stp: 1e-2", 23, ("simulation has no key 'stp'", "Did you mean 'step'?")),
    ("  step: 1e-2\n", "", 22, ("simulation needs the key 'step'",)),
    ("end: 1\n", "end: 1.005\n", 24, ("end = 1.005 is not a whole number of steps", "Try step")),
    ("end: 1\n", "end: 1\n  every: 3\n", 25, ("every must be a whole number that divides the 100 steps",)),
    ("end: 1\n", "end: 1\n  every: 2.5\n", 25, ("every: expected a whole number", "found '2.5'")),
    ("    motor: {", "    moter: {", 26, ("found no port 'moter'", "Did you mean 'motor'?")),
    ("amplitude: 2", "amplitude: [2, 3]", 26, ("port 'motor': expected 1 component(s), found 2",)),
    ("frequency: 1", "freq: 1", 26, ("'sine' has no key 'freq'", "Did you mean 'frequency'?")),
    ("frequency: 1", "frequency: 0", 26, ("Sine: frequency: expected a positive number",)),
    *((*watch(event), 27, words) for event, words in [
        ("quantty: arm.position.x", ("event: an event has no key 'quantty'. Did you mean 'quantity'?",)),
        ("terminal: true", ("event: an event needs the key 'quantity', found only 'terminal'",)),
        ("quantity: arn.position.x", ("events: 'low': quantity", "no part 'arn' with quantities. Did you mean 'arm'?")),
        ("quantity: arm.positon.x", ("'arm' has no quantity 'positon.x'. Did you mean 'position.x'?",)),
        ("quantity: bob.angular_velocity.x", ("'bob' has no quantity 'angular_velocity.x'", "'velocity.z'")),
        ("quantity: tip.angle", ("found no part 'tip' with quantities", "'hinge'")),
        ("quantity: hinge.displacement", ("'hinge' has no quantity 'displacement'. Known: 'angle', 'angle_rate'.",)),
        ("quantity: arm.position.x, direction: up", ("direction", "found 'up'", "'rising', 'falling', 'either'")),
        ("quantity: arm.position.x, terminal: 1", ("terminal: expected true or false, found '1'",)),
        ("quantity: arm.position.x, value: 1e999", ("Crossing: value: expected finite numbers",)),
    ]),
    ("gravity: [0, 0, -9.81]", "gravity: 9.81", 2, ("expected 3 numbers such as [0, 0, -9.81], found '9.81'",)),
    ("gravity: [0, 0, -9.81]", "gravity: [0, 0, 1e999]", 2, ("gravity: expected finite numbers",)),
    ("gravity: [0, 0, -9.81]", "gravity: [0, 0, .nan]", 2, ("gravity: expected a number", ".nan")),
    ("joints:", "jonts:", 11, ("a model file has no key 'jonts'", "Did you mean 'joints'?")),
    ("{shape: point_mass, mass: 0.5, position: [1, 0, 0]}", "3", 10, ("body 'bob': expected keys", "found '3'")),
    ("  motor: {body: arm, kind: torque, direction: [0, 1, 0]}", "  - motor", 20, ("ports: expected keys", "a list")),
    ("name: swing", "name: swing\nname: b", 2, ("the key 'name' was given already", "line 1")),
    ("    mass: 1\n", "    mass: 1\n    mass: 2\n", 7, ("the key 'mass' was given already", "line 6")),
    ("name: swing", "name: !!python/object/apply:os.system [ls]", 1, ("found the tag", "python/object/apply")),
    ("name: swing", "name: !ruby x", 1, ("found the tag '!ruby'",)),
    ("name: swing", "name: &a swing", 1, ("found '&a'", "no anchors and aliases")),
    ("name: swing", "name: *a", 1, ("found '*a'", "no anchors and aliases")),
    ("    mass: 1\n", "\tmass: 1\n", 6, ("not valid YAML", "spaces, not with tabs")),
    ("joints:", "joints: {", 13, ("not valid YAML",)),
    ("name: swing", "[1]: 2", 1, ("expected a name before ':'",)),
    ("simulation:", "---\nsimulation:", 21, ("expected one document",)),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "words"), MISTAKES, ids=[f"{m[2]}-{m[1].strip()}" for m in MISTAKES])
def test_mistakes(tmp_path, old, new, line, words):
    assert old in TEXT
    with pytest.raises(ph.ModelFileError) as caught:
        read(TEXT.replace(old, new, 1), tmp_path)
    message = str(caught.value)
    assert message.startswith(f"swing.yaml, line {line}: "), message
    assert all(word in message for word in words), message
    assert "\n" not in message


def test_files_that_are_no_models(tmp_path):
    for content, words in [
        (b"", "found an empty file"),
        (b"# only a comment\n", "found an empty file"),
        (b"- 1\n- 2\n", "found a list of 2"),
        (b"hello", "found 'hello'"),
        (b"name: \xff\xfe\n", "line 1: expected text in UTF-8"),
        (b"a: b\nname: \xe9\n", "line 2: expected text in UTF-8"),
        (b"name: a\x00b\n", "not valid YAML"),
    ]:
        (tmp_path / "x.yaml").write_bytes(content)
        with pytest.raises(ph.ModelFileError) as caught:
            load_model(tmp_path / "x.yaml")
        assert str(caught.value).startswith("x.yaml")
        assert words in str(caught.value)
    for path in (tmp_path, tmp_path / "none.yaml"):
        with pytest.raises(ph.ModelFileError, match="cannot be read"):
            load_model(path)


LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{c}: &{c} [{', '.join(['*' + p] * 9)}]\n" for p, c in zip("abcdefgh", "bcdefghi", strict=True)
)
BOMBS = {
    "aliases": (LAUGHS, "no anchors and aliases"),
    "lists in lists": ("bodies: " + "[" * 100_000, f"at most {DEEPEST} levels"),
    "mappings in mappings": ("bodies: " + "{a: " * 100_000, f"at most {DEEPEST} levels"),
    "blocks in blocks": ("".join(" " * k + "a:\n" for k in range(2000)), f"at most {DEEPEST} levels"),
    "many values": ("gravity: [" + "0," * 11_000 + "0]", "at most 10000 values"),
    "size": ("#" + "x" * LARGEST, "at most 16 MB"),
    "a long number": ("gravity: [0, 0, " + "9" * 100_000 + "]", "at most 2000 characters"),
    "a large number": ("gravity: [0, 0, " + "9" * 1_900 + "]", "gravity: expected finite numbers"),
    "a long key": ("x" * 1_000_000 + ": 1", "at most 2000 characters"),
    "a long name": ("joints: {j: {kind: fixed, a: " + "x" * 1_000_000 + "}}", "at most 2000 characters"),
    "a long expression": ("gravity: [0, 0, " + "1+" * 900 + "1]", "at most 1000 characters"),
    "a deep expression": ("gravity: [0, 0, '" + "-" * 900 + "1']", "gravity"),
    "a power": ("gravity: [0, 0, 9**9**9**9]", "no value"),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_bombs(tmp_path, bomb, monkeypatch):
    monkeypatch.setattr("porthos.model.nodes.MOST", 10_000)
    text, words = BOMBS[bomb]
    began = time.perf_counter()
    with pytest.raises(ph.ModelFileError) as caught:
        read(text, tmp_path)
    assert time.perf_counter() - began < 5.0
    assert words in str(caught.value)
    assert len(str(caught.value)) < 1000


# --- round trip

NAMES = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8).filter(
    lambda name: name.strip() and name != "ground"
)


def numbers(low=-1e3, high=1e3):
    return st.floats(low, high, allow_nan=False, allow_infinity=False)


VECTORS = st.tuples(numbers(), numbers(), numbers())
POSITIVE = st.floats(1e-6, 1e6)
AXES = st.sampled_from("xyz")
SHAPE = st.one_of(
    st.builds(ph.Box, POSITIVE, st.tuples(POSITIVE, POSITIVE, st.floats(0, 10))),
    st.builds(ph.Cylinder, POSITIVE, POSITIVE, POSITIVE, AXES),
    st.builds(lambda m, r, s, h, x: ph.HollowCylinder(m, r, r + s, h, x), POSITIVE, POSITIVE, POSITIVE, POSITIVE, AXES),
    st.builds(ph.Sphere, POSITIVE, POSITIVE),
    st.builds(ph.Rod, POSITIVE, POSITIVE, AXES),
    st.builds(lambda m, a, b, c: ph.Inertia(m, (b + c, a + c, a + b)), POSITIVE, POSITIVE, POSITIVE, POSITIVE),
)


@st.composite
def rotations(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    matrix = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    forms = (
        None,
        rng.normal(size=4),
        matrix * np.sign(np.linalg.det(matrix)),
        (rng.normal(size=3), rng.uniform(-4, 4)),
        ((0, 0, 1), 1),
        [1, 0, 0, 0],
    )
    return draw(st.sampled_from(range(len(forms))).map(forms.__getitem__))


@st.composite
def signals(draw, size):
    """A constant or function of time of `size` components; None: a plain number."""
    level = numbers() if size is None else st.tuples(*[numbers()] * size)
    begin = draw(st.floats(-5, 5))
    texts = st.sampled_from(("3*sin(2*pi*t)", "t**2 if t < 1 else 0", "-max(t, 0.5, e)/3", "7", "atan2(t, 1)"))
    times = st.lists(st.floats(0, 10), min_size=1, max_size=4, unique=True).map(sorted)
    kinds = (
        level,
        st.builds(ph.Ramp, st.just(begin), st.just(begin + 1.5), level, level),
        st.builds(ph.Step, numbers(), level),
        st.builds(ph.Step, numbers(), level, level),
        st.builds(ph.Sine, level, POSITIVE, numbers(), level),
        st.builds(ph.Expression, texts if size is None else st.tuples(*[texts] * size), times),
        times.flatmap(lambda t: st.builds(ph.Table, st.just(t), st.lists(level, min_size=len(t), max_size=len(t)))),
    )
    return draw(st.one_of(kinds))


@st.composite
def models(draw):
    """Models of all parts, with any names; their joints need not make sense together."""
    names = iter(draw(st.lists(NAMES, min_size=24, max_size=24, unique=True)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    model = ph.Model(draw(NAMES), gravity=draw(VECTORS))
    bodies = [
        model.body(next(names), draw(SHAPE), draw(VECTORS), draw(rotations()), draw(VECTORS), draw(VECTORS))
        for _ in range(draw(st.integers(1, 3)))
    ]
    mass = model.point_mass(next(names), draw(POSITIVE), draw(VECTORS), draw(VECTORS))
    for kind in draw(st.lists(st.sampled_from(mechanisms.KINDS), max_size=5)):
        a = draw(st.sampled_from(["ground", *bodies[1:]]))
        mechanisms.join(model, next(names), kind, a, bodies[0], bodies[0].position + rng.normal(size=3), rng)
    near = bodies[0].position + np.array([1.0, 0.0, 0.0])
    axis = rng.normal(size=3)
    across = normals(axis / np.linalg.norm(axis))[0]
    model.universal(next(names), "ground", bodies[0], near, axis, across + 1e-8 * axis, at_b=near + 1e-3)
    model.distance(next(names), "ground", bodies[0], near, near + np.array([0.0, 0.0, 2.0]), length=2.001)
    for _ in range(draw(st.integers(0, 2))):
        body = draw(st.sampled_from(bodies))
        turned = draw(st.one_of(st.none(), signals(3)))
        at = draw(st.one_of(st.none(), VECTORS))
        model.load(next(names), body, draw(signals(3)), turned, at, draw(st.sampled_from(("exact", "printed"))))
    model.load(next(names), mass, force=draw(signals(3)))
    model.port(
        next(names),
        bodies[0],
        "torque",
        direction=draw(VECTORS.filter(lambda v: np.linalg.norm(v) > 1e-3)),
        torque_map="printed",
    )
    model.port(next(names), bodies[0], at=draw(VECTORS))
    model.port(next(names), mass, "force")
    return model


MOTIONS = st.one_of(  # zero at t = 0, where bodies are placed
    st.builds(ph.Sine, numbers(-0.5, 0.5), POSITIVE),
    st.builds(lambda rise: ph.Ramp(0.5, 1.5, after=rise, smooth=True), numbers(-2, 2)),
    st.sampled_from(("0.3*t**2", "sin(t) - t/7", "exp(-t) - 1")).map(ph.Expression),
)
ENERGIES = st.sampled_from(("3*s**2", "cosh(s) - s", "0.1*s**4 - s**2/3"))
FIELDS = st.sampled_from(("x**2 + 2*y**2", "sin(x) + z", "x**3/3"))
MATERIAL = {"young": st.floats(1e3, 1e12), "poisson": st.floats(-0.9, 0.49), "density": POSITIVE}
CROSS = st.one_of(
    st.builds(ph.RectangularSection, width=POSITIVE, height=POSITIVE, **MATERIAL),
    st.builds(ph.CircularSection, radius=POSITIVE, **MATERIAL),
    st.builds(
        lambda inner, wall, **more: ph.PipeSection(outer_radius=inner + wall, inner_radius=inner, **more),
        st.floats(0.01, 1), st.floats(0.01, 1), **MATERIAL,
    ),
    st.builds(
        ph.Section, stiffness=st.tuples(*[POSITIVE] * 3), turning_stiffness=st.tuples(*[POSITIVE] * 3),
        mass_per_length=POSITIVE, inertia_per_length=st.tuples(*[POSITIVE] * 2).map(lambda j: (*j, sum(j))),
    ),
)  # fmt: skip


@st.composite
def machines(draw):
    """Wheels in mesh, a rack, all kinds of drives and potentials, and a beam, in a random direction."""
    names = iter(draw(st.lists(NAMES, min_size=20, max_size=20, unique=True)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    axis, across, along = np.linalg.qr(rng.normal(size=(3, 3)))[0].T
    model, far = ph.Model(draw(NAMES), gravity=draw(VECTORS)), draw(st.floats(0.5, 5))
    wheels = [model.body(next(names), draw(SHAPE), position=k * far * across) for k in range(2)]
    block = model.body(next(names), draw(SHAPE), position=-across)
    hinges = [model.revolute(next(names), "ground", w, at=w.position, axis=axis) for w in wheels]
    model.prismatic(next(names), "ground", block, at=-across, axis=along)
    teeth = draw(st.tuples(st.integers(10, 40), st.integers(50, 90)))
    model.gear(next(names), *wheels, teeth=teeth, internal=draw(st.booleans()))
    model.rack(next(names), wheels[0], block, at_b=-across, along=draw(st.sampled_from((None, along))))
    model.turn_drive(next(names), "ground", wheels[1], at=wheels[1].position, axis=axis, angle=draw(MOTIONS))
    model.slide_drive(next(names), "ground", block, at=-across, axis=along, displacement=draw(MOTIONS))
    rope = ph.Sine(draw(numbers(-0.5, 0.5)), draw(POSITIVE), offset=float(np.sqrt(2)))
    model.length_drive(next(names), "ground", block, point_a=along, point_b=-across, length=rope)
    between = draw(st.tuples(st.floats(-3, -0.5), st.floats(0.5, 3)))
    model.potential(next(names), "ground", block, along, -across, draw(ENERGIES), (0.1, between[1] + 1))
    model.joint_potential(next(names), hinges[0], draw(ENERGIES), between)
    model.field(next(names), block, at=-across, energy=draw(FIELDS), within=draw(st.floats(0.5, 3)))
    options = {"a": draw(st.sampled_from((None, "ground", block))), "elements": draw(st.sampled_from((1, 3, 6)))}
    options |= {"damping": draw(st.floats(0, 1)), "up": draw(st.sampled_from((None, along)))}
    via = None if options["elements"] < 6 else 0.5 * axis + 0.2 * across
    model.beam(next(names), draw(CROSS), start=(0, 0, 0), end=axis, via=via, **options)
    return model


@st.composite
def plans(draw, model):
    h, steps = draw(st.sampled_from((1e-3, 0.02, 1 / 3))), draw(st.integers(1, 50))
    sizes = {port.name: port.wrench_basis().shape[1] for port in model.ports}
    inputs = {name: draw(signals(None if size == 1 else size)) for name, size in sizes.items() if draw(st.booleans())}
    schemes = (
        "Midpoint",
        ph.MidpointGGL(tolerance=1e-10),
        ph.Midpoint(max_iterations=7),
        ph.Composition(ph.Midpoint(tolerance=1e-9)),
    )
    end, scheme = 2 * steps * h, draw(st.sampled_from(schemes))
    vectors = [
        f"{body.name}.{one}.{axis}" for body in model.bodies for one in ("position", "velocity") for axis in "xyz"
    ]
    directions = st.sampled_from(("rising", "falling", "either"))
    events = st.builds(ph.Crossing, st.sampled_from(vectors), numbers(), directions, st.booleans())
    more = {"inputs": inputs, "events": draw(st.dictionaries(NAMES, events, max_size=2))}
    if draw(st.booleans()):
        times = draw(st.one_of(st.none(), st.lists(st.floats(0, end), max_size=3)))
        step = ph.Adaptive(draw(st.sampled_from((1e-6, 1e-9))), initial=draw(st.sampled_from((None, h))), minimum=h / 7)
        return ph.Simulation(step, end, scheme, times=times, **more)
    return ph.Simulation(h, end, scheme, draw(st.sampled_from((1, 2))), **more)


@settings(max_examples=25)
@given(st.data())
def test_round_trip_is_the_identity(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "round_trip.yaml"
    model = data.draw(models())
    plan = data.draw(st.one_of(st.none(), plans(model)))
    assert model.save(path, plan) == path
    again = ModelFile.read(path)
    same_model(model, again.model)
    assert again.simulation is None if plan is None else same(plan, again.simulation)
    assert to_yaml(again.model, again.simulation) == path.read_text(encoding="utf-8")


@settings(max_examples=6)
@given(machines())
def test_round_trip_of_beams_drives_gears_and_potentials(tmp_path_factory, model):
    path = model.save(tmp_path_factory.getbasetemp() / "machine.yaml")
    again = load_model(path)
    same_model(model, again)
    assert to_yaml(again) == path.read_text(encoding="utf-8")


@given(mechanisms.with_elements(mechanisms.trees()))
def test_round_trip_of_mechanisms_that_move(tmp_path_factory, model):
    """The assembled systems have the same tables, to the last bit."""
    path = tmp_path_factory.getbasetemp() / "tree.yaml"
    model.save(path)
    a, b = model.assemble(), ph.load_model(path).assemble()
    assert all(np.array_equal(x, y) for x, y in zip(a.moving, b.moving, strict=True))
    assert all(np.array_equal(x, y) for x, y in zip(a.initial_arrays(), b.initial_arrays(), strict=True))


def test_what_a_file_cannot_hold(tmp_path):
    model = ph.Model("m")
    model.body("b", ph.Sphere(1, 1))
    model.load("push", "b", force=lambda t: (0, 0, t))
    with pytest.raises(ph.ModelError, match=r"'push': force: .*Python function.*ph\.Expression"):
        model.save(tmp_path / "m.yaml")
    assert not list(tmp_path.iterdir())

    class Ball(ph.Sphere):
        pass

    other = ph.Model("m")
    other.body("b", Ball(1, 1))
    with pytest.raises(ph.ModelError, match="body 'b': found a shape of your own, 'ball', which files do not know"):
        other.save(tmp_path / "m.yaml")
    with pytest.raises(ph.ModelError, match="could not be written"):
        ph.Model("m").save(tmp_path / "no" / "m.yaml")


def test_equal_lists_are_written_out(tmp_path):
    model, place = ph.Model("m"), np.array([1.0, 2.0, 3.0])
    for name in "ab":
        model.body(name, ph.Sphere(1, 1), position=place)
    assert "*" not in model.save(tmp_path / "m.yaml").read_text()
    assert "position: [1, 2, 3]" in to_yaml(model)  # whole numbers as people write them, defaults left out
    assert "velocity" not in to_yaml(model)


# --- fuzz: no other error than ours ever comes out

LINES = TEXT.splitlines()


@st.composite
def damaged(draw):
    """The file with some lines or characters changed."""
    lines = list(LINES)
    for _ in range(draw(st.integers(1, 3))):
        k = draw(st.integers(0, len(lines) - 1))
        match draw(st.integers(0, 3)):
            case 0:
                del lines[k]
            case 1:
                lines.insert(k, draw(st.sampled_from(LINES)))
            case 2:
                at, new = (
                    draw(st.integers(0, len(lines[k]))),
                    draw(st.text("[]{}:,&*!|>'\"%@`#-? \tx0e.~<=\\", max_size=3)),
                )
                lines[k] = lines[k][:at] + new + lines[k][at + draw(st.integers(0, 3)) :]
            case 3:
                key, colon, _ = lines[k].partition(": ")
                lines[k] = (
                    key + colon + draw(st.sampled_from(("", "null", "[]", "{}", "1e400", "-", "''", "[[1]]", "x: y")))
                )
    return "\n".join(lines)


@settings(max_examples=200)
@given(st.one_of(damaged(), st.text(max_size=60)))
@example("bodies: {b: {shape: box, mass: 1, size: [[1], 2, 3]}}")
@example("bodies: {b: {shape: inertia, mass: 1, tensor: [[1], [2, 3]]}}")
@example("loads: {l: {body: x, force: {kind: table, times: [0, 1], values: [[1], [2, 3]]}}}")
@example("simulation: {step: 1, end: 1, inputs: 3}")
@example("simulation: {step: 1, end: 1, scheme: [1]}")
def test_damaged_files_are_answered(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "damaged.yaml"
    path.write_text(text, encoding="utf-8", newline="")
    try:
        file = ModelFile.read(path)
    except ph.ModelFileError as error:
        assert str(error).startswith("damaged.yaml")
    else:
        same_model(file.model, ModelFile.read(Path(path)).model)
