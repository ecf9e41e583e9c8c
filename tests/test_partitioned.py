"""Partitioned methods after Jay and Murua: orders, symplecticity, symmetry, energy, and masses that tend to zero."""

from __future__ import annotations

import lagrangians
import numpy as np
import pytest
import sympy as sp
from oscillator import Oscillator
from scipy.integrate import solve_ivp
from test_runge_kutta import duffing
from test_schemes import driven_model
from two_rods import double_pendulum, marched

import porthos as ph
from gallery.small_mass import STEP, STEPS, ViscousPendulum, path, ratios, swing
from porthos.integrate.catalogue import scheme_named
from porthos.model.nodes import Scalar
from porthos.model.values import KINDS, Misfit
from porthos.notation import Array


def named(scheme) -> str:
    return f"{type(scheme).__name__}({scheme.stages}{', ggl' if getattr(scheme, 'ggl', False) else ''})"


SCHEMES = [*map(ph.LobattoPair, (2, 3)), *map(ph.Murua, (1, 2)), *(ph.Murua(s, ggl=True) for s in (1, 2))]
schemes = pytest.mark.parametrize("scheme", SCHEMES, ids=named)


# --- orders; those on the double pendulum are in test_orders.py


@schemes
def test_order_with_rigid_bodies_loads_and_an_input(scheme):
    system, drive = driven_model().assemble(), {"motor": lambda t: np.sin(5 * t)}
    fine = ph.simulate(system, ph.Composition(order=6), 0.005, 0.1, inputs=drive)
    steps = (4, 8) if scheme.order == 4 else (8, 16)
    runs = [ph.simulate(system, scheme, 0.1 / n, 0.1, inputs=drive) for n in steps]
    errors = [[np.abs(run.q[-1] - fine.q[-1]).max(), np.abs(run.v[-1] - fine.v[-1]).max()] for run in runs]
    assert np.log2(np.divide(*errors)) == pytest.approx(scheme.order, abs=0.3), errors
    works = [sum(run.port(name).work[-1] for name in ("wind", "stir", "pull", "motor")) for run in runs]
    defects = [abs(run.energy[-1] - run.energy[0] - work) for run, work in zip(runs, works, strict=True)]
    assert abs(works[1]) > 0.1
    assert defects[1] < defects[0] / 2 ** (scheme.order - 1)


# scheme, order of its own multipliers, coarser number of steps
MULTIPLIERS = [
    (ph.LobattoPair(2), 1, 16), (ph.LobattoPair(3), 2, 16), (ph.Murua(1), 2, 16), (ph.Murua(2), 2, 16),
    (ph.Murua(2, ggl=True), 2, 16), (ph.RadauIIA(3), 3, 16),
]  # fmt: skip


