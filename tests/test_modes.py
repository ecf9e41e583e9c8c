"""Linearisation, null-space reduction and modes, against analytic frequencies and minimal coordinates."""

from __future__ import annotations

import json

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from random_systems import linear, nonlinear, seeds, skew
from scipy.linalg import eigh
from scipy.optimize import brentq, minimize_scalar
from typer.testing import CliRunner

import porthos as ph
from gallery import closed_loop
from porthos.cli.app import app
from porthos.system.linearize import finite_part, pencil

G = 9.81


def pendulum(angle=0.0) -> ph.Model:
    """A box whose centre hangs 0.6 below a hinge, turned by an angle from its place of rest."""
    model = ph.Model("pendulum", gravity=(0, 0, -G))
    at = (0.6 * np.sin(angle), 0, -0.6 * np.cos(angle))
    model.body("bob", ph.Box(2.0, (0.1, 0.2, 1.0)), position=at, rotation=((0, 1, 0), -angle))
    model.revolute("hinge", model.ground, "bob", at=(0, 0, 0), axis=(0, 1, 0))
    return model


OMEGA = np.sqrt(2.0 * G * 0.6 / (2.0 * (0.1**2 + 1.0**2) / 12 + 2.0 * 0.6**2))


@pytest.mark.parametrize("angle", [0.0, 0.4, np.pi / 2, 3.0])
def test_frequency_and_shape_of_a_pendulum(angle):
    """It is found about its state of rest, also if it was placed elsewhere; the bob turns about the hinge."""
    found = ph.modes(pendulum(angle))
    assert found.angular_frequencies == pytest.approx([OMEGA], rel=1e-10)
    assert found.damping == pytest.approx([0.0], abs=1e-10)
    assert found.stable
    moved = found.displacement(0, "bob")
    assert moved.translation == pytest.approx(np.cross(moved.rotation, (0, 0, -0.6)), abs=1e-9)
    assert np.abs(moved.rotation[1]) > 0.1
    assert moved.rotation[[0, 2]] == pytest.approx([0, 0], abs=1e-9)
    assert "1 modes, stable" in found.summary()


def test_a_pendulum_upside_down_is_unstable():
    found = ph.modes(pendulum(np.pi))
    assert sorted(found.all_eigenvalues.real) == pytest.approx([-OMEGA, OMEGA], rel=1e-9)
    assert not found.stable
    assert found.damping == pytest.approx([1.0, -1.0]) or found.damping == pytest.approx([-1.0, 1.0])


def test_double_pendulum_against_two_angles():
    m, length, width = 1.0, 1.0, 0.05
    model = ph.Model("double pendulum", gravity=(0, 0, -G))
    for k in range(2):
        model.body(f"b{k}", ph.Box(m, (width, width, length)), position=(0, 0, -0.5 - k))
        model.revolute(f"j{k}", model.ground if k == 0 else "b0", f"b{k}", at=(0, 0, -k), axis=(0, 1, 0))
    J = m * (length**2 + width**2) / 12
    M = [[J + 1.25 * m, 0.5 * m], [0.5 * m, J + 0.25 * m]]
    K = np.diag([1.5 * m * G, 0.5 * m * G])
    values, vectors = eigh(K, M)
    found = ph.modes(model)
    assert found.angular_frequencies == pytest.approx(np.sqrt(values), rel=1e-9)
    for k in range(2):
        a, b = (found.displacement(k, name).rotation[1] for name in ("b0", "b1"))
        assert a / b == pytest.approx(vectors[0, k] / vectors[1, k], rel=1e-8)


def four_bar(lengths, ground, thetas) -> ph.Model:
    """Crank, coupler and rocker that hang between two pivots, placed at the angles of each bar from the downward z."""
    model = ph.Model("four-bar", gravity=(0, 0, -G))
    start = np.zeros(3)
    before = model.ground
    for k, (length, theta) in enumerate(zip(lengths, thetas, strict=True)):
        along = np.array([np.sin(theta), 0, -np.cos(theta)])
        model.body(f"bar{k}", ph.Box(1.0 + k, (0.05, 0.05, length)), position=start + length / 2 * along,
                   rotation=((0, 1, 0), -theta))  # fmt: skip
        model.revolute(f"j{k}", before, f"bar{k}", at=start, axis=(0, 1, 0))
        start, before = start + length * along, f"bar{k}"
    model.revolute("j3", before, model.ground, at=(ground, 0, 0), axis=(0, 1, 0))
    return model


