"""The reference of the public names: one page for each room, written by autodoc from docstrings."""

from __future__ import annotations

from pathlib import Path

import porthos as ph

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
FIGURES = "overview plot energy energy_error angular_momentum constraint_errors work phase spectrum convergence compare"


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
    figures = "\n".join(f"   .. autofunction:: {name}" for name in FIGURES.split())
    (folder / "reference" / "figures.md").write_text(
        "# Figures\n\nEach is one call, returns the Matplotlib figure and takes axes of yours.\n\n"
        f"```{{eval-rst}}\n.. module:: porthos.show.figures\n\n{figures.replace('   ..', '..')}\n```\n",
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
