"""A chemical reactor with A <-> B <-> C and a feed, as a pH system whose energy is no polynomial.

c' = -sum_k e_k v_k + feed,   v_k = r_k (c_i/c_i* - c_j/c_j*),   e_k: one of species i becomes one of j
H = sum_i c_i (ln(c_i/c_i*) - 1) + c_i*   (availability, in units of R T),   z_i = ln(c_i/c_i*)
v_k = L_k (z_i - z_j), L_k = r_k times the logarithmic mean of c_i/c_i* and c_j/c_j*:   R = sum_k L_k e_k e_k^T >= 0.

Reactions only lose availability, the feed is a port. With a discrete gradient the balance is exact.
Number: concentrations at t = 1 and 5 from the exponential of the matrix of c' = -A c + feed, which is linear in c.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from gallery._common import Number, extrapolated, present
from porthos.examples.reactor import SPECIES, run
from porthos.examples.reactor import model as model
from porthos.show.axes import label, legend, new_figure


def number(step: float = 0.05) -> Number:
    """Concentrations at t = 1 and 5, extrapolated to a step of zero, and the defect of the balance."""
    runs = [run(h) for h in (step, step / 2)]
    coarse, fine = (one.x[np.rint([1 / h, 5 / h]).astype(int)] for one, h in zip(runs, (step, step / 2), strict=True))
    return {"c": extrapolated(coarse, fine), "balance": float(np.abs(runs[0].power_balance).max())}


def figures() -> dict[str, Figure]:
    """Concentrations, and the balance of availability."""
    one = run()
    figure, axes = new_figure(1, 2)
    for name in SPECIES:
        axes[0].plot(one.t, one[name], label=name)
    label(axes[0], "concentration [mol/l]")
    axes[1].plot(one.t, one.H, label="availability")
    axes[1].plot(one.t, one.port("feed").work, label="fed")
    axes[1].plot(one.t, one.dissipated, label="lost by reactions")
    label(axes[1], "availability / $RT$ [mol/l]")
    for ax in axes:
        legend(ax)
    return {"reactor": figure}


def main() -> None:
    """Print the summary and write the figure."""
    present("reactor", run(), figures())


if __name__ == "__main__":
    main()
