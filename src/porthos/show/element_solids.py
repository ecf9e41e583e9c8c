"""Force elements as solids: springs are coils, dampers rods in a sleeve; a coil around a pin, a ball of rubber."""

from __future__ import annotations

from typing import Any

import numpy as np

from porthos.notation import Array
from porthos.results.trajectory import Trajectory
from porthos.show.joint_solids import Link, foot
from porthos.show.solids import AT_ONE_POINT, GROUND, Solid, element_point, joint_point, turned

SLENDER = 0.1  # radius of a coil, relative to its length at the start
SMALLEST, LARGEST = 0.004, 0.02  # the same, relative to the scene
HAIR = 0.0012  # radius of the line of an attraction, relative to the scene
WIRE, SLEEVE, PISTON = 0.16, 0.55, 0.22  # radii of other pieces, relative to a coil
SHARE = 0.6  # length of a sleeve, relative to the shortest of its damper
AROUND, SHORT, RUBBER = 1.2, 4.5, 1.7  # coil around a pin, its length, ball of a bushing, relative to the largest coil
CLEAR = 0.5  # opacity of rubber


def element_solids(run: Trajectory, size: float, up: Array) -> tuple[list[Solid], list[Link]]:
    """Solids of all force elements of a run, and what is drawn between points of two parts."""
    solids, links = [], []
    for index, element in enumerate(run.system.description.get("elements", [])):
        if element["kind"] == "segment":  # of a beam, see `beam_solids.py`
            continue
        ends = element_point(run, index, 0), element_point(run, index, 1)
        if element["kind"] in ("field", "friction"):  # it is everywhere, or within a joint
            continue
        if element["kind"] in AT_ONE_POINT:
            solids.append(_piece(run, element, ends[0], LARGEST * size))
            continue
        length = run.element(element["name"]).measure
        r = float(np.clip(SLENDER * length[0], SMALLEST * size, LARGEST * size))
        links += _between(element, ends, r, HAIR * size, SHARE * float(length.min()))
        solids += [foot(point, 0.6 * r, up, "elements") for part, point in ends if part == GROUND]
    return solids, links


def _between(
    element: dict[str, Any], ends: tuple[tuple[int, Array], tuple[int, Array]], r: float, hair: float, sleeve: float
) -> list[Link]:
    """A coil, a rod in a sleeve, or both; a line for what acts at a distance."""
    a, b = ends
    if element["kind"] in ("attraction", "potential"):
        return [Link(a, b, hair, colour="element", group="elements")]
    found = [Link(a, b, r, "coil", "element", "elements", WIRE * r)] if element["kind"] == "spring" else []
    if element["damping"] > 0.0:
        found.append(Link(a, b, PISTON * r, colour="element", group="elements"))
        found.append(Link(a, b, SLEEVE * r, "sleeve", "rail", "elements", sleeve))
    return found


def _piece(run: Trajectory, element: dict[str, Any], end: tuple[int, Array], r: float) -> Solid:
    """A coil around the axis of a joint, or a ball of rubber, on the first part."""
    part, at = end
    if element["kind"] == "bushing":
        return Solid(part, "ellipsoid", (RUBBER * r,) * 3, at, np.eye(3), "element", "elements", CLEAR)
    index = run.system.joint_names.index(element["joint"])
    axis = np.asarray(run.system.description["joints"][index]["axis"], dtype=np.float64)
    local = axis if part == GROUND else run[run.system.body_names[part]].rotation[0].T @ axis
    size = (AROUND * r, WIRE * r, SHORT * r)
    return Solid(part, "coil", size, joint_point(run, index, 0)[1], turned(local), "element", "elements")
