"""Flexible beams: bending, orders of convergence, vibrations, balances, files; `gallery.bent_beams` has the numbers."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from typer.testing import CliRunner

import porthos as ph
from gallery import bent_beams
from gallery.bent_beams import at_rest, cantilever, loaded, section
from porthos.cli.app import app
from porthos.model.modelfile import to_yaml
from porthos.model.schema import json_schema
from porthos.show import figures
from porthos.show.meshes import Surface
from porthos.show.scene import scene_of

STEEL = {"young": 2.1e11, "poisson": 0.3, "density": 7850.0}
BLADE = ph.RectangularSection(width=0.02, height=0.01, **STEEL)


def test_sections():
    """Torsion of a square 0.140577 a^4 and of a strip b h^3/3 (Saint-Venant), shear factors of Cowper."""
    G = 2.1e11 / 2.6
    square = ph.RectangularSection(width=0.1, height=0.1, **STEEL)
    assert square.turning_stiffness[2] / G == pytest.approx(0.1405770 * 0.1**4, rel=1e-6)
    strip = ph.RectangularSection(width=10.0, height=0.01, **STEEL)
    assert strip.turning_stiffness[2] / G == pytest.approx(10 * 0.01**3 / 3, rel=1e-3)
    assert BLADE.turning_stiffness[:2] == pytest.approx([2.1e11 * 0.02 * 0.01**3 / 12, 2.1e11 * 0.01 * 0.02**3 / 12])
    assert BLADE.mass_per_length == pytest.approx(7850 * 2e-4)
    assert BLADE.stiffness[0] == pytest.approx(10 * 1.3 / 15.3 * G * 2e-4)
    rod, pipe = (
        ph.CircularSection(radius=0.1, **STEEL),
        ph.PipeSection(outer_radius=0.1, inner_radius=1e-6, **STEEL),
    )
    assert pipe.stiffness == pytest.approx(rod.stiffness) and rod.stiffness[0] == pytest.approx(
        7.8 / 8.8 * G * np.pi * 0.01
    )
    thin = ph.PipeSection(outer_radius=0.1, inner_radius=0.0999, **STEEL)
    assert thin.stiffness[0] / (G * np.pi * (0.1**2 - 0.0999**2)) == pytest.approx(2.6 / 4.9, rel=1e-3)
    assert rod.turning_stiffness == pytest.approx(np.pi / 4 * 1e-4 * np.array([2.1e11, 2.1e11, 2 * G]))


@pytest.mark.parametrize("n", [1, 2, 8])
def test_small_deflection(n):
    """P L^3/(3 E I) (1 - 1/(4 n^2)) + P L/(k G A) across, P L/(E A) along, T L/(G J) about it, with signs."""
    P, L, what = 1e-4, 10.0, section(EI=500.0, GA=2e3, EA=7e3, GJ=300.0)
    for force in ((0, P, 0), (0, 0, -P)):
        model = cantilever(n, what, L)
        model.load("P", "arm.end", force=force)
        expected = np.array(force) * (L**3 / 1500 * (1 - 0.25 / n**2) + L / 2e3)
        assert at_rest(model)[0][-1, 0] - (L, 0, 0) == pytest.approx(expected, abs=1e-5 * P)
    model = cantilever(n, what, L)
    model.load("P", "arm.end", force=(P, 0, 0), torque=(P, 0, 0))
    tip = at_rest(model)[0][-1]
    assert tip[0] == pytest.approx((L + P * L / 7e3, 0, 0), abs=1e-11)
    assert tip[1] @ (0, 0, 1) == pytest.approx(P * L / 300.0, rel=1e-6)  # axis 1, at first along y, turns towards z
    assert tip[2] @ (0, 0, 1) > 0.999


def test_an_end_moment_rolls_a_beam_into_a_circle():
    """a = M L/(E I) = pi: tip at (0, 2 L/pi), 2 pi: at the start; the curvature is constant, the order above four."""
    gaps = []
    for n in (12, 24):
        places = bent_beams.rolled(n)
        half, whole = places[2][-1], places[-1][-1]
        gaps.append((np.linalg.norm(half[0] - (0, 0, 20 / np.pi)), np.linalg.norm(whole[0])))
        assert half[3] == pytest.approx((-1, 0, 0), abs=0.01) and whole[3] == pytest.approx((1, 0, 0), abs=0.06)
    assert gaps[0][0] > 2**4 * gaps[1][0] and gaps[0][1] > 2**4 * gaps[1][1]


def tip_of(found: ph.Modes) -> np.ndarray:
    """Place and axes of the tip about which it vibrates."""
    return found.state[found.system.block("q of 'arm.end'")].reshape(4, 3)


@pytest.mark.parametrize("load", [1.0, 10.0])
def test_elastica(load):
    """`modes` finds the place of rest, too, and comes nearer to the elastica with more elements."""
    gaps, exact = [], bent_beams.elastica(load)
    for n in (8, 16):
        model = loaded(load, n)
        found = ph.modes(model)
        gaps.append(np.abs(bent_beams.tip(tip_of(found)) - exact))
        assert found.stable
    assert np.all(gaps[1] < 0.003) and np.all(gaps[0] > 2.5 * gaps[1])
    assert at_rest(model, increments=4)[-1][-1] == pytest.approx(tip_of(found), abs=1e-9)


def test_arcs():
    """The bend of Bathe and Bolourchi: its length, its nodes, and no load in the arc itself."""
    model = bent_beams.bend(6)
    (beam,), system = model.beams, model.assemble()
    assert beam.length == pytest.approx(25 * np.pi)
    assert beam.nodes[3].position == pytest.approx(bent_beams.on_arc(np.pi / 8))
    assert np.abs(system.gradV(system.initial_state()[: system.n])).max() < 1e-7


def test_frequencies_are_of_order_two_in_the_number_of_elements():
    found = [bent_beams.slender(n) for n in (10, 20, 40)]
    order = np.log2((found[0] - found[1]) / (found[1] - found[2]))
    assert order == pytest.approx(np.full(4, 2.0), abs=0.1)


def test_a_free_beam_has_six_motions_without_frequency_and_damping_by_the_rate_of_strain():
    model = ph.Model("free")
    model.beam("arm", BLADE, (0, 0, 0), (1, 0, 0), elements=16)
    found = ph.modes(model).angular_frequencies
    assert np.all(found[:12] == 0.0)  # each is a double eigenvalue: at rest, and in uniform motion
    assert found[12] == pytest.approx(
        4.730041**2 * np.sqrt(BLADE.turning_stiffness[0] / BLADE.mass_per_length), rel=0.015
    )
    damped = ph.modes(cantilever(8, BLADE, damping=1e-4))
    assert damped.damping[:4] == pytest.approx(0.5e-4 * damped.angular_frequencies[:4], rel=1e-3)  # omega tau/2


def spaghetti(n=10) -> ph.Model:
    """Simo and Vu-Quoc's beam in free flight in space, thrown by a force and a torque at its lower end."""
    model = ph.Model("spaghetti")
    model.beam("arm", section(500.0, inertia=10.0), (6, 0, 0), (0, 8, 0), elements=n)
    table = ph.Table((0, 2.5, 5.0), ((0, 0, 0), (20, 0, 0), (0, 0, 0)))
    turning = ph.Table((0, 2.5, 5.0), ((0, 0, 0), (0, 100, 200), (0, 0, 0)))
    model.load("throw", "arm.start", force=table, torque=turning)
    return model


