"""A planar four-bar linkage with hinges at all four corners: three rows repeat others, and nothing but that is odd.

Three bars on a base of 1 m, hinges A, B, C, D at (0, 0), (0.1, 0.3), (0.9, 0.5) and (1, 0) in the plane (x, z), bars of
1, 2 and 3 kg; they fall from rest. Hinges with parallel axes all keep the bars in the plane: 18 rows of rigidity and 20
of joints have rank 35. Gruebler's count is 18 - 20 = -2 degrees of freedom, the truth is 1, and the analysis says which
rows are too many:

revolute 'D': 1 translation row and 2 rotation rows repeat what A, B, C fix already

With a spherical joint in B and a cylindrical one in C no row repeats another. The motion is the same to round-off, in
every orientation in space; only the reactions of the hinges are not unique.

Numbers: rows, rank and degrees of freedom; hinge C at three times from the angles of the bars; the distance of both
mechanisms in five random orientations.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery._common import SCHEMES, Number, present
from porthos.integrate.scheme import Scheme
from porthos.model.bodies import rotation_matrix
from porthos.notation import Array
from porthos.show import figures as show
from porthos.show.axes import label, legend, new_figure

SCHEME = ph.Composition(ph.MidpointGGL(), order=6)
HINGES = ("revolute",) * 4
REDUCED = ("revolute", "spherical", "cylindrical", "revolute")  # 5 + 3 + 4 + 5 rows, all independent
CORNERS = np.array([[0, 0, 0], [0.1, 0, 0.3], [0.9, 0, 0.5], [1, 0, 0]])
AXIS = np.array([0.0, 1.0, 0.0])
TIMES = (0.5, 1.0, 2.0)
UPRIGHT = np.eye(3)


def model(kinds: tuple[str, ...] = HINGES, R: Array = UPRIGHT) -> ph.Model:
    """The linkage with its gravity, all of it turned by R."""
    corners, axis = CORNERS @ R.T, R @ AXIS
    linkage = ph.Model("four-bar", gravity=R @ (0, 0, -9.81))
    parts = ["ground", "crank", "coupler", "rocker", "ground"]
    for k, name in enumerate(parts[1:-1]):
        way = corners[k + 1] - corners[k]
        length = float(np.linalg.norm(way))
        frame = np.column_stack([way / length, axis, np.cross(way / length, axis)])
        box = ph.Box(1.0 + k, (length, 0.05, 0.08))
        linkage.body(name, box, position=(corners[k] + corners[k + 1]) / 2, rotation=frame)
    for k, kind in enumerate(kinds):
        around = {} if kind == "spherical" else {"axis": axis}
        getattr(linkage, kind)("ABCD"[k], parts[k], parts[k + 1], at=corners[k], **around)
    return linkage


def run(
    scheme: Scheme = SCHEME, step: float = 0.01, end: float = 2.0, kinds: tuple[str, ...] = HINGES, R: Array = UPRIGHT
) -> ph.Trajectory:
    """Let it fall."""
    return ph.simulate(model(kinds, R), scheme, step=step, end=end)


def hinge(one: ph.Trajectory) -> Array:
    """C (T, 3), where the rocker begins."""
    length = np.linalg.norm(CORNERS[3] - CORNERS[2])
    return one["rocker"].point(np.array([-length / 2, 0.0, 0.0]))


def apart(scheme: Scheme, R: Array, end: float = 2.0) -> float:
    """Largest distance of all coordinates of the mechanisms with four hinges and without redundant rows."""
    hinges, reduced = (run(scheme, end=end, kinds=kinds, R=R) for kinds in (HINGES, REDUCED))
    return float(np.abs(hinges.q - reduced.q).max())


def number() -> Number:
    """Rows and their rank, freedom by count and by rank, C at `TIMES` (3, 2) in the plane, distances of mechanisms."""
    one, found = run(), model().diagram().mobility
    rigid = one.system.m - found.rows
    turns = [rotation_matrix(np.random.default_rng(seed).normal(size=4)) for seed in range(5)]
    return {
        "rows": np.array([one.system.m, rigid + found.rank]),
        "freedom": np.array([found.counted, found.freedom]),
        "C": hinge(one)[[round(t / one.t[1]) for t in TIMES]][:, [0, 2]],
        "apart": np.array([apart(scheme, R) for R in turns for scheme in SCHEMES.values()]),
    }


def figures() -> dict[str, Figure]:
    """The linkage, hinge C, the distance from the mechanism without redundant rows, balances."""
    linkage = run()
    path, (ax,) = new_figure()
    for name, values in zip("xz", hinge(linkage)[:, [0, 2]].T, strict=True):
        ax.plot(linkage.t, values, label=f"${name}$")
    label(ax, "hinge C [m]")
    legend(ax)
    distance, (ax,) = new_figure()
    R = rotation_matrix(np.random.default_rng(0).normal(size=4))
    for name, scheme in SCHEMES.items():
        hinges, reduced = (run(scheme, kinds=kinds, R=R) for kinds in (HINGES, REDUCED))
        ax.plot(hinges.t[1:], np.abs(hinges.q - reduced.q).max(axis=1)[1:], label=name)
    label(ax, "distance of both mechanisms [m]", log=True)
    legend(ax, columns=2, outside=True)
    return {
        "motion": show.motion(linkage, times=(0.0, 0.7, 0.9)),
        "hinge": path,
        "distance": distance,
        "energy_error": show.energy_error(linkage),
        "constraint_errors": show.constraint_errors({name: run(scheme) for name, scheme in SCHEMES.items()}),
    }


def main() -> None:
    """Print which rows repeat others and the summary, and write the figures."""
    print(f"{model().diagram()}\n")
    present("four_bar", run(), figures())


if __name__ == "__main__":
    main()
