"""Compositions of a symmetric scheme: substeps of sizes gamma_i h, some of them backwards, that cancel its errors.

What the base keeps in every substep the composition keeps too. With sum gamma_i = 1 and gamma_i = gamma_(S+1-i) the
order is even; from order p of the base to p + 2 it needs sum gamma_i^(p+1) = 0 (Suzuki), from 2 to 6 two conditions
more, one of them sum gamma_i^5 = 0, and to 8 another four (Kahan, Li).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum
from typing import Any, Self

import numpy as np

from porthos.errors import PorthosError
from porthos.integrate.midpoint import MidpointGGL
from porthos.integrate.scheme import VELOCITY, Contract, Needs, Rule, Scheme
from porthos.integrate.state_scheme import Begin, StateScheme, Step
from porthos.integrate.tableaus import Tableau, composed
from porthos.notation import Array
from porthos.system.descriptor import Descriptor

LARGEST = 4  # order of the positions where the base does not keep velocities on the constraints
# the substeps before the middle one, which is what is left of 1, of bases of order 2
HALVES: dict[int, tuple[float, ...]] = {
    6: (0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981, 0.08221359629355080023),
    8: (
        0.13020248308889008088,
        0.56116298177510838456,
        -0.38947496264484728641,
        0.15884190655515560090,
        -0.39590389413323757734,
        0.18453964097831570709,
        0.25837438768632204729,
        0.29501172360931029887,
    ),
}


@dataclass(frozen=True)
class Composition(Contract):
    """A symmetric scheme in substeps that raise its order to 4, 6 or 8.

    With MidpointGGL energy, momenta and the constraints on position and velocity level stay exact. With Midpoint only
    positions gain: at the nodes its velocities are off the constraints by O(h^2). `Trajectory.projected` brings them to
    the order of the positions. Functions u(t) are evaluated in every substep; rows of tables hold for a whole step, and
    controllers are asked once for each.

    The base may also be a symmetric scheme over states, `Gauss`, `DiscreteGradient`, `LobattoPair` or `Murua`, on all
    systems that it runs on; with constraints the first two give order 4 at most. Substeps backwards undo dissipation
    for a while: the order is as without it, but where a damper takes most of a motion within a step they blow up what
    it took.
    """

    base: Contract = MidpointGGL()  # noqa: RUF009 - schemes are frozen
    order: int = 4

    def __new__(cls, base: Contract | None = None, order: int = 4) -> Self:
        """Compiled, or over states, as the base is."""
        kinds: tuple[Any, ...] = (_ReducedComposition, _StateComposition)
        return super().__new__(kinds[isinstance(base, StateScheme)] if cls is Composition else cls)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and files of objects are made by the one name that users know."""
        return Composition, (self.base, self.order)

    def __post_init__(self) -> None:
        Contract.__post_init__(self)
        base = self.base
        if not isinstance(base, Scheme | StateScheme) or isinstance(base, Composition):
            raise PorthosError(f"Composition: base must be a scheme such as ph.MidpointGGL(), found {base!r}.")
        if not base.symmetric:
            raise PorthosError(
                f"Composition: base must be symmetric, and {base!r} is not. Use ph.MidpointGGL(), ph.Midpoint(), "
                "ph.Livens(), ph.Gauss(s), ph.DiscreteGradient(), ph.LobattoPair(s) or ph.Murua(s)."
            )
        if self.order <= base.order:
            raise PorthosError(
                f"Composition: order must be above that of the base, found {self.order}, and {base!r} has {base.order}."
            )

    @property
    def needs(self) -> Needs:  # type: ignore[override]
        """Those of the base."""
        return self.base.needs

    @property
    def velocity_order(self) -> int:
        """The order of the base where that does not keep velocities on the constraints."""
        return self.order if VELOCITY in self.base.preserves else self.base.velocity_order

    @property
    def preserves(self) -> frozenset[str]:
        """All that the base preserves."""
        return self.base.preserves

    @property
    def symmetric(self) -> bool:
        """The substeps read the same from both ends."""
        return True

    def require_order(self, instead: str) -> None:
        """Refuse an order that positions do not reach where there are constraints."""
        if self.order > LARGEST and VELOCITY not in self.base.preserves:
            raise PorthosError(
                f"Composition: with {type(self.base).__name__} positions have order {LARGEST} at most, because its "
                f"velocities leave the constraints by O(h^2); found order = {self.order}. Use {instead} as base."
            )

    @property
    def fractions(self) -> tuple[float, ...]:
        """gamma_1 .. gamma_S."""
        first = 1 / (4 - 4 ** (1 / (self.base.order + 1)))
        half = (first, first) if self.order == self.base.order + 2 else HALVES[self.order]
        return (*half, 1 - 2 * fsum(half), *reversed(half))


