"""Adaptive steps: errors as requested, options, exact landing, failures; against exact solutions and REFERENCES."""

from __future__ import annotations

import logging
from functools import cache

import numpy as np
import pytest
import sympy as sp
from scipy.linalg import expm
from scipy.optimize import brentq

import porthos as ph
from gallery import car_axis, lorenz, squeezer, two_masses
from gallery.references import REFERENCES
from porthos.integrate.state_scheme import EmbeddedStep, StateScheme

x, y, u, v = sp.symbols("x y u v", real=True)


def published(module: str, *keys: str) -> np.ndarray:
    found = [next(one.value for one in REFERENCES if (one.module, one.key) == (module, key)) for key in keys]
    return np.concatenate(found)


def spring_masses(end: float) -> np.ndarray:
    rest, stiffness = np.array([10.0, 20, 0, 0]), np.array([[2.0, -1], [-1, 2]])
    rate = np.block([[np.zeros((2, 2)), np.eye(2)], [-stiffness, np.zeros((2, 2))]])
    return rest + expm(end * rate) @ (np.array([6.0, 24, 0, 0]) - rest)


ECCENTRICITY = 0.6


def planet() -> ph.Lagrangian:
    e = ECCENTRICITY
    start = ([1 - e, 0.0], [0.0, np.sqrt((1 + e) / (1 - e))])
    return ph.Lagrangian((u**2 + v**2) / 2 + 1 / sp.sqrt(x**2 + y**2), [x, y], [u, v], initial=start, name="planet")


def orbit(end: float) -> np.ndarray:
    """Kepler's equation E - e sin E = t."""
    e = ECCENTRICITY
    E = brentq(lambda E: E - e * np.sin(E) - end, 0, end + 2, xtol=1e-15)
    b, d = np.sqrt(1 - e**2), 1 - e * np.cos(E)
    return np.array([np.cos(E) - e, b * np.sin(E), -np.sin(E) / d, b * np.cos(E) / d])


def pendulum() -> ph.Lagrangian:
    """A01 of REFERENCES as an index-2 system."""
    L, start = (u**2 + v**2) / 2 - 9.81 * y, ([-1.0, 0.0], [0.0, 0.0])
    return ph.Lagrangian(L, [x, y], [u, v], constraints=[x**2 + y**2 - 1], initial=start, name="pendulum")


@cache
def squeezer_rates() -> np.ndarray:
    """Of the angles at t = 0.03 s, by `DOP853`, whose angles are the published ones; no rates are known as exactly."""
    run = ph.simulate(squeezer.model(), ph.DOP853(), 1e-4, 0.03, inputs={"motor": squeezer.TORQUE}, every=300)
    assert run.x[-1, :7] == pytest.approx(published("squeezer", "q"), abs=1e-10)
    return run.x[-1, 7:14]


def swing() -> tuple[float, ...]:
    """Place and velocity of A01 at t = 5, the place as published; v^2 = 2 g |y|, along the tangent."""
    place = x, y = -0.9423054350437573, -0.3347543384140006
    speed = np.sqrt(-2 * 9.81 * y)
    return (*place, -speed * y, speed * x)


PROBLEMS = {  # system, scheme, end, states that are compared, their values, inputs
    "two masses": (two_masses.model, ph.Gauss(2), 20.0, range(4), lambda: spring_masses(20.0), {}),
    "planet": (planet, ph.RadauIIA(3), 10.0, range(4), lambda: orbit(10.0), {}),
    "pendulum": (pendulum, ph.RadauIIA(3), 5.0, range(4), swing, {}),
    "car axis": (car_axis.model, ph.RadauIIA(4), 3.0, np.r_[0:4, 6:10], lambda: published("car_axis", "q", "v"), {}),
    "squeezer": (
        squeezer.model,
        ph.RadauIIA(3),
        0.03,
        range(14),
        lambda: np.append(published("squeezer", "q"), squeezer_rates()),
        {"motor": squeezer.TORQUE},
    ),
}


