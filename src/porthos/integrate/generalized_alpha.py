"""Generalized-alpha methods on mechanisms and Lagrangians, 002, sections 4.1 and 4.3: `GeneralizedAlpha` and `HHT`.

q1 = q0 + h v0 + h^2 ((1/2 - beta) a0 + beta a1) - G(q0)^T N,   v1 = v0 + h ((1 - gamma) a0 + gamma a1),
(1 - alpha_m) a1 + alpha_m a0 = (1 - alpha_f) q1'' + alpha_f q0'',   M(q1) q1'' = f(q1, v1, u1) - G(q1)^T lambda1,

with g(t1, q1) = 0 (index 3), G(q1) v1 + g_t = 0 (index 2), or both and N = h mu (stabilised). Unknowns: h a1,
h lambda1, N.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from porthos.integrate.newton import factorised
from porthos.integrate.scheme import LINEAR, POSITION, VELOCITY
from porthos.integrate.state_scheme import Begin, MechanicalScheme, RememberingStep, Step, least_speed, velocity_change
from porthos.integrate.tableaus import Tableau, lobatto_iiia
from porthos.notation import Array
from porthos.system.blockwise import Term, blockwise, times_turned
from porthos.system.descriptor import Matrix
from porthos.system.motion import Motion, motion_of

LEVELS = {"index 3": {POSITION}, "index 2": {VELOCITY}, "stabilised": {POSITION, VELOCITY}}


class Parameters(NamedTuple):
    """The four numbers of a method; gamma = 1/2 - alpha_m + alpha_f gives order 2."""

    alpha_m: float
    alpha_f: float
    beta: float
    gamma: float


class Moving(NamedTuple):
    """q, v, the acceleration q'' and the vector a that follows it."""

    q: Array
    v: Array
    acceleration: Array
    a: Array

    def for_steps(self, ratio: float) -> Moving:
        """The same for steps of another size: a - q'' grows with it."""
        return self if ratio == 1.0 else self._replace(a=self.acceleration + ratio * (self.a - self.acceleration))


@dataclass(frozen=True)
class AlphaStep(RememberingStep):
    """A step, and the motion at its end, of which a belongs to steps of one size."""

    end: Moving


@dataclass(frozen=True, eq=False)
class _Equations:
    """The equations of one step, and their matrix."""

    motion: Motion
    p: Parameters
    levels: frozenset[str]
    h: float
    start: Moving
    t: float  # at the end
    u: Array

    @cached_property
    def stabilised(self) -> bool:
        """Whether constraints hold on both levels, with N."""
        return len(self.levels) == 2

    def parts(self, y: Array) -> tuple[Array, Array, Array]:
        """h a1, h lambda1 and N, which is zero where it is no unknown."""
        n, m = self.motion.n, self.motion.m
        return y[:n], y[n : n + m], y[n + m :] if self.stabilised else np.zeros(m)

    def end(self, y: Array) -> Moving:
        """The motion at the end of the step."""
        (am, af, beta, gamma), h, (q, v, acceleration) = self.p, self.h, self._known
        w, _, N = self.parts(y)
        q = q + h * beta * w
        return Moving(
            q - self._pull(N) if self.stabilised else q,
            v + gamma * w,
            (1 - am) / (h * (1 - af)) * w + acceleration,
            w / h,
        )

    @cached_property
    def _known(self) -> tuple[Array, Array, Array]:
        """The parts of q, v and the acceleration at the end that do not depend on the unknowns."""
        (q, v, acceleration, a), (am, af, beta, gamma), h = self.start, self.p, self.h
        return (
            q + h * v + h**2 * (0.5 - beta) * a,
            v + h * (1 - gamma) * a,
            (am * a - af * acceleration) / (1 - af),
        )

    def _pull(self, N: Array) -> Array:
        """G(q0)^T N."""
        return self.motion.pulls(np.array([self.t - self.h]), self.start.q[None], N[None])[0]

    @cached_property
    def _G0(self) -> Matrix:
        return self.motion.G(self.t - self.h, self.start.q)

    def residual(self, y: Array) -> Array:
        """What should be zero: forces, and the constraints of the levels."""
        motion, h, t, (q, v, acceleration, _) = self.motion, self.h, np.array([self.t]), self.end(y)
        Q, V, (n, m) = q[None], v[None], (motion.n, motion.m)
        pull = motion.pulls(t, Q, y[None, n : n + m])
        rows = [(motion.impulses(h, t, Q, V, h * acceleration[None], self.u[None]) + pull)[0]]
        rows += [motion.gaps(t, Q)[0] / h] if POSITION in self.levels else []
        rows += [motion.rates(t, Q, V)[0]] if VELOCITY in self.levels else []
        return np.concatenate(rows)

    def matrix(self, y: Array) -> Matrix:
        """The derivative of the residual."""
        motion, h, t, (q, v, acceleration, _) = self.motion, self.h, self.t, self.end(y)
        am, af, beta, gamma = self.p
        n, m, stabilised = motion.n, motion.m, self.stabilised
        by_q, by_v, M = motion.impulse_tangent(h, t, q, v, h * acceleration, self.u)
        stiffness, G = motion.stiffness(t, q, self.parts(y)[1]), motion.G(t, q)
        terms = [Term(0, 0, (1 - am) / (1 - af), [M]), Term(0, 0, gamma, [by_v]), Term(0, n, 1.0, [G], turned=True)]
        by_position = [(0, 1.0, stiffness), (0, 1.0, by_q)]  # row, weight, derivative
        row = n
        if POSITION in self.levels:
            by_position += [(row, 1.0 / h, G)]
            row += m
        if VELOCITY in self.levels:
            terms += [Term(row, 0, gamma, [G])]
            by_position += [(row, 1.0, motion.rate_slope(t, q, v))]
        for row, weight, part in by_position:
            terms += [Term(row, 0, weight * h * beta, [part])]
            if stabilised and part.size:
                terms += [Term(row, n + m, -weight, [times_turned(part, self._G0)])]
        return blockwise(y.size, terms)

    def size_of(self, y: Array, update: Array) -> float:
        """The change of velocities, relative to them."""
        n, m = self.motion.n, self.motion.m
        return velocity_change(self.h, self._least, y[:n], update[:n], update[n + m :])

    @cached_property
    def _least(self) -> float:
        return least_speed(self.h, self.start.q, self.start.v)


@dataclass(frozen=True, kw_only=True)
class AlphaMethod(MechanicalScheme):
    """What generalized-alpha methods have in common. `form` is "index 3", "index 2" or "stabilised".

    `corrected` starts "index 3" from velocities moved by O(h^2), without which multipliers oscillate in the first
    hundred steps with an error of first order.
    """

    form: str = "stabilised"
    corrected: bool = True
    tolerance: float = 0.0
    max_iterations: int = 50

    @property
    @abstractmethod
    def parameters(self) -> Parameters:
        """alpha_m, alpha_f, beta and gamma."""

    @property
    def tableau(self) -> Tableau:
        """The trapezoidal rule: inputs act at both ends of a step, and work is summed there."""
        return lobatto_iiia(2)

    @property
    def preserves(self) -> frozenset[str]:
        """Linear momentum, and the constraints of the form."""
        return frozenset({LINEAR, *LEVELS[self.form]})

    @property
    def symmetric(self) -> bool:
        """A step has a memory, and damps."""
        return False

    def advance(self, at: Begin) -> AlphaStep:
        """From the motion at the end of the step before, or from one made for the start."""
        motion, h, x0, before = motion_of(at.system), at.h, at.x0, at.before
        start = self._start(motion, h, at.t, x0, at.u) if before is None else before.end.for_steps(h / before.size)
        levels = frozenset(LEVELS[self.form] if motion.m else {POSITION})
        equations = _Equations(motion, self.parameters, levels, h, start, at.t + h, at.u[1])
        if before is None:
            lam = motion.split(x0)[2]
            guess = np.concatenate([h * start.a, h * lam, np.zeros(motion.m if equations.stabilised else 0)])
        else:
            guess = before.found.value
        found = self.solved((equations.residual, equations.matrix), equations.size_of, guess, before)
        end, lam = equations.end(found.value), equations.parts(found.value)[1] / h
        x = np.concatenate([end.q, end.v, lam])
        return AlphaStep(x, np.array([x0, x]), found, h, end)

    def part(self, at: Begin, whole: Step) -> Step:
        """On index 3 v and lambda of a small part would be differences of positions, divided by its size.

        There v is the parabola of v0, v1 and q1'' of the whole step, and lambda that of the accelerations.
        """
        made, motion = super().part(at, whole), motion_of(at.system)
        if self.form != "index 3" or not motion.m:
            return made
        assert isinstance(whole, AlphaStep)
        _, v1, acceleration, _ = whole.end
        q, _, _ = motion.split(made.x)
        v0, rest, t = motion.split(at.x0)[1], at.h - whole.size, at.t + at.h
        v = v1 + rest * acceleration + (rest / whole.size) ** 2 * (v0 - v1 + whole.size * acceleration)
        balance = np.append(motion.force(t, q, v, at.u[-1]), -motion.bend(t, q, v))
        lam = factorised(motion.kkt(t, q, v))(balance)[motion.n :]
        x = np.concatenate([q, v, lam])
        return replace(made, x=x, stages=np.array([at.x0, x]))

    def _start(self, motion: Motion, h: float, t: float, x0: Array, inputs: Array) -> Moving:
        """q'' from the accelerations, a = q''(t0 + (alpha_m - alpha_f) h) + O(h^2) from their rate q'''.

        g'' = 0 and g''' = 0 give G q'' = -b and G q''' = -j; the rate of M q'' - f + G^T lambda is a difference.
        """
        (q, v, _), (am, af, beta, _) = motion.split(x0), self.parameters
        solve, n = factorised(motion.kkt(t, q, v)), motion.n
        acceleration, lam = np.split(solve(np.append(motion.force(t, q, v, inputs[0]), -motion.bend(t, q, v))), [n])
        third = -motion.jolt(h, t, q, v, acceleration)
        both = np.array([t, t + h]), np.array([q, q + h * v])
        velocities, increments = np.array([v, v + h * acceleration]), h * np.array([acceleration, acceleration])
        impulses = motion.impulses(h, *both, velocities, increments, inputs) / h
        before, after = impulses + motion.pulls(*both, np.array([lam, lam]))
        jerk = solve(np.append((before - after) / h, third))[:n]
        if self.corrected and self.form == "index 3":
            v = v + (1 - 6 * beta - 3 * (am - af)) / 6 * h**2 * solve(np.append(np.zeros(n), third))[:n]
        return Moving(q, v, acceleration, acceleration + (am - af) * h * jerk)


@dataclass(frozen=True)
class GeneralizedAlpha(AlphaMethod):
    """The generalized-alpha method of Chung and Hulbert, of order 2, on mechanisms and Lagrangians.

    Oscillations that the step does not resolve are damped by `rho` a step, 0 <= rho <= 1. With rho = 1, the
    trapezoidal rule of Newmark, nothing is: multipliers of "index 3" then converge only from the corrected start.
    """

    rho: float = 0.9

    @property
    def parameters(self) -> Parameters:
        """Of Chung and Hulbert."""
        am, af = (2 * self.rho - 1) / (self.rho + 1), self.rho / (self.rho + 1)
        return Parameters(am, af, (1 - am + af) ** 2 / 4, 0.5 - am + af)


@dataclass(frozen=True)
class HHT(AlphaMethod):
    """The method of Hilber, Hughes and Taylor, of order 2; -1/3 <= alpha <= 0, less damps more."""

    alpha: float = -0.1

    @property
    def parameters(self) -> Parameters:
        """alpha_m = 0, alpha_f = -alpha."""
        return Parameters(0.0, -self.alpha, (1 - self.alpha) ** 2 / 4, 0.5 - self.alpha)
