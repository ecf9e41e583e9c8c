"""Compiles kernels for the cache: `python -m porthos.samples PART ...`, see `kernels/ahead.py`.

The arguments of every kernel have the same types for all mechanisms, so a pendulum stands for all of them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numba
import numpy as np
from numba.core.caching import IndexDataCacheFile

from porthos.integrate.march import empty_record
from porthos.integrate.midpoint import Midpoint, MidpointGGL
from porthos.kernels import ahead, tiny
from porthos.model.inertia import Sphere
from porthos.model.model import Model
from porthos.system.assemble import tabled
from porthos.system.coefficients import Placement
from porthos.system.mechanical import MechanicalSystem
from porthos.system.nodal import NodalMatrix

Sample = tuple[Any, tuple[Any, ...]]  # a kernel and its arguments
PATIENCE = 5.0  # seconds for another process to save a kernel
SCHEMES = {ahead.MIDPOINT: Midpoint(), ahead.GGL: MidpointGGL()}


def pendulum() -> MechanicalSystem:
    """Tables of one body and one joint."""
    model = Model("sample")
    model.body("bob", Sphere(1.0, 0.1), position=(1.0, 0.0, 0.0))
    model.spherical("pivot", model.ground, "bob", at=(0.0, 0.0, 0.0))
    return tabled(model, Placement(model))


def samples(part: str) -> Iterator[Sample]:
    """The kernels of a part that Python calls."""
    system, sizes = pendulum(), np.ones(1)
    q, v, wrench = system.still, np.zeros_like(system.still), np.zeros((1, 0, 6))
    if part == ahead.ASSEMBLY:
        yield from NodalMatrix(system).samples(q, v, wrench[0])
    else:
        scheme = SCHEMES[part]
        memory = scheme.memory(system, sizes, np.zeros((1, 6 * q.shape[0] + system.moving.row.size)))
        yield scheme.compiled, scheme.arguments(system, sizes, wrench, 1, q, v, memory, empty_record(system, 1))
        if tiny.X86:
            yield tiny.exchange, (1,)


@contextmanager
def alone() -> Iterator[None]:
    """One process at a time: two that save kernels of one name would take the same number for them."""
    lock, begin = ahead.done("index").with_suffix(".lock"), time.monotonic()
    while time.monotonic() - begin < PATIENCE:  # a lock that stays is one of a process that was killed
        with suppress(OSError):
            lock.mkdir()
            break
        time.sleep(0.005)
    try:
        yield
    finally:
        with suppress(OSError):
            lock.rmdir()


def main(parts: list[str]) -> None:
    """Compile some parts, and say of each that it is in the cache."""
    save = IndexDataCacheFile.save

    def save_alone(self: Any, key: Any, data: Any) -> None:
        with alone():
            save(self, key, data)

    IndexDataCacheFile.save = save_alone  # type: ignore[method-assign]
    for part in parts:
        for kernel, arguments in samples(part):
            kernel.compile(tuple(numba.typeof(argument) for argument in arguments))
        with suppress(OSError):
            ahead.done(part).touch()


if __name__ == "__main__":
    main(sys.argv[1:])
