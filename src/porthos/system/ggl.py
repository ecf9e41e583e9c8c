"""The index-1 form (61) of 001 with inputs: x = (q, v, lambda, gamma), B = [0; B~; 0; G M^-1 B~]."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy import sparse

from porthos.errors import ModelError
from porthos.notation import Array
from porthos.system.mechanical import MechanicalSystem
from porthos.system.phdae import PHDAE


class GGLForm(PHDAE):
    """A mechanical system with constraints on position and velocity level (GGL principle)."""

    def __init__(self, system: MechanicalSystem) -> None:
        require_inertia(system)
        self.system = system
        self.name = f"{system.name} (GGL)"

    @property
    def dimension(self) -> int:
        """Number of states (q, v, lambda, gamma)."""
        return 2 * self.system.n + 2 * self.system.m

    @property
    def ports(self) -> Mapping[str, slice]:
        """The ports of the mechanical system."""
        return self.system.ports

    @property
    def blocks(self) -> Mapping[str, slice]:
        """Parts of the state; gamma is one block."""
        return {**self.system.blocks, "gamma": slice(self.system.dimension, self.dimension)}

    def _parts(self, x: Array) -> tuple[Array, Array]:
        return x[: self.system.n], x[self.system.n : 2 * self.system.n]

    def H(self, x: Array) -> float:
        """Kinetic plus potential energy."""
        return self.system.H(self.as_state(x)[: self.system.dimension])

    def E(self, x: Array) -> sparse.csr_array:
        """diag(I, M, 0, 0)."""
        zero = sparse.csr_array((self.system.m, self.system.m))
        return sparse.csr_array(sparse.block_diag([self.system.E(x[: self.system.dimension]), zero]))

    def J(self, x: Array) -> sparse.csr_array:
        """The skew matrix of (61)."""
        q, v = self._parts(self.as_state(x))
        G, dG = self.system.G(q), self.system.G_rate(v)
        W = sparse.csr_array(sparse.diags_array(1.0 / self.system.mass_diagonal))
        one = sparse.eye_array(self.system.n)
        GWG = G @ W @ G.T
        J44 = dG @ W @ G.T - G @ W @ dG.T
        rows = [
            [None, one, None, W @ G.T],
            [-one, None, -G.T, -dG.T],
            [None, G, None, GWG],
            [-G @ W, dG, -GWG, J44],
        ]
        return sparse.csr_array(sparse.block_array(rows, format="csr"))

    def z(self, x: Array) -> Array:
        """(grad V, v, lambda, gamma)."""
        x = self.as_state(x)
        return np.concatenate([self.system.z(x[: self.system.dimension]), x[self.system.dimension :]])

    def B(self, x: Array) -> sparse.csr_array:
        """[0; B~; 0; G M^-1 B~]: the output is then B~^T q', the true velocity of the point of action."""
        q, _ = self._parts(self.as_state(x))
        Bt, G = self.system.Bt(q), self.system.G(q)
        W = sparse.csr_array(sparse.diags_array(1.0 / self.system.mass_diagonal))
        p = Bt.shape[1]
        zero_q, zero_l = sparse.csr_array((self.system.n, p)), sparse.csr_array((self.system.m, p))
        return sparse.csr_array(sparse.vstack([zero_q, Bt, zero_l, G @ W @ Bt]))


def require_inertia(system: MechanicalSystem) -> None:
    """Refuse bodies with a vanishing Euler value: the GGL principle needs the inverse of M."""
    for b in system.rigid:
        if np.any(system.mech.body[b].euler <= 0.0):
            raise ModelError(
                f"body '{system.body_names[b]}' is flat or a rod without thickness (Euler values "
                f"{np.array2string(system.mech.body[b].euler, precision=4)}), so its mass matrix has no inverse, which "
                "the GGL principle needs. Use ph.Midpoint(), or give the body a small thickness."
            )
