"""Interconnection of any number of pH-DAEs: structure, power, order of discretising and connecting, messages."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_systems import linear, nonlinear, seeds, skew
from scipy.linalg import null_space

import porthos as ph
from porthos.system.connections import input_form

counts = st.integers(2, 4)


def dirac_relation(rng, p, rows):
    """A random relation M y + N u = 0 that is u = K y + T lambda, T^T y = 0, and its K and T."""
    K, T = skew(rng, p), rng.normal(size=(p, rows))
    other = null_space(T.T) if rows else np.eye(p)
    M, N = np.vstack([T.T, -other.T @ K]), np.vstack([np.zeros((rows, p)), other.T])
    A = rng.normal(size=(p, p))
    return A @ M, A @ N, K, T


def random_parts(seed, count):
    """Systems with feed-through; the first depends on time and is not linear."""
    made = [nonlinear(seed, 3, 2)] + [linear(seed + k, 2 + k, 2) for k in range(1, count)]
    return {f"part {k}": system for k, system in enumerate(made)}


def random_interconnection(seed, count):
    """Port u0 of all parts and u1 of the second in one relation; the other ports stay open."""
    rng = np.random.default_rng(seed)
    ports = [*(f"part {k}: u0" for k in range(count)), "part 1: u1"]
    M, N, _, _ = dirac_relation(rng, count + 1, seed % (count + 1))
    return ph.interconnect(random_parts(seed, count), through=ph.Relation(ports, M, N, name="net"))


def relation_gap(system, M, N, x, u, t):
    """M y + N u at the connected ports, from the parts themselves."""
    states, _ = system.split(x)
    inputs = system.inputs(x, u, t)
    outputs = [s.y(xi, ui, t) for s, xi, ui in zip(system.parts.values(), states, inputs, strict=True)]
    y, v = ([part[0] for part in each] + [each[1][1]] for each in (outputs, inputs))
    return M @ y + N @ v, np.abs(M) @ np.abs(y) + np.abs(N) @ np.abs(v)


@given(seed=seeds, p=st.integers(1, 6))
def test_relation_in_input_form(seed, p):
    """T spans the directions that are constrained; what K does to the others is what the relation says."""
    rng = np.random.default_rng(seed)
    M, N, K, T = dirac_relation(rng, p, seed % (p + 1))
    found_K, found_T = input_form(M, N)
    assert found_T.shape == T.shape
    assert np.array_equal(found_K, -found_K.T)
    free = null_space(T.T) if T.size else np.eye(p)
    scale = 1e-8 * np.linalg.cond(np.hstack([M, N])) * max(1.0, np.abs(K).max())
    assert np.abs(found_T.T @ free).max(initial=0.0) < scale
    assert np.abs(free.T @ (found_K - K) @ free).max(initial=0.0) < scale


@given(seed=seeds, count=counts)
def test_random_interconnections_keep_structure_and_power(seed, count):
    """Gamma and W give what the parts give; no power is lost between them."""
    system = random_interconnection(seed, count)
    rng = np.random.default_rng(seed)
    x, u, t = rng.normal(size=system.dimension), rng.normal(size=system.width), 0.4
    assert system.check(x, t).ok, str(system.check(x, t))
    assert system.H(x, t) == pytest.approx(sum(s.H(system.part_state(k, x), t) for k, s in system.parts.items()))
    size = 1e-8 * max(1.0, np.abs(system.flow(x, u, t)).max())
    assert system.flow(x, u, t) == pytest.approx(ph.PHDAE.flow(system, x, u, t), abs=size)
    assert system.y(x, u, t) == pytest.approx(ph.PHDAE.y(system, x, u, t), abs=size)
    e = rng.normal(size=system.dimension)
    assert system.response(x, e, t) == pytest.approx((system.J(x, t) - system.R(x, t)) @ e, rel=1e-8, abs=size)
    lost = ph.PHDAE.dissipation(system, x, u, t)
    assert system.dissipation(x, u, t) == pytest.approx(lost, rel=1e-7, abs=size)
    states = [system.part_state(name, x) for name in system.parts]
    supplied = sum(
        s.y(xi, ui, t) @ ui for s, xi, ui in zip(system.parts.values(), states, system.inputs(x, u, t), strict=True)
    )
    inner = system.inner_power(x, u, t)
    assert supplied == pytest.approx(system.y(x, u, t) @ u + inner.sum(), rel=1e-9, abs=size)


@given(seed=seeds, count=counts)
def test_discretising_and_connecting_commute(seed, count):
    """A Gauss step of the whole is one of each part with the inputs of its stages, and those obey the relation."""
    rng = np.random.default_rng(seed)
    parts = {f"part {k}": linear(seed + k, 2 + k, 2) for k in range(count)}
    ports = [*(f"part {k}: u0" for k in range(count)), "part 1: u1"]
    M, N, _, _ = dirac_relation(rng, count + 1, seed % 2)
    system = ph.interconnect(parts, through=ph.Relation(ports, M, N, name="net"))
    x0, u, h = np.zeros(system.dimension), rng.normal(size=(2, system.width)), 0.02
    step = ph.Gauss(2).step(system, h, x0, u)
    inputs = [system.inputs(x, each) for x, each in zip(step.stages, u, strict=True)]
    sizes = max(1.0, np.abs(step.stages).max(), max(np.abs(np.concatenate(each)).max() for each in inputs))
    for k, (name, part) in enumerate(parts.items()):
        alone = ph.Gauss(2).step(part, h, system.part_state(name, x0), np.array([each[k] for each in inputs]))
        assert alone.x == pytest.approx(system.part_state(name, step.x), abs=1e-7 * sizes)
    for x, each in zip(step.stages, u, strict=True):
        gap, size = relation_gap(system, M, N, x, each, 0.0)
        assert np.abs(gap).max() < 1e-7 * max(1.0, size.max())
        power = system.inner_power(x, each)
        assert abs(power.sum()) < 1e-7 * max(1.0, np.abs(power).max())


def mass(m=1.0, name="mass"):
    """A momentum p with the port 'push': a force in, the velocity out."""
    return ph.LinearPHDAE(name, J=[[0]], Q=[[1 / m]], B=[[1]], states=["p"], ports=["push"], initial=[1.0])


def oscillator(m=2.0, k=3.0):
    """A mass on a spring with a port."""
    return ph.LinearPHDAE(
        "oscillator", J=[[0, 1], [-1, 0]], Q=np.diag([k, 1 / m]), B=[[0], [1]], states=["q", "p"], ports=["force"],
        initial=[1.0, 0.0],
    )  # fmt: skip


def test_transformer_is_a_gear():
    """y_b = C y_a: the second mass counts C^2 times; q = cos(w t), w^2 = k/(m_a + C^2 m_b)."""
    m, k, C, mb = 2.0, 3.0, 1.7, 0.4
    geared = ph.interconnect(
        oscillator(m, k), mass(mb), through=ph.Transformer("force", "push", C, name="gear"), name="geared"
    )
    assert geared.rows == 1
    w = np.sqrt(k / (m + C**2 * mb))
    assert geared.index(np.zeros(4)).index == 2
    start = geared.consistent(np.array([1.0, 0.0, 0.0, 0.0]))
    assert start == pytest.approx([1, 0, 0, -mb * C * w**2], abs=1e-9)  # u_b = m_b y_b'
    run = ph.simulate(geared, ph.Gauss(3), 0.05, 6.0, start=start)
    assert run["oscillator: q"] == pytest.approx(np.cos(w * run.t), abs=1e-9)
    assert run["mass: p"] == pytest.approx(-mb * C * w * np.sin(w * run.t), abs=1e-9)
    moved = run.connection("gear")
    kinetic = run["mass: p"] ** 2 / (2 * mb)
    assert moved.work["push"] == pytest.approx(kinetic, abs=1e-12)
    assert moved.work["force"] == pytest.approx(-kinetic, abs=1e-12)
    power = mb * C**2 * w**3 * np.sin(w * run.t) * np.cos(w * run.t)
    assert moved.power["push"] == pytest.approx(power, abs=1e-5)
    assert moved.power["push"] + moved.power["force"] == pytest.approx(np.zeros(run.t.size), abs=1e-12)
    assert np.abs(run.power_balance).max() < 1e-13


def test_feedback_by_a_spring():
    """A controller that integrates, y_c = k q: the mass becomes an oscillator, p = cos(w t), w^2 = k/m."""
    m, k = 2.0, 5.0
    spring = ph.LinearPHDAE("spring", J=[[0]], Q=[[k]], B=[[1]], states=["q"], ports=["rate"], initial=[0.0])
    loop = ph.interconnect(mass(m), spring, through=ph.Feedback("push", "rate"))
    assert loop.rows == 0
    run = ph.simulate(loop, ph.Gauss(3), 0.05, 6.0)
    assert run["mass: p"] == pytest.approx(np.cos(np.sqrt(k / m) * run.t), abs=1e-8)
    assert list(run.connection("push - rate").work) == ["push", "rate"]


def test_gyrator_turns_a_capacitor_into_a_coil():
    """A capacitor behind a gyrator of ratio g is a coil of inductance g^2 C."""
    C, g, other = 0.3, 1.5, 0.8
    cell = {"J": [[0]], "B": [[1]], "states": ["charge"], "ports": ["current"]}
    left = ph.LinearPHDAE("left", Q=[[1 / other]], initial=[1.0], **cell)
    right = ph.LinearPHDAE("right", Q=[[1 / C]], initial=[0.0], **cell)
    circuit = ph.interconnect(left, right, through=ph.Gyrator("left: current", "right: current", 1 / g))
    run = ph.simulate(circuit, ph.Gauss(3), 0.02, 3.0)
    assert run["left: charge"] == pytest.approx(np.cos(run.t / np.sqrt(g**2 * C * other)), abs=1e-8)


def test_ratio_may_depend_on_the_states():
    system = ph.interconnect(
        oscillator(), mass(), through=ph.Gyrator("force", "push", lambda xa, xb: np.sin(xa[0]) + xb[0] ** 2)
    )
    x = np.array([0.3, 0.2, 0.7])
    assert system.check(x).ok
    ratio = np.sin(0.3) + 0.49
    assert system.flow(x, np.zeros(0)) == pytest.approx([0.1, -0.9 - ratio * 0.7, ratio * 0.1], rel=1e-14)


def test_interconnections_may_be_connected_again():
    """(a + b) + c is a + b + c, with the connections of the inner one recorded under its name."""
    parts = [mass(m, f"m{k}") for k, m in enumerate((1.0, 2.0, 3.0))]
    middle = ph.LinearPHDAE("two ports", J=[[0]], Q=[[2.0]], B=[[1, 1]], states=["p"], ports=["left", "right"],
                            initial=[0.0])  # fmt: skip
    first, last = ph.Gyrator("m0: push", "left", 2.0, "first"), ph.Gyrator("right", "m1: push", 3.0, "last")
    flat = ph.interconnect(parts[0], middle, parts[1], through=[first, last])
    inner = ph.interconnect(parts[0], middle, through=ph.Gyrator("push", "left", 2.0, "first"), name="inner")
    nested = ph.interconnect(inner, parts[1], through=ph.Gyrator("right", "push", 3.0, "last"))
    x = np.array([0.3, -0.2, 0.5])
    assert nested.flow(x, np.zeros(0)) == pytest.approx(flat.flow(x, np.zeros(0)), rel=1e-14)
    assert nested.connections == {"last": ("right", "push"), "inner: first": ("inner: push", "inner: left")}
    a, b = (ph.simulate(s, ph.Gauss(1), 0.1, 1.0, start=x) for s in (flat, nested))
    work = b.connection("inner: first").work["inner: push"]
    assert work == pytest.approx(a.connection("first").work["m0: push"], abs=1e-13)
    assert np.abs(work).max() > 0.01
    assert nested.check(x).ok


def test_derivatives_of_parts_make_that_of_the_whole():
    """Newton's matrix and the derivative of outputs against differences, with both torque maps."""
    model = ph.Model("two shafts", gravity=(0, 0, -9.81))
    for k, torque_map in enumerate(("exact", "printed")):
        model.body(f"b{k}", ph.Box(1.0, (0.3, 0.4, 0.5)), rotation=((1, 2, 3), 0.4), angular_velocity=(1, 2, 3))
        model.port(f"turn{k}", f"b{k}", kind="wrench", at=(0.1, 0.2, 0.3), torque_map=torque_map)
    mechanism, other = model.assemble(), linear(3, 3, 6)
    rng = np.random.default_rng(1)
    x = mechanism.initial_state() + 0.1 * rng.normal(size=mechanism.dimension)
    found = mechanism.output_slope(x, np.zeros(12))
    assert found == pytest.approx(ph.PHDAE.output_slope(mechanism, x, np.zeros(12)), abs=1e-8)
    e = rng.normal(size=x.size)
    assert mechanism.response(x, e) == pytest.approx(ph.PHDAE.response(mechanism, x, e), abs=1e-13)
    through = [
        ph.Gyrator("u0", "turn0", rng.normal(size=(1, 6))),
        ph.Transformer("turn1", "u2", rng.normal(size=(6, 1))),
    ]
    whole = ph.interconnect(mechanism, other, through=through)
    x = np.r_[x, rng.normal(size=4)]
    rate, u = rng.normal(size=x.size), np.zeros(whole.width)
    exact, found = ph.PHDAE.tangent(whole, x, rate, u), whole.tangent(x, rate, u)
    assert found == pytest.approx(exact, abs=1e-7)


