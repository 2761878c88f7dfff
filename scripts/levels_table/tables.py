"""Render the tables of docs/levels.md from counted rejections, and write them between their marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markdown_tables import fill_marked, render_table

from levels_table.cases import CASES, SAID
from levels_table.expected import is_exact
from levels_table.rates import Case, interval
from levels_table.verdict_tables import SYSTEMS, interval_table, unseen_table, verdict_table

__all__ = ["TABLES", "case_table", "fill_tables"]


def case_table(case: Case, records: Sequence[Mapping[str, Any]]) -> str:
    """Return a line a rule: what was said and computed of it, and what was found."""
    computed = "exact" if is_exact(case.null) else "many units"
    head = ("rule", "said", f"{computed}: .01 / .05 / .10", "found at .01", "at .05", "at .10", "trials")
    rows = [_row(record) for record in records if record["case"] == case.key]
    return render_table(head, rows)


def _row(record: Mapping[str, Any]) -> tuple[str, ...]:
    trials, expected = record["trials"], record["expected"]
    found = []
    for hits in record["rejected"]:
        low, high = interval(hits, trials)
        found.append(f"{100 * hits / trials:.1f} [{100 * low:.1f}, {100 * high:.1f}]")
    computed = "–" if expected is None else " / ".join(f"{100 * rate:.1f}" for rate in expected)
    return (f"`{record['rule']}`", SAID.get((record["case"], record["rule"]), "–"), computed, *found, f"{trials:,}")


TABLES = {case.key: case for case in CASES}


def fill_tables(text: str, stored: Mapping[str, Any]) -> str:
    """Return a document with the table of each ``<!-- levels: KEY -->`` … ``<!-- end -->`` written anew."""
    made = {f"verdict-{systems}": verdict_table(systems, stored["verdicts"]) for systems in SYSTEMS}
    made |= {f"interval-{systems}": interval_table(systems, stored["verdicts"]) for systems in SYSTEMS}
    made["verdict-unseen"] = unseen_table(stored["verdicts"])

    return fill_marked(text, "levels", lambda name: made[name] if name in made else case_table(TABLES[name], stored["records"]))
