"""Functions of the user's within a system: what they raise, and what they give that is no number, with their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from scipy import sparse

from porthos.errors import InputError, StructureError


class FunctionError(StructureError, InputError):
    """A function of which a system is made failed."""

    def within(self, t: float, h: float) -> FunctionError:
        """The same, with the step in which it did."""
        return FunctionError(f"{self} {place_in_time(t, h)}")


def place_in_time(t: float, h: float) -> str:
    """How messages call a step."""
    return f"It happened in the step from t = {t:.6g} to {t + h:.6g}."


_watching: ContextVar[bool] = ContextVar("watching", default=False)


@contextmanager
def watching() -> Iterator[None]:
    """Within, values that are not finite are an error where they first appear; to find out why a step failed."""
    token = _watching.set(True)
    try:
        yield
    finally:
        _watching.reset(token)


def called(where: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """What a user's function gives, or a FunctionError that names it."""
    try:
        value = function(*arguments)
    except Exception as error:  # a user's function may raise anything; the run so far must survive it
        raise FunctionError(f"{where}: its function failed with {type(error).__name__}: {error}.") from error
    if _watching.get() and not _finite(value) and all(_finite(each) for each in arguments):
        raise FunctionError(f"{where}: its function returned {value!r}; expected finite numbers.")
    return value


def _finite(value: Any) -> bool:
    entries = value.data if sparse.issparse(value) else value
    try:
        return bool(np.isfinite(entries).all())
    except TypeError:  # no numbers: said elsewhere
        return True