def test_sources_and_open_ports_keep_their_names():
    model = ph.Model("lever", gravity=(0, 0, -9.81))
    model.body("arm", ph.Box(1.0, (0.3, 0.4, 0.5)))
    model.load("wind", "arm", force=(1.0, 0, 0))
    model.port("motor", "arm", kind="torque", direction=(0, 0, 1))
    lever = model.assemble()
    system = ph.interconnect({"left": lever, "right": lever}, through=ph.Gyrator("left: motor", "right: motor"))
    assert list(system.ports) == ["left: wind", "right: wind"]
    assert {name: source(0.0).tolist() for name, source in system.sources.items()} == {
        "left: wind": [1.0, 0.0, 0.0],
        "right: wind": [1.0, 0.0, 0.0],
    }
    assert system.fed(0.0).tolist() == [1, 0, 0, 1, 0, 0]


@pytest.mark.parametrize(
    ("through", "message"),
    [
        (ph.Gyrator("forse", "push"), r"'forse - push': there is no port 'forse'. Did you mean 'force'\?"),
        (ph.Gyrator("force", "u0", np.ones((2, 1))), r"must be a matrix of shape \(1, 1\) or a number, found"),
        (ph.Transformer("force", "both"), r"'force' has 1 inputs, port 'both' has 2; .*\(1, 2\), found shape \(\)"),
        (ph.Gyrator("force", "push", np.nan), "the ratio holds numbers that are not finite"),
        ([ph.Gyrator("force", "push"), ph.Gyrator("force", "u0")], "'force' is taken by connection 'force - push'"),
        ([ph.Gyrator("force", "push", 1, "a"), ph.Gyrator("u0", "both", [[1, 2]], "a")], "are named 'a'"),
        (ph.Relation(["force", "push"], np.eye(3), np.eye(2)), r"M must have shape \(2, 2\) for ports with inputs "
         r"'force' 1, 'push' 1; found shape \(3, 3\)"),
        (ph.Relation(["force", "push"], np.eye(2), [[0, 1], [2, 0]]), r"not power-preserving: M N\^T \+ N M\^T must be "
         r"zero, found 3 in entry \(0, 1\), from equations 0 and 1"),
        (ph.Relation(["force", "push"], [[1, -1], [2, -2]], np.zeros((2, 2))), "2 independent equations, found 1"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(through, message):
    more = ph.LinearPHDAE("more", J=[[0]], Q=[[1]], B=[[1, 1, 1]], ports={"u0": 1, "both": 2})
    with pytest.raises(ph.StructureError, match=message):
        ph.interconnect(oscillator(), mass(), more, through=through)


def test_systems_that_do_not_fit_are_refused():
    with pytest.raises(ph.StructureError, match=r"two systems are named 'mass'; give them as {name: system}"):
        ph.interconnect(mass(), mass(), through=ph.Gyrator("push", "push"))
    with pytest.raises(ph.StructureError, match=r"port 'push' is not unique; write one of \['a: push', 'b: push'\]"):
        ph.interconnect({"a": mass(), "b": mass()}, through=ph.Gyrator("push", "push"))
    with pytest.raises(ph.StructureError, match=r"expected pH-DAEs.*Assemble the model first"):
        ph.interconnect(mass(), ph.Model("m"), through=ph.Gyrator("push", "push"))
    with pytest.raises(ph.StructureError, match="no system to join"):
        ph.interconnect(through=[])
    run = ph.simulate(mass(), ph.Gauss(1), 0.1, 0.2)
    with pytest.raises(ph.PorthosError, match=r"no connection 'gear'. There are none"):
        run.connection("gear")
    pair = ph.interconnect({"a": mass(), "b": mass()}, through=ph.Gyrator("a: push", "b: push"))
    with pytest.raises(ph.StructureError, match="no part 'c'"):
        pair.part_state("c", np.zeros(2))
