"""Assembly: bodies placed roughly, joints given in the frames of the bodies, velocities from rates of joints."""

from __future__ import annotations

import numpy as np
import pytest

import porthos as ph
from porthos.model.bodies import rotation_matrix
from porthos.notation import Array, normals
from porthos.system.closing import close
from porthos.system.mobility import mobility

KINDS = (
    "spherical", "revolute", "cylindrical", "prismatic", "universal", "planar", "fixed", "distance", "point_on_line",
    "point_on_plane",
)  # fmt: skip
PLANE = (0, 1, 0)
Placed = tuple[Array, Array]  # position and rotation


def four_bar(lengths=(0.3, 0.8, 0.6), base=0.9, **crank) -> ph.Model:
    """A planar four-bar of hinges in the frames of its bars, which lie about."""
    model = ph.Model("four-bar", gravity=(0, 0, -9.81))
    names = ["crank", "rod", "rocker"]
    for k, (name, length) in enumerate(zip(names, lengths, strict=True)):
        turn = (PLANE, -0.3 * k - 0.5)
        model.body(name, ph.Box(1.0 + k, (length, 0.05, 0.05)), position=(0.3 * k, 0.1, 0.2), rotation=turn)
    ends = {name: np.array([length / 2, 0, 0]) for name, length in zip(names, lengths, strict=True)}
    model.revolute("A", "ground", "crank", at=(0, 0, 0), at_b=-ends["crank"], axis=PLANE, frame="body", **crank)
    model.revolute("B", "crank", "rod", at=ends["crank"], at_b=-ends["rod"], axis=PLANE, frame="body")
    model.revolute("C", "rod", "rocker", at=ends["rod"], at_b=-ends["rocker"], axis=PLANE, frame="body")
    model.revolute("D", "rocker", "ground", at=ends["rocker"], at_b=(base, 0, 0), axis=PLANE, frame="body")
    return model


def frames(kind: str, at: Array, rng: np.random.Generator, A: Placed, B: Placed) -> dict[str, object]:
    """A joint of some kind that is closed at the world point `at`, in the frames (x, R) of its parts."""
    (xa, Ra), (xb, Rb) = A, B
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    both = {"at": Ra.T @ (at - xa), "at_b": Rb.T @ (at - xb)}
    match kind:
        case "revolute" | "cylindrical":
            return both | {"axis": Ra.T @ axis, "axis_b": Rb.T @ axis}
        case "prismatic":
            return both | {"axis": Ra.T @ axis, "rotation_b": Rb.T @ Ra}
        case "fixed":
            return both | {"rotation_b": Rb.T @ Ra}
        case "universal":
            return both | {"axis_a": Ra.T @ axis, "axis_b": Rb.T @ normals(axis)[0]}
        case "planar":
            return both | {"normal": Ra.T @ axis, "normal_b": Rb.T @ axis}
        case "point_on_plane":
            return both | {"normal": Ra.T @ axis}
        case "point_on_line":
            return both | {"axis": Ra.T @ axis}
        case "distance":
            end = at + 0.5 * rng.normal(size=3)
            length = float(np.linalg.norm(end - at))
            return {"point_a": both["at"], "point_b": Rb.T @ (end - xb), "length": length}
    return both


def perturbed_loop(rng: np.random.Generator, far: float) -> ph.Model:
    """A ring of bodies with random joints that close somewhere, placed `far` from there (in sizes and radians)."""
    count = int(rng.integers(3, 6))
    angles = 2 * np.pi * np.arange(count) / count
    x = np.c_[np.cos(angles), np.sin(angles), 0.3 * rng.normal(size=count)]
    R = [rotation_matrix(rng.normal(size=4)) for _ in range(count)]
    model = ph.Model("loop")
    for k in range(count):
        turn = rotation_matrix((rng.normal(size=3), far * rng.normal()))
        inertia = ph.Inertia(rng.uniform(0.5, 2.0), (0.1, 0.12, 0.15))
        model.body(f"body{k}", inertia, position=x[k] + far * rng.normal(size=3), rotation=turn @ R[k])
    place = {"ground": (np.zeros(3), np.eye(3))} | {f"body{k}": (x[k], R[k]) for k in range(count)}
    pairs = [(f"body{k}", f"body{k + 1}", (x[k] + x[k + 1]) / 2) for k in range(count - 1)]
    if rng.random() < 0.6:
        pairs += [("ground", f"body{k}", x[k] + rng.normal(size=3) / 3) for k in (0, count - 1)]
    else:
        pairs += [(f"body{count - 1}", "body0", (x[-1] + x[0]) / 2)]
    for k, (a, b, at) in enumerate(pairs):
        kind = KINDS[rng.integers(len(KINDS))]
        getattr(model, kind)(f"joint{k}", a, b, **frames(kind, at, rng, place[a], place[b]), frame="body")
    return model


