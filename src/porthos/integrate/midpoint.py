"""The two midpoint schemes of 001: PH-MP, eq. (50), and PH-MP-GGL, eq. (61) at the midpoint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from porthos.errors import ModelError
from porthos.integrate.crew import alone, together
from porthos.integrate.scheme import ANGULAR, ENERGY, LINEAR, POSITION, VELOCITY, Iterated, Rule, Scheme
from porthos.kernels import ahead
from porthos.kernels.drives import AIMS
from porthos.kernels.elimination import Factors, factors, right_side
from porthos.kernels.ggl_correction import Levels
from porthos.kernels.guess import GUESSES, KEPT, Memory
from porthos.kernels.newton import Habit, Newton, floor
from porthos.kernels.pose import Pose
from porthos.kernels.record import Record, Sums
from porthos.kernels.reduced_ggl import march_ggl
from porthos.kernels.reduced_midpoint import march_midpoint
from porthos.kernels.tables import Layout
from porthos.kernels.workspace import Workspace
from porthos.notation import Array
from porthos.system.massless import GHOST
from porthos.system.mechanical import MechanicalSystem
from porthos.system.nodal import NodalMatrix, twists
from porthos.system.stepping import stepping

UNSEEN = (1.0, 1.0, -1.0)  # of what a first update leaves of itself
UNKNOWN = (1.0, 1.0, 0.0, 1.0)  # of how updates of the two levels shrink


class MidpointMemory(NamedTuple):
    """What a midpoint run carries from step to step."""

    guess: Memory
    habit: Habit
    workspace: Workspace
    sums: Sums
    fast: Factors  # of the condensed matrix
    sure: Factors  # of the exact matrix
    angles: Array  # (F,) of force elements at the last state, over many turns
    more: tuple[Levels, ...] = ()  # PH-MP-GGL: the velocity level


@dataclass(frozen=True)
class _ReducedScheme(Iterated, Scheme, Rule):
    """A scheme with a reduced step in compiled code, which is its own rule.

    With `threads=2` two threads make the steps of a mechanism together, if it has more than a hundred bodies and can be
    divided: the same steps up to round-off, and the same bits in every run.
    """

    tolerance: float = 0.0
    max_iterations: int = 50
    threads: int = 1

    order: ClassVar[int]
    preserves: ClassVar[frozenset[str]]
    symmetric: ClassVar[bool]
    compiled: ClassVar[Callable[..., tuple[int, int]]]

    @property
    def rule(self) -> Rule:
        """Itself."""
        return self

    def start(self, system: MechanicalSystem, sizes: Array, q: Array, v: Array, wrench: Array) -> MidpointMemory:
        """Increments from the velocities, multipliers from the accelerations at the start."""
        _, lam = NodalMatrix(system).accelerations(q, v, wrench)
        twist, ground, h = twists(system, q, v).ravel(), np.zeros((sizes.size, 6)), sizes[:, None]
        if system.element_names:
            lam = np.append(lam, system.elements.multipliers(q, v, lam))
        return self.memory(system, sizes, np.concatenate([h / 2 * twist, ground, h**2 / 2 * lam], axis=1))

    def memory(self, system: MechanicalSystem, sizes: Array, z: Array) -> MidpointMemory:
        """Memory for steps that begin with the guess z (substeps, unknowns)."""
        condensed, angles = stepping(system, sizes, self.threads).condensed, system.moving.law.about.copy()
        exact, matrix = np.zeros((2, 1), dtype=np.int64)
        redundant = np.zeros(2 + int(condensed.joint.island.max(initial=0)), dtype=np.int64)
        habit = Habit(exact, redundant, matrix, np.ones((sizes.size, 3)) * UNSEEN)
        fast, sure = factors(condensed.pattern), factors(system.exact.pattern)
        guess = _memory(z)
        return MidpointMemory(guess, habit, _workspace(system, condensed), _sums(system), fast, sure, angles)

    def angles(self, memory: MidpointMemory) -> Array:
        """Those in the memory."""
        return memory.angles

    def renew(
        self, system: MechanicalSystem, memory: MidpointMemory, sizes: Array, q: Array, v: Array, z: Array, more: Array
    ) -> None:
        """Guesses, and a new matrix."""
        _repeat(memory.guess, z)
        memory.guess.past[:, 1], memory.guess.past[:, 2] = z - more, z
        memory.guess.steps[:], memory.guess.best[:] = 2, 1  # the difference is believed
        memory.habit.matrix[0] = memory.habit.exact[0] = 0
        memory.habit.left[:] = UNSEEN

    def advance(
        self,
        system: MechanicalSystem,
        sizes: Array,
        wrench: Array,
        every: int,
        q: Array,
        v: Array,
        memory: Any,
        record: Record,
        about: Array | None = None,
    ) -> tuple[int, int]:
        """Make len(wrench) substeps from (q, v), in place; returns (how it ended, whole steps made)."""
        ahead.ready(self.part)
        arguments = self.arguments(system, sizes, wrench, every, q, v, memory, record, about)
        chosen = stepping(system, sizes if about is None else about, self.threads)
        exact = record.feedback.terminal.size > 0  # controllers are Python code of others
        ended, made = together(type(self).compiled, arguments, chosen.helping, exact)
        memory.angles[:] = arguments[1].law.about
        return ended, made

    def arguments(
        self,
        system: MechanicalSystem,
        sizes: Array,
        wrench: Array,
        every: int,
        q: Array,
        v: Array,
        memory: MidpointMemory,
        record: Record,
        about: Array | None = None,
    ) -> tuple[Any, ...]:
        """What compiled steps need."""
        chosen = stepping(system, sizes if about is None else about, self.threads)
        ghosts = system.mech.body.ghost.any() or system.mech.body.spin.any()
        slowest = max(chosen.slowest, 10 * GHOST if ghosts else 0.0)
        newton = Newton(self.tolerance, self.max_iterations, system.length, slowest, floor(len(system.body_names)))
        mech, law = system.moving, system.moving.law.copy()  # a run counts turns in a table of its own
        law.about[:] = memory.angles
        mech = mech._replace(law=law, marker=mech.marker.copy() if system.drives else mech.marker)  # drives turn some
        return (
            alone(), mech, chosen.condensed, system.exact, sizes, wrench, every, newton, memory.guess,
            memory.habit, memory.workspace, memory.sums, memory.fast, memory.sure, q, v, record, *memory.more,
        )  # fmt: skip


@dataclass(frozen=True)
class Midpoint(_ReducedScheme):
    """PH-MP: the implicit midpoint rule on the pH-DAE (24).

    Order 2. Energy, momenta and position constraints are exact; velocities satisfy G v = 0 at the midpoints, at the
    nodes only to second order (their error alternates in sign). `threads=2` is faster for hundreds of bodies.
    """

    order: ClassVar[int] = 2
    preserves: ClassVar[frozenset[str]] = frozenset({ENERGY, LINEAR, ANGULAR, POSITION})
    symmetric: ClassVar[bool] = True
    compiled: ClassVar[Callable[..., tuple[int, int]]] = staticmethod(march_midpoint)
    part: ClassVar[str] = ahead.MIDPOINT


@dataclass(frozen=True)
class MidpointGGL(_ReducedScheme):
    """PH-MP-GGL: the midpoint rule on the index-1 form (61).

    Order 2. Energy, momenta and the constraints on position and velocity level are exact. Rods without thickness are
    refused: their spin has no inertia, and may be free. The iteration converges linearly, the slower the further
    bodies turn in a step: small steps are cheap, large ones are not. `threads=2` is faster for hundreds of bodies.
    """

    max_iterations: int = 200

    order: ClassVar[int] = 2
    preserves: ClassVar[frozenset[str]] = frozenset({ENERGY, LINEAR, ANGULAR, POSITION, VELOCITY})
    symmetric: ClassVar[bool] = True
    compiled: ClassVar[Callable[..., tuple[int, int]]] = staticmethod(march_ggl)
    part: ClassVar[str] = ahead.GGL

    def start(self, system: MechanicalSystem, sizes: Array, q: Array, v: Array, wrench: Array) -> MidpointMemory:
        """As for PH-MP, after a look at the moments of inertia."""
        _require_moments(system)
        return super().start(system, sizes, q, v, wrench)

    def memory(self, system: MechanicalSystem, sizes: Array, z: Array) -> MidpointMemory:
        """The same, and memory for the velocity level."""
        memory, bodies = super().memory(system, sizes, z), len(system.body_names) + 1
        last, rate, L = z[0, : 6 * bodies].copy(), np.ones((sizes.size, 4)) * UNKNOWN, np.zeros((bodies, 3, 3))
        return memory._replace(
            more=(
                Levels(
                    np.zeros(z.shape[1]),
                    last,
                    np.zeros_like(memory.guess.past),
                    rate,
                    L,
                    *_released(system, sizes, self.threads, memory),
                ),
            )
        )

    def renew(
        self, system: MechanicalSystem, memory: MidpointMemory, sizes: Array, q: Array, v: Array, z: Array, more: Array
    ) -> None:
        """The same, and the velocities at the begin."""
        super().renew(system, memory, sizes, q, v, z, more)
        (levels,) = memory.more
        levels.last[:-6] = sizes[0] / 2 * twists(system, q, v).ravel()
        levels.rate[:] = UNKNOWN
        levels.past[:] = 0.0


def _require_moments(system: MechanicalSystem) -> None:
    """Refuse rods, which have no moment of inertia about one axis: nothing determines the multipliers of their spin.

    Bodies without any were accepted at assembly because joints hold them.
    """
    spins = np.count_nonzero(system.mech.body.spin[system.rigid], axis=1)
    for b in system.rigid[(spins > 0) & (spins < 3)]:
        raise ModelError(
            f"body '{system.body_names[b]}' is a rod without thickness, so it has no inertia about its axis, which "
            "PH-MP-GGL needs. Use ph.Midpoint(), or give the body a small thickness, for example ph.Cylinder."
        )


def _released(
    system: MechanicalSystem, sizes: Array, threads: int, memory: MidpointMemory
) -> tuple[Pose, Factors, Factors]:
    """Memory for the matrix of the velocities, which has no force elements; without them, that of the positions.

    The exact matrix takes nothing from shifts.
    """
    end = memory.workspace.end
    if not system.element_names:
        return end, memory.fast, memory.sure
    layout, sure = stepping(system, sizes, threads).condensed, factors(system.exact.pattern)
    if not layout.stiff:
        return end, memory.fast, sure
    return end._replace(shift=end.shift.copy()), factors(layout.pattern), sure


def _memory(z: Array) -> Memory:
    """A guess that repeats z (substeps, unknowns) until there are steps to extrapolate."""
    substeps, unknowns = z.shape
    past, errors = np.zeros((substeps, KEPT, unknowns)), np.zeros((substeps, 2 * GUESSES))
    memory = Memory(past, errors, np.zeros(substeps, dtype=np.int64), np.zeros((substeps, 2), dtype=np.int64))
    _repeat(memory, z)
    return memory


def _repeat(memory: Memory, z: Array) -> None:
    """Make it a guess that repeats z."""
    memory.past[:], memory.errors[:], memory.steps[:], memory.best[:] = 0.0, 0.0, 0, 0
    memory.past[:, 0] = z


def _sums(system: MechanicalSystem) -> Sums:
    loads, rows, loss = len(system.channel_names), system.moving.row.size, np.zeros(len(system.element_names))
    q, v = np.zeros_like(system.still), np.zeros_like(system.still)
    return Sums(q, v, np.zeros(rows), np.zeros((loads, 6)), np.zeros(loads), loss, np.zeros(1, dtype=np.int64))


def _workspace(system: MechanicalSystem, layout: Layout) -> Workspace:
    rows, pattern = system.moving.row.size, layout.pattern
    return Workspace(
        z=np.zeros(6 * len(system.still) + rows),
        x=right_side(pattern),
        mid=_pose(system),
        end=_pose(system),
        feedback=np.zeros(rows),
        lam=np.zeros(rows),
        y=np.zeros((len(system.channel_names), 6)),
        aim=np.zeros((len(system.drives), AIMS)),
        grip=np.zeros(system.moving.law.size),
        give=np.zeros((rows, 4)),
        echo=right_side(pattern),
        second=right_side(pattern),
        awake=np.zeros(len(system.still), dtype=np.int8),
    )


def _pose(system: MechanicalSystem) -> Pose:
    """Memory for a configuration, with what belongs to the ground in place."""
    mech = system.moving
    marker, ground = mech.marker.copy(), mech.body[-1].markers[1]
    marker[:ground] = 0.0
    linear = ~np.any(mech.form.cu, axis=(1, 2))  # rows u0 . w
    shift = np.where(linear[:, None, None], mech.form.cw[:, :, :1] * mech.form.u0[:, None], 0.0)
    return Pose(system.still.copy(), marker, shift)
