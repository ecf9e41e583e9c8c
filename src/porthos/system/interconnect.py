"""Power-preserving interconnection of any number of pH-DAEs through named ports; again a pH-DAE, H = H_1 + H_2 + ...

Connected ports obey u = K y + T lambda, 0 = T^T y with K skew. With v = (z, lambda, u_open), (z, u) = L v for the parts
side by side and y = Y v for connected outputs, the whole has
Gamma = L^T Gamma_parts L - Y^T K Y,   W = L^T W_parts L,   E = diag(E_1, E_2, ..., 0),
skew and >= 0 as those of the parts are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import NoneType
from typing import Any

import numpy as np
from scipy import sparse

from porthos.errors import StructureError, nearest
from porthos.notation import Array
from porthos.system.connections import Connection
from porthos.system.descriptor import ANALYTIC, Matrix, dense
from porthos.system.phdae import PHDAE
from porthos.system.wiring import Port, Wire, block_diagonal, indices, places, port_called, require_open

SMALL = 400  # states up to which E is dense: sparse ones of this size only cost time


class Interconnection(PHDAE):
    """pH-DAEs whose ports are connected; states are (x_1, x_2, ..., lambda). Made by `interconnect`."""

    def __init__(self, parts: Mapping[str, PHDAE], connections: Sequence[Connection], name: str) -> None:
        self.parts, self.name = dict(parts), name
        self._systems = tuple(self.parts.values())
        self._x = places([system.dimension for system in self._systems])
        self._u = places([system.width for system in self._systems])
        self._all = self._named_ports()
        self._wires = self._connected(connections)
        self.rows = sum(wire.law.rows for wire in self._wires)
        joined = {port.name for wire in self._wires for port in wire.ports}
        self._open = [port for port in self._all if port.name not in joined]
        self._inner = indices(port.place for wire in self._wires for port in wire.ports)
        self._outer = indices(port.place for port in self._open)
        self._fixed_law: tuple[Array, Array] | None = None
        if all(wire.law.constant for wire in self._wires):
            self._fixed_law = self.law(np.zeros(self.dimension))

    def __repr__(self) -> str:
        parts = ", ".join(f"'{part}'" for part in self.parts)
        return f"Interconnection('{self.name}': {parts} by {len(self._wires)} connections, {self.dimension} states)"

    # --- names and places

    def _named_ports(self) -> list[Port]:
        """All ports of all parts; a name that two parts have gets the name of its part in front."""
        names = [name for system in self._systems for name in system.ports]
        ports = []
        for k, ((part, system), place) in enumerate(zip(self.parts.items(), self._u, strict=True)):
            for name, own in system.ports.items():
                full = name if names.count(name) == 1 else f"{part}: {name}"
                ports.append(Port(full, name, k, slice(place.start + own.start, place.start + own.stop)))
        return ports

    def _connected(self, connections: Sequence[Connection]) -> list[Wire]:
        wires: list[Wire] = []
        taken: dict[str, str] = {}
        at = sum(system.dimension for system in self._systems)
        for connection in connections:
            label = connection.label
            if label in {wire.label for wire in wires}:
                raise StructureError(f"interconnect: two connections are named '{label}'; give each a name of its own.")
            ports = tuple(port_called(name, self._all, list(self.parts), label) for name in connection.ports)
            for port in ports:
                require_open(port, self._systems[port.part], label)
                if port.name in taken:
                    raise StructureError(
                        f"connection '{label}': port '{port.name}' is taken by connection '{taken[port.name]}'. Give "
                        "the system a second port there, or join all three by one Relation."
                    )
                taken[port.name] = label
            law = connection.law([self._systems[port.part] for port in ports], [port.width for port in ports])
            wires.append(Wire(label, ports, law, slice(at, at + law.rows)))
            at += law.rows
        return wires

    @property
    def dimension(self) -> int:
        """Number of states (x_1, x_2, ..., lambda)."""
        return sum(system.dimension for system in self._systems) + self.rows

    @cached_property
    def blocks(self) -> Mapping[str, slice]:
        """States of all parts with the name of the part in front, then the multipliers of the connections."""
        result = {}
        for (part, system), place in zip(self.parts.items(), self._x, strict=True):
            for name, own in system.blocks.items():
                result[f"{part}: {name}"] = slice(place.start + own.start, place.start + own.stop)
        return result | {wire.label: wire.place for wire in self._wires if wire.law.rows}

    @cached_property
    def ports(self) -> Mapping[str, slice]:
        """The ports that stay open; a name that two parts have gets the name of its part in front."""
        own = places([port.width for port in self._open])
        return {port.name: place for port, place in zip(self._open, own, strict=True)}

    @cached_property
    def sources(self) -> Mapping[str, Any]:
        """What the parts feed themselves, by the names that their ports have here."""
        fed = [(port, self._systems[port.part].sources) for port in self._open]
        return {port.name: sources[port.own] for port, sources in fed if port.own in sources}

    @property
    def drives(self) -> tuple[Any, ...]:
        """Those of the parts."""
        return tuple(drive for system in self._systems for drive in getattr(system, "drives", ()))

    @cached_property
    def connections(self) -> Mapping[str, tuple[str, ...]]:
        """Name of each connection and of the ports it joins; those within a part have its name in front."""
        own = {wire.label: tuple(port.name for port in wire.ports) for wire in self._wires}
        return own | {
            f"{part}: {label}": tuple(f"{part}: {port}" for port in ports)
            for part, system in self.parts.items()
            if isinstance(system, Interconnection)
            for label, ports in system.connections.items()
        }

    @cached_property
    def inner_ports(self) -> tuple[str, ...]:
        """The connected ports, then those within each part: of its connections, or its force elements."""
        own = [port.name for wire in self._wires for port in wire.ports]
        return (*own, *(f"{part}: {port}" for part, system in self.parts.items() for port in system.inner_ports))

    # --- states

    def initial_state(self) -> Array:
        """The initial states of the parts, moved by impulses of the connections where they contradict these."""
        parts = [system.initial_state() for system in self._systems]
        return self.consistent(np.concatenate([*parts, np.zeros(self.rows)]))

    def split(self, x: Array) -> tuple[list[Array], Array]:
        """The states of the parts, and lambda."""
        x = self.as_state(x)
        return [x[place] for place in self._x], x[self.dimension - self.rows :]

    def part_place(self, name: str) -> slice:
        """The place of the states of one part."""
        if name not in self.parts:
            raise StructureError(f"'{self.name}' has no part '{name}'. {nearest(name, self.parts)}")
        return self._x[list(self.parts).index(name)]

    def part_state(self, name: str, x: Array) -> Array:
        """The state of one part."""
        return self.as_state(x)[self.part_place(name)]

    def part_ports(self, name: str) -> dict[str, str]:
        """The ports of one part by their own names, and how they are called here."""
        return {port.own: port.name for port in self._all if port.part == list(self.parts).index(name)}

    def law(self, x: Array) -> tuple[Array, Array]:
        """K (p, p) and T (p, rows) of all connections, between the p connected inputs and outputs."""
        if self._fixed_law is not None:
            return self._fixed_law
        states, _ = self.split(x)
        laws = [wire.law.at([states[port.part] for port in wire.ports]) for wire in self._wires]
        return block_diagonal([K for K, _ in laws]), block_diagonal([T for _, T in laws])

    def _exchange(self, x: Array, u: Array, t: float, z: Array | None = None) -> tuple[list[Array], list[Array], Array]:
        """States and inputs of the parts, and all their outputs: (1 - K D) u = K y_0 + T lambda at connected ports."""
        states, lam = self.split(x)
        lam = lam if z is None else z[self._x[-1].stop :]
        K, T = self.law(x)
        every = np.zeros(self._u[-1].stop)
        every[self._outer] = u
        every[self._inner] = T @ lam
        if K.any():
            every[self._inner] = 0.0
            free = self._outputs(states, every, t, z)
            D = self._through(states, t)[:, self._inner]
            inner = np.linalg.solve(np.eye(len(K)) - K @ D[self._inner], K @ free[self._inner] + T @ lam)
            every[self._inner] = inner
            outputs = free + D @ inner
        else:
            outputs = self._outputs(states, every, t, z)
        return states, [every[place] for place in self._u], outputs

    def _outputs(self, states: list[Array], every: Array, t: float, z: Array | None) -> Array:
        if z is None:
            each = zip(self._systems, states, self._u, strict=True)
            return np.concatenate([system.y(x, every[place], t) for system, x, place in each])
        parts = zip(self._systems, states, self._x, strict=True)
        free = [s.B(xi, t).T @ z[place] + s.P(xi, t).T @ z[place] for s, xi, place in parts]
        return np.concatenate(free) + self._through(states, t) @ every

    def _through(self, states: list[Array], t: float) -> Array:
        """S - N of the parts side by side."""
        each = zip(self._systems, states, strict=True)
        return block_diagonal([system.through(x, t) for system, x in each])

    def inputs(self, x: Array, u: Array, t: float = 0.0) -> list[Array]:
        """The inputs of all parts when the open ports get u."""
        return self._exchange(x, u, t)[1]

    def _side_by_side(self, states: list[Array], matrix: Callable[[PHDAE, Array], Matrix]) -> sparse.csr_array:
        parts = [sparse.csr_array(matrix(system, x)) for system, x in zip(self._systems, states, strict=True)]
        return sparse.csr_array(sparse.block_diag(parts, format="csr"))

    # --- the pH-DAE

    def H(self, x: Array, t: float = 0.0) -> float:
        """H_1 + H_2 + ..."""
        states, _ = self.split(x)
        return sum(system.H(xi, t) for system, xi in zip(self._systems, states, strict=True))

    def E(self, x: Array, t: float = 0.0) -> Matrix:
        """diag(E_1, E_2, ..., 0)."""
        states, _ = self.split(x)
        parts = [system.E(xi, t) for system, xi in zip(self._systems, states, strict=True)]
        none = np.zeros((self.rows, self.rows))
        if self.dimension <= SMALL:
            return block_diagonal([*map(dense, parts), none])
        return sparse.csr_array(sparse.block_diag([*parts, none], format="csr"))

    def z(self, x: Array, t: float = 0.0) -> Array:
        """(z_1, z_2, ..., lambda)."""
        states, lam = self.split(x)
        return np.concatenate([*(s.z(xi, t) for s, xi in zip(self._systems, states, strict=True)), lam])

    def r(self, x: Array, t: float = 0.0) -> Array:
        """(r_1, r_2, ..., 0)."""
        states, _ = self.split(x)
        return np.concatenate([*(s.r(xi, t) for s, xi in zip(self._systems, states, strict=True)), np.zeros(self.rows)])

    def Gamma(self, x: Array, t: float = 0.0) -> sparse.csr_array:
        """L^T Gamma_parts L - Y^T K Y, skew as those of the parts."""
        states, _ = self.split(x)
        L, Y = self._routing(x, t)
        K, _ = self.law(x)
        J, B, N = (self._letter(states, letter, t) for letter in "JBN")
        parts = sparse.block_array([[J, B], [-B.T, N]], format="csr")
        return sparse.csr_array(L.T @ parts @ L - Y.T @ sparse.csr_array(K) @ Y)

    def W(self, x: Array, t: float = 0.0) -> sparse.csr_array:
        """L^T W_parts L, >= 0 as those of the parts."""
        states, _ = self.split(x)
        L, _ = self._routing(x, t)
        R, P, S = (self._letter(states, letter, t) for letter in "RPS")
        return sparse.csr_array(L.T @ sparse.block_array([[R, P], [P.T, S]], format="csr") @ L)

    def _letter(self, states: list[Array], letter: str, t: float) -> sparse.csr_array:
        return self._side_by_side(states, lambda system, xi: getattr(system, letter)(xi, t))

    def _routing(self, x: Array, t: float) -> tuple[sparse.csr_array, sparse.csr_array]:
        """L with (z, u) = L (z, lambda, u_open) for the parts side by side, and Y: the connected outputs."""
        states, _ = self.split(x)
        K, T = self.law(x)
        n, w, m = self._x[-1].stop, self._u[-1].stop, self.dimension
        D = sparse.csr_array(self._through(states, t)[self._inner])
        outer = sparse.csr_array(
            (np.ones(len(self._outer)), (self._outer, m + np.arange(len(self._outer)))), (w, m + self.width)
        )
        C = sparse.lil_array((len(K), m + self.width))  # connected outputs while connected inputs are zero
        C[:, :n] = self._side_by_side(states, lambda s, xi: s.B(xi, t) + s.P(xi, t)).T[self._inner]
        C = sparse.csr_array(C) + D @ outer
        F = K @ C.toarray()
        F[:, n:m] += T
        F = np.linalg.solve(np.eye(len(K)) - K @ dense(D[:, self._inner]), F)
        into = sparse.csr_array((np.ones(len(self._inner)), (self._inner, np.arange(len(self._inner)))), (w, len(K)))
        states_only = sparse.eye_array(n, m + self.width)
        L = sparse.vstack([states_only, outer + into @ sparse.csr_array(F)], format="csr")
        return sparse.csr_array(L), sparse.csr_array(C + D[:, self._inner] @ sparse.csr_array(F))

    def J(self, x: Array, t: float = 0.0) -> sparse.csr_array:
        """The coupled structure matrix, skew."""
        return self.Gamma(x, t)[: self.dimension, : self.dimension]

    def R(self, x: Array, t: float = 0.0) -> sparse.csr_array:
        """diag(R_1, R_2, ..., 0), and what the connections take from feed-through."""
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

    @property
    def storages(self) -> tuple[tuple[slice, PHDAE], ...]:
        """Those of the parts: what a part stores is its own affair, also in a discrete gradient."""
        return tuple(
            (slice(at.start + place.start, at.start + place.stop), storage)
            for at, system in zip(self._x, self._systems, strict=True)
            for place, storage in system.storages
        )

    # --- what the matrices give, from the parts themselves

    def flow(self, x: Array, u: Array, t: float = 0.0) -> Array:
        """(f_1, f_2, ..., -T^T y) with the inputs of the parts."""
        states, inputs, outputs = self._exchange(x, u, t)
        flows = [s.flow(xi, ui, t) for s, xi, ui in zip(self._systems, states, inputs, strict=True)]
        return np.concatenate([*flows, -self.law(x)[1].T @ outputs[self._inner]])

    def response(self, x: Array, e: Array, t: float = 0.0) -> Array:
        """(J - R) e from the parts: their own responses, and what the connections answer to e."""
        states, inputs, outputs = self._exchange(x, np.zeros(self.width), t, e)
        each = zip(self._systems, states, self._x, inputs, strict=True)
        flows = [s.response(xi, e[at], t) + (s.B(xi, t) - s.P(xi, t)) @ ui for s, xi, at, ui in each]
        return np.concatenate([*flows, -self.law(x)[1].T @ outputs[self._inner]])

    def y(self, x: Array, u: Array | None = None, t: float = 0.0) -> Array:
        """Outputs of the open ports."""
        return self._exchange(x, np.zeros(self.width) if u is None else u, t)[2][self._outer]

    def dissipation(self, x: Array, u: Array, t: float = 0.0) -> float:
        """What all parts lose."""
        states, inputs, _ = self._exchange(x, u, t)
        return sum(s.dissipation(xi, ui, t) for s, xi, ui in zip(self._systems, states, inputs, strict=True))

    def inner_power(self, x: Array, u: Array, t: float = 0.0, z: Array | None = None) -> Array:
        """The power into the parts through each of `inner_ports`; over a connection its sum is zero."""
        states, inputs, outputs = self._exchange(x, u, t, z)
        costates = [None if z is None else z[place] for place in self._x]
        power = outputs * np.concatenate(inputs)
        own = [float(power[port.place].sum()) for wire in self._wires for port in wire.ports]
        each = zip(self._systems, states, inputs, costates, strict=True)
        deeper = [system.inner_power(xi, ui, t, zi) for system, xi, ui, zi in each]
        return np.concatenate([own, *deeper])

    def tangent(self, x: Array, rate: Array, u: Array, t: float = 0.0) -> Matrix:
        """From the derivatives of the parts; by differences if a connection depends on the state."""
        if self._fixed_law is None:
            return super().tangent(x, rate, u, t)
        states, inputs, _ = self._exchange(x, u, t)
        (K, T), D = self._fixed_law, self._through(states, t)[np.ix_(self._inner, self._inner)]
        each = list(zip(self._systems, states, self._x, inputs, strict=True))
        A = block_diagonal([dense(s.tangent(xi, rate[place], ui, t)) for s, xi, place, ui in each])
        C = block_diagonal([s.output_slope(xi, ui, t) for s, xi, _, ui in each])[self._inner]
        B = block_diagonal([dense(s.B(xi, t) - s.P(xi, t)) for s, xi, _, _ in each])[:, self._inner]
        inner = np.linalg.solve(np.eye(len(K)) - K @ D, np.hstack([K @ C, T]))  # du/d(x, lambda)
        outputs = D @ inner
        outputs[:, : A.shape[1]] += C
        A = np.hstack([A, np.zeros((len(A), self.rows))])
        return np.vstack([A - B @ inner, T.T @ outputs])

    def weights(self, h: float) -> Array:
        """Those of the parts."""
        return np.concatenate([*(system.weights(h) for system in self._systems), np.ones(self.rows)])

    @property
    def tangent_cost(self) -> int:
        """As much as those of the parts, unless a connection depends on the state."""
        if self._fixed_law is None:
            return super().tangent_cost
        return max(ANALYTIC, *(system.tangent_cost for system in self._systems))


def interconnect(
    *systems: PHDAE | Mapping[str, PHDAE],
    through: Connection | Sequence[Connection],
    name: str | None = None,
) -> Interconnection:
    """Join systems `through` connections of their ports: Transformer, Gyrator, Feedback, Relation or KinematicPair.

    A port is called by its name, with the name of its system and a colon in front where two systems have the same:
    'motor: shaft'. Systems with equal names, or one that takes part twice, are given as {name: system}.
    """
    parts: dict[str, PHDAE] = {}
    for given in systems:
        for key, system in given.items() if isinstance(given, Mapping) else ((getattr(given, "name", "?"), given),):
            if not isinstance(system, PHDAE):
                hint = " Assemble the model first: model.assemble()." if hasattr(system, "assemble") else ""
                raise StructureError(f"interconnect: expected pH-DAEs, found {given!r}.{hint}")
            if key in parts:
                raise StructureError(f"interconnect: two systems are named '{key}'; give them as {{name: system}}.")
            parts[key] = system
    if not parts:
        raise StructureError("interconnect: there is no system to join.")
    connections = [through] if isinstance(through, Connection) else through
    if not (isinstance(connections, Sequence) and all(isinstance(each, Connection) for each in connections)):
        raise StructureError(
            "interconnect: through: expected connections such as ph.Feedback('motor', 'shaft'), or a list of them, "
            f"found {through!r}."
        )
    if not isinstance(name, str | NoneType):
        raise StructureError(f"interconnect: name: expected a text, found {name!r}.")
    return Interconnection(parts, connections, name or " + ".join(parts))
