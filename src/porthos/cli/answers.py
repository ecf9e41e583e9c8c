"""What the command line answers: text or JSON on stdout, errors as one sentence on stderr, and an exit code.

0 all is well, 1 something that was given is wrong, 2 wrong usage, 3 a run stopped before its end (what was computed is
kept), 4 the self-test failed, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from porthos.errors import PorthosError

WRONG, STOPPED, UNSOUND, INTERRUPTED = 1, 3, 4, 130


class Answering(TyperGroup):
    """Commands whose errors are sentences, not tracebacks."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command and turn what it refuses into a message and an exit code."""
        try:
            return super().invoke(ctx)
        except PorthosError as error:
            complain(str(error))
            raise typer.Exit(WRONG) from error
        except OSError as error:
            if error.errno == errno.EPIPE:  # the reader of our output has gone
                raise
            complain(f"{error.filename or 'file'}: {error.strerror or error}")
            raise typer.Exit(WRONG) from error
        except KeyboardInterrupt as stop:
            complain(str(stop) or "Stopped by Ctrl-C.")
            raise typer.Exit(INTERRUPTED) from stop


def complain(sentence: str) -> None:
    """A message on stderr."""
    typer.echo(f"porthos: {sentence}", err=True)


def tell(lines: str, data: Mapping[str, Any], as_json: bool) -> None:
    """The answer of a command on stdout: for people, or the same for programs."""
    typer.echo(json.dumps(data, indent=2) if as_json else lines)


def written(words: str, *paths: Path, as_json: bool) -> None:
    """Which files a command wrote."""
    tell("\n".join(f"{words} {path}" for path in paths), {"files": [str(path) for path in paths]}, as_json)


def aligned(rows: Mapping[str, str], indent: int = 2) -> str:
    """Names and values in two columns."""
    width = max(len(name) for name in rows)
    return "\n".join(f"{' ' * indent}{name:<{width}}  {value}" for name, value in rows.items())
