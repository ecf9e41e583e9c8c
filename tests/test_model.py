"""What the user says is what is computed: inertias, frames, initial values, and their projection onto the joints."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import root
from scipy.spatial.transform import Rotation

import porthos as ph
from porthos.model.bodies import rotation_matrix

# --- inertias


def legendre(count, low, high):
    """Points and weights of Gauss-Legendre quadrature on an interval."""
    x, w = np.polynomial.legendre.leggauss(count)
    return (high + low) / 2 + (high - low) / 2 * x, (high - low) / 2 * w


def tensor_of(points, weights, mass):
    """J = int rho (|X|^2 I - X X^T) dV for a homogeneous body of this mass, by quadrature."""
    rho = mass / weights.sum()
    second = rho * np.einsum("p,pi,pj->ij", weights, points, points)
    return np.trace(second) * np.eye(3) - second


def grid(*rules):
    """Points (P, n) and weights (P,) of a product of one-dimensional rules."""
    points = np.stack(np.meshgrid(*(x for x, _ in rules), indexing="ij"), axis=-1).reshape(-1, len(rules))
    weights = np.ones(1)
    for _, w in rules:
        weights = np.outer(weights, w).ravel()
    return points, weights


def box_rule(*edges):
    point = (np.zeros(1), np.ones(1))  # of an edge without length
    return grid(*(legendre(3, -edge / 2, edge / 2) if edge else point for edge in edges))


def around(axis, xyz):
    """Points around z turned so that z becomes `axis`."""
    return np.roll(xyz, {"z": 0, "x": 1, "y": 2}[axis], axis=1)


def tube_rule(inner, outer, length, axis):
    (s, w) = grid(legendre(4, inner, outer), legendre(16, 0, 2 * np.pi), legendre(3, -length / 2, length / 2))
    r, angle, z = s.T
    return around(axis, np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1)), w * r


def ball_rule(radius):
    (s, w) = grid(legendre(4, 0, radius), legendre(4, -1, 1), legendre(16, 0, 2 * np.pi))
    r, u, angle = s.T  # u is the cosine of the polar angle
    rho = r * np.sqrt(1 - u * u)
    return np.stack([rho * np.cos(angle), rho * np.sin(angle), r * u], axis=1), w * r * r


def rod_rule(length, axis):
    z, w = legendre(3, -length / 2, length / 2)
    return around(axis, np.stack([0 * z, 0 * z, z], axis=1)), w


SHAPES = [
    (ph.Box(1.3, (0.4, 0.7, 1.1)), box_rule(0.4, 0.7, 1.1)),
    (ph.Box(0.2, (0.4, 0.0, 1.1)), box_rule(0.4, 0.0, 1.1)),
    (ph.Sphere(2.1, 0.3), ball_rule(0.3)),
    *[(ph.Cylinder(0.9, 0.2, 0.8, axis=x), tube_rule(0.0, 0.2, 0.8, x)) for x in "xyz"],
    *[(ph.HollowCylinder(0.9, 0.15, 0.2, 0.8, axis=x), tube_rule(0.15, 0.2, 0.8, x)) for x in "xyz"],
    *[(ph.Rod(0.7, 1.5, axis=x), rod_rule(1.5, x)) for x in "xyz"],
]


@pytest.mark.parametrize(("shape", "rule"), SHAPES, ids=lambda x: repr(x) if isinstance(x, ph.Inertia) else "")
def test_inertia_of_shapes_by_quadrature(shape, rule):
    points, weights = rule
    expected = tensor_of(points, weights, shape.mass)
    assert np.abs(shape.tensor - expected).max() < 2e-14 * np.abs(expected).max()


def test_inertia_of_shapes_by_formula():
    m, a, b, c, r, R, L = 1.3, 0.4, 0.7, 1.1, 0.15, 0.2, 0.8
    box = m / 12 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    assert np.allclose(ph.Box(m, (a, b, c)).tensor, np.diag(box), rtol=1e-15)
    assert np.allclose(ph.Sphere(m, R).tensor, 2 / 5 * m * R**2 * np.eye(3), rtol=1e-15)
    along, across = m / 2 * R**2, m / 4 * R**2 + m / 12 * L**2
    assert np.allclose(ph.Cylinder(m, R, L, axis="x").tensor, np.diag([along, across, across]), rtol=1e-15)
    along, across = m / 2 * (r**2 + R**2), m / 4 * (r**2 + R**2) + m / 12 * L**2
    assert np.allclose(ph.HollowCylinder(m, r, R, L, axis="y").tensor, np.diag([across, along, across]), rtol=1e-15)
    assert np.allclose(ph.Rod(m, L).tensor, np.diag([m / 12 * L**2, m / 12 * L**2, 0]), rtol=1e-15)
    thin = ph.HollowCylinder(m, R, R, L).tensor
    assert np.allclose(thin, np.diag([m / 2 * R**2 + m / 12 * L**2] * 2 + [m * R**2]), rtol=1e-15)


def test_moments_may_be_given_alone():
    assert np.array_equal(ph.Inertia(1.0, (1.0, 2.0, 2.5)).tensor, np.diag([1.0, 2.0, 2.5]))


@given(
    moments=st.tuples(*[st.floats(0.1, 1.0)] * 3),
    turn=st.tuples(*[st.floats(-3.0, 3.0)] * 3),
)
def test_principal_axes(moments, turn):
    """J = Q diag(moments) Q^T with a proper rotation Q, for any tensor that a distribution of mass has."""
    second = np.array(moments)
    Q = Rotation.from_rotvec(turn).as_matrix()
    J = Q @ np.diag(second.sum() - second) @ Q.T
    found, axes = ph.Inertia(1.0, (J + J.T) / 2).principal()
    assert np.abs(axes @ np.diag(found) @ axes.T - J).max() < 1e-14 * np.abs(J).max()
    assert np.abs(axes.T @ axes - np.eye(3)).max() < 1e-14
    assert np.linalg.det(axes) == pytest.approx(1.0, abs=1e-14)
    assert np.abs(np.sort(found) - np.sort(second.sum() - second)).max() < 2e-14


# --- rotations and frames


@given(
    axis=st.tuples(*[st.floats(-1.0, 1.0)] * 3).filter(lambda a: np.linalg.norm(a) > 0.1),
    angle=st.floats(-6.0, 6.0),
    length=st.floats(0.1, 10.0),
)
def test_rotation_as_matrix_quaternion_and_axis_angle(axis, angle, length):
    n = np.array(axis) / np.linalg.norm(axis)
    reference = Rotation.from_rotvec(angle * n).as_matrix()
    quaternion = length * np.array([np.cos(angle / 2), *(np.sin(angle / 2) * n)])
    for value in (reference, quaternion, -quaternion, (axis, angle), (tuple(5 * n), angle)):
        R = rotation_matrix(value)
        assert np.abs(R - reference).max() < 4e-15
        assert np.abs(R.T @ R - np.eye(3)).max() < 4e-15


def test_no_rotation():
    assert np.array_equal(rotation_matrix(None), np.eye(3))
    assert np.array_equal(rotation_matrix((1, 0, 0, 0)), np.eye(3))


TURN = Rotation.from_rotvec([0.4, -0.9, 1.3]).as_matrix()  # body frame of the user
TILT = Rotation.from_rotvec([-0.3, 0.5, 0.8]).as_matrix()  # principal axes in that frame
MOMENTS = np.array([0.02, 0.05, 0.04])
OMEGA = np.array([1.0, 5.0, -2.0])


@pytest.mark.parametrize("scheme", [ph.Midpoint(), ph.MidpointGGL()], ids=["midpoint", "ggl"])
def test_inclined_tensor_is_the_same_body_in_principal_axes(scheme):
    """A free body and a pendulum, described in two frames that differ by the rotation TILT."""

    def run(inertia, rotation):
        model = ph.Model("frames", gravity=(0, 0, -9.81))
        state = {"rotation": rotation, "angular_velocity": OMEGA}
        model.body("free", inertia, **state)
        model.body("held", inertia, position=(0.3, 0.1, 0), velocity=np.cross(OMEGA, (0.3, 0.1, 0)), **state)
        model.spherical("pin", model.ground, "held", at=(0, 0, 0))
        model.load("push", "held", force=lambda t: (np.sin(t), 0, 1), at=(0.5, 0.1, 0.2))
        return ph.simulate(model, scheme, step=0.01, end=1.0)

    inclined = run(ph.Inertia(1.2, TILT @ np.diag(MOMENTS) @ TILT.T), TURN)
    principal = run(ph.Inertia(1.2, MOMENTS), TURN @ TILT)
    for name in ("free", "held"):
        a, b = inclined[name], principal[name]
        assert np.abs(a.position - b.position).max() < 1e-12
        assert np.abs(a.velocity - b.velocity).max() < 1e-12
        assert np.abs(a.angular_velocity - b.angular_velocity).max() < 1e-11
        assert np.abs(a.rotation @ TILT - b.rotation).max() < 1e-12
        assert np.abs(a.rotation[0] - TURN).max() < 1e-15  # the frame of the user comes back
        assert np.abs(a.point((0.1, 0.2, 0.3)) - b.point(TILT.T @ (0.1, 0.2, 0.3))).max() < 1e-12
    assert np.abs(inclined["free"].rotation[-1] - TURN).max() > 0.5  # it did turn
    arm_speed = np.linalg.norm(np.cross(OMEGA, (0.3, 0.1, 0)))
    spatial = TURN @ TILT @ np.diag(MOMENTS) @ TILT.T @ TURN.T
    energy = 2 * (OMEGA @ spatial @ OMEGA) / 2 + 1.2 * arm_speed**2 / 2
    assert inclined.kinetic_energy[0] == pytest.approx(energy, rel=1e-14)
    assert np.abs(inclined.joint("pin").force - principal.joint("pin").force).max() < 1e-9


def test_free_body_keeps_its_angular_momentum_in_the_frame_of_the_user():
    """L = R J R^T omega with the user's J and R at all times."""
    J = TILT @ np.diag(MOMENTS) @ TILT.T
    model = ph.Model("free")
    model.body("top", ph.Inertia(1.2, J), rotation=TURN, angular_velocity=OMEGA)
    run = ph.simulate(model, ph.MidpointGGL(), step=0.005, end=1.0)
    R, omega = run["top"].rotation, run["top"].angular_velocity
    L = np.einsum("tij,jk,tlk,tl->ti", R, J, R, omega)
    start = TURN @ J @ TURN.T @ OMEGA
    assert np.abs(L - start).max() < 1e-13
    assert np.abs(run.angular_momentum - start).max() < 1e-13


