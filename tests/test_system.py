"""The pH-DAE view of assembled models: matrices, ports, check, and the special bodies (flat, rod, point mass)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.integrate import solve_ivp
from scipy.linalg import null_space
from scipy.special import ellipk

import porthos as ph
from porthos.model.bodies import rotation_matrix
from porthos.system.mechanical import MechanicalSystem
from porthos.system.repeats import reduced_jacobian

G = 9.81


def pendulum(shape: ph.Inertia, lever: float, **more) -> ph.Model:
    """A body released from the horizontal, hinged about the y axis at the origin."""
    model = ph.Model("pendulum", gravity=(0, 0, -G))
    model.body("bob", shape, position=(lever, 0, 0), **more)
    model.revolute("hinge", model.ground, "bob", at=(0, 0, 0), axis=(0, 1, 0))
    return model


def test_matrices_of_form_24_and_their_shapes():
    system = pendulum(ph.Box(1.0, (0.2, 0.1, 0.3)), 0.5).assemble()
    x = system.initial_state()
    assert (system.n, system.m, system.dimension) == (12, 11, 35)
    E, J, z = system.E(x).toarray(), system.J(x).toarray(), system.z(x)
    Gq = system.G(x[:12]).toarray()
    assert np.array_equal(E, np.diag(np.r_[np.ones(12), system.mass_diagonal, np.zeros(11)]))
    assert np.array_equal(J[:12, 12:24], np.eye(12))
    assert np.array_equal(J[24:, 12:24], Gq)
    assert np.array_equal(J, -J.T)
    assert np.array_equal(z[:12], np.r_[0, 0, G, np.zeros(9)])
    assert all(sparse.issparse(M) for M in (system.E(x), system.J(x), system.R(x), system.B(x)))


def test_initial_multipliers_solve_the_equations_of_motion():
    """E x' = J z has a solution x' with consistent accelerations: at rest in the horizontal, a_z = -g m l^2/J."""
    shape = ph.Box(2.0, (0.2, 0.1, 0.3))
    system = pendulum(shape, 0.5).assemble()
    x = system.initial_state()
    flow = system.J(x) @ system.z(x)
    acceleration = flow[12:24] / system.mass_diagonal
    inertia = shape.tensor[1, 1] + 2.0 * 0.25
    assert acceleration[:3] == pytest.approx([0, 0, -G * 2.0 * 0.25 / inertia], abs=1e-12)
    assert flow[24:] == pytest.approx(np.zeros(11), abs=1e-12)  # G v = 0


@pytest.mark.parametrize("torque_map", ["exact", "printed"])
def test_port_matrix_transmits_wrench_and_twist(torque_map):
    """sum d_i x f_i = r x F + tau and B^T v = (v_P, omega), exact in continuous time for both maps."""
    model = ph.Model("free")
    omega, velocity, at = np.array([1.0, -2, 0.5]), np.array([0.3, 0.2, 0.1]), np.array([0.4, 0.3, 0.9])
    position = np.array([0.1, 0.2, 0.3])
    model.body("b", ph.Box(1, (1, 2, 3)), position=position, rotation=((1, 1, 2), 0.4), velocity=velocity,
               angular_velocity=omega)  # fmt: skip
    model.port("P", "b", at=at, torque_map=torque_map)
    system = model.assemble()
    x = system.initial_state()
    F, tau = np.array([1.0, 2, 3]), np.array([-1.0, 0.5, 2])
    f = (system.Bt(x[:12]) @ np.r_[F, tau]).reshape(4, 3)
    d = x[3:12].reshape(3, 3)
    assert f[0] == pytest.approx(F)
    assert np.cross(d, f[1:]).sum(axis=0) == pytest.approx(np.cross(at - position, F) + tau, abs=1e-13)
    assert system.y(x) == pytest.approx(np.r_[velocity + np.cross(omega, at - position), omega], abs=1e-13)


def test_ggl_port_sees_the_velocity_of_the_coordinates():
    model = pendulum(ph.Box(1.0, (0.2, 0.1, 0.3)), 0.5)
    model.port("P", "bob", at=(1, 0, 0))
    system = model.assemble()
    x = np.r_[system.initial_state(), np.random.default_rng(0).normal(size=system.m)]
    q_rate = (system.ggl.J(x) @ system.ggl.z(x))[:12]
    assert system.ggl.y(x) == pytest.approx(system.Bt(x[:12]).T @ q_rate, abs=1e-12)


@pytest.mark.parametrize("scheme", [ph.Midpoint(), ph.MidpointGGL()], ids=["PH-MP", "GGL"])
def test_exact_torque_map_transmits_the_whole_impulse(scheme):
    """A free body under a torque: L grows by h tau in every step; the printed map (32) misses part of it."""
    gains = {}
    for torque_map in ("exact", "printed"):
        model = ph.Model("spun")
        model.body("b", ph.Box(1, (1, 2, 3)), rotation=((1, 1, 2), 0.4), angular_velocity=(5, 3, -4))
        model.load("twist", "b", force=(1, 0, 0.5), torque=(1, 2, 3), at=(0, 0, 0), torque_map=torque_map)
        run = ph.simulate(model, scheme, 0.05, 1.0)
        gains[torque_map] = np.diff(run.angular_momentum - np.cross(run["b"].position, run.linear_momentum), axis=0)
        assert np.abs(run.power_balance).max() < 1e-13 * run.energy.max()
    assert gains["exact"] == pytest.approx(np.tile(0.05 * np.array([1.0, 2, 3]), (20, 1)), abs=1e-12)
    assert np.abs(gains["printed"] - gains["exact"]).max() > 1e-4


class Tampered(MechanicalSystem):
    """A system with one thing wrong."""

    fault = ""

    def J(self, x, t=0.0):
        J = super().J(x).tolil()
        if self.fault == "J":
            J[13, 30] += 1e-3
        return sparse.csr_array(J)

    def R(self, x, t=0.0):
        R = sparse.lil_array((self.dimension, self.dimension))
        if self.fault == "R":
            R[13, 13] = -0.1
        if self.fault == "R symmetric":
            R[13, 14] = 0.1
        return sparse.csr_array(R)

    def z(self, x, t=0.0):
        z = super().z(x)
        z[2] *= 1.01 if self.fault == "z" else 1.0
        return z

    def G(self, q):
        factor = 2.0 if self.fault == "G" else 1.0
        return super().G(q) * factor


@pytest.mark.parametrize(
    ("fault", "name", "where"),
    [
        ("J", "J skew", "block (v of 'bob', joint 'hinge')"),
        ("R", "R >= 0", "lowest eigenvalue -1"),
        ("R symmetric", "R symmetric", "(13, 14)"),
        ("z", "E^T z = grad H", "x[2] (q of 'bob')"),
        ("G", "G = dg/dq", "'bob'"),
    ],
)
def test_check_names_the_property_that_fails_and_where(fault, name, where):
    system = pendulum(ph.Box(1.0, (0.2, 0.1, 0.3)), 0.5).assemble()
    assert system.check().require().ok
    system.__class__ = type("Faulty", (Tampered,), {"fault": fault})
    report = system.check()
    assert not report.ok
    assert not report[name].ok
    assert where in report[name].where
    assert f"FAIL {name}" in str(report)
    with pytest.raises(ph.StructureError, match="NOT a valid system"):
        report.require()


def test_check_finds_positions_off_the_constraints_and_redundant_rows():
    system = pendulum(ph.Box(1.0, (0.2, 0.1, 0.3)), 0.5).assemble()
    x = system.initial_state()
    x[0] += 1e-3
    assert not system.check(x)["g(q) = 0"].ok
    assert "joint 'hinge'" in system.check(x)["g(q) = 0"].where
    model = pendulum(ph.Box(1.0, (0.2, 0.1, 0.3)), 0.5)
    model.spherical("again", "ground", "bob", at=(0, 0.1, 0))
    rank = model.assemble().check()["G has full rank"]
    assert not rank.ok
    assert "rank 11 of 14 rows" in rank.where
    assert "joint 'again'" in rank.where


def test_flow_and_its_derivative_are_those_of_the_matrices():
    """Rigid bodies, a hinge, a link (a row that is quadratic in both bodies) and a force, at a random state."""
    model = pendulum(ph.Box(1.0, (0.2, 0.1, 0.3)), 0.5)
    model.point_mass("bead", 0.3, position=(0.9, 0.2, -0.4))
    model.distance("link", "bob", "bead", point_a=(0.7, 0.1, 0), point_b=(0.9, 0.2, -0.4))
    model.port("push", "bob", kind="force", at=(0.6, 0, 0))
    system = model.assemble()
    rng = np.random.default_rng(2)
    x, rate, u = rng.normal(size=system.dimension), rng.normal(size=system.dimension), rng.normal(size=3)
    assert system.flow(x, u) == pytest.approx(ph.PHDAE.flow(system, x, u), abs=1e-12)
    wide = np.r_[x, rng.normal(size=system.m)]
    assert system.ggl.flow(wide, u) == pytest.approx(ph.PHDAE.flow(system.ggl, wide, u), rel=1e-10, abs=1e-9)
    for form in map(system.formulation, ("index 3", "index 2", "GGL")):
        x, rate = rng.normal(size=form.dimension), rng.normal(size=form.dimension)
        found = form.tangent(x, rate, u).toarray()
        assert np.abs(found - ph.PHDAE.tangent(form, x, rate, u)).max() < 1e-8, form.name


def test_wrong_length_of_a_state_is_named():
    system = pendulum(ph.Box(1.0, (0.2, 0.1, 0.3)), 0.5).assemble()
    with pytest.raises(ph.PorthosError, match=r"a state has 35 numbers.*found shape \(7,\)"):
        system.H(np.zeros(7))


def test_redundant_joints_move_as_without_them():
    """Three rows that repeat what the hinge fixes: positions and energy are the same, the run does not break."""
    single = ph.simulate(pendulum(ph.Box(1.0, (0.2, 0.1, 0.3)), 0.5), ph.Midpoint(), 0.01, 2.0)
    model = pendulum(ph.Box(1.0, (0.2, 0.1, 0.3)), 0.5)
    model.spherical("again", "ground", "bob", at=(0, 0.1, 0))
    for scheme in (ph.Midpoint(), ph.MidpointGGL()):
        run = ph.simulate(model, scheme, 0.01, 2.0)
        assert np.abs(run.energy - run.energy[0]).max() < 1e-12
        assert run.position_error.max() < 1e-13
        if isinstance(scheme, ph.Midpoint):
            assert np.abs(run["bob"].position - single["bob"].position).max() < 1e-11


FLAT = {
    "plate": ph.Box(1.0, (0.4, 0.3, 0.0)),
    "thin disc": ph.Inertia(1.0, (0.02, 0.03, 0.05)),
    "rod": ph.Rod(1.0, 0.6, axis="x"),
    "turned rod": ph.Inertia(1.0, 0.03 * (np.eye(3) - np.full((3, 3), 1 / 3))),
}


@pytest.mark.parametrize("name", FLAT)
@pytest.mark.parametrize("joint", ["revolute", "spherical", "universal"])
def test_bodies_without_thickness_swing_as_they_should(name, joint):
    """A pendulum of period 4 K(1/2)/w0 from the horizontal, w0^2 = m g l/J, with every joint that lets it swing."""
    shape = FLAT[name]
    model = ph.Model("pendulum", gravity=(0, 0, -G))
    along = np.array([1.0, 1, 1]) / np.sqrt(3)  # for the turned rod: hangs along its own axis
    rotation = None
    if name == "turned rod":
        axis = np.cross(along, [1.0, 0, 0])
        rotation = (axis, np.arccos(along @ [1.0, 0, 0]))
    model.body("bob", shape, position=(0.5, 0, 0), rotation=rotation)
    geometry = {
        "revolute": {"axis": (0, 1, 0)},
        "spherical": {},
        "universal": {"axis_a": (0, 1, 0), "axis_b": (1, 0, 0)},
    }[joint]
    getattr(model, joint)("J", model.ground, "bob", at=(0, 0, 0), **geometry)
    system = model.assemble()
    R = model.bodies[0].matrix
    inertia = (R @ shape.tensor @ R.T)[1, 1] + 0.25
    period = 4 * ellipk(0.5) / np.sqrt(G * 0.5 / inertia)
    run = ph.simulate(system, ph.Midpoint(), period / 2000, period)
    assert np.abs(run.energy).max() < 1e-12
    assert run["bob"].position[-1] == pytest.approx([0.5, 0, 0], abs=2e-5)
    assert run["bob"].position[1000] == pytest.approx([-0.5, 0, 0], abs=2e-5)
    if "rod" in name:
        with pytest.raises(ph.ModelError, match="body 'bob' is a rod without thickness"):
            ph.simulate(system, ph.MidpointGGL(), 0.01, 0.1)
    else:
        run = ph.simulate(system, ph.MidpointGGL(), period / 2000, period)
        assert np.abs(run.energy).max() < 1e-12
        assert run.velocity_error.max() < 1e-13
        assert run["bob"].position[-1] == pytest.approx([0.5, 0, 0], abs=2e-5)


def test_a_free_rod_tumbles_like_a_linear_rotor():
    """No torque: the direction of a rod turns uniformly in the plane normal to L."""
    model = ph.Model("rod")
    model.body("rod", ph.Rod(2.0, 1.0, axis="z"), velocity=(1, 0, 0), angular_velocity=(0, 3, 0))
    run = ph.simulate(model, ph.Midpoint(), 1e-3, 1.0)
    direction = run["rod"].rotation[-1][:, 2]
    assert direction == pytest.approx([np.sin(3), 0, np.cos(3)], abs=1e-5)
    assert run["rod"].position[-1] == pytest.approx([1, 0, 0], abs=1e-12)


def test_point_masses_on_links_against_newton():
    """Two particles on a rigid link, one held on a plane: compare with the equations of motion solved by SciPy."""
    model = ph.Model("dumbbell", gravity=(0, 0, -G))
    model.point_mass("a", 1.0, position=(0, 0, 0), velocity=(0.3, 0, 0))
    model.point_mass("b", 2.0, position=(0.6, 0, 0.8), velocity=(0.3, 0.5, 0))
    model.point_on_plane("floor", model.ground, "a", at=(0, 0, 0), normal=(0, 0, 1))
    model.distance("link", "a", "b", point_a=(0, 0, 0), point_b=(0.6, 0, 0.8))
    mass = np.repeat([1.0, 2.0], 3)

    def rhs(t, s):
        q, v = s[:6], s[6:]
        d, e = q[3:] - q[:3], v[3:] - v[:3]
        A = np.zeros((2, 6))
        A[0, 2] = 1.0
        A[1] = np.r_[-d, d]
        force = mass * np.tile([0, 0, -G], 2)
        K = np.block([[np.diag(mass), A.T], [A, np.zeros((2, 2))]])
        return np.r_[v, np.linalg.solve(K, np.r_[force, 0.0, -e @ e])[:6]]

    system = model.assemble(initial="refuse")
    q0, v0, _ = system.split(system.initial_state())
    exact = solve_ivp(rhs, (0, 0.5), np.r_[q0, v0], rtol=1e-12, atol=1e-13, method="DOP853").y[:6, -1]
    for scheme in (ph.Midpoint(), ph.MidpointGGL()):
        found = [np.abs(ph.simulate(system, scheme, h, 0.5).q[-1] - exact).max() for h in (1e-2, 5e-3)]
        assert found[1] < 1e-4
        assert np.log2(found[0] / found[1]) == pytest.approx(2, abs=0.1)


def test_absurd_sizes_do_not_matter():
    """The same pendulum in millimetres and milligrams, and a thousand times larger: scaled copies of one motion."""
    reference = None
    for length, mass in ((1.0, 1.0), (1e-3, 1e-6), (1e3, 1e9)):
        model = ph.Model("scaled", gravity=(0, 0, -G * length))
        model.body("bob", ph.Box(mass, length * np.array([0.2, 0.1, 0.3])), position=(0.5 * length, 0, 0))
        model.spherical("J", model.ground, "bob", at=(0, 0, 0))
        path = ph.simulate(model, ph.Midpoint(), 0.01, 1.0)["bob"].position / length
        reference = path if reference is None else reference
        assert np.abs(path - reference).max() < 1e-11


def test_a_rod_that_a_joint_keeps_from_spinning():
    """A rod welded to a box: the joint carries no torque about the rod, and the box spins as if it were alone."""
    model = ph.Model("welded rod")
    model.body("box", ph.Box(1, (0.4, 0.1, 0.2)))
    model.body("rod", ph.Rod(1, 1, axis="x"), position=(0.7, 0, 0))
    model.fixed("J", "box", "rod", at=(0.2, 0, 0))
    model.load("twist", "box", torque=(0.01, 0, 0))
    run = ph.simulate(model, ph.Midpoint(), 0.01, 0.5)
    assert np.abs(run.joint("J").torque[:, 0]).max() < 1e-10
    spin = run["box"].angular_velocity[-1, 0]
    assert spin == pytest.approx(0.01 * 0.5 / np.asarray(model.bodies[0].inertia.tensor)[0, 0], rel=1e-9)
    assert run["rod"].angular_velocity[-1, 0] == pytest.approx(spin, rel=1e-9)


def test_velocity_projection_with_a_rod_is_the_limit_of_a_thin_box():
    def projected(shape: ph.Inertia) -> np.ndarray:
        model = ph.Model("slide")
        model.body("a", ph.Box(1, (0.4, 0.1, 0.2)), angular_velocity=(0, 0.3, 0))
        model.body("b", shape, position=(1, 0, 0), velocity=(0, 0.3, 0), angular_velocity=(1, 0.2, 0.5))
        model.prismatic("J", "a", "b", at=(0.2, 0, 0), axis=(1, 0, 0))
        system = model.assemble()
        return system.initial_arrays()[1]

    rod, box = projected(ph.Rod(1, 1, axis="x")), projected(ph.Box(1, (1, 1e-6, 1e-6)))
    assert rod == pytest.approx(box, abs=1e-9)


def test_large_steps_converge_to_round_off():
    model = pendulum(ph.Box(1, (0.1, 0.2, 0.3)), 0.5)
    model.load("turn", "bob", torque=lambda t: (0, t, 0.3 * t))
    for scheme, step in ((ph.Midpoint(), 0.2), (ph.MidpointGGL(), 0.5)):
        run = ph.simulate(model, scheme, step, 1.0)
        assert np.abs(run.power_balance).max() < 1e-13 * run.kinetic_energy.max()


def four_bar(R: np.ndarray) -> ph.Model:
    """A planar four-bar with four revolute joints, turned in space by R: 20 joint rows, 3 of them redundant."""
    model = ph.Model("four-bar", gravity=R @ [0, 0, -G])
    corners = np.array([(0, 0, 0), (0.5, 0, 1), (2, 0, 1.5), (2, 0, 0)])
    for k, (a, b) in enumerate(pairwise(corners)):
        length = float(np.linalg.norm(b - a))
        along = rotation_matrix((np.cross([1, 0, 0], b - a), np.arccos((b - a)[0] / length)))
        model.body(f"bar{k}", ph.Box(1.0, (length, 0.1, 0.1)), position=R @ (a + b) / 2, rotation=R @ along)
    parts = ["ground", "bar0", "bar1", "bar2", "ground"]
    for k, (a, b) in enumerate(pairwise(parts)):
        model.revolute(f"hinge{k}", a, b, at=R @ corners[k], axis=R @ [0, 1, 0])
    return model


@pytest.mark.parametrize("scheme", [ph.Midpoint(), ph.MidpointGGL()], ids=["PH-MP", "GGL"])
def test_redundant_four_bar_moves_alike_in_every_orientation(scheme):
    paths = []
    for turn in (None, ((1, 2, 3), 0.7), ((-1, 0.2, 0.3), 2.1)):
        R = rotation_matrix(turn)
        system = four_bar(R).assemble()
        assert "rank 35 of 38 rows" in system.check()["G has full rank"].where
        run = ph.simulate(system, scheme, 0.005, 2.0)
        assert np.abs(run.energy - run.energy[0]).max() < 1e-10 * run.kinetic_energy.max()
        assert run.position_error.max() < 1e-12
        paths.append(run["bar1"].position @ R)
    assert np.ptp(paths[0][:, 0]) > 1.0  # it moves
    assert np.abs(paths[1] - paths[0]).max() < 1e-9
    assert np.abs(paths[2] - paths[0]).max() < 1e-9


def test_reactions_of_redundant_joints_are_of_least_norm_and_turn_with_the_mechanism():
    """Rows of joints may be chosen in many ways; the least norm is the same for all, so a turned four-bar shows it."""
    forces, torques = [], []
    for turn in (None, ((1, 2, 3), 0.7), ((-1, 0.2, 0.3), 2.1)):
        R = rotation_matrix(turn)
        model = four_bar(R)
        model.body("bob", ph.Sphere(0.3, 0.1), position=R @ [1.0, 0, 0.3])  # hangs outside of the loop
        model.spherical("hook", "bar1", "bob", at=R @ [1.0, 0, 0.8])
        system = model.assemble()
        run = ph.simulate(system, ph.MidpointGGL(), 0.005, 0.5, every=10)  # G v = 0, so redundant rows agree
        forces.append([run.joint(f"hinge{k}").force @ R for k in range(4)])
        torques.append([run.joint(f"hinge{k}").torque @ R for k in range(4)])
        GP = reduced_jacobian(system, system.to_kernel(run.q[-1]), np.arange(system.mech.row.size))
        null = null_space(GP.T, rcond=1e-9)
        lam = run.multipliers[-1]
        assert null.shape[1] == 3
        assert np.abs(null.T @ lam).max() < 1e-10 * np.abs(lam).max()
        assert system.loop_rows.tolist() == list(range(20))
    assert np.abs(forces[0]).max() > 10
    for other in (1, 2):
        np.testing.assert_allclose(forces[other], forces[0], atol=1e-9)
        np.testing.assert_allclose(torques[other], torques[0], atol=1e-9)
    assert np.abs(np.array(forces[0])[:, :, 1]).max() < 1e-9  # nothing pushes out of the plane


@pytest.mark.parametrize("scheme", [ph.Midpoint(), ph.MidpointGGL()], ids=["PH-MP", "GGL"])
def test_what_rests_stays_at_rest(scheme):
    model = ph.Model("hanging", gravity=(0, 0, -G))
    for k in range(3):
        model.body(f"bar{k}", ph.Box(1.0, (0.1, 0.1, 1.0)), position=(0, 0, -0.5 - k))
        model.revolute(f"pin{k}", "ground" if k == 0 else f"bar{k - 1}", f"bar{k}", at=(0, 0, -k), axis=(1, 2, 0))
    run = ph.simulate(model, scheme, 0.01, 1.0)
    assert np.abs(run.v).max() < 1e-13
    assert run.joint("pin0").force[-1] == pytest.approx([0, 0, 3 * G], abs=1e-10)


def ladder(bars: int, open_joints: bool) -> ph.Model:
    """Cranks hung side by side with couplers and springs between them, one in ten light; closed or nearly so."""
    model = ph.Model("ladder", gravity=(0, 0, -G))
    for k in range(bars):
        x, off = 0.5 * k, 1e-3 * (open_joints and k > 0)
        mass = 1e-13 if k % 10 == 9 else 1.0
        model.body(f"crank{k}", ph.Box(mass, (0.02, 0.02, 0.4)), position=(x + off, 0, -0.2))
        model.revolute(f"hinge{k}", "ground", f"crank{k}", at=(x, 0, 0), at_b=(0, 0, 0.2), axis=(0, 1, 0), frame="body")
        model.torsion_spring(f"coil{k}", f"hinge{k}", stiffness=0.1)
        if k > 0:
            model.distance(f"rod{k}", f"crank{k - 1}", f"crank{k}", (x - 0.5, 0, -0.4), (x, 0, -0.4))
            model.spring(f"spring{k}", f"crank{k - 1}", f"crank{k}", (x - 0.5, 0, -0.3), (x, 0, -0.3), stiffness=1.0)
    return model


def calls_of(work: Callable[[], object]) -> int:
    """How many calls of functions, and resumptions of generators, a piece of work makes."""
    calls = 0

    def note(_frame: object, event: str, _arg: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    work()  # compiles and imports
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


def test_the_work_of_assembly_grows_with_the_number_of_bodies_not_with_its_square():
    for open_joints in (False, True):
        few, many = (calls_of(ladder(bars, open_joints).assemble) for bars in (100, 400))
        assert many < 4.4 * few
