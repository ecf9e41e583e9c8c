"""Reversible steps: a run back returns to its start, energy does not drift, steps follow the density."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import brentq

import porthos as ph

ECCENTRICITY = 0.9
START = ([1 - ECCENTRICITY, 0.0], [0.0, np.sqrt((1 + ECCENTRICITY) / (1 - ECCENTRICITY))])
PERIOD = 2 * np.pi


def planet() -> ph.Lagrangian:
    x, y, u, v = sp.symbols("x y u v", real=True)
    return ph.Lagrangian((u**2 + v**2) / 2 + 1 / sp.sqrt(x**2 + y**2), [x, y], [u, v], initial=START, name="planet")


def orbit(time: float) -> np.ndarray:
    """Kepler's equation E - e sin E = t."""
    E = brentq(lambda E: E - ECCENTRICITY * np.sin(E) - time, 0, time + 2, xtol=1e-15)
    return np.array([np.cos(E) - ECCENTRICITY, np.sqrt(1 - ECCENTRICITY**2) * np.sin(E)])


def near(q: np.ndarray) -> float:
    """r^(-3/2), the frequency of a circular orbit."""
    return float(q @ q) ** -0.75


def comet() -> ph.Model:
    """The planet as a mechanism: a point mass that the ground attracts."""
    model = ph.Model("comet")
    model.point_mass("comet", 1.0, position=(*START[0], 0), velocity=(*START[1], 0))
    model.attraction("sun", model.ground, "comet", point_a=(0, 0, 0), point_b=(*START[0], 0), strength=1.0)
    return model


def hanging() -> ph.Model:
    """A double pendulum that starts horizontally."""
    model = ph.Model("hanging", gravity=(0, 0, -9.81))
    model.point_mass("a", 1.0, position=(1, 0, 0))
    model.point_mass("b", 1.0, position=(2, 0, 0), velocity=(0, 0.5, 0))
    model.distance("upper", model.ground, "a", point_a=(0, 0, 0), point_b=(1, 0, 0))
    model.distance("lower", "a", "b", point_a=(1, 0, 0), point_b=(2, 0, 0))
    return model


def low(q: np.ndarray) -> float:
    """Small steps where the tip of `hanging` is low and fast."""
    return 1.0 + max(0.0, -q[5]) ** 2


def back(system, scheme, density, size, end):
    """The start, what a run back leads to, and the steps of both runs."""
    run = ph.simulate(system, scheme, ph.Reversible(size, density), end)
    states = run.x if isinstance(run, ph.StateTrajectory) else np.hstack([run.q, run.v])
    last, half = run.t.size - 2, states.shape[1] // 2 if isinstance(run, ph.Trajectory) else system.n
    turned = states[last].copy()
    turned[half : 2 * half] *= -1  # velocities
    if isinstance(run, ph.Trajectory):
        turned = np.append(turned, np.zeros(system.m))
    rule = ph.Reversible(size, density, initial=run.t[last] - run.t[last - 1])
    again = ph.simulate(system, scheme, rule, run.t[last], start=turned)
    found = (again.x if isinstance(again, ph.StateTrajectory) else np.hstack([again.q, again.v]))[-1]
    found[half : 2 * half] *= -1
    return states[0][: 2 * half], found[: 2 * half], np.diff(run.t)[:last], np.diff(again.t)[::-1]


@pytest.mark.parametrize(
    ("make", "scheme", "density", "size", "end"),
    [
        (planet, ph.Gauss(2), near, 0.05, 7.0),
        (lambda: comet().assemble(), ph.LobattoPair(3), near, 0.05, 7.0),
        (lambda: hanging().assemble(), ph.LobattoPair(2), low, 0.04, 1.5),
        (lambda: hanging().assemble(), ph.Murua(2), low, 0.04, 1.5),
    ],
    ids=["planet, Gauss", "comet, LobattoPair", "hanging, LobattoPair", "hanging, Murua"],
)
def test_a_run_back_returns_to_its_start_with_the_same_steps(make, scheme, density, size, end):
    start, found, there, again = back(make(), scheme, density, size, end)
    assert there.max() > 2.5 * there.min()  # steps do change
    assert again == pytest.approx(there, abs=2e-11)
    assert found == pytest.approx(start, abs=1e-10)


