"""Mechanisms in MuJoCo: the spanning tree as nested bodies with ball, hinge and slide joints, loops by `connect`.

The integrator is RK4; mj_step loops over the steps in C.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import mujoco
import numpy as np

from benchmarks.case import Case, Code, CodeFailedError, Record
from benchmarks.models import GROUND, Body, Joint, Link, Mechanism, Vector, spanning_tree

OFF = mujoco.mjtDisableBit
UNUSED = int(
    OFF.mjDSBL_CONTACT | OFF.mjDSBL_LIMIT | OFF.mjDSBL_FRICTIONLOSS | OFF.mjDSBL_SPRING | OFF.mjDSBL_DAMPER
    | OFF.mjDSBL_ACTUATION | OFF.mjDSBL_SENSOR | OFF.mjDSBL_MIDPHASE | OFF.mjDSBL_AUTORESET
)  # fmt: skip
NO_CONSTRAINTS = int(OFF.mjDSBL_CONSTRAINT | OFF.mjDSBL_EQUALITY)
SOLVERS = {"Newton": mujoco.mjtSolver.mjSOL_NEWTON, "CG": mujoco.mjtSolver.mjSOL_CG, "PGS": mujoco.mjtSolver.mjSOL_PGS}
JACOBIANS = {"sparse": mujoco.mjtJacobian.mjJAC_SPARSE, "dense": mujoco.mjtJacobian.mjJAC_DENSE}
PLAIN = {"": 0, "no warm start, no islands": int(OFF.mjDSBL_WARMSTART | OFF.mjDSBL_ISLAND)}
IMPEDANCE = (0.9999, 0.9999, 0.001, 0.5, 2.0)  # the hardest constraint MuJoCo allows
DENSE_LIMIT = 40  # bodies; with more, dense Jacobians (6 times slower on the net) and PGS are not tried
JOINTS = {
    "spherical": mujoco.mjtJoint.mjJNT_BALL,
    "revolute": mujoco.mjtJoint.mjJNT_HINGE,
    "prismatic": mujoco.mjtJoint.mjJNT_SLIDE,
    "universal": mujoco.mjtJoint.mjJNT_HINGE,
}


@dataclass(frozen=True)
class Setting:
    """How MuJoCo solves for the forces that close loops; trees need none of it."""

    loops: bool
    solver: str = "Newton"
    jacobian: str = "sparse"
    plain: str = ""

    def __str__(self) -> str:
        return ", ".join(s for s in ("RK4", self.solver, self.jacobian, self.plain) if s) if self.loops else "RK4"


class MujocoCase(Case):
    """One mechanism with RK4."""

    def __init__(self, mechanism: Mechanism, setting: Setting) -> None:
        self.setting = str(setting)
        self._mechanism, self._model = mechanism, _model(mechanism, setting)
        self._data, self._other = mujoco.MjData(self._model), mujoco.MjData(self._model)
        self._bodies = [self._model.body(str(k)).id for k in range(len(mechanism.bodies))]
        self._start = self._initial_rates()

    def run(self, h: float, steps: int) -> None:
        """Integrate from the initial state."""
        self._reset(h)
        mujoco.mj_step(self._model, self._data, nstep=steps)

    def record(self, h: float, steps: int, every: int) -> Record:
        """Integrate and evaluate positions and energies at every `every`-th step."""
        self._reset(h)
        states = [self._state()]
        for _ in range(steps // every):
            mujoco.mj_step(self._model, self._data, nstep=every)
            states.append(self._state())
        r, kinetic, potential = (np.array(part) for part in zip(*states, strict=True))
        return Record(r, kinetic + potential, kinetic)

    def _reset(self, h: float) -> None:
        mujoco.mj_resetData(self._model, self._data)
        self._data.qvel[:] = self._start
        self._model.opt.timestep = h
        # the stiffest spring that MuJoCo allows has the time constant 2 h
        self._model.eq_solref[:] = (2 * h, 1.0)

    def _state(self) -> tuple[Vector, float, float]:
        """Positions, kinetic and potential energy, evaluated beside the run so that it goes on undisturbed."""
        model, data = self._model, self._other
        data.qpos[:], data.qvel[:] = self._data.qpos, self._data.qvel
        mujoco.mj_forward(model, data)
        mujoco.mj_energyPos(model, data)
        mujoco.mj_energyVel(model, data)
        potential, kinetic = data.energy
        return data.xipos[self._bodies].copy(), float(kinetic), float(potential)

    def _initial_rates(self) -> Vector:
        """Joint rates that give the bodies their velocities: J qdot = (v, w) for all bodies."""
        model, data = self._model, self._data
        bodies = self._mechanism.bodies
        if not any(b.velocity.any() or b.angular_velocity.any() for b in bodies):
            return np.zeros(model.nv)
        mujoco.mj_forward(model, data)
        J = np.zeros((len(bodies), 2, 3, model.nv))
        for k, body in enumerate(self._bodies):
            mujoco.mj_jacBodyCom(model, data, J[k, 0], J[k, 1], body)
        given = np.array([(b.velocity, b.angular_velocity) for b in bodies]).ravel()
        rates, *_ = np.linalg.lstsq(J.reshape(-1, model.nv), given, rcond=None)
        if np.abs(J.reshape(-1, model.nv) @ rates - given).max() > 1e-9 * np.abs(given).max():
            raise ValueError(f"{self._mechanism.name}: MuJoCo's tree cannot have the initial velocities given.")
        return rates


def _model(mechanism: Mechanism, setting: Setting) -> Any:
    """The compiled model; bodies are named by their number, with the frame of the plain data."""
    spec = mujoco.MjSpec()
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    spec.option.gravity = mechanism.gravity
    spec.option.solver = SOLVERS[setting.solver]
    spec.option.jacobian = JACOBIANS[setting.jacobian]
    spec.option.disableflags = UNUSED | (PLAIN[setting.plain] if setting.loops else NO_CONSTRAINTS)
    links, loops = spanning_tree(mechanism)
    parts = {GROUND: spec.worldbody}
    for link in links:
        parts[link.body] = _add_body(parts[link.parent], mechanism, link)
    for joint in loops:
        _connect(spec, mechanism, joint)
    try:
        return spec.compile()
    except ValueError as error:  # MuJoCo limits the depth of a tree
        raise CodeFailedError(f"MuJoCo: {str(error).splitlines()[0]}") from error


def _add_body(parent: Any, mechanism: Mechanism, link: Link) -> Any:
    """Add a body to its parent, with its joint."""
    b = mechanism.bodies[link.body]
    base = Body(0.0, np.zeros(3), np.zeros(3)) if link.parent == GROUND else mechanism.bodies[link.parent]
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, (base.rotation.T @ b.rotation).ravel())
    part = parent.add_body(name=str(link.body), pos=base.rotation.T @ (b.position - base.position), quat=quaternion)
    part.mass, part.inertia, part.ipos, part.explicitinertial = b.mass, b.moments, np.zeros(3), True
    joint = link.joint
    if joint is None:
        part.add_freejoint()
        return part
    axes = [joint.axis]
    if joint.kind == "universal":  # the first hinge is fixed in the parent
        axes = [joint.axis, joint.axis_b] if joint.a == link.parent else [joint.axis_b, joint.axis]
    for axis in axes:
        at = b.rotation.T @ (joint.at - b.position)
        part.add_joint(type=JOINTS[joint.kind], pos=at, axis=b.rotation.T @ axis)
    return part


def _connect(spec: Any, mechanism: Mechanism, joint: Joint) -> None:
    """Close a loop by a spherical joint."""
    if joint.kind != "spherical":
        raise ValueError(f"{mechanism.name}: the MuJoCo adapter closes loops by spherical joints, not '{joint.kind}'.")
    a, b = (joint.b, joint.a) if joint.a == GROUND else (joint.a, joint.b)
    body = mechanism.bodies[a]
    equality = spec.add_equality(
        type=mujoco.mjtEq.mjEQ_CONNECT,
        objtype=mujoco.mjtObj.mjOBJ_BODY,
        name1=str(a),
        name2="world" if b == GROUND else str(b),
    )
    equality.data[:3] = body.rotation.T @ (joint.at - body.position)
    equality.solimp = IMPEDANCE


def settings(mechanism: Mechanism) -> Iterator[Setting]:
    """One for trees; solvers and their options for loops; springs between bodies are not set up here."""
    if mechanism.springs:
        return
    if not spanning_tree(mechanism)[1]:
        yield Setting(loops=False)
    elif len(mechanism.bodies) > DENSE_LIMIT:
        for solver, plain in product(("Newton", "CG"), PLAIN):
            yield Setting(True, solver, "sparse", plain)
    else:
        for choice in product(SOLVERS, JACOBIANS, PLAIN):
            yield Setting(True, *choice)


RK4 = Code("MuJoCo RK4", settings, MujocoCase, soft_loops=True)
