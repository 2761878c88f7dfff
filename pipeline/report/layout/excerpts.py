"""What a reader looks for first, by family: systems, the pairs that matter, the verdict. For terminal, notebook and LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from pipeline.dataclass import dataclass
from pipeline.interfaces.wording import call_metrics, write_p_at
from pipeline.report.document import Report
from pipeline.report.layout.view import View
from pipeline.report.layout.views import view_all
from pipeline.report.models.model_text import model_views
from pipeline.report.pairs.listing import are_among, list_systems_first
from pipeline.report.pairs.pair_table import MARKS, OPEN_END, has_open_end, marks_of, pair_table
from pipeline.report.pairs.pairs import as_pairs
from pipeline.report.rows import BoardRow, FamilyKey, PairRow, Verdict, family_of
from pipeline.report.trust.units import count_units

__all__ = ["Excerpt", "first_pairs", "list_excerpts"]

SHOWN = ("better", "worse", "gain", "p", "exact", "p adjusted", "Holm eq.", "verdict")
BOARD_OF_MODELS = ("rank", "model", "runs", "mean", "sd", "rank interval")
PAIRS_OF_MODELS = ("better", "worse", "gain", "interval", "p", "p adjusted", "Holm eq.", "verdict")
BOARD = ("rank", "system", "score", "rank interval", "letters")

_LOWER = " · lower is better"


@dataclass(frozen=True)
class Excerpt:
    """A family in short.

    Parameters
    ----------
    place : FamilyKey
    about : {"systems", "models"}
    heading : str
        Test set, metric, procedure, and the number of items and units.
    board, pairs : View
    more : list of str
        How many pairs are not listed, and of what.
    marks : list of str
        What the marks at verdicts mean, one a line.
    sentences : sequence of str
        The verdict.
    first : frozenset of str
        The names that no other is known to be better than.
    """

    place: FamilyKey
    about: Literal["systems", "models"]
    heading: str
    board: View
    pairs: View
    more: list[str]
    marks: list[str]
    sentences: Sequence[str]
    first: frozenset[str] = frozenset()


def list_excerpts(report: Report, *, most_pairs: int = 20) -> list[Excerpt]:
    """Return the families that have a verdict.

    Parameters
    ----------
    most_pairs : int
        Where there are more pairs, those that a reader looks for first are listed (`first_pairs`), and the rest is counted.
    """
    with call_metrics(report.titles), write_p_at(report.alpha):
        return list(_iterate(report, most_pairs))


def _iterate(report: Report, most_pairs: int) -> Iterator[Excerpt]:
    boards = dict(zip(report.places, (view for view in view_all(report) if view.kind == "leaderboard"), strict=True))
    for verdict in report.verdict:
        place = family_of(verdict)
        if report.model_pairs_of(place):
            yield _of_models(report, place, verdict, most_pairs)
        else:
            yield _of_systems(report, place, verdict, most_pairs, boards[place], _LOWER * report.falls(place))


def _of_systems(report: Report, place: FamilyKey, verdict: Verdict, most: int, board: View, lower: str) -> Excerpt:
    rows: Sequence[PairRow] = report.pairs_of[place]
    total = report.count_of[place].pairs
    if report.family.baseline is not None:  # other pairs have no verdict
        rows, total = [row for row in rows if row.in_family], report.count_of[place].in_family
    listed = first_pairs(rows, report.board_of[place], most, alpha=report.alpha)
    pairs = pair_table(report, place, listed, "", digits=report.decimals(place.metric), tables=1)
    # There is room only for the adjustment that decides.
    ends = f"{100 * (1 - report.alpha):g} % interval"
    asked = {*SHOWN, ends, *([report.preset.name] if report.preset else [])}
    marks = {mark for marks in marks_of(as_pairs(listed)) for mark in marks}
    open_end = [OPEN_END] if ends in pairs.columns and has_open_end(as_pairs(listed)) else []
    return Excerpt(
        place,
        "systems",
        f"{board.title} · {_count(report, place)}{lower}",
        board.pick([column for column in board.columns if column in {*BOARD, ends} or column.startswith("than ")]),
        pairs.pick(tuple(column for column in pairs.columns if column in asked)),
        [f"{total - len(listed):,} more pairs"] if total > len(listed) else [],
        [*(f"{mark} {meaning}" for mark, meaning in MARKS.items() if mark in marks), *open_end],
        verdict.sentences,
        frozenset(row.name for row in report.board_of[place] if row.rank_low == 1),
    )


def _of_models(report: Report, place: FamilyKey, verdict: Verdict, most: int) -> Excerpt:
    """Return models by mean score and their pairs; single runs are counted."""
    board, pairs = model_views(report, place)
    shown = replace(pairs, rows=pairs.rows[:most])
    more = [f"{len(pairs.rows) - most:,} more pairs of models"] if len(pairs.rows) > most else []
    run = report.model_pairs_of(place)[0].repeated
    marked = any(row.differs_within_margin for row in report.model_pairs_of(place)[:most])
    return Excerpt(
        place,
        "models",
        f"{board.title} · {_count(report, place)}",
        board.pick(BOARD_OF_MODELS),
        shown.pick(tuple(column for column in shown.columns if column in PAIRS_OF_MODELS)),
        [*more, f"{report.count_of[place].pairs:,} pairs of single {run}s"],
        [f"‡ {MARKS['‡']}"] if marked else [],
        verdict.sentences,
        frozenset(row[board.columns.index("model")] for row in board.rows if row[board.columns.index("rank interval")][:2] == "1–"),
    )


def _count(report: Report, place: FamilyKey) -> str:
    test_set = report.test_set(place.test_set)
    return count_units(test_set.items, test_set.units, test_set.unit, test_set.format)


def first_pairs(rows: Sequence[PairRow], board: Sequence[BoardRow], most: int, *, alpha: float) -> Sequence[PairRow]:
    """Return the pairs that a reader looks for first.

    They are those of the best system with each other one; of neighbours in rank; and those whose verdict is the closest.

    Parameters
    ----------
    rows : sequence of PairRow
        All pairs of a family, the largest gain first.
    board : sequence of BoardRow
        Its leaderboard.
    most : int
        All pairs are given where they are no more; of more than that many systems the first ones have theirs. Of close verdicts
        there are a quarter as many.
    alpha : float
        Significance level: p adjusted is compared with it on a log scale.
    """
    wanted = [frozenset(pair) for pair in list_systems_first(board, most)]
    if len(rows) <= most or not wanted:
        return rows[:most]
    pairs = as_pairs(rows)
    among = are_among(pairs, frozenset(wanted))
    known = {frozenset((row.system_a, row.system_b)): row for row in pairs.where(among)}
    first = [known[pair] for pair in dict.fromkeys(wanted) if pair in known]
    distance = np.abs(np.log(pairs.floats("p_adjusted").clip(np.finfo(np.float64).tiny) / alpha))
    distance[among | np.isnan(distance)] = np.inf
    close = np.zeros(len(rows), np.bool_)
    close[np.argsort(distance, kind="stable")[: most // 4]] = True
    return [*first, *pairs.where(close & np.isfinite(distance))]
