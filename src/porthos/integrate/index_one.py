"""Explicit Runge-Kutta methods on accelerations, the index-1 form: `MDOP5` and `DOP853` (002, section 4.2).

[M G^T; G 0] (v', lambda) = (f, -d(G v + g_t)/dt along q' = v), with M, f and G at every stage. Truncation and round-off
make g drift like t^2. Forms: "index 1" lets it drift; "Baumgarte" solves g'' + 2 alpha g' + alpha^2 g = 0 in the place
of g'' = 0; "projection" moves q and then v, after every step, to the nearest ones in the metric of M that meet the
constraints.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import integrate

from porthos.errors import PorthosError
from porthos.integrate.newton import Solver, factorised
from porthos.integrate.scheme import LINEAR, POSITION, VELOCITY
from porthos.integrate.state_scheme import ASTRAY, Begin, EmbeddedStep, MechanicalScheme
from porthos.integrate.tableaus import LOWER, Tableau, dormand_prince
from porthos.notation import Array
from porthos.system.accelerations import RATE, pull
from porthos.system.descriptor import Descriptor
from porthos.system.mechanical import MechanicalSystem
from porthos.system.motion import Motion, motion_of
from porthos.system.recursion import tree_of

SWEEPS = 6  # of the projection of positions, at most
FLOOR = 1e-15  # change of positions, relative to their size, that is none


@dataclass(frozen=True)
class IndexOne(MechanicalScheme):
    """An explicit method on accelerations of mechanisms and Lagrangians; nothing is iterated, nothing stiff is damped.

    `form` is "projection", "Baumgarte" with the rate `alpha`, or "index 1". Masses may be zero where constraints make
    up for it. `recursive` finds the accelerations of mechanisms without closed loops body by body, in O(N).
    """

    form: str = "projection"
    alpha: float = RATE
    recursive: bool = False

    def require(self, system: Descriptor) -> None:
        """Refuse closed loops too, where there may be none."""
        super().require(system)
        if self.recursive and isinstance(system, MechanicalSystem):
            tree_of(system)
            for b in np.flatnonzero(np.any(system.mech.body.spin > 0.0, axis=1)):
                raise PorthosError(
                    f"{self!r}: body '{system.body_names[b]}' has no inertia about some axis, which recursion divides "
                    "by. Leave recursive=True away, or give the body a small thickness, for example ph.Cylinder."
                )

    @property
    def preserves(self) -> frozenset[str]:
        """Linear momentum, and with projection the constraints on both levels."""
        return frozenset({LINEAR, *({POSITION, VELOCITY} if self.form == "projection" else ())})

    @property
    def renews_algebraic(self) -> bool:
        """Multipliers follow from positions and velocities."""
        return True

    @abstractmethod
    def estimate(self, slopes: Array) -> Array:
        """The error of the result for a step of size one, from the slopes (s, n) at all stages."""

    def advance(self, at: Begin) -> EmbeddedStep:
        """All stages one after the other; the multipliers at the begin and the step before are not needed."""
        system, h, t, inputs = at.system, at.h, at.t, at.u
        motion, alpha = motion_of(system), self.alpha if self.form == "Baumgarte" else 0.0
        (A, c), n = (self.tableau.A, self.tableau.c), system.n
        start, multipliers = at.x0[: 2 * n], np.zeros((c.size, system.m))
        Y, slopes = np.zeros((c.size, 2 * n)), np.zeros((c.size, 2 * n))
        for i, time in enumerate((t + c * h).tolist()):
            Y[i] = start + h * (A[i, :i] @ slopes[:i])
            q, v = Y[i, :n], Y[i, n:]
            solve = self._solver(motion, time, q, v)
            known = np.append(motion.force(time, q, v, inputs[i]), pull(motion, alpha, time, q, v))
            acceleration, multipliers[i] = np.split(solve(known), [n])
            slopes[i] = np.append(v, acceleration)
        projected = VELOCITY in self.preserves and system.m > 0
        end = self._projected(motion, t + h, Y[-1], solve) if projected else Y[-1]
        x = np.append(end, multipliers[-1])
        error = np.append(h * self.estimate(slopes), np.zeros(system.m))
        return EmbeddedStep.explicit(x, np.hstack([Y, multipliers]), error, motion.meets(t + h, end[:n], ASTRAY))

    def _solver(self, motion: Motion, t: float, q: Array, v: Array) -> Solver:
        """How to solve with [M G^T; G 0]."""
        if self.recursive and isinstance(motion.system, MechanicalSystem):
            return tree_of(motion.system).solver(q)
        return factorised(motion.kkt(t, q, v))

    def _projected(self, motion: Motion, t: float, y: Array, solve: Solver) -> Array:
        """The nearest q with g = 0, then the nearest v with G v + g_t = 0; `solve` solves with the matrix near them."""
        n = y.size // 2
        q, v, still = y[:n].copy(), y[n:], np.zeros(n)
        for _ in range(SWEEPS):
            change = solve(np.append(still, -motion.gap(t, q)))[:n]
            q += change
            if not np.abs(change).max() > FLOOR * np.abs(q).max():
                break
        there = self._solver(motion, t, q, v)
        return np.append(q, v + there(np.append(still, -motion.rate(t, q, v)))[:n])


@dataclass(frozen=True)
class MDOP5(IndexOne):
    """The method of Dormand and Prince, of order 5, on accelerations of mechanisms and Lagrangians."""

    @property
    def tableau(self) -> Tableau:
        """Of Dormand and Prince; the last stage is the result."""
        return dormand_prince()

    def estimate(self, slopes: Array) -> Array:
        """The difference to the result of order 4."""
        return np.asarray((self.tableau.b - np.array(LOWER)) @ slopes)


@dataclass(frozen=True)
class DOP853(IndexOne):
    """The method of order 8 of Dormand and Prince, as SciPy has it, on accelerations of mechanisms and Lagrangians."""

    embedded_ratio = 0.15

    @property
    def tableau(self) -> Tableau:
        """Twelve stages, and the result as a thirteenth."""
        return _dop853()

    def estimate(self, slopes: Array) -> Array:
        """e5^2/sqrt(e5^2 + e3^2/100) of the differences to results of orders 5 and 3."""
        e5, e3 = integrate.DOP853.E5 @ slopes, integrate.DOP853.E3 @ slopes
        size = np.hypot(e5, 0.1 * e3)
        return np.asarray(e5**2 / np.where(size > 0.0, size, 1.0))


@cache
def _dop853() -> Tableau:
    given = integrate.DOP853
    A = np.zeros((given.n_stages + 1, given.n_stages + 1))
    A[:-1, :-1], A[-1, :-1] = given.A, given.B
    return Tableau("DOP853", A, A[-1], A.sum(axis=1), (8, 1, 0))
