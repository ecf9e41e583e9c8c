"""Joints that repeat each other: rank, names, motion equal to that without the repetition, reactions not unique."""

from __future__ import annotations

import numpy as np
import pytest

import porthos as ph
from gallery.bricard import model as bricard
from gallery.four_bar import HINGES, REDUCED
from gallery.four_bar import model as four_bar
from porthos.integrate.march import empty_record
from porthos.model.bodies import rotation_matrix
from porthos.system.mobility import mobility


@pytest.mark.parametrize("scheme", [ph.Midpoint(), ph.MidpointGGL()], ids=repr)
@pytest.mark.parametrize("seed", [None, *range(40)])
def test_four_bar_of_hinges_in_any_orientation(seed, scheme):
    """38 rows, rank 35; the motion is that of the mechanism without redundant rows, to round-off."""
    R = np.eye(3) if seed is None else rotation_matrix(np.random.default_rng(seed).normal(size=4))
    model, reduced = four_bar(HINGES, R), four_bar(REDUCED, R)
    system = model.assemble()
    assert system.m == 38
    assert system.check()["G has full rank"].where.startswith("rank 35 of 38 rows")
    assert reduced.assemble().check()["G has full rank"].ok
    run, plain = (ph.simulate(one, scheme, 0.01, 2.0) for one in (model, reduced))
    assert np.abs(run.raw.q - plain.raw.q).max() < 1e-11
    assert np.abs(run.raw.v - plain.raw.v).max() < 6e-11
    assert np.ptp(run["crank"].angular_velocity @ R[:, 1]) > 1.0  # it does move


@pytest.mark.parametrize("seed", [None, 0, 1, 2])
def test_the_rows_that_repeat_are_named(seed):
    R = np.eye(3) if seed is None else rotation_matrix(np.random.default_rng(seed).normal(size=4))
    (repeat,) = mobility(four_bar(HINGES, R)).repeats
    words = "revolute 'D': 1 translation row and 2 rotation rows repeat what A, B, C fix already"
    assert str(repeat) == words
    assert mobility(four_bar(REDUCED, R)).repeats == ()
    assert words in str(four_bar(HINGES, R).diagram())


def test_the_row_of_bricard_that_repeats_is_named():
    found = mobility(bricard())
    assert (found.rows, found.rank, found.freedom, found.counted) == (30, 29, 1, 0)
    (repeat,) = found.repeats
    words = "revolute 'hinge 5': 1 rotation row repeats what hinge 0, hinge 1, hinge 2, hinge 3, hinge 4 fix already"
    assert str(repeat) == words
    assert f"redundant         {words}" in str(bricard().diagram())


def test_reactions_of_joints_that_repeat_each_other_are_not_unique(tmp_path):
    model = four_bar(HINGES, rotation_matrix((1.0, 0.3, -0.4, 0.2)))
    model.body("handle", ph.Sphere(0.1, 0.05), position=np.asarray(model.bodies[2].position))
    model.spherical("grip", "rocker", "handle", at=np.asarray(model.bodies[2].position))
    run = ph.simulate(model, ph.Midpoint(), 0.01, 0.1)
    assert [run.joint(name).unique for name in ("A", "B", "C", "D", "grip")] == [False] * 4 + [True]
    assert "not unique in 4 joints that repeat rows: 'A', 'B', 'C', 'D'" in run.summary()
    from porthos.results.verdict import verdict

    words = "Reactions are not unique in 4 joints that repeat rows: 'A', 'B', 'C', 'D'. Those told are the least."
    assert words in verdict(run).warnings
    again = ph.load(run.save(tmp_path / "run.nc"))
    assert not again.joint("D").unique
    plain = ph.simulate(four_bar(REDUCED, np.eye(3)), ph.Midpoint(), 0.01, 0.1)
    assert all(plain.joint(name).unique for name in "ABCD") and "not unique" not in plain.summary()


@pytest.mark.parametrize(("lean", "freedom"), [(0.0, 1), (0.3, 0)])
def test_a_mechanism_that_joints_hold_says_that_nothing_moved(lean, freedom):
    """A plane four-bar moves; with an axis that leans out of the plane it is a frame."""
    model = ph.Model("frame", gravity=(0, 0, -9.81))
    model.body("left", ph.Box(1.0, (0.02, 0.02, 0.2)), position=(0.03, 0, 0.1))
    model.body("top", ph.Box(1.0, (0.4, 0.02, 0.02)), position=(0.26, 0, 0.2))
    model.body("right", ph.Box(1.0, (0.02, 0.02, 0.2)), position=(0.43, 0, 0.1))
    model.revolute("A", "ground", "left", at=(0, 0, 0), axis=(0, 1, 0))
    model.revolute("B", "left", "top", at=(0.06, 0, 0.2), axis=(0, 1, 0))
    model.revolute("C", "top", "right", at=(0.46, 0, 0.2), axis=(0, 1, lean))
    model.revolute("D", "right", "ground", at=(0.4, 0, 0), axis=(0, 1, 0))
    assert mobility(model).freedom == freedom
    summary = ph.simulate(model, ph.MidpointGGL(), 0.001, 0.1).summary()
    assert ("motion            none: it rests, or joints and drives hold every body" in summary) == (freedom == 0)


