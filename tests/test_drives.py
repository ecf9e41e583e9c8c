"""Drives: motions that are followed to round-off, forces and motions that are known from elsewhere, and errors."""

from __future__ import annotations

import numpy as np
import pytest
from catalogue import MIDPOINTS, by_name
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

import porthos as ph
from porthos.model.expressions import FUNCTIONS

SCHEMES = [*MIDPOINTS, ph.Composition(order=4)]
every_scheme = pytest.mark.parametrize("scheme", SCHEMES, ids=by_name)
G = 9.81


def crank(angle):
    """A bar upright on a hinge, turned by a motor."""
    model = ph.Model("crank", gravity=(0, 0, -G))
    model.body("bar", ph.Box(2.0, (0.1, 0.1, 1.0)), position=(0, 0, 0.5))
    model.revolute("A", "ground", "bar", at=(0, 0, 0), axis=(1, 0, 0))
    model.turn_drive("motor", "ground", "bar", at=(0, 0, 0), axis=(1, 0, 0), angle=angle)
    return model


@every_scheme
def test_crank_has_the_torque_of_the_formula(scheme):
    run = ph.simulate(crank(ph.Expression("pi/6*t**2 + 0.3*sin(5*t)")), scheme, 0.01, 4.0)
    t = run.t
    s, rate = np.pi / 6 * t**2 + 0.3 * np.sin(5 * t), np.pi / 3 * t + 1.5 * np.cos(5 * t)
    second = np.pi / 3 - 7.5 * np.sin(5 * t)
    place = 0.5 * np.stack([0 * t, -np.sin(s), np.cos(s)], axis=1)
    assert np.abs(run["bar"].position - place).max() < 1e-13
    torque = (2.0 * (1.0 + 0.01) / 12 + 2.0 * 0.25) * second - 2.0 * G * 0.5 * np.sin(s)
    assert np.abs(run.joint("motor").torque[:, 0] - torque).max() < 1e-11 * np.abs(torque).max()
    assert np.abs(run.joint("motor").torque[:, 1:]).max() < 1e-12
    assert run.position_error.max() < 1e-13
    drive = run.port("motor")
    assert np.array_equal(drive.motion, s) and drive.input == pytest.approx(rate, abs=1e-13)
    assert np.abs(run.energy - run.energy[0] - drive.work).max() < 1e-11 * np.ptp(run.energy)
    if not isinstance(scheme, ph.Midpoint):
        assert run.velocity_error.max() < 1e-13
        assert np.abs(run["bar"].angular_velocity[:, 0] - rate).max() < 1e-12
        middle = np.interp(t[1:] - 0.005, t, torque)
        assert np.abs(drive.output[1:] - middle).max() < 1e-3 * np.abs(torque).max()
    else:
        assert np.abs(run["bar"].angular_velocity[:, 0] - rate).max() < 2e-3


@every_scheme
def test_point_is_led_along_a_path_by_three_drives(scheme):
    """The end of a bar goes round a slanted circle, and the bar swings about it."""
    path = ("0.3*cos(2*t) - 0.3", "0.3*sin(2*t) - 0.6*t*exp(-t)", "0.2*sin(2*t) - 0.4*t*exp(-t)")
    model = ph.Model("led", gravity=(0, 0, -G))
    model.body("bar", ph.Box(2.0, (0.1, 0.1, 1.0)), position=(0, 0, -0.5))
    for name, axis, along in zip("xyz", np.eye(3), path, strict=True):
        model.slide_drive(name, "ground", "bar", at=(0, 0, 0), axis=axis, displacement=ph.Expression(along))
    run = ph.simulate(model, scheme, 0.01, 4.0)
    t = run.t
    place = np.stack([0.3 * np.cos(2 * t) - 0.3, *(a * np.sin(2 * t) - 2 * a * t * np.exp(-t) for a in (0.3, 0.2))], 1)
    assert np.abs(run["bar"].point((0, 0, 0.5)) - place).max() < 1e-12
    work = sum(run.port(name).work for name in "xyz")
    assert np.ptp(work) > 1.0
    assert np.abs(run.energy - run.energy[0] - work).max() < 1e-11 * np.ptp(work)
    force = np.stack([run.port(name).output for name in "xyz"], 1)[1:]
    pushed = np.diff(run.linear_momentum, axis=0) / 0.01 + (0, 0, 2.0 * G)
    if scheme.order == 2:
        assert np.abs(force - pushed).max() < 1e-9 * np.abs(pushed).max()


