"""Systems from Lagrangians: symbolic forms against Euler-Lagrange, numbers against analytic motions and the Model."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import lagrangians as given
import numpy as np
import pytest
import sympy as sp
from sympy.calculus.euler import euler_equations

import porthos as ph
from gallery import double_pendulum as bars
from gallery import redundant_masses, spring_pendulum
from porthos.kernels.compile import cache_folder
from porthos.system.check import difference_jacobian
from porthos.system.descriptor import Descriptor
from porthos.system.generated import loaded

rng = np.random.default_rng(4)


# --- symbols


@pytest.mark.parametrize("name", ["general", "multibody", "index 1"])
@pytest.mark.parametrize("make", [given.double_pendulum, given.crank])
def test_symbolic_forms_are_port_hamiltonian_identically(make, name):
    """J = -J^T, E^T z = grad H and so z.E x' = y.u - z.R z, for all states and parameters."""
    form = make().symbolic(name, simplify=False)
    assert (form.J + form.J.T).applyfunc(sp.simplify).is_zero_matrix
    assert (form.R - form.R.T).applyfunc(sp.simplify).is_zero_matrix
    gradient = form.x.applyfunc(form.H.diff)
    assert (form.E.T * form.z - gradient).applyfunc(sp.simplify).is_zero_matrix
    assert form.J.shape == (form.x.rows, form.x.rows)


@cache
def textbook_accelerations():
    """Accelerations of the double pendulum with a motor, from SymPy's own Euler-Lagrange equations."""
    t = sp.Symbol("t")
    x, y, u = sp.Function("x")(t), sp.Function("y")(t), sp.Symbol("u")
    L = given.DOUBLE.subs({given.da: x.diff(t), given.db: y.diff(t), given.a: x, given.b: y}) + u * x
    equations = [e.lhs for e in euler_equations(L, [x, y], t)]
    solved = sp.solve(equations, [x.diff(t, 2), y.diff(t, 2)])
    plain = [(x.diff(t), given.da), (y.diff(t), given.db), (x, given.a), (y, given.b)]
    accelerations = [solved[f.diff(t, 2)].subs(plain).subs(given.NUMBERS) for f in (x, y)]
    return sp.lambdify([given.a, given.b, given.da, given.db, u], accelerations)


@pytest.mark.parametrize("seed", range(5))
def test_equations_are_those_of_euler_and_lagrange_with_the_gyroscopic_term(seed):
    """Without Lqv - Lqv^T the energy would be kept all the same, and the motion would be wrong."""
    system = given.double_pendulum()
    *x, u = np.random.default_rng(seed).normal(size=5)
    x, u = np.array(x), np.array([u])
    expected = textbook_accelerations()(*x, *u)
    assert np.linalg.solve(system.E(x), system.flow(x, u))[2:] == pytest.approx(expected, rel=1e-12)
    assert system.accelerations(x[:2], x[2:], u)[0] == pytest.approx(expected, rel=1e-12)
    J = system.J(x)
    assert abs(J[2, 3]) > 1e-3
    J[2:, 2:] = 0.0
    wrong = np.linalg.solve(system.E(x), J @ system.z(x) + system.B(x) @ u)
    assert system.z(x) @ (system.E(x) @ wrong) == pytest.approx(float(system.y(x) @ u), abs=1e-12)  # energy is blind
    assert np.abs(wrong[2:] - expected).max() > 1e-2


def test_multibody_form_has_the_coriolis_matrix_and_equals_the_general_one():
    system = given.crank()
    eight, nineteen = (system.symbolic(name, simplify=False) for name in ("general", "multibody"))
    for letter in ("E", "J", "R", "z", "B"):
        gap = getattr(eight, letter) - getattr(nineteen, letter)
        assert gap.applyfunc(sp.simplify).is_zero_matrix, letter
    assert sp.simplify(eight.H - nineteen.H) == 0
    J22 = nineteen.J[2:4, 2:4]
    by_hand = given.m2 * given.l1 * given.l2 * (given.da + given.db) * sp.sin(given.a - given.b)
    assert sp.simplify(J22[1, 0] - by_hand) == 0


