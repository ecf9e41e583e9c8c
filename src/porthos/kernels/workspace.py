"""Memory for the steps of a run."""

from __future__ import annotations

from typing import NamedTuple

from porthos.kernels.pose import Pose
from porthos.notation import Array, Flags


class Workspace(NamedTuple):
    """Memory for one step; nothing is allocated inside a run."""

    z: Array  # (6 (N + 1) + R,) unknowns: (u, a) of each body and of the ground (0), scaled multipliers
    x: Array  # the same: residual, then update; and scratch of `substitute`
    mid: Pose
    end: Pose
    feedback: Array  # (R,) kappa g(q^0) of constraints, g(q^0) of elements
    lam: Array  # (R,) multipliers of the step
    y: Array  # (L+D, 6) outputs at the midpoint; of drives their force and power
    aim: Array  # (D, AIMS) what drives aim at
    grip: Array  # (F,) mu N of laws with friction, else 0
    give: Array  # (R, 4) slopes of light elements, and axes of their torques
    echo: Array  # as x: what light elements answer to an update
    second: Array  # as x: what they answer to that
    awake: Flags  # (N+1,) bodies whose rows are still to be made zero, see `awake.py`
