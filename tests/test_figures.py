"""Figures: every name finds its curve, wrong ones get help, every shape is drawn where it is."""

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.figure import Figure

import porthos as ph
from docs.site.reference import figure_names
from porthos.quantities import WHOLE
from porthos.show import figures as show
from porthos.show.axes import log_abscissa, new_figure
from porthos.show.motion import _frame, motion
from porthos.show.structure import eliminated_blocks
from tests.swing import swing


@pytest.fixture(scope="module")
def run():
    return swing(scheme=ph.Midpoint())


def curves(figure):
    return [line for ax in figure.axes for line in ax.get_lines()]


@pytest.mark.parametrize("name", WHOLE)
def test_every_quantity_is_drawn(run, name):
    figure = run.plot(name)
    values = np.asarray(getattr(run, name))
    lines = curves(figure)
    assert isinstance(figure, Figure)
    assert len(lines) == (1 if values.ndim == 1 else 3)
    drawn = np.array([line.get_ydata() for line in lines]).T.reshape(values.shape)
    seen = np.isfinite(drawn)  # zeros have no place on a logarithmic axis
    np.testing.assert_array_equal(drawn[seen], values[seen])
    assert np.all(values[~seen] == 0.0)
    assert figure.axes[0].get_yscale() == ("log" if name.endswith("_error") else "linear")
    assert "t$ [s]" in figure.axes[0].get_xlabel()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("bob.position.z", lambda run: run["bob"].position[:, 2]),
        ("bar.angular_velocity.y", lambda run: run["bar"].angular_velocity[:, 1]),
        ("hinge.force.x", lambda run: run.joint("hinge").force[:, 0]),
        ("angular_momentum.y", lambda run: run.angular_momentum[:, 1]),
        ("push.force.z", lambda run: run.port("push").input[:, 2]),
        ("push.work", lambda run: run.port("push").work),
    ],
)
def test_components_of_bodies_and_joints(run, name, values):
    (line,) = curves(run.plot(name))
    np.testing.assert_array_equal(line.get_ydata(), values(run))


def test_one_panel_for_each_unit(run):
    figure = run.plot("energy", "kinetic_energy", "bob.velocity", "position_error")
    assert [len(ax.get_lines()) for ax in figure.axes] == [2, 3, 1]
    assert "[J]" in figure.axes[0].get_ylabel()
    assert "[m/s]" in figure.axes[1].get_ylabel()


def test_plots_say_whose_a_curve_is_and_hide_none_behind_a_legend(run):
    figure = run.plot("bob.position", "bob.velocity.x", "energy")
    texts = [
        [] if ax.get_legend() is None else [t.get_text() for t in ax.get_legend().get_texts()] for ax in figure.axes
    ]
    assert texts == [["bob $x$", "bob $y$", "bob $z$"], ["bob $v_x$"], []]
    figure.draw_without_rendering()
    for ax in figure.axes[:2]:
        assert ax.get_legend().get_window_extent().y0 >= ax.get_window_extent().y1


def test_overview(run):
    assert len(run.plot().axes) == 5  # four panels; momenta have one part for L and one for p


def test_figures_draw_into_given_axes(run):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert show.plot(run, "energy", ax=left) is figure
    assert show.constraint_errors({"PH-MP": run}, ax=(left, right)) is figure
    assert show.convergence((0.1, 0.01), {"q": (1e-2, 1e-4)}, 2, ax=right) is figure
    solid = figure.add_subplot(projection="3d")
    assert motion(run, (0.0, 0.5), ax=solid) is figure


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("enrgy",), "Did you mean 'energy'"),
        (("bob.positon",), "'bob' has no quantity 'positon'. Did you mean 'position'"),
        (("bop.position",), "found no part 'bop' with quantities. Did you mean 'bob'"),
        (("bob",), "'bob' is a part; expected one of its quantities, such as 'bob.position'"),
        (("energy.x",), "found no quantity 'energy.x'"),
        (("bob.rotation.xw",), "'bob' has no quantity 'rotation.xw'"),
        (("hinge.position",), "has no quantity"),
        (("push.work.x",), "has no quantity"),
        (("",), "found no quantity ''"),
    ],
)
def test_unknown_names_get_help(run, names, message):
    with pytest.raises(ph.PorthosError, match=message):
        run.plot(*names)


