"""The half-explicit method HEDOP5: coefficients, orders and what is kept."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from oscillator import Oscillator
from scipy.integrate import RK45
from test_runge_kutta import duffing
from test_schemes import driven_model

import porthos as ph
from gallery.small_mass import path
from porthos.integrate.half_explicit import ROWS


def test_coefficients():
    """Those of SciPy's Dormand-Prince pair; the eighth row sums to c_8 = 19/20."""
    tableau = ph.HEDOP5().tableau
    assert pytest.approx(RK45.A, abs=1e-15) == tableau.A[:6, :5]
    assert tableau.b[:6] == pytest.approx(RK45.B, abs=1e-15)
    assert tableau.c == pytest.approx(np.append(RK45.C, 1.0), abs=1e-15)
    assert sum(map(Fraction, ROWS[-1])) == pytest.approx(Fraction(19, 20), abs=1e-15)


def test_order_with_rigid_bodies_loads_and_an_input():
    system, drive = driven_model().assemble(), {"motor": lambda t: np.sin(5 * t)}
    fine = ph.simulate(system, ph.Composition(order=8), 0.01, 0.1, inputs=drive)
    runs = [ph.simulate(system, ph.HEDOP5(), 0.1 / n, 0.1, inputs=drive) for n in (4, 8)]
    errors = [max(np.abs(run.q[-1] - fine.q[-1]).max(), np.abs(run.v[-1] - fine.v[-1]).max()) for run in runs]
    assert np.log2(errors[0] / errors[1]) > 4.5, errors
    work = sum(runs[1].port(name).work[-1] for name in ("wind", "stir", "pull", "motor"))
    assert runs[1].energy[-1] - runs[1].energy[0] == pytest.approx(work, abs=1e-5)


def test_without_constraints_it_is_dormand_and_prince():
    found = path(ph.HEDOP5(), Oscillator(2.0), 0.1, 1, np.array([1.0, 0.5]))[-1]
    pair = RK45(lambda t, y: [y[1], -4 * y[0]], 0.0, [1.0, 0.5], 1.0, first_step=0.1, rtol=1e-3, atol=1.0)
    pair.step()
    assert pair.t == 0.1
    assert found == pytest.approx(pair.y, abs=1e-15)


def test_message():
    with pytest.raises(ph.PorthosError, match="steps positions and velocities of mechanisms"):
        ph.simulate(duffing(), ph.HEDOP5(), 0.1, 1.0)