@pytest.mark.parametrize(
    "scheme", [ph.Midpoint(), ph.MidpointGGL(), ph.Composition(ph.MidpointGGL(), order=4), ph.Livens()]
)
def test_free_flight_keeps_energy_and_momenta(scheme):
    run = ph.simulate(spaghetti(), scheme, step=0.1, end=8.0, progress=False)
    free = run.t > 5.05
    assert np.abs(run.beam("arm").curvature).max() > 0.2  # it is bent by more than a radian
    assert np.ptp(run.energy[free]) < 1e-11 * run.energy[-1]
    assert np.abs(run.power_balance).max() < 1e-11 * run.energy[-1]
    assert run.linear_momentum[free] == pytest.approx(np.tile((50, 0, 0), (free.sum(), 1)), abs=1e-10)
    L = run.angular_momentum[free]
    assert np.abs(L - L[0]).max() < 1e-11 * np.linalg.norm(L[0])
    assert run.position_error.max() < 1e-11


def test_order_in_time():
    ends = [
        ph.simulate(spaghetti(2), ph.MidpointGGL(), step=h, end=1.0, progress=False)["arm.end"].position[-1]
        for h in (0.002, 0.001, 0.0005)
    ]
    first, second = (np.linalg.norm(b - a) for a, b in pairwise(ends))
    assert np.log2(first / second) == pytest.approx(2.0, abs=0.1)


