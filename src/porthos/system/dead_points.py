"""Singular configurations on the way of a run: dead points, bifurcations, the end of what a drive can reach.

The least singular value sigma of G P, of those that do not vanish from the start, goes to zero there as sqrt(t* - t):
the line through sigma^2 at two times tells t*.
"""

from __future__ import annotations

import numpy as np

from porthos.notation import Array
from porthos.system.coefficients import moved
from porthos.system.drives import frozen, inputs_at
from porthos.system.initial import nearest_velocity
from porthos.system.mechanical import MechanicalSystem
from porthos.system.nodal import twists
from porthos.system.ranks import INVOLVED, LARGEST_DENSE, dependent_rows
from porthos.system.repeats import reduced_jacobian

SOON = 2.0  # steps within which a configuration must become singular to be the reason of a failure
NEAR = 0.02  # part of what sigma was at the start, from which on it counts as zero
BACK = 1e-3  # of a step: how far the second time is


def dead_point(system: MechanicalSystem, q: Array, v: Array, t: float, h: float) -> str:
    """A sentence on the singular configuration to which a run comes within SOON steps after t; empty if to none."""
    rows = np.arange(system.mech.row.size)
    if not 0 < rows.size <= LARGEST_DENSE:
        return ""
    start = _rows(system, system.initial_arrays()[0], 0.0)
    rank, _ = dependent_rows(start)
    here = frozen(system, inputs_at(system, t))
    twist, back = nearest_velocity(here, q, twists(system, q, v)), BACK * h
    left, sigma, right = np.linalg.svd(_rows(system, q, t))
    least, first = sigma[rank - 1], np.linalg.svd(start, compute_uv=False)[rank - 1]
    before = np.linalg.svd(_rows(system, moved(q, -back * twist), t - back), compute_uv=False)[rank - 1]
    slope = (least**2 - before**2) / back
    left_over = -(least**2) / slope if slope < 0.0 else np.inf
    if left_over > SOON * h and least > NEAR * first:
        return ""
    when = f" at about t = {t + left_over:.6g}" if left_over < np.inf else ""
    loose = np.linalg.norm(right[rank - 1].reshape(-1, 6), axis=1)
    return (
        f"The least singular value of its rows fell from {first:.3g} at the start to {least:.3g} and vanishes{when}: "
        f"there {_joints(system, np.abs(left[:, rank - 1]))} repeat each other, and {_bodies(system, loose)} can move "
        "though joints and drives stand still."
    )


def _rows(system: MechanicalSystem, q: Array, t: float) -> Array:
    """G P at a time, each row of length one."""
    G = reduced_jacobian(frozen(system, inputs_at(system, t)), q, np.arange(system.mech.row.size))
    return np.asarray(G / np.maximum(np.linalg.norm(G, axis=1, keepdims=True), 1e-300))


def _joints(system: MechanicalSystem, share: Array) -> str:
    """The joints and drives whose rows take part, and how many rows of each do."""
    taking, joint = share > INVOLVED * share.max(), system.mech.joint
    counts = {name: int(taking[joint[j].first : joint[j].last].sum()) for j, name in enumerate(system.joint_names)}
    return ", ".join(f"'{name}' ({n} row{'s' * (n != 1)})" for name, n in counts.items() if n)


def _bodies(system: MechanicalSystem, share: Array) -> str:
    """The bodies that move in a motion."""
    names = [name for name, part in zip(system.body_names, share, strict=True) if part > INVOLVED * share.max()]
    return ", ".join(f"'{name}'" for name in names)