def test_numbers_are_those_of_the_symbols():
    """E, J, R, z, B and H of (8) and (61), evaluated in both ways at a state that misses the constraint."""
    system = given.crank()
    for name, numeric in (("general", system), ("index 1", system.ggl)):
        form = system.symbolic(name, simplify=False)
        x = rng.normal(size=numeric.dimension)
        values = {**given.NUMBERS, **dict(zip(form.x, x, strict=True))}
        for letter in ("E", "J", "R", "z", "B"):
            expected = np.array(getattr(form, letter).subs(values).tolist(), dtype=float)
            found = getattr(numeric, letter)(x)
            assert found.reshape(expected.shape) == pytest.approx(expected, abs=1e-12), (name, letter)
        assert numeric.H(x) == pytest.approx(float(form.H.subs(values)), abs=1e-12)


def test_constant_mass_form_and_forms_that_do_not_fit():
    x, y, u, v, w = sp.symbols("x y u v w")
    swing = ph.Lagrangian((u**2 + v**2) / 2 - 9.81 * y, [x, y], [u, v], constraints=[(x**2 + y**2 - 1) / 2])
    form = swing.symbolic("constant mass")
    assert form.title == "(24)"
    assert form.J[2:4, 2:4].is_zero_matrix
    assert list(form.J[4, 2:4]) == [x, y]
    assert form.z[1] == 9.81
    with pytest.raises(ph.StructureError, match=r"mass matrix depends on coordinates.*'multibody'"):
        given.double_pendulum().symbolic("constant mass")
    magnetic = ph.Lagrangian((u**2 + v**2) / 2 + w * x * v, [x, y], [u, v], parameters={w: 3})
    with pytest.raises(ph.StructureError, match="not T - V"):
        magnetic.symbolic("multibody")
    with pytest.raises(ph.StructureError, match=r"no form 'generel'. Did you mean 'general'"):
        swing.symbolic("generel")
    with pytest.raises(ph.StructureError, match=r"has no inverse, which \(61\) needs"):
        redundant_masses.model().symbolic("index 1")


def test_latex_of_every_form():
    pendulum = given.double_pendulum()
    for name in ("general", "multibody", "index 1"):
        assert r"m_{2} \cos{\left(\theta_{1} - \theta_{2} \right)}" in pendulum.latex(name)
    shown = pendulum._repr_latex_()
    assert shown.startswith(r"$\displaystyle \begin{aligned}")
    assert r"\dot{\theta_{1}}" in shown
    assert "u_{motor}" in shown
    t = sp.Symbol("t")
    angle, length = sp.Function("a")(t), sp.Symbol("l")
    place = length * sp.Matrix([sp.sin(angle), sp.cos(angle)])
    turn = ph.Lagrangian(place.diff(t).dot(place.diff(t)) / 2, [angle], parameters={length: 2.0})
    assert turn.symbolic().E[1, 1] == length**2  # sin^2 + cos^2
    assert r"\gamma_{1}" in given.crank().latex("index 1", simplify=False)
    assert r"\left(" in given.crank().latex(simplify=False)  # J - R


def test_coordinates_may_be_functions_of_time():
    t = sp.Symbol("t")
    angle = sp.Function("theta")(t)
    g, length = sp.symbols("g l")
    L = length**2 * angle.diff(t) ** 2 / 2 + g * length * sp.cos(angle)
    pendulum = ph.Lagrangian(L, [angle], parameters={g: 9.81, "l": 2.0}, initial=([0.4], [0.0]))
    assert list(pendulum.blocks) == ["theta", "thetadot"]
    assert pendulum.accelerations(np.array([0.4]), np.zeros(1))[0] == pytest.approx([-9.81 / 2 * np.sin(0.4)])


# --- structure and schemes


@pytest.mark.parametrize(
    "make", [given.double_pendulum, given.crank, given.bead_on_turning_wire, spring_pendulum.model]
)
def test_checks_hold(make):
    system = make()
    assert system.check().ok, str(system.check())
    assert system.ggl.check().ok, str(system.ggl.check())
    assert system.check(system.initial_state()).ok


