"""The report: what a page holds, that names stay text, that thinned runs and verdicts are right."""

import base64
import hashlib
import html
import json
import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import porthos as ph
from porthos.integrate.catalogue import brief
from porthos.results.verdict import Level, short, verdict
from porthos.show import stage as staging
from porthos.show.axes import PALETTE
from porthos.show.report import page, report
from porthos.show.solids import GROUND, body_solids
from porthos.show.stage import Stage, extremes, kept_frames, plain
from tests.mechanisms import KINDS, join
from tests.rocker import rocker
from tests.swing import swing

HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def run():
    return swing()


def parts(text):
    """Data and numbers of a page, as its script reads them."""
    data = re.search(r'<script type="application/json" id="porthos-data">(.*?)</script>', text, re.DOTALL)[1]
    numbers = re.search(r'<script type="text/plain" id="porthos-numbers">(.*?)</script>', text, re.DOTALL)[1]
    return json.loads(data), np.frombuffer(base64.b64decode(numbers), dtype="<f4")


def table(data, numbers, at, width):
    return numbers[at : at + data["frames"] * width].reshape(-1, width)


def test_page_is_one_file(run, tmp_path):
    path = run.report(tmp_path / "new folder" / "swing.html")
    text = path.read_text(encoding="utf-8")
    assert path.stat().st_size < 1_500_000
    assert "swing" in text
    markup = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
    assert not re.findall(r"(?:src|href)\s*=", markup)  # nothing from elsewhere
    with pytest.raises(ph.PorthosError, match=r"\.html"):
        report(run, tmp_path / "swing.pdf")


def test_figures_are_added(run, tmp_path):
    figures = {"a < b": run.plot("energy"), "c_d": run.plot()}
    text = report(run, tmp_path / "two.html", figures).read_text(encoding="utf-8")
    assert text.count("data:image/png;base64,") == 2
    assert text.count('<figure class="wide">') == 1
    assert "a &lt; b" in text
    assert "c d" in text


def test_slider_crank_is_small(tmp_path):
    from porthos.cli.examples import example

    with example("slider-crank") as path:
        run = ph.simulate_file(path, progress=False)
    assert run.report(tmp_path / "slider.html").stat().st_size < 1_500_000


def test_numbers_are_those_of_the_run(run):
    data, numbers = parts(page(run))
    np.testing.assert_allclose(table(data, numbers, data["time"], 1)[:, 0], run.t, rtol=1e-6)
    bar = table(data, numbers, data["bodies"][0]["motion"], 7)
    np.testing.assert_allclose(bar[:, :3], run["bar"].position, atol=1e-6)
    np.testing.assert_allclose(Rotation.from_quat(bar[:, 3:]).as_matrix(), run["bar"].rotation, atol=1e-6)
    curves = {q["name"]: [table(data, numbers, c["values"], 1)[:, 0] for c in q["curves"]] for q in data["quantities"]}
    np.testing.assert_allclose(curves["energy"], [run.energy, run.kinetic_energy, run.potential_energy], rtol=1e-6)
    np.testing.assert_allclose(np.transpose(curves["joints/hinge.force"]), run.joint("hinge").force, atol=1e-5)
    np.testing.assert_allclose(curves["constraints"], [run.position_error, run.velocity_error], rtol=1e-6)
    np.testing.assert_allclose(curves["loads and ports/push.work"][0], run.port("push").work, atol=1e-6)


def test_arrows_begin_where_they_act(run):
    """Their roots, carried by their parts, are the points given in the model."""
    data, numbers = parts(page(run))
    arrows = {(a["name"], a["kind"]): a for a in data["arrows"]}
    push = arrows["push", "force"]
    np.testing.assert_allclose(push["at"], (0.5, 0, 0), atol=1e-12)
    np.testing.assert_allclose(table(data, numbers, push["values"], 3), run.port("push").force, atol=1e-6)
    assert ("push", "torque") not in arrows  # there is none
    hinge, string = arrows["hinge", "force"], arrows["string", "force"]
    np.testing.assert_allclose(hinge["at"], (-0.5, 0, 0), atol=1e-12)
    np.testing.assert_allclose(string["at"], (0, 0, 0), atol=1e-12)
    assert hinge["largest"] == string["largest"]  # one scale


