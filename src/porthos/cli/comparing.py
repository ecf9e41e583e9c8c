"""`porthos compare` on a model file: schemes side by side."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from porthos.cli.answers import tell
from porthos.cli.spelling import scheme_of
from porthos.errors import PorthosError
from porthos.study.schemes import ERRORS, compare_file


def compare_schemes(
    file: Path,
    schemes: list[str],
    steps: list[float],
    tolerances: list[float],
    end: float | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Run them and tell what was found; the figure goes to `out`."""
    if file.suffix == ".nc":
        raise PorthosError(
            f"compare: '{file}' is a result. Name a second one, or give a model file to compare schemes."
        )
    study = compare_file(file, [scheme_of(text) for text in schemes], steps, end, tolerances)
    lines = [str(study)]
    if out is not None:
        study.plot().savefig(out, dpi=200)
        lines.append(f"figure written to {out}")
    trials = [{k: _known(v) for k, v in asdict(trial).items()} for trial in study.trials]
    orders = [{name: _known(study.order(name, quantity)) for name in study.schemes} for quantity in ERRORS]
    data = {"model": study.name, "end": study.end, "reference": study.reference, "trials": trials}
    data |= dict(zip(("orders", "velocity_orders", "multiplier_orders"), orders, strict=True))
    tell("\n".join(lines), data, as_json)


def _known(value: Any) -> Any:
    """JSON has no NaN."""
    return None if value != value else value
