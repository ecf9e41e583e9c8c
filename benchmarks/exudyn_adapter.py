"""Mechanisms in Exudyn: redundant rigid bodies with its implicit integrators, and its kinematic tree with RK44."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from benchmarks.case import Case, Code, CodeFailedError, Record
from benchmarks.models import GROUND, Body, Joint, Mechanism, Spring, Vector, frame

sys.exudynFast = True  # Exudyn's switch for its faster build: no range checks, AVX2

import exudyn as exu  # noqa: E402
import exudyn.itemInterface as items  # noqa: E402, N813
from exudyn.rigidBodyUtilities import GetRigidBodyNode  # noqa: E402

exu.config.suppressWarnings = True  # that a dense solver is slow is measured here
exu.config.printToConsole = False  # failures come as exceptions

OUT = exu.OutputVariableType
NODES = {"Euler parameters": exu.NodeType.RotationEulerParameters, "Lie group": exu.NodeType.RotationRotationVector}
SOLVERS = {"EigenDense": exu.LinearSolverType.EigenDense, "EigenSparse": exu.LinearSolverType.EigenSparse}
# Left out after trials: generalized-alpha index 2, which Exudyn refuses; trapezoidal index 3, which at a fixed step
# stopped before the end on chain-4, -16, -64 and the slider-crank; a full Newton method, which was not the fastest on
# any of seven small mechanisms (tolerance 1e-8).
TRAPEZOIDAL, GENERALIZED_ALPHA = "trapezoidal index 2", "generalized-alpha index 3"
MODIFIED, EACH_STEP = "modified Newton", "modified Newton, a Jacobian each step"
# Relative, of Newton. The looser one is chosen for speed: about two iterations fewer. It can cost accuracy
# (slider-crank) and energy (ladder: ten times the drift), so the drift is measured with Exudyn's default as well.
TOLERANCE, DEFAULT_TOLERANCE = 1e-5, 1e-8
SPECTRAL_RADIUS = 0.9  # the only value tried
DENSE_LIMIT = 40  # bodies; dense was slower than sparse with 16 bodies already, more were not tried
# Columns of a frame whose first axis is the joint axis, in the order that puts this axis where Exudyn wants it
# (z for revolute, x for prismatic; generic joint: y of the first and z of the second frame stay perpendicular).
COLUMNS = {
    "revolute": ([1, 2, 0], [1, 2, 0]),
    "prismatic": ([0, 1, 2], [0, 1, 2]),
    "universal": ([2, 0, 1], [1, 2, 0]),
}


@dataclass(frozen=True)
class Setting:
    """One way to integrate implicitly with Exudyn."""

    integrator: str
    newton: str
    node: str
    solver: str
    tolerance: float = TOLERANCE

    def __str__(self) -> str:
        return f"{self.integrator}, {self.newton}, {self.node}, {self.solver}"

    def apply(self, settings: Any) -> None:
        """Write it into Exudyn's settings."""
        settings.linearSolver.solverType = SOLVERS[self.solver]
        newton = settings.timeIntegration.newton
        newton.useModifiedNewton = True
        newton.modifiedNewtonJacUpdatePerStep = self.newton == EACH_STEP
        newton.relativeTolerance = self.tolerance
        alpha = settings.timeIntegration.generalizedAlpha
        alpha.useNewmark = self.integrator == TRAPEZOIDAL
        alpha.useIndex2Constraints = self.integrator == TRAPEZOIDAL
        alpha.spectralRadius = SPECTRAL_RADIUS


