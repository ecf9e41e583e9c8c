"""Results as files of other programs; the ending of the name chooses the format.

.csv, .parquet (pyarrow), .mat (MATLAB), .nc (NetCDF4).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from porthos.errors import PorthosError, nearest
from porthos.results.exchange import write_csv, write_matlab, write_parquet
from porthos.results.trajectory import Trajectory

WRITERS: dict[str, Callable[..., object]] = {
    ".csv": write_csv,
    ".parquet": write_parquet,
    ".mat": write_matlab,
    ".nc": Trajectory.save,
}


def export(run: Trajectory, path: Path, **options: Any) -> Path:
    """Write a run to `path`; `options` go to the writer of that format."""
    ending = path.suffix.lower()
    if ending not in WRITERS:
        raise PorthosError(
            f"export: found no format for '{path}', whose name ends in '{ending}'. {nearest(ending, WRITERS)}"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    WRITERS[ending](run, path, **options)
    return path
