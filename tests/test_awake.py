"""Bodies that sleep through later iterations move as they do if all are awake."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from catalogue import by_name
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import loops, trees, with_drive, with_elements
from rows_of_bodies import chain, close, comb, ladder, pendulums

import porthos as ph
from porthos.integrate.march import empty_record
from porthos.kernels.awake import ASLEEP, TURNING
from porthos.system import layout

H = 1e-3
SCHEMES = [ph.Midpoint(), ph.MidpointGGL(), ph.Composition(ph.MidpointGGL(), order=4)]


def crowd(bodies: int):
    """Bodies from which on those that sleep are passed over."""
    return patch.object(layout, "CROWD", bodies)


def both(
    model: ph.Model, scheme: ph.Scheme, steps: int, h: float = H, **options: object
) -> tuple[ph.Trajectory, ph.Trajectory]:
    """Runs in which bodies may sleep, and in which they may not."""
    runs = []
    for bodies in (1, 10**6):
        with crowd(bodies):
            system = model.assemble()
            assert system.condensed.crowded == (bodies == 1)
            runs.append(ph.simulate(system, scheme, h, steps * h, **options))
    return runs[0], runs[1]


@pytest.mark.parametrize("scheme", SCHEMES, ids=by_name)
@pytest.mark.parametrize(
    "model",
    [chain(150), chain(100, "revolute"), comb(30), ladder(40), pendulums(50)],
    ids=["balls", "hinges", "comb", "ladder", "pendulums"],
)
def test_sleeping_changes_round_off_only(scheme, model):
    inputs = {"motor": lambda t: 0.01 * np.sin(20 * t)} if model.ports else {}
    close(*both(model, scheme, 60, inputs=inputs))


@pytest.mark.parametrize("scheme", SCHEMES[:2], ids=by_name)
@given(model=st.one_of(trees(), loops(), with_drive(trees()), with_elements(st.one_of(trees(), loops()))))
def test_sleeping_changes_round_off_only_in_random_mechanisms(scheme, model):
    close(*both(model, scheme, 10))


@pytest.mark.parametrize("scheme", SCHEMES[:2], ids=by_name)
def test_energy_over_many_steps_does_not_tell_who_slept(scheme):
    """Updates of those that sleep are taken: what a step would lose of them has a sign, and would add up."""
    runs = both(pendulums(40, alike=True), scheme, 5000, h=1e-2)
    for run in runs:
        assert np.abs(run.energy - run.energy[0]).max() < 5e-12 * np.abs(run.energy).max()


@pytest.mark.parametrize("scheme", SCHEMES[:2], ids=by_name)
def test_a_wave_leaves_the_rest_of_a_chain_asleep(scheme):
    system = chain(1000).assemble()
    q, v = system.initial_arrays()
    wrench = np.zeros((100, 0, 6))
    memory = scheme.start(system, np.array([H]), q, v, wrench[0])
    memory.workspace.awake[:] = TURNING
    scheme.advance(system, np.array([H]), wrench, 100, q, v, memory, empty_record(system, 1))
    assert np.mean(memory.workspace.awake[:-1] != ASLEEP) < 0.2


def test_bodies_with_loads_drives_gears_and_elements_never_sleep():
    system = comb(30).assemble()
    names = np.array(system.body_names)[system.condensed.body.restless[:-1] == 1]
    sprung = {f"lower{k}" for n in range(3, 30, 3) for k in (n - 1, n)}
    assert set(names) == sprung | {"bar0", "bar14", "bar15", "lower29"}