class ExudynCase(Case):
    """One mechanism of rigid bodies and joints with one implicit setting."""

    def __init__(self, mechanism: Mechanism, setting: Setting) -> None:
        self.setting = str(setting)
        self._mechanism, self._choice = mechanism, setting
        self._container = exu.SystemContainer()
        self._mbs = self._container.AddSystem()
        self._nodes, self._springs = _fill(self._mbs, mechanism, NODES[setting.node])
        self._mbs.Assemble()

    def run(self, h: float, steps: int) -> None:
        """Integrate from the initial state."""
        settings = _settings(h, steps)
        self._choice.apply(settings)
        solver = exu.MainSolverImplicitSecondOrder()
        _solve(solver, self._mbs, settings)
        self.iterations = solver.it.newtonStepsCount / steps

    def record(self, h: float, steps: int, every: int) -> Record:
        """Integrate and evaluate positions and energies at every `every`-th step."""
        with _Recorder(self._mbs, h, every, self._state) as recorder:
            self.run(h, steps)
        return recorder.result()

    def _state(self) -> tuple[Vector, float, float]:
        """Positions, kinetic and potential energy of the current state."""
        get, nodes, bodies = self._mbs.GetNodeOutput, self._nodes, self._mechanism.bodies
        r, v, w = (
            np.array([get(n, kind) for n in nodes]) for kind in (OUT.Position, OUT.Velocity, OUT.AngularVelocityLocal)
        )
        m, J = np.array([b.mass for b in bodies]), np.array([b.moments for b in bodies])
        kinetic = 0.5 * float(m @ (v**2).sum(axis=1) + (J * w**2).sum())
        lengths = [self._mbs.GetObjectOutput(number, OUT.Distance) for number in self._springs]
        stored = sum(
            0.5 * s.stiffness * (x - s.length) ** 2 for s, x in zip(self._mechanism.springs, lengths, strict=True)
        )
        return r, kinetic, stored - float(m @ r @ np.array(self._mechanism.gravity))


class _Recorder:
    """Keeps every `every`-th state of a run by Exudyn's call-back after a step."""

    def __init__(self, mbs: Any, h: float, every: int, state: Any) -> None:
        self._mbs, self._h, self._every, self._state = mbs, h, every, state
        self._states: list[tuple[Vector, float, float]] = []

    def __enter__(self) -> _Recorder:
        start = exu.ConfigurationType.Initial
        self._mbs.systemData.SetSystemState(self._mbs.systemData.GetSystemState(start), exu.ConfigurationType.Current)
        self._states.append(self._state())
        self._mbs.SetPostStepUserFunction(self._after_step)
        return self

    def __exit__(self, *unused: object) -> None:
        self._mbs.SetPostStepUserFunction(0)

    def _after_step(self, mbs: Any, t: float) -> bool:
        del mbs
        n = t / self._h
        if abs(n - round(n)) < 1e-6 and round(n) % self._every == 0:
            self._states.append(self._state())
        return True

    def result(self) -> Record:
        """All states kept."""
        r, kinetic, potential = (np.array(part) for part in zip(*self._states, strict=True))
        return Record(r, kinetic + potential, kinetic)


def _settings(h: float, steps: int) -> Any:
    """What all integrators share: a fixed step, one thread, no output."""
    s = exu.SimulationSettings()
    s.solution.file.write = False
    s.solution.sensors.active = False
    s.solution.solverInformationFileName = ""
    s.linearSolver.reuseAnalyzedPattern = True
    s.parallel.numberOfThreads = 1
    s.timeIntegration.numberOfSteps = steps
    s.timeIntegration.endTime = h * steps
    s.timeIntegration.adaptiveStep = False
    s.timeIntegration.verboseMode = 0
    s.timeIntegration.verboseModeFile = 0
    return s


def _solve(solver: Any, mbs: Any, settings: Any) -> None:
    try:
        success = solver.SolveSystem(mbs, settings)
    except Exception as error:
        raise CodeFailedError(f"Exudyn: {error}") from error
    if not success:
        raise CodeFailedError(f"Exudyn stopped at t = {solver.it.currentTime:.6g} of {solver.it.endTime:.6g}.")


