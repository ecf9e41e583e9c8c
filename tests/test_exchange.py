"""Results in other programs: what they read is what the run holds; two runs side by side."""

import json
import sys

import numpy as np
import pandas
import pytest
from scipy.io import loadmat

import porthos as ph
from porthos.results.comparison import common_times
from porthos.results.exchange import matlab_names


def swing(scheme=None, step=0.01, end=0.5, mass=1.0):
    model = ph.Model("swing", gravity=(0, 0, -9.81))
    bar = model.body("bar", ph.Box(mass, (1, 0.1, 0.1)), position=(0.5, 0, 0))
    model.revolute("the hinge", model.ground, bar, at=(0, 0, 0), axis=(0, 1, 0))
    model.load("push", bar, force=lambda t: (0, 0, 2 * t), at=(1, 0, 0))
    return ph.simulate(model, scheme or ph.MidpointGGL(), step=step, end=end)


@pytest.fixture(scope="module")
def run():
    return swing()


def expected(run):
    """Some columns of all kinds."""
    return {
        "energy": run.energy,
        "angular_momentum.y": run.angular_momentum[:, 1],
        "bar.position.z": run["bar"].position[:, 2],
        "bar.rotation.xz": run["bar"].rotation[:, 0, 2],
        "the hinge.angle": run.joint("the hinge").angle,
        "the hinge.force.x": run.joint("the hinge").force[:, 0],
        "push.force.z": run.port("push").force[:, 2],
        "push.work": run.port("push").work,
    }


def test_pandas(run):
    frame = run.to_pandas()
    assert frame.index.name == "time"
    np.testing.assert_array_equal(frame.index, run.t)
    for name, values in expected(run).items():
        np.testing.assert_array_equal(frame[name], values)
    assert frame.columns.is_unique
    assert len(frame.columns) == 18 + 8 + 8 + 5 + 6 + 3  # body, joint, load, energies, momenta, errors
    assert frame.attrs["scheme"] == run.scheme


def test_csv_gives_every_digit_back(run, tmp_path):
    path = run.export(tmp_path / "new folder" / "swing.csv")
    numbers = np.loadtxt(path, delimiter=",", skiprows=1)
    np.testing.assert_array_equal(numbers[:, 0], run.t)
    np.testing.assert_array_equal(numbers[:, 1:], run.to_pandas().to_numpy())
    assert list(pandas.read_csv(path, index_col="time").columns) == list(run.to_pandas().columns)


def test_parquet_gives_all_back(run, tmp_path):
    frame = pandas.read_parquet(run.export(tmp_path / "swing.parquet"))
    pandas.testing.assert_frame_equal(frame, run.to_pandas())


def test_matlab(run, tmp_path):
    data = loadmat(run.export(tmp_path / "swing.mat"), simplify_cells=True)
    np.testing.assert_array_equal(data["time"], run.t)
    np.testing.assert_array_equal(data["energy"], run.energy)
    np.testing.assert_array_equal(data["bodies"]["bar"]["position"], run["bar"].position)
    np.testing.assert_array_equal(data["bodies"]["bar"]["rotation"], run["bar"].rotation)
    np.testing.assert_array_equal(data["joints"]["the_hinge"]["force"], run.joint("the hinge").force)
    np.testing.assert_array_equal(data["ports"]["push"]["work"], run.port("push").work)
    assert data["joints"]["the_hinge"]["name"] == "the hinge"
    assert json.loads(data["model"])["name"] == "swing"


def test_names_that_matlab_allows():
    names = ["a b", "a-b", "1st", "_x", "ä", "w" * 80, "w" * 90]
    allowed = matlab_names(names)
    assert allowed[:4] == ["a_b", "a_b_2", "x1st", "x_x"]
    assert len(set(allowed)) == len(names)
    assert all(name.isascii() and name[0].isalpha() and len(name) <= 63 for name in allowed)


