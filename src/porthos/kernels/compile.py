"""How kernels are compiled: `kernel` for what only other kernels call, `entry` for what Python calls.

Both are cached on disk. A kernel has no wrapper for calls from Python: with tables as arguments the wrapper is
larger than most kernels and would take most of the compile time.
"""

from __future__ import annotations

from numba import njit

kernel = njit(cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
entry = njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
