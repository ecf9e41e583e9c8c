"""What acts on bodies from outside: loads.

A load is the wrench (F, tau) at a point fixed in a body; its conjugate is the twist (v_P, omega) of that point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import ModelError
from porthos.model.joint_base import Frame, check_frame
from porthos.model.signals import Signal, TimeSignal
from porthos.notation import vector

TorqueMap = Literal["exact", "printed"]
TORQUE_MAPS: tuple[str, ...] = ("exact", "printed")


def check_torque_map(name: str, where: str) -> None:
    """Refuse an unknown way to turn a torque into forces on the directors."""
    if not isinstance(name, str) or name not in TORQUE_MAPS:
        raise ModelError(
            f"{where}: torque_map: expected 'exact' (reciprocal directors, the impulse is exact) or 'printed' "
            f"(eq. (32) of the source), found {name!r}. 'exact' is right unless a printed result is to be repeated."
        )


@dataclass(frozen=True)
class Load:
    """Force and torque on a body, each a constant or a function of time; `at` is the point that the force acts on.

    They are in world axes, and `at` is a world point at the placement; with `frame` "body" all three are in the frame
    of the body, and turn with it.
    """

    name: str
    body: str
    force: Signal | None = None
    torque: Signal | None = None
    at: ArrayLike | None = None
    torque_map: TorqueMap = "exact"
    frame: Frame = "world"

    def __post_init__(self) -> None:
        where = f"load '{self.name}'"
        if self.force is None and self.torque is None:
            raise ModelError(
                f"{where}: expected a force, a torque or both, found neither. Try force=(0, 0, 1), or a function of "
                "time that returns 3 numbers."
            )
        for key in ("force", "torque"):
            value = getattr(self, key)
            if value is not None and not callable(value):
                object.__setattr__(self, key, vector(value, f"{where}: {key}"))
            if isinstance(value, TimeSignal) and value.size != 3:
                raise ModelError(
                    f"{where}: {key}: expected 3 components, found {value.size or 'a plain number'}: {value}."
                )
        if self.at is not None:
            object.__setattr__(self, "at", vector(self.at, f"{where}: at"))
        check_torque_map(self.torque_map, where)
        check_frame(self.frame, where)

    def wrench_basis(self) -> np.ndarray:
        """The matrix W (6, k) with (F, tau) = W u."""
        columns = [k for k in range(6) if (self.force, self.torque)[k // 3] is not None]
        return np.eye(6)[:, columns]
