"""Compiled schemes as schemes over states x = (q, v, lambda) of mechanisms: one step at a time, each of any size.

A step depends on its begin, its size and its inputs alone. What a compiled run remembers belongs to steps of one size;
here only the rates (2/h (u, a), 2/h^2 lam') of the step before go on, as a guess.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, log2
from typing import Any, Self

import numpy as np

from porthos.errors import Status
from porthos.integrate.march import STATUS, March, empty_record
from porthos.integrate.newton import Iterate
from porthos.integrate.recording import Piece, Recorder, States, nodal_inputs
from porthos.integrate.scheme import VELOCITY, Scheme
from porthos.integrate.state_scheme import Begin, MechanicalScheme, Step
from porthos.integrate.tableaus import Tableau, composed, gauss
from porthos.kernels.guess import latest
from porthos.kernels.record import Record
from porthos.notation import Array
from porthos.system.drives import frozen, lost
from porthos.system.elements import wound
from porthos.system.initial import multipliers, nearest_velocity
from porthos.system.mechanical import MechanicalSystem
from porthos.system.nodal import nearest_twists, rigid_velocity, twists

Rates = tuple[Array, Array]  # middles of substeps (S,), and 2/h (u, a), 2/h^2 lam' there (S, unknowns)
OPEN = ("lam", "y", "work", "loss", "angle")  # what is known of an interval before it ends
REMEMBERED = 3  # steps through which rates are extrapolated


@dataclass(frozen=True)
class ReducedStep(Step):
    """A step, what compiled code recorded of it, and how it ended."""

    record: Record | None
    status: Status
    rates: tuple[Rates, ...]  # of this step and those before it
    angles: Array  # (F,) to which those of force elements at its end are nearest, over many turns

    def resized(self, ratio: float) -> Self:
        """Rates do not grow with the step."""
        return self

    @property
    def remembered(self) -> Self:
        """Without what compiled code recorded."""
        return replace(self, record=None)

    @property
    def failure(self) -> Status:
        """What compiled code says."""
        return self.status


@dataclass(frozen=True, eq=False)
class ReducedSteps(MechanicalScheme):
    """Steps of a compiled scheme on one system; `reacts` finds the multipliers at their ends too, else they are NaN."""

    scheme: Scheme
    system: MechanicalSystem
    reacts: bool = False
    _memories: dict[int, tuple[Any, Array]] = field(default_factory=dict)  # for steps up to 2^k

    def __repr__(self) -> str:
        return repr(self.scheme)

    @cached_property
    def tableau(self) -> Tableau:
        """That of midpoint rules one after the other."""
        return composed(gauss(1), self.scheme.fractions, self.scheme.order)

    @property
    def order(self) -> int:
        """That of the compiled scheme."""
        return self.scheme.order

    @property
    def preserves(self) -> frozenset[str]:
        """What the compiled scheme does."""
        return self.scheme.preserves

    @property
    def symmetric(self) -> bool:
        """Whether the compiled scheme is."""
        return self.scheme.symmetric

    @property
    def renews_algebraic(self) -> bool:
        """No step sees multipliers of the step before, but as a guess."""
        return True

    def advance(self, at: Begin) -> ReducedStep:
        """One step in compiled code."""
        system, rule, sizes = self.system, self.scheme.rule, at.h * np.array(self.scheme.fractions)
        q0, v0, lam = system.split(at.x0)
        q, v = system.to_kernel(q0), system.to_kernel(v0, rate=True)
        wrench, record, place = self._inputs(at, sizes), empty_record(system, 0), 6 * (len(system.body_names) + 1)
        scale = np.repeat(sizes[:, None] / 2, place + system.moving.row.size, axis=1)
        scale[:, place:] *= sizes[:, None]
        known, middles = () if at.before is None else at.before.rates, at.t + at.h * self.tableau.c
        z = scale * (known[0][1] if known else self._rates(q, v, lam))
        memory, about = self._memory(at.h, z)
        rule.renew(system, memory, sizes, q, v, z, scale * extrapolated(known, middles) - z if known else 0.0 * z)
        rule.angles(memory)[:] = system.moving.law.about if at.before is None else at.before.angles
        status = STATUS[rule.advance(system, sizes, wrench, 1, q, v, memory, record, about)[0]]
        if (
            status is Status.OK
            and system.drives
            and lost(system, q[None, :-1], wrench[-1:, -len(system.drives) :, 1])[0]
        ):
            status = Status.NEWTON_STALLED
        rates = (middles, latest(memory.guess) / scale)
        angles = rule.angles(memory).copy()
        found = Iterate(rates[1], None, int(record.iterations[0]), status is Status.OK)
        x = np.concatenate([system.from_kernel(q), system.from_kernel(v), np.full(system.m, np.nan)])
        if self.reacts and found.converged:
            x[2 * system.n :] = self._multipliers(at.t + at.h, q, v, at.u[-1], angles)
        return ReducedStep(x, np.empty((sizes.size, 0)), found, record, status, (rates, *known)[:REMEMBERED], angles)

    def _rates(self, q: Array, v: Array, lam: Array) -> Array:
        """The guess of a first step: velocities, and multipliers of joints and elements."""
        system, ground = self.system, np.zeros(6)
        lam = np.nan_to_num(lam[6 * system.rigid.size :])
        if system.element_names:
            lam = np.append(lam, system.elements.multipliers(q, v, lam))
        return np.concatenate([twists(system, q, v).ravel(), ground, lam])

    def _memory(self, h: float, z: Array) -> tuple[Any, Array]:
        """Memory for steps up to a power of 2, and their substeps: what is left out of matrices is chosen for them."""
        k = ceil(log2(h))
        if k not in self._memories:
            about = 2.0**k * np.array(self.scheme.fractions)
            self._memories[k] = self.scheme.rule.memory(self.system, about, z), about
        return self._memories[k]

    def _inputs(self, at: Begin, sizes: Array) -> Array:
        """(S, L+D, 6): wrenches in the middle of substeps, and s, s' of drives at both ends of them."""
        system, loads = self.system, len(self.system.terminals)
        wrench = np.zeros((sizes.size, len(system.channel_names), 6))
        for k, (terminal, place) in enumerate(zip(system.terminals, system.loads.ports.values(), strict=True)):
            wrench[:, k] = at.u[:, place] @ terminal.basis.T
        ends = at.t + np.append(0.0, np.cumsum(sizes))
        for k, drive in enumerate(system.drives, loads):
            s, rate = drive.values(ends), drive.rates(ends)
            wrench[:, k, :4] = np.stack([s[:-1], s[1:], rate[:-1], rate[1:]], axis=1)
        return wrench

    def _multipliers(self, t: float, q: Array, v: Array, u: Array, angles: Array) -> Array:
        """Those that belong to the accelerations at a node."""
        inputs = nodal_inputs(self.system, np.array([t]), u[None])[0]
        return multipliers(frozen(wound(self.system, angles), inputs), q, v, inputs)

    def error_of(self, difference: Array, t: float, x: Array) -> Array:
        """Velocities that leave the constraints by an alternating error count only along them."""
        if VELOCITY in self.preserves:
            return difference
        system, n = self.system, self.system.n
        q, rate = system.to_kernel(x[:n]), system.to_kernel(difference[n : 2 * n], rate=True)
        still = nodal_inputs(system, np.array([t]), np.zeros((1, system.width)))[0]
        still[:, 1:] = 0.0  # a difference of velocities meets G v = 0
        twist = nearest_velocity(frozen(system, still), q, nearest_twists(system, q, rate))
        along = system.from_kernel(rigid_velocity(system, q, twist))
        return np.concatenate([difference[:n], along, difference[2 * n :]])


