"""Build the documentation: run its pages and the gallery, then Sphinx, for which a warning is an error."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path

from sphinx.cmd.build import build_main

from docs.site.gallery import write_gallery
from docs.site.pages import run_page
from docs.site.reference import write_reference

DOCS = Path(__file__).parents[1]
GENERATED = DOCS / "generated"
SITE = DOCS.parent / "build" / "docs"
FETCHED = re.compile(r"""<(?:script|img|iframe|link)[^>]*(?:src|href)=["'](?:https?:)?//[^>]*>""")


@contextmanager
def workplace(folder: Path) -> Iterator[None]:
    """A folder in which pages run."""
    folder.mkdir(parents=True, exist_ok=True)
    with chdir(folder):
        yield


def keep_readme_picture() -> None:
    """Run the README and keep the picture that it shows."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        run_page(DOCS.parent / "README.md")
        shutil.copy("double_pendulum.png", DOCS / "images")


def run_pages() -> None:
    """Run the pages whose figures and reports the site shows."""
    for name in ("start", "tutorial"):
        with workplace(GENERATED / name):
            run_page(DOCS / f"{name}.md", keep=True)
            for report in Path().glob("*.html"):
                shutil.copy(report, GENERATED / "extra" / "reports")


def refuse_fetching() -> None:
    """A page that would fetch something from the network is an error."""
    found = [f"{page.name}: {tag}" for page in SITE.rglob("*.html") for tag in FETCHED.findall(page.read_text("utf-8"))]
    if found:
        sys.exit("pages fetch from the network: " + "; ".join(found))


def main() -> None:
    """Write generated pages to docs/generated and the site to build/docs."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    shutil.rmtree(GENERATED, ignore_errors=True)
    shutil.rmtree(SITE, ignore_errors=True)
    keep_readme_picture()
    write_gallery(GENERATED)
    run_pages()
    write_reference(GENERATED)
    cache = DOCS.parent / "build" / "doctrees"
    failed = build_main(["-W", "--keep-going", "-q", "-b", "html", "-d", str(cache), str(DOCS), str(SITE)])
    if failed:
        sys.exit(failed)
    refuse_fetching()
    print(f"site written to {SITE.relative_to(DOCS.parent)}/index.html")


if __name__ == "__main__":
    main()
