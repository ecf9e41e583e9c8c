"""Consistent initial values: g(q) = 0, G v = 0, and the multipliers that go with them.

Projection is mass-weighted: v is the nearest velocity in the metric of M; q is reached by nearest steps, which is the
nearest configuration up to the square of the gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from porthos.errors import InconsistentStateError, ModelError
from porthos.notation import Array
from porthos.system.coefficients import moved
from porthos.system.constraints import RIGIDITY
from porthos.system.gears import gear_joints, looseness
from porthos.system.mechanical import MechanicalSystem
from porthos.system.nodal import NodalMatrix, joint_gaps, rigid_velocity, velocity_gaps

CONSISTENT = 1e-12  # relative violation that counts as round-off of the user's numbers
REFUSED = 1e-8
LOOSE = 1e-6  # rate of what joints should hold at gears, relative to the motion, that is not round-off
AWAY = 0.3  # rad: how far bodies turn to see that
ITERATIONS = 30

Values = tuple[Array, Array]  # configuration (N+1, 4, 3) and twists (N, 6)


@dataclass(frozen=True)
class Adjustment:
    """How far the projection of the initial values moved one body."""

    body: str
    position: float
    rotation: float
    velocity: float
    angular_velocity: float

    def __str__(self) -> str:
        return (
            f"'{self.body}': position by {self.position:.3e}, rotation by {self.rotation:.3e} rad, velocity by "
            f"{self.velocity:.3e}, angular velocity by {self.angular_velocity:.3e}"
        )


def place(system: MechanicalSystem, given: Values, found: Values, initial: Literal["project", "refuse"]) -> None:
    """Give the system its initial state: that found by the assembly, projected onto the constraints or refused.

    `given` is what the user said; the report says how far the state is from it.
    """
    q, twist = found
    gaps = _violations(system, q, twist)
    if initial == "refuse":
        _refuse(system, gaps)
    if gaps[0].max(initial=0.0) > 0.0:
        q = _project_position(system, q)
        gaps = _violations(system, q, twist)
        if not np.all(gaps[0] <= REFUSED * _row_scale(system)):
            _refuse(system, gaps, "The projection onto the joints did not converge: ")
    twist = nearest_velocity(system, q, twist)
    if system.drives:
        speeds = _violations(system, q, twist)[1] / max(1.0, float(np.abs(system.row_rates[0]).max()))
        _refuse(system, (np.zeros_like(speeds), speeds), "The joints do not allow the motion of the drives: ")
    if system.mech.gear.size:
        _require_bearings(system, q)
    v = rigid_velocity(system, q, twist)
    system._q0, system._v0 = q, v
    system.adjustments = _report(system, *given, q, twist)


def _project_position(system: MechanicalSystem, q: Array) -> Array:
    """q moved onto g = 0 by Gauss-Newton steps in the mass metric, down to round-off."""
    limit, size, scale = 1e-15, np.inf, _row_scale(system)
    matrix = NodalMatrix(system)
    for _ in range(ITERATIONS):
        g, last = joint_gaps(system, q), size
        size = float((np.abs(g) / scale).max())
        if size <= limit or (size < 1e3 * limit and size > 0.5 * last) or not np.isfinite(size):
            break
        q = moved(q, matrix.motion(q, -g))
    return q


def nearest_velocity(system: MechanicalSystem, q: Array, twist: Array) -> Array:
    """The twists (N, 6) nearest to `twist` in the mass metric that satisfy G v = c'; c' = 0 but for drives."""
    matrix, result = NodalMatrix(system), twist.copy()
    for _ in range(2):  # the second pass removes the round-off of the first
        result += matrix.motion(q, -velocity_gaps(system, q, rigid_velocity(system, q, result)))
    return result


def _violations(system: MechanicalSystem, q: Array, twist: Array) -> tuple[Array, Array]:
    """|g| and |G v - c'| of every joint row."""
    return np.abs(joint_gaps(system, q)), np.abs(velocity_gaps(system, q, rigid_velocity(system, q, twist)))


