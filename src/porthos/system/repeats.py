"""Rows of joints that repeat others at one configuration, the joints concerned, and their multipliers of least norm.

A combination n of rows with n^T G P = 0 gives no force, so multipliers lambda + s n belong to the same motion; those of
least norm have n . lambda = 0. A row that is hardly outside the span of others counts as one of them if asked so:
n . lambda is an error of the state, divided by the square of a singular value.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from porthos.kernels.tables import Mechanism
from porthos.notation import Array, IntArray
from porthos.system.coefficients import reduced_blocks
from porthos.system.constraints import row_vectors
from porthos.system.fronts import rank_and_null_space
from porthos.system.gears import meshed
from porthos.system.mechanical import MechanicalSystem
from porthos.system.ranks import RANK_TOLERANCE, left_null_space

MOST_DENSE = 300  # rows up to which dense matrices are faster
INVOLVED = 1e-8  # share of a row in a combination without force from which it takes part
NOISE = 1e-13  # of combinations
SHIFT = 1e-10  # of J^T J, which is singular where a mechanism can move; refinement undoes it
REFINED, REFINEMENTS = 1e-13, 50


def reduced_rows(mech: Mechanism, q: Array) -> Array:
    """All rows of G P (R, 2, 6), each side by itself."""
    mech = meshed(mech, q)
    return reduced_blocks(q, mech.row.body, mech.form.cu, mech.form.cw, *row_vectors(mech, q, constant=1.0))


def reduced_jacobian(system: MechanicalSystem, q: Array, rows: IntArray) -> Array:
    """Some rows of G P (r, 6 N)."""
    return _spread(system, rows, reduced_rows(system.mech, q)[rows])


def dependences(system: MechanicalSystem, q: Array, tolerance: float = RANK_TOLERANCE) -> sparse.csc_array:
    """A basis (R, d) of the combinations of all rows that give no force; only those of loops have parts.

    What counts as none is told by rows of length one, with turns as lengths at the size of the mechanism.
    """
    rows, everything = system.loop_rows, system.mech.row.size
    if not rows.size:
        return sparse.csc_array((everything, 0))
    blocks = _scaled(system, q, rows)
    if rows.size <= MOST_DENSE:
        null = left_null_space(_spread(system, rows, blocks), tolerance)
    else:
        length = np.linalg.norm(blocks, axis=(1, 2))
        null = rank_and_null_space(_groups(system, rows, blocks), system.mech.body.size, tolerance)[1]
        null /= np.maximum(length, 1e-300)[:, None]
    at, columns = np.nonzero(np.abs(null) > NOISE)
    return sparse.csc_array((null[at, columns], (rows[at], columns)), shape=(everything, null.shape[1]))


def joints_of(system: MechanicalSystem, null: sparse.csc_array, share: float = INVOLVED) -> tuple[int, ...]:
    """The joints whose reactions are not unique because of these combinations."""
    joint, concerned = system.mech.joint, np.zeros(system.mech.row.size, dtype=bool)
    concerned[null.indices[np.abs(null.data) > share]] = True
    return tuple(j for j in range(joint.size) if concerned[joint.first[j] : joint.last[j]].any())


def least_norm(system: MechanicalSystem, q: Array, lam: Array) -> Array:
    """The multipliers of least norm with the forces of `lam`; only those of closed loops can differ."""
    rows, result = system.loop_rows, lam.copy()
    blocks = _scaled(system, q, rows)
    if rows.size <= MOST_DENSE:
        null = left_null_space(_spread(system, rows, blocks))
        result[rows] -= null @ (null.T @ lam[rows])
    else:
        J = _sparse(system, rows, blocks)
        result[rows] = _least(J, J.T @ lam[rows])
    return result


def without(null: sparse.csc_array, lam: Array) -> Array:
    """Multipliers without their part in these combinations."""
    from scipy.sparse.linalg import splu  # takes 0.1 s to load

    return np.asarray(lam - null @ splu((null.T @ null).tocsc()).solve(null.T @ lam))


def _least(J: sparse.csr_array, f: Array) -> Array:
    """lambda = J y of least norm with J^T lambda = f."""
    from scipy.sparse.linalg import splu  # takes 0.1 s to load

    matrix = (J.T @ J).tocsc()
    solve = splu(matrix + SHIFT * matrix.max() * sparse.eye_array(matrix.shape[0], format="csc")).solve
    result = np.zeros(J.shape[0])
    for _ in range(REFINEMENTS):
        more = J @ solve(f - J.T @ result)
        result += more
        if np.abs(more).max() <= REFINED * np.abs(result).max():
            break
    return result


def _scaled(system: MechanicalSystem, q: Array, rows: IntArray) -> Array:
    """Blocks (r, 2, 6) of G P for translations and for turns as lengths; the ground has none."""
    blocks = reduced_rows(system.mech, q)[rows]
    blocks[:, :, 3:] /= system.length
    return np.where((system.mech.row.body[rows] < system.mech.body.size)[:, :, None], blocks, 0.0)


def _spread(system: MechanicalSystem, rows: IntArray, blocks: Array) -> Array:
    """Blocks as rows (r, 6 N)."""
    sides, bodies = system.mech.row.body[rows], system.mech.body.size
    result = np.zeros((rows.size, bodies + 1, 6))
    for s in range(2):
        result[np.arange(rows.size), sides[:, s]] += blocks[:, s]
    return result[:, :-1].reshape(rows.size, -1)


def _sparse(system: MechanicalSystem, rows: IntArray, blocks: Array) -> sparse.csr_array:
    """The same as a sparse matrix."""
    bodies = system.mech.body.size
    columns = 6 * system.mech.row.body[rows][:, :, None] + np.arange(6)
    at = np.broadcast_to(np.arange(rows.size)[:, None, None], blocks.shape)
    entries = blocks.ravel(), (at.ravel(), columns.ravel())
    return sparse.csr_array(sparse.coo_array(entries, shape=(rows.size, 6 * (bodies + 1))))[:, : 6 * bodies]


def _groups(system: MechanicalSystem, rows: IntArray, blocks: Array) -> list[tuple[tuple[int, ...], Array]]:
    """The rows of each joint, at the columns of its bodies."""
    result, bodies = [], system.mech.body.size
    for joint in system.mech.joint:
        at = slice(*np.searchsorted(rows, (joint.first, joint.last)).tolist())
        held = [s for s in range(2) if joint.body[s] < bodies]
        if at.stop > at.start:
            names = tuple(int(joint.body[s]) for s in held)
            result.append((names, np.hstack([blocks[at, s] for s in held])))
    return result
