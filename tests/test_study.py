"""Schemes side by side: orders and errors against what is known without the study."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import porthos as ph
from gallery import pendulum, slider_crank, two_masses
from porthos.cli.app import app
from porthos.cli.examples import catalogue
from porthos.integrate.catalogue import spelled


def test_orders_errors_and_invariants_of_a_mechanism():
    schemes = [ph.Midpoint(), "MidpointGGL", "Composition(order=4)", ph.Composition(ph.Midpoint(), 4)]
    study = ph.compare(slider_crank.model(), schemes, steps=(0.01, 0.005, 0.0025), end=0.2)
    names = ["Midpoint", "MidpointGGL", "Composition", "Composition(base=Midpoint)"]
    assert study.schemes == names
    for name, order, rate in zip(names, (2, 2, 4, 4), (2, 2, 4, 2), strict=True):
        assert study.order(name) == pytest.approx(order, abs=0.1)
        assert study.order(name, "velocity_error") == pytest.approx(rate, abs=0.1)
        for trial in study.of(name):
            assert trial.energy_defect < 1e-12
            assert trial.constraint < 1e-13
            assert (trial.constraint_rate < 1e-12) == (name in names[1:3])
            assert 0 < trial.seconds < 10
    text = str(study)
    assert "Composition(base=Midpoint)" in text
    assert "nan" not in text
    assert len(study.to_pandas()) == 12
    left, right = study.plot().axes
    assert len(left.lines) == len(right.lines) == 4


def test_reference_given_by_the_user_is_exact():
    """The error against the exact pendulum is what the study finds against a run that ends there."""
    exact = ph.simulate(pendulum.model(), ph.Composition(order=8), 0.0025, 1.0, every=400)
    assert np.abs(exact["bob"].position[-1, [0, 2]] - pendulum.exact(1.0)).max() < 1e-12
    study = ph.compare(pendulum.model(), ["MidpointGGL"], [0.01], 1.0, reference=exact)
    run = ph.simulate(pendulum.model(), ph.MidpointGGL(), 0.01, 1.0)
    assert study.trials[0].position_error == pytest.approx(np.abs(run.q[-1] - exact.q[-1]).max(), rel=1e-12)
    with pytest.raises(ph.PorthosError, match=r"expected a reference that ends at t = 0.5, found t = 1"):
        ph.compare(pendulum.model(), ["MidpointGGL"], [0.01], 0.5, reference=exact)


def test_linear_phdae():
    study = ph.compare(two_masses.model(), ["Gauss(1)", "Gauss(2)", "RadauIIA(2)"], (0.2, 0.1, 0.05), 2.0)
    for name, order in (("Gauss(stages=1)", 2), ("Gauss", 4), ("RadauIIA(stages=2)", 3)):
        assert study.order(name) == pytest.approx(order, abs=0.15)
    assert all(np.isnan(trial.velocity_error) for trial in study.trials)


def test_a_scheme_that_fails_is_told_and_the_others_stay():
    study = ph.compare(slider_crank.model(), [ph.Midpoint(max_iterations=1), "Midpoint"], [0.02], 0.2)
    failed, good = study.trials
    assert np.isnan(failed.position_error)
    assert "Newton" in failed.message
    assert good.position_error < 0.01
    assert "Midpoint(max_iterations=1), step 0.02: Newton's method" in str(study)


@pytest.mark.parametrize(
    ("text", "scheme"),
    [
        ("Midpoint", ph.Midpoint()),
        ("Gauss(3)", ph.Gauss(3)),
        (" Composition ( Midpoint , order = 4 ) ", ph.Composition(ph.Midpoint(), 4)),
        ("Composition(MidpointGGL(tolerance=1e-9), 6)", ph.Composition(ph.MidpointGGL(tolerance=1e-9), 6)),
        ("Livens(partition='sequential')", ph.Livens(partition="sequential")),
    ],
)
def test_schemes_in_words(text, scheme):
    assert spelled(text) == scheme


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Midpont", "found no scheme 'Midpont'"),
        ("Gauss(stagse=2)", "has no option 'stagse'"),
        ("Gauss(2, 3, 4, 5)", "expected a name with options"),
        ("__import__('os')", "found no scheme '__import__'"),
        ("Gauss(2", "expected a name with options"),
        ("Composition(order=5)", "order must be one of"),
        ("1 + 1", "expected a name with options"),
    ],
)
def test_schemes_in_wrong_words(text, words):
    with pytest.raises(ph.PorthosError, match=words.replace("(", r"\(")):
        spelled(text)


def test_nothing_to_compare():
    with pytest.raises(ph.PorthosError, match="at least one scheme"):
        ph.compare(slider_crank.model(), [], [0.01], 1.0)
    with pytest.raises(ph.PorthosError, match="not a whole number of steps"):
        ph.compare(slider_crank.model(), ["Midpoint"], [0.3], 1.0)


def test_command(tmp_path):
    file, figure = catalogue()["pendulum"], tmp_path / "study.png"
    options = ["--scheme", "Midpoint", "--scheme", "Composition(order=4)", "--step", "0.02", "--step", "0.01"]
    answer = CliRunner().invoke(app, ["compare", str(file), *options, "--end", "1", "--out", str(figure), "--json"])
    assert answer.exit_code == 0, answer.output
    data = json.loads(answer.stdout)
    assert data["orders"]["Midpoint"] == pytest.approx(2, abs=0.05)
    assert data["orders"]["Composition"] == pytest.approx(4, abs=0.1)
    assert figure.stat().st_size > 10000
    plain = CliRunner().invoke(app, ["compare", str(file), *options, "--end", "1"])
    assert "against Composition" in plain.stdout
    lost = CliRunner().invoke(app, ["compare", str(tmp_path / "one.nc")])
    assert lost.exit_code == 1
    assert "is a result. Name a second one" in lost.stderr
