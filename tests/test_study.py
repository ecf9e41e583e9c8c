"""Schemes side by side: orders and errors against what is known without the study."""

from __future__ import annotations

import json

import numpy as np
import pytest
import sympy as sp
from typer.testing import CliRunner

import porthos as ph
from gallery import cylindrical_pair, pendulum, slider_crank, two_masses
from porthos.cli.app import app
from porthos.cli.examples import catalogue
from porthos.examples import lorenz
from porthos.integrate.catalogue import spelled


def test_orders_errors_and_invariants_of_a_mechanism():
    schemes = [ph.Midpoint(), "MidpointGGL", "Composition(order=4)", ph.Composition(ph.Midpoint(), 4)]
    study = ph.compare(slider_crank.model(), schemes, steps=(0.01, 0.005, 0.0025), end=0.2)
    names = ["Midpoint", "MidpointGGL", "Composition", "Composition(base=Midpoint)"]
    assert study.schemes == names
    assert study.order("MidpointGGL", "multiplier_error") == pytest.approx(2, abs=0.1)  # recomputed from q and v
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


@pytest.mark.parametrize(("name", "step", "end"), [("pendulum", 0.0005, 10.0), ("double-pendulum", 0.002, 5.0)])
def test_no_order_is_told_of_errors_that_are_round_off(name, step, end):
    """Of the second, which amplifies it, round-off is 3e-10. What is larger keeps its order."""
    study = ph.compare(
        ph.load_model(str(catalogue()[name])), ["Midpoint", "Composition(order=6)"], [step, step / 2], end
    )
    for quantity in ("position_error", "velocity_error", "multiplier_error"):
        assert study.order("Midpoint", quantity) == pytest.approx(2, abs=0.1)
        assert np.isnan(study.order("Composition(order=6)", quantity)), study


def test_errors_above_round_off_have_their_order():
    fine = ph.compare(ph.load_model(str(catalogue()["slider-crank"])), ["Composition(order=6)"], [0.01, 0.005], 1.0)
    assert fine.order("Composition(order=6)") == pytest.approx(6, abs=0.3)


def test_reference_given_by_the_user_is_exact():
    """The error against the exact pendulum is what the study finds against a run that ends there."""
    exact = ph.simulate(pendulum.model(), ph.Composition(order=8), 0.0025, 1.0, every=400)
    assert np.abs(exact["bob"].position[-1, [0, 2]] - pendulum.exact(1.0)).max() < 1e-12
    study = ph.compare(pendulum.model(), ["MidpointGGL"], [0.01], 1.0, reference=exact)
    run = ph.simulate(pendulum.model(), ph.MidpointGGL(), 0.01, 1.0)
    assert study.trials[0].position_error == pytest.approx(np.abs(run.q[-1] - exact.q[-1]).max(), rel=1e-12)
    with pytest.raises(ph.PorthosError, match=r"expected a reference to end = 0.5, found one to t = 1"):
        ph.compare(pendulum.model(), ["MidpointGGL"], [0.01], 0.5, reference=exact)


def test_linear_phdae():
    study = ph.compare(two_masses.model(), ["Gauss(1)", "Gauss(2)", "RadauIIA(2)"], (0.2, 0.1, 0.05), 2.0)
    for name, order in (("Gauss(stages=1)", 2), ("Gauss", 4), ("RadauIIA(stages=2)", 3)):
        assert study.order(name) == pytest.approx(order, abs=0.15)
    assert all(np.isnan(trial.velocity_error) for trial in study.trials)
    for same in ("Gauss(2)", "Gauss(stages=2)", ph.Gauss(2)):  # as it was told, or as one may write it
        assert study.order(same) == study.order("Gauss")
    for wrong in ("Gaus", "Midpoint", ph.Gauss(3), "Gauss(", 3, None, ph.Gauss):
        for asked in (study.order, study.of):
            with pytest.raises(ph.PorthosError, match=r"the study of '.*' has no scheme '.*Known: 'Gauss\(stages=1\)'"):
                asked(wrong)
    for wrong in ("foo_error", "velocity", None, 3):
        with pytest.raises(
            ph.PorthosError, match=f"order: quantity: found no error '{wrong}'.*Known: 'position_error'"
        ):
            study.order("Gauss", wrong)


def pendulum_with_rod() -> ph.Lagrangian:
    """A point mass on a rod in Cartesian coordinates, from rest beside its pivot: H = 0 all the time."""
    x, y, u, v = sp.symbols("x y u v", real=True)
    rod, start = [(x**2 + y**2 - 1) / 2], ([1.0, 0.0], [0.0, 0.0])
    return ph.Lagrangian((u**2 + v**2) / 2 - 9.81 * y, [x, y], [u, v], constraints=rod, initial=start, name="rod")


