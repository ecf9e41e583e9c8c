"""One contract for all schemes: `order`, `preserves`, `symmetric`, `stiffly_accurate` and `needs` are measured here."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
import sympy as sp
from catalogue import CONTRACTS, MECHANICAL
from lagrangians import NUMBERS, crank
from scipy.integrate import solve_ivp
from test_schemes import driven_model
from two_rods import END, GRID, double_pendulum, reference

import porthos as ph
from docs.site.schemes import systems
from porthos.integrate import scheme as claims
from porthos.integrate.catalogue import SCHEMES
from porthos.integrate.march import empty_record
from porthos.integrate.scheme import Contract, Scheme
from porthos.integrate.state_scheme import OwnSteps, StateScheme
from porthos.notation import Array
from porthos.study.measures import gaps, momenta
from porthos.system.descriptor import Descriptor
from porthos.system.lagrangian_system import LagrangianSystem

ROUND_OFF = 1e-12
STEPS = {1: 64, 2: 32, 3: 16, 4: 16, 5: 8, 6: 8, 8: 4}  # by order: errors are small, and far from round-off
LATE = {
    ph.HEDOP5(): 64,
    ph.MDOP5(): 64,
    ph.DOP853(): 8,
    ph.DOP853("Baumgarte"): 8,
    ph.LobattoIIIC(2): 64,
    ph.Composition(ph.DiscreteGradient(), 4): 64,
}  # errors fall faster at first
MORE_STAGES = (ph.LobattoPair(4), ph.Murua(3), ph.Murua(3, ggl=True))  # whose symmetry is measured too
TOLERANCE = ph.Adaptive(1e-4, 1e-5)


def named(scheme: Contract) -> str:
    options = repr(scheme).replace("tolerance=0.0, max_iterations=50", "").replace("tolerance=0.0, max_iterations=", "")
    return options.replace(", ,", ",").replace("(, ", "(").replace(", )", ")")


schemes = pytest.mark.parametrize("scheme", CONTRACTS, ids=named)
lagrangians = pytest.mark.parametrize(
    "scheme", [scheme for scheme in CONTRACTS if issubclass(LagrangianSystem, scheme.needs.kinds)], ids=named
)


def test_no_scheme_is_left_out():
    assert {type(scheme).__name__ for scheme in CONTRACTS} == set(SCHEMES)


# --- order


def motion_errors(scheme: Contract, step: float | ph.Adaptive) -> tuple[float, float]:
    """Largest errors of q and v of the double pendulum on the grid of the exact motion."""
    times = END * np.arange(1, 5) / 4 if isinstance(step, ph.Adaptive) else None
    run = ph.simulate(double_pendulum(), scheme, step, END, times=times)
    exact = reference()[np.rint(run.t * GRID / END).astype(int)]
    return np.abs(run.q - exact[:, :6]).max(), np.abs(run.v - exact[:, 6:12]).max()


@schemes
def test_order(scheme):
    """Of positions and velocities on the double pendulum; of libraries, the tolerance takes its place."""
    if isinstance(scheme, OwnSteps):
        errors = [max(motion_errors(scheme, ph.Adaptive(rtol, rtol))) for rtol in (1e-4, 1e-6)]
        assert errors[1] < 1e-5
        assert errors[0] > 10 * errors[1]
        return
    steps = LATE.get(scheme, STEPS[scheme.order])
    coarse, fine = (motion_errors(scheme, END / n) for n in (steps, 2 * steps))
    band = 0.5 if scheme in LATE else 0.2
    claimed = (scheme.order, scheme.velocity_order)
    assert np.log2(np.divide(coarse, fine)) == pytest.approx(claimed, abs=band), (coarse, fine)


@cache
def crank_by_scipy() -> Callable[[float], Array]:
    """(q, v) of the damped slider-crank of `lagrangians` at a time, from an equation in its first angle alone."""
    m1, m2, l1, l2, g = NUMBERS.values()

    def both(a: float, da: float) -> tuple[Array, Array, Array]:
        b = -np.arcsin(l1 / l2 * np.sin(a))
        slope = -l1 * np.cos(a) / (l2 * np.cos(b))
        bend = (l1 * np.sin(a) + l2 * np.sin(b) * slope**2) / (l2 * np.cos(b))
        return np.array([a, b]), np.array([1.0, slope]), np.array([0.0, bend * da**2])

    def rates(t: float, y: Array) -> list[float]:
        (a, b), J, more = both(*y)
        da, db = J * y[1]
        cross = m2 * l1 * l2 * np.cos(a - b)
        M = np.array([[(m1 + m2) * l1**2, cross], [cross, m2 * l2**2]])
        turn = m2 * l1 * l2 * np.sin(a - b)
        friction = np.array([da / 5 + (da - db) / 10, (db - da) / 10])
        weight = -g * np.array([(m1 + m2) * l1 * np.sin(a), m2 * l2 * np.sin(b)])
        force = weight + np.array([-turn * db**2, turn * da**2]) - friction
        return [y[1], J @ (force - M @ more) / (J @ M @ J)]

    found = solve_ivp(rates, (0, END), [np.pi / 6, 0.0], rtol=1e-13, atol=1e-14, method="DOP853", dense_output=True)

    def state(t: float) -> Array:
        q, J, _ = both(*found.sol(t))
        return np.concatenate([q, J * found.sol(t)[1]])

    return state


@lagrangians
def test_order_on_a_lagrangian(scheme):
    """Of angles and their rates of a slider-crank with M(q), a constraint that is not quadratic, and damping."""

    def errors(step: float | ph.Adaptive) -> list[float]:
        run = ph.simulate(crank(), scheme, step, END)
        exact = np.array([crank_by_scipy()(t) for t in run.t.tolist()])
        gap = np.abs(run.x[:, :4] - exact).max(axis=0)
        return [gap[:2].max(), gap[2:].max()]

    if isinstance(scheme, OwnSteps):
        assert max(errors(ph.Adaptive(1e-6, 1e-6))) < 1e-5
        return
    steps = LATE.get(scheme, 2 * STEPS[scheme.order])
    found = np.log2(np.divide(errors(END / steps), errors(END / (2 * steps))))
    band = 1.0 if scheme.order == 8 else 0.2  # of order 8 the next halving is below round-off
    assert found == pytest.approx((scheme.order, scheme.velocity_order), abs=band)


# --- what is kept


@cache
def floating(spring: bool) -> ph.MechanicalSystem:
    """Two bodies that fly freely; with a spring between them the energy is not quadratic."""
    model = ph.Model("floating")
    model.body("a", ph.Box(2.0, (0.3, 0.4, 0.5)), velocity=(1, 0, 0), angular_velocity=(3, 2, 0))
    model.body("b", ph.Box(1.0, (0.2, 0.6, 0.3)), position=(0.5, 0.4, 0), angular_velocity=(0, 4, 1))
    model.spherical("J", "a", "b", at=(0.25, 0.2, 0.1))
    if spring:
        ends = {"point_a": (-0.1, 0.1, 0.2), "point_b": (0.6, 0.6, 0.1)}
        model.spring("S", "a", "b", stiffness=30.0, length=0.5, **ends)
    return model.assemble()


def kept_by(scheme: Contract, spring: bool) -> set[str]:
    """What stays within round-off on the floating bodies."""
    run = ph.simulate(floating(spring), scheme, TOLERANCE if isinstance(scheme, OwnSteps) else 0.05, 0.2)
    changes = {
        claims.ENERGY: np.abs(run.energy - run.energy[0]).max(),
        claims.LINEAR: np.abs(run.linear_momentum - run.linear_momentum[0]).max(),
        claims.ANGULAR: np.abs(run.angular_momentum - run.angular_momentum[0]).max(),
        claims.POSITION: run.position_error.max(),
        claims.VELOCITY: run.velocity_error.max(),
    }
    return {name for name, change in changes.items() if change < ROUND_OFF}


@schemes
def test_what_is_declared_to_be_kept_is_kept_and_nothing_else(scheme):
    """With a spring energy is not quadratic; on mechanisms generalised energy is the energy."""
    of_mechanisms = {claims.ENERGY if what == claims.GENERALISED else what for what in scheme.preserves}
    declared = of_mechanisms - {claims.QUADRATIC, claims.CYCLIC}
    kept = kept_by(scheme, spring=True)
    if isinstance(scheme, OwnSteps):  # linear momentum happens to stay
        assert not declared
        assert kept <= {claims.LINEAR}
        return
    assert kept == declared
    quadratic = kept_by(scheme, spring=False)
    assert declared <= quadratic
    assert (claims.ENERGY in quadratic) == bool(claims.ENERGIES & scheme.preserves)
    if isinstance(scheme, StateScheme):
        assert scheme.stiffly_accurate == (claims.VELOCITY in scheme.preserves)


@cache
def comet() -> ph.Lagrangian:
    """In polar coordinates: the angle is cyclic, and M depends on r."""
    r, angle, v, rate = sp.symbols("r angle v rate", real=True)
    L = (v**2 + r**2 * rate**2) / 2 + 1 / r
    return ph.Lagrangian(L, [r, angle], [v, rate], initial=([1.0, 0.0], [0.0, 1.2]), name="comet")


@cache
def bent_ring() -> ph.Lagrangian:
    """A bead on a ring, x^2 + y^2 = 1, whose masses depend on where it is."""
    x, y, u, v = sp.symbols("x y u v", real=True)
    L, start = ((1 + x**2) * u**2 + (1 + y**2) * v**2) / 2 - 9.81 * y, ([0.6, 0.8], [1.6, -1.2])
    return ph.Lagrangian(L, [x, y], [u, v], constraints=[x**2 + y**2 - 1], initial=start, name="ring")


@lagrangians
def test_what_is_kept_on_lagrangians(scheme):
    """Energy that is not quadratic, and the momentum of a cyclic coordinate; elsewhere p = dL/dv."""
    run = ph.simulate(comet(), scheme, TOLERANCE if isinstance(scheme, OwnSteps) else 0.2, 2.0)
    E = getattr(run, "generalized_energy", run.H)
    momentum = momenta(run)[0][:, 1]
    assert (np.ptp(E) < ROUND_OFF) == bool({claims.ENERGY, claims.GENERALISED} & scheme.preserves)
    assert (np.ptp(momentum) < ROUND_OFF) == (claims.CYCLIC in scheme.preserves)


@lagrangians
def test_constraints_on_lagrangians(scheme):
    """With M(q); the constraint is quadratic, as those of joints are."""
    run = ph.simulate(bent_ring(), scheme, TOLERANCE if isinstance(scheme, OwnSteps) else 0.1, 0.2)
    position, velocity = gaps(run)
    assert (position < ROUND_OFF) == (claims.POSITION in scheme.preserves)
    assert (velocity < ROUND_OFF) == (claims.VELOCITY in scheme.preserves)


# --- symmetry


def gap_there_and_back(scheme: Contract) -> float:
    """By how much a few steps, and as many back, miss the positions and velocities of the start."""
    if isinstance(scheme, Scheme):
        system = driven_model().assemble()
        q0, v0 = system.initial_arrays()
        wrench = np.repeat(system.loads.wrench_at(0.1)[None], len(scheme.fractions), axis=0)
        q, v = q0.copy(), v0.copy()
        for h in (0.01, -0.01):
            sizes = h * np.array(scheme.fractions)
            memory = scheme.rule.start(system, sizes, q, v, wrench[0])
            assert scheme.rule.advance(system, sizes, wrench, 1, q, v, memory, empty_record(system, 0)) == (0, 1)
        return float(max(np.abs(q - q0).max(), 0.1 * np.abs(v - v0).max()))
    system = double_pendulum()
    if isinstance(scheme, OwnSteps):
        start, n = system.initial_state(), system.n
        turned, x = np.concatenate([np.ones(n), -np.ones(n), np.ones(system.m)]), start
        for _ in range(2):
            run = ph.simulate(system, scheme, TOLERANCE, 0.2, start=x)
            x = turned * np.concatenate([run.q[-1], run.v[-1], start[2 * n :]])
        return float(np.abs(x - start).max())
    return steps_there_and_back(scheme, system, 0.05)


def steps_there_and_back(scheme: StateScheme, system: Descriptor, size: float) -> float:
    """The same of a scheme over states, on any system that begins with positions and velocities."""
    x = start = system.initial_state()
    n = system.n
    for h in (size, -size):
        step = None
        for _ in range(4):
            step = scheme.step(system, h, x, before=step)
            x = step.x
    return float(np.abs(x - start)[: 2 * n].max())


@pytest.mark.parametrize("scheme", [*CONTRACTS, *MORE_STAGES], ids=named)
def test_symmetric_schemes_go_back_and_others_do_not(scheme):
    assert (gap_there_and_back(scheme) < ROUND_OFF) == scheme.symmetric


@pytest.mark.parametrize("scheme", [*MECHANICAL, *MORE_STAGES], ids=named)
def test_symmetry_on_lagrangians(scheme):
    """With M(q) and a constraint."""
    assert (steps_there_and_back(scheme, bent_ring(), 0.05) < ROUND_OFF) == scheme.symmetric


# --- needs


@schemes
def test_needs(scheme):
    """`simulate` takes the systems that a scheme declares to step, and refuses others in these words."""
    step, h = TOLERANCE if isinstance(scheme, OwnSteps) else 0.05, 0.05
    for kind, system in systems().items():
        suits = isinstance(system, scheme.needs.kinds)
        able = kind != "descriptor" or scheme.needs.highest_index >= 3  # that one has index 3
        if suits and able:
            assert ph.simulate(system, scheme, step, h).status is ph.Status.OK
            continue
        words = f"steps {scheme.needs.words}, and '{system.name}' is" if not suits else "expected a system of index 1"
        with pytest.raises(ph.PorthosError, match=re.escape(words)):
            ph.simulate(system, scheme, step, h)
