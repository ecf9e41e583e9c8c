"""The tables, on the terminal and in docs/performance.md."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import date
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

import porthos
from benchmarks.case import Code
from benchmarks.claims import Claim
from benchmarks.equal_accuracy import BASE
from benchmarks.exudyn_adapter import DEFAULT_TOLERANCE, SPECTRAL_RADIUS, TOLERANCE
from benchmarks.measure import AGREEMENT, LARGE, SLOWEST, SOFT, Row

BEGIN = "<!-- written by python -m benchmarks: begin -->"
END = "<!-- written by python -m benchmarks: end -->"
FIGURE = Path("docs/images/work_precision.png")
PACKAGES = ("porthos", "numpy", "numba", "exudyn", "mujoco")

HOW_TO_READ = f"""\
**How to read the tables.** A step is one time step of size h. Midpoint, MidpointGGL and Exudyn's trapezoidal and
generalized-alpha rules are implicit and of order 2, RK4 and RK44 are explicit and of order 4: the time per step
compares the codes at equal h, not at equal accuracy. With T(n) the least wall time of several runs of n steps, the time
per step is (T(n) - T(1))/(n - 1): setting up a run is not in it. All codes run in one process on one thread, in turn,
so that a slow spell of the machine meets all of them, and each mechanism has its turn twice. A number in brackets is
the time divided by that of Midpoint: above 1 the code is slower than Midpoint, below 1 it is faster. A dash stands
where a code was not measured; the reason is in the table of details. A peer is left out where a step takes longer than
{SLOWEST:g} s, or would take longer at linear cost from the next smaller size.

The table of details has, for each code, the number of steps timed, the largest change of the energy during these steps
divided by the largest kinetic energy of Midpoint's run (for Exudyn in brackets: with its default Newton tolerance
{DEFAULT_TOLERANCE:g} instead of {TOLERANCE:g}), the Newton iterations per step, and the deviation: the largest
distance of the centre of mass of any body from its place in Midpoint's solution with the same h, after 100 steps, or
fewer where the run is shorter or the code slow. Allowed are {AGREEMENT:g} times Midpoint's own error, found by halving
its step; for MuJoCo, which closes loops by stiff springs, in addition {SOFT:g} of the size of the mechanism. The
command fails if a deviation is larger.

Where a code made fewer steps than Midpoint, its time belongs to the first part of the motion only.

The table before them has what is claimed of these times and drifts, and the number of this run that comes nearest to
the bound or goes beyond it; the command fails if a claim does not hold. A mechanism counts where the other code was
measured.

The one after it repeats the comparison on one chain with a smaller step and Exudyn's default Newton tolerance. The last
one names the settings of the peers:
short runs rank those that agree, the best three are timed in full, the fastest counts; with more than {LARGE} bodies
only the best six of the next smaller size are tried, if there is one. Settings close to each other change places from
run to run. The timed runs of Exudyn have the relative Newton tolerance {TOLERANCE:g}, chosen for speed, spectral radius
{SPECTRAL_RADIUS:g} for generalized-alpha (no other was tried), no output, and its build without range checks.
MuJoCo runs without contacts, limits, sensors and actuation, and closes loops with the time constant 2 h.