@pytest.mark.parametrize("make", [given.crank, given.bead_on_turning_wire])
def test_tangent_is_the_derivative_of_the_residual(make):
    system = make()
    x, rate = rng.normal(size=(2, system.dimension))
    u = np.append(rng.normal(size=system.width - 1), 1.0)
    exact = difference_jacobian(lambda at: system.residual(at, rate, u, 0.3), x, 1e-5)
    assert system.tangent(x, rate, u, 0.3) == pytest.approx(exact, abs=1e-7)
    assert system.tangent_cost < 2 * system.dimension


@cache
def crank_end() -> np.ndarray:
    """(q, v) of the driven crank at t = 0.5, where two steps agree."""
    coarse, fine = ends(given.crank(), ph.RadauIIA(5), (20, 30), 0.5)
    assert coarse[:4] == pytest.approx(fine[:4], abs=1e-10)
    return fine[:4]


def ends(system: Descriptor, scheme, counts: tuple[int, int], end: float) -> list[np.ndarray]:
    return [ph.simulate(system, scheme, end / n, end, inputs={"motor": np.sin}).x[-1] for n in counts]


@pytest.mark.parametrize(
    ("scheme", "form", "counts"),
    [(ph.Gauss(2), "index 1", (8, 16)), (ph.RadauIIA(2), "index 2", (8, 16)), (ph.LobattoIIIC(3), "index 1", (8, 16))],
    ids=lambda each: str(each).split("(")[0],
)
def test_schemes_keep_their_order_on_a_lagrangian_with_a_constraint(scheme, form, counts):
    system = given.crank()
    errors = [np.abs(x[:4] - crank_end()).max() for x in ends(system.formulation(form), scheme, counts, 0.5)]
    assert np.log2(errors[0] / errors[1]) > scheme.order - 0.4, errors


def test_bead_on_a_turning_wire_does_work():
    """r = r0 cosh(w t); the constraint supplies what the energy gains, through its own port."""
    rate, radius, end = 2.0, 0.3, 0.6
    system = given.bead_on_turning_wire(rate, radius)
    for form in (system, system.ggl):
        run = ph.simulate(form, ph.RadauIIA(3), 0.02, end)
        r = radius * np.cosh(rate * end)
        assert run.x[-1, :2] == pytest.approx([r * np.cos(rate * end), r * np.sin(rate * end)], abs=1e-7)
        v2 = (rate * radius * np.sinh(rate * end)) ** 2 + (rate * r) ** 2
        assert run.H[-1] == pytest.approx(v2, abs=1e-6)
        assert run.port("constraints").work[-1] == pytest.approx(run.H[-1] - run.H[0], abs=1e-6)
        torque = 2 * rate * 2.0 * rate * radius * np.sinh(rate * end)  # 2 m r' w, force on the wire
        assert abs(run["lambda"][-1]) == pytest.approx(torque, rel=1e-3)


def test_charge_in_a_magnetic_field_turns_in_circles():
    """L = m |v|^2/2 + w x v_y is not T - V; its gyroscopic matrix is the field."""
    x, y, u, v, w = sp.symbols("x y u v w", real=True)
    system = ph.Lagrangian((u**2 + v**2) / 2 + w * x * v, [x, y], [u, v], parameters={w: 3.0}, initial=([0, 0], [1, 0]))
    run = ph.simulate(system, ph.Gauss(3), 0.05, 1.0)
    assert run.x[-1] == pytest.approx([np.sin(3) / 3, (np.cos(3) - 1) / 3, np.cos(3), -np.sin(3)], abs=1e-8)
    assert np.abs(run.H - 0.5).max() < 1e-14


