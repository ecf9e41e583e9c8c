"""Half-explicit Runge-Kutta: `HEDOP5`, the method of Dormand and Prince for G v + g_t = 0 (002, Remark 9).

Stage i solves [M G(Q_i)^T; G(Q_(i+1)) 0] (V_i', Lambda_i) = (f_i, ...) so that V_(i+1) meets its constraints; all is
linear.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from porthos.integrate.newton import factorised
from porthos.integrate.scheme import LINEAR, VELOCITY
from porthos.integrate.state_scheme import ASTRAY, Begin, EmbeddedStep, MechanicalScheme
from porthos.integrate.tableaus import DORMAND_PRINCE, LOWER, Tableau, dormand_prince
from porthos.system.constrained import saddle_matrix
from porthos.system.motion import motion_of

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
    """The half-explicit method of Dormand and Prince, of order 5; masses must not be zero.

    No equation of a step is nonlinear. Velocity constraints are exact; positions drift by O(h^5). For motions that are
    not stiff.
    """

    embedded_ratio = 5.0

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
        motion, h, inputs = motion_of(at.system), at.h, at.u
        (q0, v0, lam0), n = motion.split(at.x0), motion.n
        times = at.t + h * np.array([sum(row) for row in ROWS])
        Q, V, Lambda = [q0, q0 + h * ROWS[1][0] * v0], [v0], [lam0]
        G = [motion.G(t, q) for t, q in zip(times[:2], Q, strict=True)]
        solve = factorised(motion.inertia(q0, v0))
        rates = [solve(motion.force(at.t, q0, v0, inputs[0]) - G[0].T @ lam0)]
        for i in range(1, STAGES):
            V.append(v0 + h * np.dot(ROWS[i], rates))
            Q.append(q0 + h * np.dot(ROWS[i + 1], V))
            G.append(motion.G(times[i + 1], Q[-1]))
            *earlier, last = ROWS[i + 1]
            missed = motion.rate(times[i + 1], Q[-1], v0 + h * np.dot(earlier, rates))
            right = np.append(motion.force(times[i], Q[i], V[i], inputs[i]), -missed / (h * last))
            solve = factorised(saddle_matrix(motion.inertia(Q[i], V[i]), G[i], G[i + 1]))
            rate, lam = np.split(solve(right), [n])
            rates.append(rate)
            Lambda.append(lam)
        X = np.hstack([Q[:STAGES], V, Lambda])
        change = h * (np.append(ROWS[STAGES - 1], 0.0) - LOWER)
        still = np.zeros(motion.m)  # G (V - V') of the two results tells what V was off by, not how it goes on
        along = solve(np.append(motion.inertia(X[-1, :n], V[-1]) @ (change @ np.array(rates)), still))[:n]
        error = np.concatenate([change @ np.array(V), along, still])
        return EmbeddedStep.explicit(X[-1], X, error, motion.meets(at.t + h, X[-1, :n], ASTRAY))
