"""A force F(s) = dV/ds in pieces: polynomials on intervals that are halved until only rounding is left.

F = sum_k c_k (x - x_m)^k with x = s - least: the Chebyshev interpolant of F about the middle x_m, where V is kept too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial import chebyshev, polynomial

from porthos.errors import ModelError
from porthos.notation import Array

TERMS = 10  # of the polynomial of a piece
FINE = 2e-14  # of the largest force of a piece: how far its polynomial may be off
NOISY = 1e-12  # of the largest force in the range: the same where it is rounding, which halving does not lessen
COARSE = 61  # pieces to begin with; a prime, so that what repeats itself is not met at equal phases
HALVINGS = 40  # of each of them at most: down to round-off, where a force has a kink or a jump
LESS = 0.125  # part of an error that is left of it after halving, if it is not rounding: much less
MOST_PIECES = 20_000
ROUNDING = 16 * np.finfo(np.float64).eps

_NODES = np.cos(np.pi * (np.arange(TERMS) + 0.5) / TERMS)
_PLACES = np.array([-1.0, -0.62, 0.07, 0.66, 1.0])  # of a piece from -1 to 1, where it is compared with the force
_CHEBYSHEV = 2.0 / TERMS * chebyshev.chebvander(_NODES, TERMS - 1).T  # from values at the nodes to factors of T_k
_CHEBYSHEV[0] *= 0.5
_POWERS = np.array(
    [np.pad(chebyshev.cheb2poly(row[: k + 1]), (0, TERMS - 1 - k)) for k, row in enumerate(np.eye(TERMS))]
).T
_AT_PLACES = polynomial.polyvander(_PLACES, TERMS - 1)
_MEAN = np.array([1.0 / (k + 1) if k % 2 == 0 else 0.0 for k in range(TERMS)])  # of the powers from -1 to 1

Function = Callable[[float], float]


def fitted(where: str, V: Function, force: Function, least: float, most: float) -> Array:
    """Pieces (begin, middle, V there, factors) of the force of V between two places, and a line at either end."""
    edges = np.linspace(least, most, COARSE + 1)
    largest = max(abs(force(s)) for s in edges.tolist()), max(abs(V(s)) for s in edges.tolist())
    pieces: list[Array] = []
    waiting = [(a, b, HALVINGS, np.inf) for a, b in zip(edges[-2::-1].tolist(), edges[:0:-1].tolist(), strict=True)]
    while waiting:
        a, b, halvings, before = waiting.pop()
        middle, half = 0.5 * (a + b), 0.5 * (b - a)
        factors, error, limit = _fit(V, force, a, b)
        if error > limit and not LESS * before < error < NOISY * largest[0]:
            if halvings > 0:
                waiting += [(middle, b, halvings - 1, error), (a, middle, halvings - 1, error)]
                continue
            factors = _last(where, V, force, a, b, largest)
        scaled = np.zeros(TERMS)
        scaled[: factors.size] = factors / half ** np.arange(factors.size)
        pieces.append(np.array([a - least, middle - least, V(middle), *scaled]))
        if len(pieces) > MOST_PIECES or not np.isfinite(scaled).all():
            raise ModelError(
                f"{where}: energy: expected a smooth expression, found that its derivative needs more than "
                f"{MOST_PIECES} polynomials between {least:g} and {most:g}. Give a shorter range, or a smoother "
                "expression."
            )
    ends = _line(pieces[0], 0.0, V(least)), _line(pieces[-1], most - least, V(most))
    return np.array([ends[0], *pieces, ends[1]])


def _fit(V: Function, force: Function, a: float, b: float) -> tuple[Array, float, float]:
    """Factors of powers of y, -1 <= y <= 1 from a to b, how far they are off F and V, and how far they may be."""
    middle, half = 0.5 * (a + b), 0.5 * (b - a)
    F = np.array([force(s) for s in (middle + half * _NODES).tolist()])
    exact = np.array([force(s) for s in (middle + half * _PLACES).tolist()])
    factors = _POWERS @ (_CHEBYSHEV @ F)  # one matrix would lose three digits
    ends = V(a), V(b)
    missed = abs(ends[1] - ends[0] - 2.0 * half * float(_MEAN @ factors)) - ROUNDING * max(map(abs, ends))
    error = max(float(np.abs(_AT_PLACES @ factors - exact).max()), missed / (2.0 * half))
    return factors, error, FINE * float(np.abs(F).max())


def _last(where: str, V: Function, force: Function, a: float, b: float, largest: tuple[float, float]) -> Array:
    """The line through the ends of an interval of the size of round-off, in which the force may jump, but V may not."""
    ends = force(a), force(b)
    steepest = max(largest[0], *(abs(F) for F in ends))
    if abs(V(b) - V(a)) > ROUNDING * max(largest[1], abs(V(a)), abs(V(b))) + 4.0 * (b - a) * steepest:
        raise ModelError(
            f"{where}: energy: expected a smooth expression, found one that jumps by {V(b) - V(a):.6g} at {a:.6g}, "
            "or loses its digits there. Choose another range, or another expression."
        )
    return np.array([0.5 * (ends[0] + ends[1]), 0.5 * (ends[1] - ends[0])])


def _line(piece: Array, x: float, energy: float) -> Array:
    """The tangent of a piece at x, with which its force goes on: iterations may look there, states may not be there."""
    y, factors = x - piece[1], piece[3:]
    line = np.zeros_like(piece)
    line[:5] = x, x, energy, polynomial.polyval(y, factors), polynomial.polyval(y, polynomial.polyder(factors))
    return line
