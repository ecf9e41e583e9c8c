"""The pH-DAE forms (8), (19), (24) and (61) of 001 in symbols: E x' = (J - R) z + B u, with their LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from porthos.errors import StructureError, nearest
from porthos.system.symbolic import Expr, SymbolicLagrangian, SymbolicMatrix

LONG = 200  # operations from which on an expression is not simplified
DETOUR = 2  # an energy is written term by term unless that is so many times longer


@dataclass(frozen=True)
class SymbolicForm:
    """E x' + r = (J - R) z + (B - P) u, y = (B + P)^T z + (S - N) u, with E^T z = grad H; print it, or take its LaTeX.

    `more` has those of r, P, S, N that are not zero.
    """

    title: str
    x: SymbolicMatrix
    E: SymbolicMatrix
    J: SymbolicMatrix
    R: SymbolicMatrix
    z: SymbolicMatrix
    B: SymbolicMatrix
    u: SymbolicMatrix
    H: Expr
    more: Mapping[str, SymbolicMatrix] = field(default_factory=dict)

    def latex(self) -> str:
        """All matrices with numbers of rows and columns, for a notebook or a paper."""
        import sympy as sp

        words = {each: rf"\text{{{each.name}}}" for each in (*self.x, *self.u) if " " in getattr(each, "name", "")}

        def tex(part: SymbolicMatrix) -> str:
            return sp.latex(part, mat_delim="[", mat_str="matrix" if part.cols <= 10 else "array", symbol_names=words)

        rates = sp.Matrix([sp.Symbol(rf"\dot{{{sp.latex(state, symbol_names=words)}}}") for state in self.x])
        matrices = {letter: tex(part) for letter, part in self._parts.items() if letter not in "xzuH"}
        symbols = {"x'": tex(rates), "z": tex(self.z), "u": tex(self.u), "^T": r"^{\mathsf{T}}", "y": "y"}
        lines = [_filled(line, matrices | symbols).replace("=", "&=", 1) for line in self._balances()]
        lines.append(f"H &= {sp.latex(self.H, symbol_names=words)}")
        return r"\begin{aligned} " + r" \\ ".join(lines) + r" \end{aligned}"

    def __str__(self) -> str:
        import sympy as sp

        equal = (sp.Eq(sp.Symbol(letter), part, evaluate=False) for letter, part in self._parts.items())
        title = f"{self.title}: {', '.join(self._balances())}"
        return "\n\n".join([title, *(sp.pretty(each, wrap_line=False) for each in equal)])

    @property
    def _parts(self) -> dict[str, Expr]:
        """What is written, in this order."""
        known = {letter: getattr(self, letter) for letter in "xEJRzBuH"} | dict(self.more)
        left_out = "R" * self.R.is_zero_matrix + "Bu" * (not self.u.rows)
        return {letter: known[letter] for letter in "xErJRzBPuSNH" if letter in known and letter not in left_out}

    def _balances(self) -> list[str]:
        """The equations as far as their matrices are not zero; the output if it is more than B^T z."""
        there = self._parts

        def group(*signed: str) -> str:
            used = [each for each in signed if each.strip("+- ") in there]
            text = " ".join(used).removeprefix("+ ")
            return f"({text})" if len(used) > 1 or text.startswith("-") else text

        left = "E x' + r" if "r" in there else "E x'"
        supply = f" + {group('B', '- P')} u" if "B" in there else ""
        lines = [f"{left} = {group('J', '- R')} z{supply}"]
        if {"P", "S", "N"} & set(there):
            direct = f" + {group('S', '- N')} u" if {"S", "N"} & set(there) else ""
            lines.append(f"y = {group('B', '+ P')}^T z{direct}")
        return lines

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"


def _filled(line: str, values: Mapping[str, str]) -> str:
    """An equation with LaTeX in the place of its letters; brackets grow."""
    grown = line.replace("(", r"\left( ").replace(")", r" \right)").replace("^T", " ^T")
    return " ".join(values.get(word, word) for word in grown.split())


def symbolic_form(of: SymbolicLagrangian, name: str, simplify: bool) -> SymbolicForm:
    """The form called 'general' (8), 'multibody' (19), 'constant mass' (24) or 'index 1' (61)."""
    forms: dict[str, Callable[[SymbolicLagrangian], SymbolicForm]] = {
        "general": _general, "multibody": _multibody, "constant mass": _constant_mass, "index 1": _index_one,
    }  # fmt: skip
    if name not in forms:
        raise StructureError(f"Lagrangian '{of.name}' has no form '{name}'. {nearest(name, forms)}")
    form = forms[name](of)
    if not simplify:
        return form
    parts = {letter: getattr(form, letter).applyfunc(_tidy) for letter in ("E", "J", "R", "z", "B")}
    short, terms = _tidy(form.H), _without_squares(form.H.expand())
    energy = terms if terms.count_ops() < DETOUR * short.count_ops() else short
    return SymbolicForm(form.title, form.x, **parts, u=form.u, H=energy)


def _tidy(expression: Expr) -> Expr:
    """Common factors in front, and sin^2 + cos^2 = 1. `simplify` would take half a minute for (61) and find no more."""
    import sympy as sp

    return sp.factor_terms(_without_squares(expression))


def _without_squares(expression: Expr) -> Expr:
    """sin^2 + cos^2 = 1."""
    import sympy as sp

    x = sp.Wild("x")
    squares = expression.find(sp.sin(x) ** 2) and expression.find(sp.cos(x) ** 2)
    return sp.trigsimp(expression) if squares and expression.count_ops() < LONG else expression


def _multipliers(of: SymbolicLagrangian, letter: str) -> SymbolicMatrix:
    import sympy as sp

    return sp.Matrix(of.g.rows, 1, lambda i, j: sp.Symbol(f"{letter}_{i + 1}"))


def _inputs(of: SymbolicLagrangian) -> SymbolicMatrix:
    """One symbol for each input; constraints that depend on time are fed with 1."""
    import sympy as sp

    names = [name if width == 1 else f"{name}_{i + 1}" for name, width in of.ports.items() for i in range(width)]
    return sp.Matrix(len(names) + of.rheonomic, 1, [*(sp.Symbol(f"u_{name}") for name in names), *[1] * of.rheonomic])


def _stacked(of: SymbolicLagrangian, title: str, A: SymbolicMatrix, effort: SymbolicMatrix, H: Expr) -> SymbolicForm:
    """The form with x = (q, v, lambda) for a gyroscopic matrix A and the effort dH/dq."""
    import sympy as sp

    n, m, one, zero = of.q.rows, of.g.rows, sp.eye(of.q.rows), sp.zeros
    lam, supply = _multipliers(of, "lambda"), sp.Matrix.vstack(zero(n, of.Bt.cols), of.Bt, zero(m, of.Bt.cols))
    if of.rheonomic:
        supply = sp.Matrix.hstack(supply, sp.Matrix.vstack(zero(2 * n, 1), of.g_t))
    J = sp.Matrix(sp.BlockMatrix([[zero(n, n), one, zero(n, m)], [-one, A, -of.G.T], [zero(m, n), of.G, zero(m, m)]]))
    return SymbolicForm(
        title=title,
        x=sp.Matrix.vstack(of.q, of.v, lam),
        E=sp.diag(one, of.M, zero(m, m)),
        J=J,
        R=sp.diag(zero(n, n), of.D, zero(m, m)),
        z=sp.Matrix.vstack(effort, of.v, lam),
        B=supply,
        u=_inputs(of),
        H=H,
    )


def _general(of: SymbolicLagrangian) -> SymbolicForm:
    """Eq. (8) with H by (11)."""
    return _stacked(of, "(8)", of.Lqv - of.Lqv.T, of.Lqv * of.v - of.Lq, of.H)


def kinetic_and_potential(of: SymbolicLagrangian) -> tuple[Expr, Expr]:
    """T = v.M(q) v/2 and V of L = T - V; refused where L has other terms in v."""
    import sympy as sp

    rest = dict.fromkeys(of.v, 0)
    T, V = (of.v.T * of.M * of.v)[0] / 2, -of.L.subs(rest)
    if not of.quadratic or sp.simplify(of.L - T + V) != 0:
        raise StructureError(
            f"Lagrangian '{of.name}': L is not T - V with T = v.M(q) v/2: it has other terms in the velocities. Its "
            "form is 'general', eq. (8)."
        )
    return T, V


def _multibody(of: SymbolicLagrangian) -> SymbolicForm:
    """Eq. (19) with the Coriolis matrix (17) of Christoffel symbols (18)."""
    import sympy as sp

    T, V = kinetic_and_potential(of)
    M, q, v, n = of.M, of.q, of.v, of.q.rows

    def christoffel(i: int, j: int, k: int) -> Expr:
        return (M[k, j].diff(q[i]) + M[k, i].diff(q[j]) - M[i, j].diff(q[k])) / 2

    C = sp.Matrix(n, n, lambda k, j: sum(christoffel(i, j, k) * v[i] for i in range(n)))
    M_rate = sp.Matrix(n, n, lambda k, j: sum(M[k, j].diff(q[i]) * v[i] for i in range(n)))
    effort = q.applyfunc(lambda each: (T + V).diff(each))
    return _stacked(of, "(19)", M_rate - 2 * C, effort, T + V)


def _constant_mass(of: SymbolicLagrangian) -> SymbolicForm:
    """Eq. (24)."""
    import sympy as sp

    T, V = kinetic_and_potential(of)
    if sp.simplify(of.M).has(*of.q):
        raise StructureError(
            f"Lagrangian '{of.name}': the mass matrix depends on coordinates: {of.M.tolist()}. Its form is "
            "'multibody', eq. (19)."
        )
    n = of.q.rows
    return _stacked(of, "(24)", sp.zeros(n, n), of.q.applyfunc(lambda each: V.diff(each)), T + V)


def _index_one(of: SymbolicLagrangian) -> SymbolicForm:
    """Eq. (61) for M(q): see `porthos.system.lagrangian_system.IndexOneForm`, which is the same in numbers."""
    import sympy as sp

    base = _general(of)
    n, m, one, zero = of.q.rows, of.g.rows, sp.eye(of.q.rows), sp.zeros
    if sp.simplify(of.M.det()) == 0:
        raise StructureError(
            f"Lagrangian '{of.name}': the mass matrix {of.M.tolist()} has no inverse, which (61) needs."
        )
    A, G, N = of.Lqv - of.Lqv.T, of.G, of.rate.jacobian(of.q) if m else zero(0, n)
    GW = G * of.M.applyfunc(sp.simplify).inv()
    X, GWG = N.T - A * GW.T, GW * G.T
    J44 = N * GW.T - GW * N.T + GW * A * GW.T
    rows = [
        [zero(n, n), one, zero(n, m), GW.T],
        [-one, A, -G.T, -X],
        [zero(m, n), G, zero(m, m), GWG],
        [-GW, X.T, -GWG, J44],
    ]
    K = sp.Matrix.vstack(zero(n, n), one, zero(m, n), GW)
    B = K * of.Bt
    if of.rheonomic:
        B = sp.Matrix.hstack(B, sp.Matrix.vstack(zero(2 * n, 1), of.g_t, of.rate.diff(of.t)))
    gamma = _multipliers(of, "gamma")
    return SymbolicForm(
        title="(61)",
        x=sp.Matrix.vstack(base.x, gamma),
        E=sp.diag(base.E, zero(m, m)),
        J=sp.Matrix(sp.BlockMatrix(rows)),
        R=K * of.D * K.T,
        z=sp.Matrix.vstack(base.z, gamma),
        B=B,
        u=base.u,
        H=base.H,
    )
