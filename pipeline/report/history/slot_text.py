"""The account of a slot as text: what changed, what it may claim, and what it spent; same bytes for same results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.report.document import Report
from pipeline.report.families.adjustment import replicates_of_max_t
from pipeline.report.history.gate import Judged, render_gate
from pipeline.report.layout.markdown import escape
from pipeline.report.rows import PairRow
from pipeline.report.values import format_level

__all__ = ["changes_by_kind", "describe_slot", "list_limits", "say_changed", "say_level"]

_KINDS = {
    "settings": "Settings",
    "input": "Inputs",
    "system": "Systems",
    "pair": "Pairs that changed side",
    "threshold": "Thresholds beyond their interval",
}


def list_limits(report: Report, level: float) -> list[str]:
    """Return what a look cannot show at its level: a p that is counted has a smallest value."""
    again = {test_set.name: replicates_of_max_t([test_set]) for test_set in report.test_sets}
    floors = [found for row in report.pairs if row.in_family and (found := _floor_of(row, again[row.test_set])) is not None]
    if not floors or level >= min(floors)[0]:
        return []
    least, replicates = min(floors)
    return [
        f"No difference can be shown at this look: adjusted p, counted on {replicates:,} replicates, are {least:.2g} at least, and "
        f"its level is {level:.2g}. Fewer --looks, fewer families, or `procedures: [paired-t]` help."
    ]


def _floor_of(row: PairRow, again: int) -> tuple[float, int] | None:
    """Return the smallest adjusted p that replicates of a pair can give, and how many they are; None where none are counted."""
    if not row.replicates:
        return None
    if row.adjustment.by == "max_t":
        return 1 / (again + 1), again
    if row.adjustment.by == "holm" and row.method == "monte-carlo":
        return row.adjustment.family_size / (row.replicates + 1), row.replicates
    return None


def describe_slot(account: Mapping[str, Any], judged: Sequence[Judged]) -> str:
    """Return the account of a slot as Markdown."""
    lines = [f"## {escape(account['study'])}, slot {escape(account['slot'])}", "", say_changed(account), ""]
    for title, found in changes_by_kind(account):
        lines += [f"{title}:", "", *(f"- {escape(text)}" for text in found), ""]
    lines += [say_level(account), *(f"\n{note}" for note in account["notes"]), ""]
    if judged:
        lines.append(render_gate(judged, run=account["run"]))
    else:
        lines += [f"Run `{account['run']}`.", ""]
    return "\n".join(lines)


def changes_by_kind(account: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Return what changed, in words, with a title for each kind that there is."""
    found = {kind: [change["text"] for change in account["changes"] if change["kind"] == kind] for kind in _KINDS}
    return [(_KINDS[kind], texts) for kind, texts in found.items() if texts]


def say_changed(account: Mapping[str, Any]) -> str:
    """Return how many things changed since the slot before."""
    if account["before"] is None:
        return "The first slot of this history."
    count = len(account["changes"])
    if not account["spends"] and not count:
        return f"Nothing is new since {account['before']}."
    things = "Nothing" if not count else f"{count} thing" + ("s" if count > 1 else "")
    return f"{things} changed since {account['before']}."


def say_level(account: Mapping[str, Any]) -> str:
    """Return which look a slot is, and what its level promises."""
    look, level = account["look"], format_level(account["level"])
    of = "without an end" if look["looks"] is None else f"of {look['looks']}"
    period = f" of period {look['period']}" if look["period"] > 1 else ""
    shares = (
        f"differences are shown where the adjusted p is at most {level}, so that all looks together are wrong with a chance of "
    )
    shares += f"at most {look['alpha']:g}"
    if not account["spends"]:
        return f"This run was looked at before, as look {look['look']} {of}{period}: {shares}. Nothing is spent again."
    return f"Look {look['look']} {of}{period}: {shares}."