def test_what_is_unique_is_the_same_whichever_joints_are_taken():
    """Forces in the plane are determined; only those across it and torques about its axes depend on the joints."""
    R = np.eye(3)
    run, plain = (ph.simulate(four_bar(kinds, R), ph.Midpoint(), 0.01, 0.2) for kinds in (HINGES, REDUCED))
    for name in "ABCD":
        assert run.joint(name).force[:, [0, 2]] == pytest.approx(plain.joint(name).force[:, [0, 2]], abs=1e-7)


# --- singular configurations


def parallelogram(hinges, copies=1):
    """Four-bar linkages whose bars lie on one line twice in a turn, where they could fold over."""
    model, c, axis, spin = ph.Model("parallelogram"), np.array([np.cos(1.0), 0.0, np.sin(1.0)]), (0, 1, 0), (0, 2, 0)
    along = np.array([1.0, 0.0, 0.0])
    for number in range(copies):
        root, mark = np.array([0.0, number, 0.0]), f" {number}" if number else ""
        crank, rocker, coupler = f"crank{mark}", f"rocker{mark}", f"coupler{mark}"
        for name, start in ((crank, root), (rocker, root + 2 * along)):
            model.body(name, ph.Box(1.0, (1, 0.1, 0.1)), start + c / 2, (axis, -1.0), np.cross(spin, c / 2), spin)
            model.revolute(f"{name} bearing", "ground", name, at=start, axis=axis)
        model.body(coupler, ph.Box(1.0, (2, 0.1, 0.1)), root + c + along, velocity=np.cross(spin, c))
        if hinges:
            model.revolute(f"B{mark}", crank, coupler, at=root + c, axis=axis)
            model.revolute(f"C{mark}", coupler, rocker, at=root + c + 2 * along, axis=axis)
        else:
            model.spherical(f"B{mark}", crank, coupler, at=root + c)
            model.cylindrical(f"C{mark}", coupler, rocker, at=root + c + 2 * along, axis=axis)
    return model


@pytest.mark.parametrize("scheme", [ph.Midpoint(), ph.MidpointGGL()], ids=["PH-MP", "PH-MP-GGL"])
@pytest.mark.parametrize("hinges", [True, False], ids=["hinges", "ball and cylinder"])
def test_singular_configurations_are_passed(scheme, hinges):
    """Without gravity its cranks turn with constant speed, twice through a flat position, and it stays what it is."""
    run = ph.simulate(parallelogram(hinges), scheme, 0.01, 3.0)
    x = run["crank"].position
    angle = np.unwrap(np.arctan2(x[:, 2], x[:, 0]))
    assert angle[0] > 0.0 and angle[-1] < -np.pi
    assert np.ptp(np.diff(angle)) < 3e-11
    assert np.ptp(run.energy) <= 3e-12 * run.energy[0]
    assert np.abs(run["coupler"].rotation - np.eye(3)).max() < 1e-11
    assert run.position_error.max() < 1e-12


@pytest.mark.parametrize("scheme", [ph.Midpoint(), ph.MidpointGGL()], ids=["PH-MP", "PH-MP-GGL"])
@pytest.mark.parametrize("hinges", [True, False], ids=["hinges", "ball and cylinder"])
def test_reactions_in_a_singular_configuration_are_told_as_not_unique(tmp_path, scheme, hinges):
    """Each pin carries half of the coupler, m w^2 r / 2 = 2 N, also at t = 0.5 where all bars lie on one line."""
    run = ph.simulate(parallelogram(hinges), scheme, 0.01, 1.0)
    for one in (run, ph.load(run.save(tmp_path / "run.nc"))):
        for name in "BC":
            size = np.linalg.norm(one.joint(name).force, axis=1)
            assert size == pytest.approx(2.0, rel=1e-5)
            assert size[50] == pytest.approx(2.0, rel=1e-6)  # without least norm 0.7 to 314
            assert one.joint(name).not_unique_at == pytest.approx(one.t if hinges else [0.5])
            assert not one.joint(name).unique
    words = "'crank bearing', 'rocker bearing', 'B', 'C'"
    told = f"not unique at t = 0.5 s, where more rows repeat others than elsewhere: {words}"
    assert f"  reactions         {told}" in run.summary().splitlines()
    from porthos.results.verdict import verdict

    assert f"Reactions are {told}. Those told are the least." in verdict(run).warnings
    before = ph.simulate(parallelogram(hinges), scheme, 0.01, 0.49)
    assert before.joint("B").unique != hinges and "not unique at" not in before.summary()