def requested(problem: str, scheme: StateScheme, digits: range) -> tuple[np.ndarray, np.ndarray]:
    """Errors at the end in units of the request, rtol = 10^-digits, and numbers of steps."""
    make, _, end, states, exact, inputs = PROBLEMS[problem]
    system, places, errors, counts = make(), list(states), [], []
    for rtol in 10.0 ** -np.array(digits):
        run = ph.simulate(system, scheme, ph.Adaptive(rtol=rtol, atol=1e-3 * rtol), end, inputs=inputs)
        error = np.abs(run.x[-1, places] - exact()) / np.abs(run.x[:, places]).max(axis=0)
        assert run.t[-1] == end
        errors.append(error.max() / rtol)
        counts.append(run.t.size)
    return np.array(errors), np.array(counts)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_errors_are_as_requested_over_five_decades(problem):
    scheme = PROBLEMS[problem][1]
    errors, counts = requested(problem, scheme, range(3, 9))
    assert np.all((errors > 0.1) & (errors < 10)), errors
    assert 10 ** (5 / scheme.order) / 2.5 < counts[-1] / counts[0] < 10 ** (5 / scheme.order) * 2.5


MOTIONS = ("planet", "pendulum", "car axis", "squeezer")  # of which explicit schemes need velocities


@pytest.mark.parametrize(
    ("scheme", "problem", "most"),
    [
        *((scheme, problem, 8) for scheme in (ph.HEDOP5(), ph.MDOP5(), ph.DOP853()) for problem in MOTIONS),
        *((ph.RadauIIA(2), problem, 6) for problem in ("two masses", "planet", "pendulum")),
        (ph.RadauIIA(2), "car axis", 4),
    ],
    ids=str,
)
def test_errors_of_other_schemes_are_as_requested(scheme, problem, most):
    """By embedded results, and of a low order; an error may pass through zero at the end, so some are smaller."""
    errors, _ = requested(problem, scheme, range(3, most + 1))
    assert np.all((errors > 0.05) & (errors < 10)), errors


@pytest.mark.parametrize(
    "scheme", [ph.HEDOP5(), ph.LobattoPair(3), ph.Murua(2), ph.Murua(2, ggl=True), ph.RadauIIA(3)], ids=repr
)
def test_mechanisms_meet_the_tolerance(scheme):
    """A01 of REFERENCES with a body in directors and a hinge; forces, masses and constraints are those of a model."""
    model = ph.Model("pendulum", gravity=(0, 0, -9.81))
    model.point_mass("bob", 1.0, position=(-1, 0, 0))
    model.distance("rod", model.ground, "bob", point_a=(0, 0, 0), point_b=(-1, 0, 0))
    model.point_on_plane("plane", model.ground, "bob", at=(-1, 0, 0), normal=(0, 1, 0))
    for rtol in (1e-4, 1e-7):
        run = ph.simulate(model, scheme, ph.Adaptive(rtol, atol=1e-3 * rtol), 1.0)
        error = np.abs(run["bob"].position[-1, [0, 2]] - (0.9862917511318753, -0.1650108531255412)).max()
        assert 1e-3 * rtol < error < 10 * rtol, error / rtol


@pytest.mark.parametrize("problem", ["planet", "pendulum"])
@pytest.mark.parametrize(
    "scheme", [ph.GeneralizedAlpha(), ph.GeneralizedAlpha(rho=0.3, form="index 2"), ph.HHT()], ids=repr
)
def test_steps_that_remember_accelerations_meet_the_tolerance(scheme, problem):
    """What they remember is made for the next size; multipliers keep order 2."""
    make, _, end, states, exact, _ = PROBLEMS[problem]
    system, places = make(), list(states)
    for rtol in (1e-2, 1e-3):
        run = ph.simulate(system, scheme, ph.Adaptive(rtol=rtol, atol=1e-3 * rtol, initial=3e-3), end)
        error = np.abs(run.x[-1, places] - exact()) / np.abs(run.x[:, places]).max(axis=0)
        assert 0.1 * rtol < error.max() < 2 * rtol
        if problem == "pendulum":
            wrong = np.abs(np.abs(run.x[1:, 4]) - 1.5 * 9.81 * np.abs(run.x[1:, 1]))
            assert wrong.max() < 100 * np.diff(run.t).max() ** 2


