"""`porthos show` of systems that a Python file makes: Lagrangians in symbols, others with numbers."""

from __future__ import annotations

from porthos.cli.answers import aligned, tell
from porthos.errors import PorthosError
from porthos.system.lagrangian import Lagrangian
from porthos.system.numeric_form import fits
from porthos.system.phdae import PHDAE


def show_system(system: PHDAE, style: str, form: str | None, as_json: bool) -> None:
    """Tell what is in the states and inputs of a system, and its matrices as far as they fit on a page."""
    if style in ("mermaid", "dot"):
        raise PorthosError(
            f"show: a graph ({style}) has bodies and joints, found the system '{system.name}', which has none. "
            "Use --as equations or --as latex."
        )
    if form is not None and not isinstance(system, Lagrangian):
        kind = type(system).__name__
        raise PorthosError(f"show: --form is for Lagrangians, found '{system.name}', which is a {kind}. Leave it out.")
    if style == "text" and not (fits(system) or isinstance(system, Lagrangian)):
        overview = _overview(system)
        tell(overview, {"name": system.name, style: overview}, as_json)
        return
    written = system.symbolic(form or "general") if isinstance(system, Lagrangian) else system.equations()
    text = written.latex() if style == "latex" else str(written)
    if style == "text":
        text = f"{_overview(system)}\n\n{text}"
    tell(text, {"name": system.name, "title": written.title, style: text}, as_json)


def _overview(system: PHDAE) -> str:
    """What is in x and u, and where."""
    size = f"{type(system).__name__}, {system.dimension} states, {system.width} inputs"
    rows = {f"x[{place.start}:{place.stop}]": name for name, place in system.blocks.items()}
    rows |= {f"u[{place.start}:{place.stop}]": name for name, place in system.ports.items()}
    return f"{system.name}: {size}\n{aligned(rows)}"
