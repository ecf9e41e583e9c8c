"""General pH-DAEs (000, section 4): structure, power balance, Dirac structure, transformations, messages."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from random_systems import linear, nonlinear, seeds, sizes, skew, widths

import porthos as ph
from porthos.system.dirac import DiracStructure


def state_of(system, seed):
    """A random state, rate and input, and a time."""
    rng = np.random.default_rng(seed)
    n = system.dimension
    return rng.normal(size=n), rng.normal(size=n), rng.normal(size=system.width), 0.3 + rng.random()


def rate_of(system, x, u, t):
    """x' by solving E x' = f (least squares where E is singular)."""
    E = np.asarray(system.E(x, t))
    return np.linalg.lstsq(E, system.flow(x, u, t), rcond=None)[0]


@given(seed=seeds, n=sizes, m=widths)
def test_random_systems_have_the_structure(seed, n, m):
    for system in (linear(seed, n, m), nonlinear(seed, n, m), linear(seed, n + 1, m, rank=n)):
        report = system.check(seed=seed)
        assert report.ok, str(report)


@given(seed=seeds, n=sizes, m=widths)
def test_power_balance_along_solutions(seed, n, m):
    """Theorem 4.2: dH/dt = y.u - (z, u)^T W (z, u), with dH/dt by differences along x'."""
    system = nonlinear(seed, n, m)
    x, _, u, t = state_of(system, seed)
    if np.linalg.cond(system.E(x, t)) > 1e6:
        return
    rate, d = rate_of(system, x, u, t), 1e-4 / max(1.0, np.abs(rate_of(system, x, u, t)).max())
    slope = (system.H(x + d * rate, t + d) - system.H(x - d * rate, t - d)) / (2 * d)
    supplied, lost = float(system.y(x, u, t) @ u), system.dissipation(x, u, t)
    both = np.r_[system.z(x, t), u]
    assert lost == pytest.approx(both @ (system.W(x, t) @ both), rel=1e-10, abs=1e-12)
    assert lost >= -1e-12 * abs(both @ both)
    size = abs(supplied) + lost + abs(slope) + 1e-3 * abs(system.H(x, t) / d) * 1e-9
    assert slope == pytest.approx(supplied - lost, abs=1e-5 * max(1.0, size))


@given(seed=seeds, n=sizes, m=widths)
def test_dirac_structure(seed, n, m):
    """D equals its orthogonal complement; solutions lie in it, other rates do not; the pairing is the power balance."""
    system = nonlinear(seed, n, m)
    x, other, u, t = state_of(system, seed)
    D = system.dirac(x, t)
    assert D.dimension == 2 * (n + m)
    basis = np.vstack([-D.matrix, np.eye(D.dimension)])  # (f, e) for every e
    swap = np.block(
        [[np.zeros((D.dimension,) * 2), np.eye(D.dimension)]] * 1
        + [[np.eye(D.dimension), np.zeros((D.dimension,) * 2)]]
    )
    assert np.abs(basis.T @ swap @ basis).max() < 1e-12 * max(1.0, np.abs(D.matrix).max())
    assert np.linalg.matrix_rank(basis) == D.dimension
    e = np.random.default_rng(seed).normal(size=D.dimension)
    assert D.pairing(D.flow(e), e) == pytest.approx(0.0, abs=1e-12 * np.abs(D.matrix).max() * (e @ e))
    E = system.E(x, t)
    if np.linalg.cond(E) > 1e6:
        return
    rate = np.linalg.solve(E, system.flow(x, u, t))
    bond = system.bond(x, rate, u, t)
    assert D.contains(bond.flow, bond.effort, tolerance=1e-9)
    assert not D.contains(system.bond(x, rate + other, u, t).flow, bond.effort, tolerance=1e-9)
    size = abs(bond.stored) + abs(bond.supplied) + bond.dissipated
    assert bond.stored == pytest.approx(bond.supplied - bond.dissipated, abs=1e-9 * max(1.0, size))
    assert D.pairing(bond.flow, bond.effort) == pytest.approx(0.0, abs=1e-9 * max(1.0, size))
    assert np.array_equal(D.bond(bond.effort).ports[1], u)


@given(seed=seeds, n=sizes, m=widths)
def test_autonomous_form_is_the_same_system(seed, n, m):
    """000, 4.2.3 with P~ = diag(P, 0); the printed P~ = diag(P, 1) fails the check and stops the clock."""
    system = nonlinear(seed, n, m)
    form = system.autonomous()
    x, rate, u, t = state_of(system, seed)
    state, inputs = np.r_[x, t], np.r_[u, 1.0]
    assert form.check(state).ok, str(form.check(state))
    assert form.H(state) == system.H(x, t)
    assert form.residual(state, np.r_[rate, 1.0], inputs)[:-1] == pytest.approx(
        system.residual(x, rate, u, t), abs=1e-9
    )
    assert form.residual(state, np.r_[rate, 1.0], inputs)[-1] == 0.0
    assert form.y(state, inputs) == pytest.approx(np.r_[system.y(x, u, t), 0.0], abs=1e-9)
    printed = form.W(state).toarray()
    printed[n, -1] = printed[-1, n] = 1.0
    assert np.linalg.eigvalsh(printed)[0] < -0.1
    assert form.sources["time"](0.7) == 1.0