def _require_bearings(system: MechanicalSystem, q: Array) -> None:
    """Refuse gears whose wheels the joints do not hold.

    Seen at a random one of the velocities that joints allow, here and a little further, as q may be a dead centre.
    """
    given = np.random.default_rng(0).normal(size=(len(system.body_names), 6)) * np.repeat([system.length, 1.0], 3)
    rates = []
    for _ in range(2):
        twist = nearest_velocity(system, q, given)
        omega = np.append(twist[:, 3:], np.zeros((1, 3)), axis=0)
        loose = looseness(system.mech, q, rigid_velocity(system, q, twist), omega)
        rates.append(loose / max(1.0, float(np.abs(omega).max())))
        q = _project_position(system, moved(q, AWAY / max(1.0, float(np.abs(omega).max())) * twist))
    names = [system.joint_names[j] for j in gear_joints(system.mech)]
    off = [f"'{name}'" for name, rate in zip(names, np.max(rates, axis=0), strict=True) if rate > LOOSE]
    if off:
        raise ModelError(
            f"model '{system.name}': gear or rack {', '.join(off)}: expected joints that hold centres at a constant "
            "distance and axes at a constant angle, found that these can change. Let each wheel turn about its centre "
            "in a revolute joint on the ground or on a common carrier, and a rack slide in a prismatic one."
        )


def _row_scale(system: MechanicalSystem) -> Array:
    """The size of each joint row (R,): 1 for angles, the length of the mechanism for gaps, its square for distances."""
    gap, distance = np.any(system.mech.form.cw[:, :, 0], axis=1), np.any(system.mech.form.cu[:, :, 0], axis=1)
    return system.length ** (gap.astype(float) + distance)


def _refuse(system: MechanicalSystem, gaps: tuple[Array, Array], intro: str = "") -> None:
    """Raise an error that lists the joints that the initial values violate, if there are any."""
    lines = []
    scale = _row_scale(system)
    for gap, word in ((gaps[0], "positions"), (gaps[1], "velocities")):
        for name, first, last in zip(system.joint_names, system.mech.joint.first, system.mech.joint.last, strict=True):
            worst = float(gap[first:last].max(initial=0.0))
            if not np.all(gap[first:last] <= REFUSED * scale[first:last]):
                lines.append(f"joint '{name}': the initial {word} violate it by {worst:.3e}")
    if lines:
        raise InconsistentStateError(
            f"model '{system.name}': {intro}initial values contradict the joints. " + "; ".join(lines) + ". "
            "Expected positions and velocities that satisfy all joints. Correct them, or use "
            "assemble(initial='project'), which moves them to the nearest consistent ones."
        )


def _report(
    system: MechanicalSystem, q_given: Array, twist_given: Array, q: Array, twist: Array
) -> tuple[Adjustment, ...]:
    """The bodies that were moved by more than round-off."""
    result = []
    speed = max(1.0, float(np.abs(twist).max()))
    for b, name in enumerate(system.body_names):
        if np.array_equal(q[b], q_given[b]) and np.array_equal(twist[b], twist_given[b]):
            continue
        turn = np.einsum("ik,il->kl", q[b, 1:], q_given[b, 1:])  # R R_given^T
        angle = float(np.arccos(np.clip((np.trace(turn) - 1) / 2, -1.0, 1.0)))
        angle = angle if angle > 1e-7 else float(np.linalg.norm(turn - turn.T) / np.sqrt(8))
        moved = Adjustment(
            name,
            float(np.linalg.norm(q[b, 0] - q_given[b, 0])),
            angle,
            float(np.linalg.norm(twist[b, :3] - twist_given[b, :3])),
            float(np.linalg.norm(twist[b, 3:] - twist_given[b, 3:])),
        )
        limits = (system.length, 1.0, speed, speed)
        sizes = (moved.position, moved.rotation, moved.velocity, moved.angular_velocity)
        if any(size > 1e3 * CONSISTENT * limit for size, limit in zip(sizes, limits, strict=True)):
            result.append(moved)
    return tuple(result)


def multipliers(system: MechanicalSystem, q: Array, v: Array, wrench: Array) -> Array:
    """lambda (m,) at (q, v): joint rows from the KKT solve, rigidity rows from M v' = f - G^T lambda."""
    acceleration, joint = NodalMatrix(system).accelerations(q, v, wrench)
    force = np.zeros(system.n)
    if system.terminals:
        u = np.concatenate([np.linalg.pinv(t.basis) @ w for t, w in zip(system.terminals, wrench, strict=False)])
        force = system.Bt(system.from_kernel(q)) @ u
    first = 6 * system.rigid.size
    G = system.G(system.from_kernel(q))
    free = system.force(system.from_kernel(q), system.from_kernel(v), np.zeros(system.width))
    left = force + free - G[first:].T @ joint
    left -= system.mass_diagonal * system.from_kernel(acceleration)
    W = system.to_kernel(left, rate=True)[system.rigid, 1:]  # = sum_j Lambda_ij d_j
    Lambda = np.einsum("bik,bjk->bij", W, q[system.rigid, 1:])
    internal = np.array([(Lambda[:, i, j] + Lambda[:, j, i]) / 2 for i, j in RIGIDITY])
    return np.concatenate([internal.T.ravel(), joint])
