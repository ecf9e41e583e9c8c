"""Force elements with states of their own, connected with a mechanism; `test_elements` has their balances."""

import numpy as np
import pytest
from scipy.linalg import expm

import porthos as ph
from porthos.errors import ModelError

M, K, C, GAIN, DROOP, LAG = 2.0, 200.0, 30.0, 3.0, 0.5, 0.05


def bead(speed=1.5):
    """A bead on a line, with two ports along it."""
    model = ph.Model("bead")
    model.point_mass("bead", M, velocity=(speed, 0, 0))
    model.point_on_line("line", "ground", "bead", (0, 0, 0), (1, 0, 0))
    for name in ("strut", "motor"):
        model.port(name, "bead", kind="force", direction=(1, 0, 0))
    return model.assemble()


def joined():
    """The bead between a Maxwell element and an actuator."""
    strut, motor = ph.Maxwell("spring", K, C), ph.FirstOrderActuator("drive", GAIN, DROOP, LAG, force=0.2)
    through = [ph.Feedback("strut", "spring: rate"), ph.Feedback("motor", "drive: rate")]
    return ph.interconnect(bead(), strut, motor, through=through, name="whole")


def test_bead_elongation_and_force_follow_their_linear_equations():
    """v' = (f - k e)/m, e' = v - k e/c, T f' = gain u - f - droop v with a constant command."""
    A = np.array([[0, -K / M, 1 / M], [1, -K / C, 0], [-DROOP / LAG, 0, -1 / LAG]])
    b, x0, t = np.array([0, 0, GAIN * 0.7 / LAG]), np.array([1.5, 0.0, 0.2]), 0.3
    steady = -np.linalg.solve(A, b)
    exact = steady + expm(A * t) @ (x0 - steady)
    run = ph.simulate(joined(), ph.Gauss(3), 0.01, t, inputs={"command": 0.7})
    flux = LAG * DROOP / GAIN**2 / (DROOP / GAIN)  # of a newton
    found = [run["bead: v of 'bead'"][-1, 0], run["spring: elongation"][-1], run["drive: flux"][-1] / flux]
    assert np.array(found).ravel() == pytest.approx(exact, abs=1e-9)


def test_numbers_that_make_no_element_are_refused():
    with pytest.raises(ModelError, match="strut: damping: expected a positive number"):
        ph.Maxwell("strut", 1.0, 0.0)
    with pytest.raises(ModelError, match="motor: droop: expected a positive number"):
        ph.FirstOrderActuator("motor", 1.0, -1.0, 0.1)
