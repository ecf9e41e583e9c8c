"""Events that files can hold: a quantity of a model, by its name, crosses a value.

Names are those of `porthos.quantities` that a single state tells: bob.position.x, pin.angle, strut.measure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from porthos.errors import ModelError
from porthos.notation import flag, number, word
from porthos.quantities import Meaning, momentary, named

Direction: TypeAlias = Literal["rising", "falling", "either"]


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

    def meant(self, known: Mapping[str, Meaning]) -> Meaning:
        """The quantity among those known, which must be a number that a single state tells."""
        try:
            return named(self.quantity, momentary(known))
        except ModelError as error:
            raise ModelError(f"quantity: {error}") from error
