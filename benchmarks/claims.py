"""What is claimed of the times per step, and whether a whole run of the benchmark shows it.

A claim bounds a number of each of some mechanisms: the worst of them is told, and must be within the bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.measure import Row

MIDPOINT, GGL, EXUDYN, MUJOCO = "Porthos Midpoint", "Porthos MidpointGGL", "Exudyn implicit", "MuJoCo RK4"
BALLS, HINGES = ("chain-{} spherical", "chain-{} revolute")
ALL = (1, 4, 16, 64, 256, 1024, 4096)  # bodies of the chains
Times = Mapping[str, Mapping[str, Row]]  # by mechanism and code


@dataclass(frozen=True)
class Claim:
    """Numbers by mechanism, each of which must be `limit` at most, or at least."""

    text: str
    limit: float
    values: Mapping[str, float]
    least: bool = False

    @property
    def worst(self) -> str:
        """The mechanism whose number is nearest to the bound, or furthest beyond it."""
        return (min if self.least else max)(self.values, key=lambda name: self.values[name])

    @property
    def holds(self) -> bool:
        """Whether all numbers are within the bound; NaN is not."""
        return all(value >= self.limit if self.least else value <= self.limit for value in self.values.values())


def claims(groups: Sequence[Sequence[Row]]) -> list[Claim]:
    """What a whole run must show."""
    times = {rows[0].mechanism: {row.label: row for row in rows} for rows in groups}
    chains = [form.format(n) for n in (16, 64, 256) for form in (BALLS, HINGES)]
    faster = [BALLS.format(n) for n in ALL if n >= 4] + [HINGES.format(n) for n in ALL if n >= 64]
    body = {name: rows[MIDPOINT].per_step / rows[MIDPOINT].bodies for name, rows in times.items()}
    spread = {form.format("16 to 4096"): _spread([body[form.format(n)] for n in ALL[2:]]) for form in (BALLS, HINGES)}
    near = {"tree of 255": BALLS.format(256), "net 20 x 20": BALLS.format(1024)}
    drifts = {f"{name}, {label}": times[name][label].drift for name in times for label in (MIDPOINT, GGL)}
    return [
        Claim("time of Exudyn's implicit solver / Midpoint", 10.0,
              _ratios(times, EXUDYN, [*chains, "closed loop", "slider-crank"]), least=True),
        Claim("time of MuJoCo's RK4 / Midpoint, on chains that it can do", 1.0,
              _ratios(times, MUJOCO, faster), least=True),
        Claim("time of MidpointGGL / Midpoint", 2.5, _ratios(times, GGL, times)),
        Claim("time per body, dearest size / cheapest size", 1.5, spread),
        Claim("time per body / that of the chain with ball joints of about the size", 5.0,
              {f"{name} / {chain}": body[name] / body[chain] for name, chain in near.items()}),
        Claim("energy drift of Porthos", 1e-9, {name: drift for name, drift in drifts.items() if drift is not None}),
    ]  # fmt: skip


def _spread(values: Sequence[float]) -> float:
    return max(values) / min(values)


def _ratios(times: Times, label: str, names: Iterable[str]) -> dict[str, float]:
    """The time of a code divided by that of Midpoint, where it was measured."""
    pairs = {name: (times[name][label].per_step, times[name][MIDPOINT].per_step) for name in names}
    return {name: a / b for name, (a, b) in pairs.items() if a is not None and b is not None}
