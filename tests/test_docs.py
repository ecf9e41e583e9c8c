"""The pages are true and whole: blocks run, links lead somewhere, every public name and example has its entry.

The site itself is built by `make docs`, which runs the gallery and takes longer.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import porthos as ph
from docs.site import prose
from docs.site.gallery import MODULES, title, write_example
from docs.site.pages import blocks, run_page
from docs.site.reference import ROOMS, figure_names, public_names, write_reference
from docs.site.schemes import BEGIN, END, PAGE, table, written
from docs.site.schemes import SCHEMES as OFFERED
from porthos.integrate.catalogue import SCHEMES
from porthos.show import figures

DOCS = Path(__file__).parents[1] / "docs"
PAGES = {path.stem: path for path in sorted(DOCS.glob("*.md"))}
RUN = [name for name, path in PAGES.items() if blocks(path.read_text(), "python")]
MADE = {  # what the site writes when it is built
    "generated/gallery/index.md",
    "generated/verification.md",
    "generated/reference/index.md",
    *(f"generated/gallery/{module}.md" for module in MODULES),
    *(f"generated/reference/{room}.md" for room in ROOMS),
    *(
        f"generated/{name}/{figure}"
        for name in ("start", "tutorial")
        for figure in re.findall(r'savefig\("(\w+\.png)"', PAGES[name].read_text())
    ),
}
REPORTS = {
    f"reports/{report}"
    for name in ("start", "tutorial")
    for report in re.findall(r'report\("(\w+\.html)"', PAGES[name].read_text())
}


def holds_phdae(names):
    assert np.abs(names["run"].power_balance).max() < 1e-9  # a quartic energy: of the order of the method, not exact
    assert np.abs(names["linear"].power_balance).max() < 1e-13
    assert np.abs(names["powers"].stored + names["powers"].dissipated).max() < 1e-12
    assert names["system"].check().ok


def holds_lagrangian(names):
    assert names["pendulum"].check().ok
    assert names["run"].t.size == 201
    assert np.ptp(names["run"].generalized_energy + names["run"].dissipated) < 1e-12


def holds_tutorial(names):
    assert names["system"].check().ok
    speed = names["run"]["crank"].angular_velocity[-500:, 0]
    assert np.abs(speed - 6).max() < 1.5  # the controller has no integral part


def holds_schemes(names):
    assert np.ptp(names["run"].energy) < 1e-12


CLAIMS = {
    "phdae": holds_phdae,
    "lagrangian": holds_lagrangian,
    "tutorial": holds_tutorial,
    "schemes": holds_schemes,
}


@pytest.mark.parametrize("name", RUN)
def test_page_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run_page(PAGES[name], keep=True)
    shown = {Path(made).name for made in MADE if made.startswith(f"generated/{name}/")}
    shown |= set(re.findall(rf"literalinclude}} generated/{name}/(\S+)", PAGES[name].read_text()))
    assert shown <= {path.name for path in tmp_path.iterdir()}
    CLAIMS.get(name, bool)(names)


def test_start_keeps_its_promise():
    (python, *_) = blocks(PAGES["start"].read_text(), "python")
    ((_, yaml),) = blocks(PAGES["start"].read_text(), "yaml")
    assert len([line for line in python[1].splitlines() if line.strip()]) <= 10
    assert len(yaml.splitlines()) <= 15


def test_a_block_that_is_not_true_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    for text, message in {
        "```python\nprint(1)\n```\n\n```text\n2\n```\n": "page.md shows",
        "```yaml\nname: x\n```\n": "names its file",
        "```console\n$ porthos walk\n```\n": "ended with 2",
        "```console\n$ porthos check none.yaml\n```\n": "ended with 1",
        "```console\n$ porthos check none.yaml\n$ porthos --version\n```\n\n```text\nx\n```\n": "yaml' ended with 1",
    }.items():
        page.write_text(text)
        with pytest.raises(AssertionError, match=message):
            run_page(page)
    page.write_text('```python\nimport porthos as ph\nph.load("none.nc")\n```\n')
    with pytest.raises(ph.PorthosError):
        run_page(page)


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    whole = PAGES[name].read_text()
    for target in re.findall(r"(?:literalinclude|include)\} (\S+)", whole):
        assert target.startswith(f"generated/{name}/") or (DOCS / target).exists(), (
            target
        )  # the former are made by the page
    text = re.sub(r"^```.*?^```$", "", whole, flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        assert target.startswith("https://") or target in MADE or (DOCS / target).exists(), target
    for target in re.findall(r'src="([^"]+)"', text):
        assert target in REPORTS, target


def test_every_page_is_in_the_contents():
    listed = [
        line
        for block in re.findall(r"```\{toctree\}\n(.*?)```", PAGES["index"].read_text(), re.DOTALL)
        for line in block.splitlines()
        if line and not line.startswith(":")
    ]
    assert len(listed) == len(set(listed))
    assert {entry for entry in listed if "/" not in entry} == set(PAGES) - {"index"}
    assert {f"{entry}.md" for entry in listed if "/" in entry} <= MADE


def test_every_public_name_has_its_entry(tmp_path):
    write_reference(tmp_path)
    rooms = public_names()
    assert sorted(name for names in rooms.values() for name in names) == sorted(ph.__all__)
    for room, names in rooms.items():
        page = (tmp_path / "reference" / f"{room}.md").read_text()
        assert all(f":: porthos.{name}\n" in page for name in names)
        assert room in (tmp_path / "reference" / "index.md").read_text()
    page = (tmp_path / "reference" / "figures.md").read_text()
    assert all(f".. autofunction:: {name}\n" in page and callable(getattr(figures, name)) for name in figure_names())


@pytest.mark.parametrize("module", ["heavy_top", "lorenz"])
def test_an_example_becomes_a_page(module, tmp_path):
    """As the site writes it: sentence, command that works, numbers from outside, figures, and a report that moves."""
    for folder in ("gallery", "extra/reports"):
        (tmp_path / folder).mkdir(parents=True)
    first, figure, rows = write_example(module, tmp_path)
    page = (tmp_path / "gallery" / f"{module}.md").read_text()
    assert page.startswith(f"# {title(module)}\n") and first in page
    assert f"$ porthos examples run {module.replace('_', '-')} --report" in page
    assert rows and rows in page
    pictures = re.findall(r"!\[[^]]*\]\((\S+\.png)\)", page)
    assert figure in pictures
    assert all((tmp_path / "gallery" / name).read_bytes().startswith(b"\x89PNG") for name in pictures)
    report = (tmp_path / "extra" / "reports" / f"{module}.html").read_text(encoding="utf-8")
    assert "bundle sha256" in report and f"../../reports/{module}.html" in page


def test_docstrings_become_markup():
    text = "Sum of `a_1` and b_2.\n\nc = a*b,   d = |e|\n\nA [m] < 1."
    assert prose.markdown(text) == "Sum of `a_1` and b\\_2.\n\n```text\nc = a*b,   d = |e|\n```\n\nA \\[m\\] \\< 1."
    lines = text.splitlines()
    prose.as_rst(None, "class", "x", None, None, lines)
    assert lines[:2] == ["Sum of ``a_1`` and b\\_2.", ""]
    assert lines[2:5] == ["::", "", "    c = a*b,   d = |e|"]


def test_the_table_of_schemes_is_what_the_code_says():
    page = PAGE.read_text(encoding="utf-8")
    assert written(page, "") != page
    assert BEGIN + table() + END in page, "run python -m docs.site.schemes"
    names = {name.split("(")[0] for name in OFFERED}
    assert names == set(SCHEMES)