@pytest.mark.parametrize(("scheme", "own", "steps"), MULTIPLIERS, ids=[named(scheme) for scheme, *_ in MULTIPLIERS])
def test_orders_of_multipliers_on_a_lagrangian(scheme, own, steps):
    """Those of the method, and those recomputed from q and v, which have the order of the method.

    A slider-crank with M(q) and damping; the reference are the multipliers of Radau IIA with five stages themselves.
    """
    end = 0.4
    exact = ph.simulate(lagrangians.crank(), ph.RadauIIA(5), end / 128, end)["lambda"]
    found = []
    for n in (steps, 2 * steps):
        run = ph.simulate(lagrangians.crank(), scheme, end / n, end)
        at = exact[:: 128 // n]
        errors = np.abs(run["lambda"] - at), np.abs(run.multipliers[:, 0] - at)
        found.append([error[1:].max() for error in errors])
    assert np.log2(np.divide(*found)) == pytest.approx([own, scheme.order], abs=0.2), found
    assert found[1][1] < found[1][0] / (3 if own == scheme.order else 100)


def test_multipliers_of_a_pendulum_and_of_systems_that_have_none(tmp_path):
    """The rod x^2 + y^2 = 1 pulls with 2 lambda = -3 g y after rest beside the pivot, g = 10; a file keeps it."""
    x, y, u, v = sp.symbols("x y u v", real=True)
    options = {"constraints": [x**2 + y**2 - 1], "initial": ([1.0, 0.0], [0.0, 0.0]), "name": "rod"}
    system = ph.Lagrangian((u**2 + v**2) / 2 - 10 * y, [x, y], [u, v], **options)
    run = ph.simulate(system, ph.LobattoPair(3), 0.05, 1.0)
    assert run.multipliers[:, 0] == pytest.approx(-15 * run["y"], abs=1e-4)
    assert np.abs(run["lambda"] + 15 * run["y"]).max() > 1e-2
    back = ph.load(run.save(tmp_path / "rod.nc"))
    assert np.array_equal(back.multipliers, run.multipliers)
    assert np.array_equal(
        ph.load(back.save(tmp_path / "again.nc")).thinned(np.array([0, 3])).multipliers[1], run.multipliers[3]
    )
    free = ph.simulate(duffing(), ph.Gauss(1), 0.1, 0.2)
    with pytest.raises(ph.PorthosError, match="is no Lagrangian with constraints"):
        _ = free.multipliers
    with pytest.raises(ph.PorthosError, match="has no recomputed multipliers: expected the run"):
        _ = ph.load(free.save(tmp_path / "free.nc")).multipliers


# --- structure


def symplectic_defect(scheme, h: float) -> float:
    """Change of dq ^ M dv under the tangent map of a step, over pairs of tangents to the constraints."""
    system = double_pendulum()
    x0, n = system.initial_state(), system.n
    M = system.M.toarray()

    def onto(q: Array, v: Array) -> Array:
        for _ in range(6):
            q = q - np.linalg.pinv(system.G(q).toarray()) @ system.g(q)
        G = system.G(q).toarray()
        return np.concatenate([q, v - np.linalg.pinv(G) @ (G @ v), x0[2 * n :]])

    def difference(of, direction: Array, e: float = 1e-3) -> Array:
        points = [of(onto(*np.split(x0[: 2 * n] + k * e * direction, 2)))[: 2 * n] for k in (1, -1, 2, -2, 3, -3)]
        return (45 * (points[0] - points[1]) - 9 * (points[2] - points[3]) + points[4] - points[5]) / (60 * e)

    directions = np.random.default_rng(3).normal(size=(4, 2 * n))
    before = np.array([difference(lambda x: x, d) for d in directions])
    after = np.array([difference(lambda x: scheme.step(system, h, x).x, d) for d in directions])
    Omega = np.block([[np.zeros((n, n)), M], [-M, np.zeros((n, n))]])
    assert np.linalg.matrix_rank(before, tol=1e-2) == 4
    return float(np.abs(after @ Omega @ after.T - before @ Omega @ before.T).max())


def test_the_lobatto_pair_is_symplectic_and_murua_is_not():
    assert max(symplectic_defect(ph.LobattoPair(s), 0.1) for s in (2, 3)) < 2e-11  # of differences
    for ggl in (False, True):
        defects = [symplectic_defect(ph.Murua(2, ggl=ggl), h) for h in (0.1, 0.05)]
        assert defects[1] > 1e-6
        assert 2**4 < defects[0] / defects[1] < 2**5


def test_the_lobatto_pair_is_symplectic_on_lagrangians_too():
    """dq ^ dp of a double pendulum in its angles, where M depends on them: Jacobian^T J Jacobian = J."""
    system, h, e = lagrangians.double_pendulum(), 0.1, 1e-3

    def after(y: Array) -> Array:
        q, p = np.split(y, 2)
        M = system.terms.second(q, p)[2]  # L is quadratic in v
        x = ph.LobattoPair(3).step(system, h, np.concatenate([q, np.linalg.solve(M, p)])).x
        return np.concatenate([x[:2], system.terms.Lv(x[:2], x[2:4])])

    q, v, _ = system.split(system.initial_state())
    y, columns = np.concatenate([q, system.terms.Lv(q, v)]), []
    for d in np.eye(4):
        a, b, c = (after(y + k * e * d) - after(y - k * e * d) for k in (1, 2, 3))
        columns.append((45 * a - 9 * b + c) / (60 * e))
    J, S = np.kron([[0, 1], [-1, 0]], np.eye(2)), np.array(columns)
    assert np.abs(S @ J @ S.T - J).max() < 1e-10
    assert np.abs(S - np.eye(4)).max() > 0.1


def test_energy_of_the_lobatto_pair_does_not_drift():
    model = ph.Model("pendulum", gravity=(0, 0, -9.81))
    model.point_mass("bob", 1.0, position=(1, 0, 0))
    model.distance("rod", model.ground, "bob", point_a=(0, 0, 0), point_b=(1, 0, 0))
    run = ph.simulate(model, ph.LobattoPair(2), 0.05, 20)
    error = np.abs(run.energy - run.energy[0])
    assert error[-80:].max() == pytest.approx(error[:80].max(), rel=0.05)
    assert 1e-3 < error.max() < 0.1


def test_two_stages_are_rattle():
    """v_ = v0 + h/2 M^-1 (f0 - G0^T lam), q1 = q0 + h v_, g(q1) = 0, v1 = v_ + h/2 M^-1 (f1 - G1^T mu), G1 v1 = 0."""
    system, h = double_pendulum(), 0.05
    q0, v0, _ = system.split(system.initial_state())
    q1, v1, mu = system.split(ph.LobattoPair(2).step(system, h, system.initial_state()).x)
    half, M = (q1 - q0) / h, system.mass_diagonal
    kick = M * (half - v0) * 2 / h + system.gradV(q0)
    left = kick - system.G(q0).T @ np.linalg.lstsq(system.G(q0).T.toarray(), kick, rcond=None)[0]
    assert np.abs(left).max() < 1e-12
    assert v1 == pytest.approx(half - h / 2 * (system.gradV(q1) + system.G(q1).T @ mu) / M, abs=1e-13)
    assert np.abs(system.g(q1)).max() < 1e-15
    assert np.abs(system.G(q1) @ v1).max() < 1e-14


@pytest.mark.parametrize("ggl", [False, True])
@pytest.mark.parametrize("stages", [1, 2, 3])
def test_energy_formula_of_murua(stages, ggl):
    """(6.15) of 000, corrected: dH = h sum b_i (mu_i . G grad V - Lambda_i . G V_i).

    Exact for quadratic energy, to three units in the last place of H = 12 J.
    """
    system, h, x, step = double_pendulum(), 0.02, double_pendulum().initial_state(), None
    scheme, largest = ph.Murua(stages, ggl=ggl), 0.0
    for k in range(10):
        step = scheme.step(system, h, x, t=k * h, before=step)
        rates = []
        for X, mu in zip(step.stages, step.mu, strict=True):
            Q, V, lam = system.split(X)
            G = system.G(Q)
            rates.append(mu @ (G @ system.gradV(Q)) - lam @ (G @ V))
        predicted = h * scheme.tableau.b @ rates
        assert system.H(step.x) - system.H(x) == pytest.approx(predicted, rel=0, abs=5e-15)
        largest, x = max(largest, abs(predicted)), step.x
    assert largest > {1: 1e-4, 2: 1e-8, 3: 1e-13}[stages]


# --- small masses


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("scheme", [ph.Murua(3), ph.Murua(3, ggl=True)], ids=named)
def test_mass_to_zero(scheme, which):
    """000, 7.3.3: the distance to the motion without the mass is proportional to it, down to round-off and zero."""
    slopes = ratios(scheme, which)
    assert slopes == pytest.approx(np.full(4, slopes[1]), rel=0.02), slopes
    for mass in (1e-20, 1e-40):
        assert np.abs(swing(scheme, which, mass) - swing(scheme, which)).max() < 2e-14


def by_radau(which: int, mass: float) -> Array:
    """q and v (21, 8) of the same pendulum as a Lagrangian, with `RadauIIA(3)`."""
    q, v = sp.symbols("x1 y1 x2 y2", real=True), sp.symbols("u1 w1 u2 w2", real=True)
    system = ViscousPendulum((mass, 1.0) if which == 0 else (1.0, mass))
    T = sum(m * (a**2 + b**2) for m, a, b in zip(system.masses, v[::2], v[1::2], strict=True)) / 2
    V = system.gravity * sum(m * y for m, y in zip(system.masses, q[1::2], strict=True))
    rods = [q[0] ** 2 + q[1] ** 2 - 1, (q[2] - q[0]) ** 2 + (q[3] - q[1]) ** 2 - 1]
    lost = system.kappa * sum(each**2 for each in v) / 2
    start = (system.start()[:4], system.start()[4:8])
    pendulum = ph.Lagrangian(T - V, q, v, constraints=rods, dissipation=lost, initial=start, name="viscous")
    return marched(pendulum, ph.RadauIIA(3), STEPS, STEP * STEPS).x[:, :8]


@pytest.mark.parametrize(("which", "slope"), [(0, 915.2), (1, 981.0)])
def test_mass_to_zero_of_a_lagrangian(which, slope):
    """Radau IIA damps the layer of the light mass: (v - v_0)/m is g/kappa at the tip, and Murua alternates about it."""
    without = by_radau(which, 0.0)
    for mass in (1e-8, 1e-10, 1e-12, 1e-14):
        assert np.abs(by_radau(which, mass) - without).max() / mass == pytest.approx(slope, rel=1e-3)
    for mass in (1e-20, 1e-40):
        assert np.abs(by_radau(which, mass) - without).max() < 2e-14
    if which == 1:
        assert slope == pytest.approx(9.81 / 0.01, rel=1e-6)
        gap = (swing(ph.Murua(3), 1, 1e-10) - swing(ph.Murua(3), 1))[:5, 7] / 1e-10
        assert np.abs(gap) == pytest.approx([0, 2 * slope, 0, 2 * slope, 0], abs=1)
        assert without[-1] == pytest.approx(np.concatenate(massless_tip(0.2)), abs=1e-6)


def massless_tip(end: float) -> tuple[Array, Array]:
    """q and v by SciPy, in the angles a, b of the rods: a tip with viscosity alone has b' = -a' cos(a - b)."""
    system = ViscousPendulum((1.0, 0.0))

    def rates(t: float, y: Array) -> list[float]:
        a, b, swing = y
        turn = -swing * np.cos(a - b)
        return [swing, turn, -system.gravity * np.cos(a) - system.kappa * (2 * swing + turn * np.cos(a - b))]

    a, b, swing = solve_ivp(rates, (0, end), [0, 0, 0], rtol=1e-13, atol=1e-14, method="DOP853").y[:, -1]
    turn, first, second = -swing * np.cos(a - b), np.exp(1j * a), np.exp(1j * b)
    q, v = [first, first + second], [1j * swing * first, 1j * (swing * first + turn * second)]
    return np.array(q).view(np.float64), np.array(v).view(np.float64)


# the last stage of the pair is then of least norm; LobattoPair(2) has no clear order of velocities
MASSLESS = [(ph.LobattoPair(3), 2, 1), (ph.LobattoPair(4), 3, 1), (ph.Murua(2), 4, 2), (ph.Murua(3), 6, 4)]


@pytest.mark.parametrize(("scheme", "positions", "velocities"), MASSLESS, ids=[named(s) for s, *_ in MASSLESS])
def test_orders_with_a_massless_tip(scheme, positions, velocities):
    (q, v), system, errors = massless_tip(0.4), ViscousPendulum((1.0, 0.0)), []
    for steps in (20, 40):
        end = path(scheme, system, 0.4 / steps, steps, system.start())[-1]
        errors.append([np.abs(end[:4] - q).max(), np.abs(end[4:8] - v).max()])
    assert np.log2(np.divide(*errors)) == pytest.approx([positions, velocities], abs=0.1), errors


@pytest.mark.parametrize(("stages", "limit"), [(2, 2.0), (3, 2.83), (4, 3.11)])
def test_limit_of_the_step_of_the_lobatto_pair(stages, limit):
    """An oscillator is stable up to h omega = 2, 2.83, 3.11."""
    inside, outside = (
        np.abs(path(ph.LobattoPair(stages), Oscillator(limit * factor), 1.0, 400, np.array([1.0, 0.0]))).max()
        for factor in (0.99, 1.01)
    )
    assert inside < 20
    assert outside > 1e3


def test_a_light_body_between_rods_that_is_too_fast_for_the_pair_is_said_to_be():
    def run(scheme, step):
        model = ph.Model("light elbow", gravity=(0, 0, -9.81))
        model.point_mass("elbow", 1e-4, position=(1, 0, 0))
        model.point_mass("tip", 1.0, position=(2, 0, 0))
        model.distance("upper", model.ground, "elbow", (0, 0, 0), (1, 0, 0))
        model.distance("lower", "elbow", "tip", (1, 0, 0), (2, 0, 0))
        return ph.simulate(model, scheme, step, 0.5, on_failure="return")

    failed = run(ph.LobattoPair(3), 0.01)
    assert failed.status is ph.Status.NEWTON_STALLED
    assert "h omega <= 2, 2.83, 3.11 with 2, 3, 4 stages" in failed.message
    for scheme, step in ((ph.LobattoPair(3), 0.005), (ph.Murua(2), 0.01), (ph.RadauIIA(3), 0.01)):
        assert run(scheme, step).status is ph.Status.OK


# --- use


def test_redundant_joints_do_not_matter():
    def swing(scheme, *more):
        model = ph.Model("pendulum", gravity=(0, 0, -9.81))
        model.body("bob", ph.Box(1.0, (0.2, 0.1, 0.3)), position=(0.5, 0, 0))
        model.revolute("hinge", model.ground, "bob", at=(0, 0, 0), axis=(0, 1, 0))
        for name in more:
            model.spherical(name, "ground", "bob", at=(0, 0.1, 0))
        return ph.simulate(model, scheme, 0.02, 0.2)["bob"].position

    for scheme in (ph.LobattoPair(3), ph.Murua(2), ph.Murua(2, ggl=True)):
        assert swing(scheme, "again") == pytest.approx(swing(scheme), abs=1e-11)


def test_a_free_body_has_no_joints():
    model = ph.Model("thrown", gravity=(0, 0, -10))
    model.point_mass("stone", 2.0, velocity=(1, 0, 5))
    for scheme in (ph.LobattoPair(3), ph.Murua(2, ggl=True)):
        run = ph.simulate(model, scheme, 0.1, 1.0)
        assert run["stone"].position[-1] == pytest.approx((1, 0, 0), abs=1e-13)


def test_large_systems_are_solved_with_sparse_matrices():
    model = ph.Model("chain", gravity=(0, 0, -9.81))
    for k in range(12):
        model.body(f"bar{k}", ph.Box(1.0, (0.1, 0.2, 1.0)), position=(0, 0, -0.5 - k), velocity=(0.1 * k, 0, 0))
        model.spherical(f"j{k}", "ground" if k == 0 else f"bar{k - 1}", f"bar{k}", at=(0, 0, -k))
    run = ph.simulate(model, ph.LobattoPair(3), 0.01, 0.05)
    fine = ph.simulate(model, ph.Composition(order=4), 0.005, 0.05)
    assert run.position_error.max() < 1e-13
    assert np.abs(run.q[-1] - fine.q[-1]).max() < 1e-6


def test_options_in_files(tmp_path):
    file = tmp_path / "pendulum.yaml"
    model = ph.Model("pendulum", gravity=(0, 0, -9.81))
    model.point_mass("bob", 1.0, position=(1, 0, 0))
    model.distance("rod", model.ground, "bob", point_a=(0, 0, 0), point_b=(1, 0, 0))
    model.save(file, ph.Simulation(0.1, 0.2, scheme=ph.Murua(1, ggl=True)))
    assert ph.simulate_file(file).scheme == repr(ph.Murua(1, ggl=True))
    assert KINDS[bool].read(Scalar("line 1", "true")) is True
    with pytest.raises(Misfit, match="expected true or false, found 'yes'"):
        KINDS[bool].read(Scalar("line 1", "yes"))
    assert scheme_named("Murua", {"stages": 3, "ggl": True}) == ph.Murua(3, ggl=True)
    with pytest.raises(ph.PorthosError, match="Murua: ggl: expected true or false, found 1"):
        scheme_named("Murua", {"ggl": 1})


def test_messages():
    with pytest.raises(ph.PorthosError, match=r"Murua\(.*steps positions and velocities of mechanisms.*RadauIIA"):
        ph.simulate(duffing(), ph.Murua(2), 0.1, 1.0)
    for make, stages, least in ((ph.LobattoPair, 1, 2), (ph.Murua, 0, 1)):
        with pytest.raises(
            ph.PorthosError, match=f"expected a whole number of stages from {least} to 100, found {stages}"
        ):
            make(stages)
    with pytest.raises(ph.PorthosError, match=r"Murua: tolerance must be >= 0, found -1"):
        ph.Murua(2, tolerance=-1)
    stalled = ph.simulate(double_pendulum(), ph.LobattoPair(3, max_iterations=1), 0.1, 1.0, on_failure="return")
    assert stalled.status is ph.Status.NEWTON_STALLED