def robot():
    """Two bars in a vertical plane; both joints follow a motion, the second one between bodies that move."""
    model = ph.Model("robot", gravity=(0, 0, -G))
    model.body("upper", ph.Box(2.0, (0.8, 0.1, 0.1)), position=(0.4, 0, 0))
    model.body("lower", ph.Box(1.0, (0.6, 0.1, 0.1)), position=(1.1, 0, 0))
    model.revolute("shoulder", "ground", "upper", at=(0, 0, 0), axis=(0, -1, 0))
    model.revolute("elbow", "upper", "lower", at=(0.8, 0, 0), axis=(0, -1, 0))
    model.turn_drive("one", "ground", "upper", at=(0, 0, 0), axis=(0, -1, 0), angle=ph.Sine(0.8, 0.5))
    model.turn_drive("two", "upper", "lower", at=(0.8, 0, 0), axis=(0, -1, 0), angle=ph.Expression("1.5*t + t**2"))
    return model


def inverse_dynamics(t):
    """The torques of both motors from Lagrange's equations of a double pendulum in relative angles."""
    w = np.pi
    a, da, dda = 0.8 * np.sin(w * t), 0.8 * w * np.cos(w * t), -0.8 * w * w * np.sin(w * t)
    b, db, ddb = 1.5 * t + t * t, 1.5 + 2 * t, 2.0 + 0 * t
    m1, m2, l1, c1, c2 = 2.0, 1.0, 0.8, 0.4, 0.3
    I1, I2 = m1 * (0.64 + 0.01) / 12, m2 * (0.36 + 0.01) / 12
    coupling = m2 * l1 * c2
    M11 = I1 + I2 + m1 * c1**2 + m2 * (l1**2 + c2**2) + 2 * coupling * np.cos(b)
    M12, M22 = I2 + m2 * c2**2 + coupling * np.cos(b), I2 + m2 * c2**2
    turning = coupling * np.sin(b)
    one = M11 * dda + M12 * ddb - turning * (2 * da * db + db * db)
    two = M12 * dda + M22 * ddb + turning * da * da
    tip = m2 * c2 * G * np.cos(a + b)
    return one + (m1 * c1 + m2 * l1) * G * np.cos(a) + tip, two + tip


@every_scheme
def test_robot_has_the_torques_of_inverse_dynamics(scheme):
    run = ph.simulate(robot(), scheme, 0.005, 2.0)
    expected = inverse_dynamics(run.t)
    limit = 5e-3 if isinstance(scheme, ph.Midpoint) else 1e-10  # its velocities are off by O(h^2)
    for name, torque in zip(("one", "two"), expected, strict=True):
        found = -run.joint(name).torque[:, 1]
        assert np.abs(found - torque).max() < limit * np.abs(torque).max()
    assert np.abs(np.cumsum(run.power_balance)).max() < 1e-11 * np.ptp(run.energy)


TRAVEL, HOIST = ph.Ramp(0.5, 2.5, 3.0, smooth=True), ph.Ramp(1.0, 3.0, 1.2, before=2.0, smooth=True)


def crane(travel=TRAVEL, hoist=HOIST):
    """A load on a rope that a winch shortens, below a trolley that travels."""
    model = ph.Model("crane", gravity=(0, 0, -G))
    model.body("trolley", ph.Box(5.0, (0.3, 0.2, 0.1)))
    model.point_mass("load", 2.0, position=(0, 0, -2.0))
    model.prismatic("rail", "ground", "trolley", at=(0, 0, 0), axis=(1, 0, 0))
    model.slide_drive("travel", "ground", "trolley", at=(0, 0, 0), axis=(1, 0, 0), displacement=travel)
    model.length_drive("winch", "trolley", "load", point_a=(0, 0, 0), point_b=(0, 0, -2.0), length=hoist)
    return model


def swing(t, state):
    """theta'' of a pendulum whose length changes and whose support is accelerated."""
    theta, rate = state
    length, hoisting = HOIST(t), HOIST.rates[0](t)
    pull = 2 * hoisting * rate + G * np.sin(theta) + TRAVEL.rates[1](t) * np.cos(theta)
    return [rate, -pull / length]


