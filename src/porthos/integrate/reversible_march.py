"""The march with reversible steps, after Hairer and Soederlind: an integrating controller of the density of steps,

rho_(n+1/2) = rho_(n-1/2) + eps G(x_n),   h_(n+1/2) = eps/rho_(n+1/2),   G = (d rho/dt)/rho along the motion.

G changes its sign with the direction of time, so a symmetric scheme with these steps is symmetric as a whole.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from porthos.errors import InputError, PorthosError, Status
from porthos.integrate.adaptive_march import with_rate
from porthos.integrate.newton import factorised
from porthos.integrate.recording import States
from porthos.integrate.state_scheme import StateScheme, Step
from porthos.integrate.walk import Route, Walk
from porthos.notation import Array
from porthos.steps import Reversible
from porthos.system.descriptor import Descriptor
from porthos.system.lagrangian_system import LagrangianSystem
from porthos.system.mechanical import MechanicalSystem

ROUND_OFF = 1e-6  # part of a step by which the last one may miss the end and still be whole
DIFFERENCE = 1e-5  # by which positions move, relative to their size, to see how the density changes


def require_reversible(system: Descriptor, scheme: StateScheme, x: Array) -> None:
    """Refuse schemes that are not symmetric, and systems whose density has no rate."""
    if not scheme.symmetric:
        raise PorthosError(
            f"simulate: reversible steps need a symmetric scheme, and {scheme!r} is not. Use ph.Gauss(s), or on "
            "mechanisms ph.MidpointGGL(), ph.LobattoPair(s) or ph.Murua(s); or ph.Adaptive(...)."
        )
    if not isinstance(system, MechanicalSystem | LagrangianSystem) and not with_rate(system, x).all():
        raise PorthosError(
            f"simulate: reversible steps need mechanisms, Lagrangians or systems without algebraic states, and "
            f"'{system.name}' is none of them. Use ph.Adaptive(...)."
        )


class _Density:
    """The density of steps that a user wants, and how it changes along the motion."""

    def __init__(self, system: Descriptor, rule: Reversible) -> None:
        self.system, self.rule = system, rule

    def at(self, q: Array) -> float:
        """rho(q), or an InputError."""
        try:
            value = float(self.rule.density(q))
        except Exception as error:  # a user's function may raise anything; the run so far must survive it
            raise InputError(f"Reversible: the density failed with {type(error).__name__}: {error}") from error
        if not 0.0 < value < np.inf:
            raise InputError(f"Reversible: expected a positive density, found {value!r} at q = {q.tolist()}.")
        return value

    def motion(self, t: float, x: Array, u: Array) -> tuple[Array, Array]:
        """What the density depends on, and its rate."""
        if isinstance(self.system, MechanicalSystem | LagrangianSystem):
            n = self.system.n
            return x[:n], x[n : 2 * n]
        return x, factorised(self.system.E(x, t))(self.system.flow(x, u, t))

    def growth(self, q: Array, rate: Array) -> float:
        """G = (d rho/dt)/rho, by a central difference along the rate: its sign follows the rate exactly."""
        speed = float(np.abs(rate).max(initial=0.0))
        if speed == 0.0:
            return 0.0
        delta = DIFFERENCE * max(float(np.abs(q).max()), 1e-300) / speed
        return (self.at(q + delta * rate) - self.at(q - delta * rate)) / (2 * delta * self.at(q))


class _Steps(Route):
    """Where a run with reversible steps is: the density of the next step, and the step before it."""

    remembered: ClassVar[tuple[str, ...]] = ("t", "x", "held", "rho", "made", "before")

    def __init__(self, walk: Walk, rule: Reversible, end: float) -> None:
        super().__init__(walk)
        self.rule, self.end, self.density = rule, end, _Density(walk.system, rule)
        self.held = walk.signals.held(0, 0.0, walk.start)
        self.made = 0
        self.before: tuple[float, Step] | None = None  # with its size
        if self.resume():
            return
        q, rate = self.density.motion(self.t, self.x, walk.signals.at(self.t, self.held))
        eps = rule.step
        self.rho = eps / rule.initial if rule.initial else self.density.at(q) + eps / 2 * self.density.growth(q, rate)
        walk.node(self.t, self.x, self.held)

    def attempt(self) -> None:
        """One step, and the density of the next."""
        walk, eps = self.walk, self.rule.step
        h = eps / self.rho
        lands = h >= (self.end - self.t) * (1 - ROUND_OFF)
        h = self.end - self.t if lands else h
        guess = None if self.before is None else self.before[1].resized(h / self.before[0])
        piece = walk.piece(self.t, h, self.x, self.held, guess)
        last = walk.last(piece, self.held)
        q, rate = self.density.motion(self.t + h, piece.step.x, walk.signals.at(self.t + h, self.held))
        rho = self.rho + eps * self.density.growth(q, rate)
        if not piece.step.converged:
            self.outcome = walk.stalled(piece, self.held)
            return
        if last is not None:
            self.outcome = walk.end(last, self.held)
            return
        walk.recorder.step(piece)
        self.t, self.x, self.rho, self.made = self.end if lands else self.t + h, piece.step.x, rho, self.made + 1
        self.before = (h, piece.step.remembered)
        walk.node(self.t, self.x, self.held)
        if lands:
            self.outcome = Status.OK, Status.OK.value
        elif not rho > 0.0:
            words = f"Reversible: the density changes too fast at t = {self.t:.6g}. Halve its step."
            self.outcome = Status.BAD_INPUT, words
        elif self.made >= self.rule.max_steps:
            self.outcome = Status.TOO_MANY_STEPS, Status.TOO_MANY_STEPS.value


def march_reversibly(walk: Walk, rule: Reversible, end: float) -> States:
    """Step from 0 to `end` and keep the ends of all steps; only the last step is cut, so that it ends there."""
    return _Steps(walk, rule, end).states()
