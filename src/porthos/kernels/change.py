"""How large an update of Newton's method is: max_ij p_j |d_ij| / max(p_j |x_j|, p_j |w_1j|, ..., p_j |w_sj|, least)."""

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
def relative_change(x: Array, w: Array, d: Array, weight: Array, negligible: float, scale: Array) -> float:
    """The largest |d_ij| beside the values x (n,) and w (s n,) that it changes, with weights (n,); NaN if one is NaN.

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
        scale[j] *= weight[j]
        top = max(top, scale[j])
    for e in range(d.size):
        size = weight[e % n] * abs(d[e]) / max(scale[e % n], negligible * top)
        if not size <= result:
            if np.isnan(size):
                return np.nan
            result = size
    return result
