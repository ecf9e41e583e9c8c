"""Events: zeros of functions of the state, located to round-off, on fixed and on adaptive steps."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
import xarray
from test_adaptive import ECCENTRICITY, pendulum, planet

import porthos as ph
from porthos.integrate.scheme import POSITION, VELOCITY

GRAVITY = 9.81
STEPS = [0.1, ph.Adaptive(1e-6)]


def falling() -> ph.Lagrangian:
    """A stone that starts at the height 1 with the speed 2 upwards: y = 1 + 2 t - g t^2/2."""
    y, v = sp.symbols("y v", real=True)
    return ph.Lagrangian(v**2 / 2 - GRAVITY * y, [y], [v], initial=([1.0], [2.0]), name="stone")


LANDS = (2 + np.sqrt(4 + 2 * GRAVITY)) / GRAVITY
TOP = 2 / GRAVITY


@pytest.mark.parametrize("step", STEPS, ids=["fixed", "adaptive"])
@pytest.mark.parametrize("scheme", [ph.Gauss(2), ph.RadauIIA(2), ph.LobattoIIIC(3)], ids=repr)
def test_events_of_an_exact_solution_are_found_to_round_off(scheme, step):
    events = {"lands": lambda t, x: x[0], "top": lambda t, x: x[1], "noon": lambda t, x: t - 1 / 3}
    run = ph.simulate(falling(), scheme, step, 1.2, events=events)
    assert [one.name for one in run.events] == ["top", "noon", "lands"]
    assert [one.t for one in run.events] == pytest.approx([TOP, 1 / 3, LANDS], abs=4e-16)
    assert run.events[0].x[:2] == pytest.approx([1 + TOP, 0], abs=2e-15)
    assert run.events[2].x[:2] == pytest.approx([0, -np.sqrt(4 + 2 * GRAVITY)], abs=2e-14)
    assert run.t[-1] == pytest.approx(1.2)  # it goes on
    assert run.status is ph.Status.OK


@pytest.mark.parametrize("step", STEPS, ids=["fixed", "adaptive"])
def test_a_terminal_event_ends_the_run_there(step):
    events = {"lands": ph.Event(lambda t, x: x[0], terminal=True), "late": lambda t, x: t - LANDS - 1e-6}
    run = ph.simulate(falling(), ph.Gauss(2), step, 1.2, events=events)
    assert run.status is ph.Status.EVENT
    assert "It was 'lands' at t = 0.69929" in run.message
    assert "complete" in repr(run)
    assert run.t[-1] == run.events[0].t == pytest.approx(LANDS, abs=4e-16)
    assert np.array_equal(run.x[-1], run.events[0].x)
    assert [one.name for one in run.events] == ["lands"]
    assert np.abs(run.power_balance).max() < 1e-13
    assert run.at(LANDS - 1e-3)[0] == pytest.approx(-1e-3 * run.x[-1, 1] - GRAVITY * 1e-6 / 2, abs=1e-13)


def test_the_earliest_of_two_terminal_events_ends_the_run_and_others_before_it_are_kept():
    events = {
        "b": ph.Event(lambda t, x: t - 0.57, terminal=True),
        "a": ph.Event(lambda t, x: t - 0.53, terminal=True),
        "first": lambda t, x: t - 0.51,
    }
    run = ph.simulate(falling(), ph.Gauss(1), 0.1, 1.2, events=events, every=4)
    assert [one.name for one in run.events] == ["first", "a"]
    assert run.t.tolist() == pytest.approx([0.0, 0.4, 0.53])


def test_directions():
    def where(direction):
        event = ph.Event(lambda t, x: np.cos(x[0] * 0 + 2 * np.pi * t), direction=direction)
        run = ph.simulate(falling(), ph.Gauss(1), 0.05, 1.5, events={"quarter": event})
        return [one.t for one in run.events]

    assert where(0) == pytest.approx([0.25, 0.75, 1.25], abs=1e-15)
    assert where(-1) == pytest.approx([0.25, 1.25], abs=1e-15)
    assert where(1) == pytest.approx([0.75], abs=1e-15)


def test_a_zero_at_the_start_is_no_event_and_one_at_a_node_is_one():
    run = ph.simulate(falling(), ph.Gauss(1), 0.125, 1.0, events={"tick": lambda t, x: t * (t - 0.5)})
    assert [one.t for one in run.events] == [0.5]


@pytest.mark.parametrize("scheme", [ph.Gauss(4), ph.RadauIIA(4)], ids=repr)
def test_events_have_the_accuracy_of_the_run(scheme):
    """A planet is nearest and farthest where r.v = 0: at t = pi, 2 pi, 3 pi."""
    events = {"apsis": lambda t, x: x[:2] @ x[2:]}
    run = ph.simulate(planet(), scheme, ph.Adaptive(1e-10, 1e-12), 10.0, events=events)
    assert [one.t for one in run.events] == pytest.approx(np.pi * np.arange(1, 4), abs=1e-8)
    assert [one.x[0] for one in run.events] == pytest.approx(
        [-1 - ECCENTRICITY, 1 - ECCENTRICITY, -1 - ECCENTRICITY], abs=1e-8
    )
    assert all(abs(one.x[:2] @ one.x[2:]) < 1e-13 for one in run.events)


@pytest.mark.parametrize("scheme", [ph.HEDOP5(), ph.LobattoPair(3), ph.Murua(2), ph.RadauIIA(3)], ids=repr)
def test_events_of_mechanisms_lie_on_the_constraints(scheme):
    model = ph.Model("pendulum", gravity=(0, 0, -9.81))
    model.point_mass("bob", 1.0, position=(-1, 0, 0))
    model.distance("rod", model.ground, "bob", point_a=(0, 0, 0), point_b=(-1, 0, 0))
    system = model.assemble()
    lowest = ph.Event(lambda t, x: system.split(x)[0][0], terminal=True)
    run = ph.simulate(system, scheme, ph.Adaptive(1e-9, 1e-10), 2.0, events={"lowest": lowest})
    assert run.events[0].t == pytest.approx(2.36784194757623745 / 4, abs=1e-8)
    assert run["bob"].position[-1] == pytest.approx([0, 0, -1], abs=1e-8)
    assert run.velocity_error[-1] < 1e-13
    assert run.status is ph.Status.EVENT


def test_a_function_that_fails_keeps_what_was_computed():
    for step in STEPS:
        bad = {"bad": lambda t, x: 1 / float(t < 0.5)}
        run = ph.simulate(falling(), ph.Gauss(2), step, 1.0, events=bad, on_failure="return")
        assert run.status is ph.Status.BAD_INPUT
        assert "event 'bad' at t =" in run.message
        assert "ZeroDivisionError" in run.message
        assert 0.1 < run.t[-1] <= 0.5
    with pytest.raises(ph.InputError, match="event 'bad' at t = 0: its function returned nan"):
        ph.simulate(falling(), ph.Gauss(2), 0.1, 1.0, events={"bad": lambda t, x: np.nan})


def test_events_that_make_no_sense_are_refused():
    with pytest.raises(ph.PorthosError, match="expected a function of"):
        ph.simulate(falling(), ph.Gauss(2), 0.1, 1.0, events={"wrong": 3.0})
    with pytest.raises(ph.PorthosError, match="direction must be -1, 0 or 1, found 2"):
        ph.Event(lambda t, x: 0.0, direction=2)


# --- Livens on Lagrangians


@pytest.mark.parametrize("scheme", [ph.Livens(), ph.Composition(ph.Livens(), 4)], ids=repr)
def test_events_of_livens(scheme, tmp_path):
    """At the quarter period of A01: the order of the scheme, constraints and energy to round-off."""
    lowest, errors = ph.Event(lambda t, x: x[0], terminal=True), []
    for h in (0.02, 0.01):
        run = ph.simulate(pendulum(), scheme, h, 2.0, events={"lowest": lowest}, every=4, out=tmp_path / "run.nc")
        assert run.status is ph.Status.EVENT
        assert run.t[-1] == run.events[0].t
        assert np.array_equal(run.x[-1], run.events[0].x)
        assert run.x[-1, [0, 1, 2, 4]] == pytest.approx([0, -1, np.sqrt(2 * GRAVITY), 1.5 * GRAVITY], abs=1e-8)
        assert np.ptp(run.generalized_energy) < 1e-13
        errors.append(run.t[-1] - QUARTER)
        assert ph.load(tmp_path / "run.nc").events[0].t == run.t[-1]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(scheme.order, abs=0.1)


def test_events_do_not_disturb_livens():
    """Also with work, losses and a controller: a block on a spring that it meets again and again."""
    y, v = sp.symbols("y v", real=True)
    block = ph.Lagrangian(
        v**2 / 2 - 2 * y**2, [y], [v], initial=([1.0], [0.0]), dissipation=v**2 / 20, inputs={"push": [1]}
    )
    given = {"inputs": {"push": lambda t, y: 0.3 - 0.1 * y}, "every": 4}
    plain = ph.simulate(block, ph.Livens(), 0.01, 4.0, **given)
    run = ph.simulate(block, ph.Livens(), 0.01, 4.0, events={"middle": lambda t, x: x[0]}, **given)
    for part in ("t", "x", "u", "supply", "dissipated"):
        assert np.array_equal(getattr(run.raw, part), getattr(plain.raw, part)), part
    assert len(run.events) == 2
    assert all(abs(one.x[0]) < 1e-15 for one in run.events)
    end = ph.Event(lambda t, x: t - 1.2345, terminal=True)
    short = ph.simulate(block, ph.Livens(), 0.01, 4.0, events={"end": end}, **given)
    assert np.array_equal(short.x[:-1], plain.x[:31])
    assert np.abs(short.power_balance).max() < 1e-14
    assert short.dissipated[-1] == pytest.approx(np.interp(1.2345, plain.t, plain.dissipated), rel=1e-3)


def test_a_function_that_fails_keeps_the_steps_of_livens():
    bad = {"bad": lambda t, x: 1 / float(t < 0.45)}
    run = ph.simulate(falling(), ph.Livens(), 0.1, 1.0, events=bad, on_failure="return")
    assert run.status is ph.Status.BAD_INPUT
    assert "event 'bad' at t = 0.5" in run.message


# --- steps that remember others of their size


REMEMBERING = [
    ph.GeneralizedAlpha(),
    ph.GeneralizedAlpha(form="index 2"),
    ph.GeneralizedAlpha(form="index 3"),
    ph.HHT(),
    *map(ph.BDF, range(1, 6)),
]
QUARTER = 2.36784194757623745 / 4  # of the period of A01 of REFERENCES, by elliptic functions


def swinging():
    """A01 of REFERENCES."""
    model = ph.Model("pendulum", gravity=(0, 0, -GRAVITY))
    model.point_mass("bob", 1.0, position=(-1, 0, 0))
    model.distance("rod", model.ground, "bob", point_a=(0, 0, 0), point_b=(-1, 0, 0))
    return model.assemble()


@pytest.mark.parametrize("scheme", REMEMBERING, ids=repr)
def test_the_last_step_has_the_order_of_those_that_it_remembers(scheme):
    """Of the time and the speed sqrt(2 g l); the multiplier, 3 m g there, has errors that depend on the part too."""
    system, errors = swinging(), []
    lowest = ph.Event(lambda t, x: x[0], terminal=True)
    for h in (0.005, 0.0025):
        run = ph.simulate(system, scheme, h, 2.0, events={"lowest": lowest})
        q, v, lam = system.split(run.events[0].x)
        assert run.status is ph.Status.EVENT
        assert run.t[-1] == run.events[0].t
        assert np.array_equal(run["bob"].position[-1], q)
        assert q[0] == pytest.approx(0, abs=1e-14)
        errors.append([run.t[-1] - QUARTER, v[0] - np.sqrt(2 * GRAVITY)])
        assert abs(lam[0]) == pytest.approx(3 * GRAVITY, rel=3 * (h * v[0]) ** scheme.order)
        assert (run.position_error[-1] < 1e-14) == (POSITION in scheme.preserves)
        assert (run.velocity_error[-1] < 1e-13) == (VELOCITY in scheme.preserves)
    assert np.log2(np.divide(*np.abs(errors))) == pytest.approx([scheme.order] * 2, abs=0.6)


@pytest.mark.parametrize("scheme", REMEMBERING, ids=repr)
@pytest.mark.parametrize("make", [falling, swinging])
def test_parts_of_steps_of_any_size(make, scheme):
    """Between two nodes states go from one to the other; those of the stone are exact."""
    h, parts, system = 0.01, (1e-13, 1e-9, 1e-4, 0.3, 1 - 1e-9), make()
    events = {f"{s}": lambda t, x, s=s: t - (12 + s) * h for s in parts}
    run = ph.simulate(system, scheme, h, 0.2, events=events)
    assert [float(one.name) for one in run.events] == list(parts)
    assert [one.t for one in run.events] == pytest.approx([(12 + s) * h for s in parts], abs=1e-16)
    plain = ph.simulate(system, scheme, h, 0.2)
    if make is falling:
        assert np.array_equal(run.x, plain.x)  # the run goes on as if nothing had happened
        t = np.array([one.t for one in run.events])
        exact = np.array([1 + 2 * t - GRAVITY / 2 * t**2, 2 - GRAVITY * t]).T
        assert np.array([one.x for one in run.events]) == pytest.approx(exact, abs=0.02 if scheme.order == 1 else 1e-13)
        return
    assert np.array_equal(run["bob"].velocity, plain["bob"].velocity)
    q, v, lam = zip(*(system.split(one.x) for one in run.events), strict=True)
    for s, position, velocity in zip(parts, q, v, strict=True):
        one, other = ((1 - s) * each[12] + s * each[13] for each in (plain["bob"].position, plain["bob"].velocity))
        assert position == pytest.approx(one, abs=h**2 / 8 * 3 * GRAVITY)  # of a straight line
        assert velocity == pytest.approx(other, abs=h**2 / 8 * 15 * GRAVITY)
    exact = 3 * GRAVITY * np.abs(np.array(q)[:, 2])  # the force of the rod is 3 m g sin of its angle
    assert np.abs(lam)[1:, 0] == pytest.approx(exact[1:], abs=0.02 if scheme.order > 1 else 0.4)


def test_events_are_saved_and_loaded(tmp_path):
    """The turning points of the pendulum A01 of REFERENCES, period 4 K(sin(pi/4))/sqrt(g/l)."""
    model = ph.Model("pendulum", gravity=(0, 0, -9.81))
    model.point_mass("bob", 1.0, position=(-1, 0, 0))
    model.distance("rod", model.ground, "bob", point_a=(0, 0, 0), point_b=(-1, 0, 0))
    system = model.assemble()
    events = {"lowest": lambda t, x: system.split(x)[0][0], "noon": lambda t, x: t - 1 / 3}
    run = ph.simulate(system, ph.LobattoPair(3), ph.Adaptive(1e-7), 1.5, events=events, out=tmp_path / "out.nc")
    assert [one.name for one in run.events] == ["noon", "lowest"]
    assert "events            2: 'noon' at t = 0.333333333, 'lowest' at t = 0.5919" in run.summary()
    run.save(tmp_path / "saved.nc")
    for path in (tmp_path / "out.nc", tmp_path / "saved.nc"):
        for again in (ph.load(path), ph.load(path, lazy=True)):
            assert [(one.name, one.t) for one in again.events] == [(one.name, one.t) for one in run.events]
            assert all(np.array_equal(a.x, b.x) for a, b in zip(again.events, run.events, strict=True))
            assert again.summary() == run.summary()
        with xarray.open_dataset(path) as dataset:
            assert dataset.event_time.sel(event="lowest").item() == run.events[1].t
    kept = run.thinned(np.array([0, 3, run.t.size - 1]))
    assert kept.events == run.projected().events == run.events
    path = tmp_path / "stone.nc"
    stone = ph.simulate(falling(), ph.Gauss(2), 0.1, 1.0, out=path, events={"half": lambda t, x: t - 0.55})
    (event,) = ph.load(path).events
    assert (event.name, event.t) == ("half", stone.events[0].t)
    np.testing.assert_array_equal(event.x, stone.events[0].x)


def test_files_without_events_have_none(tmp_path):
    model = ph.Model("bead")
    model.point_mass("bead", 1.0, velocity=(1, 0, 0))
    ph.simulate(model, ph.Midpoint(), 0.1, 1.0, out=tmp_path / "new.nc")
    assert ph.load(tmp_path / "new.nc").events == ()
