"""Gears and racks: ratios that hold to round-off over many turns, motions that are known from elsewhere, and errors."""

from __future__ import annotations

import numpy as np
import pytest
from catalogue import MIDPOINTS, by_name
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import porthos as ph
from porthos.kernels.gears import gear_gaps
from porthos.show.scene import scene_of

SCHEMES = [*MIDPOINTS, ph.Composition(ph.MidpointGGL(), order=4)]
every_scheme = pytest.mark.parametrize("scheme", SCHEMES, ids=by_name)
TURNED = Rotation.from_rotvec((0.7, -1.1, 0.4)).as_matrix()


class Shop:
    """Makes models whose world axes are the columns of a rotation."""

    def __init__(self, name, R=TURNED, origin=(0.0, 0.0, 0.0)):
        self.model, self.R, self.origin = ph.Model(name), R, np.asarray(origin)

    def point(self, *x):
        return self.R @ np.array(x, dtype=float) + self.origin

    def along(self, *x):
        return self.R @ np.array(x, dtype=float)

    def wheel(self, name, mass, radius, at, axis=(0, 0, 1)):
        """A disc."""
        turn = Rotation.align_vectors([axis], [(0, 0, 1)])[0].as_matrix()
        self.model.body(name, ph.Cylinder(mass, radius, 0.02), position=self.point(*at), rotation=self.R @ turn)

    def hinge(self, name, a, b, at, axis=(0, 0, 1), **more):
        self.model.revolute(name, a, b, at=self.point(*at), axis=self.along(*axis), **more)


def spin(run, name, shop, axis=(0, 0, 1)):
    """Angular velocity about an axis (T,)."""
    return run[name].angular_velocity @ shop.along(*axis)


def pair(teeth=(20, 60), internal=False, distance=0.4, torque=3.0, rate=None, **place):
    """Two discs on the ground; the first one is driven."""
    shop = Shop("pair", **place)
    shop.wheel("A", 2.0, 0.1, (0, 0, 0))
    shop.wheel("B", 3.0, 0.2, (distance, 0, 0))
    shop.hinge("left", "ground", "A", (0, 0, 0), rate=rate)
    shop.hinge("right", "ground", "B", (distance, 0, 0), axis=(0, 0, -1))
    shop.model.gear("mesh", "A", "B", teeth=teeth, internal=internal)
    if torque:
        shop.model.load("motor", "A", torque=shop.along(0, 0, torque))
    return shop


I_A, I_B = 0.5 * 2.0 * 0.1**2, 0.5 * 3.0 * 0.2**2


# --- motions


@every_scheme
@pytest.mark.parametrize("internal", [False, True], ids=["external", "internal"])
def test_two_wheels_speed_up_as_the_formula_says(scheme, internal):
    shop = pair(internal=internal)
    run = ph.simulate(shop.model, scheme, 1e-3, 0.2)
    n = (1 if internal else -1) * 20 / 60
    alpha = 3.0 / (I_A + n**2 * I_B)
    error = 1e-9 if scheme.order > 2 else 1e-4
    assert np.abs(spin(run, "A", shop) - alpha * run.t).max() < error * alpha * 0.2
    assert np.abs(run.power_balance).max() < 1e-14 * run.energy[-1]
    assert run.energy[-1] > 10.0
    assert run.position_error.max() < 1e-13
    if not isinstance(scheme, ph.Midpoint):
        assert np.abs(spin(run, "B", shop) - n * spin(run, "A", shop)).max() < 1e-13 * alpha
        assert run.velocity_error.max() < 1e-13 * alpha
    assert run.iterations.mean() < 3 * (1 if scheme.order == 2 else 5)