def test_what_does_not_fit_is_refused(run):
    ax = Figure().add_subplot()
    with pytest.raises(ph.PorthosError, match="one unit"):
        show.plot(run, "energy", "bob.position", ax=ax)
    with pytest.raises(ph.PorthosError, match="several panels"):
        show.plot(run, ax=ax)
    with pytest.raises(ph.PorthosError, match="two axes"):
        show.constraint_errors({"PH-MP": run}, ax=(ax,))
    with pytest.raises(ph.PorthosError, match="2 errors for 3 steps"):
        show.convergence((1, 2, 3), {"q": (1, 2)}, order=2)
    with pytest.raises(ph.PorthosError, match=r"0 to 0\.5"):
        motion(run, (0.0, 0.6))
    with pytest.raises(ph.PorthosError, match="0 to"):
        motion(run, ())


def test_a_constant_is_drawn_as_a_constant():
    model = ph.Model("spinning ball")
    model.body("ball", ph.Sphere(1, 0.1), velocity=(1, 0, 0), angular_velocity=(0, 0, 3))
    run = ph.simulate(model, ph.Midpoint(), step=0.01, end=0.2)
    low, high = show.energy(run).axes[0].get_ylim()
    assert high - low > 0.1 * run.energy[0]


def test_errors_that_are_zero_are_no_trouble(tmp_path):
    model = ph.Model("resting")
    model.point_mass("bob", 1.0)
    run = ph.simulate(model, ph.Midpoint(), step=0.1, end=0.3)
    for name, figure in {"errors": run.plot("position_error"), "all": run.plot()}.items():
        figure.savefig(tmp_path / f"{name}.png")


SHAPES = {
    "box": (ph.Box(1, (1, 2, 3)), (0.5, 1, 1.5)),
    "cylinder": (ph.Cylinder(1, radius=0.5, length=2, axis="x"), (1, 0.5, 0.5)),
    "tube": (ph.HollowCylinder(1, 0.3, 0.5, length=2, axis="y"), (0.5, 1, 0.5)),
    "ball": (ph.Sphere(1, 0.7), (0.7, 0.7, 0.7)),
    "needle": (ph.Rod(1, length=2, axis="z"), (0, 0, 1)),
    "numbers": (ph.Inertia(1, (1, 1, 1)), (0, 0, 0)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_are_drawn_where_they_are(name, monkeypatch):
    """The corners of the picture span the shape, turned and moved with the body."""
    shape, half = SHAPES[name]
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])  # x -> y
    model = ph.Model("one body")
    model.body("body", shape, position=(10, 20, 30), rotation=turn, velocity=(1, 0, 0))
    run = ph.simulate(model, ph.Midpoint(), step=0.5, end=1.0)
    drawn = []
    monkeypatch.setattr("porthos.show.motion._frame", lambda ax, points: drawn.append(points))
    motion(run, (1.0,), ax=Figure().add_subplot(projection="3d"), paths=False)
    (points,) = drawn
    centre, reach = np.array([11, 20, 30]), np.abs(turn @ half)
    np.testing.assert_allclose(points.max(axis=0), centre + reach, atol=1e-9)
    np.testing.assert_allclose(points.min(axis=0), centre - reach, atol=1e-9)


def test_motion_has_equal_scales_and_draws_strings(run):
    figure = motion(run, (0.0, 0.25, 0.5))
    (ax,) = figure.axes
    spans = np.array([np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim()), np.ptp(ax.get_zlim())])
    np.testing.assert_allclose(spans / spans[0], ax._box_aspect / ax._box_aspect[0], rtol=1e-9)
    string = [np.array(line.get_data_3d()).T for line in ax.get_lines() if len(line.get_data_3d()[0]) == 2]
    assert len(string) == 3
    for line in string:
        assert np.linalg.norm(line[1] - line[0]) == pytest.approx(1.0)


def test_motion_draws_ropes_as_long_as_they_are():
    model = ph.Model("hoist")
    model.point_mass("load", 1.0, position=(0, 0, -2))
    model.length_drive("rope", "ground", "load", (0, 0, 0), (0, 0, -2), length=ph.Expression("2 - t**2"))
    figure = motion(ph.simulate(model, ph.Midpoint(), 0.05, 1.0), (0.0, 0.5, 1.0), paths=False)
    lines = [np.array(line.get_data_3d()).T for line in figure.axes[0].get_lines()]
    ropes = [np.linalg.norm(line[1] - line[0]) for line in lines if len(line) == 2]
    assert ropes == pytest.approx([2.0, 1.75, 1.0], abs=1e-12)


def test_figures_leave_pyplot_alone():
    code = "import sys, porthos.show.figures, porthos.show.report; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- work, phases, spectra, structure


def test_work_covers_the_change_of_energy(run):
    push, change = curves(show.work(run))
    np.testing.assert_array_equal(push.get_ydata(), run.port("push").work)
    np.testing.assert_allclose(change.get_ydata(), push.get_ydata(), atol=1e-12)
    without = swing(loads=False)
    total, change = curves(show.work(without))
    np.testing.assert_allclose(total.get_ydata(), 0.0, atol=1e-12)


