"""Measure, compare, print, write the page."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from rich.console import Console

from benchmarks import (
    claims,
    equal_accuracy,
    exudyn_adapter,
    exudyn_tree,
    mujoco_adapter,
    porthos_adapter,
    report,
    work_precision,
)
from benchmarks.measure import Budget, Chooser, Race, Row, prepare, refined
from benchmarks.models import Entry, catalogue

CODES = (
    porthos_adapter.MIDPOINT,
    porthos_adapter.GGL,
    exudyn_adapter.IMPLICIT,
    exudyn_tree.TREE,
    mujoco_adapter.RK4,
)
PAGE, PARTIAL_PAGE = Path("docs/performance.md"), Path("build/benchmarks/performance.md")
REFINED = "chain-4 spherical"
FULL = Budget(sweeps=2, rounds=2, repeat=0.3, longest=1.5)
QUICK = Budget(sweeps=1, rounds=2, repeat=0.1, longest=0.5)


def main() -> int:
    """Run; the exit code is 1 if solutions disagree, or if something that is claimed does not hold."""
    arguments = _arguments()
    console = Console(width=None if sys.stdout.isatty() else 170, stderr=arguments.json)
    chosen = _choose(arguments.only, arguments.quick)
    groups, finer = _measure(chosen, QUICK if arguments.quick else FULL, console)
    if arguments.json:
        print(json.dumps([_plain(row) for rows in groups for row in rows]))
        return 0
    all_tables = report.tables(groups, CODES)
    if finer:
        coarse = next(rows for rows in groups if rows[0].mechanism == REFINED)
        all_tables.insert(2, report.refinement(coarse, finer))
    for table in all_tables:
        report.show(console, table)
    whole, remarks, short = not (arguments.quick or arguments.only), [], []
    if whole:
        found = claims.claims(groups)
        all_tables.insert(0, report.claimed(found))
        report.show(console, all_tables[0])
        short = [
            f"{claim.text}: {claim.values[claim.worst]:.3g} at {claim.worst}" for claim in found if not claim.holds
        ]
    if arguments.figure:
        figure = report.FIGURE if whole else PARTIAL_PAGE.with_name(report.FIGURE.name)
        times = work_precision.draw(figure, arguments.quick, console.print)
        all_tables.append(report.precision(times, work_precision.WANTED))
        report.show(console, all_tables[-1])
        remarks = [equal_accuracy.in_words(times)]
        short += [] if arguments.quick else equal_accuracy.shortfalls(times)
    page = PAGE if whole else PARTIAL_PAGE
    report.write_page(page, _parts(all_tables, remarks))
    console.print(f"page written to {page}")
    wrong = [row for rows in [*groups, finer] for row in rows if not row.agrees]
    for row in wrong:
        console.print(
            f"DISAGREEMENT: {row.mechanism}, {row.label} ({row.setting}), h = {row.h:g}: "
            f"{row.deviation:.1e} m from Porthos Midpoint, allowed {row.tolerance:.1e} m",
            style="bold red",
        )
    for claim in short:
        console.print(f"DOES NOT HOLD: {claim}", style="bold red")
    return 1 if wrong or short else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Porthos against Exudyn and MuJoCo.")
    parser.add_argument("--quick", action="store_true", help="small mechanisms, short measurements; page into build/")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="mechanisms whose name contains one of these texts")
    parser.add_argument("--figure", action="store_true", help="the times to an error of 1e-8 m and their figure, too")
    parser.add_argument("--json", action="store_true", help="only the measurements, for programs such as porthos bench")
    return parser.parse_args()


def _plain(row: Row) -> dict[str, object]:
    """A row as data: what `porthos bench` shows of it."""
    return {name: getattr(row, name) for name in ("mechanism", "bodies", "label", "per_step", "note", "agrees")}


def _choose(only: Sequence[str] | None, quick: bool) -> list[Entry]:
    entries = [e for e in catalogue() if e.quick or not quick]
    if only is None:
        return entries
    chosen = [e for e in entries if any(text in e.name for text in only)]
    if not chosen:
        raise SystemExit(f"--only: no mechanism has {only} in its name; there are {[e.name for e in entries]}.")
    return chosen


def _measure(entries: Sequence[Entry], budget: Budget, console: Console) -> tuple[list[list[Row]], list[Row]]:
    """The rows of all mechanisms, and those of REFINED at a smaller step."""
    chooser, races = Chooser(), list[Race]()
    for sweep in range(budget.sweeps):
        for k, entry in enumerate(entries):
            start = perf_counter()
            if sweep == 0:
                races.append(prepare(entry, CODES, chooser))
            races[k].run(budget)
            console.print(f"{entry.name}: {perf_counter() - start:.1f} s", style="dim")
    groups = [race.result() for race in races]
    finer = [refined(e, CODES, rows) for e, rows in zip(entries, groups, strict=True) if e.name == REFINED]
    return groups, finer[0] if finer else []


def _parts(tables: Sequence[report.Table], remarks: Sequence[str]) -> list[str]:
    """The page: date and machine, how to read it, tables, what the last one says, figure."""
    parts = [report.machine(), report.HOW_TO_READ, *(report.markdown(table) for table in tables), *remarks]
    if report.FIGURE.exists():
        parts.append(
            f"### Work and precision\n\n{report.ABOUT_FIGURE}\n\n![work-precision](images/{report.FIGURE.name})"
        )
    return parts
