"""A planar double pendulum with viscosity, M v' = M g - kappa v - G^T lambda, whose masses may be zero (000, 7.3.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from porthos.notation import Array
from porthos.system.constrained import Constrained

LINKS = np.array([[[1, 0], [0, 0]], [[1, -1], [-1, 1]]], dtype=np.float64)  # g_k = q^T (LINKS_k x I) q / 2 - 1/2


@dataclass(frozen=True)
class ViscousPendulum(Constrained):
    """q = (x1, y1, x2, y2), rods of length one, from rest in the horizontal line."""

    masses: tuple[float, float]
    kappa: float = 0.01
    gravity: float = 9.81
    n, m, width = 4, 2, 0

    @property
    def M(self) -> Array:
        return np.diag(np.repeat(self.masses, 2))

    def start(self) -> Array:
        return np.array([1.0, 0, 2, 0, 0, 0, 0, 0, 0, 0])

    def force(self, q: Array, v: Array, u: Array) -> Array:
        return -self.gravity * self.M @ np.array([0.0, 1, 0, 1]) - self.kappa * v

    def force_tangent(self, q: Array, v: Array, u: Array) -> tuple[Array, Array]:
        return np.zeros((4, 4)), -self.kappa * np.eye(4)

    def g(self, q: Array) -> Array:
        return (self.G(q) @ q - 1) / 2

    def G(self, q: Array) -> Array:
        return np.array([np.kron(link, np.eye(2)) @ q for link in LINKS])

    def G_rate(self, v: Array) -> Array:
        return self.G(v)

    def G_stiffness(self, lam: Array) -> Array:
        return np.kron(np.einsum("k,kij->ij", lam, LINKS), np.eye(2))


@dataclass(frozen=True)
class Oscillator(Constrained):
    """q'' = -omega^2 q, without constraints."""

    omega: float
    n, m, width = 1, 0, 0

    @property
    def M(self) -> Array:
        return np.eye(1)

    def force(self, q: Array, v: Array, u: Array) -> Array:
        return -(self.omega**2) * q

    def force_tangent(self, q: Array, v: Array, u: Array) -> tuple[Array, Array]:
        return -(self.omega**2) * np.eye(1), np.zeros((1, 1))

    def g(self, q: Array) -> Array:
        return np.zeros(0)

    def G(self, q: Array) -> Array:
        return np.zeros((0, 1))

    def G_rate(self, v: Array) -> Array:
        return np.zeros((0, 1))

    def G_stiffness(self, lam: Array) -> Array:
        return np.zeros((1, 1))


def path(scheme, system, h: float, steps: int, x: Array) -> Array:
    """States (steps + 1, ...) of a scheme that is stepped by hand."""
    states, step = [x], None
    for k in range(steps):
        step = scheme.step(system, h, states[-1], t=k * h, before=step)
        assert step.converged, (k, step.iterations)
        states.append(step.x)
    return np.array(states)
