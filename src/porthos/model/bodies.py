"""Rigid bodies, point masses and the ground, with their initial placement: x(X) = phi + R X."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import ModelError
from porthos.model.inertia import Inertia
from porthos.notation import Array, finite, flag, normals, not_negative, skew, unit, vector

ORTHONORMAL_TOLERANCE = 1e-6
AT_MASS = 1e-9  # a point this close to a point mass, relative to its position, counts as being there

Rotation: TypeAlias = Annotated[Any, "a 3 x 3 matrix, a quaternion (w, x, y, z), or a pair (axis, angle)"]


def rotation_matrix(value: Any, what: str = "rotation") -> Array:
    """A rotation matrix from None, a 3 x 3 matrix, a quaternion (w, x, y, z) or (axis, angle in radians)."""
    if value is None:
        return np.eye(3)
    if isinstance(value, tuple) and len(value) == 2 and np.ndim(value[1]) == 0:
        return _from_axis_angle(unit(value[0], f"{what}: axis"), value[1], what)
    try:
        a = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        a = np.empty(0)
    if a.shape not in ((4,), (3, 3)):
        raise ModelError(
            f"{what}: expected a 3 x 3 matrix, a quaternion (w, x, y, z) or a pair (axis, angle), found {value!r}."
        )
    finite(a, what)
    return _from_quaternion(a, what) if a.shape == (4,) else _from_matrix(a, what)


def _from_axis_angle(n: Array, angle: Any, what: str) -> Array:
    try:
        turn = float(angle)
    except (TypeError, ValueError, OverflowError):
        turn = np.nan
    if not np.isfinite(turn):
        raise ModelError(f"{what}: expected a finite angle in radians, found {angle!r}. A quarter turn is math.pi / 2.")
    N = skew(n)
    return np.eye(3) + np.sin(turn) * N + (1 - np.cos(turn)) * (N @ N)


def _from_quaternion(p: Array, what: str) -> Array:
    length = float(np.linalg.norm(p))
    if length == 0.0:
        raise ModelError(f"{what}: the quaternion (0, 0, 0, 0) is no rotation; no rotation is (1, 0, 0, 0).")
    w, e = p[0] / length, p[1:] / length
    S = skew(e)
    return np.eye(3) + 2 * w * S + 2 * (S @ S)


def _from_matrix(R: Array, what: str) -> Array:
    defect = float(np.abs(R.T @ R - np.eye(3)).max())
    if defect > ORTHONORMAL_TOLERANCE:
        raise ModelError(
            f"{what}: expected an orthonormal matrix, found one with |R^T R - I| = {defect:.2e}. "
            "Give the rotation as (axis, angle) or as a quaternion instead."
        )
    if np.linalg.det(R) < 0.0:
        raise ModelError(
            f"{what}: expected a rotation, found a reflection (determinant -1). Its columns must be right-handed: "
            "change the sign of one of them."
        )
    U, _, Vt = np.linalg.svd(R)
    return U @ Vt


def least_turn(a: Array, b: Array) -> Array:
    """The rotation with the least angle that turns the unit vector a into b."""
    c, S = float(a @ b), skew(np.cross(a, b))
    if c < -1.0 + 1e-14:
        m = normals(a)[0]
        return 2.0 * np.outer(m, m) - np.eye(3)
    return np.eye(3) + S + S @ S / (1.0 + c)


@dataclass(frozen=True)
class Pose:
    """Where something is, as a motion x -> position + matrix x."""

    position: Array
    matrix: Array

    def point(self, x: Array) -> Array:
        """Where a point goes."""
        return self.position + self.matrix @ x

    def vector(self, x: Array) -> Array:
        """Where a direction goes."""
        return self.matrix @ x

    def __matmul__(self, other: Pose) -> Pose:
        """This motion after the other one."""
        return Pose(self.point(other.position), self.matrix @ other.matrix)

    @property
    def inverse(self) -> Pose:
        """The motion back."""
        return Pose(-self.matrix.T @ self.position, self.matrix.T)


STILL = Pose(np.zeros(3), np.eye(3))


@dataclass(frozen=True)
class Ground:
    """The inertial frame as a part: joints may be attached to it."""

    name: str = "ground"

    @property
    def pose(self) -> Pose:
        """The frame of the world."""
        return STILL


@dataclass(frozen=True)
class RigidBody:
    """A rigid body at its initial placement; `angular_velocity` is spatial (in world axes).

    With `hold` it stays there when open joints are closed.
    """

    name: str
    inertia: Inertia
    position: ArrayLike = (0.0, 0.0, 0.0)
    rotation: Rotation = None
    velocity: ArrayLike = (0.0, 0.0, 0.0)
    angular_velocity: ArrayLike = (0.0, 0.0, 0.0)
    hold: bool = False
    matrix: Array = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        where = f"body '{self.name}'"
        if not isinstance(self.inertia, Inertia):
            raise ModelError(
                f"{where}: inertia: expected a shape (Box, Cylinder, ...) or an Inertia, found {self.inertia!r}. "
                "Try ph.Box(mass=1, size=(0.1, 0.1, 0.1)), or model.point_mass(...) for a particle."
            )
        for key in ("position", "velocity", "angular_velocity"):
            object.__setattr__(self, key, vector(getattr(self, key), f"{where}: {key}"))
        object.__setattr__(self, "matrix", rotation_matrix(self.rotation, f"{where}: rotation"))
        flag(self.hold, f"{where}: hold")

    @property
    def mass(self) -> float:
        """Mass of the body."""
        return self.inertia.mass

    @property
    def pose(self) -> Pose:
        """From the body frame to the world, at the placement."""
        return Pose(np.asarray(self.position), self.matrix)


@dataclass(frozen=True)
class PointMass:
    """A particle: three coordinates and no rotation. It may have no mass, if joints hold it; `hold` as for bodies."""

    name: str
    mass: float
    position: ArrayLike = (0.0, 0.0, 0.0)
    velocity: ArrayLike = (0.0, 0.0, 0.0)
    hold: bool = False

    def __post_init__(self) -> None:
        where = f"point mass '{self.name}'"
        flag(self.hold, f"{where}: hold")
        object.__setattr__(self, "mass", not_negative(self.mass, f"{where}: mass"))
        for key in ("position", "velocity"):
            object.__setattr__(self, key, vector(getattr(self, key), f"{where}: {key}"))

    @property
    def pose(self) -> Pose:
        """From its own frame, whose axes are those of the world, to the world."""
        return Pose(np.asarray(self.position), np.eye(3))

    def require_at(self, where: str, point: Array) -> None:
        """Refuse a point elsewhere: a point mass can be touched only where it is."""
        position = np.asarray(self.position)
        if np.linalg.norm(point - position) > AT_MASS * (np.linalg.norm(position) or 1.0):
            raise ModelError(
                f"{where}: expected a point at the position {position.tolist()} of the point mass '{self.name}', found "
                f"{point.tolist()}: a point mass has no other points. Give its position, or use a rigid body."
            )


Body = RigidBody | PointMass
Part = RigidBody | PointMass | Ground
