"""The condensed matrix and the exact one: same steps, whichever is used."""

import numpy as np
import pytest
from catalogue import MIDPOINTS, by_name
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import loops, trees

import porthos as ph
from porthos.kernels.elimination import NEIGHBOUR
from porthos.kernels.tiny import DISABLED, X86, flushed
from porthos.notation import records
from porthos.system.layout import CONDENSED_JOINTS

H = 1e-2


def with_exact_matrix(model: ph.Model) -> ph.MechanicalSystem:
    """The system of a model that never sees the condensed matrix."""
    system = model.assemble()
    system.__dict__["condensed"] = system.layout
    return system


@pytest.mark.parametrize("scheme", MIDPOINTS, ids=by_name)
@given(model=st.one_of(trees(), loops()))
def test_condensed_and_exact_matrix_give_the_same_steps(scheme, model):
    fast = ph.simulate(model.assemble(), scheme, H, 10 * H)
    sure = ph.simulate(with_exact_matrix(model), scheme, H, 10 * H)
    np.testing.assert_allclose(fast.q, sure.q, atol=1e-10)
    np.testing.assert_allclose(fast.v, sure.v, atol=1e-8)


def star(arms: int) -> ph.Model:
    """A hub that floats, with arms on ball joints around it."""
    model = ph.Model("star", gravity=(0, 0, -9.81))
    model.body("hub", ph.Cylinder(2.0, 0.5, 0.1), angular_velocity=(0, 0, 3))
    for k, angle in enumerate(2 * np.pi * np.arange(arms) / arms):
        along = np.array([np.cos(angle), np.sin(angle), 0.0])
        velocity = np.cross((0, 0, 3), 0.7 * along) + np.array([0.0, 0.0, 0.3 * (-1) ** k])
        model.body(
            f"arm{k}", ph.Box(0.1, (0.4, 0.02, 0.02)), 0.7 * along, ((0, 0, 1), angle), velocity, (0, 0, 3)
        )  # fmt: skip
        model.spherical(f"joint{k}", "hub", f"arm{k}", at=0.5 * along)
    return model


def test_a_hub_keeps_its_translation_so_that_its_joints_are_not_coupled():
    few, many = star(50).assemble().condensed, star(100).assemble().condensed
    assert many.body.kept[0] == 1 and not many.body.kept[1:].any()
    assert many.pattern.length < 2.1 * few.pattern.length
    small = star(CONDENSED_JOINTS).assemble().condensed
    assert not small.body.kept.any()


@pytest.mark.parametrize("scheme", MIDPOINTS, ids=by_name)
@pytest.mark.parametrize("arms", [CONDENSED_JOINTS, CONDENSED_JOINTS + 1, 20])
def test_star(scheme, arms):
    run = ph.simulate(star(arms), scheme, H, 0.5)
    assert np.abs(run.power_balance).max() < 1e-13 * run.kinetic_energy.max()
    assert run.position_error.max() < 1e-13
    exact = ph.simulate(with_exact_matrix(star(arms)), scheme, H, 0.5)
    np.testing.assert_allclose(run.q, exact.q, atol=1e-10)


def crane(load: float) -> ph.Model:
    """Light bars that reach out sideways from hinges that cannot give way, a heavy ball at their end."""
    model = ph.Model("crane", gravity=(0, 0, -9.81))
    before = model.ground
    for k in range(6):
        body = model.body(f"bar{k}", ph.Box(0.05, (0.2, 0.01, 0.01)), (0.2 * k + 0.1, 0, 0))
        model.revolute(f"hinge{k}", before, body, at=(0.2 * k, 0, 0), axis=(0, 0.3, 1))
        before = body
    model.body("ball", ph.Sphere(load, 0.05), (1.2, 0, 0))
    model.fixed("grip", before, "ball", at=(1.2, 0, 0))
    return model


@pytest.mark.parametrize("scheme", MIDPOINTS, ids=by_name)
def test_large_torques_of_joints(scheme):
    """Their stiffness, which the condensed matrix leaves out, is as large as the inertia of the bars."""
    run = ph.simulate(crane(20.0), scheme, H, 0.3)
    sure = ph.simulate(with_exact_matrix(crane(20.0)), scheme, H, 0.3)
    for each in (run, sure):
        assert np.abs(each.power_balance).max() < 1e-12 * np.abs(each.potential_energy).max()
    np.testing.assert_allclose(run.q, sure.q, atol=1e-8)


