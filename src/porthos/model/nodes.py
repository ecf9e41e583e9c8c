"""The text of a model file as a tree of nodes that know where they stand. Reading it builds nothing and runs nothing.

Of YAML only what a description needs is accepted: texts, lists and mappings, with limits on size, depth and number.
Anchors, aliases and tags are refused, so there is nothing that could grow or be executed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from porthos.errors import ModelFileError, nearest

LARGEST = 2**24  # bytes of a file
DEEPEST = 16  # levels of nesting
MOST = 1_000_000  # values
LONGEST = 2000  # characters of a name or value
NOTHING = ("", "~", "null")

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Scalar:
    """A piece of text; what it means depends on where it stands."""

    place: str
    text: str
    quoted: bool = False

    @property
    def empty(self) -> bool:
        """Whether nothing was given."""
        return not self.quoted and self.text in NOTHING


@dataclass(frozen=True)
class List:
    """A list of nodes."""

    place: str
    items: tuple[Node, ...]


@dataclass(frozen=True)
class Mapping:
    """Keys and their nodes, and where each key stands."""

    place: str
    entries: dict[str, Node]
    places: dict[str, str]

    def place_of(self, key: str | None) -> str:
        """Where a key stands; the mapping itself if there is no such key."""
        return self.places.get(key or "", self.place)

    def with_entry(self, key: str, node: Node) -> Mapping:
        """The same with one entry more, or another one in its place."""
        return Mapping(self.place, {**self.entries, key: node}, {**self.places, key: node.place})


Node: TypeAlias = Scalar | List | Mapping


def shown(node: Node) -> str:
    """How messages call what was found."""
    match node:
        case Scalar(text=text) if node.empty:
            return "nothing" if text == "" else text
        case Scalar(text=text):
            return repr(text if len(text) <= 60 else text[:57] + "...")
        case List(items=items):
            return f"a list of {len(items)}" if len(items) != 1 else "a list of one"
        case Mapping(entries=entries):
            return f"a mapping with {', '.join(map(repr, list(entries)[:4])) or 'no keys'}"


def read_nodes(path: str | Path) -> Mapping:
    """The tree of a file, or a ModelFileError with its name and line."""
    name = Path(path).name
    try:
        with Path(path).open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        beside = sorted(file.name for file in Path(path).parent.glob("*.y*ml"))
        hint = nearest(name, beside) if isinstance(error, FileNotFoundError) else "Expected a file that you may read."
        raise ModelFileError(f"{path}: cannot be read: {error.strerror}. {hint}") from error
    if len(data) > LARGEST:
        raise ModelFileError(f"{name}: expected a model file of at most {LARGEST >> 20} MB, found a larger one.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ModelFileError(f"{name}, line {line}: expected text in UTF-8, found other bytes.") from error
    return parse_model(text, name)


def parse_model(text: str, name: str) -> Mapping:
    """The tree of the text of a model file."""
    node = parse(text, name)
    if not isinstance(node, Mapping):
        found = "an empty file" if isinstance(node, Scalar) and node.empty else shown(node)
        raise ModelFileError(f"{name}: expected a model with keys such as 'bodies' and 'joints', found {found}.")
    return node


def parse(text: str, name: str, numbered: bool = True) -> Node:
    """The tree of a text; `numbered` places say in which line of it they are."""
    tree = _Tree(name, numbered)
    try:
        return tree.document(iter(yaml.parse(text, Loader=_Loader)))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = tree.place(mark) if mark else name
        hint = " Indent with spaces, not with tabs." if re.search(r"\btab\b|\\t", str(error.problem)) else ""
        raise ModelFileError(f"{place}: not valid YAML: {error.problem or error.context}.{hint}") from error
    except yaml.YAMLError as error:  # a character that may not stand in a text
        raise ModelFileError(f"{name}: not valid YAML: {' '.join(str(error).split())}.") from error


class _Tree:
    """Builds nodes from the events of the parser, one by one, and stops at the first that is refused."""

    def __init__(self, name: str, numbered: bool) -> None:
        self._name, self._numbered, self._count = name, numbered, 0

    def place(self, mark: Any) -> str:
        """File and line of a mark of the parser."""
        return f"{self._name}, line {mark.line + 1}" if self._numbered else self._name

    def document(self, events: Iterator[Any]) -> Node:
        """The only document of a stream."""
        next(events)  # start of the stream
        start = next(events)
        if isinstance(start, yaml.StreamEndEvent):
            return Scalar(self._name, "")
        node = self._node(next(events), events, DEEPEST)
        next(events)  # end of the document
        more = next(events)
        if not isinstance(more, yaml.StreamEndEvent):
            raise ModelFileError(
                f"{self.place(more.start_mark)}: expected one document, found another one after '---'."
            )
        return node

    def _node(self, event: Any, events: Iterator[Any], depth: int) -> Node:
        place = self.place(event.start_mark)
        self._refuse(event, place)
        self._count += 1
        if self._count > MOST:
            raise ModelFileError(f"{place}: expected at most {MOST} values, found more.")
        if isinstance(event, yaml.ScalarEvent):
            if len(event.value) > LONGEST:
                raise ModelFileError(
                    f"{place}: expected names and values of at most {LONGEST} characters, found {event.value[:40]!r}..."
                )
            return Scalar(place, event.value, quoted=bool(event.style))
        if depth == 0:
            raise ModelFileError(f"{place}: expected at most {DEEPEST} levels of nesting, found more.")
        if isinstance(event, yaml.SequenceStartEvent):
            return List(place, tuple(self._items(events, depth)))
        return self._mapping(place, events, depth)

    def _items(self, events: Iterator[Any], depth: int) -> Iterator[Node]:
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            yield self._node(event, events, depth - 1)

    def _mapping(self, place: str, events: Iterator[Any], depth: int) -> Mapping:
        entries: dict[str, Node] = {}
        places: dict[str, str] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            key = self._node(event, events, depth - 1)
            if not isinstance(key, Scalar):
                raise ModelFileError(f"{key.place}: expected a name before ':', found {shown(key)}.")
            if key.text in entries:
                raise ModelFileError(
                    f"{key.place}: the key '{key.text}' was given already ({places[key.text]}). "
                    "Expected each key once; rename or remove one of them."
                )
            places[key.text] = key.place
            entries[key.text] = self._node(next(events), events, depth - 1)
        return Mapping(place, entries, places)

    def _refuse(self, event: Any, place: str) -> None:
        """Aliases may grow without limit, tags may stand for code."""
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            sign = "*" if isinstance(event, yaml.AliasEvent) else "&"
            raise ModelFileError(
                f"{place}: expected values, found '{sign}{event.anchor}'. Model files have no anchors and aliases: "
                "write the value itself."
            )
        if event.tag is not None:
            raise ModelFileError(
                f"{place}: expected values, found the tag '{event.tag}'. Model files hold plain text and numbers: "
                "remove the tag."
            )