def test_a_drive_through_a_singular_configuration_is_told():
    """The rows of a drive move, so each state is looked at with its own; the motor carries nothing."""
    model = parallelogram(False)
    model.turn_drive("motor", "ground", "crank", at=(0, 0, 0), axis=(0, 1, 0), angle=ph.Expression("2*t"))
    run = ph.simulate(model, ph.MidpointGGL(), 0.01, 1.0)
    assert run.joint("B").not_unique_at == pytest.approx([0.5]) and run.joint("motor").unique
    assert np.linalg.norm(run.joint("B").force, axis=1) == pytest.approx(2.0, rel=1e-3)
    assert np.abs(run.joint("motor").torque).max() < 1e-3


def test_a_start_in_a_singular_configuration_concerns_this_time_only():
    """Bars that lie on one line at first, and turn on as a parallelogram."""
    late = ph.simulate(parallelogram(False), ph.MidpointGGL(), 0.01, 1.0)
    model, spin, along = ph.Model("flat"), (0, 2, 0), np.array([1.0, 0.0, 0.0])
    for name, start in (("crank", 0.0), ("rocker", 2.0)):
        middle = (start + 0.5) * along
        model.body(name, ph.Box(1.0, (1, 0.1, 0.1)), middle, velocity=(0, 0, -1), angular_velocity=spin)
        model.revolute(f"{name} bearing", "ground", name, at=start * along, axis=(0, 1, 0))
    model.body("coupler", ph.Box(1.0, (2, 0.1, 0.1)), 2 * along, velocity=(0, 0, -2))
    model.spherical("B", "crank", "coupler", at=along)
    model.cylindrical("C", "coupler", "rocker", at=3 * along, axis=(0, 1, 0))
    run = ph.simulate(model, ph.MidpointGGL(), 0.01, 0.5)
    assert run.joint("B").not_unique_at.tolist() == [0.0]
    assert np.linalg.norm(run.joint("B").force, axis=1) == pytest.approx(2.0, rel=1e-5)
    assert run["coupler"].position[-1] == pytest.approx(late["coupler"].position[-1], abs=1e-4)


@pytest.mark.parametrize("hinges", [True, False], ids=["hinges", "ball and cylinder"])
def test_reactions_of_large_mechanisms_that_are_not_unique_are_told(hinges):
    """The same with so many rows that their ranks are found body by body: 160 linkages, of which each passes it."""
    run = ph.simulate(parallelogram(hinges, 160), ph.MidpointGGL(), 0.01, 0.6, every=10)
    assert run.system.loop_rows.size > 2500
    names = [f"{name} {k}" if k else name for k in range(160) for name in "BC"]
    for name in (*names[:2], *names[-2:]):
        assert run.joint(name).not_unique_at == pytest.approx(run.t if hinges else [0.5])
        size = np.linalg.norm(run.joint(name).force, axis=1)
        assert np.delete(size, 5) == pytest.approx(2.0, rel=1e-7)
        assert size[5] == pytest.approx(2.0, rel=1e-4)  # round-off of the state is multiplied by 1e10 where it is flat
    assert len(run.uniqueness.always) == 640 * hinges
    assert "not unique at t = 0.5 s" in run.summary() and "and 634 more" in run.summary()


def equal_slider_crank() -> ph.Model:
    """Crank and rod of equal length: with the slider below the crank the rod could turn with the crank from then on."""
    model, axis, spin = ph.Model("equal slider-crank", gravity=(0, 0, -9.81)), (0, 1, 0), np.array([0.0, 2.0, 0.0])
    bar, end = ph.Box(1.0, (1, 0.1, 0.1)), np.array([np.cos(1.0), 0.0, np.sin(1.0)])
    pin = np.array([2 * end[0], 0.0, 0.0])
    speed, slide = np.cross(spin, end), np.array([2 * np.cross(spin, end)[0], 0.0, 0.0])
    model.body("crank", bar, end / 2, (axis, -1.0), speed / 2, spin)
    model.body("rod", bar, (end + pin) / 2, (axis, 1.0), (speed + slide) / 2, -spin)
    model.body("slider", ph.Box(0.5, (0.2, 0.1, 0.1)), pin, velocity=slide)
    model.revolute("A", "ground", "crank", at=(0, 0, 0), axis=axis)
    model.revolute("B", "crank", "rod", at=end, axis=axis)
    model.spherical("C", "rod", "slider", at=pin)
    model.prismatic("D", "ground", "slider", at=pin, axis=(1, 0, 0))
    return model


