"""What every run knows of itself: its system, its scheme, how it ended; and what can be made of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import PorthosError, Status
from porthos.integrate.catalogue import brief
from porthos.integrate.events import Occurrence
from porthos.integrate.march import March
from porthos.integrate.recording import States
from porthos.notation import Array, IntArray, file_path, numbers
from porthos.system.descriptor import Descriptor

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from porthos.results.comparison import Comparison


class Run(ABC):
    """A run of a scheme on a system."""

    system: Descriptor
    raw: March | States
    scheme: str
    events: tuple[Occurrence, ...] = ()  # in the order of time

    def __repr__(self) -> str:
        count, end = len(self.raw.t), self.raw.t[-1]
        return (
            f"{type(self).__name__}('{self.system.name}': {count} states, t = 0 .. {end:.6g}, {self.scheme_in_brief}, "
            f"{'complete' if self.status.wanted else self.status.name})"
        )

    @property
    def scheme_in_brief(self) -> str:
        """The scheme with the options that are not as they always are."""
        return brief(self.scheme)

    @property
    def status(self) -> Status:
        """How the run ended."""
        return self.raw.status

    @property
    def message(self) -> str:
        """How the run ended, in a sentence."""
        return self.raw.message

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the quantities that plots, tables and reports show where nothing else is asked for; () for all."""
        return ()

    @property
    @abstractmethod
    def t(self) -> Array:
        """Times (T,)."""

    @property
    @abstractmethod
    def power_balance(self) -> Array:
        """What the energy balance misses since the time before (T,)."""

    @abstractmethod
    def thinned(self, kept: ArrayLike) -> Run:
        """The same run with the recorded states `kept` only, increasing from 0, as `simulate(every=...)` keeps them."""

    @abstractmethod
    def summary(self) -> str:
        """A few lines that say what was computed and how well the balances hold."""

    @abstractmethod
    def save(self, path: str | Path) -> Path:
        """Write a NetCDF4 file that xarray opens."""

    def to_pandas(self, *quantities: str) -> pandas.DataFrame:
        """Quantities as a table with a row for each time and columns such as "slider.position.x".

        Without names those of `outputs`, or all.
        """
        from porthos.results.exchange import to_pandas

        return to_pandas(self, *quantities)

    def compare(self, other: Run) -> Comparison:
        """Differences from another run at the times that both recorded: print it, or ask it for a quantity."""
        from porthos.results.comparison import compare

        return compare(self, other)

    # --- doors to the right, see tests/test_rooms.py

    def plot(self, *quantities: str, **options: Any) -> Figure:
        """A figure of named quantities over time, e.g. run.plot("energy", "slider.position").

        Without names those of `outputs`, or an overview.
        """
        from porthos.show.figures import plot

        return plot(self, *quantities, **options)

    def report(
        self,
        path: str | Path,
        figures: Mapping[str, Figure] | None = None,
        points: Mapping[str, tuple[str, ArrayLike]] | None = None,
    ) -> Path:
        """Write an HTML page that needs no other file: what moves, plots, verdict, tables of the model.

        `figures` maps captions to figures shown below; `points` maps names to (body, point in its frame), whose paths
        are drawn. A system without mechanisms moves in a plane of two of its quantities.
        """
        from porthos.show.report import report

        return report(self, path, figures, points)

    def export(self, path: str | Path, **options: Any) -> Path:
        """Write the run for other programs; the ending of the name chooses: see `porthos.show.export`."""
        from porthos.show.export import export

        return export(self, file_path(path), **options)

    def _repr_html_(self) -> str:
        """The report in a notebook."""
        from porthos.show.report import notebook

        return notebook(self)


def times_within(t: Array, time: ArrayLike) -> Array:
    """Times as an array, if a run that recorded the times `t` covers them."""
    times = numbers(time, "at: time", "one or more times in seconds")
    if times.size and not (times.min() >= t[0] and times.max() <= t[-1]):
        raise PorthosError(
            f"at: time: the run covers t = {t[0]:.6g} to {t[-1]:.6g}, asked for {times.min():.6g} to {times.max():.6g}."
        )
    return times


def rows_within(t: Array, kept: ArrayLike) -> IntArray:
    """Numbers of recorded states as an array, if they increase and a run that recorded the times `t` has them."""
    found = numbers(kept, "thinned: kept", "numbers of states such as [0, 10, 20]")
    if found.ndim != 1 or not found.size or np.any(found % 1) or found[0] < 0 or np.any(np.diff(found) <= 0):
        raise PorthosError(f"thinned: kept: expected whole numbers >= 0 that increase, found {found.tolist()}.")
    if found[-1] >= t.size:
        raise PorthosError(f"thinned: kept: the run has {t.size} states, 0 to {t.size - 1}; found {found[-1]:.6g}.")
    return found.astype(np.int64)


def mean_rate(t: Array, shares: Array) -> Array:
    """What came in each interval before a time, divided by its length (T,); NaN at the start, which has none before."""
    length = np.diff(t, prepend=np.nan)
    return np.divide(shares, length, out=np.full(t.size, np.nan), where=length > 0.0)


def nearest_states(t: Array, times: Array) -> IntArray:
    """Which of the increasing times `t` are nearest to others."""
    right = np.searchsorted(t, times)
    low, high = np.maximum(right - 1, 0), np.minimum(right, t.size - 1)
    return np.where(np.abs(t[low] - times) <= np.abs(t[high] - times), low, high)