def test_power_by_port_adds_up_to_the_change_of_energy():
    """Through a load, a drive and what a damper takes, of a crank with a spring-damper; recorded each second step."""
    model = ph.Model("pump", gravity=(0, 0, -9.81))
    model.body("crank", ph.Box(1.0, (0.4, 0.05, 0.05)), position=(0.2, 0, 0))
    model.body("bob", ph.Sphere(0.5, 0.05), position=(0.4, 0, -0.5))
    model.revolute("A", "ground", "crank", at=(0, 0, 0), axis=(0, 1, 0))
    model.spring("line", "crank", "bob", point_a=(0.4, 0, 0), point_b=(0.4, 0, -0.5), stiffness=80, damping=2)
    model.turn_drive("motor", "ground", "crank", at=(0, 0, 0), axis=(0, 1, 0), angle=ph.Expression("t**2"))
    model.load("wind", "bob", force=(1.0, 0, 0))
    run = ph.simulate(model, ph.MidpointGGL(), 0.01, 0.4, every=2)
    for name in ("motor", "wind"):
        power = run.port(name).power
        assert np.isnan(power[0])
        np.testing.assert_allclose(np.cumsum(power[1:] * 0.02), run.port(name).work[1:], atol=1e-13)
        (line,) = curves(run.plot(f"{name}.power"))
        np.testing.assert_array_equal(line.get_ydata(), power)
    drawn = {line.get_label(): np.asarray(line.get_ydata())[1:] for line in curves(show.power(run))}
    assert set(drawn) == {"$P$ of motor", "$P$ of wind", "losses", "$dH/dt$"}
    assert drawn["losses"].max() < 0
    np.testing.assert_allclose(drawn.pop("$dH/dt$"), sum(drawn.values()), atol=1e-9)
    assert min(abs(values).max() for values in drawn.values()) > 0.01


def test_figures_of_momentum_and_of_schemes_take_axes(run):
    figure, axes = new_figure(columns=2)
    assert show.linear_momentum(run, ax=axes[0]) is figure
    assert len(axes[0].get_lines()) == 3
    found = {"Midpoint": {name: np.array([1e-2, 1e-3]) for name in ("step", "seconds", "position_error")}}
    assert show.scheme_study(found, ax=axes) is figure
    assert len(axes[1].get_lines()) == 1
    with pytest.raises(ph.PorthosError, match=r"scheme_study: expected two axes, for the step.*found 1"):
        show.scheme_study(found, ax=axes[:1])


def test_reference_lists_all_figures():
    named = set(figure_names())
    assert {"plot", "power", "linear_momentum", "motion", "sparsity", "scheme_study", "compare"} <= named
    assert not named & {"canvas", "new_figure", "figure_of", "amplitudes"}


def test_phase(run):
    path, start = curves(show.phase(run, "bob.position.x", "bob.velocity.x"))
    np.testing.assert_array_equal(path.get_xdata(), run["bob"].position[:, 0])
    np.testing.assert_array_equal(path.get_ydata(), run["bob"].velocity[:, 0])
    assert start.get_xdata() == run["bob"].position[0, 0]
    with pytest.raises(ph.PorthosError, match=r"Try 'bob\.position\.x'"):
        show.phase(run, "bob.position", "energy")


def test_spectrum_finds_the_frequency_of_a_pendulum():
    """Small swings of a mathematical pendulum: f = sqrt(g/l)/(2 pi), amplitude that of the start."""
    angle, length = 0.05, 0.3
    model = ph.Model("clock", gravity=(0, 0, -9.81))
    model.point_mass("bob", 1.0, position=(length * np.sin(angle), 0, -length * np.cos(angle)))
    model.distance("rod", model.ground, "bob", point_a=(0, 0, 0), point_b=model.bodies[0].position)
    run = ph.simulate(model, ph.Midpoint(), step=0.002, end=60.0)
    (line,) = curves(show.spectrum(run, "bob.position.x"))
    peak = int(np.nanargmax(line.get_ydata()))
    exact = np.sqrt(9.81 / length) / (2 * np.pi) / (1 + angle**2 / 16)
    assert line.get_xdata()[peak] == pytest.approx(exact, abs=0.6 / 60)
    assert line.get_ydata()[peak] == pytest.approx(length * np.sin(angle), rel=0.16)  # between two frequencies less


