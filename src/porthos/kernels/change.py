"""How large an update of Newton's method is: max_ij |d_ij| / max(|x_j|, |w_1j|, ..., |w_sj|, least)."""

from __future__ import annotations

import numpy as np

from porthos.kernels.compile import loop
from porthos.notation import Array


@loop
def largest(x: Array) -> float:
    """max |x_i|; zero of none, and NaN if one is."""
    result = 0.0
    for i in range(x.size):
        if not abs(x[i]) <= result:
            if np.isnan(x[i]):
                return np.nan
            result = abs(x[i])
    return result


@loop
def relative_change(x: Array, w: Array, d: Array, negligible: float, scale: Array) -> float:
    """The largest |d_ij| beside the values x (n,) and w (s n,) that it changes; NaN if one of them is.

    Values smaller than the part `negligible` of the largest count as if they were as large as that. `scale` (n,) is
    room to work in.
    """
    n, top, result = x.size, 1e-300, 0.0
    for j in range(n):
        scale[j] = abs(x[j])
        for e in range(j, w.size, n):
            if abs(w[e]) > scale[j] or np.isnan(w[e]):
                scale[j] = abs(w[e])
        if np.isnan(scale[j]):
            return np.nan
        top = max(top, scale[j])
    for e in range(d.size):
        size = abs(d[e]) / max(scale[e % n], negligible * top)
        if not size <= result:
            if np.isnan(size):
                return np.nan
            result = size
    return result
