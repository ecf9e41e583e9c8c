"""Loads and ports of a mechanism: the input matrix B~(q) and its derivatives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from porthos.kernels.tables import Mechanism
from porthos.notation import Array, IntArray, skew
from porthos.system.wrench import torque_rows, torque_rows_slope

ON_A_POINT = np.diag([1.0, 1.0, 1.0, *9 * [0.0]])[:, :6]  # what a wrench does to a point mass: its force


@dataclass(frozen=True)
class Terminal:
    """Where a load or port acts: (F, tau) = basis @ u at a point of a body; `source` gives u(t), None for a port.

    Axes of (F, tau) are those of the world or the directors of the body; in a joint F_1 and tau_1 belong to its axis.
    """

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

    def in_world(self, k: int, wrench: Array, q: Array) -> Array:
        """Wrenches (T, 6) of terminal k in world axes, in the states q (T, N, 4, 3)."""
        load = self.mech.load[k]
        if load.other < 0 and not load.turning:
            return wrench
        return np.einsum("tsi,tik->tsk", wrench.reshape(-1, 2, 3), self._axes(k, _grounded(q, 1.0))).reshape(-1, 6)

    def rates(self, k: int, q: Array, v: Array) -> Array:
        """Outputs (T, s) of terminal k in the states q, v (T, N, 4, 3): velocities along its axes."""
        load, full, rate = self.mech.load[k], _grounded(q, 1.0), _grounded(v, 0.0)
        a, b = load.other, load.body
        velocity, spin = rate[:, b, 0] + load.point @ rate[:, b, 1:], _spin(full, rate, b)
        if a >= 0:
            turn, arm = _spin(full, rate, a), full[:, b, 0] + load.point @ full[:, b, 1:] - full[:, a, 0]
            velocity, spin = velocity - rate[:, a, 0] - np.cross(turn, arm), spin - turn
        axes = self._axes(k, full)
        seen = [np.einsum("tik,tk->ti", axes, part) for part in (velocity, spin)]
        return np.concatenate(seen, axis=1) @ self.terminals[k].basis

    def _axes(self, k: int, full: Array) -> Array:
        """The axes (T, 3, 3) of the wrench of terminal k, in configurations (T, N+1, 4, 3)."""
        load = self.mech.load[k]
        if load.other >= 0:
            axes = np.zeros((len(full), 3, 3))
            axes[:, 0] = load.axis @ full[:, load.other, 1:]
            return axes
        return full[:, load.body, 1:] if load.turning else np.broadcast_to(np.eye(3), (len(full), 3, 3))

    def matrix(self, full: Array) -> sparse.csr_array:
        """B~ (n, p), sparse."""
        return sparse.csr_array(self.columns(full))

    def columns(self, full: Array) -> Array:
        """B~ (n, p): exact torque map, or (32) as printed where the load asks for it."""
        rows = np.zeros((*full.shape, self.width))
        for k, place in enumerate(self.ports.values()):
            load, W = self.mech.load[k], self._wrench(k, full)
            rows[load.body, ..., place] += (self._block(k, full) @ W).reshape(4, 3, -1)
            if load.other >= 0:
                back = _block(full[load.other, 1:], np.zeros(3), False) @ self._lift(k, full) @ W
                rows[load.other, ..., place] -= back.reshape(4, 3, -1)
        return rows.reshape(full.size, self.width)[self.slots]

    def force_slope(self, full: Array, u: Array) -> sparse.csr_array:
        """d(B~ u)/dq (n, n)."""
        if not u.any():
            return sparse.csr_array((self.slots.size, self.slots.size))
        parts, at = [np.zeros(0)], [np.zeros((2, 0), dtype=np.int64)]
        for i, j, place, slope in self._slopes(full):
            parts.append(np.einsum("rkic,k->ric", slope, u[place]).ravel())
            at.append(np.indices((12, 12)).reshape(2, -1) + np.array([[12 * i], [12 * j]]))
        whole = sparse.coo_array((np.concatenate(parts), np.hstack(at)), shape=(full.size, full.size)).tocsr()
        return sparse.csr_array(whole[self.slots][:, self.slots])

    def output_slope(self, full: Array, rate: Array) -> Array:
        """d(B~^T v)/dq (p, n)."""
        turned = np.zeros((self.width, *full.shape))
        for i, j, place, slope in self._slopes(full):
            turned[place, j] += np.einsum("r,rkic->kic", rate[i].ravel(), slope)
        return turned.reshape(self.width, -1)[:, self.slots]

    def _slopes(self, full: Array) -> Iterator[tuple[int, int, slice, Array]]:
        """Of each load the derivative (12, k, 4, 3) of the rows of body i with respect to the coordinates of body j."""
        for k, place in enumerate(self.ports.values()):
            load, W, turned = self.mech.load[k], self._wrench(k, full), self._wrench_slope(k)
            a, b, frame = load.other, load.body, load.other if load.other >= 0 else load.body
            block, width = self._block(k, full), W.shape[1]
            if b == full.shape[0] - 1 or self.mech.body[b].rigid:
                yield b, b, place, _block_slope(full[b, 1:], load.point, bool(load.printed), W)
                if turned.any():
                    yield b, frame, place, np.einsum("rw,wkic->rkic", block, turned)
            if a >= 0:
                lift, back = self._lift(k, full), _block(full[a, 1:], np.zeros(3), False)
                yield a, a, place, -_block_slope(full[a, 1:], np.zeros(3), False, lift @ W)
                yield a, a, place, -np.einsum("rw,wkic->rkic", back @ lift, turned)
                by_arm = np.zeros((12, width, 3))  # the arm crosses the force
                for c in range(3):
                    by_arm[:, :, c] = -back[:, 3:] @ skew(np.eye(3)[c]) @ W[:3]
                yield a, a, place, np.einsum("rkc,i->rkic", by_arm, [-1.0, 0.0, 0.0, 0.0])
                yield a, b, place, np.einsum("rkc,i->rkic", by_arm, [1.0, *load.point])

    def _wrench(self, k: int, full: Array) -> Array:
        """(F, tau) in world axes (6, s) for each input of terminal k."""
        axes = self._axes(k, full[None])[0]
        return np.concatenate([axes.T @ part for part in np.split(self.terminals[k].basis, 2)])

    def _wrench_slope(self, k: int) -> Array:
        """The derivative (6, s, 4, 3) of `_wrench` with respect to the body in whose directors its axes are."""
        load, basis = self.mech.load[k], self.terminals[k].basis.reshape(2, 3, -1)
        if load.other >= 0:
            local = np.einsum("i,pk->pik", load.axis, basis[:, 0])
        else:
            local = basis if load.turning else np.zeros_like(basis)
        slope = np.zeros((2, 3, basis.shape[2], 4, 3))
        for c in range(3):
            slope[:, c, :, 1:, c] = local.transpose(0, 2, 1)
        return slope.reshape(6, -1, 4, 3)

    def _block(self, k: int, full: Array) -> Array:
        """What a wrench at the point of terminal k does to its body (12, 6)."""
        load = self.mech.load[k]
        rigid = load.body == full.shape[0] - 1 or self.mech.body[load.body].rigid
        return _block(full[load.body, 1:], load.point, bool(load.printed)) if rigid else ON_A_POINT

    def _lift(self, k: int, full: Array) -> Array:
        """Takes a wrench from the point of a port in a joint to the centre of the first body (6, 6)."""
        load, lift = self.mech.load[k], np.eye(6)
        arm = full[load.body, 0] + load.point @ full[load.body, 1:] - full[load.other, 0]
        lift[3:, :3] = skew(arm)
        return lift


def _block(d: Array, point: Array, printed: bool) -> Array:
    """Forces (12, 6) on phi and the directors d from (F, tau) at a point."""
    return np.concatenate([np.eye(3, 6), torque_rows(d, point, printed)])


def _block_slope(d: Array, point: Array, printed: bool, W: Array) -> Array:
    """The derivative (12, k, 4, 3) of block @ W with respect to phi and d."""
    slope = np.zeros((12, W.shape[1], 4, 3))
    slope[3:, :, 1:] = np.einsum("rwij,wk->rkij", torque_rows_slope(d, point, printed), W)
    return slope


def _grounded(bodies: Array, directors: float) -> Array:
    """States (T, N, 4, 3) with the ground behind the bodies."""
    ground = np.zeros((len(bodies), 1, 4, 3))
    ground[:, 0, 1:] = directors * np.eye(3)
    return np.concatenate([bodies, ground], axis=1)


def _spin(full: Array, rate: Array, b: int) -> Array:
    """omega (T, 3) = 1/2 sum d_i x d_i' of a body."""
    return 0.5 * np.cross(full[:, b, 1:], rate[:, b, 1:]).sum(axis=1)
