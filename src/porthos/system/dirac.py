"""The Dirac structure behind a pH-DAE, 000, eq. (4.7): where power only changes its place.

D = {(f, e) : f + [Gamma I; -I 0] e = 0},   <e | f> = 0 on D,   dim D = dim f.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from porthos.errors import PorthosError
from porthos.notation import Array

Pair = tuple[Array, Array]


@dataclass(frozen=True)
class Bond:
    """(flow, effort) of the three elements that a Dirac structure connects; their products are powers into it."""

    storage: Pair  # (-(E x' + r), z)
    ports: Pair  # (y, u)
    dissipation: Pair  # ((z, u), -W (z, u))

    @property
    def flow(self) -> Array:
        """f = (f_s, f_p, f_d)."""
        return np.concatenate([self.storage[0], self.ports[0], self.dissipation[0]])

    @property
    def effort(self) -> Array:
        """e = (e_s, e_p, e_d)."""
        return np.concatenate([self.storage[1], self.ports[1], self.dissipation[1]])

    @property
    def stored(self) -> float:
        """dH/dt = -e_s.f_s."""
        return -float(self.storage[0] @ self.storage[1])

    @property
    def supplied(self) -> float:
        """The power y.u through the ports."""
        return float(self.ports[0] @ self.ports[1])

    @property
    def dissipated(self) -> float:
        """The power lost, (z, u)^T W (z, u) >= 0."""
        return -float(self.dissipation[0] @ self.dissipation[1])


@dataclass(frozen=True)
class DiracStructure:
    """The subspace D at one state, given by Gamma (l + m, l + m) and the number l of storage flows."""

    gamma: Array
    storage: int

    @property
    def dimension(self) -> int:
        """dim D = dim f = 2 (l + m)."""
        return 2 * len(self.gamma)

    @property
    def matrix(self) -> Array:
        """[Gamma I; -I 0]."""
        one = np.eye(len(self.gamma))
        return np.block([[self.gamma, one], [-one, np.zeros_like(one)]])

    def flow(self, effort: Array) -> Array:
        """The one flow that belongs to an effort e = (e_s, e_p, e_d)."""
        return -self.matrix @ self._vector("an effort", effort)

    def pairing(self, flow: Array, effort: Array) -> float:
        """<e | f>: the power that enters D, zero on D."""
        return float(self._vector("an effort", effort) @ self._vector("a flow", flow))

    def contains(self, flow: Array, effort: Array, tolerance: float = 1e-12) -> bool:
        """Whether (f, e) lies in D, up to a tolerance relative to the largest entry."""
        gap = self._vector("a flow", flow) - self.flow(effort)
        size = max(1.0, float(np.abs(flow).max(initial=0.0)), float(np.abs(self.flow(effort)).max(initial=0.0)))
        return bool(np.abs(gap).max(initial=0.0) <= tolerance * size)

    def bond(self, effort: Array) -> Bond:
        """An effort and its flow, split into storage, ports and dissipation."""
        e, f = self._vector("an effort", effort), self.flow(effort)
        parts = (slice(self.storage), slice(self.storage, len(self.gamma)), slice(len(self.gamma), None))
        return Bond(*((f[part], e[part]) for part in parts))

    def _vector(self, what: str, value: Array) -> Array:
        a = np.asarray(value, dtype=np.float64)
        if a.shape != (self.dimension,):
            ports = len(self.gamma) - self.storage
            raise PorthosError(
                f"Dirac structure: {what} has {self.dimension} numbers ({self.storage} of storage, {ports} of ports, "
                f"{self.storage + ports} of dissipation), found shape {a.shape}."
            )
        return a
