"""Small motions of a mechanism about a state of rest, without multipliers: q = q_0 + V eta with G V = 0, V^T M V = I.

eta'' + C eta' + K eta = 0:   K = V^T d(G^T lambda - f)/dq V = diag(omega_i^2) + a skew part from torques,
C = -V^T df/dv V. Exact derivatives, and omega_i^2 from a symmetric problem: a slender beam of steel has frequencies
from one to a million hertz, and the slow ones are those of interest.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eig, eigh

from porthos.errors import PorthosError
from porthos.notation import Array
from porthos.system.equilibrium import FLAT
from porthos.system.mechanical import MechanicalSystem
from porthos.system.nullspace import right_null_space
from porthos.system.ranks import RANK_TOLERANCE

ComplexArray: TypeAlias = NDArray[np.complex128]
NONE = 1e-12  # of a matrix, relative to K: round-off
MASSLESS = 1e-14  # of the largest inertia of a motion: none


def small_motions(system: MechanicalSystem, x: Array, u: Array) -> tuple[ComplexArray, ComplexArray]:
    """Eigenvalues (2f,) at the state of rest x, and shapes (2f, 2n + m) of (q, v, lambda)."""
    q, still, lam = system.split(x)
    G, M = system.G(q).toarray(), system.mass_diagonal
    by_q, by_v = (part.toarray() for part in system.force_tangent(q, still, u))
    stiffness = system.G_stiffness(lam).toarray() - by_q
    P = right_null_space(G, RANK_TOLERANCE)
    K = P.T @ stiffness @ P
    inertia = P.T @ (M[:, None] * P)
    least, largest = np.linalg.eigvalsh(inertia)[[0, -1]] if inertia.size else (1.0, 1.0)
    if least <= MASSLESS * largest:
        raise PorthosError(
            f"modes of '{system.name}': expected inertia against every motion that joints allow, found one without, "
            "such as a rod without thickness that turns about its axis. Give it a small thickness, for example "
            "ph.Cylinder, or hold it by joints."
        )
    squares, vectors = eigh((K + K.T) / 2, inertia)
    V = P @ vectors
    K, C = V.T @ stiffness @ V, -V.T @ by_v @ V
    size = float(np.abs(squares).max(initial=1e-300))
    squares = np.where(np.abs(squares) > FLAT * size, squares, 0.0)
    skew = (K - K.T) / 2
    if np.abs(skew).max(initial=0.0) <= NONE * size and np.abs(C).max(initial=0.0) <= NONE * np.sqrt(size):
        root = np.sqrt(-squares.astype(np.complex128))
        values, eta = np.concatenate([root, -root]), np.tile(np.eye(squares.size), 2)
    else:
        scale = np.sqrt(np.maximum(np.abs(squares), FLAT * size))  # states are (scale eta, eta')
        zero = np.zeros_like(C)
        F = np.block([[zero, np.diag(scale)], [-(np.diag(squares) + skew) / scale, -C]])
        values, vectors = eig(F)
        values = np.where(np.abs(values) > NONE * np.abs(values).max(), values, 0.0)
        eta = vectors[: squares.size] / scale[:, None]
    dq = V @ eta
    dv = dq * values
    left = by_v @ dv - stiffness @ dq - M[:, None] * dv * values  # G^T dlam
    dlam = np.linalg.lstsq(G.T, left, rcond=None)[0]
    return values, np.concatenate([dq, dv, dlam]).T
