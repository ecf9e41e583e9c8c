"""Drives of a mechanism: rows g(q) = c(t), at one time.

Inputs of drives at a node are (s, s', s''), behind those of loads. With them a row is one of constant coefficients that
holds g = 0, G v = c' and d/dt (G v) = c''; for an angle c' = s' and c'' = s'', since it is measured where it stands.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from porthos.errors import InputError, PorthosError
from porthos.kernels.gears import gear_gaps
from porthos.kernels.tables import LENGTH, TURN, Mechanism
from porthos.model.drives import Motion
from porthos.notation import Array
from porthos.system.gears import gear_joints

if TYPE_CHECKING:
    from porthos.system.mechanical import MechanicalSystem

EVERY = slice(None)
MADE = (
    "rows",
    "motion",
    "ggl",
    "row_rates",
    "width",
    "drive_rows",
    "layout",
    "exact",
    "condensed",
    "shared",
)  # of drives
LOST = 1e-6  # gap of a row, relative to the mechanism, that no rounding error makes


@dataclass(frozen=True)
class Driven:
    """The name of a drive, its motion, None if that is history, and s, s' and s'' at t = 0."""

    name: str
    motion: Motion | None
    start: Array  # (3,)

    @classmethod
    def of(cls, name: str, motion: Motion) -> Driven:
        """A drive with a motion."""
        here = np.zeros(1)
        return cls(name, motion, np.array([motion(0.0), *motion.rates(here, 1), *motion.rates(here, 2)]))

    def at(self, t: Array) -> Array:
        """(T, 3): s, s' and s'' at the times t."""
        return np.stack([self.values(t), self.rates(t, 1), self.rates(t, 2)], axis=1)

    def values(self, t: Array) -> Array:
        """s (T,), or an InputError with name and time."""
        assert self.motion is not None
        result = np.zeros(t.size)
        for k, time in enumerate(t.tolist()):
            try:
                result[k] = self.motion(time)
            except Exception as error:  # a user's function may raise anything
                raise InputError(
                    f"'{self.name}' at t = {time:.6g}: its function failed with {type(error).__name__}: {error}."
                ) from error
            if not np.isfinite(result[k]):
                raise InputError(
                    f"'{self.name}' at t = {time:.6g}: its function returned {result[k]}; expected finite numbers."
                )
        return result

    def speed(self, t: float) -> float:
        """s' at a time: the input of the drive as a port."""
        return float(self.start[1] if t == 0.0 else self.rates(np.array([t]))[0])

    def rates(self, t: Array, order: int = 1) -> Array:
        """The derivative (T,) of s of order 1 or 2, or an InputError with the name."""
        assert self.motion is not None
        try:
            result = self.motion.rates(t, order)
        except Exception as error:
            raise InputError(
                f"'{self.name}': the derivative of its function failed with {type(error).__name__}: {error}."
            ) from error
        if not np.all(np.isfinite(result)):
            bad = t[np.flatnonzero(~np.isfinite(result))[0]]
            raise InputError(f"'{self.name}' at t = {bad:.6g}: its function has no derivative there.")
        return result


def inputs_at(system: MechanicalSystem, t: float) -> Array:
    """Wrenches of loads and s, s', s'' of drives (L+D, 6) at time t; ports count as zero."""
    inputs = motions_at(system, t)
    inputs[: len(system.terminals)] = system.loads.wrench_at(t)
    return inputs


def motions_at(system: MechanicalSystem, t: float) -> Array:
    """s, s', s'' of drives (L+D, 6) at time t, behind loads, which count as zero."""
    inputs = np.zeros((len(system.channel_names), 6))
    for k, drive in enumerate(system.drives, len(system.terminals)):
        inputs[k, :3] = drive.start if t == 0.0 else drive.at(np.array([t]))[0]
    return inputs


def at_node(mech: Mechanism, wrench: Array) -> Mechanism:
    """The tables with the rows of drives as they are where the inputs (L+D, 6) are those at a node."""
    if mech.drive.size == 0:
        return mech
    row, form = mech.row.copy(), mech.form.copy()
    (form.cu[:],), (row.c[:],) = moved_rows(mech, wrench[None, mech.load.size :, 0])
    return mech._replace(row=row, form=form)


def moved_rows(mech: Mechanism, s: Array, rows: slice = EVERY) -> tuple[Array, Array]:
    """Coefficients cu (K, R, 2, 4) and values c (K, R) of all rows, or some, where drives stand at s (K, D)."""
    cu, c = (np.repeat(table[None, rows], len(s), axis=0) for table in (mech.form.cu, mech.row.c))
    first = rows.start or 0
    for drive, at in zip(mech.drive, s.T, strict=True):
        r, turn = int(drive.row) - first, (at - drive.rest)[:, None]
        if not 0 <= r < c.shape[1]:
            continue
        if drive.measure == TURN:
            cu[:, r, 0, 1:] = np.cos(turn) * drive.across - np.sin(turn) * drive.ahead
        elif drive.measure == LENGTH:
            c[:, r] += 0.5 * turn[:, 0] * (at + drive.rest)
        else:
            c[:, r] += turn[:, 0]
    return cu, c