@every_scheme
def test_teeth_press_as_the_formula_says(scheme):
    """The force is tangential at the pitch circle; its torque speeds the second wheel up."""
    shop = pair()
    run = ph.simulate(shop.model, scheme, 1e-3, 0.1)
    alpha = 3.0 / (I_A + I_B / 9)
    force, torque = run.joint("mesh").force @ shop.R, run.joint("mesh").torque @ shop.R
    assert force == pytest.approx(np.tile((0, I_B * alpha / 3 / 0.3, 0), (run.t.size, 1)), abs=1e-4)
    assert torque == pytest.approx(np.tile((0, 0, -I_B * alpha / 3), (run.t.size, 1)), abs=1e-4)
    assert run.joint("mesh").force_a @ shop.R == pytest.approx(-force, abs=1e-10)
    assert run.joint("mesh").torque_a @ shop.R == pytest.approx(
        np.tile((0, 0, I_A * alpha - 3), (run.t.size, 1)), abs=1e-4
    )
    bearing = run.joint("left").force @ shop.R  # holds what presses on A
    assert np.abs(bearing - force).max() < 1e-10
    assert run.joint("mesh").multipliers[:, 0] == pytest.approx(-force[:, 1], abs=1e-10)


@pytest.mark.parametrize("scheme", MIDPOINTS, ids=by_name)
def test_many_turns_without_drift(scheme):
    """A hundred turns in 20000 steps far from the origin: neither ratio nor energy drift."""
    shop = pair(teeth=(21, 34), torque=0.0, rate=31.4, origin=(3.0, -2.0, 1.0))
    run = ph.simulate(shop.model, scheme, 1e-3, 20.5, every=50)
    A, B = (_turn(run, name, shop, rate) for name, rate in (("A", 31.4), ("B", -31.4 * 21 / 34)))
    assert A[-1] > 100 * 2 * np.pi
    assert np.abs(A + B * 34 / 21).max() < 1e-11
    assert np.abs(gear_gaps(run.system.mech, run.raw.q, run.system.still)).max() < 1e-15
    assert np.ptp(run.energy) < 1e-12 * run.energy[0]


def _turn(run, name, shop, rate):
    """The angle of a wheel, with the full turns that it has made at about this rate."""
    x = run[name].rotation[:, :, 0] @ shop.R
    angle = np.arctan2(x[:, 1], x[:, 0])
    return angle + 2 * np.pi * np.round((rate * run.t - angle) / (2 * np.pi))


def planetary(planets=1, fixed=True, **place):
    """Sun and planets with 20 teeth, a ring with 60 on the ground or on a bearing, a carrier."""
    shop = Shop("planetary", **place)
    model = shop.model
    shop.wheel("sun", 1.0, 0.1, (0, 0, 0))
    shop.wheel("carrier", 0.8, 0.15, (0, 0, 0.03))
    shop.hinge("sun axle", "ground", "sun", (0, 0, 0))
    shop.hinge("carrier axle", "ground", "carrier", (0, 0, 0))
    ring = "ground"
    if not fixed:
        ring = "ring"
        shop.wheel(ring, 2.0, 0.3, (0, 0, 0))
        shop.hinge("ring axle", "ground", ring, (0, 0, 0))
        model.load("brake", ring, torque=shop.along(0, 0, 1.0))
    for k in range(planets):
        at = 0.2 * np.cos(2 * np.pi * k / planets), 0.2 * np.sin(2 * np.pi * k / planets), 0.0
        name = f"planet {k}"
        shop.wheel(name, 0.5, 0.1, at)
        shop.hinge(f"pin {k}", "carrier", name, at)
        model.gear(f"inner {k}", "sun", name, teeth=(20, 20))
        model.gear(f"outer {k}", name, ring, at_b=shop.point(0, 0, 0), teeth=(20, 60), internal=True)
    model.load("motor", "sun", torque=shop.along(0, 0, 3.0))
    return shop


@pytest.mark.parametrize(("planets", "fixed"), [(1, True), (1, False), (3, True)])
def test_planetary_gear_obeys_willis(planets, fixed):
    """(w_sun - w_carrier)/(w_ring - w_carrier) = -z_ring/z_sun, also where planets repeat what others hold."""
    shop = planetary(planets, fixed)
    found = shop.model.diagram().mobility
    assert found.freedom == (1 if fixed else 2)
    assert found.redundant == planets - 1
    shown = shop.model.diagram()
    assert shown.loops == ()
    assert "  sun == inner 0 (gear, 1 row) == planet 0" in str(shown)
    run = ph.simulate(shop.model, ph.MidpointGGL(), 2e-3, 0.2)
    sun, carrier = spin(run, "sun", shop), spin(run, "carrier", shop)
    ring = 0.0 if fixed else spin(run, "ring", shop)
    assert np.abs(sun - carrier + 3 * (ring - carrier)).max() < 1e-12 * sun.max()
    assert np.abs(run.power_balance).max() < 1e-13 * run.energy[-1]
    assert max(run.position_error.max(), run.velocity_error.max()) < 1e-12
    if fixed:  # inertia about the sun: the carrier turns by 1/4, the planets by -1/2
        carried = 0.5 * 0.8 * 0.15**2 + planets * 0.5 * 0.2**2
        inertia = 0.5 * 1.0 * 0.1**2 + carried / 16 + planets * 0.5 * 0.5 * 0.1**2 / 4
        assert sun[-1] == pytest.approx(3.0 / inertia * 0.2, rel=5e-4)


