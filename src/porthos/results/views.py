"""Parts of a trajectory under their names: bodies, joints, force elements, loads and ports."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from porthos.notation import Array, vector
from porthos.quantities import named
from porthos.results.run import mean_rate
from porthos.system.joint_coordinates import TURN, JointCoordinates
from porthos.system.joint_forces import joint_reaction

if TYPE_CHECKING:
    from porthos.results.trajectory import Trajectory


class View:
    """One part of a trajectory, `index` among those of its kind."""

    kind: ClassVar[str]
    names: ClassVar[str]  # where the system has the names of such parts

    def __init__(self, run: Trajectory, index: int) -> None:
        self._run, self._index = run, index

    @property
    def name(self) -> str:
        """Its name in the model."""
        return str(getattr(self._run.system, self.names)[self._index])

    def __repr__(self) -> str:
        return described(self, self.kind, self.name, self._run)


def described(view: object, kind: str, name: str, run: Trajectory) -> str:
    """A part of a run and what it has, in words."""
    members = {key: getattr(type(view), key) for key in dir(type(view)) if not key.startswith("_")}
    known = [key for key, member in members.items() if isinstance(member, property | cached_property) and key != "name"]
    return f"<{kind} '{name}' of '{run.system.name}' at {run.t.size} times: {', '.join(known)}>"


class BodyView(View):
    """One body of a trajectory; every array has time as its first axis."""

    kind: ClassVar[str] = "body"
    names: ClassVar[str] = "body_names"

    @property
    def position(self) -> Array:
        """Centre of mass (T, 3)."""
        return self._run.raw.q[:, self._index, 0]

    @property
    def rotation(self) -> Array:
        """Rotation matrices (T, 3, 3) of the body frame that the user gave."""
        directors = self._run.raw.q[:, self._index, 1:]  # (T, i, k): row i is d_i
        return np.einsum("tik,ji->tkj", directors, self._run.system.principal[self._index])

    @property
    def velocity(self) -> Array:
        """Velocity of the centre of mass (T, 3)."""
        return self._run.raw.v[:, self._index, 0]

    @property
    def angular_velocity(self) -> Array:
        """Spatial angular velocity (T, 3); zero for a point mass."""
        d, v = self._run.raw.q[:, self._index, 1:], self._run.raw.v[:, self._index, 1:]
        return 0.5 * np.cross(d, v).sum(axis=1)

    def point(self, at: ArrayLike) -> Array:
        """World path (T, 3) of the body-fixed point `at`, in the body frame that the user gave."""
        return self.position + np.einsum("tkj,j->tk", self.rotation, vector(at, f"point: at: of body '{self.name}'"))


class JointView(View):
    """The reaction of one joint on its second body, at the joint's point, in world axes; second order in the step.

    `force_a` and `torque_a` are those on its first body, at its point there. A joint with an axis has an `angle`, a
    `displacement`, or both, with their rates.
    """

    kind: ClassVar[str] = "joint"
    names: ClassVar[str] = "joint_names"

    def _reaction(self, side: int) -> tuple[Array, ...]:
        run = self._run

        def reaction(rows: slice) -> tuple[Array, ...]:
            lam = run.multipliers_of(rows)
            return joint_reaction(run.system, self._index, run.raw.q[rows], lam, run.raw.wrench[rows], side)

        return run.in_blocks(reaction)

    @cached_property
    def _on_a(self) -> tuple[Array, ...]:
        return self._reaction(0)

    @cached_property
    def _on_b(self) -> tuple[Array, ...]:
        return self._reaction(1)

    @property
    def force(self) -> Array:
        """Force (T, 3)."""
        return self._on_b[0]

    @property
    def torque(self) -> Array:
        """Torque (T, 3) about the joint's point on the second body."""
        return self._on_b[1]

    @property
    def force_a(self) -> Array:
        """Force (T, 3) on the first body."""
        return self._on_a[0]

    @property
    def torque_a(self) -> Array:
        """Torque (T, 3) about the joint's point on the first body: of a gear that on the first wheel."""
        return self._on_a[1]

    @property
    def angle(self) -> Array:
        """How far the second body has turned against the first about the axis since t = 0 (T,), with all turns.

        Between two recorded states it may turn any number of times if it does so evenly.
        """
        return self.turned[0] + TURN * self._run.turns(self._index)

    @property
    def angle_rate(self) -> Array:
        """How fast it turns (T,), in rad/s."""
        return self.turned[1]

    @cached_property
    def turned(self) -> tuple[Array, ...]:
        """The angle without whole turns, in (-pi, pi], and its rate."""
        run, of_joint = self._run, self._coordinates("angle")

        def turned(rows: slice) -> tuple[Array, ...]:
            q, v = run.raw.q[rows], run.raw.v[rows]
            return of_joint.angle(q), of_joint.angle_rate(q, v)

        return run.in_blocks(turned)

    @property
    def displacement(self) -> Array:
        """How far the point of the second body is ahead of that of the first along the axis (T,), in m."""
        return self._gone[0]

    @property
    def displacement_rate(self) -> Array:
        """How fast it slides (T,), in m/s."""
        return self._gone[1]

    @cached_property
    def _gone(self) -> tuple[Array, ...]:
        run, of_joint = self._run, self._coordinates("displacement")

        def gone(rows: slice) -> tuple[Array, ...]:
            q, v = run.raw.q[rows], run.raw.v[rows]
            return of_joint.displacement(q), of_joint.displacement_rate(q, v)

        return run.in_blocks(gone)

    def _coordinates(self, attribute: str) -> JointCoordinates:
        system, name = self._run.system, self.name
        named(f"{name}.{attribute}", system.quantities)  # refuses joints that have none
        return system.joint_coordinates(name)

    @property
    def unique(self) -> bool:
        """Whether the reaction is determined at all recorded times; where it is not, that of least norm is given."""
        return not self.not_unique_at.size

    @property
    def not_unique_at(self) -> Array:
        """The recorded times at which the reaction is not determined: all, or those of singular configurations."""
        found, t = self._run.uniqueness, self._run.t
        return t if self._index in found.always else t[found.states(self._index)]

    @property
    def multipliers(self) -> Array:
        """Lagrange multipliers (T, rows) of this joint at second order."""
        joint = self._run.system.mech.joint[self._index]
        first, last = int(joint.first), int(joint.last)
        return self._run.in_blocks(lambda rows: (self._run.multipliers_of(rows)[:, first:last],))[0]


