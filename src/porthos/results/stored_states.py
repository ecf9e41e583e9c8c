"""Runs over states that were read from a file: all that was recorded, without the functions of their system."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import PorthosError, Status, is_among, nearest
from porthos.integrate.events import Occurrence
from porthos.integrate.recording import States
from porthos.integrate.tableaus import gauss
from porthos.notation import Array, IntArray
from porthos.results.states import ConnectionView, StateTrajectory
from porthos.system.descriptor import Descriptor, Matrix

PLACES = "places"  # the attribute that says what belongs where
OF_LINKS = {"power": "link_power", "work": "link_work"}


class StoredSystem(Descriptor):
    """What a file knows of a system: its name, its states and ports. Its functions are in no file."""

    def __init__(self, name: str, places: Mapping[str, Any]) -> None:
        self.name = name
        self._blocks, self._ports = (
            {key: slice(*place) for key, place in places[part].items()} for part in ("blocks", "ports")
        )

    @property
    def dimension(self) -> int:
        """Number of states."""
        return max((place.stop for place in self._blocks.values()), default=0)

    @property
    def blocks(self) -> Mapping[str, slice]:
        """Name of each part of the state and its place."""
        return self._blocks

    @property
    def ports(self) -> Mapping[str, slice]:
        """Name of each port and its columns of B."""
        return self._ports

    def _refuse(self) -> NoReturn:
        raise PorthosError(
            f"system '{self.name}' was read from a file, which holds states and balances and no functions. Make the "
            "system again to evaluate or to simulate it."
        )

    def H(self, x: Array, t: float = 0.0) -> float:
        """In no file."""
        self._refuse()

    def E(self, x: Array, t: float = 0.0) -> Matrix:
        """In no file."""
        self._refuse()

    def flow(self, x: Array, u: Array, t: float = 0.0) -> Array:
        """In no file."""
        self._refuse()

    def y(self, x: Array, u: Array | None = None, t: float = 0.0) -> Array:
        """In no file."""
        self._refuse()

    def dissipation(self, x: Array, u: Array, t: float = 0.0) -> float:
        """In no file."""
        self._refuse()


class StoredConnection(ConnectionView):
    """One connection of a run in a file."""

    def __init__(self, run: StoredStates, name: str) -> None:
        self._run, self.ports = run, tuple(run.connections[name])
        self._columns = {port: run.links.index(f"{name}.{port}") for port in self.ports}

    @cached_property
    def power(self) -> dict[str, Array]:
        """Power into its system through each port at the recorded times (T,); NaN where the inputs are."""
        return self._through("power")

    @property
    def work(self) -> dict[str, Array]:
        """Energy that entered its system through each port since the start (T,)."""
        return self._through("work")

    def _through(self, attribute: str) -> dict[str, Array]:
        assert isinstance(self._run, StoredStates)
        values = self._run.kept[OF_LINKS[attribute]]
        return {port: values[:, k] for port, k in self._columns.items()}


class StoredStates(StateTrajectory):
    """A run over states from a file: it plots, reports, exports and compares. Mechanisms within it do not move."""

    system: StoredSystem

    def __init__(
        self, system: StoredSystem, raw: States, scheme: str, kept: Mapping[str, Array], places: Mapping[str, Any]
    ) -> None:
        super().__init__(system, raw, scheme)
        self.kept, self._places = kept, places  # kept: what would need the functions of the system
        self.links: list[str] = places["links"]

    def _with(self, raw: States, rows: IntArray) -> Self:
        kept = {name: values[rows] for name, values in self.kept.items()}
        return type(self)(self.system, raw, self.scheme, kept, self._places)

    @property
    def H(self) -> Array:
        """The Hamiltonian (T,)."""
        return self.kept["H"]

    @property
    def recomputes(self) -> bool:
        """Whether the file has `multipliers`."""
        return "multipliers" in self.kept

    @property
    def multipliers(self) -> Array:
        """Multipliers (T, m) of a Lagrangian with constraints, as they were recomputed when the file was written."""
        if not self.recomputes:
            raise PorthosError(
                f"the file of '{self.system.name}' has no recomputed multipliers: expected the run of a Lagrangian "
                f"with constraints. States are as the method gave them: run[...], one of {list(self.system.blocks)}."
            )
        return self.kept["multipliers"]

    @property
    def connections(self) -> Mapping[str, tuple[str, ...]]:
        """Name of each connection and of the ports it joins."""
        return {name: tuple(ports) for name, ports in self._places["connections"].items()}

    def connection(self, name: str) -> ConnectionView:
        """What went through a connection of an interconnected system."""
        if not is_among(name, self.connections):
            raise PorthosError(
                f"system '{self.system.name}' has no connection '{name}'. {nearest(name, self.connections)}"
            )
        return StoredConnection(self, name)

    def at(self, time: ArrayLike) -> Array:
        """In no file: the stages of steps, from which states in between are made."""
        raise PorthosError("a run from a file has recorded states only, no dense output. Record more of them.")


class StoredLagrangian(StoredStates):
    """A run of `Livens` from a file."""

    @property
    def generalized_energy(self) -> Array:
        """p.v - L (T,), eq. (31) of 003."""
        return self.kept["generalized_energy"]

    @property
    def momentum_gap(self) -> Array:
        """|p - dL/dv| (T,): zero for constant mass matrices, O(h^2) otherwise."""
        return self.kept["momentum_gap"]

    @property
    def position_error(self) -> Array:
        """The largest |g_k| (T,)."""
        return self.kept["position_error"]

    @property
    def power_balance(self) -> Array:
        """Change of the generalised energy minus what came in plus what was lost (T,); 0 for an exact balance."""
        E = self.generalized_energy
        return np.diff(E, prepend=E[0]) - self.raw.supply.sum(axis=1) + self.raw.dissipated


def places_of(run: StateTrajectory, links: list[str]) -> str:
    """What a file says about names and places, as JSON."""
    system = run.system
    return json.dumps(
        {
            "blocks": {name: [place.start, place.stop] for name, place in system.blocks.items()},
            "ports": {name: [place.start, place.stop] for name, place in system.ports.items()},
            "connections": {name: list(ports) for name, ports in run.connections.items()},
            "links": links,
        }
    )


def read_states(attributes: Mapping[str, Any], variables: Mapping[str, Array]) -> StoredStates:
    """The run of a file, from what `state_storage` wrote."""
    places = json.loads(attributes[PLACES])
    system = StoredSystem(attributes["title"], places)
    times, x, u = variables["time"], variables["x"], variables["u"]
    supply = np.zeros_like(u)  # the energy of all inputs of a port is known, not that of each
    for k, place in enumerate(system.ports.values()):
        supply[:, place.start] = np.diff(variables["work"][:, k], prepend=0.0)
    happened = zip(variables["event"], variables["event_time"].tolist(), variables["event_x"], strict=True)
    events = (Occurrence(str(name), t, x) for name, t, x in happened)
    raw = States(
        t=times, x=x, u=u, y=variables["y"], mean_x=np.full_like(x, np.nan), mean_y=np.full_like(u, np.nan),
        supply=supply, exchange=np.zeros((times.size, 0)), dissipated=np.diff(variables["dissipated"], prepend=0.0),
        iterations=variables["iterations"].astype(np.int64), increments=np.zeros((0, 1, x.shape[1])), tableau=gauss(1),
        status=Status[attributes["status"]], message=attributes["message"], events=tuple(events),
    )  # fmt: skip
    names = ("H", "multipliers", "generalized_energy", "momentum_gap", "position_error", *OF_LINKS.values())
    kept = {name: variables[name] for name in names if name in variables}
    kind = StoredLagrangian if "generalized_energy" in kept else StoredStates
    return kind(system, raw, attributes["scheme"], kept, places)
