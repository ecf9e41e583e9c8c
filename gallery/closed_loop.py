"""Closed loop of four bars (document 001, section 7.2): energy and momentum stay after the load has gone.

Four bars of length 10, square section 1 and density 1 form a square with spherical joints at its corners; nothing
holds it. During the first second bar 1 is pushed at its centre of mass and twisted:

F = 8 f(t) e1,  tau = 6 f(t) e1,  f = 200 t for t <= 0.5,  f = 200 (1 - t) for 0.5 < t <= 1,  f = 0 afterwards.

The impulses are p = (400, 0, 0) and L = (300, 0, 0). The map (32) of 001 from a torque to forces on the directors
(`torque_map="printed"`) loses part of the angular impulse within each step; the default ("exact") keeps all of it.

Numbers after the load, PH-MP with h = 0.1: E = 2095.569748, L = (300, 0, 0) with the exact map; E = 2095.376897,
L = (299.745359, 0, 0) with map (32). The continuous solution has E = 2096.167842.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery._common import SCHEMES, Number, present
from porthos.integrate.scheme import Scheme
from porthos.model.forces import TorqueMap
from porthos.show import figures as show
from porthos.show.axes import label, legend, new_figure

SCHEME = ph.Midpoint()
LENGTH, WIDTH, MASS = 10.0, 1.0, 10.0
LARGEST = 100.0  # f_m of Table 3


def ramp(t: float) -> float:
    """f(t): up to f_m within half a second and down again."""
    return max(0.0, 2 * LARGEST * min(t, 1.0 - t))


def impulse(t: float) -> float:
    """The integral of f from 0 to t."""
    return LARGEST * (min(t, 0.5) ** 2 + 0.25 - (1.0 - min(max(t, 0.5), 1.0)) ** 2)


def model(torque_map: TorqueMap = "exact") -> ph.Model:
    """The loop at rest in the plane z = 0, with corners (+-5, +-5, 0), and the load on bar 1."""
    loop = ph.Model("closed loop")
    half, e1 = LENGTH / 2, np.array([1.0, 0.0, 0.0])
    along_x, along_y = ph.Box(MASS, (LENGTH, WIDTH, WIDTH)), ph.Box(MASS, (WIDTH, LENGTH, WIDTH))
    bars = [
        loop.body("bar 1", along_y, position=(half, 0, 0)),
        loop.body("bar 2", along_x, position=(0, half, 0)),
        loop.body("bar 3", along_y, position=(-half, 0, 0)),
        loop.body("bar 4", along_x, position=(0, -half, 0)),
    ]
    corners = ((half, half, 0), (-half, half, 0), (-half, -half, 0), (half, -half, 0))
    for k, corner in enumerate(corners):
        loop.spherical(f"corner {k + 1}", bars[k], bars[(k + 1) % 4], at=corner)
    loop.load(
        "push", bars[0], force=lambda t: 8 * ramp(t) * e1, torque=lambda t: 6 * ramp(t) * e1, torque_map=torque_map
    )
    return loop


def run(
    scheme: Scheme = SCHEME, step: float = 0.1, end: float = 10.0, torque_map: TorqueMap = "exact"
) -> ph.Trajectory:
    """Simulate the loop; every state is kept."""
    return ph.simulate(model(torque_map), scheme, step=step, end=end)


def number(torque_map: TorqueMap = "exact") -> Number:
    """Energy, angular and linear momentum at t = 10, nine seconds after the load."""
    last = run(torque_map=torque_map)
    return {"E": float(last.energy[-1]), "L": last.angular_momentum[-1], "p": last.linear_momentum[-1]}


def figures() -> dict[str, Figure]:
    """Figures 12 to 14 of 001, the balances, and what map (32) loses."""
    runs = {name: run(scheme) for name, scheme in SCHEMES.items()}
    loop = runs["PH-MP"]
    return {
        "motion": show.motion(loop, times=np.linspace(0.0, 10.0, 6)),
        "energy": show.energy(loop),
        "energy_error": show.energy_error(loop),
        "angular_momentum": show.angular_momentum(loop),
        "constraint_errors": show.constraint_errors(runs),
        "torque_maps": _torque_maps(),
    }


def _torque_maps() -> Figure:
    """What the angular momentum lacks of the impulse 6 int f dt of the torque, with both maps."""
    figure, (ax,) = new_figure()
    maps: dict[str, TorqueMap] = {"exact map": "exact", "map (32)": "printed"}
    for name, torque_map in maps.items():
        loop = run(end=2.0, torque_map=torque_map)
        ax.plot(loop.t, loop.angular_momentum[:, 0] - [6 * impulse(t) for t in loop.t], label=name)
    label(ax, r"$L_x - \int\tau_x\,\mathrm{d}t$ [kg m²/s]")
    legend(ax, columns=2, outside=True)
    return figure


def main() -> None:
    """Print the summary of the run of 001 and write the figures."""
    present("closed_loop", run(), figures())


if __name__ == "__main__":
    main()
