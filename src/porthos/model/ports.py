"""Named ports: an input u given to `simulate`, and its conjugate output y, so that the power is y . u."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import ModelError
from porthos.model.forces import TorqueMap, check_torque_map
from porthos.notation import unit, vector, word

PortKind = Literal["wrench", "force", "torque"]
WRENCH_COLUMNS: dict[str, slice] = {"wrench": slice(0, 6), "force": slice(0, 3), "torque": slice(3, 6)}


@dataclass(frozen=True)
class Port:
    """A port on a body: u is a wrench (6), a force (3), a torque (3), or the size of one along `direction`."""

    name: str
    body: str
    kind: PortKind = "wrench"
    at: ArrayLike | None = None
    direction: ArrayLike | None = None
    torque_map: TorqueMap = "exact"

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

    def wrench_basis(self) -> np.ndarray:
        """The matrix W (6, k) with (F, tau) = W u."""
        W = np.eye(6)[:, WRENCH_COLUMNS[self.kind]]
        return W if self.direction is None else W @ np.asarray(self.direction)[:, None]