@every_scheme
@pytest.mark.parametrize("rolls", [False, True], ids=["rack slides", "pinion rolls"])
def test_rack_and_pinion_have_the_inertia_of_the_formula(scheme, rolls):
    shop = Shop("rack", origin=(0.4, 0.1, -0.2))
    model, moves = shop.model, "carriage" if rolls else "bar"
    shop.wheel("pinion", 2.0, 0.1, (0, 0, 0))
    at = (0, 0, 0) if rolls else (0.2, -0.11, 0)
    model.body(moves, ph.Box(3.0, (1.0, 0.02, 0.02)), position=shop.point(*at), rotation=shop.R)
    model.prismatic("slide", "ground", moves, at=shop.point(*at), axis=shop.along(1, 0, 0))
    shop.hinge("axle", "carriage" if rolls else "ground", "pinion", (0, 0, 0))
    model.rack("teeth", "pinion", "ground" if rolls else "bar", at_b=shop.point(0, -0.1, 0))
    model.load("pull", moves, force=shop.along(6.0, 0, 0))
    run = ph.simulate(model, scheme, 5e-3, 0.5)
    mass = 3.0 + (2.0 if rolls else 0.0) + 0.5 * 2.0
    speed = run[moves].velocity @ shop.along(1, 0, 0)
    assert np.abs(speed - 6.0 / mass * run.t).max() < (1e-8 if scheme.order > 2 else 1e-4)
    assert spin(run, "pinion", shop)[-1] == pytest.approx((-1 if rolls else 1) * speed[-1] / 0.1, rel=1e-3)
    assert np.abs(run.power_balance).max() < 1e-14
    assert run.position_error.max() < 1e-13
    force = run.joint("teeth").force @ shop.R
    assert force[:, 0] == pytest.approx((1 if rolls else -1) * 1.0 * 6.0 / mass, abs=1e-4)


def test_differential_shares_the_turns():
    """Two bevel wheels on one axis and one on the carrier between them: w_A + w_B = 2 w_C, and as Lagrange says."""
    shop = Shop("differential")
    for name, at, axis in (
        ("A", (0, 0, 0.1), (0, 0, 1)),
        ("B", (0, 0, -0.1), (0, 0, -1)),
        ("C", (0.1, 0, 0), (1, 0, 0)),
    ):
        shop.wheel(name, 1.0, 0.1, at, axis)
    shop.wheel("cage", 2.0, 0.2, (0, 0, 0))
    shop.hinge("a", "ground", "A", (0, 0, 0.1))
    shop.hinge("b", "ground", "B", (0, 0, -0.1))
    shop.hinge("cage axle", "ground", "cage", (0, 0, 0))
    shop.hinge("c", "cage", "C", (0.1, 0, 0), axis=(1, 0, 0))
    shop.model.gear("upper", "A", "C", teeth=(16, 16))
    shop.model.gear("lower", "B", "C", teeth=(16, 16))
    shop.model.load("motor", "cage", torque=shop.along(0, 0, 2.0))
    shop.model.load("drag", "A", torque=shop.along(0, 0, -0.5))
    assert shop.model.diagram().mobility.freedom == 2
    run = ph.simulate(shop.model, ph.MidpointGGL(), 2e-3, 0.3)
    A, B, cage = (spin(run, name, shop) for name in ("A", "B", "cage"))
    assert B[-1] - A[-1] > 10.0
    assert np.abs(A + B - 2 * cage).max() < 1e-12 * B.max()
    assert np.abs(run.power_balance).max() < 1e-13 * run.energy[-1]
    # T = (J/4 + K/8) (A + B)^2 + (J/4 + J/8) (A - B)^2, J of each bevel wheel, K of the cage and what it carries
    J, K = 0.005, 0.5 * 2.0 * 0.2**2 + 0.1**2 + (3 * 0.1**2 + 0.02**2) / 12
    assert (A + B)[-1] == pytest.approx((2.0 / 2 - 0.5 / 2) / (J / 2 + K / 4) * 0.3, rel=1e-3)
    assert (A - B)[-1] == pytest.approx(-0.5 / 2 / (J / 2 + J / 4) * 0.3, rel=1e-3)