def test_constrained_lagrangian_and_schemes_that_do_not_suit_it():
    """Orders of q, v and recomputed multipliers on index 2; energy relative to what moves, though H is zero.

    Velocities of Gauss miss along the rod, which changes |v|^2, and with it the pull, by the square only.
    """
    steps = [0.02, 0.01, ph.Adaptive(rtol=1e-4, atol=1e-4)]
    study = ph.compare(pendulum_with_rod(), ["RadauIIA(2)", "Gauss(2)", "MidpointGGL", "IDA"], steps, 0.2)
    names = study.schemes
    for name, expected in zip(names[:2], ((3, 3, 3), (4, 2, 4)), strict=True):
        orders = [study.order(name, f"{what}_error") for what in ("position", "velocity", "multiplier")]
        assert orders == pytest.approx(expected, abs=0.1), name
    coarse, fine, adaptive = study.of(names[0])
    assert coarse.energy_defect == pytest.approx(8 * fine.energy_defect, rel=0.1)
    assert coarse.constraint > 1e-8 > 1e-13 > coarse.constraint_rate
    gauss = study.of(names[1])[0]
    assert max(gauss.energy_defect, gauss.constraint) < 1e-13 < 1e-5 < gauss.constraint_rate
    assert np.isnan(coarse.momentum_drift)  # gravity and the rod let none stay
    assert 1e-9 < adaptive.position_error < 1e-3
    assert 1e-3 < adaptive.step < 0.1
    assert all("steps mechanisms" in trial.message for trial in study.of("MidpointGGL"))
    fixed, _, own = study.of("IDA")
    assert "chooses its steps itself" in fixed.message
    assert own.position_error < 1e-4
    text = str(study)
    assert "MidpointGGL, step 0.02, 0.01, rtol 0.0001: simulate: MidpointGGL(" in text
    assert "momenta" not in text


def test_momenta_that_the_system_has_are_among_the_invariants():
    """The pair flies freely; the Lagrangian, in polar coordinates, has one cyclic coordinate."""
    study = ph.compare(cylindrical_pair.model(), ["MidpointGGL", "RadauIIA(2)"], [2e-3, 1e-3], 4e-3)
    exact, other = (study.of(name)[0].momentum_drift for name in study.schemes)
    assert exact < 1e-13 < 1e-9 < other
    r, angle, v, rate = sp.symbols("r angle v rate", real=True)
    L = (v**2 + r**2 * rate**2) / 2 + 1 / r
    comet = ph.Lagrangian(L, [r, angle], [v, rate], initial=([1.0, 0.0], [0.0, 1.2]))
    study = ph.compare(comet, ["Livens", "RadauIIA(1)"], [0.1, 0.05], 0.2)
    exact, other = (study.of(name)[0].momentum_drift for name in study.schemes)
    assert exact < 1e-14 < 1e-4 < other


def test_adaptive_steps_alone_have_an_adaptive_reference():
    study = ph.compare(two_masses.model(), ["RadauIIA(3)"], [ph.Adaptive(1e-4, 1e-4), ph.Adaptive(1e-6, 1e-6)], 2.0)
    assert "Adaptive(rtol=1e-08, atol=1e-08)" in study.reference
    loose, tight = (trial.position_error for trial in study.trials)
    assert 1e-6 < loose < 1e-2
    assert 1e-8 < tight < 1e-4
    assert np.isnan(study.order("RadauIIA"))


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


@pytest.mark.parametrize(
    ("schemes", "steps", "words"),
    [
        (["Midpoint", "BDF", "Midpoint"], [0.1], "schemes: found 'Midpoint' and 'Midpoint', which are the same."),
        (["Gauss(2)", ph.Gauss()], [0.1], r"schemes: found 'Gauss\(2\)' and Gauss\(stages=2"),
        (["Gauss"], [0.1, 0.2, 1e-1], "steps: found 0.1 and 0.1, which are the same. Expected each once; remove one"),
        (["Gauss"], [ph.Adaptive(1e-4), ph.Adaptive(rtol=1e-4)], r"steps: found Adaptive\(rtol=0.0001"),
    ],
)
def test_nothing_is_compared_with_itself(schemes, steps, words):
    with pytest.raises(ph.PorthosError, match=f"^compare: {words}"):
        ph.compare(two_masses.model(), schemes, steps, 0.2)
    with pytest.raises(ph.PorthosError, match="compare: schemes: found"):
        ph.compare(two_masses.model(), [ph.Gauss(2, tolerance=1e-9), ph.Gauss(2, 1e-9)], [0.1], 0.2)
    study = ph.compare(two_masses.model(), [ph.Gauss(2, tolerance=1e-9), ph.Gauss(2)], [0.1], 0.2)
    assert len(study.schemes) == 2