class ReducedRecorder(Recorder):
    """Collects what compiled code records of steps."""

    def __init__(self, system: MechanicalSystem, scheme: ReducedSteps) -> None:
        self._mechanism, self._intervals = system, list[Record]()
        self._known = system.moving.law.about.copy()
        self._open = empty_record(system, 0)
        super().__init__(system, scheme, dense=False)

    def step(self, piece: Piece) -> None:
        """Add a step to the interval."""
        assert isinstance(piece.step, ReducedStep)
        made, sums = piece.step.record, self._open
        assert made is not None
        self._open = made._replace(
            work=made.work[:1] + sums.work,
            loss=made.loss[:1] + sums.loss,
            lam=made.lam[:1],
            y=made.y[:1],
            angle=made.angle[:1],
        )
        self._gained += float(made.work.sum() - made.loss.sum())
        self._went(piece)
        self._iterations += piece.step.iterations

    def _energy(self, x: Array, t: float) -> float:
        return wound(self._mechanism, self._known).H(x, t)

    def _count_turns(self, piece: Piece) -> None:
        """As compiled code does."""
        assert isinstance(piece.step, ReducedStep)
        self._known = piece.step.angles

    def angles_now(self) -> Array:
        """Those behind the last step."""
        return self._known

    def _turn_to(self, angles: Array) -> None:
        self._known = angles

    def node(self, t: float, x: Array, u: Array) -> None:
        """Record a state and close the interval before it."""
        super().node(t, x, u)
        self._intervals.append(self._open)
        self._open = self._open._replace(work=np.zeros_like(self._open.work), loss=np.zeros_like(self._open.loss))

    def memory(self) -> dict[str, Any]:
        """With what is known of the open interval."""
        return super().memory() | {name: getattr(self._open, name)[:1] for name in OPEN}

    def recall(self, memory: dict[str, Any]) -> None:
        """Go on in that interval."""
        super().recall(memory)
        self._open = self._open._replace(**{name: memory[name] for name in OPEN})

    def block(self, status: Status, message: str) -> States | March:
        """The nodes since the last block, which are then forgotten, but the last."""
        made = super().block(status, message)
        self._intervals = self._intervals[-1:]
        return made

    def raw(self, states: States) -> March:
        """The raw result of a run of a mechanism, of its latest states."""
        system, n = self._mechanism, self._mechanism.n
        intervals = self._intervals[-len(states.t) :]
        q, v = (np.array([system.to_kernel(x[k : k + n], rate=bool(k)) for x in states.x])[:, :-1] for k in (0, n))
        lam, y, work, loss, angle = (np.concatenate([getattr(one, name) for one in intervals]) for name in OPEN)
        return March(
            states.t, q, v, nodal_inputs(system, states.t, states.u), lam, y, work, loss, angle, states.iterations,
            states.status, states.message,
        )  # fmt: skip


def extrapolated(rates: tuple[Rates, ...], times: Array) -> Array:
    """Rates at other times: the polynomial through those known, by divided differences (Newton)."""
    result, factor = rates[0][1], np.ones((times.size, 1))
    differences = [value for _, value in rates]
    for order in range(1, len(rates)):
        apart = [(rates[k][0] - rates[k + order][0])[:, None] for k in range(len(rates) - order)]
        differences = [(differences[k] - differences[k + 1]) / apart[k] for k in range(len(apart))]
        factor = factor * (times - rates[order - 1][0])[:, None]
        result = result + factor * differences[0]
    return result
