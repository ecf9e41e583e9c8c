"""Force elements: balances to round-off for every one of them, and motions that are known from elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from catalogue import ALL_SCHEMES, CONTRACTS, by_name
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import loops, trees, with_elements
from scipy.integrate import solve_ivp
from scipy.special import ellipj
from test_inner_states import joined

import porthos as ph
from benchmarks.elements import bars
from porthos.integrate.scheme import ENERGY, GENERALISED
from porthos.model.drives import DRIVES as DRIVE_KINDS
from porthos.model.elements import ELEMENTS as KINDS
from porthos.model.gears import GEARS as GEAR_KINDS
from porthos.model.potentials import POTENTIALS
from porthos.system.check import precise_jacobian

MIDPOINTS = [ph.Midpoint(), ph.MidpointGGL()]
every_midpoint = pytest.mark.parametrize("scheme", MIDPOINTS, ids=by_name)
REST = np.zeros(0)


def pair(**spring):
    """A bead on a line, held by a spring along it."""
    model = ph.Model("bead")
    model.point_mass("bead", 2.0, position=(1.3, 0, 0))
    model.point_on_line("line", "ground", "bead", (1.3, 0, 0), (1, 0, 0))
    model.spring("spring", "ground", "bead", (0, 0, 0), (1.3, 0, 0), **spring)
    return model


def arm(**coil):
    """A bar on a hinge without gravity, held by a torsion spring."""
    model = ph.Model("arm")
    model.body("bar", ph.Box(1.5, (0.6, 0.1, 0.2)), position=(0.3, 0, 0))
    hinge = model.revolute("hinge", "ground", "bar", (0, 0, 0), (0, 0, 1))
    model.torsion_spring("coil", hinge, **coil)
    return model


def flyer(element):
    """Bodies and a bead in space, joined by one element and a hinge; without a fall, whose energy hides all others."""
    model = ph.Model("flyer")
    model.body("a", ph.Box(1.0, (0.4, 0.2, 0.1)), angular_velocity=(1, 2, -1))
    model.body("b", ph.Box(0.7, (0.2, 0.3, 0.1)), position=(0.6, 0.1, 0), velocity=(0, 0.5, 0.2))
    model.body("c", ph.Box(0.5, (0.3, 0.1, 0.1)), position=(0, 0.4, 0))
    model.point_mass("bead", 0.3, position=(0.9, 0.8, 0.3), velocity=(-1, 0, 0))
    model.revolute("hinge", "a", "c", (0, 0.2, 0), (0.2, 1, 0))
    ACTING[element](model)
    return model


ELEMENTS = {
    "spring": lambda m: m.spring("e", "a", "b", (0.2, 0, 0), (0.5, 0.1, 0.05), stiffness=300, length=0.2),
    "nonlinear spring": lambda m: m.spring("e", "a", "bead", (0.2, 0.1, 0), (0.9, 0.8, 0.3), stiffness=(9, -2, 80, 5)),
    "spring with damper": lambda m: m.spring("e", "a", "b", (0.2, 0, 0), (0.5, 0.1, 0.05), stiffness=90, damping=2),
    "table": lambda m: m.spring("e", "b", "bead", (0.6, 0.2, 0), (0.9, 0.8, 0.3),
                                table=[(-0.5, -60), (-0.05, -1), (0, 0), (0.07, 0.2), (0.2, 30)], damping=0.1),
    "constant force": lambda m: m.spring("e", "a", "b", (0.2, 0, 0), (0.5, 0.1, 0.05), force=3.0),
    "damper": lambda m: m.damper("e", "a", "b", (0.2, 0, 0), (0.5, 0.1, 0.05), damping=4.0),
    "attraction": lambda m: m.attraction("e", "b", "bead", (0.6, 0.1, 0), (0.9, 0.8, 0.3), strength=2.0),
    "torsion spring": lambda m: m.torsion_spring("e", "hinge", stiffness=4.0, angle=0.4),
    "torsion spring with damper": lambda m: m.torsion_spring("e", "hinge", stiffness=(4, 0, 9), damping=0.05, torque=1),
    "torsion table": lambda m: m.torsion_spring("e", "hinge", table=[(-1, -5), (-0.1, 0), (0.1, 0), (1, 5)], torque=2),
    "potential V(s)": lambda m: m.potential("e", "b", "bead", (0.6, 0.1, 0), (0.9, 0.8, 0.3),
                                           "30*(s - 0.7)**2 + cosh(3*s)", (0.05, 4)),
    "potential V(angle)": lambda m: m.joint_potential("e", "hinge", "-3*cos(2*s) + 2*s**2"),
    "field V(x, y, z)": lambda m: m.field("e", "b", (0.6, 0.2, 0), "20*x**2 + cosh(2*y) + 5*z**2", within=8.0),
    "friction": lambda m: m.friction("e", "hinge", 0.3, radius=0.1, speed=1e-3),
    "bushing": lambda m: m.bushing("e", "a", "b", (0.3, 0, 0), (400, 300, 200), (0, 0, 0), (20, 30, 10), (0, 0, 0)),
    "bushing with dampers": lambda m: m.bushing("e", "a", "b", (0.3, 0, 0), (400, 300, 200), (1, 2, 3), (20, 30, 10),
                                                (0.1, 0.2, 0)),
}  # fmt: skip


# --- balances


DRIVES = {
    "turn drive": lambda m: m.turn_drive("e", "a", "c", (0, 0.2, 0), (0.2, 1, 0), angle=ph.Sine(0.5, 0.7)),
    "turn drive of many turns": lambda m: m.turn_drive("e", "a", "c", (0, 0.2, 0), (0.2, 1, 0),
                                                       angle=ph.Expression("3*t + 0.2*sin(5*t)")),
    "slide drive": lambda m: m.slide_drive("e", "a", "b", (0.5, 0.1, 0.05), (1, 0.3, 0), displacement=ph.Sine(0.1, 2)),
    "length drive": lambda m: m.length_drive("e", "a", "bead", (0.2, 0.1, 0), (0.9, 0.8, 0.3),
                                             length=lambda t: np.hypot(0.7, np.hypot(0.7, 0.3)) * np.exp(-0.1 * t)),
}  # fmt: skip


def geared(model):
    """Two wheels on a body in the air."""
    model.body("d", ph.Cylinder(0.4, 0.1, 0.05), position=(0.3, 0.14, 0), rotation=((1, 0, 0), -np.pi / 2))
    model.revolute("axle", "a", "d", (0.3, 0.14, 0), (0.2, 1, 0))
    model.gear("e", "c", "d", teeth=(17, 40))


def racked(model):
    """A pinion and a rack on a body in the air."""
    model.body("d", ph.Box(0.4, (0.5, 0.05, 0.05)), position=(0, 0.2, 0.1))
    model.prismatic("rail", "a", "d", (0, 0.2, 0.1), np.cross((0.2, 1, 0), (0, 0, 1)))
    model.rack("e", "c", "d", at_b=(0, 0.2, 0.1))


def ringed(model):
    """A wheel within a ring, on a body in the air."""
    model.body("d", ph.Cylinder(0.4, 0.1, 0.05), position=(0.12, 0.176, 0), rotation=((1, 0, 0), -np.pi / 2))
    model.revolute("axle", "a", "d", (0.12, 0.176, 0), (0.2, 1, 0))
    model.gear("e", "c", "d", teeth=(40, 17), internal=True)


def bevelled(model):
    """Two wheels whose axes meet, on a body in the air."""
    model.body("d", ph.Cylinder(0.4, 0.1, 0.05), position=(0.3, 0.2, 0), rotation=((0, 1, 0), np.pi / 2))
    model.revolute("axle", "a", "d", (0.3, 0.2, 0), (1, 0.1, 0.3))
    model.gear("e", "c", "d", teeth=(17, 23))


GEARS = {"gear": geared, "ring": ringed, "bevel gear": bevelled, "rack": racked}


class Regulator:
    """A controller with a memory: it holds a spin against what disturbs it."""

    def __init__(self):
        self.state = 0.0

    def __call__(self, t, y):
        self.state += 1e-3 * (y - 1.0)
        return -0.05 * (y - 1.0) - 0.02 * self.state


def railed(model):
    """A slide on a body in the air."""
    model.body("d", ph.Box(0.4, (0.3, 0.1, 0.1)), position=(0.2, 0, 0.3), velocity=(0.5, 0, 0))
    model.prismatic("rail", "a", "d", (0.2, 0, 0.3), (1, 0, 0.2))


def rubbing_rail(model):
    railed(model)
    model.friction("e", "rail", 0.2, speed=1e-2)


def beamed(model):
    """A beam with damping on a body in the air."""
    section = ph.CircularSection(radius=0.02, young=1e7, poisson=0.3, density=1000)
    model.beam("e", section, (0.2, 0, 0), (0.5, 0, 0), a="a", elements=2, damping=2e-3)


def pushed_rail(model):
    railed(model)
    model.joint_port("e", "rail")


def looking(t, y, state):
    """A controller that sees the mechanism."""
    return 0.3 * state["c"].velocity[2] - 0.1 * y


HINGED = lambda m: m.joint_port("e", "hinge")  # noqa: E731
CONTROLLERS = {
    "controller": (lambda m: m.port("e", "a", kind="torque", direction=(0, 0, 1)), Regulator),
    "controller of the state": (HINGED, lambda: looking),
    "samples": (HINGED, lambda: ph.Sampled(lambda t, y: 0.2 * np.sin(t) - 0.1 * y, period=0.02)),
    "PD": (HINGED, lambda: ph.PD(joint="hinge", stiffness=5.0, damping=0.1, target=ph.Sine(1.0, 0.3))),
    "PD over turns": (HINGED, lambda: ph.PD(joint="hinge", stiffness=0.5, damping=0.05, target=20.0)),
    "PD with samples": (
        HINGED,
        lambda: ph.Sampled(ph.PD(joint="hinge", stiffness=3.0, damping=0.1, target=2.0), period=0.01),
    ),
    "energy shaping": (HINGED, lambda: ph.EnergyShaping(joint="hinge", energy="2*s**2 - cos(3*s)", damping=0.05)),
    "motor in a hinge": (HINGED, lambda: ph.Sine(0.4, 0.7)),
    "motor in a slide": (pushed_rail, lambda: ph.Sine(0.4, 0.7)),
    "jet": (lambda m: m.port("e", "b", at=(0.1, 0, 0), frame="body"), lambda: (0.1, 0.2, 0, 0, 0.01, 0.02)),
}
RUBBING = {"friction in a slide": rubbing_rail}
BEAMS = {"beam": beamed}
ACTING = ELEMENTS | DRIVES | GEARS | RUBBING | BEAMS | {name: add for name, (add, _) in CONTROLLERS.items()}


# systems of their own that are connected with a mechanism, of which schemes over states keep the balance
INNER = {"Maxwell element and actuator": joined}

# friction has no steps backwards, which compositions take: `test_friction_is_refused_where_it_cannot_be`
BALANCED = [
    pytest.param(scheme, part, id=f"{by_name(scheme)}-{part}")
    for scheme in (*MIDPOINTS, ph.Composition(ph.MidpointGGL()))
    for part in ACTING
    if not (part.startswith("friction") and isinstance(scheme, ph.Composition))
] + [pytest.param(ph.Gauss(1), part, id=f"Gauss-{part}") for part in INNER]


@pytest.mark.parametrize(("scheme", "part"), BALANCED)
def test_supplied_stored_and_dissipated_energy_close(scheme, part):
    """For every element, drive, gear, controller, port and beam, over 10^4 steps."""
    if part in INNER:
        close_of_connected(scheme, INNER[part]())
        return
    model = flyer(part)
    model.load("push", "a", force=ph.Sine((0, 2, 1), 1.0), torque=(0, 0.1, 0))
    inputs = {"e": CONTROLLERS[part][1]()} if part in CONTROLLERS else {}
    run = ph.simulate(model, scheme, 1e-3, 10.0, every=10, inputs=inputs)
    works = [run.port(name).work for name in run.system.channel_names]
    size = sum(np.abs(work).max() for work in works) + np.ptp(run.stored_energy) + run.dissipated_energy[-1]
    defect = run.energy - run.energy[0] - sum(works) + run.dissipated_energy
    assert np.abs(defect).max() < 2e-12 * size
    if part in ELEMENTS | RUBBING:
        look_at(run, part)
    elif part in BEAMS:
        assert np.ptp(run.beam("e").energy) > 1e-6 and run.dissipated_energy[-1] > 1e-6
    elif part in GEARS:
        assert np.ptp(run.raw.multipliers[1:, run.system.mech.gear.row[0]]) > 1e-2
        assert run.position_error.max() < 1e-11
    else:
        assert np.ptp(run.port("e").work) > 1e-3


def close_of_connected(scheme, whole):
    """The same of a mechanism that is connected with systems of their own."""
    run = ph.simulate(whole, scheme, 1e-3, 10.0, every=10, inputs={"command": lambda t: np.sin(3 * t)})
    size = max(np.ptp(run.H), run.supplied[-1])
    assert np.abs(run.H - run.H[0] - run.supplied + run.dissipated).max() < 1e-11 * size
    assert run.dissipated[-1] > 0.1 and np.all(np.diff(run.dissipated) >= 0.0)


def test_balances_are_closed_for_every_kind_of_part():
    """None is left out of the test above."""
    models = [flyer(part) for part in ACTING]
    found = {each.kind for model in models for each in (*model.elements, *model.joints)}
    assert {each.kind for each in (*KINDS, *POTENTIALS, *DRIVE_KINDS, *GEAR_KINDS)} <= found
    assert any(model.beams for model in models)


def look_at(run, element):
    """Stored energy changes, dissipated energy grows."""
    damped = "damper" in element or "friction" in element or element == "table"
    assert bool(run.dissipated_energy[-1] > 1e-3) is damped
    assert np.all(np.diff(run.element("e").dissipated) >= 0.0)
    assert np.ptp(run.element("e").energy) > 1e-3 or element == "damper" or "friction" in element


@given(model=with_elements(st.one_of(trees(), loops())))
def test_structure_and_derivatives_of_random_elements(model):
    system = model.assemble()
    assert all(system.check()[name].ok for name in ("J skew", "R symmetric", "R >= 0", "E^T z = grad H"))
    x = system.initial_state()
    q, v, _ = system.split(x)
    by_q, by_v = system.force_tangent(q, v, REST)
    size = max(1.0, np.abs(by_q).max(), np.abs(by_v).max())
    found = precise_jacobian(lambda at: system.force(q, at, REST), v)
    assert np.abs(found - by_v.toarray()).max() < 1e-9 * size
    gamma = np.random.default_rng(1).normal(size=system.m)
    assert system.ggl.check(np.concatenate([x, gamma]))["R >= 0"].ok


@pytest.mark.parametrize("element", [name for name in ELEMENTS if "table" not in name])
def test_tangent_of_each_element_by_differences(element):
    system = flyer(element).assemble()
    q, v, _ = system.split(system.initial_state())
    q = q + 0.05 * np.random.default_rng(3).normal(size=q.size)  # off the constraints, too
    v = v + np.random.default_rng(4).normal(size=q.size)
    by_q, _ = system.force_tangent(q, v, REST)
    found = precise_jacobian(lambda at: system.force(at, v, REST), q)
    assert np.abs(found - by_q.toarray()).max() < 1e-8 * max(1.0, np.abs(found).max())
    slope = precise_jacobian(lambda at: np.array([system.V(at)]), q)[0]
    assert np.abs(slope - system.gradV(q)).max() < 1e-9 * max(1.0, np.abs(slope).max())


# --- motions that are known


def order(error, steps):
    return np.log(error[0] / error[1]) / np.log(steps[0] / steps[1])


@every_midpoint
def test_spring_and_damper_swing_as_the_formula_says(scheme):
    k, c, m, x0 = 50.0, 1.5, 2.0, 0.3
    decay, omega = c / (2 * m), np.sqrt(k / m - (c / (2 * m)) ** 2)
    errors, steps = [], (0.01, 0.005)
    for h in steps:
        run = ph.simulate(pair(stiffness=k, damping=c, length=1.0), scheme, h, 2.0)
        x = x0 * np.exp(-decay * run.t) * (np.cos(omega * run.t) + decay / omega * np.sin(omega * run.t))
        errors.append(np.abs(run["bead"].position[:, 0] - 1.0 - x).max())
    assert errors[1] < 1e-3
    assert order(errors, steps) == pytest.approx(2.0, abs=0.05)
    spring = run.element("spring")
    assert spring.measure == pytest.approx(run["bead"].position[:, 0])
    v = run["bead"].velocity[:, 0]
    assert spring.force == pytest.approx(k * (spring.measure - 1.0) + c * v)
    assert spring.energy == pytest.approx(0.5 * k * (spring.measure - 1.0) ** 2)
    lost = 0.5 * m * v[-1] ** 2 + spring.energy[-1] - spring.energy[0]
    assert spring.dissipated[-1] == pytest.approx(-lost, rel=1e-11)


def sprung():
    """A hinged pair and a ball on springs of all forms that are not linear."""
    model = ph.Model("sprung", gravity=(0, 0, -9.81))
    model.body("a", ph.Box(1.0, (0.4, 0.2, 0.1)), angular_velocity=(1, 2, -1))
    model.body("c", ph.Box(0.5, (0.3, 0.1, 0.1)), position=(0, 0.4, 0))
    model.point_mass("ball", 0.3, position=(0.9, 0.8, 0.3), velocity=(-1, 0, 0))
    model.revolute("hinge", "a", "c", (0, 0.2, 0), (0.2, 1, 0))
    model.spring("cubic", "ground", "a", (0, 0, 1), (0.2, 0, 0.05), stiffness=(40, -5, 300))
    model.spring(
        "table", "a", "ball", (0.2, 0.1, 0), (0.9, 0.8, 0.3), table=[(-0.9, -60), (-0.05, -1), (0, 0), (0.3, 9)]
    )
    model.torsion_spring("coil", "hinge", stiffness=(2, 0, 9))
    model.attraction("pull", "ground", "ball", (2, 2, 2), (0.9, 0.8, 0.3), strength=0.5)
    model.potential("well", "c", "ball", (0, 0.4, 0), (0.9, 0.8, 0.3), "cosh(3*s) - 4*s", (0.02, 5))
    model.bushing("mount", "ground", "c", (0, 0.4, 0), (40, 30, 20), turning_stiffness=(2, 3, 1))
    model.field("bowl", "ball", (0.9, 0.8, 0.3), "3*x**2 + cosh(y) + z**4", within=6.0)
    model.joint_potential("cam", "hinge", "-3*cos(2*s) + 2*s**2")
    return model


NONLINEAR = [*ALL_SCHEMES, ph.DiscreteGradient(), ph.Composition(ph.DiscreteGradient())]


@pytest.mark.parametrize("scheme", NONLINEAR, ids=by_name)
def test_energy_with_nonlinear_springs_stays_in_every_scheme_that_claims_it(scheme):
    steps = 100 if isinstance(getattr(scheme, "base", scheme), ph.DiscreteGradient) else 2000
    run = ph.simulate(sprung(), scheme, 2e-3, steps * 2e-3)
    assert np.ptp(run.energy) < 1e-11 * np.abs(run.energy[0])
    assert scheme.preserves & {ENERGY, GENERALISED}
    for element in run.system.element_names:
        assert np.ptp(run.element(element).energy) > 1e-5 * run.kinetic_energy.max()


def test_no_scheme_that_claims_energy_is_left_out():
    """Those of the test above are all that claim it of every potential, and hold elements of every kind."""

    def kind(scheme):
        return type(scheme), type(getattr(scheme, "base", None))

    claiming = {kind(scheme) for scheme in CONTRACTS if scheme.preserves & {ENERGY, GENERALISED}}
    assert claiming <= {kind(scheme) for scheme in NONLINEAR}
    assert len(claiming) >= 6
    assert {each.kind for each in (*KINDS, *POTENTIALS)} - {each.kind for each in sprung().elements} == {
        "damper", "friction",
    }  # fmt: skip


@every_midpoint
def test_cubic_spring_swings_as_an_elliptic_function(scheme):
    k1, k3, m, A = 20.0, 4000.0, 2.0, 0.3  # x = A cn(w t, e): Duffing's oscillator
    w = np.sqrt((k1 + k3 * A**2) / m)
    e = k3 * A**2 / (2 * (k1 + k3 * A**2))
    errors, steps = [], (0.002, 0.001)
    for h in steps:
        run = ph.simulate(pair(stiffness=(k1, 0, k3), length=1.0), scheme, h, 1.0)
        errors.append(np.abs(run["bead"].position[:, 0] - 1.0 - A * ellipj(w * run.t, e)[1]).max())
        assert np.ptp(run.energy) < 1e-12 * run.energy[0]
    assert errors[1] < 2e-3
    assert order(errors, steps) == pytest.approx(2.0, abs=0.05)


def test_table_moves_as_its_straight_lines():
    table = np.array([(-0.4, -30.0), (-0.1, -2.0), (0.05, 1.0), (0.3, 40.0)])

    def rate(t, y):
        x = y[0] - 1.0
        k = int(np.clip(np.searchsorted(table[:, 0], x) - 1, 0, len(table) - 2))
        slope = (table[k + 1, 1] - table[k, 1]) / (table[k + 1, 0] - table[k, 0])
        return y[1], -(table[k, 1] + slope * (x - table[k, 0])) / 2.0

    exact = solve_ivp(rate, (0, 2), (1.3, 0.0), rtol=1e-11, atol=1e-12, max_step=0.002).y[0, -1]
    ends = [
        ph.simulate(pair(table=table, length=1.0), ph.Midpoint(), h, 2.0)["bead"].position[-1, 0] for h in (4e-3, 2e-3)
    ]
    assert abs(ends[1] - exact) < 1e-4
    assert abs(ends[1] - exact) < 0.4 * abs(ends[0] - exact)


def test_fine_table_is_the_function_that_it_was_made_of():
    """A thousand pairs of a stiffening law: the motion of the function, the energy of the table to round-off."""
    x = np.linspace(-0.5, 0.5, 1001)
    run = ph.simulate(pair(table=np.c_[x, 30.0 * np.sinh(4 * x)], length=1.0), ph.Midpoint(), 1e-3, 3.0)
    rhs = lambda t, s: [s[1], -30.0 * np.sinh(4 * (s[0] - 1.0)) / 2.0]  # noqa: E731
    exact = solve_ivp(rhs, (0, 3), [1.3, 0.0], rtol=1e-10, atol=1e-12).y[0, -1]
    assert run["bead"].position[-1, 0] == pytest.approx(exact, abs=2e-4)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-12 * run.energy[0]


@every_midpoint
def test_orbit_of_kepler(scheme):
    mu, a, e = 4.0, 1.0, 0.5
    period = 2 * np.pi * np.sqrt(a**3 / mu)
    errors, counts = [], (400, 800)
    for count in counts:
        model = ph.Model("orbit")
        speed = np.sqrt(mu / a * (1 + e) / (1 - e))
        model.point_mass("planet", 2.0, position=(a * (1 - e), 0, 0), velocity=(0, speed, 0))
        model.attraction("sun", "ground", "planet", (0, 0, 0), (a * (1 - e), 0, 0), strength=2.0 * mu)
        run = ph.simulate(model, scheme, period / count, period)
        errors.append(np.linalg.norm(run["planet"].position[-1] - run["planet"].position[0]))
        assert np.ptp(run.energy) < 1e-11 * abs(run.energy[0])
        assert np.ptp(run.angular_momentum[:, 2]) < 1e-12 * run.angular_momentum[0, 2]
    assert errors[1] < 1e-2
    assert order(errors, [1 / c for c in counts]) == pytest.approx(2.0, abs=0.05)


@every_midpoint
def test_torsion_spring_swings_as_the_formula_says(scheme):
    k, c, rest = 3.0, 0.1, 0.8
    inertia = 1.5 * (0.6**2 + 0.1**2) / 12 + 1.5 * 0.3**2
    decay, omega = c / (2 * inertia), np.sqrt(k / inertia - (c / (2 * inertia)) ** 2)
    errors, steps = [], (0.01, 0.005)
    for h in steps:
        run = ph.simulate(arm(stiffness=k, damping=c, angle=rest), scheme, h, 2.0)
        wave = np.cos(omega * run.t) + decay / omega * np.sin(omega * run.t)
        angle = rest * (1 - np.exp(-decay * run.t) * wave)
        errors.append(np.abs(run.element("coil").measure - angle).max())
        found = np.arctan2(run["bar"].position[:, 1], run["bar"].position[:, 0])
        assert run.element("coil").measure == pytest.approx(found, abs=1e-12)
    assert errors[1] < 1e-3
    assert order(errors, steps) == pytest.approx(2.0, abs=0.05)


def test_bushing_has_the_frequencies_of_its_springs():
    model = ph.Model("block")
    size, mass = np.array([0.3, 0.2, 0.4]), 2.0
    model.body("block", ph.Box(mass, size))
    model.bushing("mount", "ground", "block", (0, 0, 0), (500, 700, 900), turning_stiffness=(11, 13, 17))
    moments = mass / 12 * (np.sum(size**2) - size**2)
    expected = np.sqrt(np.sort(np.concatenate([np.array([500, 700, 900]) / mass, np.array([11, 13, 17]) / moments])))
    assert np.sort(ph.modes(model).angular_frequencies) == pytest.approx(expected, rel=1e-9)


def test_stiff_spring_becomes_a_rod():
    def pendulum(stiffness):
        model = ph.Model("pendulum", gravity=(0, 0, -9.81))
        model.body("bar", ph.Box(1.0, (0.5, 0.05, 0.05)), position=(0.5, 0, -0.1))
        if stiffness is None:
            model.distance("rod", "ground", "bar", (0, 0, 0), (0.25, 0, -0.1))
        else:
            model.spring("rod", "ground", "bar", (0, 0, 0), (0.25, 0, -0.1), stiffness=stiffness)
        return ph.simulate(model, ph.MidpointGGL(), 1e-3, 0.5)["bar"].position[-1]

    gaps = [np.abs(pendulum(k) - pendulum(None)).max() for k in (1e5, 1e7, 1e9)]
    assert gaps[0] > 30 * gaps[1] > 900 * gaps[2]
    assert gaps[2] < 1e-7


def test_all_schemes_reach_the_same_state():
    model = flyer("bushing with dampers")
    model.spring("more", "ground", "bead", (0, 0, 2), (0.9, 0.8, 0.3), stiffness=(20, 0, 5), damping=0.3)
    reference = ph.simulate(model, ph.Composition(ph.MidpointGGL(), order=6), 0.01, 0.2).q[-1]
    for scheme in (ph.RadauIIA(3), ph.Gauss(3), ph.LobattoPair(3), ph.Murua(3), ph.GeneralizedAlpha(), ph.HEDOP5()):
        h = 5e-4 if isinstance(scheme, ph.GeneralizedAlpha) else 0.01
        run = ph.simulate(model, scheme, h, 0.2)
        assert np.abs(run.q[-1] - reference).max() < 1e-5, scheme
        assert np.abs(run.energy[0] - run.energy[-1] - run.dissipated_energy[-1]) < 2e-3 * run.kinetic_energy.max()


# --- friction


def slope(coefficient, angle=0.6):
    """A block on an inclined rail, and the direction of the rail."""
    axis = np.array([np.cos(angle), 0, -np.sin(angle)])
    model = ph.Model("slope", gravity=(0, 0, -9.81))
    model.body("block", ph.Box(2.0, (0.2, 0.2, 0.2)), rotation=((0, 1, 0), angle))
    model.prismatic("rail", "ground", "block", at=(0, 0, 0), axis=axis)
    model.friction("rub", "rail", coefficient, speed=1e-4)
    return model, axis


@every_midpoint
def test_block_slides_down_a_slope_as_coulomb_says(scheme):
    model, axis = slope(0.3)
    run = ph.simulate(model, scheme, 1e-3, 1.0)
    force = 0.3 * 2.0 * 9.81 * np.cos(0.6)
    way = run["block"].position @ axis
    assert way[-1] == pytest.approx(0.5 * (9.81 * np.sin(0.6) - force / 2.0), abs=2e-5)  # the start, below `speed`
    assert run.element("rub").force[1:] == pytest.approx(np.full(1000, force), rel=1e-3)
    assert run.element("rub").dissipated[-1] == pytest.approx(force * way[-1], rel=1e-6)


@every_midpoint
def test_block_is_held_on_a_slope(scheme):
    """What holds creeps: N mu v/sqrt(v^2 + speed^2) = m g sin."""
    model, axis = slope(1.0)
    run = ph.simulate(model, scheme, 1e-3, 1.0)
    ratio = np.tan(0.6)
    assert run["block"].velocity[-1] @ axis == pytest.approx(1e-4 * ratio / np.sqrt(1 - ratio**2), rel=1e-6)
    assert np.abs(np.cumsum(run.power_balance)).max() < 1e-15


@every_midpoint
def test_pendulum_with_friction_in_its_bearing(scheme):
    """The force of the bearing depends on the motion and on the friction itself; order 2 towards its equation."""
    mu, r, v0, m, c, g = 0.4, 0.05, 0.05, 2.0, 0.5, 9.81
    J = 2.0 * (1.0 + 0.01) / 12 + m * c * c

    def rhs(t, state):
        angle, rate = state
        rub, second = rate * r / np.hypot(rate * r, v0), 0.0
        for _ in range(50):
            along, across = m * (c * rate**2 + g * np.cos(angle)), m * (c * second + g * np.sin(angle))
            second = (-m * g * c * np.sin(angle) - mu * r * np.hypot(along, across) * rub) / J
        return [rate, second]

    model = ph.Model("pendulum", gravity=(0, 0, -g))
    model.body("bar", ph.Box(m, (0.1, 0.1, 1.0)), position=(0, c * np.sin(2.0), -c * np.cos(2.0)),
               rotation=((1, 0, 0), 2.0))  # fmt: skip
    model.revolute("pin", "ground", "bar", at=(0, 0, 0), axis=(1, 0, 0))
    model.friction("rub", "pin", mu, radius=r, speed=v0)
    end = solve_ivp(rhs, (0, 2), [2.0, 0.0], method="DOP853", rtol=1e-12, atol=1e-12).y[0, -1]
    steps, errors = (0.004, 0.002), []
    for h in steps:
        _, y, z = ph.simulate(model, scheme, h, 2.0)["bar"].position[-1]
        errors.append(abs(np.arctan2(y, -z) - end))
    assert order(errors, steps) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 2e-5


def test_friction_is_refused_where_it_cannot_be():
    model, _ = slope(0.3)
    with pytest.raises(ph.PorthosError, match="takes some of its substeps backwards, and friction cannot be undone"):
        ph.simulate(model, ph.Composition(), 1e-3, 0.1)
    for scheme in (ph.Gauss(2), ph.GeneralizedAlpha()):
        with pytest.raises(ph.PorthosError, match="expected a mechanism without friction"):
            ph.simulate(model, scheme, 1e-3, 0.1)
    system = model.assemble()
    with pytest.raises(ph.PorthosError, match="expected a mechanism without friction"):
        system.R(system.initial_state())
    arms = arm(stiffness=1.0)
    with pytest.raises(ph.ModelError, match=r"friction 'rub': radius: expected the radius of the pin of the revolute"):
        arms.friction("rub", "hinge", 0.1)
    with pytest.raises(ph.ModelError, match=r"friction 'rub': joint: .* found no 'hing'\. Did you mean 'hinge'"):
        arms.friction("rub", "hing", 0.1, radius=0.1)
    arms.spherical("ball", "ground", "bar", at=(0, 0, 0))
    with pytest.raises(ph.ModelError, match="expected a revolute or prismatic joint, found the spherical joint 'ball'"):
        arms.friction("rub", "ball", 0.1)
    with pytest.raises(ph.ModelError, match="coefficient: expected a number >= 0"):
        arms.friction("rub", "hinge", -0.1, radius=0.1)


@every_midpoint
@pytest.mark.parametrize("coil", [{"stiffness": 0.1}, {"damping": 0.2}], ids=str)
def test_a_motor_winds_up_a_spring_or_turns_a_damper(scheme, coil):
    model = arm(**coil)
    model.load("motor", "bar", torque=(0, 0, 2.0))
    run = ph.simulate(model, scheme, 0.01, 5.0)
    assert np.ptp(run.element("coil").measure) > 20.0
    assert np.abs(np.cumsum(run.power_balance)).max() < 1e-11 * np.abs(run.port("motor").work).max()


# --- what is refused, and what is kept


def test_elements_that_make_no_sense():
    model = flyer("spring")
    for words, wrong in {
        "no direction": lambda: model.spring("x", "a", "b", (1, 1, 1), (1, 1, 1), stiffness=1),
        "expected a stiffness": lambda: model.spring("x", "a", "b", (0, 0, 0), (1, 1, 1)),
        "damping: expected a number >= 0": lambda: model.damper("x", "a", "b", (0, 0, 0), (1, 1, 1), -1.0),
        "connected with itself": lambda: model.damper("x", "a", "a", (0, 0, 0), (1, 1, 1), 1.0),
        "increase": lambda: model.spring("x", "a", "b", (0, 0, 0), (1, 1, 1), table=[(0, 1), (0, 2)]),
        "either a table or a stiffness": lambda: model.spring(
            "x", "a", "b", (0, 0, 0), (1, 1, 1), stiffness=2, table=[(0, 1), (1, 2)]
        ),
        "up to 5": lambda: model.spring("x", "a", "b", (0, 0, 0), (1, 1, 1), stiffness=[1] * 6),
        "Did you mean 'hinge'": lambda: model.torsion_spring("x", "hing", stiffness=1),
        "no other points": lambda: model.spring("x", "a", "bead", (0, 0, 0), (1, 1, 1), stiffness=1),
        "no rotation to hold": lambda: model.bushing("x", "a", "bead", (0.9, 0.8, 0.3), turning_stiffness=(1, 1, 1)),
        "is taken": lambda: model.spring("e", "a", "b", (0, 0, 0), (1, 1, 1), stiffness=1),
        "length: expected": lambda: model.spring("x", "a", "b", (0, 0, 0), (1, 1, 1), stiffness=1, length="long"),
    }.items():
        with pytest.raises(ph.ModelError, match=words):
            wrong()
    model.spherical("ball", "a", "b", (0.3, 0, 0))
    with pytest.raises(ph.ModelError, match="revolute or cylindrical"):
        model.torsion_spring("x", "ball", stiffness=1)
    with pytest.raises(ph.PorthosError, match="no force element 'f'"):
        ph.simulate(flyer("spring"), ph.Midpoint(), 0.01, 0.02).element("f")


def test_runs_with_elements_are_kept_in_files(tmp_path):
    model = flyer("torsion table")
    model.spring("strut", "a", "b", (0.2, 0, 0), (0.5, 0.1, 0.05), stiffness=90, damping=2)
    run = ph.simulate(model, ph.MidpointGGL(), 0.01, 0.5)
    again = ph.load(run.save(tmp_path / "run.nc"))
    for name in ("energy", "dissipated_energy", "element_energy", "multipliers", "power_balance"):
        assert np.array_equal(getattr(run, name), getattr(again, name)), name
    assert np.array_equal(run.element("strut").force, again.element("strut").force)
    more = ph.simulate(again.system, ph.MidpointGGL(), 0.01, 0.5)
    assert np.array_equal(more.q, run.q)
    data = run.to_xarray()
    assert data.dissipated.sel(element="strut").values[-1] == run.dissipated_energy[-1]
    assert "strut.energy" in run.to_pandas().columns


@every_midpoint
@pytest.mark.parametrize(
    ("joints", "elements"), [("spherical", "springs"), ("revolute", "springs"), ("revolute", "torsion")]
)
def test_light_elements_take_half_an_iteration_more_at_most(scheme, joints, elements):
    """The chains of `benchmarks.elements`: what springs add to a step is their forces, and a solve or two.

    Nearly every step of the bare ones ends after one iteration, those with springs after one or two.
    """
    bare, full = (ph.simulate(bars(joints, kind), scheme, 1e-3, 0.3) for kind in ("", elements))
    assert full.iterations[10:].mean() < bare.iterations[10:].mean() + 0.5
    assert full.iterations[10:].mean() < (1.5 if isinstance(scheme, ph.Midpoint) else 2.5)
    assert np.abs(np.cumsum(full.power_balance)).max() < 1e-12 * full.kinetic_energy.max()