@pytest.mark.parametrize("angle", [0.6, np.pi / 2, 2.1])
def test_bevel_gears_at_any_angle(angle):
    shop = Shop("bevel")
    tip = (np.sin(angle), 0, np.cos(angle))
    shop.wheel("A", 2.0, 0.1, (0, 0, 0.2))
    shop.wheel("B", 3.0, 0.2, tuple(0.1 * x for x in tip), tip)
    shop.hinge("a", "ground", "A", (0, 0, 0.2))
    shop.hinge("b", "ground", "B", tuple(0.1 * x for x in tip), axis=tuple(-x for x in tip))  # to where the axes meet
    shop.model.gear("cone", "A", "B", teeth=(10, 20))
    shop.model.load("motor", "A", torque=shop.along(0, 0, 0.5))
    run = ph.simulate(shop.model, ph.MidpointGGL(), 1e-3, 0.1)
    A, B = spin(run, "A", shop), spin(run, "B", shop, tip)
    assert A[-1] == pytest.approx(0.5 * 0.1 / (I_A + I_B / 4), rel=1e-5)
    assert np.abs(B + A / 2).max() < 1e-13
    assert np.abs(run.power_balance).max() < 1e-15
    assert run.system.check().ok


@given(
    teeth=st.tuples(st.integers(5, 200), st.integers(5, 200)),
    internal=st.booleans(),
    turn=st.tuples(*[st.floats(-3, 3)] * 3),
    distance=st.floats(0.05, 2.0),
    torque=st.floats(0.1, 5.0),
)
def test_wheels_of_any_ratio_anywhere(teeth, internal, turn, distance, torque):
    internal = internal and teeth[0] != teeth[1]
    R = Rotation.from_rotvec(turn).as_matrix()
    shop = pair(teeth, internal, distance, torque, R=R, origin=turn)
    n = (1 if internal else -1) * teeth[0] / teeth[1]
    alpha = torque / (I_A + n**2 * I_B)
    h = 0.02 / max(1.0, np.sqrt(alpha * max(1.0, abs(n))))
    run = ph.simulate(shop.model, ph.MidpointGGL(), h, 20 * h)
    A, B = spin(run, "A", shop), spin(run, "B", shop)
    assert np.abs(B - n * A).max() < 1e-11 * max(1.0, abs(n)) * A.max()
    assert A[-1] == pytest.approx(alpha * run.t[-1], rel=1e-3)
    assert np.abs(run.power_balance).max() < 1e-12 * run.energy[-1]
    again = ph.simulate(shop.model, ph.Midpoint(), h, 20 * h)
    assert np.abs(again.power_balance).max() < 1e-12 * run.energy[-1]
    assert again.position_error.max() < 1e-13 * max(1.0, distance * max(teeth) / 5)


# --- other parts of the program


def test_drive_turns_both_wheels():
    """A motor on A moves B by the ratio; its torque is that of both inertias."""
    shop = pair(torque=0.0)
    shop.model.turn_drive(
        "motor", "ground", "A", at=shop.point(0, 0, 0), axis=shop.along(0, 0, 1), angle=ph.Expression("2*t**2")
    )
    run = ph.simulate(shop.model, ph.MidpointGGL(), 1e-2, 2.0)
    assert _turn(run, "B", shop, 0.0 * run.t - 2 * run.t / 3) == pytest.approx(-2 * run.t**2 / 3, abs=1e-12)
    assert run.joint("motor").torque @ shop.along(0, 0, 1) == pytest.approx(4.0 * (I_A + I_B / 9), rel=1e-9)
    assert np.abs(run.power_balance).max() < 1e-13


