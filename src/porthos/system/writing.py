r"""Formulas of mechanisms in two hands, plain text and LaTeX: `(phi[bob] + 0.6 d3[bob]) . e1 = 0` in the one.

They are made of combinations c + sum c_bi w_bi, where w_b0 = phi and w_bi = d_i are the vectors of body b.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from porthos.notation import Array

Vector = tuple[int, int]  # body, and 0 for phi or i for d_i
NOTHING = 1e-12  # a coefficient this small beside the largest one is round-off
SPECIAL = str.maketrans(
    {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {letter: f"\\{letter}" for letter in "&%$#_{}"}
)


@dataclass(frozen=True)
class Combination:
    """A vector: a constant one, and vectors of bodies times numbers."""

    terms: dict[Vector, float] = field(default_factory=dict)
    constant: Array = field(default_factory=lambda: np.zeros(3))

    def __add__(self, other: Combination) -> Combination:
        terms = {key: self.of(key) + other.of(key) for key in sorted({*self.terms, *other.terms})}
        return Combination(terms, self.constant + other.constant)

    def __rmul__(self, factor: float) -> Combination:
        return Combination({key: factor * c for key, c in self.terms.items()}, factor * self.constant)

    def of(self, vector: Vector) -> float:
        """The number beside a vector."""
        return self.terms.get(vector, 0.0)

    def tidy(self) -> Combination:
        """The same without zeros and round-off."""
        least = NOTHING * max([*map(abs, self.terms.values()), *np.abs(self.constant).tolist()])
        terms = {key: c for key, c in self.terms.items() if abs(c) > least}
        return Combination(terms, np.where(np.abs(self.constant) > least, self.constant, 0.0))


@dataclass(frozen=True)
class Hand:
    """How the parts of formulas look: templates for what they hold, and `letters` for those with a name."""

    letter: str  # of a matrix or a vector
    letters: dict[str, str]
    of: str  # a letter, and the name of a body
    director: str  # number, name of a body
    axis: str  # number
    column: str  # three numbers
    listed: str  # parts of a vector
    diagonal: str
    dot: str  # two vectors
    half: str
    norm: str  # vector
    angle: str  # sine and cosine
    transpose: str
    change: str  # a differential
    gradient: str
    rate: str
    times: str
    ratio: str  # numerator, denominator
    table: str  # pairs
    slope: str  # an expression, as the user wrote it
    matrix: tuple[str, str, str, str]  # left bracket, between columns, between rows, right bracket
    apart: str  # between two formulas
    weight: str
    stored: str  # by force elements
    law: str
    damping: str  # two slopes
    friction: str  # range of multipliers, speed
    part: str  # of the inputs: first, last
    rigidity: str
    acting: str  # of an input on a point mass
    exact: str  # the same on a rigid body, point
    printed: str
    turned: str  # numbers along the directors of the body
    along: str  # the input along an axis in the directors of the first body of a joint
    special: dict[int, str]

    def bold(self, name: str) -> str:
        """A letter that stands for a matrix or a vector."""
        return self.letter % self.letters.get(name, name)

    def name(self, name: str) -> str:
        """A name, with letters that mean something else made harmless."""
        return name.translate(self.special)

    def number(self, value: float) -> str:
        """A number with six digits."""
        return f"{value + 0.0:.6g}"

    def vector(self, vector: Vector, names: Sequence[str]) -> str:
        """phi or d_i of a body."""
        body, i = vector
        name = self.name(names[body])
        return self.director % (i, name) if i else self.of % (self.bold("phi"), name)

    def triple(self, values: Array) -> str:
        """Three numbers as a vector."""
        return self.column % tuple(self.number(each) for each in values.tolist())

    def scaled(self, factor: float, what: str) -> str:
        """A number times something; one is not written."""
        number = self.number(factor)
        return {"0": "0", "1": what, "-1": f"-{what}"}.get(number, f"{number}{self.times}{what}")

    def added(self, parts: Sequence[str]) -> str:
        """A sum of parts, of which some begin with a minus."""
        text = "".join(f" - {part[1:]}" if part.startswith("-") else f" + {part}" for part in parts)
        return f"-{text[3:]}" if text.startswith(" - ") else text[3:] or "0"

    def sum(self, given: Combination, names: Sequence[str]) -> str:
        """A combination of vectors."""
        given = given.tidy()
        parts = [self.scaled(c, self.vector(key, names)) for key, c in given.terms.items()]
        used = np.flatnonzero(given.constant)
        if used.size == 1:
            parts.append(self.scaled(float(given.constant[used[0]]), self.axis % (used[0] + 1)))
        elif used.size:
            parts.append(self.triple(given.constant))
        return self.added(parts)

    def transposed(self, text: str) -> str:
        """The transpose of a sum; a sign stays in front."""
        if text.startswith("-") and self.factor(text[1:]) == text[1:]:
            return f"-{self.transpose % text[1:]}"
        return text if text == "0" else self.transpose % self.factor(text)

    def product(self, u: Combination, w: Combination, names: Sequence[str]) -> str:
        """u . w."""
        return self.dot % (self.factor(self.sum(u, names)), self.factor(self.sum(w, names)))

    def polynomial(self, coefficients: Sequence[float], letter: str) -> str:
        """sum c_k letter^k."""
        powers = ["", letter, *(f"{letter}^{k}" for k in range(2, len(coefficients)))]
        terms = zip(coefficients, powers, strict=False)
        return self.added([self.scaled(c, power) if power else self.number(c) for c, power in terms if c != 0.0])

    def factor(self, text: str) -> str:
        """Brackets around a sum, and around what has a sign."""
        return f"({text})" if " + " in text or " - " in text or text.startswith("-") else text

    def blocks(self, rows: Sequence[Sequence[str]]) -> str:
        """A matrix of blocks."""
        left, column, row, right = self.matrix
        return left + row.join(column.join(each) for each in rows) + right


TEXT = Hand(
    letter="%s",
    letters={},
    of="%s[%s]",
    director="d%d[%s]",
    axis="e%d",
    column="(%s, %s, %s)",
    listed="(%s)",
    diagonal="diag(%s)",
    dot="%s . %s",
    half="1/2 %s",
    norm="|%s|",
    angle="atan2(%s, %s)",
    transpose="%s^T",
    change="d%s",
    gradient="grad %s",
    rate="%s'",
    times=" ",
    ratio="%s/%s",
    table="table{%s}(x)",
    slope="d/ds[%s]",
    matrix=("[", ", ", "; ", "]"),
    apart=",  ",
    weight="-sum m g . phi",
    stored="sum U(s)",
    law="dU/ds = F without damping, for each force element",
    damping="sum c %s %s over force elements",
    friction="|lambda[%d:%d]| s'/sqrt(s'^2 + %s^2)",
    part="u[%d:%d]",
    rigidity="1/2 (d_i . d_i - 1) = 0 for i = 1, 2, 3,  d_1 . d_2 = 0,  d_1 . d_3 = 0,  d_2 . d_3 = 0",
    acting="f_phi = F",
    exact="f_phi = F,  f_i = X_i F + 1/2 tau x d^i with the reciprocal directors d^i,  X = %s",
    turned="(d_1, d_2, d_3) %s",
    along="u (d_1, d_2, d_3)_A %s",
    printed="f_phi = F,  f_i = 1/2 (r x F + tau) x d_i,  r = X_1 d_1 + X_2 d_2 + X_3 d_3,  X = %s",
    special={},
)

LATEX = Hand(
    letter=r"\boldsymbol{%s}",
    letters={"phi": r"\varphi", "lambda": r"\lambda", "tau": r"\tau"},
    of=r"%s_{\text{%s}}",
    director=r"\boldsymbol{d}_{%d,\text{%s}}",
    axis=r"\boldsymbol{e}_{%d}",
    column=r"\begin{bmatrix} %s \\ %s \\ %s \end{bmatrix}",
    listed=r"\left( %s \right)",
    diagonal=r"\operatorname{diag}\left( %s \right)",
    dot=r"%s \cdot %s",
    half=r"\frac{1}{2} %s",
    norm=r"\left| %s \right|",
    angle=r"\operatorname{atan2}\left( %s, %s \right)",
    transpose=r"%s^{\mathsf{T}}",
    change=r"\partial %s",
    gradient=r"\nabla %s",
    rate=r"\dot{%s}",
    times=r" \, ",
    ratio=r"\frac{%s}{%s}",
    table=r"\text{table}\left\{ %s \right\}(x)",
    slope=r"\frac{\mathrm{d}}{\mathrm{d}s} \left[ \texttt{%s} \right]",
    matrix=(r"\begin{bmatrix} ", " & ", r" \\ ", r" \end{bmatrix}"),
    apart=r", \quad ",
    weight=r"-\sum m \, \boldsymbol{g} \cdot \boldsymbol{\varphi}",
    stored=r"\sum U(s)",
    law=r"\frac{dU}{ds} = F \text{ without damping, for each force element}",
    damping=r"\sum c \, %s %s \text{ over force elements}",
    friction=r"\lVert \boldsymbol{\lambda}_{%d:%d} \rVert \frac{\dot s}{\sqrt{\dot s^2 + %s^2}}",
    part=r"\boldsymbol{u}_{%d:%d}",
    rigidity=r"\frac{1}{2} (\boldsymbol{d}_i \cdot \boldsymbol{d}_i - 1) = 0 \text{ for } i = 1, 2, 3, \quad "
    r"\boldsymbol{d}_1 \cdot \boldsymbol{d}_2 = 0, \quad \boldsymbol{d}_1 \cdot \boldsymbol{d}_3 = 0, \quad "
    r"\boldsymbol{d}_2 \cdot \boldsymbol{d}_3 = 0",
    acting=r"\boldsymbol{f}_\varphi = \boldsymbol{F}",
    exact=r"\boldsymbol{f}_\varphi = \boldsymbol{F}, \quad \boldsymbol{f}_i = X_i \boldsymbol{F} + \frac{1}{2} "
    r"\boldsymbol{\tau} \times \boldsymbol{d}^i \text{ with the reciprocal directors } \boldsymbol{d}^i, \quad X = %s",
    turned=r"(\boldsymbol{d}_1, \boldsymbol{d}_2, \boldsymbol{d}_3)\, %s",
    along=r"u\, (\boldsymbol{d}_1, \boldsymbol{d}_2, \boldsymbol{d}_3)_A\, %s",
    printed=r"\boldsymbol{f}_\varphi = \boldsymbol{F}, \quad \boldsymbol{f}_i = \frac{1}{2} (\boldsymbol{r} \times "
    r"\boldsymbol{F} + \boldsymbol{\tau}) \times \boldsymbol{d}_i, \quad \boldsymbol{r} = X_1 \boldsymbol{d}_1 + X_2 "
    r"\boldsymbol{d}_2 + X_3 \boldsymbol{d}_3, \quad X = %s",
    special=SPECIAL,
)
