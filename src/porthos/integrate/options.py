"""What options of schemes may be: for files it is known before a scheme and its compiler are loaded."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, get_args

from porthos.errors import PorthosError, nearest

KINDS: dict[Any, tuple[type, str]] = {
    float: (Real, "a number"), int: (Integral, "a whole number"), bool: (bool, "true or false"), str: (str, "a text"),
}  # fmt: skip


def _anything(value: Any) -> bool:
    return True


@dataclass(frozen=True)
class Option:
    """A value of a scheme: its type, what must hold for it, and what is said where it does not."""

    kind: type | None  # None for another scheme
    holds: Callable[[Any], bool] = _anything
    refusal: str = ""  # with {} for what was found
    choices: tuple[str, ...] = ()

    def check(self, scheme: str, key: str, value: Any) -> None:
        """Refuse a value that makes no sense."""
        if self.choices and value not in self.choices:
            raise PorthosError(f"{scheme}: found no {key} '{value}'. {nearest(str(value), self.choices)}")
        if not self.holds(value):
            raise PorthosError(f"{scheme}: {self.refusal.format(repr(value))}.")


def check_kind(place: str, kind: Any, value: Any) -> None:
    """Refuse a value that is not of a type; a truth value is no number."""
    wanted, words = KINDS.get(kind, (object, ""))
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted in (Real, Integral)):
        raise PorthosError(f"{place}: expected {words}, found {value!r}.")


MOST = 100  # stages: more lose accuracy
FORMS = ("projection", "Baumgarte", "index 1")  # of index 1
LEVELS = ("index 3", "index 2", "stabilised")  # of generalised alpha
METHODS = ("Radau", "BDF", "LSODA")  # of SciPy
Derivative = Literal["gonzalez", "mean value", "itoh-abe"]  # of Livens
Partition = Literal["symmetric", "sequential"]
ORDERS = (4, 6, 8)  # of compositions
HIGHEST_BDF, HIGHEST_IDA = 6, 5  # highest orders of formulas that are stable


def _stages(least: int) -> Option:
    words = f"expected a whole number of stages from {least} to {MOST}, found {{}}"
    return Option(int, lambda value: least <= value <= MOST, words)


def _whole(key: str, most: int) -> Option:
    return Option(int, lambda value: 1 <= value <= most, f"expected 1 <= {key} <= {most}, found {key} = {{}}")


NEWTON = {
    "tolerance": Option(float, lambda value: value >= 0.0, "tolerance must be >= 0, found {}"),
    "max_iterations": Option(int, lambda value: value >= 1, "max_iterations must be >= 1, found {}"),
}
REDUCED = NEWTON | {"threads": Option(int, lambda value: value in (1, 2), "threads must be 1 or 2, found {}")}
ALPHA = NEWTON | {"form": Option(str, choices=LEVELS), "corrected": Option(bool)}
INDEX_ONE = {
    "form": Option(str, choices=FORMS),
    "alpha": Option(float, lambda rate: 0.0 < rate < math.inf, "expected a rate alpha > 0, found {}"),
    "recursive": Option(bool),
}
OPTIONS: Mapping[str, Mapping[str, Option]] = {
    "Iterated": NEWTON,  # schemes of users
    "Midpoint": REDUCED,
    "MidpointGGL": REDUCED,
    "Composition": {
        "base": Option(None),
        "order": Option(int, lambda order: order in ORDERS, f"order must be one of {[*ORDERS]}, found {{}}"),
    },
    "Livens": NEWTON
    | {"derivative": Option(str, choices=get_args(Derivative)), "partition": Option(str, choices=get_args(Partition))},
    "DiscreteGradient": NEWTON,
    "Gauss": NEWTON | {"stages": _stages(1)},
    "LobattoIIIC": NEWTON | {"stages": _stages(2)},
    "RadauIIA": NEWTON | {"stages": _stages(1)},
    "BDF": NEWTON | {"steps": _whole("steps", HIGHEST_BDF)},
    "LobattoPair": NEWTON | {"stages": _stages(2)},
    "Murua": NEWTON | {"stages": _stages(1), "ggl": Option(bool)},
    "GeneralizedAlpha": ALPHA
    | {"rho": Option(float, lambda rho: 0.0 <= rho <= 1.0, "expected 0 <= rho <= 1, found rho = {}")},
    "HHT": ALPHA
    | {"alpha": Option(float, lambda a: -1 / 3 <= a <= 0.0, "expected -1/3 <= alpha <= 0, found alpha = {}")},
    "HEDOP5": {},
    "MDOP5": INDEX_ONE,
    "DOP853": INDEX_ONE,
    "IDA": {"max_order": _whole("max_order", HIGHEST_IDA)},
    "SciPy": {
        "method": Option(str, choices=METHODS),
        "alpha": Option(float, lambda rate: 0.0 <= rate < math.inf, "expected a rate alpha >= 0, found {}"),
    },
}  # fmt: skip


def check_options(scheme: str, given: Mapping[str, Any]) -> None:
    """Refuse options that a scheme does not have, and values that they cannot be; schemes among them stay unread."""
    known = OPTIONS[scheme]
    for key, value in given.items():
        if key not in known:
            raise PorthosError(f"scheme: {scheme} has no option '{key}'. {nearest(key, known)}")
        if known[key].kind is not None:
            check_kind(f"scheme: {scheme}: {key}", known[key].kind, value)
            known[key].check(scheme, key, value)
