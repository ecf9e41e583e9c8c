"""What is printed of a system is the system: text is read back and compared with its numbers, LaTeX with the text."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from test_cli import FILES, ask, refused

import porthos as ph
from porthos.model.modelfile import load_model

rng = np.random.default_rng(4)
NUMBER = r"-?\d[\d.e+-]*"
TRIPLE = re.compile(rf"\(({NUMBER}), ({NUMBER}), ({NUMBER})\)")


class Reader:
    """Evaluates formulas of the text at kernel arrays (N+1, 4, 3)."""

    def __init__(self, system):
        self.system, self.names = system, system.body_names

    def vectors(self, q):
        full = self.system.to_kernel(q)
        return {(name, i): full[b, i] for b, name in enumerate(self.names) for i in range(4)}

    def value(self, formula, q):
        code = TRIPLE.sub(r"A([\1, \2, \3])", formula)
        code = re.sub(r"phi\[([^]]*)\]", r"V['\1', 0]", code)
        code = re.sub(r"d([123])\[([^]]*)\]", r"V['\2', \1]", code)
        code = re.sub(r"e([123])\b", r"O[\1 - 1]", code)
        code = re.sub(r"1/2 \|(.*)\|\^2", r"0.5 * N(\1)**2", code)
        code = re.sub(r"\|(.*)\|", r"N(\1)", code)
        code = re.sub(r"(\d) (?=[VOI])", r"\1 * ", code).replace(" . ", " @ ").replace("^T", "")
        names = {"V": self.vectors(q), "A": np.array, "O": np.eye(3), "N": np.linalg.norm, "I": np.eye(3)}
        return eval(code, names | {"atan2": np.arctan2})  # what we printed ourselves

    def matrix(self, formula, q):
        rows = []
        for row in formula.strip("[]").split("; "):
            blocks = [np.atleast_2d(self.value(each, q)) for each in re.split(r", (?![^()]*\))", row)]
            height = max(len(block) for block in blocks)
            rows.append(np.hstack([block if block.size > 1 else np.zeros((height, 3)) for block in blocks]))
        return np.vstack(rows)


def paragraphs(text):
    return {each.split("\n")[0]: [line.strip() for line in each.split("\n")[1:]] for each in text.split("\n\n")}


def place(sentence, what):
    return slice(*map(int, re.search(rf"{what} at x\[(\d+):(\d+)\]", sentence).groups()))


@pytest.mark.parametrize("name", ["pendulum", "slider-crank", "bricard", "governor", "gyroscope", "suspension", "car"])
def test_text_says_all_constraints_and_their_jacobian(name):
    model = load_model(FILES[name])
    system, reader = model.assemble(), Reader(model.assemble())
    q = rng.normal(size=system.n)
    g, G, seen = system.g(q), system.G(q).toarray(), np.zeros(system.m, dtype=bool)
    for sentence, formulas in paragraphs(str(model.equations())).items():
        if sentence.startswith("Rigidity"):
            at = place(sentence, "multipliers")
            assert at == slice(2 * system.n, 2 * system.n + 6 * system.rigid.size)
            seen[: 6 * system.rigid.size] = True
        elif "multipliers at" in sentence:
            joint = re.match(r"\w[\w ]* '(.*?)' between", sentence)[1]
            at = place(sentence, "multipliers")
            assert at == system.blocks[f"joint '{joint}'"]
            rows = slice(at.start - 2 * system.n, at.stop - 2 * system.n)
            sides = [line.split(" = ") for line in formulas if not line.startswith("dg/dq")]
            values = np.hstack([self_value(reader, left, q) - float(right) for left, right in sides])
            assert values == pytest.approx(g[rows], abs=1e-4)
            found = np.zeros((at.stop - at.start, system.n))
            for body, block in (re.match(r"dg/dq\[(.*?)\] = (.*)", line).groups() for line in formulas[len(sides) :]):
                found[:, system.blocks[f"q of '{body}'"]] = reader.matrix(block, q)
            assert found == pytest.approx(G[rows], abs=1e-4)
            seen[rows] = True
    assert seen.all()


def self_value(reader, formula, q):
    return np.atleast_1d(reader.value(formula, q))


@pytest.mark.parametrize("name", ["pendulum", "slider-crank", "car"])
def test_text_says_all_masses_and_places(name):
    model = load_model(FILES[name])
    system, found, bodies = model.assemble(), [], 0
    for sentence, formulas in paragraphs(str(model.equations())).items():
        body = re.match(r"(?:Rigid body|Point mass) '(.*?)'", sentence)
        if body:
            bodies += 1
            assert place(sentence, "q") == system.blocks[f"q of '{body[1]}'"]
            assert place(sentence, "v") == system.blocks[f"v of '{body[1]}'"]
            numbers = re.findall(rf"({NUMBER})? ?I", formulas[1].split(" = ")[1])
            found += np.repeat([float(each or 1.0) for each in numbers], 3).tolist()
    assert bodies == len(system.body_names)
    assert found == pytest.approx(system.mass_diagonal, rel=1e-5)


def workshop() -> ph.Model:
    """One of each force element, load and port."""
    model = ph.Model("100% work_shop", gravity=(0, 1, -9.81))
    model.body("arm", ph.Box(2.0, (0.1, 0.2, 1.0)), position=(0.1, 0, -0.6))
    model.point_mass("ball", 0.5, position=(1, 0, 0.2))
    model.revolute("hinge", model.ground, "arm", at=(0, 0, 0), axis=(0, 1, 0))
    model.spring(
        "coil", "arm", "ball", point_a=(0.1, 0, -1), point_b=(1, 0, 0.2), stiffness=[30, 4], damping=2, force=1
    )
    model.spring(
        "bumper", model.ground, "ball", point_a=(2, 0, 0), point_b=(1, 0, 0.2), table=[(-1, -50), (0, 0), (1, 9)]
    )
    model.damper("dashpot", model.ground, "ball", point_a=(1, 3, 0), point_b=(1, 0, 0.2), damping=3)
    model.attraction("star", model.ground, "ball", point_a=(5, 0, 0), point_b=(1, 0, 0.2), strength=7)
    model.torsion_spring("twist", "hinge", stiffness=11, angle=0.2)
    model.bushing("rubber", model.ground, "arm", at=(0, 0, -0.5), stiffness=(5, 6, 7), turning_stiffness=(1, 2, 0))
    model.load("wind", "ball", force=(1, 2, 3))
    model.load("blow", "arm", force=(0, 1, 0), torque=(1, 0, 2), at=(0.1, 0, -1))
    model.port("motor", "arm", kind="torque", direction=(0, 1, 0), torque_map="printed", at=(0, 0, -1))
    return model


def force(law, s):
    """F of a law without its damping."""
    F, _, shift = law.removeprefix("F = ").partition(",  x = ")
    F = re.sub(rf" ?\+? ?({NUMBER} )?s'", "", F) or "0"
    F = re.sub(r"table\{(.*)\}\(x\)", r"table(x, [\1])", F).replace("^", "**")
    F = re.sub(r"(\d) (?=[xs])", r"\1 * ", F)
    names = {"s": s, "table": lambda x, pairs: np.interp(x, *np.array(pairs).T)}
    names["x"] = eval(shift, names) if shift else None
    return eval(F, names)


def test_text_says_the_laws_of_force_elements():
    """F ds/dq summed over all elements is grad V; the slope of s is taken by differences of the text."""
    model = workshop()
    system, reader = model.assemble(), Reader(model.assemble())
    q = system.initial_state()[: system.n] + 0.1 * rng.normal(size=system.n)
    total, laws = np.zeros(system.n), 0
    for formulas in paragraphs(str(model.equations())).values():
        for measure, law in pairwise(formulas):
            if measure.startswith("s = "):
                steps = [(q + e, q - e) for e in 1e-6 * np.eye(system.n)]
                s = [[float(reader.value(measure[4:], at)) for at in both] for both in steps]
                total += force(law, float(reader.value(measure[4:], q))) * np.diff(s)[:, 0] / -2e-6
                laws += 1
    assert laws == 4 + 1 + 5
    elastic = system.elements.gradient(system.to_kernel(q))
    assert total == pytest.approx(elastic, abs=2e-4)
    assert np.abs(elastic).max() > 1.0


def test_text_says_what_drives_follow_and_how_friction_grows():
    model = ph.Model("crank")
    model.body("bar", ph.Box(1.0, (0.1, 0.1, 1.0)), position=(0, 0, 0.5))
    model.revolute("pin", "ground", "bar", at=(0, 0, 0), axis=(1, 0, 0))
    model.turn_drive("motor", "ground", "bar", at=(0, 0, 0), axis=(1, 0, 0), angle=ph.Expression("pi/6*t**2"))
    model.friction("rub", "pin", 0.2, radius=0.01, speed=0.001)
    written = model.equations()
    assert "multipliers at x[35:36]. At t = 0; it follows s(t) = pi/6*t**2." in str(written)
    assert "F = 0.002 |lambda[30:33]| s'/sqrt(s'^2 + 0.1^2)" in str(written)
    assert r"\lVert \boldsymbol{\lambda}_{30:33} \rVert \frac{\dot s}{\sqrt{\dot s^2 + 0.1^2}}" in written.latex


def test_text_says_how_inputs_act():
    model = workshop()
    system, text = model.assemble(), paragraphs(str(model.equations()))
    q = system.initial_state()[: system.n]
    d, u = system.to_kernel(q)[0, 1:], rng.normal(size=6)
    blow, acts = text["Load 'blow' on 'arm', 6 inputs, u(t) is given."]
    assert blow == "F = u[0:3],  tau = u[3:6]"
    X = [float(each) for each in TRIPLE.search(acts).groups()]
    reciprocal = np.linalg.inv(d).T
    by_hand = [u[:3], *(X[i] * u[:3] + np.cross(u[3:], reciprocal[i]) / 2 for i in range(3))]
    assert (system.Bt(q)[:12, system.ports["blow"]] @ u) == pytest.approx(np.ravel(by_hand), abs=1e-6)
    motor, acts = text["Port 'motor' on 'arm', 1 input."]
    assert motor == "F = 0,  tau = (0, 1, 0) u"
    assert acts.startswith("f_phi = F,  f_i = 1/2 (r x F + tau) x d_i")
    assert text["Load 'wind' on 'ball', 3 inputs, u(t) is given."] == ["F = u,  tau = 0", "f_phi = F"]
    assert "y = B^T v,  C = sum c (ds/dq)^T ds/dq over force elements" in str(model.equations())


def as_text(latex):
    """Formulas of LaTeX as the text would write them."""
    same = {
        r"\boldsymbol{\varphi}": "phi", r"\boldsymbol{\lambda}": "lambda", r"\boldsymbol{\tau}": "tau", r"\cdot": ".",
        r"^{\mathsf{T}}": "^T", r" \, ": " ", r", \quad ": ",  ", r"\operatorname": "", r"\nabla": "grad",
    }  # fmt: skip
    for written, plain in same.items():
        latex = latex.replace(written, plain)
    latex = re.sub(r"\\begin{bmatrix} (\S+) \\\\ (\S+) \\\\ (\S+) \\end{bmatrix}", r"(\1, \2, \3)", latex)
    latex = re.sub(r"\\begin{bmatrix} (.*?) \\end{bmatrix}", lambda m: f"[{m[1]}]", latex)
    latex = latex.replace(" & ", ", ").replace(r" \\ ", "; ")
    latex = re.sub(r"\\boldsymbol{d}_{(\d),\\text{(.*?)}}", r"d\1[\2]", latex)
    latex = re.sub(r"\\boldsymbol{e}_{(\d)}", r"e\1", latex)
    latex = re.sub(r"\\boldsymbol{(\w)}", r"\1", latex)
    latex = re.sub(r"_{\\text{(.*?)}}", r"[\1]", latex)
    latex = re.sub(r"\\frac\{1\}\{2\} \\left\| (.*) \\right\|\^2", r"1/2 |\1|^2", latex)
    latex = re.sub(r"\\left\| (.*) \\right\|", r"|\1|", latex)
    latex = re.sub(r"\\frac{\\partial (\S+)}{\\partial (.*?)} =", r"d\1/d\2 =", latex)
    latex = re.sub(r"{(diag|atan2)}\\left\( (.*) \\right\)", r"\1(\2)", latex)
    return re.sub(r"\\left\( (.*) \\right\)", r"(\1)", latex)


def is_balanced(latex):
    depth = 0
    for sign in re.findall(r"(?<!\\)[{}]", latex):
        depth += 1 if sign == "{" else -1
        assert depth >= 0
    stack = []
    for kind, name in re.findall(r"\\(begin|end){(\w+)}", latex):
        assert kind == "begin" or stack.pop() == name
        stack += [name] * (kind == "begin")
    return depth == 0 and not stack and latex.count(r"\left") == latex.count(r"\right")


@pytest.mark.parametrize("name", ["pendulum", "slider-crank", "governor", "gyroscope"])
def test_latex_says_what_the_text_says(name):
    written = load_model(FILES[name]).equations()
    assert is_balanced(written.latex)
    text = [line.strip() for line in str(written).split("\n") if line.startswith("  ")]
    latex = [as_text(line[3:-3]) for line in written.latex.split("\n") if line.startswith(r"\[")]
    kinds = ("q[", "M[", "dg/dq", "phi", "-phi", "d1", "d2", "d3", "e", "(", "1/2 |", "s = ")
    chosen = [pair for pair in zip(text, latex, strict=True) if pair[0].startswith(kinds)]
    assert len(chosen) > len(text) / 2
    for plain, formula in chosen:
        assert formula == plain
    assert written._repr_markdown_().count("$$") == 2 * len(latex)


def test_names_that_mean_something_in_latex():
    written = workshop().equations()
    assert is_balanced(written.latex)
    assert written.latex.startswith(r"100\% work\_shop: eq. (24)")
    assert str(written).startswith("100% work_shop: eq. (24)")


def test_free_bodies_have_no_multipliers():
    model = ph.Model("stone")
    model.point_mass("stone", 2.0)
    assert "[I, 0; 0, M] [q'; v'] = [0, I; -I, 0] [grad V; v]" in str(model.equations())
    assert "V = 0" in str(model.equations())


# --- systems of users


def test_matrices_of_a_linear_system():
    system = ph.LinearPHDAE(
        "spring", J=[[0, 1], [-1, 0]], Q=[[3, 0], [0, 0.5]], R=[[0, 0], [0, 0.25]], B=[[0], [1]],
        states=["stretch", "momentum"], ports=["push"],
    )  # fmt: skip
    form = system.equations()
    a, p = form.x
    assert (str(a), str(p), str(form.u[0])) == ("stretch", "momentum", "u_push")
    assert form.H - (sp.Rational(3, 2) * a**2 + p**2 / 4) == 0
    assert form.z == sp.Matrix([3 * a, 0.5 * p])
    assert form.R[1, 1] == 0.25
    assert str(form).startswith("linear: E x' = (J - R) z + B u\n")
    assert r"\dot{stretch}" in form.latex()
    assert is_balanced(form.latex())


def test_feed_through_and_time_flow_are_written():
    system = ph.LinearPHDAE(
        "filter", J=[[0]], R=[[1]], Q=[[2]], B=[[3]], P=[[0.5]], S=[[1]], states=["charge"], ports=["in"]
    )
    form = system.equations()
    assert str(form).startswith("linear: E x' = (J - R) z + (B - P) u, y = (B + P)^T z + S u\n")
    assert {letter: part[0] for letter, part in form.more.items()} == {"P": 0.5, "S": 1}
    one = r"\left[\begin{matrix}%s\end{matrix}\right]"
    output = rf"y &= \left( {one % 3} + {one % 0.5} \right) ^{{\mathsf{{T}}}} {one % '2 charge'} + {one % 1} "
    assert output in form.latex()
    assert is_balanced(form.latex())
    drift = ph.GeneralPHDAE(
        "drift", states=["q"], H=lambda x, t: (x[0] - t) ** 2 / 2, z=lambda x, t: [x[0] - t], r=[-1.0], J=[[0]],
        initial=[2.0],
    )  # fmt: skip
    assert str(drift.equations(t=1.0)).startswith("matrices at the initial state and t = 1: E x' + r = J z\n")
    assert drift.equations(t=1.0).H == 0.5


def test_matrices_at_a_state():
    system = ph.GeneralPHDAE(
        "top", states=3, H=lambda x: x @ x / 2, z=lambda x: x,
        J=lambda x: [[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]], initial=[1.0, 2.0, 3.0],
    )  # fmt: skip
    assert system.equations().J.tolist() == [[0, -3, 2], [3, 0, -1], [-2, 1, 0]]
    assert system.equations(np.array([0, 0, 0.5])).J[0, 1] == -0.5
    assert system.equations().H == 7
    assert "R =" not in str(system.equations())
    with pytest.raises(ph.StructureError, match=r"107 states, too many for matrices on a page.*model\.equations"):
        load_model(FILES["slider-crank"]).assemble().equations()


def test_energy_is_written_without_detours():
    q, v, m, k = sp.symbols("q v m k")
    system = ph.Lagrangian(m * v**2 / 2 - k * q**2 / 2, [q], [v], parameters={m: 1, k: 1})
    assert str(system.symbolic().H) == "k*q**2/2 + m*v**2/2"


# --- the command


def test_equations_of_a_model_file():
    model = load_model(FILES["bricard"])
    assert ask("show", FILES["bricard"], "--as", "equations").stdout == f"{model.equations()}\n"
    assert ask("show", FILES["bricard"], "--as", "latex").stdout == f"{model.equations().latex}\n"
    heavy = ask("show", FILES["pendulum"], "--as", "equations", "-p", "bodies.bob.mass=7").stdout
    assert "M[bob] = diag(7 I)" in heavy
    data = json.loads(ask("show", FILES["pendulum"], "--as", "latex", "--json").stdout)
    assert (data["name"], data["title"]) == ("pendulum", "(24)")
    refused(ask("show", FILES["pendulum"], "--form", "general"), 1, "--form is for Lagrangians", "model 'pendulum'")


MINE = """
import sympy as sp
import porthos as ph
import constants

