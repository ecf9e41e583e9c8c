"""A progress bar on a terminal, silence elsewhere: steps, simulated time, and the time that is left."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(name: str, steps: int, h: float, wanted: bool | None) -> Iterator[Callable[[int], None]]:
    """Yields a function that is told the number of steps done, of `steps` steps of h seconds."""
    if not (sys.stderr.isatty() if wanted is None else wanted):
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),  # a name may look like markup
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("t = {task.fields[t]:.4g} of {task.fields[end]:.4g} s,"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        first = f"{name}: compiling on first use, then stepping"
        task = bar.add_task(first, total=steps, t=0.0, end=steps * h)

        def report(done: int) -> None:
            bar.update(task, completed=done, description=name, t=done * h)

        yield report
