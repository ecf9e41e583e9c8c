"""Two threads make the steps of one: the same to round-off, the same bits every time, and they never wait in vain."""

from __future__ import annotations

import ctypes
import time
from unittest.mock import patch

import numpy as np
import pytest
from catalogue import by_name
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import loops, trees, with_drive, with_elements
from rows_of_bodies import chain, close, comb, net, pendulums

import porthos as ph
from porthos.integrate.crew import together
from porthos.integrate.march import empty_record
from porthos.system import portions
from porthos.system.layout import operations
from porthos.system.stepping import stepping

H = 1e-3
PAIRS = [
    (ph.Midpoint(), ph.Midpoint(threads=2)),
    (ph.MidpointGGL(), ph.MidpointGGL(threads=2)),
    (ph.Composition(ph.MidpointGGL(), order=4), ph.Composition(ph.MidpointGGL(threads=2), order=4)),
]


def shared(model: ph.Model, scheme: ph.Scheme, h: float = H) -> bool:
    """Whether two threads make the steps."""
    return len(stepping(model.assemble(), h * np.array(scheme.fractions), 2).helping) == 1


@pytest.mark.parametrize(("one", "two"), PAIRS, ids=by_name)
@pytest.mark.parametrize(
    "model",
    [chain(200), chain(160, "revolute"), comb(50), net(14), pendulums(150)],
    ids=["balls", "hinges", "comb", "net", "pendulums"],
)
def test_two_threads_make_the_steps_of_one(one, two, model):
    assert shared(model, two)
    inputs = {"motor": lambda t: 0.01 * np.sin(20 * t)} if model.ports else {}
    close(ph.simulate(model, one, H, 30 * H, inputs=inputs), ph.simulate(model, two, H, 30 * H, inputs=inputs))


def test_two_threads_give_the_same_bits_every_time():
    runs = [ph.simulate(chain(200), ph.MidpointGGL(threads=2), H, 40 * H) for _ in range(3)]
    for run in runs[1:]:
        assert np.array_equal(run.q, runs[0].q)
        assert np.array_equal(run.v, runs[0].v)


def test_two_threads_share_the_work_evenly():
    leader, helper = chain(400, "revolute").assemble().shared
    assert operations(helper.pattern)[0] == pytest.approx(operations(leader.pattern)[0], rel=0.05)
    assert leader.portion.body.size + helper.portion.body.size == 400
    assert set(leader.portion.joint) | set(helper.portion.joint) == set(range(400))
    assert leader.portion.joint.size + helper.portion.joint.size == 400


def test_small_mechanisms_have_one_thread():
    assert not shared(chain(10), ph.Midpoint(threads=2))
    runs = [ph.simulate(chain(10), ph.Midpoint(threads=n), H, 30 * H) for n in (1, 2)]
    assert np.array_equal(runs[0].q, runs[1].q)


def eager():
    """Two threads also for small mechanisms, however uneven their parts."""
    return patch.multiple(portions, FEWEST=2, PAYS=2.0, EVEN=0.95)


small = st.one_of(trees(), loops(), with_drive(trees()), with_elements(st.one_of(trees(), loops())))


@pytest.mark.parametrize(("one", "two"), PAIRS[:2], ids=by_name)
@given(model=small)
def test_two_threads_on_random_mechanisms(one, two, model):
    """There the seam is most of the mechanism."""
    with eager():
        close(ph.simulate(model, one, H, 10 * H), ph.simulate(model, two, H, 10 * H))


@pytest.mark.parametrize(("one", "two"), PAIRS[:2], ids=by_name)
def test_the_exact_matrix_takes_over_with_two_threads(one, two):
    system = chain(150, "revolute").assemble()
    for layout in system.shared:
        layout.body.compliance *= 0.1  # wrong
    run, right = ph.simulate(system, two, H, 10 * H), ph.simulate(chain(150, "revolute"), one, H, 10 * H)
    assert run.iterations[1] > right.iterations[1] + 5
    close(run, right)


@pytest.mark.parametrize("scheme", [ph.Midpoint(threads=2), ph.MidpointGGL(threads=2)], ids=by_name)
def test_two_threads_stop_together_where_a_step_fails(scheme):
    model = chain(150)
    model.body("top", ph.Sphere(0.1, 0.1), (0, 0, 5), angular_velocity=(5000.0, 0.0, 0.0))
    with pytest.raises(ph.SimulationError) as caught:
        ph.simulate(model, scheme, H, 50 * H)
    assert caught.value.status is ph.Status.STEP_TOO_LARGE


def test_a_controller_is_asked_by_the_leader_alone():
    asked = []

    def hold(t: float, y: np.ndarray) -> np.ndarray:
        asked.append(t)
        return -0.1 * y

    model = chain(150)
    model.port("hand", "bar149", kind="force")
    runs = []
    for threads in (1, 2):
        asked.clear()
        runs.append(ph.simulate(model, ph.Midpoint(threads=threads), H, 20 * H, inputs={"hand": hold}))
        assert len(asked) == len(set(asked))
    close(*runs)


@pytest.mark.parametrize("failing", [0, 1])
def test_no_thread_waits_for_one_that_failed(failing):
    def march(crew, *_):
        if crew.me == failing:
            raise MemoryError("full")
        end = time.monotonic() + 10.0
        while ctypes.c_int64.from_address(crew.other).value < 1:
            assert time.monotonic() < end, "it waits in vain"
        return 0, 1

    system = chain(150).assemble()
    scheme, wrench = ph.Midpoint(threads=2), np.zeros((1, 0, 6))
    q, v = system.initial_arrays()
    memory = scheme.start(system, np.array([H]), q, v, wrench[0])
    arguments = scheme.arguments(system, np.array([H]), wrench, 1, q, v, memory, empty_record(system, 1))
    with pytest.raises(MemoryError, match="full"):
        together(march, arguments, system.shared[1:], exact=False)


def test_threads_other_than_one_or_two_are_refused():
    with pytest.raises(ph.PorthosError, match=r"Midpoint: threads must be 1 or 2, found 3\."):
        ph.Midpoint(threads=3)