q, v = sp.symbols("q v")
m = sp.Symbol("m")

swing = ph.Lagrangian(m * v**2 / 2 + 9.81 * sp.cos(q), [q], [v], parameters={m: constants.MASS}, name="swing")

def stone(mass=2.0):
    model = ph.Model("stone")
    model.point_mass("stone", mass)
    return model

def coil():
    return ph.LinearPHDAE("coil", J=[[0]], R=[[2]], Q=[[4]], states=["flux"])

def heavy(mass):
    return stone(mass)

def wrong():
    return 3

def broken():
    return swing.nothing
"""


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "constants.py").write_text("MASS = 3\n")
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path / "mine.py"


def test_systems_of_a_python_file(mine):
    whole = ask("show", mine)
    assert whole.exit_code == 0, whole.stderr
    assert whole.stdout.startswith(
        "swing: Lagrangian, 2 states, 0 inputs\n  x[0:1]  q\n  x[1:2]  v\n\n(8): E x' = J z\n"
    )
    assert (
        r"H &= \frac{m v^{2}}{2} - 9.81 \cos{\left(q \right)}" in ask("show", f"{mine}:swing", "--as", "latex").stdout
    )
    assert ask("show", f"{mine}:swing", "--as", "equations", "--form", "constant mass").stdout.startswith("(24): E x'")
    assert "M[stone] = diag(2 I)" in ask("show", f"{mine}:stone", "--as", "equations").stdout
    assert ask("show", f"{mine}:stone", "--as", "dot").stdout.startswith('graph "stone"')
    assert "linear: E x' = (J - R) z" in ask("show", f"{mine}:coil").stdout


def test_mistakes_with_python_files(mine, tmp_path):
    known = "'swing', 'stone', 'coil', 'wrong', 'broken'"
    refused(ask("show", f"{mine}:swin"), 1, "found 'swin'. Did you mean 'swing'?", known, "mine.py:NAME")
    refused(ask("show", f"{mine}:heavy"), 1, "a function without arguments that makes one, found 'heavy'")
    refused(ask("show", f"{mine}:wrong"), 1, "expected that wrong() makes a model", "found int")
    line = MINE.split("\n").index("    return swing.nothing") + 1
    refused(ask("show", f"{mine}:broken"), 1, f"mine.py, line {line}: AttributeError")
    refused(ask("show", tmp_path / "other.py"), 1, "there is no such file")
    refused(ask("show", f"{mine}:swing", "--form", "multibdy"), 1, "has no form 'multibdy'", "'multibody'")
    refused(ask("show", f"{mine}:swing", "--as", "mermaid"), 1, "bodies and joints", "--as latex")
    refused(ask("show", f"{mine}:coil", "--form", "general"), 1, "which is a LinearPHDAE")
    refused(ask("show", f"{mine}:stone", "-p", "a=1"), 1, "--param changes model files")
    (tmp_path / "bad.py").write_text("x = 1\ny = (\n")
    refused(ask("show", tmp_path / "bad.py"), 1, "bad.py, line 2: '(' was never closed")
    (tmp_path / "late.py").write_text("import porthos as ph\n\nx = 1 / 0\n")
    refused(ask("show", tmp_path / "late.py"), 1, "late.py, line 3: ZeroDivisionError: division by zero")
    (tmp_path / "through.py").write_text("import bad\n")
    refused(ask("show", tmp_path / "through.py"), 1, "bad.py, line 2: '(' was never closed")
    (tmp_path / "none.py").write_text("x = 1\n")
    refused(ask("show", tmp_path / "none.py"), 1, "found no name", "There are none")


def test_model_files_execute_nothing(tmp_path):
    (tmp_path / "m.yaml").write_text('name: !!python/object/apply:os.system ["touch gone"]\n')
    answer = ask("show", tmp_path / "m.yaml", "--as", "latex")
    assert answer.exit_code == 1
    assert "python/object" in answer.stderr