def lost(system: MechanicalSystem, q: Array, s: Array) -> Array:
    """Whether some row is far from its value (K,) in states q (K, N, 4, 3) where drives stand at s (K, D).

    Steps take a row that repeats others for one that holds by itself; with a motion that the joints do not allow it
    does not. Gaps are measured in the length of the mechanism.
    """
    mech, form = system.mech, system.mech.form
    cu, c = moved_rows(mech, s)
    full = np.repeat(system.still[None], len(q), axis=0)
    full[:, :-1] = q
    sides = full[:, mech.row.body]  # (K, R, 2, 4, 3)
    u = form.u0 + np.einsum("krsi,krsij->krj", cu, sides)
    w = form.w0 + np.einsum("rsi,krsij->krj", form.cw, sides)
    lengths = sum(np.any(vector[:, :, 0] != 0.0, axis=1).astype(int) for vector in (form.cu, form.cw))
    gap = np.einsum("krj,krj->kr", u, w) - c
    gap[:, mech.gear.row] = gear_gaps(mech, q, system.still)
    gap = np.abs(gap) / system.length**lengths
    return np.asarray(~np.all(gap < LOST, axis=1))


def row_rates(mech: Mechanism, wrench: Array) -> tuple[Array, Array]:
    """c' and c'' (R,) of all rows with these inputs at a node; zero for those of joints."""
    rate, second = np.zeros(mech.row.size), np.zeros(mech.row.size)
    for drive, (s, v, a) in zip(mech.drive, wrench[mech.load.size :, :3], strict=True):
        length = drive.measure == LENGTH
        rate[drive.row] = s * v if length else v
        second[drive.row] = v * v + s * a if length else a
    return rate, second


def slope_rows(mech: Mechanism, s: Array, order: int) -> Mechanism:
    """Tables whose rows of drives are the derivatives, first or second, of g(q, s) with respect to s at s (D,).

    Rows that do not depend on s stay zero, except those of gears and of rigidity.
    """
    row, form = mech.row.copy(), mech.form.copy()
    form.cu, form.u0, row.c = 0.0, 0.0, 0.0
    for drive, at in zip(mech.drive, s, strict=True):
        if drive.measure == TURN:
            turn = at - drive.rest + order * np.pi / 2
            form.cu[drive.row, 0, 1:] = np.cos(turn) * drive.across - np.sin(turn) * drive.ahead
        elif drive.measure == LENGTH:
            row.c[drive.row] = at if order == 1 else 1.0
        else:
            row.c[drive.row] = 1.0 if order == 1 else 0.0
    return mech._replace(row=row, form=form)


def frozen(system: MechanicalSystem, wrench: Array) -> MechanicalSystem:
    """The system as it is where its inputs (L+D, 6) are those at a node: rows and rates of its drives stand still."""
    if not system.drives:
        return system
    still = copy(system)
    still.mech, still.row_rates = at_node(system.mech, wrench), row_rates(system.mech, wrench)
    still.rows = system.rows.of(still.mech)
    return still


def standing(system: MechanicalSystem, s: Array) -> MechanicalSystem:
    """The system whose drives stand at s (D,) for ever: their rows are those of joints."""
    if not system.drives:
        return system
    at, result = np.zeros((len(system.channel_names), 6)), copy(system)
    at[len(system.terminals) :, 0] = s
    result.mech, result.moving = (
        at_node(mech, at)._replace(drive=mech.drive[:0]) for mech in (system.mech, system.moving)
    )
    result.drives = ()
    for name in MADE:
        result.__dict__.pop(name, None)
    left = {name: meant for name, meant in system.quantities.items() if meant.part.group != "drives"}
    result.__dict__["quantities"] = left  # what a drive does it has as a joint
    return result


def require_plain(system: MechanicalSystem, what: str) -> None:
    """Refuse drives, gears and friction for what is known only of joints whose rows are quadratic and stand still."""
    if system.drives:
        names = ", ".join(f"'{drive.name}'" for drive in system.drives)
        raise PorthosError(
            f"system '{system.name}', {what}: expected a mechanism without drives, found {names}. Put a joint in the "
            "place of a drive that stands still, or a port with a controller in that of one that moves."
        )
    if system.mech.gear.size:
        names = ", ".join(f"'{system.joint_names[j]}'" for j in gear_joints(system.mech))
        raise PorthosError(
            f"system '{system.name}', {what}: expected a mechanism without gears, found {names}: their rows have "
            "angles and are not quadratic."
        )
    refuse_friction(system)


def refuse_friction(system: MechanicalSystem) -> None:
    """Say that friction, which depends on multipliers, is in none of the matrices."""
    if system.element_names and system.elements.rubs:
        raise PorthosError(
            f"system '{system.name}': expected a mechanism without friction, which depends on the forces of joints: it "
            "is solved by Midpoint and MidpointGGL only. Use one of them, or a damper in the place of the friction."
        )
