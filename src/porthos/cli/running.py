"""`porthos run`: simulate a file, write what was asked for, and say how it went."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import typer

from porthos.cli.answers import STOPPED, complain, tell
from porthos.cli.python_files import is_python, read_object, run_object
from porthos.cli.spelling import as_in_files
from porthos.errors import PorthosError
from porthos.frontdoor import simulate_file
from porthos.model.modelfile import load_model
from porthos.results.run import Run
from porthos.results.states import StateTrajectory
from porthos.results.storage import NETCDF
from porthos.results.trajectory import Trajectory
from porthos.resuming import resume


def run_file(
    file: Path, changes: Mapping[str, str], out: Path | None, report: Path | None, quiet: bool, as_json: bool
) -> None:
    """Run a model file or a Python file; exit code 3 if the run stopped early, after what was computed is written."""
    _check_report(report)
    _check_out(out)
    progress = False if quiet else None
    if is_python(file):
        run = run_object(file, changes, progress)
        if out is not None:
            run.save(out)
        _answer(run, out, report, quiet, as_json)
        return
    try:
        run = simulate_file(file, as_in_files(changes), on_failure="return", progress=progress, out=out)
    except KeyboardInterrupt as stop:
        if out is not None:
            raise
        raise KeyboardInterrupt("Stopped; nothing is kept. Use --out to keep states while a run goes on.") from stop
    _answer(run, out, report, quiet, as_json)


def resume_file(file: Path, model: Path | None, report: Path | None, quiet: bool, as_json: bool) -> None:
    """Go on with the run of a result; the answer is that of `run_file`."""
    _check_report(report)
    made = None if model is None else read_object(model) if is_python(model) else load_model(model)
    run = resume(file, made, on_failure="return", progress=False if quiet else None)
    _answer(run, file, report, quiet, as_json)


def _check_report(report: Path | None) -> None:
    """Refuse the name of a report before the run, not after it."""
    if report is not None and report.suffix.lower() not in (".html", ".htm"):
        raise PorthosError(f"--report: expected a file name that ends in .html, found '{report}'.")


def _check_out(out: Path | None) -> None:
    """Refuse the name of another format, under which nobody would look for NetCDF."""
    if out is not None and out.suffix.lower() not in NETCDF:
        raise PorthosError(
            f"--out: states go to NetCDF4 files; expected a name that ends in {', '.join(NETCDF)}, found '{out}'. Try "
            f"--out {out.with_suffix('.nc')}, and `porthos export {out.with_suffix('.nc')} --to {out}` after the run."
        )


def _answer(run: Run, out: Path | None, report: Path | None, quiet: bool, as_json: bool) -> None:
    """Write what was asked for, and say how the run went."""
    written = {"out": out, "report": run.report(report) if report is not None else None}
    files = {what: str(path) for what, path in written.items() if path is not None}
    if as_json or not quiet:
        lines = [run.summary(), *(f"  {what:<16}  {path}" for what, path in files.items())]
        tell("\n".join(lines), numbers(run) | {"files": files}, as_json)
    if not run.status.wanted:
        if quiet and not as_json:
            complain(run.message)
        raise typer.Exit(STOPPED)


def numbers(run: Run) -> dict[str, Any]:
    """What the summary says, as data."""
    whole = {
        "model": run.system.name,
        "scheme": run.scheme,
        "status": run.status.name,
        "message": run.message,
        "recorded_steps": run.t.size - 1,
        "end": float(run.t[-1]),
        "power_balance": float(np.abs(run.power_balance).max()),
        "events": [{"name": event.name, "t": event.t} for event in run.events],
        "newton_iterations": int(np.sum(run.raw.iterations)),
    }
    return whole | (_of_mechanism(run) if isinstance(run, Trajectory) else _of_states(run))


def _of_states(run: Run) -> dict[str, Any]:
    """Energies and the state at the end."""
    assert isinstance(run, StateTrajectory)
    ends = {name: getattr(run, name)[-1] for name in ("supplied", "dissipated")}
    states = {name: np.ravel(run[name][-1]).tolist() for name in run.system.blocks}
    energy = [float(run.H[0]), float(run.H[-1])]
    return {"energy": energy, **{name: float(value) for name, value in ends.items()}, "state": states}


def _of_mechanism(run: Trajectory) -> dict[str, Any]:
    return {
        "bodies": len(run.system.body_names),
        "joints": len(run.system.joint_names),
        "energy": [float(run.energy[0]), float(run.energy[-1])],
        "angular_momentum": [run.angular_momentum[0].tolist(), run.angular_momentum[-1].tolist()],
        "linear_momentum": [run.linear_momentum[0].tolist(), run.linear_momentum[-1].tolist()],
        "position_error": float(run.position_error.max()),
        "velocity_error": float(run.velocity_error.max()),
        "moved_initial_values": [moved.body for moved in run.system.adjustments],
        "position": {name: run[name].position[-1].tolist() for name in run.system.body_names},
    }
