"""Findings as a report holds them: checked, placed, named and ready for JSON. Nothing here knows an analysis by name.

What cannot be shown is refused, not dropped: `place_findings` collects every table, figure, file and section that has no place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, get_args, get_type_hints

import numpy as np

from pipeline.analyses.registry import analyses_of_compare
from pipeline.errors import PluginError, Problem
from pipeline.interfaces import Column, Finding, Table
from pipeline.report.facts import Cells, ChapterRow, FigureBlock, FindingBlock, HeadlineRow, TableBlock
from pipeline.report.rows import FamilyKey
from pipeline.report.values import MISSING, format_interval, format_number, format_p, format_share, plain

__all__ = ["CHAPTERS", "describe_findings", "files_of", "list_sections", "refuse_unshowable", "table_cells"]

CHAPTERS = {
    "leaderboard": "Leaderboard",
    "pairs": "Pairs",
    "figures": "Confidence against gain",
    "findings": "Findings",
    "trainings": "Trainings",
}
"""The report's own chapters, in the order of the page of a comparison: who leads, then what the pairs show."""

OF_PAIRS = ("figures", "findings")
"""The chapters, with the sections after them, that come first where a study asks what pairs in general show."""

MANY_PAIRS = 45
"""The pairs of ten systems; with fewer, a threshold says little."""

OF_RUNS = {"leaderboard": "Single runs", "pairs": "Pairs of single runs"}
"""The chapters that are details where verdicts are about models: what they are called there."""

_OWN_FIGURES = ("models", "scores", "matrix", "confidence")
_OWN_FILES = ("models", "model_pairs", "pairs", "pair_sizes", "systems", "leaderboard", "clusters", "alignment", "trainings")
_FORMS: Mapping[str, Callable[[Any, int], str]] = {
    "text": lambda value, _: str(value),
    "written": lambda value, _: str(value),
    "count": lambda value, _: f"{value:,}",
    "score": format_number,
    "p": lambda value, _: format_p(value),
    "number": lambda value, _: f"{value:.3g}",
    "share": lambda value, _: format_share(value),
    "interval": format_interval,
    "p-interval": lambda value, _: f"[{format_p(value['lo'])}, {format_p(value['hi'])}]",
    "share-interval": lambda value, _: format_interval(value, percent=True),
}
assert _FORMS.keys() == {*get_args(get_type_hints(Column)["form"])}


def refuse_unshowable(findings: Sequence[Finding], places: Collection[FamilyKey]) -> None:
    """Raise if an analysis returns something that no page can show.

    Parameters
    ----------
    findings : sequence of Finding
    places : collection of FamilyKey
        Each test set, metric and procedure of the report.

    Raises
    ------
    PluginError
        P312 for each section, table, figure and file that has no place, no name or no rows behind it; all at once.
    """
    problems = [
        Problem("P312", f"the analysis {finding.analysis!r}: {what}", help=help_)
        for finding in findings
        for what, help_ in (*_complaints(finding), *_strays(finding, places))
    ]
    problems += [
        Problem("P312", f"two analyses open the section {key!r}", help="give one of them another key")
        for key in dict.fromkeys(section.key for finding in findings for section in finding.sections)
        if len({section for finding in findings for section in finding.sections if section.key == key}) > 1
    ]
    if problems:
        raise PluginError(*problems)


def _strange(value: Any) -> str | None:
    """Return the kind of a value, or of one within it, that JSON has none for; its text may differ from run to run."""
    if value is None or isinstance(value, str | bool | int | float | np.generic | np.ndarray):
        return None
    if isinstance(value, Mapping):
        return next(filter(None, map(_strange, value.values())), None)
    if isinstance(value, list | tuple | set | frozenset):
        return next(filter(None, map(_strange, value)), None)
    return f"an object of the type {type(value).__name__}"


def _complaints(finding: Finding) -> Iterator[tuple[str, str]]:
    chapters, own = ", ".join(CHAPTERS), {section.key for section in finding.sections}
    for section in finding.sections:
        if not re.fullmatch("[a-z][a-z0-9-]*", section.key) or section.key in {
            *CHAPTERS,
            "models",
            "verdict",
            "trust",
            "method",
            "provenance",
        }:
            yield f"{section.key!r} cannot be the key of a section", "take small letters, digits and hyphens, and no chapter's key"
        if section.after not in CHAPTERS:
            yield f"the section {section.key!r} stands after {section.after!r}, which is not a chapter", f"chapters are: {chapters}"
    for kind, shown in (("table", finding.tables), ("figure", finding.figures)):
        for one in shown:
            if one.section not in {*CHAPTERS, *own}:
                help_ = f"name a chapter ({chapters}), or a section of this finding"
                yield f"the {kind} {one.title!r} is to stand in {one.section!r}, and there is no such section", help_
    for table in finding.tables:
        for row in _rows_of(finding.rows, table)[:1]:
            for column in table.columns:
                if column.key not in row:
                    yield f"the table {table.title!r} shows {column.key!r}, which its rows lack", "name a key of every row"
        for column in table.columns:
            if column.form not in _FORMS:
                yield f"the table {table.title!r} has a column of the form {column.form!r}", f"forms are: {', '.join(_FORMS)}"
    for where, rows in {
        "its rows": finding.rows,
        **{f"the file {name!r}": rows for name, rows in (finding.csv or {}).items()},
    }.items():
        strange = next(filter(None, map(_strange, rows)), None)
        if strange is not None:
            yield f"{where}: {strange}, which is not a plain value", "rows have text, numbers, true, false and None"
    for figure in finding.figures:
        if not re.fullmatch("[a-z][a-z0-9-]*", figure.name) or figure.name in _OWN_FIGURES:
            yield f"{figure.name!r} cannot be the name of a figure", f"take small letters, digits and hyphens, not {_OWN_FIGURES}"
        if not finding.files.get(figure.table):
            yield (
                f"the figure {figure.title!r} has no rows behind it: there are none in {figure.table!r}",
                "name one of the finding's `csv`, with the numbers that are drawn",
            )
    for name in finding.files:
        if not re.fullmatch("[a-z][a-z0-9_]*", name) or name in _OWN_FILES:
            yield (
                f"{name!r} cannot be the name of a CSV file",
                "take small letters, digits and underscores, and no file of the report",
            )


