"""The report as a page and as Markdown: the same sentences, tables and digits.

The page is one file that loads nothing from elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict

from markupsafe import Markup

from pipeline.interfaces.wording import name_metric
from pipeline.report.claims import claim_of
from pipeline.report.document import Report
from pipeline.report.drawing.svg import Drawing, inline_svg
from pipeline.report.item_scores import ItemScores, encode_item_scores
from pipeline.report.layout.breaks import LineBreaks, break_between_parts, room_of
from pipeline.report.layout.markdown import escape
from pipeline.report.layout.overview import look_over
from pipeline.report.layout.templates import make_environment
from pipeline.report.layout.view import View
from pipeline.report.methods import describe_methods, methods_paragraph
from pipeline.report.pairs.all_pairs import encode_all_pairs
from pipeline.report.pairs.pair_table import MARKS
from pipeline.report.provenance import Provenance
from pipeline.report.trainings import tell_failures
from pipeline.study.writing import UNNAMED_STUDY

__all__ = ["render_html", "render_markdown", "title_of", "without_files"]

LONG = 25
LONG_CAPTION = 420
"""Characters beyond which a caption is folded, so that readers who know the table need not scroll past it."""
MOST_PRINTED = 60
"""Rows of a folded table that is printed unfolded: a page of paper, as that of a leaderboard."""
MOST_COLUMNS = 12
"""Of a table in the usual letters; the words and numbers of one with more stand closer, so that a common screen has room for it."""
MOST_FIGURES = 10
_TRUST = {"check": "check", "unchecked": "not checked", "ok": "ok"}
"""Groups of checks on the page: those that need a look come first, those in order are folded."""


def render_html(
    report: Report,
    views: Sequence[View],
    drawings: Sequence[Drawing],
    files: Collection[str] = (),
    provenance: Provenance = Provenance(),  # noqa: B008 - frozen
    items: Sequence[ItemScores] = (),
) -> str:
    """Return the page as text; every name of the study is escaped.

    Parameters
    ----------
    report, views, drawings
        What the page shows.
    files : collection of str
        Paths of the files that will lie beside the page, which it links to.
    provenance : Provenance, optional
        Where the numbers come from.
    items : sequence of ItemScores, optional
        What single items do for systems.
    """
    environment = make_environment()
    breaks = LineBreaks([*(row.name for row in report.systems), *(row.model for row in report.models), *report.procedures])
    environment.filters |= {"coded": breaks.coded, "sentence": breaks.sentence, "name_metric": name_metric}
    environment.filters |= {"breakable": break_between_parts, "room": room_of}
    # The SVG is made by `pipeline.report.drawing` or by matplotlib, which escape all text; it is the only markup let through.
    inline = {drawing.file: Markup(_inline(drawing, f"f{k}", breaks)) for k, drawing in enumerate(drawings, start=1)}
    sections = []
    for section in report.sections:
        figures = [drawing for drawing in drawings if drawing.section == section.key]
        tables = [view for view in views if view.kind == section.key]
        if figures or tables:
            shown, more = figures[:MOST_FIGURES], len(figures) - MOST_FIGURES
            sections.append(asdict(section) | {"figures": shown, "more": max(0, more), "views": tables})
    text = environment.get_template("report.html.j2").render(
        report=report,
        overview=look_over(report),
        claims=[claim_of(report, verdict) for verdict in report.verdict],
        failures=tell_failures(report),
        title=title_of(report),
        provenance=provenance,
        item_scores=Markup(encode_item_scores(items)),
        # Made of JSON, in which no "<" is left: nothing in it ends the element or begins another.
        all_pairs=Markup(encode_all_pairs(report, views)),
        trust={key: [row for row in report.trust if row.status == status] for key, status in _TRUST.items()},
        files=sorted(files),
        sections=sections,
        inline=inline,
        long=LONG,
        long_caption=LONG_CAPTION,
        most_columns=MOST_COLUMNS,
        most_printed=MOST_PRINTED,
        marks=MARKS,
        methods=describe_methods(report),
        paragraph=methods_paragraph(report),
    )
    return text.rstrip() + "\n"


def _inline(drawing: Drawing, prefix: str, breaks: LineBreaks) -> str:
    alt = breaks.plain(drawing.alt)
    narrow = inline_svg(drawing.narrow, f"{prefix}n", alt=alt, narrow=True) if drawing.narrow else ""
    return inline_svg(drawing.svg, prefix, alt=alt) + narrow


def title_of(report: Report) -> str:
    """Return what a page is called: a comparison without a study file after what it compares, anything else as its study."""
    if report.study != UNNAMED_STUDY:
        return report.study
    names = list(dict.fromkeys([row.model for row in report.models] or [row.name for row in report.systems]))
    named = " and ".join(names) if len(names) == 2 else f"{len(names)} {'models' if report.models else 'systems'}"
    return f"{named} compared"


def without_files(page: str) -> str:
    """Return a page that stands alone, without links to files beside it."""
    page = re.sub(r"<!-- files -->.*?<!-- end of files -->\s*", "", page, flags=re.DOTALL)
    page = re.sub(r' <span class="quiet">Numbers: <a class="file"[^>]*>[^<]*</a>\.</span>', "", page)
    return re.sub(r'<a class="file"[^>]*>([^<]*)</a>', r"\1", page)


def render_markdown(
    report: Report,
    views: Sequence[View],
    drawings: Sequence[Drawing],
    provenance: Provenance = Provenance(),  # noqa: B008 - frozen
) -> str:
    """Return the whole report as Markdown."""
    lines = [f"# {escape(title_of(report))}", ""]
    lines += ["## Verdict", ""]
    for lead in report.leads:
        lines += [f"**{escape(lead)}**", ""]
    if (overview := look_over(report)) is not None:
        lines += [line for sentence in overview.sentences for line in (f"**{escape(sentence)}**", "")]
        lines += [*_table(overview.table), escape(overview.table.caption), ""]
    for verdict in report.verdict:
        where = f"{escape(verdict.test_set)} · {escape(name_metric(verdict.metric))}"
        lines += [f"**{where}.** {escape(' '.join(verdict.sentences))}", ""]
        claim = claim_of(report, verdict)
        lines += [f"> {escape(claim)}", ""] if claim else []
    for warning in report.warnings:
        lines += [f"> Warning: {escape(warning)}", ""]
    for failure in tell_failures(report):
        lines += [f"> Failed: {escape(failure)}", ""]
    lines += ["## How far to trust it", ""]
    lines += [f"- {row.status}: {escape(row.check)}. {escape(row.detail)}" for row in report.trust]
    lines.append("")
    for section in report.sections:
        figures = [drawing for drawing in drawings if drawing.section == section.key]
        tables = [view for view in views if view.kind == section.key]
        if figures or tables:
            lines += [f"## {escape(section.title)}", "", *_section(figures, tables)]
    lines += ["## Method", "", escape(methods_paragraph(report)), ""]
    for method in describe_methods(report):
        reference = f"[{escape(method.reference)}]({method.link})" if method.link else escape(method.reference)
        lines.append(f"- {method.name}: `{method.formula}`. {escape(method.words)} {reference}")
    lines += ["", escape(" ".join(f"{mark} at a verdict: {meaning}." for mark, meaning in MARKS.items()))]
    lines += ["", "## Provenance", ""]
    lines += [f"- {escape(row.test_set)}: {escape(row.line)}" for row in report.signature]
    if provenance.command:
        began = f" Begun {provenance.started}." if provenance.started else ""
        lines += ["", f"Made by `{provenance.command}`.{began}"]
    lines += ["", escape(" · ".join(f"{name} {version}" for name, version in report.versions.items())), ""]
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
        lines += [f"### {escape(view.title)}", "", *_table(view)]
        if view.caption and view.caption != caption:
            lines += [escape(view.caption), ""]
        caption = view.caption
    return lines


def _table(view: View) -> Iterator[str]:
    yield "| " + " | ".join(escape(column) for column in view.columns) + " |"
    yield "|" + "|".join(" :-- " if column in view.text else " --: " for column in view.columns) + "|"
    yield from ("| " + " | ".join(escape(cell) for cell in row) + " |" for row in view.rows)
    yield ""
