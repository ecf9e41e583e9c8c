"""A wheel on two wishbones with spring, damper and tyre: a closed loop in space with one degree of freedom.

The arms turn about hinges along x and carry the upright by ball joints; a track rod keeps it from steering. Arms and
rod are parallel and of equal length l, so the upright moves on a circle without turning. With the angle a of the arms

(2 J + m l^2) a'' = -(m_a + m) g l cos a - sum F_i ds_i/da,   F = k (s - s_0) + c s',

J of an arm about its hinge, m_a its mass, m the mass of the upright with the wheel, s_i(a) the lengths of spring and
tyre. The tyre is a spring from the ground to the hub, relaxed at the start; the suspension spring is pressed together
by 6 cm and throws the wheel down.

Numbers: the angle at t = 0.05, 0.15, 0.5 from this equation.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery._common import SCHEMES, Number, extrapolated, present
from porthos.integrate.scheme import Scheme
from porthos.notation import Array
from porthos.show import figures as show
from porthos.show.axes import label, legend, new_figure

SCHEME = ph.MidpointGGL()
GRAVITY, LENGTH, INSIDE, LOWER, UPPER, START = 9.81, 0.35, 0.3, 0.22, 0.46, 0.0
ARM, UPRIGHT = ph.Box(3.0, (0.06, LENGTH, 0.03)), ph.Cylinder(28.0, radius=0.31, length=0.18, axis="y")
HUB, ROD = 0.31, np.array([-0.12, INSIDE, 0.30])  # height of the hub at a = 0, inner end of the track rod
FOOT, TOP = 0.22, np.array([0.06, 0.42, 0.62])  # suspension spring: on the lower arm, from its hinge; on the car
SPRING, DAMPER, SHORTER = 45e3, 2.5e3, 0.06
TYRE, TYRE_DAMPER = 200e3, 150.0
TIMES = np.array([0.05, 0.15, 0.5])


def along(angle: float) -> Array:
    """The direction of the arms."""
    return np.array([0.0, np.cos(angle), np.sin(angle)])


def model(angle: float = START) -> ph.Model:
    """At rest, with the arms raised by `angle`; the rest of the car does not move."""
    corner = ph.Model("suspension", gravity=(0, 0, -GRAVITY))
    arm = LENGTH * along(angle)
    for name, height in (("lower arm", LOWER), ("upper arm", UPPER)):
        hinge = np.array([0.0, INSIDE, height])
        corner.body(name, ARM, position=hinge + arm / 2, rotation=((1, 0, 0), angle))
        corner.revolute(f"hinge of the {name}", corner.ground, name, at=hinge, axis=(1, 0, 0))
    hub = np.array([0.0, INSIDE + 0.1, HUB]) + arm
    corner.body("upright", UPRIGHT, position=hub)
    for name, height in (("lower arm", LOWER), ("upper arm", UPPER)):
        corner.spherical(f"ball of the {name}", name, "upright", at=np.array([0.0, INSIDE, height]) + arm)
    corner.distance("track rod", corner.ground, "upright", point_a=ROD, point_b=ROD + arm)
    foot = np.array([TOP[0], INSIDE, LOWER]) + FOOT * along(angle)
    rest = float(np.linalg.norm(TOP - foot)) + SHORTER
    corner.spring("suspension", corner.ground, "lower arm", TOP, foot, SPRING, DAMPER, length=rest)
    corner.spring("tyre", corner.ground, "upright", hub * (1, 1, 0), hub, TYRE, TYRE_DAMPER)
    return corner


def run(scheme: Scheme = SCHEME, step: float = 5e-4, end: float = 1.0) -> ph.Trajectory:
    """From rest."""
    return ph.simulate(model(), scheme, step=step, end=end)


def angle(run: ph.Trajectory) -> Array:
    """The angle of the arms (T,)."""
    _, y, z = (run["lower arm"].position - (0.0, INSIDE, LOWER)).T
    return np.arctan2(z, y)


def number(scheme: Scheme = SCHEME, step: float = 2.5e-4) -> Number:
    """The angle at three times, extrapolated, and what the energy balance misses."""
    runs = [run(scheme, h, end=TIMES[-1]) for h in (step, step / 2)]
    states = [angle(one)[np.rint(TIMES / one.t[1]).astype(int)] for one in runs]
    return {"angle": extrapolated(*states), "balance": float(np.abs(np.cumsum(runs[0].power_balance)).max())}


def figures() -> dict[str, Figure]:
    """The corner of the car, its motion, and where its energy goes."""
    runs = {name: run(scheme) for name, scheme in SCHEMES.items()}
    one = runs["PH-MP-GGL"]
    forces, axes = new_figure(2)
    axes[0].plot(one.t, angle(one))
    label(axes[0], "angle of the arms [rad]")
    for name in ("suspension", "tyre"):
        axes[1].plot(one.t, one.element(name).force, label=name)
    label(axes[1], "force [N]")
    legend(axes[1])
    return {
        "motion": show.motion(one, times=(0.0, 0.06), paths=False),
        "forces": forces,
        "energy": show.energy(one),
        "energy_error": show.energy_error(one),
        "constraint_errors": show.constraint_errors(runs),
    }


def main() -> None:
    """Print the summary and write the figures."""
    present("suspension", run(), figures())


if __name__ == "__main__":
    main()
