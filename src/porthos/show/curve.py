"""One line of a figure or of a plot in a report, and its names."""

from __future__ import annotations

from dataclasses import dataclass

from porthos.notation import Array


@dataclass(frozen=True)
class Curve:
    """Values over time, whose they are, their symbol, and the axis (with unit, if it is known) that they belong on."""

    owner: str  # a body, joint, force element, load, port or state; empty for the whole of a mechanism
    symbol: str  # in TeX; empty where the name of the owner says all
    axis: str
    log: bool
    values: Array  # (T,)

    @property
    def label(self) -> str:
        """What a legend says."""
        return f"{literal(self.owner)} {self.symbol}".strip()


def literal(name: str) -> str:
    """A name of the user's, of which matplotlib is not to make mathematics."""
    return name.replace("$", r"\$")
