"""Kinematic pairs as power-preserving interconnection (001, sections 4.3 and 5.2)."""

from __future__ import annotations

import numpy as np
import pytest
from random_systems import linear
from scipy.linalg import null_space

import porthos as ph
from porthos.system.mechanical import MechanicalSystem

AT, AXIS = np.array([0.3, 0.2, 0.1]), np.array([1.0, 2.0, -0.5])
SIDE = np.cross(AXIS, [0.0, 0.0, 1.0])
JOINTS = {
    "cylindrical": ph.Cylindrical(name="J", a="a", b="b", at=AT, axis=AXIS),
    "spherical": ph.Spherical(name="J", a="a", b="b", at=AT),
    "revolute": ph.Revolute(name="J", a="a", b="b", at=AT, axis=AXIS),
    "prismatic": ph.Prismatic(name="J", a="a", b="b", at=AT, axis=AXIS),
    "universal": ph.Universal(name="J", a="a", b="b", at=AT, axis_a=AXIS, axis_b=SIDE),
    "planar": ph.Planar(name="J", a="a", b="b", at=AT, normal=AXIS),
    "fixed": ph.Fixed(name="J", a="a", b="b", at=AT),
    "distance": ph.RigidLink(name="J", a="a", b="b", point_a=AT, point_b=AT + np.array([0.4, 0.1, 0.2])),
    "point_on_line": ph.PointOnLine(name="J", a="a", b="b", at=AT, axis=AXIS),
    "point_on_plane": ph.PointOnPlane(name="J", a="a", b="b", at=AT, normal=AXIS),
}
INNER = ("system a: joint port", "system b: joint port")
joints = pytest.mark.parametrize("kind", JOINTS)

A = {
    "position": (0.1, -0.2, 0.3),
    "rotation": ((1, 2, 3), 0.8),
    "velocity": (0.3, 0.1, 0),
    "angular_velocity": (1, 2, 0),
}
B = {
    "position": (0.7, 0.5, -0.2),
    "rotation": ((3, -1, 1), -0.6),
    "velocity": (0, 0.2, 0.4),
    "angular_velocity": (0, 1, 1),
}


def single(name: str, shape: ph.Inertia, place: dict) -> MechanicalSystem:
    model = ph.Model(f"system {name}", gravity=(0, 0, -9.81))
    model.body(name, shape, **place)
    model.port("joint port", name)
    model.port("motor", name, kind="torque")
    return model.assemble()


def systems() -> tuple[MechanicalSystem, MechanicalSystem]:
    return single("a", ph.Box(2.0, (0.3, 0.4, 0.5)), A), single("b", ph.Box(1.0, (0.2, 0.6, 0.3)), B)


def whole(kind: str) -> MechanicalSystem:
    """The same two bodies with the rows of the joint."""
    model = ph.Model("rows", gravity=(0, 0, -9.81))
    model.body("a", ph.Box(2.0, (0.3, 0.4, 0.5)), **A)
    model.body("b", ph.Box(1.0, (0.2, 0.6, 0.3)), **B)
    joint = JOINTS[kind]
    words = {"distance": ("point_a", "point_b"), "universal": ("at", "axis_a", "axis_b")}.get(
        kind, ("at", "normal") if "plan" in kind else ("at",) if kind in ("spherical", "fixed") else ("at", "axis")
    )
    getattr(model, kind)("J", "a", "b", **{word: getattr(joint, word) for word in words})
    return model.assemble()


def coupled_start(kind: str):
    """The coupled system, and its state that agrees with the rows of the joint (velocities projected)."""
    a, b = systems()
    pair = ph.interconnect(a, b, through=ph.KinematicPair(*INNER, JOINTS[kind]))
    rows = whole(kind)
    q, v, _ = rows.split(rows.initial_state())
    lam = np.zeros(6)
    x = np.concatenate([q[:12], v[:12], lam, q[12:], v[12:], lam, np.zeros(pair.rows)])
    return pair, rows, x


def rigid_velocities(q: np.ndarray) -> np.ndarray:
    """All rigid velocities (24, 12) of two bodies."""
    P = np.zeros((24, 12))
    for k in range(2):
        phi = 12 * k
        P[phi : phi + 3, 6 * k : 6 * k + 3] = np.eye(3)
        for i in range(1, 4):
            for c in range(3):
                P[phi + 3 * i : phi + 3 * i + 3, 6 * k + 3 + c] = np.cross(
                    np.eye(3)[c], q[phi + 3 * i : phi + 3 * i + 3]
                )
    return P


