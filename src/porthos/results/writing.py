"""How result files are written: state by state while a run goes on, or all at once afterwards, by one Writer."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from porthos.errors import ResultError
from porthos.integrate.march import March, joined
from porthos.notation import Array
from porthos.results.loading import stored
from porthos.results.storage import GROUP, MARCH, quantities, to_dataset, to_tables
from porthos.results.trajectory import Trajectory
from porthos.system.mechanical import MechanicalSystem

CHUNK = 2**20  # bytes of the coordinates that lie together in a file
RESERVE = 2**20  # bytes for the structure of a file, beside those of a block
OF_INPUTS = ("joint_force", "joint_torque")  # quantities that depend on the inputs at the nodes


class Writer:
    """A file that grows by blocks of states. It is closed and whole between them.

    Until `publish` it has a name that nobody else uses; then it takes the place of an older file. A `live` file is
    published with its first block. `nodes` says how many states are expected.
    """

    def __init__(self, path: str | Path, system: MechanicalSystem, scheme: str, nodes: int, live: bool = False) -> None:
        self.path, self._system, self._scheme, self._nodes, self._live = Path(path), system, scheme, nodes, live
        self._identity = secrets.token_hex(16)
        self._place = self.path.parent / f".porthos-{self._identity[:16]}.part"
        self._last: March | None = None  # the last state, with the work of the whole run so far
        self._count = 0
        if self.path.is_dir():
            raise ResultError(
                f"'{path}': expected the name of a file to write, found a folder. Try '{self.path / 'run.nc'}'."
            )
        with self._explained():
            os.close(os.open(self._place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))

    def append(self, block: March) -> None:
        """Write the next states and how the run stands."""
        with self._explained():
            if self._last is None:
                self._create(block)
            else:
                self._extend(block)
        self._count += len(block.t)
        if self._live and self._place != self.path:
            self.publish()

    def publish(self) -> None:
        """Give the file its name."""
        with self._explained():
            _flush(self._place)
            os.replace(self._place, self.path)
        self._place = self.path

    def discard(self) -> None:
        """Remove the file if it has not got its name."""
        if self._place != self.path:
            with suppress(OSError):
                self._place.unlink()

    def revise(self, rows: slice, wrench: Array) -> None:
        """Fill in the inputs at some nodes, and what depends on them."""
        block = replace(self.raw().part(rows), wrench=wrench)
        values = quantities(Trajectory(self._system, block, self._scheme), OF_INPUTS)
        with self._explained(), _opened(self._place) as file:
            file.groups[GROUP].variables["wrench"][rows] = wrench
            for name in OF_INPUTS:
                file.variables[name][rows] = values[name]

    def raw(self) -> March:
        """All that was written; it stays in the file."""
        return stored(self._place)

    def _create(self, block: March) -> None:
        run = Trajectory(self._system, block, self._scheme)
        dataset, tables = to_dataset(run), to_tables(run)
        tables.attrs["identity"] = self._identity
        self._arrange(dataset, "time")
        self._arrange(tables, "n_time")
        dataset.to_netcdf(self._place, engine="h5netcdf", unlimited_dims=["time"])
        tables.to_netcdf(self._place, engine="h5netcdf", mode="a", group=GROUP, unlimited_dims=["n_time"])
        self._remember(run)

    def _extend(self, block: March) -> None:
        assert self._last is not None
        run = Trajectory(self._system, joined([self._last, block]), self._scheme)
        values = {name: array[1:] for name, array in quantities(run).items()}
        first, last = self._count, self._count + len(block.t)
        size = sum(array.nbytes for array in [*values.values(), *(getattr(block, name) for name in MARCH)])
        _reserve(self._place, size + size // max(1, len(block.t)) * self._together + RESERVE)
        with _opened(self._place) as file:
            group = file.groups[GROUP]
            group.resize_dimension("n_time", last)
            for name in MARCH:
                group.variables[name][first:last] = getattr(block, name)
            file.resize_dimension("time", last)
            file.variables["time"][first:last] = block.t
            for name, array in values.items():
                file.variables[name][first:last] = array
            for place in (file, group):
                place.attrs["status"], place.attrs["message"] = block.status.name, block.message
        self._remember(run)

    def _remember(self, run: Trajectory) -> None:
        """Keep the last state: a balance compares with the state before, and work is counted from the start."""
        last = run.raw.part(slice(len(run.raw.t) - 1, None))
        work, loss = (np.cumsum(part, axis=0)[-1:] for part in (run.raw.work, run.raw.loss))
        total = replace(last, work=work, loss=loss)
        self._last = joined([total])  # a copy, which does not hold the whole block

    @property
    def _together(self) -> int:
        """How many states lie together in the file: about CHUNK bytes, of short runs all."""
        return int(np.clip(CHUNK // (96 * len(self._system.body_names)), 1, self._nodes))

    def _arrange(self, dataset: Any, dimension: str) -> None:
        for variable in dataset.variables.values():
            if variable.dims[:1] == (dimension,) and 0 not in variable.shape:
                variable.encoding["chunksizes"] = (self._together, *variable.shape[1:])

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of the operating system and of HDF5 into a sentence."""
        try:
            yield
        except (OSError, RuntimeError) as error:  # HDF5 reports a full disk as either of them
            reason = getattr(error, "strerror", None) or str(error)
            raise ResultError(
                f"'{self.path}': the result could not be written to '{self.path.parent.absolute()}': {reason}. "
                f"Expected a folder that exists, that you may write to and that has room. {self._advice()}"
            ) from error

    def _advice(self) -> str:
        if self._place == self.path and self._last is not None:
            t = float(self._last.t[0])
            return f"The file holds the run up to t = {t:.6g}; make room, or choose another place, and run again."
        return "Choose another place for it." if self._live else "Save it elsewhere; the run itself is not lost."


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """A file to write into, for a while."""
    import h5netcdf

    with h5netcdf.File(path, "r+") as file:
        yield file


def save(run: Trajectory, path: str | Path) -> Path:
    """Write a run to a NetCDF4 file: it appears complete or not at all, and takes the place of an older one."""
    writer = Writer(path, run.system, run.scheme, len(run.raw.t))
    try:
        for rows in run.raw.blocks():
            writer.append(run.raw.part(rows))
        writer.publish()
    finally:
        writer.discard()
    return writer.path


def _reserve(path: Path, size: int) -> None:
    """Claim room at the end of a file, or leave it as it is: HDF5 does not survive a disk that is full in the middle.

    What is not used of it is given back when the file is closed.
    """
    if not hasattr(os, "posix_fallocate"):  # Windows and macOS
        free = shutil.disk_usage(path.parent).free
        if free < size:
            raise OSError(f"found {free / 1e6:.1f} MB free, expected {size / 1e6:.1f} MB for the next states")
        return
    with path.open("r+b") as file:
        end = file.seek(0, os.SEEK_END)
        try:
            os.posix_fallocate(file.fileno(), end, size)
        except OSError:
            file.truncate(end)
            raise


def _flush(path: Path) -> None:
    """Wait until the file is on the disk."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
