"""Figures of a trajectory over time, and of errors over the step: e = C h^p is a line of slope p in log-log axes.

Every function returns its Figure and draws into `ax` if it is given one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from porthos.errors import PorthosError
from porthos.notation import Array
from porthos.results.parts import mechanisms
from porthos.results.run import Run, mean_rate
from porthos.results.state_quantities import STATES, series
from porthos.results.states import StateTrajectory
from porthos.results.trajectory import Trajectory
from porthos.show.axes import (
    INK,
    PALETTE,
    PANEL,
    STYLES,
    TIME,
    WIDTH,
    canvas,
    canvases,
    figure_of,
    label,
    legend,
    log_abscissa,
    new_figure,
    same_scale,
)
from porthos.show.curve import Curve, literal
from porthos.show.motion import motion as motion
from porthos.show.quantities import balance, curves, energy_parts
from porthos.show.state_curves import curves_of
from porthos.show.structure import sparsity as sparsity
from porthos.show.studies import scheme_study as scheme_study

MARKERS = "osD^v<>"
MOST_TICKS = 6  # up to as many steps are written below the axis themselves
MOST_STATES, MOST_TOLD = 6, 4  # states in an overview, and curves of one that fit into a legend
COVERED = 0.01  # curves nearer to each other than this fraction of the panel cover each other


def plot(run: Run, *quantities: str, ax: Axes | None = None) -> Figure:
    """Named quantities over time, one panel for each unit; without names the outputs of the run, or an overview.

    A name is an attribute of the trajectory ("energy", "position_error", ...), of a body ("slider.position",
    "slider.velocity.x", ...), of a joint ("A.angle", "B.force", ...), of a force element ("spring.force", ...) or of a
    load or port ("motor.torque", "motor.work", "motor.power"). Of a run over states it is "H", "supplied",
    "dissipated", a state, one of its numbers ("q.0"), or what belongs to a port ("voltage.work") or a connection
    ("gear.wheel.power").
    """
    quantities = quantities or run.outputs
    if not quantities:
        if ax is not None:
            raise PorthosError("plot: the overview has several panels; name a quantity to draw into one `ax`.")
        return overview(run)
    drawn = [curve for name in quantities for curve in curves(run, name)]
    panels = list(dict.fromkeys(curve.axis for curve in drawn))
    if ax is None:
        figure, axes = new_figure(rows=len(panels), panel=(6.4, 3.2 if len(panels) == 1 else 2.6))
    elif len(panels) > 1:
        raise PorthosError(f"plot: one `ax` shows quantities of one unit, found {', '.join(panels)}. Leave `ax` out.")
    else:
        figure, axes = figure_of(ax), [canvas(ax)[1]]
    for panel, axis in zip(axes, panels, strict=True):
        chosen = [curve for curve in drawn if curve.axis == axis]
        _draw(panel, run, chosen)
        owned = any(curve.owner for curve in chosen)  # the axis says what it is, but not whose
        legend(panel, columns=min(3, len(chosen)), outside=True, least=1 if owned else 2)
    return figure


def overview(run: Run) -> Figure:
    """Energy, its defect, momenta and constraint errors; of a run over states, the first states in their place."""
    if isinstance(run, StateTrajectory):
        return _overview_of_states(run)
    figure = Figure(figsize=(2 * PANEL[0], 2 * PANEL[1] + 0.4), layout="constrained", dpi=150)
    grid = figure.add_gridspec(2, 2)
    energy(run, ax=figure.add_subplot(grid[0, 0]))
    energy_error(run, ax=figure.add_subplot(grid[0, 1]))
    halves = grid[1, 0].subgridspec(2, 1)
    upper = figure.add_subplot(halves[0])
    lower = figure.add_subplot(halves[1], sharex=upper)
    _over_time(run, ["angular_momentum"], upper, axis="$L$ [kg m²/s]")
    _over_time(run, ["linear_momentum"], lower, axis="$p$ [kg m/s]")
    upper.set_xlabel("")
    upper.tick_params(labelbottom=False)
    _over_time(run, ["position_error", "velocity_error"], figure.add_subplot(grid[1, 1]))
    _title(figure, run)
    return figure


def _overview_of_states(run: StateTrajectory) -> Figure:
    """Energy, its defect, and a panel for each of the first states."""
    moving = tuple(f"{name}: " for name in mechanisms(run))  # their many numbers are drawn better by run.part(name)
    states = [one for one in series(run).values() if one.group == STATES and not one.owner.startswith(moving)]
    states = states[:MOST_STATES]
    rows = -(-len(states) // 2)
    figure, axes = new_figure(rows=1 + rows, columns=2, panel=(PANEL[0], PANEL[1] if rows == 1 else 2.6))
    energy(run, ax=axes[0])
    energy_error(run, ax=axes[1])
    for ax, one in zip(axes[2:], states, strict=False):
        drawn = curves_of(one)
        _draw(ax, run, drawn)
        if len(drawn) <= MOST_TOLD:
            legend(ax, columns=len(drawn), outside=True)
    for ax in axes[2 + len(states) :]:
        ax.remove()
    _title(figure, run)
    return figure


def _title(figure: Figure, run: Run) -> None:
    figure.suptitle(f"{literal(run.system.name)}, {run.scheme.split('(')[0]}", fontsize=11, color=INK)


def energy(run: Run, ax: Axes | None = None) -> Figure:
    """The energy, its parts T and V, what of V is in springs, and what dampers took; without what there is not."""
    return _over_time(run, energy_parts(run), ax)


def energy_error(run: Run, ax: Axes | None = None) -> Figure:
    """What the energy balance misses: H - H(0) - W + D, and the share of each recorded step."""
    figure, ax = canvas(ax)
    share = run.power_balance
    ax.plot(run.t, np.cumsum(share), linewidth=WIDTH, label=balance(run), zorder=3)
    ax.plot(run.t[1:], share[1:], linewidth=0.6, label="share of each step", alpha=0.9)
    ax.set_xlim(run.t[0], run.t[-1])
    label(ax, "energy error [J]" if isinstance(run, Trajectory) else "energy error", x=_time(run))
    legend(ax, columns=2, outside=True)
    return figure


def angular_momentum(run: Trajectory, ax: Axes | None = None) -> Figure:
    """Components of the angular momentum about the origin."""
    return _over_time(run, ["angular_momentum"], ax)


def linear_momentum(run: Trajectory, ax: Axes | None = None) -> Figure:
    """Components of the linear momentum."""
    return _over_time(run, ["linear_momentum"], ax)


def constraint_errors(runs: Mapping[str, Trajectory], ax: Sequence[Axes] | None = None) -> Figure:
    """Constraint errors of several runs: position level on the left, velocity level on the right."""
    figure, axes = canvases(ax, "constraint_errors: expected two axes, for position and velocity")
    for name, run in runs.items():
        axes[0].plot(run.t, _positive(run.position_error), linewidth=1.0, label=name)
        axes[1].plot(run.t, _positive(run.velocity_error), linewidth=1.0, label=name)
    label(axes[0], r"position level, $\max|g(q)|$", log=True)
    label(axes[1], r"velocity level, $\max|G(q)\,v|$", log=True)
    same_scale(axes)
    for panel in axes:
        panel.set_xlim(0.0, max(run.t[-1] for run in runs.values()))
        legend(panel, columns=2, outside=True)
    return figure


def convergence(
    steps: ArrayLike, errors: Mapping[str, ArrayLike], order: int | Sequence[int], ax: Axes | None = None
) -> Figure:
    """Errors over the step size in log-log axes, with dashed lines of slope `order` (one number or several)."""
    figure, ax = canvas(ax)
    h = np.asarray(steps, dtype=np.float64)
    drawn = {name: np.asarray(e, dtype=np.float64) for name, e in errors.items()}
    for name, e in drawn.items():
        if e.shape != h.shape:
            raise PorthosError(f"convergence: '{name}' has {e.size} errors for {h.size} steps; expected as many.")
    for k, (name, e) in enumerate(drawn.items()):
        style, face = MARKERS[k % len(MARKERS)] + STYLES[k % 2], "white" if k % 2 else None  # equal errors stay visible
        ax.plot(h, _positive(e), style, markersize=5.5 - k % 2, markerfacecolor=face, linewidth=WIDTH, label=name)
    _slopes(ax, h, list(drawn.values()), [order] if isinstance(order, int) else list(order))
    label(ax, "error", x="step $h$ [s]", log=True)
    log_abscissa(ax)
    if h.size <= MOST_TICKS:
        ax.set_xticks(h, _step_names(h))
        ax.minorticks_off()
    legend(ax, columns=2, outside=True)
    return figure


def compare(
    runs: Mapping[str, Run], quantity: str, ax: Axes | None = None, span: tuple[float, float] | None = None
) -> Figure:
    """One quantity of several runs in one panel, over the whole time or a `span` of it."""
    figure, ax = canvas(ax)
    for k, (name, run) in enumerate(runs.items()):
        chosen = slice(None) if span is None else (run.t >= span[0]) & (run.t <= span[1])
        for curve in curves(run, quantity):
            color, style = PALETTE[k % len(PALETTE)], STYLES[k % len(STYLES)]
            ax.plot(run.t[chosen], curve.values[chosen], style, color=color, linewidth=WIDTH, label=name)
            label(ax, curve.axis, x=_time(run), log=curve.log)
    ax.set_xlim(*(span or (0.0, max(run.t[-1] for run in runs.values()))))
    legend(ax, columns=min(3, len(runs)), outside=True)
    return figure


def power(run: Trajectory | StateTrajectory, ax: Axes | None = None) -> Figure:
    """The power balance by port: mean power into the system through each, what was lost, and dH/dt, their sum."""
    figure, ax = canvas(ax)
    axis = "power [W]" if isinstance(run, Trajectory) else "power"
    drawn = [Curve("", f"$P$ of {literal(name)}", axis, False, run.port(name).power) for name in _ports(run)]
    H, lost = (run.energy, run.dissipated_energy) if isinstance(run, Trajectory) else (run.H, run.dissipated)
    if lost.any():
        drawn.append(Curve("", "losses", axis, False, -mean_rate(run.t, np.diff(lost, prepend=lost[0]))))
    drawn.append(Curve("", "$dH/dt$", axis, False, mean_rate(run.t, np.diff(H, prepend=H[0]))))
    _draw(ax, run, drawn)
    legend(ax, columns=min(3, len(drawn)), outside=True)
    return figure


def work(run: Trajectory | StateTrajectory, ax: Axes | None = None) -> Figure:
    """Where energy came from: the work of each load, port and drive, their sum, and the change of energy."""
    figure, ax = canvas(ax)
    axis = "energy [J]" if isinstance(run, Trajectory) else "energy"
    drawn = [Curve("", f"$W$ of {literal(name)}", axis, False, run.port(name).work) for name in _ports(run)]
    H = run.energy if isinstance(run, Trajectory) else run.H
    total = H - H[0] - np.cumsum(run.power_balance)
    if len(drawn) != 1:
        drawn.append(Curve("", "$W$ of all", axis, False, total))
    drawn.append(Curve("", "$H - H(0)$", axis, False, H - H[0]))
    _draw(ax, run, drawn)
    legend(ax, columns=2, outside=True)
    return figure


def _ports(run: Trajectory | StateTrajectory) -> Iterable[str]:
    """The loads, ports and drives."""
    return run.system.channel_names if isinstance(run, Trajectory) else run.system.ports


def phase(run: Run, x: str, y: str, ax: Axes | None = None) -> Figure:
    """One quantity over another, such as "bob.velocity.x" over "bob.position.x"; a dot marks the start."""
    figure, ax = canvas(ax)
    across, along = _single(run, x), _single(run, y)
    ax.plot(across.values, along.values, linewidth=WIDTH)
    ax.plot(across.values[:1], along.values[:1], "o", color=INK, markersize=4, label="start")
    label(ax, _beside(along), log=along.log, x=_beside(across))
    return figure


def spectrum(run: Run, *quantities: str, ax: Axes | None = None) -> Figure:
    """Amplitudes over frequency of named quantities of one unit: A sin(2 pi f t) gives a peak of height A at f.

    The mean is taken off, and a Hann window keeps strong frequencies from covering weak ones.
    """
    drawn = [curve for name in quantities for curve in curves(run, name)]
    units = list(dict.fromkeys(curve.axis for curve in drawn))
    if len(units) != 1:
        raise PorthosError(f"spectrum: expected quantities of one unit, found {', '.join(units) or 'none'}.")
    figure, ax = canvas(ax)
    for curve in drawn:
        frequency, amplitude = amplitudes(run.t, curve.values)
        ax.plot(frequency[1:], _positive(amplitude[1:]), linewidth=1.0, label=curve.label)
    label(ax, f"amplitude of {units[0]}", x="frequency $f$ [Hz]", log=True)
    ax.set_xlim(0.0, frequency[-1])
    legend(ax, columns=3, outside=True)
    return figure


def amplitudes(t: Array, values: Array) -> tuple[Array, Array]:
    """Frequencies and amplitudes of a quantity that was recorded at equal intervals."""
    steps = np.diff(t)
    if t.size < 8 or np.ptp(steps) > 1e-6 * steps.mean():
        raise PorthosError(
            f"spectrum: expected at least 8 states at equal intervals, found {t.size} with intervals from "
            f"{steps.min(initial=np.inf):.3g} to {steps.max(initial=0.0):.3g} s. Record every step, or each k-th."
        )
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(t.size) / t.size)
    heights = np.abs(np.fft.rfft((values - values.mean()) * window)) * 2 / window.sum()
    return np.fft.rfftfreq(t.size, steps.mean()), heights


def _single(run: Run, name: str) -> Curve:
    found = curves(run, name)
    if len(found) != 1:
        first = f"{name}.{'x' if isinstance(run, Trajectory) else 0}"
        raise PorthosError(f"phase: expected a single number, found '{name}' with {len(found)}. Try '{first}'.")
    return found[0]


def _beside(curve: Curve) -> str:
    """What an axis says that is not the time."""
    return curve.label if curve.axis == curve.owner else f"{curve.label}, {curve.axis}"


def _time(run: Run) -> str:
    """What the axis of time says: the unit of time of a system of equations is not known."""
    return TIME if isinstance(run, Trajectory) else "time $t$"


def _over_time(run: Run, names: list[str], ax: Axes | None, axis: str | None = None) -> Figure:
    figure, ax = canvas(ax)
    drawn = [curve for name in names for curve in curves(run, name)]
    _draw(ax, run, drawn)
    if axis is not None:
        label(ax, axis)
    legend(ax, columns=len(drawn), outside=True)
    return figure


def _draw(ax: Axes, run: Run, drawn: list[Curve]) -> None:
    """Draw curves of one unit; one that covers an earlier one is dashed, so that both are seen."""
    span = float(np.ptp([curve.values for curve in drawn]))
    for k, curve in enumerate(drawn):
        covers = [np.abs(curve.values - other.values).max() <= COVERED * span for other in drawn[:k]]
        style = STYLES[sum(covers) % len(STYLES)]
        values = _positive(curve.values) if curve.log else curve.values
        ax.plot(run.t, values, style, linewidth=1.0 if curve.log else WIDTH, label=curve.label)
    ax.set_xlim(run.t[0], run.t[-1])
    label(ax, drawn[0].axis, x=_time(run), log=drawn[0].log)


def _positive(values: Array) -> Array:
    """Zeros have no place on a logarithmic axis: leave a gap there."""
    return np.where(values > 0.0, values, np.nan)


def _step_names(h: Array) -> list[str]:
    """Steps as text: powers of ten if all are, else decimal numbers."""
    powers = np.log10(h)
    if np.all(np.abs(powers - np.round(powers)) < 1e-9):
        return [f"$10^{{{round(power)}}}$" for power in powers]
    return [f"{step:g}" for step in h]


def _slopes(ax: Axes, h: Array, errors: list[Array], orders: list[int]) -> None:
    """Dashed reference lines, each a little below the lowest of the curves whose slope is nearest to it."""
    ends = [int(np.argmin(h)), int(np.argmax(h))]
    usable = [e[ends] for e in errors if np.all(e[ends] > 0.0)] or [np.ones(2)]
    slopes = [float(np.log(high / low) / np.log(h[ends[1]] / h[ends[0]])) for low, high in usable]
    for order, style in zip(orders, ("--", ":", "-.") * len(orders), strict=False):
        miss = min(abs(slope - order) for slope in slopes)
        near = [e[1] for e, slope in zip(usable, slopes, strict=True) if abs(slope - order) <= miss + 0.3]
        reference = 0.35 * min(near) * (h / h[ends[1]]) ** order
        ax.plot(h, reference, style, color="#777777", linewidth=1.0, label=f"order {order}", zorder=1)