@joints
def test_coupled_system_is_a_port_hamiltonian_system(kind):
    pair, _, x = coupled_start(kind)
    x[-pair.rows :] = np.random.default_rng(0).normal(size=pair.rows)
    report = pair.check(x)
    assert report.ok, str(report)
    (xa, xb), _ = pair.split(x)
    a, b = pair.parts.values()
    assert pair.H(x) == pytest.approx(a.H(xa) + b.H(xb), rel=1e-15)
    assert list(pair.ports) == ["system a: motor", "system b: motor"]


@joints
def test_interconnection_encodes_the_rows_of_the_joint_on_rigid_velocities(kind):
    """Eq. (48), at random configurations that the joint allows: after some steps of the motion."""
    pair, rows, x = coupled_start(kind)
    run = ph.simulate(rows, ph.MidpointGGL(), 0.01, 0.3)
    q = run.q[-1]
    (xa, xb), lam = pair.split(x)
    J = pair.J(np.r_[q[:12], xa[12:], q[12:], xb[12:], lam]).toarray()[-pair.rows :]
    P = rigid_velocities(q)
    from_ports = np.hstack([J[:, 12:24], J[:, 42:54]]) @ P
    from_rows = rows.G(q).toarray()[12:] @ P
    assert from_ports == pytest.approx(from_rows, abs=1e-12)
    null = null_space(from_rows)
    assert null.shape[1] == 12 - pair.rows
    assert np.abs(from_ports @ null).max() < 1e-12


@joints
def test_power_through_the_connection_is_zero(kind):
    pair, _, x = coupled_start(kind)
    x[-pair.rows :] = np.random.default_rng(3).normal(size=pair.rows)
    assert pair.inner_ports == INNER
    power = pair.inner_power(x, np.zeros(pair.width))
    assert power.sum() == pytest.approx(0.0, abs=1e-13 * max(1.0, np.abs(power).max()))
    assert np.abs(power).max() > 1e-3


@joints
def test_discretising_and_interconnecting_commute(kind):
    """Eq. (55): a step of the coupled system solves the discretised parts joined by (53), and the other way round."""
    h = 0.01
    pair, _, x0 = coupled_start(kind)
    step = ph.Gauss(1).step(pair, h, x0)
    x1, middle = step.x, step.stages[0]
    starts, ends, means = pair.split(x0)[0], pair.split(x1)[0], pair.split(middle)[0]
    inputs = pair.inputs(middle, np.zeros(pair.width))
    for system, start, end, u in zip(pair.parts.values(), starts, ends, inputs, strict=True):
        alone = ph.Gauss(1).step(system, h, start, u).x
        assert alone == pytest.approx(end, abs=1e-9 * max(1.0, np.abs(end).max()))
    y = [s.y(x)[s.port("joint port")] for s, x in zip(pair.parts.values(), means, strict=True)]
    assert pair.law(middle)[1].T @ np.concatenate(y) == pytest.approx(np.zeros(pair.rows), abs=1e-12)
    assert pair.H(x1) - pair.H(x0) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("kind", ["cylindrical", "distance"])
def test_motion_of_the_coupled_system_converges_to_that_of_the_rows(kind):
    pair, rows, x = coupled_start(kind)
    exact = ph.simulate(rows, ph.Midpoint(), 1e-5, 0.06, every=6000).q[-1]
    differences = []
    for steps in (3, 6, 12):
        run = ph.simulate(pair, ph.Gauss(1), 0.06 / steps, 0.06, start=x)
        (a, b), _ = pair.split(run.x[-1])
        differences.append(np.abs(np.r_[a[:12], b[:12]] - exact).max())
    orders = np.log2(np.array(differences[:-1]) / differences[1:])
    assert orders == pytest.approx([2, 2], abs=0.2), differences


def test_equal_outputs_weld_two_points():
    a, b = systems()
    pair = ph.interconnect(a, b, through=ph.Transformer("system a: motor", "system b: motor"))
    assert pair.rows == 3
    assert pair.check(np.r_[a.initial_state(), b.initial_state(), np.ones(3)]).ok


def test_joints_join_single_bodies_at_wrench_ports():
    a, b = systems()
    with pytest.raises(ph.PorthosError, match="single rigid bodies; 'random' is not one"):
        ph.interconnect(a, linear(0, 2, 6), through=ph.KinematicPair("joint port", "u0", JOINTS["spherical"]))
    with pytest.raises(ph.PorthosError, match="needs wrench ports of 6 inputs, found 3"):
        ph.interconnect(a, b, through=ph.KinematicPair(INNER[0], "system b: motor", JOINTS["spherical"]))
