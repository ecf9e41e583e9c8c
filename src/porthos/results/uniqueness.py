"""Joints whose reactions are not unique: at all recorded times, or where a mechanism passes a singular configuration.

There rows repeat others that are independent elsewhere. A cheap look at the pivots of every state finds where to look;
the combinations n of rows with n^T G P = 0 are computed there, and compared with those of a state where it is regular.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csc_array

from porthos.integrate.march import March
from porthos.notation import Array, IntArray
from porthos.system.drives import frozen
from porthos.system.mechanical import MechanicalSystem
from porthos.system.nodal import NodalMatrix
from porthos.system.ranks import RANK_TOLERANCE
from porthos.system.repeats import dependences, joints_of

if TYPE_CHECKING:
    from porthos.results.trajectory import Trajectory

NEAR = 3e-4  # singular value of rows of length one below which the state does not tell reactions to a percent
SHARE = 0.01  # of a joint in a combination that nearly vanishes, from which it is concerned
NAMED = 6  # joints, and times, that are named
GLANCES = 1000  # states that are looked at for a summary where drives or gears make rows anew at each of them


@dataclass(frozen=True)
class Uniqueness:
    """Which reactions are not unique, and when."""

    always: tuple[int, ...]  # joints, at all recorded times
    passing: Mapping[int, tuple[int, ...]]  # at states at which more rows repeat others than elsewhere, those joints
    free: Mapping[int, csc_array]  # combinations (R, d) without force at these states

    def lines(self, system: MechanicalSystem, t: Array) -> list[str]:
        """What a summary says of it."""
        always, concerned = (tuple(system.joint_names[j] for j in some) for some in (self.always, self.concerned))
        lines = []
        if always:
            lines.append(f"not unique in {len(always)} joints that repeat rows: {_told(always)}")
        if concerned:
            when = _moments(t[list(self.passing)])
            lines.append(f"not unique at {when}, where more rows repeat others than elsewhere: {_told(concerned)}")
        return lines

    def states(self, joint: int) -> IntArray:
        """The recorded states at which a joint takes part in dependences that are not there elsewhere."""
        return np.array([k for k, joints in self.passing.items() if joint in joints], dtype=np.int64)

    @cached_property
    def concerned(self) -> tuple[int, ...]:
        """The joints concerned at some states only."""
        return tuple(sorted({j for joints in self.passing.values() for j in joints}))


def uniqueness(system: MechanicalSystem, raw: March) -> Uniqueness:
    """Look at all recorded states."""
    if not system.loop_rows.size:
        return Uniqueness((), {}, {})
    matrix = NodalMatrix(system)
    slack = np.concatenate([matrix.slack_rows(raw.q[rows], raw.wrench[rows]) for rows in raw.blocks()])
    regular = int(np.argmin(slack))
    always = joints_of(system, _free(system, raw, regular, RANK_TOLERANCE))
    passing, free = {}, {}
    near = np.flatnonzero(slack > slack[regular])
    elsewhere = _free(system, raw, regular, NEAR).shape[1] if near.size else 0
    for k in near.tolist():
        null = _free(system, raw, k, NEAR)
        if null.shape[1] > elsewhere:
            passing[k] = joints_of(system, null, SHARE)
            free[k] = null
    return Uniqueness(always, passing, free)


def doubts(run: Trajectory) -> list[str]:
    """What summaries and reports say of it; with drives or gears at `GLANCES` states only.

    There the rows of each state are made one by one, which would take longer than the run.
    """
    few = run.t.size <= GLANCES or "uniqueness" in vars(run)
    if not few and (run.system.drives or run.system.mech.gear.size):
        run = run.thinned(np.linspace(0, run.t.size - 1, GLANCES).astype(np.int64))
    return run.uniqueness.lines(run.system, run.t)


def _free(system: MechanicalSystem, raw: March, k: int, tolerance: float) -> csc_array:
    """The combinations of rows that give no force at a recorded state; none if it is not finite."""
    q = system.still.copy()
    q[:-1] = raw.q[k]
    if not np.isfinite(q).all():
        return csc_array((system.mech.row.size, 0))
    return dependences(frozen(system, raw.wrench[k]), q, tolerance)


def _told(names: tuple[str, ...]) -> str:
    """Names of joints; of many the first ones, and how many more."""
    first = ", ".join(f"'{name}'" for name in names[:NAMED])
    return f"{first} and {len(names) - NAMED} more" if len(names) > NAMED else first


def _moments(times: Array) -> str:
    first = f"t = {', '.join(f'{t:.6g}' for t in times[:NAMED])} s"
    return f"{first} and {len(times) - NAMED} more times" if len(times) > NAMED else first
