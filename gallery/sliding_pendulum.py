"""A pendulum whose support slides along a rail: M(phi) with a gyroscopic term, singular if the support has no mass.

L = (m_s + m) s'^2/2 + m l s' phi' cos phi + m l^2 phi'^2/2 + m g l cos phi,   det M = m l^2 (m_s + m sin^2 phi).

The rail is smooth, so the momentum along it is that of a cyclic coordinate. If the support has no mass, the rod
transmits no force: released at rest, the bob falls freely, l cos phi = l cos phi0 + g t^2/2, and M is singular where
the rod is vertical (000, section 2.2.2 says that M > 0).

Numbers: small swings have the frequency sqrt(g (m_s + m)/(l m_s)); the fall of the bob is exact.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from gallery._common import Number, extrapolated, present
from porthos.examples.sliding_pendulum import GRAVITY, LENGTH, run
from porthos.examples.sliding_pendulum import model as model
from porthos.notation import Array
from porthos.show.axes import INK, label, legend, new_figure


def period(angle: float = 0.01, support: float = 2.0) -> float:
    """The period of small swings: twice the time between two passages through the vertical."""
    one = run(step=1e-3, end=1.6, support=support, angle=angle)
    phi, t = one["phi"], one.t
    k = np.flatnonzero(phi[:-1] * phi[1:] < 0)[:2]
    crossings = t[k] - phi[k] * (t[k + 1] - t[k]) / (phi[k + 1] - phi[k])
    return float(2 * (crossings[1] - crossings[0]))


def fall(step: float, end: float = 0.2, angle: float = 2.0) -> Array:
    """Depth of the bob below the rail when the support has no mass."""
    one = run(step=step, end=end, support=0.0, angle=angle)
    return LENGTH * np.cos(one["phi"])


def number() -> Number:
    """The period of small swings, and the depth of the bob at t = 0.2 without the mass of the support."""
    return {"period": period(), "depth": float(extrapolated(fall(2e-3)[-1:], fall(1e-3)[-1:])[0])}


def figures() -> dict[str, Figure]:
    """Both coordinates, what is kept, and the bob that falls."""
    one = run()
    motion, (ax,) = new_figure()
    ax.plot(one.t, one["s"], label="support $s$ [m]")
    ax.plot(one.t, one["phi"], label="angle $\\varphi$ [rad]")
    label(ax, "coordinates")
    legend(ax)
    kept, (ax,) = new_figure()
    ax.plot(one.t[1:], np.abs(one.generalized_energy - one.generalized_energy[0])[1:], label="$p.v - L$ [J]")
    ax.plot(one.t[1:], np.abs(one.H - one.H[0])[1:], label="$H$ [J]")
    ax.plot(one.t[1:], np.abs(one.p[1:, 0] - one.p[0, 0]), label="momentum along the rail [kg m/s]")
    label(ax, "error", log=True)
    legend(ax)
    free, (ax,) = new_figure()
    t = np.linspace(0.0, 0.2, 201)
    ax.plot(t, fall(1e-3), label="support without mass")
    ax.plot(t, LENGTH * np.cos(2.0) + GRAVITY * t**2 / 2, "--", color=INK, label="free fall")
    label(ax, "depth of the bob [m]")
    legend(ax)
    return {"motion": motion, "kept": kept, "fall": free}


def main() -> None:
    """Print the summary and write the figures."""
    present("sliding_pendulum", run(), figures())


if __name__ == "__main__":
    main()
