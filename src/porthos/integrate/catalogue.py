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
    "Composition": "porthos.integrate.composition",
    "Livens": "porthos.integrate.livens",
    "Gauss": "porthos.integrate.runge_kutta",
    "LobattoIIIC": "porthos.integrate.runge_kutta",
    "RadauIIA": "porthos.integrate.runge_kutta",
    "LobattoPair": "porthos.integrate.partitioned",
    "Murua": "porthos.integrate.partitioned",
    "GeneralizedAlpha": "porthos.integrate.generalized_alpha",
    "HHT": "porthos.integrate.generalized_alpha",
    "HEDOP5": "porthos.integrate.half_explicit",
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
    hints, known, given = get_type_hints(cls), [f.name for f in fields(cls)], dict(options or {})
    for key, value in given.items():
        if key not in known:
            raise PorthosError(f"scheme: {name} has no option '{key}'. {nearest(key, known)}")
        if getattr(hints[key], "__abstractmethods__", None):  # a kind of scheme
            given[key] = _nested(f"scheme: {name}: {key}", value)
        elif hints[key] is bool:
            if not isinstance(value, bool):
                raise PorthosError(f"scheme: {name}: {key}: expected true or false, found {value!r}.")
        elif not isinstance(value, NUMBERS.get(hints[key], object)) or isinstance(value, bool):
            raise PorthosError(f"scheme: {name}: {key}: expected a number, found {value!r}.")
    return cls(**given)


def _nested(place: str, value: Any) -> Contract:
    """A scheme that is an option of another one: its name, or its name and options."""
    if isinstance(value, str):
        return scheme_named(value)
    if isinstance(value, Mapping) and "kind" in value:
        return scheme_named(str(value["kind"]), {key: option for key, option in value.items() if key != "kind"})
    raise PorthosError(f"{place}: expected the name of a scheme, or a mapping with the key 'kind', found {value!r}.")
