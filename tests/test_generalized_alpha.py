"""Generalized-alpha and HHT methods: the numbers of 002, Example 8, orders, starts and what is kept."""

from __future__ import annotations

import numpy as np
import pytest
from oscillator import Oscillator
from test_runge_kutta import duffing
from test_schemes import driven_model

import porthos as ph
from gallery import alpha_start
from gallery.small_mass import ViscousPendulum, path
from porthos.integrate.catalogue import scheme_named

FORMS = ("index 3", "index 2", "stabilised")
SCHEMES = [*(ph.GeneralizedAlpha(0.9, form=form) for form in FORMS), *(ph.HHT(-0.2, form=form) for form in FORMS)]


def named(scheme) -> str:
    return f"{type(scheme).__name__}-{scheme.form}"


schemes = pytest.mark.parametrize("scheme", SCHEMES, ids=named)


# --- 002, Example 8


def tension_error(scheme, x0: float, h: float) -> float:
    """Largest error of the multiplier on (0, 1]; the numbers of the example are in `gallery.references`."""
    return float(alpha_start.errors(scheme, x0, h)[1].max())


@schemes
def test_multipliers_have_order_2_from_the_first_step(scheme):
    """Where the mechanism starts does not matter, in any form."""
    for x0 in (0.0, 0.2):
        errors = [tension_error(scheme, x0, h) for h in (0.02, 0.01)]
        assert errors[0] < 6e-3
        assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.1), errors


def test_multipliers_of_the_plain_start_have_order_2_once_its_oscillation_has_died_out():
    """On position level from x0 = 0.2: order 1 on (0, 1], order 2 after two seconds."""
    scheme, errors = alpha_start.SCHEMES["index 3"], []
    for h in (0.02, 0.01):
        run = alpha_start.run(scheme, 0.2, h, 4.0)
        gap = np.abs(run["tension"] - alpha_start.tension(0.2, run["t"]))
        errors.append([part.max() for part in np.split(gap, 4)])
    found = np.log2(np.divide(*errors))
    assert found[[0, 2, 3]] == pytest.approx([1, 2, 2], abs=0.02)
    assert errors[1][2:] == pytest.approx([1.41e-3, 1.80e-3], rel=5e-3)


# --- orders and structure


@schemes
def test_order_with_rigid_bodies_loads_and_an_input(scheme):
    system, drive = driven_model().assemble(), {"motor": lambda t: np.sin(5 * t)}
    fine = ph.simulate(system, ph.Composition(order=6), 0.005, 0.1, inputs=drive)
    runs = [ph.simulate(system, scheme, 0.1 / n, 0.1, inputs=drive) for n in (10, 20)]
    errors = [[np.abs(run.q[-1] - fine.q[-1]).max(), np.abs(run.v[-1] - fine.v[-1]).max()] for run in runs]
    assert np.log2(np.divide(*errors)) == pytest.approx(2, abs=0.3), errors
    work = sum(runs[1].port(name).work[-1] for name in ("wind", "stir", "pull", "motor"))
    exact = sum(fine.port(name).work[-1] for name in ("wind", "stir", "pull", "motor"))
    assert work == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize(
    ("scheme", "radius"),
    [
        (ph.GeneralizedAlpha(0.9), 0.9),
        (ph.GeneralizedAlpha(0.5), 0.5),
        (ph.GeneralizedAlpha(1.0), 1.0),
        (ph.HHT(0.0), 1.0),
        (ph.HHT(-1 / 3), 0.5),
    ],
    ids=repr,
)
def test_damping_of_what_the_step_does_not_resolve(scheme, radius):
    """The oscillator shrinks by rho a step for h omega -> infinity; (1 + alpha)/(1 - alpha) for HHT."""
    states = path(scheme, Oscillator(1e4), 1.0, 60, np.array([1.0, 0.0]))
    size = np.abs(states[:, 0])
    found = (size[50:60].max() / size[30:40].max()) ** (1 / 20)
    assert found == pytest.approx(radius, rel=0.07)


def test_second_order_on_an_oscillator_and_with_viscosity():
    for scheme in (ph.GeneralizedAlpha(0.8), ph.HHT(-0.1)):
        ends = [path(scheme, Oscillator(2.0), 1 / n, n, np.array([1.0, 0.0]))[-1] for n in (50, 100)]
        errors = [np.abs(end - [np.cos(2), -2 * np.sin(2)]).max() for end in ends]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.1)
        system = ViscousPendulum((1.0, 2.0), kappa=2.0)
        fine = path(ph.Murua(3), system, 0.02, 10, system.start())[-1, :8]
        errors = [np.abs(path(scheme, system, 0.2 / n, n, system.start())[-1, :8] - fine).max() for n in (10, 20)]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.25)


# --- use


def test_a_start_at_rest_and_a_free_body():
    model = ph.Model("thrown", gravity=(0, 0, -10))
    model.point_mass("stone", 2.0, velocity=(1, 0, 5))
    for form in FORMS:
        run = ph.simulate(model, ph.GeneralizedAlpha(0.7, form=form), 0.1, 1.0)
        assert run["stone"].position[-1] == pytest.approx((1, 0, 0), abs=1e-12)
        assert run["stone"].velocity[-1] == pytest.approx((1, 0, -5), abs=1e-12)


def test_options_and_messages():
    assert scheme_named("GeneralizedAlpha", {"rho": 0.5, "form": "index 3"}) == ph.GeneralizedAlpha(0.5, form="index 3")
    with pytest.raises(ph.PorthosError, match=r"HHT: found no form 'index 4'. Did you mean 'index 3'"):
        ph.HHT(-0.1, form="index 4")
    with pytest.raises(ph.PorthosError, match=r"expected 0 <= rho <= 1, found rho = 1.1"):
        ph.GeneralizedAlpha(1.1)
    with pytest.raises(ph.PorthosError, match=r"expected -1/3 <= alpha <= 0, found alpha = 0.1"):
        ph.HHT(0.1)
    with pytest.raises(ph.PorthosError, match=r"HHT: max_iterations must be >= 1, found 0"):
        ph.HHT(max_iterations=0)
    with pytest.raises(
        ph.PorthosError, match="steps positions and velocities of mechanisms and Lagrangians, and 'Duffing' is neither"
    ):
        ph.simulate(duffing(), ph.GeneralizedAlpha(), 0.1, 1.0)
