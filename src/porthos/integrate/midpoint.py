"""The two midpoint schemes of 001: PH-MP, eq. (50), and PH-MP-GGL, eq. (61) at the midpoint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from porthos.errors import PorthosError
from porthos.integrate.scheme import ANGULAR, ENERGY, LINEAR, POSITION, VELOCITY, Scheme
from porthos.kernels import nodal
from porthos.kernels.bodies import spatial_rates
from porthos.kernels.elimination import factors, right_side
from porthos.kernels.march import Record, march_ggl, march_midpoint
from porthos.kernels.newton import Memory, Newton
from porthos.kernels.reduced_midpoint import Workspace
from porthos.kernels.tables import Layout
from porthos.kernels.velocity_level import Levels
from porthos.notation import Array
from porthos.system.ggl import require_inertia
from porthos.system.initial import row_vectors
from porthos.system.mechanical import MechanicalSystem


class MidpointMemory(NamedTuple):
    """What a midpoint run carries from step to step."""

    guess: Memory
    workspace: Workspace
    more: tuple[Levels, ...] = ()  # PH-MP-GGL: the velocity level


@dataclass(frozen=True)
class _ReducedScheme(Scheme):
    """A scheme with a reduced step in compiled code.

    `tolerance` is the size of the last Newton update relative to the motion of a step; 0 iterates to the
    round-off floor, which exact energy over many steps needs.
    """

    tolerance: float = 0.0
    max_iterations: int = 50
    compiled: ClassVar[Callable[..., tuple[int, int]]]

    def __post_init__(self) -> None:
        if not self.tolerance >= 0.0:
            raise PorthosError(f"{type(self).__name__}: tolerance must be >= 0, found {self.tolerance!r}.")
        if not self.max_iterations >= 1:
            raise PorthosError(f"{type(self).__name__}: max_iterations must be >= 1, found {self.max_iterations!r}.")

    def layout(self, system: MechanicalSystem) -> Layout:
        """The pattern of elimination that this scheme works on."""
        return system.layout

    def start(self, system: MechanicalSystem, h: float, q: Array, v: Array, wrench: Array) -> MidpointMemory:
        """Increments from the velocities, multipliers from the accelerations at the start."""
        mech, rows = system.mech, system.mech.c.size
        twist, acceleration, lam = np.zeros((mech.mass.size, 6)), np.zeros_like(q), np.zeros(rows)
        spatial_rates(mech, q, v, twist)
        nodal.accelerations(
            mech, system.layout, q, v, wrench, row_vectors(rows), row_vectors(rows),
            factors(system.layout.pattern), acceleration, lam,
        )  # fmt: skip
        guess = Memory(np.repeat(h / 2 * twist[None], 3, axis=0), lam, np.zeros(rows), np.zeros(1, dtype=np.int64))
        return MidpointMemory(guess, _workspace(system, self.layout(system)))

    def advance(
        self,
        system: MechanicalSystem,
        h: float,
        wrench: Array,
        every: int,
        q: Array,
        v: Array,
        memory: Any,
        record: Record,
    ) -> tuple[int, int]:
        """Make len(wrench) steps from (q, v), in place; returns (how it ended, steps made)."""
        newton = Newton(self.tolerance, self.max_iterations, system.length)
        return type(self).compiled(
            system.mech, self.layout(system), h, wrench, every, newton, memory.guess,
            memory.workspace, q, v, record, *memory.more,
        )  # fmt: skip


@dataclass(frozen=True)
class Midpoint(_ReducedScheme):
    """PH-MP: the implicit midpoint rule on the pH-DAE (24).

    Order 2. Energy, momenta and position constraints are exact; velocities satisfy G v = 0 at the midpoints, at the
    nodes only to second order (their error alternates in sign).
    """

    order: ClassVar[int] = 2
    preserves: ClassVar[frozenset[str]] = frozenset({ENERGY, LINEAR, ANGULAR, POSITION})
    symmetric: ClassVar[bool] = True
    compiled: ClassVar[Callable[..., tuple[int, int]]] = staticmethod(march_midpoint)


@dataclass(frozen=True)
class MidpointGGL(_ReducedScheme):
    """PH-MP-GGL: the midpoint rule on the index-1 form (61).

    Order 2. Energy, momenta and the constraints on position and velocity level are exact. Needs M > 0.
    """

    order: ClassVar[int] = 2
    preserves: ClassVar[frozenset[str]] = frozenset({ENERGY, LINEAR, ANGULAR, POSITION, VELOCITY})
    symmetric: ClassVar[bool] = True
    compiled: ClassVar[Callable[..., tuple[int, int]]] = staticmethod(march_ggl)

    def layout(self, system: MechanicalSystem) -> Layout:
        """Two unknowns for each one of PH-MP."""
        return system.doubled

    def start(self, system: MechanicalSystem, h: float, q: Array, v: Array, wrench: Array) -> MidpointMemory:
        """As for PH-MP, after a look at the mass matrix, and memory for the velocity level."""
        require_inertia(system)
        guess, workspace, _ = super().start(system, h, q, v, wrench)
        return MidpointMemory(guess, workspace, (_levels(system),))


def _workspace(system: MechanicalSystem, layout: Layout) -> Workspace:
    bodies, rows = system.mech.mass.size, system.mech.c.size
    still = system.still.copy()
    return Workspace(
        ua=np.zeros((bodies, 6)),
        lam=np.zeros(rows),
        mid=still.copy(),
        end=still.copy(),
        q1=still.copy(),
        v1=np.zeros_like(still),
        rows_mid=row_vectors(rows),
        rows_end=row_vectors(rows),
        feedback=np.zeros(rows),
        x=right_side(layout.pattern),
        factors=factors(layout.pattern),
        y=np.zeros((len(system.terminals), 6)),
    )


def _levels(system: MechanicalSystem) -> Levels:
    bodies, rows = system.mech.mass.size, system.mech.c.size
    V0, V1, Vm, Y, X = (np.zeros_like(system.still) for _ in range(5))
    return Levels(
        np.zeros((bodies, 6)), np.zeros(rows), row_vectors(rows), V0, V1, Vm, Y, X, np.zeros((bodies, 3, 3))
    )  # fmt: skip