def test_torques_have_arrows_too():
    """A load with a torque that grows, and the torque with which a hinge answers what it cannot follow."""
    model = ph.Model("twisted")
    model.body("bar", ph.Box(1, (1, 0.1, 0.1)), position=(0.5, 0, 0))
    model.revolute("hinge", "ground", "bar", at=(0, 0, 0), axis=(0, 1, 0))
    model.load("twist", "bar", torque=ph.Ramp(0, 0.1, after=(0.3, 0, 0)))
    run = ph.simulate(model, ph.MidpointGGL(), 0.01, 0.1)
    data, numbers = parts(page(run))
    arrows = {(a["name"], a["kind"]): a for a in data["arrows"]}
    twist, hinge = arrows["twist", "torque"], arrows["hinge", "torque"]
    np.testing.assert_allclose(table(data, numbers, twist["values"], 3), run.port("twist").torque, atol=1e-6)
    np.testing.assert_allclose(table(data, numbers, hinge["values"], 3), run.joint("hinge").torque, atol=1e-6)
    assert (twist["group"], twist["largest"]) == ("loads", pytest.approx(0.3))
    assert hinge["largest"] == pytest.approx(0.3, abs=1e-6)  # it holds the bar against all of it
    assert ("twist", "force") not in arrows


def test_chosen_points_have_paths(run):
    data, numbers = parts(page(run, points={"tip": ("bar", (0.5, 0, 0))}))
    tip, *others = data["paths"]
    assert (tip["name"], tip["shown"]) == ("tip", True)
    assert not any(path["shown"] for path in others)
    np.testing.assert_allclose(table(data, numbers, tip["values"], 3), run["bar"].point((0.5, 0, 0)), atol=1e-6)
    with pytest.raises(ph.PorthosError, match="Did you mean 'bar'"):
        page(run, points={"tip": ("bat", (0, 0, 0))})
    with pytest.raises(ph.PorthosError, match="'tip'"):
        page(run, points={"tip": ("bar", (0, 0))})


def test_hostile_names_stay_text(tmp_path):
    model = ph.Model(HOSTILE)
    model.point_mass(HOSTILE, 1.0, velocity=(1, 0, 0))
    model.load(HOSTILE + "2", HOSTILE, force=(1, 0, 0))
    run = ph.simulate(model, ph.Midpoint(), step=0.1, end=0.3)
    text = page(run)
    assert "<img" not in text
    assert text.lower().count("</script") == text.lower().count("<script") == 3
    assert parts(text)[0]["bodies"][0]["name"] == HOSTILE
    assert "<img" not in run._repr_html_()


def test_policy_allows_only_our_script(run):
    text = page(run)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    script = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    assert len(script) == 1
    assert policy.startswith("default-src 'none'")
    assert f"script-src 'sha256-{digest}';" in policy


def test_notebook_shows_the_same_page(run):
    frame = run._repr_html_()
    source = re.fullmatch(r'<iframe srcdoc="([^"]*)" style="[^"]*" title="swing"></iframe>', frame, re.DOTALL)[1]
    assert html.unescape(source) == page(run)


def test_palette_is_that_of_the_figures(run):
    text = page(run)
    assert all(
        f"--c{k}: {colour}" in text or f"--c{k}: light-dark({colour}" in text for k, colour in enumerate(PALETTE)
    )


@pytest.mark.parametrize(
    ("scheme", "told"),
    [
        (repr(ph.MidpointGGL()), "MidpointGGL()"),
        (repr(ph.Midpoint(tolerance=1e-10)), "Midpoint(tolerance=1e-10)"),
        (repr(ph.Composition(order=6)), "Composition(base=MidpointGGL(), order=6)"),
        (repr(ph.Composition(ph.Midpoint())), "Composition(base=Midpoint(), order=4)"),
        (repr(ph.Gauss(2)), "Gauss(stages=2)"),
        (repr(ph.MidpointGGL()) + ", velocities projected", "MidpointGGL(), velocities projected"),
        ("my own scheme (of order 3)", "my own scheme (of order 3)"),
    ],
)
def test_schemes_are_told_in_brief(scheme, told):
    """Options that nobody chose are left out of what people read."""
    assert brief(scheme) == told


def test_page_says_how_it_was_computed(run):
    assert "<p>MidpointGGL(), 51 recorded states, to t = 0.5 s</p>" in page(run)


# --- thinning


def test_thinned_is_what_every_keeps():
    """Keeping each fifth state afterwards or from the start is the same."""
    whole, fifth = swing(every=1), swing(every=5)
    thin = whole.thinned(np.arange(0, whole.t.size, 5))
    for name in ("t", "q", "v", "wrench", "multipliers", "outputs", "iterations"):
        np.testing.assert_array_equal(getattr(thin.raw, name), getattr(fifth.raw, name))
    np.testing.assert_allclose(thin.raw.work, fifth.raw.work, rtol=1e-14, atol=1e-16)
    assert np.abs(thin.power_balance).max() < 1e-12


