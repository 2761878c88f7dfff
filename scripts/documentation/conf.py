"""How Sphinx builds the pages that `pages.py` has gathered; `./scripts/site` runs both."""

from __future__ import annotations

from typing import Any

from pipeline import __version__

project = "pipeline"
author = "The maintainers of pipeline"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click"]
source_suffix = {".md": "markdown"}
root_doc = "index"
html_theme = "furo"
html_title = "pipeline"
html_static_path = ["style"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
highlight_language = "none"  # most blocks without a language are commands, which would be coloured as Python
default_role = "code"  # the help of commands has single backticks, as Markdown has

myst_heading_anchors = 6  # links name headings as they do in the repository
autodoc_typehints = "description"
napoleon_numpy_docstring = True
# A page may show a part of a file, which need not be whole YAML or Python.
suppress_warnings = ["misc.highlighting_failure"]


def keep_examples_as_typed(app: Any, context: Any, lines: list[str]) -> None:
    """Set the examples of a command's help as code: in running text their asterisks would be emphasis, and lines would join."""
    result: list[str] = []
    for line in lines:
        example = line.startswith("| ")
        if example and not (result and result[-1].startswith("   ")):
            result += ["", "::", ""]
        elif not example and result and result[-1].startswith("   "):
            result.append("")
        result.append("   " + line[2:] if example else line)
    lines[:] = result


def setup(app: Any) -> None:
    """Connect what is ours to the stages of Sphinx."""
    app.connect("sphinx-click-process-description", keep_examples_as_typed)
