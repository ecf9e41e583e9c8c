"""The part of a Model that adds force elements.

Points are world coordinates at the initial placement; with frame="body" each is in the frame of its part.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from porthos.model import elements as e
from porthos.model import potentials as p
from porthos.model.bodies import Body, Rotation
from porthos.model.element_base import Element
from porthos.model.joining import Side
from porthos.model.joint_base import Frame, Joint
from porthos.model.signals import Level, Numbers, Rows


class Forcing(ABC):
    """Adds springs, dampers and other force elements to a model."""

    def spring(
        self,
        name: str,
        a: Side,
        b: Side,
        point_a: ArrayLike,
        point_b: ArrayLike,
        stiffness: Level = 0.0,
        damping: float = 0.0,
        length: float | None = None,
        force: float = 0.0,
        table: Rows | None = None,
        frame: Frame = "world",
    ) -> Element:
        """A spring, and a damper beside it: F = force + k_1 x + k_2 x^2 + ... + c x' with x = distance - length."""
        a_name, b_name = self._names(f"spring '{name}'", a, b)
        return self._act(
            e.Spring(
                name=name, a=a_name, b=b_name, point_a=point_a, point_b=point_b, stiffness=stiffness, damping=damping,
                length=length, force=force, table=table, frame=frame,
            )
        )  # fmt: skip

    def damper(
        self, name: str, a: Side, b: Side, point_a: ArrayLike, point_b: ArrayLike, damping: float,
        frame: Frame = "world",
    ) -> Element:  # fmt: skip
        """A damper along the line between a point of `a` and a point of `b`."""
        a_name, b_name = self._names(f"damper '{name}'", a, b)
        return self._act(
            e.Damper(name=name, a=a_name, b=b_name, point_a=point_a, point_b=point_b, damping=damping, frame=frame)
        )

    def attraction(
        self, name: str, a: Side, b: Side, point_a: ArrayLike, point_b: ArrayLike, strength: float,
        frame: Frame = "world",
    ) -> Element:  # fmt: skip
        """Gravitation or charge: a point of `a` and a point of `b` pull at each other with strength/distance^2."""
        a_name, b_name = self._names(f"attraction '{name}'", a, b)
        return self._act(
            e.Attraction(
                name=name, a=a_name, b=b_name, point_a=point_a, point_b=point_b, strength=strength, frame=frame
            )
        )

    def torsion_spring(
        self,
        name: str,
        joint: Joint | str,
        stiffness: Level = 0.0,
        damping: float = 0.0,
        angle: float = 0.0,
        torque: float = 0.0,
        table: Rows | None = None,
    ) -> Element:
        """A spring, and a damper beside it, about the axis of a joint; at rest after a turn by `angle`."""
        known = joint if isinstance(joint, str) else getattr(joint, "name", str(joint))
        return self._act(
            e.TorsionSpring(
                name=name, joint=known, stiffness=stiffness, damping=damping, angle=angle, torque=torque, table=table
            )
        )

    def bushing(
        self,
        name: str,
        a: Side,
        b: Side,
        at: ArrayLike,
        stiffness: ArrayLike = (0.0, 0.0, 0.0),
        damping: ArrayLike = (0.0, 0.0, 0.0),
        turning_stiffness: ArrayLike = (0.0, 0.0, 0.0),
        turning_damping: ArrayLike = (0.0, 0.0, 0.0),
        at_b: ArrayLike | None = None,
        rotation_b: Rotation = None,
        axes: Rotation = None,
        frame: Frame = "world",
    ) -> Element:
        """Springs and dampers along and about three axes, which are world axes at the placement and stay in `a`.

        With frame="body" they are those of `a`, and `at_b` is the point of `b`; see `Bushing`.
        """
        a_name, b_name = self._names(f"bushing '{name}'", a, b)
        return self._act(
            e.Bushing(
                name=name, a=a_name, b=b_name, at=at, stiffness=stiffness, damping=damping,
                turning_stiffness=turning_stiffness, turning_damping=turning_damping, at_b=at_b,
                rotation_b=rotation_b, axes=axes, frame=frame,
            )
        )  # fmt: skip

    def friction(
        self, name: str, joint: Joint | str, coefficient: float, radius: float | None = None, speed: float = 1e-3
    ) -> Element:
        """Dry friction in a revolute joint with a pin of this `radius`, or in a prismatic one: coefficient times force.

        Below `speed` in m/s it falls to zero, so that what it holds creeps.
        """
        known = joint if isinstance(joint, str) else getattr(joint, "name", str(joint))
        return self._act(e.Friction(name=name, joint=known, coefficient=coefficient, radius=radius, speed=speed))

    def potential(
        self, name: str, a: Side, b: Side, point_a: ArrayLike, point_b: ArrayLike, energy: str, between: Numbers,
        frame: Frame = "world",
    ) -> Element:  # fmt: skip
        """A potential of the distance s of two points, such as energy="4*(1/s**12 - 1/s**6)", in joules.

        `between` is the range of s; a run that leaves it stops.
        """
        a_name, b_name = self._names(f"potential '{name}'", a, b)
        return self._act(
            p.Potential(
                name=name, a=a_name, b=b_name, point_a=point_a, point_b=point_b, energy=energy, between=between,
                frame=frame,
            )
        )  # fmt: skip

    def joint_potential(
        self, name: str, joint: Joint | str, energy: str, between: Numbers = (-np.pi, np.pi)
    ) -> Element:
        """A potential of the angle s of a revolute or cylindrical joint, or of the displacement of a prismatic one."""
        known = joint if isinstance(joint, str) else getattr(joint, "name", str(joint))
        return self._act(p.JointPotential(name=name, joint=known, energy=energy, between=between))

    def field(self, name: str, body: Body | str, at: ArrayLike, energy: str, within: float) -> Element:
        """A potential of the world coordinates of a point of a body, such as energy="x**2 + 3*cos(y)", in joules.

        Terms may have one coordinate each, be polynomials in several, or change with one linear combination only.
        `within` is how far the point may go along each axis: a run stops where a term
        leaves what it is made for in that box.
        """
        return self._act(
            p.Field(name=name, body=self._body_name(body, f"field '{name}': body"), at=at, energy=energy, within=within)
        )

    @abstractmethod
    def _names(self, where: str, a: Side, b: Side) -> tuple[str, str]:
        """The names of two parts of this model, given the parts or their names."""

    @abstractmethod
    def _body_name(self, part: Body | str, where: str) -> str:
        """The same of a body."""

    @abstractmethod
    def _act(self, element: Element) -> Element:
        """Add an element."""
