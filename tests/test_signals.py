"""Functions of time: values at points one can compute by hand, breakpoints, and expressions that can do no harm."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import porthos as ph
from porthos.model.expressions import FUNCTIONS, formula, number


@pytest.mark.parametrize(
    ("signal", "values", "breakpoints"),
    [
        (ph.Table((0, 1, 3), (0, 2, -2)), {-1: 0, 0: 0, 0.25: 0.5, 1: 2, 2: 0, 3: -2, 9: -2}, (0, 1, 3)),
        (ph.Table((1,), (5,)), {0: 5, 1: 5, 2: 5}, (1,)),
        (ph.Ramp(1, 3, after=4), {0: 0, 1: 0, 2: 2, 3: 4, 9: 4}, (1, 3)),
        (ph.Ramp(0, 2, after=4, before=8), {-1: 8, 1: 6, 5: 4}, (0, 2)),
        (ph.Step(1, after=3), {0.999: 0, 1: 3, 2: 3}, (1,)),
        (ph.Step(1, after=3, before=-1), {0: -1, 1: 3}, (1,)),
        (ph.Sine(2, frequency=0.25, offset=1), {0: 1, 1: 3, 2: 1, 3: -1}, ()),
        (ph.Sine(2, frequency=1, phase=math.pi / 2), {0: 2, 0.5: -2}, ()),
        (ph.Expression("3*t**2 - 1", breakpoints=(1, 2)), {0: -1, 2: 11}, (1, 2)),
    ],
)
def test_numbers(signal, values, breakpoints):
    for t, value in values.items():
        assert signal(float(t)) == pytest.approx(value, abs=1e-15)
        assert isinstance(signal(float(t)), float)
    assert tuple(signal.breakpoints) == breakpoints
    assert signal.size is None


@pytest.mark.parametrize(
    "signal",
    [
        ph.Table((0, 2), ((0, 0, 0), (2, 4, -6))),
        ph.Ramp(0, 2, after=(2, 4, -6)),
        ph.Expression(("t", "2*t", "-3*t")),
        ph.Expression(["t", "t + t", "0 - 3*t"]),
    ],
)
def test_vectors(signal):
    np.testing.assert_allclose(signal(1.0), (1, 2, -3))
    assert signal.size == 3


def test_step_and_sine_of_vectors():
    np.testing.assert_array_equal(ph.Step(1.0, after=(1, 2))(1.0), (1, 2))
    np.testing.assert_array_equal(ph.Step(1.0, after=(1, 2))(0.0), (0, 0))
    np.testing.assert_allclose(ph.Sine((1, 2), frequency=1.0, offset=1.0)(0.25), (2, 3))


def test_a_load_of_signals_gives_its_impulse():
    """A free body of mass 2: p = int F dt, exact for the midpoint rule if kinks are at the ends of steps."""
    model = ph.Model("m")
    model.body("b", ph.Sphere(2.0, 1.0))
    model.load("push", "b", force=ph.Table((0, 0.5, 1), ((0, 0, 0), (8, 0, 0), (0, 0, 0))))
    model.port("hand", "b", kind="force", direction=(0, 1, 0))
    plan = {"hand": ph.Step(0.5, after=3.0)}
    run = ph.simulate(model, ph.MidpointGGL(), step=0.05, end=1.0, inputs=plan)
    np.testing.assert_allclose(run.linear_momentum[-1], (4.0, 1.5, 0.0), atol=1e-12)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ph.Table((0, 0), (1, 2)), "Table: times: expected numbers that increase"),
        (lambda: ph.Table((), ()), "Table: times"),
        (lambda: ph.Table((0, 1), (1,)), "Table: values: expected a number or a vector for each of the 2 times"),
        (lambda: ph.Table((0, 1), "ab"), "Table: values: expected numbers"),
        (lambda: ph.Table((0, 1), (1, math.nan)), "Table: values: expected finite numbers"),
        (lambda: ph.Ramp(2, 1, after=1), "Ramp: end: expected a time after begin = 2.0"),
        (lambda: ph.Ramp(0, 1, after=(1, 2), before=(1, 2, 3)), "Ramp: expected vectors of one length"),
        (lambda: ph.Ramp((0, 1), 1, after=1), "Ramp: begin: expected a number"),
        (lambda: ph.Step(0, after=[[1]]), "Step: after: expected a number or a vector"),
        (lambda: ph.Sine(1, frequency=-1), "Sine: frequency: expected a positive number"),
        (lambda: ph.Expression("t +"), "Expression: formula: expected a number or an expression"),
        (lambda: ph.Expression("t", breakpoints="x"), "Expression: breakpoints: expected numbers"),
    ],
)
def test_mistakes(make, words):
    with pytest.raises(ph.ModelError) as caught:
        make()
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2*pi*t", 2 * math.pi * 0.3),
        ("-t**2", -0.09),
        ("2**-1", 0.5),
        ("sin(t)**2 + cos(t)**2", 1.0),
        ("atan2(1, t) - atan(1/t)", 0.0),
        ("max(1, t, 3) + min(t, -1)", 2.0),
        ("5 if t < 0.5 else 1/0", 5.0),
        ("1/0 if t >= 0.5 else radians(180)", math.pi),
        ("sqrt(abs(-4)) + log(e) + floor(2.7) + ceil(0.1)", 6.0),
        (" degrees(pi) ", 180.0),
    ],
)
def test_expressions(text, value):
    assert formula(text)(0.3) == pytest.approx(value, abs=1e-15)


HARM = [
    "__import__('os').system('ls')", "open('x')", "().__class__", "t.real", "[1][0]", "lambda: 1", "t if t", "f'{t}'",
    "'a'*9", "True", "None", "1j", "t := 2", "sin", "sin()", "sin(1, 2)", "sin(x=1)", "atan2(1)", "max(1)", "min(*[1])",
    "1 // 2", "1 % 2", "1 << 2", "not t", "t and t", "t < 1 < 2", "t == 1", "eval('1')", "exec", "globals()",
    "[t for t in t]", "", "1 2", "t; t", "import os", "x" * 2000, "(" * 300 + "t" + ")" * 300, "-" * 800 + "t",
    "1+" * 400 + "1", "9" * 400,
]  # fmt: skip


@pytest.mark.parametrize("text", HARM)
def test_what_an_expression_cannot_say(text):
    with pytest.raises(ph.ModelError) as caught:
        formula(text)
    assert len(str(caught.value)) < 2600


@pytest.mark.parametrize("text", ["1/0", "9**9**9", "(-1)**0.5", "log(0)", "sqrt(-1)", "exp(1000)"])
def test_expressions_without_a_value(text):
    with pytest.raises(ph.ModelError, match="has no value"):
        number(text)


@given(st.text("t0129.+-*/()<>= ,eisncoqrt_[]'\"\\", max_size=30))
def test_random_expressions_give_numbers_or_our_error(text):
    try:
        value = number(text)
    except ph.ModelError:
        return
    assert isinstance(value, float)


def test_functions_take_and_give_numbers():
    for name in FUNCTIONS:
        text = f"{name}(0.5, 0.25)" if name in ("atan2", "min", "max") else f"{name}(0.5)"
        assert isinstance(number(text), float)


@pytest.mark.parametrize("scheme", [ph.Midpoint(), ph.Gauss(2)])
def test_jumps_within_steps_are_told(scheme, caplog):
    """Fixed steps do not see them; where they are ends of steps, or steps adapt to them, nothing is said."""
    model = ph.Model("mass")
    model.point_mass("ball", 2.0)
    model.load("push", "ball", force=ph.Step(0.25, (1.0, 0.0, 0.0)))
    model.port("hand", "ball", kind="force", direction=(1, 0, 0))
    inputs = {"hand": ph.Ramp(0.1, 0.32, 1.0)}
    ph.simulate(model, scheme, 0.1, 0.5, inputs=inputs)
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        f"'{name}' jumps or bends at t = {t}, within a step of 0.1 s. Results are more accurate with a step of which "
        "such times are multiples."
        for name, t in (("push", 0.25), ("hand", 0.32))
    ]
    caplog.clear()
    ph.simulate(model, scheme, 0.01, 0.5, inputs=inputs)
    if isinstance(scheme, ph.Gauss):
        ph.simulate(model, scheme, ph.Adaptive(), 0.5, inputs=inputs)
    assert not caplog.records
