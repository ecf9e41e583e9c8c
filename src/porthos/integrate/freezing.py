"""What a run remembers between steps as bytes, and back, bit by bit: `thaw(freeze(memory))` is the memory.

Numbers, texts, tuples, dictionaries and arrays are written with the names of the dataclasses of this room that hold
them. Reading makes such objects and nothing else, so a file cannot make it run anything.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from porthos.errors import ResultError, Status

ROOM = __name__.rpartition(".")[0] + "."
KINDS = "bif"  # of numbers in arrays: truth values, integers, floats
LENGTH = 8  # bytes that say how long the words are


def freeze(memory: Any) -> NDArray[np.uint8]:
    """The memory as bytes: words, then the numbers of all arrays."""
    arrays: list[bytes] = []
    words = json.dumps(_written(memory, arrays.append)).encode()
    return np.frombuffer(b"".join([len(words).to_bytes(LENGTH, "little"), words, *arrays]), dtype=np.uint8)


def thaw(content: NDArray[np.uint8]) -> Any:
    """The memory again."""
    data = content.tobytes()
    first = LENGTH + int.from_bytes(data[:LENGTH], "little")
    at = [first]

    def numbers(kind: str, count: int) -> NDArray[Any]:
        start, at[0] = at[0], at[0] + count * np.dtype(kind).itemsize
        return np.frombuffer(data[start : at[0]], dtype=kind).copy()

    return _read(json.loads(data[LENGTH:first]), numbers)


def _written(value: Any, keep: Callable[[bytes], None]) -> Any:
    if value is None or isinstance(value, bool | int | float | str):  # numbers of NumPy become plain ones
        return value.item() if isinstance(value, np.generic) else value
    if isinstance(value, np.ndarray) and value.dtype.kind in KINDS:
        order: Literal["C", "F"] = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
        keep(value.tobytes(order))  # matrix products may round differently in the other order
        return {"array": value.shape, "kind": value.dtype.str, "order": order}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Status):
        return {"status": value.name}
    if is_dataclass(value) or hasattr(value, "_fields"):
        kind = type(value)
        names = [one.name for one in fields(value)] if is_dataclass(value) else value._fields
        parts = [_written(getattr(value, name), keep) for name in names]
        return {"object": f"{kind.__module__.removeprefix(ROOM)}:{kind.__qualname__}", "parts": parts}
    if isinstance(value, tuple | list):
        return {"tuple": [_written(each, keep) for each in value]}
    if isinstance(value, dict):
        return {"dict": [[key, _written(each, keep)] for key, each in value.items()]}
    raise TypeError(f"a file cannot hold {value!r} of what a run remembers")


def _read(words: Any, numbers: Callable[[str, int], NDArray[Any]]) -> Any:
    if not isinstance(words, dict):
        return words
    if "array" in words:
        if np.dtype(words["kind"]).kind not in KINDS:
            raise ResultError(f"resume: expected numbers in the memory of a run, found '{words['kind']}'.")
        shape = tuple(words["array"])
        return numbers(words["kind"], int(np.prod(shape))).reshape(shape, order=words["order"])
    if "status" in words:
        return Status[words["status"]]
    if "tuple" in words:
        return tuple(_read(each, numbers) for each in words["tuple"])
    if "dict" in words:
        return {key: _read(each, numbers) for key, each in words["dict"]}
    return _class(words["object"])(*(_read(each, numbers) for each in words["parts"]))


def _class(name: str) -> Any:
    """A dataclass or named tuple of this room."""
    module, _, kind = name.partition(":")
    found = getattr(importlib.import_module(ROOM + module), kind, None) if module.isidentifier() else None
    if not (isinstance(found, type) and (is_dataclass(found) or hasattr(found, "_fields"))):
        raise ResultError(f"resume: expected what schemes of Porthos remember, found '{name}'.")
    return found
