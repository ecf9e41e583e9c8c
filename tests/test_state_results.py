"""Runs over states for other programs and for people: exact solutions come back out of every format."""

import base64
import json
import re
from dataclasses import replace

import numpy as np
import pandas
import pytest
import xarray
from lagrangians import bead_on_turning_wire, crank, double_pendulum
from scipy.io import loadmat

import porthos as ph
from porthos.integrate.signals import Signals
from porthos.integrate.state_march import march_states
from porthos.integrate.walk import Walk
from porthos.results.state_quantities import series
from porthos.results.verdict import Level, verdict
from porthos.show import figures as show
from porthos.show.report import page
from porthos.show.state_stage import StateStage

STIFFNESS, DAMPING, MASS = 10.0, 0.5, 2.0


def oscillator(name="oscillator"):
    """q'' = -4 q + F/2 with q(0) = 1: q = cos 2 t without force; p is the momentum."""
    return ph.LinearPHDAE(
        name, J=[[0, 1], [-1, 0]], Q=[[8, 0], [0, 1 / 2]], B=[[0], [1]],
        states=["q", "p"], ports=["force"], initial=[1.0, 0.0],
    )  # fmt: skip


def carriage():
    """A box on a vertical slide, with a damped spring to the ground and a port."""
    model = ph.Model("carriage", gravity=(0, 0, -9.81))
    box = model.body("box", ph.Box(MASS, (0.4, 0.2, 0.1)), position=(0, 0, -1))
    model.prismatic("slide", model.ground, box, at=(0, 0, -1), axis=(0, 0, 1))
    model.spring("strut", model.ground, box, (0, 0, 0), (0, 0, -1), stiffness=100, damping=1.0)
    model.port("lift", box, kind="force", direction=(0, 0, 1))
    return model.assemble()


def second_spring():
    """A spring with a damper as a system of its own: its force is k e + d e'."""
    return ph.LinearPHDAE(
        "controller", J=[[0]], Q=[[STIFFNESS]], B=[[1]], S=[[DAMPING]], states=["e"], ports=["hand"], initial=[0.0]
    )


@pytest.fixture(scope="module")
def free():
    return ph.simulate(oscillator(), ph.Gauss(3), step=0.05, end=2.0, inputs={"force": 0.0})


@pytest.fixture(scope="module")
def connected():
    system = ph.interconnect(carriage(), second_spring(), through=ph.Feedback("lift", "hand", name="grip"), name="both")
    return ph.simulate(system, ph.Gauss(1), step=0.01, end=0.6)


@pytest.fixture(scope="module")
def livens():
    return ph.simulate(crank(), ph.Livens(), step=0.01, end=1.0, inputs={"motor": 0.3})


def test_the_progress_bar_is_told_what_the_energy_balance_misses():
    """Radau IIA loses energy beside the damper and the port: the sum of all defects, step by step."""
    system, told = second_spring(), []
    signals = Signals(system, {"hand": lambda t: np.cos(3 * t)}, 0)
    walk = Walk(
        system, ph.RadauIIA(2), signals, np.array([0.3]), progress=lambda t: told.append(walk.recorder.defect())
    )
    states = march_states(walk, 0.1, 20)
    run = ph.StateTrajectory(system, states, scheme="RadauIIA(2)")
    assert np.abs(run.power_balance).max() > 1e-6
    np.testing.assert_allclose(told, np.cumsum(run.power_balance)[1:], atol=1e-14)


# --- a mechanism with force elements among the parts


def test_mechanisms_with_force_elements_can_be_connected(connected):
    """The motion is that of the same mechanism with both springs in it, and all energy is accounted for."""
    model = ph.Model("one", gravity=(0, 0, -9.81))
    box = model.body("box", ph.Box(MASS, (0.4, 0.2, 0.1)), position=(0, 0, -1))
    model.prismatic("slide", model.ground, box, at=(0, 0, -1), axis=(0, 0, 1))
    model.spring("strut", model.ground, box, (0, 0, 0), (0, 0, -1), stiffness=100, damping=1.0)
    model.spring("hand", model.ground, box, (0, 0, 0), (0, 0, -1), stiffness=STIFFNESS, damping=DAMPING)
    alone = ph.simulate(model, ph.Gauss(1), step=0.01, end=0.6)
    np.testing.assert_allclose(connected.part("carriage")["box"].position, alone["box"].position, atol=1e-4)
    assert np.abs(connected.power_balance).max() < 1e-13
    assert connected.dissipated[-1] == pytest.approx(alone.dissipated_energy[-1], rel=1e-3)


