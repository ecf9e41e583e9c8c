"""Flexible beams: geometrically exact (Simo and Reissner), in directors.

A beam is a row of nodes, which are rigid bodies, with segments between them, which are force elements. A segment of
length L between the nodes A and B has six strains. Each is one row that is quadratic in the directors, with the means
d_i = (d_i^A + d_i^B)/2:
  shear    L Gamma_i = d_i . (phi_B - phi_A),   i = 1, 2
  stretch  L Gamma_3 = d_3 . (phi_B - phi_A - 2/3 L d_3) - L/3
  turning  L K_i = theta_i,   sin theta_i = d_k . (d_j^B - d_j^A),   (i, j, k) cyclic
and stores L/2 (Gamma . C Gamma + K . D K); what strains are at the placement is subtracted. Mass is at the nodes.
An arc of the angle theta has the mean |d_3|^2 = (1 + cos theta)/2 and the chord L sin(theta/2)/(theta/2), so that its
stretch is zero but for theta^4.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import ModelError
from porthos.model.bodies import RigidBody, rotation_matrix
from porthos.model.element_base import Element, Joints, Law
from porthos.model.elements import MOST_TERMS
from porthos.model.joints import Fixed
from porthos.model.rows import Bend, Stretch
from porthos.model.sections import Section
from porthos.notation import Array, number, unit, vector

STRETCH = 2.0 / 3.0  # how much of the mean director the stretch is measured without
STEEP = 0.9  # a beam whose direction has a larger vertical component has its height along x
STRAIGHT = 1e-9  # an arc that is flatter than this, relative to its length, is a line
MOST_ELEMENTS = 10_000
SHARPEST = 0.3  # rad, of a segment without load: the series for its angle is good to 0.3 % where it becomes straight


class BeamNode(RigidBody):
    """A cross-section of a beam: its place, and its axes along the width, the height and the beam."""


@dataclass(frozen=True, kw_only=True)
class Clamp(Fixed):
    """What holds an end of a beam."""


@dataclass(frozen=True, kw_only=True)
class Segment(Element):
    """The piece of a beam between two neighbouring nodes."""

    a: BeamNode
    b: BeamNode
    length: float
    section: Section
    damping: float
    kind: ClassVar[str] = "segment"

    def sides(self, joints: Joints) -> tuple[str, str]:
        """Its nodes."""
        del joints
        return self.a.name, self.b.name

    def points(self, joints: Joints) -> tuple[Array, Array]:
        """Where they are."""
        del joints
        return np.asarray(self.a.position), np.asarray(self.b.position)

    def laws(self, joints: Joints) -> tuple[Law, ...]:
        """Three of displacements along the mean directors, three of the sines of rotations about them."""
        del joints
        (A, B), (x, y) = (self.a.matrix, self.b.matrix), self.points({})
        laws = []
        for i, k in enumerate((np.asarray(self.section.stiffness) / self.length).tolist()):
            shift = Stretch(A[:, i], B[:, i], x, y, STRETCH * self.length if i == 2 else 0.0)
            laws.append(Law("value", (shift,), (0.0, k), shift.value, self.damping * k))
        for i, k in enumerate((np.asarray(self.section.turning_stiffness) / self.length).tolist()):
            second, third = (i + 1) % 3, (i + 2) % 3
            turn = Bend(A[:, third], B[:, third], A[:, second], B[:, second])
            force = tuple(k * c for c in angle_series(turn.value))
            laws.append(Law("value", (turn,), force, turn.value, self.damping * k))
        return tuple(laws)


@dataclass(frozen=True, kw_only=True)
class Beam:
    """A flexible beam from `start` to `end`, without load at its placement: straight, or an arc through `via`.

    Its ends are nodes, `name.start` and `name.end`, to which joints, loads and ports may be attached; inner nodes are
    `name.1`, `name.2`, ... If `a` is given, it holds the start, `b` the end. The height of the section is along `up`,
    by default along z, or x if the beam is steep. `damping` in s is the time by which stress is ahead of strain: stress
    = stiffness (strain + damping rate of strain). `velocity` is that of the start, `angular_velocity` that of all; if
    neither is given, the beam moves with the body that holds it.
    """

    name: str
    section: Section
    start: ArrayLike
    end: ArrayLike
    a: str | None = None
    b: str | None = None
    elements: int = 10
    via: ArrayLike | None = None
    up: ArrayLike | None = None
    damping: float = 0.0
    velocity: ArrayLike | None = None
    angular_velocity: ArrayLike | None = None
    nodes: tuple[BeamNode, ...] = field(init=False, repr=False, compare=False)
    segments: tuple[Segment, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.section, Section):
            raise ModelError(
                f"{self.where}: section: expected a cross-section, found {self.section!r}. Try "
                "ph.RectangularSection(width=0.02, height=0.01, young=2.1e11, poisson=0.3, density=7850)."
            )
        for key in ("start", "end"):
            object.__setattr__(self, key, vector(getattr(self, key), f"{self.where}: {key}"))
        for key in ("via", "up", "velocity", "angular_velocity"):
            if getattr(self, key) is not None:
                object.__setattr__(self, key, vector(getattr(self, key), f"{self.where}: {key}"))
        n: Any = self.elements
        if not isinstance(n, int | np.integer) or isinstance(n, bool) or not 1 <= n <= MOST_ELEMENTS:
            raise ModelError(
                f"{self.where}: elements: expected a whole number from 1 to {MOST_ELEMENTS}, found {n!r}. Try 20."
            )
        object.__setattr__(self, "damping", number(self.damping, f"{self.where}: damping", least=0.0))
        still = np.zeros(3)
        self._divide(*(still if x is None else np.asarray(x) for x in (self.velocity, self.angular_velocity)))

    def carried(self, holder: RigidBody) -> Self:
        """The same beam in the motion of a body, if it has no velocity of its own."""
        if self.velocity is not None or self.angular_velocity is not None:
            return self
        result, omega = copy(self), np.asarray(holder.angular_velocity)
        arm = np.asarray(self.start) - np.asarray(holder.position)
        result._divide(np.asarray(holder.velocity) + np.cross(omega, arm), omega)
        return result

    @property
    def where(self) -> str:
        """How messages call this beam."""
        return f"beam '{self.name}'"

    @property
    def length(self) -> float:
        """Of its centre line without load."""
        return self._arc[2]

    @property
    def clamps(self) -> dict[str, tuple[str, BeamNode, Array]]:
        """Names of the joints that hold the ends: the part that holds, the node and the place."""
        held = ((self.a, self.nodes[0], self.start), (self.b, self.nodes[-1], self.end))
        return {f"{node.name}.clamp": (part, node, np.asarray(at)) for part, node, at in held if part is not None}

    @property
    def _arc(self) -> tuple[Array, float, float]:
        """Direction at the start times the length, or the axis about which it turns, by how much, and the length."""
        start, end = np.asarray(self.start), np.asarray(self.end)
        chord = float(np.linalg.norm(end - start))
        if chord <= STRAIGHT * max(np.abs(start).max(), np.abs(end).max()):
            raise ModelError(
                f"{self.where}: expected an end away from the start, found both at {start.tolist()}. Try end="
                f"{(start + np.eye(3)[0]).tolist()}; beams that are closed are made of two."
            )
        if self.via is None:
            return end - start, 0.0, chord
        first, second = np.asarray(self.via) - start, end - np.asarray(self.via)
        normal = np.cross(first, second)
        sine = float(np.linalg.norm(normal))
        angle = 2.0 * float(np.arctan2(sine, first @ second))  # the one at the centre is twice that on the circle
        if sine <= STRAIGHT * chord**2 or angle <= STRAIGHT:
            raise ModelError(
                f"{self.where}: via: expected a point beside the line from start to end, found "
                f"{np.asarray(self.via).tolist()}. Leave it out for a straight beam."
            )
        if angle > SHARPEST * self.elements:
            names = ("start", "via", "end")
            points = ", ".join(f"{name}: {np.asarray(getattr(self, name)).tolist()}" for name in names)
            raise ModelError(
                f"{self.where}: elements: expected at least {int(np.ceil(angle / SHARPEST))} for an arc of "
                f"{np.degrees(angle):.0f} degrees, found {self.elements}. The arc has {points}."
            )
        return normal / sine, angle, chord * angle / (2.0 * float(np.sin(angle / 2)))

    def _divide(self, velocity: Array, omega: Array) -> None:
        """Make nodes, which move with this velocity of the start, and segments."""
        (axis, angle, length), n = self._arc, int(self.elements)
        start, end = np.asarray(self.start), np.asarray(self.end)
        turns = [rotation_matrix((axis, angle * k / n)) for k in range(n + 1)]
        if angle == 0.0:
            tangent, places = axis / length, np.linspace(start, end, n + 1)
        else:
            chord = end - start
            tangent = rotation_matrix((axis, -angle / 2)) @ chord / np.linalg.norm(chord)
            arm = length / angle * np.cross(tangent, axis)  # from the centre to the start
            places = np.array([start - arm + R @ arm for R in turns])
        frame, names = self._frame(tangent), [f"{self.name}.{k}" for k in range(n + 1)]
        names[0], names[-1] = f"{self.name}.start", f"{self.name}.end"
        nodes = []
        for k, (name, x, R) in enumerate(zip(names, places, turns, strict=True)):
            slice_ = self.section.slice(length / n * (0.5 if k in (0, n) else 1.0))
            nodes.append(BeamNode(name, slice_, x, R @ frame, velocity + np.cross(omega, x - start), omega))
        segments = [
            Segment(
                name=f"{self.name}.{k}-{k + 1}", a=a, b=b, length=length / n, section=self.section, damping=self.damping
            )
            for k, (a, b) in enumerate(pairwise(nodes))
        ]
        object.__setattr__(self, "nodes", tuple(nodes))
        object.__setattr__(self, "segments", tuple(segments))

    def _frame(self, tangent: Array) -> Array:
        """The axes of the first section as columns."""
        height = np.asarray(self.up) if self.up is not None else np.eye(3)[0 if abs(tangent[2]) > STEEP else 2]
        across = height - tangent * (height @ tangent)
        if np.linalg.norm(across) <= STRAIGHT * np.linalg.norm(height):
            raise ModelError(
                f"{self.where}: up: expected a direction across the beam, along the height of its section, found "
                f"{height.tolist()}, which is along the beam."
            )
        d2 = unit(across, f"{self.where}: up")
        return np.column_stack([np.cross(d2, tangent), d2, tangent])


def angle_series(s: float) -> tuple[float, ...]:
    """F = sum a_k x^k with x = sine - s for the energy (arcsin(sine) - arcsin(s))^2/2, from (1 - s^2) F' - s F = 1."""
    a = [0.0, 1.0 / (1.0 - s * s)]
    for m in range(1, MOST_TERMS):
        a.append((s * (2 * m + 1) * a[m] + m * a[m - 1]) / ((1.0 - s * s) * (m + 1)))
    return tuple(a)