# --- initial values


@given(
    rotation=st.tuples(*[st.floats(-3.0, 3.0)] * 3),
    velocity=st.tuples(*[st.floats(-10.0, 10.0)] * 3),
    omega=st.tuples(*[st.floats(-10.0, 10.0)] * 3),
)
def test_initial_values_come_back(rotation, velocity, omega):
    model = ph.Model("given")
    R = Rotation.from_rotvec(rotation).as_matrix()
    arm = np.array([0.3, -0.2, 0.5])
    model.body("free", ph.Inertia(1.2, TILT @ np.diag(MOMENTS) @ TILT.T), (1, 2, 3), R, velocity, omega)
    model.body("held", ph.Box(1, (0.1, 0.2, 0.3)), arm, R, np.cross(omega, arm), omega)
    model.point_mass("bead", 0.1, position=(0, 0, 5), velocity=velocity)
    model.spherical("pin", model.ground, "held", at=(0, 0, 0))
    system = model.assemble(initial="refuse")
    assert system.adjustments == ()
    run = ph.simulate(system, ph.Midpoint(), 1e-3, 1e-3)
    for name, v in (("free", velocity), ("held", np.cross(omega, arm)), ("bead", velocity)):
        assert np.abs(run[name].velocity[0] - v).max() < 1e-14
    for name in ("free", "held"):
        assert np.abs(run[name].angular_velocity[0] - omega).max() < 2e-14
        assert np.abs(run[name].rotation[0] - R).max() < 1e-15
    assert np.array_equal(run["free"].position[0], (1, 2, 3))
    assert np.array_equal(run["free"].velocity[0], velocity)
    assert np.array_equal(run["bead"].position[0], (0, 0, 5))
    assert np.array_equal(run["bead"].velocity[0], velocity)
    assert np.array_equal(run["bead"].rotation[0], np.eye(3))
    assert np.array_equal(run["bead"].angular_velocity[0], np.zeros(3))