@dataclass(frozen=True)
class _ReducedComposition(Composition, Scheme):  # type: ignore[override] # its needs are those of the base
    """One whose substeps are compiled."""

    base: Scheme = MidpointGGL()  # noqa: RUF009 - schemes are frozen

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_order("ph.MidpointGGL()")

    @property
    def fractions(self) -> tuple[float, ...]:
        """gamma_1 .. gamma_S."""
        return super().fractions

    @property
    def rule(self) -> Rule:
        """That of the base."""
        return self.base.rule


@dataclass(frozen=True)
class ComposedStep(Step):
    """Substeps one after the other, up to one that failed."""

    substeps: tuple[Step, ...]

    @property
    def iterations(self) -> int:
        """Of all substeps."""
        return sum(step.iterations for step in self.substeps)

    def resized(self, ratio: float) -> Self:
        """What substeps of other sizes may start from."""
        return replace(self, substeps=tuple(step.resized(ratio) for step in self.substeps))


@dataclass(frozen=True)
class _StateComposition(Composition, StateScheme):
    """One whose substeps are those of a scheme over states."""

    base: StateScheme

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.tableau

    @cached_property
    def tableau(self) -> Tableau:
        """That of all substeps."""
        return composed(self.base.tableau, self.fractions, self.order)

    @property
    def stiffly_accurate(self) -> bool:
        """As the last substep."""
        return self.base.stiffly_accurate

    @property
    def renews_algebraic(self) -> bool:
        """As the substeps."""
        return self.base.renews_algebraic

    def require(self, system: Descriptor) -> None:
        """Refuse what the base does, and constraints where it leaves them by more than the order allows."""
        self.base.require(system)
        if not system.weights(1.0).all():  # it has multipliers that constraints on velocities determine
            self.require_order("ph.MidpointGGL(), ph.LobattoPair(2) or ph.Murua(1)")

    def _parts(self, h: float, t: float, u: Array) -> list[tuple[float, float, Array]]:
        """Size, begin and inputs of all substeps."""
        sizes, s = h * np.array(self.fractions), self.base.tableau.stages
        begins = t + np.cumsum(sizes) - sizes
        return [
            (size, begin, u[k * s : (k + 1) * s]) for k, (size, begin) in enumerate(zip(sizes, begins, strict=True))
        ]

    def advance(self, at: Begin) -> ComposedStep:
        """Substep by substep, each from what the same one of the step before found."""
        x, made = at.x0, list[Step]()
        for k, (h, t, u) in enumerate(self._parts(at.h, at.t, at.u)):
            before = None if at.before is None else at.before.substeps[k]
            made.append(self.base.advance(Begin(at.system, h, x, u, t, before)))
            x = made[-1].x
            if not made[-1].converged:
                break
        return ComposedStep(x, np.vstack([step.stages for step in made]), made[-1].found, tuple(made))

    def powers(self, system: Descriptor, h: float, t: float, x0: Array, u: Array, step: Step) -> tuple[Array, ...]:
        """Those of all substeps; where one goes backwards, what it gives is taken."""
        assert isinstance(step, ComposedStep)
        begins = [x0, *(each.x for each in step.substeps)]
        parts = [
            self.base.powers(system, size, begin, x, inputs, each)
            for (size, begin, inputs), x, each in zip(self._parts(h, t, u), begins[:-1], step.substeps, strict=True)
        ]
        return tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))


for _kind in (_ReducedComposition, _StateComposition):  # users know one name
    _kind.__name__ = _kind.__qualname__ = Composition.__name__
