"""Figures of many runs of one problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from porthos.notation import Array
from porthos.show.axes import WIDTH, canvases, label, legend, log_abscissa

MARKS = "osD^vPX*"


def scheme_study(found: Mapping[str, Mapping[str, Array]], ax: Sequence[Axes] | None = None) -> Figure:
    """Errors of positions over the step and over the wall time: step, seconds and position_error of each scheme."""
    figure, (left, right) = canvases(ax, "scheme_study: expected two axes, for the step and for the wall time")
    for k, (name, columns) in enumerate(found.items()):
        for panel, x in ((left, columns["step"]), (right, columns["seconds"])):
            panel.plot(
                x, columns["position_error"], f"{MARKS[k % len(MARKS)]}-", markersize=5, linewidth=WIDTH, label=name
            )
    for panel, name in ((left, "step $h$ [s]"), (right, "wall time of the run [s]")):
        label(panel, "error of the positions", x=name, log=True)
        log_abscissa(panel)
    legend(left, columns=2, outside=True)
    return figure
