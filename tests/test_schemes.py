"""Compiled schemes on mechanisms over many steps, with loads, inputs and records; the contract is in test_contract."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from catalogue import ALL_SCHEMES, by_name, joint_model

import porthos as ph
from gallery import cylindrical_pair
from porthos.integrate import scheme as claims
from porthos.integrate.inputs import Inputs
from porthos.integrate.march import march

schemes = pytest.mark.parametrize("scheme", ALL_SCHEMES, ids=by_name)
COARSEST = {2: 0.02, 4: 0.02, 6: 0.04, 8: 0.04}  # steps that end above round-off after two halvings


def driven_model() -> ph.Model:
    """A pendulum of two bodies with gravity, an eccentric load that varies, a port, and a point mass on a link."""
    model = ph.Model("driven", gravity=(0.3, 0.2, -9.81))
    model.body("a", ph.Box(1.0, (0.1, 0.2, 0.3)), position=(0.1, 0.1, 0.5), rotation=((1, 2, 3), 0.7))
    model.body("b", ph.Cylinder(2.0, 0.1, 0.4), position=(0, 0.4, 0.5), rotation=((1, -2, 3), 0.7))
    model.point_mass("p", 0.3, position=(0.2, 0.7, 0.5))
    model.spherical("J", model.ground, "a", at=(0, 0, 0.5))
    model.revolute("K", "a", "b", at=(0, 0.2, 0.5), axis=(1, 1, 0.2))
    model.distance("L", "b", "p", point_a=(0, 0.5, 0.5), point_b=(0.2, 0.7, 0.5))
    model.load("wind", "b", force=lambda t: (np.sin(9 * t), 2, 3 * t), torque=(0.1, 0.2, 0.3), at=(0, 0.3, 0.6))
    model.load("stir", "a", torque=lambda t: (0.3, np.cos(7 * t), 0), at=(0.1, 0, 0), torque_map="printed")
    model.load("pull", "p", force=(0.5, 0.1, 0.2))
    model.port("motor", "a", kind="torque", direction=(0, 1, 1))
    return model


@schemes
def test_order_in_q_and_v(scheme):
    system = driven_model().assemble()
    drive = {"motor": lambda t: np.sin(5 * t)}
    steps = COARSEST[scheme.order] / 2.0 ** np.arange(4)
    ends = [ph.simulate(system, scheme, h, 0.4, inputs=drive) for h in steps]
    for name in ("q", "v"):
        values = [getattr(run, name)[-1] for run in ends]
        differences = [np.abs(b - a).max() for a, b in pairwise(values)]
        slope = np.log2(differences[-2] / differences[-1])
        claim = scheme.order if name == "q" else scheme.velocity_order
        assert slope == pytest.approx(claim, abs=0.1), (name, differences)


@schemes
def test_discrete_power_balance_with_inputs_to_round_off(scheme):
    run = ph.simulate(driven_model(), scheme, 0.01, 2.0, inputs={"motor": lambda t: np.sin(5 * t)})
    size = run.kinetic_energy.max()
    assert np.abs(run.raw.work).sum() > size / 10  # the loads do something
    assert np.abs(run.power_balance).max() < 5e-14 * size
    total = sum(run.port(name).work[-1] for name in ("wind", "stir", "pull", "motor"))
    assert run.energy[-1] - run.energy[0] == pytest.approx(total, abs=1e-12 * size)


@schemes
def test_energy_and_momentum_over_1e5_substeps(scheme):
    substeps = len(scheme.fractions)
    every = 1000 // substeps
    run = ph.simulate(cylindrical_pair.model(), scheme, 1e-4 * substeps, 0.01 * every * substeps, every=every)
    E, L, p = run.energy, run.angular_momentum, run.linear_momentum
    assert run.t.size == 101
    assert np.abs(E / E[0] - 1).max() < 1e-11
    assert np.abs(L - L[0]).max() < 1e-11 * np.linalg.norm(L[0])
    assert np.abs(p - p[0]).max() < 1e-11 * np.linalg.norm(p[0])
    assert run.position_error.max() < 1e-12 * run.system.length**2
    assert (run.velocity_error.max() < 1e-11) == (claims.VELOCITY in scheme.preserves)


@schemes
def test_newton_takes_few_iterations_and_none_is_wasted(scheme):
    run = ph.simulate(joint_model("revolute"), scheme, 1e-3, 0.4)
    base = getattr(scheme, "base", scheme)
    assert run.iterations[3:].mean() < (2.2 if isinstance(base, ph.Midpoint) else 3.5) * len(scheme.fractions)
    loose = replace(base, tolerance=1e-4)
    loose = loose if scheme is base else replace(scheme, base=loose)
    coarse = ph.simulate(joint_model("revolute"), loose, 1e-3, 0.4)
    assert coarse.iterations.sum() < run.iterations.sum()


@schemes
def test_recording_every_kth_step_changes_nothing(scheme):
    drive = {"motor": lambda t, y: -0.3 * y}
    for inputs in ({}, drive):
        fine = ph.simulate(driven_model(), scheme, 0.01, 0.6, inputs=inputs)
        coarse = ph.simulate(driven_model(), scheme, 0.01, 0.6, inputs=inputs, every=5)
        assert np.array_equal(fine.q[::5], coarse.q)
        assert np.array_equal(fine.v[::5], coarse.v)
        assert np.array_equal(fine.t[::5], coarse.t)
        work = np.add.reduceat(fine.raw.work[1:], np.arange(0, 60, 5))
        assert coarse.raw.work[1:] == pytest.approx(work, abs=1e-14)
        assert np.array_equal(np.add.reduceat(fine.iterations[1:], np.arange(0, 60, 5)), coarse.iterations[1:])


@schemes
def test_inputs_as_constant_table_function_and_controller_agree(scheme):
    system = driven_model().assemble()
    steps = 30
    forms = (0.7, np.full(steps, 0.7), lambda t: 0.7, lambda t, y: [0.7])
    runs = [ph.simulate(system, scheme, 0.01, 0.3, inputs={"motor": form}) for form in forms]
    for run in runs[1:3]:
        assert np.array_equal(run.q, runs[0].q)
        assert np.array_equal(run.raw.work, runs[0].raw.work)
    assert np.abs(runs[3].q - runs[0].q).max() < 1e-13  # the first guess asks no controller
    assert np.abs(runs[3].raw.work - runs[0].raw.work).max() < 1e-14


@schemes
def test_a_damping_controller_takes_energy_out(scheme):
    run = ph.simulate(driven_model(), scheme, 0.01, 2.0, inputs={"motor": lambda t, y: -2.0 * y})
    free = ph.simulate(driven_model(), scheme, 0.01, 2.0)
    assert run.port("motor").work[-1] < -0.05
    assert run.energy[-1] < free.energy[-1]
    assert np.abs(run.power_balance).max() < 1e-13 * max(1.0, run.kinetic_energy.max())


@schemes
def test_results_do_not_depend_on_the_order_of_parts(scheme):
    """Names and the order in which parts are added permute the result and change it by round-off only."""

    def chain(order: list[int]) -> ph.Model:
        model = ph.Model("chain", gravity=(0, 0, -9.81))
        for k in order:
            model.body(f"bar{k}", ph.Box(1.0 + k, (0.2, 0.1, 1.0)), position=(0.1 * k, 0, -0.5 - k))
        for k in reversed(order):
            side = "ground" if k == 0 else f"bar{k - 1}"
            model.spherical(f"j{k}", side, f"bar{k}", at=(0.1 * k, 0, -k))
        return model

    first = ph.simulate(chain([0, 1, 2, 3]), scheme, 0.01, 0.5)
    other = ph.simulate(chain([2, 0, 3, 1]), scheme, 0.01, 0.5)
    for k in range(4):
        assert np.abs(first[f"bar{k}"].position - other[f"bar{k}"].position).max() < 1e-11
        assert np.abs(first.joint(f"j{k}").force - other.joint(f"j{k}").force).max() < 1e-8


def test_march_keeps_the_state_before_a_failure():
    system = driven_model().assemble()
    raw = march(system, ph.Midpoint(max_iterations=1), 0.01, 50, 10, Inputs(system, None, 50))
    assert raw.status is ph.Status.NEWTON_STALLED
    assert raw.t.size == 1
    assert np.array_equal(raw.q[0], system.initial_arrays()[0][:-1])
