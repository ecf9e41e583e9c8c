"""Potentials of several coordinates as sums of functions of one direction each, exactly.

A homogeneous polynomial of degree d is a sum of powers, P(x) = sum_k c_k (n_k . x)^d, for enough directions n_k: d + 1
in a plane, (d + 1)(d + 2)/2 in space. So rows n_k . x that are linear in the coordinates carry it, each with a law of
its own, and the energy of a step is exact as for any other law.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from porthos.errors import ModelError
from porthos.model.expressions import number
from porthos.notation import Array

Exponents = tuple[int, int, int]
Polynomial = dict[Exponents, float]

AXES = ("x", "y", "z")
HIGHEST = {2: 8, 3: 6}  # degrees of terms in a plane, and in space: 10 and 28 directions
CONSTANT: Exponents = (0, 0, 0)
UNITS: tuple[Exponents, ...] = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
NOTHING = 1e-14  # of the largest factor, below which one is round-off
PARALLEL = 1e-13  # sine of the angle between two directions that are one


@dataclass(frozen=True, eq=False)
class Ridge:
    """A function of s = n . (x - at), as an expression."""

    direction: Array  # n, of length one
    text: str


def ridges(node: ast.expr, at: Array) -> list[Ridge]:
    """The functions of one direction each whose sum is a term in several coordinates, or why there are none."""
    line, whole = _direction(node, at), _expanded(node, at)
    if line is not None:
        return [Ridge(line, ast.unparse(_Along(line, at).visit(ast.parse(ast.unparse(node), mode="eval").body)))]
    if whole is not None:
        return list(_of_polynomial(ast.unparse(node), whole))
    raise ModelError(
        f"expected a sum of terms in one of x, y, z each, of polynomials in several, and of functions of one linear "
        f"combination such as exp(x - 2*y), found {ast.unparse(node)!r}. Use a potential of a distance for a centre of "
        "force, or a Lagrangian for other functions."
    )


def _expanded(node: ast.expr, at: Array) -> Polynomial | None:
    """The polynomial in x - at that a node is; None if it is none."""
    match node:
        case ast.Name(id=name) if name in AXES:
            k = AXES.index(name)
            return {CONSTANT: float(at[k]), UNITS[k]: 1.0}
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=operand):
            inner = _expanded(operand, at)
            return None if inner is None else _scaled(inner, -1.0 if isinstance(op, ast.USub) else 1.0)
        case ast.BinOp(left=left, op=ast.Pow(), right=right) if uses(left):
            return _power(_expanded(left, at), right)
        case ast.BinOp(left=left, op=op, right=right) if uses(node):
            a, b = _expanded(left, at), _expanded(right, at)
            return None if a is None or b is None else _joined(a, op, b)
    return None if uses(node) else {CONSTANT: number(ast.unparse(node))}


def uses(node: ast.expr) -> list[str]:
    """The coordinates in an expression."""
    return sorted({part.id for part in ast.walk(node) if isinstance(part, ast.Name)} & set(AXES))


def _joined(a: Polynomial, op: ast.operator, b: Polynomial) -> Polynomial | None:
    match op:
        case ast.Add():
            return _sum(a, b)
        case ast.Sub():
            return _sum(a, _scaled(b, -1.0))
        case ast.Mult():
            return _product(a, b)
        case ast.Div() if set(b) == {CONSTANT} and b[CONSTANT] != 0.0:
            return _scaled(a, 1.0 / b[CONSTANT])
    return None


def _power(a: Polynomial | None, exponent: ast.expr) -> Polynomial | None:
    n = math.nan if uses(exponent) else number(ast.unparse(exponent))
    if a is None or n not in range(max(HIGHEST.values()) + 1):
        return None
    result: Polynomial = {CONSTANT: 1.0}
    for _ in range(int(n)):
        result = _product(result, a)
    return result


def _sum(a: Polynomial, b: Polynomial) -> Polynomial:
    return {key: a.get(key, 0.0) + b.get(key, 0.0) for key in {**a, **b}}


def _scaled(a: Polynomial, factor: float) -> Polynomial:
    return {key: factor * value for key, value in a.items()}


def _product(a: Polynomial, b: Polynomial) -> Polynomial:
    result: Polynomial = {}
    for (i, p), (j, r) in product(a.items(), b.items()):
        key = (i[0] + j[0], i[1] + j[1], i[2] + j[2])
        result[key] = result.get(key, 0.0) + p * r
    return result


def _of_polynomial(text: str, whole: Polynomial) -> Iterator[Ridge]:
    """A polynomial as functions of directions in the plane, or the space, of its coordinates."""
    known = [k for k in range(3) if any(key[k] for key in whole)]
    highest = max(sum(key) for key in whole)
    if highest > HIGHEST.get(len(known), math.inf):
        raise ModelError(
            f"expected a polynomial of degree {HIGHEST[len(known)]} at most in {len(known)} coordinates, found "
            f"{text!r} of degree {highest}. Use terms in one coordinate each, a potential of a distance, or a "
            "Lagrangian."
        )
    if not np.isfinite(list(whole.values())).all():
        raise ModelError(f"expected finite factors, found {text!r}, of which one is too large.")
    directions = _directions(known or [0], highest)
    factors = np.zeros((highest + 1, len(directions)))
    factors[0, 0] = whole.get(CONSTANT, 0.0)
    for d in range(1, highest + 1):
        keys = [(i, j, d - i - j) for i in range(d + 1) for j in range(d + 1 - i)]
        powers = np.array([_multinomial(key) * np.prod(directions ** np.array(key), axis=1) for key in keys])
        factors[d] = np.linalg.lstsq(powers, np.array([whole.get(key, 0.0) for key in keys]), rcond=None)[0]
    factors[np.abs(factors) <= NOTHING * np.abs(factors).max(axis=1, keepdims=True)] = 0.0
    for n, factor in zip(directions, factors.T, strict=True):
        if factor.any() or np.abs(n).max() == 1.0:  # coordinates, also to see that the point leaves the box
            yield Ridge(n, _nested(factor))


def _multinomial(key: Exponents) -> float:
    return math.factorial(sum(key)) / math.prod(map(math.factorial, key))


def _directions(known: list[int], degree: int) -> Array:
    """Enough directions for polynomials of a degree, the axes among them, the first one in front."""
    if len(known) == 1:
        return np.eye(3)[known]
    if len(known) == 2:
        count = degree + 1 + (degree + 1) % 2
        turn = np.pi * np.arange(count) / count
        result = np.zeros((count, 3))
        result[:, known[0]], result[:, known[-1]] = np.cos(turn), np.sin(turn)
        result[count // 2, known[0]] = 0.0
        return result
    count = (degree + 1) * (degree + 2) // 2
    k = np.arange(count - 3) + 0.5
    height, turn = k / (count - 3), np.pi * (1 + np.sqrt(5)) * k  # spread evenly over half a sphere
    flat = np.sqrt(1.0 - height**2)
    return np.concatenate([np.eye(3), np.column_stack([np.cos(turn) * flat, np.sin(turn) * flat, height])])


def _nested(factors: Array) -> str:
    """A polynomial in s by Horner's rule."""
    text = repr(float(factors[-1]))
    for factor in factors[-2::-1].tolist():
        text = f"{factor!r} + s*({text})"
    return text


