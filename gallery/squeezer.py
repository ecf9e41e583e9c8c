"""Andrews' squeezer: seven bars in the plane in three closed loops, driven by a constant torque.

Seven angles q = (beta, Theta, gamma, Phi, delta, Omega, epsilon) and six constraints, three times that two ways to a
point agree; a spring of stiffness c0 and length l0 pulls the bar that turns with gamma. The crank beta starts at rest,
makes two and a half turns in 0.03 s and reaches 1140 rad/s: the problem of the DAE test set with index 3.

The work of the motor is torque (beta - beta0), so energy is checked too. L is given by the positions of the centres of
mass; SymPy finds the full mass matrix.

Numbers: q(0.03) = (15.810771195154, -15.756371058412, 0.040822240120, -0.534730116342, 0.524409965880, 0.534730116342,
1.048080741042).
"""

from __future__ import annotations

from functools import cache

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery._common import Number, present
from porthos.examples.squeezer import NAMES, SCHEME, START, TORQUE
from porthos.examples.squeezer import model as model
from porthos.examples.squeezer import run as run
from porthos.integrate.state_scheme import StateScheme
from porthos.show.axes import label, legend, log_abscissa, new_figure

METHODS: dict[str, tuple[StateScheme, float]] = {  # each with a step that gives ten digits
    "Radau IIA": (SCHEME, 5e-5),
    "Gauss": (ph.Gauss(4), 1e-4),
    "Lobatto IIIC": (ph.LobattoIIIC(5), 1e-4),
    "DOP853": (ph.DOP853(), 1e-4),
}
COARSE = (3e-4, 2e-4, 1e-4)
shared = cache(run)  # numbers and figures have runs in common


def number(method: str = "Radau IIA") -> Number:
    """All angles at t = 0.03, and the energy that the motor has not delivered."""
    end = shared(*METHODS[method])
    return {"q": end.x[-1, :7], "defect": end.H - end.H[0] - TORQUE * (end["beta"] - START[0])}


def figures() -> dict[str, Figure]:
    """Angles but for the crank's, the speed of the crank, and the errors of four methods at the end."""
    one = shared(*METHODS["Radau IIA"])
    angles, (ax,) = new_figure()
    for name in NAMES[2:]:
        ax.plot(one.t, one[name], label=f"$\\{name}$")
    label(ax, "angle [rad]")
    legend(ax, columns=3, outside=True)
    speed, (ax,) = new_figure()
    ax.plot(one.t, one["v_beta"])
    label(ax, "speed of the crank [rad/s]")
    errors, (ax,) = new_figure()
    exact = shared(ph.Gauss(5), 1e-4).x[-1, :7]
    for name, (scheme, _) in METHODS.items():
        ax.plot(COARSE, [np.abs(shared(scheme, h).x[-1, :7] - exact).max() for h in COARSE], "o-", label=name)
    log_abscissa(ax)
    label(ax, "error at $t = 0.03$ [rad]", "step $h$ [s]", log=True)
    legend(ax)
    return {"angles": angles, "speed": speed, "errors": errors}


def main() -> None:
    """Print the summary and write the figures."""
    present("squeezer", shared(*METHODS["Radau IIA"]), figures())


if __name__ == "__main__":
    main()
