"""A mass that tends to zero, in a chain of springs and in a double pendulum (000, sections 7.2.3 and 7.3.3).

With a little viscosity the motion without the mass exists, and what is left of a small mass m is proportional to it.
Methods that treat algebraic equations as such follow that down to round-off, and zero is a mass like others:

- two masses and three springs (`gallery.two_masses`): Radau IIA and Lobatto IIIC. Gauss does not damp what the light
  mass begins with: its velocity is wrong for all masses alike, unless the step resolves it;
- a double pendulum, M v' = M g - kappa v - G^T lambda, with either mass: Murua's method, with and without GGL;
- `LobattoPair` on the same, which in the document hardly advances from 1e-6 kg on: it runs at all masses. A light mass
  in the middle does not disturb it: h = 5e-4 s leaves 4e-12 m with 1e-6 kg, as viscosity damps its oscillation (without
  viscosity h must resolve it). At the tip positions are good, 4e-7 m with 1e-10 kg and h = 2e-3 s, but the last stage
  is explicit, and velocities are wrong by some h^2/m: 39 m/s. Take `Murua` there.

Numbers: (x - x_0)/m at t = 1 s of the chain, m = 1e-10, from exponentials of matrices in 50 digits; by how much the
same ratio of the pendulum differs for masses from 1e-8 to 1e-14; the pendulum without a tip mass from its angles;
errors of `LobattoPair(3)` against `Murua(4)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery import two_masses
from gallery._common import Number, write_figures
from porthos.examples.small_mass import DAMPING as DAMPING
from porthos.examples.small_mass import model as model
from porthos.examples.small_mass import run
from porthos.integrate.runge_kutta import RungeKutta
from porthos.notation import Array
from porthos.show.axes import INK, label, legend, log_abscissa, new_figure
from porthos.system.constrained import Constrained

MURUA = {"Murua": ph.Murua(2), "Murua, GGL": ph.Murua(2, ggl=True)}
PAIR, PAIR_MASSES = ph.LobattoPair(3), (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
MASSES = (1e-8, 1e-10, 1e-12, 1e-14)
STEP, STEPS = 0.01, 20
LINKS = np.array([[[1, 0], [0, 0]], [[1, -1], [-1, 1]]], dtype=np.float64)  # g_k = q^T (LINKS_k x I) q / 2 - 1/2


@dataclass(frozen=True)
class ViscousPendulum(Constrained):
    """q = (x1, y1, x2, y2), rods of length one, from rest in the horizontal line."""

    masses: tuple[float, float]
    kappa: float = 0.01
    gravity: float = 9.81
    n, m, width = 4, 2, 0

    @property
    def M(self) -> Array:
        """diag(m1, m1, m2, m2)."""
        return np.diag(np.repeat(self.masses, 2))

    def start(self) -> Array:
        """At rest."""
        return np.array([1.0, 0, 2, 0, 0, 0, 0, 0, 0, 0])

    def force(self, q: Array, v: Array, u: Array) -> Array:
        """Weight and viscosity."""
        return -self.gravity * self.M @ np.array([0.0, 1, 0, 1]) - self.kappa * v

    def force_tangent(self, q: Array, v: Array, u: Array) -> tuple[Array, Array]:
        """Of the viscosity."""
        return np.zeros((4, 4)), -self.kappa * np.eye(4)

    def g(self, q: Array) -> Array:
        """Both rods."""
        return (self.G(q) @ q - 1) / 2

    def G(self, q: Array) -> Array:
        """Linear in q."""
        return np.array([np.kron(link, np.eye(2)) @ q for link in LINKS])

    def G_rate(self, v: Array) -> Array:
        """As G is linear."""
        return self.G(v)

    def G_stiffness(self, lam: Array) -> Array:
        """As g is quadratic."""
        return np.kron(np.einsum("k,kij->ij", lam, LINKS), np.eye(2))


def path(scheme: Any, system: Constrained, h: float, steps: int, x: Array) -> Array:
    """States (steps + 1, ...) of a scheme that is stepped by hand."""
    states, step = [x], None
    for k in range(steps):
        step = scheme.step(system, h, states[-1], t=k * h, before=step)
        assert step.converged, (k, step.iterations)
        states.append(step.x)
    return np.array(states)


@cache
def swing(scheme: Any = MURUA["Murua"], which: int = 1, mass: float = 0.0, steps: int = STEPS) -> Array:
    """q and v (steps + 1, 8) of the pendulum until t = 0.2, with this mass in the middle (0) or at the tip (1)."""
    system = ViscousPendulum((mass, 1.0) if which == 0 else (1.0, mass))
    return path(scheme, system, STEP * STEPS / steps, steps, system.start())[:, :8]


def ratios(scheme: Any, which: int) -> Array:
    """Largest distance from the motion without the mass, divided by the mass, for `MASSES`."""
    return np.array([np.abs(swing(scheme, which, m) - swing(scheme, which)).max() / m for m in MASSES])


def chain(scheme: RungeKutta, mass: float) -> Array:
    """(x - x_0)/m of the chain at t = 1, (p1, p2, v1)."""
    return (run(scheme, mass).x[-1] - run(scheme, 0.0).x[-1])[:3] / mass


def pair_errors(which: int, mass: float, steps: int) -> Array:
    """Errors of q and v of the Lobatto pair at t = 0.2 (2,), seen from Murua's method with four stages."""
    wrong = np.abs(swing(PAIR, which, mass, steps)[-1] - swing(ph.Murua(4), which, mass, 2 * STEPS)[-1])
    return np.array([wrong[:4].max(), wrong[4:].max()])


