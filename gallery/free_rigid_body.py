"""Free rigid body (Dzhanibekov effect): a box that spins about its intermediate axis turns over again and again.

Euler's equations in body axes, J_1 < J_2 < J_3: J_1 w_1' = (J_2 - J_3) w_2 w_3 and cyclic. Spin about axis 2 is
unstable. Energy and angular momentum L are constant; for L^2 > 2 H J_2 the exact solution is

w_2 = W_2 sn(n (t - t_0), m),   n^2 = (J_3 - J_2)(L^2 - 2 H J_1)/(J_1 J_2 J_3),
1 - m = (J_3 - J_1)(L^2 - 2 H J_2)/((J_3 - J_2)(L^2 - 2 H J_1)),

and with 1 and 3 exchanged for L^2 < 2 H J_2. So the box turns over every 2 K(m)/n seconds.

Numbers for the box of 0.30 x 0.20 x 0.05 m, 1 kg, w(0) = (0.05, 10, 0.05) rad/s: it turns over every 2.238695161 s;
H = 0.385434635417 J.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from scipy.special import ellipkm1

import porthos as ph
from gallery._common import SCHEMES, Number, extrapolated, present
from porthos.integrate.scheme import Scheme
from porthos.notation import Array
from porthos.show import figures as show
from porthos.show.axes import WIDTH, label, legend, new_figure

SCHEME = ph.MidpointGGL()
MASS, SIZE = 1.0, (0.30, 0.20, 0.05)
SPIN = (0.05, 10.0, 0.05)


def model(velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> ph.Model:
    """A box in space that spins about its intermediate axis, slightly disturbed."""
    space = ph.Model("free rigid body")
    space.body("box", ph.Box(MASS, SIZE), velocity=velocity, angular_velocity=SPIN)
    return space


def run(
    scheme: Scheme = SCHEME,
    step: float = 5e-3,
    end: float = 10.0,
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> ph.Trajectory:
    """Simulate the box; every state is kept."""
    return ph.simulate(model(velocity), scheme, step=step, end=end)


def body_rates(run: ph.Trajectory) -> Array:
    """Angular velocity in body axes (T, 3)."""
    return np.einsum("tkj,tk->tj", run["box"].rotation, run["box"].angular_velocity)


def flip_times(run: ph.Trajectory) -> Array:
    """Times at which the spin about axis 2 changes its sign, by cubic interpolation between the states."""
    t, w = run.t, body_rates(run)[:, 1]
    times = []
    for k in np.flatnonzero(w[:-1] * w[1:] < 0.0):
        near = slice(max(0, k - 1), k + 3)
        inverse = np.polynomial.Polynomial.fit(w[near], t[near], deg=min(3, t[near].size - 1))
        times.append(float(inverse(0.0)))
    return np.array(times)


def flip_interval() -> float:
    """2 K(m)/n, exact; written with 1 - m and L^2 - 2 H J_i = sum_k J_k (J_k - J_i) w_k^2, which lose no digits."""
    J = np.diag(np.asarray(ph.Box(MASS, SIZE).tensor))
    w = np.asarray(SPIN)
    excess = [float(np.sum(J * (J - one) * w**2)) for one in J]  # L^2 - 2 H J_i
    if excess[1] < 0.0:
        J, excess = J[::-1], excess[::-1]
    small, middle, large = J
    n = np.sqrt((large - middle) * excess[0] / (small * middle * large))
    complement = (large - small) * excess[1] / ((large - middle) * excess[0])
    return float(2 * ellipkm1(complement) / n)


def number(scheme: Scheme = SCHEME, step: float = 2e-3) -> Number:
    """Interval between flips, extrapolated from two runs, and energy and angular momentum at the end."""
    coarse, fine = (run(scheme, h) for h in (step, step / 2))
    intervals = [np.diff(flip_times(one))[0] for one in (coarse, fine)]
    return {
        "interval": float(extrapolated(*intervals)),
        "H": float(fine.energy[-1]),
        "L": fine.angular_momentum[-1],
    }


def figures() -> dict[str, Figure]:
    """Angular velocity in body axes, motion of a thrown box, balances."""
    spin = run()
    thrown = run(end=4.0, velocity=(0.4, 0.0, 0.0))
    return {
        "body_rates": _rates(spin),
        "motion": show.motion(thrown, times=np.linspace(0.0, 4.0, 7)),
        "energy_error": show.energy_error(spin),
        "angular_momentum": show.angular_momentum(spin),
        "convergence": _convergence(),
    }


def _rates(spin: ph.Trajectory) -> Figure:
    """The three angular velocities in body axes; dotted lines mark the flips."""
    figure, (ax,) = new_figure(panel=(6.4, 3.2))
    for k, rate in enumerate(body_rates(spin).T):
        ax.plot(spin.t, rate, linewidth=WIDTH, label=f"$\\omega_{k + 1}$")
    for k, t in enumerate(flip_times(spin)):
        ax.axvline(t, color="#777777", linewidth=0.9, linestyle=":", label="it turns over" if k == 0 else None)
    ax.set_xlim(0.0, spin.t[-1])
    label(ax, "angular velocity in body axes [rad/s]")
    legend(ax, columns=4, outside=True)
    return figure


def _convergence() -> Figure:
    """Error of the interval between flips over the step."""
    steps = (0.02, 0.01, 0.005, 0.0025)
    errors = {
        name: [abs(np.diff(flip_times(run(scheme, step)))[0] - flip_interval()) for step in steps]
        for name, scheme in SCHEMES.items()
    }
    figure = show.convergence(steps, errors, order=2)
    figure.axes[0].set_ylabel("error of the interval between flips [s]")
    return figure


def main() -> None:
    """Print the summary and write the figures."""
    present("free_rigid_body", run(), figures())


if __name__ == "__main__":
    main()
