"""All schemes by their names, as files and the command line call them. A name is known before its scheme is loaded."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import fields
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, get_type_hints

from porthos.errors import PorthosError, nearest

if TYPE_CHECKING:
    from porthos.integrate.scheme import Contract

SCHEMES = {
    "Midpoint": "porthos.integrate.midpoint",
    "MidpointGGL": "porthos.integrate.midpoint",
    "DiscreteGradient": "porthos.integrate.discrete_gradient",
    "Gauss": "porthos.integrate.runge_kutta",
    "LobattoIIIC": "porthos.integrate.runge_kutta",
    "RadauIIA": "porthos.integrate.runge_kutta",
}
NUMBERS: dict[type, type] = {float: Real, int: Integral}  # what counts as a number of a type


def check_name(name: str) -> None:
    """Refuse the name of a scheme that does not exist."""
    if name not in SCHEMES:
        raise PorthosError(f"scheme: found no scheme '{name}'. {nearest(name, SCHEMES)}")


def scheme_class(name: str) -> type[Contract]:
    """The class of a scheme; loads the compiler."""
    check_name(name)
    return getattr(importlib.import_module(SCHEMES[name]), name)


def scheme_named(name: str, options: Mapping[str, Any] | None = None) -> Contract:
    """A scheme with options, both given as a file gives them."""
    cls: Any = scheme_class(name)
    hints, known = get_type_hints(cls), [f.name for f in fields(cls)]
    for key, value in (options or {}).items():
        if key not in known:
            raise PorthosError(f"scheme: {name} has no option '{key}'. {nearest(key, known)}")
        if not isinstance(value, NUMBERS.get(hints[key], object)) or isinstance(value, bool):
            raise PorthosError(f"scheme: {name}: {key}: expected a number, found {value!r}.")
    return cls(**(options or {}))