def number() -> Number:
    """The chain by two methods (2, 3), the spread of the ratios of the pendulum, its tip without mass, the pair."""
    coarse, fine = (pair_errors(1, 1e-10, steps) for steps in (100, 200))
    found = [ratios(scheme, which) for scheme in MURUA.values() for which in (0, 1)]
    return {
        "chain": np.array([chain(two_masses.SCHEMES[name], 1e-10) for name in ("Radau IIA", "Lobatto IIIC")]),
        "spread": max(float(np.ptp(one) / one.mean()) for one in found),
        "tip": swing(ph.Murua(3))[-1, 2:4],
        "pair_middle": pair_errors(0, 1e-6, 400),
        "pair_tip": coarse,
        "pair_orders": np.log2(coarse / fine),
    }


def figures() -> dict[str, Figure]:
    """Distances of the pendulum over its mass, what Gauss does to a light mass of the chain, and the Lobatto pair."""
    distance, (ax,) = new_figure()
    for (name, scheme), marker in zip(MURUA.items(), "os", strict=True):
        for which, text in enumerate(("middle", "tip")):
            ax.plot(MASSES, ratios(scheme, which) * MASSES, f"{marker}{'-:'[which]}", label=f"{name}: {text}")
    ax.plot(MASSES, [100 * m for m in MASSES], "--", color=INK, label="proportional to the mass")
    log_abscissa(ax)
    label(ax, "distance to mass zero [m, m/s]", "mass [kg]", log=True)
    legend(ax, columns=2, outside=True)
    wrong, (ax,) = new_figure()
    exact = run(two_masses.SCHEMES["Radau IIA"], 0.0)
    for name, scheme in {**two_masses.SCHEMES, "Gauss, one stage": ph.Gauss(1)}.items():
        one = run(scheme, 1e-12)
        ax.plot(one.t[1:], np.abs(one.x[1:, 3] - exact.x[1:, 3]), label=name)
    label(ax, "error of $v_2$ [m/s], $m_2 = 10^{-12}$", log=True)
    legend(ax, columns=2, outside=True)
    return {"pendulum": distance, "light_velocity": wrong, "pair": pair_figure()}


def pair_figure() -> Figure:
    """Errors of positions and velocities of the Lobatto pair over the mass, in the middle and at the tip."""
    figure, (ax,) = new_figure()
    for which, place in enumerate(("middle", "tip")):
        errors = np.array([pair_errors(which, mass, 100) for mass in PAIR_MASSES])
        for column, text in enumerate(("positions", "velocities")):
            ax.plot(PAIR_MASSES, errors[:, column], f"{'os'[which]}{'-:'[column]}", label=f"{place}: {text}")
    log_abscissa(ax)
    label(ax, "error of LobattoPair(3) [m, m/s]", "mass [kg], h = 0.002 s", log=True)
    legend(ax, columns=2, outside=True)
    return figure


def main() -> None:
    """Print the numbers and write the figures."""
    for name, value in number().items():
        print(f"{name:7} {value}")
    for path_of_figure in write_figures("small_mass", figures()):
        print(f"figure written to {path_of_figure}")


if __name__ == "__main__":
    main()
