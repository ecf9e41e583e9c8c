"""Ports in joints, and loads that turn with their body: exact work, action and reaction, motions known elsewhere."""

import signal
import threading

import numpy as np
import pytest
from catalogue import MIDPOINTS, by_name
from scipy.integrate import solve_ivp

import porthos as ph
from porthos.errors import ModelError, ModelFileError
from porthos.model.ports import JointPort
from porthos.system.check import precise_jacobian

schemes = pytest.mark.parametrize("scheme", [*MIDPOINTS, ph.Composition(ph.MidpointGGL())], ids=by_name)
JOINTS = {"revolute": "torque", "prismatic": "force", "cylindrical": "torque", "cylindrical slide": "force"}
every_joint = pytest.mark.parametrize("joint", JOINTS)
AXIS = np.array([0.2, 1.0, -0.3]) / np.linalg.norm([0.2, 1.0, -0.3])


def flyers(joint="revolute", reverse=False):
    """Two bodies in the air, joined and tumbling, with a motor between them."""
    model = ph.Model("flyers")
    model.body("a", ph.Box(1.0, (0.4, 0.2, 0.1)), rotation=((1, 2, 3), 0.4), angular_velocity=(1, 2, -1))
    model.body("b", ph.Box(0.7, (0.2, 0.3, 0.1)), position=(0.3, 0.3, 0), rotation=((3, 1, 2), 0.7))
    sides = ("b", "a") if reverse else ("a", "b")
    getattr(model, joint.split()[0])("elbow", *sides, at=(0.1, 0.2, 0.1), axis=AXIS)
    model.joint_port("motor", "elbow", kind=JOINTS[joint])
    return model


def coordinate(run, joint):
    """The angle or displacement of the joint since the start, from the motion of the bodies (T,)."""
    a, b = run["a"], run["b"]
    frames = [view.rotation @ view.rotation[0].T for view in (a, b)]
    if JOINTS[joint] == "force":
        n = frames[0] @ AXIS
        at = np.array([0.1, 0.2, 0.1])
        ends = [v.position + np.einsum("tij,j->ti", f, at - v.position[0]) for v, f in zip((a, b), frames, strict=True)]
        return np.sum(n * (ends[1] - ends[0]), axis=1)
    m = np.cross(AXIS, [0, 0, 1.0])
    m /= np.linalg.norm(m)
    k = np.cross(AXIS, m)
    mb = frames[1] @ m
    return np.unwrap(np.arctan2(np.sum((frames[0] @ k) * mb, axis=1), np.sum((frames[0] @ m) * mb, axis=1)))


@every_joint
@schemes
def test_work_is_the_torque_times_the_change_of_the_angle_and_momentum_stays(scheme, joint):
    """Exactly, over many turns of a tumbling axis: the output is the change of the joint's coordinate over h."""
    run = ph.simulate(flyers(joint), scheme, 5e-3, 2.0, inputs={"motor": 0.05})
    motor, change = run.port("motor"), coordinate(run, joint)
    assert np.ptp(change) > 0.3
    assert np.abs(motor.work - 0.05 * change).max() < 1e-11
    assert np.abs(motor.output[1:, 0] * 5e-3 - np.diff(change)).max() < 1e-11 or isinstance(scheme, ph.Composition)
    for momentum in (run.linear_momentum, run.angular_momentum):
        assert np.abs(momentum - momentum[0]).max() < 1e-12
    assert np.abs(run.energy - run.energy[0] - motor.work).max() < 1e-12
    pushed = motor.force if JOINTS[joint] == "force" else motor.torque
    n = run["a"].rotation @ run["a"].rotation[0].T @ AXIS
    assert np.abs(pushed - 0.05 * n).max() < 1e-12


def test_the_first_and_the_second_part_of_a_joint_may_change_places():
    ends = []
    for reverse in (False, True):
        run = ph.simulate(
            flyers("revolute", reverse), ph.MidpointGGL(), 0.01, 1.0, inputs={"motor": -0.05 if reverse else 0.05}
        )
        ends.append(run.q[-1])
    assert np.abs(ends[0] - ends[1]).max() < 1e-11


M1, M2, L1, L2, G = 2.0, 1.5, 1.0, 0.8, 9.81


def pendulum(ports=("shoulder", "elbow"), rates=None):
    """A double pendulum in the x-z plane with motors in its hinges; angles grow about -y."""
    rates = rates or {}
    model = ph.Model("robot", gravity=(0, 0, -G))
    model.body("upper", ph.Box(M1, (0.05, 0.05, L1)), position=(0, 0, -L1 / 2))
    model.body("lower", ph.Box(M2, (0.05, 0.05, L2)), position=(0, 0, -L1 - L2 / 2))
    model.revolute("shoulder", "upper", "ground", at=(0, 0, 0), axis=(0, 1, 0), rate=rates.get("shoulder"))
    model.revolute("elbow", "upper", "lower", at=(0, 0, -L1), axis=(0, -1, 0), rate=rates.get("elbow"))
    for joint in ports:
        model.joint_port(f"motor of the {joint}", joint)
    return model


