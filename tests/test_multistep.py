"""BDF of fixed order: orders, contract, inputs, balances and messages."""

from __future__ import annotations

import numpy as np
import pytest
from test_runge_kutta import duffing, duffing_end

import porthos as ph
from gallery import two_masses


@pytest.mark.parametrize("k", range(1, 7))
def test_order_with_everything(k):
    """State-dependent E, time flow, damping and an input, on an ordinary differential equation."""
    errors = []
    for steps in (64, 128) if k < 5 else (32, 64):
        run = ph.simulate(duffing(), ph.BDF(k), 1 / steps, 1.0, inputs={"force": lambda t: np.cos(3 * t)})
        errors.append(np.abs(run.x[-1] - duffing_end()).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(k, abs=0.45), errors


def test_one_step_is_the_formula():
    """3/2 x2 - 2 x1 + 1/2 x0 = h f(x2) for k = 2, on x' = J x; the first step is of Radau IIA."""
    J, h = np.array([[0.0, 1.0], [-1.0, 0.0]]), 0.1
    system = ph.LinearPHDAE("oscillator", J=J, R=np.zeros((2, 2)), Q=np.eye(2), initial=[1.0, 0.0])
    x = ph.simulate(system, ph.BDF(2), h, 3 * h).x
    assert x[1] == pytest.approx(ph.RadauIIA(3).step(system, h, x[0]).x, abs=1e-15)
    for n in (2, 3):
        assert 1.5 * x[n] - 2 * x[n - 1] + 0.5 * x[n - 2] == pytest.approx(h * J @ x[n], abs=1e-14)


def test_balance():
    run = two_masses.driven(ph.BDF(4))
    assert run.supplied[-1] > 10
    assert np.abs(run.power_balance).sum() < 0.1  # to the order of the method


def test_messages():
    with pytest.raises(ph.PorthosError, match="expected 1 <= steps <= 6, found steps = 7"):
        ph.BDF(7)
    with pytest.raises(ph.PorthosError, match="has no adaptive steps"):
        ph.simulate(duffing(), ph.BDF(2), ph.Adaptive(), 1.0)
