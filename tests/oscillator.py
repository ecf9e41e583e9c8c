"""An oscillator without constraints, as methods for mechanics see it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from porthos.notation import Array
from porthos.system.constrained import Constrained


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
