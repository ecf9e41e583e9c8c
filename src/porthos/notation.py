"""Array types and the few operations on vectors that every room needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from porthos.errors import ModelError, PorthosError

Array: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.int8]
Records: TypeAlias = Any  # np.recarray: one record each body, joint, row; type checkers do not know its fields
Vector: TypeAlias = Sequence[float] | NDArray[np.floating[Any]]
TimeFunction: TypeAlias = Callable[[float], ArrayLike]

LARGEST = 1e100  # numbers beyond this, or positive ones below its inverse, overflow when they are multiplied
ROUND_OFF = 4 * float(np.finfo(np.float64).eps)  # what a vector of length one may be off by


def records(dtype: np.dtype[Any], **fields: ArrayLike) -> Records:
    """A table of records whose fields are given as arrays; their first axis counts the records.

    Compiled code trusts offsets, so one that does not fit is an error.
    """
    columns = {name: np.asarray(values) for name, values in fields.items()}
    table = np.zeros(len(next(iter(columns.values()))), dtype).view(np.recarray)
    for name, values in columns.items():
        table[name] = values
        if values.dtype.kind in "iu" and not np.array_equal(table[name], values):
            raise OverflowError(f"table of records: '{name}' = {values.max()} does not fit into {table[name].dtype}.")
    return table


def skew(a: Array) -> Array:
    """The matrix of the cross product, skew(a) b = a x b; eq. (1) of document 001."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def numbers(value: ArrayLike, what: str, expected: str = "numbers") -> Array:
    """`value` as an array of finite numbers, or a ModelError that names `what`."""
    try:
        a = np.array(value, dtype=np.float64)
    except Exception as error:  # NumPy asks objects of other classes, which may raise anything
        raise ModelError(f"{what}: expected {expected}, found {value!r}.") from error
    return finite(a, what)


def vector(value: ArrayLike, what: str, length: int = 3, example: tuple[float, ...] | None = None) -> Array:
    """`value` as a finite vector, or a ModelError that names `what` and shows an `example`."""
    expected = f"{length} numbers such as {tuple(range(1, length + 1)) if example is None else example}"
    a = numbers(value, what, expected)
    if a.shape != (length,):
        raise ModelError(f"{what}: expected {expected}, found an array of shape {a.shape}: {value!r}.")
    return a


def number(value: Any, what: str, least: float = -np.inf) -> float:
    """`value` as a finite number that is not below `least`, or a ModelError that names `what`."""
    limit = f" >= {least:g}" if np.isfinite(least) else ""
    a = numbers(value, what, f"a number{limit} in SI units")
    if a.ndim or not a >= least:
        raise ModelError(f"{what}: expected a number{limit} in SI units, found {value!r}.")
    return float(a)


def whole(value: Any, what: str, least: int) -> int:
    """`value` as a whole number that is not below `least`, or a ModelError that names `what`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral) or not least <= int(value) <= LARGEST:
        raise ModelError(f"{what}: expected a whole number >= {least}, found {value!r}.")
    return int(value)


def flag(value: Any, what: str) -> bool:
    """`value` itself if it is True or False, or a ModelError that names `what`."""
    if not isinstance(value, bool | np.bool_):
        raise ModelError(f"{what}: expected True or False, found {value!r}.")
    return bool(value)


def word(value: Any, what: str, known: Sequence[str]) -> str:
    """`value` itself if it is one of the words that are known, or a ModelError that names `what`."""
    if not isinstance(value, str) or value not in known:
        choice = " or ".join([", ".join(f"'{one}'" for one in known[:-1]), f"'{known[-1]}'"])
        raise ModelError(f"{what}: expected {choice}, found {value!r}.")
    return value


def names(value: Any, what: str, example: tuple[str, str] = ("bob.position", "energy")) -> tuple[str, ...]:
    """`value` as names, each once, or a ModelError that names `what` and shows an `example`."""
    try:
        found = None if isinstance(value, str) else tuple(value)
    except Exception:  # noqa: BLE001 - what is no list may raise anything
        found = None
    if found is None or not all(isinstance(name, str) and name.strip() for name in found):
        raise ModelError(f"{what}: expected a list of names such as {[*example]}, found {value!r}.")
    for name in found:
        if found.count(name) > 1:
            raise ModelError(f"{what}: found '{name}' {found.count(name)} times; name it once.")
    return found


def finite(a: Array, what: str) -> Array:
    """`a` itself if all its numbers are finite, or a ModelError that names `what`."""
    if not np.all(np.isfinite(a)):
        raise ModelError(
            f"{what}: expected finite numbers, found {a.tolist()}. Look at the computation that gave them: "
            "a division by zero and an empty field of a table are the usual causes."
        )
    if np.any(np.abs(a) > LARGEST):
        raise ModelError(
            f"{what}: expected numbers up to {LARGEST:.0e} in SI units, found {a.tolist()}. Check the unit."
        )
    return a


def unit(value: ArrayLike, what: str) -> Array:
    """`value` as a vector of length one, or a ModelError if it has no direction. unit(unit(a)) is unit(a)."""
    a = vector(value, what)
    length = float(np.linalg.norm(a))
    if length == 0.0:
        raise ModelError(
            f"{what}: expected a direction, found {a.tolist()}, which has length zero and points nowhere. "
            "Give a vector such as (0, 0, 1); its length does not matter."
        )
    return a if abs(length - 1.0) <= ROUND_OFF else a / length


def positive(value: float, what: str) -> float:
    """`value` as a positive finite float, or a ModelError that names `what`."""
    try:
        x = float(value)
    except Exception as error:  # of another class, it may raise anything
        raise ModelError(f"{what}: expected a positive number in SI units, found {value!r}.") from error
    if not np.isfinite(x) or x <= 0.0:
        raise ModelError(f"{what}: expected a positive number in SI units, found {x!r}. Check its sign and its unit.")
    if not 1 / LARGEST <= x <= LARGEST:
        raise ModelError(
            f"{what}: expected a number between {1 / LARGEST:.0e} and {LARGEST:.0e}, found {x!r}. Check its unit."
        )
    return x


def not_negative(value: float, what: str) -> float:
    """`value` as a finite float that is zero or positive, or a ModelError that names `what`."""
    return 0.0 if isinstance(value, Real) and value == 0 else positive(value, what)


def normals(axis: Array) -> tuple[Array, Array]:
    """Two unit vectors m1, m2 such that (axis, m1, m2) is right-handed and orthonormal. Never singular."""
    k = int(np.argmin(np.abs(axis)))
    m1 = np.cross(axis, np.eye(3)[k])
    m1 /= np.linalg.norm(m1)
    return m1, np.cross(axis, m1)


def file_path(value: Any, what: str = "path") -> Path:
    """`value` as a path, or an error that says what was found instead."""
    if not isinstance(value, str | PathLike) or not str(value).strip() or "\0" in str(value):
        raise PorthosError(f"{what}: expected the name of a file, found {value!r}.")
    return Path(value)
