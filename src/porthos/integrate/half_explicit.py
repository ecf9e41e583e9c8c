"""Half-explicit Runge-Kutta on mechanisms: `HEDOP5`, the method of Dormand and Prince for G v = 0 (002, Remark 9).

Stage i solves [M G(Q_i)^T; G(Q_(i+1)) 0] (V_i', Lambda_i) = (f_i, ...) so that G(Q_(i+1)) V_(i+1) = 0; all is linear.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import sparse

from porthos.integrate.newton import factorised
from porthos.integrate.scheme import LINEAR, VELOCITY
from porthos.integrate.state_scheme import EmbeddedStep, MechanicalScheme, Step
from porthos.integrate.tableaus import Tableau
from porthos.notation import Array
from porthos.system.constrained import Constrained, split_state

# rows of Dormand and Prince; the seventh is the result, the eighth (Arnold) gives its multipliers
ROWS: tuple[tuple[float, ...], ...] = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
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
LOWER = (5179 / 57600, 0.0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40)  # weights of order 4
STAGES = 7


@cache
def dormand_prince() -> Tableau:
    """The seven stages; the last one is the result and has no weight."""
    A = np.array([[*row, *np.zeros(STAGES - len(row))] for row in ROWS[:STAGES]])
    return Tableau("Dormand and Prince", A, A[-1], A.sum(axis=1), (5, 1, 0))


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
    def order(self) -> int:
        """Of positions and velocities."""
        return 5

    @property
    def preserves(self) -> frozenset[str]:
        """Linear momentum and velocity constraints."""
        return frozenset({LINEAR, VELOCITY})

    @property
    def symmetric(self) -> bool:
        """Explicit methods are not."""
        return False

    @property
    def stiffly_accurate(self) -> bool:
        """A step ends on the constraints of velocities."""
        return True

    def step(
        self,
        system: Constrained,
        h: float,
        x0: Array,
        u: Array | None = None,
        t: float = 0.0,
        before: Step | None = None,
    ) -> EmbeddedStep:
        """One step from x0 = (q, v, lambda). `u` are inputs, or one row for each stage; `before` is not needed."""
        q0, v0, lam0 = split_state(system, x0)
        inputs = self.inputs(system, u)
        n, M = system.n, sparse.csr_array(system.M)
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
            matrix = sparse.block_array([[M, G[i].T], [G[i + 1], None]], format="csr") if system.m else M
            right = np.append(system.force(Q[i], V[i], inputs[i]), -(G[i + 1] @ known) / (h * last))
            solve = factorised(matrix)
            rate, lam = np.split(solve(right), [n])
            rates.append(rate)
            Lambda.append(lam)
        X = np.hstack([Q[:STAGES], V, Lambda])
        change = h * (np.append(ROWS[STAGES - 1], 0.0) - LOWER)
        error = np.concatenate([change @ np.array(V), change @ np.array(rates), np.zeros(system.m)])
        return EmbeddedStep(X[-1], X, np.empty(0), solve, 0, bool(np.isfinite(X[-1]).all()), error)
