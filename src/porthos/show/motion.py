"""Snapshots of the motion: each body is drawn by its shape, placed by x = phi + R X.

Bodies given by numbers only (`Inertia`) and point masses are drawn as a marker with sticks to their joints.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox
from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection  # type: ignore[import-untyped]
from mpl_toolkits.mplot3d.axes3d import Axes3D  # type: ignore[import-untyped]
from mpl_toolkits.mplot3d.proj3d import proj_transform  # type: ignore[import-untyped]
from numpy.typing import ArrayLike

from porthos.errors import PorthosError
from porthos.notation import Array, IntArray
from porthos.results.run import nearest_states
from porthos.results.trajectory import Trajectory
from porthos.show.axes import GRID, INK, MATERIALS, PALETTE, figure_of
from porthos.show.beam_solids import nodes
from porthos.show.meshes import place
from porthos.show.solids import AT_ONE_POINT, LINKS, element_point

AXES = {"x": 0, "y": 1, "z": 2}
SIZE = (6.4, 5.0)  # of a figure, in inches; its height shrinks for a long and flat scene
ROOM = (-1.0, -1.0, 3.0, 3.0)  # the axes are larger than the figure, so that they clip nothing of a zoomed scene
HEADER = 0.6  # inches above the scene, for title and legend
MOST_NAMES = 8  # a legend of more bodies says nothing
PLANE = 0.06  # a scene thinner than this fraction of its length counts as plane
SIDES = 36  # corners of a circle
TEETH, ZIGZAG = 6, (0.15, 0.08)  # of a spring: teeth, share that is straight at each end, width relative to its length
FAINTEST = 0.3  # opacity of the first snapshot; the last one is opaque


@dataclass(frozen=True)
class Drawing:
    """A shape in the body frame: filled polygons, open lines, and whether the centre of mass is marked."""

    faces: list[Array] = field(default_factory=list)
    lines: list[Array] = field(default_factory=list)
    marked: bool = False


def motion(run: Trajectory, times: ArrayLike, ax: Axes3D | None = None, paths: bool = True) -> Figure:
    """The mechanism at some times in one 3D picture, the later the more opaque; `paths` adds those of the bodies."""
    own = ax is None
    if ax is None:
        figure = Figure(figsize=SIZE, dpi=150)
        ax = figure.add_axes(ROOM, projection="3d", proj_type="ortho")
    else:
        figure = figure_of(ax)
    frames = _frames(run, times)
    opacity = np.linspace(FAINTEST, 1.0, frames.size) if frames.size > 1 else np.ones(1)
    drawn = _draw_links(ax, run, frames, opacity)
    slices = nodes(run)
    drawn += _draw_beams(ax, run, frames, opacity)
    for k, body in enumerate(run.system.description["bodies"]):
        if k in slices:
            continue
        name, color = body["name"], PALETTE[k % len(PALETTE)]
        shape = _drawing(body["shape"], _joint_points(run, name))
        for frame, alpha in zip(frames, opacity, strict=True):
            drawn += _draw_body(ax, shape, run[name].position[frame], run[name].rotation[frame], color, float(alpha))
        if paths:
            path = run[name].position[: frames.max() + 1]
            ax.plot(*path.T, color=color, linewidth=0.7, alpha=0.5, zorder=1)
            drawn.append(path)
        ax.plot([], [], [], color=color, linewidth=4, label=name)
    _frame(ax, np.concatenate(drawn))
    moments = ", ".join(f"{run.t[frame]:.4g}" for frame in frames)
    title = f"$t$ = {moments} s" + (", from faint to full" if frames.size > 1 else "")
    _caption(figure, ax, title, own)
    return figure


def _caption(figure: Figure, ax: Axes3D, title: str, own: bool) -> None:
    """Title and legend: in a band above the scene in a figure of our own, inside the axes in one of the user's."""
    handles, names = ax.get_legend_handles_labels()
    options: dict[str, Any] = {"frameon": False, "fontsize": 9, "labelcolor": INK, "handlelength": 1.2}
    if not own:
        ax.set_title(title, fontsize=10, color=INK)
        ax.legend(handles, names, loc="upper left", **options)
        return
    _fill(figure, ax)
    figure.text(0.5, 1.0 - 0.2 / figure.get_figheight(), title, fontsize=10, color=INK, ha="center", va="center")
    if 1 < len(handles) <= MOST_NAMES:
        top = 1.0 - 0.3 / figure.get_figheight()
        figure.legend(handles, names, loc="upper center", bbox_to_anchor=(0.5, top), ncols=len(handles), **options)