def test_wheels_that_are_placed_roughly():
    """Joints in frames of bodies; the radii are those of the closed joints."""
    model = ph.Model("rough")
    model.body("A", ph.Cylinder(2.0, 0.1, 0.02), position=(0.1, 0.2, 0.1), rotation=((1, 2, 0), 0.4))
    model.body("B", ph.Cylinder(3.0, 0.2, 0.02), position=(0.5, 0.1, -0.2), rotation=((0, 2, 1), -0.3))
    bearing = {"at_b": (0, 0, 0), "axis": (0, 0, 1), "axis_b": (0, 0, 1), "frame": "body"}
    model.revolute("left", "ground", "A", at=(0, 0, 0), rate=3.0, **bearing)
    model.revolute("right", "ground", "B", at=(0.4, 0, 0), **bearing)
    model.gear("mesh", "A", "B", teeth=(20, 60), at=(0, 0, 0), **bearing)
    system = model.assemble()
    assert np.abs(system.mech.wheel.radius) == pytest.approx((0.1, 0.3), abs=1e-12)
    run = ph.simulate(system, ph.MidpointGGL(), 1e-2, 1.0)
    assert run["B"].angular_velocity[:, 2] == pytest.approx(np.full(run.t.size, -1.0), abs=1e-12)


def test_files_keep_gears(tmp_path):
    shop = planetary(fixed=False)
    shop.model.rack(
        "rail", "ring", "ground", at=shop.point(0, 0, 0), axis=shop.along(0, 0, 1), at_b=shop.point(0, 0.3, 0)
    )
    again = ph.load_model(shop.model.save(tmp_path / "planetary.yaml"))
    assert [joint.kind for joint in again.joints].count("rack") == 1
    for one, other in zip(shop.model.joints, again.joints, strict=True):
        assert repr(one) == repr(other)
    run = ph.simulate(planetary().model, ph.Midpoint(), 1e-2, 0.1)
    kept = ph.load(run.save(tmp_path / "run.nc"))
    assert np.array_equal(kept.position_error, run.position_error)
    assert np.array_equal(kept.joint("outer 0").torque, run.joint("outer 0").torque)
    assert np.array_equal(kept.joint("inner 0").multipliers, run.joint("inner 0").multipliers)


def test_model_file_takes_centres_from_bearings(tmp_path):
    path = tmp_path / "pair.yaml"
    path.write_text(
        "bodies:\n"
        "  A: {shape: cylinder, mass: 1, radius: 0.1, length: 0.02}\n"
        "  B: {shape: cylinder, mass: 1, radius: 0.2, length: 0.02, position: [0.3, 0, 0]}\n"
        "joints:\n"
        "  left: {kind: revolute, a: ground, b: A, at: [0, 0, 0], axis: [0, 0, 1]}\n"
        "  right: {kind: revolute, a: ground, b: B, at: [0.3, 0, 0], axis: [0, 0, 1]}\n"
        "  mesh: {kind: gear, a: A, b: B, teeth: [20, 40]}\n"
    )
    (mesh,) = (joint for joint in ph.load_model(path).joints if joint.kind == "gear")
    assert mesh.points[1] == pytest.approx((0.3, 0, 0))
    path.write_text(path.read_text().replace("[20, 40]", "[20, 40.5]"))
    with pytest.raises(ph.ModelFileError, match=r"line 7.*teeth: expected two whole numbers"):
        ph.load_model(path)


def test_gears_are_drawn_with_their_pitch_circles():
    run = ph.simulate(planetary(fixed=False).model, ph.Midpoint(), 1e-2, 0.05)
    drawn = [solid for solid in scene_of(run).solids if solid.kind in ("cylinder", "tube")]
    for joint in (joint for joint in run.system.description["joints"] if joint["kind"] == "gear"):
        for side, radius in zip((joint["a"], joint["b"]), joint["radii"], strict=True):
            part = run.system.body_names.index(side)
            sizes = [solid.size[:2] for solid in drawn if solid.part == part]
            assert any(np.isclose(size, radius).any() for size in sizes), (side, radius, sizes)


