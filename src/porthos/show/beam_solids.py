"""Flexible beams as what lies between their nodes and bends with them: a prism whose outline is the cross-section.

Between two nodes its line is the cubic with the directions d_3 of both, and its section has the mean of their axes.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from porthos.notation import Array
from porthos.results.trajectory import Trajectory
from porthos.show.joint_solids import Link
from porthos.show.solids import Solid

ROUND = 20  # corners of a circle
SLIMMEST = 0.004  # largest half width of a section, relative to the scene: less would not be seen
STOUTEST = 0.05  # half width of a section that is given by numbers, relative to the length of its beam


def nodes(run: Trajectory) -> dict[int, int]:
    """The bodies that are nodes, and the colours of their beams: those after the ones of other bodies."""
    beams, names = run.system.description.get("beams", []), run.system.body_names
    first = len(names) - sum(len(beam["nodes"]) for beam in beams)
    return {names.index(node): first + k for k, beam in enumerate(beams) for node in beam["nodes"]}


def inner_nodes(run: Trajectory) -> set[str]:
    """The names of nodes that are no ends."""
    return {node for beam in run.system.description.get("beams", []) for node in beam["nodes"][1:-1]}


def outline(section: dict[str, Any], length: float) -> Array:
    """Corners (n, 2) of a cross-section along its axes 1 and 2, counterclockwise."""
    radius = section.get("radius", section.get("outer_radius"))
    if radius is not None:
        angle = 2 * np.pi * np.arange(ROUND) / ROUND
        return radius * np.column_stack([np.cos(angle), np.sin(angle)])
    if "width" in section:
        half = np.array([section["width"], section["height"]]) / 2
    else:  # the rectangle with these moments of inertia
        I1, I2, _ = section["inertia_per_length"]
        half = np.minimum(np.sqrt(3 * np.array([I2, I1]) / section["mass_per_length"]), STOUTEST * length)
    return np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * half


def slices(run: Trajectory) -> dict[int, Solid]:
    """The cross-sections at all nodes as thin boxes: they show how large beams are."""
    found, colours = {}, nodes(run)
    for beam in run.system.description.get("beams", []):
        width, height = 2 * outline(beam["section"], beam["length"]).max(axis=0)
        for node in beam["nodes"]:
            k = run.system.body_names.index(node)
            size = (float(width), float(height), beam["length"] / len(beam["segments"]))
            found[k] = Solid(k, "box", size, np.zeros(3), np.eye(3), f"c{colours[k] % 7}")
    return found


def beam_links(run: Trajectory, size: float) -> list[Link]:
    """The segments of all beams."""
    links, colours = [], nodes(run)
    for beam in run.system.description.get("beams", []):
        corners = outline(beam["section"], beam["length"])
        largest = float(np.abs(corners).max())
        corners = corners * max(1.0, SLIMMEST * size / largest)
        at = [run.system.body_names.index(node) for node in beam["nodes"]]
        for a, b in pairwise(at):
            colour = f"c{colours[a] % 7}"
            ends = (a, np.zeros(3)), (b, np.zeros(3))
            links.append(Link(*ends, largest, "beam", colour, "bodies", outline=tuple(corners.ravel().tolist())))
    return links


def bent(local: Array, length: float, places: tuple[Array, Array], frames: tuple[Array, Array]) -> Array:
    """Points (n, 3) of a straight prism along z, bent so that it joins two nodes with these places and axes."""
    (x, y), (A, B) = places, frames
    s = (local[:, 2:] / length + 0.5).clip(0.0, 1.0)
    chord = float(np.linalg.norm(y - x))
    line = x * (1 + 2 * s) * (1 - s) ** 2 + y * s**2 * (3 - 2 * s)
    line = line + chord * s * (1 - s) * ((1 - s) * A[:, 2] - s * B[:, 2])
    across = local[:, :2] @ A[:, :2].T * (1 - s) + local[:, :2] @ B[:, :2].T * s
    return np.asarray(line + across, dtype=np.float64)
