"""Drives: rows that follow a motion s(t). In a step each is a row with constant coefficients and a value c(t).

  VALUE   g = s:         c = s - s(0)
  LENGTH  g = s^2/2:     c = (s^2 - s(0)^2)/2
  TURN    g = n_A . b_B: n turns in A with the angle; in the step it stands a quarter turn ahead of the mean angle, so
                         that b, a vector of B, comes from -sin(D/2) to c = sin(D/2) with D = s^1 - s^0.
So the discrete work -lam (c^1 - c^0) is exact, as rows are at most quadratic, and a step back undoes a step. Inputs of
drives stand behind those of loads: (s^0, s^1, s'^0, s'^1) for a substep.
"""

from __future__ import annotations

import numpy as np

from porthos.kernels.compile import stage
from porthos.kernels.newton import FEEDBACK
from porthos.kernels.pose import Pose
from porthos.kernels.tables import LENGTH, TURN, Mechanism
from porthos.notation import Array

# What a drive aims at in a step: c and G v at its begin and at its end, and how c changes with s in the mean.
BEGIN, END, BEGIN_RATE, END_RATE, SLOPE = 0, 1, 2, 3, 4
AIMS = 5


@stage
def aim_drives(mech: Mechanism, wrench: Array, n: int, mid: Pose, end: Pose, aim: Array) -> None:
    """Set what all drives aim at in substep n, and turn the vectors of angles; `mech.marker` belongs to the run."""
    for d in range(mech.drive.size):
        drive, at = mech.drive[d], mech.load.size + d
        s0, s1, v0, v1 = wrench[n, at, 0], wrench[n, at, 1], wrench[n, at, 2], wrench[n, at, 3]
        if drive.measure == TURN:
            half, mean = 0.5 * (s1 - s0), 0.5 * (s0 + s1) - drive.rest
            sine, cosine = np.sin(half), np.cos(half)
            slope = sine / half if half != 0.0 else 1.0
            aim[d, BEGIN], aim[d, END], aim[d, SLOPE] = -sine, sine, slope
            aim[d, BEGIN_RATE], aim[d, END_RATE] = cosine * v0, cosine * v1
            sine, cosine, k = np.sin(mean), np.cos(mean), drive.marker
            grounded = mech.row[drive.row].body[0] == mech.body.size
            for c in range(3):
                mech.marker[k, c] = cosine * drive.across[c] - sine * drive.ahead[c]
                if grounded:
                    mid.marker[k, c] = end.marker[k, c] = mech.marker[k, c]
        elif drive.measure == LENGTH:
            aim[d, BEGIN] = 0.5 * (s0 - drive.rest) * (s0 + drive.rest)
            aim[d, END] = 0.5 * (s1 - drive.rest) * (s1 + drive.rest)
            aim[d, BEGIN_RATE], aim[d, END_RATE], aim[d, SLOPE] = s0 * v0, s1 * v1, 0.5 * (s0 + s1)
        else:
            aim[d, BEGIN], aim[d, END], aim[d, SLOPE] = s0 - drive.rest, s1 - drive.rest, 1.0
            aim[d, BEGIN_RATE], aim[d, END_RATE] = v0, v1


@stage
def drive_rows(mech: Mechanism, aim: Array, feedback: Array) -> None:
    """What rows begin with in a step: kappa (g(q^0) - c^0) - (c^1 - c^0), from kappa g(q^0)."""
    for d in range(mech.drive.size):
        feedback[mech.drive[d].row] -= FEEDBACK * aim[d, BEGIN] + (aim[d, END] - aim[d, BEGIN])


@stage
def drive_rates(mech: Mechanism, h: float, aim: Array, x: Array) -> None:
    """The rows G(q^1) t = h/2 c'^1 of the velocity level, from G(q^1) t."""
    for d in range(mech.drive.size):
        x[6 * (mech.body.size + 1) + mech.drive[d].row] -= 0.5 * h * aim[d, END_RATE]


@stage
def drive_outputs(mech: Mechanism, h: float, aim: Array, lam: Array, y: Array) -> None:
    """The mean force or torque in a step, and its power times h, of all drives: y = (f, W/h)."""
    for d in range(mech.drive.size):
        force = -lam[mech.drive[d].row]
        y[mech.load.size + d, 0] = force * aim[d, SLOPE]
        y[mech.load.size + d, 1] = force * (aim[d, END] - aim[d, BEGIN]) / h


@stage
def add_velocity_work(mech: Mechanism, h: float, aim: Array, gam: Array, y: Array) -> None:
    """Add the work -gam' (c'^1 - c'^0)/h of the multipliers of the velocity level, which stand behind the bodies."""
    for d in range(mech.drive.size):
        g = gam[6 * (mech.body.size + 1) + mech.drive[d].row]
        y[mech.load.size + d, 1] -= g * (aim[d, END_RATE] - aim[d, BEGIN_RATE]) / (h * h)
