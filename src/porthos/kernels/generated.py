"""The one signature of functions that are generated from a Lagrangian: f(t, q, v, w, p, out) fills `out`.

Compiled loops take such functions as arguments of this type, so that a loop is compiled once for all Lagrangians.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba import types

ARRAY = types.float64[::1]
SIGNATURE = types.void(types.float64, ARRAY, ARRAY, ARRAY, ARRAY, ARRAY)
FUNCTION = types.FunctionType(SIGNATURE)

_njit: Any = numba.njit


def compiled(function: Callable[..., None]) -> Any:
    """A generated function, compiled and kept beside its source file, which is named by its own hash."""
    return _njit(SIGNATURE, cache=True, error_model="numpy")(function)
