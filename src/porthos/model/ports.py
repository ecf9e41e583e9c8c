"""Named ports: an input u given to `simulate`, and its conjugate output y, so that the power is y . u."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import ModelError
from porthos.model.element_base import known_joint
from porthos.model.forces import TorqueMap, check_torque_map
from porthos.model.joint_base import Frame, Joint, check_frame
from porthos.model.joints import Cylindrical, Prismatic, Revolute
from porthos.notation import unit, vector, word

PortKind = Literal["wrench", "force", "torque"]
WRENCH_COLUMNS: dict[str, slice] = {"wrench": slice(0, 6), "force": slice(0, 3), "torque": slice(3, 6)}
DrivingKind = Literal["force", "torque"]


@dataclass(frozen=True)
class Port:
    """A port on a body: u is a wrench (6), a force (3), a torque (3), or the size of one along `direction`.

    With `frame` "body" the point `at`, the direction and u belong to the frame of the body and turn with it.
    """

    name: str
    body: str
    kind: PortKind = "wrench"
    at: ArrayLike | None = None
    direction: ArrayLike | None = None
    torque_map: TorqueMap = "exact"
    frame: Frame = "world"

    def __post_init__(self) -> None:
        where = f"port '{self.name}'"
        word(self.kind, f"{where}: kind", tuple(WRENCH_COLUMNS))
        if self.at is not None:
            object.__setattr__(self, "at", vector(self.at, f"{where}: at"))
        if self.direction is not None:
            if self.kind == "wrench":
                raise ModelError(
                    f"{where}: direction: expected none for kind='wrench', which has six inputs, found "
                    f"{self.direction!r}. Use kind='force' or kind='torque'."
                )
            object.__setattr__(self, "direction", unit(self.direction, f"{where}: direction"))
        check_torque_map(self.torque_map, where)
        check_frame(self.frame, where)

    def wrench_basis(self) -> np.ndarray:
        """The matrix W (6, k) with (F, tau) = W u."""
        W = np.eye(6)[:, WRENCH_COLUMNS[self.kind]]
        return W if self.direction is None else W @ np.asarray(self.direction)[:, None]


@dataclass(frozen=True)
class JointPort:
    """A motor in a joint: u is the torque about its axis, or the force along it; the output is the rate of the joint.

    It acts on the second part of the joint, and back on the first. `kind` says which it is in a cylindrical joint; in
    a revolute one it is a torque, in a prismatic one a force.
    """

    name: str
    joint: str
    kind: DrivingKind | None = None

    @property
    def where(self) -> str:
        """How messages call this port."""
        return f"joint port '{self.name}'"

    def resolved(self, joints: Mapping[str, Joint]) -> JointPort:
        """The port with the kind that its joint has, or an error that says what does not fit."""
        joint = known_joint(self, joints)
        turns, slides = isinstance(joint, Revolute | Cylindrical), isinstance(joint, Prismatic | Cylindrical)
        both: tuple[tuple[DrivingKind, bool], ...] = (("torque", turns), ("force", slides))
        kinds = [kind for kind, possible in both if possible]
        if not kinds:
            raise ModelError(
                f"{self.where}: joint: expected a revolute, cylindrical or prismatic joint, which has an axis to turn "
                f"about or to slide along, found the {joint.where}. Use a port on a body."
            )
        if self.kind is not None:
            word(self.kind, f"{self.where}: kind", get_args(DrivingKind))
        if (self.kind is None and len(kinds) > 1) or self.kind not in (None, *kinds):
            expected = " or ".join(f"'{kind}'" for kind in kinds)
            raise ModelError(f"{self.where}: kind: expected {expected} in the {joint.where}, found {self.kind!r}.")
        return replace(self, kind=self.kind or kinds[0])

    def driven(self, joints: Mapping[str, Joint]) -> Revolute | Cylindrical | Prismatic:
        """Its joint."""
        joint = known_joint(self, joints)
        assert isinstance(joint, Revolute | Cylindrical | Prismatic)
        return joint

    def wrench_basis(self) -> np.ndarray:
        """The matrix W (6, 1) with (F, tau) = W u along the axis of the joint."""
        return np.eye(6)[:, [0 if self.kind == "force" else 3]]
