"""What the times to one error say: how often that of Composition 4 goes into those of others, and what must hold.

Times are (seconds, reached): a run that did not reach the error needs more than its seconds.
"""

from __future__ import annotations

from collections.abc import Mapping

Times = Mapping[str, tuple[float, bool]]
BASE = "Porthos Composition 4"
ALPHA, TRAPEZOIDAL = "Exudyn generalized-alpha", "Exudyn trapezoidal"
IMPLICIT = (ALPHA, TRAPEZOIDAL)  # which solve the same kind of equations as Porthos, for any mechanism
TREE, MUJOCO = "Exudyn kinematic tree, RK44", "MuJoCo RK4"  # explicit and of order 4 as well, in joint coordinates
LEAST = 20.0  # times that Composition 4 must be cheaper than each implicit solver


def ratio(times: Times, label: str) -> float:
    """Its time in times of Composition 4, at least."""
    return times[label][0] / times[BASE][0]


def shortfalls(times: Times) -> list[str]:
    """The implicit solvers against which the factor LEAST does not hold, in words."""
    if not times[BASE][1]:
        return [f"{BASE} did not reach the error."]
    return [
        f"{BASE} is {ratio(times, label):.2g} times cheaper than {label}, expected {LEAST:g} times or more."
        for label in IMPLICIT
        if not ratio(times, label) >= LEAST
    ]


def in_words(times: Times) -> str:
    """What the page says below the table."""
    implicit = min(ratio(times, label) for label in IMPLICIT)
    tree, mujoco = ratio(times, TREE), ratio(times, MUJOCO)
    return f"""\
Against Exudyn's implicit solvers, which like Porthos take any mechanism, Composition 4 is {implicit:.2g} times
cheaper or more at this error; the command fails below {LEAST:g} times. Against its explicit solver for kinematic
trees, RK44, the factor is only {tree:.2g}, and MuJoCo's RK4 takes {mujoco:.2g} of the time of Composition 4:
a chain is a tree, and explicit methods of order 4 in joint coordinates suit it."""
