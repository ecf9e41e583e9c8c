"""Array types and the few operations on vectors that every room needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from porthos.errors import ModelError, PorthosError

Array: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
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


def vector(value: ArrayLike, what: str, length: int = 3, example: tuple[float, ...] | None = None) -> Array:
    """`value` as a finite vector, or a ModelError that names `what` and shows an `example`."""
    example = tuple(range(1, length + 1)) if example is None else example
    try:
        a = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"{what}: expected {length} numbers such as {example}, found {value!r}.") from error
    if a.shape != (length,):
        raise ModelError(
            f"{what}: expected {length} numbers such as {example}, found an array of shape {a.shape}: {value!r}."
        )
    return finite(a, what)


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
    except (TypeError, ValueError, OverflowError) as error:
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


def file_path(value: Any) -> Path:
    """`value` as a path, or an error that says what was found instead."""
    if not isinstance(value, str | PathLike) or not str(value).strip() or "\0" in str(value):
        raise PorthosError(f"path: expected the name of a file, found {value!r}.")
    return Path(value)
