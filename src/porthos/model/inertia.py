"""Mass and inertia: raw values, and those of homogeneous shapes.

J = int rho (|X|^2 I - X X^T) dV about the centre of mass; Euler values E_i = (J_j + J_k - J_i)/2 >= 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real
from typing import Annotated, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import ModelError
from porthos.notation import Array, finite, not_negative, positive, vector

Axis = Literal["x", "y", "z"]
Tensor: TypeAlias = Annotated[ArrayLike, "3 principal moments, or a symmetric 3 x 3 matrix"]
AXES: dict[str, int] = {"x": 0, "y": 1, "z": 2}

# A principal moment may exceed the sum of the other two by this fraction (round-off of the user's data).
TRIANGLE_SLACK = 1e-9


@dataclass(frozen=True)
class Inertia:
    """Mass and inertia tensor about the centre of mass, in the body frame; any symmetric tensor will do.

    Both may be zero, as the mass of shapes may, if joints hold the motion that then has no inertia.
    """

    mass: float
    tensor: Tensor = field(repr=False)

    def __post_init__(self) -> None:
        self._store_mass()
        object.__setattr__(self, "tensor", _checked_tensor(self.tensor, f"{type(self).__name__}: inertia tensor"))

    def _store_mass(self) -> None:
        object.__setattr__(self, "mass", not_negative(self.mass, f"{type(self).__name__}: mass"))

    def _positive(self, *keys: str) -> None:
        """Store the fields named as positive floats, or say which shape and field is wrong."""
        for key in keys:
            value = positive(getattr(self, key), f"{type(self).__name__}: {key}")
            object.__setattr__(self, key, value)

    def principal(self) -> tuple[Array, Array]:
        """Principal moments (3,) and the rotation Q (3, 3) with J = Q diag(moments) Q^T; Q = I if J is diagonal."""
        return principal_axes(np.asarray(self.tensor))


def _checked_tensor(value: ArrayLike, what: str) -> Array:
    """A symmetric tensor (3, 3) that some distribution of mass has, from a matrix or from three moments."""
    try:
        J = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        J = np.empty(0)
    if J.shape == (3,):
        J = np.diag(J)
    if J.shape != (3, 3):
        raise ModelError(f"{what}: expected 3 principal moments or a symmetric 3 x 3 matrix, found {value!r}.")
    finite(J, what)
    if not np.allclose(J, J.T, rtol=1e-9, atol=1e-12 * np.abs(J).max()):
        raise ModelError(
            f"{what}: expected a symmetric matrix, found {J.tolist()}. "
            "Products of inertia stand twice, above and below the diagonal: try (J + J.T)/2."
        )
    J = (J + J.T) / 2
    _check_moments(np.asarray(np.linalg.eigvalsh(J), dtype=np.float64), what)
    return J


def _check_moments(j: Array, what: str) -> None:
    """Moments of a real mass distribution (ascending) are >= 0 and none exceeds the sum of the other two."""
    found = f"found principal moments {np.array2string(j, precision=6)}"
    slack = TRIANGLE_SLACK * max(j[2], 0.0)
    if j[0] < -slack:
        raise ModelError(
            f"{what}: expected moments >= 0, {found}, of which one is negative. "
            "Check the signs, also those of the products of inertia."
        )
    if j[2] > j[0] + j[1] + slack:
        raise ModelError(
            f"{what}: {found}, which break the triangle inequality; expected {j[2]:.6g} <= {j[0]:.6g} + {j[1]:.6g}, "
            "or no distribution of mass has them. Is the tensor about the centre of mass, and complete?"
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
        self._store_mass()
        a, b, c = size = vector(self.size, "Box: size")
        if np.any(size < 0.0) or np.count_nonzero(size) < 2:
            raise ModelError(
                f"Box: size: expected edges >= 0, at most one of them zero, found {size.tolist()}. "
                "Use ph.Rod(mass, length) for a body without width."
            )
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

    def __post_init__(self) -> None:
        self._store_mass()
        self._positive("outer_radius", "length")
        if not (isinstance(self.inner_radius, Real) and self.inner_radius == 0.0):
            self._positive("inner_radius")
        ri, ro = float(self.inner_radius), self.outer_radius
        if ri > ro:
            raise ModelError(
                f"HollowCylinder: inner_radius: expected at most the outer radius {ro}, found {ri}. "
                "Give the inner radius first."
            )
        across = self.mass / 12 * (3 * (ri**2 + ro**2) + self.length**2)
        tensor = _around(self, self.axis, along=self.mass / 2 * (ri**2 + ro**2), across=across)
        object.__setattr__(self, "inner_radius", ri)
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
        self._store_mass()
        self._positive("radius", "length")
        across = self.mass / 12 * (3 * self.radius**2 + self.length**2)
        tensor = _around(self, self.axis, along=self.mass / 2 * self.radius**2, across=across)
        object.__setattr__(self, "tensor", tensor)
        super().__post_init__()


@dataclass(frozen=True)
class Sphere(Inertia):
    """Homogeneous solid sphere."""

    mass: float
    radius: float
    tensor: ArrayLike = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._store_mass()
        self._positive("radius")
        object.__setattr__(self, "tensor", 0.4 * self.mass * self.radius**2 * np.eye(3))
        super().__post_init__()


@dataclass(frozen=True)
class Rod(Inertia):
    """Straight rod without thickness along one axis of the body frame; it has no inertia about that axis."""

    mass: float
    length: float
    axis: Axis = "z"
    tensor: ArrayLike = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._store_mass()
        self._positive("length")
        tensor = _around(self, self.axis, along=0.0, across=self.mass / 12 * self.length**2)
        object.__setattr__(self, "tensor", tensor)
        super().__post_init__()


def _around(shape: Inertia, axis: str, along: float, across: float) -> Array:
    """Inertia tensor of a body of revolution."""
    if not isinstance(axis, str) or axis not in AXES:
        raise ModelError(
            f"{type(shape).__name__}: axis: expected 'x', 'y' or 'z', an axis of the body frame, found {axis!r}. "
            "Turn the body by its rotation for any other direction."
        )
    moments = np.full(3, across)
    moments[AXES[axis]] = along
    return np.diag(moments)
