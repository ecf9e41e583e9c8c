"""Beams that bend far, against numbers that others found: at rest, in vibration and in motion.

E I theta'' = -P cos theta, theta(0) = 0, theta'(L) = 0: the elastica, a thin clamped beam with a dead load P at its
tip, solved by elliptic integrals.

A moment M = pi E I/L at the free end bends the beam to half a circle, 2 M to a whole one. The bend of Bathe and
Bolourchi is an arc of 45 degrees, loaded across its plane: bending, shear and torsion at once. A slender cantilever
vibrates with (beta L)^2 sqrt(E I/m)/L^2, a thick beam between hinges as Timoshenko's theory says, in closed form. The
film shows a soft beam that is let go on a hinge, which Exudyn has computed, too.

Numbers, extrapolated from n and 2 n elements: elliptic integrals; circles; the bend, from an independent computation;
frequencies; the tip of the falling beam by Exudyn 1.13.6 (beams in the plane, trapezoidal rule, extrapolated likewise).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy import sparse
from scipy.optimize import brentq
from scipy.sparse.linalg import spsolve
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc

import porthos as ph
from gallery._common import Number, extrapolated, present
from porthos.integrate.scheme import Scheme
from porthos.notation import Array
from porthos.show import figures as show
from porthos.show.axes import dress, legend

SCHEME = ph.Midpoint()
LOADS = (1.0, 10.0)  # P L^2/(E I)
BEND = ph.Section(
    stiffness=(5e6, 5e6, 1e7),
    turning_stiffness=(1e7 / 12, 1e7 / 12, 5e6 / 6),
    mass_per_length=1.0,
    inertia_per_length=(1 / 12, 1 / 12, 1 / 6),
)
SLENDER = ph.Section(
    stiffness=(2e5, 2e5, 1e5),
    turning_stiffness=(1.0, 4.0, 1.0),
    mass_per_length=1.0,
    inertia_per_length=(5e-6, 5e-6, 1e-5),
)
THICK = {"EI": 3.0, "GA": 40.0, "mass": 2.0, "inertia": 0.3}


def section(
    EI: float = 500.0, GA: float = 1e4, EA: float = 1e4, GJ: float | None = None, mass: float = 1.0,
    inertia: float = 1.0,
) -> ph.Section:  # fmt: skip
    """A cross-section that is the same in both directions."""
    return ph.Section(
        stiffness=(GA, GA, EA),
        turning_stiffness=(EI, EI, EI if GJ is None else GJ),
        mass_per_length=mass,
        inertia_per_length=(inertia, inertia, 2 * inertia),
    )


def model(elements: int = 16) -> ph.Model:
    """A soft beam, horizontal and at rest, on a hinge at its start."""
    falling = ph.Model("falling beam", gravity=(0, -9.81, 0))
    falling.beam("arm", section(EI=5.0, GA=4e4, EA=1e5, inertia=1e-3), (0, 0, 0), (1, 0, 0), elements=elements)
    falling.revolute("hinge", "ground", "arm.start", at=(0, 0, 0), axis=(0, 0, 1))
    return falling


def run(scheme: Scheme = SCHEME, step: float = 1e-3, end: float = 0.6, elements: int = 16) -> ph.Trajectory:
    """The beam swings down."""
    return ph.simulate(model(elements), scheme, step=step, end=end)


def cantilever(elements: int, what: ph.Section, length: float = 1.0, **more: Any) -> ph.Model:
    """A beam along x, clamped to the ground at its start."""
    clamped = ph.Model("cantilever")
    clamped.beam("arm", what, (0, 0, 0), (length, 0, 0), a="ground", elements=elements, **more)
    return clamped


def at_rest(loaded: ph.Model, u: float | None = None, increments: int = 1) -> list[Array]:
    """Places and axes (n, 4, 3) of all nodes where forces balance, after each share of the load, by Newton's method."""
    system = loaded.assemble()
    nodes = [system.body_index(node.name) for node in loaded.beams[0].nodes]
    full = system.fed(0.0) if u is None else np.array([u])
    q, lam, found = system.initial_state()[: system.n], np.zeros(system.m), []
    for share in np.linspace(0.0, 1.0, increments + 1)[1:]:
        for _ in range(50):
            G = system.G(q)
            K = system.G_stiffness(lam) - system.force_tangent(q, np.zeros(system.n), share * full)[0]
            left = np.concatenate([system.gradV(q) - system.Bt(q) @ (share * full) + G.T @ lam, system.g(q)])
            step = spsolve(sparse.block_array([[K, G.T], [G, None]], format="csc"), left)
            q, lam = q - step[: system.n], lam - step[system.n :]
            if np.abs(step[: system.n]).max() < 1e-11:
                break
        else:
            raise AssertionError(f"no place of rest at {share:.3f} of the load")
        found.append(system.to_kernel(q)[nodes])
    return found


def loaded(load: float, elements: int) -> ph.Model:
    """A beam that hardly stretches or shears, E I = L = 1, with a force up at its tip."""
    thin = cantilever(elements, section(EI=1.0, GA=1e7, EA=1e7, inertia=1e-4))
    thin.load("P", "arm.end", force=(0, 0, load))
    return thin


