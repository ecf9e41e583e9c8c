"""`porthos plot` and `porthos report`: figures and pages from a result file."""

from __future__ import annotations

from pathlib import Path

from porthos.errors import PorthosError
from porthos.results.loading import load


def plot_file(file: Path, quantities: list[str], out: Path | None) -> Path:
    """Draw a result; the figure goes beside the file unless it is told where."""
    target = file.with_suffix(".png") if out is None else out
    figure = load(file).plot(*quantities)
    try:
        figure.savefig(target, dpi=200)
    except ValueError as error:  # an ending that matplotlib does not know
        raise PorthosError(f"--out: {str(error).rstrip('.')}. Try '{target.with_suffix('.png')}'.") from error
    return target


def report_file(file: Path, out: Path | None) -> Path:
    """Write the report of a result; beside the file unless it is told where."""
    return load(file).report(file.with_suffix(".html") if out is None else out)