@given(seed=seeds, n=sizes, m=widths)
def test_transformations_keep_solutions_outputs_and_power(seed, n, m):
    """w' of the transformed system is a rate of the old one: x' = phi_w w' + phi_t; y, H and dissipation are equal."""
    old = linear(seed, n, m)
    new = nonlinear(seed, n, m)
    w, rate, u, t = state_of(new, seed)
    x = new.phi(w, t)
    speed = new.slope(w, t) @ rate + new.drift(w, t)
    assert new.residual(w, rate, u, t) == pytest.approx(new.U(w, t).T @ old.residual(x, speed, u), abs=1e-8)
    assert new.y(w, u, t) == pytest.approx(old.y(x, u), abs=1e-8)
    assert new.H(w, t) == old.H(x)
    assert new.dissipation(w, u, t) == pytest.approx(old.dissipation(x, u), rel=1e-8, abs=1e-8)


def test_derivatives_of_a_transformation_by_differences():
    given_ones = nonlinear(3, 4, 2)
    found = given_ones.system.transformed(given_ones.phi, U=given_ones.U)
    x, _, _, t = state_of(found, 1)
    assert np.abs(found.E(x, t) - given_ones.E(x, t)).max() < 1e-10
    assert np.abs(found.r(x, t) - given_ones.r(x, t)).max() < 1e-10
    assert found.check(x, t).ok


def oscillator(**changes):
    """A Duffing oscillator with a moving support: H = p^2/2m + k/4 (q - sin t)^4, damped, one port."""
    m, k, d = 2.0, 3.0, 0.1
    parts = {
        "H": lambda x, t: x[1] ** 2 / (2 * m) + k / 4 * (x[0] - np.sin(t)) ** 4,
        "z": lambda x, t: [k * (x[0] - np.sin(t)) ** 3, x[1] / m],
        "r": lambda x, t: [-np.cos(t), 0.0],
        "J": [[0, 1], [-1, 0]],
        "R": [[0, 0], [0, d]],
        "B": [[0], [1]],
        "states": ["q", "p"],
        "ports": ["force"],
    }
    return ph.GeneralPHDAE("Duffing", **(parts | changes))


def test_functions_and_constants_may_be_mixed():
    system = oscillator(initial=[1.0, 0.5])
    assert (system.dimension, system.width, list(system.blocks), list(system.ports)) == (2, 1, ["q", "p"], ["force"])
    assert system.check().ok, str(system.check())
    assert system.initial_state().tolist() == [1.0, 0.5]
    assert system.flow(np.array([1.0, 0.5]), np.array([2.0])) == pytest.approx([0.25 + 1, -3 - 0.025 + 2])
    assert system.y(np.array([1.0, 0.5])) == pytest.approx([0.25])
    assert "2 states, 1 ports" in repr(system)


@pytest.mark.parametrize(
    ("changes", "name", "where"),
    [
        ({"J": [[0, 1], [-1, 0.2]]}, "J skew", "worst at (1, 1), block (p, p), off by 0.4"),
        ({"J": lambda x: [[0, 1 + x[0] ** 2], [-1, 0]]}, "J skew", "block (q, p)"),
        ({"R": [[0, 0.1], [0, 1]]}, "R symmetric", "worst at (0, 1)"),
        ({"R": [[-0.3, 0], [0, 1]]}, "R >= 0", "lowest eigenvalue -3.000e-01, mostly in row 0 (q)"),
        ({"P": [[0], [1]]}, "W >= 0", "mostly in row 2 (port 'force')"),
        ({"S": [[-1]]}, "W >= 0", "lowest eigenvalue -1.000e+00, mostly in row 2 (port 'force')"),
        ({"N": [[0.5]]}, "N skew", "block (force, force)"),
        ({"z": lambda x, t: [3 * (x[0] - np.sin(t)) ** 3, x[1]]}, "E^T z = grad H", "x[1] (p): E^T z = 0.5"),
        ({"r": None}, "z^T r = dH/dt", "z^T r = 0, difference of H = -3"),
        ({"H": lambda x: np.nan}, "E^T z = grad H", "difference of H = nan"),
        ({"B": [[np.inf], [1]]}, "finite numbers", "in B"),
    ],
)  # fmt: skip
def test_a_wrong_structure_is_refused_with_its_place(changes, name, where):
    with pytest.raises(ph.StructureError, match="NOT a valid system") as caught:
        oscillator(initial=[1.0, 0.5], **changes)
    assert f"FAIL {name}" in str(caught.value)
    report = oscillator(**changes).check([1.0, 0.5], t=0.0)
    assert where in report[name].where
    assert not oscillator(**changes).check().ok  # at random states too


