"""A row of thirty four-bars with hinges everywhere: 90 rows too many, and twice in each turn a singular position.

31 rods of 1 m and 1 kg stand upright on the ground, 30 couplers like them join their upper ends, which start with 1 m/s
(after problem A02 of the multibody benchmark library). All 91 hinges have parallel axes: 455 rows have rank 365. When
the rods lie in one line with the couplers, every coupler could swing up or down on its own; the row goes through that
twice in 2 s.

All rods stay parallel, so with the moment J of a rod about its hinge their angle a obeys

((N + 1) J + N m l^2) a'' = ((N + 1)/2 + N) m g l sin(a).

Numbers: rows, rank and degrees of freedom; the angle from this equation; how parallel the rods are.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery._common import Number, present
from porthos.examples.four_bars import COUNT, model, run
from porthos.notation import Array
from porthos.show import figures as show
from porthos.show.axes import label, new_figure

TIMES = (0.5, 1.0, 2.0)


def angles(one: ph.Trajectory) -> Array:
    """Of all rods (T, N + 1) against the vertical."""
    along = [one[f"rod {k}"].rotation[:, :, 2] for k in range(COUNT + 1)]
    return np.unwrap(np.column_stack([np.arctan2(d[:, 0], d[:, 2]) for d in along]), axis=0)


def number() -> Number:
    """Rows, rank, freedom by count and by rank; the angle at `TIMES`; the largest differences of angles and energy."""
    one, found = run(), model().diagram().mobility
    turned = angles(one)
    return {
        "rows": np.array([found.rows, found.rank, found.counted, found.freedom]),
        "angle": turned[[round(t / one.t[1]) for t in TIMES], 0],
        "parallel": float(np.ptp(turned, axis=1).max()),
        "dE": float(np.ptp(one.energy)),
    }


def figures() -> dict[str, Figure]:
    """The angle and balances of the row, and the motion of a short one."""
    one = run()
    turning, (ax,) = new_figure()
    ax.plot(one.t, np.degrees(angles(one)[:, 0]))
    for singular in (90, 270):
        ax.axhline(singular, color="#777777", linestyle="--", linewidth=1.0)
        ax.annotate("all in one line", (0.02, singular), va="bottom", fontsize=9, color="#777777")
    ax.set_yticks(range(0, 361, 90))
    label(ax, "angle of the rods [degrees]")
    return {
        "motion": show.motion(run(end=1.0, count=3), times=(0.0, 0.5, 0.7), paths=False),
        "angle": turning,
        "energy": show.energy(one),
        "energy_error": show.energy_error(one),
        "constraint_errors": show.constraint_errors({"order 6": one}),
    }


def main() -> None:
    """Print which rows repeat others and the summary, and write the figures."""
    for repeat in model().diagram().mobility.repeats:
        print(repeat)
    present("four_bars", run(), figures())


if __name__ == "__main__":
    main()
