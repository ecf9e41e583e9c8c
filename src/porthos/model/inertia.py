"""Mass and inertia: raw values, and those of homogeneous shapes.

J = int rho (|X|^2 I - X X^T) dV about the centre of mass; Euler values E_i = (J_j + J_k - J_i)/2 >= 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import ModelError
from porthos.notation import Array, positive, vector

Axis = Literal["x", "y", "z"]
AXES: dict[str, int] = {"x": 0, "y": 1, "z": 2}

# A principal moment may exceed the sum of the other two by this fraction (round-off of the user's data).
TRIANGLE_SLACK = 1e-9


@dataclass(frozen=True)
class Inertia:
    """Mass and inertia tensor about the centre of mass, in the body frame; any symmetric tensor will do."""

    mass: float
    tensor: ArrayLike = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "mass", positive(self.mass, "mass"))
        J = np.array(self.tensor, dtype=np.float64)
        if J.shape == (3,):
            J = np.diag(J)
        if J.shape != (3, 3):
            raise ModelError(f"inertia tensor: expected 3 moments or a 3 x 3 matrix, found shape {J.shape}.")
        if not np.all(np.isfinite(J)):
            raise ModelError(f"inertia tensor: expected finite numbers, found {J.tolist()}.")
        if not np.allclose(J, J.T, rtol=1e-9, atol=1e-12 * np.abs(J).max(initial=0.0)):
            raise ModelError(f"inertia tensor: expected a symmetric matrix, found {J.tolist()}.")
        J = (J + J.T) / 2
        _check_moments(np.asarray(np.linalg.eigvalsh(J), dtype=np.float64))
        object.__setattr__(self, "tensor", J)

    def principal(self) -> tuple[Array, Array]:
        """Principal moments (3,) and the rotation Q (3, 3) with J = Q diag(moments) Q^T; Q = I if J is diagonal."""
        return principal_axes(np.asarray(self.tensor))


def _check_moments(moments: Array) -> None:
    """Moments of a real mass distribution are >= 0 and none exceeds the sum of the other two."""
    j = np.sort(moments)
    found = f"principal moments {np.array2string(j, precision=6)}"
    slack = TRIANGLE_SLACK * max(j[2], 0.0)
    if j[0] < -slack:
        raise ModelError(f"inertia tensor: {found}, one is negative. Expected moments >= 0; check the signs.")
    if j[2] == 0.0:
        raise ModelError("inertia tensor: all moments are zero. Use model.point_mass(...) for a particle.")
    if j[2] > j[0] + j[1] + slack:
        raise ModelError(
            f"inertia tensor: {found} break the triangle inequality {j[2]:.6g} <= {j[0]:.6g} + {j[1]:.6g}, "
            "so no distribution of mass has them. Is the tensor about the centre of mass, and complete?"
        )


def principal_axes(J: Array) -> tuple[Array, Array]:
    """Moments and right-handed principal axes of a symmetric tensor; the identity for a diagonal one."""
    off = np.abs(J - np.diag(np.diag(J))).max()
    if off <= 1e-14 * np.abs(J).max():
        return np.maximum(np.diag(J), 0.0), np.eye(3)
    moments, Q = np.linalg.eigh(J)
    if np.linalg.det(Q) < 0.0:
        Q[:, 0] = -Q[:, 0]
    return np.maximum(moments, 0.0), Q


@dataclass(frozen=True)
class Box(Inertia):
    """Homogeneous box with edges `size` along the axes of the body frame."""

    mass: float
    size: ArrayLike
    tensor: ArrayLike = field(init=False, repr=False)

    def __post_init__(self) -> None:
        a, b, c = size = vector(self.size, "size of the box")
        if np.any(size < 0.0) or np.count_nonzero(size) < 2:
            raise ModelError(f"size of the box: expected edges >= 0, at most one of them zero, found {size.tolist()}.")
        object.__setattr__(self, "size", size)
        squares = np.array([b * b + c * c, c * c + a * a, a * a + b * b])
        object.__setattr__(self, "tensor", np.diag(self.mass / 12 * squares))
        super().__post_init__()


@dataclass(frozen=True)
class HollowCylinder(Inertia):
    """Homogeneous tube around one axis of the body frame."""

    mass: float
    inner_radius: float
    outer_radius: float
    length: float
    axis: Axis = "z"
    tensor: ArrayLike = field(init=False, repr=False)
    hollow: ClassVar[bool] = True

    def __post_init__(self) -> None:
        ri, ro = float(self.inner_radius), positive(self.outer_radius, "outer radius of the cylinder")
        if not 0.0 <= ri <= ro:
            raise ModelError(f"inner radius: expected 0 <= inner <= outer = {ro}, found {ri}.")
        length = positive(self.length, "length of the cylinder")
        across = self.mass / 12 * (3 * (ri**2 + ro**2) + length**2)
        tensor = _around(self.axis, along=self.mass / 2 * (ri**2 + ro**2), across=across)
        object.__setattr__(self, "tensor", tensor)
        super().__post_init__()


@dataclass(frozen=True)
class Cylinder(Inertia):
    """Homogeneous solid cylinder around one axis of the body frame."""

    mass: float
    radius: float
    length: float
    axis: Axis = "z"
    tensor: ArrayLike = field(init=False, repr=False)

    def __post_init__(self) -> None:
        tube = HollowCylinder(self.mass, 0.0, positive(self.radius, "radius"), self.length, self.axis)
        object.__setattr__(self, "tensor", tube.tensor)
        super().__post_init__()


@dataclass(frozen=True)
class Sphere(Inertia):
    """Homogeneous solid sphere."""

    mass: float
    radius: float
    tensor: ArrayLike = field(init=False, repr=False)

    def __post_init__(self) -> None:
        moment = 0.4 * self.mass * positive(self.radius, "radius of the sphere") ** 2
        object.__setattr__(self, "tensor", moment * np.eye(3))
        super().__post_init__()


@dataclass(frozen=True)
class Rod(Inertia):
    """Straight rod without thickness along one axis of the body frame; it has no inertia about that axis."""

    mass: float
    length: float
    axis: Axis = "z"
    tensor: ArrayLike = field(init=False, repr=False)

    def __post_init__(self) -> None:
        across = self.mass / 12 * positive(self.length, "length of the rod") ** 2
        object.__setattr__(self, "tensor", _around(self.axis, along=0.0, across=across))
        super().__post_init__()


def _around(axis: str, along: float, across: float) -> Array:
    """Inertia tensor of a body of revolution."""
    if axis not in AXES:
        raise ModelError(f"axis: expected 'x', 'y' or 'z', found {axis!r}.")
    moments = np.full(3, across)
    moments[AXES[axis]] = along
    return np.diag(moments)