def test_a_run_without_joints_and_ports(tmp_path):
    model = ph.Model("stone")
    model.point_mass("stone", 1.0, velocity=(1, 0, 0))
    run = ph.simulate(model, ph.Midpoint(), step=0.1, end=0.3)
    assert "stone.position.x" in run.to_pandas()
    assert "joints" not in loadmat(run.export(tmp_path / "stone.mat"))


def test_netcdf_is_save(run, tmp_path):
    np.testing.assert_array_equal(ph.load(run.export(tmp_path / "swing.nc")).q, run.q)


def test_what_cannot_be_written(run, tmp_path, monkeypatch):
    with pytest.raises(ph.PorthosError, match=r"'\.cvs'\. Did you mean '\.csv'"):
        run.export(tmp_path / "swing.cvs")
    with pytest.raises(ph.PorthosError, match=r"'\.csv' has no option 'fps'\. Known: 'quantities'"):
        run.export(tmp_path / "swing.csv", fps=3)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ph.PorthosError, match=r"pip install 'porthos\[parquet\]'"):
        run.export(tmp_path / "swing.parquet")


# --- comparison


def test_difference_from_itself_is_zero(run):
    found = run.compare(run)
    assert found.t.size == run.t.size
    assert all(difference.largest == 0.0 == difference.relative for difference in found.differences)
    assert found.missing == ()


def test_differences_shrink_with_the_square_of_the_step():
    """Compared at the times of the coarser run with a much finer one."""
    fine = swing(step=0.00125)
    coarse, half = (swing(step=h).compare(fine) for h in (0.01, 0.005))
    assert (coarse.t.size, half.t.size) == (51, 101)
    for name in ("bar.position", "bar.velocity", "the hinge.force", "kinetic_energy", "push.work"):
        exact = (1 - 1 / 64) / (1 / 4 - 1 / 64)  # both differ from the finer one, not from the truth
        assert coarse[name].largest / half[name].largest == pytest.approx(exact, rel=0.05)


def test_difference_is_where_it_was_made(run):
    other = run.thinned(np.arange(run.t.size))
    other.raw.q[30, 0, 0] += (3e-3, 0, 4e-3)
    found = run.compare(other)["bar.position"]
    assert found.largest == pytest.approx(5e-3)
    assert found.time == run.t[30]
    assert found.last == 0.0
    np.testing.assert_allclose(found.values[30], (-3e-3, 0, -4e-3), rtol=1e-12)
    assert found.relative == pytest.approx(5e-3 / np.linalg.norm(run["bar"].position, axis=1).max(), rel=1e-2)


def test_only_what_both_have_is_compared(run):
    model = ph.Model("other")
    model.body("bar", ph.Box(1, (1, 0.1, 0.1)), position=(0.5, 0, 0))
    model.point_mass("stone", 1.0)
    found = run.compare(ph.simulate(model, ph.Midpoint(), step=0.01, end=0.2))
    assert found.missing == ("'push'", "'stone'", "'the hinge'")
    assert found.t[-1] == pytest.approx(0.2)
    assert found["bar.velocity"].largest > 0.1
    assert "only in one of them: 'push'" in str(found)
    assert found.to_pandas().loc["bar.velocity", "largest"] == found["bar.velocity"].largest
    with pytest.raises(ph.PorthosError, match=r"Did you mean 'bar\.position'"):
        found["bar.positon"]


def test_common_times():
    t = np.arange(11) * 0.1
    here, there = common_times(t, np.linspace(0, 0.6, 31))
    np.testing.assert_array_equal(here, range(7))
    np.testing.assert_array_equal(there, range(0, 31, 5))
    assert common_times(t + 0.03, t)[0].size == 0
    here, there = common_times(np.zeros(1), t)
    assert (here.tolist(), there.tolist()) == ([0], [0])


def test_runs_without_common_times_are_refused(run):
    model = ph.Model("late")
    model.point_mass("stone", 1.0)
    late = ph.simulate(model, ph.Midpoint(), step=0.1, end=0.2)
    late.raw.t[:] += 0.033
    with pytest.raises(ph.PorthosError, match="found none among 51 states"):
        run.compare(late)
