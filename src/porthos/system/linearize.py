"""Linearisation about a state, E dx' = A dx + B du, as a linear pH-DAE where it is one, and its finite eigenvalues.

A = d/dx (f - E x') = (J - R) Q with E^T Q = Q^T E:   Q = dz/dx + dQ, where dQ comes from derivatives of J, R and B;
for a mechanism at rest dQ is the stiffness of its reactions, d(G^T lambda)/dq.
"""

from __future__ import annotations

import numpy as np

from porthos.errors import StructureError
from porthos.notation import Array
from porthos.system.check import precise_jacobian
from porthos.system.descriptor import NO_RATE, Descriptor, dense
from porthos.system.general import LinearPHDAE
from porthos.system.nullspace import right_null_space
from porthos.system.phdae import PHDAE

FITS = 1e-7  # relative defect of the structure up to which derivatives by differences count as right
SAME = 1e-9  # singular value of scaled rows that counts as zero


def pencil(system: Descriptor, x: Array, u: Array, t: float = 0.0) -> tuple[Array, Array]:
    """E and A of E dx' = A dx at any state; the derivative of f is that of differences, exact up to degree four."""
    E = dense(system.E(x, t)).astype(np.float64)
    rate: Array = np.asarray(np.linalg.lstsq(E, system.flow(x, u, t), rcond=NO_RATE)[0], dtype=np.float64)
    return E, -precise_jacobian(lambda at: system.residual(at, rate, u, t), x)


def linearised(system: PHDAE, x: Array, u: Array, t: float = 0.0) -> LinearPHDAE:
    """The linear pH-DAE of small deviations from x, with x as its state of rest; its inputs are deviations from u.

    It exists at states of rest, and anywhere if J, R, B, P and E are constant. Elsewhere, such as in steady rotation, a
    linearisation need not have a Hamiltonian; then an error says which equation has none, and `pencil` gives E and A.
    """
    E, A = pencil(system, x, u, t)
    J, R, B, P, S, N = (dense(getattr(system, letter)(x, t)) for letter in "JRBPSN")
    Q = precise_jacobian(lambda at: system.z(at, t), x)
    size = max(1.0, float(np.abs(A).max()))
    left = A - (J - R) @ Q
    if np.abs(left).max() > SAME * size:
        columns, values, _ = np.linalg.svd(E)
        columns = columns[:, values > NO_RATE * values.max(initial=0.0)]  # dQ has no part on algebraic equations
        Q = Q + columns @ np.linalg.lstsq((J - R) @ columns, left, rcond=None)[0]
        _require(system, "A = (J - R) Q", A - (J - R) @ Q, size)
    energy = E.T @ Q
    _require(system, "E^T Q symmetric", energy - energy.T, max(1.0, float(np.abs(energy).max())))
    Q = Q - np.linalg.lstsq(E.T, (energy - energy.T) / 2, rcond=NO_RATE)[0]
    return LinearPHDAE(
        f"{system.name} (linearised)",
        J=J, Q=Q, R=R, E=E, B=B, P=P, S=S, N=N, rest=x, initial=x,
        states={name: place.stop - place.start for name, place in system.blocks.items()},
        ports={name: place.stop - place.start for name, place in system.ports.items()},
    )  # fmt: skip


def _require(system: PHDAE, what: str, gap: Array, size: float) -> None:
    i, j = np.unravel_index(int(np.argmax(np.abs(gap))), gap.shape)
    if abs(gap[i, j]) > FITS * size:
        raise StructureError(
            f"'{system.name}' has no linear pH-DAE at this state: {what} fails by {abs(gap[i, j]):.3g} in entry "
            f"({i}, {j}), block ({system.block_of(int(i))}, {system.block_of(int(j))}). Linearise at a state of rest, "
            "or take E and A from `pencil` and eigenvalues from `modes`."
        )


def finite_part(E: Array, A: Array) -> tuple[Array, Array]:
    """F (k, k) and Z (n, k): the solutions of E x' = A x are x = Z w, w' = F w; algebraic states and index are gone.

    As long as E is singular its left null space L gives L^T A x = 0, so x = Z w; states in neither E nor A, such as
    multipliers of redundant constraints, are set to zero.
    """
    Z = np.eye(E.shape[1])
    for _ in range(E.shape[1] + 1):
        scale = 1.0 / np.maximum(np.linalg.norm(np.hstack([E, A]), axis=1, keepdims=True), 1e-300)
        E, A = scale * E, scale * A
        seen = _row_space(np.vstack([E, A]))
        E, A, Z = E @ seen, A @ seen, Z @ seen
        left, values, _ = np.linalg.svd(E)
        rank = int(np.sum(values > SAME))
        if rank == E.shape[1]:
            kept = left[:, :rank].T
            return np.asarray(np.linalg.solve(kept @ E, kept @ A), dtype=np.float64), Z
        free = right_null_space(_unit_rows(left[:, rank:].T @ A), SAME)
        kept = left[:, :rank].T
        E, A, Z = kept @ E @ free, kept @ A @ free, Z @ free
    raise StructureError("the linearised equations are singular: some state is not determined by them.")


def _row_space(A: Array) -> Array:
    _, values, right = np.linalg.svd(A, full_matrices=False)
    return right[values > SAME * max(1e-300, float(values.max(initial=0.0)))].T


def _unit_rows(A: Array) -> Array:
    return A / np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-300)
