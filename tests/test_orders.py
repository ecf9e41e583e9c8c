"""The whole table of orders of FORMULAS, measured on a double pendulum: the largest error on the grid."""

from __future__ import annotations

import numpy as np
import pytest
from two_rods import END, GRID, double_pendulum, errors, marched, recomputed, reference

import porthos as ph
from porthos.integrate.state_scheme import StateScheme
from porthos.integrate.tableaus import murua

CLOSE, LOOSE = 0.1, 0.2  # how far a measured order may be from the one of the table
KAPPA = 2.0
FADING = 0.25  # the same with viscosity, where higher terms fade later

# scheme, form, orders of q, v, lambda (and mu), coarser number of steps, how far orders may be off
Row = tuple[StateScheme, str, tuple[int, ...], int, float]
RADAU: list[Row] = [
    (ph.RadauIIA(1), "index 3", (1, 1, 0), 32, LOOSE),
    (ph.RadauIIA(1), "index 2", (1, 1, 1), 32, CLOSE),
    (ph.RadauIIA(1), "GGL", (1, 1, 1, 1), 32, CLOSE),
    (ph.RadauIIA(2), "index 3", (3, 2, 1), 32, LOOSE),
    (ph.RadauIIA(2), "index 2", (3, 3, 2), 16, CLOSE),
    (ph.RadauIIA(2), "GGL", (3, 3, 2, 2), 8, CLOSE),
    (ph.RadauIIA(3), "index 3", (5, 3, 2), 8, CLOSE),
    (ph.RadauIIA(3), "index 2", (5, 5, 3), 8, CLOSE),
    (ph.RadauIIA(3), "GGL", (5, 5, 3, 3), 8, CLOSE),
    (ph.RadauIIA(3), "Baumgarte, index 1", (5, 5, 5), 16, LOOSE),
    (ph.RadauIIA(3), "Baumgarte, index 2", (5, 5, 3), 16, LOOSE),
    (ph.RadauIIA(4), "index 3", (7, 4, 3), 16, 0.4),  # to errors of 2e-15
    (ph.RadauIIA(4), "index 2", (7, 7, 4), 8, CLOSE),
    (ph.RadauIIA(4), "GGL", (7, 7, 4, 4), 8, CLOSE),
]
LOBATTO: list[Row] = [
    (ph.LobattoIIIC(3), "index 3", (4, 2, 1), 16, CLOSE),
    (ph.LobattoIIIC(3), "index 2", (4, 4, 2), 8, CLOSE),
    (ph.LobattoIIIC(3), "GGL", (4, 4, 2, 2), 8, CLOSE),
]
GAUSS: list[Row] = [
    (ph.Gauss(1), "index 2", (2, 2, 0), 32, CLOSE),
    (ph.Gauss(2), "index 2", (4, 2, 0), 8, CLOSE),
    (ph.Gauss(3), "index 2", (6, 4, 2), 16, CLOSE),
    (ph.Gauss(1), "GGL", (2, 2, 0, 0), 16, CLOSE),
    (ph.Gauss(2), "GGL", (2, 2, 0, 0), 8, CLOSE),
    (ph.Gauss(3), "GGL", (4, 4, 2, 2), 8, LOOSE),
]
ALPHA: list[Row] = [
    (ph.GeneralizedAlpha(0.9, form="index 3"), "index 2", (2, 2, 2), 32, CLOSE),
    (ph.GeneralizedAlpha(0.9, form="index 3", corrected=False), "index 2", (2, 2, 1), 32, CLOSE),
    (ph.GeneralizedAlpha(0.9, form="index 2"), "index 2", (2, 2, 2), 32, LOOSE),
    (ph.GeneralizedAlpha(0.9, form="stabilised"), "index 2", (2, 2, 2), 32, LOOSE),
    (ph.HHT(-0.2, form="index 3"), "index 2", (2, 2, 2), 32, LOOSE),
    (ph.HHT(-0.2, form="index 2"), "index 2", (2, 2, 2), 32, LOOSE),
    (ph.HHT(-0.2, form="stabilised"), "index 2", (2, 2, 2), 32, LOOSE),
    (ph.GeneralizedAlpha(1.0, form="index 3", corrected=False), "index 2", (2, 2, 0), 32, CLOSE),  # Newmark
    (ph.GeneralizedAlpha(1.0, form="index 3"), "index 2", (2, 2, 2), 32, CLOSE),
]
EXPLICIT: list[Row] = [
    (ph.MDOP5(), "index 2", (5, 5, 5), 32, LOOSE),
    (ph.MDOP5("index 1"), "index 2", (5, 5, 5), 32, LOOSE),
    (ph.MDOP5("Baumgarte"), "index 2", (5, 5, 5), 32, 0.6),
    (ph.DOP853("index 1"), "index 2", (8, 8, 8), 8, 0.7),
    (ph.DOP853("Baumgarte"), "index 2", (8, 8, 8), 8, LOOSE),  # to errors of 8e-15
    (ph.DOP853(), "index 2", (8, 8, 8), 8, 0.7),  # of which the next halving is below round-off
]
BACKWARD: list[Row] = [
    (ph.BDF(k), form, (k, k, k, k) if form == "GGL" else (k, k, k), 32, LOOSE)
    for k in (1, 2, 3)
    for form in ("index 3", "index 2", "GGL", *(["Baumgarte, index 1"] if k == 2 else []))
]
PARTITIONED: list[tuple[StateScheme, int, int]] = [  # scheme, order of its own lambda, coarser number of steps
    *((ph.LobattoPair(s), s - 1, n) for s, n in ((2, 32), (3, 8), (4, 16))),
    *(
        (ph.Murua(s, ggl=ggl), s + s % 2, n)
        for s, n in ((1, 32), (2, 16), (3, 16), (4, 8))
        for ggl in (False, True)
    ),
]  # fmt: skip
VISCOUS_EXPLICIT: list[Row] = [
    (ph.HEDOP5(), "index 2", (5, 5, 5), 16, 0.45),
    (ph.MDOP5(), "index 2", (5, 5, 5), 16, 0.35),
    (ph.DOP853(), "index 2", (8, 8, 8), 8, 0.35),  # to errors of 1e-14
]


