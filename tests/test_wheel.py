"""What `pip install .` brings: a wheel has the player with its licence, the page of reports and the examples."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest
from hatchling.build import build_wheel

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)  # where the hooks of a build backend are called
        name = build_wheel(str(folder))
    with ZipFile(folder / name) as wheel:
        return set(wheel.namelist())


def test_a_wheel_is_the_package_and_what_describes_it(names):
    files = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "porthos").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if name.startswith("porthos/")} == files
    assert all(name.split("/")[0].endswith(".dist-info") for name in names - files)


def test_a_wheel_has_what_reports_and_examples_need(names):
    player = {f"porthos/show/player/{name}" for name in ("player.js", "LICENSE-three.txt", "page.html", "style.css")}
    assert player | {"porthos/py.typed", "porthos/examples/pendulum.yaml", "porthos/examples/lorenz.py"} <= names


def test_a_wheel_has_both_licences_and_the_command(names):
    described = {name.split(".dist-info/")[1] for name in names if ".dist-info/" in name}
    assert {"licenses/LICENSE", "licenses/src/porthos/show/player/LICENSE-three.txt", "entry_points.txt"} <= described