def lagrange(t, state, torques):
    """Accelerations of the angles a, b of the bars from the vertical: Lagrange's equations."""
    a, b, da, db = state
    J1, J2 = (m * (0.05**2 + length**2) / 12 for m, length in ((M1, L1), (M2, L2)))
    shoulder, elbow = torques(t)
    c, s = M2 * L1 * L2 / 2 * np.cos(a - b), M2 * L1 * L2 / 2 * np.sin(a - b)
    mass = [[J1 + M1 * L1**2 / 4 + M2 * L1**2, c], [c, J2 + M2 * L2**2 / 4]]
    right = [
        shoulder - elbow - s * db**2 - (M1 / 2 + M2) * G * L1 * np.sin(a),
        elbow + s * da**2 - M2 * G * L2 / 2 * np.sin(b),
    ]
    return [da, db, *np.linalg.solve(mass, right)]


def test_motors_of_a_robot_against_minimal_coordinates():
    """DOP853; order 2 and 4. The motor of the shoulder is in a joint whose second part is the ground."""

    def torques(t):
        return 20 * np.sin(3 * t), 8 * np.cos(5 * t)

    found = solve_ivp(lagrange, (0, 1), (0, 0, 0, 0), "DOP853", args=(torques,), rtol=1e-12, atol=1e-13)
    a, b = found.y[:2, -1]
    exact = np.array([L1 * np.sin(a) + L2 / 2 * np.sin(b), 0, -L1 * np.cos(a) - L2 / 2 * np.cos(b)])
    inputs = {"motor of the shoulder": lambda t: torques(t)[0], "motor of the elbow": lambda t: torques(t)[1]}
    for scheme, order, limit in ((ph.Midpoint(), 2, 1e-2), (ph.Composition(ph.MidpointGGL()), 4, 1e-5)):
        errors = []
        for h in (0.02, 0.01):
            run = ph.simulate(pendulum(), scheme, h, 1.0, inputs=inputs)
            errors.append(np.linalg.norm(run["lower"].position[-1] - exact))
        assert errors[1] < limit
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


def test_inverse_dynamics_gives_the_torques_that_drives_find():
    """The torques that two drives take, put into motors, move the robot as the drives did, to round-off."""
    driven, rates = pendulum(ports=()), {"shoulder": 1.2, "elbow": 0.8}
    driven.turn_drive("d1", "upper", "ground", (0, 0, 0), (0, 1, 0), angle=ph.Expression("0.6*sin(2*t)"))
    driven.turn_drive("d2", "upper", "lower", (0, 0, -L1), (0, -1, 0), angle=ph.Expression("0.8*t - 0.3*t**2"))
    wanted = ph.simulate(driven, ph.Midpoint(), 0.01, 1.0)
    table = {f"motor of the {j}": wanted.port(d).output[1:] for j, d in (("shoulder", "d1"), ("elbow", "d2"))}
    run = ph.simulate(pendulum(rates=rates), ph.Midpoint(), 0.01, 1.0, inputs=table)
    assert np.abs(run["lower"].position - wanted["lower"].position).max() < 1e-12
    for port, drive in zip(table, ("d1", "d2"), strict=True):
        assert np.abs(run.port(port).work - wanted.port(drive).work).max() < 1e-11


@every_joint
def test_input_matrix_and_its_slopes(joint):
    """B~^T v is the rate of the joint; d(B~ u)/dq and d(B~^T v)/dq by differences, also off the constraints."""
    model = flyers(joint)
    model.load("jet", "b", force=(1, 2, 3), torque=(0.1, 0.2, 0), at=(0.1, 0, 0.2), frame="body")
    model.port("hand", "a", at=(0.1, 0, 0.2), frame="body")
    system = model.assemble()
    assert system.check().ok
    q, v, _ = system.split(system.initial_state())
    run = ph.simulate(system, ph.MidpointGGL(), 1e-4, 2e-4, inputs={"motor": 0.1})
    rate = np.diff(coordinate(run, joint)) / 1e-4
    y = (system.Bt(q).T @ v)[system.ports["motor"]]
    assert y == pytest.approx(rate[0], abs=1e-2)
    rng = np.random.default_rng(3)
    q, v, u = q + 0.1 * rng.normal(size=q.size), rng.normal(size=q.size), rng.normal(size=system.width)
    full, rate = system.to_kernel(q), system.to_kernel(v, rate=True)
    found = precise_jacobian(lambda at: system.Bt(at) @ u, q)
    assert np.abs(found - system.loads.force_slope(full, u).toarray()).max() < 1e-8
    found = precise_jacobian(lambda at: system.Bt(at).T @ v, q)
    assert np.abs(found - system.loads.output_slope(full, rate)).max() < 1e-8
    q, v, _ = system.split(system.initial_state())
    y = system.Bt(q).T @ v
    for k, place in enumerate(system.ports.values()):
        one = [system.to_kernel(q)[None, :-1], system.to_kernel(v, rate=True)[None, :-1]]
        assert np.abs(system.loads.rates(k, *one)[0] - y[place]).max() < 1e-13