def test_part_is_a_run_of_its_mechanism(connected):
    """Bodies, forces and losses are those of the whole; the balance of the part closes to round-off."""
    part = connected.part("carriage")
    assert isinstance(part, ph.Trajectory)
    np.testing.assert_array_equal(part["box"].position, connected["carriage: q of 'box'"][:, :3])
    pull = STIFFNESS * connected["controller: e"] + DAMPING * part["box"].velocity[:, 2]
    np.testing.assert_allclose(part.port("lift").force[:, 2], -pull, atol=1e-12)
    assert np.abs(part.power_balance).max() < 1e-13
    np.testing.assert_allclose(part.port("lift").work, connected.connection("grip").work["lift"], atol=1e-15)
    in_controller = connected["controller: e"] ** 2 * STIFFNESS / 2
    np.testing.assert_allclose(part.energy + in_controller, connected.H, atol=1e-12)
    # Newton's law: acceleration by differences of the velocity
    z, v = part["box"].position[:, 2], part["box"].velocity[:, 2]
    force = -MASS * 9.81 - 100 * (z + 1) - 1.0 * v + part.port("lift").force[:, 2]
    np.testing.assert_allclose(np.diff(v) / 0.01, ((force[1:] + force[:-1]) / 2) / MASS, atol=5e-3)


def test_parts_that_are_no_mechanisms_are_refused(connected, free):
    with pytest.raises(ph.PorthosError, match=r"no mechanism 'controller' among its parts. Known: 'carriage'"):
        connected.part("controller")
    with pytest.raises(ph.PorthosError, match="no mechanism 'x'"):
        free.part("x")


# --- files


def test_csv_holds_the_exact_solution(free, tmp_path):
    table = pandas.read_csv(free.export(tmp_path / "run.csv"), index_col="time")
    np.testing.assert_allclose(table["q"], np.cos(2 * table.index), atol=1e-8)
    np.testing.assert_allclose(table["p"], -4 * np.sin(2 * table.index), atol=1e-8)
    assert np.array_equal(table["H"], free.H)
    assert {"supplied", "dissipated", "power_balance", "force.input", "force.output", "force.work"} <= set(table)


def test_parquet_and_matlab_hold_the_same(connected, tmp_path):
    frame = connected.to_pandas()
    pandas.testing.assert_frame_equal(pandas.read_parquet(connected.export(tmp_path / "run.parquet")), frame)
    matlab = loadmat(connected.export(tmp_path / "run.mat"), simplify_cells=True)
    np.testing.assert_array_equal(matlab["states"]["controller__e"]["value"], connected["controller: e"])
    np.testing.assert_array_equal(matlab["states"]["carriage__q_of__box_"]["value"], connected["carriage: q of 'box'"])
    assert matlab["connections"]["grip_lift"]["name"] == "grip.lift"
    np.testing.assert_array_equal(matlab["connections"]["grip_lift"]["work"], connected.connection("grip").work["lift"])
    np.testing.assert_array_equal(frame["carriage: q of 'box'.2"], connected["carriage: q of 'box'"][:, 2])
    assert (matlab["title"], matlab["scheme"]) == ("both", connected.scheme)


@pytest.mark.parametrize("name", ["free", "connected", "livens"])
def test_files_of_runs_over_states_are_read_without_functions(name, request, tmp_path):
    """Every named quantity comes back; figures, tables, summaries, copies and reports are made of it."""
    run = request.getfixturevalue(name)
    back = ph.load(run.save(tmp_path / "run.nc"))
    assert (back.scheme, back.status, back.system.name) == (run.scheme, run.status, run.system.name)
    found, expected = series(back), series(run)
    assert list(found) == list(expected)
    for one in expected.values():
        np.testing.assert_allclose(found[one.name].values, one.values, rtol=1e-13, atol=1e-13, err_msg=one.name)
    differences = run.compare(back).to_pandas()
    assert differences["largest"].max() < 1e-13
    assert run.summary().splitlines()[:4] == back.summary().splitlines()[:4]
    again = ph.load(back.save(tmp_path / "again.nc"))
    np.testing.assert_array_equal(again.x, run.x)
    assert len(back.thinned(np.array([0, 5, 10])).H) == 3
    assert back.plot().axes and back.plot(*list(found)[-1:]).axes
    page = back.report(tmp_path / "run.html").read_text(encoding="utf-8")
    assert run.system.name in page and "energy balance" in page
    with pytest.raises(ph.PorthosError, match="was read from a file, which holds states and balances and no functions"):
        ph.simulate(back.system, ph.Gauss(1), 0.1, 0.2, start=run.x[0])
    with pytest.raises(ph.PorthosError, match="no dense output"):
        back.at(0.1)


