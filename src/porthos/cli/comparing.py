"""`porthos compare` on a model file or a Python file: schemes side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from numbers import Real
from pathlib import Path
from typing import Any

from porthos.cli.answers import tell
from porthos.cli.python_files import is_python, request_of
from porthos.cli.spelling import scheme_of
from porthos.errors import PorthosError
from porthos.frontdoor import Request
from porthos.integrate.scheme import Contract
from porthos.model.model import Model
from porthos.model.modelfile import ModelFile
from porthos.steps import Adaptive
from porthos.study.schemes import ERRORS, SchemeStudy, compare
from porthos.system.mechanical import MechanicalSystem

MECHANISMS = ("Midpoint", "MidpointGGL", "Composition(order=4)", "Composition(order=6)")  # if no schemes are given
OTHERS = ("Gauss(1)", "Gauss(2)", "RadauIIA(2)", "RadauIIA(3)")  # of systems that are none


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
    study = _compared(file, [scheme_of(text) for text in schemes], steps, end, tolerances)
    lines = [str(study)]
    if out is not None:
        study.plot().savefig(out, dpi=200)
        lines.append(f"figure written to {out}")
    trials = [{k: _known(v) for k, v in asdict(trial).items()} for trial in study.trials]
    orders = [{name: _known(study.order(name, quantity)) for name in study.schemes} for quantity in ERRORS]
    data = {"model": study.name, "end": study.end, "reference": study.reference, "trials": trials}
    data |= dict(zip(("orders", "velocity_orders", "multiplier_orders"), orders, strict=True))
    tell("\n".join(lines), data, as_json)


def _compared(
    path: Path, schemes: Sequence[Contract], steps: Sequence[float], end: float | None, tolerances: Sequence[float]
) -> SchemeStudy:
    """What is not given is taken from the file, with steps 1, 1/2 and 1/4 of its own."""
    asked = request_of(path) if is_python(path) else _request_of_model(path)
    if asked.start is not None:
        raise PorthosError(
            f"compare: '{path.name}' gives ph.simulate a `start`, found {asked.start!r}. Give it `initial`."
        )
    sizes: list[float | Adaptive] = [*steps, *(Adaptive(rtol=rtol, atol=rtol) for rtol in tolerances)]
    missing = [name for name, has in (("--step", sizes or asked.step), ("--end", end or asked.end)) if not has]
    if missing:
        raise PorthosError(f"compare: '{path.name}' does not say how it is run: expected {' and '.join(missing)}.")
    if not sizes and not isinstance(asked.step, Real):
        raise PorthosError(
            f"compare: '{path.name}' has no fixed step to begin with, found {asked.step!r}. Give --step."
        )
    sizes = sizes or [asked.step / k for k in (1, 2, 4)]
    usual = MECHANISMS if isinstance(asked.model, Model | MechanicalSystem) else OTHERS
    return compare(asked.model, schemes or usual, sizes, end or asked.end, asked.inputs)  # type: ignore[arg-type]


def _request_of_model(path: Path) -> Request:
    """What a model file says, also one without a section that says how to run it."""
    file = ModelFile.read(path)
    plan = file.simulation
    return Request(file.model) if plan is None else Request(file.model, plan.step, plan.end, plan.inputs)


def _known(value: Any) -> Any:
    """JSON has no NaN."""
    return None if value != value else value