def _frames(run: Trajectory, times: ArrayLike) -> IntArray:
    """The recorded states nearest to the times asked for."""
    wanted = np.asarray(times, dtype=np.float64).ravel()
    slack = 1e-9 * max(1.0, float(run.t[-1]))
    if wanted.size == 0 or not np.all((wanted >= -slack) & (wanted <= run.t[-1] + slack)):
        raise PorthosError(
            f"motion: expected times from 0 to {run.t[-1]:.6g}, where the run ended, found {wanted.tolist()}."
        )
    return nearest_states(run.t, wanted)


def _joint_points(run: Trajectory, body: str) -> list[Array]:
    """Points of a body, in its frame, at which joints hold it."""
    points = []
    for joint in run.system.description["joints"]:
        ends = _ends(joint)
        for side, end in zip(("a", "b"), ends, strict=True):
            if joint[side] == body:
                points.append(_to_body(run, body, end))
    return points


def _ends(joint: dict[str, Any]) -> tuple[Array, Array]:
    """World points of both sides of a joint at the initial placement."""
    keys = ("point_a", "point_b") if "point_a" in joint else ("at", "at_b")
    return np.asarray(joint[keys[0]], dtype=np.float64), np.asarray(joint[keys[1]], dtype=np.float64)


def _to_body(run: Trajectory, body: str, world: Array) -> Array:
    return run[body].rotation[0].T @ (world - run[body].position[0])


def _drawing(shape: dict[str, Any], joints: list[Array]) -> Drawing:
    """The picture of a shape in its body frame."""
    match shape["type"]:
        case "Box":
            return Drawing(faces=_box(np.asarray(shape["size"], dtype=np.float64) / 2))
        case "Cylinder":
            return _tube(shape["radius"], 0.0, shape["length"], shape["axis"])
        case "HollowCylinder":
            return _tube(shape["outer_radius"], shape["inner_radius"], shape["length"], shape["axis"])
        case "Sphere":
            return Drawing(lines=[shape["radius"] * _circle(k) for k in range(3)])
        case "Rod":
            end = shape["length"] / 2 * np.eye(3)[AXES[shape["axis"]]]
            return Drawing(lines=[np.array([-end, end])])
        case _:
            sticks = [np.array([np.zeros(3), point]) for point in joints]
            return Drawing(lines=sticks if shape["type"] != "PointMass" else [], marked=True)


def _box(half: Array) -> list[Array]:
    """The six faces of a box."""
    corners = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    faces = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            face = np.full((4, 3), side)
            face[:, [(axis + 1) % 3, (axis + 2) % 3]] = corners
            faces.append(face * half)
    return faces


def _circle(axis: int) -> Array:
    """A closed unit circle about an axis of the body frame."""
    angle = np.linspace(0.0, 2 * np.pi, SIDES + 1)
    circle = np.zeros((SIDES + 1, 3))
    circle[:, (axis + 1) % 3], circle[:, (axis + 2) % 3] = np.cos(angle), np.sin(angle)
    return circle