@pytest.mark.parametrize(
    ("scheme", "order"),
    [(ph.Midpoint(), 2), (ph.MidpointGGL(), 2), (ph.Composition(order=4), 4), (ph.Composition(ph.Midpoint(), 4), 4)],
    ids=["Midpoint", "MidpointGGL", "MidpointGGL4", "Midpoint4"],
)
def test_crane_swings_as_the_equation_of_motion_says(scheme, order):
    theta = solve_ivp(swing, (0, 4), [0, 0], method="DOP853", rtol=1e-13, atol=1e-14).y[0, -1]
    end = np.array([TRAVEL(4.0) + HOIST(4.0) * np.sin(theta), 0, -HOIST(4.0) * np.cos(theta)])
    errors = []
    for h in (0.01, 0.005):
        run = ph.simulate(crane(), scheme, h, 4.0)
        errors.append(np.linalg.norm(run["load"].position[-1] - end))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)
    supplied = run.port("travel").work + run.port("winch").work
    assert np.abs(run.energy - run.energy[0] - supplied).max() < 1e-11 * np.ptp(run.energy)
    rope = np.linalg.norm(run["load"].position - run["trolley"].position, axis=1)
    assert np.abs(rope - [HOIST(t) for t in run.t]).max() < 1e-13


def test_order_six_with_drives():
    theta = solve_ivp(swing, (0, 4), [0, 0], method="DOP853", rtol=1e-13, atol=1e-14).y[0, -1]
    end = np.array([TRAVEL(4.0) + HOIST(4.0) * np.sin(theta), 0, -HOIST(4.0) * np.cos(theta)])
    run = ph.simulate(crane(), ph.Composition(order=6), 0.02, 4.0)
    assert np.linalg.norm(run["load"].position[-1] - end) < 1e-9


def test_drive_that_holds_is_a_fixed_joint():
    """A constant motion: the same as a joint without freedom, and no work."""
    free = ph.Model("free", gravity=(0, 0, -G))
    free.body("a", ph.Box(1.0, (0.4, 0.2, 0.1)), position=(0.3, 0, 0))
    free.body("b", ph.Box(0.5, (0.1, 0.4, 0.1)), position=(0.6, 0.3, 0))
    free.spherical("ball", "ground", "a", at=(0, 0, 0))
    free.revolute("hinge", "a", "b", at=(0.5, 0, 0), axis=(0.3, 0, 1))
    free.turn_drive("lock", "a", "b", at=(0.5, 0, 0), axis=(0.3, 0, 1), angle=0.0)
    locked = ph.Model("locked", gravity=(0, 0, -G))
    locked.body("a", ph.Box(1.0, (0.4, 0.2, 0.1)), position=(0.3, 0, 0))
    locked.body("b", ph.Box(0.5, (0.1, 0.4, 0.1)), position=(0.6, 0.3, 0))
    locked.spherical("ball", "ground", "a", at=(0, 0, 0))
    locked.fixed("weld", "a", "b", at=(0.5, 0, 0))
    for scheme in SCHEMES:
        runs = [ph.simulate(model, scheme, 0.005, 1.0) for model in (free, locked)]
        assert np.abs(runs[0].q - runs[1].q).max() < 1e-11
        assert np.abs(runs[0].port("lock").work).max() == 0.0


def test_assembly_turns_a_crank_to_where_its_drive_begins():
    angle = ph.Sine(0.4, 1.0, offset=0.7)
    with pytest.raises(ph.ModelError, match=r"turn_drive 'motor': .* rough=True"):
        crank(angle)
    model = crank(0.0)
    model._joints.pop("motor")
    model.turn_drive("motor", "ground", "bar", at=(0, 0, 0), axis=(1, 0, 0), angle=angle, rough=True)
    run = ph.simulate(model, ph.MidpointGGL(), 0.01, 0.5)
    s = 0.7 + 0.4 * np.sin(2 * np.pi * run.t)
    assert np.abs(run["bar"].position - 0.5 * np.stack([0 * s, -np.sin(s), np.cos(s)], axis=1)).max() < 1e-13
    assert run.velocity_error.max() < 1e-13


