"""The fixed-step march: from the initial state to the end, in chunks of compiled steps, kept in blocks of states."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol

import numpy as np

from porthos.errors import InputError, Status
from porthos.integrate.checkpoint import Checkpoint, Question, packed, unpack
from porthos.integrate.controllers import Controllers
from porthos.integrate.energy_watch import EnergyWatch
from porthos.integrate.events import Occurrence
from porthos.integrate.inputs import Inputs
from porthos.integrate.progress import Progress, silent
from porthos.integrate.scheme import Scheme
from porthos.integrate.sensing import Sensed
from porthos.kernels.feedback import STOPPED
from porthos.kernels.newton import CONVERGED, SINGULAR, STALLED, STRAYED, TURNED_TOO_FAR
from porthos.kernels.record import Record
from porthos.notation import Array, IntArray
from porthos.system.dead_points import dead_point
from porthos.system.descriptor import Descriptor
from porthos.system.drives import lost
from porthos.system.mechanical import MechanicalSystem
from porthos.system.watching import place_in_time

CHUNK = 1000  # steps between two calls of `progress`
BLOCK = 2**24  # bytes of a block of states
TOGETHER = 64  # states that are held against their drives at once
PATIENCE = 30.0  # seconds after which a block is handed on even if it has room left

STATUS = {
    CONVERGED: Status.OK,
    STALLED: Status.NEWTON_STALLED,
    SINGULAR: Status.SINGULAR,
    TURNED_TOO_FAR: Status.STEP_TOO_LARGE,
    STRAYED: Status.STRAYED,
    STOPPED: Status.INTERRUPTED,
}
UNFINISHED = "The run has not reached its end: it is still going on, or was stopped from outside."


@dataclass(frozen=True)
class March:
    """The raw result: states at the recorded nodes, and what happened in the interval before each of them.

    The arrays may also stay in a file; then a slice of them reads only what it names.
    """

    t: Array  # (K,)
    q: Array  # (K, N, 4, 3)
    v: Array  # (K, N, 4, 3)
    wrench: Array  # (K, L+D, 6) inputs at the nodes; of controllers `Controllers.held`; of drives s, s' and s''
    multipliers: Array  # (K, R) of joints and force elements, means over the last step of the interval; 0 at the start
    outputs: Array  # (K, L+D, 6) the same; of drives their force and power
    work: Array  # (K, L+D) of each load, port and drive during the interval; 0 at the start
    loss: Array  # (K, E) energy that each force element took during the interval; 0 at the start
    angle: (
        Array  # (K, F) to which angles of force elements are nearest: rows do not know of whole turns; 0 at the start
    )
    iterations: IntArray  # (K,)
    status: Status
    message: str

    def blocks(self) -> Iterator[slice]:
        """Ranges of rows that cover all of them and take BLOCK bytes each."""
        inner = self.multipliers.shape[1] + self.loss.shape[1] + self.angle.shape[1]
        rows = rows_of_a_block(self.q.shape[1], inner, self.work.shape[1])
        return (slice(k, min(k + rows, len(self.t))) for k in range(0, len(self.t), rows))

    @property
    def is_short(self) -> bool:
        """Whether all multipliers together take at most the BLOCK bytes that are held in memory at a time."""
        return 8 * math.prod(self.multipliers.shape) <= BLOCK

    def part(self, rows: slice) -> March:
        """Some of the rows."""
        return replace(self, **{name: getattr(self, name)[rows] for name in ARRAYS})


ARRAYS = tuple(field.name for field in fields(March) if field.name not in ("status", "message"))


class Store(Protocol):
    """Where the states of a run are kept: in memory, or in a file; `resumable` if checkpoints are kept too."""

    @property
    def resumable(self) -> bool:
        """Whether it keeps from where the run could go on."""

    def append(self, block: Any, checkpoint: Checkpoint | None, events: Sequence[Occurrence] = ()) -> None:
        """Keep the next states, from where the run could go on, None if it is not to, and what happened on the way."""

    def end(self, status: Status, message: str) -> None:
        """Keep how the run ended."""

    def revise(self, loads: IntArray, wrench: Array) -> None:
        """Change the inputs of some loads at the last state that was kept: now it is known what followed it."""

    def raw(self) -> March:
        """All that was kept."""


class Memory:
    """States kept in memory."""

    resumable = False

    def __init__(self) -> None:
        self._parts: list[March] = []

    def append(self, block: Any, checkpoint: Checkpoint | None, events: Sequence[Occurrence] = ()) -> None:
        """Keep the next states."""
        del checkpoint, events
        self._parts.append(block)

    def end(self, status: Status, message: str) -> None:
        """Keep how the run ended."""
        self._parts = [replace(self.raw(), status=status, message=message)]

    def revise(self, loads: IntArray, wrench: Array) -> None:
        """Change inputs at the last state."""
        self._parts[-1].wrench[-1, loads] = wrench

    def raw(self) -> March:
        """All blocks as one."""
        if len(self._parts) > 1:
            self._parts = [joined(self._parts)]
        return self._parts[0]


def joined(parts: list[March]) -> March:
    """Blocks as one, with the status of the last of them."""
    arrays: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in ARRAYS}
    return replace(parts[-1], **arrays)


def rows_of_a_block(bodies: int, rows: int, loads: int) -> int:
    """How many states of a system make a block."""
    return max(1, BLOCK // (8 * (24 * bodies + rows + 13 * loads + 2)))


def march(
    system: MechanicalSystem,
    scheme: Scheme,
    h: float,
    steps: int,
    every: int,
    inputs: Inputs,
    progress: Progress = silent,
    interrupted: Callable[[], bool] = lambda: False,
    store: Store | None = None,
    checkpoint: Checkpoint | None = None,
) -> March:
    """Make `steps` steps of size h and keep every `every`-th state; a failure keeps all that was computed.

    With a checkpoint, the steps that are left, into a store that holds the states before it.
    """
    store, run = Memory() if store is None else store, _Run(*system.initial_arrays())
    if checkpoint is not None:
        _resume(run, system, scheme, h, checkpoint)
    blocks = march_in_blocks(run, system, scheme, h, steps, every, inputs, progress, interrupted, store.resumable)
    for before, block, reached in blocks:
        if before is not None:
            store.revise(inputs.answered, before)
        store.append(block, reached)
    if checkpoint is not None:
        store.end(run.status, run.message)
    return store.raw()


@dataclass
class _Run:
    """Where a run is."""

    q: Array  # (N+1, 4, 3)
    v: Array
    memory: Any = None
    done: int = 0
    status: Status = Status.OK
    message: str = Status.OK.value
    wrench: Array | None = None  # of the last substep
    questions: dict[str, Question] = field(default_factory=dict)  # the last ones to controllers
    turns: list[list[float]] | None = None  # that they saw last
    watch: EnergyWatch | None = None  # since the begin of this run, or of its part after a checkpoint


def _resume(run: _Run, system: MechanicalSystem, scheme: Scheme, h: float, checkpoint: Checkpoint) -> None:
    """Go to where a checkpoint was made."""
    sizes = h * np.array(scheme.fractions)
    run.memory = scheme.rule.start(system, sizes, run.q, run.v, np.zeros((len(system.channel_names), 6)))
    unpack(checkpoint.memory, (run.q, run.v, run.memory))
    run.done, run.wrench = checkpoint.done, np.array(checkpoint.wrench).reshape(-1, 6)
    run.questions, run.turns = checkpoint.questions, checkpoint.turns


def _checkpoint(run: _Run, every: int, controllers: Controllers) -> Checkpoint | None:
    """From where the run can go on; None if it failed, or stands between two recorded states."""
    if run.status not in (Status.OK, Status.INTERRUPTED) or run.done % every or run.wrench is None:
        return None
    memory, rows = packed((run.q, run.v, run.memory)), run.done // every + 1
    turns = None if controllers.turns is None else controllers.turns.memory
    return Checkpoint(run.done, memory, run.wrench.tolist(), controllers.questions, rows, turns=turns)


def march_in_blocks(
    run: _Run,
    system: MechanicalSystem,
    scheme: Scheme,
    h: float,
    steps: int,
    every: int,
    inputs: Inputs,
    progress: Progress,
    interrupted: Callable[[], bool],
    kept: bool,
) -> Iterator[tuple[Array | None, March, Checkpoint | None]]:
    """The states of a run, block by block, and from where it could go on, if that is `kept`.

    The first block begins with the initial state. Before each other one goes what controllers held in the step that
    follows the last state of the block before.
    """
    controllers = Controllers(inputs, h, interrupted, every)
    controllers.questions, controllers.remembers = run.questions, kept
    controllers.sensed = Sensed(system, run.q, run.v)
    if controllers.turns is not None:
        controllers.turns.memory = run.turns
    if run.wrench is not None:
        controllers.latest = run.wrench[inputs.answered]
    first: list[March] = [_initial(system, run, inputs)] if run.done == 0 else []
    inner = system.moving.row.size + len(system.element_names) + system.moving.law.size
    rows = rows_of_a_block(len(system.body_names), inner, len(system.channel_names))
    while first or (run.done < steps and run.status is Status.OK):
        start, limit = run.done, min(run.done + rows * every, steps)
        record = empty_record(system, (limit - start) // every)
        _fill(run, record, system, scheme, h, every, limit, inputs, controllers, progress, interrupted)
        angles = system.moving.law.about if run.memory is None else scheme.rule.angles(run.memory)
        block = _block(run, record, start, h, every, inputs, angles)
        if run.status is Status.OK and run.done < steps:
            block = replace(block, status=Status.INTERRUPTED, message=UNFINISHED)
        before, block.wrench[:, inputs.answered] = controllers.held()
        for initial in first:
            initial.wrench[0, inputs.answered] = before
        known = None if first or not inputs.feedback else before
        yield known, joined([*first, block]), _checkpoint(run, every, controllers) if kept else None
        first = []


def _fill(
    run: _Run,
    record: Record,
    system: MechanicalSystem,
    scheme: Scheme,
    h: float,
    every: int,
    limit: int,
    inputs: Inputs,
    controllers: Controllers,
    progress: Progress,
    interrupted: Callable[[], bool],
) -> None:
    """Make steps up to `limit`, for not much longer than PATIENCE, and write them into the record."""
    start, since, sizes = run.done, time.monotonic(), h * np.array(scheme.fractions)
    angles = system.moving.law.about if run.memory is None else scheme.rule.angles(run.memory)
    watch = run.watch = run.watch or EnergyWatch(system, run.q, run.v, angles)
    try:
        if run.memory is None:
            run.memory = scheme.rule.start(system, sizes, run.q, run.v, inputs.at_start())
        while run.done < limit and run.status is Status.OK:
            wrench, error = inputs.wrenches(run.done, min(_chunk(every), limit - run.done), sizes)
            part = _part(record, slice((run.done - start) // every, None))
            controllers.first, before = run.done, (run.q.copy(), run.v.copy())
            ended, made = scheme.rule.advance(
                system, sizes, wrench, every, run.q, run.v, run.memory, part._replace(feedback=controllers.feedback)
            )
            reached, run.status = made, STATUS[ended]
            made = _followed(run, system, part, wrench, made, every, sizes.size)
            _go_back(run, before, part, made // every if made < reached else None)
            failed = run.status not in (Status.OK, Status.INTERRUPTED)  # in a step for which controllers were asked
            controllers.hold(wrench[:: sizes.size][: made + failed], made)
            run.done += made
            run.wrench = wrench[made * sizes.size - 1] if made else run.wrench
            watch.add(part.work[: made // every], part.loss[: made // every])
            progress(run.done, lambda: watch.defect(run.q, run.v, scheme.rule.angles(run.memory)))
            if controllers.error is not None:
                raise controllers.error
            if run.status is Status.INTERRUPTED:
                run.message = run.status.value
            elif run.status is not Status.OK:
                run.status, details = _reason(run, system, scheme, h)
                run.message = f"{run.status.value} {place_in_time(run.done * h, h)}{details}"
            elif error is not None:
                raise error
            elif interrupted():
                run.status, run.message = Status.INTERRUPTED, Status.INTERRUPTED.value
            elif run.done % every == 0 and time.monotonic() - since > PATIENCE:
                break
    except InputError as error:
        run.status, run.message = Status.BAD_INPUT, str(error)
    except KeyboardInterrupt:
        if controllers.error is None:
            raise
        run.status, run.message = Status.INTERRUPTED, Status.INTERRUPTED.value  # in a controller: no step is half done


def _followed(
    run: _Run, system: MechanicalSystem, record: Record, wrench: Array, made: int, every: int, substeps: int
) -> int:
    """The steps made; if a recorded state, or the last one, lost a drive, those up to the recorded state before it."""
    if not system.drives:
        return made
    recorded = made // every
    s = wrench[substeps - 1 :: substeps, system.mech.load.size :, 1]
    for k in range(0, recorded, TOGETHER):
        some = slice(k, min(k + TOGETHER, recorded))
        astray = np.flatnonzero(lost(system, record.q[some], s[every - 1 :: every][some]))
        if astray.size:
            run.status = Status.NEWTON_STALLED
            return (k + int(astray[0])) * every
    if made % every and lost(system, run.q[None, :-1], s[made - 1 : made])[0]:
        run.status = Status.NEWTON_STALLED
        return recorded * every
    return made


def _go_back(run: _Run, before: tuple[Array, Array], record: Record, states: int | None) -> None:
    """Be where the last of some recorded states is, or where a record began; nothing if they are all."""
    if states == 0:
        run.q[:], run.v[:] = before
    elif states is not None:
        run.q[:-1], run.v[:-1] = record.q[states - 1], record.v[states - 1]


def _reason(run: _Run, system: MechanicalSystem, scheme: Scheme, h: float) -> tuple[Status, str]:
    """Why a run failed, as far as the last state tells."""
    if run.status is Status.STRAYED:
        return run.status, f" {system.elements.near_its_end(run.q, run.v, h, scheme.rule.angles(run.memory))}"
    if run.status in (Status.NEWTON_STALLED, Status.SINGULAR):
        singular = dead_point(system, run.q, run.v, run.done * h, h)
        if singular:
            return Status.SINGULAR, f" {singular}"
    return run.status, of_drives(system)


def of_drives(system: Descriptor) -> str:
    """What else may be the reason of a failure."""
    names = ", ".join(f"'{drive.name}'" for drive in getattr(system, "drives", ()))
    return f" Perhaps the joints do not allow the motion that is prescribed by {names}." if names else ""


def _chunk(every: int) -> int:
    return max(1, CHUNK // every) * every


def empty_record(system: MechanicalSystem, count: int) -> Record:
    """Memory for `count` recorded nodes, and one more for the state before a failure."""
    bodies, rows, loads = len(system.body_names), system.moving.row.size, len(system.channel_names)
    inner = ((len(system.element_names),), (system.moving.law.size,))
    shapes = ((bodies, 4, 3), (bodies, 4, 3), (rows,), (loads, 6), (loads,), *inner)
    q, v, lam, y, work, loss, angle = (np.zeros((count + 1, *shape)) for shape in shapes)
    return Record(q, v, lam, y, work, loss, angle, np.zeros(count + 1, dtype=np.int64))


def _part(record: Record, rows: slice) -> Record:
    """Some rows of a record, to write into."""
    return Record(*(getattr(record, name)[rows] for name in Record._fields if name != "feedback"))


def _initial(system: MechanicalSystem, run: _Run, inputs: Inputs) -> March:
    """The state before the first step."""
    count = np.zeros(1, dtype=np.int64)
    return _kept(empty_record(system, 0), run.q[None, :-1].copy(), run.v[None, :-1].copy(), count, 1.0, inputs, run)


def _block(run: _Run, record: Record, start: int, h: float, every: int, inputs: Inputs, angles: Array) -> March:
    """The part of a record that was filled since `start`."""
    kept, rest = divmod(run.done - start, every)
    if rest:  # the state before a failure; multipliers and outputs belong to whole intervals
        record.q[kept], record.v[kept] = run.q[:-1], run.v[:-1]
        record.lam[kept] = record.y[kept] = np.nan
        record.angle[kept] = angles
    nodes = np.array([*range(start + every, run.done + 1, every), *([run.done] if rest else [])], dtype=np.int64)
    return _kept(
        _part(record, slice(nodes.size)), record.q[: nodes.size], record.v[: nodes.size], nodes, h, inputs, run
    )


def _kept(r: Record, q: Array, v: Array, nodes: IntArray, h: float, inputs: Inputs, run: _Run) -> March:
    wrench, t = inputs.at_nodes(nodes, h), np.asarray(nodes * h, dtype=np.float64)
    return March(t, q, v, wrench, r.lam, r.y, r.work, r.loss, r.angle, r.iterations, run.status, run.message)