def test_frames_are_bounded_and_errors_keep_their_extremes(run, monkeypatch):
    monkeypatch.setattr(staging, "MOST_FRAMES", 8)
    kept = kept_frames(run)
    assert kept.size == 8
    assert (kept[0], kept[-1]) == (0, run.t.size - 1)
    data, numbers = parts(page(run))
    assert data["frames"] == 8
    errors = next(q for q in data["quantities"] if q["name"] == "constraints")["curves"]
    for curve, whole in zip(errors, (run.position_error, run.velocity_error), strict=True):
        assert table(data, numbers, curve["values"], 1).max() == pytest.approx(whole.max(), rel=1e-6)
    np.testing.assert_array_equal(extremes(np.array([1.0, -5, 2, 3, 4]), np.array([0, 2, 4])), [1, -5, 4])


def test_large_models_have_bounded_pages(run, monkeypatch):
    """Where even few frames would be too much, curves and arrows of single bodies and joints are left out."""
    monkeypatch.setattr(staging, "MOST_NUMBERS", 3000)
    description = Stage(run).description
    assert {q["group"] for q in description["quantities"]} == {"whole system", "loads and ports"}
    assert {a["group"] for a in description["arrows"]} == {"loads"}
    assert len(description["panels"]) == 5


@pytest.mark.parametrize("loads", [True, False])
def test_run_in_a_file_has_the_same_page(tmp_path, monkeypatch, loads):
    monkeypatch.setattr("porthos.integrate.march.BLOCK", 10_000)  # several blocks
    run = swing(loads=loads)
    run.save(tmp_path / "swing.nc")
    lazy = ph.load(tmp_path / "swing.nc", lazy=True)
    first, second = (parts(page(some)) for some in (run, lazy))
    assert first[0] == second[0]
    np.testing.assert_array_equal(first[1], second[1])


# --- solids

SHAPES = {
    "box": (ph.Box(1, (1, 2, 3)), (0.5, 1, 1.5)),
    "plate": (ph.Box(1, (1, 2, 0)), (0.5, 1, 0.02)),
    "cylinder": (ph.Cylinder(1, radius=0.5, length=2, axis="x"), (1, 0.5, 0.5)),
    "tube": (ph.HollowCylinder(1, 0.3, 0.5, length=2, axis="y"), (0.5, 1, 0.5)),
    "full tube": (ph.HollowCylinder(1, 0.0, 0.5, length=2, axis="y"), (0.5, 1, 0.5)),
    "ball": (ph.Sphere(1, 0.7), (0.7, 0.7, 0.7)),
    "needle": (ph.Rod(1, length=2, axis="z"), (0.024, 0.024, 1)),
    "numbers": (ph.Inertia(1, 0.2 * np.array([25.0, 20, 13])), (2, 3, 4)),  # m/5 (b^2 + c^2), ...
}


@pytest.mark.parametrize("name", SHAPES)
def test_solids_have_the_size_of_shapes(name):
    shape, half = SHAPES[name]
    model = ph.Model("one body")
    model.body("body", shape)
    run = ph.simulate(model, ph.Midpoint(), step=0.5, end=1.0)
    (solid,) = body_solids(run, 1.0)
    np.testing.assert_allclose(solid.corners.max(axis=0), half, atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(solid.turn), 1.0)


def test_stand_ins_leave_room_for_joints():
    """A body given by its inertia has sticks to its joints, and its ellipsoid does not hide them."""
    model = ph.Model("numbers")
    body = model.body("body", ph.Inertia(1, (10, 10, 10)), position=(1, 0, 0))
    model.spherical("pivot", model.ground, body, at=(0, 0, 0))
    run = ph.simulate(model, ph.Midpoint(), step=0.1, end=0.2)
    ellipsoid, stick = body_solids(run, 1.0)
    assert max(ellipsoid.size) == pytest.approx(0.5)
    assert stick.kind == "rod"
    assert stick.size[1] == pytest.approx(1.0)
    np.testing.assert_allclose(stick.at, (-0.5, 0, 0))


