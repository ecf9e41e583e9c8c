"""A block on a Maxwell element: a spring and a damper in series, a pH system of its own that is connected by a port.

element     e' = v - k e/c,   F = k e,   H = k e^2/2      the elongation e of the spring is its state
block       m v' = -F                                     a body on a slide, with a force port

Feedback joins them: the element gets the rate v of the block and gives the force -F back. No point without mass lies
between spring and damper; its balance of forces is what makes F the force of both. A spring and a damper side by
side are the force element `model.spring(..., damping=c)`.

Numbers: e(t) and v(t) after a knock by the exponential of a 2 x 2 matrix; the way of the block until it stops, m v0/c,
since the damper takes all of its impulse; and the relaxation e = e0 exp(-k t/c) of an element that is held.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery._common import Number, extrapolated, present
from porthos.notation import Array
from porthos.show.axes import label, legend, new_figure
from porthos.system.interconnect import Interconnection

SCHEME = ph.Gauss(1)
MASS, STIFFNESS, DAMPING, SPEED = 2.0, 200.0, 30.0, 1.5
TIMES = np.array([0.1, 0.3, 1.0])


def element(stretched: float = 0.0) -> ph.Maxwell:
    """Spring and damper in series: the rate is the input, the force the output."""
    return ph.Maxwell("element", STIFFNESS, DAMPING, elongation=stretched)


def block() -> ph.Model:
    """A block on a slide, knocked at t = 0."""
    model = ph.Model("block")
    model.body("block", ph.Box(MASS, (0.1, 0.1, 0.1)), velocity=(SPEED, 0, 0))
    model.prismatic("slide", model.ground, "block", at=(0, 0, 0), axis=(1, 0, 0))
    model.port("force", "block", kind="force", direction=(1, 0, 0))
    return model


def model() -> Interconnection:
    """Block and element in negative feedback."""
    return ph.interconnect(
        block().assemble(), element(), through=ph.Feedback("force", "rate", name="joint"), name="Maxwell element"
    )


def run(step: float = 0.01, end: float = 2.0) -> ph.StateTrajectory:
    """After the knock."""
    return ph.simulate(model(), SCHEME, step=step, end=end)


def elongation_and_speed(run: ph.StateTrajectory) -> Array:
    """e and v (T, 2)."""
    return np.column_stack([run["element: elongation"], run["block: v of 'block'"][:, 0]])


def number(step: float = 0.01) -> Number:
    """e and v at three times, extrapolated; where the block stops; relaxation; what the energy balance misses."""
    runs = [run(h, end=TIMES[-1]) for h in (step, step / 2)]
    rows = [np.rint(TIMES / h).astype(int) for h in (step, step / 2)]
    states = [elongation_and_speed(one)[row] for one, row in zip(runs, rows, strict=True)]
    held = ph.simulate(element(0.05), ph.Gauss(3), step=step, end=0.3)
    return {
        "state": extrapolated(*states),
        "way": float(run(2 * step, end=6.0)["block: q of 'block'"][-1, 0]),
        "relaxed": float(held["elongation"][-1]),
        "balance": float(np.abs(runs[0].power_balance).max()),
    }


def figures() -> dict[str, Figure]:
    """Spring, damper and block; and where the energy goes."""
    one = run()
    values, place = elongation_and_speed(one), one["block: q of 'block'"][:, 0]
    motion, (ax,) = new_figure()
    ax.plot(one.t, place, label="block")
    ax.plot(one.t, values[:, 0], label="spring")
    ax.plot(one.t, place - values[:, 0], label="damper")
    label(ax, "displacement [m]")
    legend(ax)
    energy, (ax,) = new_figure()
    ax.plot(one.t, MASS * values[:, 1] ** 2 / 2, label="block")
    ax.plot(one.t, STIFFNESS * values[:, 0] ** 2 / 2, label="spring")
    ax.plot(one.t, one.dissipated, label="heat")
    label(ax, "energy [J]")
    legend(ax)
    return {"motion": motion, "energy": energy}


def main() -> None:
    """Print the summary and write the figures."""
    present("maxwell", run(), figures())


if __name__ == "__main__":
    main()