@pytest.mark.parametrize("scheme", [ph.Midpoint(), ph.MidpointGGL()], ids=["PH-MP", "PH-MP-GGL"])
def test_an_equal_slider_crank_passes_its_singular_position(scheme):
    """It stays on its branch, x_slider = 2 cos(angle), through five passes, and keeps its energy."""
    run = ph.simulate(equal_slider_crank(), scheme, 0.01, 6.0)
    x = run["crank"].position
    angle = np.unwrap(np.arctan2(x[:, 2], x[:, 0]))
    assert angle[-1] < -4.5 * np.pi
    assert np.abs(run["slider"].position[:, 0] - 4 * x[:, 0]).max() < 2e-11
    assert np.ptp(run.energy) <= 3e-12 * run.energy.max()
    assert run.position_error.max() < 1e-12


@pytest.mark.parametrize("scheme", [ph.Midpoint(), ph.MidpointGGL()], ids=repr)
@pytest.mark.parametrize("off", [1e-8, 1e-7, 1e-6])
@pytest.mark.parametrize("h", [1e-3, 1e-2])
def test_axes_given_with_few_digits_let_a_linkage_move(scheme, off, h):
    """Rows repeat others only as well as axes are parallel: the linkage gives by as much, and does not stop."""
    model = ph.Model("parallelogram", gravity=(0, 0, -9.81))
    spin, top = np.array([0, 6.0, 0]), np.array([0, 0, 1.0])
    for name, x in (("left", 0.0), ("right", 2.0)):
        bar = ph.Box(1, (0.05, 0.05, 1))
        model.body(name, bar, (x, 0, 0.5), velocity=np.cross(spin, top / 2), angular_velocity=spin)
    model.body("coupler", ph.Box(1, (2, 0.05, 0.05)), (1, 0, 1), velocity=np.cross(spin, top))
    hinges = [
        ("ground", "left", 0, 0),
        ("left", "coupler", 0, 1),
        ("coupler", "right", 2, 1),
        ("ground", "right", 2, 0),
    ]
    for k, (a, b, x, z) in enumerate(hinges):
        model.revolute(f"hinge {k}", a, b, at=(x, 0, z), axis=(off * np.sin(k), 1.0, off * np.cos(2 * k)))
    run = ph.simulate(model, scheme, h, 300 * h)
    assert run.position_error.max() < 10.0 * off
    assert np.abs(run["left"].position[:, 0]).max() > 0.4
    assert np.ptp(run.energy) < 1e-5 * run.kinetic_energy.max() + 1e-3 * off


def add_chain(model: ph.Model, bars: int) -> ph.Model:
    """The model and a chain of balls that has nothing to do with it."""
    before = "ground"
    for k in range(bars):
        model.body(f"bar{k}", ph.Box(0.1, (0.1, 0.01, 0.01)), position=(0.1 * k + 0.05, 5, 0))
        model.spherical(f"ball{k}", before, f"bar{k}", at=(0.1 * k, 5, 0))
        before = f"bar{k}"
    return model


@pytest.mark.parametrize("scheme", [ph.Midpoint(), ph.MidpointGGL()], ids=repr)
def test_a_redundant_loop_does_not_slow_down_what_it_does_not_touch(scheme):
    """Multipliers elsewhere are extrapolated, and bodies elsewhere sleep, as beside a loop that repeats nothing."""
    runs = [ph.simulate(add_chain(four_bar(kinds, np.eye(3)), 64), scheme, 1e-3, 0.3) for kinds in (HINGES, REDUCED)]
    redundant, plain = (run.iterations[50:].mean() for run in runs)
    assert redundant < 1.03 * plain
    chain = [run.raw.q[:, 3:] for run in runs]
    assert np.abs(chain[0] - chain[1]).max() < 1e-11


@pytest.mark.parametrize("scheme", [ph.Midpoint(), ph.MidpointGGL()], ids=repr)
def test_that_rows_repeated_others_is_forgotten_with_the_next_matrix(scheme):
    """What a singular configuration on the way has left behind does not outlast it; a redundant loop stays one."""
    for kinds, last in ((HINGES, 1), (REDUCED, 0)):
        system = add_chain(four_bar(kinds, np.eye(3)), 5).assemble()
        q, v = system.initial_arrays()
        memory = scheme.start(system, np.array([1e-3]), q, v, np.zeros((0, 6)))
        memory.habit.redundant[:] = 1
        scheme.advance(system, np.array([1e-3]), np.zeros((3, 0, 6)), 3, q, v, memory, empty_record(system, 1))
        assert memory.habit.redundant[0] == last
        flags = memory.habit.redundant[1 + system.condensed.joint.island]
        if last:
            assert flags.tolist() == [1] * 4 + [0] * 5  # the hinges, and the balls of the chain
