"""Render the tables of docs/thresholds.md from what was counted, and write them between their marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markdown_tables import fill_marked, render_table

from threshold_coverage.populations import POPULATIONS

__all__ = ["TABLES", "fill_tables"]

FEWEST = 100
"""Intervals: of fewer no rate is given."""


def _misses(counts: Mapping[str, int]) -> str:
    if counts["there"] < FEWEST:
        return "–"
    low, high = (100 * counts[key] / counts["there"] for key in ("too_low", "too_high"))
    return f"{low + high:.1f} ({low:.1f} + {high:.1f})"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f}" if whole else "–"


def _shown(records: Sequence[Mapping[str, Any]], rule: str) -> str:
    rows = [
        (
            record["population"],
            str(record["systems"]),
            f"{record['truth']:.3f}",
            f"{record['estimates']:.3f}",
            _share(record["methods"]["shown"]["there"], record["methods"]["shown"]["studies"]),
            _misses(record["methods"]["shown"]),
        )
        for record in records
        if record["rule"] == rule and record["systems"] >= 75
    ]
    head = ("population", "systems", "threshold", "mean estimate", "shown, %", "misses, % (too low + too high)")
    return render_table(head, rows)


def shown_se_table(records: Sequence[Mapping[str, Any]]) -> str:
    """The interval of the threshold by standard errors."""
    return _shown(records, "se")


def shown_window_table(records: Sequence[Mapping[str, Any]]) -> str:
    """The interval of the threshold among borderline pairs."""
    return _shown(records, "window")


def resampled_table(records: Sequence[Mapping[str, Any]]) -> str:
    """Intervals from resampled systems, of the threshold by standard errors."""
    rows = [
        (
            record["population"],
            str(record["systems"]),
            f"{100 * record['largest_too_low'] / record['studies']:.1f}",
            *(_misses(record["methods"][method]) for method in ("percentile", "bias-corrected", "wald")),
        )
        for record in records
        if record["rule"] == "se" and record["methods"]["percentile"]["studies"]
    ]
    return render_table(("population", "systems", "largest pair too low, %", "percentile", "bias-corrected", "Wald"), rows)


def populations_table(_: Sequence[Mapping[str, Any]]) -> str:
    """What the systems are drawn from."""
    return render_table(("population", "systems"), [(one.name, one.words) for one in POPULATIONS])


TABLES = {
    "populations": populations_table,
    "shown_se": shown_se_table,
    "shown_window": shown_window_table,
    "resampled": resampled_table,
}


def fill_tables(text: str, records: Sequence[Mapping[str, Any]]) -> str:
    """Return a document with the table of each ``<!-- thresholds: NAME -->`` … ``<!-- end -->`` written anew."""
    return fill_marked(text, "thresholds", lambda name: TABLES[name](records))