@pytest.mark.parametrize("scheme", MIDPOINTS, ids=by_name)
def test_the_exact_matrix_takes_over_where_the_condensed_one_fails(scheme):
    system = crane(0.1).assemble()
    system.condensed.body.compliance *= 0.1  # wrong
    run, right = ph.simulate(system, scheme, H, 0.3), ph.simulate(crane(0.1), scheme, H, 0.3)
    assert run.iterations[1] > right.iterations[1] + 5
    assert run.iterations[2] <= right.iterations[2] + 5  # not tried again for a while
    assert np.abs(run.power_balance).max() < 1e-12 * np.abs(run.potential_energy).max()
    np.testing.assert_allclose(run.q, right.q, atol=1e-8)


def net(size: int) -> ph.Model:
    """Bars between the nodes of a square grid, held at two corners."""
    model = ph.Model("net", gravity=(0, 0, -9.81))
    at_node: dict[tuple[int, int], list[str]] = {}
    for i in range(size):
        for k in range(size):
            for other in ((i + 1, k), (i, k + 1)):
                if max(other) < size:
                    middle = (np.array([i, k, 0.0]) + np.array([*other, 0.0])) / 20
                    turn = ((0, 0, 1), np.pi / 2) if other[1] > k else None
                    name = model.body(f"{i},{k}-{other}", ph.Box(0.1, (0.1, 0.01, 0.01)), middle, turn)
                    for node in ((i, k), other):
                        at_node.setdefault(node, []).append(name)
    for (i, k), bars in at_node.items():
        place = np.array([i, k, 0.0]) / 10
        for other in bars[1:]:
            model.spherical(f"{bars[0]} {other} {i},{k}", bars[0], other, at=place)
        if (i, k) in ((0, 0), (size - 1, size - 1)):
            model.spherical(f"held {i},{k}", model.ground, bars[0], at=place)
    return model


@pytest.mark.parametrize("scheme", MIDPOINTS, ids=by_name)
def test_a_costly_matrix_is_kept_from_step_to_step(scheme):
    system = net(15).assemble()
    assert system.condensed.costly == 1
    run = ph.simulate(system, scheme, 2e-3, 0.1)
    fresh = net(15).assemble()
    fresh.__dict__["condensed"] = fresh.condensed._replace(costly=0, worth=3.0)
    again = ph.simulate(fresh, scheme, 2e-3, 0.1)
    assert run.iterations.sum() > again.iterations.sum()
    for each in (run, again):
        assert np.abs(each.power_balance).max() < 1e-13 * each.kinetic_energy.max()
    np.testing.assert_allclose(run.q, again.q, atol=1e-10)


def test_long_chains_of_hinges_take_no_more_than_two_iterations():
    """Their small pivots across the plane are no sign of repeated rows: multipliers are extrapolated all the same."""

    def iterations(count: int) -> float:
        model = ph.Model(gravity=(0, 0, -9.81))
        for k in range(count):
            model.body(f"bar{k}", ph.Box(0.1, (0.1, 0.01, 0.01)), position=(0.1 * k + 0.05, 0, 0))
            model.revolute(f"hinge{k}", f"bar{k - 1}" if k else "ground", f"bar{k}", at=(0.1 * k, 0, 0), axis=(0, 1, 0))
        run = ph.simulate(model, ph.Midpoint(), 1e-3, 0.03)
        assert np.abs(run.power_balance).max() < 1e-12 * run.kinetic_energy.max()
        return float(run.iterations[10:].mean())

    assert max(iterations(40), iterations(400)) <= 2.0


def test_tiny_numbers_are_flushed_in_steps_only():
    tiny = np.full(2, 1e-300)
    with flushed():
        inside = tiny * 1e-10
    assert np.all(inside == (0.0 if X86 and not DISABLED else 1e-310))
    assert np.all(tiny * 1e-10 > 0.0)


def test_offsets_that_do_not_fit_into_a_table_are_refused():
    """Compiled code would write to wrong places."""
    with pytest.raises(OverflowError, match="'upper' = 4294967296 does not fit into int32"):
        records(NEIGHBOUR, upper=[0, 2**32])
