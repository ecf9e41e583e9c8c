"""Velocities at the start that joints and bodies are given: rates of joints, or of bodies to hold; the rest follows.

The twists t of all bodies are the nearest to those given, in the metric of M, with G P t = c' and C t = rates; c' is
that of drives.
"""

from __future__ import annotations

import numpy as np

from porthos.errors import InconsistentStateError
from porthos.model.joint_base import Joint, Rate
from porthos.model.model import Model
from porthos.notation import Array
from porthos.system.coefficients import Placement, inverse_root
from porthos.system.mechanical import MechanicalSystem
from porthos.system.repeats import reduced_jacobian

MISSED = 1e-8  # relative to the largest rate


def start_twists(
    system: MechanicalSystem, model: Model, placement: Placement, q: Array, given: Array, held: set[str]
) -> Array:
    """The twists (N, 6) at q with the rates of joints; where no joint has one, the bodies `held` keep their twists."""
    driven = [(joint, rate) for joint in model.joints for rate in joint.rates]
    if not driven and not held:
        return given
    G = reduced_jacobian(system, q, np.arange(system.mech.row.size))
    C = np.array([_rate_row(joint, rate, placement, q) for joint, rate in driven]).reshape(-1, given.size)
    rates = np.array([rate.value for _, rate in driven])
    moving = np.repeat([bool(driven) or body.name not in held for body in model.bodies], 6)
    rows = np.vstack([G, C])
    W = inverse_root(model, placement, q, system.length)[:-1]
    weighted = np.einsum("rbi,bij->rbj", rows.reshape(len(rows), -1, 6), W).reshape(len(rows), -1)
    size = np.maximum(np.linalg.norm(weighted, axis=1), 1e-300)
    missing = np.concatenate([system.row_rates[0], rates]) - rows @ given.ravel()
    step = np.zeros(given.size)
    step[moving] = np.linalg.lstsq(weighted[:, moving] / size[:, None], missing / size, rcond=1e-10)[0]
    twist = given + np.einsum("bij,bj->bi", W, step.reshape(-1, 6))
    _check(system, driven, rows @ twist.ravel() - np.concatenate([system.row_rates[0], rates]), twist)
    return twist


def _rate_row(joint: Joint, rate: Rate, placement: Placement, q: Array) -> Array:
    """The row (6 N,) for n . (omega_B - omega_A), or for d/dt n_A . (x_B - x_A) of a slide."""
    a, b = (placement.index[name] for name in (joint.a, joint.b))
    start, side = placement.q, b if rate.in_b else a
    n = (start[side, 1:] @ rate.vector) @ q[side, 1:]
    row = np.zeros((q.shape[0], 6))
    if rate.slides:
        arms = [(start[k, 1:] @ (x - start[k, 0])) @ q[k, 1:] for k, x in zip((a, b), joint.points, strict=True)]
        apart = q[b, 0] + arms[1] - q[a, 0] - arms[0]
        row[b] += np.concatenate([n, np.cross(arms[1], n)])
        row[a] += np.concatenate([-n, np.cross(n, apart) - np.cross(arms[0], n)])
    else:
        row[b, 3:] += n
        row[a, 3:] -= n
    return row[:-1].ravel()


def _check(system: MechanicalSystem, driven: list[tuple[Joint, Rate]], missed: Array, twist: Array) -> None:
    """Refuse rates that contradict each other, the joints or the bodies held."""
    limit = MISSED * max(1.0, float(np.abs(twist).max(initial=0.0)))
    count = system.mech.row.size
    off = [
        f"{joint.where}: {rate.key}: expected {rate.value:.6g}, found {rate.value + gap:.6g} possible"
        for (joint, rate), gap in zip(driven, missed[count:], strict=True)
        if abs(gap) > limit
    ]
    ends = zip(system.joint_names, system.mech.joint.first, system.mech.joint.last, strict=True)
    off += [
        f"joint '{name}': the velocities violate it by {np.abs(missed[first:last]).max():.3g}"
        for name, first, last in ends
        if np.abs(missed[first:last]).max(initial=0.0) > limit
    ]
    if off:
        raise InconsistentStateError(
            f"model '{system.name}': the rates given do not fit together. {'; '.join(off)}. Give as many rates as "
            "there are degrees of freedom at most, and of bodies to hold velocities that the joints allow."
        )
