"""`porthos plot`, `report`, `export` and `compare`: what can be made of result files."""

from __future__ import annotations

from pathlib import Path

from porthos.cli.answers import tell
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


def export_file(file: Path, targets: list[Path], quantities: list[str]) -> list[Path]:
    """Write a result for other programs, once for each target; tables may have some quantities only."""
    run, options = load(file), {"quantities": quantities} if quantities else {}
    return [run.export(target, **options) for target in targets]


def compare_files(file: Path, other: Path, as_json: bool) -> None:
    """Tell how two results differ at their common times."""
    found = load(file).compare(load(other))
    data = {
        "common_times": found.t.size,
        "end": float(found.t[-1]),
        "differences": found.to_pandas().to_dict(orient="index"),
        "missing": list(found.missing),
    }
    tell(str(found), data, as_json)