@pytest.mark.parametrize("joint", ["revolute", "prismatic"])
def test_all_schemes_reach_the_same_state(joint):
    model = flyers(joint)
    model.load("jet", "b", force=(1, 2, 3), at=(0.1, 0, 0.2), frame="body")
    inputs = {"motor": lambda t: 0.3 * np.sin(9 * t)}
    reference = ph.simulate(model, ph.Composition(ph.MidpointGGL(), order=6), 0.02, 0.1, inputs=inputs)
    assert np.abs(reference.power_balance).max() < 1e-12
    for scheme in (ph.Gauss(3), ph.LobattoPair(4), ph.HEDOP5(), ph.DiscreteGradient()):
        run = ph.simulate(model, scheme, 0.01, 0.1, inputs=inputs)
        limit = 2e-3 if isinstance(scheme, ph.DiscreteGradient) else 1e-7
        assert np.abs(run.q[-1] - reference.q[-1]).max() < limit, scheme
        if isinstance(scheme, ph.DiscreteGradient):
            assert np.abs(run.power_balance).max() < 1e-11


def test_controllers_see_the_rate_of_the_joint_and_the_mechanism():
    seen = []

    def two(t, y):
        seen.append((t, y))
        return -0.3 * y

    model = pendulum()
    model.load("jet", "lower", force=(3, 0, 1), at=(0.1, 0, 0.2), frame="body")
    system = model.assemble()
    inputs = {
        "motor of the shoulder": ph.Sampled(lambda t, y, state: -9 * state.angle("shoulder") - y, period=0.05),
        "motor of the elbow": two,
    }
    run = ph.simulate(system, ph.MidpointGGL(), 0.01, 0.5, inputs=inputs)
    for n, (t, y) in enumerate(seen):
        assert t == pytest.approx((n + 0.5) * 0.01)
        assert y == pytest.approx((system.Bt(run.q[n]).T @ run.v[n])[system.ports["motor of the elbow"]][0], abs=1e-12)
    assert np.abs(run.power_balance).max() < 1e-12
    assert np.ptp(run.port("motor of the shoulder").work) > 1e-3


def test_an_interconnected_damper_takes_what_the_joint_gives():
    damper = ph.LinearPHDAE("damper", J=[[0]], Q=[[2.0]], B=[[1]], S=[[0.5]], states=["angle"], ports=["rate"],
                            initial=[0.0])  # fmt: skip
    model = pendulum(ports=("elbow",))
    model.load("push", "lower", force=(4, 0, 0))
    whole = ph.interconnect(model.assemble(), damper, through=ph.Feedback("motor of the elbow", "rate"))
    run = ph.simulate(whole, ph.Gauss(2), 0.01, 0.2)
    coil = pendulum(ports=())
    coil.load("push", "lower", force=(4, 0, 0))
    coil.torsion_spring("coil", "elbow", stiffness=2.0, damping=0.5)
    same = ph.simulate(coil, ph.Composition(ph.MidpointGGL()), 0.01, 0.2)
    assert np.abs(run.part("robot")["lower"].position - same["lower"].position).max() < 1e-7


@schemes
def test_a_jet_turns_with_its_body(scheme):
    """A disc pushed along its own axis in the plane: it flies a clothoid; and the balance closes."""
    from scipy.special import fresnel

    model = ph.Model("jet")
    model.body("disc", ph.Cylinder(2.0, 0.3, 0.1), rotation=((0, 0, 1), 0.4))
    model.load("jet", "disc", force=(3.0, 0, 0), frame="body")
    model.load("turn", "disc", torque=(0, 0, 0.045), frame="body")  # J = 0.09
    run = ph.simulate(model, scheme, 0.01, 4.0)
    # speed along e(s^2/4 + 0.4): v' = 1.5 e, spin 0.5 t
    z = np.sqrt(2 / np.pi) * 0.5 * run.t
    S, C = fresnel(z)
    velocity = 1.5 * np.sqrt(np.pi / 2) * 2 * np.exp(0.4j) * (C + 1j * S)
    found = run["disc"].velocity[:, 0] + 1j * run["disc"].velocity[:, 1]
    assert np.abs(found - velocity).max() < (1e-8 if isinstance(scheme, ph.Composition) else 1e-4)
    assert np.abs(run.power_balance).max() < 1e-12
    assert np.abs(np.linalg.norm(run.port("jet").force, axis=1) - 3.0).max() < 1e-12


