"""The fixed-step march: from the initial state to the end, in chunks of compiled steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from porthos.errors import InputError, Status
from porthos.integrate.inputs import Inputs
from porthos.integrate.scheme import Scheme
from porthos.kernels.march import Record
from porthos.kernels.newton import CONVERGED, SINGULAR, STALLED, TURNED_TOO_FAR
from porthos.notation import Array, IntArray
from porthos.system.mechanical import MechanicalSystem

CHUNK = 1000  # steps between two calls of `progress`

STATUS = {
    CONVERGED: Status.OK,
    STALLED: Status.NEWTON_STALLED,
    SINGULAR: Status.SINGULAR,
    TURNED_TOO_FAR: Status.STEP_TOO_LARGE,
}


@dataclass(frozen=True)
class March:
    """The raw result: states at the recorded nodes, and what happened in the interval before each of them."""

    t: Array  # (K,)
    q: Array  # (K, N, 4, 3)
    v: Array  # (K, N, 4, 3)
    wrench: Array  # (K, L, 6) inputs at the nodes
    multipliers: Array  # (K, R) of the joints, at the midpoint of the last step of the interval; 0 at the start
    outputs: Array  # (K, L, 6) at that midpoint; 0 at the start
    work: Array  # (K, L) of each load and port during the interval; 0 at the start
    iterations: IntArray  # (K,)
    status: Status
    message: str


def march(
    system: MechanicalSystem,
    scheme: Scheme,
    h: float,
    steps: int,
    every: int,
    inputs: Inputs,
    progress: Callable[[int], None] = lambda done: None,
) -> March:
    """Make `steps` steps of size h and keep every `every`-th state; a failure keeps all that was computed."""
    record = _record(system, steps // every)
    q, v = system.initial_arrays()
    q_start, v_start = q[:-1].copy(), v[:-1].copy()
    done, status, message = 0, Status.OK, Status.OK.value
    single = inputs.feedback
    try:
        memory = scheme.start(system, h, q, v, inputs.at(0.0, 0, q, v))
        while done < steps and status is Status.OK:
            count = 1 if single else min(_chunk(every), steps - done)
            try:
                wrench = inputs.at((done + 0.5) * h, done, q, v)[None] if single else inputs.wrenches(done, count, h)
            except InputError:
                if single:
                    raise
                single = True  # one of the steps ahead has a bad input: make the good ones before it one by one
                continue
            part = _part(record, slice(done // every, (done + count - 1) // every + 1))
            # a single step is the last one of its interval only now and then
            stride = every if count > 1 or (done + 1) % every else 1
            ended, made = scheme.advance(system, h, wrench, stride, q, v, memory, part)
            done, status = done + made, STATUS[ended]
            progress(done)
        if status is not Status.OK:
            message = f"{status.value} It happened in the step from t = {done * h:.6g} to {(done + 1) * h:.6g}."
    except InputError as error:
        status, message = Status.BAD_INPUT, str(error)
    return _collect(record, (q_start, v_start), (q[:-1], v[:-1]), done, h, every, inputs, status, message)


def _chunk(every: int) -> int:
    return max(1, CHUNK // every) * every


def _record(system: MechanicalSystem, count: int) -> Record:
    """Memory for `count` recorded nodes, and one more for the state before a failure."""
    bodies, rows, loads = len(system.body_names), system.mech.c.size, len(system.terminals)
    shapes = ((bodies, 4, 3), (bodies, 4, 3), (rows,), (loads, 6), (loads,))
    q, v, lam, y, work = (np.zeros((count + 1, *shape)) for shape in shapes)
    return Record(q, v, lam, y, work, np.zeros(count + 1, dtype=np.int64))


def _part(record: Record, rows: slice) -> Record:
    """Some rows of a record, to write into."""
    r = record
    return Record(r.q[rows], r.v[rows], r.lam[rows], r.y[rows], r.work[rows], r.iterations[rows])


def _collect(
    record: Record,
    start: tuple[Array, Array],
    last: tuple[Array, Array],
    done: int,
    h: float,
    every: int,
    inputs: Inputs,
    status: Status,
    message: str,
) -> March:
    """Put the initial state in front and cut the record to what was computed; `last` is the last good state."""
    kept, rest = divmod(done, every)
    if rest:  # the state before a failure; multipliers and outputs belong to whole intervals
        record.q[kept], record.v[kept] = last
        record.lam[kept] = record.y[kept] = np.nan
    nodes = np.array([*range(0, kept * every + 1, every), *([done] if rest else [])])
    count = nodes.size - 1

    def behind(first: Array, values: Array) -> Array:
        return np.concatenate([first[None], values[:count]])

    q, v = behind(start[0], record.q), behind(start[1], record.v)
    return March(
        t=nodes * h,
        q=q,
        v=v,
        wrench=_nodal_wrenches(inputs, nodes, h, q, v),
        multipliers=behind(np.zeros(record.lam.shape[1]), record.lam),
        outputs=behind(np.zeros(record.y.shape[1:]), record.y),
        work=behind(np.zeros(record.work.shape[1]), record.work),
        iterations=np.concatenate([[0], record.iterations[:count]]),
        status=status,
        message=message,
    )


def _nodal_wrenches(inputs: Inputs, nodes: IntArray, h: float, q: Array, v: Array) -> Array:
    """Inputs at the recorded nodes; NaN where a user's function failed."""
    result = np.zeros((nodes.size, len(inputs.system.terminals), 6))
    if result.size == 0:
        return result
    for k, n in enumerate(nodes):
        try:
            result[k] = inputs.at(n * h, int(n), q[k], v[k])
        except InputError:
            result[k] = np.nan
    return result
