"""The table "which scheme on which system" of docs/schemes.md, found by asking the schemes and by trying them.

`python -m docs.site.schemes` writes it into the page; a test compares the page with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

import porthos as ph
from porthos.integrate.scheme import (
    ANGULAR,
    CYCLIC,
    ENERGY,
    GENERALISED,
    LINEAR,
    POSITION,
    QUADRATIC,
    VELOCITY,
    Contract,
)
from porthos.integrate.state_scheme import OwnSteps

PAGE = Path(__file__).parents[1] / "schemes.md"
BEGIN, END = "<!-- made by docs/site/schemes.py: begin -->\n", "<!-- end -->\n"
STEP = 1e-3
SHORT = {  # what is kept, in the order of the table
    ENERGY: "energy",
    QUADRATIC: "quadratic energy",
    GENERALISED: "generalised energy",
    LINEAR: "linear momentum",
    ANGULAR: "angular momentum",
    CYCLIC: "cyclic momenta",
    POSITION: "g = 0",
    VELOCITY: "G v = 0",
}
SCHEMES: Mapping[str, Contract] = {
    "Midpoint()": ph.Midpoint(),
    "MidpointGGL()": ph.MidpointGGL(),
    "Composition(MidpointGGL(), 4)": ph.Composition(ph.MidpointGGL(), 4),
    "Composition(MidpointGGL(), 6)": ph.Composition(ph.MidpointGGL(), 6),
    "Composition(MidpointGGL(), 8)": ph.Composition(ph.MidpointGGL(), 8),
    "Composition(Midpoint(), 4)": ph.Composition(ph.Midpoint(), 4),
    "Livens()": ph.Livens(),
    "DiscreteGradient()": ph.DiscreteGradient(),
    "Composition(DiscreteGradient(), 4)": ph.Composition(ph.DiscreteGradient(), 4),
    "Composition(LobattoPair(2), 4)": ph.Composition(ph.LobattoPair(2), 4),
    "Gauss(2)": ph.Gauss(2),
    "Gauss(3)": ph.Gauss(3),
    "RadauIIA(3)": ph.RadauIIA(3),
    "LobattoIIIC(3)": ph.LobattoIIIC(3),
    "BDF(2)": ph.BDF(2),
    "LobattoPair(3)": ph.LobattoPair(3),
    "Murua(2)": ph.Murua(2),
    "Murua(2, ggl=True)": ph.Murua(2, ggl=True),
    'GeneralizedAlpha(form="index 3")': ph.GeneralizedAlpha(form="index 3"),
    'GeneralizedAlpha(form="index 2")': ph.GeneralizedAlpha(form="index 2"),
    "GeneralizedAlpha()": ph.GeneralizedAlpha(),
    "HHT()": ph.HHT(),
    "HEDOP5()": ph.HEDOP5(),
    "MDOP5()": ph.MDOP5(),
    "DOP853()": ph.DOP853(),
    'DOP853("Baumgarte")': ph.DOP853("Baumgarte"),
    "IDA()": ph.IDA(),
    'SciPy("Radau")': ph.SciPy("Radau"),
    'SciPy("BDF")': ph.SciPy("BDF"),
}
HEAD = (
    "scheme", "order", "keeps exactly", "symmetric", "stiffly accurate", "mechanisms", "Lagrangians", "pH-DAEs",
    "other descriptor systems", "adaptive steps, events",
)  # fmt: skip
KINDS = ("mechanism", "Lagrangian", "pH-DAE", "descriptor")  # the columns from "mechanisms" on
FREE = ("pH-DAE", "free Lagrangian")


@cache
def systems() -> dict[str, Any]:
    """One small system of each kind; those of `FREE` have no constraints."""
    model = ph.Model("pendulum", gravity=(0, 0, -9.81))
    model.body("arm", ph.Box(mass=1.0, size=(1.0, 0.1, 0.1)), position=(0.5, 0, 0))
    model.revolute("hinge", model.ground, "arm", at=(0, 0, 0), axis=(0, 1, 0))
    x, y, u, v = sp.symbols("x y u v", real=True)
    L, start = (u**2 + v**2) / 2 - 9.81 * y, ([1.0, 0.0], [0.0, 0.0])
    J = np.array([[0.0, 1.0], [-1.0, 0.0]])
    return {
        "mechanism": model.assemble(),
        "Lagrangian": ph.Lagrangian(L, [x, y], [u, v], constraints=[x**2 + y**2 - 1], initial=start),
        "pH-DAE": ph.LinearPHDAE("oscillator", J=J, R=np.zeros((2, 2)), Q=np.eye(2), initial=[1.0, 0.0]),
        "descriptor": model.assemble().formulation("index 3"),
        "free Lagrangian": ph.Lagrangian(L, [x, y], [u, v], initial=start),
    }


def runs(kind: str, scheme: Contract, step: float | ph.Adaptive = STEP, **more: Any) -> bool:
    """Whether `simulate` takes a scheme on a kind of system; a run that fails is an error here."""
    try:
        ph.simulate(systems()[kind], scheme, step, STEP, **more)
    except ph.SimulationError:
        raise
    except ph.PorthosError:
        return False
    return True


def _adapts(scheme: Contract, possible: Callable[[str], bool]) -> str:
    """Where a scheme has adaptive steps."""
    constrained, free = possible("mechanism"), any(map(possible, FREE))
    return "yes" if constrained else "without constraints" if free else "no"


def row(name: str) -> str:
    """The line of a scheme."""
    scheme = SCHEMES[name]
    order = f"{scheme.order}" + (f" (v: {scheme.velocity_order})" if scheme.velocity_order != scheme.order else "")
    kept = ", ".join(text for what, text in SHORT.items() if what in scheme.preserves)
    usual = ph.Adaptive() if isinstance(scheme, OwnSteps) else STEP
    places = [runs(kind, scheme, usual) for kind in KINDS]
    adaptive = _adapts(scheme, lambda kind: runs(kind, scheme, ph.Adaptive()))
    events = any(runs(kind, scheme, usual, events={"never": lambda t, x: 1.0}) for kind in KINDS)
    last = f"{adaptive}, {'yes' if events else 'no'}"
    flags = ["yes" if flag else "no" for flag in (scheme.symmetric, scheme.stiffly_accurate, *places)]
    return "| " + " | ".join([f"`{name}`", order, kept, *flags, last]) + " |\n"


def table() -> str:
    """The whole table."""
    lines = [f"| {' | '.join(HEAD)} |\n", "|" + "---|" * len(HEAD) + "\n", *(row(name) for name in SCHEMES)]
    return "".join(lines)


def written(page: str, made: str) -> str:
    """The page with the table in its place."""
    return re.sub(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: BEGIN + made + END, page, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), table()), encoding="utf-8")
