"""The gallery and the verification page, made by running every example."""

from __future__ import annotations

import importlib
import json
import re
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import matplotlib as mpl
import numpy as np
from typer.testing import CliRunner

import porthos as ph
from docs.site.prose import markdown
from gallery.references import REFERENCES, Reference
from porthos.cli.app import app
from porthos.notation import Array

GALLERY = Path(__file__).parents[2] / "gallery"
MODULES = tuple(sorted(path.stem for path in GALLERY.glob("[a-z]*.py") if path.stem != "references"))
WORKERS, RESOLUTION = 2, 120
TINY = 1e-8
HEAD = "| what | reference | Porthos | difference | allowed | source |\n|---|---|---|---|---|---|\n"


def title(module: str) -> str:
    """How pages call an example."""
    return module.replace("_", " ").capitalize()


def write_gallery(folder: Path) -> None:
    """Write a page for each example, their index, and the page of all numbers from outside."""
    (folder / "gallery").mkdir(parents=True, exist_ok=True)
    (folder / "extra" / "reports").mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool:
        schemes = pool.submit(_schemes)  # takes longest
        pages = dict(zip(MODULES, pool.map(write_example, MODULES, [folder] * len(MODULES)), strict=True))
    (folder / "gallery" / "index.md").write_text(_index(pages), encoding="utf-8")
    (folder / "verification.md").write_text(_verification(pages, schemes.result()), encoding="utf-8")


def write_example(module: str, folder: Path) -> tuple[str, str, str]:
    """Run an example and write its page; returns its first sentence, its first figure and the rows of its numbers."""
    mpl.use("Agg")
    example = importlib.import_module(f"gallery.{module}")
    first, *rest = (text for text in example.__doc__.split("\n\n") if not text.startswith("Numbers"))
    rows = "".join(row(reference) for reference in REFERENCES if reference.module == module)
    parts = [f"# {title(module)}", markdown(first), *map(markdown, rest), *_started(module)]
    figures = example.figures()
    for name, figure in figures.items():
        figure.savefig(folder / "gallery" / f"{module}_{name}.png", dpi=RESOLUTION)
    run = example.run()
    if isinstance(run, ph.Trajectory | ph.StateTrajectory):
        run.report(folder / "extra" / "reports" / f"{module}.html")
        page = f"../../reports/{module}.html"
        parts.append(
            f'## It moves\n\n<iframe class="moving" loading="lazy" src="{page}"></iframe>\n\n'
            f'<a href="{page}">The report on a page of its own</a>'
        )
    parts.append("## Numbers\n\n" + HEAD + rows)
    parts.append("## Figures")
    parts += [f"**{title(name)}**\n\n![{title(name)}]({module}_{name}.png)" for name in figures]
    (folder / "gallery" / f"{module}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return markdown(first), f"{module}_{next(iter(figures))}.png", rows


def _started(module: str) -> list[str]:
    """How a reader runs the example."""
    examples = Path(ph.__file__).parent / "examples"
    lines = [f"$ python -m gallery.{module}"]
    assert any(examples.glob(f"{module}.*")), f"{module}: an example of the gallery has a file in porthos/examples"
    lines.append(f"$ porthos examples run {module.replace('_', '-')} --report {module}.html")
    return ["```console\n" + "\n".join(lines) + "\n```"]


def _index(pages: dict[str, tuple[str, str, str]]) -> str:
    cards = "\n\n".join(
        f"[![{title(module)}]({figure})]({module}.md)\n[**{title(module)}**]({module}.md)<br>{_short(first)}"
        for module, (first, figure, _) in pages.items()
    )
    entries = "\n".join(pages)
    return (
        "# Gallery\n\nEvery figure and number here was computed when this site was built. The sources 000 to "
        "003 are named in [notation](../../notation.md).\n\n"
        f":::{{container}} gallery\n{cards}\n:::\n\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"
    )


def _short(sentence: str) -> str:
    """The sentence without what is in brackets."""
    return re.sub(r"\s+\([^)]*\)", "", sentence)


def _verification(pages: dict[str, tuple[str, str, str]], schemes: str) -> str:
    tables = "\n".join(
        f"## {title(module)}\n\nSee [{title(module)}](gallery/{module}.md).\n\n{HEAD}{rows}"
        for module, (_, _, rows) in pages.items()
    )
    return (
        "# Verification\n\n"
        "Energy that is kept is no evidence of right equations; numbers from outside are. Here are all that the "
        f"gallery is held to, {sum(np.size(one.value) for one in REFERENCES)} in all: published, exact, and "
        "solutions in minimal coordinates by SciPy. The third column was computed when this site was built; the build "
        "fails if a difference is larger than allowed, and so does `make test`. The difference is the largest of all "
        "components. Allowed is what the digits of the reference and the remaining error of the step permit.\n\n"
        f"{tables}\n{schemes}"
    )


def _schemes() -> str:
    """What `porthos doctor` finds: every scheme against exact solutions."""
    answer = CliRunner().invoke(app, ["doctor", "--json"])
    findings = json.loads(answer.stdout)["self_test"]
    if answer.exit_code:
        raise AssertionError(f"porthos doctor: {findings}")
    rows = "\n".join(
        f"| {one['test']} | {one['error']:.1e} | {one['claimed']} | {one['order']:.3f} | {one['energy_drift']:.0e} |"
        for one in findings
    )
    return (
        "## Every scheme against exact solutions\n\n"
        "The self-test of `porthos doctor`: a pendulum (elliptic functions) and a free symmetric top; results of two "
        "steps, extrapolated. The drift of the energy is relative to its largest part.\n\n"
        f"| scheme and problem | error | order | order found | drift of energy |\n|---|---|---|---|---|\n{rows}\n"
    )


def row(reference: Reference) -> str:
    """A number from outside and what Porthos finds, as a row of a table; an AssertionError if they do not agree."""
    if not reference.ok:
        raise AssertionError(f"{reference.module}, {reference.what}: missed by {reference.difference:.1e}")
    value, found = np.asarray(reference.value, dtype=float), reference.found
    allowed = np.ravel(reference.within)
    limits = [f"{one:.0e}" for one in allowed]
    digits = 12 if allowed.max() < 1e-6 else 7
    cells = (
        reference.what,
        _shown(value, digits),
        _shown(found, digits),
        f"{reference.difference:.1e}",
        "<br>".join(limits if len(set(limits)) > 1 else limits[:1]),
        reference.source,
    )
    return "| " + " | ".join(cells) + " |\n"


def _shown(values: Array, digits: int) -> str:
    """Numbers below each other, tiny ones in short; of very many only the range."""
    if values.size > 12:
        return f"{values.size} values, {values.min():.{digits}g} to {values.max():.{digits}g}"
    return "<br>".join(f"{x:.{2 if abs(x) < TINY else digits}g}" for x in values.ravel())
