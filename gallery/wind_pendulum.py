"""A pendulum in viscous air that flows: the wind once as a port, once as a potential (000, section 4.4.2).

m v' = -m g e_y - kappa v + m alpha e_x - G^T lambda,   0 = G v,   G = (x, y)
port        H = m/2 v.v + m g y,               u = m alpha e_x,  y = v: its work is recorded
potential   H = m/2 v.v + m g y - m alpha x,   no input: the same motion, another energy

(000 prints J with [G 0 0] and the input alpha; it is [0 G 0], and the force of the wind is m alpha.)

Number: position at t = 1, 2, 4 from l a'' = -g sin a + alpha cos a - kappa/m l a', a from the downward vertical.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from gallery._common import Number, present
from porthos.examples.wind_pendulum import model as model
from porthos.examples.wind_pendulum import run
from porthos.show.axes import label, legend, new_figure

TIMES = np.array([1.0, 2.0, 4.0])


def number() -> Number:
    """Positions at three times, and by how much both forms and their energies differ."""
    port, potential = run("port"), run("potential")
    work = port.port("wind").work
    return {
        "position": port["position"][np.rint(TIMES / 0.02).astype(int)],
        "motion": float(np.abs(port.x - potential.x).max()),
        "energy": float(np.abs((port.H - port.H[0]) - (potential.H - potential.H[0]) - work).max()),
    }


def figures() -> dict[str, Figure]:
    """Energies of both forms, and the work of the wind."""
    port, potential = run("port"), run("potential")
    figure, (ax,) = new_figure()
    ax.plot(port.t, port.H - port.H[0], label="energy, wind as port")
    ax.plot(potential.t, potential.H - potential.H[0], label="energy, wind as potential")
    ax.plot(port.t, port.port("wind").work, label="work of the wind")
    ax.plot(port.t, port.dissipated, label="lost to viscosity")
    label(ax, "change of energy [J]")
    legend(ax)
    return {"energy": figure}


def main() -> None:
    """Print the summary and write the figure."""
    present("wind_pendulum", run(), figures())


if __name__ == "__main__":
    main()