class Through(View):
    """The energy that goes into a system through a load, port or drive."""

    @property
    def work(self) -> Array:
        """Energy that entered the system here since the start (T,)."""
        return np.cumsum(self._run.raw.work[:, self._index])

    @property
    def power(self) -> Array:
        """Mean power that entered since the time before (T,), the share of `work` by its duration; NaN at the start."""
        return mean_rate(self._run.t, self._run.raw.work[:, self._index])


class PortView(Through):
    """A load or port: what it put in, what came out, and the energy that went through it."""

    kind: ClassVar[str] = "port"
    names: ClassVar[str] = "channel_names"

    @property
    def input(self) -> Array:
        """u at the recorded times (T, k); of controllers what held in the step after, at the end in the one before."""
        basis = self._run.system.terminals[self._index].basis
        return self._run.raw.wrench[:, self._index] @ np.linalg.pinv(basis).T

    @property
    def output(self) -> Array:
        """y at the midpoint of the last step before each recorded time (T, k); NaN at the start."""
        y = self._run.raw.outputs[:, self._index] @ self._run.system.terminals[self._index].basis
        y[0] = np.nan
        return y

    @property
    def force(self) -> Array:
        """Force on the body in world axes (T, 3); in a joint on its second body, and back on the first."""
        return self._wrench[:, :3]

    @property
    def torque(self) -> Array:
        """Torque on the body in world axes (T, 3), about the point at which it acts."""
        return self._wrench[:, 3:]

    @cached_property
    def _wrench(self) -> Array:
        loads, raw = self._run.system.loads, self._run.raw

        def turned(rows: slice) -> tuple[Array, ...]:
            return (loads.in_world(self._index, raw.wrench[rows, self._index], raw.q[rows]),)

        return self._run.in_blocks(turned)[0]


class DriveView(Through):
    """A drive: the motion that it prescribed, what force that took, and the energy that went through it."""

    kind: ClassVar[str] = "drive"
    names: ClassVar[str] = "channel_names"

    @property
    def motion(self) -> Array:
        """The prescribed angle, displacement or distance at the recorded times (T,)."""
        return self._run.raw.wrench[:, self._index, 0]

    @property
    def input(self) -> Array:
        """Its rate at the recorded times (T,)."""
        return self._run.raw.wrench[:, self._index, 1]

    @property
    def output(self) -> Array:
        """The force or torque that drives it (T,), the mean over the last step before each time; NaN at the start."""
        force = self._run.raw.outputs[:, self._index, 0].copy()
        force[0] = np.nan
        return force


class ElementView(View):
    """A force element: what it measures, its force, and its energy. Forces pull the two parts together if positive."""

    kind: ClassVar[str] = "element"
    names: ClassVar[str] = "element_names"

    @cached_property
    def _states(self) -> tuple[Array, ...]:
        run, elements = self._run, self._run.system.elements
        laws = elements.laws_of(self._index)

        def states(rows: slice) -> tuple[Array, ...]:
            q, v = run.raw.q[rows], run.raw.v[rows]
            lam = run.multipliers_of(rows) if elements.rubs else np.zeros((len(q), run.system.mech.row.size))
            return tuple(x[:, laws] for x in elements.states(q, v, lam, run.system.still, run.raw.angle[rows]))

        return tuple(x[:, 0] if laws.size == 1 else x for x in run.in_blocks(states))

    @property
    def measure(self) -> Array:
        """The distance of its points or the angle of its joint (T,); what each spring of a bushing feels (T, k)."""
        return self._states[0]

    @property
    def force(self) -> Array:
        """Force along the line or torque about the axis (T,), (T, k) for a bushing."""
        return self._states[1]

    @property
    def energy(self) -> Array:
        """What it stores (T,)."""
        return self._run.element_energy[:, self._index]

    @property
    def dissipated(self) -> Array:
        """Energy that it has taken from the system since the start (T,)."""
        return np.cumsum(self._run.raw.loss[:, self._index])