def test_amplitude_of_a_sine():
    t = np.arange(1000) * 0.01
    frequency, height = show.amplitudes(t, 3 + 0.7 * np.sin(2 * np.pi * 4 * t))
    assert frequency[np.argmax(height)] == pytest.approx(4.0)
    assert height.max() == pytest.approx(0.7, rel=1e-12)
    with pytest.raises(ph.PorthosError, match="equal intervals"):
        show.amplitudes(np.cumsum(t), t)
    with pytest.raises(ph.PorthosError, match="at least 8"):
        show.amplitudes(t[:5], t[:5])


def test_spectrum_of_one_unit(run):
    assert len(curves(show.spectrum(run, "bob.velocity"))) == 3
    with pytest.raises(ph.PorthosError, match="one unit"):
        show.spectrum(run, "bob.velocity", "energy")


def test_sparsity_shows_the_matrices(run):
    """Dots of J are its entries; blocks of the step hold as many numbers as are eliminated."""
    figure = show.sparsity(run)
    J = run.system.J(run.system.initial_state()).toarray()
    (dots,) = figure.axes[0].get_lines()
    drawn = np.zeros_like(J)
    drawn[dots.get_ydata(), dots.get_xdata()] = 1
    np.testing.assert_array_equal(drawn != 0, J != 0)
    corners, sizes, fill = eliminated_blocks(run)
    assert sizes.prod(axis=1).sum() == run.system.layout.pattern.length
    assert {tuple(c) for c in corners.tolist()} == {tuple(c) for c in corners[:, ::-1].tolist()}
    assert (fill.size, fill.sum()) == (12, 0)  # a chain is taken off from its free end, and fills nothing
    with pytest.raises(ph.PorthosError, match="two axes"):
        show.sparsity(run, ax=(figure.axes[0],))


def test_loops_fill():
    """Eliminating a ring of bars couples what was not coupled before."""
    model = ph.Model("ring")
    places = [(np.cos(a), np.sin(a), 0.0) for a in np.linspace(0, 2 * np.pi, 6, endpoint=False)]
    for k, place in enumerate(places):
        model.body(f"bar {k}", ph.Box(1, (0.5, 0.1, 0.1)), position=place)
    for k, place in enumerate(places):
        model.spherical(
            f"joint {k}", f"bar {k}", f"bar {(k + 1) % 6}", at=np.mean([place, places[(k + 1) % 6]], axis=0)
        )
    run = ph.simulate(model, ph.Midpoint(), step=0.01, end=0.02)
    _, sizes, fill = eliminated_blocks(run)
    assert fill.any()
    assert (~fill).sum() == 12 + 2 * 12  # 12 nodes, each joint with two bodies, above and below
    assert sizes.prod(axis=1).sum() == run.system.layout.pattern.length


def test_names_are_no_mathematics(tmp_path):
    run = swing("a $ b", bar="x_$^", loads=True)
    for name, figure in {"work": show.work(run), "phase": show.phase(run, "x_$^.position.x", "energy")}.items():
        figure.savefig(tmp_path / f"{name}.png")


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        ((0.19, 9.0), ["0.2", "0.5", "1", "2", "5"]),
        ((1.5, 4.0), ["2"]),
        ((1e-3, 1e2), [f"$\\mathdefault{{10^{{{power}}}}}$" for power in range(-3, 3)]),
        ((2e-7, 8e-6), ["$\\mathdefault{10^{-6}}$"]),
    ],
)
def test_numbers_of_a_logarithmic_abscissa_have_room(ends, told):
    figure, (ax,) = new_figure()
    ax.plot(ends, (1.0, 2.0))
    log_abscissa(ax)
    ax.set_xlim(*ends)
    figure.draw_without_rendering()
    low, high = ax.get_xlim()
    ticks = sorted(
        (t.get_loc(), t.label1.get_text()) for t in [*ax.xaxis.get_major_ticks(), *ax.xaxis.get_minor_ticks()]
    )
    assert [text for at, text in ticks if low <= at <= high and text] == told
    boxes = sorted(t.label1.get_window_extent().extents[[0, 2]].tolist() for t in ax.xaxis.get_major_ticks())
    assert all(left[1] < right[0] for left, right in pairwise(boxes))


@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
def test_ticks_of_a_motion_do_not_depend_on_its_size(size):
    """Small scenes have as many numbers as large ones; a plane one has a single number across."""
    for flat, most in ((0.5, 4), (0.01, 1)):
        ax = Figure().add_subplot(projection="3d")
        _frame(ax, size * np.array([[0.0, 0.0, 0.0], [1.0, flat, 0.6]]))
        low, high = ax.get_xlim()
        assert sum(low <= tick <= high for tick in ax.get_xticks()) >= 3
        low, high = ax.get_ylim()
        assert 1 <= sum(low <= tick <= high for tick in ax.get_yticks()) <= most
