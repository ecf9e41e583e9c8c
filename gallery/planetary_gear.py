"""A planetary gear with three planets: a motor turns the sun, a machine brakes the carrier, a wet brake the ring.

Every mesh is one row, which counts the turns of its wheels against the line between their centres; this line turns with
the carrier. With 24, 18 and 60 teeth of sun, planets and ring the speeds obey Willis' equation,

w_s = w_c + 60/24 (w_c - w_r),   w_p = w_c + 60/18 (w_r - w_c).

The six wheels are left with two degrees of freedom, w = (w_c, w_r), and obey the linear equation

A w' + C w = (7/2, -5/2) T,   A = sum_k I_k a_k a_k^T,   C = diag(c_c, c_r),

where the speed of wheel k is a_k.w; the carrier has the inertia of the planets as points, too. The ring gives way until
its brake holds 5/2 of the torque T of the motor; the machine takes 7/2 of it. One planet would do: six meshes have two
rows more than the motion needs, so how the planets share the force is not determined. Its sum is.

Numbers: the speeds from the exponential of a matrix; Willis' equation and the gap of the teeth over ten turns of the
sun; the force of all teeth on the sun; the balance of supplied, stored and dissipated energy.
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
TEETH = {"sun": 24, "planet": 18, "ring": 60}
RADIUS = {"sun": 0.048, "planet": 0.036, "ring": 0.12}  # 2 mm for each tooth
ARM = 0.084
PLANETS = 3
SUN, PLANET = ph.Cylinder(1.2, RADIUS["sun"], 0.03), ph.Cylinder(0.6, RADIUS["planet"], 0.03)
RING, CARRIER = ph.HollowCylinder(2.5, RADIUS["ring"], 0.14, 0.03), ph.Cylinder(1.0, 0.1, 0.01)
TORQUE, MACHINE, BRAKE = 2.0, 0.5, 0.4  # N m of the motor; N m s of the machine and of the brake
TIMES = np.array([0.05, 0.2, 1.0])
AXIS = (0.0, 0.0, 1.0)


def model(planets: int = PLANETS) -> ph.Model:
    """At rest."""
    gear = ph.Model("planetary gear", gravity=(0, -9.81, 0))
    for name, shape, z in (("sun", SUN, 0.0), ("ring", RING, 0.0), ("carrier", CARRIER, -0.025)):
        gear.body(name, shape, position=(0, 0, z))
        gear.revolute(f"{name} axle", gear.ground, name, at=(0, 0, 0), axis=AXIS)
    for k in range(planets):
        angle, planet = 2 * np.pi * k / planets, f"planet {k + 1}"
        at = np.array([ARM * np.cos(angle), ARM * np.sin(angle), 0.0])
        gear.body(planet, PLANET, position=at)
        gear.revolute(f"pin {k + 1}", "carrier", planet, at=at, axis=AXIS)
        gear.gear(f"inner {k + 1}", "sun", planet, teeth=(TEETH["sun"], TEETH["planet"]))
        gear.gear(f"outer {k + 1}", planet, "ring", teeth=(TEETH["planet"], TEETH["ring"]), internal=True)
    gear.torsion_spring("machine", "carrier axle", damping=MACHINE)
    gear.torsion_spring("brake", "ring axle", damping=BRAKE)
    gear.load("motor", "sun", torque=(0, 0, TORQUE))
    return gear


def run(scheme: Scheme = SCHEME, step: float = 2e-3, end: float = 2.0) -> ph.Trajectory:
    """From rest until the speeds hardly change."""
    return ph.simulate(model(), scheme, step=step, end=end)


def speeds(run: ph.Trajectory) -> Array:
    """Of sun, carrier and ring (T, 3)."""
    return np.column_stack([run[name].angular_velocity[:, 2] for name in ("sun", "carrier", "ring")])


def force(run: ph.Trajectory) -> Array:
    """The tangential force of all teeth on the sun (T,), against the torque of the motor."""
    inner = (run.joint(joint) for joint in run.system.joint_names if joint.startswith("inner"))
    return -np.sum([mesh.multipliers[:, 0] for mesh in inner], axis=0)


def number(scheme: Scheme = SCHEME, step: float = 1e-3) -> Number:
    """Speeds at three times, extrapolated; force at the last one; what Willis' equation, teeth and balance miss."""
    runs = [run(scheme, h, end=TIMES[-1]) for h in (step, step / 2)]
    at = [np.rint(TIMES / one.t[1]).astype(int) for one in runs]
    one, (sun, carrier, ring) = runs[0], speeds(runs[0]).T
    stored = one.energy - one.energy[0]
    return {
        "speeds": extrapolated(*(speeds(each)[k] for each, k in zip(runs, at, strict=True))),
        "force": float(extrapolated(*(force(each)[-1:] for each in runs))[0]),
        "willis": float(np.abs(sun - carrier - 2.5 * (carrier - ring)).max()),
        "gap": float(one.position_error.max()),
        "balance": float(np.abs(stored + one.dissipated_energy - one.port("motor").work).max()),
        "freedom": np.array([model().diagram().mobility.freedom, model().diagram().mobility.redundant]),
    }


def figures() -> dict[str, Figure]:
    """The gear, its speeds, and where the work of the motor goes."""
    runs = {name: run(scheme) for name, scheme in SCHEMES.items()}
    one = runs["PH-MP-GGL"]
    turning, (ax,) = new_figure()
    for name, speed in zip(("sun", "carrier", "ring"), speeds(one).T, strict=True):
        ax.plot(one.t, speed, label=name)
    label(ax, "speed [rad/s]")
    legend(ax)
    energies, (ax,) = new_figure()
    for name, values in (
        ("motor", one.port("motor").work),
        ("machine", one.element("machine").dissipated),
        ("brake", one.element("brake").dissipated),
        ("stored", one.energy - one.energy[0]),
    ):
        ax.plot(one.t, values, label=name)
    label(ax, "energy [J]")
    legend(ax)
    return {
        "motion": show.motion(one, times=(0.0, 0.05, 0.2)),
        "speeds": turning,
        "energies": energies,
        "constraint_errors": show.constraint_errors(runs),
    }


def main() -> None:
    """Print the summary and write the figures."""
    present("planetary_gear", run(), figures())


if __name__ == "__main__":
    main()
