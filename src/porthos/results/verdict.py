"""What a run kept and how well: energy balance, momenta, constraints; in words, with the numbers.

Momenta are compared with what they can be at most: |p|^2 <= 2 m T and |L|^2 <= 2 I T, with the whole mass m, and I the
sum of m_k |x_k|^2 + tr(J_k)/2.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from porthos.notation import Array
from porthos.results.trajectory import Trajectory

EXACT = 1e-9  # relative: what stays below is kept to round-off, also over millions of steps
CLOSE = 1e-3  # relative: what stays below is kept to the accuracy of the scheme
TINY = 1e-300
MOST_NAMED = 6  # joints that are named in a warning
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


def verdict(run: Trajectory) -> Verdict:
    """Look at all recorded states of a run."""
    findings = [_energy(run), *_momenta(run)]
    if len(run.system.joint_names) or any(body["kind"] == "rigid" for body in run.system.description["bodies"]):
        findings += [
            _constraints("position constraints", run.position_error, "|g|", run.system.length),
            _constraints("velocity constraints", run.velocity_error, "|G v|", _speed(run)),
        ]
    stopped = "" if run.status.wanted else f"This run stopped at t = {run.t[-1]:.6g} s. {run.message}"
    return Verdict(tuple(findings), tuple(_warnings(run)), stopped)


def short(number: float) -> str:
    """A number with two or three digits."""
    if number == 0.0:
        return "0"
    return f"{number:.3g}" if 1e-3 <= abs(number) < 1e4 else f"{number:.1e}".replace("e-0", "e-").replace("e+0", "e")


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


def _momenta(run: Trajectory) -> list[Finding]:
    mech, links = run.system.mech, [*run.system.description["joints"], *run.system.description.get("elements", [])]
    held = "ground" in {link[s] for link in links for s in "ab"}
    mass = np.asarray(mech.body.mass)
    twice = 2.0 * float(run.kinetic_energy.max())
    inertia = 0.0
    for rows in run.raw.blocks():
        inertia = max(inertia, float((mass * (run.raw.q[rows][:, :, 0] ** 2).sum(axis=2)).sum(axis=1).max()))
    inertia += float(np.asarray(mech.body.euler).sum())
    pulled = np.asarray(mech.gravity) != 0.0
    outside = held or len(run.system.channel_names) > 0
    # gravity turns about all axes but its own, if it has the direction of one
    own = pulled if np.count_nonzero(pulled) == 1 else np.zeros(3, dtype=bool)
    free_p = ~pulled & (not outside)
    free_L = (own | (not pulled.any())) & (not outside)
    return [
        _momentum("linear momentum", "p", run.linear_momentum, np.sqrt(twice * mass.sum()), free_p, "kg m/s"),
        _momentum("angular momentum", "L", run.angular_momentum, np.sqrt(twice * inertia), free_L, "kg m²/s"),
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
    if run.undetermined:
        names = ", ".join(f"'{run.system.joint_names[k]}'" for k in run.undetermined[:MOST_NAMED])
        more = f" and {len(run.undetermined) - MOST_NAMED} more" if len(run.undetermined) > MOST_NAMED else ""
        found.append(
            f"Reactions of {names}{more} are not unique: rows of joints repeat others. Those told are the least."
        )
    if not all(np.isfinite(run.raw.q[rows]).all() for rows in run.raw.blocks()):
        found.append("There are states that are no finite numbers.")
    return found
