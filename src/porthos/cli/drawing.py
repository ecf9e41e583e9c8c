"""`porthos show`: the graph of a model file and the sizes of its equations, without the compiler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from porthos.cli.answers import tell
from porthos.errors import PorthosError, nearest
from porthos.model.modelfile import load_model
from porthos.system.diagram import diagram

FORMS = ("text", "mermaid", "dot")


def show_file(path: Path, changes: Mapping[str, str], form: str, as_json: bool) -> None:
    """Tell the diagram of a file in one of its forms."""
    if form not in FORMS:
        raise PorthosError(f"show: found no form '{form}'. {nearest(form, FORMS)}")
    found = diagram(load_model(path, changes))
    tell(str(found) if form == "text" else getattr(found, form), asdict(found), as_json)