def test_files_keep_ports_in_joints_and_frames(tmp_path):
    model = flyers("cylindrical slide")
    model.load("jet", "b", force=(1, 2, 3), at=(0.1, 0, 0.2), frame="body")
    model.port("hand", "a", kind="torque", direction=(0, 0, 1), frame="body")
    again = ph.load_model(model.save(tmp_path / "m.yaml"))
    assert again.ports[0] == model.ports[0] == JointPort("motor", "elbow", "force")
    runs = [ph.simulate(m, ph.Midpoint(), 0.01, 0.1, inputs={"motor": 1.0, "hand": 0.1}) for m in (model, again)]
    assert np.array_equal(runs[0].q, runs[1].q)
    runs[0].save(tmp_path / "run.nc")
    loaded = ph.load(tmp_path / "run.nc")
    assert np.array_equal(loaded.port("jet").force, runs[0].port("jet").force)
    assert "a \N{EN DASH} b" in loaded.report(tmp_path / "run.html").read_text()
    text = str(model.equations())
    assert "Port 'motor' in the joint 'elbow', on 'b' and back, 1 input." in text
    assert "F = (d_1, d_2, d_3)" in text and r"\boldsymbol{d}_1" in model.equations().latex


def test_a_run_with_a_motor_is_resumed_bit_by_bit(tmp_path):
    stop = threading.Event()

    def control(t, y):
        if t > 0.5 and not stop.is_set():
            stop.set()
            signal.raise_signal(signal.SIGINT)
        return 0.1 - 0.2 * y

    given, file = {"model": flyers(), "scheme": ph.MidpointGGL(), "step": 0.01, "end": 1.0}, tmp_path / "run.nc"
    with pytest.raises(KeyboardInterrupt):
        ph.simulate(**given, inputs={"motor": control}, out=file)
    run = ph.resume(file, inputs={"motor": control})
    whole = ph.simulate(**given, inputs={"motor": control})
    assert np.array_equal(run.q, whole.q) and np.array_equal(run.raw.work[:], whole.raw.work)


def test_what_does_not_fit_is_refused_by_name():
    model = flyers("cylindrical")
    model.point_mass("bead", 1.0, position=(1, 0, 0))
    model.spherical("ball", "ground", "bead", at=(1, 0, 0))
    with pytest.raises(ModelError, match=r"joint port 'm': joint: expected a revolute, .* found the spherical joint"):
        model.joint_port("m", "ball")
    with pytest.raises(ModelError, match=r"joint port 'm': kind: expected 'torque' or 'force' in the cyl.*found None"):
        model.joint_port("m", "elbow")
    with pytest.raises(ModelError, match=r"joint port 'm': joint: expected a joint .*found no 'knee'"):
        model.joint_port("m", "knee")
    with pytest.raises(ModelError, match="load 'l': frame: expected 'world' on the point mass 'bead'"):
        model.load("l", "bead", force=(1, 0, 0), frame="body")
    with pytest.raises(ModelError, match="load 'l': frame: expected 'world' or 'body', found 'bead'"):
        model.load("l", "a", force=(1, 0, 0), frame="bead")
    with pytest.raises(ModelError, match="kind: expected 'torque' in the revolute joint 'elbow', found 'force'"):
        pendulum().joint_port("m", "elbow", kind="force")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{kind: torque}", "port 'm': expected the key 'body' or 'joint', found only 'kind'"),
        ("{joint: hinge, direction: [0, 0, 1]}", "port 'm': a port with 'joint' has no key 'direction'"),
        ("{joint: hinge, kind: force}", "joint port 'm': kind: expected 'torque' in the revolute joint 'hinge'"),
    ],
)
def test_files_say_what_a_port_lacks(tmp_path, entry, message):
    path = tmp_path / "m.yaml"
    body = "bodies:\n  bar: {shape: rod, mass: 1, length: 1}\n"
    joint = "joints:\n  hinge: {kind: revolute, a: ground, b: bar, at: [0, 0, 0], axis: [0, 1, 0]}\n"
    path.write_text(f"name: m\n{body}{joint}ports:\n  m: {entry}\n")
    with pytest.raises(ModelFileError, match=message):
        ph.load_model(path)
