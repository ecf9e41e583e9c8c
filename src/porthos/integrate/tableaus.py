"""Runge-Kutta tableaus of any number of stages, computed from what defines them, and tested by it.

B(p): sum_i b_i c_i^(k-1) = 1/k,  C(p): sum_j a_ij c_j^(k-1) = c_i^k/k,
D(p): sum_i b_i c_i^(k-1) a_ij = b_j (1 - c_j^k)/k,  each for k = 1 .. p        (simplifying assumptions of Butcher).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.polynomial import legendre

from porthos.errors import PorthosError
from porthos.notation import Array

ROUND_OFF = 1e-12  # defect of an assumption that counts as zero
DORMAND_PRINCE: tuple[tuple[float, ...], ...] = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
LOWER = (5179 / 57600, 0.0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40)  # its weights of order 4


@dataclass(frozen=True, eq=False)
class Tableau:
    """Coefficients A (s, s), b (s,), c (s,), and the assumptions B(p), C(q), D(r) that they claim to meet."""

    name: str
    A: Array
    b: Array
    c: Array
    claims: tuple[int, int, int]

    def __post_init__(self) -> None:
        for letter, defect, claimed in zip("BCD", (self.B, self.C, self.D), self.claims, strict=True):
            if not defect(claimed) <= ROUND_OFF:
                raise PorthosError(
                    f"tableau {self.name}: {letter}({claimed}) should hold but is off by {defect(claimed):.1e}."
                )

    @property
    def stages(self) -> int:
        """Number of stages s."""
        return self.b.size

    def B(self, p: int) -> float:
        """The largest defect of B(p): quadrature with (b, c) is exact for polynomials of degree p - 1."""
        return max((float(abs(self.b @ self.c ** (k - 1) - 1 / k)) for k in range(1, p + 1)), default=0.0)

    def C(self, p: int) -> float:
        """The largest defect of C(p): stages are exact for solutions of degree p."""
        gaps = [np.abs(self.A @ self.c ** (k - 1) - self.c**k / k).max() for k in range(1, p + 1)]
        return float(max(gaps, default=0.0))

    def D(self, p: int) -> float:
        """The largest defect of D(p), with which C carries the order of B over to the method."""
        b, c = self.b, self.c
        gaps = [np.abs((b * c ** (k - 1)) @ self.A - b * (1 - c**k) / k).max() for k in range(1, p + 1)]
        return float(max(gaps, default=0.0))

    @cached_property
    def symmetric(self) -> bool:
        """Whether the method is its own adjoint: a_(s+1-i)(s+1-j) + a_ij = b_j."""
        return bool(np.abs(self.A[::-1, ::-1] + self.A - self.b).max() <= ROUND_OFF)

    @cached_property
    def stiffly_accurate(self) -> bool:
        """Whether the last stage is the result: a_sj = b_j, c_s = 1."""
        return bool(np.abs(self.A[-1] - self.b).max() <= ROUND_OFF)

    @cached_property
    def algebraic_stability(self) -> Array:
        """m_ij = b_i a_ij + b_j a_ji - b_i b_j: zero if quadratic invariants are kept, >= 0 if they can only fall."""
        BA = self.b[:, None] * self.A
        return BA + BA.T - np.outer(self.b, self.b)

    @cached_property
    def conserving(self) -> bool:
        """Whether quadratic invariants are kept exactly."""
        return bool(np.abs(self.algebraic_stability).max() <= ROUND_OFF)

    def weights(self, theta: float) -> Array:
        """b(theta) of the dense output x0 + h sum_j b_j(theta) x_j': Lagrange polynomials integrated up to theta."""
        return _integrals(np.array([theta]), self.c)[0]


@cache
def gauss(stages: int) -> Tableau:
    """Collocation at the roots of the Legendre polynomial: order 2s."""
    c = (1 + legendre.leggauss(stages)[0]) / 2
    return _collocation(f"Gauss({stages})", c, (2 * stages, stages, stages))


def composed(base: Tableau, fractions: tuple[float, ...], order: int) -> Tableau:
    """Steps of a method one after the other, each with one of these parts of the size."""
    gamma, s = np.array(fractions), base.stages
    b, begin = np.kron(gamma, base.b), np.cumsum(gamma) - gamma
    A: Array = np.asarray(np.kron(np.diag(gamma), base.A), dtype=np.float64)
    for k in range(s, b.size, s):
        A[k : k + s, :k] = b[:k]
    c = np.repeat(begin, s) + np.kron(gamma, base.c)
    return Tableau(f"{base.name}, composed", A, b, c, (order, min(1, base.claims[1]), 0))


@cache
def radau_iia(stages: int) -> Tableau:
    """Collocation at 1 and the roots of the Jacobi polynomial P^(1,0): order 2s - 1."""
    c = np.append(_jacobi_roots(stages - 1, 1.0, 0.0), 1.0)
    return _collocation(f"RadauIIA({stages})", c, (2 * stages - 1, stages, stages - 1))


