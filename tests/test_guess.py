"""What steps start from: extrapolations, with and without what alternates, and when one iteration is enough."""

import numpy as np
import pytest
from numba import njit

import porthos as ph
from benchmarks.models import car, closed_loop, slider_crank
from benchmarks.porthos_adapter import model
from porthos.kernels.guess import GUESSES, KEPT, ORDERS, WEIGHTS, Memory, guess, latest, look_back


@njit
def looked(memory, told):
    look_back(memory, 0, 0, memory.past.shape[2], told, 0, 0)


@njit
def guessed(memory, number, z):
    guess(memory.past, memory.steps[0], 0, number, 0, z.size, z)


def remembered(values, steps):
    """A memory of values (steps, unknowns), of which the last KEPT are kept."""
    past = np.zeros((1, KEPT, values.shape[1]))
    for n in range(max(0, len(values) - KEPT), len(values)):
        past[0, (n + 1) % KEPT] = values[n]
    return Memory(past, np.zeros((1, 2 * GUESSES)), np.array([steps]), np.zeros((1, 2), dtype=np.int64))


@pytest.mark.parametrize("k", range(ORDERS))
def test_polynomials_and_what_alternates_are_continued(k):
    """Order k continues polynomials of degree k; the others those of degree k - 1 and a sequence of changing sign."""
    t = -np.arange(1.0, ORDERS + 1)
    for degree in range(k + 1):
        assert WEIGHTS[k] @ t**degree == pytest.approx(0.0**degree, abs=1e-6)
    for degree in range(k):
        assert WEIGHTS[ORDERS + k] @ t**degree == pytest.approx(0.0**degree, abs=1e-6)
    assert WEIGHTS[ORDERS + k] @ (-1.0) ** t == pytest.approx(1.0)


def test_guesses_are_judged_by_what_they_miss():
    """`look_back` tells the squares of what `guess` missed, wherever the ring of the last steps begins."""
    rng = np.random.default_rng(7)
    for steps in (KEPT + 3, 2 * KEPT, 47):
        values, told = rng.normal(size=(steps, 30)), np.zeros((2, GUESSES))
        memory, before = remembered(values, steps), remembered(values[:-1], steps - 1)
        assert np.array_equal(latest(memory)[0], values[-1])
        looked(memory, told)
        for number in (*range(ORDERS), *range(ORDERS + 1, GUESSES)):
            z = np.zeros(30)
            guessed(before, number, z)
            assert told[0, number] == pytest.approx(((values[-1] - z) ** 2).sum(), rel=1e-9), number


@pytest.mark.parametrize(("make", "most"), [(closed_loop, 1.2), (slider_crank, 1.6), (car, 2.1)])
def test_one_iteration_is_enough_where_it_is_seen_to_be(make, most):
    """Energy and constraints are those of steps that iterate until nothing changes, to round-off."""
    mechanism = make()
    system = model(mechanism).assemble("refuse")
    run = ph.simulate(system, ph.Midpoint(), step=mechanism.h, end=500 * mechanism.h)
    assert run.iterations[20:].mean() < most
    assert np.abs(run.power_balance).max() < 3e-14 * run.kinetic_energy.max()
    assert np.sqrt(np.mean(run.power_balance**2)) < 1e-15 * run.kinetic_energy.max()
    assert np.ptp(run.energy) < 3e-13 * run.kinetic_energy.max()
    assert run.position_error.max() < 3e-14 * np.abs(run.q).max()
