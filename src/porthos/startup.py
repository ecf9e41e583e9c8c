"""Loading modules without the garbage collector, which would look through all of them again and again.

They make no garbage: without it the first step of a program came after 1.5 s instead of 1.7.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def undisturbed() -> Iterator[None]:
    """Within it the collector rests, unless it did before; afterwards it is as it was."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
