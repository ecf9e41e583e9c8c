"""The march with reversible steps, after Hairer and Soederlind: an integrating controller of the density of steps,

rho_(n+1/2) = rho_(n-1/2) + eps G(x_n),   h_(n+1/2) = eps/rho_(n+1/2),   G = (d rho/dt)/rho along the motion.

G changes its sign with the direction of time, so a symmetric scheme with these steps is symmetric as a whole.
"""

from __future__ import annotations

import numpy as np

from porthos.errors import InputError, PorthosError, Status
from porthos.integrate.adaptive_march import with_rate
from porthos.integrate.newton import factorised
from porthos.integrate.state_march import States, Walk
from porthos.integrate.state_scheme import StateScheme
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


def march_reversibly(walk: Walk, rule: Reversible, end: float) -> States:
    """Step from 0 to `end` and keep the ends of all steps; only the last step is cut, so that it ends there."""
    signals, density, eps = walk.signals, _Density(walk.system, rule), rule.step
    t, x, held = 0.0, walk.start.copy(), signals.held(0, 0.0, walk.start)
    q, rate = density.motion(t, x, signals.at(t, held))
    rho = eps / rule.initial if rule.initial else density.at(q) + eps / 2 * density.growth(q, rate)
    before, outcome = None, (Status.TOO_MANY_STEPS, Status.TOO_MANY_STEPS.value)
    walk.node(t, x, held)
    for _ in range(rule.max_steps):
        h = eps / rho
        lands = h >= (end - t) * (1 - ROUND_OFF)
        h = end - t if lands else h
        try:
            guess = None if before is None else before.step.resized(h / before.h)
            piece = walk.piece(t, h, x, held, guess)
            last = walk.last(piece, held)
            q, rate = density.motion(t + h, piece.step.x, signals.at(t + h, held))
            rho += eps * density.growth(q, rate)
        except InputError as error:
            outcome = error.status, str(error)
            break
        if not piece.step.converged:
            outcome = walk.stalled(piece, held)
            break
        if last is not None:
            outcome = walk.end(last, held)
            break
        walk.recorder.step(piece)
        t, x, before = end if lands else t + h, piece.step.x, piece
        walk.node(t, x, held)
        if lands or walk.interrupted():
            outcome = (status := Status.OK if lands else Status.INTERRUPTED), status.value
            break
        if not rho > 0.0:
            outcome = (
                Status.BAD_INPUT,
                f"Reversible: the density changes too fast at t = {t:.6g}. Halve its step.",
            )
            break
        walk.progress(t)
    return walk.states(*outcome)
