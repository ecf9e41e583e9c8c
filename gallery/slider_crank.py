"""Spatial slider-crank (document 001, section 7.3; IFToMM benchmark library): a closed loop with gravity and supports.

The crank AB turns about the x axis, the rod BC drives a block that slides along x: revolute joint at A, spherical at B,
universal at C (block axis e1, rod axis e1 x r, r along the rod), prismatic guide D. Velocities of all bodies satisfy
the joints: crank 6 rad/s, block 0.24 m/s, and for the rod

omega x (B - C) = v_B - v_C,   omega . ((e1 x r) x e1) = 0.

The curves published in 001 belong to the inertias of the benchmark library (`inertias="library"`), not to the boxes of
Table 4 ("boxes"). PH-MP has an alternating error in v; PH-MP-GGL, exact on velocity level, has none.

Numbers: H(0) = 0.76643568 (library), 0.76509149 (boxes). Block positions x(1), ..., x(5), converged:
library .211721661394 .289085197067 .228484813697 .188230475581 .240719573732,
boxes   .206264831078 .288082783666 .238612483375 .197897825443 .210579816601.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery._common import FOLDER, SCHEMES, Number, extrapolated, present
from porthos.integrate.scheme import Scheme
from porthos.notation import Array, skew
from porthos.show import figures as show
from porthos.show.axes import INK, legend, new_figure
from porthos.show.report import report

Inertias = Literal["library", "boxes"]

SCHEME = ph.MidpointGGL()
A, B, C = np.array([0.0, 0.1, 0.12]), np.array([0.0, 0.1, 0.2]), np.array([0.2, 0.0, 0.0])
E1 = np.array([1.0, 0.0, 0.0])
CRANK_SPEED = np.array([6.0, 0.0, 0.0])
BLOCK_VELOCITY = np.array([0.24, 0.0, 0.0])
SHAPES: dict[str, tuple[ph.Inertia, ph.Inertia, ph.Inertia]] = {
    "library": (
        ph.Inertia(0.12, (1e-4, 1e-4, 1e-5)),
        ph.Inertia(0.5, (4e-3, 4e-4, 4e-3)),
        ph.Inertia(2.0, (1e-4, 1e-4, 1e-4)),
    ),
    "boxes": (
        ph.Box(0.12, (0.01, 0.01, 0.08)),
        ph.Box(0.5, (0.01, 0.3, 0.01)),
        ph.Box(2.0, (0.03, 0.03, 0.03)),
    ),
}
REFERENCE = {  # block positions at t = 1, ..., 5
    "library": (0.211721661394, 0.289085197067, 0.228484813697, 0.188230475581, 0.240719573732),
    "boxes": (0.206264831078, 0.288082783666, 0.238612483375, 0.197897825443, 0.210579816601),
}

CAPTIONS = {  # of those figures that show more than the plots of the report do
    "displacement": "Block position, h = 0.01 s, and converged values, for both sets of inertias",
    "velocity": "Block velocity: PH-MP has an alternating error, PH-MP-GGL has none",
    "constraint_errors": "Constraint errors: both levels hold to round-off with PH-MP-GGL",
}


def model(inertias: Inertias = "library") -> ph.Model:
    """Table 4, with consistent velocities."""
    shapes = SHAPES[inertias]
    mechanism = ph.Model("spatial slider-crank", gravity=(0, 0, -9.81))
    r = (C - B) / np.linalg.norm(C - B)
    across = np.cross(E1, r) / np.linalg.norm(np.cross(E1, r))
    v_B = np.cross(CRANK_SPEED, B - A)
    crank = mechanism.body("crank", shapes[0], position=(A + B) / 2, velocity=v_B / 2, angular_velocity=CRANK_SPEED)
    rod = mechanism.body(
        "rod",
        shapes[1],
        position=(B + C) / 2,
        rotation=np.column_stack([across, r, np.cross(across, r)]),
        velocity=(v_B + BLOCK_VELOCITY) / 2,
        angular_velocity=rod_speed(v_B, across),
    )
    slider = mechanism.body("slider", shapes[2], position=C, velocity=BLOCK_VELOCITY)
    mechanism.revolute("A", mechanism.ground, crank, at=A, axis=E1)
    mechanism.spherical("B", crank, rod, at=B)
    mechanism.universal("C", slider, rod, at=C, axis_a=E1, axis_b=across)
    mechanism.prismatic("D", mechanism.ground, slider, at=C, axis=E1)
    return mechanism


def rod_speed(v_B: Array, across: Array) -> Array:
    """The rod's angular velocity: its ends move with crank and block, `across` stays normal to the block's axis."""
    conditions = np.vstack([-skew(B - C), np.cross(across, E1)])
    return np.linalg.lstsq(conditions, np.append(v_B - BLOCK_VELOCITY, 0.0), rcond=None)[0]


def run(scheme: Scheme = SCHEME, step: float = 0.01, end: float = 5.0, inertias: Inertias = "library") -> ph.Trajectory:
    """Simulate the mechanism; every state is kept."""
    return ph.simulate(model(inertias), scheme, step=step, end=end)


def number(inertias: Inertias = "library", scheme: Scheme = SCHEME, step: float = 1e-3) -> Number:
    """H(0) and the block positions x(1), ..., x(5), extrapolated from two runs."""
    coarse, fine = (run(scheme, h, inertias=inertias) for h in (step, step / 2))
    return {"H": float(fine.energy[0]), "x": extrapolated(block_positions(coarse), block_positions(fine))}


def block_positions(run: ph.Trajectory) -> Array:
    """x of the block at t = 1, ..., 5."""
    second = round(1.0 / run.t[1])
    return run["slider"].position[second::second, 0]


def figures() -> dict[str, Figure]:
    """Figures 16 and 17 of 001 and the balances."""
    runs = {name: run(scheme) for name, scheme in SCHEMES.items()}
    mechanism = runs["PH-MP-GGL"]
    return {
        "motion": show.motion(run(end=1.0, inertias="boxes"), times=(0.0, 0.15, 0.3, 0.45)),
        "displacement": _displacement(runs),
        "velocity": _velocity(runs),
        "energy": show.energy(mechanism),
        "energy_error": show.energy_error(mechanism),
        "angular_momentum": show.angular_momentum(mechanism),
        "constraint_errors": show.constraint_errors(runs),
    }


def _displacement(runs: dict[str, ph.Trajectory]) -> Figure:
    """Block position of both schemes at h = 0.01, and the converged values, for both sets of inertias."""
    figure, axes = new_figure(columns=2, panel=(5.6, 3.2))
    boxes = {name: run(scheme, inertias="boxes") for name, scheme in SCHEMES.items()}
    for ax, some, key in zip(axes, (runs, boxes), ("library", "boxes"), strict=True):
        show.compare(some, "slider.position.x", ax=ax)
        ax.plot(range(1, 6), REFERENCE[key], "o", color=INK, markersize=4, label="converged", clip_on=False)
        ax.set_ylabel("block position $x$ [m]")
        ax.set_title(f"inertias: {key}", fontsize=10, color=INK, loc="right")
        legend(ax, columns=3, outside=True)
    return figure


def _velocity(runs: dict[str, ph.Trajectory]) -> Figure:
    """Block velocity at h = 0.01, a part of it enlarged, and at h = 0.02."""
    figure, axes = new_figure(columns=3, panel=(4.0, 3.2))
    coarse = {name: run(scheme, step=0.02) for name, scheme in SCHEMES.items()}
    show.compare(runs, "slider.velocity.x", ax=axes[0])
    show.compare(runs, "slider.velocity.x", ax=axes[1], span=(4.58, 4.88))
    show.compare(coarse, "slider.velocity.x", ax=axes[2])
    for ax, title in zip(axes, ("$h = 0.01$ s", "$h = 0.01$ s, enlarged", "$h = 0.02$ s"), strict=True):
        ax.set_title(title, fontsize=10, color=INK, loc="right")
        ax.set_ylabel("block velocity $v_x$ [m/s]")
    for ax in axes[1:]:
        ax.legend_ = None  # one for all three
    return figure


def main() -> None:
    """Print the summary, write the figures and a page that shows them."""
    mechanism, pictures = run(), figures()
    present("slider_crank", mechanism, pictures)
    captioned = {caption: pictures[name] for name, caption in CAPTIONS.items()}
    page = report(mechanism, FOLDER / "slider_crank" / "report.html", captioned)
    print(f"report written to {page}")


if __name__ == "__main__":
    main()