def test_accelerations_before_a_jump_are_forgotten():
    """A bead that is pushed from t = 0.3 on: v = (t - 0.3)/2, exactly, with one step from the jump to the end."""
    model = ph.Model("push")
    model.point_mass("bead", 2.0)
    model.load("kick", "bead", force=ph.Step(0.3, (1.0, 0, 0)))
    run = ph.simulate(model, ph.GeneralizedAlpha(), ph.Adaptive(1e-6, initial=0.7), 1.0)
    assert run.t.tolist() == pytest.approx([0, 0.15, 0.3, 0.65, 1.0])
    assert run["bead"].velocity[-1, 0] == pytest.approx(0.35, abs=1e-15)
    assert run["bead"].position[-1, 0] == pytest.approx(0.7**2 / 4, abs=1e-15)


def test_the_embedded_estimate_is_the_error_of_the_lower_order():
    """Of order 5 for one step, and the two results of a step of a free fall with drag agree to that order."""
    model = ph.Model("pendulum", gravity=(0, 0, -9.81))
    model.point_mass("bob", 1.0, position=(-1, 0, 0))
    model.distance("rod", model.ground, "bob", point_a=(0, 0, 0), point_b=(-1, 0, 0))
    system = model.assemble()
    sizes, scheme = (0.1, 0.05, 0.025), ph.HEDOP5()
    steps = [scheme.step(system, h, system.initial_state()) for h in sizes]
    assert all(isinstance(step, EmbeddedStep) for step in steps)
    errors = [np.abs(step.error).max() for step in steps]
    assert np.log2(errors[1] / errors[2]) == pytest.approx(5, abs=0.3)
    assert not system.split(steps[0].error)[2].any()  # multipliers are left out


# --- landing


def test_steps_land_exactly_on_times():
    wanted = np.linspace(0, 10, 7)
    run = ph.simulate(planet(), ph.Gauss(3), ph.Adaptive(1e-6), 10.0, times=wanted)
    assert np.array_equal(run.t, wanted)
    assert run.x[3] == pytest.approx(orbit(5.0), abs=3e-6)
    few = ph.simulate(planet(), ph.Gauss(3), ph.Adaptive(1e-6), 10.0, times=[2.5])
    assert few.t.tolist() == [0.0, 2.5, 10.0]
    assert few.supplied[-1] == 0.0
    with pytest.raises(ph.PorthosError, match="dense output needs every step"):
        few.at(1.0)


def test_dense_output_between_steps_of_any_size():
    run = ph.simulate(planet(), ph.Gauss(4), ph.Adaptive(1e-9, 1e-12), 6.0)
    assert np.diff(run.t).max() > 5 * np.diff(run.t).min()
    assert run.at(3.21) == pytest.approx(orbit(3.21), abs=1e-5)


def pushed(end: float, at: float) -> np.ndarray:
    """Two masses, the first one pushed from the time `at` on, exactly."""
    matrix = np.zeros((5, 5))
    matrix[:2, 2:4], matrix[2:4, :2] = np.eye(2), -np.array([[2.0, -1], [-1, 2]])
    matrix[2, 4] = two_masses.PUSH
    rest = np.array([10.0, 20, 0, 0, 0])
    state = np.array([6.0, 24, 0, 0, 0]) - rest
    state = expm(at * matrix) @ state
    state[4] = 1.0
    return (expm((end - at) * matrix) @ state + rest)[:4]


@pytest.mark.parametrize("scheme", [ph.Gauss(3), ph.RadauIIA(3), ph.LobattoIIIC(4)], ids=repr)
def test_steps_end_where_an_input_jumps(scheme):
    at, steps = np.pi, ph.Adaptive(1e-8, 1e-9)
    run = ph.simulate(two_masses.model(), scheme, steps, 8.0, inputs={"push": ph.Step(at, two_masses.PUSH)})
    assert at in run.t
    assert run.x[-1] == pytest.approx(pushed(8.0, at), abs=5e-7)
    before, after = np.diff(run.t)[np.searchsorted(run.t, at) - 1 :][:2]
    assert after > before / 3  # the jump costs no small steps
    told = ph.Adaptive(1e-8, 1e-9, breakpoints=(at,))
    other = ph.simulate(
        two_masses.model(), scheme, told, 8.0, inputs={"push": lambda t: two_masses.PUSH * float(t >= at)}
    )
    assert np.array_equal(other.x, run.x)
    blind = ph.simulate(
        two_masses.model(), scheme, steps, 8.0, inputs={"push": lambda t: two_masses.PUSH * float(t >= at)}
    )
    assert np.diff(blind.t).min() < np.diff(run.t).min() / 10


