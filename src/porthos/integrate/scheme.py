"""What every time-stepping scheme declares, and one test holds all of them to.

A scheme is a frozen set of options. `order` is the order of its states, of positions in mechanics, and `velocity_order`
that of velocities; `preserves` lists what stays exact up to round-off; `symmetric` means that a step back undoes a
step; `stiffly_accurate` that a step ends on the algebraic equations; `needs` says which systems it steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import ChainMap
from dataclasses import fields
from typing import Any, ClassVar, Literal, NamedTuple, get_origin, get_type_hints

from porthos.errors import PorthosError
from porthos.integrate.options import OPTIONS, check_kind
from porthos.kernels.record import Record
from porthos.notation import Array
from porthos.system.descriptor import Descriptor
from porthos.system.mechanical import MechanicalSystem

ENERGY, LINEAR, ANGULAR = "energy", "linear momentum", "angular momentum"
POSITION, VELOCITY = "position constraints", "velocity constraints"
CYCLIC = "momenta of cyclic coordinates"
QUADRATIC, GENERALISED = "quadratic energy", "generalised energy"  # energy, where it is quadratic; p.v - L
ENERGIES = frozenset({ENERGY, QUADRATIC, GENERALISED})  # each is the energy of mechanisms under gravity


class Needs(NamedTuple):
    """The systems that a scheme steps, in words too, what to use on others, and the highest index it can do."""

    kinds: tuple[type[Descriptor], ...] = (Descriptor,)
    words: str = "descriptor systems"
    instead: str = ""
    highest_index: int = 3


class Contract(ABC):
    """What a scheme declares."""

    needs: ClassVar[Needs] = Needs()

    def __post_init__(self) -> None:
        """Refuse options that are not of the types that they are declared with, or make no sense."""
        name, hints = type(self).__name__, get_type_hints(type(self))
        known = ChainMap(*(dict(OPTIONS.get(cls.__name__, {})) for cls in type(self).__mro__))
        for key in (option.name for option in fields(self)):  # type: ignore[arg-type] # all schemes are dataclasses
            value, hint = getattr(self, key), hints[key]
            check_kind(f"{name}: {key}", str if get_origin(hint) is Literal else hint, value)
            if key in known:
                known[key].check(name, key, value)

    def require(self, system: Descriptor) -> None:
        """Refuse a system that lacks what the scheme needs."""
        kinds, words, instead, _ = self.needs
        if not isinstance(system, kinds):
            none = "none" if len(kinds) == 1 else "neither"
            raise PorthosError(f"simulate: {self!r} steps {words}, and '{system.name}' is {none}. {instead}")

    @property
    @abstractmethod
    def order(self) -> int:
        """The order of its states."""

    @property
    def velocity_order(self) -> int:
        """The order of velocities at the nodes, where there are constraints."""
        return self.order

    @property
    @abstractmethod
    def preserves(self) -> frozenset[str]:
        """What stays exact up to round-off."""

    @property
    @abstractmethod
    def symmetric(self) -> bool:
        """Whether a step back undoes a step."""

    @property
    def stiffly_accurate(self) -> bool:
        """Whether a step ends on the algebraic equations."""
        return False


class Iterated(Contract):
    """A scheme that solves its equations by Newton's method.

    `tolerance` is the size of the last update relative to what moves in a step; 0 iterates to the round-off floor,
    which exact energy over many steps needs.
    """

    tolerance: float = 0.0
    max_iterations: int = 50


class Rule(ABC):
    """A rule of stepping mechanical systems in their reduced form: what the march calls."""

    part: ClassVar[str]  # what is compiled for it, see kernels/ahead.py

    @abstractmethod
    def start(self, system: MechanicalSystem, sizes: Array, q: Array, v: Array, wrench: Array) -> Any:
        """The memory of a run that starts at (q, v), kernel arrays, with substeps of these sizes."""

    @abstractmethod
    def memory(self, system: MechanicalSystem, sizes: Array, z: Array) -> Any:
        """The memory of a run that begins with the guess z (substeps, unknowns)."""

    @abstractmethod
    def renew(
        self, system: MechanicalSystem, memory: Any, sizes: Array, q: Array, v: Array, z: Array, more: Array
    ) -> None:
        """Make a memory forget all steps: the next one, with any substeps, begins at (q, v) with the guess z + more.

        If that fails, with z.
        """

    @abstractmethod
    def angles(self, memory: Any) -> Array:
        """The angles (F,) of force elements at the last state, over many turns; to write into, too."""

    @abstractmethod
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
        """Make len(wrench) substeps from (q, v), in place; returns (how it ended, whole steps made).

        `about` are substeps of about the same sizes, those that the memory was made for, if they are not `sizes`.
        """


class Scheme(Contract):
    """A scheme whose steps of mechanical systems are substeps of one rule."""

    needs = Needs(
        (MechanicalSystem,),
        "mechanisms in a reduced form",
        "Use a Runge-Kutta method such as ph.Gauss(1), which is the midpoint rule on any pH-DAE.",
    )

    def require(self, system: Descriptor) -> None:
        """Refuse friction too, if a substep goes backwards."""
        super().require(system)
        backwards = min(self.fractions) < 0.0
        if backwards and isinstance(system, MechanicalSystem) and system.element_names and system.elements.rubs:
            raise PorthosError(
                f"simulate: {self!r} takes some of its substeps backwards, and friction cannot be undone: there it "
                f"would feed energy into '{system.name}'. Use ph.Midpoint() or ph.MidpointGGL()."
            )

    @property
    @abstractmethod
    def rule(self) -> Rule:
        """What makes the substeps."""

    @property
    def fractions(self) -> tuple[float, ...]:
        """The substeps of a step, as fractions of it."""
        return (1.0,)
