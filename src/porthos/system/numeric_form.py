"""Any pH-DAE with numbers for its matrices, as they are at one state: E x' + r = (J - R) z + (B - P) u on paper."""

from __future__ import annotations

from typing import Any

import numpy as np

from porthos.errors import StructureError
from porthos.notation import Array
from porthos.system.descriptor import dense
from porthos.system.general import LinearPHDAE
from porthos.system.phdae import PHDAE
from porthos.system.symbolic_form import SymbolicForm

LARGEST = 24  # states whose matrices fit on a page


def fits(system: PHDAE) -> bool:
    """Whether its matrices fit on a page."""
    return system.dimension <= LARGEST


def numeric_form(system: PHDAE, x: Array | None, t: float) -> SymbolicForm:
    """The matrices at x (default: the initial state) and t; linear systems are written for all states."""
    import sympy as sp

    if not fits(system):
        raise StructureError(
            f"system '{system.name}' has {system.dimension} states, too many for matrices on a page (at most "
            f"{LARGEST}). Look at one with system.J(x); those of a model are written part by part by "
            "model.equations()."
        )
    title = f"matrices at {'the initial state' if x is None else 'a state'}{f' and t = {t:g}' if t else ''}"
    if x is None:
        x = system.rest if isinstance(system, LinearPHDAE) else system.initial_state()
    x = system.as_state(x)
    states, inputs = _symbols(system.blocks), _symbols(system.ports, "u_")
    E, J, R, B = (_numbers(getattr(system, letter)(x, t)) for letter in "EJRB")
    others = {letter: _numbers(getattr(system, letter)(x, t)) for letter in "PSN"}
    others["r"] = _numbers(system.r(x, t)[:, None])
    more = {letter: part for letter, part in others.items() if not part.is_zero_matrix}
    z, H = sp.Matrix([sp.Symbol(f"z_{k + 1}") for k in range(len(states))]), _number(system.H(x, t))
    if isinstance(system, LinearPHDAE):
        title, moved = "linear", states - _numbers(system.rest[:, None])
        z = _numbers(system.Q) * moved
        H = sp.expand((moved.T * E.T * z)[0] / 2)
    return SymbolicForm(title, states, E, J, R, z, B, inputs, H, more)


def _symbols(places: Any, prefix: str = "") -> Any:
    """A symbol for each state or input: `name`, or `name_1`, ... where a name has several."""
    import sympy as sp

    sizes = {name: place.stop - place.start for name, place in places.items()}
    names = [name if size == 1 else f"{name}_{i + 1}" for name, size in sizes.items() for i in range(size)]
    return sp.Matrix(len(names), 1, [sp.Symbol(prefix + name) for name in names])


def _numbers(values: Any) -> Any:
    import sympy as sp

    array = dense(values)
    return sp.Matrix(*array.shape, [_number(each) for each in np.ravel(array).tolist()])


def _number(value: float) -> Any:
    """Whole numbers as such, others with six digits."""
    import sympy as sp

    return sp.Integer(int(value)) if float(value).is_integer() else sp.Float(f"{value:.6g}")
