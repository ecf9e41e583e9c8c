"""Two runs side by side: the differences of all named quantities at the times that both recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from porthos.errors import PorthosError, nearest
from porthos.notation import Array, IntArray
from porthos.results.quantities import all_values
from porthos.results.run import Run, nearest_states
from porthos.results.state_quantities import ERRORS as STATE_ERRORS
from porthos.results.state_quantities import series
from porthos.results.states import StateTrajectory
from porthos.results.trajectory import Trajectory

if TYPE_CHECKING:
    import pandas

SAME_TIME = 1e-6  # times nearer than this, relative to the shortest interval, are the same
ERRORS = ("position_error", "velocity_error", "power_balance")  # of the method, not of the motion


@dataclass(frozen=True)
class Difference:
    """How one quantity of one body, joint or port differs; vectors by their length."""

    name: str
    largest: float
    time: float  # at which it is largest
    last: float
    size: float  # largest value of the quantity in either run
    values: Array  # (T,) or (T, ...)

    @property
    def relative(self) -> float:
        """Largest difference, relative to the largest value; 0 where both are zero."""
        return self.largest / self.size if self.size > 0.0 else 0.0


@dataclass(frozen=True)
class Comparison:
    """Differences of a run from another at their common times: comparison["slider.position"].largest."""

    titles: tuple[str, str]
    t: Array  # (T,)
    differences: tuple[Difference, ...]
    missing: tuple[str, ...]  # what only one of the runs has

    def __getitem__(self, name: str) -> Difference:
        for difference in self.differences:
            if difference.name == name:
                return difference
        names = [difference.name for difference in self.differences]
        raise PorthosError(f"the runs have no common quantity '{name}'. {nearest(name, names)}")

    def to_pandas(self) -> pandas.DataFrame:
        """A table with a row for each quantity."""
        import pandas

        rows = [(d.name, d.largest, d.relative, d.time, d.last) for d in self.differences]
        heads = ["quantity", "largest", "relative", "time", "last"]
        return pandas.DataFrame(rows, columns=heads).set_index("quantity")

    def __str__(self) -> str:
        first, second = self.titles
        width = max(len(difference.name) for difference in self.differences)
        lines = [
            f"{first} and {second}: {self.t.size} common times, t = {self.t[0]:.6g} .. {self.t[-1]:.6g} s",
            f"  {'largest difference':<{width}}    absolute  relative  at t [s]",
        ]
        lines += [f"  {d.name:<{width}}    {d.largest:8.2e}  {d.relative:8.1e}  {d.time:.6g}" for d in self.differences]
        if self.missing:
            lines.append(f"  only in one of them: {', '.join(self.missing)}")
        return "\n".join(lines)


def compare(run: Run, other: Run) -> Comparison:
    """Differences run - other at the times that both recorded."""
    if not isinstance(other, Run):
        raise PorthosError(f"compare: other: expected a run, found {other!r}.")
    here, there = common_times(run.t, other.t)
    if here.size == 0:
        raise PorthosError(
            f"compare: expected runs with common times, found none among {run.t.size} states to t = {run.t[-1]:.6g} s "
            f"and {other.t.size} states to t = {other.t[-1]:.6g} s. Choose a step that is a multiple of the other."
        )
    titles = (f"{run.system.name} ({run.scheme_in_brief})", f"{other.system.name} ({other.scheme_in_brief})")
    if isinstance(run, StateTrajectory) and isinstance(other, StateTrajectory):
        return Comparison(titles, run.t[here], *_of_states(run.thinned(here), other.thinned(there)))
    if isinstance(run, Trajectory) and isinstance(other, Trajectory):
        return Comparison(titles, run.t[here], *_of_mechanisms(run.thinned(here), other.thinned(there)))
    raise PorthosError(
        f"compare: expected two runs of mechanisms or two over states, found {titles[0]} and {titles[1]}. Compare "
        "with a mechanism that is part of a connected system: run.part(name)."
    )


Found: TypeAlias = tuple[tuple[Difference, ...], tuple[str, ...]]  # and what only one of the runs has


def _of_states(a: StateTrajectory, b: StateTrajectory) -> Found:
    one, two = series(a), series(b)
    common = [name for name in one if name in two and name not in STATE_ERRORS]
    differences = [_difference(name, a.t, one[name].values, two[name].values) for name in common]
    owners = [{each.owner for each in found.values()} for found in (one, two)]
    return tuple(differences), tuple(f"'{owner}'" for owner in sorted(owners[0] ^ owners[1]))


def _of_mechanisms(a: Trajectory, b: Trajectory) -> Found:
    one, two = ({meant.name: values for meant, values in all_values(run)} for run in (a, b))
    common = [name for name in one if name in two and name not in ERRORS]
    differences = [_difference(name, a.t, one[name], two[name]) for name in common]
    owners = [{each.part.name for each in run.system.quantities.values()} for run in (a, b)]
    return tuple(differences), tuple(f"'{owner}'" for owner in sorted(owners[0] ^ owners[1]))


def common_times(t: Array, s: Array) -> tuple[IntArray, IntArray]:
    """Places in both lists of times that are the same up to round-off."""
    spans = [float(np.diff(times).min()) for times in (t, s) if times.size > 1]
    near = nearest_states(s, t)
    same = np.abs(s[near] - t) <= SAME_TIME * min(spans, default=1.0)
    return np.flatnonzero(same), near[same]


def _difference(name: str, t: Array, one: Array, two: Array) -> Difference:
    both = np.isnan(one) & np.isnan(two)  # such as a mean since the time before, at the start
    values = np.where(both, 0.0, one - two)
    sizes = _lengths(values)
    k = int(np.argmax(sizes))
    size = max(float(_lengths(np.where(both, 0.0, each)).max()) for each in (one, two))
    return Difference(name, float(sizes[k]), float(t[k]), float(sizes[-1]), size, values)


def _lengths(values: Array) -> Array:
    return np.abs(values) if values.ndim == 1 else np.linalg.norm(values.reshape(len(values), -1), axis=1)
