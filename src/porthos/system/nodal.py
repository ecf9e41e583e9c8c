"""What a mechanical system asks at one configuration: gaps and rates of joints, solves with its matrix, accelerations.

Configurations and velocities are kernel arrays (N+1, 4, 3), see `kernels/tables.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from porthos.kernels import nodal
from porthos.kernels.elimination import factors, right_side
from porthos.kernels.tables import Mechanism, RowVectors
from porthos.notation import Array, IntArray
from porthos.system.coefficients import reduced_blocks
from porthos.system.constraints import row_vectors
from porthos.system.gears import meshed
from porthos.system.mechanical import MechanicalSystem
from porthos.system.ranks import LARGEST_DENSE, left_null_space

FRICTION_SOLVES = 60  # until friction and the forces of joints, on which it depends, agree; errors shrink by about mu
SETTLED = 1e-13
INVOLVED = 1e-8  # share of a row in a combination without force from which it takes part


def row_memory(system: MechanicalSystem) -> RowVectors:
    """Memory for the vectors of all rows."""
    rows = system.mech.row.size
    return RowVectors(*(np.zeros(shape) for shape in ((rows, 3), (rows, 3), (rows, 2, 3), (rows, 2, 3))))


def joint_gaps(system: MechanicalSystem, q: Array) -> Array:
    """g (R,) of every joint row."""
    mech = meshed(system.mech, q)
    u, w = row_vectors(mech, q, constant=1.0)
    return np.einsum("rk,rk->r", u, w) - mech.row.c


def velocity_gaps(system: MechanicalSystem, q: Array, v: Array) -> Array:
    """G v - c' (R,) of every joint row; c' is that of drives."""
    mech = meshed(system.mech, q)
    (u, w), (du, dw) = row_vectors(mech, q, constant=1.0), row_vectors(mech, v, constant=0.0)
    return np.einsum("rk,rk->r", u, dw) + np.einsum("rk,rk->r", w, du) - system.row_rates[0]


def rigid_velocity(system: MechanicalSystem, q: Array, twist: Array) -> Array:
    """P(q) twist: the velocity of the centre of mass and omega x d_i."""
    v = np.zeros_like(q)
    v[:-1, 0] = twist[:, :3]
    v[system.rigid, 1:] = np.cross(twist[system.rigid, None, 3:], q[system.rigid, 1:])
    return v


def twists(system: MechanicalSystem, q: Array, v: Array) -> Array:
    """(N, 6): velocity of the centre of mass and angular velocity 1/2 sum d_i x v_i of each body."""
    twist = np.zeros((q.shape[0] - 1, 6))
    twist[:, :3] = v[:-1, 0]
    twist[system.rigid, 3:] = 0.5 * np.cross(q[system.rigid, 1:], v[system.rigid, 1:]).sum(axis=1)
    return twist


def nearest_twists(system: MechanicalSystem, q: Array, v: Array) -> Array:
    """(N, 6): the rigid motions nearest to any velocity in the metric of M; `twists` if v is rigid."""
    twist, d, rate = twists(system, q, v), q[system.rigid, 1:], v[system.rigid, 1:]
    E = system.mech.body.euler[system.rigid]
    moment = np.einsum("bi,bik->bk", E, np.cross(d, rate))
    inertia = E.sum(axis=1)[:, None, None] * np.eye(3) - np.einsum("bi,bik,bil->bkl", E, d, d)
    twist[system.rigid, 3:] = np.einsum("bkl,bl->bk", np.linalg.pinv(inertia, hermitian=True), moment)
    return twist


def reduced_rows(mech: Mechanism, q: Array) -> Array:
    """All rows of G P (R, 2, 6), each side by itself."""
    mech = meshed(mech, q)
    return reduced_blocks(q, mech.row.body, mech.form.cu, mech.form.cw, *row_vectors(mech, q, constant=1.0))


def reduced_jacobian(system: MechanicalSystem, q: Array, rows: IntArray) -> Array:
    """Some rows of G P (r, 6 N)."""
    sides, blocks = system.mech.row.body[rows], reduced_rows(system.mech, q)[rows]
    result = np.zeros((rows.size, q.shape[0], 6))
    for s in range(2):
        result[np.arange(rows.size), sides[:, s]] += blocks[:, s]
    return result[:, :-1].reshape(rows.size, -1)


def least_norm(system: MechanicalSystem, q: Array, lam: Array) -> Array:
    """The multipliers of least norm with the forces of `lam`; only those of closed loops can differ."""
    rows = system.loop_rows
    if not 0 < rows.size <= LARGEST_DENSE:
        return lam
    null = left_null_space(reduced_jacobian(system, q, rows))
    result = lam.copy()
    result[rows] -= null @ (null.T @ lam[rows])
    return result


def undetermined_joints(system: MechanicalSystem, q: Array) -> tuple[int, ...]:
    """The joints whose reactions at q are not unique: some combination of their rows and others gives no force."""
    rows = system.loop_rows
    if not 0 < rows.size <= LARGEST_DENSE:
        return ()
    null = left_null_space(reduced_jacobian(system, q, rows))
    concerned = rows[np.flatnonzero(np.linalg.norm(null, axis=1) > INVOLVED)]
    first, last = system.mech.joint.first, system.mech.joint.last
    return tuple(j for j in range(first.size) if np.any((concerned >= first[j]) & (concerned < last[j])))


class NodalMatrix:
    """Solves with [P^T M P, (G P)^T; G P, 0] at any configuration; its memory serves all of them."""

    def __init__(self, system: MechanicalSystem) -> None:
        self.system = system
        self._rows, self._rates = row_memory(system), row_memory(system)
        self._factors = factors(system.layout.pattern)
        self._side = right_side(system.layout.pattern)

    def motion(self, q: Array, gaps: Array) -> Array:
        """The increments (N, 6), least in the metric of M, for which G P times them is `gaps`."""
        first = 6 * q.shape[0]
        self._side[:first] = 0.0
        self._side[first : first + gaps.size] = gaps
        return self._solve(meshed(self.system.mech, q), q)[1][: first - 6].reshape(-1, 6)

    def accelerations(self, q: Array, v: Array, wrench: Array) -> tuple[Array, Array]:
        """v' (N+1, 4, 3) and the joint multipliers (R,): M v' + G^T lam = f and d/dt (G v) = c''.

        Where rows repeat others, the multipliers of closed loops are those of least norm.
        """
        mech, result, first = meshed(self.system.mech, q), np.zeros_like(q), 6 * q.shape[0]
        nodal.acceleration_side(*self._applied(mech, q, v, wrench, result))
        self._side[first : first + mech.row.size] += self.system.row_rates[1]
        applied, lam, rows = self._side.copy(), None, slice(first, first + mech.row.size)
        for _ in range(FRICTION_SOLVES if self.system.element_names and self.system.elements.rubs else 1):
            last, self._side[:] = lam, applied
            if self.system.element_names:
                self.system.elements.add_forces(q, v, self._side, lam)
            redundant, x = self._solve(mech, q)
            lam = least_norm(self.system, q, x[rows]) if redundant > 0 else x[rows]
            if last is not None and np.abs(lam - last).max(initial=0.0) <= SETTLED * np.abs(lam).max(initial=0.0):
                break
        assert lam is not None
        return result + rigid_velocity(self.system, q, x[: first - 6].reshape(-1, 6)), lam

    def samples(self, q: Array, v: Array, wrench: Array) -> Iterator[tuple[Any, tuple[Any, ...]]]:
        """Its kernels and their arguments at a state."""
        yield nodal.solve_at, self._matrix(self.system.mech, q)
        yield nodal.acceleration_side, self._applied(self.system.mech, q, v, wrench, np.zeros_like(q))

    def _matrix(self, mech: Mechanism, q: Array) -> tuple[Any, ...]:
        return mech, self.system.layout, q, self._side, self._rows, self._factors

    def _applied(self, mech: Mechanism, q: Array, v: Array, wrench: Array, result: Array) -> tuple[Any, ...]:
        return mech, q, v, wrench, self._rows, self._rates, result, self._side

    def _solve(self, mech: Mechanism, q: Array) -> tuple[int, Array]:
        return nodal.solve_at(*self._matrix(mech, q))
