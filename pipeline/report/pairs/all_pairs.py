"""Every pair of a report in compact form, for the page that compares any two systems."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from pipeline.report.document import Report
from pipeline.report.layout.view import View
from pipeline.report.pairs.pair_table import pair_table

__all__ = ["encode_all_pairs"]

MOST = 12_000
"""Pairs of all families together: those of 150 systems; of more the page has the rows of its tables, and says where all are."""
MOST_BYTES = 3_000_000


def encode_all_pairs(report: Report, views: Sequence[View]) -> str:
    """Return, as JSON for a script element, the pairs of each table that shows some of its pairs only, with the same cells."""
    text = json.dumps([*_list(report, views)], ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c") if len(text.encode()) <= MOST_BYTES else "[]"


def _list(report: Report, views: Sequence[View]) -> Iterator[dict[str, Any]]:
    shown = [view for view in views if view.kind == "pairs"]
    if sum(map(len, report.pairs_of.values())) > MOST:
        return
    for where, view in zip(report.places, shown, strict=True):
        pairs = report.pairs_of[where]
        if len(pairs) <= len(view.rows):
            continue
        digits = report.decimals(where.metric)
        whole = pair_table(report, where, pairs, view.title, digits=digits, tables=1, most=len(pairs))
        names = list(dict.fromkeys(name for row in whole.rows for name in row[:2]))
        place = {name: number for number, name in enumerate(names)}
        rows = [[place[row[0]], place[row[1]], *row[2:]] for row in whole.rows]
        yield {"title": view.title, "names": names, "heads": whole.columns, "rows": rows}
