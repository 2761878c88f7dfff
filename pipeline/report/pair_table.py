"""The table of the pairs of one family. This module chooses its columns by what the family has, and says what each is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from pipeline.inference.readings import READINGS
from pipeline.report.adjustment import name_adjustment
from pipeline.report.intervals import BELONGS_TO
from pipeline.report.presets import add_tool_column
from pipeline.report.procedures import WORDS
from pipeline.report.values import MISSING, format_interval, format_number, format_p
from pipeline.report.view import View

__all__ = ["MARKS", "MOST_PAIRS", "mark_of", "pair_table"]

MOST_PAIRS = 400
MARKS = {
    "*": "the verdict lies so near α, adjusted for its family, that other draws may change it",
    "†": "fewer than 20 units on which the two systems differ: p is not to be trusted",
}
"""What stands behind a verdict, and what it means."""

_Rows: TypeAlias = Sequence[Mapping[str, Any]]
_Columns: TypeAlias = Mapping[str, Callable[[Mapping[str, Any]], str]]


def mark_of(row: Mapping[str, Any]) -> str:
    """Give the marks behind a pair's verdict, keys of `MARKS`."""
    return ("*" if row["stable"] is False else "") + ("†" if row["few_discordant"] else "")


def pair_table(document: Mapping[str, Any], where: Mapping[str, str], rows: _Rows, title: str, *, digits: int, tables: int) -> View:
    """Give the pairs of one family, at most so many that a page of ``tables`` of them can be read."""
    shown = _nearest(rows, document["alpha"], max(20, MOST_PAIRS // max(1, tables)))
    columns = dict(_columns(document, where, rows, shown, digits))
    heads, cells = tuple(columns), tuple(tuple(tell(row) for tell in columns.values()) for row in shown)
    heads, cells = add_tool_column(document, shown, heads, cells)
    caption = " ".join(_caption(document, where, rows, shown))
    return View("pairs", title, heads, cells, caption, frozenset({"better", "worse", "verdict"}))


def _columns(
    document: Mapping[str, Any], where: Mapping[str, str], rows: _Rows, shown: _Rows, digits: int
) -> Iterator[tuple[str, Callable[[Mapping[str, Any]], str]]]:
    whole = READINGS[where["procedure"]].interval
    yield "better", lambda row: str(row["system_a"])
    yield "worse", lambda row: str(row["system_b"])
    yield "gain", lambda row: format_number(row["delta"], digits)
    if whole:
        yield f"{100 * (1 - document['alpha']):g} % interval", lambda row: format_interval(row["interval"], digits)
    yield "se", lambda row: format_number(row["se"], digits)
    yield "m", lambda row: MISSING if row["discordant"] is None else f"{row['discordant']:,}"
    yield "p", lambda row: format_p(row["p_plus_one"])
    # A strict one-sided p of swaps is no test.
    if whole:
        yield "one-sided", lambda row: format_p(row["p_one_sided"], row["replicates"])
    if _convention(rows) == "below-zero":
        yield "below 0", lambda row: format_p((row["interval"] or {}).get("p"), row["replicates"])
    if any(row["few_discordant"] and row["p_exact"] is not None for row in shown):
        yield "exact", lambda row: format_p(row["p_exact"])
    if _by_max_t(rows):
        yield "max-T", lambda row: format_p(row["p_adjusted"]["max_t"])
    yield "Holm", lambda row: format_p(row["p_adjusted"]["holm"])
    yield "BH", lambda row: format_p(row["p_adjusted"]["benjamini_hochberg"])
    if _margin(rows) is not None:
        yield "p eq.", lambda row: format_p(row["p_equivalence"])
        yield "Holm eq.", lambda row: format_p(row["p_equivalence_holm"])
    yield "verdict", lambda row: f"{row['verdict'] or MISSING} {mark_of(row)}".rstrip()


def _caption(document: Mapping[str, Any], where: Mapping[str, str], rows: _Rows, shown: _Rows) -> Iterator[str]:
    if READINGS[where["procedure"]].interval:
        yield (
            "The better system comes first; p is two-sided, as (s + 1)/(b + 1); "
            "one-sided is the strict p of Berg-Kirkpatrick et al., where no replicate counts the upper end of its 95 % interval."
        )
        first = next((row for row in rows if row["interval"] is not None), None)
        if first is not None:
            method, of = first["interval"]["method"], "kept" if first["intervals"] else "all"
            adjusted = "" if method == "simultaneous" else ", not adjusted for the family"
            yield f"The interval is the {_NAMES.get(method, method)} one of {of} replicates{adjusted}: {BELONGS_TO[method]}."
    else:
        yield f"The better system comes first; p is two-sided, {WORDS[where['procedure']].p}."
    if _convention(rows) == "below-zero":
        yield "Below 0: #(δ* < 0)/b, the p of the interval; no verdict uses it."
    if any(row["few_discordant"] and row["p_exact"] is not None for row in shown):
        yield "Exact: the sign-flip test of all 2^m swaps, on 0/1 scores McNemar's, unadjusted."
    yield f"The verdict is by {name_adjustment(rows)}."
    baseline, margin = document["family"]["baseline"], _margin(rows)
    if baseline is not None:
        yield f"Pairs without {baseline} are not in the family: they have no adjusted p and no verdict."
    if margin is not None:
        yield f"p eq., Holm eq.: of equivalence within the margin of {margin:g}, unadjusted and by Holm."
    for mark in dict.fromkeys(mark for row in shown for mark in mark_of(row)):
        yield f"{mark} {MARKS[mark]}."
    if len(shown) < len(rows):
        yield f"Shown are the {len(shown):,} of {len(rows):,} pairs whose p is nearest to α; tables/pairs.csv has them all."


_NAMES = {"bca": "BCa"}


def _convention(rows: _Rows) -> str | None:
    return next((row["interval"]["convention"] for row in rows if row["interval"] is not None), None)


def _margin(rows: _Rows) -> float | None:
    return next((row["margin"] for row in rows if row["margin"] is not None), None)


def _by_max_t(rows: _Rows) -> bool:
    return bool(rows) and rows[0]["p_adjusted"]["basis"] == "max_t"


def _nearest(rows: Sequence[Mapping[str, Any]], alpha: float, most: int) -> Sequence[Mapping[str, Any]]:
    """Give the rows whose p is nearest to α on a log scale, in their own order; those of the family first."""
    rows = sorted(rows, key=lambda row: not row["in_family"])
    if len(rows) <= most:
        return rows
    distance = [(not row["in_family"], abs(math.log((row["p_plus_one"] or 1.0) / alpha))) for row in rows]
    chosen = sorted(sorted(range(len(rows)), key=lambda k: (distance[k], k))[:most])
    return [rows[k] for k in chosen]
