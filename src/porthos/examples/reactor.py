"""A chemical reactor with A <-> B <-> C and a feed, as a pH system whose energy is no polynomial.

c' = -sum_k e_k v_k + feed,   v_k = r_k (c_i/c_i* - c_j/c_j*),   e_k: one of species i becomes one of j
H = sum_i c_i (ln(c_i/c_i*) - 1) + c_i*   (availability, in units of R T),   z_i = ln(c_i/c_i*)
v_k = L_k (z_i - z_j), L_k = r_k times the logarithmic mean of c_i/c_i* and c_j/c_j*:   R = sum_k L_k e_k e_k^T >= 0.

Reactions only lose availability, the feed is a port. With a discrete gradient the balance is exact.
Number: concentrations at t = 1 and 5 from the exponential of the matrix of c' = -A c + feed, which is linear in c.
"""

from __future__ import annotations

import numpy as np

import porthos as ph
from porthos.notation import Array

SCHEME = ph.DiscreteGradient()
SPECIES = ("A", "B", "C")
REST = np.array([0.5, 1.0, 2.0])  # concentrations of chemical equilibrium, mol/l
RATES = {(0, 1): 0.6, (1, 2): 0.3}  # r_k of A <-> B and B <-> C, mol/(l s)
START = np.array([2.0, 0.3, 0.4])
FEED = (0.2, 0.0, 0.0)  # mol/(l s)
SAME = 1e-4  # difference of potentials below which the logarithmic mean is a series


def logarithmic_mean(a: float, b: float) -> float:
    """(e^a - e^b)/(a - b) > 0, e^((a + b)/2) sinh(d)/d with d = (a - b)/2."""
    d = (a - b) / 2
    return float(np.exp((a + b) / 2) * (1 + d * d / 6 if abs(d) < SAME else np.sinh(d) / d))


def dissipation(c: Array) -> Array:
    """R = sum_k L_k e_k e_k^T."""
    z, R = np.log(c / REST), np.zeros((3, 3))
    for (i, j), rate in RATES.items():
        e = np.zeros(3)
        e[i], e[j] = 1.0, -1.0
        R += rate * logarithmic_mean(z[i], z[j]) * np.outer(e, e)
    return R


def model() -> ph.GeneralPHDAE:
    """Concentrations of three species; the port 'feed' adds them, its output are their potentials."""
    return ph.GeneralPHDAE(
        "reactor",
        states=SPECIES,
        ports={"feed": 3},
        H=lambda c: float(np.sum(c * (np.log(c / REST) - 1) + REST)),
        z=lambda c: np.log(c / REST),
        R=dissipation,
        B=np.eye(3),
        initial=START,
    )


def run(step: float = 0.05, end: float = 5.0) -> ph.StateTrajectory:
    """A vessel with much A, which is fed with more of it."""
    return ph.simulate(model(), SCHEME, step=step, end=end, inputs={"feed": FEED})
