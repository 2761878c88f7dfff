"""How a suite is shown: tables of all pairs, of the most decided in words, and of those left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.analyses.suite.words import Summary
from pipeline.interfaces import Column, Section, Table
from pipeline.interfaces.wording import name_metric

__all__ = ["SECTION", "make_tables"]

SECTION = Section("suite", "All test sets together", after="leaderboard")

_PAIRS = (
    Column("system_a", "system"),
    Column("system_b", "against"),
    Column("test_sets", "T", "count"),
    Column("better_at_least", "better on at least", "count"),
    Column("better_where", "better where"),
    Column("worse_at_least", "worse on at least", "count"),
    Column("worse_where", "worse where"),
    Column("p_better_on_any", "p, better on any", "p", later=True),
    Column("p_worse_on_any", "p, worse on any", "p", later=True),
    Column("p_better_over_pairs", "better, Holm over pairs", "p"),
    Column("p_worse_over_pairs", "worse, Holm over pairs", "p"),
    Column("better_together", "better, all together", "count", later=True),
    Column("worse_together", "worse, all together", "count", later=True),
    Column("mean_gain", "mean gain", "score"),
    Column("p_equal_gains", "p, equal gains", "p", later=True),
    Column("i_squared", "I²", "number", later=True),
    Column("warning", "remark"),
)
_WORDS = (Column("words", "over the suite"),)
_LEFT_OUT = (
    Column("system_a", "system"),
    Column("system_b", "against"),
    Column("test_sets", "T", "count"),
    Column("reason", "why not"),
)
_NONE = (Column("reason", "remark"),)

_CAPTION = (
    "Better on at least u of T: partial conjunction at the level of one pair; on which: Holm over its test sets, and the two "
    "agree. p of any is p_{{1/T}}{double}. Two corrections over pairs: Holm over the p_{{1/T}} of all pairs{directions} says which "
    "are better on any; all together, partial conjunction of each at α over the number of pairs{directions} says on how many, "
    "where pairs decided on all of their test sets leave their share to the others. Equal gains: Cochran's Q, which takes test "
    "sets to be independent and on one scale; I² is the share of the variation that is more than sampling; the mean is weighted "
    "by 1/se²."
)


def make_tables(rows: Sequence[Mapping[str, Any]], summaries: Mapping[tuple[Any, ...], Summary]) -> Iterator[Table]:
    """Yield the tables of every metric; a column that says nothing in any of its rows is left out.

    Parameters
    ----------
    rows : sequence of mapping
    summaries : mapping
        What holds of all pairs, by metric and procedure.
    """
    for metric, procedure in dict.fromkeys((row["metric"], row["procedure"]) for row in rows):
        where = {"metric": metric, "procedure": procedure}
        own = [row for row in rows if row["metric"] == metric and row["procedure"] == procedure]
        pairs = [row for row in own if row["kind"] == "pair"]
        title = " · ".join(["suite", *filter(None, (name_metric(metric), procedure))])
        if pairs:
            both = all(pairs[0][f"p_{word}_on_any"] is not None for word in ("better", "worse"))
            caption = _CAPTION.format(double=" doubled" if both else "", directions=" and directions" if both else "")
            used = tuple(column for column in _PAIRS if any(row[column.key] is not None for row in pairs))
            shown = sum(bool(row["shown"]) for row in pairs)
            more = f" Below: the {shown} most decided pairs; all are in tables/suite_pairs.csv." if shown < len(pairs) else ""
            found, level = summaries[metric, procedure]
            yield Table(f"{title} · in words", {"kind": "pair", "shown": True, **where}, _WORDS, f"{found}{more}", SECTION.key)
            yield Table(title, {"kind": "pair", **where}, used, f"{level} {caption}", SECTION.key)
        for kind, name, columns in (("unmeasured", "on fewer than two test sets", _LEFT_OUT), ("none", "nothing said", _NONE)):
            if any(row["kind"] == kind for row in own):
                yield Table(f"{title} · {name}", {"kind": kind, **where}, columns, section=SECTION.key)
