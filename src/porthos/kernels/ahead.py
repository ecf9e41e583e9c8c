"""Kernels that are not in the cache yet are compiled by child processes, several at the same time on several cores.

Compiled in place, they would also differ in the last bit from those that later processes load, because sums may be
reordered: loaded from the cache, every run of a program gives the same numbers. What a child compiles is in
`samples.py`. If a child fails, kernels are compiled in place.
"""

from __future__ import annotations

import hashlib
import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import numba
from llvmlite import binding

from porthos.kernels.compile import cache_folder

ASSEMBLY, MIDPOINT, GGL = "assembly", "midpoint", "ggl"  # what is compiled together
MARCHES = (MIDPOINT, GGL)
OFTEN = 0.05  # seconds between two looks for the work of a child
PATIENCE = 600.0  # seconds after which no child is waited for
CHILD = "PORTHOS_COMPILES"  # in the environment of a child, which starts no others

log = logging.getLogger(__name__)
_children: dict[str, subprocess.Popen[bytes]] = {}
_settled: set[str] = set()  # parts that were found in the cache, or tried
_told = False  # whether the user knows what is waited for


def done(part: str) -> Path:
    """The file that says that a part is in the cache, for this Python, numba, processor and place of the sources.

    Numba keeps kernels apart by the folder of their source: a second installation cannot load those of the first one.
    """
    version, processor = "".join(map(str, sys.version_info[:2])), binding.get_host_cpu_name()
    place = hashlib.sha256(str(Path(__file__).resolve().parent).encode()).hexdigest()[:12]
    return cache_folder() / f"{part}-{place}-{version}-{numba.__version__}-{processor}.done"


def start(first: str) -> None:
    """Let children compile what is not in the cache: one the march `first`, one the assembly and then the other march.

    Marches share most of their kernels, and each child loads what the other one has made. They may still be at work
    when this program ends; the next one finds what they made.
    """
    if not all(_known(part) for part in (ASSEMBLY, *MARCHES)) and not _possible():  # the latter reads all sources
        _settled.update((ASSEMBLY, *MARCHES))
    for parts in ((first,), (ASSEMBLY, *(part for part in MARCHES if part != first))):
        missing = [part for part in parts if not _known(part)]
        if missing:
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), CHILD: "yes"}
            command, silence = [sys.executable, "-m", "porthos.samples", *missing], subprocess.DEVNULL
            try:  # a session of its own: Ctrl-C is for this program
                child = subprocess.Popen(
                    command, env=environment, stdin=silence, stdout=silence, stderr=silence, start_new_session=True
                )
            except OSError:
                _settled.update(missing)
            else:
                _children.update(dict.fromkeys(missing, child))


def ready(part: str) -> None:
    """Wait until a part is in the cache, or cannot be."""
    if not _known(part):
        start(part if part in MARCHES else MIDPOINT)
    begin = time.monotonic()
    if part not in _settled:
        _tell()
    while part not in _settled:
        late = time.monotonic() - begin > PATIENCE
        if late or os.path.exists(done(part)) or _children[part].poll() is not None:
            _settled.add(part)
        else:
            time.sleep(OFTEN)


def _tell() -> None:
    """Say once in a program why nothing seems to happen: on stderr, where nobody listens to the logger."""
    global _told
    if not _told:
        log.warning("Porthos compiles its kernels, once on this machine; that takes less than a minute.")
        _told = True


def _possible() -> bool:
    """Whether children could compile: there is a Python to start, and they may write to the cache."""
    frozen = not sys.executable or getattr(sys, "frozen", False) or CHILD in os.environ
    if frozen or numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return False
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(cache_folder(), os.W_OK)


def _known(part: str) -> bool:
    """Whether nothing has to be started for a part."""
    if part not in _settled and part not in _children and os.path.exists(done(part)):
        _settled.add(part)
    return part in _settled or part in _children