def stretched_chain(rng: np.random.Generator, far: float) -> tuple[ph.Model, str, str]:
    """Bars with ball joints between two points of the ground that lie further apart than the bars reach.

    With the joint that is to blame, the last in the order in which they are added at random, and what it lacks.
    """
    lengths = rng.uniform(0.3, 1.0, int(rng.integers(2, 5)))
    gap = float(rng.uniform(0.05, 0.5))
    away = rng.normal(size=3)
    end = (lengths.sum() + gap) * away / np.linalg.norm(away)
    model, last, balls = ph.Model("chain"), ("ground", np.zeros(3)), []
    for k, length in enumerate(lengths):
        turn = (rng.normal(size=3), far * rng.normal())
        half, name = np.array([length / 2, 0, 0]), f"bar{k}"
        box = ph.Box(1.0, (length, 0.05, 0.05))
        model.body(name, box, position=end * k / len(lengths) + far * rng.normal(size=3), rotation=turn)
        balls.append((*last, name, -half))
        last = name, half
    balls.append((*last, "ground", end))
    order = rng.permutation(len(balls))
    for k in order:
        a, at, b, at_b = balls[k]
        model.spherical(f"ball{k}", a, b, at=at, at_b=at_b, frame="body")
    return model, f"spherical joint 'ball{order[-1]}'", f"{gap} m"


def twisted_slides(rng: np.random.Generator, far: float) -> tuple[ph.Model, str, str]:
    """Three slides, which reach every point without turning, and a hinge whose axis they cannot meet; as before."""
    model, last = ph.Model("slides"), "ground"
    for k, axis in enumerate(rotation_matrix(rng.normal(size=4))):
        turn = (rng.normal(size=3), far * rng.normal())
        model.body(f"slide{k}", ph.Box(1.0, (0.3, 0.2, 0.1)), position=far * rng.normal(size=3), rotation=turn)
        model.prismatic(f"rail{k}", last, f"slide{k}", at=rng.normal(size=3), at_b=(0, 0, 0), axis=axis, frame="body")
        last = f"slide{k}"
    angle, axis, (normal, _) = float(rng.uniform(0.1, 1.0)), (n := rng.normal(size=3)), normals(n)
    axis_b = rotation_matrix((normal, angle)) @ axis
    model.revolute("hinge", last, "ground", (0.1, 0, 0), axis, rng.normal(size=3), axis_b, frame="body")
    return model, "revolute joint 'hinge'", f"{angle} rad"


def hang_more(model: ph.Model, rng: np.random.Generator) -> None:
    """A closed triangle of bars on the first body: joints after those that cannot close, which are not to blame."""
    last, end = model.bodies[0].name, (0, 0, 0)
    for k in range(2):
        model.body(f"more{k}", ph.Box(1.0, (0.4, 0.05, 0.05)), position=rng.normal(size=3))
        model.spherical(f"more ball{k}", last, f"more{k}", at=end, at_b=(-0.2, 0, 0), frame="body")
        last, end = f"more{k}", (0.2, 0, 0)
    model.spherical("more last", last, model.bodies[0], at=end, at_b=(0.3, 0.2, 0), frame="body")


