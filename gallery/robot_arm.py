"""A robot arm with two drives under PD control: the controller is a pH system that is connected with both hinges.

The arm is the double pendulum of this gallery, hanging, with a port in each hinge. With the angles a, b of the bars
from the vertical, the controller measures the rates a' and b' - a' of the hinges, and has the state xi,

xi_1' = a',   xi_2' = b' - a',   torques tau_i = k_i xi_i + d_i xi_i',   H_c = (k_1 xi_1^2 + k_2 xi_2^2)/2,

xi the distance from the posture that is wanted. What PD control does to an arm is what springs and dampers do: the
energy of arm and controller can only decrease. `ph.PD` is the same law, asked at the begin of each step.

The weight keeps the arm from the posture that is wanted by 0.14 rad in the shoulder.

Numbers: angles at t = 0.2, 0.6, 1 from Lagrange's equations in a, b with these torques.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery._common import Number, present
from porthos.examples.robot_arm import BARS, STIFFNESS, WANTED, run
from porthos.examples.robot_arm import model as model
from porthos.notation import Array
from porthos.show.axes import label, legend, new_figure

TIMES = np.array([0.2, 0.6, 1.0])


def angles(run: ph.StateTrajectory) -> Array:
    """a and b (T, 2), from the axes of the bars."""
    axes = [run[f"double pendulum: q of '{bar}'"].reshape(-1, 4, 3)[:, 3] for bar in BARS]
    return np.column_stack([np.unwrap(np.arctan2(-axis[:, 0], axis[:, 2])) for axis in axes])


def number(step: float = 0.01) -> Number:
    """Angles at three times, what the energy balance misses, and the largest growth of the energy in a step."""
    one = run(step)
    states, balance = angles(one)[np.rint(TIMES / step).astype(int)], np.abs(one.power_balance)
    return {"angles": states, "balance": float(balance.max()), "growth": float(np.diff(one.H).max())}


def figures() -> dict[str, Figure]:
    """Angles of both hinges, and where the energy goes."""
    one = run()
    found = angles(one)
    motion, (ax,) = new_figure()
    for name, values, wanted in zip(
        ("shoulder", "elbow"), (found[:, 0], found[:, 1] - found[:, 0]), WANTED, strict=True
    ):
        (line,) = ax.plot(one.t, values, label=name)
        ax.axhline(wanted, color=line.get_color(), linestyle="--", linewidth=0.8)
    label(ax, "angle [rad], dashed: wanted")
    legend(ax)
    energy, (ax,) = new_figure()
    missing = np.column_stack([one[f"controller: {name}"] for name in ("shoulder", "elbow")])
    ax.plot(one.t, one.H, label="arm and controller")
    ax.plot(one.t, missing**2 @ STIFFNESS / 2, label="controller")
    ax.plot(one.t, one.dissipated, label="heat")
    label(ax, "energy [J]")
    legend(ax)
    return {"motion": motion, "energy": energy}


def main() -> None:
    """Print the summary and write the figures."""
    present("robot_arm", run(), figures())


if __name__ == "__main__":
    main()
