"""Simple pendulum (multibody benchmark library, problem A01), held against its exact solution.

A point mass m = 1 on a massless rod of length L = 1 is released at rest at (x, z) = (-1, 0), g = 9.81. With k = sin of
half the amplitude (here 45 degrees), w = sqrt(g/L) and Jacobi's elliptic functions of modulus k,

sin(theta/2) = k cd(w t, k),   cos(theta/2) = sqrt(1 - k^2) nd(w t, k),   period 4 K(k)/w = 2.36784194757623745 s.

Numbers: (x, z) = (0.9862917511318753, -0.1650108531255412) at t = 1, (-0.9423054350437573, -0.3347543384140006) at
t = 5, (-0.2750874625761169, -0.9614192050991251) at t = 10; the energy is 0.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from scipy.special import ellipj, ellipk

import porthos as ph
from gallery._common import SCHEMES, Number, extrapolated, present
from porthos.integrate.scheme import Scheme
from porthos.notation import Array
from porthos.show import figures as show
from porthos.show.axes import INK, legend

SCHEME = ph.MidpointGGL()
LENGTH, GRAVITY = 1.0, 9.81
MODULUS = np.sin(np.pi / 4)  # released at 90 degrees
TIMES = (1.0, 5.0, 10.0)


def model(mass: float = 1.0, length: float = LENGTH, gravity: float = GRAVITY) -> ph.Model:
    """A point mass at the end of a massless rod, horizontal and at rest."""
    pendulum = ph.Model("pendulum", gravity=(0, 0, -gravity))
    bob = pendulum.point_mass("bob", mass, position=(-length, 0, 0))
    pendulum.distance("rod", pendulum.ground, bob, point_a=(0, 0, 0), point_b=(-length, 0, 0))
    return pendulum


def run(scheme: Scheme = SCHEME, step: float = 1e-3, end: float = 10.0) -> ph.Trajectory:
    """Simulate the pendulum; every state is kept."""
    return ph.simulate(model(), scheme, step=step, end=end)


def exact(t: float | Array) -> Array:
    """(x, z) of the bob, shape (..., 2)."""
    _, cn, dn, _ = ellipj(np.sqrt(GRAVITY / LENGTH) * np.asarray(t), MODULUS**2)
    half_sine = -MODULUS * cn / dn
    half_cosine = np.sqrt(1.0 - MODULUS**2) / dn
    return LENGTH * np.stack([2 * half_sine * half_cosine, half_sine**2 - half_cosine**2], axis=-1)


def period() -> float:
    """4 K(k) sqrt(L/g)."""
    return float(4 * ellipk(MODULUS**2) * np.sqrt(LENGTH / GRAVITY))


def number(scheme: Scheme = SCHEME, step: float = 1e-3) -> Number:
    """(x, z) at t = 1, 5 and 10 (3, 2), extrapolated from two runs, and the energy at the end."""
    coarse, fine = (run(scheme, h) for h in (step, step / 2))
    places = [one["bob"].position[[round(t / one.t[1]) for t in TIMES]][:, [0, 2]] for one in (coarse, fine)]
    return {"P": extrapolated(*places), "H": float(fine.energy[-1])}


def errors(scheme: Scheme, steps: tuple[float, ...]) -> Array:
    """Largest distance from the exact solution during the first five seconds."""
    runs = [run(scheme, step, end=5.0) for step in steps]
    return np.array([np.abs(one["bob"].position[:, [0, 2]] - exact(one.t)).max() for one in runs])


def figures() -> dict[str, Figure]:
    """Motion against the exact solution, order of convergence, balances."""
    runs = {name: run(scheme, step=0.01) for name, scheme in SCHEMES.items()}
    swing = runs["PH-MP-GGL"]
    steps = (0.02, 0.01, 0.005, 0.0025)
    position = show.plot(swing, "bob.position.x", "bob.position.z")
    ax = position.axes[0]
    every = np.linspace(0.0, 10.0, 81)
    ax.plot(every, exact(every)[:, 0], "o", color=INK, markersize=2.5, label="exact")
    ax.plot(every, exact(every)[:, 1], "o", color=INK, markersize=2.5)
    legend(ax, columns=3, outside=True)
    return {
        "position": position,
        "convergence": show.convergence(steps, {name: errors(s, steps) for name, s in SCHEMES.items()}, order=2),
        "energy": show.energy(swing),
        "energy_error": show.energy_error(swing),
        "constraint_errors": show.constraint_errors(runs),
        "motion": show.motion(swing, times=np.linspace(0.0, period() / 2, 7)),
    }


def main() -> None:
    """Print the summary and write the figures."""
    present("pendulum", run(), figures())


if __name__ == "__main__":
    main()
