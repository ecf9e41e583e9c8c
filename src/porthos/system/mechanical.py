"""A constrained mechanical system (q, v, lambda) with constant mass matrix, and its pH-DAE form (24) of 001:

[I 0 0; 0 M 0; 0 0 0] (q, v, lambda)' = [0 I 0; -I -C -G^T; 0 G 0] (grad V, v, lambda) + [0; B~; 0] u.

q holds 12 numbers for a rigid body (phi, d_1, d_2, d_3), 3 for a point mass; lambda the 6 rigidity rows of each rigid
body, then the rows of the joints.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from porthos.kernels.tables import Layout, Mechanism
from porthos.notation import Array, IntArray
from porthos.system.check import Report, mechanical_findings
from porthos.system.constraints import RIGIDITY, ConstraintRows, loop_rows, row_vectors
from porthos.system.descriptor import ANALYTIC, Descriptor
from porthos.system.drives import Driven, inputs_at, refuse_friction, require_descriptor, row_rates
from porthos.system.elements import Elements
from porthos.system.gears import meshed
from porthos.system.layout import condensed_layout, exact_layout
from porthos.system.loads import Loads, Terminal
from porthos.system.naming import Named
from porthos.system.phdae import PHDAE
from porthos.system.tables import constraints_of, elements_of

if TYPE_CHECKING:
    from porthos.system.closing import JointGap
    from porthos.system.initial import Adjustment


class MechanicalSystem(Named, PHDAE):
    """An assembled mechanism. Made by `Model.assemble()`; immutable."""

    tangent_cost = ANALYTIC

    def __init__(
        self,
        name: str,
        mech: Mechanism,
        body_names: tuple[str, ...],
        joint_names: tuple[str, ...],
        element_names: tuple[str, ...],
        terminals: tuple[Terminal, ...],
        drives: tuple[Driven, ...],
        principal: Array,
        joint_points: Array,
        length: float,
        description: dict[str, Any],
    ) -> None:
        self.name = name
        self.moving = mech  # joints, then force elements: what a step solves for
        self.mech = constraints_of(mech)  # joints only
        self.body_names, self.joint_names = body_names, joint_names
        self.element_names, self.terminals, self.drives = element_names, terminals, drives
        self.principal = principal  # (N, 3, 3) body frame = directors @ principal^T
        self.joint_points = joint_points  # (J, 2, 3) point of each side in the directors of its body
        self.length, self.description = length, description
        self.adjustments: tuple[Adjustment, ...] = ()
        self.assembly: tuple[JointGap, ...] = ()  # of each joint, if some had to be closed
        self._q0, self._v0 = self.still, np.zeros_like(self.still)

    def __repr__(self) -> str:
        bodies, joints, elements = map(len, (self.body_names, self.joint_names, self.element_names))
        parts = f"{bodies} bodies, {joints} joints, {elements} elements, {len(self.channel_names)} ports"
        return f"MechanicalSystem('{self.name}': {parts}, n = {self.n} coordinates, m = {self.m} constraints)"

    # --- sizes and places

    @cached_property
    def layout(self) -> Layout:
        """The pattern of elimination of bodies and joints."""
        return exact_layout(self.mech)

    @cached_property
    def exact(self) -> Layout:
        """The same with force elements, for steps."""
        return exact_layout(self.moving) if self.element_names else self.layout

    @cached_property
    def condensed(self) -> Layout:
        """The pattern with translations eliminated, on which steps are fast."""
        return condensed_layout(self.moving)

    @cached_property
    def elements(self) -> Elements:
        """The force elements."""
        return Elements(elements_of(self.moving), self.element_names, self.slots)

    @cached_property
    def loads(self) -> Loads:
        """Loads and ports."""
        return Loads(self.mech, self.terminals, self.slots)

    @cached_property
    def loop_rows(self) -> IntArray:
        """The joint rows of closed loops, the only ones that can repeat others."""
        return loop_rows(self.mech)

    @cached_property
    def rigid(self) -> IntArray:
        """Indices of the rigid bodies."""
        return np.flatnonzero(self.mech.body.rigid)

    @cached_property
    def slots(self) -> IntArray:
        """Places of the coordinates of q in the flattened kernel array (N+1, 4, 3)."""
        per_body = [np.arange(12 * b, 12 * b + (12 if r else 3)) for b, r in enumerate(self.mech.body.rigid)]
        return np.concatenate(per_body)

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.slots.size

    @property
    def m(self) -> int:
        """Number of constraints: 6 for each rigid body, and the rows of the joints."""
        return 6 * self.rigid.size + self.mech.row.size

    @property
    def dimension(self) -> int:
        """Number of states (q, v, lambda)."""
        return 2 * self.n + self.m

    @cached_property
    def blocks(self) -> Mapping[str, slice]:
        """Name of each part of the state and its place."""
        result, at = {}, 0
        for letter in ("q", "v"):
            for name, rigid in zip(self.body_names, self.mech.body.rigid, strict=True):
                result[f"{letter} of '{name}'"] = slice(at, at + (12 if rigid else 3))
                at = result[f"{letter} of '{name}'"].stop
        for b in self.rigid:
            result[f"rigidity of '{self.body_names[b]}'"] = slice(at, at + 6)
            at += 6
        for name, first, last in zip(self.joint_names, self.mech.joint.first, self.mech.joint.last, strict=True):
            result[f"joint '{name}'"] = slice(at, at + int(last - first))
            at += int(last - first)
        return result

    @property
    def ports(self) -> Mapping[str, slice]:
        """Name of each load and port, and its columns of B."""
        return self.loads.ports

    @property
    def sources(self) -> Mapping[str, Any]:
        """The loads with their u(t)."""
        return self.loads.sources

    @property
    def channel_names(self) -> tuple[str, ...]:
        """Through what energy comes in: loads and ports, then drives."""
        return (*(port.name for port in self.terminals), *(drive.name for drive in self.drives))

    @cached_property
    def row_rates(self) -> tuple[Array, Array]:
        """What G v and its rate are in all joint rows (R,): zero except for drives; at t = 0, see `drives.frozen`."""
        return row_rates(self.mech, inputs_at(self, 0.0))

    # --- states

    @cached_property
    def still(self) -> Array:
        """Kernel array (N+1, 4, 3) of bodies at the origin; its last slot is the ground."""
        q = np.zeros((len(self.body_names) + 1, 4, 3))
        q[:, 1:] = np.eye(3)
        return q

    def to_kernel(self, q: Array, rate: bool = False) -> Array:
        """Coordinates q (n,) (or velocities, `rate`) as the kernel array (N+1, 4, 3)."""
        full = np.zeros_like(self.still) if rate else self.still.copy()
        full.reshape(-1)[self.slots] = q
        return full

    def from_kernel(self, full: Array) -> Array:
        """The coordinates (n,) in a kernel array."""
        return full.reshape(-1)[self.slots]

    def split(self, x: Array) -> tuple[Array, Array, Array]:
        """(q, v, lambda) of a state."""
        x = self.as_state(x)
        return x[: self.n], x[self.n : 2 * self.n], x[2 * self.n :]

    def initial_state(self) -> Array:
        """x = (q, v, lambda) at t = 0: consistent on all levels, lambda from the accelerations."""
        from porthos.system.initial import multipliers  # it needs this module

        q, v = self.initial_arrays()
        lam = multipliers(self, q, v, inputs_at(self, 0.0))
        return np.concatenate([self.from_kernel(q), self.from_kernel(v), lam])

    def initial_arrays(self) -> tuple[Array, Array]:
        """Copies of the initial configuration and velocity as kernel arrays."""
        return self._q0.copy(), self._v0.copy()

    # --- the mechanical structure

    @cached_property
    def mass_diagonal(self) -> Array:
        """The diagonal (n,) of M, eq. (31)."""
        full = np.concatenate([self.mech.body.mass[:, None], self.mech.body.euler], axis=1)
        padded = np.vstack([full, np.zeros((1, 4))])
        return self.from_kernel(np.repeat(padded[:, :, None], 3, axis=2))

    @property
    def M(self) -> sparse.csr_array:
        """The constant mass matrix."""
        return sparse.csr_array(sparse.diags_array(self.mass_diagonal))

    def V(self, q: Array) -> float:
        """Potential energy: of the weights and of force elements."""
        return float(self._weights @ q + self.elements.energies(self.to_kernel(q)[None, :-1], self.still).sum())

    def gradV(self, q: Array) -> Array:
        """Gradient of the potential energy."""
        return self._weights + self.elements.gradient(self.to_kernel(q)) if self.element_names else self._weights

    @cached_property
    def _weights(self) -> Array:
        full = np.zeros_like(self.still)
        full[:-1, 0] = -self.mech.body.mass[:, None] * self.mech.gravity
        return self.from_kernel(full)

    def g(self, q: Array) -> Array:
        """All constraints (m,), rigidity rows (26) first."""
        full = self.to_kernel(q)
        d = full[self.rigid, 1:]
        gram = np.einsum("bik,bjk->bij", d, d)
        rigidity = [(gram[:, i, j] - 1) / 2 if i == j else gram[:, i, j] for i, j in RIGIDITY]
        mech = meshed(self.mech, full)
        u, w = row_vectors(mech, full, constant=1.0)
        return np.concatenate([np.array(rigidity).T.ravel(), np.einsum("rk,rk->r", u, w) - mech.row.c])

    def G(self, q: Array) -> sparse.csr_array:
        """The constraint Jacobian dg/dq (m, n)."""
        full = self.to_kernel(q)
        return self._rows.jacobian(meshed(self.mech, full), full, constant=1.0)

    def G_rate(self, v: Array) -> sparse.csr_array:
        """d(G v)/dq (m, n): for rows that are at most quadratic it is the linear part of G, at v."""
        return self._rows.jacobian(self.mech, self.to_kernel(v, rate=True), constant=0.0)

    def G_stiffness(self, lam: Array) -> sparse.csr_array:
        """d(G^T lambda)/dq (n, n), constant: rows are at most quadratic and couple equal components of vectors."""
        return self._rows.stiffness(lam)

    @cached_property
    def _rows(self) -> ConstraintRows:
        return ConstraintRows(self.mech, self.rigid, self.slots)

    def Bt(self, q: Array) -> sparse.csr_array:
        """The input matrix B~ (n, p)."""
        return self.loads.matrix(self.to_kernel(q))

    def C(self, q: Array) -> sparse.csr_array:
        """The damping matrix (n, n) of the force elements, symmetric and >= 0."""
        refuse_friction(self)
        return self.elements.damping(self.to_kernel(q))

    def force(self, q: Array, v: Array, u: Array) -> Array:
        """All forces but those of the constraints: B~ u - grad V - C v."""
        inner = self.elements.force(self.to_kernel(q), self.to_kernel(v, rate=True)) if self.element_names else 0.0
        return self.Bt(q) @ u - self._weights + inner

    def force_tangent(self, q: Array, v: Array, u: Array) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Derivatives of `force` with respect to q and v."""
        full = self.to_kernel(q)
        by_q = self.loads.force_slope(full, u)
        if not self.element_names:
            return by_q, sparse.csr_array((self.n, self.n))
        inner_q, inner_v = self.elements.tangent(full, self.to_kernel(v, rate=True))
        return sparse.csr_array(by_q + inner_q), inner_v

    @property
    def inner_ports(self) -> tuple[str, ...]:
        """Where energy leaves the system: the force elements."""
        return self.element_names

    def inner_power(self, x: Array, u: Array, t: float = 0.0, z: Array | None = None) -> Array:
        """The power that each force element takes."""
        q, v = self.split(x)[0], self.split(x if z is None else z)[1]
        return self.elements.losses(self.to_kernel(q), self.to_kernel(v, rate=True))

    # --- the pH-DAE form (24)

    def H(self, x: Array, t: float = 0.0) -> float:
        """Kinetic plus potential energy."""
        q, v, _ = self.split(x)
        return float(0.5 * (self.mass_diagonal * v) @ v + self.V(q))

    def E(self, x: Array, t: float = 0.0) -> sparse.csr_array:
        """diag(I, M, 0)."""
        return self._E

    @cached_property
    def _E(self) -> sparse.csr_array:
        diagonal = np.concatenate([np.ones(self.n), self.mass_diagonal, np.zeros(self.m)])
        return sparse.csr_array(sparse.diags_array(diagonal))

    def J(self, x: Array, t: float = 0.0) -> sparse.csr_array:
        """[0 I 0; -I 0 -G^T; 0 G 0]."""
        q, _, _ = self.split(x)
        identity, G = sparse.eye_array(self.n), self.G(q)
        return sparse.csr_array(
            sparse.block_array([[None, identity, None], [-identity, None, -G.T], [None, G, None]], format="csr")
            if self.m
            else sparse.block_array([[None, identity], [-identity, None]], format="csr")
        )

    def R(self, x: Array, t: float = 0.0) -> sparse.csr_array:
        """diag(0, C, 0)."""
        if not self.element_names:
            return super().R(x, t)
        zero_q, zero_lam = (sparse.csr_array((k, k)) for k in (self.n, self.m))
        return sparse.csr_array(sparse.block_diag([zero_q, self.C(self.split(x)[0]), zero_lam]))

    def z(self, x: Array, t: float = 0.0) -> Array:
        """(grad V, v, lambda)."""
        q, v, lam = self.split(x)
        return np.concatenate([self.gradV(q), v, lam])

    def B(self, x: Array, t: float = 0.0) -> sparse.csr_array:
        """[0; B~; 0]."""
        q, _, _ = self.split(x)
        Bt = self.Bt(q)
        p = Bt.shape[1]
        return sparse.csr_array(sparse.vstack([sparse.csr_array((self.n, p)), Bt, sparse.csr_array((self.m, p))]))

    def flow(self, x: Array, u: Array, t: float = 0.0) -> Array:
        """(v, -grad V - C v - G^T lambda + B~ u, G v)."""
        require_descriptor(self)
        q, v, lam = self.split(x)
        G = self.G(q)
        return np.concatenate([v, self.force(q, v, u) - G.T @ lam, G @ v])

    def response(self, x: Array, e: Array, t: float = 0.0) -> Array:
        """(e_v, -e_q - C e_v - G^T e_lambda, G e_v)."""
        (q, _, _), (a, b, c) = self.split(x), self.split(e)
        G, lost = self.G(q), self.C(q) @ b if self.element_names else 0.0
        return np.concatenate([b, -a - lost - G.T @ c, G @ b])

    def y(self, x: Array, u: Array | None = None, t: float = 0.0) -> Array:
        """B~^T v."""
        q, v, _ = self.split(x)
        return self.Bt(q).T @ v

    def output_slope(self, x: Array, u: Array, t: float = 0.0) -> Array:
        """[d(B~^T v)/dq, B~^T, 0]."""
        q, v, _ = self.split(x)
        turned = self.loads.output_slope(self.to_kernel(q), self.to_kernel(v, rate=True))
        return np.hstack([turned, self.Bt(q).toarray().T, np.zeros((self.width, self.m))])

    def tangent(self, x: Array, rate: Array, u: Array, t: float = 0.0) -> sparse.csr_array:
        """-df/dx."""
        require_descriptor(self)
        q, v, lam = self.split(x)
        one, G = sparse.eye_array(self.n), self.G(q)
        by_q, by_v = self.force_tangent(q, v, u)
        stiffness = self.G_stiffness(lam) - by_q
        rows = [[None, -one, None], [stiffness, -by_v, G.T], [-self.G_rate(v), -G, None]]
        if self.m == 0:
            rows = [[None, -one], [stiffness, -by_v]]
        return sparse.csr_array(sparse.block_array(rows, format="csr"))

    @cached_property
    def ggl(self) -> PHDAE:
        """The same system in the index-1 form (61): x = (q, v, lambda, gamma)."""
        from porthos.system.ggl import GGLForm  # it needs this module

        require_descriptor(self)
        return GGLForm(self)

    def formulation(self, name: str, **options: float) -> Descriptor:
        """The same system for Runge-Kutta methods: g = 0, (24), both levels of constraints, (61) or Baumgarte's."""
        from porthos.system.formulations import formulation_of  # it needs this module

        require_descriptor(self)
        return formulation_of(self, name, **options)

    def structure(self, x: Array, t: float = 0.0) -> Report:
        """The conditions of a pH-DAE at x, and g(q) = 0, G = dg/dq and the rank of G."""
        report = super().structure(x, t)
        return Report(self.name, (*report.findings, *mechanical_findings(self, self.split(x)[0])))

    def check(self, x: Array | None = None, t: float | None = None, samples: int = 1, seed: int = 0) -> Report:
        """Test every structural property at x; without x at the initial state, which is one that the joints allow."""
        return super().check(self.initial_state() if x is None else x, t, samples, seed)