def test_breakpoints_of_loads_are_known():
    model = ph.Model("push")
    model.point_mass("bead", 2.0)
    model.load("kick", "bead", force=ph.Ramp(0.3, 0.7, after=(1.0, 0, 0), before=(0.0, 0, 0)))
    run = ph.simulate(model, ph.RadauIIA(3), ph.Adaptive(1e-8), 1.0)
    assert {0.3, 0.7} <= set(run.t.tolist())
    assert run["bead"].velocity[-1, 0] == pytest.approx((0.4 / 2 + 0.3) / 2, abs=1e-12)


# --- options


def test_options_of_the_steps_are_obeyed():
    run = ph.simulate(planet(), ph.RadauIIA(3), ph.Adaptive(1e-5, initial=0.02, maximum=0.1), 6.0)
    sizes = np.diff(run.t)
    assert sizes[0] == pytest.approx(0.01)  # two halves of the first step
    assert sizes.max() <= 0.05 * (1 + 1e-12)
    slow = np.diff(ph.simulate(planet(), ph.RadauIIA(3), ph.Adaptive(1e-5, increase=1.3), 6.0).t)[::2]
    assert (slow[1:-1] / slow[:-2]).max() < 1.3 * (1 + 1e-9)
    patient = np.diff(ph.simulate(two_masses.model(), ph.Gauss(2), ph.Adaptive(1e-4, good_steps=4), 20.0).t)[::2]
    grown = np.flatnonzero(patient[1:-1] > patient[:-2] * 1.01)
    assert grown.size > 1
    assert np.diff(grown).min() >= 4


def test_a_step_that_misses_the_tolerance_shrinks_by_decrease_at_most():
    sizes = []

    class Noted(ph.Gauss):
        def advance(self, at):
            sizes.append(at.h)
            return super().advance(at)

    run = ph.simulate(planet(), Noted(2), ph.Adaptive(1e-9, initial=0.2, decrease=0.7), 1.0)
    wholes = np.array(sizes[::3])  # each with two halves
    first = int(np.argmin(np.abs(wholes / 2 - run.t[1])))  # the one that was taken
    assert first > 3
    assert wholes[0] == 0.2
    assert wholes[1:first] / wholes[: first - 1] == pytest.approx(np.full(first - 1, 0.7))


def test_a_run_with_other_states_far_apart_in_size_uses_atol_for_the_small_ones():
    coarse, fine = (
        ph.simulate(planet(), ph.RadauIIA(3), ph.Adaptive(1e-12, atol), 6.0, times=[]).iterations.sum()
        for atol in (1e-3, 1e-5)
    )
    assert coarse < fine


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"rtol": 0.0}, "0 < rtol < 1"),
        ({"atol": 0.0}, "atol > 0"),
        ({"minimum": 1.0, "maximum": 0.5}, "minimum < maximum"),
        ({"initial": -1.0}, "initial between"),
        ({"initial": 1.0, "maximum": 0.5}, "initial between"),
        ({"decrease": 1.0}, "0 < decrease < 1"),
        ({"increase": 1.0}, "increase > 1"),
        ({"good_steps": 0}, "good_steps >= 1"),
        ({"max_steps": 1.5}, "max_steps: expected a whole number"),
        ({"rtol": "small"}, "rtol: expected a number"),
        ({"rtol": float("nan")}, "rtol: expected a number"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, expected):
    with pytest.raises(ph.PorthosError, match=f"Adaptive: .*{expected}"):
        ph.Adaptive(**options)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"every": 2}, "leave every = 2 away"),
        ({"times": [1.0, 7.0]}, "times: expected numbers between 0 and end"),
        ({"end": -1.0}, "end must be a positive"),
    ],
)
def test_what_does_not_go_with_adaptive_steps_is_refused(options, expected):
    with pytest.raises(ph.PorthosError, match=expected):
        ph.simulate(planet(), ph.Gauss(2), ph.Adaptive(), **{"end": 6.0, **options})


def test_times_need_adaptive_steps():
    with pytest.raises(ph.PorthosError, match="a fixed step keeps each every-th"):
        ph.simulate(planet(), ph.Gauss(2), 0.1, 1.0, times=[0.5])