def test_functions_in_python_are_differentiated_by_numbers():
    model = crank(lambda t: 0.3 * np.sin(5 * t))
    run, exact = (ph.simulate(m, ph.MidpointGGL(), 0.01, 1.0) for m in (model, crank(ph.Expression("0.3*sin(5*t)"))))
    assert np.abs(run.q - exact.q).max() < 1e-12
    assert np.abs(run.v - exact.v).max() < 1e-9
    found, expected = (r.joint("motor").torque[:, 0] for r in (run, exact))
    assert np.abs(found - expected).max() < 1e-6 * np.abs(expected).max()


def test_runs_are_driven_from_files(tmp_path):
    path = crane().save(tmp_path / "crane.yaml")
    again = ph.load_model(path)
    assert [str(joint) for joint in again.joints] == [str(joint) for joint in crane().joints]
    a, b = (ph.simulate(m, ph.MidpointGGL(), 0.01, 1.0) for m in (crane(), again))
    assert np.array_equal(a.q, b.q)


# --- derivatives

FORMULAS = [
    "3*sin(2*pi*t)", "t**3/(1 + t)", "exp(-t)*atan2(t, 2)", "min(t, 0.5, t**2)", "max(t, 1 - t)", "sqrt(t + 1)**t",
    "abs(sin(3*t)) if t < 1 else tanh(t)", "radians(30)*t + degrees(t)", "2**-t", "-(+t)",
    "-acos(t/4) + asin(t/4)*log(t + 1)*cosh(t) + sinh(t)/tan(t + 0.2) + floor(t) + ceil(t) + atan(t)", "7",
]  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_derivatives_of_expressions(text):
    signal = ph.Expression(text)
    first, second = signal.rates
    h = 1e-3
    for t in (0.31, 0.77, 1.23):
        near = np.array([signal(t + k * h) for k in (-2, -1, 0, 1, 2)])
        assert first(t) == pytest.approx(near @ [1, -8, 0, 8, -1] / (12 * h), rel=1e-7, abs=1e-7)
        assert second(t) == pytest.approx(near @ [-1, 16, -30, 16, -1] / (12 * h * h), rel=1e-5, abs=1e-5)


def test_every_function_of_expressions_has_a_derivative():
    used = " ".join(FORMULAS)
    assert [name for name in FUNCTIONS if f"{name}(" not in used and name != "cos"] == []


@given(begin=st.floats(0, 2), length=st.floats(0.1, 5), after=st.floats(-3, 3), before=st.floats(-3, 3))
def test_smooth_ramps_begin_and_end_at_rest(begin, length, after, before):
    ramp = ph.Ramp(begin, begin + length, after, before, smooth=True)
    size = max(abs(after), abs(before), 1e-3)
    assert ramp(begin) == pytest.approx(before, abs=1e-14 * size)
    assert ramp(begin + length) == pytest.approx(after, abs=1e-12 * size)
    for rate in ramp.rates:
        assert [rate(begin), rate(begin + length + 1.0)] == [0.0, 0.0]
    t = begin + 0.3 * length
    h = 1e-4 * length
    assert ramp.rates[0](t) == pytest.approx((ramp(t + h) - ramp(t - h)) / (2 * h), abs=1e-6 * size / length)


# --- errors


@pytest.mark.parametrize(
    ("motion", "words"),
    [
        (ph.Ramp(0.5, 1.0, 1.0), r"velocity does not jump, found a jump at t = 0\.5.*smooth=True"),
        (ph.Step(0.5, 1.0), r"jump at t = 0\.5"),
        (ph.Table([0, 1, 2], [0, 0, 1]), r"jump at t = 1"),
        (ph.Sine((1, 2), 1.0), r"plain number for each time, found 2 components"),
        ("fast", r"expected a number or a function of time.*found 'fast'"),
        (lambda t: 1 / 0, r"failed at t = 0 with ZeroDivisionError"),
        (float("nan"), r"expected finite numbers"),
        (lambda t: (1.0, 2.0), r"failed at t = 0 with TypeError"),
    ],
)
def test_motions_that_make_no_sense(motion, words):
    with pytest.raises(ph.ModelError, match=rf"turn_drive 'motor': angle.*{words}"):
        crank(motion)


