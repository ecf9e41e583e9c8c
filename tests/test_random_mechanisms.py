"""Structure, invariants and the equality of reduced and full steps, for random mechanisms."""

from __future__ import annotations

import numpy as np
import pytest
from catalogue import ALL_SCHEMES, by_name
from hypothesis import given, settings
from hypothesis import strategies as st
from mechanisms import loops, trees, with_drive, with_elements

import porthos as ph
from porthos.integrate.scheme import VELOCITY

STEP, STEPS = 0.005, 20
mechanisms = st.one_of(trees(), loops())
driven = with_drive(trees())
lossless = st.one_of(mechanisms, driven, with_elements(mechanisms, lossless=True))
free = st.one_of(trees(grounded=False, gravity=False), loops(grounded=False, gravity=False))
floating = st.one_of(free, with_elements(free), with_drive(trees(grounded=False, gravity=False)))


def moved(model, scheme):
    """A run to the end."""
    return ph.simulate(model, scheme, STEP, STEP * STEPS)


@given(model=mechanisms)
def test_structure_of_random_mechanisms(model):
    system = model.assemble()
    report = system.check()
    for name in ("finite numbers", "J skew", "R symmetric", "R >= 0", "E^T z = grad H", "g(q) = 0", "G = dg/dq"):
        assert report[name].ok, str(report)
    x = system.initial_state()
    gamma = np.random.default_rng(1).normal(size=system.m)
    assert system.ggl.check(np.concatenate([x, gamma])).ok


@pytest.mark.parametrize("scheme", ALL_SCHEMES, ids=by_name)
@given(model=lossless)
def test_energy_and_constraints_of_random_mechanisms(scheme, model):
    run = moved(model, scheme)
    size = max(1.0, run.kinetic_energy.max(), run.element_energy.sum(axis=1).max())
    assert np.abs(run.power_balance).max() < 1e-12 * size
    supplied = sum(run.port(name).work for name in run.system.channel_names)
    assert np.abs(run.energy - run.energy[0] - supplied).max() < 1e-11 * size
    length = max(1.0, run.system.length)
    assert run.position_error.max() < 1e-12 * length**2
    if VELOCITY in scheme.preserves:
        assert run.velocity_error.max() < 1e-11 * length * max(1.0, np.abs(run.v).max())


@pytest.mark.parametrize("scheme", ALL_SCHEMES, ids=by_name)
@given(model=floating)
def test_momenta_of_floating_mechanisms(scheme, model):
    run = moved(model, scheme)
    for momentum in (run.linear_momentum, run.angular_momentum):
        assert np.abs(momentum - momentum[0]).max() < 1e-11 * max(1.0, np.abs(momentum[0]).max())


@settings(max_examples=15)  # the full form takes a second a step
@given(model=mechanisms, push=st.integers(0, 2**32 - 1), torque_map=st.sampled_from(["exact", "printed"]))
def test_reduced_steps_equal_the_full_form(model, push, torque_map):
    rng = np.random.default_rng(push)
    body = model.bodies[0]
    model.load("push", body, force=rng.normal(size=3), torque=rng.normal(size=3), at=rng.normal(size=3) / 2,
               torque_map=torque_map)  # fmt: skip
    system = model.assemble()
    x0 = system.initial_state()
    u = np.asarray(system.terminals[0].source(0.0))
    for scheme, form, start in (
        (ph.Midpoint(), system, x0),
        (ph.MidpointGGL(), system.ggl, np.concatenate([x0, np.zeros(system.m)])),
    ):
        run = ph.simulate(system, scheme, STEP, STEP)
        full = ph.Gauss(1).step(form, STEP, start, u)
        q, v = full.x[: system.n], full.x[system.n : 2 * system.n]
        assert run.q[1] == pytest.approx(q, abs=1e-12 * max(1.0, np.abs(q).max()))
        assert run.v[1] == pytest.approx(v, abs=1e-11 * max(1.0, np.abs(v).max()))
        lam = full.stages[0, 2 * system.n + 6 * system.rigid.size : 2 * system.n + system.m]
        size = max(1.0, np.abs(x0[2 * system.n :]).max())
        assert run.raw.multipliers[1] == pytest.approx(lam, abs=1e-8 * size)