def test_singular_mass_matrix():
    """003, 6.1 with k/4 as printed: the end point of FORMULAS, with Radau IIA on (8)."""
    system = redundant_masses.model()
    assert np.linalg.matrix_rank(system.terms.second(*np.ones((2, 3)))[2]) == 2
    run = ph.simulate(system, ph.RadauIIA(3), 0.05, 10.0)
    assert run.x[-1, :3] == pytest.approx([0.1397914709, 1.2397914709, -0.2034579090], abs=2e-7)
    with pytest.raises(ph.StructureError, match=r"has no inverse at q = .*Livens"):
        system.ggl.J(np.zeros(8))


def test_the_same_mechanism_as_model_and_as_lagrangian():
    """Two bars on hinges, in 24 directors and in two angles."""
    a, b, u, v = sp.symbols("a b u v", real=True)
    m, length, g = bars.MASS, bars.LENGTH, bars.GRAVITY
    J = m * (length**2 + bars.WIDTH**2) / 12 + m * length**2 / 4
    T = (J + m * length**2) * u**2 / 2 + J * v**2 / 2 + m * length**2 / 2 * u * v * sp.cos(a - b)
    V = -m * g * length * (sp.Rational(3, 2) * sp.cos(a) + sp.cos(b) / 2)
    angles = ph.Lagrangian(T - V, [a, b], [u, v], initial=([np.pi / 2, np.pi / 2], [0, 0]), name="bars")
    run = ph.simulate(angles, ph.Gauss(4), 0.02, 1.0)
    at, bt = run.x[-1, :2]
    tip = length * np.array([np.sin(at) + np.sin(bt), -np.cos(at) - np.cos(bt)])
    assert tip == pytest.approx([-1.662764118133, -1.041247516906], abs=2e-10)
    errors = []
    for h in (2e-3, 1e-3):
        body = ph.simulate(bars.model(), ph.MidpointGGL(), h, 1.0)["lower bar"]
        end = body.position[-1] + body.rotation[-1] @ [0, 0, -length / 2]
        errors.append(np.abs(end[[0, 2]] - tip).max())
    assert errors[1] < 1e-4
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)


# --- plain functions


def numeric_crank(**more) -> ph.NumericLagrangian:
    m1, m2, l1, l2, g = given.NUMBERS.values()

    def L(q, v):
        kinetic = (m1 + m2) * l1**2 * v[0] ** 2 / 2 + m2 * l2**2 * v[1] ** 2 / 2
        kinetic = kinetic + m2 * l1 * l2 * v[0] * v[1] * np.cos(q[0] - q[1])
        return kinetic + (m1 + m2) * g * l1 * np.cos(q[0]) + m2 * g * l2 * np.cos(q[1])

    return ph.NumericLagrangian(
        L,
        ["theta1", "theta2"],
        ["omega1", "omega2"],
        constraints=lambda q: [l1 * np.sin(q[0]) + l2 * np.sin(q[1])],
        dissipation=[[0.3, -0.1], [-0.1, 0.1]],
        inputs={"motor": [1.0, 0.0]},
        initial=([np.pi / 6, np.arcsin(-0.25)], [0.0, 0.0]),
        name="crank",
        **more,
    )


def test_plain_functions_give_the_same_system():
    system, other = given.crank(), numeric_crank()
    x = rng.normal(size=system.dimension)
    for letter in ("E", "J", "R", "z", "B"):
        assert getattr(other, letter)(x) == pytest.approx(getattr(system, letter)(x), abs=1e-9), letter
    assert other.H(x) == pytest.approx(system.H(x), abs=1e-13)
    assert other.check().ok
    assert other.ggl.check().ok
    runs = [ph.simulate(each, ph.RadauIIA(2), 0.02, 0.2, inputs={"motor": 1.0}) for each in (system, other)]
    assert runs[0].x[-1] == pytest.approx(runs[1].x[-1], abs=1e-8)


