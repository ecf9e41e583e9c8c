"""`porthos show` of models: their graph, without the compiler, and their equations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from porthos.cli.answers import tell
from porthos.errors import PorthosError, nearest
from porthos.model.model import Model
from porthos.model.modelfile import load_model

GRAPHS, EQUATIONS = ("text", "mermaid", "dot"), ("equations", "latex")


def show_file(target: Path, changes: Mapping[str, str], style: str, form: str | None, as_json: bool) -> None:
    """Tell the graph or the equations of what a file describes: a model, a result, `file.py:name` for own code."""
    if style not in (*GRAPHS, *EQUATIONS):
        raise PorthosError(f"show: found no form '{style}'. {nearest(style, (*GRAPHS, *EQUATIONS))}")
    if target.suffix.partition(":")[0] == ".py":  # asked here, since python_files loads the compiler
        from porthos.cli.python_files import read_object  # systems need the compiler

        if changes:
            raise PorthosError(f"show: --param changes model files, found '{target}'. Change the Python file itself.")
        shown = read_object(target)
    elif target.suffix.lower() in (".nc", ".nc4", ".h5"):
        from porthos.results.loading import load
        from porthos.results.trajectory import Trajectory

        if changes:
            raise PorthosError(f"show: --param changes model files, found the result '{target}'.")
        run = load(target)
        if not isinstance(run, Trajectory):
            raise PorthosError(f"show: '{target}' holds a run over states; the functions of its system are in no file.")
        shown = run.model
    else:
        shown = load_model(target, changes)
    if isinstance(shown, Model):
        show_model(shown, style, form, as_json)
    else:
        from porthos.cli.equations import show_system

        show_system(shown, style, form, as_json)


def show_model(model: Model, style: str, form: str | None, as_json: bool) -> None:
    """Tell the graph of a model, or its equations (24)."""
    if form is not None:
        raise PorthosError(f"show: --form is for Lagrangians, found the model '{model.name}'. Its form is (24).")
    if style in EQUATIONS:
        written = model.equations()
        text = written.latex if style == "latex" else str(written)
        tell(text, {"name": model.name, "title": "(24)", style: text}, as_json)
    else:
        found = model.diagram()
        tell(str(found) if style == "text" else getattr(found, style), asdict(found), as_json)