def test_other_schemes_reach_the_same_place():
    """Gauss's method with all coordinates as states, which knows nothing of the reduced steps."""
    reference = ph.simulate(spaghetti(2), ph.Composition(ph.MidpointGGL(), order=4), step=0.05, end=0.5, progress=False)
    run = ph.simulate(spaghetti(2), ph.Gauss(2), step=0.05, end=0.5, progress=False)
    assert run["arm.end"].position[-1] == pytest.approx(reference["arm.end"].position[-1], abs=1e-4)


def test_forces_and_moments_of_a_beam(tmp_path):
    """Those of a cantilever under its weight, against its clamp; all of it survives a file."""
    model = ph.Model("arm", gravity=(0, 0, -9.81))
    model.beam("arm", BLADE, (0, 0, 0), (1, 0, 0), a="ground", elements=10, damping=0.01)
    run = ph.simulate(model, ph.Midpoint(), step=0.01, end=2.0, progress=False)
    beam, weight = run.beam("arm"), BLADE.mass_per_length * 9.81
    middle = (beam.arc_length[1:] + beam.arc_length[:-1]) / 2
    assert beam.position.shape == (201, 11, 3) and beam.rotation.shape == (201, 11, 3, 3)
    force, moment = beam.force[-2:].mean(axis=0), beam.moment[-2:].mean(axis=0)  # what is stiff alternates
    assert force[:, 1] == pytest.approx(-weight * (1 - middle), rel=1e-3)  # axis 2 is up
    assert moment[:, 0] == pytest.approx(weight * ((1 - middle) ** 2 / 2 + 0.05**2 / 2), rel=1e-3)
    assert beam.curvature[-2:].mean(axis=0)[:, 0] * BLADE.turning_stiffness[0] == pytest.approx(moment[:, 0], rel=1e-3)
    assert beam.strain[-2:].mean(axis=0)[:, 1] * BLADE.stiffness[1] == pytest.approx(force[:, 1], rel=1e-3)
    reaction = run.joint("arm.start.clamp").force[-2:].mean(axis=0)
    assert reaction == pytest.approx((0, 0, weight), abs=1e-3 * weight)
    assert beam.energy == pytest.approx(run.stored_energy) and beam.dissipated == pytest.approx(run.dissipated_energy)
    again = ph.load(run.save(tmp_path / "arm.nc"))
    assert np.array_equal(again.beam("arm").moment, beam.moment)
    with pytest.raises(ph.PorthosError, match=r"has no beam 'arn'.*'arm'"):
        run.beam("arn")


def test_beams_are_drawn_as_they_bend(tmp_path):
    """A prism through all nodes in films and VTK, a line in figures, links in reports; no nodes are seen."""
    model = cantilever(6, section(EI=2.0, GA=1e4, EA=1e4, inertia=1e-3), 1.0)
    model.load("P", "arm.end", force=(0, 0, 4.0))
    run = ph.simulate(model, ph.Midpoint(), step=0.02, end=0.4, progress=False)
    scene = scene_of(run)
    assert [link.form for link in scene.links] == ["beam"] * 6
    assert not {solid.group for solid in scene.solids if solid.part >= 0} - {"joints"}
    surface, line = Surface(run, scene), run.beam("arm").position
    assert np.abs(line[-1, :, 2]).max() > 0.2
    points = surface.points(run.t.size - 1)
    gaps = np.linalg.norm(points[:, None] - line[-1], axis=2)
    reach = np.linalg.norm(np.reshape(scene.links[0].outline, (-1, 2)), axis=1).max()
    assert gaps.min(axis=0).max() < 1.01 * reach  # corners around each node
    assert gaps.min(axis=1).max() < 0.5 / 6 + 1.01 * reach  # and nothing elsewhere
    normals = np.cross(*np.diff(points[surface.triangles], axis=1).transpose(1, 0, 2))
    assert np.einsum("ij,ij->", normals, points[surface.triangles].mean(axis=1)) > 0.0  # they point outwards
    run.export(tmp_path / "arm.pvd")
    assert len(list((tmp_path / "arm").glob("*.vtp"))) == 21
    page = run.report(tmp_path / "arm.html").read_text(encoding="utf-8")
    assert "given by its inertia" not in page and "<h3>Beams</h3>" in page
    assert "arm.energy" in page and "arm.end.position" in page and "arm.3.position" not in page
    assert run.plot("arm.energy").axes[0].lines[0].get_ydata() == pytest.approx(run.stored_energy)
    figure = figures.motion(run, times=(0.0, 0.4))
    assert [text.get_text() for ax in figure.axes for text in ax.texts] == [] and figure.axes[0].lines


