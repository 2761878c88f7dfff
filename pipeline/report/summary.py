"""A report in a few lines of plain text for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace

from pipeline.interfaces import Check
from pipeline.report.document import Report
from pipeline.report.listing import are_among, list_systems_first
from pipeline.report.model_text import model_views
from pipeline.report.pair_table import MARKS, mark_of, pair_table
from pipeline.report.pairs import as_pairs
from pipeline.report.presets import tell_preset, trust_preset
from pipeline.report.rows import BoardRow, FamilyKey, PairRow, Verdict, family_of
from pipeline.report.trust import FAMILIES
from pipeline.report.units import count_units
from pipeline.report.view import View, align_text
from pipeline.report.views import view_all

__all__ = ["choose_pairs", "conclude", "fit", "list_doubts", "summarise"]

SHOWN = ("better", "worse", "gain", "p", "exact", "p adjusted", "Holm eq.", "verdict")
BOARD_OF_MODELS = ("rank", "model", "runs", "mean", "sd", "rank interval")
PAIRS_OF_MODELS = ("better", "worse", "gain", "interval", "p", "p adjusted", "Holm eq.", "verdict")
BOARD = ("rank", "system", "score", "rank interval", "letters")

MOST_CHARACTERS = 400
"""Of a check's detail on a terminal; a report has all of it."""

COLUMNS = 80
"""Of a terminal."""

_LOWER = " · lower is better"


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
    boards = [view for view in view_all(report) if view.kind == "leaderboard"]
    blocks = []
    shown = dict(zip(report.places, boards, strict=True))
    lower = {family_of(row) for row in report.signature if "|higher:worse" in row.line}
    for verdict in report.verdict:
        place, test_set = family_of(verdict), report.test_set(verdict.test_set)
        if report.model_pairs_of(place):
            lines = _tell_models(report, place, most_pairs, rest)
            blocks.append("\n".join([*lines, "", *(fit(sentence, width) for sentence in verdict.sentences)]))
            continue
        board, rows = shown[place], report.pairs_of[place]
        total = report.count_of[place].pairs
        listed = choose_pairs(rows, report.board_of[place], most_pairs)
        pairs = pair_table(report, place, listed, "", digits=report.decimals(verdict.metric), tables=1)
        lines = [
            f"{board.title} · {count_units(test_set.items, test_set.units, test_set.unit, test_set.format)}"
            + _LOWER * (place in lower),
            "",
            *align_text(board.pick([c for c in board.columns if c in BOARD or c.startswith("than ")])),
            "",
        ]
        # A terminal has room for the adjustment that decides, and not for the others.
        asked = {*SHOWN, f"{100 * (1 - report.alpha):g} % interval", *([report.preset.name] if report.preset else [])}
        chosen = _narrow(pairs.pick(tuple(column for column in pairs.columns if column in asked)))
        lines += align_text(chosen)
        if total > len(chosen.rows):
            lines.append(f"… {total - len(chosen.rows):,} more pairs {rest}")
        marks = {mark for row in listed for mark in mark_of(row)}
        lines += [f"{mark} {meaning}" for mark, meaning in MARKS.items() if mark in marks]
        blocks.append("\n".join([*lines, "", *(fit(sentence, width) for sentence in verdict.sentences)]))
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


def _tell_models(report: Report, place: FamilyKey, most_pairs: int, rest: str) -> list[str]:
    """Return models by mean score and their pairs; single runs are counted."""
    board, pairs = model_views(report, place)
    test_set, runs = report.test_set(place.test_set), report.count_of[place].pairs
    lines = [f"{board.title} · {count_units(test_set.items, test_set.units, test_set.unit, test_set.format)}", ""]
    shown = replace(pairs, rows=pairs.rows[:most_pairs])
    columns = tuple(column for column in shown.columns if column in PAIRS_OF_MODELS)
    lines += [*align_text(board.pick(BOARD_OF_MODELS)), "", *align_text(shown.pick(columns))]
    if any(row.differs_within_margin for row in report.model_pairs_of(place)[:most_pairs]):
        lines.append(f"‡ {MARKS['‡']}")
    if len(pairs.rows) > most_pairs:
        lines.append(f"… {len(pairs.rows) - most_pairs:,} more pairs of models {rest}")
    return [*lines, f"… {runs:,} pairs of single {report.model_pairs_of(place)[0].repeated}s {rest}"]


def choose_pairs(rows: Sequence[PairRow], board: Sequence[BoardRow], most: int) -> Sequence[PairRow]:
    """Return the pairs that a reader looks for first: the best system with each other one, then neighbours in rank.

    Parameters
    ----------
    rows : sequence of PairRow
        All pairs of a family, the largest gain first.
    board : sequence of BoardRow
        Its leaderboard.
    most : int
        All pairs are given where they are no more; of more than that many systems the first ones have theirs.
    """
    wanted = [frozenset(pair) for pair in list_systems_first(board, most)]
    if len(rows) <= most or not wanted:
        return rows[:most]
    pairs = as_pairs(rows)
    known = {frozenset((row.system_a, row.system_b)): row for row in pairs.where(are_among(pairs, frozenset(wanted)))}
    return [known[pair] for pair in dict.fromkeys(wanted) if pair in known]