def loop_angles(lengths, ground, theta):
    """Angles of coupler and rocker from that of the crank: the coupler's end lies on the circle of the rocker."""
    a, b, c = lengths
    tip = a * np.array([np.sin(theta), -np.cos(theta)])

    def miss(beta):
        end = tip + b * np.array([np.sin(beta), -np.cos(beta)])
        return np.hypot(*(end - (ground, 0))) - c

    beta = brentq(miss, 0.3, 2.6, xtol=1e-15, rtol=1e-15)
    end = tip + b * np.array([np.sin(beta), -np.cos(beta)])
    back = (np.array([ground, 0]) - end) / c
    return np.array([theta, beta, np.arctan2(back[0], -back[1])])


def test_four_bar_against_one_angle():
    """omega^2 = V''/m at the minimum of V(theta), m from the velocities of the bars: by differences in one angle.

    Its four hinges have parallel axes, so rows of the joints repeat others.
    """
    lengths, ground = (1.0, 1.4, 1.2), 1.5
    masses = np.array([1.0, 2.0, 3.0])
    J = masses * (np.array(lengths) ** 2 + 0.05**2) / 12

    def centres(theta):
        angles = loop_angles(lengths, ground, theta)
        along = np.column_stack([np.sin(angles), -np.cos(angles)]) * np.array(lengths)[:, None]
        ends = np.cumsum(along, axis=0)
        return ends - along / 2, angles

    def V(theta):
        return G * masses @ centres(theta)[0][:, 1]

    rest = minimize_scalar(V, bracket=(-0.3, 0.1, 0.5), tol=1e-12).x
    h = 2e-3
    bend = (-V(rest + 2 * h) + 16 * V(rest + h) - 30 * V(rest) + 16 * V(rest - h) - V(rest - 2 * h)) / (12 * h * h)
    (c1, a1), (c0, a0) = centres(rest + 1e-5), centres(rest - 1e-5)
    speed, spin = (c1 - c0) / 2e-5, (a1 - a0) / 2e-5
    mass = masses @ (speed**2).sum(axis=1) + J @ spin**2
    model = four_bar(lengths, ground, loop_angles(lengths, ground, rest + 0.05))
    found = ph.modes(model)
    assert found.angular_frequencies == pytest.approx([np.sqrt(bend / mass)], rel=1e-7)
    assert found.stable
    turned = [found.displacement(0, f"bar{k}").rotation[1] for k in range(3)]
    assert np.array(turned) / turned[0] == pytest.approx(spin, rel=1e-6)


def test_damped_and_overdamped_oscillators():
    """s = -d/2m +- sqrt(d^2/4m^2 - k/m)."""
    m, k = 2.0, 3.0
    for d in (0.4, 9.0):
        system = ph.LinearPHDAE(
            "oscillator", J=[[0, 1], [-1, 0]], R=np.diag([0, d]), Q=np.diag([k, 1 / m]), states=["q", "p"],
            initial=[0.0, 0.0],
        )  # fmt: skip
        found = ph.modes(system)
        exact = np.roots([m, d, k])
        assert np.sort_complex(found.all_eigenvalues) == pytest.approx(np.sort_complex(exact), rel=1e-9)
        if d < 1.0:
            assert found.damping == pytest.approx([d / (2 * np.sqrt(k * m))], rel=1e-9)
            assert found.frequencies == pytest.approx([np.abs(exact[0].imag) / (2 * np.pi)], rel=1e-9)


def test_velocities_of_the_start_do_not_matter():
    model = ph.Model("pendulum", gravity=(0, 0, -G))
    model.body("bob", ph.Box(2.0, (0.1, 0.2, 1.0)), position=(0, 0, -0.6), angular_velocity=(0, 2, 0))
    model.revolute("hinge", model.ground, "bob", at=(0, 0, 0), axis=(0, 1, 0))
    assert ph.modes(model).angular_frequencies == pytest.approx([OMEGA], rel=1e-10)
    run = ph.simulate(model, ph.MidpointGGL(), 0.01, 0.3)
    state = np.r_[run.q[-1], run.v[-1], np.zeros(run.system.m)]
    assert ph.modes(run.system, state).angular_frequencies == pytest.approx([OMEGA], rel=1e-10)


def test_modes_that_do_not_exist():
    model = ph.Model("falls", gravity=(0, 0, -G))
    model.body("stone", ph.Box(1.0, (1, 1, 1)))
    with pytest.raises(ph.PorthosError, match=r"no state of rest next to the start; 9\.81 is left .*'stone'"):
        ph.modes(model)
    floating = ph.modes(closed_loop.model())  # four bars, four ball joints: 24 - 12 motions, all free
    assert np.array_equal(floating.all_eigenvalues, np.zeros(24))
    assert floating.stable
    found = ph.modes(pendulum())
    with pytest.raises(ph.PorthosError, match=r"no body 'bop'.*Did you mean 'bob'"):
        found.displacement(0, "bop")
    with pytest.raises(ph.PorthosError, match="has no bodies"):
        ph.modes(linear(0, 3, 0), np.zeros(3)).displacement(0, "bob")


