"""Joint multipliers at second order, from a KKT solve at each state."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.sparse import csc_array

from porthos.notation import Array
from porthos.system.drives import frozen
from porthos.system.elements import wound
from porthos.system.mechanical import MechanicalSystem
from porthos.system.nodal import NodalMatrix


def nodal_multipliers(
    system: MechanicalSystem, q: Array, v: Array, wrench: Array, angle: Array, free: Mapping[int, csc_array]
) -> Array:
    """Joint multipliers (T, R) that belong to the accelerations at states q, v (T, N, 4, 3), angles near `angle`.

    Of some states the combinations of rows without force are known; there the multipliers have no part in them.
    """
    result, matrix = np.zeros((q.shape[0], system.mech.row.size)), NodalMatrix(system)
    config, rate = system.still.copy(), np.zeros_like(system.still)
    for k in range(q.shape[0]):
        config[:-1], rate[:-1] = q[k], v[k]
        matrix.system = frozen(wound(system, angle[k]), wrench[k])
        result[k] = matrix.accelerations(config, rate, wrench[k], free.get(k))[1]
    return result
