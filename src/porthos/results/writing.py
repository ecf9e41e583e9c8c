"""How result files are written: state by state while a run goes on, or all at once afterwards, by one Writer."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porthos.errors import ResultError, Status
from porthos.integrate.checkpoint import Checkpoint
from porthos.integrate.events import Occurrence
from porthos.integrate.march import UNFINISHED, March
from porthos.integrate.recording import States
from porthos.notation import Array, IntArray, file_path
from porthos.results import netcdf
from porthos.results.file_layout import Layout, MechanismLayout, Rows, StatesLayout
from porthos.results.journal import changing, recover
from porthos.results.loading import checks, explained
from porthos.results.seal import seal_file
from porthos.results.states import StateTrajectory
from porthos.results.storage import GROUP, quantities
from porthos.results.trajectory import Trajectory

CHUNK = 2**20  # bytes of the coordinates that lie together in a file
OF_INPUTS = ("joint_force", "joint_torque")  # quantities that depend on the inputs at the nodes
TIME, EVENT = ("time", "n_time"), ("event", "n_event")  # dimensions that grow, in the root and in the group
MEMORY = "n_memory"


class Writer:
    """A file that grows by blocks of states. It is closed and whole between them.

    Until `publish` it has a name that nobody else uses; then it takes the place of an older file. `nodes` says how many
    states are expected. A file with a `plan` of its run is published with the first block; if checkpoints are written
    too, the run is `resumable`.
    """

    def __init__(
        self, path: str | Path, layout: Layout, nodes: int, plan: str = "", resumable: bool = True
    ) -> None:  # fmt: skip
        self.path, self._layout, self._nodes, self._plan = file_path(path), layout, nodes, plan
        self.resumable = bool(plan) and resumable
        self._identity = self._turn = secrets.token_hex(16)
        self._place = self.path.parent / f".porthos-{self._identity[:16]}.part"
        self._count = self._events = 0
        self._reached = 0.0  # time of the last state that was written
        if self.path.is_dir():
            raise ResultError(
                f"'{path}': expected the name of a file to write, found a folder. Try '{self.path / 'run.nc'}'."
            )
        with self._explained():
            os.close(os.open(self._place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))

    @classmethod
    def reopened(cls, path: Path, layout: Layout, nodes: int, plan: str, checkpoint: Checkpoint) -> Writer:
        """A file that goes on after a checkpoint; what was written after it is cut off."""
        self = cls.__new__(cls)
        self.path, self._layout, self._nodes, self._plan, self.resumable = path, layout, nodes, plan, True
        self._place, self._turn = path, secrets.token_hex(16)
        self._count, self._events = checkpoint.rows, checkpoint.events
        layout.reopen(path, self._count)
        self._reached = layout.t
        with explained(path), _opened(path) as file:
            group = file[GROUP]
            self._identity = group.attrs["identity"]
            group.attrs["turn"] = self._turn
            for place in (file, group):
                for dimension, size in ((TIME, self._count), (EVENT, self._events)):
                    _resize(place, dimension, size)
            _note(file, Status.INTERRUPTED, UNFINISHED)
        return self

    def append(self, block: Any, checkpoint: Checkpoint | None = None, events: Sequence[Occurrence] = ()) -> None:
        """Write the next states, from where the run could go on, what happened, and how it stands."""
        with self._explained():
            if self._count == 0:
                self._create(block, checkpoint, events)
            else:
                self._extend(block, checkpoint, events)
        self._count += len(block.t)
        self._reached = float(block.t[-1]) if len(block.t) else self._reached
        self._events += len(events)
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
        layout, rows = self._layout, slice(self._count - 1, self._count)
        assert isinstance(layout, MechanismLayout)
        block = layout.raw(self._place).part(rows)
        block.wrench[0, loads] = wrench
        values = quantities(Trajectory(layout.system, block, layout.scheme), OF_INPUTS)
        with self._explained(), self._changed() as file:
            file[GROUP]["wrench"][rows] = block.wrench
            for name in OF_INPUTS:
                file[name][rows] = values[name]

    def raw(self) -> Any:
        """All that was written; it stays in the file."""
        return self._layout.raw(self._place)

    @contextmanager
    def _changed(self) -> Iterator[Any]:
        """The file, to write into, unless another process has taken it over."""
        with _opened(self._place) as file:
            if file[GROUP].attrs.get("turn") != self._turn:
                raise ResultError(
                    f"'{self.path}': expected the file of this run, found that another process writes its run to it. "
                    "Give each run a file of its own, and resume a run only once."
                )
            yield file

    def _create(self, block: Any, checkpoint: Checkpoint | None, events: Sequence[Occurrence]) -> None:
        import h5py

        root, group = self._layout.first(block, events)
        group.attrs["identity"] = group.attrs["turn"] = self._identity
        if self._plan:
            group["plan"] = ("n_plan", np.frombuffer(self._plan.encode(), dtype=np.uint8))
        if checkpoint is not None:
            group["memory"] = (MEMORY, checkpoint.memory)
            group.attrs["checkpoint"] = self._words(checkpoint)
        together = int(np.clip(CHUNK // self._layout.state_bytes, 1, self._nodes))  # of short runs all
        growing = dict.fromkeys(TIME, together) | dict.fromkeys((*EVENT, MEMORY))
        with h5py.File(self._place, "w", track_order=True) as file:
            netcdf.write(file, root, growing)
            netcdf.write(file.create_group(GROUP, track_order=True), group, growing)
        seal_file(self._place)

    def _extend(self, block: Any, checkpoint: Checkpoint | None, events: Sequence[Occurrence]) -> None:
        rows, happened = self._layout.further(block), self._layout.happened(events)
        with self._changed() as file:
            group = file[GROUP]
            for place, values, more in zip((file, group), rows, happened, strict=True):
                _add(place, TIME, self._count, values)
                _add(place, EVENT, self._events, more if events else {})
            if checkpoint is not None:
                _remember(group, checkpoint.memory)
                group.attrs["checkpoint"] = self._words(checkpoint)
            _note(file, block.status, block.message)

    def _words(self, checkpoint: Checkpoint) -> str:
        return json.dumps({**checkpoint.plain, "checks": checks(self._plan, checkpoint.memory)})

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of the operating system and of HDF5 into a sentence."""
        try:
            yield
        except BlockingIOError as error:
            raise ResultError(
                f"'{self.path}': expected a file that nobody else has open, found that another process holds it (a "
                f"dataset that was not closed?). {self._advice('close it there')}"
            ) from error
        except (OSError, RuntimeError) as error:  # HDF5 reports a full disk as either of them
            reason = getattr(error, "strerror", None) or str(error)
            raise ResultError(
                f"'{self.path}': the result could not be written to '{self.path.parent.absolute()}': {reason}. "
                f"Expected a folder that exists, that you may write to and that has room. {self._advice()}"
            ) from error

    def _advice(self, remedy: str = "make room") -> str:
        if self._place == self.path and self._count:
            on = " then go on with porthos.resume" if self.resumable else " then run it anew"
            return f"The file holds the run up to t = {self._reached:.6g}; {remedy},{on}."
        return "Choose another place for it." if self._plan else "Save it elsewhere; the run itself is not lost."


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """A file to write into; all changes come into it when it is closed, or none."""
    import h5py

    with changing(path) as overlay, h5py.File(overlay, "r+") as file:
        yield file


