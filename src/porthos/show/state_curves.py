"""Curves of runs over states: their systems know no units, so axes say what is drawn, and names stay plain text."""

from __future__ import annotations

from porthos.results.state_quantities import WHOLE, Series, chosen
from porthos.results.states import StateTrajectory
from porthos.show.curve import Curve

SYMBOLS = {
    "supplied": "W",
    "dissipated": "D",
    "power_balance": "\N{GREEK CAPITAL LETTER DELTA}H \N{MINUS SIGN} \N{GREEK CAPITAL LETTER DELTA}W + "
    "\N{GREEK CAPITAL LETTER DELTA}D",
    "generalized_energy": "p\N{MIDDLE DOT}v \N{MINUS SIGN} L",
    "momentum_gap": "|p \N{MINUS SIGN} dL/dv|",
    "position_error": "max |g(q)|",
}
BALANCE = "H \N{MINUS SIGN} H(0) \N{MINUS SIGN} W + D"


def state_curves(run: StateTrajectory, name: str) -> list[Curve]:
    """The curves that a name stands for: one, or as many as the state or port has numbers."""
    one, number = chosen(run, name)
    found = curves_of(one)
    return found if number is None else [found[number]]


def curves_of(one: Series) -> list[Curve]:
    """One curve for each number; indices are written low where a name is followed by _."""
    values = one.values
    symbol = SYMBOLS.get(one.name, one.name) if one.group == WHOLE else one.owner
    if values.ndim == 1:
        return [Curve(symbol, "", one.axis, one.log, values)]
    return [Curve(f"{symbol}_{k}", "", one.axis, one.log, values[:, k]) for k in range(values.shape[1])]


def energies(run: StateTrajectory) -> list[str]:
    """The energy, and what came in and was lost, where there is such a thing."""
    names = ["H"]
    if run.supplied.any():
        names.append("supplied")
    return names + (["dissipated"] if run.dissipated.any() else [])
