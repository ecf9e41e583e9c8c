"""Runs the blocks of a page as a reader would, so that what a page says is true.

`python` blocks share their names; a `text` block is what the block before it printed, or the message of the error that
it raised; a `yaml` block, or a `python` block whose first line does so, is written to the file that it names; lines
`$ porthos ...` of `console` blocks are given to the command line.
"""

from __future__ import annotations

import io
import re
import shlex
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from porthos.cli.app import app
from porthos.errors import PorthosError

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NAMED = r"# (\w+\.(?:yaml|py))\n"


def blocks(text: str, language: str | None = None) -> list[tuple[str, str]]:
    """(language, content) of all fenced blocks of a page, or of those in one language."""
    return [pair for pair in BLOCK.findall(text) if language in (None, pair[0])]


def run_page(page: Path, keep: bool = False) -> dict[str, Any]:
    """Run all blocks in the current directory and return the names they left; what fails raises an error.

    `keep` writes what the k-th Python block printed to printed_k.txt, for pages that show it.
    """
    names: dict[str, Any] = {}
    found = blocks(page.read_text(encoding="utf-8"))
    following = [*(language for language, _ in found[1:]), ""]
    said, count = "", 0
    for (language, content), after in zip(found, following, strict=True):
        if language == "python":
            if re.match(NAMED, content):
                Path(_file_name(content, page.name)).write_text(content, encoding="utf-8")
            said, count = _executed(content, page.name, names, may_fail=after == "text"), count + 1
            if keep and said:
                Path(f"printed_{count}.txt").write_text(said, encoding="utf-8")
        elif language == "text":
            _compare(said, content, page.name)
        elif language == "yaml":
            Path(_file_name(content, page.name)).write_text(content, encoding="utf-8")
        elif language == "console":
            lines = content.splitlines()
            said = "".join(_commanded(line, page.name, after == "text" and line is lines[-1]) for line in lines)
    return names


def _executed(code: str, page: str, names: dict[str, Any], may_fail: bool) -> str:
    """What a block printed, or the message of the error it raised."""
    with redirect_stdout(io.StringIO()) as printed:
        try:
            exec(compile(code, page, "exec"), names)
        except PorthosError as error:
            if not may_fail:
                raise
            return str(error)
    return printed.getvalue()


def _compare(said: str, shown: str, page: str) -> None:
    """Lines may be broken elsewhere."""
    if said.split() != shown.split():
        raise AssertionError(f"{page} shows\n\n{shown}\nand the block before it says\n\n{said}")


def _file_name(content: str, page: str) -> str:
    match = re.match(NAMED, content)
    if match is None:
        raise AssertionError(f"{page}: the first line of a YAML block names its file, '# swing.yaml'; found\n{content}")
    return match[1]


def _commanded(line: str, page: str, may_fail: bool) -> str:
    """The answer to a command of Porthos, an error only where it is shown; other commands (pip) are not run."""
    if not line.startswith("$ porthos "):
        return ""
    answer = CliRunner().invoke(app, shlex.split(line, comments=True)[2:])
    if answer.exit_code != 0 and not (may_fail and answer.exit_code == 1):
        raise AssertionError(f"{page}: '{line}' ended with {answer.exit_code}: {answer.output}")
    return answer.output
