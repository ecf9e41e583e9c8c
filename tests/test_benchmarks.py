"""What the benchmark claims at equal accuracy; the programs it measures need not be installed."""

from __future__ import annotations

import pytest

from benchmarks.equal_accuracy import ALPHA, BASE, MUJOCO, TRAPEZOIDAL, TREE, in_words, shortfalls

MEASURED = {BASE: (7.34, True), ALPHA: (707, True), TRAPEZOIDAL: (656, True), TREE: (16.4, True), MUJOCO: (4.81, True)}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, []),
        ({ALPHA: (147.0, False)}, []),  # more than 20 times, though the error was not reached
        ({TRAPEZOIDAL: (146.0, True)}, [f"{BASE} is 20 times cheaper than {TRAPEZOIDAL}, expected 20 times or more."]),
        ({ALPHA: (float("nan"), False)}, [f"{BASE} is nan times cheaper than {ALPHA}, expected 20 times or more."]),
        ({BASE: (1.0, False)}, [f"{BASE} did not reach the error."]),
        ({TREE: (1.0, True)}, []),
    ],
)
def test_what_must_hold_against_implicit_solvers(change, words):
    assert shortfalls(MEASURED | change) == words


def test_the_page_says_against_whom_the_factor_is_small():
    text = in_words(MEASURED)
    assert "implicit solvers, which like Porthos take any mechanism, Composition 4 is 89 times" in text
    assert "RK44, the factor is only 2.2" in text
    assert "MuJoCo's RK4 takes 0.66 of the time" in text
