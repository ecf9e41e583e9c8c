"""`porthos show`: the graph of a model file, or its equations, without the compiler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from porthos.cli.answers import tell
from porthos.errors import PorthosError, nearest
from porthos.model.modelfile import load_model
from porthos.system.diagram import diagram
from porthos.system.equations import equations

GRAPHS, EQUATIONS = ("text", "mermaid", "dot"), ("equations", "latex")


def show_file(path: Path, changes: Mapping[str, str], form: str, as_json: bool) -> None:
    """Tell the diagram or the equations of a file in one of their forms."""
    if form not in GRAPHS + EQUATIONS:
        raise PorthosError(f"show: found no form '{form}'. {nearest(form, GRAPHS + EQUATIONS)}")
    model = load_model(path, changes)
    if form in EQUATIONS:
        written = equations(model)
        tell(written.latex if form == "latex" else written.text, asdict(written), as_json)
        return
    found = diagram(model)
    tell(str(found) if form == "text" else getattr(found, form), asdict(found), as_json)
