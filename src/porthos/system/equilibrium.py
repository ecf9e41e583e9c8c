"""States of rest: f(x, u) = 0; for a mechanism a descent of its potential energy along its constraints.

P^T (grad V - B~ u) = 0 with G P = 0, g(q) = 0: steps -|K|^-1 P^T (...), K = P^T d(grad V - B~ u + G^T lambda)/dq P.
They lead to minima and not to saddles; a start that is a saddle itself stays where it is.
"""

from __future__ import annotations

import numpy as np

from porthos.errors import PorthosError
from porthos.notation import Array
from porthos.system.check import precise_jacobian
from porthos.system.descriptor import Descriptor
from porthos.system.mechanical import MechanicalSystem
from porthos.system.nullspace import right_null_space
from porthos.system.ranks import RANK_TOLERANCE

AT_REST = 1e-7  # what may be left of f, relative to the states
SETTLED = 1e-11  # relative update that ends a search
SINGULAR = 1e-9  # singular value, relative to the largest, that counts as zero
STRIDE = 0.3  # longest step of a descent, in lengths of the mechanism
ITERATIONS = 200


def equilibrium(system: Descriptor, start: Array, u: Array) -> Array:
    """The state of rest next to `start`, by Newton's method."""
    x = start.copy()
    for _ in range(ITERATIONS):
        slope = precise_jacobian(lambda at: system.flow(at, u), x)
        update = np.linalg.lstsq(slope, system.flow(x, u), rcond=SINGULAR)[0]
        x -= update
        if np.abs(update).max(initial=0.0) <= SETTLED * max(1.0, float(np.abs(x).max())):
            break
    return require_rest(system, x, u)


def place_of_rest(system: MechanicalSystem, start: Array, u: Array) -> Array:
    """The state (q, 0, lambda) in which a mechanism rests next to `start`: a minimum of its energy if there is one."""
    n = system.n
    q = _on_constraints(system, start[:n])
    for _ in range(ITERATIONS):
        force, G = system.Bt(q) @ u - system.gradV(q), system.G(q).toarray()
        lam = np.linalg.lstsq(G.T, force, rcond=SINGULAR)[0]
        P = right_null_space(G, RANK_TOLERANCE)
        slope = (system.G_stiffness(lam) - system.force_tangent(q, np.zeros(n), u)[0]).toarray()
        K = P.T @ slope @ P
        values, vectors = np.linalg.eigh((K + K.T) / 2)
        pull, size = vectors.T @ (P.T @ force), np.abs(values)
        weak = SINGULAR * max(float(np.abs(slope).max(initial=0.0)), float(np.abs(force).max(initial=0.0)), 1e-300)
        step = P @ (vectors @ (np.where(np.abs(pull) > weak, pull, 0.0) / np.maximum(size, weak)))
        length = float(np.abs(step).max(initial=0.0))
        q = _on_constraints(system, q + step * min(1.0, STRIDE * system.length / max(length, 1e-300)))
        if length <= SETTLED * max(1.0, system.length):
            break
    x = np.concatenate([q, np.zeros(n), lam])
    return require_rest(system, x, u)


def _on_constraints(system: MechanicalSystem, q: Array) -> Array:
    """The configuration next to q with g(q) = 0."""
    for _ in range(ITERATIONS):
        update = np.linalg.lstsq(system.G(q).toarray(), system.g(q), rcond=SINGULAR)[0]
        q = q - update
        if np.abs(update).max(initial=0.0) <= SETTLED * max(1.0, system.length):
            break
    return q


def require_rest(system: Descriptor, x: Array, u: Array) -> Array:
    """x, or an error that says what keeps it moving."""
    gap = np.abs(system.flow(x, u))
    k = int(np.argmax(gap))
    if not gap[k] <= AT_REST * max(1.0, float(np.abs(x).max())):
        raise PorthosError(
            f"'{system.name}': found no state of rest next to the start; {gap[k]:.3g} is left in the equation of "
            f"{system.block_of(k)}. Place the parts near to where they rest, or give a state: modes(model, state)."
        )
    return x
