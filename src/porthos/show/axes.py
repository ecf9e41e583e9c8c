"""How all figures look: colours that colour-blind readers tell apart, thin grid, units on every axis.

Figures are made without pyplot, so nothing global changes and nothing has to be closed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogFormatterMathtext, ScalarFormatter

from porthos.errors import PorthosError

# M. Okabe and K. Ito, Color Universal Design (2008), without the yellow that is too light on white
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DARK_INK = "#e6ebf0"  # in place of black on a dark ground
MATERIALS = {  # of what is no body in pictures of mechanisms, on a light and on a dark ground
    "joint": ("#6b7682", "#aeb9c4"),
    "element": ("#8f6420", "#d8b06a"),
    "rail": ("#98a3ae", "#77838f"),
    "ground": ("#4b5560", "#8b97a3"),
    "grid": ("#d4dbe2", "#323d49"),
}
STYLES = ("-", "--", "-.", ":")
INK, GRID = "#333333", "#D9D9D9"
WIDTH = 1.5  # of a curve, in points
PANEL = (4.8, 3.2)  # inches
TIME = "time $t$ [s]"
SHORT = 100.0  # a logarithmic abscissa whose ends are in this ratio has numbers between powers of ten
FLAT = 1e-6  # a curve that varies less, relative to its size, is drawn as constant: its noise has a figure of its own


def new_figure(rows: int = 1, columns: int = 1, panel: tuple[float, float] = PANEL) -> tuple[Figure, list[Axes]]:
    """A figure and its axes, row by row."""
    figure = Figure(figsize=(panel[0] * columns, panel[1] * rows), layout="constrained", dpi=150)
    axes = [figure.add_subplot(rows, columns, k + 1) for k in range(rows * columns)]
    for ax in axes:
        dress(ax)
    return figure, axes


def canvas(ax: Axes | None, panel: tuple[float, float] = PANEL) -> tuple[Figure, Axes]:
    """The axes given and their figure, or new ones."""
    if ax is None:
        figure, axes = new_figure(panel=panel)
        return figure, axes[0]
    figure = figure_of(ax)
    dress(ax)
    return figure, ax


def canvases(ax: Sequence[Axes] | None, what: str, panel: tuple[float, float] = PANEL) -> tuple[Figure, list[Axes]]:
    """Two panels side by side: the axes given and their figure, or new ones; `what` names the figure and its panels."""
    if ax is None:
        return new_figure(columns=2, panel=panel)
    if len(ax) != 2:
        raise PorthosError(f"{what}, found {len(ax)}.")
    return figure_of(ax[0]), [canvas(one)[1] for one in ax]


def figure_of(ax: Axes) -> Figure:
    """The figure that holds the axes."""
    if not isinstance(ax, Axes):
        raise PorthosError(f"ax: expected axes of Matplotlib, such as those of plt.subplots(), found {ax!r}.")
    figure = ax.get_figure()
    while figure is not None and not isinstance(figure, Figure):
        figure = figure.figure  # axes of a subfigure
    if figure is None:
        raise PorthosError("ax: these axes were removed from their figure. Expected axes of a figure.")
    return figure


def dress(ax: Axes) -> None:
    """Palette, grid and ticks of one panel."""
    ax.set_prop_cycle(color=PALETTE)
    ax.grid(True, color=GRID, linewidth=0.5)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set(color=INK, linewidth=0.8)
    ax.tick_params(colors=INK, labelsize=9, width=0.8)


def label(ax: Axes, y: str, x: str = TIME, log: bool = False) -> None:
    """Labels with units; very large and small numbers are given in powers of ten, [10^-12 J], beside the unit."""
    ax.set_xlabel(x, color=INK, fontsize=10)
    ax.set_ylabel(y, color=INK, fontsize=10)
    if log:
        _log_scale(ax)
        return
    _widen(ax)
    size = float(np.abs(_values(ax)).max(initial=0.0))
    power = 0 if size == 0.0 else int(np.floor(np.log10(size)))
    if -3 <= power <= 4:
        ax.yaxis.set_major_formatter(ScalarFormatter(useOffset=False))
    else:
        ax.yaxis.set_major_formatter(
            FuncFormatter(lambda value, _: f"{value / 10.0**power:g}".replace("-", "\N{MINUS SIGN}"))
        )
        scale = f"$10^{{{power}}}$"
        ax.set_ylabel(y.replace("[", f"[{scale} ", 1) if "[" in y else f"{y} [{scale}]")


def log_abscissa(ax: Axes) -> None:
    """A logarithmic abscissa; one of few decades has numbers at 1, 2 and 5, longer ones at powers of ten."""
    ax.set_xscale("log")
    powers = LogFormatterMathtext()

    def written(value: float, _: int) -> str:
        low, high = ax.get_xlim()
        power = int(np.floor(np.log10(value) + 1e-9))
        if high > SHORT * low or not -3 <= power <= 4:
            return powers(value) if np.isclose(value, 10.0**power) else ""
        return f"{value:g}" if round(value / 10.0**power) in (1, 2, 5) else ""

    ax.xaxis.set_major_formatter(FuncFormatter(written))
    ax.xaxis.set_minor_formatter(FuncFormatter(written))


def legend(ax: Axes, columns: int = 1, outside: bool = False, least: int = 2) -> None:
    """A legend without a frame, if there are at least so many things to tell; `outside` puts it above the panel."""
    handles, texts = ax.get_legend_handles_labels()
    if len(handles) < least:
        return
    options = {
        "ncols": columns,
        "frameon": False,
        "fontsize": 9,
        "labelcolor": INK,
        "handlelength": 1.8,
        "columnspacing": 1.4,
    }
    if outside:
        ax.legend(handles, texts, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, **options)
    else:
        ax.legend(handles, texts, loc="best", **options)


def _values(ax: Axes) -> np.ndarray:
    """All finite ordinates drawn as curves."""
    data = [np.asarray(line.get_ydata(), dtype=np.float64).ravel() for line in ax.get_lines()]
    y = np.concatenate(data) if data else np.zeros(0)
    return y[np.isfinite(y)]


def _widen(ax: Axes) -> None:
    """Show a constant as a constant: do not magnify its round-off to the height of the panel."""
    y = _values(ax)
    size = float(np.abs(y).max(initial=0.0))
    if size > 0.0 and np.ptp(y) < FLAT * size:
        middle = float(y.mean())
        ax.set_ylim(middle - 0.1 * size, middle + 0.1 * size)


def _log_scale(ax: Axes) -> None:
    """A logarithmic axis of at least two decades, also if all values are zero."""
    y = _values(ax)
    y = y[y > 0.0]
    ax.set_yscale("log", nonpositive="mask")
    low, high = (float(y.min()), float(y.max())) if y.size else (1e-17, 1e-15)
    ax.set_ylim(low / 3, max(3 * high, 100 * low))


def same_scale(axes: Sequence[Axes]) -> None:
    """Give panels side by side the same ordinate, so that the eye compares them."""
    limits = np.array([ax.get_ylim() for ax in axes])
    for ax in axes:
        ax.set_ylim(float(limits[:, 0].min()), float(limits[:, 1].max()))
