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
from numba.core import types
from numba.core.caching import IndexDataCacheFile
from numba.core.targetconfig import TargetConfig
from numba.core.types.functions import BaseFunction

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
PLAIN = (types.Number, types.Boolean, types.Array, types.Record, types.BaseTuple, types.Literal)


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


def quicken() -> None:
    """Let numba remember what an operator gives for plain types; it would try all its forms for each use again.

    Nor does it look through all options then, set or not, to tell whether two compilations have the same.
    """
    ask, known = BaseFunction.get_call_type, dict[Any, Any]()

    def remembered(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws or not all(isinstance(argument, PLAIN) for argument in args):
            return ask(self, context, args, kws)
        found = known.get((self, tuple(args)))
        if found is None or found.args not in self._impl_keys:
            found = known[self, tuple(args)] = ask(self, context, args, kws)
        return found

    def same(self: Any, other: Any) -> Any:
        if not isinstance(other, TargetConfig):
            return NotImplemented
        return self._values == other._values or self.values() == other.values()

    BaseFunction.get_call_type = remembered  # type: ignore[method-assign]
    TargetConfig.__eq__ = same  # type: ignore[method-assign]
    TargetConfig.__hash__ = lambda self: hash(type(self))  # type: ignore[method-assign]


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
    quicken()
    for part in parts:
        for kernel, arguments in samples(part):
            kernel.compile(tuple(numba.typeof(argument) for argument in arguments))
        with suppress(OSError):
            ahead.done(part).touch()


if __name__ == "__main__":
    main(sys.argv[1:])
