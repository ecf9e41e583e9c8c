"""The mechanical structure of a mechanism in full coordinates: M v' = f(q, v, u) - G(q)^T lambda, g(q) = 0.

f = B~ u - grad V - C v. Plural names evaluate at several states at once, such as the stages of a step: Q, V (s, n).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse

from porthos.kernels.tables import Mechanism
from porthos.notation import Array, IntArray
from porthos.system.blockwise import fixed
from porthos.system.constraints import ConstraintRows
from porthos.system.descriptor import Matrix
from porthos.system.elements import Elements
from porthos.system.gears import meshed
from porthos.system.loads import Loads, Terminal
from porthos.system.tables import elements_of


class FullCoordinates:
    """What methods for mechanics ask of a mechanism; q holds 12 numbers for a rigid body, 3 for a point mass."""

    mech: Mechanism  # joints only
    moving: Mechanism  # joints, then force elements
    element_names: tuple[str, ...]
    terminals: tuple[Terminal, ...]

    @cached_property
    def rigid(self) -> IntArray:
        """Indices of the rigid bodies."""
        return np.flatnonzero(self.mech.body.rigid)

    @cached_property
    def slots(self) -> IntArray:
        """Places of the coordinates of q in the flattened kernel array (N+1, 4, 3)."""
        per_body = [np.arange(12 * b, 12 * b + (12 if r else 3)) for b, r in enumerate(self.mech.body.rigid)]
        return np.concatenate(per_body)

    @cached_property
    def n(self) -> int:
        """Number of coordinates."""
        return self.slots.size

    @cached_property
    def still(self) -> Array:
        """Kernel array (N+1, 4, 3) of bodies at the origin; its last slot is the ground."""
        q = np.zeros((self.mech.body.size + 1, 4, 3))
        q[:, 1:] = np.eye(3)
        return q

    @cached_property
    def elements(self) -> Elements:
        """The force elements."""
        return Elements(elements_of(self.moving), self.element_names, self.slots)

    @cached_property
    def loads(self) -> Loads:
        """Loads and ports."""
        return Loads(self.mech, self.terminals, self.slots)

    def to_kernel(self, q: Array, rate: bool = False) -> Array:
        """Coordinates q (n,) (or velocities, `rate`) as the kernel array (N+1, 4, 3)."""
        full = np.zeros_like(self.still) if rate else self.still.copy()
        full.reshape(-1)[self.slots] = q
        return full

    def from_kernel(self, full: Array) -> Array:
        """The coordinates (n,) in a kernel array."""
        return full.reshape(-1)[self.slots]

    # --- masses and energy

    @cached_property
    def mass_diagonal(self) -> Array:
        """The diagonal (n,) of M, eq. (31)."""
        full = np.concatenate([self.mech.body.mass[:, None], self.mech.body.euler], axis=1)
        padded = np.vstack([full, np.zeros((1, 4))])
        return self.from_kernel(np.repeat(padded[:, :, None], 3, axis=2))

    @cached_property
    def M(self) -> sparse.csr_array:
        """The constant mass matrix."""
        return fixed(sparse.csr_array(sparse.diags_array(self.mass_diagonal)))

    def V(self, q: Array) -> float:
        """Potential energy: of the weights and of force elements."""
        weight = float(self._weights @ q)
        if not self.element_names:
            return weight
        return weight + float(self.elements.energies(self.to_kernel(q)[None, :-1], self.still).sum())

    def gradV(self, q: Array) -> Array:
        """Gradient of the potential energy."""
        return self._weights + self.elements.gradient(self.to_kernel(q)) if self.element_names else self._weights

    @cached_property
    def _weights(self) -> Array:
        full = np.zeros_like(self.still)
        full[:-1, 0] = -self.mech.body.mass[:, None] * self.mech.gravity
        return self.from_kernel(full)

    # --- constraints

    @cached_property
    def rows(self) -> ConstraintRows:
        """All constraint rows, those of gears and drives as in the tables."""
        return ConstraintRows(self.mech, self.rigid, self.slots)

    @cached_property
    def meshes(self) -> bool:
        """Whether there are gears, whose rows depend on the configuration."""
        return bool(self.mech.gear.size)

    def g(self, q: Array) -> Array:
        """All constraints (m,), rigidity rows (26) first."""
        return self.gaps(q[None])[0]

    def _rows_at(self, q: Array) -> ConstraintRows:
        """The rows as they are at q: those of gears depend on it."""
        if not self.meshes:
            return self.rows
        return self.rows.of(meshed(self.mech, self.to_kernel(q)))

    def gaps(self, Q: Array) -> Array:
        """g(Q_i) (s, m)."""
        if not self.meshes:
            return self.rows.gaps(Q)
        return np.concatenate([self._rows_at(q).gaps(q[None]) for q in Q])

    def rates(self, Q: Array, V: Array) -> Array:
        """G(Q_i) V_i (s, m)."""
        if not self.meshes:
            return self.rows.rates(Q, V)
        return np.concatenate([self._rows_at(q).rates(q[None], v[None]) for q, v in zip(Q, V, strict=True)])

    def pulls(self, Q: Array, L: Array) -> Array:
        """G(Q_i)^T L_i (s, n)."""
        if not self.meshes:
            return self.rows.pulls(Q, L)
        return np.concatenate([self._rows_at(q).pulls(q[None], lam[None]) for q, lam in zip(Q, L, strict=True)])

    def G(self, q: Array) -> sparse.csr_array:
        """The constraint Jacobian dg/dq (m, n)."""
        return self._rows_at(q).jacobian(q)

    def G_rate(self, v: Array, q: Array | None = None) -> sparse.csr_array:
        """d(G v)/dq (m, n): for rows that are at most quadratic it is the linear part of G, at v.

        Rows of gears need q too; how they change beside it is left out, which along motions that the joints allow is
        nothing in d(G v)/dq v.
        """
        return (self.rows if q is None else self._rows_at(q)).jacobian(v, constant=0.0)

    def G_stiffness(self, lam: Array, q: Array | None = None) -> sparse.csr_array:
        """d(G^T lambda)/dq (n, n), constant: rows are at most quadratic and couple equal components of vectors."""
        return (self.rows if q is None else self._rows_at(q)).stiffness(lam)

    # --- forces

    def Bt(self, q: Array) -> sparse.csr_array:
        """The input matrix B~ (n, p)."""
        return self.loads.matrix(self.to_kernel(q))

    def force(self, q: Array, v: Array, u: Array) -> Array:
        """All forces but those of the constraints: B~ u - grad V - C v."""
        total, u = -self._weights, u[: self.loads.width]  # behind loads and ports stand drives
        if u.any():
            total = total + self.loads.columns(self.to_kernel(q)) @ u
        if self.element_names:
            total = total + self.elements.force(self.to_kernel(q), self.to_kernel(v, rate=True))
        return total

    def forces(self, Q: Array, V: Array, U: Array) -> Array:
        """`force` at several states (s, n)."""
        width = self.loads.width
        if not self.element_names and not (width and U[:, :width].any()):
            return np.repeat(self._falling, len(Q), axis=0)
        return np.array([self.force(*each) for each in zip(Q, V, U, strict=True)])

    def force_tangent(self, q: Array, v: Array, u: Array) -> tuple[Matrix, Matrix]:
        """Derivatives of `force` with respect to q and v."""
        pushed = u[: self.loads.width].any()
        by_q = self.loads.force_slope(self.to_kernel(q), u) if pushed else self._nothing
        if not self.element_names:
            return by_q, self._nothing
        inner_q, inner_v = self.elements.tangent(self.to_kernel(q), self.to_kernel(v, rate=True))
        return by_q + inner_q if pushed else inner_q, inner_v

    @cached_property
    def _falling(self) -> Array:
        """The weights alone (1, n)."""
        return -self._weights[None]

    @cached_property
    def _nothing(self) -> sparse.csr_array:
        return fixed(sparse.csr_array((self.n, self.n)))
