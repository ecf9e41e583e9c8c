"""Derivatives of all constraint rows: d_i . d_j - delta_ij of rigid bodies, then u . w - c of joints.

G = dg/dq has its entries at fixed places, found once; d(G^T lambda)/dq is constant.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from porthos.kernels.tables import Mechanism
from porthos.notation import Array, IntArray

RIGIDITY = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # pairs of directors in the order of eq. (26)


def row_vectors(mech: Mechanism, full: Array, constant: float) -> tuple[Array, Array]:
    """u and w (R, 3) of all joint rows at `full` (N+1, 4, 3); constant = 0 gives their linear parts."""
    sides = full[mech.row.body]  # (R, 2, 4, 3)
    u = constant * mech.form.u0 + np.einsum("rsi,rsik->rk", mech.form.cu, sides)
    w = constant * mech.form.w0 + np.einsum("rsi,rsik->rk", mech.form.cw, sides)
    return u, w


class ConstraintRows:
    """The rows of a mechanism; its coordinates are those at `slots` of the kernel array (N+1, 4, 3)."""

    def __init__(self, mech: Mechanism, rigid: IntArray, slots: IntArray) -> None:
        self.mech, self.rigid, self.slots = mech, rigid, slots
        self.shape = (6 * rigid.size + mech.row.size, slots.size)
        self._size = 12 * (mech.body.size + 1)
        rigidity = np.array(
            [
                (b, other + 1, 6 * k + e, 12 * b + 3 * (director + 1))
                for k, b in enumerate(rigid)
                for e, (i, j) in enumerate(RIGIDITY)
                for director, other in {(i, j), (j, i)}
            ],
            dtype=np.int64,
        ).reshape(-1, 4)
        used = (mech.form.cu != 0.0) | (mech.form.cw != 0.0)
        used[mech.wheel.row, mech.wheel.side, 1:] = True  # in some configuration
        used &= (mech.row.body < mech.body.size)[..., None]  # the ground does not move
        row, side, at = np.nonzero(used)
        rows = np.concatenate([rigidity[:, 2], 6 * rigid.size + row])
        first = np.concatenate([rigidity[:, 3], 12 * mech.row.body[row, side] + 3 * at])
        slot = np.zeros(self._size, dtype=np.int64)
        slot[slots] = np.arange(slots.size)
        columns = slot[(first[:, None] + np.arange(3)).ravel()]
        places = sparse.csr_array((np.arange(columns.size), (np.repeat(rows, 3), columns)), shape=self.shape)
        self._vector = rigidity[:, 0], rigidity[:, 1]  # (body, director) that each entry of a rigidity row is
        self._joint = row, side, at
        self._places = places.data, places.indices, places.indptr

    def jacobian(self, mech: Mechanism, full: Array, constant: float) -> sparse.csr_array:
        """G (m, n) at `full` (N+1, 4, 3), or its linear part there; `mech` is the mechanism at a configuration."""
        (row, side, at), (u, w) = self._joint, row_vectors(mech, full, constant)
        order, indices, pointers = self._places
        joints = mech.form.cu[row, side, at, None] * w[row] + mech.form.cw[row, side, at, None] * u[row]
        values = np.concatenate([full[self._vector], joints]).ravel()[order]
        return sparse.csr_array((values, indices, pointers), shape=self.shape)

    def stiffness(self, lam: Array) -> sparse.csr_array:
        """d(G^T lambda)/dq (n, n)."""
        K = np.zeros((self._size // 3, self._size // 3))
        for k, b in enumerate(self.rigid):
            for e, (i, j) in enumerate(RIGIDITY):
                K[4 * b + 1 + i, 4 * b + 1 + j] = K[4 * b + 1 + j, 4 * b + 1 + i] = lam[6 * k + e]
        place = 4 * self.mech.row.body[:, :, None] + np.arange(4)  # (R, 2, 4)
        for row, mu in enumerate(lam[6 * self.rigid.size :]):
            at, product = place[row].ravel(), np.outer(self.mech.form.cu[row], self.mech.form.cw[row])
            np.add.at(K, np.ix_(at, at), mu * (product + product.T))
        full = sparse.kron(sparse.csr_array(K), sparse.eye_array(3), format="csr")
        return sparse.csr_array(full[self.slots][:, self.slots])


def loop_rows(mech: Mechanism) -> IntArray:
    """The rows of joints in closed loops: what is left without joints to bodies that no other joint holds."""
    bodies, pairs = mech.body.size, mech.joint.body.tolist()
    held: list[set[int]] = [set() for _ in range(bodies + 1)]
    for k, pair in enumerate(pairs):
        for b in pair:
            held[b].add(k)
    left, leaves = set(range(len(pairs))), list(range(bodies))
    while leaves:
        b = leaves.pop()
        if len(held[b]) == 1:
            (k,) = held[b]
            left.remove(k)
            for other in pairs[k]:
                held[other].discard(k)
                if other < bodies:
                    leaves.append(other)
    ranges = [np.arange(mech.joint[k].first, mech.joint[k].last) for k in sorted(left)]
    return np.concatenate([np.zeros(0, dtype=np.int64), *ranges])