def _tube(outer: float, inner: float, length: float, axis: str) -> Drawing:
    """A cylinder: its shell in strips, circles at both ends, four lines along it."""
    k = AXES[axis]
    circle, end = _circle(k), length / 2 * np.eye(3)[k]
    rings = [radius * circle + side * end for radius in (outer, inner) if radius > 0.0 for side in (-1, 1)]
    low, high = rings[0], rings[1]
    shell = [np.array([low[i], low[i + 1], high[i + 1], high[i]]) for i in range(SIDES)]
    quarters = [np.array([low[i], high[i]]) for i in range(0, SIDES, SIDES // 4)]
    return Drawing(faces=shell, lines=[*rings, *quarters])


def _draw_body(ax: Axes3D, shape: Drawing, position: Array, rotation: Array, color: str, alpha: float) -> list[Array]:
    """Draw one shape at one time; returns its points in world coordinates."""

    def world(points: Array) -> Array:
        return position + points @ rotation.T

    faces, lines = [world(face) for face in shape.faces], [world(line) for line in shape.lines]
    if faces:
        edge = 0.0 if lines else 0.6  # the strips of a shell have no edges; its rings are lines
        ax.add_collection3d(
            Poly3DCollection(faces, facecolor=(color, 0.22 * alpha), edgecolor=(color, alpha), linewidth=edge)
        )
    if lines:
        ax.add_collection3d(Line3DCollection(lines, colors=[(color, alpha)], linewidths=0.8 if faces else 2.0))
    if shape.marked:
        ax.plot(*position[:, None], marker="o", markersize=5, color=color, alpha=alpha, linestyle="none")
    return [*faces, *lines, position[None]]


def _draw_links(ax: Axes3D, run: Trajectory, frames: IntArray, opacity: Array) -> list[Array]:
    """Massless rods and ropes as thin lines, and a mark wherever a joint is held by the ground."""
    drawn = []
    for joint in run.system.description["joints"]:
        ends = _ends(joint)
        for side, end in zip(("a", "b"), ends, strict=True):
            if joint[side] == "ground":
                ax.plot(*end[:, None], marker="^", markersize=5, color=INK, linestyle="none")
                drawn.append(end[None])
        if joint["kind"] in LINKS:
            for frame, alpha in zip(frames, opacity, strict=True):
                link = np.array([_now(run, joint[s], end, frame) for s, end in zip(("a", "b"), ends, strict=True)])
                ax.plot(*link.T, color=INK, linewidth=1.2, alpha=float(alpha))
                drawn.append(link)
    return drawn + _draw_elements(ax, run, frames, opacity)


def _draw_elements(ax: Axes3D, run: Trajectory, frames: IntArray, opacity: Array) -> list[Array]:
    """Springs as zigzag lines, dampers and attractions as straight ones; those at one point are not drawn."""
    drawn = []
    for k, element in enumerate(run.system.description.get("elements", [])):
        ends = [element_point(run, k, side) for side in (0, 1)]
        if element["kind"] in (*AT_ONE_POINT, "field", "segment"):
            continue
        for frame, alpha in zip(frames, opacity, strict=True):
            start, end = (place(run, part, point[None], frame)[0] for part, point in ends)
            line = _zigzag(start, end) if element["kind"] == "spring" else np.array([start, end])
            ax.plot(*line.T, color=MATERIALS["element"][0], linewidth=1.0, alpha=float(alpha))
            drawn.append(line)
    return drawn


def _draw_beams(ax: Axes3D, run: Trajectory, frames: IntArray, opacity: Array) -> list[Array]:
    """Beams by their centre lines, through their nodes."""
    drawn, bodies = [], len(run.system.body_names) - len(nodes(run))
    for k, beam in enumerate(run.system.description.get("beams", []), bodies):
        line, color = run.beam(beam["name"]).position, PALETTE[k % len(PALETTE)]
        for frame, alpha in zip(frames, opacity, strict=True):
            ax.plot(*line[frame].T, color=color, linewidth=2.5, alpha=float(alpha), solid_capstyle="butt")
            drawn.append(line[frame])
        ax.plot([], [], [], color=color, linewidth=4, label=beam["name"])
    return drawn


def _zigzag(start: Array, end: Array) -> Array:
    """A line with teeth across the view, which looks from a corner at x and y."""
    share = np.concatenate([[0.0], np.linspace(ZIGZAG[0], 1 - ZIGZAG[0], 2 * TEETH + 1), [1.0]])
    side = np.zeros(share.size)
    side[2:-2:2], side[3:-2:2] = ZIGZAG[1], -ZIGZAG[1]
    across = np.cross(end - start, (1.0, 1.0, 0.3))
    return start + np.outer(share, end - start) + np.outer(side, across)


def _now(run: Trajectory, part: str, world: Array, frame: int) -> Array:
    """Where a point of a part, given at the initial placement, is at a recorded state."""
    if part == "ground":
        return world
    return run[part].position[frame] + run[part].rotation[frame] @ _to_body(run, part, world)


def _frame(ax: Axes3D, points: Array) -> None:
    """Equal scales on all axes, limits around all points, quiet panes."""
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.maximum(high - low, 0.12 * (high - low).max() + 1e-12)
    middle = (low + high) / 2
    limits = zip((ax.set_xlim, ax.set_ylim, ax.set_zlim), middle, span, strict=True)
    for set_limits, centre, width in limits:
        set_limits(centre - 0.52 * width, centre + 0.52 * width)
    ax.set_box_aspect(tuple(span))  # a copy: matplotlib scales what it is given
    for axis, name, share in zip((ax.xaxis, ax.yaxis, ax.zaxis), "xyz", span / span.max(), strict=True):
        axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
        axis.line.set(color=INK, linewidth=0.8)
        axis._axinfo["grid"].update(color=GRID, linewidth=0.5)
        axis.set_tick_params(labelsize=8, colors=INK, pad=1)
        axis.set_label_text(f"${name}$ [m]", fontsize=10, color=INK)
        ax.locator_params(axis=name, nbins=max(1, round(6 * share)))
    for axis, centre, width in zip((ax.xaxis, ax.yaxis, ax.zaxis), middle, high - low, strict=True):
        if width < PLANE * span.max():  # room for one number only
            axis.set_ticks([centre], [f"{centre:.3g}"])


def _fill(figure: Figure, ax: Axes3D) -> None:
    """Fit height of figure, zoom and place to what is seen of the scene, which may be long and flat."""
    seen = _seen(figure, ax)
    height = float(np.clip(SIZE[0] * seen.height / seen.width, 2.0, SIZE[1])) + HEADER
    figure.set_size_inches(SIZE[0], height)
    zoom = 1.0
    for _ in range(3):  # labels do not grow with the zoom: correct again after the first time
        seen, (width, high) = _seen(figure, ax), figure.get_size_inches() * figure.dpi
        zoom *= min(0.96 * width / seen.width, (0.98 * high - HEADER * figure.dpi) / seen.height)
        ax.set_box_aspect(ax._box_aspect / np.linalg.norm(ax._box_aspect), zoom=zoom)
        for axis in (ax.xaxis, ax.yaxis, ax.zaxis):  # matplotlib scales 8 + pad and 21 + labelpad with the zoom
            axis.set_tick_params(pad=8.0 / zoom - 8.0)
            axis.labelpad = 23.0 / zoom - 21.0
    seen = _seen(figure, ax)
    x = 0.5 - (seen.x0 + seen.x1) / 2 / width
    y = 0.5 * (1.0 - HEADER / height) - (seen.y0 + seen.y1) / 2 / high
    ax.set_position((ROOM[0] + x, ROOM[1] + y, ROOM[2], ROOM[3]))


def _seen(figure: Figure, ax: Axes3D) -> Bbox:
    """The box around the scene and the labels of its axes, in pixels."""
    figure.draw_without_rendering()
    limits = (ax.get_xlim(), ax.get_ylim(), ax.get_zlim())
    corners = np.array([[x, y, z] for x in limits[0] for y in limits[1] for z in limits[2]])
    flat = np.column_stack(proj_transform(*corners.T, ax.get_proj())[:2])
    labels = [axis.get_tightbbox() for axis in (ax.xaxis, ax.yaxis, ax.zaxis)]
    return Bbox.union([Bbox(ax.transData.transform(flat)[[0, k]]) for k in range(1, 8)] + labels)
