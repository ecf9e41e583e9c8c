"""Vectors of three numbers as tuples: they live in registers, so kernels with them allocate nothing."""

from __future__ import annotations

from porthos.kernels.blocks import OFFSET
from porthos.kernels.compile import inner
from porthos.notation import Array

Triple = tuple[float, float, float]


@inner
def cross3(a: Triple, b: Triple) -> Triple:
    """a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inner
def dot3(a: Triple, b: Triple) -> float:
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inner
def combine3(f: float, a: Triple, g: float, b: Triple) -> Triple:
    """f a + g b."""
    return f * a[0] + g * b[0], f * a[1] + g * b[1], f * a[2] + g * b[2]


@inner
def triple(a: Array) -> Triple:
    """A vector of three numbers."""
    return a[0], a[1], a[2]


@inner
def part3(a: Array, at: int) -> Triple:
    """Three numbers of a vector, from `at` on."""
    at = at & OFFSET
    return a[at], a[at + 1], a[at + 2]


@inner
def row3(a: Array, i: int) -> Triple:
    """Row i of an array (R, 3)."""
    i = i & OFFSET
    return a[i, 0], a[i, 1], a[i, 2]


@inner
def row33(a: Array, i: int, j: int) -> Triple:
    """Row (i, j) of an array (R, S, 3)."""
    i, j = i & OFFSET, j & OFFSET
    return a[i, j, 0], a[i, j, 1], a[i, j, 2]


@inner
def axis3(c: int) -> Triple:
    """The unit vector e_c."""
    return 1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0
