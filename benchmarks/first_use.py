"""How long a user waits: for compilation on a new machine, and for the first step of every later program.

`python -m benchmarks.first_use` prints the table that docs/performance.md quotes; it fails above the limits. A start is
all from the command to the end of the first step of a double pendulum, the start of Python included. Beside it stands
what numba alone takes, with one cached function of one line.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STARTS = 9
COMPILATION, START = 60.0, 1.5  # s, limits
SCHEMES = ("MidpointGGL", "Midpoint")

PENDULUM = """
import os
import porthos as ph
model = ph.Model("double pendulum", gravity=(0, 0, -9.81))
arm = model.body("arm", ph.Box(mass=1.0, size=(1.0, 0.1, 0.1)), position=(0.5, 0, 0))
bob = model.body("bob", ph.Box(mass=0.5, size=(0.8, 0.1, 0.1)), position=(1.4, 0, 0))
model.revolute("shoulder", model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0))
model.revolute("elbow", arm, bob, at=(1, 0, 0), axis=(0, 1, 0))
ph.simulate(model, ph.{scheme}(), step=0.005, end=0.005, progress=False)
os._exit(0)
"""
LEAST = """
import os
import numba
@numba.njit(cache=True)
def successor(x):
    return x + 1.0
successor(1.0)
os._exit(0)
"""


def seconds(program: Path, cache: Path) -> float:
    """Wall time of a program whose compiled kernels are kept in a folder."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    began = time.perf_counter()
    subprocess.run([sys.executable, str(program)], env=environment, check=True, capture_output=True)
    return time.perf_counter() - began


def main() -> int:
    """Print the table; 1 if a limit is passed."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        programs = {scheme: place / f"{scheme}.py" for scheme in SCHEMES}
        for scheme, path in programs.items():
            path.write_text(PENDULUM.replace("{scheme}", scheme))
        (least := place / "least.py").write_text(LEAST)
        waited, total = [], 0.0
        for scheme in SCHEMES:
            total += seconds(programs[scheme], place / "cache")
            waited.append((f"first run, `{scheme}`" if not waited else f"then `{scheme}`", total, COMPILATION))
        starts = {name: min(seconds(path, place / "cache") for _ in range(STARTS))
                  for name, path in (*programs.items(), ("numba alone", least))}  # fmt: skip
    rows = [*waited, *((f"later starts, `{scheme}`", starts[scheme], START) for scheme in SCHEMES)]
    print("| from the command to the first step | seconds | at most |\n| --- | --- | --- |")
    for name, value, limit in rows:
        print(f"| {name} | {value:.2f} | {limit:g} |")
    print(f"| numba alone | {starts['numba alone']:.2f} | |")
    return int(any(value > limit for _, value, limit in rows))


if __name__ == "__main__":
    sys.exit(main())
