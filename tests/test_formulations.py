"""All formulations of a mechanism with steps of any size: Newton's method ends, with the motion."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from two_rods import double_pendulum, marched

import porthos as ph
from porthos.notation import Array

FORMS = ("index 3", "index 2", "GGL", "index 1", "Baumgarte, index 1", "Baumgarte, index 2")
SIZES, STEPS = (1e-2, 5e-3, 1e-3, 1e-4), 20
SCHEMES = ((ph.RadauIIA(2), 1), (ph.RadauIIA(3), 1), (ph.LobattoIIIC(3), 1), (ph.BDF(2), 300))  # error of q over h^3
WORST = 25  # error of v over h^2


def pendulum() -> ph.MechanicalSystem:
    """A01 of REFERENCES at rest, with multipliers and a velocity that begin with zero."""
    model = ph.Model("pendulum", gravity=(0, 0, -9.81))
    model.point_mass("bob", 1.0, position=(-1, 0, 0))
    model.distance("rod", model.ground, "bob", point_a=(0, 0, 0), point_b=(-1, 0, 0))
    return model.assemble()


@cache
def in_the_angle(t: float) -> Array:
    """(q, v) of the pendulum by SciPy, from a'' = 9.81 cos a."""
    run = solve_ivp(lambda t, y: (y[1], 9.81 * np.cos(y[0])), (0, t), (0, 0), method="DOP853", rtol=1e-13, atol=1e-16)
    a, rate = run.y[:, -1]
    return np.array([-np.cos(a), 0, -np.sin(a), rate * np.sin(a), 0, -rate * np.cos(a)])


@cache
def of_high_order(t: float) -> Array:
    """(q, v) of the double pendulum by Radau IIA of order 9 on (24)."""
    return marched(double_pendulum(), ph.RadauIIA(5), 40, t).x[-1, :12]


CASES = [(pendulum, in_the_angle, form) for form in FORMS]
CASES += [(double_pendulum, of_high_order, form) for form in FORMS[:3]]


@pytest.mark.parametrize(("scheme", "worst"), SCHEMES, ids=["Radau 3", "Radau 5", "Lobatto 4", "BDF 2"])
@pytest.mark.parametrize(
    ("make", "exact", "form"), CASES, ids=[f"{make.__name__}-{form}" for make, _, form in CASES]
)  # fmt: skip
def test_small_steps_end_with_the_motion(make, exact, form, scheme, worst):
    """On position level the round-off of q is eps/h in v and eps/h^2 in lambda, which no iteration makes smaller."""
    system = make()
    n = system.n
    for h in SIZES:
        run = marched(system.formulation(form), scheme, STEPS, STEPS * h)
        assert run.status is ph.Status.OK, (h, run.message)
        gap = np.abs(run.x[-1, : 2 * n] - exact(STEPS * h))
        assert gap[:n].max() < worst * h**3
        assert gap[n:].max() < WORST * h**2


@pytest.mark.parametrize("form", FORMS)
def test_adaptive_runs_of_all_formulations_meet_the_tolerance(form):
    """Positions and velocities at t = 1; on index 3 the latter do not follow the order by which steps are chosen."""
    system = pendulum().formulation(form)
    exact = in_the_angle(1.0)
    assert exact[[0, 2]] == pytest.approx((0.9862917511318753, -0.1650108531255412), abs=1e-11)
    for rtol in (1e-3, 1e-5, 1e-7):
        run = ph.simulate(system, ph.RadauIIA(3), ph.Adaptive(rtol, atol=1e-3 * rtol), 1.0)
        states = np.hstack([run.q, run.v]) if form == "index 2" else run.x[:, :6]
        error = np.abs(states[-1] - exact) / (rtol * np.abs(states).max())
        assert error[:3].max() < 1
        assert 1e-3 < error.max() < 5
