"""Flexible beams against analytic solutions: bending, elastica, arcs, vibrations, balances; and their files."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc
from typer.testing import CliRunner

import porthos as ph
from porthos.cli.app import app
from porthos.model.modelfile import to_yaml
from porthos.model.schema import json_schema
from porthos.show import figures
from porthos.show.meshes import Surface
from porthos.show.scene import scene_of

STEEL = {"young": 2.1e11, "poisson": 0.3, "density": 7850.0}
BLADE = ph.RectangularSection(width=0.02, height=0.01, **STEEL)


def section(EI=500.0, GA=1e4, EA=1e4, GJ=None, mass=1.0, inertia=1.0) -> ph.Section:
    """The same in both directions."""
    return ph.Section(
        stiffness=(GA, GA, EA),
        turning_stiffness=(EI, EI, EI if GJ is None else GJ),
        mass_per_length=mass,
        inertia_per_length=(inertia, inertia, 2 * inertia),
    )


def cantilever(n: int, what: ph.Section, length=1.0, **more) -> ph.Model:
    model = ph.Model("cantilever")
    model.beam("arm", what, (0, 0, 0), (length, 0, 0), a="ground", elements=n, **more)
    return model


def at_rest(model: ph.Model, u=None, increments=1) -> list[np.ndarray]:
    """Place and axes (4, 3) of the tip where forces balance, after each share of the load, by Newton's method."""
    system = model.assemble()
    full = system.fed(0.0) if u is None else np.array([u])
    q, lam, found = system.initial_state()[: system.n], np.zeros(system.m), []
    for share in np.linspace(0.0, 1.0, increments + 1)[1:]:
        for _ in range(50):
            G = system.G(q)
            K = system.G_stiffness(lam) - system.force_tangent(q, np.zeros(system.n), share * full)[0]
            left = np.concatenate([system.gradV(q) - system.Bt(q) @ (share * full) + G.T @ lam, system.g(q)])
            step = np.linalg.solve(sparse.block_array([[K, G.T], [G, None]]).toarray(), left)
            q, lam = q - step[: system.n], lam - step[system.n :]
            if np.abs(step[: system.n]).max() < 1e-11:
                break
        else:
            raise AssertionError(f"no place of rest at {share:.3f} of the load")
        found.append(system.to_kernel(q)[system.body_index("arm.end")])
    return found


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
        assert at_rest(model)[0][0] - (L, 0, 0) == pytest.approx(expected, abs=1e-5 * P)
    model = cantilever(n, what, L)
    model.load("P", "arm.end", force=(P, 0, 0), torque=(P, 0, 0))
    (tip,) = at_rest(model)
    assert tip[0] == pytest.approx((L + P * L / 7e3, 0, 0), abs=1e-11)
    assert tip[1] @ (0, 0, 1) == pytest.approx(P * L / 300.0, rel=1e-6)  # axis 1, at first along y, turns towards z
    assert tip[2] @ (0, 0, 1) > 0.999


def rolled(n: int) -> list[np.ndarray]:
    model = cantilever(n, section(), 10.0)
    model.port("M", "arm.end", kind="torque", direction=(0, -1, 0))
    return at_rest(model, 100 * np.pi, 6)


def test_an_end_moment_rolls_a_beam_into_a_circle():
    """a = M L/(E I) = pi: tip at (0, 2 L/pi), 2 pi: at the start; the curvature is constant, the order above four."""
    gaps = []
    for n in (12, 24):
        places = rolled(n)
        half, whole = places[2], places[-1]
        gaps.append((np.linalg.norm(half[0] - (0, 0, 20 / np.pi)), np.linalg.norm(whole[0])))
        assert half[3] == pytest.approx((-1, 0, 0), abs=0.01) and whole[3] == pytest.approx((1, 0, 0), abs=0.06)
    assert gaps[1][0] < 3e-5 and gaps[1][1] < 2e-3
    assert gaps[0][0] > 2**4 * gaps[1][0] and gaps[0][1] > 2**4 * gaps[1][1]


def tip_of(found: ph.Modes) -> np.ndarray:
    """Place and axes of the tip about which it vibrates."""
    return found.state[found.system.block("q of 'arm.end'")].reshape(4, 3)


def elastica(load: float) -> tuple[float, float, float]:
    """Deflection, shortening and angle of the tip for P L^2/(E I), by elliptic integrals."""

    def parts(k):
        lower = np.arcsin(1 / (k * np.sqrt(2)))
        return ellipk(k**2) - ellipkinc(lower, k**2), ellipe(k**2) - ellipeinc(lower, k**2)

    k = brentq(lambda k: parts(k)[0] - np.sqrt(load), np.sqrt(0.5) + 1e-12, 1 - 1e-12)
    root, sine = np.sqrt(load), 2 * k**2 - 1
    return 1 - 2 * parts(k)[1] / root, 1 - np.sqrt(2 * sine) / root, np.arcsin(sine)


