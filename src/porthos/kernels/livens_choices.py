"""Choices and constants of discrete derivatives, which compiled and plain code share."""

from __future__ import annotations

import numpy as np

GONZALEZ, MEAN_VALUE, ITOH_ABE = 0, 1, 2
NOISE = 2e-15  # a difference below this part of the values is round-off, and no correction can improve it
NODES, WEIGHTS = (0.5 * np.polynomial.legendre.leggauss(6)[0] + 0.5, 0.5 * np.polynomial.legendre.leggauss(6)[1])
