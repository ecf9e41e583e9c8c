"""A report of a run as one HTML page that needs no other file: summary, key numbers, figures as embedded images."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from html import escape
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from porthos.errors import PorthosError
from porthos.results.trajectory import Trajectory

STYLE = """
:root { --ink: #1d2733; --quiet: #5c6975; --line: #dde3e9; --accent: #0072b2; --paper: #ffffff; --ground: #f4f6f8; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); line-height: 1.5;
       font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
header { border-left: 4px solid var(--accent); padding-left: 1rem; margin-bottom: 2rem; }
h1 { margin: 0; font-size: 1.9rem; line-height: 1.2; }
h2 { font-size: 1.1rem; margin: 2.2rem 0 0.8rem; }
p { margin: 0.3rem 0 0; color: var(--quiet); }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: 0.8rem; margin: 0; }
dl div { background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: 0.8rem 1rem; }
dt { color: var(--quiet); font-size: 0.82rem; }
dd { margin: 0.15rem 0 0; font-size: 1.15rem; font-variant-numeric: tabular-nums; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(28rem, 100%), 1fr)); gap: 1rem;
           grid-auto-flow: dense; align-items: center; }
figure { margin: 0; background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: 1rem; }
figure.wide { grid-column: 1 / -1; }
figure img { display: block; width: 100%; height: auto; max-height: 40rem; object-fit: contain; }
figcaption { color: var(--quiet); font-size: 0.88rem; margin-top: 0.5rem; text-align: center; }
pre { background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: 1rem; overflow-x: auto;
      font-size: 0.82rem; line-height: 1.5; }
@media print { body { background: none; } main { padding: 0; } figure, pre { break-inside: avoid; } }
"""

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
<header>
<h1>{title}</h1>
<p>{subtitle}</p>
</header>
<dl>
{numbers}
</dl>
<h2>Figures</h2>
<div class="figures">
{figures}
</div>
<h2>Summary</h2>
<pre>{summary}</pre>
</main>
</body>
</html>
"""
WIDE = 7.0  # inches; wider figures take a whole row


def report(run: Trajectory, path: str | Path, figures: Mapping[str, Figure] | None = None) -> Path:
    """Write the page to `path`; `figures` maps captions to figures, by default the overview of `run.plot()`."""
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise PorthosError(f"report: expected a file name that ends in .html, found '{target}'.")
    shown = {"overview": run.plot()} if figures is None else figures
    target.parent.mkdir(parents=True, exist_ok=True)
    page = PAGE.format(
        title=escape(run.system.name),
        subtitle=escape(f"{run.scheme}, {run.t.size - 1} recorded steps to t = {run.t[-1]:.6g} s. {run.message}"),
        style=STYLE,
        numbers="\n".join(f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in _numbers(run).items()),
        figures="\n".join(_figure(caption, figure) for caption, figure in shown.items()),
        summary=escape(run.summary()),
    )
    target.write_text(page, encoding="utf-8")
    return target


def _numbers(run: Trajectory) -> dict[str, str]:
    """What one looks at first."""
    return {
        "Energy at the start": f"{run.energy[0]:.8g} J",
        "Energy at the end": f"{run.energy[-1]:.8g} J",
        "Largest defect of the power balance": f"{np.abs(run.power_balance).max():.1e} J",
        "Position constraints, max |g|": f"{run.position_error.max():.1e}",
        "Velocity constraints, max |G v|": f"{run.velocity_error.max():.1e}",
    }


def _figure(caption: str, figure: Figure) -> str:
    """One figure with its caption; the image is inside the page."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=160)
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    kind = ' class="wide"' if figure.get_figwidth() > WIDE else ""
    text = escape(caption.replace("_", " "))
    image = f'<img alt="{text}" src="data:image/png;base64,{data}">'
    return f"<figure{kind}>{image}<figcaption>{text}</figcaption></figure>"
