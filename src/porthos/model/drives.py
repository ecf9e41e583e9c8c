"""Drives: joints with one row g(q) = c(t), which prescribe an angle, a displacement or a distance over time.

The rows of a drive are those at t = 0; `motion` says how they go on. A new drive is one class in this file.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import ModelError
from porthos.model.joint_base import Joint
from porthos.model.joints import AxisJoint, SharedAxisJoint
from porthos.model.rows import Angle, Distance, InPlane, Row
from porthos.model.signals import Expression, Signal, TimeSignal
from porthos.notation import Array, finite, normals, vector

JUMP = 1e-3  # relative difference of slopes on both sides of a breakpoint that counts as a jump
NEAR = 1e-4  # where slopes are compared, relative to the least distance of two breakpoints
PARALLEL = 1e-8  # 1 - cosine of an angle between axes that counts as none
STEP = 1e-2  # s: first step of numerical derivatives


class Motion:
    """s(t) with its first two derivatives; those of a plain function are numerical."""

    def __init__(self, source: Any, where: str) -> None:
        self.where, self.source = where, source
        self.breakpoints: tuple[float, ...] = tuple(getattr(source, "breakpoints", ()))
        known = source.rates if isinstance(source, TimeSignal) else None
        self._rates: tuple[Callable[[float], Any], ...] = known or ()

    @property
    def text(self) -> str:
        """What it is, for reports."""
        if isinstance(self.source, Expression):
            return f"s(t) = {self.source.formula}"
        return f"s(t) = {self.source}" if not callable(self.source) or isinstance(self.source, TimeSignal) else "s(t)"

    def __call__(self, t: float) -> float:
        """s at time t; raises what the function of a user raises."""
        return float(self.source(t)) if callable(self.source) else float(self.source)

    def rates(self, t: Array, order: int = 1) -> Array:
        """The derivative (T,) of order 1 or 2 at the times t."""
        if not callable(self.source):
            return np.zeros(t.shape)
        if self._rates:
            return np.array([float(self._rates[order - 1](x)) for x in t.tolist()])
        from scipy.differentiate import derivative  # half a second, for plain functions only

        inner = np.vectorize(self, otypes=[np.float64]) if order == 1 else self.rates
        return np.asarray(derivative(inner, t, initial_step=STEP).df)

    def check(self) -> None:
        """Refuse what is no number at the start, and jumps of value or slope, which no finite force makes."""
        if isinstance(self.source, TimeSignal) and self.source.size is not None:
            raise ModelError(
                f"{self.where}: expected a plain number for each time, found {self.source.size} components."
            )
        try:
            start = np.array(self(0.0))
        except ModelError:
            raise
        except Exception as error:  # a user's function may raise anything
            raise ModelError(
                f"{self.where}: expected a number or a function of time, such as ph.Sine(0.1, frequency=2.0), found "
                f"{self.source!r}, which failed at t = 0 with {type(error).__name__}: {error}"
            ) from error
        finite(start, f"{self.where} at t = 0")
        self._check_jumps()

    def _check_jumps(self) -> None:
        """Compare slopes on both sides of each breakpoint, relative to those between breakpoints."""
        times = sorted(set(self.breakpoints))
        gaps = [(b - a, abs(self(b) - self(a))) for a, b in pairwise(times)]
        d = NEAR * min((gap for gap, _ in gaps), default=1.0)
        usual = max((change / gap for gap, change in gaps), default=0.0)
        for t in times:
            before, at, after = self(t - d), self(t), self(t + d)
            size = max(usual, abs(at - before) / d, abs(after - at) / d)
            if t > 0.0 and abs(after - 2.0 * at + before) / d > JUMP * size:
                raise ModelError(
                    f"{self.where}: expected a motion whose velocity does not jump, found a jump at t = {t:.6g}: "
                    "bodies with mass would need an infinite force there. Try ph.Ramp(..., smooth=True), or a formula."
                )


@dataclass(frozen=True, kw_only=True)
class Drive(Joint):
    """What all drives have: one row, and the motion that it follows."""

    measure: ClassVar[Literal["length", "value", "turn"]]
    prescribed: ClassVar[str]  # the field with the function of time

    def __post_init__(self) -> None:
        super().__post_init__()
        self.motion.check()

    @property
    def motion(self) -> Motion:
        """The angle, displacement or distance as a function of time."""
        return Motion(getattr(self, self.prescribed), f"{self.where}: {self.prescribed}")

    @property
    def start(self) -> float:
        """What it prescribes at t = 0."""
        return self.motion(0.0)

    @property
    def where(self) -> str:
        """How messages call this drive."""
        return f"{self.kind} '{self.name}'"

    @property
    def beginning(self) -> str:
        """What it prescribes at t = 0, for messages."""
        return f" with {self.prescribed} = {self.start:.6g} at t = 0"

    @abstractmethod
    def _row(self, s: float) -> Row:
        """The row that holds the value s."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """Its row at t = 0."""
        return (self._row(self.start),)


@dataclass(frozen=True, kw_only=True)
class TurnDrive(SharedAxisJoint, Drive):
    """Prescribes the turn of B against A about an axis that they share, in rad since the placement: 1 row.

    It does not hold the axis: a revolute or cylindrical joint does that.
    """

    angle: Signal
    kind: ClassVar[str] = "turn_drive"
    measure: ClassVar[Literal["turn"]] = "turn"
    prescribed: ClassVar[str] = "angle"

    @property
    def directions(self) -> tuple[Array, Array, Array]:
        """Two vectors of A, of which the first becomes the second by a quarter turn, and that of B which follows."""
        m1, m2 = normals(np.asarray(self.axis))
        return m1, m2, self.turn_b @ m1

    def check_held(self, joints: Iterable[Joint]) -> None:
        """Refuse an axis that no joint between the two parts holds: the angle could not be followed exactly."""
        sides = {self.a, self.b}
        between = [joint for joint in joints if {joint.a, joint.b} == sides and not isinstance(joint, Drive)]
        for joint in between:
            names = ("axis", "normal") if joint.a == self.a else ("axis_b", "normal_b")
            held = next((np.asarray(getattr(joint, name)) for name in names if hasattr(joint, name)), np.zeros(3))
            if joint.pairs and abs(held @ np.asarray(self.axis)) > 1.0 - PARALLEL:
                return
        found = ", ".join(f"the {joint.where}" for joint in between) or "none"
        raise ModelError(
            f"{self.where}: axis: expected a joint between '{self.a}' and '{self.b}' that holds this axis, revolute, "
            f"cylindrical or planar, found {found}. Add one, or drive the distance of two points with length_drive."
        )

    def ahead(self, s: float) -> Array:
        """The vector of A with which that of B coincides after a turn by s."""
        m1, m2, _ = self.directions
        return np.cos(s) * m1 + np.sin(s) * m2

    @property
    def pairs(self) -> tuple[tuple[Array, Array], ...]:
        """The vectors that coincide at t = 0."""
        return ((self.ahead(self.start), self.directions[2]),)

    def _row(self, s: float) -> Row:
        return Angle(self.ahead(s + np.pi / 2), self.directions[2])


@dataclass(frozen=True, kw_only=True)
class SlideDrive(AxisJoint, Drive):
    """Prescribes how far a point of B is ahead of a point of A along an axis fixed in A, in m: 1 row.

    Both points are `at`, if no `at_b` is given for B; then the displacement counts from the placement.
    """

    displacement: Signal
    kind: ClassVar[str] = "slide_drive"
    measure: ClassVar[Literal["value"]] = "value"
    prescribed: ClassVar[str] = "displacement"

    @property
    def pairs(self) -> tuple[tuple[Array, Array], ...]:
        """None: B may turn."""
        return ()

    def _row(self, s: float) -> Row:
        n, (point_a, point_b) = np.asarray(self.axis), self.points
        return InPlane(n, point_a + s * n, point_b)


@dataclass(frozen=True, kw_only=True)
class LengthDrive(Drive):
    """Prescribes the distance of a point of B from a point of A in m, such as that of a rope on a winch: 1 row."""

    point_a: ArrayLike
    point_b: ArrayLike
    length: Signal
    kind: ClassVar[str] = "length_drive"
    measure: ClassVar[Literal["length"]] = "length"
    prescribed: ClassVar[str] = "length"

    def __post_init__(self) -> None:
        super().__post_init__()
        for key in ("point_a", "point_b"):
            object.__setattr__(self, key, vector(getattr(self, key), f"{self.where}: {key}"))
        if not self.start > 0.0:
            raise ModelError(f"{self.where}: length: expected a distance above 0 at t = 0, found {self.start!r}.")

    @property
    def points(self) -> tuple[Array, Array]:
        """The two ends of the rope."""
        return np.asarray(self.point_a), np.asarray(self.point_b)

    def _row(self, s: float) -> Row:
        return Distance(*self.points, s)


DRIVES: tuple[type[Drive], ...] = (TurnDrive, SlideDrive, LengthDrive)