SIZE_A, SIZE_B = np.array([0.4, 0.1, 0.2]), np.array([0.3, 0.15, 0.25])
POSITIONS = np.array([[0.3, 0.0, 0.0], [1.0, 0.2, 0.1]])
ROTATIONS = np.array([rotation_matrix(((1, 2, 3), 0.5)), rotation_matrix(((0, 1, 1), -0.4))])
MASSES = np.array([2.0, 0.7])
EULER = MASSES[:, None] * np.array([SIZE_A, SIZE_B]) ** 2 / 12  # int rho X_i^2 dV
PIN, AXIS, ELBOW = np.zeros(3), np.array([0.0, 1.0, 0.2]) / np.hypot(1.0, 0.2), np.array([0.65, 0.1, 0.05])
GAP_A, GAP_B = np.array([1.0, 0.5, -0.7]), np.array([-0.4, 1.0, 0.3])


def arm(gap=0.0, twists=None):
    """A box on a hinge and a box on a ball joint, their points apart by about `gap`."""
    twists = np.zeros((2, 6)) if twists is None else twists
    model = ph.Model("arm")
    for k, (name, size) in enumerate((("upper", SIZE_A), ("lower", SIZE_B))):
        model.body(name, ph.Box(MASSES[k], size), POSITIONS[k], ROTATIONS[k], twists[k, :3], twists[k, 3:])
    model.revolute("hinge", model.ground, "upper", at=PIN, at_b=PIN + gap * GAP_A, axis=AXIS)
    model.spherical("elbow", "upper", "lower", at=ELBOW, at_b=ELBOW + gap * GAP_B)
    return model


