"""Loads and ports of a mechanism: the input matrix B~(q) and its derivatives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from porthos.kernels.tables import Mechanism
from porthos.notation import Array, IntArray
from porthos.system.wrench import torque_rows, torque_rows_slope


@dataclass(frozen=True)
class Terminal:
    """Where a load or port acts: (F, tau) = basis @ u at a point of a body; `source` gives u(t), None for a port."""

    name: str
    body: int
    basis: Array  # (6, k)
    source: Any


class Loads:
    """What acts on the bodies of a mechanism; its coordinates are those at `slots` of the kernel array (N+1, 4, 3)."""

    def __init__(self, mech: Mechanism, terminals: tuple[Terminal, ...], slots: IntArray) -> None:
        self.mech, self.terminals, self.slots = mech, terminals, slots
        ends = np.cumsum([0, *(terminal.basis.shape[1] for terminal in terminals)]).tolist()
        self.width = ends[-1]
        places = [slice(*place) for place in pairwise(ends)]
        self.ports: Mapping[str, slice] = dict(zip([t.name for t in terminals], places, strict=True))

    @property
    def sources(self) -> Mapping[str, Any]:
        """The loads with their u(t)."""
        return {terminal.name: terminal.source for terminal in self.terminals if terminal.source is not None}

    def wrench_at(self, t: float) -> Array:
        """Wrench (L, 6) of every load at time t; ports count as zero."""
        wrench = np.zeros((len(self.terminals), 6))
        for k, terminal in enumerate(self.terminals):
            if terminal.source is not None:
                wrench[k] = terminal.basis @ terminal.source(t)
        return wrench

    def matrix(self, full: Array) -> sparse.csr_array:
        """B~ (n, p): exact torque map, or (32) as printed where the load asks for it."""
        blocks = np.zeros((full.size, self.width))
        for k, (terminal, columns) in enumerate(zip(self.terminals, self.ports.values(), strict=True)):
            b, load = terminal.body, self.mech.load[k]
            block = np.zeros((12, 6))
            block[:3, :3] = np.eye(3)
            if self.mech.body[b].rigid:
                block[3:] = torque_rows(full[b, 1:], load.point, bool(load.printed))
            blocks[12 * b : 12 * b + 12, columns] = block @ terminal.basis
        return sparse.csr_array(blocks[self.slots])

    def force_slope(self, full: Array, u: Array) -> sparse.csr_array:
        """d(B~ u)/dq (n, n)."""
        n = self.slots.size
        if not u.any():
            return sparse.csr_array((n, n))
        blocks = np.zeros((len(full), 12, 12))
        for b, place, slope in self._slopes(full):
            blocks[b, 3:, 3:] += (slope.transpose(0, 2, 3, 1) @ u[place]).reshape(9, 9)
        return sparse.csr_array(sparse.block_diag(blocks, format="csr")[self.slots][:, self.slots])

    def output_slope(self, full: Array, rate: Array) -> Array:
        """d(B~^T v)/dq (p, n)."""
        turned = np.zeros((self.width, *full.shape))
        for b, place, slope in self._slopes(full):
            turned[place, b, 1:] += np.einsum("r,rkij->kij", rate[b, 1:].ravel(), slope)
        return turned.reshape(self.width, -1)[:, self.slots]

    def _slopes(self, full: Array) -> Iterator[tuple[int, slice, Array]]:
        """Body, columns and derivative (9, k, 3, 3) of the director rows of B~, of each load on a rigid body."""
        for k, (terminal, place) in enumerate(zip(self.terminals, self.ports.values(), strict=True)):
            b, load = terminal.body, self.mech.load[k]
            if self.mech.body[b].rigid:
                slope = torque_rows_slope(full[b, 1:], load.point, bool(load.printed))
                yield b, place, np.einsum("rwij,wk->rkij", slope, terminal.basis)
