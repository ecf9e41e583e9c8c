"""Sums of products at places that are known: out_t = sum over all e with target_e = t of a_left(e) b_right(e)."""

from __future__ import annotations

from porthos.kernels.compile import loop
from porthos.notation import Array, IntArray


@loop
def add_products(a: Array, left: IntArray, b: Array, right: IntArray, target: IntArray, out: Array) -> None:
    """Add all products to their sums, in order."""
    for e in range(target.size):
        out[target[e]] += a[left[e]] * b[right[e]]
