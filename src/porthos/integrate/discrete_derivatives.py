"""Discrete derivatives: D f . (x1 - x0) = f(x1) - f(x0) exactly, D f = f'((x0 + x1)/2) + O(|x1 - x0|^2).

Gonzalez (26) of 003, the mean value along the segment, and Itoh-Abe, which takes one coordinate after the other. All of
them are symmetric in x0 and x1. f has r components, its derivative shape (r, n); `active` (r, n) is 1 where a component
depends on a coordinate: the others are cyclic, and a correction along them would change their momenta.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from porthos.kernels.livens_choices import NODES, NOISE, WEIGHTS
from porthos.notation import Array

Value = Callable[[Array], Array]


def gonzalez(f: Value, slope: Value, x0: Array, x1: Array, active: Array) -> Array:
    """f'(xm) + (f(x1) - f(x0) - f'(xm).d)/|d|^2 d, where what is left to correct is more than round-off."""
    D, d = slope((x0 + x1) / 2), (x1 - x0) * active
    low, high = f(x0), f(x1)
    missing = high - low - np.sum(D * d, axis=1)
    size = np.sum(d * d, axis=1)
    needed = (np.abs(missing) > NOISE * (np.abs(low) + np.abs(high))) & (size > 0.0)
    return D + np.divide(missing, size, out=np.zeros_like(size), where=needed)[:, None] * d


def mean_value(f: Value, slope: Value, x0: Array, x1: Array, active: Array) -> Array:
    """The mean of f' along the segment, by a Gauss formula that is exact for polynomials of degree 12."""
    del f, active
    means = [b * slope(x0 + c * (x1 - x0)) for c, b in zip(NODES, WEIGHTS, strict=True)]
    return np.sum(means, axis=0)


def itoh_abe(f: Value, slope: Value, x0: Array, x1: Array, active: Array) -> Array:
    """Differences of f as one coordinate after the other moves, from the first and from the last: the mean of both."""
    del active
    order = range(x0.size)
    return (_differences(f, slope, x0, x1, order) + _differences(f, slope, x0, x1, order[::-1])) / 2


def _differences(f: Value, slope: Value, x0: Array, x1: Array, order: range) -> Array:
    """One order of coordinates; f' where a difference is round-off."""
    x, columns = x0.copy(), {}
    low = f(x)
    for i in order:
        x[i] = (x0[i] + x1[i]) / 2
        middle, d = slope(x)[:, i], x1[i] - x0[i]
        x[i] = x1[i]
        high = f(x)
        known = np.abs(high - low - middle * d) > NOISE * (np.abs(low) + np.abs(high))
        columns[i] = np.divide(high - low, d, out=middle.copy(), where=known & (d != 0.0))
        low = high
    return np.array([columns[i] for i in sorted(order)]).T