@pytest.mark.parametrize("load", [1.0, 10.0])
def test_elastica(load):
    """A dead load at the tip of a beam that neither stretches nor shears; `modes` finds the same place of rest."""
    known = {1.0: (0.3017208, 0.0564332, 0.4613519), 10.0: (0.8106090, 0.5549956, 1.4302855)}[load]
    assert elastica(load) == pytest.approx(known, abs=1e-7)
    gaps = []
    for n in (8, 16):
        model = cantilever(n, section(EI=1.0, GA=1e7, EA=1e7, inertia=1e-4))
        model.load("P", "arm.end", force=(0, 0, load))
        found = ph.modes(model)
        q = tip_of(found)
        gaps.append(np.abs(np.array([q[0, 2], 1 - q[0, 0], np.arctan2(q[3, 2], q[3, 0])]) - elastica(load)))
        assert found.stable
    assert np.all(gaps[1] < 0.003) and np.all(gaps[0] > 2.5 * gaps[1])
    if load == 1.0:
        assert at_rest(model, increments=4)[-1][0] == pytest.approx(q[0], abs=1e-9)


def test_bend_of_45_degrees():
    """An arc in a plane, loaded across it: bending, shear and torsion at once (Bathe and Bolourchi's bend)."""
    what = ph.Section(
        stiffness=(5e6, 5e6, 1e7), turning_stiffness=(1e7 / 12, 1e7 / 12, 5e6 / 6), mass_per_length=1.0,
        inertia_per_length=(1 / 12, 1 / 12, 1 / 6),
    )  # fmt: skip

    def on_arc(angle):
        return 100 * np.sin(angle), 100 * (1 - np.cos(angle)), 0.0

    tips = []
    for n in (6, 12):
        model = ph.Model("bend")
        beam = model.beam("arm", what, on_arc(0), on_arc(np.pi / 4), a="ground", via=on_arc(0.3), elements=n)
        assert beam.length == pytest.approx(25 * np.pi)
        assert beam.nodes[n // 2].position == pytest.approx(on_arc(np.pi / 8))
        model.load("P", "arm.end", force=(0, 0, 300))
        system = model.assemble()
        assert np.abs(system.gradV(system.initial_state()[: system.n])).max() < 1e-7  # no load in the arc itself
        tips.append(at_rest(model, increments=12)[-1][0])
    reference = np.array([58.77912, 22.24478, 40.19189])
    assert tips[1] == pytest.approx(reference, abs=0.3)
    assert (4 * tips[1] - tips[0]) / 3 == pytest.approx(reference, abs=0.015)


def test_frequencies_of_a_slender_cantilever():
    """(beta L)^2 sqrt(E I/m)/L^2 of Euler and Bernoulli in both directions, of order two in the number of elements."""
    beta, EI = np.array([1.875104, 4.694091]), np.array([1.0, 4.0])
    what = ph.Section(
        stiffness=(2e5, 2e5, 1e5), turning_stiffness=(*EI, 1.0), mass_per_length=1.0,
        inertia_per_length=(5e-6, 5e-6, 1e-5),
    )  # fmt: skip
    expected, gaps = np.sort((np.sqrt(EI[:, None]) * beta**2).ravel()), []
    for n in (10, 20, 40):
        gaps.append(ph.modes(cantilever(n, what)).angular_frequencies[:4] / expected - 1)
    assert np.abs((4 * gaps[2] - gaps[1]) / 3).max() < 6e-4  # shear and rotary inertia, which the formula leaves out
    order = np.log2((gaps[0] - gaps[1]) / (gaps[1] - gaps[2]))
    assert order == pytest.approx(np.full(4, 2.0), abs=0.1)


def test_frequencies_of_a_thick_beam_on_two_supports():
    """Timoshenko: rho I omega^4 - (m k G A/... ) has a closed form if both ends are hinged; both branches are found."""
    EI, GA, m, inertia, L = 3.0, 40.0, 2.0, 0.3, 1.0
    k = np.pi / L
    a, b, c = m * inertia, m * (GA + EI * k**2) + inertia * GA * k**2, GA * EI * k**4
    expected = np.sqrt((b + np.array([-1, 1]) * np.sqrt(b**2 - 4 * a * c)) / (2 * a))
    model = ph.Model("hinged")
    model.beam("arm", section(EI, GA, 1e3, mass=m, inertia=inertia), (0, 0, 0), (L, 0, 0), elements=32)
    model.revolute("left", "ground", "arm.start", at=(0, 0, 0), axis=(0, 1, 0))
    model.point_on_line("right", "ground", "arm.end", at=(L, 0, 0), axis=(1, 0, 0))
    found = ph.modes(model).angular_frequencies
    assert [found[np.abs(found - one).argmin()] for one in expected] == pytest.approx(expected, rel=2e-3)


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


def test_a_falling_beam_against_exudyn():
    """A beam that swings down about a hinge. Exudyn 1.13.6 (beams in the plane, trapezoidal rule) has its tip at

    (-0.56825446, -0.82297780) with 16 elements and h = 1e-3, (-0.56850208, -0.82281030) with 32 and half the step.
    """
    theirs = (4 * np.array([-0.56850208, -0.82281030]) - (-0.56825446, -0.82297780)) / 3
    ours = []
    for n, h in ((16, 1e-3), (32, 5e-4)):
        model = ph.Model("falling", gravity=(0, -9.81, 0))
        model.beam("arm", section(EI=5.0, GA=4e4, EA=1e5, inertia=1e-3), (0, 0, 0), (1, 0, 0), elements=n)
        model.revolute("hinge", "ground", "arm.start", at=(0, 0, 0), axis=(0, 0, 1))
        ours.append(ph.simulate(model, ph.Midpoint(), step=h, end=0.6, progress=False)["arm.end"].position[-1, :2])
    assert (4 * ours[1] - ours[0]) / 3 == pytest.approx(theirs, abs=2e-5)


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
        ({"damping": -1.0}, "damping: expected a number >= 0"),
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
