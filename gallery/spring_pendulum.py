"""A mass on a nonlinear spring in spherical coordinates: M(q) = m diag(1, r^2, r^2 sin^2 theta) (003, section 6.2).

V = EA e^2/2,   e = (r^2 - l0^2)/(2 l0^2),   m = 1,  EA = 300,  l0 = 1;  q = (1.05, pi/2, 0) and v = (0, 1, 1) at t = 0.

The generalised energy p.v - L is exact, the energy only as good as p = M v: 2.9e-4 with h = 0.01. The angle phi is
cyclic and its momentum exact, because corrections are restricted to the coordinates on which L depends.

Numbers: Cartesian position (0.0213319317, 0.7239137315, -0.7239137315) at t = 1.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery._common import Number, extrapolated, present
from porthos.examples.spring_pendulum import SCHEME, run
from porthos.examples.spring_pendulum import model as model
from porthos.notation import Array
from porthos.show.axes import label, legend, log_abscissa, new_figure

STEPS = (0.02, 0.01, 0.005, 0.0025)
FLOOR = 1e-17  # what is smaller is drawn here


def cartesian(q: Array) -> Array:
    """The position (..., 3) of the mass."""
    r, theta, phi = np.moveaxis(q, -1, 0)
    return np.stack([r * np.sin(theta) * np.cos(phi), r * np.sin(theta) * np.sin(phi), r * np.cos(theta)], axis=-1)


def end_point(scheme: ph.Livens, step: float) -> Array:
    """The position at t = 1."""
    return cartesian(run(scheme, step).q[-1])


def number() -> Number:
    """The end point, extrapolated to h = 0, and the largest deviation of the energy with h = 0.01."""
    H = run().H
    return {
        "end": extrapolated(end_point(SCHEME, 2e-3), end_point(SCHEME, 1e-3)),
        "energy": float(np.abs(H - H[0]).max()),
    }


def figures() -> dict[str, Figure]:
    """What is exact and what is not, and the orders of both partitions."""
    one = run()
    monitors, (ax,) = new_figure()
    values = {
        "generalised energy [J]": one.generalized_energy - one.generalized_energy[0],
        "energy [J]": one.H - one.H[0],
        "|p - M v| [kg m/s]": one.momentum_gap,
        "momentum of $\\varphi$ [kg m$^2$/s]": one.p[:, 2] - one.p[0, 2],
    }
    for name, error in values.items():
        ax.plot(one.t, np.maximum(np.abs(error), FLOOR), label=name)
    label(ax, "error", log=True)
    legend(ax, columns=2, outside=True)
    orders, (ax,) = new_figure()
    exact = number()["end"]
    for partition in ("symmetric", "sequential"):
        scheme = ph.Livens(partition=partition)
        ax.plot(STEPS, [np.abs(end_point(scheme, h) - exact).max() for h in STEPS], "o-", label=partition)
    log_abscissa(ax)
    label(ax, "error at $t = 1$ [m]", "step $h$ [s]", log=True)
    legend(ax)
    return {"monitors": monitors, "orders": orders}


def main() -> None:
    """Print the summary and write the figures."""
    present("spring_pendulum", run(), figures())


if __name__ == "__main__":
    main()
