"""A thousand corrupted calls and files: success, or an error of ours that names the part. No traceback, no hang."""

import inspect
import os
import re
import signal
import threading
import warnings
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from corruption import CALLS, SPOILT, make_files, named, names_of
from fuzzed_models import model
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import porthos as ph

LIMIT = 20  # seconds that a call may take at most


def many(count):
    """So many examples, the same ones in each run."""
    return settings(
        max_examples=count,
        suppress_health_check=list(HealthCheck),
        deadline=None,
        derandomize=True,
        database=None,
    )


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """A folder with a model file and the result of an interrupted run."""
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("fuzz"))
    with mock.patch.object(os, "fsync"):
        make_files()
        yield Path.cwd()
    os.chdir(before)


class HangError(BaseException):
    """A call that takes too long: nothing that catches exceptions catches it."""


def hang(*_):
    raise HangError(f"it took more than {LIMIT} s")


@contextmanager
def only_our_errors(part, argument=("",)):
    """Lets errors of Porthos pass that have one of the words of the part and one of the argument; within a time."""
    before = signal.signal(signal.SIGALRM, hang)
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    except ph.SimulationError as error:  # the call was right, and the run was not
        assert re.search(r"'\w+' stopped at t = ", str(error))
    except ph.PorthosError as error:
        assert named(str(error), part, argument), f"{error} names none of {part}, or none of {argument}"
        assert "Traceback" not in str(error)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_hang_is_found(monkeypatch):
    monkeypatch.setitem(globals(), "LIMIT", 0.01)
    with pytest.raises(HangError), only_our_errors(("",)):
        while True:
            pass


def test_messages_without_names_are_found():
    part, argument = names_of("spring", "a", {"name": "coil", "a": "box"}, "")
    assert named("model 'm': spring 'coil': a: expected a body, found ''.", part, argument)
    assert not named("model 'm': spring 'spool': a: expected a body.", part, argument)
    assert not named("spring 'coil': expected a body, at least one.", part, argument)


@many(600)
@given(st.sampled_from(sorted(CALLS)), st.data())
def test_corrupted_arguments(call, data):
    function, right = CALLS[call]
    key = data.draw(st.sampled_from(sorted(right)))
    value = data.draw(st.sampled_from(SPOILT) | st.text(max_size=5) | st.floats() | st.lists(st.floats(), max_size=4))
    with only_our_errors(*names_of(call, key, right, value)):
        function(**{**right, key: value})


@pytest.mark.parametrize("call", sorted(CALLS))
def test_calls_are_right_before_they_are_corrupted(call):
    function, right = CALLS[call]
    function(**right)


# --- nothing public is left out

LEFT_OUT = {
    "errors": "ModelError ModelFileError InconsistentStateError InputError PorthosError ResultError SimulationError "
    "StructureError Status",
    "made by Porthos": "ModelFile Modes MechanicalSystem Trajectory StateTrajectory LagrangianTrajectory Beam",
    "bases of what is spoilt": "Joint PHDAE",
    "no arguments": "HEDOP5",
    "between rooms of Porthos": "Trajectory.in_blocks Trajectory.multipliers_of Trajectory.turning Trajectory.turns "
    "StateTrajectory.summed",
}


def public():
    """Everything that users call, by name."""
    yield from ((name, getattr(ph, name)) for name in ph.__all__)
    for owner in (ph.Model, ph.Trajectory, ph.StateTrajectory):
        prefix = "" if owner is ph.Model else f"{owner.__name__}."
        for name, function in inspect.getmembers(owner, inspect.isfunction):
            if not name.startswith("_") or name == "__getitem__":
                yield prefix + name, function


def arguments(function):
    """Names of the arguments; further options are those of the function that takes them."""
    known = inspect.signature(function).parameters.values()
    return {each.name for each in known if each.kind is not each.VAR_KEYWORD} - {"self"}


def test_all_that_is_public_is_corrupted():
    """Each public function, class and method is called with each of its arguments spoilt, or is named above."""
    spoilt = {}
    for call, (_, right) in CALLS.items():
        spoilt.setdefault(call.split()[0], set()).update(right)
    named_here = set(" ".join(LEFT_OUT.values()).split())
    missing = {
        name: wanted - spoilt.get(name, set())
        for name, function in public()
        if name not in named_here and (wanted := arguments(function))
    }
    assert not {name: left for name, left in missing.items() if left}
    assert named_here <= {name for name, _ in public()}
    assert not named_here & spoilt.keys()


