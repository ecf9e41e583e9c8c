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
from porthos.notation import Array
from porthos.show.axes import label, new_figure

SCHEME = ph.Gauss(4)
SIGMA, RHO, BETA = 10.0, 28.0, 8.0 / 3.0
SHIFT = RHO + SIGMA
START = (1.0, 1.0, 20.0)  # x, y, z


def model() -> ph.GeneralPHDAE:
    """States (x, y, w); the port 'heating' gets -beta (rho + sigma)."""
    return ph.GeneralPHDAE(
        "Lorenz",
        states=["x", "y", "w"],
        ports=["heating"],
        H=lambda x: 0.5 * x @ x,
        z=lambda x: x,
        J=lambda x: [[0, SIGMA, 0], [-SIGMA, 0, -x[0]], [0, x[0], 0]],
        R=np.diag([SIGMA, 1, BETA]),
        B=[[0], [0], [1]],
        initial=(START[0], START[1], START[2] - SHIFT),
    )


def run(step: float = 0.01, end: float = 20.0) -> ph.StateTrajectory:
    """From (1, 1, 20)."""
    return ph.simulate(model(), SCHEME, step=step, end=end, inputs={"heating": -BETA * SHIFT})


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