def test_plain_functions_of_time():
    def wire(t, q):
        return q[1] * np.cos(2 * t) - q[0] * np.sin(2 * t)

    system = given.bead_on_turning_wire()
    other = ph.NumericLagrangian(lambda q, v: v @ v, ["x", "y"], ["u", "v"], constraints=wire)
    x = rng.normal(size=5)
    assert other.B(x, 0.4) == pytest.approx(system.B(x, 0.4), abs=1e-12)
    state = rng.normal(size=6)
    assert other.ggl.B(state, 0.4) == pytest.approx(system.ggl.B(state, 0.4), abs=1e-9)
    assert other.ggl.J(state, 0.4) == pytest.approx(system.ggl.J(state, 0.4), abs=1e-9)


def test_derivatives_may_be_given_and_are_examined():
    m, k = 2.0, 5.0
    options = {"coordinates": ["x"], "L": lambda q, v: m * v[0] ** 2 / 2 - k * abs(q[0]) ** 3 / 3}
    right = ph.NumericLagrangian(gradient=lambda q, v: ([-k * q[0] * abs(q[0])], [m * v[0]]), **options)
    assert right.accelerations(np.array([0.5]), np.zeros(1))[0] == pytest.approx([-k * 0.25 / m])
    with pytest.raises(ph.ModelError, match=r"do not agree with differences.*abs and norm break complex steps"):
        ph.NumericLagrangian(**options)
    with pytest.raises(ph.ModelError, match="`gradient` and check"):
        ph.NumericLagrangian(gradient=lambda q, v: ([k * q[0] * abs(q[0])], [m * v[0]]), **options)
    with pytest.raises(ph.ModelError, match="`jacobian` and check"):
        numeric_crank(jacobian=lambda q: [[np.cos(q[0]), np.cos(q[1])]])


# --- generated code


def test_code_is_shared_by_lagrangians_that_differ_in_parameters_only():
    first = given.double_pendulum()
    second = ph.Lagrangian(
        given.DOUBLE, [given.a, given.b], [given.da, given.db], parameters=dict.fromkeys(given.NUMBERS, 1.0),
        inputs={"motor": [1, 0]},
    )  # fmt: skip
    assert first.source == second.source
    assert first.H(np.ones(4)) != second.H(np.ones(4))
    file = Path(loaded(first.source).__file__)
    assert file.parent == cache_folder().parent / "lagrangians"
    assert file.read_text() == first.source
    assert "c0 = " in first.source  # common parts
    file.write_text("raise SystemExit('tampered')")
    del sys.modules[file.stem]
    assert callable(loaded(first.source).L)
    assert file.read_text() == first.source


def test_numbers_in_code_keep_all_their_digits():
    x, v = sp.symbols("x v")
    third = ph.Lagrangian(v**2 / 2 - (1 / 3) * x, [x], [v])
    assert third.terms.L(np.ones(1), np.zeros(1)) == -1 / 3


# --- messages

