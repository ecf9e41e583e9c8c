"""The moving mechanism as GIF or MP4: triangles from back to front, lit from beside the camera, drawn by matplotlib.

A point x is seen at (r.x, a.x) with the camera's right r and up a; b = r x a points to the camera.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

from porthos.errors import PorthosError
from porthos.notation import Array, number, positive, vector
from porthos.results.run import nearest_states
from porthos.results.trajectory import Trajectory
from porthos.show.axes import INK, MATERIALS, PALETTE
from porthos.show.beam_solids import inner_nodes
from porthos.show.meshes import Surface
from porthos.show.scene import Scene, scene_of

DPI = 100
SMALLEST, LARGEST = 32, 8192  # pixels
MOST = 1500  # pictures of a film
DARKEST = 0.45  # brightness of a face that is seen from the side
COLOURS = 96  # of a GIF
FINE = 0.08  # longest edge of a triangle, relative to the scene, so that sorting them by depth is right
RIM = 0.06  # around the scene, relative to it


class Camera:
    """Where points of the world are in the picture, and how far towards the eye."""

    def __init__(self, scene: Scene) -> None:
        back = scene.view / np.linalg.norm(scene.view)
        right = np.cross(scene.up, back)
        right /= np.linalg.norm(right)
        self._axes = np.array([right, np.cross(back, right), back])

    def __call__(self, points: Array) -> Array:
        """Right, up and towards the eye (n, 3)."""
        return points @ self._axes.T


class Film:
    """Pictures of a run, one at a time."""

    def __init__(self, run: Trajectory, size: tuple[int, int]) -> None:
        self._run, scene = run, scene_of(run)
        self._surface, self._camera = Surface(run, scene, FINE * scene.size), Camera(scene)
        self._figure = Figure(figsize=(size[0] / DPI, size[1] / DPI), dpi=DPI, facecolor="white")
        self._canvas = FigureCanvasAgg(self._figure)
        self._ax = self._figure.add_axes((0, 0, 1, 1))
        self._ax.set_axis_off()
        self._frame_up(scene, size[0] / size[1])
        colours = [_colour(solid.colour) for solid in self._surface.solids]
        opacity = [solid.opacity for solid in self._surface.solids]
        self._paint = np.column_stack([colours, opacity])[self._surface.solid_of_triangle]
        hidden = inner_nodes(run)
        self._ways = [run[name].position for name in run.system.body_names if name not in hidden]
        self._paths = LineCollection([], linewidths=0.9, colors=PALETTE, zorder=1)
        self._faces = PolyCollection([], linewidths=0.35, zorder=2)
        self._ax.add_collection(self._paths)
        self._ax.add_collection(self._faces)
        style: dict[str, Any] = {
            "fontsize": 10,
            "color": INK,
            "transform": self._ax.transAxes,
            "va": "top",
            "parse_math": False,
        }
        self._ax.text(0.02, 0.97, run.system.name, **style)
        self._clock = self._ax.text(0.98, 0.97, "", ha="right", **style)

    def _frame_up(self, scene: Scene, aspect: float) -> None:
        """Limits around all that is seen during the run, with equal scales and some room for the title."""
        flat = self._camera(scene.outermost)[:, :2]
        low, high = flat.min(axis=0), flat.max(axis=0)
        width, height = (high - low) + np.array([2.0, 2.6]) * RIM * scene.size
        tall = max(height, width / aspect)
        middle = (low + high) / 2 + (0.0, 0.3 * RIM * scene.size)
        self._ax.set_xlim(middle[0] - tall * aspect / 2, middle[0] + tall * aspect / 2)
        self._ax.set_ylim(middle[1] - tall / 2, middle[1] + tall / 2)

    def picture(self, frame: int) -> Array:
        """The picture (height, width, 4) of a recorded state."""
        corners = self._camera(self._surface.points(frame))[self._surface.triangles]  # (m, 3, 3)
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        lengths = np.maximum(np.linalg.norm(normals, axis=1), 1e-300)
        seen = np.flatnonzero(normals[:, 2] > 0.0)  # faces that look to the camera
        light = normals[seen] @ np.array([-0.35, 0.55, 0.76]) / lengths[seen]
        order = np.argsort(corners[seen, :, 2].mean(axis=1))
        shade = DARKEST + (1.0 - DARKEST) * np.clip(light, 0.0, 1.0)
        paint: Any = self._paint[seen]
        paint[:, :3] *= shade[:, None]
        self._faces.set_verts(corners[seen[order], :, :2])
        self._faces.set_facecolor(paint[order])
        paint[paint[:, 3] < 1.0] = 0.0  # what is clear has no edges
        self._faces.set_edgecolor(paint[order])
        self._paths.set_segments([self._camera(path[: frame + 1])[:, :2] for path in self._ways])
        self._clock.set_text(f"t = {self._run.t[frame]:.3f} s")
        self._canvas.draw()
        return np.array(self._canvas.buffer_rgba())


def write_gif(
    run: Trajectory, path: Path, fps: float = 20, speed: float = 1.0, size: tuple[int, int] = (640, 480)
) -> None:
    """A GIF of `fps` pictures a second, `speed` seconds of the run in each second of the film."""
    fps, speed, size = _checked(path, fps, speed, size)
    images = [
        Image.fromarray(picture[:, :, :3]).quantize(COLOURS, dither=Image.Dither.NONE)
        for picture in _pictures(run, path, fps, speed, size)
    ]
    images[0].save(path, save_all=True, append_images=images[1:], duration=round(1000 / fps), loop=0)


def write_mp4(
    run: Trajectory, path: Path, fps: float = 30, speed: float = 1.0, size: tuple[int, int] = (960, 720)
) -> None:
    """An MP4 film (H.264) of `fps` pictures a second; needs ffmpeg. Width and height have to be even."""
    fps, speed, size = _checked(path, fps, speed, size)
    program = _ffmpeg(path)
    if size[0] % 2 or size[1] % 2:
        raise PorthosError(f"export: '{path}': size: expected even numbers of pixels, found {size[0]} x {size[1]}.")
    source = ["-f", "rawvideo", "-pix_fmt", "rgba", "-s", f"{size[0]}x{size[1]}", "-r", str(fps), "-i", "-"]
    target = ["-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags", "+faststart", str(path)]
    command = [program, "-y", "-loglevel", "error", *source, *target]
    pictures = _pictures(run, path, fps, speed, size)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        try:
            for picture in pictures:
                process.stdin.write(picture.tobytes())
            process.stdin.close()
        except BrokenPipeError:
            pass  # ffmpeg says below what it did not like
        said = process.stderr.read().decode(errors="replace").strip()
    if process.returncode != 0:
        raise PorthosError(f"'{path}': ffmpeg could not write the film: {said or f'exit code {process.returncode}'}.")


def _checked(path: Path, fps: float, speed: float, size: tuple[int, int]) -> tuple[float, float, tuple[int, int]]:
    """What a film is to be like, or an error that says which of it makes no sense."""
    where = f"export: '{path}'"
    width, height = vector(size, f"{where}: size", 2, example=(640, 480)).tolist()
    if min(width, height) < SMALLEST or max(width, height) > LARGEST:
        raise PorthosError(
            f"{where}: size: expected {SMALLEST} to {LARGEST} pixels each way, found {width:g} x {height:g}."
        )
    return number(fps, f"{where}: fps", least=1.0), positive(speed, f"{where}: speed"), (int(width), int(height))


def _pictures(run: Trajectory, path: Path, fps: float, speed: float, size: tuple[int, int]) -> Iterator[Array]:
    """Pictures of the states nearest to the times of a film."""
    length = float(run.t[-1] - run.t[0]) / speed
    if length * fps > MOST:
        raise PorthosError(
            f"export: '{path}': the film would have {length * fps:.0f} pictures, more than {MOST}. "
            f"Try speed={speed * length * fps / MOST * 1.05:.2g}, or fewer pictures a second than fps={fps}."
        )
    count = 1 + round(length * fps)
    frames = nearest_states(run.t, np.linspace(run.t[0], run.t[-1], count))
    kept, again = np.unique(frames, return_inverse=True)
    film = Film(run.thinned(kept), size)
    return (film.picture(int(k)) for k in again)


def _ffmpeg(path: Path) -> str:
    """The program that makes films: that of the system, or that of the package imageio-ffmpeg."""
    found = shutil.which("ffmpeg")
    if found is not None:
        return found
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return get_ffmpeg_exe()
    except (ImportError, RuntimeError) as error:
        raise PorthosError(
            f"'{path}': an MP4 film needs ffmpeg, which is not installed. Install it (Debian: apt-get install ffmpeg; "
            "or `pip install 'porthos[video]'`), or write a file that ends in .gif."
        ) from error


def _colour(name: str) -> tuple[float, float, float]:
    return to_rgb(MATERIALS[name][0] if name in MATERIALS else PALETTE[int(name[1:])])
