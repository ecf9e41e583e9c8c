"""MDOP5 and DOP853 on accelerations: orders, SciPy, drift, Baumgarte's stabilisation, projection."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from oscillator import Oscillator
from scipy.integrate import DOP853, RK45, solve_ivp
from test_runge_kutta import duffing
from test_schemes import driven_model

import porthos as ph
from gallery import car_axis
from gallery.small_mass import ViscousPendulum, path

FORMS = ("projection", "Baumgarte", "index 1")
KINDS = (ph.MDOP5, ph.DOP853)
methods = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


@methods
def test_one_step_is_that_of_scipy(kind):
    found = path(kind(), Oscillator(2.0), 0.1, 1, np.array([1.0, 0.5]))[-1]
    theirs = {"MDOP5": RK45, "DOP853": DOP853}[kind.__name__]
    solver = theirs(lambda t, y: [y[1], -4 * y[0]], 0.0, [1.0, 0.5], 1.0, first_step=0.1, rtol=1e-3, atol=1.0)
    solver.step()
    assert solver.t == 0.1
    assert found == pytest.approx(solver.y, abs=1e-15)


@methods
def test_error_estimates_have_the_order_that_step_control_needs(kind):
    """e ~ h^p, as fast as the error of a run."""
    pendulum = ViscousPendulum((1.0, 0.5))
    sizes = (0.05, 0.025)
    errors = [np.abs(kind("index 1").step(pendulum, h, pendulum.start()).error).max() for h in sizes]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(kind().order, abs=0.8), errors


@methods
def test_order_with_rigid_bodies_loads_and_an_input(kind):
    system, drive = driven_model().assemble(), {"motor": lambda t: np.sin(5 * t)}
    fine = ph.simulate(system, ph.Composition(order=8), 0.01, 0.1, inputs=drive)
    runs = [ph.simulate(system, kind(), 0.1 / n, 0.1, inputs=drive) for n in ((4, 8) if kind is ph.MDOP5 else (1, 2))]
    errors = [max(np.abs(run.q[-1] - fine.q[-1]).max(), np.abs(run.v[-1] - fine.v[-1]).max()) for run in runs]
    assert np.log2(errors[0] / errors[1]) > kind().order - 0.6, errors
    work = sum(runs[1].port(name).work[-1] for name in ("wind", "stir", "pull", "motor"))
    assert runs[1].energy[-1] - runs[1].energy[0] == pytest.approx(work, abs=1e-5)


@methods
def test_projection_is_weighted_by_mass(kind):
    """Two free masses on a rod: what moves them onto it is along M^-1 G^T and leaves the centre of mass alone."""
    model = ph.Model("dumbbell")
    model.point_mass("light", 1.0, position=(1, 0, 0), velocity=(0.5, 3, 0))
    model.point_mass("heavy", 7.0, position=(0, 0, 0), velocity=(0.5, 0, 0))
    model.distance("rod", "light", "heavy", point_a=(1, 0, 0), point_b=(0, 0, 0))
    drifting, run = (ph.simulate(model, kind(form), 0.25, 2.0) for form in ("index 1", "projection"))
    assert drifting.position_error[-1] > 1e-8
    assert max(run.position_error.max(), run.velocity_error.max()) < 1e-13
    centre = (run["light"].position + 7 * run["heavy"].position) / 8
    assert centre - centre[0] == pytest.approx(np.outer(run.t, (0.5, 3 / 8, 0)), abs=1e-14)
    assert run["light"].velocity + 7 * run["heavy"].velocity == pytest.approx(np.tile([4.0, 3, 0], (9, 1)), abs=1e-13)


def test_lagrangians_with_constraints_that_depend_on_time_stay_on_them():
    system = car_axis.model()
    run = ph.simulate(system, ph.MDOP5(), 0.01, 1.0)
    gaps = [np.abs(system.terms.g(t, x[:6])).max() for t, x in zip(run.t.tolist(), run.x, strict=True)]
    rates = [
        system.terms.G(t, x[:6]) @ x[6:12] + system.terms.g_t(t, x[:6])
        for t, x in zip(run.t.tolist(), run.x, strict=True)
    ]
    assert max(gaps) < 1e-14
    assert np.abs(rates).max() < 1e-14


def test_a_lagrangian_with_damping_and_input_against_scipy():
    q, v = sp.symbols("q v", real=True)
    L = (1 + q**2) * v**2 / 2 - q**4 / 4
    system = ph.Lagrangian(L, [q], [v], dissipation=v**2 / 10, inputs={"push": [1]}, initial=([1.0], [0.0]))
    run = ph.simulate(system, ph.DOP853(), ph.Adaptive(1e-11, 1e-12), 5.0, inputs={"push": lambda t: np.sin(t)})

    def rate(t, x):
        return [x[1], (np.sin(t) - x[0] ** 3 - x[1] / 5 - x[0] * x[1] ** 2) / (1 + x[0] ** 2)]

    exact = solve_ivp(rate, (0, 5), [1.0, 0.0], method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    assert run.x[-1] == pytest.approx(exact, abs=1e-10)


@methods
def test_tolerances_are_met_on_accelerations_too(kind):
    model = ph.Model("pendulum", gravity=(0, 0, -9.81))
    model.point_mass("bob", 1.0, position=(-1, 0, 0))
    model.distance("rod", model.ground, "bob", point_a=(0, 0, 0), point_b=(-1, 0, 0))
    for form in FORMS:
        for rtol in (1e-4, 1e-8):
            run = ph.simulate(model, kind(form), ph.Adaptive(rtol, 1e-3 * rtol), 1.0)
            error = np.abs(run["bob"].position[-1, [0, 2]] - (0.9862917511318753, -0.1650108531255412)).max()
            assert 1e-3 * rtol < error < 10 * rtol, (form, rtol, error / rtol)


@methods
def test_options_and_systems_that_do_not_fit_are_refused(kind):
    with pytest.raises(ph.PorthosError, match="found no form 'index 3'"):
        kind("index 3")
    with pytest.raises(ph.PorthosError, match="a rate alpha > 0, found 0"):
        kind("Baumgarte", alpha=0)
    with pytest.raises(ph.PorthosError, match="mechanisms and Lagrangians, and 'Duffing' is neither"):
        ph.simulate(duffing(), kind(), 0.1, 1.0)
