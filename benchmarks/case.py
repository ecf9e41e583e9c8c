"""What the benchmark asks of every code: run a mechanism for timing, or run it and hand over states.

The relative energy drift of a run is max_k |E(t_k) - E(0)| / max_k T(t_k), with one kinetic energy T for all codes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from benchmarks.models import Mechanism, Vector


class Record(NamedTuple):
    """States at K times of a run, the start among them."""

    positions: Vector  # (K, N, 3) centres of mass
    energy: Vector  # (K,) kinetic and potential
    kinetic: Vector  # (K,)


class CodeFailedError(RuntimeError):
    """A code could not finish a run."""


class Case(ABC):
    """One mechanism in one code with one setting, ready to run from its initial state any number of times."""

    setting: str
    iterations: float | None = None  # Newton iterations a step in the last run

    @abstractmethod
    def run(self, h: float, steps: int) -> None:
        """Make `steps` steps of size h and keep no more than the last state: this is timed."""

    @abstractmethod
    def record(self, h: float, steps: int, every: int) -> Record:
        """The same, with every `every`-th state: this is not timed."""


class Code(NamedTuple):
    """A column of the table: a code with a family of integrators, and the settings to choose from."""

    label: str
    settings: Callable[[Mechanism], Iterator[Any]]
    build: Callable[[Mechanism, Any], Case]
    ours: bool = False  # measured however slow
    tight: Callable[[Any], Any] | None = None  # the setting with the default tolerance, for the energy drift
    soft_loops: bool = False  # loops are closed by stiff springs, to some digits only