def test_netcdf_is_for_xarray(connected, livens, tmp_path):
    path = connected.save(tmp_path / "run.nc")
    with xarray.open_dataset(path) as data:
        xarray.testing.assert_identical(data.load(), connected.to_xarray())
        np.testing.assert_array_equal(data.x.sel(state="controller: e"), connected["controller: e"])
        into = data.link_work.sel(link=["grip.lift", "grip.hand"]).sum("link")
        assert np.abs(into).max() < 1e-14  # a connection makes no energy
        assert data.attrs["scheme"] == connected.scheme
    with pytest.raises(ph.ResultError, match=r"one that reached its end.*porthos.load"):
        ph.resume(path)
    data = livens.to_xarray()
    np.testing.assert_array_equal(data.generalized_energy, livens.generalized_energy)
    np.testing.assert_array_equal(data.u.sel(input="motor"), np.full(livens.t.size, 0.3))
    with pytest.raises(ph.ResultError, match="found a folder"):
        livens.save(tmp_path)


def test_films_are_for_mechanisms(connected, tmp_path):
    with pytest.raises(ph.PorthosError, match=r"'both' is no mechanism.*run.part"):
        connected.export(tmp_path / "run.gif")


# --- thinning and comparison


def test_thinned_runs_add_up(livens):
    kept = np.array([0, 7, 20, 100])
    thin = livens.thinned(kept)
    np.testing.assert_array_equal(thin.t, livens.t[kept])
    np.testing.assert_array_equal(thin.p, livens.p[kept])
    np.testing.assert_allclose(thin.supplied, livens.supplied[kept], rtol=1e-13)
    np.testing.assert_allclose(thin.power_balance.sum(), livens.power_balance.sum(), atol=1e-14)
    with pytest.raises(ph.PorthosError, match="every=1"):
        thin.at(0.5)


def test_differences_shrink_with_the_square_of_the_step(free):
    end = {"step": 0.05, "end": 2.0, "inputs": {"force": 0.0}}
    coarse = ph.simulate(oscillator(), ph.Gauss(1), **end).compare(free)
    fine = ph.simulate(oscillator(), ph.Gauss(1), **end | {"step": 0.025}).compare(free)
    assert coarse["q"].largest / fine["q"].largest == pytest.approx(4.0, rel=0.02)
    assert coarse["H"].relative < 1e-13
    assert "power_balance" not in str(coarse)


def test_runs_of_different_kinds_are_not_compared(connected):
    with pytest.raises(ph.PorthosError, match=r"two runs of mechanisms or two over states.*run.part"):
        connected.compare(connected.part("carriage"))


# --- figures


def test_plot_and_overview(free, connected, livens):
    for run, panels in ((free, 4), (connected, 3), (livens, 7)):
        assert len(run.plot().axes) == panels
    figure = free.plot("q", "p", "H", "dissipated")
    assert [ax.get_ylabel() for ax in figure.axes] == ["q", "p", "energy"]
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_ydata(), free["q"])
    (ax,) = connected.plot("carriage: q of 'box'.2").axes
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), connected["carriage: q of 'box'"][:, 2])
    assert ax.get_xlabel() == "time $t$"
    for wrong in ("e", "carriage: q of 'box'.12", "q.x"):
        with pytest.raises(ph.PorthosError, match=r"no quantity .* Did you mean|no quantity .* Known"):
            connected.plot(wrong)


def test_small_numbers_keep_their_power_of_ten(free):
    """An axis without a unit says the power of ten all the same."""
    label = show.energy_error(free).axes[0].get_ylabel()
    assert re.fullmatch(r"energy error \[\$10\^\{-1\d\}\$\]", label)


def test_spectrum_and_phase_of_states():
    run = ph.simulate(oscillator(), ph.Gauss(3), step=np.pi / 40, end=20 * np.pi, inputs={"force": 0.0})
    line = show.spectrum(run, "q").axes[0].lines[0]
    peak = int(np.nanargmax(line.get_ydata()))
    assert line.get_xdata()[peak] == pytest.approx(1 / np.pi, rel=0.01)
    assert line.get_ydata()[peak] == pytest.approx(1.0, rel=0.02)
    x, y = show.phase(run, "q", "p").axes[0].lines[0].get_data()
    np.testing.assert_allclose(x**2 + (y / 4) ** 2, 1.0, atol=1e-6)  # an ellipse


# --- the report


def embedded(text):
    data = json.loads(re.search(r'id="porthos-data">(.*?)</script>', text, re.DOTALL)[1])
    numbers = re.search(r'id="porthos-numbers">(.*?)</script>', text, re.DOTALL)[1]
    return data, np.frombuffer(base64.b64decode(numbers), dtype="<f4")


