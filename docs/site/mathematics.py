"""Mathematics as MathML, made when the site is built: a page needs no script and no network to show it."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

# Brackets of matrices grow only with a mathematical font; the border of a table always does.
MATRIX = re.compile(
    r"<mo[^>]*>(?:\[|&#x0005B;)</mo>\s*<mtable>(.*?)</mtable>\s*<mo[^>]*>(?:\]|&#x0005D;)</mo>", re.DOTALL
)


def mathml(latex: str, display: str = "inline") -> str:
    """A formula of LaTeX as MathML."""
    return MATRIX.sub(r'<mtable class="matrix">\1</mtable>', convert(latex, display=display))


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx to render mathematics with this module."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="mathematics">{mathml(node.astext(), "block")}</div>')
    raise nodes.SkipNode
