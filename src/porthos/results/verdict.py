"""What a run kept and how well: energy balance, momenta, constraints; in words, with the numbers.

Momenta are compared with what they can be at most: |p|^2 <= 2 m T and |L|^2 <= 2 I T, with the whole mass m, and I the
sum of m_k |x_k|^2 + tr(J_k)/2.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from porthos.integrate.newton import LARGEST_DENSE
from porthos.notation import Array
from porthos.results.lagrangian import LagrangianTrajectory
from porthos.results.run import Run
from porthos.results.states import StateTrajectory
from porthos.results.stored_states import StoredStates
from porthos.results.trajectory import Trajectory
from porthos.results.uniqueness import doubts
from porthos.system.descriptor import dense

EXACT = 1e-9  # relative: what stays below is kept to round-off, also over millions of steps
CLOSE = 1e-3  # relative: what stays below is kept to the accuracy of the scheme
TINY = 1e-300
LOOKED_AT = 50  # states at which algebraic equations are looked at
MOST_MOVED = 3  # bodies that are named among the warnings


class Level(Enum):
    """How good a finding is."""

    KEPT = "kept"  # to round-off
    CLOSE = "close"  # not exactly, but as well as the steps allow
    CHANGES = "changes"  # as it must: forces from outside act
    LOST = "lost"  # it should have stayed


@dataclass(frozen=True)
class Finding:
    """One quantity: what happened to it, and the number behind it."""

    what: str
    level: Level
    number: str
    words: str


@dataclass(frozen=True)
class Verdict:
    """All findings, what to watch out for, and the worst of it in a sentence."""

    findings: tuple[Finding, ...]
    warnings: tuple[str, ...]
    stopped: str  # why the run stopped before its end; empty if it did not

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        if self.stopped:
            return self.stopped
        lost = [finding.what for finding in self.findings if finding.level is Level.LOST]
        if lost:
            return f"Not kept: {' and '.join(lost)}. Use a smaller step, or a scheme that keeps it."
        close = [finding.what for finding in self.findings if finding.level is Level.CLOSE]
        kept = [finding.what for finding in self.findings if finding.level is Level.KEPT]
        first = f"Kept to round-off: {', '.join(kept)}." if kept else ""
        return f"{first} Kept to the accuracy of the step: {', '.join(close)}.".strip() if close else first


def verdict(run: Run) -> Verdict:
    """Look at all recorded states of a run."""
    if isinstance(run, StateTrajectory):
        return _of_states(run)
    assert isinstance(run, Trajectory)
    findings = [_energy(run), *_momenta(run)]
    if len(run.system.joint_names) or any(body["kind"] == "rigid" for body in run.system.description["bodies"]):
        findings += [
            _constraints("position constraints", run.position_error, "|g|", run.system.length),
            _constraints("velocity constraints", run.velocity_error, "|G v|", _speed(run)),
        ]
    return Verdict(tuple(findings), tuple(_warnings(run)), _stopped(run))


def _stopped(run: Run) -> str:
    return "" if run.status.wanted else f"This run stopped at t = {run.t[-1]:.6g} s. {run.message}"


def _of_states(run: StateTrajectory) -> Verdict:
    """Energy balance, passivity, and the algebraic equations of a run over states."""
    findings = [_balance(run), _passivity(run)]
    if isinstance(run, LagrangianTrajectory):
        findings += _lagrangian(run)
    elif run.system.dimension <= LARGEST_DENSE and not isinstance(run, StoredStates):
        findings += _algebraic(run)
    finite = np.isfinite(run.x).all()
    warnings = () if finite else ("There are states that are no finite numbers.",)
    return Verdict(tuple(findings), warnings, _stopped(run))


def _balance(run: StateTrajectory) -> Finding:
    """What the energy is beside its start, all work and all losses."""
    defect = float(np.abs(np.cumsum(run.power_balance)).max())
    moved = max(float(np.ptp(run.H)), float(np.abs(run.supplied).max()), float(run.dissipated.max()))
    largest = float(np.abs(run.H).max())
    scale = moved if moved > EXACT * largest else largest  # where no energy moves, all of it should stay
    relative = defect / max(scale, TINY) if defect > 0.0 else 0.0
    words = f"H \N{MINUS SIGN} H(0) \N{MINUS SIGN} W + D stays below {short(relative)} of the energy that moved"
    return Finding("energy balance", _level(relative), short(defect), words)


def _passivity(run: StateTrajectory) -> Finding:
    """Whether energy was made from nothing: H(t) - H(0) - W may only fall."""
    growth = float(np.max(np.diff(run.H - run.supplied), initial=0.0))
    scale = max(float(np.ptp(run.H)), float(np.abs(run.supplied).max()), float(np.abs(run.H).max()), TINY)
    words = "is the most that H \N{MINUS SIGN} W grew in an interval; it may only fall"
    return Finding("passivity", _level(growth / scale), short(growth), words)


def _lagrangian(run: LagrangianTrajectory) -> list[Finding]:
    """Constraints, which `Livens` keeps, and how far its momenta belong to its velocities, which is what it misses."""
    relative = float(run.momentum_gap.max()) / max(float(np.linalg.norm(run.p, axis=1).max()), TINY)
    words = f"|p \N{MINUS SIGN} dL/dv| stays below this, {short(relative)} of the largest momentum"
    momenta = Finding("momenta and velocities", _level(relative), short(float(run.momentum_gap.max())), words)
    if not run.system.m:
        return [momenta]
    largest = float(run.position_error.max())
    level = _level(largest / max(1.0, float(np.abs(run.q).max())))
    return [momenta, Finding("position constraints", level, short(largest), "|g| stays below this")]


def _algebraic(run: StateTrajectory) -> list[Finding]:
    """How well algebraic equations hold, at some of the recorded states, relative to the rates there."""
    some = np.unique(np.linspace(0, run.t.size - 1, min(run.t.size, LOOKED_AT)).astype(np.int64))
    gaps, sizes = [0.0], [0.0]
    for k in some[np.isfinite(run.u[some]).all(axis=1)].tolist():
        state = run.x[k], run.u[k], float(run.t[k])
        gaps.append(float(np.abs(run.system.algebraic_gap(*state)).max(initial=0.0)))
        sizes.append(float(np.abs(run.system.flow(*state)).max(initial=0.0)))
    E = dense(run.system.E(run.x[0], float(run.t[0])))
    if np.linalg.matrix_rank(E) == len(E):
        return []
    relative = max(gaps) / max(*sizes, TINY)
    words = "is the most by which a recorded state misses one, such as a constraint"
    return [Finding("algebraic equations", _level(relative), short(max(gaps)), words)]


def short(number: float) -> str:
    """A number with two or three digits."""
    if number == 0.0:
        return "0"
    return (
        f"{float(f'{number:.3g}'):g}"
        if 1e-3 <= abs(number) < 1e4
        else f"{number:.1e}".replace("e-0", "e-").replace("e+0", "e")
    )


def _level(relative: float, expected: bool = True) -> Level:
    if relative <= EXACT:
        return Level.KEPT
    if not expected:
        return Level.CHANGES
    return Level.CLOSE if relative <= CLOSE else Level.LOST


def _energy(run: Trajectory) -> Finding:
    """What the energy is beside its start and all work."""
    defect = float(np.abs(np.cumsum(run.power_balance)).max())
    scale = max(float(run.kinetic_energy.max()), float(np.ptp(run.energy)), TINY)
    relative = defect / scale if defect > 0.0 else 0.0
    loss = " + D, with the energy D that dampers took," if run.dissipated_energy[-1] > 0.0 else ""
    words = f"H \N{MINUS SIGN} H(0) \N{MINUS SIGN} W{loss} stays below {short(relative)} of the largest kinetic energy"
    return Finding("energy balance", _level(relative), f"{short(defect)} J", words)


def momentum_sizes(run: Trajectory) -> tuple[float, float]:
    """What linear and angular momentum can be at most, sqrt(2 m T) and sqrt(2 I T)."""
    body, inertia = run.system.mech.body, 0.0
    for rows in run.raw.blocks():
        inertia = max(inertia, float((body.mass * (run.raw.q[rows][:, :, 0] ** 2).sum(axis=2)).sum(axis=1).max()))
    twice, inertia = 2.0 * float(run.kinetic_energy.max()), inertia + float(np.asarray(body.euler).sum())
    return float(np.sqrt(twice * np.sum(body.mass))), float(np.sqrt(twice * inertia))


def _momenta(run: Trajectory) -> list[Finding]:
    mech, links = run.system.mech, [*run.system.description["joints"], *run.system.description.get("elements", [])]
    held = "ground" in {link[s] for link in links for s in "ab"}
    pulled = np.asarray(mech.gravity) != 0.0
    outside = held or len(run.system.channel_names) > 0
    # gravity turns about all axes but its own, if it has the direction of one
    own = pulled if np.count_nonzero(pulled) == 1 else np.zeros(3, dtype=bool)
    free_p = ~pulled & (not outside)
    free_L = (own | (not pulled.any())) & (not outside)
    of_p, of_L = momentum_sizes(run)
    return [
        _momentum("linear momentum", "p", run.linear_momentum, of_p, free_p, "kg m/s"),
        _momentum("angular momentum", "L", run.angular_momentum, of_L, free_L, "kg m²/s"),
    ]


def _momentum(what: str, letter: str, values: Array, scale: float, expected: NDArray[np.bool_], unit: str) -> Finding:
    """Which components of a momentum stayed; `expected` are those on which nothing from outside acts."""
    spread = np.ptp(values, axis=0)
    relative = spread / max(float(scale), TINY)
    kept = [f"{letter}_{c}" for c, r in zip("xyz", relative, strict=True) if r <= EXACT]
    lost = float(relative[expected].max(initial=0.0))
    level = _level(lost) if np.any(expected) else Level.CHANGES
    if len(kept) == 3:
        level = Level.KEPT
    changing = ", ".join(f"{letter}_{c}" for c, r in zip("xyz", relative, strict=True) if r > EXACT)
    stayed = f"{', '.join(kept)} constant to this" if kept else ""
    extent = "" if kept else " by up to this"
    reason = "" if np.any(expected & (relative > EXACT)) else " under forces from outside"
    moved = f"{changing} {'change' if ',' in changing else 'changes'}{extent}{reason}" if changing else ""
    largest = float(spread[relative <= EXACT].max(initial=0.0) if kept else spread.max())
    return Finding(what, level, f"{short(largest)} {unit}", "; ".join(part for part in (stayed, moved) if part))


def _constraints(what: str, error: Array, symbol: str, scale: float) -> Finding:
    largest = float(error.max())
    relative = largest / max(scale, TINY) if largest > 0.0 else 0.0
    return Finding(what, _level(relative), short(largest), f"{symbol} of all joints and bodies stays below this")


def _speed(run: Trajectory) -> float:
    """The largest speed of a body, or of a length of the mechanism that turns with it."""
    return max(float(np.sqrt((run.raw.v[rows] ** 2).sum(axis=3).max())) for rows in run.raw.blocks())


def _warnings(run: Trajectory) -> list[str]:
    moved = run.system.adjustments
    found = [f"Initial values were moved onto the constraints: {one}." for one in moved[:MOST_MOVED]]
    if len(moved) > MOST_MOVED:
        found.append(f"So were those of {len(moved) - MOST_MOVED} more bodies; the summary lists them.")
    found += [f"Reactions are {line}. Those told are the least." for line in doubts(run)]
    if not all(np.isfinite(run.raw.q[rows]).all() for rows in run.raw.blocks()):
        found.append("There are states that are no finite numbers.")
    return found