def test_a_beam_moves_with_what_holds_it():
    model = ph.Model("turning")
    model.body("hub", ph.Cylinder(1.0, 0.1, 0.1), velocity=(1, 0, 0), angular_velocity=(0, 0, 3))
    held = model.beam("arm", BLADE, (0.1, 0, 0), (1.1, 0, 0), a="hub", elements=4)
    assert held.nodes[-1].velocity == pytest.approx((1, 3.3, 0)) and held.nodes[2].angular_velocity[2] == 3.0
    assert not model.assemble().adjustments
    own = model.beam("own", BLADE, (0, 0, 1), (0, 0, 2), elements=2, angular_velocity=(1, 0, 0))
    assert own.nodes[1].velocity == pytest.approx((0, -0.5, 0))


def machine() -> ph.Model:
    """All kinds of sections, ends on bodies, ground, other beams and joints; parts in mixed order."""
    model = ph.Model("machine", gravity=(0, 0, -9.81))
    model.beam("mast", ph.PipeSection(outer_radius=0.05, inner_radius=0.04, **STEEL), (0, 0, 0), (0, 0, 2), a="ground")
    model.body("hub", ph.Cylinder(1.0, 0.1, 0.1), position=(0, 0, 2.1))
    model.revolute("bearing", "mast.end", "hub", at=(0, 0, 2), axis=(0, 0, 1))
    model.beam("arm", BLADE, (0, 0, 2.1), (1, 0, 2.1), a="hub", elements=5, up=(0, 1, 0), damping=1e-3)
    model.beam("stay", ph.CircularSection(radius=0.002, **STEEL), (0, 0, 2), (1, 0, 2.1), "mast.end", "arm.end", 3)
    model.beam("bow", section(), (3, 0, 0), (4, 0, 0), via=(3.5, 0, 0.5), elements=12, velocity=(0, 1, 0))
    model.spring("string", "bow.start", "bow.end", (3, 0, 0), (4, 0, 0), stiffness=10.0)
    model.load("push", "arm.end", force=(0, 1, 0))
    return model


def test_files(tmp_path):
    """A beam is one entry; the model comes back as it was, part by part and number by number."""
    model = machine()
    text = to_yaml(model)
    again = ph.load_model(model.save(tmp_path / "machine.yaml"))
    assert to_yaml(again) == text and "mast.1" not in text and ".clamp" not in text
    first, second = model.assemble(), again.assemble()
    assert first.body_names == second.body_names and first.element_names == second.element_names
    assert first.joint_names == second.joint_names and first.description == second.description
    assert np.array_equal(first.initial_state(), second.initial_state())
    changed = ph.load_model(tmp_path / "machine.yaml", {"beam.arm.elements": 7, "beams.mast.young": 7e10})
    assert len(changed.beams[1].nodes) == 8
    assert changed.beams[0].section.stiffness[2] == pytest.approx(model.beams[0].section.stiffness[2] / 3)
    forms = json_schema({})["properties"]["beams"]["additionalProperties"]["oneOf"]
    assert [form["properties"]["section"]["const"] for form in forms] == ["rectangle", "circle", "pipe", "numbers"]
    assert {"start", "end", "section", "radius", "young"} <= set(forms[1]["required"])
    json.dumps(first.description)


def test_diagram_shows_beams_as_parts():
    found = machine().diagram()
    text = str(found)
    assert "machine: 1 body, 4 beams, 5 joints, 1 force element" in text and "mast.1" not in text
    assert "arm.start.clamp (fixed, 6 rows) ── arm" in text and not found.loops
    assert "stay.start.clamp (fixed, 6 rows) ── mast  (again)" in text
    assert '(["mast"])' in found.mermaid


