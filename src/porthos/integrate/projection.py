"""Velocities put back onto the constraints after a run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from porthos.integrate.march import March
from porthos.system.drives import frozen
from porthos.system.initial import nearest_velocity
from porthos.system.mechanical import MechanicalSystem
from porthos.system.nodal import nearest_twists, rigid_velocity


def projected(system: MechanicalSystem, raw: March) -> March:
    """The same states with velocities moved to the nearest ones, in the metric of M, on the constraints: G v = c'."""
    v, config, rate = np.empty(raw.v.shape), system.still.copy(), np.zeros_like(system.still)
    for rows in raw.blocks():
        nodes = zip(range(rows.start, rows.stop), raw.q[rows], raw.v[rows], raw.wrench[rows], strict=True)
        for k, q, old, wrench in nodes:
            config[:-1], rate[:-1] = q, old
            twist = nearest_velocity(frozen(system, wrench), config, nearest_twists(system, config, rate))
            v[k] = rigid_velocity(system, config, twist)[:-1]
    return replace(raw, v=v)