# --- user's functions


WRONG = [None, np.nan, np.inf, "text", (1, 2), [], {}, np.zeros((2, 2)), 1j, object(), 10**400, [None], [[1, 2], 3]]


def misbehaving(value, at, *signature):
    """A function of time, or of time and outputs, that gives `value`, or raises it, from a time on."""

    def result(t):
        if t <= at:
            return 0.1
        if isinstance(value, type):
            raise value("on purpose")
        return value

    return (lambda t, y: result(t)) if signature else result


@many(100)
@given(
    st.sampled_from([*WRONG, ValueError, ZeroDivisionError, MemoryError, RecursionError, StopIteration]),
    st.sampled_from([0.0, 0.012, 0.02]),
    st.booleans(),
    st.sampled_from([ph.Midpoint(), ph.MidpointGGL(), ph.Composition(order=4), ph.Gauss(2)]),
)
def test_functions_that_misbehave(value, at, looks, scheme):
    """The error has the name of the port and the time, and the trajectory so far is kept."""
    function = misbehaving(value, at, *(["y"] if looks else []))
    with pytest.raises(ph.SimulationError) as caught:
        ph.simulate(model(), scheme, 0.01, 0.03, inputs={"motor": function})
    assert caught.value.status is ph.Status.BAD_INPUT
    assert "'motor' at t = " in str(caught.value)
    run = caught.value.trajectory
    assert run.t[-1] <= at + 0.01
    assert np.all(np.isfinite(run.q))


# --- files


SECTOR = 512


def damaged(content, kind, at, garbage):
    """Cut off, with some bytes replaced or inserted, the next sector full of zeros, or one bit that is another."""
    result = bytearray(content)
    if kind == "cut":
        del result[at:]
    elif kind == "replaced":
        result[at : at + len(garbage)] = garbage
    elif kind == "inserted":
        result[at:at] = garbage
    elif kind == "zeroed":
        at -= at % SECTOR
        while not any(result[at : at + SECTOR]):
            at += SECTOR
        result[at : at + SECTOR] = bytes(len(result[at : at + SECTOR]))
    else:
        result[at] ^= 1 << (garbage[0] % 8)
    return bytes(result)


@cache
def part(folder):
    """The file of the interrupted run, and its states."""
    return (folder / "part.nc").read_bytes(), ph.load(folder / "part.nc").q


@many(250)
@given(
    st.sampled_from(["cut", "replaced", "inserted", "zeroed", "flipped"]),
    st.floats(0, 1),
    st.binary(min_size=1, max_size=8),
)
def test_corrupted_results(folder, kind, place, garbage):
    """What can be read of a damaged file is what was written; all else is refused, and so it is when resumed."""
    content, q = part(folder)
    path = folder / "damaged.nc"
    path.write_bytes(damaged(content, kind, int(place * (len(content) - 1)), garbage))
    with only_our_errors(["damaged.nc"]):
        assert np.array_equal(ph.load(path).q, q)
    with only_our_errors(["damaged.nc"]):
        assert np.array_equal(ph.resume(path, progress=False).q[: len(q)], q)


@pytest.mark.parametrize("place", [0.02, 0.04, 0.4, 0.98, 1.0])
def test_damage_is_found_before_hdf5_meets_it(folder, place):
    """Sectors full of zeros let HDF5 search for ever; here it does not see them."""
    content, _ = part(folder)
    path = folder / "damaged.nc"
    path.write_bytes(damaged(content, "zeroed", int(place * (len(content) - 1)), b""))
    with pytest.raises(ph.ResultError, match="damaged"):
        ph.load(path)
    with pytest.raises(ph.ResultError, match="damaged"):
        ph.resume(path)


LINES = [
    "mass: -1",
    "mass: nan",
    "shape: bxo",
    "size: [1, 2]",
    "- 1",
    "{",
    "&a *a",
    "!!python/object:os.system x",
    "\t",
]


