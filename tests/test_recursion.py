"""The explicit O(N) formalism on trees (002, Table 1) against the whole matrix, on random trees of all joints."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from mechanisms import trees, with_elements
from test_schemes import driven_model
from two_rods import double_pendulum

import porthos as ph
from gallery import slider_crank
from porthos.system.constrained import kkt_matrix
from porthos.system.recursion import Tree


@settings(max_examples=20)
@given(model=with_elements(trees()))
def test_accelerations_and_multipliers_are_those_of_the_whole_matrix(model):
    """For forces of a motion, and for any right-hand side, rates of constraints included."""
    system = model.assemble()
    q, v, _ = system.split(system.initial_state())
    A = kkt_matrix(system, q).toarray()
    motion = np.append(system.force(q, v, system.fed(0.0)), -(system.G_rate(v) @ v))
    solve = Tree(system).solver(q)
    for right in (motion, np.random.default_rng(1).normal(size=motion.size)):
        found = solve(right)
        size = np.abs(found).max()
        assert np.abs(A @ found - right).max() < 1e-12 * np.abs(A).max() * size
        assert np.abs(found - np.linalg.solve(A, right)).max() < 1e-14 * np.linalg.cond(A) * size


@pytest.mark.parametrize("form", ["projection", "Baumgarte", "index 1"])
def test_a_run_is_the_same_with_it(form):
    """A tree of rigid bodies and a point mass with loads and an input; and links between points."""
    drive = {"motor": lambda t: np.sin(5 * t)}
    for system, inputs in ((driven_model().assemble(), drive), (double_pendulum(), {})):
        runs = [ph.simulate(system, ph.MDOP5(form, recursive=each), 0.02, 0.1, inputs=inputs) for each in (False, True)]
        assert runs[1].q == pytest.approx(runs[0].q, abs=1e-12)
        assert runs[1].v == pytest.approx(runs[0].v, abs=1e-11)


def test_work_grows_with_the_number_of_bodies():
    """Every body is visited once: children before parents, with the rows of one joint."""
    model = ph.Model("broom", gravity=(0, 0, -9.81))
    for k in range(40):
        model.point_mass(f"p{k}", 1.0, position=(k + 1.0, 0, 0))
        parent, place = ("ground", 0.0) if k == 0 else (f"p{(k - 1) // 2}", (k - 1) // 2 + 1.0)
        model.distance(f"d{k}", parent, f"p{k}", point_a=(place, 0, 0), point_b=(k + 1.0, 0, 0))
    links = Tree(model.assemble()).links
    seen: set[int] = set()
    for link in links:
        assert link.parent not in seen
        assert link.rows.size == 1
        seen.add(link.body)
    assert len(seen) == len(links) == 40


def test_closed_loops_are_refused():
    with pytest.raises(ph.PorthosError, match=r"expected a tree, found that joint '.*' closes a loop"):
        ph.simulate(slider_crank.model(), ph.DOP853(recursive=True), 0.01, 0.1)