@every_scheme
def test_motion_that_is_no_number_on_the_way(scheme):
    """It is named with its time, and what was computed is kept."""
    model = crank(lambda t: 0.2 * t if t <= 0.5 else float("nan"))
    with pytest.raises(ph.SimulationError, match=r"'motor' at t = 0\.5\d*.*nan") as caught:
        ph.simulate(model, scheme, 0.01, 1.0)
    run = caught.value.trajectory
    assert caught.value.status is ph.Status.BAD_INPUT
    assert 0.47 < run.t[-1] <= 0.5  # rates are differences, which look ahead
    assert np.isfinite(run.q).all()


def test_axis_that_no_joint_holds():
    model = ph.Model("ball", gravity=(0, 0, -G))
    model.body("bar", ph.Box(2.0, (0.1, 0.1, 1.0)), position=(0, 0, 0.5))
    model.turn_drive("motor", "ground", "bar", at=(0, 0, 0), axis=(1, 0, 0), angle=ph.Sine(0.1, 1.0))
    words = "turn_drive 'motor': axis: expected a joint between 'ground' and 'bar' that holds this axis"
    with pytest.raises(ph.ModelError, match=f"{words}, revolute, cylindrical or planar, found none"):
        model.assemble()
    model.spherical("socket", "ground", "bar", at=(0, 0, 0))
    with pytest.raises(ph.ModelError, match="found the spherical joint 'socket'"):
        model.assemble()
    model._joints.pop("socket")
    model.revolute("hinge", "bar", "ground", at=(0, 0, 0), axis=(-1, 0, 0))  # the other way round
    run = ph.simulate(model, ph.MidpointGGL(), 0.01, 0.5)
    s = 0.1 * np.sin(2 * np.pi * run.t)
    assert np.abs(run["bar"].position[:, 1] + 0.5 * np.sin(s)).max() < 1e-13


def test_rope_without_length():
    model = ph.Model("rope")
    model.point_mass("load", 1.0, position=(0, 0, -1))
    with pytest.raises(ph.ModelError, match="length_drive 'winch': length: expected a distance above 0"):
        model.length_drive("winch", "ground", "load", (0, 0, 0), (0, 0, -1), length=ph.Sine(1.0, 1.0))


def test_function_that_fails_on_the_way():
    def motion(t):
        return 1 / 0 if t > 0.5 else 0.1 * t * t

    run = ph.simulate(crank(motion), ph.Midpoint(), 0.01, 1.0, on_failure="return")
    assert run.status is ph.Status.BAD_INPUT and 0.4 < run.t[-1] <= 0.5
    assert "'motor'" in run.message and "ZeroDivisionError" in run.message


# --- schemes over states


def flail():
    """A rod that hangs from the tip of a crank, which a motor turns: pendulum with a support that is moved."""
    model = ph.Model("flail", gravity=(0, 0, -G))
    model.body("crank", ph.Box(2.0, (0.6, 0.1, 0.1)), position=(0.3, 0, 0))
    model.body("rod", ph.Box(1.0, (0.1, 0.1, 0.8)), position=(0.6, 0, -0.4))
    model.revolute("A", "ground", "crank", at=(0, 0, 0), axis=(0, -1, 0))
    model.revolute("B", "crank", "rod", at=(0.6, 0, 0), axis=(0, -1, 0))
    turn = ph.Expression("0.8*sin(3*t) + 0.5*t")
    model.turn_drive("motor", "ground", "crank", at=(0, 0, 0), axis=(0, -1, 0), angle=turn)
    return model


def flail_by_scipy(rate, end):
    """Place and velocity (x, z) of the rod, and the torque of the motor, at the end; `rate` is that of the rod."""
    inertia, c, arm = (0.64 + 0.01) / 12, 0.4, 0.6

    def support(t):
        s, ds, dds = 0.8 * np.sin(3 * t) + 0.5 * t, 2.4 * np.cos(3 * t) + 0.5, -7.2 * np.sin(3 * t)
        radial, across = np.array([np.cos(s), np.sin(s)]), np.array([-np.sin(s), np.cos(s)])
        return arm * radial, arm * ds * across, arm * (dds * across - ds**2 * radial), dds

    def swing(t, y):
        ax, az = support(t)[2]
        return [y[1], -c * ((G + az) * np.sin(y[0]) + ax * np.cos(y[0])) / (inertia + c**2)]

    found = solve_ivp(swing, (0, end), [0.0, rate], rtol=1e-12, atol=1e-13, method="DOP853").y[:, -1]
    (a, da), dda = found, swing(end, found)[1]
    along, across = np.array([np.sin(a), -np.cos(a)]), np.array([np.cos(a), np.sin(a)])
    place, speed, pull, dds = support(end)
    push = pull + c * (dda * across - da**2 * along) + [0, G]  # of the crank on the rod, of mass one
    torque = (2.0 * (0.36 + 0.01) / 12 + 2.0 * 0.09) * dds + place[0] * (push[1] + G) - place[1] * push[0]
    return place + c * along, speed + c * da * across, torque


