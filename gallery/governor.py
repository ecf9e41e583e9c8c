"""Flyball governor: balls on arms swing out as the shaft turns and lift a sleeve through stiff springs with dampers.

Each ball (mass m, moment of inertia I) swings on an arm without mass of length l about a hinge at the radius d of the
shaft, at the height h. A strut, which is a spring of 8e5 N/m with a damper of 4e4 N s/m instead of a rod, joins the
point at the distance b on each arm with the rim (radius d) of the sleeve, which slides on the shaft. With the angle a
of both arms from the vertical, the height z of the sleeve and the momentum L = I_z(a) phi', which is constant,

I_z = J + 2 m (d + l sin a)^2 + 2 I,   2 (m l^2 + I) a'' = 2 m (d + l sin a) l cos a phi'^2 - 2 m g l sin a - 2 F ds/da,
m_s z'' = -m_s g - 2 F ds/dz,   F = k (s - s_0) + c s'.

The struts stretch by 0.015 mm only, so they take little: 1.3 mJ in 20 s. The balls swing between two angles.

Numbers: a and z at t = 0.2, 0.5, 2 from these equations, which are stiff, by SciPy's Radau.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery._common import SCHEMES, Number, extrapolated, present
from porthos.integrate.scheme import Scheme
from porthos.notation import Array
from porthos.show import figures as show
from porthos.show.axes import label, new_figure

SCHEME = ph.MidpointGGL()
GRAVITY, SPEED, START = 9.81, 11.0, np.pi / 6
TOP, RADIUS, LENGTH, HOLD = 0.6, 0.04, 0.3, 0.16  # h, d, l, b
SHAFT, SLEEVE = ph.Cylinder(2.0, radius=0.015, length=0.6), ph.HollowCylinder(1.5, 0.015, 0.04, 0.06)
BALL = ph.Sphere(1.0, radius=0.045)
STIFFNESS, DAMPING, STRUT = 8e5, 4e4, 0.18
TIMES = np.array([0.2, 0.5, 2.0])


def model() -> ph.Model:
    """All turns with the same speed at the start; struts are relaxed."""
    governor = ph.Model("flyball governor", gravity=(0, 0, -GRAVITY))
    turn = np.array([0.0, 0.0, SPEED])
    shaft = governor.body("shaft", SHAFT, position=(0, 0, 0.3), angular_velocity=turn)
    height = TOP - HOLD * np.cos(START) - np.sqrt(STRUT**2 - (HOLD * np.sin(START)) ** 2)
    sleeve = governor.body("sleeve", SLEEVE, position=(0, 0, height), angular_velocity=turn)
    governor.revolute("bearing", governor.ground, shaft, at=(0, 0, 0), axis=(0, 0, 1))
    governor.prismatic("slide", shaft, sleeve, at=(0, 0, height), axis=(0, 0, 1))
    for name, side in (("left", -1.0), ("right", 1.0)):
        hinge, arm = np.array([side * RADIUS, 0.0, TOP]), np.array([side * np.sin(START), 0.0, -np.cos(START)])
        place = hinge + LENGTH * arm
        ball = governor.body(f"{name} ball", BALL, place, velocity=np.cross(turn, place), angular_velocity=turn)
        governor.revolute(f"{name} hinge", shaft, ball, at=hinge, axis=(0, 1, 0))
        rim = np.array([side * RADIUS, 0.0, height])
        governor.spring(f"{name} strut", ball, sleeve, hinge + HOLD * arm, rim, STIFFNESS, DAMPING, length=STRUT)
    return governor


def run(scheme: Scheme = SCHEME, step: float = 1e-3, end: float = 5.0) -> ph.Trajectory:
    """From a start at which arms and sleeve do not move."""
    return ph.simulate(model(), scheme, step=step, end=end)


def state(run: ph.Trajectory) -> Array:
    """The angle of the right arm and the height of the sleeve (T, 2)."""
    x, y, z = run["right ball"].position.T
    return np.column_stack([np.arctan2(np.hypot(x, y) - RADIUS, TOP - z), run["sleeve"].position[:, 2]])


def number(scheme: Scheme = SCHEME, step: float = 5e-4) -> Number:
    """a and z at three times, extrapolated, and what the energy balance misses."""
    runs = [run(scheme, h, end=TIMES[-1]) for h in (step, step / 2)]
    states = [state(one)[np.rint(TIMES / one.t[1]).astype(int)] for one in runs]
    return {"state": extrapolated(*states), "balance": float(np.abs(np.cumsum(runs[0].power_balance)).max())}


def figures() -> dict[str, Figure]:
    """The governor, how its sleeve rises, and where the energy goes."""
    runs = {name: run(scheme) for name, scheme in SCHEMES.items()}
    one = runs["PH-MP-GGL"]
    rising, axes = new_figure(3)
    speed = one["shaft"].angular_velocity[:, 2]
    names = ("angle of the arms [rad]", "height of the sleeve [m]", "speed of the shaft [rad/s]")
    for ax, values, name in zip(axes, (*state(one).T, speed), names, strict=True):
        ax.plot(one.t, values)
        label(ax, name)
    return {
        "motion": show.motion(one, times=(0.0, 0.2), paths=False),
        "rising": rising,
        "energy": show.energy(one),
        "energy_error": show.energy_error(one),
        "constraint_errors": show.constraint_errors(runs),
    }


def main() -> None:
    """Print the summary and write the figures."""
    present("governor", run(), figures())


if __name__ == "__main__":
    main()