def test_equations_have_the_angles():
    text = str(pair(R=np.eye(3)).model.equations())
    line = "-phi[A] + phi[B]"
    assert f"0.1 atan2(d2[A] . ({line}), d1[A] . ({line})) + 0.3 atan2(d2[B] . ({line}), d1[B] . ({line})) = 0" in text


def test_constraints_have_their_derivatives():
    """g, G and the rank at a state after many turns, by differences."""
    shop = planetary(fixed=False)
    run = ph.simulate(shop.model, ph.MidpointGGL(), 5e-3, 0.6)
    x = run.system.initial_state()
    x[: run.system.n] = run.system.from_kernel(np.append(run.raw.q[-1], run.system.still[-1:], axis=0))
    assert run.system.structure(x).ok


# --- errors


def loose(joint):
    """Two wheels, of which the second is not held as it should be."""
    model = ph.Model("loose")
    model.body("A", ph.Cylinder(1.0, 0.1, 0.02))
    model.body("B", ph.Cylinder(1.0, 0.2, 0.02), position=(0.3, 0, 0))
    model.revolute("left", "ground", "A", at=(0, 0, 0), axis=(0, 0, 1))
    joint(model)
    model.gear("mesh", "A", "B", teeth=(10, 20), at_b=(0.3, 0, 0), axis_b=(0, 0, 1))
    return model


@pytest.mark.parametrize(
    "joint",
    [
        lambda m: m.spherical("right", "ground", "B", at=(0.3, 0, 0)),
        lambda m: m.revolute("right", "ground", "B", at=(0.31, 0, 0), axis=(0, 0, 1)),
        lambda m: m.planar("right", "ground", "B", at=(0.3, 0, 0), normal=(0, 0, 1)),
        lambda m: m.universal("right", "ground", "B", at=(0.3, 0, 0), axis_a=(1, 0, 0), axis_b=(0, 1, 0)),
    ],
    ids=["tilts", "eccentric", "slides", "universal"],
)
def test_wheels_that_no_joint_holds(joint):
    with pytest.raises(ph.ModelError, match=r"'mesh': expected joints that hold centres at a constant distance"):
        loose(joint).assemble()


def test_rack_that_leaves_its_pinion():
    model = ph.Model("loose")
    model.body("pinion", ph.Cylinder(1.0, 0.1, 0.02))
    model.body("bar", ph.Box(1.0, (1, 0.02, 0.02)), position=(0, -0.11, 0))
    model.revolute("axle", "ground", "pinion", at=(0, 0, 0), axis=(0, 0, 1))
    model.prismatic("slide", "ground", "bar", at=(0, -0.1, 0), axis=(1, 0.1, 0))
    model.rack("teeth", "pinion", "bar", at_b=(0, -0.1, 0))
    with pytest.raises(ph.ModelError, match="gear or rack 'teeth'"):
        model.assemble()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"teeth": (20, 60.5)}, "teeth: expected two whole numbers"),
        ({"teeth": (0, 60)}, "teeth: expected two whole numbers"),
        ({"teeth": 3}, "teeth: expected two whole numbers"),
        ({"teeth": ("a", "b")}, "teeth: expected two whole numbers"),
        ({"teeth": (20, 20), "internal": True}, "teeth: expected a ring with more teeth"),
        ({"at_b": (0, 0, 1)}, "at_b: expected centres apart"),
        ({"axis_b": (1, 0, 0), "internal": True}, "internal: expected parallel axes"),
        ({"axis": (0, 0, 0)}, "axis: expected a direction"),
        ({"a": "bead"}, "point mass 'bead'"),
        ({"a": "ground"}, "at: expected the centre of the wheel 'ground'.*found 'left', 'right'"),
        ({"a": "C"}, "at: expected the centre of the wheel 'C'.*found none"),
    ],
)
def test_gears_that_make_no_sense(given, words):
    model = pair(R=np.eye(3)).model
    model.body("C", ph.Sphere(1.0, 0.1), position=(1, 1, 1))
    model.point_mass("bead", 1.0)
    given = {"a": "A", "b": "B", "teeth": (20, 60), **given}
    if given["a"] == "bead":
        given |= {"at": (0, 0, 0), "axis": (0, 0, 1)}
    with pytest.raises(ph.ModelError, match=words):
        model.gear("second", **given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"at_b": (0, 0, 1)}, "at_b: expected the point where the pinion touches"),
        ({"radius": -1.0}, "radius: expected a positive number"),
        ({"along": (1, 0, 1)}, "along: expected a direction perpendicular"),
        ({"frame": "body", "at": (0, 0, 0), "axis": (0, 0, 1)}, "expected radius and along"),
    ],
)
def test_racks_that_make_no_sense(given, words):
    with pytest.raises(ph.ModelError, match=words):
        pair(R=np.eye(3)).model.rack("rack", "A", "B", **{"at_b": (0, -0.1, 0), **given})