OVER_STATES = [
    *(ph.RadauIIA(2), ph.Gauss(2), ph.BDF(2), ph.DiscreteGradient()),
    *(ph.LobattoPair(3), ph.Murua(2), ph.Murua(2, ggl=True), ph.HEDOP5(), ph.MDOP5()),
    *(ph.GeneralizedAlpha(form=form) for form in ("index 3", "stabilised")),
]


@pytest.mark.parametrize("scheme", OVER_STATES, ids=repr)
def test_schemes_over_states_follow_a_motor_with_their_orders(scheme):
    """Against SciPy in the one angle that is free: place, velocity, torque by inverse dynamics, and work."""
    system, end, errors, balances = flail().assemble(), 0.4, [], []
    for n in (8, 16) if scheme.order == 4 else (16, 32):
        run = ph.simulate(system, scheme, end / n, end)
        place, speed, torque = flail_by_scipy(-run["rod"].angular_velocity[0, 1], end)
        gap = run["rod"].position[-1, [0, 2]] - place, run["rod"].velocity[-1, [0, 2]] - speed
        assert -run.joint("motor").torque[-1, 1] == pytest.approx(torque, rel=1e-2)
        errors.append([np.abs(each).max() for each in gap])
        balances.append(abs(run.energy[-1] - run.energy[0] - run.port("motor").work[-1]))
    order = np.log2(np.divide(*errors)) - (scheme.order, scheme.velocity_order)
    if scheme.order == 5:  # errors of places cross zero
        assert -0.3 < order[1] < 1.0, errors
    else:
        assert np.abs(order).max() < 0.3, errors
    if isinstance(scheme, ph.Gauss | ph.DiscreteGradient):  # what they keep, they keep with the motor's work
        assert max(balances) < 1e-12 and run.port("motor").work[-1] > 1.0
    else:
        assert balances[0] > 2 ** (scheme.order - 1.5) * balances[1] or balances[0] < 1e-9


@pytest.mark.parametrize("scheme", [ph.RadauIIA(2), ph.LobattoPair(3), ph.Murua(1, ggl=True), ph.HHT()])
def test_schemes_over_states_follow_a_trolley_and_a_winch(scheme):
    system, end = crane(ph.Expression("0.4*sin(3*t)**2"), ph.Expression("2 - 0.5*sin(t)**2")).assemble(), 0.4
    fine = ph.simulate(system, ph.Composition(order=8), end / 32, end)
    runs = [ph.simulate(system, scheme, end / n, end) for n in (8, 16)]
    errors = [[np.abs(run.q[-1] - fine.q[-1]).max(), np.abs(run.v[-1] - fine.v[-1]).max()] for run in runs]
    assert np.log2(np.divide(*errors)) == pytest.approx(scheme.order, abs=0.2), errors
    for name in ("travel", "winch"):
        assert runs[1].port(name).work[-1] == pytest.approx(fine.port(name).work[-1], rel=0.02)
        assert runs[1].port(name).motion == pytest.approx(fine.port(name).motion[::2], abs=1e-15)


@pytest.mark.parametrize("form", ["index 3", "GGL", "Baumgarte, index 1", "Baumgarte, index 2"])
def test_formulations_with_drives(form):
    system = flail().assemble()
    fine = ph.simulate(system, ph.Composition(order=8), 0.02, 0.2)
    run = ph.simulate(system.formulation(form), ph.RadauIIA(3), 0.02, 0.2)
    assert np.abs(run.x[-1, : system.n] - system.from_kernel(fine.q[-1])).max() < 2e-6


