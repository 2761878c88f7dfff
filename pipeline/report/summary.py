"""A report in a few lines of plain text for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from pipeline.interfaces import Check
from pipeline.report.document import Report
from pipeline.report.excerpts import list_excerpts
from pipeline.report.presets import tell_preset, trust_preset
from pipeline.report.rows import Verdict
from pipeline.report.trust import FAMILIES
from pipeline.report.view import View, align_text

__all__ = ["conclude", "fit", "list_doubts", "summarise"]


MOST_CHARACTERS = 400
"""Of a check's detail on a terminal; a report has all of it."""

COLUMNS = 80
"""Of a terminal."""


def conclude(verdicts: Sequence[Verdict], *, most: int = 5) -> list[str]:
    """Return what a run found in a few lines: the verdict of one family, or the first sentence of each of several.

    Parameters
    ----------
    most : int
        Families to name; the rest is counted.
    """
    if len(verdicts) == 1:
        return [" ".join(verdicts[0].sentences)]
    lines = [f"{verdict.test_set} · {verdict.metric}: {verdict.sentences[0]}" for verdict in verdicts[:most]]
    rest = len(verdicts) - most
    return [*lines, f"… {rest:,} more verdict{'s are' if rest > 1 else ' is'} in the report"] if rest > 0 else lines


def list_doubts(checks: Sequence[Check]) -> list[str]:
    """Return what p is corrected for; a line for each check that found something; and for each that was not made: why.

    Examples
    --------
    >>> told = [("Failures", "ok", "0."), ("Independence", "not checked", "No one knows. p …"), ("Few units", "check", "12 items.")]
    >>> list_doubts([Check(*row) for row in told])
    ['check: Few units. 12 items.', 'not checked: Independence. No one knows.']
    """
    lines = [f"{'check: ' * (row.status == 'check')}{row.check}. {row.detail}" for row in checks if row.check == FAMILIES]
    lines += [f"check: {row.check}. {_cut(row.detail)}" for row in checks if row.status == "check" and row.check != FAMILIES]
    unmade = [(row.check, row.detail.partition(". ")) for row in checks if row.status == "not checked"]
    return lines + [f"not checked: {name}. {_cut(first)}{'.' * bool(stop)}" for name, (first, stop, _) in unmade]


def _cut(detail: str) -> str:
    if len(detail) <= MOST_CHARACTERS:
        return detail
    end = max(detail.rfind(stop, 0, MOST_CHARACTERS) for stop in (". ", "; ", ", ", " "))
    return f"{detail[: end + 1].rstrip(' ;,')} …" if end > 0 else f"{detail[:MOST_CHARACTERS]}…"


def fit(line: str, width: int | None) -> str:
    """Break a line between words where a terminal of some columns would break it within one; None leaves it whole."""
    if width is None:
        return line
    return textwrap.fill(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def summarise(report: Report, *, most_pairs: int = 20, rest: str = "are in the report", width: int | None = None) -> str:
    """Return systems by score, the pairs and the verdict of each test set and metric, and what is not in order, as aligned text.

    Parameters
    ----------
    most_pairs : int
        Where there are more pairs, those of the best system and of neighbours in rank are listed, and the rest is counted.
    rest : str
        Where the rest is.
    width : int, optional
        Columns of the terminal that sentences are broken for.
    """
    blocks = []
    for one in list_excerpts(report, most_pairs=most_pairs):
        pairs = _narrow(one.pairs) if one.about == "systems" else one.pairs
        lines = [one.heading, "", *align_text(one.board), "", *align_text(pairs)]
        lines += [f"… {more} {rest}" for more in one.more if one.about == "systems"] + one.marks
        lines += [f"… {more} {rest}" for more in one.more if one.about != "systems"]
        blocks.append("\n".join([*lines, "", *(fit(sentence, width) for sentence in one.sentences)]))
    own = {row.check for row in trust_preset(report)}  # said with the preset itself
    doubts = list_doubts([row for row in report.trust if row.check not in own])
    warned = [f"warning: {warning}" for warning in report.warnings]
    told = ["\n".join(fit(line, width) for line in lines) for lines in (doubts, warned) if lines]
    return "\n\n".join([*blocks, *told, *(fit(line, width) for line in tell_preset(report))])


def _narrow(table: View) -> View:
    """Return a table of pairs without what the p that decides makes dispensable, where that brings it within 80 columns."""
    for left_out in ((), ("exact",), ("exact", "p")):  # p adjusted is at least the exact p
        narrower = table.pick(tuple(column for column in table.columns if column not in left_out))
        if max(map(len, align_text(narrower))) <= COLUMNS:
            return narrower
    return table