q, v, w, t, c = sp.symbols("q v w t c")
unknown = sp.Function("f")(q)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"L": v**2 - w * q}, r"'spring': L contains the unknown symbol 'w'. Give its value, parameters=\{'w': ...\}"),
        ({"L": v**2 - unknown}, r"L contains the unknown function 'f\(q\)'"),
        ({"L": v**2 - sp.Symbol("q", real=True)}, "'q'. It has the name of a symbol that was given, but other"),
        ({"L": v**2 - q * t}, "'t'. L must not depend on time; prescribe a motion by a constraint"),
        ({"L": "v**2"}, r"expected a SymPy expression, found 'v\*\*2'"),
        ({"constraints": [q, q * v]}, "constraint 1 contains the unknown symbol 'v'. 'v' is a velocity"),
        ({"constraints": q - sp.Symbol("r")}, "constraint 0 contains the unknown symbol 'r'"),
        ({"dissipation": v**4}, "dissipation must be a quadratic form"),
        ({"dissipation": c * v**2}, "dissipation contains the unknown symbol 'c'"),
        ({"inputs": {"push": [1, 0]}}, "input 'push': expected 1 rows, one generalised force for each of q"),
        ({"inputs": {"push": [w]}}, "input 'push' contains the unknown symbol 'w'"),
        ({"parameters": {"k": "soft"}}, "parameter 'k': expected a number, found 'soft'"),
        ({"velocities": None}, "no velocities given for q"),
        ({"velocities": [v, w]}, "found 1 coordinates .* and 2 velocities"),
        ({"coordinates": [q + 1]}, r"expected symbols as coordinates and velocities, found q \+ 1"),
        ({"velocities": [sp.Symbol("lambda")], "L": q}, "the name 'lambda' stands for two things"),
        ({"initial": ([0.0, 1.0], [0.0])}, "initial coordinates: expected 1 finite numbers"),
        ({"constraints": q - 1, "initial": ([0.5], [0.0])}, "miss constraint 0 on position level by -0.5"),
        ({"constraints": q - 1, "initial": ([1.0], [0.5])}, "miss constraint 0 on velocity level by 0.5"),
        (
            {"initial": [0.0, 1.0, 2.0]},
            r"initial: expected two lists, coordinates \(q\) and velocities \(v\), f",
        ),
        (
            {"constraints": [q, sp.Integer(0)]},
            "constraint 1 depends on no coordinate, found 0. Expected an .* in q",
        ),
        (
            {"constraints": ["q - 1"]},
            "'spring': constraint 0: expected a SymPy expression, found 'q - 1'. M",
        ),
        (
            {"coordinates": ["q"]},
            r"expected symbols as coordinates and velocities, found 'q'. Make them with sympy.symbols\('x v'",
        ),
        ({"L": v**2 - sp.Heaviside(q)}, "no code can be generated for 'DiracDelta' in Lq. Use elementary functions"),
    ],
)
def test_messages(arguments, message):
    options = {"L": v**2 - q**2, "coordinates": [q], "velocities": [v], "name": "spring"} | arguments
    with pytest.raises(ph.ModelError, match=message):
        ph.Lagrangian(**options)


def test_constraints_may_be_equations():
    x, y, u, w = sp.symbols("x y u w")
    one, other = (
        ph.Lagrangian((u**2 + w**2) / 2 - y, [x, y], [u, w], constraints=given, initial=([3.0, 4.0], [0.0, 0.0]))
        for given in (sp.Eq(x**2 + y**2, 25), [x**2 + y**2 - 25])
    )
    assert one.expressions.g == other.expressions.g
    assert one.initial_state() == pytest.approx(other.initial_state())


def test_constraints_that_repeat_others_are_named():
    x, y, z, u, v, w = sp.symbols("x y z u v w")
    rows = [x - y, z, 2 * x - 2 * y]
    system = ph.Lagrangian(u**2 + v**2 + w**2, [x, y, z], [u, v, w], constraints=rows, name="twice")
    report = system.check()
    assert not report.ok
    assert report["G has full rank"].where == "rank 2 of 3 constraints; those that repeat others are among [0, 2]"
    assert given.crank().check()["G has full rank"].ok


def test_more_messages():
    pendulum = given.double_pendulum(initial=None)
    with pytest.raises(ph.PorthosError, match="no initial state of its own"):
        pendulum.initial_state()
    with pytest.raises(ph.PorthosError, match=r"no formulation 'index 3'. Did you mean 'index"):
        pendulum.formulation("index 3")
    assert "2 coordinates (theta1, theta2)" in repr(pendulum)


@pytest.mark.parametrize("make", [given.crank, given.bead_on_turning_wire])
def test_outputs_and_losses_are_those_of_the_matrices(make):
    """They are computed without B and R, whose entries are zero for the most part."""
    system = make()
    x, e = rng.normal(size=(2, system.dimension))
    u = rng.normal(size=system.width)
    z, B, R = system.z(x, 0.3), system.B(x, 0.3), system.R(x, 0.3)
    assert system.y(x, u, 0.3) == pytest.approx(B.T @ z, abs=1e-13)
    assert system.output_by(x, e, u, 0.3) == pytest.approx(B.T @ e, abs=1e-13)
    assert system.dissipation(x, u, 0.3) == pytest.approx(z @ R @ z, abs=1e-13)
    assert system.loss_by(x, e, u, 0.3) == pytest.approx(e @ R @ e, abs=1e-13)