def _direction(node: ast.expr, at: Array) -> Array | None:
    """The one direction along which an expression changes: that of all its linear parts; None if there are more."""
    found = np.zeros(3)
    for part in _linear(node, at):
        n = np.array([part.get(unit, 0.0) for unit in UNITS])
        size = np.abs(n).max()
        if not np.isfinite(n).all():
            return None
        if size == 0.0:
            continue
        n = n / size / np.linalg.norm(n / size)
        if found.any() and np.linalg.norm(np.cross(found, n)) > PARALLEL:
            return None
        found = found if found.any() else n
    return found if found.any() else None


def _linear(node: ast.AST, at: Array) -> Iterator[Polynomial]:
    """The largest linear parts of an expression that have coordinates."""
    inner = _expanded(node, at) if isinstance(node, ast.expr) and uses(node) else None
    if inner is not None and all(sum(key) <= 1 or value == 0.0 for key, value in inner.items()):
        yield inner
        return
    for child in ast.iter_child_nodes(node):
        yield from _linear(child, at)


class _Along(ast.NodeTransformer):
    """Writes s in the place of linear combinations of coordinates."""

    def __init__(self, direction: Array, at: Array) -> None:
        self.direction, self.at = direction, at

    def visit(self, node: ast.AST) -> ast.AST:
        """The node with its linear parts as a + b s."""
        if isinstance(node, ast.expr) and uses(node):
            inner = _expanded(node, self.at)
            if inner is not None and all(sum(key) <= 1 or value == 0.0 for key, value in inner.items()):
                slope = sum(inner.get(unit, 0.0) * float(n) for unit, n in zip(UNITS, self.direction, strict=True))
                return ast.parse(f"({inner.get(CONSTANT, 0.0)!r} + {slope!r}*s)", mode="eval").body
        return super().generic_visit(node)
