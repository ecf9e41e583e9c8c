"""Docstrings are plain text with `names` and equations in lines of their own; here they become RST or Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import cleandoc
from typing import Any

EQUATION = re.compile(r"\S {2,}\S|^\w+ = |^\|[^|]+\| <?= ")


def paragraphs(docstring: str) -> Iterator[tuple[bool, str]]:
    """(is it an equation, text) of each paragraph."""
    for text in cleandoc(docstring).split("\n\n"):
        yield bool(EQUATION.search(text)) and not text.startswith(("Numbers", "- ")), text


def markdown(docstring: str) -> str:
    """The docstring as Markdown."""
    return "\n\n".join(
        f"```text\n{text}\n```" if equation else _outside_names(text, r"([_*|<>\[\]$])", r"\\\1", "`")
        for equation, text in paragraphs(docstring)
    )


def as_rst(app: Any, what: str, name: str, object_: Any, options: Any, lines: list[str]) -> None:
    """The docstring as RST, for autodoc."""
    result: list[str] = []
    for equation, text in paragraphs("\n".join(lines)):
        if equation:
            result += ["::", "", *(f"    {line}" for line in text.splitlines()), ""]
        else:
            result += [*_outside_names(text, r"([*|_\\])", r"\\\1", "``").splitlines(), ""]
    lines[:] = result


def _outside_names(text: str, special: str, escaped: str, quote: str) -> str:
    """Escape special characters outside `names`, and quote names with `quote`."""
    parts = text.split("`")
    return quote.join(part if k % 2 else re.sub(special, escaped, part) for k, part in enumerate(parts))


def setup(app: Any) -> dict[str, bool]:
    """Tell autodoc to read docstrings with this module."""
    app.connect("autodoc-process-docstring", as_rst)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
