"""What controllers and events may see of a mechanism, and controllers that look now and then."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import InputError
from porthos.kernels.turns import count_turns
from porthos.notation import Array, positive, vector
from porthos.quantities import Meaning, momentary, named
from porthos.steps import WHOLE
from porthos.system.joint_coordinates import TURN, Turning
from porthos.system.mechanical import MechanicalSystem

SAME = 1e-9  # of a period: times this close to a sample count as it


class SensedBody:
    """One body at one moment, in world axes."""

    def __init__(self, system: MechanicalSystem, index: int, q: Array, v: Array) -> None:
        self._principal, self._q, self._v = system.principal[index], q, v

    @property
    def position(self) -> Array:
        """Centre of mass (3,)."""
        return self._q[0].copy()

    @property
    def rotation(self) -> Array:
        """Rotation matrix (3, 3) of the body frame that the user gave."""
        return self._q[1:].T @ self._principal.T

    @property
    def velocity(self) -> Array:
        """Velocity of the centre of mass (3,)."""
        return self._v[0].copy()

    @property
    def angular_velocity(self) -> Array:
        """Angular velocity (3,)."""
        return 0.5 * np.cross(self._q[1:], self._v[1:]).sum(axis=0)

    def point(self, at: ArrayLike) -> Array:
        """Where the body-fixed point `at`, in the body frame, is (3,)."""
        return self.position + self.rotation @ vector(at, "point")


class Sensed:
    """A mechanism at one moment: `state["arm"].position`, `state.angle("shoulder")`, ...

    The moment alone does not tell whole turns of angles; `Turns` of a run tell it theirs.
    """

    def __init__(self, system: MechanicalSystem, q: Array, v: Array) -> None:
        self._system, self._q, self._v = system, q, v
        self._place: dict[str, int] = {}  # of joints in
        self._turned = np.zeros((2, 0))  # their angles over all turns, now and at the begin of the step before

    @classmethod
    def of(cls, system: MechanicalSystem, x: Array) -> Sensed:
        """The mechanism in a state x = (q, v, lambda)."""
        q, v, _ = system.split(x)
        return cls(system, system.to_kernel(q), system.to_kernel(v, rate=True))

    def count(self, joints: Turning, before: Array, h: float) -> Array:
        """Count turns on from what this gave for the state h `before`, at first from (0, J): angles now and then."""
        turned = np.empty((2, len(joints.place)))
        count_turns(joints.sides, joints.frames, self._q, self._v, h, before, turned)
        self._place, self._turned = joints.place, turned
        return turned

    def __getitem__(self, body: str) -> SensedBody:
        index = self._system.body_index(body)
        return SensedBody(self._system, index, self._q[index], self._v[index])

    def angle(self, joint: str) -> float:
        """The turn of the second body against the first about the axis of a joint since t = 0, with all turns.

        To functions of events, which see single states, it is in (-pi, pi].
        """
        place = self._place.get(joint)
        if place is None:
            return float(self._system.joint_coordinates(joint).angle(self._q))
        return self._turned.item(0, place)

    def angle_rate(self, joint: str) -> float:
        """How fast it turns, in rad/s."""
        return float(self._system.joint_coordinates(joint).angle_rate(self._q, self._v))

    def displacement(self, joint: str) -> float:
        """How far the point of the second body is ahead of that of the first along the axis of a joint, in m."""
        return float(self._system.joint_coordinates(joint).displacement(self._q))

    def displacement_rate(self, joint: str) -> float:
        """How fast it slides, in m/s."""
        return float(self._system.joint_coordinates(joint).displacement_rate(self._q, self._v))

    def coordinate(self, joint: str, motion: str | None = None, around: float | None = None) -> float:
        """The displacement of a prismatic joint, or its angle, with `around` within half a turn to either side of it.

        A cylindrical joint has both: the displacement if `motion` is "slide".
        """
        about = self._system.description["joints"][self._system.joint_index(joint)]["kind"]
        if about == "prismatic" or motion == "slide":
            return self.displacement(joint)
        angle = self.angle(joint)
        return angle if around is None else around + (angle - around + np.pi) % TURN - np.pi

    def measure(self, element: str) -> float:
        """The distance of the two points of a spring, damper, attraction or potential, in m."""
        elements, bodies = self._system.elements, len(self._system.body_names)
        law = elements.laws_of(self._system.element_index(element))
        q, v = self._q[None, :bodies], self._v[None, :bodies]
        return float(elements.states(q, v, np.zeros((1, 0)), self._system.still)[0][0, law[0]])

    def quantity(self, name: str, around: float | None = None) -> float:
        """A number by its name: "arm.position.x", "shoulder.angle" (with `around` near it), "strut.measure"."""
        return self.value(named(name, momentary(self._system.quantities)), around)

    def value(self, meant: Meaning, around: float | None = None) -> float:
        """The number that a name stands for."""
        owner, attribute = meant.part.name, meant.attribute
        if meant.part.group == "bodies":
            assert meant.component is not None
            return float(np.ravel(getattr(self[owner], attribute))[meant.component])
        if attribute == "angle":
            return self.coordinate(owner, "turn", around)
        return float(getattr(self, attribute)(owner))


class Turns:
    """Counts the turns of all joints, from step to step: states do not know them.

    `look` is for the state at which a step begins, `keep` for a step that is made: what was kept goes to checkpoints.
    """

    def __init__(self, system: MechanicalSystem) -> None:
        self.system, self._joints = system, Turning.of(system)
        self._none = np.zeros((0, len(self._joints.place)))
        self._kept = self._none  # (2, J) angles at the begin of the last step and of the one before
        self._seen = self._none

    def look(self, state: Sensed, h: float) -> Sensed:
        """Tell a state its turns; the one that was kept is h before it."""
        if self._joints.place:
            self._seen = state.count(self._joints, self._kept, h)
        return state

    def keep(self) -> None:
        """Count on from the state seen last."""
        self._kept = self._seen

    @property
    def memory(self) -> list[list[float]] | None:
        """What was kept, as data for JSON."""
        return self._kept.tolist() if len(self._kept) else None

    @memory.setter
    def memory(self, kept: list[list[float]] | None) -> None:
        """Go on from what was kept."""
        self._kept = self._none if kept is None else np.array(kept, dtype=np.float64)


class Sampled:
    """A controller that is asked every `period` seconds; in between its last answer holds.

    The period is a whole number of steps: a run asks at the begin of steps only.
    """

    def __init__(self, controller: Callable[..., Any], period: float) -> None:
        if not callable(controller):
            raise InputError(f"Sampled: expected a controller u(t, y) or u(t, y, state), found {controller!r}.")
        self.controller, self.period = controller, positive(period, "Sampled: period")
        self._sample, self._held = -1, np.zeros(0)
        self.__signature__ = inspect.signature(controller)

    def __call__(self, t: float, *seen: Any) -> Array:
        """The answer of the last sample."""
        sample = floor(t / self.period + SAME)
        if sample != self._sample:
            self._held = np.atleast_1d(np.asarray(self.controller(sample * self.period, *seen), dtype=np.float64))
            self._sample = sample
        return self._held

    @property
    def state(self) -> list[float]:
        """What it remembers: number of the sample, how many numbers it holds, these, and those of its controller."""
        inner = np.atleast_1d(np.asarray(getattr(self.controller, "state", ()), dtype=np.float64)).ravel()
        return [float(self._sample), float(self._held.size), *self._held.tolist(), *inner.tolist()]

    @state.setter
    def state(self, numbers: list[float]) -> None:
        """Go on with what was remembered."""
        count = int(numbers[1])
        self._sample, self._held = int(numbers[0]), np.array(numbers[2 : 2 + count])
        if hasattr(self.controller, "state"):
            form = np.asarray(self.controller.state, dtype=np.float64)
            inner = np.array(numbers[2 + count :]).reshape(form.shape)
            self.controller.state = inner if isinstance(self.controller.state, np.ndarray) else inner.tolist()


def require_samples(port: str, controller: Any, h: float) -> None:
    """Refuse a sampled controller whose samples fall within steps."""
    if isinstance(controller, Sampled):
        steps = controller.period / h
        if round(steps) < 1 or abs(steps - round(steps)) > WHOLE:
            raise InputError(
                f"port '{port}': expected a period of Sampled that is a whole number of steps of {h:g} s, found "
                f"{controller.period:g} s, {steps:.6g} of them. Try step = {controller.period / ceil(steps):.12g}."
            )