def test_what_holds_at_the_start_by_chance_is_refused():
    """x^3 is x at 1, and all gradients are zero at 0 that belong to an energy with a minimum there."""
    parts = {"states": ["q", "p"], "J": [[0, 1], [-1, 0]], "H": lambda x: x[0] ** 4 / 4 + x[1] ** 2 / 2}
    for start in ([1.0, 0.0], [0.0, 0.0]):
        with pytest.raises(ph.StructureError, match=r"FAIL E\^T z = grad H .*\(q\)[^@]*near the initial state"):
            ph.GeneralPHDAE("Duffing", z=lambda x: [x[0], x[1]], initial=start, **parts)
        assert ph.GeneralPHDAE("Duffing", z=lambda x: [x[0] ** 3, x[1]], initial=start, **parts).check().ok
    parts["J"] = lambda x: [[0, 1], [-1 - x[0], 0]]
    with pytest.raises(ph.StructureError, match="FAIL J skew"):
        ph.GeneralPHDAE("Duffing", z=lambda x: [x[0] ** 3, x[1]], **parts, initial=[0.0, 0.0])


def test_energies_need_not_be_defined_beside_the_start():
    """Logarithms whose argument is negative there: NumPy gives NaN, `math` raises."""
    for log in (np.log, math.log):
        for sign, start in ((1.0, 0.99), (-1.0, 1.03)):
            edge = ph.GeneralPHDAE(
                "edge",
                states=["c"],
                H=lambda x, log=log, sign=sign: -log(sign * (1.01 - x[0])),
                z=lambda x: [1 / (1.01 - x[0])],
                initial=[start],
            )
            assert edge.H(edge.initial_state()) == pytest.approx(-math.log(0.02))


def test_the_common_base_says_what_to_use():
    with pytest.raises(ph.StructureError, match=r"GeneralPHDAE \(functions\), ph.LinearPHDAE \(matrices\)"):
        ph.PHDAE("mine", J=np.eye(2))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"J": np.eye(3)}, r"'Duffing': J must have .* for 2 states \(q, p\) and 1 inputs of ports, found \(3, 3\)"),
        ({"B": [1.0, 2.0]}, r"B must have shape \(2, 1\).*found \(2,\)"),
        ({"z": lambda x: x[:1]}, r"z must have shape \(2,\)"),
        ({"J": "skew"}, "J must hold numbers, found 'skew'"),
        ({"z": lambda t, x: x}, r"z must be a function of x, or of x and t in this order; found z\(t, x\)"),
        ({"states": ["q", "q"]}, "a name stands twice in states"),
        ({"ports": {"force": 0}}, r"ports need sizes of 1 or more, found \{'force': 0\}"),
        ({"initial": [1.0]}, r"a state has 2 numbers \(q, p\), found shape \(1,\)"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(changes, message):
    with pytest.raises(ph.PorthosError, match=message):
        oscillator(**({"initial": [1.0, 0.5]} | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"J": np.eye(2)}, r"FAIL J skew .*worst at \(0, 0\), block \(x0, x0\)"),
        ({"R": -np.eye(2)}, "FAIL R >= 0 .*lowest eigenvalue -1"),
        ({"Q": [[1, 1], [0, 1]]}, r"FAIL E\^T Q symmetric .*worst at \(0, 1\)"),
        ({"Q": np.eye(3)}, r"J must have shape \(3, 3\)"),
        ({"E": np.eye(3)}, r"E, Q and rest do not fit: found shapes \(3, 3\), \(2, 2\) and \(2,\)"),
    ],
)
def test_matrices_are_tested_at_once(changes, message):
    with pytest.raises(ph.StructureError, match=message):
        ph.LinearPHDAE("linear", **({"J": [[0, 1], [-1, 0]], "Q": np.eye(2)} | changes))


def test_names_that_do_not_exist():
    system = oscillator()
    with pytest.raises(ph.PorthosError, match=r"no port 'forces'.*Did you mean 'force'"):
        system.port("forces")
    with pytest.raises(ph.PorthosError, match=r"no state 'v'.*Known: 'q', 'p'"):
        system.block("v")
    with pytest.raises(ph.PorthosError, match=r"has no initial state.*2 numbers \(q, p\): simulate\(..., start=x0\)"):
        system.initial_state()
    with pytest.raises(ph.PorthosError, match=r"an effort has 6 numbers \(2 of storage, 1 of ports, 3 of dissip"):
        system.dirac(np.zeros(2)).flow(np.zeros(4))
    with pytest.raises(ph.StructureError, match=r"U must be regular, found a matrix of condition"):
        system.transformed(np.eye(2), U=np.ones((2, 2)))
    with pytest.raises(ph.StructureError, match=r"phi must be 2 x 2, found shape \(3, 3\)"):
        system.transformed(np.eye(3))
    with pytest.raises(ph.StructureError, match="a part named 'time' already"):
        system.autonomous().autonomous()


def test_random_skew_gives_a_dirac_structure_and_others_do_not():
    rng = np.random.default_rng(0)
    assert abs(DiracStructure(skew(rng, 4), 3).pairing(*pair(DiracStructure(skew(rng, 4), 3), rng))) < 1e-12
    broken = DiracStructure(rng.normal(size=(4, 4)), 3)
    assert abs(broken.pairing(*pair(broken, rng))) > 1e-3


def pair(D, rng):
    e = rng.normal(size=D.dimension)
    return D.flow(e), e
