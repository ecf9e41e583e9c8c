"""States of rest: f(x, u) = 0; for a mechanism a descent of its potential energy along its constraints.

P^T (grad V - B~ u) = 0 with G P = 0, g(q) = 0: steps -|K|^-1 P^T (...), K = P^T d(grad V - B~ u + G^T lambda)/dq P.
They lead to minima and not to saddles; a start that is a saddle itself stays where it is. Drives hold their value.
"""

from __future__ import annotations

import numpy as np

from porthos.errors import PorthosError
from porthos.kernels.tables import TURN
from porthos.notation import ROUND_OFF, Array
from porthos.system.check import precise_jacobian
from porthos.system.descriptor import Descriptor
from porthos.system.drives import motions_at, standing
from porthos.system.mechanical import MechanicalSystem
from porthos.system.nullspace import right_null_space
from porthos.system.ranks import RANK_TOLERANCE

AT_REST = 1e-7  # what may be left of f, relative to the states
SETTLED = 1e-11  # relative update that ends a search
SINGULAR = 1e-9  # singular value, relative to the largest, that counts as zero
FLAT = 1e-13  # stiffness, relative to the largest, that counts as none: slender beams have a part in 1e9 of it
STRIDE = 0.3  # longest step of a descent, in lengths of the mechanism
ITERATIONS = 200
INCREMENTS = (1, 16)  # in how many parts forces that hold the start are taken away
MOVES = 1e-6  # rate of a drive, in rad/s or lengths of the mechanism a second, that is no round-off of its derivative
SHIFT = 0.2  # by which drives are moved at once, in rad or lengths of the mechanism
OPEN = 1e-8  # gap of a row, in lengths of the mechanism, up to which it is closed


def equilibrium(system: Descriptor, start: Array, u: Array, t: float = 0.0) -> Array:
    """The state of rest next to `start` with what holds at a time, by Newton's method."""
    x = start.copy()
    for _ in range(ITERATIONS):
        slope = precise_jacobian(lambda at: system.flow(at, u, t), x)
        update = np.linalg.lstsq(slope, system.flow(x, u, t), rcond=SINGULAR)[0]
        x -= update
        if np.abs(update).max(initial=0.0) <= SETTLED * max(1.0, float(np.abs(x).max())):
            break
    return require_rest(system, x, u, t=t)


def held_at(system: MechanicalSystem, t: float, given: Array | None) -> tuple[MechanicalSystem, Array]:
    """The mechanism whose drives hold their value of a time for ever, and a state: that given, or one that fits it.

    From the initial placement drives are moved to that value bit by bit.
    """
    turns = system.mech.drive.measure == TURN
    (before, _), (there, rates) = (motions_at(system, time)[len(system.terminals) :, :2].T for time in (0.0, t))
    scale = np.where(turns, 1.0, system.length)
    for drive, rate, limit, turn in zip(system.drives, rates, MOVES * scale, turns, strict=True):
        if abs(rate) > limit:
            raise PorthosError(
                f"modes of '{system.name}' at t = {t:.6g}: expected drives that hold their value, found that "
                f"'{drive.name}' moves with {rate:.6g} {'rad/s' if turn else 'm/s'}: vibrations are about a state of "
                "rest. Choose a time at which it stands, modes(model, time=...), or a port with a controller for it."
            )
    here = standing(system, there)
    if given is not None:
        return here, given
    x, way = system.initial_state(), there - before
    way -= np.where(turns, 2 * np.pi * np.rint(way / (2 * np.pi)), 0.0)
    parts = int(np.ceil(np.abs(way / scale).max(initial=0.0) / SHIFT))
    for share in np.linspace(1.0, 0.0, parts + 1)[1:]:
        x[: system.n] = _on_constraints(standing(system, there - share * way), x[: system.n])
    if np.abs(here.g(x[: system.n])).max(initial=0.0) > OPEN * max(1.0, system.length) ** 2:
        names = ", ".join(f"'{drive.name}'" for drive in system.drives)
        raise PorthosError(
            f"modes of '{system.name}' at t = {t:.6g}: found no configuration that joints and drives allow, from the "
            f"initial one with {names} moved there. Give a state that is near it: modes(model, state, time=...)."
        )
    return here, x


