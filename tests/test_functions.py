"""Functions of the user's within systems that raise something, or give NaN: name and time, and the run so far."""

import numpy as np
import pytest
import sympy as sp

import porthos as ph

WRONG = [np.nan, ValueError, ZeroDivisionError, None]
RUNS = {
    "Gauss": (ph.Gauss(2), 0.1),
    "DiscreteGradient": (ph.DiscreteGradient(), 0.1),
    "BDF": (ph.BDF(2), 0.1),
    "adaptive": (ph.RadauIIA(2), ph.Adaptive(rtol=1e-4)),
    "reversible": (ph.Gauss(2), ph.Reversible(0.1, lambda x: 1.0)),
    "SciPy": (ph.SciPy("Radau"), ph.Adaptive(rtol=1e-4)),
}


def spoilt(right, value):
    """A function of (x, t) that is wrong after t = 0.5."""

    def result(x, t):
        if t <= 0.5:
            return right(x)
        if isinstance(value, type):
            raise value("on purpose")
        return None if value is None else np.full(np.shape(right(x)), value)

    return result


def oscillator(**changed):
    J = np.array([[0.0, 1.0], [-1.0, 0.0]])
    given = {
        "H": lambda x: 0.5 * float(x @ x),
        "z": lambda x: 1.0 * x,
        "J": lambda x: J,
        "R": lambda x: 0.1 * (J @ J.T),
    }
    functions = {letter: changed.get(letter, function) for letter, function in given.items()}
    return ph.GeneralPHDAE("oscillator", ["q", "p"], **functions, initial=[1.0, 0.0]), given


@pytest.mark.parametrize("kind", RUNS)
@pytest.mark.parametrize("value", WRONG, ids=str)
@pytest.mark.parametrize("letter", ["z", "J"])
def test_functions_of_a_system(letter, value, kind):
    _, right = oscillator()
    system, _ = oscillator(**{letter: spoilt(right[letter], value)})
    with pytest.raises(ph.SimulationError, match=f"system 'oscillator': {letter}\\b") as caught:
        ph.simulate(system, *RUNS[kind], 1.0)
    run, text = caught.value.trajectory, str(caught.value)
    assert caught.value.status is ph.Status.BAD_INPUT
    assert "It happened" in text and "t = 0." in text
    assert 0.3 < run.t[-1] <= 0.5
    assert np.isfinite(run.x).all()
    assert run.x[-1, 0] == pytest.approx(np.exp(-0.05 * run.t[-1]) * np.cos(run.t[-1]), abs=0.03)


@pytest.mark.parametrize("scheme", [ph.Livens(), ph.Gauss(2)], ids=["Livens", "Gauss"])
@pytest.mark.parametrize("value", [np.nan, ValueError], ids=str)
@pytest.mark.parametrize("what", ["L", "constraints"])
def test_functions_of_a_lagrangian(what, value, scheme):
    """A bead on a line, from x = 1 to 0 with speed 1; below 0.5 one of its functions is wrong."""
    running = []

    def wrong(right):
        def result(q, *more):
            if not running or np.real(q[0]) > 0.5:
                return right(q, *more)
            if isinstance(value, type):
                raise value("on purpose")
            return value * right(q, *more)

        return result

    functions = {"L": lambda q, v: 0.5 * (v @ v), "constraints": lambda q: q[1:] - 2 * q[0]}
    functions[what] = wrong(functions[what])
    system = ph.NumericLagrangian(functions["L"], ["x", "y"], constraints=lambda q: functions["constraints"](q),
                                  initial=([1.0, 2.0], [-1.0, -2.0]), name="bead")  # fmt: skip
    running.append(True)
    run = ph.simulate(system, scheme, 0.1, 1.0, on_failure="return")
    assert run.status is ph.Status.BAD_INPUT
    assert f"Lagrangian 'bead': {what}: its function" in run.message
    assert "It happened in the step from t = 0." in run.message
    assert 0.3 <= run.t[-1] <= 0.5
    assert run["x"] == pytest.approx(1 - run.t)


@pytest.mark.parametrize("scheme", [ph.Livens(), ph.Gauss(2)], ids=["Livens", "Gauss"])
def test_symbolic_lagrangian_that_has_no_value(scheme):
    """The root of x - 0.5, which a bead from x = 1 with speed -1 leaves behind."""
    x, v = sp.symbols("x v")
    system = ph.Lagrangian(v**2 / 2 + sp.sqrt(x - 0.5) / 100, [x], [v], initial=([1.0], [-1.0]), name="root")
    run = ph.simulate(system, scheme, 0.05, 1.0, on_failure="return")
    assert run.status is ph.Status.BAD_INPUT
    assert "Lagrangian 'root': " in run.message
    assert "returned" in run.message and "It happened in the step from t = 0." in run.message
    assert 0.4 <= run.t[-1] < 0.6


def test_newton_that_only_stalls_says_so():
    """Nothing is wrong with its functions."""
    run = ph.simulate(oscillator()[0], ph.Gauss(2, max_iterations=1), 0.5, 1.0, on_failure="return")
    assert run.status is ph.Status.NEWTON_STALLED
    assert "It happened in the step from t = 0 to 0.5." in run.message
