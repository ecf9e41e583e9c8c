"""`porthos modes`: frequencies and shapes of small vibrations of a model file about its state of rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from porthos.cli.answers import tell
from porthos.errors import PorthosError
from porthos.model.modelfile import ModelFile
from porthos.results.trajectory import Trajectory
from porthos.system.modes import Modes, modes
from porthos.system.small_motions import ComplexArray

MOVES = 1e-6  # amplitude, relative to the largest, from which a body counts as moving


def modes_of_file(
    path: Path, changes: Mapping[str, str], time: float, mode: int | None, targets: Sequence[Path], as_json: bool
) -> None:
    """Read a file, find where its mechanism rests, say how it vibrates there, and write a mode as film or report."""
    model = ModelFile.read(path, changes).model
    found, bodies = modes(model, time=time), [body.name for body in model.bodies]
    owner = {node.name: beam.name for beam in model.beams for node in beam.nodes}
    written = _written(found, mode, targets)
    lines = [
        _text(model.name, found, {body: owner.get(body, body) for body in bodies}),
        *(f"written to {target}" for target in written),
    ]
    tell("\n".join(lines), {**_data(model.name, found, bodies), "written": [*map(str, written)]}, as_json)


def _written(found: Modes, mode: int | None, targets: Sequence[Path]) -> list[Path]:
    """Files that show a mode, the slowest that oscillates if none is chosen."""
    if not targets:
        if mode is not None:
            raise PorthosError(f"modes: found --mode {mode} without --to. Say where it is shown: --to mode.gif.")
        return []
    moving = np.flatnonzero(found.angular_frequencies)
    run = found.motion((int(moving[0]) if moving.size else 0) if mode is None else mode)
    assert isinstance(run, Trajectory)  # of a model
    return [run.report(target) if target.suffix == ".html" else run.export(target) for target in targets]


def _text(name: str, found: Modes, owner: Mapping[str, str]) -> str:
    """A line for each mode, with what moves in it; `owner` has the bodies, and the beam that stands for a node."""
    steady = "stable" if found.stable else "UNSTABLE: a mode grows"
    still = int(np.sum(found.eigenvalues == 0.0))
    lines = [f"{name}: {len(found) - still} mode(s) about the state of rest, {steady}"]
    if still:
        lines.append(f"  {still} zero eigenvalue(s): {still // 2} motion(s) that nothing brings back")
    for k, s in enumerate(found.eigenvalues):
        if s == 0.0:
            continue
        moving = list(dict.fromkeys(part for body, part in owner.items() if _amplitude(found, k, body) > MOVES))
        shown = ", ".join(f"'{part}'" for part in moving[:6]) + (" and others" if len(moving) > 6 else "")
        note = f", grows with exp({s.real:.6g} t)" if s.real > 0.0 else ""
        lines.append(f"  {k}  {found.frequencies[k]:12.6g} Hz  damping {found.damping[k]:.4f}{note}  moves {shown}")
    return "\n".join(lines)


def _amplitude(found: Modes, mode: int, body: str) -> float:
    one = found.displacement(mode, body)
    return float(np.abs(np.concatenate([one.translation, one.rotation])).max())


def _data(name: str, found: Modes, bodies: list[str]) -> dict[str, Any]:
    listed = []
    for k, s in enumerate(found.eigenvalues):
        moved = {body: found.displacement(k, body) for body in bodies}
        shape = {b: {"translation": _parts(d.translation), "rotation": _parts(d.rotation)} for b, d in moved.items()}
        values = {"frequency": float(found.frequencies[k]), "damping": float(found.damping[k])}
        listed.append({**values, "eigenvalue": [s.real, s.imag], "shape": shape})
    return {"model": name, "stable": found.stable, "modes": listed}


def _parts(amplitude: ComplexArray) -> dict[str, list[float]]:
    return {"real": amplitude.real.tolist(), "imaginary": amplitude.imag.tolist()}