def placed(system):
    """Positions (2, 3), rotations (2, 3, 3), velocities and angular velocities (2, 3) at the start."""
    run = ph.simulate(system, ph.Midpoint(), 1e-6, 1e-6)
    views = [run["upper"], run["lower"]]
    return [np.array([getattr(x, key)[0] for x in views]) for key in
            ("position", "rotation", "velocity", "angular_velocity")]  # fmt: skip


def nearest_placement(system):
    """The consistent placement nearest to the given one in the mass metric, min (q - q*)^T M (q - q*)/2.

    Solves M (q - q*) + G^T lambda = 0, g = 0 in all 24 coordinates, rigidity included: not the way Porthos goes.
    """
    M = np.repeat(np.concatenate([MASSES[:, None], EULER], axis=1).ravel(), 3)
    given = np.concatenate([POSITIONS[:, None], ROTATIONS.transpose(0, 2, 1)], axis=1).ravel()

    def stationary(y):
        q, multipliers = y[:24], y[24:]
        return np.concatenate([M * (q - given) + system.G(q).T @ multipliers, system.g(q)])

    found = root(stationary, np.concatenate([given, np.zeros(system.m)]), tol=1e-15)
    assert np.abs(stationary(found.x)).max() < 1e-15
    q = found.x[:24].reshape(2, 4, 3)
    return q[:, 0], q[:, 1:].transpose(0, 2, 1)


@pytest.mark.parametrize("gap", [2e-3, 2e-4, 2e-5])
def test_projection_of_positions_is_mass_weighted(gap):
    """The optimum up to terms of second order in the gap."""
    system = arm(gap).assemble()
    x, R, _, _ = placed(system)
    best_x, best_R = nearest_placement(system)
    assert np.abs(x - POSITIONS).max() > 0.3 * gap
    assert np.abs(x - best_x).max() < 30 * gap**2
    assert np.abs(R - best_R).max() < 30 * gap**2
    assert np.abs(system.g(system.initial_state()[: system.n])).max() < 2e-15


def test_projection_reports_what_it_moved():
    gap = 2e-3
    system = arm(gap).assemble()
    x, R, _, _ = placed(system)
    assert [a.body for a in system.adjustments] == ["upper", "lower"]
    for k, moved in enumerate(system.adjustments):
        assert moved.position == pytest.approx(np.linalg.norm(x[k] - POSITIONS[k]), rel=1e-12)
        turn = Rotation.from_matrix(R[k] @ ROTATIONS[k].T).magnitude()
        assert moved.rotation == pytest.approx(turn, rel=1e-8)
        assert (moved.velocity, moved.angular_velocity) == (0.0, 0.0)
        assert f"'{moved.body}': position by {moved.position:.3e}" in str(moved)


