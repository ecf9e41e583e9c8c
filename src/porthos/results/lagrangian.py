"""The result of `Livens` on a Lagrangian: states, momenta, and the monitors that say how far they belong together.

E = p.v - L is what the scheme conserves; H = dL/dv.v - L is the energy; they differ by (p - dL/dv).v.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from porthos.integrate.livens_march import LivensStates
from porthos.notation import Array
from porthos.results.states import StateTrajectory
from porthos.system.lagrangian_system import LagrangianSystem


class LagrangianTrajectory(StateTrajectory):
    """States (q, v, lambda) with momenta: run.p, run.generalized_energy, run.momentum_gap, and run.H as elsewhere.

    A small error of the generalised energy says nothing of accuracy, since the scheme keeps it by construction: look at
    `momentum_gap`.
    """

    system: LagrangianSystem
    raw: LivensStates

    @property
    def q(self) -> Array:
        """Coordinates (T, n)."""
        return self.x[:, : self.system.n]

    @property
    def v(self) -> Array:
        """Velocities (T, n)."""
        return self.x[:, self.system.n : 2 * self.system.n]

    @property
    def p(self) -> Array:
        """Momenta (T, n)."""
        return self.raw.p

    @cached_property
    def generalized_energy(self) -> Array:
        """p.v - L (T,), eq. (31) of 003."""
        return np.array([p @ v - self.system.terms.L(q, v) for q, v, p in zip(self.q, self.v, self.p, strict=True)])

    @cached_property
    def momentum_gap(self) -> Array:
        """|p - dL/dv| (T,): zero for constant mass matrices, O(h^2) otherwise."""
        Lv = np.array([self.system.terms.Lv(q, v) for q, v in zip(self.q, self.v, strict=True)])
        return np.linalg.norm(self.p - Lv, axis=1)

    @cached_property
    def position_error(self) -> Array:
        """The largest |g_k| (T,)."""
        gaps = [self.system.terms.g(t, q) for t, q in zip(self.t.tolist(), self.q, strict=True)]
        return np.abs(np.array(gaps)).max(axis=1, initial=0.0)

    @property
    def power_balance(self) -> Array:
        """Change of the generalised energy minus what came in plus what was lost (T,); 0 for an exact balance."""
        E = self.generalized_energy
        return np.diff(E, prepend=E[0]) - self.raw.supply.sum(axis=1) + self.raw.dissipated

    def summary(self) -> str:
        """A few lines that say what was computed, and how far p belongs to v."""
        E, H = self.generalized_energy, self.H
        more = [
            f"  p.v - L        {E[0]:.10g} at the start, {E[-1]:.10g} at the end",
            f"  H - (p.v - L)  at most {np.abs(H - E).max():.2e}, |p - dL/dv| at most {self.momentum_gap.max():.2e}",
            f"  constraints    at most {self.position_error.max():.2e}",
        ]
        return "\n".join([super().summary(), *more])