# --- linearisation


def test_linearised_pendulum_has_the_stiffness_of_its_reaction():
    """H = 1/2 dv.M dv + 1/2 dq.K dq with K = d(G^T lambda)/dq; its motion is that of the frequency."""
    system = pendulum().assemble()
    x = system.initial_state()
    small = system.linearised()
    assert small.check().ok
    n = system.n
    assert small.Q[:n, :n] == pytest.approx(system.G_stiffness(system.split(x)[2]).toarray(), abs=1e-8)
    assert small.Q[n:, n:] == pytest.approx(np.eye(n + system.m), abs=1e-8)
    assert list(small.blocks) == list(system.blocks)
    values = np.linalg.eigvals(finite_part(*pencil(small, x, np.zeros(0)))[0])
    assert values.imag.max() == pytest.approx(OMEGA, rel=1e-9)


def test_constant_matrices_linearise_anywhere():
    """A Duffing oscillator: Q is the second derivative of H at the state, also along a trajectory."""
    m, k = 2.0, 3.0
    system = ph.GeneralPHDAE(
        "Duffing", states=["q", "p"], ports=["force"], H=lambda x: x[1] ** 2 / (2 * m) + k / 4 * x[0] ** 4,
        z=lambda x: [k * x[0] ** 3, x[1] / m], J=[[0, 1], [-1, 0]], R=[[0, 0], [0, 0.1]], B=[[0], [1]], initial=[1, 0],
    )  # fmt: skip
    run = ph.simulate(system, ph.Gauss(2), 0.1, 1.0)
    for x in run.x[::5]:
        small = system.linearised(x)
        assert np.abs(small.Q - np.diag([3 * k * x[0] ** 2, 1 / m])).max() < 1e-9
        assert small.rest == pytest.approx(x)
        assert list(small.ports) == ["force"]


@given(seed=seeds, n=st.integers(1, 4))
def test_linear_systems_are_their_own_linearisation(seed, n):
    system = linear(seed, n, 2)
    small = system.linearised(np.random.default_rng(seed).normal(size=n))
    x = np.zeros(n)
    assert np.abs(small.Q - system.Q).max() < 1e-10 * np.linalg.cond(system.E(x))
    E, A = pencil(nonlinear(seed, n, 2), x, np.zeros(2))  # at a state that is none of rest: any system has a pencil
    assert E.shape == A.shape == (n, n)


def test_motion_has_no_hamiltonian_of_its_own():
    model = pendulum()
    moving = ph.Model("moving", gravity=(0, 0, -G))
    moving.body("bob", ph.Box(2.0, (0.1, 0.2, 1.0)), position=(0, 0, -0.6), angular_velocity=(0, 3, 0))
    moving.revolute("hinge", moving.ground, "bob", at=(0, 0, 0), axis=(0, 1, 0))
    assert model.assemble().linearised().check().ok
    with pytest.raises(ph.StructureError, match=r"no linear pH-DAE at this state: A = \(J - R\) Q fails by .*rigidity"):
        moving.assemble().linearised()


# --- null spaces


def constrained(seed, n, m):
    """Eq. (34): n states with energy, m multipliers, R, B, P, S, N; Q regular and not symmetric."""
    rng = np.random.default_rng(seed)
    whole = linear(seed, n, 2)
    J, R, E, B, P, S, N = (getattr(whole, letter)(np.zeros(n)) for letter in "JREBPSN")
    con, zero = rng.normal(size=(m, n)), np.zeros((m, m))
    pad = np.zeros((m, 2))
    return ph.LinearPHDAE(
        "constrained",
        J=np.block([[J, con.T], [-con, zero]]),
        R=np.block([[R, np.zeros((n, m))], [np.zeros((m, n)), zero]]),
        Q=np.block([[whole.Q, np.zeros((n, m))], [np.zeros((m, n)), np.eye(m)]]),
        E=np.block([[E, np.zeros((n, m))], [np.zeros((m, n)), zero]]),
        B=np.vstack([B, pad]), P=np.vstack([P, pad]), S=S, N=N,
        states={"e": n, "multipliers": m}, ports=2,
    )  # fmt: skip


