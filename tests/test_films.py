"""Meshes of solids, surfaces over time for VTK, films."""

import base64
import shutil
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from imageio_ffmpeg import count_frames_and_secs
from PIL import Image

import porthos as ph
from porthos.results.run import nearest_states
from porthos.show.meshes import Surface, mesh, refined
from porthos.show.movie import Camera, Film
from porthos.show.scene import scene_of
from tests.rocker import rocker
from tests.swing import swing

CIRCLE = 24 / 2 * np.sin(2 * np.pi / 24)  # area of the polygon in place of a unit circle, pi for a true one
MESHES = {
    "box": ((1.0, 2.0, 3.0), 6.0),
    "cylinder": ((2.0, 3.0), CIRCLE * 12),
    "cone": ((2.0, 3.0), CIRCLE * 4),
    "tube": ((2.0, 1.0, 3.0), CIRCLE * 9),
    "ellipsoid": ((1.0, 2.0, 3.0), 8 * np.pi),
    "rod": ((1.0, 3.0), 3 * np.pi + 4 / 3 * np.pi),
}


def volume(points, triangles):
    """By the divergence theorem: positive only if normals point outwards."""
    a, b, c = points[triangles].transpose(1, 0, 2)
    return float(np.einsum("ti,ti->", a, np.cross(b, c)) / 6)


@pytest.fixture(scope="module")
def run():
    """With names that are difficult for TeX and XML."""
    return swing("a $ swing", bar="bar & co", loads=False)


@pytest.mark.parametrize("kind", MESHES)
def test_meshes_are_closed_and_have_their_volume(kind):
    size, exact = MESHES[kind]
    points, triangles = mesh(kind, size)
    round_ones = kind in ("ellipsoid", "rod")
    assert volume(points, triangles) == pytest.approx(exact, rel=0.05 if round_ones else 1e-12)
    places = np.unique(points.round(9), axis=0, return_inverse=True)[1].reshape(-1)[triangles]
    edges = np.concatenate([places[:, [0, 1]], places[:, [1, 2]], places[:, [2, 0]]])
    there, back = ({tuple(e) for e in some.tolist()} for some in (edges, edges[:, ::-1]))
    assert there == back  # each edge has a neighbour on its other side
    assert len(there) == len(edges)


def test_coils_follow_the_ends_of_their_spring():
    run = rocker()
    surface = Surface(run, scene_of(run))
    coils = [k for k, solid in enumerate(surface.solids) if solid.kind == "coil"]
    coil = max(coils, key=lambda k: surface.solids[k].size[-1])  # the other one is around the hinge
    first = sum(len(mesh(solid.kind, solid.size)[0]) for solid in surface.solids[:coil])
    count, wire = len(mesh("coil", surface.solids[coil].size)[0]), surface.solids[coil].size[1]
    assert volume(*mesh("coil", surface.solids[coil].size)) > 0.0  # its normals point outwards
    place = run["lever"].point(np.array([0.1, 0.0, 0.0]))
    for frame in (0, 40, 100):
        points = surface.points(frame)[first : first + count]
        assert np.linalg.norm(points[:6].mean(axis=0) - (0.4, 0, 0)) < wire
        assert np.linalg.norm(points[-6:].mean(axis=0) - place[frame]) < wire


def test_refined_is_the_same_surface():
    points, triangles = refined(*mesh("box", (1.0, 2.0, 3.0)), 0.5)
    corners = points[triangles]
    assert np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2).max() <= 0.5
    assert volume(points, triangles) == pytest.approx(6.0)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert np.linalg.norm(normals, axis=1).sum() / 2 == pytest.approx(22.0)


def test_surface_moves_with_the_bodies(run):
    """The box of the bar keeps its form; velocities are differences of positions; the string ends at the bob."""
    surface = Surface(run, scene_of(run))
    first, second = surface.points(20), surface.points(22)
    bar = slice(0, 8)  # the first solid is the box
    np.testing.assert_allclose(
        first[bar], run["bar & co"].position[20] + (first[bar] - first[bar].mean(axis=0)), atol=1e-12
    )
    rate = (second - first)[bar] / (run.t[22] - run.t[20])
    np.testing.assert_allclose(surface.velocities(21)[bar], rate, atol=2e-3)
    string = first[-len(mesh("cylinder", (1.0, 1.0))[0]) :]
    ends = run["bar & co"].point((0.5, 0, 0))[20], run["bob"].position[20]
    np.testing.assert_allclose(string.mean(axis=0), np.mean(ends, axis=0), atol=1e-9)


