"""The two midpoint schemes of 001: PH-MP, eq. (50), and PH-MP-GGL, eq. (61) at the midpoint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from porthos.errors import PorthosError
from porthos.integrate.scheme import ANGULAR, ENERGY, LINEAR, POSITION, VELOCITY, Scheme
from porthos.kernels.elimination import Factors, factors, right_side
from porthos.kernels.joints import Pose
from porthos.kernels.newton import ORDERS, Habit, Memory, Newton
from porthos.kernels.record import Record
from porthos.kernels.reduced_ggl import Levels, march_ggl
from porthos.kernels.reduced_midpoint import Workspace, march_midpoint
from porthos.notation import Array
from porthos.system.assemble import SPIN_STIFFNESS
from porthos.system.ggl import require_inertia
from porthos.system.mechanical import MechanicalSystem
from porthos.system.nodal import NodalMatrix, twists


class MidpointMemory(NamedTuple):
    """What a midpoint run carries from step to step."""

    guess: Memory
    habit: Habit
    workspace: Workspace
    fast: Factors  # of the condensed matrix
    sure: Factors  # of the exact matrix
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

    def start(self, system: MechanicalSystem, h: float, q: Array, v: Array, wrench: Array) -> MidpointMemory:
        """Increments from the velocities, multipliers from the accelerations at the start."""
        _, lam = NodalMatrix(system).accelerations(q, v, wrench)
        z = np.concatenate([h / 2 * twists(system, q, v).ravel(), np.zeros(6), h**2 / 2 * lam])
        habit = Habit(*(np.zeros(1, dtype=np.int64) for _ in Habit._fields))
        fast, sure = factors(system.condensed.pattern), factors(system.layout.pattern)
        return MidpointMemory(_memory(z), habit, _workspace(system), fast, sure)

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
        slowest = 10 * SPIN_STIFFNESS if system.mech.body.spin.any() else 0.0
        newton = Newton(self.tolerance, self.max_iterations, system.length, slowest)
        return type(self).compiled(
            system.mech, system.condensed, system.layout, h, wrench, every, newton, memory.guess,
            memory.habit, memory.workspace, memory.fast, memory.sure, q, v, record, *memory.more,
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

    Order 2. Energy, momenta and the constraints on position and velocity level are exact. Needs M > 0. Its iteration
    converges linearly, the slower the further bodies turn in a step: small steps are cheap, large ones are not.
    """

    max_iterations: int = 200

    order: ClassVar[int] = 2
    preserves: ClassVar[frozenset[str]] = frozenset({ENERGY, LINEAR, ANGULAR, POSITION, VELOCITY})
    symmetric: ClassVar[bool] = True
    compiled: ClassVar[Callable[..., tuple[int, int]]] = staticmethod(march_ggl)

    def start(self, system: MechanicalSystem, h: float, q: Array, v: Array, wrench: Array) -> MidpointMemory:
        """As for PH-MP, after a look at the mass matrix, and memory for the velocity level."""
        require_inertia(system)
        memory = super().start(system, h, q, v, wrench)
        bodies, z = len(system.body_names) + 1, np.zeros_like(memory.guess.differences[0])
        last = memory.guess.differences[0, : 6 * bodies].copy()
        return memory._replace(more=(Levels(z, last, _memory(z), np.ones(2), np.zeros((bodies, 3, 3))),))


def _memory(z: Array) -> Memory:
    """A guess that repeats z until there are steps to extrapolate."""
    differences = np.zeros((ORDERS, z.size))
    differences[0] = z
    return Memory(differences, np.zeros(ORDERS), np.zeros(1, dtype=np.int64))


def _workspace(system: MechanicalSystem) -> Workspace:
    rows, pattern = system.mech.row.size, system.condensed.pattern
    return Workspace(
        z=np.zeros(pattern.unknowns),
        x=right_side(pattern),
        mid=_pose(system),
        end=_pose(system),
        feedback=np.zeros(rows),
        lam=np.zeros(rows),
        y=np.zeros((len(system.terminals), 6)),
    )


def _pose(system: MechanicalSystem) -> Pose:
    """Memory for a configuration, with what belongs to the ground in place."""
    mech = system.mech
    marker, ground = mech.marker.copy(), mech.body[-1].markers[1]
    marker[:ground] = 0.0
    linear = ~np.any(mech.form.cu, axis=(1, 2))  # rows u0 . w
    shift = np.where(linear[:, None, None], mech.form.cw[:, :, :1] * mech.form.u0[:, None], 0.0)
    return Pose(system.still.copy(), marker, shift)
