"""The result of a run over the states of a descriptor system: arrays with names, its power balance, dense output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import PorthosError, is_among, nearest
from porthos.integrate.recording import States
from porthos.notation import Array, IntArray
from porthos.results.run import Run, mean_rate, rows_within, times_within
from porthos.system.descriptor import Descriptor
from porthos.system.interconnect import Interconnection
from porthos.system.lagrangian_system import LagrangianSystem

if TYPE_CHECKING:
    import xarray

    from porthos.results.trajectory import Trajectory

SUMS = ("supply", "exchange", "dissipated", "iterations")  # over the interval before a recorded state


class Port:
    """One port of a run: what went in, what came out, and the energy that went through it."""

    def __init__(self, run: StateTrajectory, name: str) -> None:
        self._run, self._name, self._place = run, name, run.system.port(name)

    @property
    def input(self) -> Array:
        """u at the recorded times (T, k); of controllers what held in the step after, at the end in the one before."""
        return self._run.u[:, self._place]

    @property
    def output(self) -> Array:
        """y at the recorded times (T, k)."""
        return self._run.y[:, self._place]

    @property
    def work(self) -> Array:
        """Energy that entered the system through this port since the start (T,)."""
        return self._run.summed(f"work of {self._name}", self._run.raw.supply[:, self._place].sum(axis=1))

    @property
    def power(self) -> Array:
        """Mean power that entered since the time before (T,), the share of `work` by its duration; NaN at the start."""
        return mean_rate(self._run.t, self._run.raw.supply[:, self._place].sum(axis=1))


class ConnectionView:
    """One connection of a run: the power into the systems that it joins; over all its ports the sum is zero."""

    def __init__(self, run: StateTrajectory, ports: tuple[str, ...]) -> None:
        self._run, self.ports = run, ports
        self._columns = {port: run.system.inner_ports.index(port) for port in ports}

    @cached_property
    def power(self) -> dict[str, Array]:
        """Power into its system through each port at the recorded times (T,); NaN where the inputs are."""
        run = self._run
        states = zip(run.x, run.u, run.t.tolist(), strict=True)
        values = np.array([run.system.inner_power(*state) for state in states])
        return {port: values[:, k] for port, k in self._columns.items()}

    @property
    def work(self) -> dict[str, Array]:
        """Energy that entered its system through each port since the start (T,)."""
        shares = self._run.raw.exchange
        return {port: self._run.summed(f"exchange of {port}", shares[:, k]) for port, k in self._columns.items()}


class StateTrajectory(Run):
    """States of a descriptor system over time: run.t, run.x, run["p1"], run.H, run.port("force").work, run.at(0.37)."""

    raw: States

    def __init__(
        self, system: Descriptor, raw: States, scheme: str, until: Mapping[str, float] | None = None
    ) -> None:  # fmt: skip
        self.system, self.raw, self.scheme = system, raw, scheme
        self.events, self._until = raw.events, until or {}

    def summed(self, name: str, shares: Array) -> Array:
        """Sums since the start (T,) of what the intervals added; a part of a run has those `until` its first state."""
        begun = name in self._until
        return np.cumsum(np.append(self._until[name], shares[1:]) if begun else shares)

    def __getitem__(self, state: str) -> Array:
        """A part of the state over time: (T,) for a single number, (T, k) otherwise."""
        values = self.x[:, self.system.block(state)]
        return values[:, 0] if values.shape[1] == 1 else values

    def port(self, name: str) -> Port:
        """What went through a port."""
        return Port(self, name)

    @property
    def parts(self) -> Mapping[str, Descriptor]:
        """The systems that an interconnected one is made of; empty for others."""
        return self.system.parts if isinstance(self.system, Interconnection) else {}

    @property
    def connections(self) -> Mapping[str, tuple[str, ...]]:
        """Name of each connection and of the ports it joins."""
        return self.system.connections if isinstance(self.system, Interconnection) else {}

    def connection(self, name: str) -> ConnectionView:
        """What went through a connection of an interconnected system."""
        known = self.connections
        if not is_among(name, known):
            raise PorthosError(f"system '{self.system.name}' has no connection '{name}'. {nearest(name, known)}")
        return ConnectionView(self, known[name])

    def thinned(self, kept: ArrayLike) -> Self:
        """The same run with the recorded states `kept` only, increasing from 0, as `simulate(every=...)` keeps them."""
        kept = rows_within(self.t, kept)
        first, last = np.concatenate([[0], kept[:-1] + 1]), kept[-1] + 1  # of each interval between kept states
        arrays: dict[str, Any] = {}
        for one in fields(self.raw):
            values = getattr(self.raw, one.name)
            if one.name in SUMS:
                arrays[one.name] = np.add.reduceat(values[:last], first)
            elif one.name == "increments":
                arrays[one.name] = values[:0]  # of steps that begin and end between kept states
            elif isinstance(values, np.ndarray):
                arrays[one.name] = values[kept]
        return self._with(replace(self.raw, **arrays), kept)

    def _with(self, raw: States, rows: IntArray) -> Self:
        """The same run with the recorded states `rows`, as `raw`."""
        del rows
        return type(self)(self.system, raw, self.scheme)

    def part(self, name: str) -> Trajectory:
        """The motion of a part of an interconnected system that is a mechanism: its bodies, joints and ports."""
        from porthos.results.parts import part_of

        return part_of(self, name)

    @property
    def t(self) -> Array:
        """Times (T,)."""
        return self.raw.t

    @property
    def x(self) -> Array:
        """States (T, n)."""
        return self.raw.x

    @property
    def u(self) -> Array:
        """Inputs (T, m) at the recorded times."""
        return self.raw.u

    @property
    def y(self) -> Array:
        """Outputs (T, m) at the recorded times."""
        return self.raw.y

    @property
    def iterations(self) -> IntArray:
        """Newton iterations between recorded times (T,)."""
        return self.raw.iterations

    # --- balances

    @cached_property
    def H(self) -> Array:
        """The Hamiltonian (T,)."""
        return np.array([self.system.H(x, t) for x, t in zip(self.x, self.t.tolist(), strict=True)])

    @property
    def supplied(self) -> Array:
        """Energy that came in through all ports since the start (T,)."""
        return self.summed("supplied", self.raw.supply.sum(axis=1))

    @property
    def dissipated(self) -> Array:
        """Energy lost since the start (T,)."""
        return self.summed("dissipated", self.raw.dissipated)

    @property
    def power_balance(self) -> Array:
        """H(t_k) - H(t_(k-1)) minus what came in plus what was lost in between (T,); 0 for an exact balance.

        Work and losses are the sums h sum_i b_i (...) over the stages. For quadratic H and constant E the defect is
        -h^2/2 sum_ij m_ij X_i'^T Q X_j' a step with the matrix m of the tableau: 0 for Gauss, <= 0 for Radau IIA and
        Lobatto IIIC.
        """
        return np.diff(self.H, prepend=self.H[0]) - self.raw.supply.sum(axis=1) + self.raw.dissipated

    # --- multipliers

    @property
    def recomputes(self) -> bool:
        """Whether the system is a Lagrangian with constraints, so that `multipliers` are known."""
        return isinstance(self.system, LagrangianSystem) and self.system.m > 0

    @cached_property
    def multipliers(self) -> Array:
        """Multipliers (T, m) of a Lagrangian that belong to the accelerations at its states, with the order of q and v.

        run["lambda"] are those of the method itself, which may have less. NaN where the inputs are.
        """
        system, found = self.system, []
        if not isinstance(system, LagrangianSystem) or not system.m:
            raise PorthosError(
                f"system '{system.name}' is no Lagrangian with constraints, whose multipliers belong to accelerations. "
                f"Algebraic states are as the method gives them: run[...] with one of {list(system.blocks)}."
            )
        for x, u, t in zip(self.x, self.u, self.t.tolist(), strict=True):
            q, v, lam = system.split(x)
            known = np.isfinite(x).all() and np.isfinite(u).all()
            found.append(system.accelerations(q, v, u, t)[1] if known else np.full_like(lam, np.nan))
        return np.array(found)

    # --- dense output

    def at(self, time: ArrayLike) -> Array:
        """States at any times within the run: x(t_n + theta h) = x_n + sum_j b_j(theta) W_j, of order s or better.

        For collocation methods it is the collocation polynomial. Shape (n,) for a number, (T, n) for an array.
        """
        if len(self.raw.increments) != self.t.size - 1:
            raise PorthosError(
                "dense output needs every step of a Runge-Kutta method, of DiscreteGradient or of Livens: run "
                f"simulate(..., every=1) with one of them, without times; found {self.scheme}."
            )
        times = times_within(self.t, time)
        return np.array([self._between(float(t)) for t in times.ravel()]).reshape(*times.shape, self.system.dimension)

    def _between(self, time: float) -> Array:
        n = min(int(np.searchsorted(self.t, time, side="right")), self.t.size - 1) - 1
        if n < 0:
            return self.x[0]
        theta = (time - self.t[n]) / (self.t[n + 1] - self.t[n])
        return self.x[n] + self.raw.tableau.weights(theta) @ self.raw.increments[n]

    def summary(self) -> str:
        """A few lines that say what was computed and how well the power balance holds."""
        H, defect = self.H, float(np.abs(self.power_balance).max())
        lines = [
            f"{self.system.name}: {self.system.dimension} states, {len(self.system.ports)} ports, {self.t.size - 1} "
            f"recorded steps to t = {self.t[-1]:.6g} with {self.scheme_in_brief}",
            f"  status         {self.message}",
            f"  energy         {H[0]:.10g} at the start, {H[-1]:.10g} at the end",
            f"  supplied       {self.supplied[-1]:.10g} through ports, {self.dissipated[-1]:.10g} dissipated",
            f"  power balance  largest defect {defect:.2e} ({defect / max(1e-300, float(np.abs(H).max())):.1e} of H)",
            f"  Newton         {np.sum(self.iterations) / max(1, self.t.size - 1):.2f} iterations a recorded step",
        ]
        return "\n".join(lines)

    # --- files

    def to_xarray(self) -> xarray.Dataset:
        """All quantities as an xarray Dataset."""
        from porthos.results.state_storage import to_dataset

        return to_dataset(self)

    def save(self, path: str | Path) -> Path:
        """Write a NetCDF4 file that xarray opens; `porthos.load` reads it, but for the functions of the system."""
        from porthos.results.writing import save

        return save(self, path)
