"""An overhead crane whose three drives follow given motions: a load on a rope that swings in space.

A bridge travels along x, a trolley crosses it along y, and a winch on the trolley shortens the rope. Each drive is a
row g(q) = c(t). Bridge and trolley do what they are told; only the load is free. With the place s(t) of the trolley,
the length l(t) of the rope and d = r - s, the load obeys

r'' = g - k d,   k = (d.(g - s'') + |d'|^2 - l l'' - l'^2)/l^2,

g the acceleration of gravity, k l m the pull of the rope. The drives need the forces (m_b + m_t) s_x'' - m k d_x,
m_t s_y'' - m k d_y and m k l.

Does the load swing when the crane stands? The smooth ramp x^3 (10 - 15 x + 6 x^2) over a way D in a time tau leaves
small swings with the amplitude 15 |j(z)|/z^2 D/l, z = pi tau/T, T the period of the pendulum, j the spherical Bessel
function of order 2. For tau = T that is 45/pi^4 D/l. The first zero of j is at z = 5.763: after a ramp that takes 1.835
periods the load hangs still. Over a way as long as the rope this one leaves 0.002 degrees, a ramp of one period 26.

Numbers: the load and the forces at t = 3, 6, 10 from the equation above; the amplitudes that both ramps leave after a
short way.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery._common import SCHEMES, Number, extrapolated, present
from porthos.integrate.scheme import Scheme
from porthos.model.signals import Signal
from porthos.notation import Array
from porthos.show import figures as show
from porthos.show.axes import label, legend, new_figure

SCHEME = ph.MidpointGGL()
GRAVITY, LOAD, LENGTH = 9.81, 800.0, 4.0
BRIDGE, TROLLEY = ph.Box(1500.0, (0.5, 7.0, 0.5)), ph.Box(250.0, (0.9, 0.7, 0.4))
HEIGHT, SIDE = 6.0, -2.0  # of the bridge, and of the trolley on it
DRUM = np.array([0.0, SIDE, HEIGHT - 0.45])  # where the rope leaves the trolley, at its middle
TRAVEL, CROSS = ph.Ramp(0.5, 5.5, 5.0, smooth=True), ph.Ramp(2.0, 6.0, 3.5, smooth=True)
HOIST = ph.Ramp(4.0, 8.0, 2.0, before=LENGTH, smooth=True)
PERIOD = 2 * np.pi * np.sqrt(LENGTH / GRAVITY)
QUIET = 5.763459196894550 / np.pi  # periods that a ramp takes which leaves no swing
TIMES = np.array([3.0, 6.0, 10.0])


def model(travel: Signal = TRAVEL, cross: Signal = CROSS, hoist: Signal = HOIST) -> ph.Model:
    """At rest, with the load straight below the trolley."""
    crane = ph.Model("crane", gravity=(0, 0, -GRAVITY))
    crane.body("bridge", BRIDGE, position=(0, 0, HEIGHT))
    crane.body("trolley", TROLLEY, position=DRUM)
    crane.point_mass("load", LOAD, position=DRUM - (0, 0, LENGTH))
    rail = np.array([0.0, -3.5, HEIGHT])
    crane.prismatic("rail", crane.ground, "bridge", at=rail, axis=(1, 0, 0))
    crane.slide_drive("travel", crane.ground, "bridge", at=rail, axis=(1, 0, 0), displacement=travel)
    crane.prismatic("girder", "bridge", "trolley", at=DRUM, axis=(0, 1, 0))
    crane.slide_drive("cross", "bridge", "trolley", at=DRUM, axis=(0, 1, 0), displacement=cross)
    crane.length_drive("winch", "trolley", "load", DRUM, DRUM - (0, 0, LENGTH), length=hoist)
    return crane


def run(scheme: Scheme = SCHEME, step: float = 0.01, end: float = 12.0) -> ph.Trajectory:
    """From rest until all drives have stood for four seconds."""
    return ph.simulate(model(), scheme, step=step, end=end)


def ramp_only(periods: float, way: float) -> ph.Trajectory:
    """The bridge alone travels some way in a time of some periods of the load; until four of them are over."""
    travel = ph.Ramp(0.0, periods * PERIOD, way, smooth=True)
    return ph.simulate(model(travel, 0.0, LENGTH), SCHEME, step=PERIOD / 500, end=4 * PERIOD)


def forces(run: ph.Trajectory) -> Array:
    """The forces of the drives of the bridge and of the trolley, and the pull of the rope (T, 3)."""
    along, across, rope = (run.joint(name).force for name in ("travel", "cross", "winch"))
    return np.column_stack([along[:, 0], across[:, 1], np.linalg.norm(rope, axis=1)])


def swing(run: ph.Trajectory) -> Array:
    """The angle of the rope from the vertical (T,), positive where the load is ahead of the trolley along x."""
    d = run["load"].position - run["trolley"].position
    return np.copysign(np.arctan2(np.hypot(d[:, 0], d[:, 1]), -d[:, 2]), d[:, 0])


def left(run: ph.Trajectory) -> float:
    """The amplitude of the swing that a ramp leaves, from its energy m g l (1 - cos A), which the drives put in."""
    work = run.port("travel").work[-1] / (LOAD * GRAVITY * LENGTH)
    return float(2 * np.arcsin(np.sqrt(max(work, 0.0) / 2)))


def number(scheme: Scheme = SCHEME, step: float = 0.01, way: float = 0.02) -> Number:
    """Load and forces at three times, extrapolated; what the balance misses; swings left, relative to way/length."""
    runs = [run(scheme, h, end=TIMES[-1]) for h in (step, step / 2)]
    at = [np.rint(TIMES / one.t[1]).astype(int) for one in runs]
    return {
        "load": extrapolated(*(one["load"].position[k] for one, k in zip(runs, at, strict=True))),
        "forces": extrapolated(*(forces(one)[k] for one, k in zip(runs, at, strict=True))),
        "balance": float(np.abs(np.cumsum(runs[0].power_balance)).max()),
        "swing": np.array([left(ramp_only(periods, way)) * LENGTH / way for periods in (1.0, QUIET)]),
    }


def figures() -> dict[str, Figure]:
    """The crane, what its drives do, and the swing that ramps leave."""
    runs = {name: run(scheme) for name, scheme in SCHEMES.items()}
    one = runs["PH-MP-GGL"]
    drives, axes = new_figure(2)
    for name, force in zip(("travel", "cross"), forces(one).T[:2], strict=True):
        axes[0].plot(one.t, force / 1e3, label=name)
    axes[1].plot(one.t, forces(one)[:, 2] / 1e3, label="winch")
    label(axes[0], "force of the drives [kN]")
    label(axes[1], "pull of the rope [kN]")
    legend(axes[0])
    swings, (ax,) = new_figure()
    for periods, text in ((1.0, "1 period"), (QUIET, "1.835 periods")):
        ramped = ramp_only(periods, LENGTH)
        ax.plot(ramped.t / PERIOD, np.degrees(swing(ramped)), label=f"ramp of {text}")
    label(ax, "swing [degrees]", x="time [periods of the load]")
    legend(ax, outside=True)
    errors = show.constraint_errors(runs)
    for ax in errors.axes:
        ax.set_ylim(bottom=1e-18)  # while nothing moves, there are no errors
    return {
        "motion": show.motion(one, times=(0.0, 3.5, 12.0)),
        "drives": drives,
        "work": show.work(one),
        "swing": swings,
        "energy_error": show.energy_error(one),
        "constraint_errors": errors,
    }


def main() -> None:
    """Print the summary and write the figures."""
    present("crane", run(), figures())


if __name__ == "__main__":
    main()
