"""The index-1 form (61) of 001 with inputs: x = (q, v, lambda, gamma), B = [0; B~; 0; G M^-1 B~]."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from porthos.errors import ModelError
from porthos.notation import Array
from porthos.system.formulations import MechanicalForm
from porthos.system.mechanical import MechanicalSystem
from porthos.system.phdae import PHDAE


class GGLForm(MechanicalForm, PHDAE):
    """A mechanical system with constraints on position and velocity level (GGL principle)."""

    system: MechanicalSystem
    title, more, index_of_equations = "GGL", ("gamma",), 1

    def __init__(self, system: MechanicalSystem) -> None:
        require_inertia(system)
        super().__init__(system)

    def J(self, x: Array, t: float = 0.0) -> sparse.csr_array:
        """The skew matrix of (61)."""
        q, v, _, _ = self.split(x)
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

    def flow(self, x: Array, u: Array, t: float = 0.0) -> Array:
        """(q', -p, G q', dG q' - G M^-1 p), q' = v + M^-1 G^T gamma, p = G^T lambda + dG^T gamma - f(q, q', u)."""
        q, v, lam, gamma = self.split(x)
        G, dG, mass = self.system.G(q), self.system.G_rate(v), self.system.mass_diagonal
        rate = v + G.T @ gamma / mass
        p = G.T @ lam + dG.T @ gamma - self.system.force(q, rate, u)
        return np.concatenate([rate, -p, G @ rate, dG @ rate - G @ (p / mass)])

    def z(self, x: Array, t: float = 0.0) -> Array:
        """(grad V, v, lambda, gamma)."""
        x = self.as_state(x)
        return np.concatenate([self.system.z(x[: self.system.dimension]), x[self.system.dimension :]])

    def R(self, x: Array, t: float = 0.0) -> sparse.csr_array:
        """N C N^T with N = [0; I; 0; G M^-1]: dampers feel the true velocity q'."""
        if not self.system.element_names:
            return super().R(x, t)
        q, _, _, _ = self.split(x)
        W = sparse.csr_array(sparse.diags_array(1.0 / self.system.mass_diagonal))
        n, m = self.system.n, self.system.m
        one, zero = sparse.eye_array(n), sparse.csr_array((m, n))
        N = sparse.vstack([sparse.csr_array((n, n)), one, zero, self.system.G(q) @ W])
        return sparse.csr_array(N @ self.system.C(q) @ N.T)

    def B(self, x: Array, t: float = 0.0) -> sparse.csr_array:
        """[0; B~; 0; G M^-1 B~]: the output is then B~^T q', the true velocity of the point of action."""
        q, _, _, _ = self.split(x)
        Bt, G = self.system.Bt(q), self.system.G(q)
        W = sparse.csr_array(sparse.diags_array(1.0 / self.system.mass_diagonal))
        p = Bt.shape[1]
        zero_q, zero_l = sparse.csr_array((self.system.n, p)), sparse.csr_array((self.system.m, p))
        return sparse.csr_array(sparse.vstack([zero_q, Bt, zero_l, G @ W @ Bt]))


def require_inertia(system: MechanicalSystem) -> None:
    """Refuse bodies with a vanishing Euler value: the GGL principle needs the inverse of M."""
    for b in np.flatnonzero(system.mech.body.mass == 0.0):
        raise ModelError(
            f"body '{system.body_names[b]}' has no mass, so the mass matrix has no inverse, which the form (61) needs. "
            "Use ph.MidpointGGL() or ph.Midpoint(), which step it without, or give it a small mass."
        )
    for b in system.rigid:
        if np.any(system.mech.body[b].euler <= 0.0):
            raise ModelError(
                f"body '{system.body_names[b]}' is flat or a rod without thickness (Euler values "
                f"{np.array2string(system.mech.body[b].euler, precision=4)}), so its mass matrix has no inverse, which "
                "the form (61) needs. Use ph.MidpointGGL() or ph.Midpoint(), which step flat bodies without it, or "
                "give the body a small thickness."
            )
