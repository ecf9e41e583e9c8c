"""Figures of many runs of one problem."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from porthos.notation import Array
from porthos.show.axes import WIDTH, label, legend, new_figure

MARKS = "osD^vPX*"


def scheme_study(found: Mapping[str, Mapping[str, Array]]) -> Figure:
    """Errors of positions over the step and over the wall time: step, seconds and position_error of each scheme."""
    figure, (left, right) = new_figure(columns=2)
    for k, (name, columns) in enumerate(found.items()):
        for ax, x in ((left, columns["step"]), (right, columns["seconds"])):
            ax.plot(
                x, columns["position_error"], f"{MARKS[k % len(MARKS)]}-", markersize=5, linewidth=WIDTH, label=name
            )
    for ax, name in ((left, "step $h$ [s]"), (right, "wall time of the run [s]")):
        label(ax, "error of the positions", x=name, log=True)
        ax.set_xscale("log")
        ax.xaxis.set_minor_formatter(NullFormatter())
    legend(left, columns=2, outside=True)
    return figure