@pytest.mark.parametrize("kind", KINDS)
def test_every_joint_is_drawn_where_it_is(kind):
    """Pieces on both sides lie at the joint, and the ground has a foot or a plate."""
    model, at = ph.Model("joint", gravity=(0, -9.81, 0)), np.array([0.3, 0.2, 0.1])
    model.body("body", ph.Box(1, (0.4, 0.3, 0.2)), position=(0.5, 0.2, 0.1), rotation=((1, 2, 3), 0.7))
    join(model, "joint", kind, "ground", "body", at, np.random.default_rng(3))
    run = ph.simulate(model, ph.Midpoint(), step=0.01, end=0.05)
    description = Stage(run).description
    assert description["up"] == [0.0, 1.0, 0.0]
    pieces = [solid for solid in description["solids"] if solid["group"] == "joints"]
    start = {0: (run["body"].rotation[0], run["body"].position[0]), GROUND: (np.eye(3), np.zeros(3))}
    for piece in pieces:
        if piece["part"] == GROUND:
            continue
        R, x = start[piece["part"]]
        np.testing.assert_allclose(R @ piece["at"] + x, at, atol=1e-6)
    assert {piece["part"] for piece in pieces} == {0, GROUND}
    assert len(description["links"]) == (kind == "distance")
    assert all(np.isfinite(piece["size"]).all() and min(piece["size"]) > 0 for piece in pieces)


def test_force_elements_are_drawn_where_they_act():
    """Ends of links, taken through the motion of their parts, are as far apart as the elements say."""
    run = rocker()
    data, numbers = Stage(run).description, Stage(run).numbers
    values = np.frombuffer(base64.b64decode(numbers), dtype="<f4")

    def path(end):
        if end["part"] == GROUND:
            return np.array(end["at"])
        moved = table(data, values, data["bodies"][end["part"]]["motion"], 7)
        return moved[:, :3] + Rotation.from_quat(moved[:, 3:]).apply(end["at"])

    links = [link for link in data["links"] if link["group"] == "elements"]
    assert [link["form"] for link in links] == ["coil", "rod", "sleeve", "rod", "sleeve", "rod"]
    owners = ["strut"] * 3 + ["brake"] * 2 + ["pull"]
    for owner, link in zip(owners, links, strict=True):
        lengths = np.linalg.norm(path(link["b"]) - path(link["a"]), axis=1)
        assert np.ptp(lengths) > 1e-3
        np.testing.assert_allclose(lengths, run.element(owner).measure, atol=1e-6)
        assert link["form"] != "sleeve" or 0.0 < link["more"] < lengths.min()
    pieces = [solid for solid in data["solids"] if solid["group"] == "elements" and solid["kind"] != "cone"]
    assert [(piece["kind"], piece["part"]) for piece in pieces] == [("coil", GROUND), ("ellipsoid", 0)]
    np.testing.assert_allclose(pieces[0]["at"], (0, 0, 0.5), atol=1e-12)
    np.testing.assert_allclose(pieces[1]["at"], (0.3, 0, 0), atol=1e-12)
    assert np.all(np.asarray(data["low"]) <= (0.1, 0, 0))  # the feet on the ground are in the scene


def test_page_tells_of_force_elements():
    run = rocker()
    text, data = page(run), Stage(run).description
    assert "<h3>Force elements</h3>" in text
    assert "stiffness (400, 0, 900), damping 4, length 0.5" in text
    assert "W + D, with the energy D that dampers took" in text
    energy = next(one for one in data["quantities"] if one["name"] == "energy")
    assert [curve["symbol"] for curve in energy["curves"]] == ["H = T + V", "T", "V", "V_e", "D"]
    offered = {one["name"]: one["axis"] for one in data["quantities"] if one["group"] == "springs and dampers"}
    assert offered["springs and dampers/strut.force"] == "force [N]"
    assert offered["springs and dampers/coil.measure"] == "angle [rad]"
    assert "springs and dampers/rubber.energy" in offered
    assert "springs and dampers/rubber.force" not in offered
    assert not any("dampers" in finding.words for finding in verdict(swing()).findings)


def test_a_body_that_only_turns_shows_how(run):
    """Its place would be three lines that never change."""
    assert Stage(run).description["panels"][1] == "bodies/bob.position"
    model = ph.Model("flywheel")
    model.body("wheel", ph.Cylinder(1.0, radius=0.5, length=0.1), angular_velocity=(0, 0, 3))
    model.revolute("axle", "ground", "wheel", at=(0, 0, 0), axis=(0, 0, 1))
    turning = ph.simulate(model, ph.MidpointGGL(), step=0.01, end=0.1)
    assert Stage(turning).description["panels"][1] == "bodies/wheel.angular_velocity"