def named(scheme: StateScheme) -> str:
    text = repr(scheme).replace("tolerance=0.0, max_iterations=50", "").replace(", ,", ",")
    return text.replace("(, ", "(").replace(", )", ")")


def of(rows: list[Row]) -> pytest.MarkDecorator:
    names = [f"{named(scheme)}-{form}" for scheme, form, *_ in rows]
    return pytest.mark.parametrize(("scheme", "form", "expected", "steps", "band"), rows, ids=names)


kappas = pytest.mark.parametrize("kappa", [0.0, KAPPA], ids=["free", "viscous"])


def fading(kappa: float) -> float:
    """The least band."""
    return FADING if kappa > 0.0 else 0.0


def orders(coarse: tuple[float, ...], fine: tuple[float, ...], count: int) -> list[float]:
    return [float(np.log2(a / b)) for a, b in zip(coarse[:count], fine[:count], strict=True)]


@of([*RADAU, *LOBATTO, *GAUSS, *ALPHA])
@kappas
def test_orders(scheme, form, expected, steps, band, kappa):
    """Of q, v, lambda and, where there is one, mu; the same with forces that depend on velocities."""
    system = double_pendulum(kappa).formulation(form)
    found = [errors(marched(system, scheme, n).x, reference(kappa)) for n in (steps, 2 * steps)]
    assert orders(*found, len(expected)) == pytest.approx(expected, abs=max(band, fading(kappa))), found


@of(EXPLICIT)
def test_orders_of_explicit_methods(scheme, form, expected, steps, band):
    """Of q, v and lambda."""
    found = [errors(marched(double_pendulum(), scheme, n).x, reference()) for n in (steps, 2 * steps)]
    assert orders(*found, len(expected)) == pytest.approx(expected, abs=band), found


