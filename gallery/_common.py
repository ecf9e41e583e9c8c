"""What the examples share: the schemes side by side, extrapolation to h = 0, and the writing of figures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from porthos.notation import Array

Number = dict[str, float | Array]

SCHEMES = {"PH-MP": ph.Midpoint(), "PH-MP-GGL": ph.MidpointGGL()}
FOLDER = Path("build") / "gallery"


def extrapolated(coarse: Array, fine: Array) -> Array:
    """Values at steps h and h/2 of a symmetric second-order scheme, extrapolated to h = 0; the error is O(h^4)."""
    return (4 * fine - coarse) / 3


def rms(difference: Array) -> float:
    """The root mean square, eq. (63) of 001."""
    return float(np.sqrt(np.mean(difference**2)))


def write_figures(name: str, figures: Mapping[str, Figure]) -> list[Path]:
    """Write figures as build/gallery/<name>/<figure>.png below the current directory."""
    folder = FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{key}.png" for key in figures]
    for path, figure in zip(paths, figures.values(), strict=True):
        figure.savefig(path, dpi=200)
    return paths


def present(name: str, run: ph.Trajectory | ph.StateTrajectory, figures: Mapping[str, Figure]) -> None:
    """Print the summary of a run, write its figures and say where they are."""
    print(run.summary())
    print()
    for path in write_figures(name, figures):
        print(f"figure written to {path}")
