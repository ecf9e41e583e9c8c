"""Small problems whose numbers are known, so that kernels can be tested as plain Python too.

`make test` runs this file a second time with NUMBA_DISABLE_JIT=1: then there are real tracebacks, checks of array
bounds and coverage, and a compiled kernel that went stale would show by numbers that differ.
"""

import os

import numpy as np
import pytest

import porthos as ph
from gallery import spring_pendulum
from porthos.kernels.livens import march_livens
from porthos.kernels.reduced_ggl import march_ggl
from porthos.kernels.reduced_midpoint import march_midpoint

SCHEMES = [ph.Midpoint(), ph.MidpointGGL()]
IDS = ["midpoint", "ggl"]
STEPS, STEP = 20, 0.01


def test_kernels_are_compiled_or_not_as_asked():
    disabled = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
    for march in (march_midpoint, march_ggl, march_livens):
        assert hasattr(march, "py_func") is not disabled


def chain():
    """A hinge, a ball joint, a link to a point mass; a load beside the centre of mass, a printed torque and a port."""
    model = ph.Model("chain", gravity=(0.0, 0.0, -9.81))
    spin = np.array([0.0, 2.0, 0.0])
    crank = model.body(
        "crank", ph.Box(1.5, (0.4, 0.1, 0.2)), (0.2, 0, 0), velocity=np.cross(spin, (0.2, 0, 0)), angular_velocity=spin
    )
    speed = np.cross(spin, (0.4, 0, 0))
    turn = np.array([1.0, -1.0, 0.5])
    arm = model.body(
        "arm", ph.Cylinder(0.8, 0.05, 0.6), (0.4, 0.3, 0), rotation=((1, 0, 0), -np.pi / 2),
        velocity=speed + np.cross(turn, (0, 0.3, 0)), angular_velocity=turn,
    )  # fmt: skip
    tip = speed + np.cross(turn, (0, 0.6, 0))
    bead = model.point_mass("bead", 0.3, position=(0.4, 0.6, -0.5), velocity=tip)
    model.revolute("hinge", model.ground, crank, at=(0, 0, 0), axis=(0, 1, 0))
    model.spherical("ball", crank, arm, at=(0.4, 0, 0))
    model.distance("link", arm, bead, point_a=(0.4, 0.6, 0), point_b=(0.4, 0.6, -0.5))
    model.load("push", arm, force=lambda t: (np.cos(9 * t), 2.0, 0.0), torque=(0.0, 0.1, 0.2), at=(0.45, 0.5, 0.0))
    model.load("turn", crank, torque=(0.3, 0.5, 0.0), torque_map="printed")
    model.port("wind", bead, kind="force")
    return model


def geared():
    """A wheel on a carrier that turns, in a ring that stands still, and the carrier on a rack."""
    model = ph.Model("geared")
    model.body("carrier", ph.Cylinder(1.0, 0.1, 0.02))
    model.body("planet", ph.Cylinder(0.5, 0.1, 0.02), position=(0.2, 0, 0))
    model.body("bar", ph.Box(2.0, (0.5, 0.02, 0.02)), position=(0, -0.1, 0))
    model.revolute("axle", "ground", "carrier", at=(0, 0, 0), axis=(0, 0, 1), rate=5.0)
    model.revolute("pin", "carrier", "planet", at=(0.2, 0, 0), axis=(0, 0, 1))
    model.prismatic("slide", "ground", "bar", at=(0, -0.1, 0), axis=(1, 0, 0))
    model.gear("ring", "planet", "ground", at_b=(0, 0, 0), teeth=(20, 60), internal=True)
    model.rack("rack", "carrier", "bar", at=(0, 0, 0), axis=(0, 0, 1), at_b=(0, -0.1, 0))
    return model


@pytest.mark.parametrize("scheme", SCHEMES, ids=IDS)
def test_gears_keep_energy_and_ratio(scheme):
    run = ph.simulate(geared(), scheme, STEP, STEPS * STEP)
    inertia = 0.005 + 0.5 * 0.2**2 + 0.0025 * 2**2 + 2.0 * 0.1**2  # the planet turns by -2, the bar moves by 0.1 m
    assert run.energy == pytest.approx(np.full(STEPS + 1, 0.5 * inertia * 25.0), rel=1e-13)
    assert run["planet"].angular_velocity[:, 2] == pytest.approx(np.full(STEPS + 1, -10.0), rel=2e-3)
    assert run["bar"].velocity[:, 0] == pytest.approx(np.full(STEPS + 1, 0.5), rel=2e-3)
    assert run.position_error.max() < 1e-14


