"""Forces F(x) in pieces: polynomials F = sum_k c_k (x - x_m)^k between knots, and their means over a step.

(U(x1) - U(x0))/(x1 - x0) = sum_k c_k/(k + 1) sum_i y0^i y1^(k-i),  y = x - x_m,  without a difference in one piece.
"""

from __future__ import annotations

from porthos.kernels.compile import inner
from porthos.kernels.tables import BEGIN, ENERGY, FACTORS, MIDDLE
from porthos.notation import Array


@inner
def piece_of(piece: Array, first: int, last: int, x: float) -> int:
    """The piece in which x is; the first and the last one go on without end."""
    k, highest = first, last - 1
    while k < highest:  # halve the range
        middle = (k + highest + 1) // 2
        if x > piece[middle, BEGIN]:
            k = middle
        else:
            highest = middle - 1
    return k


@inner
def mean_in_piece(piece: Array, k: int, terms: int, x0: float, x1: float) -> tuple[float, float]:
    """The mean of the force of piece k between x0 and x1, and its derivative with respect to x1."""
    y0, y1 = x0 - piece[k, MIDDLE], x1 - piece[k, MIDDLE]
    force, slope = piece[k, FACTORS], 0.0
    power, sums, rate = 1.0, 1.0, 0.0  # y0^i, sum_j y0^j y1^(i-j) and its derivative
    for i in range(1, terms):
        power *= y0
        rate = sums + y1 * rate
        sums = y1 * sums + power
        c = piece[k, FACTORS + i] / (i + 1)
        force += c * sums
        slope += c * rate
    return force, slope


@inner
def mean_over_pieces(piece: Array, first: int, last: int, terms: int, x0: float, x1: float) -> tuple[float, float]:
    """The mean of the force between x0 and x1, piece by piece, and its derivative with respect to x1."""
    k0, k1 = piece_of(piece, first, last, x0), piece_of(piece, first, last, x1)
    if k0 == k1:
        return mean_in_piece(piece, k0, terms, x0, x1)
    step, total, x, k = 1 if k1 > k0 else -1, 0.0, x0, k0
    while k != k1:
        edge = piece[k + 1 if step > 0 else k, BEGIN]
        total += mean_in_piece(piece, k, terms, x, edge)[0] * (edge - x)
        x, k = edge, k + step
    total += mean_in_piece(piece, k1, terms, x, x1)[0] * (x1 - x)
    mean = total / (x1 - x0)
    return mean, (mean_in_piece(piece, k1, terms, x1, x1)[0] - mean) / (x1 - x0)


@inner
def energy_of_pieces(piece: Array, first: int, last: int, terms: int, x: float) -> float:
    """U(x), from what it is at the middle of the piece."""
    k = piece_of(piece, first, last, x)
    middle = piece[k, MIDDLE]
    return piece[k, ENERGY] + mean_in_piece(piece, k, terms, middle, x)[0] * (x - middle)


@inner
def beyond_pieces(piece: Array, first: int, last: int, x: float) -> bool:
    """Whether x is in the first or the last piece, which a potential has for what is beyond its range."""
    return x < piece[first + 1, BEGIN] or x > piece[last - 1, BEGIN]
