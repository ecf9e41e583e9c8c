"""Arithmetic in model files, such as 3*sin(2*pi*t): parsed into functions of our own, nothing is ever executed.

Python's parser reads the text; only numbers, the names below, + - * / **, comparisons, `a if c else b` and calls of the
functions below are accepted.
"""

from __future__ import annotations

import ast
import math
import operator
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from porthos.errors import ModelError, nearest
from porthos.model.derivatives import slope

TIME = "t"
CONSTANTS: dict[str, float] = {"pi": math.pi, "e": math.e}
FUNCTIONS: dict[str, Callable[..., float]] = {
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos, "atan": math.atan,
    "atan2": math.atan2, "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh, "exp": math.exp, "log": math.log,
    "sqrt": math.sqrt, "abs": abs, "min": min, "max": max, "floor": math.floor, "ceil": math.ceil,
    "radians": math.radians, "degrees": math.degrees,
}  # fmt: skip
TWO_ARGUMENTS = ("atan2",)
MANY_ARGUMENTS = ("min", "max")
OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: math.pow,  # not **, which answers (-1)**0.5 with a complex number
    ast.UAdd: operator.pos, ast.USub: operator.neg,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
LONGEST = 1000  # characters
DEEPEST = 200  # levels of nesting
RATES_DEEPEST = 4 * DEEPEST  # of derivatives, which are longer

Formula: TypeAlias = Callable[[float], float]


def formula(text: str, variable: str = TIME) -> Formula:
    """The function, of time t or another variable, that an expression is, or a ModelError that says what is wrong."""
    return _built(_parsed(text), text, DEEPEST, variable)


def rates(text: str, variable: str = TIME) -> tuple[Formula, Formula]:
    """The first and the second derivative of the function, of time or of another variable, that an expression is."""
    first = slope(_parsed(text), variable)
    second = slope(first, variable)
    return _built(first, text, RATES_DEEPEST, variable), _built(second, text, RATES_DEEPEST, variable)


def parts(text: str, names: Sequence[str]) -> tuple[dict[str, str], list[ast.expr]]:
    """Terms of a sum that have one variable, by variable, constants with the first; and those that have several."""
    found: dict[str, list[str]] = {}
    constants: list[str] = []
    several: list[ast.expr] = []
    for sign, term in _terms(_parsed(text), "+"):
        used = sorted({node.id for node in ast.walk(term) if isinstance(node, ast.Name)} & set(names))
        if len(used) > 1:
            several.append(term if sign == "+" else ast.UnaryOp(ast.USub(), term))
        elif used:
            found.setdefault(used[0], []).append(f"{sign} ({ast.unparse(term)})")
        else:
            _built(term, text, DEEPEST, names[0])
            constants.append(f"{sign} ({ast.unparse(term)})")
    if constants and (found or several):
        found.setdefault(min(found, default=names[0]), []).extend(constants)
    return {name: " ".join(terms).removeprefix("+ ") for name, terms in sorted(found.items())}, several


def _terms(node: ast.expr, sign: str) -> list[tuple[str, ast.expr]]:
    """The terms of a sum, with their signs."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        other = sign if isinstance(node.op, ast.Add) else "-" if sign == "+" else "+"
        return _terms(node.left, sign) + _terms(node.right, other)
    return [(sign, node)]


def number(text: str) -> float:
    """The value of an expression without t, such as pi/2."""
    tree = _parsed(text)
    if any(isinstance(node, ast.Name) and node.id == TIME for node in ast.walk(tree)):
        raise ModelError(f"expected a number, found {text!r}, which changes with time t.")
    value = _built(tree, text, DEEPEST)
    try:
        return float(value(0.0))
    except (ArithmeticError, ValueError) as error:
        raise ModelError(f"expected a number, found {text!r}, which has no value: {error}.") from error


def _parsed(text: str) -> ast.expr:
    if not isinstance(text, str):
        raise ModelError(f"expected a text such as '3*sin(2*pi*t)', found {text!r}.")
    if len(text) > LONGEST:
        raise ModelError(f"expected an expression of at most {LONGEST} characters, found one of {len(text)}.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Python finds odd, such as 1(2), is refused below
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ModelError(
            f"expected a number or an expression such as 3*sin(2*pi*t), found {text[:60]!r}, which is neither."
        ) from error


def _built(node: ast.expr, text: str, depth: int, variable: str = TIME) -> Formula:
    """The function of one node of the tree, made of those of the nodes below it."""
    if depth == 0:
        raise ModelError(f"expected an expression nested at most {DEEPEST} levels deep, found {text[:60]!r}...")
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return _constant(value, text)
        case ast.Name(id=name):
            return _named(name, text, variable)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
            return _applied(OPERATORS[type(op)], [_built(operand, text, depth - 1, variable)])
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return _applied(OPERATORS[type(op)], [_built(side, text, depth - 1, variable) for side in (left, right)])
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in OPERATORS:
            return _applied(OPERATORS[type(op)], [_built(side, text, depth - 1, variable) for side in (left, right)])
        case ast.IfExp(test=test, body=body, orelse=orelse):
            chosen, yes, no = (_built(part, text, depth - 1, variable) for part in (test, body, orelse))
            return lambda t: yes(t) if chosen(t) else no(t)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            return _applied(_function(name, len(args), text), [_built(arg, text, depth - 1, variable) for arg in args])
    raise ModelError(
        f"expected numbers, {variable}, + - * / ** and functions such as sin, found {ast.unparse(node)!r} in {text!r}; "
        "an expression can do arithmetic and nothing else."
    )


def _constant(value: float, text: str) -> Formula:
    try:
        constant = float(value)
    except OverflowError as error:
        raise ModelError(f"expected a number below 1e308, found a longer one in {text[:60]!r}.") from error
    return lambda t: constant


def _named(name: str, text: str, variable: str) -> Formula:
    if name == variable:
        return lambda t: t
    if name not in CONSTANTS:
        called = f" {name} is a function: give it its argument." if name in FUNCTIONS else ""
        raise ModelError(
            f"expected a number or an expression, found the unknown name '{name}' in {text!r}.{called} "
            f"{nearest(name, [variable, *CONSTANTS, *FUNCTIONS])}"
        )
    return _constant(CONSTANTS[name], text)


def _function(name: str, given: int, text: str) -> Callable[..., float]:
    if name not in FUNCTIONS:
        raise ModelError(f"found no function '{name}', used in {text!r}. {nearest(name, FUNCTIONS)}")
    expected = 2 if name in (*TWO_ARGUMENTS, *MANY_ARGUMENTS) else 1
    if given != expected and not (name in MANY_ARGUMENTS and given > expected):
        more = " or more" if name in MANY_ARGUMENTS else ""
        raise ModelError(f"'{name}' takes {expected}{more} argument(s), found {given} in {text!r}.")
    return FUNCTIONS[name]


def _applied(function: Callable[..., float], arguments: list[Formula]) -> Formula:
    match arguments:
        case [only]:
            return lambda t: function(only(t))
        case [left, right]:
            return lambda t: function(left(t), right(t))
    return lambda t: function(*(argument(t) for argument in arguments))
