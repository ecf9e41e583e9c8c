"""All schemes by their names, as files and the command line call them. A name is known before its scheme is loaded."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, cast

from porthos.errors import PorthosError, nearest
from porthos.integrate.options import OPTIONS, check_options

if TYPE_CHECKING:
    from porthos.integrate.scheme import Contract

SCHEMES = {
    "Midpoint": "porthos.integrate.midpoint",
    "MidpointGGL": "porthos.integrate.midpoint",
    "Composition": "porthos.integrate.composition",
    "Livens": "porthos.integrate.livens",
    "DiscreteGradient": "porthos.integrate.discrete_gradient",
    "Gauss": "porthos.integrate.runge_kutta",
    "LobattoIIIC": "porthos.integrate.runge_kutta",
    "RadauIIA": "porthos.integrate.runge_kutta",
    "BDF": "porthos.integrate.multistep",
    "LobattoPair": "porthos.integrate.partitioned",
    "Murua": "porthos.integrate.partitioned",
    "GeneralizedAlpha": "porthos.integrate.generalized_alpha",
    "HHT": "porthos.integrate.generalized_alpha",
    "HEDOP5": "porthos.integrate.half_explicit",
    "MDOP5": "porthos.integrate.index_one",
    "DOP853": "porthos.integrate.index_one",
    "IDA": "porthos.integrate.sundials",
    "SciPy": "porthos.integrate.scipy_solvers",
}

NAMING = ("base", "stages", "order", "steps", "rho", "method")  # options without which a method has no name


def check_name(name: str) -> None:
    """Refuse the name of a scheme that does not exist."""
    if name not in SCHEMES:
        raise PorthosError(f"scheme: found no scheme '{name}'. {nearest(name, SCHEMES)}")


def check_scheme(name: str, options: Mapping[str, Any]) -> None:
    """Refuse a name or options that make no sense, without the compiler."""
    check_name(name)
    check_options(name, options)


def schemes_among(name: str, options: Mapping[str, Any]) -> list[str]:
    """Those options of a scheme that are schemes themselves, whose fit is known when they are made."""
    return [key for key in options if OPTIONS[name][key].kind is None]


def scheme_class(name: str) -> type[Contract]:
    """The class of a scheme; loads the compiler."""
    check_name(name)
    return getattr(importlib.import_module(SCHEMES[name]), name)


def scheme_named(name: str, options: Mapping[str, Any] | None = None) -> Contract:
    """A scheme with options, both given as a file gives them."""
    given = dict(options or {})
    check_scheme(name, given)
    for key in schemes_among(name, given):
        given[key] = _nested(f"scheme: {name}: {key}", given[key])
    return cast(Any, scheme_class(name))(**given)


def spelled(text: str) -> Contract:
    """A scheme as one writes it: "Midpoint", "Gauss(3)", "Composition(MidpointGGL, order=6)"."""
    try:
        kind, options = _parts(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, TypeError, ValueError) as error:
        raise PorthosError(
            f"scheme: expected a name with options, such as 'Midpoint' or 'Composition(order=6)', found '{text}'."
        ) from error
    return scheme_named(kind, options)


def in_python(text: str) -> str:
    """What to write in Python for a scheme that was given as a text, or what is wrong with the text."""
    name, bracket, more = text.strip().partition("(")
    lower = {known.lower(): known for known in SCHEMES}
    close = get_close_matches(name.strip().lower(), lower, n=1)
    if not close:
        return nearest(name, SCHEMES)
    meant = lower[close[0]] + bracket + more
    try:
        spelled(meant)
    except PorthosError as error:
        return f"{error}"
    call = re.sub(rf"(?<!['\"\w])({'|'.join(SCHEMES)})\b(?!\s*\()", r"\1()", meant)
    call = re.sub(r"([A-Za-z]\w*\s*\()", r"ph.\1", call)
    return f"Did you mean {call}?"


def brief(text: str) -> str:
    """What is said of the scheme of a run: without options that are as they always are, but with those in its name."""
    call, bracket, more = text.rpartition(")")
    try:
        return f"{_brief(spelled(call + bracket))}{more}"
    except PorthosError:
        return text


def _brief(scheme: Contract) -> str:
    options = {f.name: getattr(scheme, f.name) for f in fields(cast(Any, scheme)) if f.init}
    usual = {f.name: f.default for f in fields(cast(Any, scheme))}
    own = {name: value for name, value in options.items() if name in NAMING or value != usual[name]}
    told = [f"{name}={_brief(cast(Any, value)) if is_dataclass(value) else repr(value)}" for name, value in own.items()]
    return f"{repr(scheme).partition('(')[0]}({', '.join(told)})"


def _parts(node: ast.expr) -> tuple[str, dict[str, Any]]:
    """Name and options of a scheme that is written as a name or a call; nothing is executed."""
    if isinstance(node, ast.Name):
        return node.id, {}
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        raise TypeError(ast.dump(node))
    check_name(node.func.id)
    known = [f.name for f in fields(cast(Any, scheme_class(node.func.id)))]  # in their order
    given = [*zip(known, node.args, strict=False), *((str(word.arg), word.value) for word in node.keywords)]
    if len(node.args) > len(known):
        raise ValueError(ast.dump(node))
    return node.func.id, {key: _value(value) for key, value in given}


def _value(node: ast.expr) -> Any:
    """A number or text, or a scheme in the form of a file."""
    if isinstance(node, ast.Name | ast.Call):
        kind, options = _parts(node)
        return {"kind": kind, **options}
    return ast.literal_eval(node)


def _nested(place: str, value: Any) -> Contract:
    """A scheme that is an option of another one: its name, or its name and options."""
    if isinstance(value, str):
        return scheme_named(value)
    if isinstance(value, Mapping) and "kind" in value:
        return scheme_named(str(value["kind"]), {key: option for key, option in value.items() if key != "kind"})
    raise PorthosError(f"{place}: expected the name of a scheme, or a mapping with the key 'kind', found {value!r}.")