def _strays(finding: Finding, places: Collection[FamilyKey]) -> Iterator[tuple[str, str]]:
    """Yield the sentences and marks whose family is not in the report, with what to do."""
    of_all = [{"metric": place.metric, "procedure": place.procedure} for place in places]
    stray = (headline for headline in finding.headlines if headline.where not in of_all)
    wheres = [(f"the sentence {headline.sentence!r} belongs to no verdict", headline.where) for headline in stray]
    wheres += [("a mark belongs to no scatter", mark.where) for mark in finding.marks]
    for what, where in wheres:
        if tuple(where.get(key) for key in FamilyKey._fields) not in places or len(where) > len(FamilyKey._fields):
            yield f"{what}: {dict(where)}", f"say {', '.join(FamilyKey._fields)}, as the report has them"


def list_sections(findings: Sequence[Finding], *, of_models: bool = False, pairs: int = 0) -> list[ChapterRow]:
    """Return the chapters of the report and the sections of analyses in the order of the page.

    Where verdicts are about models, the chapter on models comes first, and those on single runs last. With
    `MANY_PAIRS` pairs or more, what all pairs show in general comes before the leaderboard, if an analysis beyond those of
    `compare` asks for it.

    Parameters
    ----------
    findings : sequence of Finding
    of_models : bool, optional
    pairs : int, optional
        Of the largest family.
    """
    chapters, told = CHAPTERS, analyses_of_compare()
    asked = (section for finding in findings if finding.analysis not in told for section in finding.sections)
    if pairs >= MANY_PAIRS and any(section.after in OF_PAIRS for section in asked):
        chapters = {key: CHAPTERS[key] for key in (*OF_PAIRS, *(key for key in CHAPTERS if key not in OF_PAIRS))}
    if of_models:
        chapters = {"models": "Models", **{key: title for key, title in CHAPTERS.items() if key not in OF_RUNS}, **OF_RUNS}
    opened = list(dict.fromkeys(section for finding in findings for section in finding.sections))
    places = []
    for key, title in chapters.items():
        places.append(ChapterRow(key, title))
        places += [ChapterRow(section.key, section.title) for section in opened if section.after == key]
    return places


def files_of(findings: Sequence[Finding]) -> list[dict[str, str]]:
    """Return, for each finding, the names of its files in ``tables/``; an analysis that was asked twice has numbered ones."""
    taken: dict[str, int] = {}
    found = []
    for finding in findings:
        names = {}
        for name in finding.files:
            taken[name] = taken.get(name, 0) + 1
            names[name] = f"{name}.csv" if taken[name] == 1 else f"{name}_{taken[name]}.csv"
        found.append(names)
    return found


def describe_findings(findings: Sequence[Finding]) -> list[FindingBlock]:
    """Return findings as the document holds them; figures have the names of their files, in ``figures/`` and ``tables/``."""
    numbers: dict[str, int] = {}
    described = []
    for finding, files in zip(findings, files_of(findings), strict=True):
        figures = []
        for figure in finding.figures:
            numbers[figure.name] = numbers.get(figure.name, 0) + 1
            figures.append(
                FigureBlock(
                    section=figure.section,
                    title=figure.title,
                    alt=figure.alt,
                    caption=figure.caption,
                    file=f"{figure.name}-{numbers[figure.name]:02d}.svg",
                    table=files[figure.table],
                )
            )
        described.append(
            FindingBlock(
                analysis=finding.analysis,
                rows=plain(finding.rows),
                details=plain(finding.details),
                tables=[_describe_table(table) for table in finding.tables],
                figures=figures,
                files=[files[name] for name, rows in finding.files.items() if rows],
                headlines=[HeadlineRow(**{"test_set": "", **one.where}, sentence=one.sentence) for one in finding.headlines],
                checks=finding.checks,
            )
        )
    return described


def _describe_table(table: Table) -> TableBlock:
    return TableBlock(
        section=table.section,
        title=table.title,
        where=plain(table.where),
        columns=table.columns,
        caption=table.caption,
        rows=None if table.rows is None else [{c.key: plain(row[c.key]) for c in table.columns} for row in table.rows],
    )


def _rows_of(rows: Sequence[Cells], table: Table | TableBlock) -> Sequence[Cells]:
    return [row for row in rows if table.where.items() <= row.items()] if table.rows is None else table.rows


def table_cells(rows: Sequence[Cells], table: TableBlock, digits: int) -> Iterator[tuple[str, ...]]:
    """Format the rows that a table of a finding shows; ``digits`` are of scores."""
    for row in _rows_of(rows, table):
        values = [(row[column.key], _FORMS[column.form]) for column in table.columns]
        yield tuple(MISSING if value is None else form(value, digits) for value, form in values)
