"""How values stand in a model file: for each type of value how it is read, written, and described to editors."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import ModelError, nearest
from porthos.model import expressions
from porthos.model.bodies import Rotation
from porthos.model.inertia import Tensor
from porthos.model.nodes import List, Mapping, Node, Scalar, shown
from porthos.model.signals import Formulas, Level, Numbers, Rows

NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
WITH_UNIT = re.compile(NUMBER.pattern + r"\s*[A-Za-z°].*")
WHOLE = re.compile(r"[-+]?\d{1,18}")
FLAGS = {"true": True, "false": False}
EXACT = 2.0**53  # whole numbers up to this one are written without a point


class Misfit(Exception):  # noqa: N818 - it never leaves the reader, which turns it into a ModelFileError
    """A node that does not fit: its place and a sentence."""

    def __init__(self, node: Node, text: str) -> None:
        super().__init__(text)
        self.place = node.place


@dataclass(frozen=True)
class Kind:
    """What a type of value is in a file."""

    read: Callable[[Node], Any]
    write: Callable[[Any], Any]
    schema: dict[str, Any]


def read_number(node: Node) -> float:
    """A number, or an expression of numbers such as pi/2."""
    if not isinstance(node, Scalar) or node.empty:
        raise Misfit(node, f"expected a number such as 0.12 or pi/2, found {shown(node)}.")
    if NUMBER.fullmatch(node.text):
        return float(node.text)
    try:
        return expressions.number(node.text)
    except ModelError as error:
        if WITH_UNIT.fullmatch(node.text):
            hint = "All units are SI, and none are written."
        else:
            hint = "" if node.text.isidentifier() else f"As an expression: {error}"
        raise Misfit(node, f"expected a number such as 0.12 or pi/2, found {shown(node)}. {hint}".strip()) from error


def write_number(value: Any) -> float | int:
    """A number that is read as the same number again: whole ones without a point."""
    x = float(value)
    whole = x.is_integer() and abs(x) <= EXACT and not (x == 0.0 and np.signbit(x))
    return int(x) if whole else x


def _read_whole(node: Node) -> int:
    if isinstance(node, Scalar) and WHOLE.fullmatch(node.text):
        return int(node.text)
    raise Misfit(node, f"expected a whole number such as 10, found {shown(node)}.")


def read_text(node: Node) -> str:
    """A text, whatever it looks like."""
    if isinstance(node, Scalar) and not node.empty:
        return node.text
    raise Misfit(node, f"expected a name, found {shown(node)}.")


def read_flag(node: Node) -> bool:
    """True or false."""
    if isinstance(node, Scalar) and node.text in FLAGS:
        return FLAGS[node.text]
    raise Misfit(node, f"expected true or false, found {shown(node)}.")


def _items(node: Node, expected: str) -> tuple[Node, ...]:
    if isinstance(node, List):
        return node.items
    raise Misfit(node, f"expected {expected}, found {shown(node)}.")


THREE = "3 numbers such as [{}]"


def _read_vector(node: Node, expected: str = THREE.format("1, 2, 3")) -> tuple[float, ...]:
    return tuple(read_number(item) for item in _items(node, expected))


def _read_nested(node: Node, expected: str) -> tuple[Any, ...]:
    """A list of numbers, or a list of such lists."""
    items = _items(node, expected)
    if any(isinstance(item, List) for item in items):
        return tuple(_read_vector(item, f"{expected}, all rows alike") for item in items)
    return _read_vector(node, expected)


def _read_level(node: Node) -> float | tuple[float, ...]:
    return _read_vector(node) if isinstance(node, List) else read_number(node)


def _read_rotation(node: Node) -> Any:
    """{axis, angle}, [w, x, y, z], or a 3 x 3 matrix."""
    if not isinstance(node, Mapping):
        expected = "{axis: [0, 0, 1], angle: pi/2}, a quaternion [w, x, y, z] or a 3 x 3 matrix"
        return list(_read_nested(node, expected))  # a tuple of two would be (axis, angle)
    for key in node.entries:
        if key not in ("axis", "angle"):
            raise Misfit(node, f"found the key '{key}'. {nearest(key, ('axis', 'angle'))}")
    for key in ("axis", "angle"):
        if key not in node.entries:
            raise Misfit(node, f"expected axis and angle (in radians), found no '{key}'.")
    return _read_vector(node.entries["axis"]), read_number(node.entries["angle"])


def write_array(value: Any) -> Any:
    """Numbers, or lists of them."""
    return [write_array(row) for row in value] if np.ndim(value) else write_number(value)


def _write_tensor(value: Any) -> Any:
    J = np.asarray(value)
    return write_array(np.diag(J) if np.array_equal(J, np.diag(np.diag(J))) else J)


def _write_rotation(value: Any) -> Any:
    if isinstance(value, tuple) and len(value) == 2 and np.ndim(value[1]) == 0:
        return {"axis": write_array(np.asarray(value[0])), "angle": write_number(value[1])}
    return write_array(np.asarray(value, dtype=np.float64))


def _read_formulas(node: Node) -> str | tuple[str, ...]:
    return tuple(read_text(item) for item in node.items) if isinstance(node, List) else read_text(node)


def _read_names(node: Node) -> tuple[str, ...]:
    return tuple(read_text(item) for item in _items(node, "a list of names such as [energy, bob.position]"))


def _list_of(item: dict[str, Any], count: int | None = None) -> dict[str, Any]:
    limits = {} if count is None else {"minItems": count, "maxItems": count}
    return {"type": "array", "items": item, **limits}


ONE = {"type": ["number", "string"]}  # a string is an expression
VECTOR = _list_of(ONE, 3)
MATRIX = _list_of(VECTOR, 3)
TURN = {
    "type": "object",
    "properties": {"axis": VECTOR, "angle": ONE},
    "required": ["axis", "angle"],
    "additionalProperties": False,
}
NAME = {"type": ["string", "number", "boolean"]}  # YAML takes an unquoted 1 or no for something else than a name
ANY_VECTOR = _list_of(ONE)
LIST = Kind(lambda node: _read_vector(node, "a list of numbers"), write_array, ANY_VECTOR)

KINDS: dict[Any, Kind] = {
    float: Kind(read_number, write_number, ONE),
    int: Kind(_read_whole, int, {"type": "integer"}),
    bool: Kind(read_flag, bool, {"type": "boolean"}),
    str: Kind(read_text, str, NAME),
    ArrayLike: Kind(_read_vector, write_array, VECTOR),
    Tensor: Kind(
        lambda node: _read_nested(node, "3 principal moments or a 3 x 3 matrix"),
        _write_tensor,
        {"anyOf": [VECTOR, MATRIX]},
    ),
    Rotation: Kind(_read_rotation, _write_rotation, {"anyOf": [TURN, _list_of(ONE, 4), MATRIX]}),
    Numbers: LIST,
    tuple[float, ...]: LIST,
    tuple[str, ...]: Kind(_read_names, list, _list_of(NAME)),
    Rows: Kind(
        lambda node: _read_nested(node, "a list of numbers or of vectors"),
        write_array,
        _list_of({"anyOf": [ONE, ANY_VECTOR]}),
    ),
    Level: Kind(_read_level, write_array, {"anyOf": [ONE, ANY_VECTOR]}),
    Formulas: Kind(
        _read_formulas,
        lambda value: value if isinstance(value, str) else list(value),
        {"anyOf": [ONE, ANY_VECTOR]},
    ),
}


def vector_such_as(example: str) -> Kind:
    """Three numbers, for which a misfit is shown numbers that make sense there."""
    return Kind(lambda node: _read_vector(node, THREE.format(example)), write_array, VECTOR)


def choice(options: tuple[str, ...]) -> Kind:
    """One of a few words."""

    def read(node: Node) -> str:
        word = read_text(node)
        if word not in options:
            raise Misfit(node, f"expected one of a few words, found '{word}'. {nearest(word, options)}")
        return word

    return Kind(read, str, {"enum": list(options)})
