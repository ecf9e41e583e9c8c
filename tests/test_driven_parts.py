"""Mechanisms with drives where they stand still, in modes, and as parts of connected systems."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import porthos as ph
from porthos.cli.app import app
from porthos.system.check import precise_jacobian

G = 9.81


# --- vibrations about a state in which drives hold their value


def hoist(length):
    """A ball on a rope that a winch lets out."""
    model = ph.Model("hoist", gravity=(0, 0, -G))
    model.point_mass("ball", 2.0, position=(0, 0, -1))
    model.length_drive("winch", model.ground, "ball", (0, 0, 0), (0, 0, -1), length=length)
    return model


@pytest.mark.parametrize(("time", "length"), [(0.0, 1.0), (0.5, 3.0), (7.5, 3.0)])
def test_a_rope_swings_with_the_length_that_it_has(time, length):
    modes = ph.modes(hoist(ph.Expression("2 - cos(2*pi*t)")), time=time)
    assert modes.angular_frequencies == pytest.approx([np.sqrt(G / length)] * 2, rel=1e-9)
    assert modes.state[:3] == pytest.approx([0, 0, -length], abs=1e-9)


def test_where_a_drive_moves_there_are_no_modes():
    model = hoist(ph.Expression("2 - cos(2*pi*t)"))
    with pytest.raises(ph.PorthosError, match=r"at t = 0\.25: .* found that 'winch' moves with 6\.28319 m/s"):
        ph.modes(model, time=0.25)
    with pytest.raises(ph.PorthosError, match="modes: time: expected a number"):
        ph.modes(model, time="soon")


def tilting(angle, joint="turn"):
    """A bar that swings about an axis in a frame, which a motor tilts; or one that is fixed there."""
    model = ph.Model("tilting", gravity=(0, 0, -G))
    tilt = 0.0 if joint == "turn" else angle
    turned = ((0, 1, 0), tilt)
    down = np.array([-np.sin(tilt), 0, -np.cos(tilt)])
    model.body("frame", ph.Box(1.0, (0.4, 0.1, 0.1)), rotation=turned)
    model.body("bar", ph.Box(2.0, (0.1, 0.1, 1.0)), position=0.5 * down, rotation=turned)
    axis = (np.cos(tilt), 0, -np.sin(tilt))
    model.revolute("pin", "frame", "bar", (0, 0, 0), axis)
    model.torsion_spring("coil", "pin", stiffness=3.0, damping=0.1)
    if joint == "turn":
        model.revolute("bearing", "ground", "frame", (0, 0, 0), (0, 1, 0))
        model.turn_drive("motor", "ground", "frame", (0, 0, 0), (0, 1, 0), angle=angle)
    else:
        model.fixed("bearing", "ground", "frame", (0, 0, 0))
    return model


INERTIA = 2.0 * (0.01 + 1.0) / 12 + 2.0 * 0.25


@pytest.mark.parametrize("turned", [1.0, 4.0, -2.5, 13.0])
def test_a_tilted_hinge_is_that_of_a_frame_that_is_fixed(turned):
    """J s'' = -(m g l cos(tilt) + k) s - c s': also beyond half a turn, where a drive's row has a second zero."""
    modes = ph.modes(tilting(lambda t: turned * np.sin(t) ** 2), time=np.pi / 2)
    stiffness, damping = 2.0 * G * 0.5 * np.cos(turned) + 3.0, 0.1
    root = np.roots([INERTIA, damping, stiffness])
    wanted = root[np.lexsort((root.real, np.abs(root)))]
    wanted = wanted[wanted.imag >= 0]
    assert modes.eigenvalues == pytest.approx(wanted, rel=1e-7)
    assert modes.stable == (stiffness > 0.0)  # a bar that stands on its hinge stays there, and falls
    fixed = ph.modes(tilting(turned, "fixed"))
    assert modes.eigenvalues == pytest.approx(fixed.eigenvalues, rel=1e-9)
    frame = modes.state[modes.system.block("q of 'frame'")].reshape(4, 3)
    assert frame[1:] == pytest.approx(np.array([[np.cos(turned), 0, -np.sin(turned)], [0, 1, 0],
                                                [np.sin(turned), 0, np.cos(turned)]]), abs=1e-7)  # fmt: skip


def test_modes_of_driven_mechanisms_are_shown(tmp_path):
    """As a run, a report and in the command line; the drive is a joint there."""
    model = tilting(ph.Expression("sin(t)**2"))
    run = ph.modes(model, time=np.pi / 2).motion(0)
    assert run.report(tmp_path / "mode.html").stat().st_size > 1e5
    assert np.abs(run["frame"].angular_velocity).max() < 1e-9 < np.abs(run["bar"].angular_velocity).max()
    path = model.save(tmp_path / "tilting.yaml")
    for time in (0.0, np.pi / 2):
        found = CliRunner().invoke(app, ["modes", str(path), "--time", str(time), "--json"])
        told = json.loads(found.output)["modes"][0]["frequency"]
        assert told == pytest.approx(ph.modes(model, time=time).frequencies[0], rel=1e-12)
    found = CliRunner().invoke(app, ["modes", str(path), "--time", "0.3"])
    assert found.exit_code == 1 and "'motor' moves with" in found.output


def test_a_drive_that_cannot_get_there_is_told():
    model = ph.Model("reach", gravity=(0, 0, -G))
    model.point_mass("bob", 1.0, position=(0, 0, -1))
    model.distance("rod", "ground", "bob", (0, 0, 0), (0, 0, -1))
    model.length_drive("pull", "ground", "bob", (0, 0, 1), (0, 0, -1), length=ph.Expression("2 + sin(t)**2"))
    with pytest.raises(ph.PorthosError, match=r"found no configuration that joints and drives allow.*'pull' moved"):
        ph.modes(model, time=np.pi / 2)


# --- parts of connected systems


STIFFNESS, DAMPING = 5.0, 0.2
SIZES = {"crank": "0.8*sin(t)**2", "slide": "0.3*sin(2*t)**2", "rope": "1.2 + 0.2*sin(2*t)**2"}


def driven(kind, spring=False):
    """A bar that hangs from a part which is moved by a drive; a spring in its hinge, or a port for one."""
    model = ph.Model("driven", gravity=(0, 0, -G))
    if kind == "rope":
        model.body("part", ph.Box(1.0, (0.2, 0.2, 0.2)), position=(0, 0, -1.2))
        model.length_drive("drive", "ground", "part", (0, 0, 0), (0, 0, -1.2), length=ph.Expression(SIZES[kind]))
        top = np.array([0.0, 0, -1.3])
    else:
        model.body("part", ph.Box(1.0, (1.0, 0.1, 0.1)), position=(0.5, 0, 0))
        top = np.array([1.0, 0, 0])
    if kind == "crank":
        model.revolute("bearing", "ground", "part", (0, 0, 0), (0, 1, 0))
        model.turn_drive("drive", "ground", "part", (0, 0, 0), (0, 1, 0), angle=ph.Expression(SIZES[kind]))
    if kind == "slide":
        model.prismatic("bearing", "ground", "part", (0, 0, 0), (1, 0, 0))
        model.slide_drive("drive", "ground", "part", (0, 0, 0), (1, 0, 0), displacement=ph.Expression(SIZES[kind]))
    model.body("bar", ph.Box(1.0, (0.1, 0.1, 1.0)), position=top - [0, 0, 0.5])
    model.revolute("hinge", "part", "bar", top, (0, 1, 0))
    if spring:
        model.torsion_spring("coil", "hinge", stiffness=STIFFNESS, damping=DAMPING, angle=-0.3)
    else:
        model.joint_port("hand", "hinge")
    return model


def connected(kind):
    """The same spring as a pH system of its own."""
    coil = ph.LinearPHDAE("coil", J=np.zeros((1, 1)), Q=[[STIFFNESS]], B=[[1.0]], S=[[DAMPING]], states=["angle"],
                          ports=["rate"], initial=[0.3])  # fmt: skip
    return ph.interconnect(driven(kind).assemble(), coil, through=ph.Feedback("hand", "rate", name="loop"))


@pytest.mark.parametrize("kind", SIZES)
def test_derivatives_of_driven_mechanisms_are_right(kind):
    """Outputs of drives are forces, which depend on the configuration where the row of an angle does."""
    system, rng = driven(kind).assemble(), np.random.default_rng(3)
    x, u, t = system.initial_state() + 0.1 * rng.standard_normal(system.dimension), np.array([0.3, 0.7]), 0.4
    slope = precise_jacobian(lambda at: system.y(at, u, t), x)
    assert system.output_slope(x, u, t) == pytest.approx(slope, abs=1e-9 * np.abs(slope).max())
    whole = connected(kind)
    x = whole.initial_state() + 0.1 * rng.standard_normal(whole.dimension)
    u = whole.fed(t)
    slope = precise_jacobian(lambda at: whole.residual(at, np.zeros(whole.dimension), u, t), x)
    found = np.asarray(whole.tangent(x, np.zeros(whole.dimension), u, t))
    assert found == pytest.approx(slope, abs=1e-8 * np.abs(slope).max())
    assert whole.check().ok


@pytest.mark.parametrize("kind", SIZES)
@pytest.mark.parametrize("scheme", [ph.Gauss(2), ph.DiscreteGradient()], ids=repr)
def test_balances_of_connected_systems_with_drives_close(kind, scheme):
    """The work of the drive is in the balance of the whole and of the part; the loop keeps power."""
    run = ph.simulate(connected(kind), scheme, 0.01, 0.6)
    size = np.abs(run.raw.supply).sum()
    assert size > 0.2
    assert np.abs(run.power_balance).max() < 1e-11 * size
    part = run.part("driven")
    assert np.abs(part.power_balance).max() < 1e-11 * size
    assert part.port("drive").work[-1] == pytest.approx(run.raw.supply.sum(), rel=1e-12)


@pytest.mark.parametrize("kind", SIZES)
@pytest.mark.parametrize(("scheme", "order"), [(ph.Gauss(2), 4), (ph.RadauIIA(2), 3), (ph.DiscreteGradient(), 2)])
def test_a_connected_spring_is_a_spring_in_the_model(kind, scheme, order):
    """Positions converge to those of the mechanism that has the spring itself, stepped by another scheme."""
    exact = ph.simulate(driven(kind, spring=True), ph.Composition(ph.MidpointGGL(), order=6), 0.005, 0.6)
    errors = []
    for h in (0.02, 0.01):
        run = ph.simulate(connected(kind), scheme, h, 0.6).part("driven")
        errors.append(np.abs(run["bar"].position[-1] - exact["bar"].position[-1]).max())
    assert np.log2(errors[0] / errors[1]) > order - 0.4
    assert errors[1] < {2: 2e-3, 3: 1e-3, 4: 1e-5}[order]


def test_drives_and_loads_wait_for_no_input():
    """Their inputs are functions of time already."""
    model = driven("crank")
    model.load("push", "bar", force=(1.0, 0, 0))
    coil = ph.LinearPHDAE("coil", J=np.zeros((1, 1)), Q=[[1.0]], B=[[1.0]], ports=["rate"], initial=[0.0])
    with pytest.raises(
        ph.StructureError, match="expected a port that waits for its input, found 'drive', a load or dr"
    ):
        ph.interconnect(model.assemble(), coil, through=ph.Feedback("drive", "rate"))
