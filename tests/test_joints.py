"""Every joint against a solution in minimal coordinates that shares no constraint code with Porthos."""

from __future__ import annotations

import minimal_coordinates as reference
import numpy as np
import pytest
from catalogue import ALL_JOINTS, MIDPOINTS, by_name, joint_model

import porthos as ph

END = 0.4
STEPS = (0.01, 0.005, 0.0025)
ROWS = {
    "spherical": 3, "cylindrical": 4, "universal": 4, "revolute": 5, "prismatic": 5, "planar": 3, "fixed": 6,
    "distance": 1, "point_on_line": 2, "point_on_plane": 1,
}  # fmt: skip


def errors(run: ph.Trajectory, exact: reference.Solution) -> tuple[float, float]:
    """Largest error of positions and directors, and of velocities and angular velocities, at the end."""
    position, velocity = [], []
    for k, name in enumerate(("a", "b")):
        body = run[name]
        position += [body.position[-1] - exact.position[-1, k], (body.rotation[-1] - exact.rotation[-1, k]).ravel()]
        velocity += [
            body.velocity[-1] - exact.velocity[-1, k],
            body.angular_velocity[-1] - exact.angular_velocity[-1, k],
        ]
    return float(np.abs(np.concatenate(position)).max()), float(np.abs(np.concatenate(velocity)).max())


@pytest.mark.parametrize("scheme", MIDPOINTS, ids=by_name)
@pytest.mark.parametrize("kind", ALL_JOINTS)
def test_motion_converges_to_the_minimal_coordinate_solution_with_the_declared_order(kind, scheme):
    system = joint_model(kind).assemble(initial="refuse")
    exact = reference.solve(kind, (END,))
    found = np.array([errors(ph.simulate(system, scheme, h, END), exact) for h in STEPS])
    assert np.all(found[-1] < 2e-3), found
    slopes = np.log2(found[:-1] / found[1:])
    assert slopes[-1] == pytest.approx([scheme.order] * 2, abs=0.15), (found, slopes)
    extrapolated = (4 * found[-1] - found[-2]) / 3
    assert np.all(np.abs(extrapolated) < 0.1 * found[-1])


@pytest.mark.parametrize("kind", ALL_JOINTS)
def test_number_of_rows_and_rank(kind):
    system = joint_model(kind).assemble()
    assert system.mech.row.size == 5 + ROWS[kind]
    report = system.check()
    assert report.ok, str(report)


@pytest.mark.parametrize("kind", ALL_JOINTS)
def test_initial_energy_is_that_of_the_reference(kind):
    system = joint_model(kind).assemble()
    assert system.H(system.initial_state()) == pytest.approx(reference.joint_case(kind).energy, rel=1e-13)


def newton_euler_reaction(run: ph.Trajectory, n: int) -> np.ndarray:
    """Force on body b from m a = F + m g, the acceleration by central differences of the *exact* velocities."""
    kind = run.system.name
    t, d = run.t[n], 1e-4
    offsets = (-2, -1, 1, 2)
    v = reference.solve(kind, tuple(t + k * d for k in offsets)).velocity[:, 1]
    acceleration = (v[0] - 8 * v[1] + 8 * v[2] - v[3]) / (12 * d)
    case = reference.joint_case(kind)
    return case.b.mass * (acceleration - np.asarray(case.gravity))


@pytest.mark.parametrize("scheme", MIDPOINTS, ids=by_name)
@pytest.mark.parametrize("kind", ALL_JOINTS)
def test_reaction_force_is_of_second_order(kind, scheme):
    system = joint_model(kind).assemble()
    found = []
    for h in STEPS:
        run = ph.simulate(system, scheme, h, END)
        n = round(0.2 / h)
        force = run.joint("joint").force[n]
        found.append(np.abs(force - newton_euler_reaction(run, n)).max())
    order = np.log2(found[-2] / found[-1])
    assert found[-1] < 5e-2, found
    assert order == pytest.approx(2, abs=0.3), found


@pytest.mark.parametrize("kind", ["spherical", "distance", "point_on_line", "point_on_plane"])
def test_joints_that_leave_rotation_free_transmit_no_torque(kind):
    run = ph.simulate(joint_model(kind), ph.Midpoint(), 0.01, 0.1)
    assert np.abs(run.joint("joint").torque).max() < 1e-10 * np.abs(run.joint("joint").force).max()


@pytest.mark.parametrize(("kind", "axis"), [("revolute", "axis"), ("cylindrical", "axis"), ("planar", "normal")])
def test_no_torque_about_a_free_axis(kind, axis):
    system = joint_model(kind).assemble()
    run = ph.simulate(system, ph.Midpoint(), 0.01, 0.1)
    n_world = reference.joint_case(kind).geometry[axis]
    body = run["a"]
    n = np.einsum("tij,j->ti", body.rotation @ body.rotation[0].T, n_world)
    torque = run.joint("joint").torque
    assert np.abs(np.einsum("ti,ti->t", torque, n)).max() < 1e-10 * np.abs(torque).max()
