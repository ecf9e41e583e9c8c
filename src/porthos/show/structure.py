"""The sparsity of a mechanism: J of its pH-DAE, and the matrix of a step in the order in which it is eliminated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from porthos.notation import Array, IntArray
from porthos.results.trajectory import Trajectory
from porthos.show.axes import INK, PALETTE, canvases

DOT = 250.0  # size of a dot in points, divided by the dimension of the matrix
OWN, FILL = PALETTE[0], PALETTE[4]


def sparsity(run: Trajectory, ax: Sequence[Axes] | None = None) -> Figure:
    """J at the start on the left; on the right the matrix of a step in its order of elimination, with its fill."""
    what = "sparsity: expected two axes, for J and for the eliminated matrix"
    figure, axes = canvases(ax, what, panel=(4.6, 4.6))
    _draw_structure(axes[0], run)
    _draw_elimination(axes[1], run)
    return figure


def _draw_structure(ax: Axes, run: Trajectory) -> None:
    J = run.system.J(run.system.initial_state()).tocoo()
    J.eliminate_zeros()
    ax.plot(J.col, J.row, "s", color=OWN, markersize=max(0.4, DOT / max(1, J.shape[0])), markeredgewidth=0)
    _matrix_axes(ax, J.shape[0], f"$J$: {J.shape[0]} states, {J.nnz} entries")


def _draw_elimination(ax: Axes, run: Trajectory) -> None:
    corners, sizes, fill = eliminated_blocks(run)
    ends = corners + sizes
    squares = np.stack([corners, np.column_stack([ends[:, 0], corners[:, 1]]), ends,
                        np.column_stack([corners[:, 0], ends[:, 1]])], axis=1)  # fmt: skip
    for chosen, colour, label in ((~fill, OWN, "bodies and joints"), (fill, FILL, "fill")):
        ax.add_collection(PolyCollection(squares[chosen][:, :, ::-1], facecolors=colour, linewidths=0, label=label))
    total = int(ends.max(initial=0))
    share = sizes[fill].prod(axis=1).sum() / max(1, sizes.prod(axis=1).sum())
    if fill.any():
        quiet: dict[str, Any] = {"frameon": False, "fontsize": 9, "labelcolor": INK}
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=2, **quiet)
    _matrix_axes(ax, total, f"step: {total} unknowns, {100 * share:.0f} % of its entries are fill")


def _matrix_axes(ax: Axes, count: int, title: str) -> None:
    ax.set(xlim=(-0.5, count - 0.5), ylim=(count - 0.5, -0.5), aspect="equal")
    ax.grid(False)
    for side in ("top", "right"):
        ax.spines[side].set(visible=True, color=INK, linewidth=0.8)
    ax.set_title(title, fontsize=10, color=INK)


def eliminated_blocks(run: Trajectory) -> tuple[IntArray, IntArray, np.ndarray]:
    """Blocks of the step's matrix in order of elimination: first row and column, size, and whether it is fill."""
    pattern, coupled = run.system.layout.pattern, _coupled(run)
    order = pattern.pivot
    first = np.concatenate([[0], np.cumsum(order.unknowns)])
    position = {int(start): k for k, start in enumerate(order.start) if order.unknowns[k] > 0}
    corners, sizes, fill = [], [], []
    for k, pivot in enumerate(order):
        corners.append((first[k], first[k]))
        sizes.append((pivot.unknowns, pivot.unknowns))
        fill.append(False)
        for neighbour in pattern.neighbour[pivot.first : pivot.last]:
            if not (neighbour.unknowns and pivot.unknowns):
                continue
            j = position[int(neighbour.start)]
            own = frozenset((int(pivot.node), int(order[j].node))) in coupled
            corners += [(first[k], first[j]), (first[j], first[k])]
            sizes += [(pivot.unknowns, neighbour.unknowns), (neighbour.unknowns, pivot.unknowns)]
            fill += [not own] * 2
    return np.array(corners), np.array(sizes), np.array(fill)


def _coupled(run: Trajectory) -> set[frozenset[int]]:
    """Pairs of nodes that the model couples: joints with their bodies, and bodies of joints with quadratic rows."""
    mech, bodies = run.system.mech, len(run.system.body_names)
    pairs = set()
    for j, joint in enumerate(mech.joint):
        held = [int(b) for b in joint.body if b != bodies]
        pairs |= {frozenset((b, bodies + j)) for b in held}
        quadratic: Array = mech.form.cu[joint.first : joint.last]
        if len(held) == 2 and np.any(quadratic != 0.0):
            pairs.add(frozenset(held))
    return pairs