def test_nothing_to_compare():
    with pytest.raises(ph.PorthosError, match="at least one, found"):
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
    assert data["multiplier_orders"]["Midpoint"] == pytest.approx(2, abs=0.05)
    assert figure.stat().st_size > 10000
    adaptive = ["--scheme", "LobattoPair", "--rtol", "1e-5", "--end", "0.2", "--json"]
    trial = json.loads(CliRunner().invoke(app, ["compare", str(file), *adaptive]).stdout)["trials"][0]
    assert trial["tolerance"] == 1e-5
    assert 0 < trial["position_error"] < 1e-4
    plain = CliRunner().invoke(app, ["compare", str(file), *options, "--end", "1"])
    assert "against Composition" in plain.stdout
    lost = CliRunner().invoke(app, ["compare", str(tmp_path / "one.nc")])
    assert lost.exit_code == 1
    assert "is a result. Name a second one" in lost.stderr


def compared(*args):
    return CliRunner().invoke(app, ["compare", *map(str, args)])


def test_command_takes_python_files_as_run_does(tmp_path):
    """What run() asks of ph.simulate is compared, with its inputs, whether or not it takes a scheme."""
    file = catalogue()["lorenz"]
    data = json.loads(compared(file, "--end", "0.2", "--json").stdout)
    assert (data["model"], data["end"]) == ("Lorenz", 0.2)
    assert [trial["step"] for trial in data["trials"][:3]] == pytest.approx(
        [0.01, 0.005, 0.0025]
    )  # 1, 1/2, 1/4 of its own
    assert data["orders"] == pytest.approx(
        {"Gauss(stages=1)": 2, "Gauss": 4, "RadauIIA(stages=2)": 3, "RadauIIA": 5}, abs=0.1
    )
    given = ["--scheme", "Gauss(2)", "--step", "0.02", "--step", "0.01", "--end", "0.2", "--json"]
    driven = json.loads(compared(file, *given).stdout)["trials"][0]["position_error"]
    free = json.loads(compared(f"{file}:model", *given).stdout)["trials"][0]["position_error"]
    heating = {"heating": -lorenz.BETA * lorenz.SHIFT}
    study = ph.compare(lorenz.model(), ["Gauss(2)"], [0.02, 0.01], 0.2, heating)
    assert driven == pytest.approx(study.trials[0].position_error, rel=1e-6)
    assert free != pytest.approx(driven, rel=1e-2)
    code = tmp_path / "made.py"
    code.write_text(
        "import porthos as ph\n"
        f"model = ph.load_model({str(catalogue()['pendulum'])!r})\n"
        "def guarded():\n    try:\n        return ph.simulate(model, ph.Midpoint(), 0.1, 0.2)\n"
        "    except Exception:\n        return None\n"
        "def started():\n    return ph.simulate(model, ph.Gauss(2), 0.1, 0.2, start=[1.0])\n"
        "def number():\n    return 3\n"
    )
    data = json.loads(compared(f"{code}:guarded", "--json").stdout)
    assert (data["end"], len(data["trials"])) == (0.2, 12)
    assert data["trials"][0]["scheme"] == "Midpoint"  # those of mechanisms
    for name, words in (
        ("model", "'made.py:model' does not say how it is run: expected --step and --end."),
        ("modle", "Did you mean 'model'?"),
        ("started", "gives ph.simulate a `start`"),
        (
            "number",
            "expected that number() asks for a run by ph.simulate(...), or makes a model or a system, found int",
        ),
    ):
        answer = compared(f"{code}:{name}")
        assert (answer.exit_code, answer.stdout) == (1, "")
        assert words in answer.stderr
    assert ph.simulate(two_masses.model(), ph.Gauss(2), 0.1, 0.2).t.size == 3  # nothing listens any more


def test_command_takes_model_files_that_do_not_say_how_they_are_run(tmp_path):
    file = ph.load_model(str(catalogue()["pendulum"])).save(tmp_path / "bare.yaml")
    given = ["--scheme", "Midpoint", "--step", "0.1"]
    assert "does not say how it is run: expected --end." in compared(file, *given).stderr
    assert compared(file, *given, "--end", "0.2").exit_code == 0
