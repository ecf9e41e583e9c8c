"""`porthos bench`: what a step costs on this machine, and beside Exudyn and MuJoCo where they are installed.

Time of Porthos is measured here. Other programs are set up in the folder `benchmarks` of the sources, which is not part
of the package; it is asked in a process of its own, in which every program runs on one thread.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from porthos.cli.answers import complain, tell
from porthos.cli.examples import example
from porthos.errors import PorthosError
from porthos.integrate.catalogue import scheme_named
from porthos.study.timing import Timing, time_file

MECHANISMS = ("pendulum", "double-pendulum", "slider-crank", "bricard", "governor", "car")
SCHEMES = ("Midpoint", "MidpointGGL")
PEERS = {"exudyn": "Exudyn", "mujoco": "MuJoCo"}
COMPARED = ("chain-4 spherical", "chain-16 spherical", "slider-crank", "closed loop")
HERE = Path(__file__).parents[3]  # of an editable installation
INSTALL = "pip install exudyn mujoco"


def bench(sources: Path | None, as_json: bool) -> None:
    """Measure and tell."""
    if not as_json and sys.stderr.isatty():
        complain("measuring, about half a minute; the first time kernels are compiled before ...")
    found = []
    for name in MECHANISMS:
        with example(name) as path:
            found += [time_file(path, scheme_named(scheme)) for scheme in SCHEMES]
    folder, why_not = sources_of(sources)
    rows = [] if why_not else compared(folder)
    data = {"porthos": [asdict(one) for one in found], "compared": rows, "not_compared": why_not}
    tell("\n".join([*_ours(found), "", *(_beside(rows) if rows else [why_not])]), data, as_json)


def sources_of(given: Path | None) -> tuple[Path, str]:
    """The sources of Porthos, where other programs are set up, and why they cannot be asked; empty if they can."""
    folder = HERE if given is None else given
    if not (folder / "benchmarks" / "exudyn_adapter.py").is_file():
        if given is not None:
            raise PorthosError(f"--sources: expected the folder of the sources of Porthos, found '{given}'.")
        return folder, (
            "Not compared with other programs: that needs the sources of Porthos. In their folder: "
            f"{INSTALL}, then porthos bench --sources ."
        )
    missing = [name for package, name in PEERS.items() if find_spec(package) is None]
    if missing:
        return folder, f"Not compared with {' and '.join(missing)}, which {_are(missing)} not installed: {INSTALL}"
    return folder, ""


def _are(names: list[str]) -> str:
    return "are" if len(names) > 1 else "is"


def compared(folder: Path) -> list[dict[str, Any]]:
    """Rows of the benchmark: a mechanism, a program, seconds a step."""
    command = [sys.executable, "-m", "benchmarks", "--quick", "--json", "--only", *COMPARED]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        raise PorthosError(f"bench: the comparison with other programs failed: {last}. Try make bench in '{folder}'.")
    return json.loads(done.stdout.splitlines()[-1])  # Exudyn greets before


def _ours(found: list[Timing]) -> list[str]:
    head = f"{'mechanism':<22}{'bodies':>6}  {'scheme':<14}{'us a step':>10}{'us a body':>11}{'energy error':>14}"
    lines = ["steps of 1 ms, on one core", head]
    for one in found:
        time = 1e6 * one.per_step
        lines.append(
            f"{one.mechanism:<22}{one.bodies:>6}  {one.scheme:<14}{time:>10.2f}{time / one.bodies:>11.2f}"
            f"{one.defect:>14.0e}"
        )
    return lines


def _beside(rows: list[dict[str, Any]]) -> list[str]:
    """Each program as a multiple of Porthos' midpoint rule, which is the first of its mechanism."""
    lines = [f"{'mechanism':<20}{'program':<32}{'us a step':>10}   as long as Porthos"]
    base: dict[str, float] = {}
    for row in rows:
        if row["per_step"] is None:
            lines.append(f"{row['mechanism']:<20}{row['label']:<32}{'-':>10}   {row['note']}")
            continue
        first = base.setdefault(row["mechanism"], row["per_step"])
        wrong = "" if row["agrees"] else ", SOLUTION DIFFERS"
        ratio = row["per_step"] / first
        lines.append(f"{row['mechanism']:<20}{row['label']:<32}{1e6 * row['per_step']:>10.1f}   {ratio:.1f} x{wrong}")
    return lines
