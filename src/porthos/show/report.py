"""A report of a run as one HTML page that needs no other file: a moving mechanism, plots, verdict, tables of the model.

The page may only run our own script, which its policy names by hash, and may load nothing; whatever a model is called,
it stays text.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template
from types import NoneType

from matplotlib.figure import Figure
from PIL import Image

from porthos.errors import PorthosError
from porthos.notation import file_path
from porthos.results.run import Run
from porthos.results.states import StateTrajectory
from porthos.results.trajectory import Trajectory
from porthos.results.verdict import Level, Verdict, verdict
from porthos.show.axes import DARK_INK, MATERIALS, PALETTE
from porthos.show.picture import Points
from porthos.show.stage import Stage
from porthos.show.state_stage import StateStage
from porthos.show.state_tables import system_tables
from porthos.show.tables import model_tables

WIDE = 7.0  # inches; wider figures take a whole row
SHARP = 130  # dots an inch of figures
NOTEBOOK_HEIGHT = 900  # pixels


def report(
    run: Run, path: str | Path, figures: Mapping[str, Figure] | None = None, points: Points | None = None
) -> Path:
    """Write the page to `path`.

    `figures` maps captions to figures that are shown below the plots. `points` maps names to (body, point in its
    frame): their paths are drawn instead of those of the bodies.
    """
    target = file_path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise PorthosError(f"report: expected a file name that ends in .html, found '{target}'.")
    text = page(run, figures, points)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    return target


def notebook(run: Run) -> str:
    """The page in a frame, for notebooks."""
    source = escape(page(run), quote=True)
    style = f"width: 100%; height: {NOTEBOOK_HEIGHT}px; border: none"
    return f'<iframe srcdoc="{source}" style="{style}" title="{escape(run.system.name, quote=True)}"></iframe>'


def page(run: Run, figures: Mapping[str, Figure] | None = None, points: Points | None = None) -> str:
    """The text of the page."""
    for what, given in (("figures", figures), ("points", points)):
        if not isinstance(given, Mapping | NoneType):
            raise PorthosError(f"report: {what}: expected a dictionary of {what} by their names, found {given!r}.")
    stage, model = _staged(run, points)
    player = _player("player.js")
    left_out = run.t.size - stage.kept.size
    shown = f", of which {stage.kept.size} are shown" if left_out else ""
    end = f"{run.t[-1]:.6g} {stage.description['unit']}".strip()
    return Template(_player("page.html")).substitute(
        title=escape(run.system.name),
        subtitle=escape(f"{run.scheme_in_brief}, {run.t.size} recorded states{shown}, to t = {end}"),
        policy=f"default-src 'none'; script-src 'sha256-{_digest(player)}'; style-src 'unsafe-inline'; img-src data:",
        version=version("porthos"),
        style=_style(),
        verdict=_verdict(verdict(run)),
        figures=_figures(figures or {}),
        model=model,
        summary=escape(run.summary()),
        data=embedded(stage.description),
        numbers=stage.numbers,
        player=player,
    )


def _staged(run: Run, points: Points | None) -> tuple[Stage | StateStage, str]:
    """What moves and is plotted, and the tables of the model."""
    if isinstance(run, StateTrajectory):
        return StateStage(run, points), system_tables(run)
    assert isinstance(run, Trajectory)
    return Stage(run, points), model_tables(run)


def embedded(data: object) -> str:
    """JSON that cannot end the element that holds it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def _player(name: str) -> str:
    return files("porthos").joinpath("show", "player", name).read_text(encoding="utf-8")


@cache
def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")


@cache
def _style() -> str:
    """The style sheet with the palette of the figures."""
    colours = {f"c{k}": f"light-dark({c}, {DARK_INK})" if c == "#000000" else c for k, c in enumerate(PALETTE)}
    materials = {name: f"light-dark({light}, {dark})" for name, (light, dark) in MATERIALS.items()}
    return Template(_player("style.css")).substitute(
        palette=" ".join(f"--{name}: {colour};" for name, colour in (colours | materials).items()),
        classes="\n".join(f".{name} {{ color: var(--{name}); }}" for name in colours),
    )


def _verdict(found: Verdict) -> str:
    """The box that says what was kept."""
    levels = {finding.level for finding in found.findings}
    bad = bool(found.stopped) or Level.LOST in levels
    mood = "bad" if bad else "fair" if found.warnings else "good"
    findings = "".join(
        f'<div class="finding {one.level.value}"><b>{escape(one.what)}</b><span>{_typeset(one.number)}</span>'
        f"<em>{_typeset(one.words)}</em></div>"
        for one in found.findings
    )
    warnings = "".join(f"<li>{escape(warning)}</li>" for warning in found.warnings)
    said = f"<p>{escape(found.sentence)}</p>" + (f"<ul>{warnings}</ul>" if warnings else "")
    return f'<section id="verdict" class="{mood}">{said}<div class="findings">{findings}</div></section>'


def _typeset(words: str) -> str:
    """Components of momenta with their index written low; powers of ten with a minus, where no line ends."""
    low = re.sub(r"\b([pL])_([xyz])", r"<i>\1</i><sub>\2</sub>", escape(words))
    return re.sub(r"(?<=\de)-(?=\d)", "\N{MINUS SIGN}", low)


def _figures(figures: Mapping[str, Figure]) -> str:
    for caption, figure in figures.items():
        if not isinstance(caption, str) or not isinstance(figure, Figure):
            raise PorthosError(f"report: figures: expected figures by their captions, found {caption!r}: {figure!r}.")
    if not figures:
        return ""
    shown = "\n".join(_figure(caption, figure) for caption, figure in figures.items())
    return f'<section><h2>Figures</h2><div class="figures">{shown}</div></section>'


def _figure(caption: str, figure: Figure) -> str:
    """One figure with its caption; the image is inside the page, with 256 colours in a third of the space."""
    drawn, small = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=SHARP)
    Image.open(drawn).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
    data = base64.b64encode(small.getvalue()).decode("ascii")
    kind = ' class="wide"' if figure.get_figwidth() > WIDE else ""
    text = escape(caption.replace("_", " "))
    image = f'<img alt="{text}" src="data:image/png;base64,{data}">'
    return f"<figure{kind}>{image}<figcaption>{text}</figcaption></figure>"
