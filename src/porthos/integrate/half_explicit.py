"""Half-explicit Runge-Kutta on mechanisms: `HEDOP5`, the method of Dormand and Prince for G v = 0 (002, Remark 9).

Stage i solves [M G(Q_i)^T; G(Q_(i+1)) 0] (V_i', Lambda_i) = (f_i, ...) so that G(Q_(i+1)) V_(i+1) = 0; all is linear.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from porthos.integrate.newton import factorised
from porthos.integrate.scheme import LINEAR, VELOCITY
from porthos.integrate.state_scheme import Begin, EmbeddedStep, MechanicalScheme
from porthos.integrate.tableaus import DORMAND_PRINCE, LOWER, Tableau, dormand_prince
from porthos.system.constrained import saddle_matrix, split_state

# the stages, of which the last is the result, and a row of Arnold that gives its multipliers
ROWS = (
    *DORMAND_PRINCE,
    (
        -18611506045861 / 19738176307200,
        59332529 / 14479296,
        -2509441598627 / 893904224850,
        2763523204159 / 3289696051200,
        -41262869588913 / 116235927142400,
        46310205821 / 287848404480,
        -3280 / 75413,
    ),
)
STAGES = len(DORMAND_PRINCE)


@dataclass(frozen=True)
class HEDOP5(MechanicalScheme):
    """The half-explicit method of Dormand and Prince, of order 5, on mechanisms; masses must not be zero.

    No equation of a step is nonlinear. Velocity constraints are exact; positions drift by O(h^5). For motions that are
    not stiff.
    """

    @property
    def tableau(self) -> Tableau:
        """Of the stages."""
        return dormand_prince()

    @property
    def preserves(self) -> frozenset[str]:
        """Linear momentum and velocity constraints."""
        return frozenset({LINEAR, VELOCITY})

    def advance(self, at: Begin) -> EmbeddedStep:
        """All stages one after the other; the step before is not needed."""
        system, h, inputs = at.system, at.h, at.u
        q0, v0, lam0 = split_state(system, at.x0)
        n, M = system.n, system.M
        Q, V, Lambda = [q0, q0 + h * ROWS[1][0] * v0], [v0], [lam0]
        G = [system.G(q0), system.G(Q[1])]
        solve = factorised(M)
        rates = [solve(system.force(q0, v0, inputs[0]) - G[0].T @ lam0)]
        for i in range(1, STAGES):
            V.append(v0 + h * np.dot(ROWS[i], rates))
            Q.append(q0 + h * np.dot(ROWS[i + 1], V))
            G.append(system.G(Q[-1]))
            *earlier, last = ROWS[i + 1]
            known = v0 + h * np.dot(earlier, rates)
            right = np.append(system.force(Q[i], V[i], inputs[i]), -(G[i + 1] @ known) / (h * last))
            solve = factorised(saddle_matrix(M, G[i], G[i + 1]))
            rate, lam = np.split(solve(right), [n])
            rates.append(rate)
            Lambda.append(lam)
        X = np.hstack([Q[:STAGES], V, Lambda])
        change = h * (np.append(ROWS[STAGES - 1], 0.0) - LOWER)
        error = np.concatenate([change @ np.array(V), change @ np.array(rates), np.zeros(system.m)])
        return EmbeddedStep.explicit(X[-1], X, error)
