"""Lagrange's top in steady precession: a cone on its tip, whose axis goes round at 60 degrees and does not nod.

A cone of height a = 0.1, radius r = a/2 and density 2700 turns about its tip; its centre of mass is at l = 3 a/4. With
m = 2700 pi r^2 a/3, J1 = 3/80 m (4 r^2 + a^2) and J3 = 3/10 m r^2, nutation theta and precession p stay as they are if
the cone spins by

s = m g l/(J3 p) + (J1 + m l^2 - J3)/J3 p cos(theta).

With theta = 60 degrees and p = 10 rad/s that is s = 135.6 rad/s; this cone has J1 = J3. A scheme of order k nods by
O(h^k), and its axis is ahead by O(h^k). Nothing else is left to be wrong: PH-MP-GGL and its compositions keep energy,
the momentum about the vertical and both levels of the constraints to round-off, at every order.

Numbers: nutation of 60 degrees and precession at 10 rad/s at all times, by 10 rad in 1 s, and the orders at which
schemes nod and go ahead.
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

GRAVITY, HEIGHT, RADIUS = 9.81, 0.1, 0.05
MASS, CENTRE = 2700 * np.pi * RADIUS**2 * HEIGHT / 3, 0.75 * HEIGHT
J1, J3 = 3 / 80 * MASS * (4 * RADIUS**2 + HEIGHT**2), 0.3 * MASS * RADIUS**2
NUTATION, PRECESSION = np.pi / 3, 10.0
SPIN = MASS * GRAVITY * CENTRE / (J3 * PRECESSION) + (J1 + MASS * CENTRE**2 - J3) / J3 * PRECESSION * np.cos(NUTATION)
SCHEME = ph.Composition(ph.MidpointGGL(), order=6)
ORDERS: dict[str, Scheme] = {**SCHEMES, **{f"composed, order {p}": ph.Composition(order=p) for p in (4, 6)}}
STEPS = (4e-3, 2e-3, 1e-3)


def model() -> ph.Model:
    """The axis in the plane y = 0, the body frame turned about y."""
    s, c = np.sin(NUTATION), np.cos(NUTATION)
    axis = np.array([s, 0.0, c])
    turning = SPIN * axis + (0.0, 0.0, PRECESSION)
    top = ph.Model("Lagrange top", gravity=(0, 0, -GRAVITY))
    top.body(
        "top",
        ph.Inertia(MASS, (J1, J1, J3)),
        position=CENTRE * axis,
        rotation=((0, 1, 0), NUTATION),
        velocity=np.cross(turning, CENTRE * axis),
        angular_velocity=turning,
    )
    top.spherical("tip", top.ground, "top", at=(0, 0, 0))
    return top


def run(scheme: Scheme = SCHEME, step: float = 1e-3, end: float = 1.0) -> ph.Trajectory:
    """Simulate the top, while its axis goes round by 10 rad."""
    return ph.simulate(model(), scheme, step=step, end=end)


def nutation(one: ph.Trajectory) -> Array:
    """The angle (T,) of the axis against the vertical."""
    x, y, z = one["top"].position.T
    return np.arctan2(np.hypot(x, y), z)


def precession(one: ph.Trajectory) -> Array:
    """The angle (T,) by which the axis has gone round."""
    x, y, _ = one["top"].position.T
    return np.unwrap(np.arctan2(y, x))


def precession_rate(one: ph.Trajectory) -> Array:
    """How fast the axis goes round (T,) at each time."""
    (x, y, _), (u, v, _) = one["top"].position.T, one["top"].velocity.T
    return (x * v - y * u) / (x * x + y * y)


def errors(scheme: Scheme, steps: tuple[float, ...] = STEPS) -> Array:
    """By how much the top nods, and the error of its precession at the end (2, steps)."""
    runs = [run(scheme, h) for h in steps]
    return np.array([[np.ptp(nutation(one)), abs(precession(one)[-1] - PRECESSION * one.t[-1])] for one in runs]).T


def number() -> Number:
    """Lowest and highest nutation [rad], precession in 1 s [rad], how far its rate spreads, and orders of both."""
    one, found = run(), [errors(scheme, STEPS[-2:]) for scheme in ORDERS.values()]
    nodding, ahead = np.log2([np.divide(*each.T) for each in found]).T
    return {
        "nutation": np.array([nutation(one).min(), nutation(one).max()]),
        "precession": float(precession(one)[-1]),
        "spread": float(np.ptp(precession_rate(one))),
        "orders": nodding,
        "orders of the precession": ahead,
    }


def figures() -> dict[str, Figure]:
    """How schemes nod, orders, and what is exact in all of them."""
    runs = {name: run(scheme, 2e-3) for name, scheme in ORDERS.items()}
    nodding, (ax,) = new_figure()
    for name, one in runs.items():
        ax.plot(one.t[1:], np.abs(nutation(one) - NUTATION)[1:], label=name)
    label(ax, "error of the nutation [rad]", log=True)
    legend(ax, columns=2, outside=True)
    found = {name: errors(scheme) for name, scheme in ORDERS.items()}
    return {
        "nutation": nodding,
        "orders": show.convergence(STEPS, {name: e[0] for name, e in found.items()}, order=(2, 4, 6)),
        "motion": show.motion(runs["composed, order 6"], times=(0.0, 0.05, 0.1, 0.15)),
        "energy_error": show.energy_error(runs["composed, order 6"]),
        "constraint_errors": show.constraint_errors({name: runs[name] for name in ("PH-MP", "PH-MP-GGL")}),
    }


def main() -> None:
    """Print the summary and write the figures."""
    present("lagrange_top", run(), figures())


if __name__ == "__main__":
    main()