def tip(end: Array) -> Array:
    """Deflection, shortening and angle of the tip, from its place and axes (4, 3)."""
    return np.array([end[0, 2], 1 - end[0, 0], np.arctan2(end[3, 2], end[3, 0])])


def elastica(load: float) -> Array:
    """Deflection, shortening and angle of the tip for P L^2/(E I), by elliptic integrals."""

    def parts(k: float) -> tuple[float, float]:
        lower = np.arcsin(1 / (k * np.sqrt(2)))
        return ellipk(k**2) - ellipkinc(lower, k**2), ellipe(k**2) - ellipeinc(lower, k**2)

    k = brentq(lambda k: parts(k)[0] - np.sqrt(load), np.sqrt(0.5) + 1e-12, 1 - 1e-12)
    root, sine = np.sqrt(load), 2 * k**2 - 1
    return np.array([1 - 2 * parts(k)[1] / root, 1 - np.sqrt(2 * sine) / root, np.arcsin(sine)])


def rolled(elements: int) -> list[Array]:
    """A beam with L = 10 after each sixth of the moment that makes it a circle."""
    rolling = cantilever(elements, section(), 10.0)
    rolling.port("M", "arm.end", kind="torque", direction=(0, -1, 0))
    return at_rest(rolling, 100 * np.pi, 6)


def on_arc(angle: float) -> tuple[float, float, float]:
    """A point of the bend, whose radius is 100."""
    return 100 * np.sin(angle), 100 * (1 - np.cos(angle)), 0.0


def bend(elements: int) -> ph.Model:
    """The arc of 45 degrees in a plane, with a force across it."""
    arc = ph.Model("bend")
    arc.beam("arm", BEND, on_arc(0), on_arc(np.pi / 4), a="ground", via=on_arc(0.3), elements=elements)
    arc.load("P", "arm.end", force=(0, 0, 300))
    return arc


def slender(elements: int) -> Array:
    """The four lowest angular frequencies of a slender cantilever, two in each direction."""
    return ph.modes(cantilever(elements, SLENDER)).angular_frequencies[:4]


def timoshenko() -> Array:
    """The first angular frequencies of both branches of a thick beam between hinges, L = 1, in closed form."""
    EI, GA, m, inertia = THICK.values()
    k = np.pi
    a, b, c = m * inertia, m * (GA + EI * k**2) + inertia * GA * k**2, GA * EI * k**4
    return np.sqrt((b + np.array([-1, 1]) * np.sqrt(b**2 - 4 * a * c)) / (2 * a))


def thick(elements: int) -> Array:
    """The frequencies next to Timoshenko's."""
    hinged = ph.Model("hinged")
    hinged.beam("arm", section(EA=1e3, **THICK), (0, 0, 0), (1, 0, 0), elements=elements)
    hinged.revolute("left", "ground", "arm.start", at=(0, 0, 0), axis=(0, 1, 0))
    hinged.point_on_line("right", "ground", "arm.end", at=(1, 0, 0), axis=(1, 0, 0))
    found = ph.modes(hinged).angular_frequencies
    return np.array([found[np.abs(found - one).argmin()] for one in timoshenko()])


def number(scheme: Scheme = SCHEME) -> Number:
    """Tips of the elastica, the circles and the bend, frequencies, and the tip of the falling beam at t = 0.6 s."""
    circles = rolled(24)
    swings = [run(scheme, 1e-3 / k, elements=16 * k)["arm.end"].position[-1, :2] for k in (1, 2)]
    return {
        "elastica": np.array([
            extrapolated(*(tip(at_rest(loaded(load, n), increments=4)[-1][-1]) for n in (16, 32))) for load in LOADS
        ]),
        "circles": np.array([circles[k][-1, 0] for k in (2, -1)]),
        "bend": extrapolated(*(at_rest(bend(n), increments=12)[-1][-1, 0] for n in (12, 24))),
        "slender": extrapolated(slender(20), slender(40)),
        "thick": extrapolated(thick(16), thick(32)),
        "fallen": extrapolated(*swings),
    }  # fmt: skip


def figures() -> dict[str, Figure]:
    """Beams at rest, rolled up by a moment and bent by a force, and the one that falls."""
    swing = run()
    shares = {f"$ML/EI$ = {k}$\\pi$/3": nodes for k, nodes in enumerate(rolled(24), start=1)}
    bent = {f"$PL^2/EI$ = {load:g}": at_rest(loaded(load, 16), increments=4)[-1] for load in LOADS}
    return {
        "circle": _shapes(shares),
        "elastica": _shapes(bent),
        "motion": show.motion(swing, times=(0.0, 0.2, 0.3, 0.4, 0.5, 0.6), paths=False),
        "energy": show.energy(swing),
    }


def _shapes(beams: dict[str, Array]) -> Figure:
    """Lines through the nodes, in the plane of x and z."""
    figure = Figure(figsize=(4.8, 4.0), layout="constrained", dpi=150)
    ax = figure.add_subplot()
    dress(ax)
    for name, nodes in beams.items():
        ax.plot(nodes[:, 0, 0], nodes[:, 0, 2], label=name)
    ax.set(xlabel="$x$ [m]", ylabel="$z$ [m]", aspect="equal")
    legend(ax, columns=3, outside=True)
    return figure


def main() -> None:
    """Print the summary and write the figures."""
    present("bent_beams", run(), figures())


if __name__ == "__main__":
    main()