OVER_STATES = [
    *(ph.Gauss(2), ph.LobattoPair(3), ph.Murua(1, ggl=True), ph.GeneralizedAlpha(), ph.HEDOP5(), ph.MDOP5()),
]


@pytest.mark.parametrize("scheme", OVER_STATES, ids=repr)
def test_schemes_over_states_have_their_orders_with_gears(scheme):
    """A weight on a wheel that turns another: (I_A + m r^2 + n^2 I_B) phi'' = -m g r cos(phi), by SciPy."""
    shop = pair(torque=0.0, rate=2.0, R=np.eye(3))
    model = shop.model
    model.point_mass("weight", 0.5, position=(0.3, 0, 0))
    model.spherical("pin", "A", "weight", at=(0.3, 0, 0))
    model.load("pull", "weight", force=(0, -5.0, 0))
    total, end = I_A + 0.5 * 0.3**2 + I_B / 9, 0.4
    course = solve_ivp(lambda t, y: [y[1], -1.5 * np.cos(y[0]) / total], (0, end), [0, 2], rtol=1e-12, atol=1e-13)
    (phi, rate), errors = course.y[:, -1], []
    for n in (8, 16) if scheme.order == 4 else (16, 32):
        run = ph.simulate(model, scheme, end / n, end)
        place = run["weight"].position[-1] - 0.3 * np.array([np.cos(phi), np.sin(phi), 0])
        errors.append([np.abs(place).max(), abs(spin(run, "A", shop)[-1] - rate)])
    assert spin(run, "B", shop)[-1] == pytest.approx(-rate / 3, rel=0.02)
    order = np.log2(np.divide(*errors)) - (scheme.order, scheme.velocity_order)
    if scheme.order == 5:  # errors of places cross zero
        assert -0.3 < order[1] < 1.0, errors
    else:
        assert np.abs(order).max() < 0.3, errors


def test_what_gears_are_not_in_says_so():
    system = pair().model.assemble()
    for ask in (lambda: system.ggl, lambda: ph.modes(system)):
        with pytest.raises(ph.PorthosError, match="expected a mechanism without gears, found 'mesh'"):
            ask()


def test_wheels_are_parts_of_connected_systems():
    """A spring that is a system of its own turns the first wheel: a harmonic motion of both inertias together."""
    shop, stiffness, start = pair(torque=0.0), 0.5, 0.6
    shop.model.joint_port("shaft", "left")
    coil = ph.LinearPHDAE(
        "coil", J=[[0.0]], Q=[[stiffness]], B=[[1.0]], states=["angle"], ports=["rate"], initial=[start]
    )
    whole = ph.interconnect(shop.model.assemble(), coil, through=ph.Feedback("shaft", "rate"))
    run = ph.simulate(whole, ph.Gauss(2), 0.01, 0.6)
    omega = np.sqrt(stiffness / (I_A + I_B / 9))
    assert np.abs(run["coil: angle"].ravel() - start * np.cos(omega * run.t)).max() < 1e-5
    assert np.abs(run.power_balance).max() < 1e-13


def test_gears_are_no_interconnection():
    bodies = []
    for name in ("a", "b"):
        model = ph.Model(name)
        model.body("wheel", ph.Sphere(1.0, 0.1), position=(0.3 * (name == "b"), 0, 0))
        model.port("port", "wheel")
        bodies.append(model.assemble())
    mesh = pair(R=np.eye(3)).model.joints[-1]
    with pytest.raises(ph.PorthosError, match="found turns of wheels"):
        ph.interconnect(*bodies, through=ph.KinematicPair("a: port", "b: port", mesh))
