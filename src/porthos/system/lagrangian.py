"""Systems from a Lagrangian in SymPy or in plain functions: d/dt Lv = Lq - G^T lambda - D v + B~ u, g(t, q) = 0."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import Any

from numpy.typing import ArrayLike

from porthos.errors import ModelError
from porthos.notation import flag, names
from porthos.system.generated import GeneratedTerms
from porthos.system.lagrangian_system import LagrangianSystem
from porthos.system.symbolic import symbolise
from porthos.system.symbolic_form import SymbolicForm, symbolic_form
from porthos.system.terms import FunctionTerms


class Lagrangian(LagrangianSystem):
    """The pH-DAE (8) of a SymPy Lagrangian L(q, v), x = (q, v, lambda), compiled.

    `coordinates` are symbols with `velocities` beside them, or functions of time such as theta(t), whose velocities are
    their derivatives. `constraints` are expressions g(q) or g(t, q) that are zero, or equations; `dissipation` is
    Rayleigh's function v.D(q) v/2, `inputs` maps names of ports to generalised forces per unit of u, `parameters` gives
    numbers to other symbols, `initial` = (q, v) must meet the constraints. M(q) = Lvv may depend on coordinates and may
    be singular.

    In a notebook it shows its equations; `symbolic` and `latex` give them as matrices and as text.
    """

    def __init__(
        self,
        L: Any,
        coordinates: Sequence[Any],
        velocities: Sequence[Any] | None = None,
        constraints: Any = (),
        dissipation: Any = 0,
        inputs: Mapping[str, Any] | Any = None,
        parameters: Mapping[Any, float] | None = None,
        initial: tuple[ArrayLike, ArrayLike] | None = None,
        name: str = "Lagrangian",
        time: Any = None,
    ) -> None:
        self.expressions = symbolise(
            name, L, coordinates, velocities, constraints, dissipation, inputs, parameters, time
        )
        terms, of = GeneratedTerms(self.expressions), self.expressions
        super().__init__(name, terms, [s.name for s in of.q], [s.name for s in of.v], of.ports, initial)

    @property
    def source(self) -> str:
        """The text of the generated module."""
        assert isinstance(self.terms, GeneratedTerms)
        return self.terms.source

    def symbolic(self, form: str = "general", simplify: bool = True) -> SymbolicForm:
        """All matrices in symbols: 'general' (8), 'multibody' (19), 'constant mass' (24) or 'index 1' (61) of 001."""
        return symbolic_form(self.expressions, form, simplify)

    def latex(self, form: str = "general", simplify: bool = True) -> str:
        """A form as LaTeX."""
        return self.symbolic(form, simplify).latex()

    def _repr_latex_(self) -> str:
        return self.symbolic()._repr_latex_()


class NumericLagrangian(LagrangianSystem):
    """The same system from plain functions L(q, v), g(q) or g(t, q).

    Derivatives are taken by complex steps, so the functions must accept complex numbers (abs and norm do not);
    or they are given: `gradient(q, v)` = (dL/dq, dL/dv), `jacobian(q)` or `jacobian(t, q)` = dg/dq. `dissipation` is
    the matrix D, `inputs` maps names of ports to columns; both may be functions of q. `quadratic_in_v` says that L is.
    """

    def __init__(
        self,
        L: Callable[[Any, Any], Any],
        coordinates: Sequence[str],
        velocities: Sequence[str] | None = None,
        constraints: Callable[..., Any] | None = None,
        dissipation: ArrayLike | Callable[[Any], Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
        gradient: Callable[[Any, Any], Any] | None = None,
        jacobian: Callable[..., Any] | None = None,
        initial: tuple[ArrayLike, ArrayLike] | None = None,
        name: str = "Lagrangian",
        quadratic_in_v: bool = True,
    ) -> None:
        where = f"Lagrangian '{name}'"
        places = names(coordinates, f"{where}: coordinates", ("x", "y"))
        rates = None if velocities is None else names(velocities, f"{where}: velocities", ("u", "v"))
        if not places or (rates is not None and len(rates) != len(places)):
            raise ModelError(f"{where}: expected as many velocities as coordinates, found {places} and {rates}.")
        if not isinstance(inputs, Mapping | NoneType):
            raise ModelError(f"{where}: inputs: expected columns by names of ports, found {inputs!r}.")
        ports = dict(inputs or {})
        terms = FunctionTerms(
            name,
            len(places),
            L,
            gradient,
            constraints,
            jacobian,
            dissipation,
            list(ports.values()),
            flag(quadratic_in_v, f"{where}: quadratic_in_v"),
        )
        widths = dict(zip(ports, terms.widths, strict=True))
        super().__init__(name, terms, places, rates or [f"{each}dot" for each in places], widths, initial)
