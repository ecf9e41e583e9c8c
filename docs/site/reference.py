"""The reference of the public names: one page for each room, written by autodoc from docstrings."""

from __future__ import annotations

from inspect import isfunction
from pathlib import Path

import porthos as ph
from porthos.show import axes, figures

ROOMS = {
    "frontdoor": "Simulate",
    "resuming": "Resume",
    "model": "Models",
    "integrate": "Schemes",
    "steps": "Steps",
    "results": "Results",
    "study": "Studies",
    "system": "Systems",
    "errors": "Errors",
}


def figure_names() -> list[str]:
    """All figures, in the order of porthos/show/figures.py: what returns one."""
    return [name for name, thing in vars(figures).items() if _draws(name, thing)]


def _draws(name: str, thing: object) -> bool:
    """Whether a name of that module is a figure: not a tool for them, those of axes among them."""
    if not isfunction(thing) or name.startswith("_") or thing.__module__ == axes.__name__:
        return False
    return thing.__annotations__.get("return") == "Figure"


def public_names() -> dict[str, list[str]]:
    """The public names of each room, in the order of porthos/__init__.py."""
    rooms: dict[str, list[str]] = {room: [] for room in ROOMS}
    for name in ph.__all__:
        thing = getattr(ph, name)
        rooms[thing.__module__.split(".")[1]].append(name)
    return rooms


def write_reference(folder: Path) -> None:
    """Write the pages of the reference and their index."""
    (folder / "reference").mkdir(parents=True, exist_ok=True)
    rooms = public_names()
    for room, names in rooms.items():
        parts = [f"# {ROOMS[room]}", *(_entry(name) for name in names)]
        (folder / "reference" / f"{room}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    entries = "\n".join(f".. autofunction:: {name}" for name in figure_names())
    (folder / "reference" / "figures.md").write_text(
        "# Figures\n\nEach is one call, returns the Matplotlib figure and takes axes of yours.\n\n"
        f"```{{eval-rst}}\n.. module:: porthos.show.figures\n\n{entries}\n```\n",
        encoding="utf-8",
    )
    lines = [
        f"- [{ROOMS[room]}]({room}.md): {', '.join(f'`{name}`' for name in names)}" for room, names in rooms.items()
    ]
    pages = "\n".join([*rooms, "figures"])
    (folder / "reference" / "index.md").write_text(
        "# Reference\n\nAll public names, as `import porthos as ph` gives them.\n\n"
        + "\n".join(lines)
        + "\n- [Figures](figures.md): `porthos.show.figures`\n\n"
        + f"```{{toctree}}\n:hidden:\n\n{pages}\n```\n",
        encoding="utf-8",
    )


def _entry(name: str) -> str:
    thing = getattr(ph, name)
    if not isinstance(thing, type):
        return f"## {name}\n\n```{{eval-rst}}\n.. autofunction:: porthos.{name}\n```"
    options = "" if issubclass(thing, Exception) else "\n   :members:\n   :inherited-members:"
    return f"## {name}\n\n```{{eval-rst}}\n.. autoclass:: porthos.{name}{options}\n```"
