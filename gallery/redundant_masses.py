"""Two masses on nonlinear springs in redundant coordinates, with a singular mass matrix (003, section 6.1).

q = (x1, q2, x2): the first mass at x1, the second at q2 + x2, where q2 = x1 + l + w holds by a constraint.

T = m1 v1^2/2 + m2 (v2 + v3)^2/2,   V = k1 (x1^2 + x1^4)/4 + k2 (x2^2 + x2^4)/4,   g = ((q2 - x1)^2 - (l + w)^2)/2.

M has rank two, so there is no Hamiltonian; Livens' principle needs none. (41) prints k/4; the authors' data use k/2.

Numbers: with k/4, m = (2, 1), k = (1, 3), l = 1, w = 0.1 and q = (0, 1.1, 0), v = (1, 1, -1) at the start,
q(10) = (0.1397914709, 1.2397914709, -0.2034579090); energy and constraint to round-off with h = 0.1.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from gallery._common import Number, extrapolated, present
from porthos.examples.redundant_masses import model as model
from porthos.examples.redundant_masses import run
from porthos.show.axes import label, legend, new_figure

FLOOR = 1e-17  # what is smaller is drawn here


def number() -> Number:
    """Coordinates at t = 10, extrapolated to h = 0."""
    return {"q": extrapolated(run(step=4e-3).q[-1], run(step=2e-3).q[-1])}


def figures() -> dict[str, Figure]:
    """Motion, energies, their increments and the constraint, as figures 2 to 4 of 003."""
    one = run()
    motion, (ax,) = new_figure()
    for name in one.system.coordinates:
        ax.plot(one.t, one[name], label=name)
    label(ax, "coordinates [m]")
    legend(ax)
    energy, (ax,) = new_figure()
    potential = np.array([-one.system.terms.L(q, 0 * q) for q in one.q])
    for name, values in {"$H$": one.H, "$T$": one.H - potential, "$V$": potential}.items():
        ax.plot(one.t, values, label=name)
    label(ax, "energy [J]")
    legend(ax)
    errors, (ax,) = new_figure()
    ax.plot(one.t[1:], np.maximum(np.abs(np.diff(one.generalized_energy)), FLOOR), label="increment of energy [J]")
    ax.plot(one.t, np.maximum(one.position_error, FLOOR), label="constraint $|g|$ [m$^2$]")
    label(ax, "error", log=True)
    legend(ax)
    return {"motion": motion, "energy": energy, "errors": errors}


def main() -> None:
    """Print the summary and write the figures."""
    present("redundant_masses", run(), figures())


if __name__ == "__main__":
    main()
