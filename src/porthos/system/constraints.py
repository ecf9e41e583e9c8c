"""All constraint rows of a mechanism in full coordinates: d_i . d_j - delta_ij of rigid bodies, then those of joints.

Every row is g = u . w - c with u and w affine in q, so that G = dg/dq is affine and d(G^T lambda)/dq linear in lambda;
both have their entries at fixed places, found once.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property

import numpy as np
from scipy import sparse

from porthos.kernels import full_rows
from porthos.kernels.full_rows import Forms
from porthos.kernels.tables import TURN, Mechanism
from porthos.notation import Array, IntArray
from porthos.system.blockwise import pattern, refilled

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
        self.shape = (6 * rigid.size + mech.row.size, slots.size)
        body = np.concatenate([np.repeat(rigid, 6)[:, None] + np.zeros((1, 2), dtype=np.int64), mech.row.body])
        place = np.full(12 * (mech.body.size + 1), -1, dtype=np.int64)
        place[slots] = np.arange(slots.size)
        at = place.reshape(-1, 4, 3)[body, :, 0]  # (m, 2, 4) place of each vector in q; -1 if it never changes
        still = np.zeros((mech.body.size + 1, 4, 3))
        still[:, 1:] = np.eye(3)
        still.reshape(-1)[slots] = 0.0
        self._still, self._rigid = still[body], _rigidity(rigid.size)
        cu, cw, u0, w0, c = self._numbers(mech)
        used = (cu != 0.0) | (cw != 0.0)
        used[6 * rigid.size + mech.wheel.row, mech.wheel.side, 1:] = True  # of gears, in some configuration
        used[6 * rigid.size + mech.drive.row[mech.drive.measure == TURN], 0, 1:] = True  # at some time
        row, side, i = np.nonzero(used & (at >= 0))
        order = np.lexsort((at[row, side, i], row))
        self._entry = row, side, i = row[order], side[order], i[order]
        first = np.searchsorted(row, np.arange(self.shape[0] + 1))
        self.forms = Forms(first, at[self._entry], cu[self._entry], cw[self._entry], u0, w0, c)
        indices = (self.forms.at[:, None] + np.arange(3)).ravel()
        self._pattern = pattern(sparse.csr_array, indices, 3 * first, self.shape)

    def _numbers(self, mech: Mechanism) -> tuple[Array, ...]:
        """cu, cw (m, 2, 4), u0, w0 (m, 3) and c (m,)."""
        (cu, cw), first = self._rigid, np.zeros((len(self._rigid[0]), 3))
        cu, cw = np.concatenate([cu, mech.form.cu]), np.concatenate([cw, mech.form.cw])
        u0 = np.concatenate([first, mech.form.u0]) + np.einsum("rsi,rsik->rk", cu, self._still)
        w0 = np.concatenate([first, mech.form.w0]) + np.einsum("rsi,rsik->rk", cw, self._still)
        return cu, cw, u0, w0, np.concatenate([np.tile([0.5, 0.5, 0.5, 0.0, 0.0, 0.0], len(first) // 6), mech.row.c])

    def of(self, mech: Mechanism) -> ConstraintRows:
        """The rows of tables that differ from those of these rows only in what gears and drives change."""
        other = copy(self)
        other.__dict__.pop("_curvature", None)
        cu, cw, u0, w0, c = self._numbers(mech)
        other.forms = self.forms._replace(cu=cu[self._entry], cw=cw[self._entry], u0=u0, w0=w0, c=c)
        return other

    def gaps(self, Q: Array) -> Array:
        """g (s, m) at several configurations Q (s, n)."""
        out = np.empty((len(Q), self.shape[0]))
        full_rows.gaps(self.forms, np.ascontiguousarray(Q), out)
        return out

    def rates(self, Q: Array, V: Array) -> Array:
        """G(Q_i) V_i (s, m)."""
        out = np.empty((len(Q), self.shape[0]))
        full_rows.rates(self.forms, np.ascontiguousarray(Q), np.ascontiguousarray(V), out)
        return out

    def pulls(self, Q: Array, L: Array) -> Array:
        """G(Q_i)^T L_i (s, n)."""
        out = np.zeros((len(Q), self.shape[1]))
        full_rows.pulls(self.forms, np.ascontiguousarray(Q), np.ascontiguousarray(L), out)
        return out

    def jacobian(self, q: Array, constant: float = 1.0) -> sparse.csr_array:
        """G (m, n) at q; with constant = 0 its linear part at a velocity, which is d(G v)/dq."""
        out = np.empty((1, 3 * self.forms.at.size))
        full_rows.slopes(self.forms, np.ascontiguousarray(q)[None], constant, out)
        return refilled(self._pattern, out[0])

    def stiffness(self, lam: Array) -> sparse.csr_array:
        """d(G^T lambda)/dq (n, n)."""
        entries, places = self._curvature
        return refilled(places, entries @ lam)

    @cached_property
    def _curvature(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        """The matrix that makes entries of the stiffness out of lambda, and its pattern: rows couple equal components.

        Entries (e, f) of one row add lambda_r (cu_e cw_f + cw_e cu_f).
        """
        forms, (m, n) = self.forms, self.shape
        count = np.diff(forms.first)
        row, e = np.repeat(np.arange(m), count**2), np.repeat(np.arange(forms.at.size), np.repeat(count, count))
        f = np.arange(row.size) - np.repeat(np.cumsum(count**2) - count**2, count**2)
        f = forms.first[row] + f % count[row]
        value = forms.cu[e] * forms.cw[f] + forms.cw[e] * forms.cu[f]
        row, e, f, value = (x[value != 0.0] for x in (row, e, f, value))
        k = np.arange(3)
        place = (forms.at[e][:, None] + k) * n + forms.at[f][:, None] + k
        used, target = np.unique(place, return_inverse=True)
        entries = (np.repeat(value, 3), (target.ravel(), np.repeat(row, 3)))
        pointers = np.searchsorted(used, n * np.arange(n + 1))
        return sparse.csr_array(entries, shape=(used.size, m)), pattern(sparse.csr_array, used % n, pointers, (n, n))


def _rigidity(bodies: int) -> tuple[Array, Array]:
    """Coefficients (6 bodies, 2, 4) of the rows d_i . d_j, of d_i . d_i/2 where i = j."""
    cu, cw = np.zeros((6, 2, 4)), np.zeros((6, 2, 4))
    for e, (i, j) in enumerate(RIGIDITY):
        cu[e, 0, 1 + i], cw[e, 0, 1 + j] = 0.5 if i == j else 1.0, 1.0
    return np.tile(cu, (bodies, 1, 1)), np.tile(cw, (bodies, 1, 1))


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
