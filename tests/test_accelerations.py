"""Both forms after Baumgarte, of index 1 and 2 (002, section 4.2): equations, decay of gaps, orders, drift."""

from __future__ import annotations

import lagrangians as given
import numpy as np
import pytest
from two_rods import double_pendulum

import porthos as ph
from gallery import car_axis

BOTH = ("Baumgarte, index 1", "Baumgarte, index 2")
forms = pytest.mark.parametrize("form", BOTH)


@forms
@pytest.mark.parametrize("make", [double_pendulum, given.crank, given.double_pendulum, car_axis.model])
def test_index_and_derivatives(make, form):
    """The index is that of the name; accelerations are those of the system itself."""
    system = make()
    made = system.formulation(form, alpha=2.0)
    expected = int(form[-1]) if system.m else 0
    assert made.index(t=0.1).index == expected
    rng = np.random.default_rng(3)
    x, rate = made.initial_state() + 0.1 * rng.normal(size=made.dimension), rng.normal(size=made.dimension)
    u = rng.normal(size=made.width)
    found, differences = made.tangent(x, rate, u, 0.1), ph.PHDAE.tangent(made, x, rate, u, 0.1)
    found = found if isinstance(found, np.ndarray) else found.toarray()
    assert np.abs(found - differences).max() < 1e-8 * np.abs(differences).max()
    assert made.y(x, u, 0.1) == pytest.approx(system.y(x, u, 0.1))
    assert made.dissipation(x, u, 0.1) == system.dissipation(x, u, 0.1)


@forms
def test_gaps_decay_as_the_equations_say(form):
    """From a start that misses g by g0: g0 exp(-alpha t), and of index 1 g0 (1 + alpha t) exp(-alpha t)."""
    system, alpha, end = double_pendulum(), 4.0, 0.5
    made = system.formulation(form, alpha=alpha)
    start = made.initial_state()
    start[:6] *= 1.01
    g0 = system.g(start[:6])
    if form == BOTH[0]:  # g' = 0 there
        rate = np.linalg.lstsq(system.G(start[:6]).toarray(), system.G(start[:6]) @ start[6:12], rcond=None)[0]
        start[6:12] -= rate
        expected = g0 * (1 + alpha * end) * np.exp(-alpha * end)
    else:
        miss = system.G(start[:6]) @ start[6:12] + alpha * g0
        start[6:12] -= np.linalg.lstsq(system.G(start[:6]).toarray(), miss, rcond=None)[0]
        expected = g0 * np.exp(-alpha * end)
    run = ph.simulate(made, ph.RadauIIA(4), 0.05, end, start=made.consistent(start))
    assert np.abs(g0).max() > 5e-3
    assert system.g(run.x[-1, :6]) == pytest.approx(expected, abs=1e-8)


def test_drift_of_index_2_and_how_it_is_stopped():
    """Without alpha |g| grows like t (like t^2 on index 1: test_index_one); with it, it stays where it is."""
    model = ph.Model("pendulum", gravity=(0, 0, -9.81))
    model.point_mass("bob", 1.0, position=(np.sin(0.5), 0, -np.cos(0.5)))
    model.distance("rod", model.ground, "bob", point_a=(0, 0, 0), point_b=(np.sin(0.5), 0, -np.cos(0.5)))
    system, gaps = model.assemble(), {}
    for alpha in (0.0, 4.0):
        states = ph.simulate(system.formulation(BOTH[1], alpha=alpha), ph.RadauIIA(3), 0.1, 4.0).x
        size = np.array([abs(system.g(x[:3])[0]) for x in states])
        gaps[alpha] = size[:21].max(), size.max()
    assert np.log2(gaps[0.0][1] / gaps[0.0][0]) == pytest.approx(1.0, abs=0.1), gaps
    assert gaps[4.0][1] == gaps[4.0][0] < gaps[0.0][1] / 2, gaps


def test_messages():
    system = double_pendulum()
    with pytest.raises(ph.PorthosError, match="expected a rate alpha >= 0, found -1"):
        system.formulation("Baumgarte, index 2", alpha=-1)
    with pytest.raises(ph.PorthosError, match=r"formulation 'GGL': found options \{'alpha': 2.0\}"):
        system.formulation("GGL", alpha=2.0)
    with pytest.raises(ph.PorthosError, match="Did you mean 'Baumgarte, index"):
        given.crank().formulation("Baumgarte")
