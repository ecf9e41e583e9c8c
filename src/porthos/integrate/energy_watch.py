"""What the energy balance misses while a run goes on: H - H(start) - W + D, asked for by who shows it."""

from __future__ import annotations

import numpy as np

from porthos.kernels import balances
from porthos.notation import Array
from porthos.system.mechanical import MechanicalSystem


class EnergyWatch:
    """Sums up work and losses of a run; energies are only computed when they are asked for."""

    def __init__(self, system: MechanicalSystem, q: Array, v: Array, angles: Array) -> None:
        self._system, self._start = system, (q.copy(), v.copy(), angles.copy())
        self._supplied, self._first = 0.0, np.nan

    def add(self, work: Array, loss: Array) -> None:
        """What loads and ports supplied and force elements took."""
        self._supplied += float(work.sum()) - float(loss.sum())

    def defect(self, q: Array, v: Array, angles: Array) -> float:
        """What the balance misses in the state (N+1, 4, 3), where force elements are at these angles (F,)."""
        if np.isnan(self._first):
            self._first = self._energy(*self._start)
        return self._energy(q, v, angles) - self._first - self._supplied

    def _energy(self, q: Array, v: Array, angles: Array) -> float:
        kinetic, potential = balances.energies(self._system.mech, q[None, :-1], v[None, :-1])
        stored = self._system.elements.energies(q[None, :-1], self._system.still, angles[None])
        return float(kinetic[0] + potential[0] + stored.sum())