def test_energy_does_not_drift_over_ten_orbits():
    run = ph.simulate(planet(), ph.Gauss(2), ph.Reversible(0.06, near), 10 * PERIOD)
    error, steps = np.abs(run.H - run.H[0]), run.t.size - 1
    first, last = error[run.t <= PERIOD].max(), error[run.t >= 9 * PERIOD].max()
    assert 1e-7 < first < 1e-5
    assert last == pytest.approx(first, rel=1e-3)
    x, y, u, v = run.x.T
    assert x * v - y * u == pytest.approx(x[0] * v[0] - y[0] * u[0], abs=1e-12)  # angular momentum
    fixed = ph.simulate(planet(), ph.Gauss(2), PERIOD / (steps // 10), PERIOD)
    assert np.abs(fixed.H - fixed.H[0]).max() > 1e4 * first


def test_adaptive_steps_drift_where_reversible_ones_do_not():
    run = ph.simulate(planet(), ph.Gauss(2), ph.Adaptive(1e-3, 1e-5), 6 * PERIOD)
    error = [np.abs(run.H - run.H[0])[run.t <= k * PERIOD][-1] for k in (2, 6)]
    assert error[1] > 2 * error[0]


def test_steps_follow_the_density_and_keep_the_order():
    errors = []
    for size in (0.08, 0.04, 0.02):
        run = ph.simulate(planet(), ph.Gauss(2), ph.Reversible(size, near), 1.1 * PERIOD)
        wanted = np.array([size / near(q) for q in (run.x[1:-1, :2] + run.x[:-2, :2]) / 2])
        ratio = np.diff(run.t)[:-1] / wanted
        assert np.abs(ratio - 1).max() < 40 * size**2
        errors.append(np.abs(run.x[-1, :2] - orbit(1.1 * PERIOD)).max())
        assert run.t[-1] == 1.1 * PERIOD
    slopes = [np.log2(a / b) for a, b in pairwise(errors)]
    assert slopes[-1] == pytest.approx(4, abs=0.3), errors


def test_the_density_of_a_system_without_positions_is_one_of_its_states():
    """Lotka and Volterra in logarithms: H = e^p - p + e^q - q, a pH system with J constant."""
    J = np.array([[0.0, 1.0], [-1.0, 0.0]])
    system = ph.GeneralPHDAE(
        "prey", states=("p", "q"), J=lambda x: J, z=lambda x: np.exp(x) - 1, H=lambda x: float(np.sum(np.exp(x) - x))
    )
    rule = ph.Reversible(0.05, lambda x: float(np.exp(x).sum()))
    run = ph.simulate(system, ph.Gauss(2), rule, 30.0, start=[2.0, 0.0])
    error = np.abs(run.H - run.H[0])
    assert error[run.t > 22].max() == pytest.approx(error[run.t < 8].max(), rel=0.2)  # drift would be threefold
    assert np.diff(run.t)[:-1].max() > 3 * np.diff(run.t).min()


def test_an_event_ends_a_run_and_a_failure_keeps_what_there_is():
    events = {"far": ph.Event(lambda t, x: x[2] * x[0] + x[3] * x[1], direction=-1, terminal=True)}
    run = ph.simulate(planet(), ph.Gauss(3), ph.Reversible(0.05, near), 5.0, events=events)
    assert run.t[-1] == pytest.approx(np.pi, abs=1e-7)
    assert run.x[-1, :2] == pytest.approx([-1 - ECCENTRICITY, 0], abs=1e-6)
    with pytest.raises(ph.InputError, match="the density failed with ZeroDivisionError"):
        ph.simulate(planet(), ph.Gauss(2), ph.Reversible(0.05, lambda q: 1 / 0), 5.0)
    rule = ph.Reversible(0.02, lambda q: 1.0 - 2 * (q[0] < 0))
    run = ph.simulate(planet(), ph.Gauss(2), rule, 5.0, on_failure="return")
    assert run.status is ph.Status.BAD_INPUT
    assert "expected a positive density, found -1.0" in run.message
    assert run.t.size > 2


def test_what_makes_no_sense_is_refused():
    rule = ph.Reversible(0.1, near)
    with pytest.raises(ph.PorthosError, match=r"need a symmetric scheme, and RadauIIA.*ph\.Gauss"):
        ph.simulate(planet(), ph.RadauIIA(2), rule, 1.0)
    with pytest.raises(ph.PorthosError, match="steps mechanisms in a reduced form, and 'planet' is none"):
        ph.simulate(planet(), ph.Midpoint(), rule, 1.0)
    with pytest.raises(ph.PorthosError, match="does not damp errors of algebraic states"):
        ph.simulate(hanging(), ph.Gauss(2), rule, 1.0)
    with pytest.raises(ph.PorthosError, match="times would cut reversible steps"):
        ph.simulate(planet(), ph.Gauss(2), rule, 1.0, times=[0.5])
    with pytest.raises(ph.PorthosError, match="expected a function density"):
        ph.Reversible(0.1, 3.0)
    with pytest.raises(ph.PorthosError, match="Reversible: step must be a positive number of seconds"):
        ph.Reversible(-0.1, near)
    with pytest.raises(ph.ModelError, match="a file holds no function"):
        ph.Simulation(rule, 1.0)
