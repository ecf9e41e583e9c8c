"""Printed equations are true: read back as formulas, they hold along a motion, and give energies and forces."""

import re

import numpy as np
import pytest

import porthos as ph
from porthos.cli.examples import catalogue, example
from porthos.system.equations import equations
from tests.mechanisms import KINDS, join

CLOSED = ("bricard", "closed-loop", "double-pendulum", "slider-crank", "suspension", "governor", "car")


def section(text, title):
    """Lines of a section, without those that name a joint or element."""
    return re.search(rf"^{title}.*?\n(.*?)(?:\n\n|\Z)", text, re.DOTALL | re.MULTILINE)[1].splitlines()


def evaluated(formula, q, k):
    """A formula of the text at state k, by Python: lengths, dot products and vectors become those of NumPy."""
    code = re.sub(r"\[([^\]]*)\]", r"array([\1])", formula)
    code = re.sub(r"\|(.*?)\|\^2 / 2", r"(norm(\1)**2 / 2)", code)
    code = re.sub(r"\|(.*?)\|", r"norm(\1)", code)
    code = re.sub(r"(\d) (?=[a-z(])", r"\1*", code).replace(" . ", " @ ")
    names = {"array": np.array, "norm": np.linalg.norm, "phi": lambda body: q[k, body - 1, 0]}
    names |= {f"d{i}": lambda body, i=i: q[k, body - 1, i] for i in (1, 2, 3)}
    return eval(code, names)


def directors(run):
    """(T, N, 4, 3); places of point masses stay zero."""
    return np.asarray(run.raw.q)


@pytest.mark.parametrize("name", CLOSED)
def test_constraints_of_the_text_hold_along_the_motion(name):
    with example(name) as path:
        text = str(ph.load_model(path).equations())
        run = ph.simulate_file(path, {"simulation.end": "0.1"} if name != "closed-loop" else {}, progress=False)
    rows = [line.strip() for line in section(text, "joints") if line.endswith(" = 0")]
    assert rows
    q, size = directors(run), run.system.length
    for k in (0, -1):
        for row in rows:
            gap = np.abs(evaluated(row.removesuffix(" = 0"), q, k)).max()
            assert gap < 2e-5 * max(1.0, size), (row, gap)  # numbers are written with six digits


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_joint_is_written(kind):
    model = ph.Model("m")
    for k, name in enumerate("ab"):
        model.body(name, ph.Box(1, (1, 2, 3)), position=(k, 0, 0))
    join(model, "J", kind, "a", "b", np.zeros(3), np.random.default_rng(1))
    found = equations(model)
    count = sum(
        1 if "." in line or "^2" in line else 3 for line in section(found.text, "joints") if line.endswith(" = 0")
    )
    assert count == sum(row.count for row in model.joints[0].rows)
    assert found.latex.count("0 &=") == len(model.joints[0].rows)
    assert found.latex.count("{") == found.latex.count("}")


def test_masses_and_potential_give_the_energy():
    with example("double-pendulum") as path:
        model = ph.load_model(path)
    system = model.assemble()
    text = str(model.equations())
    found = re.findall(r"M = diag\((.*?)\)", text)
    diagonal = np.concatenate([np.repeat([float(x) for x in one.split(",")], 3) for one in found])
    np.testing.assert_allclose(diagonal, system.mass_diagonal, rtol=1e-5)
    q0, _ = system.initial_arrays()
    potential = evaluated(re.search(r"V = (.*)", section(text, "bodies")[-1])[1], q0[None], 0)
    assert potential == pytest.approx(system.V(system.split(system.initial_state())[0]), rel=1e-5)


def test_forces_of_springs():
    """s and F of the text are what the run says of the spring."""
    model = ph.Model("m", gravity=(0, 0, -9.81))
    bob = model.body("bob", ph.Box(1, (0.1, 0.2, 0.3)), position=(0, 0, -1))
    model.spring("k", model.ground, bob, (0.3, 0, 0), (0, 0, -0.85), stiffness=50, length=0.8, damping=2.0)
    line = section(str(model.equations()), "force elements")[1].strip()
    measure, force = re.fullmatch(r"s = (.*),  F = (.*)", line).groups()
    run = ph.simulate(model, ph.Midpoint(), step=1e-3, end=0.1)
    s = evaluated(measure, directors(run), -1)
    assert s == pytest.approx(run.element("k").measure[-1], rel=1e-5)
    assert force == "50 (s - 0.8) + 2 s'"


def test_names_are_text_in_latex():
    model = ph.Model("m")
    model.body("a_b & 100%", ph.Sphere(1, 1))
    assert r"\text{a\_b \& 100\%}" in model.equations().latex
    assert model.equations()._repr_latex_().startswith(r"$\displaystyle \begin{aligned}")


def test_every_example_is_written():
    for name in catalogue():
        with example(name) as path:
            found = ph.load_model(path).equations()
        assert "nan" not in found.text
        assert found.latex.count("&") >= 3
