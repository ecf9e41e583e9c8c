"""The result of a run: arrays with names, and all balances of it, computed when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import PorthosError, is_among, nearest
from porthos.integrate.events import Occurrence
from porthos.integrate.march import ARRAYS, March
from porthos.integrate.projection import projected
from porthos.kernels import balances
from porthos.notation import Array, IntArray
from porthos.results.beams import BeamView, beam_named
from porthos.results.between import Collocation, between
from porthos.results.reactions import nodal_multipliers
from porthos.results.run import Run, rows_within, times_within
from porthos.results.uniqueness import Uniqueness, doubts, uniqueness
from porthos.results.views import BodyView, DriveView, ElementView, JointView, PortView
from porthos.system.drives import frozen
from porthos.system.gears import meshed
from porthos.system.joint_coordinates import TURN, whole_turns
from porthos.system.mechanical import MechanicalSystem
from porthos.system.nodal import row_memory
from porthos.system.origin import Origin

if TYPE_CHECKING:
    import xarray

    from porthos.model.model import Model

REST = 1e-20  # kinetic energy of bodies at rest, of the whole energy


class Trajectory(Run):
    """States of a system over time. `run["slider"].position`, `run.energy`, `run.joint("B").force`, ...

    The states may stay in a file. Everything is computed from blocks of them, so that only what was asked for has to
    fit into memory.
    """

    system: MechanicalSystem
    raw: March

    def __init__(
        self,
        system: MechanicalSystem,
        raw: March,
        scheme: str,
        events: tuple[Occurrence, ...] = (),
        origin: Origin | None = None,
    ) -> None:
        self.system, self.raw, self.scheme, self.events = system, raw, scheme, events
        self.origin = origin  # of what it was made; None if that is not known
        self.collocation: Collocation | None = None  # for `at`, of methods that have it and steps that are all recorded
        self._turns: Callable[[int], IntArray] | None = None  # where its states alone do not tell them

    @property
    def model(self) -> Model:
        """The model that was run, as its file holds it; functions in Python are in no file."""
        if self.origin is None:
            raise PorthosError(f"the model of '{self.system.name}' is not known: this run holds its tables only.")
        return self.origin.model

    @property
    def outputs(self) -> tuple[str, ...]:
        """What the run was told to put out."""
        return () if self.origin is None else self.origin.outputs

    @property
    def model_file(self) -> str:
        """The text of a model file that describes the run: `porthos run` repeats it; empty if it is not known."""
        return "" if self.origin is None else self.origin.text

    def __getitem__(self, body: str) -> BodyView:
        return BodyView(self, self.system.body_index(body))

    def joint(self, name: str) -> JointView:
        """The reaction of a joint."""
        return JointView(self, self.system.joint_index(name))

    def element(self, name: str) -> ElementView:
        """A spring, damper or other force element."""
        return ElementView(self, self.system.element_index(name))

    def beam(self, name: str) -> BeamView:
        """A flexible beam: its centre line, strains, forces and moments."""
        return beam_named(self, name)

    def port(self, name: str) -> PortView | DriveView:
        """A load or port, or a drive, which is a port with a motion as its input."""
        names = self.system.channel_names
        if not is_among(name, names):
            raise PorthosError(f"'{self.system.name}' has no load, port or drive '{name}'. {nearest(name, names)}")
        index = names.index(name)
        return PortView(self, index) if index < len(self.system.terminals) else DriveView(self, index)

    def in_blocks(self, compute: Callable[[slice], tuple[Array, ...]]) -> tuple[Array, ...]:
        """What `compute` gives for ranges of rows, put together."""
        parts = [compute(rows) for rows in self.raw.blocks()]
        return tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))

    def thinned(self, kept: ArrayLike) -> Trajectory:
        """The same run with the recorded states `kept` only, increasing from 0, as `simulate(every=...)` keeps them."""
        kept = rows_within(self.t, kept)
        within = [kept[(kept >= rows.start) & (kept < rows.stop)] - rows.start for rows in self.raw.blocks()]
        first = np.concatenate([[0], kept[:-1] + 1])  # of each interval between kept states
        arrays: dict[str, Any] = {}
        for name in ARRAYS:
            values = getattr(self.raw, name)
            if name in ("work", "loss", "iterations"):
                arrays[name] = np.add.reduceat(values[: kept[-1] + 1], first)
            else:
                parts = [values[rows][some] for rows, some in zip(self.raw.blocks(), within, strict=True)]
                arrays[name] = np.concatenate(parts)
        run = Trajectory(self.system, replace(self.raw, **arrays), self.scheme, self.events, self.origin)
        return run.turning(lambda joint: self.turns(joint)[kept])

    def turns(self, joint: int) -> IntArray:
        """Whole turns of a joint since the start (T,), which `angle` adds to what the states tell."""
        if self._turns is not None:
            return self._turns(joint)
        return whole_turns(self.t, *JointView(self, joint).turned)

    def turning(self, turns: Callable[[int], IntArray]) -> Self:
        """The same with these turns of joints."""
        self._turns = turns
        return self

    def at(self, time: ArrayLike) -> Trajectory:
        """States at any times within the run, as a run of its own: `run.at(0.37)["slider"].position`.

        Positions are cubic between recorded states, with an error of fourth order in their distance; velocities are
        the rates of positions, of third order. `Gauss` and `RadauIIA` with s >= 3 stages have their own polynomials,
        of order s + 1 in both, if every step is recorded in memory. All is as good as the scheme at best. Inputs are
        interpolated linearly; work, losses and the power balance are NaN.
        """
        times = np.atleast_1d(times_within(self.t, time)).ravel()
        raw = between(self.raw, times, len(self.system.terminals), self.collocation)
        run = Trajectory(self.system, raw, f"{self.scheme}, between its states", self.events)

        def turned(joint: int) -> IntArray:
            near = np.interp(times, self.t, JointView(self, joint).angle)
            of_joint = self.system.joint_coordinates(self.system.joint_names[joint])
            return np.rint((near - of_joint.angle(raw.q)) / TURN).astype(np.int64)

        return run.turning(turned)

    # --- states

    @cached_property
    def t(self) -> Array:
        """Times (T,)."""
        return self.raw.t[:]

    @cached_property
    def q(self) -> Array:
        """Coordinates (T, n): 12 numbers for a rigid body, 3 for a point mass."""
        return self._flat(self.raw.q[:])

    @cached_property
    def v(self) -> Array:
        """Velocities (T, n) of the coordinates."""
        return self._flat(self.raw.v[:])

    def _flat(self, full: Array) -> Array:
        return full.reshape(full.shape[0], -1)[:, self.system.slots]

    @cached_property
    def multipliers(self) -> Array:
        """Joint multipliers (T, R) at the recorded times, second order: they belong to the accelerations there."""
        return self.in_blocks(lambda rows: (self._solved(rows),))[0]

    def multipliers_of(self, rows: slice) -> Array:
        """The same for a range of rows. They are solved for once; of a long run in a file, only these."""
        kept = isinstance(self.raw.q, np.ndarray) or self.raw.is_short
        return self.multipliers[rows] if kept else self._solved(rows)

    def _solved(self, rows: slice) -> Array:
        q, v, wrench, angle = (getattr(self.raw, name)[rows] for name in ("q", "v", "wrench", "angle"))
        first, free = rows.indices(self.t.size)[0], self.uniqueness.free
        return nodal_multipliers(self.system, q, v, wrench, angle, {k - first: null for k, null in free.items()})

    @cached_property
    def iterations(self) -> IntArray:
        """Newton iterations between recorded times (T,)."""
        return self.raw.iterations[:]

    def projected(self) -> Trajectory:
        """The same positions with velocities moved to the nearest ones, in the metric of M, that satisfy G v = 0.

        Velocities of `Midpoint` are off the constraints by O(h^2) at the nodes; those of a composition of order 4 with
        it get the order of the positions this way. Energy then holds to the order of the scheme only.
        """
        scheme = f"{self.scheme}, velocities projected"
        return Trajectory(self.system, projected(self.system, self.raw), scheme, self.events, self.origin)

    # --- balances

    @cached_property
    def _energies(self) -> tuple[Array, ...]:
        return self.in_blocks(lambda rows: balances.energies(self.system.mech, self.raw.q[rows], self.raw.v[rows]))

    @property
    def kinetic_energy(self) -> Array:
        """T = v^T M v / 2 (T,)."""
        return self._energies[0]

    @property
    def potential_energy(self) -> Array:
        """V(q) (T,)."""
        return self._energies[1] + self.stored_energy

    @cached_property
    def element_energy(self) -> Array:
        """What each force element stores (T, E)."""
        elements, still = self.system.elements, self.system.still
        return self.in_blocks(lambda rows: (elements.energies(self.raw.q[rows], still, self.raw.angle[rows]),))[0]

    @property
    def stored_energy(self) -> Array:
        """The part of V that is in force elements (T,)."""
        return self.element_energy.sum(axis=1)

    @property
    def dissipated_energy(self) -> Array:
        """Energy that all force elements have taken from the system since the start (T,)."""
        return np.cumsum(self._lost)

    @cached_property
    def _lost(self) -> Array:
        return self.in_blocks(lambda rows: (self.raw.loss[rows].sum(axis=1),))[0]

    @property
    def energy(self) -> Array:
        """The Hamiltonian H = T + V (T,)."""
        return self.kinetic_energy + self.potential_energy

    @cached_property
    def _momenta(self) -> tuple[Array, ...]:
        return self.in_blocks(lambda rows: balances.momenta(self.system.mech, self.raw.q[rows], self.raw.v[rows]))

    @property
    def linear_momentum(self) -> Array:
        """(T, 3)."""
        return self._momenta[0]

    @property
    def angular_momentum(self) -> Array:
        """About the origin (T, 3)."""
        return self._momenta[1]

    @cached_property
    def _errors(self) -> tuple[Array, ...]:
        system, u, w = self.system, row_memory(self.system), row_memory(self.system)

        def errors(rows: slice) -> tuple[Array, ...]:
            q, v, still = self.raw.q[rows], self.raw.v[rows], system.still
            if not system.drives and not system.mech.gear.size:
                return balances.constraint_errors(system.mech, q, v, system.row_rates[0], still, u, w)
            nodes, parts, config = [frozen(system, wrench) for wrench in self.raw.wrench[rows]], [], still.copy()
            for k, node in enumerate(nodes):
                config[:-1], one, rates = q[k], slice(k, k + 1), node.row_rates[0]
                mech = meshed(node.mech, config)
                parts.append(balances.constraint_errors(mech, q[one], v[one], rates, still, u, w))
            return tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))

        return self.in_blocks(errors)

    @property
    def position_error(self) -> Array:
        """Largest |g(q)| at each time (T,)."""
        return self._errors[0]

    @property
    def velocity_error(self) -> Array:
        """Largest |G(q) v| at each time (T,), |G(q) v - c'(t)| in the rows of drives."""
        return self._errors[1]

    @property
    def power_balance(self) -> Array:
        """H(t_k) - H(t_{k-1}) minus work of loads, ports and drives plus losses in between (T,); exact if 0."""
        change = np.diff(self.energy, prepend=self.energy[0]) + self._lost
        return change - self.in_blocks(lambda rows: (self.raw.work[rows].sum(axis=1),))[0]

    @cached_property
    def uniqueness(self) -> Uniqueness:
        """Which reactions are not unique, because rows repeat others: at all recorded times, or at some."""
        return uniqueness(self.system, self.raw)

    def summary(self) -> str:
        """A few lines that say what was computed and how well the balances hold."""
        E, L = self.energy, self.angular_momentum
        size = max(float(np.abs(self.kinetic_energy).max()), float(np.abs(np.diff(E, prepend=E[0])).max()), 1e-300)
        bodies, joints = len(self.system.body_names), len(self.system.joint_names)
        flexible: list[dict[str, Any]] = self.system.description.get("beams", [])
        bodies -= sum(len(beam["nodes"]) for beam in flexible)
        beams = f"{len(flexible)} {'beam' if len(flexible) == 1 else 'beams'}, " if flexible else ""
        lines = [
            f"{self.system.name}: {bodies} {'body' if bodies == 1 else 'bodies'}, {beams}"
            f"{joints} {'joint' if joints == 1 else 'joints'}, "
            f"{self.t.size - 1} recorded steps to t = {self.t[-1]:.6g} s with {self.scheme_in_brief}",
            f"  status            {self.message}",
            f"  energy            {E[0]:.10g} J at the start, {E[-1]:.10g} J at the end",
            f"  power balance     largest defect {np.abs(self.power_balance).max():.2e} J "
            f"({np.abs(self.power_balance).max() / size:.1e} of the kinetic energy)",
            f"  angular momentum  {np.array2string(L[0], precision=8)} -> {np.array2string(L[-1], precision=8)}",
            f"  constraints       |g| <= {self.position_error.max():.2e}, |G v| <= {self.velocity_error.max():.2e}",
            f"  Newton            {np.sum(self.iterations) / max(1, self.t.size - 1):.2f} iterations a recorded step",
        ]
        if self.kinetic_energy.max() <= REST * np.abs(E).max():
            lines.append(
                "  motion            none: it rests, or joints and drives hold every body (see model.diagram())"
            )
        if self.dissipated_energy[-1] > 0.0:
            lines.insert(3, f"  dissipated        {self.dissipated_energy[-1]:.10g} J by force elements")
        if self.events:
            told = ", ".join(f"'{event.name}' at t = {event.t:.9g}" for event in self.events[:6])
            lines.append(f"  events            {len(self.events)}: {told}{', ...' if len(self.events) > 6 else ''}")
        lines += [f"  reactions         {line}" for line in doubts(self)]
        if self.system.adjustments:
            lines.append("  initial values moved onto the constraints (mass-weighted):")
            lines += [f"    {a}" for a in self.system.adjustments]
        return "\n".join(lines)

    # --- files

    def to_xarray(self) -> xarray.Dataset:
        """All named quantities as an xarray Dataset."""
        from porthos.results.storage import to_dataset

        return to_dataset(self)

    def save(self, path: str | Path) -> Path:
        """Write a NetCDF4 file that xarray opens and `porthos.load` turns into a Trajectory again."""
        from porthos.results.writing import save

        return save(self, path)
