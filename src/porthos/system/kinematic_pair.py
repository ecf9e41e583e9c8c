"""Joints as power-preserving interconnection of single rigid bodies, eqs. (38)-(48) of 001."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from porthos.errors import PorthosError
from porthos.model.gears import GearJoint
from porthos.model.joint_base import Joint
from porthos.model.rows import Angle, Coincide, Distance, InPlane
from porthos.notation import Array
from porthos.system.connections import Connection, Law
from porthos.system.mechanical import MechanicalSystem
from porthos.system.phdae import PHDAE

WRENCH = 6


@dataclass(frozen=True)
class KinematicPair(Connection):
    """The transformer of a joint between two single bodies with wrench ports at their centres of mass.

    A row blocks a translation n at the coincident point x_B (force n on B, -n on A, both acting there) or a
    rotation about a x b (torque). On rigid velocities  -T_A^T y_A + T_B^T y_B = G_J v  row by row, eq. (48).
    """

    a: str
    b: str
    joint: Joint
    name: str = ""

    @property
    def ports(self) -> tuple[str, ...]:
        """Both ports."""
        return (self.a, self.b)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.joint, Joint):
            raise PorthosError(
                f"KinematicPair: joint: expected a joint such as ph.Spherical(...), found {self.joint!r}."
            )

    def law(self, systems: Sequence[PHDAE], widths: Sequence[int]) -> Law:
        """K = 0, T = [T_A; -T_B] at the configuration of the bodies."""
        if self.joint.frame != "world":
            raise PorthosError(
                f"interconnect: {self.joint.where}: expected points and axes in world coordinates, found frame='body'. "
                "Give them as they are at the start, or put both bodies into one model."
            )
        if isinstance(self.joint, GearJoint):
            raise PorthosError(
                f"interconnect: {self.joint.where}: expected a joint that holds points or axes, found turns of wheels. "
                "Put both bodies, and the joints that hold them, into one model."
            )
        start = []
        for system, width in zip(systems, widths, strict=True):
            if not isinstance(system, MechanicalSystem) or len(system.body_names) != 1 or not system.rigid.size:
                raise PorthosError(
                    f"interconnect: {self.joint.where} joins two single rigid bodies; '{system.name}' is not one."
                )
            if width != WRENCH:
                raise PorthosError(f"interconnect: {self.joint.where} needs wrench ports of 6 inputs, found {width}.")
            start.append(system.initial_arrays()[0][0])
        rows, none = sum(row.count for row in self.joint.rows), np.zeros((2 * WRENCH, 2 * WRENCH))

        def at(states: Sequence[Array]) -> tuple[Array, Array]:
            Ta, Tb = _transformer(self.joint, start, [x[:12].reshape(4, 3) for x in states])
            return none, np.vstack([Ta, -Tb])

        return Law(False, rows, at)


def _transformer(joint: Joint, start: list[Array], q: list[Array]) -> tuple[Array, Array]:
    """T_A and T_B (6, rows) at the configurations q (4, 3) of both bodies, which began at `start`."""

    def fixed(side: int, world: Array) -> Array:
        """A world vector at the start, fixed in a body."""
        return (start[side][1:] @ world) @ q[side][1:]

    def point(side: int, world: Array) -> Array:
        """A world point at the start, fixed in a body."""
        return q[side][0] + fixed(side, world - start[side][0])

    rows: list[tuple[Array, Array]] = []  # force at the coincident point, torque
    zero = np.zeros(3)
    at = zero
    for row in joint.rows:
        match row:
            case Coincide(_, point_b):
                at = point(1, point_b)
                rows += [(e, zero) for e in np.eye(3)]
            case InPlane(normal, _, point_b):
                at = point(1, point_b)
                rows.append((fixed(0, normal), zero))
            case Distance(point_a, point_b, _):
                at = point(1, point_b)
                rows.append((at - point(0, point_a), zero))
            case Angle(vector_a, vector_b):
                rows.append((zero, -np.cross(fixed(0, vector_a), fixed(1, vector_b))))
    F, tau = (np.array(part) for part in zip(*rows, strict=True))
    return (
        np.hstack([F, np.cross(at - q[0][0], F) + tau]).T,
        np.hstack([F, np.cross(at - q[1][0], F) + tau]).T,
    )
