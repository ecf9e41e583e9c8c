"""Four particles in space, joined by two rigid rods and two nonlinear springs; nothing holds them (Gonzalez, 1999).

Rods of length 1 join particles 1, 2 and 3, 4; springs with the energy V = k/2 (s^2 - 1)^2 join 1, 3 (k = 50) and 2, 4
(k = 500). Energy and both momenta are conserved. The potential is quartic: the plain midpoint rule, `Gauss(1)` on (8),
loses energy. The discrete gradient of the whole potential, which `Livens` takes of a Lagrangian, restores the energy
and loses the momenta. A force element is a function of the quadratic measure s^2/2, and its discrete derivative with
respect to that keeps all three, with `Midpoint` and with `MidpointGGL`.

O. Gonzalez, Mechanical systems subject to holonomic constraints: differential-algebraic formulations and conservative
integration, Physica D 132 (1999). The masses 1, 3, 2.3, 1.7 and the start, a unit square at rest but for a momentum 2
of the fourth particle across it, are those of later work on energy-momentum schemes.

Numbers: H = 2/1.7, p = (0, 0, 2), L = (2, -2, 0); positions from Newton's equations with SciPy.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import sympy as sp
from matplotlib.figure import Figure

import porthos as ph
from gallery._common import Number, extrapolated, present
from porthos.integrate.scheme import Scheme
from porthos.notation import Array
from porthos.show import figures as show
from porthos.show.axes import label, legend, new_figure

SCHEME = ph.Midpoint()
MASS = (1.0, 3.0, 2.3, 1.7)
PLACE = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0))
VELOCITY = ((0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 2 / 1.7))
RODS = ((0, 1), (2, 3))
SPRINGS = {(0, 2): 50.0, (1, 3): 500.0}
TIMES = (0.5, 1.0, 2.0)
FLOOR = 1e-17  # what is smaller is drawn here


def model(damping: float = 0.0) -> ph.Model:
    """The system as a mechanism: dV/ds = 2 k s (s^2 - 1) = k (4 x + 6 x^2 + 2 x^3) with the elongation x = s - 1."""
    system = ph.Model("four particles")
    parts = [
        system.point_mass(f"particle {k + 1}", m, position=place, velocity=velocity)
        for k, (m, place, velocity) in enumerate(zip(MASS, PLACE, VELOCITY, strict=True))
    ]
    for k, (a, b) in enumerate(RODS):
        system.distance(f"rod {k + 1}", parts[a], parts[b], point_a=PLACE[a], point_b=PLACE[b])
    for n, ((a, b), k) in enumerate(SPRINGS.items()):
        law = [4 * k, 6 * k, 2 * k]
        ends = {"point_a": PLACE[a], "point_b": PLACE[b]}
        system.spring(f"spring {n + 1}", parts[a], parts[b], **ends, stiffness=law, damping=damping)
    return system


def lagrangian() -> ph.Lagrangian:
    """The same in Cartesian coordinates, for schemes that do not know its springs."""
    q, v = ([sp.Symbol(f"{axis}{i + 1}", real=True) for i, axis in product(range(4), axes)] for axes in ("xyz", "uvw"))
    place = [sp.Matrix(q[3 * i : 3 * i + 3]) for i in range(4)]

    def square(a: int, b: int) -> sp.Expr:
        return (place[b] - place[a]).dot(place[b] - place[a])

    T = sum(m * v[3 * i + k] ** 2 for (i, m), k in product(enumerate(MASS), range(3))) / 2
    V = sum(k * (square(*pair) - 1) ** 2 for pair, k in SPRINGS.items()) / 2
    start = np.ravel(PLACE).astype(float), np.ravel(VELOCITY)
    rods = [(square(*pair) - 1) / 2 for pair in RODS]
    return ph.Lagrangian(T - V, q, v, constraints=rods, initial=start, name="four particles")


def run(scheme: Scheme = SCHEME, step: float = 0.01, end: float = 10.0, damping: float = 0.0) -> ph.Trajectory:
    """The mechanism over ten seconds."""
    return ph.simulate(model(damping), scheme, step=step, end=end)


def lost(run: ph.StateTrajectory) -> Array:
    """Largest changes of energy, momentum and angular momentum of a run of the Lagrangian."""
    q, v = (part.reshape(-1, 4, 3) for part in (run.x[:, :12], run.x[:, 12:24]))
    p = np.asarray(MASS)[:, None] * v
    kept = np.column_stack([run.H, p.sum(axis=1), np.cross(q, p).sum(axis=1)])
    change = np.abs(kept - kept[0]).max(axis=0)
    return np.array([change[0], change[1:4].max(), change[4:].max()])


def number(step: float = 2e-3) -> Number:
    """Energy and momenta of the run, and positions at t = 0.5, 1, 2, extrapolated to h = 0."""
    long = run()
    coarse, fine = (run(step=h, end=TIMES[-1]) for h in (step, step / 2))
    places = [
        np.array([[one[name].position[round(t / one.t[1])] for name in one.system.body_names] for t in TIMES])
        for one in (coarse, fine)
    ]
    damped = run(damping=5.0)
    balance = damped.energy - damped.energy[0] + damped.dissipated_energy
    return {
        "H": float(long.energy[-1]),
        "p": long.linear_momentum[-1],
        "L": long.angular_momentum[-1],
        "places": extrapolated(*places),  # (times, particles, 3)
        "fourth": extrapolated(*places)[:, 3],
        "balance": float(np.abs(balance).max()),
        "held": damped.angular_momentum[-1],
    }


def figures() -> dict[str, Figure]:
    """The motion, and what three schemes keep of energy and angular momentum."""
    one = run()
    plain = {"Livens": ph.Livens(), "Gauss(1)": ph.Gauss(1)}
    others = {name: ph.simulate(lagrangian(), scheme, step=0.01, end=2.0) for name, scheme in plain.items()}
    kept, (ax,) = new_figure()
    ax.plot(one.t[1:], np.maximum(np.abs(one.energy - one.energy[0])[1:], FLOOR), label="Midpoint, force elements")
    for name, other in others.items():
        ax.plot(other.t[1:], np.maximum(np.abs(other.H - other.H[0])[1:], FLOOR), label=f"{name}, Lagrangian")
    label(ax, "change of the energy [J]", log=True)
    legend(ax, outside=True)
    paths, (ax,) = new_figure()
    for name in one.system.body_names:
        ax.plot(one.t, one[name].position[:, 2], label=name)
    label(ax, "height $z$ [m]")
    legend(ax, columns=2, outside=True)
    return {
        "motion": show.motion(one, times=np.linspace(0.0, 2.0, 6)),
        "heights": paths,
        "angular_momentum": show.angular_momentum(one),
        "energy_error": kept,
    }


def main() -> None:
    """Print the summary and write the figures."""
    present("four_particles", run(), figures())


if __name__ == "__main__":
    main()
