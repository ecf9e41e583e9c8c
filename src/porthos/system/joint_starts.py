"""What the assembly made of each joint: how far it was open and is now, and what it bears at the start.

Forces are those of lambda with M v' + G^T lambda = f at t = 0, on the second body, torques about its point there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np

from porthos.errors import PorthosError, nearest
from porthos.model.bodies import STILL
from porthos.notation import Array
from porthos.system.closing import JointGap, motions
from porthos.system.coefficients import Placement
from porthos.system.drives import frozen, inputs_at
from porthos.system.joint_forces import joint_reaction
from porthos.system.mechanical import MechanicalSystem
from porthos.system.nodal import NodalMatrix
from porthos.system.repeats import dependences, joints_of

SHOWN = 60  # joints that a printed table has
NOTHING = 1e-12  # what is below this part of the size of the mechanism, or of what its joints bear, is printed as zero
UNKNOWN = (np.nan, np.nan, np.nan, np.nan)  # gaps of a system that was read from a file


@dataclass(frozen=True, eq=False)
class JointStart(JointGap):
    """A joint at the start: its gaps before and after the assembly, its multipliers, its force and torque."""

    multipliers: Array  # (rows,)
    force: Array  # (3,) N, on the second body in world axes
    torque: Array  # (3,) N m
    unique: bool  # else rows repeat others, and this is the least


class Assembly(Sequence[JointStart]):
    """All joints at the start, in the order of the model; print it."""

    def __init__(self, name: str, length: float, joints: tuple[JointStart, ...]) -> None:
        self.name, self.length, self.joints = name, length, joints  # length: the size of the mechanism

    @overload
    def __getitem__(self, index: int | str) -> JointStart: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[JointStart, ...]: ...

    def __getitem__(self, index: int | str | slice) -> JointStart | tuple[JointStart, ...]:
        if not isinstance(index, str):
            return self.joints[index]
        names = [joint.joint for joint in self.joints]
        if index not in names:
            raise PorthosError(f"'{self.name}' has no joint '{index}'. {nearest(index, names)}")
        return self.joints[names.index(index)]

    def __len__(self) -> int:
        return len(self.joints)

    def __iter__(self) -> Iterator[JointStart]:
        return iter(self.joints)

    def __repr__(self) -> str:
        return f"<assembly of '{self.name}': {len(self)} joints; print it>"

    def __str__(self) -> str:
        heads = [
            ["joint", "open by", "", "now", "", "force", "torque", ""],
            ["", "m", "rad", "m", "rad", "N", "N m", ""],
        ]
        lines = heads + [self._cells(joint) for joint in self.joints[:SHOWN]]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = []
        for name, *numbers, remark in lines:
            padded = (cell.rjust(width) for cell, width in zip(numbers, widths[1:-1], strict=True))
            table.append("  ".join([name.ljust(widths[0]), *padded, remark]))
        left = len(self) - SHOWN
        more = [f"and {left} more joints"] if left > 0 else []
        return "\n".join([f"assembly of '{self.name}'", *(f"  {line}".rstrip() for line in table + more)])

    def _cells(self, joint: JointStart) -> list[str]:
        gaps = (joint.distance, joint.angle, joint.distance_left, joint.angle_left)
        sizes = (self.length, 1.0, self.length, 1.0)
        cells = [_number(gap, NOTHING * size, 2) for gap, size in zip(gaps, sizes, strict=True)]
        force, torque = float(np.linalg.norm(joint.force)), float(np.linalg.norm(joint.torque))
        cells += [_number(force, self._noise / self.length, 6), _number(torque, self._noise, 6)]
        return [joint.joint, *cells, "" if joint.unique else "not unique"]

    @cached_property
    def _noise(self) -> float:
        """A torque that is round-off of what the joints bear."""
        bears = [np.linalg.norm(joint.force) * self.length + np.linalg.norm(joint.torque) for joint in self.joints]
        return NOTHING * float(max(bears, default=0.0))


def joint_starts(system: MechanicalSystem) -> Assembly:
    """The report on all joints of an assembled system."""
    q, v = system.initial_arrays()
    wrench = inputs_at(system, 0.0)
    still, at, size = frozen(system, wrench), q[None, :-1], system.mech.row.size
    lam = NodalMatrix(still).accelerations(q, v, wrench)[1] if size else np.zeros(0)
    loose = joints_of(system, dependences(still, q))
    result = []
    for k, (name, gaps) in enumerate(zip(system.joint_names, _gaps(system, q), strict=True)):
        joint = system.mech.joint[k]
        force, torque = joint_reaction(system, k, at, lam[None], wrench[None])
        result.append(JointStart(name, *gaps, lam[joint.first : joint.last], force[0], torque[0], k not in loose))
    return Assembly(system.name, system.length, tuple(result))


def _gaps(system: MechanicalSystem, q: Array) -> list[tuple[float, float, float, float]]:
    """Distance and angle by which each joint was open at the placement, and is at q."""
    if system.model is None:
        return [UNKNOWN] * len(system.joint_names)
    moved = motions(system.model, Placement(system.model).q, q)
    there = [joint.moved(moved.get(joint.a, STILL), moved.get(joint.b, STILL)) for joint in system.model.joints]
    return [(*joint.gaps, *closed.gaps) for joint, closed in zip(system.model.joints, there, strict=True)]


def _number(size: float, nothing: float, digits: int) -> str:
    return "unknown" if np.isnan(size) else f"{size:.{digits}g}" if size > nothing else "0"