@pytest.mark.parametrize(
    ("number", "text"), [(7913.4, "7910"), (0.10678, "0.107"), (2.4, "2.4"), (33211.0, "3.3e4"), (2.06e-14, "2.1e-14")]
)
def test_numbers_of_a_verdict_are_short(number, text):
    assert short(number) == text


def test_symbols_lose_their_tex():
    assert plain(r"$\max|G(q)\,v|$") == "max |G(q) v|"
    assert plain(r"$\omega_x$") == "ω_x"


# --- verdict


def levels(run):
    return {finding.what: finding.level for finding in verdict(run).findings}


def test_verdict_of_a_free_body_under_gravity():
    """Momentum across gravity stays, angular momentum about its direction too; the rest changes as it must."""
    model = ph.Model("stone", gravity=(0, 0, -9.81))
    model.body("stone", ph.Box(1, (1, 2, 3)), velocity=(1, 2, 3), angular_velocity=(1, 2, 3))
    run = ph.simulate(model, ph.MidpointGGL(), step=0.01, end=1.0)
    found = {finding.what: finding for finding in verdict(run).findings}
    assert found["energy balance"].level is Level.KEPT
    assert found["linear momentum"].level is Level.KEPT
    assert "p_x, p_y constant" in found["linear momentum"].words
    assert "p_z changes" in found["linear momentum"].words
    assert "L_z constant" in found["angular momentum"].words
    assert not verdict(run).warnings


def test_verdict_of_schemes_that_keep_less(run):
    """Radau IIA loses energy; PH-MP leaves velocity constraints to the accuracy of the step."""
    model = ph.Model("bob", gravity=(0, 0, -9.81))
    model.point_mass("bob", 1.0, position=(1, 0, 0))
    model.distance("string", model.ground, "bob", point_a=(0, 0, 0), point_b=(1, 0, 0))
    coarse = levels(ph.simulate(model, ph.RadauIIA(1), step=0.05, end=1.0))
    assert coarse["energy balance"] is Level.LOST
    assert levels(run)["velocity constraints"] is Level.KEPT
    fast = ph.Model("top", gravity=(0, 0, -9.81))
    top = fast.body("top", ph.Cylinder(1, 0.2, 0.1), position=(0, 0.3, 1), angular_velocity=(0, 0, 20))
    fast.spherical("tip", fast.ground, top, at=(0, 0, 0))
    found = levels(ph.simulate(fast, ph.Midpoint(), step=0.002, end=0.5))
    assert found["position constraints"] is Level.KEPT
    assert found["velocity constraints"] is Level.CLOSE


def test_lost_momentum_is_said(run):
    """A run that was tampered with loses what nothing from outside could change."""
    model = ph.Model("two stones")
    model.point_mass("a", 1.0, velocity=(1, 0, 0))
    whole = ph.simulate(model, ph.Midpoint(), step=0.1, end=1.0)
    whole.raw.v[5:, 0, 0, 0] = 2.0
    found = levels(whole)
    assert found["linear momentum"] is Level.LOST
    assert found["energy balance"] is Level.LOST
    assert "linear momentum" in verdict(whole).sentence


def test_verdict_of_a_run_that_stopped(tmp_path):
    """A failed run says so, at the top of the page, with the time and what to do."""
    model = ph.Model("spinner")
    model.body("rotor", ph.Box(1, (1, 2, 3)), angular_velocity=(0, 0, 400))
    run = ph.simulate(model, ph.Midpoint(), step=0.1, end=1.0, on_failure="return")
    assert run.status is not ph.Status.OK
    text = page(run)
    box = re.search(r'<section id="verdict" class="(\w+)"><p>(.*?)</p>', text)
    assert box[1] == "bad"
    assert html.unescape(box[2]).startswith("This run stopped at t = 0 s. ")
    assert "Use a step" in box[2]


def test_moved_initial_values_are_a_warning():
    model = ph.Model("chain of five", gravity=(0, 0, -9.81))
    before = model.ground
    for k in range(5):
        bar = model.body(f"bar {k}", ph.Box(1, (1, 0.1, 0.1)), position=(k + 0.5, 0, 0), velocity=(0, 1, 0))
        model.spherical(f"joint {k}", before, bar, at=(k, 0, 0))
        before = bar
    found = verdict(ph.simulate(model, ph.MidpointGGL(), step=0.01, end=0.02))
    assert len(found.warnings) == 4
    assert "'bar 0'" in found.warnings[0]
    assert "2 more bodies" in found.warnings[-1]