@of(BACKWARD)
@kappas
def test_orders_of_backward_differentiation(scheme, form, expected, steps, band, kappa):
    """k of all; multipliers on index 3 from step 2k on, where no velocity of the first steps is in the formula."""
    system, exact, k, found = double_pendulum(kappa).formulation(form), reference(kappa), scheme.steps, []
    for n in (steps, 2 * steps):
        x = marched(system, scheme, n).x
        q, v, lam, mu = errors(x, exact)
        if form == "index 3":
            lam = np.abs(x - exact[:: GRID // n])[2 * k :, 12:].max()
        found.append((q, v, lam, mu))
    assert orders(*found, len(expected)) == pytest.approx(expected, abs=max(band, fading(kappa))), found


@pytest.mark.parametrize("k", [1, 2, 3])
def test_multipliers_of_backward_differentiation_on_index_3_begin_with_one_order_less(k):
    """In the steps k to 2k - 1, whose formulas mix velocities of the start with their own."""
    system, first = double_pendulum().formulation("index 3"), []
    for n in (32, 64, 128):
        gap = np.abs(marched(system, ph.BDF(k), n).x[:, 12:] - reference()[:: GRID // n, 12:])
        first.append(float(gap[k : 2 * k].max()))
    assert np.log2(first[1] / first[2]) == pytest.approx(k - 1, abs=CLOSE), first


@pytest.mark.parametrize(("scheme", "own", "steps"), PARTITIONED, ids=[named(scheme) for scheme, *_ in PARTITIONED])
@kappas
def test_orders_of_partitioned_methods(scheme, own, steps, kappa):
    """q, v and recomputed multipliers have the full order, those of the method itself, and mu, have less."""
    system, exact, found = double_pendulum(kappa), reference(kappa), []
    for n in (steps, 2 * steps):
        x = marched(system, scheme, n).x
        q, v, lam, _ = errors(x, exact)
        again = np.abs(recomputed(system, x) - exact[:: GRID // n, 12:]).max()
        found.append((q, v, lam, again))
    expected = [scheme.order, scheme.velocity_order, own, scheme.order]
    assert orders(*found, 4) == pytest.approx(expected, abs=max(CLOSE, fading(kappa))), found


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
def test_order_of_mu_of_murua(stages):
    """The formula z1 = sum gamma_i Z_i gives mu, which is zero, the order of lambda."""
    system, gamma, found = double_pendulum(), murua(stages).gamma, []
    for n in (16, 32):
        x, step, mu, largest = system.initial_state(), None, np.zeros(2), 0.0
        for _ in range(n):
            step = ph.Murua(stages, ggl=True).step(system, END / n, x, before=step)
            mu = gamma @ np.vstack([mu, step.mu])
            x, largest = step.x, max(largest, float(np.abs(mu).max()))
        found.append(largest)
    assert np.log2(found[0] / found[1]) == pytest.approx(stages + stages % 2, abs=LOOSE), found


def test_orders_of_the_half_explicit_method():
    """5 in q, v and lambda, seen from above."""
    system = double_pendulum()
    found = [errors(marched(system, ph.HEDOP5(), n).x, reference()) for n in (64, 128)]
    measured = orders(*found, 3)
    assert 4.9 < min(measured) <= max(measured) < 5.5, found


@of(VISCOUS_EXPLICIT)
def test_orders_of_explicit_methods_with_viscosity(scheme, form, expected, steps, band):
    """The same orders."""
    system, exact = double_pendulum(KAPPA), reference(KAPPA)
    found = [errors(marched(system, scheme, n).x, exact) for n in (steps, 2 * steps)]
    assert orders(*found, len(expected)) == pytest.approx(expected, abs=band), found


def test_the_oscillation_of_newmark_is_undamped():
    """rho = 1 on index 3: multipliers alternate about the exact ones; neither smaller steps nor time change that."""
    system, scheme = double_pendulum(), ph.GeneralizedAlpha(1.0, form="index 3", corrected=False)
    amplitudes = []
    for n in (32, 64):
        gap = marched(system, scheme, n).x[1:, 12:] - reference()[:: GRID // n][1:, 12:]
        assert (gap[1:] * gap[:-1] < 0).all()
        amplitudes.append([np.abs(part).max() for part in np.array_split(gap, 2)])
    assert amplitudes[1] == pytest.approx(amplitudes[0], rel=0.05)
    assert amplitudes[0][1] >= amplitudes[0][0] > 1
