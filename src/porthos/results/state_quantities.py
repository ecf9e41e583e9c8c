"""What a run over states has over time, by name: energies, states, what went through ports and connections.

Names follow the run: H, flux, q.0 (one number of a state that has several), voltage.work, gear.wheel.power.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

from porthos.errors import PorthosError, is_among, nearest
from porthos.notation import Array
from porthos.quantities import check_text
from porthos.results.lagrangian import LagrangianTrajectory
from porthos.results.states import ConnectionView, StateTrajectory
from porthos.results.stored_states import StoredLagrangian

WHOLE, STATES, PORTS, CONNECTIONS = "whole system", "states", "ports", "connections"
OF_RUNS = {"H": "energy", "supplied": "energy", "dissipated": "energy", "power_balance": "defect of a step"}
OF_LAGRANGIANS = {
    "generalized_energy": "energy",
    "momentum_gap": "|p \N{MINUS SIGN} dL/dv|",
    "position_error": "largest constraint error",
}
ERRORS = ("power_balance", "momentum_gap", "position_error")  # of the method, not of the motion
LOGARITHMIC = ("momentum_gap", "position_error")
OF_PORTS = ("input", "output", "work", "power")
OF_CONNECTIONS = ("power", "work")


@dataclass(frozen=True)
class Series:
    """One quantity over time, computed when it is asked for; units are those of the system, which it does not know."""

    name: str
    group: str
    owner: str  # a state, a port, or a connection and its port; empty for the whole system
    axis: str  # what it is
    read: Callable[[], Array]
    log: bool = False

    @property
    def values(self) -> Array:
        """(T,) for a single number, else (T, k)."""
        found = self.read()
        return found[:, 0] if found.ndim > 1 and found.shape[1] == 1 else found

    @property
    def columns(self) -> dict[str, Array]:
        """Each of its numbers (T,) by its name."""
        values = self.values
        if values.ndim == 1:
            return {self.name: values}
        return {f"{self.name}.{k}": values[:, k] for k in range(values.shape[1])}


def series(run: StateTrajectory) -> dict[str, Series]:
    """All quantities of a run, by name."""
    found: dict[str, Series] = {}
    for one in _all(run):
        found.setdefault(one.name, one)
    return found


def chosen(run: StateTrajectory, name: str) -> tuple[Series, int | None]:
    """The quantity that a name stands for, and which of its numbers; None if all."""
    known = series(run)
    if is_among(name, known):
        return known[name], None
    check_text(name)
    stem, _, index = name.rpartition(".")
    if stem in known and index.isdecimal() and int(index) < len(known[stem].columns):
        return known[stem], int(index)
    raise PorthosError(f"'{run.system.name}' has no quantity '{name}'. {nearest(name, known)}")


def state_columns(run: StateTrajectory, *names: str) -> dict[str, Array]:
    """Every number (T,) of some quantities, or of all, by its name."""
    found: dict[str, Array] = {}
    for one, number in [chosen(run, name) for name in names] or [(one, None) for one in series(run).values()]:
        columns = one.columns
        found |= columns if number is None else dict([list(columns.items())[number]])
    return found


def _all(run: StateTrajectory) -> Iterator[Series]:
    table = OF_RUNS | (OF_LAGRANGIANS if isinstance(run, LagrangianTrajectory | StoredLagrangian) else {})
    for name, axis in table.items():
        yield Series(name, WHOLE, "", axis, partial(getattr, run, name), name in LOGARITHMIC)
    for name in run.system.blocks:
        called = f"state {name}" if name in table else name
        yield Series(called, STATES, name, name, partial(run.__getitem__, name))
    for name in run.system.ports:
        for attribute in OF_PORTS:
            read = partial(getattr, run.port(name), attribute)
            yield Series(f"{name}.{attribute}", PORTS, name, f"{attribute} of {name}", read)
    for name in run.connections:
        view = run.connection(name)
        for attribute, port in product(OF_CONNECTIONS, view.ports):
            owner, read = f"{name}.{port}", partial(_through, view, attribute, port)
            yield Series(f"{owner}.{attribute}", CONNECTIONS, owner, f"{attribute} of connections", read)


def _through(view: ConnectionView, attribute: str, port: str) -> Array:
    return getattr(view, attribute)[port]