def place_of_rest(system: MechanicalSystem, start: Array, u: Array) -> Array:
    """The state (q, 0, lambda) in which a mechanism rests next to `start`: a minimum of its energy if there is one.

    Where the descent fails, as it may if beams bend far, forces that hold the start are taken away bit by bit.
    """
    q = _on_constraints(system, start[: system.n])
    held = system.gradV(q) - system.Bt(q) @ u
    for parts in INCREMENTS:
        x = np.concatenate([q, start[system.n :]])
        for share in np.linspace(1.0, 0.0, parts + 1)[1:]:
            x, noise = _descent(system, x[: system.n], u, share * held)
        if is_at_rest(system, x, u, noise):
            return x
    return require_rest(system, x, u, noise)


def _descent(system: MechanicalSystem, q: Array, u: Array, held: Array) -> tuple[Array, float]:
    """The state of rest next to q with the forces `held` beside all others, and the round-off of its forces."""
    n = system.n
    for _ in range(ITERATIONS):
        force, G = system.Bt(q) @ u - system.gradV(q) + held, system.G(q).toarray()
        lam = np.linalg.lstsq(G.T, force, rcond=SINGULAR)[0]
        P = right_null_space(G, RANK_TOLERANCE)
        slope = (system.G_stiffness(lam) - system.force_tangent(q, np.zeros(n), u)[0]).toarray()
        step = P @ _towards_rest(P.T @ slope @ P, P.T @ force, slope, force)
        length = float(np.abs(step).max(initial=0.0))
        q = _on_constraints(system, q + step * min(1.0, STRIDE * system.length / max(length, 1e-300)))
        if length <= SETTLED * max(1.0, system.length):
            break
    noise = ROUND_OFF * float(np.abs(slope).max(initial=0.0) * np.abs(q).max(initial=0.0))
    return np.concatenate([q, np.zeros(n), lam]), noise


def _towards_rest(K: Array, pull: Array, slope: Array, force: Array) -> Array:
    """Newton's step K^-1 pull, or |K|^-1 pull where the energy has no minimum; nothing where nothing pulls or holds."""
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    size = np.abs(values)
    flat = FLAT * float(size.max(initial=0.0))
    if values.min(initial=1.0) > flat:
        return np.asarray(np.linalg.solve(K, pull), dtype=np.float64)  # torques make K unsymmetric
    weak = SINGULAR * max(float(np.abs(slope).max(initial=0.0)), float(np.abs(force).max(initial=0.0)), 1e-300)
    pull = vectors.T @ pull
    moved = np.where((size > flat) | (np.abs(pull) > weak), pull / np.maximum(size, max(flat, 1e-300)), 0.0)
    return np.asarray(vectors @ moved, dtype=np.float64)


def _on_constraints(system: MechanicalSystem, q: Array) -> Array:
    """The configuration next to q with g(q) = 0."""
    for _ in range(ITERATIONS):
        update = np.linalg.lstsq(system.G(q).toarray(), system.g(q), rcond=SINGULAR)[0]
        q = q - update
        if np.abs(update).max(initial=0.0) <= SETTLED * max(1.0, system.length):
            break
    return q


def is_at_rest(system: Descriptor, x: Array, u: Array, noise: float = 0.0, t: float = 0.0) -> bool:
    """Whether nothing moves; `noise` is the round-off of large forces that cancel."""
    return bool(np.abs(system.flow(x, u, t)).max() <= AT_REST * max(1.0, float(np.abs(x).max())) + noise)


def require_rest(system: Descriptor, x: Array, u: Array, noise: float = 0.0, t: float = 0.0) -> Array:
    """x, or an error that says what keeps it moving."""
    if not is_at_rest(system, x, u, noise, t):
        gap = np.abs(system.flow(x, u, t))
        k = int(np.argmax(gap))
        raise PorthosError(
            f"'{system.name}': found no state of rest next to the start; {gap[k]:.3g} is left in the equation of "
            f"{system.block_of(k)}. Place the parts near to where they rest, or give a state: modes(model, state)."
        )
    return x