@pytest.fixture(scope="module", params=SCHEMES, ids=IDS)
def run(request):
    inputs = {"wind": lambda t: (0.5, np.sin(5 * t), 0.2)}
    return ph.simulate(chain(), request.param, STEP, STEPS * STEP, inputs=inputs)


def test_consistent_start():
    assert chain().assemble(initial="refuse").adjustments == ()


def test_energy_and_constraints_are_exact(run):
    assert run.t.size == STEPS + 1
    assert np.abs(run.power_balance).max() < 1e-13
    work = sum(run.port(name).work for name in ("push", "turn", "wind"))
    assert np.abs(run.energy - run.energy[0] - work).max() < 1e-12
    assert np.abs(work).max() > 0.1  # the loads did something
    assert run.position_error.max() < 1e-13
    if "GGL" in run.scheme:
        assert run.velocity_error.max() < 1e-12


def test_reduced_step_is_the_step_of_the_paper(run):
    """The compiled schemes against the midpoint rule on the full pH-DAE, (24) or (61), written with NumPy."""
    system = run.system
    form = system.ggl if "GGL" in run.scheme else system
    x = np.zeros(form.dimension)
    x[: system.dimension] = system.initial_state()
    for n in range(2):
        t = (n + 0.5) * STEP
        u = [np.cos(9 * t), 2.0, 0.0, 0.0, 0.1, 0.2, 0.3, 0.5, 0.0, 0.5, np.sin(5 * t), 0.2]
        step = ph.Gauss(1).step(form, STEP, x, np.array(u))
        x = step.x
        assert np.abs(run.q[n + 1] - x[: system.n]).max() < 1e-14
        assert np.abs(run.v[n + 1] - x[system.n : 2 * system.n]).max() < 1e-13
        joints = step.stages[0, 2 * system.n + 6 * system.rigid.size : system.dimension]
        assert np.abs(run.raw.multipliers[n + 1] - joints).max() < 1e-12


@pytest.mark.parametrize("scheme", SCHEMES, ids=IDS)
def test_free_body_keeps_energy_and_momentum(scheme):
    model = ph.Model("free")
    model.body("top", ph.Box(1, (0.1, 0.2, 0.3)), velocity=(1, 2, 3), angular_velocity=(1, 8, 0.5))
    run = ph.simulate(model, scheme, STEP, STEPS * STEP)
    inertia = np.array([0.13, 0.10, 0.05]) / 12
    assert np.abs(run.angular_momentum - inertia * (1, 8, 0.5)).max() < 1e-15
    assert np.abs(run.linear_momentum - (1, 2, 3)).max() < 1e-14
    assert np.abs(run.energy - (inertia @ (1, 64, 0.25) + 14) / 2).max() < 1e-13


@pytest.mark.parametrize("scheme", SCHEMES, ids=IDS)
def test_falling_point_mass_is_exact(scheme):
    """The midpoint rule solves x'' = g exactly at the nodes."""
    model = ph.Model("fall", gravity=(0, 0, -9.81))
    model.point_mass("stone", 2.0, position=(1, 0, 0), velocity=(0, 3, 4))
    run = ph.simulate(model, scheme, 0.1, 1.0)
    t = run.t[:, None]
    exact = np.array([1, 0, 0]) + t * [0, 3, 4] + t**2 / 2 * [0, 0, -9.81]
    assert np.abs(run["stone"].position - exact).max() < 1e-14


