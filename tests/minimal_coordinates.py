"""Reference motions of two jointed bodies in minimal coordinates, one for every kind of joint.

This module is test support.  It imports nothing from the package under test and shares no idea with
it: there are no constraints, no multipliers and no directors here.

Scenario.  Body A hangs on the ground by a revolute hinge, body B hangs on A by the joint under test, and
gravity acts.  Points, axes, inertias, orientations and initial rates are all generic, so nothing is
aligned with a coordinate axis.

Coordinates.  Every joint is written as a chain of elementary motions, each a turn about an axis or a
slide along one, given in world coordinates at t = 0 where all amounts ``s`` are zero.  The bodies are
placed by the product of exponentials, ``T_body = T_1(s_1) ... T_k(s_k) T_body(0)``.  A free rotation is
three successive turns about an orthonormal triad, regular while the middle angle stays below a right
angle.

Equations of motion.  The twist of the k-th motion carried to the current configuration is column k of
the Jacobian, and its rate is the Lie bracket with the twist of the motions before it, so both the
Jacobian and its time derivative are exact.  Newton-Euler for both bodies is then projected on those
columns (d'Alembert), which gives as many equations as there are coordinates.

Units are SI.  Angular velocities are spatial (world components).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

Array = NDArray[np.float64]

KINDS: tuple[str, ...] = (
    "spherical",
    "revolute",
    "cylindrical",
    "prismatic",
    "universal",
    "planar",
    "fixed",
    "distance",
    "point_on_line",
    "point_on_plane",
)
"""The joints between A and B for which a reference motion exists."""

HORIZON = 0.5
"""Latest time for which a solution is given; the chains are known to stay regular until then."""


@dataclass(frozen=True, eq=False)
class BodyData:
    """A rigid body and its state at t = 0; the inertia is about the centre of mass, in the body frame."""

    mass: float
    inertia: Array
    position: Array
    rotation: Array
    velocity: Array
    angular_velocity: Array


@dataclass(frozen=True, eq=False)
class JointCase:
    """Everything needed to set up the scenario of one joint, in world coordinates at t = 0.

    ``geometry`` holds the keyword arguments of the joint between A and B: ``at`` with ``axis``,
    ``normal``, or ``axis_a`` and ``axis_b``, or the pair ``point_a`` and ``point_b``.  Axes and normals
    have unit length.  ``energy`` is kinetic plus potential energy, the latter zero at the world origin.
    """

    kind: str
    gravity: Array
    hinge_point: Array
    hinge_axis: Array
    a: BodyData
    b: BodyData
    geometry: dict[str, Array]
    energy: float


@dataclass(frozen=True, eq=False)
class Solution:
    """Motion of both bodies at given times; the first index is time, the second 0 for A and 1 for B."""

    times: Array
    position: Array
    rotation: Array
    velocity: Array
    angular_velocity: Array


@dataclass(frozen=True, eq=False)
class _Body:
    """Constant data of a body, with its placement at t = 0."""

    mass: float
    inertia: Array
    position: Array
    rotation: Array


@dataclass(frozen=True, eq=False)
class _Motion:
    """An elementary motion at t = 0: a turn about ``axis`` through ``point``, or a slide if that is None."""

    axis: Array
    point: Array | None
    rate: float


@dataclass(frozen=True, eq=False)
class _State:
    """Placement and velocity of a body, with the map from coordinate accelerations to its own.

    ``a = linear @ s'' + linear_bias`` and ``omega' = angular @ s'' + angular_bias``.
    """

    position: Array
    rotation: Array
    velocity: Array
    angular_velocity: Array
    linear: Array
    angular: Array
    linear_bias: Array
    angular_bias: Array


def _vector(*components: float) -> Array:
    return np.array(components, dtype=np.float64)


def _unit(vector: Array) -> Array:
    return vector / float(np.linalg.norm(vector))


def _rotation(axis: Array, angle: float) -> Array:
    """Rotation by ``angle`` about the unit vector ``axis`` (Rodrigues)."""
    x, y, z = axis
    cross: Array = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + math.sin(angle) * cross + 2.0 * math.sin(0.5 * angle) ** 2 * (cross @ cross)


def _triad(first: Array) -> Array:
    """Orthonormal, right-handed triad in rows, the first along ``first``."""
    e1 = _unit(first)
    e2 = _unit(np.cross(e1, _vector(0.37, -0.52, 0.77)))
    return np.array([e1, e2, np.cross(e1, e2)])


def _inertia(principal: Array, axis: Array, angle: float) -> Array:
    """Inertia in a body frame whose axes are not the principal ones."""
    turn = _rotation(_unit(axis), angle)
    return turn @ np.diag(principal) @ turn.T


GRAVITY = _vector(0.0, 0.0, -9.81)
HINGE_POINT = _vector(0.12, -0.23, 0.01)
HINGE_AXIS = _unit(_vector(0.48, 0.83, -0.36))
HINGE_RATE = 1.7

JOINT_POINT = _vector(0.68, 0.17, -0.44)
JOINT_AXIS = _unit(_vector(-0.42, 0.57, 0.71))
SECOND_AXIS = _triad(JOINT_AXIS)[1]
LINK_END = _vector(0.89, 0.46, -0.71)

BODY_A = _Body(
    mass=2.3,
    inertia=_inertia(_vector(0.11, 0.17, 0.23), _vector(0.3, -0.5, 0.8), 0.7),
    position=_vector(0.41, -0.05, -0.23),
    rotation=_rotation(_unit(_vector(0.6, 0.2, -0.7)), 0.9),
)
BODY_B = _Body(
    mass=1.4,
    inertia=_inertia(_vector(0.052, 0.079, 0.097), _vector(-0.7, 0.4, 0.5), 1.1),
    position=_vector(0.97, 0.38, -0.59),
    rotation=_rotation(_unit(_vector(-0.3, 0.9, 0.4)), -1.3),
)


def _turn(point: Array, axis: Array, rate: float) -> _Motion:
    return _Motion(axis, point, rate)


def _slide(axis: Array, rate: float) -> _Motion:
    return _Motion(axis, None, rate)


def _free_rotation(point: Array) -> list[_Motion]:
    """All rotations about ``point``."""
    axes = _triad(_vector(2.0, 0.6, 0.7))
    return [_turn(point, axis, rate) for axis, rate in zip(axes, (1.3, -1.1, 1.9), strict=True)]


def _joint(kind: str) -> tuple[dict[str, Array], list[_Motion]]:
    """Geometry of the joint between A and B, and the motions of B relative to A that it leaves."""
    at, axis = JOINT_POINT, JOINT_AXIS
    _, tangent_1, tangent_2 = _triad(axis)
    _, normal_1, normal_2 = _triad(LINK_END - at)
    turn, slide = _turn(at, axis, -2.4), _slide(axis, 0.7)
    in_plane = [_slide(tangent_1, 0.6), _slide(tangent_2, -0.45)]
    cardan = [_turn(at, axis, 1.6), _turn(at, SECOND_AXIS, -2.1)]
    link = [_turn(at, normal_1, 1.2), _turn(at, normal_2, -0.9)]
    joints = {
        "spherical": ({"at": at}, _free_rotation(at)),
        "revolute": ({"at": at, "axis": axis}, [turn]),
        "cylindrical": ({"at": at, "axis": axis}, [turn, slide]),
        "prismatic": ({"at": at, "axis": axis}, [slide]),
        "universal": ({"at": at, "axis_a": axis, "axis_b": SECOND_AXIS}, cardan),
        "planar": ({"at": at, "normal": axis}, [*in_plane, turn]),
        "fixed": ({"at": at}, []),
        "distance": ({"point_a": at, "point_b": LINK_END}, [*link, *_free_rotation(LINK_END)]),
        "point_on_line": ({"at": at, "axis": axis}, [slide, *_free_rotation(at)]),
        "point_on_plane": ({"at": at, "normal": axis}, [*in_plane, *_free_rotation(at)]),
    }
    if kind not in joints:
        raise ValueError(f"unknown joint kind {kind!r}; known are {', '.join(KINDS)}")
    return joints[kind]


@cache
def _chain(kind: str) -> tuple[_Motion, ...]:
    """The hinge of A, then the motions of B relative to A."""
    return (_turn(HINGE_POINT, HINGE_AXIS, HINGE_RATE), *_joint(kind)[1])


def _state(body: _Body, chain: Sequence[_Motion], amounts: Array, rates: Array) -> _State:
    """State of a body moved by ``chain``; a chain shorter than ``amounts`` leaves its last columns zero.

    A twist is the angular velocity together with the velocity ``moment`` of the material point that is
    passing the world origin.
    """
    turn, shift = np.eye(3), np.zeros(3)
    columns = np.zeros((2, 3, amounts.size))
    omega, moment, omega_rate, moment_rate = np.zeros((4, 3))
    for k, motion in enumerate(chain):
        axis = turn @ motion.axis
        if motion.point is None:
            w, v = np.zeros(3), axis
            shift = shift + amounts[k] * axis
        else:
            centre = turn @ motion.point + shift
            w, v = axis, np.cross(centre, axis)
            turn = turn @ _rotation(motion.axis, amounts[k])
            shift = centre - turn @ motion.point
        columns[:, :, k] = w, v
        omega_rate = omega_rate + rates[k] * np.cross(omega, w)
        moment_rate = moment_rate + rates[k] * (np.cross(omega, v) + np.cross(moment, w))
        omega = omega + rates[k] * w
        moment = moment + rates[k] * v
    position = turn @ body.position + shift
    velocity = moment + np.cross(omega, position)
    return _State(
        position=position,
        rotation=turn @ body.rotation,
        velocity=velocity,
        angular_velocity=omega,
        linear=columns[1] + np.cross(columns[0], position, axisa=0).T,
        angular=columns[0],
        linear_bias=moment_rate + np.cross(omega_rate, position) + np.cross(omega, velocity),
        angular_bias=omega_rate,
    )


def _states(kind: str, amounts: Array, rates: Array) -> tuple[_State, _State]:
    """States of A, which only the hinge moves, and of B, which the whole chain moves."""
    chain = _chain(kind)
    return _state(BODY_A, chain[:1], amounts, rates), _state(BODY_B, chain, amounts, rates)


def _derivative(_time: float, y: Array, kind: str) -> Array:
    """Rates and accelerations of the coordinates, by projection of Newton-Euler."""
    amounts, rates = np.split(y, 2)
    mass_matrix = np.zeros((rates.size, rates.size))
    force = np.zeros(rates.size)
    for body, state in zip((BODY_A, BODY_B), _states(kind, amounts, rates), strict=True):
        inertia = state.rotation @ body.inertia @ state.rotation.T
        omega = state.angular_velocity
        torque = -inertia @ state.angular_bias - np.cross(omega, inertia @ omega)
        mass_matrix += body.mass * state.linear.T @ state.linear + state.angular.T @ inertia @ state.angular
        force += body.mass * state.linear.T @ (GRAVITY - state.linear_bias) + state.angular.T @ torque
    return np.concatenate([rates, np.linalg.solve(mass_matrix, force)])


def _initial(kind: str) -> Array:
    rates = _vector(*(motion.rate for motion in _chain(kind)))
    return np.concatenate([np.zeros(rates.size), rates])


def _energy(body: _Body, state: _State) -> float:
    """Kinetic plus potential energy of one body."""
    omega = state.rotation.T @ state.angular_velocity
    kinetic = 0.5 * body.mass * state.velocity @ state.velocity + 0.5 * omega @ body.inertia @ omega
    return float(kinetic - body.mass * GRAVITY @ state.position)


def _body_data(body: _Body, state: _State) -> BodyData:
    return BodyData(
        mass=body.mass,
        inertia=body.inertia.copy(),
        position=body.position.copy(),
        rotation=body.rotation.copy(),
        velocity=state.velocity,
        angular_velocity=state.angular_velocity,
    )


def joint_case(kind: str) -> JointCase:
    """The scenario of the joint ``kind``; the arrays are fresh copies."""
    geometry, _ = _joint(kind)
    state_a, state_b = _states(kind, *np.split(_initial(kind), 2))
    return JointCase(
        kind=kind,
        gravity=GRAVITY.copy(),
        hinge_point=HINGE_POINT.copy(),
        hinge_axis=HINGE_AXIS.copy(),
        a=_body_data(BODY_A, state_a),
        b=_body_data(BODY_B, state_b),
        geometry={name: value.copy() for name, value in geometry.items()},
        energy=_energy(BODY_A, state_a) + _energy(BODY_B, state_b),
    )


def solve(kind: str, times: Sequence[float] | Array) -> Solution:
    """Reference motion at ``times``, ascending within [0, HORIZON]; the arrays are cached and read-only."""
    instants = tuple(float(time) for time in times)
    if list(instants) != sorted(instants) or not all(0.0 <= time <= HORIZON + 1e-9 for time in instants):
        raise ValueError(f"times must ascend within [0, {HORIZON}]")
    return _solve(kind, instants)


@cache
def _solve(kind: str, times: tuple[float, ...]) -> Solution:
    """Integrate from each instant to the next, so that no value comes from the interpolant."""
    now, y = 0.0, _initial(kind)
    states: list[tuple[_State, _State]] = []
    for time in times:
        if time > now:
            span = (now, time)
            result = solve_ivp(_derivative, span, y, "DOP853", rtol=1e-12, atol=1e-13, args=(kind,))
            if not result.success:
                raise RuntimeError(f"{kind}: {result.message}")
            now, y = time, result.y[:, -1]
        states.append(_states(kind, *np.split(y, 2)))
    solution = Solution(
        times=np.array(times),
        position=np.array([[s.position for s in pair] for pair in states]),
        rotation=np.array([[s.rotation for s in pair] for pair in states]),
        velocity=np.array([[s.velocity for s in pair] for pair in states]),
        angular_velocity=np.array([[s.angular_velocity for s in pair] for pair in states]),
    )
    for array in vars(solution).values():
        array.setflags(write=False)
    return solution
