"""Trees in Exudyn's ObjectKinematicTree with the explicit RK44: minimal coordinates, one link for each rotation axis.

All link frames are parallel to the world at t = 0. A spherical joint is three hinges y, z, x with two links without
mass; it is singular where the second angle is a right angle, which the mechanisms here do not come near.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.case import Case, Code, Record
from benchmarks.exudyn_adapter import SOLVERS, _Recorder, _settings, _solve, exu, items
from benchmarks.models import E1, E2, E3, GROUND, ZERO, Link, Mechanism, Vector, spanning_tree

AXES = {"x": E1, "y": E2, "z": E3}
TYPES = {"x": exu.JointType.RevoluteX, "y": exu.JointType.RevoluteY, "z": exu.JointType.RevoluteZ}


class TreeCase(Case):
    """A tree with RK44."""

    def __init__(self, mechanism: Mechanism, solver: str) -> None:
        self.setting = f"ObjectKinematicTree, RK44, {solver}"
        self._mechanism, self._solver = mechanism, solver
        self._links = spanning_tree(mechanism)[0]
        self._container = exu.SystemContainer()
        self._mbs = self._container.AddSystem()
        _fill_tree(self._mbs, mechanism, self._links)
        self._mbs.Assemble()

    def run(self, h: float, steps: int) -> None:
        """Integrate from the initial state."""
        settings = _settings(h, steps)
        settings.linearSolver.solverType = SOLVERS[self._solver]
        settings.timeIntegration.solverType = exu.DynamicSolverType.RK44
        settings.timeIntegration.explicit.computeEndOfStepAccelerations = False
        settings.timeIntegration.explicit.useLieGroupIntegration = False
        _solve(exu.MainSolverExplicit(), self._mbs, settings)

    def record(self, h: float, steps: int, every: int) -> Record:
        """Integrate and evaluate positions and energies at every `every`-th step."""
        with _Recorder(self._mbs, h, every, self._state) as recorder:
            self.run(h, steps)
        return recorder.result()

    def _state(self) -> tuple[Vector, float, float]:
        """Positions, kinetic and potential energy from the joint angles and their rates, link by link."""
        data = self._mbs.systemData
        angles, rates = iter(data.GetODE2Coordinates()), iter(data.GetODE2Coordinates_t())
        bodies, gravity = self._mechanism.bodies, np.array(self._mechanism.gravity)
        frames = {GROUND: (np.eye(3), ZERO, ZERO, ZERO, ZERO)}  # R, spin, joint at t = 0 and now, its velocity
        positions, kinetic, potential = np.zeros((len(bodies), 3)), 0.0, 0.0
        for link in self._links:
            b = bodies[link.body]
            R, w, at0, at, v = frames[link.parent]
            arm = R @ (link.joint.at - at0)
            at, v = at + arm, v + np.cross(w, arm)
            for axis in _axes(link):
                w = w + next(rates) * R @ AXES[axis]
                R = R @ _turn(AXES[axis], next(angles))
            frames[link.body] = (R, w, link.joint.at, at, v)
            arm = R @ (b.position - link.joint.at)
            r, v_c = at + arm, v + np.cross(w, arm)
            w_local = b.rotation.T @ R.T @ w
            positions[link.body] = r
            kinetic += 0.5 * (b.mass * v_c @ v_c + b.moments @ w_local**2)
            potential -= b.mass * gravity @ r
        return positions, float(kinetic), float(potential)


def _axes(link: Link) -> str:
    """The hinges of a joint, in their order."""
    if link.joint.kind == "revolute":
        return "xyz"[int(np.argmax(np.abs(link.joint.axis)))]
    return "yzx"


def _turn(axis: Vector, angle: float) -> Vector:
    """The rotation about a unit axis."""
    K = np.cross(np.eye(3), axis)  # K x = axis x x
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def _fill_tree(mbs: Any, mechanism: Mechanism, links: list[Link]) -> None:
    """Add the kinematic tree and the node with its coordinates."""
    types, parents, masses, rates = [], [], [], []
    transformations, inertias = exu.Matrix3DList(), exu.Matrix3DList()
    offsets, centres = exu.Vector3DList(), exu.Vector3DList()
    last = {GROUND: -1}
    spin, place = {GROUND: ZERO}, {GROUND: ZERO}
    for link in links:
        b, axes = mechanism.bodies[link.body], _axes(link)
        relative = b.angular_velocity - spin[link.parent]
        for k, axis in enumerate(axes):
            first, carries = k == 0, k == len(axes) - 1
            types.append(TYPES[axis])
            parents.append(last[link.parent] if first else len(types) - 2)
            rates.append(float(relative @ AXES[axis]))
            transformations.Append(np.eye(3))
            offsets.Append(link.joint.at - place[link.parent] if first else ZERO)
            inertias.Append(b.rotation @ np.diag(b.moments) @ b.rotation.T if carries else np.zeros((3, 3)))
            centres.Append(b.position - link.joint.at if carries else ZERO)
            masses.append(b.mass if carries else 0.0)
        last[link.body], spin[link.body], place[link.body] = len(types) - 1, b.angular_velocity, link.joint.at
    n = len(types)
    node = mbs.AddNode(
        items.NodeGenericODE2(
            referenceCoordinates=[0.0] * n, initialCoordinates=[0.0] * n, initialCoordinates_t=rates,
            numberOfODE2Coordinates=n,
        )
    )  # fmt: skip
    mbs.AddObject(
        items.ObjectKinematicTree(
            nodeNumber=node, jointTypes=types, linkParents=parents, jointTransformations=transformations,
            jointOffsets=offsets, linkInertiasCOM=inertias, linkCOMs=centres, linkMasses=masses,
            gravity=list(mechanism.gravity),
        )
    )  # fmt: skip


def settings(mechanism: Mechanism) -> Iterator[str]:
    """Both linear solvers for trees; none for mechanisms with loops, which this object does not have."""
    links, loops = spanning_tree(mechanism)
    if not loops and not mechanism.springs and all(link.joint is not None for link in links):
        yield from SOLVERS


TREE = Code("Exudyn tree RK44", settings, TreeCase)
