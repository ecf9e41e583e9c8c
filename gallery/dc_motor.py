"""A DC motor with a gear and a flywheel: an electrical circuit, a mechanism and their connections as pH systems.

circuit   phi' = -R i + V + e,   i = phi/L       ports: voltage (V, i), armature (e, i)
gyrator   e = -k w_r,   torque = k i             the motor: no power is lost between circuit and rotor
gear      w_f = w_r/n,   torque_r = -torque_f/n  a transformer between rotor and flywheel

Number: current and speed at t = 0.05, 0.1, 0.3 from L i' = V - R i - k w, (J_r + J_f/n^2) w' = k i, solved by the
exponential of a 2 x 2 matrix.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery._common import Number, extrapolated, present
from porthos.examples.dc_motor import FLYWHEEL, INDUCTANCE, RATIO, ROTOR, run
from porthos.examples.dc_motor import model as model
from porthos.notation import Array
from porthos.show.axes import label, legend, new_figure

TIMES = np.array([0.05, 0.1, 0.3])


def current_and_speed(run: ph.StateTrajectory) -> Array:
    """i and the speed of the rotor (T, 2)."""
    v = run["shafts: v of 'rotor'"].reshape(-1, 4, 3)
    d = run["shafts: q of 'rotor'"].reshape(-1, 4, 3)
    speed = 0.5 * np.cross(d[:, 1:], v[:, 1:]).sum(axis=1)[:, 0]
    return np.column_stack([run["winding: flux"] / INDUCTANCE, speed])


def inertia() -> float:
    """J_r + J_f/n^2 about the axis of the rotor."""
    rotor, flywheel = (body.mass * body.radius**2 / 2 for body in (ROTOR, FLYWHEEL))
    return rotor + flywheel / RATIO**2


def number(step: float = 0.01) -> Number:
    """Current and speed of the rotor at three times, extrapolated to a step of zero."""
    runs = [run(step=h) for h in (step, step / 2)]
    rows = [np.rint(TIMES / h).astype(int) for h in (step, step / 2)]
    coarse, fine = (current_and_speed(one)[row] for one, row in zip(runs, rows, strict=True))
    return {"found": extrapolated(coarse, fine), "balance": np.abs(runs[0].power_balance)}


def figures() -> dict[str, Figure]:
    """Current and speed, and where the energy goes."""
    one = run()
    values = current_and_speed(one)
    motion, axes = new_figure(2)
    for ax, column, name in zip(axes, values.T, ("current [A]", "speed of the rotor [rad/s]"), strict=True):
        ax.plot(one.t, column)
        label(ax, name)
    energy, (ax,) = new_figure()
    ax.plot(one.t, one.port("voltage").work, label="from the source")
    ax.plot(one.t, one.dissipated, label="heat")
    ax.plot(one.t, one.connection("motor").work["motor"], label="through the motor")
    ax.plot(one.t, one.connection("gear").work["wheel"], label="through the gear")
    label(ax, "energy [J]")
    legend(ax)
    return {"motion": motion, "energy": energy}


def main() -> None:
    """Print the summary and write the figures."""
    present("dc_motor", run(), figures())


if __name__ == "__main__":
    main()
