"""Events that files can hold: a quantity of a model, by its name, crosses a value.

Names are those of figures, such as bob.position.x and strut.measure, and of controllers: pin.angle, guide.displacement.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from porthos.errors import ModelError, nearest
from porthos.notation import flag, number, word

Direction: TypeAlias = Literal["rising", "falling", "either"]
OF_POINTS = tuple(f"{vector}.{axis}" for vector in ("position", "velocity") for axis in "xyz")
QUANTITIES: dict[str, tuple[str, ...]] = {  # by kinds of bodies, joints and force elements
    "rigid": (*OF_POINTS, *(f"angular_velocity.{axis}" for axis in "xyz")),
    "point": OF_POINTS,
    "revolute": ("angle",),
    "cylindrical": ("angle", "displacement"),
    "prismatic": ("displacement",),
    **dict.fromkeys(("spring", "damper", "attraction", "potential"), ("measure",)),
}


@dataclass(frozen=True)
class Crossing:
    """An event: a `quantity` such as "bob.position.x", "pin.angle" or "strut.measure" crosses a value.

    It may be asked for where it rises or falls only; `terminal` ends the run there. Angles and displacements of joints
    count from the start of a run; an angle meets its value once in each turn.
    """

    quantity: str
    value: float = 0.0
    direction: Direction = "either"
    terminal: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.quantity, str):
            raise ModelError(f"Crossing: quantity: expected a name such as 'bob.position.x', found {self.quantity!r}.")
        object.__setattr__(self, "value", number(self.value, "Crossing: value"))
        word(self.direction, "Crossing: direction", get_args(Direction))
        flag(self.terminal, "Crossing: terminal")

    def __str__(self) -> str:
        how = "" if self.direction == "either" else f" {self.direction}"
        return f"{self.quantity} = {self.value:g}{how}{', which ends the run' if self.terminal else ''}"

    def require(self, parts: Iterable[tuple[str, str]]) -> None:
        """Refuse a quantity that parts, with their names and kinds, do not have."""
        known = {name: QUANTITIES[kind] for name, kind in parts if kind in QUANTITIES}
        if any(self.quantity == f"{name}.{one}" for name, quantities in known.items() for one in quantities):
            return
        owner = max((name for name in known if self.quantity.startswith(f"{name}.")), key=len, default=None)
        if owner is None:
            name = self.quantity.partition(".")[0]
            raise ModelError(f"quantity: '{self.quantity}': found no part '{name}' with one. {nearest(name, known)}")
        rest = self.quantity.removeprefix(f"{owner}.")
        raise ModelError(f"quantity: '{owner}' has no quantity '{rest}'. {nearest(rest, known[owner])}")
