"""Force elements given in the frames of their bodies, and lengths at rest that belong to the assembled mechanism."""

import numpy as np
import pytest

import porthos as ph
from porthos.errors import ModelError
from porthos.model.bodies import rotation_matrix

POSES = {"a": ((0.1, -0.2, 0.3), ((1, 2, 3), 0.7)), "b": ((0.9, 0.1, 0.2), ((3, -1, 2), 1.1))}
POINT_A, POINT_B = np.array([0.2, 0.05, 0.0]), np.array([-0.1, 0.1, 0.05])


def flyer():
    model = ph.Model("flyer")
    for name, (position, rotation) in POSES.items():
        model.body(name, ph.Box(1.0, (0.4, 0.2, 0.1)), position=position, rotation=rotation, velocity=(0, 0.3, 0.1))
    return model


def world(body, point):
    position, rotation = POSES[body]
    return np.asarray(position) + rotation_matrix(rotation) @ point


PULLS = {
    "spring": {"stiffness": 30.0},
    "damper": {"damping": 2.0},
    "attraction": {"strength": 1.0},
    "potential": {"energy": "(s - 1)**2", "between": (0.1, 3.0)},
}


@pytest.mark.parametrize("kind", PULLS)
def test_points_in_frames_of_bodies_are_the_same_points(kind, tmp_path):
    ends = []
    for frame, points in (("body", (POINT_A, POINT_B)), ("world", (world("a", POINT_A), world("b", POINT_B)))):
        model = flyer()
        getattr(model, kind)("e", "a", "b", *points, **PULLS[kind], frame=frame)
        again = ph.load_model(model.save(tmp_path / "m.yaml"))
        for one in (model, again):
            ends.append(ph.simulate(one, ph.Midpoint(), 0.01, 0.1).q[-1])
    assert max(np.abs(end - ends[0]).max() for end in ends) < 1e-13
    assert np.array_equal(ends[2], ends[3])


def test_a_bushing_has_the_axes_of_its_first_body(tmp_path):
    """Stiff along one axis of the first body: the same as with that axis in world coordinates."""
    given = {"stiffness": (50, 90, 0), "turning_stiffness": (1, 0, 3), "damping": (0, 0, 1)}
    R_a, R_b = (rotation_matrix(POSES[name][1]) for name in "ab")
    one = flyer()
    one.bushing("e", "a", "b", POINT_A, **given, at_b=POINT_B, rotation_b=R_b.T @ R_a, frame="body")
    two = flyer()
    two.bushing("e", "a", "b", world("a", POINT_A), **given, at_b=world("b", POINT_B), axes=R_a)
    three = ph.load_model(one.save(tmp_path / "m.yaml"))
    ends = [ph.simulate(model, ph.Midpoint(), 0.01, 0.2).q[-1] for model in (one, two, three)]
    assert np.abs(ends[0] - ends[1]).max() < 1e-12
    assert np.abs(ends[0] - ends[2]).max() < 1e-12
    assert np.abs(ends[0] - ph.simulate(flyer(), ph.Midpoint(), 0.01, 0.2).q[-1]).max() > 1e-4
    with pytest.raises(ModelError, match="bushing 'e': at_b: expected its point in the frame of 'b', found none"):
        flyer().bushing("e", "a", "b", POINT_A, **given, frame="body")


def rough(length=None):
    """Two bars that are placed anywhere, to be hinged to an L; a spring joins their ends."""
    model = ph.Model("L")
    model.body("a", ph.Box(1.0, (1.0, 0.1, 0.1)), position=(0.5, 0, 0))
    model.body("b", ph.Box(1.0, (1.0, 0.1, 0.1)), position=(4, 3, 2))
    model.fixed("weld", "ground", "a", at=(0, 0, 0))
    turn = ((0, 0, 1), -np.pi / 2)  # b stands upright on a
    model.fixed("corner", "a", "b", at=(0.5, 0, 0), at_b=(-0.5, 0, 0), rotation_b=turn, frame="body")
    model.spring("strut", "a", "b", (-0.5, 0, 0), (0.5, 0, 0), stiffness=100.0, length=length, frame="body")
    return model


def test_the_length_at_rest_is_that_where_joints_are_closed(tmp_path):
    model = rough()
    for one in (model, ph.load_model(model.save(tmp_path / "m.yaml"))):
        run = ph.simulate(one, ph.Midpoint(), 0.01, 0.01)
        strut = run.element("strut")
        assert strut.measure == pytest.approx(np.sqrt(2.0), abs=1e-12)
        assert np.abs(strut.force).max() < 1e-9 and np.abs(strut.energy).max() < 1e-12
        assert run.system.description["elements"][0]["length"] == pytest.approx(np.sqrt(2.0))
    given = ph.simulate(rough(1.0), ph.Midpoint(), 0.01, 0.01)
    assert given.element("strut").force == pytest.approx(100.0 * (np.sqrt(2.0) - 1.0))


def test_points_may_meet_at_a_rough_placement_but_not_where_joints_are_closed():
    model = ph.Model("pile")
    model.body("a", ph.Box(1.0, (1.0, 0.1, 0.1)))
    model.body("b", ph.Box(1.0, (1.0, 0.1, 0.1)))
    model.fixed("weld", "ground", "a", at=(0, 0, 0))
    model.spherical("ball", "a", "b", at=(0.5, 0, 0), at_b=(-0.5, 0, 0), frame="body")
    model.spring("centres", "a", "b", (0, 0, 0), (0, 0, 0), stiffness=1.0, frame="body")
    assert model.assemble().elements.mech.law.rest[0] == pytest.approx(1.0, abs=0.5)
    model.damper("pin", "a", "b", (0.5, 0, 0), (-0.5, 0, 0), damping=1.0, frame="body")
    with pytest.raises(ModelError, match="damper 'pin': expected two points with a distance"):
        model.assemble()
    with pytest.raises(ModelError, match="spring 'same': expected two points with a distance"):
        model.spring("same", "a", "b", (0, 0, 0), (0, 0, 0), stiffness=1.0)
    with pytest.raises(ModelError, match="spring 's': frame: expected 'world' or 'body', found 'a'"):
        model.spring("s", "a", "b", (0, 0, 0), (1, 0, 0), stiffness=1.0, frame="a")
