"""The report as Markdown: the same sentences, the same tables, the same digits as the page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.report.methods import describe_methods, methods_paragraph
from pipeline.report.svg import Drawing
from pipeline.report.trainings import tell_failures
from pipeline.report.views import MARKS, View

__all__ = ["escape", "render_markdown"]

SPECIAL = re.compile(r"([\\`*_\[\]<>|#~$])")


def escape(text: str) -> str:
    r"""Return text that Markdown shows as it is, also inside a table.

    Examples
    --------
    >>> print(escape("a|b <i> *c*"))
    a\|b \<i\> \*c\*
    """
    return SPECIAL.sub(r"\\\1", text.replace("&", "&amp;").replace("\n", " "))


def render_markdown(document: Mapping[str, Any], views: Sequence[View], drawings: Sequence[Drawing]) -> str:
    """Return the whole report as Markdown."""
    lines = [f"# {escape(document['study'])}", ""]
    lines += ["## Verdict", ""]
    for verdict in document["verdict"]:
        lines += [f"**{escape(verdict['test_set'])} · {escape(verdict['metric'])}.** {escape(' '.join(verdict['sentences']))}", ""]
    for warning in document["warnings"]:
        lines += [f"> Warning: {escape(warning)}", ""]
    for failure in tell_failures(document):
        lines += [f"> Failed: {escape(failure)}", ""]
    lines += ["## How far to trust it", ""]
    lines += [f"- {row['status']}: {escape(row['check'])}. {escape(row['detail'])}" for row in document["trust"]]
    lines.append("")
    for section in document["sections"]:
        figures = [drawing for drawing in drawings if drawing.section == section["key"]]
        tables = [view for view in views if view.kind == section["key"]]
        if figures or tables:
            lines += [f"## {escape(section['title'])}", "", *_section(figures, tables)]
    lines += ["## Method", "", escape(methods_paragraph(document)), ""]
    for method in describe_methods(document):
        reference = f"[{escape(method.reference)}]({method.link})" if method.link else escape(method.reference)
        lines.append(f"- {method.name}: `{method.formula}`. {escape(method.words)} {reference}")
    lines += ["", escape(" ".join(f"{mark} at a verdict: {meaning}." for mark, meaning in MARKS.items()))]
    lines += ["", "## Provenance", ""]
    lines += [f"- {escape(row['test_set'])}: {escape(row['line'])}" for row in document["signature"]]
    lines += ["", escape(" · ".join(f"{name} {version}" for name, version in document["versions"].items())), ""]
    return "\n".join(lines)


def _section(figures: Sequence[Drawing], tables: Sequence[View]) -> list[str]:
    lines = []
    for drawing in figures:
        lines += [
            f"![{escape(drawing.alt)}](figures/{drawing.file})",
            "",
            f"{escape(drawing.title)}. {escape(drawing.caption)} Numbers: [{escape(drawing.table)}](tables/{drawing.table}).",
            "",
        ]
    caption = None
    for view in tables:
        lines += [f"### {escape(view.title)}", ""]
        lines.append("| " + " | ".join(escape(column) for column in view.columns) + " |")
        lines.append("|" + "|".join(" :-- " if column in view.text else " --: " for column in view.columns) + "|")
        lines += ["| " + " | ".join(escape(cell) for cell in row) + " |" for row in view.rows]
        lines.append("")
        if view.caption and view.caption != caption:
            lines += [escape(view.caption), ""]
        caption = view.caption
    return lines
