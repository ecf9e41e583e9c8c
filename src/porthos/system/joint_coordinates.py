"""Coordinates of joints with an axis: how far the second part has turned and gone against the first, and how fast.

phi = atan2(m_2 . m, m_1 . m) with a normal m of the axis that the second part carries and two of the first, m_1, m_2;
s = n_a . (x_b - x_a) along the axis n_a.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from porthos.errors import PorthosError
from porthos.notation import Array, IntArray, normals

if TYPE_CHECKING:
    from porthos.system.mechanical import MechanicalSystem

TURN = 2.0 * np.pi


@dataclass(frozen=True, eq=False)
class JointCoordinates:
    """Those of one joint, at one state or at many: q and v are (..., N, 4, 3), of bodies with or without the ground."""

    sides: tuple[int, int]  # the parts
    points: Array  # (2, 3) of the joint, in the directors of its parts
    axis: Array  # in those of the first part
    pair: Array  # (2, 3) normals of the axis, there too
    follower: Array  # what is the first of them at the start, in the directors of the second part
    ground: int
    still: Array  # (4, 3) where the ground is

    @classmethod
    def of(cls, system: MechanicalSystem, joint: str) -> JointCoordinates:
        """Those of a joint that has an axis."""
        index = system.joint_index(joint)
        about, start = system.description["joints"][index], system.initial_arrays()[0]
        if "axis" not in about:
            raise PorthosError(f"joint '{joint}': expected one with an axis, found a {about['kind']} joint.")
        a, b = system.mech.joint[index].body.tolist()
        axis = np.asarray(about["axis"], dtype=np.float64)
        m1, m2 = normals(axis)
        pair, points = start[a, 1:] @ np.array([m1, m2]).T, system.joint_points[index]
        ground = len(system.body_names)
        return cls((a, b), points, start[a, 1:] @ axis, pair.T, start[b, 1:] @ m1, ground, system.still[-1])

    def angle(self, q: Array) -> Array:
        """The turn about the axis since t = 0, in (-pi, pi]."""
        c, s = _cosine_and_sine(self.pair, self.follower[None], *self._parts(q))
        return np.asarray(np.arctan2(s, c))

    def angle_rate(self, q: Array, v: Array) -> Array:
        """Its rate."""
        return _rate(self.pair, self.follower[None], *self._parts(q), *self._parts(v, rate=True))

    def displacement(self, q: Array) -> Array:
        """How far the point of the second part is ahead of that of the first along the axis, in m."""
        a, b = self._parts(q)
        return _dot(self.axis @ a[..., 1:, :], self._ahead(a, b))

    def displacement_rate(self, q: Array, v: Array) -> Array:
        """Its rate."""
        (a, b), (a1, b1) = self._parts(q), self._parts(v, rate=True)
        turning = _dot(self.axis @ a1[..., 1:, :], self._ahead(a, b))
        return turning + _dot(self.axis @ a[..., 1:, :], self._ahead(a1, b1))

    def _parts(self, q: Array, rate: bool = False) -> tuple[Array, Array]:
        ground = 0.0 * self.still if rate else self.still
        a, b = (q[..., side, :, :] if side < self.ground else ground for side in self.sides)
        return a, b

    def _ahead(self, a: Array, b: Array) -> Array:
        """From the point of the first part to that of the second; linear, so of rates the rate."""
        x_a, x_b = (part[..., 0, :] + x @ part[..., 1:, :] for part, x in zip((a, b), self.points, strict=True))
        return np.asarray(x_b - x_a)


@dataclass(frozen=True, eq=False)
class Turning:
    """All joints that turn, as `kernels/turns.py` takes them."""

    place: dict[str, int]  # of a joint by its name
    sides: IntArray  # (J, 2) the parts
    frames: Array  # (J, 3, 3) the pair and the follower of `JointCoordinates`

    @classmethod
    def of(cls, system: MechanicalSystem) -> Turning:
        """Those of a mechanism."""
        names = joints_with(system, "angle")
        joints = [system.joint_coordinates(name) for name in names]
        sides = np.array([joint.sides for joint in joints], dtype=np.int64).reshape(-1, 2)
        frames = np.array([[*joint.pair, joint.follower] for joint in joints], dtype=np.float64).reshape(-1, 3, 3)
        return cls({name: j for j, name in enumerate(names)}, sides, frames)


def joints_with(system: MechanicalSystem, attribute: str) -> list[str]:
    """The joints that have a quantity, such as an angle."""
    every = system.quantities.values()
    return [one.part.name for one in every if one.part.group == "joints" and one.attribute == attribute]


def whole_turns(t: Array, angle: Array, rate: Array) -> IntArray:
    """Whole turns (T,) that angles in (-pi, pi] have left out since the first.

    From state to state an angle goes on by the mean of its rates, up to half a turn.
    """
    expected = 0.5 * (rate[1:] + rate[:-1]) * np.diff(t)
    missing = np.rint((expected - np.diff(angle)) / TURN).astype(np.int64)
    return np.concatenate([[0], np.cumsum(missing)])


def _rate(pair: Array, follower: Array, a: Array, b: Array, a1: Array, b1: Array) -> Array:
    """Of angles, from the parts at q and v."""
    c, s = _cosine_and_sine(pair, follower, a, b)
    (ca, sa), (cb, sb) = _cosine_and_sine(pair, follower, a1, b), _cosine_and_sine(pair, follower, a, b1)
    c1, s1 = ca + cb, sa + sb
    return np.asarray((c * s1 - s * c1) / (c * c + s * s))


def _cosine_and_sine(pair: Array, follower: Array, a: Array, b: Array) -> tuple[Array, Array]:
    both = (pair @ a[..., 1:, :]) @ (follower @ b[..., 1:, :]).swapaxes(-1, -2)
    return both[..., 0, 0], both[..., 1, 0]


def _dot(x: Array, y: Array) -> Array:
    return np.asarray((x * y).sum(axis=-1))
