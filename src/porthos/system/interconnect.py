"""Power-preserving interconnection of two pH-DAEs through a transformer, eqs. (38)-(48) of 001.

u_A = T_A lambda,  u_B = -T_B lambda,  T_A^T y_A = T_B^T y_B,  hence  u_A . y_A + u_B . y_B = 0  and

[E_A 0 0; 0 E_B 0; 0 0 0] x' = [J_A 0 B_A T_A; 0 J_B -B_B T_B; -(B_A T_A)^T (B_B T_B)^T 0] (z_A, z_B, lambda) + ports;

with r, R, P, S, N of both systems where they have them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from porthos.errors import PorthosError
from porthos.model import joints as j
from porthos.notation import Array
from porthos.system.descriptor import Matrix
from porthos.system.mechanical import MechanicalSystem
from porthos.system.phdae import PHDAE

Transformer = Callable[[Array, Array], tuple[Array, Array]]


class Interconnection(PHDAE):
    """Two pH-DAEs joined through one port of each; again a pH-DAE, with H = H_A + H_B."""

    def __init__(self, a: PHDAE, b: PHDAE, port_a: str, port_b: str, transformer: Transformer, rows: int) -> None:
        self.a, self.b, self.rows = a, b, rows
        self.name = f"{a.name} + {b.name}"
        self._inner_a, self._inner_b = a.port(port_a), b.port(port_b)
        self._outer_a = {name: place for name, place in a.ports.items() if name != port_a}
        self._outer_b = {name: place for name, place in b.ports.items() if name != port_b}
        self.transformer = transformer

    @property
    def dimension(self) -> int:
        """Number of states (x_A, x_B, lambda)."""
        return self.a.dimension + self.b.dimension + self.rows

    @property
    def blocks(self) -> Mapping[str, slice]:
        """Parts of both systems, and the multipliers of the connection."""
        n = self.a.dimension
        result = {f"{self.a.name}: {k}": s for k, s in self.a.blocks.items()}
        result |= {f"{self.b.name}: {k}": slice(n + s.start, n + s.stop) for k, s in self.b.blocks.items()}
        result["interconnection"] = slice(n + self.b.dimension, self.dimension)
        return result

    @property
    def ports(self) -> Mapping[str, slice]:
        """The ports that stay open; a name that both systems have gets the name of its system in front."""
        result: dict[str, slice] = {}
        at = 0
        for system, outer, others in ((self.a, self._outer_a, self._outer_b), (self.b, self._outer_b, self._outer_a)):
            for name, place in outer.items():
                width = place.stop - place.start
                result[f"{system.name}: {name}" if name in others else name] = slice(at, at + width)
                at += width
        return result

    @property
    def sources(self) -> Mapping[str, Any]:
        """What the systems feed themselves, by the names that their ports have here."""
        fed = {**self.a.sources, **self.b.sources}
        both = set(self._outer_a) & set(self._outer_b)
        named = {f"{s.name}: {k}": u for s in (self.a, self.b) for k, u in s.sources.items() if k in both}
        return {name: source for name, source in (fed | named).items() if name in self.ports}

    def split(self, x: Array) -> tuple[Array, Array, Array]:
        """(x_A, x_B, lambda) of a state."""
        x = self.as_state(x)
        n, m = self.a.dimension, self.b.dimension
        return x[:n], x[n : n + m], x[n + m :]

    def internal_ports(self, xa: Array, xb: Array, t: float = 0.0) -> tuple[Array, Array]:
        """The port matrices B_A T_A and B_B T_B of the connection."""
        Ta, Tb = self.transformer(xa, xb)
        return self.a.B(xa, t)[:, self._inner_a] @ Ta, self.b.B(xb, t)[:, self._inner_b] @ Tb

    def H(self, x: Array, t: float = 0.0) -> float:
        """H_A + H_B."""
        xa, xb, _ = self.split(x)
        return self.a.H(xa, t) + self.b.H(xb, t)

    def E(self, x: Array, t: float = 0.0) -> Matrix:
        """diag(E_A, E_B, 0)."""
        xa, xb, _ = self.split(x)
        parts = [sparse.csr_array(self.a.E(xa, t)), sparse.csr_array(self.b.E(xb, t))]
        return sparse.csr_array(sparse.block_diag([*parts, sparse.csr_array((self.rows, self.rows))]))

    def z(self, x: Array, t: float = 0.0) -> Array:
        """(z_A, z_B, lambda)."""
        xa, xb, lam = self.split(x)
        return np.concatenate([self.a.z(xa, t), self.b.z(xb, t), lam])

    def r(self, x: Array, t: float = 0.0) -> Array:
        """(r_A, r_B, 0)."""
        xa, xb, _ = self.split(x)
        return np.concatenate([self.a.r(xa, t), self.b.r(xb, t), np.zeros(self.rows)])

    def Gamma(self, x: Array, t: float = 0.0) -> sparse.csr_array:
        """K_A^T Gamma_A K_A + K_B^T Gamma_B K_B, where K_A (z_A, z_B, lambda, u) = (z_A, u_A); skew as they are."""
        xa, xb, _ = self.split(x)
        return self._joined(xa, xb, self.a.Gamma(xa, t), self.b.Gamma(xb, t))

    def W(self, x: Array, t: float = 0.0) -> sparse.csr_array:
        """K_A^T W_A K_A + K_B^T W_B K_B, >= 0 as they are."""
        xa, xb, _ = self.split(x)
        return self._joined(xa, xb, self.a.W(xa, t), self.b.W(xb, t))

    def J(self, x: Array, t: float = 0.0) -> sparse.csr_array:
        """The coupled structure matrix of (44a), skew."""
        return self.Gamma(x, t)[: self.dimension, : self.dimension]

    def R(self, x: Array, t: float = 0.0) -> sparse.csr_array:
        """diag(R_A, R_B, 0), and what the connection takes from feed-through."""
        return self.W(x, t)[: self.dimension, : self.dimension]

    def B(self, x: Array, t: float = 0.0) -> sparse.csr_array:
        """Columns of the ports that stay open."""
        return self.Gamma(x, t)[: self.dimension, self.dimension :]

    def P(self, x: Array, t: float = 0.0) -> sparse.csr_array:
        """Dissipative columns of the ports that stay open."""
        return self.W(x, t)[: self.dimension, self.dimension :]

    def N(self, x: Array, t: float = 0.0) -> sparse.csr_array:
        """Conservative feed-through of the ports that stay open."""
        return self.Gamma(x, t)[self.dimension :, self.dimension :]

    def S(self, x: Array, t: float = 0.0) -> sparse.csr_array:
        """Dissipative feed-through of the ports that stay open."""
        return self.W(x, t)[self.dimension :, self.dimension :]

    def flow(self, x: Array, u: Array, t: float = 0.0) -> Array:
        """(f_A, f_B, T_B^T y_B - T_A^T y_A) with the inputs of both: what the matrices give, without making them."""
        xa, xb, lam = self.split(x)
        Ta, Tb = self.transformer(xa, xb)
        open_a = sum(s.stop - s.start for s in self._outer_a.values())
        ua = _inputs(self.a, self._inner_a, self._outer_a, Ta @ lam, u[:open_a])
        ub = _inputs(self.b, self._inner_b, self._outer_b, -Tb @ lam, u[open_a:])
        gap = Tb.T @ self.b.y(xb, ub, t)[self._inner_b] - Ta.T @ self.a.y(xa, ua, t)[self._inner_a]
        return np.concatenate([self.a.flow(xa, ua, t), self.b.flow(xb, ub, t), gap])

    def _joined(self, xa: Array, xb: Array, A: sparse.csr_array, B: sparse.csr_array) -> sparse.csr_array:
        """K_A^T A K_A + K_B^T B K_B."""
        Ta, Tb = self.transformer(xa, xb)
        n, m, outer = self.a.dimension, self.b.dimension, self.dimension
        Ka = self._routing(self.a, self._inner_a, self._outer_a, Ta, 0, outer)
        open_a = sum(s.stop - s.start for s in self._outer_a.values())
        Kb = self._routing(self.b, self._inner_b, self._outer_b, -Tb, n, outer + open_a)
        assert Ka.shape[1] == Kb.shape[1] == n + m + self.rows + self.width
        return sparse.csr_array(Ka.T @ A @ Ka + Kb.T @ B @ Kb)

    def _routing(
        self, system: PHDAE, inner: slice, outer: Mapping[str, slice], T: Array, state: int, first: int
    ) -> sparse.csr_array:
        """K with K (z_A, z_B, lambda, u) = (z, u) of one system, whose states and open inputs begin where told."""
        n, lam = system.dimension, self.a.dimension + self.b.dimension
        K = sparse.lil_array((n + system.width, self.dimension + self.width))
        K[np.arange(n), state + np.arange(n)] = 1.0
        K[n + inner.start : n + inner.stop, lam : lam + self.rows] = T
        for place in outer.values():
            columns = np.arange(place.start, place.stop)
            K[n + columns, first + np.arange(columns.size)] = 1.0
            first += columns.size
        return K.tocsr()


def _inputs(system: PHDAE, inner: slice, outer: Mapping[str, slice], inside: Array, outside: Array) -> Array:
    """The inputs of a system whose inner port gets `inside` and whose open ports get `outside`, in their order."""
    u, at = np.zeros(system.width), 0
    u[inner] = inside
    for place in outer.values():
        u[place] = outside[at : at + place.stop - place.start]
        at += place.stop - place.start
    return u


def interconnect(
    a: PHDAE, b: PHDAE, ports: tuple[str, str], through: j.Joint | Transformer | None = None, rows: int | None = None
) -> Interconnection:
    """Join system `a` and system `b` through one port of each.

    `through` is a joint (both systems are then single rigid bodies with wrench ports at their centres of mass), a
    function (x_a, x_b) -> (T_A, T_B) with its number of `rows`, or None: equal outputs, opposite inputs, eq. (41).
    """
    port_a, port_b = ports
    if isinstance(through, j.Joint):
        pair = KinematicPair(a, b, through)
        return Interconnection(a, b, port_a, port_b, pair, pair.rows)
    widths = [s.stop - s.start for s in (a.port(port_a), b.port(port_b))]
    if through is not None:
        if rows is None:
            raise PorthosError("interconnect: a transformer needs rows=, the number of its columns.")
        return Interconnection(a, b, port_a, port_b, through, rows)
    if widths[0] != widths[1]:
        raise PorthosError(
            f"interconnect: port '{port_a}' of '{a.name}' has {widths[0]} inputs, port '{port_b}' of '{b.name}' has "
            f"{widths[1]}; they must be equal, or give a transformer."
        )
    identity = np.eye(widths[0])
    return Interconnection(a, b, port_a, port_b, lambda xa, xb: (identity, identity), widths[0])


class KinematicPair:
    """The transformer of a joint between two single bodies with wrench ports at their centres of mass.

    A row blocks a translation n at the coincident point x_B (force n on B, -n on A, both acting there) or a
    rotation about a x b (torque). On rigid velocities  -T_A^T y_A + T_B^T y_B = G_J v  row by row, eq. (48).
    """

    def __init__(self, a: PHDAE, b: PHDAE, joint: j.Joint) -> None:
        for system in (a, b):
            if not isinstance(system, MechanicalSystem) or len(system.body_names) != 1 or not system.rigid.size:
                raise PorthosError(
                    f"interconnect: {joint.where} joins two single rigid bodies; '{system.name}' is not one."
                )
        self.joint = joint
        self.rows = sum(row.count for row in joint.rows)
        self._start = [s.initial_arrays()[0][0] for s in (a, b) if isinstance(s, MechanicalSystem)]

    def _fixed(self, side: int, world: Array, q: Array) -> Array:
        """A world vector at the start, fixed in a body, at the configuration q (4, 3)."""
        return (self._start[side][1:] @ world) @ q[1:]

    def _point(self, side: int, world: Array, q: Array) -> Array:
        """A world point at the start, fixed in a body, at the configuration q (4, 3)."""
        return q[0] + self._fixed(side, world - self._start[side][0], q)

    def __call__(self, xa: Array, xb: Array) -> tuple[Array, Array]:
        """T_A and T_B (6, rows) at two states."""
        qa, qb = xa[:12].reshape(4, 3), xb[:12].reshape(4, 3)
        rows: list[tuple[Array, Array]] = []  # force at the coincident point, torque
        zero = np.zeros(3)
        at = zero
        for row in self.joint.rows:
            match row:
                case j.Coincide(_, point_b):
                    at = self._point(1, point_b, qb)
                    rows += [(e, zero) for e in np.eye(3)]
                case j.InPlane(normal, _, point_b):
                    at = self._point(1, point_b, qb)
                    rows.append((self._fixed(0, normal, qa), zero))
                case j.Distance(point_a, point_b, _):
                    at = self._point(1, point_b, qb)
                    rows.append((at - self._point(0, point_a, qa), zero))
                case j.Angle(vector_a, vector_b):
                    axis = np.cross(self._fixed(0, vector_a, qa), self._fixed(1, vector_b, qb))
                    rows.append((zero, -axis))
        F, tau = (np.array(part) for part in zip(*rows, strict=True))
        return (
            np.hstack([F, np.cross(at - qa[0], F) + tau]).T,
            np.hstack([F, np.cross(at - qb[0], F) + tau]).T,
        )
