"""Singular configurations: passed where the motion goes on, else the run stops, says where, and keeps what it has."""

from itertools import pairwise

import numpy as np
import pytest
from catalogue import MIDPOINTS, by_name

import porthos as ph

schemes = pytest.mark.parametrize("scheme", MIDPOINTS, ids=by_name)


def bars(name, corners, closed=True, **bodies):
    """Bars from corner to corner, with a revolute joint at each, the first and the last of them at the ground."""
    model = ph.Model(name)
    for bar, (a, b) in zip(bodies, pairwise(corners), strict=True):
        along = np.subtract(b, a)
        model.body(bar, ph.Box(bodies[bar], (np.linalg.norm(along), 0.05, 0.05)), position=(*(np.add(a, b) / 2), 0),
                   rotation=((0, 0, 1), np.arctan2(along[1], along[0])))  # fmt: skip
    places = corners if closed else corners[:-1]
    for joint, a, b, corner in zip("ABCD", ("ground", *bodies), (*bodies, "ground"), places, strict=False):
        model.revolute(joint, a, b, (*corner, 0), (0, 0, 1))
    return model


def parallelogram():
    c, s = np.cos(0.6), np.sin(0.6)
    model = bars("parallelogram", [(0, 0), (c, s), (2 + c, s), (2, 0)], crank=1.0, coupler=1.0, rocker=1.0)
    model.turn_drive("motor", "ground", "crank", (0, 0, 0), (0, 0, 1), angle=ph.Expression("-t"))
    return model


def rocker():
    """A crank and rocker that is driven by the rocker: it can turn until crank and coupler are in line."""
    A, D = np.array([np.cos(1.2), np.sin(1.2)]), np.array([2.2, 0])
    gap = D - A
    turn = np.arctan2(gap[1], gap[0]) + np.arccos((2.5**2 + gap @ gap - 2.0**2) / (2 * 2.5 * np.linalg.norm(gap)))
    B = A + 2.5 * np.array([np.cos(turn), np.sin(turn)])
    model = bars("rocker", [(0, 0), A, B, D], crank=1.0, coupler=1.0, rocker=1.0)
    model.turn_drive("motor", "ground", "rocker", (*D, 0), (0, 0, 1), angle=ph.Expression("0.5*t"))
    start = np.arctan2(*(B - D)[::-1])
    limit = np.pi - np.arccos((2.0**2 + 2.2**2 - 1.5**2) / (2 * 2.0 * 2.2))  # coupler less crank: 2.5 - 1
    return model, (limit - start) / 0.5


def toggle():
    """Two equal bars, whose end is pushed outwards: they are in line at 2 m."""
    c, s = np.cos(1.0), np.sin(1.0)
    model = bars("toggle", [(0, 0), (c, s), (2 * c, 0)], closed=False, crank=1.0, rod=1.0)
    model.length_drive("ram", "ground", "rod", (0, 0, 0), (2 * c, 0, 0), length=ph.Expression("2*cos(1) + 0.5*t"))
    return model, (2 - 2 * c) / 0.5


@schemes
def test_a_driven_parallelogram_passes_its_flat_positions(scheme):
    """There its rocker could turn either way; it stays a parallelogram."""
    run = ph.simulate(parallelogram(), scheme, 0.01, 4.0)
    crank, rocker = (run[name].rotation[:, :, 0] for name in ("crank", "rocker"))
    assert crank[:, 1].min() < -0.99  # it went through the flat position at 0.6 s and on
    np.testing.assert_allclose(rocker, -crank, atol=1e-6)  # the rocker was given from its other end
    assert np.abs(np.cumsum(run.power_balance)).max() < 1e-8


@pytest.mark.parametrize(
    ("scheme", "step"),
    [*((scheme, 0.01) for scheme in MIDPOINTS), (ph.MidpointGGL(), ph.Adaptive(rtol=1e-2, minimum=1e-6))],
    ids=str,
)
@pytest.mark.parametrize(
    ("made", "words"),
    [(rocker, ("'motor' (1 row)", "'crank', 'coupler' can move")), (toggle, ("'ram' (1 row)", "'crank', 'rod'"))],
)
def test_a_drive_beyond_reach_ends_at_the_dead_point(scheme, step, made, words):
    """The message tells when rows repeat each other, which, and what moves then; exact times are from triangles."""
    model, exact = made()
    with pytest.raises(ph.SimulationError) as caught:
        ph.simulate(model, scheme, step, 3.0)
    text, run = str(caught.value), caught.value.trajectory
    assert run.status is ph.Status.SINGULAR
    for word in ("The constraint Jacobian loses rank", "drive another joint", "repeat each other", *words):
        assert word in text
    when = float(text.split("vanishes at about t = ")[1].split(":")[0])
    assert abs(when - exact) < 2e-3
    assert exact - 0.011 < run.t[-1] < exact
    assert len(run.t) > 30