def test_schemes_and_inputs_with_steps_of_one_size_say_so():
    model = ph.Model("bead")
    model.port("damper", model.point_mass("bead", 2.0, velocity=(1, 0, 0)), kind="force", direction=(1, 0, 0))
    with pytest.raises(ph.PorthosError, match="has no adaptive steps: all its steps have one size"):
        ph.simulate(model, ph.BDF(3), ph.Adaptive(), 1.0)
    with pytest.raises(ph.PorthosError, match="has no adaptive steps"):
        ph.simulate(planet(), ph.Livens(), ph.Adaptive(), 1.0)
    with pytest.raises(ph.PorthosError, match="a controller u\\(t, y\\) holds its answer"):
        ph.simulate(model, ph.Gauss(1), ph.Adaptive(), 1.0, inputs={"damper": lambda t, y: -y})
    with pytest.raises(ph.InputError, match=r"expected 1 number\(s\), a function u\(t\)"):
        ph.simulate(model, ph.Gauss(1), ph.Adaptive(), 1.0, inputs={"damper": np.ones(100)})
    with pytest.raises(ph.PorthosError, match="does not damp errors of algebraic states"):
        ph.simulate(pendulum(), ph.Gauss(3), ph.Adaptive(), 1.0)
    with pytest.raises(ph.PorthosError, match="does not damp errors of algebraic states"):
        ph.simulate(pendulum(), ph.GeneralizedAlpha(form="index 3"), ph.Adaptive(), 1.0)


# --- failures


def test_a_step_that_fails_is_tried_again_with_a_smaller_one():
    rash = ph.Adaptive(1e-6, initial=3.0)
    run = ph.simulate(planet(), ph.Gauss(3, max_iterations=6), rash, 10.0)
    assert run.x[-1] == pytest.approx(orbit(10.0), abs=3e-6)
    assert run.t[1] < 0.5


@pytest.mark.parametrize(
    ("scheme", "steps", "status", "message"),
    [
        (ph.Gauss(3, max_iterations=1), ph.Adaptive(), "NEWTON_STALLED", "in the step from t = 0 to"),
        (ph.Gauss(3), ph.Adaptive(1e-9, initial=0.2, minimum=0.2), "STEP_TOO_SMALL", "At t = 0 it was"),
        (ph.Gauss(3), ph.Adaptive(1e-9, max_steps=5), "TOO_MANY_STEPS", "max_steps steps"),
    ],
    ids=["Newton", "minimum", "number"],
)
def test_runs_that_cannot_go_on_say_why_and_keep_what_there_is(scheme, steps, status, message):
    with pytest.raises(ph.SimulationError, match=message) as caught:
        ph.simulate(planet(), scheme, steps, 10.0)
    assert caught.value.status is ph.Status[status]
    part = ph.simulate(planet(), scheme, steps, 10.0, on_failure="return", times=[5.0])
    assert part.status is ph.Status[status]
    assert part.t[-1] < 5.0
    assert part.x[-1] == pytest.approx(orbit(part.t[-1]), abs=1e-6)


def test_an_input_that_fails_keeps_what_there_is():
    run = ph.simulate(
        two_masses.model(),
        ph.Gauss(2),
        ph.Adaptive(1e-4),
        2.0,
        {"push": lambda t: 1 / float(t < 1)},
        on_failure="return",
    )
    assert run.status is ph.Status.BAD_INPUT
    assert 0.5 < run.t[-1] <= 1.0


def test_a_run_tells_its_steps_and_its_balance(caplog):
    caplog.set_level(logging.WARNING)
    run = ph.simulate(two_masses.model(), ph.Gauss(3), ph.Adaptive(1e-8), 5.0, inputs={"push": lambda t: np.sin(t)})
    assert "Adaptive(rtol=1e-08" in run.summary()
    assert np.abs(run.power_balance).max() < 1e-12 * run.H.max()
    assert run.port("push").work[-1] == pytest.approx(run.H[-1] - run.H[0], abs=1e-11)
    assert not caplog.records


def test_chaos_is_not_hidden():
    """Tolerances bound errors of steps; what the system makes of them is its own (Lorenz, e^(0.9 t))."""
    heat = {"heating": -lorenz.BETA * lorenz.SHIFT}
    runs = [
        ph.simulate(lorenz.model(), ph.Gauss(4), ph.Adaptive(rtol, 1e-3 * rtol), 20.0, inputs=heat, times=[])
        for rtol in (1e-7, 1e-9)
    ]
    assert np.abs(runs[0].x[-1] - runs[1].x[-1]).max() > 1e-4
