"""The quantities of a run of a mechanism over time, by the names of `porthos.quantities`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from porthos.notation import Array
from porthos.quantities import Meaning, Part, named
from porthos.results.trajectory import Trajectory


def columns_of(run: Trajectory, *names: str) -> dict[str, Array]:
    """Every number (T,) of some quantities, or of all, by its name."""
    known = run.system.quantities
    if not names:
        return {name: column for meant, values in all_values(run) for name, column in _columns(meant, values)}
    meanings = [named(name, known) for name in names]
    return {name: column for meant in meanings for name, column in _columns(meant, values_of(run, meant))}


def values_of(run: Trajectory, meant: Meaning) -> Array:
    """A quantity over time, with all its components: (T,), (T, 3) or (T, 3, 3)."""
    values: Array = getattr(_view(run, meant.part), meant.attribute)
    return values


def all_values(run: Trajectory) -> Iterator[tuple[Meaning, Array]]:
    """All quantities that have names."""
    for part, meanings in groupby(run.system.quantities.values(), lambda one: one.part):
        view = _view(run, part)  # one for all of its quantities, since it remembers what it has computed
        for meant in meanings:
            yield meant, getattr(view, meant.attribute)


def _view(run: Trajectory, part: Part) -> Any:
    """The run itself, or the view of a part."""
    if part.group == "":
        return run
    views: dict[str, Callable[[str], Any]] = {
        "bodies": run.__getitem__, "joints": run.joint, "elements": run.element, "beams": run.beam
    }  # fmt: skip
    return views.get(part.group, run.port)(part.name)


def _columns(meant: Meaning, values: Array) -> Iterator[tuple[str, Array]]:
    """The number that is meant, or all of a vector."""
    table = values.reshape(len(values), -1)
    for k in range(table.shape[1]) if meant.component is None else [meant.component]:
        single = meant._replace(component=k) if meant.quantity.components else meant
        yield single.name, table[:, k]