def test_a_mechanism_with_drives_is_a_port_hamiltonian_system():
    system = flail().assemble()
    assert system.check().ok
    x, u = system.initial_state(), np.array([0.7])
    for t in (0.0, 0.3):
        assert system.flow(x, u, t) == pytest.approx(system.J(x, t) @ system.z(x, t) + system.B(x, t) @ u, abs=1e-12)
        assert system.y(x, u, t) == pytest.approx(system.B(x, t).T @ system.z(x, t), abs=1e-12)


def test_what_drives_are_not_in_says_so():
    system = crank(0.0).assemble()
    for ask in (lambda: system.ggl, lambda: system.formulation("index 1")):
        with pytest.raises(ph.PorthosError, match="expected a mechanism without drives, found 'motor'"):
            ask()


def reach():
    """A bob on a rod of 1 m, at most 2 m from a point from which a rope is let out further."""
    model = ph.Model("reach")
    model.point_mass("bob", 1.0, position=(1, 0, 0))
    model.distance("rod", "ground", "bob", (0, 0, 0), (1, 0, 0))
    model.length_drive("pull", "ground", "bob", (0, -1, 0), (1, 0, 0), length=ph.Expression("sqrt(2) + 0.5*t**2"))
    return model


@every_scheme
@pytest.mark.parametrize("every", [1, 4])
def test_rope_that_is_let_out_beyond_a_rod(scheme, every):
    """At the reach of the rod the two rows depend on each other, and both must hold."""
    run = ph.simulate(reach(), scheme, 0.01, 2.0, every=every, on_failure="return")
    assert run.status is ph.Status.SINGULAR
    assert np.sqrt(4 - 2 * np.sqrt(2)) - 0.02 * every < run.t[-1] < np.sqrt(4 - 2 * np.sqrt(2))
    assert run.position_error.max() < 1e-13
    when = float(run.message.split("vanishes at about t = ")[1].split(":")[0])
    assert when == pytest.approx(np.sqrt(4 - 2 * np.sqrt(2)), abs=0.01 * every)
    assert "there 'rod' (1 row), 'pull' (1 row) repeat each other" in run.message


@pytest.mark.parametrize("scheme", [ph.RadauIIA(2), ph.LobattoPair(2), ph.HEDOP5(), ph.MDOP5()], ids=repr)
def test_schemes_over_states_stop_where_the_joints_do_not_allow_a_motion(scheme):
    run = ph.simulate(reach(), scheme, 0.02, 2.0, on_failure="return")
    assert run.status is ph.Status.SINGULAR
    assert run.t[-1] < np.sqrt(4 - 2 * np.sqrt(2)) + 0.02
    assert "there 'rod' (1 row), 'pull' (1 row) repeat each other" in run.message


def test_motion_that_the_joints_do_not_allow():
    """A rope that is let out further than two bars reach."""
    model = ph.Model("arms")
    for k in range(2):
        model.body(f"bar{k}", ph.Box(1.0, (1.0, 0.1, 0.1)), position=(0.5 + k, 0, 0), rotation=((0, 0, 1), 0.0))
        model.spherical(f"ball{k}", f"bar{k - 1}" if k else "ground", f"bar{k}", at=(k, 0, 0))
    model.length_drive("pull", "ground", "bar1", (0, -1.0, 0), (2, 0, 0), length=ph.Expression("sqrt(5) + 0.6*t**2"))
    run = ph.simulate(model, ph.Midpoint(), 0.01, 3.0, on_failure="return")
    assert run.status is ph.Status.SINGULAR and run.t[-1] > 0.5
    reach = np.linalg.norm(run["bar1"].point((0.5, 0, 0))[-1] - [0, -1.0, 0])
    assert reach == pytest.approx(3.0, abs=0.05)
    assert "'pull' (1 row) repeat each other" in run.message


def test_drive_of_what_cannot_move_is_refused():
    model = ph.Model("weld")
    model.body("a", ph.Box(1.0, (0.4, 0.2, 0.1)))
    model.body("b", ph.Box(1.0, (0.4, 0.2, 0.1)), position=(1, 0, 0))
    model.fixed("weld", "a", "b", at=(0.5, 0, 0))
    model.length_drive("pull", "a", "b", (0, 0, 0), (1, 0, 0), length=ph.Sine(0.1, 1.0, offset=1.0))
    words = "The joints do not allow the motion of the drives.*joint 'pull': the initial velocities violate it by 6"
    with pytest.raises(ph.InconsistentStateError, match=words):
        model.assemble()