def nearest_twists(twists):
    """The least-squares solution t = t* - M^-1 C^T (C M^-1 C^T)^-1 C t* with constraints written out by hand."""

    def cross(r):
        return np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])

    M = np.zeros((12, 12))
    for k in range(2):
        body = np.trace(np.diag(EULER[k])) * np.eye(3) - np.diag(EULER[k])
        M[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = MASSES[k] * np.eye(3)
        M[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = ROTATIONS[k] @ body @ ROTATIONS[k].T
    C = np.zeros((8, 12))
    C[:3, :6] = np.hstack([np.eye(3), -cross(PIN - POSITIONS[0])])
    C[3:5, 3:6] = np.linalg.svd(AXIS[None])[2][1:]  # no rotation across the axis
    C[5:, :6] = -np.hstack([np.eye(3), -cross(ELBOW - POSITIONS[0])])
    C[5:, 6:] = np.hstack([np.eye(3), -cross(ELBOW - POSITIONS[1])])
    t = twists.ravel()
    W = np.linalg.inv(M)
    return (t - W @ C.T @ np.linalg.solve(C @ W @ C.T, C @ t)).reshape(2, 6)


def test_projection_of_velocities_is_the_least_squares_solution():
    twists = np.random.default_rng(7).normal(size=(2, 6))
    system = arm(twists=twists).assemble()
    x, R, v, omega = placed(system)
    best = nearest_twists(twists)
    assert np.abs(np.hstack([v, omega]) - best).max() < 1e-14
    assert np.abs(best - twists).max() > 0.5
    assert np.abs(x - POSITIONS).max() < 1e-15
    assert np.abs(R - ROTATIONS).max() < 1e-15
    for k, moved in enumerate(system.adjustments):
        assert moved.body == ("upper", "lower")[k]
        assert moved.velocity == pytest.approx(np.linalg.norm(best[k, :3] - twists[k, :3]), rel=1e-12)
        assert moved.angular_velocity == pytest.approx(np.linalg.norm(best[k, 3:] - twists[k, 3:]), rel=1e-12)
        assert moved.position < 1e-15
        assert moved.rotation < 1e-15


def test_only_the_bodies_moved_are_reported():
    model = arm()
    model.body("apart", ph.Sphere(1, 0.1), position=(0, 0, 9), velocity=(1, 2, 3), angular_velocity=(4, 5, 6))
    model.body("wrong", ph.Sphere(1, 0.1), position=(0, 5, 9), velocity=(0, 0, 1e-3))
    model.fixed("weld", model.ground, "wrong", at=(0, 5, 9))
    (moved,) = model.assemble().adjustments
    assert (moved.body, moved.position, moved.rotation, moved.angular_velocity) == ("wrong", 0.0, 0.0, 0.0)
    assert moved.velocity == pytest.approx(1e-3, rel=1e-12)


def test_consistent_values_are_not_moved():
    spin, omega = 0.8 * AXIS, np.array([-0.5, 0.1, 2.0])
    at_elbow = np.cross(spin, ELBOW)
    upper = [*np.cross(spin, POSITIONS[0]), *spin]
    lower = [*(at_elbow + np.cross(omega, POSITIONS[1] - ELBOW)), *omega]
    twists = np.array([upper, lower])
    system = arm(twists=twists).assemble(initial="refuse")
    x, R, v, omega = placed(system)
    assert system.adjustments == ()
    assert np.abs(x - POSITIONS).max() <= 1e-15
    assert np.abs(R - ROTATIONS).max() <= 1e-15
    assert np.abs(np.hstack([v, omega]) - twists).max() <= 1e-15


def test_state_at_rest_on_round_numbers_is_kept_to_the_bit():
    model = ph.Model("round", gravity=(0, 0, -9.81))
    model.body("bar", ph.Box(1, (2, 0.5, 0.25)), position=(1, 0, 0))
    model.body("end", ph.Box(1, (2, 0.5, 0.25)), position=(3, 0, 0))
    model.revolute("A", model.ground, "bar", at=(0, 0, 0), axis=(0, 1, 0))
    model.spherical("B", "bar", "end", at=(2, 0, 0))
    q, v = model.assemble().initial_arrays()
    assert np.array_equal(q[:, 0], [(1, 0, 0), (3, 0, 0), (0, 0, 0)])
    assert np.array_equal(q[:, 1:], np.tile(np.eye(3), (3, 1, 1)))
    assert not v.any()


def test_parts_and_names():
    model = arm()
    assert repr(model) == "Model('arm': 2 bodies, 2 joints, 0 elements, 0 loads, 0 ports)"
    assert [body.name for body in model.bodies] == ["upper", "lower"]
    assert [(joint.name, joint.kind, joint.a, joint.b) for joint in model.joints] == [
        ("hinge", "revolute", "ground", "upper"),
        ("elbow", "spherical", "upper", "lower"),
    ]
    load = model.load("push", model.bodies[0], force=(1, 2, 3))
    port = model.port("motor", "lower", kind="torque", direction=(0, 0, 2))
    assert model.loads == (load,)
    assert model.ports == (port,)
    assert np.array_equal(load.wrench_basis(), np.eye(6)[:, :3])
    assert np.array_equal(port.wrench_basis(), np.eye(6)[:, 5:])