def _fill(mbs: Any, mechanism: Mechanism, node_type: Any) -> tuple[list[Any], list[Any]]:
    """Add bodies, their weight, the joints and the springs; returns the nodes and the springs."""
    ground = mbs.AddObject(items.ObjectGround())
    nodes, numbers = [], []
    for b in mechanism.bodies:
        node = GetRigidBodyNode(node_type, b.position, b.velocity, b.rotation, angularVelocity=b.angular_velocity)
        nodes.append(mbs.AddNode(node))
        inertia = [*b.moments, 0.0, 0.0, 0.0]
        numbers.append(mbs.AddObject(items.ObjectRigidBody(mass=b.mass, inertia=inertia, nodeNumber=nodes[-1])))
        if any(mechanism.gravity):
            marker = mbs.AddMarker(items.MarkerBodyMass(bodyNumber=numbers[-1]))
            mbs.AddLoad(items.LoadMassProportional(markerNumber=marker, loadVector=list(mechanism.gravity)))

    def side(k: int) -> tuple[Any, Body | None]:
        return (ground, None) if k == GROUND else (numbers[k], mechanism.bodies[k])

    for joint in mechanism.joints:
        _join(mbs, joint, [side(joint.a), side(joint.b)])
    return nodes, [_hang(mbs, spring, [side(spring.a), side(spring.b)]) for spring in mechanism.springs]


def _hang(mbs: Any, spring: Spring, sides: list[tuple[Any, Body | None]]) -> Any:
    """Add a spring; returns its number."""
    points = (spring.point_a, spring.point_b)
    markers = [
        mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=n, localPosition=_local(body, at)))
        for (n, body), at in zip(sides, points, strict=True)
    ]
    return mbs.AddObject(
        items.ObjectConnectorSpringDamper(
            markerNumbers=markers, referenceLength=spring.length, stiffness=spring.stiffness, damping=0.0
        )
    )


def _join(mbs: Any, joint: Joint, sides: list[tuple[Any, Body | None]]) -> None:
    """Add a joint; `sides` are the numbers of its bodies, with their data (None for the ground)."""
    if joint.kind == "spherical":
        markers = [items.MarkerBodyPosition(bodyNumber=n, localPosition=_local(body, joint.at)) for n, body in sides]
    else:
        axes = (joint.axis, joint.axis_b if joint.kind == "universal" else joint.axis)
        markers = []
        for (n, body), axis, columns in zip(sides, axes, COLUMNS[joint.kind], strict=True):
            R = frame(axis)[:, columns]
            ht = exu.HT(rotation=R if body is None else body.rotation.T @ R, translation=_local(body, joint.at))
            markers.append(items.MarkerBodyRigid(bodyNumber=n, localHT=ht))
    numbers = [mbs.AddMarker(marker) for marker in markers]
    match joint.kind:
        case "spherical":
            mbs.AddObject(items.ObjectJointSpherical(markerNumbers=numbers))
        case "revolute":
            mbs.AddObject(items.ObjectJointRevoluteZ(markerNumbers=numbers))
        case "prismatic":
            mbs.AddObject(items.ObjectJointPrismaticX(markerNumbers=numbers))
        case "universal":
            mbs.AddObject(items.ObjectJointGeneric(markerNumbers=numbers, constrainedAxes=[1, 1, 1, 1, 0, 0]))


def _local(body: Body | None, at: Vector) -> Vector:
    """A world point in the frame of a body."""
    return at if body is None else body.rotation.T @ (at - body.position)


def implicit_settings(mechanism: Mechanism) -> Iterator[Setting]:
    """All combinations worth a try."""
    solvers = SOLVERS if len(mechanism.bodies) <= DENSE_LIMIT else ("EigenSparse",)
    for choice in product((TRAPEZOIDAL, GENERALIZED_ALPHA), (MODIFIED, EACH_STEP), NODES, solvers):
        yield Setting(*choice)


def with_default_tolerance(setting: Setting) -> Setting:
    """The same setting with the tolerance that Exudyn has by itself."""
    return replace(setting, tolerance=DEFAULT_TOLERANCE)


IMPLICIT = Code("Exudyn implicit", implicit_settings, ExudynCase, tight=with_default_tolerance)
