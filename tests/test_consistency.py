"""Index and consistent states of descriptor systems, against what is known of mechanisms and of linear systems."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_systems import linear, seeds

import porthos as ph


def swing(**placed) -> ph.MechanicalSystem:
    model = ph.Model("swing", gravity=(0, 0, -9.81))
    model.body("arm", ph.Box(2.0, (1.0, 0.1, 0.2)), position=(0.5, 0, 0), **placed)
    model.revolute("hinge", model.ground, "arm", at=(0, 0, 0), axis=(0, 1, 0))
    model.load("wind", "arm", force=lambda t: (0, 0, 3 + t))
    return model.assemble()


@pytest.mark.parametrize(("form", "index", "free"), [("index 2", 2, 13), ("index 1", 1, 24), ("GGL", 2, 2)])
def test_index_of_the_forms_of_a_mechanism(form, index, free):
    """24 numbers (q, v), of which 11 constraints on v leave 13, and 11 more on q leave 2."""
    report = swing(angular_velocity=(0, 2, 0)).formulation(form).index()
    assert (report.index, report.freedom, report.redundant) == (index, free, 0), str(report)
    assert report.consistent, str(report)
    assert f"index {index};" in str(report)
    assert "consistent: gap" in str(report)


def test_constraints_on_position_level_are_of_index_three():
    report = swing().formulation("index 3").index()
    assert report.index == 3
    assert "index 3 or more" in str(report)


def test_redundant_joints_are_counted():
    model = ph.Model("door", gravity=(0, 0, -9.81))
    model.body("leaf", ph.Box(2.0, (1.0, 0.1, 2.0)), position=(0.5, 0, 0))
    model.revolute("upper", model.ground, "leaf", at=(0, 0, 1), axis=(0, 0, 1))
    model.revolute("lower", model.ground, "leaf", at=(0, 0, -1), axis=(0, 0, 1))
    report = model.assemble().index()
    assert (report.index, report.redundant, report.freedom) == (2, 5, 13)


def test_multipliers_of_a_mechanism_are_found():
    """They are those that `initial_state` computes from the accelerations; the rest of the state stays."""
    system = swing(angular_velocity=(0, 2, 0))
    exact = system.initial_state()
    start = exact.copy()
    start[2 * system.n :] = np.random.default_rng(0).normal(size=system.m)
    assert not system.index(start).consistent
    found = system.consistent(start)
    assert found[: 2 * system.n] == pytest.approx(exact[: 2 * system.n], abs=1e-12)
    assert found == pytest.approx(exact, abs=1e-9)


def test_velocities_are_projected_as_those_of_a_model():
    """An impulse of the multipliers is the projection that is weighted by mass."""
    system = swing(angular_velocity=(0, 2, 0))
    assert system.adjustments
    free = ph.Model("free")
    free.body("arm", ph.Box(2.0, (1.0, 0.1, 0.2)), position=(0.5, 0, 0), angular_velocity=(0, 2, 0))
    alone = free.assemble()
    start = system.initial_state()
    start[system.n : 2 * system.n] = alone.split(alone.initial_state())[1]
    assert system.consistent(start) == pytest.approx(system.initial_state(), abs=1e-9)


@given(seed=seeds, n=st.integers(2, 5))
def test_linear_systems_with_a_singular_descriptor(seed, n):
    """R > 0 makes the algebraic equation regular: index 1, one number less to choose; the state found solves it."""
    system = linear(seed, n + 1, 2, rank=n)
    x = np.random.default_rng(seed).normal(size=n + 1)
    u = np.array([0.3, -0.2])
    if np.linalg.cond(system.Q) > 1e3 or np.linalg.matrix_rank(system.E(x), 1e-6) < n:
        return
    report = system.index(x, u)
    assert (report.index, report.freedom, report.hidden) == (1, n, 0)
    found = system.consistent(x, u)
    size = max(1.0, np.abs(system.flow(found, u)).max(), np.abs(found).max())
    assert np.abs(system.algebraic_gap(found, u)).max() < 1e-8 * size


def test_welded_masses_start_with_their_common_velocity():
    """p_1 + p_2 is kept by the impulse: v = (m_1 v_1 + m_2 v_2)/(m_1 + m_2)."""
    parts = {
        name: ph.LinearPHDAE(name, J=[[0]], Q=[[1 / m]], B=[[1]], states=["p"], ports=["push"], initial=[p])
        for name, m, p in (("a", 2.0, 6.0), ("b", 4.0, 0.0))
    }
    welded = ph.interconnect(parts, through=ph.Transformer("a: push", "b: push"))
    assert welded.initial_state() == pytest.approx([2.0, 4.0, 0.0], abs=1e-12)
    assert welded.index().index == 2


def test_no_state_is_found_where_there_is_none():
    contradiction = ph.GeneralPHDAE(
        "contradiction", states=["x", "w"], H=lambda x: x[0] ** 2 / 2, z=lambda x: [x[0], 0.0], E=np.diag([1.0, 0.0]),
        J=np.zeros((2, 2)), B=[[0.0], [1.0]], ports=["u"],
    )  # fmt: skip
    with pytest.raises(ph.InconsistentStateError, match=r"(?s)no state next to the one given meets .*gap 1\.00e\+00"):
        contradiction.consistent(np.ones(2), np.ones(1))
