"""The Lorenz equations as a pH system: what is conserved, what is lost, and what drives them.

x' = sigma (y - x),  y' = rho x - y - x z,  z' = x y - beta z;   with w = z - rho - sigma and H = (x^2 + y^2 + w^2)/2
J = [0 sigma 0; -sigma 0 -x; 0 x 0],   R = diag(sigma, 1, beta),   B = e_3,   u = -beta (rho + sigma).

The convection turns energy over (J), friction and conduction lose it (R), the heating is a port: dH/dt = y u - z.R z.
So H falls wherever it is large, and the attractor is bounded.

Number: the state at t = 1 and 2 from SciPy (chaos forbids later times), and the power balance, which Gauss keeps.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery._common import Number, present
from porthos.examples.lorenz import BETA as BETA
from porthos.examples.lorenz import SHIFT, run
from porthos.examples.lorenz import model as model
from porthos.notation import Array
from porthos.show.axes import label, new_figure


def positions(run: ph.StateTrajectory) -> Array:
    """x, y, z over time (T, 3)."""
    return run.x + np.array([0.0, 0.0, SHIFT])


def number() -> Number:
    """The state at t = 1 and 2, and the largest defect of the power balance relative to the energy."""
    one = run(end=2.0)
    return {"state": positions(one)[[100, 200]], "balance": float(np.abs(one.power_balance).max() / one.H.max())}


def figures() -> dict[str, Figure]:
    """The attractor, and its energy."""
    one = run()
    x, _, z = positions(one).T
    figure, axes = new_figure(1, 2)
    axes[0].plot(x, z, linewidth=0.7)
    label(axes[0], "$z$ [1]", "$x$ [1]")
    axes[1].plot(one.t, one.H)
    label(axes[1], "energy $H$ [1]")
    return {"attractor": figure}


def main() -> None:
    """Print the summary and write the figure."""
    present("lorenz", run(), figures())


if __name__ == "__main__":
    main()