@pytest.mark.parametrize("scheme", SCHEMES, ids=IDS)
def test_pendulum_in_its_angle(scheme):
    """A hinged box against its equation in one angle, phi'' = k cos(phi), k = m g l/J, as a Taylor series.

    The error of a symmetric scheme is even in the step: two steps extrapolate to fourth order.
    """
    k, t = 9.81 * 0.25 / ((0.25 + 0.01) / 12 + 0.25**2), 0.05
    phi = k * t**2 / 2 - k**3 * t**6 / 240 + k**5 * t**10 / 19200
    rate = k * t - k**3 * t**5 / 40 + k**5 * t**9 / 1920

    def end(h):
        model = ph.Model("pendulum", gravity=(0, 0, -9.81))
        box = model.body("box", ph.Box(1, (0.5, 0.1, 0.1)), position=(0.25, 0, 0))
        model.revolute("hinge", model.ground, box, at=(0, 0, 0), axis=(0, 1, 0))
        run = ph.simulate(model, scheme, h, t)
        assert np.abs(run.energy).max() < 1e-14
        assert np.abs(run.joint("hinge").force[0] - (0, 0, 9.81 - k * 0.25)).max() < 1e-13
        x = run["box"].position[-1]
        return np.array([np.arctan2(-x[2], x[0]) / phi - 1, run["box"].angular_velocity[-1, 1] / rate - 1])

    coarse, fine = end(t / 10), end(t / 20)
    assert np.abs(fine).max() < 1.2e-6
    assert np.abs(4 * fine - coarse).max() / 3 < 2e-8


def test_initial_values_are_projected():
    """A velocity across the hinge is removed, the one along its motion stays."""
    model = ph.Model("projected")
    box = model.body("box", ph.Box(1, (0.5, 0.1, 0.1)), position=(0.25, 0, 0), velocity=(0.3, 0.2, -1))
    model.revolute("hinge", model.ground, box, at=(0, 0, 0), axis=(0, 1, 0))
    q, v = model.assemble().initial_arrays()
    rate = 0.25 / ((0.25 + 0.01) / 12 + 0.25**2)  # angular momentum about the hinge / J
    assert np.abs(v[0, 0] - (0, 0, -0.25 * rate)).max() < 1e-15
    assert np.abs(v[0, 1:] - np.cross((0, rate, 0), np.eye(3))).max() < 1e-14
    assert np.array_equal(q[0, 0], (0.25, 0, 0))


@pytest.mark.parametrize("scheme", SCHEMES, ids=IDS)
def test_controller_is_asked_before_every_step(scheme):
    """A damper as a controller: it sees the velocity at the begin of a step and its force acts during the step."""
    seen = []

    def damper(t, y):
        seen.append((t, y))
        return -0.3 * y

    model = ph.Model("damped")
    model.port("damper", model.point_mass("bead", 2.0, velocity=(1, 0, 0)), kind="force", direction=(1, 0, 0))
    run = ph.simulate(model, scheme, 0.1, 1.0, inputs={"damper": damper})
    exact = (1 - 0.3 * 0.1 / 2.0) ** np.arange(11)
    assert np.abs(run["bead"].velocity[:, 0] - exact).max() < 1e-15
    times, outputs = np.array(seen).T
    assert np.abs(times - 0.1 * (np.arange(10) + 0.5)).max() < 1e-15
    assert np.abs(outputs - exact[:10]).max() < 1e-15


@pytest.mark.parametrize("scheme", SCHEMES, ids=IDS)
def test_turns_are_counted_for_controllers(scheme):
    """A wheel on a wheel, for many turns; in a step the midpoint rule turns a wheel by 2 atan(h omega / 2)."""
    seen, model, speed = [], ph.Model("wheels"), 30.0
    for name, below, pace in (("first", "ground", speed), ("second", "first", 2 * speed)):
        model.body(name, ph.Cylinder(4.0, 0.5, 0.1), angular_velocity=(0, 0, pace))
        model.revolute(f"under {name}", below, name, (0, 0, 0), (0, 0, 1))
    model.joint_port("motor", "under first")

    def look(t, y, state):
        seen.append([state.angle("under first"), state.angle("under second")])
        return 0.0

    ph.simulate(model, scheme, 0.02, 0.4, inputs={"motor": look})
    first, both = 2 * np.arctan([speed * 0.01, 2 * speed * 0.01])
    assert np.array(seen) == pytest.approx(np.outer(np.arange(20), [first, both - first]), abs=1e-10)


def test_livens_on_a_lagrangian():
    """003, 6.2: generalised energy to round-off, energy within 2.9e-4."""
    run = spring_pendulum.run()
    assert np.abs(np.diff(run.generalized_energy)).max() < 1e-14
    assert np.abs(run.H - run.H[0]).max() == pytest.approx(2.9e-4, abs=0.05e-4)
    assert np.ptp(run.p[:, 2]) < 2e-14
