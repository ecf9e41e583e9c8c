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
from porthos.quantities import Meaning, all_of, parts_of
from porthos.system.blockwise import Term, blockwise, fixed
from porthos.system.check import Report, mechanical_findings
from porthos.system.constrained import weights_of_motion
from porthos.system.constraints import loop_rows
from porthos.system.descriptor import ANALYTIC, Descriptor
from porthos.system.drives import Driven, inputs_at, refuse_friction, require_plain, row_rates
from porthos.system.full_coordinates import FullCoordinates
from porthos.system.joint_coordinates import JointCoordinates
from porthos.system.layout import condensed_layouts, exact_layout
from porthos.system.loads import Terminal
from porthos.system.motion import OfDriven, OfMechanism
from porthos.system.naming import Named
from porthos.system.phdae import PHDAE
from porthos.system.tables import constraints_of

if TYPE_CHECKING:
    from porthos.model.model import Model
    from porthos.system.initial import Adjustment
    from porthos.system.joint_starts import Assembly


class MechanicalSystem(Named, FullCoordinates, PHDAE):
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
        self.model: Model | None = None  # what it was assembled from, as it was then; None if it was read from a file
        self.held: tuple[str, ...] = ()  # bodies that stayed where they were put when joints were closed
        self.adjustments: tuple[Adjustment, ...] = ()
        self._q0, self._v0 = self.still, np.zeros_like(self.still)
        self._joint_coordinates: dict[str, JointCoordinates] = {}  # those that were asked for

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
        return condensed_layouts(self.moving)[0]

    @cached_property
    def shared(self) -> tuple[Layout, ...]:
        """The same divided between two threads, or for one if two are not worthwhile."""
        return condensed_layouts(self.moving, threads=2)

    @cached_property
    def loop_rows(self) -> IntArray:
        """The joint rows of closed loops, the only ones that can repeat others."""
        return loop_rows(self.mech)

    @cached_property
    def m(self) -> int:
        """Number of constraints: 6 for each rigid body, and the rows of the joints."""
        return 6 * self.rigid.size + self.mech.row.size

    @cached_property
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
        """Name of each load, port and drive, and its columns of B; the input of a drive is s', its output the force."""
        first = self.loads.width
        places = {drive.name: slice(first + k, first + k + 1) for k, drive in enumerate(self.drives)}
        return {**self.loads.ports, **places}

    @property
    def sources(self) -> Mapping[str, Any]:
        """The loads with their u(t), and the drives with their s'(t)."""
        return {**self.loads.sources, **{drive.name: drive.speed for drive in self.drives}}

    @cached_property
    def motion(self) -> OfMechanism:
        """The mechanism as methods for mechanics see it."""
        return OfDriven(self) if self.drives or self.meshes else OfMechanism(self)

    @cached_property
    def width(self) -> int:
        """Number of inputs: those of loads and ports, and one for each drive."""
        return self.loads.width + len(self.drives)

    @cached_property
    def drive_rows(self) -> IntArray:
        """The rows of the drives among all constraints."""
        return 6 * self.rigid.size + self.mech.drive.row

    def drive_slopes(self, q: Array, t: float) -> Array:
        """dg/ds (D,) of the rows of drives."""
        if not isinstance(self.motion, OfDriven) or not self.drives:
            return np.zeros(0)
        return self.motion.at(t).first.gaps(q[None])[0, self.drive_rows]

    @property
    def channel_names(self) -> tuple[str, ...]:
        """Through what energy comes in: loads and ports, then drives."""
        return (*(port.name for port in self.terminals), *(drive.name for drive in self.drives))

    @cached_property
    def quantities(self) -> Mapping[str, Meaning]:
        """What a run of it has over time, by name."""
        bodies, joints, elements = (self.description.get(title, []) for title in ("bodies", "joints", "elements"))
        return all_of(
            parts_of(
                ((one["name"], one["kind"]) for one in bodies),
                ((one["name"], one["kind"]) for one in joints),
                ((one["name"], one["kind"], one.get("joint")) for one in elements),
                (one["name"] for one in self.description.get("beams", [])),
                (terminal.name for terminal in self.terminals),
            )
        )

    def joint_coordinates(self, joint: str) -> JointCoordinates:
        """Angle and displacement of a joint with an axis."""
        if joint not in self._joint_coordinates:
            self._joint_coordinates[joint] = JointCoordinates.of(self, joint)
        return self._joint_coordinates[joint]

    @cached_property
    def row_rates(self) -> tuple[Array, Array]:
        """What G v and its rate are in all joint rows (R,): zero except for drives; at t = 0, see `drives.frozen`."""
        return row_rates(self.mech, inputs_at(self, 0.0))

    # --- states

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

    @cached_property
    def assembly(self) -> Assembly:
        """Of each joint how far it was open and is now, and its force, torque and multipliers at t = 0; print it."""
        from porthos.system.joint_starts import joint_starts  # it needs this module

        return joint_starts(self)

    def initial_arrays(self) -> tuple[Array, Array]:
        """Copies of the initial configuration and velocity as kernel arrays."""
        return self._q0.copy(), self._v0.copy()

    def C(self, q: Array) -> sparse.csr_array:
        """The damping matrix (n, n) of the force elements, symmetric and >= 0."""
        refuse_friction(self)
        return self.elements.damping(self.to_kernel(q))

    @property
    def inner_ports(self) -> tuple[str, ...]:
        """Where energy leaves the system: the force elements."""
        return self.element_names

    def inner_power(self, x: Array, u: Array, t: float = 0.0, z: Array | None = None) -> Array:
        """The power that each force element takes."""
        if not self.element_names:
            return np.zeros(0)
        q, v = self.split(x)[0], self.split(x if z is None else z)[1]
        return self.elements.losses(self.to_kernel(q), self.to_kernel(v, rate=True))

    # --- the pH-DAE form (24)

    def H(self, x: Array, t: float = 0.0) -> float:
        """Kinetic plus potential energy."""
        q, v, _ = self.split(x)
        return float(0.5 * (self.mass_diagonal * v) @ v + self.V(q))

    @property
    def quadratic(self) -> bool:
        """Weights are linear in q; force elements are not quadratic."""
        return not self.element_names

    def weights(self, h: float) -> Array:
        """Multipliers follow from positions and velocities."""
        return weights_of_motion(self.n, self.m, 2, h)

    def E(self, x: Array, t: float = 0.0) -> sparse.csr_array:
        """diag(I, M, 0)."""
        return self._E

    @cached_property
    def _E(self) -> sparse.csr_array:
        diagonal = np.concatenate([np.ones(self.n), self.mass_diagonal, np.zeros(self.m)])
        return fixed(sparse.csr_array(sparse.diags_array(diagonal)))

    def J(self, x: Array, t: float = 0.0) -> sparse.csr_array:
        """[0 I 0; -I 0 -G^T; 0 G 0]."""
        q, _, _ = self.split(x)
        identity, G = sparse.eye_array(self.n), self.motion.G(t, q)
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
        """[0 0; B~ 0; 0 dg/ds]; the last columns are those of drives."""
        q, _, _ = self.split(x)
        Bt, drives = self.Bt(q), np.arange(len(self.drives))
        entries = (self.drive_slopes(q, t), (2 * self.n + self.drive_rows, self.loads.width + drives))
        moved = sparse.coo_array(entries, shape=(self.dimension, self.width))
        padded = sparse.coo_array((Bt.tocoo().data, (self.n + Bt.tocoo().row, Bt.tocoo().col)), shape=moved.shape)
        return sparse.csr_array(padded + moved)

    def flow(self, x: Array, u: Array, t: float = 0.0) -> Array:
        """(v, -grad V - C v - G^T lambda + B~ u, G v + dg/ds u)."""
        return -self.residual(x, np.zeros(self.dimension), u, t)

    def residual(self, x: Array, rate: Array, u: Array, t: float = 0.0) -> Array:
        """(q' - v, M v' - f + G^T lambda, -G v - dg/ds u)."""
        return self.residuals(self.as_state(x)[None], rate[None], u[None], np.array([t]))[0]

    def residuals(self, X: Array, rates: Array, U: Array, times: Array) -> Array:
        """The same at several states."""
        refuse_friction(self)
        n, out, motion = self.n, np.empty(X.shape), self.motion
        Q, V, L = X[:, :n], X[:, n : 2 * n], X[:, 2 * n :]
        out[:, :n] = rates[:, :n] - V
        out[:, n : 2 * n] = self.mass_diagonal * rates[:, n : 2 * n] - self.forces(Q, V, U) + motion.pulls(times, Q, L)
        out[:, 2 * n :] = -motion.standing_rates(times, Q, V)
        for k, (q, t, u) in enumerate(zip(Q, times, U[:, self.loads.width :], strict=True) if self.drives else ()):
            out[k, 2 * n + self.drive_rows] -= self.drive_slopes(q, t) * u
        return out

    def response(self, x: Array, e: Array, t: float = 0.0) -> Array:
        """(e_v, -e_q - C e_v - G^T e_lambda, G e_v)."""
        (q, _, _), (a, b, c), G = self.split(x), self.split(e), self.motion.G(t, self.split(x)[0])
        lost = self.C(q) @ b if self.element_names else 0.0
        return np.concatenate([b, -a - lost - G.T @ c, G @ b])

    def dissipation(self, x: Array, u: Array, t: float = 0.0) -> float:
        """v^T C v."""
        refuse_friction(self)
        return float(self.inner_power(x, u, t).sum())

    def loss_by(self, x: Array, e: Array, u: Array, t: float = 0.0) -> float:
        """e_v^T C e_v."""
        refuse_friction(self)
        return float(self.inner_power(x, u, t, e).sum())

    def output_by(self, x: Array, e: Array, u: Array | None = None, t: float = 0.0) -> Array:
        """B~^T e_v, and dg/ds e_lambda of drives."""
        if not self.width:
            return np.zeros(0)
        q, (_, v, lam) = self.split(x)[0], self.split(e)
        forces = self.drive_slopes(q, t) * lam[self.drive_rows] if self.drives else np.zeros(0)
        return np.concatenate([self.loads.columns(self.to_kernel(q)).T @ v, forces])

    def output_slope(self, x: Array, u: Array, t: float = 0.0) -> Array:
        """[d(B~^T v)/dq, B~^T, 0], and [d(dg/ds)/dq lambda, 0, dg/ds] of drives."""
        (q, v, lam), n, first, out = self.split(x), self.n, self.loads.width, np.zeros((self.width, self.dimension))
        out[:first, :n] = self.loads.output_slope(self.to_kernel(q), self.to_kernel(v, rate=True))
        out[:first, n : 2 * n] = self.loads.columns(self.to_kernel(q)).T
        if self.drives:
            assert isinstance(self.motion, OfDriven)
            turned, forces = self.motion.at(t).first.jacobian(q).toarray(), lam[self.drive_rows]
            out[first:, :n] = forces[:, None] * turned[self.drive_rows]
            out[np.arange(first, self.width), 2 * n + self.drive_rows] = self.drive_slopes(q, t)
        return out

    def tangent(self, x: Array, rate: Array, u: Array, t: float = 0.0) -> sparse.csc_array:
        """-df/dx."""
        refuse_friction(self)
        (q, v, lam), n, motion = self.split(x), self.n, self.motion
        by_q, by_v = self.force_tangent(q, v, u)
        G = motion.G(t, q)
        terms = [
            Term(0, n, -1.0, [self._one]),
            Term(n, 0, 1.0, [motion.stiffness(t, q, lam)]),
            Term(n, 0, -1.0, [by_q]),
            Term(n, n, -1.0, [by_v]),
            Term(n, 2 * n, 1.0, [G], turned=True),
            Term(2 * n, 0, -1.0, [motion.rate_slope(t, q, v)]),
            Term(2 * n, n, -1.0, [G]),
        ]
        return blockwise(self.dimension, terms)

    @cached_property
    def _one(self) -> sparse.csr_array:
        return fixed(sparse.csr_array(sparse.eye_array(self.n)))

    @cached_property
    def ggl(self) -> PHDAE:
        """The same system in the index-1 form (61): x = (q, v, lambda, gamma)."""
        from porthos.system.ggl import GGLForm  # it needs this module

        require_plain(self, "formulation (61)")
        return GGLForm(self)

    def formulation(self, name: str, **options: float) -> Descriptor:
        """The same system for Runge-Kutta methods: g = 0, (24), both levels of constraints, (61) or Baumgarte's."""
        from porthos.system.formulations import formulation_of  # it needs this module

        refuse_friction(self)
        return formulation_of(self, name, **options)

    def structure(self, x: Array, t: float = 0.0) -> Report:
        """The conditions of a pH-DAE at x, and g(q) = 0, G = dg/dq and the rank of G."""
        report = super().structure(x, t)
        return Report(self.name, (*report.findings, *mechanical_findings(self, self.split(x)[0])))

    def check(self, x: Array | None = None, t: float | None = None, samples: int = 1, seed: int = 0) -> Report:
        """Test every structural property at x; without x at the initial state, which is one that the joints allow."""
        return super().check(self.initial_state() if x is None else x, t, samples, seed)