def test_commands_speak_of_beams(tmp_path):
    path = tmp_path / "pole.yaml"
    model = cantilever(4, BLADE)
    model.save(path)
    assert "cantilever: 1 beam, 1 joint" in CliRunner().invoke(app, ["check", str(path)]).stdout
    told = CliRunner().invoke(app, ["modes", str(path)]).stdout
    assert "moves 'arm'\n" in told and "arm.1" not in told


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"elements": 0}, "elements: expected a whole number from 1 to 10000, found 0"),
        ({"elements": 2.5}, "elements: expected a whole number"),
        ({"end": (0, 0, 0)}, r"expected an end away from the start, found both at \[0.0, 0.0, 0.0\]"),
        ({"up": (1, 0, 0)}, "up: expected a direction across the beam"),
        ({"via": (0.5, 0, 0)}, "via: expected a point beside the line"),
        ({"via": (0.5, 0.5, 0), "elements": 2}, "elements: expected at least 11 for an arc of 180 degrees, found 2"),
        ({"damping": -1.0}, "damping: expected a number >= 0 in SI units"),
        ({"section": 3}, "section: expected a cross-section, found 3"),
        ({"a": "hup"}, "found no body 'hup'"),
        ({"name": "mast"}, "the name 'mast.start' is taken"),
    ],
)
def test_bad_beams(change, message):
    model = ph.Model("m")
    model.body("mast.start", ph.Sphere(1.0, 0.1))
    given = {"name": "arm", "section": BLADE, "start": (0, 0, 0), "end": (1, 0, 0)} | change
    with pytest.raises(ph.ModelError, match=message):
        model.beam(**given)
    assert not model.beams and len(model.bodies) == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ph.RectangularSection(width=0, height=1, **STEEL), "RectangularSection: width: expected a positive"),
        (lambda: ph.CircularSection(radius=1, young=1, poisson=0.6, density=1), "poisson: expected a number above -1"),
        (lambda: ph.PipeSection(outer_radius=1, inner_radius=1, **STEEL), "inner_radius: expected less than"),
        (lambda: section(EI=-1.0), "Section: turning_stiffness: expected a positive"),
        (lambda: ph.Section(stiffness=(1, 1, 1), turning_stiffness=(1, 1, 1), mass_per_length=1,
                            inertia_per_length=(1, 1, 3)), "triangle inequality"),
    ],
)  # fmt: skip
def test_bad_sections(make, message):
    with pytest.raises(ph.ModelError, match=message):
        make()


def test_files_with_mistakes(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text("beams:\n  arm: {section: circle, radios: 1, young: 1, poisson: 0, density: 1}\n")
    with pytest.raises(ph.ModelFileError, match=r"line 2: beam 'arm': 'circle' has no key 'radios'.*radius"):
        ph.load_model(path)
    path.write_text("beams:\n  arm: {section: disc, radius: 1}\n")
    with pytest.raises(ph.ModelFileError, match="found no section 'disc'"):
        ph.load_model(path)


def test_assembly_does_not_tear_beams():
    """Closing an open joint, or the rate of a joint, would move one end alone."""
    model = ph.Model("rough")
    model.body("hub", ph.Sphere(1.0, 0.1), position=(0.3, 0, 0))
    model.revolute("bearing", "ground", "hub", at=(0, 0, 0), at_b=(0.3, 0.1, 0), axis=(0, 0, 1), rough=True)
    model.beam("arm", BLADE, (0.3, 0, 0), (1, 0, 0), a="hub", elements=4)
    with pytest.raises(ph.ModelError, match="beam 'arm': expected joints that are closed"):
        model.assemble()
    model = ph.Model("turning")
    model.body("hub", ph.Sphere(1.0, 0.1))
    model.revolute("bearing", "ground", "hub", at=(0, 0, 0), axis=(0, 0, 1), rate=3.0)
    model.beam("arm", BLADE, (0, 0, 0), (1, 0, 0), a="hub", elements=4)
    with pytest.raises(ph.ModelError, match="beam 'arm': expected the velocity that the rate of a joint gives"):
        model.assemble()
