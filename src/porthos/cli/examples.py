"""`porthos examples`: the files that come with the package, one for each example of the gallery.

Mechanisms are model files; systems of equations and connected ones are Python files with `model()` and `run()`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path

from porthos.cli.answers import aligned, tell
from porthos.errors import PorthosError, nearest

SUFFIXES = (".yaml", ".py")


def catalogue() -> dict[str, Traversable]:
    """All examples by name, in alphabetical order."""
    folder = files("porthos").joinpath("examples").iterdir()
    found = {_name(entry.name): entry for entry in folder if entry.name.endswith(SUFFIXES)}
    return {name: found[name] for name in sorted(found) if not name.startswith("-")}  # __init__.py is none


def _name(file: str) -> str:
    """How an example is called: slider_crank.yaml -> slider-crank."""
    for suffix in SUFFIXES:
        file = file.removesuffix(suffix)
    return file.replace("_", "-")


def about(entry: Traversable) -> str:
    """The first line of a file, a comment or a docstring that says what it is."""
    return entry.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ").strip('"').rstrip(".")


def listed(as_json: bool) -> None:
    """Names and what they are."""
    shown = {name: about(entry) for name, entry in catalogue().items()}
    tell(aligned(shown, indent=0), shown, as_json)


def _found(name: str) -> Traversable:
    known = catalogue()
    wanted = _name(name).lower()
    if wanted not in known:
        raise PorthosError(f"found no example '{name}'. {nearest(wanted, known)}")
    return known[wanted]


@contextmanager
def example(name: str) -> Iterator[Path]:
    """The file of an example, for a while."""
    with as_file(_found(name)) as path:
        yield path


def copied(name: str, to: Path) -> Path:
    """Copy an example into a folder or to a file; never over a file that is there."""
    entry = _found(name)
    target = to / entry.name if to.is_dir() else to
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(entry.read_text(encoding="utf-8"))
    except FileExistsError as error:
        raise PorthosError(f"'{target}' is there already and stays as it is. Name another file or folder.") from error
    return target