@given(seed=seeds, n=st.integers(3, 6), m=st.integers(1, 2))
def test_reduced_and_full_motion_are_equal(seed, n, m):
    full = constrained(seed, n, m)
    reduced = full.reduced()
    assert reduced.dimension == n - m
    assert reduced.index(np.zeros(n - m)).index == 0
    rng = np.random.default_rng(seed)
    w = rng.normal(size=n - m)
    x = reduced.lift(w)
    assert reduced.project(x) == pytest.approx(w, abs=1e-12)
    assert full.H(x) == pytest.approx(reduced.H(w), rel=1e-10, abs=1e-12)
    if np.linalg.cond(reduced.E(w)) > 1e4:
        return
    drive = {"u0": np.sin, "u1": np.cos}
    runs = [ph.simulate(s, ph.Gauss(2), 0.01, 0.1, inputs=drive, start=start) for s, start in ((full, x), (reduced, w))]
    size = max(1.0, np.abs(runs[0]["e"]).max())
    assert reduced.lift(runs[1].x)[:, :n] == pytest.approx(runs[0]["e"], abs=1e-9 * size)
    assert runs[1].y == pytest.approx(runs[0].y, abs=1e-8 * size)


def test_reduced_and_full_motion_of_a_mechanism_to_round_off():
    """The linearised pendulum with 35 states and its reduction with 13: two move, eleven are gaps that stay zero."""
    full = pendulum().assemble().linearised()
    reduced = full.reduced()
    assert (full.dimension, reduced.dimension, full.index().index, reduced.index().index) == (35, 13, 2, 0)
    start = full.rest + 0.1 * np.real(ph.modes(pendulum()).shapes[0, : full.dimension])
    start = full.consistent(start)
    a = ph.simulate(full, ph.Gauss(2), 0.02, 2.0, start=start)
    b = ph.simulate(reduced, ph.Gauss(2), 0.02, 2.0, start=reduced.project(start))
    lifted = reduced.lift(b.x)
    assert np.abs(a.x[:, :24] - full.rest[:24]).max() > 0.01
    assert np.abs(a.x[:, :24] - lifted[:, :24]).max() < 1e-12
    turned = a["q of 'bob'"][:, 0] / a["q of 'bob'"][0, 0]
    assert turned == pytest.approx(np.cos(OMEGA * a.t), abs=1e-6)


def test_a_geared_pair_is_reduced_to_one_oscillator():
    k, m, C, mb = 3.0, 2.0, 1.7, 0.4
    a = ph.LinearPHDAE("a", J=[[0, 1], [-1, 0]], Q=np.diag([k, 1 / m]), B=[[0], [1]], ports=["force"], initial=[0, 0])
    b = ph.LinearPHDAE("b", J=[[0]], Q=[[1 / mb]], B=[[1]], ports=["push"], initial=[0])
    whole = ph.interconnect(a, b, through=ph.Transformer("force", "push", C)).linearised()
    reduced = whole.reduced()
    assert reduced.dimension == 2
    assert ph.modes(reduced, np.zeros(2)).angular_frequencies == pytest.approx([np.sqrt(k / (m + C**2 * mb))], rel=1e-9)


def test_a_port_on_a_constraint_is_refused():
    J = skew(np.random.default_rng(0), 3)
    J[2, 2] = 0
    system = ph.LinearPHDAE("pushed", J=J, Q=np.eye(3), E=np.diag([1, 1, 0]), B=[[0, 0], [0, 0], [0, 1]],
                            ports=["good", "bad"])  # fmt: skip
    with pytest.raises(ph.StructureError, match="cannot be reduced: port 'bad' acts on a constraint"):
        system.reduced()


# --- the command


def test_command(tmp_path):
    path = tmp_path / "pendulum.yaml"
    pendulum(0.3).save(path)
    told = CliRunner().invoke(app, ["modes", str(path)])
    assert told.exit_code == 0, told.output
    assert f"{OMEGA / (2 * np.pi):.6g} Hz" in told.stdout
    assert "moves 'bob'" in told.stdout
    data = json.loads(CliRunner().invoke(app, ["modes", str(path), "--json"]).stdout)
    (mode,) = data["modes"]
    assert mode["frequency"] == pytest.approx(OMEGA / (2 * np.pi), rel=1e-9)
    assert mode["shape"]["bob"]["translation"]["real"][0] != 0.0
    assert data["stable"]
    lighter = json.loads(CliRunner().invoke(app, ["modes", str(path), "--json", "-p", "gravity=[0,0,-1]"]).stdout)
    assert lighter["modes"][0]["frequency"] == pytest.approx(OMEGA / (2 * np.pi) / np.sqrt(G), rel=1e-9)