@pytest.mark.parametrize("seed", range(10))
def test_200_perturbed_mechanisms(seed):
    """All that can close do; of the others the joint is named that cannot, with its smallest gap."""
    rng = np.random.default_rng(seed)
    for k in range(15):
        model = perturbed_loop(rng, far=(0.1, 0.5, 2.0)[k % 3])
        found = close(model)
        assert max(max(g.distance_left, g.angle_left) for g in found.joints) < 1e-12
        system = model.assemble()
        x = system.initial_state()
        q, v, _ = system.split(x)
        assert max(max(g.distance_left, g.angle_left) for g in system.assembly) < 1e-12
        assert max(np.abs(system.g(q)).max(), np.abs(system.G(q) @ v).max()) < 1e-12
    for k in range(5):
        model, joint, gap = (stretched_chain, twisted_slides)[(seed + k) % 2](rng, far=(0.1, 1.0)[k // 2 % 2])
        if k > 2:
            hang_more(model, rng)
        with pytest.raises(ph.InconsistentStateError, match=f"together. {joint} cannot close: a gap of") as error:
            close(model)
        with pytest.raises(ph.InconsistentStateError, match=f"together. {joint} cannot close: a gap of"):
            model.assemble()
        (found, unit), (least, wanted) = str(error.value).partition("a gap of ")[2].split()[:2], gap.split()
        assert (float(found), unit) == (pytest.approx(float(least), rel=1e-3), wanted)
        assert str(error.value).count("cannot close") == 1


def two_bars():
    """Bars of one metre that lean on each other, their feet 1.5 m apart, as a structure; given in body frames."""
    model = ph.Model("bars", gravity=(0, 0, -9.81))
    for name in ("left", "right"):
        model.body(name, ph.Box(1.0, (1.0, 0.1, 0.1)))
    model.revolute("A", "ground", "left", at=(0, 0, 0), at_b=(-0.5, 0, 0), axis=(0, 1, 0), frame="body")
    model.revolute("B", "left", "right", at=(0.5, 0, 0), at_b=(-0.5, 0, 0), axis=(0, 1, 0), frame="body")
    model.point_on_line("C", "ground", "right", at=(1.5, 0, 0), at_b=(0.5, 0, 0), axis=(0, 1, 0), frame="body")
    return model


def test_the_report_of_joints_has_what_they_bear(tmp_path):
    """Each foot bears the weight of a bar; moments about A: 0.375 m g = H 0.6614, of the bar that leans."""
    system = two_bars().assemble()
    across = 9.81 * 0.375 / np.sqrt(1 - 0.75**2)
    assert np.abs(system.assembly["C"].force) == pytest.approx([across, 0, 9.81], abs=1e-11)
    assert system.assembly["C"].force[2] > 0.0
    assert np.abs(system.assembly["B"].force) == pytest.approx([across, 0, 0], abs=1e-11)
    assert [joint.distance for joint in system.assembly] == pytest.approx([0.5, 1.0, 1.0])
    assert max(max(joint.distance_left, joint.angle_left) for joint in system.assembly) < 1e-14
    lines = str(system.assembly).splitlines()
    assert lines[0] == "assembly of 'bars'" and lines[4].split() == ["B", "1", "0", "0", "0", f"{across:.6g}", "0"]
    run = ph.simulate(two_bars(), ph.Midpoint(), 0.01, 0.02)
    for joint in system.assembly:
        assert joint.force == pytest.approx(run.joint(joint.joint).force[0], abs=1e-12)
        assert joint.torque == pytest.approx(run.joint(joint.joint).torque[0], abs=1e-12)
        assert joint.multipliers == pytest.approx(run.joint(joint.joint).multipliers[0], abs=1e-12)
    again = ph.load(run.save(tmp_path / "run.nc")).system.assembly  # a file has no gaps of a placement
    assert again["B"].force == pytest.approx(system.assembly["B"].force) and "unknown" in str(again)
    with pytest.raises(ph.PorthosError, match="'bars' has no joint 'D'"):
        system.assembly["D"]


def test_the_report_of_joints_has_those_that_were_closed_already():
    """Two hinges of a door share its weight in many ways; a lamp hangs on one that does not."""
    model = ph.Model("door", gravity=(0, 0, -9.81))
    model.body("leaf", ph.Box(20.0, (0.8, 0.04, 2.0)), position=(0.4, 0, 1))
    model.body("lamp", ph.Sphere(1.0, 0.1), position=(0.4, 0, 0.5))
    for name, z in (("upper", 1.8), ("lower", 0.2)):
        model.revolute(name, "ground", "leaf", at=(0, 0, z), axis=(0, 0, 1))
    model.spherical("hook", "leaf", "lamp", at=(0.4, 0, 0.8))
    report = model.assemble().assembly
    assert [joint.joint for joint in report] == ["upper", "lower", "hook"] and len(report) == 3
    assert [joint.unique for joint in report] == [False, False, True]
    assert [joint.distance for joint in report] == [0.0, 0.0, 0.0]
    assert report["hook"].force == pytest.approx([0, 0, 9.81], abs=1e-11)
    total = report["upper"].force + report["lower"].force
    assert total == pytest.approx([0, 0, 21 * 9.81], abs=1e-9)
    assert str(report).count("not unique") == 2
    assert repr(report) == "<assembly of 'door': 3 joints; print it>"


def test_a_four_bar_is_assembled_and_runs():
    model = four_bar(rate=3.0)
    system = model.assemble()
    assert {g.joint for g in system.assembly} == set("ABCD")
    assert min(g.distance for g in system.assembly) > 0.2
    assert max(max(g.distance_left, g.angle_left) for g in system.assembly) < 1e-14
    assert "now" in str(system.assembly[0])
    assert len(system.adjustments) == 3
    run = ph.simulate(model, ph.MidpointGGL(), 0.01, 1.0)
    assert run["crank"].angular_velocity[0] == pytest.approx([0, 3, 0], abs=1e-12)
    assert np.ptp(run.energy) < 1e-11 and run.position_error.max() < 1e-13
    points = [run.system.description["joints"][k]["at"] for k in range(4)]  # what is drawn, at the start
    lengths = np.linalg.norm(np.diff([*points[:3], (0.9, 0, 0)], axis=0), axis=1)
    assert lengths == pytest.approx([0.3, 0.8, 0.6])


def slider_crank(a: float, rate: float | None = None, **crank) -> tuple[ph.Model, float, float]:
    """A crank at the angle a, with rod and slider lying about; where the slider is, and its speed for one rad/s."""
    r, length = 0.2, 0.5
    s, c = np.sin(a), np.cos(a)
    model, z = ph.Model("slider-crank"), (0, 0, 1)
    box = ph.Box(1, (r, 0.01, 0.01))
    model.body("crank", box, position=(r / 2 * c, r / 2 * s, 0), rotation=(z, a), **crank)
    model.body("rod", ph.Rod(1, length, axis="x"), position=(0.5, 0.3, 0.1))
    model.body("slider", ph.Box(1, (0.1, 0.1, 0.1)), position=(0.4, -0.2, 0))
    model.revolute("A", "ground", "crank", at=(0, 0, 0), at_b=(-r / 2, 0, 0), axis=z, frame="body", rate=rate)
    model.revolute("B", "crank", "rod", at=(r / 2, 0, 0), at_b=(-length / 2, 0, 0), axis=z, frame="body")
    model.spherical("C", "rod", "slider", at=(length / 2, 0, 0), at_b=(0, 0, 0), frame="body")
    model.prismatic("D", "ground", "slider", at=(0, 0, 0), at_b=(0, 0, 0), axis=(1, 0, 0), frame="body")
    root = np.sqrt(length**2 - (r * s) ** 2)
    return model, r * c + root, -r * s - r**2 * s * c / root


def test_velocities_follow_from_a_rate_with_a_body_held():
    model, place, speed = slider_crank(0.7, rate=2.5)
    q, v = model.assemble(hold=["crank"]).initial_arrays()
    assert q[0, 0] == pytest.approx(np.asarray(model.bodies[0].position), abs=1e-15)
    assert q[2, 0] == pytest.approx([place, 0, 0], abs=1e-14)
    assert v[2, 0] == pytest.approx([2.5 * speed, 0, 0], abs=1e-13)


def test_bodies_are_held_in_runs_and_files(tmp_path):
    """The same start by `hold` of simulate, of a body and of the file that the result holds."""
    model, place, speed = slider_crank(0.7, rate=2.5)
    crank = np.asarray(model.bodies[0].position)
    run = ph.simulate(model, ph.Midpoint(), 0.01, 0.05, hold=["crank"])
    assert run["crank"].position[0] == pytest.approx(crank, abs=1e-15)
    assert run["slider"].position[0] == pytest.approx([place, 0, 0], abs=1e-14)
    assert run["slider"].velocity[0] == pytest.approx([2.5 * speed, 0, 0], abs=1e-13)
    assert np.linalg.norm(ph.simulate(model, ph.Midpoint(), 0.01, 0.05)["crank"].position[0] - crank) > 1e-3
    always, _, _ = slider_crank(0.7, rate=2.5, hold=True)
    (tmp_path / "run.yaml").write_text(ph.load(run.save(tmp_path / "run.nc")).model_file)
    for other in (ph.simulate(always, ph.Midpoint(), 0.01, 0.05), ph.simulate_file(tmp_path / "run.yaml")):
        assert np.array_equal(other.raw.q, run.raw.q) and np.array_equal(other.raw.v, run.raw.v)
    assert not model.bodies[0].hold
    with pytest.raises(ph.PorthosError, match="hold: expected a model to assemble, found MechanicalSystem"):
        ph.simulate(model.assemble(), ph.Midpoint(), 0.01, 0.05, hold=["crank"])


def test_velocities_follow_from_a_body_held():
    model, _, speed = slider_crank(0.7, velocity=(-0.1 * np.sin(0.7), 0.1 * np.cos(0.7), 0), angular_velocity=(0, 0, 1))
    v = model.assemble(hold=[model.bodies[0]]).initial_arrays()[1]
    assert v[2, 0] == pytest.approx([speed, 0, 0], abs=1e-14)
    free = model.assemble().initial_arrays()[1]  # without it the crank gives some of its speed to the others
    assert 0.1 < free[2, 0, 0] / speed < 0.9


def test_a_rate_of_a_slide():
    model, _, speed = slider_crank(0.7)
    data = {joint.name: joint for joint in model.joints}
    assert data["D"].rate is None
    other = ph.Model("slider")
    for body in model.bodies:
        other.body(body.name, body.inertia, body.position, body.rotation)
    for joint in model.joints[:3]:
        other._joints[joint.name] = joint
    other.prismatic("D", "ground", "slider", at=(0, 0, 0), at_b=(0, 0, 0), axis=(1, 0, 0), frame="body", rate=speed)
    system = other.assemble(hold=["crank"])
    q, v = system.initial_arrays()
    assert 0.5 * np.cross(q[0, 1:], v[0, 1:]).sum(axis=0) == pytest.approx([0, 0, 1], abs=1e-12)


RATES = {
    "spherical": {"angular_velocity": (0.4, -1.1, 0.7)},
    "cylindrical": {"rate": 1.3, "slide_rate": -0.6},
    "universal": {"turn_rates": (0.9, -1.4)},
    "planar": {"rate": 0.8, "velocity": (0.5, -0.2, 0.3)},
}


@pytest.mark.parametrize("rough", [False, True])
@pytest.mark.parametrize("kind", RATES)
def test_all_rates_of_a_joint(kind, rough, tmp_path):
    """Velocities against a body that moves itself are those given, in frames of bodies and in files."""
    rng, model = np.random.default_rng(3), ph.Model("pair")
    places = [(rng.normal(size=3), rotation_matrix(rng.normal(size=4))) for _ in range(2)]
    for name, (x, R) in zip("ab", places, strict=True):
        off = 0.3 * rng.normal(size=3) if rough else np.zeros(3)
        model.body(name, ph.Box(1, (1, 2, 3)), position=x + off, rotation=R)
    model.revolute("hinge", "ground", "a", at=(0, 0, 0), at_b=(1, 0, 0), axis=(0, 0, 1), frame="body", rate=2.0)
    given, rates = frames(kind, rng.normal(size=3), rng, *places), dict(RATES[kind])
    if kind == "planar":  # the velocity is in the plane
        rates["velocity"] = np.cross(given["normal"], rates["velocity"])
    joint = getattr(model, kind)("J", "a", "b", **given, **rates, frame="body")
    assert joint.rates
    for one in (model, ph.load_model(model.save(tmp_path / "pair.yaml"))):
        run = ph.simulate(one, ph.Midpoint(), 0.001, 0.001)
        (xa, Ra, va, wa), (xb, Rb, vb, wb) = (
            [getattr(run[name], key)[0] for key in ("position", "rotation", "velocity", "angular_velocity")]
            for name in "ab"
        )
        assert wa == pytest.approx([0, 0, 2], abs=1e-12)
        at_b = xb + Rb @ given["at_b"]
        turn, slide = wb - wa, vb + np.cross(wb, at_b - xb) - va - np.cross(wa, at_b - xa)
        match kind:
            case "spherical":
                expected = Ra @ rates["angular_velocity"], np.zeros(3)
            case "cylindrical":
                expected = 1.3 * Ra @ given["axis"], -0.6 * Ra @ given["axis"]
            case "universal":
                expected = 0.9 * Ra @ given["axis_a"] - 1.4 * Rb @ given["axis_b"], np.zeros(3)
            case "planar":
                expected = 0.8 * Ra @ given["normal"], Ra @ rates["velocity"]
        assert turn == pytest.approx(expected[0], abs=1e-12)
        assert slide == pytest.approx(expected[1], abs=1e-12)


def test_a_velocity_out_of_the_plane():
    model = ph.Model("puck")
    model.body("puck", ph.Cylinder(1, 0.1, 0.02))
    model.planar("ice", "ground", "puck", at=(0, 0, 0), normal=(0, 0, 1), velocity=(1, 0, 0.5))
    with pytest.raises(ph.InconsistentStateError, match=r"planar joint 'ice': velocity: expected 0.5, found"):
        model.assemble()
    with pytest.raises(ph.ModelError, match=r"universal joint 'U': turn_rates: expected 2 numbers"):
        model.universal("U", "ground", "puck", (0, 0, 0), (1, 0, 0), (0, 1, 0), turn_rates=(1, 2, 3))


def test_rates_that_contradict_each_other():
    model, _, _ = slider_crank(0.7, rate=1.0)
    model.body("wheel", ph.Sphere(1, 0.1))
    for name in ("E", "F"):
        model.revolute(name, "ground", "wheel", at=(0, 0, 0), axis=(0, 0, 1), rate=1.0 if name == "E" else 2.0)
    with pytest.raises(ph.InconsistentStateError, match=r"revolute joint 'F': rate: expected 2, found 1.5 possible"):
        model.assemble(hold=["crank"])


def test_mobility_is_that_of_the_closed_mechanism():
    found = mobility(four_bar())
    assert (found.rows, found.rank, found.freedom, found.counted) == (20, 17, 1, -2)
    assert [one.joint for one in found.violations] == list("ABCD")


def test_bars_that_do_not_reach():
    with pytest.raises(ph.InconsistentStateError, match=r"revolute joint 'D' cannot close: a gap of 0.2 m is the"):
        four_bar(base=1.9).assemble()


def test_a_body_that_is_held_may_prevent_closing():
    model = four_bar()
    model.assemble()
    with pytest.raises(ph.InconsistentStateError, match=r"'A' cannot close.*the bodies to hold"):
        model.assemble(hold=["crank"])
    with pytest.raises(ph.ModelError, match=r"hold: found no body 'cranc'. Did you mean 'crank'"):
        model.assemble(hold=["cranc"])


def test_heavy_bodies_move_less():
    moved = {}
    for mass in (0.01, 100.0):
        model = ph.Model("two")
        model.point_mass("a", mass, position=(0, 0, 0))
        model.point_mass("b", 1.0, position=(1, 0, 0))
        model.spherical("meet", "a", "b", at=(0, 0, 0), at_b=(0, 0, 0), frame="body")
        moved[mass] = model.assemble().initial_arrays()[0][0, 0, 0]
    assert moved == pytest.approx({0.01: 1 / 1.01, 100.0: 1 / 101.0}, rel=1e-6)  # the common centre of mass stays


def test_point_masses_in_a_loop_do_not_turn():
    """A rod between two point masses on lines: from where it lies it closes only by other placements."""
    model = ph.Model("ladder")
    model.point_mass("foot", 1.0, position=(0, 0, 0))
    model.point_mass("head", 1.0, position=(0, 0, 0))
    model.point_on_line("floor", "ground", "foot", at=(0, 0, 0), at_b=(0, 0, 0), axis=(1, 0, 0), frame="body")
    model.point_on_line("wall", "ground", "head", at=(0, 0, 0), at_b=(0, 0, 0), axis=(0, 0, 1), frame="body")
    model.distance("rod", "foot", "head", point_a=(0, 0, 0), point_b=(0, 0, 0), length=1.0, frame="body")
    system = model.assemble()
    q, _ = system.initial_arrays()
    assert np.hypot(q[0, 0, 0], q[1, 0, 2]) == pytest.approx(1.0, abs=1e-12)
    assert np.array_equal(q[:2, 1:], np.tile(np.eye(3), (2, 1, 1)))
    run = ph.simulate(model, ph.Midpoint(), 0.01, 0.1)
    assert run.position_error.max() < 1e-12


def test_kinematic_pairs_are_given_in_the_world():
    joint = ph.Spherical(name="ball", a="a", b="b", at=(0, 0, 0), at_b=(0, 0, 0), frame="body")
    systems = []
    for name in "ab":
        model = ph.Model(name)
        model.body(name, ph.Sphere(1, 0.1))
        model.port(f"port {name}", name)
        systems.append(model.assemble())
    with pytest.raises(ph.PorthosError, match="ball': expected points and axes in world coordinates"):
        ph.interconnect(*systems, through=ph.KinematicPair("port a", "port b", joint))


def test_axes_never_close_the_wrong_way_round():
    """A row a . b = 0 would also hold with opposite axes."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        model = ph.Model("hinge")
        model.body("b", ph.Box(1, (1, 2, 3)), rotation=rotation_matrix(rng.normal(size=4)))
        axis, axis_b = rng.normal(size=(2, 3))
        model.revolute("A", "ground", "b", at=(0, 0, 0), at_b=(1, 0, 0), axis=axis, axis_b=axis_b, frame="body")
        found = close(model)
        R = found.motion["b"].matrix @ model.bodies[0].matrix
        assert R @ axis_b / np.linalg.norm(axis_b) == pytest.approx(axis / np.linalg.norm(axis), abs=1e-14)


def test_files_keep_joints_that_are_open(tmp_path):
    text = """
bodies:
  arm: {shape: rod, mass: 1, length: 1, axis: x, position: [3, 2, 1]}
joints:
  pin: {kind: revolute, a: ground, b: arm, at: [0, 0, 0], at_b: [-0.5, 0, 0], axis: [0, 1, 0], frame: body, rate: 2}
"""
    path = tmp_path / "arm.yaml"
    path.write_text(text)
    model = ph.load_model(path)
    again = ph.load_model(model.save(tmp_path / "again.yaml"))
    for one in (model, again):
        system = one.assemble()
        q, v = system.initial_arrays()
        assert np.linalg.norm(q[0, 0]) == pytest.approx(0.5) and np.linalg.norm(v[0, 0]) == pytest.approx(1.0)
    changed = ph.load_model(path, {"bodies.arm.position": "[0, 0, -1]"}).assemble().initial_arrays()[0]
    assert changed[0, 0, 2] < 0


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        ("spherical", {"at": (0, 0, 0)}, "at_b: expected the point of the joint in the frame of 'b'"),
        ("distance", {"point_a": (0, 0, 0), "point_b": (0, 0, 0)}, "length: expected the distance of the two points"),
        ("fixed", {"at": (0, 0, 0), "at_b": (0, 0, 0), "rotation_b": (1, 2)}, "rotation_b: axis: expected 3 numbers"),
        ("revolute", {"at": (0, 0, 0), "at_b": (0, 0, 0), "axis": (0, 0, 1), "rate": "x"}, "rate: expected a number"),
        ("spherical", {"at": (0, 0, 0), "frame": "bodies"}, "frame: expected 'world' or 'body', found 'bodies'"),
    ],
)
def test_what_is_missing_or_wrong(kind, given, message):
    model = ph.Model("m")
    model.body("b", ph.Sphere(1, 0.1))
    with pytest.raises(ph.ModelError, match=message):
        getattr(model, kind)("J", "ground", "b", **{"frame": "body"} | given)


def test_an_open_joint_in_world_coordinates_is_a_mistake_unless_it_is_rough():
    model = ph.Model("m")
    model.body("b", ph.Sphere(1, 0.1), position=(1, 0, 0))
    with pytest.raises(ph.ModelError, match=r"miss each other by 0 m and 1.571 rad.*rough=True"):
        model.revolute("A", "ground", "b", at=(0, 0, 0), axis=(0, 0, 1), axis_b=(1, 0, 0))
    model.revolute("A", "ground", "b", at=(0, 0, 0), axis=(0, 0, 1), axis_b=(1, 0, 0), rough=True)
    assert model.assemble().assembly[0].angle == pytest.approx(np.pi / 2)


def test_a_long_chain():
    """400 bars that lie in a heap, and a load, a spring and a film of it."""
    model, half = ph.Model("chain"), np.array([0.05, 0, 0])
    last, end = "ground", np.zeros(3)
    for k in range(400):
        model.body(f"bar{k}", ph.Box(0.1, (0.1, 0.01, 0.01)))
        model.spherical(f"ball{k}", last, f"bar{k}", at=end, at_b=-half, frame="body")
        last, end = f"bar{k}", half
    found = close(model)
    assert max(g.distance_left for g in found.joints) < 1e-8
