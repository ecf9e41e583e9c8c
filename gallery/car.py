"""A car that is let down onto its springs, dampers and tyres: five bodies with ten degrees of freedom.

Chassis (a box of 1200 kg) and four wheel carriers (45 kg each) on vertical slides. Each corner has a suspension spring
with a damper between chassis and carrier, 40 (front) and 35 kN/m (rear), and a tyre: a bushing between ground and
carrier with stiffness and damping along, across and vertical. All springs are relaxed at the start; then the car sinks
onto them, bounces, pitches and comes to rest.

With u, w the small displacement and turn of the chassis, r_i the places of the contacts and s_i the slides, the tyre at
corner i moves by d_i = u + w x r_i + s_i e_z, and without weight

2 T = M u'^2 + w' J w' + sum m |u' + w' x c_i + s_i' e_z|^2 + w' J_w w',   2 V = sum d_i K_t d_i + k_i s_i^2,

c_i the centre of carrier i. Dampers have the form of V.

Numbers: the eigenvalues of this model, with and without dampers; the weight, which the tyres carry at rest.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery._common import Number, present
from porthos.integrate.scheme import Scheme
from porthos.show import figures as show
from porthos.show.axes import label, legend, new_figure

SCHEME = ph.MidpointGGL()
GRAVITY = 9.81
CHASSIS, CARRIER = ph.Box(1200.0, (3.8, 1.0, 0.5)), ph.Cylinder(45.0, 0.3, 0.2, axis="y")
FRONT, REAR, HALF_TRACK = 1.2, -1.4, 0.75  # contacts from the centre of the chassis
HEIGHT, RADIUS, MOUNT = 0.65, 0.3, 0.8  # of the chassis, of a wheel, of the upper end of a suspension spring
INSIDE = 0.16  # a suspension spring is as much nearer to the middle than the wheel
STIFFNESS, DAMPING = {FRONT: 40e3, REAR: 35e3}, 3e3
TYRE, TYRE_DAMPING = (180e3, 150e3, 220e3), (200.0, 200.0, 100.0)
CORNERS = {
    "front left": (FRONT, HALF_TRACK),
    "front right": (FRONT, -HALF_TRACK),
    "rear left": (REAR, HALF_TRACK),
    "rear right": (REAR, -HALF_TRACK),
}


def model(gravity: float = GRAVITY, damped: bool = True, place: tuple[float, float] = (0.0, 0.0)) -> ph.Model:
    """The car at (x, y) with all springs relaxed; names of corners come after those of parts."""
    car = ph.Model("car", gravity=(0, 0, -gravity))
    add_car(car, "", place, damped)
    return car


def add_car(model: ph.Model, tag: str, place: tuple[float, float], damped: bool = True) -> None:
    """Put a car into a model; `tag` is put before all names, so that there may be several."""
    x, y = place
    chassis = model.body(f"{tag}chassis", CHASSIS, position=(x, y, HEIGHT))
    for corner, (along, across) in CORNERS.items():
        at = np.array([x + along, y + across, RADIUS])
        contact = at * (1, 1, 0)
        lower = at - np.array([0.0, np.sign(across) * INSIDE, 0.0])
        upper = lower * (1, 1, 0) + np.array([0.0, 0.0, MOUNT])
        wheel = model.body(f"{tag}{corner}", CARRIER, position=at)
        model.prismatic(f"{tag}slide {corner}", chassis, wheel, at=at, axis=(0, 0, 1))
        suspension = DAMPING if damped else 0.0
        tyre = TYRE_DAMPING if damped else (0.0, 0.0, 0.0)
        model.spring(
            f"{tag}suspension {corner}", chassis, wheel, upper, lower, stiffness=STIFFNESS[along], damping=suspension
        )
        model.bushing(f"{tag}tyre {corner}", model.ground, wheel, contact, TYRE, tyre)


def run(scheme: Scheme = SCHEME, step: float = 2e-3, end: float = 3.0) -> ph.Trajectory:
    """The car is let go on relaxed springs."""
    return ph.simulate(model(), scheme, step=step, end=end)


def number() -> Number:
    """Frequencies without and eigenvalues with dampers, what tyres carry at rest, what the energy balance misses."""
    free, damped = (ph.modes(model(gravity=0.0, damped=one)) for one in (False, True))
    rest = run(end=10.0)
    carried = sum(-rest.element(f"tyre {corner}").force[-1, 2] for corner in CORNERS)
    values = np.asarray(damped.eigenvalues)
    slow = values[values.imag > 0.0][:3]
    return {
        "frequencies": np.sort(free.frequencies),
        "eigenvalues": np.column_stack([slow.real, slow.imag]),
        "carried": float(carried),
        "balance": float(np.abs(rest.energy - rest.energy[0] + rest.dissipated_energy).max()),
    }


def figures() -> dict[str, Figure]:
    """The car, how it sinks, and where its energy goes."""
    one = run()
    sinking, axes = new_figure(2)
    for corner in ("front left", "rear left"):
        axes[0].plot(one.t, one.element(f"suspension {corner}").measure, label=f"{corner.split()[0]} suspension")
        axes[1].plot(one.t, one.element(f"tyre {corner}").force[:, 2], label=f"{corner.split()[0]} tyre")
    label(axes[0], "length of a spring [m]")
    label(axes[1], "vertical force [N]")
    for ax in axes:
        legend(ax)
    return {
        "motion": show.motion(one, times=(0.0,), paths=False),
        "sinking": sinking,
        "energy": show.energy(one),
        "energy_error": show.energy_error(one),
    }


def main() -> None:
    """Print the summary and write the figures."""
    present("car", run(), figures())


if __name__ == "__main__":
    main()
