"""What all joints have in common: two parts, the frame in which they are given, rows, and how far they are open."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from porthos.errors import ModelError
from porthos.model.bodies import Pose, Rotation, rotation_matrix
from porthos.model.rows import Angle, Row
from porthos.notation import Array, flag, number, vector, word

DIRECTIONS = ("axis", "axis_a", "axis_b", "normal", "normal_b")  # that a joint may have
# Points given for the two bodies of a joint may lie this far apart, relative to their distance from the
# origin of the joint's lever arms, and axes this far in radians, unless bodies are placed roughly.
GAP_LIMIT = 1e-2
Frame = Literal["world", "body"]
FRAMES = ("world", "body")

# What a joint is given by, and whether it is a point or a vector: first what is fixed in A, then what is fixed in B.
FIXED_IN: tuple[dict[str, str], dict[str, str]] = (
    {
        "at": "point",
        "point_a": "point",
        "axis": "vector",
        "axis_a": "vector",
        "normal": "vector",
        "velocity": "vector",
        "angular_velocity": "vector",
    },
    {"at_b": "point", "point_b": "point", "axis_b": "vector", "normal_b": "vector", "along": "vector"},
)


@dataclass(frozen=True)
class Rate:
    """What a joint is given of its motion at the start: n . (omega_B - omega_A), or d/dt n . (x_B - x_A) of a slide."""

    key: str  # of the joint, for messages
    value: float
    vector: Array  # n, fixed in A, or in B
    slides: bool = False
    in_b: bool = False


@dataclass(frozen=True, kw_only=True)
class Joint:
    """What all joints have: a name, two parts, and rows; `kind` is the name of the joint in the literature.

    `frame` says in which coordinates it is given: those of the world at the placement, or of each body. `rough` says
    that the placement is rough: the assembly closes the joint, however far it is open.
    """

    name: str
    a: str
    b: str
    frame: Frame = "world"
    rough: bool = False
    kind: ClassVar[str] = ""

    def __post_init__(self) -> None:
        check_frame(self.frame, self.where)
        object.__setattr__(self, "rough", flag(self.rough, f"{self.where}: rough") or self.frame == "body")

    def moved(self, a: Pose, b: Pose) -> Self:
        """The joint after a motion of what is fixed in A and in B; poses of the bodies lead from their frames."""
        return replace(self, frame="world", rough=True, **carried(self, a, b))

    @property
    def pairs(self) -> tuple[tuple[Array, Array], ...]:
        """Unit vectors of A and of B that are the same where the joint is closed."""
        return ()

    @property
    def gaps(self) -> tuple[float, float]:
        """How far the joint is open at the placement: a distance in metres and an angle in radians."""
        apart = [row.gap() for row in self.rows if not isinstance(row, Angle)]
        turned = [2.0 * float(np.arcsin(min(1.0, float(np.linalg.norm(v - u)) / 2))) for u, v in self.pairs]
        turned = turned or [row.gap() for row in self.rows if isinstance(row, Angle)]
        return max(apart, default=0.0), max(turned, default=0.0)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The constraints of this joint."""
        raise TypeError("Joint is the common base; use Revolute, Spherical, ...")

    @property
    def rates(self) -> tuple[Rate, ...]:
        """Its velocities at the start, as far as they are given."""
        return ()

    @property
    def where(self) -> str:
        """How messages call this joint."""
        return f"{self.kind} joint '{self.name}'"

    @property
    def beginning(self) -> str:
        """What messages say of the value at which it begins; joints have none."""
        return ""

    @property
    def points(self) -> tuple[Array, Array]:
        """The points of A and B at which the reaction force is reported."""
        raise TypeError("Joint is the common base; use Revolute, Spherical, ...")


def carried(part: Any, a: Pose, b: Pose) -> dict[str, Any]:
    """The fields of a joint or force element that are fixed in A or in B, after a motion of these."""
    given = {f.name: getattr(part, f.name) for f in fields(part)}
    changed = {
        key: getattr(pose, kind)(np.asarray(given[key]))
        for pose, kinds in zip((a, b), FIXED_IN, strict=True)
        for key, kind in kinds.items()
        if given.get(key) is not None
    }
    if "rotation_b" in given:
        changed["rotation_b"] = b.matrix @ rotation_matrix(given["rotation_b"]) @ a.matrix.T
    return changed


def check_frame(frame: str, where: str) -> None:
    """Refuse an unknown frame."""
    word(frame, f"{where}: frame", FRAMES)


def check_rotation(joint: Joint, value: Rotation) -> None:
    """Refuse what is no rotation."""
    rotation_matrix(value, f"{joint.where}: rotation_b")


def check_rate(joint: Joint, key: str, length: int = 0) -> None:
    """Store a rate at the start as a finite number, or as so many of them, if there is one."""
    value = getattr(joint, key)
    if value is not None:
        what = f"{joint.where}: {key}"
        object.__setattr__(joint, key, vector(value, what, length) if length else number(value, what))


def given_rates(joint: Joint, key: str, *along: Array, slides: bool = False) -> tuple[Rate, ...]:
    """The rates of a key along vectors fixed in A, or none if it is not given."""
    values = [] if getattr(joint, key) is None else np.atleast_1d(getattr(joint, key)).tolist()
    return tuple(Rate(key, value, n, slides) for value, n in zip(values, along, strict=False))


def check_gap(joint: Joint, size: float) -> None:
    """Refuse points or axes that lie far apart, measured by the `size` of the parts that the joint connects."""
    gap, angle = joint.gaps
    if joint.rough or (gap <= GAP_LIMIT * size and angle <= GAP_LIMIT):
        return
    pa, pb = joint.points
    missed = f"they miss each other by {gap:.4g}" + (f" m and {angle:.4g} rad" if angle > GAP_LIMIT else "")
    known = {key: vars(joint).get(key) for key in DIRECTIONS} if angle > GAP_LIMIT else {}
    told = [
        f"{key}: {np.round(np.asarray(n, dtype=np.float64), 6).tolist()}" for key, n in known.items() if n is not None
    ]
    missed += f" with {', '.join(told)}" if told else ""
    raise ModelError(
        f"{joint.where}: the points given on '{joint.a}' {np.round(pa, 6).tolist()} and on '{joint.b}' "
        f"{np.round(pb, 6).tolist()} do not fit together; {missed}. "
        f"Expected world coordinates at the initial placement, where the joint is closed{joint.beginning}; "
        "check the positions of the two parts, or say rough=True to let the assembly close it."
    )
