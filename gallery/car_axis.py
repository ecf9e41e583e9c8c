"""Car axis: a bar on two stiff springs, one end of the ground below it goes up and down.

The left spring stands at (0, 0), the right one at (x_b, y_b), y_b = r sin(w t), x_b^2 + y_b^2 = L^2. The ends of the
bar are (x_l, y_l) and (x_r, y_r); springs of unit stiffness have the length L0 at rest:

k q'' = spring forces - k g e_y - G^T lambda,    k = M eps^2/2 = 5e-4,

x_l x_b + y_l y_b = 0,    (x_l - x_r)^2 + (y_l - y_r)^2 = L^2.

The first constraint depends on time and so does the foot of the right spring, but a Lagrangian may not: the foot is a
point with two coordinates of its own, without mass, that two more constraints hold where it has to be. The port
'constraints' tells the work that moving the ground takes. From the DAE test set, with index 3.

Numbers: (x_l, y_l, x_r, y_r) = (0.0493455784275403, 0.496989460230171, 1.04174252488542, 0.373911027265361) and
velocities (-0.0770583684040972, 0.00744686658723779, 0.0175568157537232, 0.770341043779252) at t = 3.
"""

from __future__ import annotations

from matplotlib.figure import Figure

import porthos as ph
from gallery._common import Number, present
from porthos.examples.car_axis import SCHEME, run
from porthos.examples.car_axis import model as model
from porthos.integrate.state_scheme import StateScheme
from porthos.show.axes import label, legend, new_figure

METHODS: dict[str, tuple[StateScheme, float]] = {  # each with a step that gives ten digits
    "Radau IIA": (SCHEME, 1e-2),
    "Gauss": (ph.Gauss(5), 5e-3),
    "Lobatto IIIC": (ph.LobattoIIIC(5), 5e-3),
    "DOP853": (ph.DOP853(), 5e-3),
}


def number(method: str = "Radau IIA") -> Number:
    """Both ends of the bar and their velocities at t = 3."""
    end = run(*METHODS[method]).x[-1]
    return {"q": end[:4], "v": end[6:10]}


def figures() -> dict[str, Figure]:
    """Heights of the ground and of both ends, and where the energy comes from."""
    one = run()
    heights, (ax,) = new_figure()
    for name, text in {"y_l": "left end", "y_r": "right end", "y_b": "ground on the right"}.items():
        ax.plot(one.t, one[name], label=text)
    label(ax, "height [m]")
    legend(ax, columns=3, outside=True)
    energy, (ax,) = new_figure()
    ax.plot(one.t, one.H - one.H[0], label="energy")
    ax.plot(one.t, one.port("constraints").work, "--", label="work of the ground")
    label(ax, "energy since the start [J]")
    legend(ax, columns=2, outside=True)
    return {"heights": heights, "energy": energy}


def main() -> None:
    """Print the summary and write the figures."""
    present("car_axis", run(), figures())


if __name__ == "__main__":
    main()