@cache
def lobatto_iiic(stages: int) -> Tableau:
    """Lobatto quadrature (nodes 0, 1 and the roots of P^(1,1)) with C(s - 1) and a_i1 = b_1: order 2s - 2.

    Not a collocation method: its first stage is not the state at the start.
    """
    c = _lobatto_nodes(stages)
    b = _integrals(np.array([1.0]), c)[0]
    # rows a_i: s - 1 conditions of C(s - 1), in Legendre polynomials, and a_i1 = b_1
    values = legendre.legvander(2 * c - 1, stages - 2).T
    right = _legendre_integrals(c, stages - 1).T - np.outer(values[:, 0], np.full(stages, b[0]))
    A = np.column_stack([np.full(stages, b[0]), np.linalg.solve(values[:, 1:], right).T])
    return Tableau(f"LobattoIIIC({stages})", A, b, c, (2 * stages - 2, stages - 1, stages - 1))


@cache
def lobatto_iiia(stages: int) -> Tableau:
    """Collocation at the Lobatto points: order 2s - 2; the first stage is the start, the last one the result."""
    return _collocation(f"LobattoIIIA({stages})", _lobatto_nodes(stages), (2 * stages - 2, stages, stages - 2))


@cache
def lobatto_iiib(stages: int) -> Tableau:
    """The symplectic partner of Lobatto IIIA: b_i a_ij + b_j a^_ji = b_i b_j; its last column is zero."""
    first = lobatto_iiia(stages)
    A = first.b * (1 - first.A.T / first.b[:, None])
    A[:, -1] = 0.0
    return Tableau(f"LobattoIIIB({stages})", A, first.b, first.c, (2 * stages - 2, stages - 2, stages))


@cache
def dormand_prince() -> Tableau:
    """Seven explicit stages of order 5; the last one is the result and has no weight."""
    A = np.array([[*row, *np.zeros(7 - len(row))] for row in DORMAND_PRINCE])
    return Tableau("Dormand and Prince", A, A[-1], A.sum(axis=1), (5, 1, 0))


@dataclass(frozen=True, eq=False)
class MuruaPair:
    """Gauss stages with constraints at the Lobatto points c- > 0: X-_i = x0 + h sum_j a-_ij X_j' (000, 6.3.1).

    z1 = gamma_0 z0 + sum_i gamma_i Z_i continues the algebraic variables by the polynomial through 0 and the stages.
    """

    gauss: Tableau
    A: Array  # (s, s) a-_ij
    c: Array  # (s,) c-_i, the last one is 1
    gamma: Array  # (s + 1,)

    def __post_init__(self) -> None:
        s, nodes = self.gauss.stages, self.gauss.c
        powers = [np.append(0.0, nodes) ** k for k in range(s + 1)]
        defects = {
            f"C-({s + 1})": [self.A @ nodes ** (k - 1) - self.c**k / k for k in range(1, s + 2)],
            "the last row = b": [self.A[-1] - self.gauss.b],
            f"gamma on polynomials of degree {s}": [np.array(self.gamma @ power - 1) for power in powers],
        }
        for name, gaps in defects.items():
            largest = max(float(np.abs(gap).max()) for gap in gaps)
            if not largest <= ROUND_OFF:
                raise PorthosError(f"pair of Murua({s}): {name} should hold but is off by {largest:.1e}.")


@cache
def murua(stages: int) -> MuruaPair:
    """The pair of Murua with Gauss and Lobatto points: order 2s."""
    first, ends = gauss(stages), _lobatto_nodes(stages + 1)[1:]
    values = legendre.legvander(2 * np.append(0.0, first.c) - 1, stages)
    gamma = np.asarray(np.linalg.solve(values.T, np.ones(stages + 1)), dtype=np.float64)  # all P_k are 1 at the end
    return MuruaPair(first, _integrals(ends, first.c), ends, gamma)


def _lobatto_nodes(stages: int) -> Array:
    """0, 1 and the roots of P^(1,1)."""
    return np.concatenate([[0.0], _jacobi_roots(stages - 2, 1.0, 1.0), [1.0]])


def _jacobi_roots(degree: int, alpha: float, beta: float) -> Array:
    """The roots of P^(alpha, beta), moved from [-1, 1] to [0, 1]."""
    from scipy.special import roots_jacobi  # loaded with the first tableau, not with every mechanism

    return (1 + roots_jacobi(degree, alpha, beta)[0]) / 2 if degree > 0 else np.zeros(0)


def _collocation(name: str, c: Array, claims: tuple[int, int, int]) -> Tableau:
    """a_ij = integral of l_j from 0 to c_i, b_j from 0 to 1; eqs. (5.4), (5.5) of 000."""
    return Tableau(name, _integrals(c, c), _integrals(np.array([1.0]), c)[0], c, claims)


def _integrals(ends: Array, c: Array) -> Array:
    """Integrals (len(ends), s) from 0 to each end of the Lagrange polynomials with nodes c."""
    values = legendre.legvander(2 * c - 1, c.size - 1)  # sum_j l_j(x) P_k(c_j) = P_k(x)
    return np.asarray(np.linalg.solve(values.T, _legendre_integrals(ends, c.size).T).T, dtype=np.float64)


def _legendre_integrals(ends: Array, count: int) -> Array:
    """Integrals (len(ends), count) from 0 to each end of the Legendre polynomials on [0, 1]."""
    coefficients = [legendre.legint(row, lbnd=-1) / 2 for row in np.eye(count)]
    return np.column_stack([legendre.legval(2 * ends - 1, row) for row in coefficients])