def test_report_of_states_is_a_phase_plane(free, tmp_path):
    text = free.report(tmp_path / "run.html").read_text(encoding="utf-8")
    data, numbers = embedded(text)
    assert data["phase"] == {"x": ["states/q", 0], "y": ["states/p", 0]}
    assert "bodies" not in data
    q = next(one for one in data["quantities"] if one["name"] == "states/q")["curves"][0]["values"]
    np.testing.assert_allclose(numbers[q : q + data["frames"]], np.cos(2 * free.t), atol=1e-6)
    assert "<td>q</td><td>1</td>" in text
    assert data["panels"] == ["energy", "states/q", "energy_error", "states/p", "ports/force.work"]
    assert "<iframe" in free._repr_html_()


def test_report_of_a_connected_mechanism_moves(connected):
    """The picture is that of the mechanism; what it is connected with has its curves."""
    data, numbers = embedded(page(connected, points={"corner": ("box", (0.2, 0.1, 0.05))}))
    (box,) = data["bodies"]
    motion = numbers[box["motion"] : box["motion"] + 7 * data["frames"]].reshape(-1, 7)
    np.testing.assert_allclose(motion[:, :3], connected.part("carriage")["box"].position, atol=1e-6)
    names = [one["name"] for one in data["quantities"]]
    assert {"bodies/box.position", "states/controller: e", "connections/grip.hand.power"} <= set(names)
    assert not any("rigidity" in name for name in names)
    assert [path["name"] for path in data["paths"]] == ["corner", "box"]
    with pytest.raises(ph.PorthosError, match=r"no body 'bxo'\. Did you mean 'box'"):
        page(connected, points={"corner": ("bxo", (0, 0, 0))})


def test_two_mechanisms_share_a_picture():
    """Bodies of both are numbered one after the other, also those that carry joints and springs."""
    left, right = carriage(), carriage()
    system = ph.interconnect({"left": left, "right": right}, through=ph.Transformer("left: lift", "right: lift", -1.0))
    run = ph.simulate(system, ph.Gauss(1), step=0.01, end=0.1)
    data = StateStage(run).description
    assert [body["name"] for body in data["bodies"]] == ["box", "box"]
    assert {solid["part"] for solid in data["solids"]} == {-1, 0, 1}
    assert {link["b"]["part"] for link in data["links"]} == {0, 1}
    groups = {one["group"] for one in data["quantities"]}
    assert {"bodies of left", "bodies of right"} <= groups


def test_verdict_of_states(free, livens):
    found = {finding.what: finding.level for finding in verdict(free).findings}
    assert found == {"energy balance": Level.KEPT, "passivity": Level.KEPT}
    radau = ph.simulate(oscillator(), ph.RadauIIA(1), step=0.05, end=2.0, inputs={"force": 0.0})
    assert {f.what: f.level for f in verdict(radau).findings}["energy balance"] is Level.LOST
    found = {finding.what: finding.level for finding in verdict(livens).findings}
    assert found["energy balance"] is found["position constraints"] is Level.KEPT
    assert found["momenta and velocities"] is Level.CLOSE  # of second order, as M depends on q
    free_bead = ph.simulate(bead_on_turning_wire(), ph.RadauIIA(2), step=0.01, end=0.2)
    assert {f.what: f.level for f in verdict(free_bead).findings}["algebraic equations"] is Level.KEPT


def test_energy_from_nothing_is_lost(free):
    """A run whose energy grows without supply is not passive."""
    grown = ph.StateTrajectory(free.system, replace(free.raw, x=free.raw.x * (1 + free.t[:, None])), free.scheme)
    assert {finding.what: finding.level for finding in verdict(grown).findings}["passivity"] is Level.LOST


def test_names_may_repeat_those_of_balances():
    """A state called H does not hide the energy."""
    system = ph.LinearPHDAE("s", J=[[0, 1], [-1, 0]], Q=np.eye(2), states=["H", "x"], initial=[1.0, 0.0])
    run = ph.simulate(system, ph.Gauss(1), step=0.1, end=1.0)
    np.testing.assert_allclose(series(run)["H"].values, 0.5, atol=1e-14)
    np.testing.assert_array_equal(series(run)["state H"].values, run["H"])


def test_lagrangian_runs_with_any_scheme_have_reports():
    run = ph.simulate(double_pendulum(), ph.Gauss(2), step=0.02, end=0.5, inputs={"motor": 0.0})
    data, _ = embedded(page(run))
    assert data["phase"] == {"x": ["states/theta1", 0], "y": ["states/theta2", 0]}
    assert "states/omega2" in data["panels"]
