"""The bundle of the player: as new as its sources, with the licence of what it contains, safe inside a page."""

import hashlib
import json
import re
from importlib.resources import files
from pathlib import Path

PLAYER = Path(__file__).parents[1] / "player"
BUNDLE = files("porthos").joinpath("show", "player", "player.js").read_text(encoding="utf-8")


def test_bundle_belongs_to_its_sources():
    """`make player` writes both hashes (player/build.mjs); after a change of the sources it has to be run again."""
    names = ["build.mjs", "package-lock.json", "package.json"]
    names += [f"source/{path.name}" for path in (PLAYER / "source").iterdir()]
    digest = hashlib.sha256()
    for name in sorted(names):
        digest.update(f"{name}\n{(PLAYER / name).read_text(encoding='utf-8')}\n".encode())
    first, _, body = BUNDLE.partition("\n")
    made = hashlib.sha256(body.encode()).hexdigest()
    assert first == f"/* sources sha256 {digest.hexdigest()}, bundle sha256 {made} */", "run `make player`"


def test_versions_are_pinned():
    """The lock file names exact versions with their hashes, and no server."""
    wanted = json.loads((PLAYER / "package.json").read_text())["devDependencies"]
    locked = json.loads((PLAYER / "package-lock.json").read_text())["packages"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in wanted.values())
    for name, version in wanted.items():
        assert locked[f"node_modules/{name}"]["version"] == version
    parts = [part for place, part in locked.items() if place]
    assert all(part["integrity"].startswith("sha512-") and "resolved" not in part for part in parts)
    assert f"three.js {wanted['three']}" in BUNDLE


def test_licence_travels_with_the_bundle():
    licence = files("porthos").joinpath("show", "player", "LICENSE-three.txt").read_text(encoding="utf-8")
    assert "three.js authors" in licence
    assert "Permission is hereby granted" in licence
    assert licence.strip() in BUNDLE


def test_bundle_stays_inside_its_element_and_small():
    assert "</script" not in BUNDLE.lower()
    assert "<!--" not in BUNDLE
    assert len(BUNDLE) < 700_000


def test_modules_are_small_and_say_what_they_are():
    for path in (PLAYER / "source").iterdir():
        lines = path.read_text(encoding="utf-8").splitlines()
        assert lines[0].startswith("// "), path.name
        assert len(lines) <= 300, path.name
        assert max(map(len, lines)) <= 150, path.name
