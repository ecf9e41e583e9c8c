"""Numbers below 1e-308 count as zero while steps are made.

What happens at one end of a long chain fades along it by a third of its size or less from body to body, and so passes
through the numbers that have less than full precision on its way to zero. A processor takes a hundred times as long
for them: on a chain of 1024 bars that is a quarter of a step.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba
from llvmlite import binding, ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from porthos.kernels.compile import entry

X86 = binding.get_process_triple().startswith(("x86_64", "i686"))  # elsewhere nothing is changed
NEAREST, FLUSH = 0x1F80, 0x8040  # of the control register: rounding, no traps; results and operands become zero
DISABLED = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]


def _exchanged(context: Any, mode: Any) -> Any:
    """Set the control register of floating-point arithmetic to `mode`, and return what it was."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        old, new = (cgutils.alloca_once(builder, ir.IntType(32)) for _ in range(2))
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer])
        builder.store(arguments[0], new)
        for instruction, place in (("stmxcsr", old), ("ldmxcsr", new)):
            function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.x86.sse.{instruction}")
            builder.call(function, [builder.bitcast(place, pointer)])
        return builder.load(old)

    return types.int32(types.int32), generate


exchanged: Any = intrinsic(_exchanged)


@entry
def exchange(mode: int) -> Any:
    """`exchanged` for Python."""
    return exchanged(mode)


@contextmanager
def flushed() -> Iterator[None]:
    """Numbers without full precision count as zero in this block; Python code of others must not run in it."""
    if DISABLED or not X86:
        yield
        return
    before = exchange(NEAREST | FLUSH)
    try:
        yield
    finally:
        exchange(before)
