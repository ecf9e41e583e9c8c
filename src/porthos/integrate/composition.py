"""Compositions of a symmetric scheme: substeps of sizes gamma_i h, some of them backwards, that cancel its errors.

What the base keeps in every substep the composition keeps too. With sum gamma_i = 1 and gamma_i = gamma_(S+1-i) the
order is even; order 4 needs sum gamma_i^3 = 0 (Suzuki), order 6 two conditions more, one of them sum gamma_i^5 = 0,
and order 8 another four (Kahan, Li).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

from porthos.errors import PorthosError
from porthos.integrate.midpoint import MidpointGGL
from porthos.integrate.scheme import VELOCITY, Rule, Scheme

LARGEST = 4  # order of the positions where the base does not keep velocities on the constraints
SUZUKI = 1 / (4 - 4 ** (1 / 3))
# the substeps before the middle one, which is what is left of 1
HALVES: dict[int, tuple[float, ...]] = {
    4: (SUZUKI, SUZUKI),
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
class Composition(Scheme):
    """A symmetric scheme in substeps that raise its order to 4, 6 or 8.

    With MidpointGGL energy, momenta and the constraints on position and velocity level stay exact. With Midpoint only
    positions gain: at the nodes its velocities are off the constraints by O(h^2). `Trajectory.projected` brings them to
    the order of the positions. Functions u(t) are evaluated in every substep; rows of tables hold for a whole step, and
    controllers are asked once for each.
    """

    base: Scheme = MidpointGGL()  # noqa: RUF009 - schemes are frozen
    order: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.base, Scheme) or isinstance(self.base, Composition):
            raise PorthosError(f"Composition: base must be a scheme such as ph.MidpointGGL(), found {self.base!r}.")
        if not self.base.symmetric:
            raise PorthosError(f"Composition: base must be symmetric, and {self.base!r} is not.")
        if self.order > LARGEST and VELOCITY not in self.base.preserves:
            raise PorthosError(
                f"Composition: with {type(self.base).__name__} positions have order {LARGEST} at most, because its "
                f"velocities leave the constraints by O(h^2); found order = {self.order}. Use ph.MidpointGGL() as base."
            )

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

    @property
    def fractions(self) -> tuple[float, ...]:
        """gamma_1 .. gamma_S."""
        half = HALVES[self.order]
        return (*half, 1 - 2 * fsum(half), *reversed(half))

    @property
    def rule(self) -> Rule:
        """That of the base."""
        return self.base.rule
