"""Force elements of a mechanism: their energy V_e(q), and the forces -grad V_e - C(q) v with all derivatives.

Rows g_r(q) with laws (`kernels/elements.py`): grad V_e = G_e^T lam(g), C = G_e^T D G_e with D = dlam/dg' >= 0.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.polynomial import polynomial
from scipy import sparse

from porthos.kernels import nodal
from porthos.kernels.elements import element_energies, law_states, respond
from porthos.kernels.tables import BEGIN, FACTORS, LENGTH, LINES, MIDDLE, PIECES, TURN, Mechanism, RowVectors
from porthos.notation import Array, IntArray
from porthos.system.blockwise import Term, blockwise, pattern, refilled, scaled, times_turned, turned
from porthos.system.constraints import ConstraintRows
from porthos.system.descriptor import Matrix

if TYPE_CHECKING:
    from porthos.system.mechanical import MechanicalSystem


class Response(NamedTuple):
    """What all rows do at one state."""

    G: sparse.csr_array  # (R, n)
    rate: sparse.csr_array  # d(G v)/dq (R, n)
    lam: Array  # (R,) multipliers
    K: sparse.csr_array  # dlam/dg (R, R)
    D: sparse.csr_array  # dlam/dg' (R, R)


class Elements:
    """The elements of a mechanism, whose tables hold nothing else; coordinates are those at `slots`."""

    def __init__(self, mech: Mechanism, names: tuple[str, ...], slots: IntArray) -> None:
        self.mech, self.names, self.slots = mech, names, slots
        self._rows = ConstraintRows(mech, np.zeros(0, dtype=np.int64), slots)
        count = mech.row.size
        shapes = ((count, 3), (count, 3), (count, 2, 3), (count, 2, 3))
        self._vectors, self._rates = (RowVectors(*(np.zeros(shape) for shape in shapes)) for _ in range(2))
        second = np.zeros(count, dtype=np.int64)  # 1: the second row of an angle
        for r in range(1, count):
            angle = mech.law[mech.row[r].law].measure == TURN
            second[r] = angle and mech.row[r].law == mech.row[r - 1].law and not second[r - 1]
        self.steppings: dict[tuple[float, int], Any] = {}  # by size of the step and threads, see `system/stepping.py`
        self._pair = (np.arange(count) - second)[:, None] + np.arange(2)  # the rows on which a row depends
        rows, columns = self._inside = np.nonzero(self._pair < count)
        pointers = np.searchsorted(rows, np.arange(count + 1))
        self._places = pattern(sparse.csr_array, self._pair[rows, columns], pointers, (count, count))

    def __len__(self) -> int:
        return len(self.names)

    def energies(self, q: Array, still: Array, angle: Array | None = None) -> Array:
        """What each element stores (T, E) at the states q (T, N, 4, 3), with angles nearest to `angle` (T, F)."""
        return element_energies(self.mech, len(self), q, self._about(angle, len(q)), still)

    def _about(self, angle: Array | None, states: int) -> Array:
        """Near which angles are: those of the tables, if no others are known."""
        return np.repeat(self.mech.law.about[None], states, axis=0) if angle is None else angle

    def about(self, angle: Array) -> Elements:
        """The same elements with angles nearest to these (F,), for states that do not tell how often a joint turned."""
        result, law = copy(self), self.mech.law.copy()
        law.about[:] = angle
        result.mech = self.mech._replace(law=law)
        return result

    def count_turns(self, q: Array) -> None:
        """Let angles be nearest to those at q (N+1, 4, 3) from now on; of elements that belong to one run."""
        if self.turns:
            (s,), _ = self.states(q[None, :-1], np.zeros_like(q)[None, :-1], np.zeros((1, 0)), q)
            self.mech.law.about[:] = np.where(self.mech.law.measure == TURN, s, 0.0)

    @property
    def turns(self) -> bool:
        """Whether there are angles, which states know up to whole turns."""
        return bool(np.any(self.mech.law.measure == TURN))

    @property
    def rubs(self) -> bool:
        """Whether there is friction, which depends on the forces of joints."""
        return bool(np.any(self.mech.law.friction > 0.0))

    def grips(self, lam: Array) -> Array:
        """mu N (..., F) of all laws with the multipliers (..., R) of the joints."""
        result = np.zeros((*lam.shape[:-1], self.mech.law.size))
        for n, law in enumerate(self.mech.law):
            result[..., n] = law.friction * np.linalg.norm(lam[..., slice(*law.pressing)], axis=-1)
        return result

    def states(self, q: Array, v: Array, lam: Array, still: Array, angle: Array | None = None) -> tuple[Array, Array]:
        """Measures and forces (T, F) of all laws at the states q, v (T, N, 4, 3), lam (T, R) of the joints.

        Angles are those nearest to `angle` (T, F).
        """
        return law_states(self.mech, q, v, self.grips(lam), self._about(angle, len(q)), still)

    @cached_property
    def ranges(self) -> dict[int, tuple[float, float]]:
        """Laws that are potentials, and from where to where they are made."""
        law, piece = self.mech.law, self.mech.piece
        return {
            n: (float(law[n].rest), float(law[n].rest + piece[law[n].pieces[1] - 1, BEGIN]))
            for n in np.flatnonzero(law.form == PIECES).tolist()
        }

    def strayed(self, q: Array) -> bool:
        """Whether a potential is beyond its range at q (N+1, 4, 3)."""
        return bool(self.ranges) and any(room < 0.0 for room in self._rooms(q).values())

    def near_its_end(self, q: Array, v: Array, h: float, angle: Array | None = None) -> str:
        """A sentence on the potential that is nearest to an end of its range, now or h later; angles are near these."""
        known = self if angle is None else self.about(angle)
        now, later = known._rooms(q), known._rooms(q + h * v)
        n = min(now, key=lambda k: min(now[k], later[k]))
        name = self.names[next(e for e in range(len(self)) if n in self.laws_of(e))]
        (s,), _ = known.states(q[None, :-1], v[None, :-1], np.zeros((1, 0)), q)
        least, most = self.ranges[n]
        return f"'{name}' is made for {least:.6g} <= s <= {most:.6g}; the last state has s = {s[n]:.6g}."

    def _rooms(self, q: Array) -> dict[int, float]:
        """How far each potential is from the nearer end of its range, in units of that range."""
        (s,), _ = self.states(q[None, :-1], np.zeros_like(q)[None, :-1], np.zeros((1, 0)), q)
        return {n: min(s[n] - least, most - s[n]) / (most - least) for n, (least, most) in self.ranges.items()}

    def laws_of(self, index: int) -> IntArray:
        """The laws of one element."""
        joint = self.mech.joint[index]
        return np.unique(self.mech.row.law[joint.first : joint.last]).astype(np.int64)

    def multipliers(self, q: Array, v: Array, lam: Array | None = None) -> Array:
        """Those (R,) of all rows; friction with those of the joints, lam, none without them."""
        return self._multipliers(q, v, lam)[0]

    def add_forces(self, q: Array, v: Array, x: Array, lam: Array | None = None) -> None:
        """Add forces and torques on the bodies to the momentum rows of x."""
        nodal.subtract_reactions(self.mech, self.multipliers(q, v, lam), self._vectors, x)

    def losses(self, q: Array, v: Array) -> Array:
        """The power (E,) that each element takes, g'^T D g'."""
        response, joint = self.respond(q, v), self.mech.joint
        rate = response.G @ v.reshape(-1)[self.slots]
        power = np.append(rate * (response.D @ rate), 0.0)
        return np.add.reduceat(power, joint.first)[: joint.size] if joint.size else np.zeros(0)

    def slopes(self, q: Array, v: Array) -> tuple[Array, Array]:
        """|dlam/dg| and dlam/dg' (R,) of all rows; of pieces the largest slope at their ends counts."""
        _, K, D = self._multipliers(q, v)
        stiffness = np.abs(K).max(axis=1)
        for r, n in enumerate(self.mech.row.law):
            if self.mech.law[n].form in (LINES, PIECES):
                steepest = self._steepest(n)
                square = 2.0 * self._value(r) if self.mech.law[n].measure == LENGTH else 1.0
                stiffness[r] = max(stiffness[r], steepest / square)
        return stiffness, np.abs(D).max(axis=1)

    def _steepest(self, n: int) -> float:
        """The largest slope of the pieces of law n, where they begin and at their middles."""
        piece = self.mech.piece[slice(*self.mech.law[n].pieces)]
        slopes = polynomial.polyder(piece[:, FACTORS:].T)
        at = piece[:, BEGIN] - piece[:, MIDDLE]
        at[0] = 0.0  # goes on without end
        return float(np.abs([polynomial.polyval(y, slopes, tensor=False) for y in (at, np.zeros_like(at))]).max())

    def _value(self, r: int) -> float:
        return float(self._vectors.u[r] @ self._vectors.w[r])

    def gradient(self, q: Array) -> Array:
        """grad V_e (n,)."""
        return -self.force(q, np.zeros_like(q))

    def damping(self, q: Array) -> sparse.csr_array:
        """C (n, n), symmetric and >= 0."""
        response = self.respond(q, np.zeros_like(q))
        return sparse.csr_array(response.G.T @ response.D @ response.G)

    def force(self, q: Array, v: Array) -> Array:
        """-grad V_e - C v (n,)."""
        return -self._rows.pulls(q.reshape(-1)[None, self.slots], self.multipliers(q, v)[None])[0]

    def tangent(self, q: Array, v: Array) -> tuple[Matrix, Matrix]:
        """Derivatives of `force` with respect to q and v, -(G^T (K G + D d(G v)/dq) + d(G^T lam)/dq) and -G^T D G."""
        r = self.respond(q, v)
        G, rate = turned(r.G), turned(r.rate)
        stiff, lost = times_turned(r.K, G), times_turned(r.D, rate)  # at the same places
        by_g = times_turned(G, turned(refilled(stiff, stiff.data + lost.data)))
        by_q = blockwise(G.shape[0], [Term(0, 0, -1.0, [by_g]), Term(0, 0, -1.0, [self._rows.stiffness(r.lam)])])
        return by_q, scaled(-1.0, times_turned(G, turned(times_turned(r.D, G))))

    def respond(self, q: Array, v: Array) -> Response:
        """Rows, multipliers and slopes at kernel arrays q, v (N+1, 4, 3)."""
        lam, K, D = self._multipliers(q, v)
        G = self._rows.jacobian(q.reshape(-1)[self.slots])
        rate = self._rows.jacobian(v.reshape(-1)[self.slots], constant=0.0)
        return Response(G, rate, lam, self._square(K), self._square(D))

    def _multipliers(self, q: Array, v: Array, joints: Array | None = None) -> tuple[Array, Array, Array]:
        count = self.mech.row.size
        grips = np.zeros(self.mech.law.size) if joints is None else self.grips(joints)
        g, rate, lam, K, D = (np.zeros((count, *more)) for more in ((), (), (), (2,), (2,)))
        nodal.row_values(self.mech, q, v, self._vectors, self._rates, g, rate)
        respond(self.mech, grips, g, rate, lam, K, D)
        return lam, K, D

    def _square(self, pairs: Array) -> sparse.csr_array:
        """The matrix (R, R) of derivatives of each row with respect to those on which it depends."""
        return refilled(self._places, pairs[self._inside])


def wound(system: MechanicalSystem, angles: Array) -> MechanicalSystem:
    """The system with force elements whose angles are nearest to these (F,), see `Elements.about`."""
    if not (system.element_names and system.elements.turns):
        return system
    result = copy(system)
    for name in ("ggl", "motion"):  # made from the system
        result.__dict__.pop(name, None)
    result.__dict__["elements"] = system.elements.about(angles)
    return result
