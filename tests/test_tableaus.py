"""Runge-Kutta tableaus against their definitions and against published coefficients."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import porthos as ph
from porthos.integrate.tableaus import Tableau, gauss, lobatto_iiia, lobatto_iiib, lobatto_iiic, murua, radau_iia

FAMILIES = {"Gauss": (gauss, 1), "RadauIIA": (radau_iia, 1), "LobattoIIIC": (lobatto_iiic, 2)}
families = pytest.mark.parametrize("name", FAMILIES)


@families
def test_assumptions_hold_for_any_number_of_stages_and_go_no_further(name):
    make, least = FAMILIES[name]
    for stages in (*range(least, 12), 25, 40):
        tableau = make(stages)
        p, q, r = tableau.claims
        assert p == {"Gauss": 2 * stages, "RadauIIA": 2 * stages - 1, "LobattoIIIC": 2 * stages - 2}[name]
        assert max(tableau.B(p), tableau.C(q), tableau.D(r)) < 5e-15
        assert p <= q + r + 1 and p <= 2 * q + 2  # then the order is p (Butcher)
        if stages < 8:
            assert min(tableau.B(p + 1), tableau.C(q + 1), tableau.D(r + 1)) > 1e-9


@families
def test_symmetry_stability_and_stiff_accuracy(name):
    make, least = FAMILIES[name]
    for stages in range(least, 8):
        tableau, conserves = make(stages), name == "Gauss"
        assert tableau.symmetric == tableau.conserving == conserves
        assert tableau.stiffly_accurate == (not conserves)
        assert np.linalg.eigvalsh(tableau.algebraic_stability)[0] > -1e-15
        assert tableau.b.min() > 0
        at_infinity = 1 - tableau.b @ np.linalg.solve(tableau.A, np.ones(stages))
        assert at_infinity == pytest.approx((-1) ** stages if conserves else 0.0, abs=1e-11)


def test_published_coefficients():
    r = np.sqrt(3) / 6
    assert pytest.approx(np.array([[1 / 4, 1 / 4 - r], [1 / 4 + r, 1 / 4]]), abs=1e-16) == gauss(2).A
    assert pytest.approx(np.array([[5, -1], [9, 3]]) / 12, abs=1e-15) == radau_iia(2).A
    assert pytest.approx(np.array([[2, -4, 2], [2, 5, -1], [2, 8, 2]]) / 12, abs=1e-15) == lobatto_iiic(3).A
    assert (gauss(1).A.item(), radau_iia(1).A.item()) == (0.5, 1.0)
    root = np.sqrt(6)
    assert radau_iia(3).c == pytest.approx([(4 - root) / 10, (4 + root) / 10, 1], abs=1e-15)
    assert lobatto_iiic(4).c == pytest.approx([0, (5 - np.sqrt(5)) / 10, (5 + np.sqrt(5)) / 10, 1], abs=1e-15)


@families
def test_weights_of_dense_output(name):
    make, least = FAMILIES[name]
    tableau = make(least + 2)
    assert tableau.weights(0.0) == pytest.approx(0.0, abs=1e-15)
    assert tableau.weights(1.0) == pytest.approx(tableau.b, abs=1e-15)
    if name != "LobattoIIIC":
        assert [tableau.weights(c) for c in tableau.c] == pytest.approx(tableau.A, abs=1e-15)


def test_the_lobatto_pair():
    for stages in (*range(2, 12), 25):
        first, second = lobatto_iiia(stages), lobatto_iiib(stages)
        b = first.b
        assert np.abs(b[:, None] * second.A + (b[:, None] * first.A).T - np.outer(b, b)).max() < 1e-15  # symplectic
        assert first.symmetric and second.symmetric and first.stiffly_accurate
        assert np.abs(first.A[0]).max() < 1e-15
        for tableau in (first, second):
            p, q, r = tableau.claims
            assert p == 2 * stages - 2
            assert max(tableau.B(p), tableau.C(q), tableau.D(r)) < (2e-14 if stages < 12 else 2e-13)
    assert pytest.approx(np.array([[0, 0, 0], [5, 8, -1], [4, 16, 4]]) / 24, abs=1e-15) == lobatto_iiia(3).A
    assert pytest.approx(np.array([[1, -1, 0], [1, 2, 0], [1, 5, 0]]) / 6, abs=1e-15) == lobatto_iiib(3).A


def test_the_pair_of_murua():
    """The tables of 000, section 6.3.2."""
    a, b = np.sqrt(5), np.sqrt(15)
    third = [[25 - a + 6 * b, 40 - 16 * a, 25 - a - 6 * b], [25 + a + 6 * b, 40 + 16 * a, 25 + a - 6 * b], [50, 80, 50]]
    tables = {
        1: ([[1.0]], [1.0], [-1, 2]),
        2: ([[1 / 4 + 3**0.5 / 8, 1 / 4 - 3**0.5 / 8], [1 / 2, 1 / 2]], [0.5, 1], [1, -(3**0.5), 3**0.5]),
        3: (np.array(third) / 180, [0.5 - a / 10, 0.5 + a / 10, 1], [-1, 5 / 3, -4 / 3, 5 / 3]),
    }
    for stages, (A, c, gamma) in tables.items():
        pair = murua(stages)
        assert pytest.approx(np.array(A), abs=1e-15) == pair.A
        assert pair.c == pytest.approx(c, abs=1e-15)
        assert pair.gamma == pytest.approx(gamma, abs=1e-14)
    for stages in (4, 7, 12):
        pair, node = murua(stages), gauss(stages).c
        defects = [np.abs(pair.A @ node ** (k - 1) - pair.c**k / k).max() for k in range(1, stages + 2)]
        assert max(defects) < 1e-14  # C-(s + 1)
        assert pair.gamma[0] == pytest.approx((-1) ** stages, abs=1e-12)
        assert pair.A[-1] == pytest.approx(pair.gauss.b, abs=1e-15)


def test_wrong_coefficients_and_numbers_of_stages_are_refused():
    good = gauss(2)
    with pytest.raises(ph.PorthosError, match=r"tableau bent: C\(2\) should hold but is off by 1.0e-03"):
        Tableau("bent", good.A + np.array([[0, 1e-3], [0, 0]]), good.b, good.c, good.claims)
    pair, wrong = murua(2), np.array([1e-3, 0.0])
    for change, name in (
        ({"A": pair.A + np.outer([1, 0], wrong)}, r"C-\(3\)"),
        ({"c": pair.c + wrong}, r"C-\(3\)"),
        ({"gamma": pair.gamma + np.append(0, wrong)}, "gamma on polynomials of degree 2"),
        ({"A": pair.A[::-1], "c": pair.c[::-1]}, "the last row = b"),
    ):
        with pytest.raises(ph.PorthosError, match=rf"pair of Murua\(2\): {name} should hold but is off by"):
            replace(pair, **change)
    for make, stages, least in ((ph.Gauss, 0, 1), (ph.RadauIIA, -1, 1), (ph.LobattoIIIC, 1, 2)):
        expected = f"{make.__name__}: expected a whole number of stages from {least} to 100, found {stages}"
        with pytest.raises(ph.PorthosError, match=expected):
            make(stages)
    with pytest.raises(ph.PorthosError, match=r"RadauIIA: stages: expected a whole number, found 1\.5"):
        ph.RadauIIA(1.5)
