"""The page of a report: one file, nothing loaded from elsewhere. This module fills the template from the document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pipeline.report.methods import describe_methods, methods_paragraph
from pipeline.report.svg import Drawing, inline_svg
from pipeline.report.trainings import tell_failures
from pipeline.report.views import MARKS, View

__all__ = ["render_html"]

LONG = 25
MOST_FIGURES = 10


def render_html(document: Mapping[str, Any], views: Sequence[View], drawings: Sequence[Drawing]) -> str:
    """Return the page as text; every name of the study is escaped."""
    environment = Environment(
        loader=PackageLoader("pipeline.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    # The SVG is made by `pipeline.report.svg`, where matplotlib escapes all text; it is the only markup let through.
    inline = {drawing.file: Markup(inline_svg(drawing.svg, f"f{k}")) for k, drawing in enumerate(drawings, start=1)}
    sections = []
    for section in document["sections"]:
        figures = [drawing for drawing in drawings if drawing.section == section["key"]]
        tables = [view for view in views if view.kind == section["key"]]
        if figures or tables:
            shown, more = figures[:MOST_FIGURES], len(figures) - MOST_FIGURES
            sections.append({**section, "figures": shown, "more": max(0, more), "views": tables})
    text = environment.get_template("report.html.j2").render(
        document=document,
        failures=tell_failures(document),
        sections=sections,
        inline=inline,
        long=LONG,
        marks=MARKS,
        methods=describe_methods(document),
        paragraph=methods_paragraph(document),
    )
    return text.rstrip() + "\n"
