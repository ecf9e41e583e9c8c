"""How result files are written: state by state while a run goes on, or all at once afterwards, by one Writer."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from porthos.errors import ResultError, Status
from porthos.integrate.checkpoint import Checkpoint
from porthos.integrate.events import Occurrence
from porthos.integrate.march import UNFINISHED, March, joined
from porthos.notation import Array, IntArray, file_path
from porthos.results.journal import changing, recover
from porthos.results.loading import checks, explained, stored
from porthos.results.seal import seal_file
from porthos.results.storage import GROUP, MARCH, quantities, to_dataset, to_tables
from porthos.results.trajectory import Trajectory
from porthos.system.mechanical import MechanicalSystem
from porthos.system.origin import Origin

CHUNK = 2**20  # bytes of the coordinates that lie together in a file
OF_INPUTS = ("joint_force", "joint_torque")  # quantities that depend on the inputs at the nodes


class Writer:
    """A file that grows by blocks of states. It is closed and whole between them.

    Until `publish` it has a name that nobody else uses; then it takes the place of an older file. `nodes` says how many
    states are expected. A file with a `plan` of its run is published with the first block, and the run can be resumed.
    """

    def __init__(
        self,
        path: str | Path,
        system: MechanicalSystem,
        scheme: str,
        nodes: int,
        plan: str = "",
        events: tuple[Occurrence, ...] = (),
        origin: Origin | None = None,
    ) -> None:
        self.path, self._system, self._scheme, self._nodes, self._plan = file_path(path), system, scheme, nodes, plan
        self._events, self._origin = events, origin
        self._identity = self._turn = secrets.token_hex(16)
        self._place = self.path.parent / f".porthos-{self._identity[:16]}.part"
        self._last: March | None = None  # the last state, with the work of the whole run so far
        self._count = 0
        if self.path.is_dir():
            raise ResultError(
                f"'{path}': expected the name of a file to write, found a folder. Try '{self.path / 'run.nc'}'."
            )
        with self._explained():
            os.close(os.open(self._place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))

    @property
    def resumable(self) -> bool:
        """Whether the file shall hold checkpoints."""
        return bool(self._plan)

    @classmethod
    def reopened(cls, path: Path, system: MechanicalSystem, scheme: str, nodes: int, plan: str, rows: int) -> Writer:
        """A file that goes on after its first `rows` states; what is behind them is cut off."""
        self = cls.__new__(cls)
        self.path, self._system, self._scheme, self._nodes, self._plan = path, system, scheme, nodes, plan
        self._place, self._turn, self._count = path, secrets.token_hex(16), rows
        kept = stored(path)
        with explained(path), _opened(path) as file:
            group = file.groups[GROUP]
            self._identity = group.attrs["identity"]
            group.attrs["turn"] = self._turn
            total = file.variables["work"][rows - 1 : rows]
            group.resize_dimension("n_time", rows)
            file.resize_dimension("time", rows)
            _note(file, Status.INTERRUPTED, UNFINISHED)
        last = kept.part(slice(rows - 1, rows))
        self._last = replace(last, work=total)
        return self

    def append(self, block: March, checkpoint: Checkpoint | None = None) -> None:
        """Write the next states, from where the run could go on, and how it stands."""
        with self._explained():
            if self._last is None:
                self._create(block, checkpoint)
            else:
                self._extend(block, checkpoint)
        self._count += len(block.t)
        if self._plan and self._place != self.path:
            self.publish()

    def end(self, status: Status, message: str) -> None:
        """Write how the run ended."""
        with self._explained(), self._changed() as file:
            _note(file, status, message)

    def publish(self) -> None:
        """Give the file its name."""
        with self._explained():
            _flush(self._place)
            recover(self.path)  # a journal of the older file must not meet the newer one
            os.replace(self._place, self.path)
        self._place = self.path

    def discard(self) -> None:
        """Remove the file if it has not got its name."""
        if self._place != self.path:
            with suppress(OSError):
                self._place.unlink()

    def revise(self, loads: IntArray, wrench: Array) -> None:
        """Change the inputs of some loads at the last state, and what depends on them."""
        rows = slice(self._count - 1, self._count)
        block = self.raw().part(rows)
        block.wrench[0, loads] = wrench
        values = quantities(Trajectory(self._system, block, self._scheme), OF_INPUTS)
        with self._explained(), self._changed() as file:
            file.groups[GROUP].variables["wrench"][rows] = block.wrench
            for name in OF_INPUTS:
                file.variables[name][rows] = values[name]

    def raw(self) -> March:
        """All that was written; it stays in the file."""
        return stored(self._place)

    @contextmanager
    def _changed(self) -> Iterator[Any]:
        """The file, to write into, unless another process has taken it over."""
        with _opened(self._place) as file:
            if file.groups[GROUP].attrs.get("turn") != self._turn:
                raise ResultError(
                    f"'{self.path}': expected the file of this run, found that another process writes its run to it. "
                    "Give each run a file of its own, and resume a run only once."
                )
            yield file

    def _create(self, block: March, checkpoint: Checkpoint | None) -> None:
        run = Trajectory(self._system, block, self._scheme, self._events, self._origin)
        dataset, tables = to_dataset(run), to_tables(run)
        tables.attrs["identity"] = tables.attrs["turn"] = self._identity
        if self._plan:
            tables["plan"] = ("n_plan", np.frombuffer(self._plan.encode(), dtype=np.uint8))
        if checkpoint is not None:
            tables["memory"] = ("n_memory", checkpoint.memory)
            tables.attrs["checkpoint"] = self._words(checkpoint)
        self._arrange(dataset, "time")
        self._arrange(tables, "n_time")
        dataset.to_netcdf(self._place, engine="h5netcdf", unlimited_dims=["time"])
        tables.to_netcdf(self._place, engine="h5netcdf", mode="a", group=GROUP, unlimited_dims=["n_time"])
        seal_file(self._place)
        self._remember(run)

    def _extend(self, block: March, checkpoint: Checkpoint | None) -> None:
        assert self._last is not None
        run = Trajectory(self._system, joined([self._last, block]), self._scheme)
        values = {name: array[1:] for name, array in quantities(run).items()}
        first, last = self._count, self._count + len(block.t)
        with self._changed() as file:
            group = file.groups[GROUP]
            group.resize_dimension("n_time", last)
            for name in MARCH:
                group.variables[name][first:last] = getattr(block, name)
            file.resize_dimension("time", last)
            file.variables["time"][first:last] = block.t
            for name, array in values.items():
                file.variables[name][first:last] = array
            if checkpoint is not None:
                if "memory" not in group.variables:
                    group.dimensions["n_memory"] = checkpoint.memory.size
                    group.create_variable("memory", ("n_memory",), np.uint8)
                group.variables["memory"][:] = checkpoint.memory
                group.attrs["checkpoint"] = self._words(checkpoint)
            _note(file, block.status, block.message)
        self._remember(run)

    def _words(self, checkpoint: Checkpoint) -> str:
        return json.dumps({**checkpoint.plain, "checks": checks(self._plan, checkpoint.memory)})

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
        except BlockingIOError as error:
            raise ResultError(
                f"'{self.path}': expected a file that nobody else has open, found that another process holds it (a "
                f"dataset that was not closed?). {self._advice()}"
            ) from error
        except (OSError, RuntimeError) as error:  # HDF5 reports a full disk as either of them
            reason = getattr(error, "strerror", None) or str(error)
            raise ResultError(
                f"'{self.path}': the result could not be written to '{self.path.parent.absolute()}': {reason}. "
                f"Expected a folder that exists, that you may write to and that has room. {self._advice()}"
            ) from error

    def _advice(self) -> str:
        if self._place == self.path and self._last is not None:
            t = float(self._last.t[0])
            return f"The file holds the run up to t = {t:.6g}; make room, then go on with porthos.resume."
        return "Choose another place for it." if self._plan else "Save it elsewhere; the run itself is not lost."


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """A file to write into; all changes come into it when it is closed, or none."""
    import h5netcdf
    import h5py

    # h5netcdf would leave a damaged file open
    with changing(path) as overlay, h5py.File(overlay, "r+") as raw, h5netcdf.File(raw, "r+") as file:
        yield file


def _note(file: Any, status: Status, message: str) -> None:
    """Write how a run stands."""
    for place in (file, file.groups[GROUP]):
        place.attrs["status"], place.attrs["message"] = status.name, message


def save(run: Trajectory, path: str | Path) -> Path:
    """Write a run to a NetCDF4 file: it appears complete or not at all, and takes the place of an older one."""
    writer = Writer(path, run.system, run.scheme, len(run.raw.t), events=run.events, origin=run.origin)
    try:
        for rows in run.raw.blocks():
            writer.append(run.raw.part(rows))
        writer.publish()
    finally:
        writer.discard()
    return writer.path


def _flush(path: Path) -> None:
    """Wait until the file is on the disk."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
