"""Which force elements a step leaves out of its matrix: the light ones, whose forces hardly change within it.

With an element left out, updates of Newton's method shrink only by h^2/2 |df/dg^1| G M^-1 G^T in an iteration, or by
the square of it if they are refined (`kernels/light.py`). That is cheaper than its place in the matrix up to LIGHT;
steps that fail are tried again with all elements in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from porthos.kernels.tables import Layout
from porthos.notation import Array
from porthos.system.layout import condensed_layouts
from porthos.system.mechanical import MechanicalSystem
from porthos.system.repeats import reduced_rows

SINGULAR = 1e9  # condition of a tensor of inertia from which a body counts as one without
RUBBING = 0.3  # ratio of updates where there is friction: how the forces of joints change is not in the matrix
LIGHT = 0.1  # ratio of updates up to which an element is left out


class Stepping(NamedTuple):
    """The condensed layout of a mechanism for steps of a size, and the ratio of updates to expect beside its own."""

    condensed: Layout
    slowest: float
    helping: tuple[Layout, ...] = ()  # that of a second thread


def stepping(system: MechanicalSystem, sizes: Array, threads: int = 1) -> Stepping:
    """The choice for steps with substeps of these sizes, made at the initial state; for two threads, if that pays."""
    if not system.element_names:
        layouts = system.shared if threads > 1 else (system.condensed,)
        return Stepping(layouts[0], 0.0, layouts[1:])
    case, known = (float(np.abs(sizes).max()), threads), system.elements.steppings
    if case not in known:
        ratio = contractions(system, case[0])
        light = ratio < LIGHT
        chosen = np.concatenate([np.zeros(len(system.joint_names), dtype=bool), light])
        layouts = condensed_layouts(system.moving, chosen, float(ratio[light].max(initial=0.0)), threads)
        known[case] = Stepping(layouts[0], RUBBING if system.elements.rubs else 0.0, layouts[1:])
    return known[case]


def contractions(system: MechanicalSystem, h: float) -> Array:
    """For each element, how updates shrink if it is left out of the matrix.

    Infinite at bodies without inertia, and for friction, which is stiff where it holds.
    """
    (q, v), elements = system.initial_arrays(), system.elements
    stiffness, damping = elements.slopes(q, v)
    mass, E, d = system.mech.body.mass, system.mech.body.euler, q[:-1, 1:]
    inertia = E.sum(axis=1)[:, None, None] * np.eye(3) - np.einsum("bi,bik,bil->bkl", E, d, d)
    inertia[system.mech.body.rigid == 0] = np.eye(3)
    blocks = reduced_rows(elements.mech, q)  # (R, 2, 6)
    mobility = np.zeros(elements.mech.row.size)
    for r, sides in enumerate(elements.mech.row.body):
        for s, b in enumerate(sides):
            if b < mass.size:
                shift, turn = blocks[r, s, :3], blocks[r, s, 3:]
                if mass[b] == 0.0 or np.linalg.cond(inertia[b]) > SINGULAR:
                    mobility[r] = np.inf
                else:
                    mobility[r] += shift @ shift / mass[b] + turn @ np.linalg.solve(inertia[b], turn)
    endless = np.isinf(mobility) | (elements.mech.law.friction[elements.mech.row.law] > 0.0)
    mobility[endless] = 1.0
    ratio = np.append(np.where(endless, np.inf, (h * h / 4 * stiffness + h / 2 * damping) * mobility), 0.0)
    return np.add.reduceat(ratio, elements.mech.joint.first)[: len(elements)]
