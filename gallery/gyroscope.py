"""A gyroscope on gimbals with a weight on its axis: three hinges at one point, precession and nutation.

The outer ring turns about z, the inner one in it about x, the rotor in that about its axis, which is y at the start. A
weight hangs on the inner ring at the distance l on the axis of the rotor. With the angle phi of the outer ring, the
elevation a of the axis, and the momentum p = C n of the spin, which is constant,

(I_o + I_y sin^2 a + I_z cos^2 a) phi' + p sin a = const,
I_x a'' = (I_y - I_z) sin a cos a phi'^2 + (p phi' - m g l) cos a,

I_o of the outer ring about z, I_x, I_y, I_z of all in it about their axes, without C.

Numbers: from rest, phi and a at t = 0.2, 0.5, 1 from these equations; and the steady precession phi' = m g l/p.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery._common import SCHEMES, Number, present
from porthos.integrate.scheme import Scheme
from porthos.notation import Array
from porthos.show import figures as show
from porthos.show.axes import label, legend, new_figure

SCHEME = ph.MidpointGGL()
FINE = ph.Composition(ph.MidpointGGL(), order=6)
GRAVITY, SPIN, LEVER = 9.81, 200.0, 0.15
OUTER = ph.HollowCylinder(0.6, outer_radius=0.20, inner_radius=0.18, length=0.02, axis="y")
INNER = ph.HollowCylinder(0.4, outer_radius=0.16, inner_radius=0.14, length=0.02, axis="z")
ROTOR, WEIGHT = ph.Cylinder(2.0, radius=0.1, length=0.04, axis="y"), ph.Sphere(0.3, radius=0.02)
MOMENTUM = ROTOR.mass * ROTOR.radius**2 / 2 * SPIN
PRECESSION = WEIGHT.mass * GRAVITY * LEVER / MOMENTUM
TIMES = np.array([0.2, 0.5, 1.0])


def model(precession: float = 0.0) -> ph.Model:
    """The axis is horizontal; the rings turn about z with `precession`."""
    gyro = ph.Model("gyroscope", gravity=(0, 0, -GRAVITY))
    turn = np.array([0.0, 0.0, precession])
    weight = np.array([0.0, LEVER, 0.0])
    gyro.body("outer ring", OUTER, angular_velocity=turn)
    gyro.body("inner ring", INNER, angular_velocity=turn)
    gyro.body("rotor", ROTOR, angular_velocity=(0, SPIN, precession))
    gyro.body("weight", WEIGHT, position=weight, velocity=np.cross(turn, weight), angular_velocity=turn)
    gyro.revolute("stand", gyro.ground, "outer ring", at=(0, 0, 0), axis=(0, 0, 1))
    gyro.revolute("gimbal", "outer ring", "inner ring", at=(0, 0, 0), axis=(1, 0, 0))
    gyro.revolute("spindle", "inner ring", "rotor", at=(0, 0, 0), axis=(0, 1, 0))
    gyro.fixed("screw", "inner ring", "weight", at=weight)
    return gyro


def run(scheme: Scheme = SCHEME, step: float = 5e-4, end: float = 2.0, precession: float = 0.0) -> ph.Trajectory:
    """The rotor turns by 0.1 rad a step."""
    return ph.simulate(model(precession), scheme, step=step, end=end)


def angles(run: ph.Trajectory) -> Array:
    """phi and a (T, 2), from the place of the weight."""
    x, y, z = run["weight"].position.T
    return np.column_stack([np.unwrap(np.arctan2(-x, y)), np.arcsin(z / LEVER)])


def number(scheme: Scheme = FINE, step: float = 1e-3) -> Number:
    """phi and a at three times after a start from rest; phi at t = 1 in steady precession, and how far a moves then."""
    loose = run(scheme, step, end=TIMES[-1])
    steady = angles(run(scheme, step, end=1.0, precession=PRECESSION))
    return {
        "angles": angles(loose)[np.rint(TIMES / step).astype(int)],
        "precession": float(steady[-1, 0]),
        "nod": float(np.abs(steady[:, 1]).max()),
        "drift": float(np.ptp(loose.energy)),
    }


def figures() -> dict[str, Figure]:
    """The gyroscope, its nutation, and what is kept."""
    runs = {name: run(scheme, end=0.5) for name, scheme in SCHEMES.items()}
    one = runs["PH-MP-GGL"]
    nutation, axes = new_figure(2)
    for ax, values, name in zip(axes, angles(one).T, ("turn of the outer ring", "elevation of the axis"), strict=True):
        ax.plot(one.t, values, label="from rest")
        label(ax, f"{name} [rad]")
    axes[0].plot(one.t, PRECESSION * one.t, "--", label="steady precession")
    legend(axes[0])
    return {
        "motion": show.motion(one, times=(0.0,), paths=False),
        "nutation": nutation,
        "energy_error": show.energy_error(one),
        "constraint_errors": show.constraint_errors(runs),
    }


def main() -> None:
    """Print the summary and write the figures."""
    present("gyroscope", run(), figures())


if __name__ == "__main__":
    main()