@many(150)
@given(
    st.integers(0, 200), st.sampled_from(LINES) | st.text(max_size=12), st.sampled_from(["insert", "replace", "cut"])
)
def test_corrupted_model_files(folder, number, line, kind):
    lines = (folder / "model.yaml").read_text().splitlines()
    k = number % len(lines)
    lines[k : k + (kind == "replace")] = [line] if kind != "cut" else [lines[k][: len(lines[k]) // 2]]
    path = folder / "damaged.yaml"
    path.write_text("\n".join(lines), encoding="utf-8", errors="replace")
    with only_our_errors(["damaged.yaml"]):
        ph.simulate_file(path)


# --- absurd units


@pytest.mark.parametrize("scheme", [ph.Midpoint(), ph.MidpointGGL()], ids=["PH-MP", "PH-MP-GGL"])
@pytest.mark.parametrize("mass", [1e-60, 1e-20, 1e-6, 1e20, 1e60])
@pytest.mark.parametrize("length", [1e-9, 1.0, 1e9])
def test_units_do_not_matter(scheme, mass, length):
    """A pendulum of any size and mass moves as one of 1 kg and 1 m does, in units of its own: t ~ sqrt(length)."""

    def run(m, a):
        result = ph.Model("pendulum", gravity=(0, 0, -9.81))
        result.body("bob", ph.Box(m, (a, 0.1 * a, 0.2 * a)), position=(a / 2, 0, 0))
        result.revolute("hinge", "ground", "bob", at=(0, 0, 0), axis=(0, 1, 0))
        h = 0.01 * np.sqrt(a)
        return ph.simulate(result, scheme, h, 20 * h)

    plain, scaled = run(1.0, 1.0), run(mass, length)
    np.testing.assert_allclose(scaled["bob"].position / length, plain["bob"].position, atol=1e-11)
    assert np.ptp(scaled.energy) <= 1e-11 * mass * 9.81 * length


def hanging_chain(*masses):
    """Bars of these masses, each hinged to the one before."""
    result = ph.Model("chain", gravity=(0, 0, -9.81))
    for k, mass in enumerate(masses):
        result.body(f"bar{k}", ph.Box(mass, (1, 0.1, 0.2)), position=(k + 0.5, 0, 0))
        result.revolute(f"hinge{k}", f"bar{k - 1}" if k else "ground", f"bar{k}", at=(k, 0, 0), axis=(0, 1, 0))
    return result


@pytest.mark.parametrize("scheme", [ph.Midpoint(), ph.MidpointGGL()], ids=["PH-MP", "PH-MP-GGL"])
def test_masses_of_forty_powers_of_ten_in_one_mechanism(scheme):
    """The heavy bar swings as if alone, the light ones do not feel how light they are, and energy stays."""
    run, alone = (ph.simulate(hanging_chain(*masses), scheme, 1e-3, 1.0) for masses in ((1e20, 1.0, 1e-20), (1e20,)))
    near = ph.simulate(hanging_chain(1e16, 1.0, 1e-16), scheme, 1e-3, 1.0)
    assert np.ptp(run.energy) < 1e-13 * run.kinetic_energy.max()
    np.testing.assert_allclose(run["bar0"].position, alone["bar0"].position, atol=1e-12)
    for name in ("bar1", "bar2"):
        np.testing.assert_allclose(run[name].position, near[name].position, atol=1e-10)
    assert run.position_error.max() < 1e-13


@pytest.mark.parametrize("scheme", [ph.Midpoint(), ph.MidpointGGL()], ids=["PH-MP", "PH-MP-GGL"])
@pytest.mark.parametrize("step", [1e-12, 1e-9, 1e-6])
def test_tiny_steps(scheme, step):
    """Steps at which a body moves by less than its position is rounded: it still falls."""
    result = ph.Model("pendulum", gravity=(0, 0, -9.81))
    result.body("bob", ph.Box(1.0, (1, 0.1, 0.2)), position=(0.5, 0, 0))
    result.revolute("hinge", "ground", "bob", at=(0, 0, 0), axis=(0, 1, 0))
    run = ph.simulate(result, scheme, step, 20 * step)
    inertia = 1.0 / 12 * (1 + 0.04) + 0.25
    expected = 9.81 * 0.5 / inertia * run.t
    np.testing.assert_allclose(run["bob"].angular_velocity[:, 1], expected, rtol=1e-6, atol=1e-20)


def test_no_thread_or_handler_is_left_behind():
    """Errors on the way leave the process as it was."""
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert threading.active_count() == 1
