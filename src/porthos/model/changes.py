"""Changes to a model file on the way in: `bodies.crank.mass=0.2` replaces a value of its tree, by its path."""

from __future__ import annotations

from collections.abc import Mapping as Dictionary
from typing import Any

from porthos.errors import ModelFileError, nearest
from porthos.model.forms import SECTIONS
from porthos.model.nodes import List, Mapping, Node, Scalar, parse, shown

SINGULAR = {section.singular: title for title, section in SECTIONS.items()}  # body.crank.mass for bodies.crank.mass


def changed(node: Mapping, changes: Dictionary[str, Any]) -> Mapping:
    """The tree with all changes made; values are what a file would say, as text or as numbers and lists."""
    for path, value in changes.items():
        place = f"{path}={value}"
        first, dot, rest = path.partition(".")
        whole = SINGULAR.get(first, first) + dot + rest
        node = _replaced(node, whole, parse(str(value), place, numbered=False), place)
    return node


def _replaced(node: Mapping, path: str, value: Node, place: str) -> Mapping:
    """A mapping with the value at `path` replaced; a last key that is not there is added, and judged by its reader."""
    for key in sorted(node.entries, key=len, reverse=True):  # names may have dots in them
        if path == key:
            return node.with_entry(key, value)
        if path.startswith(f"{key}."):
            return node.with_entry(key, _below(node.entries[key], path[len(key) + 1 :], value, place))
    if "." not in path:
        return node.with_entry(path, value)
    first, _, rest = path.partition(".")
    if first == "simulation":  # a whole section may come from outside
        return node.with_entry(first, _replaced(Mapping(place, {}, {}), rest, value, place))
    raise ModelFileError(f"{place}: found no '{first}' in the file. {nearest(first, node.entries)}")


def _below(node: Node, path: str, value: Node, place: str) -> Node:
    match node:
        case Mapping():
            return _replaced(node, path, value, place)
        case Scalar() if node.empty:
            return _replaced(Mapping(place, {}, {}), path, value, place)
        case List(items=items):
            first, _, rest = path.partition(".")
            if not first.isdigit() or int(first) >= len(items):
                raise ModelFileError(f"{place}: expected a number from 0 to {len(items) - 1}, found '{first}'.")
            k = int(first)
            new = _below(items[k], rest, value, place) if rest else value
            return List(node.place, (*items[:k], new, *items[k + 1 :]))
        case Scalar():
            raise ModelFileError(f"{place}: expected keys before '.{path}', found {shown(node)}.")