def test_command_shows_a_mode(tmp_path):
    path, film, page = tmp_path / "pendulum.yaml", tmp_path / "mode.gif", tmp_path / "mode.html"
    pendulum(0.3).save(path)
    told = CliRunner().invoke(app, ["modes", str(path), "--to", str(film), "--to", str(page)])
    assert told.exit_code == 0, told.output
    assert f"written to {film}\nwritten to {page}\n" in told.stdout
    assert film.stat().st_size > 10000
    assert f"mode 0 at {OMEGA / (2 * np.pi):.6g} Hz" in page.read_text(encoding="utf-8")
    for options, message in (
        (["--mode", "0"], "found --mode 0 without --to. Say where it is shown"),
        (["--mode", "4", "--to", str(film)], "has modes 0 to 0, found 4"),
        (["--to", str(tmp_path / "mode.xyz")], ".xyz"),
    ):
        told = CliRunner().invoke(app, ["modes", str(path), *options])
        assert told.exit_code == 1
        assert message in told.stderr


def test_a_mode_as_a_run(tmp_path):
    """The bob swings by the amplitude with the period of the mode, off the hinge by the square of it only."""
    found = ph.modes(pendulum())
    run = found.motion(0, periods=2, frames=40)
    assert run.t[-1] == pytest.approx(2 * 2 * np.pi / OMEGA)
    place = run["bob"].position
    assert np.abs(place - [0, 0, -0.6]).max() == pytest.approx(0.1 * run.system.length, rel=0.3)
    assert place[40] == pytest.approx(place[0], abs=1e-12)
    assert place[20, 0] == pytest.approx(-place[0, 0], abs=1e-12)
    small = found.motion(0, amplitude=1e-4)
    assert small.position_error.max() < 1e-7
    rate = np.gradient(small["bob"].position[:, 0], small.t, edge_order=2)
    assert rate == pytest.approx(small["bob"].velocity[:, 0], abs=0.02 * np.abs(rate).max())
    assert run.export(tmp_path / "mode.gif").stat().st_size > 10000
    assert run.report(tmp_path / "mode.html").stat().st_size > 100000


def test_a_mode_of_a_lagrangian_as_a_run():
    """Two pendulums on a spring: they swing in phase with sqrt(g), against each other with sqrt(g + 2 k)."""
    a, b, u, v = sp.symbols("a b u v")
    L = (u**2 + v**2) / 2 + G * (sp.cos(a) + sp.cos(b)) - 3 * (a - b) ** 2 / 2
    found = ph.modes(ph.Lagrangian(L, [a, b], [u, v], initial=([0.0, 0.0], [0.0, 0.0]), name="pair"))
    assert found.angular_frequencies == pytest.approx([np.sqrt(G), np.sqrt(G + 6)], rel=1e-8)
    for k, sign in ((0, 1.0), (1, -1.0)):
        run = found.motion(k, amplitude=1e-4, periods=1, frames=200)
        size = np.abs(run["a"]).max()
        assert run["b"] == pytest.approx(sign * run["a"], abs=1e-6 * size)
        omega = found.angular_frequencies[k]
        assert run.t[-1] == pytest.approx(2 * np.pi / omega)
        assert np.gradient(run["a"], run.t, edge_order=2) == pytest.approx(run["u"], abs=2e-3 * omega * size)
        exact = ph.simulate(found.system, ph.Gauss(3), run.t[-1] / 50, run.t[-1], start=run.x[0])
        assert exact.x[::5] == pytest.approx(run.x[::20], abs=1e-5 * omega * size)
        assert np.ptp(run.H) < 1e-5 * np.ptp(run["u"] ** 2 / 2)


def test_modes_that_cannot_be_shown():
    found = ph.modes(pendulum())
    with pytest.raises(ph.PorthosError, match="has modes 0 to 0, found 3"):
        found.motion(3)
    with pytest.raises(ph.PorthosError, match="frames >= 2"):
        found.motion(0, frames=1)
    free = ph.Model("free")
    free.body("brick", ph.Box(1.0, (1, 2, 3)))
    with pytest.raises(ph.PorthosError, match="does not oscillate"):
        ph.modes(free).motion(0)


def test_a_rod_that_spins_has_no_modes():
    model = ph.Model("rod", gravity=(0, 0, -9.81))
    model.body("rod", ph.Rod(1.0, 1.0, axis="z"), position=(0, 0, -0.5))
    model.spherical("pivot", "ground", "rod", at=(0, 0, 0))
    with pytest.raises(ph.PorthosError, match="modes of 'rod': expected inertia against every motion"):
        ph.modes(model)
