"""How kernels are compiled and where the result is kept.

`kernel` is for what only other kernels call: it has no wrapper for calls from Python, which with tables as arguments
is larger than most kernels. `entry` is for what Python calls. `loop` and `inner` are an entry and a kernel that
allocate nothing: they do without reference counts, which cost more than the arithmetic of a small body; other threads
may run beside a loop. `stage` is an
inner kernel that LLVM pastes into its callers, because a call that passes tables copies them; `frame` is a stage that
only puts others together, and is optimised in its caller alone; so is an `act`, which is called and not pasted.
`algebra` is an inner kernel whose sums may be reordered (infinities and NaN keep their meaning).

Numba checks only the file of a cached function, not the files of what it calls: after an edit of a callee a cached
caller would return stale numbers. So kernels are cached in a folder named by the hash of all kernel sources.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from llvmlite.binding import parse_assembly
from numba.core.compiler import Compiler


def cache_folder() -> Path:
    """Where compiled kernels are kept: NUMBA_CACHE_DIR or the user's cache folder, then the hash of the sources."""
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "porthos"
    return (Path(chosen) if chosen else home) / f"kernels-{digest.hexdigest()[:16]}"


class _Part(Compiler):
    """Compiles what only other kernels call: nobody asks for its machine code, so none is made. A numba that has other
    names within itself would only be slower."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        library = self.state.targetctx.codegen().create_library("part of a kernel")
        library.enable_object_caching()
        library._finalize_final_module = lambda: _keep_for_linking(library)
        self.state.library = library


def _keep_for_linking(library: Any) -> None:
    """Let the machine know of the environments of a module only, and callers of all of it."""
    with suppress(AttributeError):
        empty = str(library._codegen._create_empty_module(library.name))
        names = [str(each) for each in library._final_module.global_variables if each.name.startswith("_ZN08NumbaEnv")]
        library._finalized = True  # enough for those that link it in
        library._get_module_for_linking()
        library._final_module = parse_assembly("\n".join([empty, *names]))
    type(library)._finalize_final_module(library)


class _Frame(_Part):
    """Compiles a part that is optimised where it is linked in, so not by itself."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.library._optimize_final_module = lambda: None


_config: Any = numba.config
_njit: Any = numba.njit  # the wrapper options are not in its type stubs
_FOLDER = str(cache_folder())


def _compiler(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    def decorate(function: Callable[..., Any]) -> Any:
        others = _config.CACHE_DIR  # only our kernels go to our folder: numba looks at it while it decorates
        _config.CACHE_DIR = _FOLDER
        try:
            return _njit(cache=True, error_model="numpy", no_cfunc_wrapper=True, **options)(function)
        finally:
            _config.CACHE_DIR = others

    return decorate


def _part(pipeline: type[_Part], **options: Any) -> Callable[[Callable[..., Any]], Any]:
    return _compiler(no_cpython_wrapper=True, pipeline_class=pipeline, **options)


def signed(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """An entry with one signature, compiled when it is defined: functions among its arguments need to be declared."""
    return _compiler(signature_or_function=signature)


_FUSED: Any = {"contract"}  # a b + c with one rounding error
entry = _compiler()
loop = _compiler(_nrt=False, nogil=True, fastmath=_FUSED)
kernel = _part(_Frame)
inner = _part(_Part, _nrt=False, fastmath=_FUSED)
algebra = _part(_Part, _nrt=False, fastmath=_FUSED | {"reassoc", "nsz", "arcp"})
stage = _part(_Part, _nrt=False, forceinline=True, fastmath=_FUSED)
frame = _part(_Frame, _nrt=False, forceinline=True, fastmath=_FUSED)
act = _part(_Frame, _nrt=False, fastmath=_FUSED)
