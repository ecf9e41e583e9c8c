"""Controllers of joints that files can hold: inputs u(t, y, state) of a port whose output y is the rate of the joint.

u = k (s* - s) + d (v* - y) for PD control, u = -V'(s) - d y for energy shaping; s is the joint's angle or displacement.
They have no memory: what they answer follows from the state at the begin of a step, and holds during the step; turns of
joints are counted by the run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

from porthos.errors import ModelError
from porthos.model.expressions import formula, rates
from porthos.model.signals import Signal, TimeSignal
from porthos.notation import number

Motion = Literal["turn", "slide"]


@dataclass(frozen=True, kw_only=True)
class JointController:
    """What controllers of a joint have; `motion` says which one of a cylindrical joint is meant."""

    joint: str
    damping: float = 0.0
    motion: Motion | None = None
    name: ClassVar[str] = ""

    def __post_init__(self) -> None:
        if not isinstance(self.joint, str):
            raise ModelError(f"{self.name}: joint: expected the name of a joint, found {self.joint!r}.")
        if not (self.motion is None or (isinstance(self.motion, str) and self.motion in get_args(Motion))):
            raise ModelError(f"{self.name}: motion: expected 'turn' or 'slide', found {self.motion!r}.")
        object.__setattr__(self, "damping", number(self.damping, f"{self.name}: damping", least=0.0))

    def __call__(self, t: float, y: float, state: Any) -> float:
        """The force or torque for the step in whose middle t is."""
        raise TypeError("JointController is the common base; use PD or EnergyShaping")


@dataclass(frozen=True, kw_only=True)
class PD(JointController):
    """PD control of a joint: u = stiffness (target - s) + damping (target_rate - s'), s counts from the start of a run.

    `target` and `target_rate` are numbers or functions of time. Angles count all turns: a target of 20 rad is reached
    after three of them.
    """

    stiffness: float
    target: Signal = 0.0
    target_rate: Signal = 0.0
    name: ClassVar[str] = "PD"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "stiffness", number(self.stiffness, "PD: stiffness", least=0.0))
        for key in ("target", "target_rate"):
            value = getattr(self, key)
            if isinstance(value, TimeSignal) and value.size is not None:
                raise ModelError(f"PD: {key}: expected a number, or a function of time that gives one, found {value}.")
            if not callable(value):
                object.__setattr__(self, key, number(value, f"PD: {key}"))

    def __call__(self, t: float, y: float, state: Any) -> float:
        """Spring and damper between the joint and its target."""
        target, rate = (float(x(t)) if callable(x) else x for x in (self.target, self.target_rate))
        s = state.coordinate(self.joint, self.motion)
        return float(self.stiffness * (target - s) + self.damping * (rate - y))


@dataclass(frozen=True, kw_only=True)
class EnergyShaping(JointController):
    """Energy shaping: u = -dV/ds - damping s', with the `energy` V as an expression such as "3*cos(s) + 2*s**2".

    V is what the mechanism shall have in addition; s counts from the start of a run, an angle with all turns, or with
    `around` within half a turn to either side of it.
    """

    energy: str
    around: float | None = None
    name: ClassVar[str] = "EnergyShaping"
    _slope: Callable[[float], Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.around is not None:
            object.__setattr__(self, "around", number(self.around, "EnergyShaping: around"))
        try:
            formula(self.energy, "s")
            object.__setattr__(self, "_slope", rates(self.energy, "s")[0])
        except ModelError as error:
            raise ModelError(f"EnergyShaping: energy: {error}") from error

    def __call__(self, t: float, y: float, state: Any) -> float:
        """The slope of the energy, and a damper."""
        del t
        return float(-self._slope(state.coordinate(self.joint, self.motion, around=self.around)) - self.damping * y)
