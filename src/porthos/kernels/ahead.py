"""Kernels that are not in the cache yet are compiled by child processes, several at the same time on several cores.

Compiled in place, they would also differ in the last bit from those that later processes load, because sums may be
reordered: loaded from the cache, every run of a program gives the same numbers. What a child compiles is in
`samples.py`. If a child fails, kernels are compiled in place.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numba

from porthos.kernels.compile import cache_folder

ASSEMBLY, MIDPOINT, GGL = "assembly", "midpoint", "ggl"  # what is compiled together
MARCHES = (MIDPOINT, GGL)
OFTEN = 0.05  # seconds between two looks for the work of a child

_children: dict[str, subprocess.Popen[bytes]] = {}
_settled: set[str] = set()  # parts that were found in the cache, or tried


def done(part: str) -> Path:
    """The file that says that a part is in the cache."""
    return cache_folder() / f"{part}.done"


def start(first: str) -> None:
    """Let children compile what is not in the cache: one the assembly, one the march `first` and then the others.

    A march shares most of its kernels with the next one, which takes a third of the time after it. It may still be at
    work when this program ends; the next one finds what it made.
    """
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        _settled.update((ASSEMBLY, *MARCHES))
    for parts in ((ASSEMBLY,), (first, *(part for part in MARCHES if part != first))):
        missing = [part for part in parts if not _known(part)]
        if missing:
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            command = [sys.executable, "-m", "porthos.samples", *missing]
            try:
                child = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)
            except OSError:
                _settled.update(missing)
            else:
                _children.update(dict.fromkeys(missing, child))


def ready(part: str) -> None:
    """Wait until a part is in the cache, or cannot be."""
    if not _known(part):
        start(part if part in MARCHES else MIDPOINT)
    while part not in _settled:
        if done(part).exists() or _children[part].poll() is not None:
            _settled.add(part)
        else:
            time.sleep(OFTEN)


def _known(part: str) -> bool:
    """Whether nothing has to be started for a part."""
    if part not in _settled and part not in _children and done(part).exists():
        _settled.add(part)
    return part in _settled or part in _children
