"""Porthos against Exudyn and MuJoCo: time per step, energy, agreement. Run by `make bench` (python -m benchmarks)."""

import os

# Numerical libraries read these when they are first imported: every code here runs on one thread.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_variable] = "1"
os.environ.setdefault("MPLBACKEND", "Agg")
