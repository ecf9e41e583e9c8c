"""Results as files of other programs; the ending of the name chooses the format.

.csv and .parquet (pyarrow; `quantities` chooses columns), .mat (MATLAB), .nc, .nc4 or .h5 (NetCDF4, which is HDF5),
.pvd (VTK: `frames`), .gif and .mp4 (`fps`, `speed`, `size`). The last three show bodies, so they are for mechanisms.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

from porthos.errors import PorthosError, nearest
from porthos.results.exchange import write_csv, write_matlab, write_parquet
from porthos.results.run import Run
from porthos.results.storage import NETCDF
from porthos.results.trajectory import Trajectory
from porthos.show.movie import write_gif, write_mp4
from porthos.show.vtk import write_vtk

WRITERS: dict[str, Callable[..., object]] = {
    ".csv": write_csv,
    ".parquet": write_parquet,
    ".mat": write_matlab,
    **{ending: lambda run, path: run.save(path) for ending in NETCDF},
    ".pvd": write_vtk,
    ".gif": write_gif,
    ".mp4": write_mp4,
}
OF_MECHANISMS = (".pvd", ".gif", ".mp4")


def export(run: Run, path: Path, **options: Any) -> Path:
    """Write a run to `path`; `options` go to the writer of that format."""
    ending = path.suffix.lower()
    if ending not in WRITERS:
        raise PorthosError(
            f"export: found no format for '{path}', whose name ends in '{ending}'. {nearest(ending, WRITERS)}"
        )
    if ending in OF_MECHANISMS and not isinstance(run, Trajectory):
        raise PorthosError(
            f"export: '{ending}' shows bodies, and '{run.system.name}' is no mechanism. Try a part of it that is one, "
            "run.part(name).export(...), or a file that ends in .csv."
        )
    known = list(signature(WRITERS[ending]).parameters)[2:]
    for option in options:
        if option not in known:
            raise PorthosError(f"export: '{ending}' has no option '{option}'. {nearest(option, known)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    WRITERS[ending](run, path, **options)
    return path