**Mechanisms.** Chains, tree, net and ladders have bars of length 0.1 m, mass 0.1 kg and section 0.01 x 0.01 m. Chains
start horizontally at rest; hinges are horizontal. Tree: binary, spherical joints, in the horizontal plane. Net:
20 x 20 nodes in the horizontal plane, 760 bars with spherical joints, two opposite corners held. Ladder of n: n + 1
hanging cranks with hinges at the ground and n couplers with spherical joints between their ends, which start with
1 m/s. Closed loop: document 001, section 7.2, from t = 1 s on, when its load has gone. Slider-crank: document 001,
section 7.3, with the inertias of the IFToMM library. Car on springs: a chassis of 1200 kg, four wheel carriers that
slide vertically in it, suspension springs of 20 kN/m and tyres as springs of 200 kN/m, without dampers."""

ABOUT_FIGURE = """\
Chain of 16 bars with spherical joints that starts with angular velocities about the vertical besides gravity. The error
is the largest distance of the centre of mass of any body from the reference at t = 0.2 s, the time that of the whole
run, its setting up included. The reference is a very fine run of MuJoCo that Porthos' composition of order 8 confirms;
errors smaller than their distance are not drawn.
For Exudyn each point is the fastest of 12 settings (nodes, Newton, tolerances) whose error is at most 1.5 times that of
the most accurate one."""


class Table(NamedTuple):
    """A table of texts."""

    title: str
    head: tuple[str, ...]
    body: list[tuple[str, ...]]


def tables(groups: Sequence[Sequence[Row]], codes: Sequence[Code]) -> list[Table]:
    """Times side by side, everything else in rows, and the settings that were chosen for the peers."""
    return [speeds(groups, codes), details(groups), settings(groups, codes)]


def claimed(claims: Sequence[Claim]) -> Table:
    """A line for each claim, with the worst of its numbers."""
    head = ("claim", "bound", "worst", "at", "holds")
    body = []
    for claim in claims:
        bound, holds = f"{'at least' if claim.least else 'at most'} {claim.limit:g}", "yes" if claim.holds else "NO"
        body.append((claim.text, bound, f"{claim.values[claim.worst]:.3g}", claim.worst, holds))
    return Table("What is claimed, and the worst of this run", head, body)


def speeds(groups: Sequence[Sequence[Row]], codes: Sequence[Code]) -> Table:
    """A line for each mechanism, a column for each code."""
    head = ("mechanism", "bodies", "h [s]", *(code.label for code in codes), "Midpoint per body")
    body = []
    for rows in groups:
        base = rows[0].per_step
        times = [f"{_microseconds(row)}{_ratio(row, base)}" for row in rows]
        each = "-" if base is None else f"{1e6 * base / rows[0].bodies:.3g}"
        body.append((rows[0].mechanism, str(rows[0].bodies), f"{rows[0].h:g}", *times, each))
    return Table("Microseconds per step (times Midpoint)", head, body)


def details(groups: Sequence[Sequence[Row]]) -> Table:
    """A line for each mechanism and code."""
    head = ("mechanism", "code", "µs per step", "steps", "energy drift", "iterations", "deviation [m]", "allowed [m]")
    body = []
    for row in (row for rows in groups for row in rows):
        if row.per_step is None:
            body.append((row.mechanism, row.label, f"- ({row.note})", *["-"] * 5))
            continue
        newton = "-" if row.iterations is None else f"{row.iterations:.2f}"
        found = _deviation(row)
        drift, allowed = _drift(row), f"{row.tolerance:.1e}"
        body.append((row.mechanism, row.label, _microseconds(row), str(row.steps), drift, newton, found, allowed))
    return Table("Steps, energy, iterations and agreement", head, body)


def settings(groups: Sequence[Sequence[Row]], codes: Sequence[Code]) -> Table:
    """The fastest settings of the peers."""
    peers = [code.label for code in codes if not code.ours]
    body = [(row.mechanism, row.label, row.setting) for rows in groups for row in rows if row.label in peers]
    return Table("Settings chosen for the peers", ("mechanism", "code", "setting"), [b for b in body if b[2]])


def refinement(rows: Sequence[Row], finer: Sequence[Row]) -> Table:
    """Deviations at two steps."""
    coarse = {row.label: row for row in rows}
    head = ("code", *(f"deviation, h = {h:g} s [m]" for h in (rows[0].h, finer[0].h)), "allowed [m]")
    body = [(row.label, _deviation(coarse[row.label]), _deviation(row), f"{row.tolerance:.1e}") for row in finer]
    return Table(f"{rows[0].mechanism}: deviation at the same time with two steps", head, body)


def precision(times: Mapping[str, tuple[float, bool]], error: float) -> Table:
    """Wall times to an error, and how often that of the composition of order 4 goes into them."""
    base = times[BASE][0]
    body = []
    for label, (seconds, reached) in times.items():
        more = "" if reached else "more than "
        body.append((label, f"{more}{1e3 * seconds:.3g}", f"{more}{seconds / base:.2g}"))
    head = ("code and scheme", "milliseconds", "times Composition 4")
    return Table(f"Time to an error of {error:g} m, chain of 16 bars (see below)", head, body)


def _microseconds(row: Row) -> str:
    if row.per_step is None:
        return "-"
    time = 1e6 * row.per_step
    return f"{time:.3g}" if time < 1000 else f"{time:.0f}"


def _drift(row: Row) -> str:
    if row.tight_drift is None:
        return f"{row.drift:.1e}"
    return f"{row.drift:.1e} ({f'{row.tight_drift:.1e}' if np.isfinite(row.tight_drift) else 'failed'})"


def _deviation(row: Row) -> str:
    if row.deviation == 0.0:
        return "reference"
    return f"{row.deviation:.1e}" + ("" if row.agrees else " TOO LARGE")


def _ratio(row: Row, base: float | None) -> str:
    if row.per_step is None or base is None or row.per_step == base:
        return ""
    ratio = row.per_step / base
    return f" ({ratio:.2g})" if ratio < 10 else f" ({ratio:.0f})"


def show(console: Console, table: Table) -> None:
    """Print a table."""
    rich = RichTable(*map(escape, table.head), title=table.title)
    for line in table.body:
        rich.add_row(*map(escape, line))
    console.print(rich)


def markdown(table: Table) -> str:
    """The table in Markdown."""
    lines = [table.head, tuple("---" for _ in table.head), *table.body]
    return f"### {table.title}\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines)


def machine() -> str:
    """Date, processor and versions."""
    cpuinfo = Path("/proc/cpuinfo")
    names = [
        line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")
    ]
    load = os.getloadavg()[0]
    sources = sha256(b"".join(path.read_bytes() for path in sorted(Path(porthos.__file__).parent.rglob("*.py"))))
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"Measured on {date.today().isoformat()}: {names[0] if names else platform.processor()}, "
        f"{os.cpu_count()} cores (one used; load {load:.1f} at the end), {platform.system()}, "
        f"Python {platform.python_version()}, {versions}; sources of Porthos {sources.hexdigest()[:10]}."
    )


def write_page(path: Path, parts: Sequence[str]) -> None:
    """Write the part of the page between BEGIN and END; what stands before and behind stays."""
    before, after = "# Performance\n\n", "\n"
    if path.exists():
        old = path.read_text()
        if BEGIN in old and END in old:
            before, after = old.split(BEGIN)[0], old.split(END)[1]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(before + "\n\n".join([BEGIN, *parts, END]) + after)
