"""What a mechanical system asks at one configuration: gaps and rates of joints, solves with its matrix, accelerations.

Configurations and velocities are kernel arrays (N+1, 4, 3), see `kernels/tables.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from porthos.kernels import nodal
from porthos.kernels.elimination import factors, right_side
from porthos.kernels.tables import Mechanism, RowVectors
from porthos.notation import Array, IntArray
from porthos.system.constraints import row_vectors
from porthos.system.drives import frozen
from porthos.system.gears import meshed
from porthos.system.mechanical import MechanicalSystem
from porthos.system.repeats import least_norm, without

FRICTION_SOLVES = 60  # until friction and the forces of joints, on which it depends, agree; errors shrink by about mu
SETTLED = 1e-13
SLACK = 1e6  # from which the inverse of a row's pivot, in its largest one, may be that of a row that repeats others


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

    def accelerations(self, q: Array, v: Array, wrench: Array, null: csc_array | None = None) -> tuple[Array, Array]:
        """v' (N+1, 4, 3) and the joint multipliers (R,): M v' + G^T lam = f and d/dt (G v) = c''.

        Where rows repeat others, the multipliers are those of least norm: without their part in what gives no force,
        which is `null` if that is known.
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
            if null is not None:
                lam = without(null, x[rows])
            else:
                lam = least_norm(self.system, q, x[rows]) if redundant > 0 else x[rows]
            if last is not None and np.abs(lam - last).max(initial=0.0) <= SETTLED * np.abs(lam).max(initial=0.0):
                break
        assert lam is not None
        return result + rigid_velocity(self.system, q, x[: first - 6].reshape(-1, 6)), lam

    def slack_rows(self, q: Array, wrench: Array) -> IntArray:
        """How many joint rows (T,) repeat others, or may nearly do, at configurations q (T, N, 4, 3)."""
        found, system = np.zeros(len(q), dtype=np.int64), self.system
        if not system.drives and not system.mech.gear.size:
            nodal.slack_rows(*self._slack(system.mech, q, found))
            return found
        config = system.still.copy()
        for k in range(len(q)):
            config[:-1], one = q[k], slice(k, k + 1)
            nodal.slack_rows(*self._slack(meshed(frozen(system, wrench[k]).mech, config), q[one], found[one]))
        return found

    def samples(self, q: Array, v: Array, wrench: Array) -> Iterator[tuple[Any, tuple[Any, ...]]]:
        """Its kernels and their arguments at a state."""
        yield nodal.solve_at, self._matrix(self.system.mech, q)
        yield nodal.acceleration_side, self._applied(self.system.mech, q, v, wrench, np.zeros_like(q))
        yield nodal.slack_rows, self._slack(self.system.mech, q[None, :-1], np.zeros(1, dtype=np.int64))

    def _slack(self, mech: Mechanism, q: Array, found: IntArray) -> tuple[Any, ...]:
        return mech, self.system.layout, q, self.system.still.copy(), self._rows, self._factors, SLACK, found

    def _matrix(self, mech: Mechanism, q: Array) -> tuple[Any, ...]:
        return mech, self.system.layout, q, self._side, self._rows, self._factors

    def _applied(self, mech: Mechanism, q: Array, v: Array, wrench: Array, result: Array) -> tuple[Any, ...]:
        return mech, q, v, wrench, self._rows, self._rates, result, self._side

    def _solve(self, mech: Mechanism, q: Array) -> tuple[int, Array]:
        return nodal.solve_at(*self._matrix(mech, q))
