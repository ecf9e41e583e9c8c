"""Settings of Sphinx; `make docs` builds the site in build/docs."""

import sys
from pathlib import Path

from sphinx.util.inspect import TypeAliasForwardRef

import porthos

sys.path.insert(0, str(Path(__file__).parent.parent))

TypeAliasForwardRef.__repr__ = lambda alias: alias.name  # within tuple[...] Sphinx prints the alias by its repr

project = "Porthos"
author = "The Porthos developers"
copyright = "The Porthos developers, MIT licence"
version = release = porthos.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "docs.site.mathematics", "docs.site.prose"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["site", "static"]
suppress_warnings = ["myst.header"]  # performance.md, which the benchmarks write, begins with headings of level 3
html_theme = "furo"
html_title = "Porthos"
html_static_path = ["static"]
html_css_files = ["porthos.css"]
html_extra_path = ["generated/extra"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # it would be fetched, which browsers refuse for pages from disk
highlight_language = "text"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {name: name for name in ("Array", "ArrayLike", "IntArray", "Coefficient", "Tensor")}
autodoc_inherit_docstrings = False
maximum_signature_line_length = 90
python_use_unqualified_type_names = True
toc_object_entries = False
