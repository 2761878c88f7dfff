"""What a comparison found, for a notebook: the document of ``report.json`` that shows itself, and its tables as DataFrames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

from pipeline.report.document import Report, read_report
from pipeline.report.facts import AllPairs
from pipeline.report.layout.excerpts import Excerpt, list_excerpts
from pipeline.report.layout.latex import render_latex
from pipeline.report.layout.markdown import escape as escape_markdown
from pipeline.report.layout.overview import Overview, look_over
from pipeline.report.layout.summary import list_remarks, summarise
from pipeline.report.layout.view import View

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]

__all__ = ["Results", "latex_of"]

_REST = "are in `.pairs`"


class Results(dict[str, Any]):
    """The document of ``report.json``, which prints as the terminal does, and in a notebook as tables.

    Examples
    --------
    ``found = pipeline.compare("scores.csv")``, and then

    - ``found`` shows systems, pairs and the verdict; ``found.verdict`` is its text,
    - ``found.systems`` and ``found.pairs`` are DataFrames; ``found.models`` and ``found.model_pairs`` too, of runs of models,
    - ``found.to_latex()`` and ``found.to_markdown()`` are tables for a paper,
    - ``found["pairs"]`` and so on are the document, as docs/report.schema.json describes it.
    """

    @classmethod
    def of(cls, document: Mapping[str, Any], report: Report) -> Results:
        """Return a document whose rows with fields are at hand: to read them from it takes time.

        Where its pairs are and what it warns of may be put otherwise than in the report.
        """
        found = cls(document)
        vars(found)["report"] = replace(report, all_pairs=AllPairs(**document["all_pairs"]), warnings=document["warnings"])
        return found

    @cached_property
    def report(self) -> Report:
        """The document as rows with fields."""
        return read_report(self)

    @property
    def verdict(self) -> str:
        """What may be claimed, a paragraph for each test set and metric."""
        return "\n\n".join(" ".join(verdict.sentences) for verdict in self.report.verdict)

    @property
    def systems(self) -> pd.DataFrame:
        """The systems of each family by rank: score, interval, ranks, and how many others each one beats."""
        return _frame(self["leaderboard"])

    @property
    def pairs(self) -> pd.DataFrame:
        """The pairs that the document lists, at most 2000 a run: gain, interval, p, verdict; nested fields as ``interval.lo``."""
        return _frame(self["pairs"])

    @property
    def models(self) -> pd.DataFrame:
        """The models by mean score; no rows where no system is one of several runs of a model."""
        return _frame(self["models"])

    @property
    def model_pairs(self) -> pd.DataFrame:
        """The pairs of models; no rows where there are no models."""
        return _frame(self["model_pairs"])

    def finding(self, analysis: str) -> pd.DataFrame:
        """Return the rows of an analysis, such as ``thresholds``; KeyError with those there are where it was not asked."""
        asked = {block["analysis"]: block for block in self["findings"]}
        if analysis not in asked:
            raise KeyError(f"no analysis {analysis!r} was made; there are {', '.join(asked) or 'none'}")
        return _frame(asked[analysis]["rows"])

    def to_latex(self) -> str:
        """Return systems and pairs as LaTeX tables (booktabs), those that are printed."""
        return latex_of(self.report)

    def to_markdown(self) -> str:
        """Return the verdict and the tables that are printed as Markdown."""
        told = _lead_markdown(look_over(self.report))
        return "\n".join([*told, *(line for one in list_excerpts(self.report) for line in _markdown(one))])

    def __repr__(self) -> str:
        return summarise(self.report, rest=_REST)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        remarks = [f"<small>{escape(line)}</small>" for lines in list_remarks(self.report) for line in lines]
        told = [f"<p>{'<br>'.join(remarks)}</p>"] if remarks else []
        first = _lead_html(look_over(self.report))
        return "\n".join([*first, *(line for one in list_excerpts(self.report) for line in _html(one)), *told])


def latex_of(report: Report) -> str:
    """Return the systems and pairs of each family as LaTeX tables; captions say what is shown and by which test."""
    tables = []
    for one in list_excerpts(report):
        of = f"{one.heading}."
        listed = f" Without {' and '.join(one.more)}." if one.more else ""
        marks = " ".join(f"{mark}." for mark in one.marks)
        tables += [(one.board, f"{one.about.capitalize()}. {of}"), (one.pairs, f"Pairs. {of}{listed} {marks}".rstrip())]
    return render_latex(tables)


def _frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    return pd.json_normalize([dict(row) for row in rows])


def _lead_markdown(overview: Overview | None) -> Iterator[str]:
    if overview is not None:
        yield from (f"**{escape_markdown(' '.join(overview.sentences))}**", "")
        yield from (*_markdown_table(overview.table), escape_markdown(overview.table.caption), "")


def _markdown(one: Excerpt) -> Iterator[str]:
    yield from (f"**{escape_markdown(one.heading)}**", "", escape_markdown(" ".join(one.sentences)), "")
    for view in (one.board, one.pairs):
        yield from _markdown_table(view)
    for line in (*one.marks, *(f"Without {more}." for more in one.more)):
        yield from (escape_markdown(line), "")


def _markdown_table(view: View) -> Iterator[str]:
    yield "| " + " | ".join(map(escape_markdown, view.columns)) + " |"
    yield "|" + "|".join("---" if column in view.text else "--:" for column in view.columns) + "|"
    yield from ("| " + " | ".join(map(escape_markdown, row)) + " |" for row in view.rows)
    yield ""


def _lead_html(overview: Overview | None) -> Iterator[str]:
    if overview is not None:
        yield f"<p><strong>{escape(' '.join(overview.sentences))}</strong></p>"
        yield from _html_table(overview.table)
        yield f"<p><small>{escape(overview.table.caption)}</small></p>"


def _html(one: Excerpt) -> Iterator[str]:
    first, *others = one.sentences
    yield f"<p>{escape(one.heading)}<br><strong>{escape(first)}</strong></p>"
    for view in (one.board, one.pairs):
        yield from _html_table(view)
    for line in (*one.marks, *(f"… {more} {_REST}" for more in one.more)):
        yield f"<p><small>{escape(line)}</small></p>"
    if others:
        yield f"<p>{escape(' '.join(others))}</p>"


def _html_table(view: View) -> Iterator[str]:
    sides = ["left" if column in view.text else "right" for column in view.columns]
    heads = "".join(f'<th style="text-align:{side}">{escape(head)}</th>' for side, head in zip(sides, view.columns, strict=True))
    yield f"<table><thead><tr>{heads}</tr></thead><tbody>"
    for row in view.rows:
        cells = "".join(
            f'<td style="text-align:{side};white-space:nowrap">{escape(cell)}</td>' for side, cell in zip(sides, row, strict=True)
        )
        yield f"<tr>{cells}</tr>"
    yield "</tbody></table>"
