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


def chain(count: int, joint: str = "spherical") -> ph.Model:
    """Bars in a row, the first one held."""
    model = ph.Model("chain", gravity=(0, 0, -9.81))
    before = model.ground
    for k in range(count):
        bar = model.body(f"bar{k}", ph.Box(0.1, (0.1, 0.01, 0.01)), (0.1 * k + 0.05, 0, 0))
        axis = {} if joint == "spherical" else {"axis": (0, 1, 0.2)}
        getattr(model, joint)(f"joint{k}", before, bar, at=(0.1 * k, 0, 0), **axis)
        before = bar
    return model


def comb(teeth: int) -> ph.Model:
    """Pendulums of two bars at one long row of hinges, some of them on springs; a load, a motor and a drive."""
    model = chain(teeth, "revolute")
    for k in range(teeth):
        for i, name in enumerate((f"upper{k}", f"lower{k}")):
            model.body(name, ph.Box(0.05, (0.01, 0.01, 0.1)), (0.1 * k + 0.05, 0, -0.05 - 0.1 * i))
            over = f"bar{k}" if i == 0 else f"upper{k}"
            model.spherical(f"hang {name}", over, name, at=(0.1 * k + 0.05, 0, -0.1 * i))
        if k % 3 == 0 and k > 0:
            a, b = f"lower{k - 1}", f"lower{k}"
            model.spring(f"spring{k}", a, b, (0.1 * k - 0.05, 0, -0.2), (0.1 * k + 0.05, 0, -0.2), stiffness=5.0)
    model.load("pull", f"lower{teeth - 1}", force=(0.0, 0.2, 0.0))
    model.joint_port("motor", f"joint{teeth // 2}")
    model.turn_drive("drive", "ground", "bar0", at=(0, 0, 0), axis=(0, 1, 0.2), angle=ph.Sine(0.1, 2.0))
    return model


def net(size: int) -> ph.Model:
    """Point masses on a grid with rods between them: bodies with up to four joints, many loops."""
    model = ph.Model("net", gravity=(0, 0, -9.81))
    for i in range(size):
        for k in range(size):
            model.body(f"ball{i},{k}", ph.Sphere(0.1, 0.01), (0.1 * i, 0.1 * k, 0))
            for a, b in ((i - 1, k), (i, k - 1)):
                if min(a, b) >= 0:
                    ends = (0.1 * a, 0.1 * b, 0), (0.1 * i, 0.1 * k, 0)
                    model.distance(f"rod{a},{b}-{i},{k}", f"ball{a},{b}", f"ball{i},{k}", *ends)
    model.spherical("held", model.ground, "ball0,0", at=(0, 0, 0))
    return model


def pendulums(count: int) -> ph.Model:
    """Bars side by side at the ground, with nothing in common; a drive turns one of them."""
    model = ph.Model("pendulums", gravity=(0, 0, -9.81))
    for k in range(count):
        model.body(f"bar{k}", ph.Box(0.1, (0.01, 0.01, 0.1)), (0.05, 0.1 * k, -0.05))
        model.revolute(f"hinge{k}", model.ground, f"bar{k}", at=(0, 0.1 * k, 0), axis=(0, 1, 0))
    model.turn_drive("drive", "ground", "bar3", at=(0, 0.3, 0), axis=(0, 1, 0), angle=ph.Sine(0.2, 3.0))
    return model


def shared(model: ph.Model, scheme: ph.Scheme, h: float = H) -> bool:
    """Whether two threads make the steps."""
    return len(stepping(model.assemble(), h * np.array(scheme.fractions), 2).helping) == 1


def close(a: ph.Trajectory, b: ph.Trajectory) -> None:
    """Two runs agree up to round-off."""
    assert a.status is b.status is ph.Status.OK, (a.message, b.message)
    length, speed = max(1.0, a.system.length), max(1.0, np.abs(a.v).max())
    np.testing.assert_allclose(a.q, b.q, rtol=0.0, atol=1e-12 * length)
    np.testing.assert_allclose(a.v, b.v, rtol=0.0, atol=1e-10 * speed)
    np.testing.assert_allclose(a.energy, b.energy, rtol=0.0, atol=1e-11 * max(1.0, np.abs(a.energy).max()))


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
