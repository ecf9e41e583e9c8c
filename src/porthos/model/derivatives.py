"""Derivatives of the arithmetic in model files, by the rules of calculus on the tree of an expression."""

from __future__ import annotations

import ast

SLOPES: dict[str, str] = {  # of f(u) with respect to u
    "sin": "cos(u)", "cos": "-sin(u)", "tan": "1 + tan(u)**2", "asin": "1/sqrt(1 - u**2)", "acos": "-1/sqrt(1 - u**2)",
    "atan": "1/(1 + u**2)", "sinh": "cosh(u)", "cosh": "sinh(u)", "tanh": "1 - tanh(u)**2", "exp": "exp(u)",
    "log": "1/u", "sqrt": "0.5/sqrt(u)", "abs": "1 if u > 0 else -1", "floor": "0", "ceil": "0",
    "radians": "pi/180", "degrees": "180/pi",
}  # fmt: skip


def slope(node: ast.expr, name: str) -> ast.expr:
    """The derivative of an expression that `expressions.formula` accepts with respect to a name."""
    if not any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node)):
        return ast.Constant(0)
    match node:
        case ast.Name():
            return ast.Constant(1)
        case ast.UnaryOp(op=op, operand=u):
            return ast.UnaryOp(op, slope(u, name))
        case ast.BinOp(left=u, op=op, right=w):
            return _of_operation(u, op, w, slope(u, name), slope(w, name))
        case ast.IfExp(test=test, body=u, orelse=w):
            return ast.IfExp(test, slope(u, name), slope(w, name))
        case ast.Call(func=ast.Name(id=function), args=args):
            return _of_function(function, args, [slope(u, name) for u in args])
    raise TypeError(f"no rule for {ast.unparse(node)}")


def _of_operation(u: ast.expr, op: ast.operator, w: ast.expr, du: ast.expr, dw: ast.expr) -> ast.expr:
    match op:
        case ast.Add() | ast.Sub():
            return ast.BinOp(du, op, dw)
        case ast.Mult():
            return _filled("du*w + u*dw", u=u, w=w, du=du, dw=dw)
        case ast.Div():
            return _filled("(du - u/w*dw)/w", u=u, w=w, du=du, dw=dw)
    if isinstance(dw, ast.Constant) and dw.value == 0:
        return _filled("w*u**(w - 1)*du", u=u, w=w, du=du)
    return _filled("u**w*(dw*log(u) + w*du/u)", u=u, w=w, du=du, dw=dw)


def _of_function(function: str, args: list[ast.expr], slopes: list[ast.expr]) -> ast.expr:
    if function in ("min", "max"):
        (u, *rest), (du, *others) = args, slopes
        if not rest:
            return du
        other = rest[0] if len(rest) == 1 else ast.Call(ast.Name(function), rest, [])
        compare: ast.cmpop = ast.Lt() if function == "min" else ast.Gt()
        return ast.IfExp(ast.Compare(u, [compare], [other]), du, _of_function(function, rest, others))
    if function == "atan2":
        return _filled("(x*dy - y*dx)/(x*x + y*y)", y=args[0], x=args[1], dy=slopes[0], dx=slopes[1])
    return _filled(f"({SLOPES[function]})*du", u=args[0], du=slopes[0])


def _filled(template: str, **parts: ast.expr) -> ast.expr:
    """A template with expressions in the places of its names."""

    class Fill(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return parts.get(node.id, node)

    return Fill().visit(ast.parse(template, mode="eval").body)
