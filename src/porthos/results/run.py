"""What every run knows of itself: its system, its scheme, and how it ended; and where its times are."""

from __future__ import annotations

import numpy as np

from porthos.errors import Status
from porthos.integrate.events import Occurrence
from porthos.integrate.march import March
from porthos.integrate.state_march import States
from porthos.notation import Array, IntArray
from porthos.system.descriptor import Descriptor


class Run:
    """A run of a scheme on a system."""

    system: Descriptor
    raw: March | States
    scheme: str
    events: tuple[Occurrence, ...] = ()  # in the order of time

    def __repr__(self) -> str:
        count, end = len(self.raw.t), self.raw.t[-1]
        return (
            f"{type(self).__name__}('{self.system.name}': {count} states, t = 0 .. {end:.6g}, {self.scheme}, "
            f"{'complete' if self.status.wanted else self.status.name})"
        )

    @property
    def status(self) -> Status:
        """How the run ended."""
        return self.raw.status

    @property
    def message(self) -> str:
        """How the run ended, in a sentence."""
        return self.raw.message


def nearest_states(t: Array, times: Array) -> IntArray:
    """Which of the increasing times `t` are nearest to others."""
    right = np.searchsorted(t, times)
    low, high = np.maximum(right - 1, 0), np.minimum(right, t.size - 1)
    return np.where(np.abs(t[low] - times) <= np.abs(t[high] - times), low, high)
