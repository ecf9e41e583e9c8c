"""Bricard's linkage: five rods and six hinges on three axes, which moves although it has a constraint too many.

Rods of length 1, mass 1 and section 0.1 x 0.1 between the corners P0 .. P5, P0 and P5 on the ground; gravity along -y,
from rest (multibody benchmark library, A04). 30 joint rows have rank 29: one degree of freedom instead of none.

A composition of order 6 gives all published digits with steps of 0.02 s, and energy and both levels of the constraints
to round-off on the way.

Numbers: P3 = (0.968283679, -1.224625159, 0.750146609) at t = 0.5, (0.510501461, -1.649167599, 0.140123115) at t = 1,
(-0.969340345, -1.221246895, 0.754278011) at t = 2.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery._common import Number, present
from porthos.integrate.scheme import Scheme
from porthos.notation import Array
from porthos.show import figures as show

SCHEME = ph.Composition(ph.MidpointGGL(), order=6)
CORNERS = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
AXES = np.eye(3)[[1, 2, 0, 1, 2, 0]]  # y, z, x, y, z, x
TIMES = (0.5, 1.0, 2.0)


def model() -> ph.Model:
    """Rods along the edges of a cube; the axes of the body frames are those of space."""
    linkage = ph.Model("Bricard", gravity=(0, -9.81, 0))
    names = ["ground", *(f"rod {k}" for k in range(1, 6)), "ground"]
    for name, start, end in zip(names[1:-1], CORNERS, CORNERS[1:], strict=False):
        size = np.where(start == end, 0.1, 1.0)
        linkage.body(name, ph.Box(1.0, tuple(size)), position=(start + end) / 2)
    for k, (corner, axis) in enumerate(zip(CORNERS, AXES, strict=True)):
        linkage.revolute(f"hinge {k}", names[k], names[k + 1], at=corner, axis=axis)
    return linkage


def run(scheme: Scheme = SCHEME, step: float = 0.02, end: float = 2.0) -> ph.Trajectory:
    """Simulate the linkage."""
    return ph.simulate(model(), scheme, step=step, end=end)


def corner(trajectory: ph.Trajectory) -> Array:
    """P3 (T, 3), the end of rod 3."""
    rod = trajectory["rod 3"]
    return rod.position + np.einsum("tij,j->ti", rod.rotation, (CORNERS[3] - CORNERS[2]) / 2)


def number(scheme: Scheme = SCHEME, step: float = 0.02) -> Number:
    """P3 at t = 0.5, 1 and 2 (3, 3), and the largest change of the energy."""
    linkage = run(scheme, step)
    rows = [round(t / step) for t in TIMES]
    return {"P3": corner(linkage)[rows], "dE": float(np.ptp(linkage.energy))}


def errors(scheme: Scheme, steps: tuple[float, ...], reference: Array) -> Array:
    """Distance of P3 from `reference` at t = 2."""
    return np.array([np.linalg.norm(corner(run(scheme, h))[-1] - reference) for h in steps])


def figures() -> dict[str, Figure]:
    """Motion, balances, and the orders of the midpoint rule and its compositions."""
    linkage, steps = run(), (0.1, 0.05, 0.025)
    reference = corner(run(ph.Composition(order=8), 0.005))[-1]
    schemes = {"PH-MP-GGL": ph.MidpointGGL(), **{f"composed, order {p}": ph.Composition(order=p) for p in (4, 6, 8)}}
    found = {name: errors(scheme, steps, reference) for name, scheme in schemes.items()}
    return {
        "motion": show.motion(linkage, times=(0.0, 0.5, 1.0)),
        "energy": show.energy(linkage),
        "energy_error": show.energy_error(linkage),
        "constraint_errors": show.constraint_errors({"order 6": linkage}),
        "convergence": show.convergence(steps, found, order=()),
    }


def main() -> None:
    """Print the summary and write the figures."""
    present("bricard", run(), figures())


if __name__ == "__main__":
    main()
