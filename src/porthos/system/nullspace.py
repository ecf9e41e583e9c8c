"""Null-space reduction of linear pH-DAEs, 004, eq. (33): multipliers and the directions they block are left out.

E x' = (J - R) z + (B - P) u, z = Q x. The left null space of E is Q N with E N = 0, since E^T Q is symmetric.
Multipliers are Z_0 = Q N_0 in z, where N^T Q^T (J - R) Q N vanishes; constraints are G z = 0 with G = Z_0^T J. With
orthonormal U and V, range U = null [G; Z_0^T], range V = null [G Q; N_0^T], and x = V w:
U^T E V w' = U^T (J - R) U (U^T Q V) w + U^T (B - P) u,   H = 1/2 w^T V^T E^T Q V w.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from porthos.errors import StructureError
from porthos.notation import Array
from porthos.system.descriptor import NO_RATE, dense
from porthos.system.general import LinearPHDAE
from porthos.system.ranks import RANK_TOLERANCE


class ReducedPHDAE(LinearPHDAE):
    """A linear pH-DAE without multipliers; `lift` and `project` go to and from the states of the full one."""

    def __init__(self, full: LinearPHDAE) -> None:
        self.full = full
        U, self.basis = admissible_directions(full)
        J, R, E, B, P, S, N = (dense(getattr(full, letter)(full.rest)) for letter in "JREBPSN")
        J, R = U.T @ J @ U, U.T @ R @ U
        super().__init__(
            f"{full.name} (reduced)",
            J=(J - J.T) / 2,  # they are skew and symmetric up to round-off
            R=(R + R.T) / 2,
            Q=U.T @ full.Q @ self.basis,
            E=U.T @ E @ self.basis,
            B=U.T @ B,
            P=U.T @ P,
            S=S,
            N=N,
            states={f"w{k}": 1 for k in range(self.basis.shape[1])},
            ports={name: place.stop - place.start for name, place in full.ports.items()},
        )

    def initial_state(self) -> Array:
        """The initial state of the full system."""
        return self.project(self.full.initial_state())

    def lift(self, w: Array) -> Array:
        """x = rest + V w (..., n): the state of the full system; its multipliers are left zero."""
        return self.full.rest + np.asarray(w) @ self.basis.T

    def project(self, x: Array) -> Array:
        """w = V^T (x - rest) (..., k)."""
        return (np.asarray(x) - self.full.rest) @ self.basis


def admissible_directions(system: LinearPHDAE) -> tuple[Array, Array]:
    """U and V (n, k), orthonormal: what the constraints allow of z and of x, without multipliers."""
    Q = system.Q
    J, R, E, B, P = (dense(getattr(system, letter)(system.rest)) for letter in "JREBP")
    N = right_null_space(E, NO_RATE)
    size = float(np.abs(J - R).max(initial=0.0) * np.abs(Q @ N).max(initial=0.0) ** 2)
    N0 = N @ right_null_space((Q @ N).T @ (J - R) @ Q @ N, RANK_TOLERANCE, size)
    Z0 = Q @ N0
    gap = np.abs(Z0.T @ (B - P))
    if gap.max(initial=0.0) > RANK_TOLERANCE * max(1.0, float(np.abs(B).max(initial=0.0))):
        port = system.port_of(int(np.argmax(gap.max(axis=0))))
        raise StructureError(
            f"'{system.name}' cannot be reduced: port '{port}' acts on a constraint, so what is allowed depends on its "
            "input. Leave this port away."
        )
    U, V = (right_null_space(np.vstack(rows), RANK_TOLERANCE) for rows in ((Z0.T @ J, Z0.T), (Z0.T @ J @ Q, N0.T)))
    if U.shape != V.shape:
        raise StructureError(
            f"'{system.name}' cannot be reduced: Q is singular where constraints act; they leave {U.shape[1]} "
            f"directions of z = Q x, but {V.shape[1]} of x."
        )
    return U, V


def right_null_space(A: Array, tolerance: float, size: float = 0.0) -> Array:
    """An orthonormal basis (n, k) of the null space of A (m, n), by QR of A^T with pivoting.

    Rows count as zero below the tolerance times the largest entry of R, or times `size` if that is larger.
    """
    if A.shape[0] == 0 or A.shape[1] == 0:
        return np.eye(A.shape[1])
    basis, triangle, _ = qr(A.T, pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    return basis[:, int(np.sum(diagonal > tolerance * max(1e-300, size, float(diagonal.max())))) :]
