"""A flexible arm is brought to turn: Simo and Vu-Quoc's spin-up manoeuvre, with a geometrically exact beam.

A motor turns the root of a straight beam of length L = 10 about z by the angle

psi(t) = 2/5 (t^2/2 + (15/(2 pi))^2 (cos(2 pi t/15) - 1)) up to t = 15 s,   then 6 t - 45.

The tip lags behind while the motor accelerates, and comes back when the turning is steady: centrifugal forces stiffen
the beam. Models that take deformations for small in the wrong place miss that, or bend without bound. Steady turning
stretches the arm by omega^2 m L^3/(3 E A), m its mass per length.

Numbers: the largest lag, from an independent computation with geometrically exact beams; the stretch, exact. Both are
extrapolated from 8 and 16 elements, with half the step.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery._common import Number, extrapolated, present
from porthos.integrate.scheme import Scheme
from porthos.notation import Array
from porthos.show import figures as show
from porthos.show.axes import label, new_figure

SCHEME = ph.Midpoint()
LENGTH, STEADY = 10.0, 15.0
SECTION = ph.Section(
    stiffness=(1e7, 1e7, 2.8e7),
    turning_stiffness=(1.4e4, 1.4e4, 1e4),
    mass_per_length=1.2,
    inertia_per_length=(6e-4, 6e-4, 1.2e-3),
)
ANGLE = "0.4*(min(t, 15)**2/2 + (7.5/pi)**2*(cos(2*pi*min(t, 15)/15) - 1)) + 6*(t - min(t, 15))"


def model(elements: int = 16) -> ph.Model:
    """The arm along x, at rest."""
    arm = ph.Model("flexible arm")
    arm.beam("arm", SECTION, start=(0, 0, 0), end=(LENGTH, 0, 0), elements=elements)
    arm.revolute("axis", arm.ground, "arm.start", at=(0, 0, 0), axis=(0, 0, 1))
    arm.turn_drive(
        "motor", arm.ground, "arm.start", at=(0, 0, 0), axis=(0, 0, 1), angle=ph.Expression(ANGLE, breakpoints=(15.0,))
    )
    return arm


def run(scheme: Scheme = SCHEME, step: float = 0.02, end: float = 20.0, elements: int = 16) -> ph.Trajectory:
    """From rest to steady turning."""
    return ph.simulate(model(elements), scheme, step=step, end=end)


def tip(run: ph.Trajectory) -> tuple[Array, Array]:
    """How far the tip is ahead of the root, across the arm, and how much further out than without load (T,)."""
    across, _, along = np.einsum("tij,ti->jt", run["arm.start"].rotation, run["arm.end"].position)
    return across, along - LENGTH


def number(scheme: Scheme = SCHEME, step: float = 0.02, elements: int = 8) -> Number:
    """The largest lag and the steady stretch, extrapolated, and what the energy balance misses."""
    found = []
    for k in (1, 2):
        one = run(scheme, step / k, elements=k * elements)
        ahead, out = tip(one)
        low = int(np.argmin(ahead))
        curve = np.polynomial.Polynomial.fit(one.t[low - 1 : low + 2], ahead[low - 1 : low + 2], 2)
        found.append(np.array([curve(curve.deriv().roots()[0]), out[one.t > STEADY + 1.0].mean()]))
    lag, stretch = extrapolated(*found)
    return {"lag": float(lag), "stretch": float(stretch), "balance": float(np.abs(np.cumsum(one.power_balance)).max())}


def figures() -> dict[str, Figure]:
    """The arm as it turns, its tip, and the moment at its root."""
    one = run()
    beam, (ahead, out) = one.beam("arm"), tip(one)
    lag, axes = new_figure(2)
    axes[0].plot(one.t, ahead)
    label(axes[0], "tip ahead of the root [m]")
    axes[1].plot(one.t, 1e3 * out)
    label(axes[1], "tip further out [mm]")
    moment, (below,) = new_figure()
    below.plot(one.t, beam.moment[:, 0, 1])
    label(below, "bending moment near the root [N m]")
    return {
        "motion": show.motion(one, times=(3.0, 4.5, 5.5, 6.2, 6.76), paths=False),
        "tip": lag,
        "moment": moment,
        "energy": show.energy(one),
        "work": show.work(one),
    }


def main() -> None:
    """Print the summary and write the figures."""
    present("flexible_arm", run(), figures())


if __name__ == "__main__":
    main()
