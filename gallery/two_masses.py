"""Two masses between walls, three springs, dampers and a push, as a linear pH-DAE (000, section 7.2).

H = (m1 v1^2 + m2 v2^2)/2 + [k (p1 - 10)^2 + kc (p2 - p1 - 10)^2 + k (20 - p2)^2]/2,   k = 1,  kc = 1,  m1 = 1.

Gauss keeps the energy and the power balance, Lobatto IIIC and Radau IIA lose a little in every step; where m2 tends to
zero it is the other way round: they follow the algebraic equation that is left, Gauss does not. (000 prints forces of a
middle spring twice as stiff as its energy says; kc = 2 gives its motion.)

Numbers: H = 48 for ever with Gauss; H(2000) = 48 |R(i w h)|^40000 = 47.9551052264 with Lobatto IIIC, s = 3, h = 0.1,
w = sqrt 3.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery._common import Number, present
from porthos.examples.small_mass import run as light
from porthos.examples.two_masses import SCHEME, run
from porthos.examples.two_masses import model as model
from porthos.integrate.runge_kutta import RungeKutta
from porthos.notation import Array
from porthos.show.axes import INK, label, legend, log_abscissa, new_figure

SCHEMES: dict[str, RungeKutta] = {"Gauss": SCHEME, "Radau IIA": ph.RadauIIA(3), "Lobatto IIIC": ph.LobattoIIIC(3)}
PUSH = 3.0
LIGHT = (1e-10, 1e-12, 1e-14, 1e-16, 1e-18)  # masses m2


def driven(scheme: RungeKutta = SCHEME, step: float = 0.1, end: float = 20.0) -> ph.StateTrajectory:
    """Both masses damped, the first one pushed with a constant force (000, section 7.2.2)."""
    return ph.simulate(model(damping=(0.2, 0.5)), scheme, step=step, end=end, inputs={"push": PUSH})


def distances(scheme: RungeKutta, masses: tuple[float, ...] = LIGHT) -> Array:
    """Largest distance of (p1, p2, v1) from the solution with m2 = 0."""
    limit = light(scheme, 0.0).x[:, :3]
    return np.array([np.abs(light(scheme, m2).x[:, :3] - limit).max() for m2 in masses])


def number() -> Number:
    """The energy that Lobatto IIIC has left at t = 2000, and all energies of Gauss until then."""
    left = run(SCHEMES["Lobatto IIIC"], end=2000.0, every=20000)
    return {"left": float(left.H[-1]), "kept": run(end=2000.0).H}


def figures() -> dict[str, Figure]:
    """Loss of energy, power balance with damping and push, a mass that tends to zero."""
    loss, (ax,) = new_figure()
    for name, scheme in SCHEMES.items():
        one = run(scheme, step=0.5, end=2000.0)
        ax.plot(one.t[1:], np.abs(1 - one.H[1:] / one.H[0]), label=name)
    label(ax, "loss of energy $1 - H/H_0$ [1]", log=True)
    legend(ax)
    balance, (ax,) = new_figure()
    for name, scheme in SCHEMES.items():
        one = driven(scheme)
        ax.plot(one.t[1:], np.abs(one.power_balance[1:]), label=name)
    label(ax, "defect of power balance [J]", log=True)
    legend(ax)
    vanishing, (ax,) = new_figure()
    for name in ("Radau IIA", "Lobatto IIIC"):
        ax.plot(LIGHT, distances(SCHEMES[name]), "o-", label=name)
    ax.plot(LIGHT, [1e4 * m2 for m2 in LIGHT], "--", color=INK, label="proportional to $m_2$")
    log_abscissa(ax)
    label(ax, "distance to $m_2 = 0$ [m, m/s]", "mass $m_2$ [kg]", log=True)
    legend(ax)
    return {"energy_loss": loss, "power_balance": balance, "mass_to_zero": vanishing}


def main() -> None:
    """Print the summary of the driven motion and write the figures."""
    present("two_masses", driven(), figures())


if __name__ == "__main__":
    main()