def _note(file: Any, status: Status, message: str) -> None:
    """Write how a run stands."""
    for place in (file, file[GROUP]):
        place.attrs["status"], place.attrs["message"] = status.name, message


def _resize(place: Any, names: tuple[str, ...], size: int) -> None:
    """Give a dimension of a group another size, if it is there."""
    for name in names:
        if name in place:
            netcdf.resize(place, name, size)


def _add(place: Any, dimension: tuple[str, ...], first: int, values: Rows) -> None:
    """Write further rows of variables behind the first ones."""
    if values:
        last = first + len(next(iter(values.values())))
        _resize(place, dimension, last)
        for name, rows in values.items():
            place[name][first:last] = netcdf.texts_as_objects(rows)


def _remember(group: Any, memory: NDArray[np.uint8]) -> None:
    """Write the memory of a run; its place grows and does not shrink, since HDF5 would lose what it had."""
    import xarray

    if "memory" not in group:
        netcdf.write(group, xarray.Dataset({"memory": (MEMORY, memory)}), {MEMORY: None})
    elif memory.size > group["memory"].size:
        netcdf.resize(group, MEMORY, memory.size)
    group["memory"][: memory.size] = memory


def save(run: Trajectory | StateTrajectory, path: str | Path) -> Path:
    """Write a run to a NetCDF4 file: it appears complete or not at all, and takes the place of an older one."""
    layout: Layout
    blocks: Iterable[March | States]
    if isinstance(run, Trajectory):
        layout, raw = MechanismLayout(run.system, run.scheme, run.origin), run.raw
        blocks = (raw.part(rows) for rows in raw.blocks())
    else:
        layout, blocks = StatesLayout(run.system, run.scheme, run), [run.raw]
    writer, events = Writer(path, layout, len(run.raw.t)), run.events
    try:
        for block in blocks:
            writer.append(block, None, events)
            events = ()
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
