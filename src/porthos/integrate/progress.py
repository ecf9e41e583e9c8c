"""A progress bar on a terminal, silence elsewhere: steps, simulated time, energy error, and the time that is left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from porthos.notation import flag

OFTEN = 0.5  # seconds between two looks at the energy


class Progress(Protocol):
    """Is told how many steps are done, and whom to ask for the error of the energy, if it is known."""

    def __call__(self, done: int, defect: Callable[[], float] | None = None) -> None:
        """Show it, or not."""


def silent(done: int, defect: Callable[[], float] | None = None) -> None:
    """Show nothing."""
    del done, defect


@contextmanager
def progress_bar(name: str, steps: int, h: float, wanted: bool | None) -> Iterator[Progress]:
    """Yields a function that is told the number of steps done, of `steps` steps of h seconds."""
    if wanted is not None:
        flag(wanted, "simulate: progress")
    if not (sys.stderr.isatty() if wanted is None else wanted):
        yield silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),  # a name may look like markup
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("t = {task.fields[t]:.4g} of {task.fields[end]:.4g} s,"),
        TextColumn("{task.fields[energy]}"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=steps, t=0.0, end=steps * h, energy="")
        looked = time.monotonic()

        def report(done: int, defect: Callable[[], float] | None = None) -> None:
            nonlocal looked
            bar.update(task, completed=done, description=name, t=done * h)
            if defect is not None and time.monotonic() - looked > OFTEN:
                bar.update(task, energy=f"energy error {defect():.0e} J,")
                looked = time.monotonic()

        yield report