def numbers(array):
    data = base64.b64decode(array.text)
    count = int(np.frombuffer(data[:8], "<u8")[0])
    assert count == len(data) - 8
    kind = {"Float32": "<f4", "Int32": "<i4"}[array.get("type")]
    return np.frombuffer(data[8:], kind).reshape(-1, int(array.get("NumberOfComponents")))


def test_vtk(run, tmp_path):
    path = run.export(tmp_path / "swing.pvd", frames=6)
    sets = ET.parse(path).getroot().findall("Collection/DataSet")
    assert [float(entry.get("timestep")) for entry in sets] == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5])
    surface = Surface(run, scene_of(run))
    piece = ET.parse(tmp_path / sets[3].get("file")).getroot().find("PolyData/Piece")
    points = numbers(piece.find("Points/DataArray"))
    assert len(points) == int(piece.get("NumberOfPoints"))
    np.testing.assert_allclose(points[:8], surface.points(30)[:8], atol=1e-6)
    connectivity, offsets = (numbers(array).ravel() for array in piece.findall("Polys/DataArray"))
    assert len(offsets) == int(piece.get("NumberOfPolys"))
    assert offsets[-1] == len(connectivity)
    assert connectivity.max() == len(points) - 1
    assert set(numbers(piece.find("CellData/DataArray")).ravel()) == {-1, 0, 1}
    np.testing.assert_allclose(numbers(piece.find("PointData/DataArray"))[:8], surface.velocities(30)[:8], atol=1e-5)
    names = ET.parse(tmp_path / sets[0].get("file")).getroot().find("PolyData/FieldData/Array")
    assert bytes(int(code) for code in names.text.split()).decode().split("\0")[:2] == ["bar & co", "bob"]
    with pytest.raises(ph.PorthosError, match="frames: expected a whole number >= 1"):
        run.export(tmp_path / "swing.pvd", frames=0)


def test_camera_is_a_rotation(run):
    camera = Camera(scene_of(run))
    R = camera(np.eye(3))
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-12)
    assert np.linalg.det(R) == pytest.approx(1.0)


def test_pictures_show_what_moves(run):
    """Bodies are drawn in their colours, within the picture, and move."""
    film = Film(run, (320, 240))
    first, later = film.picture(0).copy(), film.picture(40).copy()
    assert first.shape == (240, 320, 4)
    assert (first != later).any()
    ink = (later[:, :, :3] < 250).any(axis=2)
    assert 0.01 < ink.mean() < 0.5
    assert not ink[[0, -1]].any()
    assert not ink[:, [0, -1]].any()
    blue = (later[:, :, 2] > 80) & (later[:, :, 0] < 30)  # the bar, #0072B2
    assert blue.sum() > 100


def test_gif(run, tmp_path):
    with Image.open(run.export(tmp_path / "swing.gif", fps=20, speed=0.5, size=(200, 150))) as film:
        assert film.size == (200, 150)
        assert film.n_frames == 21  # half a second of the run takes one second
        assert film.info["duration"] == 50


def test_mp4(run, tmp_path):
    tmp_path = tmp_path / "folder.mp4"
    path = run.export(tmp_path / "swing.mp4", fps=20, size=(200, 150))
    assert count_frames_and_secs(str(path))[0] == 11
    with pytest.raises(ph.PorthosError, match="even numbers"):
        run.export(tmp_path / "odd.mp4", size=(201, 150))
    with pytest.raises(ph.PorthosError, match="ffmpeg could not write"):
        run.export(tmp_path)  # a folder stands there


def test_mp4_without_ffmpeg(run, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(ph.PorthosError, match=r"needs ffmpeg.*porthos\[video\].*\.gif"):
        run.export(tmp_path / "swing.mp4")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"speed": 1e-4}, "Try speed="),
        ({"speed": 0}, "speed: expected a positive number"),
        ({"fps": 0}, "fps"),
        ({"size": (0, 9)}, "expected 32 to 8192 pixels"),
        ({"sped": 2}, "Did you mean 'speed'"),
    ],
)
def test_films_that_cannot_be(run, tmp_path, options, words):
    with pytest.raises(ph.PorthosError, match=words):
        run.export(tmp_path / "swing.gif", **options)


def test_nearest_states():
    t = np.array([0.0, 1.0, 2.5])
    np.testing.assert_array_equal(nearest_states(t, np.array([-1, 0.4, 0.6, 1.7, 1.8, 9])), [0, 0, 1, 1, 2, 2])
    np.testing.assert_array_equal(nearest_states(t[:1], np.array([-1.0, 5.0])), [0, 0])
